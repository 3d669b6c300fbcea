//===- Random.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every tensor has its own stream, named by operator and tag; any element can be
// drawn alone. Results do not depend on the machine: all arithmetic is binary64
// without contraction, logarithm and cosine are our own.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_RANDOM_H
#define ATREX_BENCH_RANDOM_H

#include "llvm/ADT/StringRef.h"
#include <cstddef>
#include <cstdint>

namespace atrex::bench {

/// The finaliser of splitmix64.
inline uint64_t mixBits(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

class RandomStream {
public:
  RandomStream(llvm::StringRef op, llvm::StringRef tag, uint64_t seed);

  /// Word i.
  uint64_t getWord(uint64_t i) const { return mixBits(key + golden * (i + 1)); }

  /// Uniform on [0, 1) in steps of 2^-24.
  float getUniform(uint64_t i) const { return float(getWord(i) >> 40) * 0x1p-24f; }

  /// Uniform integer below `limit`.
  uint32_t getBelow(uint64_t i, uint32_t limit) const { return uint32_t((getWord(i) >> 32) * limit >> 32); }

  /// Standard normal values first .. first + count - 1 (Box-Muller, cosine
  /// branch, words 2i and 2i + 1), rounded to binary32.
  void fillNormal(uint64_t first, size_t count, float *out) const;

  /// The same through the C library; the yardstick for fillNormal.
  float getNormalReference(uint64_t i) const;

private:
  static constexpr uint64_t golden = 0x9E3779B97F4A7C15ull;
  uint64_t key;
};

/// Rounds to bf16 and back, many at once.
void roundToBF16(float *values, size_t count);
/// Converts between bf16 words and binary32.
void encodeBF16(const float *values, size_t count, uint16_t *out);
void decodeBF16(const uint16_t *words, size_t count, float *out);

} // namespace atrex::bench

#endif // ATREX_BENCH_RANDOM_H
