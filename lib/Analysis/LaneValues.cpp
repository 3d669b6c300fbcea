//===- LaneValues.cpp - Register values that need no memory ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneValues.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;
using namespace atrex;
using namespace atrex::analysis;
using namespace atrex::device;
using namespace atrex::device::sim;

namespace {
constexpr unsigned numVectors = 512 + 16;
/// Where the kernarg segment is said to lie: no sample value of a pointer does.
constexpr uint64_t kernargAddress = 0x7f00'0000'0000;
/// Instructions that counting the trips of a loop may take.
constexpr uint64_t maxTripSteps = 1u << 18;

Trust worst(Trust a, Trust b) { return std::max(a, b); }
} // namespace

/// Values at one place of the code; vector registers without known lanes are
/// left out.
struct LaneEvaluator::State {
  u32 s[128];
  Trust scalarTrust[128];
  u32 scc;
  Trust sccTrust;
  struct Row {
    u16 reg;
    Trust trust;
    u64 known;
    std::array<u32, 64> lanes;
  };
  /// By register.
  std::vector<Row> rows;
};

LaneEvaluator::LaneEvaluator(const MachineFunction &f, const KernelDesc &kernel, const ChipInfo &chip, unsigned threads,
                             Program &program)
    : f(f), kernel(kernel), threads(threads), wave(std::make_unique<Wave>()) {
  memset(static_cast<void *>(wave.get()), 0, sizeof(Wave));
  registers.resize(numVectors * 64 + 16);
  // Handlers take aligned rows.
  uintptr_t p = reinterpret_cast<uintptr_t>(registers.data());
  wave->v = reinterpret_cast<u32 *>((p + 63) & ~uintptr_t(63));
  wave->code = program.getSlots();
  wave->codeBase = program.getBase();
  wave->codeDwords = program.getDwords();
  wave->isGfx950 = chip.arch == "gfx950";
  wave->mode = (kernel.rsrc1 >> 12 & 0xff) | (kernel.rsrc1 >> 21 & 1) << 8 | (kernel.rsrc1 >> 23 & 1) << 9;
  vectorTrust.assign(numVectors, Trust::Unknown);
  known.assign(numVectors, 0);
  control.assign(f.insts.size(), false);
  slice(f.order, [](unsigned) { return true; }, control);
}

LaneEvaluator::~LaneEvaluator() = default;

void LaneEvaluator::start(unsigned number) {
  Wave &w = *wave;
  std::fill(std::begin(scalarTrust), std::end(scalarTrust), Trust::Unknown);
  sccTrust = Trust::Unknown;
  std::fill(known.begin(), known.end(), 0);
  std::fill(vectorTrust.begin(), vectorTrust.end(), Trust::Unknown);
  memset(w.s, 0, sizeof(w.s));
  w.scc = 0;
  w.waveInGroup = number;
  w.dppMask = ~0ull;
  // The order of user scalars is the device's (Worker::start).
  unsigned s = 0;
  auto put = [&](u32 x, Trust trust) {
    if (s < 102) {
      w.s[s] = x;
      scalarTrust[s] = trust;
    }
    ++s;
  };
  auto skip = [&](unsigned n) { s += n; };
  const u16 p = kernel.properties;
  skip((p & 1 ? 4 : 0) + (p & 2 ? 2 : 0) + (p & 4 ? 2 : 0));
  if (p & 8) {
    put(u32(kernargAddress), Trust::Known);
    put(u32(kernargAddress >> 32), Trust::Known);
  }
  skip((p & 16 ? 2 : 0) + (p & 32 ? 2 : 0) + (p & 64 ? 1 : 0));
  // Preloaded arguments: length in dwords and offset.
  unsigned preloadLength = kernel.preload & 0x7f, preloadOffset = kernel.preload >> 7;
  for (unsigned k = 0; k < preloadLength; ++k) {
    size_t i = preloadOffset + k;
    bool have = i < assumptions->kernarg.size();
    put(have ? assumptions->kernarg[i] : 0, have ? assumptions->trust[i] : Trust::Unknown);
  }
  s = kernel.rsrc2 >> 1 & 31;
  for (unsigned d = 0; d < 3; ++d)
    if (kernel.rsrc2 >> (7 + d) & 1)
      put(assumptions->group[d], Trust::Assumed);

  u32 first = number * 64, active = std::min(threads - first, 64u);
  launchMask = active == 64 ? ~0ull : (1ull << active) - 1;
  w.s[regExec] = u32(launchMask);
  w.s[regExec + 1] = u32(launchMask >> 32);
  scalarTrust[regExec] = scalarTrust[regExec + 1] = Trust::Known;
  // Compiled kernels have one-dimensional workgroups unless metadata say more.
  u32 wx = kernel.requiredWorkgroup[0] ? kernel.requiredWorkgroup[0] : threads;
  u32 wy = kernel.requiredWorkgroup[1] ? kernel.requiredWorkgroup[1] : 1;
  unsigned idMode = kernel.rsrc2 >> 11 & 3;
  for (u32 i = 0; i < 64; ++i) {
    u32 t = first + i, x = t % wx, y = t / wx % wy, z = t / wx / wy;
    w.v[i] = x | (idMode >= 1 ? y << 10 : 0) | (idMode >= 2 ? z << 20 : 0);
  }
  known[0] = launchMask;
  vectorTrust[0] = Trust::Known;
}

