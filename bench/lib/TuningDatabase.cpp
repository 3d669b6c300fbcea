//===- TuningDatabase.cpp - Is a tuning database to be trusted? -----------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/TuningDatabase.h"
#include "atrex/Bench/Catalogue.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

llvm::ArrayRef<LintRule> bench::getLintRules() {
  static const LintRule rules[] = {
      {"malformed", "the row has another number of cells than the header, or a cell that must be a number is none"},
      {"placeholder", "the time is not finite, zero, negative, or shorter than any launch"},
      {"rate", "the stated rate is not the work over the time"},
      {"peak", "the work over the time is more than the device can do"},
      {"copy", "the same time and kernel stand for the same problem on another device"},
      {"outlier", "the time is far outside of those of the next smaller and the next larger problem"},
  };
  return rules;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Splits one CSV record (RFC 4180: cells may be quoted, "" is a quote) off the
/// front of `text`. Returns the reason when a quote stays open.
std::optional<std::string> splitRecord(llvm::StringRef &text, std::vector<std::string> &cells, unsigned &line) {
  cells.assign(1, "");
  bool isQuoted = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    char c = text[i];
    line += c == '\n';
    if (isQuoted) {
      if (c != '"')
        cells.back() += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        cells.back() += text[++i];
      else
        isQuoted = false;
    } else if (c == '"' && cells.back().empty()) {
      isQuoted = true;
    } else if (c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {
      ++i;
      break;
    } else {
      cells.back() += c;
    }
  }
  text = text.drop_front(i);
  for (std::string &cell : cells)
    cell = llvm::StringRef(cell).trim().str();
  if (isQuoted)
    return "a quoted cell is not closed before the end of the file";
  return std::nullopt;
}

/// Bits of the operands that a type name speaks of; 0 when it names none.
unsigned getOperandBits(llvm::StringRef type) {
  std::string name = type.lower();
  llvm::StringRef text = name;
  for (const char *word : {"fp4", "float4", "a4w4", "int4"})
    if (text.contains(word))
      return 4;
  for (const char *word : {"fp6", "float6", "a6w6", "a6w4", "a4w6"})
    if (text.contains(word))
      return 6;
  for (const char *word : {"fp8", "float8", "int8", "i8", "a8w8", "a8w4"})
    if (text.contains(word))
      return 8;
  for (const char *word : {"bf16", "bfloat16", "fp16", "float16", "f16", "a16w"})
    if (text.contains(word))
      return 16;
  return 0;
}

/// The chip of an architecture (any when empty) with so many CUs.
const ChipInfo *findDevice(llvm::StringRef arch, double units) {
  for (const ChipInfo &chip : getChips())
    if (chip.isAMDGPU() && chip.computeUnits == units && (arch.empty() || chip.arch == arch))
      return &chip;
  return nullptr;
}

/// FLOP/s of dense matrix instructions. Integer operands run at the rate of
/// fp8 of the same width. 4- and 6-bit operands run at most at twice the rate of
/// fp8, the limit taken where the chip table has no figure of their own.
double getMatrixPeak(const ChipInfo &chip, unsigned bits) {
  switch (bits) {
  case 4:
  case 6:
    return 2 * chip.peaks.fp8;
  case 8:
    return chip.peaks.fp8;
  case 16:
    return chip.peaks.bf16;
  default:
    return 0;
  }
}

bool isTrue(llvm::StringRef text) { return text == "1" || text.equals_insensitive("true"); }
} // namespace

/// The header of a file: what its columns mean.
struct TuningDatabase::Table {
  std::vector<std::string> names;
  /// The dimensions in the order of a description, and which of them varies
  /// along a series.
  std::vector<std::string> dims;
  std::string varying;
  bool isMoe = false;

  std::optional<size_t> find(std::initializer_list<llvm::StringRef> candidates) const {
    for (llvm::StringRef candidate : candidates)
      for (auto [i, name] : llvm::enumerate(names))
        if (name == candidate)
          return i;
    return std::nullopt;
  }
};

void TuningDatabase::addMalformed(unsigned line, std::string message) {
  malformed.push_back({files.size() - 1, line, "malformed", std::move(message)});
}

