//===- ScalarOps.cpp - Scalar ALU, control flow, scalar memory ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Access.h"

namespace atrex::device::sim {
namespace {

template <auto F> const Inst *s1(Wave &w, const Inst *in) {
  w.s[in->sdst] = F(scalar32(w, in->src[0]), w.scc);
  return in->next;
}
template <auto F> const Inst *s1l(Wave &w, const Inst *in) {
  write64(w, in->sdst, F(scalar64(w, in->src[0]), w.scc));
  return in->next;
}
/// 64-bit source, 32-bit result.
template <auto F> const Inst *s1n(Wave &w, const Inst *in) {
  w.s[in->sdst] = F(scalar64(w, in->src[0]), w.scc);
  return in->next;
}
template <auto F> const Inst *s2(Wave &w, const Inst *in) {
  u32 scc = w.scc;
  u32 r = F(scalar32(w, in->src[0]), scalar32(w, in->src[1]), scc);
  w.s[in->sdst] = r;
  w.scc = scc;
  return in->next;
}
template <auto F> const Inst *s2l(Wave &w, const Inst *in) {
  u32 scc = w.scc;
  u64 r = F(scalar64(w, in->src[0]), scalar64(w, in->src[1]), scc);
  write64(w, in->sdst, r);
  w.scc = scc;
  return in->next;
}
/// 64-bit first source, 32-bit second.
template <auto F> const Inst *s2s(Wave &w, const Inst *in) {
  u32 scc = w.scc;
  u64 r = F(scalar64(w, in->src[0]), scalar32(w, in->src[1]), scc);
  write64(w, in->sdst, r);
  w.scc = scc;
  return in->next;
}
template <auto F> const Inst *sc(Wave &w, const Inst *in) {
  w.scc = F(scalar32(w, in->src[0]), scalar32(w, in->src[1]));
  return in->next;
}
template <auto F> const Inst *scl(Wave &w, const Inst *in) {
  w.scc = F(scalar64(w, in->src[0]), scalar64(w, in->src[1]));
  return in->next;
}
/// SOPK: the destination register and the immediate.
template <auto F> const Inst *sk(Wave &w, const Inst *in) {
  u32 scc = w.scc;
  u32 r = F(w.s[in->sdst], i32(i16(in->imm)), scc);
  w.s[in->sdst] = r;
  w.scc = scc;
  return in->next;
}
template <auto F> const Inst *skc(Wave &w, const Inst *in) {
  w.scc = F(w.s[in->sdst], in->imm & 0xffffu);
  return in->next;
}
/// Saves EXEC, then combines it with the source.
template <auto F> const Inst *saveExec(Wave &w, const Inst *in) {
  u64 a = scalar64(w, in->src[0]), exec = getExec(w), r = F(a, exec);
  write64(w, in->sdst, exec);
  write64(w, regExec, r);
  w.scc = r != 0;
  return in->next;
}
/// As above, but the result also goes to the destination.
template <auto F> const Inst *wrExec(Wave &w, const Inst *in) {
  u64 r = F(scalar64(w, in->src[0]), getExec(w));
  write64(w, regExec, r);
  write64(w, in->sdst, r);
  w.scc = r != 0;
  return in->next;
}

template <auto F> const Inst *branchIf(Wave &w, const Inst *in) { return F(w) ? in->target : in->next; }

u64 addressOf(const Wave &w, const Inst *in) { return w.codeBase + u64(in->index) * 4; }

/// Continues at a computed address; the slot may not be decoded yet.
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

const Inst *sSetPC(Wave &w, const Inst *in) { return jumpTo(w, in, scalar64(w, in->src[0]) & ~3ull); }
const Inst *sSwapPC(Wave &w, const Inst *in) {
  u64 target = scalar64(w, in->src[0]) & ~3ull;
  write64(w, in->sdst, addressOf(w, in) + in->bytes);
  return jumpTo(w, in, target);
}
const Inst *sGetPC(Wave &w, const Inst *in) {
  write64(w, in->sdst, addressOf(w, in) + in->bytes);
  return in->next;
}
const Inst *sCall(Wave &w, const Inst *in) {
  write64(w, in->sdst, addressOf(w, in) + in->bytes);
  return in->target;
}
const Inst *sEndpgm(Wave &w, const Inst *in) { return stop(w, in, WaveDone); }
const Inst *sBarrier(Wave &w, const Inst *in) { return stop(w, in->next, WaveBarrier); }
const Inst *sYield(Wave &w, const Inst *in) { return stop(w, in->next, WaveYield); }
const Inst *sNop(Wave &, const Inst *in) { return in->next; }
const Inst *sTrap(Wave &w, const Inst *in) {
  w.fault = {FaultTrap, 0, ~0u, 0, in->imm & 0xffu, nullptr};
  return stop(w, in, WaveFault);
}

u32 hwreg(const Wave &w, u32 id) {
  switch (id) {
  case 1:
    return w.mode;
  case 2:
    return w.scc | u32(getExec(w) == 0) << 9 | u32(read64(w, regVCC) == 0) << 10 | 1u << 16;
  case 4:
    return w.waveInGroup & 15u;
  case 6:
    return ((w.ldsBytes + 511) / 512) << 12;
  default:
    return 0;
  }
}
void updateMode(Wave &w) {
  u32 d32 = (w.mode >> 4) & 3u, d64 = (w.mode >> 6) & 3u;
  w.slowMode = u8((d32 & 1u ? 0 : 1) | (d32 & 2u ? 0 : 2) | (d64 & 1u ? 0 : 4) | (d64 & 2u ? 0 : 8) |
                  (w.mode & 3u ? 16 : 0) | ((w.mode >> 2) & 3u ? 32 : 0));
}
const Inst *sGetReg(Wave &w, const Inst *in) {
  u32 id = in->imm & 63u, off = (in->imm >> 6) & 31u, size = ((in->imm >> 11) & 31u) + 1;
  u32 mask = size == 32 ? ~0u : (1u << size) - 1u;
  w.s[in->sdst] = (hwreg(w, id) >> off) & mask;
  return in->next;
}
const Inst *setReg(Wave &w, const Inst *in, u32 value) {
  u32 id = in->imm & 63u, off = (in->imm >> 6) & 31u, size = ((in->imm >> 11) & 31u) + 1;
  u32 mask = (size == 32 ? ~0u : (1u << size) - 1u) << off;
  if (id == 1) {
    u32 before = w.mode;
    w.mode = (w.mode & ~mask) | ((value << off) & mask);
    updateMode(w);
    // VSKIP takes another dispatch loop.
    if (UNLIKELY((before ^ w.mode) >> 28 & 1u))
      return stop(w, continueInMode(w, in->next), WaveYield);
    return continueInMode(w, in->next);
  }
  return in->next;
}
const Inst *sSetReg(Wave &w, const Inst *in) { return setReg(w, in, w.s[in->sdst]); }
const Inst *sSetRegImm(Wave &w, const Inst *in) { return setReg(w, in, scalar32(w, in->src[0])); }

const Inst *sSetVskip(Wave &w, const Inst *in) {
  u32 bit = (scalar32(w, in->src[0]) >> (scalar32(w, in->src[1]) & 31u)) & 1u;
  w.mode = (w.mode & ~(1u << 28)) | bit << 28;
  return stop(w, in->next, WaveYield);
}

const Inst *sMemTime(Wave &w, const Inst *in) {
  // Four cycles per instruction of this wave: deterministic and monotone.
  write64(w, in->sdst, w.executed * 4);
  w.executed += 1;
  return in->next;
}

//===----------------------------------------------------------------------===//
// Scalar memory
//===----------------------------------------------------------------------===//

u64 smemOffset(const Wave &w, const Inst *in) {
  u64 off = u64(i64(i32(in->imm)));
  if (in->src[1].kind == OSGPR && (in->flags & FSaddr))
    off += w.s[in->src[1].reg];
  return off;
}

template <u32 N> const Inst *sLoad(Wave &w, const Inst *in) {
  u64 addr = (read64(w, in->src[0].reg) + smemOffset(w, in)) & ~3ull;
  const u8 *p = accessLane(w, addr, N * 4, false, ~0u);
  if (UNLIKELY(!p))
    return stop(w, in, WaveFault);
  __builtin_memcpy(&w.s[in->sdst], p, N * 4);
  w.ts->loadBytes += N * 4;
  return in->next;
}

template <u32 N> const Inst *sBufferLoad(Wave &w, const Inst *in) {
  const u32 *rsrc = &w.s[in->src[0].reg];
  u64 base = (u64(rsrc[0]) | u64(rsrc[1] & 0xffffu) << 32) & ~3ull;
  u64 stride = (rsrc[1] >> 16) & 0x3fffu, limit = rsrc[2];
  if (stride)
    limit *= stride;
  u64 off = smemOffset(w, in) & ~3ull;
  u32 r[N];
  for (u32 k = 0; k < N; ++k) {
    r[k] = 0;
    u64 o = off + 4 * k;
    if (o + 4 > limit || i64(off) < 0)
      continue;
    const u8 *p = accessLane(w, base + o, 4, false, ~0u);
    if (!p)
      return stop(w, in, WaveFault);
    __builtin_memcpy(&r[k], p, 4);
  }
  __builtin_memcpy(&w.s[in->sdst], r, N * 4);
  w.ts->loadBytes += N * 4;
  return in->next;
}

template <u32 N> const Inst *sStore(Wave &w, const Inst *in) {
  u64 addr = (read64(w, in->src[0].reg) + smemOffset(w, in)) & ~3ull;
  u8 *p = accessLane(w, addr, N * 4, true, ~0u);
  if (!p)
    return stop(w, in, WaveFault);
  __builtin_memcpy(p, &w.s[in->sdst], N * 4);
  w.ts->storeBytes += N * 4;
  return in->next;
}

u64 bfe64(u64 a, u32 b, bool isSigned) {
  u32 off = b & 63u, width = (b >> 16) & 0x7fu;
  if (!width)
    return 0;
  u64 x = a >> off;
  if (isSigned)
    x = u64(i64(a) >> off);
  if (width >= 64)
    return x;
  u32 sh = 64 - width;
  return isSigned ? u64(i64(x << sh) >> sh) : x << sh >> sh;
}
u32 bfe32(u32 a, u32 b, bool isSigned) {
  u32 off = b & 31u, width = (b >> 16) & 0x7fu;
  if (!width)
    return 0;
  u32 x = isSigned ? u32(i32(a) >> off) : a >> off;
  if (width >= 32)
    return x;
  u32 sh = 32 - width;
  return isSigned ? u32(i32(x << sh) >> sh) : x << sh >> sh;
}
u64 wqm(u64 x) {
  u64 r = 0;
  for (u32 i = 0; i < 64; i += 4)
    if ((x >> i) & 15u)
      r |= 15ull << i;
  return r;
}
u64 quadmask(u64 x) {
  u64 r = 0;
  for (u32 i = 0; i < 64; i += 4)
    if ((x >> i) & 15u)
      r |= 1ull << (i / 4);
  return r;
}
u64 replicateBits(u32 x) {
  u64 r = 0;
  for (u32 i = 0; i < 32; ++i)
    if ((x >> i) & 1u)
      r |= 3ull << (2 * i);
  return r;
}
bool addOverflows(u32 a, u32 b) {
  i32 r;
  return __builtin_add_overflow(i32(a), i32(b), &r);
}
bool subOverflows(u32 a, u32 b) {
  i32 r;
  return __builtin_sub_overflow(i32(a), i32(b), &r);
}
i32 flbitI(i64 x, u32 bits) {
  if (bits == 32)
    x = i32(x);
  u64 y = u64(x < 0 ? ~x : x);
  return y ? i32(__builtin_clzll(y)) - (64 - i32(bits)) : -1;
}
u32 setNZ(u32 r, u32 &scc) {
  scc = r != 0;
  return r;
}
u64 setNZ(u64 r, u32 &scc) {
  scc = r != 0;
  return r;
}

const Inst *sCselect32(Wave &w, const Inst *in) {
  w.s[in->sdst] = scalar32(w, in->src[w.scc ? 0 : 1]);
  return in->next;
}
const Inst *sCselect64(Wave &w, const Inst *in) {
  write64(w, in->sdst, scalar64(w, in->src[w.scc ? 0 : 1]));
  return in->next;
}
const Inst *sCmov32(Wave &w, const Inst *in) {
  if (w.scc)
    w.s[in->sdst] = scalar32(w, in->src[0]);
  return in->next;
}
const Inst *sCmov64(Wave &w, const Inst *in) {
  if (w.scc)
    write64(w, in->sdst, scalar64(w, in->src[0]));
  return in->next;
}
const Inst *sBitset(Wave &w, const Inst *in, bool set, bool wide) {
  u32 n = scalar32(w, in->src[0]) & (wide ? 63u : 31u);
  u64 x = wide ? read64(w, in->sdst) : w.s[in->sdst];
  x = set ? x | 1ull << n : x & ~(1ull << n);
  if (wide)
    write64(w, in->sdst, x);
  else
    w.s[in->sdst] = u32(x);
  return in->next;
}
template <bool SET, bool WIDE> const Inst *sBitsetT(Wave &w, const Inst *in) { return sBitset(w, in, SET, WIDE); }
const Inst *sBfm64(Wave &w, const Inst *in) {
  u32 a = scalar32(w, in->src[0]) & 63u, b = scalar32(w, in->src[1]) & 63u;
  write64(w, in->sdst, ((1ull << a) - 1) << b);
  return in->next;
}
const Inst *sReplicate(Wave &w, const Inst *in) {
  write64(w, in->sdst, replicateBits(scalar32(w, in->src[0])));
  return in->next;
}
template <bool WIDE, bool VALUE> const Inst *sBitcmp(Wave &w, const Inst *in) {
  u64 x = WIDE ? scalar64(w, in->src[0]) : scalar32(w, in->src[0]);
  u32 n = scalar32(w, in->src[1]) & (WIDE ? 63u : 31u);
  w.scc = u32((x >> n) & 1) == u32(VALUE);
  return in->next;
}
const Inst *sMovRels(Wave &w, const Inst *in, bool toDst, bool wide) {
  u32 m0 = w.s[regM0];
  u32 from = in->src[0].reg + (toDst ? 0 : m0), to = in->sdst + (toDst ? m0 : 0);
  if ((!toDst && in->src[0].kind != OSGPR) || from > 126 || to > 126)
    return fail(w, in, FaultUnsupported, "relative scalar move outside of the scalar registers");
  u64 x = toDst ? (wide ? scalar64(w, in->src[0]) : scalar32(w, in->src[0])) : (wide ? read64(w, from) : w.s[from]);
  if (wide)
    write64(w, to, x);
  else
    w.s[to] = u32(x);
  return in->next;
}
template <bool TODST, bool WIDE> const Inst *sMovRelT(Wave &w, const Inst *in) { return sMovRels(w, in, TODST, WIDE); }

#define L(ARGS, ...) [] ARGS { return __VA_ARGS__; }
#define S1(NAME, ...) {"s_" NAME, s1<L((u32 a, u32 & scc), (void(scc), __VA_ARGS__))>, TB32, {TB32}, CSALU, 0},
#define S1L(NAME, ...) {"s_" NAME, s1l<L((u64 a, u32 & scc), (void(scc), __VA_ARGS__))>, TB64, {TB64}, CSALU, 0},
#define S1N(NAME, ...) {"s_" NAME, s1n<L((u64 a, u32 & scc), (void(scc), __VA_ARGS__))>, TB32, {TB64}, CSALU, 0},
#define S2(NAME, ...)                                                                                                  \
  {"s_" NAME, s2<L((u32 a, u32 b, u32 & scc), (void(scc), __VA_ARGS__))>, TB32, {TB32, TB32}, CSALU, 0},
#define S2L(NAME, ...)                                                                                                 \
  {"s_" NAME, s2l<L((u64 a, u64 b, u32 & scc), (void(scc), __VA_ARGS__))>, TB64, {TB64, TB64}, CSALU, 0},
#define S2S(NAME, T, ...)                                                                                              \
  {"s_" NAME, s2s<L((u64 a, u32 b, u32 & scc), (void(scc), __VA_ARGS__))>, TB64, {T, TB32}, CSALU, 0},
#define SC(NAME, ...) {"s_" NAME, sc<L((u32 a, u32 b), u32(__VA_ARGS__))>, TNone, {TB32, TB32}, CSALU, 0},
#define SCL(NAME, ...) {"s_" NAME, scl<L((u64 a, u64 b), u32(__VA_ARGS__))>, TNone, {TB64, TB64}, CSALU, 0},
#define SK(NAME, ...) {"s_" NAME, sk<L((u32 a, i32 k, u32 & scc), (void(scc), __VA_ARGS__))>, TB32, {}, CSALU, 0},
#define SKC(NAME, ...) {"s_" NAME, skc<L((u32 a, u32 k), u32(__VA_ARGS__))>, TNone, {}, CSALU, 0},
#define SAVE(NAME, ...) {"s_" NAME, saveExec<L((u64 a, u64 e), __VA_ARGS__)>, TB64, {TB64}, CSALU, 0},
#define WREXEC(NAME, ...) {"s_" NAME, wrExec<L((u64 a, u64 e), __VA_ARGS__)>, TB64, {TB64}, CSALU, 0},
#define BRANCH(NAME, ...) {"s_" NAME, branchIf<L((const Wave &w), (void(w), __VA_ARGS__))>, TNone, {}, CBranch, 0},
#define PLAIN(NAME, FN, CLS) {"s_" NAME, FN, TNone, {}, CLS, 0},

constexpr OpDef rows[] = {
    S1("mov_b32", a) S1L("mov_b64", a) S1("not_b32", setNZ(~a, scc)) S1L("not_b64", setNZ(~a, scc))
        S1("brev_b32", __builtin_bitreverse32(a)) S1L("brev_b64", __builtin_bitreverse64(a))
            S1("wqm_b32", setNZ(u32(wqm(a)), scc)) S1L("wqm_b64", setNZ(wqm(a), scc))
                S1("quadmask_b32", setNZ(u32(quadmask(a)), scc)) S1L("quadmask_b64", setNZ(quadmask(a), scc))
                    S1("bcnt0_i32_b32", setNZ(u32(32 - __builtin_popcount(a)), scc))
                        S1N("bcnt0_i32_b64", setNZ(u32(64 - __builtin_popcountll(a)), scc))
                            S1("bcnt1_i32_b32", setNZ(u32(__builtin_popcount(a)), scc))
                                S1N("bcnt1_i32_b64", setNZ(u32(__builtin_popcountll(a)), scc))
                                    S1("ff0_i32_b32", ~a ? u32(__builtin_ctz(~a))
                                                         : ~0u) S1N("ff0_i32_b64", ~a ? u32(__builtin_ctzll(~a)) : ~0u)
                                        S1("ff1_i32_b32", a ? u32(__builtin_ctz(a)) : ~0u)
                                            S1N("ff1_i32_b64", a ? u32(__builtin_ctzll(a)) : ~0u)
                                                S1("flbit_i32_b32", a ? u32(__builtin_clz(a)) : ~0u)
                                                    S1N("flbit_i32_b64", a ? u32(__builtin_clzll(a)) : ~0u)
                                                        S1("flbit_i32", u32(flbitI(i64(a), 32)))
                                                            S1N("flbit_i32_i64", u32(flbitI(i64(a), 64)))
                                                                S1("sext_i32_i8", u32(i32(i8(a)))) S1("sext_i32_i16",
                                                                                                      u32(i32(i16(a))))
                                                                    S1("abs_i32", setNZ(i32(a) < 0 ? 0u - a : a, scc)){
                                                                        "s_cmov_b32", sCmov32, TB32, {TB32}, CSALU, 0},
    {"s_cmov_b64", sCmov64, TB64, {TB64}, CSALU, 0},
    {"s_bitset0_b32", sBitsetT<false, false>, TB32, {TB32}, CSALU, 0},
    {"s_bitset1_b32", sBitsetT<true, false>, TB32, {TB32}, CSALU, 0},
    {"s_bitset0_b64", sBitsetT<false, true>, TB64, {TB32}, CSALU, 0},
    {"s_bitset1_b64", sBitsetT<true, true>, TB64, {TB32}, CSALU, 0},
    {"s_bitreplicate_b64_b32", sReplicate, TB64, {TB32}, CSALU, 0},
    {"s_movrels_b32", sMovRelT<false, false>, TB32, {TB32}, CSALU, 0},
    {"s_movrels_b64", sMovRelT<false, true>, TB64, {TB64}, CSALU, 0},
    {"s_movreld_b32", sMovRelT<true, false>, TB32, {TB32}, CSALU, 0},
    {"s_movreld_b64", sMovRelT<true, true>, TB64, {TB64}, CSALU, 0},
    {"s_getpc_b64", sGetPC, TB64, {}, CSALU, 0},
    {"s_setpc_b64", sSetPC, TNone, {TB64}, CBranch, 0},
    {"s_swappc_b64", sSwapPC, TB64, {TB64}, CBranch, 0},
    SAVE("and_saveexec_b64", a &e) SAVE("or_saveexec_b64", a | e) SAVE("xor_saveexec_b64", a ^ e)
        SAVE("andn2_saveexec_b64", a & ~e) SAVE("orn2_saveexec_b64", a | ~e) SAVE("nand_saveexec_b64", ~(a &e))
            SAVE("nor_saveexec_b64", ~(a | e)) SAVE("xnor_saveexec_b64", ~(a ^ e)) SAVE("andn1_saveexec_b64", ~a &e)
                SAVE("orn1_saveexec_b64", ~a | e) WREXEC("andn1_wrexec_b64", ~a &e) WREXEC("andn2_wrexec_b64", a & ~e)

                    S2("add_u32", (scc = a + b < a, a + b)) S2("sub_u32", (scc = a < b, a - b))
                        S2("add_i32", (scc = addOverflows(a, b), a + b))
                            S2("sub_i32", (scc = subOverflows(a, b), a - b)){"s_addc_u32",
                                                                             s2<[](u32 a, u32 b, u32 &scc) {
                                                                               u64 r = u64(a) + b + scc;
                                                                               scc = u32(r >> 32);
                                                                               return u32(r);
                                                                             }>,
                                                                             TB32,
                                                                             {TB32, TB32},
                                                                             CSALU,
                                                                             0},
    {"s_subb_u32",
     s2<
         [](u32 a, u32 b, u32 &scc) {
           u64 r = u64(a) - b - scc;
           scc = u32(r >> 32) & 1u;
           return u32(r);
         }>,
     TB32,
     {TB32, TB32},
     CSALU,
     0},
    S2("min_i32", (scc = i32(a) < i32(b), scc ? a : b)) S2("max_i32", (scc = i32(a) > i32(b), scc ? a : b))
        S2("min_u32", (scc = a < b, scc ? a : b))
            S2("max_u32", (scc = a > b, scc ? a : b)){"s_cselect_b32", sCselect32, TB32, {TB32, TB32}, CSALU, 0},
    {"s_cselect_b64", sCselect64, TB64, {TB64, TB64}, CSALU, 0},
    S2("and_b32", setNZ(a &b, scc)) S2("or_b32", setNZ(a | b, scc)) S2("xor_b32", setNZ(a ^ b, scc))
        S2("andn2_b32", setNZ(a & ~b, scc)) S2("orn2_b32", setNZ(a | ~b, scc)) S2("nand_b32", setNZ(~(a &b), scc))
            S2("nor_b32", setNZ(~(a | b), scc)) S2("xnor_b32", setNZ(~(a ^ b), scc)) S2L("and_b64", setNZ(a &b, scc))
                S2L("or_b64", setNZ(a | b, scc)) S2L("xor_b64", setNZ(a ^ b, scc)) S2L("andn2_b64", setNZ(a & ~b, scc))
                    S2L("orn2_b64", setNZ(a | ~b, scc)) S2L("nand_b64", setNZ(~(a &b), scc))
                        S2L("nor_b64", setNZ(~(a | b), scc)) S2L("xnor_b64", setNZ(~(a ^ b), scc))
                            S2("lshl_b32", setNZ(a << (b & 31u), scc)) S2("lshr_b32", setNZ(a >> (b & 31u), scc))
                                S2("ashr_i32", setNZ(u32(i32(a) >> (b & 31u)), scc))
                                    S2S("lshl_b64", TB64, setNZ(a << (b & 63u), scc))
                                        S2S("lshr_b64", TB64, setNZ(a >> (b & 63u), scc))
                                            S2S("ashr_i64", TI64, setNZ(u64(i64(a) >> (b & 63u)), scc))
                                                S2("bfm_b32", ((1u << (a & 31u)) - 1u) << (b & 31u)){
                                                    "s_bfm_b64", sBfm64, TB64, {TB32, TB32}, CSALU, 0},
    S2("mul_i32", a *b) S2("mul_hi_u32", u32((u64(a) * b) >> 32)) S2("mul_hi_i32", u32(u64(i64(i32(a)) * i32(b)) >> 32))
        S2("bfe_u32", setNZ(bfe32(a, b, false), scc)) S2("bfe_i32", setNZ(bfe32(a, b, true), scc))
            S2S("bfe_u64", TB64, setNZ(bfe64(a, b, false), scc)) S2S("bfe_i64", TI64, setNZ(bfe64(a, b, true), scc))
                S2("absdiff_i32", setNZ(i32(a - b) < 0 ? b - a : a - b, scc))
                    S2("lshl1_add_u32", (scc = ((u64(a) << 1) + b) >> 32 != 0, (a << 1) + b))
                        S2("lshl2_add_u32", (scc = ((u64(a) << 2) + b) >> 32 != 0, (a << 2) + b))
                            S2("lshl3_add_u32", (scc = ((u64(a) << 3) + b) >> 32 != 0, (a << 3) + b))
                                S2("lshl4_add_u32", (scc = ((u64(a) << 4) + b) >> 32 != 0, (a << 4) + b))
                                    S2("pack_ll_b32_b16", (a & 0xffffu) | b << 16) S2("pack_lh_b32_b16",
                                                                                      (a & 0xffffu) | (b & 0xffff0000u))
                                        S2("pack_hh_b32_b16", a >> 16 | (b & 0xffff0000u))

                                            SC("cmp_eq_i32", a == b) SC("cmp_lg_i32", a != b)
                                                SC("cmp_gt_i32", i32(a) > i32(b)) SC("cmp_ge_i32", i32(a) >= i32(b))
                                                    SC("cmp_lt_i32", i32(a) < i32(b)) SC("cmp_le_i32", i32(a) <= i32(b))
                                                        SC("cmp_eq_u32", a == b) SC("cmp_lg_u32", a != b)
                                                            SC("cmp_gt_u32", a > b) SC("cmp_ge_u32", a >= b)
                                                                SC("cmp_lt_u32", a < b) SC("cmp_le_u32", a <= b)
                                                                    SCL("cmp_eq_u64", a == b)
                                                                        SCL("cmp_lg_u64", a != b){"s_bitcmp0_b32",
                                                                                                  sBitcmp<false, false>,
                                                                                                  TNone,
                                                                                                  {TB32, TB32},
                                                                                                  CSALU,
                                                                                                  0},
    {"s_bitcmp1_b32", sBitcmp<false, true>, TNone, {TB32, TB32}, CSALU, 0},
    {"s_bitcmp0_b64", sBitcmp<true, false>, TNone, {TB64, TB32}, CSALU, 0},
    {"s_bitcmp1_b64", sBitcmp<true, true>, TNone, {TB64, TB32}, CSALU, 0},

    SK("movk_i32", (void(a), u32(k))) SK("cmovk_i32", scc ? u32(k) : a)
        SK("addk_i32", (scc = addOverflows(a, u32(k)), a + u32(k))) SK("mulk_i32", a *u32(k))
            SKC("cmpk_eq_i32", i32(a) == i32(i16(k))) SKC("cmpk_lg_i32", i32(a) != i32(i16(k)))
                SKC("cmpk_gt_i32", i32(a) > i32(i16(k))) SKC("cmpk_ge_i32", i32(a) >= i32(i16(k)))
                    SKC("cmpk_lt_i32", i32(a) < i32(i16(k))) SKC("cmpk_le_i32", i32(a) <= i32(i16(k)))
                        SKC("cmpk_eq_u32", a == k) SKC("cmpk_lg_u32", a != k) SKC("cmpk_gt_u32", a > k)
                            SKC("cmpk_ge_u32", a >= k) SKC("cmpk_lt_u32", a < k) SKC("cmpk_le_u32", a <= k)
                                PLAIN("getreg_b32", sGetReg, CSALU) PLAIN("setreg_b32", sSetReg, CSALU){
                                    "s_setreg_imm32_b32", sSetRegImm, TNone, {TB32}, CSALU, 0},
    {"s_setvskip", sSetVskip, TNone, {TB32, TB32}, CSALU, 0},
    PLAIN("call_b64", sCall, CBranch)

        BRANCH("branch", true) BRANCH("cbranch_scc0", !w.scc) BRANCH("cbranch_scc1", w.scc) BRANCH(
            "cbranch_vccz", read64(w, regVCC) == 0) BRANCH("cbranch_vccnz", read64(w, regVCC) != 0)
            BRANCH("cbranch_execz", getExec(w) == 0) BRANCH("cbranch_execnz", getExec(w) != 0) BRANCH(
                "cbranch_cdbgsys", false) BRANCH("cbranch_cdbguser", false) BRANCH("cbranch_cdbgsys_or_user", false)
                BRANCH("cbranch_cdbgsys_and_user", false) PLAIN("endpgm", sEndpgm, CInternal)
                    PLAIN("endpgm_saved", sEndpgm, CInternal) PLAIN("barrier", sBarrier, CInternal) PLAIN(
                        "sleep", sYield, CInternal) PLAIN("trap", sTrap, CInternal) PLAIN("nop", sNop, CInternal)
                        PLAIN("waitcnt", sNop, CInternal) PLAIN("setprio", sNop, CInternal) PLAIN(
                            "sendmsg", sNop, CInternal) PLAIN("icache_inv", sNop, CInternal)
                            PLAIN("incperflevel", sNop, CInternal) PLAIN("decperflevel", sNop, CInternal)
                                PLAIN("ttracedata", sNop, CInternal) PLAIN("wakeup", sNop, CInternal)
                                    PLAIN("dcache_inv", sNop, CSMEM) PLAIN("dcache_inv_vol", sNop, CSMEM)
                                        PLAIN("dcache_wb", sNop, CSMEM) PLAIN("dcache_wb_vol", sNop, CSMEM) PLAIN(
                                            "memtime", sMemTime, CSMEM) PLAIN("memrealtime", sMemTime, CSMEM)

                                            PLAIN("load_dword", sLoad<1>, CSMEM) PLAIN("load_dwordx2", sLoad<2>, CSMEM)
                                                PLAIN("load_dwordx4", sLoad<4>,
                                                      CSMEM) PLAIN("load_dwordx8", sLoad<8>,
                                                                   CSMEM) PLAIN("load_dwordx16", sLoad<16>, CSMEM)
                                                    PLAIN("buffer_load_dword", sBufferLoad<1>,
                                                          CSMEM) PLAIN("buffer_load_dwordx2", sBufferLoad<2>, CSMEM)
                                                        PLAIN("buffer_load_dwordx4", sBufferLoad<4>, CSMEM)
                                                            PLAIN("buffer_load_dwordx8", sBufferLoad<8>, CSMEM)
                                                                PLAIN("buffer_load_dwordx16", sBufferLoad<16>, CSMEM)
                                                                    PLAIN("store_dword", sStore<1>, CSMEM)
                                                                        PLAIN("store_dwordx2", sStore<2>, CSMEM)
                                                                            PLAIN("store_dwordx4", sStore<4>, CSMEM)};

} // namespace

OpTable getScalarOps() { return {rows, sizeof(rows) / sizeof(rows[0])}; }

const Inst *handleUnknown(Wave &w, const Inst *in) { return fail(w, in, FaultUnknownInst); }
const Inst *handleBadJump(Wave &w, const Inst *in) { return fail(w, in, FaultBadJump); }
const Inst *handleEndOfCode(Wave &w, const Inst *in) { return fail(w, in, FaultEndOfCode); }
const Inst *handleBadMatrix(Wave &w, const Inst *in) { return fail(w, in, FaultUnsupported, in->matrix->complaint); }

} // namespace atrex::device::sim
