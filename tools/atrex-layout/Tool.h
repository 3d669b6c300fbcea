//===- Tool.h - Parts of atrex-layout ---------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_LAYOUT_TOOL_H
#define ATREX_TOOLS_ATREX_LAYOUT_TOOL_H

#include "atrex/Analysis/LDSBanks.h"
#include "atrex/Layout/Operations.h"
#include "llvm/ADT/StringRef.h"

namespace atrex::layout {

/// Operations that need the chip table: LDS accesses.
llvm::ArrayRef<Operation> getTargetOperations();

/// A chip with LDS, by name or architecture; C32 otherwise.
const ChipInfo *findChip(llvm::StringRef name, Fault &fault);

/// The byte addresses of 64 lanes under an arrangement of rows of `rowBytes`.
bool arrangeLanes(const Map &lanes, unsigned bytes, const LDSArrangement &arrangement, int64_t rowBytes,
                  std::vector<int64_t> &addresses, Fault &fault);

/// Evaluates one expression, with the operations of the chip table and the
/// `mfma.*` queries. Nothing after a fault.
std::optional<Results> evaluateText(Algebra &algebra, llvm::StringRef text);

/// `mfma.tv_layout` ("16x16x16 f16/bf16", "A") and `mfma.c_coord` ("16", lane,
/// value).
std::optional<Results> evaluateMatrixQuery(Algebra &algebra, llvm::StringRef name,
                                           llvm::ArrayRef<llvm::StringRef> args);

/// Options of `conflicts`. Accesses are `LAYOUT:WIDTH`, or `tv LAYOUT:WIDTH` for
/// a thread-value layout of the tile's elements.
struct ConflictOptions {
  std::string arch, tile, swizzle, json;
  int64_t bits = 0, pad = 0;
  std::vector<std::string> writes, reads;
  bool solve = false, assume = false;
};

/// Options of `show`.
struct ShowOptions {
  std::string expression, svg, tile, arch, swizzle, kind;
  int64_t width = 0;
  bool lds = false, ansi = false, all = false, assume = false;
};

/// Prints `error: FAULT` and returns 1.
int reportFault(const Fault &fault);
/// Prints a complaint about the command line and returns 2.
int reportUsage(const llvm::Twine &message);

/// Each returns the exit code.
int runEval(llvm::StringRef expression);
/// One expression per line of the file, one result or `error Cn: text` per line
/// of output. A fault of an expression is a result: the exit code is 0.
int runBatch(llvm::StringRef file);
int runFacts(llvm::StringRef file);
int runDoc(llvm::StringRef file);
int runConflicts(const ConflictOptions &options);
int runShow(const ShowOptions &options);

} // namespace atrex::layout

#endif // ATREX_TOOLS_ATREX_LAYOUT_TOOL_H
