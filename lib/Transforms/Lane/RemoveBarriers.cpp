//===- RemoveBarriers.cpp - Barriers that order nothing --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Transforms/Passes.h"

namespace atrex {
#define GEN_PASS_DEF_REMOVEBARRIERSPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

namespace {
class RemoveBarriers : public atrex::impl::RemoveBarriersPassBase<RemoveBarriers> {
public:
  using RemoveBarriersPassBase::RemoveBarriersPassBase;
  void runOnOperation() override {}
};
} // namespace
