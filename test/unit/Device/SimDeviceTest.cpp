//===- SimDeviceTest.cpp - The embedded device ----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"
#include "atrex/Device/Sim/Coverage.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace atrex;
using namespace atrex::device;

namespace {

template <class T> T take(Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << toString(value.takeError());
    std::abort();
  }
  return std::move(*value);
}
void ok(Error e) {
  if (e)
    ADD_FAILURE() << toString(std::move(e));
}

std::string readObject() {
  auto buffer = MemoryBuffer::getFile(ATREX_TEST_CODE_OBJECT, false, false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

std::unique_ptr<Device> makeDevice(unsigned jobs = 1) {
  SimOptions options;
  options.jobs = jobs;
  return take(createSimDevice(options));
}

/// `partial` on a grid: results, statistics and written ranges.
struct PartialRun {
  std::vector<uint32_t> out;
  ExecutionStats stats;
  std::vector<ByteRange> written;
};
PartialRun runPartial(unsigned jobs, uint32_t groups, ArrayRef<uint64_t> sample, bool track = true) {
  std::string object = readObject();
  auto dev = makeDevice(jobs);
  auto module = take(dev->load(MemoryBufferRef(object, "kernels.co")));
  const Kernel *kernel = module->lookup("partial");
  uint64_t n = uint64_t(groups) * 64;
  DevicePtr out = take(dev->allocate(n * 4, "out")), in = take(dev->allocate(n * 4, "in"));
  std::vector<uint32_t> data(n);
  for (uint64_t i = 0; i < n; ++i)
    data[i] = uint32_t(i * 2654435761u);
  ok(dev->copyToDevice(in, data.data(), n * 4));
  uint64_t args[2] = {out, in};
  LaunchConfig config;
  config.grid = {groups, 1, 1};
  config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(args), sizeof(args));
  config.sample = sample;
  config.trackMemory = track;
  PartialRun run;
  run.stats = take(dev->launch(*kernel, config)).stats;
  run.out.resize(n);
  ok(dev->copyFromDevice(run.out.data(), out, n * 4));
  run.written = take(dev->getWrittenRanges(out));
  dev->clearTracking();
  EXPECT_TRUE(take(dev->getWrittenRanges(out)).empty());
  EXPECT_TRUE(take(dev->getWrittenRanges(in)).empty());
  return run;
}

void expectSame(const ExecutionStats &a, const ExecutionStats &b) {
  EXPECT_EQ(a.instructions, b.instructions);
  EXPECT_EQ(a.valuCycles, b.valuCycles);
  EXPECT_EQ(a.loadBytes, b.loadBytes);
  EXPECT_EQ(a.storeBytes, b.storeBytes);
  EXPECT_EQ(a.readLinesExclusive, b.readLinesExclusive);
  EXPECT_EQ(a.readLinesShared, b.readLinesShared);
  EXPECT_EQ(a.writeLinesExclusive, b.writeLinesExclusive);
  EXPECT_EQ(a.writeLinesShared, b.writeLinesShared);
}

} // namespace

TEST(SimDevice, WrittenRangesAndLinesAreExact) {
  PartialRun run = runPartial(1, 10, {});
  // Three of four bytes of every dword.
  ASSERT_EQ(run.written.size(), 640u);
  for (size_t i = 0; i < run.written.size(); ++i) {
    EXPECT_EQ(run.written[i].offset, i * 4);
    EXPECT_EQ(run.written[i].size, 3u);
    EXPECT_EQ(run.out[i] >> 24, 0u);
    EXPECT_EQ(run.out[i], (uint32_t(i * 2654435761u) & 0xffffffu));
  }
  // Line 0 of the input is read by all ten workgroups.
  EXPECT_EQ(run.stats.readLinesShared, 1u);
  EXPECT_EQ(run.stats.readLinesExclusive, 19u);
  EXPECT_EQ(run.stats.writeLinesExclusive, 20u);
  EXPECT_EQ(run.stats.writeLinesShared, 0u);
  EXPECT_EQ(run.stats.storeBytes, 640u * 3);
  EXPECT_EQ(run.stats.workgroupsExecuted, 10u);
}

TEST(SimDevice, SampleEqualsFullRunOnItsWorkgroups) {
  PartialRun full = runPartial(1, 50, {});
  std::vector<uint64_t> sample = {0, 7, 8, 49};
  PartialRun part = runPartial(1, 50, sample);
  EXPECT_EQ(part.stats.workgroupsExecuted, 4u);
  EXPECT_EQ(part.stats.workgroupsTotal, 50u);
  for (uint64_t g = 0; g < 50; ++g)
    for (uint64_t i = g * 64; i < g * 64 + 64; ++i)
      EXPECT_EQ(part.out[i], is_contained(sample, g) ? full.out[i] : 0u);
  EXPECT_EQ(part.written.size(), 4u * 64);
}

