//===- AtxTileOps.td - Operations on a workgroup's tiles ---*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXTILEOPS_TD
#define ATREX_DIALECTS_ATX_ATXTILEOPS_TD

include "dialects/Atx/AtxMemoryOps.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// Types and kinds
//===----------------------------------------------------------------------===//

class Atx_TileOf<string predicate, string text> : Type<
    And<[CPred<"::atrex::atx::isTileType($_self)">,
         SubstLeaves<"$_self", "::llvm::cast<::mlir::VectorType>($_self).getElementType()", CPred<predicate>>]>,
    "tile (vector of rank 1 or more, at most 4194304 elements) of " # text, "::mlir::VectorType">;
class Atx_ElementOf<string predicate, string text> : Type<CPred<predicate>, text>;

defvar Atx_AnyElementText = "i1, i8, i16, i32, i64, index or a float type of the language";
def Atx_AnyTile : Atx_TileOf<"::atrex::atx::isTileElementType($_self)", Atx_AnyElementText>;
def Atx_AnyElement : Atx_ElementOf<"::atrex::atx::isTileElementType($_self)", Atx_AnyElementText>;
def Atx_TileOrElement : AnyTypeOf<[Atx_AnyTile, Atx_AnyElement]>;
def Atx_IndexTile : Atx_TileOf<"::atrex::atx::isTileIndexType($_self)", "i32, i64 or index">;
def Atx_IndexOperand : AnyTypeOf<[Atx_IndexTile, Atx_ElementOf<"::atrex::atx::isTileIndexType($_self)",
  "i32, i64 or index">]>;
def Atx_IntTile : Atx_TileOf<"::atrex::atx::isTileIntegerType($_self)", "i8, i16, i32, i64 or index">;
def Atx_I32Tile : Atx_TileOf<"$_self.isInteger(32)", "i32">;
def Atx_I1Tile : Atx_TileOf<"$_self.isInteger(1)", "i1">;
def Atx_Mask : AnyTypeOf<[Atx_I1Tile, I1], "i1 tile or i1">;
def Atx_TileMemory : Type<CPred<"::atrex::atx::isTileMemoryType($_self)">,
  "memref of elements of the language whose strides are those of its layout attribute", "::mlir::MemRefType">;

def Atx_TileAtomicKind : I32EnumAttr<"TileAtomicKind", "what an atomic operation does to an element", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">,
    I32EnumAttrCase<"UMax", 3, "umax">, I32EnumAttrCase<"UMin", 4, "umin">, I32EnumAttrCase<"And", 5, "and">,
    I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">, I32EnumAttrCase<"Exchange", 8, "exchange">,
    I32EnumAttrCase<"Cas", 9, "cas">]> {
  let cppNamespace = "::atrex::atx";
  let genSpecializedAttr = 0;
}
def Atx_TileAtomicKindAttr : EnumAttr<Atx_Dialect, Atx_TileAtomicKind, "tile_atomic_kind">;

def Atx_TileReduceKind : I32EnumAttr<"TileReduceKind", "how elements are combined into one", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"UMax", 4, "umax">, I32EnumAttrCase<"UMin", 5, "umin">,
    I32EnumAttrCase<"ArgMax", 6, "argmax">, I32EnumAttrCase<"ArgMin", 7, "argmin">,
    I32EnumAttrCase<"Any", 8, "any">, I32EnumAttrCase<"All", 9, "all">]> {
  let cppNamespace = "::atrex::atx";
  let genSpecializedAttr = 0;
}
def Atx_TileReduceKindAttr : EnumAttr<Atx_Dialect, Atx_TileReduceKind, "tile_reduce_kind">;

def Atx_TileScanKind : I32EnumAttr<"TileScanKind", "how elements before a position are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"UMax", 4, "umax">, I32EnumAttrCase<"UMin", 5, "umin">]> {
  let cppNamespace = "::atrex::atx";
  let genSpecializedAttr = 0;
}
def Atx_TileScanKindAttr : EnumAttr<Atx_Dialect, Atx_TileScanKind, "tile_scan_kind">;

