//===- SimDevice.cpp - The embedded device --------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"
#include "lib/Device/Sim/Checks.h"
#include "lib/Device/Sim/CodeObject.h"
#include "lib/Device/Sim/Decoder.h"
#include "lib/Device/Sim/Memory.h"
#include "lib/Device/Sim/Observe.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <sys/mman.h>
#include <thread>

using namespace llvm;
using namespace atrex;
using namespace atrex::device;
using namespace atrex::device::sim;

template <class... Ts> static Error makeError(const char *format, Ts &&...args) {
  return createStringError(inconvertibleErrorCode(), formatv(format, std::forward<Ts>(args)...).str());
}

namespace {

/// Instructions one wave runs before the next wave of its workgroup: few, as on
/// hardware, where all waves advance together.
constexpr uint64_t waveSlice = 32;
/// Instructions one workgroup runs before its host thread looks at another one,
/// so that workgroups that wait for each other make progress.
constexpr uint64_t groupSlice = 100000;
/// The same for one that has written nothing for its last turn: it may be waiting.
constexpr uint64_t idleSlice = 2048;
/// Unfinished workgroups one host thread keeps, and the bytes they may take.
constexpr size_t maxResidentGroups = 1024;
constexpr uint64_t maxResidentBytes = 1ull << 30;
/// With LaunchConfig::shuffle: most instructions before the next switch, most
/// workgroups that run together, and workgroups that the next one is drawn from.
constexpr uint64_t shuffleSlice = 12;
constexpr size_t shuffleGroups = 8, shuffleWindow = 1024;
/// Rows of the vector register file of one wave: 256 architectural, 256
/// accumulation, and room for tuples that run over the end.
constexpr uint64_t registerRows = 512 + 16;
constexpr uint64_t registerBytes = registerRows * 256;
/// Scratch given to kernels whose stack size is not known statically.
constexpr uint32_t dynamicStackBytes = 16384;

class SimModule;

class SimKernel : public Kernel {
public:
  SimKernel(KernelDesc d, SimModule &m) : desc(std::move(d)), module(m) {}
  StringRef getName() const override { return desc.name; }
  const KernelResources &getResources() const override { return desc.resources; }
  ArrayRef<KernelArgInfo> getArgs() const override { return desc.args; }

  KernelDesc desc;
  SimModule &module;
};

/// What outlives the device while modules exist.
struct SharedState {
  DeviceMemory memory;
  std::set<const Kernel *> kernels;
  /// Held by every call.
  std::mutex mutex;
};

class SimModule : public device::Module {
public:
  explicit SimModule(std::shared_ptr<SharedState> s) : state(std::move(s)) {}
  ~SimModule() override {
    std::lock_guard<std::mutex> lock(state->mutex);
    for (auto &k : kernels)
      state->kernels.erase(k.get());
    if (base)
      consumeError(state->memory.free(base));
  }
  std::vector<const Kernel *> getKernels() const override {
    std::vector<const Kernel *> result;
    for (auto &k : kernels)
      result.push_back(k.get());
    return result;
  }

  std::shared_ptr<SharedState> state;
  CodeObject object;
  std::vector<std::unique_ptr<SimKernel>> kernels;
  std::unique_ptr<Program> program;
  DevicePtr base = 0;
};

/// memset that gives the pages of large zeroed ranges back, so that sparse
/// buffers stay sparse.
void fillPages(uint8_t *p, uint8_t value, uint64_t bytes) {
  constexpr uint64_t page = 4096, large = 64ull << 20;
  if (!value && bytes >= large) {
    uint64_t head = alignTo(reinterpret_cast<uint64_t>(p), page) - reinterpret_cast<uint64_t>(p);
    uint64_t whole = alignDown(bytes - head, page);
    if (!madvise(p + head, whole, MADV_DONTNEED)) {
      memset(p, 0, head);
      memset(p + head + whole, 0, bytes - head - whole);
      return;
    }
  }
  memset(p, value, bytes);
}

/// A page-aligned anonymous mapping.
class Mapping {
public:
  Mapping() = default;
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping() {
    if (data)
      munmap(data, bytes);
  }
  bool map(uint64_t n) {
    void *p = mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      return false;
    data = static_cast<uint8_t *>(p);
    bytes = n;
    return true;
  }
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
};

/// One launch: everything the host threads share.
struct Launch {
  const SimKernel *kernel;
  const LaunchConfig *config;
  const ChipInfo *chip;
  Program *program;
  const Inst *entry;
  uint64_t kernargPtr = 0, dispatchPtr = 0, queuePtr = 0;
  /// Scratch for kernels that address it through a buffer descriptor.
  uint64_t scratchPtr = 0, scratchGroupBytes = 0;
  std::vector<u32> preloaded;
  uint64_t totalGroups = 0, numGroups = 0;
  /// LDS as the kernel asks for it, before it is rounded up.
  uint32_t ldsRequested = 0;
  uint32_t threads = 0, numWaves = 0, ldsBytes = 0, scratchBytes = 0, vgprRows = 0, agprRows = 0;
  std::vector<MemAlloc> allocs;
  size_t maxResident = maxResidentGroups;
  /// Some instrument needs the slower dispatch loop.
  bool instrumented = false;
  std::atomic<uint64_t> nextGroup{0};
  std::atomic<bool> failed{false};
  GwsResource gws[gwsResources] = {};
  std::mutex errorMutex;
  uint64_t errorOrdinal = ~0ull;
  std::string error;

  uint64_t groupId(uint64_t ordinal) const { return config->sample.empty() ? ordinal : config->sample[ordinal]; }
  void report(uint64_t ordinal, std::string message) {
    std::lock_guard<std::mutex> lock(errorMutex);
    failed = true;
    if (ordinal < errorOrdinal) {
      errorOrdinal = ordinal;
      error = std::move(message);
    }
  }
};

/// Storage of one resident workgroup.
struct Group {
  uint64_t ordinal = 0, id = 0;
  std::array<uint32_t, 3> coords = {};
  std::vector<Wave> waves;
  Mapping registers, lds, scratch;
  unsigned done = 0;
  /// Instructions of the next turn.
  uint64_t slice = groupSlice;
  /// With checks.
  Mapping ldsWritten, ldsCells, undefinedRows, scratchDefined;
  GroupChecks checks;
};

/// What the profile counts besides executions.
struct ProfileCounts {
  u64 activeLanes, loadBytes, storeBytes, ldsReadBytes, ldsWriteBytes;
};

class Worker {
public:
  explicit Worker(Launch &l) : launch(l) {}
  void run();

