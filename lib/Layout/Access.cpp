//===- Access.cpp - Recast, vectorization, partitions ---===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Algebra.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Recast
//===----------------------------------------------------------------------===//

Layout Algebra::recastLayout(const Layout &layout, int64_t ratio, bool widen) {
  Layout plain;
  if (widen) {
    if (!requirePlain(layout, "recast to a wider type", plain))
      return Layout();
    // What fills the wide elements: inner parts, which must be a chain from
    // stride 1 up to the ratio. (The generating function of a full group is
    // that of [0, ratio), and such a sum of progressions is a chain.)
    std::vector<std::pair<int64_t, int64_t>> inner;
    SmallVector<Int> strides;
    IntTuple shape = zipMap(
        [&](const Int &extent, const Int &stride) -> Int {
          if (failed() || extent.is(1) || stride.is(0)) {
            strides.push_back(0);
            return extent;
          }
          if (stride.isMultipleOf(ratio)) {
            strides.push_back(div(stride, ratio));
            return extent;
          }
          strides.push_back(0);
          if (stride.isDynamic() || ratio % stride.value != 0) {
            fail(19, stride.isDynamic()
                         ? "recast: cannot prove that " + Twine(ratio) + " divides stride " + toString(stride)
                         : "recast: stride " + toString(stride) + " and ratio " + Twine(ratio) +
                               " do not divide each other");
            return extent;
          }
          int64_t group = ratio / stride.value;
          if (extent.isStatic() && group % extent.value == 0 && extent.value != group) {
            inner.emplace_back(stride.value, extent.value);
            return 1;
          }
          if (!requireDivides(group, extent, 19, "recast: extent of stride " + toString(stride)))
            return extent;
          inner.emplace_back(stride.value, group);
          Int rest = div(extent, group);
          strides.back() = rest.is(1) ? 0 : 1;
          return rest;
        },
        layout.shape, layout.stride);
    if (failed())
      return Layout();
    sort(inner);
    int64_t next = 1;
    for (auto [stride, extent] : inner)
      next = stride == next ? next * extent : 0;
    if (next != ratio) {
      fail(19, "recast: the elements of " + toString(layout) + " do not fill whole groups of " + Twine(ratio));
      return Layout();
    }
    unsigned position = 0;
    IntTuple stride = layout.stride.map([&](const Int &) { return strides[position++]; });
    return zeroUnits(Layout(shape, stride));
  }
  checkLayout(layout);
  if (!failed() && layout.hasBasis())
    fail(14, "recast needs an integer codomain, " + toString(layout) + " has coordinate-valued strides");
  if (failed())
    return Layout();
  auto leaves = layout.getLeaves();
  std::optional<unsigned> unit, wide;
  for (auto [i, leaf] : enumerate(leaves)) {
    if (!leaf.second.is(1))
      continue;
    if (!unit)
      unit = i;
    if (leaf.first.is(1))
      continue;
    if (wide) {
      fail(20, "recast to a narrower type needs exactly one leaf of stride 1, " + toString(layout) + " has several");
      return Layout();
    }
    wide = i;
  }
  if (!unit) {
    fail(20, "recast to a narrower type needs a leaf of stride 1, " + toString(layout) + " has none");
    return Layout();
  }
  // The elements of a unit leaf grow only if no other leaf turns out to be the
  // one that counts them.
  if (!wide)
    for (const auto &[extent, stride] : leaves)
      if (stride.isDynamic() && stride.value == 1 && !extent.is(1)) {
        fail(20,
             "recast to a narrower type: cannot prove that stride " + toString(stride) + " of " + toString(layout) +
                 " differs from 1",
             "give the stride a divisor, such as '?{div=2}'");
        return Layout();
      }
  unsigned pick = wide.value_or(*unit), position = 0;
  SmallVector<Int> strides;
  IntTuple shape = zipMap(
      [&](const Int &extent, const Int &stride) -> Int {
        bool picked = position++ == pick;
        if (picked)
          strides.push_back(1);
        else
          strides.push_back(extent.is(1) ? Int(0) : mul(stride, ratio));
        return picked ? mul(extent, ratio) : extent;
      },
      layout.shape, layout.stride);
  position = 0;
  IntTuple stride = layout.stride.map([&](const Int &) { return strides[position++]; });
  Layout result(shape, stride);
  checkLayout(result);
  return failed() ? Layout() : result;
}

