//===- LaneOps.h - What the operations of a lane cost -----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels behind `atx-distribute-tiles`: the program of one lane, with loops.
// The passes that order instructions tell operations apart by the unit that
// executes them.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_LANE_LANEOPS_H
#define ATREX_LIB_TRANSFORMS_LANE_LANEOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace atrex::lane {

enum class Unit : uint8_t {
  /// Vector or scalar arithmetic, or nothing at all.
  Other,
  MFMA,
  LDSRead,
  LDSWrite,
  GlobalRead,
  GlobalWrite,
  /// A barrier of the workgroup.
  Barrier,
  /// A limit for the scheduler of the backend: sched.barrier 0, s.setprio.
  Fence,
  /// Touches memory in another way, or holds operations that do.
  Memory
};

Unit getUnit(mlir::Operation *op);

inline bool isMemory(Unit unit) {
  return unit == Unit::LDSRead || unit == Unit::LDSWrite || unit == Unit::GlobalRead || unit == Unit::GlobalWrite ||
         unit == Unit::Memory;
}

/// Machine instructions of an operation, about; at least 1 for units other than
/// `Other`, 0 for what only names registers.
unsigned countInstructions(mlir::Operation *op);

/// Loops that hold no other loop.
llvm::SmallVector<mlir::scf::ForOp> getInnermostLoops(mlir::Operation *root);

/// Operations of `block` that use `roots` or what is computed from them.
llvm::DenseSet<mlir::Operation *> getDependents(mlir::Block &block, llvm::ArrayRef<mlir::Operation *> roots);

} // namespace atrex::lane

#endif // ATREX_LIB_TRANSFORMS_LANE_LANEOPS_H
