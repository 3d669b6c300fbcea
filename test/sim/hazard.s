// Wait states: one less than needed is found, the needed number is silent.
// RUN: %S/Inputs/cases.sh %s %t hazard 1:5 2:5 3:2 4:4 5:4 6:2 7:5 8:1 9:1 10:1 11:2 12:1 13:2 14:1 15:2 16:4 17:3 18:1 19:1 > %t.log
// RUN: FileCheck %s < %t.log
// RUN: grep -c finding %t.log | grep -x 19
// CHECK: case 1 gap 4: finding: hazard: vector memory instruction reads a scalar that the vector ALU has just written, s10: 4 wait states of 5; s_nop 0 is missing
// CHECK-NEXT: case 1 gap 5: clean
// CHECK: case 2 gap 4: finding: hazard: vector memory instruction reads a scalar that the vector ALU has just written, s[4:5]: 4 wait states of 5; s_nop 0 is missing
// CHECK-NEXT: case 2 gap 5: clean
// CHECK: case 3 gap 1: finding: hazard: vector ALU reads a scalar that it has just written, vcc: 1 wait state of 2; s_nop 0 is missing
// CHECK-NEXT: case 3 gap 2: clean
// CHECK: case 4 gap 3: finding: hazard: lane select reads a just written scalar, s10: 3 wait states of 4; s_nop 0 is missing
// CHECK-NEXT: case 4 gap 4: clean
// CHECK: case 5 gap 3: finding: hazard: v_div_fmas reads just written vcc: 3 wait states of 4; s_nop 0 is missing
// CHECK-NEXT: case 5 gap 4: clean
// CHECK: case 6 gap 1: finding: hazard: DPP reads a just written register, v5: 1 wait state of 2; s_nop 0 is missing
// CHECK-NEXT: case 6 gap 2: clean
// CHECK: case 7 gap 4: finding: hazard: DPP after the vector ALU wrote exec: 4 wait states of 5; s_nop 0 is missing
// CHECK-NEXT: case 7 gap 5: clean
// CHECK: case 8 gap 0: finding: hazard: lane access reads a just written register, v5: 0 wait states of 1; s_nop 0 is missing
// CHECK-NEXT: case 8 gap 1: clean
// CHECK: case 9 gap 0: finding: hazard: vector ALU reads a transcendental result, v5: 0 wait states of 1; s_nop 0 is missing
// CHECK-NEXT: case 9 gap 1: clean
// CHECK: case 10 gap 0: finding: hazard: vector ALU reads a register that was written in part, v5: 0 wait states of 1; s_nop 0 is missing
// CHECK-NEXT: case 10 gap 1: clean
// CHECK: case 11 gap 1: finding: hazard: data of a store of more than 64 bits overwritten in v13: 1 wait state of 2; s_nop 0 is missing
// CHECK-NEXT: case 11 gap 2: clean
// CHECK: case 12 gap 0: finding: hazard: data of a store of more than 64 bits overwritten in v13: 0 wait states of 1; s_nop 0 is missing
// CHECK-NEXT: case 12 gap 1: clean
// CHECK: case 13 gap 1: finding: hazard: access to a hardware register that s_setreg has just written: 1 wait state of 2; s_nop 0 is missing
// CHECK-NEXT: case 13 gap 2: clean
// CHECK: case 14 gap 0: finding: hazard: read of a just written m0: 0 wait states of 1; s_nop 0 is missing
// CHECK-NEXT: case 14 gap 1: clean
// CHECK: case 15 gap 1: finding: hazard: vector instruction after a change of VSKIP: 1 wait state of 2; s_nop 0 is missing
// CHECK-NEXT: case 15 gap 2: clean
// CHECK: case 16 gap 3: finding: hazard: lane access after the vector ALU wrote exec: 3 wait states of 4; s_nop 0 is missing
// CHECK-NEXT: case 16 gap 4: clean
// CHECK: case 17 gap 2: finding: hazard: result of a dot product read in v5: 2 wait states of 3; s_nop 0 is missing
// CHECK-NEXT: case 17 gap 3: clean
// CHECK: case 18 gap 0: finding: hazard: read of a just written m0: 0 wait states of 1; s_nop 0 is missing
// CHECK-NEXT: case 18 gap 1: clean
// CHECK: case 19 gap 0: finding: hazard: vector ALU reads a register that was written in part, v5: 0 wait states of 1; s_nop 0 is missing
// CHECK-NEXT: case 19 gap 1: clean
.set ROW, 256
.include "macros.inc"
.macro gap
.if GAP > 0
  s_nop GAP-1
