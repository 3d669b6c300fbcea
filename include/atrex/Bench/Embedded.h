//===- Embedded.h - Files that are part of the binary -----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The catalogue, the kernels and the schedules are embedded when the bench is
// built, so that the tool works from any directory.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_EMBEDDED_H
#define ATREX_BENCH_EMBEDDED_H

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace atrex::bench {

struct EmbeddedFile {
  /// Path below `bench/` with forward slashes: `kernels/rms_norm.atx`.
  llvm::StringRef name;
  llvm::StringRef text;
};

/// Catalogue files.
std::vector<EmbeddedFile> getEmbeddedCatalogue();
/// Kernels and schedules.
std::vector<EmbeddedFile> getEmbeddedSources();

} // namespace atrex::bench

#endif // ATREX_BENCH_EMBEDDED_H
