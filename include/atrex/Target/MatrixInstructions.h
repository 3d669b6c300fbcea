//===- MatrixInstructions.h - MFMA instructions of AMD chips ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every matrix instruction of gfx942 and gfx950: shape, types, registers,
// passes, and where each element lives. The embedded device decodes and executes
// from this table; atoms of the AMD dialect and the static analysis read it.
//
// D = A B + C for each of `blocks` independent blocks, A being M x K, B K x N,
// C and D M x N. One wave of 64 lanes holds the operands.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TARGET_MATRIXINSTRUCTIONS_H
#define ATREX_TARGET_MATRIXINSTRUCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace atrex {

/// Element types of matrix operands. FP8 and BF8 are FNUZ on gfx942 and OCP on
/// gfx950. F8F6F4 stands for an operand whose type the instruction word chooses
/// (see getF8F6F4Type).
enum class MatrixType : uint8_t { F64, F32, XF32, F16, BF16, FP8, BF8, FP6, BF6, FP4, I8, I32, F8F6F4 };
/// Bits one element occupies in registers. Zero for F8F6F4.
unsigned getBitWidth(MatrixType type);
llvm::StringRef getName(MatrixType type);

/// The type of format code `code` (cbsz for A, blgp for B) of the f8f6f4
/// instructions: 0 fp8, 1 bf8, 2 fp6 (E2M3), 3 bf6 (E3M2), 4 fp4 (E2M1).
std::optional<MatrixType> getF8F6F4Type(unsigned code);

enum class MatrixKind : uint8_t {
  /// v_mfma_*
  Dense,
  /// v_smfmac_*: A is 4:2 sparse, holds K/2 stored elements per row; the third
  /// source is the index register and D is also C.
  Sparse,
  /// v_mfma_scale_*: one E8M0 scale per row of A (column of B) and 32 elements
  /// of k.
  Scaled,
};

enum class MatrixOperand : uint8_t { A, B, C, D };

/// One instruction.
struct MatrixInstruction {
  llvm::StringLiteral mnemonic;
  MatrixKind kind;
  uint8_t m, n;
  uint16_t k;
  uint8_t blocks;
  MatrixType a, b;
  /// Type of C and D.
  MatrixType c;
  /// Passes of four cycles; zero where the chip lacks the instruction. For
  /// f8f6f4 this is the figure of the 8-bit formats, see getPasses.
  uint8_t passesGfx942, passesGfx950;
  /// cbsz and abid broadcast blocks of A.
  bool hasBroadcast;
  /// blgp permutes groups of lanes of B.
  bool hasLaneGroups;
  /// blgp bits negate A, B and C.
  bool hasNegation;

  bool isF8F6F4() const { return a == MatrixType::F8F6F4; }
  bool isAvailable(llvm::StringRef arch) const;
  /// Elements of k that A stores: half of K for sparse instructions.
  unsigned getStoredK() const { return kind == MatrixKind::Sparse ? k / 2 : k; }
  /// Multiplications and additions, two per multiply-accumulate of the dense
  /// shape.
  uint64_t getFlops() const { return 2ull * m * n * k * blocks; }
};

/// All instructions, each mnemonic once, as LLVM prints it without suffix.
llvm::ArrayRef<MatrixInstruction> getMatrixInstructions();
/// nullptr when there is no such instruction.
const MatrixInstruction *lookupMatrixInstruction(llvm::StringRef mnemonic);

/// Passes (units of four cycles) on `arch`; zero where it is not available. The
/// types decide for f8f6f4: with an 8-bit operand it takes twice as long.
unsigned getPasses(const MatrixInstruction &inst, llvm::StringRef arch, MatrixType a, MatrixType b);
inline unsigned getPasses(const MatrixInstruction &inst, llvm::StringRef arch) {
  return getPasses(inst, arch, inst.a, inst.b);
}

/// Whether the bits of the result are an assumption on `arch`: no public source
/// states the rounding of gfx950 and of sparse instructions. Integers are exact
/// everywhere.
bool isRoundingAssumed(const MatrixInstruction &inst, llvm::StringRef arch);

/// 32-bit registers per lane of an operand. `type` is the element type, which
/// only matters for F8F6F4 operands.
unsigned getNumRegisters(const MatrixInstruction &inst, MatrixOperand operand, MatrixType type);
inline unsigned getNumRegisters(const MatrixInstruction &inst, MatrixOperand operand) {
  return getNumRegisters(inst, operand,
                         operand == MatrixOperand::A   ? inst.a
                         : operand == MatrixOperand::B ? inst.b
                                                       : inst.c);
}

/// A mode of a layout: coordinates 0..extent-1 advance the index by stride.
struct LayoutMode {
  unsigned extent;
  unsigned stride;
  bool operator==(const LayoutMode &o) const { return extent == o.extent && stride == o.stride; }
};

/// Where the elements of an operand live: (lane, value) -> index. Modes are
/// leftmost fastest. Values of a lane are in register order, value 0 in the low
/// bits of the first register.
///
/// Index of A: m + M * k + M * K * block, with K the stored k for sparse A; B:
/// n + N * k + N * K * block; C and D: m + M * n + M * N * block.
struct ThreadValueLayout {
  llvm::SmallVector<LayoutMode, 4> thread;
  llvm::SmallVector<LayoutMode, 4> value;

  unsigned getNumLanes() const { return getSize(thread); }
  unsigned getNumValues() const { return getSize(value); }
  unsigned at(unsigned lane, unsigned v) const { return apply(thread, lane) + apply(value, v); }
  /// "((16,4),4):((1,64),16)".
  std::string str() const;

private:
  static unsigned getSize(llvm::ArrayRef<LayoutMode> modes);
  static unsigned apply(llvm::ArrayRef<LayoutMode> modes, unsigned coordinate);
};

/// The layout of an operand. `type` only matters for F8F6F4: 8-bit elements lie
/// in two chunks of 16 (k = K/2 * (v div 16) + 16 * (lane div M) + v mod 16), narrower
/// ones in one of 32. Sources of that order: shipping compilers for gfx950; it
/// is visible only with scales that differ along k.
ThreadValueLayout getThreadValueLayout(const MatrixInstruction &inst, MatrixOperand operand, MatrixType type);
inline ThreadValueLayout getThreadValueLayout(const MatrixInstruction &inst, MatrixOperand operand) {
  return getThreadValueLayout(inst, operand,
                              operand == MatrixOperand::A   ? inst.a
                              : operand == MatrixOperand::B ? inst.b
                                                            : inst.c);
}

/// The scales of A (B): lane -> row + M * (k div 32) (column + N * ...).
ThreadValueLayout getScaleLayout(const MatrixInstruction &inst, MatrixOperand operand);

/// The index register of sparse instructions. Groups of four k share two stored
/// elements; four bits give their positions (the first element's in the low two
/// bits). A set is what one instruction uses: `groupsPerLane` groups of lane
/// row + M * h are those of k from h * K * M / 64 on, lowest bits first.
struct SparseIndexInfo {
  unsigned groupsPerLane;
  /// Sets in one register, chosen by abid when cbsz is zero; otherwise the first
  /// is used.
  unsigned sets;
};
SparseIndexInfo getSparseIndexInfo(const MatrixInstruction &inst);

} // namespace atrex

#endif // ATREX_TARGET_MATRIXINSTRUCTIONS_H
