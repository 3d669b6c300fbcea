//===- CommandLine.h - Options that several tools have ----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DRIVER_COMMANDLINE_H
#define ATREX_DRIVER_COMMANDLINE_H

#include "atrex/Support/DimExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>

namespace llvm::cl {
class OptionCategory;
} // namespace llvm::cl

namespace atrex {

/// Parses the arguments of a tool, whose options are those of `category`. False, with the message on stderr, where they
/// are wrong.
bool parseCommandLine(int argc, char **argv, llvm::cl::OptionCategory &category, llvm::StringRef overview);

/// Splits NAME=VALUE; nothing where one of them is empty.
std::optional<std::pair<llvm::StringRef, llvm::StringRef>> splitAssignment(llvm::StringRef text);

/// Values of `--dim`, or of another `option` of this form: NAME=INTEGER, each name once.
llvm::Error parseDims(llvm::ArrayRef<std::string> texts, llvm::StringRef option, DimMap &dims);

/// Values of `--knob`: NAME=VALUE.
llvm::Error parseKnobs(llvm::ArrayRef<std::string> texts, std::map<std::string, std::string> &knobs);

/// The text of `--schedule` (an empty name: none is given) with the settings of `--set` in it. Empty where the
/// built-in schedule is to be taken as it is; `scheduleName` becomes what diagnostics call it.
llvm::Expected<std::string> readSchedule(std::string &scheduleName, llvm::ArrayRef<std::string> settings,
                                         llvm::StringRef arch);

} // namespace atrex

#endif // ATREX_DRIVER_COMMANDLINE_H
