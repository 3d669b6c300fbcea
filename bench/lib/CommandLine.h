//===- CommandLine.h - Options of a subcommand ------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_LIB_COMMANDLINE_H
#define ATREX_BENCH_LIB_COMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atrex::bench {

/// One option: `--name` or, with a placeholder, `--name VALUE`.
struct OptionSpec {
  llvm::StringLiteral name;
  /// Empty for a flag.
  llvm::StringLiteral placeholder;
  llvm::StringLiteral help;
};

struct CommandSpec {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// Text behind the command in the usage line, for positional arguments.
  llvm::StringLiteral positional;
  llvm::ArrayRef<OptionSpec> options;
};

/// Parsed arguments. Values are given as `--name VALUE` or `--name=VALUE`; a
/// repeated option is an error.
class Arguments {
public:
  static llvm::Expected<Arguments> parse(const CommandSpec &command, llvm::ArrayRef<const char *> arguments);

  bool has(llvm::StringRef name) const { return values.count(name.str()); }
  std::string get(llvm::StringRef name, llvm::StringRef fallback = "") const;
  /// An unsigned integer of at least `low`.
  llvm::Expected<uint64_t> getUnsigned(llvm::StringRef name, uint64_t fallback, uint64_t low) const;
  /// One of `choices`.
  llvm::Expected<std::string> getChoice(llvm::StringRef name, llvm::StringRef fallback,
                                        const std::vector<std::string> &choices) const;
  const std::vector<std::string> &getPositional() const { return positional; }

private:
  std::map<std::string, std::string> values;
  std::vector<std::string> positional;
};

void printHelp(const CommandSpec &command, llvm::raw_ostream &out);

} // namespace atrex::bench

#endif // ATREX_BENCH_LIB_COMMANDLINE_H
