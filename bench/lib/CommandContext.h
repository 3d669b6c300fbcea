//===- CommandContext.h - What subcommands share ----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_LIB_COMMANDCONTEXT_H
#define ATREX_BENCH_LIB_COMMANDCONTEXT_H

#include "CommandLine.h"
#include "atrex/Bench/Bench.h"
#include "fmt/format.h"

namespace atrex::bench {

constexpr int exitOk = 0, exitFault = 1, exitUsage = 2;

struct Context {
  const Hooks &hooks;
  llvm::raw_ostream &out;
  llvm::raw_ostream &err;
  Catalogue catalogue;

  int fail(llvm::Error error, int code = exitFault) {
    err << "error: " << llvm::toString(std::move(error)) << "\n";
    return code;
  }
  template <typename... Args> void print(fmt::format_string<Args...> format, Args &&...args) {
    out << fmt::format(format, std::forward<Args>(args)...);
  }
};

struct Command {
  const CommandSpec *spec;
  int (*run)(Context &, const Arguments &);
};

/// Reads a file or pipe of at most 1 GiB (result files, tables, kernels).
llvm::Error readFile(const std::string &path, std::string &text);

/// The chip of this name or alias; null with a message that lists those there are.
const ChipInfo *findChip(llvm::StringRef name, std::string &message);

/// Fills in architecture and chip from `--arch` and `--chip`.
llvm::Error chooseTarget(const Arguments &arguments, RunOptions &options);

const CommandSpec &getRaceCommand();
int runRace(Context &context, const Arguments &arguments);

/// report, compare and lint-db.
llvm::ArrayRef<Command> getReportCommands();

} // namespace atrex::bench

#endif // ATREX_BENCH_LIB_COMMANDCONTEXT_H
