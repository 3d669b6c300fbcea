//===- ReportCommands.cpp - report, compare, lint-db ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandContext.h"
#include "atrex/Bench/Chart.h"
#include "atrex/Bench/Compare.h"
#include "atrex/Bench/Page.h"
#include "atrex/Bench/TuningDatabase.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace atrex;
using namespace atrex::bench;

namespace {

llvm::Expected<StoredRun> loadRun(const std::string &path) {
  std::string text;
  if (llvm::Error error = readFile(path, text))
    return std::move(error);
  return readRun(text, path);
}

/// A number of at least zero.
llvm::Expected<double> getNumber(const Arguments &arguments, llvm::StringRef name, double fallback, double low) {
  if (!arguments.has(name))
    return fallback;
  double value;
  std::string text = arguments.get(name);
  if (!llvm::to_float(text, value) || !(value >= low) || value > 1e9)
    return makeError(fmt::format("--{} '{}' must be a number from {:g} to 1e9", name.str(), text, low));
  return value;
}

//===----------------------------------------------------------------------===//
// report
//===----------------------------------------------------------------------===//

constexpr OptionSpec reportOptions[] = {
    {"o", "FILE", "the page to write (- for standard output)"},
    {"svg", "FILE", "write the chart alone, too"},
};
constexpr CommandSpec reportCommand = {"report", "Writes the page of a result file: charts, table, details.", "RESULT",
                                       reportOptions};

int runReport(Context &context, const Arguments &arguments) {
  if (arguments.getPositional().size() != 1)
    return context.fail(makeError("report: name exactly one result file"), exitUsage);
  if (!arguments.has("o") && !arguments.has("svg"))
    return context.fail(makeError("report: name the page to write: -o FILE"), exitUsage);
  const std::string &path = arguments.getPositional().front();
  for (llvm::StringRef option : {"o", "svg"})
    if (arguments.has(option)) {
      if (arguments.get(option) == path)
        return context.fail(makeError(fmt::format("report: '{}' would overwrite the results", path)), exitUsage);
      if (llvm::Error error = checkWritable(arguments.get(option)))
        return context.fail(std::move(error));
    }
  llvm::Expected<StoredRun> stored = loadRun(path);
  if (!stored)
    return context.fail(stored.takeError());
  for (const ShapeResult &shape : stored->shapes)
    if (llvm::Expected<const CatalogueOperator *> op = context.catalogue.lookup(shape.op); !op)
      return context.fail(makeError(fmt::format("'{}': {}", path, llvm::toString(op.takeError()))));
  llvm::Expected<RunRecord> record = makeRecord(std::move(*stored), path);
  if (!record)
    return context.fail(record.takeError());
  if (arguments.has("o"))
    if (llvm::Error error = writeFile(arguments.get("o"), writePage(*record)))
      return context.fail(std::move(error));
  if (arguments.has("svg"))
    if (llvm::Error error = writeFile(arguments.get("svg"), drawChart(*record)))
      return context.fail(std::move(error));
  return exitOk;
}

//===----------------------------------------------------------------------===//
// compare
//===----------------------------------------------------------------------===//

constexpr OptionSpec compareOptions[] = {
    {"threshold", "PERCENT", "slowdown of a shape that is let pass (default 2)"},
    {"all", "", "show shapes that did not change, too"},
    {"json", "FILE", "write the comparison as JSON"},
};
constexpr CommandSpec compareCommand = {
    "compare", "Compares two result files shape by shape; exit code 1 when the second is worse.", "BEFORE AFTER",
    compareOptions};

int runCompare(Context &context, const Arguments &arguments) {
  if (arguments.getPositional().size() != 2)
    return context.fail(makeError("compare: name two result files, the one before and the one after"), exitUsage);
  CompareOptions options;
  llvm::Expected<double> percent = getNumber(arguments, "threshold", options.threshold * 100, 0);
  if (!percent)
    return context.fail(percent.takeError(), exitUsage);
  options.threshold = *percent / 100;
  if (arguments.has("json"))
    if (llvm::Error error = checkWritable(arguments.get("json")))
      return context.fail(std::move(error));
  const std::string &firstPath = arguments.getPositional()[0], &secondPath = arguments.getPositional()[1];
  llvm::Expected<StoredRun> first = loadRun(firstPath);
  if (!first)
    return context.fail(first.takeError());
  llvm::Expected<StoredRun> second = loadRun(secondPath);
  if (!second)
    return context.fail(second.takeError());
  llvm::Expected<RunComparison> result = compareRuns(*first, firstPath, *second, secondPath, options);
  if (!result)
    return context.fail(result.takeError());

  for (const std::string &note : result->notes)
    context.print("note: {}\n", note);
  const char *kind = result->timeKind.empty() ? "no times" : result->timeKind.c_str();
  context.print("{:<29} {:>4} {:>11} {:>11} {:>9} {:>17}  {}\n", "", "", kind, kind, "", "95 % certain", "");
  context.print("{:<29} {:>4} {:>11} {:>11} {:>9} {:>17}  {}\n", "operator", "id", "before us", "after us", "change",
                "to lie in", "");
  size_t hidden = 0;
  for (const ShapeComparison &row : result->shapes) {
    if (!arguments.has("all") && (row.change == Change::Same || row.change == Change::StillBroken)) {
      ++hidden;
      continue;
    }
    std::string id = row.id < 0 ? "case" : std::to_string(row.id), before = "-", after = "-", change = "-",
                interval = "-";
    if (row.ratio > 0) {
      before = formatUs(row.firstUs);
      after = formatUs(row.secondUs);
      change = fmt::format("{:+.1f} %", (row.ratio - 1) * 100);
      interval = row.confidence == "interval"
                     ? fmt::format("{:+.1f} .. {:+.1f} %", (row.low - 1) * 100, (row.high - 1) * 100)
                     : row.confidence;
    }
    context.print("{:<29} {:>4} {:>11} {:>11} {:>9} {:>17}  {}{}\n", row.op, id, before, after, change, interval,
                  bench::getName(row.change).str(), row.note.empty() ? "" : ": " + row.note);
  }
  if (hidden)
    context.print("{} {} not shown: no change (--all shows them)\n", hidden, hidden == 1 ? "shape" : "shapes");
  if (result->timeKind == "predicted")
    context.print("predictions have no noise: a change is one of the code or of the model, and says nothing about a "
                  "real device\n");
  if (result->timed)
    context.print("{} shapes with two times: geometric mean {:+.2f} %\n", result->timed, (result->meanRatio - 1) * 100);
  std::vector<std::string> counts;
  for (Change change : {Change::Regression, Change::Broken, Change::Slower, Change::Faster, Change::Fixed, Change::New,
                        Change::Same, Change::StillBroken})
    if (size_t count = result->count(change))
      counts.push_back(fmt::format("{} {}", count, bench::getName(change).str()));
  context.print("{}; a regression is a slowdown of more than {:g} % for sure\n",
                counts.empty() ? "no shapes" : llvm::join(counts, ", "), options.threshold * 100);
  if (arguments.has("json"))
    if (llvm::Error error = writeFile(arguments.get("json"), llvm::formatv("{0:2}\n", result->toJSON()).str()))
      return context.fail(std::move(error));
  return result->isWorse() ? exitFault : exitOk;
}

//===----------------------------------------------------------------------===//
// lint-db
//===----------------------------------------------------------------------===//

constexpr OptionSpec lintOptions[] = {
    {"rules", "", "list the rules"},
    {"only", "RULES", "report these rules alone, separated by commas"},
    {"tolerance", "PERCENT", "difference of stated and computed rate that is let pass (default 5)"},
    {"min-us", "US", "times below are placeholders (default 1.5)"},
    {"outlier", "FACTOR", "factor outside of the neighbours' times from which a row is one (default 2.5)"},
    {"json", "FILE", "write the findings as JSON"},
};
constexpr CommandSpec lintCommand = {
    "lint-db", "Finds rows of tuning databases (AITER's CSV) that cannot be right; exit code 1 when there are any.",
    "FILES...", lintOptions};

int runLint(Context &context, const Arguments &arguments) {
  if (arguments.has("rules")) {
    for (const LintRule &rule : getLintRules())
      context.print("{:<12} {}\n", rule.name.str(), rule.meaning.str());
    return exitOk;
  }
  if (arguments.getPositional().empty())
    return context.fail(makeError("lint-db: name at least one file"), exitUsage);
  LintOptions options;
  llvm::Expected<double> tolerance = getNumber(arguments, "tolerance", options.rateTolerance * 100, 0);
  if (!tolerance)
    return context.fail(tolerance.takeError(), exitUsage);
  llvm::Expected<double> minimum = getNumber(arguments, "min-us", options.minimumUs, 0);
  if (!minimum)
    return context.fail(minimum.takeError(), exitUsage);
  llvm::Expected<double> outlier = getNumber(arguments, "outlier", options.outlierFactor, 1);
  if (!outlier)
    return context.fail(outlier.takeError(), exitUsage);
  options.rateTolerance = *tolerance / 100;
  options.minimumUs = *minimum;
  options.outlierFactor = *outlier;
  std::vector<std::string> names, only;
  for (const LintRule &rule : getLintRules())
    names.push_back(rule.name.str());
  if (arguments.has("only")) {
    llvm::SmallVector<llvm::StringRef> parts;
    std::string text = arguments.get("only");
    llvm::StringRef(text).split(parts, ',');
    for (llvm::StringRef part : parts) {
      if (!llvm::is_contained(names, part.trim().str()))
        return context.fail(makeError(fmt::format("--only: there is no rule '{}'; the rules are {}", part.trim().str(),
                                                  llvm::join(names, ", "))),
                            exitUsage);
      only.push_back(part.trim().str());
    }
  }
  if (arguments.has("json"))
    if (llvm::Error error = checkWritable(arguments.get("json")))
      return context.fail(std::move(error));
  TuningDatabase database;
  for (const std::string &path : arguments.getPositional()) {
    std::string text;
    if (llvm::Error error = readFile(path, text))
      return context.fail(std::move(error));
    if (llvm::Error error = database.add(text, path))
      return context.fail(std::move(error));
  }
  std::vector<LintFinding> findings = database.lint(options);
  if (!only.empty())
    llvm::erase_if(findings, [&](const LintFinding &finding) { return !llvm::is_contained(only, finding.rule); });
  std::map<std::string, size_t> counts;
  for (const LintFinding &finding : findings) {
    context.print("{}:{}: {}: {}\n", database.getFiles()[finding.file], finding.line, finding.rule, finding.message);
    ++counts[finding.rule];
  }
  context.print("{} rows in {} {}: {} {}", database.getRowCount(), database.getFiles().size(),
                database.getFiles().size() == 1 ? "file" : "files", findings.size(),
                findings.size() == 1 ? "finding" : "findings");
  const char *separator = " (";
  for (const std::string &name : names)
    if (counts.count(name)) {
      context.print("{}{} {}", separator, counts[name], name);
      separator = ", ";
    }
  context.print("{}\n", counts.empty() ? "" : ")");
  if (size_t count = database.getRowsWithoutRate())
    context.print("{} rows state no rate; nothing contradicts their times\n", count);
  if (size_t count = database.getRowsWithoutPeak())
    context.print("{} rows have a device or type that the chip table does not know; not compared with a peak\n", count);
  if (arguments.has("json"))
    if (llvm::Error error =
            writeFile(arguments.get("json"), llvm::formatv("{0:2}\n", toJSON(database, findings)).str()))
      return context.fail(std::move(error));
  return findings.empty() ? exitOk : exitFault;
}

} // namespace

llvm::ArrayRef<Command> bench::getReportCommands() {
  static const Command commands[] = {
      {&reportCommand, runReport}, {&compareCommand, runCompare}, {&lintCommand, runLint}};
  return commands;
}