llvm::Error TuningDatabase::add(llvm::StringRef text, llvm::StringRef name) {
  auto fail = [&](unsigned line, const std::string &what) {
    return makeError(fmt::format("'{}', line {}: {}", name.str(), line, what));
  };
  text.consume_front("\xEF\xBB\xBF");
  if (text.trim().empty())
    return fail(1, "the file is empty; the first line must name the columns");
  if (text.contains('\0'))
    return fail(1 + unsigned(text.take_until([](char c) { return c == '\0'; }).count('\n')),
                "holds a zero byte; this is no text file");
  unsigned line = 1;
  Table table;
  if (std::optional<std::string> fault = splitRecord(text, table.names, line))
    return fail(1, *fault);
  std::set<std::string> seen;
  for (const std::string &column : table.names)
    if (!column.empty() && !seen.insert(column).second)
      return fail(1, fmt::format("column '{}' occurs twice", column));
  auto hasAll = [&](std::initializer_list<llvm::StringRef> columns) {
    return llvm::all_of(columns, [&](llvm::StringRef column) { return seen.count(column.str()) != 0; });
  };
  if (hasAll({"M", "N", "K"})) {
    table.dims = {"M", "N", "K"};
    if (seen.count("B"))
      table.dims.insert(table.dims.begin(), "B");
    table.varying = "M";
  } else if (hasAll({"token", "model_dim", "inter_dim", "expert", "topk"})) {
    table.dims = {"token", "model_dim", "inter_dim", "expert", "topk"};
    table.varying = "token";
    table.isMoe = true;
  } else {
    return fail(1, fmt::format("no columns 'M', 'N', 'K' (products) or 'token', 'model_dim', 'inter_dim', 'expert', "
                               "'topk' (mixtures of experts); the header is '{}'",
                               llvm::join(table.names, ",")));
  }
  if (!seen.count("us"))
    return fail(1, fmt::format("no column 'us'; the header is '{}'", llvm::join(table.names, ",")));
  if (!seen.count("cu_num") && !seen.count("cu"))
    return fail(
        1, fmt::format("no column 'cu_num', which tells the device; the header is '{}'", llvm::join(table.names, ",")));

  files.push_back(name.str());
  while (!text.empty()) {
    unsigned first = line;
    std::vector<std::string> cells;
    std::optional<std::string> fault = splitRecord(text, cells, line);
    if (fault)
      addMalformed(first, *fault);
    else if (cells.size() > 1 || !cells.front().empty())
      addRow(table, std::move(cells), first);
  }
  return llvm::Error::success();
}

void TuningDatabase::addRow(const Table &table, std::vector<std::string> cells, unsigned line) {
  if (cells.size() != table.names.size())
    return addMalformed(line, fmt::format("{} cells, but the header has {}", cells.size(), table.names.size()));
  auto getNumber = [&](size_t column) -> std::optional<double> {
    double value;
    llvm::StringRef text = cells[column];
    // LLVM's conversion takes hexadecimal floats and "infinity", too; both are harmless.
    if (text.empty() || !llvm::to_float(text, value))
      return std::nullopt;
    return value;
  };
  Row row;
  row.file = files.size() - 1;
  row.line = line;
  std::map<std::string, double> dims;
  for (const std::string &dim : table.dims) {
    size_t column = *table.find({dim});
    std::optional<double> value = getNumber(column);
    if (!value || !(*value >= 1) || *value > 0x1p53 || *value != std::floor(*value))
      return addMalformed(line, fmt::format("column '{}': '{}' is no positive integer", dim, cells[column]));
    dims[dim] = *value;
    row.problem += fmt::format("{}{}={:.0f}", row.problem.empty() ? "" : " ", dim, *value);
    if (dim == table.varying)
      row.varying = *value;
    else
      row.series += fmt::format("{}={:.0f} ", dim, *value);
  }
  size_t usColumn = *table.find({"us"}), cuColumn = *table.find({"cu_num", "cu"});
  std::optional<double> us = getNumber(usColumn), units = getNumber(cuColumn);
  if (!us)
    return addMalformed(line, fmt::format("column 'us': '{}' is no number", cells[usColumn]));
  if (!units || !(*units >= 1) || *units != std::floor(*units) || *units > 1e6)
    return addMalformed(
        line, fmt::format("column '{}': '{}' is no positive integer", table.names[cuColumn], cells[cuColumn]));
  row.us = *us;
  row.usText = cells[usColumn];
  std::optional<size_t> rate = table.find({"tflops"}), kernel = table.find({"kernelName", "kernel", "kernelName1"}),
                        arch = table.find({"gfx"});
  if (rate && !cells[*rate].empty()) {
    std::optional<double> value = getNumber(*rate);
    if (!value)
      return addMalformed(line, fmt::format("column 'tflops': '{}' is no number", cells[*rate]));
    row.rate = *value;
  }
  if (kernel)
    row.kernel = cells[*kernel];
  row.device = arch && !cells[*arch].empty() ? fmt::format("{} with {:.0f} CUs", cells[*arch], *units)
                                             : fmt::format("a device with {:.0f} CUs", *units);

  // Work: 2MNK, or the two products of every (token, expert) pair.
  if (!table.isMoe) {
    row.flops = 2 * dims["M"] * dims["N"] * dims["K"] * (dims.count("B") ? dims["B"] : 1);
  } else {
    std::optional<size_t> gated = table.find({"use_g1u1"});
    double matrices = gated && isTrue(cells[*gated]) ? 3 : 2;
    row.flops = 2 * dims["token"] * dims["topk"] * dims["model_dim"] * dims["inter_dim"] * matrices;
  }

  // The wider operand decides: it is converted to nothing narrower.
  unsigned bits = 0;
  for (llvm::StringRef column : {"q_dtype_a", "q_dtype_w", "dtype"}) {
    std::optional<size_t> found = table.find({column});
    if (!found || (column == "dtype" && bits))
      continue;
    bits = std::max(bits, getOperandBits(cells[*found]));
  }
  std::string file = llvm::sys::path::filename(files.back()).str();
  if (!bits)
    bits = getOperandBits(file);
  if (const ChipInfo *chip = findDevice(arch ? llvm::StringRef(cells[*arch]) : llvm::StringRef(), *units)) {
    row.peak = getMatrixPeak(*chip, bits);
    row.peakName = fmt::format("{} for {}-bit operands", chip->name.str(), bits);
  }

  // Columns that describe the problem are those that neither name the device
  // nor the solution nor what was measured.
  static const llvm::StringSet<> others = {
      "gfx",         "cu_num",   "cu",       "us",         "us1",        "us2",       "tflops",
      "bw",          "kernelId", "splitK",   "split_k",    "kernelName", "kernel",    "libtype",
      "library",     "solidx",   "errRatio", "err1",       "err2",       "err_ratio", "kernelName1",
      "kernelName2", "block_m",  "ksplit",   "run_1stage", "xbf16",      "flat",      "_tag"};
  for (auto [i, column] : llvm::enumerate(table.names))
    if (!others.contains(column) && !llvm::is_contained(table.dims, column) && !cells[i].empty())
      // The two encodings of fp8 belong to devices, not to problems.
      row.variant += fmt::format(" {}={}", column,
                                 cells[i].substr(0, cells[i].rfind("fnuz")) +
                                     (llvm::StringRef(cells[i]).ends_with("fnuz") ? "fn" : ""));
  row.series = row.device + " " + row.series + row.variant;
  // Without a type column the file name is what tells types apart.
  if (!table.find({"dtype", "q_dtype_w", "q_dtype_a"}))
    row.series += " " + file;
  rows.push_back(std::move(row));
}

