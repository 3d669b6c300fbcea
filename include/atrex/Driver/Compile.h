//===- Compile.h - From source text to a code object ------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler as a library: `.atx` or `.mlir` text in, text or code object and
// manifest out. atrex-compile and the bench call this.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DRIVER_COMPILE_H
#define ATREX_DRIVER_COMPILE_H

#include "atrex/Runtime/Manifest.h"
#include "atrex/Support/DimExpr.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <string>
#include <vector>

namespace atrex {
class CompileCache;

/// Last stage to run; the text of that stage is the result.
enum class EmitKind : uint8_t { Atx, MLIR, Tile, Fragment, LLVM, Asm, Hsaco };

struct CompileOptions {
  std::string arch = "gfx942";
  /// Dimensions that become compile-time constants.
  DimMap dims;
  /// Values of knobs, by name.
  std::map<std::string, std::string> knobs;
  /// Text of a schedule file; empty selects the built-in schedule.
  std::string schedule;
  /// Name of the schedule for diagnostics.
  std::string scheduleName = "<built-in>";
  EmitKind emit = EmitKind::Hsaco;
  /// Operator to compile when the source defines several; empty takes the only
  /// one.
  std::string op;
  /// Kernels without the attributes of outlined operators have no manifest
  /// entry; with this they are an error.
  bool needManifest = true;
  bool printTimings = false;
  /// Remarks on what makes kernels on tiles slow, beside the other diagnostics.
  bool remarks = false;
  /// What concerns the backend alone. Level 0 to 3 of LLVM's passes and of code
  /// generation.
  unsigned optLevel = 3;
  /// Options of LLVM's command line, `-NAME` or `-NAME=VALUE`. They are global: other
  /// threads wait while code is generated with some, and the command line library is
  /// reset, as by the linker.
  std::vector<std::string> backendOptions;
  /// Where results are looked up and kept, for assembly and code objects; null for
  /// none. The result is the same with it, diagnostics included. Several threads may
  /// use one cache.
  CompileCache *cache = nullptr;
};

struct CompileResult {
  /// Text of the requested stage, or the code object for EmitKind::Hsaco.
  std::string output;
  /// Filled for EmitKind::Hsaco and EmitKind::Asm.
  Manifest manifest;
};

/// Compiles `source` (language chosen by the buffer's name: `.mlir` is MLIR,
/// everything else the kernel language). Diagnostics go to `diagnostics` with
/// source line and caret; std::nullopt on failure.
std::optional<CompileResult> compile(llvm::MemoryBufferRef source, const CompileOptions &options,
                                     llvm::raw_ostream &diagnostics);

/// The search space of a kernel language source as JSON, `atrex-mlir/space/1` of
/// docs/formats.md: knobs, constraints, excluded choices, and the tunable options
/// of the schedule. std::nullopt on failure.
std::optional<std::string> describeSpace(llvm::MemoryBufferRef source, const CompileOptions &options,
                                         llvm::raw_ostream &diagnostics);

/// Identifies this build of the compiler in manifests and results.
std::string getCompilerVersion();

} // namespace atrex

#endif // ATREX_DRIVER_COMPILE_H
