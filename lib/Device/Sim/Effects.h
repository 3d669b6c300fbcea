//===- Effects.h - What an instruction reads and writes ---------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers and timing properties of instructions, from LLVM's instruction
// descriptions and the encoding bits. Handlers and decoder rows do not matter
// here: every instruction that LLVM can disassemble has effects.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_EFFECTS_H
#define ATREX_LIB_DEVICE_SIM_EFFECTS_H

#include "lib/Device/Sim/Decoder.h"

namespace atrex::device::sim {

/// Registers in one numbering: 0-127 as the scalar file of a wave, 256-511
/// architectural and 512-767 accumulation registers.
constexpr u32 firstVector = 256, numRegisters = 768 + 16;

struct RegRange {
  u16 first = 0;
  u16 count = 0;
  bool overlaps(const RegRange &o) const { return first < o.first + o.count && o.first < first + count; }
  bool operator==(const RegRange &o) const { return first == o.first && count == o.count; }
  bool isVector() const { return first >= firstVector; }
};

struct MemAccess;

struct Effects {
  enum Kind : u8 { Other, Salu, Smem, Valu, Mfma, Vmem, Flat, Lds };
  enum Flag : u32 {
    Trans = 1,
    /// DPP: `dpp` is the register that is read across lanes.
    Dpp = 2,
    /// Writes a part of a register.
    Partial = 4,
    /// v_readlane, v_readfirstlane, v_writelane.
    RWLane = 8,
    ReadLane = 16,
    PermlaneSwap = 32,
    DivFmas = 64,
    Dot = 128,
    /// Global memory to LDS without a register.
    LdsDma = 256,
    /// Reads M0 without an interlock.
    NeedsM0 = 512,
    SetReg = 1024,
    GetReg = 2048,
    /// s_setvskip, or s_setreg of the bit.
    SetSkip = 4096,
    Barrier = 8192,
    Waitcnt = 16384,
    /// Counts in vmcnt (Vmem and Flat do unless they are buffer_inv).
    NoCount = 32768,
    ReadsScalar = 65536,
    WritesScalar = 131072,
    WritesVector = 262144,
    /// Memory: scope bits (sc0, sc1; glc of the scalar unit).
    Scoped = 524288,
  };
  /// Matrix instructions by the rules that apply to their results.
  enum Matrix : u8 { NoMatrix, Xdl, Sgemm, Dgemm4, Dgemm16 };

  Kind kind = Other;
  Matrix matrix = NoMatrix;
  u8 passes = 0;
  u32 flags = 0;
  /// Wait states that the instruction takes: 1, s_nop more.
  u16 states = 1;
  /// Of s_setreg and s_getreg.
  u16 hwreg = 0;
  /// s_waitcnt.
  u8 vmcnt = 63, lgkmcnt = 15;
  u8 numReads = 0, numWrites = 0;
  RegRange reads[12], writes[6];
  /// Data that a store of more than 64 bits reads late, and the wait states
  /// before it may be overwritten.
  RegRange lateData;
  u8 lateStates = 0;
  /// Special sources.
  RegRange dpp, laneSelect, srcC, dst;
  u32 slot = 0;
  /// nullptr when it accesses no memory.
  const MemAccess *access = nullptr;

  bool isVector() const { return kind >= Valu; }
  bool isMemory() const { return kind == Smem || kind >= Vmem; }
  bool isValu() const { return kind == Valu || kind == Mfma; }
  bool readsReg(const RegRange &r) const;
  bool writesReg(const RegRange &r) const;
};

/// "VGPR4_VGPR5" and the like; empty when the register is of no interest (mode,
/// condition code, apertures).
RegRange parseRegister(llvm::StringRef name);
/// "v[4:5]", "s3", "vcc".
std::string formatRegister(const RegRange &r);

/// The effects of the instructions of one program, computed on first use. Not
/// thread-safe.
class EffectsTable {
public:
  EffectsTable(Program &p, bool gfx950) : program(p), isGfx950(gfx950), table(p.getNumSlots()) {}
  const Effects &get(const Inst *in) {
    std::unique_ptr<Effects> &e = table[in->index];
    if (LLVM_UNLIKELY(!e))
      e = compute(in);
    return *e;
  }

private:
  std::unique_ptr<Effects> compute(const Inst *in);

  Program &program;
  bool isGfx950;
  std::vector<std::unique_ptr<Effects>> table;
};

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_EFFECTS_H
