//===- Lanes.h - Fetching and storing vector operands -----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand becomes a pointer to 64 dwords (two planes for 64-bit types): the
// register itself, a pooled constant, or a temporary that the slow path fills.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_LANES_H
#define ATREX_LIB_DEVICE_SIM_LANES_H

#include "lib/Device/Sim/Numbers.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace atrex::device::sim {
namespace {

enum SlowMode : u8 { SFlushIn32 = 1, SFlushOut32 = 2, SFlushIn64 = 4, SFlushOut64 = 8, SRound32 = 16, SRound64 = 32 };

ALWAYS_INLINE bool is64(TypeCode t) { return t == TB64 || t == TI64 || t == TF64 || t == TPKF32; }
ALWAYS_INLINE bool is16(TypeCode t) { return t == TB16 || t == TI16 || t == TF16; }

/// The lane a DPP control reads for lane i, or ~0 when there is none.
ALWAYS_INLINE u32 dppSource(u32 ctrl, u32 i) {
  u32 row = i & ~15u, in = i & 15u;
  if (ctrl < 0x100)
    return (i & ~3u) | ((ctrl >> (2 * (i & 3u))) & 3u);
  u32 n = ctrl & 15u;
  switch (ctrl >> 4) {
  case 0x10:
    return in + n < 16 ? row + in + n : ~0u;
  case 0x11:
    return in >= n ? row + in - n : ~0u;
  case 0x12:
    return row + ((in - n) & 15u);
  case 0x15:
    return row + n; // row_newbcast
  default:
    break;
  }
  switch (ctrl) {
  case 0x130: // wave_shl
    return i < 63 ? i + 1 : ~0u;
  case 0x134: // wave_rol
    return (i + 1) & 63u;
  case 0x138: // wave_shr
    return i ? i - 1 : ~0u;
  case 0x13c: // wave_ror
    return (i - 1) & 63u;
  case 0x140: // row_mirror
    return row + 15u - in;
  case 0x141: // row_half_mirror
    return (i & ~7u) + 7u - (i & 7u);
  case 0x142: // row_bcast:15, into the next row
    return i >= 16 ? row - 1 : ~0u;
  case 0x143: // row_bcast:31, into rows 2 and 3
    return i >= 32 ? 31u : ~0u;
  default:
    return i;
  }
}

/// Where each DPP control reads, and the lanes for which there is a source.
struct DppTable {
  u8 source[512][64];
  u64 inside[512];
  DppTable() {
    for (u32 ctrl = 0; ctrl < 512; ++ctrl) {
      inside[ctrl] = 0;
      for (u32 i = 0; i < 64; ++i) {
        u32 s = dppSource(ctrl, i);
        source[ctrl][i] = u8(s & 63u);
        inside[ctrl] |= u64(s != ~0u) << i;
      }
    }
  }
};
ALWAYS_INLINE const DppTable &getDppTable() {
  static const DppTable table;
  return table;
}

/// out[i] = in[source[i]] for 64 lanes. `rows`: each row of 16 lanes reads itself,
/// in the same order.
ALWAYS_INLINE void permuteLanes(const u32 *in, u32 *out, const u8 *source, bool rows) {
#ifdef __AVX512F__
  if (LIKELY(rows)) {
    const __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)source));
    for (u32 row = 0; row < 64; row += 16)
      _mm512_storeu_si512(out + row, _mm512_permutexvar_epi32(index, _mm512_loadu_si512(in + row)));
    return;
  }
#elif defined(__AVX2__)
  if (LIKELY(rows)) {
    __m256i index[2], high[2];
    for (u32 h = 0; h < 2; ++h) {
      index[h] = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(source + 8 * h)));
      high[h] = _mm256_cmpgt_epi32(index[h], _mm256_set1_epi32(7));
    }
    for (u32 row = 0; row < 64; row += 16) {
      const __m256i lo = _mm256_loadu_si256((const __m256i *)(in + row)),
                    hi = _mm256_loadu_si256((const __m256i *)(in + row + 8));
      for (u32 h = 0; h < 2; ++h)
        _mm256_storeu_si256((__m256i *)(out + row + 8 * h),
                            _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(lo, index[h]),
                                               _mm256_permutevar8x32_epi32(hi, index[h]), high[h]));
    }
    return;
  }
