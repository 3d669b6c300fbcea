//===- ResultReader.cpp - Result files read back --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Result.h"
#include "atrex/Support/Json.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>
#include <set>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

namespace {
/// Fields of one object; a field that is missing or of the wrong kind is
/// reported with its path.
class Fields {
public:
  Fields(const json::Value &value, json::Path path) : path(path), object(value.getAsObject()) {
    if (!object)
      path.report("expected object");
  }
  explicit operator bool() const { return object; }
  json::Path at(llvm::StringLiteral name) const { return path.field(name); }
  const json::Value *get(llvm::StringRef name) const { return object->get(name); }
  const json::Object &getObject() const { return *object; }

  template <typename T> bool read(llvm::StringLiteral name, T &out) const {
    const json::Value *value = get(name);
    if (value)
      return json::fromJSON(*value, out, at(name));
    at(name).report("missing value");
    return false;
  }
  /// Leaves `out` alone when the field is absent.
  template <typename T> bool readOptional(llvm::StringLiteral name, T &out) const {
    const json::Value *value = get(name);
    return !value || json::fromJSON(*value, out, at(name));
  }
  /// A number, or "inf", "-inf", "nan".
  bool readFloat(llvm::StringLiteral name, double &out) const {
    const json::Value *value = get(name);
    std::optional<llvm::StringRef> text = value ? value->getAsString() : std::nullopt;
    if (!text)
      return read(name, out);
    out = *text == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    if (*text == "-inf")
      out = -out;
    if (*text == "nan" || *text == "inf" || *text == "-inf")
      return true;
    at(name).report("expected number, \"inf\", \"-inf\" or \"nan\"");
    return false;
  }
  /// An array whose elements `readElement` takes with their path.
  template <typename Function> bool readArray(llvm::StringLiteral name, Function readElement) const {
    const json::Value *value = get(name);
    const json::Array *array = value ? value->getAsArray() : nullptr;
    if (!array) {
      at(name).report(value ? llvm::StringLiteral("expected array") : llvm::StringLiteral("missing value"));
      return false;
    }
    for (unsigned i = 0; i < array->size(); ++i)
      if (!readElement((*array)[i], at(name).index(i)))
        return false;
    return true;
  }

private:
  json::Path path;
  const json::Object *object;
};
} // namespace

static bool readDetail(const Fields &fields, llvm::StringLiteral name, VerdictDetail &detail) {
  const json::Value *value = fields.get(name);
  if (!value) {
    fields.at(name).report("missing value");
    return false;
  }
  Fields inner(*value, fields.at(name));
  if (!inner || !inner.read("pass", detail.passes) || !inner.read("bad_elements", detail.bad) ||
      !inner.readFloat("worst", detail.worst) || !inner.read("message", detail.message))
    return false;
  if (inner.get("worst_unit_l2") && !inner.readFloat("worst_unit_l2", detail.worstUnit))
    return false;
  const json::Value *at = inner.get("worst_at");
  if (!at)
    return true;
  Fields place(*at, inner.at("worst_at"));
  return place && place.read("index", detail.worstIndex) && place.readFloat("reference", detail.worstReference) &&
         place.readFloat("candidate", detail.worstCandidate);
}

static bool readCheck(const json::Value &value, CheckResult &check, json::Path path) {
  Fields fields(value, path);
  uint64_t seed = 0;
  if (fields && fields.get("seed")) {
    if (!fields.read("seed", seed))
      return false;
    check.seed = seed;
  }
  return fields && fields.read("inputs", check.inputs) && fields.readOptional("repetition", check.repetition) &&
         fields.readOptional("write_fault", check.writeFault) && fields.readOptional("input_fault", check.inputFault) &&
         fields.readArray("outputs", [&](const json::Value &entry, json::Path entryPath) {
           Fields inner(entry, entryPath);
           std::string name;
           OutputVerdict verdict;
           if (!inner || !inner.read("name", name) || !inner.read("elements", verdict.elements) ||
               !inner.read("row_elements", verdict.rowElements) || !inner.read("rule", verdict.rule) ||
               !readDetail(inner, "upstream", verdict.upstream) || !readDetail(inner, "strict", verdict.strict))
             return false;
           if (verdict.rowElements == 0) {
             inner.at("row_elements").report("expected positive integer");
             return false;
           }
           check.outputs.emplace_back(std::move(name), std::move(verdict));
           return true;
         });
}

