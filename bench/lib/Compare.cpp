//===- Compare.cpp - Did a run get slower? --------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Compare.h"
#include "atrex/Bench/Embedded.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <cmath>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

llvm::StringRef bench::getName(Change change) {
  switch (change) {
  case Change::Same:
    return "same";
  case Change::Faster:
    return "faster";
  case Change::Slower:
    return "slower";
  case Change::Regression:
    return "REGRESSION";
  case Change::Broken:
    return "BROKEN";
  case Change::Fixed:
    return "fixed";
  case Change::New:
    return "new";
  case Change::StillBroken:
    return "no pass";
  }
  return "";
}

std::string bench::getCatalogueHash() {
  llvm::SHA256 sha;
  for (const EmbeddedFile &file : getEmbeddedCatalogue()) {
    sha.update(file.name);
    sha.update(llvm::StringRef("\0", 1));
    sha.update(file.text);
    sha.update(llvm::StringRef("\0", 1));
  }
  return llvm::toHex(sha.final(), /*LowerCase=*/true).substr(0, 16);
}

size_t RunComparison::count(Change change) const {
  return llvm::count_if(shapes, [&](const ShapeComparison &shape) { return shape.change == change; });
}

/// Whether the shape counts: what score counts.
static bool passes(const ShapeResult &shape) {
  return shape.status == ShapeStatus::Pass && shape.strict.value_or(false);
}

static std::string describeStatus(const ShapeResult &shape) {
  if (shape.status == ShapeStatus::Error)
    return "error: " + llvm::StringRef(shape.error).split('\n').first.str();
  return passes(shape) ? "pass" : "fail";
}

static const ShapeResult *findShape(const StoredRun &run, const std::string &op, int64_t id) {
  for (const ShapeResult &shape : run.shapes)
    if (shape.op == op && shape.id == id)
      return &shape;
  return nullptr;
}

/// Kind of the times of a run; an error when it mixes both, empty without any.
static llvm::Expected<std::string> getTimeKind(const StoredRun &run, llvm::StringRef name) {
  std::string kind;
  for (const ShapeResult &shape : run.shapes) {
    if (!shape.hasTime)
      continue;
    std::string here = shape.time.isPrediction ? "predicted" : "measured";
    if (!kind.empty() && here != kind)
      return makeError(fmt::format("'{}' holds both predicted and measured times", name.str()));
    kind = here;
  }
  return kind;
}

static void compareTimes(ShapeComparison &row, const ShapeResult &first, const ShapeResult &second,
                         const CompareOptions &options) {
  row.firstUs = first.getTimeUs();
  row.secondUs = second.getTimeUs();
  row.ratio = row.low = row.high = row.secondUs / row.firstUs;
  if (first.time.isPrediction) {
    // Predictions have no noise: the same code gives the same figure.
    row.confidence = "exact";
  } else if (first.intervalUs && second.intervalUs) {
    // Both hold their median with the probability of the interval, so the ratio
    // of the far ends is at least as sure.
    row.low = second.intervalUs->first / first.intervalUs->second;
    row.high = second.intervalUs->second / first.intervalUs->first;
    row.confidence = "interval";
  } else {
    row.confidence = "no interval";
  }
  // Below a millionth nothing but the text form of the figures differs.
  constexpr double tiny = 1e-6;
  if (row.low > 1 + options.threshold)
    row.change = Change::Regression;
  else if (row.low > 1 + tiny)
    row.change = Change::Slower;
  else if (row.high < 1 - tiny)
    row.change = Change::Faster;
}