size_t TuningDatabase::getRowsWithoutRate() const {
  return llvm::count_if(rows, [](const Row &row) { return row.rate == 0; });
}

size_t TuningDatabase::getRowsWithoutPeak() const {
  return llvm::count_if(rows, [](const Row &row) { return row.peak == 0; });
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

bool TuningDatabase::isPlaceholder(const Row &row, const LintOptions &options) const {
  return !std::isfinite(row.us) || row.us < options.minimumUs;
}

std::string TuningDatabase::describe(const Row &row) const { return row.problem + " on " + row.device; }

void TuningDatabase::lintTimes(const LintOptions &options, std::vector<LintFinding> &findings) const {
  for (const Row &row : rows) {
    auto report = [&](const char *rule, const std::string &message) {
      findings.push_back({row.file, row.line, rule, describe(row) + ": " + message});
    };
    if (isPlaceholder(row, options)) {
      report("placeholder", std::isfinite(row.us) ? fmt::format("time of {} us; no launch is shorter than {:g} us",
                                                                row.usText, options.minimumUs)
                                                  : fmt::format("time of {} us", row.usText));
      continue;
    }
    // FLOP per us are 1e-6 TFLOP/s.
    double computed = row.flops / row.us * 1e-6;
    // Rates are written with two decimals.
    if (row.rate != 0 && !(std::abs(row.rate - computed) <= std::max(options.rateTolerance * computed, 0.0055)))
      report("rate", fmt::format("states {:g} TFLOP/s, but {:.4g} GFLOP in {:g} us are {:.4g} TFLOP/s (stated is "
                                 "{:.3g} times that)",
                                 row.rate, row.flops * 1e-9, row.us, computed, row.rate / computed));
    if (row.peak > 0 && computed * 1e12 > row.peak)
      report("peak", fmt::format("{:.4g} GFLOP in {:g} us are {:.5g} TFLOP/s, above the dense peak of {:.5g} of {}",
                                 row.flops * 1e-9, row.us, computed, row.peak * 1e-12, row.peakName));
  }
}

void TuningDatabase::lintCopies(const LintOptions &options, std::vector<LintFinding> &findings) const {
  // By problem, variant, kernel and time; no cell holds a zero byte. The order of
  // the groups does not matter: findings are sorted.
  llvm::StringMap<llvm::SmallVector<const Row *, 1>> groups;
  llvm::SmallString<256> key;
  for (const Row &row : rows) {
    if (isPlaceholder(row, options))
      continue;
    key.clear();
    for (const std::string *part : {&row.problem, &row.variant, &row.kernel}) {
      key += *part;
      key += '\0';
    }
    key += llvm::StringRef(reinterpret_cast<const char *>(&row.us), sizeof(row.us));
    groups[key].push_back(&row);
  }
  for (const auto &entry : groups)
    for (llvm::ArrayRef<const Row *> group = entry.second; const Row *row : group) {
      const auto other = llvm::find_if(group, [&](const Row *r) { return r->device != row->device; });
      if (other == group.end())
        continue;
      std::string where = (*other)->file == row->file
                              ? fmt::format("line {}", (*other)->line)
                              : fmt::format("'{}', line {}", files[(*other)->file], (*other)->line);
      findings.push_back(
          {row->file, row->line, "copy",
           fmt::format("{}: {} us with the same kernel stand for {} in {}, too; two devices do not agree "
                       "to the last digit",
                       describe(*row), row->usText, (*other)->device, where)});
    }
}

void TuningDatabase::lintNeighbours(const LintOptions &options, std::vector<LintFinding> &findings) const {
  // Best time by series and varying dimension: tables may hold several kernels.
  llvm::StringMap<std::map<double, double>> series;
  std::vector<const std::map<double, double> *> ofRow;
  ofRow.reserve(rows.size());
  for (const Row &row : rows) {
    ofRow.push_back(nullptr);
    if (isPlaceholder(row, options))
      continue;
    // Entries of a StringMap stay where they are.
    std::map<double, double> &times = series[row.series];
    ofRow.back() = &times;
    auto [slot, isNew] = times.try_emplace(row.varying, row.us);
    if (!isNew)
      slot->second = std::min(slot->second, row.us);
  }
  for (const auto &[row, found] : llvm::zip_equal(rows, ofRow)) {
    if (!found)
      continue;
    const std::map<double, double> &times = *found;
    auto here = times.find(row.varying);
    if (here == times.begin() || std::next(here) == times.end())
      continue;
    auto below = std::prev(here), above = std::next(here);
    // Neighbours that are far apart say little about what lies between.
    if (above->first / below->first > 16)
      continue;
    double low = std::min(below->second, above->second), high = std::max(below->second, above->second);
    bool isSlow = row.us > high * options.outlierFactor, isFast = row.us * options.outlierFactor < low;
    if (isSlow || isFast)
      findings.push_back(
          {row.file, row.line, "outlier",
           fmt::format("{}: {} us, but {:g} us at {:.0f} and {:g} us at {:.0f}: {:.3g} times {} both", describe(row),
                       row.usText, below->second, below->first, above->second, above->first,
                       isSlow ? row.us / high : low / row.us, isSlow ? "above" : "below")});
  }
}

std::vector<LintFinding> TuningDatabase::lint(const LintOptions &options) const {
  std::vector<LintFinding> findings = malformed;
  lintTimes(options, findings);
  lintCopies(options, findings);
  lintNeighbours(options, findings);
  auto getRank = [](const LintFinding &finding) {
    return llvm::find_if(getLintRules(), [&](const LintRule &rule) { return rule.name == finding.rule; }) -
           getLintRules().begin();
  };
  llvm::sort(findings, [&](const LintFinding &a, const LintFinding &b) {
    return std::make_tuple(a.file, a.line, getRank(a), llvm::StringRef(a.message)) <
           std::make_tuple(b.file, b.line, getRank(b), llvm::StringRef(b.message));
  });
  return findings;
}

json::Value bench::toJSON(const TuningDatabase &database, llvm::ArrayRef<LintFinding> findings) {
  json::Array list;
  for (const LintFinding &finding : findings)
    list.push_back(json::Object{{"file", database.getFiles()[finding.file]},
                                {"line", int64_t(finding.line)},
                                {"rule", finding.rule},
                                {"message", finding.message}});
  return json::Object{{"schema", "atrex-mlir/lint-db/1"},
                      {"files", json::Array(database.getFiles())},
                      {"rows", int64_t(database.getRowCount())},
                      {"rows_without_rate", int64_t(database.getRowsWithoutRate())},
                      {"rows_without_peak", int64_t(database.getRowsWithoutPeak())},
                      {"findings", std::move(list)}};
}
