// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// The steps of a division by themselves; division.test has the whole. Two
// places differ from the text of the ISA, which would not give IEEE quotients:
// see docs/device.md.
// RUN: atrex-sim run %t.co --block 1 --arg out:4096:%t.bin
// RUN: od -An -tx4 -v -w4 %t.bin | FileCheck %s
.set ROW, 4
.include "macros.inc"
/// Scaled operand, then the post-scaling flag.
.macro scale x, denominator, numerator
  v_mov_b32 v1, \x
  v_mov_b32 v2, \denominator
  v_mov_b32 v3, \numerator
  v_div_scale_f32 v4, vcc, v1, v2, v3
  v_cndmask_b32 v5, 0, 1, vcc
  emit v4
  emit v5
.endm
.macro fixup quotient, denominator, numerator
  v_mov_b32 v1, \quotient
  v_mov_b32 v2, \denominator
  v_mov_b32 v3, \numerator
  v_div_fixup_f32 v4, v1, v2, v3
  emit v4
.endm
begin
  // Zero operands.
  scale 0, 0, 0x3f800000
// CHECK: 7fc00000
// CHECK-NEXT: 00000000
  // 2^50 / 2^-50: near overflow, the denominator is scaled, the numerator is not.
  scale 0x26800000, 0x26800000, 0x58800000
// CHECK-NEXT: 46800000
// CHECK-NEXT: 00000001
  scale 0x58800000, 0x26800000, 0x58800000
// CHECK-NEXT: 58800000
// CHECK-NEXT: 00000001
  // Subnormal denominator: both are scaled.
  scale 1, 1, 0x2b800000
// CHECK-NEXT: 15000000
// CHECK-NEXT: 00000000
  scale 0x2b800000, 1, 0x2b800000
// CHECK-NEXT: 4b800000
// CHECK-NEXT: 00000000
  // 2^-10 / 2^127: reciprocal and quotient are subnormal. The text scales the
  // denominator up, to infinity.
  scale 0x7f000000, 0x7f000000, 0x3a800000
// CHECK-NEXT: 5f000000
// CHECK-NEXT: 00000001
  scale 0x3a800000, 0x7f000000, 0x3a800000
// CHECK-NEXT: 3a800000
// CHECK-NEXT: 00000001
  // Only the reciprocal.
  scale 0x7f000000, 0x7f000000, 0x7f000000
// CHECK-NEXT: 5f000000
// CHECK-NEXT: 00000000
  // Only the quotient: 2^-40 / 2^100.
  scale 0x2b800000, 0x71800000, 0x2b800000
// CHECK-NEXT: 4b800000
// CHECK-NEXT: 00000001
  scale 0x71800000, 0x71800000, 0x2b800000
// CHECK-NEXT: 71800000
// CHECK-NEXT: 00000001
  // Tiny numerator.
  scale 0x08800000, 0x35800000, 0x08800000
// CHECK-NEXT: 28800000
// CHECK-NEXT: 00000000

  // NaN operands are quieted, the numerator's first.
  fixup 0, 0xff800003, 0x7f800001
// CHECK-NEXT: 7fc00001
  fixup 0, 0xff800003, 0x3f800000
// CHECK-NEXT: ffc00003
  // 0/0, inf/inf, x/0, inf/x, x/inf, 0/x.
  fixup 0x40400000, 0, 0x80000000
// CHECK-NEXT: ffc00000
  fixup 0x40400000, 0x7f800000, 0x7f800000
// CHECK-NEXT: ffc00000
  fixup 0x40400000, 0x80000000, 0x3f800000
// CHECK-NEXT: ff800000
  fixup 0x40400000, 0xbf800000, 0x7f800000
// CHECK-NEXT: ff800000
  fixup 0x40400000, 0xff800000, 0xbf800000
// CHECK-NEXT: 00000000
  fixup 0x40400000, 0xbf800000, 0
// CHECK-NEXT: 80000000
  // Exponents more than 150 apart: underflow.
  fixup 0x40400000, 0xd3800000, 0x03800000
// CHECK-NEXT: 80000000
  // Otherwise the quotient with the sign of the operands.
  fixup 0xc0400000, 0x3f800000, 0x3f800000
// CHECK-NEXT: 40400000
  fixup 0xc0400000, 0xbf800000, 0x3f800000
// CHECK-NEXT: c0400000
  // A NaN quotient of ordinary operands comes from an overflow on the way. The
  // text would pass it on.
  fixup 0x7fc00000, 0x3f800000, 0x3f800000
// CHECK-NEXT: 7f800000
  fixup 0x7fc00000, 0xbf800000, 0x3f800000
// CHECK-NEXT: ff800000
finish
