//===- Tiling.cpp - Divides, products, tilings ---===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Algebra.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atrex::layout {

/// An integer n is the layout n:1; a map must be a plain layout.
bool Algebra::toTiler(const Value &value, Layout &layout, const Tile *&tile) {
  tile = nullptr;
  if (failed())
    return false;
  if ((tile = std::get_if<Tile>(&value))) {
    check(value);
    return !failed();
  }
  if (auto *tuple = std::get_if<IntTuple>(&value)) {
    if (tuple->isLeaf() && !tuple->getLeaf().isStar() && !tuple->getLeaf().isBasis()) {
      layout = Layout(*tuple, tuple->getLeaf().is(1) ? 0 : 1);
      checkLayout(layout);
      return !failed();
    }
    fail(31, "a tiler is an integer, a layout or a tile such as '[4|8]', not " + toString(*tuple));
    return false;
  }
  auto *map = std::get_if<Map>(&value);
  if (!map || !map->getLayout()) {
    fail(17, toString(value) + " is not a tiler: an integer, a layout or a tile is");
    return false;
  }
  layout = *map->getLayout();
  checkLayout(layout);
  return !failed();
}

//===----------------------------------------------------------------------===//
// Divides
//===----------------------------------------------------------------------===//

static std::string exactText(Algebra &algebra, const Layout &layout, const Layout &tiler, const Int &size) {
  Int extent = algebra.product(tiler.shape);
  std::string text = "tile " + toString(tiler) + " does not divide " + toString(layout) + " exactly";
  if (extent.isStatic() && size.isStatic() && tiler.shape.isLeaf() && tiler.stride.getLeaf().is(1) &&
      size.value % extent.value != 0)
    text = ("tile " + Twine(extent.value) + " does not divide extent " + Twine(size.value) + "; " +
            Twine(extent.value - size.value % extent.value) + " elements of the last tile are out of range")
               .str();
  return text;
}

/// Whether tiler and rest visit every element of [0, size) exactly once.
static bool isExact(Algebra &probe, const Layout &tiler, const Int &size) {
  IntTuple codomain = size;
  if (!probe.complementExact(tiler, &codomain))
    return false;
  // The complement leaves broadcast leaves out, but they repeat elements.
  return all_of(tiler.getLeaves(), [](const auto &leaf) { return leaf.first.is(1) || !leaf.second.is(0); });
}

Layout Algebra::divideLayout(const Layout &layout, const Layout &tiler, bool strict) {
  Int count = product(layout.shape);
  if (failed())
    return Layout();
  if (strict) {
    Algebra probe;
    if (!isExact(probe, tiler, count)) {
      if (probe.failed())
        fail(probe.getFault()->constraint, probe.getFault()->text);
      else
        fail(23, exactText(probe, layout, tiler, count), "pass a predicate or choose a tile that divides");
      return Layout();
    }
  }
  IntTuple codomain = count;
  Layout rest = complement(tiler, &codomain);
  if (failed())
    return Layout();
  return composeLayout(layout, concat({asMode(tiler), asMode(rest)}));
}

std::pair<Layout, Layout> Algebra::gather(const Layout &divided, const Value &tiler) {
  auto *tile = std::get_if<Tile>(&tiler);
  if (!tile)
    return {divided.getMode(0), divided.getMode(1)};
  SmallVector<Layout> tiles, rests;
  for (auto [i, mode] : enumerate(divided.getModes())) {
    if (i < tile->modes.size() && tile->modes[i]) {
      tiles.push_back(mode.getMode(0));
      rests.push_back(mode.getMode(1));
    } else {
      rests.push_back(mode);
    }
  }
  if (tiles.empty()) {
    fail(31, "tiler " + toString(*tile) + " skips every mode");
    return {};
  }
  return {tiles.size() == 1 ? tiles[0] : concat(tiles), rests.size() == 1 ? rests[0] : concat(rests)};
}

Map Algebra::divide(const Map &map, const Value &value, bool strict,
                    function_ref<Layout(const Layout &, const Layout &)> combine) {
  Layout tiler;
  const Tile *tile;
  if (!toTiler(value, tiler, tile))
    return Map();
  return mapOuter(map, [&](const Layout &layout) -> Map {
    Map divided =
        tile ? byMode(layout, *tile, [&](const Layout &mode, const Layout &t) { return divideLayout(mode, t, strict); })
             : Map(divideLayout(layout, tiler, strict));
    if (failed() || !combine)
      return divided;
    Layout plain = *divided.getLayout();
    auto [inner, outer] = gather(plain, value);
    return failed() ? Map() : Map(combine(inner, outer));
  });
}

Map Algebra::logicalDivide(const Map &map, const Value &tiler, bool strict) {
  return divide(map, tiler, strict, nullptr);
}

