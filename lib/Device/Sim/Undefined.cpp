//===- Undefined.cpp - Values that nothing has written --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nearly all instructions read defined values only, and one comparison of masks
// says so. The others compute which bits of their results are undefined: exactly
// for moves, selections, shifts by known amounts and bitwise logic, from the
// lowest undefined bit up for sums and products, all bits of a lane otherwise.
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Undefined.h"
#include "atrex/Device/Device.h"
#include "atrex/Target/MatrixInstructions.h"
#include "lib/Device/Sim/Addresses.h"
#include "lib/Device/Sim/Checks.h"
#include "lib/Device/Sim/Lanes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace llvm;
using namespace atrex;
using namespace atrex::device;
using namespace atrex::device::sim;

namespace {
/// How undefined bits of sources become undefined bits of the result.
enum class Rule : u8 {
  /// A lane is undefined when anything of it is.
  Any,
  /// The same, for registers of any number.
  Coarse,
  Move,
  Reverse,
  And,
  Or,
  Xor,
  AndOr,
  Or3,
  ShiftLeft,
  ShiftRight,
  ShiftRightSigned,
  ShiftLeftOr,
  ShiftLeftAdd,
  AddShiftLeft,
  /// From the lowest undefined bit up.
  Sum,
  Sum24,
  SumCarry,
  Select,
  Permute,
  AlignBit,
  AlignByte,
  Extract,
  Insert,
  PackedHalves,
  PackedWords,
  PackedMove,
  /// Low half of the first source, high half of the second.
  Pack,
  /// Each half of the result from all of one source.
  ConvertPair,
  ConvertBytes,
  Byte0,
  Byte1,
  Byte2,
  Byte3,
  Compare,
  Mix,
};

enum class ScalarRule : u8 {
  Any,
  Move,
  Not,
  And,
  Or,
  Xor,
  AndN2,
  OrN2,
  Nand,
  Nor,
  ShiftLeft,
  ShiftRight,
  ShiftRightSigned,
  Sum,
  Select,
  PackLL,
  PackLH,
  PackHH,
  SaveExec,
  /// Condition code from one bit.
  BitCompare,
  /// Every operand must be defined.
  Use,
};
} // namespace

struct UndefTracker::Plan {
  enum Kind : u8 { Nothing, Scalar, Branch, Vector, Lane, Permute, Matrix, Memory } kind = Nothing;
  Rule rule = Rule::Any;
  ScalarRule scalarRule = ScalarRule::Any;
  /// Reads lanes outside of EXEC, or ignores it.
  bool crossLane = false, ignoresExec = false;
  /// The scalar unit's memory.
  bool scalarMemory = false;
  bool readsScc = false, writesScc = false, writesExec = false;
  /// v_sub v0, v1, v1 and the like: the result does not depend on the value.
  bool cancels = false;
  u8 numSources = 0;
  u64 readScalars[2] = {}, writeScalars[2] = {};
  struct Range {
    u16 first, count;
  };
  SmallVector<Range, 4> reads, writes;
  std::string name;
  const MemAccess *access = nullptr;
  /// Forms of memory instructions.
  bool high = false, oneHalf = false, compareSwap = false, twoSources = false, isSigned = false, transposes = false;
};

/// A small register file in which shadows stand in for the operands.
struct UndefTracker::Shadow {
  Wave wave;
  alignas(64) u32 rows[16 * 64];
};

UndefTracker::UndefTracker(Program &p, EffectsTable &e, FindingLog &l)
    : program(p), effects(e), log(l), plans(p.getNumSlots()), shadow(std::make_unique<Shadow>()) {
  memset(static_cast<void *>(shadow.get()), 0, sizeof(Shadow));
}
UndefTracker::~UndefTracker() = default;

void UndefTracker::start(WaveUndef &u, u32 *rows, u32 definedScalars) {
  memset(u.lanes, 0xff, sizeof(u.lanes));
  memset(u.precise, 0, sizeof(u.precise));
  for (u32 k = 0; k < WaveUndef::numVectors; ++k)
    u.origin[k] = u16(firstVector + k);
  u.lanes[0] = 0;
  // Trap, flat scratch and XNACK registers and EXEC are set; so is what lies
  // between.
  u.scalars[0] = ~u64(definedScalars);
  u.scalars[1] = ((1ull << (102 - 64)) - 1) | 3ull << (regVCC - 64) | 1ull << (regM0 - 64);
  memset(u.scalar, 0xff, sizeof(u.scalar));
  for (u32 k = 0; k < 128; ++k)
    u.scalarOrigin[k] = u16(k);
  u.scc = true;
  u.sccOrigin = originSCC;
  u.rows = rows;
}

//===----------------------------------------------------------------------===//
// Shadows of registers
//===----------------------------------------------------------------------===//

static void getRow(const WaveUndef &u, u32 reg, u32 *row) {
  u64 lanes = u.lanes[reg];
  if (!lanes) {
    memset(row, 0, 256);
    return;
  }
  expandMask(row, lanes);
  if (u.precise[reg])
    for (u32 i = 0; i < 64; ++i)
      row[i] &= u.rows[reg * 64 + i];
}
static void setRow(WaveUndef &u, u32 reg, const u32 *row, u16 origin) {
  u.lanes[reg] = packMask(row);
  if (!u.lanes[reg])
    return;
  if (origin != originSCC)
    u.origin[reg] = origin;
  u.precise[reg] = 1;
  memcpy(u.rows + reg * 64, row, 256);
}
static bool hasScalar(const WaveUndef &u, u32 reg) { return u.scalars[reg >> 6 & 1] >> (reg & 63) & 1; }
static u32 getScalar(const WaveUndef &u, u32 reg) { return reg < 128 && hasScalar(u, reg) ? u.scalar[reg] : 0; }
static u64 getScalar64(const WaveUndef &u, u32 reg) {
  return u64(getScalar(u, reg)) | u64(getScalar(u, reg + 1)) << 32;
}
static void setScalar(WaveUndef &u, u32 reg, u32 bits, u16 origin) {
  if (reg >= 128)
    return;
  u64 bit = 1ull << (reg & 63);
  if (!bits) {
    u.scalars[reg >> 6] &= ~bit;
    return;
  }
  u.scalars[reg >> 6] |= bit;
  u.scalar[reg] = bits;
  u.scalarOrigin[reg] = origin;
}
static void setScalar64(WaveUndef &u, u32 reg, u64 bits, u16 origin) {
  setScalar(u, reg, u32(bits), origin);
  setScalar(u, reg + 1, u32(bits >> 32), origin);
}
static u16 scalarOrigin(const WaveUndef &u, const u64 *read) {
  for (u32 k = 0; k < 2; ++k)
    if (u64 m = u.scalars[k] & read[k])
      return u.scalarOrigin[64 * k + u32(__builtin_ctzll(m))];
  return originSCC;
}

//===----------------------------------------------------------------------===//
// What an instruction does
//===----------------------------------------------------------------------===//