  ThreadState ts = {};
  Mapping counts;
  /// By slot, with LaunchConfig::profile.
  Mapping profile;
  std::unique_ptr<Checker> checker;
  uint64_t groups = 0;

private:
  enum class Outcome { Finished, Unfinished, Failed };
  std::unique_ptr<Group> create();
  void start(Group &g, uint64_t ordinal);
  Outcome advance(Group &g);
  bool runWave(Group &g, Wave &w, uint64_t budget);
  void openBarrier(Group &g);
  void runShuffled();
  std::unique_ptr<Group> take(uint64_t ordinal);
  void dispatchInstrumented(Group &g, Wave &w, uint64_t budget);
  std::string describeStop(const Group &g, const Wave &w);

  Launch &launch;
  std::unique_ptr<Observer> observer;
  std::vector<std::unique_ptr<Group>> pool;
};

} // namespace

//===----------------------------------------------------------------------===//
// Executing workgroups
//===----------------------------------------------------------------------===//

std::unique_ptr<Group> Worker::create() {
  auto g = std::make_unique<Group>();
  g->waves.resize(launch.numWaves);
  if (!g->registers.map(launch.numWaves * registerBytes) || !g->lds.map(alignTo(launch.ldsBytes + 64, 4096)) ||
      !g->scratch.map(alignTo(uint64_t(launch.scratchBytes) * 64 * launch.numWaves + 64, 4096)))
    return nullptr;
  if (launch.config->checks & CheckUninit) {
    if (!g->ldsWritten.map(alignTo(launch.ldsBytes + 64, 4096)))
      return nullptr;
    g->checks.ldsWritten = g->ldsWritten.data;
    if (!g->undefinedRows.map(launch.numWaves * UndefTracker::rowBytesPerWave) ||
        !g->scratchDefined.map(alignTo(uint64_t(launch.scratchBytes) * 64 * launch.numWaves + 64, 4096)))
      return nullptr;
    g->checks.undef.rows = reinterpret_cast<u32 *>(g->undefinedRows.data);
    g->checks.undef.scratch = g->scratchDefined.data;
  }
  if (launch.config->checks & CheckRace) {
    if (!g->ldsCells.map(alignTo((launch.ldsBytes / 4 + 16) * sizeof(ShadowCell), 4096)))
      return nullptr;
    g->checks.ldsCells = reinterpret_cast<ShadowCell *>(g->ldsCells.data);
  }
  return g;
}

void Worker::start(Group &g, uint64_t ordinal) {
  const LaunchConfig &config = *launch.config;
  const KernelDesc &k = launch.kernel->desc;
  g.ordinal = ordinal;
  g.id = launch.groupId(ordinal);
  g.done = 0;
  g.slice = groupSlice;
  g.coords = {uint32_t(g.id % config.grid[0]), uint32_t(g.id / config.grid[0] % config.grid[1]),
              uint32_t(g.id / config.grid[0] / config.grid[1])};
  memset(g.lds.data, 0, launch.ldsBytes);
  if (checker)
    checker->start(g.checks, ordinal, launch.numWaves);
  g.checks.ldsBytes = launch.ldsRequested;
  if (g.ldsWritten.data)
    memset(g.ldsWritten.data, 0, launch.ldsBytes);
  if (launch.scratchBytes)
    memset(g.scratch.data, 0, uint64_t(launch.scratchBytes) * 64 * launch.numWaves);
  if (launch.scratchBytes && g.scratchDefined.data)
    memset(g.scratchDefined.data, 0, uint64_t(launch.scratchBytes) * 64 * launch.numWaves);
  for (uint32_t n = 0; n < launch.numWaves; ++n) {
    Wave &w = g.waves[n];
    memset(static_cast<void *>(&w), 0, sizeof(w));
    w.v = reinterpret_cast<u32 *>(g.registers.data + n * registerBytes);
    memset(w.v, 0, launch.vgprRows * 256);
    memset(w.v + 256 * 64, 0, launch.agprRows * 256);
    w.lds = g.lds.data;
    w.ldsBytes = launch.ldsBytes;
    w.scratch = g.scratch.data + uint64_t(launch.scratchBytes) * 64 * n;
    w.scratchBytesPerLane = launch.scratchBytes;
    w.ts = &ts;
    w.next = launch.entry;
    w.code = launch.program->getSlots();
    w.codeBase = launch.program->getBase();
    w.codeDwords = launch.program->getDwords();
    w.waveInGroup = n;
    w.isGfx950 = launch.chip->arch == "gfx950";
    w.matrixFast = config.matrixArithmetic == MatrixArithmetic::Fast;
    w.dppMask = ~0ull;
    // MODE: rounding and denormals, DX10 clamp, IEEE, FP16 overflow.
    w.mode = (k.rsrc1 >> 12 & 0xff) | (k.rsrc1 >> 21 & 1) << 8 | (k.rsrc1 >> 23 & 1) << 9 | (k.rsrc1 >> 26 & 1) << 23;
    u32 d32 = w.mode >> 4 & 3, d64 = w.mode >> 6 & 3;
    w.slowMode = u8((d32 & 1 ? 0 : 1) | (d32 & 2 ? 0 : 2) | (d64 & 1 ? 0 : 4) | (d64 & 2 ? 0 : 8) |
                    (w.mode & 3 ? 16 : 0) | (w.mode >> 2 & 3 ? 32 : 0));
    // User scalars in their fixed order.
    unsigned s = 0, limit = k.rsrc2 >> 1 & 31;
    u32 defined = 0;
    auto put = [&](u32 x) {
      if (s < 32) {
        w.s[s] = x;
        defined |= 1u << s;
      }
      ++s;
    };
    auto put64 = [&](uint64_t x) {
      put(u32(x));
      put(u32(x >> 32));
    };
    if (k.properties & 1) {
      // Private segment buffer: swizzled, 4 bytes for each of 64 lanes in turn,
      // the lane number added by the hardware.
      put64((launch.scratchPtr + ordinal * launch.scratchGroupBytes) | 1ull << 63);
      put64(launch.scratchGroupBytes | (1ull << 19 | 3ull << 21 | 1ull << 23) << 32);
    }
    if (k.properties & 2)
      put64(launch.dispatchPtr);
    if (k.properties & 4)
      put64(launch.queuePtr);
    if (k.properties & 8)
      put64(launch.kernargPtr);
    if (k.properties & 16)
      put64(1);
    if (k.properties & 32)
      put64(launch.scratchPtr + ordinal * launch.scratchGroupBytes);
    if (k.properties & 64)
      put(launch.scratchBytes);
    for (u32 x : launch.preloaded)
      put(x);
    s = limit;
    for (unsigned d = 0; d < 3; ++d)
      if (k.rsrc2 >> (7 + d) & 1)
        put(g.coords[d]);
    if (k.rsrc2 >> 10 & 1)
      put(launch.numWaves);
    // Offset of the wave in a private segment buffer.
    if (k.rsrc2 & 1 && k.properties & 1)
      put(launch.scratchBytes * 64 * n);
    // Work-item ids, packed into v0.
    uint32_t first = n * 64, active = std::min(launch.threads - first, 64u);
    uint64_t exec = active == 64 ? ~0ull : (1ull << active) - 1;
    w.s[regExec] = u32(exec);
    w.s[regExec + 1] = u32(exec >> 32);
    if (checker)
      checker->startWave(g.checks, n, defined);
    unsigned idMode = k.rsrc2 >> 11 & 3;
    uint32_t wx = config.workgroup[0], wy = config.workgroup[1];
    for (uint32_t i = 0; i < active; ++i) {
      uint32_t t = first + i, x = t % wx, y = t / wx % wy, z = t / wx / wy;
      w.v[i] = x | (idMode >= 1 ? y << 10 : 0) | (idMode >= 2 ? z << 20 : 0);
    }
  }
}