class Atx_TileOp<string opMnemonic, list<Trait> traits = []> : Atx_Op<"tile_" # opMnemonic, traits> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Atx_TileIotaOp : Atx_TileOp<"iota", [Pure]> {
  let summary = "tile of the numbers 0, 1, 2, ...";
  let description = [{
    Element i is i. The last number must be representable in the element type
    as a signed integer (`index`: always).

    Example:

    ```mlir
    %i = atx.tile_iota : vector<64xi32>
    ```
  }];
  let results = (outs Atx_IntTile:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Atx_TileLoadOp : Atx_TileOp<"load", [AttrSizedOperandSegments,
    OptionalTypesMatchWith<"the fill value has the element type of the memory", "memory", "fill",
      "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "read elements of a tensor, or of shared memory, by index";
  let description = [{
    One index for every dimension of the memory. An index is a scalar or a tile
    of the result's rank whose extents are those of the result or 1. Element r
    of the result is the element of memory at the indices of r if every index,
    taken as a signed number, is inside its dimension, else `fill` (zero where
    no fill is given). Memory outside is never accessed. With scalar indices
    only the result is a scalar.

    Example: 16 rows from `%r` of which `%n` columns exist, -1 elsewhere:

    ```mlir
    %f = arith.constant -1.0 : f32
    %x = atx.tile_load %m[%r, %c] fill %f : memref<?x64xf32>, vector<16x1xi32>, vector<1x80xi32> -> vector<16x80xf32>
    %y = atx.tile_load %m[%i, %j] : memref<?x64xf32>, index, i32 -> f32
    ```
  }];
  let arguments = (ins Arg<Atx_TileMemory, "", [MemRead]>:$memory, Variadic<Atx_IndexOperand>:$indices,
    Optional<Atx_AnyElement>:$fill);
  let results = (outs Atx_TileOrElement:$result);
  let assemblyFormat = [{
    $memory `[` $indices `]` (`fill` $fill^)? attr-dict `:` type($memory) (`,` type($indices)^)? `->` type($result)
  }];
}

def Atx_TileStoreOp : Atx_TileOp<"store", [AttrSizedOperandSegments]> {
  let summary = "write elements of a tensor, or of shared memory, by index";
  let description = [{
    Indices as for `atx.tile_load`, with the shape of the value. Elements with
    an index outside of the memory, and those whose mask is false, are dropped.
    The mask is `i1` or a tile of it of the value's rank whose extents are the
    value's or 1. Where several elements have one address one of them is
    stored; which one is not defined.

    Example:

    ```mlir
    atx.tile_store %v, %m[%r, %c] mask %p : vector<16x80xf32>, memref<?x64xf32>, vector<16x1xi32>, vector<1x80xi32> mask vector<16x1xi1>
    ```
  }];
  let arguments = (ins Atx_TileOrElement:$value, Arg<Atx_TileMemory, "", [MemWrite]>:$memory,
    Variadic<Atx_IndexOperand>:$indices, Optional<Atx_Mask>:$mask);
  let assemblyFormat = [{
    $value `,` $memory `[` $indices `]` (`mask` $mask^)? attr-dict `:` type($value) `,` type($memory)
    (`,` type($indices)^)? (`mask` type($mask)^)?
  }];
}

def Atx_TileAtomicOp : Atx_TileOp<"atomic", [AttrSizedOperandSegments, AllTypesMatch<["value", "old"]>,
    OptionalTypesMatchWith<"what is compared has the type of the value", "value", "compare", "$_self">]> {
  let summary = "combine elements with those in memory, each of them in one step";
  let description = [{
    Indices and mask as for `atx.tile_store`. Every element that is inside and
    not masked is combined with memory indivisibly, relaxed, visible to the
    device (to the workgroup for shared memory); several elements with one
    address all take effect, in an order that is not defined. The result holds
    what memory held before; 0 for elements outside or masked.

    `add` wraps for integers and rounds each step for floats; `max` and `min`
    compare as signed numbers, floats give NaN if either is one; `umax` and
    `umin` compare as unsigned; `cas` stores the value where memory has the bits
    of `cmp`. Elements are i32, i64, f32, f64, and f16, bf16 for `add`.

    Example:

    ```mlir
    %old = atx.tile_atomic add %v, %m[%i] mask %p : vector<64xi32>, memref<16xi32>, vector<64xi32> mask vector<64xi1>
    %z = arith.constant 0 : i32
    %was = atx.tile_atomic cas %s, %m[%j] cmp %z : i32, memref<16xi32>, index
    ```
  }];
  let arguments = (ins Atx_TileAtomicKindAttr:$kind, Atx_TileOrElement:$value,
    Arg<Atx_TileMemory, "", [MemRead, MemWrite]>:$memory, Variadic<Atx_IndexOperand>:$indices,
    Optional<Atx_TileOrElement>:$compare, Optional<Atx_Mask>:$mask);
  let results = (outs Atx_TileOrElement:$old);
  let assemblyFormat = [{
    custom<TileAtomicKind>($kind) $value `,` $memory `[` $indices `]` (`cmp` $compare^)? (`mask` $mask^)? attr-dict
    `:` type($value) `,` type($memory) (`,` type($indices)^)? (`mask` type($mask)^)?
  }];
}

def Atx_TileSharedOp : Atx_TileOp<"shared"> {
  let summary = "memory of the workgroup";
  let description = [{
    Memory shared by the work-items of a workgroup, of static shape, whose
    contents are not defined at first. Two executions of one operation may
    give the same memory. Loads, stores and atomics work on it as on tensors,
    in the order of the program; `atx-distribute-tiles` places barriers.

    Example:

    ```mlir
    %s = atx.tile_shared : memref<64x65xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let results = (outs Res<Atx_TileMemory, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

def Atx_TileReduceOp : Atx_TileOp<"reduce", [Pure]> {
  let summary = "combine the elements along axes";
  let description = [{
    The axes disappear; without a remaining one the result is a scalar.

    | kind | elements | meaning |
    |---|---|---|
    | `sum` `prod` | integer, f16, bf16, f32, f64 | integers wrap; the order of a float operation is not defined, each step rounds to the element type |
    | `max` `min` | the same | integers are signed; floats give NaN if any is one, -0 is below +0 |
    | `umax` `umin` | integer | unsigned |
    | `argmax` `argmin` | the same as `max` | position (i32) of the first largest or smallest element along the one axis; integers are signed, or unsigned with `is_unsigned`; -0 equals +0; NaN is larger than every number for `argmax` and smaller for `argmin`, so the first NaN wins |
    | `any` `all` | i1 | |

    Example:

    ```mlir
    %s = atx.tile_reduce sum %x axes [1, 2] : vector<4x8x16xf32> -> vector<4xf32>
    %a = atx.tile_reduce argmax %y axes [0] {is_unsigned} : vector<8xi32> -> i32
    ```
  }];
  let arguments = (ins Atx_TileReduceKindAttr:$kind, Atx_AnyTile:$input, DenseI64ArrayAttr:$axes, UnitAttr:$is_unsigned);
  let results = (outs Atx_TileOrElement:$result);
  let assemblyFormat = [{
    custom<TileReduceKind>($kind) $input `axes` $axes attr-dict `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// The type of the result for a valid input, kind and axes.
    static ::mlir::Type getResultType(::mlir::VectorType input, TileReduceKind kind, ::llvm::ArrayRef<int64_t> axes);
  }];
}

def Atx_TileScanOp : Atx_TileOp<"scan", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "combine all elements up to each position of an axis";
  let description = [{
    Element i is the combination of elements 0 to i, without i itself if
    `exclusive` (then the first is the neutral element: 0, 1, or the smallest
    or largest value of the type, for floats an infinity). `reverse` counts from
    the end. Kinds as for `atx.tile_reduce`; the order of a float `sum` or `prod`
    is not defined.

    Example:

    ```mlir
    %s = atx.tile_scan sum %x axis 1 {exclusive} : vector<4x64xi32>
    ```
  }];
  let arguments = (ins Atx_TileScanKindAttr:$kind, Atx_AnyTile:$input, I64Attr:$axis, UnitAttr:$exclusive,
    UnitAttr:$reverse);
  let results = (outs Atx_AnyTile:$result);
  let assemblyFormat = "custom<TileScanKind>($kind) $input `axis` $axis attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Atx_TileTopkOp : Atx_TileOp<"topk", [Pure]> {
  let summary = "the k largest elements along an axis, and where they were";
  let description = [{
    Values in descending order, with `smallest` the smallest in ascending order.
    Stable: among equal elements the one of the lower index comes first. NaN
    equals NaN and is larger than every number; -0 equals +0. Integers compare
    as signed, with `is_unsigned` as unsigned. With k the extent this sorts.

    Example:

    ```mlir
    %v, %i = atx.tile_topk %x k 4 axis 1 : vector<8x16xf32> -> vector<8x4xf32>, vector<8x4xi32>
    %w, %j = atx.tile_topk %y k 8 axis 0 {smallest, is_unsigned} : vector<8xi32> -> vector<8xi32>, vector<8xi32>
    ```
  }];
  let arguments = (ins Atx_AnyTile:$input, I64Attr:$k, I64Attr:$axis, UnitAttr:$smallest, UnitAttr:$is_unsigned);
  let results = (outs Atx_AnyTile:$values, Atx_I32Tile:$indices);
  let assemblyFormat = [{
    $input `k` $k `axis` $axis attr-dict `:` type($input) `->` type($values) `,` type($indices)
  }];
}

