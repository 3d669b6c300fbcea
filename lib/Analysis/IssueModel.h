//===- IssueModel.h - Cycles of a loop on one compute unit ------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The resident waves of a compute unit execute one loop over and over:
//
// * Each wave issues in order, one instruction in four cycles. A SIMD issues at
//   most one instruction of a kind (vector, scalar, LDS, vector memory, branch)
//   in four cycles; the wave of the highest priority goes first, then the oldest.
// * An MFMA holds the matrix unit for four cycles a pass and the vector ALU for
//   the first mfmaIssueCycles (all of them for f32 and f64 matrices); another
//   instruction of the vector ALU holds it for as long as it takes.
// * The LDS serves one instruction after the other for all SIMDs. Each pair of
//   SIMDs has room for eight of them in front of it. s_waitcnt lgkmcnt waits for
//   the LDS to have served, and ldsLatencyCycles from when it began to at least.
// * Vector memory returns l1BytesPerClock for all SIMDs; an instruction issues
//   when less than four wide accesses are waiting. s_waitcnt vmcnt waits for that,
//   and for l2LatencyCycles from the issue: everything is taken to lie in the L2.
// * s_barrier waits for the waves of the workgroup.
//
// The result is a lower bound in the sense of these rules: misses of the L2,
// instruction fetch and register dependences can only add to it.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_ANALYSIS_ISSUEMODEL_H
#define ATREX_LIB_ANALYSIS_ISSUEMODEL_H

#include "atrex/Target/Chip.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace atrex::analysis {

struct IssueItem {
  enum Port : uint8_t {
    Vector,
    Matrix,
    Scalar,
    Lds,
    Vmem,
    Branch,
    /// s_nop, s_sleep: holds the wave only.
    Hold,
    Wait,
    Barrier,
    Priority
  } port = Hold;
  /// Vector, Matrix: the matrix unit is also closed to the vector ALU.
  bool isExclusive = false;
  /// Wait: LDS operations that may be outstanding. Priority: the new one. Vmem: 1 if vmcnt counts it.
  uint8_t value = 0;
  /// Cycles of the unit: vector ALU, matrix unit, LDS, vector memory; for Hold, of
  /// the wave.
  uint32_t cycles = 4;
  /// Wait: operations of vector memory that may be outstanding.
  uint8_t memory = 63;
};

/// What a loop takes, for each wave and trip.
struct IssueResult {
  /// Cycles of a SIMD.
  double cycles = 0;
  /// By item: cycles that a wave waits there for vector memory, while others may work.
  std::vector<double> stalls;
};
IssueResult simulateLoop(llvm::ArrayRef<IssueItem> body, const ChipInfo &chip, unsigned wavesPerGroup, unsigned groups);

} // namespace atrex::analysis

#endif // ATREX_LIB_ANALYSIS_ISSUEMODEL_H
