// Wait states of matrix instructions: one less than needed is found, the needed
// number is silent. 20 wait states behind 16 passes on gfx950 are one more than
// LLVM 22.1.8 looks back.
// RUN: %S/Inputs/cases.sh %s %t hazard 1:5 2:7 3:11 4:19 5:7 6:11 7:7 8:2 9:9 10:3 11:10 12:6 13:9 14:11 15:2 16:4 17:7 22:3 23:3 > %t.log
// RUN: FileCheck %s --check-prefix=GFX942 < %t.log
// RUN: env ARCH=gfx950 %S/Inputs/cases.sh %s %t hazard 1:5 2:8 3:12 4:20 5:8 6:12 7:8 8:2 9:10 10:3 11:10 12:6 13:9 14:19 15:2 16:4 17:8 18:12 19:8 20:20 21:2 22:4 23:3 > %t.log5
// RUN: FileCheck %s --check-prefix=GFX950 < %t.log5
// GFX942: case 1 gap 4: finding: hazard: unfinished result of a matrix instruction read in a1: 4 wait states of 5; s_nop 0 is missing
// GFX942-NEXT: case 1 gap 5: clean
// GFX942: case 2 gap 6: finding: hazard: unfinished result of a matrix instruction read in a1: 6 wait states of 7; s_nop 0 is missing
// GFX942-NEXT: case 2 gap 7: clean
// GFX942: case 3 gap 10: finding: hazard: unfinished result of a matrix instruction read in a1: 10 wait states of 11; s_nop 0 is missing
// GFX942-NEXT: case 3 gap 11: clean
// GFX942: case 4 gap 18: finding: hazard: unfinished result of a matrix instruction read in a1: 18 wait states of 19; s_nop 0 is missing
// GFX942-NEXT: case 4 gap 19: clean
// GFX942: case 5 gap 6: finding: hazard: unfinished result of a matrix instruction read in a1: 6 wait states of 7; s_nop 0 is missing
// GFX942-NEXT: case 5 gap 7: clean
// GFX942: case 6 gap 10: finding: hazard: unfinished result of a matrix instruction read in a1: 10 wait states of 11; s_nop 0 is missing
// GFX942-NEXT: case 6 gap 11: clean
// GFX942: case 7 gap 6: finding: hazard: matrix instruction reads an unfinished result as A or B in a[0:1]: 6 wait states of 7; s_nop 0 is missing
// GFX942-NEXT: case 7 gap 7: clean
// GFX942: case 8 gap 1: finding: hazard: matrix instruction reads an unfinished result as C in a[0:3]: 1 wait state of 2; s_nop 0 is missing
// GFX942-NEXT: case 8 gap 2: clean
// GFX942: case 9 gap 8: finding: hazard: matrix instruction reads a part of an unfinished result as C in a[2:5]: 8 wait states of 9; s_nop 0 is missing
// GFX942-NEXT: case 9 gap 9: clean
// GFX942: case 10 gap 2: finding: hazard: matrix C overwritten while a matrix instruction reads it in a9: 2 wait states of 3; s_nop 0 is missing
// GFX942-NEXT: case 10 gap 3: clean
// GFX942: case 11 gap 9: finding: hazard: unfinished result of a matrix instruction read in a1: 9 wait states of 10; s_nop 0 is missing
// GFX942-NEXT: case 11 gap 10: clean
// GFX942: case 12 gap 5: finding: hazard: unfinished result of a matrix instruction read in a1: 5 wait states of 6; s_nop 0 is missing
// GFX942-NEXT: case 12 gap 6: clean
// GFX942: case 13 gap 8: finding: hazard: unfinished result of a matrix instruction read in a[0:1]: 8 wait states of 9; s_nop 0 is missing
// GFX942-NEXT: case 13 gap 9: clean
// GFX942: case 14 gap 10: finding: hazard: unfinished result of a matrix instruction read in a1: 10 wait states of 11; s_nop 0 is missing
// GFX942-NEXT: case 14 gap 11: clean
// GFX942: case 15 gap 1: finding: hazard: matrix instruction reads a just written register, v[2:3]: 1 wait state of 2; s_nop 0 is missing
// GFX942-NEXT: case 15 gap 2: clean
// GFX942: case 16 gap 3: finding: hazard: matrix instruction after the vector ALU wrote exec: 3 wait states of 4; s_nop 0 is missing
// GFX942-NEXT: case 16 gap 4: clean
// GFX942: case 17 gap 6: finding: hazard: unfinished result of a matrix instruction overwritten in a1: 6 wait states of 7; s_nop 0 is missing
// GFX942-NEXT: case 17 gap 7: clean
// GFX942: case 22 gap 2: finding: hazard: matrix instruction reads a part of an unfinished result as C in a[2:5]: 2 wait states of 3; s_nop 0 is missing
// GFX942-NEXT: case 22 gap 3: clean
// GFX942: case 23 gap 2: finding: hazard: matrix instruction reads a part of an unfinished result as C in a[2:5]: 2 wait states of 3; s_nop 0 is missing
// GFX942-NEXT: case 23 gap 3: clean
// GFX950: case 1 gap 4: finding: hazard: unfinished result of a matrix instruction read in a1: 4 wait states of 5; s_nop 0 is missing
// GFX950-NEXT: case 1 gap 5: clean
// GFX950: case 2 gap 7: finding: hazard: unfinished result of a matrix instruction read in a1: 7 wait states of 8; s_nop 0 is missing
// GFX950-NEXT: case 2 gap 8: clean
// GFX950: case 3 gap 11: finding: hazard: unfinished result of a matrix instruction read in a1: 11 wait states of 12; s_nop 0 is missing
// GFX950-NEXT: case 3 gap 12: clean
// GFX950: case 4 gap 19: finding: hazard: unfinished result of a matrix instruction read in a1: 19 wait states of 20; s_nop 0 is missing
// GFX950-NEXT: case 4 gap 20: clean
// GFX950: case 5 gap 7: finding: hazard: unfinished result of a matrix instruction read in a1: 7 wait states of 8; s_nop 0 is missing
// GFX950-NEXT: case 5 gap 8: clean
// GFX950: case 6 gap 11: finding: hazard: unfinished result of a matrix instruction read in a1: 11 wait states of 12; s_nop 0 is missing
// GFX950-NEXT: case 6 gap 12: clean
// GFX950: case 7 gap 7: finding: hazard: matrix instruction reads an unfinished result as A or B in a[0:1]: 7 wait states of 8; s_nop 0 is missing
// GFX950-NEXT: case 7 gap 8: clean
// GFX950: case 8 gap 1: finding: hazard: matrix instruction reads an unfinished result as C in a[0:3]: 1 wait state of 2; s_nop 0 is missing
// GFX950-NEXT: case 8 gap 2: clean
// GFX950: case 9 gap 9: finding: hazard: matrix instruction reads a part of an unfinished result as C in a[2:5]: 9 wait states of 10; s_nop 0 is missing
// GFX950-NEXT: case 9 gap 10: clean
// GFX950: case 10 gap 2: finding: hazard: matrix C overwritten while a matrix instruction reads it in a9: 2 wait states of 3; s_nop 0 is missing
// GFX950-NEXT: case 10 gap 3: clean
// GFX950: case 11 gap 9: finding: hazard: unfinished result of a matrix instruction read in a1: 9 wait states of 10; s_nop 0 is missing
// GFX950-NEXT: case 11 gap 10: clean
// GFX950: case 12 gap 5: finding: hazard: unfinished result of a matrix instruction read in a1: 5 wait states of 6; s_nop 0 is missing
// GFX950-NEXT: case 12 gap 6: clean
// GFX950: case 13 gap 8: finding: hazard: unfinished result of a matrix instruction read in a[0:1]: 8 wait states of 9; s_nop 0 is missing
// GFX950-NEXT: case 13 gap 9: clean
// GFX950: case 14 gap 18: finding: hazard: unfinished result of a matrix instruction read in a1: 18 wait states of 19; s_nop 0 is missing
// GFX950-NEXT: case 14 gap 19: clean
// GFX950: case 15 gap 1: finding: hazard: matrix instruction reads a just written register, v[2:3]: 1 wait state of 2; s_nop 0 is missing
// GFX950-NEXT: case 15 gap 2: clean
// GFX950: case 16 gap 3: finding: hazard: matrix instruction after the vector ALU wrote exec: 3 wait states of 4; s_nop 0 is missing
// GFX950-NEXT: case 16 gap 4: clean
// GFX950: case 17 gap 7: finding: hazard: unfinished result of a matrix instruction overwritten in a1: 7 wait states of 8; s_nop 0 is missing
// GFX950-NEXT: case 17 gap 8: clean
// GFX950: case 18 gap 11: finding: hazard: unfinished result of a matrix instruction read in a1: 11 wait states of 12; s_nop 0 is missing
// GFX950-NEXT: case 18 gap 12: clean
// GFX950: case 19 gap 7: finding: hazard: unfinished result of a matrix instruction read in a1: 7 wait states of 8; s_nop 0 is missing
// GFX950-NEXT: case 19 gap 8: clean
// GFX950: case 20 gap 19: finding: hazard: unfinished result of a matrix instruction read in a1: 19 wait states of 20; s_nop 0 is missing
// GFX950-NEXT: case 20 gap 20: clean
// GFX950: case 21 gap 1: finding: hazard: lane swap reads a just written register, v2: 1 wait state of 2; s_nop 0 is missing
// GFX950-NEXT: case 21 gap 2: clean
// GFX950: case 22 gap 3: finding: hazard: matrix instruction reads a part of an unfinished result as C in a[2:5]: 3 wait states of 4; s_nop 0 is missing
// GFX950-NEXT: case 22 gap 4: clean
// GFX950: case 23 gap 2: finding: hazard: matrix instruction reads a part of an unfinished result as C in a[2:5]: 2 wait states of 3; s_nop 0 is missing
// GFX950-NEXT: case 23 gap 3: clean
.set ROW, 256
.include "macros.inc"
.macro gap
.if GAP > 16
  s_nop 15
  s_nop GAP-17
