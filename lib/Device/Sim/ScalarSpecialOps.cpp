//===- ScalarSpecialOps.cpp - Modes, forks, scalar atomics ----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bit of MODE makes every following vector instruction index its registers.
// While it is set, a wave executes Wave::proxy, a stand-in for the next
// instruction; normal waves pay nothing for it.
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Access.h"
#include <sched.h>

namespace atrex::device::sim {
namespace {

constexpr u32 modeGprIndex = 1u << 27;
/// Two rows behind all registers that nothing reads.
constexpr u32 sinkRow = 512 + 14;

enum class Indexed { No, Yes, Skip };

/// Registers of an instruction moved by the index.
Indexed applyIndex(const Wave &w, const Inst *orig, Inst &moved) {
  if ((orig->cls != CVALU && orig->cls != CTrans && orig->cls != CMul) || (orig->flags & (FDPP | FSDWA)) ||
      (orig->def->flags & OpScalarDst))
    return Indexed::No;
  u32 m0 = w.s[regM0], index = m0 & 0xffu;
  if (!(m0 & 0xf000u))
    return Indexed::No;
  moved = *orig;
  for (u32 k = 0; k < 3; ++k) {
    Operand &o = moved.src[k];
    if (!((m0 >> (12 + k)) & 1u) || o.kind != OVGPR || o.reg >= 256 * 64)
      continue;
    // Out of range reads v0.
    u32 reg = o.reg + index * 64;
    o.reg = reg < 256 * 64 ? reg : 0;
  }
  if (((m0 >> 15) & 1u) && moved.dst < 256 * 64 && orig->def->dst != TMask) {
    moved.dst += index * 64;
    if (moved.dst >= 256 * 64) {
      // Out of range writes nothing, but a carry or flag still comes out.
      if (!(orig->def->flags & OpSdst))
        return Indexed::Skip;
      moved.dst = sinkRow * 64;
    }
  }
  return Indexed::Yes;
}

const Inst *modeStep(Wave &w, const Inst *in) {
  const Inst *orig = w.code + in->index, *next;
  Inst moved;
  Indexed how = (w.mode & modeGprIndex) && orig->def ? applyIndex(w, orig, moved) : Indexed::No;
  if (how == Indexed::Skip) {
    next = orig->next;
  } else if (how == Indexed::Yes) {
    next = moved.fn(w, &moved);
    if (!next && w.next == &moved)
      w.next = orig;
  } else {
    next = orig->fn(w, orig);
  }
  if (!next) {
    if (w.status != WaveFault && w.status != WaveDone)
      w.next = continueInMode(w, w.next);
    return nullptr;
  }
  return continueInMode(w, next);
}

/// M0[7:0] is the index, M0[15:12] says whose registers it moves.
const Inst *sSetGprIdxOn(Wave &w, const Inst *in) {
  u32 index = scalar32(w, in->src[0]) & 0xffu;
  w.s[regM0] = (w.s[regM0] & 0xffff0f00u) | index | (in->imm & 15u) << 12;
  w.mode |= modeGprIndex;
  return continueInMode(w, in->next);
}
const Inst *sSetGprIdxOff(Wave &w, const Inst *in) {
  w.mode &= ~modeGprIndex;
  return in->next;
}
const Inst *sSetGprIdxMode(Wave &w, const Inst *in) {
  w.s[regM0] = (w.s[regM0] & 0xffff0fffu) | (in->imm & 15u) << 12;
  return in->next;
}
const Inst *sSetGprIdxIdx(Wave &w, const Inst *in) {
  w.s[regM0] = (w.s[regM0] & 0xffffff00u) | (scalar32(w, in->src[0]) & 0xffu);
  return in->next;
}
//===----------------------------------------------------------------------===//
// Forks: the stack of paths not yet taken lies in scalar registers, its depth
// in MODE[31:29].
//===----------------------------------------------------------------------===//

u64 pcAfter(const Wave &w, const Inst *in) { return w.codeBase + u64(in->index) * 4 + in->bytes; }

const Inst *jumpTo(Wave &w, const Inst *in, u64 target) {
  u64 slot = (target - w.codeBase) >> 2;
  if (target < w.codeBase || slot >= w.codeDwords || (target & 3)) {
    w.fault = {FaultBadJump, 0, ~0u, 0, target, nullptr};
    return stop(w, in, WaveFault);
  }
  const Inst *to = w.code + slot;
  if (__atomic_load_n(&to->ready, __ATOMIC_ACQUIRE))
    return to;
  w.jumpTarget = target;
  return stop(w, to, WaveNeedDecode);
}

/// Lanes of `mask` go to `target`, the other active ones go on.
const Inst *fork(Wave &w, const Inst *in, u64 mask, u64 target) {
  u64 exec = getExec(w), pass = mask & exec, fails = ~mask & exec;
  if (pass == exec)
    return jumpTo(w, in, target);
  if (fails == exec)
    return in->next;
  u32 depth = w.mode >> 29, base = depth * 4;
  bool fewFail = __builtin_popcountll(fails) < __builtin_popcountll(pass);
  write64(w, base, fewFail ? pass : fails);
  write64(w, base + 2, fewFail ? target : pcAfter(w, in));
  write64(w, regExec, fewFail ? fails : pass);
  w.mode = (w.mode & 0x1fffffffu) | ((depth + 1) & 7u) << 29;
  return fewFail ? in->next : jumpTo(w, in, target);
}
const Inst *sForkG(Wave &w, const Inst *in) {
  return fork(w, in, scalar64(w, in->src[0]), scalar64(w, in->src[1]) & ~3ull);
}
const Inst *sForkI(Wave &w, const Inst *in) {
  return fork(w, in, read64(w, in->sdst), pcAfter(w, in) + u64(i64(i16(in->imm)) * 4));
}
const Inst *sJoin(Wave &w, const Inst *in) {
  u32 depth = w.mode >> 29;
  if (depth == (scalar32(w, in->src[0]) & 7u))
    return in->next;
  depth = (depth - 1) & 7u;
  w.mode = (w.mode & 0x1fffffffu) | depth << 29;
  write64(w, regExec, read64(w, depth * 4));
  return jumpTo(w, in, read64(w, depth * 4 + 2) & ~3ull);
}

const Inst *sReturn(Wave &w, const Inst *in) { return jumpTo(w, in, scalar64(w, in->src[0]) & ~3ull); }
const Inst *sEnd(Wave &w, const Inst *in) { return stop(w, in, WaveDone); }
const Inst *sSetKill(Wave &w, const Inst *in) { return in->imm & 1u ? stop(w, in, WaveDone) : in->next; }
const Inst *sHalt(Wave &w, const Inst *in) {
  return in->imm & 1u ? fail(w, in, FaultUnsupported, "halting a wave without a debugger") : in->next;
}
const Inst *sMessageHalt(Wave &w, const Inst *in) {
  return fail(w, in, FaultUnsupported, "halting a wave without a debugger");
}
const Inst *sNothing(Wave &, const Inst *in) { return in->next; }

//===----------------------------------------------------------------------===//
// Scalar memory beyond plain loads
//===----------------------------------------------------------------------===//

enum Region : u32 { Plain, BufferRegion, ScratchRegion };

/// Address of a scalar access; false when a buffer access is out of range.
template <u32 REGION> bool scalarAddress(const Wave &w, const Inst *in, u32 bytes, u64 &addr) {
  u64 off = u64(i64(i32(in->imm))), reg = in->flags & FSaddr ? w.s[in->src[1].reg] : 0;
  const u32 *s = &w.s[in->src[0].reg];
  if constexpr (REGION == BufferRegion) {
    u64 base = u64(s[0]) | u64(s[1] & 0xffffu) << 32, stride = (s[1] >> 16) & 0x3fffu;
    u64 limit = stride ? s[2] * stride : s[2];
    off = (off + reg) & ~3ull;
    addr = (base & ~3ull) + off;
    return i64(off) >= 0 && off + bytes <= limit;
  }
  // The scalar offset of scratch counts 64 bytes.
  addr = (read64(w, in->src[0].reg) + off + (REGION == ScratchRegion ? reg * 64 : reg)) & ~3ull;
  return true;
}

template <u32 REGION, u32 N> const Inst *sStoreN(Wave &w, const Inst *in) {
  for (u32 k = 0; k < N; ++k) {
    u64 addr;
    if (!scalarAddress<REGION>(w, in, 4 * k + 4, addr))
      continue;
    u8 *p = accessLane(w, addr + 4 * k, 4, true, ~0u);
    if (!p)
      return stop(w, in, WaveFault);
    __builtin_memcpy(p, &w.s[in->sdst + k], 4);
  }
  w.ts->storeBytes += N * 4;
  return in->next;
}
template <u32 N> const Inst *sScratchLoad(Wave &w, const Inst *in) {
  u64 addr;
  scalarAddress<ScratchRegion>(w, in, N * 4, addr);
  const u8 *p = accessLane(w, addr, N * 4, false, ~0u);
  if (!p)
    return stop(w, in, WaveFault);
  __builtin_memcpy(&w.s[in->sdst], p, N * 4);
  w.ts->loadBytes += N * 4;
  return in->next;
}

enum ScalarAtomic : u32 { Swap, CmpSwap, Add, Sub, SMin, UMin, SMax, UMax, And, Or, Xor, Inc, Dec };

template <u32 OP, class T> T modify(T old, T x, T y) {
  using S = __make_signed(T);
  switch (OP) {
  case Swap:
    return x;
  case CmpSwap:
    return old == y ? x : old;
  case Add:
    return old + x;
  case Sub:
    return old - x;
  case SMin:
    return S(old) < S(x) ? old : x;
  case UMin:
    return old < x ? old : x;
  case SMax:
    return S(old) > S(x) ? old : x;
  case UMax:
    return old > x ? old : x;
  case And:
    return old & x;
  case Or:
    return old | x;
  case Xor:
    return old ^ x;
  case Inc:
    return old >= x ? T(0) : T(old + 1);
  default:
    return old == 0 || old > x ? x : T(old - 1);
  }
}

template <u32 REGION, u32 OP, class T> const Inst *sAtomic(Wave &w, const Inst *in) {
  constexpr u32 bytes = sizeof(T), words = bytes / 4;
  u64 addr;
  T old = 0;
  if (scalarAddress<REGION>(w, in, bytes, addr)) {
    if (addr & (bytes - 1)) {
      w.fault = {FaultMisaligned, 1, ~0u, bytes, addr, nullptr};
      return stop(w, in, WaveFault);
    }
    u8 *p = accessLane(w, addr, bytes, true, ~0u);
    if (!p)
      return stop(w, in, WaveFault);
    if (w.ts->track)
      accessLane(w, addr, bytes, false, ~0u);
    T x, y = 0;
    __builtin_memcpy(&x, &w.s[in->sdst], bytes);
    if (OP == CmpSwap)
      __builtin_memcpy(&y, &w.s[in->sdst + words], bytes);
    T *q = (T *)p;
    old = __atomic_load_n(q, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(q, &old, modify<OP, T>(old, x, y), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
  }
  if (in->flags & FReturn)
    __builtin_memcpy(&w.s[in->sdst], &old, bytes);
  w.ts->loadBytes += bytes;
  w.ts->storeBytes += bytes;
  return in->next;
}

//===----------------------------------------------------------------------===//
// Global wave synchronization: 64 resources that all workgroups of a launch see.
//===----------------------------------------------------------------------===//

class LockedResource {
public:
  LockedResource(const Wave &w, const Inst *in)
      : r(w.ts->gws[((w.s[regM0] >> 16) + (in->imm & 0xffffu)) % gwsResources]) {
    while (__atomic_exchange_n(&r.lock, 1u, __ATOMIC_ACQUIRE))
      sched_yield();
  }
  ~LockedResource() { __atomic_store_n(&r.lock, 0u, __ATOMIC_RELEASE); }
  GwsResource &r;
};

/// The value of the first active lane.
u32 firstLane(const Wave &w, const Inst *in) {
  u64 exec = getExec(w);
  return w.v[in->src[0].reg + (exec ? u32(__builtin_ctzll(exec)) : 0u)];
}
/// Tries again later; charges a share of the workgroup's time slice, so that the
/// workgroup waited for gets its turn soon. Small enough that a host thread which
/// waits for another one, on a loaded machine, is not taken for an endless loop.
const Inst *wait(Wave &w, const Inst *in) {
  w.executed += 1000;
  sched_yield();
  return stop(w, in, WaveYield);
}

const Inst *gwsInit(Wave &w, const Inst *in) {
  LockedResource l(w, in);
  l.r.semaphore = firstLane(w, in);
  return in->next;
}
/// Opens when as many waves have arrived as the operand says, plus one.
const Inst *gwsBarrier(Wave &w, const Inst *in) {
  LockedResource l(w, in);
  if (w.gwsWaiting) {
    if (l.r.phase == w.gwsPhase)
      return wait(w, in);
    w.gwsWaiting = 0;
    return in->next;
  }
  if (l.r.arrived++ >= firstLane(w, in)) {
    l.r.arrived = 0;
    ++l.r.phase;
    return in->next;
  }
  w.gwsWaiting = 1;
  w.gwsPhase = l.r.phase;
  return wait(w, in);
}
const Inst *gwsSemaV(Wave &w, const Inst *in) {
  ++LockedResource(w, in).r.semaphore;
  return in->next;
}
const Inst *gwsSemaBr(Wave &w, const Inst *in) {
  LockedResource(w, in).r.semaphore += firstLane(w, in);
  return in->next;
}
const Inst *gwsSemaP(Wave &w, const Inst *in) {
  LockedResource l(w, in);
  bool released = w.gwsWaiting && l.r.phase != w.gwsPhase;
  if (!released && !l.r.semaphore) {
    w.gwsWaiting = 1;
    w.gwsPhase = l.r.phase;
    return wait(w, in);
  }
  w.gwsWaiting = 0;
  l.r.semaphore -= !released;
  return in->next;
}
/// Lets every wave go that waits at this moment.
const Inst *gwsReleaseAll(Wave &w, const Inst *in) {
  LockedResource l(w, in);
  ++l.r.phase;
  l.r.arrived = 0;
  return in->next;
}

#define ATOMIC(NAME, OP)                                                                                               \
  {"s_atomic_" NAME, sAtomic<Plain, OP, u32>, TNone, {}, CSMEM, 0},                                                    \
      {"s_atomic_" NAME "_x2", sAtomic<Plain, OP, u64>, TNone, {}, CSMEM, 0},                                          \
      {"s_buffer_atomic_" NAME, sAtomic<BufferRegion, OP, u32>, TNone, {}, CSMEM, 0},                                  \
      {"s_buffer_atomic_" NAME "_x2", sAtomic<BufferRegion, OP, u64>, TNone, {}, CSMEM, 0},

// clang-format off
constexpr OpDef rows[] = {
    {"s_set_gpr_idx_on", sSetGprIdxOn, TNone, {TB32}, CSALU, 0},
    {"s_set_gpr_idx_off", sSetGprIdxOff, TNone, {}, CSALU, 0},
    {"s_set_gpr_idx_mode", sSetGprIdxMode, TNone, {}, CSALU, 0},
    {"s_set_gpr_idx_idx", sSetGprIdxIdx, TNone, {TB32}, CSALU, 0},
    {"s_cbranch_g_fork", sForkG, TNone, {TB64, TB64}, CBranch, 0},
    {"s_cbranch_i_fork", sForkI, TNone, {}, CBranch, 0},
    {"s_cbranch_join", sJoin, TNone, {TB32}, CBranch, 0},
    {"s_rfe_b64", sReturn, TNone, {TB64}, CBranch, 0},
    {"s_rfe_restore_b64", sReturn, TNone, {TB64, TB32}, CBranch, 0},
    {"s_endpgm_ordered_ps_done", sEnd, TNone, {}, CInternal, 0},
    {"s_setkill", sSetKill, TNone, {}, CInternal, 0},
    {"s_sethalt", sHalt, TNone, {}, CInternal, 0},
    {"s_sendmsghalt", sMessageHalt, TNone, {}, CInternal, 0},
    {"s_atc_probe", sNothing, TNone, {}, CSMEM, 0},
    {"s_atc_probe_buffer", sNothing, TNone, {}, CSMEM, 0},
    {"s_dcache_discard", sNothing, TNone, {}, CSMEM, 0},
    {"s_dcache_discard_x2", sNothing, TNone, {}, CSMEM, 0},
    {"s_buffer_store_dword", sStoreN<BufferRegion, 1>, TNone, {}, CSMEM, 0},
    {"s_buffer_store_dwordx2", sStoreN<BufferRegion, 2>, TNone, {}, CSMEM, 0},
    {"s_buffer_store_dwordx4", sStoreN<BufferRegion, 4>, TNone, {}, CSMEM, 0},
    {"s_scratch_store_dword", sStoreN<ScratchRegion, 1>, TNone, {}, CSMEM, 0},
    {"s_scratch_store_dwordx2", sStoreN<ScratchRegion, 2>, TNone, {}, CSMEM, 0},
    {"s_scratch_store_dwordx4", sStoreN<ScratchRegion, 4>, TNone, {}, CSMEM, 0},
    {"s_scratch_load_dword", sScratchLoad<1>, TNone, {}, CSMEM, 0},
    {"s_scratch_load_dwordx2", sScratchLoad<2>, TNone, {}, CSMEM, 0},
    {"s_scratch_load_dwordx4", sScratchLoad<4>, TNone, {}, CSMEM, 0},
    {"ds_gws_init", gwsInit, TNone, {}, CLDS, 0},
    {"ds_gws_barrier", gwsBarrier, TNone, {}, CLDS, 0},
    {"ds_gws_sema_v", gwsSemaV, TNone, {}, CLDS, 0},
    {"ds_gws_sema_br", gwsSemaBr, TNone, {}, CLDS, 0},
    {"ds_gws_sema_p", gwsSemaP, TNone, {}, CLDS, 0},
    {"ds_gws_sema_release_all", gwsReleaseAll, TNone, {}, CLDS, 0},
    ATOMIC("swap", Swap) ATOMIC("cmpswap", CmpSwap) ATOMIC("add", Add) ATOMIC("sub", Sub) ATOMIC("smin", SMin)
    ATOMIC("umin", UMin) ATOMIC("smax", SMax) ATOMIC("umax", UMax) ATOMIC("and", And) ATOMIC("or", Or)
    ATOMIC("xor", Xor) ATOMIC("inc", Inc) ATOMIC("dec", Dec)
};
// clang-format on

} // namespace

OpTable getScalarSpecialOps() { return {rows, sizeof(rows) / sizeof(rows[0])}; }

const Inst *continueInMode(Wave &w, const Inst *next) {
  if (!(w.mode & modeGprIndex))
    return next == &w.proxy ? w.code + next->index : next;
  if (next == &w.proxy)
    return next;
  u32 index = u32(next - w.code);
  w.proxy = *next;
  w.proxy.index = index;
  w.proxy.fn = modeStep;
  return &w.proxy;
}

} // namespace atrex::device::sim
