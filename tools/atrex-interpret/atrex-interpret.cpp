//===- atrex-interpret.cpp - Reference interpreter -------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"
#include "atrex/Driver/CommandLine.h"
#include "atrex/Interpreter/Judge.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/FileOutput.h"
#include "atrex/Target/TargetChip.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace atrex;
using namespace atrex::interp;

namespace {
cl::OptionCategory category("atrex-interpret options");
cl::opt<std::string> inputName(cl::Positional, cl::desc("<kernel.atx or kernel.mlir, - for standard input>"),
                               cl::init(""), cl::cat(category));
cl::list<std::string> scheduleSettings("set", cl::desc("Set an option of the schedule to compare under"),
                                       cl::value_desc("PASS.OPTION=VALUE"), cl::cat(category));
cl::opt<std::string> opName("op", cl::desc("Operator or kernel to run when the source has several"),
                            cl::value_desc("name"), cl::cat(category));
cl::list<std::string> dims("dim", cl::desc("Make a dimension a compile-time constant"), cl::value_desc("NAME=V,..."),
                           cl::CommaSeparated, cl::cat(category));
cl::list<std::string> sizes("size", cl::desc("Value of a dimension that stays a run-time parameter"),
                            cl::value_desc("NAME=V,..."), cl::CommaSeparated, cl::cat(category));
cl::list<std::string> knobs("knob", cl::desc("Set a knob of the kernel"), cl::value_desc("NAME=V"), cl::CommaSeparated,
                            cl::cat(category));
cl::opt<uint64_t> seed("seed", cl::desc("Seed of the inputs"), cl::init(1), cl::cat(category));
cl::list<std::string> inputs("in", cl::desc("Contents of an input, row-major"), cl::value_desc("NAME=FILE"),
                             cl::cat(category));
cl::list<std::string> scalars("scalar", cl::desc("Value of a scalar parameter"), cl::value_desc("NAME=V"),
                              cl::cat(category));
cl::list<std::string> ranges("range", cl::desc("Draw integers of a closed range for an input"),
                             cl::value_desc("NAME=lo..hi"), cl::cat(category));
cl::list<std::string> values("values", cl::desc("What inputs are drawn from: small-int, normal or any-bits"),
                             cl::value_desc("[NAME=]class"), cl::cat(category));
cl::opt<bool> printOutputs("print", cl::desc("Print the outputs with their bounds"), cl::cat(category));
cl::opt<std::string> jsonName("json", cl::desc("Write counts and outputs as JSON"), cl::value_desc("file"),
                              cl::cat(category));
cl::opt<uint64_t> maxSteps("max-steps", cl::desc("Steps after which a program counts as endless"),
                           cl::init(RunOptions().maxSteps), cl::cat(category));
cl::opt<int64_t> maxElements("max-elements", cl::desc("Elements that all values together may have"),
                             cl::init(RunOptions().maxLiveElements), cl::cat(category));
cl::opt<bool> compareOption("compare", cl::desc("Compile, run on the embedded device and compare"), cl::cat(category));
cl::opt<std::string> arch("arch", cl::desc("Architecture or chip to compare on"), cl::init("gfx942"),
                          cl::cat(category));
cl::opt<std::string> checkNames("check", cl::desc("Checks of the device: all, or a list"), cl::init(""),
                                cl::cat(category));
cl::opt<std::string> shuffle("shuffle", cl::desc("Seed of the device's order of execution"), cl::init(""),
                             cl::cat(category));
cl::opt<std::string> scheduleName("schedule", cl::desc("Schedule file; default is the built-in schedule"),
                                  cl::value_desc("file"), cl::cat(category));

int usageError(const Twine &message) {
  WithColor::error(errs(), "atrex-interpret") << message << "\n";
  return 2;
}

int fail(const Twine &message) {
  WithColor::error(errs(), "atrex-interpret") << message << "\n";
  return 1;
}

std::string formatIndex(int64_t linear, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  std::string text;
  for (int64_t at : index)
    text += (text.empty() ? "" : ", ") + std::to_string(at);
  return text;
}

std::string formatBound(const Number &number) {
  if (number.isUndetermined())
    return "undetermined";
  return number.isExact() ? "exact" : formatv("+-{0:e3}", number.bound).str();
}

void print(const JudgeResult &result) {
  for (const Output &output : result.run.outputs) {
    const Parameter &parameter = result.parameters[output.parameter];
    for (int64_t i = 0; i < output.value.size(); ++i)
      outs() << parameter.name << "[" << formatIndex(i, output.value.getShape())
             << "] = " << format(output.value[i], parameter.element, parameter.isUnsigned) << " "
             << formatBound(output.value[i]) << "\n";
  }
}

json::Value toJSON(const JudgeResult &result) {
  json::Array outputs;
  for (const Output &output : result.run.outputs) {
    const Parameter &parameter = result.parameters[output.parameter];
    json::Array elements, bounds;
    for (int64_t i = 0; i < output.value.size(); ++i) {
      const Number &number = output.value[i];
      elements.push_back("0x" + utohexstr(number.bits, true, (parameter.getElementBits() + 3) / 4));
      // JSON has no infinity.
      bounds.push_back(number.isUndetermined() ? json::Value(nullptr) : json::Value(number.bound));
    }
    outputs.push_back(json::Object{{"name", parameter.name},
                                   {"shape", json::Array(output.value.getShape())},
                                   {"bits", std::move(elements)},
                                   {"bounds", std::move(bounds)}});
  }
  json::Object object{{"schema", "atrex-mlir/interpretation/1"},
                      {"passed", result.passed},
                      {"stage", getName(result.stage)},
                      {"steps", int64_t(result.run.statistics.steps)},
                      {"exact", int64_t(result.run.statistics.exact)},
                      {"bounded", int64_t(result.run.statistics.bounded)},
                      {"undetermined", int64_t(result.run.statistics.undetermined)},
                      {"tainted", result.run.statistics.tainted},
                      {"outputs", std::move(outputs)}};
  if (result.stage == Stage::Compare)
    object["differences"] = int64_t(result.comparison.differences);
  if (!result.message.empty())
    object["message"] = result.message;
  return object;
}

/// The settings; -1, or the exit code after an error.
int readOptions(JudgeOptions &options) {
  auto split = [](StringRef text, StringRef &name, StringRef &value) {
    auto assignment = splitAssignment(text);
    if (assignment)
      std::tie(name, value) = *assignment;
    return assignment.has_value();
  };
  StringRef name, value;
  if (Error error = parseDims(dims, "dim", options.compile.dims))
    return usageError(toString(std::move(error)));
  if (Error error = parseDims(sizes, "size", options.sizes))
    return usageError(toString(std::move(error)));
  for (const auto &entry : options.sizes)
    if (entry.getValue() < 0)
      return usageError("dimension '" + entry.getKey() + "' is negative");
  if (Error error = parseKnobs(knobs, options.compile.knobs))
    return usageError(toString(std::move(error)));
  for (StringRef text : scalars) {
    double number;
    if (!split(text, name, value) || value.getAsDouble(number))
      return usageError("'--scalar " + text + "': expected NAME=NUMBER");
    options.scalars[name.str()] = number;
  }
  for (StringRef text : ranges) {
    int64_t lo, hi;
    auto [first, last] = split(text, name, value) ? value.split("..") : std::make_pair(StringRef(), StringRef());
    if (first.getAsInteger(10, lo) || last.getAsInteger(10, hi) || lo > hi)
      return usageError("'--range " + text + "': expected NAME=lo..hi");
    options.ranges[name.str()] = {lo, hi};
  }
  for (StringRef text : values) {
    bool isNamed = split(text, name, value);
    std::optional<ValueClass> parsed = parseValueClass(isNamed ? value : text);
    if (!parsed)
      return usageError("'--values " + text + "': expected small-int, normal or any-bits");
    if (isNamed)
      options.classes[name.str()] = *parsed;
    else
      options.values = *parsed;
  }
  StringRef bad;
  if (!checkNames.empty() && !device::parseCheckNames(checkNames, options.checks, bad))
    return usageError("'--check': there is no check '" + bad + "'");
  if (!shuffle.empty()) {
    uint64_t number;
    if (StringRef(shuffle).getAsInteger(10, number))
      return usageError("'--shuffle " + shuffle + "': expected an integer");
    options.shuffle = number;
  }
  const ChipInfo *chip = lookupTarget(arch);
  if (!chip)
    return usageError(describeUnknownTarget(arch));
  options.compile.arch = arch;
  options.compile.op = opName;
  options.seed = seed;
  options.maxSteps = maxSteps;
  options.maxLiveElements = maxElements;
  options.useDevice = compareOption;
  for (StringRef text : inputs) {
    if (!split(text, name, value))
      return usageError("'--in " + text + "': expected NAME=FILE");
    Expected<std::unique_ptr<MemoryBuffer>> file = readRegularFile(value, uint64_t(1) << 30);
    if (!file)
      return fail(toString(file.takeError()));
    options.contents[name.str()].assign((*file)->getBufferStart(), (*file)->getBufferEnd());
  }
  std::string usedName = scheduleName;
  Expected<std::string> schedule = readSchedule(usedName, scheduleSettings, arch);
  if (!schedule)
    return fail(toString(schedule.takeError()));
  options.compile.schedule = *schedule;
  if (!usedName.empty())
    options.compile.scheduleName = usedName;
  return -1;
}
} // namespace

