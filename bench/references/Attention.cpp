//===- Attention.cpp - Attention, plain, latent and over paged caches -----===//
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
constexpr DataType bf16 = DataType::BF16, int32 = DataType::I32;
constexpr DataType halfTypes[] = {DataType::BF16, DataType::F16};

//===----------------------------------------------------------------------===//
// Shared parts
//===----------------------------------------------------------------------===//

/// Softmax attention of `rows` queries over `keys` keys in binary64. q is
/// rows x D, k keys x D, v keys x V, out rows x V; query i sees the keys below
/// visible(i).
void attend(const std::vector<float> &q, int64_t rows, int64_t D, const std::vector<float> &k,
            const std::vector<float> &v, int64_t V, int64_t keys, llvm::function_ref<int64_t(int64_t)> visible,
            std::vector<float> &out) {
  std::vector<double> p(size_t(rows * keys)), sums(size_t(rows * V));
  double scale = std::sqrt(double(D));
  int64_t most = 0;
  for (int64_t i = 0; i < rows; ++i)
    most = std::max(most, visible(i));
  multiplyRows(q.data(), D, rows, k.data(), D, most, D, p.data(), keys);
  for (int64_t i = 0; i < rows; ++i) {
    double *row = p.data() + i * keys;
    int64_t end = visible(i);
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t j = 0; j < end; ++j) {
      row[j] /= scale;
      // A NaN logit must reach the result.
      top = row[j] > top || std::isnan(row[j]) ? row[j] : top;
    }
    for (int64_t j = 0; j < end; ++j)
      sum += row[j] = std::exp(row[j] - top);
    for (int64_t j = 0; j < end; ++j)
      row[j] /= sum;
  }
  // Rows with the same number of keys share one pass over v.
  for (int64_t i = 0; i < rows;) {
    int64_t last = i + 1;
    while (last < rows && visible(last) == visible(i))
      ++last;
    accumulateColumns(p.data() + i * keys, keys, last - i, v.data(), V, V, visible(i), sums.data() + i * V, V);
    i = last;
  }
  for (size_t i = 0; i < sums.size(); ++i)
    out[i] = float(sums[i]);
}

/// Strict queries and keys: logits of deviation 2 around +96 or -96. The last of
/// the D components carries the shift, a in every key and +a or -a in the query,
/// alternating by row + head. Without the row's maximum exp overflows; a key of
/// logit 0 that should not be there takes over half of the rows.
float getShift(int64_t D) { return float(std::sqrt(96.0 * std::sqrt(double(D)))); }

void drawStrictQuery(const Draw &draw, int64_t heads, int64_t D) {
  draw.normal("q");
  for (int64_t i = 0; i < draw.count; ++i) {
    int64_t index = draw.first + i;
    draw.values[i] *= 2;
    if (index % D == D - 1)
      draw.values[i] = (index / D / heads + index / D % heads) % 2 == 0 ? getShift(D) : -getShift(D);
  }
}

void drawStrictKey(const Draw &draw, int64_t D) {
  draw.normal("k");
  for (int64_t i = 0; i < draw.count; ++i)
    if ((draw.first + i) % D == D - 1)
      draw.values[i] = getShift(D);
}

void drawQuery(const Draw &draw, int64_t heads, int64_t D) {
  if (draw.isStrict)
    drawStrictQuery(draw, heads, D);
  else
    draw.half(1, "q");
}

/// Sums of up to 2^24 lengths; a fault where they leave 32 bits, which the
/// operators store them in.
std::vector<int64_t> prefixSums(Layout &layout, const std::vector<int64_t> &lengths) {
  std::vector<int64_t> sums{0};
  for (int64_t length : lengths)
    sums.push_back(std::min<int64_t>(sums.back() + length, int64_t(1) << 31));
  layout.require(sums.back() < (int64_t(1) << 31), "the lengths of the sequences sum to 2^31 or more");
  return sums;
}

/// A few query rows at a time keep the logits small.
constexpr int64_t queryBlock = 32;

