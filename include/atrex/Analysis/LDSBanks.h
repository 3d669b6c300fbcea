//===- LDSBanks.h - Bank conflicts of LDS accesses --------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the passes that LDS needs for an access of a wave, by the rules of the
// chip table (LDSRule), and searches the padding or the swizzle of a tile that
// lets a set of accesses do with the fewest. The unit is passes, not clocks.
//
// All addresses are in bytes and 64 bits wide. Nothing is counted by a rule
// that is only assumed unless the caller says so.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_ANALYSIS_LDSBANKS_H
#define ATREX_ANALYSIS_LDSBANKS_H

#include "atrex/Layout/Algebra.h"
#include "atrex/Target/Chip.h"
#include <string>
#include <vector>

namespace atrex {

/// Lanes of a wave: the addresses of one instruction.
constexpr unsigned ldsLanes = 64;

/// What to do about an access whose rule is assumed or missing.
enum class LDSUnknown : uint8_t {
  /// A fault.
  Refuse,
  /// Bounds that hold for any phases.
  Bound,
  /// Count by the assumed rule; bounds when there is none.
  Assume
};

/// One phase of one instruction.
struct LDSPhaseCost {
  /// Bit l: lane l.
  uint64_t lanes = 0;
  unsigned passes = 0;
  /// The lowest bank that needs so many passes.
  unsigned bank = 0;
};

/// Passes of one instruction or of several.
struct LDSCost {
  /// The rule that was used; nullptr when `low` and `high` are bounds.
  const LDSRule *rule = nullptr;
  int64_t instructions = 0;
  /// Passes: `low` equals `high` unless they are bounds.
  int64_t low = 0, high = 0;
  /// Passes without conflicts, one per phase; 0 when the phases are not known.
  int64_t minimum = 0;
  /// The costliest phase, the first of equals, and the instruction it is in.
  LDSPhaseCost worst;
  int64_t worstPhase = 0, worstInstruction = 0;

  bool isExact() const { return rule != nullptr; }
  /// Passes lost to conflicts; 0 for bounds.
  int64_t getExtra() const { return rule ? low - minimum : 0; }
};

/// Counts one instruction: `addresses` has the byte address of every lane.
/// `phases` receives the cost of every phase (empty for bounds). Faults: no LDS
/// or unknown width, C27 misaligned, negative addresses, a rule that is not
/// known when `unknown` is Refuse.
std::optional<LDSCost> countLDSPasses(const ChipInfo &chip, llvm::ArrayRef<int64_t> addresses, bool isWrite,
                                      unsigned bytes, LDSUnknown unknown, layout::Fault &fault,
                                      llvm::SmallVectorImpl<LDSPhaseCost> *phases = nullptr);

/// Part of LDS that is padded or swizzled as a whole: `rows` rows of `rowBytes`
/// bytes. A tile with one row cannot be padded.
struct LDSTile {
  int64_t rows = 1, rowBytes = 0;
  /// Where element i (colexicographic in the tile's shape) lies, in elements of
  /// `elementBits`; only for thread-value accesses.
  std::optional<layout::Map> elements;
  int64_t elementBits = 8;

