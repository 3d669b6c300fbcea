//===- SpecialOps.cpp - Scaled conversions and multi-register VALU --------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector instructions whose lanes are computed one by one: block-scaled number
// formats, sums of byte differences over 64 and 128 bits, the bits of 2/pi. None
// of them vectorizes, so one copy serves all x86 levels.
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Lanes.h"

namespace atrex::device::sim {
namespace {

/// Dword `plane` of source `k` for one lane, without modifiers.
u32 word(const Wave &w, const Inst *in, u32 k, u32 plane, u32 lane) {
  const Operand &o = in->src[k];
  switch (o.kind) {
  case OVGPR:
    return w.v[o.reg + plane * 64 + lane];
  case OConst:
    return o.constant[plane ? 64 : 0];
  case OSGPR:
    return w.s[o.reg + plane];
  case OSpecial:
    return u32(readSpecial(w, o.reg) >> (plane ? 32 : 0));
  }
  return 0;
}
u64 word64(const Wave &w, const Inst *in, u32 k, u32 plane, u32 lane) {
  return word(w, in, k, plane, lane) | u64(word(w, in, k, plane + 1, lane)) << 32;
}

//===----------------------------------------------------------------------===//
// Scaled conversions
//===----------------------------------------------------------------------===//

/// A number format of up to eight bits. Without `special`, there is neither
/// infinity nor NaN: conversions saturate, NaN becomes the largest value.
struct Mini {
  u32 ebits, mbits;
  int bias;
  bool special;
};
constexpr Mini FP8 = {4, 3, 7, true}, BF8 = {5, 2, 15, true}, FP6 = {2, 3, 1, false}, BF6 = {3, 2, 3, false},
               FP4 = {2, 1, 1, false};
constexpr u32 bitsOf(Mini f) { return 1 + f.ebits + f.mbits; }

double decodeMini(u32 x, Mini f) {
  x &= (1u << bitsOf(f)) - 1u;
  if (f.special)
    return double(fp8ToFloat(x, fp8Format(f.ebits == 5, true)));
  u32 e = (x >> f.mbits) & ((1u << f.ebits) - 1u), m = x & ((1u << f.mbits) - 1u);
  double v = e ? double(m | 1u << f.mbits) : double(m);
  v = ldexpDouble(v, int(e ? e : 1) - f.bias - int(f.mbits));
  return x >> (f.ebits + f.mbits) ? -v : v;
}

/// Nearest even, or the 32 random bits as a fraction of the last kept bit.
u32 encodeMini(double v, Mini f, bool stochastic, u32 random, bool saturate) {
  u64 x = bitcast<u64>(v), mag = x & ~(1ull << 63);
  u32 sign = u32(x >> 63) << (f.ebits + f.mbits);
  u32 max = f.special ? (f.ebits == 5 ? 0x7bu : 0x7eu) : (1u << (f.ebits + f.mbits)) - 1u;
  constexpr u64 inf = 0x7ffull << 52;
  if (mag > inf)
    return f.special ? sign | (f.ebits == 5 ? 0x7eu : 0x7fu) : sign | max;
  u32 overflow = f.special && (!saturate || mag == inf) ? (f.ebits == 5 ? 0x7cu : 0x7fu) : max;
  if (mag == inf)
    return sign | overflow;
  if (mag >> 52 == 0)
    return sign; // Sources are floats: a subnormal double is zero.
  int e = int(mag >> 52) - 1023, minExp = 1 - f.bias;
  u64 m = (mag & ((1ull << 52) - 1)) | 1ull << 52;
  if (e > 64)
    return sign | overflow;
  u32 drop = 52 - f.mbits + u32(e < minExp ? minExp - e : 0);
  // Even with all random bits set, less than 2^-32 of the last bit is nothing.
  u64 q = 0;
  if (drop < 96) {
    using u128 = unsigned __int128;
    u128 add = (u128(1) << (drop - 1)) - 1 + ((u128(m) >> drop) & 1);
    if (stochastic)
      add = drop >= 32 ? u128(random) << (drop - 32) : random >> (32 - drop);
    q = u64((m + add) >> drop);
  }
  u32 r = e < minExp ? u32(q) : (u32(e + f.bias) << f.mbits) + u32(q) - (1u << f.mbits);
  return sign | (r > max ? overflow : r);
}

enum Element : u32 { EF32, EF16, EBF16 };

/// Element `n` of source 0 as a double, after negation and absolute value.
template <u32 E> double element(const Wave &w, const Inst *in, u32 k, u32 n, u32 lane) {
  float f;
  if constexpr (E == EF32) {
    f = bitcast<float>(word(w, in, k, n, lane));
  } else {
    u32 x = (word(w, in, k, n / 2, lane) >> (n & 1u ? 16 : 0)) & 0xffffu;
    f = E == EF16 ? halfToFloat(x) : bitcast<float>(x << 16);
  }
  u32 bits = bitcast<u32>(f);
  if (in->src[k].mods & MAbs)
    bits &= 0x7fffffffu;
  if (in->src[k].mods & MNeg)
    bits ^= 0x80000000u;
  return double(bitcast<float>(bits));
}

/// 2^(exponent of the float), NaN when the exponent is all ones.
double scaleOf(u32 bits) {
  int e = int((bits >> 23) & 0xffu);
  return e == 255 ? double(bitcast<float>(defaultNaN32)) : ldexpDouble(1.0, e - 127);
}

bool saturates(const Wave &w) { return (w.mode >> 23) & 1u; }

/// Two elements to one byte or two bytes; the rest of the destination stays.
/// f32 elements come from sources 0 and 1, or with SR from two registers.
template <u32 E, Mini F, bool SR, u32 COUNT> const Inst *narrow(Wave &w, const Inst *in) {
  constexpr u32 bits = bitsOf(F), total = bits * COUNT;
  constexpr bool separate = E == EF32 && COUNT == 2 && !SR;
  constexpr u32 scaleAt = separate || SR ? 2 : 1;
  u32 *d = w.v + in->dst;
  alignas(64) u32 r[64];
  u32 shift = total == 16 ? (in->opsel & 8u ? 16 : 0) : ((in->opsel >> 2) & 3u) * 8;
  u32 keep = ~(((1u << total) - 1u) << shift);
  for (u32 i = 0; i < 64; ++i) {
    double scale = 1.0 / scaleOf(word(w, in, scaleAt, 0, i));
    u32 random = SR ? word(w, in, 1, 0, i) : 0, x = 0;
    for (u32 n = 0; n < COUNT; ++n) {
      // A single half may sit in the upper part of its register.
      u32 at = COUNT == 1 && E != EF32 ? in->opsel & 1u : n;
      double v = separate ? element<E>(w, in, n, 0, i) : element<E>(w, in, 0, at, i);
      x |= encodeMini(v * scale, F, SR, random, saturates(w)) << (bits * n);
    }
    r[i] = (d[i] & keep) | x << shift;
  }
  storePlanes(d, r, 1, getExec(w));
  return in->next;
}

/// 32 elements to six dwords. TWO: even elements from source 0, odd ones from
/// source 1, 16 each.
template <u32 E, Mini F, bool SR, bool TWO> const Inst *narrow32(Wave &w, const Inst *in) {
  constexpr u32 scaleAt = SR || TWO ? 2 : 1;
  alignas(64) u32 r[6 * 64];
  for (u32 i = 0; i < 64; ++i) {
    double scale = 1.0 / scaleOf(word(w, in, scaleAt, 0, i));
    u32 random = SR ? word(w, in, 1, 0, i) : 0;
    u64 bits = 0;
    u32 have = 0, out = 0;
    for (u32 n = 0; n < 32; ++n) {
      double v = TWO ? element<E>(w, in, n & 1u, n / 2, i) : element<E>(w, in, 0, n, i);
      bits |= u64(encodeMini(v * scale, F, SR, random, false)) << have;
      have += 6;
      if (have >= 32) {
        r[out++ * 64 + i] = u32(bits);
        bits >>= 32;
        have -= 32;
      }
    }
  }
  storePlanes(w.v + in->dst, r, 6, getExec(w));
  return in->next;
}

template <u32 E> u32 fromDouble(double v) {
  if constexpr (E == EF32) {
    float f = float(v);
    return f != f ? defaultNaN32 : bitcast<u32>(f);
  } else if constexpr (E == EF16) {
    return v != v ? 0x7e00u : doubleToHalf(v);
  } else {
    return v != v ? 0x7fc0u : floatToBF16(float(v));
  }
}

/// COUNT elements of a byte or word of source 0; scale in source 1.
template <u32 E, Mini F, u32 COUNT> const Inst *widen(Wave &w, const Inst *in) {
  constexpr u32 bits = bitsOf(F), planes = E == EF32 ? COUNT : 1;
  alignas(64) u32 r[planes * 64];
  u32 *d = w.v + in->dst;
  u32 shift = bits * COUNT == 16 ? (in->opsel & 1u) * 16 : (in->opsel & 3u) * 8;
  for (u32 i = 0; i < 64; ++i) {
    double scale = scaleOf(word(w, in, 1, 0, i));
    u32 x = word(w, in, 0, 0, i) >> shift, packed = 0;
    for (u32 n = 0; n < COUNT; ++n) {
      u32 v = fromDouble<E>(decodeMini(x >> (bits * n), F) * scale);
      if constexpr (E == EF32)
        r[n * 64 + i] = v;
      else
        packed |= v << (16 * n);
    }
    if constexpr (E != EF32) {
      if (COUNT == 1)
        packed = in->opsel & 8u ? packed << 16 | (d[i] & 0xffffu) : packed | (d[i] & 0xffff0000u);
      r[i] = packed;
    }
  }
  storePlanes(d, r, planes, getExec(w));
  return in->next;
}

template <u32 E, Mini F> const Inst *widen32(Wave &w, const Inst *in) {
  constexpr u32 planes = E == EF32 ? 32 : 16;
  alignas(64) u32 r[planes * 64];
  for (u32 i = 0; i < 64; ++i) {
    double scale = scaleOf(word(w, in, 1, 0, i));
    for (u32 n = 0; n < 32; ++n) {
      u32 at = 6 * n, x = word(w, in, 0, at / 32, i) >> (at % 32);
      if (at % 32 > 26)
        x |= word(w, in, 0, at / 32 + 1, i) << (32 - at % 32);
      u32 v = fromDouble<E>(decodeMini(x, F) * scale);
      if constexpr (E == EF32)
        r[n * 64 + i] = v;
      else if (n & 1u)
        r[n / 2 * 64 + i] |= v << 16;
      else
        r[n / 2 * 64 + i] = v;
    }
  }
  storePlanes(w.v + in->dst, r, planes, getExec(w));
  return in->next;
}

/// f32 to f16 or bf16 with random bits below the last kept one.
template <bool BF16> const Inst *cvtSr16(Wave &w, const Inst *in) {
  alignas(64) u32 r[64];
  u32 *d = w.v + in->dst;
  for (u32 i = 0; i < 64; ++i) {
    u32 x = bitcast<u32>(float(element<EF32>(w, in, 0, 0, i))), random = word(w, in, 1, 0, i);
    u32 sign = (x >> 16) & 0x8000u, mag = x & 0x7fffffffu, v;
    if (mag >= 0x7f800000u) {
      v = BF16                ? (mag >> 16) | (mag > 0x7f800000u ? 0x40u : 0u)
          : mag > 0x7f800000u ? 0x7e00u | ((mag >> 13) & 0x1ffu)
                              : 0x7c00u;
    } else if (BF16) {
      v = (mag + (random >> 16)) >> 16;
    } else {
      int e = int(mag >> 23) - 127;
      u64 m = mag >> 23 ? (mag & 0x7fffffu) | 0x800000u : 0u;
      u32 drop = 13 + u32(e < -14 ? -14 - e : 0);
      u64 q = drop < 63 ? (m + (drop >= 32 ? u64(random) << (drop - 32) : random >> (32 - drop))) >> drop : 0;
      v = e < -14 ? u32(q) : e > 15 ? 0x7c00u : (u32(e + 15) << 10) + u32(q) - 0x400u;
      v = v > 0x7c00u ? 0x7c00u : v;
    }
    v |= sign;
    r[i] = in->opsel & 8u ? v << 16 | (d[i] & 0xffffu) : v | (d[i] & 0xffff0000u);
  }
  storePlanes(d, r, 1, getExec(w));
  return in->next;
}

//===----------------------------------------------------------------------===//
// Sums of absolute differences
//===----------------------------------------------------------------------===//

/// MASKED: bytes whose reference (second source) is zero do not count.
template <bool MASKED> u32 sadBytes(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 k = 0; k < 32; k += 8) {
    i32 x = i32((a >> k) & 0xffu), y = i32((b >> k) & 0xffu);
    if (!MASKED || y)
      sum += u32(x > y ? x - y : y - x);
  }
  return sum;
}

/// Four sums of 16 bits over a window that moves by one byte.
template <bool MASKED> const Inst *qsad(Wave &w, const Inst *in) {
  alignas(64) u32 r[128];
  bool clamp = in->flags & FClamp;
  for (u32 i = 0; i < 64; ++i) {
    u64 a = word64(w, in, 0, 0, i), c = word64(w, in, 2, 0, i), out = 0;
    u32 b = word(w, in, 1, 0, i);
    for (u32 n = 0; n < 4; ++n) {
      u32 sum = sadBytes<MASKED>(u32(a >> (8 * n)), b) + (u32(c >> (16 * n)) & 0xffffu);
      sum = clamp && sum > 0xffffu ? 0xffffu : sum & 0xffffu;
      out |= u64(sum) << (16 * n);
    }
    r[i] = u32(out);
    r[64 + i] = u32(out >> 32);
  }
  storePlanes(w.v + in->dst, r, 2, getExec(w));
  return in->next;
}
const Inst *mqsad32(Wave &w, const Inst *in) {
  alignas(64) u32 r[256];
  bool clamp = in->flags & FClamp;
  for (u32 i = 0; i < 64; ++i) {
    u64 a = word64(w, in, 0, 0, i);
    u32 b = word(w, in, 1, 0, i);
    for (u32 n = 0; n < 4; ++n) {
      u64 sum = u64(sadBytes<true>(u32(a >> (8 * n)), b)) + word(w, in, 2, n, i);
      r[n * 64 + i] = clamp && sum >> 32 ? ~0u : u32(sum);
    }
  }
  storePlanes(w.v + in->dst, r, 4, getExec(w));
  return in->next;
}

//===----------------------------------------------------------------------===//
// Argument reduction
//===----------------------------------------------------------------------===//

/// Fraction bits of 2/pi, most significant first; the instruction knows 1201.
constexpr u32 twoOverPi[39] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
                               0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
                               0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
                               0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
                               0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
                               0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20};

