// The order of execution drawn from a seed.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: head -c 65536 /dev/zero > %t.zero
// A kernel without races gives the same for all orders, with and without checks.
// RUN: atrex-sim run %t.co --grid 20 --block 256 --arg out:65536:%t.ref --arg inout:%t.zero:%t.log0
// RUN: for s in 1 2 3 4 5; do atrex-sim run %t.co --grid 20 --block 256 --arg out:65536:%t.out --arg inout:%t.zero:%t.log$s --shuffle $s && cmp %t.ref %t.out || exit 1; done
// RUN: atrex-sim run %t.co --grid 20 --block 256 --arg out:65536:%t.out --arg inout:%t.zero:%t.log6 --shuffle 1 --check all
// RUN: cmp %t.ref %t.out
// What depends on the order (here: who came when) repeats with the seed, and
// differs between seeds.
// RUN: atrex-sim run %t.co --grid 20 --block 256 --arg out:65536:%t.out --arg inout:%t.zero:%t.log7 --shuffle 1 --jobs 2
// RUN: cmp %t.log1 %t.log7
// RUN: cmp %t.log1 %t.log6
// RUN: not cmp %t.log1 %t.log2
// RUN: not cmp %t.log1 %t.log0
// A sample, too.
// RUN: atrex-sim run %t.co --grid 20 --block 256 --sample 3,17 --arg out:65536:%t.out --arg zero:65536 --shuffle 9 --stats | FileCheck %s
// CHECK: workgroups 2 of 20, waves 8
// A trace shows the order.
// RUN: atrex-sim run %t.co --grid 2 --block 256 --arg out:65536:%t.out --arg zero:65536 --shuffle 9 --trace - --trace-wg all --trace-wave all | FileCheck %s --check-prefix=TRACE
// TRACE: wg 1 wave
// TRACE: wg 0 wave
// TRACE: wg 1 wave
// RUN: not atrex-sim run %t.co --shuffle x 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: 'x' value invalid
.set ROW, 256
.include "macros.inc"
begin
  s_load_dwordx2 s[8:9], s[0:1], 0x8
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x3fc, v1
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_lshl_b32 s6, s2, 10
  v_add_u32 v1, s6, v1
  s_waitcnt lgkmcnt(0)
  v_add_u32 v3, s2, v3
  global_store_dword v1, v3, s[4:5]
  // Takes a number, and leaves it where the wave has its place.
  v_mov_b32 v4, 0
  v_mov_b32 v5, 1
  s_mov_b64 exec, 1
  global_atomic_add v6, v4, v5, s[8:9] sc0
  v_lshrrev_b32 v1, 4, v1
  s_waitcnt vmcnt(0)
  global_store_dword v1, v6, s[8:9] offset:256
finish lds=1024
