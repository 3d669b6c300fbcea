//===- Composition.cpp - Coalesce, composition, complement, inverses ---===//
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
// Leaves
//===----------------------------------------------------------------------===//

Algebra::Leaves Algebra::toLeaves(const Layout &layout) {
  Leaves leaves;
  for (auto &[extent, stride] : layout.getLeaves())
    leaves.push_back({extent, stride});
  return leaves;
}

Layout Algebra::fromLeaves(ArrayRef<Leaf> leaves) {
  if (leaves.empty())
    return Layout();
  std::vector<IntTuple> shape, stride;
  for (const Leaf &leaf : leaves) {
    shape.push_back(leaf.extent);
    stride.push_back(leaf.stride);
  }
  return Layout(IntTuple::tuple(std::move(shape)), IntTuple::tuple(std::move(stride)));
}

/// Whether a leaf of this extent and stride is followed by one of stride
/// `next` without a gap; only static equality counts as a proof.
static bool continues(const Int &extent, const Int &stride, const Int &next) {
  if (stride.is(0))
    return next.is(0);
  if (!extent.isStatic() || !stride.isStatic() || !next.isStatic() || stride.path != next.path)
    return false;
  int64_t product;
  return !__builtin_mul_overflow(extent.value, stride.value, &product) && product == next.value;
}

Algebra::Leaves Algebra::coalesceLeaves(ArrayRef<Leaf> leaves) {
  Leaves result;
  for (const Leaf &leaf : leaves) {
    if (leaf.extent.is(1))
      continue;
    if (!result.empty() && continues(result.back().extent, result.back().stride, leaf.stride))
      result.back().extent = mul(result.back().extent, leaf.extent);
    else
      result.push_back(leaf);
  }
  return result;
}

Algebra::Leaves Algebra::coalesceExtended(const Layout &layout) {
  Leaves leaves = toLeaves(layout);
  Leaf last = leaves.pop_back_val();
  Leaves body = coalesceLeaves(leaves);
  if (!body.empty() && continues(body.back().extent, body.back().stride, last.stride)) {
    body.back().extent = mul(body.back().extent, last.extent);
    return body;
  }
  body.push_back(last);
  return body;
}

Map Algebra::coalesce(const Map &map, const IntTuple *profile) {
  return mapOuter(map, [&](const Layout &layout) -> Map {
    std::function<Layout(const Layout &, const IntTuple *)> apply = [&](const Layout &part, const IntTuple *guide) {
      if (!guide || guide->isLeaf())
        return fromLeaves(coalesceLeaves(toLeaves(part)));
      if (part.shape.isLeaf() || guide->getRank() > part.getRank()) {
        fail(5, "profile " + toString(*guide) + " has more modes than " + toString(part));
        return Layout();
      }
      std::vector<Layout> modes = part.getModes();
      for (unsigned i = 0; i < guide->getRank(); ++i)
        modes[i] = apply(modes[i], &(*guide)[i]);
      return concat(modes);
    };
    return apply(layout, profile);
  });
}

Layout Algebra::filter(const Map &map) {
  Layout result;
  mapOuter(map, [&](const Layout &layout) -> Map {
    Leaves kept;
    for (const Leaf &leaf : toLeaves(layout))
      if (!leaf.stride.is(0))
        kept.push_back(leaf);
    result = fromLeaves(coalesceLeaves(kept));
    return result;
  });
  if (map.getComposed())
    fail(17, "filter of the composed layout " + toString(map));
  return result;
}

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

/// The largest digit that all leaves of the right operand reach in each leaf
/// of the left one.
struct Algebra::Used {
  SmallVector<Int> digits;
};

