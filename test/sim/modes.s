// Indexed registers, skipped vector instructions, forks, scalar atomics.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --block 4 --arg out:1024:%t.bin
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s
// The trace names the instructions themselves while a mode replaces them.
// RUN: atrex-sim run %t.co --block 4 --arg out:1024:%t.bin2 --trace %t.trace
// RUN: cmp %t.bin %t.bin2
// RUN: FileCheck %s --check-prefix=TRACE < %t.trace
.set ROW, 16
.include "macros.inc"
begin
  s_mov_b64 s[30:31], s[4:5]
  v_mov_b32 v10, 100
  v_mov_b32 v11, 101
  v_mov_b32 v12, 102
  v_mov_b32 v13, 103
  v_mov_b32 v23, 0
  s_mov_b32 s8, 2
  s_mov_b32 s9, 3
// TRACE: s_set_gpr_idx_on s8, gpr_idx(SRC0)
// TRACE-NEXT: v_mov_b32_e32 v1, v10
// TRACE-NEXT: s_set_gpr_idx_idx s9
  s_set_gpr_idx_on s8, gpr_idx(SRC0)
  v_mov_b32 v1, v10
  s_set_gpr_idx_idx s9
  v_mov_b32 v2, v10
  s_set_gpr_idx_mode gpr_idx(DST)
  v_mov_b32 v20, v11
  s_mov_b32 s12, m0
  s_set_gpr_idx_off
  v_mov_b32 v3, v10
  emit v1
// CHECK: 00000066 00000066 00000066 00000066
  emit v2
// CHECK-NEXT: 00000067 00000067
  emit v23
// CHECK-NEXT: 00000065 00000065
  emit v3
// CHECK-NEXT: 00000064 00000064
  emits s12
// CHECK-NEXT: 00008003 00008003
// Both operands; an index beyond the registers reads v0 and writes nothing.
  s_movk_i32 s8, 0xff
  v_mov_b32 v4, 9
  v_lshlrev_b32 v0, 4, v0
  s_set_gpr_idx_on s8, gpr_idx(SRC0,SRC1)
  v_add_u32 v5, v10, v11
  s_set_gpr_idx_mode gpr_idx(DST)
  v_mov_b32 v4, 1
  s_set_gpr_idx_off
  emit v5
// CHECK-NEXT: 00000000 00000020 00000040 00000060
  emit v4
// CHECK-NEXT: 00000009 00000009 00000009 00000009
// Vector instructions are skipped, scalar ones are not; loops and branches work.
  s_mov_b32 s10, 4
  s_mov_b32 s11, 3
  v_mov_b32 v6, 0
  s_setvskip s10, 2
.Lloop:
  v_add_u32 v6, 1, v6
  s_sub_u32 s11, s11, 1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 .Lloop
  s_setvskip s10, 1
  v_add_u32 v6, 1, v6
  emit v6
// CHECK-NEXT: 00000001 00000001 00000001 00000001
  emits s11
// CHECK-NEXT: 00000000 00000000
// A fork: lanes 0 and 1 jump, the others wait on the stack in s[0:3].
  s_mov_b64 s[20:21], 3
  s_mov_b32 s22, 0
  v_mov_b32 v7, 0
  s_cbranch_i_fork s[20:21], .Ltaken
  v_mov_b32 v7, 2
  s_branch .Ljoin
.Ltaken:
  v_mov_b32 v7, 1
.Ljoin:
  s_cbranch_join s22
  s_mov_b64 exec, 15
  emit v7
// CHECK-NEXT: 00000001 00000001 00000002 00000002
// All lanes agree: no stack.
  s_mov_b64 s[20:21], 0
  v_mov_b32 v7, 3
  s_cbranch_i_fork s[20:21], .Lnever
  v_mov_b32 v7, 4
.Lnever:
  s_cbranch_join s22
  emit v7
// CHECK-NEXT: 00000004 00000004 00000004 00000004
// Scalar stores and atomics.
  s_mov_b32 s8, 7
  s_store_dword s8, s[30:31], 0x300
  s_mov_b32 s9, 5
  s_atomic_add s9, s[30:31], 0x300 glc
  s_mov_b32 s10, 99
  s_mov_b32 s11, 12
  s_atomic_cmpswap s[10:11], s[30:31], 0x300 glc
  s_movk_i32 s13, -3
  s_atomic_umax s13, s[30:31], 0x300
  s_waitcnt lgkmcnt(0)
  s_load_dword s14, s[30:31], 0x300
  s_waitcnt lgkmcnt(0)
  emits s9
// CHECK-NEXT: 00000007 00000007
  emits s10
// CHECK-NEXT: 0000000c 0000000c
  emits s14
// CHECK-NEXT: fffffffd fffffffd fffffffd fffffffd
// 64 bits through a buffer descriptor, in range and beyond.
  s_mov_b32 s40, s30
  s_mov_b32 s41, s31
  s_movk_i32 s42, 0x308
  s_mov_b32 s43, 0
  s_mov_b64 s[16:17], 1
  s_buffer_atomic_inc_x2 s[16:17], s[40:43], 0x300 glc
  s_mov_b64 s[18:19], 55
  s_buffer_atomic_add_x2 s[18:19], s[40:43], 0x308 glc
  s_waitcnt lgkmcnt(0)
  emits s16
// CHECK-NEXT: fffffffd fffffffd fffffffd fffffffd
  emits s18
// CHECK-NEXT: 00000000
finish
