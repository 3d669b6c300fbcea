//===- MatrixDecode.cpp - Operands of matrix instructions -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// VOP3P-MAI: vdst 7:0, cbsz 10:8, abid 14:11, acc_cd 15, src0 40:32, src1 49:41,
// src2 58:50, acc of src0 and src1 60:59, blgp 63:61. A scaled instruction is 16
// bytes: v_mfma_ld_scale_b32 with the scales as src0 and src1 and their byte in
// op_sel (12:11) and op_sel_hi (60:59), then the f8f6f4 instruction.
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Decoder.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace atrex;
using namespace atrex::device::sim;

static MatrixFormat getFormat(MatrixType type, bool fnuz) {
  switch (type) {
  case MatrixType::F64:
    return MFloat64;
  case MatrixType::F32:
    return MFloat32;
  case MatrixType::XF32:
    return MXFloat32;
  case MatrixType::F16:
    return MHalf;
  case MatrixType::BF16:
    return MBFloat;
  case MatrixType::FP8:
    return fnuz ? MFP8FNUZ : MFP8;
  case MatrixType::BF8:
    return fnuz ? MBF8FNUZ : MBF8;
  case MatrixType::FP6:
    return MFP6;
  case MatrixType::BF6:
    return MBF6;
  case MatrixType::FP4:
    return MFP4;
  case MatrixType::I8:
  case MatrixType::I32:
  case MatrixType::F8F6F4:
    break;
  }
  return MInt8;
}

