//===- Parser.h - Tokens to syntax tree -------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_PARSER_H
#define ATREX_FRONTEND_PARSER_H

#include "atrex/Frontend/AST.h"
#include "atrex/Frontend/Diagnostics.h"
#include <memory>

namespace atrex::frontend {

/// Levels of brackets, calls and prefix operators an expression may have.
constexpr unsigned maxNesting = 128;
/// Levels an expression tree may have; a chain `a + b + c` has one per operator.
constexpr unsigned maxTreeDepth = 600;
/// Blocks that may stand in each other, the body of a definition included; an
/// `else if` counts as one.
constexpr unsigned maxBlockNesting = 64;

/// Parses a whole buffer. Never null: after an error the parser resumes at the
/// next statement or definition, and what it could not read is marked.
std::unique_ptr<ast::File> parse(llvm::StringRef buffer, Diagnostics &diags);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_PARSER_H
