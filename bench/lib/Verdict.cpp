//===- Verdict.cpp - Is an output right? ----------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Verdict.h"
#include "fmt/format.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace atrex;
using namespace atrex::bench;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {
constexpr double twoSteps = 0x1p-6; // two steps of bf16

constexpr Rule near(double e, double f, double tau, Rule::Unit unit = Rule::Unit::Row) {
  Rule rule;
  rule.kind = Rule::Kind::Near;
  rule.unit = unit;
  rule.e = e;
  rule.f = f;
  rule.tau = tau;
  return rule;
}
constexpr Rule codes(double share) {
  Rule rule;
  rule.kind = Rule::Kind::Codes;
  rule.share = share;
  return rule;
}
constexpr Rule codesOrNear(double share, double f, double tau, double lost) {
  Rule rule;
  rule.kind = Rule::Kind::CodesOrNear;
  rule.share = share;
  rule.f = f;
  rule.tau = tau;
  rule.lost = lost;
  return rule;
}
constexpr Rule scale(double e, double rare, double share) {
  Rule rule;
  rule.kind = Rule::Kind::Scale;
  rule.e = e;
  rule.rare = rare;
  rule.share = share;
  return rule;
}

constexpr Rule exactRule = {};
/// Elementwise results without cancellation.
constexpr Rule point = near(twoSteps, 1e-6, -1);
/// Elementwise results with mild cancellation.
constexpr Rule blend = near(twoSteps, 0x1p-8, 4e-3);
/// Matrix products and softmax averages.
constexpr Rule sumRule = near(twoSteps, 0x1p-5, 1e-2);
/// Recurrent states, one K x V matrix at a time.
constexpr Rule state = near(twoSteps, 0x1p-5, 1e-2, Rule::Unit::Matrix);
constexpr Rule step = scale(0x1p-22, 0x1p-22, 0);

struct RuleRow {
  llvm::StringLiteral op, output;
  Rule rule;
};
constexpr RuleRow rules[] = {
    {"attention_forward", "out", sumRule},
    {"block_scaled_mm", "out", near(1e-4, 1e-4, 1e-4)},
    {"causal_conv1d", "out", near(twoSteps, 0x1p-8, -1, Rule::Unit::Matrix)},
    {"chunk_delta_rule_output", "out", sumRule},
    {"chunk_gated_delta_rule_state", "h", state},
    {"chunk_gated_delta_rule_state", "v_new", sumRule},
    {"chunk_gated_delta_rule_state", "final_state", state},
    {"fp8_blockscale_fused_moe", "out", codesOrNear(0.15, 0x1p-5, 0.04, 0.02)},
    {"fp8_dynamic_per_token_quant", "q", codes(1e-4)},
    {"fp8_dynamic_per_token_quant", "scale", step},
    {"fused_add_rms_norm", "out", point},
    {"fused_add_rms_norm", "residual", exactRule},
    {"fused_moe", "out", sumRule},
    {"fused_qk_rmsnorm", "out", point},
    {"fused_qkv_rope", "q", blend},
    {"fused_qkv_rope", "k", blend},
    {"fused_qkv_rope", "v", exactRule},
    {"fused_rmsnorm_quant", "quantized", codes(1e-4)},
    {"fused_rmsnorm_quant", "scale", scale(0x1p-22, 0x1p-7, 1e-3)},
    {"fused_rmsnorm_quant", "residual_out", exactRule},
    {"gated_delta_rule_update", "out", near(twoSteps, 0x1p-4, 1e-2, Rule::Unit::Head)},
    {"gated_delta_rule_update", "final_state", state},
    {"gated_rms_norm", "out", point},
    {"l2_norm", "out", point},
    {"layer_norm", "out", blend},
    {"linear_sigmoid_mul", "out", blend},
    {"mla_decode_attention", "out", sumRule},
    {"moe_align_block_size", "sorted_token_ids", exactRule},
    {"moe_align_block_size", "expert_ids", exactRule},
    {"moe_align_block_size", "num_tokens_post_pad", exactRule},
    {"moe_count_and_sort", "sorted_token_ids", exactRule},
    {"moe_count_and_sort", "expert_token_counts", exactRule},
    {"moe_count_and_sort", "cumsum", exactRule},
    {"moe_sum_reduce", "out", point},
    {"moe_topk_gating_softmax", "topk_weights", scale(1e-5, 1e-5, 0)},
    {"moe_topk_gating_softmax", "topk_ids", exactRule},
    {"mrope", "q", blend},
    {"mrope", "k", blend},
    {"paged_attention_decode", "out", sumRule},
    {"per_token_group_quant_fp8", "quantized", codes(1e-4)},
    {"per_token_group_quant_fp8", "scales", step},
    {"reshape_and_cache", "key_cache", exactRule},
    {"reshape_and_cache", "value_cache", exactRule},
    {"rms_norm", "out", point},
    {"silu_and_mul", "out", point},
    {"topk_filter", "out", exactRule},
    {"unified_attention", "out", sumRule},
};
} // namespace

