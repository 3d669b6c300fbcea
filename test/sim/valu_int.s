// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --block 4 --arg out:1184:%t.bin
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s
.set ROW, 16
.include "macros.inc"
begin
  v_mov_b32 v1, 0x5
  v_cmp_eq_u32 vcc, 1, v0
  v_mov_b32 v250, 0x80000000
  v_cndmask_b32 v1, v1, v250, vcc
  v_cmp_eq_u32 vcc, 2, v0
  v_mov_b32 v250, 0xffffffff
  v_cndmask_b32 v1, v1, v250, vcc
  v_cmp_eq_u32 vcc, 3, v0
  v_mov_b32 v250, 0x12345678
  v_cndmask_b32 v1, v1, v250, vcc
  v_mov_b32 v2, 0x3
  v_cmp_eq_u32 vcc, 1, v0
  v_mov_b32 v250, 0x7fffffff
  v_cndmask_b32 v2, v2, v250, vcc
  v_cmp_eq_u32 vcc, 2, v0
  v_mov_b32 v250, 0x1
  v_cndmask_b32 v2, v2, v250, vcc
  v_cmp_eq_u32 vcc, 3, v0
  v_mov_b32 v250, 0x9abcdef0
  v_cndmask_b32 v2, v2, v250, vcc
  v_mov_b32 v3, 0x10
  v_cmp_eq_u32 vcc, 1, v0
  v_mov_b32 v250, 0x7
  v_cndmask_b32 v3, v3, v250, vcc
  v_cmp_eq_u32 vcc, 2, v0
  v_mov_b32 v250, 0xfffffff0
  v_cndmask_b32 v3, v3, v250, vcc
  v_cmp_eq_u32 vcc, 3, v0
  v_mov_b32 v250, 0xf0f0f0f
  v_cndmask_b32 v3, v3, v250, vcc
  v_add_u32 v4, v1, v2
  emit v4
// CHECK: 00000008 ffffffff 00000000 acf13568
  v_sub_u32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000002 00000001 fffffffe 77777788
  v_subrev_u32 v4, v1, v2
  emit v4
// CHECK-NEXT: fffffffe ffffffff 00000002 88888878
  v_and_b32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000001 00000000 00000001 12345670
  v_or_b32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000007 ffffffff ffffffff 9abcdef8
  v_xor_b32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000006 ffffffff fffffffe 88888888
  v_xnor_b32 v4, v1, v2
  emit v4
// CHECK-NEXT: fffffff9 00000000 00000001 77777777
  v_lshlrev_b32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000060 7fffffff 80000000 f0000000
  v_lshrrev_b32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000000 7fffffff 00000000 0000009a
  v_ashrrev_i32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000000 7fffffff 00000000 ffffff9a
  v_min_u32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000003 7fffffff 00000001 12345678
  v_max_u32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000005 80000000 ffffffff 9abcdef0
  v_min_i32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000003 80000000 ffffffff 9abcdef0
  v_max_i32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000005 7fffffff 00000001 12345678
  v_mul_lo_u32 v4, v1, v2
  emit v4
// CHECK-NEXT: 0000000f 80000000 ffffffff 242d2080
  v_mul_hi_u32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000000 3fffffff 00000000 0b00ea4e
  v_mul_hi_i32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000000 c0000000 ffffffff f8cc93d6
  v_mul_u32_u24 v4, v1, v2
  emit v4
// CHECK-NEXT: 0000000f 00000000 00ffffff 142d2080
  v_add_u16 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000008 0000ffff 00000000 00003568
  v_sub_u16 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000002 00000001 0000fffe 00007788
  v_mul_lo_u16 v4, v1, v2
  emit v4
// CHECK-NEXT: 0000000f 00000000 0000ffff 00002080
  v_lshlrev_b16 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000060 0000ffff 00008000 0000f000
  v_ashrrev_i16 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000000 0000ffff 00000000 0000ffde
  v_max_i16 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000005 00000000 00000001 00005678
  v_min_u16 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000003 00000000 00000001 00005678
  v_bfm_b32 v4, v1, v2
  emit v4
// CHECK-NEXT: 000000f8 00000000 fffffffe ffff0000
  v_bcnt_u32_b32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00000005 80000000 00000021 9abcdefd
  v_cvt_pk_u16_u32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00030005 ffffffff 0001ffff ffffffff
  v_cvt_pk_i16_i32 v4, v1, v2
  emit v4
// CHECK-NEXT: 00030005 7fff8000 0001ffff 80007fff
  v_add_u32 v4, v1, v2 clamp
  emit v4
// CHECK-NEXT: 00000008 ffffffff ffffffff acf13568
  v_sub_u32 v4, v1, v2 clamp
  emit v4
// CHECK-NEXT: 00000002 00000001 fffffffe 00000000
  v_add_i32 v4, v1, v2 clamp
  emit v4