static bool readTime(const json::Value &value, ShapeResult &shape, json::Path path) {
  Fields fields(value, path);
  std::string kind;
  double us = 0;
  uint64_t waves = 0;
  std::map<std::string, double> parts;
  if (!fields || !fields.read("kind", kind) || !fields.read("us", us) || !fields.read("parts_us", parts) ||
      !fields.read("bound", shape.time.bound) || !fields.read("waves_per_simd", waves) ||
      !fields.read("occupancy_limiter", shape.time.occupancyLimiter) || !fields.readOptional("grade", shape.time.grade))
    return false;
  if (kind != "predicted" && kind != "measured") {
    fields.at("kind").report("expected \"predicted\" or \"measured\"");
    return false;
  }
  if (!(us > 0)) {
    fields.at("us").report("expected positive number");
    return false;
  }
  shape.hasTime = true;
  shape.time.isPrediction = kind == "predicted";
  shape.time.seconds = us * 1e-6;
  shape.time.wavesPerSIMD = unsigned(waves);
  for (const auto &[name, partUs] : parts)
    shape.time.parts[name] = partUs * 1e-6;
  return true;
}

static bool readTiming(const json::Value &value, ShapeResult &shape, json::Path path) {
  Fields fields(value, path);
  std::vector<double> interval;
  if (!fields || !fields.readOptional("interval_us", interval))
    return false;
  if (fields.get("interval_us")) {
    if (interval.size() != 2 || !(interval[0] > 0) || !(interval[0] <= interval[1])) {
      fields.at("interval_us").report("expected two positive numbers in ascending order");
      return false;
    }
    shape.intervalUs = {interval[0], interval[1]};
  }
  shape.timing = fields.getObject();
  return true;
}

static bool readLine(const json::Value &value, device::LineProfile &line, json::Path path) {
  Fields fields(value, path);
  return fields && fields.read("file", line.file) && fields.read("line", line.line) &&
         fields.read("instructions", line.instructions) && fields.read("executions", line.executions) &&
         fields.read("valu_cycles", line.valuCycles) && fields.read("matrix_cycles", line.matrixCycles) &&
         fields.read("load_bytes", line.loadBytes) && fields.read("store_bytes", line.storeBytes) &&
         fields.read("lds_read_bytes", line.ldsReadBytes) && fields.read("lds_write_bytes", line.ldsWriteBytes);
}

static bool readExecution(const json::Value &value, device::ExecutionStats &stats, json::Path path) {
  Fields fields(value, path);
  std::map<std::string, uint64_t> instructions;
  if (!fields || !fields.read("waves", stats.wavesExecuted) || !fields.read("instructions", instructions) ||
      !fields.read("load_bytes", stats.loadBytes) || !fields.read("store_bytes", stats.storeBytes))
    return false;
  for (auto [i, name] : llvm::enumerate(getInstClassNames()))
    if (auto found = instructions.find(name); found != instructions.end())
      stats.instructions[i] = found->second;
  return true;
}

static bool readShape(const json::Value &value, const std::string &op, ShapeResult &shape, json::Path path) {
  Fields fields(value, path);
  std::string status;
  if (!fields || !fields.read("status", status) || !fields.read("shape", shape.shapeText) ||
      !fields.readOptional("id", shape.id) || !fields.readOptional("error", shape.error) ||
      !fields.readOptional("failure", shape.failure) || !fields.readOptional("wall_seconds", shape.wallSeconds) ||
      !fields.read("sol_us", shape.solUs) || !fields.readOptional("minimal_us", shape.minimalUs) ||
      !fields.readOptional("production_us", shape.productionUs) || !fields.readOptional("upstream", shape.upstream) ||
      !fields.readOptional("strict", shape.strict) || !fields.readOptional("code_object_hash", shape.codeObjectHash) ||
      !fields.readArray("checks", [&](const json::Value &entry, json::Path entryPath) {
        return readCheck(entry, shape.checks.emplace_back(), entryPath);
      }))
    return false;
  if (status != "pass" && status != "fail" && status != "error") {
    fields.at("status").report("expected \"pass\", \"fail\" or \"error\"");
    return false;
  }
  shape.op = op;
  shape.status = status == "pass" ? ShapeStatus::Pass : status == "fail" ? ShapeStatus::Fail : ShapeStatus::Error;
  const json::Value *params = fields.get("params");
  if (!params || !params->getAsObject()) {
    fields.at("params").report(params ? llvm::StringLiteral("expected object") : llvm::StringLiteral("missing value"));
    return false;
  }
  shape.params = Params(op, json::Object(*params->getAsObject()));
  if (const json::Value *time = fields.get("time"))
    if (!readTime(*time, shape, fields.at("time")))
      return false;
  if (const json::Value *timing = fields.get("timing"))
    if (!readTiming(*timing, shape, fields.at("timing")))
      return false;
  if (fields.get("profile") && !fields.readArray("profile", [&](const json::Value &entry, json::Path entryPath) {
        return readLine(entry, shape.profile.emplace_back(), entryPath);
      }))
    return false;
  if (const json::Value *executed = fields.get("executed"))
    if (!readExecution(*executed, shape.stats, fields.at("executed")))
      return false;
  if (const json::Value *coverage = fields.get("coverage")) {
    Fields inner(*coverage, fields.at("coverage"));
    if (!inner || !inner.read("workgroups_executed", shape.workgroupsExecuted) ||
        !inner.read("workgroups_total", shape.workgroupsTotal) ||
        !inner.read("elements_checked", shape.elementsChecked) || !inner.read("elements_total", shape.elementsTotal))
      return false;
  }
  shape.stored = fields.getObject();
  return true;
}

