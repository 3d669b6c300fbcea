// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --block 4 --arg out:816:%t.bin
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s
.set ROW, 16
.include "macros.inc"
begin
  v_mov_b32 v1, 0x3fc00000
  v_cmp_eq_u32 vcc, 1, v0
  v_mov_b32 v250, 0xc0100000
  v_cndmask_b32 v1, v1, v250, vcc
  v_cmp_eq_u32 vcc, 2, v0
  v_mov_b32 v250, 0x7f61b1e6
  v_cndmask_b32 v1, v1, v250, vcc
  v_cmp_eq_u32 vcc, 3, v0
  v_mov_b32 v250, 0x3dcccccd
  v_cndmask_b32 v1, v1, v250, vcc
  v_mov_b32 v2, 0x3f000000
  v_cmp_eq_u32 vcc, 1, v0
  v_mov_b32 v250, 0x40800000
  v_cndmask_b32 v2, v2, v250, vcc
  v_cmp_eq_u32 vcc, 2, v0
  v_mov_b32 v250, 0x7f61b1e6
  v_cndmask_b32 v2, v2, v250, vcc
  v_cmp_eq_u32 vcc, 3, v0
  v_mov_b32 v250, 0xbe99999a
  v_cndmask_b32 v2, v2, v250, vcc
  v_mov_b32 v3, 0xbf400000
  v_cmp_eq_u32 vcc, 1, v0
  v_mov_b32 v250, 0x41100000
  v_cndmask_b32 v3, v3, v250, vcc
  v_cmp_eq_u32 vcc, 2, v0
  v_mov_b32 v250, 0xbf800000
  v_cndmask_b32 v3, v3, v250, vcc
  v_cmp_eq_u32 vcc, 3, v0
  v_mov_b32 v250, 0x3cf5c28f
  v_cndmask_b32 v3, v3, v250, vcc
  v_add_f32 v4, v1, v2
  emit v4
// CHECK: 40000000 3fe00000 7f800000 be4cccce
  v_sub_f32 v4, v1, v2
  emit v4
// CHECK-NEXT: 3f800000 c0c80000 00000000 3ecccccd
  v_subrev_f32 v4, v1, v2
  emit v4
// CHECK-NEXT: bf800000 40c80000 00000000 becccccd
  v_mul_f32 v4, v1, v2
  emit v4
// CHECK-NEXT: 3f400000 c1100000 7f800000 bcf5c290
  v_fma_f32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000000 00000000 7f800000 b11eb852
  v_mov_b32 v4, v3
  v_fmac_f32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000000 00000000 7f800000 b11eb852
  v_fma_f32 v4, -v1, |v2|, v3
  emit v4
// CHECK-NEXT: bfc00000 41900000 ff800000 b11eb852
  v_fmaak_f32 v4, v1, v2, 0x40400000
  emit v4
// CHECK-NEXT: 40700000 c0c00000 7f800000 403e147b
  v_fmamk_f32 v4, v1, 0x40400000, v2
  emit v4
// CHECK-NEXT: 40a00000 c0300000 7f800000 b2000000
  v_add_f32 v4, v1, v2 clamp
  emit v4
// CHECK-NEXT: 3f800000 3f800000 3f800000 00000000
  v_max_f32 v4, v1, v2
  emit v4
// CHECK-NEXT: 3fc00000 40800000 7f61b1e6 3dcccccd
  v_min_f32 v4, v1, v2
  emit v4
// CHECK-NEXT: 3f000000 c0100000 7f61b1e6 be99999a
  v_med3_f32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 3f000000 40800000 7f61b1e6 3cf5c28f
  v_floor_f32 v4, v1
  emit v4
// CHECK-NEXT: 3f800000 c0400000 7f61b1e6 00000000
  v_ceil_f32 v4, v1
  emit v4
// CHECK-NEXT: 40000000 c0000000 7f61b1e6 3f800000
  v_trunc_f32 v4, v1
  emit v4
// CHECK-NEXT: 3f800000 c0000000 7f61b1e6 00000000
  v_rndne_f32 v4, v1
  emit v4
// CHECK-NEXT: 40000000 c0000000 7f61b1e6 00000000
  v_cvt_i32_f32 v4, v1
  emit v4
// CHECK-NEXT: 00000001 fffffffe 7fffffff 00000000
  v_cvt_u32_f32 v4, v1
  emit v4
// CHECK-NEXT: 00000001 00000000 ffffffff 00000000
  v_cvt_f32_i32 v4, v1
  emit v4
// CHECK-NEXT: 4e7f0000 ce7fc000 4efec364 4e773333
  v_cvt_f32_ubyte2 v4, v1
  emit v4
// CHECK-NEXT: 43400000 41800000 42c20000 434c0000
  v_cvt_f16_f32 v4, v1
  emit v4
