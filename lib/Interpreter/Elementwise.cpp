//===- Elementwise.cpp - Operations on single elements --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace atrex;
using namespace atrex::interp;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

Number makeBool(bool value) {
  Number number;
  number.bits = value;
  return number;
}

Number makeUnknown(uint64_t bits = 0) {
  Number number;
  number.bits = bits;
  number.bound = undetermined;
  return number;
}

Number makeTruth(Truth truth, bool guess) {
  return truth == Truth::Unknown ? makeUnknown(guess) : makeBool(truth == Truth::True);
}

bool isContract(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags && flags.getFastMathFlagsAttr() &&
         bitEnumContainsAny(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::contract);
}

bool isApproximate(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags && flags.getFastMathFlagsAttr() &&
         bitEnumContainsAny(flags.getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::afn | arith::FastMathFlags::arcp);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// How exact a function is: spacings of the result, and an absolute part.
struct Accuracy {
  double ulps = 0;
  double absolute = 0;
  /// Subnormal operands and results may be taken for zero.
  bool flushes = false;
};

/// A function that is monotone on [lowest, highest] and not defined (NaN)
/// outside.
ElementFunction makeMonotone(ElementType type, std::function<double(double)> function, bool decreasing,
                             Accuracy accuracy, double lowest = -inf) {
  return [=](const Number *x) -> Number {
    if (x->poison)
      return makePoison();
    double value = toDouble(*x, type);
    double center = function(value);
    uint64_t bits = encodeFloat(center, type);
    if (x->isUndetermined())
      return makeUnknown(bits);
    if (std::isnan(center)) {
      Number result = fromDouble(quietNaN, type);
      // Taken for a zero, which has a value, or for what it is.
      if (accuracy.flushes && std::fabs(value) < std::ldexp(1.0, type.minExponent))
        result.bound = undetermined;
      if (!x->isExact() && getInterval(*x, type).hi >= lowest && !std::isnan(value))
        result.bound = undetermined;
      return result;
    }
    bool isExact = accuracy.ulps == 0 && accuracy.absolute == 0 && !accuracy.flushes;
    if (x->isExact() && isExact) {
      Number result;
      result.bits = bits;
      return result;
    }
    Interval in = getInterval(*x, type);
    if (!in.valid || in.lo < lowest)
      return makeUnknown(bits);
    Interval out{function(in.lo), function(in.hi), true};
    if (decreasing)
      std::swap(out.lo, out.hi);
    // Infinities and zeros that are sure: exp(-inf), log(0), 1/inf.
    bool special = x->isExact() && (std::isinf(value) || value == 0);
    if (special) {
      Number result;
      result.bits = bits;
      return result;
    }
    // libm in double is right to one spacing of a double.
    out = widen(widen(out));
    double absolute = accuracy.absolute;
    double tiny = std::ldexp(1.0, type.minExponent);
    if (accuracy.flushes) {
      if (std::fabs(out.lo) < tiny || std::fabs(out.hi) < tiny)
        absolute += tiny;
      if (std::fabs(value) < tiny && value != 0)
        return makeUnknown(bits);
    }
    return bounded(bits, type, out, accuracy.ulps, absolute);
  };
}

/// Errors of the functions of the language as compiled code computes them.
ElementFunction getFunction(Operation *op, ElementType type) {
  bool isWide = type.kind == ElementType::Kind::F64;
  bool approximate = isApproximate(op);
  // A function of f64 would be refined by code; two spacings for all.
  auto accuracy = [&](double ulps, double absolute = 0) {
    return Accuracy{isWide ? 2.0 : ulps, absolute, approximate};
  };
  double tiny = std::ldexp(1.0, type.minExponent - type.precision + 2);
  auto monotone = [&](double (*function)(double), Accuracy acc, double lowest = -inf) {
    return makeMonotone(type, function, /*decreasing=*/false, acc, lowest);
  };
  return llvm::TypeSwitch<Operation *, ElementFunction>(op)
      .Case([&](math::ExpOp) { return monotone(std::exp, accuracy(2, tiny)); })
      .Case([&](math::Exp2Op) { return monotone(std::exp2, accuracy(2, tiny)); })
      .Case([&](math::ExpM1Op) { return monotone(std::expm1, accuracy(8)); })
      .Case([&](math::LogOp) { return monotone(std::log, accuracy(4), 0); })
      .Case([&](math::Log2Op) { return monotone(std::log2, accuracy(4), 0); })
      .Case([&](math::Log10Op) { return monotone(std::log10, accuracy(4), 0); })
      .Case([&](math::Log1pOp) { return monotone(std::log1p, accuracy(8), -1); })
      .Case([&](math::SqrtOp) { return monotone(std::sqrt, approximate ? Accuracy{2, 0, true} : Accuracy(), 0); })
      .Case([&](math::RsqrtOp) {
        return makeMonotone(type, [](double x) { return 1 / std::sqrt(x); }, /*decreasing=*/true, accuracy(2), 0);
      })
      .Case([&](math::TanhOp) { return monotone(std::tanh, accuracy(4)); })
      .Case([&](math::ErfOp) { return monotone(std::erf, accuracy(4)); })
      .Case([&](math::AtanOp) { return monotone(std::atan, accuracy(16)); })
      .Case([&](math::CbrtOp) { return monotone(std::cbrt, accuracy(8)); })
      .Case([&](math::FloorOp) { return monotone(std::floor, Accuracy()); })
      .Case([&](math::CeilOp) { return monotone(std::ceil, Accuracy()); })
      .Case([&](math::TruncOp) { return monotone(std::trunc, Accuracy()); })
      .Case([&](math::RoundOp) { return monotone(std::round, Accuracy()); })
      .Case([&](math::RoundEvenOp) { return monotone(std::nearbyint, Accuracy()); })
      .Case<math::SinOp, math::CosOp>([&](auto function) -> ElementFunction {
        bool isSin = isa<math::SinOp>(function.getOperation());
        return [=](const Number *x) -> Number {
          if (x->poison)
            return makePoison();
          double value = toDouble(*x, type);
          double center = isSin ? std::sin(value) : std::cos(value);
          uint64_t bits = encodeFloat(center, type);
          if (x->isUndetermined())
            return makeUnknown(bits);
          if (std::isnan(center))
            return x->isExact() ? fromDouble(quietNaN, type) : makeUnknown(bits);
          if (isSin && x->isExact() && value == 0)
            return *x;
          double error = x->bound + 0x1p-51;
          return bounded(bits, type, {std::max(center - error, -1.0), std::min(center + error, 1.0), true}, 2);
        };
      })
      .Default([](Operation *) { return ElementFunction(); });
}

ElementFunction makeDivide(ElementType type, bool approximate) {
  return [=](const Number *x) -> Number {
    const Number &a = x[0], &b = x[1];
    if (a.poison || b.poison)
      return makePoison();
    double p = toDouble(a, type), q = toDouble(b, type);
    double center = type.kind == ElementType::Kind::F64 ? p / q : double(float(p) / float(q));
    Number result = fromDouble(center, type);
    if ((a.isExact() && std::isnan(p)) || (b.isExact() && std::isnan(q)))
      return result;
    if (a.isUndetermined() || b.isUndetermined())
      return makeUnknown(result.bits);
    if (a.isExact() && b.isExact() && !approximate)
      return result;
    Interval i = getInterval(a, type), j = getInterval(b, type);
    bool special = a.isExact() && b.isExact() && (!std::isfinite(center) || q == 0 || std::isinf(q) || p == 0);
    if (special && (!std::isinf(center) || q == 0 || std::isinf(p))) {
      // A product that is rounded to 16 bits may come out of a sum with +0.
      if (approximate && center == 0)
        result.bound = std::numeric_limits<double>::denorm_min();
      return result;
    }
    if (!i.valid || !j.valid || j.contains(0))
      return makeUnknown(result.bits);
    double ends[] = {i.lo / j.lo, i.lo / j.hi, i.hi / j.lo, i.hi / j.hi};
    if (llvm::any_of(ends, [](double end) { return std::isnan(end); }))
      return makeUnknown(result.bits);
    Interval out{std::min({ends[0], ends[1], ends[2], ends[3]}), std::max({ends[0], ends[1], ends[2], ends[3]}), true};
    if (!approximate)
      return bounded(result.bits, type, widen(out));
    // The reciprocal (1 ulp) flushes subnormals on both sides, then a product.
    double tiny = std::ldexp(1.0, type.minExponent);
    if (std::fabs(j.lo) < tiny || std::fabs(j.hi) < tiny)
      return makeUnknown(result.bits);
    double absolute = std::ldexp(1.0, type.minExponent);
    if (std::max(std::fabs(j.lo), std::fabs(j.hi)) >= std::ldexp(1.0, type.maxExponent - 2))
      absolute += std::max(std::fabs(out.lo), std::fabs(out.hi));
    bool mayBeTiny = std::min(std::fabs(out.lo), std::fabs(out.hi)) < tiny * 4;
    return bounded(result.bits, type, widen(out), 3,
                   mayBeTiny || absolute > std::ldexp(1.0, type.minExponent) ? absolute : 0);
  };
}

ElementFunction makeFma(ElementType type) {
  return [=](const Number *x) -> Number {
    if (x[0].poison || x[1].poison || x[2].poison)
      return makePoison();
    double a = toDouble(x[0], type), b = toDouble(x[1], type), c = toDouble(x[2], type);
    // 16-bit floats: rounded to f32, then to the type.
    double center =
        type.kind == ElementType::Kind::F64 ? std::fma(a, b, c) : double(std::fma(float(a), float(b), float(c)));
    Number result = fromDouble(center, type);
    for (unsigned i = 0; i < 3; ++i)
      if (x[i].isExact() && std::isnan(toDouble(x[i], type)))
        return fromDouble(quietNaN, type);
    if (x[0].isUndetermined() || x[1].isUndetermined() || x[2].isUndetermined())
      return makeUnknown(result.bits);
    if (x[0].isExact() && x[1].isExact() && x[2].isExact())
      return result;
    Interval i = getInterval(x[0], type), j = getInterval(x[1], type), k = getInterval(x[2], type);
    double ends[] = {i.lo * j.lo, i.lo * j.hi, i.hi * j.lo, i.hi * j.hi};
    if (!i.valid || !j.valid || !k.valid || llvm::any_of(ends, [](double end) { return std::isnan(end); }))
      return makeUnknown(result.bits);
    Interval product =
        widen({std::min({ends[0], ends[1], ends[2], ends[3]}), std::max({ends[0], ends[1], ends[2], ends[3]}), true});
    return bounded(result.bits, type, widen({product.lo + k.lo, product.hi + k.hi, true}));
  };
}

Truth compareReals(Interval a, Interval b, arith::CmpFPredicate predicate) {
  // Ordered predicates by what a < b, a == b, a > b give.
  auto decide = [&](bool less, bool equal, bool greater) {
    bool canLess = a.lo<b.hi, canGreater = a.hi> b.lo, canEqual = a.lo <= b.hi && b.lo <= a.hi;
    bool anyTrue = (canLess && less) || (canEqual && equal) || (canGreater && greater);
    bool anyFalse = (canLess && !less) || (canEqual && !equal) || (canGreater && !greater);
    return anyTrue && anyFalse ? Truth::Unknown : anyTrue ? Truth::True : Truth::False;
  };
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
  case arith::CmpFPredicate::UEQ:
    return decide(false, true, false);
  case arith::CmpFPredicate::ONE:
  case arith::CmpFPredicate::UNE:
    return decide(true, false, true);
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    return decide(true, false, false);
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return decide(true, true, false);
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    return decide(false, false, true);
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return decide(false, true, true);
  case arith::CmpFPredicate::ORD:
  case arith::CmpFPredicate::AlwaysTrue:
    return Truth::True;
  case arith::CmpFPredicate::UNO:
  case arith::CmpFPredicate::AlwaysFalse:
    return Truth::False;
  }
  return Truth::Unknown;
}

