//===- GridOrder.h - Which tile a workgroup takes ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bijections of the tiles of a grid. The device numbers workgroups with the
// first axis fastest and deals them out to its dies (XCDs) in turn; what runs at
// the same time and behind the same L2 is therefore a matter of the numbering.
//
// The arithmetic is written once, over whatever computes: integers, or values
// of the IR.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TRANSFORMS_GRIDORDER_H
#define ATREX_TRANSFORMS_GRIDORDER_H

#include <array>
#include <cstdint>
#include <optional>

namespace atrex {

enum class TileOrder : uint8_t {
  /// First axis fastest, as the device numbers.
  Column,
  /// Second axis fastest.
  Row,
  /// Strips of `group` along the first axis, the second axis inside, the first
  /// fastest inside of a strip's column.
  Grouped,
  /// Each die takes a run of consecutive numbers of the grouped order.
  XCD
};

enum class CausalOrder : uint8_t {
  None,
  /// Last coordinate first: there the work of causal attention is longest.
  Reverse,
  /// Last, first, last but one, second, ...: neighbours have as much work together.
  Zigzag
};

struct GridOrderSettings {
  TileOrder order = TileOrder::Column;
  CausalOrder causal = CausalOrder::None;
  /// Axis that `causal` reorders.
  unsigned causalAxis = 0;
  int64_t group = 8;
  int64_t xcds = 1;

  bool isIdentity() const { return order == TileOrder::Column && causal == CausalOrder::None; }
};

/// The tile of workgroup `id` in a grid of `extents`, all positive. `Arith` has
/// `Number constant(int64_t)`, `std::optional<int64_t> getConstant(Number)`,
/// `add`, `sub`, `mul`, `div`, `rem`, `min` on numbers that are not negative, and
/// `select(bit, ifOne, ifZero)`.
template <typename Arith, typename Number = typename Arith::Number>
std::array<Number, 3> orderTile(Arith &a, const std::array<Number, 3> &id, const std::array<Number, 3> &extents,
                                const GridOrderSettings &settings) {
  std::array<Number, 3> tile = id;
  auto [width, height, depth] = extents;
  Number one = a.constant(1);
  auto isOne = [&](const Number &n) { return a.getConstant(n) == 1; };
  if (settings.order != TileOrder::Column) {
    Number plane = a.mul(width, height);
    Number linear = a.add(id[0], a.mul(id[1], width));
    if (settings.order == TileOrder::XCD && settings.xcds > 1) {
      // Workgroup n runs on die n % xcds. The first `more` dies have one more.
      linear = a.add(linear, a.mul(id[2], plane));
      Number total = a.mul(plane, depth), dies = a.constant(settings.xcds);
      Number die = a.rem(linear, dies), own = a.div(linear, dies);
      Number each = a.div(total, dies), more = a.rem(total, dies);
      linear = a.add(a.mul(die, each), own);
      if (a.getConstant(more) != 0)
        linear = a.add(linear, a.min(die, more));
      if (!isOne(depth)) {
        tile[2] = a.div(linear, plane);
        linear = a.rem(linear, plane);
      }
    }
    if (settings.order == TileOrder::Row || settings.group <= 1) {
      tile[0] = a.div(linear, height);
      tile[1] = a.rem(linear, height);
    } else {
      Number group = a.constant(settings.group);
      Number strip = a.mul(group, height);
      Number first = a.mul(a.div(linear, strip), group);
      Number inside = a.rem(linear, strip);
      // The last strip may be narrower.
      std::optional<int64_t> known = a.getConstant(width);
      bool whole = known && *known % settings.group == 0;
      Number breadth = whole ? group : a.min(a.sub(width, first), group);
      tile[0] = a.add(first, a.rem(inside, breadth));
      if (!whole)
        // Says the bound to those who look at ranges only.
        tile[0] = a.min(tile[0], a.sub(width, one));
      tile[1] = a.div(inside, breadth);
    }
  }
  if (settings.causal != CausalOrder::None && !isOne(extents[settings.causalAxis])) {
    Number &at = tile[settings.causalAxis];
    Number last = a.sub(extents[settings.causalAxis], one);
    if (settings.causal == CausalOrder::Reverse) {
      at = a.sub(last, at);
    } else {
      Number two = a.constant(2);
      Number half = a.div(at, two);
      at = a.select(a.rem(at, two), half, a.sub(last, half));
    }
  }
  return tile;
}

} // namespace atrex

#endif // ATREX_TRANSFORMS_GRIDORDER_H
