//===- FileInput.h - Files of a bounded size --------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_SUPPORT_FILEINPUT_H
#define ATREX_SUPPORT_FILEINPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace atrex {

/// The bytes of a regular file of at most `maxBytes` bytes, not followed by a
/// zero. Devices, pipes and directories are refused: reading them may never end.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readRegularFile(llvm::StringRef path, uint64_t maxBytes);

/// The bytes of a file or a pipe, or of standard input for "-", of at most
/// `maxBytes` bytes and followed by a zero. Reading ends there, so that endless
/// input does not fill the memory. Devices and directories are refused.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path, uint64_t maxBytes);

/// What texts that people write may have: kernels, schedules, lists.
constexpr uint64_t maxTextBytes = uint64_t(64) << 20;

} // namespace atrex

#endif // ATREX_SUPPORT_FILEINPUT_H
