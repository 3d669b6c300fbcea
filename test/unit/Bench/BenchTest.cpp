//===- BenchTest.cpp - Catalogue, rooflines, inputs, references, verdicts -===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Case.h"
#include "atrex/Bench/Catalogue.h"
#include "atrex/Bench/Operator.h"
#include "atrex/Bench/Random.h"
#include "atrex/Bench/Result.h"
#include "atrex/Bench/Roofline.h"
#include "atrex/Bench/Shortcut.h"
#include "atrex/Bench/Verdict.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace atrex;
using namespace atrex::bench;

/// A JSON object from its text.
static llvm::json::Object parseObject(llvm::StringRef text) {
  return std::move(*llvm::cantFail(llvm::json::parse(text)).getAsObject());
}

static Catalogue loadCatalogue() { return llvm::cantFail(Catalogue::load()); }

//===----------------------------------------------------------------------===//
// Catalogue and rooflines
//===----------------------------------------------------------------------===//

TEST(Catalogue, IsComplete) {
  Catalogue catalogue = loadCatalogue();
  EXPECT_EQ(catalogue.getOperators().size(), 30u);
  EXPECT_EQ(catalogue.getShapeCount(), 440u);
  EXPECT_NEAR(catalogue.getTotalImportance(), 1.09478, 5e-6);
  for (const CatalogueOperator &op : catalogue.getOperators())
    for (const auto &[name, type] : op.outputs)
      EXPECT_TRUE(getStrictRule(op.name, name).has_value()) << op.name << " " << name;
}

TEST(Catalogue, NamesAreSuggested) {
  Catalogue catalogue = loadCatalogue();
  llvm::Expected<const CatalogueOperator *> op = catalogue.lookup("rmsnorm");
  ASSERT_FALSE(bool(op));
  EXPECT_EQ(llvm::toString(op.takeError()), "unknown operator 'rmsnorm'; did you mean 'rms_norm'?");
  op = catalogue.lookup("zzzzzzzzzzzz");
  ASSERT_FALSE(bool(op));
  EXPECT_NE(llvm::toString(op.takeError()).find("shows all operators"), std::string::npos);
}

