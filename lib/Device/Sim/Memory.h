//===- Memory.h - Device memory and access tracking -------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One reserved range of host addresses is the device's address space. Untouched
// pages cost nothing, an inaccessible gap follows every allocation.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_MEMORY_H
#define ATREX_LIB_DEVICE_SIM_MEMORY_H

#include "atrex/Device/Device.h"
#include "lib/Device/Sim/Core.h"
#include <map>
#include <string>
#include <vector>

namespace atrex::device::sim {

class DeviceMemory {
public:
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  llvm::Expected<DevicePtr> allocate(uint64_t bytes, llvm::StringRef label, bool tracked, bool readOnly = false);
  llvm::Error free(DevicePtr ptr);

  /// Checks that a range lies in one allocation.
  llvm::Error check(DevicePtr ptr, uint64_t bytes, llvm::StringRef what) const;

  /// Allocations by ascending address, for the handlers.
  std::vector<MemAlloc> snapshot() const;

  /// "12 bytes past the end of 'x' (...)" for an address.
  std::string describe(uint64_t addr) const;

  llvm::Expected<std::vector<ByteRange>> getWrittenRanges(DevicePtr ptr) const;
  void clearWritten();

  /// Notes that the host wrote a range (which check() accepts).
  void markInitialized(DevicePtr ptr, uint64_t bytes);
  /// Notes that a kernel may have written everything.
  void assumeWritten();

  /// Counts the lines by owner and forgets them.
  void collectLines(ExecutionStats &stats);

private:
  struct Allocation {
    MemAlloc mem = {};
    std::string label;
    uint64_t mapped = 0;
    void *tracking = nullptr;
    uint64_t trackingBytes = 0;
  };
  llvm::Error reserve();
  llvm::Error mapTracking(Allocation &a);
  Allocation *find(uint64_t addr);

  std::map<uint64_t, Allocation> allocs;
  /// Released address ranges by size.
  std::multimap<uint64_t, uint64_t> freeRanges;
  uint64_t spaceBase = 0, spaceSize = 0, spaceUsed = 0;
};

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_MEMORY_H