bool isUnordered(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::UEQ:
  case arith::CmpFPredicate::UGT:
  case arith::CmpFPredicate::UGE:
  case arith::CmpFPredicate::ULT:
  case arith::CmpFPredicate::ULE:
  case arith::CmpFPredicate::UNE:
  case arith::CmpFPredicate::UNO:
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  default:
    return false;
  }
}

ElementFunction makeCompare(arith::CmpFPredicate predicate, ElementType type) {
  return [=](const Number *x) -> Number {
    if (x[0].poison || x[1].poison)
      return makePoison();
    double a = toDouble(x[0], type), b = toDouble(x[1], type);
    if (predicate == arith::CmpFPredicate::AlwaysTrue || predicate == arith::CmpFPredicate::AlwaysFalse)
      return makeBool(predicate == arith::CmpFPredicate::AlwaysTrue);
    if ((x[0].isExact() && std::isnan(a)) || (x[1].isExact() && std::isnan(b)))
      return makeBool(isUnordered(predicate));
    bool guess = std::isnan(a) || std::isnan(b) ? isUnordered(predicate)
                                                : compareReals({a, a, true}, {b, b, true}, predicate) == Truth::True;
    Interval i = getInterval(x[0], type), j = getInterval(x[1], type);
    if (!i.valid || !j.valid)
      return makeUnknown(guess);
    return makeTruth(compareReals(i, j, predicate), guess);
  };
}

