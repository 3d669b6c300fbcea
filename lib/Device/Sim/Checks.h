//===- Checks.h - Checks of executed instructions ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks run in front of the handler of an instruction, in a dispatch loop of
// their own: handlers do not know of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_CHECKS_H
#define ATREX_LIB_DEVICE_SIM_CHECKS_H

#include "lib/Device/Sim/Core.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>

namespace atrex::device::sim {

/// How an instruction accesses memory.
struct MemAccess {
  enum Kind : u8 { Flat, Global, Scratch, Buffer, Scalar, ScalarBuffer, LDS } kind = Global;
  u8 bytes = 0;
  /// ds_read2 and the like: bytes that one unit of their two offsets stands for.
  u16 offsetScale = 0;
  bool reads = false, writes = false;
  /// Reads only when it returns the old value.
  bool swaps = false;
};

/// From the mnemonic; nullopt when the instruction accesses no memory.
std::optional<MemAccess> getMemAccess(llvm::StringRef mnemonic);

/// Reads of what nothing has written. One per host thread.
class UninitCheck {
public:
  /// What the first execution with a finding read, and how many there are.
  struct Record {
    const Inst *inst;
    bool lds;
    /// Order: ordinal of the workgroup, then position in its execution.
    u64 ordinal, sequence;
    u32 wave;
    /// 0 for the scalar unit.
    u64 lanes;
    u64 address;
    u32 bytes;
    u64 occurrences;
  };

  /// State of one workgroup: a byte per byte of LDS, set once written.
  struct GroupState {
    u8 *ldsWritten = nullptr;
    u64 ordinal = 0;
    u64 sequence = 0;
  };

  /// To be called before `in` executes.
  void check(Wave &w, const Inst *in, GroupState &group) {
    if (in->cls >= CSMEM && in->cls <= CLDS && in->def)
      checkAccess(w, in, group);
  }

  /// By instruction, separately for LDS.
  using Records = std::map<std::pair<u32, bool>, Record>;
  const Records &getRecords() const { return records; }
  /// Adds records of another thread.
  static void merge(Records &into, const Records &from);

private:
  void checkAccess(Wave &w, const Inst *in, GroupState &group);
  void add(const Record &r);

  Records records;
};

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_CHECKS_H
