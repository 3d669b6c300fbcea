//===- Sema.h - Names, types and shapes -------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_SEMA_H
#define ATREX_FRONTEND_SEMA_H

#include "atrex/Frontend/AST.h"
#include "atrex/Frontend/Diagnostics.h"
#include "atrex/Frontend/Program.h"

namespace atrex::frontend {

/// Checks one operator with the values of some dimensions. Null after an error.
/// Dimensions that the operator does not have are ignored here.
std::unique_ptr<Operator> analyze(const ast::OpDecl &decl, const DimMap &dims, Diagnostics &diags);

/// Names of the dimensions in the signature, in order of first appearance.
std::vector<llvm::StringRef> collectDimNames(const ast::OpDecl &decl);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_SEMA_H
