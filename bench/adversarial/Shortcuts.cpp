//===- Shortcuts.cpp - Wrong results that look right ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Random.h"
#include "atrex/Bench/Shortcut.h"
#include "bench/references/Table.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

using namespace atrex;
using namespace atrex::bench;

//===----------------------------------------------------------------------===//
// TensorSet
//===----------------------------------------------------------------------===//

size_t TensorSet::find(llvm::StringRef name) const {
  size_t index = 0;
  while (index + 1 < specs.size() && specs[index].name != name)
    ++index;
  return index;
}

std::vector<float> TensorSet::getFloats(llvm::StringRef name) const {
  const std::vector<uint8_t> &bytes = data[find(name)];
  DataType type = getSpec(name).type;
  std::vector<float> values(bytes.size() / getSizeInBytes(type));
  decodeFloats(type, bytes.data(), 0, int64_t(values.size()), values.data());
  return values;
}

void TensorSet::setFloats(llvm::StringRef name, const std::vector<float> &values) {
  encodeFloats(getSpec(name).type, values.data(), int64_t(values.size()), getData(name).data());
}

std::vector<int64_t> TensorSet::getIntegers(llvm::StringRef name) const {
  const std::vector<uint8_t> &bytes = data[find(name)];
  bool isWide = getSpec(name).type == DataType::I64;
  std::vector<int64_t> values(bytes.size() / (isWide ? 8 : 4));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = isWide ? reinterpret_cast<const int64_t *>(bytes.data())[i]
                       : reinterpret_cast<const int32_t *>(bytes.data())[i];
  return values;
}

void TensorSet::setIntegers(llvm::StringRef name, const std::vector<int64_t> &values) {
  std::vector<uint8_t> &bytes = getData(name);
  for (size_t i = 0; i < values.size(); ++i)
    if (getSpec(name).type == DataType::I64)
      reinterpret_cast<int64_t *>(bytes.data())[i] = values[i];
    else
      reinterpret_cast<int32_t *>(bytes.data())[i] = int32_t(values[i]);
}

void TensorSet::fill(llvm::StringRef name, float value) {
  setFloats(name, std::vector<float>(getFloats(name).size(), value));
}

std::vector<const void *> TensorSet::getPointers() const {
  std::vector<const void *> pointers;
  for (const std::vector<uint8_t> &bytes : data)
    pointers.push_back(bytes.data());
  return pointers;
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

namespace {
/// An input that might as well be zero.
template <char const *name> void zero(const Instance &, TensorSet &inputs) { inputs.fill(name, 0); }
void zeroOut(const Instance &, TensorSet &, TensorSet &outputs) { outputs.fill("out", 0); }

constexpr char h[] = "h", hidden[] = "hidden_states", state[] = "initial_state", v[] = "v", weight[] = "weight";

void roundOut(const Instance &, TensorSet &, TensorSet &outputs) {
  std::vector<float> values = outputs.getFloats("out");
  roundToBF16(values.data(), values.size());
  outputs.setFloats("out", values);
}

/// Keeps the `kept` heaviest slots of every token.
void keepHeaviest(const Instance &instance, TensorSet &inputs, int64_t kept) {
  int64_t k = instance.modelDims.at("TOPK");
  std::vector<float> weights = inputs.getFloats("topk_weights");
  std::vector<int64_t> order(static_cast<size_t>(k));
  for (size_t first = 0; first < weights.size(); first += size_t(k)) {
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](int64_t a, int64_t b) {
      float x = weights[first + size_t(a)], y = weights[first + size_t(b)];
      return x != y ? x > y : a < b;
    });
    for (int64_t i = kept; i < k; ++i)
      weights[first + size_t(order[size_t(i)])] = 0;
  }
  inputs.setFloats("topk_weights", weights);
}
void keepQuarter(const Instance &instance, TensorSet &inputs) {
  keepHeaviest(instance, inputs, std::max<int64_t>(1, instance.modelDims.at("TOPK") / 4));
}
void dropSmallest(const Instance &instance, TensorSet &inputs) {
  keepHeaviest(instance, inputs, instance.modelDims.at("TOPK") - 1);
}

