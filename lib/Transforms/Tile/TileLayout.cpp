//===- TileLayout.cpp - Which work-item holds which element ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileLayout.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

TileLayout::TileLayout(atx::TileLayoutAttr attr) : threads(attr.getThreads()) {
  ArrayRef<int64_t> code = attr.getCode();
  for (size_t at = 0; at < code.size();) {
    SmallVector<Mode> modes;
    int64_t count = code[at++];
    for (int64_t i = 0; i < count; ++i, at += 3)
      modes.push_back({code[at], code[at + 1] != 0, code[at + 2]});
    dims.push_back(std::move(modes));
  }
  normalize();
}

atx::TileLayoutAttr TileLayout::getAttr(MLIRContext *context) const {
  SmallVector<int64_t> code;
  for (const SmallVector<Mode> &modes : dims) {
    code.push_back(modes.size());
    for (const Mode &mode : modes)
      code.append({mode.size, mode.isThread, mode.stride});
  }
  return atx::TileLayoutAttr::get(context, threads, code);
}

void TileLayout::normalize() {
  for (SmallVector<Mode> &modes : dims) {
    SmallVector<Mode> joined;
    for (const Mode &mode : modes) {
      if (mode.size == 1)
        continue;
      if (!joined.empty() && joined.back().isThread == mode.isThread &&
          joined.back().stride * joined.back().size == mode.stride)
        joined.back().size *= mode.size;
      else
        joined.push_back(mode);
    }
    modes = std::move(joined);
  }
}

void TileLayout::compactRegisters() {
  SmallVector<Mode *> registers;
  for (SmallVector<Mode> &modes : dims)
    for (Mode &mode : modes)
      if (!mode.isThread && mode.size > 1)
        registers.push_back(&mode);
  llvm::sort(registers, [](const Mode *a, const Mode *b) { return a->stride < b->stride; });
  int64_t next = 1;
  for (Mode *mode : registers) {
    mode->stride = next;
    next *= mode->size;
  }
  normalize();
}

int64_t TileLayout::getNumRegisters() const {
  int64_t product = 1;
  for (const SmallVector<Mode> &modes : dims)
    for (const Mode &mode : modes)
      if (!mode.isThread)
        product *= mode.size;
  return product;
}

int64_t TileLayout::getPaddedExtent(unsigned dim) const { return getStep(dim, dims[dim].size()); }

int64_t TileLayout::getStep(unsigned dim, unsigned mode) const {
  int64_t step = 1;
  for (unsigned i = 0; i < mode; ++i)
    step *= dims[dim][i].size;
  return step;
}

int64_t TileLayout::getRegisterCoordinate(unsigned dim, int64_t reg) const {
  int64_t coordinate = 0, step = 1;
  for (const Mode &mode : dims[dim]) {
    if (!mode.isThread)
      coordinate += reg / mode.stride % mode.size * step;
    step *= mode.size;
  }
  return coordinate;
}

int64_t TileLayout::getThreadCoordinate(unsigned dim, int64_t thread) const {
  int64_t coordinate = 0, step = 1;
  for (const Mode &mode : dims[dim]) {
    if (mode.isThread)
      coordinate += thread / mode.stride % mode.size * step;
    step *= mode.size;
  }
  return coordinate;
}

int64_t TileLayout::getThreadStep(unsigned dim) const {
  int64_t step = 1;
  for (const Mode &mode : dims[dim]) {
    if (mode.isThread && mode.size > 1)
      break;
    step *= mode.size;
  }
  return step;
}

uint64_t TileLayout::getThreadBits(unsigned dim) const {
  uint64_t bits = 0;
  for (const Mode &mode : dims[dim])
    if (mode.isThread)
      bits |= uint64_t(mode.size - 1) * mode.stride;
  return bits;
}

uint64_t TileLayout::getReplicaBits() const {
  uint64_t bits = threads - 1;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    bits &= ~getThreadBits(dim);
  return bits;
}

SmallVector<TileLayout::RegisterMode> TileLayout::getRegisterModes() const {
  SmallVector<RegisterMode> result;
  for (auto [dim, modes] : llvm::enumerate(dims))
    for (auto [i, mode] : llvm::enumerate(modes))
      if (!mode.isThread)
        result.push_back({unsigned(dim), unsigned(i), mode.size, mode.stride});
  llvm::sort(result, [](const RegisterMode &a, const RegisterMode &b) { return a.stride < b.stride; });
  return result;
}

int64_t TileLayout::getRunLength(unsigned dim) const {
  if (dims[dim].empty() || dims[dim].front().isThread || dims[dim].front().stride != 1)
    return 1;
  return dims[dim].front().size;
}

TileLayout TileLayout::drop(ArrayRef<bool> dropped) const {
  TileLayout result;
  result.threads = threads;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    if (!dropped[dim])
      result.dims.push_back(dims[dim]);
  result.compactRegisters();
  return result;
}

