//===- ChipTiming.h - Further figures of the chip table ---------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What only the static analysis reads of a chip. The figures stand in
// lib/Target/Chip.cpp with the others.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TARGET_CHIPTIMING_H
#define ATREX_TARGET_CHIPTIMING_H

#include "atrex/Target/Chip.h"

namespace atrex {

struct ChipTiming {
  /// Cycles at the start of an MFMA in which its SIMD issues no other vector
  /// instruction (f32 and f64 matrices block it to the end).
  unsigned mfmaIssueCycles = 4;
  /// Cycles from a load's issue to its data when the L2 has them.
  unsigned l2LatencyCycles = 288;
  /// Cycles from when the LDS takes up an instruction to its data.
  unsigned ldsLatencyCycles = 48;
  /// LDS instructions that wait in front of the LDS for each pair of SIMDs.
  unsigned ldsQueueEntries = 8;
};
const ChipTiming &getTiming(const ChipInfo &chip);

} // namespace atrex

#endif // ATREX_TARGET_CHIPTIMING_H