Trust LaneEvaluator::getExecTrust() const { return worst(scalarTrust[regExec], scalarTrust[regExec + 1]); }

void LaneEvaluator::setUnknown(const MachineInst &mi) {
  const Effects &e = *mi.effects;
  for (unsigned k = 0; k < e.numWrites; ++k)
    for (unsigned r = e.writes[k].first, end = r + e.writes[k].count; r < end; ++r) {
      if (r >= firstVector) {
        if (r - firstVector < numVectors)
          known[r - firstVector] = 0;
      } else if (r < 128) {
        scalarTrust[r] = Trust::Unknown;
      }
    }
  if (mi.writesSCC)
    sccTrust = Trust::Unknown;
}

void LaneEvaluator::stepScalarLoad(const MachineInst &mi) {
  setUnknown(mi);
  const Inst *in = mi.inst;
  const Effects &e = *mi.effects;
  if (!mi.mnemonic.starts_with("s_load_dword") || !e.numWrites || in->src[0].reg + 1 >= 128)
    return;
  Trust trust = worst(scalarTrust[in->src[0].reg], scalarTrust[in->src[0].reg + 1]);
  u64 address = (u64(wave->s[in->src[0].reg]) | u64(wave->s[in->src[0].reg + 1]) << 32) + u64(i64(i32(in->imm)));
  if (in->flags & FSaddr) {
    if (in->src[1].reg >= 128)
      return;
    trust = worst(trust, scalarTrust[in->src[1].reg]);
    address += wave->s[in->src[1].reg];
  }
  if (trust == Trust::Unknown || address < kernargAddress || address & 3)
    return;
  const RegRange &dst = e.writes[0];
  for (unsigned k = 0; k < dst.count; ++k) {
    u64 i = (address - kernargAddress) / 4 + k;
    if (i >= assumptions->kernarg.size() || dst.first + k >= 128)
      return;
    wave->s[dst.first + k] = assumptions->kernarg[i];
    scalarTrust[dst.first + k] = worst(trust, assumptions->trust[i]);
  }
}