/// 53 bits of 2/pi from the position that the exponent and the segment give.
const Inst *trigPreop(Wave &w, const Inst *in) {
  alignas(64) u32 ta[128], tb[64], r[128];
  const u32 *a = fetch(w, in, 0, ta, 2), *b = fetch(w, in, 1, tb, 1);
  for (u32 i = 0; i < 64; ++i) {
    int exponent = int((a[64 + i] >> 20) & 0x7ffu);
    u32 shift = (b[i] & 31u) * 53 + u32(exponent > 1077 ? exponent - 1077 : 0);
    u64 bits = 0;
    for (u32 k = shift; k < shift + 53; ++k)
      bits = bits << 1 | (k < 1201 ? (twoOverPi[k / 32] >> (31 - k % 32)) & 1u : 0u);
    F64::put(r, i, ldexpDouble(double(bits), -53 - int(shift) + (exponent >= 1968 ? 128 : 0)));
  }
  store(w, in, r, TF64, 2);
  return in->next;
}

#define NARROW(NAME, E, F, SR, COUNT, ...)                                                                             \
  {"v_cvt_scalef32_" NAME, narrow<E, F, SR, COUNT>, TB32, __VA_ARGS__, CVALU, 0},
#define NARROW32(NAME, E, F, SR, TWO, ...)                                                                             \
  {"v_cvt_scalef32_" NAME, narrow32<E, F, SR, TWO>, TB32, __VA_ARGS__, CVALU, 0},
