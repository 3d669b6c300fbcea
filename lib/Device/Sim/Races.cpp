//===- Races.cpp - Accesses that nothing orders ---------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every dword of LDS and of tracked allocations has a shadow with its last
// writer and two readers. An access conflicts with one of another wave when one
// of them writes and nothing orders them. Order comes from barriers (accesses to
// LDS and by scalar memory must have been waited for in front of them), and from
// atomics and other accesses with scope bits (sc0, sc1, glc): such an access takes over what
// earlier ones to the same dword knew, and hands on what its wave knows.
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"
#include "lib/Device/Sim/Addresses.h"
#include "lib/Device/Sim/Checks.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <type_traits>

using namespace llvm;
using namespace atrex::device;
using namespace atrex::device::sim;

struct Checker::Touch {
  Wave &w;
  const Inst *in;
  GroupChecks &group;
  const MemAccess &a;
  bool lds, reads, writes, atomic, scalar;
  /// Event and key of the wave.
  u32 id, me;
  /// The newest event known to be ordered before, to save work.
  u32 okay = 0;
  /// The data that a store writes, dword by dword: registers and their number.
  const u32 *data = nullptr;
  u32 planes = 0;
  /// Dword of the lane's access that is being touched.
  u32 part = 0;
  /// By other instruction and kind of memory.
  struct Conflict {
    CheckRecord record;
    u32 id;
    bool byWrite;
  };
  SmallVector<Conflict, 1> conflicts = {};
  u32 numConflicts = 0;
  /// What a whole dword became of a cell without conflict: neighbours are alike.
  ShadowCell before = {}, after = {};
  bool known = false;
};

static u32 waveKey(u64 ordinal, u32 wave) { return u32(ordinal) * 16 + wave; }

Checker::Checker(Program &p, u32 k, bool gfx950, bool split)
    : program(p), kinds(k), programDwords(u32(p.getDwords())), isGfx950(gfx950), isSplit(split), effects(p, gfx950) {
  if (kinds & CheckUninit)
    undefined = std::make_unique<UndefTracker>(program, effects, log);
  if (!(kinds & CheckRace))
    return;
  void *m = mmap(nullptr, numEvents * sizeof(Event), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED)
    kinds &= ~u32(CheckRace);
  else
    events = static_cast<Event *>(m);
}

Checker::~Checker() {
  if (events)
    munmap(events, numEvents * sizeof(Event));
  for (Shadow &s : shadows)
    if (s.cells)
      munmap(s.cells, s.mapped);
}

void Checker::setMemory(const MemAlloc *allocs, u32 numAllocs) {
  if (!(kinds & CheckRace))
    return;
  for (u32 k = 0; k < numAllocs; ++k)
    if (allocs[k].written)
      shadows.push_back({allocs[k].base, allocs[k].size, nullptr, 0});
}

void Checker::start(GroupChecks &group, u64 ordinal, u32 waves) {
  group.ordinal = ordinal;
  group.sequence = 0;
  group.firstEvent = nextEvent;
  group.incoming.clear();
  group.undef.ldsUndefined = false;
  if (undefined)
    group.undef.waves.resize(waves);
  if (kinds & needsEffects) {
    group.waves.resize(waves);
    memset(static_cast<void *>(group.waves.data()), 0, waves * sizeof(WaveChecks));
  }
  group.clocks.clear();
  group.clocks.resize(waves);
  group.released.assign(waves, ClockBound());
  group.barrierEvent = 0;
}

/// What is complete of a wave.
ClockBound Checker::bound(const GroupChecks &group, u32 wave) const {
  const WaveChecks &c = group.waves[wave];
  ClockBound b = {nextEvent - 1, nextEvent - 1};
  if (c.vmIssued != c.vmDone)
    b.memory = c.vmEvents[(c.vmDone + 1) & 63] - 1;
  if (c.ldsIssued != c.ldsDone)
    b.lds = c.ldsEvents[(c.ldsDone + 1) & 15] - 1;
  if (c.flatIssued != c.flatVmDone)
    b.memory = std::min(b.memory, c.flatEvent - 1);
  if (c.flatIssued != c.flatLgkmDone)
    b.lds = std::min(b.lds, c.flatEvent - 1);
  return b;
}