  /// Without padding; C8 was checked on construction.
  int64_t getBytes() const { return rows * rowBytes; }
};
/// `rows` and `rowBytes` positive.
std::optional<LDSTile> makeLDSTile(int64_t rows, int64_t rowBytes, layout::Fault &fault);
/// A static layout of the tile's elements. It has rows to pad when it has two
/// modes and one of them is a single leaf whose stride is not below the span of
/// the other.
std::optional<LDSTile> makeLDSTile(const layout::Map &elements, int64_t elementBits, layout::Fault &fault);

/// Reads or writes of one kind: `offsets` has 64 byte offsets in the tile, not
/// padded and not swizzled, for each instruction.
struct LDSAccess {
  std::string name;
  bool isWrite = false;
  unsigned bytes = 4;
  std::vector<int64_t> offsets;
};
/// `lanes` maps (lane, instruction) to a byte offset: 64 consecutive values,
/// colexicographic, are one instruction. Faults: C13, C14, a size that is not
/// a multiple of 64 or beyond the enumeration limit, negative offsets.
std::optional<LDSAccess> makeLDSAccess(llvm::StringRef name, bool isWrite, unsigned bytes, const layout::Map &lanes,
                                       layout::Fault &fault);
/// `tv` maps (thread, value) to the element of the tile; `bytes` wide pieces of
/// a thread's values are one access each. Faults as above, C25 outside of the
/// tile, C27 when the values of one access are not contiguous.
std::optional<LDSAccess> makeLDSAccess(llvm::StringRef name, bool isWrite, unsigned bytes, const layout::Layout &tv,
                                       const LDSTile &tile, layout::Fault &fault);

/// How a tile lies in LDS: padded by `pad` bytes after each row, or with
/// `swizzle` on the byte offset.
struct LDSArrangement {
  int64_t pad = 0;
  layout::Swizzle swizzle;

  bool isPlain() const { return pad == 0 && swizzle.isIdentity(); }
  bool operator==(const LDSArrangement &other) const = default;
};
/// "none", "pad 16", "S<3,4,3>".
std::string toString(const LDSArrangement &arrangement);
/// Whether the arrangement is possible: C21, C33 and C34 as far as one tile can
/// tell, padding of a tile with rows only, 64-bit range.
bool checkLDSArrangement(const LDSTile &tile, const LDSArrangement &arrangement, layout::Fault &fault);
/// Byte address of byte `offset` of the tile, from the tile's base.
int64_t getLDSAddress(const LDSTile &tile, const LDSArrangement &arrangement, int64_t offset);
/// Bytes that the tile takes: whole swizzle blocks (C34); no padding behind the
/// last row.
int64_t getLDSFootprint(const LDSTile &tile, const LDSArrangement &arrangement);
/// What the base address must be a multiple of: the period of the swizzle (C33),
/// at least `bytes`.
int64_t getLDSBaseAlignment(const LDSArrangement &arrangement, int64_t bytes);

/// Counts all instructions of an access; offsets must lie inside the tile.
std::optional<LDSCost> countLDSAccess(const ChipInfo &chip, const LDSTile &tile, const LDSArrangement &arrangement,
                                      const LDSAccess &access, LDSUnknown unknown, layout::Fault &fault);

/// The answer of the solver with its proof: the counts of every access.
struct LDSSolution {
  LDSArrangement arrangement;
  int64_t footprint = 0, baseAlignment = 0;
  std::vector<LDSCost> before, after;
  /// Arrangements in the search space, and those that were counted to the end.
  unsigned candidates = 0, counted = 0;

  int64_t getExtraBefore() const;
  int64_t getExtraAfter() const;
};

/// Bounds of the search.
constexpr int ldsMaxSwizzleBits = 5, ldsMaxSwizzleBase = 7, ldsMaxSwizzleShift = 8;

/// The arrangement with the fewest passes above the minimum, summed over all
/// instructions of all accesses; then the lowest bounds of accesses without a
/// rule; then the smallest footprint, the fewest swizzle bits, the shortest
/// period, the smallest base. Padding up to one round of all banks (longer ones
/// repeat) in steps of the widest alignment and swizzles with bits up to 5, base up to 7
/// and shift up to 8 are enumerated, so the answer is the best of these. `before`
/// is compared with.
std::optional<LDSSolution> solveLDSConflicts(const ChipInfo &chip, const LDSTile &tile,
                                             llvm::ArrayRef<LDSAccess> accesses, LDSUnknown unknown,
                                             layout::Fault &fault, const LDSArrangement &before = {});

} // namespace atrex

#endif // ATREX_ANALYSIS_LDSBANKS_H
