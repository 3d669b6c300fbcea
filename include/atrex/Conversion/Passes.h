//===- Passes.h - Passes from fragment form to LLVM ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_CONVERSION_PASSES_H
#define ATREX_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::gpu {
class GPUFuncOp;
class GPUModuleOp;
} // namespace mlir::gpu

namespace atrex {

#define GEN_PASS_DECL
#include "atrex/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "atrex/Conversion/Passes.h.inc"

} // namespace atrex

#endif // ATREX_CONVERSION_PASSES_H