static bool readTree(const json::Value &tree, StoredRun &run, json::Path path) {
  Fields fields(tree, path);
  if (!fields || !fields.read("compiler", run.compilerVersion) || !fields.read("arch", run.arch) ||
      !fields.read("device", run.deviceName) || !fields.read("check", run.check) ||
      !fields.read("inputs", run.inputs) || !fields.read("seed", run.seed) || !fields.read("whole", run.whole) ||
      !fields.read("budget", run.budget) || !fields.readOptional("catalogue", run.catalogue) ||
      !fields.readOptional("schedule", run.schedule) || !fields.readOptional("interrupted", run.isInterrupted) ||
      !fields.readOptional("simulated", run.isSimulated) || !fields.readOptional("grade", run.grade) ||
      !fields.readOptional("repeat", run.repeat))
    return false;
  const json::Value *chip = fields.get("chip");
  if (!chip) {
    fields.at("chip").report("missing value");
    return false;
  }
  Fields chipFields(*chip, fields.at("chip"));
  if (!chipFields || !chipFields.read("name", run.chip))
    return false;
  bool hasObjects = fields.readArray("code_objects", [&](const json::Value &entry, json::Path entryPath) {
    Fields inner(entry, entryPath);
    std::string text;
    for (llvm::StringLiteral name :
         {llvm::StringLiteral("op"), llvm::StringLiteral("dims"), llvm::StringLiteral("source_hash"),
          llvm::StringLiteral("schedule_hash"), llvm::StringLiteral("code_object_hash")})
      if (!inner || !inner.read(name, text))
        return false;
    run.codeObjects.push_back(inner.getObject());
    return true;
  });
  std::set<std::pair<std::string, int64_t>> seen;
  return hasObjects && fields.readArray("operators", [&](const json::Value &entry, json::Path entryPath) {
    Fields inner(entry, entryPath);
    std::string name;
    return inner && inner.read("name", name) &&
           inner.readArray("shapes", [&](const json::Value &shape, json::Path shapePath) {
             if (!readShape(shape, name, run.shapes.emplace_back(), shapePath))
               return false;
             if (seen.insert({name, run.shapes.back().id}).second)
               return true;
             shapePath.field("id").report("the shape occurs twice");
             return false;
           });
  });
}

llvm::Expected<StoredRun> bench::readRun(llvm::StringRef text, llvm::StringRef name) {
  llvm::Expected<json::Value> tree = parseJson(text);
  if (!tree)
    return makeError(fmt::format("'{}': {}", name.str(), llvm::toString(tree.takeError())));
  const json::Object *object = tree->getAsObject();
  if (!object || object->getString("schema") != llvm::StringRef("atrex-mlir/bench-result/1"))
    return makeError(
        fmt::format("'{}': is not a result file: field 'schema' must be \"atrex-mlir/bench-result/1\"", name.str()));
  json::Path::Root root("result");
  StoredRun run;
  if (!readTree(*tree, run, root))
    return makeError(fmt::format("'{}': {}", name.str(), llvm::toString(root.getError())));
  return run;
}

llvm::Expected<ShapeResult> bench::readShapeResult(const json::Value &value, const std::string &op,
                                                   llvm::StringRef name) {
  json::Path::Root root("shape");
  ShapeResult shape;
  if (!readShape(value, op, shape, root))
    return makeError(fmt::format("{}: {}", name.str(), llvm::toString(root.getError())));
  return shape;
}

