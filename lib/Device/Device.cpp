//===- Device.cpp - Parts common to all devices ---------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace atrex::device;

Kernel::~Kernel() = default;
Module::~Module() = default;
Device::~Device() = default;

bool atrex::device::isPerLane(InstClass cls) {
  switch (cls) {
  case InstClass::VALU:
  case InstClass::Trans:
  case InstClass::MulQuarter:
  case InstClass::MFMA:
  case InstClass::VMEMLoad:
  case InstClass::VMEMStore:
  case InstClass::VMEMAtomic:
  case InstClass::LDS:
    return true;
  case InstClass::SALU:
  case InstClass::SMEM:
  case InstClass::Branch:
  case InstClass::Internal:
    return false;
  }
  return false;
}

std::vector<LineProfile> atrex::device::sumByLine(llvm::ArrayRef<InstructionProfile> profile) {
  std::map<std::pair<std::string, uint32_t>, LineProfile> lines;
  for (const InstructionProfile &p : profile) {
    LineProfile &l = lines[{p.file, p.line}];
    l.file = p.file;
    l.line = p.line;
    ++l.instructions;
    l.executions += p.executions;
    l.valuCycles += p.valuCycles;
    l.matrixCycles += p.matrixCycles;
    l.loadBytes += p.loadBytes;
    l.storeBytes += p.storeBytes;
    l.ldsReadBytes += p.ldsReadBytes;
    l.ldsWriteBytes += p.ldsWriteBytes;
  }
  std::vector<LineProfile> result;
  for (auto &[key, l] : lines)
    result.push_back(std::move(l));
  llvm::sort(result, [](const LineProfile &a, const LineProfile &b) {
    return std::tie(b.valuCycles, b.executions, a.file, a.line) < std::tie(a.valuCycles, a.executions, b.file, b.line);
  });
  return result;
}

const Kernel *Module::lookup(llvm::StringRef name) const {
  for (const Kernel *kernel : getKernels())
    if (kernel->getName() == name)
      return kernel;
  return nullptr;
}

llvm::StringRef atrex::device::getName(MatrixArithmetic arithmetic) {
  return arithmetic == MatrixArithmetic::Fast ? "fast" : "exact";
}

llvm::StringRef atrex::device::getName(InstClass cls) {
  switch (cls) {
  case InstClass::VALU:
    return "valu";
  case InstClass::Trans:
    return "trans";
  case InstClass::MulQuarter:
    return "mul-quarter";
  case InstClass::MFMA:
    return "mfma";
  case InstClass::SALU:
    return "salu";
  case InstClass::SMEM:
    return "smem";
  case InstClass::VMEMLoad:
    return "vmem-load";
  case InstClass::VMEMStore:
    return "vmem-store";
  case InstClass::VMEMAtomic:
    return "vmem-atomic";
  case InstClass::LDS:
    return "lds";
  case InstClass::Branch:
    return "branch";
  case InstClass::Internal:
    return "internal";
  }
  return "unknown";
}