.elseif GAP > 0
  s_nop GAP-1
.endif
.endm
begin
  s_nop 7
.if CASE == 1
  v_mfma_f32_4x4x4_16b_f16 a[0:3], v[2:3], v[4:5], a[0:3]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 2
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 3
  v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 4
  v_mfma_f32_32x32x4_2b_f16 a[0:31], v[2:3], v[4:5], a[0:31]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 5
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]
  gap
  global_store_dword v255, a1, s[4:5]
.elseif CASE == 6
  v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]
  gap
  global_store_dword v255, a1, s[4:5]
.elseif CASE == 7
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]
  gap
  v_mfma_f32_16x16x16_f16 a[4:7], a[0:1], v[4:5], a[4:7]
.elseif CASE == 8
  v_mfma_f32_4x4x4_16b_f16 a[0:3], v[2:3], v[4:5], a[0:3]
  gap
  v_mfma_f32_4x4x4_16b_f16 a[0:3], v[2:3], v[4:5], a[0:3]
.elseif CASE == 9
  v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]
  gap
  v_mfma_f32_16x16x16_f16 a[20:23], v[2:3], v[4:5], a[2:5]
.elseif CASE == 10
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[8:11]
  gap
  v_accvgpr_write_b32 a9, v2
.elseif CASE == 11
  v_mfma_f32_16x16x4_f32 a[0:3], v2, v4, a[0:3]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 12
  v_mfma_f64_4x4x4_4b_f64 a[0:1], v[2:3], v[4:5], a[0:1]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 13
  v_mfma_f64_4x4x4_4b_f64 a[0:1], v[2:3], v[4:5], a[0:1]
  gap
  global_store_dwordx2 v255, a[0:1], s[4:5]
