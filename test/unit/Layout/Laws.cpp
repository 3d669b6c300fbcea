//===- Laws.cpp - Laws on random layouts ----------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Laws.h"
#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Enumeration
//===----------------------------------------------------------------------===//

static int64_t weightOf(ArrayRef<int32_t> path) {
  if (path.empty())
    return 1;
  // Far apart, so that sums of small multiples do not meet.
  int64_t weight = 1000003;
  for (int32_t mode : path)
    weight = weight * 131 + (mode + 1) * 7919;
  return weight;
}

FlatLeaves leavesOf(const Layout &layout) {
  FlatLeaves leaves;
  SmallVector<Int> extents = layout.shape.flatten(), strides = layout.stride.flatten();
  for (unsigned i = 0; i < extents.size(); ++i)
    leaves.push_back({extents[i].value, strides[i].value * weightOf(strides[i].path)});
  return leaves;
}

const Layout &layoutOf(const Value &value) { return *std::get<Map>(value).getLayout(); }

int64_t numberOf(const Value &value) { return std::get<IntTuple>(value).getLeaf().value; }

int64_t sizeOf(const FlatLeaves &leaves) {
  int64_t size = 1;
  for (const FlatLeaf &leaf : leaves)
    size *= leaf.extent;
  return size;
}

std::vector<int64_t> tableOf(const FlatLeaves &leaves) {
  std::vector<int64_t> values = {0};
  for (const FlatLeaf &leaf : leaves) {
    std::vector<int64_t> next;
    next.reserve(values.size() * leaf.extent);
    for (int64_t digit = 0; digit < leaf.extent; ++digit)
      for (int64_t value : values)
        next.push_back(value + digit * leaf.stride);
    values = std::move(next);
  }
  return values;
}

std::vector<int64_t> tableOf(const Value &value) { return tableOf(leavesOf(layoutOf(value))); }

int64_t at(const FlatLeaves &leaves, int64_t index) {
  int64_t value = 0;
  for (size_t i = 0; i < leaves.size(); ++i) {
    int64_t digit = i + 1 < leaves.size() ? index % leaves[i].extent : index;
    index /= leaves[i].extent;
    value += digit * leaves[i].stride;
  }
  return value;
}

int64_t swizzleBits(const Swizzle &swizzle, int64_t x) {
  int64_t result = x;
  int from = swizzle.base + std::max(swizzle.shift, 0), to = swizzle.base + std::max(-swizzle.shift, 0);
  for (int bit = 0; bit < swizzle.bits; ++bit)
    if (x >> (from + bit) & 1)
      result ^= int64_t(1) << (to + bit);
  return result;
}

int64_t at(const Map &map, int64_t index) {
  if (const Layout *layout = map.getLayout())
    return at(leavesOf(*layout), index);
  if (const Swizzle *swizzle = map.getSwizzle())
    return swizzleBits(*swizzle, index);
  const Composed *composed = map.getComposed();
  return at(composed->inner, composed->offset.getLeaf().value + at(composed->outer, index));
}

std::vector<int64_t> sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

bool isInjective(const std::vector<int64_t> &values) {
  std::vector<int64_t> order = sorted(values);
  return std::adjacent_find(order.begin(), order.end()) == order.end();
}

bool isBijection(const std::vector<int64_t> &values, int64_t size) {
  std::vector<int64_t> order = sorted(values);
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != int64_t(i))
      return false;
  return int64_t(order.size()) == size;
}

std::vector<FlatLeaves> modesOf(const Layout &layout) {
  std::vector<FlatLeaves> modes;
  for (unsigned i = 0; i < layout.getRank(); ++i)
    modes.push_back(leavesOf(Layout(layout.shape[i], layout.stride[i])));
  return modes;
}

static int64_t extentOf(const IntTuple &shape) {
  int64_t product = 1;
  shape.walk([&](const Int &leaf) { product *= leaf.value; });
  return product;
}

IntTuple digitsOf(const IntTuple &shape, int64_t index) {
  if (shape.isLeaf())
    return index;
  std::vector<IntTuple> digits;
  for (unsigned i = 0; i < shape.getRank(); ++i) {
    bool last = i + 1 == shape.getRank();
    int64_t extent = extentOf(shape[i]);
    digits.push_back(digitsOf(shape[i], last ? index : index % extent));
    index /= extent;
  }
  return IntTuple::tuple(std::move(digits));
}

IntTuple flatDigitsOf(const IntTuple &shape, int64_t index) {
  if (shape.isLeaf())
    return index;
  std::vector<IntTuple> digits;
  for (unsigned i = 0; i < shape.getRank(); ++i) {
    bool last = i + 1 == shape.getRank();
    int64_t extent = extentOf(shape[i]);
    digits.push_back(last ? index : index % extent);
    index /= extent;
  }
  return IntTuple::tuple(std::move(digits));
}