static Rule getRule(StringRef name) {
  StringRef op = name.drop_front(2);
  if (op.starts_with("cmp"))
    return Rule::Compare;
  if (op.starts_with("pk_") &&
      (op.ends_with("f16") || op.ends_with("u16") || op.ends_with("i16") || op.ends_with("b16")))
    return Rule::PackedHalves;
  if (op.starts_with("cvt_pk") && !op.contains("f32_fp8") && !op.contains("f32_bf8") && !op.contains("pk_u8") &&
      !op.contains("accum"))
    return op.contains("fp8") || op.contains("bf8") ? Rule::ConvertBytes : Rule::ConvertPair;
  if (op.starts_with("fma_mix"))
    return Rule::Mix;
  return StringSwitch<Rule>(op)
      .Cases({"mov_b32", "mov_b64", "not_b32", "accvgpr_read_b32", "accvgpr_write_b32", "accvgpr_mov_b32"}, Rule::Move)
      .Case("bfrev_b32", Rule::Reverse)
      .Case("and_b32", Rule::And)
      .Case("or_b32", Rule::Or)
      .Cases({"xor_b32", "xnor_b32"}, Rule::Xor)
      .Case("and_or_b32", Rule::AndOr)
      .Case("or3_b32", Rule::Or3)
      .Cases({"lshlrev_b32", "lshlrev_b64", "lshlrev_b16"}, Rule::ShiftLeft)
      .Cases({"lshrrev_b32", "lshrrev_b64", "lshrrev_b16"}, Rule::ShiftRight)
      .Cases({"ashrrev_i32", "ashrrev_i64"}, Rule::ShiftRightSigned)
      .Case("lshl_or_b32", Rule::ShiftLeftOr)
      .Cases({"lshl_add_u32", "lshl_add_u64"}, Rule::ShiftLeftAdd)
      .Case("add_lshl_u32", Rule::AddShiftLeft)
      .Cases({"add_u32", "sub_u32", "subrev_u32", "add3_u32", "mul_lo_u32", "xad_u32", "add_i32", "sub_i32"}, Rule::Sum)
      .Cases({"add_u16", "sub_u16", "subrev_u16", "mul_lo_u16", "add_i16", "sub_i16", "mad_u64_u32", "mad_i64_i32"},
             Rule::Sum)
      .Cases({"mul_u32_u24", "mul_i32_i24", "mad_u32_u24", "mad_i32_i24"}, Rule::Sum24)
      .Cases({"add_co_u32", "sub_co_u32", "subrev_co_u32", "addc_co_u32", "subb_co_u32", "subbrev_co_u32"},
             Rule::SumCarry)
      .Case("cndmask_b32", Rule::Select)
      .Case("perm_b32", Rule::Permute)
      .Case("alignbit_b32", Rule::AlignBit)
      .Case("alignbyte_b32", Rule::AlignByte)
      .Cases({"bfe_u32", "bfe_i32"}, Rule::Extract)
      .Case("bfi_b32", Rule::Insert)
      .Cases({"pk_fma_f32", "pk_mul_f32", "pk_add_f32"}, Rule::PackedWords)
      .Case("pk_mov_b32", Rule::PackedMove)
      .Case("pack_b32_f16", Rule::Pack)
      .Case("cvt_f32_ubyte0", Rule::Byte0)
      .Case("cvt_f32_ubyte1", Rule::Byte1)
      .Case("cvt_f32_ubyte2", Rule::Byte2)
      .Case("cvt_f32_ubyte3", Rule::Byte3)
      .Default(Rule::Any);
}

static ScalarRule getScalarRule(StringRef name) {
  StringRef op = name.drop_front(2);
  if (op.contains("_saveexec") || op.contains("_wrexec"))
    return ScalarRule::SaveExec;
  op.consume_back("_b32") || op.consume_back("_b64");
  return StringSwitch<ScalarRule>(op)
      .Case("mov", ScalarRule::Move)
      .Case("not", ScalarRule::Not)
      .Case("and", ScalarRule::And)
      .Case("or", ScalarRule::Or)
      .Cases({"xor", "xnor"}, ScalarRule::Xor)
      .Case("andn2", ScalarRule::AndN2)
      .Case("orn2", ScalarRule::OrN2)
      .Case("nand", ScalarRule::Nand)
      .Case("nor", ScalarRule::Nor)
      .Case("lshl", ScalarRule::ShiftLeft)
      .Case("lshr", ScalarRule::ShiftRight)
      .Cases({"ashr_i32", "ashr_i64"}, ScalarRule::ShiftRightSigned)
      .Cases({"add_u32", "sub_u32", "add_i32", "sub_i32", "mul_i32", "addc_u32", "subb_u32"}, ScalarRule::Sum)
      .Case("cselect", ScalarRule::Select)
      .Case("pack_ll_b32_b16", ScalarRule::PackLL)
      .Case("pack_lh_b32_b16", ScalarRule::PackLH)
      .Case("pack_hh_b32_b16", ScalarRule::PackHH)
      .Cases({"pack_ll_b32_b16", "pack_ll"}, ScalarRule::PackLL)
      .Cases({"bitcmp0", "bitcmp1"}, ScalarRule::BitCompare)
      .Default(ScalarRule::Any);
}

std::unique_ptr<UndefTracker::Plan> UndefTracker::compute(const Inst *in) {
  auto result = std::make_unique<Plan>();
  Plan &p = *result;
  SmallVector<Disassembler::RegOperand, 8> registers;
  p.name = program.getRegisters(in, registers);
  const Effects &e = effects.get(in);
  StringRef name = p.name;
  if (name.empty() || !in->def)
    return result;
  const bool isLoad = e.isMemory() && !name.contains("store") && !name.contains("write") && !name.contains("atomic");
  for (const Disassembler::RegOperand &o : registers) {
    if (o.name == "SCC" || o.name == "SRC_SCC") {
      (o.write ? p.writesScc : p.readsScc) = true;
      continue;
    }
    RegRange r = parseRegister(o.name);
    if (!r.count)
      continue;
    if (o.implicit && r.first != regVCC && !(r.first == regM0 && e.flags & Effects::NeedsM0) &&
        !(o.write && r.first == regExec))
      continue;
    if (r.isVector()) {
      if (!o.write && o.tied && isLoad)
        continue;
      auto &list = o.write ? p.writes : p.reads;
      list.push_back({u16(r.first - firstVector), r.count});
      continue;
    }
    for (u32 k = r.first; k < u32(r.first + r.count) && k < 128; ++k)
      (o.write ? p.writeScalars : p.readScalars)[k >> 6] |= 1ull << (k & 63);
    if (o.write && r.first >= regExec)
      p.writesExec = true;
  }
  if (e.flags & Effects::NeedsM0 || name == "ds_append" || name == "ds_consume")
    p.readScalars[1] |= 1ull << (regM0 - 64);
  for (u32 k = 0; k < 3; ++k)
    if (in->def->src[k] != TNone || (k == 2 && in->def->flags & OpAccum))
      p.numSources = u8(k + 1);

  if (e.isMemory()) {
    if (e.kind == Effects::Smem) {
      p.kind = Plan::Memory;
      p.scalarMemory = true;
      return result;
    }
    if (name.starts_with("buffer_inv") || name.starts_with("buffer_wb") || name == "ds_nop")
      return result;
    if (name.starts_with("ds_bpermute") || name.starts_with("ds_permute") || name.starts_with("ds_swizzle")) {
      p.kind = Plan::Permute;
      p.crossLane = true;
      return result;
    }
    p.kind = Plan::Memory;
    p.access = getMemAccess(in);
    p.high = name.ends_with("_hi");
    p.oneHalf = name.contains("d16") && p.access && p.access->bytes < 4;
    p.compareSwap = name.contains("cmpswap");
    p.twoSources = name.contains("cmpst") || name.contains("mskor") || name.contains("wrap");
    p.isSigned = name.contains("sbyte") || name.contains("sshort") || name.contains("_i8") || name.contains("_i16");
    p.transposes = name.contains("_tr_");
    return result;
  }
  if (!e.isValu()) {
    if (name == "s_waitcnt" || name == "s_nop" || name == "s_barrier" || name == "s_branch" || name == "s_endpgm" ||
        name == "s_sleep" || name == "s_setprio" || name == "s_getpc_b64" || name.starts_with("s_cbranch_exec")) {
      p.kind = p.writeScalars[0] | p.writeScalars[1] ? Plan::Scalar : Plan::Nothing;
      return result;
    }
    p.kind = in->cls == CBranch ? Plan::Branch : Plan::Scalar;
    p.scalarRule = getScalarRule(name);
    if (name.starts_with("s_setreg") || name.starts_with("s_sendmsg") || name.starts_with("s_set_gpr_idx") ||
        name == "s_setvskip" || name.starts_with("s_movrel"))
      p.scalarRule = ScalarRule::Use;
    if (name.starts_with("s_movreld"))
      // The register is known only when it executes.
      p.writeScalars[0] = ~0ull;
    if ((name.starts_with("s_xor") || name.starts_with("s_sub_")) && in->src[0].kind == OSGPR &&
        in->src[1].kind == OSGPR && in->src[0].reg == in->src[1].reg)
      p.cancels = true;
    return result;
  }
  if (e.kind == Effects::Mfma) {
    p.kind = Plan::Matrix;
    p.crossLane = p.ignoresExec = true;
    return result;
  }
  if (name.starts_with("v_readlane") || name.starts_with("v_readfirstlane") || name.starts_with("v_writelane") ||
      name.starts_with("v_swap") || name.starts_with("v_permlane")) {
    p.kind = Plan::Lane;
    p.crossLane = true;
    p.ignoresExec = name.starts_with("v_permlane");
    return result;
  }
  p.kind = Plan::Vector;
  p.rule = getRule(name);
  p.crossLane = e.flags & Effects::Dpp;
  bool wide = name.starts_with("v_cvt_scalef32") || name.starts_with("v_mqsad") || name.starts_with("v_prng") ||
              name.starts_with("v_cvt_sr") || name.starts_with("v_qsad");
  for (const Plan::Range &r : p.reads)
    wide |= r.count > 2;
  for (const Plan::Range &r : p.writes)
    wide |= r.count > 2;
  if (wide)
    p.rule = Rule::Coarse;
  // What keeps a part of its destination.
  bool keeps = e.flags & Effects::Partial || name.starts_with("v_cvt_sr") || p.rule == Rule::ConvertBytes ||
               name.starts_with("v_fma_mixlo") || name.starts_with("v_fma_mixhi") || (in->def->flags & OpKeepHalf);
  if (in->flags & FSDWA && !(in->imm >> 11 & 2))
    keeps = false;
  if (keeps || in->flags & FDPP)
    for (const Plan::Range &r : SmallVector<Plan::Range, 4>(p.writes))
      p.reads.push_back(r);
  bool same = p.numSources >= 2 && in->src[0].kind == OVGPR && in->src[1].kind == OVGPR &&
              in->src[0].reg == in->src[1].reg && !in->src[0].mods && !in->src[1].mods && !(in->flags & (FDPP | FSDWA));
  if (same && (name == "v_xor_b32" || name == "v_sub_u32" || name == "v_xnor_b32"))
    p.cancels = true;
  return result;
}

