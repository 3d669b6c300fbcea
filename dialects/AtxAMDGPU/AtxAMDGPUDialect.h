//===- AtxAMDGPUDialect.h - AMD operations of fragment form -----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUDIALECT_H
#define ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUDIALECT_H

#include "atrex/Target/Chip.h"
#include "atrex/Target/MatrixInstructions.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h.inc"

#include "dialects/AtxAMDGPU/AtxAMDGPUEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/AtxAMDGPU/AtxAMDGPUAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/AtxAMDGPU/AtxAMDGPUOps.h.inc"

namespace atrex::atx_amdgpu {

/// What the matrix unit calls an element type; both encodings of 8-bit floats are one. Nothing for types it lacks.
std::optional<MatrixType> getMatrixType(mlir::Type type);
/// `type`, 8-bit floats in the encoding that the chip's matrix unit has.
mlir::Type getTypeOn(const ChipInfo &chip, mlir::Type type);

/// Lowers `make_buffer`: the resource that starts at `source`, a lowered address
/// of global memory, and spans `bytes` (i64).
mlir::Value emitMakeBuffer(mlir::OpBuilder &builder, mlir::Location loc, const atx::Address &source, mlir::Value bytes);

} // namespace atrex::atx_amdgpu

#endif // ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUDIALECT_H
