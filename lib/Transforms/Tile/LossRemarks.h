//===- LossRemarks.h - What a kernel on tiles loses -------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_LOSSREMARKS_H
#define ATREX_LIB_TRANSFORMS_TILE_LOSSREMARKS_H

#include "atrex/Target/Chip.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace atrex::tile {

/// Attribute of a module (a unit): passes say what makes its kernels slow.
inline constexpr llvm::StringLiteral remarksAttrName = "atx.remarks";

/// Whether the module around `op` asks for remarks on what is slow.
bool wantsLossRemarks(mlir::Operation *op);

/// Remarks on accesses, products and loops of a kernel with layouts that will be slower than they could be, each with
/// the reason and what would mend it. `threads` is the number of work-items.
void reportLosses(mlir::gpu::GPUFuncOp kernel, int64_t threads, const ChipInfo &chip);

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_LOSSREMARKS_H
