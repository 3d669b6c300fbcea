//===- Runner.cpp - Compile, execute and check ----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Runner.h"
#include "atrex/Bench/Embedded.h"
#include "atrex/Bench/Random.h"
#include "atrex/Bench/Timing.h"
#include "fmt/format.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>

using namespace atrex;
using namespace atrex::bench;
using device::ByteRange;
using device::DevicePtr;

llvm::StringRef bench::getName(CheckMode mode) {
  switch (mode) {
  case CheckMode::Upstream:
    return "upstream";
  case CheckMode::Strict:
    return "strict";
  case CheckMode::Both:
    return "both";
  }
  return "";
}

bool CheckResult::passesUpstream() const {
  return llvm::all_of(outputs, [](const auto &output) { return output.second.upstream.passes; });
}

bool CheckResult::passesStrict() const {
  return writeFault.empty() && inputFault.empty() &&
         llvm::all_of(outputs, [](const auto &output) { return output.second.strict.passes; });
}

std::string CheckResult::describe() const {
  return repetition && seed ? fmt::format("{} inputs, seed {}", inputs, *seed) : inputs + " inputs";
}

double ShapeResult::getScore() const {
  return status != ShapeStatus::Error && strict.value_or(false) && hasTime && time.seconds > 0 ? solUs / getTimeUs()
                                                                                               : 0;
}

std::vector<uint64_t> bench::chooseSample(uint64_t total, uint64_t count, llvm::StringRef op, int64_t shape,
                                          uint64_t seed) {
  if (count >= total)
    return {};
  std::set<uint64_t> chosen{0};
  if (count >= 2)
    chosen.insert(total - 1);
  // Floyd's algorithm: `count - 2` distinct values of 1 .. total - 2, every set
  // equally likely.
  RandomStream stream(op, fmt::format("sample/{}", shape), seed);
  uint64_t inner = total - 2, wanted = count > 2 ? count - 2 : 0;
  for (uint64_t i = 0; i < wanted; ++i) {
    uint64_t limit = inner - wanted + i + 1;
    uint64_t value = 1 + stream.getWord(i) % limit;
    if (!chosen.insert(value).second)
      chosen.insert(limit);
  }
  return std::vector<uint64_t>(chosen.begin(), chosen.end());
}

std::vector<std::pair<int64_t, int64_t>> bench::chooseRows(llvm::ArrayRef<std::pair<int64_t, int64_t>> owned,
                                                           int64_t blockRows, double flopsPerRow, double budget,
                                                           llvm::StringRef op, int64_t shape, uint64_t seed) {
  int64_t rows = 0;
  for (auto [begin, end] : owned)
    rows += end - begin;
  if (double(rows) * flopsPerRow <= budget)
    return owned.vec();
  std::vector<std::pair<int64_t, int64_t>> blocks, chosen;
  for (auto [begin, end] : owned)
    for (int64_t first = begin; first < end; first += blockRows)
      blocks.emplace_back(first, std::min(first + blockRows, end));
  uint64_t count = uint64_t(std::max(3.0, budget / (flopsPerRow * double(blockRows))));
  std::vector<uint64_t> sample = chooseSample(blocks.size(), count, (op + "/rows").str(), shape, seed);
  if (sample.empty())
    return owned.vec();
  for (uint64_t index : sample)
    chosen.push_back(blocks[index]);
  return chosen;
}

std::optional<std::string> bench::findSource(llvm::StringRef name, std::string &path) {
  std::string onDisk = std::string(ATREX_BENCH_SOURCE_DIR "/") + name.str();
  if (auto buffer = llvm::MemoryBuffer::getFile(onDisk)) {
    path = onDisk;
    return (*buffer)->getBuffer().str();
  }
  for (const EmbeddedFile &file : getEmbeddedSources())
    if (file.name == name) {
      path = "<embedded>/" + name.str();
      return file.text.str();
    }
  return std::nullopt;
}

/// bench/schedules/ARCH/NAME, in the source tree or embedded.
static std::optional<std::string> findSchedule(llvm::StringRef arch, llvm::StringRef name, std::string &path) {
  return findSource(fmt::format("schedules/{}/{}", arch.str(), name.str()), path);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

llvm::Error Runner::open(llvm::StringRef deviceName, unsigned jobs) {
  llvm::Expected<std::unique_ptr<device::Device>> created = hooks.createDevice(deviceName, *options.chip, jobs);
  if (!created)
    return created.takeError();
  dev = std::move(*created);
  return llvm::Error::success();
}

llvm::Expected<const Regime *> Runner::getRegime(const Operator &op, const Instance &instance) {
  RegimeFile &file = regimeFiles[op.getName().str()];
  if (!file.isRead) {
    file.isRead = true;
    std::optional<std::string> text;
    if (llvm::StringRef(options.scheduleName).ends_with(".regimes")) {
      text = options.scheduleText;
      file.path = options.scheduleName;
    } else if (options.kernelText.empty()) {
      // Those of the bench belong to its own kernel.
      text = findSchedule(options.arch, op.getName().str() + ".regimes", file.path);
    }
    if (text) {
      llvm::Expected<std::vector<Regime>> regimes = parseRegimes(*text, file.path);
      if (regimes)
        file.regimes = std::move(*regimes);
      else
        file.error = llvm::toString(regimes.takeError());
    }
  }
  if (!file.error.empty())
    return makeError(file.error);
  if (file.regimes.empty())
    return nullptr;
  return chooseRegime(file.regimes, instance.getAllDims(), file.path);
}

Runner::Compiled &Runner::getCompiled(const Operator &op, const Instance &instance) {
  std::string key = op.getName().str();
  const Regime *regime = nullptr;
  if (llvm::Expected<const Regime *> chosen = getRegime(op, instance)) {
    regime = *chosen;
    if (regime)
      key += fmt::format(" line {}", regime->line);
  } else {
    Compiled &failed = cache["no regime"];
    failed.error = llvm::toString(chosen.takeError());
    return failed;
  }
  for (const auto &[name, value] : instance.modelDims)
    key += fmt::format(" {}={}", name, value);
  // Shapes of one operator may have different types and inputs.
  for (const TensorSpec &spec : instance.inputs)
    key += fmt::format(" {}:{}", spec.name, atrex::getName(spec.type).str());
  auto [slot, isNew] = cache.try_emplace(key);
  if (isNew)
    if (llvm::Error error = compile(op, instance, regime, slot->second))
      slot->second.error = llvm::toString(std::move(error));
  return slot->second;
}

/// Whether kernel source names `word` outside of comments.
static bool mentions(llvm::StringRef text, llvm::StringRef word) {
  auto isNamePart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!text.empty()) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.take_front(line.find("//"));
    for (size_t at = line.find(word); at != llvm::StringRef::npos; at = line.find(word, at + 1)) {
      bool startsInside = at > 0 && isNamePart(line[at - 1]);
      size_t end = at + word.size();
      if (!startsInside && (end == line.size() || !isNamePart(line[end])))
        return true;
    }
  }
  return false;
}

/// The programs in kernel source that compute operator `name`: those of that
/// name or of one that begins with it and `_`. An operator whose options change
/// its inputs has one for each kind.
static std::vector<std::string> findPrograms(llvm::StringRef text, llvm::StringRef name) {
  std::vector<std::string> programs;
  while (!text.empty()) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    if (!line.consume_front("op ") && !line.consume_front("kernel "))
      continue;
    llvm::StringRef found = line.ltrim().take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (found == name || found.starts_with(name.str() + "_"))
      programs.push_back(found.str());
  }
  return programs;
}