void Checker::openBarrier(GroupChecks &group) {
  if (!(kinds & CheckRace))
    return;
  for (u32 n = 0; n < group.released.size(); ++n)
    group.released[n] = bound(group, n);
  group.barrierEvent = nextEvent - 1;
  Clock all;
  for (const Clock &c : group.clocks)
    all.join(c);
  if (!all.empty())
    for (Clock &c : group.clocks)
      c = all;
}

bool Checker::isOrdered(u32 id, bool lds, const Touch &x) {
  // Forgotten events count as ordered.
  if (nextEvent - id >= numEvents)
    return true;
  const Event &e = event(id);
  if (e.wave == x.me)
    return true;
  // LDS that global memory fills is complete when the vector memory counter
  // says so.
  bool byMemory = !lds || e.viaMemory;
  if (e.wave / 16 == x.me / 16) {
    // One CU performs the vector memory accesses of its waves in order, through
    // one cache: the memory model of LLVM has no wait in front of a barrier.
    if (!lds && !isSplit && !e.scalar && !x.scalar && id <= x.group.barrierEvent)
      return true;
    const ClockBound &b = x.group.released[e.wave % 16];
    if (id <= (byMemory ? b.memory : b.lds))
      return true;
  }
  const Clock &clock = x.group.clocks[x.w.waveInGroup];
  const ClockBound known = clock.get(e.wave);
  return id <= (byMemory ? known.memory : known.lds);
}

void Checker::conflict(u32 id, u64 address, u32 lane, bool byWrite, Touch &x) {
  const Event &e = event(id);
  if (x.atomic && e.atomic)
    return;
  // Two stores of the same value harm nobody.
  if (x.writes && byWrite && x.data && x.part < x.planes) {
    u32 now = 0, next = x.data[x.part * 64 + lane];
    u32 n = std::min<u32>(x.a.bytes, 4);
    memcpy(&now, x.lds ? x.w.lds + address : reinterpret_cast<const u8 *>(address), n);
    if (!memcmp(&now, &next, n))
      return;
  }
  ++x.numConflicts;
  const Inst *other = program.getSlots() + e.slot;
  u64 bit = lane == ~0u ? 0 : 1ull << lane;
  for (Touch::Conflict &c : x.conflicts)
    if (c.record.other == other && c.record.lds == x.lds) {
      c.record.lanes |= bit;
      return;
    }
  Touch::Conflict c{{}, id, byWrite};
  c.record.kind = CheckRace;
  c.record.inst = x.in;
  c.record.other = other;
  c.record.lds = x.lds;
  c.record.ordinal = x.group.ordinal;
  c.record.sequence = x.group.sequence++;
  c.record.wave = x.w.waveInGroup;
  c.record.lanes = bit;
  c.record.address = address;
  c.record.bytes = x.a.bytes;
  x.conflicts.push_back(std::move(c));
}

/// Logs what one instruction has met.
void Checker::logConflicts(Touch &x) {
  for (Touch::Conflict &c : x.conflicts) {
    const Event &e = event(c.id);
    bool same = e.wave / 16 == x.me / 16;
    log.add(std::move(c.record), [&] {
      std::string who = same ? formatv("wave {0} of the workgroup", e.wave % 16).str()
                             : formatv("wave {0} of workgroup #{1}", e.wave % 16, e.wave / 16).str();
      StringRef mine = x.atomic ? "atomic access to" : x.writes ? "write of" : "read of";
      StringRef theirs = e.atomic ? "accesses atomically" : c.byWrite ? "writes" : "reads";
      StringRef cure = same ? "no barrier behind a wait for the first access stands between them"
                            : "no atomic orders the two workgroups";
      return formatv("{0} what {1} {2} in parallel: {3}", mine, who, theirs, cure).str();
    });
  }
  x.conflicts.clear();
}

static bool isSame(const ShadowCell &a, const ShadowCell &b) {
  static_assert(sizeof(ShadowCell) == 16 && std::has_unique_object_representations_v<ShadowCell>);
  u64 x[2], y[2];
  memcpy(x, &a, 16);
  memcpy(y, &b, 16);
  return !((x[0] ^ y[0]) | (x[1] ^ y[1]));
}

