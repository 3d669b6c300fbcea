//===- ElementwiseLowering.cpp - Arithmetic of both forms -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ElementwiseLowering.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
#include <limits>
#include <numbers>

using namespace atrex;
using namespace atrex::frontend;
using namespace mlir;
using mlir::Value;

Type atrex::frontend::getMLIRType(MLIRContext *context, DataType type) {
  switch (type) {
  case DataType::I1:
    return IntegerType::get(context, 1);
  case DataType::I8:
  case DataType::U8:
    return IntegerType::get(context, 8);
  case DataType::I16:
    return IntegerType::get(context, 16);
  case DataType::I32:
  case DataType::U32:
    return IntegerType::get(context, 32);
  case DataType::I64:
    return IntegerType::get(context, 64);
  case DataType::BF16:
    return BFloat16Type::get(context);
  case DataType::F16:
    return Float16Type::get(context);
  case DataType::F32:
    return Float32Type::get(context);
  case DataType::F64:
    return Float64Type::get(context);
  case DataType::E4M3FN:
    return Float8E4M3FNType::get(context);
  case DataType::E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DataType::E5M2:
    return Float8E5M2Type::get(context);
  case DataType::E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DataType::E2M1FN:
    return Float4E2M1FNType::get(context);
  case DataType::E2M3FN:
    return Float6E2M3FNType::get(context);
  case DataType::E3M2FN:
    return Float6E3M2FNType::get(context);
  }
  return {};
}

TypedAttr atrex::frontend::makeFloatAttr(MLIRContext *context, DataType type, double value) {
  auto floatType = cast<FloatType>(getMLIRType(context, type));
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::get(floatType, number);
}

TypedAttr atrex::frontend::makeLiteralAttr(MLIRContext *context, DataType type,
                                           const std::variant<double, int64_t> &value) {
  if (const double *number = std::get_if<double>(&value))
    return makeFloatAttr(context, type, *number);
  return IntegerAttr::get(getMLIRType(context, type), std::get<int64_t>(value));
}

static bool isUnsignedInteger(DataType type) { return type == DataType::U8 || type == DataType::U32; }

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Type ElementwiseBuilder::shapedLike(Value like, Type type) {
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    return VectorType::get(vector.getShape(), type);
  return type;
}