Map Algebra::recast(const Map &map, int64_t from, int64_t to) {
  if (failed())
    return Map();
  check(Value(map));
  if (from < 1 || to < 1 || from > (1 << 20) || to > (1 << 20))
    fail(18, "recast from " + Twine(from) + " to " + Twine(to) + " bits: widths are between 1 and 2^20");
  if (failed() || from == to)
    return failed() ? Map() : map;
  int64_t big = std::max(from, to), small = std::min(from, to);
  if (big % small != 0) {
    fail(18, "recast: " + Twine(big) + " bits are not a multiple of " + Twine(small) + " bits");
    return Map();
  }
  int64_t ratio = big / small;
  bool widen = to > from;
  if (const Swizzle *swizzle = map.getSwizzle()) {
    if (!isPowerOf2_64(ratio)) {
      fail(18, "recast of " + toString(*swizzle) + " needs a ratio that is a power of two, got " + Twine(ratio));
      return Map();
    }
    int log = Log2_64(ratio);
    if (!widen)
      return makeSwizzle(swizzle->bits, swizzle->base + log, swizzle->shift);
    if (!swizzle->isIdentity() && swizzle->base < log) {
      fail(22, "recast of " + toString(*swizzle) + ": base " + Twine(swizzle->base) + " is below log2(" + Twine(ratio) +
                   "), elements inside one wide element would change order");
      return Map();
    }
    return makeSwizzle(swizzle->bits, std::max(swizzle->base - log, 0), swizzle->shift);
  }
  if (const Composed *composed = map.getComposed()) {
    if (!composed->inner.getSwizzle()) {
      fail(17, "recast of " + toString(map) + ": the inner part must be a swizzle");
      return Map();
    }
    if (composed->offset.isTuple()) {
      fail(14, "recast of " + toString(map) + ": the offset must be an integer");
      return Map();
    }
    Int offset = composed->offset.getLeaf();
    if (widen) {
      if (!requireDivides(ratio, offset, 19, "recast: offset"))
        return Map();
      offset = div(offset, ratio);
    } else {
      offset = mul(offset, ratio);
    }
    Map inner = recast(composed->inner, from, to), outer = recast(composed->outer, from, to);
    return failed() ? Map() : Map(Composed{inner, offset, outer});
  }
  if (map.getCoordSwizzle()) {
    fail(17, "recast of " + toString(map));
    return Map();
  }
  return recastLayout(*map.getLayout(), ratio, widen);
}

//===----------------------------------------------------------------------===//
// Vectorization measures
//===----------------------------------------------------------------------===//