/// "at 0x1a00 (kernel+0x40): v_mov_b32 v1, v2 [file:line]".
static std::string describeInstruction(const SimKernel &kernel, uint64_t vaddr, StringRef text, StringRef source) {
  uint64_t entry = kernel.desc.entry;
  return formatv("at {0:x} ({1}{2}{3:x}): {4}{5}{6}{7}", vaddr, kernel.getName(), vaddr >= entry ? "+" : "-",
                 vaddr >= entry ? vaddr - entry : entry - vaddr, text, source.empty() ? "" : " [", source,
                 source.empty() ? "" : "]")
      .str();
}

std::string Worker::describeStop(const Group &g, const Wave &w) {
  Program &program = *launch.program;
  const SimModule &module = launch.kernel->module;
  uint64_t slot = program.getSlot(w.next);
  std::string where = "behind the last instruction of the code", text;
  if (slot < program.getDwords()) {
    uint64_t vaddr = program.getAddress(w.next) - module.base;
    text = program.describe(w.next);
    where = describeInstruction(*launch.kernel, vaddr, text, lookupSourceLine(module.object, vaddr));
  }
  const Fault &f = w.fault;
  std::string what;
  if (w.status != WaveFault) {
    what = formatv("a wave executed more than {0} instructions and was given up as endless",
                   launch.config->maxWaveInstructions)
               .str();
    // Where the others wait for it.
    std::map<std::string, std::string> waiting;
    for (const Wave &other : g.waves)
      if (other.status == WaveBarrier) {
        uint64_t vaddr = program.getAddress(other.next) - module.base - 4;
        std::string at = formatv("{0:x}", vaddr).str(), source = lookupSourceLine(module.object, vaddr);
        std::string &list = waiting[source.empty() ? at : at + " [" + source + "]"];
        list += (list.empty() ? "" : ", ") + std::to_string(other.waveInGroup);
      }
    for (const auto &[at, list] : waiting)
      what += formatv("; wave{0} {1} of the workgroup wait{2} at the barrier at {3}",
                      list.find(',') == list.npos ? "" : "s", list, list.find(',') == list.npos ? "s" : "", at)
                  .str();
    if (g.done)
      what += formatv("; {0} of its {1} waves have ended", g.done, g.waves.size()).str();
  } else {
    StringRef access = f.write ? "store" : "load";
    std::string lane = f.lane == ~0u ? std::string("the scalar unit") : formatv("lane {0}", f.lane).str();
    switch (f.kind) {
    case FaultUnknownInst:
      what = StringRef(text).starts_with(".long") ? "the code is no instruction of " + launch.chip->arch.str()
                                                  : std::string("instruction is not implemented");
      break;
    case FaultOutOfBounds:
      if (f.what)
        what = formatv("out-of-bounds {0} of {1} bytes at offset {2} of {3} ({4} bytes per lane) by {5}", access,
                       f.bytes, f.addr, f.what, w.scratchBytesPerLane, lane)
                   .str();
      else
        what = formatv("out-of-bounds {0} of {1} bytes at {2:x} by {3}: {4}", access, f.bytes, f.addr, lane,
                       module.state->memory.describe(f.addr))
                   .str();
      break;
    case FaultReadOnly:
      what = formatv("store of {0} bytes at {1:x} by {2} into read-only memory: {3}", f.bytes, f.addr, lane,
                     module.state->memory.describe(f.addr))
                 .str();
      break;
    case FaultMisaligned:
      what = formatv("misaligned atomic of {0} bytes at {1:x} by {2}", f.bytes, f.addr, lane).str();
      break;
    case FaultBadJump:
      what = f.addr ? formatv("jump to {0:x}, which is no address of the code", f.addr).str()
                    : std::string("branch to an address outside of the code");
      break;
    case FaultEndOfCode:
      what = "execution ran off the end of the code";
      break;
    case FaultTrap:
      what = formatv("trap {0}", f.addr).str();
      break;
    default:
      what = f.what ? formatv("{0} is not supported", f.what).str() : std::string("internal fault");
      break;
    }
  }
  return formatv("kernel '{0}': {1}; wave {2} of workgroup ({3}, {4}, {5}), instruction {6}", launch.kernel->getName(),
                 what, w.waveInGroup, g.coords[0], g.coords[1], g.coords[2], where)
      .str();
}

/// The dispatch loop: one indirect call per wave-instruction.
static void dispatch(Wave &w, uint64_t budget) {
  const Inst *in = w.next;
  u64 *counts = w.ts->counts;
  w.status = WaveYield;
  uint64_t left = budget;
  while (left) {
    --left;
    ++counts[in->index];
    const Inst *next = in->fn(w, in);
    if (LLVM_UNLIKELY(!next)) {
      w.executed += budget - left;
      return;
    }
    in = next;
  }
  w.executed += budget;
  w.next = in;
}

/// Whether VSKIP passes over an instruction.
static bool isVectorClass(u8 cls) { return cls <= CMFMA || (cls >= CLoad && cls <= CLDS); }