void LaneEvaluator::stepScalar(const MachineInst &mi) {
  const Effects &e = *mi.effects;
  StringRef name = mi.mnemonic;
  bool special = mi.cls != InstClass::SALU || !mi.inst->def || name.starts_with("s_getreg") ||
                 name.starts_with("s_setreg") || name.starts_with("s_getpc") || name.starts_with("s_setpc") ||
                 name.starts_with("s_swappc") || name.starts_with("s_call") || name.starts_with("s_movrel") ||
                 name.starts_with("s_set_gpr") || name.starts_with("s_setvskip");
  Trust trust = mi.readsSCC ? sccTrust : Trust::Known;
  for (unsigned k = 0; k < e.numReads; ++k)
    for (unsigned r = e.reads[k].first, end = r + e.reads[k].count; r < end; ++r)
      trust = worst(trust, r < 128 ? scalarTrust[r] : Trust::Unknown);
  // Operands that LLVM names and Effects leaves out: vccz, execz, apertures.
  for (const Operand &o : mi.inst->src)
    if (o.kind == OSpecial && o.reg != 253)
      trust = Trust::Unknown;
  const Trust execBefore = getExecTrust();
  const u64 maskBefore = u64(wave->s[regExec]) | u64(wave->s[regExec + 1]) << 32;
  bool writesExec = e.writesReg({regExec, 2});
  bool isOr = name == "s_or_b64" && writesExec;
  if (special || trust == Trust::Unknown || !mi.inst->fn(*wave, mi.inst)) {
    setUnknown(mi);
    // The saved mask of a region is the one in front of it.
    if (name.contains("_saveexec_b64") && e.numWrites && !special)
      for (unsigned k = 0; k < e.numWrites; ++k)
        if (e.writes[k].first < 106 && e.writes[k].count == 2) {
          wave->s[e.writes[k].first] = u32(maskBefore);
          wave->s[e.writes[k].first + 1] = u32(maskBefore >> 32);
          scalarTrust[e.writes[k].first] = scalarTrust[e.writes[k].first + 1] = execBefore;
        }
  } else {
    for (unsigned k = 0; k < e.numWrites; ++k)
      for (unsigned r = e.writes[k].first, end = r + e.writes[k].count; r < end && r < 128; ++r)
        scalarTrust[r] = trust;
    if (mi.writesSCC)
      sccTrust = trust;
  }
  if (!writesExec)
    return;
  u64 mask = u64(wave->s[regExec]) | u64(wave->s[regExec + 1]) << 32;
  if (getExecTrust() == Trust::Unknown) {
    // Lanes that may be off are taken to be on.
    mask = maskBefore;
    if (isOr || execBefore == Trust::Assumed)
      mask = launchMask;
    scalarTrust[regExec] = scalarTrust[regExec + 1] = Trust::Assumed;
  }
  // The end of a region: a mask that is surely full.
  if (isOr && getExecTrust() == Trust::Assumed)
    for (const Operand &o : mi.inst->src)
      if (o.kind == OSGPR && o.reg + 1 < 128 && o.reg != regExec &&
          worst(scalarTrust[o.reg], scalarTrust[o.reg + 1]) == Trust::Known &&
          (u64(wave->s[o.reg]) | u64(wave->s[o.reg + 1]) << 32) == launchMask) {
        mask = launchMask;
        scalarTrust[regExec] = scalarTrust[regExec + 1] = Trust::Known;
      }
  wave->s[regExec] = u32(mask);
  wave->s[regExec + 1] = u32(mask >> 32);
}

