//===- Checks.cpp - Checks of executed instructions -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Checks.h"
#include "atrex/Device/Device.h"
#include "lib/Device/Sim/Addresses.h"
#include "lib/Device/Sim/Decoder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace atrex::device;
using namespace atrex::device::sim;

//===----------------------------------------------------------------------===//
// What an instruction accesses
//===----------------------------------------------------------------------===//

/// Bytes of "dwordx2", "ubyte_d16_hi", "b64", ...; 0 when unknown.
static u8 parseWidth(StringRef text) {
  text = text.split('_').first;
  return StringSwitch<u8>(text)
      .Cases({"ubyte", "sbyte", "byte", "u8", "i8", "b8"}, 1)
      .Cases({"ushort", "sshort", "short", "u16", "i16", "b16"}, 2)
      .Cases({"dword", "b32"}, 4)
      .Cases({"dwordx2", "b64"}, 8)
      .Cases({"dwordx3", "b96"}, 12)
      .Cases({"dwordx4", "b128"}, 16)
      .Case("dwordx8", 32)
      .Case("dwordx16", 64)
      .Default(0);
}

std::optional<MemAccess> atrex::device::sim::getMemAccess(StringRef name) {
  MemAccess a;
  if (name.consume_front("ds_")) {
    a.kind = MemAccess::LDS;
    if (name == "nop" || name.starts_with("swizzle") || name.starts_with("permute") || name.starts_with("bpermute"))
      return std::nullopt;
    // No LDS at all.
    if (name.starts_with("gws_"))
      return std::nullopt;
    if (name.contains("addtid")) {
      a.byM0 = a.perLane = true;
      a.reads = name.starts_with("read");
      a.writes = !a.reads;
      a.bytes = 4;
      return a;
    }
    if (name == "append" || name == "consume") {
      a.byM0 = a.reads = a.writes = a.atomic = true;
      a.bytes = 4;
      return a;
    }
    bool read = name.consume_front("read"), write = !read && name.consume_front("write");
    if (!read && !write) {
      a.reads = a.writes = a.atomic = true;
      a.bytes = name.ends_with("64") ? 8 : 4;
      if (name.starts_with("wrxchg2"))
        a.offsetScale = u16(a.bytes * (name.starts_with("wrxchg2st64") ? 64 : 1));
      return a;
    }
    a.reads = read;
    a.writes = write;
    unsigned scale = name.consume_front("2st64_") ? 64 : name.consume_front("2_") ? 1 : 0;
    if (!scale)
      name.consume_front("_");
    a.bytes = parseWidth(name);
    a.offsetScale = u16(scale * a.bytes);
  } else {
    if (name.consume_front("flat_"))
      a.kind = MemAccess::Flat;
    else if (name.consume_front("global_"))
      a.kind = MemAccess::Global;
    else if (name.consume_front("scratch_"))
      a.kind = MemAccess::Scratch;
    else if (name.consume_front("buffer_") || name.consume_front("tbuffer_"))
      a.kind = MemAccess::Buffer;
    else if (name.consume_front("s_buffer_"))
      a.kind = MemAccess::ScalarBuffer;
    else if (name.consume_front("s_"))
      a.kind = MemAccess::Scalar;
    else
      return std::nullopt;
    if (name.consume_front("atomic_")) {
      a.reads = a.writes = a.atomic = true;
      a.swaps = name.starts_with("swap");
      a.bytes = name.ends_with("_x2") || name.ends_with("_f64") ? 8 : 4;
      return a;
    }
    a.reads = name.consume_front("load_");
    a.writes = !a.reads && name.consume_front("store_");
    name.consume_front("lds_");
    if (a.kind == MemAccess::Buffer && (a.reads || a.writes) && name.starts_with("format_")) {
      a.isFormat = true;
      a.bytes = 4;
      return a;
    }
    if (a.reads || a.writes)
      a.bytes = parseWidth(name);
  }
  return a.bytes ? std::optional<MemAccess>(a) : std::nullopt;
}

/// By row of the handler tables.
static const DenseMap<const OpDef *, MemAccess> &getAccesses() {
  static const DenseMap<const OpDef *, MemAccess> accesses = [] {
    DenseMap<const OpDef *, MemAccess> map;
    for (const auto &entry : getHandlers())
      if (auto access = getMemAccess(entry.getKey()))
        map[entry.getValue()] = *access;
    return map;
  }();
  return accesses;
}

//===----------------------------------------------------------------------===//
// Reads of what nothing has written
//===----------------------------------------------------------------------===//

