//===- Products.cpp - Matrix products and mixtures of experts -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Linear.h"
#include "References.h"
#include <algorithm>
#include <cmath>

using namespace atrex;
using namespace atrex::bench;

namespace {
constexpr DataType bf16 = DataType::BF16, fp32 = DataType::F32, int32 = DataType::I32;
constexpr DataType fn = DataType::E4M3FN, fnuz = DataType::E4M3FNUZ;

/// Columns of the result that one thread computes at a time.
constexpr int64_t panel = 128;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

float invSqrt(int64_t n) { return float(std::pow(double(n), -0.5)); }

//===----------------------------------------------------------------------===//
// block_scaled_mm
//===----------------------------------------------------------------------===//

void layOutScaled(Layout &layout) {
  int64_t m = layout.count("m"), n = layout.count("n"), k = layout.count("k");
  int64_t gn = layout.count("group_n"), gk = layout.count("group_k");
  layout.require(n % gn == 0 && k % gk == 0,
                 fmt::format("n = {} and k = {} must be multiples of group_n = {} and group_k = {}", n, k, gn, gk));
  layout.input("a", fn, {m, k}, Span::Rows, gk);
  layout.input("b", fn, {n, k}, Span::Whole, layout.product({gn, k}));
  layout.input("a_scales", fp32, {m, k / gk});
  layout.input("b_scales", fp32, {n / gn, k / gk}, Span::Whole, k / gk);
  layout.output("out", fp32, {m, n});
  layout.dims(m, {{"N", n}, {"K", k}}, {{"M", m}}, {{"GN", gn}, {"GK", gk}});
}

/// Elements first .. of raw a or b: strict blocks differ by powers of two.
void drawRaw(const Draw &draw, bool isA, int64_t first, std::vector<float> &out) {
  int64_t k = draw.dim("K"), gn = draw.dim("GN"), gk = draw.dim("GK");
  draw.stream(isA ? "a" : "b").fillNormal(uint64_t(first), out.size(), out.data());
  if (!draw.isStrict)
    return;
  RandomStream sizes = draw.stream(isA ? "a/size" : "b/size");
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t row = (first + int64_t(i)) / k, block = (first + int64_t(i)) % k / gk;
    uint64_t index = uint64_t((isA ? row : row / gn) * (k / gk) + block);
    out[i] *= std::ldexp(1.0f, isA ? int(sizes.getBelow(index, 7)) - 3 : int(sizes.getBelow(index, 5)) - 2);
  }
}

void drawScaled(const Draw &draw) {
  int64_t k = draw.dim("K"), gn = draw.dim("GN"), gk = draw.dim("GK"), groups = k / gk;
  bool isA = draw.spec.name[0] == 'a', isScale = draw.spec.type == fp32;
  // Whole blocks: gk elements of a row, or gn rows.
  int64_t rows = isA ? 1 : gn, blockElements = isA ? gk : gn * k, blockScales = isA ? 1 : groups;
  int64_t blocks = draw.count / (isScale ? blockScales : blockElements);
  int64_t firstBlock = draw.first / (isScale ? blockScales : blockElements);
  RandomStream zeros = draw.stream(isA ? "a/zero" : "b/zero");
  std::vector<float> raw(static_cast<size_t>(blockElements));
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t first = (firstBlock + block) * blockElements, stride = isA ? gk : k;
    drawRaw(draw, isA, first, raw);
    for (int64_t g = 0; g < blockScales; ++g) {
      // The published scales of b take the maximum without the absolute value.
      bool takesSign = !isA && !draw.isStrict;
      float top = -std::numeric_limits<float>::infinity();
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = g * gk; c < (g + 1) * gk; ++c)
          top = std::max(top, takesSign ? raw[size_t(r * stride + c)] : std::abs(raw[size_t(r * stride + c)]));
      float scale = std::max(top * (1.0f / 448.0f), 1e-10f);
      if (isScale) {
        draw.values[block * blockScales + g] = scale;
        continue;
      }
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = g * gk; c < (g + 1) * gk; ++c) {
          int64_t index = r * stride + c;
          float value = std::clamp(raw[size_t(index)] / scale, -448.0f, 448.0f);
          // Zeros of both signs: 0x80 is -0 here but NaN in the other format.
          uint32_t word = draw.isStrict ? zeros.getBelow(uint64_t(first + index), 64) : 2;
          draw.values[block * blockElements + index] = word == 0 ? 0.0f : word == 1 ? -0.0f : value;
        }
    }
  }
}

