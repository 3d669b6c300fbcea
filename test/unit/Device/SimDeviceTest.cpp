//===- SimDeviceTest.cpp - The embedded device ----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"
#include "atrex/Device/Sim/Coverage.h"
#include "lib/Device/Sim/Checks.h"
#include "lib/Device/Sim/Clocks.h"
#include "lib/Device/Sim/Decoder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <atomic>
#include <random>
#include <thread>

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

TEST(SimDevice, SeveralThreadsAtOnce) {
  // Two devices, each used by three threads, which share a module.
  std::string object = readObject();
  std::unique_ptr<Device> devices[2] = {makeDevice(2), makeDevice(1)};
  std::unique_ptr<device::Module> modules[2];
  for (unsigned d = 0; d < 2; ++d)
    modules[d] = take(devices[d]->load(MemoryBufferRef(object, "kernels.co")));
  std::atomic<unsigned> wrong{0}, launches{0};
  auto work = [&](unsigned id) {
    Device &dev = *devices[id & 1];
    for (unsigned round = 0; round < 12; ++round) {
      uint64_t groups = 1 + (id * 7 + round) % 9, n = groups * 64;
      // Now and then a module of its own.
      std::unique_ptr<device::Module> own;
      if (round % 3 == 0)
        own = take(dev.load(MemoryBufferRef(object, "kernels.co")));
      const Kernel *kernel = (own ? *own : *modules[id & 1]).lookup("partial");
      DevicePtr out = take(dev.allocate(n * 4, "out")), in = take(dev.allocate(n * 4, "in"));
      std::vector<uint32_t> data(n), result(n);
      for (uint64_t i = 0; i < n; ++i)
        data[i] = uint32_t((i + id) * 2654435761u);
      ok(dev.copyToDevice(in, data.data(), n * 4));
      uint64_t args[2] = {out, in};
      LaunchConfig config;
      config.grid = {uint32_t(groups), 1, 1};
      config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(args), sizeof(args));
      config.checks = round % 2 ? uint32_t(CheckAll) : 0;
      if (round % 4 == 1)
        config.shuffle = id;
      LaunchResult launched = take(dev.launch(*kernel, config));
      launches += launched.stats.workgroupsExecuted == groups && launched.numFindings == 0;
      ok(dev.copyFromDevice(result.data(), out, n * 4));
      for (uint64_t i = 0; i < n; ++i)
        wrong += result[i] != ((data[i] + data[0]) & 0xffffffu);
      ok(dev.free(out));
      ok(dev.free(in));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < 6; ++id)
    threads.emplace_back(work, id);
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(launches, 72u);
}

TEST(SimChecks, Names) {
  uint32_t checks = 0;
  StringRef bad;
  EXPECT_TRUE(parseCheckNames("oob, race,wait", checks, bad));
  EXPECT_EQ(checks, uint32_t(CheckOob | CheckRace | CheckWait));
  EXPECT_TRUE(parseCheckNames("all", checks, bad));
  EXPECT_EQ(checks, uint32_t(CheckAll));
  for (StringRef text : {"", "race,", "races", "race wait"})
    EXPECT_FALSE(parseCheckNames(text, checks, bad)) << text.str();
  EXPECT_EQ(getCheckName(CheckHazard), "hazard");
  EXPECT_EQ(getCheckName(CheckAll), "");
}

/// Clocks against maps, with copies that share and joins in both directions.
TEST(SimChecks, Clocks) {
  uint32_t seed = 7;
  auto next = [&](uint32_t n) { return ((seed = seed * 1664525 + 1013904223) >> 8) % n; };
  std::vector<sim::Clock> clocks(8);
  std::vector<std::map<uint32_t, std::pair<uint32_t, uint32_t>>> models(8);
  const uint32_t ranges[] = {16, 300, 70000, 0xffffff00};
  for (unsigned step = 0; step < 20000; ++step) {
    uint32_t a = next(8), b = next(8);
    switch (next(4)) {
    case 0:
      clocks[a].join(clocks[b]);
      for (auto &[key, bound] : models[b]) {
        auto &mine = models[a][key];
        mine = {std::max(mine.first, bound.first), std::max(mine.second, bound.second)};
      }
      break;
    case 1:
      if (next(16) == 0) {
        clocks[a] = next(2) ? clocks[b] : sim::Clock();
        models[a] = clocks[a].empty() ? std::map<uint32_t, std::pair<uint32_t, uint32_t>>() : models[b];
      }
      break;
    default: {
      // The keys come from a few places each, so that they meet again.
      uint32_t range = ranges[next(4)], key = next(24) * (range / 24 + 1) % range;
      sim::ClockBound bound = {next(1000), next(1000)};
      clocks[a].put(key, bound);
      auto &mine = models[a][key];
      mine = {std::max(mine.first, bound.memory), std::max(mine.second, bound.lds)};
      break;
    }
    }
    if (step % 50)
      continue;
    for (unsigned n = 0; n < 8; ++n)
      for (auto &[key, bound] : models[n]) {
        sim::ClockBound got = clocks[n].get(key);
        ASSERT_EQ(std::make_pair(got.memory, got.lds), bound) << "step " << step << " clock " << n << " key " << key;
        if (key < 0xffffff00)
          ASSERT_EQ(clocks[n].get(key ^ 0x5a5a0000).memory,
                    models[n].count(key ^ 0x5a5a0000) ? models[n][key ^ 0x5a5a0000].first : 0u);
      }
  }
}