TileLayout TileLayout::restrict(ArrayRef<bool> single) const {
  TileLayout result = *this;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    if (single[dim])
      result.dims[dim].clear();
  result.compactRegisters();
  return result;
}

TileLayout TileLayout::restrictTo(ArrayRef<int64_t> shape) const {
  SmallVector<bool> single;
  for (int64_t extent : shape)
    single.push_back(extent == 1);
  return restrict(single);
}

TileLayout TileLayout::transpose(ArrayRef<int64_t> permutation) const {
  TileLayout result;
  result.threads = threads;
  for (int64_t source : permutation)
    result.dims.push_back(dims[source]);
  return result;
}

TileLayout TileLayout::getBroadcastSource(ArrayRef<int64_t> source) const {
  SmallVector<bool> dropped(getRank(), false);
  unsigned leading = getRank() - source.size();
  std::fill(dropped.begin(), dropped.begin() + leading, true);
  return drop(dropped).restrictTo(source);
}

std::optional<TileLayout> TileLayout::reshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) const {
  TileLayout result;
  result.threads = threads;
  result.dims.resize(to.size());
  // Groups of dimensions with the same number of elements, from the last.
  int64_t i = int64_t(from.size()) - 1, j = int64_t(to.size()) - 1;
  while (i >= 0 || j >= 0) {
    int64_t fromEnd = i, toEnd = j, fromSize = 1, toSize = 1;
    if (i >= 0 && from[i] == 1) {
      // Its dead elements have no place in the other shape.
      if (!dims[i].empty())
        return std::nullopt;
      --i;
      continue;
    }
    if (j >= 0 && to[j] == 1) {
      --j;
      continue;
    }
    if (i < 0 || j < 0)
      return std::nullopt;
    fromSize = from[i--];
    toSize = to[j--];
    while (fromSize != toSize) {
      if (fromSize < toSize) {
        if (i < 0)
          return std::nullopt;
        fromSize *= from[i--];
      } else {
        if (j < 0)
          return std::nullopt;
        toSize *= to[j--];
      }
    }
    SmallVector<int64_t> sources, targets;
    for (int64_t d = fromEnd; d > i; --d)
      if (from[d] != 1)
        sources.push_back(d);
    for (int64_t d = toEnd; d > j; --d)
      if (to[d] != 1)
        targets.push_back(d);
    if (sources.size() == 1 && targets.size() == 1) {
      result.dims[targets[0]] = dims[sources[0]];
      continue;
    }
    SmallVector<Mode> linear;
    for (int64_t d : sources) {
      if (getPaddedExtent(d) != from[d])
        return std::nullopt;
      llvm::append_range(linear, dims[d]);
    }
    size_t at = 0;
    for (int64_t d : targets) {
      int64_t left = to[d];
      while (left > 1) {
        if (at == linear.size())
          return std::nullopt;
        Mode &mode = linear[at];
        if (left % mode.size == 0) {
          result.dims[d].push_back(mode);
          left /= mode.size;
          ++at;
          continue;
        }
        if (mode.size % left != 0 || (mode.isThread && !llvm::isPowerOf2_64(left)))
          return std::nullopt;
        result.dims[d].push_back({left, mode.isThread, mode.stride});
        mode.stride *= left;
        mode.size /= left;
        left = 1;
      }
    }
  }
  int64_t registers = getNumRegisters();
  result.compactRegisters();
  if (result.getNumRegisters() != registers)
    return std::nullopt;
  return result;
}

SmallVector<int64_t> TileLayout::projectRegisters(const TileLayout &other, ArrayRef<int64_t> which) const {
  // Both number the same register modes in the same order.
  SmallVector<int64_t> result;
  int64_t count = getNumRegisters();
  for (int64_t reg = 0; reg < count; ++reg) {
    int64_t mapped = 0;
    for (unsigned dim = 0; dim < other.getRank(); ++dim) {
      int64_t coordinate = getRegisterCoordinate(which[dim], reg), step = 1;
      for (const Mode &mode : other.dims[dim]) {
        if (!mode.isThread)
          mapped += coordinate / step % mode.size * mode.stride;
        step *= mode.size;
      }
    }
    result.push_back(mapped);
  }
  return result;
}

TileLayout TileLayout::withFastest(unsigned dim) const {
  if (dim >= dims.size() || dims[dim].empty() || dims[dim].front().isThread)
    return *this;
  int64_t own = dims[dim].front().stride, size = dims[dim].front().size;
  TileLayout result = *this;
  for (SmallVector<Mode> &modes : result.dims)
    for (Mode &mode : modes)
      if (!mode.isThread && mode.stride < own)
        mode.stride *= size;
  result.dims[dim].front().stride = 1;
  return TileLayout(threads, result.dims);
}

