//===- ContractPlan.h - How products of tiles are computed ------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_CONTRACTPLAN_H
#define ATREX_LIB_TRANSFORMS_TILE_CONTRACTPLAN_H

#include "TileLayout.h"
#include "atrex/Target/Chip.h"
#include "atrex/Target/MatrixInstructions.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace atrex::tile {

/// Decided from types, shapes and chip alone, so that layouts and code agree.
struct ContractPlan {
  /// Null: multiply-adds lane by lane, factors through shared memory.
  const MatrixInstruction *instruction = nullptr;
  /// Layouts of the operands and the accumulator; those of the factors are only
  /// fixed with an instruction.
  TileLayout lhs, rhs, acc;
  /// Types that the factors are widened to, exactly, where no instruction takes
  /// their own; else null.
  mlir::Type lhsWide, rhsWide;
  /// Iteration dimensions by role.
  SmallVector<unsigned> batch, m, n, k;
  /// With an instruction: the one dimension of each role (batch apart).
  unsigned mDim = 0, nDim = 0, kDim = 0;
};

mlir::FailureOr<ContractPlan> planContract(mlir::vector::ContractionOp op, int64_t threads, const ChipInfo &chip);

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_CONTRACTPLAN_H
