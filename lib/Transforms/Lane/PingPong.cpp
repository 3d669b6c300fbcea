//===- PingPong.cpp - Two groups of waves in turn -------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eight waves are two for each SIMD. A barrier more before the loop holds the
// upper four back by one phase, so that on each SIMD one wave accesses memory
// while the other multiplies; a barrier more behind it lets the lower four wait.
//
// Why shared memory stays right. Number the stretches between barriers that a
// wave runs through. Without the shift, waves are in stretches of one number
// together; accesses of different waves that must be ordered are in stretches of
// different numbers. The pass cuts each stretch of the loop in two by a barrier
// behind its last access to shared memory, so that such accesses are two numbers
// apart at least, and then shifts half of the waves by one: they are still
// ordered, by at least one barrier, and in the same direction. Each barrier
// waits for the accesses of its wave. The shift ends with the loop.
//
//===----------------------------------------------------------------------===//

#include "LaneOps.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

namespace atrex {
#define GEN_PASS_DEF_PINGPONGPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::lane;

namespace {

/// Waves that are two for each of the four SIMDs of a compute unit.
constexpr int64_t pingPongWaves = 8;

class PingPong : public atrex::impl::PingPongPassBase<PingPong> {
public:
  using PingPongPassBase::PingPongPassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (enable == 0)
      return;
    if (priority < 0 || priority > 3) {
      kernel.emitError() << "option 'priority' is " << int64_t(priority) << "; it must be from 0 to 3";
      return signalPassFailure();
    }
    for (scf::ForOp loop : getInnermostLoops(kernel))
      run(kernel, loop);
  }

private:
  void run(gpu::GPUFuncOp kernel, scf::ForOp loop);
};

/// What lies between two barriers of the body.
struct Stretch {
  SmallVector<Operation *> ops;
  bool accessesLDS = false, accesses = false, multiplies = false;
};

bool touchesLDS(Operation *op) {
  bool touches = false;
  op->walk([&](Operation *inner) {
    Unit unit = getUnit(inner);
    touches |= unit == Unit::LDSRead || unit == Unit::LDSWrite || isa<ROCDL::RawPtrBufferLoadLdsOp>(inner) ||
               (unit == Unit::Memory && inner->getNumRegions() == 0);
  });
  return touches;
}

bool hasBarrierInside(Operation *op) {
  bool found = false;
  op->walk([&](Operation *inner) { found |= inner != op && getUnit(inner) == Unit::Barrier; });
  return found;
}

} // namespace

