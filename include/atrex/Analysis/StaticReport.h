//===- StaticReport.h - What the code object alone tells --------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers, memory, loops and cycles of kernels, read from the machine code
// without a launch. docs/report.md defines every figure.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_ANALYSIS_STATICREPORT_H
#define ATREX_ANALYSIS_STATICREPORT_H

#include "atrex/Runtime/Manifest.h"
#include "atrex/Support/DimExpr.h"
#include "atrex/Target/Chip.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atrex {

/// One s_waitcnt in a loop that something has to be waited for at.
struct WaitReport {
  uint32_t line = 0;
  /// "vmcnt" (global memory) or "lgkmcnt" (LDS).
  llvm::StringLiteral counter = "vmcnt";
  /// Operations that may stay outstanding, and those that were.
  unsigned value = 0, outstanding = 0;
  /// Instructions, and cycles of issue, between the youngest operation that is
  /// waited for and the wait.
  unsigned distance = 0;
  uint64_t distanceCycles = 0;
  /// Cycles that a wave waits here in a trip by the issue model (global memory).
  double stallCycles = 0;
  /// That operation was issued on an earlier trip.
  bool isEarlierTrip = false;
  /// Outstanding operations that nothing needs before the next such wait.
  unsigned unrelated = 0;

  bool isFullDrain() const { return value == 0; }
};

/// A loop of the machine code. Cycles are those of one wave and one trip, of the
/// loop's own instructions: those of loops inside are apart.
struct LoopReport {
  /// Of the loop's statement in the source; 0 when unknown.
  uint32_t line = 0;
  /// Addresses of the first and behind the last own instruction.
  uint64_t begin = 0, end = 0;
  unsigned depth = 1;
  /// Index of the loop around, -1 when there is none.
  int parent = -1;
  /// Trips for each entry: a constant, an expression over dimensions, or
  /// nullopt.
  std::optional<DimExpr> trips;
  /// Static instructions by class (device::InstClass).
  std::map<std::string, uint64_t> mix;
  uint64_t mfmaCycles = 0, valuCycles = 0, saluCycles = 0, ldsCycles = 0, vmemCycles = 0, otherCycles = 0;
  /// LDS cycles beyond those without conflicts; nullopt when some address is not
  /// known.
  std::optional<uint64_t> ldsConflictCycles;
  /// Some address stands on sample values for what is uniform, or a rule of the
  /// LDS is assumed.
  bool isLdsAssumed = false;
  unsigned ldsUnknown = 0;
  /// Of the issue model: cycles of a SIMD for each wave and trip.
  double cycles = 0;
  double mfmaShare = 0, mfmaShareSerial = 0;
  /// The busiest unit alone.
  double lowerBound = 0;
  llvm::StringLiteral bound = "";
  unsigned barriers = 0, fullDrains = 0;
  /// Largest distance between two matrix instructions, around the back edge too:
  /// instructions, and cycles of issue.
  unsigned mfmaGap = 0;
  uint64_t mfmaGapCycles = 0;
  std::vector<WaitReport> waits;
  /// Accesses by bytes per lane.
  std::map<unsigned, uint64_t> loadWidths, storeWidths, ldsReadWidths, ldsWriteWidths;
  /// Of a workgroup and one trip: operations of matrix instructions, bytes that
  /// active lanes ask of global memory.
  uint64_t flops = 0, bytesRead = 0, bytesWritten = 0;
  /// Cycles of a compute unit for one trip of a workgroup: by the issue model, and
  /// to move the bytes at the chip's bandwidth.
  double computeCycles = 0, memoryCycles = 0;
};

/// Something that costs time, and where.
struct Remark {
  /// vectorization, uncoalesced, scratch, lds-conflict, lds-unknown, unpipelined,
  /// full-drain, occupancy.
  llvm::StringLiteral kind = "";
  std::string kernel;
  /// As the code object has it; line 0 when unknown.
  std::string file;
  uint32_t line = 0;
  std::string message;
};

/// Static facts of one kernel, read from its code object.
struct KernelReport {
  std::string name;
  std::string file;
  uint32_t line = 0;
  /// Unified VGPR count used for occupancy: roundup(arch, 4) + acc.
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t ldsBytes = 0, scratchBytes = 0;
  uint32_t vgprSpills = 0, sgprSpills = 0;
  uint32_t threads = 0;
  Occupancy occupancy;
  std::map<std::string, uint64_t> mix;
  uint64_t instructions = 0;
  /// Global accesses by bytes per lane.
  std::map<unsigned, uint64_t> loadWidths, storeWidths;
  std::vector<LoopReport> loops;
  /// Bytes of one launch; nullopt where a trip count or the grid is not known.
  /// For one workgroup when there is no manifest.
  std::optional<DimExpr> bytesRead, bytesWritten, flops;
  /// Each input once and each output once; nullopt without a manifest.
  std::optional<DimExpr> minimalBytes;
  bool perWorkgroup = false;
};

struct StaticReport {
  std::vector<KernelReport> kernels;
  std::vector<Remark> remarks;
};

/// Reads the kernels that `manifest` launches, in its order, or all kernels when
/// it has none. Faults: no code object of the chip's architecture, a kernel that
/// is missing.
llvm::Expected<StaticReport> analyzeCodeObject(llvm::MemoryBufferRef codeObject, const Manifest &manifest,
                                               const ChipInfo &chip);

/// Schema `atrex-mlir/report/2` of docs/formats.md.
llvm::json::Value toJSON(const StaticReport &report, const ChipInfo &chip);
/// Tables of at most 100 columns.
std::string toText(const StaticReport &report, const ChipInfo &chip);

} // namespace atrex

#endif // ATREX_ANALYSIS_STATICREPORT_H
