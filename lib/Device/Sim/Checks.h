//===- Checks.h - Checks of executed instructions ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks run in front of the handler of an instruction, in a dispatch loop of
// their own: handlers do not know of them. A launch with checks uses one host
// thread.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_CHECKS_H
#define ATREX_LIB_DEVICE_SIM_CHECKS_H

#include "lib/Device/Sim/Clocks.h"
#include "lib/Device/Sim/Core.h"
#include "lib/Device/Sim/Effects.h"
#include "lib/Device/Sim/Undefined.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace atrex::device::sim {

/// How an instruction accesses memory.
struct MemAccess {
  enum Kind : u8 { Flat, Global, Scratch, Buffer, Scalar, ScalarBuffer, LDS } kind = Global;
  u8 bytes = 0;
  /// ds_read2 and the like: bytes that one unit of their two offsets stands for.
  u16 offsetScale = 0;
  bool reads = false, writes = false;
  /// Reads only when it returns the old value.
  bool swaps = false;
  bool atomic = false;
  /// ds_append and the like: M0 is the address; `perLane` adds four bytes for each
  /// lane, otherwise one access stands for all lanes.
  bool byM0 = false, perLane = false;
  /// The data format decides on the bytes: see getAccessBytes.
  bool isFormat = false;
};

/// Bytes of one lane's access.
inline u32 getAccessBytes(const Wave &w, const Inst *in, const MemAccess &a) {
  return a.isFormat ? getFormatBytes(w, in) : a.bytes;
}

/// Where the lanes of an LDS instruction go: one or two places each.
struct LdsPlaces {
  u32 count = 1;
  u64 mask = 0;
  /// Not null: offsets of the lanes.
  const u32 *addr = nullptr;
  u32 stride = 0;
  u64 offsets[2] = {};
  /// An offset of LDS; sums with addresses wrap around at 32 bits.
  u64 at(u32 place, u32 lane) const {
    return addr ? u64(u32(addr[lane] + offsets[place])) : u64(lane) * stride + offsets[place];
  }
};
LdsPlaces getLdsPlaces(const Wave &w, const Inst *in, const MemAccess &a);
/// Where a load into LDS puts a lane's element of `bytes` bytes.
u64 getLdsDestination(const Wave &w, const Inst *in, const MemAccess &a, u32 bytes, u32 lane);

/// The addresses of one vector memory or LDS instruction, computed once for all
/// checks.
struct LaneAddresses {
  u64 addr[64];
  /// Lanes that touch memory.
  u64 mask;
  /// FLAT: some lane points into an aperture.
  bool special;
  /// All 64 lanes touch one gapless ascending range.
  bool dense;
  /// Smallest and largest address of those lanes (LDS: without the instruction's
  /// offsets), and all of them or-ed.
  u64 lo, hi, bits;
  /// End of a buffer that ends inside of an access, otherwise the largest number.
  u64 end;
  LdsPlaces places;
  /// LDS: the addresses again, as the registers or M0 have them.
  const u32 *offsets;
  u32 m0Offsets[64];
};
void locate(Wave &w, const Inst *in, const MemAccess &a, u32 bytes, LaneAddresses &where);

/// From the mnemonic; nullopt when the instruction accesses no memory.
std::optional<MemAccess> getMemAccess(llvm::StringRef mnemonic);
/// The same for a decoded instruction, nullptr when it accesses none.
const MemAccess *getMemAccess(const Inst *in);

/// The first execution with a finding, and how many there are.
struct CheckRecord {
  /// A bit of CheckKind.
  u32 kind = 0;
  const Inst *inst = nullptr;
  /// The other instruction that takes part, or nullptr.
  const Inst *other = nullptr;
  bool lds = false;
  /// Order: ordinal of the workgroup, then position in its execution.
  u64 ordinal = 0, sequence = 0;
  u32 wave = 0;
  /// 0 for the scalar unit.
  u64 lanes = 0;
  u64 address = 0;
  u32 bytes = 0;
  u64 occurrences = 1;
  /// What is wrong; empty where kind, address and lanes say it.
  std::string what;
};

/// One record per kind, instruction, other instruction and kind of memory.
class FindingLog {
public:
  void add(CheckRecord r, llvm::function_ref<std::string()> what = nullptr);
  std::vector<CheckRecord> take();

private:
  std::map<std::tuple<u32, u32, u32, bool>, CheckRecord> records;
};

/// State of one wave.
struct WaveChecks {
  // Wait counts. Numbers of the instructions issued and known to be complete, by
  // queue: vector memory and LDS complete in order, scalar memory and FLAT only
  // when their counters are seen at zero.
  u32 vmIssued, vmDone, ldsIssued, ldsDone, smemIssued, smemDone;
  u32 flatIssued, flatVmDone, flatLgkmDone;
  /// Per register: the queue (3 bits) and number of the load that is to write it.
  u32 pending[numRegisters];
  /// Slot of that load.
  u32 pendingSlot[numRegisters];

  // Hazards.
  struct Recent {
    const Effects *effects;
    const Inst *inst;
    u32 time;
  };
  static constexpr u32 numRecent = 8, numMatrix = 32;
  Recent recent[numRecent], matrix[numMatrix];
  u32 recentCount, matrixCount;
  /// Wait states since the start.
  u32 now;
  u32 lastDot, lastMatrix;

  // Races. Events of the instructions in flight.
  u32 vmEvents[64], ldsEvents[16], flatEvent;

