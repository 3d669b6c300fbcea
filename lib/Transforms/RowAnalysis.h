//===- RowAnalysis.h - What the row mapping takes ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_ROWANALYSIS_H
#define ATREX_LIB_TRANSFORMS_ROWANALYSIS_H

#include "atrex/Target/Chip.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atrex {

/// Whether every pass of the row mapping can take the operator: all results have
/// the same rows, rows have a constant length and fit into registers, and what
/// is computed goes along them. Otherwise says why and where.
bool fitsRowMapping(mlir::func::FuncOp func, llvm::StringRef arch, std::string &reason, mlir::Location &where);

/// Whether a row of the operator, whose widest result has the type `result`, fits
/// into the registers of a workgroup (SelectMapping.cpp).
bool rowFitsRegisters(mlir::func::FuncOp func, mlir::RankedTensorType result, const ChipInfo &chip);

} // namespace atrex

#endif // ATREX_LIB_TRANSFORMS_ROWANALYSIS_H
