//===- FunctionLawsTest.cpp - Laws L1 to L24 ------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Laws.h"
#include <numeric>

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

TEST(Laws, L1_EveryFormOfACoordinateAgrees) {
  Law law;
  law.generate = [](Random &random) {
    Layout a = randomLayout(random, Kind::Signed);
    // Past the end as well: the last leaf is unbounded.
    int64_t index = random.below(2 * sizeOf(leavesOf(a)));
    return operandsOf({mapOf(a), tupleOf(index), digitsOf(a.shape, index), flatDigitsOf(a.shape, index)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.crd2idx(tuple(in[1]), map(in[0])), algebra.crd2idx(tuple(in[2]), map(in[0])),
                       algebra.crd2idx(tuple(in[3]), map(in[0])),
                       algebra.coordOf(tuple(in[1]).getLeaf(), layoutOf(in[0]).shape)});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    int64_t expected = at(leavesOf(in[0]), numberOf(in[1]));
    HOLDS(numberOf(out[0]) == expected);
    HOLDS(numberOf(out[1]) == expected);
    HOLDS(numberOf(out[2]) == expected);
    HOLDS(tuple(out[3]) == digitsOf(layoutOf(in[0]).shape, numberOf(in[1])));
    return "";
  };
  law.dynamicPercent = 95;
  check("L1", law);
}

