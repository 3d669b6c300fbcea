//===- ElementwiseLowering.h - Arithmetic of both forms ---------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise operations of the language as operations of `arith` and `math`, on
// scalars (bodies of `linalg.generic`, scalars of a kernel) and on vectors (tiles
// of a kernel). What an operation means is decided here and nowhere else.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_FRONTEND_ELEMENTWISELOWERING_H
#define ATREX_LIB_FRONTEND_ELEMENTWISELOWERING_H

#include "atrex/Frontend/Program.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace atrex::frontend {

/// Fused multiply-add is allowed between two roundings; nothing else is.
inline constexpr mlir::arith::FastMathFlags contract = mlir::arith::FastMathFlags::contract;
/// Approximate reciprocals and functions, where the language says so.
inline constexpr mlir::arith::FastMathFlags approximate =
    mlir::arith::FastMathFlags::contract | mlir::arith::FastMathFlags::arcp | mlir::arith::FastMathFlags::afn;

/// The element type in MLIR; unsigned integers are signless there.
mlir::Type getMLIRType(mlir::MLIRContext *context, DataType type);

/// Type in which arithmetic on `type` happens: small floats compute in f32 and
/// round each result.
inline DataType getComputeType(DataType type) {
  return isFloat(type) && getSizeInBytes(type) < 4 ? DataType::F32 : type;
}

/// Whether an operation takes its operands in their compute type. A selection
/// moves values, conversions name their types.
inline bool takesComputeType(Elementwise op) {
  return op != Elementwise::Select && op != Elementwise::Cast && op != Elementwise::CastSaturating &&
         op != Elementwise::Bitcast;
}

/// `value` rounded to `type`, as an attribute of the scalar type.
mlir::TypedAttr makeFloatAttr(mlir::MLIRContext *context, DataType type, double value);
mlir::TypedAttr makeLiteralAttr(mlir::MLIRContext *context, DataType type, const std::variant<double, int64_t> &value);

/// Creates elementwise operations at one place. Operands of an operation are
/// scalars, or vectors of one shape; results have that shape.
class ElementwiseBuilder {
public:
  ElementwiseBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// `op` on operands of `operandType` (of the condition for a selection), given
  /// in the compute type where takesComputeType(op); the result has `resultType`.
  mlir::Value create(Elementwise op, DataType operandType, DataType resultType, mlir::ArrayRef<mlir::Value> operands);

  /// The conversion rules of the language: floats round to nearest, ties to even;
  /// a float becomes an integer towards zero, clamped to the type, NaN 0.
  mlir::Value cast(mlir::Value value, DataType from, DataType to, bool saturates = false);

  /// One step of a reduction or scan on values of `type`, which computes.
  mlir::Value combine(Reduction reduction, DataType type, mlir::Value lhs, mlir::Value rhs);
  /// What `combine` leaves the other operand of unchanged.
  mlir::TypedAttr getNeutral(Reduction reduction, DataType type);

private:
  /// A constant of the shape of `like` and the element type of `attr`.
  mlir::Value constant(mlir::Value like, mlir::TypedAttr attr);
  mlir::Value constant(mlir::Value like, DataType type, double value);
  mlir::Value integer(mlir::Value like, const llvm::APInt &value);
  mlir::Value integer(mlir::Value like, int64_t value);
  /// `type` with the shape of `like`.
  mlir::Type shapedLike(mlir::Value like, mlir::Type type);
  mlir::Value sigmoid(mlir::Value value);
  mlir::Value softplus(mlir::Value value);
  mlir::Value divide(mlir::Value lhs, mlir::Value rhs, bool isUnsigned, bool wantsRemainder);
  mlir::Value shift(Elementwise op, mlir::Value value, mlir::Value amount, bool isUnsigned);
  mlir::Value toInteger(mlir::Value value, DataType from, DataType to);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace atrex::frontend

#endif // ATREX_LIB_FRONTEND_ELEMENTWISELOWERING_H
