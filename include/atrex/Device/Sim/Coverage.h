//===- Coverage.h - Which instructions the device executes ------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DEVICE_SIM_COVERAGE_H
#define ATREX_DEVICE_SIM_COVERAGE_H

#include "atrex/Target/Chip.h"
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

/// Of all mnemonics of the gfx9 family that the processor's tables name, those
/// without a handler: also what other members of the family have.
llvm::Expected<std::vector<std::string>> getMissingMnemonics(llvm::StringRef arch);

/// One opcode of a processor as LLVM's disassembler names it.
struct IsaEntry {
  struct Sample {
    std::vector<uint8_t> bytes;
    std::string text;
    bool handled = false;
  };
  /// LLVM's name of the opcode, e.g. "V_ADD_F32_sdwa_gfx9".
  std::string opcode;
  std::string mnemonic;
  /// "SOP1", "VOP2_DPP", "DS", "MFMA", ...
  std::string encoding;
  /// Why there is no handler, empty for what has to have one.
  std::string excluded;
  /// Every sample has a handler.
  bool handled = false;
  /// Encodings with different operands.
  std::vector<Sample> samples;
};

/// Every opcode that LLVM's disassembler produces for the chip's processor,
/// found by filling the opcode fields of all encodings.
llvm::Expected<std::vector<IsaEntry>> computeIsaCoverage(const ChipInfo &chip);

/// Why an instruction has no handler by intent; empty when it has to have one.
std::string getExclusionReason(llvm::StringRef mnemonic, llvm::StringRef encoding);

/// Name of the x86 level the handlers were chosen for: base, avx2 or avx512.
llvm::StringRef getHostLevel();

} // namespace atrex::device

#endif // ATREX_DEVICE_SIM_COVERAGE_H
