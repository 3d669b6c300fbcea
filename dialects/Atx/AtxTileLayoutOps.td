//===- AtxTileLayoutOps.td - Moving tiles between layouts --*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXTILELAYOUTOPS_TD
#define ATREX_DIALECTS_ATX_ATXTILELAYOUTOPS_TD

include "dialects/Atx/AtxOps.td"

def Atx_ConvertLayoutOp : Atx_Op<"convert_layout", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "the same tile in another layout";
  let description = [{
    Placed by `atx-assign-tile-layouts` where a tile is held in one layout and
    needed in another. The layout of the result is its `atx.tile_layouts`, like that
    of every other operation.

    Example:

    ```mlir
    %b = atx.convert_layout %a {atx.tile_layouts = [#atx.tile_layout<64, [[64t1]]>]} : vector<64xf32>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$input);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

def Atx_StageType : TypeDef<Atx_Dialect, "Stage"> {
  let mnemonic = "stage";
  let genVerifyDecl = 1;
  let summary = "slots of shared memory for tiles";
  let description = [{
    What `atx.stage_alloc` gives; `tile` is what a slot holds.

    Example: `!atx.stage<vector<256x32xbf16>>`
  }];
  let parameters = (ins "::mlir::VectorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
}
def Atx_Stage : Type<CPred<"::llvm::isa<::atrex::atx::StageType>($_self)">, "slots of shared memory",
                     "::atrex::atx::StageType">;

def Atx_StageAllocOp : Atx_Op<"stage_alloc"> {
  let summary = "shared memory for the tiles of a pipelined loop";
  let description = [{
    Room for `slots` tiles of one shape in the memory of the workgroup, from here
    to `atx.stage_dealloc`; what it holds is not defined at first. Only
    `atx.stage_write` and `atx.stage_read` access it, whole tiles at a time, so that
    the arrangement is free: `order` lists the dimensions of a tile from the
    contiguous one outward, `pad` bytes follow each run of the contiguous
    dimension, or `swizzle` [bits, base, shift] exchanges bytes inside a slot by
    xor of `bits` bits at `base + shift` into those at `base`; a second triple
    does so again.

    Example:

    ```mlir
    %s = atx.stage_alloc slots 2 order [1, 0] swizzle [2, 4, 3] : !atx.stage<vector<256x32xbf16>>
    atx.stage_dealloc %s : !atx.stage<vector<256x32xbf16>>
    ```
  }];
  let arguments = (ins I64Attr:$slots, DenseI64ArrayAttr:$order, OptionalAttr<I64Attr>:$pad,
                       OptionalAttr<DenseI64ArrayAttr>:$swizzle);
  let results = (outs Res<Atx_Stage, "", [MemAlloc]>:$stage);
  let assemblyFormat = [{
    `slots` $slots `order` $order (`pad` $pad^)? (`swizzle` $swizzle^)? attr-dict `:` type($stage)
  }];
  let hasVerifier = 1;
}

def Atx_StageDeallocOp : Atx_Op<"stage_dealloc"> {
  let summary = "end of the memory of a pipelined loop";
  let description = [{
    What follows may use the memory for something else.

    Example:

    ```mlir
    %s = atx.stage_alloc slots 1 order [0] : !atx.stage<vector<64xf32>>
    atx.stage_dealloc %s : !atx.stage<vector<64xf32>>
    ```
  }];
  let arguments = (ins Arg<Atx_Stage, "", [MemFree]>:$stage);
  let assemblyFormat = "$stage attr-dict `:` type($stage)";
}

class Atx_StageAccess<string mnemonic> : Atx_Op<mnemonic, [
    TypesMatchWith<"the tile is one of the stage", "stage", "tile", "::llvm::cast<::atrex::atx::StageType>($_self).getTile()">]>;

def Atx_StageWriteOp : Atx_StageAccess<"stage_write"> {
  let summary = "a tile into a slot of shared memory";
  let description = [{
    Writes all elements. Others see them behind a barrier. Of a stage with several
    slots, those that are written between two barriers are others than those that
    are read there. A slot number beyond the last is undefined.

    Example:

    ```mlir
    %c0 = arith.constant 0 : i32
    %s = atx.stage_alloc slots 1 order [0] : !atx.stage<vector<64xf32>>
    %x = arith.constant dense<0.0> : vector<64xf32>
    atx.stage_write %x, %s[%c0] : !atx.stage<vector<64xf32>>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$tile, Arg<Atx_Stage, "", [MemWrite]>:$stage, I32:$slot);
  let assemblyFormat = "$tile `,` $stage `[` $slot `]` attr-dict `:` type($stage)";
}

def Atx_StageReadOp : Atx_StageAccess<"stage_read"> {
  let summary = "the tile in a slot of shared memory";
  let description = [{
    The layout of the result is its `atx.tile_layouts`.

    Example:

    ```mlir
    %c0 = arith.constant 0 : i32
    %s = atx.stage_alloc slots 1 order [0] : !atx.stage<vector<64xf32>>
    %y = atx.stage_read %s[%c0] {atx.tile_layouts = [#atx.tile_layout<64, [[64t1]]>]} : !atx.stage<vector<64xf32>>
    ```
  }];
  let arguments = (ins Arg<Atx_Stage, "", [MemRead]>:$stage, I32:$slot);
  let results = (outs AnyVectorOfNonZeroRank:$tile);
  let assemblyFormat = "$stage `[` $slot `]` attr-dict `:` type($stage)";
}

#endif // ATREX_DIALECTS_ATX_ATXTILELAYOUTOPS_TD
