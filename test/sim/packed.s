// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// Packed, half, fp8 (FNUZ) and dot-product instructions.
// RUN: atrex-sim run %t.co --block 1 --arg out:4096:%t.bin
// RUN: od -An -tx4 -v -w4 %t.bin | FileCheck %s
.set ROW, 4
.include "macros.inc"
begin
  v_mov_b32 v1, 0x40003c00 // 1.0, 2.0
  v_mov_b32 v2, 0x44004200 // 3.0, 4.0
  v_pk_add_f16 v3, v1, v2
  emit v3
// CHECK: 46004400
  v_pk_mul_f16 v3, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]
  emit v3
// CHECK-NEXT: 44004600
  v_pk_fma_f16 v3, v1, v2, v1 neg_lo:[0,0,1]
  emit v3
// CHECK-NEXT: 49004000
  v_pk_max_f16 v3, v1, 1.0 op_sel_hi:[1,0]
  emit v3
// CHECK-NEXT: 40003c00
  v_pk_add_u16 v3, v1, v2
  emit v3
// CHECK-NEXT: 84007e00
  v_pk_add_i16 v3, v1, v2 clamp
  emit v3
// CHECK-NEXT: 7fff7e00
  v_pk_lshlrev_b16 v3, 4, v1 op_sel_hi:[0,1]
  emit v3
// CHECK-NEXT: 0000c000
  v_add_f16 v3, v1, v2
  emit v3
// CHECK-NEXT: 00004400
  v_mov_b32 v3, -1
  v_fma_f16 v3, v1, v2, v1 op_sel:[1,0,0,1]
  emit v3
// CHECK-NEXT: 4700ffff
  v_fma_mix_f32 v3, v1, v2, 1.0 op_sel:[1,1,0] op_sel_hi:[1,1,0]
  emit v3
// CHECK-NEXT: 41100000
  v_mov_b32 v3, 0
  v_fma_mixhi_f16 v3, v1, v2, 1.0 op_sel_hi:[1,1,0]
  emit v3
// CHECK-NEXT: 44000000
  v_mov_b32 v4, 1.0
  v_dot2_f32_f16 v3, v1, v2, v4
  emit v3
// CHECK-NEXT: 41400000
  v_mov_b32 v5, 0x01fe0304
  v_dot4_i32_i8 v3, v5, v5, 10
  emit v3
// CHECK-NEXT: 00000028
  v_cvt_f32_f16 v3, v2
  emit v3
// CHECK-NEXT: 40400000
  v_pack_b32_f16 v3, v1, v2 op_sel:[1,1]
  emit v3
// CHECK-NEXT: 44004000
  // fp8: 1.0 is 0x40 in FNUZ.
  v_mov_b32 v6, 2.0
  v_mov_b32 v3, 0
  v_cvt_pk_fp8_f32 v3, v4, v6
  emit v3
// CHECK-NEXT: 00004840
  v_cvt_pk_bf8_f32 v3, v4, v6 op_sel:[0,0,1]
  emit v3
// CHECK-NEXT: 44404840
  v_cvt_f32_fp8 v7, v3
  emit v7
// CHECK-NEXT: 3f800000
  v_cvt_f32_fp8_sdwa v7, v3 src0_sel:BYTE_1
  emit v7
// CHECK-NEXT: 40000000
  v_cvt_pk_f32_bf8_sdwa v[8:9], v3 src0_sel:WORD_1
  emit v9
// CHECK-NEXT: 40000000
  v_mov_b32 v6, 0x43800000 // 256 overflows
  v_cvt_pk_fp8_f32 v3, v6, -v4
  emit v3
// CHECK-NEXT: 4440c080
  v_mov_b32 v3, 0x7bff
  v_cvt_f16_f32 v3, 0x387fc000
  emit v3
// CHECK-NEXT: 000003ff
  v_rcp_f16 v3, v2
  emit v3
// CHECK-NEXT: 00003555
  v_cmp_gt_f16 vcc, v2, v1
  emits vcc_lo
// CHECK-NEXT: 00000001
  // f64.
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0x3ff80000 // 1.5
  v_fma_f64 v[12:13], v[10:11], v[10:11], 1.0
  emit v13
// CHECK-NEXT: 400a0000
  v_add_f64 v[12:13], -v[10:11], 4.0
  emit v13
// CHECK-NEXT: 40040000
  v_cvt_f32_f64 v3, v[12:13]
  emit v3
// CHECK-NEXT: 40200000
  v_sqrt_f64 v[12:13], 4.0
  emit v13
// CHECK-NEXT: 40000000
  v_ldexp_f64 v[12:13], v[10:11], 4
  emit v13
// CHECK-NEXT: 40380000
finish
