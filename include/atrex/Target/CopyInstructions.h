//===- CopyInstructions.h - Memory instructions of AMD chips ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which loads, stores, direct copies to LDS, transposing reads and atomics
// gfx942 and gfx950 have. Atoms of the AMD dialect verify against this table.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TARGET_COPYINSTRUCTIONS_H
#define ATREX_TARGET_COPYINSTRUCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace atrex {

/// How a copy goes.
enum class CopyPath : uint8_t {
  /// Buffer resource to and from registers.
  Buffer,
  /// Global memory to and from registers.
  Global,
  /// LDS to and from registers.
  Lds,
  /// Buffer resource to LDS, past the registers.
  BufferToLds,
  /// Global memory to LDS, past the registers.
  GlobalToLds,
  /// LDS to registers with an exchange between 16 lanes.
  LdsTranspose,
};

/// One width of a path.
struct CopyInstruction {
  CopyPath path;
  /// Bits one lane moves.
  uint16_t bits;
  /// Bits of the elements that are exchanged; zero for plain copies.
  uint8_t elementBits;
  /// Bytes an address must be aligned to.
  uint8_t alignment;
  /// Load (or read, or direct copy) and store; the latter empty where there is
  /// none.
  llvm::StringLiteral load, store;
  bool gfx942, gfx950;

  bool isAvailable(llvm::StringRef arch) const { return arch == "gfx942" ? gfx942 : arch == "gfx950" && gfx950; }
};

llvm::ArrayRef<CopyInstruction> getCopyInstructions();
/// nullptr when no chip has it.
const CopyInstruction *lookupCopyInstruction(CopyPath path, unsigned bits, unsigned elementBits = 0);
/// Widths of a path on `arch`, ascending; of any chip when `arch` is empty.
llvm::SmallVector<unsigned> getCopyWidths(CopyPath path, llvm::StringRef arch);

/// Where an atomic acts.
enum class AtomicMemory : uint8_t { Buffer, Global, Lds };
enum class AtomicOperation : uint8_t { Add, Max, Min, UMax, UMin };
enum class AtomicType : uint8_t { I32, I64, F32, F64, PackedF16, PackedBF16 };
llvm::StringRef getName(AtomicOperation operation);
/// "f32"; packed types as "2xf16".
llvm::StringRef getName(AtomicType type);
unsigned getBitWidth(AtomicType type);

/// One atomic without a returned value.
struct AtomicInstruction {
  AtomicMemory memory;
  AtomicOperation operation;
  AtomicType type;
  llvm::StringLiteral mnemonic;
  bool gfx942, gfx950;

  bool isAvailable(llvm::StringRef arch) const { return arch == "gfx942" ? gfx942 : arch == "gfx950" && gfx950; }
};

llvm::ArrayRef<AtomicInstruction> getAtomicInstructions();
/// nullptr when no chip has it.
const AtomicInstruction *lookupAtomicInstruction(AtomicMemory memory, AtomicOperation operation, AtomicType type);

/// Word 3 of a raw buffer descriptor on GFX9: 32-bit data format, no swizzle.
/// With it, accesses beyond num_records read zero and drop writes.
constexpr uint32_t rawBufferDescriptorFlags = (7u << 12) | (4u << 15);

} // namespace atrex

#endif // ATREX_TARGET_COPYINSTRUCTIONS_H