Value ElementwiseBuilder::constant(Value like, TypedAttr attr) {
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    attr = DenseElementsAttr::get(VectorType::get(vector.getShape(), attr.getType()), Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value ElementwiseBuilder::constant(Value like, DataType type, double value) {
  return constant(like, makeFloatAttr(b.getContext(), type, value));
}

Value ElementwiseBuilder::integer(Value like, const llvm::APInt &value) {
  return constant(like, IntegerAttr::get(getElementTypeOrSelf(like.getType()), value));
}

Value ElementwiseBuilder::integer(Value like, int64_t value) {
  unsigned bits = getElementTypeOrSelf(like.getType()).getIntOrFloatBitWidth();
  return integer(like, llvm::APInt(bits, value, /*isSigned=*/true, /*implicitTrunc=*/true));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value ElementwiseBuilder::toInteger(Value value, DataType from, DataType to) {
  Type type = getMLIRType(b.getContext(), to);
  unsigned bits = type.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedInteger(to);
  double limit = std::ldexp(1.0, isUnsigned ? bits : bits - 1);
  // Every value at or behind the bounds is replaced, so the conversion never
  // meets one that it does not define.
  Value result = isUnsigned ? Value(arith::FPToUIOp::create(b, loc, shapedLike(value, type), value))
                            : Value(arith::FPToSIOp::create(b, loc, shapedLike(value, type), value));
  auto select = [&](arith::CmpFPredicate predicate, Value bound, const llvm::APInt &then) {
    Value condition = arith::CmpFOp::create(b, loc, predicate, value, bound);
    result = arith::SelectOp::create(b, loc, condition, integer(result, then), result);
  };
  select(arith::CmpFPredicate::OGE, constant(value, from, limit),
         isUnsigned ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits));
  if (isUnsigned)
    select(arith::CmpFPredicate::OLE, constant(value, from, -1.0), llvm::APInt::getZero(bits));
  else
    select(arith::CmpFPredicate::OLT, constant(value, from, -limit), llvm::APInt::getSignedMinValue(bits));
  select(arith::CmpFPredicate::UNO, value, llvm::APInt::getZero(bits));
  return result;
}

Value ElementwiseBuilder::cast(Value value, DataType from, DataType to, bool saturates) {
  if (from == to)
    return value;
  Type type = shapedLike(value, getMLIRType(b.getContext(), to));
  bool isUnsigned = isUnsignedInteger(from) || from == DataType::I1;
  unsigned fromBits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned toBits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (isFloat(from) && isFloat(to)) {
    if (toBits <= 8) {
      auto op = atx::TileConvertOp::create(b, loc, type, value);
      op.setSaturate(saturates);
      return op;
    }
    if (toBits > fromBits)
      return arith::ExtFOp::create(b, loc, type, value);
    if (toBits == fromBits)
      value = arith::ExtFOp::create(b, loc, shapedLike(value, b.getF32Type()), value);
    return arith::TruncFOp::create(b, loc, type, value);
  }
  if (isFloat(to)) {
    if (isUnsigned)
      return arith::UIToFPOp::create(b, loc, type, value);
    return arith::SIToFPOp::create(b, loc, type, value);
  }
  if (isFloat(from))
    return toInteger(cast(value, from, getComputeType(from)), getComputeType(from), to);
  if (toBits < fromBits)
    return arith::TruncIOp::create(b, loc, type, value);
  // Only the meaning of the bits changes.
  if (toBits == fromBits)
    return value;
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// 1 / (1 + exp2(-x * log2(e)))
Value ElementwiseBuilder::sigmoid(Value value) {
  Value exponent = arith::MulFOp::create(b, loc, value, constant(value, DataType::F32, -std::numbers::log2e), contract);
  Value power = math::Exp2Op::create(b, loc, exponent, approximate);
  Value one = constant(value, DataType::F32, 1.0);
  Value sum = arith::AddFOp::create(b, loc, power, one, contract);
  return arith::DivFOp::create(b, loc, one, sum, approximate);
}

/// max(x, 0) + log1p(exp(-|x|)): neither overflows nor cancels.
Value ElementwiseBuilder::softplus(Value value) {
  Value magnitude = math::AbsFOp::create(b, loc, value, contract);
  Value power = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, magnitude, contract), contract);
  Value log = math::Log1pOp::create(b, loc, power, contract);
  Value linear = arith::MaximumFOp::create(b, loc, value, constant(value, DataType::F32, 0.0), contract);
  return arith::AddFOp::create(b, loc, linear, log, contract);
}

/// The quotient rounded down, 0 for a divisor of 0; the remainder with the sign
/// of the divisor, the dividend for a divisor of 0.
Value ElementwiseBuilder::divide(Value lhs, Value rhs, bool isUnsigned, bool wantsRemainder) {
  Value zero = integer(rhs, 0);
  Value one = integer(rhs, 1);
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value c) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, a, c);
  };
  Value byZero = compare(arith::CmpIPredicate::eq, rhs, zero);
  if (isUnsigned) {
    Value divisor = arith::SelectOp::create(b, loc, byZero, one, rhs);
    if (wantsRemainder)
      return arith::SelectOp::create(b, loc, byZero, lhs, arith::RemUIOp::create(b, loc, lhs, divisor));
    return arith::SelectOp::create(b, loc, byZero, zero, arith::DivUIOp::create(b, loc, lhs, divisor));
  }
  // A divisor of -1 overflows for the smallest integer; its quotient is the
  // negative, which wraps.
  Value byMinusOne = compare(arith::CmpIPredicate::eq, rhs, integer(rhs, -1));
  Value isSpecial = arith::OrIOp::create(b, loc, byZero, byMinusOne);
  Value divisor = arith::SelectOp::create(b, loc, isSpecial, one, rhs);
  Value quotient = arith::DivSIOp::create(b, loc, lhs, divisor);
  Value remainder = arith::SubIOp::create(b, loc, lhs, arith::MulIOp::create(b, loc, quotient, divisor));
  Value isInexact = compare(arith::CmpIPredicate::ne, remainder, zero);
  Value signsDiffer = compare(arith::CmpIPredicate::slt, arith::XOrIOp::create(b, loc, remainder, divisor), zero);
  Value rounds = arith::AndIOp::create(b, loc, isInexact, signsDiffer);
  if (wantsRemainder) {
    Value shifted = arith::AddIOp::create(b, loc, remainder, divisor);
    remainder = arith::SelectOp::create(b, loc, rounds, shifted, remainder);
    return arith::SelectOp::create(b, loc, byZero, lhs, remainder);
  }
  Value lower = arith::SubIOp::create(b, loc, quotient, one);
  quotient = arith::SelectOp::create(b, loc, rounds, lower, quotient);
  Value negated = arith::SubIOp::create(b, loc, zero, lhs);
  quotient = arith::SelectOp::create(b, loc, byMinusOne, negated, quotient);
  return arith::SelectOp::create(b, loc, byZero, zero, quotient);
}

