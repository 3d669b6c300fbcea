//===- AtxAMDGPUAtoms.td - Matrix, copy and atomic atoms ---*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUATOMS_TD
#define ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUATOMS_TD

include "dialects/Atx/AtxTypes.td"
include "dialects/AtxAMDGPU/AtxAMDGPUDialect.td"

class AtxAMDGPU_Attr<string name, string attrMnemonic, list<Trait> traits> : AttrDef<AtxAMDGPU_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Matrix atoms
//===----------------------------------------------------------------------===//

class AtxAMDGPU_MmaAttr<string name, string attrMnemonic, list<string> methods = []>
    : AtxAMDGPU_Attr<name, attrMnemonic, [DeclareAttrInterfaceMethods<Atx_MmaAtomInterface, methods>]> {
  code commonDeclarations = [{
    /// The row of the table of matrix instructions.
    const ::atrex::MatrixInstruction &getInstruction() const;
  }];
}

def AtxAMDGPU_MfmaAttr : AtxAMDGPU_MmaAttr<"Mfma", "mfma"> {
  let summary = "dense matrix instruction of a wave: v_mfma_*";
  let description = [{
    `MxNxK` and the element types of A, B and C. Types: `f64`, `f32`, `f16`,
    `bf16`, `i8` (C: `i32`), `f8E4M3FNUZ` and `f8E5M2FNUZ` on gfx942,
    `f8E4M3FN`, `f8E5M2`, `f6E2M3FN`, `f6E3M2FN` and `f4E2M1FN` on gfx950. `tf32`
    stands for XF32: operands are `f32` in memory and registers, of which the
    instruction ignores the low 13 bits.

    `blocks` independent products share an instruction of the small shapes; index
    M*K*block (N*K*block, M*N*block) is added to the positions of A (B, C). Such
    an atom serves fragments made by hand, because a partition has no mode for
    blocks. When every block reads the same A (`cbsz` = log2 `blocks`, A being
    that of block `abid`) or the same B (`blgp` 1, 2 of two blocks, 4 to 7 of
    four), it is one product of M x N*blocks or M*blocks x N instead, with that
    shape and its layouts, and can be partitioned.

    `cbsz` and `abid`: each group of 2^cbsz blocks takes A from its block `abid`.
    `blgp`: lanes of B are permuted before use (1: first half to both, 2: second
    half to both, 3: rotated by 16 lanes, 4 to 7: that group of 16 to all); the
    layout of B is the one without permutation. For `f64` the bits of `blgp`
    negate A, B and C.

    Example:

    ```mlir
    #atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>
    #atx_amdgpu.mfma<4x4x4, f16, f16, f32, blocks = 16, cbsz = 4, abid = 1>
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k, "::mlir::Type":$a, "::mlir::Type":$b,
    "::mlir::Type":$c, DefaultValuedParameter<"int64_t", "1">:$blocks, DefaultValuedParameter<"int64_t", "0">:$cbsz,
    DefaultValuedParameter<"int64_t", "0">:$abid, DefaultValuedParameter<"int64_t", "0">:$blgp);
  let assemblyFormat = [{
    `<` custom<MatrixShape>($m, $n, $k) `,` $a `,` $b `,` $c (`,` struct($blocks, $cbsz, $abid, $blgp)^)? `>`
  }];
  let extraClassDeclaration = commonDeclarations # [{
    /// Whether all blocks read one A, or one B: one wide product.
    bool sharesA() const;
    bool sharesB() const;
  }];
}

def AtxAMDGPU_ScaledMfmaAttr : AtxAMDGPU_MmaAttr<"ScaledMfma", "scaled_mfma", ["getNumExtraOperands"]> {
  let summary = "matrix instruction with a scale per 32 elements of k: v_mfma_scale_*";
  let description = [{
    gfx950. Every row of A and column of B has one E8M0 scale per 32 elements of
    k. The extra operands of the product are the scales of A and of B: 32 bits
    each (`i32`, `vector<4xi8>` or `vector<4xf8E8M0FNU>`), or one byte (`i8`).
    `selectA` and `selectB` choose the byte. Lane l holds the scale of row
    l mod M and of k from 32*(l div M) on.

    Example:

    ```mlir
    #atx_amdgpu.scaled_mfma<16x16x128, f8E4M3FN, f4E2M1FN, f32, selectB = 2>
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k, "::mlir::Type":$a, "::mlir::Type":$b,
    "::mlir::Type":$c, DefaultValuedParameter<"int64_t", "0">:$selectA,
    DefaultValuedParameter<"int64_t", "0">:$selectB);
  let assemblyFormat = [{
    `<` custom<MatrixShape>($m, $n, $k) `,` $a `,` $b `,` $c (`,` struct($selectA, $selectB)^)? `>`
  }];
  let extraClassDeclaration = commonDeclarations # [{
    /// (lane, 0) to row + M * (k div 32) of A's scales, with N for those of B.
    ::atrex::layout::Layout getScaleLayout(::atrex::atx::MmaOperand operand) const;
  }];
}

