// Distances between loads and the waits for them.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-compile %t.co --report=json | FileCheck %s
// RUN: atrex-compile %t.co --remarks | FileCheck %s --check-prefix=REMARK
.include "kernel.macros"
begin
  v_lshlrev_b32 v2, 4, v0
  s_mov_b32 s9, 10
.Lserial:
  global_load_dwordx4 v[4:7], v2, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f32 v8, v8, v4
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lserial
// REMARK: waits.s:[[#@LINE-5]]: remark: a wave waits 284 of the 308 cycles of a trip for global memory, though it is taken to lie in the L2 (288 cycles), most of them 0 instructions (0 cycles of issue) after it asked for it; fetch for a later trip, or let more waves share a SIMD [unpipelined]
// CHECK: "full_drains": 1,
// CHECK: "waits": [
// CHECK: "counter": "vmcnt",
// CHECK-NEXT: "distance": 0,
// CHECK-NEXT: "distance_cycles": 0,
// CHECK-NEXT: "earlier_trip": false,
// CHECK: "outstanding": 1,
// CHECK-NEXT: "stall_cycles": 284,
// CHECK-NEXT: "unrelated": 0,

  // A load in flight through the back edge, of a trip that is too short.
  global_load_dwordx4 v[4:7], v2, s[6:7]
  s_mov_b32 s9, 10
.Lpipelined:
  global_load_dwordx4 v[8:11], v2, s[6:7]
  s_waitcnt vmcnt(1)
  v_add_f32 v12, v12, v4
  v_mov_b32 v4, v8
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lpipelined
// REMARK: waits.s:[[#@LINE-6]]: remark: a wave waits 128 of the 156 cycles of a trip {{.*}} most of them 7 instructions {{.*}} [unpipelined]
// CHECK: "full_drains": 0,
// CHECK: "waits": [
// CHECK: "distance": 7,
// CHECK: "earlier_trip": true,
// CHECK: "outstanding": 2,
// CHECK-NEXT: "stall_cycles": 128,

  // Waits for two, needs one.
  s_mov_b32 s9, 10
.Ldrain:
  global_load_dwordx4 v[4:7], v2, s[6:7]
  global_load_dwordx4 v[8:11], v2, s[6:7] offset:1024
  s_waitcnt vmcnt(0)
  v_add_f32 v12, v12, v4
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Ldrain
// REMARK: waits.s:[[#@LINE-5]]: remark: {{.*}} [unpipelined]
// REMARK: waits.s:[[#@LINE-6]]: remark: the loop waits for all 2 outstanding operations of global memory, though 1 of them are not needed before the next wait [full-drain]
// REMARK-NOT: [full-drain]
// REMARK-NOT: [unpipelined]
// CHECK: "full_drains": 1,
// CHECK: "unrelated": 1,

  // Enough work in between, and both are used.
  s_mov_b32 s9, 10
.Lhidden:
  global_load_dwordx4 v[4:7], v2, s[6:7]
  global_load_dwordx4 v[8:11], v2, s[6:7] offset:1024
  .rept 20
  v_exp_f32 v20, v20
  .endr
  s_waitcnt vmcnt(0)
  v_add_f32 v12, v12, v4
  v_add_f32 v12, v12, v8
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lhidden
// CHECK: "distance": 20,
// CHECK-NEXT: "distance_cycles": 320,
// CHECK: "stall_cycles": 0,
finish vgprs=256
