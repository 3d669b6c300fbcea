//===- Remarks.h - What makes a kernel slow, and where ----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_ANALYSIS_REMARKS_H
#define ATREX_LIB_ANALYSIS_REMARKS_H

#include "LaneValues.h"
#include "atrex/Analysis/StaticReport.h"
#include <map>

namespace atrex::analysis {

/// Addresses of the global accesses of one wave, for two sets of sample values.
class AccessLog {
public:
  struct Entry {
    bool isKnown = false;
    uint64_t active = 0;
    uint64_t addr[64] = {};
  };
  void add(unsigned sample, const AccessPlace &place, const MachineInst &mi);
  bool empty() const { return entries[0].empty(); }
  /// nullptr when the access has not been seen or its addresses are unknown.
  const Entry *lookup(unsigned sample, unsigned inst) const;

private:
  std::map<unsigned, Entry> entries[2];
};

/// What is known of the LDS accesses, by instruction.
struct LdsFacts {
  /// Cycles lost to conflicts by each execution.
  std::vector<uint64_t> conflicts;
  std::vector<bool> isUnknown;
  /// Unknown although the addresses are not.
  std::vector<bool> isWithoutRule;
};

/// Adds the remarks of one kernel, ordered by line.
void addRemarks(const KernelReport &report, const MachineFunction &f, const ChipInfo &chip, const AccessLog &log,
                const LdsFacts &lds, std::vector<Remark> &remarks);

} // namespace atrex::analysis

#endif // ATREX_LIB_ANALYSIS_REMARKS_H