def AtxAMDGPU_SmfmacAttr : AtxAMDGPU_MmaAttr<"Smfmac", "smfmac", ["getNumExtraOperands"]> {
  let summary = "matrix instruction whose A is 4:2 sparse: v_smfmac_*";
  let description = [{
    K counts elements of B; of four consecutive k A stores two, so its positions
    are m + M * (stored k) with K/2 stored. The extra operand of the product is
    the index register (`i32`, or a vector of 32 bits): two bits per stored
    element, its k modulo 4. With `cbsz` 0, `abid` selects the part of the
    register that is used, otherwise the first.

    Example:

    ```mlir
    #atx_amdgpu.smfmac<16x16x32, bf16, bf16, f32>
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k, "::mlir::Type":$a, "::mlir::Type":$b,
    "::mlir::Type":$c, DefaultValuedParameter<"int64_t", "0">:$cbsz, DefaultValuedParameter<"int64_t", "0">:$abid);
  let assemblyFormat = [{
    `<` custom<MatrixShape>($m, $n, $k) `,` $a `,` $b `,` $c (`,` struct($cbsz, $abid)^)? `>`
  }];
  let extraClassDeclaration = commonDeclarations;
}

//===----------------------------------------------------------------------===//
// Copy atoms
//===----------------------------------------------------------------------===//

class AtxAMDGPU_CopyAttr<string name, string attrMnemonic, list<string> methods>
    : AtxAMDGPU_Attr<name, attrMnemonic, [DeclareAttrInterfaceMethods<Atx_CopyAtomInterface, methods>]>;

def AtxAMDGPU_CachePolicyParam : EnumParameter<AtxAMDGPU_CachePolicy> {
  let defaultValue = "::atrex::atx_amdgpu::CachePolicy::Cached";
}

def AtxAMDGPU_BufferCopyAttr : AtxAMDGPU_CopyAttr<"BufferCopy", "buffer_copy",
    ["getAlignment", "emitLoad", "emitStore"]> {
  let summary = "bounded load and store through a buffer resource";
  let description = [{
    Moves 8, 16, 32, 64, 96 or 128 bits between the memory space `buffer` and
    registers. Beyond the end of the resource loads give zero and stores do
    nothing. Addresses are aligned to 4 bytes, or to the width if that is less.
    The constant part of an address becomes the 12-bit offset of the instruction
    as far as it fits. The cache policy is `cached`, `nt` (streamed data), or
    names the coherence bits `sc0` and `sc1` as well.

    Example:

    ```mlir
    #atx_amdgpu.buffer_copy<128>
    #atx_amdgpu.buffer_copy<64, nt>
    ```
  }];
  let parameters = (ins "int64_t":$bits, AtxAMDGPU_CachePolicyParam:$cache);
  let assemblyFormat = "`<` $bits (`,` $cache^)? `>`";
}

def AtxAMDGPU_GlobalCopyAttr : AtxAMDGPU_CopyAttr<"GlobalCopy", "global_copy",
    ["getAlignment", "emitLoad", "emitStore"]> {
  let summary = "load and store of global memory in one instruction";
  let description = [{
    As `#atx.universal_copy`, for the memory space `global` only. The width is
    one an instruction has, and the policy is `cached` or `nt`, for data that is
    used once.

    Example:

    ```mlir
    #atx_amdgpu.global_copy<128, nt>
    ```
  }];
  let parameters = (ins "int64_t":$bits, AtxAMDGPU_CachePolicyParam:$cache);
  let assemblyFormat = "`<` $bits (`,` $cache^)? `>`";
}

def AtxAMDGPU_LdsCopyAttr : AtxAMDGPU_CopyAttr<"LdsCopy", "lds_copy", ["getAlignment", "emitLoad", "emitStore"]> {
  let summary = "read and write of LDS in one instruction";
  let description = [{
    As `#atx.universal_copy`, for the memory space `shared` only, and with the
    alignment that one instruction needs: 96 and 128 bits 16 bytes, where a
    universal copy with less would be split. Pairs of narrow accesses at nearby
    addresses become `ds_read2` and `ds_write2` by themselves.

    Example:

    ```mlir
    #atx_amdgpu.lds_copy<96>
    ```
  }];
  let parameters = (ins "int64_t":$bits);
  let assemblyFormat = "`<` $bits `>`";
}