const UndefTracker::Plan &UndefTracker::plan(const Inst *in) {
  std::unique_ptr<Plan> &p = plans[in->index];
  if (LLVM_UNLIKELY(!p))
    p = compute(program.getSlots() + in->index);
  return *p;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

void UndefTracker::report(Wave &w, const Inst *in, GroupChecks &group, const RegRange &reg, u64 lanes, u16 origin,
                          const char *role) {
  CheckRecord r;
  r.kind = CheckUninit;
  r.inst = in;
  r.ordinal = group.ordinal;
  r.sequence = group.sequence++;
  r.wave = w.waveInGroup;
  r.lanes = lanes;
  log.add(std::move(r), [&] {
    std::string name = reg.first == originSCC ? std::string("scc") : formatRegister(reg);
    std::string from;
    if (origin == originLDS)
      from = ": its value comes from LDS, where nothing or an undefined value was stored";
    else if (origin == originScratch)
      from = ": its value comes from scratch memory that nothing has written";
    else if (origin == originSCC || origin == reg.first)
      from = " that nothing has written";
    else
      from = formatv(": its value comes from {0}, which nothing has written", formatRegister({origin, 1})).str();
    return formatv("{0} in {1}{2}", role, name, from).str();
  });
}

void UndefTracker::useVector(Wave &w, const Inst *in, GroupChecks &group, u32 first, u32 count, u64 lanes, u32 lastBits,
                             const char *role) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  for (u32 k = 0; k < count && first + k < WaveUndef::numVectors; ++k) {
    u32 reg = first + k;
    u64 bad = u.lanes[reg] & lanes;
    if (!bad)
      continue;
    if (u.precise[reg] && lastBits != ~0u)
      for (u64 m = bad; m; m &= m - 1) {
        u32 i = u32(__builtin_ctzll(m));
        if (!(u.rows[reg * 64 + i] & lastBits))
          bad &= ~(1ull << i);
      }
    if (!bad)
      continue;
    report(w, in, group, {u16(firstVector + reg), 1}, bad, u.origin[reg], role);
    // Once is enough.
    u.lanes[reg] &= ~bad;
  }
}

void UndefTracker::useScalars(Wave &w, const Inst *in, GroupChecks &group, u64 lo, u64 hi, const char *role) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  const u64 masks[2] = {lo, hi};
  for (u32 k = 0; k < 2; ++k)
    for (u64 m = u.scalars[k] & masks[k]; m; m &= m - 1) {
      u32 reg = 64 * k + u32(__builtin_ctzll(m));
      report(w, in, group, {u16(reg), 1}, 0, u.scalarOrigin[reg], role);
      setScalar(u, reg, 0, 0);
    }
}

//===----------------------------------------------------------------------===//
// Vector instructions
//===----------------------------------------------------------------------===//

/// Lanes of these registers become defined.
static void define(WaveUndef &u, u32 first, u32 count, u64 lanes) {
  for (u32 k = 0; k < count; ++k)
    u.lanes[first + k] &= ~lanes;
}

void UndefTracker::coarseOp(Wave &w, const Inst *, const Plan &p, GroupChecks &group, u64 lanes) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  u64 bad = 0;
  u16 origin = originSCC;
  for (const Plan::Range &r : p.reads)
    for (u32 k = 0; k < r.count; ++k)
      if (u.lanes[r.first + k] & lanes) {
        origin = bad ? origin : u.origin[r.first + k];
        bad |= u.lanes[r.first + k];
      }
  if ((u.scalars[0] & p.readScalars[0]) | (u.scalars[1] & p.readScalars[1])) {
    origin = bad ? origin : scalarOrigin(u, p.readScalars);
    bad = ~0ull;
  }
  if (p.crossLane && bad)
    bad = ~0ull;
  bad &= lanes;
  for (const Plan::Range &r : p.writes)
    for (u32 k = 0; k < r.count; ++k) {
      u32 reg = r.first + k;
      u64 keep = u.lanes[reg] & ~lanes;
      if (u.precise[reg] && keep) {
        for (u64 m = bad; m; m &= m - 1)
          u.rows[reg * 64 + u32(__builtin_ctzll(m))] = ~0u;
      } else {
        u.precise[reg] = 0;
      }
      u.lanes[reg] = keep | bad;
      if (bad)
        u.origin[reg] = origin;
    }
  for (u32 k = 0; k < 2; ++k)
    for (u64 m = p.writeScalars[k]; m; m &= m - 1)
      setScalar(u, 64 * k + u32(__builtin_ctzll(m)), bad ? ~0u : 0, origin);
}

static u32 left(u32 x) { return x | (0u - x); }

