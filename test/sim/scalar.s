// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --block 1 --arg out:412:%t.bin
// RUN: od -An -tx4 -v -w4 %t.bin | FileCheck %s
.set ROW, 4
.include "macros.inc"
begin
  s_mov_b32 s10, 0x80000001
  s_mov_b32 s11, 0x7fffffff
  s_mov_b32 s12, 0xfffffff0
  s_mov_b32 s13, 5
  s_add_u32 s20, s10, s11
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK: 00000000
  emits s90
// CHECK-NEXT: 00000001
  s_add_i32 s20, s11, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 80000004
  emits s90
// CHECK-NEXT: 00000001
  s_sub_u32 s20, s13, s12
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000015
  emits s90
// CHECK-NEXT: 00000001
  s_sub_i32 s20, s10, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 7ffffffc
  emits s90
// CHECK-NEXT: 00000001
  s_add_u32 s20, s10, s10
  s_addc_u32 s20, s13, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 0000000b
  emits s90
// CHECK-NEXT: 00000000
  s_sub_u32 s20, s13, s12
  s_subb_u32 s20, s13, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: ffffffff
  emits s90
// CHECK-NEXT: 00000001
  s_min_i32 s20, s10, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 80000001
  emits s90
// CHECK-NEXT: 00000001
  s_max_u32 s20, s10, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 80000001
  emits s90
// CHECK-NEXT: 00000001
  s_mul_i32 s20, s10, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 80000005
  s_mul_hi_u32 s20, s12, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000004
  s_mul_hi_i32 s20, s12, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: ffffffff
  s_and_b32 s20, s10, s11
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000001
  emits s90
// CHECK-NEXT: 00000001
  s_andn2_b32 s20, s11, s11
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000000
  emits s90
// CHECK-NEXT: 00000000
  s_nor_b32 s20, s10, s11
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000000
  emits s90
// CHECK-NEXT: 00000000
  s_xnor_b32 s20, s10, s11
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000001
  emits s90
// CHECK-NEXT: 00000001
  s_lshl_b32 s20, s13, 30
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 40000000
  emits s90
// CHECK-NEXT: 00000001
  s_ashr_i32 s20, s10, 4
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: f8000000
  emits s90
// CHECK-NEXT: 00000001
  s_lshr_b64 s[20:21], s[10:11], 20
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: fffff800
  emits s90
// CHECK-NEXT: 00000001
  s_ashr_i64 s[20:21], s[12:13], 33
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000002
  emits s90
// CHECK-NEXT: 00000001
  s_lshl_b64 s[20:21], s[12:13], 4
  s_cselect_b32 s90, 1, 0
  emits s21
// CHECK-NEXT: 0000005f
  emits s90
// CHECK-NEXT: 00000001
  s_bfe_u32 s20, s10, 0x1001c
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000000
  emits s90
// CHECK-NEXT: 00000000
  s_bfe_i32 s20, s12, 0x80000
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: fffffff0
  emits s90
// CHECK-NEXT: 00000001
  s_bfe_u64 s[20:21], s[12:13], 0x60001e
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000017
  emits s90
// CHECK-NEXT: 00000001
  s_bfm_b32 s20, 5, 3
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 000000f8
  s_brev_b32 s20, s10
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 80000001
  s_bcnt1_i32_b64 s20, s[10:11]
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000021
  emits s90
// CHECK-NEXT: 00000001
  s_ff1_i32_b32 s20, s12
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000004
  s_ff1_i32_b64 s20, s[12:13]
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000004
  s_flbit_i32_b32 s20, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 0000001d
  s_flbit_i32 s20, s12
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 0000001c
  s_sext_i32_i8 s20, s12
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: fffffff0
  s_abs_i32 s20, s12
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000010
  emits s90
// CHECK-NEXT: 00000001
  s_absdiff_i32 s20, s12, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000015
  emits s90
// CHECK-NEXT: 00000001
  s_not_b64 s[20:21], s[12:13]
  s_cselect_b32 s90, 1, 0
  emits s21
// CHECK-NEXT: fffffffa
  emits s90
// CHECK-NEXT: 00000001
  s_wqm_b64 s[20:21], s[12:13]
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: fffffff0
  emits s90
// CHECK-NEXT: 00000001
  s_quadmask_b32 s20, s12
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 000000fe
  emits s90
// CHECK-NEXT: 00000001
  s_cmp_lt_i32 s10, s13
  s_cselect_b32 s90, 1, 0
  emits s10
// CHECK-NEXT: 80000001
  emits s90
// CHECK-NEXT: 00000001
  s_cmp_lt_u32 s10, s13
  s_cselect_b32 s90, 1, 0
  emits s10
// CHECK-NEXT: 80000001
  emits s90
// CHECK-NEXT: 00000000
  s_cmp_eq_u64 s[10:11], s[12:13]
  s_cselect_b32 s90, 1, 0
  emits s10
// CHECK-NEXT: 80000001
  emits s90
// CHECK-NEXT: 00000000
  s_bitcmp1_b32 s10, 31
  s_cselect_b32 s90, 1, 0
  emits s10
