//===- Undefined.h - Values that nothing has written ------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which bits of which registers hold what nothing has written. Undefined bits
// travel with moves and arithmetic; they are reported where they become visible:
// as an address, as data in global memory, as the condition of a branch, in EXEC.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_UNDEFINED_H
#define ATREX_LIB_DEVICE_SIM_UNDEFINED_H

#include "lib/Device/Sim/Effects.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <vector>

namespace atrex::device::sim {

struct GroupChecks;
struct MemAccess;
class FindingLog;

/// Shadow of one wave's registers.
struct WaveUndef {
  static constexpr u32 numVectors = 512 + 16;
  /// By vector register: lanes with undefined bits.
  u64 lanes[numVectors];
  /// Where they come from: a register as in RegRange, or one of the places below.
  u16 origin[numVectors];
  /// Set when the row below says which bits; otherwise all bits of those lanes.
  u8 precise[numVectors];
  /// The same for the scalar file: registers with undefined bits, and the bits.
  u64 scalars[2];
  u32 scalar[128];
  u16 scalarOrigin[128];
  bool scc;
  u16 sccOrigin;
  /// Undefined bits of 64 lanes per register; a page is touched only by need.
  u32 *rows;
};
constexpr u16 originLDS = 0xfff0, originScratch = 0xfff1, originSCC = 0xfff2;

/// Shadow of one workgroup.
struct GroupUndef {
  std::vector<WaveUndef> waves;
  u32 *rows = nullptr;
  /// A byte per byte of scratch: set once defined.
  u8 *scratch = nullptr;
  /// Some byte of LDS was stored with an undefined value.
  bool ldsUndefined = false;
};

/// Values in GroupChecks::ldsWritten.
enum LdsByte : u8 { LdsNever = 0, LdsWritten = 1, LdsUndefined = 2 };

class UndefTracker {
public:
  UndefTracker(Program &p, EffectsTable &e, FindingLog &l);
  ~UndefTracker();
  static constexpr u64 rowBytesPerWave = WaveUndef::numVectors * 256ull;

  /// Everything undefined but what a dispatch sets: v0 and the scalars of the
  /// mask.
  void start(WaveUndef &u, u32 *rows, u32 definedScalars);
  /// To be called before `in` executes, and after the bytes that it writes to
  /// LDS are marked.
  void check(Wave &w, const Inst *in, GroupChecks &group);

private:
  struct Plan;
  struct Shadow;
  const Plan &plan(const Inst *in);
  std::unique_ptr<Plan> compute(const Inst *in);
  void vectorOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group);
  void coarseOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group, u64 lanes);
  void matrixOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group);
  void scalarOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group);
  void laneOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group);
  void permuteOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group);
  void memoryOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group);
  void useVector(Wave &w, const Inst *in, GroupChecks &group, u32 first, u32 count, u64 lanes, u32 lastBits,
                 const char *role);
  void useScalars(Wave &w, const Inst *in, GroupChecks &group, u64 lo, u64 hi, const char *role);
  void report(Wave &w, const Inst *in, GroupChecks &group, const RegRange &r, u64 lanes, u16 origin, const char *role);

  Program &program;
  EffectsTable &effects;
  FindingLog &log;
  std::vector<std::unique_ptr<Plan>> plans;
  std::unique_ptr<Shadow> shadow;
  /// Matrix instructions: coordinates by lane and value.
  struct MatrixMap {
    /// By lane: block and row of A, block and column of B.
    u8 blockA[64], rowA[64], blockB[64], colB[64];
    /// By lane and value of D: block, row, column.
    std::vector<std::array<u8, 3>> d;
    u32 valuesD;
  };
  llvm::DenseMap<const void *, std::unique_ptr<MatrixMap>> matrixMaps;
};

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_UNDEFINED_H
