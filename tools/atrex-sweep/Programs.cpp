//===- Programs.cpp - Programs of a sweep and what they must give ---------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Factors of products are integers up to 3, which every type holds; sums stay
// below 2^24, so that the result is exact whatever the order. Attention is
// worked out in double precision.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

using namespace atrex;
using namespace atrex::sweep;
using llvm::formatv;

namespace {

/// Appends an element; the types that programs use.
void append(std::vector<uint8_t> &bytes, DataType type, double value) {
  auto add = [&](const auto &bits) {
    size_t at = bytes.size();
    bytes.resize(at + sizeof(bits));
    std::memcpy(bytes.data() + at, &bits, sizeof(bits));
  };
  switch (type) {
  case DataType::BF16:
    return add(convertToBF16(float(value)));
  case DataType::F16:
    return add(convertToF16(float(value)));
  case DataType::E4M3FN:
    return add(convertToE4M3FN(float(value)));
  case DataType::E4M3FNUZ:
    return add(convertToE4M3FNUZ(float(value)));
  case DataType::I8:
    return add(int8_t(value));
  case DataType::I32:
    return add(int32_t(value));
  case DataType::F32:
    return add(float(value));
  default:
    llvm_unreachable("no program has this type");
  }
}

int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// 1 to `last`, each once, neighbours far apart.
std::vector<int64_t> spread(int64_t last, int64_t first) {
  int64_t step = std::max<int64_t>(1, int64_t(double(last) * 0.618));
  while (std::gcd(step, last) != 1)
    ++step;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < last; ++i)
    values.push_back(1 + (first + i * step) % last);
  return values;
}

/// Every set of extents up to one more than a tile, and than two along the summed axis; nothing where there are too
/// many.
std::vector<std::array<int64_t, 3>> getEveryTriple(int64_t m, int64_t n, int64_t k) {
  std::vector<std::array<int64_t, 3>> result;
  if ((m + 1) * (n + 1) * (2 * k + 1) <= 20000)
    for (int64_t i = 1; i <= m + 1; ++i)
      for (int64_t j = 1; j <= n + 1; ++j)
        for (int64_t l = 1; l <= 2 * k + 1; ++l)
          result.push_back({i, j, l});
  return result;
}