void countDuplicatesOnce(const Instance &instance, TensorSet &inputs) {
  int64_t k = instance.modelDims.at("TOPK");
  std::vector<float> weights = inputs.getFloats("topk_weights");
  std::vector<int64_t> ids = inputs.getIntegers("topk_ids");
  for (int64_t i = 0; i < int64_t(ids.size()); ++i)
    for (int64_t j = i / k * k; j < i; ++j)
      if (ids[size_t(j)] == ids[size_t(i)])
        weights[size_t(i)] = 0;
  inputs.setFloats("topk_weights", weights);
}

/// Scales of the next block along the last axis.
template <char const *name> void takeNeighbour(const Instance &, TensorSet &inputs) {
  std::vector<float> scales = inputs.getFloats(name);
  size_t width = size_t(inputs.getSpec(name).shape.back());
  for (size_t first = 0; first < scales.size(); first += width)
    std::rotate(scales.begin() + long(first), scales.begin() + long(first) + 1, scales.begin() + long(first + width));
  inputs.setFloats(name, scales);
}
constexpr char aScales[] = "a_scales", bScales[] = "b_scales", fc1Scale[] = "fc1_scale", fc2Scale[] = "fc2_scale";

void saturate(const Instance &, TensorSet &, TensorSet &outputs) {
  std::vector<float> values = outputs.getFloats("out");
  for (float &value : values)
    value = std::isnan(value) ? 240.0f : value;
  outputs.setFloats("out", values);
}

//===----------------------------------------------------------------------===//
// Recurrences, rotary embeddings
//===----------------------------------------------------------------------===//

/// The states that sequences start from become zero.
void forgetStates(const Instance &instance, TensorSet &inputs) {
  std::vector<float> states = inputs.getFloats("initial_state");
  int64_t size = int64_t(states.size()) / instance.trafficDims.at("NS");
  for (int64_t index : inputs.getIntegers("initial_state_indices"))
    std::fill_n(states.begin() + index * size, size, 0.0f);
  inputs.setFloats("initial_state", states);
}

/// Only the last 24 tokens: nothing is known before, and keys before add nothing.
void forgetEarlyTokens(const Instance &instance, TensorSet &inputs) {
  forgetStates(instance, inputs);
  int64_t T = instance.trafficDims.at("T"), width = instance.modelDims.at("HK") * instance.modelDims.at("K");
  std::vector<float> k = inputs.getFloats("k");
  for (int64_t i = 0; i < int64_t(k.size()); ++i)
    if (i / width % T < T - 24)
      k[size_t(i)] = 0;
  inputs.setFloats("k", k);
}

void standStill(const Instance &, TensorSet &inputs) {
  inputs.setIntegers("positions", std::vector<int64_t>(inputs.getIntegers("positions").size(), 0));
}

void takeCosineOne(const Instance &, TensorSet &inputs) { inputs.fill("cos", 1); }

void takeFirstAxis(const Instance &, TensorSet &inputs) {
  for (const char *name : {"cos", "sin"}) {
    std::vector<float> values = inputs.getFloats(name);
    size_t plane = values.size() / 3;
    for (size_t i = plane; i < values.size(); ++i)
      values[i] = values[i % plane];
    inputs.setFloats(name, values);
  }
}

void useQueryWeight(const Instance &, TensorSet &inputs) { inputs.setFloats("k_weight", inputs.getFloats("q_weight")); }

void dropLastSlot(const Instance &instance, TensorSet &inputs) {
  int64_t k = instance.modelDims.at("K"), width = instance.modelDims.at("H");
  std::vector<float> values = inputs.getFloats("expert_outputs");
  for (int64_t i = 0; i < int64_t(values.size()); ++i)
    if (i / width % k == k - 1)
      values[size_t(i)] = 0;
  inputs.setFloats("expert_outputs", values);
}