std::optional<Rule> bench::getStrictRule(llvm::StringRef op, llvm::StringRef output, bool fp8Inside) {
  if (fp8Inside && op == "fp8_blockscale_fused_moe" && output == "out")
    return codesOrNear(0.5, 0x1p-2, 0.07, 0.1);
  for (const RuleRow &row : rules)
    if (row.op == op && row.output == output)
      return row.rule;
  return std::nullopt;
}

/// Powers of two as 2^n, other numbers plainly, absent bounds as "-".
static std::string formatLimit(double value) {
  if (value < 0)
    return "-";
  int exponent = 0;
  if (value > 0 && value < 1 && std::frexp(value, &exponent) == 0.5)
    return fmt::format("2^{}", exponent - 1);
  return fmt::format("{:g}", value);
}

std::string Rule::str() const {
  std::string where = unit == Unit::Row ? "" : unit == Unit::Matrix ? " per matrix" : " per head";
  switch (kind) {
  case Kind::Exact:
    return "exact";
  case Kind::Near:
    return fmt::format("near({}, {}, {}){}", formatLimit(e), formatLimit(f), formatLimit(tau), where);
  case Kind::Codes:
    return fmt::format("codes({})", formatLimit(share));
  case Kind::CodesOrNear:
    return fmt::format("codes_or_near({}, {}, {}, {})", formatLimit(share), formatLimit(f), formatLimit(tau),
                       formatLimit(lost));
  case Kind::Scale:
    return share == 0 ? fmt::format("scale({})", formatLimit(e))
                      : fmt::format("scale({}, {} in {})", formatLimit(e), formatLimit(rare), formatLimit(share));
  }
  return "";
}

//===----------------------------------------------------------------------===//
// OutputJudge
//===----------------------------------------------------------------------===//

OutputJudge::OutputJudge(const Rule &rule, DataType type, uint64_t unitElements)
    : rule(rule), type(type), unitElements(std::max<uint64_t>(unitElements, 1)) {
  verdict.rule = rule.str();
  // fp16 has three more bits than bf16.
  if (rule.kind == Rule::Kind::Near && type == DataType::F16) {
    this->rule.e /= 8;
    this->rule.f /= 4;
    if (rule.tau >= 0)
      this->rule.tau /= 4;
  }
}

void OutputJudge::note(VerdictDetail &detail, double ratio, uint64_t index, double reference, double candidate) {
  if (!(ratio > detail.worst))
    return;
  detail.worst = ratio;
  detail.worstIndex = index;
  detail.worstReference = reference;
  detail.worstCandidate = candidate;
}

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// Stands for a limit of zero in quotients.
static constexpr double tiny = 1e-30;