// CHECK-NEXT: 80000001
  emits s90
// CHECK-NEXT: 00000001
  s_cmpk_eq_i32 s12, -16
  s_cselect_b32 s90, 1, 0
  emits s12
// CHECK-NEXT: fffffff0
  emits s90
// CHECK-NEXT: 00000001
  s_cmpk_gt_u32 s12, 0x7fff
  s_cselect_b32 s90, 1, 0
  emits s12
// CHECK-NEXT: fffffff0
  emits s90
// CHECK-NEXT: 00000001
  s_movk_i32 s20, -7
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: fffffff9
  s_mov_b32 s20, s13
  s_addk_i32 s20, -6
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: ffffffff
  emits s90
// CHECK-NEXT: 00000000
  s_mov_b32 s20, s13
  s_mulk_i32 s20, -6
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: ffffffe2
  s_cmp_eq_u32 s10, s10
  s_cselect_b64 s[20:21], s[10:11], s[12:13]
  s_cselect_b32 s90, 1, 0
  emits s21
// CHECK-NEXT: 7fffffff
  s_cmp_lg_u32 s10, s10
  s_cmov_b32 s20, 9
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 80000001
  s_lshl2_add_u32 s20, s13, s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000019
  emits s90
// CHECK-NEXT: 00000000
  s_pack_lh_b32_b16 s20, s13, s12
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: ffff0005
  s_pack_hh_b32_b16 s20, s12, s11
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 7fffffff
  s_bitset1_b32 s20, 3
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 7fffffff
  s_bitreplicate_b64_b32 s[20:21], s13
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000033
  s_mov_b64 s[20:21], 0xfffffff1
  s_cselect_b32 s90, 1, 0
  emits s21
// CHECK-NEXT: 00000000
  s_ashr_i64 s[20:21], 0xfffffff1, 0
  s_cselect_b32 s90, 1, 0
  emits s21
// CHECK-NEXT: ffffffff
  s_mov_b64 s[20:21], -2
  s_cselect_b32 s90, 1, 0
  emits s21
// CHECK-NEXT: ffffffff
  s_mov_b64 s[20:21], 1.0
  s_cselect_b32 s90, 1, 0
  emits s21
// CHECK-NEXT: 3ff00000
  s_mov_b32 s20, 0.15915494
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 3e22f983
  s_getreg_b32 s20, hwreg(HW_REG_MODE, 4, 4)
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 0000000f
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
  s_getreg_b32 s20, hwreg(HW_REG_MODE, 4, 4)
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 0000000c
  v_mov_b32 v4, 1
  v_add_f32 v4, v4, v4
  emit v4
// CHECK-NEXT: 00000000
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  s_mov_b64 s[22:23], exec
  s_mov_b64 s[20:21], 6
  s_and_saveexec_b64 s[24:25], s[20:21]
  s_mov_b64 s[26:27], exec
  s_mov_b64 exec, s[22:23]
  s_cselect_b32 s90, 1, 0
  emits s26
// CHECK-NEXT: 00000000
  emits s90
// CHECK-NEXT: 00000000
  s_mov_b64 s[20:21], 6
  s_or_saveexec_b64 s[24:25], s[20:21]
  s_mov_b32 s26, exec_lo
  s_mov_b64 exec, s[22:23]
  s_cselect_b32 s90, 1, 0
  emits s26
// CHECK-NEXT: 00000007
  emits s90
// CHECK-NEXT: 00000001
  s_mov_b32 s20, s24
  s_cselect_b32 s90, 1, 0
  emits s20
// CHECK-NEXT: 00000001
  s_mov_b32 s30, 0
  s_mov_b32 s31, 0
  .Lloop:
  s_add_u32 s31, s31, s30
  s_add_u32 s30, s30, 1
  s_cmp_lt_u32 s30, 10
  s_cbranch_scc1 .Lloop
  emits s31
// CHECK-NEXT: 0000002d
  s_getpc_b64 s[30:31]
  .Lbase:
  s_add_u32 s30, s30, .Lfn-.Lbase
  s_addc_u32 s31, s31, 0
  s_mov_b32 s40, 3
  s_swappc_b64 s[34:35], s[30:31]
  emits s40
// CHECK-NEXT: 0000000a
  s_branch .Lafter
  .Lfn:
  s_add_u32 s40, s40, 7
  s_setpc_b64 s[34:35]
  .Lafter:
  s_call_b64 s[34:35], .Lfn2
  s_branch .Lafter2
  .Lfn2:
  s_mul_i32 s40, s40, s40
  s_setpc_b64 s[34:35]
  .Lafter2:
  emits s40
// CHECK-NEXT: 00000064
  s_mov_b64 vcc, 0
  s_mov_b32 s40, 1
  s_cbranch_vccz .Lv
  s_mov_b32 s40, 2
  .Lv:
  s_mov_b64 exec, 0
  s_cbranch_execz .Le
  s_mov_b32 s40, 3
  .Le:
  s_mov_b64 exec, 1
  emits s40
// CHECK-NEXT: 00000001
finish