.endif
.endm
begin
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_mov_b32 s20, s4
  s_mov_b32 s21, s5
  s_mov_b32 s22, 256
  s_mov_b32 s23, 0x20000
  s_mov_b32 s10, 0
  v_mov_b32 v1, s4
  v_mov_b32 v2, s5
  v_mov_b32 v3, 1.0
  s_nop 7
.if CASE == 1 // 5: VALU writes SGPR, VMEM reads it
  v_readfirstlane_b32 s10, v10
  gap
  buffer_load_dword v5, v255, s[20:23], s10 offen
.elseif CASE == 2 // 5: the same as base address
  v_readfirstlane_b32 s4, v1
  gap
  global_load_dword v5, v255, s[4:5]
.elseif CASE == 3 // 2: VALU writes VCC, v_cndmask reads it
  v_cmp_eq_u32 vcc, v0, v3
  gap
  v_cndmask_b32 v5, v0, v3, vcc
.elseif CASE == 4 // 4: lane select
  v_readfirstlane_b32 s10, v10
  gap
  v_readlane_b32 s11, v3, s10
.elseif CASE == 5 // 4: v_div_fmas
  v_cmp_eq_u32 vcc, v0, v3
  gap
  v_div_fmas_f32 v5, v3, v3, v3
.elseif CASE == 6 // 2: DPP
  v_mov_b32 v5, v3
  gap
  v_mov_b32_dpp v6, v5 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
.elseif CASE == 7 // 5: EXEC, DPP
  v_cmpx_ne_u32 v0, v3
  gap
  v_mov_b32_dpp v6, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
.elseif CASE == 8 // 1: readfirstlane
  v_mov_b32 v5, v3
  gap
  v_readfirstlane_b32 s10, v5
.elseif CASE == 9 // 1: transcendental
  v_rcp_f32 v5, v3
  gap
  v_add_f32 v6, v5, v5
.elseif CASE == 10 // 1: partial write
  v_add_u32_sdwa v5, v3, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD
  gap
  v_add_u32 v6, v5, v5
.elseif CASE == 11 // 2: data of a wide store
  global_store_dwordx4 v10, v[12:15], s[4:5]
  gap
  v_mov_b32 v13, 1
.elseif CASE == 12 // 1: the same with a scalar offset
  buffer_store_dwordx4 v[12:15], v10, s[20:23], s10 offen
  gap
  v_mov_b32 v13, 1
.elseif CASE == 13 // 2: s_setreg, s_getreg
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0
  gap
  s_getreg_b32 s10, hwreg(HW_REG_MODE)
.elseif CASE == 14 // 1: M0
  s_mov_b32 m0, 0
  gap
  s_movrels_b32 s11, s10
.elseif CASE == 15 // 2: vskip
  s_setvskip 0, 0
  gap
  v_mov_b32 v5, v3
.elseif CASE == 16 // 4: EXEC, lane access
  v_cmpx_ne_u32 v0, v3
  gap
  v_readfirstlane_b32 s10, v3
.elseif CASE == 17 // 3: dot product
  v_dot2_f32_f16 v5, v3, v3, v3
  gap
  v_add_f32 v6, v5, v5
.elseif CASE == 18 // 1: M0, LDS DMA
  s_mov_b32 m0, 0
  gap
  global_load_lds_dword v255, s[4:5]
.elseif CASE == 19 // 1: op_sel
  v_mad_u16 v5, v3, v3, v3 op_sel:[0,0,0,1]
  gap
  v_add_f32 v6, v5, v5
.endif
  s_waitcnt vmcnt(0) lgkmcnt(0)
finish lds=1024