/// The amount counts as unsigned; at and beyond the width nothing of the value is
/// left but, to the right of a signed one, its sign.
Value ElementwiseBuilder::shift(Elementwise op, Value value, Value amount, bool isUnsigned) {
  unsigned bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  Value last = integer(amount, bits - 1);
  Value inRange = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, amount, last);
  Value bounded = arith::SelectOp::create(b, loc, inRange, amount, last);
  if (op == Elementwise::ShiftRight && !isUnsigned)
    return arith::ShRSIOp::create(b, loc, value, bounded);
  Value shifted = op == Elementwise::ShiftLeft ? Value(arith::ShLIOp::create(b, loc, value, bounded))
                                               : Value(arith::ShRUIOp::create(b, loc, value, bounded));
  return arith::SelectOp::create(b, loc, inRange, shifted, integer(value, 0));
}

Value ElementwiseBuilder::create(Elementwise elementwise, DataType operandType, DataType resultType,
                                 ArrayRef<Value> operands) {
  bool onFloats = isFloat(operandType);
  bool onUnsigned = isUnsignedInteger(operandType);
  Value lhs = operands.front(), rhs = operands.size() > 1 ? operands[1] : Value();

  auto compare = [&](arith::CmpFPredicate onFloat, arith::CmpIPredicate onSigned,
                     arith::CmpIPredicate onUnsignedInt) -> Value {
    if (onFloats)
      return arith::CmpFOp::create(b, loc, onFloat, lhs, rhs, contract);
    return arith::CmpIOp::create(b, loc, onUnsigned ? onUnsignedInt : onSigned, lhs, rhs);
  };
  // Results of 16-bit arithmetic are rounded here.
  auto finish = [&](Value value) { return cast(value, getComputeType(resultType), resultType); };

  switch (elementwise) {
  case Elementwise::Add:
    return onFloats ? finish(arith::AddFOp::create(b, loc, lhs, rhs, contract))
                    : Value(arith::AddIOp::create(b, loc, lhs, rhs));
  case Elementwise::Sub:
    return onFloats ? finish(arith::SubFOp::create(b, loc, lhs, rhs, contract))
                    : Value(arith::SubIOp::create(b, loc, lhs, rhs));
  case Elementwise::Mul:
    return onFloats ? finish(arith::MulFOp::create(b, loc, lhs, rhs, contract))
                    : Value(arith::MulIOp::create(b, loc, lhs, rhs));
  case Elementwise::Div:
    return onFloats ? finish(arith::DivFOp::create(b, loc, lhs, rhs, contract))
                    : divide(lhs, rhs, onUnsigned, /*wantsRemainder=*/false);
  case Elementwise::Mod:
    return divide(lhs, rhs, onUnsigned, /*wantsRemainder=*/true);
  case Elementwise::Max:
    if (onFloats)
      return finish(arith::MaximumFOp::create(b, loc, lhs, rhs, contract));
    return onUnsigned ? Value(arith::MaxUIOp::create(b, loc, lhs, rhs))
                      : Value(arith::MaxSIOp::create(b, loc, lhs, rhs));
  case Elementwise::Min:
    if (onFloats)
      return finish(arith::MinimumFOp::create(b, loc, lhs, rhs, contract));
    return onUnsigned ? Value(arith::MinUIOp::create(b, loc, lhs, rhs))
                      : Value(arith::MinSIOp::create(b, loc, lhs, rhs));
  case Elementwise::Eq:
    return compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, arith::CmpIPredicate::eq);
  case Elementwise::Ne:
    return compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, arith::CmpIPredicate::ne);
  case Elementwise::Lt:
    return compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, arith::CmpIPredicate::ult);
  case Elementwise::Le:
    return compare(arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle, arith::CmpIPredicate::ule);
  case Elementwise::Gt:
    return compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, arith::CmpIPredicate::ugt);
  case Elementwise::Ge:
    return compare(arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge, arith::CmpIPredicate::uge);
  case Elementwise::And:
  case Elementwise::BitAnd:
    return arith::AndIOp::create(b, loc, lhs, rhs);
  case Elementwise::Or:
  case Elementwise::BitOr:
    return arith::OrIOp::create(b, loc, lhs, rhs);
  case Elementwise::BitXor:
    return arith::XOrIOp::create(b, loc, lhs, rhs);
  case Elementwise::Not:
  case Elementwise::BitNot:
    return arith::XOrIOp::create(b, loc, lhs, integer(lhs, -1));
  case Elementwise::ShiftLeft:
  case Elementwise::ShiftRight:
    return shift(elementwise, lhs, rhs, onUnsigned);
  case Elementwise::PopCount:
    return math::CtPopOp::create(b, loc, lhs);
  case Elementwise::Neg:
    if (onFloats)
      return finish(arith::NegFOp::create(b, loc, lhs, contract));
    return arith::SubIOp::create(b, loc, integer(lhs, 0), lhs);
  case Elementwise::Abs:
    if (onFloats)
      return finish(math::AbsFOp::create(b, loc, lhs, contract));
    return math::AbsIOp::create(b, loc, lhs);
  case Elementwise::Exp:
    return finish(math::ExpOp::create(b, loc, lhs, contract));
  case Elementwise::Exp2:
    return finish(math::Exp2Op::create(b, loc, lhs, contract));
  case Elementwise::Log:
    return finish(math::LogOp::create(b, loc, lhs, contract));
  case Elementwise::Log2:
    return finish(math::Log2Op::create(b, loc, lhs, contract));
  case Elementwise::Sqrt:
    return finish(math::SqrtOp::create(b, loc, lhs, contract));
  case Elementwise::Rsqrt:
    return finish(math::RsqrtOp::create(b, loc, lhs, contract));
  case Elementwise::Recip:
    return finish(arith::DivFOp::create(b, loc, constant(lhs, DataType::F32, 1.0), lhs, approximate));
  case Elementwise::Sigmoid:
    return finish(sigmoid(lhs));
  case Elementwise::Silu:
    return finish(arith::MulFOp::create(b, loc, lhs, sigmoid(lhs), contract));
  case Elementwise::Softplus:
    return finish(softplus(lhs));
  case Elementwise::Tanh:
    return finish(math::TanhOp::create(b, loc, lhs, contract));
  case Elementwise::Erf:
    return finish(math::ErfOp::create(b, loc, lhs, contract));
  case Elementwise::Sin:
    return finish(math::SinOp::create(b, loc, lhs, contract));
  case Elementwise::Cos:
    return finish(math::CosOp::create(b, loc, lhs, contract));
  case Elementwise::Floor:
    return finish(math::FloorOp::create(b, loc, lhs, contract));
  case Elementwise::Ceil:
    return finish(math::CeilOp::create(b, loc, lhs, contract));
  case Elementwise::Round:
    return finish(math::RoundEvenOp::create(b, loc, lhs, contract));
  case Elementwise::Trunc:
    return finish(math::TruncOp::create(b, loc, lhs, contract));
  case Elementwise::IsNaN:
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, lhs, lhs);
  case Elementwise::FastDiv:
    return finish(arith::DivFOp::create(b, loc, lhs, rhs, approximate));
  case Elementwise::FastExp2:
    return finish(math::Exp2Op::create(b, loc, lhs, approximate));
  case Elementwise::FastSqrt:
    return finish(math::SqrtOp::create(b, loc, lhs, approximate));
  case Elementwise::Select:
    return arith::SelectOp::create(b, loc, lhs, rhs, operands[2]);
  case Elementwise::Fma:
    return finish(math::FmaOp::create(b, loc, lhs, rhs, operands[2], contract));
  case Elementwise::Cast:
    return cast(lhs, operandType, resultType);
  case Elementwise::CastSaturating:
    return cast(lhs, operandType, resultType, /*saturates=*/true);
  case Elementwise::Bitcast: {
    Type type = shapedLike(lhs, getMLIRType(b.getContext(), resultType));
    return type == lhs.getType() ? lhs : arith::BitcastOp::create(b, loc, type, lhs);
  }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value ElementwiseBuilder::combine(Reduction reduction, DataType type, Value lhs, Value rhs) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Mean:
    return create(Elementwise::Add, type, type, {lhs, rhs});
  case Reduction::Prod:
    return create(Elementwise::Mul, type, type, {lhs, rhs});
  case Reduction::Max:
    return create(Elementwise::Max, type, type, {lhs, rhs});
  case Reduction::Min:
    return create(Elementwise::Min, type, type, {lhs, rhs});
  case Reduction::Any:
    return create(Elementwise::Or, type, type, {lhs, rhs});
  case Reduction::All:
    return create(Elementwise::And, type, type, {lhs, rhs});
  case Reduction::ArgMax:
  case Reduction::ArgMin:
    break;
  }
  return {};
}

TypedAttr ElementwiseBuilder::getNeutral(Reduction reduction, DataType type) {
  MLIRContext *context = b.getContext();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (isFloat(type)) {
    double value = reduction == Reduction::Max    ? -infinity
                   : reduction == Reduction::Min  ? infinity
                   : reduction == Reduction::Prod ? 1.0
                                                  : 0.0;
    return makeFloatAttr(context, type, value);
  }
  Type mlirType = getMLIRType(context, type);
  unsigned bits = mlirType.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedInteger(type);
  llvm::APInt value(bits, 0);
  if (reduction == Reduction::Prod || reduction == Reduction::All)
    value = llvm::APInt(bits, 1);
  else if (reduction == Reduction::Max)
    value = isUnsigned ? llvm::APInt::getMinValue(bits) : llvm::APInt::getSignedMinValue(bits);
  else if (reduction == Reduction::Min)
    value = isUnsigned ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits);
  return IntegerAttr::get(mlirType, value);
}
