//===- Number.cpp - Elements with error bounds ----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Interpreter/Number.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace atrex;
using namespace atrex::interp;
using llvm::APFloat;
using llvm::APInt;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ElementType ElementType::getInteger(unsigned bits) {
  ElementType type;
  type.bits = bits;
  return type;
}

std::optional<ElementType> ElementType::get(mlir::Type type) {
  if (type.isIndex())
    return getInteger(64);
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type)) {
    if (integer.getWidth() < 1 || integer.getWidth() > 64)
      return std::nullopt;
    return getInteger(integer.getWidth());
  }
  auto floating = llvm::dyn_cast<mlir::FloatType>(type);
  if (!floating || floating.getWidth() > 64)
    return std::nullopt;
  ElementType result;
  result.bits = floating.getWidth();
  result.semantics = &floating.getFloatSemantics();
  result.kind = floating.isF32()    ? Kind::F32
                : floating.isF64()  ? Kind::F64
                : floating.isF16()  ? Kind::F16
                : floating.isBF16() ? Kind::BF16
                                    : Kind::Small;
  result.precision = APFloat::semanticsPrecision(*result.semantics);
  result.minExponent = APFloat::semanticsMinExponent(*result.semantics);
  result.maxExponent = APFloat::semanticsMaxExponent(*result.semantics);
  return result;
}

double ElementType::getUnitRoundoff() const { return std::ldexp(1.0, -precision); }

double ElementType::getSpacing(double value) const {
  value = std::fabs(value);
  int exponent = minExponent;
  if (value > 0 && std::isfinite(value))
    exponent = std::max(std::ilogb(value), minExponent);
  if (!std::isfinite(value))
    exponent = maxExponent;
  return std::ldexp(1.0, exponent - (precision - 1));
}