void UndefTracker::vectorOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  const u64 exec = getExec(w);
  if (p.cancels) {
    for (const Plan::Range &r : p.writes)
      define(u, r.first, r.count, exec);
    return;
  }
  if (p.rule == Rule::Coarse) {
    coarseOp(w, in, p, group, exec);
    return;
  }
  Wave &sw = shadow->wave;
  sw.v = shadow->rows;
  write64(sw, regExec, exec);
  sw.dppMask = ~0ull;
  sw.slowMode = 0;
  Inst c = *in;
  c.flags &= u16(~FClamp);
  c.omod = 0;
  c.negHi = 0;
  // Undefined bits and values of the sources.
  alignas(64) u32 us[3][128] = {}, vs[3][128] = {};
  u16 origin = originSCC;
  bool found = false;
  u64 maskUndef = 0, mask = 0;
  for (u32 k = 0; k < p.numSources; ++k) {
    const Operand &o = in->src[k];
    Operand &s = c.src[k];
    const u32 planes = is64(o.type) ? 2 : 1;
    if (o.type == TMask) {
      mask = scalar64(w, o);
      if (o.kind == OSGPR) {
        maskUndef = getScalar64(u, o.reg) & exec;
        if (maskUndef && !found) {
          found = true;
          origin = u.scalarOrigin[getScalar(u, o.reg) ? o.reg : o.reg + 1];
        }
      }
      continue;
    }
    s.mods &= MSext;
    s.slow = 1;
    if (p.rule == Rule::Mix)
      s.type = TB32;
    // What the operand selects of the value, without its signs.
    Inst value = c;
    if (o.kind == OConst || o.kind == OSpecial) {
      fetchSlow(w, &value, k, vs[k]);
      continue;
    }
    s.kind = OVGPR;
    s.reg = k * 2 * 64;
    if (o.kind == OVGPR) {
      fetchSlow(w, &value, k, vs[k]);
      for (u32 n = 0; n < planes; ++n) {
        u32 reg = o.reg / 64 + n;
        getRow(u, reg, sw.v + s.reg + 64 * n);
        if (!found && (p.crossLane ? u.lanes[reg] : u.lanes[reg] & exec)) {
          found = true;
          origin = u.origin[reg];
        }
      }
    } else {
      u32 regs[2] = {w.s[o.reg], w.s[o.reg + 1]};
      value.src[k] = s;
      for (u32 n = 0; n < planes; ++n)
        for (u32 i = 0; i < 64; ++i)
          sw.v[s.reg + 64 * n + i] = regs[n];
      fetchSlow(sw, &value, k, vs[k]);
      for (u32 n = 0; n < planes; ++n) {
        u32 bits = getScalar(u, o.reg + n);
        for (u32 i = 0; i < 64; ++i)
          sw.v[s.reg + 64 * n + i] = bits;
        if (bits && !found) {
          found = true;
          origin = u.scalarOrigin[o.reg + n];
        }
      }
    }
    fetchSlow(sw, &c, k, us[k]);
    if (is16(o.type))
      for (u32 i = 0; i < 64; ++i) {
        us[k][i] &= 0xffffu;
        vs[k][i] &= 0xffffu;
      }
  }
  // v_div_fmas.
  if (p.rule == Rule::Any && !mask && p.readScalars[1] >> (regVCC - 64) & 1)
    maskUndef |= getScalar64(u, regVCC) & exec;
  const TypeCode dst = in->def->dst;
  const bool half = is16(dst);
  const u32 planes = is64(dst) ? 2 : 1;
  alignas(64) u32 r[128] = {};
  u64 flags = 0; // Lanes whose carry or comparison is undefined.
  const u32(*a)[128] = us;
  for (u32 i = 0; i < 64; ++i) {
    const u32 a0 = a[0][i], a1 = a[1][i], a2 = a[2][i];
    const u32 any = a0 | a1 | a2 | a[0][64 + i] | a[1][64 + i] | a[2][64 + i] | u32(maskUndef >> i & 1);
    if (!any)
      continue;
    auto wide = [&](u64 x) {
      r[i] = u32(x);
      r[64 + i] = u32(x >> 32);
    };
    auto all = [&] { r[i] = r[64 + i] = ~0u; };
    auto value64 = [&](const u32(*x)[128], u32 k) { return u64(x[k][i]) | u64(x[k][64 + i]) << 32; };
    switch (p.rule) {
    case Rule::Move:
      r[i] = a0;
      r[64 + i] = a[0][64 + i];
      break;
    case Rule::Reverse:
      r[i] = __builtin_bitreverse32(a0);
      break;
    case Rule::And:
    case Rule::AndOr: {
      u32 x = (a0 & a1) | (a0 & vs[1][i]) | (vs[0][i] & a1);
      if (p.rule == Rule::AndOr) {
        u32 v = vs[0][i] & vs[1][i];
        x = (x & a2) | (x & ~vs[2][i]) | (~v & a2);
      }
      r[i] = x;
      break;
    }
    case Rule::Or:
      r[i] = (a0 & a1) | (a0 & ~vs[1][i]) | (~vs[0][i] & a1);
      break;
    case Rule::Xor:
    case Rule::Or3:
      r[i] = a0 | a1 | a2;
      break;
    case Rule::ShiftLeft:
      if (a0)
        all();
      else if (planes == 2)
        wide(value64(us, 1) << (vs[0][i] & 63u));
      else
        r[i] = a1 << (vs[0][i] & (half ? 15u : 31u));
      break;
    case Rule::ShiftRight:
      if (a0)
        all();
      else if (planes == 2)
        wide(value64(us, 1) >> (vs[0][i] & 63u));
      else
        r[i] = a1 >> (vs[0][i] & (half ? 15u : 31u));
      break;
    case Rule::ShiftRightSigned:
      if (a0)
        all();
      else if (planes == 2)
        wide(u64(i64(value64(us, 1)) >> (vs[0][i] & 63u)));
      else
        r[i] = u32(i32(a1) >> (vs[0][i] & 31u));
      break;
    case Rule::ShiftLeftOr:
      r[i] = a1 ? ~0u : (a0 << (vs[1][i] & 31u)) | a2;
      break;
    case Rule::ShiftLeftAdd:
      if (a1)
        all();
      else if (planes == 2) {
        u64 x = value64(us, 0) << (vs[1][i] & 7u) | value64(us, 2);
        wide(x | (0ull - x));
      } else
        r[i] = left((a0 << (vs[1][i] & 31u)) | a2);
      break;
    case Rule::AddShiftLeft:
      r[i] = a2 ? ~0u : left(a0 | a1) << (vs[2][i] & 31u);
      break;
    case Rule::Sum:
      if (planes == 2) {
        u64 x = u64(a0 | a1) | value64(us, 2);
        wide(x | (0ull - x));
        flags |= 1ull << i;
      } else {
        r[i] = left(a0 | a1 | a2);
      }
      break;
    case Rule::Sum24:
      r[i] = left(((a0 | a1) & 0xffffffu) | a2);
      break;
    case Rule::SumCarry:
      r[i] = left(a0 | a1 | u32(maskUndef >> i & 1));
      flags |= 1ull << i;
      break;
    case Rule::Select: {
      u32 chosen = mask >> i & 1 ? a1 : a0;
      r[i] = maskUndef >> i & 1 ? a0 | a1 | (vs[0][i] ^ vs[1][i]) : chosen;
      break;
    }
    case Rule::Permute: {
      if (a2) {
        all();
        break;
      }
      u64 x = u64(a0) << 32 | a1;
      for (u32 k = 0; k < 4; ++k) {
        u32 s = (vs[2][i] >> (8 * k)) & 0xffu;
        u32 byte = s < 8    ? u32(x >> (8 * s)) & 0xffu
                   : s < 12 ? (u32(x >> (((s - 8) * 2 + 1) * 8)) & 0x80u ? 0xffu : 0u)
                            : 0u;
        r[i] |= byte << (8 * k);
      }
      break;
    }
    case Rule::AlignBit:
      r[i] = a2 & 31u ? ~0u : u32((u64(a0) << 32 | a1) >> (vs[2][i] & 31u));
      break;
    case Rule::AlignByte:
      r[i] = a2 & 3u ? ~0u : u32((u64(a0) << 32 | a1) >> (8u * (vs[2][i] & 3u)));
      break;
    case Rule::Extract: {
      if ((a1 | a2) & 31u) {
        all();
        break;
      }
      u32 x = (a0 >> (vs[1][i] & 31u)) & ((1u << (vs[2][i] & 31u)) - 1u);
      r[i] = x && in->def->dst == TI32 ? left(x) : x;
      break;
    }
    case Rule::Insert:
      r[i] = (vs[0][i] & a1) | (~vs[0][i] & a2) | (a0 & ((vs[1][i] ^ vs[2][i]) | a1 | a2));
      break;
    case Rule::PackedHalves: {
      u32 x = a0 | a1 | a2;
      r[i] = (x & 0xffffu ? 0xffffu : 0u) | (x >> 16 ? 0xffff0000u : 0u);
      break;
    }
    case Rule::PackedWords:
      r[i] = a0 | a1 | a2 ? ~0u : 0u;
      r[64 + i] = a[0][64 + i] | a[1][64 + i] | a[2][64 + i] ? ~0u : 0u;
      break;
    case Rule::PackedMove:
      // The fetch has put what op_sel chooses first.
      r[i] = a0;
      r[64 + i] = a1;
      break;
    case Rule::Pack:
      r[i] = (a0 & 0xffffu) | a1 << 16;
      break;
    case Rule::ConvertPair:
      r[i] = (a0 ? 0xffffu : 0u) | (a1 ? 0xffff0000u : 0u) | (a2 ? ~0u : 0u);
      break;
    case Rule::ConvertBytes:
      r[i] = (a0 ? 0xffu : 0u) | (a1 ? 0xff00u : 0u);
      break;
    case Rule::Byte0:
    case Rule::Byte1:
    case Rule::Byte2:
    case Rule::Byte3:
      r[i] = a0 >> (8 * (u32(p.rule) - u32(Rule::Byte0))) & 0xffu ? ~0u : 0u;
      break;
    case Rule::Mix: {
      bool bad = false;
      for (u32 k = 0; k < 3; ++k) {
        u32 x = us[k][i];
        if (in->opselHi >> k & 1)
          x = in->opsel >> k & 1 ? x >> 16 : x & 0xffffu;
        bad |= x != 0;
      }
      r[i] = bad ? ~0u : 0u;
      break;
    }
    case Rule::Any:
    case Rule::Coarse:
    case Rule::Compare:
      all();
      flags |= 1ull << i;
      break;
    }
  }
  flags &= exec;
  // Masks: comparisons, carries, the flag of v_div_scale.
  for (u32 k = 0; k < 2; ++k)
    for (u64 m = p.writeScalars[k]; m; m &= m - 1) {
      u32 reg = 64 * k + u32(__builtin_ctzll(m));
      if (reg >= regExec)
        continue;
      // The pair starts at an even register.
      setScalar(u, reg, reg & 1 ? u32(flags >> 32) : u32(flags), origin);
    }
  if (p.rule == Rule::Compare) {
    if (p.writesExec && flags)
      report(w, in, group, {u16(regExec), 2}, flags, origin, "comparison for the new EXEC");
    return;
  }
  if (p.writes.empty())
    return;
  const u32 reg = in->dst / 64, d = 8 * 64;
  if (half)
    for (u32 i = 0; i < 64; ++i)
      r[i] &= 0xffffu;
  for (u32 n = 0; n < planes; ++n)
    getRow(u, reg + n, sw.v + d + 64 * n);
  if (p.rule == Rule::ConvertBytes || (p.rule == Rule::Mix && !p.name.empty() && p.name.back() == '6')) {
    // One half of the register.
    bool hi = p.rule == Rule::Mix ? StringRef(p.name).contains("mixhi") : (in->opsel & 8u) != 0;
    for (u32 i = 0; i < 64; ++i)
      r[i] = hi ? r[i] << 16 | (sw.v[d + i] & 0xffffu) : (r[i] & 0xffffu) | (sw.v[d + i] & 0xffff0000u);
    storePlanes(sw.v + d, r, 1, exec);
  } else {
    c.dst = d;
    storeSlow(sw, &c, r, half ? TB16 : planes == 2 ? TB64 : TB32);
  }
  for (u32 n = 0; n < planes; ++n)
    setRow(u, reg + n, sw.v + d + 64 * n, origin);
}

