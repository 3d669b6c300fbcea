//===- Hazards.cpp - Wait counts and wait states --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the hardware leaves to the program: waiting for memory with s_waitcnt,
// and independent instructions between some pairs of instructions. The rules are
// those of the CDNA3 and CDNA4 ISA documents and of LLVM's hazard recognizer.
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Device.h"
#include "atrex/Target/MatrixWaitStates.h"
#include "lib/Device/Sim/Access.h"
#include "lib/Device/Sim/Checks.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;
using namespace atrex;
using namespace atrex::device;
using namespace atrex::device::sim;

namespace {
/// Queues, as the upper bits of WaveChecks::pending.
enum Queue : u32 { QVm = 1, QLds, QSmem, QFlatMemory, QFlatLds, QFlatBoth };
constexpr unsigned queueShift = 29;
constexpr u32 numberMask = (1u << queueShift) - 1;
/// Numbers of operations wrap in the bits that `pending` has for them.
u32 distance(u32 done, u32 number) { return (number - done) & numberMask; }
bool isPast(u32 done, u32 number) { return distance(done, number) == 0 || distance(done, number) > numberMask / 2; }

constexpr RegRange execRange = {126, 2}, vccRange = {106, 2};
} // namespace

//===----------------------------------------------------------------------===//
// Wait counts
//===----------------------------------------------------------------------===//

static bool isComplete(const WaveChecks &c, u32 pending) {
  u32 n = pending & numberMask;
  switch (pending >> queueShift) {
  case QVm:
    return isPast(c.vmDone, n);
  case QLds:
    return isPast(c.ldsDone, n);
  case QSmem:
    return isPast(c.smemDone, n);
  case QFlatMemory:
    return isPast(c.flatVmDone, n);
  case QFlatLds:
    return isPast(c.flatLgkmDone, n);
  case QFlatBoth:
    return isPast(c.flatVmDone, n) && isPast(c.flatLgkmDone, n);
  default:
    return true;
  }
}

/// The s_waitcnt that the use of a register lacks.
static std::string neededWait(const WaveChecks &c, u32 pending) {
  u32 n = pending & numberMask;
  switch (pending >> queueShift) {
  case QVm:
    return formatv("vmcnt({0})", distance(n, c.vmIssued)).str();
  case QLds:
    return formatv("lgkmcnt({0})", distance(n, c.ldsIssued)).str();
  case QSmem:
  case QFlatLds:
    return "lgkmcnt(0)";
  case QFlatMemory:
    return "vmcnt(0)";
  default:
    return "vmcnt(0) lgkmcnt(0)";
  }
}