Map Algebra::zippedDivide(const Map &map, const Value &tiler, bool strict) {
  return divide(map, tiler, strict,
                [](const Layout &tile, const Layout &rest) { return concat({asMode(tile), asMode(rest)}); });
}

Map Algebra::tiledDivide(const Map &map, const Value &tiler, bool strict) {
  return divide(map, tiler, strict, [](const Layout &tile, const Layout &rest) {
    SmallVector<Layout> modes = {asMode(tile)};
    append_range(modes, rest.getModes());
    return concat(modes);
  });
}

Map Algebra::flatDivide(const Map &map, const Value &tiler, bool strict) {
  return divide(map, tiler, strict, [](const Layout &tile, const Layout &rest) {
    std::vector<Layout> modes = tile.getModes();
    append_range(modes, rest.getModes());
    return concat(modes);
  });
}

bool Algebra::divideExact(const Map &map, const Value &value) {
  Layout tiler;
  const Tile *tile;
  if (!toTiler(value, tiler, tile))
    return false;
  bool exact = true;
  mapOuter(map, [&](const Layout &layout) -> Map {
    if (!tile) {
      exact = isExact(*this, tiler, product(layout.shape));
      return layout;
    }
    return byMode(layout, *tile, [&](const Layout &mode, const Layout &t) {
      exact &= isExact(*this, t, product(mode.shape));
      return mode;
    });
  });
  return exact && !failed();
}

