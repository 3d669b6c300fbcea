//===- MatrixRunner.h - One matrix instruction on the device ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assembles a kernel around one matrix instruction and runs it on the embedded
// device, so that its arithmetic can be compared with vectors, independent
// computations and other machines.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DEVICE_SIM_MATRIXRUNNER_H
#define ATREX_DEVICE_SIM_MATRIXRUNNER_H

#include "atrex/Device/Device.h"
#include "atrex/Target/MatrixInstructions.h"
#include <array>

namespace atrex::device {

/// The instruction and the form of its operands.
struct MatrixForm {
  const MatrixInstruction *inst = nullptr;
  std::string arch = "gfx942";
  /// Types of f8f6f4 operands.
  MatrixType a = MatrixType::FP8, b = MatrixType::FP8;
  /// Assembler text behind the operands (" cbsz:1 abid:0"); format codes are
  /// added.
  std::string modifiers;
  /// Accumulation instead of architectural registers for A, B, and C with D.
  bool accA = false, accB = false, accC = false;
  /// D in the registers of C.
  bool inPlace = false;
  /// Inline constant in place of C.
  std::string constantC;
  MatrixArithmetic arithmetic = MatrixArithmetic::Exact;
  /// Executions per wave, C being D from the second on.
  uint32_t repeat = 1;

  MatrixType getTypeA() const { return inst->isF8F6F4() ? a : inst->a; }
  MatrixType getTypeB() const { return inst->isF8F6F4() ? b : inst->b; }
};

/// Registers of one wave: [register][lane].
struct MatrixRegisters {
  std::array<std::array<uint32_t, 64>, 8> a = {}, b = {};
  std::array<std::array<uint32_t, 64>, 32> c = {}, d = {};
  /// Sparse: index register.
  std::array<uint32_t, 64> index = {};
  /// Scaled: scale registers of A and B.
  std::array<uint32_t, 64> scaleA = {}, scaleB = {};
};

/// A device with the assembled kernel.
class MatrixRunner {
public:
  /// Fails when the assembler refuses the form.
  static llvm::Expected<std::unique_ptr<MatrixRunner>> create(const MatrixForm &form, unsigned jobs = 1);

  /// Fills `d` of every wave.
  llvm::Error run(llvm::MutableArrayRef<MatrixRegisters> waves);
  /// Of the last run.
  const ExecutionStats &getStats() const { return stats; }

private:
  MatrixForm form;
  std::unique_ptr<Device> device;
  std::unique_ptr<Module> module;
  ExecutionStats stats;
};

/// Assembles the text of a kernel `kernel` for `arch` and wraps it into a code
/// object with 256 + 256 vector registers per lane, kernel arguments in s[0:1]
/// and the workgroup's number in s2.
llvm::Expected<std::string> assembleKernel(llvm::StringRef text, llvm::StringRef arch, uint32_t kernargBytes);

/// Outcome of one vector file.
struct MatrixVectorResult {
  std::string file;
  std::string instruction;
  uint64_t agree = 0, disagree = 0;
  /// Disagreements in nothing but the sign of a zero; counted as agreeing.
  uint64_t zeroSigns = 0;
  /// The first few disagreements, one line each.
  std::vector<std::string> details;
};

/// Runs the tiles of a vector file (docs/formats.md) through the instruction it
/// names. At most `maxDetails` disagreements are described.
llvm::Expected<MatrixVectorResult> runMatrixVectors(llvm::StringRef path, unsigned maxDetails);

} // namespace atrex::device

#endif // ATREX_DEVICE_SIM_MATRIXRUNNER_H