/// Replaces leading cells that equal `before`; how many there are.
__attribute__((target_clones("avx512f", "avx2", "default"))) static u32
replaceRun(ShadowCell *cells, u32 n, const ShadowCell &before, const ShadowCell &after) {
  typedef u64 V8 __attribute__((vector_size(64), aligned(8), may_alias));
  u64 b[2], a[2];
  memcpy(b, &before, 16);
  memcpy(a, &after, 16);
  const V8 was = {b[0], b[1], b[0], b[1], b[0], b[1], b[0], b[1]};
  const V8 is = {a[0], a[1], a[0], a[1], a[0], a[1], a[0], a[1]};
  u32 k = 0;
  for (; k + 4 <= n; k += 4) {
    V8 *p = reinterpret_cast<V8 *>(cells + k);
    V8 d = *p ^ was;
    if ((d[0] | d[1]) | (d[2] | d[3]) | (d[4] | d[5]) | (d[6] | d[7]))
      break;
    *p = is;
  }
  while (k < n && isSame(cells[k], before))
    cells[k++] = after;
  return k;
}

/// Consecutive dwords of the lanes in turn.
void Checker::touchDense(ShadowCell *cells, u64 address, Touch &x) {
  for (u32 k = 0, n = 16 * x.a.bytes; k < n; ++k) {
    if (x.known) {
      const ShadowCell before = x.before, after = x.after;
      k += replaceRun(cells + k, n - k, before, after);
      if (k == n)
        return;
    }
    x.part = k % (x.a.bytes / 4);
    ShadowCell before = cells[k];
    u32 conflicts = x.numConflicts;
    touch(cells[k], 15, address + 4 * k, k / (x.a.bytes / 4), x);
    if (x.numConflicts == conflicts) {
      x.known = true;
      x.before = before;
      x.after = cells[k];
    }
  }
}

void Checker::touch(ShadowCell &cell, u8 bytes, u64 address, u32 lane, Touch &x) {
  // LDS of earlier workgroups.
  const u32 first = x.lds ? x.group.firstEvent : 1;
  auto bad = [&](u32 id) {
    if (id < first || id == x.okay)
      return false;
    if (id == x.id || isOrdered(id, x.lds, x)) {
      x.okay = id;
      return false;
    }
    return true;
  };
  if (cell.writer && cell.writerBytes & bytes && bad(cell.writer))
    conflict(cell.writer, address, lane, true, x);
  if (x.writes) {
    for (unsigned k = 0; k < 2; ++k) {
      if (!cell.readers[k])
        continue;
      bool overlap = cell.readerBytes[k] & bytes;
      if (overlap && cell.readers[k] != x.id && bad(cell.readers[k]))
        conflict(cell.readers[k], address, lane, false, x);
      if (overlap)
        cell.readers[k] = 0;
    }
    cell.writerBytes = u8(cell.writer == x.id ? cell.writerBytes | bytes : bytes);
    cell.writer = x.id;
  }
  if (x.reads && !x.writes) {
    for (unsigned k = 0; k < 2; ++k) {
      u32 r = cell.readers[k];
      if (r == x.id) {
        cell.readerBytes[k] |= bytes;
        return;
      }
      if (!r || !bad(r)) {
        cell.readers[k] = x.id;
        cell.readerBytes[k] = bytes;
        return;
      }
      if (event(r).wave == x.me)
        return;
    }
  }
}

ShadowCell *Checker::cellsFor(u64 addr) {
  if (!lastShadow || addr - lastShadow->base >= lastShadow->size) {
    auto it = llvm::upper_bound(shadows, addr, [](u64 a, const Shadow &s) { return a < s.base; });
    if (it == shadows.begin())
      return nullptr;
    --it;
    if (addr - it->base >= it->size)
      return nullptr;
    if (!it->cells) {
      it->mapped = (it->size / 4 + 20) * sizeof(ShadowCell);
      void *p = mmap(nullptr, it->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED)
        return nullptr;
      // Four bytes for one, touched for the first time: large pages save most of
      // the faults.
      madvise(p, it->mapped, MADV_HUGEPAGE);
      it->cells = static_cast<ShadowCell *>(p);
    }
    lastShadow = &*it;
  }
  return lastShadow->cells + (addr - lastShadow->base) / 4;
}