void OutputJudge::add(const void *reference, const void *candidate, uint64_t elements, uint64_t firstIndex) {
  // Rules without units need no more than a block at a time.
  bool hasUnits = rule.kind == Rule::Kind::Near || rule.kind == Rule::Kind::CodesOrNear;
  uint64_t block = hasUnits ? unitElements : 4096;
  unsigned bytes = getSizeInBytes(type);
  for (uint64_t done = 0; done < elements; done += block) {
    uint64_t count = std::min(block, elements - done);
    const char *refBytes = static_cast<const char *>(reference) + done * bytes;
    const char *candBytes = static_cast<const char *>(candidate) + done * bytes;
    ref.resize(count);
    cand.resize(count);
    for (uint64_t i = 0; i < count; ++i) {
      ref[i] = loadElement(type, refBytes, i);
      cand[i] = loadElement(type, candBytes, i);
    }
    verdict.elements += count;
    addUpstream(firstIndex + done);
    switch (rule.kind) {
    case Rule::Kind::Exact:
      if (type == DataType::I64) {
        // Beyond 2^53 a double cannot tell neighbours apart.
        for (uint64_t i = 0; i < count; ++i)
          if (std::memcmp(refBytes + i * bytes, candBytes + i * bytes, bytes) != 0 && ref[i] == cand[i])
            cand[i] = std::nextafter(cand[i], infinity);
      }
      addExact(firstIndex + done);
      break;
    case Rule::Kind::Near:
      addNear(firstIndex + done);
      break;
    case Rule::Kind::Codes:
    case Rule::Kind::CodesOrNear:
      addCodes(reinterpret_cast<const uint8_t *>(refBytes), reinterpret_cast<const uint8_t *>(candBytes),
               firstIndex + done);
      break;
    case Rule::Kind::Scale:
      addScale(firstIndex + done);
      break;
    }
  }
}

void OutputJudge::addUpstream(uint64_t firstIndex) {
  VerdictDetail &detail = verdict.upstream;
  bool isFloating = isFloat(type);
  for (size_t i = 0; i < ref.size(); ++i) {
    double r = ref[i], c = cand[i], ratio;
    if (isFloating) {
      // The relative part scales with the candidate. Equal infinities pass, NaN
      // never does.
      ratio = std::isinf(r) && r == c ? 0 : std::abs(r - c) / (0.01 + 0.05 * std::abs(c));
      if (std::isnan(ratio))
        ratio = infinity;
      bool passes = (std::isinf(r) && r == c) || std::abs(r - c) <= 0.01 + 0.05 * std::abs(c);
      // |c| infinite and r finite: inf <= inf holds in the published rule.
      detail.bad += !passes;
      if (passes)
        ratio = std::min(ratio, 1.0);
    } else {
      ratio = r == c ? 0 : infinity;
      detail.bad += r != c;
    }
    note(detail, ratio, firstIndex + i, r, c);
  }
}

void OutputJudge::addExact(uint64_t firstIndex) {
  VerdictDetail &detail = verdict.strict;
  for (size_t i = 0; i < ref.size(); ++i) {
    if (ref[i] == cand[i] || (std::isnan(ref[i]) && std::isnan(cand[i])))
      continue;
    ++detail.bad;
    note(detail, infinity, firstIndex + i, ref[i], cand[i]);
  }
}

void OutputJudge::addNear(uint64_t firstIndex) {
  VerdictDetail &detail = verdict.strict;
  double squares = 0, errors = 0;
  for (double value : ref)
    squares += value * value;
  double rms = std::sqrt(squares / double(ref.size()));
  for (size_t i = 0; i < ref.size(); ++i) {
    double r = ref[i], c = cand[i];
    if (!std::isfinite(c) || !std::isfinite(r)) {
      ++notFinite;
      ++detail.bad;
      note(detail, infinity, firstIndex + i, r, c);
      continue;
    }
    double d = std::abs(r - c), limit = rule.e * std::abs(r) + rule.f * rms;
    errors += d * d;
    detail.bad += d > limit;
    note(detail, d / (limit > 0 ? limit : tiny), firstIndex + i, r, c);
  }
  double size = std::sqrt(squares);
  double unit = std::sqrt(errors) / (size > 0 ? size : tiny);
  detail.worstUnit = std::max(detail.worstUnit, std::isnan(unit) ? infinity : unit);
}

