//===- Lowering.h - Checked programs to MLIR --------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_LOWERING_H
#define ATREX_FRONTEND_LOWERING_H

#include "atrex/Frontend/Diagnostics.h"
#include "atrex/Frontend/Program.h"
#include "mlir/IR/BuiltinOps.h"

namespace atrex::frontend {

/// Appends a `func.func` that computes `op` with `linalg` on tensors to
/// `module`. Every operation has the position of its source expression.
void lower(const Operator &op, mlir::ModuleOp module, const Diagnostics &diags);

/// Adds what an operator that launches kernels becomes: the kernels, an operator
/// for each group of expressions between launches, and a plan, a `func.func` marked
/// `atx.plan` that launches them on memory.
void lowerPlan(const Operator &op, mlir::ModuleOp module, Diagnostics &diags);

/// Adds a kernel to `module` in tile form, a `func.func` marked `atx.kernel`. The
/// text of `raw` may have errors; these are reported.
void lowerKernel(const Operator &kernel, mlir::ModuleOp module, Diagnostics &diags);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_LOWERING_H
