//===- Runner.h - Compile, execute and check --------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs one shape: compiles the kernel (one code object per set of model
// dimensions), draws inputs, executes on a device, checks every output element
// that was executed and that nothing else was written.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_RUNNER_H
#define ATREX_BENCH_RUNNER_H

#include "atrex/Bench/Case.h"
#include "atrex/Bench/Operator.h"
#include "atrex/Bench/Regimes.h"
#include "atrex/Bench/Roofline.h"
#include "atrex/Bench/Verdict.h"
#include "atrex/Device/Device.h"
#include "atrex/Driver/Compile.h"
#include <functional>

namespace atrex::bench {

class LaunchTimer;

/// What the bench takes from other parts; tests put their own here.
struct Hooks {
  std::function<std::optional<CompileResult>(llvm::MemoryBufferRef, const CompileOptions &, llvm::raw_ostream &)>
      compile;
  /// `name` is "sim" or "hip:N".
  std::function<llvm::Expected<std::unique_ptr<device::Device>>(llvm::StringRef name, const ChipInfo &chip,
                                                                unsigned jobs)>
      createDevice;
  std::string compilerVersion;
  /// The text of a schedule (empty: the built-in one of an architecture) with PASS.OPTION=VALUE set in it. May be null
  /// where no regime sets any.
  std::function<llvm::Expected<std::string>(llvm::StringRef schedule, llvm::ArrayRef<std::string> settings,
                                            llvm::StringRef arch)>
      setOptions;
};

enum class CheckMode : uint8_t { Upstream, Strict, Both };
llvm::StringRef getName(CheckMode mode);

struct RunOptions {
  std::string arch = "gfx942";
  const ChipInfo *chip = nullptr;
  CheckMode check = CheckMode::Both;
  /// The looser grade for kernels that quantise to fp8 between two products.
  bool fp8Inside = false;
  /// Checks of the embedded device (device::CheckKind bits); a finding fails the
  /// shape.
  uint32_t deviceChecks = 0;
  /// Order of execution on the embedded device, see device::LaunchConfig.
  std::optional<uint64_t> shuffle;
  std::vector<InputVariant> inputs = {InputVariant::Published, InputVariant::Strict};
  uint64_t seed = 1;
  /// Every set of inputs is drawn, run and checked this many times, with the seeds
  /// seed, seed + 1, ...; the verdict is over all of them.
  uint64_t repeat = 1;
  /// Record the profile by source line.
  bool profile = false;
  /// Execute every workgroup, however large the shape.
  bool whole = false;
  /// Tensor elements up to which a shape is executed whole, and about which a
  /// sample covers otherwise.
  uint64_t budget = uint64_t(1) << 22;
  /// Work up to which a shape that is executed in part is executed.
  double executedFlops = 2e10;
  /// Work of the reference up to which every row that ran is checked; a seeded
  /// sample of rows, drawn after the kernel has run, is checked otherwise.
  double referenceFlops = 5e10;
  /// Kernel source; empty text selects the one in the repository, else the
  /// embedded one.
  std::string kernelText, kernelName;
  /// Schedule; empty name selects the one for operator and architecture, else
  /// the built-in one. A name that ends in `.regimes` is a list of regimes.
  std::string scheduleText, scheduleName;
  /// Knobs that do not take the value of regime or kernel.
  std::map<std::string, std::string> knobs;
};

/// One execution and its verdicts.
struct CheckResult {
  /// "published", "strict" or "stored".
  std::string inputs;
  /// Of drawn inputs: the seed, and the how many-th time, from 0.
  std::optional<uint64_t> seed;
  uint64_t repetition = 0;
  std::vector<std::pair<std::string, OutputVerdict>> outputs;
  /// Empty when exactly the owned elements were written.
  std::string writeFault;
  /// Empty when every input is unchanged.
  std::string inputFault;

  bool passesUpstream() const;
  bool passesStrict() const;
  /// "published inputs", with the seed where it is not that of the run.
  std::string describe() const;
};

/// A compiled kernel and how it came about.
struct CodeObjectInfo {
  std::string dims;
  Manifest manifest;
  device::KernelResources resources;
  double compileSeconds = 0;
};

enum class ShapeStatus : uint8_t { Pass, Fail, Error };

struct ShapeResult {
  std::string op;
  /// -1 for a stored case.
  int64_t id = -1;
  std::string shapeText;
  Params params;
  ShapeStatus status = ShapeStatus::Error;
  /// Why there is no verdict.
  std::string error;
  /// "crash", "timeout" or "memory" where the process that ran the shape was
  /// ended; empty otherwise.
  std::string failure;
  std::vector<CheckResult> checks;
  std::optional<bool> upstream, strict;
  uint64_t workgroupsExecuted = 0, workgroupsTotal = 0;
  uint64_t elementsChecked = 0, elementsTotal = 0;
  bool hasTime = false;
  device::LaunchTime time;
  device::ExecutionStats stats;
  std::string codeObjectHash;
  /// Bounds of a measured time, microseconds.
  std::optional<std::pair<double, double>> intervalUs;
  /// The whole of TimingSummary::toJSON() of a measured time.
  std::optional<llvm::json::Object> timing;
  /// With RunOptions::profile: sums by source line, most vector cycles first.
  std::vector<device::LineProfile> profile;
  /// Host seconds for everything: compiling, executing, checking.
  double wallSeconds = 0;
  double solUs = 0;
  std::optional<double> minimalUs;
  std::optional<double> productionUs;
  /// The entry of an earlier result file this was read from; kept verbatim.
  std::optional<llvm::json::Object> stored;

