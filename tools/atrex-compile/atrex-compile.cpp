//===- atrex-compile.cpp - Compiler driver ----------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatFiles.h"
#include "atrex/Analysis/StaticReport.h"
#include "atrex/Device/Sim/Coverage.h"
#include "atrex/Driver/Cache.h"
#include "atrex/Driver/CommandLine.h"
#include "atrex/Driver/Compile.h"
#include "atrex/Frontend/Builtins.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/FileOutput.h"
#include "atrex/Target/TargetChip.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace atrex;

namespace {

enum class Emit { Atx, MLIR, Tile, Fragment, LLVM, Asm, Hsaco, Artifact };
enum class ReportKind { None, Text, JSON };

cl::OptionCategory category("atrex-compile options");
cl::list<std::string> inputNames(cl::Positional, cl::desc("<kernel.atx or kernel.mlir, - for standard input>"),
                                 cl::cat(category));
cl::opt<bool> formatMode("format", cl::desc("Write .atx sources in canonical form instead of compiling"),
                         cl::cat(category));
cl::opt<bool> inPlace("i", cl::desc("With --format: rewrite the files"), cl::cat(category));
cl::opt<bool> formatCheck("check", cl::desc("With --format: only say which files would change, and fail if any does"),
                          cl::cat(category));
cl::opt<std::string> outputName("o", cl::desc("Output file, or directory for an artifact; - is standard output"),
                                cl::value_desc("file"), cl::init("-"), cl::cat(category));
cl::opt<std::string> arch("arch", cl::desc("Architecture or chip"), cl::init("gfx942"), cl::cat(category));
cl::list<std::string> dims("dim", cl::desc("Make a dimension a compile-time constant"), cl::value_desc("NAME=V,..."),
                           cl::CommaSeparated, cl::cat(category));
cl::list<std::string> knobs("knob", cl::desc("Set a knob of the kernel"), cl::value_desc("NAME=V"), cl::CommaSeparated,
                            cl::cat(category));
cl::opt<std::string> scheduleName("schedule", cl::desc("Schedule file; default is the built-in schedule"),
                                  cl::value_desc("file"), cl::cat(category));
cl::opt<std::string> opName("op", cl::desc("Operator to compile when the source has several"), cl::value_desc("name"),
                            cl::cat(category));
cl::opt<Emit> emitKind(
    "emit", cl::desc("What to write"), cl::init(Emit::Hsaco), cl::cat(category),
    cl::values(clEnumValN(Emit::Atx, "atx", "kernel language source, also of MLIR"),
               clEnumValN(Emit::MLIR, "mlir", "operator form"), clEnumValN(Emit::Tile, "tile", "tile form"),
               clEnumValN(Emit::Fragment, "fragment", "fragment form"),
               clEnumValN(Emit::LLVM, "llvm", "LLVM and ROCDL dialects"), clEnumValN(Emit::Asm, "asm", "assembly"),
               clEnumValN(Emit::Hsaco, "hsaco", "code object; the manifest goes beside it as <output>.json"),
               clEnumValN(Emit::Artifact, "artifact", "directory with code object, manifest, schedule and source")));
cl::opt<ReportKind> report("report",
                           cl::desc("Print registers, occupancy, traffic and loops to standard error; as JSON without "
                                    "remarks and warnings beside, unless --remarks asks for them"),
                           cl::ValueOptional, cl::init(ReportKind::None), cl::cat(category),
                           cl::values(clEnumValN(ReportKind::Text, "", ""), clEnumValN(ReportKind::Text, "text", ""),
                                      clEnumValN(ReportKind::JSON, "json", "")));
cl::opt<bool> remarks("remarks", cl::desc("Say where the code loses time, with source lines, on standard error"),
                      cl::cat(category));
cl::list<std::string> scheduleSettings("set",
                                       cl::desc("Set an option of the schedule, for example "
                                                "atx-interleave.pattern=auto; --emit-space lists them"),
                                       cl::value_desc("PASS.OPTION=VALUE"), cl::cat(category));
cl::opt<bool> printSchedule("print-schedule", cl::desc("Print the built-in schedule of the architecture and exit"),
                            cl::cat(category));
cl::opt<bool> printFunctions("print-functions",
                             cl::desc("Print the functions of the kernel language as Markdown and exit"),
                             cl::cat(category));
cl::opt<bool> emitSpace("emit-space",
                        cl::desc("Write the knobs, their constraints and the tunable pass options as JSON"),
                        cl::cat(category));
cl::opt<bool> timing("timing", cl::desc("Print the time of each pass to standard error"), cl::cat(category));
cl::opt<unsigned> optLevel("opt-level", cl::desc("Level of LLVM's passes and of code generation, 0 to 3"),
                           cl::value_desc("level"), cl::init(3), cl::cat(category));
cl::list<std::string> backendOptions("backend-option",
                                     cl::desc("Option of LLVM's command line for passes and code generation, such as "
                                              "-amdgpu-use-amdgpu-trackers=1; may be repeated"),
                                     cl::value_desc("-NAME[=V]"), cl::cat(category));
cl::opt<std::string> cacheName("cache", cl::desc("Keep modules and code in a directory, and take them from there"),
                               cl::value_desc("directory"), cl::cat(category));
cl::opt<unsigned> cacheLimit("cache-limit", cl::desc("MiB that the cache may take; what was not used longest goes"),
                             cl::value_desc("MiB"), cl::init(CompileCache::defaultMaxBytes >> 20), cl::cat(category));
cl::opt<bool> statistics("statistics",
                         cl::desc("Print what the cache was asked for and held, as JSON, to standard "
                                  "error"),
                         cl::cat(category));

int usageError(const Twine &message) {
  WithColor::error(errs(), "atrex-compile") << message << "\n";
  return 2;
}

int fail(Error error) {
  WithColor::error(errs(), "atrex-compile") << toString(std::move(error)) << "\n";
  return 1;
}

/// Values of the options that are needed after compiling: the linker, which runs
/// in process, resets all options of the command line library.
struct Settings {
  std::string input, output;
  Emit emit = Emit::Hsaco;
  ReportKind report = ReportKind::None;
  bool remarks = false;
  bool statistics = false;
};

/// An option of LLVM itself on the command line: it acts on the backend, too, but the
/// cache does not know of it, and options of the backend reset it.
StringRef findLLVMOption() {
  StringRef found;
  for (const auto &entry : cl::getRegisteredOptions()) {
    StringRef name = entry.first;
    // How modules are printed is no matter of the backend.
    if (entry.second->getNumOccurrences() && is_contained(entry.second->Categories, &cl::getGeneralCategory()) &&
        !name.starts_with("mlir-") && (found.empty() || name < found))
      found = name;
  }
  return found;
}

/// Writes all files or none: what cannot be written is found out first, and what
/// was written in front of a failure is removed.
Error writeFiles(ArrayRef<std::pair<std::string, StringRef>> files) {
  for (const auto &file : files)
    if (Error error = checkWritable(file.first))
      return error;
  for (auto [index, file] : enumerate(files))
    if (Error error = writeFile(file.first, file.second)) {
      for (const auto &written : files.take_front(index))
        sys::fs::remove(written.first);
      return error;
    }
  return Error::success();
}

/// Remarks in the form of the compiler's own diagnostics, with the source line
/// where the code object names this file.
void printRemarks(const StaticReport &report, MemoryBufferRef source, raw_ostream &os) {
  SmallVector<StringRef> lines;
  source.getBuffer().split(lines, '\n');
  StringRef own = sys::path::filename(source.getBufferIdentifier());
  for (const Remark &remark : report.remarks) {
    bool isOwn = own == sys::path::filename(remark.file);
    if (remark.line)
      os << (isOwn ? source.getBufferIdentifier() : StringRef(remark.file)) << ":" << remark.line << ": ";
    os << "remark: " << remark.message << " [" << remark.kind << "]\n";
    if (isOwn && remark.line && remark.line <= lines.size())
      os << lines[remark.line - 1].rtrim() << "\n";
  }
}

/// Report and remarks as the settings ask for them.
void printFacts(const StaticReport &facts, const Settings &settings, MemoryBufferRef source, const ChipInfo &chip,
                const CompileCache *cache, raw_ostream &os) {
  if (settings.remarks)
    printRemarks(facts, source, os);
  if (settings.report == ReportKind::JSON) {
    json::Value report = toJSON(facts, chip);
    if (cache)
      (*report.getAsObject())["cache"] = toJSON(cache->getStatistics());
    os << formatv("{0:2}", report) << "\n";
  }
  if (settings.report == ReportKind::Text)
    os << toText(facts, chip);
}

/// Reports on a code object that exists already, whoever made it; the manifest
/// beside it says how it is launched.
int reportCodeObject(MemoryBufferRef code, const Settings &settings, bool isArchGiven, const ChipInfo &chip) {
  if (settings.report == ReportKind::None && !settings.remarks)
    return usageError("'" + settings.input +
                      "' is a code object: there is nothing to compile; give --report or --remarks");
  if (settings.output != "-" || settings.emit != Emit::Hsaco)
    return usageError("'" + settings.input + "' is a code object: only --report and --remarks apply to it");
  const ChipInfo *own = &chip;
  StringRef built = device::getCodeObjectArch(code);
  if (built != chip.arch && !built.empty()) {
    if (isArchGiven)
      return fail(createStringError(inconvertibleErrorCode(),
                                    "'" + settings.input + "' is built for " + built + ", not for " + chip.arch));
    if (const ChipInfo *found = lookupChip(built))
      own = found;
  }
  Manifest manifest;
  std::string manifestName = settings.input + ".json";
  if (settings.input != "-" && sys::fs::exists(manifestName)) {
    Expected<std::unique_ptr<MemoryBuffer>> text = readInput(manifestName, maxTextBytes);
    if (!text)
      return fail(text.takeError());
    Expected<Manifest> parsed = Manifest::fromText((*text)->getBuffer());
    if (!parsed)
      return fail(
          createStringError(inconvertibleErrorCode(), "'" + manifestName + "': " + toString(parsed.takeError())));
    manifest = std::move(*parsed);
  }
  Expected<StaticReport> facts = analyzeCodeObject(code, manifest, *own);
  if (!facts)
    return fail(
        createStringError(inconvertibleErrorCode(), "'" + settings.input + "': " + toString(facts.takeError())));
  printFacts(*facts, settings, MemoryBufferRef("", ""), *own, nullptr, outs());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  mlir::registerAsmPrinterCLOptions();
  if (!parseCommandLine(argc, argv, category, "Compiles kernels to AMDGPU code objects\n"))
    return 2;
  const ChipInfo *chip = lookupTarget(arch);
  if (!chip)
    return usageError(describeUnknownTarget(arch));
  if (printFunctions) {
    outs() << frontend::printBuiltins();
    return 0;
  }
  if (printSchedule) {
    outs() << getDefaultSchedule(chip->arch);
    return 0;
  }
  if (inputNames.empty() || inputNames.front().empty())
    return usageError("no input file; see --help");
  if (formatMode) {
    if (inPlace && formatCheck)
      return usageError("-i rewrites files and --check leaves them; give one of them");
    if ((inPlace || formatCheck) && outputName != "-")
      return usageError("-o is for formatting one file without -i or --check");
    if (inPlace && is_contained(inputNames, "-"))
      return usageError("standard input cannot be rewritten in place");
    if (!inPlace && !formatCheck && inputNames.size() > 1)
      return usageError("several files are formatted with -i or --check");
    return formatFiles(inputNames, {inPlace, formatCheck, outputName});
  }
  if (inPlace || formatCheck)
    return usageError(Twine(inPlace ? "-i" : "--check") + " belongs to --format");
  if (inputNames.size() > 1)
    return usageError("one input file at a time, got " + Twine(inputNames.size()));

  const Settings settings{inputNames.front(), outputName, emitKind, report, remarks, statistics};
  CompileOptions options;
  options.arch = chip->arch.str();
  if (StringRef(arch) != chip->arch)
    options.arch = arch;
  options.op = opName;
  options.printTimings = timing;
  options.remarks = remarks;
  if (optLevel > 3)
    return usageError("'--opt-level " + Twine(optLevel) + "': expected a level from 0 to 3");
  options.optLevel = optLevel;
  options.backendOptions.assign(backendOptions.begin(), backendOptions.end());
  bool hasCache = cacheName.getNumOccurrences();
  if (hasCache || !options.backendOptions.empty())
    if (StringRef name = findLLVMOption(); !name.empty())
      return usageError("'-" + name + "' is an option of LLVM: together with " +
                        (hasCache ? "--cache" : "--backend-option") + ", give it as '--backend-option=-" + name +
                        "' with its value");
  if (!hasCache && (statistics || cacheLimit.getNumOccurrences()))
    return usageError(Twine(statistics ? "--statistics" : "--cache-limit") +
                      " is about the cache; name its directory with --cache");
  if (Error error = parseDims(dims, "dim", options.dims))
    return usageError(toString(std::move(error)));
  if (Error error = parseKnobs(knobs, options.knobs))
    return usageError(toString(std::move(error)));
  bool toDirectory = settings.emit == Emit::Artifact;
  if (emitSpace && (toDirectory || report != ReportKind::None || remarks))
    return usageError(
        "--emit-space writes JSON and compiles nothing; give it without --emit=artifact, --report and --remarks");
  if (toDirectory && settings.output == "-")
    return usageError("an artifact is a directory; name it with -o");
  switch (settings.emit) {
  case Emit::Atx:
    options.emit = EmitKind::Atx;
    break;
  case Emit::MLIR:
    options.emit = EmitKind::MLIR;
    break;
  case Emit::Tile:
    options.emit = EmitKind::Tile;
    break;
  case Emit::Fragment:
    options.emit = EmitKind::Fragment;
    break;
  case Emit::LLVM:
    options.emit = EmitKind::LLVM;
    break;
  case Emit::Asm:
    options.emit = EmitKind::Asm;
    break;
  case Emit::Hsaco:
  case Emit::Artifact:
    options.emit = EmitKind::Hsaco;
    break;
  }

  Expected<std::unique_ptr<MemoryBuffer>> source = readInput(settings.input, maxTextBytes);
  if (!source)
    return fail(source.takeError());
  std::string usedName = scheduleName;
  Expected<std::string> schedule = readSchedule(usedName, scheduleSettings, options.arch);
  if (!schedule)
    return fail(schedule.takeError());
  options.schedule = *schedule;
  if (!usedName.empty())
    options.scheduleName = usedName;
  if ((*source)->getBuffer().starts_with("\x7f"
                                         "ELF"))
    return reportCodeObject((*source)->getMemBufferRef(), settings, arch.getNumOccurrences() != 0, *chip);
  // What cannot be written is better known before the work is done.
  bool withManifest = settings.emit == Emit::Hsaco && settings.output != "-" && !emitSpace;
  if (toDirectory) {
    if (settings.output.empty())
      return fail(createStringError(inconvertibleErrorCode(), "the output file name is empty"));
    if (sys::fs::exists(settings.output) && !sys::fs::is_directory(settings.output))
      return fail(
          createStringError(inconvertibleErrorCode(), "cannot write '" + settings.output + "': it is not a directory"));
  } else {
    if (Error error = checkWritable(settings.output))
      return fail(std::move(error));
    if (withManifest)
      if (Error error = checkWritable(settings.output + ".json"))
        return fail(std::move(error));
  }

  if (emitSpace) {
    std::optional<std::string> space = describeSpace((*source)->getMemBufferRef(), options, errs());
    if (!space)
      return 1;
    if (Error error = writeFiles({{settings.output, StringRef(*space)}}))
      return fail(std::move(error));
    return 0;
  }

  options.needManifest = toDirectory;
  std::unique_ptr<CompileCache> cache;
  if (hasCache) {
    Expected<std::unique_ptr<CompileCache>> opened = CompileCache::open(cacheName, uint64_t(cacheLimit) << 20);
    if (!opened)
      return fail(opened.takeError());
    cache = std::move(*opened);
    options.cache = cache.get();
  }
  // A report as JSON stands alone: what the compiler remarks beside is asked for by --remarks.
  std::string messages;
  raw_string_ostream messageStream(messages);
  bool quiet = settings.report == ReportKind::JSON && !settings.remarks;
  std::optional<CompileResult> result =
      compile((*source)->getMemBufferRef(), options, quiet ? static_cast<raw_ostream &>(messageStream) : errs());
  // The report as JSON has them.
  if (settings.statistics && !(quiet && result))
    errs() << json::Value(json::Object{{"cache", toJSON(cache->getStatistics())}}) << "\n";
  if (!result) {
    errs() << messages;
    return 1;
  }

  std::string reportText;
  if (settings.report != ReportKind::None || settings.remarks) {
    if (options.emit != EmitKind::Hsaco)
      return usageError(Twine(settings.report != ReportKind::None ? "--report" : "--remarks") +
                        " needs a code object (--emit=hsaco or --emit=artifact)");
    Expected<StaticReport> facts =
        analyzeCodeObject(MemoryBufferRef(result->output, "code object"), result->manifest, *chip);
    if (!facts)
      return fail(facts.takeError());
    raw_string_ostream os(reportText);
    printFacts(*facts, settings, (*source)->getMemBufferRef(), *chip, cache.get(), os);
  }

  std::string usedSchedule = result->manifest.schedule + "\n";
  std::string manifest = options.emit == EmitKind::Hsaco ? result->manifest.toText() : std::string();
  SmallVector<std::pair<std::string, StringRef>> files;
  bool newDirectory = false;
  if (toDirectory) {
    newDirectory = !sys::fs::exists(settings.output);
    if (std::error_code ec = sys::fs::create_directories(settings.output))
      return fail(createStringError(ec, "cannot create directory '" + settings.output + "': " + ec.message()));
    auto add = [&](StringRef name, StringRef content) {
      SmallString<128> path(settings.output);
      sys::path::append(path, name);
      files.push_back({path.str().str(), content});
    };
    add("kernel.hsaco", result->output);
    add(StringRef(settings.input).ends_with(".mlir") ? "source.mlir" : "source.atx", (*source)->getBuffer());
    add("schedule.pipeline", usedSchedule);
    add("manifest.json", manifest);
  } else {
    files.push_back({settings.output, result->output});
    if (withManifest && !result->manifest.kernels.empty())
      files.push_back({settings.output + ".json", manifest});
  }
  if (Error error = writeFiles(files)) {
    if (newDirectory)
      sys::fs::remove(settings.output);
    return fail(std::move(error));
  }
  errs() << reportText;
  return 0;
}
