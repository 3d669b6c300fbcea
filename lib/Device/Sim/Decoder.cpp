//===- Decoder.cpp - Instructions to pre-decoded records ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Decoder.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <cstdlib>
#include <set>
#include <sys/mman.h>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

using namespace llvm;
using namespace atrex;
using namespace atrex::device::sim;

template <class... Ts> static Error makeError(const char *format, Ts &&...args) {
  return createStringError(inconvertibleErrorCode(), formatv(format, std::forward<Ts>(args)...).str());
}

//===----------------------------------------------------------------------===//
// Disassembler
//===----------------------------------------------------------------------===//

struct Disassembler::Impl {
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> asmInfo;
  std::unique_ptr<MCInstrInfo> instrs;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> disassembler;
  std::unique_ptr<MCInstPrinter> printer;
  std::unique_ptr<MCCodeEmitter> emitter;
};

Disassembler::Disassembler() : impl(std::make_unique<Impl>()) {}
Disassembler::~Disassembler() = default;

Expected<std::unique_ptr<Disassembler>> Disassembler::create(StringRef arch) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError("LLVM has no AMDGPU target: {0}", message);
  std::unique_ptr<Disassembler> d(new Disassembler());
  Impl &i = *d->impl;
  MCTargetOptions options;
  i.registers.reset(target->createMCRegInfo(triple));
  if (i.registers)
    i.asmInfo.reset(target->createMCAsmInfo(*i.registers, triple, options));
  i.instrs.reset(target->createMCInstrInfo());
  i.subtarget.reset(target->createMCSubtargetInfo(triple, arch, ""));
  if (!i.registers || !i.asmInfo || !i.instrs || !i.subtarget)
    return makeError("LLVM cannot describe {0}", arch);
  i.context = std::make_unique<MCContext>(triple, i.asmInfo.get(), i.registers.get(), i.subtarget.get());
  i.disassembler.reset(target->createMCDisassembler(*i.subtarget, *i.context));
  i.printer.reset(target->createMCInstPrinter(triple, 0, *i.asmInfo, *i.instrs, *i.registers));
  i.emitter.reset(target->createMCCodeEmitter(*i.instrs, *i.context));
  if (!i.disassembler || !i.printer || !i.emitter)
    return makeError("LLVM cannot disassemble {0}", arch);
  return std::move(d);
}

static std::string baseMnemonic(StringRef name) {
  // Some opcodes carry fixed operand text behind the name.
  name = name.ltrim().take_until([](char c) { return c == ' ' || c == '\t'; });
  for (StringRef suffix : {"_e32", "_e64", "_dpp", "_sdwa"})
    if (name.consume_back(suffix))
      break;
  return name.str();
}

/// Operand code 255 means a literal, which 64-bit encodings and destinations
/// cannot hold. LLVM 22.1.8 crashes while it words the complaint about them, so
/// they are turned away before. It also crashes on an f8f6f4 instruction whose A
/// or B is no vector register.
static bool hasForbiddenLiteral(ArrayRef<uint8_t> bytes) {
  if (bytes.size() < 4)
    return false;
  uint32_t lo = support::endian::read32le(bytes.data());
  uint32_t hi = bytes.size() >= 8 ? support::endian::read32le(bytes.data() + 4) : 0;
  // The second half of v_mfma_scale_*.
  if ((lo >> 16) == 0xd3ac && bytes.size() >= 16 && hasForbiddenLiteral(bytes.slice(8, 8)))
    return true;
  if ((lo >> 16 == 0xd3ad || lo >> 16 == 0xd3ae) && (!(hi >> 8 & 1) || !(hi >> 17 & 1)))
    return true;
  if ((lo >> 26) == 0x34) { // VOP3, VOP3P
    for (unsigned shift : {0, 9, 18})
      if ((hi >> shift & 0x1ff) == 255)
        return true;
    // Comparisons, v_readlane and v_readfirstlane write scalar registers.
    uint32_t op = lo >> 16 & 0x3ff;
    return (lo & 0xff) == 255 && (op < 0x100 || op == 0x289 || op == 0x142);
  }
  if ((lo >> 26) == 0x38 || (lo >> 26) == 0x3a) // MUBUF, MTBUF
    return (hi >> 24) == 255;
  // v_readfirstlane_b32
  return (lo >> 25) == 0x3f && (lo >> 9 & 0xff) == 2 && (lo >> 17 & 0xff) == 255;
}