TEST(Catalogue, ShapeLists) {
  Catalogue catalogue = loadCatalogue();
  const CatalogueOperator &op = *llvm::cantFail(catalogue.lookup("moe_align_block_size"));
  auto parse = [&](llvm::StringRef text) { return llvm::cantFail(parseShapeList(text, op)); };
  // Id 1 does not exist in the published data.
  EXPECT_EQ(parse(""), (std::vector<int64_t>{0, 2, 3, 4, 5, 6}));
  EXPECT_EQ(parse("0-3"), (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(parse("5, 2,5"), (std::vector<int64_t>{5, 2}));
  for (const char *text : {"1", "7", "0-7", "3-2", "-1", "x", "1-", ",", "99999999999999999999"}) {
    llvm::Expected<std::vector<int64_t>> list = parseShapeList(text, op);
    EXPECT_FALSE(bool(list)) << text;
    llvm::consumeError(list.takeError());
  }
}

TEST(Catalogue, MalformedFiles) {
  for (const char *text : {"", "[]", "{}", R"({"schema": "atrex-mlir/bench-catalogue/1"})",
                           R"({"schema": "atrex-mlir/bench-catalogue/1", "name": 3})"}) {
    llvm::Expected<CatalogueOperator> op = Catalogue::parse(text, "x.json");
    EXPECT_FALSE(bool(op));
    EXPECT_NE(llvm::toString(op.takeError()).find("'x.json'"), std::string::npos);
  }
}

TEST(Roofline, ReproducesEveryPublishedFigure) {
  Catalogue catalogue = loadCatalogue();
  size_t times = 0;
  for (const CatalogueOperator &op : catalogue.getOperators())
    for (const CatalogueShape &shape : op.shapes) {
      llvm::Expected<WorkPair> work = computeWork(op.name, shape.params, shape.realised);
      ASSERT_TRUE(bool(work)) << op.name;
      EXPECT_EQ(work->charged.flops, shape.flops) << op.name << " " << shape.id;
      EXPECT_EQ(work->charged.readBytes, shape.readBytes) << op.name << " " << shape.id;
      EXPECT_EQ(work->charged.writeBytes, shape.writeBytes) << op.name << " " << shape.id;
      for (const auto &[device, published] : shape.solMs) {
        const ChipInfo *chip = lookupChip(device);
        ASSERT_NE(chip, nullptr) << device;
        times += computeSolMs(work->charged, op.dtype, *chip) == published;
      }
    }
  EXPECT_EQ(times, 880u);
}

TEST(Roofline, MinimalTrafficExplainsScoresAboveOne) {
  Catalogue catalogue = loadCatalogue();
  const ChipInfo &chip = *lookupChip("XPU-A");
  // Smallest and largest SOL / minimal time over the shapes.
  auto getRange = [&](llvm::StringRef name) {
    const CatalogueOperator &op = *llvm::cantFail(catalogue.lookup(name));
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const CatalogueShape &shape : op.shapes) {
      WorkPair work = llvm::cantFail(computeWork(name, shape.params, shape.realised));
      if (!work.minimal)
        continue;
      double ratio = computeSolMs(work.charged, op.dtype, chip) / computeSolMs(*work.minimal, op.dtype, chip);
      low = std::min(low, ratio);
      high = std::max(high, ratio);
    }
    return std::make_pair(low, high);
  };
  EXPECT_NEAR(getRange("reshape_and_cache").first, 1.50, 0.01);
  EXPECT_NEAR(getRange("reshape_and_cache").second, 16.5, 0.05);
  EXPECT_NEAR(getRange("gated_delta_rule_update").first, 1.00, 0.005);
  EXPECT_NEAR(getRange("gated_delta_rule_update").second, 1.99, 0.005);
  EXPECT_NEAR(getRange("paged_attention_decode").first, 1.02, 0.01);
  EXPECT_NEAR(getRange("paged_attention_decode").second, 2.94, 0.01);
  EXPECT_NEAR(getRange("mla_decode_attention").second, 1.27, 0.005);
  EXPECT_NEAR(getRange("chunk_delta_rule_output").second, 1.1767, 0.0005);
  EXPECT_NEAR(getRange("mrope").first, 1.10, 0.005);
  EXPECT_NEAR(getRange("mrope").second, 1.11, 0.005);
}

TEST(Roofline, ExpectationsOfRandomQuantities) {
  EXPECT_EQ(computeLiveExperts(32, 256, 8), 164);
  EXPECT_EQ(computeLiveExperts(1, 8, 8), 8);
  EXPECT_EQ(computeLiveExperts(1, 256, 8), 8);
  Catalogue catalogue = loadCatalogue();
  for (const char *name : {"fused_moe", "moe_align_block_size"}) {
    const CatalogueOperator &op = *llvm::cantFail(catalogue.lookup(name));
    for (const CatalogueShape &shape : op.shapes) {
      Work drawn = llvm::cantFail(computeWork(name, shape.params, shape.realised)).charged;
      Work expected = llvm::cantFail(computeWork(name, shape.params, {})).charged;
      EXPECT_NEAR(expected.flops, drawn.flops, 0.03 * drawn.flops + 1) << shape.id;
      EXPECT_NEAR(expected.writeBytes, drawn.writeBytes, 0.03 * drawn.writeBytes) << shape.id;
    }
  }
}

TEST(Roofline, BadParametersAreErrors) {
  auto message = [](llvm::StringRef op, llvm::StringRef values) {
    llvm::Expected<WorkPair> work = computeWork(op, Params(op.str(), parseObject(values)), {});
    return work ? std::string() : llvm::toString(work.takeError());
  };
  EXPECT_EQ(message("rms_norm", R"({"token_count": 3})"), "rms_norm: parameter 'hidden_size' is missing");
  EXPECT_EQ(message("rms_norm", R"({"token_count": 0, "hidden_size": 8})"),
            "rms_norm: parameter 'token_count' must be an integer from 1 to 2^40");
  EXPECT_NE(message("silu_and_mul", R"({"shape": 3})"), "");
  EXPECT_NE(message("silu_and_mul", R"({"shape": [3, "x"]})"), "");
  EXPECT_EQ(message("foo", "{}"), "operator 'foo' has no roofline formula");
}

TEST(Score, ProductionAndCeilingAgreeWithThePublishedData) {
  Catalogue catalogue = loadCatalogue();
  const ChipInfo &chip = *lookupChip("XPU-A");
  Score score = computeScore(catalogue, {}, chip, 5e-6);
  EXPECT_NEAR(score.rows[0].production.raw, 0.1375, 5e-5);
  EXPECT_NEAR(score.rows[0].production.normalised, 0.1256, 5e-5);
  EXPECT_NEAR(score.rows[0].ceiling.raw, 0.801, 5e-4);
  EXPECT_NEAR(score.rows[0].ceiling.normalised, 0.732, 5e-4);
  EXPECT_EQ(score.rows[0].all.raw, 0);
  Score faster = computeScore(catalogue, {}, chip, 1e-6);
  EXPECT_NEAR(faster.rows[0].ceiling.raw, 0.890, 5e-4);
  EXPECT_NEAR(faster.rows[0].ceiling.normalised, 0.813, 5e-4);
}

TEST(Score, FailedAndMissingCountZero) {
  Catalogue catalogue = loadCatalogue();
  const ChipInfo &chip = *lookupChip("XPU-A");
  const CatalogueOperator &op = *llvm::cantFail(catalogue.lookup("moe_sum_reduce"));
  ResultSet results;
  // Every shape at exactly twice its roofline time; one fails.
  for (const CatalogueShape &shape : op.shapes)
    results.shapes[op.name][shape.id] = {shape.id != 0, shape.solMs.at("XPU-A") * 2000};
  Score score = computeScore(catalogue, results, chip, 5e-6);
  const OperatorScore &row = *llvm::find_if(score.operators, [](const auto &o) { return o.name == "moe_sum_reduce"; });
  EXPECT_EQ(row.passing, 6u);
  EXPECT_NEAR(row.mean, 0.5 * 6 / 7, 1e-12);
  EXPECT_NEAR(row.passingMean, 0.5, 1e-12);
  EXPECT_NEAR(score.rows[0].all.raw, op.importance * 0.5 * 6 / 7, 1e-12);
  // "prefill/decode" counts in both phases.
  EXPECT_NEAR(score.rows[1].all.raw, score.rows[2].all.raw, 1e-15);
}

TEST(Score, ResultFilesAreChecked) {
  auto message = [](llvm::StringRef text) {
    ResultSet results;
    llvm::Error error = results.add(text, "r.json");
    return error ? llvm::toString(std::move(error)) : std::string();
  };
  EXPECT_NE(message("{}").find("is not a result file"), std::string::npos);
  EXPECT_NE(message("{"), "");
  std::string head = R"({"schema": "atrex-mlir/bench-result/1", "chip": {"name": "MI308X"}, "operators": )";
  EXPECT_NE(message(head + "3}").find("'operators' must be an array"), std::string::npos);
  EXPECT_NE(message(head + R"([{"name": "rms_norm", "shapes": [{}]}]})").find("must have 'status'"), std::string::npos);
  auto shape = [&](const char *kind, int id) {
    return R"({"id": )" + std::to_string(id) + R"(, "status": "pass", "strict": true, "time": {"kind": ")" + kind +
           R"(", "us": 5}})";
  };
  std::string one = R"([{"name": "rms_norm", "shapes": [)";
  EXPECT_EQ(message(head + one + shape("measured", 0) + "]}]}"), "");
  EXPECT_NE(message(head + one + shape("guessed", 0) + "]}]}"), "");
  EXPECT_NE(message(head + one + shape("measured", 0) + "," + shape("predicted", 1) + "]}]}").find("never mixed"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

TEST(Random, FastNormalAgreesWithTheMathLibrary) {
  RandomStream stream("rms_norm", "x", 12);
  std::vector<float> values(1 << 20);
  stream.fillNormal(0, values.size(), values.data());
  size_t different32 = 0, different16 = 0;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    float reference = stream.getNormalReference(i);
    different32 += reference != values[i];
    different16 += convertToBF16(reference) != convertToBF16(values[i]);
    sum += values[i];
    squares += double(values[i]) * values[i];
  }
  EXPECT_LE(different32, 2u);
  EXPECT_EQ(different16, 0u);
  EXPECT_NEAR(sum / double(values.size()), 0, 0.005);
  EXPECT_NEAR(squares / double(values.size()), 1, 0.01);
}

TEST(Random, AnyRangeEqualsTheWhole) {
  RandomStream stream("op", "tag", 3);
  std::vector<float> whole(1000), part(1000);
  stream.fillNormal(0, whole.size(), whole.data());
  for (size_t begin : {0u, 1u, 255u, 256u, 257u, 998u})
    for (size_t count : {0u, 1u, 2u, 300u}) {
      if (begin + count > whole.size())
        continue;
      stream.fillNormal(begin, count, part.data());
      EXPECT_EQ(std::vector<float>(part.begin(), part.begin() + long(count)),
                std::vector<float>(whole.begin() + long(begin), whole.begin() + long(begin + count)));
    }
}

TEST(Operators, RowRangesEqualTheWhole) {
  Catalogue catalogue = loadCatalogue();
  std::map<std::string, llvm::StringRef> params = {
      {"attention_forward", R"({"seq_lens": [2, 0, 5], "num_heads": 2, "head_dim": 12})"},
      {"block_scaled_mm", R"({"m": 7, "n": 64, "k": 64, "group_n": 32, "group_k": 16})"},
      {"causal_conv1d", R"({"token_count": 5, "dim": 7, "width": 4})"},
      {"chunk_delta_rule_output", R"({"batch_size": 2, "token_count": 21, "num_q_heads": 1, "num_v_heads": 2,
                                      "key_dim": 8, "value_dim": 12, "chunk_size": 16})"},
      {"chunk_gated_delta_rule_state", R"({"batch_size": 2, "token_count": 21, "num_k_heads": 1, "num_v_heads": 2,
                                           "key_dim": 8, "value_dim": 12, "chunk_size": 16, "state_count": 3})"},
      {"fp8_blockscale_fused_moe", R"({"token_count": 7, "hidden_size": 32, "intermediate_size": 32, "num_experts": 5,
                                       "top_k": 2, "scale_block_n": 16, "scale_block_k": 16})"},
      {"fp8_dynamic_per_token_quant", R"({"token_count": 7, "hidden_size": 33})"},
      {"fused_moe", R"({"token_count": 7, "hidden_size": 24, "intermediate_size": 20, "num_experts": 5, "top_k": 3})"},
      {"fused_qk_rmsnorm", R"({"num_tokens": 7, "head_num": 2, "kv_head_num": 1, "size_per_head": 16})"},
      {"fused_qkv_rope", R"({"total_tokens": 7, "num_heads": 2, "num_kv_heads": 1, "head_dim": 16, "rope_dim": 8,
                             "with_bias": true})"},
      {"fused_rmsnorm_quant", R"({"token_count": 7, "hidden_size": 33})"},
      {"gated_delta_rule_update", R"({"batch_size": 2, "token_count": 21, "num_q_heads": 1, "num_v_heads": 2,
                                      "key_dim": 8, "value_dim": 12, "state_count": 3})"},
      {"linear_sigmoid_mul", R"({"token_count": 7, "hidden_size": 40, "out_features": 24})"},
      {"mla_decode_attention", R"({"batch_size": 7, "ctx_len": 9, "nhead": 2, "kv_lora_rank": 16,
                                   "qk_rope_head_dim": 8})"},
      {"moe_align_block_size", R"({"token_count": 30, "top_k": 2, "num_experts": 6, "block_size": 8})"},
      {"moe_count_and_sort", R"({"token_count": 30, "top_k": 2, "num_experts": 6, "block_size": 8})"},
      {"moe_topk_gating_softmax", R"({"token_count": 7, "num_experts": 16, "top_k": 3, "num_expert_groups": 4,
                                      "topk_group": 2})"},
      {"mrope", R"({"token_count": 7, "num_query_heads": 2, "num_kv_heads": 1, "head_size": 24, "rotary_dim": 16,
                    "mrope_section": [2, 3, 3]})"},
      {"paged_attention_decode", R"({"num_seqs": 7, "ctx_len": 20, "num_query_heads": 4, "num_kv_heads": 2,
                                     "head_size": 16, "dtype": "fp16"})"},
      {"per_token_group_quant_fp8", R"({"token_count": 7, "hidden_size": 64, "group_size": 16, "fp8": "e4m3fn"})"},
      {"reshape_and_cache", R"({"shape": [20, 2, 8], "block_size": 4})"},
      {"topk_filter", R"({"seq_len": 7, "hidden_size": 99, "top_k": 5})"},
      {"unified_attention", R"({"seq_lens": [3, 4], "num_query_heads": 4, "num_kv_heads": 2, "head_size": 16})"},
      {"rms_norm", R"({"token_count": 7, "hidden_size": 33})"},
      {"fused_add_rms_norm", R"({"token_count": 7, "hidden_size": 33})"},
      {"gated_rms_norm", R"({"rows": 7, "hidden_size": 16})"},
      {"l2_norm", R"({"num_tokens": 7, "hidden_size": 33})"},
      {"layer_norm", R"({"shape": [7, 1, 33]})"},
      {"silu_and_mul", R"({"shape": [7, 66]})"},
      {"moe_sum_reduce", R"({"token_count": 7, "hidden_size": 33, "top_k": 3})"},
  };
  ASSERT_EQ(getReferenceNames().size(), params.size());
  for (const std::string &name : getReferenceNames()) {
    const Operator &op = *lookupOperator(name);
    const CatalogueOperator &entry = *llvm::cantFail(catalogue.lookup(name));
    std::vector<InputVariant> variants = {InputVariant::Published, InputVariant::Strict};
    llvm::append_range(variants, getProbes());
    for (InputVariant variant : variants) {
      Instance instance = llvm::cantFail(op.instantiate(entry.makeParams(parseObject(params[name])), variant));
      // Operators whose outputs belong to all rows have one row.
      bool isWhole = instance.outputs.front().isShared;
      EXPECT_EQ(instance.rows, isWhole ? 1 : 7) << name;
      int64_t chosen = isWhole ? 0 : 3;
      std::vector<std::vector<uint8_t>> whole, outs;
      std::vector<const void *> inputs;
      std::vector<void *> outputs;
      for (unsigned i = 0; i < instance.inputs.size(); ++i) {
        const TensorSpec &spec = instance.inputs[i];
        whole.emplace_back(spec.getBytes());
        op.generate(instance, i, variant, 5, 0, spec.getRows(), whole.back().data());
        if (!spec.isShared)
          for (int64_t r = 0; r < spec.getRows(); ++r) {
            std::vector<uint8_t> row(spec.getRowBytes());
            op.generate(instance, i, variant, 5, r, r + 1, row.data());
            EXPECT_TRUE(std::equal(row.begin(), row.end(), whole.back().begin() + r * long(spec.getRowBytes())))
                << name << " " << spec.name << " " << getName(variant).str();
          }
      }
      for (const auto &data : whole)
        inputs.push_back(data.data());
      EXPECT_EQ(llvm::toString(op.validate(instance, inputs)), "") << name;
      for (const TensorSpec &spec : instance.outputs)
        outs.emplace_back(spec.getBytes());
      for (auto &data : outs)
        outputs.push_back(data.data());
      op.compute(instance, inputs, instance.rows, outputs);
      // One row alone.
      std::vector<const void *> rowInputs;
      for (unsigned i = 0; i < instance.inputs.size(); ++i)
        rowInputs.push_back(whole[i].data() +
                            (instance.inputs[i].isShared ? 0 : chosen * instance.inputs[i].getRowBytes()));
      std::vector<std::vector<uint8_t>> rowOuts;
      std::vector<void *> rowOutputs;
      for (const TensorSpec &spec : instance.outputs)
        rowOuts.emplace_back(spec.getRowBytes());
      for (auto &data : rowOuts)
        rowOutputs.push_back(data.data());
      op.compute(instance, rowInputs, 1, rowOutputs, chosen);
      for (size_t i = 0; i < outs.size(); ++i)
        EXPECT_TRUE(std::equal(rowOuts[i].begin(), rowOuts[i].end(),
                               outs[i].begin() + chosen * long(instance.outputs[i].getRowBytes())))
            << name << " " << getName(variant).str();
    }
  }
}

