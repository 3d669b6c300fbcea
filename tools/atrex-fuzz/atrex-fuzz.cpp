//===- atrex-fuzz.cpp - Random programs both ways --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "atrex/Device/Device.h"
#include "atrex/Driver/CommandLine.h"
#include "atrex/Support/FileOutput.h"
#include "atrex/Target/TargetChip.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace atrex;
using namespace atrex::fuzz;

namespace {
cl::OptionCategory category("atrex-fuzz options");
cl::opt<uint64_t> countOption("count", cl::desc("Programs to draw"), cl::init(200), cl::cat(category));
cl::opt<uint64_t> seedOption("seed", cl::desc("Seed of the first program; each has the next one"), cl::init(1),
                             cl::cat(category));
cl::list<std::string> formOption("form", cl::desc("operator, kernel or tile; all by default"), cl::CommaSeparated,
                                 cl::cat(category));
cl::opt<bool> deviceOption("compare", cl::desc("Compile each program, run it on the embedded device and compare"),
                           cl::cat(category));
cl::opt<std::string> archOption("arch", cl::desc("Architecture or chip"), cl::init("gfx942"), cl::cat(category));
cl::opt<std::string> checkOption("check", cl::desc("Checks of the device: all, or a list"), cl::init(""),
                                 cl::cat(category));
cl::opt<std::string> keepOption("keep", cl::desc("Directory for programs that fail, shrunk and whole"),
                                cl::value_desc("directory"), cl::init(""), cl::cat(category));
cl::opt<bool> printOption("print", cl::desc("Print the programs instead of running them"), cl::cat(category));
cl::opt<uint64_t> mutateOption("mutate", cl::desc("Changed texts per program that only have to be refused or read"),
                               cl::init(0), cl::cat(category));
cl::opt<bool> strictOption("strict", cl::desc("Programs that the compiler refuses count as failures"),
                           cl::cat(category));
cl::list<std::string> withoutOption("without", cl::desc("Groups of constructs to leave out"), cl::CommaSeparated,
                                    cl::cat(category));
cl::opt<bool> verboseOption("verbose", cl::desc("Print why programs were refused"), cl::cat(category));

int usageError(const Twine &message) {
  WithColor::error(errs(), "atrex-fuzz") << message << "\n";
  return 2;
}

struct Settings {
  uint64_t count = 0, seed = 0, mutations = 0;
  std::vector<Form> forms;
  bool device = false, strict = false, verbose = false;
  uint32_t checks = 0;
  std::string arch, keep;
  std::vector<std::string> without;
};

std::string getSourceName(const Program &program) {
  return formatv("{0}-{1}.{2}", getName(program.form), program.seed, program.form == Form::Tile ? "mlir" : "atx");
}

interp::JudgeResult judge(const Program &program, const Settings &settings) {
  interp::JudgeOptions options = program.getOptions();
  options.useDevice = settings.device;
  options.checks = settings.checks;
  options.compile.arch = settings.arch;
  std::string text = program.print(), name = getSourceName(program);
  return interp::judge(MemoryBufferRef(text, name), options);
}

/// A program fails where it should not: refused by the front end or by the
/// interpreter, or different on the device. What the compiler refuses with a
/// diagnostic is counted apart.
bool isFailure(const interp::JudgeResult &result, const Settings &settings) {
  if (result.passed)
    return false;
  return result.stage != interp::Stage::Compile || settings.strict;
}

Program shrink(Program program, const interp::JudgeResult &failure, const Settings &settings) {
  unsigned budget = 400;
  bool smaller = true;
  while (smaller && budget) {
    smaller = false;
    for (Program &candidate : program.shrink()) {
      bool less = candidate.countLive() < program.countLive() || candidate.results.size() < program.results.size() ||
                  candidate.rows < program.rows;
      if (!less || !budget)
        continue;
      --budget;
      interp::JudgeResult result = judge(candidate, settings);
      if (!isFailure(result, settings) || result.stage != failure.stage)
        continue;
      program = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return program;
}

/// One change of a text: characters and words are removed, doubled, exchanged
/// or replaced.
std::string mutate(std::string text, std::mt19937_64 &random) {
  static const char *words[] = {"f32",
                                "bf16",
                                "[",
                                "]",
                                "(",
                                ")",
                                "{",
                                "}",
                                ":",
                                ",",
                                "None",
                                "0",
                                "-1",
                                "9223372036854775807",
                                "axis",
                                "=",
                                "let",
                                "T",
                                "inf",
                                "\"",
                                "//",
                                "for",
                                "if",
                                "0.5",
                                "1e999",
                                "\x80",
                                "fn",
                                "import",
                                "vector<4xf32>",
                                "->",
                                "%v0",
                                "atx.tile_load",
                                "memref<?xf32>",
                                "index",
                                "i1"};
  unsigned changes = 1 + random() % 3;
  for (unsigned i = 0; i < changes && !text.empty(); ++i) {
    size_t at = random() % text.size(), size = 1 + random() % 8;
    switch (random() % 5) {
    case 0:
      text.erase(at, size);
      break;
    case 1:
      text.insert(at, text.substr(random() % text.size(), size));
      break;
    case 2:
      text.insert(at, words[random() % std::size(words)]);
      break;
    case 3:
      text[at] = static_cast<char>(random());
      break;
    default: {
      std::string part = text.substr(at, size);
      text.erase(at, size);
      text.insert(random() % (text.size() + 1), part);
    }
    }
  }
  return text;
}
} // namespace

int main(int argc, char **argv) {
  if (!parseCommandLine(argc, argv, category, "Draws programs and runs them both ways\n"))
    return 2;
  Settings settings;
  settings.count = countOption;
  settings.seed = seedOption;
  settings.mutations = mutateOption;
  settings.device = deviceOption;
  settings.strict = strictOption;
  settings.verbose = verboseOption;
  settings.keep = keepOption;
  settings.without.assign(withoutOption.begin(), withoutOption.end());
  for (const std::string &name : settings.without)
    if (llvm::none_of(getFeatures(), [&](const Feature &feature) { return name == feature.name; }))
      return usageError("'--without " + name + "': there is no such group");
  settings.arch = archOption;
  bool prints = printOption;
  const ChipInfo *chip = lookupTarget(settings.arch);
  if (!chip)
    return usageError(describeUnknownTarget(settings.arch));
  for (const std::string &text : formOption) {
    std::optional<Form> form = parseForm(text);
    if (!form)
      return usageError("'--form " + text + "': expected operator, kernel or tile");
    settings.forms.push_back(*form);
  }
  StringRef bad;
  if (!checkOption.empty() && !device::parseCheckNames(checkOption, settings.checks, bad))
    return usageError("'--check': there is no check '" + bad + "'");
  bool allForms = settings.forms.empty();
  if (allForms)
    settings.forms = {Form::Operator, Form::Kernel, Form::Tile};
  if (!settings.keep.empty())
    if (std::error_code ec = sys::fs::create_directories(settings.keep))
      return usageError("cannot create directory '" + settings.keep + "': " + ec.message());

  // What the front end has, so that programs use the rest.
  std::set<std::string> features, missing, all;
  for (const Feature &feature : getFeatures())
    if (!llvm::is_contained(settings.without, feature.name))
      all.insert(feature.name);
  bool needsProbes =
      llvm::is_contained(settings.forms, Form::Operator) || llvm::is_contained(settings.forms, Form::Kernel);
  for (const Feature &feature : getFeatures()) {
    if (!needsProbes || llvm::is_contained(settings.without, feature.name))
      continue;
    interp::JudgeOptions options;
    options.sizes["T"] = 2;
    interp::JudgeResult result = interp::judge(MemoryBufferRef(feature.probe, "probe.atx"), options);
    (result.stage == interp::Stage::Source ? missing : features).insert(feature.name);
    if (settings.verbose && result.stage == interp::Stage::Source)
      outs() << "probe of '" << feature.name << "': " << result.message;
  }
  if (allForms) {
    interp::JudgeOptions options;
    options.sizes["T"] = 2;
    StringRef probe =
        "kernel f(x: f32[T, 4]) -> (out: f32[T, 4]) grid (T) { let b = block_id() store(out[b, :], load(x[b, :])) }";
    interp::JudgeResult result = interp::judge(MemoryBufferRef(probe, "probe.atx"), options);
    if (result.stage == interp::Stage::Source) {
      missing.insert("kernel form");
      llvm::erase(settings.forms, Form::Kernel);
      if (settings.verbose)
        outs() << "probe of kernel form: " << result.message;
    }
  }
  if (!missing.empty()) {
    outs() << "left out, the front end refuses it:";
    for (const std::string &name : missing)
      outs() << " '" << name << "'";
    outs() << "\n";
  }

  uint64_t failures = 0, refused = 0, passed = 0, mutations = 0, accepted = 0;
  uint64_t exact = 0, bounded = 0, undetermined = 0;
  for (uint64_t i = 0; i < settings.count; ++i) {
    uint64_t seed = settings.seed + i;
    Form form = settings.forms[seed % settings.forms.size()];
    std::string where = formatv("program of --form {0} --seed {1}", getName(form), seed);
    PrettyStackTraceString trace(where.c_str());
    Program program = Program::generate(seed, form, form == Form::Tile ? all : features);
    if (prints) {
      outs() << program.print() << "\n";
      continue;
    }
    if (settings.mutations) {
      std::mt19937_64 random(seed);
      std::string text = program.print(), name = getSourceName(program);
      for (uint64_t n = 0; n < settings.mutations; ++n) {
        interp::JudgeOptions options = program.getOptions();
        options.maxSteps = 1 << 20;
        std::string changed = mutate(text, random);
        interp::JudgeResult result = interp::judge(MemoryBufferRef(changed, name), options);
        ++mutations;
        accepted += result.passed;
        if (!result.passed && result.message.empty()) {
          ++failures;
          outs() << where << ": refused without a message\n" << changed << "\n";
        }
      }
      continue;
    }
    interp::JudgeResult result = judge(program, settings);
    const interp::Statistics &counts = result.run.statistics;
    exact += counts.exact;
    bounded += counts.bounded;
    undetermined += counts.undetermined;
    if (result.passed) {
      ++passed;
      continue;
    }
    if (!isFailure(result, settings)) {
      ++refused;
      if (settings.verbose)
        outs() << where << " refused: " << result.message;
      continue;
    }
    ++failures;
    Program small = shrink(program, result, settings);
    interp::JudgeResult last = judge(small, settings);
    outs() << where << " fails at '" << getName(last.stage) << "':\n" << last.message << small.print() << "\n";
    if (!settings.keep.empty()) {
      SmallString<128> path(settings.keep);
      sys::path::append(path, getSourceName(program));
      for (auto [suffix, text] : {std::make_pair("", small.print()), std::make_pair(".whole", program.print())})
        if (Error error = writeFile((path + suffix).str(), text))
          WithColor::error(errs(), "atrex-fuzz") << toString(std::move(error)) << "\n";
    }
  }
  if (prints)
    return 0;
  if (settings.mutations)
    outs() << formatv("{0} changed texts, {1} accepted and run, {2} failures\n", mutations, accepted, failures);
  else
    outs() << formatv("{0} programs: {1} passed, {2} refused by the compiler, {3} failed\n", settings.count, passed,
                      refused, failures)
           << formatv("{0} elements: {1} exact, {2} bounded, {3} undetermined\n", exact + bounded + undetermined, exact,
                      bounded, undetermined);
  return failures ? 1 : 0;
}