#endif
  (void)rows;
  for (u32 i = 0; i < 64; ++i)
    out[i] = in[source[i]];
}

/// The first source of a DPP instruction; invalid lanes are zero. Notes which
/// lanes are written.
NO_INLINE void applyDPP(Wave &w, u32 word, const u32 *in, u32 *x, u32 planes) {
  const u32 ctrl = (word >> 8) & 0x1ffu, bankMask = (word >> 24) & 15u, rowMask = (word >> 28) & 15u;
  const DppTable &table = getDppTable();
  const u8 *source = table.source[ctrl];
  // Rows alike: all but wave shifts and broadcasts to other rows.
  const bool rows = ctrl < 0x130 || (ctrl >= 0x140 && ctrl != 0x142 && ctrl != 0x143);
  u64 exec = getExec(w), valid = table.inside[ctrl];
  if (UNLIKELY(exec != ~0ull)) {
    u64 on = 0;
    for (u32 i = 0; i < 64; ++i)
      on |= ((exec >> source[i]) & 1u) << i;
    valid &= on;
  }
  for (u32 p = 0; p < planes; ++p)
    permuteLanes(in + p * 64, x + p * 64, source, rows);
  if (valid != ~0ull) {
    alignas(64) u32 m[64];
    expandMask(m, valid);
    for (u32 p = 0; p < planes; ++p)
      for (u32 i = 0; i < 64; ++i)
        x[p * 64 + i] &= m[i];
  }
  u64 enabled = ~0ull;
  if (UNLIKELY((bankMask & rowMask) != 15u)) {
    u64 row = 0;
    for (u32 b = 0; b < 4; ++b)
      row |= (bankMask >> b) & 1u ? 15ull << (4 * b) : 0ull;
    enabled = 0;
    for (u32 r = 0; r < 4; ++r)
      enabled |= (rowMask >> r) & 1u ? row << (16 * r) : 0ull;
  }
  w.dppMask = (word >> 19) & 1u ? enabled : enabled & valid;
}

NO_INLINE void broadcastSpecial(Wave &w, const Operand &o, u32 *tmp) {
  u64 x = readSpecial(w, o.reg);
  for (u32 i = 0; i < 64; ++i) {
    tmp[i] = u32(x);
    tmp[64 + i] = u32(x >> 32);
  }
}

