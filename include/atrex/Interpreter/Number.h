//===- Number.h - Elements with error bounds --------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interpreter computes one permitted value of every element and a bound on
// how far any other permitted value can be away from it. The bound is 0 where
// the semantics leave no choice. It grows where they do (the order of a sum,
// contraction of a product and a sum, approximate functions) and passes through
// every operation by interval arithmetic: an operation is evaluated at the ends
// of its operands' intervals and the ends are rounded to the result's type, so
// that a rounding which swallows the difference gives a bound of 0 again.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_INTERPRETER_NUMBER_H
#define ATREX_INTERPRETER_NUMBER_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace atrex::interp {

/// What the interpreter needs to know of an element type.
struct ElementType {
  enum class Kind : uint8_t { Int, F32, F64, F16, BF16, Small };
  Kind kind = Kind::Int;
  /// Bits of an integer (index: 64) or float.
  unsigned bits = 64;
  /// Null for integers.
  const llvm::fltSemantics *semantics = nullptr;
  /// Significant bits of a float, with the hidden one.
  int precision = 0;
  /// Exponent of the smallest normal number and of the largest number.
  int minExponent = 0, maxExponent = 0;

  bool isFloat() const { return kind != Kind::Int; }
  /// nullopt for types that no element has.
  static std::optional<ElementType> get(mlir::Type type);
  static ElementType getInteger(unsigned bits);
  /// 2^-precision: the relative error of one rounding.
  double getUnitRoundoff() const;
  /// Distance of two neighbouring numbers at |value|.
  double getSpacing(double value) const;
  /// Largest finite number.
  double getLargest() const;
};

constexpr double undetermined = std::numeric_limits<double>::infinity();

struct Number {
  /// The value in its type, in the low bits; the others are 0.
  uint64_t bits = 0;
  /// Every permitted value is at most this far from the one in `bits`; infinity
  /// where nothing is known. For integers the distance of signed values.
  double bound = 0;
  /// How far the product that this is lies from its rounded value: what changes
  /// when it is contracted with an addition that follows.
  float slack = 0;
  /// The result of an operation without meaning (a division by zero, memory that
  /// nothing wrote). Using it is a fault of the program unless it is dropped.
  bool poison = false;

  bool isExact() const { return bound == 0; }
  bool isUndetermined() const { return !(bound < undetermined); }
};

Number makePoison();

/// Exact for every type but 64-bit integers (rounded).
double toDouble(const Number &number, const ElementType &type);
/// Sign-extended.
int64_t toSigned(const Number &number, const ElementType &type);
uint64_t toUnsigned(const Number &number, const ElementType &type);
Number fromSigned(int64_t value, const ElementType &type);
/// Rounds to nearest, ties to even; overflow as `atx.tile_convert` defines it.
uint64_t encodeFloat(double value, const ElementType &type, bool saturate = false);
Number fromDouble(double value, const ElementType &type);

/// A closed interval of reals; not valid where an end is NaN or nothing is known.
struct Interval {
  double lo = 0, hi = 0;
  bool valid = true;

  bool contains(double value) const { return lo <= value && value <= hi; }
};
/// The values a number may have; with `slack` those of the product before its
/// rounding too.
Interval getInterval(const Number &number, const ElementType &type, bool withSlack = false);
/// One step outwards at both ends: what double arithmetic may have lost.
Interval widen(Interval interval);

/// The number `bits` with a bound that covers every rounding of the reals in
/// `interval`, moved by up to `ulps` spacings and `absolute`.
Number bounded(uint64_t bits, const ElementType &type, Interval interval, double ulps = 0, double absolute = 0,
               bool saturate = false);

/// Text of a value: `1.5`, `nan`, `-3`.
std::string format(const Number &number, const ElementType &type, bool isUnsigned = false);

//===----------------------------------------------------------------------===//
// Operations that several parts need
//===----------------------------------------------------------------------===//

Number addFloat(const Number &a, const Number &b, const ElementType &type, bool contract, bool subtract = false);
Number mulFloat(const Number &a, const Number &b, const ElementType &type, bool contract);
/// NaN if either is; -0 below +0.
Number maxFloat(const Number &a, const Number &b, const ElementType &type, bool isMin);
/// Covers both.
Number merge(const Number &chosen, const Number &other, const ElementType &type);
/// `a < b` of the ordered kind: true, false, or undetermined.
enum class Truth : uint8_t { False, True, Unknown };

} // namespace atrex::interp

#endif // ATREX_INTERPRETER_NUMBER_H