#define WIDEN(NAME, E, F, COUNT) {"v_cvt_scalef32_" NAME, widen<E, F, COUNT>, TB32, {TB32, TF32, TNone}, CVALU, 0},
#define WIDEN32(NAME, E, F) {"v_cvt_scalef32_" NAME, widen32<E, F>, TB32, {TB32, TF32, TNone}, CVALU, 0},
#define FORMATS8(N, F)                                                                                                 \
  NARROW("pk_" N "_f32", EF32, F, false, 2, {TF32, TF32, TF32})                                                        \
  NARROW("pk_" N "_f16", EF16, F, false, 2, {TB32, TF32, TNone})                                                       \
  NARROW("pk_" N "_bf16", EBF16, F, false, 2, {TB32, TF32, TNone})                                                     \
  NARROW("sr_" N "_f32", EF32, F, true, 1, {TF32, TB32, TF32})                                                         \
  NARROW("sr_" N "_f16", EF16, F, true, 1, {TB32, TB32, TF32})                                                         \
  NARROW("sr_" N "_bf16", EBF16, F, true, 1, {TB32, TB32, TF32})                                                       \
  WIDEN("f32_" N, EF32, F, 1)                                                                                          \
  WIDEN("f16_" N, EF16, F, 1)                                                                                          \
  WIDEN("pk_f32_" N, EF32, F, 2)                                                                                       \
  WIDEN("pk_f16_" N, EF16, F, 2)                                                                                       \
  WIDEN("pk_bf16_" N, EBF16, F, 2)
