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
/// The value that changes nothing.
Number getNeutral(Combine kind, const ElementType &type);

} // namespace atrex::interp

#endif // ATREX_LIB_INTERPRETER_ELEMENTWISE_H
