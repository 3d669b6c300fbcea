//===- Regimes.h - Which knobs for which shapes -----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has one code object per regime: a condition on the dimensions of a
// shape, and the knobs and schedule that hold where it is met. The format is
// described in docs/formats.md.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_REGIMES_H
#define ATREX_BENCH_REGIMES_H

#include "atrex/Runtime/Manifest.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace atrex::bench {

struct Regime {
  /// All of them must hold; none for `else`.
  std::vector<ManifestConstraint> conditions;
  std::map<std::string, std::string> knobs;
  /// Name of a pipeline beside the file; empty for the one of the operator.
  std::string schedule;
  /// PASS.OPTION=VALUE, set in the schedule.
  std::vector<std::string> settings;
  /// Name of the program of the source; empty for the first that takes the inputs.
  std::string program;
  /// In the file, from 1.
  unsigned line = 0;

  /// "BM=64 BN=32", the schedule and its settings behind.
  std::string str() const;
};

/// Reads lines `condition, condition: KNOB=VALUE ...`. Errors name `path` and line.
llvm::Expected<std::vector<Regime>> parseRegimes(llvm::StringRef text, llvm::StringRef path);

/// The first regime whose conditions hold. Conditions on dimensions that `dims`
/// does not have are errors, and so is that none holds.
llvm::Expected<const Regime *> chooseRegime(const std::vector<Regime> &regimes, const DimMap &dims,
                                            llvm::StringRef path);

} // namespace atrex::bench

#endif // ATREX_BENCH_REGIMES_H
