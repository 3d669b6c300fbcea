//===- Tool.h - Parts of atrex-layout ---------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_LAYOUT_TOOL_H
#define ATREX_TOOLS_ATREX_LAYOUT_TOOL_H

#include "atrex/Layout/Operations.h"
#include "llvm/ADT/StringRef.h"

namespace atrex::layout {

/// Operations that need the chip table: LDS accesses.
llvm::ArrayRef<Operation> getTargetOperations();

/// Evaluates one expression, with the operations of the chip table and the
/// `mfma.*` queries. Nothing after a fault.
std::optional<Results> evaluateText(Algebra &algebra, llvm::StringRef text);

/// `mfma.tv_layout` ("16x16x16 f16/bf16", "A") and `mfma.c_coord` ("16", lane,
/// value).
std::optional<Results> evaluateMatrixQuery(Algebra &algebra, llvm::StringRef name,
                                           llvm::ArrayRef<llvm::StringRef> args);

/// Each returns the exit code.
int runEval(llvm::StringRef expression);
/// One expression per line of the file, one result or `error Cn: text` per line
/// of output. A fault of an expression is a result: the exit code is 0.
int runBatch(llvm::StringRef file);
int runFacts(llvm::StringRef file);
int runDoc(llvm::StringRef file);

} // namespace atrex::layout

#endif // ATREX_TOOLS_ATREX_LAYOUT_TOOL_H
