//===- Timing.cpp - Roofline-grade prediction -----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each part is the time the launch would take if only one resource were limited.
// No latency, no conflict, no cache capacity: the prediction is a lower bound
// plus the launch floor and says so in its grade.
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"
#include <algorithm>

using namespace atrex;
using namespace atrex::device;

LaunchTime atrex::device::predictTime(const ChipInfo &chip, const KernelResources &resources,
                                      const LaunchConfig &config, const ExecutionStats &stats) {
  LaunchTime time;
  time.isPrediction = true;
  time.grade = "roofline-grade";
  uint64_t threads = uint64_t(config.workgroup[0]) * config.workgroup[1] * config.workgroup[2];
  Occupancy occupancy = computeOccupancy(chip, resources.vgprs, resources.staticLdsBytes + config.dynamicLdsBytes,
                                         unsigned(std::min<uint64_t>(threads, 1u << 20)));
  time.wavesPerSIMD = occupancy.wavesPerSIMD;
  time.occupancyLimiter = occupancy.limiter.str();

  // A sample stands for the grid: everything that one workgroup does alone grows
  // with the number of workgroups.
  double executed = double(std::max<uint64_t>(stats.workgroupsExecuted, 1));
  double total = double(std::max<uint64_t>(stats.workgroupsTotal, 1));
  double scale = config.sampleShare > 0 ? 1 / std::min(config.sampleShare, 1.0) : total / executed;

  double clock = chip.clockHz > 0 ? chip.clockHz : 1e9;
  double simds = std::max(1u, chip.simdsPerCU);
  double cus = std::max(1u, chip.computeUnits);
  // Whole workgroups go to compute units. With fewer of them than units the rest
  // idles; otherwise the last round is assumed to be shared evenly, since
  // workgroups start as soon as others end.
  double usedCUs = std::min(cus, total);
  // A workgroup of one or two waves occupies as many SIMDs; several workgroups
  // per unit fill the others.
  double wavesPerGroup = double((threads + 63) / 64);
  double usedSIMDs = std::min(simds, wavesPerGroup * std::max(1.0, total / cus));

  double loadBytes = double(stats.loadBytes) * scale, storeBytes = double(stats.storeBytes) * scale;
  uint64_t lines =
      stats.readLinesExclusive + stats.readLinesShared + stats.writeLinesExclusive + stats.writeLinesShared;
  double hbmBytes;
  if (config.trackMemory && (lines || (!stats.loadBytes && !stats.storeBytes))) {
    // Every line crosses the memory interface once per direction. Lines of one
    // workgroup multiply with the grid, lines that several share do not.
    hbmBytes = double(chip.cacheLineBytes ? chip.cacheLineBytes : 128) *
               (double(stats.readLinesExclusive + stats.writeLinesExclusive) * scale +
                double(stats.readLinesShared + stats.writeLinesShared));
  } else {
    hbmBytes = loadBytes + storeBytes;
  }
  // Fewer units than the chip has cannot pull its whole bandwidth: each moves at
  // most its L1 width per clock.
  double l1Bytes = std::max(1u, chip.issue.l1BytesPerClock);
  double reachable = std::min(chip.hbmBytesPerSecond > 0 ? chip.hbmBytesPerSecond : 1e12, usedCUs * l1Bytes * clock);
  time.parts["memory"] = hbmBytes / reachable;

  // Vector instructions occupy their SIMD for the counted cycles.
  time.parts["valu"] = double(stats.valuCycles) * scale / (usedSIMDs * usedCUs) / clock;
  time.parts["mfma"] = double(stats.matrixCycles) * scale / (usedSIMDs * usedCUs) / clock;
  // One scalar unit per compute unit takes an instruction per cycle from the
  // four SIMDs in turn, so each SIMD offers one per saluCycles.
  double scalars =
      double(stats.instructions[unsigned(InstClass::SALU)] + stats.instructions[unsigned(InstClass::SMEM)] +
             stats.instructions[unsigned(InstClass::Branch)]) *
      scale;
  time.parts["salu"] = scalars * std::max(1u, chip.issue.saluCycles) / (usedSIMDs * usedCUs) / clock;
  // The address path of the vector memory takes one quarter of a wave per clock.
  double vmem =
      double(stats.instructions[unsigned(InstClass::VMEMLoad)] + stats.instructions[unsigned(InstClass::VMEMStore)] +
             stats.instructions[unsigned(InstClass::VMEMAtomic)]) *
      scale;
  time.parts["vmem"] = vmem * 4 / usedCUs / clock;
  // What lanes ask for passes through the vector L1.
  time.parts["l1"] = (loadBytes + storeBytes) / (usedCUs * l1Bytes) / clock;
  time.parts["lds"] = (double(stats.ldsReadBytes) / std::max(1u, chip.issue.ldsReadBytesPerClock) +
                       double(stats.ldsWriteBytes) / std::max(1u, chip.issue.ldsWriteBytesPerClock)) *
                      scale / usedCUs / clock;

  double longest = 0;
  time.bound = "launch";
  for (const auto &[name, seconds] : time.parts)
    if (seconds > longest) {
      longest = seconds;
      time.bound = name;
    }
  time.parts["launch"] = chip.launchFloorSeconds;
  time.seconds = chip.launchFloorSeconds + longest;
  return time;
}
