//===- Result.cpp - Results as JSON, and scores ---------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Result.h"
#include "atrex/Bench/Compare.h"
#include "atrex/Support/Json.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Result JSON
//===----------------------------------------------------------------------===//

llvm::ArrayRef<const char *> bench::getInstClassNames() {
  static const char *const names[] = {"valu",      "trans",      "mul_quarter", "mfma", "salu",   "smem",
                                      "vmem_load", "vmem_store", "vmem_atomic", "lds",  "branch", "internal"};
  static_assert(std::size(names) == device::numInstClasses, "one name per class");
  return names;
}

static json::Object timeToJSON(const device::LaunchTime &time) {
  json::Object parts;
  for (const auto &[name, seconds] : time.parts)
    parts[name] = seconds * 1e6;
  json::Object object{{"kind", time.isPrediction ? "predicted" : "measured"},
                      {"us", time.seconds * 1e6},
                      {"parts_us", std::move(parts)},
                      {"bound", time.bound},
                      {"waves_per_simd", int64_t(time.wavesPerSIMD)},
                      {"occupancy_limiter", time.occupancyLimiter}};
  if (time.isPrediction)
    object["grade"] = time.grade;
  return object;
}

static json::Object statsToJSON(const device::ExecutionStats &stats) {
  json::Object instructions;
  for (unsigned i = 0; i < device::numInstClasses; ++i)
    if (stats.instructions[i])
      instructions[getInstClassNames()[i]] = int64_t(stats.instructions[i]);
  return json::Object{{"waves", int64_t(stats.wavesExecuted)},
                      {"instructions", std::move(instructions)},
                      {"load_bytes", int64_t(stats.loadBytes)},
                      {"store_bytes", int64_t(stats.storeBytes)},
                      {"host_seconds", stats.hostSeconds}};
}

json::Object bench::toJSON(const ShapeResult &shape) {
  if (shape.stored)
    return *shape.stored;
  const char *status = shape.status == ShapeStatus::Pass   ? "pass"
                       : shape.status == ShapeStatus::Fail ? "fail"
                                                           : "error";
  json::Object object{{"status", status},
                      {"shape", shape.shapeText},
                      {"params", json::Object(shape.params.getValues())},
                      {"sol_us", shape.solUs}};
  if (shape.id >= 0)
    object["id"] = shape.id;
  if (!shape.error.empty())
    object["error"] = shape.error;
  if (!shape.failure.empty())
    object["failure"] = shape.failure;
  if (shape.wallSeconds > 0)
    object["wall_seconds"] = shape.wallSeconds;
  if (shape.upstream)
    object["upstream"] = *shape.upstream;
  if (shape.strict)
    object["strict"] = *shape.strict;
  if (shape.minimalUs)
    object["minimal_us"] = *shape.minimalUs;
  if (shape.productionUs)
    object["production_us"] = *shape.productionUs;
  if (!shape.codeObjectHash.empty())
    object["code_object_hash"] = shape.codeObjectHash;
  if (shape.hasTime) {
    object["time"] = timeToJSON(shape.time);
    if (shape.timing)
      object["timing"] = json::Object(*shape.timing);
    object["executed"] = statsToJSON(shape.stats);
    object["coverage"] = json::Object{{"workgroups_executed", int64_t(shape.workgroupsExecuted)},
                                      {"workgroups_total", int64_t(shape.workgroupsTotal)},
                                      {"elements_checked", int64_t(shape.elementsChecked)},
                                      {"elements_total", int64_t(shape.elementsTotal)}};
    object["score"] = shape.getScore();
    if (shape.minimalUs && shape.time.seconds > 0)
      object["score_minimal"] = shape.getScore() > 0 ? *shape.minimalUs / shape.getTimeUs() : 0.0;
  }
  if (!shape.profile.empty()) {
    json::Array lines;
    for (const device::LineProfile &line : shape.profile)
      lines.push_back(json::Object{{"file", line.file},
                                   {"line", int64_t(line.line)},
                                   {"instructions", int64_t(line.instructions)},
                                   {"executions", int64_t(line.executions)},
                                   {"valu_cycles", int64_t(line.valuCycles)},
                                   {"matrix_cycles", int64_t(line.matrixCycles)},
                                   {"load_bytes", int64_t(line.loadBytes)},
                                   {"store_bytes", int64_t(line.storeBytes)},
                                   {"lds_read_bytes", int64_t(line.ldsReadBytes)},
                                   {"lds_write_bytes", int64_t(line.ldsWriteBytes)}});
    object["profile"] = std::move(lines);
  }
  json::Array checks;
  for (const CheckResult &check : shape.checks) {
    json::Array outputs;
    for (const auto &[name, verdict] : check.outputs) {
      json::Object output = verdict.toJSON();
      output["name"] = name;
      outputs.push_back(std::move(output));
    }
    json::Object entry{{"inputs", check.inputs},
                       {"upstream", check.passesUpstream()},
                       {"strict", check.passesStrict()},
                       {"outputs", std::move(outputs)}};
    if (check.seed)
      entry["seed"] = int64_t(*check.seed);
    if (check.repetition)
      entry["repetition"] = int64_t(check.repetition);
    if (!check.writeFault.empty())
      entry["write_fault"] = check.writeFault;
    if (!check.inputFault.empty())
      entry["input_fault"] = check.inputFault;
    checks.push_back(std::move(entry));
  }
  object["checks"] = std::move(checks);
  return object;
}

