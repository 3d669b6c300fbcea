//===- HipDevice.h - A real GPU through HIP ---------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The HIP runtime is loaded when a device is asked for: nothing of it is needed
// to build, and a machine without it gets a message.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DEVICE_HIPDEVICE_H
#define ATREX_DEVICE_HIPDEVICE_H

#include "atrex/Device/Device.h"

namespace atrex::device {

struct HipOptions {
  /// Chip name, alias or architecture the times are rated for.
  std::string chip = "gfx942";
  /// Ordinal of the GPU.
  unsigned ordinal = 0;
  /// The runtime; empty tries its usual names.
  std::string library;
};

/// Opens a GPU. Fails with what is missing: the library, a symbol of it, the GPU.
llvm::Expected<std::unique_ptr<Device>> createHipDevice(const HipOptions &options);

} // namespace atrex::device

#endif // ATREX_DEVICE_HIPDEVICE_H