/// dispatch() with profile, trace and checks, and under VSKIP.
void Worker::dispatchInstrumented(Group &g, Wave &w, uint64_t budget) {
  ProfileCounts *profiled = reinterpret_cast<ProfileCounts *>(profile.data);
  Checker *checks = checker.get();
  Observer *observed = observer.get();
  const Inst *in = w.next;
  w.status = WaveYield;
  uint64_t left = budget;
  while (left) {
    --left;
    ++ts.counts[in->index];
    if (LLVM_UNLIKELY(w.mode >> 28 & 1) && in->def && isVectorClass(in->cls)) {
      in = continueInMode(w, in->next);
      continue;
    }
    if (checks)
      checks->check(w, in, g.checks);
    bool watched = observed && observed->before(g.id, w, in);
    const Inst *next;
    if (profiled) {
      ProfileCounts &p = profiled[in->index];
      p.activeLanes += u64(popcount(w.s[regExec])) + u64(popcount(w.s[regExec + 1]));
      p.loadBytes -= ts.loadBytes;
      p.storeBytes -= ts.storeBytes;
      p.ldsReadBytes -= ts.ldsReadBytes;
      p.ldsWriteBytes -= ts.ldsWriteBytes;
      next = in->fn(w, in);
      p.loadBytes += ts.loadBytes;
      p.storeBytes += ts.storeBytes;
      p.ldsReadBytes += ts.ldsReadBytes;
      p.ldsWriteBytes += ts.ldsWriteBytes;
    } else {
      next = in->fn(w, in);
    }
    if (watched)
      observed->after(w, in);
    if (LLVM_UNLIKELY(!next)) {
      w.executed += budget - left;
      return;
    }
    in = next;
  }
  w.executed += budget;
  w.next = in;
}

/// Runs a wave that is neither done nor at a barrier. False when the launch has
/// failed.
bool Worker::runWave(Group &g, Wave &w, uint64_t budget) {
  const uint64_t limit = launch.config->maxWaveInstructions;
  budget = std::min<uint64_t>(budget, limit - w.executed + 1);
  if (launch.instrumented || LLVM_UNLIKELY(w.mode >> 28 & 1))
    dispatchInstrumented(g, w, budget);
  else
    dispatch(w, budget);
  if (w.status == WaveNeedDecode)
    launch.program->decodeFrom(w.jumpTarget);
  if (w.status == WaveFault || (w.executed > limit && w.status != WaveDone)) {
    launch.report(g.ordinal, describeStop(g, w));
    return false;
  }
  if (w.status == WaveDone)
    ++g.done;
  return true;
}

/// A barrier opens when every wave that still runs has arrived.
void Worker::openBarrier(Group &g) {
  unsigned atBarrier = 0;
  for (const Wave &w : g.waves)
    atBarrier += w.status == WaveBarrier;
  if (!atBarrier || atBarrier + g.done != g.waves.size())
    return;
  for (Wave &w : g.waves)
    if (w.status == WaveBarrier)
      w.status = WaveYield;
  if (checker)
    checker->openBarrier(g.checks);
}

Worker::Outcome Worker::advance(Group &g) {
  ts.owner = u32(g.ordinal + 1);
  uint64_t left = g.slice, written = ts.storeBytes + ts.ldsWriteBytes;
  // A single wave has nobody to wait for.
  const uint64_t slice = g.waves.size() == 1 ? left : waveSlice;
  while (true) {
    unsigned ready = 0;
    for (Wave &w : g.waves) {
      if (w.status == WaveDone || w.status == WaveBarrier)
        continue;
      uint64_t before = w.executed;
      if (!runWave(g, w, slice))
        return Outcome::Failed;
      left -= std::min(left, w.executed - before);
      ready += w.status != WaveDone && w.status != WaveBarrier;
    }
    if (g.done == g.waves.size())
      return Outcome::Finished;
    if (!ready)
      openBarrier(g);
    if (!left) {
      g.slice = ts.storeBytes + ts.ldsWriteBytes == written ? idleSlice : groupSlice;
      return Outcome::Unfinished;
    }
  }
}

std::unique_ptr<Group> Worker::take(uint64_t ordinal) {
  std::unique_ptr<Group> g;
  if (!pool.empty()) {
    g = std::move(pool.back());
    pool.pop_back();
  } else {
    g = create();
  }
  if (!g) {
    launch.report(ordinal, "out of host memory for a workgroup");
    return nullptr;
  }
  start(*g, ordinal);
  return g;
}

/// Everything in an order drawn from a seed: which workgroups run together,
/// which wave is next and for how long.
void Worker::runShuffled() {
  u64 state = *launch.config->shuffle;
  auto draw = [&](u64 n) {
    // SplitMix64.
    u64 z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) % n;
  };
  std::vector<uint64_t> window;
  uint64_t nextOrdinal = 0;
  std::vector<std::unique_ptr<Group>> resident;
  // More than the usual number when all of them wait for somebody.
  size_t wanted = shuffleGroups;
  uint64_t sinceEnd = 0;
  while (true) {
    while (resident.size() < wanted && !launch.failed) {
      while (window.size() < shuffleWindow && nextOrdinal < launch.numGroups)
        window.push_back(nextOrdinal++);
      if (window.empty())
        break;
      std::swap(window[draw(window.size())], window.back());
      std::unique_ptr<Group> g = take(window.back());
      if (!g)
        break;
      window.pop_back();
      resident.push_back(std::move(g));
    }
    if (resident.empty())
      return;
    size_t n = draw(resident.size());
    Group &g = *resident[n];
    ts.owner = u32(g.ordinal + 1);
    SmallVector<Wave *, 16> ready;
    for (Wave &w : g.waves)
      if (w.status != WaveDone && w.status != WaveBarrier)
        ready.push_back(&w);
    bool over = false;
    if (ready.empty()) {
      openBarrier(g);
      over = g.done == g.waves.size();
    } else {
      Wave &w = *ready[draw(ready.size())];
      uint64_t before = w.executed;
      over = !runWave(g, w, 1 + draw(shuffleSlice));
      if (over && launch.failed) {
        pool.push_back(std::move(resident[n]));
        return;
      }
      sinceEnd += w.executed - before;
    }
    if (g.done == g.waves.size()) {
      ++groups;
      sinceEnd = 0;
      pool.push_back(std::move(resident[n]));
      resident.erase(resident.begin() + std::ptrdiff_t(n));
    } else if (sinceEnd > groupSlice && wanted < launch.maxResident) {
      ++wanted;
      sinceEnd = 0;
    }
  }
}

