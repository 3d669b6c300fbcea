//===- RemoveBarriers.cpp - Barriers that order nothing --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Transforms/SchedulingPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace atrex {
#define GEN_PASS_DEF_REMOVEBARRIERSPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

namespace {
class RemoveBarriers : public atrex::impl::RemoveBarriersPassBase<RemoveBarriers> {
public:
  using RemoveBarriersPassBase::RemoveBarriersPassBase;
  void runOnOperation() override {}
};
} // namespace
