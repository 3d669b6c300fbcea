//===- ExpandMath.h - Functions without an instruction ----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_CONVERSION_EXPANDMATH_H
#define ATREX_LIB_CONVERSION_EXPANDMATH_H

namespace mlir {
class RewritePatternSet;
}

namespace atrex {

/// Patterns that expand `math.erf`, `log1p`, `sin` and `cos` of f32 into
/// arithmetic.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace atrex

#endif // ATREX_LIB_CONVERSION_EXPANDMATH_H
