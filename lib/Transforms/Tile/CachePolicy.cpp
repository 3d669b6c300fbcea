//===- CachePolicy.cpp - What the grid touches once -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access is streaming when no element of its tensor is touched twice: there is no
// other access to the tensor, and tiles of different workgroups and iterations are
// apart. That is shown for positions that are sums: every axis of the grid and every loop
// around must appear in some index with a step that clears all that moves less there.
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

namespace {

/// A number that grows from workgroup to workgroup or from iteration to iteration by `step`.
struct Counter {
  Value value;
  int64_t step = 1;
  /// How many values it takes, where that is known.
  std::optional<int64_t> count;
};

} // namespace

/// The counters that tell executions of `op` apart; nothing where there are others.
static std::optional<SmallVector<Counter>> findCounters(gpu::GPUFuncOp kernel, Operation *op) {
  SmallVector<Counter> counters;
  for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp()) {
    if (isa<scf::IfOp>(parent))
      continue;
    auto loop = dyn_cast<scf::ForOp>(parent);
    std::optional<int64_t> step = loop ? getConstantIntValue(loop.getStep()) : std::nullopt;
    if (!step || *step <= 0)
      return std::nullopt;
    Counter counter{loop.getInductionVar(), *step, std::nullopt};
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                           upper = getConstantIntValue(loop.getUpperBound());
    if (lower && upper)
      counter.count = *upper > *lower ? llvm::divideCeil(*upper - *lower, *step) : 1;
    counters.push_back(counter);
  }
  auto grid = kernel->getAttrOfType<ArrayAttr>(atx::gridAttrName);
  if (!grid)
    return std::nullopt;
  SmallVector<Value, 3> blocks(3);
  kernel.walk([&](gpu::BlockIdOp id) {
    if (unsigned(id.getDimension()) < 3)
      blocks[unsigned(id.getDimension())] = id;
  });
  for (auto [axis, attr] : llvm::enumerate(grid)) {
    auto text = dyn_cast<StringAttr>(attr);
    int64_t extent;
    std::optional<int64_t> count;
    if (text && !text.getValue().getAsInteger(10, extent))
      count = extent;
    if (count == 1)
      continue;
    // Workgroups that differ in it do the same.
    if (axis >= blocks.size() || !blocks[axis])
      return std::nullopt;
    counters.push_back({blocks[axis], 1, count});
  }
  return counters;
}

static bool isStreaming(gpu::GPUFuncOp kernel, Operation *op, ValueRange indices, ArrayRef<int64_t> shape) {
  std::optional<SmallVector<Counter>> counters = findCounters(kernel, op);
  if (!counters)
    return false;
  SmallVector<bool> resolved(counters->size(), false);
  for (Value index : indices) {
    LinearIndex raw, form;
    SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
    if (!decomposeIndex(index, shape.size(), 1, dims, raw))
      return false;
    for (auto [value, coefficient] : raw.scalars)
      addScalar(form, value, coefficient);
    // From what moves least: elements of the tile first.
    int64_t span = 1;
    for (auto [dim, coefficient] : raw.coordinates) {
      int64_t more;
      if (coefficient < 0 || llvm::MulOverflow(coefficient, shape[dim] - 1, more) ||
          llvm::AddOverflow(span, more, span))
        return false;
    }
    SmallVector<std::pair<int64_t, unsigned>> moves;
    for (auto [value, coefficient] : form.scalars) {
      auto *counter = llvm::find_if(*counters, [v = value](const Counter &c) {
        // Several `block_id` of one axis are one number.
        auto a = c.value.getDefiningOp<gpu::BlockIdOp>(), b = v.getDefiningOp<gpu::BlockIdOp>();
        return c.value == v || (a && b && a.getDimension() == b.getDimension());
      });
      int64_t step;
      if (counter == counters->end() || coefficient <= 0 || llvm::MulOverflow(coefficient, counter->step, step))
        return false;
      moves.push_back({step, unsigned(counter - counters->begin())});
    }
    llvm::sort(moves);
    for (auto [i, move] : llvm::enumerate(moves)) {
      auto [step, number] = move;
      if (step < span)
        return false;
      resolved[number] = true;
      std::optional<int64_t> count = (*counters)[number].count;
      int64_t more;
      if (!count && i + 1 != moves.size())
        return false;
      if (count && (llvm::MulOverflow(step, *count - 1, more) || llvm::AddOverflow(span, more, span)))
        return false;
    }
  }
  return llvm::all_of(resolved, [](bool is) { return is; });
}

DenseSet<Operation *> tile::findStreamingAccesses(gpu::GPUFuncOp kernel) {
  llvm::MapVector<Value, SmallVector<Operation *>> byMemory;
  kernel.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()) && !isa<memref::ReinterpretCastOp, memref::DimOp>(op))
        byMemory[getMemoryRoot(operand)].push_back(op);
  });
  DenseSet<Operation *> streaming;
  for (auto &[memory, ops] : byMemory) {
    if (ops.size() != 1)
      continue;
    Operation *op = ops.front();
    auto load = dyn_cast<atx::TileLoadOp>(op);
    auto store = dyn_cast<atx::TileStoreOp>(op);
    if (!load && !store)
      continue;
    auto type = dyn_cast<VectorType>(load ? load.getResult().getType() : store.getValue().getType());
    auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(
        cast<MemRefType>(load ? load.getMemory().getType() : store.getMemory().getType()).getMemorySpace());
    if (!type || (space && space.getValue() == gpu::AddressSpace::Workgroup))
      continue;
    if (isStreaming(kernel, op, load ? load.getIndices() : store.getIndices(), type.getShape()))
      streaming.insert(op);
  }
  return streaming;
}
