//===- Result.h - Results as JSON, and scores -------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Result files (`atrex-mlir/bench-result/1`, described in docs/formats.md) and
// the scores computed from them.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_RESULT_H
#define ATREX_BENCH_RESULT_H

#include "atrex/Bench/Runner.h"

namespace atrex::bench {

/// Everything one run produced.
struct RunRecord {
  std::string compilerVersion;
  std::string deviceName;
  bool isSimulated = true;
  const ChipInfo *chip = nullptr;
  std::string arch;
  CheckMode check = CheckMode::Both;
  std::vector<std::string> inputs;
  uint64_t seed = 0, repeat = 1;
  bool whole = false;
  uint64_t budget = 0;
  /// "fp8" where the looser grade for fp8 inside decides.
  std::string grade = "strict";
  /// Ended, or written, before every shape was done.
  bool isInterrupted = false;
  /// "<default>" or the file's name.
  std::string schedule;
  std::vector<ShapeResult> shapes;
  /// Entries of the result file.
  std::vector<llvm::json::Object> codeObjects;
};

/// Names of the instruction classes in result files, by device::InstClass.
llvm::ArrayRef<const char *> getInstClassNames();

llvm::json::Object toJSON(const CodeObjectInfo &info);
llvm::json::Object toJSON(const ShapeResult &shape);
llvm::json::Value toJSON(const RunRecord &record);

/// One shape read back; `name` is for messages.
llvm::Expected<ShapeResult> readShapeResult(const llvm::json::Value &value, const std::string &op,
                                            llvm::StringRef name);

/// What a result file says about how its run was asked for, and its entries as
/// they stand there.
struct StoredRun {
  std::string compilerVersion, deviceName, chip, arch, check, schedule;
  /// Empty in files that do not say.
  std::string catalogue;
  std::vector<std::string> inputs;
  uint64_t seed = 0, budget = 0, repeat = 1;
  std::string grade = "strict";
  bool whole = false, isInterrupted = false, isSimulated = true;
  std::vector<ShapeResult> shapes;
  std::vector<llvm::json::Object> codeObjects;
};

/// Reads a result file whole; errors name the field. `name` is for messages.
llvm::Expected<StoredRun> readRun(llvm::StringRef text, llvm::StringRef name);

/// The run as it was recorded; fails when the chip table does not have its chip.
llvm::Expected<RunRecord> makeRecord(StoredRun stored, llvm::StringRef name);

/// An error that says what differs when `stored` is not a part of the run that
/// `record` describes.
llvm::Error checkSameRun(const StoredRun &stored, const RunRecord &record, llvm::StringRef name);

/// An error when the code objects of the stored run are not those that `now`
/// describes for a shape.
llvm::Error checkSameCode(const StoredRun &stored, const ShapeResult &shape, const CodeObjectInfo &now,
                          llvm::StringRef name);

/// What score needs of one shape in a result file.
struct ScoredShape {
  bool passes = false;
  /// SOL / time as recorded; not zeroed on failure.
  double timeUs = 0;
};

/// Shapes of result files by operator and id; a later file replaces earlier
/// entries.
struct ResultSet {
  std::string chip;
  /// "predicted" or "measured"; the two are never mixed.
  std::string timeKind;
  std::map<std::string, std::map<int64_t, ScoredShape>> shapes;
  /// Adds one file; `name` is for messages.
  llvm::Error add(llvm::StringRef text, llvm::StringRef name);
  /// Adds the shapes of a run that is at hand.
  void add(const RunRecord &record);
};

struct OperatorScore {
  std::string name, phase;
  double importance = 0;
  size_t shapes = 0, passing = 0, present = 0;
  /// Mean S over all shapes (failed and missing count 0) and over passing ones.
  double mean = 0, passingMean = 0;
  /// Mean of SOL / production time, and of SOL / max(SOL, floor).
  double production = 0, ceiling = 0;
};

/// Sum of importance times mean; normalised by the importances summed.
struct Aggregate {
  double raw = 0, normalised = 0;
};

struct Score {
  std::vector<OperatorScore> operators;
  /// "all", "prefill", "decode".
  struct Row {
    std::string label;
    Aggregate all, passing, production, ceiling;
  };
  std::vector<Row> rows;
  /// Operators and shapes of the catalogue, and those without a result: they
  /// count 0, so that an aggregate with any of them is a partial one.
  size_t shapes = 0, missingShapes = 0;
  std::vector<std::string> missingOperators;
  bool isPartial() const { return missingShapes > 0; }
  /// "partial: ..." with the numbers of what is missing; empty when nothing is.
  std::string describeMissing() const;
  llvm::json::Value toJSON() const;
};

/// `floorSeconds` is the time of an empty launch.
Score computeScore(const Catalogue &catalogue, const ResultSet &results, const ChipInfo &chip, double floorSeconds);

} // namespace atrex::bench

#endif // ATREX_BENCH_RESULT_H