/// An access that orders waves.
void Checker::synchronize(Touch &x, u64 addr) {
  Clock &mine = x.group.clocks[x.w.waveInGroup];
  u64 key = x.lds ? (addr | u64(x.me / 16 + 1) << 20 | 1ull << 63) & ~3ull : addr & ~3ull;
  if (x.reads) {
    auto it = syncs.find(key);
    if (it != syncs.end())
      mine.join(it->second);
  }
  if (!x.writes)
    return;
  Clock &place = syncs[key];
  place.join(mine);
  auto put = [&](u32 wave, ClockBound b) { place.put(waveKey(x.group.ordinal, wave), b); };
  for (u32 n = 0; n < x.group.released.size(); ++n)
    if (n != x.w.waveInGroup && (x.group.released[n].memory || x.group.released[n].lds))
      put(n, x.group.released[n]);
  put(x.w.waveInGroup, bound(x.group, x.w.waveInGroup));
}

/// Lanes in front of `lane` that store something else to the same place.
void Checker::checkLanes(Touch &x, const u64 *addresses, u32 lane) {
  u32 size = std::min<u32>(x.a.bytes, 4);
  for (u64 m = getExec(x.w) & ((1ull << lane) - 1); m; m &= m - 1) {
    u32 other = u32(__builtin_ctzll(m));
    bool differ = false;
    for (u32 k = 0; k < x.planes && addresses[other] == addresses[lane]; ++k)
      differ |= memcmp(&x.data[k * 64 + lane], &x.data[k * 64 + other], size) != 0;
    if (!differ)
      continue;
    CheckRecord r;
    r.kind = CheckRace;
    r.inst = r.other = x.in;
    r.lds = x.lds;
    r.ordinal = x.group.ordinal;
    r.sequence = x.group.sequence++;
    r.wave = x.w.waveInGroup;
    r.lanes = 1ull << lane | 1ull << other;
    r.address = x.lds ? u32(addresses[lane]) : addresses[lane];
    r.bytes = x.a.bytes;
    log.add(std::move(r), [&] { return std::string("lanes of one store write different values to the same place"); });
    return;
  }
}

static u8 byteMask(u64 addr, u32 bytes) { return u8(((1u << std::min(bytes, 4u)) - 1) << (addr & 3)); }