NO_INLINE const u32 *fetchSlow(Wave &w, const Inst *in, u32 k, u32 *tmp) {
  const Operand &o = in->src[k];
  TypeCode t = o.type;
  u32 planes = is64(t) ? 2 : 1;
  const bool dpp = (in->flags & FDPP) && k == 0;
  // Signs only.
  if (t == TF32 && o.kind == OVGPR && !(in->flags & (FDPP | FSDWA))) {
    const u32 *p = w.v + o.reg;
    const u32 clear = o.mods & MAbs ? 0x7fffffffu : ~0u, flip = o.mods & MNeg ? 0x80000000u : 0u;
    for (u32 i = 0; i < 64; ++i)
      tmp[i] = (p[i] & clear) ^ flip;
    return tmp;
  }
  // Halves of packed operands chosen by op_sel.
  if (o.kind == OVGPR && !(in->flags & (FDPP | FSDWA)) && (t == TPK16 || t == TPKF16 || t == TPKF32)) {
    const u32 *p = w.v + o.reg;
    const bool lowIsHigh = (in->opsel >> k) & 1u, highIsHigh = (in->opselHi >> k) & 1u;
    const bool lowNeg = t != TPK16 && (o.mods & MNeg), highNeg = t != TPK16 && ((in->negHi >> k) & 1u);
    if (t == TPKF32) {
      const u32 *lo = p + (lowIsHigh ? 64 : 0), *hi = p + (highIsHigh ? 64 : 0);
      const u32 flipLo = lowNeg ? 0x80000000u : 0u, flipHi = highNeg ? 0x80000000u : 0u;
      for (u32 i = 0; i < 64; ++i) {
        tmp[i] = lo[i] ^ flipLo;
        tmp[64 + i] = hi[i] ^ flipHi;
      }
      return tmp;
    }
    const u32 lo = lowIsHigh ? 16 : 0, hi = highIsHigh ? 16 : 0;
    const u32 flip = (lowNeg ? 0x8000u : 0u) | (highNeg ? 0x80000000u : 0u);
    for (u32 i = 0; i < 64; ++i)
      tmp[i] = (((p[i] >> lo) & 0xffffu) | ((p[i] >> hi) << 16)) ^ flip;
    return tmp;
  }
  switch (o.kind) {
  case OVGPR:
    if (dpp)
      applyDPP(w, in->imm, w.v + o.reg, tmp, planes);
    else
      __builtin_memcpy(tmp, w.v + o.reg, planes * 256);
    break;
  case OConst:
    __builtin_memcpy(tmp, o.constant, planes * 256);
    break;
  case OSGPR:
    for (u32 p = 0; p < planes; ++p)
      for (u32 i = 0; i < 64; ++i)
        tmp[p * 64 + i] = w.s[o.reg + p];
    break;
  case OSpecial: {
    alignas(64) u32 both[128];
    broadcastSpecial(w, o, both);
    __builtin_memcpy(tmp, both, planes * 256);
    break;
  }
  }
  if ((in->flags & FSDWA) && k < 2) {
    u32 sel = (in->imm >> (k ? 24 : 16)) & 7u;
    bool sx = o.mods & MSext;
    u32 shift = sel < 4 ? sel * 8 : sel == 5 ? 16 : 0, bits = sel < 4 ? 8 : sel < 6 ? 16 : 32;
    for (u32 i = 0; i < 64; ++i) {
      u32 x = tmp[i] >> shift;
      if (bits < 32)
        x = sx ? u32(sext(x, bits)) : x & ((1u << bits) - 1u);
      tmp[i] = x;
    }
  } else if (t == TPK16 || t == TPKF16) {
    u32 lo = (in->opsel >> k) & 1u ? 16 : 0, hi = (in->opselHi >> k) & 1u ? 16 : 0;
    u32 flip = t == TPKF16 ? (o.mods & MNeg ? 0x8000u : 0u) | ((in->negHi >> k) & 1u ? 0x80000000u : 0u) : 0u;
    for (u32 i = 0; i < 64; ++i)
      tmp[i] = (((tmp[i] >> lo) & 0xffffu) | ((tmp[i] >> hi) << 16)) ^ flip;
    return tmp;
  } else if (t == TPKF32) {
    alignas(64) u32 both[128];
    __builtin_memcpy(both, tmp, 512);
    u32 lo = (in->opsel >> k) & 1u ? 64 : 0, hi = (in->opselHi >> k) & 1u ? 64 : 0;
    u32 flipLo = o.mods & MNeg ? 0x80000000u : 0u, flipHi = (in->negHi >> k) & 1u ? 0x80000000u : 0u;
    for (u32 i = 0; i < 64; ++i) {
      tmp[i] = both[lo + i] ^ flipLo;
      tmp[64 + i] = both[hi + i] ^ flipHi;
    }
    return tmp;
  } else if (is16(t) && ((in->opsel >> k) & 1u)) {
    for (u32 i = 0; i < 64; ++i)
      tmp[i] >>= 16;
  }
  if (o.mods & (MNeg | MAbs)) {
    u32 sign = t == TF16 || t == TB16 || t == TI16 ? 0x8000u : 0x80000000u;
    u32 clear = o.mods & MAbs ? ~sign : ~0u, flip = o.mods & MNeg ? sign : 0u;
    u32 *x = tmp + 64 * (planes - 1);
    for (u32 i = 0; i < 64; ++i)
      x[i] = (x[i] & clear) ^ flip;
  }
  return tmp;
}