void ignoreGemm(const Instance &, TensorSet &inputs) {
  inputs.fill("hidden_states", 0);
  inputs.fill("bias", 0);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// One query row of one head in any of the four attention operators: where its
/// query and output start, and how to find its keys.
struct AttentionRow {
  size_t query = 0, out = 0;
  int64_t keys = 0;
  /// Components of the query, and of the output.
  int64_t D = 0, width = 0;
  /// Index of component d of key j in the tensor of keys.
  std::function<size_t(int64_t j, int64_t d)> locateKey;
};

/// Calls `visit` with every row of every head; `keyName` is the tensor of keys.
void visitAttention(const Instance &instance, TensorSet &inputs, const char *&queryName, const char *&keyName,
                    llvm::function_ref<void(const AttentionRow &)> visit) {
  auto dim = [&](const char *name) {
    auto model = instance.modelDims.find(name);
    return model != instance.modelDims.end() ? model->second : instance.trafficDims.at(name);
  };
  int64_t D = dim("D");
  auto has = [&](const char *name) {
    return llvm::any_of(instance.inputs, [&](const TensorSpec &spec) { return spec.name == name; });
  };
  queryName = has("query") ? "query" : "q";
  keyName = has("kv_cache") ? "kv_cache" : has("k_cache") ? "k_cache" : "k";
  if (has("cu_seqlens_k")) { // attention_forward
    int64_t H = dim("H");
    std::vector<int64_t> cuQ = inputs.getIntegers("cu_seqlens_q"), cuK = inputs.getIntegers("cu_seqlens_k");
    for (size_t s = 0; s + 1 < cuQ.size(); ++s)
      for (int64_t i = cuQ[s]; i < cuQ[s + 1]; ++i)
        for (int64_t head = 0; head < H; ++head) {
          size_t at = size_t((i * H + head) * D);
          visit({at, at, cuK[s + 1] - cuK[s], D, D,
                 [=, first = cuK[s]](int64_t j, int64_t d) { return size_t(((first + j) * H + head) * D + d); }});
        }
  } else if (has("kv_cache")) { // mla_decode_attention
    int64_t H = dim("H"), L = dim("L"), first = 0;
    for (auto [b, length] : llvm::enumerate(inputs.getIntegers("seq_lens"))) {
      for (int64_t head = 0; head < H; ++head)
        visit({size_t((int64_t(b) * H + head) * D), size_t((int64_t(b) * H + head) * L), length, D, L,
               [=](int64_t j, int64_t d) { return size_t((first + j) * D + d); }});
      first += length;
    }
  } else if (has("block_tables")) { // paged_attention_decode
    int64_t HQ = dim("HQ"), HK = dim("HK"), BS = dim("BS"), MB = dim("MB");
    std::vector<int64_t> table = inputs.getIntegers("block_tables");
    for (auto [row, length] : llvm::enumerate(inputs.getIntegers("seq_lens")))
      for (int64_t head = 0; head < HQ; ++head) {
        size_t at = size_t((int64_t(row) * HQ + head) * D);
        visit({at, at, length, D, D, [=, first = int64_t(row) * MB, &table](int64_t j, int64_t d) {
                 int64_t block = table[size_t(first + j / BS)], kv = head / (HQ / HK);
                 return size_t((((block * HK + kv) * (D / 8) + d / 8) * BS + j % BS) * 8 + d % 8);
               }});
      }
  } else { // unified_attention
    int64_t HQ = dim("HQ"), HK = dim("HK"), BS = dim("BS"), MB = dim("MB");
    std::vector<int64_t> table = inputs.getIntegers("block_table"), cuQ = inputs.getIntegers("cu_seqlens_q");
    for (auto [s, length] : llvm::enumerate(inputs.getIntegers("seqused_k")))
      for (int64_t i = cuQ[s]; i < cuQ[s + 1]; ++i)
        for (int64_t head = 0; head < HQ; ++head) {
          size_t at = size_t((i * HQ + head) * D);
          bool isCausal = cuQ[s + 1] - cuQ[s] == length;
          visit({at, at, isCausal ? i - cuQ[s] + 1 : length, D, D,
                 [=, first = int64_t(s) * MB, &table](int64_t j, int64_t d) {
                   return size_t(((table[size_t(first + j / BS)] * BS + j % BS) * HK + head / (HQ / HK)) * D + d);
                 }});
        }
  }
}

/// Multiplies every row of the output by a factor of its largest logit and of the
/// sum of exp(logit - largest).
void scaleRows(const Instance &instance, TensorSet &inputs, TensorSet &outputs,
               llvm::function_ref<float(double top, double sum)> factor) {
  const char *queryName, *keyName;
  std::vector<float> out = outputs.getFloats("out"), q, k;
  visitAttention(instance, inputs, queryName, keyName, [&](const AttentionRow &row) {
    if (q.empty()) {
      q = inputs.getFloats(queryName);
      k = inputs.getFloats(keyName);
    }
    // Sequences without keys have no logits.
    if (row.keys == 0)
      return;
    std::vector<double> logits;
    for (int64_t j = 0; j < row.keys; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < row.D; ++d)
        dot += double(q[row.query + size_t(d)]) * k[row.locateKey(j, d)];
      logits.push_back(dot / std::sqrt(double(row.D)));
    }
    double top = *llvm::max_element(logits), sum = 0;
    for (double logit : logits)
      sum += std::exp(logit - top);
    for (int64_t d = 0; d < row.width; ++d)
      out[row.out + size_t(d)] *= factor(top, sum);
  });
  outputs.setFloats("out", out);
}

