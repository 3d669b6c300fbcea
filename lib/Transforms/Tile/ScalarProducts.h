//===- ScalarProducts.h - Products that end in one number -------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_SCALARPRODUCTS_H
#define ATREX_LIB_TRANSFORMS_TILE_SCALARPRODUCTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace atrex::tile {

/// Products that end in one number become products of elements and a reduction.
void expandScalarProducts(mlir::gpu::GPUFuncOp kernel);

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_SCALARPRODUCTS_H
