// Trip counts from the code that decides them.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-compile %t.co --report=json | %python -c "import json,sys; [print(l['depth'], l['parent'], l['trip_count'], l.get('trip_expression')) for k in json.load(sys.stdin)['kernels'] for l in k['loops']]" | FileCheck %s
.include "kernel.macros"
begin
  // n / 64, entered only when there is a whole one.
  s_lshr_b32 s9, s8, 6
  s_cmp_eq_u32 s9, 0
  s_cbranch_scc1 .Lskip
.Lfloor:
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lfloor
.Lskip:
// CHECK: 1 None None n / 64

  // Up to n in steps of 48.
  s_mov_b32 s9, 0
.Lceil:
  s_add_u32 s9, s9, 48
  s_cmp_lt_u32 s9, s8
  s_cbranch_scc1 .Lceil
// CHECK-NEXT: 1 None None cdiv(n, 48)

  // A pointer that runs to an end.
  s_mov_b64 s[10:11], s[4:5]
  s_add_u32 s12, s4, 0x1000
  s_addc_u32 s13, s5, 0
.Lpointer:
  s_add_u32 s10, s10, 64
  s_addc_u32 s11, s11, 0
  s_cmp_lg_u64 s[10:11], s[12:13]
  s_cbranch_scc1 .Lpointer
// CHECK-NEXT: 1 None 64 None

  // Nested; the inner one starts anew.
  s_mov_b32 s9, 3
.Louter:
  s_mov_b32 s10, 5
.Linner:
  s_sub_u32 s10, s10, 1
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 .Linner
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Louter
// CHECK-NEXT: 1 None 3 None
// CHECK-NEXT: 2 3 5 None

  // A triangle has no count for each entry.
  s_mov_b32 s9, 3
.Lrow:
  s_mov_b32 s10, s9
.Lcolumn:
  s_sub_u32 s10, s10, 1
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 .Lcolumn
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lrow
// CHECK-NEXT: 1 None 3 None
// CHECK-NEXT: 2 5 None None

  // By the wave.
  v_readfirstlane_b32 s9, v0
  s_add_u32 s9, s9, 64
.Lwave:
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lwave
// CHECK-NEXT: 1 None None None

  // By data.
  s_load_dword s9, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
.Ldata:
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Ldata
// CHECK-NEXT: 1 None None None

  // A quadratic one is neither.
  s_mul_i32 s9, s8, s8
.Lsquare:
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lsquare
// CHECK-NEXT: 1 None None None
finish threads=128
