//===- CopyInstructions.cpp - Memory instructions of AMD chips ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: LLVM's instruction definitions. A test assembles every row for both
// architectures.
//
//===----------------------------------------------------------------------===//

#include "atrex/Target/CopyInstructions.h"

using namespace llvm;
using namespace atrex;

static constexpr CopyInstruction copies[] = {
    {CopyPath::Buffer, 8, 0, 1, "buffer_load_ubyte", "buffer_store_byte", true, true},
    {CopyPath::Buffer, 16, 0, 2, "buffer_load_ushort", "buffer_store_short", true, true},
    {CopyPath::Buffer, 32, 0, 4, "buffer_load_dword", "buffer_store_dword", true, true},
    {CopyPath::Buffer, 64, 0, 4, "buffer_load_dwordx2", "buffer_store_dwordx2", true, true},
    {CopyPath::Buffer, 96, 0, 4, "buffer_load_dwordx3", "buffer_store_dwordx3", true, true},
    {CopyPath::Buffer, 128, 0, 4, "buffer_load_dwordx4", "buffer_store_dwordx4", true, true},
    {CopyPath::Global, 8, 0, 1, "global_load_ubyte", "global_store_byte", true, true},
    {CopyPath::Global, 16, 0, 2, "global_load_ushort", "global_store_short", true, true},
    {CopyPath::Global, 32, 0, 4, "global_load_dword", "global_store_dword", true, true},
    {CopyPath::Global, 64, 0, 4, "global_load_dwordx2", "global_store_dwordx2", true, true},
    {CopyPath::Global, 96, 0, 4, "global_load_dwordx3", "global_store_dwordx3", true, true},
    {CopyPath::Global, 128, 0, 4, "global_load_dwordx4", "global_store_dwordx4", true, true},
    {CopyPath::Lds, 8, 0, 1, "ds_read_u8", "ds_write_b8", true, true},
    {CopyPath::Lds, 16, 0, 2, "ds_read_u16", "ds_write_b16", true, true},
    {CopyPath::Lds, 32, 0, 4, "ds_read_b32", "ds_write_b32", true, true},
    {CopyPath::Lds, 64, 0, 8, "ds_read_b64", "ds_write_b64", true, true},
    {CopyPath::Lds, 96, 0, 16, "ds_read_b96", "ds_write_b96", true, true},
    {CopyPath::Lds, 128, 0, 16, "ds_read_b128", "ds_write_b128", true, true},
    {CopyPath::BufferToLds, 32, 0, 4, "buffer_load_dword", "", true, true},
    {CopyPath::BufferToLds, 96, 0, 4, "buffer_load_dwordx3", "", false, true},
    {CopyPath::BufferToLds, 128, 0, 4, "buffer_load_dwordx4", "", false, true},
    {CopyPath::GlobalToLds, 32, 0, 4, "global_load_lds_dword", "", true, true},
    {CopyPath::GlobalToLds, 96, 0, 4, "global_load_lds_dwordx3", "", false, true},
    {CopyPath::GlobalToLds, 128, 0, 4, "global_load_lds_dwordx4", "", false, true},
    {CopyPath::LdsTranspose, 64, 4, 8, "ds_read_b64_tr_b4", "", false, true},
    {CopyPath::LdsTranspose, 96, 6, 16, "ds_read_b96_tr_b6", "", false, true},
    {CopyPath::LdsTranspose, 64, 8, 8, "ds_read_b64_tr_b8", "", false, true},
    {CopyPath::LdsTranspose, 64, 16, 8, "ds_read_b64_tr_b16", "", false, true},
};

ArrayRef<CopyInstruction> atrex::getCopyInstructions() { return copies; }

const CopyInstruction *atrex::lookupCopyInstruction(CopyPath path, unsigned bits, unsigned elementBits) {
  for (const CopyInstruction &copy : copies)
    if (copy.path == path && copy.bits == bits && copy.elementBits == elementBits)
      return &copy;
  return nullptr;
}

SmallVector<unsigned> atrex::getCopyWidths(CopyPath path, StringRef arch) {
  SmallVector<unsigned> widths;
  for (const CopyInstruction &copy : copies)
    if (copy.path == path && (arch.empty() || copy.isAvailable(arch)) && (widths.empty() || widths.back() < copy.bits))
      widths.push_back(copy.bits);
  return widths;
}

