//===- Coordinates.cpp - Coordinates and measures of layouts ---===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Algebra.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <map>

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

void Algebra::addTo(Vector &sum, const Int &value) {
  if (value.is(0) || failed())
    return;
  if (!value.isBasis()) {
    if (!sum.terms.empty())
      return fail(14, "integer and coordinate-valued strides cannot be mixed");
    sum.scalar = add(sum.scalar, value);
    return;
  }
  if (!sum.scalar.is(0))
    return fail(14, "integer and coordinate-valued strides cannot be mixed");
  for (auto &[path, coefficient] : sum.terms)
    if (path == value.path) {
      coefficient = add(coefficient, value.getCoefficient());
      return;
    }
  sum.terms.emplace_back(value.path, value.getCoefficient());
}

void Algebra::evaluate(const IntTuple &coord, const IntTuple &shape, const IntTuple &stride, Vector &sum) {
  if (failed())
    return;
  if (coord.isTuple()) {
    if (shape.isLeaf())
      return fail(3, "coordinate " + toString(coord) + " is deeper than the shape " + toString(shape));
    if (coord.getRank() != shape.getRank())
      return fail(3, "coordinate has rank " + Twine(coord.getRank()) + " but the layout has rank " +
                         Twine(shape.getRank()));
    for (unsigned i = 0; i < coord.getRank(); ++i)
      evaluate(coord[i], shape[i], stride[i], sum);
    return;
  }
  Int index = coord.getLeaf();
  if (index.isStar() || index.isBasis())
    return fail(3, "coordinate " + toString(index) + " must be an integer here");
  if (index.isStatic() && index.value < 0)
    return fail(4, "coordinate " + Twine(index.value) + " is negative");
  if (index.is(0))
    return;
  // One digit per leaf; the last one is unbounded.
  SmallVector<Int> extents = shape.flatten(), strides = stride.flatten();
  for (unsigned i = 0; i + 1 < extents.size(); ++i) {
    if (!strides[i].is(0))
      addTo(sum, mul(modU(index, extents[i]), strides[i]));
    index = divU(index, extents[i]);
  }
  addTo(sum, mul(index, strides.back()));
}

bool Algebra::collectPaths(const Layout &layout, bool extents, Paths &paths) {
  for (const auto &[extent, stride] : layout.getLeaves()) {
    if (!stride.isBasis())
      continue;
    Paths *node = &paths;
    for (int32_t mode : stride.path)
      node = &node->children[mode];
    Int span = extents && !extent.is(1) ? mul(sub(extent, 1), abs(stride.getCoefficient())) : Int(0);
    node->leaf = node->leaf ? add(*node->leaf, span) : span;
  }
  std::function<bool(const Paths &)> isConsistent = [&](const Paths &node) {
    if (node.leaf && !node.children.empty())
      return false;
    return all_of(node.children, [&](const auto &child) { return isConsistent(child.second); });
  };
  if (isConsistent(paths))
    return true;
  fail(14, "a basis element of " + toString(layout) + " names a mode and another one a part of it");
  return false;
}

template <typename Node> static IntTuple nestPaths(const Node &node, function_ref<Int(const Int &)> function) {
  if (node.leaf)
    return function(*node.leaf);
  std::vector<IntTuple> elements;
  int32_t count = node.children.empty() ? 0 : node.children.rbegin()->first + 1;
  for (int32_t i = 0; i < count; ++i) {
    auto child = node.children.find(i);
    if (child == node.children.end())
      elements.push_back(function(0));
    else
      elements.push_back(nestPaths(child->second, function));
  }
  return elements.empty() ? IntTuple(function(0)) : IntTuple::tuple(std::move(elements));
}

IntTuple Algebra::toCoordinate(const Vector &vector, const Layout &layout) {
  if (!layout.hasBasis())
    return vector.scalar;
  Paths paths;
  if (!collectPaths(layout, false, paths))
    return 0;
  for (const auto &[path, coefficient] : vector.terms) {
    Paths *node = &paths;
    for (int32_t mode : path)
      node = &node->children[mode];
    node->leaf = coefficient;
  }
  return nestPaths(paths, [](const Int &leaf) { return leaf; });
}

