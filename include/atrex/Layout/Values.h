//===- Values.h - Values of the layout algebra ------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers, tuples, layouts, swizzles, composed layouts and tiles: plain data
// without MLIR. The operations on them are in Algebra.h, their text form in
// Text.h. An integer is either a number or dynamic; a dynamic one carries a
// known divisor and, while code is being generated, a handle that names its
// run-time value.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LAYOUT_VALUES_H
#define ATREX_LAYOUT_VALUES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace atrex::layout {

/// A leaf: a static number, a dynamic number with a known divisor, or the
/// wildcard `*`. With a path it is a basis element: the coefficient times the
/// unit coordinate of mode path[0], sub-mode path[1], ...
struct Int {
  enum class Kind : uint8_t { Static, Dynamic, Star };
  static constexpr uint32_t noHandle = ~0u;

  Kind kind = Kind::Static;
  /// Names the run-time value of a dynamic integer; see IntBuilder.
  uint32_t handle = noHandle;
  /// The number, or the divisor (at least 1) of a dynamic integer.
  int64_t value = 0;
  llvm::SmallVector<int32_t, 2> path;

  Int() = default;
  Int(int64_t number) : value(number) {}
  static Int dynamic(int64_t divisor = 1, uint32_t handle = noHandle);
  static Int star();
  static Int basis(Int coefficient, llvm::ArrayRef<int32_t> path);

  bool isStatic() const { return kind == Kind::Static; }
  bool isDynamic() const { return kind == Kind::Dynamic; }
  bool isStar() const { return kind == Kind::Star; }
  bool isBasis() const { return !path.empty(); }
  /// A static integer of this value without a path.
  bool is(int64_t number) const { return isStatic() && path.empty() && value == number; }
  /// The largest number known to divide the integer; 0 for the number 0.
  uint64_t getDivisor() const;
  /// Whether `divisor` is known to divide the integer.
  bool isMultipleOf(uint64_t divisor) const;
  /// The coefficient of a basis element.
  Int getCoefficient() const;

  bool operator==(const Int &other) const = default;
};
llvm::hash_code hash_value(const Int &value);

/// An integer or a tuple of tuples.
class IntTuple {
public:
  IntTuple() = default;
  IntTuple(Int leaf) : leaf(std::move(leaf)) {}
  IntTuple(int64_t number) : leaf(number) {}
  /// A tuple. A single leaf is unwrapped: `(8)` is `8`.
  static IntTuple tuple(std::vector<IntTuple> elements);

  bool isTuple() const { return tupled; }
  bool isLeaf() const { return !tupled; }
  const Int &getLeaf() const { return leaf; }
  Int &getLeaf() { return leaf; }
  llvm::ArrayRef<IntTuple> getElements() const { return elements; }
  std::vector<IntTuple> &getElements() { return elements; }
  /// Top-level elements; an integer has one, itself.
  unsigned getRank() const { return tupled ? elements.size() : 1; }
  unsigned getDepth() const;
  /// The i-th top-level element.
  const IntTuple &operator[](unsigned index) const { return tupled ? elements[index] : *this; }
  llvm::SmallVector<Int> flatten() const;
  unsigned getNumLeaves() const;
  void walk(llvm::function_ref<void(Int &)> callback);
  void walk(llvm::function_ref<void(const Int &)> callback) const;
  /// The same tree with every leaf replaced.
  IntTuple map(llvm::function_ref<Int(const Int &)> function) const;

  bool operator==(const IntTuple &other) const = default;

private:
  bool tupled = false;
  Int leaf;
  std::vector<IntTuple> elements;
};
llvm::hash_code hash_value(const IntTuple &value);

/// Same tree shape.
bool areCongruent(const IntTuple &lhs, const IntTuple &rhs);
/// `zipMap(f, a, b)`: element by element over congruent tuples.
IntTuple zipMap(llvm::function_ref<Int(const Int &, const Int &)> function, const IntTuple &lhs, const IntTuple &rhs);

