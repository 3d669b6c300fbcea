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
#include <map>

namespace atrex::frontend {

/// What a file and its imports define for use in operators and kernels.
struct Library;

struct AnalyzeOptions {
  /// Values of dimensions. Those that the operator does not have are ignored
  /// here.
  DimMap dims;
  /// Values of knobs that do not take their default.
  std::map<std::string, std::string> knobs;
  /// The program is compiled. Others are checked only, and extents of their
  /// tiles may depend on dimensions without a value.
  bool isSelected = false;
  /// Nobody sees the diagnostics.
  bool isQuiet = false;
  /// Null: nothing.
  Library *library = nullptr;
};

/// Gives all constants of a library their values.
void evaluateConstants(Library &library, Diagnostics &diags);

/// Checks one operator or kernel. Null after an error.
std::unique_ptr<Operator> analyze(const ast::OpDecl &decl, const AnalyzeOptions &options, Diagnostics &diags);

/// Names of the parameters that are element types, `DTYPE: type`. Their values
/// are given like those of knobs.
std::vector<llvm::StringRef> collectTypeParams(const ast::OpDecl &decl);

/// Checks the knobs alone and gives them the values chosen for them. Those with an
/// error are missing.
std::vector<Knob> analyzeKnobs(const ast::OpDecl &decl, const AnalyzeOptions &options, Diagnostics &diags);

/// Visits the names in an expression over dimensions.
void visitDimNames(const ast::Expr *expr, llvm::function_ref<void(llvm::StringRef)> visit);

/// Names of the dimensions in the signature, in order of first appearance.
std::vector<llvm::StringRef> collectDimNames(const ast::OpDecl &decl, const Library *library = nullptr);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_SEMA_H
