//===- MatrixInstructions.cpp - MFMA instructions of AMD chips ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes, types and registers: LLVM's instruction definitions. Passes: LLVM's
// scheduling model and hazard recognizer (f8f6f4 by format), which agree with
// AMD's matrix instruction calculator for gfx942. Layouts of gfx942: AMD's
// calculator. Layouts of gfx950: the same rule, as its compilers use it.
//
//===----------------------------------------------------------------------===//

#include "atrex/Target/MatrixInstructions.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace atrex;

#define DENSE(NAME, M, N, K, BLOCKS, A, B, C, P942, P950, BROADCAST, GROUPS, NEG)                                      \
  {NAME,          MatrixKind::Dense, M,    N,    K,         BLOCKS, MatrixType::A,                                     \
   MatrixType::B, MatrixType::C,     P942, P950, BROADCAST, GROUPS, NEG}
#define SPARSE(NAME, M, N, K, A, B, C, P942, P950)                                                                     \
  {NAME, MatrixKind::Sparse, M, N, K, 1, MatrixType::A, MatrixType::B, MatrixType::C, P942, P950, false, false, false}
/// One block without modifiers.
#define PLAIN(NAME, M, N, K, A, B, C, P942, P950) DENSE(NAME, M, N, K, 1, A, B, C, P942, P950, false, false, false)
/// Several blocks: cbsz, abid and blgp work.
#define BLOCKS(NAME, M, N, K, COUNT, A, C, P942, P950)                                                                 \
  DENSE(NAME, M, N, K, COUNT, A, A, C, P942, P950, true, true, false)
/// The four mixes of fp8 and bf8.
#define MIXES(KIND, PREFIX, M, N, K, P942, P950)                                                                       \
  KIND(PREFIX "_bf8_bf8", M, N, K, BF8, BF8, F32, P942, P950),                                                         \
      KIND(PREFIX "_bf8_fp8", M, N, K, BF8, FP8, F32, P942, P950),                                                     \
      KIND(PREFIX "_fp8_bf8", M, N, K, FP8, BF8, F32, P942, P950),                                                     \
      KIND(PREFIX "_fp8_fp8", M, N, K, FP8, FP8, F32, P942, P950)

