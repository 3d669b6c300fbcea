//===- Elementwise.h - Operations on single elements ------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_INTERPRETER_ELEMENTWISE_H
#define ATREX_LIB_INTERPRETER_ELEMENTWISE_H

#include "atrex/Interpreter/Interpreter.h"
#include <limits>

namespace atrex::interp {

/// Computes one element of the result from one of each operand.
using ElementFunction = std::function<Number(const Number *)>;

/// What an elementwise operation with one result does; null for others.
ElementFunction getElementFunction(mlir::Operation *op);

/// Order of two elements: less, and whether that is sure. NaN is above all
/// numbers and equal to NaN, zeros are equal.
Truth lessInOrder(const Number &a, const Number &b, const ElementType &type, bool isUnsigned);

/// sum, prod, max ... of integers or floats in a free order.
enum class Combine : uint8_t { Sum, Prod, Max, Min, UMax, UMin, And, Or, Xor, MaxNum, MinNum };

/// Combines elements without a defined order. `init` takes part where it is not
/// null. `products` says that elements may be products that a matrix
/// instruction sums.
Number combine(Combine kind, llvm::ArrayRef<Number> elements, const Number *init, const ElementType &type,
               bool products);

/// A float sum in any order and grouping, each step rounded to the type.
class FloatSum {
public:
  explicit FloatSum(const ElementType &type) : type(type) {}
  void add(const Number &element);
  /// The sum of what has been added. For `products` see combine().
  Number get(bool products) const;

private:
  ElementType type;
  bool poison = false, anyNaN = false, anyUnknown = false, plus = false, minus = false, negativeZero = false,
       anyInexact = false;
  double magnitude = 0, radius = 0, quantum = std::numeric_limits<double>::infinity();
  /// 64 bits of significand, and what each step loses.
  long double sum = 0, lost = 0;
  /// Terms that are not zero for sure.
  int64_t count = 0;
};

/// A float product in any order and grouping.
class FloatProduct {
public:
  explicit FloatProduct(const ElementType &type) : type(type) {}
  void add(const Number &element);
  Number get() const;

private:
  ElementType type;
  bool poison = false, anyNaN = false, anyInexact = false, anyUnknown = false, anyZero = false, anyInf = false;
  int significant = 0;
  double grow = 0, shrink = 0, relative = 0;
  long double product = 1;
  int64_t factors = 0;
};

/// A matrix instruction aligns products by the sum of their factors' exponents, zero
/// counting as 2^-126: a zero times a large number may cut small products.
class ProductReach {
public:
  explicit ProductReach(const ElementType &type) : type(type) {}
  void add(const Number &x, const Number &y, const Number &product);
  /// Widens the bound of a sum that began with `start`.
  void apply(Number &sum, const Number &start) const;

private:
  ElementType type;
  double reach = 0, largest = 0;
  uint64_t count = 0;
};

/// The value that changes nothing.
Number getNeutral(Combine kind, const ElementType &type);

} // namespace atrex::interp

#endif // ATREX_LIB_INTERPRETER_ELEMENTWISE_H
