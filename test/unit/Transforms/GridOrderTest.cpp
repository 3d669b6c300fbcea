//===- GridOrderTest.cpp - Which tile a workgroup takes -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Transforms/GridOrder.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <vector>

using namespace atrex;

namespace {

/// The arithmetic of the pass, on integers. With `knowsExtents` false no number
/// counts as a constant, as with dimensions of run time.
struct Integers {
  using Number = uint32_t;
  bool knowsExtents;

  uint32_t constant(int64_t value) { return uint32_t(value); }
  std::optional<int64_t> getConstant(uint32_t value) {
    return knowsExtents ? std::optional<int64_t>(value) : std::nullopt;
  }
  uint32_t add(uint32_t x, uint32_t y) { return x + y; }
  uint32_t sub(uint32_t x, uint32_t y) {
    EXPECT_GE(x, y);
    return x - y;
  }
  uint32_t mul(uint32_t x, uint32_t y) { return x * y; }
  uint32_t div(uint32_t x, uint32_t y) {
    EXPECT_NE(y, 0u);
    return y ? x / y : 0;
  }
  uint32_t rem(uint32_t x, uint32_t y) {
    EXPECT_NE(y, 0u);
    return y ? x % y : 0;
  }
  uint32_t min(uint32_t x, uint32_t y) { return std::min(x, y); }
  uint32_t select(uint32_t bit, uint32_t ifOne, uint32_t ifZero) { return bit ? ifOne : ifZero; }
};

using Tile = std::array<uint32_t, 3>;

/// The tiles in order of the workgroups' numbers.
std::vector<Tile> getTiles(const Tile &extents, const GridOrderSettings &settings, bool knowsExtents) {
  std::vector<Tile> tiles;
  Integers arith{knowsExtents};
  for (uint32_t z = 0; z < extents[2]; ++z)
    for (uint32_t y = 0; y < extents[1]; ++y)
      for (uint32_t x = 0; x < extents[0]; ++x)
        tiles.push_back(orderTile(arith, Tile{x, y, z}, extents, settings));
  return tiles;
}

bool isBijection(const Tile &extents, const std::vector<Tile> &tiles) {
  std::vector<bool> seen(tiles.size(), false);
  for (const Tile &tile : tiles) {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (tile[axis] >= extents[axis])
        return false;
    size_t at = (size_t(tile[2]) * extents[1] + tile[1]) * extents[0] + tile[0];
    if (seen[at])
      return false;
    seen[at] = true;
  }
  return true;
}

TEST(GridOrder, EveryTileOnce) {
  uint64_t grids = 0;
  std::vector<uint32_t> sizes;
  for (uint32_t n = 1; n <= 20; ++n)
    sizes.push_back(n);
  sizes.insert(sizes.end(), {31, 32, 33});
  for (uint32_t width : sizes)
    for (uint32_t height : sizes)
      for (uint32_t depth : {1u, 2u, 3u, 7u})
        for (TileOrder order : {TileOrder::Column, TileOrder::Row, TileOrder::Grouped, TileOrder::XCD})
          for (int64_t group : {1, 2, 3, 8})
            for (int64_t xcds : {1, 4, 6, 8})
              for (CausalOrder causal : {CausalOrder::None, CausalOrder::Reverse, CausalOrder::Zigzag}) {
                if ((order == TileOrder::Column || order == TileOrder::Row) && (group != 1 || xcds != 1))
                  continue;
                if (order == TileOrder::Grouped && xcds != 1)
                  continue;
                GridOrderSettings settings;
                settings.order = order;
                settings.group = group;
                settings.xcds = xcds;
                settings.causal = causal;
                settings.causalAxis = unsigned(grids % 3);
                Tile extents = {width, height, depth};
                for (bool knows : {false, true}) {
                  std::vector<Tile> tiles = getTiles(extents, settings, knows);
                  ASSERT_TRUE(isBijection(extents, tiles))
                      << width << " x " << height << " x " << depth << ", order " << int(order) << ", group " << group
                      << ", xcds " << xcds << ", causal " << int(causal) << " on axis " << settings.causalAxis;
                }
                ++grids;
              }
  EXPECT_GT(grids, 100000u);
}

TEST(GridOrder, ColumnIsTheDevice) {
  std::vector<Tile> tiles = getTiles({3, 2, 2}, {}, true);
  EXPECT_EQ(tiles[0], (Tile{0, 0, 0}));
  EXPECT_EQ(tiles[1], (Tile{1, 0, 0}));
  EXPECT_EQ(tiles[3], (Tile{0, 1, 0}));
  EXPECT_EQ(tiles[6], (Tile{0, 0, 1}));
}

TEST(GridOrder, RowAndGroups) {
  GridOrderSettings settings;
  settings.order = TileOrder::Row;
  std::vector<Tile> tiles = getTiles({3, 2, 1}, settings, true);
  EXPECT_EQ(tiles[1], (Tile{0, 1, 0}));
  EXPECT_EQ(tiles[2], (Tile{1, 0, 0}));

  // Strips of 2 in a grid of 5 x 3; the last strip is 1 wide.
  settings.order = TileOrder::Grouped;
  settings.group = 2;
  tiles = getTiles({5, 3, 1}, settings, true);
  std::vector<Tile> expected = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 0, 0}, {3, 0, 0},
                                {2, 1, 0}, {3, 1, 0}, {2, 2, 0}, {3, 2, 0}, {4, 0, 0}, {4, 1, 0}, {4, 2, 0}};
  EXPECT_EQ(tiles, expected);
}

// A die's workgroups, one behind the other, take tiles one behind the other.
TEST(GridOrder, DiesTakeRuns) {
  for (Tile extents : {Tile{16, 16, 1}, Tile{7, 9, 1}, Tile{5, 3, 4}}) {
    GridOrderSettings grouped;
    grouped.order = TileOrder::Grouped;
    grouped.group = 4;
    // With a depth, the grouped order goes plane by plane.
    std::vector<Tile> plain = getTiles(extents, grouped, true);
    GridOrderSettings settings = grouped;
    settings.order = TileOrder::XCD;
    settings.xcds = 8;
    std::vector<Tile> tiles = getTiles(extents, settings, true);
    for (size_t n = 0; n + 8 < tiles.size(); ++n) {
      auto here = std::find(plain.begin(), plain.end(), tiles[n]);
      ASSERT_NE(here + 1, plain.end());
      EXPECT_EQ(here[1], tiles[n + 8]);
    }
  }
}

TEST(GridOrder, Causal) {
  GridOrderSettings settings;
  settings.causal = CausalOrder::Reverse;
  EXPECT_EQ(getTiles({3, 1, 1}, settings, true), (std::vector<Tile>{{2, 0, 0}, {1, 0, 0}, {0, 0, 0}}));
  settings.causal = CausalOrder::Zigzag;
  EXPECT_EQ(getTiles({5, 1, 1}, settings, true),
            (std::vector<Tile>{{4, 0, 0}, {0, 0, 0}, {3, 0, 0}, {1, 0, 0}, {2, 0, 0}}));
  settings.causalAxis = 1;
  EXPECT_EQ(getTiles({1, 2, 1}, settings, true), (std::vector<Tile>{{0, 1, 0}, {0, 0, 0}}));
}

} // namespace
