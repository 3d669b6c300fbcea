//===- FileOutput.h - Files that are whole or absent ------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_SUPPORT_FILEOUTPUT_H
#define ATREX_SUPPORT_FILEOUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace atrex {

/// Writes `content` to `path` through a temporary file beside it, so that a
/// failure leaves nothing half-written. `-` is standard output.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef content);

/// Whether `path` could be written, without writing it: to be asked before long
/// work whose result goes there.
llvm::Error checkWritable(llvm::StringRef path);

} // namespace atrex

#endif // ATREX_SUPPORT_FILEOUTPUT_H
