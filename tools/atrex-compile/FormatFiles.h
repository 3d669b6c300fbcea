//===- FormatFiles.h - atrex-compile --format -------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_COMPILE_FORMATFILES_H
#define ATREX_TOOLS_ATREX_COMPILE_FORMATFILES_H

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace atrex {

struct FormatOptions {
  /// Rewrites the files that change.
  bool inPlace = false;
  /// Names the files that would change on standard error and writes nothing.
  bool check = false;
  /// Where the text goes otherwise; - is standard output.
  std::string output;
};

/// Formats kernel language sources; `-` is standard input. A file with errors is
/// reported and left as it is, and the others are formatted. Returns the exit
/// status.
int formatFiles(llvm::ArrayRef<std::string> names, const FormatOptions &options);

} // namespace atrex

#endif // ATREX_TOOLS_ATREX_COMPILE_FORMATFILES_H