def Atx_TileRankOp : Atx_TileOp<"rank", [Pure]> {
  let summary = "how many earlier elements along an axis are equal";
  let description = [{
    Element i of the result is the number of j < i with the same integer. A
    counting sort places element i at the start of its value plus its rank.

    Example:

    ```mlir
    %r = atx.tile_rank %x axis 0 : vector<64xi32> -> vector<64xi32>
    ```
  }];
  let arguments = (ins Atx_IntTile:$input, I64Attr:$axis);
  let results = (outs Atx_I32Tile:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input) `->` type($result)";
}

def Atx_TileHistogramOp : Atx_TileOp<"histogram", [Pure]> {
  let summary = "how often each of the numbers 0 to N - 1 occurs";
  let description = [{
    Counts the elements of the whole tile, each taken as a signed number; others
    than 0 to N - 1, and those whose mask is false, are ignored. The mask is
    `i1` or a tile of it whose extents are the input's or 1.

    Example:

    ```mlir
    %h = atx.tile_histogram %x mask %p : vector<4x64xi32> mask vector<4x1xi1> -> vector<16xi32>
    ```
  }];
  let arguments = (ins Atx_IntTile:$input, Optional<Atx_Mask>:$mask);
  let results = (outs Atx_I32Tile:$result);
  let assemblyFormat = [{
    $input (`mask` $mask^)? attr-dict `:` type($input) (`mask` type($mask)^)? `->` type($result)
  }];
}