TEST(Operators, ParametersAreChecked) {
  auto message = [](const char *op, llvm::StringRef values) {
    llvm::Expected<Instance> instance = lookupOperator(op)->instantiate(Params(op, parseObject(values)));
    return instance ? std::string() : llvm::toString(instance.takeError());
  };
  EXPECT_EQ(message("rms_norm", R"({"hidden_size": 8})"), "rms_norm: parameter 'token_count' is missing");
  EXPECT_EQ(message("silu_and_mul", R"({"shape": [3, 7]})"),
            "silu_and_mul: the last extent of 'shape' is 7; it must be even and at least 2");
  EXPECT_NE(message("silu_and_mul", R"({"shape": []})"), "");
  EXPECT_NE(message("rms_norm", R"({"token_count": 1099511627776, "hidden_size": 1099511627776})"), "");
  EXPECT_NE(message("gated_rms_norm", R"({"rows": 1, "hidden_size": 8, "activation": "relu"})"), "");
  EXPECT_EQ(message("fused_qk_rmsnorm", R"({"num_tokens": 1, "head_num": 1, "kv_head_num": 1, "dtype": "fp8"})"),
            "fused_qk_rmsnorm: parameter 'dtype' is 'fp8'; it must be one of fp16, bf16");
  EXPECT_EQ(message("unified_attention", R"({"seq_lens": [3], "num_query_heads": 5, "num_kv_heads": 2,
                                             "head_size": 8})"),
            "unified_attention: 5 query heads do not share 2 kv heads evenly");
  EXPECT_EQ(message("unified_attention", R"({"seq_lens": [3, 4], "q_lens": [3, 5], "num_query_heads": 2,
                                             "num_kv_heads": 2, "head_size": 8})"),
            "unified_attention: parameter 'q_lens': sequence 1 has 5 queries but 4 keys");
  EXPECT_EQ(message("attention_forward", R"({"seq_lens": {"rle": [[1000000, 10000000]]}, "num_heads": 1,
                                             "head_dim": 8})"),
            "attention_forward: the lengths of the sequences sum to 2^31 or more");
  EXPECT_EQ(message("fused_qkv_rope", R"({"total_tokens": 2147483648, "num_heads": 2147483648, "head_dim": 2147483648,
                                          "num_kv_heads": 2147483648, "rope_dim": 2})"),
            "fused_qkv_rope: the sizes 6442450944 x 2147483648 do not fit one tensor");
  EXPECT_EQ(message("mla_decode_attention", R"({"batch_size": 2, "ctx_len": 4, "nhead": 1, "ctx_lens": [1]})"),
            "mla_decode_attention: parameter 'ctx_lens' has 1 entries, but there are 2 sequences");
  EXPECT_EQ(message("moe_topk_gating_softmax", R"({"token_count": 1, "num_experts": 4, "top_k": 5})"),
            "moe_topk_gating_softmax: top_k is 5, but there are 4 experts");
}