TEST(SimChecks, RegisterNames) {
  auto range = [](StringRef name) {
    sim::RegRange r = sim::parseRegister(name);
    return std::pair<unsigned, unsigned>(r.first, r.count);
  };
  using P = std::pair<unsigned, unsigned>;
  EXPECT_EQ(range("VGPR4_VGPR5"), P(260, 2));
  EXPECT_EQ(range("VGPR255"), P(511, 1));
  EXPECT_EQ(range("AGPR0_AGPR1_AGPR2_AGPR3"), P(512, 4));
  EXPECT_EQ(range("SGPR10_SGPR11"), P(10, 2));
  EXPECT_EQ(range("VCC"), P(106, 2));
  EXPECT_EQ(range("EXEC_HI"), P(127, 1));
  EXPECT_EQ(range("M0"), P(124, 1));
  EXPECT_EQ(range("SCC").second, 0u);
  EXPECT_EQ(range("MODE").second, 0u);
  EXPECT_EQ(range("VGPR").second, 0u);
  EXPECT_EQ(range("VGPRx").second, 0u);
  EXPECT_EQ(range("").second, 0u);
  EXPECT_EQ(sim::formatRegister({260, 2}), "v[4:5]");
  EXPECT_EQ(sim::formatRegister({514, 1}), "a2");
  EXPECT_EQ(sim::formatRegister({106, 2}), "vcc");
  EXPECT_EQ(sim::formatRegister({126, 1}), "exec_lo");
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

namespace {
/// `partial` on 300 workgroups with every instrument.
struct Instrumented {
  LaunchResult result;
  std::string trace;
};
Instrumented runInstrumented(unsigned jobs) {
  std::string object = readObject();
  auto dev = makeDevice(jobs);
  auto module = take(dev->load(MemoryBufferRef(object, "kernels.co")));
  DevicePtr out = take(dev->allocate(300 * 256, "out")), in = take(dev->allocate(300 * 256, "in"));
  uint64_t args[2] = {out, in};
  LaunchConfig config;
  // Another kernel of the module is no part of the profile.
  config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&args[1]), 8);
  take(dev->launch(*module->lookup("many"), config));
  // Bytes 0..2 of every dword of the first workgroups are the host's.
  for (uint64_t i = 0; i < 64 * 3; ++i)
    ok(dev->fill(in + i * 4, 1, 3));
  Instrumented run;
  raw_string_ostream os(run.trace);
  TraceConfig trace;
  trace.os = &os;
  trace.workgroup = 7;
  trace.limit = 4;
  config.grid = {300, 1, 1};
  config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(args), sizeof(args));
  config.profile = true;
  config.checks = CheckUninit;
  if (jobs == 1)
    config.trace = &trace;
  run.result = take(dev->launch(*module->lookup("partial"), config));
  return run;
}
} // namespace

TEST(SimDevice, ProfileAddsUpToTheStatistics) {
  Instrumented one = runInstrumented(1), four = runInstrumented(4);
  const ExecutionStats &stats = one.result.stats;
  std::array<uint64_t, numInstClasses> instructions = {};
  uint64_t cycles = 0, load = 0, store = 0;
  ASSERT_EQ(one.result.profile.size(), 14u);
  ASSERT_EQ(four.result.profile.size(), 14u);
  for (size_t n = 0; n < one.result.profile.size(); ++n) {
    const InstructionProfile &p = one.result.profile[n], &q = four.result.profile[n];
    instructions[unsigned(p.cls)] += p.executions;
    cycles += p.valuCycles;
    load += p.loadBytes;
    store += p.storeBytes;
    EXPECT_EQ(p.activeLanes, isPerLane(p.cls) ? p.executions * 64 : 0u);
    EXPECT_EQ(p.executions, 300u);
    EXPECT_TRUE(StringRef(p.file).ends_with("kernels.s"));
    EXPECT_EQ(p.line, one.result.profile[0].line + n);
    EXPECT_EQ(p.text, q.text);
    EXPECT_EQ(p.executions, q.executions);
    EXPECT_EQ(p.activeLanes, q.activeLanes);
    EXPECT_EQ(p.loadBytes, q.loadBytes);
    EXPECT_EQ(p.storeBytes, q.storeBytes);
  }
  EXPECT_EQ(instructions, stats.instructions);
  EXPECT_EQ(cycles, stats.valuCycles);
  EXPECT_EQ(load, stats.loadBytes);
  EXPECT_EQ(store, stats.storeBytes);
  std::vector<LineProfile> lines = sumByLine(one.result.profile);
  ASSERT_EQ(lines.size(), 14u);
  for (size_t n = 1; n < lines.size(); ++n)
    EXPECT_GE(lines[n - 1].valuCycles, lines[n].valuCycles);
}