void LaneEvaluator::stepVector(const MachineInst &mi) {
  const Effects &e = *mi.effects;
  bool vector = mi.cls == InstClass::VALU || mi.cls == InstClass::Trans || mi.cls == InstClass::MulQuarter;
  bool permute =
      mi.cls == InstClass::LDS && !e.access &&
      (mi.mnemonic == "ds_bpermute_b32" || mi.mnemonic == "ds_permute_b32" || mi.mnemonic == "ds_swizzle_b32");
  if (!mi.inst->def || (!vector && !permute) || e.kind == Effects::Mfma)
    return setUnknown(mi);
  u64 exec = (u64(wave->s[regExec]) | u64(wave->s[regExec + 1]) << 32) & launchMask;
  u64 valid = launchMask;
  Trust trust = Trust::Known;
  for (unsigned k = 0; k < e.numReads; ++k)
    for (unsigned r = e.reads[k].first, end = r + e.reads[k].count; r < end; ++r) {
      if (r < 128) {
        trust = worst(trust, scalarTrust[r]);
      } else if (r >= firstVector && r - firstVector < numVectors) {
        unsigned v = r - firstVector;
        valid &= known[v];
        if (known[v])
          trust = worst(trust, vectorTrust[v]);
      } else {
        trust = Trust::Unknown;
      }
    }
  trust = worst(trust, getExecTrust());
  for (const Operand &o : mi.inst->src)
    if (o.kind == OSpecial)
      trust = Trust::Unknown;
  // Scalars that are kept in lanes: only the chosen lane matters.
  if ((mi.mnemonic == "v_readlane_b32" || mi.mnemonic == "v_writelane_b32") && e.numWrites == 1) {
    const Operand &select = mi.inst->src[1], &value = mi.inst->src[0];
    bool isRead = mi.mnemonic == "v_readlane_b32";
    unsigned v = isRead ? value.reg / 64 : e.writes[0].first - firstVector;
    Trust scalars = Trust::Known;
    for (const Operand *o : {&select, &value})
      if (o->kind == OSGPR && o->reg < 128)
        scalars = worst(scalars, scalarTrust[o->reg]);
    if (scalars == Trust::Unknown || v >= numVectors || select.kind == OVGPR || select.kind == OSpecial)
      return setUnknown(mi);
    u32 lane = (select.kind == OConst ? select.constant[0] : wave->s[select.reg]) & 63;
    if (isRead && !(known[v] >> lane & 1))
      return setUnknown(mi);
    if (!mi.inst->fn(*wave, mi.inst))
      return setUnknown(mi);
    if (isRead) {
      scalarTrust[e.writes[0].first] = worst(scalars, vectorTrust[v]);
    } else {
      vectorTrust[v] = known[v] ? worst(vectorTrust[v], scalars) : scalars;
      known[v] |= 1ull << lane;
    }
    return;
  }
  if (trust == Trust::Unknown || !(valid & exec))
    return setUnknown(mi);
  bool cross = permute || e.flags & (Effects::Dpp | Effects::RWLane | Effects::PermlaneSwap);
  if (cross && valid != launchMask && !(mi.mnemonic == "v_readfirstlane_b32" && (valid & exec) == exec))
    return setUnknown(mi);
  u64 before[6] = {};
  Trust beforeTrust[6] = {};
  for (unsigned k = 0; k < e.numWrites; ++k)
    if (unsigned v = e.writes[k].first - firstVector; e.writes[k].first >= firstVector && v < numVectors) {
      before[k] = known[v];
      beforeTrust[k] = vectorTrust[v];
      for (unsigned r = 1; r < e.writes[k].count && v + r < numVectors; ++r) {
        before[k] &= known[v + r];
        beforeTrust[k] = worst(beforeTrust[k], vectorTrust[v + r]);
      }
    }
  if (!mi.inst->fn(*wave, mi.inst))
    return setUnknown(mi);
  for (unsigned k = 0; k < e.numWrites; ++k) {
    const RegRange &w = e.writes[k];
    for (unsigned r = w.first, end = r + w.count; r < end; ++r) {
      if (r < 128) {
        // Lane masks and scalars: right only when all their lanes are.
        scalarTrust[r] = (valid & exec) == exec ? trust : Trust::Unknown;
      } else if (r >= firstVector && r - firstVector < numVectors) {
        unsigned v = r - firstVector;
        u64 kept = before[k] & ~exec & launchMask;
        known[v] = (valid & exec) | kept;
        vectorTrust[v] = kept ? worst(trust, beforeTrust[k]) : trust;
      }
    }
  }
}

void LaneEvaluator::step(unsigned index) {
  const MachineInst &mi = f.insts[index];
  switch (mi.effects->kind) {
  case Effects::Smem:
    return stepScalarLoad(mi);
  case Effects::Salu:
  case Effects::Other:
    return stepScalar(mi);
  default:
    return stepVector(mi);
  }
}

