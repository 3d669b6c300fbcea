//===- Bench.h - The bench as a program -------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_BENCH_H
#define ATREX_BENCH_BENCH_H

#include "atrex/Bench/Runner.h"

namespace atrex::bench {

/// The whole of `atrex-bench-mlir`; returns the exit code: 0 success, 1 input or
/// result at fault, 2 usage.
int runMain(llvm::ArrayRef<const char *> arguments, const Hooks &hooks, llvm::raw_ostream &out, llvm::raw_ostream &err);

} // namespace atrex::bench

#endif // ATREX_BENCH_BENCH_H