int64_t Algebra::maxCommonVector(const Map &lhs, const Map &rhs) {
  Int leftSize = size(Value(lhs)), rightSize = size(Value(rhs));
  if (failed())
    return 1;
  if (leftSize.isStatic() && rightSize.isStatic() && leftSize.value != rightSize.value) {
    fail(30, "sizes differ: " + toString(lhs) + " has " + toString(leftSize) + " elements, " + toString(rhs) + " has " +
                 toString(rightSize));
    return 1;
  }
  Layout plain;
  if (!requirePlain(rhs, "max_common_vector", plain))
    return 1;
  if (!lhs.getLayout()) {
    fail(17, "max_common_vector is not defined for " + toString(lhs));
    return 1;
  }
  // Dynamic strides stay out of the chain: what remains holds for all values.
  Layout inverse = rightInverse(plain, false);
  if (failed())
    return 1;
  // A dynamic extent is the last of the chain and at least its divisor: so many
  // elements are there for all values, and more are not claimed.
  inverse.shape = inverse.shape.map([](const Int &extent) { return Int(int64_t(extent.getDivisor())); });
  Algebra probe;
  Layout common = probe.composeLayout(*lhs.getLayout(), inverse);
  if (!probe.failed()) {
    Leaf first = probe.toLeaves(probe.fromLeaves(probe.coalesceLeaves(probe.toLeaves(common)))).front();
    return first.stride.is(1) ? static_cast<int64_t>(first.extent.getDivisor()) : 1;
  }
  // No layout describes lhs after the inverse: count.
  if (!lhs.getLayout()->isStatic() || !inverse.isStatic())
    return 1;
  int64_t limit = probe.product(inverse.shape).value, run = 0;
  probe.reset();
  SmallVector<Leaf> dense;
  for (const Leaf &leaf : toLeaves(*lhs.getLayout()))
    if (!leaf.extent.is(1))
      dense.push_back(leaf);
  const Map left = fromLeaves(dense);
  for (int64_t count = std::min(limit, enumerationLimit); run < count; ++run) {
    IntTuple position = probe.crd2idx(IntTuple(run), inverse);
    IntTuple image = probe.crd2idx(position, left);
    if (probe.failed() || !image.isLeaf() || !image.getLeaf().is(run))
      break;
  }
  for (; run > 1 && limit % run != 0; --run)
    ;
  return std::max<int64_t>(run, 1);
}

int64_t Algebra::maxAlignment(const Map &map) {
  Layout layout;
  if (!requirePlain(map, "max_alignment", layout))
    return 1;
  uint64_t alignment = 1;
  Int current = 1;
  SmallVector<bool> used(layout.shape.getNumLeaves());
  // The chain of right_inverse, by leaf.
  SmallVector<unsigned> order;
  auto leaves = layout.getLeaves();
  for (unsigned i = 0; i < leaves.size(); ++i)
    if (!leaves[i].first.is(1) && leaves[i].second.isStatic() && !leaves[i].second.is(0))
      order.push_back(i);
  sort(order, [&](unsigned a, unsigned b) {
    return std::pair(leaves[a].second.value, a) < std::pair(leaves[b].second.value, b);
  });
  for (unsigned i : order) {
    if (!current.isStatic() || leaves[i].second.value != current.value)
      break;
    used[i] = true;
    alignment = mulDivisors(current.value, leaves[i].first.getDivisor());
    current = mul(current, leaves[i].first);
    if (failed())
      return 1;
  }
  for (auto [i, leaf] : enumerate(leaves))
    if (!used[i] && !leaf.first.is(1))
      alignment = std::gcd(alignment, leaf.second.getDivisor());
  return std::max<int64_t>(alignment, 1);
}

int64_t Algebra::vectorWidth(const Map &source, const Map &destination, int64_t elementBits, int64_t sourceAlign,
                             int64_t destinationAlign, int64_t maxBits, const Swizzle &swizzle) {
  if (elementBits < 8 || elementBits % 8 != 0) {
    fail(27, "vector_width needs elements of whole bytes, got " + Twine(elementBits) + " bits");
    return 1;
  }
  if (sourceAlign < 1 || destinationAlign < 1 || maxBits < 1) {
    fail(27, "vector_width needs positive alignments and a positive access width");
    return 1;
  }
  check(Value(Map(swizzle)));
  uint64_t bytes = elementBits / 8;
  uint64_t width = maxCommonVector(source, destination);
  width = std::gcd(width, static_cast<uint64_t>(maxAlignment(source)));
  width = std::gcd(width, static_cast<uint64_t>(maxAlignment(destination)));
  if (failed())
    return 1;
  auto limit = [&](uint64_t elements) { width = std::gcd(width, std::max<uint64_t>(elements, 1)); };
  limit(sourceAlign / bytes);
  limit(destinationAlign / bytes);
  if (!swizzle.isIdentity())
    limit((uint64_t(1) << swizzle.base) / bytes);
  limit(maxBits / elementBits);
  return width & (0 - width);
}

//===----------------------------------------------------------------------===//
// Thread-value layouts and partitions
//===----------------------------------------------------------------------===//