IntTuple Algebra::addOffset(const IntTuple &offset, const IntTuple &value) {
  if (failed())
    return 0;
  if (offset.isLeaf() && value.isLeaf())
    return add(offset.getLeaf(), value.getLeaf());
  if (offset.isLeaf() || value.isLeaf()) {
    if (offset.isLeaf() ? !offset.getLeaf().is(0) : !value.getLeaf().is(0)) {
      fail(6, "offset " + toString(offset) + " does not fit the coordinate " + toString(value));
      return 0;
    }
    return offset.isLeaf() ? value : offset;
  }
  std::vector<IntTuple> elements;
  for (unsigned i = 0; i < std::max(offset.getRank(), value.getRank()); ++i)
    elements.push_back(
        addOffset(i < offset.getRank() ? offset[i] : IntTuple(0), i < value.getRank() ? value[i] : IntTuple(0)));
  return IntTuple::tuple(std::move(elements));
}

IntTuple Algebra::crd2idx(const IntTuple &coord, const Map &map) {
  if (failed())
    return 0;
  if (const Layout *layout = map.getLayout()) {
    checkLayout(*layout);
    Vector sum;
    evaluate(coord, layout->shape, layout->stride, sum);
    return failed() ? IntTuple(0) : toCoordinate(sum, *layout);
  }
  if (const Swizzle *swizzleMap = map.getSwizzle()) {
    check(Value(map));
    if (coord.isTuple()) {
      fail(14, "swizzle " + toString(*swizzleMap) + " acts on an integer, not on " + toString(coord));
      return 0;
    }
    return failed() ? Int(0) : swizzle(*swizzleMap, coord.getLeaf());
  }
  if (const CoordSwizzle *swizzleMap = map.getCoordSwizzle()) {
    check(Value(map));
    int64_t rank = coord.getRank();
    if (coord.isLeaf() || swizzleMap->row >= rank || swizzleMap->column >= rank || coord[swizzleMap->row].isTuple() ||
        coord[swizzleMap->column].isTuple()) {
      fail(3, "coordinate " + toString(coord) + " lacks the integer components of " + toString(*swizzleMap));
      return 0;
    }
    Int row = coord[swizzleMap->row].getLeaf(), column = coord[swizzleMap->column].getLeaf();
    if (failed() || !isPlainInteger(row, "a coordinate swizzle") || !isPlainInteger(column, "a coordinate swizzle"))
      return 0;
    int64_t mask = (int64_t(1) << swizzleMap->bits) - 1;
    IntTuple result = coord;
    Int &target = result.getElements()[swizzleMap->column].getLeaf();
    if (row.isStatic() && column.isStatic()) {
      target = column.value ^ (((row.value >> swizzleMap->rowBase) & mask) << swizzleMap->columnBase);
      return result;
    }
    // A builder gets at least one dynamic operand.
    Int bits;
    if (row.isStatic()) {
      bits = ((row.value >> swizzleMap->rowBase) & mask) << swizzleMap->columnBase;
    } else {
      bits = emit(IntBuilder::Op::ShrU, row, swizzleMap->rowBase, 1);
      bits = emit(IntBuilder::Op::And, bits, mask, 1);
      bits = emit(IntBuilder::Op::Shl, bits, swizzleMap->columnBase, 1);
    }
    if (!bits.is(0))
      target = emit(IntBuilder::Op::Xor, column, bits,
                    gcdDivisors(column.getDivisor(), uint64_t(1) << swizzleMap->columnBase));
    return result;
  }
  const Composed *composed = map.getComposed();
  IntTuple middle = addOffset(composed->offset, crd2idx(coord, composed->outer));
  return crd2idx(middle, composed->inner);
}