def Atx_TileConcatOp : Atx_TileOp<"concat", [Pure]> {
  let summary = "tiles one after the other along an axis";
  let description = [{
    All inputs have the element type, the rank and, except along the axis, the
    extents of the result.

    Example:

    ```mlir
    %c = atx.tile_concat %a, %b axis 1 : vector<4x3xf32>, vector<4x5xf32> -> vector<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Atx_AnyTile>:$inputs, I64Attr:$axis);
  let results = (outs Atx_AnyTile:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs) `->` type($result)";
  let hasFolder = 1;
}

def Atx_TileTakeOp : Atx_TileOp<"take", [Pure]> {
  let summary = "elements of a tile by index along an axis";
  let description = [{
    `result[.., j, ..] = input[.., index[.., j, ..], ..]`, 0 where the index,
    taken as a signed number, is outside of the axis. The index tile has the
    input's rank; its extents are the input's or 1 except along the axis, whose
    extent becomes the result's.

    Example:

    ```mlir
    %t = atx.tile_take %x, %i axis 1 : vector<4x64xf32>, vector<1x8xi32> -> vector<4x8xf32>
    ```
  }];
  let arguments = (ins Atx_AnyTile:$input, Atx_I32Tile:$index, I64Attr:$axis);
  let results = (outs Atx_AnyTile:$result);
  let assemblyFormat = "$input `,` $index `axis` $axis attr-dict `:` type($input) `,` type($index) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

def Atx_TileConvertOp : Atx_TileOp<"convert", [Pure, SameOperandsAndResultShape] # ElementwiseMappable.traits> {
  let summary = "conversion of floats to 8, 6 and 4 bits, and to integers";
  let description = [{
    To a float: nearest, ties to even. A magnitude that rounds beyond the largest
    finite number becomes infinity where the type has one (f8E5M2), NaN where it
    has none but NaN (f8E4M3FN, f8E4M3FNUZ, f8E5M2FNUZ), and the largest finite
    number with `saturate`; infinities likewise. NaN stays NaN. Types that have
    neither (f6E2M3FN, f6E3M2FN, f4E2M1FN) saturate always, and NaN becomes the
    largest number, positive.

    To an integer: towards zero, clamped to the signed or, with `is_unsigned`, the
    unsigned range; NaN becomes 0.

    Example:

    ```mlir
    %q = atx.tile_convert %x {saturate} : vector<8x16xf32> -> vector<8x16xf8E4M3FNUZ>
    %n = atx.tile_convert %s {is_unsigned} : f32 -> i8
    ```
  }];
  let arguments = (ins Atx_TileOrElement:$input, UnitAttr:$saturate, UnitAttr:$is_unsigned);
  let results = (outs Atx_TileOrElement:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

def Atx_TilePinOp : Atx_TileOp<"pin", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "state where the elements of a tile live";
  let description = [{
    The same tile, with its elements spread over the workgroup as the layout
    says: from ((lane, wave), value) to the row-major index of an element. The
    first mode may have stride 0 leaves (lanes or waves that repeat elements).
    Every element is reached, and no two values of one work-item are the same
    element. In a function with `atx.threads` the layout has that many lanes
    times waves.

    Example: 16 rows of 64 columns, a wave has 4 rows, a lane 4 columns:

    ```mlir
    %p = atx.tile_pin %x layout "(((16,4),4),4):(((4,64),256),1)" : vector<16x64xf32>
    ```
  }];
  let arguments = (ins Atx_AnyTile:$input, StrAttr:$layout);
  let results = (outs Atx_AnyTile:$result);
  let assemblyFormat = "$input `layout` $layout attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Atx_TileRawOp : Atx_TileOp<"raw", [IsolatedFromAbove, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"::atrex::atx::TileYieldOp">]> {
  let summary = "a program of one lane on its fragments of tiles";
  let description = [{
    The region runs once in every lane. A tile operand is pinned
    (`atx.tile_pin`) and arrives as a vector of the lane's values in the order of
    the layout's second mode; a scalar arrives as it is. What the region yields
    for a tile result is again the lane's values; its layout is that of the
    `atx.tile_pin` that the result goes to, or else that of the first tile
    operand of the same shape. Nothing else of the kernel is visible inside.

    Example:

    ```mlir
    %r = atx.tile_raw(%x) : (vector<16x64xf32>) -> vector<16x64xf32> {
      ^bb0(%a: vector<4xf32>):
      %b = arith.addf %a, %a : vector<4xf32>
      atx.tile_yield %b : vector<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Atx_TileOrElement>:$inputs);
  let results = (outs Variadic<Atx_TileOrElement>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body
  }];
  let hasRegionVerifier = 1;
  let hasVerifier = 0;
}

def Atx_TileYieldOp : Atx_Op<"tile_yield", [Pure, Terminator, ReturnLike, HasParent<"::atrex::atx::TileRawOp">]> {
  let summary = "what a lane contributes to the results of `atx.tile_raw`";
  let description = [{
    Example:

    ```mlir
    atx.tile_raw() : () -> () {
      atx.tile_yield
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{}]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // ATREX_DIALECTS_ATX_ATXTILEOPS_TD