/// True when some byte of a range inside one allocation was never written. What
/// lies outside is not for this check.
static bool isUninit(Wave &w, u64 addr, u64 bytes) {
  const MemAlloc *a = findAlloc(*w.ts, addr, bytes);
  if (!a || !a->written || a->allWritten)
    return false;
  u64 off = addr - a->base, end = off + bytes;
  for (u64 word = off >> 6; word <= (end - 1) >> 6; ++word) {
    u64 first = word << 6, from = off > first ? off - first : 0, to = std::min<u64>(end - first, 64);
    u64 bits = (to - from == 64 ? ~0ull : ((1ull << (to - from)) - 1)) << from;
    u64 have = __atomic_load_n(&a->written[word], __ATOMIC_RELAXED) | a->initialized[word];
    if (LLVM_UNLIKELY((have & bits) != bits) && !a->initializedBlocks[word >> 9])
      return true;
  }
  return false;
}

namespace {
/// The lanes of one instruction that read what was never written.
struct Lanes {
  u64 mask = 0, address = 0;
  u32 bytes = 0;
  void add(u32 lane, u64 addr, u32 n) {
    if (!mask) {
      address = addr;
      bytes = n;
    }
    mask |= 1ull << lane;
  }
};
} // namespace

void FindingLog::add(CheckRecord r, function_ref<std::string()> what) {
  auto [it, added] = records.try_emplace({r.kind, r.inst->index, r.other ? r.other->index : ~0u, r.lds}, CheckRecord());
  CheckRecord &first = it->second;
  r.occurrences = added ? 1 : first.occurrences + 1;
  if (!added && std::tie(first.ordinal, first.sequence) <= std::tie(r.ordinal, r.sequence)) {
    first.occurrences = r.occurrences;
    return;
  }
  if (what)
    r.what = what();
  first = std::move(r);
}

std::vector<CheckRecord> FindingLog::take() {
  std::vector<CheckRecord> all;
  for (auto &[key, r] : records)
    all.push_back(std::move(r));
  records.clear();
  return all;
}

const MemAccess *atrex::device::sim::getMemAccess(const Inst *in) {
  auto it = getAccesses().find(in->def);
  return it == getAccesses().end() ? nullptr : &it->second;
}

LdsPlaces atrex::device::sim::getLdsPlaces(const Wave &w, const Inst *in, const MemAccess &a) {
  LdsPlaces p;
  p.mask = getExec(w);
  if (a.byM0) {
    p.offsets[0] = u64(a.perLane ? w.s[regM0] & 0xffffu : w.s[regM0]) + (in->imm & 0xffffu);
    p.stride = a.perLane ? 4 : 0;
    if (!a.perLane)
      p.mask &= 0 - p.mask;
    return p;
  }
  p.addr = w.v + in->src[0].reg;
  p.offsets[0] = in->imm & 0xffffu;
  if (a.offsetScale) {
    p.count = 2;
    p.offsets[0] = (in->imm & 0xffu) * a.offsetScale;
    p.offsets[1] = ((in->imm >> 8) & 0xffu) * a.offsetScale;
  }
  return p;
}

