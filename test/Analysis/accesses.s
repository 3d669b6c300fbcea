// Widths and neighbourhoods of global accesses in loops.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-compile %t.co --remarks | FileCheck %s --check-prefix=REMARK
// RUN: atrex-compile %t.co --report=json | FileCheck %s
.include "kernel.macros"
.macro again label
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 \label
.endm
begin
  // Lanes next to each other: one could take what four do.
  s_mov_b32 s9, 10
.Llanes:
  global_load_dword v4, v1, s[6:7]
  again .Llanes
// REMARK: accesses.s:[[#@LINE-2]]: remark: 1 load of 4 bytes per lane in a loop; neighbouring bytes are accessed by the same or the next lanes, so that 16 bytes per lane are possible [vectorization]

  // A lane's own neighbours.
  v_lshlrev_b32 v2, 12, v0
  s_mov_b32 s9, 10
.Lown:
  global_store_dword v2, v4, s[4:5]
  global_store_dword v2, v4, s[4:5] offset:4
  again .Lown
// REMARK: accesses.s:[[#@LINE-3]]: remark: 1 store of 4 bytes per lane {{.*}} 8 bytes per lane are possible [vectorization]
// REMARK: accesses.s:[[#@LINE-4]]: remark: a wave's stores in a loop touch 64 cache lines of 128 bytes for 256 bytes: lanes are not next to each other in memory [uncoalesced]
// REMARK: accesses.s:[[#@LINE-4]]: remark: 1 store of 4 bytes
// REMARK: accesses.s:[[#@LINE-5]]: remark: {{.*}} [uncoalesced]
// REMARK-NOT: [vectorization]

  // Alone at a distance: no neighbour to merge with, but lines for nothing.
  s_mov_b32 s9, 10
.Lsparse:
  global_load_dword v4, v2, s[6:7]
  again .Lsparse
// REMARK: accesses.s:[[#@LINE-2]]: remark: a wave's loads in a loop touch 64 cache lines of 128 bytes for 256 bytes: {{.*}} [uncoalesced]
// REMARK-NOT: {{vectorization|uncoalesced}}

  // As wide as it gets.
  v_lshlrev_b32 v3, 4, v0
  s_mov_b32 s9, 10
.Lwide:
  global_load_dwordx4 v[8:11], v3, s[6:7]
  again .Lwide

  // Out of loops there is little to win.
  global_load_dword v4, v1, s[6:7]
  // From memory: unknown, nothing is claimed.
  s_waitcnt vmcnt(0)
  s_mov_b32 s9, 10
.Lgather:
  global_load_dword v5, v4, s[6:7]
  again .Lgather
finish
// 64 lanes, ten trips: 4 + 4 + 16 + 4 bytes, and 4 once.
// CHECK: "bytes_read": 18176,
// CHECK: "bytes_written": 5120,
// CHECK: "per_workgroup": true,