void Worker::run() {
  std::vector<std::unique_ptr<Group>> resident;
  ts.allocs = launch.allocs.data();
  ts.numAllocs = u32(launch.allocs.size());
  ts.last = launch.allocs.data();
  ts.track = launch.config->trackMemory || launch.config->checks;
  uint64_t slots = launch.program->getNumSlots();
  if (!counts.map(alignTo(slots * 8, 4096)) ||
      (launch.config->profile && !profile.map(alignTo(slots * sizeof(ProfileCounts), 4096)))) {
    launch.report(0, "out of host memory for instruction counts");
    return;
  }
  ts.counts = reinterpret_cast<u64 *>(counts.data);
  ts.gws = launch.gws;
  const bool gfx950 = launch.chip->arch == "gfx950";
  if (launch.config->checks) {
    checker = std::make_unique<Checker>(*launch.program, launch.config->checks, gfx950,
                                        (launch.kernel->desc.rsrc3 >> 16) & 1);
    checker->setMemory(ts.allocs, ts.numAllocs);
  }
  if (launch.config->trace || launch.config->dump)
    observer = std::make_unique<Observer>(*launch.program, *launch.config, launch.kernel->module.base,
                                          launch.kernel->module.object, gfx950);
  if (launch.config->shuffle) {
    runShuffled();
    return;
  }
  auto startNext = [&]() -> bool {
    if (launch.failed.load(std::memory_order_relaxed))
      return false;
    uint64_t ordinal = launch.nextGroup.fetch_add(1);
    if (ordinal >= launch.numGroups)
      return false;
    std::unique_ptr<Group> g = take(ordinal);
    if (!g)
      return false;
    resident.push_back(std::move(g));
    return true;
  };
  bool more = startNext();
  // Every other turn is the oldest one's, so that long workgroups that wait for
  // nobody do not pile up.
  for (u64 turn = 0; !resident.empty(); ++turn) {
    size_t n = turn & 1 ? (turn / 2) % resident.size() : 0;
    Outcome outcome = advance(*resident[n]);
    if (outcome == Outcome::Unfinished) {
      // A later workgroup that failed ends the launch only when the earlier ones
      // are through; an endless one must not keep it.
      if (more && resident.size() < launch.maxResident)
        more = startNext();
      continue;
    }
    groups += outcome == Outcome::Finished;
    pool.push_back(std::move(resident[n]));
    resident.erase(resident.begin() + std::ptrdiff_t(n));
    if (resident.empty() && more)
      more = startNext();
  }
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

namespace {

class SimDevice : public Device {
public:
  SimDevice(const ChipInfo &c, unsigned j) : chip(c), jobs(j), state(std::make_shared<SharedState>()) {
    name = formatv("sim:{0}", c.name).str();
  }

  StringRef getName() const override { return name; }
  const ChipInfo &getChip() const override { return chip; }
  bool isSimulated() const override { return true; }
  Expected<std::unique_ptr<device::Module>> load(MemoryBufferRef codeObject) override;

  Expected<DevicePtr> allocate(uint64_t bytes, StringRef label) override {
    std::lock_guard<std::mutex> lock(state->mutex);
    return state->memory.allocate(bytes, label, /*tracked=*/true);
  }
  Error free(DevicePtr ptr) override {
    std::lock_guard<std::mutex> lock(state->mutex);
    return state->memory.free(ptr);
  }
  Error copyToDevice(DevicePtr dst, const void *src, uint64_t bytes) override {
    std::lock_guard<std::mutex> lock(state->mutex);
    if (Error e = state->memory.check(dst, bytes, "copy to the device"))
      return e;
    memcpy(reinterpret_cast<void *>(dst), src, bytes);
    state->memory.markInitialized(dst, bytes);
    return Error::success();
  }
  Error copyFromDevice(void *dst, DevicePtr src, uint64_t bytes) override {
    std::lock_guard<std::mutex> lock(state->mutex);
    if (Error e = state->memory.check(src, bytes, "copy from the device"))
      return e;
    memcpy(dst, reinterpret_cast<const void *>(src), bytes);
    return Error::success();
  }
  Error fill(DevicePtr dst, uint8_t value, uint64_t bytes) override {
    std::lock_guard<std::mutex> lock(state->mutex);
    if (Error e = state->memory.check(dst, bytes, "fill"))
      return e;
    fillPages(reinterpret_cast<uint8_t *>(dst), value, bytes);
    state->memory.markInitialized(dst, bytes);
    return Error::success();
  }
  Expected<LaunchResult> launch(const Kernel &kernel, const LaunchConfig &config) override;
  Expected<std::vector<ByteRange>> getWrittenRanges(DevicePtr ptr) override {
    std::lock_guard<std::mutex> lock(state->mutex);
    return state->memory.getWrittenRanges(ptr);
  }
  void clearTracking() override {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->memory.clearWritten();
  }

private:
  Error checkLaunch(const SimKernel &kernel, const LaunchConfig &config, Launch &l);
  std::vector<Finding> describeFindings(const Launch &l, ArrayRef<std::unique_ptr<Worker>> workers,
                                        uint64_t lastOrdinal, uint64_t &total);
  std::vector<InstructionProfile> collectProfile(const Launch &l, ArrayRef<std::unique_ptr<Worker>> workers);
  Error fillKernarg(const SimKernel &kernel, const LaunchConfig &config, Launch &l, uint64_t control,
                    uint64_t kernargBytes);

  const ChipInfo &chip;
  unsigned jobs;
  std::string name;
  std::shared_ptr<SharedState> state;
};

} // namespace

Expected<std::unique_ptr<device::Module>> SimDevice::load(MemoryBufferRef codeObject) {
  auto object = parseCodeObject(codeObject, chip.arch);
  if (!object)
    return object.takeError();
  // Declared before the lock, as it is taken again where the module is destroyed.
  auto module = std::make_unique<SimModule>(state);
  std::lock_guard<std::mutex> lock(state->mutex);
  module->object = std::move(*object);
  CodeObject &o = module->object;
  auto base = state->memory.allocate(o.image.size(), "code object", /*tracked=*/false, /*readOnly=*/false);
  if (!base)
    return base.takeError();
  module->base = *base;
  for (const CodeObject::Relocation &r : o.relocations) {
    uint64_t value = r.value + (r.addBase ? *base : 0);
    if (r.relative)
      value -= *base + r.offset;
    value >>= r.shift;
    uint8_t *p = o.image.data() + r.offset;
    if (r.bytes == 8)
      support::endian::write64le(p, value);
    else
      support::endian::write32le(p, uint32_t(value));
  }
  memcpy(reinterpret_cast<void *>(*base), o.image.data(), o.image.size());
  uint64_t codeBytes = (o.code.end - o.code.begin) & ~3ull;
  auto program = Program::create(chip, *base + o.code.begin, ArrayRef<uint8_t>(o.image).slice(o.code.begin, codeBytes));
  if (!program)
    return program.takeError();
  module->program = std::move(*program);
  for (KernelDesc &k : o.kernels) {
    module->kernels.push_back(std::make_unique<SimKernel>(std::move(k), *module));
    state->kernels.insert(module->kernels.back().get());
  }
  return std::move(module);
}

Error SimDevice::checkLaunch(const SimKernel &kernel, const LaunchConfig &config, Launch &l) {
  const KernelDesc &k = kernel.desc;
  uint64_t threads = 1;
  l.totalGroups = 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (!config.grid[d] || !config.workgroup[d])
      return makeError("kernel '{0}': grid and workgroup sizes must be at least 1", k.name);
    threads = std::min<uint64_t>(threads * config.workgroup[d], 1ull << 32);
    if (__builtin_mul_overflow(l.totalGroups, uint64_t(config.grid[d]), &l.totalGroups))
      return makeError("kernel '{0}': the grid has more than 2^64 workgroups", k.name);
    if (k.requiredWorkgroup[0] && config.workgroup[d] != k.requiredWorkgroup[d])
      return makeError("kernel '{0}' requires workgroups of {1}x{2}x{3}, got {4}x{5}x{6}", k.name,
                       k.requiredWorkgroup[0], k.requiredWorkgroup[1], k.requiredWorkgroup[2], config.workgroup[0],
                       config.workgroup[1], config.workgroup[2]);
  }
  if (threads > chip.maxWorkgroupSize)
    return makeError("kernel '{0}': workgroup of {1} work-items is larger than {2}", k.name, threads,
                     chip.maxWorkgroupSize);
  if (k.maxWorkgroupSize && threads > k.maxWorkgroupSize)
    return makeError("kernel '{0}' was compiled for workgroups of at most {1} work-items, got {2}", k.name,
                     k.maxWorkgroupSize, threads);
  uint64_t lds = uint64_t(k.resources.staticLdsBytes) + config.dynamicLdsBytes;
  if (lds > chip.ldsBytesPerCU)
    return makeError("kernel '{0}': {1} bytes of LDS exceed the {2} of {3}", k.name, lds, chip.ldsBytesPerCU,
                     chip.name);
  for (size_t n = 0; n < config.sample.size(); ++n) {
    if (config.sample[n] >= l.totalGroups)
      return makeError("kernel '{0}': sampled workgroup {1} is not in the grid of {2}", k.name, config.sample[n],
                       l.totalGroups);
    if (n && config.sample[n] <= config.sample[n - 1])
      return makeError("kernel '{0}': sampled workgroups must be ascending and unique", k.name);
  }
  if (config.checks & ~uint32_t(CheckAll))
    return makeError("kernel '{0}': unknown checks {1:x}", k.name, config.checks & ~uint32_t(CheckAll));
  if (config.dump && !config.dump->os)
    return makeError("kernel '{0}': the dump has no stream to go to", k.name);
  if (config.trace && !config.trace->os)
    return makeError("kernel '{0}': the trace has no stream to go to", k.name);
  l.numGroups = config.sample.empty() ? l.totalGroups : config.sample.size();
  if (l.numGroups >= sharedOwner)
    return makeError("kernel '{0}': {1} workgroups are too many to execute; choose a sample", k.name, l.numGroups);
  if (config.kernarg.size() > (1u << 20))
    return makeError("kernel '{0}': {1} bytes of arguments are too many", k.name, config.kernarg.size());
  l.threads = uint32_t(threads);
  l.numWaves = (l.threads + 63) / 64;
  // A filter that nothing can pass is a mistake.
  auto checkFilter = [&](const char *what, std::optional<uint64_t> group, std::optional<uint32_t> wave) -> Error {
    if (group && *group >= l.totalGroups)
      return makeError("kernel '{0}': the {1} asks for workgroup {2}, the grid has {3}", k.name, what, *group,
                       l.totalGroups);
    if (group && !config.sample.empty() && !llvm::is_contained(config.sample, *group))
      return makeError("kernel '{0}': the {1} asks for workgroup {2}, which is not in the sample", k.name, what,
                       *group);
    if (wave && *wave >= l.numWaves)
      return makeError("kernel '{0}': the {1} asks for wave {2}, a workgroup has {3}", k.name, what, *wave, l.numWaves);
    return Error::success();
  };
  if (config.trace) {
    if (Error e = checkFilter("trace", config.trace->workgroup, config.trace->wave))
      return e;
    if (const auto &range = config.trace->addresses; range && range->first > range->second)
      return makeError("kernel '{0}': the trace asks for addresses from {1:x} to {2:x}, which are none", k.name,
                       range->first, range->second);
  }
  if (config.dump)
    if (Error e = checkFilter("dump", config.dump->workgroup, config.dump->wave))
      return e;
  l.ldsRequested = uint32_t(lds);
  l.ldsBytes = uint32_t(alignTo(lds, chip.ldsGranule ? chip.ldsGranule : 512));
  l.scratchBytes = uint32_t(alignTo(k.resources.scratchBytesPerLane + (k.dynamicStack ? dynamicStackBytes : 0), 16));
  unsigned total = ((k.rsrc1 & 63) + 1) * 8, arch = ((k.rsrc3 & 63) + 1) * 4;
  l.vgprRows = std::min(256u, std::max(8u, std::min(total, arch)));
  l.agprRows = std::min(256u, total > arch ? total - arch : 0u);
  uint64_t groupBytes = l.ldsBytes + l.numWaves * (uint64_t(l.vgprRows + l.agprRows) * 256 + l.scratchBytes * 64ull);
  l.maxResident = size_t(std::clamp<uint64_t>(maxResidentBytes / groupBytes, 16, maxResidentGroups));
  return Error::success();
}

