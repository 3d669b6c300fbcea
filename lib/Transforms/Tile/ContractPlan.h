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
#include "llvm/ADT/DenseMap.h"

namespace atrex::tile {

/// What can be chosen about a product. `atx-assign-tile-layouts` keeps it on the operation, so that layouts and code
/// agree.
struct ContractChoice {
  /// Null: multiply-adds lane by lane, factors through shared memory.
  const MatrixInstruction *instruction = nullptr;
  /// Waves along the rows and columns of the sum.
  int64_t wavesM = 1, wavesN = 1;
  /// Neighbours along the summed dimension in one lane.
  int64_t run = 1;
};

/// Attribute of a product, "f32" or "xf32": what is demanded.
constexpr llvm::StringLiteral f32AttrName = "atx.f32";

/// Which instruction multiplies f32 by f32.
enum class F32Products : uint8_t {
  /// The xf32 one where the chip has it and the factors lose nothing.
  Auto,
  F32,
  /// The xf32 one, or an error.
  XF32,
};

/// What a search or a user fixes; zeros leave the choice to the compiler.
struct ContractOptions {
  /// Rows of the matrix instruction, 16 or 32.
  int64_t rows = 0;
  /// Waves along the rows of the sum, a power of two.
  int64_t wavesM = 0;
};

/// A choice with what follows from it.
struct ContractPlan {
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

using ContractPlans = llvm::DenseMap<mlir::Operation *, ContractPlan>;

/// The layout of a planned product's sum that elementwise operations lead to from `value`; nothing where none does.
std::optional<TileLayout> findHeldLayout(mlir::Value value, const ContractPlans &plans);
/// The product whose left factor is made of this one's sum, element by element; null where none is.
mlir::vector::ContractionOp findNextProduct(mlir::vector::ContractionOp op);

/// Chooses the instruction with the fewest passes, the split of the waves and the order of the summed dimension.
/// `lhsHeld` is the layout that the left factor has anyway; a choice under which it needs no move between work-items
/// is preferred. `next` is the product whose left factor is made of the sum, or null.
mlir::FailureOr<ContractChoice> chooseContract(mlir::vector::ContractionOp op, int64_t threads, const ChipInfo &chip,
                                               const ContractOptions &options = {},
                                               const std::optional<TileLayout> &lhsHeld = {},
                                               mlir::vector::ContractionOp next = {});
mlir::FailureOr<ContractPlan> planContract(mlir::vector::ContractionOp op, int64_t threads, const ChipInfo &chip,
                                           const ContractChoice &choice);

/// Whether the low 13 bits of every element of an f32 tile are known to be zero, as xf32 instructions take them.
bool isXF32(mlir::Value tile);

/// Whether no other wave needs the elements of a factor that a wave has: loaded in this layout, each is read once by
/// the workgroup.
inline bool isOwnFactor(const TileLayout &factor) { return factor.getReplicaBits() < 64; }
/// Bytes side by side in a lane that make a load right into the layout of a product worth it.
constexpr int64_t minDirectBytes = 8;
/// Whether a factor that is accessed by `pattern` is loaded in its layout, without shared memory: one that no other
/// wave needs, in runs; `always` where lanes have runs of a word at least.
bool isLoadedDirectly(const TileLayout &factor, const AccessPattern &pattern, bool always);

/// The choice as the attribute `atx.contract` of the operation.
void setContractChoice(mlir::vector::ContractionOp op, const ContractChoice &choice);
/// The attribute, or what would be chosen without it. An attribute that does not fit is an error.
mlir::FailureOr<ContractChoice> getContractChoice(mlir::vector::ContractionOp op, int64_t threads,
                                                  const ChipInfo &chip);

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_CONTRACTPLAN_H