void PingPong::run(gpu::GPUFuncOp kernel, scf::ForOp loop) {
  Block &block = *loop.getBody();
  Location loc = loop.getLoc();
  if (llvm::none_of(block, [](Operation &op) { return getUnit(&op) == Unit::MFMA; }))
    return;
  auto refuse = [&](const Twine &why) { emitRemark(loc) << "waves do not take turns in this loop: " << why; };
  auto threads = kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName);
  if (!threads || threads.getInt() != pingPongWaves * 64)
    return refuse("that takes " + Twine(pingPongWaves) + " waves, the workgroup has " +
                  Twine(threads ? threads.getInt() / 64 : 0));
  // The loop must be where all waves come, the barriers too.
  for (Operation *parent = loop->getParentOp(); parent != kernel; parent = parent->getParentOp())
    if (isa<scf::WhileOp>(parent))
      return refuse("it stands in a loop of unknown length");
  SmallVector<Stretch> stretches(1);
  SmallVector<Operation *> barriers;
  for (Operation &op : block.without_terminator()) {
    Unit unit = getUnit(&op);
    if (unit == Unit::Barrier) {
      barriers.push_back(&op);
      stretches.emplace_back();
      continue;
    }
    if (hasBarrierInside(&op))
      return refuse("a barrier stands under a condition");
    if (unit == Unit::Fence)
      return refuse("it has limits for the scheduler already");
    Stretch &stretch = stretches.back();
    stretch.ops.push_back(&op);
    stretch.accessesLDS |= touchesLDS(&op);
    stretch.accesses |= isMemory(unit);
    stretch.multiplies |= unit == Unit::MFMA;
  }
  if (barriers.empty())
    return refuse("its waves do not meet: there is no barrier");
  Stretch &head = stretches.front(), &tail = stretches.back();
  if (head.accessesLDS && tail.accessesLDS)
    return refuse("shared memory is accessed both before the first barrier of an iteration and behind the last");
  // One stretch goes round: it is cut on the side that accesses shared memory.
  for (Stretch &stretch : stretches) {
    bool goesRound = &stretch == &head || &stretch == &tail;
    bool multiplies = goesRound ? head.multiplies || tail.multiplies : stretch.multiplies;
    bool accesses = goesRound ? head.accesses || tail.accesses : stretch.accesses;
    if (!multiplies && accesses)
      return refuse("between two barriers memory is accessed and nothing multiplied; shared memory needs more stages");
    if (multiplies && !accesses)
      return refuse("between two barriers nothing is accessed");
  }
  // The products, and what needs them, go behind the accesses.
  struct Cut {
    SmallVector<Operation *> late;
    Operation *end;
  };
  SmallVector<Cut> cuts;
  for (auto [i, stretch] : llvm::enumerate(stretches)) {
    if (!stretch.accessesLDS && !(stretch.multiplies && stretch.accesses))
      continue;
    SmallVector<Operation *> products;
    for (Operation *op : stretch.ops)
      if (getUnit(op) == Unit::MFMA)
        products.push_back(op);
    DenseSet<Operation *> late = getDependents(block, products);
    Cut cut;
    cut.end = i < barriers.size() ? barriers[i] : block.getTerminator();
    for (Operation *op : stretch.ops)
      if (late.contains(op)) {
        if (touchesLDS(op) || isMemory(getUnit(op)))
          return refuse("memory is accessed with what the products give");
        cut.late.push_back(op);
      }
    if (products.empty())
      return refuse("what is accessed between two barriers is multiplied behind the second");
    cuts.push_back(std::move(cut));
  }
  if (cuts.empty() || cuts.size() != barriers.size())
    return refuse("not every stretch between two barriers can be cut in two");

  OpBuilder b(loop);
  auto fence = [&] { ROCDL::SchedBarrier::create(b, loc, 0); };
  for (Cut &cut : cuts) {
    for (Operation *op : cut.late)
      op->moveBefore(cut.end);
    b.setInsertionPoint(cut.late.empty() ? cut.end : cut.late.front());
    fence();
    amdgpu::LDSBarrierOp::create(b, loc);
    fence();
    if (priority > 0)
      ROCDL::SetPrioOp::create(b, loc, uint16_t(priority));
    b.setInsertionPoint(cut.end);
    if (priority > 0)
      ROCDL::SetPrioOp::create(b, loc, uint16_t(0));
    fence();
    if (cut.end != block.getTerminator()) {
      b.setInsertionPointAfter(cut.end);
      fence();
    }
  }
  // Which half a wave belongs to is the same for all its lanes.
  b.setInsertionPoint(loop);
  Value id = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  id = arith::IndexCastOp::create(b, loc, b.getI32Type(), id);
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
  };
  Value thread = ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(), id);
  Value half = i32(pingPongWaves / 2 * 64);
  auto meet = [&](arith::CmpIPredicate predicate) {
    Value own = arith::CmpIOp::create(b, loc, predicate, thread, half);
    auto guard = scf::IfOp::create(b, loc, own, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard keep(b);
    b.setInsertionPointToStart(guard.thenBlock());
    amdgpu::LDSBarrierOp::create(b, loc);
  };
  meet(arith::CmpIPredicate::uge);
  b.setInsertionPointAfter(loop);
  meet(arith::CmpIPredicate::ult);
  ++numLoops;
}