/// Position of a code on the line of values; NaN stands after the largest
/// magnitude and has no sign.
static int getCodePosition(uint8_t code, bool isFNUZ, bool &isNaN) {
  isNaN = isFNUZ ? code == 0x80 : (code & 0x7F) == 0x7F;
  if (isNaN)
    return isFNUZ ? 128 : 127;
  int magnitude = code & 0x7F;
  return code & 0x80 ? -magnitude : magnitude;
}

void OutputJudge::addCodes(const uint8_t *reference, const uint8_t *candidate, uint64_t firstIndex) {
  VerdictDetail &detail = verdict.strict;
  bool isFNUZ = type == DataType::E4M3FNUZ, hasUnits = rule.kind == Rule::Kind::CodesOrNear;
  double squares = 0, errors = 0;
  for (double value : ref)
    squares += std::isnan(value) ? 0 : value * value;
  double limit = hasUnits ? rule.f * std::sqrt(squares / double(ref.size())) : 0;
  for (size_t i = 0; i < ref.size(); ++i) {
    bool refIsNaN, candIsNaN;
    int a = getCodePosition(reference[i], isFNUZ, refIsNaN), b = getCodePosition(candidate[i], isFNUZ, candIsNaN);
    int distance = refIsNaN || candIsNaN ? std::abs(std::abs(a) - std::abs(b)) : std::abs(a - b);
    bool hasNaN = refIsNaN || candIsNaN;
    double d = hasNaN ? 0 : std::abs(ref[i] - cand[i]);
    nanCount += refIsNaN;
    nanMoved += refIsNaN != candIsNaN;
    different += distance > 0;
    bool isFar = distance > 1;
    if (isFar && hasUnits)
      isFar = refIsNaN != candIsNaN || !(d <= limit);
    far += isFar;
    errors += d * d;
    note(detail, distance, firstIndex + i, ref[i], cand[i]);
  }
  detail.bad = far;
  if (hasUnits) {
    double size = std::sqrt(squares);
    detail.worstUnit = std::max(detail.worstUnit, std::sqrt(errors) / (size > 0 ? size : tiny));
  }
}

void OutputJudge::addScale(uint64_t firstIndex) {
  VerdictDetail &detail = verdict.strict;
  for (size_t i = 0; i < ref.size(); ++i) {
    double relative = ref[i] == cand[i] ? 0 : std::abs(ref[i] - cand[i]) / std::abs(ref[i]);
    if (std::isnan(relative))
      relative = infinity;
    beyondCommon += relative > rule.e;
    beyondRare += relative > rule.rare;
    note(detail, relative / rule.e, firstIndex + i, ref[i], cand[i]);
  }
}

OutputVerdict OutputJudge::finish() {
  VerdictDetail &upstream = verdict.upstream, &strict = verdict.strict;
  uint64_t n = verdict.elements;
  upstream.passes = upstream.bad == 0;
  upstream.message = fmt::format("{} of {} elements beyond 0.01 + 0.05 |out|", upstream.bad, n);
  switch (rule.kind) {
  case Rule::Kind::Exact:
    strict.passes = strict.bad == 0;
    strict.message = fmt::format("{} of {} differ", strict.bad, n);
    break;
  case Rule::Kind::Near:
    strict.passes = strict.bad == 0 && (rule.tau < 0 || strict.worstUnit <= rule.tau);
    strict.message = notFinite ? fmt::format("{} not finite", notFinite)
                               : fmt::format("{} of {} elements beyond the limit (worst {:.2f} of it), worst unit L2 "
                                             "{:.2e}",
                                             strict.bad, n, strict.worst, strict.worstUnit);
    break;
  case Rule::Kind::Codes:
    strict.passes = far == 0 && double(different) <= std::max(rule.share * double(n), 1.0);
    strict.message = fmt::format("{} of {} differ, {} by more than one code", different, n, far);
    break;
  case Rule::Kind::CodesOrNear:
    strict.passes = far == 0 && double(different) <= std::max(rule.share * double(n), 1.0) &&
                    strict.worstUnit <= rule.tau && double(nanMoved) <= 1 + rule.lost * double(nanCount);
    strict.message = fmt::format("{} of {} differ, {} too far, worst row L2 {:.2e}, {} of {} NaN moved", different, n,
                                 far, strict.worstUnit, nanMoved, nanCount);
    break;
  case Rule::Kind::Scale:
    strict.bad = rule.share > 0 ? beyondRare : beyondCommon;
    strict.passes =
        beyondRare == 0 && double(beyondCommon) <= (rule.share > 0 ? std::max(rule.share * double(n), 1.0) : 0.0);
    strict.message = fmt::format("max rel {:.2e}, {} beyond {:.1e}", strict.worst * rule.e, beyondCommon, rule.e);
    break;
  }
  return verdict;
}