/// Sets of extents in which every axis takes every value from 1 to one more than a tile (of the summed axis: than two),
/// at different places of the others, behind some that are chosen.
std::vector<std::array<int64_t, 3>> getTriples(int64_t m, int64_t n, int64_t k, uint64_t most) {
  std::vector<std::array<int64_t, 3>> result = {
      {1, 1, 1},     {m - 1, n + 1, k + 3}, {m + 1, n - 1, 2 * k - 1}, {3, n + 5, 1},
      {m + 2, 2, k}, {m, n, 3 * k},         {2 * m + 1, 1, k - 1},     {1, 2 * n + 3, 2 * k + 1}};
  std::vector<int64_t> rows = spread(m + 1, 0), columns = spread(n + 1, n / 3), sums = spread(2 * k + 1, k);
  size_t longest = std::max({rows.size(), columns.size(), sums.size()});
  for (size_t i = 0; i < longest && result.size() < most; ++i)
    result.push_back({rows[i % rows.size()], columns[i % columns.size()], sums[i % sums.size()]});
  if (result.size() > most)
    result.resize(most);
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

struct ProductChoice {
  std::string type;
  /// "nt": b is stored as [N, K].
  std::string layout;
  bool hasEpilogue = false;
  int64_t m = 16, n = 16, k = 16, waves = 1;
};

class Product : public Program {
public:
  explicit Product(const ProductChoice &choice) : choice(choice) {
    type = *parseDataType(choice.type);
    bool isInteger = !isFloat(type);
    outputType = choice.hasEpilogue ? DataType::BF16 : isInteger ? DataType::I32 : DataType::F32;
    name = formatv("product {0} {1} {2} BM={3} BN={4} BK={5} W={6}", choice.type, choice.layout,
                   choice.hasEpilogue ? "bias-relu" : "plain", choice.m, choice.n, choice.k, choice.waves)
               .str();
    // The part of a factor that an iteration takes.
    auto slice = [&](char rows, int64_t tile, bool summedLast) {
      std::string own = formatv("{0} : {0} + {1}", rows, tile).str(), summed = formatv("k : k + {0}", choice.k).str();
      return summedLast ? own + ", " + summed : summed + ", " + own;
    };
    bool aT = choice.layout[0] == 't', bT = choice.layout[1] == 't';
    std::string sum = isInteger ? "f32(acc)" : "acc", result = "acc";
    if (choice.hasEpilogue)
      result = formatv("bf16(max({0} + load(bias[n : n + {1}])[None, :], 0.0))", sum, choice.n).str();
    source = "kernel product(a: " + choice.type + (aT ? "[K, M]" : "[M, K]") + ", b: " + choice.type +
             (bT ? "[N, K]" : "[K, N]") + (choice.hasEpilogue ? ", bias: f32[N]" : "") +
             ") -> (c: " + getName(outputType).str() + "[M, N])\n";
    source +=
        formatv("  threads {0}\n  grid (cdiv(M, {1}), cdiv(N, {2}))\n", 64 * choice.waves, choice.m, choice.n).str();
    source += "{\n  let (pm, pn) = block_id()\n";
    source += formatv("  let m = pm * {0}\n  let n = pn * {1}\n", choice.m, choice.n).str();
    source += formatv("  var acc = fill({0}[{1}, {2}], {3})\n", isInteger ? "i32" : "f32", choice.m, choice.n,
                      isInteger ? "0" : "0.0")
                  .str();
    source += formatv("  for k in range(0, K, {0}) ", choice.k).str() + "{\n";
    source +=
        formatv("    acc += einsum(\"{0},{1}->mn\", load(a[{2}]), load(b[{3}]){4})\n", aT ? "km" : "mk",
                bT ? "nk" : "kn", slice('m', choice.m, !aT), slice('n', choice.n, bT), isInteger ? ", acc = i32" : "")
            .str();
    source += formatv("  }\n  store(c[m : m + {0}, n : n + {1}], {2})\n", choice.m, choice.n, result).str() + "}\n";
  }

  std::vector<Extents> getExtents(uint64_t most, bool every) const override {
    std::vector<Extents> result;
    for (auto [m, n, k] :
         every ? getEveryTriple(choice.m, choice.n, choice.k) : getTriples(choice.m, choice.n, choice.k, most))
      result.push_back({{"M", m}, {"N", n}, {"K", k}});
    return result;
  }
  uint64_t getWork(const Extents &e) const override {
    return uint64_t(ceilDiv(e.at("M"), choice.m) * ceilDiv(e.at("N"), choice.n) * ceilDiv(e.at("K"), choice.k)) *
           uint64_t(choice.m * choice.n * choice.k);
  }

  std::vector<Tensor> makeTensors(const Extents &e, uint64_t seed) const override {
    int64_t m = e.at("M"), n = e.at("N"), k = e.at("K");
    bool aT = choice.layout[0] == 't', bT = choice.layout[1] == 't';
    std::mt19937_64 random(seed);
    auto draw = [&](int64_t count) {
      std::vector<int> values(count);
      for (int &value : values)
        value = int(random() % 7) - 3;
      return values;
    };
    // As rows of what is summed.
    std::vector<int> a = draw(m * k), b = draw(n * k), bias = draw(n);
    std::vector<Tensor> tensors;
    auto add = [&](std::string name, DataType type, std::vector<int64_t> shape) -> Tensor & {
      tensors.push_back({std::move(name), type, false, std::move(shape), {}, {}, {}});
      return tensors.back();
    };
    auto addFactor = [&](const char *name, const std::vector<int> &values, int64_t rows, bool summedLast) {
      Tensor &tensor = add(name, type, summedLast ? std::vector<int64_t>{rows, k} : std::vector<int64_t>{k, rows});
      if (summedLast) {
        for (int value : values)
          append(tensor.bytes, type, value);
        return;
      }
      for (int64_t j = 0; j < k; ++j)
        for (int64_t i = 0; i < rows; ++i)
          append(tensor.bytes, type, values[i * k + j]);
    };
    addFactor("a", a, m, !aT);
    addFactor("b", b, n, bT);
    if (choice.hasEpilogue) {
      Tensor &tensor = add("bias", DataType::F32, {n});
      for (int value : bias)
        append(tensor.bytes, DataType::F32, value);
    }
    Tensor &c = add("c", outputType, {m, n});
    c.isOutput = true;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const int *x = &a[i * k], *y = &b[j * k];
        int sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += x[l] * y[l];
        append(c.bytes, outputType, choice.hasEpilogue ? std::max(0, sum + bias[j]) : sum);
      }
    return tensors;
  }

private:
  ProductChoice choice;
  DataType type, outputType;
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

struct AttentionChoice {
  int64_t head = 64, rows = 64, keys = 32, waves = 4;
  bool isCausal = false;
};

/// Softmax over keys with the sums kept while they are read; causal kernels see the keys up to their own place.
class Attention : public Program {
public:
  explicit Attention(const AttentionChoice &choice) : choice(choice) {
    name = formatv("attention {0} D={1} BM={2} BN={3} W={4}", choice.isCausal ? "causal" : "whole", choice.head,
                   choice.rows, choice.keys, choice.waves)
               .str();
    constants["D"] = choice.head;
    const char *text = R"(kernel attention(q: bf16[H, S, D], k: bf16[H, T, D], v: bf16[H, T, D]) -> (o: bf16[H, S, D])
  threads @W
  grid (cdiv(S, @M), H)
{
  let (pm, h) = block_id()
  let rows = pm * @M + iota(@M)
  let x = load(q[h, pm * @M : pm * @M + @M, :])
  var m = fill(f32[@M], -1e30)
  var l = fill(f32[@M], 0.0)
  var acc = fill(f32[@M, D], 0.0)
  for j in range(0, @E, @N) {
    let s = einsum("md,nd->mn", x, load(k[h, j : j + @N, :]))
    let keys = (j + iota(@N))[None, :]
    let t = where(@C, s, -1e30)
    let higher = max(m, max(t, axis = 1))
    let p = exp(t - higher[:, None])
    let scale = exp(m - higher)
    l = l * scale + sum(p, axis = 1)
    acc = acc * scale[:, None] + einsum("mn,nd->md", bf16(p), load(v[h, j : j + @N, :]))
    m = higher
  }
  store(o[h, pm * @M : pm * @M + @M, :], bf16(acc / l[:, None]))
}
)";
    std::map<char, std::string> words = {
        {'W', std::to_string(64 * choice.waves)},
        {'M', std::to_string(choice.rows)},
        {'N', std::to_string(choice.keys)},
        {'E', choice.isCausal ? formatv("min(T, (pm + 1) * {0})", choice.rows).str() : "T"},
        {'C', choice.isCausal ? "keys < T && keys <= rows[:, None]" : "keys < T"}};
    for (const char *c = text; *c; ++c) {
      if (*c == '@')
        source += words.at(*++c);
      else
        source += *c;
    }
  }

  std::vector<Extents> getExtents(uint64_t most, bool every) const override {
    std::vector<Extents> result;
    if (every) {
      for (auto [s, t, h] : getEveryTriple(choice.rows, 2 * choice.keys, 0))
        result.push_back({{"S", s}, {"T", t}, {"H", h}});
      return result;
    }
    for (auto [s, t, k] : getTriples(choice.rows, choice.keys, 1, most))
      result.push_back({{"S", s}, {"T", t}, {"H", 1 + k % 2}});
    // More than one tile of keys.
    result.push_back({{"S", choice.rows + 1}, {"T", 3 * choice.keys + 5}, {"H", 2}});
    return result;
  }
  uint64_t getWork(const Extents &e) const override {
    return uint64_t(e.at("H") * ceilDiv(e.at("S"), choice.rows) * ceilDiv(e.at("T"), choice.keys)) *
           uint64_t(2 * choice.rows * choice.keys * choice.head);
  }

  std::vector<Tensor> makeTensors(const Extents &e, uint64_t seed) const override {
    int64_t heads = e.at("H"), s = e.at("S"), t = e.at("T"), d = choice.head;
    std::mt19937_64 random(seed);
    std::vector<Tensor> tensors;
    auto add = [&](const char *name, int64_t rows, double scale) {
      tensors.push_back({name, DataType::BF16, false, {heads, rows, d}, {}, {}, {}});
      std::vector<double> values(heads * rows * d);
      for (double &value : values) {
        value = convertFromBF16(convertToBF16(float(scale * (double(random() % 4096) / 2048 - 1))));
        append(tensors.back().bytes, DataType::BF16, value);
      }
      return values;
    };
    // Scores of about +-2, so that every key counts and none alone.
    std::vector<double> q = add("q", s, 2 / std::sqrt(double(d))), k = add("k", t, 2), v = add("v", t, 1);
    Tensor o{"o", DataType::BF16, true, {heads, s, d}, {}, {}, {}};
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < s; ++i) {
        int64_t seen = choice.isCausal ? std::min(t, i + 1) : t;
        std::vector<double> p(seen);
        double sum = 0, highest = -1e300;
        for (int64_t j = 0; j < seen; ++j) {
          for (int64_t l = 0; l < d; ++l)
            p[j] += q[(h * s + i) * d + l] * k[(h * t + j) * d + l];
          highest = std::max(highest, p[j]);
        }
        for (double &value : p)
          sum += value = std::exp(value - highest);
        for (int64_t l = 0; l < d; ++l) {
          double value = 0, size = 0;
          for (int64_t j = 0; j < seen; ++j) {
            value += p[j] * v[(h * t + j) * d + l];
            size += p[j] * std::fabs(v[(h * t + j) * d + l]);
          }
          o.expected.push_back(value / sum);
          // A weight is rounded to eight bits, and so is the result; exp and sums in f32 are far better.
          o.bounds.push_back(size / sum * 0x1p-8 + std::fabs(value / sum) * 0x1p-8 + 1e-5);
        }
      }
    tensors.push_back(std::move(o));
    return tensors;
  }

