//===- AllOperatorsTest.cpp - The runner on every operator ----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fake kernel per operator returns the right result, or not quite: outputs of
// all shapes, by rows and whole, of fixed and of unknown length, are poisoned,
// compared and looked over for what was written.
//
//===----------------------------------------------------------------------===//
#include "FakeDevice.h"
#include "gtest/gtest.h"

using namespace atrex;
using namespace atrex::bench;
using namespace atrex::bench::test;

namespace {
enum class Fault { None, Nothing, LastElement, Input };

struct AnyOperator {
  const CatalogueOperator *entry;
  CatalogueShape shape;
  Fault fault = Fault::None;
  Catalogue catalogue = llvm::cantFail(Catalogue::load());
  std::unique_ptr<Runner> runner;

  AnyOperator(llvm::StringRef op, llvm::StringRef params) {
    entry = llvm::cantFail(catalogue.lookup(op));
    shape.params = entry->makeParams(*llvm::cantFail(llvm::json::parse(params)).getAsObject());
  }

  Instance instantiate(InputVariant variant) const {
    return llvm::cantFail(lookupOperator(entry->name)->instantiate(shape.params, variant));
  }

  /// Extents that differ between variants are named by their dimension.
  Manifest makeManifest() const {
    Instance published = instantiate(InputVariant::Published), strict = instantiate(InputVariant::Strict);
    Manifest manifest;
    manifest.op = entry->name;
    manifest.arch = "gfx942";
    for (const auto &[name, value] : published.modelDims)
      manifest.constants[name] = value;
    for (const auto &[name, value] : published.trafficDims)
      manifest.runtimeDims.push_back(name);
    ManifestKernel kernel;
    kernel.name = entry->name;
    kernel.workgroup = {64, 1, 1};
    for (bool isOutput : {false, true}) {
      const std::vector<TensorSpec> &specs = isOutput ? published.outputs : published.inputs;
      for (size_t i = 0; i < specs.size(); ++i) {
        ManifestArg arg;
        arg.name = specs[i].name;
        arg.type = specs[i].type;
        arg.offset = uint32_t(8 * kernel.args.size());
        arg.isOutput = isOutput;
        const TensorSpec &other = isOutput ? strict.outputs[i] : strict.inputs[i];
        for (size_t d = 0; d < specs[i].shape.size(); ++d) {
          DimExpr extent = DimExpr::constant(specs[i].shape[d]);
          if (specs[i].shape[d] != other.shape[d])
            for (const auto &[name, value] : published.trafficDims)
              if (value == specs[i].shape[d] && strict.trafficDims.at(name) == other.shape[d])
                extent = llvm::cantFail(DimExpr::parse(name));
          arg.shape.push_back(extent);
        }
        kernel.args.push_back(arg);
      }
    }
    kernel.kernargBytes = uint32_t(8 * kernel.args.size());
    manifest.kernels.push_back(kernel);
    return manifest;
  }

  llvm::Error launch(FakeDevice &dev, const device::LaunchConfig &config) {
    const Operator &op = *lookupOperator(entry->name);
    std::vector<uint64_t> pointers(config.kernarg.size() / 8);
    std::memcpy(pointers.data(), config.kernarg.data(), config.kernarg.size());
    Instance instance = instantiate(variant);
    size_t numInputs = instance.inputs.size();
    std::vector<const void *> inputs;
    for (size_t i = 0; i < numInputs; ++i)
      inputs.push_back(dev.getData(pointers[i]));
    std::vector<std::vector<uint8_t>> data;
    std::vector<void *> outputs;
    for (const TensorSpec &spec : instance.outputs)
      data.emplace_back(spec.getBytes());
    for (std::vector<uint8_t> &bytes : data)
      outputs.push_back(bytes.data());
    op.compute(instance, inputs, instance.rows, outputs);
    std::vector<std::vector<int64_t>> shapes = op.resolveOutputs(instance, inputs);
    for (size_t i = 0; i < data.size() && fault != Fault::Nothing; ++i) {
      TensorSpec resolved = instance.outputs[i];
      resolved.shape = shapes[i];
      uint64_t bytes = resolved.getBytes();
      if (fault == Fault::LastElement && i + 1 == data.size())
        bytes -= getSizeInBytes(resolved.type);
      dev.store(pointers[numInputs + i], 0, data[i].data(), bytes);
    }
    if (fault == Fault::Input)
      dev.store(pointers[0], 0, inputs[0], 1);
    return llvm::Error::success();
  }

  InputVariant variant = InputVariant::Published;