Error SimDevice::fillKernarg(const SimKernel &kernel, const LaunchConfig &config, Launch &l, uint64_t control,
                             uint64_t kernargBytes) {
  uint8_t *p = reinterpret_cast<uint8_t *>(control);
  l.dispatchPtr = control;
  l.queuePtr = control + 64;
  l.kernargPtr = control + 512;
  uint8_t *args = p + 512;
  if (!config.kernarg.empty())
    memcpy(args, config.kernarg.data(), config.kernarg.size());
  auto write = [&](const KernelArgInfo &a, uint64_t value) {
    for (uint32_t n = 0; n < std::min(a.size, 8u); ++n)
      args[a.offset + n] = uint8_t(value >> (8 * n));
  };
  unsigned dims = config.grid[2] > 1 || config.workgroup[2] > 1   ? 3
                  : config.grid[1] > 1 || config.workgroup[1] > 1 ? 2
                                                                  : 1;
  for (const KernelArgInfo &a : kernel.desc.args) {
    StringRef kind = a.valueKind;
    if (!kind.consume_front("hidden_") || uint64_t(a.offset) + a.size > kernargBytes)
      continue;
    unsigned d = kind.ends_with("_y") ? 1 : kind.ends_with("_z") ? 2 : 0;
    if (kind.starts_with("block_count_"))
      write(a, config.grid[d]);
    else if (kind.starts_with("group_size_"))
      write(a, config.workgroup[d]);
    else if (kind == "grid_dims")
      write(a, dims);
    else if (kind == "dynamic_lds_size")
      write(a, config.dynamicLdsBytes);
    else if (kind == "private_base")
      write(a, privateApertureHi);
    else if (kind == "shared_base")
      write(a, sharedApertureHi);
    else if (kind == "queue_ptr")
      write(a, l.queuePtr);
    else
      write(a, 0);
  }
  // AQL packet.
  support::endian::write16le(p, 2);
  support::endian::write16le(p + 2, uint16_t(dims));
  for (unsigned d = 0; d < 3; ++d) {
    support::endian::write16le(p + 4 + 2 * d, uint16_t(config.workgroup[d]));
    support::endian::write32le(p + 12 + 4 * d, uint32_t(uint64_t(config.grid[d]) * config.workgroup[d]));
  }
  support::endian::write32le(p + 24, l.scratchBytes);
  support::endian::write32le(p + 28, l.ldsBytes);
  support::endian::write64le(p + 32, kernel.module.base + kernel.desc.descriptor);
  support::endian::write64le(p + 40, l.kernargPtr);
  // The apertures, where the queue has them.
  support::endian::write32le(p + 64 + 0x40, sharedApertureHi);
  support::endian::write32le(p + 64 + 0x44, privateApertureHi);
  // Preloaded arguments.
  unsigned count = kernel.desc.preload & 0x7f, offset = kernel.desc.preload >> 7;
  for (unsigned n = 0; n < count && n < 32; ++n) {
    uint64_t at = (uint64_t(offset) + n) * 4;
    l.preloaded.push_back(at + 4 <= kernargBytes ? support::endian::read32le(args + at) : 0);
  }
  return Error::success();
}

