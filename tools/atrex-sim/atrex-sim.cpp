//===- atrex-sim.cpp - Run code objects on the embedded device ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "atrex/Device/Device.h"
#include "atrex/Device/Sim/Coverage.h"
#include "atrex/Device/Sim/MatrixRunner.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace atrex;
using namespace atrex::device;

namespace {

cl::OptionCategory category("atrex-sim options");
cl::SubCommand runCommand("run", "Run a kernel of a code object on the embedded device");
cl::SubCommand coverageCommand("coverage", "List the instructions of code objects that are not implemented");
cl::SubCommand vectorsCommand("mfma-vectors", "Check matrix instructions against files of vectors, bit for bit");

cl::opt<std::string> vectorsDir(cl::Positional, cl::Required, cl::desc("DIR"), cl::sub(vectorsCommand),
                                cl::cat(category));
cl::opt<unsigned> vectorsLimit("limit", cl::desc("Disagreements shown per file"), cl::value_desc("n"), cl::init(5),
                               cl::sub(vectorsCommand), cl::cat(category));
cl::opt<std::string> inputFile(cl::Positional, cl::Required, cl::desc("FILE"), cl::sub(runCommand), cl::cat(category));
cl::list<std::string> coverageFiles(cl::Positional, cl::ZeroOrMore, cl::desc("FILES..."), cl::sub(coverageCommand),
                                    cl::cat(category));
cl::opt<bool> coverageAll("all", cl::desc("Count every instruction of the chip by encoding instead of files"),
                          cl::sub(coverageCommand), cl::cat(category));
cl::opt<bool> coverageList("list", cl::desc("With --all: name every instruction, not only the missing ones"),
                           cl::sub(coverageCommand), cl::cat(category));
cl::opt<std::string> kernelName("kernel", cl::desc("Kernel to run; may be left out when the file has one"),
                                cl::value_desc("name"), cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> gridText("grid", cl::desc("Workgroups per axis"), cl::value_desc("X,Y,Z"), cl::init("1"),
                              cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> blockText("block", cl::desc("Work-items of a workgroup per axis"), cl::value_desc("X,Y,Z"),
                               cl::init("64"), cl::sub(runCommand), cl::cat(category));
cl::list<std::string>
    argSpecs("arg",
             cl::desc("Next kernel argument: in:FILE, out:BYTES:FILE, inout:FILE:OUTFILE, zero:BYTES, i8:V, i16:V, "
                      "i32:V, i64:V, f32:V, f64:V, ptr:N+OFFSET, pad:BYTES or bytes:HEX"),
             cl::value_desc("spec"), cl::sub(runCommand), cl::cat(category));
cl::opt<bool> rawKernarg("raw-kernarg", cl::desc("Lay arguments one after the other, whatever the metadata says"),
                         cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> archName("arch", cl::desc("gfx942 or gfx950; default: what the file is built for"),
                              cl::value_desc("arch"), cl::sub(runCommand), cl::sub(coverageCommand), cl::cat(category));
cl::opt<std::string> chipName("chip", cl::desc("Chip that times are predicted for"), cl::value_desc("name"),
                              cl::sub(runCommand), cl::sub(coverageCommand), cl::cat(category));
cl::opt<unsigned> ldsBytes("lds", cl::desc("Dynamic LDS"), cl::value_desc("bytes"), cl::init(0), cl::sub(runCommand),
                           cl::cat(category));
cl::opt<std::string> mfmaMode("mfma", cl::desc("Matrix arithmetic: exact (bits of the hardware) or fast"),
                              cl::value_desc("mode"), cl::init("exact"), cl::sub(runCommand), cl::cat(category));
cl::opt<bool> timing("timing", cl::desc("Print the predicted time"), cl::sub(runCommand), cl::cat(category));
cl::opt<bool> printStats("stats", cl::desc("Print counts and the rate of the simulation"), cl::sub(runCommand),
                         cl::cat(category));
cl::opt<std::string> jsonFile("json", cl::desc("Write the result as JSON"), cl::value_desc("file"), cl::sub(runCommand),
                              cl::cat(category));
cl::opt<unsigned> jobs("jobs", cl::desc("Host threads; 0 means one per core"), cl::init(0), cl::sub(runCommand),
                       cl::cat(category));
cl::opt<std::string> sampleText("sample", cl::desc("Execute only these workgroups (linear ids, x fastest)"),
                                cl::value_desc("n,n,..."), cl::sub(runCommand), cl::cat(category));
cl::opt<uint64_t> maxInstructions("max-instructions", cl::desc("Give a wave up after so many instructions"),
                                  cl::init(1ull << 32), cl::sub(runCommand), cl::cat(category));
cl::opt<bool> noTracking("no-tracking", cl::desc("Do not record touched cache lines"), cl::sub(runCommand),
                         cl::cat(category));
cl::opt<std::string> checkText(
    "check",
    cl::desc("Look for defects: oob (LDS outside of the allocation), uninit (use of what nothing has written), race "
             "(accesses that nothing orders), wait (missing s_waitcnt), hazard (missing wait states), "
             "align (misaligned accesses), all"),
    cl::value_desc("kind,..."), cl::sub(runCommand), cl::cat(category));
cl::opt<uint64_t> shuffleSeed("shuffle",
                              cl::desc("Draw the order of workgroups and waves from this seed, switching between "
                                       "them every few instructions"),
                              cl::value_desc("seed"), cl::sub(runCommand), cl::cat(category));
cl::opt<std::string>
    traceExec("trace-exec",
              cl::desc("Print executed instructions and the registers they change; FILTER is a comma-separated list of "
                       "wg:N|all, wave:N|all, pc:FIRST-LAST, line:FILE:LINE, op:MNEMONIC and file:F (default: "
                       "standard output)"),
              cl::value_desc("filter"), cl::ValueOptional, cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> dumpAt("dump-at",
                            cl::desc("Print registers and memory when a wave reaches this address of the code object "
                                     "or source line"),
                            cl::value_desc("ADDR|FILE:LINE"), cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> dumpItems("dump",
                               cl::desc("What --dump-at prints: s0-15, v3, a0-3, lds:OFFSET:BYTES, "
                                        "mem:ADDRESS:BYTES, arg:N+OFFSET:BYTES"),
                               cl::value_desc("item,..."), cl::init("s0-15,v0-3"), cl::sub(runCommand),
                               cl::cat(category));
cl::opt<std::string> dumpGroup("dump-wg", cl::desc("Workgroup to dump (linear id, x fastest), or all"),
                               cl::value_desc("n"), cl::init("0"), cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> dumpWave("dump-wave", cl::desc("Wave of the workgroup to dump, or all"), cl::value_desc("n"),
                              cl::init("0"), cl::sub(runCommand), cl::cat(category));
cl::opt<uint64_t> dumpCount("dump-count", cl::desc("Hits to dump"), cl::value_desc("n"), cl::init(1),
                            cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> profileFile("profile", cl::desc("Write counts per instruction and source line as JSON"),
                                 cl::value_desc("file"), cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> traceFile("trace", cl::desc("Write a line per executed wave-instruction"), cl::value_desc("file"),
                               cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> traceGroup("trace-wg", cl::desc("Workgroup to trace (linear id, x fastest), or all"),
                                cl::value_desc("n"), cl::init("0"), cl::sub(runCommand), cl::cat(category));
cl::opt<std::string> traceWave("trace-wave", cl::desc("Wave of the workgroup to trace, or all"), cl::value_desc("n"),
                               cl::init("0"), cl::sub(runCommand), cl::cat(category));
cl::opt<uint64_t> traceLimit("trace-limit", cl::desc("Lines after which the trace is cut"), cl::value_desc("n"),
                             cl::init(1000000), cl::sub(runCommand), cl::cat(category));

/// Diagnoses and gives the exit code: 1 input or result at fault, 2 usage.
int fail(int code, const Twine &message) {
  errs() << "atrex-sim: error: " << message << '\n';
  return code;
}
int fail(int code, Error error) { return fail(code, toString(std::move(error))); }

bool parseTriple(StringRef text, std::array<uint32_t, 3> &out) {
  SmallVector<StringRef, 4> parts;
  text.split(parts, ',');
  if (parts.empty() || parts.size() > 3)
    return false;
  out = {1, 1, 1};
  for (size_t n = 0; n < parts.size(); ++n)
    if (parts[n].trim().getAsInteger(10, out[n]) || !out[n])
      return false;
  return true;
}

struct Argument {
  enum Kind { Buffer, Bytes, Pointer, Pad } kind = Bytes;
  StringRef spec;
  /// Buffer.
  std::unique_ptr<MemoryBuffer> content;
  uint64_t bytes = 0;
  std::string outFile;
  DevicePtr ptr = 0;
  /// Pointer.
  uint64_t target = 0, offset = 0;
  /// Bytes: the value and its width; `blob` where it is no number.
  uint64_t value = 0;
  unsigned width = 0;
  std::string blob;
};

/// Largest code object, and largest file that an argument may name.
constexpr uint64_t maxObjectBytes = 1ull << 30, maxArgumentBytes = 16ull << 30;

bool parseInteger(StringRef text, unsigned bits, uint64_t &value) {
  int64_t i;
  uint64_t u;
  if (!text.getAsInteger(0, i)) {
    if (bits < 64 && (i < -(1ll << (bits - 1)) || i >= (1ll << bits)))
      return false;
    value = uint64_t(i);
    return true;
  }
  if (bits < 64 || text.getAsInteger(0, u))
    return false;
  value = u;
  return true;
}

/// Largest buffer that an argument may ask for.
constexpr uint64_t maxBufferBytes = 1ull << 40;

/// Exit code, 0 on success.
int parseArgument(StringRef spec, Argument &a) {
  a.spec = spec;
  auto [kind, rest] = spec.split(':');
  auto bad = [&](const Twine &why) { return fail(2, "argument '" + spec + "': " + why); };
  auto parseBytes = [&](StringRef text) { return !text.getAsInteger(0, a.bytes) && a.bytes <= maxBufferBytes; };
  if (kind == "in" || kind == "inout") {
    StringRef path = rest;
    a.kind = Argument::Buffer;
    if (kind == "inout") {
      size_t colon = rest.find(':');
      if (colon == StringRef::npos || colon + 1 == rest.size())
        return bad("expected inout:FILE:OUTFILE");
      path = rest.take_front(colon);
      a.outFile = rest.drop_front(colon + 1).str();
    }
    if (path.empty())
      return bad("the file name is missing");
    auto content = readRegularFile(path, maxArgumentBytes);
    if (!content)
      return fail(1, content.takeError());
    a.content = std::move(*content);
    a.bytes = a.content->getBufferSize();
    return 0;
  }
  if (kind == "out") {
    a.kind = Argument::Buffer;
    auto [size, path] = rest.split(':');
    if (!parseBytes(size) || path.empty())
      return bad("expected out:BYTES:FILE");
    a.outFile = path.str();
    return 0;
  }
  if (kind == "zero") {
    a.kind = Argument::Buffer;
    return parseBytes(rest) ? 0 : bad("expected zero:BYTES");
  }
  if (kind == "pad") {
    a.kind = Argument::Pad;
    return !rest.getAsInteger(0, a.bytes) && a.bytes <= (1u << 20) ? 0 : bad("expected pad:BYTES");
  }
  if (kind == "bytes") {
    if (rest.empty() || !tryGetFromHex(rest, a.blob) || rest.size() % 2)
      return bad("expected bytes:HEX with an even number of digits");
    a.width = unsigned(a.blob.size());
    return 0;
  }
  if (kind == "i8" || kind == "i16" || kind == "i32" || kind == "i64") {
    a.width = kind == "i8" ? 1 : kind == "i16" ? 2 : kind == "i32" ? 4 : 8;
    return parseInteger(rest, a.width * 8, a.value) ? 0 : bad("not a " + kind + " integer");
  }
  if (kind == "f32" || kind == "f64") {
    double d;
    if (rest.getAsDouble(d))
      return bad("not a number");
    a.width = kind == "f32" ? 4 : 8;
    a.value = kind == "f32" ? bit_cast<uint32_t>(float(d)) : bit_cast<uint64_t>(d);
    return 0;
  }
  if (kind == "ptr") {
    a.kind = Argument::Pointer;
    auto [n, offset] = rest.split('+');
    if (n.getAsInteger(10, a.target) || (rest.contains('+') && offset.getAsInteger(0, a.offset)))
      return bad("expected ptr:N+OFFSET");
    return 0;
  }
  return bad("unknown kind; expected in, out, inout, zero, i8, i16, i32, i64, f32, f64, ptr, pad or bytes");
}

/// Writes `width` low bytes of a value.
void put(std::vector<uint8_t> &kernarg, size_t offset, uint64_t value, size_t width) {
  if (kernarg.size() < offset + width)
    kernarg.resize(offset + width);
  for (size_t n = 0; n < width; ++n)
    kernarg[offset + n] = uint8_t(n < 8 ? value >> (8 * n) : 0);
}

Expected<std::vector<uint8_t>> layoutKernarg(const Kernel &kernel, ArrayRef<Argument> args) {
  std::vector<uint8_t> kernarg;
  SmallVector<const KernelArgInfo *, 16> explicitArgs;
  for (const KernelArgInfo &info : kernel.getArgs())
    if (!StringRef(info.valueKind).starts_with("hidden_"))
      explicitArgs.push_back(&info);
  bool raw = rawKernarg || kernel.getArgs().empty();
  if (!raw && args.size() != explicitArgs.size())
    return createStringError(
        inconvertibleErrorCode(),
        formatv("kernel '{0}' takes {1} arguments, got {2}", kernel.getName(), explicitArgs.size(), args.size()).str());
  for (size_t n = 0; n < args.size(); ++n) {
    const Argument &a = args[n];
    uint64_t value = a.kind == Argument::Buffer    ? a.ptr
                     : a.kind == Argument::Pointer ? args[a.target].ptr + a.offset
                     : a.kind == Argument::Pad     ? 0
                                                   : a.value;
    auto putArgument = [&](size_t offset, size_t width) {
      if (a.blob.empty()) {
        put(kernarg, offset, value, width);
        return;
      }
      if (kernarg.size() < offset + width)
        kernarg.resize(offset + width);
      memcpy(kernarg.data() + offset, a.blob.data(), width);
    };
    size_t width = a.kind == Argument::Pad ? size_t(a.bytes) : a.kind == Argument::Bytes ? a.width : 8;
    if (raw) {
      putArgument(kernarg.size(), width);
      continue;
    }
    const KernelArgInfo &info = *explicitArgs[n];
    // Narrow integers are passed as i32.
    bool narrow = a.kind == Argument::Bytes && a.blob.empty() && a.width == 4 && info.size < 4;
    if (info.size != width && !narrow)
      return createStringError(inconvertibleErrorCode(),
                               formatv("argument {0} of kernel '{1}'{2} has {3} bytes, '{4}' gives {5}", n,
                                       kernel.getName(), info.name.empty() ? "" : " (" + info.name + ")", info.size,
                                       a.spec, width)
                                   .str());
    putArgument(info.offset, info.size);
  }
  return kernarg;
}

std::string hex(uint64_t value) { return formatv("{0:x}", value).str(); }

json::Object statsToJson(const ExecutionStats &stats) {
  json::Object instructions;
  for (unsigned n = 0; n < numInstClasses; ++n)
    instructions[device::getName(InstClass(n))] = stats.instructions[n];
  return json::Object{
      {"workgroups_executed", stats.workgroupsExecuted},
      {"workgroups_total", stats.workgroupsTotal},
      {"waves_executed", stats.wavesExecuted},
      {"instructions", std::move(instructions)},
      {"instructions_total", stats.totalInstructions()},
      {"valu_cycles", stats.valuCycles},
      {"matrix_cycles", stats.matrixCycles},
      {"load_bytes", stats.loadBytes},
      {"store_bytes", stats.storeBytes},
      {"lds_read_bytes", stats.ldsReadBytes},
      {"lds_write_bytes", stats.ldsWriteBytes},
      {"read_lines_exclusive", stats.readLinesExclusive},
      {"read_lines_shared", stats.readLinesShared},
      {"write_lines_exclusive", stats.writeLinesExclusive},
      {"write_lines_shared", stats.writeLinesShared},
      {"host_seconds", stats.hostSeconds},
  };
}

std::string toJson(const Device &dev, const Kernel &kernel, const LaunchConfig &config, const LaunchResult &result) {
  json::Object parts;
  for (const auto &[name, seconds] : result.time.parts)
    parts[name] = seconds;
  const KernelResources &r = kernel.getResources();
  json::Object root{
      {"schema", "atrex-sim-run-1"},
      {"kernel", kernel.getName()},
      {"chip", dev.getChip().name.str()},
      {"arch", dev.getChip().arch.str()},
      {"device", dev.getName()},
      {"host_isa", getHostLevel()},
      {"grid", json::Array{config.grid[0], config.grid[1], config.grid[2]}},
      {"block", json::Array{config.workgroup[0], config.workgroup[1], config.workgroup[2]}},
      {"dynamic_lds_bytes", config.dynamicLdsBytes},
      {"resources", json::Object{{"vgprs", r.vgprs},
                                 {"agprs", r.agprs},
                                 {"sgprs", r.sgprs},
                                 {"static_lds_bytes", r.staticLdsBytes},
                                 {"scratch_bytes_per_lane", r.scratchBytesPerLane},
                                 {"kernarg_bytes", r.kernargBytes}}},
      {"time", json::Object{{"seconds", result.time.seconds},
                            {"is_prediction", result.time.isPrediction},
                            {"grade", result.time.grade},
                            {"bound", result.time.bound},
                            {"parts", std::move(parts)},
                            {"waves_per_simd", result.time.wavesPerSIMD},
                            {"occupancy_limiter", result.time.occupancyLimiter}}},
      {"stats", statsToJson(result.stats)},
      {"mfma", json::Object{{"mode", device::getName(config.matrixArithmetic)},
                            {"rule", config.matrixArithmetic == MatrixArithmetic::Exact ? "cdna3" : "fma-chain"},
                            {"assumed_instructions", result.stats.matrixAssumed}}},
  };
  if (config.checks) {
    json::Array findings;
    for (const Finding &f : result.findings) {
      json::Object o{{"check", f.check},
                     {"instruction", f.instruction},
                     {"text", f.text},
                     {"workgroup", json::Array{f.workgroup[0], f.workgroup[1], f.workgroup[2]}},
                     {"wave", f.wave},
                     {"lanes", hex(f.lanes)},
                     {"address", hex(f.address)},
                     {"bytes", f.bytes},
                     {"where", f.where},
                     {"occurrences", f.occurrences},
                     {"message", f.message}};
      if (!f.source.empty())
        o["source"] = f.source;
      if (!f.otherText.empty()) {
        json::Object other{{"instruction", f.otherInstruction}, {"text", f.otherText}};
        if (!f.otherSource.empty())
          other["source"] = f.otherSource;
        o["other"] = std::move(other);
      }
      findings.push_back(std::move(o));
    }
    root["findings"] = std::move(findings);
    root["findings_total"] = result.numFindings;
  }
  return formatv("{0:2}\n", json::Value(std::move(root))).str();
}

std::string profileToJson(const Device &dev, const Kernel &kernel, const LaunchConfig &config,
                          const LaunchResult &result) {
  auto addBytes = [](json::Object &o, const auto &p) {
    o["executions"] = p.executions;
    o["valu_cycles"] = p.valuCycles;
    o["matrix_cycles"] = p.matrixCycles;
    o["load_bytes"] = p.loadBytes;
    o["store_bytes"] = p.storeBytes;
    o["lds_read_bytes"] = p.ldsReadBytes;
    o["lds_write_bytes"] = p.ldsWriteBytes;
    if (!p.file.empty()) {
      o["file"] = p.file;
      o["line"] = p.line;
    }
  };
  json::Array instructions, lines;
  for (const InstructionProfile &p : result.profile) {
    json::Object o{{"address", p.address}, {"text", p.text}, {"class", device::getName(p.cls)}};
    addBytes(o, p);
    if (isPerLane(p.cls) && p.executions)
      o["average_active_lanes"] = double(p.activeLanes) / double(p.executions);
    instructions.push_back(std::move(o));
  }
  for (const LineProfile &l : sumByLine(result.profile)) {
    json::Object o{{"instructions", l.instructions}};
    addBytes(o, l);
    lines.push_back(std::move(o));
  }
  json::Object root{
      {"schema", "atrex-mlir/sim-profile/1"},
      {"kernel", kernel.getName()},
      {"chip", dev.getChip().name.str()},
      {"arch", dev.getChip().arch.str()},
      {"grid", json::Array{config.grid[0], config.grid[1], config.grid[2]}},
      {"block", json::Array{config.workgroup[0], config.workgroup[1], config.workgroup[2]}},
      {"workgroups_executed", result.stats.workgroupsExecuted},
      {"workgroups_total", result.stats.workgroupsTotal},
      {"executions", result.stats.totalInstructions()},
      {"valu_cycles", result.stats.valuCycles},
      {"matrix_cycles", result.stats.matrixCycles},
      {"instructions", std::move(instructions)},
      {"lines", std::move(lines)},
  };
  return formatv("{0:2}\n", json::Value(std::move(root))).str();
}

/// Source lines that the summary shows, and its width.
constexpr size_t profileLines = 15, profileWidth = 100;

void printProfile(const Kernel &kernel, const LaunchResult &result) {
  raw_ostream &os = outs();
  std::vector<LineProfile> lines = sumByLine(result.profile);
  os << formatv("profile of {0}: {1} wave-instructions, {2} valu cycles\n", kernel.getName(),
                result.stats.totalInstructions(), result.stats.valuCycles);
  os << "  valu    wave-insts         bytes     lds bytes  line\n";
  double total = result.stats.valuCycles ? double(result.stats.valuCycles) : 1.0;
  for (const LineProfile &l : ArrayRef(lines).take_front(profileLines)) {
    std::string row = formatv("{0,5:f1}% {1,13} {2,13} {3,13}  ", 100.0 * double(l.valuCycles) / total, l.executions,
                              l.loadBytes + l.storeBytes, l.ldsReadBytes + l.ldsWriteBytes)
                          .str();
    std::string place = l.file.empty() ? "(no source line)" : formatv("{0}:{1}", l.file, l.line).str();
    // The end of a path says more than its start.
    size_t room = profileWidth > row.size() + 8 ? profileWidth - row.size() : 8;
    if (place.size() > room)
      place = "..." + place.substr(place.size() - room + 3);
    os << row << place << '\n';
  }
  if (lines.size() > profileLines)
    os << formatv("  {0} further lines\n", lines.size() - profileLines);
}

/// Bits for --check; exit code, 0 on success.
int parseChecks(StringRef text, uint32_t &checks) {
  StringRef bad;
  if (parseCheckNames(text, checks, bad))
    return 0;
  return fail(2, "unknown check '" + bad + "'; available are oob, uninit, race, wait, hazard, align and all");
}

/// A number or `all`; exit code, 0 on success.
template <class T> int parseFilter(const cl::opt<std::string> &option, std::optional<T> &out) {
  T n;
  if (option == "all")
    out = std::nullopt;
  else if (!StringRef(option).getAsInteger(10, n))
    out = n;
  else
    return fail(2, "--" + option.ArgStr + " expects a number or 'all', got '" + option + "'");
  return 0;
}

template <class T> bool parseFilterValue(StringRef text, std::optional<T> &out) {
  T n;
  if (text == "all")
    out = std::nullopt;
  else if (!text.getAsInteger(10, n))
    out = n;
  else
    return false;
  return true;
}

/// The filter of --trace-exec; exit code, 0 on success.
int parseTraceExec(StringRef text, TraceConfig &trace, std::string &file) {
  SmallVector<StringRef, 8> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [kind, value] = part.trim().split(':');
    bool good = !value.empty();
    if (kind == "wg") {
      good = parseFilterValue(value, trace.workgroup);
    } else if (kind == "wave") {
      good = parseFilterValue(value, trace.wave);
    } else if (kind == "pc") {
      auto [first, last] = value.split('-');
      uint64_t a = 0, b = 0;
      good = !first.getAsInteger(0, a) && (last.empty() || !last.getAsInteger(0, b));
      trace.addresses = {a, last.empty() ? a : b};
    } else if (kind == "line") {
      unsigned n;
      good = !value.rsplit(':').second.getAsInteger(10, n);
      trace.source = value.str();
    } else if (kind == "op") {
      trace.mnemonic = value.str();
    } else if (kind == "file") {
      file = value.str();
    } else {
      good = false;
    }
    if (!good)
      return fail(2, "--trace-exec: '" + part +
                         "' is none of wg:N|all, wave:N|all, pc:FIRST-LAST, line:FILE:LINE, op:MNEMONIC, file:F");
  }
  return 0;
}

/// --dump-at and what belongs to it; exit code, 0 on success. Items that name an
/// argument wait for its address: they give its number.
int parseDump(DumpConfig &dump, std::vector<std::pair<size_t, size_t>> &ofArguments, ArrayRef<Argument> args) {
  uint64_t address;
  if (!StringRef(dumpAt).getAsInteger(0, address)) {
    dump.address = address;
  } else {
    unsigned line;
    if (StringRef(dumpAt).rsplit(':').second.getAsInteger(10, line) || !StringRef(dumpAt).contains(':'))
      return fail(2, "--dump-at expects an address or FILE:LINE, got '" + dumpAt + "'");
    dump.source = dumpAt;
  }
  dump.limit = dumpCount;
  SmallVector<StringRef, 8> parts;
  StringRef(dumpItems).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    part = part.trim();
    auto bad = [&] {
      return fail(2, "--dump: '" + part +
                         "' is none of s0-15, v3, a0-3, lds:OFFSET:BYTES, mem:ADDRESS:BYTES, arg:N+OFFSET:BYTES");
    };
    DumpConfig::Item item;
    if (part.contains(':')) {
      auto [kind, rest] = part.split(':');
      auto [where, count] = rest.split(':');
      if (count.getAsInteger(0, item.count) || !item.count || item.count > (1u << 20))
        return bad();
      if (kind == "arg") {
        auto [n, offset] = where.split('+');
        size_t number;
        if (n.getAsInteger(10, number) || (where.contains('+') && offset.getAsInteger(0, item.first)))
          return bad();
        if (number >= args.size() || args[number].kind != Argument::Buffer)
          return fail(2, formatv("--dump: '{0}': argument {1} is not a buffer", part, number));
        item.kind = DumpConfig::Item::Memory;
        ofArguments.push_back({dump.items.size(), number});
      } else if (kind == "lds" || kind == "mem") {
        item.kind = kind == "lds" ? DumpConfig::Item::Lds : DumpConfig::Item::Memory;
        if (where.getAsInteger(0, item.first))
          return bad();
      } else {
        return bad();
      }
    } else {
      auto [first, last] = part.drop_front(1).split('-');
      uint64_t end;
      char file = part.front();
      item.kind = file == 's'   ? DumpConfig::Item::Scalar
                  : file == 'v' ? DumpConfig::Item::Vector
                                : DumpConfig::Item::Accumulation;
      if ((file != 's' && file != 'v' && file != 'a') || first.getAsInteger(10, item.first))
        return bad();
      end = item.first;
      uint64_t registers = file == 's' ? 102 : 256;
      if ((!last.empty() && last.getAsInteger(10, end)) || end < item.first || end >= registers)
        return bad();
      item.count = end - item.first + 1;
    }
    dump.items.push_back(item);
  }
  return 0;
}

void printResult(const Device &dev, const LaunchResult &result) {
  const ExecutionStats &stats = result.stats;
  raw_ostream &os = outs();
  if (timing) {
    os << formatv("time on {0}: {1:f2} us (predicted, {2}), bound by {3}\n", dev.getChip().name,
                  result.time.seconds * 1e6, result.time.grade, result.time.bound);
    for (const auto &[name, seconds] : result.time.parts)
      os << formatv("  {0,-8} {1,12:f3} us\n", name, seconds * 1e6);
    os << formatv("  waves per SIMD {0}, limited by {1}\n", result.time.wavesPerSIMD, result.time.occupancyLimiter);
  }
  if (!printStats)
    return;
  os << formatv("workgroups {0} of {1}, waves {2}\n", stats.workgroupsExecuted, stats.workgroupsTotal,
                stats.wavesExecuted);
  os << "wave-instructions " << stats.totalInstructions() << '\n';
  for (unsigned n = 0; n < numInstClasses; ++n)
    if (stats.instructions[n])
      os << formatv("  {0,-12} {1}\n", device::getName(InstClass(n)), stats.instructions[n]);
  os << formatv("valu cycles {0}\n", stats.valuCycles);
  if (stats.matrixCycles)
    os << formatv("matrix cycles {0}\n", stats.matrixCycles);
  os << formatv("bytes loaded {0}, stored {1}, LDS read {2}, LDS written {3}\n", stats.loadBytes, stats.storeBytes,
                stats.ldsReadBytes, stats.ldsWriteBytes);
  os << formatv("lines read {0} exclusive, {1} shared; written {2} exclusive, {3} shared\n", stats.readLinesExclusive,
                stats.readLinesShared, stats.writeLinesExclusive, stats.writeLinesShared);
  double rate = stats.hostSeconds > 0 ? double(stats.totalInstructions()) / stats.hostSeconds * 1e-6 : 0;
  os << formatv("host time {0:f3} ms, {1:f1} M wave-instructions/s ({2})\n", stats.hostSeconds * 1e3, rate,
                getHostLevel());
}

int run() {
  if (mfmaMode != "exact" && mfmaMode != "fast")
    return fail(2, "--mfma is exact or fast, not '" + mfmaMode + "'");
  LaunchConfig config;
  TraceConfig trace;
  if (checkText.getNumOccurrences())
    if (int code = parseChecks(checkText, config.checks))
      return code;
  if (int code = parseFilter(traceGroup, trace.workgroup))
    return code;
  if (int code = parseFilter(traceWave, trace.wave))
    return code;
  std::string execFile = "-";
  if (traceExec.getNumOccurrences()) {
    if (!traceFile.empty())
      return fail(2, "--trace and --trace-exec exclude each other");
    if (int code = parseTraceExec(traceExec, trace, execFile))
      return code;
    trace.registers = true;
    traceFile = execFile;
  }
  if (shuffleSeed.getNumOccurrences())
    config.shuffle = shuffleSeed;
  for (auto *option : {&profileFile, &traceFile})
    if (option->getNumOccurrences() && option->empty())
      return fail(2, "--" + option->ArgStr + " expects a file name");
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{&traceGroup, &traceWave, &traceLimit})
    if (option->getNumOccurrences() && traceFile.empty())
      return fail(2, "--" + option->ArgStr + " needs --trace");
  if (!parseTriple(gridText, config.grid))
    return fail(2, "--grid expects one to three positive integers, got '" + gridText + "'");
  if (!parseTriple(blockText, config.workgroup))
    return fail(2, "--block expects one to three positive integers, got '" + blockText + "'");
  std::vector<uint64_t> sample;
  if (sampleText.getNumOccurrences()) {
    SmallVector<StringRef, 8> parts;
    StringRef(sampleText).split(parts, ',');
    for (StringRef part : parts) {
      uint64_t n;
      if (part.trim().getAsInteger(10, n))
        return fail(2, "--sample expects comma-separated numbers, got '" + sampleText + "'");
      sample.push_back(n);
    }
  }
  std::vector<Argument> args(argSpecs.size());
  for (size_t n = 0; n < args.size(); ++n)
    if (int code = parseArgument(argSpecs[n], args[n]))
      return code;
  for (size_t n = 0; n < args.size(); ++n) {
    Argument &a = args[n];
    if (a.kind != Argument::Pointer)
      continue;
    if (a.target >= args.size() || args[a.target].kind != Argument::Buffer)
      return fail(2, formatv("argument '{0}': argument {1} is not a buffer", a.spec, a.target));
    if (a.offset > args[a.target].bytes)
      return fail(2, formatv("argument '{0}': the buffer of argument {1} has {2} bytes", a.spec, a.target,
                             args[a.target].bytes));
  }

  DumpConfig dump;
  std::vector<std::pair<size_t, size_t>> dumpArguments;
  if (dumpAt.getNumOccurrences()) {
    if (int code = parseDump(dump, dumpArguments, args))
      return code;
    if (int code = parseFilter(dumpGroup, dump.workgroup))
      return code;
    if (int code = parseFilter(dumpWave, dump.wave))
      return code;
  }
  for (const cl::Option *option :
       std::initializer_list<const cl::Option *>{&dumpItems, &dumpGroup, &dumpWave, &dumpCount})
    if (option->getNumOccurrences() && !dumpAt.getNumOccurrences())
      return fail(2, "--" + option->ArgStr + " needs --dump-at");

  auto file = readRegularFile(inputFile, maxObjectBytes);
  if (!file)
    return fail(1, file.takeError());
  SimOptions options;
  options.jobs = jobs;
  StringRef arch = archName.empty() ? getCodeObjectArch((*file)->getMemBufferRef()) : StringRef(archName);
  if (!archName.empty() && !getDefaultChip(archName))
    return fail(2, "unknown architecture '" + archName + "'");
  if (!chipName.empty()) {
    const ChipInfo *chip = lookupChip(chipName);
    if (!chip)
      return fail(2, "unknown chip '" + chipName + "'; known are " + getArchList());
    if (!archName.empty() && chip->arch != arch)
      return fail(2, "chip '" + chipName + "' is not of architecture " + archName);
    options.chip = chip->name.str();
  } else if (!arch.empty()) {
    options.chip = arch.str();
  }
  auto dev = createSimDevice(options);
  if (!dev)
    return fail(2, dev.takeError());
  auto module = (*dev)->load((*file)->getMemBufferRef());
  if (!module)
    return fail(1, "'" + inputFile + "': " + toString(module.takeError()));
  std::vector<const Kernel *> kernels = (*module)->getKernels();
  const Kernel *kernel =
      kernelName.empty() ? (kernels.size() == 1 ? kernels.front() : nullptr) : (*module)->lookup(kernelName);
  if (!kernel) {
    std::string names;
    for (const Kernel *k : kernels)
      names += (names.empty() ? "" : ", ") + k->getName().str();
    if (kernelName.empty())
      return fail(2, "'" + inputFile + "' has several kernels, choose one with --kernel: " + names);
    return fail(1, "'" + inputFile + "' has no kernel '" + kernelName + "'; it has " + names);
  }
  for (const Argument &a : args)
    if (!a.outFile.empty())
      if (Error e = checkWritable(a.outFile))
        return fail(1, std::move(e));
  for (const auto *file : {&jsonFile, &profileFile, &traceFile})
    if (!file->empty() && *file != "-")
      if (Error e = checkWritable(*file))
        return fail(1, std::move(e));

  for (size_t n = 0; n < args.size(); ++n) {
    Argument &a = args[n];
    if (a.kind != Argument::Buffer)
      continue;
    auto ptr = (*dev)->allocate(a.bytes, formatv("argument {0}", n).str());
    if (!ptr)
      return fail(1, ptr.takeError());
    a.ptr = *ptr;
    if (a.content)
      if (Error e = (*dev)->copyToDevice(a.ptr, a.content->getBufferStart(), a.bytes))
        return fail(1, std::move(e));
    // Fresh memory is zero; this only says that it is meant to be.
    if (config.checks & CheckUninit && StringRef(a.spec).starts_with("zero:"))
      if (Error e = (*dev)->fill(a.ptr, 0, a.bytes))
        return fail(1, std::move(e));
  }
  auto kernarg = layoutKernarg(*kernel, args);
  if (!kernarg)
    return fail(1, kernarg.takeError());
  config.kernarg = *kernarg;
  config.sample = sample;
  config.dynamicLdsBytes = ldsBytes;
  config.maxWaveInstructions = maxInstructions;
  config.trackMemory = !noTracking;
  config.matrixArithmetic = mfmaMode == "fast" ? MatrixArithmetic::Fast : MatrixArithmetic::Exact;
  config.profile = !profileFile.empty();
  std::string traceText;
  raw_string_ostream traceStream(traceText);
  trace.os = &traceStream;
  trace.limit = traceLimit;
  if (!traceFile.empty())
    config.trace = &trace;
  for (auto [item, argument] : dumpArguments)
    dump.items[item].first += args[argument].ptr;
  std::string dumpText;
  raw_string_ostream dumpStream(dumpText);
  dump.os = &dumpStream;
  if (dumpAt.getNumOccurrences())
    config.dump = &dump;
  auto result = (*dev)->launch(*kernel, config);
  outs() << dumpStream.str();
  if (dumpAt.getNumOccurrences() && dumpText.empty())
    errs() << "atrex-sim: warning: no wave reached '" << dumpAt << "'\n";
  // The trace of a run that failed is the most useful one.
  if (!traceFile.empty())
    if (Error e = writeFile(traceFile, traceStream.str())) {
      if (!result)
        consumeError(result.takeError());
      return fail(1, std::move(e));
    }
  if (!result)
    return fail(1, result.takeError());

  for (const Argument &a : args) {
    if (a.outFile.empty())
      continue;
    std::string content(a.bytes, '\0');
    if (Error e = (*dev)->copyFromDevice(content.data(), a.ptr, a.bytes))
      return fail(1, std::move(e));
    if (Error e = writeFile(a.outFile, content))
      return fail(1, std::move(e));
  }
  if (!jsonFile.empty())
    if (Error e = writeFile(jsonFile, toJson(**dev, *kernel, config, *result)))
      return fail(1, std::move(e));
  if (!profileFile.empty()) {
    if (Error e = writeFile(profileFile, profileToJson(**dev, *kernel, config, *result)))
      return fail(1, std::move(e));
    if (profileFile != "-")
      printProfile(*kernel, *result);
  }
  printResult(**dev, *result);
  for (const Finding &f : result->findings)
    fail(1, f.message);
  if (result->numFindings > result->findings.size())
    fail(1, formatv("{0} further findings are not shown", result->numFindings - result->findings.size()));
  return result->numFindings ? 1 : 0;
}

/// The table of a chip's instruction set: a line per encoding, then what is
/// missing.
int coverageOfChip() {
  StringRef name = !chipName.empty() ? StringRef(chipName) : !archName.empty() ? StringRef(archName) : "gfx942";
  const ChipInfo *chip = lookupChip(name);
  if (!chip || !chip->isAMDGPU())
    return fail(2, "unknown chip '" + name + "'; expected one of " + getArchList());
  auto entries = computeIsaCoverage(*chip);
  if (!entries)
    return fail(1, entries.takeError());
  struct Row {
    unsigned handled = 0, excluded = 0, missing = 0;
  };
  std::map<std::string, Row> rows;
  Row total;
  for (const IsaEntry &e : *entries) {
    unsigned Row::*field = e.handled ? &Row::handled : !e.excluded.empty() ? &Row::excluded : &Row::missing;
    ++(rows[e.encoding].*field);
    ++(total.*field);
  }
  outs() << formatv("{0,-14}{1,9}{2,9}{3,9}\n", chip->arch, "handled", "excluded", "missing");
  auto print = [](StringRef name, const Row &r) {
    outs() << formatv("{0,-14}{1,9}{2,9}{3,9}\n", name, r.handled, r.excluded, r.missing);
  };
  for (const auto &[encoding, row] : rows)
    print(encoding, row);
  print("total", total);
  for (const IsaEntry &e : *entries) {
    bool missing = !e.handled && e.excluded.empty();
    if (!missing && !coverageList)
      continue;
    outs() << formatv("  {0,-12} {1} ({2}): {3}\n", e.encoding, e.mnemonic, e.opcode,
                      e.handled ? "handled"
                      : missing ? "missing"
                                : e.excluded);
    for (const IsaEntry::Sample &s : e.samples)
      if (missing && !s.handled) {
        outs() << "    " << s.text << '\n';
        break;
      }
  }
  return total.missing ? 1 : 0;
}

int coverage() {
  int code = 0;
  if (!archName.empty() && !getDefaultChip(archName))
    return fail(2, "unknown architecture '" + archName + "'");
  if (coverageAll)
    return coverageOfChip();
  if (coverageFiles.empty())
    return fail(2, "coverage: expected files, or --all for the instruction set of a chip");
  for (const std::string &path : coverageFiles) {
    auto file = readRegularFile(path, maxObjectBytes);
    if (!file) {
      code = fail(1, file.takeError());
      continue;
    }
    auto report = computeCoverage((*file)->getMemBufferRef(), archName);
    if (!report) {
      code = fail(1, "'" + path + "': " + toString(report.takeError()));
      continue;
    }
    outs() << formatv("{0}: {1} instructions, {2} mnemonics not implemented\n", path, report->instructions,
                      report->missing.size());
    if (report->undecodedDwords)
      outs() << formatv("  {0} dwords are no instruction\n", report->undecodedDwords);
    for (const auto &[name, count] : report->missing) {
      outs() << formatv("  {0} ({1} times)\n", name, count);
      code = 1;
    }
  }
  return code;
}

/// Every .json file of a directory (or one file), in the order of names.
int mfmaVectors() {
  std::vector<std::string> files;
  if (sys::fs::is_regular_file(vectorsDir)) {
    files.push_back(vectorsDir);
  } else {
    std::error_code error;
    for (sys::fs::directory_iterator it(vectorsDir, error), end; it != end && !error; it.increment(error))
      if (StringRef(it->path()).ends_with(".json"))
        files.push_back(it->path());
    if (error)
      return fail(1, "cannot read '" + vectorsDir + "': " + error.message());
    llvm::sort(files);
  }
  if (files.empty())
    return fail(1, "'" + vectorsDir + "' has no .json file");
  uint64_t agree = 0, disagree = 0, zeroSigns = 0;
  unsigned bad = 0;
  for (const std::string &path : files) {
    auto result = runMatrixVectors(path, vectorsLimit);
    if (!result) {
      fail(1, result.takeError());
      ++bad;
      continue;
    }
    outs() << formatv("{0,-36} {1,8} agree {2,8} disagree", result->instruction, result->agree, result->disagree);
    if (result->zeroSigns)
      outs() << formatv(" ({0} only agree but for the sign of zero)", result->zeroSigns);
    outs() << '\n';
    for (const std::string &line : result->details)
      outs() << "  " << line << '\n';
    if (result->disagree > result->details.size())
      outs() << formatv("  {0} further disagreements are not shown\n", result->disagree - result->details.size());
    agree += result->agree;
    disagree += result->disagree;
    zeroSigns += result->zeroSigns;
  }
  outs() << formatv("{0} files, {1} outputs agree, {2} disagree", files.size() - bad, agree, disagree);
  if (zeroSigns)
    outs() << formatv(", {0} differ in the sign of zero", zeroSigns);
  if (bad)
    outs() << formatv(", {0} files could not be used", bad);
  outs() << '\n';
  return disagree || bad ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category, runCommand);
  cl::HideUnrelatedOptions(category, coverageCommand);
  cl::HideUnrelatedOptions(category, vectorsCommand);
  getFuzzCommand();
  std::string message;
  raw_string_ostream os(message);
  cl::HideUnrelatedOptions(category);
  cl::HideUnrelatedOptions(category, runCommand);
  cl::HideUnrelatedOptions(category, coverageCommand);
  if (!cl::ParseCommandLineOptions(argc, argv, "Runs AMDGPU code objects on the embedded device\n", &os)) {
    errs() << os.str();
    return 2;
  }
  if (runCommand)
    return run();
  if (coverageCommand)
    return coverage();
  if (vectorsCommand)
    return mfmaVectors();
  if (getFuzzCommand())
    return runFuzz();
  return fail(2, "expected a command: run, coverage, mfma-vectors or fuzz (see --help)");
}
