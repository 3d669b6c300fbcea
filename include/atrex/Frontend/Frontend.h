//===- Frontend.h - Kernel language to MLIR ---------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entry points of the front end. The stages have a header each: Lexer.h,
// AST.h and Parser.h, Program.h and Sema.h, Lowering.h.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_FRONTEND_H
#define ATREX_FRONTEND_FRONTEND_H

#include "atrex/Support/DimExpr.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"
#include <map>
#include <string>

namespace atrex::frontend {
class SemaListener;

struct FrontendOptions {
  /// Dimensions that become compile-time constants.
  DimMap dims;
  /// Operator to import when the source defines several; empty takes the only
  /// one.
  std::string op;
  /// Values of knobs by name; others take their default.
  std::map<std::string, std::string> knobs;
  /// Checks everything and makes no module; the file need not define an operator.
  bool isCheckOnly = false;
  SemaListener *listener = nullptr;
};

/// Parses, checks and lowers the main buffer of `sourceMgr` to `linalg` on
/// tensors. Diagnostics go to the context with file, line and column; after an
/// error the result is null. Operators that are not imported are checked too.
mlir::OwningOpRef<mlir::ModuleOp> importAtx(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context,
                                            const FrontendOptions &options);

/// Registers the dialects that importAtx creates operations and attributes of.
void registerFrontendDialects(mlir::DialectRegistry &registry);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_FRONTEND_H
