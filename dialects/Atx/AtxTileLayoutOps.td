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

#endif // ATREX_DIALECTS_ATX_ATXTILELAYOUTOPS_TD
