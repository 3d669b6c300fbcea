//===- Linear.cpp - Products in binary64 ----------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Linear.h"
#include "atrex/Bench/VectorClones.h"
#include <algorithm>

using namespace atrex;

namespace {
typedef double Doubles __attribute__((ext_vector_type(8)));
typedef float Floats __attribute__((ext_vector_type(8), aligned(4)));

__attribute__((always_inline)) inline void loadWide(const float *p, Doubles &out) {
  out = __builtin_convertvector(*reinterpret_cast<const Floats *>(p), Doubles);
}
__attribute__((always_inline)) inline double sumLanes(const Doubles &v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/// M x N dot products of length k: eight lanes, then the rest in order.
template <int M, int N>
__attribute__((always_inline)) inline void dotTile(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t k,
                                                   double *c, int64_t ldc) {
  Doubles sums[M][N];
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      sums[i][j] = 0;
  int64_t p = 0;
  for (; p + 8 <= k; p += 8) {
    Doubles right[N];
    for (int j = 0; j < N; ++j)
      loadWide(b + j * ldb + p, right[j]);
    for (int i = 0; i < M; ++i) {
      Doubles left;
      loadWide(a + i * lda + p, left);
      for (int j = 0; j < N; ++j)
        sums[i][j] += left * right[j];
    }
  }
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = sumLanes(sums[i][j]);
      for (int64_t q = p; q < k; ++q)
        sum += double(a[i * lda + q]) * double(b[j * ldb + q]);
      c[i * ldc + j] = sum;
    }
}

ATREX_VECTOR_CLONES void dotBlock(const float *a, int64_t lda, int64_t m, const float *b, int64_t ldb, int64_t n,
                                  int64_t k, double *c, int64_t ldc) {
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    int64_t i = 0;
    for (; i + 4 <= m; i += 4)
      dotTile<4, 4>(a + i * lda, lda, b + j * ldb, ldb, k, c + i * ldc + j, ldc);
    for (; i < m; ++i)
      dotTile<1, 4>(a + i * lda, lda, b + j * ldb, ldb, k, c + i * ldc + j, ldc);
  }
  for (; j < n; ++j)
    for (int64_t i = 0; i < m; ++i)
      dotTile<1, 1>(a + i * lda, lda, b + j * ldb, ldb, k, c + i * ldc + j, ldc);
}

ATREX_VECTOR_CLONES void columnBlock(const double *a, int64_t lda, int64_t m, const float *b, int64_t ldb, int64_t n,
                                     int64_t k, double *c, int64_t ldc) {
  for (int64_t j = 0; j < n; j += 16) {
    int64_t width = std::min<int64_t>(16, n - j);
    for (int64_t i = 0; i < m; ++i) {
      double *target = c + i * ldc + j;
      const double *factors = a + i * lda;
      if (width == 16) {
        Doubles low = 0, high = 0;
        for (int64_t p = 0; p < k; ++p) {
          Doubles first, second;
          loadWide(b + p * ldb + j, first);
          loadWide(b + p * ldb + j + 8, second);
          low += factors[p] * first;
          high += factors[p] * second;
        }
        for (int l = 0; l < 8; ++l) {
          target[l] += low[l];
          target[8 + l] += high[l];
        }
        continue;
      }
      for (int64_t l = 0; l < width; ++l) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += factors[p] * double(b[p * ldb + j + l]);
        target[l] += sum;
      }
    }
  }
}
} // namespace

void bench::multiplyRows(const float *a, int64_t lda, int64_t m, const float *b, int64_t ldb, int64_t n, int64_t k,
                         double *c, int64_t ldc) {
  // 64 rows of b stay in the cache while all rows of a pass.
  for (int64_t j = 0; j < n; j += 64)
    dotBlock(a, lda, m, b + j * ldb, ldb, std::min<int64_t>(64, n - j), k, c + j, ldc);
}

void bench::accumulateColumns(const double *a, int64_t lda, int64_t m, const float *b, int64_t ldb, int64_t n,
                              int64_t k, double *c, int64_t ldc) {
  columnBlock(a, lda, m, b, ldb, n, k, c, ldc);
}
