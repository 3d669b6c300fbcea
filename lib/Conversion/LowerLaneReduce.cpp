//===- LowerLaneReduce.cpp - DPP and one LDS exchange -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Conversion/Passes.h"
#include "atrex/Target/TargetChip.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace atrex {
#define GEN_PASS_DEF_LOWERLANEREDUCEPASS
#include "atrex/Conversion/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using atx_amdgpu::LaneReduceOp;
using atx_amdgpu::ReduceKind;

namespace {

gpu::AllReduceOperation getGPUOperation(ReduceKind kind, Type type) {
  bool isFloat = isa<FloatType>(type);
  switch (kind) {
  case ReduceKind::Add:
    return gpu::AllReduceOperation::ADD;
  case ReduceKind::Max:
    return isFloat ? gpu::AllReduceOperation::MAXIMUMF : gpu::AllReduceOperation::MAXSI;
  case ReduceKind::Min:
    return isFloat ? gpu::AllReduceOperation::MINIMUMF : gpu::AllReduceOperation::MINSI;
  }
  llvm_unreachable("covered switch");
}

Value combine(OpBuilder &builder, Location loc, ReduceKind kind, Value a, Value b) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
  case ReduceKind::Add:
    return isFloat ? Value(arith::AddFOp::create(builder, loc, a, b))
                   : Value(arith::AddIOp::create(builder, loc, a, b));
  case ReduceKind::Max:
    return isFloat ? Value(arith::MaximumFOp::create(builder, loc, a, b))
                   : Value(arith::MaxSIOp::create(builder, loc, a, b));
  case ReduceKind::Min:
    return isFloat ? Value(arith::MinimumFOp::create(builder, loc, a, b))
                   : Value(arith::MinSIOp::create(builder, loc, a, b));
  }
  llvm_unreachable("covered switch");
}

class LowerLaneReduce : public atrex::impl::LowerLaneReducePassBase<LowerLaneReduce> {
public:
  using LowerLaneReducePassBase::LowerLaneReducePassBase;

  void runOnOperation() override;

private:
  LogicalResult lower(LaneReduceOp op, const ChipInfo &chip);
};

} // namespace

LogicalResult LowerLaneReduce::lower(LaneReduceOp op, const ChipInfo &chip) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<VectorType>(op.getType());
  Type element = type.getElementType();
  int64_t lanes = op.getLanes(), wave = chip.waveSize;
  if (lanes == 1) {
    op.replaceAllUsesWith(op.getValue());
    op.erase();
    return success();
  }

  // Inside a wave.
  int64_t cluster = std::min(lanes, wave);
  gpu::AllReduceOperation operation = getGPUOperation(op.getKind(), element);
  SmallVector<Value> partial;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value scalar = vector::ExtractOp::create(builder, loc, op.getValue(), ArrayRef<int64_t>{i});
    partial.push_back(gpu::SubgroupReduceOp::create(builder, loc, scalar, operation, /*uniform=*/false,
                                                    /*cluster_size=*/uint32_t(cluster), /*cluster_stride=*/1u));
  }
  if (lanes <= wave) {
    op.replaceAllUsesWith(vector::FromElementsOp::create(builder, loc, type, partial).getResult());
    op.erase();
    return success();
  }

  // Across waves: slot [value][wave] of LDS.
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
  if (!block)
    return op.emitError() << "the kernel's workgroup size is not known; set 'known_block_size'";
  int64_t threads = block->front();
  if (llvm::any_of(block->drop_front(), [](int32_t extent) { return extent != 1; }))
    return op.emitError() << "reduces over " << lanes << " lanes in a workgroup of more than one dimension";
  if (threads < lanes || threads % lanes != 0)
    return op.emitError() << "reduces over " << lanes << " lanes in a workgroup of " << threads;
  int64_t numWaves = threads / wave, group = lanes / wave;
  auto ldsType = MemRefType::get({type.getNumElements(), numWaves}, element, MemRefLayoutAttrInterface(),
                                 gpu::AddressSpaceAttr::get(op.getContext(), gpu::AddressSpace::Workgroup));
  Value lds = kernel.addWorkgroupAttribution(ldsType, loc);

  auto index = [&](int64_t value) { return Value(arith::ConstantIndexOp::create(builder, loc, value)); };
  Value tid = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value lane = arith::RemUIOp::create(builder, loc, tid, index(wave));
  Value waveId = arith::DivUIOp::create(builder, loc, tid, index(wave));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, index(0));
  // In a loop, slower waves may still read what the previous turn left.
  if (op->getParentOfType<LoopLikeOpInterface>())
    gpu::BarrierOp::create(builder, loc);
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &b, Location l) {
    for (auto [i, value] : llvm::enumerate(partial))
      memref::StoreOp::create(b, l, value, lds, ValueRange{Value(arith::ConstantIndexOp::create(b, l, i)), waveId});
    scf::YieldOp::create(b, l);
  });
  gpu::BarrierOp::create(builder, loc);
  Value first = arith::SubIOp::create(builder, loc, waveId, arith::RemUIOp::create(builder, loc, waveId, index(group)));
  SmallVector<Value> results;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    auto rowType = VectorType::get(group, element);
    Value parts = vector::LoadOp::create(builder, loc, rowType, lds, ValueRange{index(i), first});
    // The order of the waves, so that all lanes get the same bits.
    Value sum = vector::ExtractOp::create(builder, loc, parts, ArrayRef<int64_t>{0});
    for (int64_t w = 1; w < group; ++w)
      sum = combine(builder, loc, op.getKind(), sum,
                    vector::ExtractOp::create(builder, loc, parts, ArrayRef<int64_t>{w}));
    results.push_back(sum);
  }
  op.replaceAllUsesWith(vector::FromElementsOp::create(builder, loc, type, results).getResult());
  op.erase();
  return success();
}

void LowerLaneReduce::runOnOperation() {
  gpu::GPUFuncOp kernel = this->getOperation();
  const ChipInfo *chip = getTarget(kernel, arch);
  if (!chip)
    return signalPassFailure();
  FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(chip->arch);
  if (failed(chipset))
    return signalPassFailure();
  SmallVector<LaneReduceOp> ops;
  kernel.walk([&](LaneReduceOp op) { ops.push_back(op); });
  for (LaneReduceOp op : ops)
    if (failed(lower(op, *chip)))
      return signalPassFailure();

  RewritePatternSet patterns(&getContext());
  populateGpuLowerSubgroupReduceToDPPPatterns(patterns, chip->waveSize, *chipset, /*benefit=*/3);
  populateGpuLowerClusteredSubgroupReduceToDPPPatterns(patterns, chip->waveSize, *chipset, /*benefit=*/3);
  populateGpuLowerClusteredSubgroupReduceToShufflePatterns(patterns, chip->waveSize);
  if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
    return signalPassFailure();
}