std::optional<bool> LaneEvaluator::evaluateBranch(const MachineInst &mi, Trust &trust) const {
  StringRef name = mi.mnemonic;
  trust = Trust::Known;
  if (name == "s_branch")
    return true;
  auto pair = [&](unsigned reg) {
    trust = worst(scalarTrust[reg], scalarTrust[reg + 1]);
    return (u64(wave->s[reg]) | u64(wave->s[reg + 1]) << 32) != 0;
  };
  bool taken;
  if (name == "s_cbranch_scc0" || name == "s_cbranch_scc1") {
    trust = sccTrust;
    taken = (wave->scc != 0) == (name == "s_cbranch_scc1");
  } else if (name == "s_cbranch_vccz" || name == "s_cbranch_vccnz") {
    taken = pair(regVCC) == (name == "s_cbranch_vccnz");
  } else if (name == "s_cbranch_execz" || name == "s_cbranch_execnz") {
    taken = pair(regExec) == (name == "s_cbranch_execnz");
  } else {
    trust = Trust::Unknown;
    return std::nullopt;
  }
  if (trust == Trust::Unknown)
    return std::nullopt;
  return taken;
}

std::unique_ptr<LaneEvaluator::State> LaneEvaluator::save() const {
  auto state = std::make_unique<State>();
  memcpy(state->s, wave->s, sizeof(state->s));
  memcpy(state->scalarTrust, scalarTrust, sizeof(scalarTrust));
  state->scc = wave->scc;
  state->sccTrust = sccTrust;
  for (unsigned v = 0; v < numVectors; ++v)
    if (known[v]) {
      State::Row &row = state->rows.emplace_back();
      row.reg = u16(v);
      row.trust = vectorTrust[v];
      row.known = known[v];
      memcpy(row.lanes.data(), wave->v + v * 64, 256);
    }
  return state;
}

void LaneEvaluator::load(const State &state) {
  memcpy(wave->s, state.s, sizeof(state.s));
  memcpy(scalarTrust, state.scalarTrust, sizeof(scalarTrust));
  wave->scc = state.scc;
  sccTrust = state.sccTrust;
  std::fill(known.begin(), known.end(), 0);
  for (const State::Row &row : state.rows) {
    vectorTrust[row.reg] = row.trust;
    known[row.reg] = row.known;
    memcpy(wave->v + row.reg * 64, row.lanes.data(), 256);
  }
}

/// What two ways agree on.
void LaneEvaluator::join(std::unique_ptr<State> &into, const State &from) {
  if (!into) {
    into = std::make_unique<State>(from);
    return;
  }
  State &a = *into;
  for (unsigned r = 0; r < 128; ++r) {
    // Lanes that are on along one way only are taken to be on.
    bool isExec = r == regExec || r == regExec + 1;
    if (isExec && a.scalarTrust[r] != Trust::Unknown && from.scalarTrust[r] != Trust::Unknown && a.s[r] != from.s[r]) {
      a.s[r] |= from.s[r];
      a.scalarTrust[r] = Trust::Assumed;
      continue;
    }
    a.scalarTrust[r] = a.s[r] == from.s[r] ? worst(a.scalarTrust[r], from.scalarTrust[r]) : Trust::Unknown;
  }
  a.sccTrust = a.scc == from.scc ? worst(a.sccTrust, from.sccTrust) : Trust::Unknown;
  std::vector<State::Row> rows;
  auto b = from.rows.begin();
  for (State::Row &row : a.rows) {
    while (b != from.rows.end() && b->reg < row.reg)
      ++b;
    if (b == from.rows.end() || b->reg != row.reg)
      continue;
    u64 both = row.known & b->known;
    for (u64 m = both; m; m &= m - 1) {
      unsigned i = unsigned(__builtin_ctzll(m));
      if (row.lanes[i] != b->lanes[i])
        both &= ~(1ull << i);
    }
    if (!both)
      continue;
    row.known = both;
    row.trust = worst(row.trust, b->trust);
    rows.push_back(row);
  }
  a.rows = std::move(rows);
}