void Checker::checkWait(Wave &w, const Inst *in, const Effects &e, GroupChecks &group) {
  WaveChecks &c = group.waves[w.waveInGroup];
  if (e.flags & Effects::Waitcnt) {
    // Counters: what is younger than the newest n of a queue in order is
    // complete; the others have no order, so that only zero tells.
    if (e.vmcnt < 63 && distance(c.vmDone, c.vmIssued) > e.vmcnt)
      c.vmDone = (c.vmIssued - e.vmcnt) & numberMask;
    if (e.vmcnt == 0)
      c.flatVmDone = c.flatIssued;
    if (e.lgkmcnt < 15 && distance(c.ldsDone, c.ldsIssued) > e.lgkmcnt)
      c.ldsDone = (c.ldsIssued - e.lgkmcnt) & numberMask;
    if (e.lgkmcnt == 0) {
      c.smemDone = c.smemIssued;
      c.flatLgkmDone = c.flatIssued;
    }
    return;
  }
  const bool report = kinds & CheckWait;
  const u32 queue = e.kind == Effects::Vmem   ? QVm
                    : e.kind == Effects::Lds  ? QLds
                    : e.kind == Effects::Smem ? QSmem
                    : e.kind == Effects::Flat ? QFlatBoth
                                              : 0u;
  if (report && c.isBusy()) {
    auto look = [&](const RegRange &r, bool write) {
      for (u32 k = r.first; k < u32(r.first + r.count); ++k) {
        u32 p = c.pending[k];
        if (LIKELY(!p))
          continue;
        if (isComplete(c, p)) {
          c.pending[k] = 0;
          continue;
        }
        // Loads of one queue that keeps its order overwrite each other in order.
        if (write && p >> queueShift == queue && (queue == QVm || queue == QLds))
          continue;
        CheckRecord record;
        record.kind = CheckWait;
        record.inst = in;
        record.other = program.getSlots() + c.pendingSlot[k];
        record.ordinal = group.ordinal;
        record.sequence = group.sequence++;
        record.wave = w.waveInGroup;
        record.lanes = e.isVector() ? getExec(w) : 0;
        log.add(std::move(record), [&] {
          return formatv("{0} is {1} before its load has returned: s_waitcnt {2} is missing",
                         formatRegister({u16(k), 1}), write ? "overwritten" : "read", neededWait(c, p))
              .str();
        });
        return true;
      }
      return false;
    };
    bool found = false;
    for (unsigned k = 0; k < e.numReads && !found; ++k)
      found = look(e.reads[k], false);
    for (unsigned k = 0; k < e.numWrites && !found; ++k)
      found = look(e.writes[k], true);
    // LDS that global memory is to fill.
    if (queue == QLds && !group.incoming.empty() && w.ts) {
      const MemAccess *a = in->def ? getMemAccess(in) : nullptr;
      if (a && a->kind == MemAccess::LDS) {
        const u32 *addr = w.v + in->src[0].reg;
        for (const GroupChecks::Incoming &i : group.incoming) {
          if (i.wave != w.waveInGroup || isPast(c.vmDone, i.number))
            continue;
          u64 lanes = 0;
          for (u64 m = getExec(w); m; m &= m - 1) {
            u32 lane = u32(__builtin_ctzll(m));
            u64 off = u64(addr[lane]) + (a->offsetScale ? (in->imm & 0xff) * u64(a->offsetScale) : in->imm & 0xffffu);
            if (off < i.end && off + a->bytes > i.begin)
              lanes |= 1ull << lane;
          }
          if (!lanes)
            continue;
          CheckRecord record;
          record.kind = CheckWait;
          record.inst = in;
          record.other = i.inst;
          record.lds = true;
          record.ordinal = group.ordinal;
          record.sequence = group.sequence++;
          record.wave = w.waveInGroup;
          record.lanes = lanes;
          record.address = i.begin;
          record.bytes = u32(i.end - i.begin);
          log.add(std::move(record), [&] {
            return formatv("LDS is accessed before the load into it has returned: s_waitcnt vmcnt({0}) is missing",
                           distance(i.number, c.vmIssued))
                .str();
          });
        }
      }
    }
  }

  // Issue.
  u32 tag = 0;
  switch (queue) {
  case QVm:
    if (e.flags & Effects::NoCount)
      return;
    c.vmIssued = (c.vmIssued + 1) & numberMask;
    c.vmEvents[c.vmIssued & 63] = nextEvent;
    // A full counter holds the next instruction back.
    if (distance(c.vmDone, c.vmIssued) > 63)
      c.vmDone = (c.vmIssued - 63) & numberMask;
    tag = QVm << queueShift | c.vmIssued;
    if (e.flags & Effects::LdsDma && in->def) {
      if (const MemAccess *a = getMemAccess(in)) {
        u32 n = a->bytes < 4 ? 4 : a->bytes;
        u64 begin = u64(w.s[regM0] & 0x3ffffu) + (in->imm & 0xfffu);
        llvm::erase_if(group.incoming,
                       [&](const GroupChecks::Incoming &i) { return isPast(group.waves[i.wave].vmDone, i.number); });
        group.incoming.push_back({w.waveInGroup, c.vmIssued, begin, begin + 64ull * n, in});
      }
    }
    break;
  case QLds:
    c.ldsIssued = (c.ldsIssued + 1) & numberMask;
    c.ldsEvents[c.ldsIssued & 15] = nextEvent;
    if (distance(c.ldsDone, c.ldsIssued) > 15)
      c.ldsDone = (c.ldsIssued - 15) & numberMask;
    tag = QLds << queueShift | c.ldsIssued;
    break;
  case QSmem:
    c.smemIssued = (c.smemIssued + 1) & numberMask;
    tag = QSmem << queueShift | c.smemIssued;
    break;
  case QFlatBoth: {
    if (c.flatIssued == c.flatVmDone && c.flatIssued == c.flatLgkmDone)
      c.flatEvent = nextEvent;
    c.flatIssued = (c.flatIssued + 1) & numberMask;
    // By what the addresses point at.
    bool memory = false, lds = false;
    const u32 *hi = w.v + in->src[0].reg + 64;
    for (u64 m = getExec(w); m && in->def; m &= m - 1)
      (hi[__builtin_ctzll(m)] == sharedApertureHi ? lds : memory) = true;
    tag = (lds && memory ? QFlatBoth : lds ? QFlatLds : QFlatMemory) << queueShift | c.flatIssued;
    break;
  }
  default:
    return;
  }
  for (unsigned k = 0; k < e.numWrites; ++k)
    for (u32 r = e.writes[k].first; r < u32(e.writes[k].first + e.writes[k].count); ++r) {
      c.pending[r] = tag;
      c.pendingSlot[r] = in->index;
    }
}