TEST(Laws, L2_AdditiveWithoutCarry) {
  Law law;
  law.generate = [](Random &random) {
    Layout a = randomLayout(random, Kind::Signed);
    int64_t i = 0, j = 0, unit = 1;
    for (const FlatLeaf &leaf : leavesOf(a)) {
      int64_t x = random.below(leaf.extent), y = random.below(leaf.extent - x);
      i += x * unit, j += y * unit, unit *= leaf.extent;
    }
    return operandsOf({mapOf(a), tupleOf(i), tupleOf(j)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    const Int &i = tuple(in[1]).getLeaf(), &j = tuple(in[2]).getLeaf();
    IntTuple x = algebra.crd2idx(i, map(in[0])), y = algebra.crd2idx(j, map(in[0]));
    IntTuple both = algebra.crd2idx(algebra.add(i, j), map(in[0]));
    return operandsOf({x, y, both});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    HOLDS(numberOf(out[0]) + numberOf(out[1]) == numberOf(out[2]));
    HOLDS(numberOf(out[2]) == at(leavesOf(in[0]), numberOf(in[1]) + numberOf(in[2])));
    return "";
  };
  law.dynamicPercent = 95;
  check("L2", law);
}

TEST(Laws, L3_Get1DCoordInverts) {
  Law law;
  law.generate = [](Random &random) {
    Layout k = randomLayout(random, random.chance(50) ? Kind::Compact : Kind::Gaps);
    int64_t index = random.below(sizeOf(leavesOf(k)));
    return operandsOf({mapOf(k), tupleOf(index), tupleOf(at(leavesOf(k), index))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.get1DCoord(tuple(in[2]), map(in[0])), algebra.getFlatCoord(tuple(in[2]), map(in[0])),
                       algebra.idx2crd(tuple(in[2]), map(in[0]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    // A unit leaf has digit 0, so the digit of a trailing one is not unbounded.
    HOLDS(numberOf(out[0]) == numberOf(in[1]));
    HOLDS(tuple(out[1]) == flatDigitsOf(layoutOf(in[0]).shape, numberOf(in[1])));
    HOLDS(tuple(out[2]) == digitsOf(layoutOf(in[0]).shape, numberOf(in[1])));
    return "";
  };
  law.dynamicPercent = 95;
  check("L3", law);
}

/// The definition of idx2crd itself: (i / d) mod n rounded down, for any i.
TEST(Laws, Idx2CrdIsFloorDivision) {
  Law law;
  law.generate = [](Random &random) {
    // Only strides whose sign is known at compile time may see negative numbers.
    return operandsOf({mapOf(randomLayout(random, Kind::Signed)), tupleOf(random.between(-50, 200))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.idx2crd(tuple(in[1]), map(in[0]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    SmallVector<Int> digits = tuple(out[0]).flatten();
    FlatLeaves leaves = leavesOf(in[0]);
    for (unsigned i = 0; i < leaves.size(); ++i) {
      auto [extent, stride] = leaves[i];
      int64_t wanted = 0;
      if (stride != 0 && extent != 1) {
        // Repeated subtraction: no division to get wrong.
        int64_t rest = numberOf(in[1]), quotient = 0, step = std::abs(stride);
        for (; rest < 0; rest += step)
          --quotient;
        for (; rest >= step; rest -= step)
          ++quotient;
        if (stride < 0)
          quotient = -quotient - (rest != 0);
        for (wanted = quotient; wanted < 0;)
          wanted += extent;
        for (; wanted >= extent;)
          wanted -= extent;
      }
      HOLDS(digits[i].value == wanted);
    }
    return "";
  };
  // A dynamic index is taken to be non-negative.
  law.frozen = 2;
  law.dynamicPercent = 95;
  check("idx2crd", law);
}

//===----------------------------------------------------------------------===//
// Measures and arithmetic
//===----------------------------------------------------------------------===//

TEST(Laws, L4_L5_Measures) {
  Law law;
  law.generate = [](Random &random) {
    Kind kind = std::array{Kind::Signed, Kind::Any, Kind::Compact, Kind::Loose, Kind::Gaps}[random.below(5)];
    return operandsOf({mapOf(randomLayout(random, kind))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({IntTuple(algebra.size(in[0])), IntTuple(algebra.cosize(map(in[0]))),
                       algebra.injective(map(in[0])), algebra.compact(map(in[0]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    std::vector<int64_t> values = tableOf(in[0]);
    int64_t size = values.size();
    HOLDS(numberOf(out[0]) == size);
    int64_t cosize = *std::max_element(values.begin(), values.end()) - *std::min_element(values.begin(), values.end());
    HOLDS(numberOf(out[1]) == cosize + 1);
    HOLDS(std::get<bool>(out[2]) == isInjective(values));
    HOLDS(std::get<bool>(out[3]) == isBijection(values, size));
    if (isInjective(values))
      HOLDS(cosize + 1 >= size);
    return "";
  };
  law.staticOnly = true;
  check("L4", law);
}

TEST(Laws, CosizeOfDynamicLayouts) {
  Law law;
  law.generate = [](Random &random) {
    return operandsOf({mapOf(randomLayout(random, random.chance(50) ? Kind::Signed : Kind::Any))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({IntTuple(algebra.size(in[0])), IntTuple(algebra.cosize(map(in[0])))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    std::vector<int64_t> values = tableOf(in[0]);
    HOLDS(numberOf(out[0]) == int64_t(values.size()));
    HOLDS(numberOf(out[1]) ==
          *std::max_element(values.begin(), values.end()) - *std::min_element(values.begin(), values.end()) + 1);
    return "";
  };
  law.dynamicPercent = 95;
  check("cosize", law);
}

TEST(Laws, CoshapeOfCoordinates) {
  Law law;
  law.generate = [](Random &random) {
    IntTuple shape = randomShape(random);
    IntTuple stride = shape.map([&](const Int &) -> Int {
      return Int::basis(random.pick({1, 2, -3, 4}), {static_cast<int32_t>(random.below(3))});
    });
    return operandsOf({mapOf(Layout(shape, stride))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.coshape(map(in[0])), algebra.coprofile(map(in[0]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    SmallVector<Int> extents = layoutOf(in[0]).shape.flatten(), strides = layoutOf(in[0]).stride.flatten();
    SmallVector<Int> got = tuple(out[0]).flatten();
    unsigned rank = 0;
    for (unsigned mode = 0; mode < 3; ++mode) {
      FlatLeaves leaves;
      for (unsigned i = 0; i < extents.size(); ++i)
        if (strides[i].path[0] == int32_t(mode))
          leaves.push_back({extents[i].value, strides[i].value}), rank = mode + 1;
      std::vector<int64_t> values = tableOf(leaves);
      if (mode < got.size())
        HOLDS(got[mode].value ==
              *std::max_element(values.begin(), values.end()) - *std::min_element(values.begin(), values.end()) + 1);
    }
    HOLDS(got.size() == rank);
    HOLDS(tuple(out[1]).flatten().size() == rank);
    return "";
  };
  law.dynamicPercent = 95;
  check("coshape", law);
}

TEST(Laws, Arithmetic) {
  Law law;
  law.generate = [](Random &random) {
    auto number = [&] { return random.chance(20) ? random.between(-1000000007, 1000000007) : random.between(-24, 24); };
    int64_t x = number(), y = number();
    return operandsOf({tupleOf(x), tupleOf(y == 0 ? 7 : y)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Values out;
    for (Arithmetic op : {Arithmetic::Add, Arithmetic::Sub, Arithmetic::Mul, Arithmetic::Div, Arithmetic::Mod,
                          Arithmetic::Min, Arithmetic::Max})
      out.push_back(algebra.arithmetic(op, tuple(in[0]), tuple(in[1])));
    out.push_back(IntTuple(algebra.abs(tuple(in[0]).getLeaf())));
    return out;
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    int64_t x = numberOf(in[0]), y = numberOf(in[1]);
    HOLDS(numberOf(out[0]) == x + y);
    HOLDS(numberOf(out[1]) == x - y);
    HOLDS(numberOf(out[2]) == x * y);
    HOLDS(numberOf(out[3]) == x / y);
    HOLDS(numberOf(out[4]) == x % y);
    HOLDS(numberOf(out[5]) == (x < y ? x : y));
    HOLDS(numberOf(out[6]) == (x < y ? y : x));
    HOLDS(numberOf(out[7]) == (x < 0 ? -x : x));
    return "";
  };
  law.dynamicPercent = 95;
  check("arithmetic", law);
}

TEST(Laws, L6_ShapeDivDividesTheProduct) {
  Law law;
  law.generate = [](Random &random) {
    return operandsOf({randomShape(random), tupleOf(random.pick({1, 2, 3, 4, 6, 8, 12}))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.shapeDiv(tuple(in[0]), tuple(in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    int64_t before = 1, after = 1, divisor = numberOf(in[1]);
    tuple(in[0]).walk([&](const Int &leaf) { before *= leaf.value; });
    tuple(out[0]).walk([&](const Int &leaf) { after *= leaf.value; });
    HOLDS(areCongruent(tuple(in[0]), tuple(out[0])));
    if (before % divisor == 0)
      HOLDS(after == before / divisor);
    return "";
  };
  law.staticPercent = 45;
  law.dynamicPercent = 25;
  check("L6", law);
}

TEST(Laws, CeilDivRoundsUp) {
  Law law;
  law.generate = [](Random &random) {
    return operandsOf({tupleOf(random.between(-100, 1000)), tupleOf(random.between(1, 16))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.ceilDiv(tuple(in[0]), tuple(in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    int64_t x = numberOf(in[0]), y = numberOf(in[1]), q = numberOf(out[0]);
    HOLDS(q * y >= x && (q - 1) * y < x);
    return "";
  };
  law.dynamicPercent = 95;
  check("ceil_div", law);
}

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

TEST(Laws, L7_MakeLayoutIsCompact) {
  Law law;
  law.generate = [](Random &random) {
    IntTuple shape = randomShape(random);
    std::vector<unsigned> order = random.permutation(shape.getNumLeaves());
    unsigned position = 0;
    // Ties are allowed where an extent is 1.
    return operandsOf({shape, treeLike(shape, [&](int64_t extent) {
                         unsigned key = order[position++];
                         return extent == 1 && random.chance(50) ? 0 : int64_t(key) * 3 - 4;
                       })});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf(
        {mapOf(algebra.makeLayout(tuple(in[0]))), mapOf(algebra.makeOrderedLayout(tuple(in[0]), tuple(in[1])))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    std::vector<int64_t> values = tableOf(out[0]);
    for (size_t i = 0; i < values.size(); ++i)
      HOLDS(values[i] == int64_t(i));
    HOLDS(isBijection(tableOf(out[1]), values.size()));
    HOLDS(layoutOf(out[1]).shape == tuple(in[0]));
    FlatLeaves leaves = leavesOf(out[1]);
    SmallVector<Int> keys = tuple(in[1]).flatten();
    for (unsigned i = 0; i < leaves.size(); ++i) {
      int64_t product = 1;
      for (unsigned j = 0; j < leaves.size(); ++j)
        product *= keys[j].value < keys[i].value ? leaves[j].extent : 1;
      HOLDS(leaves[i].extent == 1 || leaves[i].stride == product);
    }
    return "";
  };
  law.frozen = 2;
  // A dynamic extent might be above 1, so that ties are refused.
  law.dynamicPercent = 80;
  check("L7", law);
}

TEST(Laws, L8_MakeFragmentLikeIsCompact) {
  Law law;
  law.generate = [](Random &random) { return operandsOf({mapOf(randomLayout(random, Kind::Signed))}); };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({mapOf(algebra.makeFragmentLike(map(in[0])))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    const Layout &fragment = layoutOf(out[0]);
    HOLDS(fragment.shape == layoutOf(in[0]).shape);
    std::vector<int64_t> values = tableOf(out[0]);
    HOLDS(isBijection(values, values.size()));
    // Mode 0 is colexicographic.
    int64_t first = sizeOf(modesOf(fragment)[0]);
    for (int64_t i = 0; i < first; ++i)
      HOLDS(values[i] == i);
    return "";
  };
  law.dynamicPercent = 95;
  check("L8", law);
}

TEST(Laws, L9_MakeLayoutLike) {
  Law law;
  law.generate = [](Random &random) { return operandsOf({mapOf(randomLayout(random, Kind::Signed))}); };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Layout once = algebra.makeLayoutLike(map(in[0]));
    return operandsOf({mapOf(once), mapOf(algebra.failed() ? once : algebra.makeLayoutLike(Map(once)))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    FlatLeaves before = leavesOf(in[0]), after = leavesOf(out[0]), kept;
    for (unsigned i = 0; i < before.size(); ++i) {
      HOLDS(before[i].extent == after[i].extent);
      if (before[i].stride != 0)
        kept.push_back(after[i]);
      else
        HOLDS(after[i].stride == 0);
      for (unsigned j = 0; j < before.size(); ++j)
        if (before[i].extent > 1 && before[j].extent > 1 && before[i].stride != 0)
          HOLDS(std::abs(before[i].stride) >= std::abs(before[j].stride) || after[i].stride < after[j].stride);
    }
    HOLDS(isBijection(tableOf(kept), sizeOf(kept)));
    HOLDS(out[0] == out[1]);
    return "";
  };
  law.dynamicPercent = 25;
  check("L9", law);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// A slicing coordinate for a shape: stars and integers at any level.
static IntTuple randomSlice(Random &random, const IntTuple &shape) {
  if (shape.isLeaf() || random.chance(25)) {
    int64_t extent = 1;
    shape.walk([&](const Int &leaf) { extent *= leaf.value; });
    return random.chance(50) ? IntTuple(Int::star()) : IntTuple(random.below(extent));
  }
  std::vector<IntTuple> elements;
  for (const IntTuple &element : shape.getElements())
    elements.push_back(randomSlice(random, element));
  return IntTuple::tuple(std::move(elements));
}

/// Splits the leaves below the stars from those below integers; adds the value
/// of the integers.
static void splitLeaves(const IntTuple &shape, const IntTuple &stride, const IntTuple &coord, FlatLeaves &kept,
                        FlatLeaves &fixed, int64_t &value) {
  if (coord.isTuple()) {
    for (unsigned i = 0; i < coord.getRank(); ++i)
      splitLeaves(shape[i], stride[i], coord[i], kept, fixed, value);
    return;
  }
  FlatLeaves leaves = leavesOf(Layout(shape, stride));
  bool star = coord.getLeaf().isStar();
  FlatLeaves &target = star ? kept : fixed;
  target.insert(target.end(), leaves.begin(), leaves.end());
  if (!star)
    value += at(leaves, coord.getLeaf().value);
}

TEST(Laws, L10_L11_SliceAndDice) {
  Law law;
  law.generate = [](Random &random) {
    Layout a = randomLayout(random, Kind::Signed);
    return operandsOf({mapOf(a), randomSlice(random, a.shape)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Values out = {algebra.slice(in[0], tuple(in[1])), algebra.dice(in[0], tuple(in[1]))};
    return out;
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    FlatLeaves kept, fixed;
    int64_t value = 0;
    splitLeaves(layoutOf(in[0]).shape, layoutOf(in[0]).stride, tuple(in[1]), kept, fixed, value);
    HOLDS(tableOf(out[0]) == tableOf(kept));
    HOLDS(tableOf(out[1]) == tableOf(fixed));
    return "";
  };
  // A coordinate without a star or without an integer keeps nothing: C5.
  law.staticPercent = 30;
  law.dynamicPercent = 30;
  check("L10", law);
}

TEST(Laws, L10_SliceOfComposedLayouts) {
  Law law;
  law.generate = [](Random &random) {
    Layout a = randomLayout(random, Kind::Any);
    Swizzle swizzle{static_cast<int32_t>(random.between(0, 3)), static_cast<int32_t>(random.between(0, 3)),
                    static_cast<int32_t>(random.pick({3, 4, -3}))};
    Map inner = random.chance(70) ? Map(swizzle) : Map(Layout(1000, random.between(1, 3)));
    Map outer = a;
    if (random.chance(30))
      outer = Composed{Layout(1000, random.between(1, 3)), random.below(20), outer};
    return operandsOf({Map(Composed{inner, random.below(20), outer}), randomSlice(random, a.shape)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Values out = {algebra.slice(in[0], tuple(in[1]))};
    return out;
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    const Composed *before = map(in[0]).getComposed(), *inner = before;
    while (inner->outer.getComposed())
      inner = inner->outer.getComposed();
    const Layout &layout = *inner->outer.getLayout();
    FlatLeaves kept, fixed;
    int64_t value = 0;
    splitLeaves(layout.shape, layout.stride, tuple(in[1]), kept, fixed, value);
    std::vector<int64_t> table = tableOf(kept);
    for (size_t i = 0; i < table.size(); ++i) {
      int64_t x = inner->offset.getLeaf().value + value + table[i];
      x = at(inner->inner, x);
      if (inner != before)
        x = at(before->inner, before->offset.getLeaf().value + x);
      HOLDS(at(map(out[0]), i) == x);
    }
    return "";
  };
  law.staticPercent = 60;
  law.dynamicPercent = 60;
  check("L10 composed", law);
}

//===----------------------------------------------------------------------===//
// Coalesce and composition
//===----------------------------------------------------------------------===//

TEST(Laws, L12_L13_Coalesce) {
  Law law;
  law.generate = [](Random &random) {
    Kind kind = std::array{Kind::Signed, Kind::Any, Kind::Compact, Kind::Binary}[random.below(4)];
    Layout a = randomLayout(random, kind);
    std::vector<IntTuple> profile(random.between(1, a.getRank()), IntTuple(1));
    return operandsOf({mapOf(a), IntTuple::tuple(std::move(profile))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Map once = algebra.coalesce(map(in[0]));
    const IntTuple *profile = &tuple(in[1]);
    return operandsOf({once, algebra.coalesce(once), algebra.coalesce(map(in[0]), profile)});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool dynamic) -> std::string {
    std::vector<int64_t> table = tableOf(in[0]);
    HOLDS(tableOf(out[0]) == table);
    HOLDS(layoutOf(out[0]).shape.getDepth() <= 1);
    HOLDS(out[0] == out[1]);
    HOLDS(tableOf(out[2]) == table);
    if (tuple(in[1]).isTuple()) {
      auto before = modesOf(layoutOf(in[0])), after = modesOf(layoutOf(out[2]));
      HOLDS(before.size() == after.size());
      for (unsigned i = 0; i < before.size(); ++i)
        HOLDS(tableOf(before[i]) == tableOf(after[i]));
    }
    if (dynamic)
      return "";
    FlatLeaves leaves = leavesOf(out[0]);
    for (unsigned i = 0; i < leaves.size(); ++i) {
      HOLDS(leaves[i].extent > 1 || (leaves.size() == 1 && leaves[i].stride == 0));
      HOLDS(i == 0 || leaves[i].stride != leaves[i - 1].stride * leaves[i - 1].extent);
    }
    return "";
  };
  law.frozen = 2;
  law.dynamicPercent = 95;
  check("L12", law);
}

TEST(Laws, L14_L15_Composition) {
  Law law;
  law.generate = [](Random &random) {
    bool binary = random.chance(60);
    Layout a = randomLayout(random, binary ? Kind::Binary : Kind::Any);
    return operandsOf({mapOf(a), mapOf(randomLayout(random, binary ? Kind::Binary : Kind::Any, 16))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.composition(map(in[0]), map(in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    FlatLeaves a = leavesOf(in[0]);
    std::vector<int64_t> inner = tableOf(in[1]), got = tableOf(out[0]);
    HOLDS(got.size() == inner.size());
    for (size_t i = 0; i < inner.size(); ++i)
      HOLDS(got[i] == at(a, inner[i]));
    if (layoutOf(in[1]).shape.isLeaf())
      return "";
    auto before = modesOf(layoutOf(in[1])), after = modesOf(layoutOf(out[0]));
    HOLDS(before.size() == after.size());
    for (unsigned i = 0; i < before.size(); ++i)
      HOLDS(sizeOf(before[i]) == sizeOf(after[i]));
    return "";
  };
  law.staticPercent = 35;
  law.dynamicPercent = 15;
  check("L14", law);
}

TEST(Laws, L14_CompositionByMode) {
  Law law;
  law.generate = [](Random &random) {
    Layout a = randomLayout(random, Kind::Binary);
    Tile tile;
    for (unsigned i = 0, n = random.between(1, a.getRank()); i < n; ++i) {
      if (random.chance(25))
        tile.modes.emplace_back();
      else
        tile.modes.emplace_back(randomLayout(random, Kind::Binary, 8));
    }
    return operandsOf({mapOf(a), tile});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.composition(map(in[0]), std::get<Tile>(in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    const Tile &tile = std::get<Tile>(in[1]);
    std::vector<FlatLeaves> modes = modesOf(layoutOf(in[0]));
    std::vector<FlatLeaves> results =
        modes.size() == 1 ? std::vector<FlatLeaves>(1, leavesOf(out[0])) : modesOf(layoutOf(out[0]));
    HOLDS(modes.size() == results.size());
    for (unsigned i = 0; i < modes.size(); ++i) {
      std::vector<int64_t> expected = tableOf(modes[i]);
      if (i < tile.modes.size() && tile.modes[i]) {
        expected = tableOf(*tile.modes[i]);
        for (int64_t &index : expected)
          index = at(modes[i], index);
      }
      HOLDS(tableOf(results[i]) == expected);
    }
    return "";
  };
  law.staticPercent = 60;
  law.dynamicPercent = 30;
  check("L14 by mode", law);
}

TEST(Laws, L14_CompositionWithCoordinates) {
  Law law;
  law.generate = [](Random &random) {
    Layout a = randomLayout(random, Kind::Binary);
    IntTuple shape = randomLayout(random, Kind::Binary, 16).shape;
    int32_t rank = a.getRank();
    IntTuple stride = shape.map([&](const Int &) -> Int {
      return Int::basis(random.pick({1, 2, 4}), {static_cast<int32_t>(random.below(rank))});
    });
    if (random.chance(30)) // Left coordinates as well.
      a.stride = a.stride.map([&](const Int &s) { return Int::basis(s, {static_cast<int32_t>(random.below(2))}); });
    return operandsOf({mapOf(a), mapOf(Layout(shape, stride))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.composition(map(in[0]), map(in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    auto modes = modesOf(layoutOf(in[0]));
    std::vector<int64_t> got = tableOf(out[0]), expected(got.size());
    SmallVector<Int> extents = layoutOf(in[1]).shape.flatten(), strides = layoutOf(in[1]).stride.flatten();
    for (unsigned mode = 0; mode < modes.size(); ++mode) {
      FlatLeaves leaves;
      for (unsigned i = 0; i < extents.size(); ++i)
        leaves.push_back({extents[i].value, strides[i].path[0] == int32_t(mode) ? strides[i].value : 0});
      std::vector<int64_t> component = tableOf(leaves);
      HOLDS(component.size() == got.size());
      for (size_t i = 0; i < got.size(); ++i)
        expected[i] += at(modes[mode], component[i]);
    }
    HOLDS(got == expected);
    return "";
  };
  law.staticPercent = 40;
  law.dynamicPercent = 25;
  check("L14 coordinates", law);
}

TEST(Laws, CompositionExact) {
  Law law;
  law.generate = [](Random &random) {
    return operandsOf({mapOf(randomLayout(random, Kind::Any, 16)), mapOf(randomLayout(random, Kind::Any, 16))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.compositionExact(map(in[0]), map(in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool dynamic) -> std::string {
    std::vector<int64_t> values = tableOf(in[1]);
    bool exact = *std::max_element(values.begin(), values.end()) < sizeOf(in[0]);
    HOLDS(std::get<bool>(out[0]) == exact || (dynamic && exact));
    return "";
  };
  law.dynamicPercent = 95;
  check("composition exact", law);
}

TEST(Laws, L16_CompositionIsAssociative) {
  Law law;
  law.generate = [](Random &random) {
    Layout c = randomLayout(random, Kind::Binary, 8);
    Layout b = randomLayout(random, Kind::Binary, 32);
    for (int tries = 0; tries < 20; ++tries) {
      std::vector<int64_t> values = tableOf(c);
      if (*std::max_element(values.begin(), values.end()) < sizeOf(leavesOf(b)))
        break;
      b = randomLayout(random, Kind::Binary, 64);
    }
    std::vector<int64_t> values = tableOf(c);
    if (*std::max_element(values.begin(), values.end()) >= sizeOf(leavesOf(b)))
      c = Layout(1, 0);
    return operandsOf({mapOf(randomLayout(random, Kind::Binary)), mapOf(b), mapOf(c)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Map left = algebra.composition(algebra.composition(map(in[0]), map(in[1])), map(in[2]));
    Map right = algebra.composition(map(in[0]), algebra.composition(map(in[1]), map(in[2])));
    return operandsOf({left, right});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    HOLDS(tableOf(out[0]) == tableOf(out[1]));
    std::vector<int64_t> inner = tableOf(in[2]), got = tableOf(out[0]);
    for (size_t i = 0; i < inner.size(); ++i)
      HOLDS(got[i] == at(leavesOf(in[0]), at(leavesOf(in[1]), inner[i])));
    return "";
  };
  law.staticPercent = 30;
  law.dynamicPercent = 10;
  check("L16", law);
}

TEST(Laws, L17_CompositionWithTheIdentity) {
  Law law;
  law.generate = [](Random &random) { return operandsOf({mapOf(randomLayout(random, Kind::Signed))}); };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Layout identity = algebra.makeLayout(algebra.size(in[0]));
    return operandsOf({algebra.composition(map(in[0]), Map(identity)), algebra.coalesce(map(in[0]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    HOLDS(tableOf(out[0]) == tableOf(in[0]));
    HOLDS(out[0] == out[1]);
    return "";
  };
  law.dynamicPercent = 25;
  check("L17", law);
}

//===----------------------------------------------------------------------===//
// Complement and inverses
//===----------------------------------------------------------------------===//

TEST(Laws, L18_L19_L20_Complement) {
  Law law;
  law.generate = [](Random &random) {
    Layout p = randomLayout(random,
                            random.chance(40)   ? Kind::Loose
                            : random.chance(50) ? Kind::Gaps
                                                : Kind::Binary,
                            24);
    if (random.chance(20) && p.shape.isTuple()) // A broadcast mode.
      p.stride.getElements()[0] = p.stride[0].map([](const Int &) { return Int(0); });
    std::vector<int64_t> values = tableOf(p);
    int64_t cosize = *std::max_element(values.begin(), values.end()) + 1;
    int64_t codomain = random.chance(50) ? cosize * random.between(1, 4) : random.between(1, 3 * cosize);
    return operandsOf({mapOf(p), tupleOf(codomain)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf(
        {mapOf(algebra.complement(map(in[0]), &tuple(in[1]))), algebra.complementExact(map(in[0]), &tuple(in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool dynamic) -> std::string {
    FlatLeaves both;
    for (const FlatLeaf &leaf : leavesOf(in[0]))
      if (leaf.stride != 0)
        both.push_back(leaf);
    FlatLeaves rest = leavesOf(out[0]);
    std::vector<int64_t> table = tableOf(rest);
    for (size_t i = 1; i < table.size(); ++i)
      HOLDS(table[i - 1] < table[i]);
    both.insert(both.end(), rest.begin(), rest.end());
    std::vector<int64_t> values = tableOf(both);
    HOLDS(isInjective(values));
    bool exact = isBijection(values, numberOf(in[1]));
    HOLDS(std::get<bool>(out[1]) == exact || (dynamic && exact));
    return "";
  };
  law.staticPercent = 60;
  law.dynamicPercent = 20;
  check("L18", law);
}

TEST(Laws, L21_L24_RightInverse) {
  Law law;
  law.generate = [](Random &random) {
    Kind kind = std::array{Kind::Any, Kind::Gaps, Kind::Loose, Kind::Compact}[random.below(4)];
    return operandsOf({mapOf(randomLayout(random, kind))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) { return operandsOf({algebra.rightInverse(map(in[0]))}); };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool dynamic) -> std::string {
    FlatLeaves layout = leavesOf(in[0]);
    std::vector<int64_t> inverse = tableOf(out[0]), values = tableOf(layout);
    for (size_t i = 0; i < inverse.size(); ++i) {
      HOLDS(inverse[i] >= 0 && inverse[i] < int64_t(values.size()));
      HOLDS(values[inverse[i]] == int64_t(i));
    }
    HOLDS(inverse.size() <= values.size());
    if (!dynamic && isBijection(values, values.size()))
      HOLDS(inverse.size() == values.size());
    return "";
  };
  law.dynamicPercent = 35;
  check("L21", law);
}

TEST(Laws, L21_RightInverseOfSwizzledLayouts) {
  Law law;
  law.generate = [](Random &random) {
    int32_t shift = random.pick({1, 2, 3, 4, -1, -2, -3});
    Swizzle swizzle{static_cast<int32_t>(random.between(0, std::abs(shift))), static_cast<int32_t>(random.below(3)),
                    shift};
    Layout k = randomLayout(random, random.chance(50) ? Kind::Compact : Kind::Gaps);
    if (random.chance(50))
      k = Layout(IntTuple::tuple({k.shape, 64}), IntTuple::tuple({k.stride, sizeOf(leavesOf(k))}));
    return operandsOf({Map(Composed{swizzle, 0, k})});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) { return operandsOf({algebra.rightInverse(map(in[0]))}); };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    const Composed *inverse = map(out[0]).getComposed();
    HOLDS(inverse && inverse->inner.getLayout());
    int64_t size = sizeOf(leavesOf(*inverse->inner.getLayout()));
    for (int64_t i = 0; i < size; ++i)
      HOLDS(at(map(in[0]), at(map(out[0]), i)) == i);
    return "";
  };
  law.staticPercent = 45;
  law.dynamicPercent = 20;
  check("L21 swizzled", law);
}

/// The test of the range is exact: the swizzle maps [0, n) onto itself.
TEST(Laws, RangeOfSwizzles) {
  Random random(1);
  unsigned whole = 0, parts = 0;
  for (int i = 0; i < 20000; ++i) {
    int32_t shift = random.pick({1, 2, 3, 4, -1, -2, -3, -4});
    Swizzle swizzle{static_cast<int32_t>(random.between(1, std::abs(shift))), static_cast<int32_t>(random.below(3)),
                    shift};
    int64_t size = random.between(1, 300);
    bool onto = true;
    for (int64_t x = 0; x < size; ++x)
      onto &= swizzleBits(swizzle, x) < size;
    Algebra algebra;
    algebra.rightInverse(Map(Composed{swizzle, 0, Layout(size, 1)}));
    ASSERT_EQ(!algebra.failed(), onto) << toString(swizzle) << " on " << size;
    ++(onto ? whole : parts);
  }
  EXPECT_GE(whole, 2000u);
  EXPECT_GE(parts, 2000u);
}

TEST(Laws, L22_LeftInverse) {
  Law law;
  law.generate = [](Random &random) {
    return operandsOf({mapOf(randomLayout(random, random.chance(70) ? Kind::Gaps : Kind::Any))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) { return operandsOf({mapOf(algebra.leftInverse(map(in[0])))}); };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    std::vector<int64_t> values = tableOf(in[0]);
    for (size_t i = 0; i < values.size(); ++i)
      HOLDS(at(leavesOf(out[0]), values[i]) == int64_t(i));
    return "";
  };
  law.staticPercent = 60;
  law.dynamicPercent = 20;
  check("L22", law);
}

TEST(Laws, L23_InversesOfCompactLayouts) {
  Law law;
  law.generate = [](Random &random) { return operandsOf({mapOf(randomLayout(random, Kind::Compact))}); };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Map right = algebra.rightInverse(map(in[0]));
    Layout left = algebra.leftInverse(map(in[0]));
    Map again = algebra.failed() ? Map() : algebra.rightInverse(right);
    return operandsOf({right, mapOf(left), again, algebra.coalesce(map(in[0]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool dynamic) -> std::string {
    if (dynamic) // The chain may end where a stride is not known.
      return "";
    HOLDS(tableOf(out[0]) == tableOf(out[1]));
    HOLDS(sizeOf(out[0]) == sizeOf(in[0]));
    HOLDS(out[2] == out[3]);
    return "";
  };
  law.dynamicPercent = 10;
  check("L23", law);
}

TEST(Laws, TextRoundTrips) {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    Interpreter interpreter;
    Value value = mapOf(randomLayout(random, Kind::Signed));
    if (random.chance(30))
      value = Map(Composed{Swizzle{2, 1, 3}, random.below(9), std::get<Map>(value)});
    value = mapLeaves(value,
                      [&](const Int &leaf) { return random.chance(20) ? Int::dynamic(random.between(1, 9)) : leaf; });
    Expected<Value> again = parse(toString(value));
    ASSERT_TRUE(bool(again)) << toString(value);
    ASSERT_EQ(*again == value, true) << toString(value);
  }
}

} // namespace atrex::layout