/// "lanes 0-3, 7".
static std::string describeLanes(uint64_t mask) {
  if (!mask)
    return "the scalar unit";
  std::string text = popcount(mask) == 1 ? "lane " : "lanes ";
  for (unsigned pos = 0; pos < 64 && mask >> pos;) {
    unsigned first = pos + countr_zero(mask >> pos), count = countr_one(mask >> first);
    if (text.back() != ' ')
      text += ", ";
    text += count == 1 ? formatv("{0}", first).str() : formatv("{0}-{1}", first, first + count - 1).str();
    pos = first + count;
  }
  return text;
}

std::vector<Finding> SimDevice::describeFindings(const Launch &l, ArrayRef<std::unique_ptr<Worker>> workers,
                                                 uint64_t lastOrdinal, uint64_t &total) {
  std::vector<CheckRecord> sorted;
  for (const auto &w : workers)
    if (w->checker)
      for (CheckRecord &r : w->checker->log.take())
        if (r.ordinal <= lastOrdinal)
          sorted.push_back(std::move(r));
  llvm::sort(sorted, [](const CheckRecord &a, const CheckRecord &b) {
    return std::tie(a.ordinal, a.sequence) < std::tie(b.ordinal, b.sequence);
  });
  total = sorted.size();
  if (sorted.size() > maxFindings)
    sorted.resize(maxFindings);
  const SimModule &module = l.kernel->module;
  SourceLines lines(module.object);
  std::vector<Finding> findings;
  for (const CheckRecord &r : sorted) {
    Finding f;
    f.check = getCheckName(r.kind).str();
    f.instruction = l.program->getAddress(r.inst) - module.base;
    f.text = l.program->describe(r.inst);
    f.source = lines.lookup(f.instruction).str();
    uint64_t id = l.groupId(r.ordinal);
    const auto &grid = l.config->grid;
    f.workgroup = {uint32_t(id % grid[0]), uint32_t(id / grid[0] % grid[1]), uint32_t(id / grid[0] / grid[1])};
    f.wave = r.wave;
    f.lanes = r.lanes;
    f.address = r.address;
    f.bytes = r.bytes;
    f.occurrences = r.occurrences;
    std::string place, what = r.what;
    if (r.bytes) {
      f.where = r.lds ? std::string("LDS") : module.state->memory.describe(r.address);
      place = formatv("{0} bytes at {1}", r.bytes,
                      r.lds ? formatv("offset {0} of LDS", r.address).str()
                            : formatv("{0:x} ({1})", r.address, f.where).str())
                  .str();
    }
    if (r.kind == CheckUninit && what.empty())
      what = "read of " + place + " that nothing has written";
    else if (r.bytes)
      what = place + ": " + what;
    if (r.other) {
      f.otherInstruction = l.program->getAddress(r.other) - module.base;
      f.otherText = l.program->describe(r.other);
      f.otherSource = lines.lookup(f.otherInstruction).str();
    }
    f.message = formatv("kernel '{0}': {1}: {2}, by {3}; wave {4} of workgroup ({5}, {6}, {7}), instruction {8}",
                        l.kernel->getName(), f.check, what, describeLanes(r.lanes), r.wave, f.workgroup[0],
                        f.workgroup[1], f.workgroup[2], describeInstruction(*l.kernel, f.instruction, f.text, f.source))
                    .str();
    if (r.other && r.other != r.inst)
      f.message += "; the other " + describeInstruction(*l.kernel, f.otherInstruction, f.otherText, f.otherSource);
    if (f.occurrences > 1 && lastOrdinal == ~0ull)
      f.message += formatv(" ({0} times)", f.occurrences).str();
    findings.push_back(std::move(f));
  }
  return findings;
}