bool Program::decodeMatrix(Inst &in, const MatrixInstruction &info, unsigned size, uint64_t slot) {
  auto word = [&](unsigned dword) { return support::endian::read32le(&bytes[(slot + dword) * 4]); };
  bool scaled = info.kind == MatrixKind::Scaled;
  if (size != (scaled ? 16u : 8u))
    return false;
  u32 lo = word(scaled ? 2 : 0), hi = word(scaled ? 3 : 1);
  MatrixOp &op = matrixOps.emplace_back();
  op.info = &info;
  in.matrix = &op;
  auto complain = [&](const char *text) {
    if (!op.complaint)
      op.complaint = text;
    in.fn = handleBadMatrix;
  };

  op.cbsz = u8(lo >> 8 & 7);
  op.abid = u8(lo >> 11 & 15);
  op.blgp = u8(hi >> 29 & 7);
  MatrixType typeA = info.a, typeB = info.b;
  if (info.isF8F6F4()) {
    std::optional<MatrixType> a = getF8F6F4Type(op.cbsz), b = getF8F6F4Type(op.blgp);
    if (!a || !b)
      complain("a format code above 4 in cbsz or blgp");
    typeA = a.value_or(MatrixType::FP8);
    typeB = b.value_or(MatrixType::FP8);
    op.cbsz = op.abid = op.blgp = 0;
  }
  op.sparse = info.kind == MatrixKind::Sparse;
  op.scaled = scaled;
  op.m = info.m;
  op.n = info.n;
  op.blocks = info.blocks;
  op.k = info.k;
  op.storedK = u16(info.getStoredK());
  op.formatA = getFormat(typeA, chip->fp8IsFNUZ);
  op.formatB = getFormat(typeB, chip->fp8IsFNUZ);
  op.passes = u8(getPasses(info, chip->arch, typeA, typeB));
  op.numA = u8(getNumRegisters(info, MatrixOperand::A, typeA));
  op.numB = u8(getNumRegisters(info, MatrixOperand::B, typeB));
  op.numC = u8(getNumRegisters(info, MatrixOperand::C));
  ThreadValueLayout a = getThreadValueLayout(info, MatrixOperand::A, typeA),
                    b = getThreadValueLayout(info, MatrixOperand::B, typeB),
                    c = getThreadValueLayout(info, MatrixOperand::C);
  op.chunkA = u8(a.value.front().extent);
  op.chunkB = u8(b.value.front().extent);
  switch (info.a) {
  case MatrixType::F64: {
    op.arith = MatF64;
    auto [it, added] = matrixMaps.try_emplace(&info);
    u16 *map = it->second.data();
    for (unsigned lane = 0; added && lane < 64; ++lane) {
      map[lane] = u16(a.at(lane, 0));
      map[64 + lane] = u16(b.at(lane, 0));
      for (unsigned v = 0; v < c.getNumValues(); ++v)
        map[128 + v * 64 + lane] = u16(c.at(lane, v));
    }
    op.mapA = map;
    op.mapB = map + 64;
    op.mapC = map + 128;
    break;
  }
  case MatrixType::F32:
    op.arith = MatF32;
    break;
  case MatrixType::I8:
    op.arith = MatI8;
    break;
  default:
    op.arith = MatFloat;
    op.evenOdd = getBitWidth(typeA) <= 8;
    op.group = u8(std::min<unsigned>(op.evenOdd ? 16 : typeA == MatrixType::XF32 ? 4 : 8, op.storedK));
    break;
  }

  // Modifiers.
  if (op.sparse) {
    SparseIndexInfo index = getSparseIndexInfo(info);
    op.indexGroups = u8(index.groupsPerLane);
    op.indexShift = u8(op.cbsz ? 0 : op.abid % index.sets * index.groupsPerLane * 4);
    op.cbsz = op.abid = 0;
  } else if (!info.hasBroadcast) {
    if (op.cbsz)
      complain("cbsz of a matrix instruction that cannot broadcast blocks");
  } else if (1u << op.cbsz > info.blocks) {
    complain("a cbsz that spans more blocks than the matrix instruction has");
  }
  if (op.blgp && !info.hasLaneGroups && !info.hasNegation)
    complain("blgp of a matrix instruction that cannot permute lanes of B");

  // Operands. Tuples begin at even registers.
  auto place = [&](unsigned reg, bool acc, unsigned count) -> u32 {
    if (reg + count > 256)
      complain("a matrix operand beyond the last register");
    if (count > 1 && reg % 2)
      complain("a matrix operand that begins at an odd register");
    return (reg % 256 + (acc ? 256 : 0)) * 64;
  };
  bool accD = lo >> 15 & 1;
  unsigned codeA = hi & 511, codeB = hi >> 9 & 511, codeC = hi >> 18 & 511;
  if (codeA < 256 || codeB < 256)
    complain("a matrix operand A or B that is no vector register");
  op.a = place(codeA & 255, hi >> 27 & 1, op.numA);
  op.b = place(codeB & 255, hi >> 28 & 1, op.numB);
  op.d = op.c = place(lo & 255, accD, op.numC);
  in.dst = op.d;
  if (op.sparse) {
    if (codeC < 256)
      complain("a sparse index that is no vector register");
    op.index = (codeC & 255) * 64;
  } else if (codeC >= 256) {
    op.c = place(codeC & 255, accD, op.numC);
  } else {
    TypeCode type = info.c == MatrixType::F64 ? TF64 : info.c == MatrixType::I32 ? TI32 : TF32;
    bool known = decodeSource(in, 2, codeC, 0, type);
    op.constantC = in.src[2].constant;
    if (!known || in.src[2].kind != OConst)
      complain("a matrix operand C that is neither vector register nor inline constant");
  }
  if (scaled) {
    u32 first = word(0), second = word(1);
    for (unsigned n = 0; n < 2; ++n) {
      bool known = decodeSource(in, n, second >> (9 * n) & 511, 0, TB32);
      op.scale[n] = in.src[n];
      op.scaleByte[n] = u8((first >> (11 + n) & 1) | (second >> (27 + n) & 1) << 1);
      if (!known || (in.src[n].kind != OVGPR && in.src[n].kind != OConst))
        complain("a scale that is neither vector register nor inline constant");
    }
  }
  return true;
}