//===----------------------------------------------------------------------===//
// Shortcuts
//===----------------------------------------------------------------------===//

namespace {
/// Inputs and right outputs of an operator.
struct Drawn {
  Instance instance;
  std::vector<std::vector<uint8_t>> inputs, outputs;
  std::vector<const void *> pointers;
  std::vector<std::vector<int64_t>> shapes;
};
} // namespace

static Drawn drawAll(const Catalogue &catalogue, const std::string &name, llvm::StringRef params,
                     InputVariant variant) {
  const Operator &op = *lookupOperator(name);
  Drawn drawn;
  drawn.instance =
      llvm::cantFail(op.instantiate(llvm::cantFail(catalogue.lookup(name))->makeParams(parseObject(params)), variant));
  for (unsigned i = 0; i < drawn.instance.inputs.size(); ++i) {
    const TensorSpec &spec = drawn.instance.inputs[i];
    drawn.inputs.emplace_back(spec.getBytes());
    op.generate(drawn.instance, i, variant, 7, 0, spec.getRows(), drawn.inputs.back().data());
  }
  for (const auto &data : drawn.inputs)
    drawn.pointers.push_back(data.data());
  drawn.shapes = op.resolveOutputs(drawn.instance, drawn.pointers);
  // A shortcut that bends nothing is the reference.
  drawn.outputs = takeShortcut(Shortcut{"", "", "", nullptr, nullptr}, op, drawn.instance, drawn.inputs, drawn.shapes);
  return drawn;
}

/// Whether the outputs of a shortcut pass both verdicts.
static std::pair<bool, bool> judgeShortcut(const Shortcut &shortcut, const Drawn &drawn) {
  std::vector<std::vector<uint8_t>> outputs =
      takeShortcut(shortcut, *lookupOperator(shortcut.op), drawn.instance, drawn.inputs, drawn.shapes);
  bool upstream = true, strict = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec &spec = drawn.instance.outputs[i];
    OutputVerdict verdict = judgeTensor(*getStrictRule(shortcut.op, spec.name), spec.type, drawn.shapes[i],
                                        drawn.outputs[i].data(), outputs[i].data());
    upstream &= verdict.upstream.passes;
    strict &= verdict.strict.passes;
  }
  return {upstream, strict};
}

