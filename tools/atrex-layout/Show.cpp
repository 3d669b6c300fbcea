//===- Show.cpp - Pictures of layouts -------------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"
#include "Tool.h"
#include "atrex/Layout/Text.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atrex::layout {

namespace {
/// What is shown of a picture at most, per side and in all; with --all the
/// enumeration limit counts.
struct Limits {
  bool all;
  int64_t clampRows(int64_t rows) const { return all ? rows : std::min<int64_t>(rows, 64); }
  int64_t clampColumns(int64_t columns) const { return all ? columns : std::min<int64_t>(columns, 64); }
  int64_t clampPictures(int64_t pictures) const { return all ? pictures : std::min<int64_t>(pictures, 4); }
};
} // namespace

static std::string range(StringRef what, int64_t shown, int64_t all) {
  return ("left out: " + what + " " + Twine(shown) + " to " + Twine(all - 1) + " (--all shows everything)").str();
}

static std::vector<std::string> numbers(int64_t count) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i)
    labels.push_back(std::to_string(i));
  return labels;
}

//===----------------------------------------------------------------------===//
// Coordinate to index
//===----------------------------------------------------------------------===//

/// Colours integers by their place between the smallest and the largest.
static void colorByValue(std::vector<Picture> &pictures, ArrayRef<std::vector<std::optional<int64_t>>> values) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (const auto &list : values)
    for (const std::optional<int64_t> &value : list)
      if (value) {
        low = std::min(low, *value);
        high = std::max(high, *value);
      }
  for (auto [picture, list] : zip(pictures, values)) {
    size_t i = 0;
    for (auto &row : picture.rows)
      for (Cell &cell : row) {
        const std::optional<int64_t> &value = list[i++];
        if (value)
          cell.color = getRampColor(high > low ? (double(*value) - double(low)) / (double(high) - double(low)) : 0);
      }
  }
}

static bool drawTable(const Map &map, const ShowOptions &options, std::vector<Picture> &pictures, Fault &fault) {
  Limits limits{options.all};
  Algebra algebra;
  IntTuple shape = algebra.getShape(Value(map));
  Int size = algebra.size(Value(map));
  if (algebra.failed()) {
    fault = *algebra.getFault();
    return false;
  }
  if (options.all && size.value > enumerationLimit) {
    fault = Fault{0,
                  toString(map) + " has " + std::to_string(size.value) + " values, --all shows at most " +
                      std::to_string(enumerationLimit),
                  "without --all the first rows and columns are shown"};
    return false;
  }
  unsigned rank = shape.getRank();
  auto extent = [&](unsigned mode) { return algebra.product(shape[mode]).value; };
  // One mode: a row. More than two: a picture for each coordinate of the rest.
  int64_t rows = rank == 1 ? 1 : extent(0), columns = rank == 1 ? algebra.size(Value(map)).value : extent(1);
  int64_t rest = size.value / rows / columns;
  int64_t shownRows = limits.clampRows(rows), shownColumns = limits.clampColumns(columns),
          shownRest = limits.clampPictures(rest);
  std::vector<std::vector<std::optional<int64_t>>> values;
  for (int64_t k = 0; k < shownRest; ++k) {
    Picture picture;
    std::vector<std::optional<int64_t>> list;
    std::vector<IntTuple> outer;
    int64_t index = k;
    for (unsigned mode = 2; mode < rank; ++mode) {
      outer.push_back(IntTuple(index % extent(mode)));
      index /= extent(mode);
    }
    if (rank == 1) {
      picture.columnCaption = "coordinate";
      picture.rowLabels = {"index"};
    } else {
      picture.title = "";
      if (rank > 2) {
        picture.title = "(*,*";
        for (const IntTuple &coord : outer)
          picture.title += "," + toString(coord);
        picture.title += ")";
      }
      picture.rowCaption = "mode 0";
      picture.columnCaption = "mode 1";
      picture.rowLabels = numbers(shownRows);
    }
    picture.columnLabels = numbers(shownColumns);
    for (int64_t r = 0; r < shownRows; ++r) {
      std::vector<Cell> row;
      for (int64_t c = 0; c < shownColumns; ++c) {
        std::vector<IntTuple> coord{IntTuple(r), IntTuple(c)};
        coord.insert(coord.end(), outer.begin(), outer.end());
        IntTuple value = algebra.crd2idx(rank == 1 ? IntTuple(c) : IntTuple::tuple(std::move(coord)), map);
        if (algebra.failed()) {
          fault = *algebra.getFault();
          return false;
        }
        row.push_back({toString(value), std::nullopt, false});
        bool number = value.isLeaf() && value.getLeaf().isStatic() && !value.getLeaf().isBasis();
        list.push_back(number ? std::optional<int64_t>(value.getLeaf().value) : std::nullopt);
      }
      picture.rows.push_back(std::move(row));
    }
    pictures.push_back(std::move(picture));
    values.push_back(std::move(list));
  }
  colorByValue(pictures, values);
  std::vector<std::string> &notes = pictures.back().notes;
  if (shownRows < rows)
    notes.push_back(range("rows", shownRows, rows));
  if (shownColumns < columns)
    notes.push_back(range("columns", shownColumns, columns));
  if (shownRest < rest)
    notes.push_back(range("pictures", shownRest, rest));
  return true;
}

