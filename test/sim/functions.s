// The functions of f32 give the same bits on every x86 level, which compute them in
// different ways: 16 million operands spread over all floats; all of them in long mode
// (functions_long.test).
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: env ATREX_SIM_ISA=base atrex-sim run %t.co --grid 64 --block 64 --arg out:65536:%t.base
// RUN: env ATREX_SIM_ISA=avx2 atrex-sim run %t.co --grid 64 --block 64 --arg out:65536:%t.avx2
// RUN: atrex-sim run %t.co --grid 64 --block 64 --arg out:65536:%t.best
// RUN: cmp %t.base %t.avx2
// RUN: cmp %t.base %t.best
.set ROW, 256
.ifndef STEPS
.set STEPS, 0x1000
.endif
.include "macros.inc"
begin
  // 1,024 bytes for each workgroup, 2^20 floats for each lane.
  s_lshl_b32 s9, s2, 10
  s_add_u32 s4, s4, s9
  s_addc_u32 s5, s5, 0
  s_lshl_b32 s9, s2, 26
  v_lshlrev_b32 v1, 20, v0
  v_add_u32 v1, s9, v1
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0
  v_mov_b32 v12, 0
  v_mov_b32 v13, 0
  s_mov_b32 s8, STEPS
.Lloop:
  v_exp_f32 v2, v1
  v_log_f32 v3, v1
  v_sin_f32 v4, v1
  v_cos_f32 v5, v1
  v_alignbit_b32 v10, v10, v10, 5
  v_alignbit_b32 v11, v11, v11, 5
  v_alignbit_b32 v12, v12, v12, 5
  v_alignbit_b32 v13, v13, v13, 5
  v_add_u32 v10, v10, v2
  v_add_u32 v11, v11, v3
  v_add_u32 v12, v12, v4
  v_add_u32 v13, v13, v5
  v_add_u32 v1, 0x100000 / STEPS, v1
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lloop
  emit v10
  emit v11
  emit v12
  emit v13
finish
