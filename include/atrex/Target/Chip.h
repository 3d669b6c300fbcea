//===- Chip.h - The chip table ----------------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything the project knows about a chip stands here once. Verifier,
// lowering, static analysis, simulator, bench and docs read this table.
//
// Each figure carries its confidence in lib/Target/Chip.cpp: A measured on
// silicon, B vendor document or LLVM, C third party, D inferred.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TARGET_CHIP_H
#define ATREX_TARGET_CHIP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace atrex {

/// Dense peaks by the operand type that an operator's work is booked under.
/// Units: FLOP/s. Zero where the chip has no such unit.
struct ChipPeaks {
  double bf16 = 0;
  double fp16 = 0;
  double fp8 = 0;
  double fp32 = 0;
};

/// Issue and pipeline figures of one SIMD.
struct ChipIssue {
  /// Cycles one wave64 VALU instruction occupies its SIMD.
  unsigned valuCycles = 4;
  /// Cycles of exp, log, rcp, rsq, sqrt, sin and cos.
  unsigned transCycles = 16;
  /// Cycles of v_mul_lo_u32, v_mul_hi and 64-bit integer multiply-add.
  unsigned mulCycles = 16;
  /// Cycles of one scalar instruction.
  unsigned saluCycles = 4;
  /// Bytes per clock and CU that the vector L1 returns.
  unsigned l1BytesPerClock = 64;
  /// Bytes per clock and CU that LDS returns on reads.
  unsigned ldsReadBytesPerClock = 128;
  /// Bytes per clock and CU that LDS accepts on writes.
  unsigned ldsWriteBytesPerClock = 64;
};

/// What stands behind a rule of the LDS.
enum class LDSEvidence : uint8_t {
  /// Seen on silicon.
  Measured,
  /// Follows from measured rules of the same chip.
  Derived,
  /// Plausible, neither measured nor implied: not to be used unasked.
  Assumed
};
llvm::StringRef getName(LDSEvidence evidence);

/// How LDS serves one instruction of a wave of 64 lanes. The lanes are served in
/// phases; lanes of different phases never conflict. A phase costs as many
/// passes as there are distinct dwords in its fullest bank; equal dwords are
/// read once.
struct LDSRule {
  bool isWrite = false;
  /// Bytes per lane: 1, 2, 4, 8, 12 or 16.
  unsigned bytes = 0;
  /// Banks of 4 bytes that this access sees.
  unsigned banks = 0;
  /// Bit l of a phase: lane l. The phases are disjoint and hold all lanes.
  llvm::ArrayRef<uint64_t> phases;
  LDSEvidence evidence = LDSEvidence::Assumed;
  /// Why, in one clause.
  llvm::StringLiteral origin = "";
  /// Bytes that the address of a lane must be a multiple of. 16 for 12-byte
  /// accesses: with less LLVM emits several smaller ones.
  unsigned getAlignment() const { return bytes == 12 ? 16 : bytes; }
};

/// One chip. `arch` is the LLVM processor name; it is empty for chips that are
/// only rated by the bench and cannot be compiled for.
struct ChipInfo {
  llvm::StringLiteral name;
  /// Name of the same device in published results ("XPU-A"); may be empty.
  llvm::StringLiteral alias;
  llvm::StringLiteral vendor;
  llvm::StringLiteral arch;
  unsigned computeUnits = 0;
  unsigned xcds = 0;
  unsigned simdsPerCU = 0;
  unsigned waveSize = 0;
  /// Shader clock in Hz that the peaks are stated for.
  double clockHz = 0;
  ChipPeaks peaks;
  /// HBM peak, bytes per second.
  double hbmBytesPerSecond = 0;
  /// 32-bit vector registers per lane and SIMD, shared by arch and acc VGPRs.
  unsigned vgprsPerSIMD = 0;
  unsigned vgprGranule = 0;
  unsigned maxVGPRsPerWave = 0;
  unsigned maxWavesPerSIMD = 0;
  unsigned ldsBytesPerCU = 0;
  unsigned ldsGranule = 0;
  unsigned ldsBanks = 0;
  unsigned maxWorkgroupSize = 0;
  unsigned cacheLineBytes = 0;
  /// Last-level cache (memory side), bytes.
  uint64_t lastLevelCacheBytes = 0;
  /// Time of an empty launch, seconds.
  double launchFloorSeconds = 0;
  ChipIssue issue;
  /// Hardware conversion of two f32 to packed bf16.
  bool hasCvtPkBF16 = false;
  /// Native fp8 encoding: true for FNUZ (gfx942), false for OCP.
  bool fp8IsFNUZ = false;
  /// Accesses without a rule here are not known.
  llvm::ArrayRef<LDSRule> ldsRules;

  /// nullptr when nothing is known.
  const LDSRule *lookupLDSRule(bool isWrite, unsigned bytes) const;
  bool isAMDGPU() const { return !arch.empty(); }
};

/// All chips of the table.
llvm::ArrayRef<ChipInfo> getChips();

/// Looks a chip up by name ("MI308X"), alias ("XPU-A") or, for the default chip
/// of an architecture, by arch ("gfx942"). nullptr when unknown.
const ChipInfo *lookupChip(llvm::StringRef name);

/// The chip a given architecture is rated on when none is named: MI308X for
/// gfx942 (the device of the published production times), MI355X for gfx950.
const ChipInfo *getDefaultChip(llvm::StringRef arch);

/// Architectures that code can be generated for, each with its chips.
std::string getArchList();

/// Waves per SIMD that registers, LDS and workgroup size allow.
/// \p vgprs is the unified count (arch, rounded up to 4, plus acc), \p ldsBytes
/// static plus dynamic LDS of one workgroup, \p threads its size. Zero when one
/// workgroup does not fit.
struct Occupancy {
  unsigned wavesPerSIMD = 0;
  unsigned workgroupsPerCU = 0;
  /// "vgpr", "lds" or "waves": what limits it.
  llvm::StringLiteral limiter = "waves";
};
Occupancy computeOccupancy(const ChipInfo &chip, unsigned vgprs, unsigned ldsBytes, unsigned threads);

} // namespace atrex

#endif // ATREX_TARGET_CHIP_H
