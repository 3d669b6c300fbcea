//===- OperatorExtents.h - Extents of an operator's tensors -----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_OPERATOREXTENTS_H
#define ATREX_LIB_TRANSFORMS_OPERATOREXTENTS_H

#include "atrex/Support/DimExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atrex {

/// Extents of the tensors and values of the index arithmetic in an operator or a
/// plan, as expressions over its run-time dimensions.
class OperatorExtents {
public:
  explicit OperatorExtents(mlir::func::FuncOp func) : func(func) {}

  /// Reads `atx.shape` of the arguments; fails with a diagnostic.
  mlir::LogicalResult initialize();

  /// Fails with a diagnostic where an extent follows from something else than
  /// the shapes of arguments.
  mlir::FailureOr<DimExpr> getExtent(mlir::Value tensor, int64_t dim);
  mlir::FailureOr<mlir::SmallVector<DimExpr>> getShape(mlir::Value tensor);
  mlir::FailureOr<DimExpr> getIndex(mlir::Value index);
  mlir::FailureOr<DimExpr> getIndex(mlir::OpFoldResult index);

private:
  mlir::func::FuncOp func;
  mlir::SmallVector<mlir::SmallVector<DimExpr>> shapes;
};

/// `kind` of two expressions; a number where both are.
DimExpr makeExpr(DimExpr::Kind kind, const DimExpr &lhs, const DimExpr &rhs);
DimExpr makeProduct(mlir::ArrayRef<DimExpr> factors);

/// Emits `expr` on index values given by name; null for an unknown name.
mlir::Value emitDimExpr(const DimExpr &expr, llvm::function_ref<mlir::Value(llvm::StringRef)> getDim,
                        mlir::OpBuilder &builder, mlir::Location loc);

/// `["T", "8"]`
mlir::ArrayAttr getShapeAttr(mlir::MLIRContext *context, mlir::ArrayRef<DimExpr> shape);

} // namespace atrex

#endif // ATREX_LIB_TRANSFORMS_OPERATOREXTENTS_H
