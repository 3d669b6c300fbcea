//===- Recurrences.cpp - Convolution, chunked and stepwise delta rules ----===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Linear.h"
#include "References.h"
#include "atrex/Bench/VectorClones.h"
#include <algorithm>
#include <cmath>

using namespace atrex;
using namespace atrex::bench;

namespace {
constexpr DataType bf16 = DataType::BF16, fp32 = DataType::F32, int32 = DataType::I32;

//===----------------------------------------------------------------------===//
// Shared parts
//===----------------------------------------------------------------------===//

/// Key head that value head `head` of `heads` reads among `shared`.
int64_t getSharedHead(int64_t head, int64_t heads, int64_t shared) {
  return std::min(head / std::max<int64_t>(heads / shared, 1), shared - 1);
}

/// exp of a binary32 difference; a positive one is dropped, not clamped.
float decayOrDrop(float difference) { return difference <= 0 ? float(std::exp(double(difference))) : 0.0f; }

/// The gates g[B, T, H]: strict ones accumulate inside each chunk, with bumps and
/// dips that make pairs drop out. Drawn by whole sequences.
void drawGate(const Draw &draw) {
  int64_t T = draw.dim("T"), H = draw.dim("H"), C = draw.dim("C");
  RandomStream stream = draw.stream("g");
  std::vector<double> sums(static_cast<size_t>(H));
  for (int64_t i = 0; i < draw.count; ++i) {
    int64_t index = draw.first + i, t = index / H % T, inChunk = t % C;
    float uniform = stream.getUniform(uint64_t(index));
    if (!draw.isStrict) {
      draw.values[i] = -uniform;
      continue;
    }
    double &sum = sums[size_t(index % H)];
    sum = (inChunk == 0 ? 0 : sum) + double(uniform * 0.1f);
    draw.values[i] = float(-sum) + (inChunk % 8 == 5 ? 0.2f : inChunk % 8 == 2 ? -0.5f : 0.0f);
  }
}

/// Which states the sequences start from; distinct and permuted when strict.
void drawIndices(const Draw &draw) {
  int64_t S = draw.dim("NS");
  std::vector<int64_t> order;
  if (draw.isStrict)
    order = drawPermutation(draw.stream("initial_state_indices"), S);
  for (int64_t i = 0; i < draw.count; ++i)
    draw.integers[i] = draw.isStrict ? order[size_t(draw.first + i)] : (draw.first + i) % S;
}

void drawState(const Draw &draw, float factor) {
  draw.normal();
  for (int64_t i = 0; i < draw.count; ++i)
    draw.values[i] *= factor;
}

/// The sizes common to the delta-rule operators.
struct Sizes {
  int64_t B, T, HK, H, K, V;
};
Sizes readSizes(Layout &layout, const char *keyHeads) {
  return {layout.count("batch_size", 1), layout.count("token_count"),  layout.count(keyHeads),
          layout.count("num_v_heads"),   layout.count("key_dim", 128), layout.count("value_dim", 128)};
}
Sizes readSizes(const Work &work) {
  return {work.dim("B"), work.dim("T"), work.dim("HK"), work.dim("H"), work.dim("K"), work.dim("V")};
}

/// Rows first .. first + count - 1 of head `head` of a tensor [.., heads, width].
std::vector<float> loadHead(const Work &work, unsigned input, int64_t first, int64_t count, int64_t heads, int64_t head,
                            int64_t width) {
  std::vector<float> values(size_t(count * width));
  for (int64_t i = 0; i < count; ++i)
    work.load(input, ((first + i) * heads + head) * width, width, values.data() + i * width);
  return values;
}
void storeHead(const Work &work, unsigned output, int64_t first, int64_t count, int64_t heads, int64_t head,
               int64_t width, const float *values) {
  for (int64_t i = 0; i < count; ++i)
    work.store(output, ((first + i) * heads + head) * width, width, values + i * width);
}

std::vector<double> widen(const std::vector<float> &values) {
  return std::vector<double>(values.begin(), values.end());
}

/// Every state that no sequence starts from stays as it is.
void copyStates(const Work &work, unsigned input, unsigned output) {
  int64_t size = work.dim("H") * work.dim("K") * work.dim("V");
  parallelFor(work.dim("NS"),
              [&](int64_t s) { work.store(output, s * size, size, work.load(input, s * size, size).data()); });
}

//===----------------------------------------------------------------------===//
// causal_conv1d
//===----------------------------------------------------------------------===//

void layOutConvolution(Layout &layout) {
  int64_t T = layout.count("token_count"), dim = layout.count("dim"), W = layout.count("width", 4);
  layout.require(W >= 2 && W <= 1024, fmt::format("parameter 'width' is {}; it must be from 2 to 1024", W));
  std::string activation = layout.text("activation", "silu");
  layout.require(activation.empty() || activation == "silu" || activation == "swish",
                 fmt::format("activation '{}' is not one of silu, swish, null", activation));
  layout.input("x", bf16, {dim, T});
  layout.input("weight", bf16, {dim, W});
  layout.input("bias", bf16, {dim});
  layout.input("initial_state", bf16, {1, dim, W - 1}, Span::Whole);
  layout.output("out", bf16, {dim, T});
  layout.instance.lists["silu"] = {!activation.empty()};
  layout.dims(dim, {{"D", dim}, {"W", W}}, {{"T", T}});
}

void drawConvolution(const Draw &draw) { draw.half(draw.isStrict ? 1.0f : 0.02f); }

void computeConvolution(const Work &work) {
  int64_t T = work.dim("T"), W = work.dim("W");
  parallelFor(work.rows, [&](int64_t row) {
    std::vector<float> s(size_t(W - 1 + T)), weight = work.load(1, row * W, W), out(static_cast<size_t>(T));
    work.load(3, (work.rowBegin + row) * (W - 1), W - 1, s.data());
    work.load(0, row * T, T, s.data() + W - 1);
    float bias;
    work.load(2, row, 1, &bias);
    for (int64_t t = 0; t < T; ++t) {
      double sum = 0;
      for (int64_t j = 0; j < W; ++j)
        sum += double(s[size_t(t + j)]) * weight[size_t(j)];
      // Rounded before the activation.
      float y = roundToBF16(float(bias + sum));
      out[size_t(t)] = work.item("silu") ? float(double(y) / (1.0 + std::exp(-double(y)))) : y;
    }
    work.store(0, row * T, T, out.data());
  });
}

//===----------------------------------------------------------------------===//
// chunk_delta_rule_output
//===----------------------------------------------------------------------===//

void readScale(Layout &layout, int64_t K) {
  layout.instance.scalars["scale"] = double(float(layout.number("scale", std::pow(double(K), -0.5))));
}

void layOutChunkOutput(Layout &layout) {
  auto [B, T, HK, H, K, V] = readSizes(layout, "num_q_heads");
  int64_t C = layout.count("chunk_size", 64), NC = ceilDiv(T, C);
  readScale(layout, K);
  layout.input("q", bf16, {B, T, HK, K}, Span::Whole);
  layout.input("k", bf16, {B, T, HK, K}, Span::Whole);
  layout.input("v", bf16, {B, T, H, V}, Span::Whole);
  layout.input("h", bf16, {B, NC, H, K, V}, Span::Whole);
  layout.input("g", fp32, {B, T, H}, Span::Whole, layout.product({T, H}));
  layout.output("out", bf16, {B, T, H, V}, Span::Whole);
  layout.dims(1, {{"HK", HK}, {"H", H}, {"K", K}, {"V", V}}, {{"B", B}, {"T", T}, {"NC", NC}}, {{"C", C}});
}

void drawChunkOutput(const Draw &draw) {
  const std::string &name = draw.spec.name;
  if (name == "g")
    return drawGate(draw);
  if (name == "k")
    return draw.half(draw.isStrict ? float(std::pow(double(draw.dim("K")), -0.5)) : 1.0f);
  draw.half(!draw.isStrict ? 0.02f : name == "v" ? 2.0f : 1.0f);
}

void computeChunkOutput(const Work &work) {
  auto [B, T, HK, H, K, V] = readSizes(work);
  int64_t C = work.dim("C"), NC = work.dim("NC");
  double scale = work.scalar("scale");
  // Captured copies: structured bindings cannot be.
  int64_t tokens = T, keyHeads = HK, heads = H, keys = K, values = V;
  parallelFor(B * NC * H, [&](int64_t index) {
    int64_t head = index % heads, chunk = index / heads % NC, b = index / heads / NC;
    int64_t first = chunk * C, rows = std::min(C, tokens - first), shared = getSharedHead(head, heads, keyHeads);
    std::vector<float> q = loadHead(work, 0, b * tokens + first, rows, keyHeads, shared, keys);
    std::vector<float> k = loadHead(work, 1, b * tokens + first, rows, keyHeads, shared, keys);
    std::vector<float> v = loadHead(work, 2, b * tokens + first, rows, heads, head, values);
    std::vector<float> g = loadHead(work, 4, b * tokens + first, rows, heads, head, 1);
    std::vector<float> state = work.load(3, ((b * NC + chunk) * heads + head) * keys * values, keys * values);
    std::vector<double> a(size_t(rows * rows)), out(size_t(rows * values)), inner(size_t(rows * values));
    multiplyRows(q.data(), keys, rows, k.data(), keys, rows, keys, a.data(), rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < rows; ++j) {
        double &value = a[size_t(i * rows + j)];
        value = j > i ? 0.0 : double(roundToBF16(float(value * decayOrDrop(g[size_t(i)] - g[size_t(j)]))));
      }
    std::vector<double> wide = widen(q);
    accumulateColumns(wide.data(), keys, rows, state.data(), values, values, keys, out.data(), values);
    accumulateColumns(a.data(), rows, rows, v.data(), values, values, rows, inner.data(), values);
    std::vector<float> result(out.size());
    for (int64_t i = 0; i < rows; ++i) {
      double decay = float(std::exp(double(g[size_t(i)])));
      for (int64_t j = i * values; j < (i + 1) * values; ++j)
        result[size_t(j)] = float((out[size_t(j)] * decay + inner[size_t(j)]) * scale);
    }
    storeHead(work, 0, b * tokens + first, rows, heads, head, values, result.data());
  });
}

//===----------------------------------------------------------------------===//
// chunk_gated_delta_rule_state
//===----------------------------------------------------------------------===//

void layOutChunkState(Layout &layout) {
  auto [B, T, HK, H, K, V] = readSizes(layout, "num_k_heads");
  int64_t S = layout.count("state_count"), C = layout.count("chunk_size", 64), NC = ceilDiv(T, C);
  // Strict inputs take distinct states.
  layout.require(!layout.isStrict || B <= S,
                 fmt::format("{} sequences need as many states, but 'state_count' is {}", B, S));
  layout.input("k", bf16, {B, T, HK, K}, Span::Whole);
  layout.input("w", bf16, {B, T, H, K}, Span::Whole);
  layout.input("u", bf16, {B, T, H, V}, Span::Whole);
  layout.input("g", fp32, {B, T, H}, Span::Whole, layout.product({T, H}));
  layout.input("initial_state", fp32, {S, H, K, V}, Span::Whole);
  layout.input("initial_state_indices", int32, {B}, Span::Whole, 0);
  layout.output("h", bf16, {B, NC, H, K, V}, Span::Whole);
  layout.output("v_new", bf16, {B, T, H, V}, Span::Whole);
  layout.output("final_state", fp32, {S, H, K, V}, Span::Whole);
  layout.dims(1, {{"HK", HK}, {"H", H}, {"K", K}, {"V", V}}, {{"B", B}, {"T", T}, {"NC", NC}, {"NS", S}}, {{"C", C}});
}

void drawChunkState(const Draw &draw) {
  const std::string &name = draw.spec.name;
  if (name == "g")
    return drawGate(draw);
  if (name == "initial_state_indices")
    return drawIndices(draw);
  if (name == "initial_state")
    return drawState(draw, draw.isStrict ? 1.0f : 0.02f);
  draw.half(!draw.isStrict ? 0.02f : name == "u" ? 1.0f : float(std::pow(double(draw.dim("K")), -0.5)));
}

llvm::Error validateChunkState(const Work &work) { return checkRange(work, 5, 0, work.dim("NS")); }

void computeChunkState(const Work &work) {
  auto [B, T, HK, H, K, V] = readSizes(work);
  int64_t C = work.dim("C"), NC = work.dim("NC"), tokens = T, keyHeads = HK, heads = H, keys = K, values = V;
  int64_t sequences = B;
  copyStates(work, 4, 2);
  // Sequences that share a state follow each other: the last one stays.
  parallelFor(H, [&](int64_t head) {
    int64_t shared = getSharedHead(head, heads, keyHeads);
    for (int64_t b = 0; b < sequences; ++b) {
      int64_t place = (work.integer(5, b) * heads + head) * keys * values;
      std::vector<float> state = work.load(4, place, keys * values);
      for (int64_t chunk = 0; chunk < NC; ++chunk) {
        int64_t first = chunk * C, rows = std::min(C, tokens - first);
        std::vector<float> k = loadHead(work, 0, b * tokens + first, rows, keyHeads, shared, keys);
        std::vector<float> w = loadHead(work, 1, b * tokens + first, rows, heads, head, keys);
        std::vector<float> u = loadHead(work, 2, b * tokens + first, rows, heads, head, values);
        std::vector<float> g = loadHead(work, 3, b * tokens + first, rows, heads, head, 1);
        std::vector<float> rounded(state.size());
        for (size_t i = 0; i < state.size(); ++i)
          rounded[i] = roundToBF16(state[i]);
        work.store(0, ((b * NC + chunk) * heads + head) * keys * values, keys * values, rounded.data());
        std::vector<double> wide = widen(w), product(size_t(rows * values));
        accumulateColumns(wide.data(), keys, rows, rounded.data(), values, values, keys, product.data(), values);
        float last = g[size_t(rows - 1)];
        std::vector<float> fresh(product.size()), scaled(product.size());
        for (int64_t i = 0; i < rows; ++i) {
          // The unrounded difference is scaled.
          float decay = decayOrDrop(last - g[size_t(i)]);
          for (int64_t j = i * values; j < (i + 1) * values; ++j) {
            fresh[size_t(j)] = float(u[size_t(j)] - product[size_t(j)]);
            scaled[size_t(j)] = roundToBF16(fresh[size_t(j)] * decay);
          }
        }
        storeHead(work, 1, b * tokens + first, rows, heads, head, values, fresh.data());
        std::vector<double> transposed(size_t(keys * rows)), update(state.size());
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t p = 0; p < keys; ++p)
            transposed[size_t(p * rows + i)] = k[size_t(i * keys + p)];
        accumulateColumns(transposed.data(), rows, keys, scaled.data(), values, values, rows, update.data(), values);
        double decay = float(std::exp(double(last)));
        for (size_t i = 0; i < state.size(); ++i)
          state[i] = float(state[i] * decay + update[i]);
      }
      work.store(2, place, keys * values, state.data());
    }
  });
}