.elseif CASE == 14
  v_mfma_f64_16x16x4_f64 a[0:7], v[2:3], v[4:5], a[0:7]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 15
  v_mov_b32 v2, 0
  gap
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]
.elseif CASE == 16
  v_cmpx_le_u32 0, v0
  gap
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]
.elseif CASE == 17
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]
  gap
  v_accvgpr_write_b32 a1, v2
.elseif CASE == 18
  v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[8:15], v[16:23], a[0:3]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 19
  v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[8:11], v[16:19], a[0:3] cbsz:4 blgp:4
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 20
  v_mfma_f32_32x32x64_f8f6f4 a[0:15], v[8:15], v[16:23], a[0:15]
  gap
  v_accvgpr_read_b32 v10, a1
.elseif CASE == 21
  v_mov_b32 v2, 0
  gap
  v_permlane16_swap_b32 v2, v3
.elseif CASE == 22
  v_mfma_f32_4x4x4_16b_f16 a[0:3], v[2:3], v[4:5], a[0:3]
  gap
  v_mfma_f32_4x4x4_16b_f16 a[20:23], v[2:3], v[4:5], a[2:5]
.elseif CASE == 23
  v_mfma_f32_4x4x4_16b_f16 a[0:3], v[2:3], v[4:5], a[0:3]
  gap
  v_mfma_f32_4x4x1_16b_f32 a[20:23], v2, v4, a[2:5]
.endif
  s_waitcnt vmcnt(0)
  s_nop 15
finish
