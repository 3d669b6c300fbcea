//===- Roofline.cpp - Work, traffic and roofline time ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Roofline.h"
#include "fmt/format.h"
#include <algorithm>
#include <cmath>

using namespace atrex;
using namespace atrex::bench;

namespace {
/// Reads integer parameters as doubles; keeps the first fault so that formulas
/// read like formulas. All quantities are integers below 2^53.
class Reader {
public:
  explicit Reader(const Params &params) : params(params) {}

  double get(llvm::StringRef name) {
    llvm::Expected<int64_t> value = params.getInt(name);
    if (value)
      return double(*value);
    keep(value.takeError());
    return 1;
  }
  std::vector<double> getList(llvm::StringRef name, int64_t low) {
    std::vector<double> result;
    llvm::Expected<std::vector<int64_t>> values = params.getInts(name, low);
    if (!values)
      keep(values.takeError());
    else
      result.assign(values->begin(), values->end());
    if (result.empty())
      result.push_back(1);
    return result;
  }
  bool getBool(llvm::StringRef name) {
    llvm::Expected<bool> value = params.getBool(name, false);
    if (value)
      return *value;
    keep(value.takeError());
    return false;
  }
  std::string takeMessage() { return std::move(message); }

private:
  void keep(llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    if (message.empty())
      message = std::move(text);
  }
  const Params &params;
  std::string message;
};

double cdiv(double a, double b) { return std::ceil(a / b); }

double sum(const std::vector<double> &values) {
  double total = 0;
  for (double value : values)
    total += value;
  return total;
}

double product(const std::vector<double> &values) {
  double total = 1;
  for (double value : values)
    total *= value;
  return total;
}

double lookupOr(const std::map<std::string, double> &values, const char *key, double fallback) {
  auto found = values.find(key);
  return found == values.end() ? fallback : found->second;
}

using Realised = std::map<std::string, double>;
using Formula = WorkPair (*)(Reader &, const Realised &);

WorkPair charge(double flops, double readBytes, double writeBytes) {
  return {{flops, readBytes, writeBytes}, std::nullopt, false};
}

//===----------------------------------------------------------------------===//
// Norms and elementwise operators
//===----------------------------------------------------------------------===//

WorkPair rmsNorm(Reader &p, const Realised &) {
  double T = p.get("token_count"), H = p.get("hidden_size");
  return charge(T * (3 * H + 1), 2 * T * H + 2 * H, 2 * T * H);
}

WorkPair fusedAddRmsNorm(Reader &p, const Realised &) {
  double T = p.get("token_count"), H = p.get("hidden_size");
  return charge(T * (4 * H + 1), 4 * T * H + 2 * H, 4 * T * H);
}

WorkPair fusedRmsnormQuant(Reader &p, const Realised &) {
  double T = p.get("token_count"), H = p.get("hidden_size");
  return charge(T * (5 * H + 2), 4 * T * H + 2 * H, 3 * T * H + 4 * T);
}

WorkPair gatedRmsNorm(Reader &p, const Realised &) {
  double n = p.get("rows"), H = p.get("hidden_size");
  return charge(n * (8 * H + 1), 4 * n * H + 2 * H, 2 * n * H);
}

WorkPair l2Norm(Reader &p, const Realised &) {
  double T = p.get("num_tokens"), H = p.get("hidden_size");
  return charge(3 * T * H, 2 * T * H, 2 * T * H);
}

WorkPair layerNorm(Reader &p, const Realised &) {
  std::vector<double> shape = p.getList("shape", 1);
  double n = product(shape);
  return charge(7 * n, 2 * n + 4 * shape.back(), 2 * n);
}

WorkPair fusedQkRmsnorm(Reader &p, const Realised &) {
  double T = p.get("num_tokens"), hq = p.get("head_num"), hk = p.get("kv_head_num"), D = p.get("size_per_head");
  return charge(T * (hq + hk) * (3 * D + 1), 2 * T * (hq + 2 * hk) * D + 4 * D, 2 * T * (hq + 2 * hk) * D);
}

WorkPair siluAndMul(Reader &p, const Realised &) {
  double n = product(p.getList("shape", 1));
  return charge(5 * n / 2, 2 * n, n);
}

WorkPair moeSumReduce(Reader &p, const Realised &) {
  double T = p.get("token_count"), k = p.get("top_k"), H = p.get("hidden_size");
  return charge(T * k * H, 2 * T * k * H, 2 * T * H);
}

WorkPair fusedQkvRope(Reader &p, const Realised &) {
  double T = p.get("total_tokens"), hq = p.get("num_heads"), hk = p.get("num_kv_heads"), D = p.get("head_dim"),
         d = p.get("rope_dim");
  double width = (hq + 2 * hk) * D;
  WorkPair work = charge(3 * T * (hq + hk) * d + d / 2 * (T + 2), 2 * T * width + 4 * T, 2 * T * width);
  if (p.getBool("with_bias")) {
    work.charged.flops += T * width;
    work.charged.readBytes += 2 * width;
  } else if (T == 1) {
    // Position 0: the result equals the input.
    work.minimalIsNothing = true;
  }
  return work;
}

WorkPair mrope(Reader &p, const Realised &) {
  double T = p.get("token_count"), hq = p.get("num_query_heads"), hk = p.get("num_kv_heads"), D = p.get("head_size"),
         r = p.get("rotary_dim");
  double body = 2 * T * (hq + hk) * D;
  WorkPair work = charge(3 * T * (hq + hk) * r, body + 12 * T * r, body);
  // One of the three axes of cos and sin is read per frequency.
  work.minimal = Work{work.charged.flops, body + 4 * T * r, body};
  return work;
}

WorkPair causalConv1d(Reader &p, const Realised &) {
  double T = p.get("token_count"), D = p.get("dim"), w = p.get("width");
  return charge(D * T * (2 * w + 4), 2 * D * (T + 2 * w), 2 * D * T);
}

WorkPair topkFilter(Reader &p, const Realised &) {
  double n = p.get("seq_len") * p.get("hidden_size");
  return charge(0, 4 * n, 4 * n);
}

//===----------------------------------------------------------------------===//
// Quantisers
//===----------------------------------------------------------------------===//

WorkPair fp8DynamicPerTokenQuant(Reader &p, const Realised &) {
  double T = p.get("token_count"), H = p.get("hidden_size");
  return charge(T * (H + 1), 2 * T * H, T * H + 4 * T);
}

WorkPair perTokenGroupQuantFp8(Reader &p, const Realised &) {
  double T = p.get("token_count"), H = p.get("hidden_size"), g = p.get("group_size");
  return charge(T * (H + H / g), 2 * T * H, T * H + 4 * T * H / g);
}

//===----------------------------------------------------------------------===//
// Matrix products and mixtures of experts
//===----------------------------------------------------------------------===//

WorkPair blockScaledMm(Reader &p, const Realised &) {
  double m = p.get("m"), n = p.get("n"), k = p.get("k"), gn = p.get("group_n"), gk = p.get("group_k");
  double kb = k / gk;
  return charge(m * n * (2 * k + 3 * kb - 1), m * k + n * k + 4 * m * kb + 4 * (n / gn) * kb, 4 * m * n);
}

WorkPair linearSigmoidMul(Reader &p, const Realised &) {
  double T = p.get("token_count"), H = p.get("hidden_size"), O = p.get("out_features");
  return charge(T * O * (2 * H + 1), 2 * (T * H + O * H + O + T * O), 2 * T * O);
}

WorkPair fp8BlockscaleFusedMoe(Reader &p, const Realised &) {
  double T = p.get("token_count"), H = p.get("hidden_size"), I = p.get("intermediate_size"), E = p.get("num_experts"),
         k = p.get("top_k");
  double A = computeLiveExperts(T, E, k);
  return charge(T * k * (6 * H * I + 5 * I + 2 * H) + 3 * A * H * I,
                T * H + 4 * T * H / 128 + 8 * T * k +
                    A * (3 * H * I + 4 * (2 * I / 128) * (H / 128) + 4 * (H / 128) * (I / 128)),
                T * H);
}

WorkPair fusedMoe(Reader &p, const Realised &realised) {
  double T = p.get("token_count"), H = p.get("hidden_size"), I = p.get("intermediate_size"), E = p.get("num_experts"),
         k = p.get("top_k");
  double A = computeLiveExperts(T, E, k);
  double expectedPairs = std::round(T * E * (1 - std::pow(1 - 1 / E, k)));
  double U = lookupOr(realised, "pairs", expectedPairs), drawnExperts = lookupOr(realised, "live_experts", A);
  return charge(U * (6 * H * I + 5 * I + H) + drawnExperts * (2 * k - 1) * T, 2 * T * H + 6 * A * H * I + 8 * T * k,
                4 * T * H);
}

WorkPair moeAlignBlockSize(Reader &p, const Realised &realised) {
  double T = p.get("token_count"), k = p.get("top_k"), b = p.get("block_size"), E = p.get("num_experts");
  // Expected number of blocks: E times the mean of ceil(Binomial(Tk, 1/E) / b).
  double slots = T * k, blocks = 0;
  if (realised.count("blocks")) {
    blocks = realised.at("blocks");
  } else if (slots > 1e7) {
    // Counts are large against a block: half a block of padding per expert.
    blocks = std::round(slots / b + E / 2);
  } else {
    double logQ = std::log1p(-1 / E), logP = -std::log(E), mean = 0;
    for (double count = 1; count <= slots; ++count) {
      double logProbability = std::lgamma(slots + 1) - std::lgamma(count + 1) - std::lgamma(slots - count + 1) +
                              count * logP + (E > 1 ? (slots - count) * logQ : (count < slots ? -INFINITY : 0));
      mean += std::exp(logProbability) * cdiv(count, b);
    }
    blocks = std::round(E * mean);
  }
  return charge(0, 4 * T * k, blocks * (4 * b + 4) + 4);
}

WorkPair moeCountAndSort(Reader &p, const Realised &) {
  double T = p.get("token_count"), k = p.get("top_k"), E = p.get("num_experts");
  return charge(0, 4 * T * k, 4 * T * k + 8 * E + 4);
}

WorkPair moeTopkGatingSoftmax(Reader &p, const Realised &) {
  double T = p.get("token_count"), E = p.get("num_experts"), k = p.get("top_k");
  return charge(T * (4 * E - 1), 4 * T * E, 8 * T * k);
}

//===----------------------------------------------------------------------===//
// Attention and caches
//===----------------------------------------------------------------------===//

WorkPair attentionForward(Reader &p, const Realised &) {
  std::vector<double> lengths = p.getList("seq_lens", 0);
  double H = p.get("num_heads"), D = p.get("head_dim"), S = sum(lengths), n = double(lengths.size()), squares = 0;
  for (double length : lengths)
    squares += length * length;
  return charge(4 * H * D * squares, 6 * S * H * D + 8 * (n + 1), 2 * S * H * D);
}

WorkPair unifiedAttention(Reader &p, const Realised &) {
  std::vector<double> lengths = p.getList("seq_lens", 0);
  double hq = p.get("num_query_heads"), hk = p.get("num_kv_heads"), D = p.get("head_size"), bs = p.get("block_size");
  double S = sum(lengths), n = double(lengths.size()), pairs = 0, blocks = 0;
  for (double length : lengths) {
    pairs += length * (length + 1);
    blocks += cdiv(length, bs);
  }
  return charge(2 * hq * D * pairs, 2 * S * hq * D + 4 * S * hk * D + 4 * (2 * n + 1 + blocks), 2 * S * hq * D);
}

WorkPair pagedAttentionDecode(Reader &p, const Realised &) {
  double n = p.get("num_seqs"), c = p.get("ctx_len"), hq = p.get("num_query_heads"), hk = p.get("num_kv_heads"),
         D = p.get("head_size"), bs = p.get("block_size");
  double mb = cdiv(c, bs), NB = n * mb + 16;
  double small = 2 * n * hq * D + 4 * n * mb + 4 * n;
  WorkPair work = charge(n * (4 * c * hq * D + 2 * c), small + 4 * NB * bs * hk * D, 2 * n * hq * D);
  // Only the keys and values that the lengths name, not the spare blocks.
  work.minimal = Work{work.charged.flops, small + 4 * n * c * hk * D, work.charged.writeBytes};
  return work;
}

WorkPair mlaDecodeAttention(Reader &p, const Realised &) {
  double B = p.get("batch_size"), c = p.get("ctx_len"), h = p.get("nhead"), L = p.get("kv_lora_rank"),
         r = p.get("qk_rope_head_dim");
  double d = L + r;
  WorkPair work = charge(B * h * (c * (2 * (d + L) + d) + d), 2 * B * h * d + 2 * B * c * d + 4 * B, 2 * B * h * L);
  work.minimal = Work{2 * B * h * c * (d + L), work.charged.readBytes, work.charged.writeBytes};
  return work;
}

WorkPair reshapeAndCache(Reader &p, const Realised &) {
  std::vector<double> shape = p.getList("shape", 1);
  double T = shape.front(), row = product(shape) / T, bs = p.get("block_size");
  double C = cdiv(T, bs) * bs * row;
  WorkPair work = charge(0, 4 * T * row + 4 * C + 8 * T, 4 * C);
  // In place: new tokens in, new tokens out.
  work.minimal = Work{0, 4 * T * row + 8 * T, 4 * T * row};
  return work;
}

//===----------------------------------------------------------------------===//
// Delta rule
//===----------------------------------------------------------------------===//

WorkPair chunkDeltaRuleOutput(Reader &p, const Realised &) {
  double B = p.get("batch_size"), T = p.get("token_count"), Hq = p.get("num_q_heads"), H = p.get("num_v_heads"),
         K = p.get("key_dim"), V = p.get("value_dim"), c = p.get("chunk_size");
  double nc = cdiv(T, c);
  WorkPair work =
      charge(B * H * nc * (2 * c * K * V + 2 * c * c * K + 2 * c * c * V + 2 * c * c + 3 * c * V),
             4 * B * T * Hq * K + 2 * B * T * H * V + 2 * B * nc * H * K * V + 4 * B * T * H, 2 * B * T * H * V);
  // The lower triangle of each chunk's product is enough.
  work.minimal =
      Work{B * H * nc * (2 * c * K * V + c * (c + 1) * (K + V)), work.charged.readBytes, work.charged.writeBytes};
  return work;
}

WorkPair chunkGatedDeltaRuleState(Reader &p, const Realised &) {
  double B = p.get("batch_size"), T = p.get("token_count"), Hk = p.get("num_k_heads"), H = p.get("num_v_heads"),
         K = p.get("key_dim"), V = p.get("value_dim"), S = p.get("state_count"), c = p.get("chunk_size");
  double nc = cdiv(T, c), a = std::min(B, S);
  return charge(B * H * (T * (4 * K * V + 2 * V + 1) + 2 * nc * K * V),
                2 * B * T * (Hk * K + H * K + H * V) + 4 * B * T * H + 4 * a * H * K * V + 4 * B,
                2 * B * nc * H * K * V + 2 * B * T * H * V + 4 * a * H * K * V);
}

WorkPair gatedDeltaRuleUpdate(Reader &p, const Realised &) {
  double B = p.get("batch_size"), T = p.get("token_count"), Hq = p.get("num_q_heads"), H = p.get("num_v_heads"),
         K = p.get("key_dim"), V = p.get("value_dim"), S = p.get("state_count");
  double small = 6 * H + 2 * B * T * (2 * H + 2 * Hq * K + H * V) + 4 * B, out = 2 * B * T * H * V;
  WorkPair work = charge(B * T * H * (7 * K * V + 3 * K + 2), small + 4 * S * H * K * V, out + 4 * S * H * K * V);
  // In place only the states that the indices name are touched.
  work.minimal = Work{work.charged.flops, small + 4 * B * H * K * V, out + 4 * B * H * K * V};
  return work;
}

struct FormulaRow {
  llvm::StringLiteral op;
  Formula formula;
};
constexpr FormulaRow formulas[] = {
    {"attention_forward", attentionForward},
    {"block_scaled_mm", blockScaledMm},
    {"causal_conv1d", causalConv1d},
    {"chunk_delta_rule_output", chunkDeltaRuleOutput},
    {"chunk_gated_delta_rule_state", chunkGatedDeltaRuleState},
    {"fp8_blockscale_fused_moe", fp8BlockscaleFusedMoe},
    {"fp8_dynamic_per_token_quant", fp8DynamicPerTokenQuant},
    {"fused_add_rms_norm", fusedAddRmsNorm},
    {"fused_moe", fusedMoe},
    {"fused_qk_rmsnorm", fusedQkRmsnorm},
    {"fused_qkv_rope", fusedQkvRope},
    {"fused_rmsnorm_quant", fusedRmsnormQuant},
    {"gated_delta_rule_update", gatedDeltaRuleUpdate},
    {"gated_rms_norm", gatedRmsNorm},
    {"l2_norm", l2Norm},
    {"layer_norm", layerNorm},
    {"linear_sigmoid_mul", linearSigmoidMul},
    {"mla_decode_attention", mlaDecodeAttention},
    {"moe_align_block_size", moeAlignBlockSize},
    {"moe_count_and_sort", moeCountAndSort},
    {"moe_sum_reduce", moeSumReduce},
    {"moe_topk_gating_softmax", moeTopkGatingSoftmax},
    {"mrope", mrope},
    {"paged_attention_decode", pagedAttentionDecode},
    {"per_token_group_quant_fp8", perTokenGroupQuantFp8},
    {"reshape_and_cache", reshapeAndCache},
    {"rms_norm", rmsNorm},
    {"silu_and_mul", siluAndMul},
    {"topk_filter", topkFilter},
    {"unified_attention", unifiedAttention},
};
} // namespace