TEST(Shortcuts, StrictInputsRejectThemAll) {
  // Sizes at which the shortcut matters; `slack`: the published rule accepts it
  // on published inputs.
  struct Row {
    const char *op, *params;
    std::set<std::string> slack;
  };
  const Row rows[] = {
      {"attention_forward", R"({"seq_lens": [40, 7], "num_heads": 2, "head_dim": 72})", {"no_row_maximum"}},
      {"block_scaled_mm", R"({"m": 9, "n": 256, "k": 512, "group_n": 128, "group_k": 128})", {"bf16_result"}},
      {"causal_conv1d", R"({"token_count": 40, "dim": 64, "width": 4})", {"bias_only", "no_state"}},
      {"chunk_delta_rule_output",
       R"({"token_count": 130, "num_q_heads": 1, "num_v_heads": 2})",
       {"zeros", "without_state", "without_values"}},
      {"chunk_gated_delta_rule_state",
       R"({"token_count": 130, "num_k_heads": 1, "num_v_heads": 2, "state_count": 2})",
       {}},
      {"fp8_blockscale_fused_moe",
       R"({"token_count": 9, "hidden_size": 256, "intermediate_size": 256, "num_experts": 5, "top_k": 3,
           "fc2_gain": 12})",
       // Without overflow there is nothing to saturate.
       {"saturate"}},
      {"fp8_dynamic_per_token_quant", R"({"token_count": 64, "hidden_size": 2048})", {}},
      {"fused_moe",
       R"({"token_count": 16, "hidden_size": 128, "intermediate_size": 64, "num_experts": 8, "top_k": 8})",
       {"heaviest_one", "drop_last", "heaviest_quarter", "drop_smallest", "duplicates_once"}},
      {"fused_qk_rmsnorm", R"({"num_tokens": 3, "head_num": 4, "kv_head_num": 2})", {}},
      {"fused_qkv_rope",
       R"({"total_tokens": 1, "num_heads": 4, "num_kv_heads": 2, "head_dim": 128, "rope_dim": 128})",
       {"no_rotation"}},
      // One row in twenty has a scale whose rounded reciprocal moves codes.
      {"fused_rmsnorm_quant", R"({"token_count": 512, "hidden_size": 2048})", {"zero_scale"}},
      {"gated_delta_rule_update",
       R"({"token_count": 130, "num_q_heads": 1, "num_v_heads": 2, "state_count": 2})",
       {"zeros", "last_24_tokens", "no_initial_state"}},
      {"linear_sigmoid_mul",
       R"({"token_count": 5, "hidden_size": 512, "out_features": 256})",
       {"no_product", "bias_only"}},
      {"mla_decode_attention", R"({"batch_size": 3, "ctx_len": 40, "nhead": 4})", {"no_row_maximum", "padded_key"}},
      {"moe_align_block_size", R"({"token_count": 60, "top_k": 4, "num_experts": 16, "block_size": 32})", {}},
      {"moe_count_and_sort", R"({"token_count": 60, "top_k": 4, "num_experts": 16})", {}},
      {"moe_sum_reduce", R"({"token_count": 5, "top_k": 8, "hidden_size": 256})", {}},
      {"moe_topk_gating_softmax", R"({"token_count": 9, "num_experts": 128, "top_k": 8})", {}},
      {"mrope",
       R"({"token_count": 9, "num_query_heads": 2, "num_kv_heads": 1, "mrope_section": [16, 24, 24]})",
       {"cosine_one"}},
      {"paged_attention_decode",
       R"({"num_seqs": 5, "ctx_len": 50, "num_query_heads": 8, "num_kv_heads": 2, "head_size": 128})",
       {"no_row_maximum", "padded_key", "no_table"}},
      {"per_token_group_quant_fp8", R"({"token_count": 64, "hidden_size": 2048, "group_size": 128})", {}},
      {"reshape_and_cache", R"({"shape": [37, 2, 64]})", {"straight_copy"}},
      {"topk_filter", R"({"seq_len": 4, "hidden_size": 1003})", {"exactly_k"}},
      {"unified_attention",
       R"({"seq_lens": [40, 17, 1], "num_query_heads": 4, "num_kv_heads": 2, "head_size": 72})",
       {"no_row_maximum"}},
  };
  Catalogue catalogue = loadCatalogue();
  size_t judged = 0;
  for (const Row &row : rows) {
    Drawn strict = drawAll(catalogue, row.op, row.params, InputVariant::Strict);
    Drawn published = drawAll(catalogue, row.op, row.params, InputVariant::Published);
    for (const Shortcut &shortcut : getShortcuts()) {
      if (shortcut.op != row.op)
        continue;
      ++judged;
      std::string name = shortcut.op.str() + " " + shortcut.name.str();
      EXPECT_FALSE(judgeShortcut(shortcut, strict).second) << name;
      EXPECT_EQ(judgeShortcut(shortcut, published).first, row.slack.count(shortcut.name.str()) > 0) << name;
    }
  }
  EXPECT_EQ(judged, getShortcuts().size());
}

TEST(Shortcuts, HonestVariantsPassWhereThePublishedCheckCannot) {
  struct Row {
    const char *op, *params;
  };
  // As large as it takes for the published rule to fail a right result.
  const Row rows[] = {
      {"fp8_blockscale_fused_moe",
       R"({"token_count": 9, "hidden_size": 256, "intermediate_size": 256, "num_experts": 5, "top_k": 3,
           "fc2_gain": 12})"},
      {"fused_rmsnorm_quant", R"({"token_count": 512, "hidden_size": 4096})"},
  };
  Catalogue catalogue = loadCatalogue();
  size_t judged = 0;
  for (const Row &row : rows) {
    bool publishedRejects = false;
    for (InputVariant variant : {InputVariant::Published, InputVariant::Strict}) {
      Drawn drawn = drawAll(catalogue, row.op, row.params, variant);
      for (const Shortcut &honest : getHonestVariants()) {
        if (honest.op != row.op)
          continue;
        ++judged;
        auto [upstream, strict] = judgeShortcut(honest, drawn);
        EXPECT_TRUE(strict) << row.op << " " << honest.name.str() << " " << getName(variant).str();
        publishedRejects |= !upstream;
      }
    }
    EXPECT_TRUE(publishedRejects) << row.op;
  }
  EXPECT_EQ(judged, 2 * getHonestVariants().size());
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

