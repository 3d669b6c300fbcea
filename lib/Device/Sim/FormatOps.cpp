//===- FormatOps.cpp - Typed buffer loads and stores ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MTBUF takes the format from the instruction, MUBUF from the descriptor. Data
// formats are named from the most significant component down; component X is
// the least significant one.
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Addresses.h"
#include "lib/Device/Sim/Numbers.h"

namespace atrex::device::sim {
namespace {

enum NumberFormat : u32 { UNorm, SNorm, UScaled, SScaled, UInt, SInt, SNormOgl, Float };

struct DataFormat {
  u32 components, bits[4];
  u32 bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8; }
};
/// By DATA_FORMAT; no components: invalid.
constexpr DataFormat formats[16] = {
    {0, {}},
    {1, {8}},
    {1, {16}},
    {2, {8, 8}},
    {1, {32}},
    {2, {16, 16}},
    {3, {11, 11, 10}}, // 10_11_11
    {3, {10, 11, 11}}, // 11_11_10
    {4, {2, 10, 10, 10}},
    {4, {10, 10, 10, 2}},
    {4, {8, 8, 8, 8}},
    {2, {32, 32}},
    {4, {16, 16, 16, 16}},
    {3, {32, 32, 32}},
    {4, {32, 32, 32, 32}},
    {0, {}},
};

/// An unsigned small float of the 10_11_11 formats: 5 exponent bits, no sign.
float smallFloat(u32 x, u32 bits) { return halfToFloat(x << (15 - bits)); }
u32 toSmallFloat(float f, u32 bits) {
  if (f != f)
    return (1u << bits) - 1u;
  if (!(f > 0.0f))
    return 0;
  u32 h = floatToHalf(f), drop = 15 - bits;
  u32 r = (h + (1u << (drop - 1)) - 1u + ((h >> drop) & 1u)) >> drop, inf = 31u << (bits - 5);
  return r > inf ? inf : r;
}

double clampTo(double x, double lo, double hi) { return x != x ? 0.0 : x < lo ? lo : x > hi ? hi : x; }

/// A stored component as a 32-bit register value.
u32 readComponent(u32 raw, u32 bits, u32 nfmt) {
  u32 max = bits == 32 ? ~0u : (1u << bits) - 1u;
  i32 value = sext(raw, bits);
  double smax = double(max >> 1);
  switch (nfmt) {
  case UNorm:
    return bitcast<u32>(float(double(raw) / double(max)));
  case SNorm:
    return bitcast<u32>(float(clampTo(double(value) / smax, -1.0, 1.0)));
  case SNormOgl:
    return bitcast<u32>(float((double(value) * 2.0 + 1.0) / double(max)));
  case UScaled:
    return bitcast<u32>(float(raw));
  case SScaled:
    return bitcast<u32>(float(value));
  case SInt:
    return u32(value);
  case Float:
    if (bits == 16)
      return bitcast<u32>(halfToFloat(raw));
    if (bits == 10 || bits == 11)
      return bitcast<u32>(smallFloat(raw, bits));
    return raw;
  default:
    return raw;
  }
}
u32 writeComponent(u32 reg, u32 bits, u32 nfmt) {
  u32 max = bits == 32 ? ~0u : (1u << bits) - 1u;
  double smax = double(max >> 1), f = double(bitcast<float>(reg));
  switch (nfmt) {
  case UNorm:
    return u32(i64(roundEven(clampTo(f, 0.0, 1.0) * double(max))));
  case SNorm:
    return u32(i64(roundEven(clampTo(f, -1.0, 1.0) * smax))) & max;
  case SNormOgl:
    return u32(i64(roundEven((clampTo(f, -1.0, 1.0) * double(max) - 1.0) / 2.0))) & max;
  case UScaled:
    return u32(i64(clampTo(f, 0.0, double(max))));
  case SScaled:
    return u32(i64(clampTo(f, -smax - 1.0, smax))) & max;
  case UInt:
    return reg < max ? reg : max;
  case SInt: {
    i64 v = i32(reg), lo = -i64(max >> 1) - 1, hi = i64(max >> 1);
    return u32(v < lo ? lo : v > hi ? hi : v) & max;
  }
  default:
    if (bits == 16)
      return floatToHalf(bitcast<float>(reg));
    if (bits == 10 || bits == 11)
      return toSmallFloat(bitcast<float>(reg), bits);
    return reg & max;
  }
}

bool isInteger(u32 nfmt) { return nfmt == UInt || nfmt == SInt; }

/// D16: registers hold halves or 16-bit integers.
u32 toD16(u32 value, u32 nfmt) {
  if (nfmt == UInt)
    return value < 0xffffu ? value : 0xffffu;
  if (nfmt == SInt) {
    i32 v = i32(value);
    return u32(v < -32768 ? -32768 : v > 32767 ? 32767 : v) & 0xffffu;
  }
  return floatToHalf(bitcast<float>(value));
}
u32 fromD16(u32 half, u32 nfmt) {
  if (nfmt == UInt)
    return half;
  if (nfmt == SInt)
    return u32(sext(half, 16));
  return bitcast<u32>(halfToFloat(half));
}

struct Format {
  DataFormat data;
  u32 nfmt;
  /// Which component each result takes: 0, 1, or 4 + component.
  u32 select[4];
};

template <bool TYPED> Format getFormat(const Wave &w, const Inst *in) {
  u32 word3 = w.s[in->sdst + 3];
  Format f;
  u32 dfmt = TYPED ? in->aux & 15u : (word3 >> 15) & 15u;
  f.nfmt = TYPED ? (in->aux >> 4) & 7u : (word3 >> 12) & 7u;
  f.data = formats[dfmt];
  for (u32 k = 0; k < 4; ++k)
    f.select[k] = (word3 >> (3 * k)) & 7u;
  return f;
}

template <bool TYPED, u32 COUNT, bool D16, bool HI> const Inst *loadFormat(Wave &w, const Inst *in) {
  constexpr u32 planes = D16 ? (COUNT + 1) / 2 : COUNT;
  Format f = getFormat<TYPED>(w, in);
  u32 bytes = f.data.bytes();
  alignas(64) u32 r[planes * 64] = {};
  const u32 *d = w.v + in->dst;
  u64 exec = getExec(w);
  Access acc;
  if (!computeAddresses<Buffer>(w, in, bytes ? bytes : 1, acc))
    return stop(w, in, WaveFault);
  for (u64 m = exec; m; m &= m - 1) {
    u32 i = u32(__builtin_ctzll(m));
    u32 value[4] = {};
    if (((acc.mask >> i) & 1u) && bytes) {
      u8 raw[20] = {};
      const u8 *p = accessLane(w, acc.addr[i], bytes, false, i);
      if (!p)
        return stop(w, in, WaveFault);
      __builtin_memcpy(raw, p, bytes);
      u32 at = 0;
      for (u32 c = 0; c < f.data.components; ++c) {
        u64 window;
        __builtin_memcpy(&window, raw + at / 8, 8);
        u32 bits = f.data.bits[c], x = u32(window >> (at % 8));
        value[c] = readComponent(bits == 32 ? x : x & ((1u << bits) - 1u), bits, f.nfmt);
        at += bits;
      }
      // What the format does not have: 0, 0, 0, 1.
      if (f.data.components < 4)
        value[3] = isInteger(f.nfmt) ? 1u : 0x3f800000u;
    }
    for (u32 c = 0; c < COUNT; ++c) {
      u32 sel = f.select[c], x = 0;
      if (sel >= 4)
        x = value[sel - 4];
      else if (sel == 1 && ((acc.mask >> i) & 1u))
        x = isInteger(f.nfmt) ? 1u : 0x3f800000u;
      if (D16) {
        x = toD16(x, f.nfmt);
        r[c / 2 * 64 + i] |= c & 1u ? x << 16 : x;
      } else {
        r[c * 64 + i] = x;
      }
    }
    if (D16 && COUNT == 1)
      r[i] = HI ? r[i] << 16 | (d[i] & 0xffffu) : r[i] | (d[i] & 0xffff0000u);
    if (D16 && COUNT == 3)
      r[64 + i] |= d[64 + i] & 0xffff0000u;
  }
  storePlanes(w.v + in->dst, r, planes, exec);
  w.ts->loadBytes += bytes * u32(__builtin_popcountll(acc.mask));
  return in->next;
}

template <bool TYPED, u32 COUNT, bool D16, bool HI> const Inst *storeFormat(Wave &w, const Inst *in) {
  Format f = getFormat<TYPED>(w, in);
  u32 bytes = f.data.bytes();
  if (!bytes)
    return in->next;
  Access acc;
  if (!computeAddresses<Buffer>(w, in, bytes, acc))
    return stop(w, in, WaveFault);
  const u32 *d = w.v + in->src[2].reg;
  for (u64 m = acc.mask; m; m &= m - 1) {
    u32 i = u32(__builtin_ctzll(m));
    u32 reg[4] = {};
    for (u32 c = 0; c < COUNT; ++c) {
      if (D16) {
        u32 h = (d[c / 2 * 64 + i] >> ((c & 1u) || HI ? 16 : 0)) & 0xffffu;
        reg[c] = fromD16(h, f.nfmt);
      } else {
        reg[c] = d[c * 64 + i];
      }
    }
    u8 raw[24] = {};
    u32 at = 0;
    for (u32 c = 0; c < f.data.components; ++c) {
      u64 window;
      __builtin_memcpy(&window, raw + at / 8, 8);
      // A component takes the result that selects it; by position for MTBUF.
      u32 value = 0;
      if (TYPED) {
        value = c < COUNT ? reg[c] : 0;
      } else {
        for (u32 k = COUNT; k-- > 0;)
          if (f.select[k] == 4 + c)
            value = reg[k];
      }
      u32 bits = f.data.bits[c];
      window |= u64(writeComponent(value, bits, f.nfmt)) << (at % 8);
      __builtin_memcpy(raw + at / 8, &window, 8);
      at += bits;
    }
    u8 *p = accessLane(w, acc.addr[i], bytes, true, i);
    if (!p)
      return stop(w, in, WaveFault);
    __builtin_memcpy(p, raw, bytes);
  }
  w.ts->storeBytes += bytes * u32(__builtin_popcountll(acc.mask));
  return in->next;
}

#define FORMAT(NAME, COUNT, D16)                                                                                       \
  {"buffer_load_format_" NAME, loadFormat<false, COUNT, D16, false>, TB32, {}, CLoad, 0},                              \
      {"tbuffer_load_format_" NAME, loadFormat<true, COUNT, D16, false>, TB32, {}, CLoad, 0},                          \
      {"buffer_store_format_" NAME, storeFormat<false, COUNT, D16, false>, TB32, {}, CStore, 0},                       \
      {"tbuffer_store_format_" NAME, storeFormat<true, COUNT, D16, false>, TB32, {}, CStore, 0},

// clang-format off
constexpr OpDef rows[] = {
    FORMAT("x", 1, false) FORMAT("xy", 2, false) FORMAT("xyz", 3, false) FORMAT("xyzw", 4, false)
    FORMAT("d16_x", 1, true) FORMAT("d16_xy", 2, true) FORMAT("d16_xyz", 3, true) FORMAT("d16_xyzw", 4, true)
    {"buffer_load_format_d16_hi_x", loadFormat<false, 1, true, true>, TB32, {}, CLoad, 0},
    {"buffer_store_format_d16_hi_x", storeFormat<false, 1, true, true>, TB32, {}, CStore, 0},
};
// clang-format on

} // namespace

u32 getFormatBytes(const Wave &w, const Inst *in) {
  bool typed = in->def->name[0] == 't';
  return (typed ? getFormat<true>(w, in) : getFormat<false>(w, in)).data.bytes();
}

OpTable getFormatOps() { return {rows, sizeof(rows) / sizeof(rows[0])}; }

} // namespace atrex::device::sim