def AtxAMDGPU_BufferCopyLdsAttr : AtxAMDGPU_CopyAttr<"BufferCopyLds", "buffer_copy_lds",
    ["getNumLanes", "getAlignment", "emitMove"]> {
  let summary = "bounded copy from a buffer to LDS that passes no registers";
  let description = [{
    32 bits per lane; on gfx950 96 and 128 as well. The sources of lanes are
    independent, the destinations are not: lane l writes at that of lane 0 plus l
    times the width, because the instruction has one LDS address per wave. So the
    64 lanes of a wave must own consecutive pieces of shared memory without a
    swizzle, and the base of the destination must be the same in all of them.
    Beyond the end of the resource zeros are written. The copy counts as a load:
    wait for it before the barrier that publishes the data.

    Example:

    ```mlir
    #atx_amdgpu.buffer_copy_lds<32>
    ```
  }];
  let parameters = (ins "int64_t":$bits, AtxAMDGPU_CachePolicyParam:$cache);
  let assemblyFormat = "`<` $bits (`,` $cache^)? `>`";
}

def AtxAMDGPU_GlobalCopyLdsAttr : AtxAMDGPU_CopyAttr<"GlobalCopyLds", "global_copy_lds",
    ["getNumLanes", "getAlignment", "emitMove"]> {
  let summary = "copy from global memory to LDS that passes no registers";
  let description = [{
    As `buffer_copy_lds`, from the memory space `global` and without bounds.

    Example:

    ```mlir
    #atx_amdgpu.global_copy_lds<128, nt>
    ```
  }];
  let parameters = (ins "int64_t":$bits, AtxAMDGPU_CachePolicyParam:$cache);
  let assemblyFormat = "`<` $bits (`,` $cache^)? `>`";
}

def AtxAMDGPU_LdsReadTransAttr : AtxAMDGPU_CopyAttr<"LdsReadTrans", "lds_read_trans",
    ["getNumLanes", "getAlignment", "emitLoad"]> {
  let summary = "read of LDS that transposes among 16 lanes: ds_read_*_tr_*";
  let description = [{
    gfx950. Each lane reads `bits` at its own address, n = `bits`/`elementBits`
    elements; the 16*n elements of a group of 16 lanes, in the order of lanes and
    addresses, are a matrix of n rows of 16, of which lane l receives column
    l mod 16: its value v is element 16*v + l mod 16 of the group. So a tile
    whose rows are contiguous arrives with the values of a lane running down the
    rows, as A and B of a matrix instruction want it.

    Forms: 64 bits of 16, 8 or 4-bit elements, 96 bits of 6-bit elements.

    Example:

    ```mlir
    #atx_amdgpu.lds_read_trans<64, 16>
    ```
  }];
  let parameters = (ins "int64_t":$bits, "int64_t":$elementBits);
  let assemblyFormat = "`<` $bits `,` $elementBits `>`";
  let extraClassDeclaration = [{
    /// (lane, value) to the position of the value among the elements of the wave
    /// in the order of lanes and addresses: ((16,4),n):((1,16n),16).
    ::atrex::layout::Layout getExchangeLayout() const;
  }];
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

class AtxAMDGPU_AtomicAttr<string name, string attrMnemonic>
    : AtxAMDGPU_CopyAttr<name, attrMnemonic, ["emitStore", "isReduction"]> {
  let parameters = (ins EnumParameter<Atx_AtomicKind>:$kind, "::mlir::Type":$type);
  let assemblyFormat = "`<` $kind `,` $type `>`";
}

def AtxAMDGPU_BufferAtomicAttr : AtxAMDGPU_AtomicAttr<"BufferAtomic", "buffer_atomic"> {
  let summary = "bounded atomic update through a buffer resource";
  let description = [{
    Combines register values with memory; beyond the end of the resource nothing
    happens. All five kinds of `i32` and `i64`, `add` of `f32`, all of `f64` but
    the unsigned ones, `add` of `vector<2xf16>` and, on gfx950, of
    `vector<2xbf16>`. Relaxed ordering.

    Example:

    ```mlir
    #atx_amdgpu.buffer_atomic<add, vector<2xf16>>
    ```
  }];
}

def AtxAMDGPU_GlobalAtomicAttr : AtxAMDGPU_AtomicAttr<"GlobalAtomic", "global_atomic"> {
  let summary = "atomic update of global memory by one instruction";
  let description = [{
    As `buffer_atomic` without bounds, with `add` of `vector<2xbf16>` on both
    chips. `#atx.universal_atomic` takes more types and may become a loop around
    compare-and-swap; this atom never does. Relaxed ordering, device scope.

    Example:

    ```mlir
    #atx_amdgpu.global_atomic<add, vector<2xbf16>>
    ```
  }];
}

def AtxAMDGPU_LdsAtomicAttr : AtxAMDGPU_AtomicAttr<"LdsAtomic", "lds_atomic"> {
  let summary = "atomic update of LDS by one instruction";
  let description = [{
    The kinds and types of `global_atomic`, and `max` and `min` of `f32`. Relaxed
    ordering, workgroup scope.

    Example:

    ```mlir
    #atx_amdgpu.lds_atomic<max, f32>
    ```
  }];
}

#endif // ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUATOMS_TD