double bench::computeLiveExperts(double tokens, double experts, double topK) {
  if (topK >= experts)
    return experts;
  double expected = std::ceil(experts * (1 - std::exp(tokens * std::log1p(-topK / experts))));
  return std::min({experts, tokens * topK, expected});
}

llvm::Expected<WorkPair> bench::computeWork(llvm::StringRef op, const Params &params,
                                            const std::map<std::string, double> &realised) {
  for (const FormulaRow &row : formulas) {
    if (row.op != op)
      continue;
    Reader reader(params);
    WorkPair work = row.formula(reader, realised);
    std::string message = reader.takeMessage();
    if (!message.empty())
      return makeError(message);
    return work;
  }
  return makeError(fmt::format("operator '{}' has no roofline formula", op.str()));
}

double bench::getPeak(const ChipInfo &chip, llvm::StringRef dtype) {
  if (dtype == "bf16")
    return chip.peaks.bf16;
  if (dtype == "fp16")
    return chip.peaks.fp16;
  if (dtype == "fp8_e4m3")
    return chip.peaks.fp8;
  if (dtype == "fp32")
    return chip.peaks.fp32;
  return 0;
}

double bench::computeSolMs(const Work &work, llvm::StringRef dtype, const ChipInfo &chip) {
  double bytes = work.getBytes(), bandwidth = chip.hbmBytesPerSecond, peak = getPeak(chip, dtype);
  if (work.flops == 0 || peak == 0)
    return bytes / bandwidth * 1000;
  return work.flops / std::min(peak, work.flops / bytes * bandwidth) * 1000;
}