//===----------------------------------------------------------------------===//
// Thread-value layouts
//===----------------------------------------------------------------------===//

static bool drawThreads(const Map &map, const ShowOptions &options, std::vector<Picture> &pictures, Fault &fault) {
  Limits limits{options.all};
  const Layout *tv = map.getLayout();
  if (!tv || tv->getRank() != 2 || tv->hasBasis()) {
    fault =
        Fault{25, toString(map) + " is no thread-value layout: it needs two modes, thread and value, and integers", ""};
    return false;
  }
  Algebra algebra;
  std::optional<Results> results = evaluateText(algebra, options.tile);
  const IntTuple *tile = results ? std::get_if<IntTuple>(&results->front()) : nullptr;
  if (!results) {
    fault = *algebra.getFault();
    return false;
  }
  bool good = tile && tile->getRank() <= 2;
  if (good)
    tile->walk([&](const Int &leaf) { good &= leaf.isStatic() && !leaf.isBasis() && leaf.value > 0; });
  if (!good) {
    fault = Fault{0, "--tv takes the extents of the tile such as '(16,16)', got '" + options.tile + "'", ""};
    return false;
  }
  Int size = algebra.size(Value(map)), tileSize = algebra.product(*tile);
  if (algebra.failed()) {
    fault = *algebra.getFault();
    return false;
  }
  for (int64_t count : {size.value, tileSize.value})
    if (count > enumerationLimit) {
      fault = Fault{0,
                    "a tile of " + std::to_string(tileSize.value) + " elements and " + std::to_string(size.value) +
                        " (thread, value) pairs is too large, at most " + std::to_string(enumerationLimit),
                    ""};
      return false;
    }
  int64_t rows = tile->getRank() == 1 ? 1 : algebra.product((*tile)[0]).value, columns = tileSize.value / rows;
  int64_t threads = algebra.size(Value(Map(tv->getMode(0)))).value, outside = 0;
  struct Owner {
    int64_t thread = -1, value = 0, more = 0;
  };
  std::vector<Owner> owners(tileSize.value);
  for (int64_t i = 0; i < size.value; ++i) {
    IntTuple element = algebra.crd2idx(IntTuple(i), map);
    if (algebra.failed()) {
      fault = *algebra.getFault();
      return false;
    }
    int64_t index = element.getLeaf().value;
    if (index < 0 || index >= tileSize.value) {
      ++outside;
      continue;
    }
    Owner &owner = owners[index];
    if (owner.thread >= 0)
      ++owner.more;
    else
      owner = {i % threads, i / threads, 0};
  }
  Picture picture;
  picture.title = "thread,value of every element";
  picture.rowCaption = rows > 1 ? "row" : "";
  picture.columnCaption = "column";
  int64_t shownRows = limits.clampRows(rows), shownColumns = limits.clampColumns(columns);
  picture.rowLabels = rows > 1 ? numbers(shownRows) : std::vector<std::string>{""};
  picture.columnLabels = numbers(shownColumns);
  for (int64_t r = 0; r < shownRows; ++r) {
    std::vector<Cell> row;
    for (int64_t c = 0; c < shownColumns; ++c) {
      const Owner &owner = owners[r + rows * c];
      if (owner.thread < 0) {
        row.push_back({".", std::nullopt, false});
        continue;
      }
      std::string text = std::to_string(owner.thread) + "," + std::to_string(owner.value);
      if (owner.more)
        text += "+" + std::to_string(owner.more);
      row.push_back({text, getDistinctColor(owner.thread), false});
    }
    picture.rows.push_back(std::move(row));
  }
  Algebra checker;
  bool bijection = checker.checkTV(*tv, tileSize);
  int64_t missing = count_if(owners, [](const Owner &owner) { return owner.thread < 0; });
  int64_t shared = count_if(owners, [](const Owner &owner) { return owner.more > 0; });
  if (bijection && !checker.failed())
    picture.notes.push_back("every element belongs to exactly one (thread, value)");
  if (missing)
    picture.notes.push_back("elements that belong to no thread, shown as '.': " + std::to_string(missing));
  if (shared)
    picture.notes.push_back("elements with several owners, the first and '+others': " + std::to_string(shared));
  if (outside)
    picture.notes.push_back("(thread, value) pairs outside of the tile: " + std::to_string(outside));
  if (shownRows < rows)
    picture.notes.push_back(range("rows", shownRows, rows));
  if (shownColumns < columns)
    picture.notes.push_back(range("columns", shownColumns, columns));
  pictures.push_back(std::move(picture));
  return true;
}

