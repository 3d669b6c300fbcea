//===- Coverage.h - Which instructions the device executes ------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DEVICE_SIM_COVERAGE_H
#define ATREX_DEVICE_SIM_COVERAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace atrex::device {

struct CoverageReport {
  uint64_t instructions = 0;
  /// Dwords of the code that LLVM does not take for an instruction.
  uint64_t undecodedDwords = 0;
  /// Mnemonic to number of occurrences, for instructions without a handler.
  std::map<std::string, uint64_t> missing;
};

/// Walks all code of a code object in a straight line. An empty `arch` means the
/// one the file is built for.
llvm::Expected<CoverageReport> computeCoverage(llvm::MemoryBufferRef codeObject, llvm::StringRef arch = "");

/// Processor name in the flags of a code object, empty when it is none of ours.
llvm::StringRef getCodeObjectArch(llvm::MemoryBufferRef codeObject);

/// Of all mnemonics of the processor's instruction set, those that have no
/// handler.
llvm::Expected<std::vector<std::string>> getMissingMnemonics(llvm::StringRef arch);

/// Name of the x86 level the handlers were chosen for: base, avx2 or avx512.
llvm::StringRef getHostLevel();

} // namespace atrex::device

#endif // ATREX_DEVICE_SIM_COVERAGE_H