//===----------------------------------------------------------------------===//
// Random operands
//===----------------------------------------------------------------------===//

std::vector<unsigned> Random::permutation(unsigned count) {
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (unsigned i = count; i > 1; --i)
    std::swap(order[i - 1], order[below(i)]);
  return order;
}

static IntTuple randomShapeOf(Random &random, ArrayRef<int64_t> extents, int64_t limit, int depth) {
  std::vector<IntTuple> elements;
  int64_t product = 1;
  for (int64_t i = random.between(1, 3); i > 0; --i) {
    IntTuple element = depth > 0 && random.chance(30)
                           ? randomShapeOf(random, extents, std::max<int64_t>(limit / product, 1), depth - 1)
                           : IntTuple(random.pick(extents));
    if (product * extentOf(element) > limit)
      element = 1;
    product *= extentOf(element);
    elements.push_back(element);
  }
  return IntTuple::tuple(std::move(elements));
}

IntTuple randomShape(Random &random, int64_t limit, int depth) {
  return randomShapeOf(random, {1, 2, 2, 3, 4, 4, 5, 6, 8}, limit, depth);
}

IntTuple treeLike(const IntTuple &shape, function_ref<int64_t(int64_t)> leaf) {
  return shape.map([&](const Int &extent) { return Int(leaf(extent.value)); });
}

static IntTuple stridesFrom(const IntTuple &shape, ArrayRef<int64_t> strides) {
  unsigned position = 0;
  return treeLike(shape, [&](int64_t) { return strides[position++]; });
}

Layout randomLayout(Random &random, Kind kind, int64_t limit) {
  IntTuple shape = kind == Kind::Binary ? randomShapeOf(random, {1, 2, 2, 4, 4, 8}, limit, 2)
                                        : randomShapeOf(random, {1, 2, 2, 3, 4, 4, 5, 6, 8}, limit, 2);
  if (kind == Kind::Any)
    return Layout(shape, treeLike(shape, [&](int64_t) { return random.pick({0, 1, 2, 3, 4, 6, 8, 12, 16}); }));
  if (kind == Kind::Signed)
    return Layout(shape, treeLike(shape, [&](int64_t) { return random.pick({0, 1, 2, 3, -1, -2, -5, 12, 16}); }));
  SmallVector<Int> extents = shape.flatten();
  std::vector<int64_t> strides(extents.size());
  int64_t next = 1;
  for (unsigned i : random.permutation(extents.size())) {
    if (kind == Kind::Gaps && random.chance(40))
      next *= random.pick({2, 3});
    if (kind == Kind::Loose && random.chance(50))
      next += random.between(1, 5);
    if (kind == Kind::Binary && random.chance(25))
      next *= 2;
    strides[i] = next;
    next *= extents[i].value;
  }
  return Layout(shape, stridesFrom(shape, strides));
}

Layout randomCompact(Random &random, const IntTuple &shape) {
  SmallVector<Int> extents = shape.flatten();
  std::vector<int64_t> strides(extents.size());
  std::vector<unsigned> order = random.permutation(extents.size());
  if (random.chance(50))
    std::iota(order.begin(), order.end(), 0);
  int64_t next = 1;
  for (unsigned i : order) {
    strides[i] = next;
    next *= extents[i].value;
  }
  return Layout(shape, stridesFrom(shape, strides));
}

//===----------------------------------------------------------------------===//
// The interpreter
//===----------------------------------------------------------------------===//

uint32_t Interpreter::add(int64_t value) {
  numbers.push_back(value);
  return numbers.size() - 1;
}

int64_t Interpreter::get(const Int &value) const { return value.isDynamic() ? numbers.at(value.handle) : value.value; }