Algebra::Leaves Algebra::composeLeaf(ArrayRef<Leaf> left, const Int &extent, const Int &stride, Used &used) {
  Leaves result;
  if (extent.is(1))
    return result;
  if (stride.is(0)) {
    result.push_back({extent, 0});
    return result;
  }
  if (stride.isStatic() && stride.value < 0) {
    fail(10, "cannot compose: stride " + toString(stride) + " of the right operand is negative");
    return result;
  }
  Int n = extent, s = stride;
  auto emitLeaf = [&](unsigned index) {
    if (!n.is(1))
      result.push_back({n, mul(s, left[index].stride)});
    // The last leaf is unbounded; the others are emitted with static numbers.
    if (index + 1 < left.size())
      used.digits[index] = add(used.digits[index], mul(sub(n, 1), s));
  };
  auto describe = [&](unsigned index) {
    SmallVector<Leaf> copy(left);
    return ("extent " + toString(left[index].extent) + " of leaf " + Twine(index) + " of " + toString(fromLeaves(copy)))
        .str();
  };
  for (unsigned k = 0; k < left.size() && !failed(); ++k) {
    if (n.is(1))
      break;
    const Int &a = left[k].extent;
    if (k + 1 == left.size()) {
      // Unbounded.
      emitLeaf(k);
      break;
    }
    if (a.isStatic() && s.isStatic()) {
      if (s.value >= a.value) {
        if (s.value % a.value != 0) {
          fail(10, "cannot compose: " + describe(k) + " does not divide stride " + toString(s));
          break;
        }
        s = s.value / a.value;
        continue;
      }
      if (n.isStatic() && static_cast<__int128>(n.value - 1) * s.value < a.value) {
        emitLeaf(k);
        n = 1;
        break;
      }
      if (a.value % s.value != 0) {
        fail(10, "cannot compose: stride " + toString(s) + " does not divide " + describe(k));
        break;
      }
      Int m = a.value / s.value;
      if (!requireDivides(m, n, 10, "cannot compose: extent of the right operand"))
        break;
      Int whole = n;
      n = m;
      emitLeaf(k);
      n = div(whole, m);
      s = 1;
      continue;
    }
    if (a.isDynamic() && s.isStatic() && n.isStatic() && static_cast<__int128>(n.value - 1) * s.value < a.value) {
      // An extent is positive and so at least as large as its divisor.
      emitLeaf(k);
      n = 1;
      break;
    }
    if (s.isDynamic() && a.isStatic() && a.value != 1 && s.isMultipleOf(a.getDivisor())) {
      // A stride is positive, so a multiple of the extent passes over it.
      s = div(s, a);
      continue;
    }
    fail(10, "cannot compose: cannot prove how extent " + toString(n) + " with stride " + toString(s) +
                 " of the right operand falls into " + describe(k));
  }
  return coalesceLeaves(result);
}

void Algebra::checkNoCarry(ArrayRef<Leaf> left, const Used &used) {
  for (unsigned k = 0; k + 1 < left.size(); ++k) {
    // An extent is positive and so at least as large as its divisor.
    const Int &a = left[k].extent, &digit = used.digits[k];
    if (digit.isStatic() && digit.value < a.value)
      continue;
    if (a.isStatic())
      return fail(11, "cannot compose: modes of the right operand carry out of extent " + toString(a) +
                          " (largest digit " + toString(digit) + ")");
    return fail(11, "cannot compose: cannot prove that the digits of the right operand, up to " + toString(digit) +
                        ", stay below extent " + toString(a));
  }
}

Layout Algebra::composeLayout(const Layout &lhs, const Layout &rhs) {
  checkLayout(lhs);
  checkLayout(rhs);
  Paths paths;
  if (failed() || (rhs.hasBasis() && !collectPaths(rhs, false, paths)))
    return Layout();
  // Coalesced left leaves and used digits by the mode a basis element names.
  std::map<std::vector<int32_t>, std::pair<Leaves, Used>> targets;
  auto getTarget = [&](ArrayRef<int32_t> path) -> std::pair<Leaves, Used> * {
    std::vector<int32_t> key(path.begin(), path.end());
    auto [entry, fresh] = targets.try_emplace(key);
    if (fresh) {
      Layout part = lhs;
      for (int32_t mode : path) {
        if (mode >= int32_t(part.getRank())) {
          fail(29, "basis element E" + Twine(mode) + " names no mode of " + toString(part));
          return nullptr;
        }
        part = part.getMode(mode);
      }
      entry->second.first = coalesceExtended(part);
      entry->second.second.digits.resize(entry->second.first.size());
    }
    return &entry->second;
  };
  std::function<Layout(const IntTuple &, const IntTuple &)> visit = [&](const IntTuple &shape,
                                                                        const IntTuple &stride) -> Layout {
    if (failed())
      return Layout();
    if (shape.isTuple()) {
      SmallVector<Layout> modes;
      for (unsigned i = 0; i < shape.getRank(); ++i)
        modes.push_back(visit(shape[i], stride[i]));
      return concat(modes);
    }
    const Int &step = stride.getLeaf();
    std::pair<Leaves, Used> *target = getTarget(step.path);
    if (!target)
      return Layout();
    Leaves leaves = composeLeaf(target->first, shape.getLeaf(), step.getCoefficient(), target->second);
    checkNoCarry(target->first, target->second);
    return fromLeaves(leaves);
  };
  return visit(rhs.shape, rhs.stride);
}

