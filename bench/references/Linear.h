//===- Linear.h - Products in binary64 --------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of binary32 values are exact in binary64, so only the order of the
// additions decides bits; it is the same for every element whatever block it
// falls into.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_LINEAR_H
#define ATREX_BENCH_LINEAR_H

#include <cstdint>

namespace atrex::bench {

/// c[i, j] = sum over p of a[i, p] * b[j, p]; a is m x k, b n x k, rows lda and
/// ldb apart.
void multiplyRows(const float *a, int64_t lda, int64_t m, const float *b, int64_t ldb, int64_t n, int64_t k, double *c,
                  int64_t ldc);

/// c[i, :] += sum over p of a[i, p] * b[p, :]; a is m x k, b k x n.
void accumulateColumns(const double *a, int64_t lda, int64_t m, const float *b, int64_t ldb, int64_t n, int64_t k,
                       double *c, int64_t ldc);

} // namespace atrex::bench

#endif // ATREX_BENCH_LINEAR_H