std::vector<InstructionProfile> SimDevice::collectProfile(const Launch &l, ArrayRef<std::unique_ptr<Worker>> workers) {
  const Inst *slots = l.program->getSlots();
  std::vector<bool> wanted(l.program->getDwords());
  for (const Inst *in : l.program->getReachable(l.entry))
    wanted[in->index] = true;
  for (const auto &w : workers)
    for (uint64_t s = 0; w->ts.counts && s < wanted.size(); ++s)
      if (w->ts.counts[s])
        wanted[s] = true;
  SourceLines lines(l.kernel->module.object);
  std::vector<InstructionProfile> profile;
  for (uint64_t s = 0; s < wanted.size(); ++s) {
    if (!wanted[s])
      continue;
    InstructionProfile p;
    p.address = l.program->getAddress(&slots[s]) - l.kernel->module.base;
    p.text = l.program->describe(&slots[s]);
    p.cls = InstClass(slots[s].cls);
    SourceLines::Location location = lines.lookup(p.address);
    p.file = std::move(location.file);
    p.line = location.line;
    for (const auto &w : workers) {
      if (!w->ts.counts || !w->profile.data)
        continue;
      const ProfileCounts &c = reinterpret_cast<const ProfileCounts *>(w->profile.data)[s];
      p.executions += w->ts.counts[s];
      p.activeLanes += isPerLane(p.cls) ? c.activeLanes : 0;
      p.loadBytes += c.loadBytes;
      p.storeBytes += c.storeBytes;
      p.ldsReadBytes += c.ldsReadBytes;
      p.ldsWriteBytes += c.ldsWriteBytes;
    }
    p.valuCycles = p.executions * slots[s].cycles;
    if (slots[s].matrix)
      p.matrixCycles = p.executions * slots[s].matrix->passes * 4;
    profile.push_back(std::move(p));
  }
  return profile;
}

Expected<LaunchResult> SimDevice::launch(const Kernel &k, const LaunchConfig &config) {
  std::lock_guard<std::mutex> lock(state->mutex);
  if (!state->kernels.count(&k))
    return makeError("the kernel does not belong to this device");
  const SimKernel &kernel = static_cast<const SimKernel &>(k);
  Launch l;
  if (Error e = checkLaunch(kernel, config, l))
    return std::move(e);
  l.kernel = &kernel;
  l.config = &config;
  l.chip = &chip;
  l.program = kernel.module.program.get();
  l.entry = l.program->decodeFrom(kernel.module.base + kernel.desc.entry);
  if (!l.entry)
    return makeError("kernel '{0}' has no valid entry", kernel.desc.name);
  // Loads of argument groups may read past the last argument.
  uint64_t kernargBytes = std::max<uint64_t>(config.kernarg.size(), kernel.desc.resources.kernargBytes);
  auto control = state->memory.allocate(512 + alignTo(kernargBytes, 64) + 256, "kernel arguments", /*tracked=*/false);
  if (!control)
    return control.takeError();
  if (Error e = fillKernarg(kernel, config, l, *control, alignTo(kernargBytes, 64) + 256)) {
    consumeError(state->memory.free(*control));
    return std::move(e);
  }
  // Memory for this launch, given back however it ends.
  struct Release {
    DeviceMemory &memory;
    std::vector<DevicePtr> list;
    ~Release() {
      for (DevicePtr p : list)
        consumeError(memory.free(p));
    }
  } release{state->memory, {*control}};
  if (kernel.desc.properties & 33 && l.scratchBytes) {
    l.scratchGroupBytes = uint64_t(l.scratchBytes) * 64 * l.numWaves;
    if (l.scratchGroupBytes > (1ull << 38) / l.numGroups)
      return makeError("kernel '{0}': {1} workgroups with {2} bytes of scratch each are too many to execute; choose a "
                       "sample",
                       kernel.desc.name, l.numGroups, l.scratchGroupBytes);
    auto scratch = state->memory.allocate(l.scratchGroupBytes * l.numGroups, "scratch", /*tracked=*/false);
    if (!scratch)
      return scratch.takeError();
    l.scratchPtr = *scratch;
    release.list.push_back(*scratch);
  }
  l.allocs = state->memory.snapshot();

  l.instrumented = config.profile || config.trace || config.dump || config.checks;
  if (!config.trackMemory && !config.checks)
    state->memory.assumeWritten();

  unsigned numWorkers = jobs ? jobs : std::max(1u, std::thread::hardware_concurrency());
  // What has been written when a workgroup reads depends on the order of the
  // workgroups, so the check keeps to one.
  if (config.trace || config.dump || config.checks || config.shuffle)
    numWorkers = 1;
  numWorkers = unsigned(std::min<uint64_t>(numWorkers, l.numGroups));
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned n = 0; n < numWorkers; ++n)
    workers.push_back(std::make_unique<Worker>(l));
  auto t0 = std::chrono::steady_clock::now();
  {
    std::vector<std::thread> threads;
    for (unsigned n = 1; n < numWorkers; ++n)
      threads.emplace_back([&workers, n] { workers[n]->run(); });
    workers[0]->run();
    for (std::thread &t : threads)
      t.join();
  }
  LaunchResult result;
  ExecutionStats &stats = result.stats;
  stats.hostSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
  stats.workgroupsTotal = l.totalGroups;
  const Inst *slots = l.program->getSlots();
  for (auto &w : workers) {
    stats.workgroupsExecuted += w->groups;
    stats.loadBytes += w->ts.loadBytes;
    stats.storeBytes += w->ts.storeBytes;
    stats.ldsReadBytes += w->ts.ldsReadBytes;
    stats.ldsWriteBytes += w->ts.ldsWriteBytes;
    if (!w->ts.counts)
      continue;
    for (uint64_t s = 0, e = l.program->getNumSlots(); s < e; ++s)
      if (u64 n = w->ts.counts[s]) {
        stats.instructions[slots[s].cls] += n;
        stats.valuCycles += n * slots[s].cycles;
        if (const MatrixOp *op = slots[s].matrix; op && op->info) {
          stats.matrixCycles += n * op->passes * 4;
          if (config.matrixArithmetic == MatrixArithmetic::Exact && isRoundingAssumed(*op->info, chip.arch))
            stats.matrixAssumed += n;
        }
      }
  }
  stats.wavesExecuted = stats.workgroupsExecuted * l.numWaves;
  if (config.trackMemory || config.checks)
    state->memory.collectLines(stats);
  if (config.profile)
    result.profile = collectProfile(l, workers);
  // Workgroups behind the one that failed may or may not have run.
  if (config.checks)
    result.findings = describeFindings(l, workers, l.error.empty() ? ~0ull : l.errorOrdinal, result.numFindings);
  std::string message = l.error;
  if (!message.empty())
    for (const Finding &f : result.findings)
      message += "\nfound before: " + f.message;
  if (!message.empty())
    return createStringError(inconvertibleErrorCode(), message);
  result.time = predictTime(chip, kernel.desc.resources, config, stats);
  return result;
}

Expected<std::unique_ptr<Device>> atrex::device::createSimDevice(const SimOptions &options) {
  const ChipInfo *chip = lookupChip(options.chip);
  if (!chip)
    return makeError("unknown chip '{0}'", options.chip);
  if (!chip->isAMDGPU())
    return makeError("chip '{0}' ({1}) cannot be simulated: it is not an AMD GPU of {2}", chip->name, chip->vendor,
                     getArchList());
  return std::make_unique<SimDevice>(*chip, options.jobs);
}
