//===- Routing.cpp - Selection, counting sorts and caches -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "References.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace atrex;
using namespace atrex::bench;

namespace {
constexpr DataType bf16 = DataType::BF16, fp32 = DataType::F32, int32 = DataType::I32;

//===----------------------------------------------------------------------===//
// moe_topk_gating_softmax
//===----------------------------------------------------------------------===//

void layOutGating(Layout &layout) {
  int64_t T = layout.count("token_count"), E = layout.count("num_experts"), k = layout.count("top_k");
  int64_t groups = layout.natural("num_expert_groups", 0), kept = layout.natural("topk_group", 0);
  layout.require(k <= E, fmt::format("top_k is {}, but there are {} experts", k, E));
  if (groups > 0 && kept > 0) {
    layout.require(E % groups == 0, fmt::format("{} experts do not form {} equal groups", E, groups));
    layout.require(kept <= groups, fmt::format("topk_group is {}, but there are {} groups", kept, groups));
  }
  layout.input("gating_output", fp32, {T, E}, Span::Rows, E);
  layout.output("topk_weights", fp32, {T, k});
  layout.output("topk_ids", int32, {T, k});
  layout.instance.lists["groups"] = {kept > 0 ? groups : 0, kept};
  layout.dims(T, {{"E", E}}, {{"T", T}}, {{"K", k}});
}

void drawGating(const Draw &draw) {
  if (!draw.isStrict)
    return draw.normal();
  // Distinct logits on a grid: no two probabilities are close.
  constexpr float shifts[] = {0, 100, -100, 1000};
  int64_t E = draw.dim("E");
  for (int64_t i = 0; i < draw.count; i += E) {
    int64_t row = (draw.first + i) / E;
    std::vector<int64_t> order = drawPermutation(draw.stream(fmt::format("gating_output/{}", row)), E);
    RandomStream jitter = draw.stream(fmt::format("gating_output/jitter{}", row));
    for (int64_t j = 0; j < E; ++j) {
      double grid = (double(j) - double(E) / 2 + double(0.25f * jitter.getUniform(uint64_t(j)))) * (6.0 / double(E));
      draw.values[i + order[size_t(j)]] = float(grid + double(shifts[row % 4]));
    }
  }
}

void computeGating(const Work &work) {
  int64_t E = work.dim("E"), k = work.dim("K"), groups = work.item("groups", 0), kept = work.item("groups", 1);
  // Descending, ties by index, NaN last.
  auto sortDescending = [](std::vector<int64_t> &order, const std::vector<float> &values) {
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](int64_t a, int64_t b) {
      float x = values[size_t(a)], y = values[size_t(b)];
      if (std::isnan(x) || std::isnan(y))
        return std::isnan(x) == std::isnan(y) ? a < b : std::isnan(y);
      return x != y ? x > y : a < b;
    });
  };
  parallelFor(work.rows, [&](int64_t row) {
    std::vector<float> logits = work.load(0, row * E, E), s(logits.size());
    softmaxRounded(logits.data(), E, s.data());
    if (groups > 0) {
      int64_t size = E / groups;
      std::vector<float> best(static_cast<size_t>(groups));
      for (int64_t g = 0; g < groups; ++g)
        best[size_t(g)] = *std::max_element(s.begin() + g * size, s.begin() + (g + 1) * size);
      std::vector<int64_t> order(best.size());
      sortDescending(order, best);
      for (int64_t g = kept; g < groups; ++g)
        std::fill_n(s.begin() + order[size_t(g)] * size, size, 0.0f);
    }
    std::vector<int64_t> order(s.size());
    sortDescending(order, s);
    for (int64_t i = 0; i < k; ++i) {
      work.store(0, row * k + i, 1, &s[size_t(order[size_t(i)])]);
      work.storeInteger(1, row * k + i, order[size_t(i)]);
    }
  });
}

//===----------------------------------------------------------------------===//
// topk_filter
//===----------------------------------------------------------------------===//

void layOutFilter(Layout &layout) {
  int64_t R = layout.count("seq_len"), V = layout.count("hidden_size"), k = layout.count("top_k", 50);
  layout.input("logits", fp32, {R, V});
  layout.output("out", fp32, {R, V});
  layout.dims(R, {{"V", V}}, {{"R", R}}, {{"K", std::min(k, V)}});
}

void drawFilter(const Draw &draw) {
  draw.normal();
  int64_t V = draw.dim("V");
  for (int64_t i = 0; draw.isStrict && i < draw.count; ++i) {
    int64_t row = (draw.first + i) / V, column = (draw.first + i) % V;
    float &value = draw.values[i];
    // Many ties; one constant row; one with zeros of both signs at the threshold.
    value = std::nearbyint(value * 8.0f) / 8.0f;
    if (row == 1)
      value = 0.25f;
    if (row == 2)
      value = column % 3 == 0 ? (column % 2 == 0 ? 0.0f : -0.0f) : -std::abs(value);
  }
}