//===----------------------------------------------------------------------===//
// gated_delta_rule_update
//===----------------------------------------------------------------------===//

void layOutUpdate(Layout &layout) {
  auto [B, T, HK, H, K, V] = readSizes(layout, "num_q_heads");
  int64_t S = layout.count("state_count");
  // Strict inputs take distinct states.
  layout.require(!layout.isStrict || B <= S,
                 fmt::format("{} sequences need as many states, but 'state_count' is {}", B, S));
  readScale(layout, K);
  layout.instance.scalars["softplus_beta"] = layout.number("softplus_beta", 1.0);
  layout.instance.scalars["softplus_threshold"] = layout.number("softplus_threshold", 20.0);
  layout.require(layout.instance.scalars["softplus_beta"] != 0, "parameter 'softplus_beta' must not be 0");
  layout.instance.lists["l2norm"] = {layout.flag("use_qk_l2norm", true)};
  layout.input("A_log", fp32, {H}, Span::Whole);
  layout.input("a", bf16, {B, T, H}, Span::Whole);
  layout.input("dt_bias", bf16, {H}, Span::Whole);
  layout.input("q", bf16, {B, T, HK, K}, Span::Whole);
  layout.input("k", bf16, {B, T, HK, K}, Span::Whole);
  layout.input("v", bf16, {B, T, H, V}, Span::Whole);
  layout.input("b", bf16, {B, T, H}, Span::Whole);
  layout.input("initial_state", fp32, {S, H, K, V}, Span::Whole);
  layout.input("initial_state_indices", int32, {B}, Span::Whole, 0);
  layout.output("out", bf16, {B, T, H, V}, Span::Whole);
  layout.output("final_state", fp32, {S, H, K, V}, Span::Whole);
  layout.dims(1, {{"HK", HK}, {"H", H}, {"K", K}, {"V", V}}, {{"B", B}, {"T", T}, {"NS", S}});
}

