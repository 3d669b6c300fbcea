//===- DimAlgebra.h - Reasoning about dimension expressions -----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_DIMALGEBRA_H
#define ATREX_FRONTEND_DIMALGEBRA_H

#include "atrex/Support/DimExpr.h"

namespace atrex::frontend {

/// Normal form of an expression: a sum of products, so that `2 * I - I` and `I`
/// have the same text. Quotients and remainders that do not divide exactly are
/// kept whole. Holds for positive dimensions.
DimExpr simplify(const DimExpr &expr);

/// Whether `expr >= 0` holds for all positive dimensions (true), for none of
/// them (false), or is not decided.
std::optional<bool> isNonNegative(const DimExpr &expr);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_DIMALGEBRA_H
