//===- SchedulingPasses.h - Order of work and instructions ------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TRANSFORMS_SCHEDULINGPASSES_H
#define ATREX_TRANSFORMS_SCHEDULINGPASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func
namespace mlir::gpu {
class GPUFuncOp;
} // namespace mlir::gpu

namespace atrex {

#define GEN_PASS_DECL
#include "atrex/Transforms/SchedulingPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "atrex/Transforms/SchedulingPasses.h.inc"

} // namespace atrex

#endif // ATREX_TRANSFORMS_SCHEDULINGPASSES_H