double ElementType::getLargest() const { return APFloat::getLargest(*semantics).convertToDouble(); }

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static uint64_t maskBits(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

Number interp::makePoison() {
  Number number;
  number.bound = undetermined;
  number.poison = true;
  return number;
}

double interp::toDouble(const Number &number, const ElementType &type) {
  switch (type.kind) {
  case ElementType::Kind::Int:
    return static_cast<double>(toSigned(number, type));
  case ElementType::Kind::F32:
    return llvm::bit_cast<float>(static_cast<uint32_t>(number.bits));
  case ElementType::Kind::F64:
    return llvm::bit_cast<double>(number.bits);
  case ElementType::Kind::BF16:
    return llvm::bit_cast<float>(static_cast<uint32_t>(number.bits) << 16);
  case ElementType::Kind::F16:
  case ElementType::Kind::Small: {
    APFloat value(*type.semantics, APInt(type.bits, number.bits));
    bool lost;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  }
  return 0;
}

int64_t interp::toSigned(const Number &number, const ElementType &type) {
  return llvm::SignExtend64(number.bits, type.bits);
}

uint64_t interp::toUnsigned(const Number &number, const ElementType &type) { return maskBits(number.bits, type.bits); }

Number interp::fromSigned(int64_t value, const ElementType &type) {
  Number number;
  number.bits = maskBits(static_cast<uint64_t>(value), type.bits);
  return number;
}

uint64_t interp::encodeFloat(double value, const ElementType &type, bool saturate) {
  if (type.kind == ElementType::Kind::F64)
    return llvm::bit_cast<uint64_t>(value);
  if (type.kind == ElementType::Kind::F32)
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  bool isFiniteOnly = type.kind == ElementType::Kind::Small && !APFloat::semanticsHasNaN(*type.semantics);
  if (isFiniteOnly || (saturate && !std::isnan(value))) {
    // Without a NaN of its own a type gives the largest number, positive.
    APFloat largest = APFloat::getLargest(*type.semantics, !std::isnan(value) && std::signbit(value));
    if (std::isnan(value) || std::fabs(value) >= std::fabs(largest.convertToDouble()))
      return largest.bitcastToAPInt().getZExtValue();
  }
  APFloat number(value);
  bool lost;
  number.convert(*type.semantics, APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

Number interp::fromDouble(double value, const ElementType &type) {
  Number number;
  number.bits = encodeFloat(value, type);
  return number;
}

std::string interp::format(const Number &number, const ElementType &type, bool isUnsigned) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!type.isFloat()) {
    if (isUnsigned || type.bits == 1)
      os << toUnsigned(number, type);
    else
      os << toSigned(number, type);
    return text;
  }
  double value = toDouble(number, type);
  if (std::isnan(value))
    os << "nan";
  else if (std::isinf(value))
    os << (value < 0 ? "-inf" : "inf");
  else
    os << llvm::format("%.*g", type.kind == ElementType::Kind::F64 ? 17 : 9, value);
  return text;
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

Interval interp::widen(Interval interval) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  interval.lo = std::nextafter(interval.lo, -inf);
  interval.hi = std::nextafter(interval.hi, inf);
  return interval;
}

Interval interp::getInterval(const Number &number, const ElementType &type, bool withSlack) {
  Interval interval;
  double value = toDouble(number, type);
  double radius = number.bound + (withSlack ? static_cast<double>(number.slack) : 0.0);
  if (std::isnan(value) || !(radius < undetermined)) {
    interval.valid = false;
    return interval;
  }
  interval.lo = value - radius;
  interval.hi = value + radius;
  return radius == 0 ? interval : widen(interval);
}

Number interp::bounded(uint64_t bits, const ElementType &type, Interval interval, double ulps, double absolute,
                       bool saturate) {
  Number result;
  result.bits = bits;
  if (!interval.valid || std::isnan(interval.lo) || std::isnan(interval.hi)) {
    result.bound = undetermined;
    return result;
  }
  if (ulps != 0 || absolute != 0) {
    interval.lo -= ulps * type.getSpacing(interval.lo) + absolute;
    interval.hi += ulps * type.getSpacing(interval.hi) + absolute;
  }
  Number lo, hi;
  lo.bits = encodeFloat(interval.lo, type, saturate);
  hi.bits = encodeFloat(interval.hi, type, saturate);
  double value = toDouble(result, type), low = toDouble(lo, type), high = toDouble(hi, type);
  if (low == high && low == value) {
    // Zeros of both signs are one real; the sign is known if both ends have it.
    if (value != 0 || (lo.bits == bits && hi.bits == bits))
      return result;
    result.bound = std::numeric_limits<double>::denorm_min();
    return result;
  }
  if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(value)) {
    result.bound = undetermined;
    return result;
  }
  result.bound = std::max(high - value, value - low) * (1 + 0x1p-40);
  if (!(result.bound >= 0))
    result.bound = undetermined;
  if (result.bound == 0)
    result.bound = std::numeric_limits<double>::denorm_min();
  return result;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Poison stays poison; a NaN that is sure makes the result one whatever the
/// other operand is.
static std::optional<Number> handleSpecial(const Number &a, const Number &b, const ElementType &type) {
  if (a.poison || b.poison)
    return makePoison();
  bool aNaN = a.isExact() && std::isnan(toDouble(a, type)), bNaN = b.isExact() && std::isnan(toDouble(b, type));
  if (aNaN || bNaN)
    return fromDouble(std::numeric_limits<double>::quiet_NaN(), type);
  if (a.isUndetermined() || b.isUndetermined()) {
    Number result = aNaN || a.isUndetermined() ? a : b;
    result.bound = undetermined;
    result.slack = 0;
    return result;
  }
  return std::nullopt;
}

/// Rounds a sum, product or quotient of two numbers of a type up to f32, which
/// is exact or correctly rounded as a float or double, and once more to 16 bits.
static uint64_t roundF32(float value, const ElementType &type) {
  if (type.kind == ElementType::Kind::F32)
    return llvm::bit_cast<uint32_t>(value);
  return encodeFloat(value, type);
}

Number interp::addFloat(const Number &a, const Number &b, const ElementType &type, bool contract, bool subtract) {
  if (std::optional<Number> special = handleSpecial(a, b, type))
    return *special;
  double x = toDouble(a, type), y = toDouble(b, type);
  if (subtract)
    y = -y;
  Number result;
  result.bits = type.kind == ElementType::Kind::F64 ? llvm::bit_cast<uint64_t>(x + y)
                                                    : roundF32(static_cast<float>(x) + static_cast<float>(y), type);
  bool slack = contract && (a.slack != 0 || b.slack != 0);
  if (a.isExact() && b.isExact() && !slack)
    return result;
  Interval i = getInterval(a, type, slack), j = getInterval(b, type, slack);
  Interval sum;
  sum.valid = i.valid && j.valid;
  sum.lo = subtract ? i.lo - j.hi : i.lo + j.lo;
  sum.hi = subtract ? i.hi - j.lo : i.hi + j.hi;
  return bounded(result.bits, type, widen(sum));
}

Number interp::mulFloat(const Number &a, const Number &b, const ElementType &type, bool contract) {
  if (std::optional<Number> special = handleSpecial(a, b, type))
    return *special;
  double x = toDouble(a, type), y = toDouble(b, type);
  Number result;
  result.bits = type.kind == ElementType::Kind::F64 ? llvm::bit_cast<uint64_t>(x * y)
                                                    : roundF32(static_cast<float>(x) * static_cast<float>(y), type);
  double rounded = toDouble(result, type);
  bool isWide = type.kind == ElementType::Kind::F32 || type.kind == ElementType::Kind::F64;
  double slack = 0;
  if (contract && isWide) {
    if (std::isfinite(rounded))
      slack = a.isExact() && b.isExact() ? std::fabs(std::fma(x, y, -rounded)) : type.getSpacing(rounded);
    else if (std::isfinite(x) && std::isfinite(y))
      // The product overflows, but what is added to it may bring it back.
      slack = undetermined;
  }
  if (!a.isExact() || !b.isExact()) {
    Interval i = getInterval(a, type), j = getInterval(b, type);
    double ends[] = {i.lo * j.lo, i.lo * j.hi, i.hi * j.lo, i.hi * j.hi};
    Interval product{std::min({ends[0], ends[1], ends[2], ends[3]}), std::max({ends[0], ends[1], ends[2], ends[3]}),
                     i.valid && j.valid && !llvm::any_of(ends, [](double end) { return std::isnan(end); })};
    result = bounded(result.bits, type, widen(product));
  }
  result.slack = static_cast<float>(slack) * (1 + 0x1p-20f);
  return result;
}

Number interp::maxFloat(const Number &a, const Number &b, const ElementType &type, bool isMin) {
  if (std::optional<Number> special = handleSpecial(a, b, type))
    return *special;
  double x = toDouble(a, type), y = toDouble(b, type);
  bool first = x == y ? std::signbit(x) == isMin : (x > y) != isMin;
  Number result = first ? a : b;
  result.slack = 0;
  if (a.isExact() && b.isExact())
    return result;
  Interval i = getInterval(a, type), j = getInterval(b, type);
  if (isMin)
    return bounded(result.bits, type, {std::min(i.lo, j.lo), std::min(i.hi, j.hi), i.valid && j.valid});
  return bounded(result.bits, type, {std::max(i.lo, j.lo), std::max(i.hi, j.hi), i.valid && j.valid});
}

Number interp::merge(const Number &chosen, const Number &other, const ElementType &type) {
  Number result = chosen;
  result.slack = std::max(chosen.slack, other.slack);
  result.poison = chosen.poison || other.poison;
  if (chosen.bits == other.bits && chosen.isExact() && other.isExact())
    return result;
  double x = toDouble(chosen, type), y = toDouble(other, type);
  if (type.isFloat() && std::isnan(x) && std::isnan(y) && chosen.isExact() && other.isExact())
    return result;
  result.bound = std::max(chosen.bound, other.bound + std::fabs(x - y)) * (1 + 0x1p-40);
  if (!std::isfinite(x) || !std::isfinite(y) || !(result.bound < undetermined))
    result.bound = undetermined;
  else if (result.bound == 0)
    result.bound = std::numeric_limits<double>::denorm_min();
  return result;
}
