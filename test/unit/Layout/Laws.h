//===- Laws.h - Laws on random layouts --------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A law is three functions: one makes random static operands, one runs the
// algebra, one verifies the results by enumeration. The enumeration is written
// here with loops over leaves and uses nothing of the algebra. Each law runs
//
// * on static operands, and
// * with random leaves replaced by dynamic ones with a true divisor: once with
//   a builder that computes, once without; both must take the same decisions,
//   claimed divisors must be true and the computed result must keep the law.
//
// ATREX_LAYOUT_LAWS=N sets the number of cases per law and form.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TEST_UNIT_LAYOUT_LAWS_H
#define ATREX_TEST_UNIT_LAYOUT_LAWS_H

#include "atrex/Layout/Algebra.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Enumeration
//===----------------------------------------------------------------------===//

struct FlatLeaf {
  int64_t extent, stride;
};
using FlatLeaves = std::vector<FlatLeaf>;

/// Leaves of a static layout from left to right. A basis element `kE_p` becomes
/// k times a large number that stands for the path p, so that comparing numbers
/// compares coordinates.
FlatLeaves leavesOf(const Layout &layout);
inline FlatLeaves leavesOf(const Value &value) { return leavesOf(*std::get<Map>(value).getLayout()); }
const Layout &layoutOf(const Value &value);
int64_t numberOf(const Value &value);

int64_t sizeOf(const FlatLeaves &leaves);
/// Values in colexicographic order of coordinates.
std::vector<int64_t> tableOf(const FlatLeaves &leaves);
std::vector<int64_t> tableOf(const Value &value);
inline std::vector<int64_t> tableOf(const Layout &layout) { return tableOf(leavesOf(layout)); }
/// The value at a 1-D coordinate; the last leaf is unbounded.
int64_t at(const FlatLeaves &leaves, int64_t index);
/// The value of a layout, swizzle or composed layout, with the swizzle done bit
/// by bit.
int64_t at(const Map &map, int64_t index);
int64_t swizzleBits(const Swizzle &swizzle, int64_t x);
std::vector<int64_t> sorted(std::vector<int64_t> values);
bool isInjective(const std::vector<int64_t> &values);
/// Whether the values are exactly 0, 1, ..., size - 1.
bool isBijection(const std::vector<int64_t> &values, int64_t size);
/// Modes of a layout as leaves.
std::vector<FlatLeaves> modesOf(const Layout &layout);
/// Digits of a 1-D coordinate in the tree of a shape; the last leaf unbounded.
IntTuple digitsOf(const IntTuple &shape, int64_t index);
/// One integer per top-level mode.
IntTuple flatDigitsOf(const IntTuple &shape, int64_t index);

//===----------------------------------------------------------------------===//
// Random operands
//===----------------------------------------------------------------------===//

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  /// From 0 to bound - 1; the same on every platform.
  int64_t below(int64_t bound) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(bound)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  int64_t pick(llvm::ArrayRef<int64_t> from) { return from[below(from.size())]; }
  std::vector<unsigned> permutation(unsigned count);

private:
  std::mt19937_64 engine;
};

enum class Kind {
  /// Small strides in any relation.
  Any,
  /// As Any, with negative strides.
  Signed,
  /// A bijection onto [0, size).
  Compact,
  /// Injective, sorted strides form a divisor chain.
  Gaps,
  /// Injective, strides nest.
  Loose,
  /// Extents and strides are powers of two; strides of the colexicographic
  /// chain: compositions are mostly admissible.
  Binary,
};
IntTuple randomShape(Random &random, int64_t limit = 48, int depth = 2);
Layout randomLayout(Random &random, Kind kind, int64_t limit = 48);
/// The same shape with compact strides in a random order.
Layout randomCompact(Random &random, const IntTuple &shape);
/// A tuple with the tree of `shape` and leaves made by the function.
IntTuple treeLike(const IntTuple &shape, llvm::function_ref<int64_t(int64_t extent)> leaf);

//===----------------------------------------------------------------------===//
// Laws
//===----------------------------------------------------------------------===//

using Values = llvm::SmallVector<Value, 6>;

struct Law {
  std::function<Values(Random &)> generate;
  std::function<Values(Algebra &, llvm::ArrayRef<Value>)> run;
  /// The text of a violation, or nothing. `dynamic` says that the results were
  /// computed from operands with dynamic leaves: the function must be right,
  /// but less may be known of its form.
  std::function<std::string(llvm::ArrayRef<Value> operands, llvm::ArrayRef<Value> results, bool dynamic)> verify;
  /// Operands that stay static, one bit each.
  unsigned frozen = 0;
  /// At least so many percent of the cases must be accepted by the algebra.
  int staticPercent = 100, dynamicPercent = 10;
  /// Measures of static layouts.
  bool staticOnly = false;
};

/// Operands of a law from layouts and numbers.
inline Values operandsOf(std::initializer_list<Value> values) { return Values(values); }

inline Value mapOf(Layout layout) { return Map(std::move(layout)); }

inline Value tupleOf(int64_t number) { return IntTuple(number); }

inline const Map &map(const Value &value) { return std::get<Map>(value); }

inline const IntTuple &tuple(const Value &value) { return std::get<IntTuple>(value); }

inline int64_t sizeOf(const Value &value) { return sizeOf(leavesOf(layoutOf(value))); }

/// Runs the law on many random operands and reports the first violation.
void check(llvm::StringRef name, const Law &law);

/// Computes what it is asked for.
class Interpreter : public IntBuilder {
public:
  uint32_t emit(Op op, const Int &lhs, const Int &rhs) override;
  void assertDivides(const Int &divisor, const Int &value, llvm::StringRef message) override;
  uint32_t add(int64_t value);
  int64_t get(const Int &value) const;

  /// A run-time value left 64 bits, or was divided by zero.
  bool undefined = false;
  /// An emitted assertion does not hold.
  bool asserted = false;
  /// Both operands were static, or a U operation had a negative operand.
  std::string misuse;

private:
  std::vector<int64_t> numbers;
};

/// Replaces every leaf; the callback sees shapes before strides.
Value mapLeaves(const Value &value, llvm::function_ref<Int(const Int &)> function);

} // namespace atrex::layout

/// In `verify`: the condition is the message of its violation.
#define HOLDS(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      return std::string(#condition " does not hold");                                                                 \
  } while (false)

#endif // ATREX_TEST_UNIT_LAYOUT_LAWS_H