void LaneEvaluator::reportAccess(unsigned index, unsigned trip, function_ref<void(const AccessPlace &)> onAccess) {
  const MachineInst &mi = f.insts[index];
  if (!mi.isLdsAccess() && !mi.isGlobalAccess())
    return;
  const Effects &e = *mi.effects;
  AccessPlace place;
  place.inst = index;
  place.wave = wave->waveInGroup;
  place.trip = trip;
  place.active = (u64(wave->s[regExec]) | u64(wave->s[regExec + 1]) << 32) & launchMask;
  // Registers of the address: all scalars that are read, and the first source. M0
  // and the scratch base are named by instructions that make no use of them here.
  Trust trust = Trust::Known;
  u64 valid = launchMask;
  for (unsigned k = 0; k < e.numReads; ++k)
    for (unsigned r = e.reads[k].first, end = r + e.reads[k].count; r < end && r < 128; ++r)
      if (r != regM0 && r != 102 && r != 103)
        trust = worst(trust, scalarTrust[r]);
  const Inst *in = mi.inst;
  unsigned first = in->src[0].reg / 64, count = 1;
  switch (e.access->kind) {
  case MemAccess::LDS:
    count = e.access->byM0 ? 0 : 1;
    break;
  case MemAccess::Global:
    count = in->flags & FSaddr ? 1 : 2;
    break;
  case MemAccess::Flat:
    count = 2;
    break;
  default:
    count = unsigned(bool(in->flags & FOffen)) + unsigned(bool(in->flags & FIdxen));
    break;
  }
  if (count && in->src[0].kind != OVGPR)
    trust = Trust::Unknown;
  for (unsigned v = first; v < first + count && v < numVectors; ++v) {
    valid &= known[v];
    if (known[v])
      trust = worst(trust, vectorTrust[v]);
  }
  if ((valid & place.active) != place.active)
    trust = Trust::Unknown;
  if (e.access->byM0)
    trust = Trust::Unknown;
  place.trust = trust;
  LaneAddresses where;
  if (trust != Trust::Unknown && place.active) {
    locate(*wave, in, *e.access, e.access->bytes, where);
    place.addresses = &where;
  }
  onAccess(place);
}

void LaneEvaluator::visitBlock(unsigned block, unsigned trip, function_ref<void(const AccessPlace &)> onAccess) {
  for (unsigned i = f.blocks[block].begin; i < f.blocks[block].end; ++i) {
    if (onAccess)
      reportAccess(i, trip, onAccess);
    if (!followSamples || control[i])
      step(i);
  }
}