/// maxnumf, minnumf: the number where the other is NaN.
ElementFunction makeMaxNum(ElementType type, bool isMin) {
  return [=](const Number *x) -> Number {
    if (x[0].poison || x[1].poison)
      return makePoison();
    bool aNaN = std::isnan(toDouble(x[0], type)), bNaN = std::isnan(toDouble(x[1], type));
    if (x[0].isUndetermined() || x[1].isUndetermined())
      return makeUnknown(aNaN ? x[1].bits : x[0].bits);
    if (aNaN)
      return x[1];
    if (bNaN)
      return x[0];
    Number result = maxFloat(x[0], x[1], type, isMin);
    // Zeros of both signs: either may come out.
    if (toDouble(result, type) == 0 && x[0].bits != x[1].bits && result.isExact())
      result.bound = std::numeric_limits<double>::denorm_min();
    return result;
  };
}

/// Float to integer towards zero. Clamped, NaN to 0, or undefined outside.
ElementFunction makeToInteger(ElementType from, ElementType to, bool isUnsigned, bool clamps) {
  double lowest = isUnsigned ? 0.0 : -std::ldexp(1.0, to.bits - 1);
  // Exclusive.
  double limit = std::ldexp(1.0, isUnsigned ? to.bits : to.bits - 1);
  uint64_t smallest = isUnsigned ? 0 : uint64_t(1) << (to.bits - 1);
  uint64_t largest = isUnsigned ? (to.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << to.bits) - 1) : smallest - 1;
  auto convert = [=](double value, bool &undefined) -> uint64_t {
    undefined = false;
    if (std::isnan(value)) {
      undefined = true;
      return 0;
    }
    value = std::trunc(value);
    if (value >= limit) {
      undefined = true;
      return largest;
    }
    if (value < lowest) {
      undefined = true;
      return smallest;
    }
    uint64_t mask = to.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << to.bits) - 1;
    return (isUnsigned ? static_cast<uint64_t>(value) : static_cast<uint64_t>(static_cast<int64_t>(value))) & mask;
  };
  return [=](const Number *x) -> Number {
    if (x->poison)
      return makePoison();
    double value = toDouble(*x, from);
    bool undefined;
    Number result;
    result.bits = convert(value, undefined);
    if (x->isUndetermined())
      return makeUnknown(result.bits);
    if (undefined && !clamps && x->isExact())
      return makePoison();
    if (x->isExact())
      return result;
    Interval in = getInterval(*x, from);
    bool loUndefined, hiUndefined;
    Number lo, hi;
    lo.bits = convert(in.lo, loUndefined);
    hi.bits = convert(in.hi, hiUndefined);
    if (!in.valid || (!clamps && (undefined || loUndefined || hiUndefined)))
      return makeUnknown(result.bits);
    if (lo.bits == hi.bits)
      return result;
    if (isUnsigned && to.bits == 64)
      return makeUnknown(result.bits);
    double a = isUnsigned ? double(lo.bits) : toDouble(lo, to), b = isUnsigned ? double(hi.bits) : toDouble(hi, to),
           c = isUnsigned ? double(result.bits) : toDouble(result, to);
    // The distance of unsigned numbers is one of signed ones where none wraps.
    if (isUnsigned && b >= std::ldexp(1.0, to.bits - 1))
      return makeUnknown(result.bits);
    result.bound = std::max(b - c, c - a);
    return result;
  };
}