// CHECK-NEXT: 00000008 ffffffff 00000000 acf13568
  v_sub_i32 v4, v1, v2 clamp
  emit v4
// CHECK-NEXT: 00000002 80000000 fffffffe 77777788
  v_add3_u32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000018 00000006 fffffff0 bc004477
  v_lshl_add_u32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000038 00000007 ffffffee 65870f0f
  v_add_lshl_u32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00080000 ffffff80 00000000 9ab40000
  v_lshl_or_b32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000038 00000007 fffffffe 5f7f0f0f
  v_and_or_b32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000011 00000007 fffffff1 1f3f5f7f
  v_or3_b32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000017 ffffffff ffffffff 9fbfdfff
  v_xad_u32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000016 00000006 ffffffee 97979797
  v_bfi_b32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000011 00000007 00000001 1f3f5f77
  v_bfe_u32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000000 00000001 0000ffff 00001234
  v_bfe_i32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000000 00000001 ffffffff 00001234
  v_alignbit_b32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00050000 00ffffff ffff0000 acf13579
  v_alignbyte_b32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000003 0000007f 00000001 3456789a
  v_perm_b32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 030303ff ffffff80 ffffffff ffffffff
  v_min3_i32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000003 80000000 fffffff0 9abcdef0
  v_max3_u32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000010 80000000 ffffffff 9abcdef0
  v_med3_i32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000005 00000007 ffffffff 0f0f0f0f
  v_med3_u32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000005 7fffffff fffffff0 12345678
  v_mad_u32_u24 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 0000001f 00000007 00ffffef 233c2f8f
  v_sad_u32 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000012 00000008 ffffffee 97979787
  v_mov_b32 v4, 0
  v_mad_u16 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 0000001f 00000007 0000ffef 00002f8f
  v_sad_u8 v4, v1, v2, v3
  emit v4
// CHECK-NEXT: 00000012 00000305 000003eb 0f0f111f
  v_not_b32 v4, v1
  emit v4
// CHECK-NEXT: fffffffa 7fffffff 00000000 edcba987
  v_bfrev_b32 v4, v1
  emit v4
// CHECK-NEXT: a0000000 00000001 ffffffff 1e6a2c48
  v_ffbh_u32 v4, v1
  emit v4
// CHECK-NEXT: 0000001d 00000000 00000000 00000003
  v_ffbl_b32 v4, v1
  emit v4
// CHECK-NEXT: 00000000 0000001f 00000000 00000003
  v_ffbh_i32 v4, v1
  emit v4
// CHECK-NEXT: 0000001d 00000001 ffffffff 00000003
  v_add_co_u32 v4, vcc, v1, v2
  emit v4
// CHECK-NEXT: 00000008 ffffffff 00000000 acf13568
  emits vcc_lo
// CHECK-NEXT: 00000004 00000004 00000004 00000004
  v_addc_co_u32 v5, vcc, v1, v2, vcc
  emit v5
// CHECK-NEXT: 00000008 ffffffff 00000001 acf13568
  v_sub_co_u32 v4, s[10:11], v1, v2
  emits s10
// CHECK-NEXT: 00000008 00000008 00000008 00000008
  v_subb_co_u32 v4, s[10:11], v1, v2, s[10:11]
  emit v4
// CHECK-NEXT: 00000002 00000001 fffffffe 77777787
  v_mov_b32 v6, v3
  v_mov_b32 v7, v1
  v_mad_u64_u32 v[8:9], s[10:11], v1, v2, v[6:7]
  emit v8
// CHECK-NEXT: 0000001f 80000007 ffffffef 333c2f8f
  emit v9
// CHECK-NEXT: 00000005 bfffffff 00000000 1d3540c6
  emits s10
// CHECK-NEXT: 00000004 00000004 00000004 00000004
  v_lshlrev_b64 v[8:9], 5, v[6:7]
  emit v9
// CHECK-NEXT: 000000a0 00000000 ffffffff 468acf01
  v_ashrrev_i64 v[8:9], 36, v[6:7]
  emit v8
// CHECK-NEXT: 00000000 f8000000 ffffffff 01234567
  emit v9
// CHECK-NEXT: 00000000 ffffffff ffffffff 00000000
  v_lshl_add_u64 v[8:9], v[6:7], 3, v[6:7]
  emit v9
// CHECK-NEXT: 0000002d 80000000 ffffffff a3d70a38
  v_mov_b64 v[10:11], v[6:7]
  emit v11
// CHECK-NEXT: 00000005 80000000 ffffffff 12345678
  v_accvgpr_write_b32 a7, v3
  v_accvgpr_mov_b32 a8, a7
  v_accvgpr_read_b32 v4, a8
  emit v4
// CHECK-NEXT: 00000010 00000007 fffffff0 0f0f0f0f
  v_swap_b32 v6, v7
  emit v6
// CHECK-NEXT: 00000005 80000000 ffffffff 12345678
finish