/// Single lanes and exchanges of registers.
void UndefTracker::laneOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  const u64 exec = getExec(w);
  StringRef name = p.name;
  alignas(64) u32 x[64], y[64];
  if (name.starts_with("v_read")) {
    u32 bits = 0;
    u16 origin = originSCC;
    if (in->src[0].kind == OVGPR) {
      u32 reg = in->src[0].reg / 64;
      getRow(u, reg, x);
      u32 lane =
          name.starts_with("v_readfirst") ? (exec ? u32(__builtin_ctzll(exec)) : 0) : scalar32(w, in->src[1]) & 63u;
      bits = x[lane];
      origin = u.origin[reg];
    } else if (in->src[0].kind == OSGPR) {
      bits = getScalar(u, in->src[0].reg);
      origin = u.scalarOrigin[in->src[0].reg & 127];
    }
    if (name.starts_with("v_readlane") && in->src[1].kind == OSGPR && getScalar(u, in->src[1].reg) & 63u) {
      bits = ~0u;
      origin = u.scalarOrigin[in->src[1].reg & 127];
    }
    setScalar(u, in->sdst, bits, origin);
    return;
  }
  u32 reg = in->dst / 64;
  getRow(u, reg, x);
  if (name.starts_with("v_writelane")) {
    u32 bits = in->src[0].kind == OSGPR ? getScalar(u, in->src[0].reg) : 0;
    x[scalar32(w, in->src[1]) & 63u] = bits;
    setRow(u, reg, x, bits ? u.scalarOrigin[in->src[0].reg & 127] : u.origin[reg]);
    return;
  }
  u32 other = in->src[0].reg / 64;
  u16 originX = u.origin[reg], originY = u.origin[other];
  getRow(u, other, y);
  if (name.starts_with("v_swap")) {
    for (u64 m = exec; m; m &= m - 1)
      std::swap(x[__builtin_ctzll(m)], y[__builtin_ctzll(m)]);
  } else {
    u32 rows = name.contains("16") ? 16 : 32;
    for (u32 base = 0; base < 64; base += 2 * rows)
      for (u32 i = 0; i < rows; ++i)
        std::swap(x[base + rows + i], y[base + i]);
  }
  setRow(u, reg, x, originY);
  setRow(u, other, y, originX);
}

/// ds_bpermute and the like: the handler moves the shadows.
void UndefTracker::permuteOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  const u64 exec = getExec(w);
  Wave &sw = shadow->wave;
  sw.v = shadow->rows;
  write64(sw, regExec, exec);
  Inst c = *in;
  bool swizzle = StringRef(p.name).starts_with("ds_swizzle");
  u32 address = in->src[0].reg / 64, data = swizzle ? address : in->src[1].reg / 64, reg = in->dst / 64;
  alignas(64) u32 undefined[64] = {};
  if (!swizzle) {
    memcpy(sw.v, w.v + in->src[0].reg, 256);
    c.src[0].reg = 0;
    c.src[1].reg = 64;
    getRow(u, address, undefined);
  } else {
    c.src[0].reg = 64;
  }
  getRow(u, data, sw.v + 64);
  getRow(u, reg, sw.v + 128);
  c.dst = 128;
  u16 origin = u.lanes[data] ? u.origin[data] : u.origin[address];
  in->fn(sw, &c);
  u64 badAddress = packMask(undefined) & exec;
  if (badAddress && StringRef(p.name).starts_with("ds_permute"))
    badAddress = exec;
  for (u64 m = badAddress; m; m &= m - 1)
    sw.v[128 + u32(__builtin_ctzll(m))] = ~0u;
  setRow(u, reg, sw.v + 128, badAddress ? u.origin[address] : origin);
}

