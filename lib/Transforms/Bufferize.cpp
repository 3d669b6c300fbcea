//===- Bufferize.cpp - Tensors become buffers in global memory --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace atrex {
#define GEN_PASS_DEF_BUFFERIZEPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class Bufferize : public atrex::impl::BufferizePassBase<Bufferize> {
public:
  using BufferizePassBase::BufferizePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    // All tensors of operator form live in global memory.
    options.defaultMemorySpaceFn = [](TensorType type) -> std::optional<Attribute> {
      return gpu::AddressSpaceAttr::get(type.getContext(), gpu::AddressSpace::Global);
    };
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(module, options, state)))
      return signalPassFailure();
    for (auto func : module.getOps<func::FuncOp>())
      if (func->hasAttr(atx::operatorAttrName) && failed(dropResults(func)))
        return signalPassFailure();
  }

private:
  /// Results are the output arguments themselves; a kernel returns nothing.
  LogicalResult dropResults(func::FuncOp func) {
    if (func.isExternal())
      return func.emitError() << "operator has no body";
    if (!func.getBody().hasOneBlock())
      return func.emitError() << "operator needs a body of one block";
    auto returnOp = cast<func::ReturnOp>(func.getBody().front().getTerminator());
    for (auto [index, value] : llvm::enumerate(returnOp.getOperands())) {
      auto arg = dyn_cast<BlockArgument>(value);
      if (!arg || !func.getArgAttr(arg.getArgNumber(), atx::outputAttrName))
        return returnOp.emitError() << "result " << index << " of the operator is not computed in an argument marked '"
                                    << atx::outputAttrName << "'";
    }
    returnOp->setOperands({});
    func.setResAttrsAttr({});
    func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(), TypeRange()));
    return success();
  }
};

} // namespace
