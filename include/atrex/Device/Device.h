//===- Device.h - A device that executes AMDGPU code objects ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface that bench, tools and agent program against. The embedded
// device (lib/Device/Sim) implements it on the host CPU; a real GPU implements
// it through HIP. Both execute the very same code object.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DEVICE_DEVICE_H
#define ATREX_DEVICE_DEVICE_H

#include "atrex/Target/Chip.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace atrex::device {

/// An address in device memory. Zero is never a valid allocation.
using DevicePtr = uint64_t;

/// Registers and memory one kernel needs, read from its descriptor and metadata.
struct KernelResources {
  /// Unified VGPR count used for occupancy: roundup(arch, 4) + acc.
  uint32_t vgprs = 0;
  uint32_t agprs = 0;
  uint32_t sgprs = 0;
  uint32_t staticLdsBytes = 0;
  uint32_t scratchBytesPerLane = 0;
  uint32_t kernargBytes = 0;
};

/// An explicit argument as the code object's metadata describes it.
struct KernelArgInfo {
  std::string name;
  /// `.value_kind` of the metadata: global_buffer, by_value, hidden_...
  std::string valueKind;
  uint32_t offset = 0;
  uint32_t size = 0;
};

/// Checks that a launch makes on request. Accesses of memory outside of all
/// allocations need none: they always end the launch.
enum CheckKind : uint32_t {
  /// Reads of bytes that nothing has written: of allocations since they were
  /// made, of LDS since the workgroup started. Registers and scratch memory that
  /// nothing has written, where their values reach addresses, stored data,
  /// branches or EXEC.
  CheckUninit = 1,
  /// Accesses of LDS and of allocations by different waves, one of them a write,
  /// that no barrier and no atomic orders; lanes of one store that write
  /// different values to one place.
  CheckRace = 2,
  /// Uses of a register or of LDS before the s_waitcnt that its load needs.
  CheckWait = 4,
  /// Pairs of instructions with fewer wait states between them than needed.
  CheckHazard = 8,
  /// Addresses that are no multiple of the access (of a dword at most).
  CheckAlign = 16,
  /// Accesses of LDS outside of what the workgroup has asked for.
  CheckOob = 32,
  CheckAll = 63,
};

/// The name of one check as in Finding::check; 0 bits or several: empty.
inline llvm::StringRef getCheckName(uint32_t check) {
  switch (check) {
  case CheckUninit:
    return "uninit";
  case CheckRace:
    return "race";
  case CheckWait:
    return "wait";
  case CheckHazard:
    return "hazard";
  case CheckAlign:
    return "align";
  case CheckOob:
    return "oob";
  default:
    return "";
  }
}

/// Adds the bits of comma-separated names (or "all")
/// to `checks`; false with `bad` set at the first name that is none.
inline bool parseCheckNames(llvm::StringRef text, uint32_t &checks, llvm::StringRef &bad) {
  while (true) {
    auto [name, rest] = text.split(',');
    bool last = name.size() == text.size();
    name = name.trim();
    uint32_t bits = name == "all" ? uint32_t(CheckAll) : 0;
    for (uint32_t check = 1; check <= CheckAll && !bits; check <<= 1)
      if (getCheckName(check) == name)
        bits = check;
    if (!bits) {
      bad = name;
      return false;
    }
    checks |= bits;
    if (last)
      return true;
    text = rest;
  }
}

/// Findings that a launch reports; it counts the rest.
constexpr unsigned maxFindings = 20;