/// Flushes subnormals of the given type to zero of the same sign.
NO_INLINE void flushPlanes(u32 *x, TypeCode t) {
  if (t == TF32) {
    for (u32 i = 0; i < 64; ++i)
      x[i] = x[i] & 0x7f800000u ? x[i] : x[i] & 0x80000000u;
  } else if (t == TPKF32) {
    for (u32 i = 0; i < 128; ++i)
      x[i] = x[i] & 0x7f800000u ? x[i] : x[i] & 0x80000000u;
  } else if (t == TF16) {
    for (u32 i = 0; i < 64; ++i)
      x[i] = x[i] & 0x7c00u ? x[i] : x[i] & 0xffff8000u;
  } else if (t == TPKF16) {
    for (u32 i = 0; i < 64; ++i) {
      u32 lo = x[i] & 0xffffu, hi = x[i] >> 16;
      lo = lo & 0x7c00u ? lo : lo & 0x8000u;
      hi = hi & 0x7c00u ? hi : hi & 0x8000u;
      x[i] = lo | hi << 16;
    }
  } else if (t == TF64) {
    for (u32 i = 0; i < 64; ++i)
      if (!(x[64 + i] & 0x7ff00000u)) {
        x[64 + i] &= 0x80000000u;
        x[i] = 0;
      }
  }
}

ALWAYS_INLINE bool isFloatType(TypeCode t) { return t == TF32 || t == TF16 || t == TF64 || t == TPKF16 || t == TPKF32; }
ALWAYS_INLINE bool isF32Type(TypeCode t) { return t == TF32 || t == TPKF32; }

NO_INLINE const u32 *flushInput(Wave &w, const u32 *p, u32 *tmp, TypeCode t) {
  if (!(w.slowMode & (isF32Type(t) ? SFlushIn32 : SFlushIn64)))
    return p;
  if (t == TF32) {
    for (u32 i = 0; i < 64; ++i)
      tmp[i] = p[i] & 0x7f800000u ? p[i] : p[i] & 0x80000000u;
    return tmp;
  }
  if (p != tmp)
    __builtin_memcpy(tmp, p, is64(t) ? 512 : 256);
  flushPlanes(tmp, t);
  return tmp;
}

/// Rounding modes other than nearest even go through MXCSR. The pointers keep
/// the compiler from moving the arithmetic out of the bracket.
NO_INLINE void setRounding(Wave &w, TypeCode t, const void *inputs) {
  u32 field = isF32Type(t) ? w.mode & 3u : (w.mode >> 2) & 3u;
  static const u8 map[4] = {0, 2, 1, 3}; // nearest, +inf, -inf, zero
  u32 csr;
  asm volatile("stmxcsr %0" : "=m"(csr)::"memory");
  csr = (csr & ~0x6000u) | u32(map[field]) << 13;
  asm volatile("ldmxcsr %0" ::"m"(csr), "r"(inputs) : "memory");
}
NO_INLINE void resetRounding(const void *results) {
  u32 csr;
  asm volatile("stmxcsr %0" : "=m"(csr) : "r"(results) : "memory");
  csr &= ~0x6000u;
  asm volatile("ldmxcsr %0" ::"m"(csr), "r"(results) : "memory");
}

ALWAYS_INLINE const u32 *fetch(Wave &w, const Inst *in, u32 k, u32 *tmp, u32 planes) {
  const Operand &o = in->src[k];
  if (UNLIKELY(o.slow))
    return fetchSlow(w, in, k, tmp);
  if (LIKELY(o.kind == OVGPR))
    return w.v + o.reg;
  if (o.kind == OConst)
    return o.constant;
  for (u32 p = 0; p < planes; ++p) {
    u32 x = w.s[o.reg + p];
    for (u32 i = 0; i < 64; ++i)
      tmp[p * 64 + i] = x;
  }
  return tmp;
}