void drawUpdate(const Draw &draw) {
  const std::string &name = draw.spec.name;
  int64_t H = draw.dim("H"), T = draw.dim("T"), HK = draw.dim("HK"), K = draw.dim("K");
  if (name == "initial_state_indices")
    return drawIndices(draw);
  if (name == "initial_state")
    return drawState(draw, draw.isStrict ? 1.0f : 0.02f);
  if (name == "A_log") {
    draw.normal();
    for (int64_t i = 0; i < draw.count; ++i) {
      // Memories of 2 to 150 tokens.
      int64_t head = draw.first + i;
      float center =
          head == H - 1 && H > 1 ? -0.5f : float(-5.0 + double(head) * (4.5 / double(std::max<int64_t>(H - 1, 1))));
      draw.values[i] = draw.isStrict ? center + 0.1f * draw.values[i] : draw.values[i] * 0.02f;
    }
    return;
  }
  if (!draw.isStrict)
    return draw.half(name == "k" || name == "b" ? 1.0f : 0.02f);
  if (name == "q") {
    // Queries that look like their keys.
    std::vector<float> key(size_t(draw.count));
    draw.stream("k").fillNormal(uint64_t(draw.first), key.size(), key.data());
    draw.normal();
    for (int64_t i = 0; i < draw.count; ++i)
      draw.values[i] = 0.7f * roundToBF16(key[size_t(i)]) + 0.7f * draw.values[i];
    return;
  }
  draw.half(name == "v" ? 8.0f : name == "b" ? 2.0f : 1.0f);
  for (int64_t i = 0; i < draw.count; ++i) {
    int64_t index = draw.first + i;
    // Far on the linear branch of softplus; keys without direction.
    if (name == "a" && index / H % T % 16 == 9)
      draw.values[i] = 24;
    if (name == "k" && index / (HK * K) % T % 32 == 7)
      draw.values[i] = 0;
  }
}

