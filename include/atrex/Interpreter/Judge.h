//===- Judge.h - Compiled code against the interpreter ----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_INTERPRETER_JUDGE_H
#define ATREX_INTERPRETER_JUDGE_H

#include "atrex/Driver/Compile.h"
#include "atrex/Interpreter/Interpreter.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <map>

namespace atrex::interp {

struct JudgeOptions {
  /// Architecture, dimensions that are constants, knobs, schedule, operator.
  CompileOptions compile;
  /// Values of dimensions that stay run-time parameters.
  DimMap sizes;
  ValueClass values = ValueClass::SmallInt;
  uint64_t seed = 1;
  /// By parameter name: a closed range of integers, a class of its own, bytes.
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  std::map<std::string, ValueClass> classes;
  std::map<std::string, std::vector<uint8_t>> contents;
  std::map<std::string, double> scalars;
  uint64_t maxSteps = RunOptions().maxSteps;
  int64_t maxLiveElements = RunOptions().maxLiveElements;
  /// Compile, run on the embedded device and compare.
  bool useDevice = false;
  /// device::CheckKind bits; a finding is a failure.
  uint32_t checks = 0;
  /// Order of execution on the device.
  std::optional<uint64_t> shuffle;
};

/// How far a program came.
enum class Stage : uint8_t {
  /// The source, its parameters or what was given for them.
  Source,
  Interpret,
  Compile,
  /// Loading and running, and findings of the device's checks.
  Device,
  /// The outcome of the comparison.
  Compare,
};
llvm::StringRef getName(Stage stage);

struct JudgeResult {
  bool passed = false;
  Stage stage = Stage::Source;
  /// Diagnostics, or the reason; empty when passed.
  std::string message;
  std::vector<Parameter> parameters;
  std::vector<HostTensor> tensors;
  RunResult run;
  Comparison comparison;
};

/// Interprets the function of a source (`.atx`, or MLIR when the name ends in
/// `.mlir`) and, where asked, compares the compiled code.
JudgeResult judge(llvm::MemoryBufferRef source, const JudgeOptions &options);

} // namespace atrex::interp

#endif // ATREX_INTERPRETER_JUDGE_H