bool Algebra::checkTV(const Layout &tv, const Int &tile) {
  checkLayout(tv);
  if (!failed() && tv.hasBasis())
    fail(14, "a thread-value layout needs an integer codomain, " + toString(tv) + " has coordinate-valued strides");
  if (failed())
    return false;
  Int count = product(tv.shape);
  bool bijection = compact(tv);
  if (failed())
    return false;
  if (bijection && count == tile)
    return true;
  // Find two owners of one element for the message.
  std::string text = "thread-value layout " + toString(tv) + " does not cover " + toString(tile) + " elements once";
  Algebra probe;
  SmallVector<IntTuple> values = probe.table(tv);
  if (!bijection && !probe.failed()) {
    std::map<int64_t, int64_t> owners;
    for (auto [i, value] : enumerate(values)) {
      auto [owner, fresh] = owners.try_emplace(value.getLeaf().value, i);
      if (fresh)
        continue;
      auto name = [&](int64_t index) {
        return toString(
            tv.shape.isTuple() && tv.getRank() == 2
                ? IntTuple::tuple({index % probe.product(tv.shape[0]).value, index / probe.product(tv.shape[0]).value})
                : IntTuple(index));
      };
      text = "thread-value layout maps " + name(owner->second) + " and " + name(i) + " to element " +
             toString(value.getLeaf());
      break;
    }
  }
  fail(25, text);
  return false;
}

Layout Algebra::makeLayoutTV(const Layout &threads, const Layout &values, IntTuple *tile) {
  Layout product = rakedProduct(threads, Value(Map(values)));
  if (failed())
    return Layout();
  IntTuple extents = std::max(threads.getRank(), values.getRank()) > 1 ? productEach(product.shape)
                                                                       : IntTuple(this->product(product.shape));
  Map inverse = rightInverse(Map(product));
  Int count = this->product(threads.shape), each = this->product(values.shape);
  if (failed())
    return Layout();
  Layout tv = composeLayout(*inverse.getLayout(), Layout(IntTuple::tuple({count, each}), IntTuple::tuple({1, count})));
  if (!failed())
    checkTV(tv, this->product(extents));
  if (failed())
    return Layout();
  if (tile)
    *tile = extents;
  return tv;
}

Partition Algebra::copyPartition(const Layout &tensor, const Layout &tv, const IntTuple &tile, int64_t valuesPerAccess,
                                 const Int &thread) {
  checkLayout(tensor);
  checkLayout(tv);
  checkShape(tile);
  if (failed())
    return {};
  if (tile.getRank() > tensor.getRank()) {
    fail(31, "tile " + toString(tile) + " has more modes than the tensor " + toString(tensor));
    return {};
  }
  if (tv.getRank() != 2) {
    fail(25, "thread-value layout " + toString(tv) + " must have two modes");
    return {};
  }
  checkTV(tv, product(tile));
  SmallVector<Layout> tiles, rests;
  for (auto [i, mode] : enumerate(tensor.getModes())) {
    Int extent = i < tile.getRank() ? product(tile[i]) : Int(1);
    if (!requireDivides(extent, product(mode.shape), 26, "tile extent of mode " + Twine(i)))
      return {};
    Layout divided = divideLayout(mode, Layout(extent, extent.is(1) ? 0 : 1), false);
    if (failed())
      return {};
    tiles.push_back(divided.getMode(0));
    rests.push_back(divided.getMode(1));
  }
  Int threads = product(tv.shape[0]), values = product(tv.shape[1]);
  if (thread.isStar() || thread.isBasis() ||
      (thread.isStatic() && (thread.value < 0 || thread.value >= threads.value))) {
    fail(26, "thread " + toString(thread) + " is outside [0," + toString(threads) + ")");
    return {};
  }
  if (valuesPerAccess < 1 || values.value % valuesPerAccess != 0) {
    fail(27,
         Twine(valuesPerAccess) + " values per access do not divide the " + toString(values) + " values of a thread");
    return {};
  }
  Layout mine = composeLayout(concat(tiles), tv);
  if (failed())
    return {};
  Layout split = divideLayout(mine.getMode(1), Layout(valuesPerAccess, valuesPerAccess == 1 ? 0 : 1), false);
  SmallVector<Layout> modes = {split};
  append_range(modes, rests);
  IntTuple offset = crd2idx(IntTuple(thread), mine.getMode(0));
  return failed() ? Partition() : Partition{concat(modes), offset};
}

