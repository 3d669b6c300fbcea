//===- Diagnostics.cpp - Located diagnostics of the front end -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace atrex::frontend;

mlir::Location Diagnostics::getLocation(llvm::SMLoc loc) const {
  unsigned buffer = loc.isValid() ? sourceMgr.FindBufferContainingLoc(loc) : 0;
  if (!buffer)
    buffer = sourceMgr.getMainFileID();
  llvm::StringRef name = sourceMgr.getMemoryBuffer(buffer)->getBufferIdentifier();
  if (!loc.isValid())
    return mlir::FileLineColLoc::get(&context, name, 1, 1);
  auto [line, column] = sourceMgr.getLineAndColumn(loc, buffer);
  return mlir::FileLineColLoc::get(&context, name, line, column);
}

llvm::StringRef atrex::frontend::findSimilar(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  // A transposed pair costs two edits; a third of the letters may be wrong.
  unsigned limit = name.size() < 3 ? 1 : std::max<unsigned>(2, name.size() / 3);
  llvm::StringRef best;
  for (llvm::StringRef candidate : candidates) {
    if (candidate == name)
      continue;
    if (candidate.equals_insensitive(name))
      return candidate;
    // One-letter names are all one edit apart; that is no similarity.
    if (std::min(name.size(), candidate.size()) < 2)
      continue;
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, limit);
    if (distance <= limit && distance < std::max(name.size(), candidate.size()) / 2 + 1) {
      limit = distance;
      if (best.empty() || distance < name.edit_distance(best))
        best = candidate;
    }
  }
  return best;
}

std::string atrex::frontend::didYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  // Comparing costs the product of both lengths.
  llvm::StringRef similar = name.size() <= 100 ? findSimilar(name, candidates) : "";
  return similar.empty() ? std::string() : "; did you mean '" + similar.str() + "'?";
}

std::string atrex::frontend::printable(llvm::StringRef text) {
  constexpr size_t limit = 40;
  std::string result;
  for (char c : text.take_front(limit)) {
    if (llvm::isPrint(c))
      result += c;
    else if (c == '\n' || c == '\t' || c == '\r')
      result += ' ';
    else
      result += "\\x" + llvm::utohexstr(uint8_t(c), /*LowerCase=*/true, 2);
  }
  return text.size() > limit ? result + "..." : result;
}