/// An output is undefined when its row of A, its column of B or its C is.
void UndefTracker::matrixOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  const MatrixOp *op = in->matrix;
  const MatrixInstruction *info = op ? op->info : nullptr;
  // Blocks and lanes move about, or nobody knows what an index says.
  bool coarse = !info || op->sparse || op->complaint || (!info->isF8F6F4() && !op->scaled && (op->cbsz | op->blgp));
  if (!coarse && op->scaled)
    for (const Operand &o : op->scale)
      coarse |= o.kind == OVGPR ? u.lanes[o.reg / 64] != 0 : o.kind == OSGPR && getScalar(u, o.reg);
  if (coarse) {
    coarseOp(w, in, p, group, ~0ull);
    return;
  }
  std::unique_ptr<MatrixMap> &map = matrixMaps[info];
  if (!map) {
    map = std::make_unique<MatrixMap>();
    auto type = [&](MatrixType t) { return t == MatrixType::F8F6F4 ? MatrixType::FP8 : t; };
    ThreadValueLayout la = getThreadValueLayout(*info, MatrixOperand::A, type(info->a)),
                      lb = getThreadValueLayout(*info, MatrixOperand::B, type(info->b)),
                      ld = getThreadValueLayout(*info, MatrixOperand::D);
    for (u32 lane = 0; lane < 64; ++lane) {
      u32 ia = la.at(lane, 0), ib = lb.at(lane, 0);
      map->rowA[lane] = u8(ia % info->m);
      map->blockA[lane] = u8(ia / (info->m * info->k));
      map->colB[lane] = u8(ib % info->n);
      map->blockB[lane] = u8(ib / (info->n * info->k));
    }
    map->valuesD = ld.getNumValues();
    map->d.resize(64 * map->valuesD);
    for (u32 lane = 0; lane < 64; ++lane)
      for (u32 v = 0; v < map->valuesD; ++v) {
        u32 x = ld.at(lane, v);
        map->d[lane * map->valuesD + v] = {u8(x / (info->m * info->n)), u8(x % info->m), u8(x / info->m % info->n)};
      }
  }
  u16 origin = originSCC;
  auto lanesOf = [&](u32 row, u32 count) {
    u64 bad = 0;
    for (u32 k = 0; k < count; ++k)
      if (u64 x = u.lanes[row / 64 + k]) {
        origin = bad || origin != originSCC ? origin : u.origin[row / 64 + k];
        bad |= x;
      }
    return bad;
  };
  u64 badA = lanesOf(op->a, op->numA), badB = lanesOf(op->b, op->numB);
  u32 rows[16] = {}, cols[16] = {};
  for (u64 m = badA; m; m &= m - 1)
    rows[map->blockA[__builtin_ctzll(m)] & 15] |= 1u << map->rowA[__builtin_ctzll(m)];
  for (u64 m = badB; m; m &= m - 1)
    cols[map->blockB[__builtin_ctzll(m)] & 15] |= 1u << map->colB[__builtin_ctzll(m)];
  const u32 perValue = op->numC / map->valuesD;
  SmallVector<u64, 32> result(op->numC);
  for (u32 k = 0; k < op->numC; ++k) {
    u64 c = op->constantC ? 0 : u.lanes[op->c / 64 + k];
    if (c && origin == originSCC)
      origin = u.origin[op->c / 64 + k];
    if (badA | badB)
      for (u32 lane = 0; lane < 64; ++lane) {
        const auto &at = map->d[lane * map->valuesD + k / perValue];
        if ((rows[at[0] & 15] >> at[1] & 1) | (cols[at[0] & 15] >> at[2] & 1))
          c |= 1ull << lane;
      }
    result[k] = c;
  }
  for (u32 k = 0; k < op->numC; ++k) {
    u32 reg = op->d / 64 + k;
    u.lanes[reg] = result[k];
    u.precise[reg] = 0;
    u.origin[reg] = origin;
  }
}

//===----------------------------------------------------------------------===//
// Scalar instructions
//===----------------------------------------------------------------------===//