  double getCheckedShare() const { return elementsTotal ? double(elementsChecked) / double(elementsTotal) : 0; }
  /// Share of the roofline; 0 unless the strict verdict passes.
  double getScore() const;
  double getTimeUs() const { return time.seconds * 1e6; }
};

class Runner {
public:
  Runner(Hooks hooks, RunOptions options) : hooks(std::move(hooks)), options(std::move(options)) {}

  /// Creates the device; call once before running.
  llvm::Error open(llvm::StringRef deviceName, unsigned jobs);
  device::Device &getDevice() { return *dev; }
  /// Uses the device of another runner in place of open().
  void shareDevice(const Runner &other) { dev = other.dev; }

  /// Called once per shape in place of the measurement, after the first launch
  /// and before the check, while the data are on the device: candidate 0 of the
  /// timer is the shape's kernel. An error becomes that of the shape.
  std::function<llvm::Error(LaunchTimer &timer)> onReady;

  /// Runs one shape of the catalogue. Faults of kernel or compiler end up in the
  /// result.
  ShapeResult runShape(const CatalogueOperator &entry, const CatalogueShape &shape);
  /// Runs a stored case with its inputs against its outputs.
  ShapeResult runCase(const CatalogueOperator &entry, const Case &testCase);

  /// What is known of a shape before it is compiled or run; needs no device.
  ShapeResult describeShape(const CatalogueOperator &entry, const CatalogueShape &shape);
  /// The same with an error as its result.
  ShapeResult failShape(const CatalogueOperator &entry, const CatalogueShape &shape, std::string error,
                        std::string failure);

  /// Only compiles what the shape needs.
  llvm::Expected<const CodeObjectInfo *> compileShape(const CatalogueOperator &entry, const CatalogueShape &shape);

  /// Code objects built so far, in order.
  const std::vector<std::unique_ptr<CodeObjectInfo>> &getCodeObjects() const { return codeObjects; }

private:
  struct Compiled {
    CodeObjectInfo *info = nullptr;
    std::unique_ptr<device::Module> module;
    std::vector<const device::Kernel *> kernels;
    std::string error;
  };
  struct Source {
    std::string label;
    /// What draws the sample that is executed or checked, too.
    uint64_t seed = 1;
    uint64_t repetition = 0;
    /// The right result is computed, not stored.
    bool isComputed = false;
    /// Fills rows [begin, end) of an input.
    std::function<void(unsigned input, int64_t begin, int64_t end, void *out)> getInput;
    /// Fills rows [begin, end) of every output with the right result.
    std::function<void(llvm::ArrayRef<const void *> inputs, int64_t begin, int64_t end, llvm::ArrayRef<void *> out)>
        getReference;
  };

  void prepare(ShapeResult &result, const CatalogueOperator &entry, const Params &params,
               const std::map<std::string, double> &realised);
  Compiled &getCompiled(const Operator &op, const Instance &instance);
  llvm::Error compile(const Operator &op, const Instance &instance, const Regime *regime, Compiled &compiled);
  /// The regime of a shape; null where the kernel has none.
  llvm::Expected<const Regime *> getRegime(const Operator &op, const Instance &instance);
  llvm::Error runOnce(const Operator &op, const Instance &instance, Compiled &compiled, const Source &source,
                      ShapeResult &result);
  void finish(ShapeResult &result, bool isStored);

  Hooks hooks;
  RunOptions options;
  std::shared_ptr<device::Device> dev;
  std::map<std::string, Compiled> cache;
  struct RegimeFile {
    bool isRead = false;
    std::string path, error;
    std::vector<Regime> regimes;
  };
  std::map<std::string, RegimeFile> regimeFiles;
  /// Work of the shape at hand by its roofline formula.
  double shapeFlops = 0;
  std::vector<std::unique_ptr<CodeObjectInfo>> codeObjects;
};

/// Workgroups to execute: all (empty) when `count` reaches `total`; otherwise
/// the first, the last and random ones, ascending.
std::vector<uint64_t> chooseSample(uint64_t total, uint64_t count, llvm::StringRef op, int64_t shape, uint64_t seed);

/// Blocks of rows out of `owned` (half-open, ascending) to check against a
/// reference that costs `flopsPerRow`: all of them when they cost no more than
/// `budget`, otherwise first, last and random ones of `blockRows` rows.
std::vector<std::pair<int64_t, int64_t>> chooseRows(llvm::ArrayRef<std::pair<int64_t, int64_t>> owned,
                                                    int64_t blockRows, double flopsPerRow, double budget,
                                                    llvm::StringRef op, int64_t shape, uint64_t seed);

/// Text of the kernel or schedule below bench/: from the source tree when it is
/// there, else the embedded copy; std::nullopt when there is none. `path` gets
/// the name for messages.
std::optional<std::string> findSource(llvm::StringRef name, std::string &path);

} // namespace atrex::bench

#endif // ATREX_BENCH_RUNNER_H
