//===- Persistent.cpp - Workgroups that do several tiles ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGrid.h"
#include "atrex/Target/TargetChip.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace atrex {
#define GEN_PASS_DEF_PERSISTENTPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class Persistent : public atrex::impl::PersistentPassBase<Persistent> {
public:
  using PersistentPassBase::PersistentPassBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(atx::kernelAttrName) || kernel.isExternal() || workgroups == 0)
      return;
    if (failed(loopOverTiles(kernel)))
      signalPassFailure();
  }

private:
  LogicalResult loopOverTiles(func::FuncOp kernel);
};

/// A loop that may wait for what another workgroup writes.
Operation *findWait(func::FuncOp kernel) {
  Operation *found = nullptr;
  kernel.walk([&](scf::WhileOp loop) {
    loop.walk([&](Operation *op) {
      bool reads = isa<atx::TileAtomicOp>(op);
      if (auto load = dyn_cast<atx::TileLoadOp>(op))
        reads = !load.getMemory().getDefiningOp<atx::TileSharedOp>();
      if (reads && !found)
        found = loop;
    });
  });
  return found;
}

} // namespace

LogicalResult Persistent::loopOverTiles(func::FuncOp kernel) {
  int64_t most = workgroups;
  if (most < -1 || most > INT32_MAX)
    return kernel.emitError() << "option 'workgroups' is " << most << "; it must be -1 (chosen), 0 (off) or positive";
  if (most == -1) {
    const ChipInfo *chip = getTarget(kernel, arch);
    if (!chip)
      return failure();
    most = chip->computeUnits;
  }
  FailureOr<std::array<DimExpr, 3>> grid = getGridExprs(kernel);
  if (failed(grid))
    return failure();
  using Kind = DimExpr::Kind;
  DimExpr tiles = foldExpr(Kind::Mul, foldExpr(Kind::Mul, (*grid)[0], (*grid)[1]), (*grid)[2]);
  std::optional<int64_t> known = tiles.getConstant();
  if (known && *known <= most) {
    kernel.emitRemark() << "is not made persistent: its " << *known << " tiles are no more than " << most
                        << " workgroups";
    return success();
  }
  if (Operation *wait = findWait(kernel)) {
    // The workgroup it waits for might be one that this one is to be next.
    wait->emitRemark() << "keeps the kernel from being persistent: the loop may wait for another workgroup";
    return success();
  }

  Location loc = kernel.getLoc();
  Block &entry = kernel.getBody().front();
  OpBuilder b(&getContext());
  SmallVector<Operation *> body;
  bool needsBarrier = false;
  for (Operation &op : entry.without_terminator())
    body.push_back(&op);
  kernel.walk([&](Operation *op) { needsBarrier |= isa<atx::TileSharedOp, gpu::BarrierOp>(op); });
  b.setInsertionPointToStart(&entry);
  FailureOr<llvm::StringMap<Value>> dims = emitDims(kernel, *grid, b);
  if (failed(dims))
    return failure();
  DimExpr count = getBalancedWorkgroups(tiles, most);
  auto emit = [&](const DimExpr &expr) -> Value {
    if (std::optional<int64_t> constant = expr.getConstant())
      return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(*constant)));
    FailureOr<Value> value = emitExpr(expr, *dims, b, loc);
    return succeeded(value) ? Value(arith::IndexCastOp::create(b, loc, b.getI32Type(), *value)) : Value();
  };
  SmallVector<Value> extents;
  for (const DimExpr &extent : *grid)
    extents.push_back(emit(extent));
  Value total = emit(tiles), step = emit(count);
  if (!total || !step || llvm::is_contained(extents, Value()))
    return failure();
  Value first =
      arith::IndexCastOp::create(b, loc, b.getI32Type(), gpu::BlockIdOp::create(b, loc, gpu::Dimension::x).getResult());
  auto loop = scf::ForOp::create(b, loc, first, total, step);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  std::array<Value, 3> at = emitCoordinates(loop.getInductionVar(), extents, b, loc);
  for (Value &coordinate : at)
    coordinate = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), coordinate);
  SmallVector<Value> sizes;
  for (Value extent : extents)
    sizes.push_back(arith::IndexCastUIOp::create(b, loc, b.getIndexType(), extent));
  for (Operation *op : body) {
    // One space for all tiles.
    if (isa<atx::TileSharedOp>(op))
      op->moveBefore(loop);
    else
      op->moveBefore(loop.getBody()->getTerminator());
  }
  loop.walk([&](Operation *op) {
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      id.replaceAllUsesWith(at[unsigned(id.getDimension())]);
    else if (auto dim = dyn_cast<gpu::GridDimOp>(op))
      dim.replaceAllUsesWith(sizes[unsigned(dim.getDimension())]);
    else
      return;
    op->erase();
  });
  if (needsBarrier) {
    // What this tile left in shared memory is read before the next one writes.
    b.setInsertionPoint(loop.getBody()->getTerminator());
    gpu::BarrierOp::create(b, loc);
  }
  kernel->setAttr(atx::gridAttrName, b.getStrArrayAttr({count.str(), "1", "1"}));
  // Said of the workgroups that were.
  kernel->removeAttr(feedsAttrName);
  kernel->setAttr(reorderedAttrName, b.getUnitAttr());
  ++numPersistent;
  return success();
}