/// Rounds down; the divisor is neither 0 nor -1 with the smallest number.
static int64_t floorDiv(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return quotient - (value % divisor != 0 && (value < 0) != (divisor < 0));
}

IntTuple Algebra::idx2crd(const IntTuple &index, const Map &map) {
  Layout layout;
  if (const Layout *plain = map.getLayout())
    layout = *plain;
  else
    fail(17, "idx2crd of " + toString(map));
  checkLayout(layout);
  if (!failed() && layout.hasBasis())
    fail(14, "idx2crd needs an integer codomain, " + toString(layout) + " has coordinate-valued strides");
  if (!failed() && (index.isTuple() || index.getLeaf().isStar() || index.getLeaf().isBasis()))
    fail(3, "index " + toString(index) + " must be an integer");
  if (failed())
    return 0;
  const Int &value = index.getLeaf();
  return zipMap(
      [&](const Int &extent, const Int &stride) -> Int {
        if (extent.is(1) || stride.is(0))
          return 0;
        if (stride.is(-1) && value.is(std::numeric_limits<int64_t>::min())) {
          fail(8, toString(value) + " / -1 does not fit in 64 bits");
          return 0;
        }
        if (stride.isStatic() && value.isStatic() && extent.isStatic()) {
          int64_t digit = floorDiv(value.value, stride.value) % extent.value;
          return digit < 0 ? digit + extent.value : digit;
        }
        if (stride.isStatic() && stride.value > 0 && (!value.isStatic() || value.value >= 0))
          return modU(divU(value, stride), extent);
        // A negative number or stride, or a stride whose sign is not known.
        Int quotient;
        if (value.isStatic() && stride.isStatic())
          quotient = floorDiv(value.value, stride.value);
        else
          quotient = stride.is(1) ? value : emit(IntBuilder::Op::FloorDiv, value, stride, 1);
        return quotient.is(0) ? Int(0) : emit(IntBuilder::Op::FloorMod, quotient, extent, 1);
      },
      layout.shape, layout.stride);
}

Int Algebra::colexIndex(const IntTuple &coord, const IntTuple &shape) {
  if (coord.isLeaf())
    return coord.getLeaf();
  Int result = 0, unit = 1;
  for (unsigned i = 0; i < coord.getRank(); ++i) {
    result = add(result, mul(unit, colexIndex(coord[i], shape[i])));
    if (i + 1 < coord.getRank())
      unit = mul(unit, product(shape[i]));
  }
  return result;
}

IntTuple Algebra::get1DCoord(const IntTuple &index, const Map &map) {
  IntTuple coord = idx2crd(index, map);
  return failed() ? IntTuple(0) : IntTuple(colexIndex(coord, map.getLayout()->shape));
}

IntTuple Algebra::getFlatCoord(const IntTuple &index, const Map &map) {
  IntTuple coord = idx2crd(index, map);
  if (failed() || coord.isLeaf())
    return coord;
  std::vector<IntTuple> elements;
  for (unsigned i = 0; i < coord.getRank(); ++i)
    elements.push_back(colexIndex(coord[i], map.getLayout()->shape[i]));
  return IntTuple::tuple(std::move(elements));
}

IntTuple Algebra::coordOf(const Int &index, const IntTuple &shape) {
  if (shape.isLeaf())
    return index;
  std::vector<IntTuple> elements;
  Int rest = index;
  for (unsigned i = 0; i < shape.getRank(); ++i) {
    Int extent = product(shape[i]);
    bool last = i + 1 == shape.getRank();
    elements.push_back(coordOf(last ? rest : modU(rest, extent), shape[i]));
    if (!last)
      rest = divU(rest, extent);
  }
  return IntTuple::tuple(std::move(elements));
}

//===----------------------------------------------------------------------===//
// Measures
//===----------------------------------------------------------------------===//