//===----------------------------------------------------------------------===//
// LDS accesses
//===----------------------------------------------------------------------===//

static bool drawBanks(const Map &map, const ShowOptions &options, std::vector<Picture> &pictures, Fault &fault) {
  const ChipInfo *chip = findChip(options.arch, fault);
  if (!chip)
    return false;
  LDSArrangement arrangement;
  if (!options.swizzle.empty()) {
    Algebra algebra;
    std::optional<Results> results = evaluateText(algebra, options.swizzle);
    if (!results) {
      fault = *algebra.getFault();
      return false;
    }
    auto *value = std::get_if<Map>(&results->front());
    if (!value || !value->getSwizzle()) {
      fault = Fault{0, "--swizzle takes a swizzle such as 'S<3,4,3>', got '" + options.swizzle + "'", ""};
      return false;
    }
    arrangement.swizzle = *value->getSwizzle();
  }
  bool isWrite = options.kind == "write";
  unsigned bytes = unsigned(options.width);
  std::vector<int64_t> addresses;
  SmallVector<LDSPhaseCost> phases;
  if (!arrangeLanes(map, bytes, arrangement, 1, addresses, fault))
    return false;
  std::optional<LDSCost> cost = countLDSPasses(
      *chip, addresses, isWrite, bytes, options.assume ? LDSUnknown::Assume : LDSUnknown::Refuse, fault, &phases);
  if (!cost)
    return false;
  if (!cost->isExact()) {
    fault = Fault{0, "no rule, not even an assumed one, says how " + chip->arch.str() + " serves this access", ""};
    return false;
  }
  unsigned banks = cost->rule->banks, dwords = (bytes + 3) / 4;
  auto bankOf = [&](int64_t address, unsigned dword) { return unsigned((address / 4 + dword) % banks); };

  Picture lanes, load;
  lanes.title = "lane:bank by phase, " + chip->arch.str() + ", " + std::to_string(bytes) + "-byte " +
                (isWrite ? "write" : "read") + (arrangement.isPlain() ? "" : ", " + atrex::toString(arrangement));
  lanes.rowCaption = "phase";
  lanes.columnCaption = "lane of the phase (bank: of the first dword)";
  lanes.columnLabels = numbers(8);
  load.title = "distinct dwords per bank";
  load.rowCaption = "phase";
  load.columnCaption = "bank";
  load.columnLabels = numbers(banks);
  for (auto [p, phase] : enumerate(phases)) {
    std::vector<std::vector<int64_t>> inBank(banks);
    for (unsigned lane = 0; lane < ldsLanes; ++lane)
      if (phase.lanes >> lane & 1)
        for (unsigned d = 0; d < dwords; ++d) {
          auto &list = inBank[bankOf(addresses[lane], d)];
          if (!is_contained(list, addresses[lane] / 4 + d))
            list.push_back(addresses[lane] / 4 + d);
        }
    std::string note = phase.passes == 1 ? "1 pass" : std::to_string(phase.passes) + " passes";
    std::vector<Cell> row;
    bool first = true;
    auto flush = [&](bool last) {
      lanes.rowLabels.push_back(first ? std::to_string(p) : "");
      lanes.rowNotes.push_back(last ? note : "");
      lanes.rows.push_back(std::move(row));
      row.clear();
      first = false;
    };
    for (unsigned lane = 0; lane < ldsLanes; ++lane) {
      if (!(phase.lanes >> lane & 1))
        continue;
      if (row.size() == 8)
        flush(false);
      unsigned bank = bankOf(addresses[lane], 0);
      bool conflict = false;
      for (unsigned d = 0; d < dwords; ++d)
        conflict |= inBank[bankOf(addresses[lane], d)].size() > 1;
      row.push_back({std::to_string(lane) + ":" + std::to_string(bank), getWheelColor(bank, banks), conflict});
    }
    flush(true);
    load.rowLabels.push_back(std::to_string(p));
    load.rowNotes.push_back(note);
    for (unsigned bank = 0; bank < banks; ++bank) {
      size_t count = inBank[bank].size();
      row.push_back({count ? std::to_string(count) : ".",
                     count ? std::optional<Color>(getWheelColor(bank, banks)) : std::nullopt, count > 1});
    }
    load.rows.push_back(std::move(row));
  }
  load.notes.push_back(std::to_string(cost->low) + " passes, " + std::to_string(cost->minimum) + " without conflicts" +
                       (cost->getExtra() ? "; conflicts are marked" : ""));
  if (cost->rule->evidence != LDSEvidence::Measured)
    load.notes.push_back((getName(cost->rule->evidence) + " rule: " + cost->rule->origin).str());
  pictures.push_back(std::move(lanes));
  pictures.push_back(std::move(load));
  return true;
}