bool TileLayout::isRegisterPermutationOf(const TileLayout &other) const {
  if (threads != other.threads || getRank() != other.getRank())
    return false;
  for (unsigned dim = 0; dim < getRank(); ++dim) {
    if (getPaddedExtent(dim) != other.getPaddedExtent(dim))
      return false;
    // The same steps belong to threads.
    auto threadSteps = [&](const TileLayout &layout) {
      SmallVector<std::array<int64_t, 3>> steps;
      for (auto [i, mode] : llvm::enumerate(layout.dims[dim]))
        if (mode.isThread)
          steps.push_back({layout.getStep(dim, i), mode.size, mode.stride});
      return steps;
    };
    if (threadSteps(*this) != threadSteps(other))
      return false;
  }
  return true;
}

std::string TileLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  for (auto [dim, modes] : llvm::enumerate(dims)) {
    os << (dim ? ", [" : "[");
    llvm::interleaveComma(modes, os,
                          [&](const Mode &mode) { os << mode.size << (mode.isThread ? 't' : 'r') << mode.stride; });
    os << ']';
  }
  os << ']';
  return text;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

namespace {

/// Splits every dimension into a vector, work-items and further registers.
struct Splitter {
  ArrayRef<int64_t> shape;
  ArrayRef<unsigned> order;
  SmallVector<int64_t> vectors;
  int64_t wanted;

  SmallVector<int64_t> current, best;
  int64_t bestRegisters = 0, bestDistance = 0;

  void search(unsigned at, int64_t threads, int64_t registers) {
    if (at == order.size()) {
      // Few registers first, then lanes side by side as wanted.
      int64_t distance = std::abs(int64_t(llvm::Log2_64(current[order[0]])) - int64_t(llvm::Log2_64(wanted)));
      if (best.empty() || registers < bestRegisters || (registers == bestRegisters && distance < bestDistance)) {
        best = current;
        bestRegisters = registers;
        bestDistance = distance;
      }
      return;
    }
    unsigned dim = order[at];
    int64_t pieces = llvm::divideCeil(shape[dim], vectors[dim]);
    for (int64_t p = std::min<int64_t>(threads, llvm::PowerOf2Ceil(pieces)); p >= 1; p /= 2) {
      current[dim] = p;
      int64_t rest = llvm::divideCeil(pieces, p);
      search(at + 1, threads / p, registers * vectors[dim] * rest);
    }
  }
};

} // namespace

TileLayout tile::getAccessLayout(ArrayRef<int64_t> shape, int64_t threads, const AccessPattern &pattern) {
  unsigned rank = shape.size();
  SmallVector<unsigned> order = {pattern.contiguousDim};
  for (int64_t dim = int64_t(rank) - 1; dim >= 0; --dim)
    if (dim != pattern.contiguousDim)
      order.push_back(dim);
  int64_t elements = llvm::product_of(shape);
  int64_t vector = pattern.vector;
  // Rather narrow accesses than idle lanes.
  while (vector > 1 &&
         ((elements < threads * vector && vector > pattern.unit) || shape[pattern.contiguousDim] % vector != 0))
    vector /= 2;
  Splitter splitter{shape, order, SmallVector<int64_t>(rank, 1), 1, {}, {}, 0, 0};
  splitter.vectors[pattern.contiguousDim] = vector;
  int64_t block = 1;
  if (pattern.blockDim != pattern.contiguousDim && pattern.blockDim < rank) {
    block = pattern.block;
    while (block > 1 && shape[pattern.blockDim] % block != 0)
      block /= 2;
    while (block > 2 && elements < threads * vector * block)
      block /= 2;
    // Without a block single elements would be read from shared memory: half of the lanes may be idle for that. Where a
    // swizzle fits the rows single elements cost less.
    if (block == 2 &&
        (llvm::isPowerOf2_64(shape[pattern.contiguousDim]) ? elements : 2 * elements) < threads * vector * block)
      block = 1;
    splitter.vectors[pattern.blockDim] = block;
  }
  splitter.wanted = std::max<int64_t>(1, 256 / (vector * std::max<int64_t>(1, pattern.bytes)));
  splitter.wanted = std::min<int64_t>(64, llvm::PowerOf2Ceil(splitter.wanted));
  splitter.current.resize(rank, 1);
  splitter.search(0, threads, 1);
  SmallVector<SmallVector<Mode>> dims(rank);
  int64_t threadStride = 1, registerStride = vector * block;
  if (vector > 1)
    dims[pattern.contiguousDim].push_back({vector, false, 1});
  if (block > 1)
    dims[pattern.blockDim].push_back({block, false, vector});
  for (unsigned dim : order) {
    int64_t p = splitter.best[dim];
    if (p > 1)
      dims[dim].push_back({p, true, threadStride});
    threadStride *= p;
    int64_t rest = llvm::divideCeil(llvm::divideCeil(shape[dim], splitter.vectors[dim]), p);
    if (rest > 1)
      dims[dim].push_back({rest, false, registerStride});
    registerStride *= rest;
  }
  return TileLayout(threads, dims);
}