llvm::Expected<RunRecord> bench::makeRecord(StoredRun stored, llvm::StringRef name) {
  RunRecord record;
  record.chip = lookupChip(stored.chip);
  if (!record.chip)
    return makeError(fmt::format("'{}': the chip table has no chip '{}'", name.str(), stored.chip));
  std::optional<CheckMode> check;
  for (CheckMode mode : {CheckMode::Upstream, CheckMode::Strict, CheckMode::Both})
    if (getName(mode) == stored.check)
      check = mode;
  if (!check)
    return makeError(
        fmt::format("'{}': field 'check' must be upstream, strict or both, not '{}'", name.str(), stored.check));
  record.check = *check;
  record.compilerVersion = std::move(stored.compilerVersion);
  record.deviceName = std::move(stored.deviceName);
  record.isSimulated = stored.isSimulated;
  record.arch = std::move(stored.arch);
  record.inputs = std::move(stored.inputs);
  record.seed = stored.seed;
  record.repeat = stored.repeat;
  record.grade = stored.grade;
  record.whole = stored.whole;
  record.budget = stored.budget;
  record.isInterrupted = stored.isInterrupted;
  record.schedule = std::move(stored.schedule);
  record.shapes = std::move(stored.shapes);
  record.codeObjects = std::move(stored.codeObjects);
  return record;
}

static llvm::Error describeDifference(llvm::StringRef name, const std::string &difference) {
  return makeError(
      fmt::format("'{}' cannot be resumed: {}; run without --resume to start anew", name.str(), difference));
}

llvm::Error bench::checkSameRun(const StoredRun &stored, const RunRecord &record, llvm::StringRef name) {
  auto describeAmount = [](bool whole, uint64_t budget) {
    return whole ? std::string("--whole") : fmt::format("budget {}", budget);
  };
  struct {
    const char *what;
    std::string stored, now;
  } const facts[] = {
      {"device", stored.deviceName, record.deviceName},
      {"chip", stored.chip, record.chip->name.str()},
      {"architecture", stored.arch, record.arch},
      {"check", stored.check, getName(record.check).str()},
      {"grade", stored.grade, record.grade},
      {"inputs", fmt::format("{}", fmt::join(stored.inputs, ",")), fmt::format("{}", fmt::join(record.inputs, ","))},
      {"seed", std::to_string(stored.seed), std::to_string(record.seed)},
      {"number of repetitions", std::to_string(stored.repeat), std::to_string(record.repeat)},
      {"amount executed", describeAmount(stored.whole, stored.budget), describeAmount(record.whole, record.budget)},
      {"compiler", stored.compilerVersion, record.compilerVersion},
  };
  for (const auto &fact : facts)
    if (fact.stored != fact.now)
      return describeDifference(name,
                                fmt::format("different {}: '{}' there, '{}' now", fact.what, fact.stored, fact.now));
  return llvm::Error::success();
}

llvm::Error bench::checkSameCode(const StoredRun &stored, const ShapeResult &shape, const CodeObjectInfo &now,
                                 llvm::StringRef name) {
  std::string where = fmt::format("shape {} of {}", shape.id, shape.op);
  if (shape.codeObjectHash.empty())
    return describeDifference(name, fmt::format("{} has no code object there ({}), but compiles now", where,
                                                shape.error.substr(0, shape.error.find('\n'))));
  const json::Object *entry = nullptr;
  for (const json::Object &object : stored.codeObjects)
    if (object.getString("code_object_hash") == llvm::StringRef(shape.codeObjectHash) &&
        object.getString("dims") == llvm::StringRef(now.dims))
      entry = &object;
  struct {
    const char *what, *key;
    const std::string &now;
  } const hashes[] = {{"kernel source", "source_hash", now.manifest.sourceHash},
                      {"schedule hash", "schedule_hash", now.manifest.scheduleHash}};
  for (const auto &hash : hashes)
    if (entry && *entry->getString(hash.key) != hash.now)
      return describeDifference(name, fmt::format("different {} of {}: '{}' there, '{}' now", hash.what, where,
                                                  entry->getString(hash.key)->str(), hash.now));
  if (shape.codeObjectHash != now.manifest.codeObjectHash)
    return describeDifference(name, fmt::format("different code object of {}: '{}' there, '{}' now", where,
                                                shape.codeObjectHash, now.manifest.codeObjectHash));
  return llvm::Error::success();
}
