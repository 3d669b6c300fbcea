//===- Random.cpp - Counter-based random numbers --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Random.h"
#include "atrex/Bench/VectorClones.h"
#include "atrex/Support/DataType.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>

using namespace atrex;
using namespace atrex::bench;

RandomStream::RandomStream(llvm::StringRef op, llvm::StringRef tag, uint64_t seed) {
  // FNV-1a over "op/tag".
  uint64_t hash = 0xCBF29CE484222325ull;
  auto add = [&](llvm::StringRef text) {
    for (unsigned char c : text)
      hash = (hash ^ c) * 0x100000001B3ull;
  };
  add(op);
  add("/");
  add(tag);
  key = mixBits(hash + golden * (seed + 1));
}

namespace {
/// Natural logarithm of a normal positive number below 2; error below one ulp
/// (the reduction and coefficients of fdlibm).
__attribute__((always_inline)) inline double logarithm(double x) {
  uint64_t bits = llvm::bit_cast<uint64_t>(x);
  // Exponent such that the mantissa lies in [sqrt(1/2), sqrt(2)).
  uint64_t shifted = bits + (0x3FF0000000000000ull - 0x3FE6A09E667F3BCDull);
  // Exponents are small and negative: bias them to stay in unsigned conversion.
  double k = llvm::bit_cast<double>((shifted >> 52) | 0x4330000000000000ull) - (0x1p52 + 1023.0);
  double m = llvm::bit_cast<double>((shifted & 0x000FFFFFFFFFFFFFull) + 0x3FE6A09E667F3BCDull);
  double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
  double t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  double t2 = z * (6.666666666666735130e-01 +
                   w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  double half = 0.5 * f * f;
  return k * 6.93147180369123816490e-01 - ((half - (s * (half + (t1 + t2)) + k * 1.90821492927058770002e-10)) - f);
}

/// Cosine of x in [0, 2 pi]; error below one ulp of the quarter-turn remainder.
__attribute__((always_inline)) inline double cosine(double x) {
  // Adding 1.5 * 2^52 rounds to an integer, whose low bits are the quadrant.
  double shifted = x * 6.36619772367581382433e-01 + 0x1.8p52;
  uint64_t quadrant = llvm::bit_cast<uint64_t>(shifted);
  double n = shifted - 0x1.8p52;
  // pi/2 in three parts; the first has 33 bits, so n times it is exact.
  double r = x - n * 1.57079632673412561417e+00;
  double part = n * 6.07710050630396597660e-11;
  double y = r - part;
  double tail = ((r - y) - part) - n * 2.02226624879595063154e-21;
  double z = y * y;
  double cosineTerm = z * (4.16666666666666019037e-02 +
                           z * (-1.38888888888741095749e-03 +
                                z * (2.48015872894767294178e-05 +
                                     z * (-2.75573143513906633035e-07 +
                                          z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  double hz = 0.5 * z, w = 1.0 - hz;
  double c = w + (((1.0 - w) - hz) + (z * cosineTerm - y * tail));
  double sineTerm =
      8.33333333332248946124e-03 +
      z * (-1.98412698298579493134e-04 +
           z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  double v = z * y;
  double s = y - ((z * (0.5 * tail - v * sineTerm) - tail) - v * -1.66666666666666324348e-01);
  double magnitude = quadrant & 1 ? s : c;
  // cos(y + q pi/2): q = 0: c, 1: -s, 2: -c, 3: s.
  uint64_t sign = ((quadrant + 1) & 2) << 62;
  return llvm::bit_cast<double>(llvm::bit_cast<uint64_t>(magnitude) ^ sign);
}

constexpr size_t blockSize = 256;

ATREX_VECTOR_CLONES void fillBlock(uint64_t start, size_t count, float *out) {
  constexpr uint64_t golden = 0x9E3779B97F4A7C15ull;
  for (size_t i = 0; i < count; ++i) {
    uint64_t first = mixBits(start + golden * (2 * i)), second = mixBits(start + golden * (2 * i) + golden);
    // 53-bit integers to double in two exact halves: no conversion instruction
    // for 64-bit integers is needed.
    auto toDouble = [](uint64_t value) __attribute__((always_inline)) {
      double high = llvm::bit_cast<double>((value >> 32) | 0x4530000000000000ull) - 0x1p84;
      double low = llvm::bit_cast<double>((value & 0xFFFFFFFFull) | 0x4330000000000000ull) - 0x1p52;
      return high + low;
    };
    double u = (toDouble(first >> 11) + 1.0) * 0x1p-53, v = toDouble(second >> 11) * 0x1p-53;
    out[i] = float(__builtin_elementwise_sqrt(-2.0 * logarithm(u)) * cosine(6.283185307179586 * v));
  }
}

ATREX_VECTOR_CLONES void roundBlock(float *values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = llvm::bit_cast<uint32_t>(values[i]);
    uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000u;
    values[i] = llvm::bit_cast<float>((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC00000u : rounded);
  }
}

ATREX_VECTOR_CLONES void encodeBlock(const float *values, size_t count, uint16_t *out) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = llvm::bit_cast<uint32_t>(values[i]);
    uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    out[i] = uint16_t((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC0u : rounded);
  }
}
} // namespace

void RandomStream::fillNormal(uint64_t first, size_t count, float *out) const {
  for (size_t done = 0; done < count; done += blockSize)
    fillBlock(key + golden * (2 * (first + done) + 1), std::min(blockSize, count - done), out + done);
}

float RandomStream::getNormalReference(uint64_t i) const {
  double u = (double(getWord(2 * i) >> 11) + 1.0) * 0x1p-53, v = double(getWord(2 * i + 1) >> 11) * 0x1p-53;
  return float(std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * M_PI * v));
}

void bench::roundToBF16(float *values, size_t count) { roundBlock(values, count); }

void bench::encodeBF16(const float *values, size_t count, uint16_t *out) { encodeBlock(values, count, out); }

void bench::decodeBF16(const uint16_t *words, size_t count, float *out) {
  for (size_t i = 0; i < count; ++i)
    out[i] = llvm::bit_cast<float>(uint32_t(words[i]) << 16);
}