NO_INLINE void storeSlow(Wave &w, const Inst *in, u32 *r, TypeCode t) {
  u32 planes = is64(t) ? 2 : 1;
  u32 *d = w.v + in->dst;
  if (in->omod && isFloatType(t)) {
    // Ignored by the hardware when subnormal results are on.
    bool off = isF32Type(t) ? !(w.slowMode & SFlushOut32) : !(w.slowMode & SFlushOut64);
    double scale = in->omod == 1 ? 2.0 : in->omod == 2 ? 4.0 : 0.5;
    for (u32 i = 0; i < 64 && !off; ++i) {
      if (t == TF32) {
        r[i] = bitcast<u32>(float(bitcast<float>(r[i]) * float(scale)));
      } else if (t == TF16) {
        r[i] = floatToHalf(halfToFloat(r[i]) * float(scale));
      } else if (t == TF64) {
        u64 x = bitcast<u64>(bitcast<double>(u64(r[i]) | u64(r[64 + i]) << 32) * scale);
        r[i] = u32(x);
        r[64 + i] = u32(x >> 32);
      }
    }
  }
  if (w.slowMode) {
    if (w.slowMode & (isF32Type(t) ? SFlushOut32 : SFlushOut64))
      flushPlanes(r, t);
  }
  if ((in->flags & FClamp) && isFloatType(t)) {
    bool dx10 = (w.mode >> 8) & 1u;
    for (u32 i = 0; i < 64; ++i) {
      if (t == TF32 || t == TPKF32) {
        for (u32 p = 0; p < planes; ++p) {
          float f = bitcast<float>(r[p * 64 + i]);
          r[p * 64 + i] = f != f      ? (dx10 ? 0u : r[p * 64 + i])
                          : f <= 0.0f ? 0u
                          : f > 1.0f  ? 0x3f800000u
                                      : r[p * 64 + i];
        }
      } else if (t == TF16 || t == TPKF16) {
        u32 out = 0;
        for (u32 h = 0; h < (t == TF16 ? 1u : 2u); ++h) {
          u32 bits = (r[i] >> (16 * h)) & 0xffffu;
          float f = halfToFloat(bits);
          out |= (f != f ? (dx10 ? 0u : bits) : f <= 0.0f ? 0u : f > 1.0f ? 0x3c00u : bits) << (16 * h);
        }
        r[i] = out;
      } else if (t == TF64) {
        double f = bitcast<double>(u64(r[i]) | u64(r[64 + i]) << 32);
        u64 x = f != f && !dx10 ? bitcast<u64>(f) : f > 1.0 ? bitcast<u64>(1.0) : f > 0.0 ? bitcast<u64>(f) : 0;
        r[i] = u32(x);
        r[64 + i] = u32(x >> 32);
      }
    }
  }
  u64 mask = getExec(w);
  if (in->flags & FDPP)
    mask &= w.dppMask;
  if (in->flags & FSDWA) {
    u32 sel = (in->imm >> 8) & 7u, unused = (in->imm >> 11) & 3u;
    if (sel != 6) {
      u32 shift = sel < 4 ? sel * 8 : sel == 5 ? 16 : 0, bits = sel < 4 ? 8 : 16;
      u32 field = (bits == 8 ? 0xffu : 0xffffu) << shift;
      for (u32 i = 0; i < 64; ++i) {
        u32 x = (r[i] << shift) & field;
        if (unused == 1)
          x = u32(sext(r[i], bits)) << shift;
        else if (unused == 2)
          x |= d[i] & ~field;
        r[i] = x;
      }
    }
  } else if (in->def->flags & OpKeepHalf) {
    bool hi = in->opsel & 8u;
    for (u32 i = 0; i < 64; ++i)
      r[i] = hi ? (r[i] << 16) | (d[i] & 0xffffu) : (r[i] & 0xffffu) | (d[i] & 0xffff0000u);
  }
  storePlanes(d, r, planes, mask);
}