/// exp without the row maximum: infinity over infinity.
void overflowSoftmax(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  scaleRows(instance, inputs, outputs, [](double top, double) {
    return std::isinf(float(std::exp(top))) ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
  });
}

/// One padded key of zeros that was not masked.
void countPadding(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  scaleRows(instance, inputs, outputs, [](double top, double sum) { return float(sum / (sum + std::exp(-top))); });
}

/// Lengths rounded up to whole pages: slots nobody wrote are read.
void readWholePages(const Instance &instance, TensorSet &inputs) {
  int64_t BS = instance.modelDims.at("BS");
  std::vector<int64_t> lengths = inputs.getIntegers("seq_lens");
  for (int64_t &length : lengths)
    length = ceilDiv(length, BS) * BS;
  inputs.setIntegers("seq_lens", lengths);
}

/// The first page of a sequence serves all its tokens.
template <char const *name> void useFirstPage(const Instance &instance, TensorSet &inputs) {
  std::vector<int64_t> table = inputs.getIntegers(name);
  size_t width = size_t(instance.trafficDims.at("MB"));
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = table[i / width * width];
  inputs.setIntegers(name, table);
}
constexpr char blockTable[] = "block_table", blockTables[] = "block_tables";

/// Pages in ascending order, whatever the table says.
template <char const *name> void ignoreTable(const Instance &, TensorSet &inputs) {
  std::vector<int64_t> table = inputs.getIntegers(name);
  std::iota(table.begin(), table.end(), 0);
  inputs.setIntegers(name, table);
}

//===----------------------------------------------------------------------===//
// Selection, sorting, quantisation
//===----------------------------------------------------------------------===//

/// Exactly k values survive; the reference keeps ties.
void cutTies(const Instance &instance, TensorSet &, TensorSet &outputs) {
  std::vector<float> out = outputs.getFloats("out");
  size_t V = size_t(instance.modelDims.at("V"));
  int64_t k = instance.modelDims.at("K");
  for (size_t first = 0; first < out.size(); first += V) {
    int64_t kept = 0;
    float least = std::numeric_limits<float>::infinity();
    for (size_t i = first; i < first + V; ++i)
      if (!std::isinf(out[i]))
        least = std::min(least, out[i]);
    for (size_t i = first; i < first + V; ++i)
      kept += out[i] > least;
    for (size_t i = first; i < first + V; ++i)
      if (out[i] == least && kept++ >= k)
        out[i] = -std::numeric_limits<float>::infinity();
  }
  outputs.setFloats("out", out);
}

/// Slots of one expert in any order, as atomic counters leave them: here the
/// first two that belong together change places.
void sortUnstably(const Instance &, TensorSet &inputs, TensorSet &outputs) {
  std::vector<int64_t> ids = inputs.getIntegers("topk_ids"), order = outputs.getIntegers("sorted_token_ids");
  auto expert = [&](int64_t slot) { return slot < int64_t(ids.size()) ? ids[size_t(slot)] : -1; };
  for (size_t i = 0; i + 1 < order.size(); ++i)
    if (expert(order[i]) >= 0 && expert(order[i]) == expert(order[i + 1])) {
      std::swap(order[i], order[i + 1]);
      break;
    }
  outputs.setIntegers("sorted_token_ids", order);
}

