//===- AtxAMDGPUDialect.td - AMD dialect and its enums ------*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUDIALECT_TD
#define ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUDIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def AtxAMDGPU_Dialect : Dialect {
  let name = "atx_amdgpu";
  let summary = "What one lane does on an AMD GPU";
  let cppNamespace = "::atrex::atx_amdgpu";
  let description = [{
    Operations and atoms of fragment form that only AMD GPUs have: matrix
    instructions, bounded buffer access, copies that pass no registers, atomics
    of each memory, and reductions across the lanes of a workgroup. Values are
    what one lane holds.

    An atom is an attribute of an `atx.copy` or `atx.gemm`. It can be written
    down when some chip has the instruction; the operation that uses it verifies
    it for the chip of the enclosing `atx.target` and names the nearest
    instruction that chip has. Instructions, registers and lanes come from the
    tables of `lib/Target`.
  }];
  let dependentDialects = ["::atrex::atx::AtxDialect", "::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect",
    "::mlir::vector::VectorDialect"];
  let useDefaultAttributePrinterParser = 1;
}

def AtxAMDGPU_ReduceKind : I32EnumAttr<"ReduceKind", "how values of different lanes are combined", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::atrex::atx_amdgpu";
  let genSpecializedAttr = 0;
}
def AtxAMDGPU_ReduceKindAttr : EnumAttr<AtxAMDGPU_Dialect, AtxAMDGPU_ReduceKind, "reduce_kind">;

def AtxAMDGPU_CachePolicy : I32EnumAttr<"CachePolicy", "how caches treat an access: the bits of its instruction", [
    I32EnumAttrCase<"Cached", 0, "cached">,
    I32EnumAttrCase<"SC0", 1, "sc0">,
    I32EnumAttrCase<"NonTemporal", 2, "nt">,
    I32EnumAttrCase<"SC0NonTemporal", 3, "sc0_nt">,
    I32EnumAttrCase<"SC1", 16, "sc1">,
    I32EnumAttrCase<"SC0SC1", 17, "sc0_sc1">,
    I32EnumAttrCase<"SC1NonTemporal", 18, "sc1_nt">,
    I32EnumAttrCase<"SC0SC1NonTemporal", 19, "sc0_sc1_nt">]> {
  let cppNamespace = "::atrex::atx_amdgpu";
  let genSpecializedAttr = 0;
}

#endif // ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUDIALECT_TD
