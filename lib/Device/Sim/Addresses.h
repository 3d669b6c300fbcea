//===- Addresses.h - Addresses of vector memory instructions ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Static like Access.h: shared by the handlers and the checks.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_ADDRESSES_H
#define ATREX_LIB_DEVICE_SIM_ADDRESSES_H

#include "lib/Device/Sim/Access.h"

namespace atrex::device::sim {
namespace {

enum Space : u32 { Flat, Global, Scratch, Buffer };

struct Access {
  u64 addr[64];
  /// Lanes that touch memory; the other active lanes read zero, store nothing.
  u64 mask;
  /// FLAT: some lane points into an aperture.
  bool special;
};

/// Addresses of all lanes. False when the wave has to stop.
template <u32 SPACE, class A> ALWAYS_INLINE bool computeAddresses(Wave &w, const Inst *in, u32 bytes, A &acc) {
  u64 exec = getExec(w);
  acc.mask = exec;
  acc.special = false;
  const u32 *va = w.v + in->src[0].reg;
  if constexpr (SPACE == Global) {
    u64 off = u64(i64(i32(in->imm)));
    if (in->flags & FSaddr) {
      u64 base = read64(w, in->src[1].reg) + off;
      for (u32 i = 0; i < 64; ++i)
        acc.addr[i] = base + va[i];
    } else {
      for (u32 i = 0; i < 64; ++i)
        acc.addr[i] = (u64(va[i]) | u64(va[i + 64]) << 32) + off;
    }
  } else if constexpr (SPACE == Flat) {
    u64 off = in->imm;
    u32 any = 0;
    for (u32 i = 0; i < 64; ++i) {
      acc.addr[i] = (u64(va[i]) | u64(va[i + 64]) << 32) + off;
      u32 hi = u32(acc.addr[i] >> 32);
      any |= u32(hi == sharedApertureHi) | u32(hi == privateApertureHi);
    }
    acc.special = any;
  } else if constexpr (SPACE == Scratch) {
    u32 off = in->imm + (in->flags & FSaddr ? w.s[in->src[1].reg] : 0u);
    bool useV = in->flags & FVaddr;
    for (u32 i = 0; i < 64; ++i)
      acc.addr[i] = u64(privateApertureHi) << 32 | u32(off + (useV ? va[i] : 0u));
    acc.special = true;
  } else {
    const u32 *rsrc = &w.s[in->sdst];
    u64 base = u64(rsrc[0]) | u64(rsrc[1] & 0xffffu) << 32;
    u32 stride = (rsrc[1] >> 16) & 0x3fffu, records = rsrc[2];
    bool swizzle = rsrc[1] >> 31, addTid = (rsrc[3] >> 23) & 1u;
    bool idxen = in->flags & FIdxen, offen = in->flags & FOffen;
    u32 soff = scalar32(w, in->src[1]);
    const u32 *vi = va, *vo = idxen ? va + 64 : va;
    base += soff;
    if (!idxen && !addTid && (!swizzle || !stride)) {
      // Offsets in bytes against num_records in bytes; the scalar offset is not
      // part of the checked offset but shortens the range.
      u64 limit = records > soff ? records - soff : 0;
      u64 ok = 0;
      alignas(64) u32 in32[64];
      if (offen) {
        for (u32 i = 0; i < 64; ++i) {
          u64 o = u64(vo[i]) + in->imm;
          acc.addr[i] = base + o;
          in32[i] = u32(o + (bytes < 4 ? bytes : 4) <= limit);
        }
        ok = packMask(in32);
      } else {
        for (u32 i = 0; i < 64; ++i)
          acc.addr[i] = base + in->imm;
        ok = u64(in->imm) + (bytes < 4 ? bytes : 4) <= limit ? ~0ull : 0;
      }
      acc.mask = exec & ok;
    } else {
      u64 ok = 0;
      u32 istride = 8u << ((rsrc[3] >> 21) & 3u), esize = 2u << ((rsrc[3] >> 19) & 3u);
      for (u32 i = 0; i < 64; ++i) {
        u64 index = u64(idxen ? vi[i] : 0u) + (addTid ? i : 0u);
        u64 off = u64(offen ? vo[i] : 0u) + in->imm;
        bool inside;
        if (idxen && stride)
          inside = index < records && (!swizzle || off < stride);
        else
          inside = off + index * stride + (bytes < 4 ? bytes : 4) <= u64(records) - (soff < records ? soff : records);
        u64 a = index * stride + off;
        if (swizzle && (stride || addTid))
          a = ((index / istride) * stride + (off / esize) * esize) * istride + (index % istride) * esize + off % esize;
        acc.addr[i] = base + a;
        ok |= u64(inside) << i;
      }
      acc.mask = exec & ok;
    }
  }
  return true;
}

/// True when a lane of a raw buffer access ends beyond the range although it
/// starts inside.
template <class A> ALWAYS_INLINE bool straddles(const Wave &w, const Inst *in, const A &acc, u32 bytes) {
  if (in->flags & FIdxen)
    return false;
  const u32 *rsrc = &w.s[in->sdst];
  u64 end = (u64(rsrc[0]) | u64(rsrc[1] & 0xffffu) << 32) + rsrc[2];
  for (u64 m = acc.mask; m; m &= m - 1)
    if (acc.addr[__builtin_ctzll(m)] + bytes > end)
      return true;
  return false;
}

} // namespace
} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_ADDRESSES_H
