//===- Chip.cpp - The chip table ------------------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Confidence of a figure: A measured on silicon, B vendor document or LLVM,
// C third party, D inferred.
//
//===----------------------------------------------------------------------===//

#include "atrex/Target/Chip.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <string>

using namespace llvm;
using namespace atrex;

/// What all CDNA3 parts share.
static constexpr ChipIssue cdna3Issue = {
    /*valuCycles=*/4,             // A (thread trace, gfx950), B
    /*transCycles=*/16,           // A: quarter rate
    /*mulCycles=*/16,             // D: quarter rate
    /*saluCycles=*/4,             // A
    /*l1BytesPerClock=*/64,       // C
    /*ldsReadBytesPerClock=*/128, // B
    /*ldsWriteBytesPerClock=*/64, // A
};
static constexpr ChipIssue cdna4Issue = {
    /*valuCycles=*/4,              // A
    /*transCycles=*/16,            // A on gfx942; 8 seen on the issue side beside MFMA
    /*mulCycles=*/16,              // D
    /*saluCycles=*/4,              // A
    /*l1BytesPerClock=*/64,        // C
    /*ldsReadBytesPerClock=*/256,  // B
    /*ldsWriteBytesPerClock=*/128, // D: half the read width, as on gfx942
};

static const ChipInfo chips[] = {
    {
        /*name=*/"MI308X",
        /*alias=*/"XPU-A",
        /*vendor=*/"AMD",
        /*arch=*/"gfx942",
        /*computeUnits=*/80, // B
        /*xcds=*/4,          // B
        /*simdsPerCU=*/4,    // B
        /*waveSize=*/64,     // B
        /*clockHz=*/1.42e9,  // C: the clock the published peaks are stated for
        // B: 80 x 2048 (4096) FLOP per clock at 1.42 GHz, the published figures.
        {/*bf16=*/232650000000000.0, /*fp16=*/232650000000000.0, /*fp8=*/465300000000000.0, /*fp32=*/29100000000000.0},
        /*hbmBytesPerSecond=*/5.3e12,         // B
        /*vgprsPerSIMD=*/512,                 // B
        /*vgprGranule=*/8,                    // B
        /*maxVGPRsPerWave=*/512,              // B
        /*maxWavesPerSIMD=*/8,                // A, B
        /*ldsBytesPerCU=*/65536,              // B
        /*ldsGranule=*/512,                   // B
        /*ldsBanks=*/32,                      // A
        /*maxWorkgroupSize=*/1024,            // B
        /*cacheLineBytes=*/128,               // A
        /*lastLevelCacheBytes=*/256ull << 20, // conflicting sources, 128 or 256 MB
        /*launchFloorSeconds=*/3.7e-6,        // A
        cdna3Issue,
        /*hasCvtPkBF16=*/false, // B
        /*fp8IsFNUZ=*/true,     // B
    },
    {
        /*name=*/"MI300X",
        /*alias=*/"",
        /*vendor=*/"AMD",
        /*arch=*/"gfx942",
        /*computeUnits=*/304,                                                           // B
        /*xcds=*/8,                                                                     // B
        /*simdsPerCU=*/4,                                                               // B
        /*waveSize=*/64,                                                                // B
        /*clockHz=*/2.1e9,                                                              // A
        {/*bf16=*/1307.4e12, /*fp16=*/1307.4e12, /*fp8=*/2614.9e12, /*fp32=*/163.4e12}, // B
        /*hbmBytesPerSecond=*/5.3e12,                                                   // B
        /*vgprsPerSIMD=*/512,                                                           // B
        /*vgprGranule=*/8,                                                              // B
        /*maxVGPRsPerWave=*/512,                                                        // B
        /*maxWavesPerSIMD=*/8,                                                          // A, B
        /*ldsBytesPerCU=*/65536,                                                        // B
        /*ldsGranule=*/512,                                                             // B
        /*ldsBanks=*/32,                                                                // A
        /*maxWorkgroupSize=*/1024,                                                      // B
        /*cacheLineBytes=*/128,                                                         // A
        /*lastLevelCacheBytes=*/256ull << 20,                                           // B
        /*launchFloorSeconds=*/3.0e-6,                                                  // A
        cdna3Issue,
        /*hasCvtPkBF16=*/false, // B
        /*fp8IsFNUZ=*/true,     // B
    },
    {
        /*name=*/"MI300A",
        /*alias=*/"",
        /*vendor=*/"AMD",
        /*arch=*/"gfx942",
        /*computeUnits=*/228, // B
        /*xcds=*/6,           // B
        /*simdsPerCU=*/4,     // B
        /*waveSize=*/64,      // B
        /*clockHz=*/2.1e9,    // B
        // D: CUs x clock x FLOP per clock, as on MI300X.
        {/*bf16=*/980.6e12, /*fp16=*/980.6e12, /*fp8=*/1961.2e12, /*fp32=*/122.6e12},
        /*hbmBytesPerSecond=*/5.3e12,         // B
        /*vgprsPerSIMD=*/512,                 // B
        /*vgprGranule=*/8,                    // B
        /*maxVGPRsPerWave=*/512,              // B
        /*maxWavesPerSIMD=*/8,                // A, B
        /*ldsBytesPerCU=*/65536,              // B
        /*ldsGranule=*/512,                   // B
        /*ldsBanks=*/32,                      // A
        /*maxWorkgroupSize=*/1024,            // B
        /*cacheLineBytes=*/128,               // A
        /*lastLevelCacheBytes=*/256ull << 20, // B
        /*launchFloorSeconds=*/2.7e-6,        // A: middle of the 2.5-2.9 us seen back to back
        cdna3Issue,
        /*hasCvtPkBF16=*/false, // B
        /*fp8IsFNUZ=*/true,     // B
    },
    {
        /*name=*/"MI355X",
        /*alias=*/"",
        /*vendor=*/"AMD",
        /*arch=*/"gfx950",
        /*computeUnits=*/256,                                                           // B
        /*xcds=*/8,                                                                     // B
        /*simdsPerCU=*/4,                                                               // B
        /*waveSize=*/64,                                                                // B
        /*clockHz=*/2.4e9,                                                              // A
        {/*bf16=*/2516.6e12, /*fp16=*/2516.6e12, /*fp8=*/5033.2e12, /*fp32=*/157.3e12}, // B
        /*hbmBytesPerSecond=*/8.0e12,                                                   // B
        /*vgprsPerSIMD=*/512,                                                           // B
        /*vgprGranule=*/8,                                                              // B
        /*maxVGPRsPerWave=*/512,                                                        // B
        /*maxWavesPerSIMD=*/8,                                                          // A, B
        /*ldsBytesPerCU=*/163840,                                                       // B
        /*ldsGranule=*/1280,                                                            // B
        /*ldsBanks=*/64,                                                                // A
        /*maxWorkgroupSize=*/1024,                                                      // B
        /*cacheLineBytes=*/128,                                                         // A
        /*lastLevelCacheBytes=*/256ull << 20,                                           // B
        /*launchFloorSeconds=*/2.4e-6,                                                  // A
        cdna4Issue,
        /*hasCvtPkBF16=*/true, // B
        /*fp8IsFNUZ=*/false,   // B
    },
    {
        // Rated by the bench only.
        /*name=*/"H20",
        /*alias=*/"",
        /*vendor=*/"NVIDIA",
        /*arch=*/"",
        /*computeUnits=*/0,
        /*xcds=*/0,
        /*simdsPerCU=*/0,
        /*waveSize=*/0,
        /*clockHz=*/0,
        {/*bf16=*/148e12, /*fp16=*/148e12, /*fp8=*/296e12, /*fp32=*/44e12}, // C
        /*hbmBytesPerSecond=*/4.0e12,                                       // C
        /*vgprsPerSIMD=*/0,
        /*vgprGranule=*/0,
        /*maxVGPRsPerWave=*/0,
        /*maxWavesPerSIMD=*/0,
        /*ldsBytesPerCU=*/0,
        /*ldsGranule=*/0,
        /*ldsBanks=*/0,
        /*maxWorkgroupSize=*/0,
        /*cacheLineBytes=*/0,
        /*lastLevelCacheBytes=*/0,
        /*launchFloorSeconds=*/0,
        ChipIssue(),
        /*hasCvtPkBF16=*/false,
        /*fp8IsFNUZ=*/false,
    },
};