// CHECK-NEXT: 00003e00 0000c080 00007c00 00002e66
  v_cvt_pkrtz_f16_f32 v4, v1, v2
  emit v4
// CHECK-NEXT: 38003e00 4400c080 7bff7bff b4cc2e66
  v_rcp_f32 v4, v2
  emit v4
// CHECK-NEXT: 40000000 3e800000 00000000 c0555555
  v_rcp_f32 v4, 0
  emit v4
// CHECK-NEXT: 7f800000 7f800000 7f800000 7f800000
  v_sqrt_f32 v4, v1
  emit v4
// CHECK-NEXT: 3f9cc471 7fc00000 5f705ece 3ea1e89b
  v_rsq_f32 v4, v2
  emit v4
// CHECK-NEXT: 3fb504f3 3f000000 1f8852af 7fc00000
  v_exp_f32 v4, v1
  emit v4
// CHECK-NEXT: 403504f3 3e5744fd 7f800000 3f892fdf
  v_log_f32 v4, v1
  emit v4
// CHECK-NEXT: 3f15c01a 7fc00000 42ffa2ef c0549a78
  v_log_f32 v4, 0
  emit v4
// CHECK-NEXT: ff800000 ff800000 ff800000 ff800000
  v_mov_b32 v6, 0x00400000
  v_rcp_f32 v4, v6
  emit v4
// CHECK-NEXT: 7f800000 7f800000 7f800000 7f800000
  v_exp_f32 v4, 0xc2fe0000
  emit v4
// CHECK-NEXT: 00000000 00000000 00000000 00000000
  v_sin_f32 v4, v2
  v_cos_f32 v5, v2
  emit v5
// CHECK-NEXT: bf800000 3f800000 3f800000 be9e377c
  v_ldexp_f32 v4, v1, 3
  emit v4
// CHECK-NEXT: 41400000 c1900000 7f800000 3f4ccccd
  v_frexp_mant_f32 v4, v1
  emit v4
// CHECK-NEXT: 3f400000 bf100000 3f61b1e6 3f4ccccd
  v_frexp_exp_i32_f32 v4, v1
  emit v4
// CHECK-NEXT: 00000001 00000002 00000080 fffffffd
  v_cmp_lt_f32 vcc, v1, v2
  emits vcc_lo
// CHECK-NEXT: 00000002 00000002 00000002 00000002
  v_cmp_nge_f32 s[10:11], v1, v2
  emits s10
// CHECK-NEXT: 00000002 00000002 00000002 00000002
  s_movk_i32 s12, 0x108
  v_cmp_class_f32 vcc, v1, s12
  emits vcc_lo
// CHECK-NEXT: 0000000f 0000000f 0000000f 0000000f
  v_mov_b32 v6, 0x7fa00001
  v_add_f32 v4, v6, v1
  emit v4
// CHECK-NEXT: 7fe00001 7fe00001 7fe00001 7fe00001
  v_mov_b32 v6, 0x7f800000
  v_sub_f32 v4, v6, v6
  emit v4
// CHECK-NEXT: 7fc00000 7fc00000 7fc00000 7fc00000
  v_max_f32 v4, v6, v6
  v_mov_b32 v7, 0x7fc00000
  v_max_f32 v4, v7, v1
  emit v4
// CHECK-NEXT: 3fc00000 c0100000 7f61b1e6 3dcccccd
  v_mov_b32 v6, 0x00000001
  v_add_f32 v4, v6, v6
  emit v4
// CHECK-NEXT: 00000002 00000002 00000002 00000002
  v_mov_b32 v6, v1
  v_mov_b32 v7, v2
  v_mov_b32 v8, v3
  v_mov_b32 v9, v1
  v_pk_fma_f32 v[10:11], v[6:7], v[8:9], v[6:7] op_sel_hi:[0,1,1]
  emit v10
// CHECK-NEXT: 3ec00000 c1b40000 00000000 3dd2f1aa
  emit v11
// CHECK-NEXT: 40300000 41110000 7f800000 be947ae2
  v_pk_add_f32 v[10:11], v[6:7], v[8:9] neg_lo:[0,1] neg_hi:[0,1]
  emit v10
// CHECK-NEXT: 40100000 c1340000 7f61b1e6 3d8f5c29
  emit v11
// CHECK-NEXT: bf800000 40c80000 00000000 becccccd
  v_pk_mul_f32 v[10:11], v[6:7], 2.0 op_sel_hi:[1,0]
  emit v10
// CHECK-NEXT: 40400000 c0900000 7f800000 3e4ccccd
  emit v11
// CHECK-NEXT: 3f800000 41000000 7f800000 bf19999a
  v_pk_mov_b32 v[10:11], v[6:7], v[8:9] op_sel:[1,0]
  emit v10
// CHECK-NEXT: 3f000000 40800000 7f61b1e6 be99999a
  emit v11
// CHECK-NEXT: bf400000 41100000 bf800000 3cf5c28f
finish
