// Scratch, spills and occupancy.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs --defsym SCRATCH=1 %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-compile %t.co --remarks | FileCheck %s --check-prefix=SCRATCH
// RUN: atrex-compile %t.co --report=json | FileCheck %s --check-prefix=JSON
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs --defsym LDS=1 %s -o %t2.o
// RUN: ld.lld -shared %t2.o -o %t2.co
// RUN: atrex-compile %t2.co --remarks | FileCheck %s --check-prefix=LDS
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t3.o
// RUN: ld.lld -shared %t3.o -o %t3.co
// RUN: atrex-compile %t3.co --remarks | FileCheck %s --check-prefix=CLEAN --allow-empty
// CLEAN-NOT: remark
.include "kernel.macros"
begin
.ifdef SCRATCH
  scratch_store_dword off, v0, off
  s_mov_b32 s9, 10
.Lloop:
  scratch_load_dword v4, off, off
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lloop
finish scratch=16, spills=3, vgprs=130, threads=256
// SCRATCH: remark: kernel 'test' has 3 of 8 waves on a SIMD, limited by its 130 vector registers; with 128 there would be 4 [occupancy]
// SCRATCH: kernel_remarks.s:[[#@LINE-6]]: remark: kernel 'test' keeps 16 bytes of each work-item in scratch memory, with 3 registers spilled: 2 accesses, 1 of them in loops [scratch]
// JSON: "occupancy_limiter": "vgpr",
// JSON: "occupancy_waves_per_simd": 3,
// JSON: "scratch_bytes": 16,
// JSON: "spills": 3,
// JSON: "vgpr": 130
.else
.ifdef LDS
finish lds=33000, threads=256
// LDS: remark: kernel 'test' has 1 of 8 waves on a SIMD, limited by its 33000 bytes of LDS; with 32768 there would be 2 [occupancy]
// LDS-NOT: scratch
.else
finish
.endif
.endif