ArrayRef<ChipInfo> atrex::getChips() { return chips; }

const ChipInfo *atrex::getDefaultChip(StringRef arch) {
  if (arch.empty())
    return nullptr;
  // The first chip of an architecture is its default.
  for (const ChipInfo &chip : chips)
    if (chip.arch == arch)
      return &chip;
  return nullptr;
}

const ChipInfo *atrex::lookupChip(StringRef name) {
  if (name.empty())
    return nullptr;
  for (const ChipInfo &chip : chips)
    if (name.equals_insensitive(chip.name) || name.equals_insensitive(chip.alias))
      return &chip;
  return getDefaultChip(name);
}

std::string atrex::getArchList() {
  // gfx942 (MI308X, ...), gfx950 (...): chips of one architecture stand together.
  std::string list;
  for (const ChipInfo &first : chips) {
    if (!first.isAMDGPU() || list.find(first.arch.str()) != std::string::npos)
      continue;
    std::string names;
    for (const ChipInfo &chip : chips)
      if (chip.arch == first.arch)
        names += (names.empty() ? "" : ", ") + chip.name.str();
    list += (list.empty() ? "" : ", ") + first.arch.str() + " (" + names + ")";
  }
  return list;
}

Occupancy atrex::computeOccupancy(const ChipInfo &chip, unsigned vgprs, unsigned ldsBytes, unsigned threads) {
  Occupancy result;
  if (!chip.isAMDGPU() || !threads || threads > chip.maxWorkgroupSize)
    return result;
  uint64_t waves = (threads + chip.waveSize - 1) / chip.waveSize;
  auto roundUp = [](uint64_t x, uint64_t granule) { return (x + granule - 1) / granule * granule; };
  uint64_t perWave = std::max<uint64_t>(roundUp(vgprs, chip.vgprGranule), chip.vgprGranule);
  if (perWave > chip.maxVGPRsPerWave) {
    result.limiter = "vgpr";
    return result;
  }
  uint64_t byRegisters = std::min<uint64_t>(chip.maxWavesPerSIMD, chip.vgprsPerSIMD / perWave);
  uint64_t byLds = ~0ull;
  if (ldsBytes) {
    byLds = chip.ldsBytesPerCU / roundUp(ldsBytes, chip.ldsGranule);
    if (!byLds) {
      result.limiter = "lds";
      return result;
    }
  }
  // Whole workgroups fit when all their waves do.
  uint64_t groupsByRegisters = byRegisters * chip.simdsPerCU / waves;
  uint64_t groupsByWaves = uint64_t(chip.maxWavesPerSIMD) * chip.simdsPerCU / waves;
  uint64_t groups = std::min({groupsByRegisters, byLds, groupsByWaves});
  if (byLds < std::min(groupsByRegisters, groupsByWaves))
    result.limiter = "lds";
  else if (byRegisters < chip.maxWavesPerSIMD)
    result.limiter = "vgpr";
  result.workgroupsPerCU = unsigned(groups);
  if (!groups)
    return result;
  result.wavesPerSIMD =
      unsigned(std::min<uint64_t>(byRegisters, (groups * waves + chip.simdsPerCU - 1) / chip.simdsPerCU));
  return result;
}