TEST(SimDevice, JobsDoNotChangeAnything) {
  PartialRun one = runPartial(1, 300, {}), four = runPartial(4, 300, {});
  EXPECT_EQ(one.out, four.out);
  expectSame(one.stats, four.stats);
  ASSERT_EQ(one.written.size(), four.written.size());
}

TEST(SimDevice, WithoutTrackingNothingIsRecorded) {
  PartialRun run = runPartial(1, 4, {}, false);
  EXPECT_TRUE(run.written.empty());
  EXPECT_EQ(run.stats.writeLinesExclusive, 0u);
  EXPECT_EQ(run.stats.storeBytes, 4u * 64 * 3);
}

TEST(SimDevice, WorkgroupsThatWaitForEachOther) {
  std::string object = readObject();
  auto dev = makeDevice(1);
  auto module = take(dev->load(MemoryBufferRef(object, "kernels.co")));
  DevicePtr out = take(dev->allocate(4, "out"));
  struct {
    uint64_t out;
    uint32_t sum;
  } args = {out, 1 + 2 + 3};
  LaunchConfig config;
  config.grid = {3, 1, 1};
  config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&args), 12);
  take(dev->launch(*module->lookup("meet"), config));
  uint32_t sum = 0;
  ok(dev->copyFromDevice(&sum, out, 4));
  EXPECT_EQ(sum, 6u);
  // One that never comes: the watchdog ends it.
  args.sum = 7;
  config.maxWaveInstructions = 100000;
  ok(dev->fill(out, 0, 4));
  auto result = dev->launch(*module->lookup("meet"), config);
  ASSERT_FALSE(bool(result));
  EXPECT_NE(toString(result.takeError()).find("given up as endless"), std::string::npos);
}

TEST(SimDevice, Memory) {
  auto dev = makeDevice();
  DevicePtr a = take(dev->allocate(5, "a"));
  EXPECT_EQ(a % 256, 0u);
  char buffer[8] = {};
  ok(dev->copyToDevice(a, "hello", 5));
  ok(dev->copyFromDevice(buffer, a, 5));
  EXPECT_STREQ(buffer, "hello");
  Error e = dev->copyToDevice(a, "hello!", 6);
  EXPECT_TRUE(bool(e));
  EXPECT_NE(toString(std::move(e)).find("outside of the device's allocations"), std::string::npos);
  e = dev->free(a + 1);
  EXPECT_TRUE(bool(e));
  consumeError(std::move(e));
  ok(dev->free(a));
  // Freed memory reads as zero for its next owner.
  DevicePtr b = take(dev->allocate(5, "b"));
  ok(dev->copyFromDevice(buffer, b, 5));
  EXPECT_EQ(buffer[0], 0);
  // Sparse: a buffer much larger than the host's memory.
  DevicePtr big = take(dev->allocate(1ull << 36, "big"));
  ok(dev->fill(big + (1ull << 35), 7, 100));
  ok(dev->free(big));
  auto impossible = dev->allocate(~0ull, "impossible");
  EXPECT_FALSE(bool(impossible));
  consumeError(impossible.takeError());
}

TEST(SimDevice, BadLaunches) {
  std::string object = readObject();
  auto dev = makeDevice();
  auto module = take(dev->load(MemoryBufferRef(object, "kernels.co")));
  const Kernel *kernel = module->lookup("partial");
  auto expectError = [&](LaunchConfig config, StringRef text) {
    auto result = dev->launch(*kernel, config);
    ASSERT_FALSE(bool(result));
    std::string message = toString(result.takeError());
    EXPECT_NE(message.find(text.str()), std::string::npos) << message;
  };
  LaunchConfig config;
  config.grid = {0, 1, 1};
  expectError(config, "at least 1");
  config.grid = {1, 1, 1};
  config.workgroup = {~0u, ~0u, ~0u};
  expectError(config, "larger than 1024");
  config.workgroup = {64, 1, 1};
  config.dynamicLdsBytes = ~0u;
  expectError(config, "of LDS exceed");
  config.dynamicLdsBytes = 0;
  std::vector<uint64_t> sample = {1};
  config.sample = sample;
  expectError(config, "not in the grid");
  sample = {0, 0};
  config.sample = sample;
  expectError(config, "ascending and unique");
  config.sample = {};
  config.grid = {~0u, ~0u, ~0u};
  expectError(config, "more than 2^64");
  // Null pointers as arguments.
  config.grid = {1, 1, 1};
  expectError(config, "out-of-bounds");
  auto other = makeDevice();
  auto result = other->launch(*kernel, config);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(toString(result.takeError()), "the kernel does not belong to this device");
}

TEST(SimDevice, ModuleOutlivesDevice) {
  std::string object = readObject();
  auto dev = makeDevice();
  auto module = take(dev->load(MemoryBufferRef(object, "kernels.co")));
  dev.reset();
  EXPECT_EQ(module->getKernels().size(), 2u);
}