ElementFunction makeFromInteger(ElementType from, ElementType to, bool isUnsigned) {
  return [=](const Number *x) -> Number {
    if (x->poison)
      return makePoison();
    llvm::APInt integer(from.bits, isUnsigned ? toUnsigned(*x, from) : x->bits);
    llvm::APFloat value(*to.semantics);
    value.convertFromAPInt(integer, !isUnsigned, llvm::APFloat::rmNearestTiesToEven);
    Number result;
    result.bits = value.bitcastToAPInt().getZExtValue();
    if (x->isExact())
      return result;
    double center = isUnsigned ? double(toUnsigned(*x, from)) : toDouble(*x, from);
    if (x->isUndetermined() || (isUnsigned && center - x->bound < 0))
      return makeUnknown(result.bits);
    return bounded(result.bits, to, widen({center - x->bound, center + x->bound, true}));
  };
}

ElementFunction makeFloatCast(ElementType from, ElementType to, bool saturate) {
  return [=](const Number *x) -> Number {
    if (x->poison)
      return makePoison();
    double value = toDouble(*x, from);
    Number result;
    result.bits = encodeFloat(value, to, saturate);
    if (x->isUndetermined())
      return makeUnknown(result.bits);
    // Types without NaN have the largest number for it.
    if (x->isExact() || std::isnan(value))
      return result;
    return bounded(result.bits, to, getInterval(*x, from), 0, 0, saturate);
  };
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// An integer function of exact operands; otherwise nothing is known.
/// `function` gives nullopt where the operation has no meaning.
ElementFunction makeInteger(ElementType type, ElementType to, unsigned operands,
                            std::function<std::optional<uint64_t>(const uint64_t *)> function) {
  return [=](const Number *x) -> Number {
    uint64_t bits[3] = {};
    bool exact = true;
    for (unsigned i = 0; i < operands; ++i) {
      if (x[i].poison)
        return makePoison();
      exact &= x[i].isExact();
      bits[i] = x[i].bits;
    }
    std::optional<uint64_t> value = function(bits);
    if (!value)
      return exact ? makePoison() : makeUnknown();
    Number result;
    result.bits = to.bits == 64 ? *value : *value & ((uint64_t(1) << to.bits) - 1);
    if (!exact)
      result.bound = undetermined;
    return result;
  };
}

/// Adds what is known about sums, differences and products of integers that are
/// not exact: as long as nothing wraps the bounds add up.
ElementFunction withBounds(ElementType type, ElementFunction exact, char kind) {
  return [=](const Number *x) -> Number {
    Number result = exact(x);
    if (result.isExact() || result.poison || x[0].isUndetermined() || x[1].isUndetermined())
      return result;
    double a = toDouble(x[0], type), b = toDouble(x[1], type);
    double center = kind == '+' ? a + b : kind == '-' ? a - b : a * b;
    double bound = kind == '*' ? std::fabs(a) * x[1].bound + std::fabs(b) * x[0].bound + x[0].bound * x[1].bound
                               : x[0].bound + x[1].bound;
    if (std::fabs(center) + bound < std::ldexp(1.0, std::min(type.bits - 1, 52u)))
      result.bound = bound;
    return result;
  };
}

Truth compareIntegers(const Number &a, const Number &b, ElementType type, arith::CmpIPredicate predicate) {
  bool isUnsigned = predicate == arith::CmpIPredicate::ult || predicate == arith::CmpIPredicate::ule ||
                    predicate == arith::CmpIPredicate::ugt || predicate == arith::CmpIPredicate::uge;
  int64_t x = toSigned(a, type), y = toSigned(b, type);
  uint64_t ux = toUnsigned(a, type), uy = toUnsigned(b, type);
  auto test = [&]() {
    switch (predicate) {
    case arith::CmpIPredicate::eq:
      return x == y;
    case arith::CmpIPredicate::ne:
      return x != y;
    case arith::CmpIPredicate::slt:
      return x < y;
    case arith::CmpIPredicate::sle:
      return x <= y;
    case arith::CmpIPredicate::sgt:
      return x > y;
    case arith::CmpIPredicate::sge:
      return x >= y;
    case arith::CmpIPredicate::ult:
      return ux < uy;
    case arith::CmpIPredicate::ule:
      return ux <= uy;
    case arith::CmpIPredicate::ugt:
      return ux > uy;
    case arith::CmpIPredicate::uge:
      return ux >= uy;
    }
    return false;
  };
  if (a.isExact() && b.isExact())
    return test() ? Truth::True : Truth::False;
  if (a.isUndetermined() || b.isUndetermined() || isUnsigned)
    return Truth::Unknown;
  arith::CmpFPredicate real = predicate == arith::CmpIPredicate::eq    ? arith::CmpFPredicate::OEQ
                              : predicate == arith::CmpIPredicate::ne  ? arith::CmpFPredicate::ONE
                              : predicate == arith::CmpIPredicate::slt ? arith::CmpFPredicate::OLT
                              : predicate == arith::CmpIPredicate::sle ? arith::CmpFPredicate::OLE
                              : predicate == arith::CmpIPredicate::sgt ? arith::CmpFPredicate::OGT
                                                                       : arith::CmpFPredicate::OGE;
  double p = double(x), q = double(y);
  return compareReals(widen({p - a.bound, p + a.bound, true}), widen({q - b.bound, q + b.bound, true}), real);
}

Number maxInteger(const Number &a, const Number &b, ElementType type, bool isMin, bool isUnsigned) {
  if (a.poison || b.poison)
    return makePoison();
  arith::CmpIPredicate predicate = isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  bool greater = isUnsigned ? toUnsigned(a, type) > toUnsigned(b, type) : toSigned(a, type) > toSigned(b, type);
  Number result = greater != isMin ? a : b;
  if (a.isExact() && b.isExact())
    return result;
  if (a.isUndetermined() || b.isUndetermined())
    return makeUnknown(result.bits);
  if (compareIntegers(a, b, type, predicate) == Truth::Unknown && isUnsigned)
    return makeUnknown(result.bits);
  double x = toDouble(a, type), y = toDouble(b, type), c = toDouble(result, type);
  double lo = isMin ? std::min(x - a.bound, y - b.bound) : std::max(x - a.bound, y - b.bound);
  double hi = isMin ? std::min(x + a.bound, y + b.bound) : std::max(x + a.bound, y + b.bound);
  result.bound = std::max({hi - c, c - lo, 0.0});
  return result;
}

/// Value of both operands or of one if it decides alone: false and x, true or x.
ElementFunction makeLogic(ElementType type, bool isAnd) {
  return [=](const Number *x) -> Number {
    for (unsigned i = 0; i < 2; ++i)
      if (type.bits == 1 && x[i].isExact() && (x[i].bits != 0) != isAnd)
        return makeBool(!isAnd);
    if (x[0].poison || x[1].poison)
      return makePoison();
    Number result;
    result.bits = isAnd ? x[0].bits & x[1].bits : x[0].bits | x[1].bits;
    if (!x[0].isExact() || !x[1].isExact())
      result.bound = undetermined;
    return result;
  };
}
} // namespace

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Truth interp::lessInOrder(const Number &a, const Number &b, const ElementType &type, bool isUnsigned) {
  if (!type.isFloat())
    return compareIntegers(a, b, type, isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt);
  if (a.isUndetermined() || b.isUndetermined())
    return Truth::Unknown;
  bool aNaN = std::isnan(toDouble(a, type)), bNaN = std::isnan(toDouble(b, type));
  if (aNaN || bNaN)
    return !aNaN ? Truth::True : Truth::False;
  return compareReals(getInterval(a, type), getInterval(b, type), arith::CmpFPredicate::OLT);
}