json::Object bench::toJSON(const CodeObjectInfo &info) {
  return json::Object{{"op", info.manifest.op},
                      {"dims", info.dims},
                      {"compiler", info.manifest.compiler},
                      {"source_hash", info.manifest.sourceHash},
                      {"schedule_hash", info.manifest.scheduleHash},
                      {"code_object_hash", info.manifest.codeObjectHash},
                      {"compile_seconds", info.compileSeconds},
                      {"vgprs", int64_t(info.resources.vgprs)},
                      {"agprs", int64_t(info.resources.agprs)},
                      {"sgprs", int64_t(info.resources.sgprs)},
                      {"lds_bytes", int64_t(info.resources.staticLdsBytes)},
                      {"scratch_bytes_per_lane", int64_t(info.resources.scratchBytesPerLane)}};
}

json::Value bench::toJSON(const RunRecord &record) {
  json::Array operators;
  for (size_t i = 0; i < record.shapes.size();) {
    const std::string &name = record.shapes[i].op;
    json::Array shapes;
    for (; i < record.shapes.size() && record.shapes[i].op == name; ++i)
      shapes.push_back(toJSON(record.shapes[i]));
    operators.push_back(json::Object{{"name", name}, {"shapes", std::move(shapes)}});
  }
  json::Array codeObjects;
  for (const json::Object &entry : record.codeObjects)
    codeObjects.push_back(json::Object(entry));
  return json::Object{{"schema", "atrex-mlir/bench-result/1"},
                      {"compiler", record.compilerVersion},
                      {"catalogue", getCatalogueHash()},
                      {"arch", record.arch},
                      {"chip", json::Object{{"name", record.chip->name.str()}, {"alias", record.chip->alias.str()}}},
                      {"device", record.deviceName},
                      {"simulated", record.isSimulated},
                      {"check", getName(record.check)},
                      {"inputs", json::Array(record.inputs)},
                      {"seed", int64_t(record.seed)},
                      {"repeat", int64_t(record.repeat)},
                      {"whole", record.whole},
                      {"budget", int64_t(record.budget)},
                      {"grade", record.grade},
                      {"schedule", record.schedule},
                      {"interrupted", record.isInterrupted},
                      {"code_objects", std::move(codeObjects)},
                      {"operators", std::move(operators)}};
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

llvm::Error ResultSet::add(llvm::StringRef text, llvm::StringRef name) {
  auto fail = [&](const std::string &what) { return makeError(fmt::format("'{}': {}", name.str(), what)); };
  llvm::Expected<json::Value> tree = parseJson(text);
  if (!tree)
    return fail(llvm::toString(tree.takeError()));
  const json::Object *object = tree->getAsObject();
  if (!object || object->getString("schema") != llvm::StringRef("atrex-mlir/bench-result/1"))
    return fail("is not a result file: field 'schema' must be \"atrex-mlir/bench-result/1\"");
  const json::Object *chipObject = object->getObject("chip");
  std::optional<llvm::StringRef> chipName = chipObject ? chipObject->getString("name") : std::nullopt;
  if (!chipName)
    return fail("field 'chip.name' must be a string");
  if (!chip.empty() && chip != *chipName)
    return fail(
        fmt::format("was made for chip {}, the files before it for {}; score them apart", chipName->str(), chip));
  chip = chipName->str();
  const json::Array *operators = object->getArray("operators");
  if (!operators)
    return fail("field 'operators' must be an array");
  for (size_t i = 0; i < operators->size(); ++i) {
    const json::Object *op = (*operators)[i].getAsObject();
    std::optional<llvm::StringRef> opName = op ? op->getString("name") : std::nullopt;
    const json::Array *entries = op ? op->getArray("shapes") : nullptr;
    if (!opName || !entries)
      return fail(fmt::format("operators[{}] must have 'name' and 'shapes'", i));
    for (size_t j = 0; j < entries->size(); ++j) {
      const json::Object *shape = (*entries)[j].getAsObject();
      std::optional<llvm::StringRef> status = shape ? shape->getString("status") : std::nullopt;
      if (!status)
        return fail(fmt::format("operators[{}].shapes[{}] must have 'status'", i, j));
      std::optional<int64_t> id = shape->getInteger("id");
      if (!id)
        continue; // a stored case
      ScoredShape scored;
      // The strict verdict decides whether a kernel counts.
      scored.passes = *status != "error" && shape->getBoolean("strict").value_or(false);
      if (const json::Object *time = shape->getObject("time")) {
        std::optional<llvm::StringRef> kind = time->getString("kind");
        std::optional<double> us = time->getNumber("us");
        if (!kind || !us || (*kind != "predicted" && *kind != "measured") || !(*us > 0))
          return fail(fmt::format("operators[{}].shapes[{}].time must have 'kind' (predicted or measured) and a "
                                  "positive 'us'",
                                  i, j));
        if (!timeKind.empty() && timeKind != *kind)
          return fail(fmt::format("holds {} times, the entries before it {} ones; the two are never mixed, score them "
                                  "apart",
                                  kind->str(), timeKind));
        timeKind = kind->str();
        scored.timeUs = *us;
      }
      shapes[opName->str()][*id] = scored;
    }
  }
  return llvm::Error::success();
}

void ResultSet::add(const RunRecord &record) {
  chip = record.chip->name.str();
  for (const ShapeResult &shape : record.shapes) {
    if (shape.id < 0)
      continue;
    ScoredShape scored;
    scored.passes = shape.status != ShapeStatus::Error && shape.strict.value_or(false);
    if (shape.hasTime && shape.time.seconds > 0) {
      scored.timeUs = shape.getTimeUs();
      timeKind = shape.time.isPrediction ? "predicted" : "measured";
    }
    shapes[shape.op][shape.id] = scored;
  }
}

std::string Score::describeMissing() const {
  if (!isPartial())
    return "";
  return fmt::format("partial: {} of {} operators and {} of {} shapes have no result and count 0",
                     missingOperators.size(), operators.size(), missingShapes, shapes);
}

Score bench::computeScore(const Catalogue &catalogue, const ResultSet &results, const ChipInfo &chip,
                          double floorSeconds) {
  Score score;
  for (const CatalogueOperator &op : catalogue.getOperators()) {
    OperatorScore row;
    row.name = op.name;
    row.phase = op.phase;
    row.importance = op.importance;
    row.shapes = op.shapes.size();
    auto found = results.shapes.find(op.name);
    size_t withProduction = 0;
    for (const CatalogueShape &shape : op.shapes) {
      llvm::Expected<WorkPair> work = computeWork(op.name, shape.params, shape.realised);
      if (!work) {
        llvm::consumeError(work.takeError());
        continue;
      }
      double solUs = computeSolMs(work->charged, op.dtype, chip) * 1000;
      row.ceiling += solUs / std::max(solUs, floorSeconds * 1e6);
      auto production = shape.productionUs.find(chip.alias.str());
      if (production != shape.productionUs.end()) {
        row.production += solUs / production->second;
        ++withProduction;
      }
      if (found == results.shapes.end())
        continue;
      auto entry = found->second.find(shape.id);
      if (entry == found->second.end())
        continue;
      ++row.present;
      if (!entry->second.passes || entry->second.timeUs <= 0)
        continue;
      ++row.passing;
      row.mean += solUs / entry->second.timeUs;
    }
    score.shapes += row.shapes;
    score.missingShapes += row.shapes - row.present;
    if (row.present == 0)
      score.missingOperators.push_back(row.name);
    row.passingMean = row.passing ? row.mean / double(row.passing) : 0;
    row.mean /= double(std::max<size_t>(row.shapes, 1));
    row.ceiling /= double(std::max<size_t>(row.shapes, 1));
    row.production /= double(std::max<size_t>(withProduction, 1));
    score.operators.push_back(std::move(row));
  }
  for (const char *label : {"all", "prefill", "decode"}) {
    Score::Row row;
    row.label = label;
    double weights = 0;
    for (const OperatorScore &op : score.operators) {
      if (row.label != "all" && !llvm::StringRef(op.phase).contains(row.label))
        continue;
      weights += op.importance;
      row.all.raw += op.importance * op.mean;
      row.passing.raw += op.importance * op.passingMean;
      row.production.raw += op.importance * op.production;
      row.ceiling.raw += op.importance * op.ceiling;
    }
    for (Aggregate *aggregate : {&row.all, &row.passing, &row.production, &row.ceiling})
      aggregate->normalised = weights > 0 ? aggregate->raw / weights : 0;
    score.rows.push_back(std::move(row));
  }
  return score;
}

json::Value Score::toJSON() const {
  auto aggregateToJSON = [](const Aggregate &aggregate) {
    return json::Object{{"raw", aggregate.raw}, {"normalised", aggregate.normalised}};
  };
  json::Array operatorRows, aggregateRows;
  for (const OperatorScore &op : operators)
    operatorRows.push_back(json::Object{{"name", op.name},
                                        {"phase", op.phase},
                                        {"importance", op.importance},
                                        {"shapes", int64_t(op.shapes)},
                                        {"present", int64_t(op.present)},
                                        {"passing", int64_t(op.passing)},
                                        {"mean", op.mean},
                                        {"passing_mean", op.passingMean},
                                        {"production_mean", op.production},
                                        {"ceiling_mean", op.ceiling}});
  for (const Row &row : rows)
    aggregateRows.push_back(json::Object{{"phase", row.label},
                                         {"all", aggregateToJSON(row.all)},
                                         {"passing_only", aggregateToJSON(row.passing)},
                                         {"production", aggregateToJSON(row.production)},
                                         {"ceiling", aggregateToJSON(row.ceiling)}});
  return json::Object{{"operators", std::move(operatorRows)},
                      {"aggregates", std::move(aggregateRows)},
                      {"partial", isPartial()},
                      {"shapes", int64_t(shapes)},
                      {"missing_shapes", int64_t(missingShapes)},
                      {"missing_operators", json::Array(missingOperators)}};
}
