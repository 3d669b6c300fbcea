//===- AtxTileLayout.cpp - Layouts of tiles -------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Atx/AtxDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

LogicalResult TileLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t threads,
                                     ArrayRef<int64_t> code) {
  if (threads < 1 || threads > 1024 || !llvm::isPowerOf2_64(threads))
    return emitError() << "a tile layout is for 1 to 1024 work-items, a power of two; got " << threads;
  uint64_t usedBits = 0;
  SmallVector<std::pair<int64_t, int64_t>> registers;
  for (size_t at = 0; at < code.size();) {
    int64_t count = code[at++];
    if (count < 0 || count > 64 || size_t(count) * 3 > code.size() - at)
      return emitError() << "a dimension of a tile layout announces " << count << " modes, more than follow";
    int64_t product = 1;
    for (int64_t i = 0; i < count; ++i, at += 3) {
      int64_t size = code[at], stride = code[at + 2];
      bool isThread = code[at + 1] != 0;
      if (size < 2 || stride < 1 || llvm::MulOverflow(product, size, product) || product > (int64_t(1) << 32))
        return emitError() << "mode " << size << (isThread ? "t" : "r") << stride
                           << " must have a size from 2 and a stride from 1, and a dimension at most 2^32 elements";
      if (!isThread) {
        registers.push_back({stride, size});
        continue;
      }
      if (!llvm::isPowerOf2_64(size) || !llvm::isPowerOf2_64(stride) || stride >= threads || size > threads / stride)
        return emitError() << "mode " << size << "t" << stride << " must be powers of two inside " << threads
                           << " work-items";
      uint64_t bits = uint64_t(size - 1) * uint64_t(stride);
      if (usedBits & bits)
        return emitError() << "mode " << size << "t" << stride << " uses work-items that another mode uses";
      usedBits |= bits;
    }
  }
  llvm::sort(registers);
  int64_t next = 1;
  for (auto [stride, size] : registers) {
    if (stride != next)
      return emitError() << "register modes must number the registers without gaps: mode " << size << "r" << stride
                         << " should have stride " << next;
    if (llvm::MulOverflow(next, size, next) || next > (int64_t(1) << 32))
      return emitError() << "a tile layout has at most 2^32 registers";
  }
  return success();
}

Attribute TileLayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t threads;
  SmallVector<int64_t> code;
  if (parser.parseLess() || parser.parseInteger(threads) || parser.parseComma())
    return {};
  auto parseMode = [&]() -> ParseResult {
    int64_t size, stride;
    StringRef owner;
    SMLoc modeLoc = parser.getCurrentLocation();
    if (parser.parseInteger(size) || parser.parseKeyword(&owner))
      return failure();
    bool isThread = owner.starts_with("t");
    if ((!isThread && !owner.starts_with("r")) || owner.drop_front().getAsInteger(10, stride))
      return parser.emitError(modeLoc) << "a mode is written 'NrS' or 'NtS' with numbers N and S";
    code.append({size, isThread, stride});
    return success();
  };
  auto parseDim = [&]() -> ParseResult {
    size_t at = code.size();
    code.push_back(0);
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseMode))
      return failure();
    code[at] = int64_t(code.size() - at - 1) / 3;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) || parser.parseGreater())
    return {};
  // The storage, which getChecked() needs, is private to the file of all attributes.
  if (failed(verify([&] { return parser.emitError(loc); }, threads, code)))
    return {};
  return TileLayoutAttr::get(parser.getContext(), threads, code);
}

void TileLayoutAttr::print(AsmPrinter &printer) const {
  printer << '<' << getThreads() << ", [";
  ArrayRef<int64_t> code = getCode();
  for (size_t at = 0; at < code.size();) {
    printer << (at ? ", [" : "[");
    int64_t count = code[at++];
    for (int64_t i = 0; i < count; ++i, at += 3)
      printer << (i ? ", " : "") << code[at] << (code[at + 1] ? 't' : 'r') << code[at + 2];
    printer << ']';
  }
  printer << "]>";
}