/// A defect that a check found. One per check, static instruction, other
/// instruction and kind of memory: the occurrence in the first workgroup.
struct Finding {
  /// "uninit", "race", "wait", "hazard", "align".
  std::string check;
  /// Address in the code object, disassembly, and "file:line" where known.
  uint64_t instruction = 0;
  std::string text;
  std::string source;
  std::array<uint32_t, 3> workgroup = {0, 0, 0};
  uint32_t wave = 0;
  /// Lanes concerned; 0 for the scalar unit.
  uint64_t lanes = 0;
  /// What the first of them accessed: a device address, or an offset into LDS.
  uint64_t address = 0;
  /// 0 where no memory is involved (wait, hazard).
  uint32_t bytes = 0;
  /// "offset 4 of 'x' (...)" or "LDS".
  std::string where;
  /// The other instruction that takes part: the load that was not waited for,
  /// the producer, the conflicting access. Address, disassembly and source line;
  /// the text is empty when there is none.
  uint64_t otherInstruction = 0;
  std::string otherText;
  std::string otherSource;
  /// Executions of the instruction (by one wave) with this finding.
  uint64_t occurrences = 0;
  /// All of it in one sentence.
  std::string message;
};

/// Text trace of executed instructions, one line per wave-instruction, written
/// before it executes. Workgroups run on one host thread while this is on.
struct TraceConfig {
  llvm::raw_ostream *os = nullptr;
  /// Linear workgroup and wave in it to trace; nullopt means all.
  std::optional<uint64_t> workgroup = 0;
  std::optional<uint32_t> wave = 0;
  /// Lines after which the trace ends with a line that says so.
  uint64_t limit = 1000000;
  /// Also print the registers that each instruction changed.
  bool registers = false;
  /// Further filters: addresses in the code object (first, last), a source line
  /// ("FILE:LINE", where FILE may be the end of a path), a mnemonic (a trailing
  /// '*' stands for any ending).
  std::optional<std::pair<uint64_t, uint64_t>> addresses;
  std::string source;
  std::string mnemonic;
};

/// Prints registers and memory when a wave reaches an instruction, before it
/// executes.
struct DumpConfig {
  llvm::raw_ostream *os = nullptr;
  /// Address in the code object, or a source line as in TraceConfig::source (the
  /// first instruction of each stretch that belongs to it).
  std::optional<uint64_t> address;
  std::string source;
  struct Item {
    enum Kind { Scalar, Vector, Accumulation, Lds, Memory } kind = Scalar;
    /// Register number, offset into LDS or device address.
    uint64_t first = 0;
    /// Registers or bytes.
    uint64_t count = 1;
  };
  std::vector<Item> items;
  std::optional<uint64_t> workgroup = 0;
  std::optional<uint32_t> wave = 0;
  /// Hits to print.
  uint64_t limit = 1;
};

/// One kernel of a loaded code object.
class Kernel {
public:
  virtual ~Kernel();
  virtual llvm::StringRef getName() const = 0;
  virtual const KernelResources &getResources() const = 0;
  /// Empty when the code object carries no metadata.
  virtual llvm::ArrayRef<KernelArgInfo> getArgs() const = 0;
};

/// A loaded code object. Kernels live as long as their module.
class Module {
public:
  virtual ~Module();
  virtual std::vector<const Kernel *> getKernels() const = 0;
  const Kernel *lookup(llvm::StringRef name) const;
};

/// How matrix instructions of 32-bit results other than i32 and f32 round.
enum class MatrixArithmetic : uint8_t {
  /// Bit for bit as CDNA3 does (docs/device.md says what is known and what is
  /// assumed).
  Exact,
  /// Chains of fused multiply-adds, k ascending: about ten times faster.
  Fast,
};
llvm::StringRef getName(MatrixArithmetic arithmetic);