ElementFunction interp::getElementFunction(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->getNumOperands() > 3)
    return nullptr;
  // The element types; of a comparison or selection that of the operands.
  std::optional<ElementType> first = ElementType::get(getElementTypeOrSelf(op->getOperand(0).getType()));
  std::optional<ElementType> result = ElementType::get(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!first || !result)
    return nullptr;
  ElementType type = *first, to = *result;
  unsigned bits = type.bits;
  auto integer = [&](unsigned operands, std::function<std::optional<uint64_t>(const uint64_t *)> function) {
    return makeInteger(type, to, operands, std::move(function));
  };
  auto sign = [bits](uint64_t x) { return llvm::SignExtend64(x, bits); };
  uint64_t smallest = uint64_t(1) << (bits - 1);

  return llvm::TypeSwitch<Operation *, ElementFunction>(op)
      // Floats.
      .Case<arith::AddFOp, arith::SubFOp>([&](auto add) -> ElementFunction {
        bool subtract = isa<arith::SubFOp>(add.getOperation()), contract = isContract(op);
        return [=](const Number *x) {
          Number sum = addFloat(x[0], x[1], type, contract, subtract);
          // The sum of a value and itself is a product with 2 for those who contract: where it overflows, what is
          // added to it may bring it back.
          if (contract && !subtract && !sum.poison && x[0].bits == x[1].bits && std::isinf(toDouble(sum, type)) &&
              std::isfinite(toDouble(x[0], type)))
            sum.slack = undetermined;
          return sum;
        };
      })
      .Case([&](arith::MulFOp) -> ElementFunction {
        bool contract = isContract(op);
        return [=](const Number *x) { return mulFloat(x[0], x[1], type, contract); };
      })
      .Case([&](arith::DivFOp) { return makeDivide(type, isApproximate(op)); })
      .Case([&](arith::RemFOp) -> ElementFunction {
        return [=](const Number *x) -> Number {
          if (x[0].poison || x[1].poison)
            return makePoison();
          Number value = fromDouble(std::fmod(toDouble(x[0], type), toDouble(x[1], type)), type);
          if (!x[0].isExact() || !x[1].isExact())
            value.bound = undetermined;
          return value;
        };
      })
      .Case([&](arith::NegFOp) -> ElementFunction {
        return [=](const Number *x) {
          Number value = *x;
          if (!value.poison)
            value.bits ^= smallest;
          return value;
        };
      })
      .Case([&](math::AbsFOp) -> ElementFunction {
        return [=](const Number *x) {
          Number value = *x;
          if (value.poison)
            return value;
          value.bits &= ~smallest;
          value.slack = 0;
          return value;
        };
      })
      .Case([&](math::CopySignOp) -> ElementFunction {
        return [=](const Number *x) {
          if (x[0].poison || x[1].poison)
            return makePoison();
          Number value = x[0];
          value.slack = 0;
          value.bits = (value.bits & ~smallest) | (x[1].bits & smallest);
          Interval interval = getInterval(x[1], type);
          bool signKnown = x[1].isExact() || (interval.valid && !interval.contains(0));
          if (!signKnown)
            value.bound += 2 * std::fabs(toDouble(value, type));
          if (std::isnan(toDouble(x[1], type)))
            value.bound = undetermined;
          return value;
        };
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp>([&](auto max) -> ElementFunction {
        bool isMin = isa<arith::MinimumFOp>(max.getOperation());
        return [=](const Number *x) { return maxFloat(x[0], x[1], type, isMin); };
      })
      .Case<arith::MaxNumFOp, arith::MinNumFOp>(
          [&](auto max) { return makeMaxNum(type, isa<arith::MinNumFOp>(max.getOperation())); })
      .Case([&](math::FmaOp) { return makeFma(type); })
      .Case([&](arith::CmpFOp compare) { return makeCompare(compare.getPredicate(), type); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return makeFloatCast(type, to, false); })
      .Case<arith::SIToFPOp, arith::UIToFPOp>(
          [&](auto cast) { return makeFromInteger(type, to, isa<arith::UIToFPOp>(cast.getOperation())); })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([&](auto cast) {
        return makeToInteger(type, to, isa<arith::FPToUIOp>(cast.getOperation()), /*clamps=*/false);
      })
      .Case([&](atx::TileConvertOp cast) {
        if (to.isFloat())
          return makeFloatCast(type, to, cast.getSaturate());
        return makeToInteger(type, to, cast.getIsUnsigned(), /*clamps=*/true);
      })
      .Case<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp>([&](auto test) -> ElementFunction {
        int kind = isa<math::IsNaNOp>(test.getOperation()) ? 0 : isa<math::IsInfOp>(test.getOperation()) ? 1 : 2;
        return [=](const Number *x) {
          if (x->poison)
            return makePoison();
          double value = toDouble(*x, type);
          bool truth = kind == 0 ? std::isnan(value) : kind == 1 ? std::isinf(value) : std::isfinite(value);
          // A finite bound says that every permitted value is a number.
          return x->isUndetermined() ? makeUnknown(truth) : makeBool(truth);
        };
      })
      // Both.
      .Case([&](arith::SelectOp) -> ElementFunction {
        return [=](const Number *x) {
          if (x[0].poison)
            return makePoison();
          const Number &chosen = x[0].bits ? x[1] : x[2];
          if (x[0].isExact())
            return chosen;
          return merge(chosen, x[0].bits ? x[2] : x[1], to);
        };
      })
      .Case([&](arith::BitcastOp) -> ElementFunction {
        if (type.bits != to.bits)
          return nullptr;
        return [=](const Number *x) {
          Number value = *x;
          value.slack = 0;
          if (value.poison)
            return value;
          // Bits of a NaN and of what is only known up to a bound are not defined.
          if (!value.isExact() || (type.isFloat() && !to.isFloat() && std::isnan(toDouble(*x, type))))
            value.bound = undetermined;
          return value;
        };
      })
      // Integers.
      .Case([&](arith::AddIOp) {
        return withBounds(type, integer(2, [](const uint64_t *x) { return std::optional(x[0] + x[1]); }), '+');
      })
      .Case([&](arith::SubIOp) {
        return withBounds(type, integer(2, [](const uint64_t *x) { return std::optional(x[0] - x[1]); }), '-');
      })
      .Case([&](arith::MulIOp) {
        return withBounds(type, integer(2, [](const uint64_t *x) { return std::optional(x[0] * x[1]); }), '*');
      })
      .Case([&](arith::DivSIOp) {
        return integer(2, [=](const uint64_t *x) -> std::optional<uint64_t> {
          int64_t a = sign(x[0]), b = sign(x[1]);
          if (b == 0 || (b == -1 && x[0] == smallest))
            return std::nullopt;
          return a / b;
        });
      })
      .Case([&](arith::RemSIOp) {
        return integer(2, [=](const uint64_t *x) -> std::optional<uint64_t> {
          int64_t a = sign(x[0]), b = sign(x[1]);
          if (b == 0 || (b == -1 && x[0] == smallest))
            return std::nullopt;
          return a % b;
        });
      })
      .Case<arith::FloorDivSIOp, arith::CeilDivSIOp>([&](auto div) {
        bool isFloor = isa<arith::FloorDivSIOp>(div.getOperation());
        return integer(2, [=](const uint64_t *x) -> std::optional<uint64_t> {
          int64_t a = sign(x[0]), b = sign(x[1]);
          if (b == 0 || (b == -1 && x[0] == smallest))
            return std::nullopt;
          int64_t quotient = a / b, rest = a % b;
          if (rest != 0 && isFloor && (rest < 0) != (b < 0))
            --quotient;
          if (rest != 0 && !isFloor && (rest < 0) == (b < 0))
            ++quotient;
          return quotient;
        });
      })
      .Case([&](arith::DivUIOp) {
        return integer(2, [](const uint64_t *x) { return x[1] ? std::optional(x[0] / x[1]) : std::nullopt; });
      })
      .Case([&](arith::RemUIOp) {
        return integer(2, [](const uint64_t *x) { return x[1] ? std::optional(x[0] % x[1]) : std::nullopt; });
      })
      .Case([&](arith::CeilDivUIOp) {
        return integer(
            2, [](const uint64_t *x) { return x[1] ? std::optional(x[0] / x[1] + (x[0] % x[1] != 0)) : std::nullopt; });
      })
      .Case<arith::AndIOp, arith::OrIOp>(
          [&](auto logic) { return makeLogic(type, isa<arith::AndIOp>(logic.getOperation())); })
      .Case([&](arith::XOrIOp) { return integer(2, [](const uint64_t *x) { return std::optional(x[0] ^ x[1]); }); })
      .Case([&](arith::ShLIOp) {
        return integer(2, [=](const uint64_t *x) { return x[1] < bits ? std::optional(x[0] << x[1]) : std::nullopt; });
      })
      .Case([&](arith::ShRUIOp) {
        return integer(2, [=](const uint64_t *x) { return x[1] < bits ? std::optional(x[0] >> x[1]) : std::nullopt; });
      })
      .Case([&](arith::ShRSIOp) {
        return integer(2, [=](const uint64_t *x) -> std::optional<uint64_t> {
          if (x[1] >= bits)
            return std::nullopt;
          return sign(x[0]) >> x[1];
        });
      })
      .Case<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>([&](auto max) -> ElementFunction {
        Operation *self = max.getOperation();
        bool isMin = isa<arith::MinSIOp, arith::MinUIOp>(self), isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(self);
        return [=](const Number *x) { return maxInteger(x[0], x[1], type, isMin, isUnsigned); };
      })
      .Case([&](arith::CmpIOp compare) -> ElementFunction {
        arith::CmpIPredicate predicate = compare.getPredicate();
        return [=](const Number *x) {
          if (x[0].poison || x[1].poison)
            return makePoison();
          Number a = x[0], b = x[1];
          a.bound = b.bound = 0;
          return makeTruth(compareIntegers(x[0], x[1], type, predicate),
                           compareIntegers(a, b, type, predicate) == Truth::True);
        };
      })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>([&](auto) -> ElementFunction {
        return [=](const Number *x) {
          if (x->poison)
            return makePoison();
          Number value = fromSigned(toSigned(*x, type), to);
          value.bound = x->bound;
          if (!x->isExact() && std::fabs(toDouble(*x, type)) + x->bound >= std::ldexp(1.0, to.bits - 1))
            value.bound = undetermined;
          return value;
        };
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) -> ElementFunction {
        return [=](const Number *x) {
          if (x->poison)
            return makePoison();
          Number value;
          value.bits = toUnsigned(*x, type);
          if (to.bits < 64)
            value.bits &= (uint64_t(1) << to.bits) - 1;
          value.bound = x->bound;
          if (!x->isExact() && toDouble(*x, type) - x->bound < 0)
            value.bound = undetermined;
          return value;
        };
      })
      .Case([&](math::AbsIOp) {
        return integer(1, [=](const uint64_t *x) { return std::optional(sign(x[0]) < 0 ? 0 - x[0] : x[0]); });
      })
      .Case([&](math::CtPopOp) {
        return integer(1, [](const uint64_t *x) { return std::optional<uint64_t>(llvm::popcount(x[0])); });
      })
      .Case([&](math::CountLeadingZerosOp) {
        return integer(
            1, [=](const uint64_t *x) { return std::optional<uint64_t>(llvm::countl_zero(x[0]) - (64 - bits)); });
      })
      .Case([&](math::CountTrailingZerosOp) {
        return integer(1, [=](const uint64_t *x) {
          return std::optional<uint64_t>(x[0] ? static_cast<unsigned>(llvm::countr_zero(x[0])) : bits);
        });
      })
      .Default([&](Operation *other) -> ElementFunction {
        return type.isFloat() && op->getNumOperands() == 1 ? getFunction(other, type) : nullptr;
      });
}

//===----------------------------------------------------------------------===//
// Combining many
//===----------------------------------------------------------------------===//

Number interp::getNeutral(Combine kind, const ElementType &type) {
  uint64_t ones = type.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << type.bits) - 1;
  uint64_t smallest = uint64_t(1) << (type.bits - 1);
  Number number;
  switch (kind) {
  case Combine::Sum:
  case Combine::Or:
  case Combine::Xor:
  case Combine::UMax:
    break;
  case Combine::Prod:
    return type.isFloat() ? fromDouble(1, type) : fromSigned(1, type);
  case Combine::Max:
  case Combine::MaxNum:
    if (type.isFloat())
      return fromDouble(-inf, type);
    number.bits = smallest;
    break;
  case Combine::Min:
  case Combine::MinNum:
    if (type.isFloat())
      return fromDouble(inf, type);
    number.bits = smallest - 1;
    break;
  case Combine::UMin:
  case Combine::And:
    number.bits = ones;
    break;
  }
  return number;
}