void renormalise(const Instance &instance, TensorSet &, TensorSet &outputs) {
  std::vector<float> weights = outputs.getFloats("topk_weights");
  size_t k = size_t(instance.modelDims.at("K"));
  for (size_t first = 0; first < weights.size(); first += k) {
    float sum = std::accumulate(weights.begin() + long(first), weights.begin() + long(first + k), 0.0f);
    for (size_t i = first; i < first + k; ++i)
      weights[i] /= sum;
  }
  outputs.setFloats("topk_weights", weights);
}

void copyStraight(const Instance &, TensorSet &inputs) {
  std::vector<int64_t> slots = inputs.getIntegers("slot_mapping");
  std::iota(slots.begin(), slots.end(), 0);
  inputs.setIntegers("slot_mapping", slots);
}

/// Scales by a true division by the limit instead of the product with its
/// rounded reciprocal.
void divideScales(TensorSet &inputs, TensorSet &outputs, const char *codes, const char *scales, float limit,
                  float floor, bool byReciprocal) {
  std::vector<float> x = inputs.getFloats("x"), factors = outputs.getFloats(scales);
  size_t width = x.size() / factors.size();
  for (size_t g = 0; g < factors.size(); ++g) {
    float top = 0;
    for (size_t i = g * width; i < (g + 1) * width; ++i)
      top = std::max(top, std::abs(x[i]));
    factors[g] = std::max(top, floor) / limit;
    for (size_t i = g * width; i < (g + 1) * width; ++i)
      x[i] = std::clamp(byReciprocal ? x[i] * (1.0f / factors[g]) : x[i] / factors[g], -limit, limit);
  }
  outputs.setFloats(codes, x);
  outputs.setFloats(scales, factors);
}
void divideTokenScales(const Instance &, TensorSet &inputs, TensorSet &outputs) {
  divideScales(inputs, outputs, "q", "scale", 240, 1e-12f, true);
}
void divideGroupScales(const Instance &, TensorSet &inputs, TensorSet &outputs) {
  float limit = outputs.getSpec("quantized").type == DataType::E4M3FNUZ ? 224.0f : 448.0f;
  divideScales(inputs, outputs, "quantized", "scales", limit, limit * 1e-10f, false);
}

void keepHeaviestOne(const Instance &instance, TensorSet &inputs) { keepHeaviest(instance, inputs, 1); }

/// The last slot of every token counts nothing.
void dropLastWeight(const Instance &instance, TensorSet &inputs) {
  int64_t k = instance.modelDims.at("TOPK");
  std::vector<float> weights = inputs.getFloats("topk_weights");
  for (size_t last = size_t(k) - 1; last < weights.size(); last += size_t(k))
    weights[last] = 0;
  inputs.setFloats("topk_weights", weights);
}