void Checker::checkUninit(Wave &w, const Inst *in, const MemAccess &a, GroupChecks &group, const LaneAddresses &acc) {
  auto add = [&](bool inLds, u64 lanes, u64 address, u32 n) {
    CheckRecord r;
    r.kind = CheckUninit;
    r.inst = in;
    r.lds = inLds;
    r.ordinal = group.ordinal;
    r.sequence = group.sequence++;
    r.wave = w.waveInGroup;
    r.lanes = lanes;
    r.address = address;
    r.bytes = n;
    log.add(std::move(r));
  };
  const u32 bytes = getAccessBytes(w, in, a);
  if (!bytes)
    return;
  const bool reads = a.reads && (!a.swaps || in->flags & FReturn);
  Lanes memory, lds;
  auto readLDS = [&](u32 lane, u64 off, u32 n) {
    if (off + n > w.ldsBytes || !memchr(group.ldsWritten + off, LdsNever, n))
      return;
    u8 *at = group.ldsWritten + off;
    if (std::all_of(at, at + n, [](u8 byte) { return byte == LdsNever; })) {
      lds.add(lane, off, n);
      return;
    }
    // Compilers widen loads that they know to stay inside of an allocation: the use of the rest counts.
    std::replace(at, at + n, u8(LdsNever), u8(LdsUndefined));
    group.undef.ldsUndefined = true;
  };
  auto writeLDS = [&](u64 off, u32 n) {
    if (off + n <= w.ldsBytes)
      memset(group.ldsWritten + off, 1, n);
  };

  // Scalar unit.
  if (a.kind == MemAccess::Scalar || a.kind == MemAccess::ScalarBuffer) {
    if (!reads)
      return;
    u64 base = read64(w, in->src[0].reg), limit = ~0ull;
    u64 off = u64(i64(i32(in->imm))) + (in->flags & FSaddr ? w.s[in->src[1].reg] : 0u);
    if (a.kind == MemAccess::ScalarBuffer) {
      const u32 *rsrc = &w.s[in->src[0].reg];
      u64 stride = (rsrc[1] >> 16) & 0x3fffu;
      limit = rsrc[2] * (stride ? stride : 1);
      base &= 0xfffffffffffcull;
      off &= ~3ull;
      if (i64(off) < 0)
        return;
    } else {
      base = (base + off) & ~3ull;
      off = 0;
    }
    for (u32 k = 0; k < bytes / 4u; ++k) {
      u64 o = off + 4 * k;
      if (o + 4 <= limit && isUninit(w, base + o, 4)) {
        add(false, 0, base + o, 4);
        return;
      }
    }
    return;
  }

  u64 exec = getExec(w);
  if (a.kind == MemAccess::LDS) {
    const LdsPlaces &places = acc.places;
    exec = places.mask;
    const u64 *offsets = places.offsets;
    const u32 count = places.count;
    // The common cases at once: everything written, or dense writes.
    const u64 lo = acc.lo, hi = acc.hi;
    if (exec && reads && !a.writes) {
      bool all = true;
      for (u32 k = 0; k < count && all; ++k)
        all = hi + offsets[k] + bytes <= w.ldsBytes && !memchr(group.ldsWritten + lo + offsets[k], 0, hi - lo + bytes);
      if (all)
        return;
    }
    if (!reads && acc.dense) {
      bool all = true;
      for (u32 k = 0; k < count; ++k)
        if (hi + offsets[k] + bytes <= w.ldsBytes)
          memset(group.ldsWritten + lo + offsets[k], 1, 64 * bytes);
        else
          all = false;
      if (all)
        return;
    }
    // Atomics read and write lane by lane.
    for (u64 m = exec; m; m &= m - 1) {
      u32 i = u32(__builtin_ctzll(m));
      for (u32 k = 0; k < count; ++k) {
        u64 off = places.at(k, i);
        if (reads)
          readLDS(i, off, bytes);
        if (a.writes)
          writeLDS(off, bytes);
      }
    }
  } else {
    // Scratch: UndefTracker.
    if (a.kind == MemAccess::Scratch)
      return;
    // The common cases at once: stores, and everything written.
    if (!acc.special && !(in->flags & FLds)) {
      if (!reads)
        return;
      const u64 lo = acc.lo, hi = acc.hi;
      if (!acc.mask ||
          (hi - lo < 0x10000 && findAlloc(*w.ts, lo, hi - lo + bytes) && !isUninit(w, lo, hi - lo + bytes)))
        return;
    }
    // Buffers end in the middle of an access of several dwords.
    const u64 end = acc.end;
    for (u64 m = acc.mask; m; m &= m - 1) {
      u32 i = u32(__builtin_ctzll(m));
      u64 addr = acc.addr[i];
      u32 hi = u32(addr >> 32);
      if (a.kind == MemAccess::Flat && hi == sharedApertureHi) {
        if (reads)
          readLDS(i, u32(addr), bytes);
        if (a.writes)
          writeLDS(u32(addr), bytes);
        continue;
      }
      if (!reads || (a.kind == MemAccess::Flat && hi == privateApertureHi))
        continue;
      u64 inside = end - addr;
      u32 n = inside < bytes ? u32(inside & ~3ull) : bytes;
      if (n && isUninit(w, addr, n))
        memory.add(i, addr, n);
    }
    if (in->flags & FLds && a.reads && !a.writes) {
      u32 n = bytes < 4 ? 4 : bytes;
      for (u64 m = exec; m; m &= m - 1) {
        u32 i = u32(__builtin_ctzll(m));
        writeLDS(getLdsDestination(w, in, a, n, i), n);
      }
    }
  }
  if (memory.mask)
    add(false, memory.mask, memory.address, memory.bytes);
  if (lds.mask)
    add(true, lds.mask, lds.address, lds.bytes);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

__attribute__((target_clones("avx512f", "avx2", "default"))) void
atrex::device::sim::locate(Wave &w, const Inst *in, const MemAccess &a, u32 bytes, LaneAddresses &r) {
  r.special = false;
  r.end = ~0ull;
  u64 lo = ~0ull, hi = 0, bits = 0, diff = 0;
  if (a.kind == MemAccess::LDS) {
    r.places = getLdsPlaces(w, in, a);
    r.mask = r.places.mask;
    r.offsets = r.places.addr;
    if (!r.offsets) {
      for (u32 i = 0; i < 64; ++i)
        r.m0Offsets[i] = i * r.places.stride;
      r.offsets = r.m0Offsets;
    }
    const u32 *p = r.offsets;
    if (LIKELY(r.mask == ~0ull)) {
      u32 min = ~0u, max = 0, all = 0, d = 0;
      for (u32 i = 0; i < 64; ++i) {
        min = p[i] < min ? p[i] : min;
        max = p[i] > max ? p[i] : max;
        all |= p[i];
        d |= p[i] ^ (p[0] + i * bytes);
      }
      lo = min;
      hi = max;
      bits = all;
      diff = d;
    } else {
      for (u64 m = r.mask; m; m &= m - 1) {
        u64 x = p[__builtin_ctzll(m)];
        lo = x < lo ? x : lo;
        hi = x > hi ? x : hi;
        bits |= x;
      }
      diff = 1;
    }
  } else {
    switch (a.kind) {
    case MemAccess::Flat:
      computeAddresses<Flat>(w, in, bytes, r);
      break;
    case MemAccess::Global:
      computeAddresses<Global>(w, in, bytes, r);
      break;
    case MemAccess::Scratch:
      computeAddresses<Scratch>(w, in, bytes, r);
      break;
    default:
      computeAddresses<Buffer>(w, in, bytes, r);
      if (bytes > 4 && !a.isFormat && straddles(w, in, r, bytes)) {
        const u32 *rsrc = &w.s[in->sdst];
        r.end = (u64(rsrc[0]) | u64(rsrc[1] & 0xffffu) << 32) + rsrc[2];
      }
      break;
    }
    if (LIKELY(r.mask == ~0ull)) {
      for (u32 i = 0; i < 64; ++i) {
        lo = r.addr[i] < lo ? r.addr[i] : lo;
        hi = r.addr[i] > hi ? r.addr[i] : hi;
        bits |= r.addr[i];
        diff |= r.addr[i] ^ (r.addr[0] + u64(i) * bytes);
      }
    } else {
      for (u64 m = r.mask; m; m &= m - 1) {
        u64 x = r.addr[__builtin_ctzll(m)];
        lo = x < lo ? x : lo;
        hi = x > hi ? x : hi;
        bits |= x;
      }
      diff = 1;
    }
  }
  r.dense = !diff;
  r.lo = lo;
  r.hi = hi;
  r.bits = bits;
}

//===----------------------------------------------------------------------===//
// LDS outside of the allocation
//===----------------------------------------------------------------------===//

u64 atrex::device::sim::getLdsDestination(const Wave &w, const Inst *in, const MemAccess &a, u32 bytes, u32 lane) {
  u32 imm = a.kind == MemAccess::Buffer ? in->imm & 0xfffu : in->imm;
  return (u64(w.s[regM0] & 0x3ffffu) + u64(i64(i32(imm))) + u64(lane) * bytes) & 0xffffffffu;
}

void Checker::checkLdsBounds(Wave &w, const Inst *in, const MemAccess &a, GroupChecks &group,
                             const LaneAddresses &acc) {
  const u64 limit = group.ldsBytes, exec = getExec(w);
  const u32 bytes = getAccessBytes(w, in, a);
  u64 bad = 0, first = 0;
  auto see = [&](u32 lane, u64 at, u32 n) {
    if (at + n <= limit)
      return;
    first = bad ? first : at;
    bad |= 1ull << lane;
  };
  u32 size = bytes;
  if (a.kind == MemAccess::LDS) {
    const LdsPlaces &places = acc.places;
    if (LIKELY(acc.hi + std::max(places.offsets[0], places.offsets[1]) + bytes <= limit))
      return;
    for (u32 k = 0; k < places.count; ++k)
      for (u64 m = places.mask; m; m &= m - 1)
        see(u32(__builtin_ctzll(m)), places.at(k, u32(__builtin_ctzll(m))), bytes);
  } else if (in->flags & FLds) {
    size = bytes < 4 ? 4 : bytes;
    for (u64 m = exec; m; m &= m - 1)
      see(u32(__builtin_ctzll(m)), getLdsDestination(w, in, a, size, u32(__builtin_ctzll(m))), size);
  } else if (a.kind == MemAccess::Flat) {
    for (u64 m = acc.special ? acc.mask : 0; m; m &= m - 1) {
      u64 addr = acc.addr[__builtin_ctzll(m)];
      if (u32(addr >> 32) == sharedApertureHi)
        see(u32(__builtin_ctzll(m)), u32(addr), bytes);
    }
  }
  if (!bad)
    return;
  CheckRecord r;
  r.kind = CheckOob;
  r.inst = in;
  r.lds = true;
  r.ordinal = group.ordinal;
  r.sequence = group.sequence++;
  r.wave = w.waveInGroup;
  r.lanes = bad;
  r.address = first;
  r.bytes = size;
  const bool writes = a.kind == MemAccess::LDS || !(in->flags & FLds) ? a.writes : true;
  log.add(std::move(r), [&] {
    return formatv("{0} outside of the {1} bytes of LDS that the workgroup has",
                   a.atomic ? "atomic access"
                   : writes ? "store"
                            : "load",
                   limit)
        .str();
  });
}