/// Bits of a product of significands: whether it is exact in any order.
static int countSignificant(double value) {
  if (value == 0 || !std::isfinite(value))
    return 0;
  int exponent;
  uint64_t mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
  return 53 - llvm::countr_zero(mantissa);
}

void FloatSum::add(const Number &element) {
  poison |= element.poison;
  double value = toDouble(element, type);
  // Zeros change nothing.
  count += !element.isExact() || value != 0;
  anyUnknown |= element.isUndetermined() || std::isinf(element.slack);
  if (std::isnan(value)) {
    anyNaN |= element.isExact();
    return;
  }
  if (std::isinf(value)) {
    (value > 0 ? plus : minus) = true;
    return;
  }
  negativeZero |= value == 0 && std::signbit(value);
  long double term = value, next = sum + term;
  lost += std::fabs(sum) >= std::fabs(term) ? (sum - next) + term : (term - next) + sum;
  sum = next;
  magnitude += std::fabs(value) + element.bound + element.slack;
  radius += element.bound + element.slack;
  anyInexact |= element.bound != 0 || element.slack != 0;
  if (value != 0) {
    int exponent;
    std::frexp(value, &exponent);
    quantum = std::min(quantum, std::ldexp(1.0, exponent - countSignificant(value)));
  }
}

Number FloatSum::get(bool products) const {
  if (poison)
    return makePoison();
  if (anyNaN)
    return fromDouble(quietNaN, type);
  double center = static_cast<double>(sum + lost);
  Number result = fromDouble(center, type);
  if (anyUnknown) {
    result.bound = undetermined;
    return result;
  }
  if (plus || minus) {
    result = fromDouble(plus && minus ? quietNaN : plus ? inf : -inf, type);
    // A partial sum may overflow to the other infinity.
    if (magnitude >= type.getLargest() * 0.5 || (anyInexact && plus && minus))
      result.bound = undetermined;
    return result;
  }
  bool isSmall = magnitude <= std::ldexp(quantum, std::min(type.precision, 53)) || magnitude == 0;
  bool isExact = !anyInexact && (count <= 1 || (isSmall && magnitude < type.getLargest()));
  if (isExact || (!anyInexact && count == 2 && !products)) {
    // Whether a zero is negative depends on what the sum starts from.
    if (center == 0 && negativeZero)
      result.bound = std::numeric_limits<double>::denorm_min();
    return result;
  }
  if (magnitude * 1.01 >= type.getLargest()) {
    result.bound = undetermined;
    return result;
  }
  // n - 1 roundings of partial sums of at most `magnitude`. A matrix instruction
  // cuts each product, and each accumulator, at 2^-24 of the largest.
  double steps = double(count);
  double unit = type.getUnitRoundoff();
  double error = steps * unit / std::max(1 - steps * unit, 0.25) * magnitude;
  if (steps * unit > 0.5)
    error = undetermined;
  if (products && type.kind == ElementType::Kind::F32)
    error = (1.25 * steps + 4) * 0x1p-23 * magnitude;
  error += radius + std::numeric_limits<double>::denorm_min();
  return bounded(result.bits, type, widen({center - error, center + error, error < undetermined}));
}

