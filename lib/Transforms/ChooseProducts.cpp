//===- ChooseProducts.cpp - Demands on products of f32 --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/ContractPlan.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace atrex {
#define GEN_PASS_DEF_CHOOSEPRODUCTSPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class ChooseProducts : public atrex::impl::ChooseProductsPassBase<ChooseProducts> {
public:
  using ChooseProductsPassBase::ChooseProductsPassBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (f32 != "auto" && f32 != "f32" && f32 != "xf32") {
      kernel.emitError() << "option 'f32' is '" << f32 << "'; it is one of auto, f32, xf32";
      return signalPassFailure();
    }
    if (f32 == "auto" || !kernel->hasAttr(atx::kernelAttrName) || kernel.isExternal())
      return;
    kernel.walk([&](vector::ContractionOp op) {
      if (!op.getLhsType().getElementType().isF32() || !op.getRhsType().getElementType().isF32())
        return;
      op->setAttr(tile::f32AttrName, StringAttr::get(&getContext(), f32));
      ++numProducts;
    });
  }
};

} // namespace
