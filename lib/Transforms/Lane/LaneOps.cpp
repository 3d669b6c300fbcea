//===- LaneOps.cpp - What the operations of a lane cost -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneOps.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::lane;

static constexpr unsigned ldsSpace = 3;

static unsigned getAddressSpace(Value pointer) {
  auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
  return type ? type.getAddressSpace() : 0;
}

/// 32-bit registers of a value, rounded up.
static unsigned getRegisters(Type type) {
  int64_t count = 1;
  if (auto vector = dyn_cast<VectorType>(type)) {
    count = vector.getNumElements();
    type = vector.getElementType();
  }
  if (type.isIndex())
    return count * 2;
  if (!type.isIntOrFloat())
    return 0;
  return unsigned(llvm::divideCeil(count * type.getIntOrFloatBitWidth(), 32));
}

Unit lane::getUnit(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name.starts_with("rocdl.mfma") || name.starts_with("rocdl.smfmac") || name.starts_with("amdgpu.mfma") ||
      name.starts_with("amdgpu.scaled_mfma") || name.starts_with("amdgpu.sparse_mfma"))
    return Unit::MFMA;
  if (isa<amdgpu::LDSBarrierOp, gpu::BarrierOp, ROCDL::SBarrierOp, ROCDL::BarrierOp>(op))
    return Unit::Barrier;
  if (auto fence = dyn_cast<ROCDL::SchedBarrier>(op))
    return fence.getMask() == 0 ? Unit::Fence : Unit::Other;
  if (isa<ROCDL::SetPrioOp>(op))
    return Unit::Fence;
  if (isa<ROCDL::SchedGroupBarrier, ROCDL::IglpOpt>(op))
    return Unit::Other;
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return getAddressSpace(load.getAddr()) == ldsSpace ? Unit::LDSRead : Unit::GlobalRead;
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return getAddressSpace(store.getAddr()) == ldsSpace ? Unit::LDSWrite : Unit::GlobalWrite;
  if (name.starts_with("rocdl.ds.read.tr"))
    return Unit::LDSRead;
  // Copies to shared memory issue as loads do.
  if (isa<ROCDL::RawPtrBufferLoadOp, ROCDL::RawPtrBufferLoadLdsOp>(op))
    return Unit::GlobalRead;
  if (isa<ROCDL::RawPtrBufferStoreOp>(op))
    return Unit::GlobalWrite;
  if (name.starts_with("rocdl.raw.") || name.contains("load.lds") || name.contains("load.to.lds") ||
      isa<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp, LLVM::FenceOp>(op))
    return Unit::Memory;
  if (op->getNumRegions() != 0) {
    bool touches = false;
    op->walk([&](Operation *inner) {
      Unit unit = inner == op ? Unit::Other : getUnit(inner);
      touches |= isMemory(unit) || unit == Unit::Barrier;
    });
    return touches ? Unit::Memory : Unit::Other;
  }
  if (isa<MemoryEffectOpInterface>(op) && !isMemoryEffectFree(op) && !name.starts_with("rocdl."))
    return Unit::Memory;
  return Unit::Other;
}

unsigned lane::countInstructions(Operation *op) {
  auto accesses = [](Type type) { return std::max(1u, unsigned(llvm::divideCeil(getRegisters(type), 4))); };
  switch (getUnit(op)) {
  case Unit::MFMA:
  case Unit::Barrier:
  case Unit::Fence:
  case Unit::Memory:
    break;
  case Unit::LDSRead:
  case Unit::GlobalRead:
    return op->getNumResults() == 1 ? accesses(op->getResult(0).getType()) : 1;
  case Unit::LDSWrite:
  case Unit::GlobalWrite:
    return accesses(op->getOperand(0).getType());
  case Unit::Other: {
    if (op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>())
      return 0;
    // Registers are named, not moved.
    if (isa_and_nonnull<vector::VectorDialect>(op->getDialect()) || isa<LLVM::BitcastOp, LLVM::AddressOfOp>(op))
      return 0;
    if (op->getNumRegions() != 0) {
      unsigned sum = 2;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            sum += countInstructions(&inner);
      return sum;
    }
    // Where lanes differ a lane's vector takes an instruction for each register.
    unsigned count = 0;
    for (Type type : op->getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type))
        count += unsigned(vector.getNumElements());
      else
        count += std::max(1u, getRegisters(type));
    return count;
  }
  }
  return 1;
}

SmallVector<scf::ForOp> lane::getInnermostLoops(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) {
    bool holdsLoop = false;
    loop.getBody()->walk([&](Operation *op) { holdsLoop |= isa<LoopLikeOpInterface>(op); });
    if (!holdsLoop)
      loops.push_back(loop);
  });
  return loops;
}

DenseSet<Operation *> lane::getDependents(Block &block, ArrayRef<Operation *> roots) {
  DenseSet<Operation *> result(roots.begin(), roots.end());
  for (Operation &op : block) {
    bool uses = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp())
          uses |= result.contains(def);
    });
    if (uses)
      result.insert(&op);
  }
  return result;
}
