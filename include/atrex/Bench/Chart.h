//===- Chart.h - A picture of a run -----------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_CHART_H
#define ATREX_BENCH_CHART_H

#include "atrex/Bench/Result.h"
#include <string>

namespace atrex::bench {

/// An SVG of the share of the roofline by shape: a bar for this run, a mark for
/// the production kernel and a line for the best that the launch time leaves.
/// Shapes are sorted by roofline time; a shape that fails has a red foot.
/// Light or dark as the reader prefers.
std::string drawChart(const RunRecord &record);

/// The same picture of some of the shapes for a page that has getChartStyle()
/// in its style and tells what the marks mean.
std::string drawInlineChart(const RunRecord &record, llvm::ArrayRef<ShapeResult> results);

/// The roofline of the chip in logarithmic axes (FLOP per byte, TFLOP/s), with a
/// dot for every shape that does floating point work and passes, and a ring for
/// its production kernel. Empty when there is no such shape.
std::string drawRoofline(const RunRecord &record, const Catalogue &catalogue);

/// Colours of a chart as CSS.
llvm::StringRef getChartStyle();

} // namespace atrex::bench

#endif // ATREX_BENCH_CHART_H