void LaneEvaluator::run(unsigned number, const Assumptions &values, unsigned trips, bool follow,
                        function_ref<void(const AccessPlace &)> onAccess) {
  assumptions = &values;
  followSamples = follow;
  again.clear();
  start(number);
  in.clear();
  in.resize(f.blocks.size());
  reached.assign(f.blocks.size(), false);
  if (f.order.empty())
    return;
  in[f.order.front()] = save();

  /// Hands the values behind a block on. Back edges go to `back`.
  auto leave = [&](unsigned block, std::vector<std::unique_ptr<State>> &to, std::unique_ptr<State> *back, int within) {
    const MachineBlock &b = f.blocks[block];
    const MachineInst &last = f.insts[b.end - 1];
    std::optional<bool> taken;
    Trust trust = Trust::Unknown;
    if (b.succs.size() == 2)
      taken = evaluateBranch(last, trust);
    std::unique_ptr<State> out = save();
    for (unsigned s : b.succs) {
      // In a loop, what holds on the first trip need not hold later.
      bool decided =
          taken && (followSamples ? b.loop < 0 || f.blocks[s].loop != b.loop : trust == Trust::Known && b.loop < 0);
      if (decided && followSamples)
        for (int loop = b.loop; loop >= 0; loop = f.loops[loop].parent)
          decided &= f.loops[loop].contains(s) && f.loops[loop].header != s;
      if (decided && (f.insts[f.blocks[s].begin].inst == last.inst->target) != *taken)
        continue;
      if (f.dominates(s, block)) {
        if (back && within >= 0 && f.loops[within].header == s)
          join(*back, *out);
        continue;
      }
      if (within >= 0 && !f.loops[within].contains(s))
        continue;
      // Behind a loop stands what its last trip left; this is its first.
      bool leaves = false;
      State exit;
      for (int loop = b.loop; loop >= 0 && !f.loops[loop].contains(s); loop = f.loops[loop].parent) {
        if (!leaves) {
          leaves = true;
          exit = *out;
        }
        const RegisterSet &written = f.loops[loop].written;
        for (unsigned r = 0; r < 128; ++r)
          if (written[r])
            exit.scalarTrust[r] = worst(exit.scalarTrust[r], Trust::Assumed);
        if (written[sccRegister])
          exit.sccTrust = worst(exit.sccTrust, Trust::Assumed);
        for (State::Row &row : exit.rows)
          if (written[firstVector + row.reg])
            row.trust = worst(row.trust, Trust::Assumed);
      }
      join(to[s], leaves ? exit : *out);
    }
  };

  for (unsigned block : f.order) {
    if (!in[block])
      continue;
    reached[block] = true;
    load(*in[block]);
    visitBlock(block, 0, onAccess);
    leave(block, in, nullptr, -1);
  }

  // Further trips of innermost loops: addresses that alternate between buffers.
  for (unsigned k = 0; k < f.loops.size() && trips > 1; ++k) {
    const MachineLoop &loop = f.loops[k];
    if (!in[loop.header])
      continue;
    std::vector<std::unique_ptr<State>> local(f.blocks.size());
    local[loop.header] = std::make_unique<State>(*in[loop.header]);
    const unsigned limit = loop.isInnermost ? (onAccess ? trips : 0) : std::min(trips, 2u);
    for (unsigned trip = 0; trip < limit; ++trip) {
      std::unique_ptr<State> back;
      for (unsigned block : f.order) {
        if (!loop.contains(block) || !local[block])
          continue;
        load(*local[block]);
        if (trip == 1 && f.blocks[block].loop != int(k) && f.loops[f.blocks[block].loop].header == block)
          again.push_back({block, save()});
        // The first trip has been seen.
        visitBlock(block, trip, trip && loop.isInnermost ? onAccess : nullptr);
        leave(block, local, &back, int(k));
      }
      for (auto &state : local)
        state.reset();
      if (!back)
        break;
      local[loop.header] = std::move(back);
    }
  }
}

void LaneEvaluator::slice(ArrayRef<unsigned> blocks, function_ref<bool(unsigned)> isSeed,
                          std::vector<bool> &needed) const {
  std::vector<RegisterSet> live(f.blocks.size());
  std::vector<bool> inside(f.blocks.size(), false);
  for (unsigned block : blocks)
    inside[block] = true;
  auto addReads = [&](const MachineInst &mi, RegisterSet &set) {
    for (unsigned k = 0; k < mi.effects->numReads; ++k)
      for (unsigned r = 0; r < mi.effects->reads[k].count; ++r)
        set.set(mi.effects->reads[k].first + r);
    if (mi.readsSCC)
      set.set(sccRegister);
    if (mi.mnemonic.starts_with("s_cbranch_vcc"))
      set.set(regVCC), set.set(regVCC + 1);
    if (mi.mnemonic.starts_with("s_cbranch_exec"))
      set.set(regExec), set.set(regExec + 1);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned block : llvm::reverse(f.order)) {
      if (!inside[block])
        continue;
      RegisterSet set;
      for (unsigned s : f.blocks[block].succs)
        if (inside[s])
          set |= live[s];
      if (isSeed(block))
        addReads(f.insts[f.blocks[block].end - 1], set);
      for (unsigned i = f.blocks[block].end; i-- > f.blocks[block].begin;) {
        const MachineInst &mi = f.insts[i];
        bool hit = mi.writesSCC && set[sccRegister];
        for (unsigned k = 0; k < mi.effects->numWrites && !hit; ++k)
          for (unsigned r = 0; r < mi.effects->writes[k].count && !hit; ++r)
            hit = set[mi.effects->writes[k].first + r];
        if (!hit)
          continue;
        if (!needed[i])
          needed[i] = changed = true;
        // Vector registers may keep lanes.
        for (unsigned k = 0; k < mi.effects->numWrites; ++k)
          for (unsigned r = 0; r < mi.effects->writes[k].count && mi.effects->writes[k].first < firstVector; ++r)
            set.reset(mi.effects->writes[k].first + r);
        if (mi.writesSCC)
          set.reset(sccRegister);
        addReads(mi, set);
      }
      if (set != live[block]) {
        live[block] = set;
        changed = true;
      }
    }
  }
}