#define FORMATS6(N, F)                                                                                                 \
  NARROW32("2xpk16_" N "_f32", EF32, F, false, true, {TB32, TB32, TF32})                                               \
  NARROW32("pk32_" N "_f16", EF16, F, false, false, {TB32, TF32, TNone})                                               \
  NARROW32("pk32_" N "_bf16", EBF16, F, false, false, {TB32, TF32, TNone})                                             \
  NARROW32("sr_pk32_" N "_f32", EF32, F, true, false, {TB32, TB32, TF32})                                              \
  NARROW32("sr_pk32_" N "_f16", EF16, F, true, false, {TB32, TB32, TF32})                                              \
  NARROW32("sr_pk32_" N "_bf16", EBF16, F, true, false, {TB32, TB32, TF32})                                            \
  WIDEN32("pk32_f32_" N, EF32, F)                                                                                      \
  WIDEN32("pk32_f16_" N, EF16, F)                                                                                      \
  WIDEN32("pk32_bf16_" N, EBF16, F)

// clang-format off
constexpr OpDef rows[] = {
    FORMATS8("fp8", FP8)
    FORMATS8("bf8", BF8)
    FORMATS6("fp6", FP6)
    FORMATS6("bf6", BF6)
    NARROW("pk_fp4_f32", EF32, FP4, false, 2, {TF32, TF32, TF32})
    NARROW("pk_fp4_f16", EF16, FP4, false, 2, {TB32, TF32, TNone})
    NARROW("pk_fp4_bf16", EBF16, FP4, false, 2, {TB32, TF32, TNone})
    NARROW("sr_pk_fp4_f32", EF32, FP4, true, 2, {TB64, TB32, TF32})
    NARROW("sr_pk_fp4_f16", EF16, FP4, true, 2, {TB32, TB32, TF32})
    NARROW("sr_pk_fp4_bf16", EBF16, FP4, true, 2, {TB32, TB32, TF32})
    WIDEN("pk_f32_fp4", EF32, FP4, 2)
    WIDEN("pk_f16_fp4", EF16, FP4, 2)
    WIDEN("pk_bf16_fp4", EBF16, FP4, 2)
    {"v_cvt_sr_f16_f32", cvtSr16<false>, TB32, {TF32, TB32}, CVALU, 0},
    {"v_cvt_sr_bf16_f32", cvtSr16<true>, TB32, {TF32, TB32}, CVALU, 0},
    {"v_qsad_pk_u16_u8", qsad<false>, TB64, {TB64, TB32, TB64}, CVALU, OpDouble},
    {"v_mqsad_pk_u16_u8", qsad<true>, TB64, {TB64, TB32, TB64}, CVALU, OpDouble},
    {"v_mqsad_u32_u8", mqsad32, TB64, {TB64, TB32, TB64}, CVALU, OpDouble},
    {"v_trig_preop_f64", trigPreop, TF64, {TF64, TB32}, CVALU, 0},
};
// clang-format on

} // namespace

OpTable getSpecialOps() { return {rows, sizeof(rows) / sizeof(rows[0])}; }

} // namespace atrex::device::sim
