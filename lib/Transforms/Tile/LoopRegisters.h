//===- LoopRegisters.h - What a loop on tiles holds ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_LOOPREGISTERS_H
#define ATREX_LIB_TRANSFORMS_TILE_LOOPREGISTERS_H

#include "atrex/Target/Chip.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace atrex::tile {

/// Registers that tiles may take which are loaded without shared memory and wait for the next iteration: what is used
/// now lies beside them.
constexpr int64_t maxAheadRegisters = 64;

/// Registers of 32 bits that a lane holds of a result, by its layout; nothing without one.
std::optional<int64_t> getRegisters(mlir::Operation *op, unsigned result = 0);

/// An estimate for choices, of registers of 32 bits in each lane.
struct LoopRegisters {
  /// Tiles that the body loads from tensors, and those that it takes from shared memory or that change lanes.
  int64_t loads = 0, reads = 0;
  /// What is left beside these, what the loop carries and sums that start anew, when two waves share a SIMD (more,
  /// where the workgroup has more). May be negative.
  int64_t room = 0;
};
LoopRegisters estimateRegisters(mlir::scf::ForOp loop, const ChipInfo &chip, int64_t threads);

/// Lets the loop carry tiles that are computed an iteration before: `first` before the loop, `next` at the end of the
/// body or before. They take the place of the single results of `ops`, with their layouts. The loop that takes the
/// place of this one.
mlir::scf::ForOp carryTiles(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Operation *> ops,
                            llvm::ArrayRef<mlir::Value> first, llvm::ArrayRef<mlir::Value> next);

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_LOOPREGISTERS_H
