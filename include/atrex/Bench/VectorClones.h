//===- VectorClones.h - Several instruction sets ----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_VECTORCLONES_H
#define ATREX_BENCH_VECTORCLONES_H

// One source, several instruction sets; the loader picks. The results are the
// same because the operations are.
#if defined(__x86_64__) && defined(__clang__) && defined(__linux__)
#define ATREX_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ATREX_VECTOR_CLONES
#endif

#endif // ATREX_BENCH_VECTORCLONES_H