//===----------------------------------------------------------------------===//
// Whole tensors
//===----------------------------------------------------------------------===//

uint64_t bench::getUnitElements(Rule::Unit unit, llvm::ArrayRef<int64_t> shape) {
  size_t rank = shape.size();
  if (rank == 0)
    return 1;
  uint64_t row = uint64_t(shape[rank - 1]);
  if (unit == Rule::Unit::Matrix && rank >= 2)
    return row * uint64_t(shape[rank - 2]);
  if (unit == Rule::Unit::Head && rank >= 3)
    return row * uint64_t(shape[rank - 3]);
  return row;
}

OutputVerdict bench::judgeTensor(const Rule &rule, DataType type, llvm::ArrayRef<int64_t> shape, const void *reference,
                                 const void *candidate) {
  uint64_t elements = 1;
  for (int64_t extent : shape)
    elements *= uint64_t(extent);
  OutputJudge judge(rule, type, getUnitElements(rule.unit, shape));
  size_t rank = shape.size();
  if (rule.unit != Rule::Unit::Head || rank < 3 || elements == 0) {
    judge.add(reference, candidate, elements, 0);
    return judge.finish();
  }
  // [.., T, H, V]: gather the rows of one head.
  uint64_t T = uint64_t(shape[rank - 3]), H = uint64_t(shape[rank - 2]), V = uint64_t(shape[rank - 1]);
  uint64_t rowBytes = V * getSizeInBytes(type);
  std::vector<char> ref(T * rowBytes), cand(T * rowBytes);
  for (uint64_t outer = 0; outer < elements / (T * H * V); ++outer)
    for (uint64_t h = 0; h < H; ++h) {
      uint64_t first = outer * T * H + h;
      for (uint64_t t = 0; t < T; ++t) {
        uint64_t offset = (first + t * H) * rowBytes;
        std::memcpy(ref.data() + t * rowBytes, static_cast<const char *>(reference) + offset, rowBytes);
        std::memcpy(cand.data() + t * rowBytes, static_cast<const char *>(candidate) + offset, rowBytes);
      }
      judge.add(ref.data(), cand.data(), T * V, first * V);
    }
  return judge.finish();
}

static llvm::json::Value finiteOrText(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

static llvm::json::Object detailToJSON(const VerdictDetail &detail) {
  llvm::json::Object object{{"pass", detail.passes},
                            {"bad_elements", int64_t(detail.bad)},
                            {"worst", finiteOrText(detail.worst)},
                            {"message", detail.message}};
  if (detail.worst > 0)
    object["worst_at"] = llvm::json::Object{{"index", int64_t(detail.worstIndex)},
                                            {"reference", finiteOrText(detail.worstReference)},
                                            {"candidate", finiteOrText(detail.worstCandidate)}};
  if (detail.worstUnit > 0)
    object["worst_unit_l2"] = finiteOrText(detail.worstUnit);
  return object;
}

llvm::json::Object OutputVerdict::toJSON() const {
  return llvm::json::Object{{"elements", int64_t(elements)},
                            {"row_elements", int64_t(rowElements)},
                            {"rule", rule},
                            {"upstream", detailToJSON(upstream)},
                            {"strict", detailToJSON(strict)}};
}
