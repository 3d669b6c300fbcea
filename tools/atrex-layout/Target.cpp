//===- Target.cpp - Operations that need the chip table -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace atrex::layout {

const ChipInfo *findChip(StringRef name, Fault &fault) {
  const ChipInfo *chip = lookupChip(name);
  if (!chip || !chip->isAMDGPU()) {
    fault = Fault{32, ("unknown target '" + name + "'").str(), "known are " + getArchList()};
    return nullptr;
  }
  return chip;
}

bool arrangeLanes(const Map &lanes, unsigned bytes, const LDSArrangement &arrangement, int64_t rowBytes,
                  std::vector<int64_t> &addresses, Fault &fault) {
  std::optional<LDSAccess> access = makeLDSAccess("access", false, bytes, lanes, fault);
  if (!access)
    return false;
  if (access->offsets.size() != ldsLanes) {
    fault = Fault{0,
                  toString(lanes) + " has " + std::to_string(access->offsets.size()) +
                      " values; one access of a wave has the addresses of 64 lanes",
                  "'atrex-layout conflicts' counts several instructions"};
    return false;
  }
  if (!arrangement.swizzle.isIdentity() && (int64_t(1) << arrangement.swizzle.base) < std::min(bytes, 16u)) {
    fault = Fault{27,
                  "swizzle " + toString(arrangement.swizzle) + " moves pieces smaller than the access of " +
                      std::to_string(bytes) + " bytes",
                  "2^m must be at least the width"};
    return false;
  }
  // One row is added for the last bytes; a tile beyond 64 bits is a fault.
  int64_t largest = 0;
  for (int64_t offset : access->offsets)
    largest = std::max(largest, offset);
  std::optional<LDSTile> tile = makeLDSTile(arrangement.pad ? largest / rowBytes + 2 : 1, rowBytes, fault);
  if (!tile || !checkLDSArrangement(*tile, arrangement, fault))
    return false;
  for (auto [lane, offset] : enumerate(access->offsets)) {
    if (offset < 0) {
      fault = Fault{26, ("lane " + Twine(lane) + ": address " + Twine(offset) + " is negative").str(), ""};
      return false;
    }
    // Misaligned offsets stay visible: C27 is checked on what the lanes address.
    addresses.push_back(getLDSAddress(*tile, arrangement, offset));
  }
  return true;
}

static Results ldsCycles(Call &call) {
  Results none{IntTuple(1)};
  Fault fault;
  auto failWith = [&](const Fault &fault) {
    call.algebra.fail(fault.constraint, fault.text, fault.note);
    return none;
  };
  std::string arch = call.word("arch"), kind = call.word("kind", "read");
  int64_t width = call.integer("width"), pad = call.integer("pad"), row = call.integer("row", 1);
  LDSArrangement arrangement{pad, call.swizzle("swizzle")};
  Map lanes = call.map(0);
  bool assume = call.flag("assume");
  if (call.algebra.failed())
    return none;
  const ChipInfo *chip = findChip(arch, fault);
  if (!chip)
    return failWith(fault);
  if (kind != "read" && kind != "write")
    return failWith({0, "kind '" + kind + "' is neither read nor write", ""});
  if (width < 1 || width > 16)
    return failWith(
        {27, "no LDS access is " + std::to_string(width) + " bytes wide", "widths are 1, 2, 4, 8, 12 and 16 bytes"});
  if (row < 1 || (pad && !call.has("row")))
    return failWith({0, "padding needs the bytes of a row: 'row=128, pad=16'", ""});
  std::vector<int64_t> addresses;
  if (!arrangeLanes(lanes, unsigned(width), arrangement, row, addresses, fault))
    return failWith(fault);
  std::optional<LDSCost> cost = countLDSPasses(*chip, addresses, kind == "write", unsigned(width),
                                               assume ? LDSUnknown::Assume : LDSUnknown::Refuse, fault);
  if (!cost)
    return failWith(fault);
  if (!cost->isExact())
    return failWith({0, "no rule, not even an assumed one, says how " + arch + " serves this access", ""});
  return {IntTuple(cost->low)};
}

llvm::ArrayRef<Operation> getTargetOperations() {
  static const Operation operations[] = {
      {"lds_cycles", 1, 1, "!width !arch kind swizzle pad row assume", ldsCycles},
  };
  return operations;
}

} // namespace atrex::layout
