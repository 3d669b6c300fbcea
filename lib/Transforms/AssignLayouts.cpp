//===- AssignLayouts.cpp - Which lane holds which element -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace atrex {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class LayoutPropagation {
public:
  explicit LayoutPropagation(gpu::GPUFuncOp kernel, atx::MappingAttr mapping) : kernel(kernel), mapping(mapping) {}

  LogicalResult run();
  unsigned numAssigned = 0;

private:
  LogicalResult set(Value value, atx::TVAttr layout, Operation *reason);
  void splitSplats();
  LogicalResult setAnchors();
  LogicalResult propagate(Operation *op);
  LogicalResult placeReductions();

  gpu::GPUFuncOp kernel;
  atx::MappingAttr mapping;
  llvm::MapVector<Value, atx::TVAttr> layouts;
  DenseMap<Value, Operation *> reasons;
  bool changed = false;
};

class AssignLayouts : public atrex::impl::AssignLayoutsPassBase<AssignLayouts> {
public:
  using AssignLayoutsPassBase::AssignLayoutsPassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto mapping = kernel->getAttrOfType<atx::MappingAttr>(atx::mappingAttrName);
    if (!mapping)
      return;
    LayoutPropagation propagation(kernel, mapping);
    if (failed(propagation.run()))
      return signalPassFailure();
    numAssigned += propagation.numAssigned;
  }
};

} // namespace

LogicalResult LayoutPropagation::set(Value value, atx::TVAttr layout, Operation *reason) {
  auto type = cast<VectorType>(value.getType());
  if (type.isScalable())
    return reason->emitError() << type << " has no constant extent, so no layout can hold it";
  if (!layout.covers(type.getShape()))
    return reason->emitError() << "layout " << layout << " cannot hold " << type << " exactly once";
  auto [it, inserted] = layouts.insert({value, layout});
  if (inserted) {
    reasons[value] = reason;
    changed = true;
    return success();
  }
  if (it->second == layout)
    return success();
  InFlightDiagnostic diag = reason->emitError()
                            << "needs a vector in layout " << layout << " that is held in layout " << it->second;
  diag.attachNote(reasons[value]->getLoc()) << "the other layout comes from here";
  return diag;
}

/// Writes take the layout of the mapping, without the dimensions they lack.
LogicalResult LayoutPropagation::setAnchors() {
  unsigned rank = mapping.getTile().size();
  LogicalResult status = success();
  kernel.walk([&](vector::TransferWriteOp write) {
    auto type = cast<VectorType>(write.getVector().getType());
    llvm::SmallBitVector dropped(rank);
    for (unsigned dim = type.getRank(); dim < rank; ++dim)
      dropped.set(dim);
    if (type.getRank() > rank) {
      status = write.emitError() << "writes a vector of rank " << type.getRank() << " in a mapping of rank " << rank;
      return WalkResult::interrupt();
    }
    status = set(write.getVector(), mapping.getLayout().project(dropped), write);
    return failed(status) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return status;
}

LogicalResult LayoutPropagation::propagate(Operation *op) {
  // Elementwise: operands and result share the layout.
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    SmallVector<Value> vectors;
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults())))
      if (isa<VectorType>(value.getType()))
        vectors.push_back(value);
    for (Value known : vectors)
      if (atx::TVAttr layout = layouts.lookup(known)) {
        for (Value other : vectors)
          if (failed(set(other, layout, op)))
            return failure();
        break;
      }
    return success();
  }
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    VectorType from = cast.getSourceVectorType(), to = cast.getResultVectorType();
    if (!matchUnitExpansion(from, to) && !matchUnitExpansion(to, from))
      return op->emitError() << "a cast from " << from << " to " << to << " moves elements between lanes";
    if (atx::TVAttr layout = layouts.lookup(cast.getSource()))
      return set(cast.getResult(), castLayout(layout, from, to), op);
    if (atx::TVAttr layout = layouts.lookup(cast.getResult()))
      return set(cast.getSource(), castLayout(layout, to, from), op);
    return success();
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    auto from = dyn_cast<VectorType>(broadcast.getSourceType());
    atx::TVAttr layout = layouts.lookup(broadcast.getResult());
    if (!from || !layout)
      return success();
    return set(broadcast.getSource(), getBroadcastSource(layout, from, broadcast.getResultVectorType()), op);
  }
  if (auto reduce = dyn_cast<vector::MultiDimReductionOp>(op)) {
    if (!isa<VectorType>(reduce.getDestType()))
      return op->emitError() << "a reduction to a scalar needs all lanes of the workgroup, which the row mapping lacks";
    if (atx::TVAttr layout = layouts.lookup(reduce.getSource())) {
      llvm::SmallBitVector dropped(reduce.getSourceVectorType().getRank());
      for (int64_t dim : reduce.getReductionDims())
        dropped.set(dim);
      if (failed(set(reduce.getDest(), layout.project(dropped), op)))
        return failure();
    }
    if (atx::TVAttr layout = layouts.lookup(reduce.getDest()))
      return set(reduce.getAcc(), layout, op);
    return success();
  }
  return success();
}

