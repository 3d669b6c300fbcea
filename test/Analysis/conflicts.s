// Bank conflicts from the addresses of the lanes.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-compile %t.co --report=json | FileCheck %s
// RUN: atrex-compile %t.co --remarks | FileCheck %s --check-prefix=REMARK
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx950 -g -filetype=obj -I %S/Inputs %s -o %t950.o
// RUN: ld.lld -shared %t950.o -o %t950.co
// RUN: atrex-compile %t950.co --report=json | FileCheck %s --check-prefix=GFX950
.include "kernel.macros"
begin
  // Stride of 128 bytes: all 32 lanes of a phase in one bank of gfx942, two banks
  // of the 64 of gfx950.
  v_lshlrev_b32 v2, 7, v0
  s_mov_b32 s9, 10
.Lcolumns:
  ds_read_b32 v4, v2
  s_waitcnt lgkmcnt(0)
  v_add_f32 v5, v5, v4
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lcolumns
// REMARK: conflicts.s:[[#@LINE-6]]: remark: bank conflicts cost 62 cycles of the LDS for each wave and trip of the loop, in 1 ds_read_b32 [lds-conflict]
// REMARK-NOT: lds-conflict

  // Rows, and a buffer that changes sides on every trip.
  v_mov_b32 v3, v1
  s_mov_b32 s9, 10
.Lrows:
  ds_read_b32 v4, v3
  v_xor_b32 v3, 0x1000, v3
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lrows

  // Free on the first trip, 8-fold on the second.
  v_mov_b32 v3, v1
  v_lshlrev_b32 v2, 5, v0
  s_mov_b32 s9, 10
.Lalternate:
  ds_read_b32 v4, v3
  v_mov_b32 v6, v3
  v_mov_b32 v3, v2
  v_mov_b32 v2, v6
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lalternate

  // Addresses from memory.
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(0)
  s_mov_b32 s9, 10
.Lgather:
  ds_read_b32 v4, v3
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lgather
// REMARK: conflicts.s:{{[0-9]+}}: remark: bank conflicts cost 14 cycles
// REMARK: conflicts.s:[[#@LINE-5]]: remark: bank conflicts of 1 LDS instruction in a loop are not known

  // An offset that a launch decides: the same for all lanes.
  v_mov_b32 v3, s8
  v_lshl_add_u32 v3, v0, 4, v3
  s_mov_b32 s9, 10
.Luniform:
  ds_read_b128 v[8:11], v3
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Luniform

  // Lanes that are off cost nothing.
  v_lshlrev_b32 v2, 7, v0
  s_mov_b64 exec, 0x3
  s_mov_b32 s9, 10
.Lpair:
  ds_read_b32 v4, v2
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lpair
finish lds=16384
// CHECK: "loops": [
// CHECK: "lds_assumed": false,
// CHECK: "lds_conflict_cycles": 62,
// CHECK: "lds_cycles": 2,
// CHECK: "trip_count": 10,
// CHECK: "lds_assumed": false,
// CHECK: "lds_conflict_cycles": 0,
// CHECK: "lds_conflict_cycles": 14,
// CHECK: "lds_conflict_cycles": null,
// CHECK: "lds_unknown": 1,
// CHECK: "lds_assumed": true,
// CHECK: "lds_conflict_cycles": 0,
// CHECK: "lds_cycles": 8,
// CHECK: "lds_conflict_cycles": 1,
// GFX950: "lds_conflict_cycles": 31,