Partition Algebra::mmaPartition(const Layout &tensor, const Layout &tv, ArrayRef<int64_t> atomShape,
                                const Layout &atoms, char operand, const Int &thread, const Tile *permutation) {
  checkLayout(tensor);
  checkLayout(tv);
  checkLayout(atoms);
  if (failed())
    return {};
  SmallVector<unsigned> dims;
  if (operand == 'A')
    dims = {0, 2};
  else if (operand == 'B')
    dims = {1, 2};
  else
    dims = {0, 1};
  if (operand != 'A' && operand != 'B' && operand != 'C') {
    fail(28, "operand '" + Twine(operand) + "' is none of A, B and C");
    return {};
  }
  if (atomShape.size() != 3 || any_of(atomShape, [](int64_t extent) { return extent < 1; })) {
    fail(28, "an atom shape is three positive extents M, N, K");
    return {};
  }
  if (atoms.getRank() != 3 || !atoms.isStatic() || atoms.hasBasis()) {
    fail(28, "atom layout " + toString(atoms) + " must have three static modes over M, N, K");
    return {};
  }
  if (tensor.getRank() != 2 || tv.getRank() != 2 || !tv.isStatic()) {
    fail(28, "operand " + Twine(operand) + ": tensor " + toString(tensor) + " and thread-value layout " + toString(tv) +
                 " must have two modes");
    return {};
  }
  checkTV(tv, mul(atomShape[dims[0]], atomShape[dims[1]]));
  if (failed())
    return {};
  Int lanes = product(tv.shape[0]), count = mul(lanes, product(atoms.shape));
  if (thread.isStar() || thread.isBasis() || (thread.isStatic() && (thread.value < 0 || thread.value >= count.value))) {
    fail(26, "thread " + toString(thread) + " is outside [0," + toString(count) + ")");
    return {};
  }
  Int lane = modU(thread, lanes), wave = divU(thread, lanes);
  IntTuple waveCoord = idx2crd(wave, atoms);
  SmallVector<Layout> tiles, rests;
  for (auto [i, tensorMode] : enumerate(tensor.getModes())) {
    Layout mode = tensorMode;
    int64_t atom = atomShape[dims[i]];
    Int repeat = product(atoms.shape[dims[i]]), step = mul(atom, repeat), extent = product(mode.shape);
    if (!requireDivides(step, extent, 28,
                        "operand " + Twine(operand) + ": " + Twine(atom) + "x" + toString(repeat) + " against mode " +
                            Twine(i)))
      return {};
    if (permutation && dims[i] < permutation->modes.size() && permutation->modes[dims[i]])
      mode = divideLayout(mode, *permutation->modes[dims[i]], false);
    if (failed())
      return {};
    Layout divided = divideLayout(mode, Layout(atom, atom == 1 ? 0 : 1), false);
    if (failed())
      return {};
    tiles.push_back(divided.getMode(0));
    rests.push_back(divideLayout(divided.getMode(1), Layout(repeat, repeat.is(1) ? 0 : 1), false));
    if (failed())
      return {};
  }
  Layout mine = composeLayout(concat(tiles), tv);
  if (failed())
    return {};
  IntTuple offset = crd2idx(IntTuple(lane), mine.getMode(0));
  SmallVector<Layout> modes = {mine.getMode(1)};
  for (auto [i, rest] : enumerate(rests)) {
    IntTuple which = colexIndex(waveCoord[dims[i]], atoms.shape[dims[i]]);
    offset = addOffset(offset, crd2idx(which, rest.getMode(0)), tensor.hasBasis());
    modes.push_back(rest.getMode(1));
  }
  return failed() ? Partition() : Partition{concat(modes), offset};
}

} // namespace atrex::layout
