// Uses of what memory has not returned yet.
// RUN: %S/Inputs/cases.sh %s %t wait 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 > %t.log
// RUN: FileCheck %s < %t.log
// CHECK: case 1 gap 0: finding: wait: s8 is read before its load has returned: s_waitcnt lgkmcnt(0) is missing, by the scalar unit; wave 0 {{.*}}: s_add_u32 s8, s8, 4 [{{.*}}wait.s:{{[0-9]+}}]; the other {{.*}}: s_load_dwordx2 s[8:9], s[0:1], 0x0 [
// CHECK-NEXT: case 1 gap 1: clean
// CHECK: case 2 gap 0: finding: wait: v3 is read before its load has returned: s_waitcnt vmcnt(0) is missing, by lanes 0-63
// CHECK-NEXT: case 2 gap 1: clean
// CHECK: case 3 gap 0: finding: wait: v3 is read before its load has returned: s_waitcnt lgkmcnt(0) is missing
// CHECK-NEXT: case 3 gap 1: clean
// CHECK: case 4 gap 0: finding: wait: v2 is overwritten before its load has returned: s_waitcnt vmcnt(0) is missing
// CHECK-NEXT: case 4 gap 1: clean
// CHECK: case 5 gap 0: finding: wait: v2 is read before its load has returned: s_waitcnt vmcnt(1) is missing
// CHECK-NEXT: case 5 gap 1: clean
// CHECK: case 6 gap 0: finding: wait: s8 is read before its load has returned: s_waitcnt lgkmcnt(0) is missing
// CHECK-NEXT: case 6 gap 1: clean
// CHECK: case 7 gap 0: finding: wait: v2 is read before its load has returned: s_waitcnt vmcnt(0) is missing
// CHECK-NEXT: case 7 gap 1: clean
// CHECK: case 8 gap 0: finding: wait: v4 is read before its load has returned: s_waitcnt vmcnt(0) is missing
// CHECK-NEXT: case 8 gap 1: clean
// Without a register: global memory into LDS.
// CHECK: case 9 gap 0: finding: wait: {{[0-9]+}} bytes at offset 0 of LDS: LDS is accessed before the load into it has returned: s_waitcnt vmcnt(1) is missing, by lanes 0-63
// CHECK-NEXT: case 9 gap 1: clean
.set ROW, 256
.include "macros.inc"
begin
.if CASE == 1 // scalar load
  s_load_dwordx2 s[8:9], s[0:1], 0x0
.if GAP
  s_waitcnt lgkmcnt(0)
.endif
  s_add_u32 s8, s8, 4
.elseif CASE == 2 // vector load, one too many in flight
  global_load_dword v2, v255, s[4:5]
  global_load_dword v3, v255, s[4:5] offset:4
  s_waitcnt vmcnt(1)
  v_add_u32 v4, v2, v2
.if GAP
  s_waitcnt vmcnt(0)
.endif
  v_add_u32 v4, v3, v3
.elseif CASE == 3 // LDS
  ds_write_b32 v255, v0
  ds_read_b32 v2, v255
  ds_read_b32 v3, v255
  s_waitcnt lgkmcnt(1)
  v_add_u32 v4, v2, v2
.if GAP
  s_waitcnt lgkmcnt(0)
.endif
  v_add_u32 v4, v3, v3
.elseif CASE == 4 // destination overwritten
  global_load_dword v2, v255, s[4:5]
.if GAP
  s_waitcnt vmcnt(0)
.endif
  v_mov_b32 v2, 0
.elseif CASE == 5 // a store between counts
  global_load_dword v2, v255, s[4:5]
  global_store_dword v255, v0, s[4:5] offset:128
  s_waitcnt vmcnt(1)
  v_add_u32 v4, v2, v2
  global_load_dword v2, v255, s[4:5]
  global_store_dword v255, v0, s[4:5] offset:128
  s_waitcnt vmcnt(2-GAP)
  v_add_u32 v4, v2, v2
.elseif CASE == 6 // scalar memory has no order
  s_load_dword s8, s[4:5], 0x0
  s_load_dword s9, s[4:5], 0x4
  s_waitcnt lgkmcnt(1-GAP)
  s_add_u32 s8, s8, 4
.elseif CASE == 7 // a barrier does not wait
  global_load_dword v2, v255, s[4:5]
  s_barrier
.if GAP
  s_waitcnt vmcnt(0)
.endif
  v_add_u32 v4, v2, v2
.elseif CASE == 8 // flat
  v_mov_b32 v2, s4
  v_mov_b32 v3, s5
  flat_load_dword v4, v[2:3]
  global_load_dword v5, v255, s[4:5]
  s_waitcnt vmcnt(1-GAP)
  v_add_u32 v6, v4, v4
.elseif CASE == 9 // no register: global memory to LDS
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v255, s[4:5]
  global_load_dword v5, v255, s[4:5]
.if GAP
  s_waitcnt vmcnt(1)
.endif
  ds_read_b32 v2, v255
.endif
  s_waitcnt vmcnt(0) lgkmcnt(0)
finish lds=1024
