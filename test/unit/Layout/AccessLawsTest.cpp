//===- AccessLawsTest.cpp - Laws L35 to L46 -------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Laws.h"
#include <map>

using namespace llvm;

namespace atrex::layout {

static Swizzle randomSwizzle(Random &random) {
  int32_t shift = random.pick({1, 2, 3, 4, 5, -1, -2, -3, -4});
  return Swizzle{static_cast<int32_t>(random.between(0, std::abs(shift))), static_cast<int32_t>(random.below(5)),
                 shift};
}

static const Swizzle &swizzleOf(const Value &value) { return *map(value).getSwizzle(); }

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

TEST(Laws, L35_L36_L37_L38_Swizzles) {
  Law law;
  law.generate = [](Random &random) { return operandsOf({Map(randomSwizzle(random)), tupleOf(random.below(8192))}); };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    const Swizzle &swizzle = swizzleOf(in[0]);
    const Int &x = tuple(in[1]).getLeaf();
    Int once = algebra.swizzle(swizzle, x), twice = algebra.swizzle(swizzle, once);
    Int moved = algebra.swizzle(swizzle, algebra.add(x, swizzle.getPeriod()));
    Int inside = algebra.modU(x, int64_t(1) << swizzle.base);
    Int start = algebra.swizzle(swizzle, algebra.sub(x, inside));
    return operandsOf({IntTuple(once), IntTuple(twice), IntTuple(moved), IntTuple(algebra.add(start, inside)),
                       IntTuple(algebra.add(once, swizzle.getPeriod()))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    int64_t x = numberOf(in[1]), block = swizzleOf(in[0]).getBlock();
    HOLDS(numberOf(out[0]) == swizzleBits(swizzleOf(in[0]), x));
    HOLDS(numberOf(out[1]) == x);
    HOLDS(numberOf(out[2]) == numberOf(out[4]));
    HOLDS(numberOf(out[3]) == numberOf(out[0]));
    HOLDS(numberOf(out[0]) / block == x / block);
    return "";
  };
  law.dynamicPercent = 95;
  check("L35", law);
}

TEST(Laws, CoordinateSwizzles) {
  Law law;
  law.generate = [](Random &random) {
    int32_t row = random.below(3), column = (row + random.between(1, 2)) % 3;
    CoordSwizzle swizzle{static_cast<int32_t>(random.below(4)), static_cast<int32_t>(random.below(4)), row,
                         static_cast<int32_t>(random.below(4)), column};
    return operandsOf({Map(swizzle), IntTuple::tuple({random.below(100), random.below(100), random.below(100)})});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.crd2idx(tuple(in[1]), map(in[0]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    const CoordSwizzle &swizzle = *map(in[0]).getCoordSwizzle();
    SmallVector<Int> before = tuple(in[1]).flatten(), after = tuple(out[0]).flatten();
    for (int32_t i = 0; i < 3; ++i) {
      int64_t wanted = before[i].value;
      if (i == swizzle.column)
        for (int bit = 0; bit < swizzle.bits; ++bit)
          if (before[swizzle.row].value >> (swizzle.rowBase + bit) & 1)
            wanted ^= int64_t(1) << (swizzle.columnBase + bit);
      HOLDS(after[i].value == wanted);
    }
    return "";
  };
  law.dynamicPercent = 95;
  check("coordinate swizzle", law);
}

//===----------------------------------------------------------------------===//
// Recast
//===----------------------------------------------------------------------===//

/// Addresses of the narrow elements inside wide ones.
static std::vector<int64_t> refined(const std::vector<int64_t> &values, int64_t ratio) {
  std::vector<int64_t> fine;
  for (int64_t value : values)
    for (int64_t j = 0; j < ratio; ++j)
      fine.push_back(value * ratio + j);
  return sorted(fine);
}

TEST(Laws, L39_L40_Recast) {
  Law law;
  law.generate = [](Random &random) {
    Kind kind = std::array{Kind::Any, Kind::Compact, Kind::Binary, Kind::Gaps}[random.below(4)];
    return operandsOf({mapOf(randomLayout(random, kind)), tupleOf(random.pick({2, 2, 3, 4, 8}))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.recast(map(in[0]), 8, 8 * numberOf(in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    HOLDS(areCongruent(layoutOf(in[0]).shape, layoutOf(out[0]).shape));
    HOLDS(refined(tableOf(out[0]), numberOf(in[1])) == sorted(tableOf(in[0])));
    return "";
  };
  law.frozen = 2;
  law.staticPercent = 25;
  law.dynamicPercent = 15;
  check("L39 wider", law);

  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.recast(map(in[0]), 8 * numberOf(in[1]), 8)});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    HOLDS(sorted(tableOf(out[0])) == refined(tableOf(in[0]), numberOf(in[1])));
    return "";
  };
  law.staticPercent = 40;
  law.dynamicPercent = 20;
  check("L39 narrower", law);

  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Map wide = algebra.recast(map(in[0]), 8, 8 * numberOf(in[1]));
    return operandsOf({algebra.recast(wide, 8 * numberOf(in[1]), 8)});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    HOLDS(sorted(tableOf(out[0])) == sorted(tableOf(in[0])));
    return "";
  };
  law.staticPercent = 15;
  law.dynamicPercent = 8;
  check("L40", law);
}

/// Widening is refused only if the elements do not fill whole groups, or if no
/// leaf-by-leaf layout says so.
TEST(Laws, L39_RecastRefusesExactly) {
  Random random(7);
  unsigned filled = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    // Every leaf passes the test of its own: powers of two.
    Layout a = randomLayout(random, Kind::Binary, 32);
    a.stride = a.stride.map([&](const Int &) { return Int(random.pick({0, 1, 1, 2, 2, 4, 8})); });
    Algebra algebra;
    int64_t ratio = random.pick({2, 4, 8});
    algebra.recast(Map(a), 8, 8 * ratio);
    // Whole groups: as many elements at every place of a wide element.
    std::map<int64_t, std::map<int64_t, int64_t>> groups;
    for (int64_t value : tableOf(a))
      ++groups[value / ratio][value % ratio];
    bool whole = llvm::all_of(groups, [&](const auto &group) {
      return int64_t(group.second.size()) == ratio && llvm::all_of(group.second, [&](const auto &place) {
               return place.second == group.second.begin()->second;
             });
    });
    // Overlapping leaves may fill groups in ways that no single leaf shows.
    if (!algebra.failed())
      ASSERT_TRUE(whole) << toString(Value(Map(a))) << " by " << ratio;
    else if (isInjective(tableOf(a)))
      ASSERT_FALSE(whole) << toString(Value(Map(a))) << " by " << ratio << ": " << algebra.getFault()->text;
    ++(whole ? filled : refused);
  }
  EXPECT_GE(filled, 2000u);
  EXPECT_GE(refused, 2000u);
}

TEST(Laws, L41_RecastOfSwizzles) {
  Law law;
  law.generate = [](Random &random) {
    Layout k = randomLayout(random, Kind::Binary);
    return operandsOf({Map(Composed{randomSwizzle(random), random.pick({0, 2, 4, 8, 3}), k}),
                       tupleOf(random.pick({2, 4})), tupleOf(random.below(2))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    int64_t narrow = 8, wide = 8 * numberOf(in[1]);
    bool widen = numberOf(in[2]);
    return operandsOf({algebra.recast(map(in[0]), widen ? narrow : wide, widen ? wide : narrow)});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    auto values = [](const Map &layout) {
      std::vector<int64_t> table;
      for (int64_t i = 0, n = sizeOf(leavesOf(*layout.getComposed()->outer.getLayout())); i < n; ++i)
        table.push_back(at(layout, i));
      return table;
    };
    std::vector<int64_t> before = values(map(in[0])), after = values(map(out[0]));
    if (numberOf(in[2]))
      HOLDS(refined(after, numberOf(in[1])) == sorted(before));
    else
      HOLDS(refined(before, numberOf(in[1])) == sorted(after));
    return "";
  };
  law.frozen = 6;
  law.staticPercent = 25;
  law.dynamicPercent = 15;
  check("L41", law);
}

//===----------------------------------------------------------------------===//
// Vectorization
//===----------------------------------------------------------------------===//

TEST(Laws, MaxAlignmentGroupsAreFull) {
  Law law;
  law.generate = [](Random &random) {
    Kind kind = std::array{Kind::Compact, Kind::Gaps, Kind::Loose, Kind::Binary}[random.below(4)];
    return operandsOf({mapOf(randomLayout(random, kind))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({tupleOf(algebra.maxAlignment(map(in[0])))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool dynamic) -> std::string {
    std::vector<int64_t> values = tableOf(in[0]);
    auto isFull = [&](int64_t n) {
      std::map<int64_t, int64_t> groups;
      for (int64_t value : values)
        ++groups[value / n];
      return llvm::all_of(groups, [&](const auto &group) { return group.second == n; });
    };
    HOLDS(isFull(numberOf(out[0])));
    for (int64_t n = numberOf(out[0]) + 1; !dynamic && n <= int64_t(values.size()); ++n)
      HOLDS(!isFull(n));
    return "";
  };
  law.dynamicPercent = 95;
  check("max_alignment", law);
}

TEST(Laws, MaxCommonVector) {
  Law law;
  law.generate = [](Random &random) {
    Layout k = randomLayout(random, random.chance(50) ? Kind::Compact : Kind::Gaps);
    Layout other = random.chance(60) ? randomCompact(random, k.shape)
                                     : Layout(k.shape, treeLike(k.shape, [&](int64_t) { return random.below(9); }));
    return operandsOf({mapOf(k), mapOf(other)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({tupleOf(algebra.maxCommonVector(map(in[0]), map(in[1])))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    // Coordinates x_0 ... x_(n-1) with a(x_i) = b(x_i) = i.
    std::vector<int64_t> a = tableOf(in[0]), b = tableOf(in[1]);
    HOLDS(numberOf(out[0]) >= 1);
    for (int64_t i = 0; i < numberOf(out[0]); ++i) {
      bool found = false;
      for (size_t x = 0; x < std::min(a.size(), b.size()); ++x)
        found |= a[x] == i && b[x] == i;
      HOLDS(found);
    }
    return "";
  };
  law.dynamicPercent = 80;
  check("max_common_vector", law);
}

/// Groups of `width` coordinates are contiguous, in one order, and aligned on
/// both sides.
static bool isVector(const std::vector<int64_t> &a, const std::vector<int64_t> &b, int64_t width) {
  std::map<int64_t, std::vector<size_t>> groups;
  for (size_t x = 0; x < b.size(); ++x)
    groups[b[x] / width].push_back(x);
  for (auto &[group, members] : groups) {
    if (int64_t(members.size()) != width)
      return false;
    std::sort(members.begin(), members.end(), [&](size_t x, size_t y) { return b[x] < b[y]; });
    for (int64_t i = 0; i < width; ++i)
      if (b[members[i]] % width != i || a[members[i]] != a[members[0]] + i || a[members[0]] % width != 0)
        return false;
  }
  return true;
}

TEST(Laws, L42_L43_VectorWidth) {
  Law law;
  law.generate = [](Random &random) {
    Layout k = randomLayout(random, random.chance(50) ? Kind::Binary : Kind::Gaps);
    Layout other = random.chance(30) ? k : randomCompact(random, k.shape);
    return operandsOf({mapOf(k), mapOf(other)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Map a = map(in[0]), b = map(in[1]);
    return operandsOf({tupleOf(algebra.vectorWidth(a, b, 16, 16, 16, 128)),
                       tupleOf(algebra.vectorWidth(a, b, 16, 8, 16, 128)),
                       tupleOf(algebra.vectorWidth(a, b, 16, 32, 32, 256)),
                       tupleOf(algebra.vectorWidth(a, b, 16, 16, 16, 128, Swizzle{3, 2, 3}))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    std::vector<int64_t> a = tableOf(in[0]), b = tableOf(in[1]);
    for (const Value &width : out)
      HOLDS(isVector(a, b, numberOf(width)));
    HOLDS(numberOf(out[1]) <= numberOf(out[0]) && numberOf(out[0]) <= numberOf(out[2]));
    HOLDS(numberOf(out[0]) <= 8 && numberOf(out[1]) <= 4 && numberOf(out[3]) <= 2);
    return "";
  };
  law.dynamicPercent = 90;
  check("L42", law);
}

//===----------------------------------------------------------------------===//
// Thread-value layouts and partitions
//===----------------------------------------------------------------------===//

struct TV {
  Layout tv;
  IntTuple tile;
};

static TV randomTV(Random &random) {
  Layout threads(IntTuple::tuple({random.pick({1, 2, 4}), random.pick({1, 2, 4, 3})}), 0);
  threads = randomCompact(random, threads.shape);
  Layout values = randomCompact(random, IntTuple::tuple({random.pick({1, 2, 4}), random.pick({1, 2, 4})}));
  Algebra algebra;
  TV result;
  result.tv = algebra.makeLayoutTV(threads, values, &result.tile);
  EXPECT_FALSE(algebra.failed()) << algebra.getFault()->text;
  return result;
}

TEST(Laws, C25_MakeLayoutTVIsABijection) {
  Law law;
  law.generate = [](Random &random) {
    Layout threads = randomLayout(random, Kind::Compact, 16);
    std::vector<IntTuple> shape;
    for (unsigned i = 0; i < threads.getRank(); ++i)
      shape.push_back(random.pick({1, 2, 3, 4}));
    return operandsOf({mapOf(threads), mapOf(randomCompact(random, IntTuple::tuple(std::move(shape))))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    IntTuple tile = 1;
    Layout tv = algebra.makeLayoutTV(layoutOf(in[0]), layoutOf(in[1]), &tile);
    return operandsOf({mapOf(tv), tile});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    std::vector<int64_t> threads = tableOf(in[0]), values = tableOf(in[1]), owners = tableOf(out[0]);
    HOLDS(isBijection(owners, threads.size() * values.size()));
    // Thread t = thr(r) and value v = val(s) own the element r*V + s by mode.
    auto t = modesOf(layoutOf(in[0])), v = modesOf(layoutOf(in[1]));
    for (size_t i = 0; i < threads.size(); ++i)
      for (size_t j = 0; j < values.size(); ++j) {
        int64_t element = 0, unit = 1, r = i, s = j;
        for (unsigned mode = 0; mode < t.size(); ++mode) {
          int64_t m = sizeOf(t[mode]), n = sizeOf(v[mode]);
          element += unit * (s % n + n * (r % m));
          unit *= m * n, r /= m, s /= n;
        }
        HOLDS(owners[threads[i] + values[j] * threads.size()] == element);
      }
    return "";
  };
  law.staticPercent = 95;
  law.staticOnly = true;
  check("C25", law);
}

TEST(Laws, L44_L46_CopyPartitions) {
  Law law;
  law.generate = [](Random &random) {
    TV tv = randomTV(random);
    int64_t rows = tv.tile[0].getLeaf().value * random.between(1, 3);
    int64_t columns = tv.tile[1].getLeaf().value * random.between(1, 3), planes = random.between(1, 2);
    IntTuple shape = random.chance(50) ? IntTuple::tuple({rows, columns}) : IntTuple::tuple({rows, columns, planes});
    Layout tensor = randomCompact(random, shape);
    if (random.chance(30))
      tensor = Layout(shape, treeLike(shape, [&](int64_t) { return random.below(100); }));
    auto modes = modesOf(tv.tv);
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= sizeOf(modes[1]); ++d)
      if (sizeOf(modes[1]) % d == 0)
        divisors.push_back(d);
    return operandsOf({mapOf(tensor), mapOf(tv.tv), tv.tile, tupleOf(random.pick(divisors)),
                       tupleOf(random.below(sizeOf(modes[0])))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Int thread = tuple(in[4]).getLeaf();
    Partition data = algebra.copyPartition(layoutOf(in[0]), layoutOf(in[1]), tuple(in[2]), numberOf(in[3]), thread);
    Layout identity = algebra.makeIdentityLayout(layoutOf(in[0]).shape);
    Partition coords = algebra.copyPartition(identity, layoutOf(in[1]), tuple(in[2]), numberOf(in[3]), thread);
    return operandsOf({mapOf(data.layout), data.offset, mapOf(coords.layout), coords.offset});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    auto modes = modesOf(layoutOf(in[0])), tvModes = modesOf(layoutOf(in[1]));
    int64_t tileRows = tuple(in[2])[0].getLeaf().value, tileColumns = tuple(in[2])[1].getLeaf().value;
    std::vector<int64_t> owners = tableOf(in[1]), expected;
    std::vector<std::vector<int64_t>> coordinates;
    int64_t threads = sizeOf(tvModes[0]), values = sizeOf(tvModes[1]);
    int64_t planes = modes.size() > 2 ? sizeOf(modes[2]) : 1;
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t c = 0; c < sizeOf(modes[1]) / tileColumns; ++c)
        for (int64_t r = 0; r < sizeOf(modes[0]) / tileRows; ++r)
          for (int64_t v = 0; v < values; ++v) {
            int64_t element = owners[numberOf(in[4]) + threads * v];
            int64_t row = element % tileRows + tileRows * r, column = element / tileRows + tileColumns * c;
            expected.push_back(at(modes[0], row) + at(modes[1], column) + (modes.size() > 2 ? at(modes[2], plane) : 0));
            coordinates.push_back({row, column, plane});
          }
    const Layout &data = layoutOf(out[0]);
    // Data may coalesce where coordinates cannot; the modes line up.
    auto dataModes = modesOf(data), coordModes = modesOf(layoutOf(out[2]));
    HOLDS(dataModes.size() == coordModes.size());
    for (unsigned mode = 0; mode < dataModes.size(); ++mode)
      HOLDS(sizeOf(dataModes[mode]) == sizeOf(coordModes[mode]));
    HOLDS(sizeOf(modesOf(data.getMode(0))[0]) == numberOf(in[3]));
    std::vector<int64_t> got = tableOf(out[0]);
    for (int64_t &value : got)
      value += numberOf(out[1]);
    HOLDS(got == expected);
    // Every component of the coordinate tensor.
    SmallVector<Int> offset = tuple(out[3]).flatten();
    for (unsigned mode = 0; mode < modes.size(); ++mode) {
      FlatLeaves leaves;
      SmallVector<Int> extents = layoutOf(out[2]).shape.flatten(), strides = layoutOf(out[2]).stride.flatten();
      for (unsigned i = 0; i < extents.size(); ++i) {
        bool here = strides[i].isBasis() && strides[i].path[0] == int32_t(mode);
        leaves.push_back({extents[i].value, here ? strides[i].value : 0});
      }
      std::vector<int64_t> component = tableOf(leaves);
      HOLDS(component.size() == coordinates.size());
      for (size_t i = 0; i < component.size(); ++i)
        HOLDS(component[i] + (mode < offset.size() ? offset[mode].value : 0) == coordinates[i][mode]);
    }
    return "";
  };
  law.frozen = 14;
  law.dynamicPercent = 50;
  check("L44", law);
}

TEST(Laws, L44_L45_MatrixPartitions) {
  Law law;
  law.generate = [](Random &random) {
    // An atom of 4 x 4 elements or so on 4 or 8 lanes.
    TV tv = randomTV(random);
    int64_t p = tv.tile[0].getLeaf().value, q = tv.tile[1].getLeaf().value;
    int64_t operand = random.below(3), other = random.pick({1, 2, 4});
    IntTuple waves = IntTuple::tuple({random.between(1, 3), random.between(1, 2), random.between(1, 2)});
    Layout atoms = randomCompact(random, waves);
    static const unsigned dims[3][2] = {{0, 2}, {1, 2}, {0, 1}};
    std::vector<IntTuple> atom(3, IntTuple(other));
    atom[dims[operand][0]] = p;
    atom[dims[operand][1]] = q;
    std::vector<IntTuple> shape;
    for (int64_t i = 0; i < 2; ++i)
      shape.push_back((i ? q : p) * waves[dims[operand][i]].getLeaf().value * random.between(1, 2));
    Layout tensor = randomCompact(random, IntTuple::tuple(std::move(shape)));
    auto modes = modesOf(tv.tv);
    int64_t thread = random.below(sizeOf(modes[0]) * sizeOf(leavesOf(atoms)));
    return operandsOf({mapOf(tensor), mapOf(tv.tv), IntTuple::tuple(std::move(atom)), mapOf(atoms), tupleOf(operand),
                       tupleOf(thread)});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    SmallVector<int64_t> atom;
    tuple(in[2]).walk([&](const Int &leaf) { atom.push_back(leaf.value); });
    Partition part = algebra.mmaPartition(layoutOf(in[0]), layoutOf(in[1]), atom, layoutOf(in[3]),
                                          "ABC"[numberOf(in[4])], tuple(in[5]).getLeaf());
    return operandsOf({mapOf(part.layout), part.offset});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    static const unsigned dims[3][2] = {{0, 2}, {1, 2}, {0, 1}};
    const unsigned *dim = dims[numberOf(in[4])];
    auto modes = modesOf(layoutOf(in[0])), tv = modesOf(layoutOf(in[1])), atoms = modesOf(layoutOf(in[3]));
    int64_t lanes = sizeOf(tv[0]), values = sizeOf(tv[1]), lane = numberOf(in[5]) % lanes;
    // The wave coordinate, found by trying all.
    std::vector<int64_t> waves = tableOf(in[3]), owners = tableOf(in[1]);
    int64_t position = 0;
    while (waves[position] != numberOf(in[5]) / lanes)
      ++position;
    int64_t wave[3], repeat[3];
    for (int i = 0; i < 3; ++i) {
      repeat[i] = sizeOf(atoms[i]);
      wave[i] = position % repeat[i];
      position /= repeat[i];
    }
    int64_t p = tuple(in[2])[dim[0]].getLeaf().value, q = tuple(in[2])[dim[1]].getLeaf().value;
    int64_t restP = sizeOf(modes[0]) / (p * repeat[dim[0]]), restQ = sizeOf(modes[1]) / (q * repeat[dim[1]]);
    std::vector<int64_t> expected;
    for (int64_t y = 0; y < restQ; ++y)
      for (int64_t x = 0; x < restP; ++x)
        for (int64_t v = 0; v < values; ++v) {
          int64_t element = owners[lane + lanes * v];
          int64_t row = element % p + p * (wave[dim[0]] + repeat[dim[0]] * x);
          int64_t column = element / p + q * (wave[dim[1]] + repeat[dim[1]] * y);
          expected.push_back(at(modes[0], row) + at(modes[1], column));
        }
    auto results = modesOf(layoutOf(out[0]));
    HOLDS(results.size() == 3);
    HOLDS(sizeOf(results[1]) == restP && sizeOf(results[2]) == restQ);
    std::vector<int64_t> got = tableOf(out[0]);
    for (int64_t &value : got)
      value += numberOf(out[1]);
    HOLDS(got == expected);
    return "";
  };
  law.frozen = 30;
  law.dynamicPercent = 50;
  check("L45", law);
}

} // namespace atrex::layout
