//===- HeadOperators.cpp - Norms and rotary embeddings of packed heads ----===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "References.h"
#include <algorithm>
#include <cmath>

using namespace atrex;
using namespace atrex::bench;

namespace {
constexpr DataType fp16First[] = {DataType::F16, DataType::BF16};
constexpr DataType bf16First[] = {DataType::BF16, DataType::F16};

//===----------------------------------------------------------------------===//
// fused_qk_rmsnorm
//===----------------------------------------------------------------------===//

void layOutHeadNorm(Layout &layout) {
  int64_t T = layout.count("num_tokens"), hq = layout.count("head_num"), hk = layout.count("kv_head_num");
  int64_t D = layout.count("size_per_head", 128);
  DataType type = layout.type("dtype", fp16First);
  layout.instance.scalars["eps"] = layout.number("eps", 1e-6);
  int64_t width = layout.product({hq + 2 * hk, D});
  layout.input("hidden_states", type, {T, width});
  layout.input("q_weight", type, {D}, Span::Whole);
  layout.input("k_weight", type, {D}, Span::Whole);
  layout.output("out", type, {T, width});
  layout.dims(T, {{"HQ", hq}, {"HK", hk}, {"D", D}}, {{"T", T}});
}

void drawHeadNorm(const Draw &draw) {
  if (draw.spec.name != "hidden_states" || !draw.isStrict)
    return draw.half();
  // Heads of very different size; the first head of the last token is zero.
  constexpr float sizes[] = {1, 0x1p-10f, 8, 0x1p-4f, 0x1p-2f};
  int64_t D = draw.dim("D"), heads = draw.dim("HQ") + 2 * draw.dim("HK"), zero = (draw.dim("T") - 1) * heads;
  draw.scaledRows(D, [&](int64_t head) { return sizes[head % 5]; });
  for (int64_t i = 0; i < draw.count; ++i)
    if ((draw.first + i) / D == zero)
      draw.values[i] = 0;
}

void computeHeadNorm(const Work &work) {
  int64_t hq = work.dim("HQ"), hk = work.dim("HK"), D = work.dim("D"), heads = hq + 2 * hk;
  DataType type = work.instance.outputs[0].type;
  float eps = float(work.scalar("eps"));
  std::vector<float> weights[] = {work.load(1, 0, D), work.load(2, 0, D)};
  parallelFor(work.rows, [&](int64_t row) {
    std::vector<float> x(static_cast<size_t>(D));
    for (int64_t head = 0; head < heads; ++head) {
      int64_t offset = (row * heads + head) * D;
      work.load(0, offset, D, x.data());
      if (head < hq + hk) {
        const std::vector<float> &weight = weights[head < hq ? 0 : 1];
        double squares = 0;
        for (float value : x)
          squares += double(value) * value;
        float factor = float(1.0 / std::sqrt(double(float(squares / double(D)) + eps)));
        // Rounded before and after the weight.
        for (int64_t d = 0; d < D; ++d)
          x[size_t(d)] = weight[size_t(d)] * roundTo(type, x[size_t(d)] * factor);
      }
      work.store(0, offset, D, x.data());
    }
  });
}

//===----------------------------------------------------------------------===//
// fused_qkv_rope
//===----------------------------------------------------------------------===//

void layOutRope(Layout &layout) {
  int64_t T = layout.count("total_tokens"), hq = layout.count("num_heads"), hk = layout.count("num_kv_heads");
  int64_t D = layout.count("head_dim"), R = layout.count("rope_dim");
  DataType type = layout.type("dtype", bf16First);
  bool hasBias = layout.flag("with_bias", false);
  layout.instance.scalars["rope_base"] = layout.number("rope_base", 10000.0);
  layout.require(R <= D && R % 2 == 0, fmt::format("parameter 'rope_dim' is {}; it must be even and at most {}", R, D));
  int64_t width = layout.product({hq + 2 * hk, D});
  layout.input("qkv", type, {T, width});
  layout.input("positions", DataType::I32, {T});
  if (hasBias)
    layout.input("qkv_bias", type, {width}, Span::Whole);
  layout.output("q", type, {T, hq, D});
  layout.output("k", type, {T, hk, D});
  layout.output("v", type, {T, hk, D});
  layout.instance.lists["bias"] = {hasBias};
  layout.dims(T, {{"HQ", hq}, {"HK", hk}, {"D", D}}, {{"T", T}}, {{"R", R}});
}

void drawRope(const Draw &draw) {
  if (draw.spec.name == "positions") {
    RandomStream stream = draw.stream("positions");
    for (int64_t i = 0; i < draw.count; ++i)
      draw.integers[i] = draw.isStrict ? 1 + int64_t(stream.getBelow(uint64_t(draw.first + i), 4000)) : draw.first + i;
    return;
  }
  draw.half(draw.spec.name == "qkv_bias" && !draw.isStrict ? 0.01f : 1.0f);
}

/// (a, b) becomes (a cos - b sin, b cos + a sin), each in binary32.
void rotate(float &a, float &b, float cosine, float sine) {
  float first = a * cosine - b * sine;
  b = b * cosine + a * sine;
  a = first;
}

void computeRope(const Work &work) {
  int64_t hq = work.dim("HQ"), hk = work.dim("HK"), D = work.dim("D"), R = work.dim("R"), half = R / 2;
  DataType type = work.instance.outputs[0].type;
  int64_t heads = hq + 2 * hk, width = heads * D;
  std::vector<float> bias;
  if (work.item("bias"))
    bias = work.load(2, 0, width);
  std::vector<float> inverse(static_cast<size_t>(half));
  for (int64_t f = 0; f < half; ++f) {
    float exponent = float(2 * f) / float(R);
    inverse[size_t(f)] = 1.0f / float(std::pow(double(float(work.scalar("rope_base"))), double(exponent)));
  }
  parallelFor(work.rows, [&](int64_t row) {
    std::vector<float> x = work.load(0, row * width, width), cosines(inverse.size()), sines(inverse.size());
    for (size_t i = 0; i < bias.size(); ++i)
      x[i] = roundTo(type, x[i] + bias[i]);
    float position = float(work.integer(1, row));
    for (size_t f = 0; f < inverse.size(); ++f) {
      float angle = position * inverse[f];
      cosines[f] = float(std::cos(double(angle)));
      sines[f] = float(std::sin(double(angle)));
    }
    for (int64_t head = 0; head < hq + hk; ++head)
      for (int64_t f = 0; f < half; ++f)
        rotate(x[size_t(head * D + f)], x[size_t(head * D + half + f)], cosines[size_t(f)], sines[size_t(f)]);
    work.store(0, row * hq * D, hq * D, x.data());
    work.store(1, row * hk * D, hk * D, x.data() + hq * D);
    work.store(2, row * hk * D, hk * D, x.data() + (hq + hk) * D);
  });
}

//===----------------------------------------------------------------------===//
// mrope
//===----------------------------------------------------------------------===//

void layOutAxes(Layout &layout) {
  int64_t T = layout.count("token_count"), hq = layout.count("num_query_heads"), hk = layout.count("num_kv_heads");
  int64_t D = layout.count("head_size", 128), R = layout.count("rotary_dim", 128);
  std::vector<int64_t> section = layout.list("mrope_section", 0);
  bool isInterleaved = layout.flag("mrope_interleaved", false), isNeox = layout.flag("is_neox_style", true);
  layout.require(section.size() == 3, "parameter 'mrope_section' must have three entries");
  layout.require(R <= D && R % 2 == 0,
                 fmt::format("parameter 'rotary_dim' is {}; it must be even and at most {}", R, D));
  layout.input("q", DataType::BF16, {T, layout.product({hq, D})});
  layout.input("k", DataType::BF16, {T, layout.product({hk, D})});
  layout.input("cos", DataType::F32, {3, T, R / 2}, Span::Whole);
  layout.input("sin", DataType::F32, {3, T, R / 2}, Span::Whole);
  layout.output("q", DataType::BF16, {T, layout.product({hq, D})});
  layout.output("k", DataType::BF16, {T, layout.product({hk, D})});
  std::vector<int64_t> axes;
  layout.require(R <= (int64_t(1) << 20), fmt::format("parameter 'rotary_dim' is {}; at most 2^20 is possible", R));
  for (int64_t f = 0; !layout.failed() && f < R / 2; ++f)
    if (isInterleaved)
      axes.push_back(f % 3 == 1 && f <= 3 * section[1] ? 1 : f % 3 == 2 && f <= 3 * section[2] ? 2 : 0);
    else
      axes.push_back(f < section[0] ? 0 : f < section[0] + section[1] ? 1 : 2);
  layout.instance.lists["axes"] = axes;
  layout.instance.lists["neox"] = {isNeox};
  layout.dims(T, {{"HQ", hq}, {"HK", hk}, {"D", D}}, {{"T", T}}, {{"R", R}});
}

void drawAxes(const Draw &draw) {
  if (draw.spec.type == DataType::BF16)
    return draw.half(draw.isStrict ? 1.0f : 0.02f);
  // Cosine and sine of the same angles.
  RandomStream stream = draw.stream("angle");
  if (!draw.isStrict)
    stream.fillNormal(uint64_t(draw.first), size_t(draw.count), draw.values);
  for (int64_t i = 0; i < draw.count; ++i) {
    float angle = draw.isStrict ? (stream.getUniform(uint64_t(draw.first + i)) * 2.0f - 1.0f) * float(M_PI)
                                : draw.values[i] * 0.1f;
    draw.values[i] = float(draw.spec.name == "cos" ? std::cos(double(angle)) : std::sin(double(angle)));
  }
}

void computeAxes(const Work &work) {
  int64_t T = work.dim("T"), D = work.dim("D"), half = work.dim("R") / 2;
  int64_t stride = work.item("neox") ? 1 : 2, distance = work.item("neox") ? half : 1;
  parallelFor(work.rows, [&](int64_t row) {
    std::vector<float> cosines(static_cast<size_t>(half)), sines(static_cast<size_t>(half));
    for (int64_t f = 0; f < half; ++f) {
      int64_t index = (work.item("axes", size_t(f)) * T + work.rowBegin + row) * half + f;
      work.load(2, index, 1, &cosines[size_t(f)]);
      work.load(3, index, 1, &sines[size_t(f)]);
    }
    for (unsigned tensor : {0u, 1u}) {
      int64_t width = work.dim(tensor == 0 ? "HQ" : "HK") * D;
      std::vector<float> x = work.load(tensor, row * width, width);
      for (int64_t head = 0; head < width; head += D)
        for (int64_t f = 0; f < half; ++f)
          rotate(x[size_t(head + f * stride)], x[size_t(head + f * stride + distance)], cosines[size_t(f)],
                 sines[size_t(f)]);
      work.store(tensor, row * width, width, x.data());
    }
  });
}

constexpr OperatorTable tables[] = {
    {"fused_qk_rmsnorm", layOutHeadNorm, drawHeadNorm, computeHeadNorm},
    {"fused_qkv_rope", layOutRope, drawRope, computeRope},
    {"mrope", layOutAxes, drawAxes, computeAxes},
};
} // namespace

llvm::ArrayRef<OperatorTable> bench::getHeadTables() { return tables; }