//===----------------------------------------------------------------------===//
// Wait states
//===----------------------------------------------------------------------===//

void Checker::addHazard(Wave &w, const Inst *in, GroupChecks &group, const WaveChecks::Recent &p, u32 have, u32 need,
                        const RegRange &r, const char *rule) {
  CheckRecord record;
  record.kind = CheckHazard;
  record.inst = in;
  record.other = p.inst;
  record.ordinal = group.ordinal;
  record.sequence = group.sequence++;
  record.wave = w.waveInGroup;
  record.lanes = effects.get(in).isVector() ? getExec(w) : 0;
  log.add(std::move(record), [&] {
    return formatv("{0}{1}: {2} wait state{3} of {4}; s_nop {5} is missing", rule,
                   r.count ? " " + formatRegister(r) : std::string(), have, have == 1 ? "" : "s", need, need - have - 1)
        .str();
  });
}

static MatrixProducer getProducer(const Effects &p) {
  constexpr MatrixUnit units[] = {MatrixUnit::None, MatrixUnit::Xdl, MatrixUnit::Sgemm, MatrixUnit::Dgemm4,
                                  MatrixUnit::Dgemm16};
  static_assert(Effects::Xdl == 1 && Effects::Dgemm16 == 4);
  return {units[p.matrix], p.passes};
}

void Checker::checkMatrix(Wave &w, const Inst *in, const Effects &e, GroupChecks &group) {
  WaveChecks &c = group.waves[w.waveInGroup];
  const u32 count = std::min(c.matrixCount, WaveChecks::numMatrix);
  const bool memory = e.kind >= Effects::Vmem;
  const MatrixUnit consumer = getProducer(e).unit;
  RegRange seen[WaveChecks::numMatrix];
  u32 numSeen = 0;
  for (u32 k = 1; k <= count; ++k) {
    const WaveChecks::Recent &p = c.matrix[(c.matrixCount - k) % WaveChecks::numMatrix];
    u32 have = c.now - p.time - 1;
    if (have >= 20)
      return;
    const Effects &m = *p.effects;
    const MatrixProducer producer = getProducer(m);
    // Where a younger matrix instruction wrote the same register, it is the one
    // that counts.
    auto meets = [&](const RegRange &use) {
      for (u32 reg = std::max(use.first, m.dst.first), end = std::min(use.first + use.count, m.dst.first + m.dst.count);
           reg < end; ++reg)
        if (std::none_of(seen, seen + numSeen, [&](const RegRange &y) { return y.overlaps({u16(reg), 1}); }))
          return true;
      return false;
    };
    {
      if (e.kind == Effects::Mfma) {
        for (unsigned r = 0; r < e.numReads; ++r) {
          const RegRange &use = e.reads[r];
          if (!meets(use))
            continue;
          bool isC = e.srcC.count && use == e.srcC;
          u32 need;
          const char *rule = "matrix instruction reads an unfinished result as A or B in";
          if (!isC) {
            need = getResultWaitStates(producer, false, isGfx950);
          } else if (use == m.dst) {
            rule = "matrix instruction reads an unfinished result as C in";
            need = getExactCWaitStates(producer, consumer);
          } else {
            rule = "matrix instruction reads a part of an unfinished result as C in";
            need = getPartCWaitStates(producer, consumer, isGfx950);
          }
          if (have < need)
            addHazard(w, in, group, p, have, need, use, rule);
        }
      } else {
        u32 need = getResultWaitStates(producer, memory, isGfx950);
        if (have < need) {
          for (unsigned r = 0; r < e.numReads; ++r)
            if (meets(e.reads[r]))
              addHazard(w, in, group, p, have, need, e.reads[r], "unfinished result of a matrix instruction read in");
          need = getOverwriteWaitStates(producer, isGfx950);
          for (unsigned r = 0; r < e.numWrites && have < need; ++r)
            if (meets(e.writes[r]))
              addHazard(w, in, group, p, have, need, e.writes[r],
                        "unfinished result of a matrix instruction overwritten in");
        }
      }
    }
    // C is read during all passes.
    if (u32 need = getReadCWaitStates(producer); e.kind != Effects::Mfma && m.srcC.count && have < need)
      for (unsigned r = 0; r < e.numWrites; ++r)
        if (e.writes[r].overlaps(m.srcC))
          addHazard(w, in, group, p, have, need, e.writes[r],
                    "matrix C overwritten while a matrix instruction reads it in");
    seen[numSeen++] = m.dst;
  }
}

