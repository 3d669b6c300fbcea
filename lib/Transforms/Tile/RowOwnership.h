//===- RowOwnership.h - Which rows a workgroup writes -----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TRANSFORMS_TILE_ROWOWNERSHIP_H
#define ATREX_TRANSFORMS_TILE_ROWOWNERSHIP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace atrex::tile {

/// How the positions along the first dimension of a tensor that a kernel accesses depend on the workgroup.
struct RowOwnership {
  /// Axes of the grid on which they depend, a bit for each.
  unsigned axes = 0;
  /// Where set, workgroup w along `axis` accesses the rows from w * extent to (w + 1) * extent - 1 and no others.
  std::optional<int64_t> extent;
  unsigned axis = 0;
};

/// Of the stores to tensor `arg`, or of the loads from one that is only read; nothing where there are none, where they
/// differ, or where something else reaches the tensor.
std::optional<RowOwnership> findRowOwnership(mlir::func::FuncOp func, mlir::BlockArgument arg);

} // namespace atrex::tile

#endif // ATREX_TRANSFORMS_TILE_ROWOWNERSHIP_H