llvm::Error validateUpdate(const Work &work) { return checkRange(work, 8, 0, work.dim("NS")); }

/// One token: decay, correct along k, read along q. `reading` has 2 V entries of
/// scratch.
ATREX_VECTOR_CLONES void stepState(double *state, int64_t K, int64_t V, double decay, double beta, const double *k,
                                   const double *q, const float *v, double *reading, double *out) {
  for (int64_t j = 0; j < V; ++j)
    reading[j] = out[j] = 0;
  for (int64_t i = 0; i < K; ++i) {
    double *row = state + i * V, factor = k[i];
    for (int64_t j = 0; j < V; ++j) {
      row[j] *= decay;
      reading[j] += factor * row[j];
    }
  }
  for (int64_t j = 0; j < V; ++j)
    reading[j] = (double(v[j]) - reading[j]) * beta;
  for (int64_t i = 0; i < K; ++i) {
    double *row = state + i * V, factor = k[i], weight = q[i];
    for (int64_t j = 0; j < V; ++j) {
      row[j] += factor * reading[j];
      out[j] += weight * row[j];
    }
  }
}

void computeUpdate(const Work &work) {
  auto [B, T, HK, H, K, V] = readSizes(work);
  int64_t tokens = T, keyHeads = HK, heads = H, keys = K, values = V, sequences = B;
  double scale = work.scalar("scale"), slope = work.scalar("softplus_beta"), limit = work.scalar("softplus_threshold");
  bool isNormal = work.item("l2norm");
  copyStates(work, 7, 1);
  // Sequences that share a state follow each other: the last one stays.
  parallelFor(H, [&](int64_t head) {
    int64_t shared = getSharedHead(head, heads, keyHeads);
    for (int64_t b = 0; b < sequences; ++b) {
      int64_t place = (work.integer(8, b) * heads + head) * keys * values;
      std::vector<float> start = work.load(7, place, keys * values);
      std::vector<double> state = widen(start), out(static_cast<size_t>(values)), reading(out.size());
      float rate, bias, a, beta;
      work.load(0, head, 1, &rate);
      work.load(2, head, 1, &bias);
      auto loadDirection = [&](unsigned input, int64_t token) {
        std::vector<double> x = widen(work.load(input, (token * keyHeads + shared) * keys, keys));
        if (!isNormal)
          return x;
        double squares = 0;
        for (double value : x)
          squares += value * value;
        double length = std::max(std::sqrt(squares), 1e-6);
        for (double &value : x)
          value /= length;
        return x;
      };
      for (int64_t t = 0; t < tokens; ++t) {
        int64_t token = b * tokens + t;
        work.load(1, token * heads + head, 1, &a);
        work.load(6, token * heads + head, 1, &beta);
        double x = double(a) + double(bias);
        double soft = x * slope > limit ? x : std::log1p(std::exp(std::min(x * slope, limit))) / slope;
        double decay = std::exp(-std::exp(double(rate)) * soft);
        std::vector<double> k = loadDirection(4, token), q = loadDirection(3, token);
        for (double &value : q)
          value *= scale;
        std::vector<float> v = work.load(5, (token * heads + head) * values, values);
        stepState(state.data(), keys, values, decay, 1.0 / (1.0 + std::exp(-double(beta))), k.data(), q.data(),
                  v.data(), reading.data(), out.data());
        std::copy(out.begin(), out.end(), v.begin());
        work.store(0, (token * heads + head) * values, values, v.data());
      }
      std::copy(state.begin(), state.end(), start.begin());
      work.store(1, place, keys * values, start.data());
    }
  });
}

constexpr OperatorTable tables[] = {
    {"causal_conv1d", layOutConvolution, drawConvolution, computeConvolution},
    {"chunk_delta_rule_output", layOutChunkOutput, drawChunkOutput, computeChunkOutput},
    {"chunk_gated_delta_rule_state", layOutChunkState, drawChunkState, computeChunkState, validateChunkState},
    {"gated_delta_rule_update", layOutUpdate, drawUpdate, computeUpdate, validateUpdate},
};
} // namespace

llvm::ArrayRef<OperatorTable> bench::getRecurrenceTables() { return tables; }
