//===- Numbers.h - Number formats and functions for handlers ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Branch-free so that loops over lanes vectorize, and written without library
// calls so that every x86 level gives the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_NUMBERS_H
#define ATREX_LIB_DEVICE_SIM_NUMBERS_H

#include "lib/Device/Sim/Access.h"

namespace atrex::device::sim {
namespace {

constexpr u32 defaultNaN32 = 0x7fc00000u;

ALWAYS_INLINE float halfToFloat(u32 h) {
#ifdef __F16C__
  return float(bitcast<_Float16>(u16(h)));
#endif
  u32 em = (h & 0x7fffu) << 13;
  float f = bitcast<float>(em) * 0x1p112f;
  u32 bits = bitcast<u32>(f);
  bits = em >= 0x0f800000u ? (em | 0x7f800000u) : bits;
  return bitcast<float>(bits | (h & 0x8000u) << 16);
}

/// Round to nearest even; NaN stays NaN with its upper payload, quieted.
ALWAYS_INLINE u32 floatToHalf(float f) {
  u32 x = bitcast<u32>(f), sign = (x >> 16) & 0x8000u;
  x &= 0x7fffffffu;
  u32 normal = (x + 0xfffu + ((x >> 13) & 1u) - (112u << 23)) >> 13;
  // Adding 0.5 puts the rounded subnormal into the low mantissa bits.
  u32 small = bitcast<u32>(bitcast<float>(x) + 0.5f) - 0x3f000000u;
  u32 r = x < 0x38800000u ? small : normal;
  r = x >= 0x477ff000u ? 0x7c00u : r;
  r = x > 0x7f800000u ? 0x7e00u | ((x >> 13) & 0x1ffu) : r;
  return r | sign;
}

/// The same where the host rounds to nearest even.
ALWAYS_INLINE u32 nearestHalf(float f) {
#ifdef __F16C__
  return bitcast<u16>(_Float16(f));
#else
  return floatToHalf(f);
#endif
}

/// a * b + c of halves as a float, rounded to odd: rounded to a half, it is the
/// fused result. The product is exact, and the sum has two bits to spare.
ALWAYS_INLINE float fmaHalves(float a, float b, float c) {
  float p = a * b, s = p + c, bb = s - p, err = (p - (s - bb)) + (c - bb);
  u32 bits = bitcast<u32>(s);
  u32 step = (err > 0) == (s > 0) ? 1u : ~0u;
  bool inexact = err != 0 && s - s == 0;
  return bitcast<float>(bits + (inexact && !(bits & 1u) ? step : 0u));
}

/// Round to nearest even through double; used where float would round twice.
ALWAYS_INLINE u32 doubleToHalf(double d) {
  u64 x = bitcast<u64>(d);
  u32 sign = u32(x >> 48) & 0x8000u;
  x &= 0x7fffffffffffffffull;
  u64 normal = (x + ((1ull << 41) - 1) + ((x >> 42) & 1) - (u64(1008) << 52)) >> 42;
  // 2^28 has an ulp of 2^-24, the smallest half.
  u64 small = bitcast<u64>(bitcast<double>(x) + 0x1p28) & 0xffffu;
  u64 r = x < (u64(1009) << 52) ? small : normal;
  r = x >= bitcast<u64>(65520.0) ? 0x7c00u : r;
  r = x > (u64(0x7ff) << 52) ? 0x7e00u | ((x >> 42) & 0x1ffu) : r;
  return u32(r) | sign;
}

/// Rounds by `mode`: 1 up, 2 down, 3 toward zero.
NO_INLINE u32 doubleToHalfDirected(double d, u32 mode) {
  u64 x = bitcast<u64>(d), mag = x & ~(1ull << 63);
  bool neg = x >> 63, away = mode == (neg ? 2u : 1u);
  u32 sign = neg ? 0x8000u : 0u;
  constexpr u64 inf = 0x7ffull << 52;
  if (mag >= inf)
    return sign | 0x7c00u | (mag > inf ? 0x200u | (u32(mag >> 42) & 0x1ffu) : 0u);
  if (!mag)
    return sign;
  int e = int(mag >> 52) - 1023;
  if (e > 15)
    return sign | (away ? 0x7c00u : 0x7bffu);
  u64 m = mag >> 52 ? (mag & ((1ull << 52) - 1)) | 1ull << 52 : mag;
  u32 drop = 42 + u32(e < -14 ? -14 - e : 0);
  u64 q = drop < 64 ? m >> drop : 0;
  bool rest = drop >= 64 || (m & ((1ull << drop) - 1));
  u32 r = e < -14 ? u32(q) : (u32(e + 15) << 10) + u32(q) - 0x400u;
  return sign | (r + (rest && away ? 1u : 0u));
}

ALWAYS_INLINE u32 floatToHalfTowardZero(float f) {
  u32 x = bitcast<u32>(f), sign = (x >> 16) & 0x8000u;
  x &= 0x7fffffffu;
  u32 r = (x - (112u << 23)) >> 13;
  if (x < 0x38800000u) {
    u32 e = x >> 23, m = (x & 0x7fffffu) | 0x800000u, shift = 126u - e;
    r = e < 102u ? 0u : m >> (shift > 31 ? 31 : shift);
  }
  r = x >= 0x47800000u ? 0x7bffu : r;
  r = x == 0x7f800000u ? 0x7c00u : r;
  r = x > 0x7f800000u ? 0x7e00u | ((x >> 13) & 0x1ffu) : r;
  return r | sign;
}

ALWAYS_INLINE u32 floatToBF16(float f) {
  u32 x = bitcast<u32>(f);
  u32 r = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
  return (x & 0x7fffffffu) > 0x7f800000u ? ((x >> 16) | 0x40u) : r;
}

/// An 8-bit float with E exponent and M mantissa bits.
struct Fp8Format {
  int ebits, mbits, bias;
  bool fnuz;
};
ALWAYS_INLINE Fp8Format fp8Format(bool isBF8, bool ocp) {
  if (isBF8)
    return {5, 2, ocp ? 15 : 16, !ocp};
  return {4, 3, ocp ? 7 : 8, !ocp};
}

ALWAYS_INLINE float fp8ToFloat(u32 x, Fp8Format f) {
  x &= 0xffu;
  u32 sign = (x & 0x80u) << 24;
  u32 e = (x & 0x7fu) >> f.mbits, m = x & ((1u << f.mbits) - 1u);
  if (f.fnuz) {
    if (x == 0x80u)
      return bitcast<float>(defaultNaN32);
  } else if (f.ebits == 5) {
    if (e == 31)
      return bitcast<float>(sign | 0x7f800000u | (m ? 0x400000u | m << 21 : 0u));
  } else if ((x & 0x7fu) == 0x7fu) {
    return bitcast<float>(sign | defaultNaN32);
  }
  if (e)
    return bitcast<float>(sign | (e + u32(127 - f.bias)) << 23 | m << (23 - f.mbits));
  float v = float(m) * bitcast<float>(u32(127 + 1 - f.bias - f.mbits) << 23);
  return bitcast<float>(bitcast<u32>(v) | sign);
}

/// Conversion with the rounding bits given: `bias` is added below the last kept
/// bit (nearest even when `stochastic` is false). Overflow gives NaN for E4M3
/// and FNUZ, infinity for E5M2 OCP, as with the clamp mode off.
ALWAYS_INLINE u32 floatToFp8(float v, Fp8Format f, bool stochastic, u32 random) {
  u32 x = bitcast<u32>(v), sign = (x >> 24) & 0x80u;
  x &= 0x7fffffffu;
  u32 nan = f.fnuz ? 0x80u : (f.ebits == 5 ? sign | 0x7eu : sign | 0x7fu);
  if (x > 0x7f800000u)
    return nan;
  u32 overflow = f.fnuz ? 0x80u : (f.ebits == 5 ? sign | 0x7cu : sign | 0x7fu);
  if (x == 0x7f800000u)
    return overflow;
  int e = int(x >> 23) - 127;
  u64 m = x >> 23 ? (x & 0x7fffffu) | 0x800000u : (x & 0x7fffffu) << 1;
  int minExp = 1 - f.bias;
  int drop = 23 - f.mbits + (e < minExp ? minExp - e : 0);
  if (drop > 40)
    drop = 40;
  u64 half = 1ull << (drop - 1);
  u64 add = stochastic ? (u64(random) << 32 >> (64 - drop)) : half - 1 + ((m >> drop) & 1);
  if (stochastic && drop > 32)
    add = u64(random) << (drop - 32);
  u64 q = (m + add) >> drop;
  u32 r;
  if (e < minExp) {
    r = u32(q);
  } else {
    // q has the hidden bit; a carry out of the mantissa raises the exponent.
    r = u32((u64(e + f.bias) << f.mbits) + q - (1ull << f.mbits));
  }
  u32 maxCode = f.fnuz ? 0x7fu : (f.ebits == 5 ? 0x7bu : 0x7eu);
  if (r > maxCode)
    return overflow;
  if (f.fnuz && r == 0)
    return 0;
  return r | sign;
}

//===----------------------------------------------------------------------===//
// Functions. Evaluated in double, rounded once to float.
//===----------------------------------------------------------------------===//

ALWAYS_INLINE double roundEven(double x) { return __builtin_roundeven(x); }

/// 2^x for |x| < 1000.
ALWAYS_INLINE double exp2Core(double x) {
  double n = (x + 0x1.8p52) - 0x1.8p52;
  double y = (x - n) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 6227020800.0;
  p = p * y + 1.0 / 479001600.0;
  p = p * y + 1.0 / 39916800.0;
  p = p * y + 1.0 / 3628800.0;
  p = p * y + 1.0 / 362880.0;
  p = p * y + 1.0 / 40320.0;
  p = p * y + 1.0 / 5040.0;
  p = p * y + 1.0 / 720.0;
  p = p * y + 1.0 / 120.0;
  p = p * y + 1.0 / 24.0;
  p = p * y + 1.0 / 6.0;
  p = p * y + 0.5;
  p = p * y + 1.0;
  p = p * y + 1.0;
  u64 scale = (bitcast<u64>(n + 0x1.8p52) + 1023) << 52;
  return p * bitcast<double>(scale);
}
ALWAYS_INLINE float exp2Float(float x) {
  float c = x > 200.0f ? 200.0f : x;
  c = c < -200.0f ? -200.0f : c;
  float r = float(exp2Core(c == c ? double(c) : 0.0));
  return x == x ? r : x;
}

/// log2 of a float; subnormals are exact in double.
ALWAYS_INLINE float log2Float(float x) {
  u64 b = bitcast<u64>(double(x));
  u64 k = (b - 0x3fe6a09e667f3bcdull) >> 52;
  double e = bitcast<double>((k & 0xfff) + 0x4330000000000000ull) - 0x1p52;
  e = (k & 0x800) ? e - 4096.0 : e;
  double m = bitcast<double>(b - (k << 52));
  double s = (m - 1.0) / (m + 1.0), t = s * s;
  double p = 1.0 / 21.0;
  p = p * t + 1.0 / 19.0;
  p = p * t + 1.0 / 17.0;
  p = p * t + 1.0 / 15.0;
  p = p * t + 1.0 / 13.0;
  p = p * t + 1.0 / 11.0;
  p = p * t + 1.0 / 9.0;
  p = p * t + 1.0 / 7.0;
  p = p * t + 1.0 / 5.0;
  p = p * t + 1.0 / 3.0;
  p = p * t + 1.0;
  float r = float(e + s * p * 0x1.71547652b82fep+1);
  u32 bits = bitcast<u32>(x);
  r = bits == 0x7f800000u ? x : r;
  r = (bits & 0x7fffffffu) == 0 ? -__builtin_inff() : r;
  r = x < 0.0f ? bitcast<float>(defaultNaN32) : r;
  return x == x ? r : x;
}

/// sin or cos of x revolutions.
ALWAYS_INLINE float sinRevolutions(float x, bool cosine) {
  double d = x;
  double big = __builtin_fabs(d) < 0x1p30 ? d : 0.0;
  double r = big - ((big + 0x1.8p52) - 0x1.8p52);
  double t = r * 4.0;
  double q = (t + 0x1.8p52) - 0x1.8p52;
  double y = (t - q) * 0x1.921fb54442d18p+0, z = y * y;
  double s = -1.0 / 1307674368000.0;
  s = s * z + 1.0 / 6227020800.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  s = (s * z) * y + y;
  double c = 1.0 / 20922789888000.0;
  c = c * z - 1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z - 0.5;
  c = c * z + 1.0;
  u64 quadrant = bitcast<u64>(q + 0x1.8p52) + (cosine ? 1 : 0);
  double v = (quadrant & 1) ? c : s;
  v = (quadrant & 2) ? -v : v;
  float f = float(v);
  bool finite = (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
  return finite ? f : bitcast<float>(defaultNaN32);
}

ALWAYS_INLINE float rsqFloat(float x) { return float(1.0 / __builtin_sqrt(double(x))); }

ALWAYS_INLINE int exponentOf(float x) { return int((bitcast<u32>(x) >> 23) & 0xff); }
ALWAYS_INLINE int exponentOf(double x) { return int((bitcast<u64>(x) >> 52) & 0x7ff); }
ALWAYS_INLINE bool isDenormal(float x) { return exponentOf(x) == 0 && (bitcast<u32>(x) & 0x7fffffu); }
ALWAYS_INLINE bool isDenormal(double x) { return exponentOf(x) == 0 && (bitcast<u64>(x) & 0xfffffffffffffull); }
ALWAYS_INLINE bool isNaN(float x) { return x != x; }
ALWAYS_INLINE bool isNaN(double x) { return x != x; }

/// x * 2^n, rounded once.
ALWAYS_INLINE double ldexpDouble(double x, int n) {
  n = n > 2200 ? 2200 : n;
  n = n < -2200 ? -2200 : n;
  // Two exact steps, then one that may round.
  if (n > 1023) {
    x *= 0x1p1023;
    n -= 1023;
    if (n > 1023) {
      x *= 0x1p1023;
      n -= 1023;
      n = n > 1023 ? 1023 : n;
    }
  } else if (n < -1022) {
    // Keep 53 spare bits so that the first steps stay exact.
    x *= 0x1p-969;
    n += 969;
    if (n < -1022) {
      x *= 0x1p-969;
      n += 969;
      n = n < -1022 ? -1022 : n;
    }
  }
  return x * bitcast<double>(u64(n + 1023) << 52);
}
ALWAYS_INLINE float ldexpFloat(float x, int n) {
  n = n > 400 ? 400 : n;
  n = n < -400 ? -400 : n;
  return float(double(x) * bitcast<double>(u64(n + 1023) << 52));
}

/// Saturating conversions; NaN gives 0.
ALWAYS_INLINE i32 toI32(double x) {
  x = x == x ? x : 0.0;
  x = x < -2147483648.0 ? -2147483648.0 : x;
  x = x > 2147483647.0 ? 2147483647.0 : x;
  return i32(x);
}
ALWAYS_INLINE u32 toU32(double x) {
  x = x == x ? x : 0.0;
  x = x < 0.0 ? 0.0 : x;
  x = x > 4294967295.0 ? 4294967295.0 : x;
  return u32(i64(x));
}

template <class F> ALWAYS_INLINE F minNum(F a, F b) {
  // -0 is less than +0; a NaN operand yields the other one.
  F r = a < b ? a : b;
  r = (a == b) ? (__builtin_signbit(a) ? a : b) : r;
  r = a == a ? r : b;
  return b == b ? r : a;
}
template <class F> ALWAYS_INLINE F maxNum(F a, F b) {
  F r = a > b ? a : b;
  r = (a == b) ? (__builtin_signbit(a) ? b : a) : r;
  r = a == a ? r : b;
  return b == b ? r : a;
}
template <class F> ALWAYS_INLINE F maximum(F a, F b) {
  F r = a > b ? a : b;
  r = (a == b) ? (__builtin_signbit(a) ? b : a) : r;
  r = b == b ? r : b;
  return a == a ? r : a;
}
template <class F> ALWAYS_INLINE F minimum(F a, F b) {
  F r = a < b ? a : b;
  r = (a == b) ? (__builtin_signbit(a) ? a : b) : r;
  r = b == b ? r : b;
  return a == a ? r : a;
}

ALWAYS_INLINE u32 bitReverse(u32 x) { return __builtin_bitreverse32(x); }
ALWAYS_INLINE i32 sext(u32 x, u32 bits) { return i32(x << (32 - bits)) >> (32 - bits); }

} // namespace
} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_NUMBERS_H
