//===- Space.cpp - What a search may choose -------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Driver/Compile.h"
#include "atrex/Frontend/Frontend.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Target/TargetChip.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace atrex;
namespace json = llvm::json;

static json::Value toJSON(const std::vector<std::string> &texts) { return json::Array(texts); }

static json::Object toJSON(const frontend::KnobSpace &space) {
  json::Array knobs, constraints, excluded;
  for (auto [i, knob] : llvm::enumerate(space.knobs)) {
    // Values that no combination allows, with the reason of the first one.
    json::Array useless;
    uint64_t combinations = space.numPoints / knob.domain.size();
    for (int64_t value : knob.domain) {
      auto hasValue = [&, index = i](const frontend::KnobSpace::Excluded &point) {
        return point.values[index] == value;
      };
      if (uint64_t(llvm::count_if(space.excluded, hasValue)) == combinations) {
        const auto &first = *llvm::find_if(space.excluded, hasValue);
        useless.push_back(json::Object{{"value", value}, {"because", first.message}, {"location", first.location}});
      }
    }
    json::Object entry{{"name", knob.name}, {"domain", json::Array(knob.domain)}, {"default", knob.defaultValue}};
    if (knob.isFixed)
      entry["fixed"] = true;
    entry["excluded"] = std::move(useless);
    knobs.push_back(std::move(entry));
  }
  for (const auto &constraint : space.constraints)
    constraints.push_back(json::Object{{"text", constraint.text},
                                       {"location", constraint.location},
                                       {"knobs", toJSON(constraint.knobs)},
                                       {"dims", toJSON(constraint.dims)},
                                       {"checked", constraint.isCheckedAtLaunch ? "launch" : "compile"}});
  for (const auto &point : space.excluded) {
    json::Object values;
    for (auto [knob, value] : llvm::zip_equal(space.knobs, point.values))
      values[knob.name] = value;
    excluded.push_back(
        json::Object{{"knobs", std::move(values)}, {"because", point.message}, {"location", point.location}});
  }
  json::Object dims;
  for (const auto &dim : space.dims)
    dims[dim.getKey()] = dim.getValue();
  return json::Object{{"schema", "atrex-mlir/space/1"},
                      {"name", space.name},
                      {"form", space.isKernel ? "kernel" : "operator"},
                      {"dims", std::move(dims)},
                      {"runtime_dims", toJSON(space.runtimeDims)},
                      {"knobs", std::move(knobs)},
                      {"constraints", std::move(constraints)},
                      {"combinations", int64_t(space.numPoints)},
                      {"excluded", std::move(excluded)}};
}

namespace {
/// Which passes have something to do.
struct Programs {
  bool rows = true, tiles = true;
  bool include(StringRef programs) const {
    return programs == "rows" ? rows : programs == "tiles" ? tiles : rows || tiles;
  }
};
} // namespace

/// What the generic schedule of `pipeline` leaves of the program, with the first
/// choice of knobs that works. Both where that cannot be found out.
static Programs findPrograms(llvm::MemoryBufferRef source, MLIRContext &context, frontend::FrontendOptions options,
                             const frontend::KnobSpace &space, PassManager &schedule) {
  Programs programs;
  if (space.isKernel) {
    programs.rows = false;
    return programs;
  }
  std::vector<size_t> position(space.knobs.size(), 0);
  for (uint64_t point = 0; point < space.numPoints; ++point) {
    std::vector<int64_t> values;
    for (auto [knob, at] : llvm::zip_equal(space.knobs, position))
      values.push_back(knob.domain[at]);
    bool isExcluded = llvm::any_of(space.excluded, [&](const auto &excluded) { return excluded.values == values; });
    if (!isExcluded) {
      for (auto [knob, value] : llvm::zip_equal(space.knobs, values))
        options.knobs[knob.name] = std::to_string(value);
      break;
    }
    for (size_t i = position.size(); i-- > 0;) {
      if (++position[i] < space.knobs[i].domain.size())
        break;
      position[i] = 0;
    }
  }
  // Nobody asked for a compilation; its complaints are for when someone does.
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source.getBuffer(), source.getBufferIdentifier()),
                               SMLoc());
  OwningOpRef<ModuleOp> module = frontend::importAtx(sourceMgr, context, options);
  if (!module)
    return programs;
  std::string text;
  llvm::raw_string_ostream os(text);
  schedule.printAsTextualPipeline(os);
  constexpr StringRef generic = "atx-generic-schedule";
  if (size_t begin = StringRef(text).find(generic); begin != StringRef::npos) {
    size_t end = begin + generic.size();
    if (end < text.size() && text[end] == '{')
      end = std::min(text.find('}', end), text.size() - 1) + 1;
    PassManager pm(&context, ModuleOp::getOperationName());
    if (failed(parsePassPipeline(StringRef(text).slice(begin, end), pm, llvm::nulls())))
      return programs;
    // It refuses only what the row mapping does not take.
    if (failed(pm.run(*module))) {
      programs.rows = false;
      return programs;
    }
  }
  programs = {false, false};
  for (auto function : module->getOps<func::FuncOp>()) {
    programs.rows |= function->hasAttr(atx::operatorAttrName);
    programs.tiles |= function->hasAttr(atx::kernelAttrName);
  }
  return programs;
}

std::optional<std::string> atrex::describeSpace(llvm::MemoryBufferRef source, const CompileOptions &options,
                                                raw_ostream &diagnostics) {
  const ChipInfo *chip = lookupChip(options.arch);
  if (!chip || !chip->isAMDGPU()) {
    diagnostics << "error: " << describeUnknownTarget(options.arch) << "\n";
    return std::nullopt;
  }
  if (source.getBufferIdentifier().ends_with(".mlir")) {
    diagnostics << "error: '" << source.getBufferIdentifier() << "' is MLIR; only kernel language sources have knobs\n";
    return std::nullopt;
  }
  DialectRegistry registry;
  registerCompilerDialects(registry);
  registerAllPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source.getBuffer(), source.getBufferIdentifier()),
                               SMLoc());
  SourceMgrDiagnosticHandler handler(sourceMgr, &context, diagnostics);
  frontend::FrontendOptions frontendOptions;
  frontendOptions.dims = options.dims;
  frontendOptions.op = options.op;
  frontendOptions.knobs = options.knobs;
  std::optional<frontend::KnobSpace> space = frontend::exploreKnobs(sourceMgr, context, frontendOptions);
  if (!space)
    return std::nullopt;
  json::Object result = toJSON(*space);

  PassManager pm(&context, ModuleOp::getOperationName());
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  if (failed(parseSchedule(options.schedule.empty() ? getDefaultSchedule(chip->arch) : options.schedule, pm,
                           errorStream))) {
    diagnostics << options.scheduleName << ": error: the schedule is not a valid pass pipeline\n" << errors;
    return std::nullopt;
  }
  json::Array passes;
  Programs programs = findPrograms(source, context, frontendOptions, *space, pm);
  for (const TunableOption &option : getTunableOptions(pm))
    if (programs.include(option.programs))
      passes.push_back(
          json::Object{{"pass", option.pass},
                       {"instance", int64_t(option.instance)},
                       {"option", option.option},
                       {"description", option.description},
                       {"domain", option.choices.empty() ? json::Array(option.domain) : json::Array(option.choices)},
                       {"default", option.defaultValue},
                       {"value", option.value}});
  result["arch"] = chip->arch;
  result["pass_options"] = std::move(passes);
  return llvm::formatv("{0:2}\n", json::Value(std::move(result))).str();
}
