//===- Values.cpp - Values of the layout algebra ---===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Values.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Int
//===----------------------------------------------------------------------===//

Int Int::dynamic(int64_t divisor, uint32_t handle) {
  Int result(divisor < 1 ? 1 : divisor);
  result.kind = Kind::Dynamic;
  result.handle = handle;
  return result;
}

Int Int::star() {
  Int result;
  result.kind = Kind::Star;
  return result;
}

Int Int::basis(Int coefficient, ArrayRef<int32_t> path) {
  // 0 times a unit coordinate is 0, which has no direction.
  if (coefficient.is(0))
    return coefficient;
  coefficient.path.assign(path.begin(), path.end());
  return coefficient;
}

uint64_t Int::getDivisor() const {
  if (isStar())
    return 1;
  if (isDynamic())
    return value;
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

bool Int::isMultipleOf(uint64_t divisor) const { return divisor != 0 && getDivisor() % divisor == 0; }

Int Int::getCoefficient() const {
  Int result = *this;
  result.path.clear();
  return result;
}

hash_code hash_value(const Int &value) {
  return hash_combine(value.kind, value.handle, value.value, hash_combine_range(value.path.begin(), value.path.end()));
}

//===----------------------------------------------------------------------===//
// IntTuple
//===----------------------------------------------------------------------===//

IntTuple IntTuple::tuple(std::vector<IntTuple> elements) {
  if (elements.size() == 1 && elements[0].isLeaf())
    return elements[0];
  IntTuple result;
  result.tupled = true;
  result.elements = std::move(elements);
  return result;
}

unsigned IntTuple::getDepth() const {
  if (!tupled)
    return 0;
  unsigned depth = 0;
  for (const IntTuple &element : elements)
    depth = std::max(depth, element.getDepth());
  return depth + 1;
}

void IntTuple::walk(function_ref<void(Int &)> callback) {
  if (!tupled)
    return callback(leaf);
  for (IntTuple &element : elements)
    element.walk(callback);
}

void IntTuple::walk(function_ref<void(const Int &)> callback) const {
  if (!tupled)
    return callback(leaf);
  for (const IntTuple &element : elements)
    element.walk(callback);
}

SmallVector<Int> IntTuple::flatten() const {
  SmallVector<Int> leaves;
  walk([&](const Int &leaf) { leaves.push_back(leaf); });
  return leaves;
}

unsigned IntTuple::getNumLeaves() const {
  unsigned count = 0;
  walk([&](const Int &) { ++count; });
  return count;
}

IntTuple IntTuple::map(function_ref<Int(const Int &)> function) const {
  IntTuple result = *this;
  result.walk([&](Int &leaf) { leaf = function(leaf); });
  return result;
}

hash_code hash_value(const IntTuple &value) {
  if (value.isLeaf())
    return hash_value(value.getLeaf());
  hash_code code = hash_combine(value.getElements().size());
  for (const IntTuple &element : value.getElements())
    code = hash_combine(code, hash_value(element));
  return code;
}

bool areCongruent(const IntTuple &lhs, const IntTuple &rhs) {
  if (lhs.isTuple() != rhs.isTuple() || lhs.getRank() != rhs.getRank())
    return false;
  return lhs.isLeaf() || all_of(zip(lhs.getElements(), rhs.getElements()),
                                [](const auto &pair) { return areCongruent(std::get<0>(pair), std::get<1>(pair)); });
}

IntTuple zipMap(function_ref<Int(const Int &, const Int &)> function, const IntTuple &lhs, const IntTuple &rhs) {
  if (lhs.isLeaf())
    return function(lhs.getLeaf(), rhs.getLeaf());
  IntTuple result = lhs;
  for (auto [element, other] : zip(result.getElements(), rhs.getElements()))
    element = zipMap(function, element, other);
  return result;
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

std::vector<Layout> Layout::getModes() const {
  std::vector<Layout> modes;
  for (unsigned i = 0; i < getRank(); ++i)
    modes.push_back(getMode(i));
  return modes;
}

SmallVector<std::pair<Int, Int>> Layout::getLeaves() const {
  SmallVector<std::pair<Int, Int>> leaves;
  for (auto [extent, step] : zip(shape.flatten(), stride.flatten()))
    leaves.emplace_back(extent, step);
  return leaves;
}

bool Layout::hasBasis() const {
  bool found = false;
  stride.walk([&](const Int &leaf) { found |= leaf.isBasis(); });
  return found;
}

bool Layout::isStatic() const { return layout::isStatic(Value(Map(*this))); }

hash_code hash_value(const Layout &value) { return hash_combine(hash_value(value.shape), hash_value(value.stride)); }

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

bool Swizzle::isValid() const {
  if (bits < 0 || base < 0 || bits > 62 || base > 62 || shift > 62 || shift < -62)
    return false;
  int magnitude = std::abs(shift);
  return (bits == 0 || magnitude >= bits) && bits + base + magnitude <= 62;
}

int64_t Swizzle::getPeriod() const { return isIdentity() ? 1 : int64_t(1) << (bits + base + std::abs(shift)); }

int64_t Swizzle::getBlock() const { return isIdentity() ? 1 : int64_t(1) << (bits + base + (shift < 0 ? -shift : 0)); }

int64_t Swizzle::operator()(int64_t x) const {
  if (isIdentity())
    return x;
  // The masked bits lie below bit 62: neither shift touches the sign.
  int64_t masked = x & (((int64_t(1) << bits) - 1) << (base + std::max(shift, 0)));
  return x ^ (shift > 0 ? masked >> shift : masked << -shift);
}

hash_code hash_value(const Swizzle &value) { return hash_combine(value.bits, value.base, value.shift); }

hash_code hash_value(const CoordSwizzle &value) {
  return hash_combine(value.bits, value.rowBase, value.row, value.columnBase, value.column);
}

//===----------------------------------------------------------------------===//
// Map, Composed, Tile
//===----------------------------------------------------------------------===//

Map::Map(Composed composed) : value(std::make_shared<const Composed>(std::move(composed))) {}

const Composed *Map::getComposed() const {
  const auto *shared = std::get_if<std::shared_ptr<const Composed>>(&value);
  return shared ? shared->get() : nullptr;
}

bool Map::operator==(const Map &other) const {
  const Composed *lhs = getComposed(), *rhs = other.getComposed();
  if (lhs && rhs)
    return *lhs == *rhs;
  return value == other.value;
}

hash_code hash_value(const Map &value) {
  if (const Layout *layout = value.getLayout())
    return hash_combine(0, hash_value(*layout));
  if (const Swizzle *swizzle = value.getSwizzle())
    return hash_combine(1, hash_value(*swizzle));
  if (const CoordSwizzle *swizzle = value.getCoordSwizzle())
    return hash_combine(2, hash_value(*swizzle));
  return hash_combine(3, hash_value(*value.getComposed()));
}

hash_code hash_value(const Composed &value) {
  return hash_combine(hash_value(value.inner), hash_value(value.offset), hash_value(value.outer));
}

hash_code hash_value(const Tile &value) {
  hash_code code = hash_combine(value.modes.size());
  for (const std::optional<Layout> &mode : value.modes)
    code = hash_combine(code, mode ? hash_value(*mode) : hash_code(0));
  return code;
}

static void walkTuple(IntTuple &tuple, function_ref<void(Int &)> callback) {
  tuple.walk([&](Int &leaf) {
    if (leaf.isDynamic())
      callback(leaf);
  });
}

static Map rewriteMap(const Map &map, function_ref<void(Int &)> callback) {
  if (const Layout *layout = map.getLayout()) {
    Layout copy = *layout;
    walkTuple(copy.shape, callback);
    walkTuple(copy.stride, callback);
    return copy;
  }
  if (const Composed *composed = map.getComposed()) {
    Composed copy = *composed;
    copy.inner = rewriteMap(copy.inner, callback);
    walkTuple(copy.offset, callback);
    copy.outer = rewriteMap(copy.outer, callback);
    return copy;
  }
  return map;
}

void walkDynamic(Value &value, function_ref<void(Int &)> callback) {
  if (auto *tuple = std::get_if<IntTuple>(&value))
    return walkTuple(*tuple, callback);
  if (auto *map = std::get_if<Map>(&value)) {
    *map = rewriteMap(*map, callback);
    return;
  }
  if (auto *tile = std::get_if<Tile>(&value))
    for (std::optional<Layout> &mode : tile->modes)
      if (mode) {
        walkTuple(mode->shape, callback);
        walkTuple(mode->stride, callback);
      }
}

void walkDynamic(const Value &value, function_ref<void(const Int &)> callback) {
  Value copy = value;
  walkDynamic(copy, [&](Int &leaf) { callback(leaf); });
}

Value stripHandles(Value value) {
  walkDynamic(value, [](Int &leaf) { leaf.handle = Int::noHandle; });
  return value;
}

bool isStatic(const Value &value) {
  bool dynamic = false;
  walkDynamic(value, [&](const Int &) { dynamic = true; });
  return !dynamic;
}

} // namespace atrex::layout