std::optional<LaneEvaluator::Trips> LaneEvaluator::countTrips(unsigned number) {
  const MachineLoop &loop = f.loops[number];
  if (!in[loop.header])
    return Trips{0, Trust::Assumed};
  std::vector<bool> needed(f.insts.size(), false);
  slice(
      loop.blocks,
      [&](unsigned block) {
        return llvm::any_of(f.blocks[block].succs, [&](unsigned s) { return !loop.contains(s); });
      },
      needed);
  // A needed instruction that not every trip executes would have to be decided.
  auto always = [&](unsigned block) {
    return llvm::all_of(loop.latches, [&](unsigned latch) { return f.dominates(block, latch); });
  };
  for (unsigned block : loop.blocks) {
    bool any = false;
    for (unsigned i = f.blocks[block].begin; i < f.blocks[block].end; ++i)
      any |= needed[i];
    if (any && (f.blocks[block].loop != int(number) || !always(block)))
      return std::nullopt;
  }
  // Blocks that every trip executes, in order; exits are decided where they stand.
  std::vector<unsigned> path;
  for (unsigned block : f.order)
    if (loop.contains(block) && f.blocks[block].loop == int(number) && always(block))
      path.push_back(block);
  for (unsigned block : loop.blocks)
    for (unsigned s : f.blocks[block].succs)
      if (!loop.contains(s) && !is_contained(path, block))
        return std::nullopt;

  std::vector<std::pair<unsigned, bool>> program;
  for (unsigned block : path) {
    for (unsigned i = f.blocks[block].begin; i < f.blocks[block].end; ++i)
      if (needed[i])
        program.push_back({i, false});
    bool leaves = false;
    for (unsigned s : f.blocks[block].succs)
      leaves |= !loop.contains(s);
    if (leaves)
      program.push_back({block, true});
  }
  if (llvm::none_of(program, [](auto &p) { return p.second; }))
    return std::nullopt;
  std::optional<Trips> trips = countTrips(program, loop, *in[loop.header]);
  // The same on later trips of the loops around?
  for (const auto &[header, state] : again) {
    if (!trips || header != loop.header)
      continue;
    std::optional<Trips> later = countTrips(program, loop, *state);
    if (!later || later->count != trips->count)
      return std::nullopt;
    trips->trust = worst(trips->trust, later->trust);
  }
  return trips;
}

std::optional<LaneEvaluator::Trips> LaneEvaluator::countTrips(ArrayRef<std::pair<unsigned, bool>> program,
                                                              const MachineLoop &loop, const State &from) {
  load(from);
  Trips trips{0, Trust::Known};
  for (uint64_t steps = 0; steps < maxTripSteps;) {
    ++trips.count;
    for (auto [index, isExit] : program) {
      ++steps;
      if (!isExit) {
        step(index);
        continue;
      }
      const MachineBlock &b = f.blocks[index];
      const MachineInst &last = f.insts[b.end - 1];
      Trust trust = Trust::Unknown;
      std::optional<bool> taken = b.succs.size() == 2 ? evaluateBranch(last, trust) : std::nullopt;
      if (!taken)
        return std::nullopt;
      trips.trust = worst(trips.trust, trust);
      for (unsigned s : b.succs)
        if ((f.insts[f.blocks[s].begin].inst == last.inst->target) == *taken && !loop.contains(s))
          return trips;
    }
  }
  return std::nullopt;
}