Map Algebra::composition(const Map &lhs, const Map &rhs) {
  if (failed())
    return Map();
  if (lhs.getSwizzle() || lhs.getCoordSwizzle())
    return makeComposed(lhs, 0, rhs);
  const Layout *right = rhs.getLayout();
  if (!right) {
    fail(17, "composition with " + toString(rhs) + " on the right: keep it as a composed layout");
    return Map();
  }
  return mapOuter(lhs, [&](const Layout &layout) -> Map { return composeLayout(layout, *right); });
}

Map Algebra::byMode(const Layout &layout, const Tile &tiler, function_ref<Layout(const Layout &, const Layout &)> op) {
  std::vector<Layout> modes = layout.getModes();
  if (tiler.modes.size() > modes.size()) {
    fail(31, "tiler " + toString(tiler) + " has " + Twine(tiler.modes.size()) + " modes but " + toString(layout) +
                 " has rank " + Twine(modes.size()));
    return Map();
  }
  for (auto [i, mode] : enumerate(modes)) {
    if (failed())
      return Map();
    if (i < tiler.modes.size() && tiler.modes[i])
      mode = op(mode, *tiler.modes[i]);
    else
      mode = zeroUnits(mode);
  }
  return concat(modes);
}

Map Algebra::composition(const Map &lhs, const Tile &tiler) {
  return mapOuter(lhs, [&](const Layout &layout) {
    return byMode(layout, tiler, [&](const Layout &mode, const Layout &tile) { return composeLayout(mode, tile); });
  });
}

bool Algebra::compositionExact(const Map &lhs, const Map &rhs) {
  const Layout *right = rhs.getLayout(), *left = lhs.getLayout();
  for (const Composed *composed = lhs.getComposed(); composed && !left; composed = composed->outer.getComposed())
    left = composed->outer.getLayout();
  if (!right || !left)
    return false;
  // Each basis element moves in a mode of its own, which has its own end.
  Algebra probe;
  std::map<std::vector<int32_t>, Int> reach;
  probe.check(Value(rhs));
  for (const auto &[extent, stride] : right->getLeaves()) {
    if (extent.is(1) || stride.is(0))
      continue;
    if (stride.isStatic() && stride.value < 0)
      return false;
    Int &sum = reach.try_emplace(std::vector<int32_t>(stride.path.begin(), stride.path.end()), 0).first->second;
    sum = probe.add(sum, probe.mul(probe.sub(extent, 1), stride.getCoefficient()));
  }
  for (const auto &[path, last] : reach) {
    Layout part = *left;
    for (int32_t mode : path) {
      if (mode >= int32_t(part.getRank()))
        return false;
      part = part.getMode(mode);
    }
    Int room = probe.size(Value(Map(part)));
    if (probe.failed() || !last.isStatic() || !room.isStatic() || last.value >= room.value)
      return false;
  }
  return !probe.failed();
}

//===----------------------------------------------------------------------===//
// Complement and inverses
//===----------------------------------------------------------------------===//