void FloatProduct::add(const Number &element) {
  poison |= element.poison;
  double value = toDouble(element, type);
  ++factors;
  anyUnknown |= element.isUndetermined();
  if (std::isnan(value)) {
    anyNaN |= element.isExact();
    return;
  }
  anyInf |= std::isinf(value);
  anyZero |= value == 0;
  anyInexact |= !element.isExact();
  if (std::isfinite(value) && value != 0) {
    significant += countSignificant(value) - 1;
    double log = std::log2(std::fabs(value));
    (log > 0 ? grow : shrink) += std::fabs(log);
    relative += element.bound / std::fabs(value);
  } else if (!element.isExact()) {
    anyUnknown = true;
  }
  product *= value;
}

Number FloatProduct::get() const {
  if (poison)
    return makePoison();
  if (anyNaN || (anyInf && anyZero && !anyUnknown))
    return fromDouble(quietNaN, type);
  Number result = fromDouble(static_cast<double>(product), type);
  double count = double(factors);
  bool inRange = grow < type.maxExponent - 1 && -shrink > type.minExponent + 1;
  if (anyUnknown || (!inRange && count > 2)) {
    result.bound = undetermined;
    return result;
  }
  if (!anyInexact && (anyZero || anyInf || count <= 2 || significant + 1 <= type.precision))
    return result;
  double error = std::fabs(static_cast<double>(product)) *
                 (relative * (1 + relative * count) + count * type.getUnitRoundoff() * 1.01);
  double center = static_cast<double>(product);
  if (relative > 0.1)
    error = undetermined;
  return bounded(result.bits, type, widen({center - error, center + error, error < undetermined}));
}

