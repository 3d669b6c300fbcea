// Accesses of LDS outside of what the workgroup has: every form of address.
// RUN: seq 1 1000 | head -c 1024 > %t.in
// RUN: %S/Inputs/lds_cases.sh %s %t gfx942 oob 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 > %t.log
// RUN: %S/Inputs/lds_cases.sh %s %t gfx950 all 20 21 >> %t.log
// RUN: FileCheck %s < %t.log
// The hardware reads zero and drops stores; nothing is said without the check.
// RUN: %S/Inputs/lds_cases.sh %s %t gfx942 wait 0 4 13 | FileCheck %s --check-prefix=OFF
// OFF: case 0 shift 0: clean
// OFF-NEXT: case 0 shift 4: clean
// OFF-NEXT: case 4 shift 0: clean
// OFF-NEXT: case 4 shift 4: clean
// OFF-NEXT: case 13 shift 0: clean
// OFF-NEXT: case 13 shift 4: clean
// Each case ends with the last byte of the 1020 (SHIFT 0), then runs over it.
.set ROW, 256
.include "macros.inc"
begin
  s_load_dwordx2 s[6:7], s[0:1], 0x8
  v_mov_b32 v1, 0
  v_mov_b32 v2, SHIFT
  v_mov_b32 v3, SHIFT
  v_mov_b32 v8, 0
  v_mov_b32 v9, 0
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0
  s_mov_b32 m0, SHIFT
  s_mov_b32 s8, SHIFT
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 0xc
.if CASE == 0
  ds_read_b32 v4, v2 offset:1016
.elseif CASE == 1
  ds_write_b8 v2, v8 offset:1019
.elseif CASE == 2
  ds_read_b128 v[4:7], v2 offset:1004
.elseif CASE == 3
  ds_write_b96 v2, v[8:10] offset:1008
.elseif CASE == 4
  ds_read2_b32 v[4:5], v2 offset0:1 offset1:254
.elseif CASE == 5
  v_add_u32 v2, 504, v2
  ds_write2st64_b32 v2, v8, v8 offset0:2 offset1:0
.elseif CASE == 6
  v_add_u32 v2, 500, v2
  ds_read2st64_b64 v[4:7], v2 offset0:0 offset1:1
.elseif CASE == 7
  ds_add_u32 v2, v8 offset:1016
.elseif CASE == 8
  ds_cmpst_rtn_b64 v[4:5], v2, v[8:9], v[10:11] offset:1012
.elseif CASE == 9
  v_add_u32 v2, 4, v2
  ds_wrxchg2_rtn_b32 v[4:5], v2, v8, v8 offset0:253 offset1:3
.elseif CASE == 10
  ds_append v4 offset:1016
.elseif CASE == 11
  ds_consume v4 offset:1016
.elseif CASE == 12
  ds_write_addtid_b32 v8 offset:1004
.elseif CASE == 13
  s_mov_b64 s[10:11], src_shared_base
  v_add_u32 v2, 1016, v2
  v_mov_b32 v3, s11
  flat_load_dword v4, v[2:3]
.elseif CASE == 14
  s_mov_b64 s[10:11], src_shared_base
  v_add_u32 v2, 1016, v2
  v_mov_b32 v3, s11
  flat_atomic_add v[2:3], v8
.elseif CASE == 15
  s_add_u32 m0, m0, 1004
  s_nop 0
  global_load_lds_dword v1, s[6:7]
.elseif CASE == 16
  s_mov_b32 s9, s7
  s_mov_b32 s8, s6
  s_mov_b32 s10, 64
  s_mov_b32 s11, 0x20000
  buffer_load_dword v1, s[8:11], 0 offen offset:1004 lds
.elseif CASE == 17
  // Sums wrap around: below zero, and above it again.
  v_add_u32 v2, -8, v2
  ds_read_b32 v4, v2 offset:1024
.elseif CASE == 20
  s_mov_b64 exec, -1
  v_lshlrev_b32 v4, 3, v0
  v_add_u32 v5, v4, v2
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  ds_write_b64 v4, v[6:7]
  ds_write_b64 v4, v[6:7] offset:508
  s_waitcnt lgkmcnt(0)
  ds_read_b64_tr_b16 v[4:5], v5 offset:508
.elseif CASE == 21
  s_add_u32 m0, m0, 956
  s_nop 0
  global_load_lds_dwordx4 v1, s[6:7]
