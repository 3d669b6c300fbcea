// Accesses that nothing orders, and their ordered forms.
// RUN: env BLOCK=128 %S/Inputs/cases.sh %s %t race 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 12:1 > %t.log
// RUN: env BLOCK=128 GRID=2 %S/Inputs/cases.sh %s %t race 10:1 11:1 >> %t.log
// RUN: FileCheck %s < %t.log
// CHECK: case 1 gap 0: finding: race: 4 bytes at offset 256 of LDS: write of what wave 0 of the workgroup reads in parallel: no barrier behind a wait for the first access stands between them, by lanes 0-63; wave 1 of workgroup (0, 0, 0), instruction {{.*}}: ds_write_b32 v1, v0 [{{.*}}race.s:{{[0-9]+}}]; the other {{.*}}: ds_read_b32 v4, v2 [
// CHECK-NEXT: case 1 gap 1: clean
// CHECK: case 2 gap 0: finding: race: {{.*}}read of what wave 0 of the workgroup writes in parallel
// CHECK-NEXT: case 2 gap 1: clean
// CHECK: case 3 gap 0: finding: race: {{.*}}write of what wave 0 of the workgroup writes in parallel
// CHECK-NEXT: case 3 gap 1: clean
// CHECK: case 4 gap 0: finding: race: {{.*}}read of what wave 1 of the workgroup writes in parallel: no barrier behind a wait
// CHECK-NEXT: case 4 gap 1: clean
// CHECK: case 5 gap 0: finding: race: 4 bytes at offset 0 of LDS: lanes of one store write different values to the same place, by lanes 0-1;
// CHECK-NEXT: case 5 gap 1: clean
// CHECK: case 6 gap 0: finding: race: 4 bytes at {{.*}} (offset 0 of 'argument 0' {{.*}}): lanes of one store write different values to the same place, by lanes 0-1;
// CHECK-NEXT: case 6 gap 1: clean
// CHECK: case 7 gap 0: finding: race: 4 bytes at {{.*}} of 'argument 0' {{.*}}: {{read|write}} of what wave {{[01]}} of the workgroup {{writes|reads}} in parallel
// CHECK-NEXT: case 7 gap 1: clean
// CHECK: case 8 gap 0: finding: race: 4 bytes at offset 128 of LDS: write of what wave 0 of the workgroup writes
// CHECK-NEXT: case 8 gap 1: clean
// CHECK: case 9 gap 0: finding: race: 4 bytes at offset {{.*}} of LDS: read of what wave 1 of the workgroup writes
// CHECK-NEXT: case 9 gap 1: clean
// CHECK: case 12 gap 0: finding: race: {{.*}}read of what wave 0 of the workgroup writes in parallel
// CHECK-NEXT: case 12 gap 1: clean
// CHECK: case 10 gap 0: finding: race: {{.*}}write of what wave 0 of workgroup #0 writes in parallel: no atomic orders the two workgroups
// CHECK-NEXT: case 10 gap 1: clean
// CHECK: case 11 gap 0: finding: race: {{.*}}read of what wave {{[01]}} of workgroup #0 writes in parallel: no atomic orders
// CHECK-NEXT: case 11 gap 1: clean
.set ROW, 256
.include "macros.inc"
begin
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1 // the same lane of the other wave
  v_mov_b32 v3, 0x4000
.if CASE == 1 // LDS, read behind a write
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
.if GAP
  s_barrier
.endif
  ds_read_b32 v4, v2
.elseif CASE == 2 // LDS, write behind a read
  ds_read_b32 v4, v2
  s_waitcnt lgkmcnt(0)
.if GAP
  s_barrier
.endif
  ds_write_b32 v1, v0
.elseif CASE == 3 // LDS, write behind a write
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
.if GAP
  s_barrier
.endif
  ds_write_b32 v2, v0
.elseif CASE == 4 // the barrier does not wait for the write
  ds_write_b32 v1, v0
.if GAP
  s_waitcnt lgkmcnt(0)
.endif
  s_barrier
  ds_read_b32 v4, v2
.elseif CASE == 5 // lanes of one store
  v_and_b32 v5, 0xfc, v1
.if !GAP
  v_and_b32 v5, 0xf8, v1
.endif
  s_mov_b32 exec_hi, 0
  v_and_b32 v6, 63, v0
  ds_write_b32 v5, v6
.elseif CASE == 6 // the same in memory
.if !GAP
  v_and_b32 v1, 0xfff8, v1
.endif
  global_store_dword v1, v0, s[4:5]
.elseif CASE == 7 // memory between waves of a workgroup
  global_store_dword v1, v0, s[4:5]
.if GAP // vector accesses of one CU are performed in order: no wait
  s_barrier
.endif
  global_load_dword v4, v2, s[4:5]
.elseif CASE == 8 // half of a dword each is no conflict
  v_lshlrev_b32 v1, 1, v0
  s_lshl_b32 s6, s2, 1
  v_add_u32 v1, s6, v1
.if GAP
  ds_write_b16 v1, v0
.else
  ds_write_b32 v1, v0
.endif
.elseif CASE == 9 // memory to LDS
  v_readfirstlane_b32 s6, v1
  s_mov_b32 m0, s6
  s_nop 0
  global_load_lds_dword v1, s[4:5]
.if GAP
  s_waitcnt vmcnt(0)
.endif
  s_barrier
  ds_read_b32 v4, v2
.elseif CASE == 10 // workgroups that write the same
  v_add_u32 v5, s2, v0
.if GAP
  v_mov_b32 v5, v0
.endif
  global_store_dword v1, v5, s[4:5]
.elseif CASE == 11 // workgroups that hand over through an atomic
  s_lshl_b32 s6, s2, 9
  v_add_u32 v5, s6, v1
  global_store_dword v5, v0, s[4:5] offset:1024
.if GAP
  s_waitcnt vmcnt(0)
  s_barrier
.endif
  v_mov_b32 v6, 0
  v_mov_b32 v7, 1
  global_atomic_add v8, v6, v7, s[4:5] sc0
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s7, v8 // only the last of four waves reads
  s_cmp_lt_u32 s7, 192
  s_cbranch_scc1 .Lout
  s_xor_b32 s6, s6, 0x200
  v_add_u32 v5, s6, v1
  global_load_dword v8, v5, s[4:5] offset:1024
.elseif CASE == 12 // waves that hand over through an atomic in LDS
  ds_write_b32 v1, v0
.if GAP
  s_waitcnt lgkmcnt(0)
.endif
  v_mov_b32 v6, 512
  v_mov_b32 v7, 1
  ds_add_rtn_u32 v8, v6, v7
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_u32 vcc, 64, v0 // only the second wave reads
  s_cbranch_vccnz .Lout
  ds_read_b32 v4, v2
.endif
.Lout:
  s_waitcnt vmcnt(0) lgkmcnt(0)
finish lds=1024