private:
  AttentionChoice choice;
};

/// Options of the schedule that must not change what a kernel gives. Each draw takes some of them.
std::vector<std::string> drawSettings(std::mt19937_64 &random, int64_t waves, bool isProduct) {
  std::vector<std::string> settings;
  auto maybe = [&](unsigned percent, const char *option, std::vector<const char *> values) {
    if (random() % 100 < percent)
      settings.push_back(std::string(option) + "=" + values[random() % values.size()]);
  };
  maybe(60, "atx-stage-operands.stages", {"1", "2", "3", "4"});
  maybe(30, "atx-stage-operands.prefetch", {"0", "1", "2"});
  maybe(20, "atx-stage-operands.swizzle", {"0"});
  maybe(20, "atx-assign-tile-layouts.mfma-rows", {"16", "32"});
  maybe(20, "atx-assign-tile-layouts.waves-m", {"1", "2", "4"});
  maybe(40, "atx-unroll-loops.factor", {"0", "1", "2", "3", "4"});
  maybe(50, "atx-interleave.pattern", {"auto", "mfma:2,ds_read:1,vmem_read:1"});
  maybe(20, "atx-interleave.priority", {"1", "3"});
  if (waves == 8)
    maybe(40, "atx-ping-pong.enable", {"1"});
  maybe(40, "atx-grid-order.order", {"row", "grouped", "xcd"});
  if (!settings.empty() && llvm::StringRef(settings.back()).starts_with("atx-grid-order"))
    maybe(50, "atx-grid-order.group", {"1", "2", "3"});
  maybe(15, "atx-grid-order.causal", {"reverse", "zigzag"});
  maybe(30, "atx-persistent.workgroups", {"1", "2", "3", "-1"});
  if (isProduct && random() % 100 < 50) {
    if (random() % 2)
      maybe(100, "atx-stream-k.splits", {"2", "3", "4", "8"});
    else
      maybe(100, "atx-stream-k.workgroups", {"1", "2", "3", "5", "7", "16"});
  }
  return settings;
}

} // namespace

