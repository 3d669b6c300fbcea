//===- KernelArguments.h - Extents of kernel arguments ----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_KERNELARGUMENTS_H
#define ATREX_LIB_TRANSFORMS_KERNELARGUMENTS_H

#include "atrex/Support/DimExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace atrex {

/// Extents of an argument as expressions, from `atx.shape`.
mlir::FailureOr<mlir::SmallVector<DimExpr>> getShapeExprs(mlir::func::FuncOp func, unsigned index);

/// Emits `expr` on index values.
mlir::FailureOr<mlir::Value> emitExpr(const DimExpr &expr, const llvm::StringMap<mlir::Value> &dims,
                                      mlir::OpBuilder &builder, mlir::Location loc);

} // namespace atrex

#endif // ATREX_LIB_TRANSFORMS_KERNELARGUMENTS_H