static constexpr MatrixInstruction instructions[] = {
    // f64
    DENSE("v_mfma_f64_16x16x4_f64", 16, 16, 4, 1, F64, F64, F64, 8, 16, false, false, true),
    DENSE("v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, 4, F64, F64, F64, 4, 4, false, false, true),
    // f32
    BLOCKS("v_mfma_f32_32x32x1_2b_f32", 32, 32, 1, 2, F32, F32, 16, 16),
    BLOCKS("v_mfma_f32_16x16x1_4b_f32", 16, 16, 1, 4, F32, F32, 8, 8),
    BLOCKS("v_mfma_f32_4x4x1_16b_f32", 4, 4, 1, 16, F32, F32, 2, 2),
    DENSE("v_mfma_f32_32x32x2_f32", 32, 32, 2, 1, F32, F32, F32, 16, 16, false, true, false),
    DENSE("v_mfma_f32_16x16x4_f32", 16, 16, 4, 1, F32, F32, F32, 8, 8, false, true, false),
    // xf32
    PLAIN("v_mfma_f32_16x16x8_xf32", 16, 16, 8, XF32, XF32, F32, 4, 0),
    PLAIN("v_mfma_f32_32x32x4_xf32", 32, 32, 4, XF32, XF32, F32, 8, 0),
    // f16
    BLOCKS("v_mfma_f32_32x32x4_2b_f16", 32, 32, 4, 2, F16, F32, 16, 16),
    BLOCKS("v_mfma_f32_16x16x4_4b_f16", 16, 16, 4, 4, F16, F32, 8, 8),
    BLOCKS("v_mfma_f32_4x4x4_16b_f16", 4, 4, 4, 16, F16, F32, 2, 2),
    PLAIN("v_mfma_f32_32x32x8_f16", 32, 32, 8, F16, F16, F32, 8, 8),
    PLAIN("v_mfma_f32_16x16x16_f16", 16, 16, 16, F16, F16, F32, 4, 4),
    PLAIN("v_mfma_f32_16x16x32_f16", 16, 16, 32, F16, F16, F32, 0, 4),
    PLAIN("v_mfma_f32_32x32x16_f16", 32, 32, 16, F16, F16, F32, 0, 8),
    // bf16
    BLOCKS("v_mfma_f32_32x32x4_2b_bf16", 32, 32, 4, 2, BF16, F32, 16, 16),
    BLOCKS("v_mfma_f32_16x16x4_4b_bf16", 16, 16, 4, 4, BF16, F32, 8, 8),
    BLOCKS("v_mfma_f32_4x4x4_16b_bf16", 4, 4, 4, 16, BF16, F32, 2, 2),
    PLAIN("v_mfma_f32_32x32x8_bf16", 32, 32, 8, BF16, BF16, F32, 8, 8),
    PLAIN("v_mfma_f32_16x16x16_bf16", 16, 16, 16, BF16, BF16, F32, 4, 4),
    PLAIN("v_mfma_f32_16x16x32_bf16", 16, 16, 32, BF16, BF16, F32, 0, 4),
    PLAIN("v_mfma_f32_32x32x16_bf16", 32, 32, 16, BF16, BF16, F32, 0, 8),
    // i8
    BLOCKS("v_mfma_i32_32x32x4_2b_i8", 32, 32, 4, 2, I8, I32, 16, 16),
    BLOCKS("v_mfma_i32_16x16x4_4b_i8", 16, 16, 4, 4, I8, I32, 8, 8),
    BLOCKS("v_mfma_i32_4x4x4_16b_i8", 4, 4, 4, 16, I8, I32, 2, 2),
    PLAIN("v_mfma_i32_32x32x16_i8", 32, 32, 16, I8, I8, I32, 8, 8),
    PLAIN("v_mfma_i32_16x16x32_i8", 16, 16, 32, I8, I8, I32, 4, 4),
    PLAIN("v_mfma_i32_16x16x64_i8", 16, 16, 64, I8, I8, I32, 0, 4),
    PLAIN("v_mfma_i32_32x32x32_i8", 32, 32, 32, I8, I8, I32, 0, 8),
    // fp8, bf8
    MIXES(PLAIN, "v_mfma_f32_16x16x32", 16, 16, 32, 4, 4),
    MIXES(PLAIN, "v_mfma_f32_32x32x16", 32, 32, 16, 8, 8),
    // Formats chosen by the instruction word, without and with scales.
    PLAIN("v_mfma_f32_16x16x128_f8f6f4", 16, 16, 128, F8F6F4, F8F6F4, F32, 0, 8),
    PLAIN("v_mfma_f32_32x32x64_f8f6f4", 32, 32, 64, F8F6F4, F8F6F4, F32, 0, 16),
    {"v_mfma_scale_f32_16x16x128_f8f6f4", MatrixKind::Scaled, 16, 16, 128, 1, MatrixType::F8F6F4, MatrixType::F8F6F4,
     MatrixType::F32, 0, 8, false, false, false},
    {"v_mfma_scale_f32_32x32x64_f8f6f4", MatrixKind::Scaled, 32, 32, 64, 1, MatrixType::F8F6F4, MatrixType::F8F6F4,
     MatrixType::F32, 0, 16, false, false, false},
    // 4:2 sparse
    SPARSE("v_smfmac_f32_16x16x32_f16", 16, 16, 32, F16, F16, F32, 4, 4),
    SPARSE("v_smfmac_f32_32x32x16_f16", 32, 32, 16, F16, F16, F32, 8, 8),
    SPARSE("v_smfmac_f32_16x16x32_bf16", 16, 16, 32, BF16, BF16, F32, 4, 4),
    SPARSE("v_smfmac_f32_32x32x16_bf16", 32, 32, 16, BF16, BF16, F32, 8, 8),
    SPARSE("v_smfmac_i32_16x16x64_i8", 16, 16, 64, I8, I8, I32, 4, 4),
    SPARSE("v_smfmac_i32_32x32x32_i8", 32, 32, 32, I8, I8, I32, 8, 8),
    MIXES(SPARSE, "v_smfmac_f32_16x16x64", 16, 16, 64, 4, 4),
    MIXES(SPARSE, "v_smfmac_f32_32x32x32", 32, 32, 32, 8, 8),
    SPARSE("v_smfmac_f32_16x16x64_f16", 16, 16, 64, F16, F16, F32, 0, 4),
    SPARSE("v_smfmac_f32_32x32x32_f16", 32, 32, 32, F16, F16, F32, 0, 8),
    SPARSE("v_smfmac_f32_16x16x64_bf16", 16, 16, 64, BF16, BF16, F32, 0, 4),
    SPARSE("v_smfmac_f32_32x32x32_bf16", 32, 32, 32, BF16, BF16, F32, 0, 8),
    SPARSE("v_smfmac_i32_16x16x128_i8", 16, 16, 128, I8, I8, I32, 0, 4),
    SPARSE("v_smfmac_i32_32x32x64_i8", 32, 32, 64, I8, I8, I32, 0, 8),
    MIXES(SPARSE, "v_smfmac_f32_16x16x128", 16, 16, 128, 0, 4),
    MIXES(SPARSE, "v_smfmac_f32_32x32x64", 32, 32, 64, 0, 8),
};

unsigned atrex::getBitWidth(MatrixType type) {
  switch (type) {
  case MatrixType::F64:
    return 64;
  case MatrixType::F32:
  case MatrixType::XF32:
  case MatrixType::I32:
    return 32;
  case MatrixType::F16:
  case MatrixType::BF16:
    return 16;
  case MatrixType::FP8:
  case MatrixType::BF8:
  case MatrixType::I8:
    return 8;
  case MatrixType::FP6:
  case MatrixType::BF6:
    return 6;
  case MatrixType::FP4:
    return 4;
  case MatrixType::F8F6F4:
    return 0;
  }
  return 0;
}

StringRef atrex::getName(MatrixType type) {
  static constexpr StringLiteral names[] = {"f64", "f32", "xf32", "f16", "bf16", "fp8",   "bf8",
                                            "fp6", "bf6", "fp4",  "i8",  "i32",  "f8f6f4"};
  return names[unsigned(type)];
}

std::optional<MatrixType> atrex::getF8F6F4Type(unsigned code) {
  static constexpr MatrixType types[] = {MatrixType::FP8, MatrixType::BF8, MatrixType::FP6, MatrixType::BF6,
                                         MatrixType::FP4};
  if (code >= std::size(types))
    return std::nullopt;
  return types[code];
}

bool MatrixInstruction::isAvailable(StringRef arch) const { return getPasses(*this, arch) != 0; }

ArrayRef<MatrixInstruction> atrex::getMatrixInstructions() { return instructions; }

const MatrixInstruction *atrex::lookupMatrixInstruction(StringRef mnemonic) {
  static const StringMap<const MatrixInstruction *> map = [] {
    StringMap<const MatrixInstruction *> m;
    for (const MatrixInstruction &inst : instructions)
      m[inst.mnemonic] = &inst;
    return m;
  }();
  return map.lookup(mnemonic);
}

unsigned atrex::getPasses(const MatrixInstruction &inst, StringRef arch, MatrixType a, MatrixType b) {
  unsigned passes = arch == "gfx942" ? inst.passesGfx942 : arch == "gfx950" ? inst.passesGfx950 : 0;
  auto narrow = [](MatrixType t) { return getBitWidth(t) && getBitWidth(t) < 8; };
  return inst.isF8F6F4() && narrow(a) && narrow(b) ? passes / 2 : passes;
}

bool atrex::isRoundingAssumed(const MatrixInstruction &inst, StringRef arch) {
  return inst.c != MatrixType::I32 && (arch != "gfx942" || inst.kind != MatrixKind::Dense);
}

/// Elements of an operand that one lane holds.
static unsigned getNumValues(const MatrixInstruction &inst, MatrixOperand operand) {
  switch (operand) {
  case MatrixOperand::A:
    return inst.getStoredK() * inst.m * inst.blocks / 64;
  case MatrixOperand::B:
    return inst.k * inst.n * inst.blocks / 64;
  case MatrixOperand::C:
  case MatrixOperand::D:
    return inst.m * inst.n * inst.blocks / 64;
  }
  return 0;
}

unsigned atrex::getNumRegisters(const MatrixInstruction &inst, MatrixOperand operand, MatrixType type) {
  return (getNumValues(inst, operand) * getBitWidth(type) + 31) / 32;
}

unsigned ThreadValueLayout::getSize(ArrayRef<LayoutMode> modes) {
  unsigned size = 1;
  for (const LayoutMode &m : modes)
    size *= m.extent;
  return size;
}

unsigned ThreadValueLayout::apply(ArrayRef<LayoutMode> modes, unsigned coordinate) {
  unsigned index = 0;
  for (const LayoutMode &m : modes) {
    index += coordinate % m.extent * m.stride;
    coordinate /= m.extent;
  }
  return index;
}

static void printModes(raw_ostream &os, ArrayRef<LayoutMode> modes, bool strides) {
  if (modes.size() != 1)
    os << '(';
  for (auto [n, mode] : enumerate(modes))
    os << (n ? "," : "") << (strides ? mode.stride : mode.extent);
  if (modes.size() != 1)
    os << ')';
}

std::string ThreadValueLayout::str() const {
  std::string text;
  raw_string_ostream os(text);
  for (bool strides : {false, true}) {
    os << (strides ? ":(" : "(");
    printModes(os, thread, strides);
    os << ',';
    printModes(os, value, strides);
    os << ')';
  }
  return text;
}

/// A or B: `rows` is M or N, `k` the elements of k that the operand stores.
static ThreadValueLayout getFactorLayout(const MatrixInstruction &inst, unsigned rows, unsigned k, MatrixType type) {
  if (inst.c == MatrixType::F64 && inst.blocks > 1)
    return {{{rows, 1}, {inst.blocks, rows * k}, {k, rows}}, {{1, rows * k * inst.blocks}}};
  unsigned groups = 64 / rows, values = k * rows * inst.blocks / 64;
  if (inst.isF8F6F4() && getBitWidth(type) == 8)
    return {{{rows, 1}, {groups, 16 * rows}}, {{16, rows}, {values / 16, 16 * groups * rows}}};
  return {{{rows, 1}, {groups, values * rows}}, {{values, rows}}};
}

ThreadValueLayout atrex::getThreadValueLayout(const MatrixInstruction &inst, MatrixOperand operand, MatrixType type) {
  unsigned m = inst.m, n = inst.n;
  if (operand == MatrixOperand::A)
    return getFactorLayout(inst, m, inst.getStoredK(), type);
  if (operand == MatrixOperand::B)
    return getFactorLayout(inst, n, inst.k, type);
  ThreadValueLayout layout;
  if (inst.c == MatrixType::F64) {
    // Consecutive values of a lane are rows 4 apart, unlike the 32-bit types.
    if (inst.blocks > 1)
      return {{{n, m}, {inst.blocks, m * n}, {m, 1}}, {{1, m * n * inst.blocks}}};
    return {{{n, m}, {4, 1}}, {{m / 4, 4}}};
  }
  switch (m) {
  case 32:
    layout = {{{n, m}, {2, 4}}, {{4, 1}, {4, 8}}};
    break;
  case 16:
    layout = {{{n, m}, {4, 4}}, {{4, 1}}};
    break;
  default:
    return {{{n, m}, {inst.blocks, m * n}}, {{4, 1}}};
  }
  if (inst.blocks > 1)
    layout.value.push_back({inst.blocks, m * n});
  return layout;
}

ThreadValueLayout atrex::getScaleLayout(const MatrixInstruction &inst, MatrixOperand operand) {
  unsigned rows = operand == MatrixOperand::A ? inst.m : inst.n, groups = 64 / rows;
  return {{{rows, 1}, {groups, rows}}, {{1, 64}}};
}

SparseIndexInfo atrex::getSparseIndexInfo(const MatrixInstruction &inst) {
  if (inst.kind != MatrixKind::Sparse)
    return {0, 0};
  unsigned groups = inst.k * inst.m / 256;
  return {groups, 8 / groups};
}
