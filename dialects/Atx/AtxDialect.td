//===- AtxDialect.td - Target-neutral kernel dialect -------*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXDIALECT_TD
#define ATREX_DIALECTS_ATX_ATXDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Atx_Dialect : Dialect {
  let name = "atx";
  let summary = "Layout algebra, views, atoms and mappings of kernels, independent of the target";
  let cppNamespace = "::atrex::atx";
  let description = [{
    The `atx` dialect says how the elements of a tile are spread over the
    threads of a workgroup. Its attributes accompany operations of upstream
    dialects (`vector`, `arith`, `math`) on the way from tile form to fragment
    form.

    Discardable attributes of the dialect:

    | attribute | on | meaning |
    |---|---|---|
    | `atx.operator` | `func.func` | the function is an operator in operator form |
    | `atx.dims` | `func.func` | names of its run-time dimensions |
    | `atx.name` | function arguments | the parameter's name in the source |
    | `atx.shape` | function arguments | extents as dimension expressions |
    | `atx.type` | function arguments | element type in the source where the argument's own type cannot say it (unsigned integers) |
    | `atx.output` | function arguments | the tensor is a result |
    | `atx.default` | function arguments | value of a scalar that is not given |
    | `atx.plan` | `func.func`, `builtin.module` | the function launches kernels; what its launches are bound to |
    | `atx.kernel` | `func.func` | the function is one workgroup's program in tile form |
    | `atx.grid` | kernels | number of workgroups along each axis, as dimension expressions |
    | `atx.threads` | kernels | work-items of a workgroup |
    | `atx.workspace` | function arguments | the tensor is memory between the kernels of a launch plan |
    | `atx.mapping` | `func.func`, `gpu.func` | how the iteration space is mapped |
    | `atx.layout` | operations with vector results | where their elements live |
    | `atx.target` | `builtin.module`, `gpu.module`, functions | architecture or chip that atoms inside are verified for |
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

class Atx_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Atx_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Atx_TVAttr : Atx_Attr<"TV", "tv"> {
  let summary = "Thread-value layout of a tile";
  let description = [{
    Maps a thread and a value index to a coordinate of a tile. Each side is a
    list of modes, the first mode varying fastest; a mode has an extent and a
    stride, and the stride is a basis element `sEd`: advancing the mode by one
    moves `s` elements along dimension `d` of the tile. A thread mode with
    stride `0` repeats the same elements in all of its threads.

    The element (thread, value) lies at the sum of the contributions of all
    modes. Every element of the tile must be reached, and two values of one
    thread must never meet.

    Example: a 16 x 1152 tile on 256 threads, 16 threads per row, each holding
    9 runs of 8 consecutive elements:

    ```mlir
    #atx.tv<(16, 16):(8E1, 1E0), (8, 9):(1E1, 128E1)>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$threadShape,
    ArrayRefParameter<"int64_t">:$threadSteps,
    ArrayRefParameter<"int64_t">:$threadDims,
    ArrayRefParameter<"int64_t">:$valueShape,
    ArrayRefParameter<"int64_t">:$valueSteps,
    ArrayRefParameter<"int64_t">:$valueDims
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of threads, including those that repeat elements.
    int64_t getNumThreads() const;
    /// Elements one thread holds.
    int64_t getNumValues() const;
    /// Extents of the smallest tile of rank `rank` that holds all coordinates.
    ::llvm::SmallVector<int64_t> getTileShape(unsigned rank) const;
    /// Shape of the vector one thread holds: the value modes, slowest first;
    /// `[1]` when there is none.
    ::llvm::SmallVector<int64_t> getFragmentShape() const;
    /// The layout of a tile from which the dimensions marked in `dropped` have
    /// been removed: their value modes disappear, their thread modes repeat.
    /// Remaining dimensions are renumbered.
    TVAttr project(const ::llvm::SmallBitVector &dropped) const;
    /// Whether this layout reaches every element of a tile of `shape` exactly
    /// once (thread modes with stride 0 aside).
    bool covers(::llvm::ArrayRef<int64_t> shape) const;
  }];
}

def Atx_MappingAttr : Atx_Attr<"Mapping", "mapping"> {
  let summary = "How an operator's iteration space is mapped to workgroups";
  let description = [{
    `tile` holds, for every dimension of the operator's outputs, the extent one
    workgroup computes, padded to what `layout` covers; `extent` the same
    without padding. Dimension 0 is spread over workgroups. `layout` spreads
    the tile over the `threads` of the workgroup.

    Example:

    ```mlir
    #atx.mapping<tile = [16, 1152], extent = [16, 1152], threads = 256,
                 layout = <(16, 16):(8E1, 1E0), (8, 9):(1E1, 128E1)>>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$tile,
    ArrayRefParameter<"int64_t">:$extent,
    "int64_t":$threads,
    "TVAttr":$layout
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // ATREX_DIALECTS_ATX_ATXDIALECT_TD
