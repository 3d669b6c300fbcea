// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx950 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// What is not known to be the hardware's arithmetic says so.
// RUN: atrex-sim run %t.co --block 64 --arg out:512:%t.bin --json %t.json
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s
// JSON: "mfma": {
// JSON-NEXT: "assumed_instructions": 2,
// JSON-NEXT: "mode": "exact",
// JSON-NEXT: "rule": "cdna3"
// 128 products of 1.0 and 1.0, as fp4; with scales 2^1 and 2^-3.
// CHECK: 43000000 43000000
// CHECK: 42000000 42000000
.set ROW, 256
.include "macros.inc"
begin
  v_mov_b32 v4, 0x22222222
  v_mov_b32 v5, v4
  v_mov_b32 v6, v4
  v_mov_b32 v7, v4
  v_mov_b32 v2, 128
  v_mov_b32 v3, 124
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], 0 cbsz:4 blgp:4
  v_mfma_scale_f32_16x16x128_f8f6f4 v[12:15], v[4:7], v[4:7], 0, v2, v3 op_sel_hi:[0,0,0] cbsz:4 blgp:4
  v_mfma_i32_16x16x64_i8 v[16:19], v[4:7], v[4:7], 0
  s_nop 15
  emit v8
  emit v12
finish
