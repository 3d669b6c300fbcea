//===- InitAll.cpp - The one file that includes everything ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Every other file names what it needs; the upstream InitAll headers take tens of
// seconds to compile and stand here alone.

#include "atrex/Conversion/Passes.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Transforms/Passes.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "dialects/Atx/AtxDialect.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include <mutex>

void atrex::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  registry.insert<atx::AtxDialect, atx_amdgpu::AtxAMDGPUDialect>();
}

void atrex::registerAllPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerAllPasses();
    registerAtrexTransformsPasses();
    registerAtrexSchedulingPasses();
    registerAtrexConversionPasses();
  });
}
