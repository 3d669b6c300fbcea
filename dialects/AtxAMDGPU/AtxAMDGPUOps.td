//===- AtxAMDGPUOps.td - AMD operations of fragment form ---*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUOPS_TD
#define ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUOPS_TD

include "dialects/AtxAMDGPU/AtxAMDGPUAtoms.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class AtxAMDGPU_Op<string opMnemonic, list<Trait> traits = []> : Op<AtxAMDGPU_Dialect, opMnemonic, traits>;

def AtxAMDGPU_Resource : LLVM_PointerInAddressSpace<8>;

def AtxAMDGPU_MakeResourceOp : AtxAMDGPU_Op<"make_resource", [Pure]> {
  let summary = "make a buffer resource that ends where the view ends";
  let description = [{
    Builds a raw buffer resource whose base is the first element of `view` and
    whose size is the largest of extent times stride over the dimensions of the
    view. Reads beyond it give zero and writes beyond it are dropped, so a tile
    at the end of a tensor needs no branch. The view must span less than 2^31
    bytes.

    Example:

    ```mlir
    %r = atx_amdgpu.make_resource %view
        : memref<?x1024xbf16, strided<[1024, 1], offset: ?>> -> !llvm.ptr<8>
    ```
  }];
  let arguments = (ins AnyNon0RankedMemRef:$view);
  let results = (outs AtxAMDGPU_Resource:$resource);
  let assemblyFormat = "$view attr-dict `:` type($view) `->` qualified(type($resource))";
  let hasVerifier = 1;
}

def AtxAMDGPU_MakeBufferOp : AtxAMDGPU_Op<"make_buffer", [Pure]> {
  let summary = "pointer to global memory that knows its end";
  let description = [{
    Builds a raw buffer resource that starts at `ptr` and holds `bytes` bytes, as
    the base of a pointer of the memory space `buffer`. Reads beyond the end give
    zero and writes are dropped, so the edge of a tensor needs no branch. Offsets
    from the base have 32 bits; `bytes` is not negative and less than 2^31. `ptr`
    and `bytes` are the same in all lanes of a wave.

    Example:

    ```mlir
    %b = atx_amdgpu.make_buffer %p, %bytes
        : !atx.ptr<bf16, global, align = 16> -> !atx.ptr<bf16, buffer, align = 16>
    ```
  }];
  let arguments = (ins Atx_PtrType:$ptr, I64:$bytes);
  let results = (outs Atx_PtrType:$result);
  let assemblyFormat = "$ptr `,` $bytes attr-dict `:` qualified(type($ptr)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def AtxAMDGPU_BufferLoadOp : AtxAMDGPU_Op<"buffer_load"> {
  let summary = "load consecutive elements through a buffer resource";
  let description = [{
    Loads `result` from element `offset + constOffset` of the resource; zero
    where that lies outside, or where `mask` is false. The access is 1, 2, 4, 8,
    12 or 16 bytes wide and aligned to its width or to 4 bytes, whichever is
    smaller.

    Example:

    ```mlir
    %v = atx_amdgpu.buffer_load %r[%offset + 512] : vector<8xbf16>
    %w = atx_amdgpu.buffer_load %r[%offset + 1024] mask %m : vector<8xbf16>
    ```
  }];
  let arguments = (ins
    Arg<AtxAMDGPU_Resource, "", [MemRead]>:$resource, I32:$offset, I32Attr:$constOffset, Optional<I1>:$mask);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    $resource `[` $offset `+` $constOffset `]` (`mask` $mask^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def AtxAMDGPU_BufferStoreOp : AtxAMDGPU_Op<"buffer_store"> {
  let summary = "store consecutive elements through a buffer resource";
  let description = [{
    Stores `value` at element `offset + constOffset` of the resource. Dropped
    where that lies outside, or where `mask` is false. Widths and alignment are
    those of `buffer_load`.

    Example:

    ```mlir
    atx_amdgpu.buffer_store %v, %r[%offset + 512] : vector<8xbf16>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$value, Arg<AtxAMDGPU_Resource, "", [MemWrite]>:$resource, I32:$offset,
    I32Attr:$constOffset, Optional<I1>:$mask);
  let assemblyFormat = [{
    $value `,` $resource `[` $offset `+` $constOffset `]` (`mask` $mask^)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def AtxAMDGPU_LaneReduceOp : AtxAMDGPU_Op<"lane_reduce", [SameOperandsAndResultType]> {
  let summary = "combine a value over neighbouring work-items";
  let description = [{
    Every group of `lanes` consecutive work-items receives, element by element,
    the combination of its members' values. Up to 64 lanes this is done by DPP
    inside a wave; beyond, waves exchange one value each through LDS and one
    barrier, so all work-items of the workgroup must arrive here together.

    The order of combination is fixed: results do not change from run to run.

    Example:

    ```mlir
    %s = atx_amdgpu.lane_reduce add %v over 256 : vector<2xf32>
    ```
  }];
  let arguments = (ins AtxAMDGPU_ReduceKindAttr:$kind, VectorOfRankAndType<[1], [F32, I32]>:$value, I64Attr:$lanes);
  let results = (outs VectorOfRankAndType<[1], [F32, I32]>:$result);
  let assemblyFormat = "$kind $value `over` $lanes attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif // ATREX_DIALECTS_ATXAMDGPU_ATXAMDGPUOPS_TD
