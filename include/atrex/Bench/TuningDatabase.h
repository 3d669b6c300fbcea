//===- TuningDatabase.h - Is a tuning database to be trusted? ---*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of tuned kernels in AITER's CSV form, and rules that find rows whose
// figures cannot be what they claim. docs/formats.md describes the columns.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_TUNINGDATABASE_H
#define ATREX_BENCH_TUNINGDATABASE_H

#include "atrex/Target/Chip.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace atrex::bench {

struct LintOptions {
  /// Relative difference of stated and computed rate that is let pass.
  double rateTolerance = 0.05;
  /// Microseconds below which a time is a placeholder: no launch is that short.
  double minimumUs = 1.5;
  /// Factor by which a time may leave the range of its neighbours' times.
  double outlierFactor = 2.5;
};

/// One row whose figures cannot be right.
struct LintFinding {
  /// Index of the file in the order added, and line, from 1.
  size_t file = 0;
  unsigned line = 0;
  /// A name of getLintRules().
  std::string rule;
  std::string message;
};

struct LintRule {
  llvm::StringLiteral name, meaning;
};
llvm::ArrayRef<LintRule> getLintRules();

class TuningDatabase {
public:
  /// Reads one table. Rows that cannot be read become findings; an error means
  /// that there is no table: no header, or columns that no rule can use.
  llvm::Error add(llvm::StringRef text, llvm::StringRef name);

  /// Findings of all files, by file and line.
  std::vector<LintFinding> lint(const LintOptions &options) const;

  const std::vector<std::string> &getFiles() const { return files; }
  size_t getRowCount() const { return rows.size(); }
  /// Rows that no rule could compare with a rate, and with a peak.
  size_t getRowsWithoutRate() const;
  size_t getRowsWithoutPeak() const;

private:
  struct Row {
    size_t file = 0;
    unsigned line = 0;
    double us = 0;
    /// As written, for rows that were copied.
    std::string usText;
    /// Stated TFLOP/s; 0 where the column is absent or not filled in.
    double rate = 0;
    double flops = 0;
    /// FLOP/s the device cannot exceed, and where that is from; 0: not known.
    double peak = 0;
    std::string peakName;
    /// "gfx942 with 80 CUs".
    std::string device;
    std::string kernel;
    /// "M=16 N=256 K=7168", without the dimension that varies for `series`.
    std::string problem;
    /// The rest of the columns that describe the problem (types, layouts).
    std::string variant;
    /// Rows that differ in `varying` alone are neighbours.
    std::string series;
    double varying = 0;
  };
  struct Table;
  void addRow(const Table &table, std::vector<std::string> cells, unsigned line);
  void addMalformed(unsigned line, std::string message);

  void lintTimes(const LintOptions &options, std::vector<LintFinding> &findings) const;
  void lintCopies(const LintOptions &options, std::vector<LintFinding> &findings) const;
  void lintNeighbours(const LintOptions &options, std::vector<LintFinding> &findings) const;
  bool isPlaceholder(const Row &row, const LintOptions &options) const;
  std::string describe(const Row &row) const;

  std::vector<std::string> files;
  std::vector<Row> rows;
  std::vector<LintFinding> malformed;
};

/// Findings as JSON (`atrex-mlir/lint-db/1`).
llvm::json::Value toJSON(const TuningDatabase &database, llvm::ArrayRef<LintFinding> findings);

} // namespace atrex::bench

#endif // ATREX_BENCH_TUNINGDATABASE_H