uint32_t Interpreter::emit(Op op, const Int &lhs, const Int &rhs) {
  if ((!lhs.isDynamic() && !rhs.isDynamic()) || lhs.isBasis() || rhs.isBasis())
    misuse = "operands " + toString(lhs) + " and " + toString(rhs);
  __int128 a = get(lhs), b = get(rhs), result = 0;
  bool divides = op == Op::Div || op == Op::Rem || op == Op::DivU || op == Op::RemU || op == Op::CeilDiv ||
                 op == Op::FloorDiv || op == Op::FloorMod;
  if (divides && b == 0) {
    undefined = true;
    return add(0);
  }
  if ((op == Op::DivU || op == Op::RemU) && (a < 0 || b < 0) && !undefined)
    misuse = "unsigned division of " + std::to_string(get(lhs)) + " by " + std::to_string(get(rhs));
  __int128 floor = divides ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0;
  switch (op) {
  case Op::Add:
    result = a + b;
    break;
  case Op::Sub:
    result = a - b;
    break;
  case Op::Mul:
    result = a * b;
    break;
  case Op::Div:
  case Op::DivU:
    result = a / b;
    break;
  case Op::Rem:
  case Op::RemU:
    result = a % b;
    break;
  case Op::CeilDiv:
    result = -((-a) / b - ((-a) % b != 0 && (-a < 0) != (b < 0)));
    break;
  case Op::FloorDiv:
    result = floor;
    break;
  case Op::FloorMod:
    result = a - floor * b;
    break;
  case Op::Abs:
    result = a < 0 ? -a : a;
    break;
  case Op::Min:
    result = std::min(a, b);
    break;
  case Op::Max:
    result = std::max(a, b);
    break;
  case Op::And:
    result = static_cast<int64_t>(a) & static_cast<int64_t>(b);
    break;
  case Op::Xor:
    result = static_cast<int64_t>(a) ^ static_cast<int64_t>(b);
    break;
  case Op::Shl:
    result = a * (__int128(1) << static_cast<int>(b));
    break;
  case Op::ShrU:
    result = static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(a)) >> static_cast<int>(b));
    break;
  }
  if (result > std::numeric_limits<int64_t>::max() || result < std::numeric_limits<int64_t>::min()) {
    undefined = true;
    result = 0;
  }
  return add(static_cast<int64_t>(result));
}

void Interpreter::assertDivides(const Int &divisor, const Int &value, StringRef) {
  int64_t d = get(divisor);
  if (d == 0 || get(value) % d != 0)
    asserted = true;
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

static Map mapLeavesOf(const Map &map, function_ref<Int(const Int &)> function) {
  if (const Layout *layout = map.getLayout())
    return Layout(layout->shape.map(function), layout->stride.map(function));
  if (const Composed *composed = map.getComposed()) {
    Map inner = mapLeavesOf(composed->inner, function);
    IntTuple offset = composed->offset.map(function);
    return Composed{inner, offset, mapLeavesOf(composed->outer, function)};
  }
  return map;
}

Value mapLeaves(const Value &value, function_ref<Int(const Int &)> function) {
  if (auto *tuple = std::get_if<IntTuple>(&value))
    return tuple->map(function);
  if (auto *map = std::get_if<Map>(&value))
    return mapLeavesOf(*map, function);
  if (auto *tile = std::get_if<Tile>(&value)) {
    Tile result = *tile;
    for (std::optional<Layout> &mode : result.modes)
      if (mode)
        mode = Layout(mode->shape.map(function), mode->stride.map(function));
    return result;
  }
  return value;
}

static std::string textOf(ArrayRef<Value> values) {
  std::string text;
  for (const Value &value : values)
    text += (text.empty() ? "" : ", ") + toString(value);
  return text;
}

/// A true divisor of a number that is not 0.
static int64_t randomDivisor(Random &random, int64_t number) {
  number = std::abs(number);
  if (random.chance(40))
    return number;
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= std::min<int64_t>(number, 64); ++d)
    if (number % d == 0)
      divisors.push_back(d);
  return random.pick(divisors);
}

static Values makeDynamic(Random &random, ArrayRef<Value> operands, unsigned frozen, Interpreter &interpreter) {
  unsigned leaves = 0;
  for (auto [i, operand] : enumerate(operands))
    if (!(frozen >> i & 1))
      mapLeaves(operand, [&](const Int &leaf) {
        ++leaves;
        return leaf;
      });
  // One leaf, or each with a chance: many dynamic leaves are mostly refused.
  int64_t single = random.chance(60) && leaves ? random.below(leaves) : -1;
  int64_t position = -1;
  Values result;
  for (auto [i, operand] : enumerate(operands)) {
    if (frozen >> i & 1) {
      result.push_back(operand);
      continue;
    }
    result.push_back(mapLeaves(operand, [&](const Int &leaf) -> Int {
      ++position;
      bool chosen = single < 0 ? random.chance(25) : position == single;
      // A dynamic stride is not 0: 0 says broadcast, which is part of the form.
      if (!chosen || !leaf.isStatic() || leaf.value == 0)
        return leaf;
      Int dynamic = Int::dynamic(randomDivisor(random, leaf.value), interpreter.add(leaf.value));
      dynamic.path = leaf.path;
      return dynamic;
    }));
  }
  return result;
}

static unsigned getCount() {
  const char *text = std::getenv("ATREX_LAYOUT_LAWS");
  return text ? std::max(std::atoi(text), 1) : 20000;
}