TileLayout tile::getScanLayout(ArrayRef<int64_t> shape, int64_t threads, unsigned axis) {
  unsigned rank = shape.size();
  // Other dimensions first: lanes along the axis cost steps.
  int64_t others = 1;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != axis)
      others *= llvm::PowerOf2Ceil(shape[dim]);
  int64_t along = std::max<int64_t>(1, threads / std::max<int64_t>(1, others));
  along = std::min<int64_t>(along, llvm::PowerOf2Ceil(shape[axis]));
  SmallVector<SmallVector<Mode>> dims(rank);
  int64_t run = llvm::divideCeil(shape[axis], along);
  if (run > 1)
    dims[axis].push_back({run, false, 1});
  if (along > 1)
    dims[axis].push_back({along, true, 1});
  int64_t threadStride = along, registerStride = run;
  for (int64_t dim = int64_t(rank) - 1; dim >= 0; --dim) {
    if (dim == axis)
      continue;
    int64_t p = std::min<int64_t>(threads / threadStride, llvm::PowerOf2Ceil(shape[dim]));
    if (p > 1)
      dims[dim].push_back({p, true, threadStride});
    threadStride *= p;
    int64_t rest = llvm::divideCeil(shape[dim], p);
    if (rest > 1)
      dims[dim].push_back({rest, false, registerStride});
    registerStride *= rest;
  }
  return TileLayout(threads, dims);
}

std::optional<TileLayout> tile::parsePinLayout(StringRef text, ArrayRef<int64_t> shape, int64_t threads,
                                               std::string &message) {
  llvm::Expected<layout::Value> value = layout::parse(text);
  if (!value) {
    message = llvm::toString(value.takeError());
    return std::nullopt;
  }
  auto *map = std::get_if<layout::Map>(&*value);
  const layout::Layout *layout = map ? map->getLayout() : nullptr;
  if (!layout || layout->getRank() != 2 || !layout->isStatic()) {
    message = "it must be a static layout of two modes, ((lanes, waves), values)";
    return std::nullopt;
  }
  struct Step {
    int64_t step;
    Mode mode;
  };
  SmallVector<SmallVector<Step>> steps(shape.size());
  for (unsigned side = 0; side < 2; ++side) {
    int64_t at = 1;
    for (auto [extentInt, strideInt] : layout->getMode(side).getLeaves()) {
      int64_t extent = extentInt.value, stride = strideInt.value;
      int64_t position = at;
      at *= extent;
      if (extent == 1 || (side == 0 && stride == 0))
        continue;
      // From the last dimension, a mode may run over into the one before.
      int64_t inner = 1;
      for (int64_t dim = int64_t(shape.size()) - 1; dim >= 0 && extent > 1; inner *= shape[dim], --dim) {
        if (stride >= inner * shape[dim])
          continue;
        if (stride % inner != 0)
          break;
        int64_t step = stride / inner, room = shape[dim] / step;
        int64_t part = std::min(extent, room);
        if (extent % part != 0 || (extent > part && part * step != shape[dim]))
          break;
        if (part > 1)
          steps[dim].push_back({step, {part, side == 0, position}});
        position *= part;
        extent /= part;
        stride = inner * shape[dim];
      }
      if (extent > 1) {
        message = "a mode does not run along the dimensions of the tile";
        return std::nullopt;
      }
    }
    if (side == 0 && at != threads) {
      message = "it has " + std::to_string(at) + " work-items, the kernel " + std::to_string(threads);
      return std::nullopt;
    }
  }
  SmallVector<SmallVector<Mode>> dims(shape.size());
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    llvm::sort(steps[dim], [](const Step &a, const Step &b) { return a.step < b.step; });
    int64_t next = 1;
    for (const Step &step : steps[dim]) {
      if (step.step != next) {
        message = "the modes along dimension " + std::to_string(dim) + " are not a mixed-radix number";
        return std::nullopt;
      }
      if (step.mode.isThread && (!llvm::isPowerOf2_64(step.mode.size) || !llvm::isPowerOf2_64(step.mode.stride))) {
        message = "modes of work-items must be powers of two";
        return std::nullopt;
      }
      dims[dim].push_back(step.mode);
      next *= step.mode.size;
    }
    if (next != shape[dim]) {
      message = "it reaches " + std::to_string(next) + " of the " + std::to_string(shape[dim]) +
                " elements along dimension " + std::to_string(dim);
      return std::nullopt;
    }
  }
  TileLayout result(threads, dims);
  // A permutation of values that starts elsewhere than at 1 cannot happen: every
  // value mode reaches different elements.
  return result;
}