void ProductReach::add(const Number &x, const Number &y, const Number &product) {
  if (x.poison || y.poison)
    return;
  auto magnitude = [&](const Number &number) { return std::fabs(toDouble(number, type)); };
  reach = std::max(reach, std::max(magnitude(x), 0x1p-126) * std::max(magnitude(y), 0x1p-126));
  largest = std::max(largest, magnitude(product));
  ++count;
}

void ProductReach::apply(Number &sum, const Number &start) const {
  // NaN is exact: it has no neighbours.
  if (std::isnan(toDouble(sum, type)))
    return;
  if (reach > std::max(largest, std::fabs(toDouble(start, type))) && !sum.poison && !sum.isUndetermined())
    sum.bound += (double(count) + 4) * 0x1p-22 * reach;
}

Number interp::combine(Combine kind, ArrayRef<Number> elements, const Number *init, const ElementType &type,
                       bool products) {
  auto addAll = [&](auto &total) {
    for (const Number &element : elements)
      total.add(element);
    if (init)
      total.add(*init);
  };
  if (type.isFloat() && kind == Combine::Sum) {
    FloatSum sum(type);
    addAll(sum);
    return sum.get(products);
  }
  if (type.isFloat() && kind == Combine::Prod) {
    FloatProduct product(type);
    addAll(product);
    return product.get();
  }
  std::optional<Number> result;
  if (init)
    result = *init;
  ElementFunction maxNum;
  if (kind == Combine::MaxNum || kind == Combine::MinNum)
    maxNum = makeMaxNum(type, kind == Combine::MinNum);
  ElementFunction logic;
  if (kind == Combine::And || kind == Combine::Or)
    logic = makeLogic(type, kind == Combine::And);
  auto exactly = [&](uint64_t bits, const Number &a, const Number &b) {
    if (a.poison || b.poison)
      return makePoison();
    Number value;
    value.bits = type.bits == 64 ? bits : bits & ((uint64_t(1) << type.bits) - 1);
    if (!a.isExact() || !b.isExact())
      value.bound = undetermined;
    return value;
  };
  for (const Number &element : elements) {
    if (!result) {
      result = element;
      continue;
    }
    Number pair[] = {*result, element};
    switch (kind) {
    case Combine::Sum:
      result = exactly(pair[0].bits + pair[1].bits, pair[0], pair[1]);
      break;
    case Combine::Prod:
      result = exactly(pair[0].bits * pair[1].bits, pair[0], pair[1]);
      break;
    case Combine::Xor:
      result = exactly(pair[0].bits ^ pair[1].bits, pair[0], pair[1]);
      break;
    case Combine::And:
    case Combine::Or:
      result = logic(pair);
      break;
    case Combine::Max:
    case Combine::Min:
      result = type.isFloat() ? maxFloat(pair[0], pair[1], type, kind == Combine::Min)
                              : maxInteger(pair[0], pair[1], type, kind == Combine::Min, false);
      break;
    case Combine::UMax:
    case Combine::UMin:
      result = maxInteger(pair[0], pair[1], type, kind == Combine::UMin, true);
      break;
    case Combine::MaxNum:
    case Combine::MinNum:
      result = maxNum(pair);
      break;
    }
  }
  Number value = result ? *result : getNeutral(kind, type);
  value.slack = 0;
  return value;
}
