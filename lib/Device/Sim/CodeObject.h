//===- CodeObject.h - AMDGPU code objects -----------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_CODEOBJECT_H
#define ATREX_LIB_DEVICE_SIM_CODEOBJECT_H

#include "atrex/Device/Device.h"
#include <memory>
#include <string>
#include <vector>

namespace atrex::device::sim {

/// What the kernel descriptor and the metadata say about one kernel.
struct KernelDesc {
  std::string name;
  /// Virtual address of the first instruction.
  uint64_t entry = 0;
  /// Of its descriptor.
  uint64_t descriptor = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  uint16_t preload = 0;
  bool dynamicStack = false;
  /// Metadata: registers that the compiler moved to memory or to other registers.
  uint32_t vgprSpills = 0, sgprSpills = 0;
  /// Metadata: maximal workgroup size, 0 when unknown.
  uint32_t maxWorkgroupSize = 0;
  std::array<uint32_t, 3> requiredWorkgroup = {0, 0, 0};
  KernelResources resources;
  std::vector<KernelArgInfo> args;
};

struct AddressRange {
  uint64_t begin = 0, end = 0;
};

struct CodeObject {
  /// Copy of the file; debug information is read from it on demand.
  std::unique_ptr<llvm::MemoryBuffer> file;
  /// Segments laid out from virtual address 0.
  std::vector<uint8_t> image;
  struct Relocation {
    uint64_t offset;
    /// Value before the load address is added (when `addBase`).
    uint64_t value;
    uint8_t bytes;
    uint8_t shift;
    bool addBase;
    bool relative;
  };
  std::vector<Relocation> relocations;
  AddressRange code;
  std::vector<KernelDesc> kernels;
  unsigned version = 0;
};

/// Parses a code object for `arch`; every defect is an error.
llvm::Expected<CodeObject> parseCodeObject(llvm::MemoryBufferRef buffer, llvm::StringRef arch);

/// The line tables of a code object, which must outlive it.
class SourceLines {
public:
  explicit SourceLines(const CodeObject &object);
  ~SourceLines();

  struct Location {
    /// Empty when unknown.
    std::string file;
    uint32_t line = 0;
    /// "file:line" or empty.
    std::string str() const;
  };
  Location lookup(uint64_t address) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// "file:line" of a virtual address, or empty.
std::string lookupSourceLine(const CodeObject &object, uint64_t address);

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_CODEOBJECT_H
