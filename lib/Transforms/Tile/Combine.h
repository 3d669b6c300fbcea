//===- Combine.h - Combining elements of tiles ------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_COMBINE_H
#define ATREX_LIB_TRANSFORMS_TILE_COMBINE_H

#include "TileLowering.h"

namespace atrex::tile {

enum class CombineKind { Sum, Prod, Max, Min, UMax, UMin, Any, All };

/// The larger or smaller of two floats, NaN if either is one, -0 below +0. (The expansion of
/// arith.maximumf by upstream takes either zero.)
Value emitExtremum(TileEmitter &e, Value a, Value c, bool largest);
/// `a` and `c`, scalars or vectors, combined.
Value combine(TileEmitter &e, CombineKind kind, Value a, Value c);
/// What changes nothing: -0 for float sums.
Value getNeutral(TileEmitter &e, CombineKind kind, Type type);
/// A signed i32 or i64 in whose order the larger element comes first: numbers as
/// they are (with `smallest` reversed), NaN above every number, -0 equal to +0.
Value makeSortKey(TileEmitter &e, Value value, bool isUnsigned, bool smallest);

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_COMBINE_H