bool Algebra::requirePlain(const Map &map, StringRef what, Layout &plain) {
  if (failed())
    return false;
  const Layout *layout = map.getLayout();
  if (!layout) {
    fail(17, what + Twine(" is not defined for ") + toString(map));
    return false;
  }
  checkLayout(*layout);
  if (failed())
    return false;
  for (const auto &[extent, stride] : layout->getLeaves()) {
    if (stride.isBasis()) {
      fail(14, what + Twine(" needs an integer codomain, ") + toString(*layout) + " has coordinate-valued strides");
      return false;
    }
    if (stride.isStatic() && stride.value < 0) {
      fail(15, what + Twine(" needs non-negative strides, ") + toString(*layout) + " has " + toString(stride));
      return false;
    }
  }
  plain = *layout;
  return true;
}

SmallVector<Algebra::SortedLeaf> Algebra::sortLeaves(const Layout &layout, StringRef what, bool strict) {
  SmallVector<SortedLeaf> leaves;
  Int position = 1;
  auto all = layout.getLeaves();
  for (auto [i, leaf] : enumerate(all)) {
    if (!leaf.first.is(1) && !leaf.second.is(0))
      leaves.push_back({leaf.first, leaf.second, position, unsigned(i)});
    if (i + 1 < all.size())
      position = mul(position, leaf.first);
  }
  if (!strict)
    erase_if(leaves, [](const SortedLeaf &leaf) { return leaf.stride.isDynamic(); });
  for (const SortedLeaf &leaf : leaves)
    if (leaf.stride.isDynamic() && leaves.size() > 1) {
      fail(13, what + Twine(" of ") + toString(layout) + ": a dynamic stride is allowed only with one leaf");
      return {};
    }
  // A dynamic stride is alone at this point.
  sort(leaves, [](const SortedLeaf &a, const SortedLeaf &b) {
    return std::pair(a.stride.value, a.index) < std::pair(b.stride.value, b.index);
  });
  for (const SortedLeaf &leaf : ArrayRef(leaves).drop_back(leaves.empty() ? 0 : 1))
    if (strict && leaf.extent.isDynamic()) {
      fail(13, what + Twine(" of ") + toString(layout) +
                   ": a dynamic extent is allowed only in the leaf of largest stride");
      return {};
    }
  return leaves;
}

Layout Algebra::complement(const Map &map, const IntTuple *codomain) {
  Layout layout;
  if (!requirePlain(map, "complement", layout))
    return Layout();
  Int limit = codomain ? product(*codomain) : cosize(layout);
  if (limit.isStatic() && limit.value < 1)
    fail(2, "codomain size " + toString(limit) + " is not positive");
  if (failed())
    return Layout();
  Leaves rest;
  Int current = 1;
  for (const SortedLeaf &leaf : sortLeaves(layout, "complement", true)) {
    if (leaf.stride.isStatic() && current.isStatic()) {
      if (leaf.stride.value < current.value) {
        fail(12, "layout " + toString(layout) + " has overlapping modes: stride " + toString(leaf.stride) +
                     " is below the span " + toString(current));
        return Layout();
      }
      rest.push_back({leaf.stride.value / current.value, current});
    } else {
      rest.push_back({divU(leaf.stride, current), current});
    }
    current = mul(leaf.extent, leaf.stride);
  }
  rest.push_back({ceilDiv(limit, current), current});
  return failed() ? Layout() : fromLeaves(coalesceLeaves(rest));
}

bool Algebra::complementExact(const Map &map, const IntTuple *codomain) {
  Layout rest = complement(map, codomain);
  if (failed())
    return false;
  Int limit = codomain ? product(*codomain) : cosize(map);
  Int current = 1;
  for (const SortedLeaf &leaf : sortLeaves(*map.getLayout(), "complement", true)) {
    // Each stride is a multiple of the span below it.
    if (!current.isStatic() || !leaf.stride.isMultipleOf(current.getDivisor()))
      return false;
    current = mul(leaf.extent, leaf.stride);
  }
  return !failed() && current.isStatic() && limit.isMultipleOf(current.getDivisor());
}

Layout Algebra::rightInverse(const Layout &layout, bool strict) {
  Leaves inverse;
  Int current = 1;
  for (const SortedLeaf &leaf : sortLeaves(layout, "right_inverse", strict)) {
    if (!leaf.stride.isStatic() || !current.isStatic() || leaf.stride.value != current.value)
      break;
    inverse.push_back({leaf.extent, leaf.position});
    current = mul(current, leaf.extent);
  }
  return failed() ? Layout() : fromLeaves(coalesceLeaves(inverse));
}

