//===- Page.h - A run as an HTML page ---------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_PAGE_H
#define ATREX_BENCH_PAGE_H

#include "atrex/Bench/Result.h"
#include <string>

namespace atrex::bench {

/// One self-contained HTML page: what ran, a chart per operator, a table of all
/// shapes that can be sorted and filtered, and the details of every shape. It
/// loads nothing.
std::string writePage(const RunRecord &record);

/// Why a shape scores above 1, in one sentence; empty for others. Scores are
/// never clipped, so each of them needs a reason.
std::string explainScore(const ShapeResult &shape);

/// Microseconds with about four significant digits.
std::string formatUs(double us);

/// A share as a percentage that says 100 only for all of it.
std::string formatShare(double share);

} // namespace atrex::bench

#endif // ATREX_BENCH_PAGE_H
