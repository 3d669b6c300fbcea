//===- ReadAhead.cpp - Staged tiles read an iteration ahead ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopRegisters.h"
#include "TileLowering.h"
#include "atrex/Target/TargetChip.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace atrex {
#define GEN_PASS_DEF_READAHEADPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

namespace {

bool isBarrier(Operation *op) { return isa<amdgpu::LDSBarrierOp, gpu::BarrierOp>(op); }

/// The last barrier of the body if nothing behind it accesses memory, else null.
Operation *getFinalBarrier(Block &body) {
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (isBarrier(&op))
      return &op;
    if (!isMemoryEffectFree(&op))
      return nullptr;
  }
  return nullptr;
}

/// What computes `value` in the loop's body from what the loop carries, in order. False where that is not so: the
/// counter would be that of another iteration.
bool collectSlice(scf::ForOp loop, Value value, llvm::SetVector<Operation *> &slice) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  if (auto arg = dyn_cast<BlockArgument>(value))
    return arg.getOwner() == loop.getBody() && arg != loop.getInductionVar();
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collectSlice(loop, operand, slice))
      return false;
  slice.insert(op);
  return true;
}

/// A read that moves, and what its slot is computed by.
struct Ahead {
  atx::StageReadOp read;
  llvm::SetVector<Operation *> slice;
};

/// All that a loop reads may be live at once.
int64_t chooseRegisters(const LoopRegisters &loop) { return loop.room >= 0 ? loop.reads : 0; }

class ReadAhead : public atrex::impl::ReadAheadPassBase<ReadAhead> {
public:
  using ReadAheadPassBase::ReadAheadPassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (registers < -1) {
      kernel.emitError() << "option 'registers' is " << int64_t(registers) << "; it must be -1 (chosen) or more";
      return signalPassFailure();
    }
    auto threads = kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName);
    if (registers == 0 || !threads || !kernel->hasAttr(atx::kernelAttrName))
      return;
    const ChipInfo *chip = getTarget(kernel, arch);
    if (!chip)
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      run(loop, registers != -1 ? registers : chooseRegisters(estimateRegisters(loop, *chip, threads.getInt())));
  }

private:
  void run(scf::ForOp loop, int64_t limit);
};

} // namespace

void ReadAhead::run(scf::ForOp loop, int64_t limit) {
  Block &body = *loop.getBody();
  if (limit == 0 || body.getOps<atx::StageReadOp>().empty())
    return;
  Operation *barrier = getFinalBarrier(body);
  if (!barrier) {
    if (registers > 0)
      loop.emitRemark()
          << "staged tiles are not read ahead: no barrier ends an iteration, since a tile has a single slot "
             "or the loop writes behind it";
    return;
  }
  SmallVector<Ahead> ahead;
  int64_t used = 0;
  llvm::SmallPtrSet<Value, 4> written;
  for (Operation &op : body) {
    if (isBarrier(&op))
      break;
    // An inner loop or a branch may write or wait.
    if (op.getNumRegions() != 0)
      break;
    // Between two barriers slots that are written are others than those that are read.
    if (auto write = dyn_cast<atx::StageWriteOp>(op))
      if (auto alloc = write.getStage().getDefiningOp<atx::StageAllocOp>(); !alloc || alloc.getSlots() == 1)
        written.insert(write.getStage());
    auto read = dyn_cast<atx::StageReadOp>(op);
    if (!read || written.contains(read.getStage()))
      continue;
    std::optional<int64_t> size = getRegisters(read.getOperation());
    Ahead candidate{read, {}};
    if (!size || !loop.isDefinedOutsideOfLoop(read.getStage()) || !collectSlice(loop, read.getSlot(), candidate.slice))
      continue;
    if (used + *size > limit) {
      read.emitRemark() << "a staged tile is not read ahead: its " << *size << " registers beside the " << used
                        << " of tiles before are more than " << limit;
      continue;
    }
    used += *size;
    ahead.push_back(std::move(candidate));
  }
  if (ahead.empty())
    return;

  IRRewriter rewriter(loop.getContext());
  auto emit = [&](const Ahead &tile, ValueRange carried) -> Value {
    IRMapping map;
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation *op : tile.slice)
      rewriter.clone(*op, map);
    return rewriter.clone(*tile.read, map)->getResult(0);
  };
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> first;
  for (const Ahead &tile : ahead)
    first.push_back(emit(tile, loop.getInitArgs()));
  rewriter.setInsertionPoint(body.getTerminator());
  SmallVector<Value> next;
  for (const Ahead &tile : ahead)
    next.push_back(emit(tile, body.getTerminator()->getOperands()));

  SmallVector<Operation *> reads;
  for (const Ahead &tile : ahead)
    reads.push_back(tile.read);
  carryTiles(rewriter, loop, reads, first, next);
  numReads += ahead.size();
}