std::vector<std::unique_ptr<Program>> sweep::makePrograms(const ChipInfo &chip, const Selection &selection) {
  std::vector<std::unique_ptr<Program>> programs;
  std::mt19937_64 random(selection.seed);
  auto finish = [&](std::unique_ptr<Program> program, int64_t waves, bool isProduct) {
    if (selection.schedules) {
      program->settings = drawSettings(random, waves, isProduct);
      if (!program->settings.empty())
        program->name += " " + llvm::join(program->settings, " ");
    }
    programs.push_back(std::move(program));
  };
  std::vector<std::string> types = {"bf16", "f16", chip.fp8IsFNUZ ? "f8e4m3fnuz" : "f8e4m3fn", "i8", "f32"};
  unsigned number = 0;
  if (selection.products)
    for (const std::string &type : types)
      for (const char *layout : {"nt", "nn", "tn", "tt"})
        for (int64_t m : {16, 32, 64, 128, 256})
          for (int64_t n : {16, 32, 64, 128, 256})
            for (int64_t k : {16, 32, 64, 128})
              for (int64_t waves : {1, 4, 8}) {
                // At most 128 sums in a work-item, and 64 registers of factors.
                if (m * n > 8192 * waves || (m + n) * k * getSizeInBytes(*parseDataType(type)) > 16384 * waves)
                  continue;
                finish(std::make_unique<Product>(ProductChoice{type, layout, ++number % 2 == 0, m, n, k, waves}), waves,
                       true);
              }
  if (selection.attention)
    for (bool isCausal : {false, true})
      for (int64_t head : {8, 40, 64, 72, 80, 96, 128, 192, 256})
        for (int64_t rows : {16, 32, 64, 128, 256})
          for (int64_t keys : {16, 32, 64, 128})
            for (int64_t waves : {1, 4, 8}) {
              // The same: sums, and the rows of queries beside a tile of keys.
              if (rows * std::max(head, keys) > 8192 * waves || (rows + keys) * head * 2 > 16384 * waves)
                continue;
              finish(std::make_unique<Attention>(AttentionChoice{head, rows, keys, waves, isCausal}), waves, false);
            }
  return programs;
}