#define INTEGERS(MEMORY, PREFIX, WORD, PAIR)                                                                           \
  {AtomicMemory::MEMORY, AtomicOperation::Add, AtomicType::I32, PREFIX "add" WORD, true, true}, {                      \
    AtomicMemory::MEMORY, AtomicOperation::Add, AtomicType::I64, PREFIX "add" PAIR, true, true                         \
  }
#define MINMAX(MEMORY, OPERATION, MNEMONIC32, MNEMONIC64)                                                              \
  {AtomicMemory::MEMORY, AtomicOperation::OPERATION, AtomicType::I32, MNEMONIC32, true, true}, {                       \
    AtomicMemory::MEMORY, AtomicOperation::OPERATION, AtomicType::I64, MNEMONIC64, true, true                          \
  }
#define FLOATS(MEMORY, PREFIX, BF16_GFX942)                                                                            \
  {AtomicMemory::MEMORY, AtomicOperation::Add, AtomicType::F32, PREFIX "add_f32", true, true},                         \
      {AtomicMemory::MEMORY, AtomicOperation::Add, AtomicType::F64, PREFIX "add_f64", true, true},                     \
      {AtomicMemory::MEMORY, AtomicOperation::Max, AtomicType::F64, PREFIX "max_f64", true, true},                     \
      {AtomicMemory::MEMORY, AtomicOperation::Min, AtomicType::F64, PREFIX "min_f64", true, true},                     \
      {AtomicMemory::MEMORY, AtomicOperation::Add, AtomicType::PackedF16, PREFIX "pk_add_f16", true, true}, {          \
    AtomicMemory::MEMORY, AtomicOperation::Add, AtomicType::PackedBF16, PREFIX "pk_add_bf16", BF16_GFX942, true        \
  }

static constexpr AtomicInstruction atomics[] = {
    INTEGERS(Buffer, "buffer_atomic_", "", "_x2"),
    MINMAX(Buffer, Max, "buffer_atomic_smax", "buffer_atomic_smax_x2"),
    MINMAX(Buffer, Min, "buffer_atomic_smin", "buffer_atomic_smin_x2"),
    MINMAX(Buffer, UMax, "buffer_atomic_umax", "buffer_atomic_umax_x2"),
    MINMAX(Buffer, UMin, "buffer_atomic_umin", "buffer_atomic_umin_x2"),
    FLOATS(Buffer, "buffer_atomic_", false),
    INTEGERS(Global, "global_atomic_", "", "_x2"),
    MINMAX(Global, Max, "global_atomic_smax", "global_atomic_smax_x2"),
    MINMAX(Global, Min, "global_atomic_smin", "global_atomic_smin_x2"),
    MINMAX(Global, UMax, "global_atomic_umax", "global_atomic_umax_x2"),
    MINMAX(Global, UMin, "global_atomic_umin", "global_atomic_umin_x2"),
    FLOATS(Global, "global_atomic_", true),
    INTEGERS(Lds, "ds_", "_u32", "_u64"),
    MINMAX(Lds, Max, "ds_max_i32", "ds_max_i64"),
    MINMAX(Lds, Min, "ds_min_i32", "ds_min_i64"),
    MINMAX(Lds, UMax, "ds_max_u32", "ds_max_u64"),
    MINMAX(Lds, UMin, "ds_min_u32", "ds_min_u64"),
    FLOATS(Lds, "ds_", true),
    // Only LDS compares f32.
    {AtomicMemory::Lds, AtomicOperation::Max, AtomicType::F32, "ds_max_f32", true, true},
    {AtomicMemory::Lds, AtomicOperation::Min, AtomicType::F32, "ds_min_f32", true, true},
};

StringRef atrex::getName(AtomicOperation operation) {
  static constexpr StringLiteral names[] = {"add", "max", "min", "umax", "umin"};
  return names[unsigned(operation)];
}

StringRef atrex::getName(AtomicType type) {
  static constexpr StringLiteral names[] = {"i32", "i64", "f32", "f64", "2xf16", "2xbf16"};
  return names[unsigned(type)];
}

unsigned atrex::getBitWidth(AtomicType type) { return type == AtomicType::I64 || type == AtomicType::F64 ? 64 : 32; }

ArrayRef<AtomicInstruction> atrex::getAtomicInstructions() { return atomics; }

const AtomicInstruction *atrex::lookupAtomicInstruction(AtomicMemory memory, AtomicOperation operation,
                                                        AtomicType type) {
  for (const AtomicInstruction &atomic : atomics)
    if (atomic.memory == memory && atomic.operation == operation && atomic.type == type)
      return &atomic;
  return nullptr;
}
