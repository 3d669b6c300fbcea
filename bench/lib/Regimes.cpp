//===- Regimes.cpp - Which knobs for which shapes -------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Regimes.h"
#include "atrex/Bench/Catalogue.h"
#include "fmt/format.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace atrex;
using namespace atrex::bench;

std::string Regime::str() const {
  std::string text;
  if (!program.empty())
    text += fmt::format("program={}", program);
  for (const auto &[name, value] : knobs)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  if (!schedule.empty())
    text += fmt::format("{}schedule={}", text.empty() ? "" : " ", schedule);
  for (const std::string &setting : settings)
    text += fmt::format("{}{}", text.empty() ? "" : " ", setting);
  return text;
}

static llvm::Expected<ManifestConstraint> parseCondition(llvm::StringRef text) {
  for (llvm::StringRef op : {"==", "!=", "<=", ">=", "<", ">"}) {
    auto [left, right] = text.split(op);
    if (right.empty())
      continue;
    ManifestConstraint condition;
    condition.op = op.str();
    for (auto [side, expr] : {std::pair(left, &condition.lhs), std::pair(right, &condition.rhs)}) {
      llvm::Expected<DimExpr> parsed = DimExpr::parse(side.trim());
      if (!parsed)
        return parsed.takeError();
      *expr = *parsed;
    }
    return condition;
  }
  return makeError(fmt::format("'{}' is not a comparison such as 'T <= 64'", text.str()));
}

static llvm::Expected<Regime> parseRegime(llvm::StringRef text) {
  Regime regime;
  auto [conditions, settings] = text.split(':');
  if (conditions.size() == text.size())
    return makeError("a ':' must stand between conditions and settings");
  if (conditions.trim() != "else") {
    llvm::SmallVector<llvm::StringRef> parts;
    conditions.split(parts, ',');
    for (llvm::StringRef part : parts) {
      llvm::Expected<ManifestConstraint> condition = parseCondition(part.trim());
      if (!condition)
        return condition.takeError();
      regime.conditions.push_back(std::move(*condition));
    }
  }
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(settings, words);
  for (llvm::StringRef word : words) {
    auto [name, value] = word.split('=');
    if (name.empty() || value.empty())
      return makeError(fmt::format("'{}' is not a setting such as 'BM=64'", word.str()));
    if (name == "program") {
      if (!regime.program.empty())
        return makeError("'program' is given twice");
      regime.program = value.str();
      continue;
    }
    if (name == "schedule") {
      if (!regime.schedule.empty())
        return makeError("'schedule' is given twice");
      if (value.contains('/'))
        return makeError(fmt::format("schedule '{}' must be the name of a file beside this one", value.str()));
      regime.schedule = value.str();
    } else if (name.contains('.')) {
      if (llvm::any_of(regime.settings, [&](llvm::StringRef other) { return other.split('=').first == name; }))
        return makeError(fmt::format("option '{}' is given twice", name.str()));
      regime.settings.push_back(word.str());
    } else if (!regime.knobs.emplace(name.str(), value.str()).second) {
      return makeError(fmt::format("knob '{}' is given twice", name.str()));
    }
  }
  return regime;
}

llvm::Expected<std::vector<Regime>> bench::parseRegimes(llvm::StringRef text, llvm::StringRef path) {
  std::vector<Regime> regimes;
  for (unsigned number = 1; !text.empty(); ++number) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.take_front(line.find('#')).trim();
    if (line.empty())
      continue;
    llvm::Expected<Regime> regime = parseRegime(line);
    if (!regime)
      return makeError(fmt::format("{}:{}: {}", path.str(), number, llvm::toString(regime.takeError())));
    if (!regimes.empty() && regimes.back().conditions.empty())
      return makeError(
          fmt::format("{}:{}: nothing gets behind the 'else' of line {}", path.str(), number, regimes.back().line));
    regime->line = number;
    regimes.push_back(std::move(*regime));
  }
  if (regimes.empty())
    return makeError(fmt::format("{}: there is no regime in the file", path.str()));
  return regimes;
}

llvm::Expected<const Regime *> bench::chooseRegime(const std::vector<Regime> &regimes, const DimMap &dims,
                                                   llvm::StringRef path) {
  for (const Regime &regime : regimes) {
    bool all = true;
    for (const ManifestConstraint &condition : regime.conditions) {
      llvm::Expected<bool> met = condition.evaluate(dims);
      if (!met)
        return makeError(fmt::format("{}:{}: {}", path.str(), regime.line, llvm::toString(met.takeError())));
      all &= *met;
    }
    if (all)
      return &regime;
  }
  return makeError(fmt::format("{}: no regime holds for this shape; end with a line 'else: ...'", path.str()));
}
