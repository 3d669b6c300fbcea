//===- AtomSupport.h - What the AMD atoms share -----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DIALECTS_ATXAMDGPU_ATOMSUPPORT_H
#define ATREX_DIALECTS_ATXAMDGPU_ATOMSUPPORT_H

#include "atrex/Target/Chip.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"

namespace atrex::atx_amdgpu::detail {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// A chip of each architecture that code can be generated for.
llvm::SmallVector<const ChipInfo *> getAMDChips();

/// The chip that a target names. Fails with a diagnostic when it is not an AMD
/// chip of the table.
llvm::FailureOr<const ChipInfo *> getAMDChip(llvm::StringRef target, EmitError emitError);

/// An i32 constant of the LLVM dialect.
mlir::Value emitI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// Bits of a vector of integers or floats; zero for other types.
int64_t getVectorBits(mlir::Type type);

/// The registers of `vector` as another type of the same number of bits: a
/// vector, or a scalar.
mlir::Value emitBitcast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector, mlir::Type type);
/// The same from a scalar or vector to a vector.
mlir::Value emitBitcastFrom(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::VectorType type);

} // namespace atrex::atx_amdgpu::detail

#endif // ATREX_DIALECTS_ATXAMDGPU_ATOMSUPPORT_H
