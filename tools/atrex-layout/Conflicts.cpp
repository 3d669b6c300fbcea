//===- Conflicts.cpp - Bank conflicts of the accesses of a tile -----------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "atrex/Layout/Text.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Options to values
//===----------------------------------------------------------------------===//

static bool evaluateMap(StringRef text, Map &map, Fault &fault) {
  Algebra algebra;
  std::optional<Results> results = evaluateText(algebra, text);
  if (!results) {
    fault = *algebra.getFault();
    return false;
  }
  auto *value = std::get_if<Map>(&results->front());
  if (!value || results->size() != 1) {
    fault = Fault{0, "'" + text.str() + "' is no layout but " + toString(*results), "a layout is 'shape:stride'"};
    return false;
  }
  map = *value;
  return true;
}

/// "ROWSxBYTES", both numbers.
static bool parseRows(StringRef text, int64_t &rows, int64_t &bytes) {
  auto [left, right] = text.split('x');
  return !left.trim().getAsInteger(10, rows) && !right.trim().getAsInteger(10, bytes);
}

namespace {
struct AccessText {
  bool isWrite, isThreadValue;
  StringRef layout;
  unsigned bytes;
  std::string name;
};
} // namespace

/// "LAYOUT:WIDTH" or "tv LAYOUT:WIDTH".
static bool parseAccess(StringRef text, bool isWrite, AccessText &access) {
  auto [layout, width] = text.rsplit(':');
  access.isWrite = isWrite;
  layout = layout.trim();
  access.isThreadValue = layout.consume_front("tv ");
  access.layout = layout.trim();
  access.name = ((isWrite ? "write " : "read ") + text.trim()).str();
  return !access.layout.empty() && !width.trim().getAsInteger(10, access.bytes) && access.bytes > 0 &&
         access.bytes <= 16;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static std::string getPasses(const LDSCost &cost) {
  return cost.isExact() ? std::to_string(cost.low) : (Twine(cost.low) + " to " + Twine(cost.high)).str();
}

static std::string getWorst(const LDSCost &cost) {
  if (!cost.getExtra())
    return "";
  std::string where = cost.instructions > 1 ? ("instruction " + Twine(cost.worstInstruction) + ", ").str() : "";
  return where + ("phase " + Twine(cost.worstPhase) + ": " + Twine(cost.worst.passes) + " dwords in bank " +
                  Twine(cost.worst.bank))
                     .str();
}

/// Prints columns as wide as their widest entry; numbers to the right.
static void printTable(raw_ostream &os, ArrayRef<std::vector<std::string>> rows, StringRef alignment) {
  std::vector<size_t> widths(alignment.size());
  for (const auto &row : rows)
    for (auto [i, text] : enumerate(row))
      widths[i] = std::max(widths[i], text.size());
  for (const auto &row : rows) {
    std::string line;
    raw_string_ostream text(line);
    for (auto [i, cell] : enumerate(row)) {
      if (i)
        text << "  ";
      if (alignment[i] == 'r')
        text << right_justify(cell, widths[i]);
      else
        text << left_justify(cell, widths[i]);
    }
    os << StringRef(line).rtrim() << '\n';
  }
}

static StringRef getRule(const LDSCost &cost) { return cost.isExact() ? getName(cost.rule->evidence) : "unknown"; }

static void writeCost(json::OStream &json, const LDSAccess &access, const LDSCost &cost) {
  json.object([&] {
    json.attribute("access", access.name);
    json.attribute("kind", access.isWrite ? "write" : "read");
    json.attribute("width", int64_t(access.bytes));
    json.attribute("instructions", cost.instructions);
    json.attribute("rule", getRule(cost));
    if (cost.isExact()) {
      json.attribute("passes", cost.low);
      json.attribute("minimum", cost.minimum);
      json.attribute("extra", cost.getExtra());
      json.attributeObject("worst", [&] {
        json.attribute("instruction", cost.worstInstruction);
        json.attribute("phase", cost.worstPhase);
        json.attribute("bank", int64_t(cost.worst.bank));
        json.attribute("passes", int64_t(cost.worst.passes));
      });
    } else {
      json.attribute("passes_at_least", cost.low);
      json.attribute("passes_at_most", cost.high);
    }
  });
}

static void writeArrangement(json::OStream &json, const LDSTile &tile, const LDSArrangement &arrangement,
                             int64_t alignment) {
  json.attribute("pad", arrangement.pad);
  if (arrangement.swizzle.isIdentity())
    json.attribute("swizzle", nullptr);
  else
    json.attribute("swizzle", toString(arrangement.swizzle));
  json.attribute("footprint", getLDSFootprint(tile, arrangement));
  json.attribute("base_alignment", getLDSBaseAlignment(arrangement, alignment));
}

int runConflicts(const ConflictOptions &options) {
  Fault fault;
  if (options.arch.empty())
    return reportUsage("conflicts needs --arch");
  if (options.writes.empty() && options.reads.empty())
    return reportUsage("conflicts needs at least one --read or --write 'LAYOUT:WIDTH'");
  std::vector<AccessText> texts;
  for (bool isWrite : {true, false})
    for (const std::string &text : isWrite ? options.writes : options.reads) {
      AccessText access;
      if (!parseAccess(text, isWrite, access))
        return reportUsage("expected 'LAYOUT:WIDTH' or 'tv LAYOUT:WIDTH' with a width of 1 to 16 bytes, got '" + text +
                           "'");
      texts.push_back(access);
    }
  const ChipInfo *chip = findChip(options.arch, fault);
  if (!chip)
    return reportFault(fault);

  // The tile; without one, as many bytes as the accesses reach.
  std::optional<LDSTile> tile;
  if (!options.tile.empty()) {
    int64_t rows = 0, rowBytes = 0;
    if (parseRows(options.tile, rows, rowBytes)) {
      tile = makeLDSTile(rows, rowBytes, fault);
    } else {
      Map elements;
      if (!evaluateMap(options.tile, elements, fault)) {
        fault.text = "--tile '" + options.tile + "': " + fault.text;
        fault.note += fault.note.empty() ? "a tile is 'ROWSxBYTES' or a layout of elements with --bits" : "";
        return reportFault(fault);
      }
      if (!options.bits)
        return reportUsage("a tile given as a layout needs --bits, the width of an element");
      tile = makeLDSTile(elements, options.bits, fault);
    }
    if (!tile)
      return reportFault(fault);
  }
  std::vector<LDSAccess> accesses;
  for (const AccessText &text : texts) {
    Map map;
    std::optional<LDSAccess> access;
    if (evaluateMap(text.layout, map, fault)) {
      if (!text.isThreadValue)
        access = makeLDSAccess(text.name, text.isWrite, text.bytes, map, fault);
      else if (!tile || !tile->elements)
        return reportUsage("a 'tv' access needs --tile with a layout of elements");
      else if (const Layout *plain = map.getLayout())
        access = makeLDSAccess(text.name, text.isWrite, text.bytes, *plain, *tile, fault);
      else
        fault = Fault{25, "thread-value layout " + toString(map) + " is not a plain layout", ""};
    }
    if (!access) {
      fault.text = text.name + ": " + fault.text;
      return reportFault(fault);
    }
    accesses.push_back(std::move(*access));
  }
  if (!tile) {
    int64_t bytes = 1;
    for (const LDSAccess &access : accesses)
      for (int64_t offset : access.offsets)
        bytes = std::max(bytes, offset > INT64_MAX - 16 ? INT64_MAX : offset + int64_t(access.bytes));
    tile = makeLDSTile(1, bytes, fault);
  }

  LDSArrangement arrangement;
  arrangement.pad = options.pad;
  if (!options.swizzle.empty()) {
    Map map;
    if (!evaluateMap(options.swizzle, map, fault))
      return reportFault(fault);
    const Swizzle *swizzle = map.getSwizzle();
    if (!swizzle)
      return reportUsage("--swizzle takes a swizzle such as 'S<3,4,3>', got '" + options.swizzle + "'");
    arrangement.swizzle = *swizzle;
  }
  LDSUnknown unknown = options.assume ? LDSUnknown::Assume : LDSUnknown::Bound;
  std::vector<LDSCost> costs;
  int64_t alignment = 4;
  for (const LDSAccess &access : accesses) {
    std::optional<LDSCost> cost = countLDSAccess(*chip, *tile, arrangement, access, unknown, fault);
    if (!cost)
      return reportFault(fault);
    costs.push_back(*cost);
    alignment = std::max<int64_t>(alignment, access.bytes == 12 ? 16 : access.bytes);
  }
  std::optional<LDSSolution> solution;
  if (options.solve) {
    solution = solveLDSConflicts(*chip, *tile, accesses, unknown, fault, arrangement);
    if (!solution)
      return reportFault(fault);
  }

  if (!options.json.empty()) {
    std::string text;
    raw_string_ostream os(text);
    json::OStream json(os, 2);
    json.object([&] {
      json.attribute("arch", chip->arch);
      json.attribute("banks", int64_t(chip->ldsBanks));
      json.attributeObject("tile", [&] {
        json.attribute("rows", tile->rows);
        json.attribute("row_bytes", tile->rowBytes);
      });
      json.attributeObject("arrangement", [&] { writeArrangement(json, *tile, arrangement, alignment); });
      json.attributeArray("accesses", [&] {
        for (auto [access, cost] : zip(accesses, costs))
          writeCost(json, access, cost);
      });
      if (solution)
        json.attributeObject("solution", [&] {
          writeArrangement(json, *tile, solution->arrangement, alignment);
          json.attribute("extra_before", solution->getExtraBefore());
          json.attribute("extra_after", solution->getExtraAfter());
          json.attribute("candidates", int64_t(solution->candidates));
          json.attribute("counted", int64_t(solution->counted));
          json.attributeArray("accesses", [&] {
            for (auto [access, cost] : zip(accesses, solution->after))
              writeCost(json, access, cost);
          });
        });
    });
    os << '\n';
    if (llvm::Error error = writeFile(options.json, text)) {
      errs() << "error: " << llvm::toString(std::move(error)) << '\n';
      return 1;
    }
    if (options.json == "-")
      return 0;
  }

  raw_ostream &os = outs();
  os << chip->arch << ": " << chip->ldsBanks << " banks of 4 bytes\n";
  os << "tile: " << tile->rows << (tile->rows == 1 ? " row of " : " rows of ") << tile->rowBytes
     << " bytes, arrangement: " << toString(arrangement) << "\n\n";
  std::vector<std::vector<std::string>> rows{{"access", "rule", "instr", "passes", "minimum", "extra", "worst phase"}};
  for (auto [access, cost] : zip(accesses, costs))
    rows.push_back({access.name, getRule(cost).str(), std::to_string(cost.instructions), getPasses(cost),
                    cost.isExact() ? std::to_string(cost.minimum) : "?",
                    cost.isExact() ? std::to_string(cost.getExtra()) : "?", getWorst(cost)});
  printTable(os, rows, "llrrrrl");
  // What stands behind figures that nobody measured.
  for (auto [access, cost] : zip(accesses, costs)) {
    if (!cost.isExact()) {
      const LDSRule *rule = chip->lookupLDSRule(access.isWrite, access.bytes);
      os << "note: " << access.name << ": not measured on " << chip->arch << ", bounds for any phases";
      if (rule)
        os << "; --assume takes " << rule->origin;
      os << '\n';
    } else if (cost.rule->evidence != LDSEvidence::Measured) {
      os << "note: " << access.name << ": " << getName(cost.rule->evidence) << ": " << cost.rule->origin << '\n';
    }
  }
  if (!solution)
    return 0;
  os << "\nsolution: " << toString(solution->arrangement) << '\n';
  os << "  LDS: " << solution->footprint << " bytes (" << getLDSFootprint(*tile, arrangement)
     << " before), base address a multiple of " << solution->baseAlignment << '\n';
  os << "  extra passes: " << solution->getExtraBefore() << " before, " << solution->getExtraAfter() << " after\n\n";
  rows = {{"access", "before", "after", "minimum"}};
  for (auto [i, access] : enumerate(accesses))
    rows.push_back({access.name, getPasses(solution->before[i]), getPasses(solution->after[i]),
                    solution->after[i].isExact() ? std::to_string(solution->after[i].minimum) : "?"});
  printTable(os, rows, "lrrr");
  os << "searched: " << solution->candidates << " arrangements (bits up to " << ldsMaxSwizzleBits << ", base up to "
     << ldsMaxSwizzleBase << ", shift up to " << ldsMaxSwizzleShift
     << (tile->rows > 1 ? ", padding up to one round of the banks" : "") << ")\n";
  if (tile->rows == 1)
    os << "note: padding was not considered: --tile names no rows\n";
  return 0;
}

} // namespace atrex::layout