void computeScaled(const Work &work) {
  int64_t n = work.dim("N"), k = work.dim("K"), gn = work.dim("GN"), gk = work.dim("GK"), groups = k / gk;
  std::vector<float> a = work.load(0, 0, work.rows * k), aScales = work.load(2, 0, work.rows * groups);
  parallelFor(ceilDiv(n, panel), [&](int64_t index) {
    int64_t first = index * panel, width = std::min(panel, n - first);
    std::vector<float> b = work.load(1, first * k, width * k), out(static_cast<size_t>(width));
    constexpr int64_t rowBlock = 64;
    std::vector<double> dots(size_t(rowBlock * width)), sums(dots.size());
    for (int64_t begin = 0; begin < work.rows; begin += rowBlock) {
      int64_t rows = std::min(rowBlock, work.rows - begin);
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t g = 0; g < groups; ++g) {
        multiplyRows(a.data() + begin * k + g * gk, k, rows, b.data() + g * gk, k, width, gk, dots.data(), width);
        std::vector<float> bScales(static_cast<size_t>(width));
        for (int64_t j = 0; j < width; ++j)
          work.load(3, (first + j) / gn * groups + g, 1, &bScales[size_t(j)]);
        for (int64_t i = 0; i < rows; ++i) {
          double scale = aScales[size_t((begin + i) * groups + g)];
          for (int64_t j = 0; j < width; ++j)
            sums[size_t(i * width + j)] += dots[size_t(i * width + j)] * scale * double(bScales[size_t(j)]);
        }
      }
      for (int64_t i = 0; i < rows; ++i) {
        std::copy_n(sums.data() + i * width, width, out.data());
        work.store(0, (begin + i) * n + first, width, out.data());
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// linear_sigmoid_mul
//===----------------------------------------------------------------------===//

void layOutLinear(Layout &layout) {
  int64_t T = layout.count("token_count"), H = layout.count("hidden_size"), O = layout.count("out_features");
  layout.input("hidden_states", bf16, {T, H});
  layout.input("weight", bf16, {O, H}, Span::Whole);
  layout.input("bias", bf16, {O}, Span::Whole);
  layout.input("post_mul_mat", bf16, {T, O});
  layout.output("out", bf16, {T, O});
  layout.dims(T, {{"H", H}, {"O", O}}, {{"T", T}});
}

void drawLinear(const Draw &draw) {
  const std::string &name = draw.spec.name;
  if (name == "weight")
    return draw.half(invSqrt(draw.dim("H")));
  draw.half(!draw.isStrict ? 0.02f : name == "hidden_states" ? 2.0f : 1.0f);
}

void computeLinear(const Work &work) {
  int64_t H = work.dim("H"), O = work.dim("O");
  std::vector<float> x = work.load(0, 0, work.rows * H);
  parallelFor(ceilDiv(O, panel), [&](int64_t index) {
    int64_t first = index * panel, width = std::min(panel, O - first);
    std::vector<float> weight = work.load(1, first * H, width * H), bias = work.load(2, first, width);
    std::vector<double> sums(size_t(work.rows * width));
    multiplyRows(x.data(), H, work.rows, weight.data(), H, width, H, sums.data(), width);
    for (int64_t i = 0; i < work.rows; ++i) {
      std::vector<float> out = work.load(3, i * O + first, width);
      for (int64_t j = 0; j < width; ++j) {
        // The bias is added before the only rounding of the gate.
        float gate = roundToBF16(float(sums[size_t(i * width + j)] + double(bias[size_t(j)])));
        out[size_t(j)] *= float(sigmoid(gate));
      }
      work.store(0, i * O + first, width, out.data());
    }
  });
}

//===----------------------------------------------------------------------===//
// Mixtures of experts
//===----------------------------------------------------------------------===//

/// Experts of strict cases: all but e = 3 mod 4, if `least` of them remain.
std::vector<int64_t> getUsedExperts(int64_t E, int64_t least) {
  std::vector<int64_t> used, all;
  for (int64_t e = 0; e < E; ++e) {
    all.push_back(e);
    if (e % 4 != 3)
      used.push_back(e);
  }
  return int64_t(used.size()) >= least ? used : all;
}

/// A row of the call and the factor its result gets.
struct Assignment {
  int64_t row;
  double factor;
};

/// out[row] += factor * (silu(x W1_gate) * (x W1_up)) W2 for the rows of one
/// expert; loadW1 and loadW2 give rows of the two matrices.
void addExpert(const std::vector<float> &x, int64_t H, int64_t I, const std::vector<Assignment> &assigned,
               llvm::function_ref<void(int64_t, int64_t, float *)> loadW1,
               llvm::function_ref<void(int64_t, int64_t, float *)> loadW2, std::vector<double> &out) {
  int64_t rows = int64_t(assigned.size());
  std::vector<float> in(size_t(rows * H)), activation(size_t(rows * I));
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(x.data() + assigned[size_t(i)].row * H, H, in.data() + i * H);
  parallelFor(ceilDiv(I, panel), [&](int64_t index) {
    int64_t first = index * panel, width = std::min(panel, I - first);
    std::vector<float> weight(size_t(width * H));
    std::vector<double> gate(size_t(rows * width)), up(gate.size());
    loadW1(first, width, weight.data());
    multiplyRows(in.data(), H, rows, weight.data(), H, width, H, gate.data(), width);
    loadW1(I + first, width, weight.data());
    multiplyRows(in.data(), H, rows, weight.data(), H, width, H, up.data(), width);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < width; ++j) {
        double g = float(gate[size_t(i * width + j)]);
        activation[size_t(i * I + first + j)] = float(g * sigmoid(g)) * float(up[size_t(i * width + j)]);
      }
  });
  parallelFor(ceilDiv(H, panel), [&](int64_t index) {
    int64_t first = index * panel, width = std::min(panel, H - first);
    std::vector<float> weight(size_t(width * I));
    std::vector<double> sums(size_t(rows * width));
    loadW2(first, width, weight.data());
    multiplyRows(activation.data(), I, rows, weight.data(), I, width, I, sums.data(), width);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < width; ++j)
        out[size_t(assigned[size_t(i)].row * H + first + j)] +=
            sums[size_t(i * width + j)] * assigned[size_t(i)].factor;
  });
}

void drawWeights(const Draw &draw) {
  int64_t k = draw.dim("TOPK");
  std::vector<float> logits(static_cast<size_t>(k));
  for (int64_t i = 0; i < draw.count; i += k) {
    draw.stream("topk_weights").fillNormal(uint64_t(draw.first + i), logits.size(), logits.data());
    softmaxRounded(logits.data(), k, draw.values + i);
  }
}

//===----------------------------------------------------------------------===//
// fused_moe
//===----------------------------------------------------------------------===//

void layOutMoe(Layout &layout) {
  int64_t T = layout.count("token_count"), H = layout.count("hidden_size"), I = layout.count("intermediate_size");
  int64_t E = layout.count("num_experts"), k = layout.count("top_k");
  layout.input("hidden_states", bf16, {T, H});
  layout.input("w1", bf16, {E, 2 * I, H}, Span::Whole);
  layout.input("w2", bf16, {E, H, I}, Span::Whole);
  layout.input("topk_weights", fp32, {T, k}, Span::Rows, k);
  layout.input("topk_ids", int32, {T, k}, Span::Rows, k);
  layout.output("out", fp32, {T, H});
  layout.dims(T, {{"E", E}, {"H", H}, {"I", I}, {"TOPK", k}}, {{"T", T}});
}

void drawMoe(const Draw &draw) {
  const std::string &name = draw.spec.name;
  int64_t E = draw.dim("E"), k = draw.dim("TOPK");
  if (name == "hidden_states")
    return draw.half(draw.isStrict ? 1.0f : 0.1f);
  if (name == "w1" || name == "w2")
    return draw.half(invSqrt(draw.dim(name == "w1" ? "H" : "I")));
  if (name == "topk_weights") {
    if (!draw.isStrict)
      return drawWeights(draw);
    // Every slot weighs about 1; the last one nothing in every fourth token.
    RandomStream stream = draw.stream("topk_weights");
    for (int64_t i = 0; i < draw.count; ++i) {
      int64_t index = draw.first + i;
      bool isZero = k > 1 && index / k % 4 == 1 && index % k == k - 1;
      draw.values[i] = isZero ? 0.0f : 0.5f + stream.getUniform(uint64_t(index));
    }
    return;
  }
  RandomStream stream = draw.stream("topk_ids");
  std::vector<int64_t> used = draw.isStrict ? getUsedExperts(E, 1) : std::vector<int64_t>();
  for (int64_t i = 0; i < draw.count; ++i) {
    int64_t index = draw.first + i, token = index / k, slot = index % k;
    // Repeated experts: twice in every third token, in all slots of the first.
    if (draw.isStrict && k > 1 && (token == 0 || (token % 3 == 0 && slot == 1)))
      index = token * k;
    draw.integers[i] = draw.isStrict ? used[stream.getBelow(uint64_t(index), uint32_t(used.size()))]
                                     : int64_t(stream.getBelow(uint64_t(index), uint32_t(E)));
  }
}

llvm::Error validateExperts(const Work &work) { return checkRange(work, 4, 0, work.dim("E")); }

void computeMoe(const Work &work) {
  int64_t E = work.dim("E"), H = work.dim("H"), I = work.dim("I"), k = work.dim("TOPK");
  std::vector<float> x = work.load(0, 0, work.rows * H), weights = work.load(3, 0, work.rows * k);
  std::vector<double> out(size_t(work.rows * H));
  for (int64_t e = 0; e < E; ++e) {
    std::vector<Assignment> assigned;
    for (int64_t row = 0; row < work.rows; ++row) {
      // A token may name an expert several times.
      double factor = 0;
      for (int64_t s = 0; s < k; ++s)
        if (work.integer(4, row * k + s) == e)
          factor += weights[size_t(row * k + s)];
      if (factor != 0)
        assigned.push_back({row, factor});
    }
    if (assigned.empty())
      continue;
    addExpert(
        x, H, I, assigned,
        [&](int64_t first, int64_t count, float *to) { work.load(1, (e * 2 * I + first) * H, count * H, to); },
        [&](int64_t first, int64_t count, float *to) { work.load(2, (e * H + first) * I, count * I, to); }, out);
  }
  std::vector<float> result(out.begin(), out.end());
  work.store(0, 0, work.rows * H, result.data());
}

//===----------------------------------------------------------------------===//
// fp8_blockscale_fused_moe
//===----------------------------------------------------------------------===//

void layOutFp8Moe(Layout &layout) {
  int64_t T = layout.count("token_count"), H = layout.count("hidden_size"), I = layout.count("intermediate_size");
  int64_t E = layout.count("num_experts"), k = layout.count("top_k");
  int64_t bn = layout.count("scale_block_n", 128), bk = layout.count("scale_block_k", 128);
  layout.instance.scalars["fc2_gain"] = layout.number("fc2_gain", 1);
  layout.require(
      H % bk == 0 && I % bn == 0,
      fmt::format("hidden_size {} and intermediate_size {} must be multiples of the blocks {} and {}", H, I, bk, bn));
  layout.require(k <= E, fmt::format("top_k is {}, but there are {} experts", k, E));
  layout.input("hidden_states", fnuz, {T, H}, Span::Rows, bk);
  layout.input("w1", fnuz, {E, 2 * I, H}, Span::Whole, layout.product({bn, H}));
  layout.input("w2", fnuz, {E, H, I}, Span::Whole, layout.product({bk, I}));
  layout.input("topk_weights", fp32, {T, k}, Span::Rows, k);
  layout.input("topk_ids", int32, {T, k}, Span::Rows, k);
  layout.input("a_scale", fp32, {T, H / bk});
  layout.input("fc1_scale", fp32, {E, 2 * I / bn, H / bk}, Span::Whole, H / bk);
  layout.input("fc2_scale", fp32, {E, H / bk, I / bn}, Span::Whole, I / bn);
  layout.output("out", fnuz, {T, H});
  layout.dims(T, {{"E", E}, {"H", H}, {"I", I}, {"TOPK", k}}, {{"T", T}}, {{"BN", bn}, {"BK", bk}});
}

/// Blocks of `rows` x `columns` of a tensor of `width` columns, quantised by
/// their absolute maximum.
void drawQuantised(const Draw &draw, const char *tag, int64_t rows, int64_t columns, int64_t width, float strictFactor,
                   float publishedFactor) {
  bool isScale = draw.spec.type == fp32;
  // One strip is `rows` rows; for rows == 1 a strip is one block.
  int64_t strip = rows == 1 ? columns : rows * width, scales = rows == 1 ? 1 : width / columns;
  int64_t stride = rows == 1 ? columns : width;
  int64_t unit = isScale ? scales : strip;
  std::vector<float> x(static_cast<size_t>(strip));
  RandomStream values = draw.stream(tag), sizes = draw.stream(std::string(tag) + "/size"),
               zeros = draw.stream(std::string(tag) + "/zero");
  for (int64_t done = 0; done < draw.count; done += unit) {
    int64_t index = (draw.first + done) / unit, first = index * strip;
    values.fillNormal(uint64_t(first), x.size(), x.data());
    for (int64_t g = 0; g < scales; ++g) {
      float factor = std::ldexp(1.0f, draw.isStrict ? int(sizes.getBelow(uint64_t(index * scales + g), 3)) - 1 : 0);
      float top = 0;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = g * columns; c < (g + 1) * columns; ++c) {
          float &value = x[size_t(r * stride + c)];
          if (!draw.isStrict)
            value = publishedFactor == 1 ? roundToBF16(value) : roundToBF16(roundToBF16(value) * publishedFactor);
          else if (strictFactor == 0)
            value = roundToBF16(value * factor);
          else
            value = roundToBF16(value * strictFactor) * factor;
          top = std::max(top, std::abs(value));
        }
      float scale = std::max(top, 1e-12f) * (1.0f / 240.0f);
      if (isScale) {
        draw.values[done + g] = scale;
        continue;
      }
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = g * columns; c < (g + 1) * columns; ++c) {
          int64_t at = r * stride + c;
          bool isZero = draw.isStrict && zeros.getBelow(uint64_t(first + at), 32) == 0;
          draw.values[done + at] = isZero ? 0.0f : std::clamp(x[size_t(at)] / scale, -240.0f, 240.0f);
        }
    }
  }
}