int main(int argc, char **argv) {
  if (!parseCommandLine(argc, argv, category, "Runs operators and kernels by the reference interpreter\n"))
    return 2;
  if (inputName.empty())
    return usageError("no input file; see --help");
  JudgeOptions options;
  if (int code = readOptions(options); code >= 0)
    return code;
  // The linker, which runs in process, resets all options.
  std::string json = jsonName;
  bool prints = printOutputs;
  Expected<std::unique_ptr<MemoryBuffer>> source = readInput(inputName, maxTextBytes);
  if (!source)
    return fail(toString(source.takeError()));
  if (!json.empty())
    if (Error error = checkWritable(json))
      return fail(toString(std::move(error)));

  JudgeResult result = judge((*source)->getMemBufferRef(), options);
  if (!json.empty())
    if (Error error = writeFile(json, formatv("{0:2}\n", toJSON(result)).str()))
      return fail(toString(std::move(error)));
  if (!result.passed && result.stage != Stage::Compare) {
    errs() << result.message;
    return 1;
  }
  if (prints)
    print(result);
  const Statistics &counts = result.run.statistics;
  uint64_t total = counts.exact + counts.bounded + counts.undetermined;
  outs() << formatv("{0} elements: {1} exact, {2} bounded, {3} undetermined ({4:f1}%)\n", total, counts.exact,
                    counts.bounded, counts.undetermined,
                    total ? 100.0 * double(counts.undetermined) / double(total) : 0.0);
  if (!counts.tainted.empty())
    outs() << "nothing is known of the outputs: " << counts.tainted << "\n";
  if (result.stage == Stage::Compare) {
    errs() << result.message;
    outs() << formatv("{0} of {1} elements differ\n", result.comparison.differences, result.comparison.elements);
  }
  return result.passed ? 0 : 1;
}