ALWAYS_INLINE void store(Wave &w, const Inst *in, u32 *r, TypeCode t, u32 planes) {
  if (UNLIKELY((in->flags & FOutMod) || (w.slowMode && isFloatType(t))))
    storeSlow(w, in, r, t);
  else
    storePlanes(w.v + in->dst, r, planes, getExec(w));
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

#define ATREX_TAG32(NAME, CODE, TYPE, GET, PUT)                                                                        \
  struct NAME {                                                                                                        \
    using V = TYPE;                                                                                                    \
    static constexpr TypeCode code = CODE;                                                                             \
    static constexpr u32 planes = 1;                                                                                   \
    ALWAYS_INLINE V get(const u32 *p, u32 i) {                                                                         \
      u32 x = p[i];                                                                                                    \
      return GET;                                                                                                      \
    }                                                                                                                  \
    ALWAYS_INLINE void put(u32 *p, u32 i, V v) { p[i] = PUT; }                                                         \
  };
ATREX_TAG32(B32, TB32, u32, x, v)
ATREX_TAG32(I32, TI32, i32, i32(x), u32(v))
ATREX_TAG32(F32, TF32, float, bitcast<float>(x), bitcast<u32>(v))
ATREX_TAG32(B16, TB16, u32, x & 0xffffu, v & 0xffffu)
ATREX_TAG32(I16, TI16, i32, sext(x, 16), u32(v) & 0xffffu)
ATREX_TAG32(F16, TF16, float, halfToFloat(x & 0xffffu), nearestHalf(v))
/// Halves whose arithmetic gives floats rounded to odd: see fmaHalves.
ATREX_TAG32(HFma, TF16, float, halfToFloat(x & 0xffffu), nearestHalf(v))
/// A half whose arithmetic needs double to round once.
ATREX_TAG32(H64, TF16, double, double(halfToFloat(x & 0xffffu)), doubleToHalf(v))
/// Raw bits of a float.
ATREX_TAG32(R32, TF32, u32, x, v)
/// Raw bits of a half.
ATREX_TAG32(R16, TF16, u32, x & 0xffffu, v & 0xffffu)
#undef ATREX_TAG32

template <class T, TypeCode C> struct Wide {
  using V = T;
  static constexpr TypeCode code = C;
  static constexpr u32 planes = 2;
  ALWAYS_INLINE V get(const u32 *p, u32 i) { return bitcast<V>(u64(p[i]) | u64(p[i + 64]) << 32); }
  ALWAYS_INLINE void put(u32 *p, u32 i, V v) {
    u64 x = bitcast<u64>(v);
    p[i] = u32(x);
    p[i + 64] = u32(x >> 32);
  }
};
using B64 = Wide<u64, TB64>;
using I64 = Wide<i64, TI64>;
using F64 = Wide<double, TF64>;
/// Raw bits of a double.
using R64 = Wide<u64, TF64>;

template <class T> constexpr bool isFP = T::code == TF32 || T::code == TF16 || T::code == TF64;
template <class A, class B> constexpr bool isSame = false;
template <class A> constexpr bool isSame<A, A> = true;
template <class T> constexpr bool isRaw = isSame<T, R16> || isSame<T, R32> || isSame<T, R64>;

template <class A> ALWAYS_INLINE bool quietNaN(const u32 *p, u32 i, u64 &out) {
  if constexpr (A::code == TF32) {
    out = p[i] | 0x400000u;
    return (p[i] & 0x7fffffffu) > 0x7f800000u;
  } else if constexpr (A::code == TF16) {
    out = (p[i] & 0xffffu) | 0x200u;
    return (p[i] & 0x7fffu) > 0x7c00u;
  } else if constexpr (A::code == TF64) {
    u64 x = B64::get(p, i);
    out = x | 1ull << 51;
    return (x & ~(1ull << 63)) > (0x7ffull << 52);
  } else {
    return false;
  }
}

/// A conversion keeps a NaN's sign and the upper bits of its payload.
template <class A, class D> ALWAYS_INLINE u64 convertNaN(u64 x) {
  constexpr u32 from = A::code == TF64   ? 52
                       : A::code == TF32 ? 23
                                         : 10,
                to = D::code == TF64   ? 52
                     : D::code == TF32 ? 23
                                       : 10;
  u64 payload = x & ((1ull << from) - 1), sign = (x >> (A::code == TF64 ? 63 : A::code == TF32 ? 31 : 15)) & 1;
  if constexpr (to > from)
    payload <<= to - from;
  else
    payload >>= from - to;
  u32 width = D::code == TF64 ? 64 : D::code == TF32 ? 32 : 16;
  return sign << (width - 1) | (((1ull << (width - 1 - to)) - 1) << to) | payload;
}

/// Replaces NaN results: the first NaN source, quieted, else the positive
/// default. x86 would give a negative default and depend on operand order.
template <class D, class A, class B, class C> NO_INLINE void fixNaN(u32 *r, const u32 *a, const u32 *b, const u32 *c) {
  for (u32 i = 0; i < 64; ++i) {
    u64 bits = 0, nan;
    if (!quietNaN<D>(r, i, bits))
      continue;
    nan = D::code == TF64 ? 0x7ff8ull << 48 : D::code == TF16 ? 0x7e00u : defaultNaN32;
    if (A::code == D::code && quietNaN<A>(a, i, bits))
      nan = bits;
    else if (isFP<A> && A::code != D::code && !b && quietNaN<A>(a, i, bits))
      nan = convertNaN<A, D>(bits);
    else if (B::code == D::code && b && quietNaN<B>(b, i, bits))
      nan = bits;
    else if (C::code == D::code && c && quietNaN<C>(c, i, bits))
      nan = bits;
    r[i] = u32(nan);
    if constexpr (D::planes == 2)
      r[i + 64] = u32(nan >> 32);
  }
}

//===----------------------------------------------------------------------===//
// Handlers over element types
//===----------------------------------------------------------------------===//

/// MODE's rounding of f16 results when it is not to nearest even, else 0.
ALWAYS_INLINE u32 halfRounding(const Wave &w) { return UNLIKELY(w.slowMode & SRound64) ? (w.mode >> 2) & 3u : 0u; }

/// Half results in a directed mode. The arithmetic has already rounded in that
/// direction (MXCSR), and rounding once more the same way changes nothing.
template <class D, class A, class B, class C, u32 N, auto F>
NO_INLINE void directedHalves(u32 *r, const u32 *a, const u32 *b, const u32 *c, u32 mode) {
  if constexpr (isSame<D, HFma>)
    for (u32 i = 0; i < 64; ++i)
      r[i] = doubleToHalfDirected(H64::get(a, i) * H64::get(b, i) + H64::get(c, i), mode);
  else if constexpr (D::code == TF16 && !isRaw<D>)
    for (u32 i = 0; i < 64; ++i) {
      double x;
      if constexpr (N == 1)
        x = double(F(A::get(a, i)));
      else if constexpr (N == 2)
        x = double(F(A::get(a, i), B::get(b, i)));
      else
        x = double(F(A::get(a, i), B::get(b, i), C::get(c, i)));
      // The default NaN is the positive one; fixNaN tells by the bits.
      r[i] = doubleToHalfDirected(x, mode);
    }
}

template <class T> constexpr bool isPlainF32 = T::code == TF32 && !isRaw<T>;

/// f32 arithmetic where MODE flushes subnormals and does nothing else unusual.
template <class D, class A, class B, class C, u32 N, auto F>
ALWAYS_INLINE u32 flushingLoop(u32 *r, const u32 *a, const u32 *b, const u32 *c, u32 mode) {
  // With all bits set, only zeros are selected, which stay what they are.
  const u32 in = mode & SFlushIn32 ? 0x7f800000u : ~0u, out = mode & SFlushOut32 ? 0x7f800000u : ~0u;
  auto flush = [](u32 x, u32 m) { return x & m ? x : x & 0x80000000u; };
  u32 nan = 0;
#pragma clang loop vectorize(assume_safety)
  for (u32 i = 0; i < 64; ++i) {
    float x;
    if constexpr (N == 1)
      x = F(bitcast<float>(flush(a[i], in)));
    else if constexpr (N == 2)
      x = F(bitcast<float>(flush(a[i], in)), bitcast<float>(flush(b[i], in)));
    else
      x = F(bitcast<float>(flush(a[i], in)), bitcast<float>(flush(b[i], in)), bitcast<float>(flush(c[i], in)));
    r[i] = flush(bitcast<u32>(x), out);
    nan |= u32(x != x);
  }
  return nan;
}

template <class D, class A, class B, class C, u32 N, auto F> const Inst *opN(Wave &w, const Inst *in) {
  alignas(64) u32 ta[64 * A::planes], tb[64 * B::planes], tc[64 * C::planes], r[64 * D::planes];
  const u32 *a = fetch(w, in, 0, ta, A::planes);
  const u32 *b = nullptr, *c = nullptr;
  if constexpr (N > 1)
    b = fetch(w, in, 1, tb, B::planes);
  if constexpr (N > 2)
    c = fetch(w, in, 2, tc, C::planes);
  constexpr bool anyFP = isFP<D> || isFP<A>;
  // The other bits concern other types.
  if constexpr (isPlainF32<D> && isPlainF32<A> && (N < 2 || isPlainF32<B>) && (N < 3 || isPlainF32<C>))
    if (w.slowMode && !(w.slowMode & SRound32)) {
      // omod comes before the flush of the result.
      const u32 mode = in->flags & FOutMod ? w.slowMode & ~u32(SFlushOut32) : w.slowMode;
      if (UNLIKELY((flushingLoop<D, A, B, C, N, F>(r, a, b, c, mode))))
        fixNaN<D, A, B, C>(r, a, b, c);
      if (UNLIKELY(in->flags & FOutMod))
        storeSlow(w, in, r, TF32);
      else
        storePlanes(w.v + in->dst, r, 1, getExec(w));
      return in->next;
    }
  if constexpr (anyFP) {
    if (UNLIKELY(w.slowMode)) {
      if constexpr (isFP<A>)
        a = flushInput(w, a, ta, A::code);
      if constexpr (N > 1 && isFP<B>)
        b = flushInput(w, b, tb, B::code);
      if constexpr (N > 2 && isFP<C>)
        c = flushInput(w, c, tc, C::code);
      if (w.slowMode & (SRound32 | SRound64))
        setRounding(w, isFP<D> ? D::code : A::code, a);
    }
  }
  u32 nan = 0;
  // Results go to a local array, which no source can overlap.
  u32 halfMode = 0;
  if constexpr (D::code == TF16 && !isRaw<D>)
    halfMode = halfRounding(w);
  if (UNLIKELY(halfMode))
    directedHalves<D, A, B, C, N, F>(r, a, b, c, halfMode);
  else
#pragma clang loop vectorize(assume_safety)
    for (u32 i = 0; i < 64; ++i) {
      typename D::V x;
      if constexpr (N == 1)
        x = F(A::get(a, i));
      else if constexpr (N == 2)
        x = F(A::get(a, i), B::get(b, i));
      else
        x = F(A::get(a, i), B::get(b, i), C::get(c, i));
      D::put(r, i, x);
      if constexpr (isFP<D> && !isRaw<D>)
        nan |= u32(x != x);
    }
  if constexpr (anyFP)
    if (UNLIKELY(w.slowMode & (SRound32 | SRound64)))
      resetRounding(r);
  if constexpr (isFP<D> && !isRaw<D>)
    if (UNLIKELY(nan | halfMode))
      fixNaN<D, A, B, C>(r, a, b, c);
  store(w, in, r, D::code, D::planes);
  return in->next;
}

/// A comparison: the mask of active lanes goes to a scalar pair (and EXEC).
template <class A, class B, bool X, auto F> const Inst *cmpOp(Wave &w, const Inst *in) {
  alignas(64) u32 ta[64 * A::planes], tb[64 * B::planes], r[64];
  w.dppMask = ~0ull;
  const u32 *a = fetch(w, in, 0, ta, A::planes), *b = fetch(w, in, 1, tb, B::planes);
  if constexpr (isFP<A> && !isRaw<A>)
    if (UNLIKELY(w.slowMode)) {
      a = flushInput(w, a, ta, A::code);
      if constexpr (isFP<B>)
        b = flushInput(w, b, tb, B::code);
    }
  for (u32 i = 0; i < 64; ++i)
    r[i] = u32(F(A::get(a, i), B::get(b, i)));
  u64 mask = packMask(r) & getExec(w);
  if (in->flags & FDPP)
    mask &= w.dppMask;
  write64(w, in->sdst, mask);
  if constexpr (X)
    write64(w, regExec, mask);
  return in->next;
}

template <class T> constexpr ClassCode defaultClass = CVALU;

template <class D, class A, auto F> constexpr OpDef v1(const char *name, ClassCode cls = CVALU, u8 flags = 0) {
  return {name, opN<D, A, B32, B32, 1, F>, D::code, {A::code, TNone, TNone}, cls, flags};
}
template <class D, class A, class B, auto F> constexpr OpDef v2(const char *name, ClassCode cls = CVALU, u8 flags = 0) {
  return {name, opN<D, A, B, B32, 2, F>, D::code, {A::code, B::code, TNone}, cls, flags};
}
template <class D, class A, class B, class C, auto F>
constexpr OpDef v3(const char *name, ClassCode cls = CVALU, u8 flags = 0) {
  return {name, opN<D, A, B, C, 3, F>, D::code, {A::code, B::code, C::code}, cls, flags};
}
template <class A, class B, bool X, auto F> constexpr OpDef vc(const char *name) {
  return {name, cmpOp<A, B, X, F>, TMask, {A::code, B::code, TNone}, CVALU, 0};
}

} // namespace
} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_LANES_H