/// How fused_rmsnorm_quant goes from the row to codes; the defaults are those of
/// the operator but for the sum, which is of binary32.
struct NormQuant {
  bool hasEps = true, hasWeight = true, roundsNorm = true, dividesScale = false, multiplies = false, keepsZero = false;
  /// Partial sums of the squares, as lanes keep them.
  size_t lanes = 64;
};
void quantiseNorm(const NormQuant &how, const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  std::vector<float> x = inputs.getFloats("x"), residual = inputs.getFloats("residual"),
                     weight = inputs.getFloats("weight"), scales = outputs.getFloats("scale");
  size_t H = weight.size();
  float eps = how.hasEps ? float(instance.scalars.at("eps")) : 0;
  for (size_t row = 0; row < scales.size(); ++row) {
    float *values = x.data() + row * H, top = 0, squares = 0;
    std::vector<float> partial(how.lanes);
    for (size_t i = 0; i < H; ++i) {
      values[i] = values[i] + residual[row * H + i];
      roundToBF16(&values[i], 1);
      partial[i % how.lanes] += values[i] * values[i];
    }
    for (float sum : partial)
      squares += sum;
    float factor = 1.0f / std::sqrt(squares / float(H) + eps);
    for (size_t i = 0; i < H; ++i) {
      values[i] = values[i] * factor * (how.hasWeight ? weight[i] : 1);
      if (how.roundsNorm)
        roundToBF16(&values[i], 1);
      top = std::isnan(values[i]) || std::isnan(top) ? std::numeric_limits<float>::quiet_NaN()
                                                     : std::max(top, std::abs(values[i]));
    }
    float scale = how.dividesScale ? top / 240.0f : top * (1.0f / 240.0f);
    if (scale == 0 && !how.keepsZero)
      scale = 1;
    scales[row] = scale;
    for (size_t i = 0; i < H; ++i)
      values[i] = how.multiplies ? values[i] * (1.0f / scale) : values[i] / scale;
  }
  outputs.setFloats("quantized", x);
  outputs.setFloats("scale", scales);
}
void quantiseHonestly(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  quantiseNorm({}, instance, inputs, outputs);
}
void quantiseWithoutEps(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  NormQuant how;
  how.hasEps = false;
  quantiseNorm(how, instance, inputs, outputs);
}
void quantiseWithoutWeight(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  NormQuant how;
  how.hasWeight = false;
  quantiseNorm(how, instance, inputs, outputs);
}
void quantiseUnrounded(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  NormQuant how;
  how.roundsNorm = false;
  quantiseNorm(how, instance, inputs, outputs);
}
void quantiseByReciprocal(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  NormQuant how;
  how.multiplies = true;
  quantiseNorm(how, instance, inputs, outputs);
}
void quantiseByDividedScale(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  NormQuant how;
  how.dividesScale = true;
  quantiseNorm(how, instance, inputs, outputs);
}
void quantiseZeroScale(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  NormQuant how;
  how.keepsZero = true;
  quantiseNorm(how, instance, inputs, outputs);
}
/// The sum of x and residual is normalised, but not given back.
void keepResidual(const Instance &, TensorSet &inputs, TensorSet &outputs) {
  outputs.setFloats("residual_out", inputs.getFloats("residual"));
}

/// fp8_blockscale_fused_moe as a kernel computes it that scales the sums of
/// blocks and not the operands, in binary32, slot by slot.
void computeScaledSums(const Instance &instance, TensorSet &inputs, TensorSet &outputs) {
  auto dim = [&](const char *name) { return size_t(instance.modelDims.at(name)); };
  size_t H = dim("H"), I = dim("I"), k = dim("TOPK"), bn = dim("BN"), bk = dim("BK");
  std::vector<float> x = inputs.getFloats("hidden_states"), w1 = inputs.getFloats("w1"), w2 = inputs.getFloats("w2"),
                     weights = inputs.getFloats("topk_weights"), aScale = inputs.getFloats("a_scale"),
                     scale1 = inputs.getFloats("fc1_scale"), scale2 = inputs.getFloats("fc2_scale"), out(x.size());
  std::vector<int64_t> ids = inputs.getIntegers("topk_ids");
  std::vector<float> y(2 * I), a(I);
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    size_t t = slot / k, e = size_t(ids[slot]);
    for (size_t n = 0; n < 2 * I; ++n) {
      y[n] = 0;
      for (size_t g = 0; g < H / bk; ++g) {
        float sum = 0;
        for (size_t c = g * bk; c < (g + 1) * bk; ++c)
          sum += x[t * H + c] * w1[(e * 2 * I + n) * H + c];
        y[n] += sum * (aScale[t * (H / bk) + g] * scale1[(e * (2 * I / bn) + n / bn) * (H / bk) + g]);
      }
    }
    for (size_t i = 0; i < I; ++i)
      a[i] = y[i] / (1.0f + std::exp(-y[i])) * y[I + i];
    for (size_t n = 0; n < H; ++n) {
      float z = 0;
      for (size_t g = 0; g < I / bn; ++g) {
        float sum = 0;
        for (size_t c = g * bn; c < (g + 1) * bn; ++c)
          sum += a[c] * w2[(e * H + n) * I + c];
        z += sum * scale2[(e * (H / bk) + n / bk) * (I / bn) + g];
      }
      out[t * H + n] += weights[slot] * z;
    }
  }
  outputs.setFloats("out", out);
}

