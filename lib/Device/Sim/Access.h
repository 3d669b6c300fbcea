//===- Access.h - Operand access for handlers -------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here is static: each handler file gets its own copy, compiled for
// its own x86 level.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_ACCESS_H
#define ATREX_LIB_DEVICE_SIM_ACCESS_H

#include "lib/Device/Sim/Core.h"

#define ALWAYS_INLINE __attribute__((always_inline)) static inline
#define NO_INLINE __attribute__((noinline)) static
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#pragma clang diagnostic ignored "-Wunused-function"

namespace atrex::device::sim {
namespace {

template <class To, class From> ALWAYS_INLINE To bitcast(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, x);
}

ALWAYS_INLINE u64 read64(const Wave &w, u32 reg) { return u64(w.s[reg]) | u64(w.s[reg + 1]) << 32; }
ALWAYS_INLINE void write64(Wave &w, u32 reg, u64 x) {
  w.s[reg] = u32(x);
  w.s[reg + 1] = u32(x >> 32);
}
ALWAYS_INLINE u64 getExec(const Wave &w) { return read64(w, regExec); }

NO_INLINE u64 readSpecial(const Wave &w, u32 code) {
  switch (code) {
  case 235:
    return u64(sharedApertureHi) << 32;
  case 236:
    return u64(sharedApertureHi) << 32 | 0xffffffffu;
  case 237:
    return u64(privateApertureHi) << 32;
  case 238:
    return u64(privateApertureHi) << 32 | 0xffffffffu;
  case 251:
    return read64(w, regVCC) == 0;
  case 252:
    return getExec(w) == 0;
  case 253:
    return w.scc;
  default:
    return 0;
  }
}

ALWAYS_INLINE u32 scalar32(const Wave &w, const Operand &o) {
  if (LIKELY(o.kind == OSGPR))
    return w.s[o.reg];
  if (LIKELY(o.kind == OConst))
    return o.constant[0];
  if (o.kind == OVGPR)
    return w.v[o.reg];
  return u32(readSpecial(w, o.reg));
}

ALWAYS_INLINE u64 scalar64(const Wave &w, const Operand &o) {
  if (LIKELY(o.kind == OSGPR))
    return read64(w, o.reg);
  if (LIKELY(o.kind == OConst))
    return u64(o.constant[0]) | u64(o.constant[64]) << 32;
  return readSpecial(w, o.reg);
}

/// Lane masks as 64 dwords of zeros and ones, or of all-zeros and all-ones.
ALWAYS_INLINE void expandMask(u32 *r, u64 mask) {
  u32 lo = u32(mask), hi = u32(mask >> 32);
  for (u32 i = 0; i < 32; ++i)
    r[i] = 0u - ((lo >> i) & 1u);
  for (u32 i = 0; i < 32; ++i)
    r[i + 32] = 0u - ((hi >> i) & 1u);
}

/// Bit i is set where r[i] is not zero.
ALWAYS_INLINE u64 packMask(const u32 *r) {
  typedef u32 V16 __attribute__((vector_size(64), aligned(4)));
  typedef bool B16 __attribute__((ext_vector_type(16)));
  u64 mask = 0;
  for (u32 c = 0; c < 4; ++c) {
    V16 x = *(const V16 *)(r + c * 16);
    B16 b = __builtin_convertvector(x != 0, B16);
    mask |= u64(__builtin_bit_cast(u16, b)) << (16 * c);
  }
  return mask;
}

/// Writes `n` planes of 64 dwords to registers for the lanes of `mask`.
ALWAYS_INLINE void storePlanes(u32 *d, const u32 *r, u32 n, u64 mask) {
  if (LIKELY(mask == ~0ull)) {
    __builtin_memcpy(d, r, n * 256);
    return;
  }
  alignas(64) u32 m[64];
  expandMask(m, mask);
  for (u32 p = 0; p < n; ++p)
    for (u32 i = 0; i < 64; ++i)
      d[p * 64 + i] = (r[p * 64 + i] & m[i]) | (d[p * 64 + i] & ~m[i]);
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

ALWAYS_INLINE const Inst *stop(Wave &w, const Inst *in, WaveStatus status) {
  w.status = status;
  w.next = in;
  return nullptr;
}

NO_INLINE const Inst *fail(Wave &w, const Inst *in, FaultKind kind, const char *what = nullptr) {
  w.fault = {kind, 0, ~0u, 0, 0, what};
  return stop(w, in, WaveFault);
}

NO_INLINE const MemAlloc *findAllocSlow(ThreadState &ts, u64 addr) {
  u32 lo = 0, hi = ts.numAllocs;
  while (lo < hi) {
    u32 mid = (lo + hi) / 2;
    if (ts.allocs[mid].base <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (!lo)
    return nullptr;
  const MemAlloc *a = &ts.allocs[lo - 1];
  if (addr - a->base >= a->size)
    return nullptr;
  ts.last = a;
  return a;
}

/// The allocation that contains `bytes` bytes at `addr`, or nullptr.
ALWAYS_INLINE const MemAlloc *findAlloc(ThreadState &ts, u64 addr, u64 bytes) {
  const MemAlloc *a = ts.last;
  if (UNLIKELY(addr - a->base >= a->size)) {
    a = findAllocSlow(ts, addr);
    if (!a)
      return nullptr;
  }
  return a->size - (addr - a->base) >= bytes ? a : nullptr;
}

ALWAYS_INLINE void markLine(u32 *owners, u8 *dirty, u64 line, u32 owner) {
  u32 cur = __atomic_load_n(&owners[line], __ATOMIC_RELAXED);
  if (LIKELY(cur == owner || cur == sharedOwner))
    return;
  // The page byte first: a scan after the launch must find every owner.
  if (!__atomic_load_n(&dirty[line >> 10], __ATOMIC_RELAXED))
    __atomic_store_n(&dirty[line >> 10], u8(1), __ATOMIC_RELAXED);
  if (cur == 0 && __atomic_compare_exchange_n(&owners[line], &cur, owner, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return;
  if (cur != owner)
    __atomic_store_n(&owners[line], sharedOwner, __ATOMIC_RELAXED);
}

NO_INLINE void markRead(ThreadState &ts, const MemAlloc &a, u64 off, u64 bytes) {
  if (!a.readOwner)
    return;
  for (u64 l = off >> 7, e = (off + bytes - 1) >> 7; l <= e; ++l)
    markLine(a.readOwner, a.readDirty, l, ts.owner);
}

NO_INLINE void markWrite(ThreadState &ts, const MemAlloc &a, u64 off, u64 bytes) {
  if (!a.writeOwner)
    return;
  for (u64 l = off >> 7, e = (off + bytes - 1) >> 7; l <= e; ++l)
    markLine(a.writeOwner, a.writeDirty, l, ts.owner);
  u64 end = off + bytes;
  for (u64 word = off >> 6; word <= (end - 1) >> 6; ++word) {
    u64 first = word << 6, from = off > first ? off - first : 0, to = end - first < 64 ? end - first : 64;
    u64 bits = (to - from == 64 ? ~0ull : ((1ull << (to - from)) - 1)) << from;
    u64 cur = __atomic_load_n(&a.written[word], __ATOMIC_RELAXED);
    if ((cur & bits) == bits)
      continue;
    u8 *dirty = &a.writtenDirty[word >> 9];
    if (!__atomic_load_n(dirty, __ATOMIC_RELAXED))
      __atomic_store_n(dirty, u8(1), __ATOMIC_RELAXED);
    if (bits == ~0ull)
      __atomic_store_n(&a.written[word], bits, __ATOMIC_RELAXED);
    else
      __atomic_fetch_or(&a.written[word], bits, __ATOMIC_RELAXED);
  }
}

/// Host pointer for an access of one lane; on failure fills Wave::fault.
ALWAYS_INLINE u8 *accessLane(Wave &w, u64 addr, u32 bytes, bool write, u32 lane) {
  ThreadState &ts = *w.ts;
  const MemAlloc *a = findAlloc(ts, addr, bytes);
  if (UNLIKELY(!a || (write && a->readOnly))) {
    w.fault = {a ? FaultReadOnly : FaultOutOfBounds, u8(write), lane, bytes, addr, nullptr};
    return nullptr;
  }
  if (ts.track) {
    if (write)
      markWrite(ts, *a, addr - a->base, bytes);
    else
      markRead(ts, *a, addr - a->base, bytes);
  }
  return (u8 *)addr;
}

} // namespace
} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_ACCESS_H