namespace {
struct Tally {
  unsigned accepted = 0, refused = 0;
  int percent() const { return accepted + refused ? int(100.0 * accepted / (accepted + refused)) : 0; }
};
} // namespace

/// Runs one policy on dynamic operands. False after a violation was reported.
static bool runDynamic(StringRef name, const Law &law, Random &random, ArrayRef<Value> operands, Policy policy,
                       Tally &tally) {
  Interpreter interpreter;
  Values dynamic = makeDynamic(random, operands, law.frozen, interpreter), bare;
  for (const Value &value : dynamic)
    bare.push_back(stripHandles(value));
  auto where = [&] { return name.str() + ": " + textOf(bare) + " for " + textOf(operands); };

  Algebra computing(&interpreter, policy), inferring(nullptr, policy);
  Values results = law.run(computing, dynamic), inferred = law.run(inferring, bare);
  const std::optional<Fault> &fault = computing.getFault(), &other = inferring.getFault();
  if (fault.has_value() != other.has_value() ||
      (fault && (fault->constraint != other->constraint || fault->text != other->text))) {
    ADD_FAILURE() << where() << ": faults differ: '" << (fault ? fault->text : "") << "' with a builder, '"
                  << (other ? other->text : "") << "' without";
    return false;
  }
  if (!interpreter.misuse.empty()) {
    ADD_FAILURE() << where() << ": the builder was given " << interpreter.misuse;
    return false;
  }
  if (fault) {
    ++tally.refused;
    return true;
  }
  if (interpreter.undefined || interpreter.asserted) {
    ++tally.refused;
    return true;
  }
  ++tally.accepted;
  std::string wrong;
  Values numbers;
  for (auto [result, expected] : zip(results, inferred)) {
    if (!(stripHandles(result) == expected))
      wrong = "inferred " + toString(expected) + ", built " + toString(result);
    numbers.push_back(mapLeaves(result, [&](const Int &leaf) -> Int {
      if (!leaf.isDynamic())
        return leaf;
      int64_t number = interpreter.get(leaf);
      if (number % leaf.value != 0)
        wrong = "claims " + toString(leaf) + " of " + std::to_string(number);
      return Int::basis(Int(number), leaf.path);
    }));
  }
  if (wrong.empty())
    wrong = law.verify(operands, numbers, true);
  if (!wrong.empty())
    ADD_FAILURE() << where() << ": " << wrong << "; results " << textOf(results) << " = " << textOf(numbers);
  return wrong.empty();
}

void check(StringRef name, const Law &law) {
  unsigned count = getCount();
  uint64_t seed = 14695981039346656037ull;
  for (char c : name)
    seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  Random random(seed);
  Tally fixed, dynamic, asserted;
  for (unsigned i = 0; i < count; ++i) {
    Values operands = law.generate(random);
    Algebra algebra;
    Values results = law.run(algebra, operands);
    if (algebra.failed()) {
      ++fixed.refused;
      if (law.staticPercent == 100) {
        ADD_FAILURE() << name.str() << ": " << textOf(operands) << ": " << algebra.getFault()->text;
        return;
      }
    } else {
      ++fixed.accepted;
      std::string wrong = law.verify(operands, results, false);
      if (!wrong.empty()) {
        ADD_FAILURE() << name.str() << ": " << textOf(operands) << ": " << wrong << "; results " << textOf(results);
        return;
      }
    }
    if (law.staticOnly)
      continue;
    // A law that depends on the preconditions is tried on operands that keep
    // them; others must be refused in the dynamic form as well, or keep it.
    if (!runDynamic(name, law, random, operands, Policy::Prove, dynamic))
      return;
    if (i % 4 == 0 && !runDynamic(name, law, random, operands, Policy::Assert, asserted))
      return;
  }
  ::testing::Test::RecordProperty((name + "_static_percent").str(), fixed.percent());
  ::testing::Test::RecordProperty((name + "_dynamic_percent").str(), dynamic.percent());
  if (std::getenv("ATREX_LAYOUT_VERBOSE"))
    errs() << name << ": static " << fixed.accepted << " (" << fixed.percent() << "%), dynamic " << dynamic.accepted
           << " (" << dynamic.percent() << "%), asserting " << asserted.accepted << " (" << asserted.percent()
           << "%)\n";
  EXPECT_GE(fixed.percent(), law.staticPercent) << name.str() << ": too few operands are accepted";
  if (!law.staticOnly)
    EXPECT_GE(dynamic.percent(), law.dynamicPercent) << name.str() << ": too few dynamic operands are accepted";
}

} // namespace atrex::layout
