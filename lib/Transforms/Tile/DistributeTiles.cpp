//===- DistributeTiles.cpp - Tiles to what one lane holds -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossRemarks.h"
#include "TileLowering.h"
#include "atrex/Target/TargetChip.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace atrex {
#define GEN_PASS_DEF_DISTRIBUTETILESPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

namespace {

class DistributeTiles : public atrex::impl::DistributeTilesPassBase<DistributeTiles> {
public:
  using DistributeTilesPassBase::DistributeTilesPassBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    const ChipInfo *chip = getTarget(module, arch);
    if (!chip)
      return signalPassFailure();
    if (cachePolicy != "auto" && cachePolicy != "none") {
      module.emitError() << "'cache-policy=" << StringRef(cachePolicy) << "' is not possible: it is auto or none";
      return signalPassFailure();
    }
    for (auto kernel : llvm::to_vector(module.getOps<gpu::GPUFuncOp>())) {
      if (!kernel->hasAttr(atx::kernelAttrName))
        continue;
      TileEmitter emitter(kernel, *chip, bufferAccess);
      emitter.remarks = remarks;
      emitter.streams = cachePolicy == "auto";
      if (auto threads = kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName);
          threads && wantsLossRemarks(kernel)) {
        emitter.remarks = true;
        reportLosses(kernel, threads.getInt(), *chip);
      }
      if (failed(emitter.run()))
        return signalPassFailure();
      kernel->removeAttr(atx::kernelAttrName);
      numConversions += emitter.numConversions;
      numLDSConversions += emitter.numLDSConversions;
      numBarriers += emitter.numBarriers;
      numOrderBarriers += emitter.numOrderBarriers;
      numNonTemporal += emitter.numNonTemporal;
      numVectorAccesses += emitter.numVectorAccesses;
      numScalarAccesses += emitter.numScalarAccesses;
    }
  }
};

} // namespace
