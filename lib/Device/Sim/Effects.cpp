//===- Effects.cpp - What an instruction reads and writes -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Effects.h"
#include "atrex/Target/MatrixInstructions.h"
#include "lib/Device/Sim/Checks.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace atrex;
using namespace atrex::device::sim;

bool Effects::readsReg(const RegRange &r) const {
  for (unsigned k = 0; k < numReads; ++k)
    if (reads[k].overlaps(r))
      return true;
  return false;
}
bool Effects::writesReg(const RegRange &r) const {
  for (unsigned k = 0; k < numWrites; ++k)
    if (writes[k].overlaps(r))
      return true;
  return false;
}

RegRange atrex::device::sim::parseRegister(StringRef name) {
  // Names end in the generation where register numbers differ between them.
  for (StringRef suffix : {"_LO16", "_HI16", "_gfxpre11", "_vi", "_gfx9plus"})
    name.consume_back(suffix);
  auto special = StringSwitch<RegRange>(name)
                     .Case("VCC", {106, 2})
                     .Case("VCC_LO", {106, 1})
                     .Case("VCC_HI", {107, 1})
                     .Case("FLAT_SCR", {102, 2})
                     .Case("FLAT_SCR_LO", {102, 1})
                     .Case("FLAT_SCR_HI", {103, 1})
                     .Case("XNACK_MASK", {104, 2})
                     .Case("XNACK_MASK_LO", {104, 1})
                     .Case("XNACK_MASK_HI", {105, 1})
                     .Case("M0", {124, 1})
                     .Case("EXEC", {126, 2})
                     .Case("EXEC_LO", {126, 1})
                     .Case("EXEC_HI", {127, 1})
                     .Default({});
  if (special.count)
    return special;
  StringRef first = name.split('_').first;
  u32 base = 0;
  StringRef prefix;
  for (auto [p, b] : {std::pair<StringRef, u32>{"VGPR", 256}, {"AGPR", 512}, {"SGPR", 0}, {"TTMP", 108}})
    if (first.starts_with(p)) {
      prefix = p;
      base = b;
    }
  unsigned number;
  if (prefix.empty() || first.drop_front(prefix.size()).getAsInteger(10, number) || base + number >= numRegisters)
    return {};
  return {u16(base + number), u16(std::min<size_t>(name.count(prefix), numRegisters - base - number))};
}

std::string atrex::device::sim::formatRegister(const RegRange &r) {
  if (r.first < 102 || r.first >= firstVector || (r.first >= 108 && r.first < 124)) {
    StringRef prefix = r.first >= 512 ? "a" : r.first >= 256 ? "v" : r.first >= 108 ? "ttmp" : "s";
    u32 n = r.first >= 512   ? r.first - 512u
            : r.first >= 256 ? r.first - 256u
            : r.first >= 108 ? r.first - 108u
                             : r.first;
    if (r.count == 1)
      return formatv("{0}{1}", prefix, n).str();
    return formatv("{0}[{1}:{2}]", prefix, n, n + r.count - 1).str();
  }
  switch (r.first) {
  case 102:
    return r.count == 2 ? "flat_scratch" : "flat_scratch_lo";
  case 106:
    return r.count == 2 ? "vcc" : "vcc_lo";
  case 107:
    return "vcc_hi";
  case 124:
    return "m0";
  case 126:
    return r.count == 2 ? "exec" : "exec_lo";
  case 127:
    return "exec_hi";
  default:
    return formatv("register {0}", r.first).str();
  }
}

/// Passes and rules of a matrix instruction; `formatA`, `formatB`: its codes of
/// f8f6f4 operands.
static void setMatrix(Effects &e, StringRef name, bool isGfx950, u32 formatA, u32 formatB) {
  const MatrixInstruction *inst = lookupMatrixInstruction(name);
  if (!inst)
    return;
  e.matrix = inst->a == MatrixType::F64   ? (inst->m == 4 ? Effects::Dgemm4 : Effects::Dgemm16)
             : inst->a == MatrixType::F32 ? Effects::Sgemm
                                          : Effects::Xdl;
  MatrixType a = inst->a, b = inst->b;
  if (inst->isF8F6F4()) {
    a = getF8F6F4Type(formatA).value_or(MatrixType::FP8);
    b = getF8F6F4Type(formatB).value_or(MatrixType::FP8);
  }
  e.passes = u8(getPasses(*inst, isGfx950 ? "gfx950" : "gfx942", a, b));
}

