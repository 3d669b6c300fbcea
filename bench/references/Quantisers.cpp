//===- Quantisers.cpp - Maximum and quantisation to fp8 -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sequence of binary32 operations decides bits: a product with a rounded
// reciprocal here, a true division there.
//
//===----------------------------------------------------------------------===//
#include "References.h"
#include <algorithm>
#include <cmath>

using namespace atrex;
using namespace atrex::bench;

namespace {
constexpr DataType bf16 = DataType::BF16, fnuz = DataType::E4M3FNUZ;
constexpr DataType fp8Types[] = {DataType::E4M3FNUZ, DataType::E4M3FN};

float findLargest(const std::vector<float> &values) {
  float largest = 0;
  for (float value : values)
    largest = std::isnan(value) || std::isnan(largest) ? std::numeric_limits<float>::quiet_NaN()
                                                       : std::max(largest, std::abs(value));
  return largest;
}

/// Larger of both; NaN stays.
float atLeast(float value, float floor) { return value < floor ? floor : value; }

/// Into [-limit, limit]; NaN stays.
float clamp(float value, float limit) { return value > limit ? limit : value < -limit ? -limit : value; }

//===----------------------------------------------------------------------===//
// fp8_dynamic_per_token_quant
//===----------------------------------------------------------------------===//

void layOutToken(Layout &layout) {
  int64_t T = layout.count("token_count"), H = layout.count("hidden_size");
  layout.input("x", bf16, {T, H});
  layout.output("q", fnuz, {T, H});
  layout.output("scale", DataType::F32, {T});
  layout.dims(T, {{"H", H}}, {{"T", T}});
}

void drawToken(const Draw &draw) {
  if (!draw.isStrict)
    return draw.half();
  constexpr float sizes[] = {1, 0x1p-20f, 0x1p20f, 1};
  int64_t T = draw.dim("T"), H = draw.dim("H");
  draw.scaledRows(H, [&](int64_t row) { return cycleRows(sizes, row, T); });
  // One outlier sends the rest of the row into the denormals; the floor decides
  // the scale of the last row.
  for (int64_t i = 0; i < draw.count; ++i) {
    int64_t row = (draw.first + i) / H;
    if (T >= 3 && row == T - 1)
      draw.values[i] = 0;
    else if (row % 4 == 3 && (draw.first + i) % H == H / 2)
      draw.values[i] = 1024;
  }
}

void computeToken(const Work &work) {
  int64_t H = work.dim("H");
  parallelFor(work.rows, [&](int64_t row) {
    std::vector<float> x = work.load(0, row * H, H);
    float scale = atLeast(findLargest(x), 1e-12f) * (1.0f / 240.0f), inverse = 1.0f / scale;
    for (float &value : x)
      value = clamp(value * inverse, 240);
    work.store(0, row * H, H, x.data());
    work.store(1, row, 1, &scale);
  });
}

//===----------------------------------------------------------------------===//
// per_token_group_quant_fp8
//===----------------------------------------------------------------------===//

void layOutGroup(Layout &layout) {
  int64_t T = layout.count("token_count"), H = layout.count("hidden_size"), G = layout.count("group_size");
  DataType type = layout.type("fp8", fp8Types);
  layout.require(H % G == 0,
                 fmt::format("parameter 'hidden_size' is {}; it must be a multiple of group_size {}", H, G));
  layout.input("x", bf16, {T, H});
  layout.output("quantized", type, {T, H});
  layout.output("scales", DataType::F32, {T, H / G});
  layout.dims(T, {{"H", H}}, {{"T", T}}, {{"G", G}});
}

void drawGroup(const Draw &draw) {
  if (!draw.isStrict)
    return draw.half();
  constexpr float sizes[] = {1, 0x1p-30f, 0x1p20f, 1, 0x1p-4f};
  int64_t G = draw.dim("G"), groups = draw.dim("T") * draw.dim("H") / G;
  // The last group is zero: the floor decides its scale.
  draw.scaledRows(G, [&](int64_t group) { return sizes[group % 5]; });
  for (int64_t i = 0; i < draw.count; ++i) {
    int64_t group = (draw.first + i) / G;
    if (group == groups - 1)
      draw.values[i] = 0;
    else if (group % 5 == 3 && (draw.first + i) % G == G / 3)
      draw.values[i] = 1024;
  }
}

void computeGroup(const Work &work) {
  int64_t H = work.dim("H"), G = work.dim("G");
  float limit = work.instance.outputs[0].type == fnuz ? 224.0f : 448.0f, reciprocal = 1.0f / limit;
  parallelFor(work.rows, [&](int64_t row) {
    for (int64_t g = 0; g < H / G; ++g) {
      std::vector<float> x = work.load(0, row * H + g * G, G);
      float scale = atLeast(findLargest(x) * reciprocal, 1e-10f);
      for (float &value : x)
        value = clamp(value / scale, limit);
      work.store(0, row * H + g * G, G, x.data());
      work.store(1, row * (H / G) + g, 1, &scale);
    }
  });
}

//===----------------------------------------------------------------------===//
// fused_rmsnorm_quant
//===----------------------------------------------------------------------===//

void layOutNorm(Layout &layout) {
  int64_t T = layout.count("token_count"), H = layout.count("hidden_size");
  layout.instance.scalars["eps"] = layout.number("eps", 1e-5);
  layout.input("x", bf16, {T, H});
  layout.input("residual", bf16, {T, H});
  layout.input("weight", bf16, {H}, Span::Whole);
  layout.output("quantized", fnuz, {T, H});
  layout.output("scale", DataType::F32, {T, 1});
  layout.output("residual_out", bf16, {T, H});
  layout.dims(T, {{"H", H}}, {{"T", T}});
}

void drawNorm(const Draw &draw) {
  constexpr float sizes[] = {1, 0x1p-9f, 32, 0x1p-4f};
  if (!draw.isStrict || draw.spec.name == "weight")
    return draw.half();
  draw.scaledRows(draw.dim("H"), [&](int64_t row) { return cycleRows(sizes, row, draw.dim("T")); });
}

void computeNorm(const Work &work) {
  int64_t H = work.dim("H");
  float eps = float(work.scalar("eps"));
  std::vector<float> weight = work.load(2, 0, H);
  parallelFor(work.rows, [&](int64_t row) {
    std::vector<float> x = work.load(0, row * H, H), residual = work.load(1, row * H, H);
    double squares = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = roundToBF16(x[i] + residual[i]);
      squares += double(x[i]) * x[i];
    }
    work.store(2, row * H, H, x.data());
    float factor = float(1.0 / std::sqrt(double(float(squares / double(H)) + eps)));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = roundToBF16((x[i] * factor) * weight[i]);
    float scale = findLargest(x) * (1.0f / 240.0f);
    if (scale == 0)
      scale = 1;
    for (float &value : x)
      value /= scale;
    work.store(0, row * H, H, x.data());
    work.store(1, row, 1, &scale);
  });
}

constexpr OperatorTable tables[] = {
    {"fp8_dynamic_per_token_quant", layOutToken, drawToken, computeToken},
    {"fused_rmsnorm_quant", layOutNorm, drawNorm, computeNorm},
    {"per_token_group_quant_fp8", layOutGroup, drawGroup, computeGroup},
};
} // namespace

llvm::ArrayRef<OperatorTable> bench::getQuantiserTables() { return tables; }
