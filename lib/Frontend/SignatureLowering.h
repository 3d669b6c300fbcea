//===- SignatureLowering.h - Functions and dimensions -----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What operators, kernels and plans lower alike: the attributes of a function and
// its arguments, and expressions over dimensions.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_FRONTEND_SIGNATURELOWERING_H
#define ATREX_LIB_FRONTEND_SIGNATURELOWERING_H

#include "atrex/Frontend/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace atrex::frontend {

/// Attributes of the argument that a parameter or result becomes.
mlir::SmallVector<mlir::NamedAttribute> getArgumentAttrs(mlir::Builder &b, const Variable &variable, bool isOutput);

/// Run-time dimensions, constraints and the values of knobs.
void setSignatureAttrs(mlir::func::FuncOp function, const Operator &op);

/// Extents of a type; dynamic where they depend on run-time dimensions.
mlir::SmallVector<int64_t> getStaticShape(mlir::ArrayRef<Extent> extents);

/// One operation of a dimension expression on indices.
mlir::Value createDimOperation(mlir::OpBuilder &b, mlir::Location loc, DimExpr::Kind kind, mlir::Value lhs,
                               mlir::Value rhs);

/// A dimension as a number of `type`: known, or an index of the run. Floats are
/// rounded to nearest, ties to even.
mlir::TypedAttr makeDimAttr(mlir::MLIRContext *context, DataType type, int64_t value);
mlir::Value castDim(mlir::OpBuilder &b, mlir::Location loc, DataType type, mlir::Value index);

} // namespace atrex::frontend

#endif // ATREX_LIB_FRONTEND_SIGNATURELOWERING_H