/// `shape:stride`, congruent.
struct Layout {
  IntTuple shape = 1, stride = 0;

  Layout() = default;
  Layout(IntTuple shape, IntTuple stride) : shape(std::move(shape)), stride(std::move(stride)) {}

  unsigned getRank() const { return shape.getRank(); }
  Layout getMode(unsigned index) const { return Layout(shape[index], stride[index]); }
  std::vector<Layout> getModes() const;
  /// (extent, stride) of every leaf from left to right.
  llvm::SmallVector<std::pair<Int, Int>> getLeaves() const;
  /// Whether a stride is a basis element.
  bool hasBasis() const;
  bool isStatic() const;

  bool operator==(const Layout &other) const = default;
};
llvm::hash_code hash_value(const Layout &value);

/// `S<b,m,s>`: x XOR ((x AND mask) >> s), mask = b ones from bit m + s; for
/// s < 0 the mask starts at bit m and is shifted left.
struct Swizzle {
  int32_t bits = 0, base = 0, shift = 0;

  bool isIdentity() const { return bits == 0; }
  /// Period of the function: S(x + period) = S(x) + period.
  int64_t getPeriod() const;
  /// Aligned blocks of this size map onto themselves.
  int64_t getBlock() const;
  int64_t operator()(int64_t x) const;
  /// Whether C21 holds.
  bool isValid() const;

  bool operator==(const Swizzle &other) const = default;
};
llvm::hash_code hash_value(const Swizzle &value);

/// `CS<b,r0,[i],c0,[j]>`: component j is XORed with
/// ((component i >> r0) AND (2^b - 1)) << c0.
struct CoordSwizzle {
  int32_t bits = 0, rowBase = 0, row = 0, columnBase = 0, column = 0;

  bool operator==(const CoordSwizzle &other) const = default;
};
llvm::hash_code hash_value(const CoordSwizzle &value);

struct Composed;

/// Anything that maps a coordinate to an index: layout, swizzle, coordinate
/// swizzle or composed layout. Copies of a composed layout share its parts,
/// which are never changed.
class Map {
public:
  Map() : value(Layout()) {}
  Map(Layout layout) : value(std::move(layout)) {}
  Map(Swizzle swizzle) : value(swizzle) {}
  Map(CoordSwizzle swizzle) : value(swizzle) {}
  Map(Composed composed);

  const Layout *getLayout() const { return std::get_if<Layout>(&value); }
  const Swizzle *getSwizzle() const { return std::get_if<Swizzle>(&value); }
  const CoordSwizzle *getCoordSwizzle() const { return std::get_if<CoordSwizzle>(&value); }
  const Composed *getComposed() const;

  bool operator==(const Map &other) const;

private:
  std::variant<Layout, Swizzle, CoordSwizzle, std::shared_ptr<const Composed>> value;
};
llvm::hash_code hash_value(const Map &value);

/// `inner o offset o outer`: c -> inner(offset + outer(c)).
struct Composed {
  Map inner;
  IntTuple offset = 0;
  Map outer;

  bool operator==(const Composed &other) const = default;
};
llvm::hash_code hash_value(const Composed &value);

/// By-mode tiler `[t0|t1|...]`; an element without a layout is `*` (leave the
/// mode alone). An integer n is the layout n:1.
struct Tile {
  std::vector<std::optional<Layout>> modes;

  bool operator==(const Tile &other) const = default;
};
llvm::hash_code hash_value(const Tile &value);

/// Any value of the algebra. A layout, swizzle or composed layout is a Map.
using Value = std::variant<IntTuple, Map, Tile, bool>;

/// Calls `callback` for every dynamic leaf in order of the text form: shape
/// before stride, inner before offset before outer.
void walkDynamic(Value &value, llvm::function_ref<void(Int &)> callback);
void walkDynamic(const Value &value, llvm::function_ref<void(const Int &)> callback);
/// The value without handles: what a type says.
Value stripHandles(Value value);
bool isStatic(const Value &value);

} // namespace atrex::layout

#endif // ATREX_LAYOUT_VALUES_H