TEST(SimDevice, DamagedCodeObjectsNeverCrash) {
  std::string object = readObject();
  ASSERT_FALSE(object.empty());
  auto attempt = [&](const std::string &bytes) {
    auto dev = makeDevice();
    auto module = dev->load(MemoryBufferRef(bytes, "damaged"));
    if (!module) {
      EXPECT_FALSE(toString(module.takeError()).empty());
      return;
    }
    for (const Kernel *kernel : (*module)->getKernels()) {
      LaunchConfig config;
      config.maxWaveInstructions = 2000;
      DevicePtr buffer = take(dev->allocate(4096, "buffer"));
      uint64_t args[2] = {buffer, buffer};
      config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(args), sizeof(args));
      auto result = dev->launch(*kernel, config);
      if (!result)
        consumeError(result.takeError());
    }
  };
  attempt("");
  attempt("\x7f"
          "ELF");
  attempt(std::string(64, '\0'));
  for (size_t size = 0; size < object.size(); size += 37)
    attempt(object.substr(0, size));
  std::mt19937 random(1);
  for (int round = 0; round < 1500; ++round) {
    std::string mutated = object;
    unsigned changes = 1 + random() % 8;
    for (unsigned n = 0; n < changes; ++n) {
      // Mostly headers, notes, descriptors and code, which come first.
      size_t at = random() % (random() % 4 ? std::min<size_t>(mutated.size(), 0x1400) : mutated.size());
      mutated[at] = char(random() % 3 ? random() : 0xff);
    }
    attempt(mutated);
  }
}

TEST(SimDevice, RandomInstructionBytesNeverCrash) {
  std::string object = readObject();
  // The code of `partial` starts at its s_load_dwordx4.
  std::string marker("\x00\x01\x0a\xc0", 4);
  size_t code = object.find(marker);
  ASSERT_NE(code, std::string::npos);
  std::mt19937 random(2);
  auto dev = makeDevice();
  for (int round = 0; round < 3000; ++round) {
    std::string mutated = object;
    for (size_t at = code + 8; at < code + 72; at += 4) {
      uint32_t word = random();
      // Favour the vector, memory and LDS encodings, which are sparse.
      switch (random() % 6) {
      case 0:
        word = (word & 0x03ffffffu) | 0xd0000000u;
        break;
      case 1:
        word = (word & 0x03ffffffu) | 0xd8000000u;
        break;
      case 2:
        word = (word & 0x03ffffffu) | 0xdc000000u;
        break;
      case 3:
        word = (word & 0x03ffffffu) | 0xe0000000u;
        break;
      case 4:
        word &= 0x7fffffffu;
        break;
      default:
        break;
      }
      for (int k = 0; k < 4; ++k)
        mutated[at + k] = char(word >> (8 * k));
    }
    auto module = dev->load(MemoryBufferRef(mutated, "random"));
    if (!module) {
      consumeError(module.takeError());
      continue;
    }
    LaunchConfig config;
    config.maxWaveInstructions = 2000;
    auto result = dev->launch(*(*module)->lookup("partial"), config);
    if (!result)
      consumeError(result.takeError());
  }
}

TEST(SimDevice, MissingMnemonicsOnlyShrink) {
  // Of LLVM's gfx9 mnemonics; docs/device.md names the groups.
  for (StringRef arch : {"gfx942", "gfx950"})
    EXPECT_LE(take(getMissingMnemonics(arch)).size(), 345u) << arch.str();
}

TEST(Timing, LaunchFloorAndBandwidth) {
  const ChipInfo &chip = *lookupChip("XPU-A");
  KernelResources resources;
  resources.vgprs = 32;
  LaunchConfig config;
  config.grid = {80000, 1, 1};
  config.workgroup = {256, 1, 1};
  ExecutionStats stats;
  stats.workgroupsExecuted = 100;
  stats.workgroupsTotal = 80000;
  stats.readLinesExclusive = 100 * 64;
  stats.readLinesShared = 10;
  LaunchTime time = predictTime(chip, resources, config, stats);
  EXPECT_TRUE(time.isPrediction);
  EXPECT_EQ(time.grade, "roofline-grade");
  EXPECT_EQ(time.bound, "memory");
  double bytes = 128.0 * (80000.0 * 64 + 10);
  EXPECT_NEAR(time.seconds, 3.7e-6 + bytes / 5.3e12, 1e-9);
  EXPECT_EQ(time.wavesPerSIMD, 8u);
  // A single workgroup sees only the bandwidth of its unit.
  stats = ExecutionStats();
  stats.workgroupsExecuted = stats.workgroupsTotal = 1;
  stats.readLinesExclusive = 1000;
  time = predictTime(chip, resources, config, stats);
  EXPECT_NEAR(time.parts["memory"], 128000.0 / (64 * 1.42e9), 1e-9);
}