void drawFp8Moe(const Draw &draw) {
  const std::string &name = draw.spec.name;
  int64_t E = draw.dim("E"), H = draw.dim("H"), I = draw.dim("I"), k = draw.dim("TOPK");
  int64_t bn = draw.dim("BN"), bk = draw.dim("BK");
  if (name == "hidden_states" || name == "a_scale")
    return drawQuantised(draw, "hidden_states", 1, bk, H, 0, 0.03f);
  if (name == "w1" || name == "fc1_scale")
    return drawQuantised(draw, "w1", bn, bk, H, invSqrt(H), 1);
  if (name == "w2" || name == "fc2_scale") {
    drawQuantised(draw, "w2", bk, bn, I, float(8 * std::pow(double(I), -0.5)), 1);
    for (int64_t i = 0; name == "fc2_scale" && i < draw.count; ++i)
      draw.values[i] *= float(draw.instance.scalars.at("fc2_gain"));
    return;
  }
  if (name == "topk_weights")
    return drawWeights(draw);
  // The k largest of one word per expert.
  RandomStream stream = draw.stream("topk_ids");
  std::vector<int64_t> used = getUsedExperts(E, draw.isStrict ? k : E), order(used.size());
  for (int64_t i = 0; i < draw.count; i += k) {
    uint64_t base = uint64_t((draw.first + i) / k) * used.size();
    for (size_t j = 0; j < order.size(); ++j)
      order[j] = int64_t(j);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      uint64_t x = stream.getWord(base + uint64_t(a)), y = stream.getWord(base + uint64_t(b));
      return x != y ? x > y : a < b;
    });
    for (int64_t s = 0; s < k; ++s)
      draw.integers[i + s] = used[size_t(order[size_t(s)])];
  }
}

