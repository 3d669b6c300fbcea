//===- CommandLine.cpp - Options that several tools have ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Driver/CommandLine.h"
#include "atrex/Driver/Compile.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Target/Chip.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace atrex;

static Error makeError(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

bool atrex::parseCommandLine(int argc, char **argv, cl::OptionCategory &category, StringRef overview) {
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << getCompilerVersion() << "\n"; });
  std::string usage;
  raw_string_ostream os(usage);
  if (cl::ParseCommandLineOptions(argc, argv, overview, &os))
    return true;
  errs() << usage;
  return false;
}

std::optional<std::pair<StringRef, StringRef>> atrex::splitAssignment(StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    return std::nullopt;
  return std::make_pair(name, value);
}

Error atrex::parseDims(ArrayRef<std::string> texts, StringRef option, DimMap &dims) {
  for (StringRef text : texts) {
    auto assignment = splitAssignment(text);
    int64_t value;
    if (!assignment || assignment->second.getAsInteger(10, value))
      return makeError("'--" + option + " " + text + "': expected NAME=INTEGER");
    if (!dims.insert({assignment->first, value}).second)
      return makeError("'--" + option + " " + text + "': dimension '" + assignment->first + "' is given twice");
  }
  return Error::success();
}

Error atrex::parseKnobs(ArrayRef<std::string> texts, std::map<std::string, std::string> &knobs) {
  for (StringRef text : texts) {
    auto assignment = splitAssignment(text);
    if (!assignment)
      return makeError("'--knob " + text + "': expected NAME=VALUE");
    knobs[assignment->first.str()] = assignment->second.str();
  }
  return Error::success();
}

Expected<std::string> atrex::readSchedule(std::string &scheduleName, ArrayRef<std::string> settings, StringRef arch) {
  std::string schedule;
  if (!scheduleName.empty()) {
    Expected<std::unique_ptr<MemoryBuffer>> file = readInput(scheduleName, maxTextBytes);
    if (!file)
      return file.takeError();
    schedule = (*file)->getBuffer().str();
    if (stripSchedule(schedule).empty())
      return makeError("schedule '" + scheduleName + "' is empty");
  }
  if (settings.empty())
    return schedule;
  const ChipInfo *chip = lookupChip(arch);
  if (schedule.empty() && chip) {
    schedule = getDefaultSchedule(chip->arch);
    scheduleName = "<built-in, --set>";
  }
  for (const std::string &setting : settings)
    if (Error error = setScheduleOption(schedule, setting))
      return std::move(error);
  return schedule;
}