void Checker::checkHazard(Wave &w, const Inst *in, const Effects &e, GroupChecks &group) {
  WaveChecks &c = group.waves[w.waveInGroup];
  const bool scalarIn = e.flags & Effects::ReadsScalar;
  // How far back a producer may be.
  u32 depth = 0;
  switch (e.kind) {
  case Effects::Salu:
    depth = e.flags & (Effects::GetReg | Effects::SetReg) ? 2 : e.flags & Effects::NeedsM0 ? 1 : 0;
    break;
  case Effects::Valu:
    depth = e.flags & Effects::Dpp                           ? 5
            : e.flags & (Effects::RWLane | Effects::DivFmas) ? 4
            : c.lastDot && c.now - c.lastDot <= 3            ? 3
                                                             : 2;
    break;
  case Effects::Mfma:
    depth = 4;
    break;
  case Effects::Vmem:
  case Effects::Flat:
    depth = scalarIn ? 5 : 3;
    break;
  case Effects::Lds:
    depth = 3;
    break;
  default:
    break;
  }
  const u32 count = std::min(c.recentCount, WaveChecks::numRecent);
  for (u32 k = 1; k <= count; ++k) {
    const WaveChecks::Recent &p = c.recent[(c.recentCount - k) % WaveChecks::numRecent];
    const u32 have = c.now - p.time - 1;
    if (have >= depth)
      break;
    const Effects &m = *p.effects;
    auto scalarUse = [&](u32 need, const char *rule) {
      for (unsigned r = 0; r < e.numReads; ++r)
        if (e.reads[r].first < execRange.first && m.writesReg(e.reads[r]))
          return addHazard(w, in, group, p, have, need, e.reads[r], rule);
    };
    auto vectorUse = [&](u32 need, const char *rule) {
      for (unsigned r = 0; r < e.numReads; ++r)
        if (e.reads[r].isVector() && m.writesReg(e.reads[r]))
          return addHazard(w, in, group, p, have, need, e.reads[r], rule);
    };
    if (m.kind == Effects::Valu) {
      if (m.flags & Effects::WritesScalar) {
        if (e.kind == Effects::Vmem || e.kind == Effects::Flat) {
          if (scalarIn)
            scalarUse(5, "vector memory instruction reads a scalar that the vector ALU has just written,");
        } else if (e.isValu()) {
          if (e.flags & Effects::DivFmas && m.writesReg(vccRange))
            addHazard(w, in, group, p, have, 4, vccRange, "v_div_fmas reads just written");
          else if (e.laneSelect.count && have < 4 && m.writesReg(e.laneSelect))
            addHazard(w, in, group, p, have, 4, e.laneSelect, "lane select reads a just written scalar,");
          else if (have < 2 && scalarIn)
            scalarUse(2, "vector ALU reads a scalar that it has just written,");
          if (m.writesReg(execRange)) {
            if (e.flags & Effects::Dpp)
              addHazard(w, in, group, p, have, 5, execRange, "DPP after the vector ALU wrote");
            else if (e.flags & Effects::RWLane && have < 4)
              addHazard(w, in, group, p, have, 4, execRange, "lane access after the vector ALU wrote");
            else if (e.kind == Effects::Mfma && have < 4)
              addHazard(w, in, group, p, have, 4, execRange, "matrix instruction after the vector ALU wrote");
          }
        }
      }
      if (m.flags & Effects::WritesVector) {
        if (e.isValu()) {
          if (e.flags & Effects::Dpp && have < 2 && m.writesReg(e.dpp))
            addHazard(w, in, group, p, have, 2, e.dpp, "DPP reads a just written register,");
          if (have < 1) {
            if (e.flags & Effects::ReadLane)
              vectorUse(1, "lane access reads a just written register,");
            else if (m.flags & Effects::Trans && !(e.flags & Effects::Trans))
              vectorUse(1, "vector ALU reads a transcendental result,");
            else if (m.flags & Effects::Partial)
              vectorUse(1, "vector ALU reads a register that was written in part,");
          }
          if (e.flags & Effects::PermlaneSwap && have < 2)
            vectorUse(2, "lane swap reads a just written register,");
          if (e.kind == Effects::Mfma && have < 2 && !(m.flags & Effects::Dot))
            vectorUse(2, "matrix instruction reads a just written register,");
        }
        if (m.flags & Effects::Dot && have < 3 && e.kind != Effects::Mfma) {
          bool same = in->def && in->def == p.inst->def;
          // Accumulation is forwarded between equal instructions.
          for (unsigned r = 0; r < e.numReads; ++r)
            if (e.reads[r].isVector() && m.writesReg(e.reads[r]) &&
                !(same && (e.reads[r] == e.dst || r + 1 == e.numReads || !e.reads[r + 1].isVector())))
              addHazard(w, in, group, p, have, 3, e.reads[r], "result of a dot product read in");
          for (unsigned r = 0; r < e.numWrites && !same; ++r)
            if (e.writes[r].isVector() && m.writesReg(e.writes[r]))
              addHazard(w, in, group, p, have, 3, e.writes[r], "result of a dot product overwritten in");
        }
      }
    }
    if (m.lateStates && e.kind == Effects::Valu && have < m.lateStates)
      for (unsigned r = 0; r < e.numWrites; ++r)
        if (e.writes[r].overlaps(m.lateData))
          addHazard(w, in, group, p, have, m.lateStates, e.writes[r],
                    "data of a store of more than 64 bits overwritten in");
    if (m.kind == Effects::Salu) {
      if (e.flags & Effects::NeedsM0 && have < 1 && m.writesReg({124, 1}))
        addHazard(w, in, group, p, have, 1, {124, 1}, "read of a just written");
      if (m.flags & Effects::SetReg && e.flags & (Effects::GetReg | Effects::SetReg) && m.hwreg == e.hwreg && have < 2)
        addHazard(w, in, group, p, have, 2, {}, "access to a hardware register that s_setreg has just written");
      if (m.flags & Effects::SetSkip && e.isVector() && have < 2)
        addHazard(w, in, group, p, have, 2, {}, "vector instruction after a change of VSKIP");
    }
  }
  if (c.matrixCount && e.isVector() && c.now - c.lastMatrix <= 20)
    checkMatrix(w, in, e, group);

  // What later instructions have to keep away from.
  if (e.matrix != Effects::NoMatrix) {
    c.matrix[c.matrixCount++ % WaveChecks::numMatrix] = {&e, in, c.now};
    c.lastMatrix = c.now;
  } else if (e.kind == Effects::Valu || e.lateStates ||
             (e.kind == Effects::Salu && (e.flags & (Effects::SetReg | Effects::SetSkip) || e.writesReg({124, 1})))) {
    c.recent[c.recentCount++ % WaveChecks::numRecent] = {&e, in, c.now};
    if (e.flags & Effects::Dot)
      c.lastDot = c.now;
  }
  c.now += e.states;
}

void Checker::checkEffects(Wave &w, const Inst *in, GroupChecks &group) {
  const Effects &e = effects.get(in);
  // Instructions that VSKIP passes over have no effects.
  if (LLVM_UNLIKELY(w.mode >> 28 & 1) && e.isVector())
    return;
  if (kinds & CheckHazard)
    checkHazard(w, in, e, group);
  if (kinds & (CheckWait | CheckRace) && (e.isMemory() || e.flags & Effects::Waitcnt || kinds & CheckWait))
    checkWait(w, in, e, group);
}