void computeFp8Moe(const Work &work) {
  int64_t E = work.dim("E"), H = work.dim("H"), I = work.dim("I"), k = work.dim("TOPK");
  int64_t bn = work.dim("BN"), bk = work.dim("BK");
  std::vector<float> x = work.load(0, 0, work.rows * H), scales = work.load(5, 0, work.rows * (H / bk));
  std::vector<float> weights = work.load(3, 0, work.rows * k);
  for (int64_t i = 0; i < work.rows * H; ++i)
    x[size_t(i)] *= scales[size_t(i / bk)];
  // Rows of an expert's matrix times the scales of their blocks, in binary32.
  auto loadScaled = [&](unsigned codes, unsigned scale, int64_t row, int64_t count, int64_t width, int64_t rowBlock,
                        int64_t columnBlock, float *to) {
    work.load(codes, row * width, count * width, to);
    int64_t blocks = width / columnBlock;
    std::vector<float> factors(static_cast<size_t>(blocks));
    for (int64_t r = 0; r < count; ++r) {
      work.load(scale, (row + r) / rowBlock * blocks, blocks, factors.data());
      for (int64_t c = 0; c < width; ++c)
        to[r * width + c] *= factors[size_t(c / columnBlock)];
    }
  };
  std::vector<double> out(size_t(work.rows * H));
  for (int64_t e = 0; e < E; ++e) {
    std::vector<Assignment> assigned;
    for (int64_t index = 0; index < work.rows * k; ++index)
      if (work.integer(4, index) == e)
        assigned.push_back({index / k, weights[size_t(index)]});
    if (assigned.empty())
      continue;
    addExpert(
        x, H, I, assigned,
        [&](int64_t first, int64_t count, float *to) { loadScaled(1, 6, e * 2 * I + first, count, H, bn, bk, to); },
        [&](int64_t first, int64_t count, float *to) { loadScaled(2, 7, e * H + first, count, I, bk, bn, to); }, out);
  }
  std::vector<float> result(out.begin(), out.end());
  work.store(0, 0, work.rows * H, result.data());
}

constexpr OperatorTable tables[] = {
    {"block_scaled_mm", layOutScaled, drawScaled, computeScaled},
    {"fp8_blockscale_fused_moe", layOutFp8Moe, drawFp8Moe, computeFp8Moe, validateExperts},
    {"fused_moe", layOutMoe, drawMoe, computeMoe, validateExperts},
    {"linear_sigmoid_mul", layOutLinear, drawLinear, computeLinear},
};
} // namespace

llvm::ArrayRef<OperatorTable> bench::getProductTables() { return tables; }
