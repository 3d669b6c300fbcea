// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx950 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// Instructions that only gfx950 has, and its OCP fp8.
// RUN: atrex-sim run %t.co --block 64 --arg out:4096:%t.bin
// RUN: od -An -tx4 -v -w256 %t.bin | FileCheck %s
.set ROW, 256
.include "macros.inc"
begin
  v_mov_b32 v1, 1.0
  v_mov_b32 v2, 0x3f808000 // tie: rounds to even
  v_cvt_pk_bf16_f32 v3, v1, v2
  emit v3
// CHECK: 3f803f80
  v_mov_b32 v3, 0
  v_cvt_pk_fp8_f32 v3, v1, -v1
  emit v3
// CHECK-NEXT: 0000b838
  v_cvt_f32_fp8 v4, v3
  emit v4
// CHECK-NEXT: 3f800000
  v_mov_b32 v5, 0xf0
  v_mov_b32 v6, 0xcc
  v_mov_b32 v7, 0xaa
  v_bitop3_b32 v4, v5, v6, v7 bitop3:0x96
  emit v4
// CHECK-NEXT: 00000096
  v_minimum3_f32 v4, v1, 2.0, 0.5
  emit v4
// CHECK-NEXT: 3f000000
  v_mov_b32 v8, v0
  v_add_u32 v9, 0x100, v0
  v_permlane32_swap_b32 v8, v9
  emit v8
// CHECK-NEXT: 00000000 00000001 {{.*}} 0000001f 00000100 00000101 {{.*}} 0000011f
finish
