//===- Decoder.h - Instructions to pre-decoded records ----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's disassembler gives length and mnemonic, the mnemonic selects the
// handler, the encoding bits give the operands.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_DECODER_H
#define ATREX_LIB_DEVICE_SIM_DECODER_H

#include "atrex/Target/Chip.h"
#include "atrex/Target/MatrixInstructions.h"
#include "lib/Device/Sim/Core.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atrex::device::sim {

/// The MC objects of one processor.
class Disassembler {
public:
  static llvm::Expected<std::unique_ptr<Disassembler>> create(llvm::StringRef arch);
  ~Disassembler();

  struct Result {
    /// Bytes; 0 when the bits are no instruction.
    unsigned size = 0;
    unsigned opcode = 0;
    /// LLVM's name of the opcode: "V_ADD_F32_e32_vi".
    std::string name;
    /// Without encoding suffix: "v_add_f32".
    std::string mnemonic;
    std::string text;
  };
  Result decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address, bool withText) const;

  /// Bits that encode the same instruction with every unused field as the
  /// encoder leaves it; empty when the processor's encoder does not take it.
  std::vector<uint8_t> canonicalize(llvm::ArrayRef<uint8_t> bytes) const;

  /// A register that an instruction names or implies.
  struct RegOperand {
    /// As LLVM names it: "VGPR4_VGPR5", "SGPR0", "VCC".
    llvm::StringRef name;
    bool write = false, implicit = false;
    /// Repeats a destination.
    bool tied = false;
  };
  /// In operand order, implied ones last; empty when the bits are no
  /// instruction.
  llvm::SmallVector<RegOperand, 8> getRegisters(llvm::ArrayRef<uint8_t> bytes, uint64_t address) const;

  /// Mnemonics of every opcode the processor's disassembler can name.
  std::vector<std::string> getMnemonics() const;

private:
  Disassembler();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Handlers for the host's vector extensions (or those named by the environment
/// variable ATREX_SIM_ISA: base, avx2, avx512), by mnemonic.
const llvm::StringMap<const OpDef *> &getHandlers();
llvm::StringRef getHandlerLevel();

/// The decoded code of one module. Slots are filled on demand, along control
/// flow; filling is serialized, executing filled slots needs no lock.
class Program {
public:
  static llvm::Expected<std::unique_ptr<Program>> create(const ChipInfo &chip, uint64_t base,
                                                         llvm::ArrayRef<uint8_t> code);
  ~Program();

  /// Decodes everything reachable from `address`, nullptr when it is no address
  /// of this code.
  const Inst *decodeFrom(uint64_t address);

  const Inst *getSlots() const { return slots; }
  uint64_t getBase() const { return base; }
  uint64_t getDwords() const { return dwords; }
  /// Slots including those that catch a wave that runs off the code.
  uint64_t getNumSlots() const { return dwords + 2; }
  /// Slot of an instruction, also of a stand-in for it outside of the slots.
  uint64_t getSlot(const Inst *in) const {
    return in >= slots && in < slots + getNumSlots() ? uint64_t(in - slots) : in->index;
  }
  uint64_t getAddress(const Inst *in) const { return base + getSlot(in) * 4; }
  /// Decoded instructions that control flow can reach from `entry`, jumps
  /// through registers aside, by address.
  std::vector<const Inst *> getReachable(const Inst *entry) const;
  /// Disassembly of the instruction in a slot.
  std::string describe(const Inst *in);
  /// Its mnemonic, and its registers as the disassembler knows them.
  std::string getRegisters(const Inst *in, llvm::SmallVectorImpl<Disassembler::RegOperand> &registers);
  /// The code from an instruction on.
  llvm::ArrayRef<uint8_t> getBytes(const Inst *in) const {
    uint64_t slot = getSlot(in);
    return llvm::ArrayRef<uint8_t>(bytes).slice(slot * 4, dwords * 4 - slot * 4);
  }

private:
  Program() = default;
  void decodeSlot(uint64_t slot, std::vector<uint64_t> &work);
  bool decodeOperands(Inst &in, const OpDef *&def, llvm::StringRef mnemonic, unsigned size, uint64_t slot);
  /// Operands of a matrix instruction (MatrixDecode.cpp).
  bool decodeMatrix(Inst &in, const MatrixInstruction &info, unsigned size, uint64_t slot);
  const u32 *constant(u32 lo, u32 hi);
  bool decodeSource(Inst &in, unsigned k, unsigned code, u32 literal, TypeCode type);

  const ChipInfo *chip = nullptr;
  std::unique_ptr<Disassembler> disassembler;
  uint64_t base = 0, dwords = 0;
  std::vector<uint8_t> bytes;
  Inst *slots = nullptr;
  uint64_t mappedBytes = 0;
  std::map<std::pair<u32, u32>, std::unique_ptr<u32[]>> constants;
  std::deque<MatrixOp> matrixOps;
  /// Positions of f64 elements: A, B, then C.
  std::map<const MatrixInstruction *, std::array<u16, 64 + 64 + 256>> matrixMaps;
  std::mutex mutex;
};

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_DECODER_H