TEST(SimDevice, UninitDoesNotDependOnJobs) {
  Instrumented one = runInstrumented(1), four = runInstrumented(4);
  // The fourth byte of each dword was not written, nor anything behind
  // workgroup 2: both loads are found in workgroup 0 already.
  ASSERT_EQ(one.result.findings.size(), 2u);
  ASSERT_EQ(four.result.findings.size(), 2u);
  EXPECT_EQ(one.result.numFindings, 2u);
  for (unsigned n = 0; n < 2; ++n) {
    const Finding &f = one.result.findings[n], &g = four.result.findings[n];
    EXPECT_EQ(f.check, "uninit");
    EXPECT_EQ(f.workgroup[0], 0u);
    EXPECT_EQ(f.lanes, ~0ull);
    EXPECT_EQ(f.occurrences, 300u);
    EXPECT_EQ(f.instruction, g.instruction);
    EXPECT_EQ(f.lanes, g.lanes);
    EXPECT_EQ(f.workgroup, g.workgroup);
    EXPECT_EQ(f.occurrences, g.occurrences);
    EXPECT_TRUE(StringRef(f.text).starts_with("global_load_dword v")) << f.text;
    EXPECT_TRUE(StringRef(f.source).contains("kernels.s:")) << f.source;
    EXPECT_TRUE(StringRef(f.where).starts_with("offset 0 of 'in'")) << f.where;
  }
  expectSame(one.result.stats, four.result.stats);
}

TEST(SimDevice, TraceIsFilteredAndCut) {
  std::string text = runInstrumented(1).trace;
  SmallVector<StringRef, 8> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_EQ(lines.size(), 5u) << text;
  EXPECT_TRUE(lines[0].starts_with("wg 7 wave 0 pc 0x"));
  EXPECT_TRUE(lines[0].contains(" exec 0xffffffffffffffff  s_load_dwordx4 s[4:7], s[0:1], 0x0"));
  EXPECT_TRUE(lines[3].ends_with("v_add_u32_e32 v1, s3, v1"));
  EXPECT_EQ(lines[4], "# cut after 4 lines");
}

TEST(SimDevice, WhatCountsAsWritten) {
  std::string object = readObject();
  auto dev = makeDevice(1);
  auto module = take(dev->load(MemoryBufferRef(object, "kernels.co")));
  auto findings = [&](DevicePtr out, DevicePtr in) {
    uint64_t args[2] = {out, in};
    LaunchConfig config;
    config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(args), sizeof(args));
    config.checks = CheckUninit;
    // Checks record what they need.
    config.trackMemory = false;
    return take(dev->launch(*module->lookup("partial"), config)).numFindings;
  };
  auto reader = [&](DevicePtr in) {
    LaunchConfig config;
    config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&in), 8);
    config.checks = CheckUninit;
    return take(dev->launch(*module->lookup("many"), config));
  };
  DevicePtr a = take(dev->allocate(256, "a")), b = take(dev->allocate(256, "b")), c = take(dev->allocate(256, "c"));
  EXPECT_EQ(findings(a, b), 2u);
  std::vector<char> data(256);
  // In pieces that neither start nor end with a word of the bitmap.
  ok(dev->copyToDevice(b, data.data(), 1));
  ok(dev->copyToDevice(b + 1, data.data(), 62));
  ok(dev->copyToDevice(b + 63, data.data(), 130));
  ok(dev->copyToDevice(b + 193, data.data(), 62));
  EXPECT_EQ(findings(a, b), 1u);
  ok(dev->fill(b + 255, 0, 1));
  EXPECT_EQ(findings(a, b), 0u);
  // The kernel wrote three bytes of each dword of `a`, the host the fourth;
  // forgetting the written ranges does not forget that they were written.
  EXPECT_EQ(reader(a).numFindings, 25u);
  dev->clearTracking();
  for (unsigned i = 0; i < 64; ++i)
    ok(dev->fill(a + i * 4 + 3, 0, 1));
  EXPECT_EQ(reader(a).numFindings, 0u);
  // More findings than are reported.
  LaunchResult result = reader(c);
  EXPECT_EQ(result.numFindings, 25u);
  EXPECT_EQ(result.findings.size(), size_t(maxFindings));
  // A launch that records nothing may have written everything.
  LaunchConfig config;
  config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&a), 8);
  config.trackMemory = false;
  take(dev->launch(*module->lookup("many"), config));
  EXPECT_EQ(reader(c).numFindings, 0u);
  // A new owner of the same place starts anew.
  ok(dev->free(c));
  EXPECT_EQ(reader(take(dev->allocate(256, "d"))).numFindings, 25u);
}

