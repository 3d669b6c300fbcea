//===- FakeDevice.h - A device for tests of the bench -----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes nothing: a launch calls a function of the test, which writes through
// the device so that written ranges are tracked as on the embedded device.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TEST_UNIT_BENCH_FAKEDEVICE_H
#define ATREX_TEST_UNIT_BENCH_FAKEDEVICE_H

#include "atrex/Bench/Operator.h"
#include "atrex/Bench/Runner.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace atrex::bench::test {

class FakeKernel : public device::Kernel {
public:
  explicit FakeKernel(std::string name) : name(std::move(name)) {}
  llvm::StringRef getName() const override { return name; }
  const device::KernelResources &getResources() const override { return resources; }
  llvm::ArrayRef<device::KernelArgInfo> getArgs() const override { return {}; }

private:
  std::string name;
  device::KernelResources resources;
};

class FakeModule : public device::Module {
public:
  explicit FakeModule(std::string name) : kernel(std::move(name)) {}
  std::vector<const device::Kernel *> getKernels() const override { return {&kernel}; }

private:
  FakeKernel kernel;
};

class FakeDevice : public device::Device {
public:
  using LaunchFunction = std::function<llvm::Error(FakeDevice &, const device::LaunchConfig &)>;
  FakeDevice(const ChipInfo &chip, LaunchFunction launchFunction)
      : chip(chip), launchFunction(std::move(launchFunction)) {}

  llvm::StringRef getName() const override { return "fake"; }
  const ChipInfo &getChip() const override { return chip; }
  bool isSimulated() const override { return simulated; }

  llvm::Expected<std::unique_ptr<device::Module>> load(llvm::MemoryBufferRef codeObject) override {
    return std::make_unique<FakeModule>(codeObject.getBuffer().str());
  }
  llvm::Expected<device::DevicePtr> allocate(uint64_t bytes, llvm::StringRef name) override {
    device::DevicePtr ptr = next;
    next += (bytes + 0xFFFF) & ~uint64_t(0xFFFF);
    // There are no caches, and writing half a gigabyte takes long.
    if (name == "cache flush")
      flushBuffer = ptr;
    else
      memory[ptr].resize(bytes);
    return ptr;
  }
  llvm::Error free(device::DevicePtr ptr) override {
    memory.erase(ptr);
    written.erase(ptr);
    return llvm::Error::success();
  }
  llvm::Error copyToDevice(device::DevicePtr dst, const void *src, uint64_t bytes) override {
    uint8_t *data = find(dst, bytes);
    if (!data)
      return makeError("address outside any allocation");
    std::memcpy(data, src, bytes);
    return llvm::Error::success();
  }
  llvm::Error copyFromDevice(void *dst, device::DevicePtr src, uint64_t bytes) override {
    uint8_t *data = find(src, bytes);
    if (!data)
      return makeError("address outside any allocation");
    std::memcpy(dst, data, bytes);
    return llvm::Error::success();
  }
  llvm::Error fill(device::DevicePtr dst, uint8_t value, uint64_t bytes) override {
    if (dst == flushBuffer)
      return llvm::Error::success();
    uint8_t *data = find(dst, bytes);
    if (!data)
      return makeError("address outside any allocation");
    std::memset(data, value, bytes);
    return llvm::Error::success();
  }
  llvm::Expected<device::LaunchResult> launch(const device::Kernel &, const device::LaunchConfig &config) override {
    ++launches;
    executed.assign(config.sample.begin(), config.sample.end());
    if (llvm::Error error = launchFunction(*this, config))
      return std::move(error);
    device::LaunchResult result;
    result.time.seconds = launchSeconds;
    result.time.isPrediction = simulated;
    result.time.grade = "roofline-grade";
    return result;
  }
  llvm::Expected<std::vector<device::ByteRange>> getWrittenRanges(device::DevicePtr ptr) override {
    std::vector<device::ByteRange> ranges = written[ptr];
    llvm::sort(ranges, [](const auto &a, const auto &b) { return a.offset < b.offset; });
    std::vector<device::ByteRange> merged;
    for (const device::ByteRange &range : ranges) {
      if (!merged.empty() && merged.back().offset + merged.back().size >= range.offset)
        merged.back().size = std::max(merged.back().size, range.offset + range.size - merged.back().offset);
      else
        merged.push_back(range);
    }
    return merged;
  }
  void clearTracking() override { written.clear(); }

  /// What kernel code does.
  void store(device::DevicePtr base, uint64_t offset, const void *data, uint64_t bytes) {
    std::memcpy(memory[base].data() + offset, data, bytes);
    written[base].push_back({offset, bytes});
  }
  const uint8_t *getData(device::DevicePtr base) { return memory[base].data(); }

  /// Whether it claims to predict its times.
  bool simulated = true;
  /// What the next launches take; launch functions may change it.
  double launchSeconds = 10e-6;
  unsigned launches = 0;
  std::vector<uint64_t> executed;

private:
  uint8_t *find(device::DevicePtr ptr, uint64_t bytes) {
    auto it = memory.upper_bound(ptr);
    if (it == memory.begin())
      return nullptr;
    --it;
    uint64_t offset = ptr - it->first;
    return offset + bytes <= it->second.size() ? it->second.data() + offset : nullptr;
  }
  const ChipInfo &chip;
  LaunchFunction launchFunction;
  device::DevicePtr next = 0x10000, flushBuffer = 0;
  std::map<device::DevicePtr, std::vector<uint8_t>> memory;
  std::map<device::DevicePtr, std::vector<device::ByteRange>> written;
};

} // namespace atrex::bench::test

#endif // ATREX_TEST_UNIT_BENCH_FAKEDEVICE_H