/// Whether the swizzle maps [0, size) onto itself.
static bool keepsRange(const Swizzle &swizzle, int64_t size) {
  int64_t block = swizzle.getBlock();
  int64_t rest = size % block, start = size - rest;
  if (rest == 0)
    return true;
  if (swizzle.shift > 0) {
    // Within the last block all indices are XORed with one number.
    int64_t flipped = swizzle(start) - start;
    if (flipped == 0)
      return true;
    int64_t aligned = 1;
    while (aligned <= flipped)
      aligned *= 2;
    return rest % aligned == 0;
  }
  // The index 2^m of a block moves by 2^(m-s) upwards, past every shorter rest
  // that contains it; if the rest is longer than 2^(m-s), its rows would have to
  // be closed under XOR with all numbers below 2^b, which only whole blocks are.
  return rest <= int64_t(1) << swizzle.base;
}

Map Algebra::rightInverse(const Map &map) {
  if (failed())
    return Map();
  if (const Composed *composed = map.getComposed()) {
    const Swizzle *swizzle = composed->inner.getSwizzle();
    const Layout *outer = composed->outer.getLayout();
    check(Value(map));
    if (failed())
      return Map();
    if (!swizzle || !outer || composed->offset.isTuple() || !composed->offset.getLeaf().is(0)) {
      fail(17, "right_inverse of " + toString(map) + " needs a swizzle, offset 0 and a plain outer layout");
      return Map();
    }
    Layout plain;
    if (!requirePlain(*outer, "right_inverse", plain))
      return Map();
    Layout inverse = rightInverse(plain, true);
    Int count = product(inverse.shape);
    if (failed())
      return Map();
    bool whole = count.isStatic() ? keepsRange(*swizzle, count.value) : count.isMultipleOf(swizzle->getBlock());
    if (!whole) {
      fail(17, "right_inverse of " + toString(map) + ": " + toString(count) +
                   " elements are not a whole number of swizzle blocks of " + Twine(swizzle->getBlock()));
      return Map();
    }
    return Composed{inverse, 0, *swizzle};
  }
  Layout layout;
  if (!requirePlain(map, "right_inverse", layout))
    return Map();
  return rightInverse(layout, true);
}

Layout Algebra::leftInverse(const Map &map) {
  Layout layout;
  if (!requirePlain(map, "left_inverse", layout))
    return Layout();
  for (const auto &[extent, stride] : layout.getLeaves())
    if (!extent.is(1) && stride.is(0)) {
      fail(16, "left_inverse of " + toString(layout) + ", which is not injective: extent " + toString(extent) +
                   " has stride 0");
      return Layout();
    }
  SmallVector<SortedLeaf> leaves = sortLeaves(layout, "left_inverse", true);
  Leaves inverse;
  Int step = 1, position = 0;
  for (auto [i, leaf] : enumerate(leaves)) {
    if (step.isStatic() && leaf.stride.isStatic()) {
      if (leaf.stride.value % step.value != 0) {
        fail(16, "left_inverse of " + toString(layout) + ": sorted strides " + toString(step) + " and " +
                     toString(leaf.stride) + " are not a divisor chain");
        return Layout();
      }
      int64_t room = leaf.stride.value / step.value;
      if (i > 0 && leaves[i - 1].extent.isStatic() && leaves[i - 1].extent.value > room) {
        fail(16, "left_inverse of " + toString(layout) + ", which is not injective: stride " + toString(leaf.stride) +
                     " is below the span " + Twine(leaves[i - 1].extent.value) + "*" + toString(step));
        return Layout();
      }
      inverse.push_back({room, position});
    } else {
      inverse.push_back({divU(leaf.stride, step), position});
    }
    step = leaf.stride;
    position = leaf.position;
  }
  inverse.push_back({leaves.empty() ? Int(1) : leaves.back().extent, position});
  return failed() ? Layout() : fromLeaves(coalesceLeaves(inverse));
}

} // namespace atrex::layout
