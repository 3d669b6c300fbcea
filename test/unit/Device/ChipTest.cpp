//===- ChipTest.cpp - The chip table --------------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Target/Chip.h"
#include "gtest/gtest.h"
#include <string>

using namespace atrex;

TEST(Chip, Lookup) {
  const ChipInfo *xpu = lookupChip("XPU-A");
  ASSERT_NE(xpu, nullptr);
  EXPECT_EQ(xpu, lookupChip("MI308X"));
  EXPECT_EQ(xpu, lookupChip("mi308x"));
  EXPECT_EQ(xpu, lookupChip("gfx942"));
  EXPECT_EQ(xpu, getDefaultChip("gfx942"));
  EXPECT_EQ(lookupChip("MI355X"), getDefaultChip("gfx950"));
  EXPECT_EQ(lookupChip(""), nullptr);
  EXPECT_EQ(lookupChip("gfx90a"), nullptr);
  EXPECT_EQ(getDefaultChip(""), nullptr);
  const ChipInfo *h20 = lookupChip("H20");
  ASSERT_NE(h20, nullptr);
  EXPECT_FALSE(h20->isAMDGPU());
  EXPECT_EQ(h20->peaks.bf16, 148e12);
  EXPECT_EQ(getArchList(), "gfx942 (MI308X, MI300X, MI300A), gfx950 (MI355X)");
}

TEST(Chip, PublishedPeaks) {
  const ChipInfo &xpu = *lookupChip("XPU-A");
  EXPECT_EQ(xpu.peaks.bf16, 232650000000000.0);
  EXPECT_EQ(xpu.peaks.fp16, 232650000000000.0);
  EXPECT_EQ(xpu.peaks.fp8, 465300000000000.0);
  EXPECT_EQ(xpu.peaks.fp32, 29100000000000.0);
  EXPECT_EQ(xpu.hbmBytesPerSecond, 5.3e12);
  EXPECT_EQ(xpu.computeUnits, 80u);
}

TEST(Chip, OccupancyByRegisters) {
  const ChipInfo &chip = *lookupChip("gfx942");
  const unsigned table[][2] = {{64, 8},  {65, 7},  {72, 7},  {73, 6},  {80, 6},  {81, 5},  {96, 5}, {97, 4},
                               {128, 4}, {129, 3}, {168, 3}, {169, 2}, {256, 2}, {257, 1}, {512, 1}};
  for (auto [vgprs, waves] : table)
    EXPECT_EQ(computeOccupancy(chip, vgprs, 0, 64).wavesPerSIMD, waves) << vgprs;
  EXPECT_EQ(computeOccupancy(chip, 513, 0, 64).wavesPerSIMD, 0u);
  EXPECT_EQ(computeOccupancy(chip, 129, 0, 256).limiter, "vgpr");
}

TEST(Chip, OccupancyByLds) {
  // With the allocation granule, unlike LLVM's printed figures.
  const ChipInfo &chip = *lookupChip("gfx942");
  EXPECT_EQ(computeOccupancy(chip, 32, 8192, 256).wavesPerSIMD, 8u);
  EXPECT_EQ(computeOccupancy(chip, 32, 16384, 256).wavesPerSIMD, 4u);
  EXPECT_EQ(computeOccupancy(chip, 32, 21504, 256).wavesPerSIMD, 3u);
  EXPECT_EQ(computeOccupancy(chip, 32, 21505, 256).wavesPerSIMD, 2u);
  EXPECT_EQ(computeOccupancy(chip, 32, 65536, 256).wavesPerSIMD, 1u);
  EXPECT_EQ(computeOccupancy(chip, 32, 65537, 256).wavesPerSIMD, 0u);
  EXPECT_EQ(computeOccupancy(chip, 32, 16385, 256).limiter, "lds");
  const ChipInfo &mi355 = *lookupChip("gfx950");
  EXPECT_EQ(computeOccupancy(mi355, 32, 163840, 256).wavesPerSIMD, 1u);
  EXPECT_EQ(computeOccupancy(mi355, 32, 81920, 256).wavesPerSIMD, 2u);
  EXPECT_EQ(computeOccupancy(mi355, 32, 32768, 256).workgroupsPerCU, 4u);
}

TEST(Chip, OccupancyByThreads) {
  const ChipInfo &chip = *lookupChip("gfx942");
  EXPECT_EQ(computeOccupancy(chip, 512, 0, 1024).workgroupsPerCU, 0u);
  EXPECT_EQ(computeOccupancy(chip, 128, 0, 1024).workgroupsPerCU, 1u);
  EXPECT_EQ(computeOccupancy(chip, 64, 0, 1025).wavesPerSIMD, 0u);
  EXPECT_EQ(computeOccupancy(chip, 64, 0, 0).wavesPerSIMD, 0u);
}
