//===- StaticReport.cpp - What the code object alone tells ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Analysis/StaticReport.h"
#include "llvm/ADT/StringSet.h"
#include <fmt/format.h>

using namespace llvm;
using namespace atrex;

/// Class of an instruction by its mnemonic.
static StringRef classify(StringRef mnemonic) {
  if (mnemonic.starts_with("v_mfma") || mnemonic.starts_with("v_smfmac"))
    return "mfma";
  if (mnemonic.starts_with("v_")) {
    StringRef stem = mnemonic.drop_front(2);
    for (StringRef trans : {"exp_", "log_", "rcp_", "rsq_", "sqrt_", "sin_", "cos_"})
      if (stem.starts_with(trans))
        return "trans";
    return "valu";
  }
  if (mnemonic.starts_with("s_load") || mnemonic.starts_with("s_buffer_load") || mnemonic.starts_with("s_store"))
    return "smem";
  if (mnemonic.starts_with("s_waitcnt") || mnemonic.starts_with("s_nop") || mnemonic.starts_with("s_barrier"))
    return "wait";
  if (mnemonic.starts_with("s_cbranch") || mnemonic.starts_with("s_branch") || mnemonic.starts_with("s_setpc") ||
      mnemonic.starts_with("s_swappc") || mnemonic.starts_with("s_endpgm"))
    return "branch";
  if (mnemonic.starts_with("s_"))
    return "salu";
  if (mnemonic.starts_with("ds_"))
    return "lds";
  for (StringRef space : {"buffer_", "tbuffer_", "global_", "flat_", "scratch_"})
    if (mnemonic.starts_with(space)) {
      if (mnemonic.contains("_load"))
        return "vmem.load";
      if (mnemonic.contains("_store"))
        return "vmem.store";
      return "other";
    }
  return "other";
}

/// Bytes per lane of a memory access.
static unsigned getAccessWidth(StringRef mnemonic) {
  for (auto [suffix, bytes] : std::initializer_list<std::pair<StringRef, unsigned>>{{"dwordx4", 16},
                                                                                    {"dwordx3", 12},
                                                                                    {"dwordx2", 8},
                                                                                    {"dword", 4},
                                                                                    {"ushort", 2},
                                                                                    {"sshort", 2},
                                                                                    {"short", 2},
                                                                                    {"short_d16", 2},
                                                                                    {"short_d16_hi", 2},
                                                                                    {"ubyte", 1},
                                                                                    {"sbyte", 1},
                                                                                    {"byte", 1}})
    if (mnemonic.ends_with(suffix))
      return bytes;
  return 0;
}

KernelReport atrex::analyzeKernel(StringRef assembly, StringRef name, const device::KernelResources &resources,
                                  unsigned threads, const ChipInfo &chip) {
  KernelReport report;
  report.name = name.str();
  report.vgprs = resources.vgprs;
  report.agprs = resources.agprs;
  report.sgprs = resources.sgprs;
  report.ldsBytes = resources.staticLdsBytes;
  report.scratchBytes = resources.scratchBytesPerLane;
  report.threads = threads;
  report.occupancy = computeOccupancy(chip, resources.vgprs, resources.staticLdsBytes, threads);

  // The body stands between the kernel's label and its end.
  bool inside = false;
  SmallVector<StringRef> lines;
  assembly.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.starts_with((name + ":").str())) {
      inside = true;
      continue;
    }
    if (!inside)
      continue;
    if (line.starts_with(".Lfunc_end"))
      break;
    // Instructions are indented; labels, directives and comments are not ours.
    if (!line.starts_with("\t"))
      continue;
    StringRef mnemonic = line.trim().take_until([](char c) { return c == ' ' || c == '\t'; });
    if (mnemonic.empty() || mnemonic.starts_with(".") || mnemonic.starts_with(";"))
      continue;
    for (StringRef encoding : {"_e32", "_e64", "_dpp", "_sdwa"})
      mnemonic.consume_back(encoding);
    StringRef cls = classify(mnemonic);
    ++report.mix[cls.str()];
    ++report.instructions;
    if (cls == "vmem.load" || cls == "vmem.store")
      if (unsigned width = getAccessWidth(mnemonic))
        ++(cls == "vmem.load" ? report.loadWidths : report.storeWidths)[width];
  }
  uint64_t vector = report.mix["valu"] + report.mix["trans"] + report.mix["mfma"];
  report.mfmaShare = vector ? double(report.mix["mfma"]) / vector : 0;
  return report;
}

json::Value atrex::toJSON(const KernelReport &report) {
  json::Object mix, loads, stores;
  for (const auto &[cls, count] : report.mix)
    if (count)
      mix[cls] = int64_t(count);
  for (auto [width, count] : report.loadWidths)
    loads[std::to_string(width)] = int64_t(count);
  for (auto [width, count] : report.storeWidths)
    stores[std::to_string(width)] = int64_t(count);
  return json::Object{{"kernel", report.name},
                      {"vgprs", int64_t(report.vgprs)},
                      {"agprs", int64_t(report.agprs)},
                      {"sgprs", int64_t(report.sgprs)},
                      {"lds_bytes", int64_t(report.ldsBytes)},
                      {"scratch_bytes_per_lane", int64_t(report.scratchBytes)},
                      {"threads", int64_t(report.threads)},
                      {"waves_per_simd", int64_t(report.occupancy.wavesPerSIMD)},
                      {"workgroups_per_cu", int64_t(report.occupancy.workgroupsPerCU)},
                      {"occupancy_limiter", report.occupancy.limiter.str()},
                      {"instructions", int64_t(report.instructions)},
                      {"mix", std::move(mix)},
                      {"load_bytes_per_lane", std::move(loads)},
                      {"store_bytes_per_lane", std::move(stores)},
                      {"mfma_share", report.mfmaShare}};
}

std::string atrex::toText(const KernelReport &report, const ChipInfo &chip) {
  auto widths = [](const std::map<unsigned, uint64_t> &counts) {
    std::string text;
    for (auto [width, count] : llvm::reverse(counts))
      text += fmt::format("{}{} x {} B", text.empty() ? "" : ", ", count, width);
    return text.empty() ? std::string("none") : text;
  };
  std::string mix;
  for (const auto &[cls, count] : report.mix)
    if (count)
      mix += fmt::format("{}{} {}", mix.empty() ? "" : ", ", cls, count);
  return fmt::format("kernel      {} on {} ({})\n"
                     "registers   {} VGPR ({} AGPR), {} SGPR, scratch {} B per lane\n"
                     "LDS         {} B\n"
                     "occupancy   {} of {} waves per SIMD, {} workgroups of {} per CU, limited by {}\n"
                     "code        {} instructions: {}\n"
                     "loads       {}\n"
                     "stores      {}\n"
                     "MFMA share  {:.1f} % of vector instructions\n",
                     report.name, chip.name.str(), chip.arch.str(), report.vgprs, report.agprs, report.sgprs,
                     report.scratchBytes, report.ldsBytes, report.occupancy.wavesPerSIMD, chip.maxWavesPerSIMD,
                     report.occupancy.workgroupsPerCU, report.threads, report.occupancy.limiter.str(),
                     report.instructions, mix, widths(report.loadWidths), widths(report.storeWidths),
                     100 * report.mfmaShare);
}
