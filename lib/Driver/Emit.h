//===- Emit.h - From LLVM dialect to a code object --------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DRIVER_EMIT_H
#define ATREX_LIB_DRIVER_EMIT_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace atrex {

/// Text assembly and linked code object of one kernel module.
struct EmittedCode {
  std::string assembly;
  std::string codeObject;
  /// Bytes of scratch memory a work-item of a kernel takes, where it takes any.
  llvm::StringMap<uint64_t> scratchBytes;
};

/// Translates, optimizes and assembles `module`, and links it in process. A
/// failure inside the backend, fatal ones included, comes back as an error.
llvm::Expected<EmittedCode> emitCode(mlir::gpu::GPUModuleOp module, llvm::StringRef arch, bool wantAssembly,
                                     bool wantCodeObject);

} // namespace atrex

#endif // ATREX_LIB_DRIVER_EMIT_H
