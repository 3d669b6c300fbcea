// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// Exact arithmetic floors a tiny negative C to the last kept bit; a chain of
// fused multiply-adds rounds it away.
// RUN: atrex-sim run %t.co --block 64 --arg out:256:%t.bin --json %t.json --stats | FileCheck %s --check-prefix=STATS
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s --check-prefix=EXACT
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: atrex-sim run %t.co --block 64 --mfma fast --arg out:256:%t.bin --json %t.json
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s --check-prefix=FAST
// RUN: FileCheck %s --check-prefix=JSON-FAST < %t.json
// RUN: atrex-sim run %t.co --block 64 --arg out:256:%t.bin --profile %t.profile
// RUN: FileCheck %s --check-prefix=PROFILE < %t.profile
// RUN: not atrex-sim run %t.co --block 64 --mfma sloppy --arg out:256:%t.bin 2>&1 | FileCheck %s --check-prefix=USAGE
// EXACT: 3f7fffff 3f7fffff 3f7fffff 3f7fffff
// FAST: 3f800000 3f800000 3f800000 3f800000
// USAGE: --mfma is exact or fast, not 'sloppy'
// STATS: mfma 1
// STATS: matrix cycles 16
// JSON: "mfma": {
// JSON-NEXT: "assumed_instructions": 0,
// JSON-NEXT: "mode": "exact",
// JSON-NEXT: "rule": "cdna3"
// JSON: "matrix_cycles": 16
// JSON-FAST: "assumed_instructions": 0,
// JSON-FAST-NEXT: "mode": "fast",
// JSON-FAST-NEXT: "rule": "fma-chain"
// PROFILE: "class": "mfma"
// PROFILE-NEXT: "executions": 1
// PROFILE: "matrix_cycles": 16
// PROFILE: "text": "v_mfma_f32_16x16x16_f16 v[8:11]
.set ROW, 256
.include "macros.inc"
begin
  // k = 0 alone: A and B are 1.0 in lanes 0 to 15.
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  s_mov_b64 exec, 0xffff
  v_mov_b32 v2, 0x3c00
  s_mov_b64 exec, -1
  v_mov_b32 v4, 0x80000001
  v_mov_b32 v5, v4
  v_mov_b32 v6, v4
  v_mov_b32 v7, v4
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[2:3], v[4:7]
  s_nop 15
  emit v8
finish
