// Global wave synchronization: four workgroups meet at a barrier, one of them
// waits at a semaphore. Whatever the number of host threads.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --grid 4 --block 64 --jobs 1 --arg zero:64 --arg out:16:%t.bin
// RUN: od -An -tu4 -v -w16 %t.bin | FileCheck %s
// RUN: atrex-sim run %t.co --grid 4 --block 64 --jobs 4 --arg zero:64 --arg out:16:%t.bin
// RUN: od -An -tu4 -v -w16 %t.bin | FileCheck %s
// CHECK: 4 4 4 4
.text
.globl test
.p2align 8
.type test,@function
test:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_lshl_b32 s8, s2, 2
  v_mov_b32 v1, s8
  v_mov_b32 v2, 1
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  s_waitcnt vmcnt(0)
  v_mov_b32 v6, 3
  ds_gws_barrier v6 offset:5 gds
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, 0
  global_load_dwordx4 v[8:11], v4, s[4:5]
  s_waitcnt vmcnt(0)
  v_add3_u32 v8, v8, v9, v10
  v_add_u32 v8, v8, v11
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lpost
// Workgroup 0 needs three posts.
  ds_gws_sema_p offset:6 gds
  ds_gws_sema_p offset:6 gds
  ds_gws_sema_p offset:6 gds
  s_branch .Lstore
.Lpost:
  ds_gws_sema_v offset:6 gds
.Lstore:
  global_store_dword v1, v8, s[6:7]
  s_endpgm
.Lend:
.size test, .Lend-test
.rodata
.p2align 6
.amdhsa_kernel test
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
