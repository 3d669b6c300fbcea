//===- Core.h - State shared by decoder, handlers and scheduler -*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handler files are compiled several times for different x86 vector
// extensions. This header therefore contains plain data only: no LLVM header,
// no std template, no function with external linkage that the linker could take
// from a file built for a newer machine.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_CORE_H
#define ATREX_LIB_DEVICE_SIM_CORE_H

#include <stdint.h>

namespace atrex {
struct MatrixInstruction;
}

namespace atrex::device::sim {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;

struct Wave;
struct Inst;

/// Executes one wave-instruction and returns the next one; nullptr leaves the
/// dispatch loop (see Wave::status and Wave::next).
using Handler = const Inst *(*)(Wave &, const Inst *);

/// How an operand's bits are read: decides inline constants, modifiers, width.
enum TypeCode : u8 { TNone, TB32, TI32, TF32, TB16, TI16, TF16, TB64, TI64, TF64, TPK16, TPKF16, TPKF32, TMask };

enum OperandKind : u8 { OVGPR, OConst, OSGPR, OSpecial };
enum OperandMods : u8 { MNeg = 1, MAbs = 2, MSext = 4 };

struct Operand {
  /// OConst: 64 lanes of the low dword followed by 64 lanes of the high one.
  const u32 *constant;
  /// OVGPR: first element of the row (register * 64); OSGPR, OSpecial: number.
  u32 reg;
  OperandKind kind;
  u8 mods;
  /// Set when the value needs more than a pointer (modifiers, DPP, SDWA, ...).
  u8 slow;
  TypeCode type;
};

enum InstFlags : u16 {
  FDPP = 1,
  FSDWA = 2,
  FClamp = 4,
  /// Anything that changes the result on its way to the register.
  FOutMod = 8,
  FOffen = 16,
  FIdxen = 32,
  FSaddr = 64,
  /// sc0: atomics return the old value.
  FReturn = 128,
  FVaddr = 256,
  FLds = 512,
};

/// Classes in the order of atrex::device::InstClass.
enum ClassCode : u8 { CVALU, CTrans, CMul, CMFMA, CSALU, CSMEM, CLoad, CStore, CAtomic, CLDS, CBranch, CInternal };

/// One row of the tables that map a mnemonic to its handler.
struct OpDef {
  const char *name;
  Handler fn;
  TypeCode dst;
  TypeCode src[3];
  ClassCode cls;
  u8 flags;
};
enum OpFlags : u8 {
  /// VOP3 form carries a scalar destination (VOP3B).
  OpSdst = 1,
  /// The destination is also the third source (fmac).
  OpAccum = 2,
  /// VOP3 form honours op_sel and keeps the other half of the destination.
  OpKeepHalf = 4,
  /// Destination is a scalar register (readlane).
  OpScalarDst = 8,
  /// Two issue slots of the vector ALU.
  OpDouble = 16,
  /// Reads VCC implicitly.
  OpCarryIn = 32,
  /// fmamk/madmk: the literal is the second source of three.
  OpMK = 64,
};

/// How a matrix instruction computes.
enum MatrixArith : u8 {
  /// One fused multiply-add per element of k, in double.
  MatF64,
  /// The same in float.
  MatF32,
  /// Exact sums of 32 bits.
  MatI8,
  /// Aligned, truncated sums of groups (exact) or a chain of fused
  /// multiply-adds (fast).
  MatFloat,
};

/// Element formats of A and B as the handlers unpack them.
enum MatrixFormat : u8 {
  MFloat32,
  MXFloat32,
  MHalf,
  MBFloat,
  MFP8,
  MBF8,
  MFP8FNUZ,
  MBF8FNUZ,
  MFP6,
  MBF6,
  MFP4,
  MInt8,
  MFloat64,
};

/// What a handler, a checker or a model needs to know of a matrix instruction.
/// One per static instruction, owned by the program.
struct MatrixOp {
  const MatrixInstruction *info;
  /// First elements of the rows (register * 64, accumulation registers from
  /// 256 on) and numbers of registers. C counts registers even when it is a
  /// constant; for sparse instructions C is D.
  u32 a, b, c, d;
  u8 numA, numB, numC;
  /// Not null: C is this inline constant (64 low dwords, then 64 high ones).
  const u32 *constantC;
  /// Sparse: row of the index register.
  u32 index;
  /// Scaled: the scale registers (or inline constants) and the byte of them.
  Operand scale[2];
  u8 scaleByte[2];
  MatrixArith arith;
  MatrixFormat formatA, formatB;
  u8 sparse, scaled;
  u8 m, n, blocks;
  /// Elements of k: stored in A, and of B.
  u16 storedK, k;
  /// Elements of k a lane holds in a row, before the next lane group's.
  u8 chunkA, chunkB;
  /// Exact mode: products added in one group; even and odd ones apart.
  u8 group, evenOdd;
  u8 cbsz, abid, blgp;
  /// Sparse: bit of the index register where the set starts, groups per lane.
  u8 indexShift, indexGroups;
  /// Passes of four cycles until the result; the matrix unit is busy for as
  /// long.
  u8 passes;
  /// Not null: operands or modifiers have no meaning, this is why.
  const char *complaint;
  /// f64: index of each lane's element in A and B, of each value in C and D.
  const u16 *mapA, *mapB, *mapC;
};

/// A decoded instruction. One slot per dword of code, so that a program counter
/// maps to a slot by subtraction.
struct alignas(128) Inst {
  Handler fn;
  const Inst *next;
  const Inst *target;
  const OpDef *def;
  Operand src[3];
  /// Vector destination: first element of the row; scalar: register number.
  u32 dst;
  u32 index;
  /// Offset, immediate, DPP or SDWA word.
  u32 imm;
  u16 flags;
  u8 sdst;
  u8 cls;
  u8 cycles;
  u8 omod;
  u8 opsel, opselHi, negHi;
  u8 bytes;
  /// Set once everything reachable from here is decoded.
  u8 ready;
  u8 aux;
  /// Matrix instructions only.
  const MatrixOp *matrix;
};
static_assert(sizeof(Inst) == 128, "one slot is two cache lines");

/// An allocation of device memory. Device addresses are host addresses.
struct MemAlloc {
  u64 base;
  u64 size;
  /// Owner of each 128-byte line: 0 nobody, ~0 several workgroups, else the
  /// workgroup's number + 1. nullptr when the allocation is not tracked.
  u32 *readOwner, *writeOwner;
  /// One byte per 4096-byte page of the arrays above and below.
  u8 *readDirty, *writeDirty;
  /// One bit per byte that a kernel wrote.
  u64 *written;
  u8 *writtenDirty;
  /// One bit per byte that the host wrote, or a kernel before `written` was
  /// cleared. A byte of `initializedBlocks` stands for 512 words of ones, and
  /// `allWritten` for all of them.
  u64 *initialized;
  u8 *initializedBlocks;
  u8 allWritten;
  /// Kernels may not write (code).
  u8 readOnly;
};
constexpr u32 sharedOwner = ~0u;

enum FaultKind : u8 {
  FaultNone,
  FaultUnknownInst,
  FaultOutOfBounds,
  FaultReadOnly,
  FaultMisaligned,
  FaultBadJump,
  FaultEndOfCode,
  FaultTrap,
  FaultUnsupported,
};

struct Fault {
  FaultKind kind;
  u8 write;
  u32 lane;
  u32 bytes;
  u64 addr;
  const char *what;
};

/// One resource of global wave synchronization, shared by all workgroups.
struct GwsResource {
  u32 lock;
  /// Waves that arrived at the barrier, and how often it opened.
  u32 arrived, phase;
  u32 semaphore;
};
constexpr u32 gwsResources = 64;

/// What one host thread counts and remembers.
struct ThreadState {
  const MemAlloc *allocs;
  u32 numAllocs;
  const MemAlloc *last;
  /// Owner number of the workgroup being executed (ordinal + 1).
  u32 owner;
  u8 track;
  u64 loadBytes, storeBytes, ldsReadBytes, ldsWriteBytes;
  u64 *counts;
  GwsResource *gws;
};

enum WaveStatus : u8 { WaveRunning, WaveYield, WaveBarrier, WaveDone, WaveFault, WaveNeedDecode };

struct Wave {
  /// Scalar file: 0-101 SGPRs, 102-103 flat_scratch, 104-105 xnack, 106-107
  /// VCC, 108-123 TTMP, 124 M0, 126-127 EXEC; the rest is padding.
  alignas(64) u32 s[192];
  u32 scc;
  /// 256 architectural, then 256 accumulation registers of 64 lanes.
  u32 *v;
  u32 mode;
  /// Any denormal flushing or rounding other than to nearest even.
  u8 slowMode;
  WaveStatus status;
  const Inst *next;
  u64 jumpTarget;
  const Inst *code;
  u64 codeBase;
  u64 codeDwords;
  u8 *lds;
  u32 ldsBytes;
  u8 *scratch;
  u32 scratchBytesPerLane;
  ThreadState *ts;
  u64 executed;
  u32 waveInGroup;
  u8 isGfx950;
  /// Matrix instructions: fast instead of exact arithmetic.
  u8 matrixFast;
  /// Lanes that a DPP source allows to write.
  u64 dppMask;
  Fault fault;
  /// Global wave synchronization: waiting, and for the end of which phase.
  u8 gwsWaiting;
  u32 gwsPhase;
  /// Stands in for the next instruction while MODE makes registers indexed.
  Inst proxy;
};

constexpr u32 regVCC = 106, regM0 = 124, regExec = 126;
/// Upper halves of the apertures through which FLAT reaches LDS and scratch.
constexpr u32 sharedApertureHi = 0x00ff0000u, privateApertureHi = 0x00fe0000u;

/// A table of handlers built for one x86 level.
struct OpTable {
  const OpDef *rows;
  u32 count;
};
OpTable getScalarOps();
OpTable getScalarSpecialOps();
OpTable getSpecialOps();
OpTable getFormatOps();
#define ATREX_SIM_LEVELS(X) X(base) X(avx2) X(avx512)
#define ATREX_SIM_DECLARE(L)                                                                                           \
  namespace L {                                                                                                        \
  OpTable getVectorOps();                                                                                              \
  OpTable getMemoryOps();                                                                                              \
  /* Executes Inst::matrix. */                                                                                         \
  Handler getMatrixHandler();                                                                                          \
  }
ATREX_SIM_LEVELS(ATREX_SIM_DECLARE)
#undef ATREX_SIM_DECLARE

/// Bytes of one element of a format load or store (MTBUF and MUBUF).
u32 getFormatBytes(const Wave &w, const Inst *in);
/// What to execute instead of `next` under the wave's MODE.
const Inst *continueInMode(Wave &w, const Inst *next);

/// Handlers that are not in a table.
const Inst *handleUnknown(Wave &w, const Inst *in);
const Inst *handleBadJump(Wave &w, const Inst *in);
const Inst *handleEndOfCode(Wave &w, const Inst *in);
/// A matrix instruction with MatrixOp::complaint.
const Inst *handleBadMatrix(Wave &w, const Inst *in);

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_CORE_H
