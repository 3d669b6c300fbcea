//===- Structure.cpp - Construction and mode surgery of layouts ---===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Algebra.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <numeric>

using namespace llvm;

namespace atrex::layout {

Layout concat(ArrayRef<Layout> modes) {
  if (modes.size() == 1 && modes[0].shape.isLeaf())
    return modes[0];
  std::vector<IntTuple> shape, stride;
  for (const Layout &mode : modes) {
    shape.push_back(mode.shape);
    stride.push_back(mode.stride);
  }
  return Layout(IntTuple::tuple(std::move(shape)), IntTuple::tuple(std::move(stride)));
}

Layout asMode(const Layout &layout) {
  if (layout.shape.isTuple() && layout.shape.getRank() == 1)
    return layout.getMode(0);
  return layout;
}

Layout zeroUnits(const Layout &layout) {
  return Layout(layout.shape,
                zipMap([](const Int &extent, const Int &stride) { return extent.is(1) ? Int(0) : stride; },
                       layout.shape, layout.stride));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Values are built up leaf by leaf in memory, so their number is bounded.
static bool checkLeaves(Algebra &algebra, uint64_t count, StringRef what) {
  if (count <= maxLeaves)
    return true;
  algebra.fail(5, what + Twine(" has ") + Twine(count) + " leaves; at most " + Twine(maxLeaves) + " are allowed");
  return false;
}

void Algebra::checkShape(const IntTuple &shape) {
  if (!checkLeaves(*this, shape.getNumLeaves(), "a shape"))
    return;
  // The static extents alone must not overflow; dynamic ones are at least 1.
  Int product = 1;
  shape.walk([&](const Int &extent) {
    if (extent.isStar() || extent.isBasis())
      fail(2, "extent " + toString(extent) + " of shape " + toString(shape) + " is not a positive integer");
    else if (extent.isStatic() && extent.value < 1)
      fail(2, "extent " + toString(extent) + " of shape " + toString(shape) + " is not positive");
    else if (extent.isStatic())
      product = mul(product, extent);
  });
}

void Algebra::checkLayout(const Layout &layout) {
  if (!areCongruent(layout.shape, layout.stride))
    return fail(1, "shape " + toString(layout.shape) + " and stride " + toString(layout.stride) + " are not congruent");
  checkShape(layout.shape);
  // A layout maps to integers or to coordinates, not to both; 0 is in either.
  bool integers = false, basis = false;
  layout.stride.walk([&](const Int &stride) {
    if (stride.isStar())
      fail(1, "stride '*' is not an integer");
    basis |= stride.isBasis();
    integers |= !stride.isBasis() && !stride.is(0);
  });
  if (integers && basis)
    fail(14, "layout " + toString(layout) + " mixes integer and coordinate-valued strides");
}

void Algebra::check(const Value &value) {
  if (auto *tile = std::get_if<Tile>(&value)) {
    for (const std::optional<Layout> &mode : tile->modes)
      if (mode)
        checkLayout(*mode);
    return;
  }
  auto *map = std::get_if<Map>(&value);
  if (!map)
    return;
  if (const Layout *layout = map->getLayout())
    return checkLayout(*layout);
  if (const Swizzle *swizzle = map->getSwizzle()) {
    if (!swizzle->isValid())
      fail(21, toString(*swizzle) + " needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62");
    return;
  }
  if (const CoordSwizzle *swizzle = map->getCoordSwizzle()) {
    bool valid = swizzle->bits >= 0 && swizzle->rowBase >= 0 && swizzle->columnBase >= 0 && swizzle->row >= 0 &&
                 swizzle->column >= 0 && int64_t(swizzle->bits) + std::max(swizzle->rowBase, swizzle->columnBase) <= 62;
    if (!valid)
      fail(21, toString(*swizzle) + " needs non-negative numbers and b + r0, b + c0 of at most 62");
    else if (swizzle->row == swizzle->column)
      fail(21, toString(*swizzle) + " needs two different components");
    return;
  }
  const Composed *composed = map->getComposed();
  check(Value(composed->inner));
  composed->offset.walk([&](const Int &leaf) {
    if (leaf.isStar() || leaf.isBasis())
      fail(14, "offset " + toString(composed->offset) + " is not an integer or a coordinate");
  });
  check(Value(composed->outer));
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Layout Algebra::makeLayout(const IntTuple &shape, const IntTuple &stride) {
  Layout layout(shape, stride);
  checkLayout(layout);
  return failed() ? Layout() : layout;
}

IntTuple Algebra::compactStrides(const IntTuple &shape) {
  Int next = 1;
  return shape.map([&](const Int &extent) {
    if (extent.is(1))
      return Int(0);
    Int stride = next;
    next = mul(next, extent);
    return stride;
  });
}

Layout Algebra::makeLayout(const IntTuple &shape) {
  checkShape(shape);
  if (failed())
    return Layout();
  return Layout(shape, compactStrides(shape));
}

Layout Algebra::makeOrderedLayout(const IntTuple &shape, const IntTuple &order) {
  if (!areCongruent(shape, order)) {
    fail(1, "shape " + toString(shape) + " and order " + toString(order) + " are not congruent");
    return Layout();
  }
  checkShape(shape);
  if (failed())
    return Layout();
  SmallVector<Int> extents = shape.flatten(), keys = order.flatten();
  for (const Int &key : keys)
    if (!key.isStatic() || key.isBasis()) {
      fail(13, "order " + toString(order) + " must be static integers");
      return Layout();
    }
  for (auto [i, key] : enumerate(keys))
    for (auto [j, other] : enumerate(ArrayRef(keys).take_front(i)))
      if (key.value == other.value && !extents[i].is(1) && !extents[j].is(1)) {
        fail(24, "leaves " + Twine(j) + " and " + Twine(i) + " of shape " + toString(shape) + " have the same order " +
                     Twine(key.value));
        return Layout();
      }
  // Ascending order, so that dynamic products are built once each.
  SmallVector<unsigned> sorted(extents.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  sort(sorted, [&](unsigned a, unsigned b) { return std::pair(keys[a].value, a) < std::pair(keys[b].value, b); });
  SmallVector<Int> strides(extents.size());
  Int next = 1;
  for (unsigned i : sorted) {
    if (extents[i].is(1))
      continue;
    strides[i] = next;
    next = mul(next, extents[i]);
  }
  unsigned position = 0;
  return Layout(shape, shape.map([&](const Int &) { return strides[position++]; }));
}

static IntTuple identityStrides(const IntTuple &shape, SmallVectorImpl<int32_t> &path) {
  if (shape.isLeaf())
    return Int::basis(1, path);
  std::vector<IntTuple> elements;
  for (unsigned i = 0; i < shape.getRank(); ++i) {
    path.push_back(i);
    elements.push_back(identityStrides(shape[i], path));
    path.pop_back();
  }
  return IntTuple::tuple(std::move(elements));
}

Layout Algebra::makeIdentityLayout(const IntTuple &shape) {
  checkShape(shape);
  if (failed())
    return Layout();
  if (shape.isLeaf())
    return Layout(shape, 1);
  SmallVector<int32_t> path;
  return Layout(shape, identityStrides(shape, path));
}

/// Strides of a compact layout whose leaves follow one another in `order`;
/// leaves that are not listed get 0.
static IntTuple strideInOrder(Algebra &algebra, const Layout &layout, ArrayRef<unsigned> order) {
  SmallVector<Int> extents = layout.shape.flatten();
  SmallVector<Int> strides(extents.size());
  Int next = 1;
  for (unsigned i : order) {
    if (extents[i].is(1))
      continue;
    strides[i] = next;
    next = algebra.mul(next, extents[i]);
  }
  unsigned position = 0;
  return layout.shape.map([&](const Int &) { return strides[position++]; });
}

Layout Algebra::makeLayoutLike(const Map &map) {
  // The order is that of |stride|: negative strides are allowed.
  if (failed())
    return Layout();
  if (!map.getLayout()) {
    fail(17, "make_layout_like is not defined for " + toString(map));
    return Layout();
  }
  const Layout &layout = *map.getLayout();
  checkLayout(layout);
  if (failed())
    return Layout();
  SmallVector<unsigned> order;
  unsigned dynamic = 0;
  auto leaves = layout.getLeaves();
  for (auto [i, leaf] : enumerate(leaves)) {
    if (leaf.first.is(1) || leaf.second.is(0))
      continue;
    if (leaf.second.isBasis()) {
      fail(14, "make_layout_like needs an integer codomain, " + toString(layout) + " has coordinate-valued strides");
      return Layout();
    }
    order.push_back(i);
    dynamic += leaf.second.isDynamic();
  }
  if (dynamic && order.size() > 1) {
    fail(13, "make_layout_like orders the leaves of " + toString(layout) + " by stride, which must be static");
    return Layout();
  }
  sort(order, [&](unsigned a, unsigned b) {
    return std::pair(leaves[a].second.getDivisor(), a) < std::pair(leaves[b].second.getDivisor(), b);
  });
  return Layout(layout.shape, strideInOrder(*this, layout, order));
}

Layout Algebra::makeFragmentLike(const Map &map) {
  // A register image of a composed layout is that of its domain.
  if (const Composed *composed = map.getComposed())
    if (composed->outer.getLayout() || composed->outer.getComposed())
      return makeFragmentLike(composed->outer);
  const Layout *layout = map.getLayout();
  if (!layout) {
    fail(17, "make_fragment_like of " + toString(map) + ", which has no shape");
    return Layout();
  }
  checkLayout(*layout);
  if (failed())
    return Layout();
  unsigned first = layout->shape[0].getNumLeaves();
  if (layout->shape.isLeaf())
    first = 1;
  auto leaves = layout->getLeaves();
  SmallVector<unsigned> order(leaves.size());
  std::iota(order.begin(), order.end(), 0);
  // Mode 0 as it stands, then static strides, dynamic strides (their order is
  // not known and does not matter for correctness), broadcast leaves.
  auto key = [&](unsigned i) -> std::tuple<int, uint64_t, unsigned> {
    const Int &stride = leaves[i].second;
    if (i < first)
      return {0, 0, i};
    if (stride.is(0))
      return {3, 0, i};
    return stride.isDynamic() ? std::tuple(2, uint64_t(0), i) : std::tuple(1, stride.getDivisor(), i);
  };
  sort(order, [&](unsigned a, unsigned b) { return key(a) < key(b); });
  return Layout(layout->shape, strideInOrder(*this, *layout, order));
}

Swizzle Algebra::makeSwizzle(int64_t bits, int64_t base, int64_t shift) {
  auto clamp = [](int64_t number) { return static_cast<int32_t>(std::clamp<int64_t>(number, -1000, 1000)); };
  Swizzle swizzle{clamp(bits), clamp(base), clamp(shift)};
  if (swizzle.isValid())
    return swizzle;
  fail(21, "S<" + Twine(bits) + "," + Twine(base) + "," + Twine(shift) +
               "> needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62");
  return Swizzle();
}

Map Algebra::makeComposed(const Map &inner, const IntTuple &offset, const Map &outer) {
  Composed composed{inner, offset, outer};
  check(Value(Map(composed)));
  if (failed())
    return Map();
  if (inner.getComposed()) {
    fail(17, "the inner part of a composed layout is a layout or a swizzle, not " + toString(inner));
    return Map();
  }
  // N6: an identity swizzle with offset 0 is dropped.
  if (const Swizzle *swizzle = inner.getSwizzle())
    if (swizzle->isIdentity() && offset.isLeaf() && offset.getLeaf().is(0))
      return outer;
  // n:d o 0 o L is L scaled by d.
  const Layout *scale = inner.getLayout(), *plain = outer.getLayout();
  if (scale && plain && scale->shape.isLeaf() && offset.isLeaf() && offset.getLeaf().is(0) && !plain->hasBasis())
    return Layout(plain->shape,
                  plain->stride.map([&](const Int &stride) { return mul(stride, scale->stride.getLeaf()); }));
  return composed;
}

//===----------------------------------------------------------------------===//
// Mode surgery
//===----------------------------------------------------------------------===//

Map Algebra::mapOuter(const Map &map, function_ref<Map(const Layout &)> function) {
  if (failed())
    return Map();
  if (const Layout *layout = map.getLayout()) {
    checkLayout(*layout);
    return failed() ? Map() : function(*layout);
  }
  if (const Composed *composed = map.getComposed()) {
    Map outer = mapOuter(composed->outer, function);
    return failed() ? Map() : Map(Composed{composed->inner, composed->offset, outer});
  }
  fail(17, toString(map) + " has no modes");
  return Map();
}

static IntTuple joinTuple(std::vector<IntTuple> parts) {
  if (parts.size() == 1)
    return parts[0];
  return IntTuple::tuple(std::move(parts));
}

static Layout joinLayouts(ArrayRef<Layout> parts) { return parts.size() == 1 ? parts[0] : concat(parts); }

/// Applies an operation on mode lists to a tuple, a layout or the outer part
/// of a composed layout.
static Value onModes(Algebra &algebra, const Value &value, StringRef name,
                     function_ref<IntTuple(const IntTuple &)> onTuple, function_ref<Map(const Map &)> onMap) {
  if (auto *tuple = std::get_if<IntTuple>(&value))
    return onTuple(*tuple);
  if (auto *map = std::get_if<Map>(&value))
    return onMap(*map);
  algebra.fail(17, name + Twine(" works on tuples and layouts, not on ") + toString(value));
  return IntTuple(1);
}

static std::string rankText(unsigned rank) { return ("rank " + Twine(rank)).str(); }

Value Algebra::get(const Value &value, ArrayRef<int64_t> mode) {
  if (mode.empty())
    fail(5, "the mode list of get is empty");
  auto inRange = [&](int64_t index, unsigned rank) {
    if (index >= 0 && index < int64_t(rank))
      return true;
    fail(5, "mode " + Twine(index) + " is out of range for " + rankText(rank));
    return false;
  };
  return onModes(
      *this, value, "get",
      [&](const IntTuple &tuple) {
        IntTuple part = tuple;
        for (int64_t index : mode) {
          if (!inRange(index, part.getRank()))
            return IntTuple(1);
          IntTuple next = part[index];
          part = next;
        }
        return part;
      },
      [&](const Map &map) {
        return mapOuter(map, [&](const Layout &layout) -> Map {
          Layout part = layout;
          for (int64_t index : mode) {
            if (!inRange(index, part.getRank()))
              return Map();
            part = part.getMode(index);
          }
          return part;
        });
      });
}

static bool checkRange(Algebra &algebra, int64_t begin, int64_t end, unsigned rank) {
  if (begin >= 0 && begin < end && end <= int64_t(rank))
    return true;
  algebra.fail(5, "range [" + Twine(begin) + "," + Twine(end) + ") is empty or outside " + rankText(rank));
  return false;
}

Value Algebra::take(const Value &value, int64_t begin, int64_t end) {
  return onModes(
      *this, value, "take",
      [&](const IntTuple &tuple) -> IntTuple {
        if (!checkRange(*this, begin, end, tuple.getRank()))
          return 1;
        std::vector<IntTuple> parts;
        for (int64_t i = begin; i < end; ++i)
          parts.push_back(tuple[i]);
        return joinTuple(std::move(parts));
      },
      [&](const Map &map) {
        return mapOuter(map, [&](const Layout &layout) -> Map {
          if (!checkRange(*this, begin, end, layout.getRank()))
            return Map();
          auto modes = layout.getModes();
          return joinLayouts(ArrayRef(modes).slice(begin, end - begin));
        });
      });
}

Value Algebra::select(const Value &value, ArrayRef<int64_t> indices) {
  if (indices.empty())
    fail(5, "the index list of select is empty");
  if (indices.size() > maxLeaves)
    fail(5, "select takes at most " + Twine(maxLeaves) + " indices");
  if (failed())
    return IntTuple(1);
  auto inRange = [&](unsigned rank) {
    for (int64_t index : indices)
      if (index < 0 || index >= int64_t(rank)) {
        fail(5, "index " + Twine(index) + " is out of range for " + rankText(rank));
        return false;
      }
    return true;
  };
  // An index may repeat, and with it a large mode.
  auto isSmall = [&](const IntTuple &shape) {
    SmallVector<uint64_t> sizes;
    for (unsigned i = 0; i < shape.getRank(); ++i)
      sizes.push_back(shape[i].getNumLeaves());
    uint64_t count = 0;
    for (int64_t index : indices)
      count += sizes[index];
    return checkLeaves(*this, count, "the result of select");
  };
  return onModes(
      *this, value, "select",
      [&](const IntTuple &tuple) -> IntTuple {
        if (!inRange(tuple.getRank()) || !isSmall(tuple))
          return 1;
        std::vector<IntTuple> parts;
        for (int64_t index : indices)
          parts.push_back(tuple[index]);
        return joinTuple(std::move(parts));
      },
      [&](const Map &map) {
        return mapOuter(map, [&](const Layout &layout) -> Map {
          if (!inRange(layout.getRank()) || !isSmall(layout.shape))
            return Map();
          SmallVector<Layout> parts;
          for (int64_t index : indices)
            parts.push_back(layout.getMode(index));
          Layout result = joinLayouts(parts);
          checkLayout(result);
          return result;
        });
      });
}

Value Algebra::group(const Value &value, int64_t begin, int64_t end) {
  return onModes(
      *this, value, "group",
      [&](const IntTuple &tuple) -> IntTuple {
        if (!checkRange(*this, begin, end, tuple.getRank()))
          return 1;
        std::vector<IntTuple> parts, grouped;
        for (int64_t i = 0; i < int64_t(tuple.getRank()); ++i) {
          if (i >= begin && i < end)
            grouped.push_back(tuple[i]);
          else
            parts.push_back(tuple[i]);
          if (i == end - 1)
            parts.push_back(grouped.size() == 1 ? grouped[0] : IntTuple::tuple(std::move(grouped)));
        }
        return IntTuple::tuple(std::move(parts));
      },
      [&](const Map &map) {
        return mapOuter(map, [&](const Layout &layout) -> Map {
          if (!checkRange(*this, begin, end, layout.getRank()))
            return Map();
          auto modes = layout.getModes();
          SmallVector<Layout> parts(ArrayRef(modes).take_front(begin));
          parts.push_back(joinLayouts(ArrayRef(modes).slice(begin, end - begin)));
          append_range(parts, ArrayRef(modes).drop_front(end));
          return concat(parts);
        });
      });
}

/// Adds `count` copies of a mode; a tuple takes a tuple, a layout a layout.
static Value addModes(Algebra &algebra, const Value &value, const Value &mode, std::optional<int64_t> rank,
                      StringRef name, bool atEnd,
                      function_ref<Map(const Map &, function_ref<Map(const Layout &)>)> mapOuter) {
  auto countFor = [&](unsigned have) -> int64_t {
    if (!rank)
      return 1;
    if (*rank < int64_t(have)) {
      algebra.fail(5, name + Twine(": target rank ") + Twine(*rank) + " is below the rank " + Twine(have) +
                          " of the operand");
      return 0;
    }
    if (*rank > 256) {
      algebra.fail(5, name + Twine(": target rank ") + Twine(*rank) + " is above the limit of 256");
      return 0;
    }
    return *rank - have;
  };
  auto fits = [&](uint64_t leaves) { return checkLeaves(algebra, leaves, "the result of " + name.str()); };
  if (auto *tuple = std::get_if<IntTuple>(&value)) {
    auto *extra = std::get_if<IntTuple>(&mode);
    if (!extra) {
      algebra.fail(6, name + Twine(" of ") + toString(mode) + " to the tuple " + toString(*tuple));
      return IntTuple(1);
    }
    int64_t count = countFor(tuple->getRank());
    if (count == 0 || !fits(tuple->getNumLeaves() + count * extra->getNumLeaves()))
      return *tuple;
    std::vector<IntTuple> parts;
    for (unsigned i = 0; i < tuple->getRank(); ++i)
      parts.push_back((*tuple)[i]);
    // N2: a wrapper is dropped where it becomes a mode.
    parts.insert(atEnd ? parts.end() : parts.begin(), count,
                 extra->isTuple() && extra->getRank() == 1 ? (*extra)[0] : *extra);
    return IntTuple::tuple(std::move(parts));
  }
  auto *map = std::get_if<Map>(&value);
  auto *extra = std::get_if<Map>(&mode);
  if (!map || !extra || !extra->getLayout()) {
    algebra.fail(17, name + Twine(" of ") + toString(mode) + " to " + toString(value) + " is not defined");
    return IntTuple(1);
  }
  return mapOuter(*map, [&](const Layout &layout) -> Map {
    int64_t count = countFor(layout.getRank());
    if (count == 0 || !fits(layout.shape.getNumLeaves() + count * extra->getLayout()->shape.getNumLeaves()))
      return layout;
    std::vector<Layout> parts = layout.getModes();
    parts.insert(atEnd ? parts.end() : parts.begin(), count, asMode(*extra->getLayout()));
    Layout result = concat(parts);
    algebra.check(Value(Map(result)));
    return result;
  });
}

Value Algebra::append(const Value &value, const Value &mode, std::optional<int64_t> rank) {
  return addModes(*this, value, mode, rank, "append", true,
                  [&](const Map &map, function_ref<Map(const Layout &)> function) { return mapOuter(map, function); });
}

Value Algebra::prepend(const Value &value, const Value &mode, std::optional<int64_t> rank) {
  return addModes(*this, value, mode, rank, "prepend", false,
                  [&](const Map &map, function_ref<Map(const Layout &)> function) { return mapOuter(map, function); });
}

/// Checks a slicing coordinate against a shape and collects the kept modes.
template <typename T>
static bool filterParts(Algebra &algebra, const T &part, const IntTuple &shape, const IntTuple &coord, bool keepStars,
                        function_ref<T(const T &, unsigned)> getMode, std::vector<T> &kept) {
  if (coord.isLeaf()) {
    const Int &leaf = coord.getLeaf();
    if (leaf.isBasis()) {
      algebra.fail(3, "coordinate " + toString(leaf) + " is not an integer or '*'");
      return false;
    }
    if (leaf.isStar() == keepStars)
      kept.push_back(part);
    return true;
  }
  if (shape.isLeaf()) {
    algebra.fail(3, "coordinate " + toString(coord) + " is deeper than the shape " + toString(shape));
    return false;
  }
  if (coord.getRank() != shape.getRank()) {
    algebra.fail(3, "coordinate " + toString(coord) + " has rank " + Twine(coord.getRank()) + " but " +
                        toString(shape) + " has rank " + Twine(shape.getRank()));
    return false;
  }
  for (unsigned i = 0; i < coord.getRank(); ++i)
    if (!filterParts(algebra, getMode(part, i), shape[i], coord[i], keepStars, getMode, kept))
      return false;
  return true;
}

bool Algebra::filterModes(const Layout &layout, const IntTuple &coord, bool keepStars, std::vector<Layout> &kept) {
  return filterParts<Layout>(
      *this, layout, layout.shape, coord, keepStars, [](const Layout &l, unsigned i) { return l.getMode(i); }, kept);
}

bool Algebra::filterModes(const IntTuple &tuple, const IntTuple &coord, bool keepStars, std::vector<IntTuple> &kept) {
  return filterParts<IntTuple>(
      *this, tuple, tuple, coord, keepStars, [](const IntTuple &t, unsigned i) { return t[i]; }, kept);
}

IntTuple Algebra::zeroCoordinate(const IntTuple &coord, const IntTuple &shape) {
  if (coord.isLeaf()) {
    if (!coord.getLeaf().isStar())
      return coord;
    return shape.map([](const Int &) { return Int(0); });
  }
  std::vector<IntTuple> elements;
  for (unsigned i = 0; i < coord.getRank(); ++i)
    elements.push_back(zeroCoordinate(coord[i], shape[i]));
  return IntTuple::tuple(std::move(elements));
}

Value Algebra::slice(const Value &value, const IntTuple &coord) {
  const char *nothing = "the coordinate keeps no mode: use crd2idx for a full coordinate";
  if (auto *tuple = std::get_if<IntTuple>(&value)) {
    std::vector<IntTuple> kept;
    if (filterModes(*tuple, coord, true, kept) && kept.empty())
      fail(5, nothing);
    return failed() ? IntTuple(1) : joinTuple(std::move(kept));
  }
  auto *map = std::get_if<Map>(&value);
  if (!map || map->getSwizzle() || map->getCoordSwizzle()) {
    fail(17, "slice of " + toString(value) + ", which has no modes");
    return IntTuple(1);
  }
  if (const Composed *composed = map->getComposed()) {
    Value outer = slice(Value(composed->outer), coord);
    if (failed())
      return IntTuple(1);
    IntTuple offset = composed->offset;
    // The fixed coordinates go to the innermost offset.
    if (const Layout *plain = composed->outer.getLayout())
      offset = addOffset(offset, crd2idx(zeroCoordinate(coord, plain->shape), *plain));
    return Map(Composed{composed->inner, offset, std::get<Map>(outer)});
  }
  const Layout &layout = *map->getLayout();
  checkLayout(layout);
  std::vector<Layout> kept;
  if (!failed() && filterModes(layout, coord, true, kept) && kept.empty())
    fail(5, nothing);
  return failed() ? Map() : Map(joinLayouts(kept));
}

Value Algebra::dice(const Value &value, const IntTuple &coord) {
  const char *nothing = "the coordinate keeps no mode";
  if (auto *tuple = std::get_if<IntTuple>(&value)) {
    std::vector<IntTuple> kept;
    if (filterModes(*tuple, coord, false, kept) && kept.empty())
      fail(5, nothing);
    return failed() ? IntTuple(1) : joinTuple(std::move(kept));
  }
  auto *map = std::get_if<Map>(&value);
  if (!map) {
    fail(17, "dice of " + toString(value) + ", which has no modes");
    return IntTuple(1);
  }
  return mapOuter(*map, [&](const Layout &layout) -> Map {
    std::vector<Layout> kept;
    if (filterModes(layout, coord, false, kept) && kept.empty())
      fail(5, nothing);
    return failed() ? Map() : Map(joinLayouts(kept));
  });
}

} // namespace atrex::layout
