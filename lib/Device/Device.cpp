//===- Device.cpp - Parts common to all devices ---------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"

using namespace atrex::device;

Kernel::~Kernel() = default;
Module::~Module() = default;
Device::~Device() = default;

const Kernel *Module::lookup(llvm::StringRef name) const {
  for (const Kernel *kernel : getKernels())
    if (kernel->getName() == name)
      return kernel;
  return nullptr;
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
