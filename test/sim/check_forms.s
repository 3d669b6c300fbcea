// Typed buffers and LDS addressed by M0 under uninit and race. SHIFT 4 plants the
// defect.
// RUN: seq 1 1000 | head -c 1024 > %t.in
// RUN: env BLOCK=128 %S/Inputs/lds_cases.sh %s %t gfx942 all 0 1 2 3 4 5 | FileCheck %s
.set ROW, 512
.include "macros.inc"
begin
  s_load_dwordx4 s[8:11], s[0:1], 0x8
  v_mov_b32 v1, 0
  v_mov_b32 v2, SHIFT
  v_and_b32 v3, 127 - 16 * SHIFT, v0
  v_lshlrev_b32 v3, 2, v3
  v_readfirstlane_b32 s7, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s12, s10
  s_mov_b32 s13, s11
  s_mov_b32 s14, 4096
  // Components in order, two floats of 32 bits.
  s_mov_b32 s15, 0x5ffac
.if CASE < 2
  s_cmp_lg_u32 s7, 0
  s_cbranch_scc1 .Lout
  v_mov_b32 v4, 1.0
  v_mov_b32 v5, 1.0
.if CASE == 0
  global_store_dword v1, v4, s[10:11]
  s_waitcnt vmcnt(0)
  tbuffer_load_format_x v4, v2, s[12:15], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] offen
.else
  global_store_dwordx2 v1, v[4:5], s[10:11]
  s_waitcnt vmcnt(0)
  buffer_load_format_xy v[4:5], v2, s[12:15], 0 offen
.endif
.elseif CASE == 2
  tbuffer_store_format_x v0, v3, s[12:15], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT] offen
.elseif CASE == 3
  tbuffer_store_format_d16_x v0, v3, s[12:15], 0 format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_UINT] offen
.elseif CASE == 4
  s_lshl_b32 s7, s7, 2 - SHIFT / 2
  s_and_b32 s7, s7, 256
  s_mov_b32 m0, s7
  s_nop 0
  ds_write_addtid_b32 v0
.else
  s_cmp_lg_u32 s7, 0
  s_cbranch_scc1 .Lout
  s_mov_b32 m0, 0
  s_nop 0
  ds_write_addtid_b32 v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, SHIFT
  s_nop 0
  ds_read_addtid_b32 v4
.endif
  s_waitcnt vmcnt(0) lgkmcnt(0)
.Lout:
finish lds=1024

// CHECK: case 0 shift 0: clean
// CHECK-NEXT: case 0 shift 4: read of 4 bytes at {{.*}} (offset 4 of 'argument 2' {{.*}} that nothing has written, by lanes 0-63; {{.*}}: tbuffer_load_format_x
// CHECK-NEXT: case 1 shift 0: clean
// CHECK-NEXT: case 1 shift 4: read of 8 bytes at {{.*}} (offset 4 of 'argument 2' {{.*}} that nothing has written, by lanes 0-63; {{.*}}: buffer_load_format_xy
// CHECK-NEXT: case 2 shift 0: clean
// CHECK-NEXT: case 2 shift 4: 4 bytes at {{.*}}: write of what wave 0 of the workgroup writes in parallel: {{.*}}: tbuffer_store_format_x
// CHECK-NEXT: case 3 shift 0: clean
// CHECK-NEXT: case 3 shift 4: {{.*}}: write of what wave 0 of the workgroup writes in parallel: {{.*}}: tbuffer_store_format_d16_x
// CHECK-NEXT: case 4 shift 0: clean
// CHECK-NEXT: case 4 shift 4: 4 bytes at offset 0 of LDS: write of what wave 0 of the workgroup writes in parallel: {{.*}}: ds_write_addtid_b32
// CHECK-NEXT: case 5 shift 0: clean
// CHECK-NEXT: case 5 shift 4: read of 4 bytes at offset 256 of LDS that nothing has written, by lane 63; {{.*}}: ds_read_addtid_b32
