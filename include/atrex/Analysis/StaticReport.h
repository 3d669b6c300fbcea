//===- StaticReport.h - What the code object alone tells --------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_ANALYSIS_STATICREPORT_H
#define ATREX_ANALYSIS_STATICREPORT_H

#include "atrex/Device/Device.h"
#include "atrex/Target/Chip.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>

namespace atrex {

/// Static facts of one kernel, read from its code object.
struct KernelReport {
  std::string name;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t ldsBytes = 0, scratchBytes = 0;
  uint32_t threads = 0;
  Occupancy occupancy;
  /// Static instructions by class: valu, trans, mfma, salu, smem, vmem.load,
  /// vmem.store, lds, branch, wait, other.
  std::map<std::string, uint64_t> mix;
  uint64_t instructions = 0;
  /// Buffer, global and flat accesses by bytes per lane.
  std::map<unsigned, uint64_t> loadWidths, storeWidths;
  /// MFMA among the vector instructions.
  double mfmaShare = 0;
};

/// Counts the instructions of kernel `name` in the backend's assembly text.
/// Registers and memory come from the loaded code object.
KernelReport analyzeKernel(llvm::StringRef assembly, llvm::StringRef name, const device::KernelResources &resources,
                           unsigned threads, const ChipInfo &chip);

llvm::json::Value toJSON(const KernelReport &report);
std::string toText(const KernelReport &report, const ChipInfo &chip);

} // namespace atrex

#endif // ATREX_ANALYSIS_STATICREPORT_H