bool Algebra::divideLossy(const Map &map, const Value &value) {
  // Visits in the tiler and its rest: fewer than there are elements means that
  // some are missed; so does a stride that is no multiple of the span below.
  Layout tiler;
  const Tile *tile;
  Algebra probe;
  if (!probe.toTiler(value, tiler, tile))
    return false;
  bool lossy = false;
  auto test = [&](const Layout &layout, const Layout &t) {
    Int count = probe.product(layout.shape), current = 1;
    for (const SortedLeaf &leaf : probe.sortLeaves(t, "divide", true)) {
      if (!leaf.stride.isStatic() || !current.isStatic())
        return layout;
      if (count.isStatic() && current.value >= count.value)
        return layout;
      lossy |= leaf.stride.value % current.value != 0;
      current = probe.mul(leaf.extent, leaf.stride);
    }
    return layout;
  };
  probe.mapOuter(map, [&](const Layout &layout) -> Map {
    return tile ? probe.byMode(layout, *tile, test) : Map(test(layout, tiler));
  });
  return lossy && !probe.failed();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Layout Algebra::productLayout(const Layout &lhs, const Layout &rhs) {
  IntTuple codomain = mul(product(lhs.shape), cosize(rhs));
  Layout rest = complement(lhs, &codomain);
  if (failed())
    return Layout();
  Layout copies = composeLayout(rest, rhs);
  return failed() ? Layout() : zeroUnits(concat({asMode(lhs), asMode(copies)}));
}

Layout Algebra::logicalProduct(const Map &lhs, const Value &value) {
  Layout layout, right;
  const Tile *tile;
  if (!toTiler(value, right, tile))
    return Layout();
  if (!lhs.getLayout()) {
    fail(17, "a product with " + toString(lhs) + " on the left is not defined");
    return Layout();
  }
  layout = *lhs.getLayout();
  checkLayout(layout);
  if (failed())
    return Layout();
  if (!tile)
    return productLayout(layout, right);
  Map result = byMode(layout, *tile, [&](const Layout &mode, const Layout &t) { return productLayout(mode, t); });
  return failed() ? Layout() : *result.getLayout();
}

Layout Algebra::zippedProduct(const Map &lhs, const Value &rhs) {
  Layout result = logicalProduct(lhs, rhs);
  if (failed() || !std::holds_alternative<Tile>(rhs))
    return result;
  auto [inner, outer] = gather(result, rhs);
  return failed() ? Layout() : concat({asMode(inner), asMode(outer)});
}

Layout Algebra::tiledProduct(const Map &lhs, const Value &rhs) {
  Layout zipped = zippedProduct(lhs, rhs);
  if (failed())
    return Layout();
  SmallVector<Layout> modes = {zipped.getMode(0)};
  append_range(modes, zipped.getMode(1).getModes());
  return concat(modes);
}

Layout Algebra::flatProduct(const Map &lhs, const Value &rhs) {
  Layout zipped = zippedProduct(lhs, rhs);
  if (failed())
    return Layout();
  std::vector<Layout> modes = zipped.getMode(0).getModes();
  append_range(modes, zipped.getMode(1).getModes());
  return concat(modes);
}

Layout Algebra::pairedProduct(const Map &lhs, const Value &value, bool leftFirst) {
  Layout right;
  const Tile *tile;
  if (!toTiler(value, right, tile))
    return Layout();
  if (tile || !lhs.getLayout()) {
    fail(17, "blocked and raked products take two layouts, not " + toString(lhs) + " and " + toString(value));
    return Layout();
  }
  Layout left = *lhs.getLayout();
  checkLayout(left);
  if (failed())
    return Layout();
  IntTuple codomain = mul(product(left.shape), cosize(right));
  Layout rest = complement(left, &codomain);
  if (failed())
    return Layout();
  unsigned rank = std::max(left.getRank(), right.getRank());
  std::vector<Layout> blocks = left.getModes(), positions = right.getModes();
  blocks.resize(rank);
  positions.resize(rank);
  // The copies are composed as one layout: modes must not carry (C11).
  Layout copies = composeLayout(rest, rank == 1 ? positions[0] : concat(positions));
  if (failed())
    return Layout();
  SmallVector<Layout> modes;
  for (unsigned i = 0; i < rank; ++i) {
    Layout block = asMode(blocks[i]), copy = asMode(rank == 1 ? copies : copies.getMode(i));
    modes.push_back(leftFirst ? concat({block, copy}) : concat({copy, block}));
  }
  return zeroUnits(rank == 1 ? modes[0] : concat(modes));
}

Layout Algebra::blockedProduct(const Map &lhs, const Value &rhs) { return pairedProduct(lhs, rhs, true); }

Layout Algebra::rakedProduct(const Map &lhs, const Value &rhs) { return pairedProduct(lhs, rhs, false); }

Map Algebra::tileToShape(const Map &block, const IntTuple &shape, const IntTuple &order) {
  if (failed())
    return Map();
  if (const Composed *composed = block.getComposed())
    if (composed->offset.isTuple() || !composed->offset.getLeaf().is(0)) {
      fail(17, "tile_to_shape of " + toString(block) + " needs offset 0");
      return Map();
    }
  return mapOuter(block, [&](const Layout &layout) -> Map {
    checkShape(shape);
    unsigned rank = shape.getRank();
    if (failed())
      return Map();
    if (layout.getRank() > rank) {
      fail(31, "block " + toString(layout) + " has rank " + Twine(layout.getRank()) + " but the target " +
                   toString(shape) + " has rank " + Twine(rank));
      return Map();
    }
    if (!compact(layout)) {
      fail(12, "block " + toString(layout) + " is not compact");
      return Map();
    }
    std::vector<Layout> modes = layout.getModes();
    modes.resize(rank);
    std::vector<IntTuple> repeats;
    for (unsigned i = 0; i < rank; ++i) {
      Int extent = product(modes[i].shape), target = product(shape[i]);
      if (!requireDivides(extent, target, 23, "block extent of mode " + Twine(i)))
        return Map();
      repeats.push_back(div(target, extent));
    }
    Layout rest = makeOrderedLayout(IntTuple::tuple(std::move(repeats)), order);
    if (failed())
      return Map();
    // A wrapper keeps its rank: `((2,2))` is one mode.
    return blockedProduct(concat(modes), Value(Map(rest)));
  });
}

//===----------------------------------------------------------------------===//
// Local tiles
//===----------------------------------------------------------------------===//

/// A slice keeps the function on the kept modes; the rest goes to the offset of
/// `1-leaf identity o offset o layout`.
static Map sliceWithOffset(Algebra &algebra, const Map &divided, const IntTuple &coord) {
  if (divided.getComposed()) {
    Value result = algebra.slice(Value(divided), coord);
    return algebra.failed() ? Map() : std::get<Map>(result);
  }
  const Layout &layout = *divided.getLayout();
  Int reach = 1;
  Map inner = layout.hasBasis() ? Map(algebra.makeIdentityLayout(algebra.coshape(layout))) : Map(Layout(reach, 1));
  Value result = algebra.slice(Value(Map(Composed{inner, 0, layout})), coord);
  if (algebra.failed())
    return Map();
  const Composed *composed = std::get<Map>(result).getComposed();
  bool zero = true;
  composed->offset.walk([&](const Int &leaf) { zero &= leaf.is(0); });
  return zero ? composed->outer : Map(*composed);
}

/// `*` for every top-level mode of a shape: the modes stay apart in the result.
static IntTuple keepModes(const IntTuple &shape) {
  if (shape.isLeaf())
    return Int::star();
  return IntTuple::tuple(std::vector<IntTuple>(shape.getRank(), IntTuple(Int::star())));
}

Map Algebra::localTile(const Map &map, const Value &tiler, const IntTuple &coord) {
  Map divided = zippedDivide(map, tiler);
  if (failed())
    return Map();
  return sliceWithOffset(*this, divided, IntTuple::tuple({keepModes(getShape(Value(divided))[0]), coord}));
}

Map Algebra::localPartition(const Map &map, const Value &tiler, const IntTuple &thread) {
  Map divided = zippedDivide(map, tiler);
  if (failed())
    return Map();
  return sliceWithOffset(*this, divided, IntTuple::tuple({thread, keepModes(getShape(Value(divided))[1])}));
}

} // namespace atrex::layout