int runShow(const ShowOptions &options) {
  if (options.expression.empty())
    return reportUsage("show takes an expression");
  if (options.lds && !options.tile.empty())
    return reportUsage("show takes --tv or --lds, not both");
  if (options.lds && (options.arch.empty() || options.width < 1 || options.width > 16))
    return reportUsage("show --lds needs --arch and --width (1 to 16 bytes)");
  if (!options.lds && (!options.arch.empty() || options.width || !options.swizzle.empty()))
    return reportUsage("--arch, --width and --swizzle belong to show --lds");
  if (!options.kind.empty() && options.kind != "read" && options.kind != "write")
    return reportUsage("--kind is read or write");
  Algebra algebra;
  std::optional<Results> results = evaluateText(algebra, options.expression);
  if (!results)
    return reportFault(*algebra.getFault());
  auto *map = std::get_if<Map>(&results->front());
  if (!map)
    return reportFault({0, "show needs a layout, '" + options.expression + "' is " + toString(*results), ""});
  if (map->getSwizzle() || map->getCoordSwizzle())
    return reportFault({0, "swizzle " + toString(*map) + " has no domain to show", "write 'SWIZZLE o 0 o LAYOUT'"});
  if (!isStatic(Value(*map)))
    return reportFault({13, toString(*map) + " is dynamic; only static layouts can be shown", ""});
  Fault fault;
  std::vector<Picture> pictures;
  bool drawn = options.lds             ? drawBanks(*map, options, pictures, fault)
               : !options.tile.empty() ? drawThreads(*map, options, pictures, fault)
                                       : drawTable(*map, options, pictures, fault);
  if (!drawn)
    return reportFault(fault);
  if (results->size() > 1)
    pictures.back().notes.push_back("the offset " + toString((*results)[1]) + " is not added");
  if (!options.svg.empty()) {
    std::vector<Picture> titled = pictures;
    titled.front().title = toString(*results) + (titled.front().title.empty() ? "" : "  " + titled.front().title);
    if (llvm::Error error = writeFile(options.svg, drawSVG(titled))) {
      errs() << "error: " << llvm::toString(std::move(error)) << '\n';
      return 1;
    }
    if (options.svg == "-")
      return 0;
  }
  bool colors = options.ansi || (outs().is_displayed() && outs().has_colors());
  outs() << toString(*results) << '\n';
  for (auto [i, picture] : enumerate(pictures)) {
    if (i)
      outs() << '\n';
    printPicture(outs(), picture, colors, options.all ? SIZE_MAX : 4);
  }
  return 0;
}

} // namespace atrex::layout