/// Keys that order like the values, with -0 beside +0 and NaN on top.
uint32_t makeKey(float value) {
  if (std::isnan(value))
    return UINT32_MAX;
  uint32_t bits = llvm::bit_cast<uint32_t>(value == 0 ? 0.0f : value);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

void computeFilter(const Work &work) {
  int64_t V = work.dim("V"), k = work.dim("K");
  parallelFor(work.rows, [&](int64_t row) {
    std::vector<float> x = work.load(0, row * V, V);
    std::vector<uint32_t> keys(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      keys[i] = makeKey(x[i]);
    std::nth_element(keys.begin(), keys.begin() + (V - k), keys.end());
    uint32_t threshold = keys[size_t(V - k)];
    for (float &value : x)
      // Nothing is below a NaN.
      if (threshold != UINT32_MAX && makeKey(value) < threshold)
        value = -std::numeric_limits<float>::infinity();
    work.store(0, row * V, V, x.data());
  });
}

//===----------------------------------------------------------------------===//
// moe_align_block_size, moe_count_and_sort
//===----------------------------------------------------------------------===//

void drawIds(const Draw &draw) {
  int64_t n = draw.dim("T") * draw.dim("TOPK"), E = draw.dim("E"), block = draw.item("block");
  if (!draw.isStrict) {
    RandomStream stream = draw.stream("topk_ids");
    for (int64_t i = 0; i < draw.count; ++i)
      draw.integers[i] = stream.getBelow(uint64_t(draw.first + i), uint32_t(E));
    return;
  }
  // Half of the slots on expert 0, experts 3 mod 4 empty, expert 1 one block,
  // expert 2 one block and a token.
  std::vector<int64_t> flat, other;
  for (int64_t e = 0; e < E; ++e)
    if (e % 4 != 3 && e != 1 && e != 2)
      other.push_back(e);
  if (n >= 3 * block && E > 2) {
    flat.assign(size_t(block), 1);
    flat.insert(flat.end(), size_t(block + 1), 2);
  }
  RandomStream pick = draw.stream("topk_ids/other"), onFirst = draw.stream("topk_ids/on0");
  for (uint64_t i = 0; int64_t(flat.size()) < n; ++i)
    flat.push_back(onFirst.getBelow(i, 2) == 1 ? 0 : other[pick.getBelow(i, uint32_t(other.size()))]);
  std::vector<int64_t> order = drawPermutation(draw.stream("topk_ids/order"), n);
  for (int64_t i = 0; i < draw.count; ++i)
    draw.integers[i] = flat[size_t(order[size_t(draw.first + i)])];
}

llvm::Error validateIds(const Work &work) { return checkRange(work, 0, 0, work.dim("E")); }

std::vector<int64_t> countExperts(const Work &work) {
  std::vector<int64_t> counts(static_cast<size_t>(work.dim("E")));
  for (int64_t i = 0; i < work.dim("T") * work.dim("TOPK"); ++i)
    ++counts[size_t(work.integer(0, i))];
  return counts;
}

void layOutAlign(Layout &layout) {
  int64_t T = layout.count("token_count"), k = layout.count("top_k"), E = layout.count("num_experts");
  int64_t block = layout.count("block_size"), n = layout.product({T, k});
  layout.require(T <= (int64_t(1) << 31) / k, fmt::format("{} x {} slots do not fit 32 bits", T, k));
  // Every expert can leave block - 1 places of padding.
  layout.require(E <= (int64_t(1) << 24), fmt::format("parameter 'num_experts' is {}; at most 2^24 is possible", E));
  layout.require(block <= (int64_t(1) << 31) / E, fmt::format("{} blocks of {} slots do not fit 32 bits", E, block));
  int64_t most = layout.product({E, block - 1}) + n;
  layout.input("topk_ids", int32, {T, k}, Span::Whole, 0);
  layout.output("sorted_token_ids", int32, {most}, Span::Whole, true);
  layout.output("expert_ids", int32, {std::max<int64_t>(1, most / block)}, Span::Whole, true);
  layout.output("num_tokens_post_pad", int32, {1}, Span::Whole);
  layout.instance.lists["block"] = {block};
  layout.dims(1, {{"E", E}, {"TOPK", k}}, {{"T", T}}, {{"BLOCK", block}});
}

std::vector<int64_t> resolveAlign(const Work &work) {
  int64_t block = work.item("block"), blocks = 0;
  for (int64_t count : countExperts(work))
    blocks += ceilDiv(count, block);
  return {blocks * block, blocks, 1};
}

void computeAlign(const Work &work) {
  int64_t n = work.dim("T") * work.dim("TOPK"), block = work.item("block"), start = 0;
  std::vector<int64_t> next;
  for (auto [expert, count] : llvm::enumerate(countExperts(work))) {
    int64_t padded = ceilDiv(count, block) * block;
    next.push_back(start);
    for (int64_t i = count; i < padded; ++i)
      work.storeInteger(0, start + i, n);
    for (int64_t i = 0; i < padded / block; ++i)
      work.storeInteger(1, start / block + i, int64_t(expert));
    start += padded;
  }
  for (int64_t i = 0; i < n; ++i)
    work.storeInteger(0, next[size_t(work.integer(0, i))]++, i);
  work.storeInteger(2, 0, start);
}

void layOutSort(Layout &layout) {
  int64_t T = layout.count("token_count"), k = layout.count("top_k"), E = layout.count("num_experts", 128);
  layout.require(T <= (int64_t(1) << 31) / k, fmt::format("{} x {} slots do not fit 32 bits", T, k));
  layout.instance.lists["block"] = {layout.count("block_size", 128)};
  layout.input("topk_ids", int32, {T, k}, Span::Whole, 0);
  layout.output("sorted_token_ids", int32, {layout.product({T, k})}, Span::Whole);
  layout.output("expert_token_counts", int32, {E}, Span::Whole);
  layout.output("cumsum", int32, {E + 1}, Span::Whole);
  layout.dims(1, {{"E", E}, {"TOPK", k}}, {{"T", T}});
}

void computeSort(const Work &work) {
  std::vector<int64_t> next;
  int64_t start = 0;
  work.storeInteger(2, 0, 0);
  for (auto [expert, count] : llvm::enumerate(countExperts(work))) {
    next.push_back(start);
    start += count;
    work.storeInteger(1, int64_t(expert), count);
    work.storeInteger(2, int64_t(expert) + 1, start);
  }
  for (int64_t i = 0; i < start; ++i)
    work.storeInteger(0, next[size_t(work.integer(0, i))]++, i);
}

//===----------------------------------------------------------------------===//
// reshape_and_cache
//===----------------------------------------------------------------------===//

void layOutCache(Layout &layout) {
  std::vector<int64_t> shape = layout.list("shape", 1);
  int64_t BS = layout.count("block_size", 16), spare = layout.natural("spare_blocks", layout.isStrict ? 1 : 0);
  layout.require(shape.size() == 3, "parameter 'shape' must be [tokens, heads, head size]");
  if (layout.failed())
    return;
  int64_t T = shape[0], h = shape[1], D = shape[2], NB = ceilDiv(T, BS) + spare;
  for (const char *name : {"key", "value"})
    layout.input(name, bf16, {T, h, D}, Span::Whole);
  for (const char *name : {"key_cache", "value_cache"}) {
    layout.input(name, bf16, {NB, BS, h, D}, Span::Whole);
    layout.output(name, bf16, {NB, BS, h, D}, Span::Whole);
  }
  layout.input("slot_mapping", DataType::I64, {T}, Span::Whole, 0);
  layout.dims(1, {{"H", h}, {"D", D}, {"BS", BS}}, {{"T", T}, {"NB", NB}});
}

void drawCache(const Draw &draw) {
  if (draw.spec.name != "slot_mapping") {
    if (draw.isStrict || draw.spec.name == "key" || draw.spec.name == "value")
      draw.half();
    return;
  }
  std::vector<int64_t> order;
  if (draw.isStrict)
    order = drawPermutation(draw.stream("slot_mapping"), draw.dim("NB") * draw.dim("BS"));
  for (int64_t i = 0; i < draw.count; ++i)
    draw.integers[i] = !draw.isStrict ? i : i % 5 == 3 ? -1 : order[size_t(i)];
}

llvm::Error validateCache(const Work &work) {
  int64_t slots = work.dim("NB") * work.dim("BS");
  if (llvm::Error error = checkRange(work, 4, INT64_MIN, slots))
    return error;
  std::vector<bool> taken(static_cast<size_t>(slots));
  for (int64_t t = 0; t < work.dim("T"); ++t) {
    int64_t slot = work.integer(4, t);
    if (slot >= 0 && taken[size_t(slot)])
      return makeError(fmt::format("input 'slot_mapping': slot {} occurs twice", slot));
    if (slot >= 0)
      taken[size_t(slot)] = true;
  }
  return llvm::Error::success();
}

void computeCache(const Work &work) {
  int64_t width = work.dim("H") * work.dim("D") * 2;
  for (unsigned i : {0u, 1u}) {
    char *out = static_cast<char *>(work.outputs[i]);
    // Inputs are key, value, key_cache, value_cache, slot_mapping.
    std::memcpy(out, work.inputs[2 + i], size_t(work.instance.outputs[i].getBytes()));
    for (int64_t t = 0; t < work.dim("T"); ++t)
      if (int64_t slot = work.integer(4, t); slot >= 0)
        std::memcpy(out + slot * width, static_cast<const char *>(work.inputs[i]) + t * width, size_t(width));
  }
}

constexpr OperatorTable tables[] = {
    {"moe_align_block_size", layOutAlign, drawIds, computeAlign, validateIds, resolveAlign},
    {"moe_count_and_sort", layOutSort, drawIds, computeSort, validateIds},
    {"moe_topk_gating_softmax", layOutGating, drawGating, computeGating},
    {"reshape_and_cache", layOutCache, drawCache, computeCache, validateCache},
    {"topk_filter", layOutFilter, drawFilter, computeFilter},
};
} // namespace

llvm::ArrayRef<OperatorTable> bench::getRoutingTables() { return tables; }
