//===- Pipelines.h - Registration and schedules -----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_PIPELINES_PIPELINES_H
#define ATREX_PIPELINES_PIPELINES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class PassManager;
} // namespace mlir

namespace atrex {

/// All dialects of the project and of upstream, with their extensions, and the
/// translations to LLVM IR. For tools that accept any input.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All passes of the project and of upstream. Safe to call more than once.
void registerAllPasses();

/// What the compiler itself needs: loads in a tenth of the time.
void registerCompilerDialects(mlir::DialectRegistry &registry);

/// The schedule that is used when none is given, as the text of a pass pipeline
/// anchored at `builtin.module`.
std::string getDefaultSchedule(llvm::StringRef arch);

/// Text of a schedule file without comments (`//` to the end of the line) and
/// line ends: what `atrex-opt --pass-pipeline=` takes.
std::string stripSchedule(llvm::StringRef text);

/// Sets an option in the text of a schedule: `PASS.OPTION=VALUE` for every pass of
/// that name, `PASS[N].OPTION=VALUE` for the N-th from 0 on. Errors: another form, a
/// pass that the schedule does not have. Whether the option exists is for the
/// parser to say.
llvm::Error setScheduleOption(std::string &schedule, llvm::StringRef assignment);

/// Parses a schedule into `pm` (anchored at `builtin.module`). Errors are
/// written to `errors`, with the position in the schedule.
mlir::LogicalResult parseSchedule(llvm::StringRef text, mlir::PassManager &pm, llvm::raw_ostream &errors);

/// An option of a pass that a search may set.
struct TunableOption {
  std::string pass;
  /// Counts the passes of this name in the schedule from 0.
  unsigned instance = 0;
  std::string option, description;
  /// Numbers, or words: one of the two is empty.
  std::vector<int64_t> domain;
  /// Words in place of the numbers of `domain`.
  std::vector<std::string> choices;
  /// What it acts on: `rows`, `tiles` or `any`; see TunableOption in
  /// include/atrex/Transforms/PassOptions.td.
  std::string programs;
  std::string defaultValue;
  /// What the schedule sets.
  std::string value;
};

/// The options of the passes in `pm`, in order.
std::vector<TunableOption> getTunableOptions(mlir::PassManager &pm);

/// Last pass of a stage: its result is the text of that stage.
constexpr llvm::StringLiteral tileFormPass = "atx-outline-kernels";
constexpr llvm::StringLiteral fragmentFormPass = "atx-distribute";

} // namespace atrex

#endif // ATREX_PIPELINES_PIPELINES_H