Disassembler::Result Disassembler::decode(ArrayRef<uint8_t> bytes, uint64_t address, bool withText) const {
  Result result;
  if (hasForbiddenLiteral(bytes))
    return result;
  MCInst inst;
  uint64_t size = 0;
  auto status = impl->disassembler->getInstruction(inst, size, bytes, address, nulls());
  if (status != MCDisassembler::Success || !size || size > bytes.size())
    return result;
  result.size = unsigned(size);
  result.opcode = inst.getOpcode();
  auto name = impl->printer->getMnemonic(inst);
  if (name.first)
    result.mnemonic = baseMnemonic(name.first);
  if (withText) {
    result.name = impl->instrs->getName(result.opcode).str();
    raw_string_ostream os(result.text);
    impl->printer->printInst(&inst, address, "", *impl->subtarget, os);
    result.text = StringRef(result.text).trim().str();
    std::replace(result.text.begin(), result.text.end(), '\t', ' ');
  }
  return result;
}

std::vector<uint8_t> Disassembler::canonicalize(ArrayRef<uint8_t> bytes) const {
  if (hasForbiddenLiteral(bytes))
    return {};
  MCInst inst;
  uint64_t size = 0;
  if (impl->disassembler->getInstruction(inst, size, bytes, 0, nulls()) != MCDisassembler::Success || !size)
    return {};
  // Registers that do not fit their class are decoded to none, and only the
  // printer says so.
  std::string text;
  raw_string_ostream os(text);
  impl->printer->printInst(&inst, 0, "", *impl->subtarget, os);
  if (StringRef(text).contains("/*"))
    return {};
  SmallVector<char, 16> out;
  SmallVector<MCFixup, 2> fixups;
  impl->emitter->encodeInstruction(inst, out, fixups, *impl->subtarget);
  if (!fixups.empty())
    return {};
  return {out.begin(), out.end()};
}

SmallVector<Disassembler::RegOperand, 8> Disassembler::getRegisters(ArrayRef<uint8_t> bytes, uint64_t address) const {
  SmallVector<RegOperand, 8> result;
  if (hasForbiddenLiteral(bytes))
    return result;
  MCInst inst;
  uint64_t size = 0;
  if (impl->disassembler->getInstruction(inst, size, bytes, address, nulls()) != MCDisassembler::Success)
    return result;
  const MCInstrDesc &desc = impl->instrs->get(inst.getOpcode());
  for (unsigned k = 0; k < inst.getNumOperands(); ++k) {
    const MCOperand &o = inst.getOperand(k);
    if (!o.isReg() || !o.getReg())
      continue;
    bool tied = k < desc.getNumOperands() && desc.getOperandConstraint(k, MCOI::TIED_TO) != -1;
    result.push_back({impl->registers->getName(o.getReg()), k < desc.getNumDefs(), false, tied});
  }
  for (MCPhysReg r : desc.implicit_uses())
    result.push_back({impl->registers->getName(r), false, true, false});
  for (MCPhysReg r : desc.implicit_defs())
    result.push_back({impl->registers->getName(r), true, true, false});
  return result;
}

std::vector<std::string> Disassembler::getMnemonics() const {
  std::set<std::string> names;
  for (unsigned op = 0, e = impl->instrs->getNumOpcodes(); op != e; ++op) {
    StringRef name = impl->instrs->getName(op);
    if (!name.ends_with("_vi") && !name.ends_with("_gfx9") && !name.ends_with("_gfx90a") &&
        !name.ends_with("_gfx940") && !name.ends_with("_gfx950"))
      continue;
    MCInst inst;
    inst.setOpcode(op);
    auto m = impl->printer->getMnemonic(inst);
    if (m.first)
      names.insert(baseMnemonic(m.first));
  }
  return {names.begin(), names.end()};
}

//===----------------------------------------------------------------------===//
// Handler tables
//===----------------------------------------------------------------------===//

StringRef atrex::device::sim::getHandlerLevel() {
  static const StringRef level = [] {
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
                __builtin_cpu_supports("f16c");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    StringRef wanted = "avx512";
    if (const char *env = std::getenv("ATREX_SIM_ISA"))
      wanted = env;
    if (wanted == "avx512" && avx512)
      return StringRef("avx512");
    if (wanted != "base" && avx2)
      return StringRef("avx2");
    return StringRef("base");
  }();
  return level;
}

