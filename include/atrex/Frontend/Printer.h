//===- Printer.h - Kernel language text of MLIR -----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_PRINTER_H
#define ATREX_FRONTEND_PRINTER_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace atrex::frontend {

/// A source of the kernel language that means what `module` does: functions
/// marked `atx.kernel` (tile form) become kernels, those marked `atx.operator`
/// (`linalg` on tensors) become operators. Parameters have the names of
/// `atx.name`, values those of their name locations. Dimensions, knobs and
/// constants that were put in are numbers. The text is not yet formatted.
///
/// std::nullopt after an error at an operation that the language has no form for.
std::optional<std::string> printSource(mlir::ModuleOp module);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_PRINTER_H