struct LaunchConfig {
  /// Workgroups per axis.
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// Work-items per workgroup and axis.
  std::array<uint32_t, 3> workgroup = {64, 1, 1};
  uint32_t dynamicLdsBytes = 0;
  /// The explicit kernarg segment. Hidden arguments behind it are filled in by
  /// the device where the metadata asks for them.
  llvm::ArrayRef<uint8_t> kernarg;
  /// Linear workgroup ids (x fastest) to execute, ascending and unique; empty
  /// means the whole grid. Only the embedded device can execute a sample.
  llvm::ArrayRef<uint64_t> sample;
  /// Share of the grid's work that the sample does, in (0, 1]; predictions scale
  /// by it. 0 takes the share of the workgroups, which is only right where all
  /// of them do the same: the last one often has less to do.
  double sampleShare = 0;
  /// Upper bound on wave-instructions of one wave before the launch is given up
  /// as endless.
  uint64_t maxWaveInstructions = 1ull << 32;
  /// Record which cache lines and bytes are touched (needed for traffic figures
  /// and for getWrittenRanges).
  bool trackMemory = true;
  /// CheckKind bits. Checks imply trackMemory.
  uint32_t checks = 0;
  /// Fill LaunchResult::profile.
  bool profile = false;
  /// Null: no trace.
  const TraceConfig *trace = nullptr;
  /// Only the embedded device has a choice.
  MatrixArithmetic matrixArithmetic = MatrixArithmetic::Exact;
  /// Null: no dump.
  const DumpConfig *dump = nullptr;
  /// Executes workgroups and waves in an order drawn from this seed, switching
  /// between them every few instructions, on one host thread. The same seed gives
  /// the same execution; kernels without races give the same result for all.
  std::optional<uint64_t> shuffle;
};

/// Instruction classes the issue model distinguishes.
enum class InstClass : uint8_t {
  VALU,
  /// exp, log, rcp, rsq, sqrt, sin, cos
  Trans,
  /// quarter-rate integer multiplies
  MulQuarter,
  MFMA,
  SALU,
  SMEM,
  VMEMLoad,
  VMEMStore,
  VMEMAtomic,
  LDS,
  Branch,
  /// s_waitcnt, s_nop, s_barrier, s_endpgm and the like
  Internal,
};
constexpr unsigned numInstClasses = unsigned(InstClass::Internal) + 1;
llvm::StringRef getName(InstClass cls);

/// Counts over the workgroups that were executed.
struct ExecutionStats {
  uint64_t workgroupsExecuted = 0;
  uint64_t workgroupsTotal = 0;
  uint64_t wavesExecuted = 0;
  /// Wave-instructions by class.
  std::array<uint64_t, numInstClasses> instructions = {};
  /// Cycles the executed instructions occupy the vector ALU of a SIMD.
  uint64_t valuCycles = 0;
  /// Cycles they occupy the matrix unit of a SIMD.
  uint64_t matrixCycles = 0;
  /// Matrix instructions executed in exact mode whose rounding is an assumption
  /// (isRoundingAssumed).
  uint64_t matrixAssumed = 0;
  /// Bytes that active lanes asked for.
  uint64_t loadBytes = 0;
  uint64_t storeBytes = 0;
  uint64_t ldsReadBytes = 0;
  uint64_t ldsWriteBytes = 0;
  /// Distinct cache lines touched by exactly one executed workgroup and by more
  /// than one. Zero unless memory was tracked.
  uint64_t readLinesExclusive = 0, readLinesShared = 0;
  uint64_t writeLinesExclusive = 0, writeLinesShared = 0;
  /// Host wall time of the execution, seconds.
  double hostSeconds = 0;

  uint64_t totalInstructions() const {
    uint64_t sum = 0;
    for (uint64_t n : instructions)
      sum += n;
    return sum;
  }
};

/// Counts of one static instruction over the workgroups that were executed.
struct InstructionProfile {
  /// Address in the code object.
  uint64_t address = 0;
  std::string text;
  InstClass cls = InstClass::Internal;
  /// Empty and 0 where the code object does not tell.
  std::string file;
  uint32_t line = 0;
  /// Wave-instructions.
  uint64_t executions = 0;
  /// Active lanes summed over the executions; 0 for scalar instructions.
  uint64_t activeLanes = 0;
  /// Cycles of the vector ALU and of the matrix unit of a SIMD.
  uint64_t valuCycles = 0;
  uint64_t matrixCycles = 0;
  /// Bytes that active lanes (or the scalar unit) asked for.
  uint64_t loadBytes = 0, storeBytes = 0;
  uint64_t ldsReadBytes = 0, ldsWriteBytes = 0;
};

/// Whether instructions of a class execute per lane.
bool isPerLane(InstClass cls);