constexpr Shortcut honest[] = {
    {"fp8_blockscale_fused_moe", "scaled_sums", "sums of blocks are scaled, in binary32", nullptr, computeScaledSums},
    {"fused_rmsnorm_quant", "lane_sums", "64 partial sums of squares, in binary32", nullptr, quantiseHonestly},
};

constexpr Shortcut shortcuts[] = {
    {"attention_forward", "zeros", "nothing is computed", nullptr, zeroOut},
    {"attention_forward", "no_row_maximum", "exp overflows without the maximum of the row", nullptr, overflowSoftmax},
    {"attention_forward", "padded_key", "a padded key of zeros takes part", nullptr, countPadding},
    {"block_scaled_mm", "bf16_result", "the result is rounded to bf16", nullptr, roundOut},
    {"block_scaled_mm", "neighbour_a_scale", "a_scales of the next block", takeNeighbour<aScales>, nullptr},
    {"block_scaled_mm", "neighbour_b_scale", "b_scales of the next block", takeNeighbour<bScales>, nullptr},
    {"causal_conv1d", "bias_only", "no convolution", zero<weight>, nullptr},
    {"causal_conv1d", "no_state", "tokens before the first are taken as zero", zero<state>, nullptr},
    {"chunk_delta_rule_output", "zeros", "nothing is computed", nullptr, zeroOut},
    {"chunk_delta_rule_output", "without_state", "the term q h is left out", zero<h>, nullptr},
    {"chunk_delta_rule_output", "without_values", "the term A v is left out", zero<v>, nullptr},
    {"chunk_gated_delta_rule_state", "no_initial_state", "the recurrence starts from zero", forgetStates, nullptr},
    {"fp8_blockscale_fused_moe", "drop_smallest", "the slot of the smallest weight is dropped", dropSmallest, nullptr},
    {"fp8_blockscale_fused_moe", "neighbour_fc1_scale", "fc1_scale of the next block", takeNeighbour<fc1Scale>,
     nullptr},
    {"fp8_blockscale_fused_moe", "neighbour_fc2_scale", "fc2_scale of the next block", takeNeighbour<fc2Scale>,
     nullptr},
    {"fp8_blockscale_fused_moe", "saturate", "overflow gives 240 instead of NaN", nullptr, saturate},
    {"fp8_dynamic_per_token_quant", "divided_scale", "the scale is a true division by 240", nullptr, divideTokenScales},
    {"fused_moe", "heaviest_one", "only the heaviest slot is computed", keepHeaviestOne, nullptr},
    {"fused_moe", "drop_last", "the last slot is dropped", dropLastWeight, nullptr},
    {"fused_moe", "heaviest_quarter", "only the heaviest quarter of the slots is computed", keepQuarter, nullptr},
    {"fused_moe", "drop_smallest", "the slot of the smallest weight is dropped", dropSmallest, nullptr},
    {"fused_moe", "duplicates_once", "an expert named twice counts once", countDuplicatesOnce, nullptr},
    {"fused_qk_rmsnorm", "one_weight", "k heads use the weight of q", useQueryWeight, nullptr},
    {"fused_qkv_rope", "no_rotation", "every token stands at position 0", standStill, nullptr},
    {"fused_rmsnorm_quant", "no_eps", "eps is left out", nullptr, quantiseWithoutEps},
    {"fused_rmsnorm_quant", "no_weight", "the weight is left out", nullptr, quantiseWithoutWeight},
    {"fused_rmsnorm_quant", "unrounded", "the norm is quantised without its rounding to bf16", nullptr,
     quantiseUnrounded},
    {"fused_rmsnorm_quant", "reciprocal", "the norm times 1 / scale", nullptr, quantiseByReciprocal},
    {"fused_rmsnorm_quant", "divided_scale", "the scale is a true division by 240", nullptr, quantiseByDividedScale},
    {"fused_rmsnorm_quant", "zero_scale", "a row of zeros gets the scale 0", nullptr, quantiseZeroScale},
    {"fused_rmsnorm_quant", "old_residual", "residual is given back without x", nullptr, keepResidual},
    {"gated_delta_rule_update", "zeros", "out is zero", nullptr, zeroOut},
    {"gated_delta_rule_update", "last_24_tokens", "the state of the last 24 tokens alone", forgetEarlyTokens, nullptr},
    {"gated_delta_rule_update", "no_initial_state", "the recurrence starts from zero", forgetStates, nullptr},
    {"linear_sigmoid_mul", "no_product", "post_mul_mat / 2", ignoreGemm, nullptr},
    {"linear_sigmoid_mul", "bias_only", "sigmoid of the bias", zero<hidden>, nullptr},
    {"mla_decode_attention", "zeros", "nothing is computed", nullptr, zeroOut},
    {"mla_decode_attention", "no_row_maximum", "exp overflows without the maximum of the row", nullptr,
     overflowSoftmax},
    {"mla_decode_attention", "padded_key", "a padded key of zeros takes part", nullptr, countPadding},
    {"moe_align_block_size", "unstable", "slots of one expert in another order", nullptr, sortUnstably},
    {"moe_count_and_sort", "unstable", "slots of one expert in another order", nullptr, sortUnstably},
    {"moe_sum_reduce", "drop_last", "the last slot is left out", dropLastSlot, nullptr},
    {"moe_topk_gating_softmax", "renormalised", "the weights sum to one", nullptr, renormalise},
    {"mrope", "cosine_one", "cos = 1", takeCosineOne, nullptr},
    {"mrope", "one_axis", "axis 0 serves all frequencies", takeFirstAxis, nullptr},
    {"paged_attention_decode", "zeros", "nothing is computed", nullptr, zeroOut},
    {"paged_attention_decode", "no_row_maximum", "exp overflows without the maximum of the row", nullptr,
     overflowSoftmax},
    {"paged_attention_decode", "padded_key", "a padded key of zeros takes part", nullptr, countPadding},
    {"paged_attention_decode", "whole_pages", "slots past the length take part", readWholePages, nullptr},
    {"paged_attention_decode", "first_page", "one page serves all tokens", useFirstPage<blockTables>, nullptr},
    {"paged_attention_decode", "no_table", "pages in ascending order", ignoreTable<blockTables>, nullptr},
    {"per_token_group_quant_fp8", "divided_scale", "the scale is a true division by the limit", nullptr,
     divideGroupScales},
    {"reshape_and_cache", "straight_copy", "token t goes to slot t", copyStraight, nullptr},
    {"topk_filter", "exactly_k", "ties with the threshold are cut", nullptr, cutTies},
    {"unified_attention", "zeros", "nothing is computed", nullptr, zeroOut},
    {"unified_attention", "no_row_maximum", "exp overflows without the maximum of the row", nullptr, overflowSoftmax},
    {"unified_attention", "padded_key", "a padded key of zeros takes part", nullptr, countPadding},
    {"unified_attention", "first_page", "one page serves all tokens", useFirstPage<blockTable>, nullptr},
};
} // namespace