static OutputVerdict judge(const Rule &rule, std::vector<int64_t> shape, std::vector<float> ref,
                           std::vector<float> cand) {
  return judgeTensor(rule, DataType::F32, shape, ref.data(), cand.data());
}
static OutputVerdict judgeCodes(const Rule &rule, DataType type, std::vector<int64_t> shape, std::vector<uint8_t> ref,
                                std::vector<uint8_t> cand) {
  return judgeTensor(rule, type, shape, ref.data(), cand.data());
}
static constexpr float nan32 = std::numeric_limits<float>::quiet_NaN();
static constexpr float inf32 = std::numeric_limits<float>::infinity();

TEST(Verdict, Upstream) {
  Rule rule = *getStrictRule("topk_filter", "out");
  // |ref - out| <= 0.01 + 0.05 |out|: relative to the candidate.
  EXPECT_TRUE(judge(rule, {1}, {1.0f}, {1.0421f}).upstream.passes);
  EXPECT_TRUE(judge(rule, {1}, {1.06f}, {1.0f}).upstream.passes);
  EXPECT_FALSE(judge(rule, {1}, {1.0601f}, {1.0f}).upstream.passes);
  EXPECT_TRUE(judge(rule, {1}, {-inf32}, {-inf32}).upstream.passes);
  EXPECT_FALSE(judge(rule, {1}, {nan32}, {nan32}).upstream.passes);
  EXPECT_FALSE(judge(rule, {1}, {0.0f}, {nan32}).upstream.passes);
  OutputVerdict verdict = judge(rule, {4}, {0, 0, 0, 0}, {0, 1, 0, 3});
  EXPECT_EQ(verdict.upstream.bad, 2u);
  EXPECT_EQ(verdict.upstream.worstIndex, 3u);
}

TEST(Verdict, Exact) {
  Rule rule = *getStrictRule("topk_filter", "out");
  EXPECT_TRUE(judge(rule, {3}, {0.0f, nan32, inf32}, {-0.0f, nan32, inf32}).strict.passes);
  EXPECT_FALSE(judge(rule, {2}, {1, 2}, {1, 2.0000002f}).strict.passes);
  std::vector<int64_t> a = {(int64_t(1) << 60) + 1}, b = {int64_t(1) << 60};
  EXPECT_FALSE(judgeTensor(rule, DataType::I64, {1}, a.data(), b.data()).strict.passes);
  EXPECT_TRUE(judgeTensor(rule, DataType::I64, {1}, a.data(), a.data()).strict.passes);
}

TEST(Verdict, NearElementLimit) {
  Rule rule = *getStrictRule("rms_norm", "out");
  EXPECT_EQ(rule.str(), "near(2^-6, 1e-06, -)");
  EXPECT_TRUE(judge(rule, {1, 2}, {1, 2}, {1 + 0x1p-6f, 2}).strict.passes);
  EXPECT_FALSE(judge(rule, {1, 2}, {1, 2}, {1 + 0x1.1p-6f, 2}).strict.passes);
  // Zero elements may carry a millionth of the row's rms, zero rows nothing.
  EXPECT_TRUE(judge(rule, {1, 2}, {0, 2}, {1e-6f, 2}).strict.passes);
  EXPECT_FALSE(judge(rule, {1, 2}, {0, 2}, {3e-6f, 2}).strict.passes);
  EXPECT_FALSE(judge(rule, {2, 2}, {0, 0, 2, 2}, {1e-30f, 0, 2, 2}).strict.passes);
  EXPECT_TRUE(judge(rule, {2, 2}, {0, 0, 2, 2}, {-0.0f, 0, 2, 2}).strict.passes);
  EXPECT_FALSE(judge(rule, {1, 1}, {1}, {nan32}).strict.passes);
  EXPECT_FALSE(judge(rule, {1, 1}, {inf32}, {inf32}).strict.passes);
}

TEST(Verdict, NearUnits) {
  // tau = 0.004 over the last axis: many small errors that each pass.
  Rule blend = *getStrictRule("layer_norm", "out");
  std::vector<float> ref(100, 1.0f), cand(100, 1.005f);
  EXPECT_FALSE(judge(blend, {1, 100}, ref, cand).strict.passes);
  std::fill(cand.begin() + 10, cand.end(), 1.0f);
  EXPECT_TRUE(judge(blend, {1, 100}, ref, cand).strict.passes);
  // As ten rows the first one is too far off.
  EXPECT_FALSE(judge(blend, {10, 10}, ref, cand).strict.passes);
  // A matrix is one unit.
  Rule state = *getStrictRule("chunk_gated_delta_rule_state", "h");
  std::vector<float> off = ref;
  std::fill(off.begin(), off.begin() + 10, 1.015f);
  EXPECT_TRUE(judge(state, {10, 10}, ref, off).strict.passes);
  EXPECT_FALSE(judge(state, {10, 1, 10}, ref, off).strict.passes);
}

TEST(Verdict, NearHead) {
  // [B, T, H, V]: a unit is one head over all tokens.
  Rule rule = *getStrictRule("gated_delta_rule_update", "out");
  std::vector<float> ref(2 * 3 * 4, 1.0f), cand = ref;
  // Head 1 (of 3 in [1, 2, 3, 4]) is off everywhere: its unit fails, although a
  // unit over everything would pass.
  for (int t = 0; t < 2; ++t)
    for (int v = 0; v < 4; ++v)
      cand[size_t((t * 3 + 1) * 4 + v)] = 1.014f;
  OutputVerdict verdict = judge(rule, {1, 2, 3, 4}, ref, cand);
  EXPECT_FALSE(verdict.strict.passes);
  EXPECT_EQ(verdict.strict.bad, 0u);
  EXPECT_NEAR(verdict.strict.worstUnit, 0.014, 1e-5);
  // The same errors spread over the heads.
  cand = ref;
  cand[0] = cand[5] = cand[10] = 1.014f;
  EXPECT_TRUE(judge(rule, {1, 2, 3, 4}, ref, cand).strict.passes);
}

TEST(Verdict, HalfPrecisionIsTighter) {
  Rule rule = *getStrictRule("fused_qk_rmsnorm", "out");
  uint16_t one = convertToF16(1.0f), near16 = convertToF16(1 + 0x1p-9f), far16 = convertToF16(1 + 0x1p-8f);
  EXPECT_TRUE(judgeTensor(rule, DataType::F16, {1, 1}, &one, &near16).strict.passes);
  EXPECT_FALSE(judgeTensor(rule, DataType::F16, {1, 1}, &one, &far16).strict.passes);
}

