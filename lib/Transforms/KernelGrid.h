//===- KernelGrid.h - The grid of a kernel on tiles -------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_KERNELGRID_H
#define ATREX_LIB_TRANSFORMS_KERNELGRID_H

#include "KernelArguments.h"
#include <array>

namespace atrex {

/// Integer attribute of the value that a kernel uses as its workgroup's index
/// along that axis of the grid, where the grid has been reordered.
constexpr llvm::StringLiteral tileIndexAttrName = "atx.tile_index";

/// On a kernel whose workgroups take tiles in another order than that of the grid: what a manifest says of rows by the
/// workgroup's position does not hold.
constexpr llvm::StringLiteral reorderedAttrName = "atx.reordered";
/// On a kernel of a plan, an integer n: workgroup w works for workgroup w / n of the next launch alone.
constexpr llvm::StringLiteral feedsAttrName = "atx.feeds";

/// The three extents of `atx.grid` of a kernel; those that are missing are 1.
mlir::FailureOr<std::array<DimExpr, 3>> getGridExprs(mlir::func::FuncOp kernel);

/// Values of the dimensions that occur in `exprs`, taken from the arguments of
/// the kernel: an index of that name, or the extent of a tensor. Types: index.
/// A dimension that none of them gives is an error.
mlir::FailureOr<llvm::StringMap<mlir::Value>> emitDims(mlir::func::FuncOp kernel, llvm::ArrayRef<DimExpr> exprs,
                                                       mlir::OpBuilder &builder);

/// Coordinates of number `linear` in a grid, first axis fastest. Types: index.
std::array<mlir::Value, 3> emitCoordinates(mlir::Value linear, llvm::ArrayRef<mlir::Value> extents,
                                           mlir::OpBuilder &builder, mlir::Location loc);

/// `lhs op rhs` with constants folded.
DimExpr foldExpr(DimExpr::Kind kind, const DimExpr &lhs, const DimExpr &rhs);

/// Workgroups that do `tiles` in as few rounds as `most` workgroups need, never
/// more than there are tiles: cdiv(tiles, cdiv(tiles, most)), 0 for no tiles.
DimExpr getBalancedWorkgroups(const DimExpr &tiles, int64_t most);

} // namespace atrex

#endif // ATREX_LIB_TRANSFORMS_KERNELGRID_H