/// Whether a program takes the inputs of the instance and no others.
static bool takesInputs(const Manifest &manifest, const Instance &instance) {
  std::set<llvm::StringRef> taken, given;
  for (const ManifestKernel &kernel : manifest.kernels)
    for (const ManifestArg &arg : kernel.args)
      if (arg.kind == ManifestArg::Kind::Tensor && !arg.isOutput && !arg.isWorkspace)
        taken.insert(arg.name);
  for (const TensorSpec &spec : instance.inputs)
    given.insert(spec.name);
  return taken == given;
}

llvm::Error Runner::compile(const Operator &op, const Instance &instance, const Regime *regime, Compiled &compiled) {
  std::string name = op.getName().str(), text = options.kernelText, path = options.kernelName;
  if (text.empty()) {
    std::optional<std::string> found = findSource("kernels/" + name + ".atx", path);
    if (!found)
      return makeError(fmt::format("there is no kernel for {}: bench/kernels/{}.atx does not exist; name one with "
                                   "--kernel",
                                   name, name));
    text = std::move(*found);
  }
  CompileOptions compileOptions;
  compileOptions.arch = options.arch;
  for (const auto &[dim, value] : instance.modelDims)
    if (!llvm::is_contained(instance.optionalDims, dim) || mentions(text, dim))
      compileOptions.dims[dim] = value;
  // A kernel for several types takes that of the first input.
  if (mentions(text, "DTYPE") && !instance.inputs.empty())
    compileOptions.knobs["DTYPE"] = atrex::getName(instance.inputs.front().type).str();
  if (regime)
    for (const auto &[knob, value] : regime->knobs)
      compileOptions.knobs[knob] = value;
  for (const auto &[knob, value] : options.knobs)
    compileOptions.knobs[knob] = value;
  if (!options.scheduleName.empty() && !llvm::StringRef(options.scheduleName).ends_with(".regimes")) {
    compileOptions.schedule = options.scheduleText;
    compileOptions.scheduleName = options.scheduleName;
  } else {
    bool isNamed = regime && !regime->schedule.empty();
    std::string schedulePath, file = isNamed ? regime->schedule : name + ".pipeline";
    std::optional<std::string> schedule;
    if (isNamed && !options.scheduleName.empty()) {
      llvm::SmallString<256> beside = llvm::sys::path::parent_path(options.scheduleName);
      llvm::sys::path::append(beside, file);
      schedulePath = beside.str().str();
      if (auto buffer = llvm::MemoryBuffer::getFile(schedulePath))
        schedule = (*buffer)->getBuffer().str();
    } else {
      schedule = findSchedule(options.arch, file, schedulePath);
    }
    if (schedule) {
      compileOptions.schedule = std::move(*schedule);
      compileOptions.scheduleName = schedulePath;
    } else if (isNamed) {
      return makeError(
          fmt::format("the regime of line {} names schedule '{}', which does not exist", regime->line, file));
    }
  }
  if (regime && !regime->settings.empty()) {
    // A schedule that is asked for by itself is taken as it is.
    bool isGiven = !options.scheduleName.empty() && !llvm::StringRef(options.scheduleName).ends_with(".regimes");
    if (!isGiven) {
      if (!hooks.setOptions)
        return makeError(fmt::format("the regime of line {} sets options of the schedule", regime->line));
      llvm::Expected<std::string> changed = hooks.setOptions(compileOptions.schedule, regime->settings, options.arch);
      if (!changed)
        return makeError(fmt::format("the regime of line {}: {}", regime->line, llvm::toString(changed.takeError())));
      compileOptions.schedule = std::move(*changed);
    }
  }
  std::string diagnostics;
  llvm::raw_string_ostream stream(diagnostics);
  auto start = std::chrono::steady_clock::now();
  std::vector<std::string> programs = findPrograms(text, name);
  if (regime && !regime->program.empty()) {
    if (!llvm::is_contained(programs, regime->program))
      return makeError(fmt::format("the regime of line {} names program '{}', which {} does not have", regime->line,
                                   regime->program, path));
    programs = {regime->program};
  }
  std::optional<CompileResult> output;
  for (size_t i = 0; i < std::max<size_t>(1, programs.size()); ++i) {
    compileOptions.op = programs.empty() ? "" : programs[i];
    output = hooks.compile(llvm::MemoryBufferRef(text, path), compileOptions, stream);
    if (!output || programs.size() < 2 || takesInputs(output->manifest, instance))
      break;
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!output)
    return makeError(fmt::format("cannot compile {}:\n{}", path, llvm::StringRef(diagnostics).rtrim().str()));
  if (output->manifest.kernels.empty())
    return makeError(fmt::format("the manifest of {} names no kernel", path));
  llvm::Expected<std::unique_ptr<device::Module>> module = dev->load(llvm::MemoryBufferRef(output->output, name));
  if (!module)
    return module.takeError();
  compiled.module = std::move(*module);
  for (const ManifestKernel &kernel : output->manifest.kernels) {
    const device::Kernel *found = compiled.module->lookup(kernel.name);
    if (!found)
      return makeError(
          fmt::format("the code object of {} has no kernel '{}', which its manifest names", path, kernel.name));
    compiled.kernels.push_back(found);
  }
  auto info = std::make_unique<CodeObjectInfo>();
  for (const auto &[dim, value] : instance.modelDims)
    info->dims += fmt::format("{}{}={}", info->dims.empty() ? "" : ",", dim, value);
  if (regime && !regime->str().empty())
    info->dims += fmt::format("{}{}", info->dims.empty() ? "" : " ", regime->str());
  info->manifest = std::move(output->manifest);
  info->resources = compiled.kernels.front()->getResources();
  info->compileSeconds = seconds;
  compiled.info = info.get();
  codeObjects.push_back(std::move(info));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Executing
//===----------------------------------------------------------------------===//

namespace {
/// Half-open range of rows.
struct RowRange {
  int64_t begin, end;
};

/// How the workgroups of a kernel share the rows of the outputs: those with the same position along `axes` are a group,
/// which writes whole rows.
struct Sharing {
  std::vector<unsigned> axes;
  /// Group g covers the rows from g * extent on. 0: which ones shows when it has run.
  int64_t extent = 0;
  uint64_t groups = 1;
};

/// Nothing where the manifest does not tell, or groups could not be told apart.
std::optional<Sharing> getSharing(const ManifestKernel &kernel, llvm::ArrayRef<int64_t> tileExtents,
                                  const std::array<uint32_t, 3> &grid) {
  std::optional<Sharing> sharing;
  for (auto [arg, tile] : llvm::zip_equal(kernel.args, tileExtents)) {
    if (arg.kind != ManifestArg::Kind::Tensor || !arg.isOutput)
      continue;
    Sharing own;
    if (tile > 0) {
      own.axes = {arg.tileAxis};
      own.extent = tile;
      // Workgroups of a row operator have one axis.
      if (!arg.rowAxes && (grid[1] != 1 || grid[2] != 1))
        return std::nullopt;
    } else if (arg.rowAxes) {
      own.axes = *arg.rowAxes;
    } else {
      return std::nullopt;
    }
    if (sharing && (sharing->axes != own.axes || sharing->extent != own.extent))
      return std::nullopt;
    sharing = own;
  }
  if (sharing)
    for (unsigned axis : sharing->axes)
      sharing->groups *= grid[axis];
  return sharing;
}

/// The workgroups of groups, ascending.
std::vector<uint64_t> getMembers(const Sharing &sharing, llvm::ArrayRef<uint64_t> groups,
                                 const std::array<uint32_t, 3> &grid) {
  std::vector<uint64_t> members;
  std::array<uint64_t, 3> others = {grid[0], grid[1], grid[2]};
  for (unsigned axis : sharing.axes)
    others[axis] = 1;
  for (uint64_t group : groups) {
    std::array<uint64_t, 3> base = {0, 0, 0};
    for (unsigned axis : sharing.axes) {
      base[axis] = group % grid[axis];
      group /= grid[axis];
    }
    for (uint64_t z = 0; z < others[2]; ++z)
      for (uint64_t y = 0; y < others[1]; ++y)
        for (uint64_t x = 0; x < others[0]; ++x)
          members.push_back(base[0] + x + grid[0] * (base[1] + y + uint64_t(grid[1]) * (base[2] + z)));
  }
  llvm::sort(members);
  return members;
}

/// The rows that were written. Empty with a fault where one was written in part.
std::vector<RowRange> getWrittenRows(llvm::ArrayRef<ByteRange> written, const TensorSpec &spec, std::string &fault) {
  std::vector<RowRange> rows;
  uint64_t rowBytes = std::max<uint64_t>(1, spec.getRowBytes());
  for (const ByteRange &range : written) {
    uint64_t end = range.offset + range.size;
    if (range.offset % rowBytes != 0 || end % rowBytes != 0) {
      uint64_t byte = range.offset % rowBytes != 0 ? range.offset : end;
      fault = fmt::format("output '{}': row {} was written in part, up to or from element {}", spec.name,
                          byte / rowBytes, byte % rowBytes / getSizeInBytes(spec.type));
      return {};
    }
    auto first = int64_t(range.offset / rowBytes), last = int64_t(end / rowBytes);
    if (!rows.empty() && rows.back().end == first)
      rows.back().end = last;
    else
      rows.push_back({first, last});
  }
  return rows;
}

/// Rows each executed group covers, merged and ascending.
std::vector<RowRange> getOwnedRows(llvm::ArrayRef<uint64_t> sample, int64_t extent, int64_t rows) {
  std::vector<RowRange> ranges;
  for (uint64_t workgroup : sample) {
    int64_t begin = int64_t(workgroup) * extent, end = std::min(begin + extent, rows);
    if (begin >= end)
      continue;
    if (!ranges.empty() && ranges.back().end == begin)
      ranges.back().end = end;
    else
      ranges.push_back({begin, end});
  }
  return ranges;
}

/// Rows of an output that the executed workgroups write; outputs shared by all
/// rows are one row.
std::vector<RowRange> getOutputRanges(const TensorSpec &spec, llvm::ArrayRef<RowRange> owned) {
  if (!spec.isShared)
    return owned.vec();
  return {{0, spec.getElements() ? 1 : 0}};
}

/// Compares written with owned bytes; the text names the first difference.
/// `needed` is how much of a shared output must be written.
std::string compareRanges(llvm::ArrayRef<ByteRange> written, llvm::ArrayRef<RowRange> owned, const TensorSpec &spec,
                          uint64_t needed) {
  uint64_t rowBytes = spec.getRowBytes(), total = spec.getBytes();
  auto describe = [&](uint64_t byte) {
    uint64_t element = byte % rowBytes / getSizeInBytes(spec.type);
    return byte < total ? fmt::format("row {}, element {}", byte / rowBytes, element)
                        : fmt::format("byte {} behind the end", byte - total);
  };
  // Walk both lists and stop at the first byte that only one of them has.
  size_t i = 0;
  uint64_t position = 0;
  for (const RowRange &range : owned) {
    uint64_t begin = uint64_t(range.begin) * rowBytes, end = std::min(uint64_t(range.end) * rowBytes, needed);
    position = begin;
    while (position < end) {
      while (i < written.size() && written[i].offset + written[i].size <= position)
        ++i;
      if (i == written.size() || written[i].offset > position)
        return fmt::format("output '{}': not written at {}", spec.name, describe(position));
      position = std::min(end, written[i].offset + written[i].size);
    }
  }
  // Everything owned is written; anything more is outside.
  uint64_t cursor = 0;
  size_t next = 0;
  for (const ByteRange &range : written) {
    cursor = range.offset;
    uint64_t end = range.offset + range.size;
    while (cursor < end) {
      while (next < owned.size() && uint64_t(owned[next].end) * rowBytes <= cursor)
        ++next;
      if (next == owned.size() || uint64_t(owned[next].begin) * rowBytes > cursor)
        return fmt::format("output '{}': written outside the rows of the executed workgroups, at {}", spec.name,
                           describe(cursor));
      cursor = std::min(end, uint64_t(owned[next].end) * rowBytes);
    }
  }
  return "";
}

/// Launches of one candidate, timed by the device that executes them.
class DeviceTimer : public LaunchTimer {
public:
  struct Launch {
    const device::Kernel *kernel;
    device::LaunchConfig config;
    std::vector<uint8_t> kernarg;
  };
  DeviceTimer(device::Device &dev, std::vector<Launch> launches) : dev(dev), launches(std::move(launches)) {
    for (Launch &launch : this->launches)
      launch.config.kernarg = launch.kernarg;
  }
  ~DeviceTimer() override {
    if (buffer)
      llvm::consumeError(dev.free(buffer));
  }
  llvm::Error flushCaches(uint64_t bytes) override {
    if (!buffer) {
      llvm::Expected<DevicePtr> fresh = dev.allocate(bytes, "cache flush");
      if (!fresh)
        return fresh.takeError();
      buffer = *fresh;
    }
    return dev.fill(buffer, uint8_t(++flushes), bytes);
  }
  llvm::Expected<double> timeLaunch(unsigned) override {
    double seconds = 0;
    for (const Launch &launch : launches) {
      llvm::Expected<device::LaunchResult> result = dev.launch(*launch.kernel, launch.config);
      if (!result)
        return result.takeError();
      seconds += result->time.seconds;
    }
    return seconds;
  }
  // The bench has no kernel that does nothing.
  llvm::Expected<double> timeEmptyLaunch() override { return 0.0; }
  double getResolution() const override { return 0; }

private:
  device::Device &dev;
  std::vector<Launch> launches;
  DevicePtr buffer = 0;
  unsigned flushes = 0;
};

/// What the kernel argument `arg` is at `instance`.
struct BoundTensor {
  const TensorSpec *spec = nullptr;
  unsigned index = 0;
  bool isOutput = false;
};
} // namespace

static llvm::Expected<BoundTensor> bindTensor(const Instance &instance, const ManifestArg &arg, const DimMap &dims) {
  const std::vector<TensorSpec> &specs = arg.isOutput ? instance.outputs : instance.inputs;
  for (unsigned i = 0; i < specs.size(); ++i) {
    if (specs[i].name != arg.name)
      continue;
    llvm::Expected<std::vector<int64_t>> shape = evaluateShape(arg, dims);
    if (!shape)
      return shape.takeError();
    if (arg.type != specs[i].type || *shape != specs[i].shape)
      return makeError(fmt::format("kernel tensor '{}' is {}[{}], but the operator defines {}[{}]", arg.name,
                                   atrex::getName(arg.type).str(), fmt::join(*shape, ", "),
                                   atrex::getName(specs[i].type).str(), fmt::join(specs[i].shape, ", ")));
    return BoundTensor{&specs[i], i, arg.isOutput};
  }
  return makeError(fmt::format("the kernel has an {} '{}' that the operator does not define",
                               arg.isOutput ? "output" : "input", arg.name));
}

/// The dimensions of the instance without the optional ones that the kernel was
/// compiled without.
static DimMap getLaunchDims(const Manifest &manifest, const Instance &instance) {
  DimMap dims = instance.getAllDims();
  for (const std::string &name : instance.optionalDims)
    if (!manifest.constants.count(name) && !llvm::is_contained(manifest.runtimeDims, name))
      dims.erase(name);
  return dims;
}

/// Whether the kernels take the dimensions and tensors of the instance; asked
/// before any input is drawn.
static llvm::Error checkKernels(const Manifest &manifest, const Instance &instance) {
  llvm::Expected<DimMap> dims = resolveDims(manifest, getLaunchDims(manifest, instance));
  if (!dims)
    return dims.takeError();
  for (const ManifestKernel &kernel : manifest.kernels)
    for (const ManifestArg &arg : kernel.args)
      if (arg.kind == ManifestArg::Kind::Tensor && !arg.isWorkspace)
        if (llvm::Expected<BoundTensor> bound = bindTensor(instance, arg, *dims); !bound)
          return bound.takeError();
  llvm::Expected<std::vector<ManifestArg>> workspaces = getWorkspaces(manifest);
  if (!workspaces)
    return workspaces.takeError();
  for (const ManifestArg &arg : *workspaces)
    if (llvm::Expected<std::vector<int64_t>> shape = evaluateShape(arg, *dims); !shape)
      return shape.takeError();
  return llvm::Error::success();
}

namespace {
/// Which workgroups of each kernel of a plan run, where those of the last one are a sample, and the rows of tensors
/// that these access.
class PlanSample {
public:
  PlanSample(const Manifest &manifest, const DimMap &dims) : kernels(manifest.kernels), dims(dims) {}

  /// From the sample of the last kernel to those of the others. `share` is that of the rows it owns.
  llvm::Error follow(llvm::ArrayRef<uint64_t> last, double share);

  /// Ascending; empty where all run.
  const std::vector<uint64_t> &getWorkgroups(size_t index) const { return samples[index]; }
  /// The part of the kernel's work that its workgroups do; 0 where all run or nothing is known.
  double getShare(size_t index) const { return shares[index]; }
  /// The rows of the tensor of this name in which kernels from `first` on access it; nothing where these may be all.
  llvm::Expected<std::optional<std::vector<RowRange>>> getRows(llvm::StringRef name, int64_t rows,
                                                               size_t first = 0) const;

private:
  /// The workgroups of kernel `index` that write rows of workspaces in which later ones read them; nothing for all.
  llvm::Expected<std::optional<std::vector<uint64_t>>> findNeeded(size_t index, double &share) const;

  llvm::ArrayRef<ManifestKernel> kernels;
  const DimMap &dims;
  std::vector<std::vector<uint64_t>> samples;
  std::vector<double> shares;
};
} // namespace

/// Ascending and without gaps or overlaps between neighbours.
static void mergeRows(std::vector<RowRange> &rows) {
  llvm::sort(rows, [](const RowRange &a, const RowRange &b) { return a.begin < b.begin; });
  std::vector<RowRange> merged;
  for (const RowRange &range : rows) {
    if (!merged.empty() && range.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  }
  rows = std::move(merged);
}

llvm::Expected<std::optional<std::vector<RowRange>>> PlanSample::getRows(llvm::StringRef name, int64_t rows,
                                                                         size_t first) const {
  std::vector<RowRange> ranges;
  for (size_t index = first; index < kernels.size(); ++index)
    for (const ManifestArg &arg : kernels[index].args) {
      if (arg.kind != ManifestArg::Kind::Tensor || arg.name != name)
        continue;
      if (samples[index].empty() || arg.tileDim != 0)
        return std::nullopt;
      llvm::Expected<int64_t> extent = arg.tileExtent.evaluate(dims);
      if (!extent)
        return extent.takeError();
      llvm::Expected<std::array<uint32_t, 3>> grid = evaluateGrid(kernels[index], dims);
      if (!grid)
        return grid.takeError();
      uint64_t before = 1;
      for (unsigned axis = 0; axis < arg.tileAxis; ++axis)
        before *= (*grid)[axis];
      llvm::DenseSet<uint64_t> seen;
      for (uint64_t workgroup : samples[index]) {
        uint64_t position = workgroup / before % (*grid)[arg.tileAxis];
        RowRange range{int64_t(position) * *extent, std::min(int64_t(position + 1) * *extent, rows)};
        if (range.begin < range.end && seen.insert(position).second)
          ranges.push_back(range);
      }
    }
  mergeRows(ranges);
  return ranges;
}

llvm::Expected<std::optional<std::vector<uint64_t>>> PlanSample::findNeeded(size_t index, double &share) const {
  llvm::Expected<std::array<uint32_t, 3>> grid = evaluateGrid(kernels[index], dims);
  if (!grid)
    return grid.takeError();
  uint64_t total = uint64_t((*grid)[0]) * (*grid)[1] * (*grid)[2];
  llvm::BitVector isNeeded(unsigned(std::min<uint64_t>(total, uint64_t(1) << 31)));
  if (isNeeded.size() != total)
    return std::nullopt;
  bool writes = false;
  for (const ManifestArg &arg : kernels[index].args) {
    if (arg.kind != ManifestArg::Kind::Tensor || !arg.isWorkspace)
      continue;
    // The first kernel that has a workspace fills it.
    bool isRead = llvm::any_of(kernels.take_front(index), [&](const ManifestKernel &kernel) {
      return llvm::any_of(kernel.args, [&](const ManifestArg &other) { return other.name == arg.name; });
    });
    if (isRead)
      continue;
    writes = true;
    if (arg.tileDim != 0)
      return std::nullopt;
    llvm::Expected<int64_t> extent = arg.tileExtent.evaluate(dims);
    if (!extent)
      return extent.takeError();
    llvm::Expected<std::vector<int64_t>> shape = evaluateShape(arg, dims);
    if (!shape)
      return shape.takeError();
    llvm::Expected<std::optional<std::vector<RowRange>>> rows = getRows(arg.name, shape->front(), index + 1);
    if (!rows)
      return rows.takeError();
    if (!*rows)
      return std::nullopt;
    llvm::BitVector positions((*grid)[arg.tileAxis]);
    for (const RowRange &range : **rows)
      for (int64_t at = range.begin / *extent; at * *extent < range.end && at < int64_t(positions.size()); ++at)
        positions.set(unsigned(at));
    uint64_t before = 1;
    for (unsigned axis = 0; axis < arg.tileAxis; ++axis)
      before *= (*grid)[axis];
    for (uint64_t workgroup = 0; workgroup < total; ++workgroup)
      if (positions.test(unsigned(workgroup / before % (*grid)[arg.tileAxis])))
        isNeeded.set(unsigned(workgroup));
  }
  if (!writes || isNeeded.all() || isNeeded.none())
    return std::nullopt;
  share = double(isNeeded.count()) / double(total);
  std::vector<uint64_t> workgroups;
  for (unsigned workgroup : isNeeded.set_bits())
    workgroups.push_back(workgroup);
  return workgroups;
}

llvm::Error PlanSample::follow(llvm::ArrayRef<uint64_t> last, double share) {
  samples.assign(kernels.size(), {});
  shares.assign(kernels.size(), 0);
  samples.back() = last.vec();
  shares.back() = last.empty() ? 0 : share;
  if (last.empty())
    return llvm::Error::success();
  for (size_t index = kernels.size() - 1; index-- > 0;) {
    if (uint32_t feeds = kernels[index].feeds) {
      for (uint64_t workgroup : samples[index + 1])
        for (uint32_t part = 0; part < feeds; ++part)
          samples[index].push_back(workgroup * feeds + part);
      shares[index] = samples[index].empty() ? 0 : shares[index + 1];
      continue;
    }
    llvm::Expected<std::optional<std::vector<uint64_t>>> needed = findNeeded(index, shares[index]);
    if (!needed)
      return needed.takeError();
    if (*needed)
      samples[index] = std::move(**needed);
  }
  return llvm::Error::success();
}

llvm::Error Runner::runOnce(const Operator &op, const Instance &instance, Compiled &compiled, const Source &source,
                            ShapeResult &result) {
  const Manifest &manifest = compiled.info->manifest;
  llvm::Expected<DimMap> dims = resolveDims(manifest, getLaunchDims(manifest, instance));
  if (!dims)
    return dims.takeError();

  // Tiles along the rows, of the last launch: it finishes what is written.
  const ManifestKernel &last = manifest.kernels.back();
  std::vector<int64_t> tileExtents(last.args.size(), 0);
  for (auto [arg, tile] : llvm::zip_equal(last.args, tileExtents)) {
    if (arg.kind != ManifestArg::Kind::Tensor)
      continue;
    if (arg.tileDim == 0) {
      llvm::Expected<int64_t> value = arg.tileExtent.evaluate(*dims);
      if (!value)
        return value.takeError();
      tile = *value;
    }
  }
  llvm::Expected<std::array<uint32_t, 3>> grid = evaluateGrid(last, *dims);
  if (!grid)
    return grid.takeError();
  bool ownsRows = llvm::none_of(instance.outputs, [](const TensorSpec &spec) { return spec.isShared; });
  std::optional<Sharing> sharing;
  // Launches before are executed whole, or the workgroups whose work the last one's need.
  bool canFollow = llvm::all_of(llvm::ArrayRef(manifest.kernels).drop_back(), [](const ManifestKernel &kernel) {
    return kernel.feeds != 0 || llvm::none_of(kernel.args, [](const ManifestArg &arg) { return arg.isOutput; });
  });
  if (ownsRows && canFollow && dev->isSimulated())
    sharing = getSharing(last, tileExtents, *grid);
  if (sharing && sharing->extent == 0 && manifest.kernels.size() != 1)
    sharing.reset();
  bool canSample = sharing.has_value();
  if (canSample && sharing->extent && sharing->groups * uint64_t(sharing->extent) < uint64_t(instance.rows))
    return makeError(fmt::format("the manifest says {} rows per workgroup, but the grid has {} workgroups for {} rows",
                                 sharing->extent, sharing->groups, instance.rows));

  uint64_t elements = 0;
  for (const std::vector<TensorSpec> *tensors : {&instance.inputs, &instance.outputs})
    for (const TensorSpec &spec : *tensors)
      elements += uint64_t(spec.getElements());
  std::vector<uint64_t> groups, sample;
  if (!options.whole && elements > options.budget) {
    if (!canSample && dev->isSimulated())
      return makeError(fmt::format("the shape has {} elements, more than the budget of {}, and the kernel cannot be "
                                   "executed in part because its workgroups do not own rows; use --whole or a larger "
                                   "--budget",
                                   elements, options.budget));
    if (canSample) {
      // Where an element costs much, work is the limit.
      double flops = shapeFlops / double(sharing->groups);
      uint64_t count = options.budget / std::max<uint64_t>(1, elements / sharing->groups);
      if (flops > 0)
        count = std::min(count, uint64_t(std::min(1e18, options.executedFlops / flops)));
      groups = chooseSample(sharing->groups, std::max<uint64_t>(3, count), op.getName(), result.id, source.seed);
      sample = getMembers(*sharing, groups, *grid);
    }
  }
  // Known before or behind the launch.
  bool showsRows = !groups.empty() && sharing->extent == 0;
  int64_t extent = sharing ? sharing->extent : 0;
  std::vector<RowRange> owned;
  if (groups.empty())
    owned = {{0, instance.rows}};
  else if (!showsRows)
    owned = getOwnedRows(groups, extent, instance.rows);

  double ownedShare = 0;
  if (!sample.empty() && !showsRows) {
    int64_t rows = 0;
    for (const RowRange &range : owned)
      rows += range.end - range.begin;
    ownedShare = double(rows) / double(instance.rows);
  }
  PlanSample samples(manifest, *dims);
  if (llvm::Error error = samples.follow(sample, ownedShare))
    return error;

  // Device memory is returned on every path.
  std::vector<DevicePtr> allocations;
  llvm::scope_exit cleanup([&] {
    for (DevicePtr ptr : allocations)
      llvm::consumeError(dev->free(ptr));
  });
  auto allocate = [&](const TensorSpec &spec, DevicePtr &ptr) -> llvm::Error {
    llvm::Expected<DevicePtr> fresh = dev->allocate(std::max<uint64_t>(1, spec.getBytes()), spec.name);
    if (!fresh)
      return fresh.takeError();
    ptr = *fresh;
    allocations.push_back(ptr);
    return llvm::Error::success();
  };
  std::vector<DevicePtr> inputPtrs(instance.inputs.size()), outputPtrs(instance.outputs.size());

  // An input is present for the rows of the workgroups that run where every kernel reads it by tile; otherwise it is
  // present whole.
  std::vector<std::vector<RowRange>> present(instance.inputs.size());
  std::vector<std::vector<std::vector<uint8_t>>> hostInputs(instance.inputs.size());
  for (size_t i = 0; i < instance.inputs.size(); ++i) {
    const TensorSpec &spec = instance.inputs[i];
    if (llvm::Error error = allocate(spec, inputPtrs[i]))
      return error;
    present[i] = {{0, spec.getRows()}};
    if (!sample.empty() && !showsRows && !spec.isShared) {
      llvm::Expected<std::optional<std::vector<RowRange>>> rows = samples.getRows(spec.name, spec.getRows());
      if (!rows)
        return rows.takeError();
      if (*rows)
        present[i] = std::move(**rows);
    }
    for (const RowRange &range : present[i]) {
      std::vector<uint8_t> data(uint64_t(range.end - range.begin) * spec.getRowBytes());
      source.getInput(unsigned(i), range.begin, range.end, data.data());
      if (!data.empty())
        if (llvm::Error error =
                dev->copyToDevice(inputPtrs[i] + uint64_t(range.begin) * spec.getRowBytes(), data.data(), data.size()))
          return error;
      hostInputs[i].push_back(std::move(data));
    }
  }
  for (size_t i = 0; i < instance.outputs.size(); ++i) {
    const TensorSpec &spec = instance.outputs[i];
    if (llvm::Error error = allocate(spec, outputPtrs[i]))
      return error;
    // Of rows that are not known yet only what was written is looked at.
    for (const RowRange &range : getOutputRanges(spec, owned))
      if (llvm::Error error = dev->fill(outputPtrs[i] + uint64_t(range.begin) * spec.getRowBytes(), 0xFF,
                                        uint64_t(range.end - range.begin) * spec.getRowBytes()))
        return error;
  }

  // Memory between the launches of a plan: what a kernel reads before another
  // wrote it is NaN.
  std::map<std::string, DevicePtr> workspacePtrs;
  llvm::Expected<std::vector<ManifestArg>> workspaces = getWorkspaces(manifest);
  if (!workspaces)
    return workspaces.takeError();
  for (const ManifestArg &arg : *workspaces) {
    llvm::Expected<uint64_t> size = evaluateBytes(arg, *dims);
    if (!size)
      return size.takeError();
    uint64_t bytes = *size;
    llvm::Expected<DevicePtr> fresh = dev->allocate(std::max<uint64_t>(1, bytes), arg.name);
    if (!fresh)
      return fresh.takeError();
    workspacePtrs[arg.name] = *fresh;
    allocations.push_back(*fresh);
    // Of rows that nobody reads none is touched.
    std::vector<ByteRange> filled = {{0, bytes}};
    llvm::Expected<std::vector<int64_t>> shape = evaluateShape(arg, *dims);
    if (!shape)
      return shape.takeError();
    if (!sample.empty() && !shape->empty() && shape->front() > 0 && bytes % uint64_t(shape->front()) == 0) {
      llvm::Expected<std::optional<std::vector<RowRange>>> rows = samples.getRows(arg.name, shape->front());
      if (!rows)
        return rows.takeError();
      if (*rows) {
        filled.clear();
        uint64_t rowBytes = bytes / uint64_t(shape->front());
        for (const RowRange &range : **rows)
          filled.push_back({uint64_t(range.begin) * rowBytes, uint64_t(range.end - range.begin) * rowBytes});
      }
    }
    for (const ByteRange &range : filled)
      if (range.size)
        if (llvm::Error error = dev->fill(*fresh + range.offset, 0xFF, range.size))
          return error;
  }

  // Launch.
  dev->clearTracking();
  bool isFirstRun = !result.hasTime;
  std::vector<DeviceTimer::Launch> launches;
  for (const auto &[index, kernel] : llvm::enumerate(manifest.kernels)) {
    LaunchArguments arguments;
    arguments.dims = getLaunchDims(manifest, instance);
    for (const ManifestKernel &other : manifest.kernels)
      for (const ManifestArg &arg : other.args)
        if (arg.kind == ManifestArg::Kind::Scalar && !arg.isConstant) {
          auto value = instance.scalars.find(arg.name);
          if (value != instance.scalars.end())
            arguments.scalars[arg.name] = value->second;
        }
    for (const ManifestArg &arg : kernel.args) {
      if (arg.kind != ManifestArg::Kind::Tensor) {
        arguments.tensors.push_back(0);
        continue;
      }
      if (arg.isWorkspace) {
        arguments.tensors.push_back(workspacePtrs[arg.name]);
        continue;
      }
      llvm::Expected<BoundTensor> bound = bindTensor(instance, arg, *dims);
      if (!bound)
        return bound.takeError();
      arguments.tensors.push_back(bound->isOutput ? outputPtrs[bound->index] : inputPtrs[bound->index]);
    }
    llvm::Expected<std::vector<uint8_t>> kernarg = packArguments(manifest, kernel, arguments);
    if (!kernarg)
      return kernarg.takeError();
    llvm::Expected<std::array<uint32_t, 3>> kernelGrid = evaluateGrid(kernel, *dims);
    if (!kernelGrid)
      return kernelGrid.takeError();
    device::LaunchConfig config;
    config.grid = *kernelGrid;
    config.workgroup = kernel.workgroup;
    config.dynamicLdsBytes = kernel.dynamicLdsBytes;
    config.kernarg = *kernarg;
    config.sample = samples.getWorkgroups(index);
    config.sampleShare = samples.getShare(index);
    config.checks = options.deviceChecks;
    config.shuffle = options.shuffle;
    config.profile = options.profile;
    llvm::Expected<device::LaunchResult> launched = dev->launch(*compiled.kernels[index], config);
    if (!launched)
      return launched.takeError();
    if (launched->numFindings) {
      std::string message =
          fmt::format("{} finding{} of the device", launched->numFindings, launched->numFindings == 1 ? "" : "s");
      for (const device::Finding &finding : launched->findings)
        message += "\n" + finding.message;
      return makeError(message);
    }
    if (!isFirstRun)
      continue;
    launches.push_back({compiled.kernels[index], config, *kernarg});
    if (options.profile) {
      std::vector<device::LineProfile> lines = device::sumByLine(launched->profile);
      // Results do not depend on where the sources stand.
      for (device::LineProfile &line : lines)
        if (llvm::StringRef(line.file).starts_with(ATREX_BENCH_SOURCE_DIR "/"))
          line.file.erase(0, std::strlen(ATREX_BENCH_SOURCE_DIR "/"));
      result.profile.insert(result.profile.end(), lines.begin(), lines.end());
    }
    if (index == 0) {
      result.time = launched->time;
      result.stats = launched->stats;
      result.workgroupsTotal = uint64_t((*kernelGrid)[0]) * (*kernelGrid)[1] * (*kernelGrid)[2];
      result.workgroupsExecuted = config.sample.empty() ? result.workgroupsTotal : config.sample.size();
    } else {
      result.time.seconds += launched->time.seconds;
      for (const auto &[part, seconds] : launched->time.parts)
        result.time.parts[part] += seconds;
    }
    result.hasTime = true;
  }

  std::string rowFault;
  if (showsRows) {
    llvm::Expected<std::vector<ByteRange>> written = dev->getWrittenRanges(outputPtrs.front());
    if (!written)
      return written.takeError();
    owned = getWrittenRows(*written, instance.outputs.front(), rowFault);
    if (owned.empty() && rowFault.empty())
      return makeError(fmt::format("the {} workgroups that were executed wrote nothing", sample.size()));
    // Workgroups that have no rows would make the others look cheap.
    int64_t rows = 0;
    for (const RowRange &range : owned)
      rows += range.end - range.begin;
    if (isFirstRun && rows > 0) {
      device::LaunchConfig &config = launches.front().config;
      config.sampleShare = double(rows) / double(instance.rows);
      result.time = device::predictTime(*options.chip, compiled.kernels.front()->getResources(), config, result.stats);
    }
  }

  // The first launch alone is no measurement. The outputs that are checked below
  // are those of the last timed launch.
  if (isFirstRun && onReady) {
    DeviceTimer timer(*dev, std::move(launches));
    if (llvm::Error error = onReady(timer))
      return error;
  } else if (isFirstRun && !dev->isSimulated()) {
    DeviceTimer timer(*dev, std::move(launches));
    TimingOptions timing = TimingOptions::forChip(*options.chip);
    timing.seed = options.seed;
    llvm::Expected<TimingSummary> summary = measureCandidate(timer, 0, timing);
    if (!summary)
      return summary.takeError();
    result.time.seconds = summary->median;
    result.intervalUs = {summary->low * 1e6, summary->high * 1e6};
    result.timing = summary->toJSON();
  }

  // Check.
  CheckResult check;
  check.writeFault = std::move(rowFault);
  check.inputs = source.label;
  if (source.isComputed)
    check.seed = source.seed;
  check.repetition = source.repetition;
  for (size_t i = 0; i < instance.inputs.size(); ++i) {
    const TensorSpec &spec = instance.inputs[i];
    llvm::Expected<std::vector<ByteRange>> written = dev->getWrittenRanges(inputPtrs[i]);
    if (!written) {
      if (dev->isSimulated())
        return written.takeError();
      llvm::consumeError(written.takeError());
    } else if (!written->empty() && check.inputFault.empty()) {
      check.inputFault = fmt::format("input '{}' was written at byte {}", spec.name, written->front().offset);
    }
    for (size_t r = 0; r < present[i].size(); ++r) {
      const std::vector<uint8_t> &before = hostInputs[i][r];
      std::vector<uint8_t> after(before.size());
      if (before.empty())
        continue;
      if (llvm::Error error = dev->copyFromDevice(
              after.data(), inputPtrs[i] + uint64_t(present[i][r].begin) * spec.getRowBytes(), after.size()))
        return error;
      if (after != before && check.inputFault.empty())
        check.inputFault = fmt::format("input '{}' was changed", spec.name);
    }
  }
  // Reference and judgement go by blocks of rows, so that host memory stays
  // small.
  int64_t rowElements = 1;
  for (const std::vector<TensorSpec> *tensors : {&instance.inputs, &instance.outputs})
    for (const TensorSpec &spec : *tensors)
      if (!spec.isShared)
        rowElements += spec.getRowElements();
  int64_t blockRows = std::max<int64_t>(1, (int64_t(1) << 20) / rowElements);
  // Inputs that are only partly there cannot belong to outputs of unknown length.
  std::vector<const void *> wholeInputs;
  for (const std::vector<std::vector<uint8_t>> &parts : hostInputs)
    wholeInputs.push_back(parts.empty() ? nullptr : parts.front().data());
  bool hasBound = llvm::any_of(instance.outputs, [](const TensorSpec &spec) { return spec.isBound; });
  std::vector<std::vector<int64_t>> outputShapes;
  if (hasBound)
    outputShapes = op.resolveOutputs(instance, wholeInputs);
  else
    for (const TensorSpec &spec : instance.outputs)
      outputShapes.push_back(spec.shape);
  std::vector<OutputJudge> judges;
  std::vector<Rule> rules;
  // Outputs shared by all rows are judged whole.
  std::vector<std::optional<OutputVerdict>> wholeVerdicts(instance.outputs.size());
  for (size_t i = 0; i < instance.outputs.size(); ++i) {
    const TensorSpec &spec = instance.outputs[i];
    std::optional<Rule> rule = getStrictRule(op.getName(), spec.name, options.fp8Inside);
    if (!rule)
      return makeError(fmt::format("output '{}' of {} has no strict rule", spec.name, op.getName().str()));
    // Units larger than a row are taken over the rows that are judged together.
    uint64_t unit = getUnitElements(rule->unit, spec.shape);
    judges.emplace_back(*rule, spec.type,
                        std::min(unit, uint64_t(blockRows) * uint64_t(std::max<int64_t>(1, spec.getRowElements()))));
    rules.push_back(*rule);
    llvm::Expected<std::vector<ByteRange>> written = dev->getWrittenRanges(outputPtrs[i]);
    if (!written) {
      if (dev->isSimulated())
        return written.takeError();
      llvm::consumeError(written.takeError());
    } else if (check.writeFault.empty()) {
      TensorSpec resolved = spec;
      resolved.shape = outputShapes[i];
      check.writeFault = compareRanges(*written, getOutputRanges(spec, owned), spec,
                                       spec.isBound ? resolved.getBytes() : spec.getBytes());
    }
  }
  uint64_t checkedRows = 0;
  std::vector<std::pair<int64_t, int64_t>> judged;
  for (const RowRange &range : owned)
    judged.emplace_back(range.begin, range.end);
  if (source.isComputed)
    judged = chooseRows(judged, /*blockRows=*/16, shapeFlops / double(std::max<int64_t>(1, instance.rows)),
                        options.referenceFlops, op.getName(), result.id, source.seed);
  size_t r = 0;
  for (auto [first, last] : judged) {
    // The owned range that holds the judged one.
    while (owned[r].end < last)
      ++r;
    checkedRows += uint64_t(last - first);
    for (int64_t begin = first; begin < last; begin += blockRows) {
      int64_t end = std::min(begin + blockRows, last);
      std::vector<const void *> inputs;
      for (size_t i = 0; i < instance.inputs.size(); ++i) {
        const TensorSpec &spec = instance.inputs[i];
        // `present` is either the owned ranges or one range with everything.
        size_t slot = present[i].size() == owned.size() && present[i][r].begin == owned[r].begin ? r : 0;
        int64_t row = spec.isShared ? 0 : begin - present[i][slot].begin;
        inputs.push_back(hostInputs[i][slot].data() + uint64_t(row) * spec.getRowBytes());
      }
      std::vector<std::vector<uint8_t>> references, candidates;
      std::vector<void *> referencePtrs;
      for (size_t i = 0; i < instance.outputs.size(); ++i) {
        const TensorSpec &spec = instance.outputs[i];
        uint64_t bytes = spec.isShared ? spec.getBytes() : uint64_t(end - begin) * spec.getRowBytes();
        references.emplace_back(bytes);
        candidates.emplace_back(bytes);
        if (bytes > 0)
          if (llvm::Error error = dev->copyFromDevice(
                  candidates.back().data(), outputPtrs[i] + (spec.isShared ? 0 : uint64_t(begin) * spec.getRowBytes()),
                  bytes))
            return error;
      }
      for (std::vector<uint8_t> &reference : references)
        referencePtrs.push_back(reference.data());
      source.getReference(inputs, begin, end, referencePtrs);
      for (size_t i = 0; i < instance.outputs.size(); ++i) {
        const TensorSpec &spec = instance.outputs[i];
        if (spec.isShared) {
          wholeVerdicts[i] =
              judgeTensor(rules[i], spec.type, outputShapes[i], references[i].data(), candidates[i].data());
          continue;
        }
        judges[i].add(references[i].data(), candidates[i].data(),
                      uint64_t(end - begin) * uint64_t(spec.getRowElements()),
                      uint64_t(begin) * uint64_t(spec.getRowElements()));
      }
    }
  }
  result.elementsChecked = result.elementsTotal = 0;
  for (size_t i = 0; i < instance.outputs.size(); ++i) {
    const TensorSpec &spec = instance.outputs[i];
    check.outputs.emplace_back(spec.name, wholeVerdicts[i] ? *wholeVerdicts[i] : judges[i].finish());
    OutputVerdict &verdict = check.outputs.back().second;
    verdict.rowElements = uint64_t(std::max<int64_t>(1, spec.isShared ? spec.shape.back() : spec.getRowElements()));
    result.elementsChecked += spec.isShared ? verdict.elements : checkedRows * uint64_t(spec.getRowElements());
    result.elementsTotal += spec.isShared ? verdict.elements : uint64_t(spec.getElements());
  }
  result.checks.push_back(std::move(check));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Shapes and cases
//===----------------------------------------------------------------------===//

void Runner::prepare(ShapeResult &result, const CatalogueOperator &entry, const Params &params,
                     const std::map<std::string, double> &realised) {
  result.op = entry.name;
  result.params = params;
  shapeFlops = 0;
  llvm::Expected<WorkPair> work = computeWork(entry.name, params, realised);
  if (!work) {
    llvm::consumeError(work.takeError());
    return;
  }
  shapeFlops = work->charged.flops;
  result.solUs = computeSolMs(work->charged, entry.dtype, *options.chip) * 1000;
  if (work->minimal)
    result.minimalUs = computeSolMs(*work->minimal, entry.dtype, *options.chip) * 1000;
}

void Runner::finish(ShapeResult &result, bool isStored) {
  if (!result.error.empty()) {
    result.status = ShapeStatus::Error;
    return;
  }
  // The published rule speaks about the published inputs where they were run.
  bool hasPublished = llvm::any_of(result.checks, [](const CheckResult &c) { return c.inputs == "published"; });
  bool upstream = true, strict = true;
  for (const CheckResult &check : result.checks) {
    if (isStored || !hasPublished || check.inputs == "published")
      upstream &= check.passesUpstream();
    strict &= check.passesStrict();
  }
  result.upstream = upstream;
  result.strict = strict;
  bool passes = options.check == CheckMode::Upstream ? upstream
                : options.check == CheckMode::Strict ? strict
                                                     : upstream && strict;
  result.status = passes ? ShapeStatus::Pass : ShapeStatus::Fail;
}

static std::string describeMissingReference(llvm::StringRef op) {
  return fmt::format("operator '{}' has no reference in this build yet, so no kernel for it can be checked; available: "
                     "{}",
                     op.str(), fmt::join(getReferenceNames(), ", "));
}

ShapeResult Runner::describeShape(const CatalogueOperator &entry, const CatalogueShape &shape) {
  ShapeResult result;
  result.id = shape.id;
  prepare(result, entry, shape.params, shape.realised);
  auto production =
      options.chip->alias.empty() ? shape.productionUs.end() : shape.productionUs.find(options.chip->alias.str());
  if (production != shape.productionUs.end())
    result.productionUs = production->second;
  if (const Operator *op = lookupOperator(entry.name)) {
    if (llvm::Expected<Instance> instance = op->instantiate(shape.params))
      result.shapeText = instance->shapeText;
    else
      llvm::consumeError(instance.takeError());
  }
  return result;
}

ShapeResult Runner::failShape(const CatalogueOperator &entry, const CatalogueShape &shape, std::string error,
                              std::string failure) {
  ShapeResult result = describeShape(entry, shape);
  result.error = std::move(error);
  result.failure = std::move(failure);
  finish(result, false);
  return result;
}

ShapeResult Runner::runShape(const CatalogueOperator &entry, const CatalogueShape &shape) {
  ShapeResult result = describeShape(entry, shape);
  auto fail = [&](llvm::Error error) {
    result.error = llvm::toString(std::move(error));
    finish(result, false);
    return result;
  };
  const Operator *op = lookupOperator(entry.name);
  if (!op)
    return fail(makeError(describeMissingReference(entry.name)));
  llvm::Expected<Instance> instance = op->instantiate(shape.params);
  if (!instance)
    return fail(instance.takeError());
  result.shapeText = instance->shapeText;
  Compiled &compiled = getCompiled(*op, *instance);
  if (!compiled.error.empty())
    return fail(makeError(compiled.error));
  result.codeObjectHash = compiled.info->manifest.codeObjectHash;
  if (llvm::Error error = checkKernels(compiled.info->manifest, *instance))
    return fail(std::move(error));
  for (uint64_t turn = 0; turn < options.repeat * options.inputs.size(); ++turn) {
    InputVariant variant = options.inputs[turn % options.inputs.size()];
    // Strict inputs can differ in sizes, never in what the kernel was compiled for.
    instance = op->instantiate(shape.params, variant);
    if (!instance)
      return fail(instance.takeError());
    Source source;
    source.label = getName(variant).str();
    source.isComputed = true;
    source.repetition = turn / options.inputs.size();
    source.seed = options.seed + source.repetition;
    source.getInput = [&](unsigned input, int64_t begin, int64_t end, void *out) {
      op->generate(*instance, input, variant, source.seed, begin, end, out);
    };
    source.getReference = [&](llvm::ArrayRef<const void *> inputs, int64_t begin, int64_t end,
                              llvm::ArrayRef<void *> out) { op->compute(*instance, inputs, end - begin, out, begin); };
    if (llvm::Error error = runOnce(*op, *instance, compiled, source, result))
      return fail(makeError(fmt::format("{} inputs{}: {}", source.label,
                                        source.repetition ? fmt::format(", seed {}", source.seed) : std::string(),
                                        llvm::toString(std::move(error)))));
  }
  finish(result, false);
  return result;
}

llvm::Expected<const CodeObjectInfo *> Runner::compileShape(const CatalogueOperator &entry,
                                                            const CatalogueShape &shape) {
  const Operator *op = lookupOperator(entry.name);
  if (!op)
    return makeError(describeMissingReference(entry.name));
  llvm::Expected<Instance> instance = op->instantiate(shape.params);
  if (!instance)
    return instance.takeError();
  Compiled &compiled = getCompiled(*op, *instance);
  if (!compiled.error.empty())
    return makeError(compiled.error);
  return compiled.info;
}

ShapeResult Runner::runCase(const CatalogueOperator &entry, const Case &testCase) {
  ShapeResult result;
  prepare(result, entry, entry.makeParams(testCase.params), {});
  auto fail = [&](llvm::Error error) {
    result.error = llvm::toString(std::move(error));
    finish(result, true);
    return result;
  };
  const Operator *op = lookupOperator(entry.name);
  if (!op)
    return fail(makeError(describeMissingReference(entry.name)));
  llvm::Expected<CaseBinding> binding = bindCase(*op, entry, testCase);
  if (!binding)
    return fail(binding.takeError());
  const Instance *instance = &binding->instance;
  result.shapeText = instance->shapeText;
  Compiled &compiled = getCompiled(*op, *instance);
  if (!compiled.error.empty())
    return fail(makeError(compiled.error));
  result.codeObjectHash = compiled.info->manifest.codeObjectHash;
  if (llvm::Error error = checkKernels(compiled.info->manifest, *instance))
    return fail(std::move(error));
  auto copyRows = [](const TensorSpec &spec, const CaseTensor &tensor, int64_t begin, int64_t end, void *out) {
    if (begin < end)
      std::memcpy(out, tensor.data.data() + uint64_t(begin) * spec.getRowBytes(),
                  uint64_t(end - begin) * spec.getRowBytes());
  };
  Source source;
  source.label = "stored";
  source.seed = options.seed;
  source.getInput = [&](unsigned input, int64_t begin, int64_t end, void *out) {
    copyRows(instance->inputs[input], *binding->inputs[input], begin, end, out);
  };
  source.getReference = [&](llvm::ArrayRef<const void *>, int64_t begin, int64_t end, llvm::ArrayRef<void *> out) {
    for (size_t i = 0; i < out.size(); ++i) {
      TensorSpec spec = instance->outputs[i];
      spec.shape = binding->outputShapes[i];
      if (spec.isShared)
        copyRows(spec, *binding->outputs[i], 0, 1, out[i]);
      else
        copyRows(spec, *binding->outputs[i], begin, end, out[i]);
    }
  };
  if (llvm::Error error = runOnce(*op, *instance, compiled, source, result))
    return fail(std::move(error));
  finish(result, true);
  return result;
}
