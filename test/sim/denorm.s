// Subnormal numbers under each denormal mode of MODE (f32: bits 4 and 5, f16 and
// f64: bits 6 and 7; bit 0 of a field keeps sources, bit 1 results).
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --block 4 --arg out:4096:%t.bin
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s
// RUN: env ATREX_SIM_ISA=base atrex-sim run %t.co --block 4 --arg out:4096:%t.base && cmp %t.bin %t.base
// RUN: env ATREX_SIM_ISA=avx2 atrex-sim run %t.co --block 4 --arg out:4096:%t.avx2 && cmp %t.bin %t.avx2
.set ROW, 16
.include "macros.inc"
.macro class op, a, mask
  v_mov_b32 v20, \mask
  \op vcc, \a, v20
  v_cndmask_b32 v21, 0, 1, vcc
  emit v21
.endm
// Of the classes, 0x80 is positive subnormal, 0x40 positive zero.
.macro classes
  class v_cmp_class_f32, v1, 0x80
  class v_cmp_class_f32, v1, 0x40
  class v_cmp_class_f64, v[2:3], 0x80
  class v_cmp_class_f16, v4, 0x80
  v_mov_b32 v20, 0x80
  s_mov_b64 s[8:9], exec
  v_cmpx_class_f32 vcc, v1, v20
  s_mov_b64 s[10:11], exec
  s_mov_b64 exec, s[8:9]
  s_and_b32 s10, s10, 15
  emits s10
.endm
.macro mixes
  // 1 * subnormal f32 + 0; 1 * subnormal f16 (low half) + 0.
  v_fma_mix_f32 v21, v5, v1, 0
  emit v21
  v_fma_mix_f32 v21, v5, v4, 0 op_sel_hi:[0,1,0]
  emit v21
  // Results that are subnormal: 2^-126 / 4 and, in both halves, 2^-15.
  v_fma_mix_f32 v21, v6, v7, 0
  emit v21
  v_mov_b32 v21, 0xffffffff
  v_fma_mixlo_f16 v21, v5, v8, 0
  v_fma_mixhi_f16 v21, v5, v8, 0
  emit v21
.endm
begin
  v_mov_b32 v1, 3
  v_mov_b32 v2, 3
  v_mov_b32 v3, 0
  v_mov_b32 v4, 3
  v_mov_b32 v5, 1.0
  v_mov_b32 v6, 0x00800000
  v_mov_b32 v7, 0x3e800000
  v_mov_b32 v8, 0x38000000
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0
  s_nop 1
  classes
// CHECK: 00000001 00000001 00000001 00000001
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// CHECK-NEXT: 00000001 00000001 00000001 00000001
// CHECK-NEXT: 00000001 00000001 00000001 00000001
// CHECK-NEXT: 0000000f 0000000f 0000000f 0000000f
  mixes
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// CHECK-NEXT: 00000000 00000000 00000000 00000000
  // f32 kept, f16 flushed.
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 3
  s_nop 1
  mixes
// CHECK-NEXT: 00000003 00000003 00000003 00000003
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// CHECK-NEXT: 00200000 00200000 00200000 00200000
// CHECK-NEXT: 00000000 00000000 00000000 00000000
  // f32 flushed, f16 kept: 3 * 2^-24.
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 12
  s_nop 1
  mixes
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// CHECK-NEXT: 34400000 34400000 34400000 34400000
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// CHECK-NEXT: 02000200 02000200 02000200 02000200
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15
  s_nop 1
  mixes
// CHECK-NEXT: 00000003 00000003 00000003 00000003
// CHECK-NEXT: 34400000 34400000 34400000 34400000
// CHECK-NEXT: 00200000 00200000 00200000 00200000
// CHECK-NEXT: 02000200 02000200 02000200 02000200
  classes
// CHECK-NEXT: 00000001 00000001 00000001 00000001
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// CHECK-NEXT: 00000001 00000001 00000001 00000001
// CHECK-NEXT: 00000001 00000001 00000001 00000001
// CHECK-NEXT: 0000000f 0000000f 0000000f 0000000f
finish