llvm::Expected<RunComparison> bench::compareRuns(const StoredRun &first, llvm::StringRef firstName,
                                                 const StoredRun &second, llvm::StringRef secondName,
                                                 const CompareOptions &options) {
  auto refuse = [&](const std::string &why) {
    return makeError(fmt::format("'{}' and '{}' cannot be compared: {}", firstName.str(), secondName.str(), why));
  };
  llvm::Expected<std::string> firstKind = getTimeKind(first, firstName);
  if (!firstKind)
    return firstKind.takeError();
  llvm::Expected<std::string> secondKind = getTimeKind(second, secondName);
  if (!secondKind)
    return secondKind.takeError();
  if (!firstKind->empty() && !secondKind->empty() && *firstKind != *secondKind)
    return refuse(fmt::format("the first holds {} times, the second {} ones", *firstKind, *secondKind));
  if (first.chip != second.chip)
    return refuse(fmt::format("the first was made for chip {}, the second for {}", first.chip, second.chip));
  if (!first.catalogue.empty() && !second.catalogue.empty() && first.catalogue != second.catalogue)
    return refuse(
        fmt::format("they were made with different catalogues ({} and {})", first.catalogue, second.catalogue));

  RunComparison result;
  result.timeKind = firstKind->empty() ? *secondKind : *firstKind;
  auto note = [&](const char *what, const std::string &a, const std::string &b) {
    if (a != b)
      result.notes.push_back(fmt::format("different {}: '{}' and '{}'", what, a, b));
  };
  note("compiler", first.compilerVersion, second.compilerVersion);
  note("architecture", first.arch, second.arch);
  note("device", first.deviceName, second.deviceName);
  note("check", first.check, second.check);
  note("inputs", llvm::join(first.inputs, ","), llvm::join(second.inputs, ","));
  note("seed", std::to_string(first.seed), std::to_string(second.seed));
  note("repetitions", std::to_string(first.repeat), std::to_string(second.repeat));
  note("amount executed", first.whole ? "--whole" : fmt::format("budget {}", first.budget),
       second.whole ? "--whole" : fmt::format("budget {}", second.budget));

  double logSum = 0;
  for (const ShapeResult &before : first.shapes) {
    ShapeComparison row;
    row.op = before.op;
    row.id = before.id;
    row.shapeText = before.shapeText;
    const ShapeResult *after = findShape(second, before.op, before.id);
    std::string where =
        before.id < 0 ? "the stored case of " + before.op : fmt::format("shape {} of {}", before.id, before.op);
    if (after) {
      if (before.params.getValues() != after->params.getValues())
        return refuse(
            fmt::format("different parameters of {}: '{}' and '{}'", where, before.params.str(), after->params.str()));
      if (before.solUs != after->solUs)
        return refuse(fmt::format("different roofline times of {}: {} and {} us", where, before.solUs, after->solUs));
    }
    bool passed = passes(before), passesNow = after && passes(*after);
    if (passed && passesNow && before.hasTime && after->hasTime) {
      compareTimes(row, before, *after, options);
      logSum += std::log(row.ratio);
      ++result.timed;
    } else if (passed && !passesNow) {
      row.change = Change::Broken;
      row.note = after ? describeStatus(*after) : second.isInterrupted ? "missing; the run was interrupted" : "missing";
    } else if (!passed) {
      row.change = passesNow ? Change::Fixed : Change::StillBroken;
      row.note = "was " + describeStatus(before);
    } else if (before.hasTime != after->hasTime) {
      row.change = after->hasTime ? Change::Fixed : Change::Broken;
      row.note = after->hasTime ? "had no time" : "has no time";
    }
    result.shapes.push_back(std::move(row));
  }
  for (const ShapeResult &after : second.shapes) {
    if (findShape(first, after.op, after.id))
      continue;
    ShapeComparison row;
    row.op = after.op;
    row.id = after.id;
    row.shapeText = after.shapeText;
    row.change = Change::New;
    row.note = describeStatus(after);
    result.shapes.push_back(std::move(row));
  }
  if (result.timed)
    result.meanRatio = std::exp(logSum / double(result.timed));
  return result;
}

json::Value RunComparison::toJSON() const {
  json::Array rows;
  for (const ShapeComparison &row : shapes) {
    json::Object object{{"op", row.op}, {"shape", row.shapeText}, {"change", getName(row.change).lower()}};
    if (row.id >= 0)
      object["id"] = row.id;
    if (row.ratio > 0) {
      object["first_us"] = row.firstUs;
      object["second_us"] = row.secondUs;
      object["ratio"] = row.ratio;
      object["ratio_interval"] = json::Array{row.low, row.high};
      object["confidence"] = row.confidence;
    }
    if (!row.note.empty())
      object["note"] = row.note;
    rows.push_back(std::move(object));
  }
  return json::Object{{"schema", "atrex-mlir/bench-compare/1"},
                      {"time_kind", timeKind},
                      {"worse", isWorse()},
                      {"mean_ratio", meanRatio},
                      {"timed_shapes", int64_t(timed)},
                      {"notes", json::Array(notes)},
                      {"shapes", std::move(rows)}};
}
