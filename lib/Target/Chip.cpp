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
#include "atrex/Target/ChipTiming.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <array>
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

static constexpr ChipTiming cdna3Timing = {
    /*mfmaIssueCycles=*/4,   // B: an MFMA leaves its cycles less 4 to the vector ALU
    /*l2LatencyCycles=*/288, // A: 287.5 on MI300X
    /*ldsLatencyCycles=*/48, // A: 36 to 51 seen
    /*ldsQueueEntries=*/8,   // A
};
static constexpr ChipTiming cdna4Timing = {
    /*mfmaIssueCycles=*/8,   // A: the first 8 of the 32 cycles of 32x32x16
    /*l2LatencyCycles=*/288, // A: 256 to 317 seen
    /*ldsLatencyCycles=*/48, // A: 36 to 51 seen
    /*ldsQueueEntries=*/8,   // A
};

//===----------------------------------------------------------------------===//
// Phases of the LDS. Measured rows: lane groups that conflict with each other,
// found by timing pairs of lanes (A). A row that is missing is not known; in
// particular nobody has measured whether lanes that write different bytes of
// one dword share a pass.
//===----------------------------------------------------------------------===//

/// 64 / lanes phases of consecutive lanes.
template <unsigned lanes> static constexpr std::array<uint64_t, 64 / lanes> getConsecutive() {
  std::array<uint64_t, 64 / lanes> phases{};
  for (unsigned i = 0; i < 64 / lanes; ++i)
    phases[i] = (lanes == 64 ? ~0ull : (1ull << lanes % 64) - 1) << i * lanes;
  return phases;
}
static constexpr auto phasesOf8 = getConsecutive<8>();
static constexpr auto phasesOf16 = getConsecutive<16>();
static constexpr auto phasesOf32 = getConsecutive<32>();
static constexpr auto phasesOf64 = getConsecutive<64>();

/// Lanes first to last.
static constexpr uint64_t span(unsigned first, unsigned last) { return (~0ull >> (63 - last)) & (~0ull << first); }
static constexpr uint64_t interleaved8[] = {
    span(0, 3) | span(20, 23),   span(4, 7) | span(16, 19),   span(8, 11) | span(28, 31),  span(12, 15) | span(24, 27),
    span(32, 35) | span(52, 55), span(36, 39) | span(48, 51), span(40, 43) | span(60, 63), span(44, 47) | span(56, 59),
};
static constexpr uint64_t interleaved16[] = {
    span(0, 3) | span(12, 15) | span(20, 27),
    span(4, 11) | span(16, 19) | span(28, 31),
    span(32, 35) | span(44, 47) | span(52, 59),
    span(36, 43) | span(48, 51) | span(60, 63),
};

static constexpr LDSRule cdna3LDS[] = {
    {false, 1, 32, phasesOf32, LDSEvidence::Derived, "reads the dword that holds it, as a 4-byte read"},
    {false, 2, 32, phasesOf32, LDSEvidence::Derived, "reads the dword that holds it, as a 4-byte read"},
    {false, 4, 32, phasesOf32, LDSEvidence::Measured, "measured"},
    {false, 8, 32, phasesOf16, LDSEvidence::Measured, "measured"},
    {false, 12, 32, interleaved8, LDSEvidence::Assumed,
     "the phases of 16-byte reads, which 12-byte reads have on gfx950"},
    {false, 16, 32, interleaved8, LDSEvidence::Measured, "measured"},
    {true, 4, 32, phasesOf32, LDSEvidence::Derived, "128 bytes per phase, as in the measured 8- and 16-byte writes"},
    {true, 8, 32, phasesOf16, LDSEvidence::Measured, "measured"},
    {true, 12, 32, phasesOf8, LDSEvidence::Assumed, "the phases of 16-byte writes"},
    {true, 16, 32, phasesOf8, LDSEvidence::Measured, "measured"},
};
static constexpr LDSRule cdna4LDS[] = {
    {false, 1, 64, phasesOf64, LDSEvidence::Derived, "reads the dword that holds it, as a 4-byte read"},
    {false, 2, 64, phasesOf64, LDSEvidence::Derived, "reads the dword that holds it, as a 4-byte read"},
    {false, 4, 64, phasesOf64, LDSEvidence::Measured, "measured"},
    {false, 8, 64, phasesOf32, LDSEvidence::Measured, "measured"},
    {false, 12, 32, interleaved8, LDSEvidence::Measured, "measured"},
    {false, 16, 64, interleaved16, LDSEvidence::Measured, "measured"},
    {true, 4, 32, phasesOf32, LDSEvidence::Assumed, "128 bytes per phase, as in the measured 8-byte write"},
    {true, 8, 32, phasesOf16, LDSEvidence::Measured, "measured"},
    {true, 12, 32, phasesOf8, LDSEvidence::Assumed, "the phases of 16-byte writes on gfx942"},
    {true, 16, 32, phasesOf8, LDSEvidence::Assumed,
     "the phases of gfx942, 128 bytes each as in the measured 8-byte write"},
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
        /*ldsRules=*/cdna3LDS,
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
        /*ldsRules=*/cdna3LDS,
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
        /*ldsRules=*/cdna3LDS,
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
        /*ldsRules=*/cdna4LDS,
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
        /*ldsRules=*/{},
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

const ChipTiming &atrex::getTiming(const ChipInfo &chip) { return chip.arch == "gfx950" ? cdna4Timing : cdna3Timing; }

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

StringRef atrex::getName(LDSEvidence evidence) {
  switch (evidence) {
  case LDSEvidence::Measured:
    return "measured";
  case LDSEvidence::Derived:
    return "derived";
  case LDSEvidence::Assumed:
    return "assumed";
  }
  return "";
}

const LDSRule *ChipInfo::lookupLDSRule(bool isWrite, unsigned bytes) const {
  for (const LDSRule &rule : ldsRules)
    if (rule.isWrite == isWrite && rule.bytes == bytes)
      return &rule;
  return nullptr;
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
