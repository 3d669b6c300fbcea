//===- LDSBanksTest.cpp - Bank conflicts against enumeration --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counter here is a second implementation with phases of its own: sets of
// dwords per bank, dword by dword.
//
//===----------------------------------------------------------------------===//

#include "atrex/Analysis/LDSBanks.h"
#include "atrex/Layout/Text.h"
#include "gtest/gtest.h"
#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace atrex;
using namespace atrex::layout;
using llvm::StringRef;

namespace {

struct Phases {
  int64_t banks;
  std::vector<std::vector<int>> lanes;
};

std::vector<std::vector<int>> consecutive(int count) {
  std::vector<std::vector<int>> phases;
  for (int first = 0; first < 64; first += count) {
    phases.emplace_back(count);
    std::iota(phases.back().begin(), phases.back().end(), first);
  }
  return phases;
}

/// The groups of lanes 0 to 31, and the same of lanes 32 to 63.
std::vector<std::vector<int>> doubled(std::vector<std::vector<int>> phases) {
  size_t count = phases.size();
  for (size_t i = 0; i < count; ++i) {
    phases.push_back(phases[i]);
    for (int &lane : phases.back())
      lane += 32;
  }
  return phases;
}

/// The measured rules.
std::optional<Phases> getPhases(StringRef arch, bool isWrite, unsigned bytes) {
  auto groups8 = doubled({{0, 1, 2, 3, 20, 21, 22, 23},
                          {4, 5, 6, 7, 16, 17, 18, 19},
                          {8, 9, 10, 11, 28, 29, 30, 31},
                          {12, 13, 14, 15, 24, 25, 26, 27}});
  auto groups16 = doubled({{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
                           {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31}});
  if (arch == "gfx942" && !isWrite)
    switch (bytes) {
    case 4:
      return Phases{32, consecutive(32)};
    case 8:
      return Phases{32, consecutive(16)};
    case 16:
      return Phases{32, groups8};
    }
  if (arch == "gfx942" && isWrite)
    switch (bytes) {
    case 8:
      return Phases{32, consecutive(16)};
    case 16:
      return Phases{32, consecutive(8)};
    }
  if (arch == "gfx950" && !isWrite)
    switch (bytes) {
    case 4:
      return Phases{64, consecutive(64)};
    case 8:
      return Phases{64, consecutive(32)};
    case 12:
      return Phases{32, groups8};
    case 16:
      return Phases{64, groups16};
    }
  if (arch == "gfx950" && isWrite && bytes == 8)
    return Phases{32, consecutive(16)};
  return std::nullopt;
}

int64_t countByHand(const Phases &phases, const std::vector<int64_t> &addresses, unsigned bytes) {
  int64_t total = 0;
  for (const std::vector<int> &lanes : phases.lanes) {
    std::map<int64_t, std::set<int64_t>> banks;
    for (int lane : lanes)
      for (int64_t dword = addresses[lane] / 4; dword * 4 < addresses[lane] + int64_t(bytes); ++dword)
        banks[dword % phases.banks].insert(dword);
    size_t largest = 0;
    for (auto &[bank, dwords] : banks)
      largest = std::max(largest, dwords.size());
    total += int64_t(largest);
  }
  return total;
}

Map parseMap(StringRef text) {
  llvm::Expected<Value> value = parse(text);
  EXPECT_TRUE(bool(value)) << text.str();
  return std::get<Map>(*value);
}

/// Addresses of lanes (l mod rows, l div rows) in rows of `pitch` bytes.
std::vector<int64_t> rowPattern(int64_t rows, int64_t pitch, int64_t bytes, Swizzle swizzle) {
  std::vector<int64_t> addresses;
  for (int64_t lane = 0; lane < 64; ++lane)
    addresses.push_back(swizzle(lane % rows * pitch + lane / rows * bytes));
  return addresses;
}

int64_t passes(StringRef arch, const std::vector<int64_t> &addresses, unsigned bytes, bool isWrite = false) {
  Fault fault;
  std::optional<LDSCost> cost = countLDSPasses(*lookupChip(arch), addresses, isWrite, bytes, LDSUnknown::Refuse, fault);
  EXPECT_TRUE(cost.has_value()) << fault.text;
  return cost ? cost->low : -1;
}

/// A fault of counting one access.
Fault faultOf(StringRef chip, const std::vector<int64_t> &addresses, unsigned bytes, bool isWrite = false) {
  Fault fault;
  EXPECT_FALSE(countLDSPasses(*lookupChip(chip), addresses, isWrite, bytes, LDSUnknown::Refuse, fault).has_value());
  return fault;
}

} // namespace

TEST(LDSRules, PhasesHoldEveryLaneOnce) {
  unsigned rules = 0;
  for (const ChipInfo &chip : getChips())
    for (const LDSRule &rule : chip.ldsRules) {
      uint64_t all = 0;
      for (uint64_t phase : rule.phases) {
        EXPECT_EQ(all & phase, 0u);
        all |= phase;
      }
      EXPECT_EQ(all, ~0ull) << chip.name.str() << ' ' << rule.isWrite << ' ' << rule.bytes;
      EXPECT_TRUE(rule.banks == 32 || rule.banks == 64);
      EXPECT_FALSE(rule.origin.empty());
      ++rules;
    }
  EXPECT_GE(rules, 40u);
}

TEST(LDSRules, MeasuredRulesAreThose) {
  for (StringRef arch : {"gfx942", "gfx950"})
    for (bool isWrite : {false, true})
      for (unsigned bytes : {1u, 2u, 4u, 8u, 12u, 16u}) {
        const LDSRule *rule = lookupChip(arch)->lookupLDSRule(isWrite, bytes);
        std::optional<Phases> known = getPhases(arch, isWrite, bytes);
        bool measured = rule && rule->evidence == LDSEvidence::Measured;
        EXPECT_EQ(measured, known.has_value()) << arch.str() << ' ' << isWrite << ' ' << bytes;
      }
  // Lanes that write parts of one dword: no rule at all.
  EXPECT_EQ(lookupChip("gfx942")->lookupLDSRule(true, 1), nullptr);
  EXPECT_EQ(lookupChip("gfx950")->lookupLDSRule(true, 2), nullptr);
}

TEST(LDSCount, AgreesWithSetsOfDwords) {
  std::mt19937_64 random(1);
  unsigned compared = 0, conflicts = 0;
  for (StringRef arch : {"gfx942", "gfx950"})
    for (bool isWrite : {false, true})
      for (unsigned bytes : {4u, 8u, 12u, 16u}) {
        std::optional<Phases> phases = getPhases(arch, isWrite, bytes);
        if (!phases)
          continue;
        int64_t step = bytes == 12 ? 16 : bytes;
        for (int round = 0; round < 300; ++round) {
          // Narrow ranges give broadcasts, wide ones conflicts; far ones 64 bits.
          int64_t range = int64_t(1) << (round % 12), base = round % 7 == 0 ? (int64_t(1) << 40) : 0;
          std::vector<int64_t> addresses;
          for (int lane = 0; lane < 64; ++lane)
            addresses.push_back(base + int64_t(random() % uint64_t(range)) * step);
          Fault fault;
          llvm::SmallVector<LDSPhaseCost> costs;
          std::optional<LDSCost> cost =
              countLDSPasses(*lookupChip(arch), addresses, isWrite, bytes, LDSUnknown::Refuse, fault, &costs);
          ASSERT_TRUE(cost.has_value()) << fault.text;
          EXPECT_EQ(cost->low, countByHand(*phases, addresses, bytes));
          EXPECT_EQ(cost->high, cost->low);
          EXPECT_EQ(cost->minimum, int64_t(phases->lanes.size()));
          // The phases add up, and the named bank is one that needs the passes.
          int64_t sum = 0;
          ASSERT_EQ(costs.size(), phases->lanes.size());
          for (const LDSPhaseCost &phase : costs) {
            sum += phase.passes;
            std::set<int64_t> dwords;
            for (int lane = 0; lane < 64; ++lane)
              if (phase.lanes >> lane & 1)
                for (int64_t d = addresses[lane] / 4; d * 4 < addresses[lane] + bytes; ++d)
                  if (d % phases->banks == phase.bank)
                    dwords.insert(d);
            EXPECT_EQ(dwords.size(), phase.passes);
          }
          EXPECT_EQ(sum, cost->low);
          ++compared;
          conflicts += cost->getExtra() > 0;
        }
      }
  EXPECT_EQ(compared, 10u * 300);
  EXPECT_GT(conflicts, 1000u);
}

TEST(LDSCount, BoundsHoldForEveryRule) {
  std::mt19937_64 random(2);
  // A chip of which nothing but an unrelated rule is known.
  static const LDSRule unrelated = {true, 1, 32, {}, LDSEvidence::Measured, "test"};
  for (StringRef arch : {"gfx942", "gfx950"})
    for (const LDSRule &rule : lookupChip(arch)->ldsRules) {
      ChipInfo blind = *lookupChip(arch);
      blind.ldsRules = unrelated;
      for (int round = 0; round < 100; ++round) {
        std::vector<int64_t> addresses;
        for (int lane = 0; lane < 64; ++lane)
          addresses.push_back(int64_t(random() % (1ull << (round % 10))) * rule.getAlignment());
        Fault fault;
        auto bound = countLDSPasses(blind, addresses, rule.isWrite, rule.bytes, LDSUnknown::Bound, fault);
        auto exact = countLDSPasses(*lookupChip(arch), addresses, rule.isWrite, rule.bytes, LDSUnknown::Assume, fault);
        ASSERT_TRUE(bound && exact) << fault.text;
        EXPECT_FALSE(bound->isExact());
        EXPECT_LE(bound->low, exact->low);
        EXPECT_GE(bound->high, exact->low);
      }
    }
}

TEST(LDSCount, TableOfRows) {
  struct Row {
    int64_t pitch;
    Swizzle swizzle;
    int64_t gfx942, gfx950;
  };
  for (const Row &row : {Row{64, {}, 16, 8}, Row{64, {2, 4, 3}, 8, 4}, Row{128, {}, 32, 16}, Row{128, {2, 4, 3}, 16, 8},
                         Row{128, {3, 4, 3}, 8, 4}, Row{256, {}, 32, 32}, Row{256, {3, 4, 4}, 8, 8},
                         Row{256, {4, 4, 4}, 8, 4}, Row{144, {}, 16, 8}}) {
    std::vector<int64_t> addresses = rowPattern(16, row.pitch, 16, row.swizzle);
    EXPECT_EQ(passes("gfx942", addresses, 16), row.gfx942) << row.pitch;
    EXPECT_EQ(passes("gfx950", addresses, 16), row.gfx950) << row.pitch;
  }
}

TEST(LDSCount, ClosedFormReachesTheMinimum) {
  for (int r = 6; r <= 10; ++r) {
    int64_t pitch = int64_t(1) << r;
    Swizzle small{std::min(3, r - 4), 4, std::max(r, 7) - 4}, large{std::min(4, r - 4), 4, std::max(r, 7) - 4};
    EXPECT_EQ(passes("gfx942", rowPattern(16, pitch, 16, small), 16), 8) << r;
    EXPECT_EQ(passes("gfx942", rowPattern(32, pitch, 16, small), 16), 8) << r;
    EXPECT_EQ(passes("gfx950", rowPattern(16, pitch, 16, large), 16), 4) << r;
  }
  // 32 rows on gfx950: rows of 64 and 128 bytes need another shift, which for
  // rows of 64 bytes is not the best for 16 rows.
  for (auto [pitch, swizzle] : {std::pair(64, Swizzle{2, 4, 4}), std::pair(128, Swizzle{3, 4, 4})}) {
    EXPECT_EQ(passes("gfx950", rowPattern(32, pitch, 16, swizzle), 16), 4);
    EXPECT_GT(passes("gfx950", rowPattern(32, pitch, 16, {swizzle.bits, 4, 3}), 16), 4);
  }
  EXPECT_GT(passes("gfx950", rowPattern(16, 64, 16, {2, 4, 4}), 16), 4);
}

TEST(LDSCount, StridesOfDwords) {
  // Conflict-free iff the stride in dwords and the banks have no common factor.
  for (int64_t stride = 1; stride <= 130; ++stride) {
    std::vector<int64_t> addresses = rowPattern(64, stride * 4, 0, {});
    EXPECT_EQ(passes("gfx942", addresses, 4), 2 * std::gcd(stride, int64_t(32)));
    EXPECT_EQ(passes("gfx950", addresses, 4), std::gcd(stride, int64_t(64)));
  }
}

TEST(LDSCount, Faults) {
  std::vector<int64_t> good = rowPattern(64, 16, 0, {}), skewed = rowPattern(64, 20, 0, {}), negative = good;
  negative[5] = -16;
  Fault fault = faultOf("gfx942", skewed, 16);
  EXPECT_EQ(fault.constraint, 27u);
  EXPECT_EQ(fault.text, "lane 1: address 20 is not a multiple of 16");
  EXPECT_EQ(faultOf("gfx942", negative, 16).constraint, 26u);
  EXPECT_EQ(faultOf("gfx942", good, 3).constraint, 27u);
  EXPECT_EQ(faultOf("gfx942", good, 0).constraint, 27u);
  EXPECT_EQ(faultOf("H20", good, 16).constraint, 32u);
  EXPECT_NE(faultOf("gfx950", good, 16, true).text.find("has not been measured"), std::string::npos);
  EXPECT_NE(faultOf("gfx942", good, 12).text.find("12-byte read"), std::string::npos);
  EXPECT_NE(faultOf("gfx942", good, 1, true).note.find("no rule"), std::string::npos);
  good.pop_back();
  EXPECT_NE(faultOf("gfx942", good, 16).text.find("got 63"), std::string::npos);
}

TEST(LDSTile, Rows) {
  Fault fault;
  struct Case {
    const char *layout;
    int64_t bits, rows, rowBytes;
  };
  for (const Case &c : {Case{"(16,32):(32,1)", 16, 16, 64}, Case{"(16,32):(1,16)", 16, 32, 32},
                        Case{"(16,32):(40,1)", 16, 16, 80}, Case{"((4,4),32):((1,128),4)", 8, 1, 512},
                        Case{"512:1", 4, 1, 256}, Case{"S<3,3,3> o 0 o (8,64):(64,1)", 16, 1, 1024}}) {
    std::optional<LDSTile> tile = makeLDSTile(parseMap(c.layout), c.bits, fault);
    ASSERT_TRUE(tile.has_value()) << c.layout << ": " << fault.text;
    EXPECT_EQ(tile->rows, c.rows) << c.layout;
    EXPECT_EQ(tile->rowBytes, c.rowBytes) << c.layout;
  }
  for (const char *text : {"(?,8):(8,1)", "(4,8):(1E0,1E1)", "S<3,3,3>", "(1000,1000):(1000,1)", "(4,8):(-1,4)",
                           "(2,2):(1,4611686018427387904)", "(0,8):(8,1)"})
    EXPECT_FALSE(makeLDSTile(parseMap(text), 16, fault).has_value()) << text;
  EXPECT_FALSE(makeLDSTile(parseMap("8:1"), 0, fault).has_value());
  EXPECT_FALSE(makeLDSTile(0, 128, fault).has_value());
  EXPECT_FALSE(makeLDSTile(int64_t(1) << 40, int64_t(1) << 40, fault).has_value());
}

TEST(LDSAccess, ThreadValue) {
  Fault fault;
  std::optional<LDSTile> tile = makeLDSTile(parseMap("(16,32):(32,1)"), 16, fault);
  ASSERT_TRUE(tile.has_value());
  // 16x16x32: row = lane mod 16, 8 consecutive k from 8 * (lane div 16).
  Layout tv = *parseMap("((16,4),8):((1,128),16)").getLayout();
  std::optional<LDSAccess> access = makeLDSAccess("A", false, 16, tv, *tile, fault);
  ASSERT_TRUE(access.has_value()) << fault.text;
  EXPECT_EQ(access->offsets, rowPattern(16, 64, 16, {}));
  // Half as wide: two instructions.
  access = makeLDSAccess("A", false, 8, tv, *tile, fault);
  ASSERT_TRUE(access.has_value()) << fault.text;
  ASSERT_EQ(access->offsets.size(), 128u);
  EXPECT_EQ(access->offsets[64 + 17], 64 + 16 + 8);
  // Column-major elements are not contiguous along k.
  std::optional<LDSTile> columns = makeLDSTile(parseMap("(16,32):(1,16)"), 16, fault);
  EXPECT_FALSE(makeLDSAccess("A", false, 16, tv, *columns, fault).has_value());
  EXPECT_EQ(fault.constraint, 27u);
  EXPECT_EQ(fault.text, "128-bit access needs 8 contiguous elements; values 0 and 1 of thread 0 lie 16 elements apart");
  std::optional<LDSTile> small = makeLDSTile(parseMap("(16,16):(16,1)"), 16, fault);
  EXPECT_FALSE(makeLDSAccess("A", false, 16, tv, *small, fault).has_value());
  EXPECT_EQ(fault.constraint, 25u);
  for (unsigned bytes : {0u, 1u, 3u, 12u}) {
    EXPECT_FALSE(makeLDSAccess("A", false, bytes, tv, *tile, fault).has_value()) << bytes;
    EXPECT_EQ(fault.constraint, 27u);
  }
}

namespace {

/// Counts with the second implementation where an arrangement puts an access.
int64_t countByHand(StringRef arch, const LDSTile &tile, const LDSArrangement &arrangement, const LDSAccess &access) {
  std::optional<Phases> phases = getPhases(arch, access.isWrite, access.bytes);
  int64_t total = 0;
  for (size_t i = 0; i < access.offsets.size(); i += 64) {
    std::vector<int64_t> addresses;
    for (size_t lane = 0; lane < 64; ++lane) {
      int64_t offset = access.offsets[i + lane];
      int64_t row = offset / tile.rowBytes, column = offset % tile.rowBytes;
      int64_t x = row * (tile.rowBytes + arrangement.pad) + column;
      int64_t mask = ((int64_t(1) << arrangement.swizzle.bits) - 1)
                     << (arrangement.swizzle.base + arrangement.swizzle.shift);
      addresses.push_back(x ^ ((x & mask) >> arrangement.swizzle.shift));
    }
    total += countByHand(*phases, addresses, access.bytes);
  }
  return total;
}

struct Problem {
  const char *arch;
  int64_t rows, rowBytes;
  std::vector<std::pair<const char *, unsigned>> writes, reads;
};

/// The smallest extra passes of all arrangements, by enumeration.
int64_t searchByHand(const Problem &problem, const LDSTile &tile, const std::vector<LDSAccess> &accesses,
                     int64_t alignment) {
  int64_t minimum = 0, best = INT64_MAX;
  for (const LDSAccess &access : accesses)
    minimum +=
        int64_t(access.offsets.size() / 64 * getPhases(problem.arch, access.isWrite, access.bytes)->lanes.size());
  auto consider = [&](const LDSArrangement &arrangement) {
    int64_t total = -minimum;
    for (const LDSAccess &access : accesses)
      total += countByHand(problem.arch, tile, arrangement, access);
    best = std::min(best, total);
  };
  for (int64_t pad = 0; pad < 512; pad += alignment)
    consider({pad, {}});
  for (int b = 1; b <= 5; ++b)
    for (int m = 0; m <= 7; ++m)
      for (int s = b; s <= 8; ++s)
        if ((1 << m) >= alignment)
          consider({0, {b, m, s}});
  return best;
}

} // namespace

TEST(LDSSolver, ProofsAreRight) {
  const Problem problems[] = {
      {"gfx942", 16, 64, {}, {{"(16,4):(64,16)", 16}}},
      {"gfx942", 16, 128, {{"(8,8):(16,128)", 16}}, {{"(16,4):(128,16)", 16}}},
      {"gfx942", 32, 128, {{"(8,8,4):(16,128,1024)", 16}}, {{"(32,2,4):(128,16,32)", 16}}},
      {"gfx942", 64, 256, {{"(16,4,16):(16,256,1024)", 16}}, {{"(16,4,4):(256,16,64)", 16}, {"64:256", 8}}},
      {"gfx942", 64, 128, {{"(8,8):(16,128)", 16}}, {{"64:128", 8}}},
      {"gfx942", 64, 144, {}, {{"(16,4):(144,16)", 16}}},
      {"gfx942", 24, 96, {{"(6,32):(16,0)", 16}}, {{"(8,4,2):(96,16,0)", 16}}},
      {"gfx942", 63, 260, {}, {{"(63,64):(260,4)", 4}}},
      {"gfx950", 16, 128, {}, {{"(16,4):(128,16)", 16}}},
      {"gfx950", 32, 128, {}, {{"(32,2):(128,16)", 16}, {"(16,4):(128,16)", 16}}},
      {"gfx950", 16, 256, {{"(32,2,8):(8,256,512)", 8}}, {{"(16,4,4):(256,16,64)", 16}}},
      {"gfx950", 64, 256, {}, {{"64:256", 4}}},
      {"gfx950", 16, 192, {}, {{"(16,4):(192,16)", 12}}},
  };
  unsigned improved = 0, perfect = 0;
  for (const Problem &problem : problems) {
    SCOPED_TRACE(std::string(problem.arch) + " " + std::to_string(problem.rows) + "x" +
                 std::to_string(problem.rowBytes));
    Fault fault;
    LDSTile tile = *makeLDSTile(problem.rows, problem.rowBytes, fault);
    std::vector<LDSAccess> accesses;
    int64_t alignment = 4;
    for (bool isWrite : {true, false})
      for (auto [text, bytes] : isWrite ? problem.writes : problem.reads) {
        std::optional<LDSAccess> access = makeLDSAccess(text, isWrite, bytes, parseMap(text), fault);
        ASSERT_TRUE(access.has_value()) << fault.text;
        alignment = std::max<int64_t>(alignment, bytes == 12 ? 16 : bytes);
        accesses.push_back(*access);
      }
    std::optional<LDSSolution> solution =
        solveLDSConflicts(*lookupChip(problem.arch), tile, accesses, LDSUnknown::Refuse, fault);
    ASSERT_TRUE(solution.has_value()) << fault.text;
    int64_t extra = 0;
    for (size_t i = 0; i < accesses.size(); ++i) {
      int64_t instructions = int64_t(accesses[i].offsets.size() / 64);
      int64_t minimum =
          instructions * int64_t(getPhases(problem.arch, accesses[i].isWrite, accesses[i].bytes)->lanes.size());
      EXPECT_EQ(solution->before[i].low, countByHand(problem.arch, tile, {}, accesses[i]));
      EXPECT_EQ(solution->after[i].low, countByHand(problem.arch, tile, solution->arrangement, accesses[i]));
      EXPECT_EQ(solution->after[i].minimum, minimum);
      EXPECT_EQ(solution->after[i].instructions, instructions);
      extra += solution->after[i].low - minimum;
    }
    EXPECT_EQ(solution->getExtraAfter(), extra);
    EXPECT_EQ(extra, searchByHand(problem, tile, accesses, alignment));
    // Legal: C21, C33, C34, pieces that hold whole accesses, room in LDS.
    const Swizzle &swizzle = solution->arrangement.swizzle;
    EXPECT_TRUE(swizzle.isValid());
    EXPECT_TRUE(swizzle.isIdentity() || solution->arrangement.pad == 0);
    if (!swizzle.isIdentity()) {
      EXPECT_GE(1 << swizzle.base, alignment);
      EXPECT_EQ(solution->baseAlignment % swizzle.getPeriod(), 0);
      EXPECT_EQ(solution->footprint % swizzle.getBlock(), 0);
    }
    // Every byte of the tile has a place of its own inside of the footprint.
    std::set<int64_t> places;
    for (int64_t offset = 0; offset < tile.getBytes(); ++offset)
      places.insert(getLDSAddress(tile, solution->arrangement, offset));
    EXPECT_EQ(int64_t(places.size()), tile.getBytes());
    EXPECT_GE(*places.begin(), 0);
    EXPECT_LT(*places.rbegin(), solution->footprint);
    EXPECT_LE(solution->counted, solution->candidates);
    improved += solution->getExtraAfter() < solution->getExtraBefore();
    perfect += extra == 0;
  }
  EXPECT_GE(improved, 8u);
  EXPECT_GE(perfect, 8u);
}

TEST(LDSSolver, Preferences) {
  Fault fault;
  auto solve = [&](StringRef arch, int64_t rows, int64_t rowBytes, const char *text, unsigned bytes) {
    std::vector<LDSAccess> accesses{*makeLDSAccess("read", false, bytes, parseMap(text), fault)};
    return solveLDSConflicts(*lookupChip(arch), *makeLDSTile(rows, rowBytes, fault), accesses, LDSUnknown::Refuse,
                             fault);
  };
  // Nothing to gain: nothing is changed.
  std::optional<LDSSolution> solution = solve("gfx942", 64, 4, "64:4", 4);
  ASSERT_TRUE(solution.has_value());
  EXPECT_TRUE(solution->arrangement.isPlain());
  EXPECT_EQ(solution->footprint, 256);
  // The fewest bits that reach the minimum, no memory spent.
  solution = solve("gfx942", 16, 128, "(16,4):(128,16)", 16);
  ASSERT_TRUE(solution.has_value());
  EXPECT_EQ(solution->arrangement.swizzle.bits, 2);
  EXPECT_EQ(solution->footprint, 2048);
  // 64 rows need 6 bits: padding does what a swizzle of 5 cannot.
  solution = solve("gfx950", 64, 2048, "64:2048", 4);
  ASSERT_TRUE(solution.has_value());
  EXPECT_EQ(solution->getExtraAfter(), 0);
  EXPECT_EQ(solution->arrangement.pad, 4);
  // The same twice.
  std::optional<LDSSolution> again = solve("gfx950", 64, 2048, "64:2048", 4);
  EXPECT_EQ(solution->arrangement, again->arrangement);
  EXPECT_EQ(solution->counted, again->counted);
}

TEST(LDSSolver, UnknownRules) {
  Fault fault;
  const ChipInfo &chip = *lookupChip("gfx950");
  std::vector<LDSAccess> accesses{*makeLDSAccess("write", true, 16, parseMap("(8,16):(16,128)"), fault),
                                  *makeLDSAccess("read", false, 16, parseMap("(16,4):(128,16)"), fault)};
  LDSTile tile = *makeLDSTile(16, 128, fault);
  EXPECT_FALSE(solveLDSConflicts(chip, tile, accesses, LDSUnknown::Refuse, fault).has_value());
  EXPECT_NE(fault.text.find("16-byte write has not been measured"), std::string::npos);
  std::optional<LDSSolution> bounded = solveLDSConflicts(chip, tile, accesses, LDSUnknown::Bound, fault);
  ASSERT_TRUE(bounded.has_value());
  EXPECT_FALSE(bounded->after[0].isExact());
  EXPECT_EQ(bounded->after[1].getExtra(), 0);
  std::optional<LDSSolution> assumed = solveLDSConflicts(chip, tile, accesses, LDSUnknown::Assume, fault);
  ASSERT_TRUE(assumed.has_value());
  EXPECT_TRUE(assumed->after[0].isExact());
  EXPECT_EQ(assumed->getExtraAfter(), 0);
}

TEST(LDSSolver, Faults) {
  Fault fault;
  const ChipInfo &chip = *lookupChip("gfx942");
  auto faultOfSolve = [&](int64_t rows, int64_t rowBytes, const char *text, unsigned bytes) {
    fault = {};
    std::vector<LDSAccess> accesses;
    if (*text)
      accesses.push_back(*makeLDSAccess("read", false, bytes, parseMap(text), fault));
    EXPECT_FALSE(
        solveLDSConflicts(chip, *makeLDSTile(rows, rowBytes, fault), accesses, LDSUnknown::Refuse, fault).has_value());
    return fault.constraint;
  };
  EXPECT_EQ(faultOfSolve(16, 128, "", 4), 0u);
  EXPECT_EQ(faultOfSolve(16, 128, "64:64", 4), 26u);
  EXPECT_EQ(faultOfSolve(16, 128, "64:4", 16), 27u);
  EXPECT_EQ(faultOfSolve(1024, 128, "64:16", 16), 0u);
  EXPECT_EQ(fault.text, "a tile of 131072 bytes does not fit into the 65536 bytes of LDS of gfx942");
  EXPECT_FALSE(makeLDSAccess("read", false, 4, parseMap("63:4"), fault).has_value());
  EXPECT_FALSE(makeLDSAccess("read", false, 4, parseMap("?:4"), fault).has_value());
  EXPECT_EQ(fault.constraint, 13u);
  EXPECT_FALSE(makeLDSAccess("read", false, 4, parseMap("64:1E0"), fault).has_value());
  EXPECT_EQ(fault.constraint, 14u);
  EXPECT_FALSE(makeLDSAccess("read", false, 4, parseMap("4294967296:4"), fault).has_value());
  EXPECT_FALSE(makeLDSAccess("read", false, 4, parseMap("64:4611686018427387904"), fault).has_value());
  EXPECT_EQ(fault.constraint, 8u);
  // A swizzle below the width of the access.
  LDSAccess access = *makeLDSAccess("read", false, 16, parseMap("64:16"), fault);
  EXPECT_FALSE(
      countLDSAccess(chip, *makeLDSTile(64, 16, fault), {0, {1, 3, 3}}, access, LDSUnknown::Refuse, fault).has_value());
  EXPECT_EQ(fault.constraint, 27u);
  EXPECT_FALSE(
      countLDSAccess(chip, *makeLDSTile(1, 1024, fault), {16, {}}, access, LDSUnknown::Refuse, fault).has_value());
  EXPECT_FALSE(
      countLDSAccess(chip, *makeLDSTile(64, 16, fault), {8, {}}, access, LDSUnknown::Refuse, fault).has_value());
  EXPECT_EQ(fault.constraint, 27u);
}
