//===- PeelLoops.cpp - The last iteration behind its loop -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace atrex {
#define GEN_PASS_DEF_PEELLOOPSPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

/// The number behind conversions that keep it: extents are below 2^31 where they are counted in 32 bits.
static Value stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether extent `dim` of `memory` is `upper`.
static bool isExtent(Value memory, unsigned dim, Value upper) {
  auto type = cast<MemRefType>(memory.getType());
  std::optional<int64_t> number = getConstantIntValue(upper);
  if (!type.isDynamicDim(dim))
    return number == type.getDimSize(dim);
  auto view = memory.getDefiningOp<memref::ReinterpretCastOp>();
  if (!view)
    return false;
  OpFoldResult size = view.getMixedSizes()[dim];
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return number == constant;
  return stripCasts(cast<Value>(size)) == stripCasts(upper);
}

namespace {

/// A load of the loop, and its indices that count along with the loop up to an extent.
struct Counted {
  atx::TileLoadOp load;
  SmallVector<int64_t> indices;
};

class PeelLoops : public atrex::impl::PeelLoopsPassBase<PeelLoops> {
public:
  using PeelLoopsPassBase::PeelLoopsPassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (!kernel->hasAttr(atx::kernelAttrName))
      return;
    if (enable != 0 && enable != 1) {
      kernel.emitError() << "'enable=" << int64_t(enable) << "' is not possible: it is 0 or 1";
      return signalPassFailure();
    }
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      run(loop);
  }

private:
  void run(scf::ForOp loop);
  void peel(scf::ForOp loop, int64_t step);
};

} // namespace

static SmallVector<Counted> findCounted(scf::ForOp loop, int64_t step) {
  SmallVector<Counted> result;
  for (auto load : loop.getBody()->getOps<atx::TileLoadOp>()) {
    auto type = dyn_cast<VectorType>(load.getResult().getType());
    if (!type)
      continue;
    Counted counted{load, {}};
    for (auto [i, index] : llvm::enumerate(load.getIndices())) {
      LinearIndex raw, form;
      SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
      if (!decomposeIndex(index, type.getRank(), 1, dims, raw))
        continue;
      form.constant = raw.constant;
      for (auto [value, coefficient] : raw.scalars)
        addScalar(form, value, coefficient);
      // counter + coordinate, and nothing else.
      if (form.constant != 0 || form.scalars.size() != 1 || form.scalars[0].first != loop.getInductionVar() ||
          form.scalars[0].second != 1 || raw.coordinates.size() != 1 || raw.coordinates[0].second != 1 ||
          type.getDimSize(raw.coordinates[0].first) > step)
        continue;
      if (isExtent(load.getMemory(), i, loop.getUpperBound()))
        counted.indices.push_back(i);
    }
    if (!counted.indices.empty())
      result.push_back(std::move(counted));
  }
  return result;
}

void PeelLoops::run(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()), step = getConstantIntValue(loop.getStep()),
                         upper = getConstantIntValue(loop.getUpperBound());
  // From the start of a tensor, which is not empty: there is an iteration.
  if (!step || *step <= 0 || lower != 0)
    return;
  SmallVector<Counted> counted = findCounted(loop, *step);
  if (counted.empty())
    return;
  IndexAnalysis analysis;
  bool isWhole = upper ? *upper % *step == 0 && *upper > 0
                       : llvm::isPowerOf2_64(*step) && analysis.getInfo(loop.getUpperBound()).divisor % *step == 0;
  if (!isWhole) {
    if (enable == 0 || (upper && *upper < *step)) {
      if (remarks)
        loop.emitRemark() << "the loop compares positions with an extent that need not be a multiple of its step "
                          << *step << (enable == 0 ? "; 'enable=1' takes the last iteration out" : "");
      return;
    }
    peel(loop, *step);
    ++numPeeled;
    if (remarks)
      loop.emitRemark() << "the last iteration stands behind the loop, whose " << counted.size()
                        << " loads need no comparison along it";
  }
  for (Counted &entry : counted) {
    entry.load->setAttr(insideAttrName, DenseI64ArrayAttr::get(loop.getContext(), entry.indices));
    ++numInside;
  }
}

void PeelLoops::peel(scf::ForOp loop, int64_t step) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value upper = loop.getUpperBound(), lower = loop.getLowerBound();
  Type counter = loop.getInductionVar().getType();
  Value by = arith::ConstantOp::create(b, loc, b.getIntegerAttr(counter, step));
  std::optional<int64_t> number = getConstantIntValue(upper);
  Value rest, whole;
  if (number) {
    whole = arith::ConstantOp::create(b, loc, b.getIntegerAttr(counter, *number - *number % step));
  } else {
    rest = arith::RemSIOp::create(b, loc, upper, by);
    whole = arith::SubIOp::create(b, loc, upper, rest);
  }
  TypeRange types = loop.getResultTypes();
  SmallVector<Value> results = llvm::to_vector_of<Value>(loop.getResults());
  // The same for one more iteration.
  auto emitLast = [&](OpBuilder &inside, ValueRange carried) {
    IRMapping map;
    map.map(loop.getInductionVar(), whole);
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      inside.clone(op, map);
    SmallVector<Value> yields;
    for (Value value : loop.getBody()->getTerminator()->getOperands())
      yields.push_back(map.lookupOrDefault(value));
    return yields;
  };
  SmallVector<Value> middle = results, last;
  if (number) {
    loop.setUpperBound(whole);
    b.setInsertionPointAfter(loop);
    last = emitLast(b, middle);
    // What stands behind the clones uses their results.
    Operation *behind = b.getInsertionPoint() == loop->getBlock()->end() ? nullptr : &*b.getInsertionPoint();
    for (auto [from, to] : llvm::zip_equal(results, last))
      from.replaceUsesWithIf(to, [&](OpOperand &use) {
        Operation *user = loop->getBlock()->findAncestorOpInBlock(*use.getOwner());
        return user && behind && !user->isBeforeInBlock(behind);
      });
    return;
  }
  // No whole tile at all: what is loaded ahead of the loop would lie outside.
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, whole, lower);
  auto branch = scf::IfOp::create(b, loc, types, any, /*addThenBlock=*/true, /*addElseBlock=*/true);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, loop.getInitArgs());
  b.setInsertionPointAfter(branch);
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, rest,
                                     arith::ConstantOp::create(b, loc, b.getIntegerAttr(counter, 0)).getResult());
  auto tail = scf::IfOp::create(b, loc, types, more, /*addThenBlock=*/true, /*addElseBlock=*/true);
  b.setInsertionPointToEnd(tail.thenBlock());
  scf::YieldOp::create(b, loc, emitLast(b, branch.getResults()));
  b.setInsertionPointToEnd(tail.elseBlock());
  scf::YieldOp::create(b, loc, branch.getResults());
  for (auto [from, to] : llvm::zip_equal(results, tail.getResults()))
    from.replaceAllUsesWith(to);
  loop.setUpperBound(whole);
  loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, results);
}