/// The counts of all instructions of one source line.
struct LineProfile {
  /// Empty and 0 for what belongs to no line.
  std::string file;
  uint32_t line = 0;
  /// Static instructions.
  uint64_t instructions = 0;
  uint64_t executions = 0;
  uint64_t valuCycles = 0;
  uint64_t matrixCycles = 0;
  uint64_t loadBytes = 0, storeBytes = 0;
  uint64_t ldsReadBytes = 0, ldsWriteBytes = 0;
};

/// Sums by source line, most vector ALU cycles first, then most executions.
std::vector<LineProfile> sumByLine(llvm::ArrayRef<InstructionProfile> profile);

/// Time of one launch. A prediction is never mixed with a measurement.
struct LaunchTime {
  /// Seconds.
  double seconds = 0;
  bool isPrediction = true;
  /// For predictions: "roofline-grade" until a validated model replaces it.
  std::string grade;
  /// Parts of a prediction, seconds, by name ("memory", "issue", "launch"...).
  std::map<std::string, double> parts;
  /// Name of the largest part besides the launch floor.
  std::string bound;
  unsigned wavesPerSIMD = 0;
  std::string occupancyLimiter;
};

struct LaunchResult {
  ExecutionStats stats;
  LaunchTime time;
  /// In the order of workgroups, at most maxFindings.
  std::vector<Finding> findings;
  /// Findings including those left out.
  uint64_t numFindings = 0;
  /// With LaunchConfig::profile: every instruction that the kernel can reach,
  /// by address; those that never executed have zero counts.
  std::vector<InstructionProfile> profile;
};

/// A byte range inside one allocation.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// A device. All calls may come from several threads at once: they take turns,
/// as kernels of one queue do; a launch itself uses all host threads that it was
/// given. Different devices share nothing and run in parallel.
class Device {
public:
  virtual ~Device();

  virtual llvm::StringRef getName() const = 0;
  virtual const ChipInfo &getChip() const = 0;
  virtual bool isSimulated() const = 0;

  /// Parses and checks a code object; every failure is an error, never a crash.
  virtual llvm::Expected<std::unique_ptr<Module>> load(llvm::MemoryBufferRef codeObject) = 0;

  /// Allocates `bytes` (at least one) aligned to 256. Fresh memory reads as
  /// zero; untouched pages cost no host memory. `label` names the allocation in
  /// reports.
  virtual llvm::Expected<DevicePtr> allocate(uint64_t bytes, llvm::StringRef label = "") = 0;
  virtual llvm::Error free(DevicePtr ptr) = 0;

  virtual llvm::Error copyToDevice(DevicePtr dst, const void *src, uint64_t bytes) = 0;
  virtual llvm::Error copyFromDevice(void *dst, DevicePtr src, uint64_t bytes) = 0;
  virtual llvm::Error fill(DevicePtr dst, uint8_t value, uint64_t bytes) = 0;

  virtual llvm::Expected<LaunchResult> launch(const Kernel &kernel, const LaunchConfig &config) = 0;

  /// Byte ranges of an allocation that kernels wrote since clearTracking(),
  /// merged and ascending. Only where the device can tell (embedded device).
  virtual llvm::Expected<std::vector<ByteRange>> getWrittenRanges(DevicePtr ptr) = 0;
  virtual void clearTracking() = 0;
};

struct SimOptions {
  /// Chip name, alias or architecture; decides the ISA and the time model.
  std::string chip = "gfx942";
  /// Host threads that execute workgroups; 0 means one per core.
  unsigned jobs = 0;
};

/// The embedded device. Fails when the chip is unknown or not an AMD GPU.
llvm::Expected<std::unique_ptr<Device>> createSimDevice(const SimOptions &options);

/// Roofline-grade prediction from the counts of a (possibly sampled) run:
/// launch floor + max(compulsory bytes over HBM peak, instruction issue over the
/// SIMDs, LDS, L1), stretched where the grid cannot fill the chip.
LaunchTime predictTime(const ChipInfo &chip, const KernelResources &resources, const LaunchConfig &config,
                       const ExecutionStats &stats);

} // namespace atrex::device

#endif // ATREX_DEVICE_DEVICE_H
