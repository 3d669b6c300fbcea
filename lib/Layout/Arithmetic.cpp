//===- Arithmetic.cpp - Integers and tuples of the layout algebra ---===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Algebra.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <numeric>

using namespace llvm;

namespace atrex::layout {

IntBuilder::~IntBuilder() = default;

void Algebra::fail(unsigned constraint, const Twine &text, const Twine &note) {
  if (!fault)
    fault = Fault{constraint, text.str(), note.str()};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

uint64_t gcdDivisors(uint64_t lhs, uint64_t rhs) { return std::gcd(lhs, rhs); }

uint64_t mulDivisors(uint64_t lhs, uint64_t rhs) {
  uint64_t product;
  if (__builtin_mul_overflow(lhs, rhs, &product) || product > uint64_t(std::numeric_limits<int64_t>::max()))
    return std::max(lhs, rhs);
  return product;
}

Int Algebra::emit(IntBuilder::Op op, const Int &lhs, const Int &rhs, uint64_t divisor) {
  uint32_t handle = builder && !fault ? builder->emit(op, lhs, rhs) : Int::noHandle;
  // Divisors are kept below 2^63; the only larger one is that of INT64_MIN.
  if (divisor > uint64_t(std::numeric_limits<int64_t>::max()))
    divisor = uint64_t(1) << 62;
  return Int::dynamic(divisor, handle);
}

bool Algebra::isPlainInteger(const Int &value, StringRef what) {
  if (value.isStar()) {
    fail(3, "'*' is not an integer: " + what + " needs a number here");
    return false;
  }
  if (value.isBasis()) {
    fail(14, "basis element " + toString(value) + " is not an integer: " + what + " needs a number here");
    return false;
  }
  return true;
}

static std::string overflowText(const Int &lhs, StringRef op, const Int &rhs) {
  return (toString(lhs) + " " + op + " " + toString(rhs) + " does not fit in 64 bits").str();
}

Int Algebra::add(const Int &lhs, const Int &rhs) {
  if (lhs.is(0))
    return rhs;
  if (rhs.is(0))
    return lhs;
  if (lhs.path != rhs.path) {
    fail(14, "cannot add " + toString(lhs) + " and " + toString(rhs) + ": they point in different directions");
    return 1;
  }
  if (lhs.isStar() || rhs.isStar()) {
    fail(3, "'*' is not an integer: addition needs a number here");
    return 1;
  }
  Int a = lhs.getCoefficient(), b = rhs.getCoefficient(), result;
  if (a.isStatic() && b.isStatic()) {
    int64_t sum;
    if (__builtin_add_overflow(a.value, b.value, &sum)) {
      fail(8, overflowText(a, "+", b));
      return 1;
    }
    result = sum;
  } else {
    result = emit(IntBuilder::Op::Add, a, b, gcdDivisors(a.getDivisor(), b.getDivisor()));
  }
  return Int::basis(result, lhs.path);
}

Int Algebra::sub(const Int &lhs, const Int &rhs) {
  if (!isPlainInteger(lhs, "subtraction") || !isPlainInteger(rhs, "subtraction"))
    return 1;
  if (rhs.is(0))
    return lhs;
  if (lhs.isStatic() && rhs.isStatic()) {
    int64_t difference;
    if (__builtin_sub_overflow(lhs.value, rhs.value, &difference)) {
      fail(8, overflowText(lhs, "-", rhs));
      return 1;
    }
    return difference;
  }
  return emit(IntBuilder::Op::Sub, lhs, rhs, gcdDivisors(lhs.getDivisor(), rhs.getDivisor()));
}

Int Algebra::mul(const Int &lhs, const Int &rhs) {
  if (lhs.isStar() || rhs.isStar()) {
    fail(3, "'*' is not an integer: multiplication needs a number here");
    return 1;
  }
  if (lhs.isBasis() && rhs.isBasis()) {
    fail(14, "cannot multiply the basis elements " + toString(lhs) + " and " + toString(rhs));
    return 1;
  }
  const auto path = lhs.isBasis() ? lhs.path : rhs.path;
  Int a = lhs.getCoefficient(), b = rhs.getCoefficient();
  if (a.is(0) || b.is(0))
    return 0;
  if (a.is(1))
    return Int::basis(b, path);
  if (b.is(1))
    return Int::basis(a, path);
  if (a.isStatic() && b.isStatic()) {
    int64_t product;
    if (__builtin_mul_overflow(a.value, b.value, &product)) {
      fail(8, overflowText(a, "*", b));
      return 1;
    }
    return Int::basis(product, path);
  }
  return Int::basis(emit(IntBuilder::Op::Mul, a, b, mulDivisors(a.getDivisor(), b.getDivisor())), path);
}

static bool isZeroDivisor(Algebra &algebra, const Int &lhs, const Int &rhs) {
  if (!rhs.is(0))
    return false;
  algebra.fail(7, toString(lhs) + " is divided by zero");
  return true;
}

Int Algebra::div(const Int &lhs, const Int &rhs) {
  if (!isPlainInteger(lhs, "division") || !isPlainInteger(rhs, "division") || isZeroDivisor(*this, lhs, rhs))
    return 1;
  if (rhs.is(1))
    return lhs;
  if (lhs.is(0))
    return 0;
  if (lhs.isStatic() && rhs.isStatic()) {
    if (rhs.value == -1)
      return sub(0, lhs);
    return lhs.value / rhs.value;
  }
  uint64_t divisor = rhs.isStatic() && lhs.isMultipleOf(rhs.getDivisor()) ? lhs.getDivisor() / rhs.getDivisor() : 1;
  return emit(IntBuilder::Op::Div, lhs, rhs, divisor);
}

Int Algebra::mod(const Int &lhs, const Int &rhs) {
  if (!isPlainInteger(lhs, "remainder") || !isPlainInteger(rhs, "remainder") || isZeroDivisor(*this, lhs, rhs))
    return 1;
  if (rhs.isStatic() && lhs.isMultipleOf(rhs.getDivisor()))
    return 0;
  if (lhs.isStatic() && rhs.isStatic())
    return lhs.value % rhs.value;
  return emit(IntBuilder::Op::Rem, lhs, rhs, gcdDivisors(lhs.getDivisor(), rhs.getDivisor()));
}

Int Algebra::divU(const Int &lhs, const Int &rhs) {
  if (lhs.isStatic() || rhs.is(1) || rhs.is(0) || lhs.isBasis() || rhs.isBasis() || lhs.isStar() || rhs.isStar())
    return div(lhs, rhs);
  uint64_t divisor = rhs.isStatic() && lhs.isMultipleOf(rhs.getDivisor()) ? lhs.getDivisor() / rhs.getDivisor() : 1;
  return emit(IntBuilder::Op::DivU, lhs, rhs, divisor);
}

Int Algebra::modU(const Int &lhs, const Int &rhs) {
  if (!lhs.isDynamic() && !rhs.isDynamic())
    return mod(lhs, rhs);
  if (!isPlainInteger(lhs, "remainder") || !isPlainInteger(rhs, "remainder") || isZeroDivisor(*this, lhs, rhs))
    return 1;
  if (rhs.isStatic() && lhs.isMultipleOf(rhs.getDivisor()))
    return 0;
  if (lhs.is(0))
    return 0;
  return emit(IntBuilder::Op::RemU, lhs, rhs, gcdDivisors(lhs.getDivisor(), rhs.getDivisor()));
}

Int Algebra::ceilDiv(const Int &lhs, const Int &rhs) {
  if (!isPlainInteger(lhs, "ceil_div") || !isPlainInteger(rhs, "ceil_div"))
    return 1;
  if (rhs.isStatic() && rhs.value <= 0) {
    fail(7, "the divisor of ceil_div must be positive, got " + Twine(rhs.value));
    return 1;
  }
  if (rhs.is(1))
    return lhs;
  if (lhs.isStatic() && rhs.isStatic())
    return lhs.value / rhs.value + (lhs.value % rhs.value > 0);
  if (lhs.is(0))
    return 0;
  uint64_t divisor = rhs.isStatic() && lhs.isMultipleOf(rhs.getDivisor()) ? lhs.getDivisor() / rhs.getDivisor() : 1;
  return emit(IntBuilder::Op::CeilDiv, lhs, rhs, divisor);
}

Int Algebra::shapeDiv(const Int &lhs, const Int &rhs) {
  if (!isPlainInteger(lhs, "shape_div") || !isPlainInteger(rhs, "shape_div") || isZeroDivisor(*this, lhs, rhs))
    return 1;
  if (rhs.isStatic() && lhs.isMultipleOf(rhs.getDivisor()))
    return div(lhs, rhs);
  // lhs divides rhs: the quotient is used up.
  if (lhs.isStatic() && rhs.isMultipleOf(lhs.getDivisor()))
    return 1;
  if (lhs.isStatic() && rhs.isStatic())
    fail(9, "shape_div: neither of " + Twine(lhs.value) + " and " + Twine(rhs.value) + " divides the other");
  else if (requireDivides(rhs, lhs, 9, "shape_div"))
    return div(lhs, rhs);
  return 1;
}

Int Algebra::abs(const Int &value) {
  if (!isPlainInteger(value, "absolute value"))
    return 1;
  if (value.isStatic())
    return value.value < 0 ? sub(0, value) : value;
  return emit(IntBuilder::Op::Abs, value, 0, value.getDivisor());
}

Int Algebra::min(const Int &lhs, const Int &rhs) {
  if (!isPlainInteger(lhs, "minimum") || !isPlainInteger(rhs, "minimum"))
    return 1;
  if (lhs.isStatic() && rhs.isStatic())
    return std::min(lhs.value, rhs.value);
  return emit(IntBuilder::Op::Min, lhs, rhs, gcdDivisors(lhs.getDivisor(), rhs.getDivisor()));
}

Int Algebra::max(const Int &lhs, const Int &rhs) {
  if (!isPlainInteger(lhs, "maximum") || !isPlainInteger(rhs, "maximum"))
    return 1;
  if (lhs.isStatic() && rhs.isStatic())
    return std::max(lhs.value, rhs.value);
  return emit(IntBuilder::Op::Max, lhs, rhs, gcdDivisors(lhs.getDivisor(), rhs.getDivisor()));
}

Int Algebra::swizzle(const Swizzle &swizzle, const Int &value) {
  if (!isPlainInteger(value, "a swizzle"))
    return 1;
  if (swizzle.isIdentity())
    return value;
  if (value.isStatic())
    return swizzle(value.value);
  // x XOR ((x AND mask) >> s)
  int64_t mask = ((int64_t(1) << swizzle.bits) - 1) << (swizzle.base + std::max(swizzle.shift, 0));
  Int masked = emit(IntBuilder::Op::And, value, mask, 1);
  Int moved = swizzle.shift > 0 ? emit(IntBuilder::Op::ShrU, masked, swizzle.shift, 1)
                                : emit(IntBuilder::Op::Shl, masked, -swizzle.shift, 1);
  return emit(IntBuilder::Op::Xor, value, moved, gcdDivisors(value.getDivisor(), uint64_t(1) << swizzle.base));
}

bool Algebra::requireDivides(const Int &divisor, const Int &value, unsigned constraint, const Twine &what) {
  if (divisor.is(1))
    return true;
  if (divisor.isStatic() && divisor.value != 0 && value.isMultipleOf(divisor.getDivisor()))
    return true;
  if (divisor.isStatic() && value.isStatic()) {
    fail(constraint, what + ": " + toString(divisor) + " does not divide " + toString(value));
    return false;
  }
  std::string message = (what + ": cannot prove that " + toString(divisor) + " divides " + toString(value)).str();
  if (policy == Policy::Assert) {
    if (builder && !fault)
      builder->assertDivides(divisor, value, message);
    return true;
  }
  fail(constraint, message, "give the dynamic value a divisor, such as '?{div=8}', or ask for a run-time assertion");
  return false;
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

IntTuple Algebra::arithmetic(Arithmetic op, const IntTuple &lhs, const IntTuple &rhs) {
  if (!areCongruent(lhs, rhs)) {
    fail(6, toString(lhs) + " and " + toString(rhs) + " are not congruent");
    return 1;
  }
  return zipMap(
      [&](const Int &a, const Int &b) {
        switch (op) {
        case Arithmetic::Add:
          if (!isPlainInteger(a, "addition") || !isPlainInteger(b, "addition"))
            return Int(1);
          return add(a, b);
        case Arithmetic::Sub:
          return sub(a, b);
        case Arithmetic::Mul:
          if (!isPlainInteger(a, "multiplication") || !isPlainInteger(b, "multiplication"))
            return Int(1);
          return mul(a, b);
        case Arithmetic::Div:
          return div(a, b);
        case Arithmetic::Mod:
          return mod(a, b);
        case Arithmetic::Min:
          return min(a, b);
        case Arithmetic::Max:
          return max(a, b);
        }
        return Int(1);
      },
      lhs, rhs);
}

Int Algebra::product(const IntTuple &tuple) {
  Int result = 1;
  tuple.walk([&](const Int &leaf) {
    if (isPlainInteger(leaf, "a product"))
      result = mul(result, leaf);
  });
  return result;
}

IntTuple Algebra::productEach(const IntTuple &tuple) {
  if (tuple.isLeaf())
    return product(tuple);
  std::vector<IntTuple> elements;
  for (const IntTuple &element : tuple.getElements())
    elements.push_back(product(element));
  return IntTuple::tuple(std::move(elements));
}

IntTuple Algebra::productLike(const IntTuple &tuple, const IntTuple &guide) {
  if (guide.isLeaf())
    return product(tuple);
  if (tuple.isLeaf() || tuple.getRank() != guide.getRank()) {
    fail(6, "guide " + toString(guide) + " does not fit " + toString(tuple));
    return 1;
  }
  std::vector<IntTuple> elements;
  for (auto [element, part] : zip(tuple.getElements(), guide.getElements()))
    elements.push_back(productLike(element, part));
  return IntTuple::tuple(std::move(elements));
}

/// Tuple by tuple element-wise; tuple by integer consumes the divisor from the
/// left; integer by tuple divides by the product.
static IntTuple foldDivision(Algebra &algebra, const IntTuple &lhs, const IntTuple &rhs, StringRef name,
                             function_ref<Int(const Int &, const Int &)> divide) {
  if (algebra.failed())
    return 1;
  if (lhs.isLeaf())
    return divide(lhs.getLeaf(), rhs.isLeaf() ? rhs.getLeaf() : algebra.product(rhs));
  std::vector<IntTuple> elements;
  if (rhs.isTuple()) {
    if (lhs.getRank() != rhs.getRank()) {
      algebra.fail(6, name + Twine(": ") + toString(lhs) + " has rank " + Twine(lhs.getRank()) + " but " +
                          toString(rhs) + " has rank " + Twine(rhs.getRank()));
      return 1;
    }
    for (auto [a, b] : zip(lhs.getElements(), rhs.getElements()))
      elements.push_back(foldDivision(algebra, a, b, name, divide));
    return IntTuple::tuple(std::move(elements));
  }
  Int rest = rhs.getLeaf();
  for (const IntTuple &element : lhs.getElements()) {
    elements.push_back(foldDivision(algebra, element, rest, name, divide));
    rest = divide(rest, algebra.product(element));
  }
  return IntTuple::tuple(std::move(elements));
}

IntTuple Algebra::shapeDiv(const IntTuple &lhs, const IntTuple &rhs) {
  return foldDivision(*this, lhs, rhs, "shape_div", [&](const Int &a, const Int &b) { return shapeDiv(a, b); });
}

IntTuple Algebra::ceilDiv(const IntTuple &lhs, const IntTuple &rhs) {
  return foldDivision(*this, lhs, rhs, "ceil_div", [&](const Int &a, const Int &b) { return ceilDiv(a, b); });
}

bool Algebra::elemLess(const IntTuple &lhs, const IntTuple &rhs) {
  if (!areCongruent(lhs, rhs)) {
    fail(6, toString(lhs) + " and " + toString(rhs) + " are not congruent");
    return false;
  }
  bool less = true;
  for (auto [a, b] : zip(lhs.flatten(), rhs.flatten())) {
    if (!isPlainInteger(a, "a comparison") || !isPlainInteger(b, "a comparison"))
      return false;
    if (a.isDynamic() || b.isDynamic()) {
      fail(13, "comparing " + toString(a) + " with " + toString(b) + " needs static values");
      return false;
    }
    less &= a.value < b.value;
  }
  return less;
}

} // namespace atrex::layout
