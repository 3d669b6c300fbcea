//===- TilingLawsTest.cpp - Laws L25 to L34 -------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Laws.h"

using namespace llvm;

namespace atrex::layout {

static void append(FlatLeaves &leaves, const FlatLeaves &more) {
  leaves.insert(leaves.end(), more.begin(), more.end());
}

//===----------------------------------------------------------------------===//
// Divides
//===----------------------------------------------------------------------===//

TEST(Laws, L25_L26_L27_L28_Divide) {
  Law law;
  law.generate = [](Random &random) {
    bool binary = random.chance(60);
    Layout k = randomLayout(random, binary ? Kind::Binary : random.chance(50) ? Kind::Compact : Kind::Any);
    return operandsOf({mapOf(k), mapOf(randomLayout(random, binary ? Kind::Binary : Kind::Gaps, 12))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Map k = map(in[0]);
    return operandsOf({algebra.logicalDivide(k, in[1]), algebra.zippedDivide(k, in[1]), algebra.tiledDivide(k, in[1]),
                       algebra.flatDivide(k, in[1]), algebra.divideExact(k, in[1]), algebra.divideLossy(k, in[1])});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool dynamic) -> std::string {
    FlatLeaves k = leavesOf(in[0]);
    std::vector<int64_t> tile = tableOf(in[1]), whole = tableOf(k), divided = tableOf(out[0]);
    std::vector<int64_t> first = tableOf(modesOf(layoutOf(out[1]))[0]);
    HOLDS(first.size() == tile.size());
    for (size_t i = 0; i < tile.size(); ++i)
      HOLDS(first[i] == at(k, tile[i]));
    for (int form = 1; form <= 3; ++form)
      HOLDS(tableOf(out[form]) == divided);
    bool exact = std::get<bool>(out[4]), lossy = std::get<bool>(out[5]);
    if (exact) {
      HOLDS(!lossy);
      HOLDS(sorted(divided) == sorted(whole));
    }
    // The rest copies the tile so often that nothing past size is started.
    HOLDS(divided.size() % tile.size() == 0);
    if (dynamic)
      return "";
    // Positions in k that the divide visits, found by dividing the identity.
    Algebra algebra;
    Value identity = algebra.logicalDivide(Map(Layout(int64_t(whole.size()), 1)), in[1]);
    HOLDS(!algebra.failed());
    std::vector<int64_t> positions = tableOf(identity);
    HOLDS(positions.size() == divided.size());
    for (size_t i = 0; i < positions.size(); ++i)
      HOLDS(divided[i] == at(k, positions[i]));
    HOLDS(exact == isBijection(positions, whole.size()));
    std::vector<bool> visited(whole.size());
    bool over = false;
    for (int64_t position : positions)
      if (position < int64_t(whole.size()))
        visited[position] = true;
      else
        over = true;
    HOLDS(lossy || llvm::all_of(visited, [](bool seen) { return seen; }));
    if (isInjective(tile))
      HOLDS(exact == (divided.size() == whole.size() && !over));
    return "";
  };
  law.staticPercent = 40;
  law.dynamicPercent = 15;
  check("L25", law);
}

TEST(Laws, L28_StrictDividesAreExact) {
  Law law;
  law.generate = [](Random &random) {
    return operandsOf({mapOf(Layout(random.pick({4, 8, 12, 24, 36, 48}), 1)),
                       mapOf(randomLayout(random, random.chance(50) ? Kind::Binary : Kind::Gaps, 12))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    // The strict form faults exactly where the flag is false.
    Algebra probe;
    bool exact = probe.divideExact(map(stripHandles(in[0])), stripHandles(in[1]));
    Map strict = algebra.logicalDivide(map(in[0]), in[1], true);
    if (algebra.failed() && algebra.getFault()->constraint == 23)
      EXPECT_FALSE(exact) << algebra.getFault()->text;
    if (!algebra.failed())
      EXPECT_TRUE(exact) << toString(in[0]) << " by " << toString(in[1]);
    return operandsOf({strict});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    HOLDS(isBijection(tableOf(out[0]), sizeOf(in[0])));
    return "";
  };
  law.staticPercent = 15;
  law.dynamicPercent = 5;
  check("L28", law);
}

TEST(Laws, L25_L26_DivideByMode) {
  Law law;
  law.generate = [](Random &random) {
    Layout a = randomLayout(random, Kind::Binary);
    Tile tile;
    for (unsigned i = 0, n = random.between(1, a.getRank()); i < n; ++i)
      if (random.chance(25))
        tile.modes.emplace_back();
      else
        tile.modes.emplace_back(random.chance(60) ? Layout(random.pick({1, 2, 3, 4, 8}), 1)
                                                  : randomLayout(random, Kind::Binary, 8));
    if (none_of(tile.modes, [](const auto &mode) { return mode.has_value(); }))
      tile.modes[0] = Layout(2, 1);
    return operandsOf({mapOf(a), tile});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Map a = map(in[0]);
    return operandsOf({algebra.logicalDivide(a, in[1]), algebra.zippedDivide(a, in[1]), algebra.tiledDivide(a, in[1]),
                       algebra.flatDivide(a, in[1]), algebra.divideExact(a, in[1])});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    const Tile &tile = std::get<Tile>(in[1]);
    const Layout &a = layoutOf(in[0]), &divided = layoutOf(out[0]);
    auto modes = modesOf(a);
    HOLDS(modes.size() == 1 || modes.size() == divided.getRank());
    FlatLeaves tiles, rests;
    unsigned restRank = 0, tileCount = 0;
    for (unsigned i = 0; i < modes.size(); ++i) {
      Layout mode = modes.size() == 1 && divided.getRank() != 1 ? divided : divided.getMode(i);
      if (i >= tile.modes.size() || !tile.modes[i]) {
        append(rests, leavesOf(mode));
        HOLDS(tableOf(mode) == tableOf(modes[i]));
        ++restRank;
        continue;
      }
      HOLDS(mode.getRank() == 2);
      append(tiles, leavesOf(mode.getMode(0)));
      append(rests, leavesOf(mode.getMode(1)));
      ++restRank;
      ++tileCount;
      std::vector<int64_t> got = tableOf(mode.getMode(0)), indices = tableOf(*tile.modes[i]);
      HOLDS(got.size() == indices.size());
      for (size_t j = 0; j < got.size(); ++j)
        HOLDS(got[j] == at(modes[i], indices[j]));
      if (std::get<bool>(out[4]))
        HOLDS(sorted(tableOf(mode)) == sorted(tableOf(modes[i])));
    }
    append(tiles, rests);
    for (int form = 1; form <= 3; ++form)
      HOLDS(tableOf(out[form]) == tableOf(tiles));
    HOLDS(layoutOf(out[1]).getRank() == 2);
    if (restRank > 1)
      HOLDS(layoutOf(out[2]).getRank() == 1 + restRank);
    if (restRank > 1 && tileCount > 1)
      HOLDS(layoutOf(out[3]).getRank() == tileCount + restRank);
    return "";
  };
  law.staticPercent = 35;
  law.dynamicPercent = 20;
  check("L25 by mode", law);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

TEST(Laws, L29_L30_L31_L32_Products) {
  Law law;
  law.generate = [](Random &random) {
    Kind left = random.chance(50) ? Kind::Compact : random.chance(50) ? Kind::Binary : Kind::Loose;
    return operandsOf({mapOf(randomLayout(random, left, 16)), mapOf(randomLayout(random, Kind::Compact, 12))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    Map x = map(in[0]);
    return operandsOf({mapOf(algebra.logicalProduct(x, in[1])), mapOf(algebra.zippedProduct(x, in[1])),
                       mapOf(algebra.tiledProduct(x, in[1])), mapOf(algebra.flatProduct(x, in[1])),
                       mapOf(algebra.blockedProduct(x, in[1])), mapOf(algebra.rakedProduct(x, in[1]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool dynamic) -> std::string {
    const Layout &x = layoutOf(in[0]), &y = layoutOf(in[1]), &product = layoutOf(out[0]);
    std::vector<int64_t> left = tableOf(x), right = tableOf(y), values = tableOf(product);
    HOLDS(product.getRank() == 2);
    HOLDS(values.size() == left.size() * right.size());
    // A dynamic extent may turn out to be 1 with a stride that leaves a gap.
    if (!dynamic && isBijection(left, left.size()))
      HOLDS(isBijection(values, values.size()));
    std::vector<int64_t> copies = tableOf(product.getMode(1));
    HOLDS(tableOf(product.getMode(0)) == left);
    for (int form = 1; form <= 3; ++form)
      HOLDS(tableOf(out[form]) == values);
    // No two copies meet, unless the rest of x is lossy and so too small.
    FlatLeaves chain = leavesOf(x);
    llvm::erase_if(chain, [&](const FlatLeaf &leaf) { return leaf.extent == 1 && !dynamic; });
    llvm::sort(chain, [](const FlatLeaf &a, const FlatLeaf &b) { return a.stride < b.stride; });
    bool divides = true;
    for (size_t i = 1; i < chain.size(); ++i)
      divides &= chain[i].stride % (chain[i - 1].extent * chain[i - 1].stride) == 0;
    if (divides)
      HOLDS(isInjective(values));
    // L31, L32: mode by mode, the block inside and the copy outside, or reversed.
    unsigned rank = std::max(x.getRank(), y.getRank());
    auto extents = [&](const Layout &layout) {
      std::vector<int64_t> sizes(rank, 1);
      auto modes = modesOf(layout);
      for (unsigned i = 0; i < modes.size(); ++i)
        sizes[i] = sizeOf(modes[i]);
      return sizes;
    };
    std::vector<int64_t> xs = extents(x), ys = extents(y);
    for (int form = 4; form <= 5; ++form) {
      HOLDS(rank == 1 || layoutOf(out[form]).getRank() == rank);
      std::vector<int64_t> paired = tableOf(out[form]);
      HOLDS(sorted(paired) == sorted(values));
      for (size_t i = 0; i < left.size(); ++i)
        for (size_t j = 0; j < right.size(); ++j) {
          int64_t index = 0, unit = 1, restX = i, restY = j;
          for (unsigned mode = 0; mode < rank; ++mode) {
            int64_t u = restX % xs[mode], v = restY % ys[mode];
            restX /= xs[mode], restY /= ys[mode];
            index += unit * (form == 4 ? u + xs[mode] * v : v + ys[mode] * u);
            unit *= xs[mode] * ys[mode];
          }
          HOLDS(paired[index] == left[i] + copies[j]);
        }
    }
    return "";
  };
  law.staticPercent = 60;
  law.dynamicPercent = 15;
  check("L29", law);
}

TEST(Laws, L33_L34_TileToShape) {
  Law law;
  law.generate = [](Random &random) {
    Layout block = randomLayout(random, Kind::Compact, 16);
    if (block.shape.isTuple() && random.chance(10)) { // A wrapper is one mode.
      block.shape = IntTuple::tuple({block.shape});
      block.stride = IntTuple::tuple({block.stride});
    }
    std::vector<IntTuple> target, order;
    auto modes = modesOf(block);
    unsigned rank = modes.size() + random.below(2);
    for (unsigned i = 0; i < rank; ++i)
      target.push_back((i < modes.size() ? sizeOf(modes[i]) : 1) * random.between(1, 3));
    for (unsigned key : random.permutation(rank))
      order.push_back(int64_t(key));
    return operandsOf({mapOf(block), IntTuple::tuple(std::move(target)), IntTuple::tuple(std::move(order))});
  };
  law.run = [](Algebra &algebra, ArrayRef<Value> in) {
    return operandsOf({algebra.tileToShape(map(in[0]), tuple(in[1]), tuple(in[2]))});
  };
  law.verify = [](ArrayRef<Value> in, ArrayRef<Value> out, bool) -> std::string {
    std::vector<int64_t> values = tableOf(out[0]);
    HOLDS(isBijection(values, values.size()));
    std::vector<int64_t> extents, targets;
    tuple(in[1]).walk([&](const Int &leaf) { targets.push_back(leaf.value); });
    auto modes = modesOf(layoutOf(in[0])), results = modesOf(layoutOf(out[0]));
    // A target of rank 1 gives `(block, copies)`, one mode written as its parts.
    if (targets.size() == 1) {
      HOLDS(int64_t(values.size()) == targets[0]);
    } else {
      HOLDS(results.size() == targets.size());
      for (unsigned i = 0; i < results.size(); ++i)
        HOLDS(sizeOf(results[i]) == targets[i]);
    }
    std::vector<int64_t> block = tableOf(in[0]);
    for (size_t i = 0; i < block.size(); ++i) {
      int64_t index = 0, unit = 1, rest = i;
      for (unsigned mode = 0; mode < modes.size(); ++mode) {
        int64_t extent = sizeOf(modes[mode]);
        index += unit * (rest % extent);
        rest /= extent;
        unit *= targets[mode];
      }
      HOLDS(values[index] == block[i]);
    }
    return "";
  };
  law.frozen = 4;
  law.dynamicPercent = 10;
  check("L33", law);
}

} // namespace atrex::layout