/// Prefix sums in input `input`: ascending from 0 to `total`.
llvm::Error checkPrefixSums(const Work &work, unsigned input, int64_t total) {
  const TensorSpec &spec = work.instance.inputs[input];
  int64_t n = spec.getElements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t low = i == 0 ? 0 : work.integer(input, i - 1), value = work.integer(input, i);
    if (value < low || value > total || (i == 0 && value != 0) || (i == n - 1 && value != total))
      return makeError(fmt::format("input '{}': element {} is {}; prefix sums must ascend from 0 to {}", spec.name, i,
                                   value, total));
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// attention_forward
//===----------------------------------------------------------------------===//

void layOutForward(Layout &layout) {
  int64_t H = layout.count("num_heads"), D = layout.count("head_dim");
  std::vector<int64_t> lengths = layout.list("seq_lens", 0), sums = prefixSums(layout, lengths);
  int64_t S = sums.back(), n = int64_t(lengths.size());
  layout.require(n > 0, "parameter 'seq_lens' must have at least one entry");
  layout.input("q", bf16, {S, H, D});
  layout.input("k", bf16, {S, H, D}, Span::Whole);
  layout.input("v", bf16, {S, H, D}, Span::Whole);
  layout.input("cu_seqlens_q", int32, {n + 1}, Span::Whole);
  layout.input("cu_seqlens_k", int32, {n + 1}, Span::Whole);
  layout.output("out", bf16, {S, H, D});
  layout.instance.lists["sums"] = sums;
  layout.dims(S, {{"H", H}, {"D", D}}, {{"S", S}, {"N", n}});
}

void drawForward(const Draw &draw) {
  int64_t H = draw.dim("H"), D = draw.dim("D");
  if (draw.spec.name == "q")
    return drawQuery(draw, H, D);
  if (draw.spec.name == "k")
    return draw.isStrict ? drawStrictKey(draw, D) : draw.half();
  if (draw.spec.name == "v")
    return draw.half();
  for (int64_t i = 0; i < draw.count; ++i)
    draw.integers[i] = draw.item("sums", size_t(draw.first + i));
}

llvm::Error validateForward(const Work &work) {
  if (llvm::Error error = checkPrefixSums(work, 3, work.dim("S")))
    return error;
  if (llvm::Error error = checkPrefixSums(work, 4, work.dim("S")))
    return error;
  for (int64_t s = 0; s < work.dim("N"); ++s)
    if (work.integer(3, s + 1) > work.integer(3, s) && work.integer(4, s + 1) == work.integer(4, s))
      return makeError(fmt::format("input 'cu_seqlens_k': sequence {} has queries but no key", s));
  return llvm::Error::success();
}

void computeForward(const Work &work) {
  int64_t H = work.dim("H"), D = work.dim("D"), end = work.rowBegin + work.rows;
  for (int64_t s = 0; s < work.dim("N"); ++s) {
    int64_t first = std::max(work.rowBegin, work.integer(3, s)), last = std::min(end, work.integer(3, s + 1));
    int64_t keyBegin = work.integer(4, s), keys = work.integer(4, s + 1) - keyBegin;
    if (first >= last)
      continue;
    int64_t blocks = ceilDiv(last - first, queryBlock);
    // One head at a time is decoded once for all query blocks.
    parallelFor(H, [&](int64_t h) {
      std::vector<float> k(size_t(keys * D)), v(size_t(keys * D));
      for (int64_t j = 0; j < keys; ++j) {
        work.load(1, ((keyBegin + j) * H + h) * D, D, k.data() + j * D);
        work.load(2, ((keyBegin + j) * H + h) * D, D, v.data() + j * D);
      }
      for (int64_t block = 0; block < blocks; ++block) {
        int64_t begin = first + block * queryBlock, rows = std::min(queryBlock, last - begin);
        std::vector<float> q(size_t(rows * D)), out(size_t(rows * D));
        for (int64_t i = 0; i < rows; ++i)
          work.load(0, ((begin - work.rowBegin + i) * H + h) * D, D, q.data() + i * D);
        attend(q, rows, D, k, v, D, keys, [&](int64_t) { return keys; }, out);
        for (int64_t i = 0; i < rows; ++i)
          work.store(0, ((begin - work.rowBegin + i) * H + h) * D, D, out.data() + i * D);
      }
    });
  }
}

//===----------------------------------------------------------------------===//
// mla_decode_attention
//===----------------------------------------------------------------------===//

void layOutLatent(Layout &layout) {
  int64_t B = layout.count("batch_size"), ctx = layout.count("ctx_len"), n = layout.count("nhead");
  int64_t L = layout.count("kv_lora_rank", 512), R = layout.count("qk_rope_head_dim", 64), D = L + R;
  if (B > (int64_t(1) << 24))
    return layout.require(false, fmt::format("parameter 'batch_size' is {}; at most 2^24 sequences fit", B));
  std::vector<int64_t> lengths(size_t(B), ctx);
  if (layout.isStrict)
    for (int64_t i = 0; i < B; ++i)
      lengths[size_t(i)] = i % 3 == 0 ? ctx : i % 3 == 1 ? 1 : ctx / 2 + 1;
  lengths = layout.list("ctx_lens", 1, lengths);
  int64_t S = prefixSums(layout, lengths).back();
  layout.input("q", bf16, {B, n, D});
  layout.input("kv_cache", bf16, {S, 1, D}, Span::Whole);
  layout.input("seq_lens", int32, {B}, Span::Whole);
  layout.output("out", bf16, {B, n, L});
  layout.instance.lists["lengths"] = lengths;
  layout.dims(B, {{"H", n}, {"L", L}, {"D", D}}, {{"B", B}, {"S", S}});
}

void drawLatent(const Draw &draw) {
  if (draw.spec.name == "q")
    return drawQuery(draw, draw.dim("H"), draw.dim("D"));
  if (draw.spec.name == "kv_cache")
    return draw.isStrict ? drawStrictKey(draw, draw.dim("D")) : draw.half();
  for (int64_t i = 0; i < draw.count; ++i)
    draw.integers[i] = draw.item("lengths", size_t(draw.first + i));
}

llvm::Error validateLatent(const Work &work) {
  int64_t S = work.dim("S"), sum = 0;
  if (llvm::Error error = checkRange(work, 2, 1, S + 1))
    return error;
  for (int64_t i = 0; i < work.dim("B"); ++i)
    sum += work.integer(2, i);
  return sum == S ? llvm::Error::success()
                  : makeError(fmt::format("input 'seq_lens' sums to {}, but 'kv_cache' has {} rows", sum, S));
}

void computeLatent(const Work &work) {
  int64_t n = work.dim("H"), L = work.dim("L"), D = work.dim("D");
  std::vector<int64_t> starts{0};
  for (int64_t i = 0; i < work.dim("B"); ++i)
    starts.push_back(starts.back() + work.integer(2, i));
  parallelFor(work.rows, [&](int64_t row) {
    int64_t start = starts[size_t(work.rowBegin + row)], keys = starts[size_t(work.rowBegin + row) + 1] - start;
    std::vector<float> k = work.load(1, start * D, keys * D), v(size_t(keys * L));
    for (int64_t j = 0; j < keys; ++j)
      std::copy_n(k.data() + j * D, L, v.data() + j * L);
    std::vector<float> q = work.load(0, row * n * D, n * D), out(size_t(n * L));
    attend(q, n, D, k, v, L, keys, [&](int64_t) { return keys; }, out);
    work.store(0, row * n * L, n * L, out.data());
  });
}

//===----------------------------------------------------------------------===//
// Paged caches
//===----------------------------------------------------------------------===//

/// Where the sequences of a drawn case live.
struct PagePlan {
  /// Blocks of every sequence, then whether a slot is in use.
  std::vector<int64_t> table;
  std::vector<bool> used;
};

/// `blocksNeeded`: blocks of a row that are filled from the order, the others
/// stay 0.
std::shared_ptr<const void> planPages(const Draw &draw, const char *tag, bool fillsAll) {
  const Instance &instance = draw.instance;
  int64_t MB = draw.dim("MB"), NB = draw.dim("NB"), BS = draw.dim("BS");
  const std::vector<int64_t> &lengths = instance.lists.at("lengths");
  auto plan = std::make_shared<PagePlan>();
  std::vector<int64_t> order;
  if (draw.isStrict)
    order = drawPermutation(draw.stream(tag), NB);
  plan->table.assign(size_t(int64_t(lengths.size()) * MB), 0);
  plan->used.assign(size_t(NB * BS), false);
  for (int64_t s = 0; s < int64_t(lengths.size()); ++s) {
    int64_t need = fillsAll ? MB : ceilDiv(lengths[size_t(s)], BS);
    for (int64_t j = 0; j < need; ++j)
      plan->table[size_t(s * MB + j)] = draw.isStrict ? order[size_t(s * MB + j)] : s * MB + j;
    for (int64_t p = 0; p < lengths[size_t(s)]; ++p)
      plan->used[size_t(plan->table[size_t(s * MB + p / BS)] * BS + p % BS)] = true;
  }
  return plan;
}

/// Strict cache in logical order [NB, BS, hk, D]: keys or values in use, large
/// finite values elsewhere. draw.first is a multiple of hk * D.
void drawStrictCache(const Draw &draw, bool isKey, int64_t width, int64_t D) {
  const auto *plan = static_cast<const PagePlan *>(draw.plan);
  if (isKey)
    drawStrictKey(draw, D);
  else
    draw.half(1, "v");
  std::vector<float> unused(size_t(draw.count));
  draw.stream(isKey ? "k/unused" : "v/unused").fillNormal(uint64_t(draw.first), unused.size(), unused.data());
  for (int64_t i = 0; i < draw.count; ++i)
    if (!plan->used[size_t((draw.first + i) / width)])
      draw.values[i] = unused[size_t(i)] * (isKey ? 64.0f : 1000.0f);
}

llvm::Error checkTable(const Work &work, unsigned table, unsigned lengths) {
  if (llvm::Error error = checkRange(work, lengths, INT32_MIN, work.dim("MB") * work.dim("BS") + 1))
    return error;
  // Entries behind a sequence may hold anything.
  int64_t MB = work.dim("MB"), BS = work.dim("BS"), NB = work.dim("NB");
  for (int64_t s = 0; s < work.instance.inputs[lengths].getElements(); ++s)
    for (int64_t j = 0; j < ceilDiv(std::max<int64_t>(0, work.integer(lengths, s)), BS); ++j)
      if (int64_t block = work.integer(table, s * MB + j); block < 0 || block >= NB)
        return makeError(fmt::format("input '{}': row {}, entry {} is {}; the cache has blocks 0 .. {}",
                                     work.instance.inputs[table].name, s, j, block, NB - 1));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// paged_attention_decode
//===----------------------------------------------------------------------===//

void layOutDecode(Layout &layout) {
  int64_t n = layout.count("num_seqs"), ctx = layout.count("ctx_len"), BS = layout.count("block_size", 16);
  int64_t hq = layout.count("num_query_heads"), hk = layout.count("num_kv_heads"), D = layout.count("head_size");
  int64_t spare = layout.natural("spare_blocks", layout.isStrict ? 3 : 16);
  DataType type = layout.type("dtype", halfTypes);
  layout.require(hq % hk == 0, fmt::format("{} query heads do not share {} kv heads evenly", hq, hk));
  layout.require(D % 8 == 0, fmt::format("parameter 'head_size' is {}; it must be a multiple of 8", D));
  int64_t MB = ceilDiv(ctx, BS);
  if (layout.failed() || n > (int64_t(1) << 24) || MB > (int64_t(1) << 24))
    return layout.require(false, "parameters 'num_seqs' and 'ctx_len' must stay below 2^24 sequences and blocks");
  int64_t NB = layout.product({MB, n}) + spare;
  std::vector<int64_t> lengths(size_t(n), ctx);
  if (layout.isStrict)
    for (int64_t i = 0; i < n; ++i)
      lengths[size_t(i)] = i % 4 == 0 ? ctx : i % 4 == 1 ? 0 : i % 4 == 2 ? 1 : ctx / 2 + 1;
  lengths = layout.list("ctx_lens", 0, lengths);
  for (int64_t length : lengths)
    layout.require(length <= MB * BS,
                   fmt::format("parameter 'ctx_lens' holds {}, more than the {} tokens of a row of the block table",
                               length, MB * BS));
  layout.input("query", type, {n, hq, D});
  layout.input("k_cache", type, {NB, hk, D / 8, BS, 8}, Span::Whole, layout.product({hk, D, BS}));
  layout.input("v_cache", type, {NB, hk, D, BS}, Span::Whole, layout.product({hk, D, BS}));
  layout.input("block_tables", int32, {n, MB}, Span::Whole);
  layout.input("seq_lens", int32, {n}, Span::Whole);
  layout.output("out", type, {n, hq, D});
  layout.instance.lists["lengths"] = lengths;
  layout.dims(n, {{"HQ", hq}, {"HK", hk}, {"D", D}, {"BS", BS}}, {{"N", n}, {"MB", MB}, {"NB", NB}});
}

std::shared_ptr<const void> planDecode(const Draw &draw) {
  return draw.spec.name == "query" ? nullptr : planPages(draw, "block_tables", true);
}

/// Place of (token slot, kv head, component) inside a block.
int64_t locateKey(int64_t slot, int64_t head, int64_t d, int64_t D, int64_t BS) {
  return ((head * (D / 8) + d / 8) * BS + slot) * 8 + d % 8;
}
int64_t locateValue(int64_t slot, int64_t head, int64_t d, int64_t D, int64_t BS) { return (head * D + d) * BS + slot; }

void drawDecode(const Draw &draw) {
  int64_t HK = draw.dim("HK"), D = draw.dim("D"), BS = draw.dim("BS");
  const auto *plan = static_cast<const PagePlan *>(draw.plan);
  const std::string &name = draw.spec.name;
  if (name == "query")
    return drawQuery(draw, draw.dim("HQ"), D);
  if (name == "block_tables" || name == "seq_lens") {
    for (int64_t i = 0; i < draw.count; ++i)
      draw.integers[i] =
          name == "seq_lens" ? draw.item("lengths", size_t(draw.first + i)) : plan->table[size_t(draw.first + i)];
    return;
  }
  if (!draw.isStrict)
    return draw.half();
  // Drawn token by token, stored transposed block by block.
  bool isKey = name == "k_cache";
  drawStrictCache(draw, isKey, HK * D, D);
  int64_t size = HK * D * BS;
  std::vector<float> block(static_cast<size_t>(size));
  for (int64_t begin = 0; begin < draw.count; begin += size) {
    std::copy_n(draw.values + begin, size, block.data());
    for (int64_t slot = 0; slot < BS; ++slot)
      for (int64_t head = 0; head < HK; ++head)
        for (int64_t d = 0; d < D; ++d)
          draw.values[begin + (isKey ? locateKey : locateValue)(slot, head, d, D, BS)] =
              block[size_t((slot * HK + head) * D + d)];
  }
}

llvm::Error validateDecode(const Work &work) { return checkTable(work, 3, 4); }

void computeDecode(const Work &work) {
  int64_t HQ = work.dim("HQ"), HK = work.dim("HK"), D = work.dim("D"), BS = work.dim("BS"), MB = work.dim("MB");
  int64_t group = HQ / HK, size = HK * D * BS;
  parallelFor(work.rows * HK, [&](int64_t index) {
    int64_t row = index / HK, head = index % HK, s = work.rowBegin + row;
    int64_t keys = std::max<int64_t>(0, work.integer(4, s));
    std::vector<float> q = work.load(0, (row * HQ + head * group) * D, group * D), out(q.size());
    std::vector<float> k(size_t(keys * D)), v(size_t(keys * D)), kBlock(size_t(D * BS)), vBlock(size_t(D * BS));
    for (int64_t p = 0; p < keys; ++p) {
      if (p % BS == 0) {
        int64_t offset = work.integer(3, s * MB + p / BS) * size + head * D * BS;
        work.load(1, offset, D * BS, kBlock.data());
        work.load(2, offset, D * BS, vBlock.data());
      }
      for (int64_t d = 0; d < D; ++d) {
        k[size_t(p * D + d)] = kBlock[size_t(locateKey(p % BS, 0, d, D, BS))];
        v[size_t(p * D + d)] = vBlock[size_t(locateValue(p % BS, 0, d, D, BS))];
      }
    }
    if (keys > 0)
      attend(q, group, D, k, v, D, keys, [&](int64_t) { return keys; }, out);
    else
      std::fill(out.begin(), out.end(), 0.0f);
    work.store(0, (row * HQ + head * group) * D, group * D, out.data());
  });
}

//===----------------------------------------------------------------------===//
// unified_attention
//===----------------------------------------------------------------------===//

void layOutUnified(Layout &layout) {
  int64_t hq = layout.count("num_query_heads"), hk = layout.count("num_kv_heads"), D = layout.count("head_size");
  int64_t BS = layout.count("block_size", 16), spare = layout.natural("spare_blocks", layout.isStrict ? 3 : 64);
  std::vector<int64_t> lengths = layout.list("seq_lens", 0);
  int64_t n = int64_t(lengths.size());
  layout.require(n > 0, "parameter 'seq_lens' must have at least one entry");
  if (layout.failed())
    return;
  int64_t given = layout.count("num_seqs", n);
  layout.require(given == n, fmt::format("parameter 'num_seqs' is {}, but 'seq_lens' has {} entries", given, n));
  layout.require(hq % hk == 0, fmt::format("{} query heads do not share {} kv heads evenly", hq, hk));
  std::vector<int64_t> queries = layout.list("q_lens", 0, lengths);
  for (int64_t i = 0; i < n; ++i)
    layout.require(queries[size_t(i)] <= lengths[size_t(i)],
                   fmt::format("parameter 'q_lens': sequence {} has {} queries but {} keys", i, queries[size_t(i)],
                               lengths[size_t(i)]));
  std::vector<int64_t> sums = prefixSums(layout, queries);
  int64_t S = sums.back(), MB = ceilDiv(*std::max_element(lengths.begin(), lengths.end()), BS) + 2;
  int64_t NB = layout.product({MB, n}) + spare;
  layout.input("q", bf16, {S, hq, D});
  layout.input("k_cache", bf16, {NB, BS, hk, D}, Span::Whole, layout.product({hk, D}));
  layout.input("v_cache", bf16, {NB, BS, hk, D}, Span::Whole, layout.product({hk, D}));
  layout.input("cu_seqlens_q", int32, {n + 1}, Span::Whole);
  layout.input("seqused_k", int32, {n}, Span::Whole);
  layout.input("block_table", int32, {n, MB}, Span::Whole);
  layout.output("out", bf16, {S, hq, D});
  layout.instance.lists["lengths"] = lengths;
  layout.instance.lists["sums"] = sums;
  layout.dims(S, {{"HQ", hq}, {"HK", hk}, {"D", D}, {"BS", BS}}, {{"S", S}, {"N", n}, {"MB", MB}, {"NB", NB}});
}

std::shared_ptr<const void> planUnified(const Draw &draw) {
  return draw.spec.name == "q" ? nullptr : planPages(draw, "block_table", false);
}

void drawUnified(const Draw &draw) {
  const std::string &name = draw.spec.name;
  int64_t D = draw.dim("D");
  if (name == "q")
    return drawQuery(draw, draw.dim("HQ"), D);
  if (name == "k_cache" || name == "v_cache")
    return draw.isStrict ? drawStrictCache(draw, name == "k_cache", draw.dim("HK") * D, D) : draw.half();
  for (int64_t i = 0; i < draw.count; ++i) {
    size_t index = size_t(draw.first + i);
    draw.integers[i] = name == "block_table"    ? static_cast<const PagePlan *>(draw.plan)->table[index]
                       : name == "cu_seqlens_q" ? draw.item("sums", index)
                                                : draw.item("lengths", index);
  }
}

llvm::Error validateUnified(const Work &work) {
  if (llvm::Error error = checkPrefixSums(work, 3, work.dim("S")))
    return error;
  for (int64_t s = 0; s < work.dim("N"); ++s) {
    int64_t queries = work.integer(3, s + 1) - work.integer(3, s), keys = work.integer(4, s);
    if (keys < 0 || (queries > 0 && keys == 0))
      return makeError(fmt::format("input 'seqused_k': sequence {} has {} queries but {} keys", s, queries, keys));
  }
  return checkTable(work, 5, 4);
}

void computeUnified(const Work &work) {
  int64_t HQ = work.dim("HQ"), HK = work.dim("HK"), D = work.dim("D"), BS = work.dim("BS"), MB = work.dim("MB");
  int64_t group = HQ / HK, end = work.rowBegin + work.rows;
  /// Rows of one sequence and kv head.
  struct Item {
    int64_t sequence, head, first, last;
  };
  std::vector<Item> items;
  for (int64_t s = 0; s < work.dim("N"); ++s) {
    int64_t first = std::max(work.rowBegin, work.integer(3, s)), last = std::min(end, work.integer(3, s + 1));
    for (int64_t head = 0; first < last && head < HK; ++head)
      items.push_back({s, head, first, last});
  }
  parallelFor(int64_t(items.size()), [&](int64_t index) {
    auto [s, head, first, last] = items[size_t(index)];
    int64_t start = work.integer(3, s), queries = work.integer(3, s + 1) - start, keys = work.integer(4, s);
    bool isCausal = queries == keys;
    // Keys behind the last query are not needed.
    int64_t needed = isCausal ? last - start : keys;
    std::vector<float> k(size_t(needed * D)), v(size_t(needed * D));
    for (int64_t p = 0; p < needed; ++p) {
      int64_t offset = ((work.integer(5, s * MB + p / BS) * BS + p % BS) * HK + head) * D;
      work.load(1, offset, D, k.data() + p * D);
      work.load(2, offset, D, v.data() + p * D);
    }
    for (int64_t begin = first; begin < last; begin += queryBlock) {
      int64_t rows = std::min(queryBlock, last - begin);
      int64_t width = isCausal ? begin + rows - start : keys;
      // The query heads of the group share keys: token i, head h is row i * group + h.
      std::vector<float> q(size_t(rows * group * D)), out(q.size());
      for (int64_t i = 0; i < rows; ++i)
        work.load(0, ((begin - work.rowBegin + i) * HQ + head * group) * D, group * D, q.data() + i * group * D);
      attend(
          q, rows * group, D, k, v, D, width,
          [&](int64_t row) { return isCausal ? begin + row / group - start + 1 : keys; }, out);
      for (int64_t i = 0; i < rows; ++i)
        work.store(0, ((begin - work.rowBegin + i) * HQ + head * group) * D, group * D, out.data() + i * group * D);
    }
  });
}

constexpr OperatorTable tables[] = {
    {"attention_forward", layOutForward, drawForward, computeForward, validateForward},
    {"mla_decode_attention", layOutLatent, drawLatent, computeLatent, validateLatent},
    {"paged_attention_decode", layOutDecode, drawDecode, computeDecode, validateDecode, nullptr, planDecode},
    {"unified_attention", layOutUnified, drawUnified, computeUnified, validateUnified, nullptr, planUnified},
};
} // namespace

llvm::ArrayRef<OperatorTable> bench::getAttentionTables() { return tables; }