void Checker::checkRace(Wave &w, const Inst *in, const MemAccess &a, GroupChecks &group, const LaneAddresses &acc) {
  if (a.kind == MemAccess::Scratch || LLVM_UNLIKELY(nextEvent == ~0u))
    return;
  Touch x{w,
          in,
          group,
          a,
          a.kind == MemAccess::LDS,
          a.reads && !(a.writes && a.swaps),
          a.writes,
          a.atomic,
          a.kind == MemAccess::Scalar || a.kind == MemAccess::ScalarBuffer,
          nextEvent,
          waveKey(group.ordinal, w.waveInGroup)};
  if (a.atomic)
    x.reads = true;
  // Scope bits make an access one that other waves may wait for.
  bool scoped = false;
  const bool scalar = x.scalar;
  if (!x.lds) {
    scoped = effects.get(in).flags & Effects::Scoped;
    // In an atomic, sc0 asks for the old value.
    if (scoped && !a.atomic)
      x.atomic = true;
  }
  const bool sync = x.atomic;
  event(nextEvent) = {in->index, x.me, x.atomic, (in->flags & FLds) != 0, scalar};
  bool stores = a.writes && !a.atomic;

  if (scalar) {
    u64 base = read64(w, in->src[0].reg), limit = ~0ull;
    u64 off = u64(i64(i32(in->imm))) + (in->flags & FSaddr ? w.s[in->src[1].reg] : 0u);
    if (a.kind == MemAccess::ScalarBuffer) {
      const u32 *rsrc = &w.s[in->src[0].reg];
      u64 stride = (rsrc[1] >> 16) & 0x3fffu;
      limit = rsrc[2] * (stride ? stride : 1);
      base &= 0xfffffffffffcull;
    }
    for (u32 k = 0; k < a.bytes / 4u; ++k) {
      u64 o = off + 4 * k, addr = (base + o) & ~3ull;
      if (a.kind == MemAccess::ScalarBuffer && (i64(off) < 0 || o + 4 > limit))
        continue;
      if (sync)
        synchronize(x, addr);
      if (ShadowCell *cell = cellsFor(addr))
        touch(*cell, 15, addr, ~0u, x);
    }
    logConflicts(x);
    ++nextEvent;
    return;
  }

  const u64 exec = getExec(w);
  u64 ldsAddresses[64];
  const u64 *addresses = ldsAddresses;
  auto lane = [&](u32 i, u64 addr, u32 bytes, bool lds) {
    x.known = x.known && x.lds == lds;
    x.lds = lds;
    if (lds && addr + bytes > w.ldsBytes)
      return;
    if (sync)
      synchronize(x, addr);
    ShadowCell *cell = lds ? group.ldsCells + addr / 4 : cellsFor(addr);
    if (!cell)
      return;
    for (u64 at = addr, end = addr + bytes; at < end; ++cell) {
      u32 n = u32(std::min<u64>(4 - (at & 3), end - at));
      if (LIKELY(n == 4 && x.known && isSame(*cell, x.before))) {
        *cell = x.after;
        at += 4;
        continue;
      }
      x.part = u32((at - addr) / 4);
      if (stores && x.data && cell->writer == x.id && cell->writerBytes & byteMask(at, n))
        checkLanes(x, addresses, i);
      ShadowCell before = *cell;
      u32 conflicts = x.numConflicts;
      touch(*cell, byteMask(at, n), at, i, x);
      // Not where lanes of one store meet.
      if (n == 4 && x.numConflicts == conflicts && before.writer != x.id) {
        x.known = true;
        x.before = before;
        x.after = *cell;
      }
      at += n;
    }
  };

  const u32 bytes = getAccessBytes(w, in, a);
  if (!bytes)
    return;
  if (a.kind == MemAccess::LDS) {
    const LdsPlaces &places = acc.places;
    const u32 *addr = acc.offsets;
    const u64 *offsets = places.offsets;
    const u32 count = places.count;
    for (u32 k = 0; k < count; ++k) {
      x.data = stores ? w.v + in->src[1 + k].reg : nullptr;
      x.planes = bytes < 4 ? 1 : bytes / 4;
      if (StringRef(in->def->name).ends_with("_hi"))
        x.data = nullptr;
      u64 first = u64(addr[0]) + offsets[k];
      if (acc.dense && !sync && !((first | bytes) & 3) && first + 64 * bytes <= w.ldsBytes) {
        touchDense(group.ldsCells + first / 4, first, x);
        continue;
      }
      for (u64 m = places.mask; m; m &= m - 1) {
        u32 i = u32(__builtin_ctzll(m));
        ldsAddresses[i] = places.at(k, i);
        lane(i, ldsAddresses[i], bytes, true);
      }
    }
    logConflicts(x);
    ++nextEvent;
    return;
  }
  const u64 end = acc.end;
  u64 mask = acc.mask;
  if (stores) {
    // What formats convert has no data to compare.
    x.data = a.isFormat || StringRef(in->def->name).ends_with("_hi") ? nullptr : w.v + in->src[2].reg;
    x.planes = bytes < 4 ? 1 : bytes / 4;
  }
  addresses = acc.addr;
  if (acc.dense && !acc.special && !sync && !((acc.addr[0] | bytes) & 3) && end == ~0ull && x.reads != x.writes) {
    ShadowCell *cells = cellsFor(acc.addr[0]);
    if (cells && acc.addr[0] + 64 * bytes - lastShadow->base <= lastShadow->size) {
      touchDense(cells, acc.addr[0], x);
      mask = 0;
    }
  }
  for (u64 m = mask; m; m &= m - 1) {
    u32 i = u32(__builtin_ctzll(m));
    u64 addr = acc.addr[i];
    u32 hi = u32(addr >> 32);
    if (a.kind == MemAccess::Flat && hi == privateApertureHi)
      continue;
    if (a.kind == MemAccess::Flat && hi == sharedApertureHi) {
      lane(i, u32(addr), bytes, true);
      continue;
    }
    u64 inside = end - addr;
    u32 n = inside < bytes ? u32(inside & ~3ull) : bytes;
    if (n)
      lane(i, addr, n, false);
  }
  // Before the kind of access changes.
  logConflicts(x);
  if (in->flags & FLds && a.reads && !a.writes) {
    u32 n = bytes < 4 ? 4 : bytes;
    x.reads = x.known = false;
    x.writes = true;
    for (u64 m = exec; m; m &= m - 1) {
      u32 i = u32(__builtin_ctzll(m));
      lane(i, getLdsDestination(w, in, a, n, i), n, true);
    }
    logConflicts(x);
  }
  ++nextEvent;
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

void Checker::checkAlign(Wave &w, const Inst *in, const MemAccess &a, GroupChecks &group, const LaneAddresses &acc) {
  auto add = [&](u64 lanes, u64 address, bool lds, const char *what) {
    CheckRecord r;
    r.kind = CheckAlign;
    r.inst = in;
    r.lds = lds;
    r.ordinal = group.ordinal;
    r.sequence = group.sequence++;
    r.wave = w.waveInGroup;
    r.lanes = lanes;
    r.address = address;
    r.bytes = a.bytes;
    log.add(std::move(r), [&] { return std::string(what); });
  };
  if (a.kind == MemAccess::Scalar || a.kind == MemAccess::ScalarBuffer) {
    u64 addr = read64(w, in->src[0].reg);
    u64 off = u64(i64(i32(in->imm))) + (in->flags & FSaddr ? w.s[in->src[1].reg] : 0u);
    bool bad = a.kind == MemAccess::Scalar ? (addr + off) & 3 : (addr | off) & 3;
    if (bad)
      add(0, addr + off, false, "scalar memory ignores the two low bits of the address");
    return;
  }
  // An element of a format is aligned as its components, which may be bytes.
  const u32 unit = std::min<u32>(a.bytes, 4) - 1;
  if (!unit || a.kind == MemAccess::Scratch || a.isFormat)
    return;
  u64 bad = 0, first = 0;
  auto see = [&](u32 lane, u64 addr) {
    if (addr & unit) {
      first = bad ? first : addr;
      bad |= 1ull << lane;
    }
  };
  if (a.kind == MemAccess::LDS) {
    const u64 off = a.offsetScale ? 0 : acc.places.offsets[0];
    for (u64 m = (acc.bits | off) & unit ? acc.mask : 0; m; m &= m - 1)
      see(u32(__builtin_ctzll(m)), u32(acc.offsets[__builtin_ctzll(m)] + off));
  } else {
    for (u64 m = acc.bits & unit ? acc.mask : 0; m; m &= m - 1)
      see(u32(__builtin_ctzll(m)), acc.addr[__builtin_ctzll(m)]);
  }
  if (bad)
    add(bad, first, a.kind == MemAccess::LDS, "misaligned access: slower, and wrong where unaligned access is off");
}

void Checker::checkMemory(Wave &w, const Inst *in, GroupChecks &group) {
  const MemAccess *a = effects.get(in).access;
  if (!a || (LLVM_UNLIKELY(w.mode >> 28 & 1) && in->cls != CSMEM))
    return;
  const u32 bytes = getAccessBytes(w, in, *a);
  if (a->kind != MemAccess::Scalar && a->kind != MemAccess::ScalarBuffer &&
      kinds & (CheckOob | CheckUninit | CheckAlign | CheckRace))
    locate(w, in, *a, bytes, where);
  if (kinds & CheckOob)
    checkLdsBounds(w, in, *a, group, where);
  if (kinds & CheckUninit)
    checkUninit(w, in, *a, group, where);
  if (kinds & CheckAlign)
    checkAlign(w, in, *a, group, where);
  if (kinds & CheckRace)
    checkRace(w, in, *a, group, where);
}