IntTuple Algebra::getShape(const Value &value) {
  if (auto *tuple = std::get_if<IntTuple>(&value))
    return *tuple;
  if (auto *map = std::get_if<Map>(&value)) {
    if (const Layout *layout = map->getLayout())
      return layout->shape;
    if (const Composed *composed = map->getComposed()) {
      // `layout o 0 o swizzle` has the domain of its inner part.
      if (composed->outer.getSwizzle() || composed->outer.getCoordSwizzle())
        return getShape(Value(composed->inner));
      return getShape(Value(composed->outer));
    }
  }
  fail(17, toString(value) + " has no shape");
  return 1;
}

IntTuple Algebra::getStride(const Map &map) {
  if (const Layout *layout = map.getLayout())
    return layout->stride;
  fail(17, toString(map) + " has no stride");
  return 0;
}

Int Algebra::size(const Value &value) {
  check(value);
  IntTuple shape = getShape(value);
  return failed() ? Int(1) : product(shape);
}

/// The same function on the domain, without unit leaves.
static Layout dropUnits(const Layout &layout) {
  SmallVector<Layout> kept;
  for (const auto &[extent, stride] : layout.getLeaves())
    if (!extent.is(1) || stride.isBasis())
      kept.emplace_back(extent, stride);
  return kept.empty() ? Layout() : concat(kept);
}

SmallVector<IntTuple> Algebra::table(const Map &map) {
  Int count = size(Value(map));
  SmallVector<IntTuple> values;
  if (failed())
    return values;
  if (!isStatic(Value(map))) {
    fail(13, toString(map) + " has dynamic parts and cannot be enumerated");
    return values;
  }
  if (count.value > enumerationLimit) {
    fail(17, "the domain of " + toString(map) + " has " + Twine(count.value) + " elements; at most " +
                 Twine(enumerationLimit) + " are enumerated");
    return values;
  }
  // A coordinate has an entry for every mode up to the largest one named.
  const Layout *plain = map.getLayout();
  for (const Composed *composed = map.getComposed(); composed && !plain; composed = composed->outer.getComposed())
    plain = composed->outer.getLayout();
  uint64_t width = plain ? coprofile(*plain).getNumLeaves() : 1;
  if (failed())
    return values;
  if (width > uint64_t(16 * enumerationLimit) / uint64_t(count.value)) {
    fail(17, "the table of " + toString(map) + " has " + Twine(count.value) + " coordinates of " + Twine(width) +
                 " integers; at most " + Twine(16 * enumerationLimit) + " are listed");
    return values;
  }
  // Inside the domain unit leaves contribute nothing, and there may be many.
  Map dense = map;
  if (const Layout *layout = map.getLayout())
    dense = dropUnits(*layout);
  for (int64_t i = 0; i < count.value && !failed(); ++i)
    values.push_back(crd2idx(IntTuple(i), dense));
  return values;
}

IntTuple Algebra::coshape(const Map &map) {
  if (!map.getLayout()) {
    if (map.getComposed())
      return cosize(map);
    fail(17, toString(map) + " has no domain and so no codomain");
    return 1;
  }
  const Layout &layout = *map.getLayout();
  checkLayout(layout);
  if (failed())
    return 1;
  if (!layout.hasBasis()) {
    Int span = 1;
    for (const auto &[extent, stride] : layout.getLeaves())
      if (!extent.is(1))
        span = add(span, mul(sub(extent, 1), abs(stride)));
    return span;
  }
  Paths paths;
  if (!collectPaths(layout, true, paths))
    return 1;
  return nestPaths(paths, [&](const Int &leaf) { return add(leaf, 1); });
}

Int Algebra::cosize(const Map &map) {
  if (map.getLayout())
    return product(coshape(map));
  SmallVector<IntTuple> values = table(map);
  if (failed() || values.empty())
    return 1;
  int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
  for (const IntTuple &value : values) {
    if (value.isTuple()) {
      fail(14, "cosize of " + toString(map) + ", whose values are coordinates");
      return 1;
    }
    low = std::min(low, value.getLeaf().value);
    high = std::max(high, value.getLeaf().value);
  }
  return add(sub(high, low), 1);
}

