//===- LDSBanks.cpp - Bank conflicts of LDS accesses ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Analysis/LDSBanks.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <array>

using namespace llvm;
using namespace atrex;
using namespace atrex::layout;

static bool fail(Fault &fault, unsigned constraint, const Twine &text, const Twine &note = "") {
  fault.constraint = constraint;
  fault.text = text.str();
  fault.note = note.str();
  return false;
}

static bool fail(Fault &fault, const Algebra &algebra) {
  fault = *algebra.getFault();
  return false;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {
/// What is needed to count an access of one kind, looked up once.
struct Counter {
  /// nullptr: bounds.
  const LDSRule *rule = nullptr;
  /// Addresses are multiples of the alignment, so an access lies inside one
  /// aligned chunk, its dwords lie in different banks, and two accesses meet in
  /// a bank with different dwords exactly if their chunks differ and fall into
  /// the same group of banks: one comparison counts for all dwords.
  unsigned alignment = 4, chunkShift = 2, groups = 0;

  unsigned countPhase(ArrayRef<int64_t> addresses, uint64_t lanes, unsigned &bank) const {
    std::array<std::array<int64_t, ldsLanes>, 64> chunks;
    std::array<uint8_t, 64> sizes{};
    unsigned passes = 0;
    for (; lanes; lanes &= lanes - 1) {
      int64_t chunk = addresses[countr_zero(lanes)] >> chunkShift;
      unsigned group = unsigned(chunk) & (groups - 1);
      auto *begin = chunks[group].begin(), *end = begin + sizes[group];
      if (std::find(begin, end, chunk) != end)
        continue;
      *end = chunk;
      passes = std::max<unsigned>(passes, ++sizes[group]);
    }
    bank = unsigned(std::find(sizes.begin(), sizes.end(), passes) - sizes.begin()) << (chunkShift - 2);
    return passes;
  }

  /// Adds one instruction to `cost`. Addresses are aligned and not negative.
  void count(ArrayRef<int64_t> addresses, LDSCost &cost, SmallVectorImpl<LDSPhaseCost> *details = nullptr) const {
    if (!rule) {
      // A phase serves one dword per bank and pass, and a lane alone needs one
      // pass, whatever the phases are.
      LDSPhaseCost all{~0ull, 0, 0};
      all.passes = countPhase(addresses, all.lanes, all.bank);
      if (all.passes > cost.worst.passes) {
        cost.worst = all;
        cost.worstInstruction = cost.instructions;
      }
      cost.low += all.passes;
      cost.high += ldsLanes;
      ++cost.instructions;
      return;
    }
    for (auto [index, lanes] : enumerate(rule->phases)) {
      LDSPhaseCost phase{lanes, 0, 0};
      phase.passes = countPhase(addresses, lanes, phase.bank);
      cost.low += phase.passes;
      if (phase.passes > cost.worst.passes) {
        cost.worst = phase;
        cost.worstPhase = index;
        cost.worstInstruction = cost.instructions;
      }
      if (details)
        details->push_back(phase);
    }
    cost.high = cost.low;
    cost.minimum += rule->phases.size();
    ++cost.instructions;
  }
};
} // namespace

static std::string describe(bool isWrite, unsigned bytes) {
  return (Twine(bytes) + "-byte " + (isWrite ? "write" : "read")).str();
}

static std::optional<Counter> makeCounter(const ChipInfo &chip, bool isWrite, unsigned bytes, LDSUnknown unknown,
                                          Fault &fault) {
  if (!chip.ldsBanks || chip.ldsRules.empty()) {
    fail(fault, 32, "nothing is known about the LDS of " + Twine(chip.name),
         "chips with LDS rules: " + Twine(getArchList()));
    return std::nullopt;
  }
  if (!is_contained({1u, 2u, 4u, 8u, 12u, 16u}, bytes)) {
    fail(fault, 27, "no LDS access is " + Twine(bytes) + " bytes wide", "widths are 1, 2, 4, 8, 12 and 16 bytes");
    return std::nullopt;
  }
  Counter counter;
  counter.rule = chip.lookupLDSRule(isWrite, bytes);
  bool known = counter.rule && counter.rule->evidence != LDSEvidence::Assumed;
  if (!known && unknown == LDSUnknown::Refuse) {
    if (counter.rule)
      fail(fault, 0, "how " + Twine(chip.arch) + " serves a " + describe(isWrite, bytes) + " has not been measured",
           "the assumption, on request: " + Twine(counter.rule->origin));
    else
      fail(fault, 0, "how " + Twine(chip.arch) + " serves a " + describe(isWrite, bytes) + " has not been measured",
           "there is no rule to derive it from");
    return std::nullopt;
  }
  if (!known && unknown == LDSUnknown::Bound)
    counter.rule = nullptr;
  counter.alignment = bytes == 12 ? 16 : bytes;
  counter.chunkShift = std::max(2u, Log2_32(counter.alignment));
  counter.groups = (counter.rule ? counter.rule->banks : chip.ldsBanks) * 4 >> counter.chunkShift;
  return counter;
}

/// C27, and no negative addresses.
static bool checkAddresses(const Counter &counter, ArrayRef<int64_t> addresses, unsigned bytes, StringRef where,
                           Fault &fault) {
  for (auto [lane, address] : enumerate(addresses)) {
    if (address < 0)
      return fail(fault, 26, where + "lane " + Twine(lane) + ": address " + Twine(address) + " is negative");
    if (address % counter.alignment)
      return fail(fault, 27,
                  where + "lane " + Twine(lane) + ": address " + Twine(address) + " is not a multiple of " +
                      Twine(counter.alignment),
                  "an access of " + Twine(bytes) + " bytes is aligned to " + Twine(counter.alignment));
  }
  return true;
}

std::optional<LDSCost> atrex::countLDSPasses(const ChipInfo &chip, ArrayRef<int64_t> addresses, bool isWrite,
                                             unsigned bytes, LDSUnknown unknown, Fault &fault,
                                             SmallVectorImpl<LDSPhaseCost> *phases) {
  std::optional<Counter> counter = makeCounter(chip, isWrite, bytes, unknown, fault);
  if (!counter)
    return std::nullopt;
  if (addresses.size() != ldsLanes) {
    fail(fault, 0, "an LDS access has the addresses of 64 lanes, got " + Twine(addresses.size()));
    return std::nullopt;
  }
  if (!checkAddresses(*counter, addresses, bytes, "", fault))
    return std::nullopt;
  LDSCost cost;
  cost.rule = counter->rule;
  counter->count(addresses, cost, phases);
  return cost;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

std::optional<LDSTile> atrex::makeLDSTile(int64_t rows, int64_t rowBytes, Fault &fault) {
  if (rows < 1 || rowBytes < 1) {
    fail(fault, 2, "a tile of " + Twine(rows) + " rows of " + Twine(rowBytes) + " bytes is empty");
    return std::nullopt;
  }
  if (!checkedMul(rows, rowBytes)) {
    fail(fault, 8, Twine(rows) + " rows of " + Twine(rowBytes) + " bytes do not fit into 64 bits");
    return std::nullopt;
  }
  LDSTile tile;
  tile.rows = rows;
  tile.rowBytes = rowBytes;
  return tile;
}

/// The value at a 1-D coordinate as a number.
static bool evaluate(Algebra &algebra, const Map &map, int64_t coord, int64_t &value, Fault &fault) {
  IntTuple result = algebra.crd2idx(IntTuple(coord), map);
  if (algebra.failed())
    return fail(fault, algebra);
  if (!result.isLeaf() || result.getLeaf().isBasis())
    return fail(fault, 14, "an LDS access needs addresses, " + toString(map) + " maps to coordinates");
  if (!result.getLeaf().isStatic())
    return fail(fault, 13, "an LDS access needs static addresses, " + toString(map) + " is dynamic");
  value = result.getLeaf().value;
  return true;
}

/// Number of values of a map that can be evaluated one by one.
static bool getStaticSize(Algebra &algebra, const Map &map, int64_t &size, Fault &fault) {
  algebra.check(Value(map));
  if (algebra.failed())
    return fail(fault, algebra);
  if (map.getSwizzle() || map.getCoordSwizzle())
    return fail(fault, 0, "swizzle " + toString(map) + " has no domain", "write 'SWIZZLE o 0 o LAYOUT'");
  if (!isStatic(Value(map)))
    return fail(fault, 13, toString(map) + " is dynamic; bank conflicts are counted for static layouts");
  if (map.getLayout() && map.getLayout()->hasBasis())
    return fail(fault, 14, "an LDS access needs addresses, " + toString(map) + " maps to coordinates");
  Int product = algebra.size(Value(map));
  if (algebra.failed())
    return fail(fault, algebra);
  size = product.value;
  if (size > enumerationLimit)
    return fail(fault, 0,
                toString(map) + " has " + Twine(size) + " values, more than the " + Twine(enumerationLimit) +
                    " that are enumerated");
  return true;
}

std::optional<LDSTile> atrex::makeLDSTile(const Map &elements, int64_t elementBits, Fault &fault) {
  Algebra algebra;
  if (elementBits < 1 || elementBits > 1024) {
    fail(fault, 18, "elements of " + Twine(elementBits) + " bits are not supported", "between 1 and 1024");
    return std::nullopt;
  }
  int64_t size = 0;
  if (!getStaticSize(algebra, elements, size, fault))
    return std::nullopt;
  int64_t largest = 0;
  for (int64_t i = 0; i < size; ++i) {
    int64_t value = 0;
    if (!evaluate(algebra, elements, i, value, fault))
      return std::nullopt;
    if (value < 0) {
      fail(fault, 15, "the tile layout " + toString(elements) + " has the negative offset " + Twine(value));
      return std::nullopt;
    }
    largest = std::max(largest, value);
  }
  std::optional<int64_t> bits = checkedMulAdd<int64_t>(largest, elementBits, elementBits + 7);
  if (!bits) {
    fail(fault, 8, "the tile layout " + toString(elements) + " does not fit into 64 bits");
    return std::nullopt;
  }
  LDSTile tile;
  tile.rowBytes = *bits / 8;
  tile.elements = elements;
  tile.elementBits = elementBits;
  const Layout *plain = elements.getLayout();
  if (!plain || plain->getRank() != 2)
    return tile;
  for (unsigned outer : {0u, 1u}) {
    Layout row = plain->getMode(1 - outer), column = plain->getMode(outer);
    if (!column.shape.isLeaf())
      continue;
    int64_t rows = column.shape.getLeaf().value, pitch = column.stride.getLeaf().value;
    Int span = algebra.cosize(Map(row));
    std::optional<int64_t> pitchBits = checkedMul(pitch, elementBits);
    if (rows < 2 || algebra.failed() || pitch < span.value || !pitchBits || *pitchBits % 8)
      continue;
    tile.rows = rows;
    tile.rowBytes = *pitchBits / 8;
    if (!checkedMul(tile.rows, tile.rowBytes)) {
      fail(fault, 8, "the tile layout " + toString(elements) + " does not fit into 64 bits");
      return std::nullopt;
    }
    break;
  }
  return tile;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

std::optional<LDSAccess> atrex::makeLDSAccess(StringRef name, bool isWrite, unsigned bytes, const Map &lanes,
                                              Fault &fault) {
  Algebra algebra;
  int64_t size = 0;
  if (!getStaticSize(algebra, lanes, size, fault))
    return std::nullopt;
  if (size % ldsLanes) {
    fail(fault, 0, toString(lanes) + " has " + Twine(size) + " values; an access has 64 lanes for each instruction",
         "lanes come first, colexicographic");
    return std::nullopt;
  }
  LDSAccess access{name.str(), isWrite, bytes, {}};
  access.offsets.resize(size);
  for (int64_t i = 0; i < size; ++i)
    if (!evaluate(algebra, lanes, i, access.offsets[i], fault))
      return std::nullopt;
  return access;
}

std::optional<LDSAccess> atrex::makeLDSAccess(StringRef name, bool isWrite, unsigned bytes, const Layout &tv,
                                              const LDSTile &tile, Fault &fault) {
  Algebra algebra;
  int64_t size = 0, tileSize = 0;
  if (!getStaticSize(algebra, Map(tv), size, fault))
    return std::nullopt;
  if (!tile.elements) {
    fail(fault, 0, "a thread-value access needs a tile with a layout of elements");
    return std::nullopt;
  }
  if (tv.getRank() != 2) {
    fail(fault, 25, "thread-value layout " + toString(tv) + " must have two modes, thread and value");
    return std::nullopt;
  }
  if (!getStaticSize(algebra, *tile.elements, tileSize, fault))
    return std::nullopt;
  int64_t threads = algebra.size(Value(Map(tv.getMode(0)))).value, values = size / threads;
  if (threads % ldsLanes) {
    fail(fault, 0, toString(tv) + " has " + Twine(threads) + " threads, not whole waves of 64");
    return std::nullopt;
  }
  int64_t bits = int64_t(bytes) * 8, perAccess = bits / tile.elementBits;
  if (!perAccess || bits % tile.elementBits || values % perAccess) {
    fail(fault, 27,
         "accesses of " + Twine(bytes) + " bytes do not divide " + Twine(values) + " values of " +
             Twine(tile.elementBits) + " bits per thread");
    return std::nullopt;
  }
  LDSAccess access{name.str(), isWrite, bytes, {}};
  for (int64_t group = 0; group < values / perAccess; ++group)
    for (int64_t thread = 0; thread < threads; ++thread) {
      int64_t first = 0;
      for (int64_t i = 0; i < perAccess; ++i) {
        int64_t value = group * perAccess + i, element = 0, index = 0;
        if (!evaluate(algebra, Map(tv), thread + threads * value, element, fault))
          return std::nullopt;
        if (element < 0 || element >= tileSize) {
          fail(fault, 25,
               "thread-value layout maps (" + Twine(thread) + "," + Twine(value) + ") to element " + Twine(element) +
                   ", outside of the tile of " + Twine(tileSize));
          return std::nullopt;
        }
        if (!evaluate(algebra, *tile.elements, element, index, fault))
          return std::nullopt;
        if (i == 0)
          first = index;
        if (index != first + i) {
          fail(fault, 27,
               Twine(bits) + "-bit access needs " + Twine(perAccess) + " contiguous elements; values " +
                   Twine(value - 1) + " and " + Twine(value) + " of thread " + Twine(thread) + " lie " +
                   Twine(index - (first + i - 1)) + " elements apart");
          return std::nullopt;
        }
      }
      // In range: the bits of the whole tile are.
      int64_t bit = first * tile.elementBits;
      if (bit % 8) {
        fail(fault, 27, "thread " + Twine(thread) + " starts at bit " + Twine(bit) + ", inside of a byte");
        return std::nullopt;
      }
      access.offsets.push_back(bit / 8);
    }
  return access;
}

//===----------------------------------------------------------------------===//
// Arrangements
//===----------------------------------------------------------------------===//

std::string atrex::toString(const LDSArrangement &arrangement) {
  std::string text;
  if (!arrangement.swizzle.isIdentity())
    text = layout::toString(arrangement.swizzle);
  if (arrangement.pad)
    text += (text.empty() ? "pad " : " pad ") + std::to_string(arrangement.pad);
  return text.empty() ? "none" : text;
}

bool atrex::checkLDSArrangement(const LDSTile &tile, const LDSArrangement &arrangement, Fault &fault) {
  if (!arrangement.swizzle.isValid())
    return fail(fault, 21, "swizzle " + layout::toString(arrangement.swizzle) + " is not valid");
  if (arrangement.pad < 0)
    return fail(fault, 2, "padding of " + Twine(arrangement.pad) + " bytes is negative");
  if (arrangement.pad && tile.rows < 2)
    return fail(fault, 0, "padding needs a tile of more than one row", "name the rows and the bytes of a row");
  std::optional<int64_t> pitch = checkedAdd(tile.rowBytes, arrangement.pad);
  std::optional<int64_t> bytes = pitch ? checkedMul(tile.rows, *pitch) : std::nullopt;
  if (!bytes || !checkedAdd(*bytes, arrangement.swizzle.getBlock()))
    return fail(fault, 8, "the padded tile does not fit into 64 bits");
  return true;
}

int64_t atrex::getLDSAddress(const LDSTile &tile, const LDSArrangement &arrangement, int64_t offset) {
  if (arrangement.pad)
    offset += offset / tile.rowBytes * arrangement.pad;
  return arrangement.swizzle(offset);
}

int64_t atrex::getLDSFootprint(const LDSTile &tile, const LDSArrangement &arrangement) {
  int64_t block = arrangement.swizzle.getBlock();
  int64_t bytes = (tile.rows - 1) * (tile.rowBytes + arrangement.pad) + tile.rowBytes;
  return (bytes + block - 1) / block * block;
}

int64_t atrex::getLDSBaseAlignment(const LDSArrangement &arrangement, int64_t bytes) {
  return std::max(arrangement.swizzle.getPeriod(), bytes);
}

//===----------------------------------------------------------------------===//
// Accesses of an arranged tile
//===----------------------------------------------------------------------===//

/// 2^m is not below the alignment of the access.
static bool checkGranule(const LDSAccess &access, unsigned alignment, const LDSArrangement &arrangement, Fault &fault) {
  const Swizzle &swizzle = arrangement.swizzle;
  if (swizzle.isIdentity() || (int64_t(1) << swizzle.base) >= alignment)
    return true;
  return fail(fault, 27,
              "swizzle " + layout::toString(swizzle) + " moves pieces of " + Twine(int64_t(1) << swizzle.base) +
                  " bytes, an access of " + Twine(access.bytes) + " needs " + Twine(alignment),
              "use a base of at least " + Twine(Log2_32(alignment)));
}

static bool checkInside(const LDSTile &tile, const LDSAccess &access, Fault &fault) {
  for (auto [i, offset] : enumerate(access.offsets))
    if (offset < 0 || offset > tile.getBytes() - int64_t(access.bytes))
      return fail(fault, 26,
                  access.name + ": lane " + Twine(i % ldsLanes) + " of instruction " + Twine(i / ldsLanes) +
                      " accesses bytes " + Twine(offset) + " to " + Twine(offset + int64_t(access.bytes) - 1) +
                      ", outside of the tile of " + Twine(tile.getBytes()) + " bytes");
  return true;
}

std::optional<LDSCost> atrex::countLDSAccess(const ChipInfo &chip, const LDSTile &tile,
                                             const LDSArrangement &arrangement, const LDSAccess &access,
                                             LDSUnknown unknown, Fault &fault) {
  std::optional<Counter> counter = makeCounter(chip, access.isWrite, access.bytes, unknown, fault);
  if (!counter || !checkLDSArrangement(tile, arrangement, fault) || !checkInside(tile, access, fault))
    return std::nullopt;
  LDSCost cost;
  cost.rule = counter->rule;
  std::array<int64_t, ldsLanes> addresses;
  ArrayRef<int64_t> offsets = access.offsets;
  for (; !offsets.empty(); offsets = offsets.drop_front(ldsLanes)) {
    std::string where = access.name + ": instruction " + std::to_string(cost.instructions) + ", ";
    // The offsets first: a swizzle must not hide what they are.
    if (!checkAddresses(*counter, offsets.take_front(ldsLanes), access.bytes, where, fault) ||
        !checkGranule(access, counter->alignment, arrangement, fault))
      return std::nullopt;
    for (unsigned lane = 0; lane < ldsLanes; ++lane)
      addresses[lane] = getLDSAddress(tile, arrangement, offsets[lane]);
    if (!checkAddresses(*counter, addresses, access.bytes, where, fault))
      return std::nullopt;
    counter->count(addresses, cost);
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

int64_t LDSSolution::getExtraBefore() const {
  int64_t extra = 0;
  for (const LDSCost &cost : before)
    extra += cost.getExtra();
  return extra;
}

int64_t LDSSolution::getExtraAfter() const {
  int64_t extra = 0;
  for (const LDSCost &cost : after)
    extra += cost.getExtra();
  return extra;
}

namespace {
struct Candidate {
  LDSArrangement arrangement;
  int64_t footprint;

  /// Preferred first; a strict order, so that the answer is unique.
  auto getKey() const {
    const Swizzle &swizzle = arrangement.swizzle;
    return std::tuple(footprint, swizzle.bits, arrangement.pad, swizzle.base + swizzle.shift, swizzle.base);
  }
};

/// An access with what all candidates share.
struct Prepared {
  const LDSAccess *access;
  Counter counter;
  /// Row of each offset.
  std::vector<int64_t> rows;
};
} // namespace

static std::vector<Candidate> listCandidates(const ChipInfo &chip, const LDSTile &tile, unsigned alignment) {
  std::vector<Candidate> candidates;
  auto add = [&](const LDSArrangement &arrangement) {
    int64_t footprint = getLDSFootprint(tile, arrangement);
    if (footprint <= int64_t(chip.ldsBytesPerCU))
      candidates.push_back({arrangement, footprint});
  };
  add({});
  if (tile.rows > 1)
    for (int64_t pad = alignment; pad < int64_t(chip.ldsBanks) * 4; pad += alignment)
      add({pad, {}});
  int narrowest = Log2_32(alignment);
  for (int bits = 1; bits <= ldsMaxSwizzleBits; ++bits)
    for (int base = narrowest; base <= ldsMaxSwizzleBase; ++base)
      for (int shift = bits; shift <= ldsMaxSwizzleShift; ++shift)
        add({0, Swizzle{bits, base, shift}});
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) { return a.getKey() < b.getKey(); });
  return candidates;
}

std::optional<LDSSolution> atrex::solveLDSConflicts(const ChipInfo &chip, const LDSTile &tile,
                                                    ArrayRef<LDSAccess> accesses, LDSUnknown unknown, Fault &fault,
                                                    const LDSArrangement &before) {
  LDSSolution solution;
  if (accesses.empty()) {
    fail(fault, 0, "nothing to solve: no access is given");
    return std::nullopt;
  }
  // Checks every access, plain and as it was before.
  unsigned alignment = 4;
  std::vector<Prepared> prepared;
  bool bounds = false;
  for (const LDSAccess &access : accesses) {
    std::optional<LDSCost> plain = countLDSAccess(chip, tile, {}, access, unknown, fault);
    std::optional<LDSCost> cost = plain ? countLDSAccess(chip, tile, before, access, unknown, fault) : std::nullopt;
    if (!cost)
      return std::nullopt;
    solution.before.push_back(*cost);
    Prepared entry{&access, *makeCounter(chip, access.isWrite, access.bytes, unknown, fault), {}};
    alignment = std::max(alignment, entry.counter.alignment);
    for (int64_t offset : access.offsets)
      entry.rows.push_back(offset / tile.rowBytes);
    bounds |= !cost->isExact();
    prepared.push_back(std::move(entry));
  }
  if (getLDSFootprint(tile, {}) > int64_t(chip.ldsBytesPerCU)) {
    fail(fault, 0,
         "a tile of " + Twine(getLDSFootprint(tile, {})) + " bytes does not fit into the " + Twine(chip.ldsBytesPerCU) +
             " bytes of LDS of " + Twine(chip.arch));
    return std::nullopt;
  }
  std::vector<Candidate> candidates = listCandidates(chip, tile, alignment);
  solution.candidates = candidates.size();
  const Candidate *best = nullptr;
  std::pair<int64_t, int64_t> bestCost(INT64_MAX, INT64_MAX);
  std::array<int64_t, ldsLanes> addresses;
  for (const Candidate &candidate : candidates) {
    std::pair<int64_t, int64_t> total(0, 0);
    bool worse = false;
    for (const Prepared &entry : prepared) {
      LDSCost cost;
      cost.rule = entry.counter.rule;
      std::pair<int64_t, int64_t> sum = total;
      ArrayRef<int64_t> offsets = entry.access->offsets, rows = entry.rows;
      for (size_t i = 0; i < offsets.size() && !worse; i += ldsLanes) {
        for (unsigned lane = 0; lane < ldsLanes; ++lane)
          addresses[lane] =
              candidate.arrangement.swizzle(offsets[i + lane] + rows[i + lane] * candidate.arrangement.pad);
        entry.counter.count(addresses, cost);
        sum = total;
        (cost.isExact() ? sum.first : sum.second) += cost.isExact() ? cost.getExtra() : cost.low;
        // Costs only grow: what is not better by now will not be. Only the extra
        // passes decide early, later accesses may add to them.
        worse = best && (sum.first > bestCost.first || (sum.first == bestCost.first && sum.second >= bestCost.second));
      }
      if (worse)
        break;
      total = sum;
    }
    if (worse)
      continue;
    ++solution.counted;
    if (best && total >= bestCost)
      continue;
    best = &candidate;
    bestCost = total;
    // The rest is no better and comes later in the order.
    if (total.first == 0 && !bounds)
      break;
  }
  solution.arrangement = best->arrangement;
  solution.footprint = best->footprint;
  solution.baseAlignment = getLDSBaseAlignment(best->arrangement, alignment);
  for (const LDSAccess &access : accesses) {
    std::optional<LDSCost> cost = countLDSAccess(chip, tile, best->arrangement, access, unknown, fault);
    if (!cost)
      return std::nullopt;
    solution.after.push_back(*cost);
  }
  return solution;
}