TEST(SimDevice, FindingsBeforeAFault) {
  std::string object = readObject();
  for (unsigned jobs : {1u, 4u}) {
    auto dev = makeDevice(jobs);
    auto module = take(dev->load(MemoryBufferRef(object, "kernels.co")));
    DevicePtr in = take(dev->allocate(8, "in"));
    LaunchConfig config;
    config.grid = {100, 1, 1};
    config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&in), 8);
    config.checks = CheckUninit;
    auto result = dev->launch(*module->lookup("chase"), config);
    ASSERT_FALSE(bool(result));
    std::string message = toString(result.takeError());
    SmallVector<StringRef, 4> lines;
    StringRef(message).split(lines, '\n');
    ASSERT_EQ(lines.size(), 2u) << message;
    EXPECT_TRUE(lines[0].contains("out-of-bounds load of 4 bytes at 0x0")) << message;
    EXPECT_TRUE(lines[1].starts_with("found before: kernel 'chase': uninit: read of 8 bytes")) << message;
    EXPECT_TRUE(lines[1].contains("wave 0 of workgroup (0, 0, 0)")) << message;
  }
}

TEST(SimDevice, ZeroFillKeepsBuffersSparse) {
  auto dev = makeDevice();
  uint64_t bytes = 1ull << 36;
  DevicePtr big = take(dev->allocate(bytes, "big"));
  char x[4] = {};
  ok(dev->fill(big + bytes - 4, 7, 4));
  ok(dev->fill(big + 4097, 7, 8));
  ok(dev->fill(big + 4099, 0, bytes - 4099 - 2));
  ok(dev->copyFromDevice(x, big + bytes - 4, 4));
  EXPECT_EQ(StringRef(x, 4), StringRef("\0\0\7\7", 4));
  ok(dev->copyFromDevice(x, big + 4097, 4));
  EXPECT_EQ(StringRef(x, 4), StringRef("\7\7\0\0", 4));
}

TEST(SimChecks, MemoryInstructionsAreKnown) {
  // Instructions of the memory classes that touch no memory themselves.
  const StringRef none[] = {"ds_swizzle_b32", "ds_bpermute_b32", "ds_permute_b32", "ds_nop"};
  for (const auto &entry : sim::getHandlers()) {
    StringRef name = entry.getKey();
    const sim::OpDef &def = *entry.getValue();
    bool memory = def.cls >= sim::CSMEM && def.cls <= sim::CLDS && def.fn;
    auto access = sim::getMemAccess(name);
    if (!memory || is_contained(none, name)) {
      EXPECT_FALSE(access.has_value()) << name.str();
      continue;
    }
    // Formats are known at run time only; the others take their address from M0.
    if (name.contains("_format_") || name.starts_with("s_scratch_") || name.starts_with("s_atc_probe") ||
        name.starts_with("ds_gws_") || name == "ds_append" || name == "ds_consume" || name.contains("_addtid_"))
      continue;
    if (name.starts_with("s_dcache") || name.starts_with("s_memtime") || name.starts_with("s_memrealtime"))
      continue;
    ASSERT_TRUE(access.has_value()) << name.str();
    EXPECT_TRUE(access->reads || access->writes) << name.str();
  }
  auto read2 = *sim::getMemAccess("ds_read2st64_b64");
  EXPECT_EQ(read2.bytes, 8u);
  EXPECT_EQ(read2.offsetScale, 512u);
  EXPECT_TRUE(read2.reads && !read2.writes);
  EXPECT_EQ(sim::getMemAccess("buffer_load_sbyte_d16_hi")->bytes, 1u);
  EXPECT_EQ(sim::getMemAccess("global_load_lds_dwordx4")->bytes, 16u);
  EXPECT_EQ(sim::getMemAccess("flat_atomic_cmpswap_x2")->bytes, 8u);
  EXPECT_EQ(sim::getMemAccess("s_buffer_load_dwordx16")->bytes, 64u);
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
  config.grid = {1, 1, 1};
  config.checks = 0x106;
  expectError(config, "unknown checks 0x100");
  config.checks = 0;
  TraceConfig trace;
  config.trace = &trace;
  expectError(config, "the trace has no stream");
  config.trace = nullptr;
  // Null pointers as arguments.
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
  EXPECT_EQ(module->getKernels().size(), 4u);
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