IntTuple Algebra::coprofile(const Map &map) {
  const Layout *layout = map.getLayout();
  if (!layout) {
    fail(17, "coprofile of " + toString(map));
    return 0;
  }
  checkLayout(*layout);
  if (failed() || !layout->hasBasis())
    return 0;
  Paths paths;
  if (!collectPaths(*layout, false, paths))
    return 0;
  return nestPaths(paths, [](const Int &leaf) { return leaf; });
}

bool Algebra::injective(const Map &map) {
  if (const Layout *layout = map.getLayout()) {
    checkLayout(*layout);
    if (failed())
      return false;
    // Leaves that move along different coordinates never meet: test each path
    // on its own. |stride| suffices, reversing a digit does not change counts.
    std::map<std::vector<int32_t>, std::vector<std::pair<uint64_t, uint64_t>>> groups;
    bool known = true;
    for (const auto &[extent, stride] : layout->getLeaves()) {
      if (extent.is(1))
        continue;
      if (stride.is(0)) {
        if (extent.isStatic())
          return false;
        known = false;
        continue;
      }
      if (!extent.isStatic() || !stride.isStatic()) {
        known = false;
        continue;
      }
      groups[std::vector<int32_t>(stride.path.begin(), stride.path.end())].emplace_back(stride.getDivisor(),
                                                                                        extent.getDivisor());
    }
    bool proved = known;
    for (auto &[path, leaves] : groups) {
      sort(leaves);
      unsigned __int128 reach = 0;
      for (auto [stride, extent] : leaves) {
        proved &= stride > reach;
        reach += static_cast<unsigned __int128>(extent - 1) * stride;
      }
    }
    if (proved)
      return true;
    if (!known) {
      fail(12, "injectivity of " + toString(*layout) + " is not proved: it has dynamic leaves");
      return false;
    }
  }
  Algebra probe;
  SmallVector<IntTuple> values = probe.table(map);
  if (probe.failed()) {
    if (probe.fault->constraint == 17)
      fail(12, "injectivity of " + toString(map) + " is not proved: " + probe.fault->text);
    else
      fail(probe.fault->constraint, probe.fault->text);
    return false;
  }
  SmallVector<SmallVector<int64_t>> images;
  for (const IntTuple &value : values) {
    SmallVector<int64_t> &image = images.emplace_back();
    value.walk([&](const Int &leaf) { image.push_back(leaf.value); });
  }
  sort(images);
  return std::adjacent_find(images.begin(), images.end()) == images.end();
}

bool Algebra::compact(const Map &map) {
  if (const Layout *layout = map.getLayout()) {
    checkLayout(*layout);
    if (failed())
      return false;
    // The sums of arithmetic progressions fill an interval exactly once only
    // if, sorted, each stride is the product of the extents below it.
    std::vector<std::pair<int64_t, int64_t>> leaves;
    for (const auto &[extent, stride] : layout->getLeaves()) {
      if (extent.is(1))
        continue;
      if (stride.isBasis())
        return false;
      if (!extent.isStatic() || !stride.isStatic()) {
        fail(13, "compactness of " + toString(*layout) + " needs static leaves");
        return false;
      }
      leaves.emplace_back(stride.value, extent.value);
    }
    sort(leaves);
    int64_t next = 1;
    for (auto [stride, extent] : leaves) {
      if (stride != next)
        return false;
      next *= extent;
    }
    return true;
  }
  SmallVector<IntTuple> values = table(map);
  std::vector<bool> seen(values.size());
  for (const IntTuple &value : values) {
    if (value.isTuple())
      return false;
    int64_t index = value.getLeaf().value;
    if (index < 0 || index >= int64_t(seen.size()) || seen[index])
      return false;
    seen[index] = true;
  }
  return !failed();
}

} // namespace atrex::layout
