//===- AtxTileLayout.td - Layouts of tiles -----------------*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXTILELAYOUT_TD
#define ATREX_DIALECTS_ATX_ATXTILELAYOUT_TD

include "dialects/Atx/AtxDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Atx_TileLayoutAttr : Atx_Attr<"TileLayout", "tile_layout"> {
  let summary = "which work-item holds which element of a tile, by dimension";
  let description = [{
    For every dimension of the tile a list of modes, the first varying fastest.
    A mode `NrS` spreads N neighbours over registers, register number growing by
    S; `NtS` spreads them over work-items whose number grows by S. The coordinate
    of an element is the mixed-radix number of its digits. The product of a
    dimension's modes is at least its extent; what lies beyond is dead.

    Thread modes are powers of two and use each bit of the work-item's number
    at most once; work-items that differ in the other bits hold the same
    elements. Register modes have any size and number the registers without
    gaps.

    Example: 4 x 1000 elements on 256 work-items; a wave has a row, a lane runs
    of four columns, four of them 256 apart (so that 24 columns are dead):

    ```mlir
    #atx.tile_layout<256, [[4t64], [4r1, 64t1, 4r4]]>
    ```
  }];
  let parameters = (ins "int64_t":$threads,
    // By dimension: number of modes, then size, 1 for threads, stride of each.
    ArrayRefParameter<"int64_t">:$code);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // ATREX_DIALECTS_ATX_ATXTILELAYOUT_TD