std::unique_ptr<Effects> EffectsTable::compute(const Inst *in) {
  auto result = std::make_unique<Effects>();
  Effects &e = *result;
  e.slot = in->index;
  SmallVector<Disassembler::RegOperand, 8> registers;
  std::string mnemonic = program.getRegisters(in, registers);
  StringRef name = mnemonic;
  if (name.empty())
    return result;
  ArrayRef<uint8_t> bytes = program.getBytes(in);
  u64 raw = support::endian::read32le(bytes.data());
  if (bytes.size() >= 8)
    raw |= u64(support::endian::read32le(bytes.data() + 4)) << 32;
  auto bits = [&](unsigned hi, unsigned lo) { return u32((raw >> lo) & ((1ull << (hi - lo + 1)) - 1)); };

  if (name.starts_with("v_")) {
    e.kind = name.starts_with("v_mfma") || name.starts_with("v_smfmac") ? Effects::Mfma : Effects::Valu;
  } else if (name.starts_with("s_")) {
    bool memory = name.starts_with("s_load") || name.starts_with("s_buffer") || name.starts_with("s_store") ||
                  name.starts_with("s_scratch") || name.starts_with("s_atomic") || name.starts_with("s_dcache") ||
                  name.starts_with("s_mem") || name.starts_with("s_atc");
    e.kind = memory ? Effects::Smem : Effects::Salu;
  } else if (name.starts_with("ds_")) {
    e.kind = Effects::Lds;
  } else if (name.starts_with("flat_")) {
    e.kind = Effects::Flat;
  } else if (name.starts_with("global_") || name.starts_with("scratch_") || name.starts_with("buffer_") ||
             name.starts_with("tbuffer_")) {
    e.kind = Effects::Vmem;
  }

  auto add = [](RegRange *list, u8 &count, size_t max, RegRange r) {
    if (r.count && count < max)
      list[count++] = r;
  };
  e.access = in->def ? getMemAccess(in) : nullptr;
  if (e.access) {
    bool scoped;
    if (e.kind == Effects::Smem)
      scoped = bits(16, 16);
    else if (e.access->kind == MemAccess::Buffer)
      scoped = bits(14, 14) | bits(15, 15);
    else
      scoped = bits(16, 16) | bits(25, 25);
    if (scoped && e.kind != Effects::Lds)
      e.flags |= Effects::Scoped;
  }
  bool load = e.isMemory() && !name.contains("store") && !name.contains("write");
  SmallVector<RegRange, 8> sources;
  for (const Disassembler::RegOperand &o : registers) {
    RegRange r = parseRegister(o.name);
    if (!r.count)
      continue;
    if (o.write) {
      add(e.writes, e.numWrites, std::size(e.writes), r);
      if (!o.implicit && r.isVector() && !e.dst.count)
        e.dst = r;
      e.flags |= r.isVector() ? Effects::WritesVector : Effects::WritesScalar;
      continue;
    }
    // A load that keeps the rest of its destination merges when it returns.
    if (o.tied && load && r == e.dst)
      continue;
    add(e.reads, e.numReads, std::size(e.reads), r);
    if (!r.isVector() && r.first < 126)
      e.flags |= Effects::ReadsScalar;
    if (!o.implicit) {
      sources.push_back(r);
      if (o.tied && e.kind == Effects::Mfma)
        e.srcC = r;
    }
  }

  if (e.kind == Effects::Salu || e.kind == Effects::Other) {
    if (name == "s_nop") {
      e.states = u16((raw & 15) + 1);
    } else if (name == "s_waitcnt") {
      e.flags |= Effects::Waitcnt;
      e.vmcnt = u8(bits(3, 0) | bits(15, 14) << 4);
      e.lgkmcnt = u8(bits(11, 8));
    } else if (name == "s_barrier") {
      e.flags |= Effects::Barrier;
    } else if (name.starts_with("s_setreg")) {
      e.flags |= Effects::SetReg;
      e.hwreg = u16(bits(5, 0));
      u32 off = bits(10, 6), size = bits(15, 11) + 1;
      if (e.hwreg == 1 && off <= 28 && off + size > 28)
        e.flags |= Effects::SetSkip;
    } else if (name == "s_getreg_b32") {
      e.flags |= Effects::GetReg;
      e.hwreg = u16(bits(5, 0));
    } else if (name == "s_setvskip") {
      e.flags |= Effects::SetSkip;
    } else if (name.starts_with("s_movrel") || name.starts_with("s_sendmsg")) {
      e.flags |= Effects::NeedsM0;
    }
    return result;
  }

  if (e.isValu()) {
    bool vop3 = (raw >> 26 & 0x3f) == 0x34, vop3p = vop3 && bits(31, 23) == 0x1a7;
    u32 src0 = bits(8, 0);
    if (!vop3 && src0 == 250) {
      e.flags |= Effects::Dpp;
      e.dpp = {u16(firstVector + bits(39, 32)), 1};
      for (const RegRange &r : sources)
        if (r.first == e.dpp.first)
          e.dpp.count = std::max(e.dpp.count, r.count);
    }
    bool compare = name.starts_with("v_cmp");
    if (!vop3 && src0 == 249 && !compare && bits(42, 40) != 6)
      e.flags |= Effects::Partial;
    unsigned explicitWrites = 0;
    for (const Disassembler::RegOperand &o : registers)
      explicitWrites += o.write && !o.implicit;
    if (vop3 && !vop3p && bits(14, 14) && explicitWrites == 1 && !compare && name != "v_bitop3_b32")
      e.flags |= Effects::Partial;
    StringRef op = name.drop_front(2);
    if (op.starts_with("exp_") || op.starts_with("log_") || op.starts_with("rcp_") || op.starts_with("rsq_") ||
        op.starts_with("sqrt_") || op.starts_with("sin_") || op.starts_with("cos_"))
      e.flags |= Effects::Trans;
    if (op.starts_with("dot"))
      e.flags |= Effects::Dot;
    if (op.starts_with("readlane") || op.starts_with("readfirstlane"))
      e.flags |= Effects::RWLane | Effects::ReadLane;
    if (op.starts_with("writelane"))
      e.flags |= Effects::RWLane;
    if ((op.starts_with("readlane") || op.starts_with("writelane")) && sources.size() >= 2 && !sources[1].isVector())
      e.laneSelect = sources[1];
    if (op.starts_with("permlane16_swap") || op.starts_with("permlane32_swap"))
      e.flags |= Effects::PermlaneSwap;
    if (op.starts_with("div_fmas"))
      e.flags |= Effects::DivFmas;
    if (e.kind == Effects::Mfma) {
      // The last 8 bytes: scaled forms are a prefix and the instruction.
      u64 tail = raw;
      if (in->bytes == 16 && bytes.size() >= 16)
        tail = support::endian::read64le(bytes.data() + 8);
      u32 formatA = u32(tail >> 8 & 7), formatB = u32(tail >> 61 & 7);
      setMatrix(e, name, isGfx950, formatA, formatB);
      if (!e.srcC.count && sources.size() >= 3 && !name.starts_with("v_smfmac"))
        e.srcC = sources[2];
      if (e.srcC.count && !e.srcC.isVector())
        e.srcC = {};
    }
    return result;
  }

  if (e.kind == Effects::Lds) {
    if (name.contains("addtid") || name.starts_with("ds_gws"))
      e.flags |= Effects::NeedsM0;
    return result;
  }
  if (e.kind == Effects::Vmem || e.kind == Effects::Flat) {
    bool buffer = name.starts_with("buffer_") || name.starts_with("tbuffer_");
    if (name.starts_with("buffer_inv"))
      e.flags |= Effects::NoCount;
    if (name.contains("_load_lds_") || (name.starts_with("buffer_load") && bits(16, 16)))
      e.flags |= Effects::LdsDma | Effects::NeedsM0;
    if (name.contains("store")) {
      RegRange data = {u16(firstVector + bits(47, 40) + (bits(55, 55) ? 256 : 0)), 0};
      for (const RegRange &r : sources)
        if (r.first == data.first)
          data.count = std::max(data.count, r.count);
      if (data.count > 2) {
        e.lateData = data;
        // A buffer store with a scalar register as offset is one state faster.
        e.lateStates = buffer && bits(63, 56) < 128 ? 1 : 2;
      }
    }
  }
  return result;
}