  bool isBusy() const {
    return vmIssued != vmDone || ldsIssued != ldsDone || smemIssued != smemDone || flatIssued != flatVmDone ||
           flatIssued != flatLgkmDone;
  }
};

/// A dword of shadow memory: its last writer and two readers of different waves,
/// as events, and which of the four bytes they touched.
struct ShadowCell {
  u32 writer, readers[2];
  u8 writerBytes, readerBytes[2], unused;
};

/// State of one workgroup.
struct GroupChecks {
  u64 ordinal = 0;
  u64 sequence = 0;
  /// LDS that the kernel asked for; what is allocated may be more.
  u32 ldsBytes = 0;
  GroupUndef undef;
  /// An LdsByte per byte of LDS.
  u8 *ldsWritten = nullptr;
  /// A cell per dword of LDS. Events before `firstEvent` belong to earlier
  /// workgroups.
  ShadowCell *ldsCells = nullptr;
  u32 firstEvent = 0;
  std::vector<WaveChecks> waves;
  std::vector<Clock> clocks;
  /// By wave: events that a barrier has made known to the whole workgroup.
  std::vector<ClockBound> released;
  /// The newest event in front of the last barrier.
  u32 barrierEvent = 0;
  /// Bytes of LDS that global memory is to write.
  struct Incoming {
    u32 wave, number;
    u64 begin, end;
    const Inst *inst;
  };
  std::vector<Incoming> incoming;
};

/// All checks of one host thread.
class Checker {
public:
  /// `isSplit`: waves of a workgroup may run on different CUs (TgSplit).
  Checker(Program &program, u32 kinds, bool isGfx950, bool isSplit);
  ~Checker();

  /// `lastAlloc` and the like of the launch.
  void setMemory(const MemAlloc *allocs, u32 numAllocs);
  void start(GroupChecks &group, u64 ordinal, u32 waves);
  /// The registers of a wave when it starts: v0 and these scalars are defined.
  void startWave(GroupChecks &group, u32 wave, u32 definedScalars) {
    if (undefined)
      undefined->start(group.undef.waves[wave], group.undef.rows + wave * (UndefTracker::rowBytesPerWave / 4),
                       definedScalars);
  }
  /// To be called before `in` executes.
  void check(Wave &w, const Inst *in, GroupChecks &group) {
    if (in->index >= programDwords)
      return;
    if (kinds & needsEffects)
      checkEffects(w, in, group);
    if (in->cls >= CSMEM && in->cls <= CLDS && in->def)
      checkMemory(w, in, group);
    if (undefined)
      undefined->check(w, in, group);
  }
  /// When the waves of a workgroup leave a barrier.
  void openBarrier(GroupChecks &group);

  FindingLog log;

private:
  static constexpr u32 needsEffects = 2 | 4 | 8;
  void checkMemory(Wave &w, const Inst *in, GroupChecks &group);
  void checkUninit(Wave &w, const Inst *in, const MemAccess &a, GroupChecks &group, const LaneAddresses &acc);
  void checkEffects(Wave &w, const Inst *in, GroupChecks &group);
  void checkWait(Wave &w, const Inst *in, const Effects &e, GroupChecks &group);
  void checkHazard(Wave &w, const Inst *in, const Effects &e, GroupChecks &group);
  void checkRace(Wave &w, const Inst *in, const MemAccess &a, GroupChecks &group, const LaneAddresses &acc);
  void checkAlign(Wave &w, const Inst *in, const MemAccess &a, GroupChecks &group, const LaneAddresses &acc);
  void checkLdsBounds(Wave &w, const Inst *in, const MemAccess &a, GroupChecks &group, const LaneAddresses &acc);
  void addHazard(Wave &w, const Inst *in, GroupChecks &group, const WaveChecks::Recent &p, u32 have, u32 need,
                 const RegRange &r, const char *rule);
  void checkMatrix(Wave &w, const Inst *in, const Effects &e, GroupChecks &group);

  // Races.
  struct Event {
    u32 slot, wave;
    bool atomic, viaMemory, scalar;
  };
  struct Shadow {
    u64 base, size;
    ShadowCell *cells;
    u64 mapped;
  };
  /// State while one instruction is checked.
  struct Touch;
  Event &event(u32 id) { return events[id & (numEvents - 1)]; }
  bool isOrdered(u32 id, bool lds, const Touch &x);
  void touch(ShadowCell &cell, u8 bytes, u64 address, u32 lane, Touch &x);
  void conflict(u32 id, u64 address, u32 lane, bool byWrite, Touch &x);
  void logConflicts(Touch &x);
  void touchDense(ShadowCell *cells, u64 address, Touch &x);
  ShadowCell *cellsFor(u64 addr);
  void synchronize(Touch &x, u64 addr);
  void checkLanes(Touch &x, const u64 *addresses, u32 lane);
  ClockBound bound(const GroupChecks &group, u32 wave) const;

  static constexpr u32 numEvents = 1u << 22;
  Program &program;
  u32 kinds;
  u32 programDwords;
  bool isGfx950;
  /// See the constructor.
  bool isSplit;
  EffectsTable effects;
  LaneAddresses where;
  std::unique_ptr<UndefTracker> undefined;
  /// A ring; untouched pages cost nothing.
  Event *events = nullptr;
  u32 nextEvent = 1;
  std::vector<Shadow> shadows;
  const Shadow *lastShadow = nullptr;
  llvm::DenseMap<u64, Clock> syncs;
};

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_CHECKS_H
