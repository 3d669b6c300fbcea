//===- AtxTensorOps.td - Operators on whole tensors, plans -*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXTENSOROPS_TD
#define ATREX_DIALECTS_ATX_ATXTENSOROPS_TD

include "dialects/Atx/AtxTileOps.td"
include "mlir/IR/SymbolInterfaces.td"

class Atx_TensorOf<string predicate, string text> : Type<
    And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
         SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()", CPred<predicate>>]>,
    "ranked tensor of " # text, "::mlir::RankedTensorType">;
def Atx_AnyTensor : Atx_TensorOf<"::atrex::atx::isTileElementType($_self)", Atx_AnyElementText>;
def Atx_IntTensor : Atx_TensorOf<"::atrex::atx::isTileIntegerType($_self)", "i8, i16, i32, i64 or index">;
def Atx_I32Tensor : Atx_TensorOf<"$_self.isInteger(32)", "i32">;
def Atx_I1Tensor : Atx_TensorOf<"$_self.isInteger(1)", "i1">;

class Atx_TensorOp<string opMnemonic, list<Trait> traits = []> : Atx_Op<"tensor_" # opMnemonic, [Pure] # traits> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What linalg has no form for
//===----------------------------------------------------------------------===//

def Atx_TensorArgOp : Atx_TensorOp<"arg"> {
  let summary = "position of the largest or smallest element along an axis";
  let description = [{
    `argmax` or `argmin` of `atx.tile_reduce` on a tensor: the axis disappears,
    the first position of those with equal elements wins, NaN counts as larger
    (`argmax`) or smaller (`argmin`) than every number.

    Example:

    ```mlir
    %p = atx.tensor_arg argmax %x axis 1 : tensor<?x64xf32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Atx_TileReduceKindAttr:$kind, Atx_AnyTensor:$input, I64Attr:$axis, UnitAttr:$is_unsigned);
  let results = (outs Atx_I32Tensor:$result);
  let assemblyFormat = [{
    custom<TileReduceKind>($kind) $input `axis` $axis attr-dict `:` type($input) `->` type($result)
  }];
}

def Atx_TensorScanOp : Atx_TensorOp<"scan", [AllTypesMatch<["input", "result"]>]> {
  let summary = "combine all elements of a tensor up to each position of an axis";
  let description = [{
    `atx.tile_scan` on a tensor.

    Example:

    ```mlir
    %s = atx.tensor_scan sum %x axis 1 {exclusive} : tensor<?x64xi32>
    ```
  }];
  let arguments = (ins Atx_TileScanKindAttr:$kind, Atx_AnyTensor:$input, I64Attr:$axis, UnitAttr:$exclusive,
    UnitAttr:$reverse);
  let results = (outs Atx_AnyTensor:$result);
  let assemblyFormat = "custom<TileScanKind>($kind) $input `axis` $axis attr-dict `:` type($input)";
}

def Atx_TensorTopkOp : Atx_TensorOp<"topk"> {
  let summary = "the k largest elements along an axis of a tensor, and where they were";
  let description = [{
    `atx.tile_topk` on a tensor. `k` is at most the extent; it is a constant where
    the results have a static extent there.

    Example:

    ```mlir
    %k = arith.constant 4 : index
    %v, %i = atx.tensor_topk %x, %k axis 1 : tensor<?x16xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
    ```
  }];
  let arguments = (ins Atx_AnyTensor:$input, Index:$k, I64Attr:$axis, UnitAttr:$smallest, UnitAttr:$is_unsigned);
  let results = (outs Atx_AnyTensor:$values, Atx_I32Tensor:$indices);
  let assemblyFormat = [{
    $input `,` $k `axis` $axis attr-dict `:` type($input) `->` type($values) `,` type($indices)
  }];
}

def Atx_TensorRankOp : Atx_TensorOp<"rank"> {
  let summary = "how many earlier elements along an axis of a tensor are equal";
  let description = [{
    `atx.tile_rank` on a tensor.

    Example:

    ```mlir
    %r = atx.tensor_rank %x axis 0 : tensor<?xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Atx_IntTensor:$input, I64Attr:$axis);
  let results = (outs Atx_I32Tensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input) `->` type($result)";
}

def Atx_TensorHistogramOp : Atx_TensorOp<"histogram"> {
  let summary = "how often each of the numbers 0 to bins - 1 occurs in a tensor";
  let description = [{
    `atx.tile_histogram` on a tensor. The mask, where given, has the input's shape.
    An unsigned element counts as the number it is with `is_unsigned`.

    Example:

    ```mlir
    %n = arith.constant 16 : index
    %h = atx.tensor_histogram %x mask %m bins %n : tensor<?x8xi32> mask tensor<?x8xi1> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins Atx_IntTensor:$input, Index:$bins, Optional<Atx_I1Tensor>:$mask, UnitAttr:$is_unsigned);
  let results = (outs Atx_I32Tensor:$result);
  let assemblyFormat = [{
    $input (`mask` $mask^)? `bins` $bins attr-dict `:` type($input) (`mask` type($mask)^)? `->` type($result)
  }];
}

def Atx_TensorTakeOp : Atx_TensorOp<"take"> {
  let summary = "elements of a tensor by index along an axis";
  let description = [{
    `atx.tile_take` on a tensor: beside the axis, an extent of the index tensor is
    the input's or, statically, 1.

    Example:

    ```mlir
    %t = atx.tensor_take %x, %i axis 0 : tensor<?x64xf32>, tensor<?x1xi32> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Atx_AnyTensor:$input, Atx_I32Tensor:$index, I64Attr:$axis);
  let results = (outs Atx_AnyTensor:$result);
  let assemblyFormat = "$input `,` $index `axis` $axis attr-dict `:` type($input) `,` type($index) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Launch plans
//===----------------------------------------------------------------------===//

def Atx_LaunchOp : Atx_Op<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launch a kernel of a plan";
  let description = [{
    Stands in a function marked `atx.plan`. Operands are the arguments of the
    kernel, a function marked `atx.kernel`: tensors, scalars and run-time
    dimensions in its order. A function marked `atx.operator` may stand for the
    kernels that a schedule will make of it; it takes memory for its tensors. Launches run one after the other, each sees what the
    ones before wrote. The grid is the kernel's, at the dimensions passed.

    With `count`, only workgroups whose first grid index is below the number that
    the tensor element holds (i32, when the launch begins) do anything.

    Example:

    ```mlir
    func.func private @double(memref<?xf32>, memref<?xf32>, index) attributes {atx.kernel}
    func.func @plan(%x: memref<?xf32>, %y: memref<?xf32>, %counts: memref<4xi32>) attributes {atx.plan} {
      %zero = arith.constant 0 : index
      %n = memref.dim %x, %zero : memref<?xf32>
      %t = memref.alloc(%n) : memref<?xf32>
      atx.launch @double(%x, %t, %n) : memref<?xf32>, memref<?xf32>, index
      atx.launch @double(%t, %y, %n) count %counts[%zero] : memref<?xf32>, memref<?xf32>, index count memref<4xi32>
      return
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$args,
    Optional<AnyMemRef>:$countMemory, Variadic<Index>:$countIndices);
  let assemblyFormat = [{
    $kernel `(` $args `)` (`count` $countMemory^ `[` $countIndices `]`)? attr-dict
    (`:` type($args)^)? (`count` type($countMemory)^)?
  }];
  let hasVerifier = 1;
}

#endif // ATREX_DIALECTS_ATX_ATXTENSOROPS_TD