TEST(Verdict, Codes) {
  Rule rule = *getStrictRule("fp8_dynamic_per_token_quant", "q");
  std::vector<uint8_t> ref(20000, 0x40), cand = ref;
  cand[7] = 0x41;
  cand[8] = 0x3F;
  EXPECT_TRUE(judgeCodes(rule, DataType::E4M3FNUZ, {20000}, ref, cand).strict.passes);
  cand[9] = 0x41; // three of 20000 are more than 1e-4
  EXPECT_FALSE(judgeCodes(rule, DataType::E4M3FNUZ, {20000}, ref, cand).strict.passes);
  cand = ref;
  cand[7] = 0x42; // two codes apart
  EXPECT_FALSE(judgeCodes(rule, DataType::E4M3FNUZ, {20000}, ref, cand).strict.passes);
  // One element may differ however few there are; through zero the distance
  // adds up; NaN stands next to the largest magnitude of either sign.
  EXPECT_TRUE(judgeCodes(rule, DataType::E4M3FNUZ, {1}, {0x00}, {0x81}).strict.passes);
  EXPECT_FALSE(judgeCodes(rule, DataType::E4M3FNUZ, {1}, {0x01}, {0x81}).strict.passes);
  EXPECT_TRUE(judgeCodes(rule, DataType::E4M3FNUZ, {1}, {0x80}, {0xFF}).strict.passes);
  EXPECT_TRUE(judgeCodes(rule, DataType::E4M3FN, {1}, {0x7F}, {0xFE}).strict.passes);
  EXPECT_TRUE(judgeCodes(rule, DataType::E4M3FN, {2}, {0x7F, 0x00}, {0xFF, 0x80}).strict.passes);
  EXPECT_EQ(judgeCodes(rule, DataType::E4M3FN, {2}, {0x7F, 0x00}, {0xFF, 0x80}).strict.worst, 0);
}

TEST(Verdict, CodesOrNear) {
  Rule rule = *getStrictRule("fp8_blockscale_fused_moe", "out");
  // Rows of rms about 1 (0x40 is 1 in fnuz); small values may be many codes off.
  std::vector<uint8_t> ref(64, 0x40), cand = ref;
  ref[3] = 0x08;
  cand[3] = 0x10;
  EXPECT_TRUE(judgeCodes(rule, DataType::E4M3FNUZ, {1, 64}, ref, cand).strict.passes);
  cand[5] = 0x48; // twice the value
  EXPECT_FALSE(judgeCodes(rule, DataType::E4M3FNUZ, {1, 64}, ref, cand).strict.passes);
  // NaN in both places is right; one may move by a code.
  ref.assign(64, 0x40);
  cand = ref;
  ref[0] = cand[0] = 0x80;
  EXPECT_TRUE(judgeCodes(rule, DataType::E4M3FNUZ, {1, 64}, ref, cand).strict.passes);
  cand[0] = 0x7F;
  EXPECT_TRUE(judgeCodes(rule, DataType::E4M3FNUZ, {1, 64}, ref, cand).strict.passes);
  cand[0] = 0x40;
  EXPECT_FALSE(judgeCodes(rule, DataType::E4M3FNUZ, {1, 64}, ref, cand).strict.passes);
  // The looser grade lets half of the codes differ.
  ref.assign(64, 0x40);
  cand = ref;
  for (int i = 0; i < 20; ++i)
    cand[size_t(i)] = 0x41;
  EXPECT_FALSE(judgeCodes(rule, DataType::E4M3FNUZ, {1, 64}, ref, cand).strict.passes);
  Rule loose = *getStrictRule("fp8_blockscale_fused_moe", "out", /*fp8Inside=*/true);
  EXPECT_EQ(loose.share, 0.5);
  EXPECT_TRUE(judgeCodes(loose, DataType::E4M3FNUZ, {1, 64}, ref, cand).strict.passes == false ||
              judgeCodes(loose, DataType::E4M3FNUZ, {1, 64}, ref, cand).strict.worstUnit <= 0.07);
}

TEST(Verdict, Scale) {
  Rule step = *getStrictRule("fp8_dynamic_per_token_quant", "scale");
  EXPECT_TRUE(judge(step, {1}, {1}, {1 + 0x1p-22f}).strict.passes);
  EXPECT_FALSE(judge(step, {1}, {1}, {1 + 0x1p-21f}).strict.passes);
  EXPECT_FALSE(judge(step, {1}, {0}, {1e-20f}).strict.passes);
  EXPECT_FALSE(judge(step, {1}, {1}, {nan32}).strict.passes);
  // One in a thousand may be off by a bf16 step.
  Rule rare = *getStrictRule("fused_rmsnorm_quant", "scale");
  std::vector<float> ref(1000, 1.0f), cand = ref;
  cand[5] = 1 + 0x1p-8f;
  EXPECT_TRUE(judge(rare, {1000}, ref, cand).strict.passes);
  cand[6] = 1 + 0x1p-8f;
  EXPECT_FALSE(judge(rare, {1000}, ref, cand).strict.passes);
  cand = ref;
  cand[5] = 1 + 0x1p-6f;
  EXPECT_FALSE(judge(rare, {1000}, ref, cand).strict.passes);
}

TEST(Verdict, StreamingEqualsWhole) {
  Rule rule = *getStrictRule("layer_norm", "out");
  std::vector<float> ref(60), cand(60);
  for (size_t i = 0; i < ref.size(); ++i) {
    ref[i] = float(i % 7) - 3;
    cand[i] = ref[i] + (i == 37 ? 0.5f : 0.001f);
  }
  OutputVerdict whole = judge(rule, {6, 10}, ref, cand);
  OutputJudge judgeParts(rule, DataType::F32, 10);
  for (uint64_t row = 0; row < 6; row += 2)
    judgeParts.add(ref.data() + row * 10, cand.data() + row * 10, 20, row * 10);
  OutputVerdict parts = judgeParts.finish();
  EXPECT_EQ(parts.strict.bad, whole.strict.bad);
  EXPECT_EQ(parts.strict.worst, whole.strict.worst);
  EXPECT_EQ(parts.strict.worstIndex, 37u);
  EXPECT_EQ(parts.strict.worstUnit, whole.strict.worstUnit);
  EXPECT_EQ(parts.upstream.bad, 1u);
}

//===----------------------------------------------------------------------===//
// Stored cases
//===----------------------------------------------------------------------===//