void UndefTracker::scalarOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  auto defineAll = [&] {
    u.scalars[0] &= ~p.writeScalars[0];
    u.scalars[1] &= ~p.writeScalars[1];
    if (p.writesScc)
      u.scc = false;
  };
  if (p.cancels) {
    defineAll();
    return;
  }
  if (p.scalarRule == ScalarRule::Use) {
    useScalars(w, in, group, p.readScalars[0], p.readScalars[1], "operand");
    defineAll();
    return;
  }
  u16 origin = scalarOrigin(u, p.readScalars);
  if (origin == originSCC && p.readsScc)
    origin = u.sccOrigin;
  const OpDef *def = in->def;
  u64 bits[2] = {}, value[2] = {};
  for (u32 k = 0; k < p.numSources && k < 2; ++k) {
    const Operand &o = in->src[k];
    bool wide = is64(def->src[k]);
    value[k] = wide ? scalar64(w, o) : scalar32(w, o);
    if (o.kind == OSGPR)
      bits[k] = wide ? getScalar64(u, o.reg) : getScalar(u, o.reg);
  }
  const bool wide = is64(def->dst);
  const u64 width = wide ? ~0ull : 0xffffffffull;
  u64 r = 0;
  bool scc = false;
  auto logic = [&](u64 undefined, u64 result) {
    r = undefined & width;
    // A one that is certain decides.
    scc = r && !(result & ~r & width);
  };
  auto andBits = [](u64 a, u64 va, u64 b, u64 vb) { return (a & b) | (a & vb) | (va & b); };
  auto shifted = [&](bool right, bool sign) {
    u32 n = u32(value[1]) & (wide ? 63u : 31u);
    u64 x;
    if (bits[1] & (wide ? 63u : 31u))
      x = width;
    else if (!right)
      x = bits[0] << n;
    else if (!sign)
      x = bits[0] >> n;
    else
      x = wide ? u64(i64(bits[0]) >> n) : u64(u32(i32(u32(bits[0])) >> n));
    u64 v = !right ? value[0] << n : value[0] >> n;
    logic(x, v);
  };
  switch (p.scalarRule) {
  case ScalarRule::Move:
    r = bits[0];
    break;
  case ScalarRule::Not:
    logic(bits[0], ~value[0]);
    break;
  case ScalarRule::And:
    logic(andBits(bits[0], value[0], bits[1], value[1]), value[0] & value[1]);
    break;
  case ScalarRule::Nand:
    logic(andBits(bits[0], value[0], bits[1], value[1]), ~(value[0] & value[1]));
    break;
  case ScalarRule::AndN2:
    logic(andBits(bits[0], value[0], bits[1], ~value[1]), value[0] & ~value[1]);
    break;
  case ScalarRule::Or:
    logic(andBits(bits[0], ~value[0], bits[1], ~value[1]), value[0] | value[1]);
    break;
  case ScalarRule::Nor:
    logic(andBits(bits[0], ~value[0], bits[1], ~value[1]), ~(value[0] | value[1]));
    break;
  case ScalarRule::OrN2:
    logic(andBits(bits[0], ~value[0], bits[1], value[1]), value[0] | ~value[1]);
    break;
  case ScalarRule::Xor:
    logic(bits[0] | bits[1], value[0] ^ value[1]);
    break;
  case ScalarRule::ShiftLeft:
    shifted(false, false);
    break;
  case ScalarRule::ShiftRight:
    shifted(true, false);
    break;
  case ScalarRule::ShiftRightSigned:
    shifted(true, true);
    break;
  case ScalarRule::Sum: {
    u64 x = (bits[0] | bits[1] | (p.readsScc && u.scc ? 1u : 0u)) & width;
    r = (x | (0ull - x)) & width;
    scc = x != 0;
    break;
  }
  case ScalarRule::Select:
    r = u.scc ? bits[0] | bits[1] | (value[0] ^ value[1]) : w.scc ? bits[0] : bits[1];
    r &= width;
    break;
  case ScalarRule::PackLL:
    r = (bits[0] & 0xffffu) | (bits[1] & 0xffffu) << 16;
    break;
  case ScalarRule::PackLH:
    r = (bits[0] & 0xffffu) | (bits[1] & 0xffff0000u);
    break;
  case ScalarRule::PackHH:
    r = bits[0] >> 16 | (bits[1] & 0xffff0000u);
    break;
  case ScalarRule::BitCompare: {
    u32 n = u32(value[1]) & (is64(def->src[0]) ? 63u : 31u);
    scc = bits[1] || (bits[0] >> n & 1);
    break;
  }
  case ScalarRule::SaveExec: {
    StringRef op = StringRef(p.name).drop_front(2);
    u64 exec = getExec(w), bad = bits[0];
    // Where EXEC alone decides.
    if (op.starts_with("and_") || op.starts_with("nand_") || op.starts_with("andn1_"))
      bad &= exec;
    else if (op.starts_with("or_") || op.starts_with("nor_") || op.starts_with("orn1_"))
      bad &= ~exec;
    else if (op.starts_with("andn2_"))
      bad &= ~exec;
    else if (op.starts_with("orn2_"))
      bad &= exec;
    if (bad)
      report(w, in, group, {u16(in->src[0].reg), 2}, bad, origin, "new EXEC");
    if (in->src[0].kind == OSGPR)
      setScalar64(u, in->src[0].reg, 0, 0);
    defineAll();
    return;
  }
  case ScalarRule::Any:
  case ScalarRule::Use:
    if ((u.scalars[0] & p.readScalars[0]) | (u.scalars[1] & p.readScalars[1]) | u64(p.readsScc && u.scc)) {
      r = width;
      scc = true;
    }
    break;
  }
  for (u32 k = 0; k < 2; ++k)
    for (u64 m = p.writeScalars[k]; m; m &= m - 1) {
      u32 reg = 64 * k + u32(__builtin_ctzll(m));
      // SOPK instructions name their destination in the same field.
      u32 part = wide && reg == u32(in->sdst) + 1 ? u32(r >> 32) : u32(r);
      if (reg >= regExec) {
        if (part)
          report(w, in, group, {u16(reg), 1}, u64(part) << (reg == regExec ? 0 : 32), origin, "new EXEC");
        continue;
      }
      setScalar(u, reg, part, origin);
    }
  if (p.writesScc) {
    u.scc = scc;
    u.sccOrigin = origin;
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void UndefTracker::memoryOp(Wave &w, const Inst *in, const Plan &p, GroupChecks &group) {
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  if (p.scalarMemory) {
    // Base, descriptor, offset; data of stores.
    useScalars(w, in, group, p.readScalars[0], p.readScalars[1], "operand of a scalar memory instruction");
    u.scalars[0] &= ~p.writeScalars[0];
    u.scalars[1] &= ~p.writeScalars[1];
    return;
  }
  const u64 exec = getExec(w);
  if (!exec)
    return;
  if ((u.scalars[0] & p.readScalars[0]) | (u.scalars[1] & p.readScalars[1]))
    useScalars(w, in, group, p.readScalars[0], p.readScalars[1],
               p.access && p.access->kind == MemAccess::Buffer ? "buffer descriptor or offset" : "address");
  const MemAccess *a = p.access;
  // Loads of 16 bits keep the other half.
  auto defineResults = [&] {
    if (p.oneHalf && !p.writes.empty()) {
      const u32 reg = p.writes[0].first, keep = p.high ? 0xffffu : 0xffff0000u;
      if (!(u.lanes[reg] & exec))
        return;
      alignas(64) u32 row[64];
      getRow(u, reg, row);
      for (u64 m = exec; m; m &= m - 1)
        row[__builtin_ctzll(m)] &= keep;
      setRow(u, reg, row, originSCC);
      return;
    }
    for (const Plan::Range &r : p.writes)
      define(u, r.first, r.count, exec);
  };
  if (!a || a->isFormat) {
    // Forms that nobody took apart: every register is used.
    for (const Plan::Range &r : p.reads)
      useVector(w, in, group, r.first, r.count, exec, ~0u, "operand");
    defineResults();
    return;
  }
  // Addresses.
  u32 addressCount = 0;
  switch (a->kind) {
  case MemAccess::LDS:
    addressCount = a->byM0 ? 0 : 1;
    break;
  case MemAccess::Flat:
    addressCount = 2;
    break;
  case MemAccess::Global:
    addressCount = in->flags & FSaddr ? 1 : 2;
    break;
  case MemAccess::Scratch:
    addressCount = in->flags & FVaddr ? 1 : 0;
    break;
  default:
    addressCount = u32((in->flags & FOffen) != 0) + u32((in->flags & FIdxen) != 0);
    break;
  }
  if (addressCount)
    useVector(w, in, group, in->src[0].reg / 64, addressCount, exec, ~0u, "address");

  const u32 bytes = a->bytes, planes = bytes < 4 ? 1 : bytes / 4;
  const bool isLds = a->kind == MemAccess::LDS, toLds = in->flags & FLds;
  const bool hi = p.high;
  // Data.
  SmallVector<Plan::Range, 2> data;
  if (a->writes && !(a->byM0 && a->atomic)) {
    u32 first = isLds ? in->src[1].reg / 64 : in->src[2].reg / 64;
    bool two = a->offsetScale != 0;
    u32 n = planes * (!isLds && p.compareSwap ? 2 : 1);
    data.push_back({u16(first), u16(n)});
    if (two || (isLds && p.twoSources))
      data.push_back({u16(in->src[2].reg / 64), u16(planes)});
  }
  u64 undefinedData = 0;
  for (const Plan::Range &r : data)
    for (u32 k = 0; k < r.count; ++k)
      undefinedData |= u.lanes[r.first + k];
  undefinedData &= exec;
  const bool onChip = isLds || a->kind == MemAccess::Flat || a->kind == MemAccess::Scratch;
  const bool reads = a->reads && (group.undef.ldsUndefined || a->kind == MemAccess::Scratch ||
                                  (a->kind == MemAccess::Flat && w.scratchBytesPerLane));
  u32 lowBits = bytes == 1 ? 0xffu : bytes == 2 ? 0xffffu : ~0u;
  if (hi)
    lowBits <<= 16;
  if (a->atomic || !onChip) {
    if (undefinedData) {
      u64 lanes = exec;
      if (a->kind == MemAccess::Buffer) {
        Access acc;
        computeAddresses<Buffer>(w, in, bytes, acc);
        lanes = acc.mask;
      }
      for (const Plan::Range &r : data)
        useVector(w, in, group, r.first, r.count, lanes, lowBits, a->atomic ? "data of an atomic" : "data of a store");
    }
    if (!(isLds && a->atomic && reads)) {
      defineResults();
      return;
    }
  }
  // LDS and scratch hold undefined values without a report. Places by lane.
  u64 where[2][64];
  u64 inLds = 0, inScratch = 0;
  u32 numPlaces = 1;
  if (!(undefinedData || reads || (a->writes && (a->kind == MemAccess::Scratch || a->kind == MemAccess::Flat)))) {
    defineResults();
    return;
  }
  if (isLds) {
    LdsPlaces places = getLdsPlaces(w, in, *a);
    inLds = places.mask;
    numPlaces = places.count;
    for (u32 k = 0; k < numPlaces; ++k)
      for (u32 i = 0; i < 64; ++i)
        where[k][i] = places.at(k, i);
  } else {
    Access acc;
    if (a->kind == MemAccess::Flat)
      computeAddresses<Flat>(w, in, bytes, acc);
    else
      computeAddresses<Scratch>(w, in, bytes, acc);
    for (u64 m = exec; m; m &= m - 1) {
      u32 i = u32(__builtin_ctzll(m)), top = u32(acc.addr[i] >> 32);
      where[0][i] = u32(acc.addr[i]);
      inLds |= u64(top == sharedApertureHi) << i;
      inScratch |= u64(top == privateApertureHi) << i;
    }
    if (undefinedData & ~(inLds | inScratch))
      for (const Plan::Range &r : data)
        useVector(w, in, group, r.first, r.count, exec & ~(inLds | inScratch), lowBits, "data of a store");
  }
  u8 *const lds = group.ldsWritten;
  u8 *const scratch =
      group.undef.scratch ? group.undef.scratch + u64(w.scratchBytesPerLane) * 64 * w.waveInGroup : nullptr;
  auto place = [&](u32 k, u32 i, u32 n) -> u8 * {
    u64 off = where[k][i];
    if (inLds >> i & 1)
      return off + n <= w.ldsBytes ? lds + off : nullptr;
    if (inScratch >> i & 1)
      return scratch && off + n <= w.scratchBytesPerLane ? scratch + u64(i) * w.scratchBytesPerLane + off : nullptr;
    return nullptr;
  };
  alignas(64) u32 rows[8][64];
  if (a->writes && !a->atomic && !toLds) {
    for (u32 k = 0; k < data.size(); ++k) {
      for (u32 n = 0; n < data[k].count; ++n)
        getRow(u, data[k].first + n, rows[n]);
      for (u64 m = exec; m; m &= m - 1) {
        u32 i = u32(__builtin_ctzll(m));
        u8 *at = place(k, i, bytes);
        if (!at)
          continue;
        bool shared = inLds >> i & 1;
        for (u32 b = 0; b < bytes; ++b) {
          u32 x = rows[b / 4][i] >> (8 * (b % 4) + (hi ? 16 : 0)) & 0xffu;
          at[b] = shared ? (x ? LdsUndefined : LdsWritten) : x == 0;
          group.undef.ldsUndefined |= shared && x;
        }
      }
    }
    return;
  }
  if (toLds) {
    defineResults();
    return;
  }
  // What loads bring.
  bool some = false;
  memset(rows, 0, sizeof(rows));
  u16 origin = originLDS;
  for (u32 k = 0; k < numPlaces; ++k)
    for (u64 m = exec; m; m &= m - 1) {
      u32 i = u32(__builtin_ctzll(m));
      const u8 *at = place(k, i, bytes);
      if (!at)
        continue;
      bool shared = inLds >> i & 1;
      for (u32 b = 0; b < bytes; ++b)
        if (shared ? at[b] == LdsUndefined : !at[b]) {
          rows[k * planes + b / 4][i] |= 0xffu << (8 * (b % 4));
          origin = shared ? originLDS : originScratch;
          some = true;
        }
    }
  // The old value went, whole, to those who asked for it.
  if (a->atomic && isLds && some)
    for (u64 m = exec; m; m &= m - 1)
      if (u8 *at = place(0, u32(__builtin_ctzll(m)), bytes))
        memset(at, LdsWritten, bytes);
  if (!some || p.writes.empty()) {
    defineResults();
    return;
  }
  const u32 reg = p.writes[0].first, count = p.writes[0].count;
  if (p.transposes)
    // Lanes exchange bits.
    for (u32 n = 0; n < count; ++n) {
      u32 any = 0;
      for (u32 k = 0; k < 8; ++k)
        for (u32 i = 0; i < 64; ++i)
          any |= rows[k][i];
      for (u32 i = 0; i < 64; ++i)
        rows[n][i] = any ? ~0u : 0u;
    }
  if (bytes < 4) {
    alignas(64) u32 old[64];
    getRow(u, reg, old);
    for (u32 i = 0; i < 64; ++i) {
      u32 x = rows[0][i];
      if (p.isSigned && x >> (8 * bytes - 1) & 1)
        x |= ~0u << (8 * bytes - 1);
      if (p.oneHalf)
        x = hi ? x << 16 | (old[i] & 0xffffu) : (x & 0xffffu) | (old[i] & 0xffff0000u);
      rows[0][i] = x;
    }
  }
  for (u32 n = 0; n < count && n < 8; ++n) {
    alignas(64) u32 merged[64];
    getRow(u, reg + n, merged);
    storePlanes(merged, rows[n], 1, exec);
    setRow(u, reg + n, merged, origin);
  }
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

void UndefTracker::check(Wave &w, const Inst *in, GroupChecks &group) {
  const Plan &p = plan(in);
  WaveUndef &u = group.undef.waves[w.waveInGroup];
  if (LLVM_UNLIKELY(in != program.getSlots() + in->index)) {
    // Registers are indexed: what is written counts as defined.
    if (!p.writes.empty())
      define(u, in->dst / 64, p.writes[0].count, getExec(w));
    return;
  }
  switch (p.kind) {
  case Plan::Nothing:
    return;
  case Plan::Branch: {
    if (p.readsScc && u.scc) {
      report(w, in, group, {originSCC, 1}, 0, u.sccOrigin, "condition of a branch");
      u.scc = false;
    }
    u64 lo = p.readScalars[0], hi = p.readScalars[1];
    const u64 vcc = 3ull << (regVCC - 64);
    if (in->def && StringRef(in->def->name).starts_with("s_cbranch_vcc")) {
      // A one that is certain decides.
      u64 bad = getScalar64(u, regVCC), sure = read64(w, regVCC) & ~bad;
      if (bad && sure)
        hi &= ~vcc;
    }
    if ((u.scalars[0] & lo) | (u.scalars[1] & hi))
      useScalars(w, in, group, lo, hi, "condition or target of a branch");
    u.scalars[0] &= ~p.writeScalars[0];
    u.scalars[1] &= ~p.writeScalars[1];
    return;
  }
  case Plan::Scalar:
    if (LLVM_LIKELY(
            !((u.scalars[0] & p.readScalars[0]) | (u.scalars[1] & p.readScalars[1]) | u64(p.readsScc && u.scc)))) {
      u.scalars[0] &= ~p.writeScalars[0];
      u.scalars[1] &= ~p.writeScalars[1];
      if (p.writesScc)
        u.scc = false;
      return;
    }
    scalarOp(w, in, p, group);
    return;
  case Plan::Memory:
    memoryOp(w, in, p, group);
    return;
  case Plan::Vector:
  case Plan::Lane:
  case Plan::Permute:
  case Plan::Matrix:
    break;
  }
  const u64 exec = p.ignoresExec ? ~0ull : getExec(w);
  u64 any = 0;
  for (const Plan::Range &r : p.reads)
    for (u32 k = 0; k < r.count; ++k)
      any |= u.lanes[r.first + k];
  if (!p.crossLane)
    any &= exec;
  any |= (u.scalars[0] & p.readScalars[0]) | (u.scalars[1] & p.readScalars[1]);
  if (LLVM_LIKELY(!any)) {
    for (const Plan::Range &r : p.writes)
      define(u, r.first, r.count, exec);
    u.scalars[0] &= ~p.writeScalars[0];
    u.scalars[1] &= ~p.writeScalars[1];
    return;
  }
  switch (p.kind) {
  case Plan::Vector:
    vectorOp(w, in, p, group);
    break;
  case Plan::Lane:
    laneOp(w, in, p, group);
    break;
  case Plan::Permute:
    permuteOp(w, in, p, group);
    break;
  default:
    matrixOp(w, in, p, group);
    break;
  }
}