.endif
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
.Lend:
.size test, .Lend-test
.rodata
.p2align 6
.amdhsa_kernel test
  .amdhsa_next_free_vgpr 512
  .amdhsa_next_free_sgpr 96
  .amdhsa_accum_offset 256
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 1020
.end_amdhsa_kernel

// CHECK: case 0 shift 0: clean
// CHECK-NEXT: case 0 shift 4: 4 bytes at offset 1020 of LDS: load outside of the 1020 bytes of LDS that the workgroup has, by lanes 2-3; wave 0 of workgroup (0, 0, 0), instruction at {{.*}}: ds_read_b32 v4, v2 offset:1016 [{{.*}}oob_lds.s:31]
// CHECK-NEXT: case 1 shift 0: clean
// CHECK-NEXT: case 1 shift 4: 1 bytes at offset 1023 of LDS: store outside
// CHECK-NEXT: case 2 shift 0: clean
// CHECK-NEXT: case 2 shift 4: 16 bytes at offset 1008 of LDS: load outside
// CHECK-NEXT: case 3 shift 0: clean
// CHECK-NEXT: case 3 shift 4: 12 bytes at offset 1012 of LDS: store outside
// CHECK-NEXT: case 4 shift 0: clean
// CHECK-NEXT: case 4 shift 4: 4 bytes at offset 1020 of LDS: load outside
// CHECK-NEXT: case 5 shift 0: clean
// CHECK-NEXT: case 5 shift 4: 4 bytes at offset 1020 of LDS: store outside
// CHECK-NEXT: case 6 shift 0: clean
// CHECK-NEXT: case 6 shift 4: 8 bytes at offset 1016 of LDS: load outside
// CHECK-NEXT: case 7 shift 0: clean
// CHECK-NEXT: case 7 shift 4: 4 bytes at offset 1020 of LDS: atomic access outside
// CHECK-NEXT: case 8 shift 0: clean
// CHECK-NEXT: case 8 shift 4: 8 bytes at offset 1016 of LDS: atomic access outside
// CHECK-NEXT: case 9 shift 0: clean
// CHECK-NEXT: case 9 shift 4: 4 bytes at offset 1020 of LDS: atomic access outside
// CHECK-NEXT: case 10 shift 0: clean
// CHECK-NEXT: case 10 shift 4: 4 bytes at offset 1020 of LDS: atomic access outside {{.*}} by lane 2;
// CHECK-NEXT: case 11 shift 0: clean
// CHECK-NEXT: case 11 shift 4: 4 bytes at offset 1020 of LDS: atomic access outside {{.*}} by lane 2;
// CHECK-NEXT: case 12 shift 0: clean
// CHECK-NEXT: case 12 shift 4: 4 bytes at offset 1020 of LDS: store outside {{.*}} by lane 3;
// CHECK-NEXT: case 13 shift 0: clean
// CHECK-NEXT: case 13 shift 4: 4 bytes at offset 1020 of LDS: load outside {{.*}}: flat_load_dword
// CHECK-NEXT: case 14 shift 0: clean
// CHECK-NEXT: case 14 shift 4: 4 bytes at offset 1020 of LDS: atomic access outside {{.*}}: flat_atomic_add
// CHECK-NEXT: case 15 shift 0: clean
// CHECK-NEXT: case 15 shift 4: 4 bytes at offset 1020 of LDS: store outside {{.*}} by lane 3; {{.*}}: global_load_lds_dword
// CHECK-NEXT: case 16 shift 0: clean
// CHECK-NEXT: case 16 shift 4: 4 bytes at offset 1020 of LDS: store outside {{.*}} by lane 3; {{.*}}: buffer_load_dword {{.*}} lds
// CHECK-NEXT: case 17 shift 0: clean
// CHECK-NEXT: case 17 shift 4: 4 bytes at offset 1020 of LDS: load outside
// CHECK-NEXT: case 20 shift 0: clean
// CHECK-NEXT: case 20 shift 4: 8 bytes at offset 1016 of LDS: load outside {{.*}} by lane 63; {{.*}}: ds_read_b64_tr_b16
// CHECK-NEXT: case 21 shift 0: clean
// CHECK-NEXT: case 21 shift 4: 16 bytes at offset 1008 of LDS: store outside {{.*}} by lane 3; {{.*}}
