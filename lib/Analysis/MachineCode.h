//===- MachineCode.h - Blocks and loops of a code object --------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions of one kernel as the embedded device decodes them, split into
// basic blocks, with natural loops. Jumps through registers are not followed.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_ANALYSIS_MACHINECODE_H
#define ATREX_LIB_ANALYSIS_MACHINECODE_H

#include "atrex/Device/Device.h"
#include "lib/Device/Sim/Checks.h"
#include "lib/Device/Sim/CodeObject.h"
#include "lib/Device/Sim/Decoder.h"
#include "lib/Device/Sim/Effects.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <bitset>
#include <vector>

namespace atrex::analysis {

/// Registers as in sim::RegRange, and behind them the condition code.
constexpr unsigned sccRegister = device::sim::numRegisters;
using RegisterSet = std::bitset<device::sim::numRegisters + 1>;

struct MachineInst {
  const device::sim::Inst *inst = nullptr;
  const device::sim::Effects *effects = nullptr;
  /// Without encoding suffix; empty for bits that are no instruction.
  llvm::StringRef mnemonic;
  device::InstClass cls = device::InstClass::Internal;
  uint64_t address = 0;
  /// 0 where the code object does not tell.
  uint32_t line = 0;
  bool readsSCC = false, writesSCC = false;

  bool isLdsAccess() const { return effects->access && effects->access->kind == device::sim::MemAccess::LDS; }
  /// Global, buffer and flat accesses; not scratch.
  bool isGlobalAccess() const {
    using device::sim::MemAccess;
    return effects->access && (effects->access->kind == MemAccess::Global ||
                               effects->access->kind == MemAccess::Buffer || effects->access->kind == MemAccess::Flat);
  }
  bool isScratchAccess() const { return effects->access && effects->access->kind == device::sim::MemAccess::Scratch; }
  bool isLdsDma() const { return effects->flags & device::sim::Effects::LdsDma; }
  /// Bytes per lane of one place of the access.
  unsigned getAccessBytes() const { return effects->access ? effects->access->bytes : 0; }
};

struct MachineBlock {
  /// Instructions [begin, end).
  unsigned begin = 0, end = 0;
  llvm::SmallVector<unsigned, 2> succs, preds;
  /// Innermost loop, -1 outside of all.
  int loop = -1;
};

struct MachineLoop {
  unsigned header = 0;
  /// All blocks in order of address, those of inner loops too.
  std::vector<unsigned> blocks;
  llvm::SmallVector<unsigned, 2> latches;
  int parent = -1;
  unsigned depth = 1;
  bool isInnermost = true;
  RegisterSet written;

  bool contains(unsigned block) const { return std::binary_search(blocks.begin(), blocks.end(), block); }
};

/// One kernel; refers to the program and the effects it was made from.
struct MachineFunction {
  std::vector<MachineInst> insts;
  std::vector<MachineBlock> blocks;
  /// Outer loops in front of inner ones, by address of the header.
  std::vector<MachineLoop> loops;
  /// Blocks in reverse post order.
  std::vector<unsigned> order;
  std::vector<unsigned> position;
  std::vector<unsigned> idom;
  /// The file that most instructions come from; empty when unknown.
  std::string file;

  bool dominates(unsigned a, unsigned b) const;
  /// Line of the loop's statement: that of a back edge, where the compiler keeps
  /// it, otherwise the first of the header.
  uint32_t getLine(const MachineLoop &loop) const;
  /// Blocks of a loop without those of inner ones.
  std::vector<unsigned> getOwnBlocks(unsigned loop) const;
};

MachineFunction buildFunction(device::sim::Program &program, device::sim::EffectsTable &effects,
                              const device::sim::Inst *entry, const device::sim::SourceLines &lines);

} // namespace atrex::analysis

#endif // ATREX_LIB_ANALYSIS_MACHINECODE_H
