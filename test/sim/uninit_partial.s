// A read of LDS that is wider than what was written: only the use of the rest is found.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CLEAN=1
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --raw-kernarg --arg out:4096:%t.bin --check all
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CLEAN=0
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --raw-kernarg --arg out:4096:%t.bin --check uninit > %t.log 2>&1; test $? -eq 1
// RUN: FileCheck %s < %t.log
.set ROW, 256
.include "macros.inc"
begin
  v_lshlrev_b32 v2, 2, v255
  v_mov_b32 v4, 1
  v_mov_b32 v5, 2
  ds_write_b64 v2, v[4:5]
  s_waitcnt lgkmcnt(0)
  ds_read_b128 v[6:9], v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v255, v6, s[4:5]
  global_store_dword v255, v7, s[4:5] offset:256
.if !CLEAN
  global_store_dword v255, v9, s[4:5] offset:512
  // Nothing of this is written.
  ds_read_b32 v10, v255 offset:1024
.endif
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
.Lend:
.size test, .Lend-test
.rodata
.p2align 6
.amdhsa_kernel test
  .amdhsa_next_free_vgpr 512
  .amdhsa_next_free_sgpr 96
  .amdhsa_accum_offset 256
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 2048
.end_amdhsa_kernel

// CHECK: error: kernel 'test': uninit: data of a store in v9: its value comes from LDS, where nothing or an undefined value was stored, by lanes 0-63; {{.*}}: global_store_dword v255, v9
// CHECK-NEXT: error: kernel 'test': uninit: read of 4 bytes at offset 1024 of LDS that nothing has written, by lanes 0-63; {{.*}}: ds_read_b32 v10
// CHECK-NOT: uninit:
