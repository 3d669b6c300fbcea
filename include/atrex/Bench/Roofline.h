//===- Roofline.h - Work, traffic and roofline time -------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Closed formulas for the floating point work and the compulsory traffic of
// every operator, and the roofline ("speed of light") time that follows. The
// formulas and the order of the floating point operations reproduce the
// published figures bit for bit.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_ROOFLINE_H
#define ATREX_BENCH_ROOFLINE_H

#include "atrex/Bench/Catalogue.h"
#include "atrex/Target/Chip.h"

namespace atrex::bench {

/// FLOP and bytes of one shape. Integers below 2^53, exact as doubles.
struct Work {
  double flops = 0;
  double readBytes = 0;
  double writeBytes = 0;
  double getBytes() const { return readBytes + writeBytes; }
};

struct WorkPair {
  /// What the published roofline charges.
  Work charged;
  /// What a kernel needs, where that is less; explains a score above one.
  std::optional<Work> minimal;
  /// Nothing has to be done (fused_qkv_rope at position 0): no finite bound.
  bool minimalIsNothing = false;
};

/// Work and traffic from the parameters alone. `realised` replaces the two
/// expectations of random quantities where it has them.
llvm::Expected<WorkPair> computeWork(llvm::StringRef op, const Params &params,
                                     const std::map<std::string, double> &realised);

/// Peak for the type that `dtype` names; 0 for types without a peak (int32).
double getPeak(const ChipInfo &chip, llvm::StringRef dtype);

/// Roofline time in milliseconds.
double computeSolMs(const Work &work, llvm::StringRef dtype, const ChipInfo &chip);

/// Live experts expected for `tokens` tokens of `topK` distinct uniform experts.
double computeLiveExperts(double tokens, double experts, double topK);

} // namespace atrex::bench

#endif // ATREX_BENCH_ROOFLINE_H