/// Scales of a following f8f6f4 instruction, of which it is the first half.
static constexpr const char *scalePrefixName = "v_mfma_ld_scale_b32";

const StringMap<const OpDef *> &atrex::device::sim::getHandlers() {
  static const StringMap<const OpDef *> handlers = [] {
    StringMap<const OpDef *> map;
    auto add = [&](OpTable table) {
      for (u32 k = 0; k < table.count; ++k)
        map.try_emplace(table.rows[k].name, &table.rows[k]);
    };
    add(getScalarOps());
    add(getScalarSpecialOps());
    add(getSpecialOps());
    add(getFormatOps());
    StringRef level = getHandlerLevel();
    Handler matrix = level == "avx512" ? avx512::getMatrixHandler()
                     : level == "avx2" ? avx2::getMatrixHandler()
                                       : base::getMatrixHandler();
    static std::deque<OpDef> matrixRows;
    auto addMatrix = [&](const char *name) {
      matrixRows.push_back({name, matrix, TNone, {TNone, TNone, TNone}, CMFMA, 0});
      map.try_emplace(name, &matrixRows.back());
    };
    for (const MatrixInstruction &info : getMatrixInstructions())
      addMatrix(info.mnemonic.data());
    // Disassembled alone where no instruction follows that it could belong to.
    addMatrix(scalePrefixName);
    if (level == "avx512") {
      add(avx512::getVectorOps());
      add(avx512::getMemoryOps());
    } else if (level == "avx2") {
      add(avx2::getVectorOps());
      add(avx2::getMemoryOps());
    } else {
      add(base::getVectorOps());
      add(base::getMemoryOps());
    }
    return map;
  }();
  return handlers;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Program>> Program::create(const ChipInfo &chip, uint64_t base, ArrayRef<uint8_t> code) {
  auto disassembler = Disassembler::create(chip.arch);
  if (!disassembler)
    return disassembler.takeError();
  std::unique_ptr<Program> p(new Program());
  p->chip = &chip;
  p->disassembler = std::move(*disassembler);
  p->base = base;
  p->bytes.assign(code.begin(), code.end());
  p->dwords = code.size() / 4;
  p->mappedBytes = p->getNumSlots() * sizeof(Inst);
  void *m = mmap(nullptr, p->mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED)
    return makeError("cannot map {0} bytes for decoded instructions", p->mappedBytes);
  p->slots = static_cast<Inst *>(m);
  Inst &end = p->slots[p->dwords], &bad = p->slots[p->dwords + 1];
  end.fn = handleEndOfCode;
  end.index = u32(p->dwords);
  bad.fn = handleBadJump;
  bad.index = u32(p->dwords + 1);
  end.cls = bad.cls = CInternal;
  return std::move(p);
}

Program::~Program() {
  if (slots)
    munmap(slots, mappedBytes);
}

const u32 *Program::constant(u32 lo, u32 hi) {
  std::unique_ptr<u32[]> &p = constants[{lo, hi}];
  if (!p) {
    p = std::make_unique<u32[]>(128);
    std::fill_n(p.get(), 64, lo);
    std::fill_n(p.get() + 64, 64, hi);
  }
  return p.get();
}

static bool isWide(TypeCode t) { return t == TB64 || t == TI64 || t == TF64 || t == TPKF32 || t == TMask; }
static bool isHalf(TypeCode t) { return t == TB16 || t == TI16 || t == TF16 || t == TPK16 || t == TPKF16; }
static bool isFloat(TypeCode t) { return t == TF32 || t == TF16 || t == TF64 || t == TPKF16 || t == TPKF32; }

/// Inline floating-point constants 240..248: +-0.5, 1, 2, 4 and 1/(2 pi).
static const u32 inlineF32[9] = {0x3f000000u, 0xbf000000u, 0x3f800000u, 0xbf800000u, 0x40000000u,
                                 0xc0000000u, 0x40800000u, 0xc0800000u, 0x3e22f983u};
static const u32 inlineF16[9] = {0x3800u, 0xb800u, 0x3c00u, 0xbc00u, 0x4000u, 0xc000u, 0x4400u, 0xc400u, 0x3118u};
static const u64 inlineF64[9] = {0x3fe0000000000000u, 0xbfe0000000000000u, 0x3ff0000000000000u,
                                 0xbff0000000000000u, 0x4000000000000000u, 0xc000000000000000u,
                                 0x4010000000000000u, 0xc010000000000000u, 0x3fc45f306dc9c882u};

bool Program::decodeSource(Inst &in, unsigned k, unsigned code, u32 literal, TypeCode type) {
  Operand &o = in.src[k];
  o.type = type;
  if (code >= 256) {
    o.kind = OVGPR;
    o.reg = (code - 256) * 64;
    return true;
  }
  if (code < 128) {
    o.kind = OSGPR;
    o.reg = code;
    return true;
  }
  // 239: number of a graphics wave that is none here.
  if ((code >= 235 && code <= 239) || (code >= 251 && code <= 253)) {
    o.kind = OSpecial;
    o.reg = code;
    o.slow = 1;
    return true;
  }
  u32 lo = 0, hi = 0;
  if (code <= 208) {
    i32 v = code <= 192 ? i32(code) - 128 : 192 - i32(code);
    lo = u32(v);
    hi = type == TPKF32 ? lo : u32(v >> 31);
  } else if (code >= 240 && code <= 248) {
    // Pairs of 16-bit integers get the bits of the float.
    if (isHalf(type) && type != TPK16) {
      lo = inlineF16[code - 240];
    } else if (isWide(type) && type != TPKF32) {
      lo = u32(inlineF64[code - 240]);
      hi = u32(inlineF64[code - 240] >> 32);
    } else {
      lo = hi = inlineF32[code - 240];
    }
  } else if (code == 255) {
    lo = literal;
    if (type == TF64) {
      lo = 0;
      hi = literal;
    } else if (type == TI64) {
      hi = u32(i32(literal) >> 31);
    } else if (type == TPKF32) {
      hi = literal;
    }
  } else {
    return false;
  }
  o.kind = OConst;
  o.constant = constant(lo, hi);
  return true;
}

namespace {
/// Bit field of the 64-bit encoding.
struct Bits {
  u64 raw;
  u32 operator()(unsigned hi, unsigned lo) const { return u32((raw >> lo) & ((1ull << (hi - lo + 1)) - 1)); }
  bool bit(unsigned n) const { return (raw >> n) & 1; }
};
} // namespace

static i32 signExtend(u32 x, unsigned bits) { return i32(x << (32 - bits)) >> (32 - bits); }

/// Integer instructions whose results cannot leave their range.
static bool clampHasNoEffect(StringRef mnemonic) {
  for (StringRef prefix : {"v_alignbit_", "v_alignbyte_", "v_med3_", "v_min3_", "v_max3_", "v_frexp_exp_", "v_pk_min_",
                           "v_pk_max_", "v_pk_lshlrev_", "v_pk_lshrrev_", "v_pk_ashrrev_"})
    if (mnemonic.starts_with(prefix))
      return true;
  return false;
}

bool Program::decodeOperands(Inst &in, const OpDef *&def, StringRef mnemonic, unsigned size, uint64_t slot) {
  u64 raw = support::endian::read32le(&bytes[slot * 4]);
  if (size >= 8)
    raw |= u64(support::endian::read32le(&bytes[slot * 4 + 4])) << 32;
  Bits b{raw};
  u32 literal = u32(raw >> 32);
  const StringMap<const OpDef *> &handlers = getHandlers();
  auto branchTarget = [&](u32 simm) {
    i64 target = i64(slot) + 1 + i16(simm);
    in.target = target >= 0 && u64(target) < dwords ? &slots[target] : &slots[dwords + 1];
  };

  // Scalar encodings.
  if (b(31, 23) == 0x17f) { // SOPP
    in.imm = b(15, 0);
    if (mnemonic.starts_with("s_branch") || mnemonic.starts_with("s_cbranch"))
      branchTarget(in.imm);
    return true;
  }
  if (b(31, 23) == 0x17d) { // SOP1
    in.sdst = u8(b(22, 16));
    return def->src[0] == TNone || decodeSource(in, 0, b(7, 0), literal, def->src[0]);
  }
  if (b(31, 23) == 0x17e) { // SOPC
    in.imm = b(15, 8);
    return decodeSource(in, 0, b(7, 0), literal, def->src[0]) &&
           (def->src[1] == TNone || decodeSource(in, 1, b(15, 8), literal, def->src[1]));
  }
  if (b(31, 28) == 0xb) { // SOPK
    in.sdst = u8(b(22, 16));
    in.imm = b(15, 0);
    if (mnemonic == "s_call_b64" || mnemonic == "s_cbranch_i_fork")
      branchTarget(in.imm);
    if (mnemonic == "s_setreg_imm32_b32")
      in.src[0].kind = OConst, in.src[0].constant = constant(literal, 0);
    return true;
  }
  if (b(31, 30) == 2) { // SOP2
    in.sdst = u8(b(22, 16));
    return decodeSource(in, 0, b(7, 0), literal, def->src[0]) && decodeSource(in, 1, b(15, 8), literal, def->src[1]);
  }
  if (b(31, 26) == 0x30) { // SMEM
    in.src[0].kind = OSGPR;
    in.src[0].reg = b(5, 0) << 1;
    in.sdst = u8(b(12, 6));
    if (b.bit(16))
      in.flags |= FReturn;
    bool soffsetEnable = b.bit(14), immediate = b.bit(17);
    if (immediate)
      in.imm = u32(signExtend(b(52, 32), 21));
    if (soffsetEnable || !immediate) {
      in.src[1].kind = OSGPR;
      in.src[1].reg = soffsetEnable ? b(63, 57) : b(38, 32);
      in.flags |= FSaddr;
    }
    return true;
  }

  // Vector memory and LDS.
  if (b(31, 26) == 0x36) { // DS
    if (b.bit(16) && !mnemonic.starts_with("ds_gws_"))
      return false; // There is no global data share.
    u32 acc = b.bit(25) ? 256 : 0;
    in.imm = b(15, 0);
    in.src[0].reg = b(39, 32) * 64;
    in.src[1].reg = (b(47, 40) + acc) * 64;
    in.src[2].reg = (b(55, 48) + acc) * 64;
    in.dst = (b(63, 56) + acc) * 64;
    return true;
  }
  if (b(31, 26) == 0x37) { // FLAT, GLOBAL, SCRATCH
    u32 segment = b(15, 14), acc = b.bit(55) ? 256 : 0, saddr = b(54, 48);
    in.imm = segment == 0 ? b(11, 0) : u32(signExtend(b(12, 0), 13));
    in.src[0].reg = b(39, 32) * 64;
    in.src[2].reg = (b(47, 40) + acc) * 64;
    in.dst = (b(63, 56) + acc) * 64;
    if (segment != 0 && saddr != 0x7f) {
      in.src[1].kind = OSGPR;
      in.src[1].reg = saddr;
      in.flags |= FSaddr;
    }
    if (segment == 1 && b.bit(13))
      in.flags |= FVaddr;
    if (b.bit(16))
      in.flags |= FReturn;
    if (mnemonic.contains("_load_lds_"))
      in.flags |= FLds;
    return true;
  }
  if (b(31, 26) == 0x38 || b(31, 26) == 0x3a) { // MUBUF, MTBUF
    if (mnemonic.starts_with("buffer_inv") || mnemonic.starts_with("buffer_wb"))
      return true;
    u32 acc = b.bit(55) ? 256 : 0;
    in.imm = b(11, 0);
    if (b.bit(12))
      in.flags |= FOffen;
    if (b.bit(13))
      in.flags |= FIdxen;
    if (b.bit(14))
      in.flags |= FReturn;
    if (b(31, 26) == 0x3a)
      in.aux = u8(b(22, 19) | b(25, 23) << 4);
    else if (b.bit(16))
      in.flags |= FLds;
    in.src[0].reg = b(39, 32) * 64;
    in.src[2].reg = in.dst = (b(47, 40) + acc) * 64;
    in.sdst = u8(b(52, 48) << 2);
    return decodeSource(in, 1, b(63, 56), 0, TB32) && in.src[1].kind != OVGPR;
  }

  // Vector ALU.
  auto finish = [&]() {
    bool clamp = in.flags & FClamp;
    if (clamp && !isFloat(def->dst) && def->dst != TMask && !mnemonic.starts_with("v_cvt_") &&
        !mnemonic.starts_with("v_dot") && mnemonic != "v_mad_u64_u32" && mnemonic != "v_mad_i64_i32" &&
        !mnemonic.starts_with("v_qsad") && !mnemonic.starts_with("v_mqsad") &&
        !(def->flags & OpSdst && mnemonic.ends_with("_co_u32"))) {
      auto it = handlers.find((mnemonic + ".clamp").str());
      if (it != handlers.end()) {
        def = it->second;
        in.fn = def->fn;
      } else if (clampHasNoEffect(mnemonic)) {
        in.flags &= u16(~FClamp);
      } else {
        return false;
      }
    }
    if ((clamp && isFloat(def->dst)) || in.omod || (in.flags & (FDPP | FSDWA)) || (def->flags & OpKeepHalf))
      in.flags |= FOutMod;
    for (unsigned k = 0; k < 3; ++k) {
      Operand &o = in.src[k];
      if (def->src[k] == TNone && !(def->flags & OpAccum))
        continue;
      bool packed = o.type == TPK16 || o.type == TPKF16 || o.type == TPKF32;
      bool half = o.type == TB16 || o.type == TI16 || o.type == TF16;
      if (o.mods || (k == 0 && (in.flags & FDPP)) || (k < 2 && (in.flags & FSDWA)) ||
          (packed && (((in.opsel >> k) & 1) || !((in.opselHi >> k) & 1) || ((in.negHi >> k) & 1))) ||
          (half && ((in.opsel >> k) & 1)))
        o.slow = 1;
    }
    return true;
  };
  /// Encodings of 32 bits with an optional DPP or SDWA word.
  auto firstSource = [&](unsigned code) {
    if (code == 250) {
      in.flags |= FDPP;
      in.imm = literal;
      in.src[0].mods = u8((literal >> 20 & 1 ? MNeg : 0) | (literal >> 21 & 1 ? MAbs : 0));
      in.src[1].mods = u8((literal >> 22 & 1 ? MNeg : 0) | (literal >> 23 & 1 ? MAbs : 0));
      return decodeSource(in, 0, 256 + (literal & 255), 0, def->src[0]);
    }
    if (code == 249) {
      in.flags |= FSDWA;
      in.imm = literal;
      in.src[0].mods =
          u8((literal >> 20 & 1 ? MNeg : 0) | (literal >> 21 & 1 ? MAbs : 0) | (literal >> 19 & 1 ? MSext : 0));
      in.src[1].mods =
          u8((literal >> 28 & 1 ? MNeg : 0) | (literal >> 29 & 1 ? MAbs : 0) | (literal >> 27 & 1 ? MSext : 0));
      return decodeSource(in, 0, (literal & 255) + (literal >> 23 & 1 ? 0 : 256), 0, def->src[0]);
    }
    return decodeSource(in, 0, code, literal, def->src[0]);
  };
  auto secondSource = [&](unsigned vgpr) {
    unsigned code = 256 + vgpr;
    if ((in.flags & FSDWA) && (literal >> 31 & 1))
      code = vgpr;
    return decodeSource(in, 1, code, literal, def->src[1]);
  };
  if (b(31, 25) == 0x3f) { // VOP1
    unsigned vdst = b(24, 17);
    in.dst = vdst * 64;
    if (def->flags & OpScalarDst)
      in.sdst = u8(vdst);
    if (def->src[0] != TNone && !firstSource(b(8, 0)))
      return false;
    if (in.flags & FSDWA) {
      in.omod = u8(literal >> 14 & 3);
      if (literal >> 13 & 1)
        in.flags |= FClamp;
    }
    if (mnemonic == "v_accvgpr_mov_b32") {
      in.dst += 256 * 64;
      in.src[0].reg += 256 * 64;
    }
    if ((mnemonic.starts_with("v_swap") || mnemonic.starts_with("v_permlane")) && in.src[0].kind != OVGPR)
      return false;
    return finish();
  }
  if (b(31, 25) == 0x3e) { // VOPC
    in.sdst = regVCC;
    if (!firstSource(b(8, 0)) || !secondSource(b(16, 9)))
      return false;
    if ((in.flags & FSDWA) && (literal >> 15 & 1))
      in.sdst = u8(literal >> 8 & 127);
    return finish();
  }
  if (!b.bit(31)) { // VOP2
    in.dst = b(24, 17) * 64;
    in.sdst = regVCC;
    if (!firstSource(b(8, 0)))
      return false;
    unsigned vsrc1 = b(16, 9);
    bool mk = def->flags & OpMK, ak = mnemonic.starts_with("v_fmaak") || mnemonic.starts_with("v_madak");
    if (mk) {
      if (!decodeSource(in, 1, 255, literal, def->src[1]) || !decodeSource(in, 2, 256 + vsrc1, 0, def->src[2]))
        return false;
    } else {
      if (!secondSource(vsrc1))
        return false;
      if (ak && !decodeSource(in, 2, 255, literal, def->src[2]))
        return false;
    }
    if (def->flags & OpCarryIn)
      decodeSource(in, 2, regVCC, 0, TMask);
    if (def->flags & OpAccum)
      decodeSource(in, 2, 256 + b(24, 17), 0, def->src[2]);
    in.opselHi = 7;
    if (in.flags & FSDWA) {
      in.omod = u8(literal >> 14 & 3);
      if (literal >> 13 & 1)
        in.flags |= FClamp;
    }
    return finish();
  }
  // VOP3P is a part of VOP3's opcode space.
  if (b(31, 26) == 0x34 && b(31, 23) != 0x1a7) { // VOP3
    bool withSdst = def->flags & OpSdst;
    in.dst = b(7, 0) * 64;
    in.sdst = withSdst ? u8(b(14, 8)) : u8(b(7, 0) & 127);
    if (b.bit(15))
      in.flags |= FClamp;
    bool bitop = mnemonic.starts_with("v_bitop3_");
    if (bitop) {
      in.flags &= u16(~FClamp);
      in.aux = u8(b(63, 61) | b(10, 8) << 3 | b(60, 59) << 6);
      if (def->flags & OpKeepHalf)
        in.opsel = u8(b(14, 11));
    } else {
      if (!withSdst)
        in.opsel = u8(b(14, 11));
      in.omod = u8(b(60, 59));
      for (unsigned k = 0; k < 3; ++k)
        in.src[k].mods = u8((b.bit(61 + k) ? MNeg : 0) | (!withSdst && b.bit(8 + k) ? MAbs : 0));
    }
    unsigned codes[3] = {b(40, 32), b(49, 41), b(58, 50)};
    for (unsigned k = 0; k < 3; ++k) {
      if (def->src[k] == TNone || (k == 2 && (def->flags & OpAccum))) {
        in.src[k].mods = 0;
        continue;
      }
      if (codes[k] == 249 || codes[k] == 250 || !decodeSource(in, k, codes[k], 0, def->src[k]))
        return false;
      if (def->src[k] == TMask && in.src[k].kind == OVGPR)
        return false;
    }
    if (def->flags & OpAccum)
      decodeSource(in, 2, 256 + b(7, 0), 0, def->src[2]);
    // The halves of packed operands are fixed in this encoding.
    in.opselHi = 7;
    if (def->src[0] == TPKF16 || def->src[0] == TPK16 || def->src[0] == TPKF32)
      in.opsel = 0;
    return finish();
  }
  if (def->cls == CMFMA) {
    if (const MatrixInstruction *info = lookupMatrixInstruction(mnemonic))
      return decodeMatrix(in, *info, size, slot);
    MatrixOp &op = matrixOps.emplace_back();
    op.complaint = "a v_mfma_ld_scale_b32 without the scaled f8f6f4 instruction that it belongs to";
    in.matrix = &op;
    in.fn = handleBadMatrix;
    return true;
  }
  if (b(31, 23) == 0x1a7) { // VOP3P
    in.dst = b(7, 0) * 64;
    if (b.bit(15))
      in.flags |= FClamp;
    in.opsel = u8(b(13, 11));
    in.opselHi = u8(b(60, 59) | (b.bit(14) ? 4 : 0));
    in.negHi = u8(b(10, 8));
    unsigned codes[3] = {b(40, 32), b(49, 41), b(58, 50)};
    if (mnemonic == "v_accvgpr_read_b32" || mnemonic == "v_accvgpr_write_b32") {
      in.flags = 0;
      in.opsel = in.opselHi = in.negHi = 0;
      if (!decodeSource(in, 0, codes[0], 0, TB32))
        return false;
      if (mnemonic == "v_accvgpr_read_b32") {
        if (in.src[0].kind != OVGPR)
          return false;
        in.src[0].reg += 256 * 64;
      } else {
        in.dst += 256 * 64;
      }
      return finish();
    }
    bool mix = mnemonic.starts_with("v_fma_mix");
    for (unsigned k = 0; k < 3; ++k) {
      if (def->src[k] == TNone)
        continue;
      TypeCode type = def->src[k];
      bool fp = type == TPKF16 || type == TPKF32 || mix;
      in.src[k].mods = fp && b.bit(61 + k) ? MNeg : 0;
      if (!decodeSource(in, k, codes[k], 0, mix && ((in.opselHi >> k) & 1) ? TB16 : type))
        return false;
    }
    if (mix) {
      for (Operand &o : in.src)
        o.type = TB32;
      return true;
    }
    return finish();
  }
  return false;
}

/// Whether the following instruction is not reached from this one.
static bool endsFlow(const OpDef *def) {
  StringRef name = def->name;
  return name == "s_endpgm" || name == "s_endpgm_saved" || name == "s_branch" || name == "s_setpc_b64";
}

std::vector<const Inst *> Program::getReachable(const Inst *entry) const {
  std::set<const Inst *> seen;
  std::vector<const Inst *> work = {entry};
  while (!work.empty()) {
    const Inst *in = work.back();
    work.pop_back();
    if (!in || in >= slots + dwords || !in->fn || !seen.insert(in).second || !in->def)
      continue;
    if (!endsFlow(in->def))
      work.push_back(in->next);
    work.push_back(in->target);
  }
  return {seen.begin(), seen.end()};
}

void Program::decodeSlot(uint64_t slot, std::vector<uint64_t> &work) {
  Inst in = {};
  in.index = u32(slot);
  in.next = in.target = &slots[dwords];
  in.cls = CInternal;
  in.bytes = 4;
  Handler fn = handleUnknown;
  auto result =
      disassembler->decode(ArrayRef<uint8_t>(bytes).slice(slot * 4, dwords * 4 - slot * 4), base + slot * 4, false);
  if (result.size) {
    in.bytes = u8(result.size);
    u64 after = slot + (result.size + 3) / 4;
    in.next = &slots[std::min<u64>(after, dwords)];
    auto it = getHandlers().find(result.mnemonic);
    if (it != getHandlers().end()) {
      const OpDef *def = it->second;
      Inst full = in;
      full.target = nullptr;
      full.fn = def->fn;
      if (decodeOperands(full, def, result.mnemonic, result.size, slot)) {
        full.def = def;
        full.cls = u8(def->cls);
        in = full;
        fn = full.fn;
        const ChipIssue &issue = chip->issue;
        if (def->cls == CVALU)
          in.cycles = u8(issue.valuCycles * (def->flags & OpDouble ? 2 : 1));
        else if (def->cls == CTrans)
          in.cycles = u8(issue.transCycles);
        else if (def->cls == CMul)
          in.cycles = u8(issue.mulCycles);
        else if (def->cls == CMFMA)
          in.cycles = u8(issue.valuCycles);
        if (!endsFlow(def) && in.next < &slots[dwords])
          work.push_back(u64(in.next - slots));
        if (in.target && in.target < &slots[dwords])
          work.push_back(u64(in.target - slots));
      }
    }
  }
  in.fn = fn;
  slots[slot] = in;
}

const Inst *Program::decodeFrom(uint64_t address) {
  if (address < base || (address & 3) || (address - base) / 4 >= dwords)
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t first = (address - base) / 4;
  if (slots[first].ready)
    return &slots[first];
  // Slots become valid jump targets only when everything reachable is decoded:
  // running waves follow successors without looking.
  std::vector<uint64_t> work = {first}, done;
  while (!work.empty()) {
    uint64_t slot = work.back();
    work.pop_back();
    if (slots[slot].fn)
      continue;
    decodeSlot(slot, work);
    done.push_back(slot);
  }
  for (uint64_t slot : done)
    __atomic_store_n(&slots[slot].ready, u8(1), __ATOMIC_RELEASE);
  return &slots[first];
}

std::string Program::getRegisters(const Inst *in, SmallVectorImpl<Disassembler::RegOperand> &registers) {
  if (getSlot(in) >= dwords)
    return "";
  std::lock_guard<std::mutex> lock(mutex);
  auto list = disassembler->getRegisters(getBytes(in), getAddress(in));
  registers.assign(list.begin(), list.end());
  return disassembler->decode(getBytes(in), getAddress(in), false).mnemonic;
}

std::string Program::describe(const Inst *in) {
  uint64_t slot = getSlot(in);
  if (slot >= dwords)
    return "";
  std::lock_guard<std::mutex> lock(mutex);
  auto result =
      disassembler->decode(ArrayRef<uint8_t>(bytes).slice(slot * 4, dwords * 4 - slot * 4), base + slot * 4, true);
  if (!result.size)
    return formatv(".long {0:x8}", support::endian::read32le(&bytes[slot * 4])).str();
  return result.text;
}
