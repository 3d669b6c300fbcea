//===- LowerAtx.h - Parts of the lowering of atx ----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_CONVERSION_LOWERATX_H
#define ATREX_LIB_CONVERSION_LOWERATX_H

#include "mlir/Transforms/DialectConversion.h"

namespace atrex {

/// Patterns of the operations of `atx_amdgpu` on types of `atx`. A pointer is a
/// base and an offset in elements.
void populateLowerAtxAMDGPUPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

} // namespace atrex

#endif // ATREX_LIB_CONVERSION_LOWERATX_H