namespace {
/// A case directory that is removed again.
struct TemporaryCase {
  llvm::SmallString<128> path;
  TemporaryCase() { llvm::sys::fs::createUniqueDirectory("atrex-case", path); }
  ~TemporaryCase() { llvm::sys::fs::remove_directories(path); }
  void write(llvm::StringRef name, llvm::StringRef text) { llvm::cantFail(writeFile((path + "/" + name).str(), text)); }
  std::string loadError() {
    llvm::Expected<Case> loaded = loadCase(path);
    return loaded ? "" : llvm::toString(loaded.takeError());
  }
};
} // namespace

TEST(Case, FaultsAreLocated) {
  TemporaryCase dir;
  EXPECT_NE(dir.loadError().find("case.json'"), std::string::npos);
  dir.write("case.json", "{ ");
  EXPECT_NE(dir.loadError(), "");
  dir.write("case.json", "{}");
  EXPECT_NE(dir.loadError().find("field 'format'"), std::string::npos);
  auto writeCase = [&](const char *tensor) {
    dir.write("case.json",
              std::string(R"({"format": "atrex-mlir/case/1", "operator": "rms_norm", "variant": "strict", "seed": 1,
                          "init": {}, "params": {}, "options": {}, "tensors": [)") +
                  tensor + "]}");
  };
  writeCase(R"({"name": "x", "role": "in", "dtype": "bf17", "shape": [2], "file": "x.bin"})");
  EXPECT_NE(dir.loadError().find("unknown dtype 'bf17'"), std::string::npos);
  writeCase(R"({"name": "x", "role": "in", "dtype": "bf16", "shape": [-2], "file": "x.bin"})");
  EXPECT_NE(dir.loadError().find("field 'shape'"), std::string::npos);
  writeCase(R"({"name": "x", "role": "in", "dtype": "bf16", "shape": [4294967296, 4294967296], "file": "x.bin"})");
  EXPECT_NE(dir.loadError().find("field 'shape'"), std::string::npos);
  writeCase(R"({"name": "x", "role": "in", "dtype": "bf16", "shape": [2], "file": "../x.bin"})");
  EXPECT_NE(dir.loadError().find("plain file name"), std::string::npos);
  writeCase(R"({"name": "x", "role": "in", "dtype": "bf16", "shape": [2], "file": "x.bin"})");
  EXPECT_NE(dir.loadError().find("cannot read"), std::string::npos);
  dir.write("x.bin", "abc");
  EXPECT_NE(dir.loadError().find("holds 3 bytes, but shape [2] of bf16 needs 4"), std::string::npos);
  dir.write("x.bin", "abcd");
  EXPECT_EQ(dir.loadError(), "");
}

/// Stored cases of the project's environment: ATREX_SHARED, or `shared` beside
/// the source tree.
static std::string findGoldens() {
  const char *shared = std::getenv("ATREX_SHARED");
  llvm::SmallString<128> path(shared ? shared : ATREX_SOURCE_DIR "/../shared");
  llvm::sys::path::append(path, "goldens");
  return llvm::sys::fs::is_directory(path) ? path.str().str() : "";
}

TEST(Goldens, InputsAndResultsAreReproduced) {
  std::string goldens = findGoldens();
  if (goldens.empty())
    GTEST_SKIP() << "no stored cases; set ATREX_SHARED to check them";
  Catalogue catalogue = loadCatalogue();
  size_t cases = 0;
  for (const std::string &name : getReferenceNames()) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(goldens + "/" + name, error), end; it != end && !error;
         it.increment(error)) {
      ++cases;
      Case testCase = llvm::cantFail(loadCase(it->path()));
      const Operator &op = *lookupOperator(name);
      const CatalogueOperator &entry = *llvm::cantFail(catalogue.lookup(name));
      llvm::Expected<CaseBinding> binding = bindCase(op, entry, testCase);
      ASSERT_TRUE(bool(binding)) << llvm::toString(binding.takeError());
      const Instance &instance = binding->instance;
      for (unsigned i = 0; i < instance.inputs.size(); ++i) {
        const TensorSpec &spec = instance.inputs[i];
        std::vector<uint8_t> drawn(spec.getBytes());
        op.generate(instance, i, testCase.variant, testCase.seed, 0, spec.getRows(), drawn.data());
        EXPECT_EQ(drawn, binding->inputs[i]->data) << it->path() << " " << spec.name;
      }
      std::vector<std::vector<uint8_t>> results;
      std::vector<void *> outputs;
      for (const TensorSpec &spec : instance.outputs)
        results.emplace_back(spec.getBytes());
      for (auto &result : results)
        outputs.push_back(result.data());
      op.compute(instance, binding->inputData, instance.rows, outputs);
      for (unsigned i = 0; i < instance.outputs.size(); ++i) {
        // Buffers of unknown length are longer than the result.
        results[i].resize(binding->outputs[i]->data.size());
        EXPECT_EQ(results[i], binding->outputs[i]->data) << it->path() << " " << instance.outputs[i].name;
      }
    }
  }
  EXPECT_GE(cases, 60u);
}

TEST(Goldens, EveryStoredResultPassesItsOwnRules) {
  std::string goldens = findGoldens();
  if (goldens.empty())
    GTEST_SKIP() << "no stored cases; set ATREX_SHARED to check them";
  Catalogue catalogue = loadCatalogue();
  for (const CatalogueOperator &op : catalogue.getOperators()) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(goldens + "/" + op.name, error), end; it != end && !error;
         it.increment(error)) {
      llvm::Expected<Case> testCase = loadCase(it->path());
      ASSERT_TRUE(bool(testCase)) << llvm::toString(testCase.takeError());
      for (const CaseTensor &tensor : testCase->tensors) {
        if (!tensor.isOutput)
          continue;
        std::optional<Rule> rule = getStrictRule(op.name, tensor.name);
        ASSERT_TRUE(rule.has_value()) << op.name << " " << tensor.name;
        OutputVerdict same = judgeTensor(*rule, tensor.type, tensor.shape, tensor.data.data(), tensor.data.data());
        EXPECT_TRUE(same.strict.passes) << it->path() << " " << tensor.name << ": " << same.strict.message;
        // Zeros are wrong unless the right result is zero.
        std::vector<uint8_t> zeros(tensor.data.size());
        bool isZero = llvm::all_of(tensor.data, [](uint8_t byte) { return byte == 0; });
        OutputVerdict wrong = judgeTensor(*rule, tensor.type, tensor.shape, tensor.data.data(), zeros.data());
        EXPECT_EQ(wrong.strict.passes, isZero) << it->path() << " " << tensor.name;
      }
    }
  }
}
