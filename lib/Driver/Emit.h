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
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
class raw_pwrite_stream;
namespace legacy {
class PassManager;
} // namespace legacy
} // namespace llvm

namespace atrex {

/// Text assembly and linked code object of one kernel module.
struct EmittedCode {
  std::string assembly;
  std::string codeObject;
  /// Bytes of scratch memory a work-item of a kernel takes, where it takes any.
  llvm::StringMap<uint64_t> scratchBytes;
  /// Functions that are scheduled for few registers, since the usual schedule takes more scratch memory, and how much
  /// that is.
  llvm::StringMap<uint64_t> leanBytes;
};

/// What the backend may be told apart from the module.
struct BackendOptions {
  /// 0 to 3, of LLVM's passes and of code generation.
  unsigned optLevel = 3;
  /// Options of LLVM's command line, `-NAME` or `-NAME=VALUE`.
  std::vector<std::string> llvmOptions;
};

/// An error when LLVM does not take an option: one that it has not, a value that
/// does not suit, one given twice. Resets the command line library when there are
/// options of LLVM to look at.
llvm::Error checkBackendOptions(const BackendOptions &options);

/// LLVM bitcode of `module`: all that the backend sees of it.
llvm::Expected<std::string> translateToBitcode(mlir::gpu::GPUModuleOp module);

/// Optimizes and assembles a module in bitcode, and links it in process. A failure
/// inside the backend, fatal ones included, comes back as an error. Threads may
/// call this at a time; with options of LLVM, which are global, the others wait.
/// The linker, and options of LLVM, reset the command line library.
llvm::Expected<EmittedCode> emitCode(llvm::StringRef bitcode, llvm::StringRef arch, const BackendOptions &options,
                                     bool wantAssembly, bool wantCodeObject);

/// The same of a module that is not translated yet, with the usual options.
llvm::Expected<EmittedCode> emitCode(mlir::gpu::GPUModuleOp module, llvm::StringRef arch, bool wantAssembly,
                                     bool wantCodeObject);

/// Adds code generation of `machine` into `os`. False where the target cannot emit the kind of file.
bool addCodeGenPasses(llvm::legacy::PassManager &passes, llvm::TargetMachine &machine, llvm::raw_pwrite_stream &os,
                      llvm::CodeGenFileType type);

} // namespace atrex

#endif // ATREX_LIB_DRIVER_EMIT_H