/// A reduction whose source nothing has placed: the reduced dimensions are held
/// by one lane, behind the modes of the result.
LogicalResult LayoutPropagation::placeReductions() {
  WalkResult result = kernel.walk([&](vector::MultiDimReductionOp reduce) {
    atx::TVAttr layout = layouts.lookup(reduce.getDest());
    if (!layout || layouts.lookup(reduce.getSource()))
      return WalkResult::advance();
    VectorType type = reduce.getSourceVectorType();
    // A tile, or one without its last dimensions, goes where the mapping puts
    // it: the lanes of a row share it.
    if (ArrayRef<int64_t> tile = mapping.getTile();
        type.getRank() <= int64_t(tile.size()) && type.getShape() == tile.take_front(type.getRank())) {
      llvm::SmallBitVector behind(tile.size()), reduced(type.getRank());
      behind.set(type.getRank(), tile.size());
      for (int64_t dim : reduce.getReductionDims())
        reduced.set(dim);
      atx::TVAttr natural = mapping.getLayout().project(behind);
      if (natural.project(reduced) == layout)
        return failed(set(reduce.getSource(), natural, reduce)) ? WalkResult::interrupt() : WalkResult::advance();
    }
    SmallVector<unsigned> positions;
    SmallVector<int64_t> shape, steps, dims;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!reduce.isReducedDim(dim)) {
        positions.push_back(dim);
        continue;
      }
      shape.push_back(type.getDimSize(dim));
      steps.push_back(1);
      dims.push_back(dim);
    }
    atx::TVAttr kept = renumber(layout, positions);
    SmallVector<int64_t> vShape(kept.getValueShape()), vSteps(kept.getValueSteps()), vDims(kept.getValueDims());
    llvm::append_range(vShape, shape);
    llvm::append_range(vSteps, steps);
    llvm::append_range(vDims, dims);
    auto extended = atx::TVAttr::get(reduce.getContext(), kept.getThreadShape(), kept.getThreadSteps(),
                                     kept.getThreadDims(), vShape, vSteps, vDims);
    return failed(set(reduce.getSource(), extended, reduce)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Splats cost nothing: every use gets its own, so that one may stand in
/// different layouts.
void LayoutPropagation::splitSplats() {
  SmallVector<Operation *> splats;
  kernel.walk([&](Operation *op) {
    auto broadcast = dyn_cast<vector::BroadcastOp>(op);
    if (isa<arith::ConstantOp>(op) ? isa<VectorType>(op->getResult(0).getType())
                                   : broadcast && !isa<VectorType>(broadcast.getSourceType()))
      splats.push_back(op);
  });
  for (Operation *op : splats)
    while (!op->use_empty() && !op->hasOneUse()) {
      OpBuilder builder(op);
      op->use_begin()->set(builder.clone(*op)->getResult(0));
    }
}

LogicalResult LayoutPropagation::run() {
  splitSplats();
  if (failed(setAnchors()))
    return failure();
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  do {
    do {
      changed = false;
      for (Operation *op : llvm::reverse(ops))
        if (failed(propagate(op)))
          return failure();
    } while (changed);
    if (failed(placeReductions()))
      return failure();
  } while (changed);

  for (Operation *op : ops) {
    auto annotate = [&](Value value) -> LogicalResult {
      if (!isa<VectorType>(value.getType()))
        return success();
      atx::TVAttr layout = layouts.lookup(value);
      if (!layout)
        return op->emitError() << "nothing decides which lanes hold this " << value.getType();
      op->setAttr(atx::layoutAttrName, layout);
      ++numAssigned;
      return success();
    };
    for (Value result : op->getResults())
      if (failed(annotate(result)))
        return failure();
    if (auto write = dyn_cast<vector::TransferWriteOp>(op); write && failed(annotate(write.getVector())))
      return failure();
  }
  return success();
}