  ShapeResult run(InputVariant inputs) {
    variant = inputs;
    RunOptions options;
    options.chip = lookupChip("XPU-A");
    options.kernelText = "op";
    options.kernelName = "test.atx";
    options.inputs = {inputs};
    options.check = CheckMode::Strict;
    Hooks hooks;
    hooks.compile = [this](llvm::MemoryBufferRef, const CompileOptions &,
                           llvm::raw_ostream &) -> std::optional<CompileResult> {
      return CompileResult{entry->name, makeManifest()};
    };
    hooks.createDevice = [this](llvm::StringRef, const ChipInfo &chip,
                                unsigned) -> llvm::Expected<std::unique_ptr<device::Device>> {
      return std::make_unique<FakeDevice>(
          chip, [this](FakeDevice &dev, const device::LaunchConfig &config) { return launch(dev, config); });
    };
    runner = std::make_unique<Runner>(hooks, options);
    EXPECT_FALSE(bool(runner->open("sim", 1)));
    return runner->runShape(*entry, shape);
  }
};

struct Sizes {
  const char *op, *params;
};
constexpr Sizes sizes[] = {
    {"attention_forward", R"({"seq_lens": [2, 0, 5], "num_heads": 2, "head_dim": 12})"},
    {"block_scaled_mm", R"({"m": 7, "n": 64, "k": 64, "group_n": 32, "group_k": 16})"},
    {"causal_conv1d", R"({"token_count": 5, "dim": 7, "width": 4})"},
    {"chunk_delta_rule_output", R"({"token_count": 21, "num_q_heads": 1, "num_v_heads": 2, "key_dim": 8,
                                    "value_dim": 12, "chunk_size": 16})"},
    {"chunk_gated_delta_rule_state", R"({"token_count": 21, "num_k_heads": 1, "num_v_heads": 2, "key_dim": 8,
                                         "value_dim": 12, "chunk_size": 16, "state_count": 3})"},
    {"fp8_blockscale_fused_moe", R"({"token_count": 7, "hidden_size": 128, "intermediate_size": 128,
                                     "num_experts": 5, "top_k": 2})"},
    {"fp8_dynamic_per_token_quant", R"({"token_count": 7, "hidden_size": 33})"},
    {"fused_add_rms_norm", R"({"token_count": 7, "hidden_size": 33})"},
    {"fused_moe", R"({"token_count": 7, "hidden_size": 24, "intermediate_size": 20, "num_experts": 5, "top_k": 3})"},
    {"fused_qk_rmsnorm", R"({"num_tokens": 7, "head_num": 2, "kv_head_num": 1, "size_per_head": 16})"},
    {"fused_qkv_rope", R"({"total_tokens": 7, "num_heads": 2, "num_kv_heads": 1, "head_dim": 16, "rope_dim": 8})"},
    {"fused_rmsnorm_quant", R"({"token_count": 7, "hidden_size": 33})"},
    {"gated_delta_rule_update", R"({"token_count": 21, "num_q_heads": 1, "num_v_heads": 2, "key_dim": 8,
                                    "value_dim": 12, "state_count": 3})"},
    {"gated_rms_norm", R"({"rows": 7, "hidden_size": 16})"},
    {"l2_norm", R"({"num_tokens": 7, "hidden_size": 33})"},
    {"layer_norm", R"({"shape": [7, 33]})"},
    {"linear_sigmoid_mul", R"({"token_count": 7, "hidden_size": 40, "out_features": 24})"},
    {"mla_decode_attention", R"({"batch_size": 7, "ctx_len": 9, "nhead": 2, "kv_lora_rank": 16,
                                 "qk_rope_head_dim": 8})"},
    {"moe_align_block_size", R"({"token_count": 30, "top_k": 2, "num_experts": 6, "block_size": 8})"},
    {"moe_count_and_sort", R"({"token_count": 30, "top_k": 2, "num_experts": 6, "block_size": 8})"},
    {"moe_sum_reduce", R"({"token_count": 7, "hidden_size": 33, "top_k": 3})"},
    {"moe_topk_gating_softmax", R"({"token_count": 7, "num_experts": 16, "top_k": 3})"},
    {"mrope", R"({"token_count": 7, "num_query_heads": 2, "num_kv_heads": 1, "head_size": 24, "rotary_dim": 16,
                  "mrope_section": [2, 3, 3]})"},
    {"paged_attention_decode", R"({"num_seqs": 7, "ctx_len": 20, "num_query_heads": 4, "num_kv_heads": 2,
                                   "head_size": 16})"},
    {"per_token_group_quant_fp8", R"({"token_count": 7, "hidden_size": 64, "group_size": 16})"},
    {"reshape_and_cache", R"({"shape": [20, 2, 8]})"},
    {"rms_norm", R"({"token_count": 7, "hidden_size": 33})"},
    {"silu_and_mul", R"({"shape": [7, 66]})"},
    {"topk_filter", R"({"seq_len": 7, "hidden_size": 99})"},
    {"unified_attention", R"({"seq_lens": [3, 4], "num_query_heads": 4, "num_kv_heads": 2, "head_size": 16})"},
};
} // namespace

TEST(AllOperators, RightResultsPassAndOthersFail) {
  ASSERT_EQ(std::size(sizes), 30u);
  for (const Sizes &row : sizes)
    for (InputVariant variant : {InputVariant::Published, InputVariant::Strict}) {
      std::string where = std::string(row.op) + " " + getName(variant).str();
      AnyOperator harness(row.op, row.params);
      ShapeResult result = harness.run(variant);
      ASSERT_EQ(result.error, "") << where;
      EXPECT_EQ(result.strict, true) << where << " " << result.checks[0].writeFault;
      EXPECT_EQ(result.getCheckedShare(), 1.0) << where;

      harness.fault = Fault::Nothing;
      result = harness.run(variant);
      ASSERT_EQ(result.checks.size(), 1u) << where;
      EXPECT_NE(result.checks[0].writeFault.find("not written at row 0, element 0"), std::string::npos) << where;
      EXPECT_EQ(result.strict, false) << where;

      harness.fault = Fault::LastElement;
      result = harness.run(variant);
      EXPECT_NE(result.checks[0].writeFault.find("not written at"), std::string::npos) << where;
      EXPECT_EQ(result.strict, false) << where;

      harness.fault = Fault::Input;
      result = harness.run(variant);
      EXPECT_NE(result.checks[0].inputFault.find("was written"), std::string::npos) << where;
      EXPECT_EQ(result.strict, false) << where;
    }
}