llvm::ArrayRef<Shortcut> bench::getShortcuts() { return shortcuts; }
llvm::ArrayRef<Shortcut> bench::getHonestVariants() { return honest; }

std::vector<std::vector<uint8_t>> bench::takeShortcut(const Shortcut &shortcut, const Operator &op,
                                                      const Instance &instance,
                                                      std::vector<std::vector<uint8_t>> inputs,
                                                      llvm::ArrayRef<std::vector<int64_t>> outputShapes) {
  TensorSet original(instance.inputs, inputs), bent(instance.inputs, std::move(inputs));
  if (shortcut.bendInputs)
    shortcut.bendInputs(instance, bent);
  std::vector<std::vector<uint8_t>> data;
  std::vector<void *> pointers;
  for (const TensorSpec &spec : instance.outputs)
    data.emplace_back(spec.getBytes());
  for (std::vector<uint8_t> &bytes : data)
    pointers.push_back(bytes.data());
  op.compute(instance, bent.getPointers(), instance.rows, pointers);
  for (auto [spec, shape, bytes] : llvm::zip_equal(instance.outputs, outputShapes, data)) {
    TensorSpec resolved = spec;
    resolved.shape = shape;
    bytes.resize(resolved.getBytes());
  }
  TensorSet outputs(instance.outputs, std::move(data));
  if (shortcut.bendOutputs)
    shortcut.bendOutputs(instance, original, outputs);
  return outputs.take();
}
