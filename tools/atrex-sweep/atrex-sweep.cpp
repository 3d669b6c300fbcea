//===- atrex-sweep.cpp - Every tile on small extents ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program is compiled once, with run-time extents, and run on the embedded
// device under all of its checks for many of them. What it must give is worked
// out here, without tiles. Exit status: 0, 1 where one failed, 2 usage.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "atrex/Device/Device.h"
#include "atrex/Driver/CommandLine.h"
#include "atrex/Driver/Compile.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Target/TargetChip.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace llvm;
using namespace atrex;
using namespace atrex::sweep;

namespace {
cl::OptionCategory category("atrex-sweep options");
cl::opt<std::string> archOption("arch", cl::desc("Architecture or chip"), cl::init("gfx942"), cl::cat(category));
cl::opt<std::string> kindOption("kind", cl::desc("products, attention or all"), cl::init("all"), cl::cat(category));
cl::opt<bool> schedulesOption("schedules", cl::desc("Random settings of the schedule for every program"),
                              cl::cat(category));
cl::opt<uint64_t> seedOption("seed", cl::desc("Seed of inputs, samples and settings"), cl::init(1), cl::cat(category));
cl::opt<uint64_t> sampleOption("sample", cl::desc("Draw so many programs instead of all"), cl::init(0),
                               cl::cat(category));
cl::opt<std::string> partOption("part", cl::desc("Every N-th program, from the I-th on (I from 0)"),
                                cl::value_desc("I/N"), cl::init("0/1"), cl::cat(category));
cl::opt<std::string> onlyOption("only", cl::desc("Programs whose name contains a text"), cl::init(""),
                                cl::cat(category));
cl::opt<uint64_t> shapesOption("shapes", cl::desc("Most sets of extents for each program"), cl::init(1u << 20),
                               cl::cat(category));
cl::opt<uint64_t> workOption("work",
                             cl::desc("Millions of multiply-adds for each program, after which no more extents "
                                      "are run; 0 is no limit"),
                             cl::init(0), cl::cat(category));
cl::opt<bool> everyOption("every",
                          cl::desc("Every set of extents up to one more than a tile, along the summed axis than "
                                   "two, of tiles that have no more than 20000"),
                          cl::cat(category));
cl::opt<bool> listOption("list", cl::desc("Print names and sources instead of running"), cl::cat(category));
cl::opt<bool> shuffleOption("shuffle", cl::desc("Workgroups and waves in random order"), cl::cat(category));
cl::opt<bool> verboseOption("verbose", cl::desc("Print each program as it ends"), cl::cat(category));

int usageError(const Twine &message) {
  WithColor::error(errs(), "atrex-sweep") << message << "\n";
  return 2;
}

Error makeError(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

std::string describe(const Extents &extents) {
  std::string text;
  for (const auto &[name, value] : extents)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
}

struct Settings {
  std::string arch;
  uint64_t seed, shapes, work;
  bool shuffle, every;
};

/// A compiled program on a device.
struct Loaded {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Module> module;
  Manifest manifest;
};

/// Runs one set of extents; an error says what is wrong.
Error runOnce(Loaded &code, const Program &program, const Extents &extents, const Settings &settings) {
  device::Device &device = *code.device;
  std::vector<Tensor> tensors = program.makeTensors(extents, settings.seed);
  LaunchArguments arguments;
  for (const auto &[name, value] : extents)
    arguments.dims[name] = value;
  Expected<DimMap> dims = resolveDims(code.manifest, arguments.dims);
  if (!dims)
    return dims.takeError();
  std::map<std::string, device::DevicePtr> memory;
  // Device memory is returned on every path.
  struct Release {
    device::Device &device;
    std::map<std::string, device::DevicePtr> &memory;
    ~Release() {
      for (const auto &[name, address] : memory)
        consumeError(device.free(address));
    }
  } release{device, memory};
  auto allocate = [&](const std::string &name, uint64_t bytes) -> Error {
    Expected<device::DevicePtr> address = device.allocate(std::max<uint64_t>(1, bytes), name);
    if (!address)
      return address.takeError();
    memory[name] = *address;
    return Error::success();
  };
  auto countBytes = [](const Tensor &tensor) {
    uint64_t count = 1;
    for (int64_t extent : tensor.shape)
      count *= uint64_t(extent);
    return count * getSizeInBytes(tensor.type);
  };
  for (const Tensor &tensor : tensors) {
    if (Error error = allocate(tensor.name, countBytes(tensor)))
      return error;
    // What nothing writes is NaN, or -1.
    if (Error error = tensor.isOutput
                          ? device.fill(memory[tensor.name], 0xFF, countBytes(tensor))
                          : device.copyToDevice(memory[tensor.name], tensor.bytes.data(), tensor.bytes.size()))
      return error;
  }
  for (const ManifestKernel &kernel : code.manifest.kernels) {
    arguments.tensors.assign(kernel.args.size(), 0);
    for (auto [index, arg] : enumerate(kernel.args)) {
      if (arg.kind != ManifestArg::Kind::Tensor)
        continue;
      if (!memory.count(arg.name)) {
        // A workspace: nobody has written it.
        Expected<uint64_t> bytes = evaluateBytes(arg, *dims);
        if (!bytes)
          return bytes.takeError();
        if (Error error = allocate(arg.name, *bytes))
          return error;
      }
      arguments.tensors[index] = memory[arg.name];
    }
    const device::Kernel *loaded = code.module->lookup(kernel.name);
    if (!loaded)
      return makeError("the code object has no kernel '" + kernel.name + "'");
    Expected<std::vector<uint8_t>> kernarg = packArguments(code.manifest, kernel, arguments);
    if (!kernarg)
      return kernarg.takeError();
    Expected<std::array<uint32_t, 3>> grid = evaluateGrid(kernel, *dims);
    if (!grid)
      return grid.takeError();
    device::LaunchConfig config;
    config.grid = *grid;
    config.workgroup = kernel.workgroup;
    config.dynamicLdsBytes = kernel.dynamicLdsBytes;
    config.kernarg = *kernarg;
    config.checks = device::CheckAll;
    if (settings.shuffle)
      config.shuffle = settings.seed;
    Expected<device::LaunchResult> launched = device.launch(*loaded, config);
    if (!launched)
      return launched.takeError();
    if (launched->numFindings)
      return makeError(Twine(launched->numFindings) +
                       " findings of the device's checks, first: " + launched->findings.front().message);
  }
  for (const Tensor &tensor : tensors) {
    if (!tensor.isOutput)
      continue;
    std::vector<uint8_t> bytes(countBytes(tensor));
    if (Error error = device.copyFromDevice(bytes.data(), memory[tensor.name], bytes.size()))
      return error;
    uint64_t count = bytes.size() / getSizeInBytes(tensor.type), wrong = 0, first = 0;
    for (uint64_t i = 0; i < count; ++i) {
      double value = loadElement(tensor.type, bytes.data(), i);
      bool isRight = tensor.expected.empty()
                         ? std::memcmp(&bytes[i * getSizeInBytes(tensor.type)],
                                       &tensor.bytes[i * getSizeInBytes(tensor.type)], getSizeInBytes(tensor.type)) == 0
                         : std::fabs(value - tensor.expected[i]) <= tensor.bounds[i];
      if (!isRight && wrong++ == 0)
        first = i;
    }
    if (wrong) {
      std::string index;
      uint64_t rest = first;
      for (size_t axis = tensor.shape.size(); axis-- > 0; rest /= uint64_t(tensor.shape[axis]))
        index = std::to_string(rest % uint64_t(tensor.shape[axis])) + (index.empty() ? "" : ", ") + index;
      return makeError(formatv("{0} of {1} elements of '{2}' differ, first {2}[{3}]: expected {4}, got {5}", wrong,
                               count, tensor.name, index,
                               tensor.expected.empty() ? loadElement(tensor.type, tensor.bytes.data(), first)
                                                       : tensor.expected[first],
                               loadElement(tensor.type, bytes.data(), first)));
    }
  }
  return Error::success();
}

struct Counts {
  uint64_t programs = 0, whole = 0, refused = 0, runs = 0, failed = 0;
};

/// Whether the compiler says that something does not fit on the chip.
bool isRefusal(StringRef diagnostics) {
  for (StringRef line : split(diagnostics, '\n'))
    if (line.contains("error:") && (line.contains("shared memory") || line.contains("registers")))
      return true;
  return false;
}

void runProgram(const Program &program, const Settings &settings, Counts &counts) {
  std::vector<Extents> sets = program.getExtents(settings.shapes, settings.every);
  if (sets.empty())
    return;
  ++counts.programs;
  auto report = [&](StringRef what, const Twine &text) {
    outs() << what << ": " << program.name << "\n  " << StringRef(text.str()).rtrim() << "\n";
    outs().flush();
  };
  CompileOptions options;
  options.arch = settings.arch;
  options.dims = program.constants;
  options.schedule = getDefaultSchedule(settings.arch);
  for (const std::string &setting : program.settings)
    if (Error error = setScheduleOption(options.schedule, setting)) {
      ++counts.failed;
      return report("failed", toString(std::move(error)));
    }
  std::string diagnostics;
  raw_string_ostream stream(diagnostics);
  std::optional<CompileResult> compiled = compile(MemoryBufferRef(program.source, "sweep.atx"), options, stream);
  if (!compiled) {
    ++(isRefusal(diagnostics) ? counts.refused : counts.failed);
    return report(isRefusal(diagnostics) ? "refused" : "failed", diagnostics);
  }
  Loaded code;
  code.manifest = std::move(compiled->manifest);
  Expected<std::unique_ptr<device::Device>> device = device::createSimDevice({settings.arch, 1});
  if (!device) {
    ++counts.failed;
    return report("failed", toString(device.takeError()));
  }
  code.device = std::move(*device);
  Expected<std::unique_ptr<device::Module>> module =
      code.device->load(MemoryBufferRef(compiled->output, "code object"));
  if (!module) {
    ++counts.failed;
    return report("failed", toString(module.takeError()));
  }
  code.module = std::move(*module);
  uint64_t work = 0;
  bool isWhole = true;
  unsigned failures = 0;
  for (const Extents &extents : sets) {
    if (settings.work && work > settings.work * 1000000) {
      isWhole = false;
      break;
    }
    work += program.getWork(extents);
    ++counts.runs;
    if (Error error = runOnce(code, program, extents, settings)) {
      ++counts.failed;
      report("failed", describe(extents) + ": " + toString(std::move(error)));
      // The first ones tell enough.
      if (++failures == 3) {
        isWhole = false;
        break;
      }
    }
  }
  counts.whole += isWhole;
}
} // namespace

int main(int argc, char **argv) {
  if (!parseCommandLine(argc, argv, category, "Runs every tile of products and attention on small extents\n"))
    return 2;
  const ChipInfo *chip = lookupTarget(archOption);
  if (!chip)
    return usageError(describeUnknownTarget(archOption));
  Selection selection;
  if (kindOption != "products" && kindOption != "attention" && kindOption != "all")
    return usageError("'--kind " + kindOption + "': expected products, attention or all");
  selection.products = kindOption != "attention";
  selection.attention = kindOption != "products";
  selection.schedules = schedulesOption;
  selection.seed = seedOption;
  uint64_t part, parts;
  auto [first, last] = StringRef(partOption).split('/');
  if (first.getAsInteger(10, part) || last.getAsInteger(10, parts) || part >= parts)
    return usageError("'--part " + partOption + "': expected I/N with I less than N");
  // The linker, which runs in process, resets all options.
  Settings settings{chip->arch.str(), seedOption, shapesOption, workOption, shuffleOption, everyOption};
  std::string only = onlyOption;
  const bool lists = listOption, isVerbose = verboseOption;
  uint64_t sample = sampleOption;

  std::vector<std::unique_ptr<Program>> programs = makePrograms(*chip, selection);
  if (!only.empty())
    erase_if(programs, [&](const auto &program) { return !StringRef(program->name).contains(only); });
  if (programs.empty())
    return usageError("'--only " + only + "': no program has this in its name");
  if (sample) {
    std::mt19937_64 random(settings.seed);
    std::shuffle(programs.begin(), programs.end(), random);
    if (programs.size() > sample)
      programs.resize(sample);
  }
  Counts counts;
  for (size_t i = part; i < programs.size(); i += parts) {
    if (lists) {
      outs() << "// " << programs[i]->name << "\n" << programs[i]->source << "\n";
      continue;
    }
    Counts before = counts;
    runProgram(*programs[i], settings, counts);
    if (isVerbose) {
      outs() << formatv("{0}: {1} runs, {2} failed\n", programs[i]->name, counts.runs - before.runs,
                        counts.failed - before.failed);
      outs().flush();
    }
  }
  if (!lists)
    outs() << formatv("{0}: {1} programs, {2} with all extents, {3} refused, {4} runs, {5} failed\n", settings.arch,
                      counts.programs, counts.whole, counts.refused, counts.runs, counts.failed);
  return counts.failed ? 1 : 0;
}
