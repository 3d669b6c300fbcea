//===- Compare.h - Did a run get slower? ------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two result files shape by shape, as a gate: what got worse, and how sure that
// is.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_COMPARE_H
#define ATREX_BENCH_COMPARE_H

#include "atrex/Bench/Result.h"

namespace atrex::bench {

/// What became of one shape from the first file to the second.
enum class Change : uint8_t {
  Same,
  Faster,
  Slower,
  /// Slower by more than the threshold, for sure.
  Regression,
  /// Passed and does not any more, or is missing.
  Broken,
  /// Did not pass and does now.
  Fixed,
  /// In the second file only.
  New,
  /// Passes in neither.
  StillBroken,
};
llvm::StringRef getName(Change change);

struct ShapeComparison {
  std::string op;
  int64_t id = -1;
  std::string shapeText;
  Change change = Change::Same;
  /// Microseconds; 0 where there is no time that counts.
  double firstUs = 0, secondUs = 0;
  /// Second over first time, and its bounds; all 0 without two times.
  double ratio = 0, low = 0, high = 0;
  /// How sure the ratio is: "exact", "interval", "no interval".
  std::string confidence;
  /// Statuses, where they differ; the first line of an error.
  std::string note;
};

struct CompareOptions {
  /// Relative slowdown that is let pass.
  double threshold = 0.02;
};

struct RunComparison {
  std::string timeKind;
  /// In the order of the first file, then shapes that only the second has.
  std::vector<ShapeComparison> shapes;
  /// Geometric mean of the ratios, and how many there are.
  double meanRatio = 1;
  size_t timed = 0;
  /// What differs between the runs without making them incomparable.
  std::vector<std::string> notes;

  size_t count(Change change) const;
  bool isWorse() const { return count(Change::Regression) + count(Change::Broken) > 0; }
  llvm::json::Value toJSON() const;
};

/// An error when the two cannot be compared: predicted with measured times,
/// other chips, another catalogue. Names are for messages.
llvm::Expected<RunComparison> compareRuns(const StoredRun &first, llvm::StringRef firstName, const StoredRun &second,
                                          llvm::StringRef secondName, const CompareOptions &options);

/// Hash over the embedded catalogue, as result files carry it.
std::string getCatalogueHash();

} // namespace atrex::bench

#endif // ATREX_BENCH_COMPARE_H
