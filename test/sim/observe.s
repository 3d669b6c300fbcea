// Executed instructions with what they change, and dumps.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --block 128 --arg zero:512 --trace-exec=wave:1 | FileCheck %s
//      CHECK: wg 0 wave 1 pc 0x{{[0-9a-f]+}} exec 0xffffffffffffffff  s_load_dwordx2 s[4:5], s[0:1], 0x0
// CHECK-NEXT: {{^}}    s4 = 0x
// CHECK-NEXT: {{^}}    s5 = 0x
//      CHECK: v_mov_b32_e32 v1, 3
// CHECK-NEXT: {{^}}    v1 = 0-63:0x00000003{{$}}
// CHECK-NEXT: v_add_u32_e32 v2, v0, v1
// CHECK-NEXT: {{^}}    v2 = 0-63:0x00000043+0x1{{$}}
// CHECK-NEXT: v_cmp_eq_u32_e32 vcc, 0x45, v2
// CHECK-NEXT: {{^}}    vcc_lo = 0x00000004{{$}}
// CHECK-NEXT: s_cmp_eq_u32 s8, 7
// CHECK-NEXT: {{^}}    scc = 1{{$}}
// CHECK-NEXT: ds_write_b32 v255, v2
// CHECK-NEXT: s_waitcnt
// Filters.
// RUN: atrex-sim run %t.co --grid 2 --block 128 --arg zero:512 --trace-exec=wg:all,wave:all,op:v_add_u32,file:%t.log
// RUN: grep -c exec %t.log | grep -x 4
// RUN: atrex-sim run %t.co --block 128 --arg zero:512 --trace-exec=op:v_* | FileCheck %s --check-prefix=GLOB
//  GLOB: v_lshlrev_b32
//  GLOB: v_mov_b32
// GLOB-NOT: s_
// RUN: atrex-sim run %t.co --block 128 --arg zero:512 --trace-exec=line:observe.s:72 | FileCheck %s --check-prefix=LINE
//     LINE: wg 0 wave 0 {{.*}} ds_write_b32 v255, v2
// LINE-NOT: wg
// RUN: atrex-sim run %t.co --block 128 --arg zero:512 --trace-exec=pc:0-0x10 | FileCheck %s --check-prefix=PC --allow-empty
// PC-NOT: wg
// Dumps.
// RUN: atrex-sim run %t.co --block 128 --arg zero:512 --dump-at observe.s:74 --dump s8,v2,a1,lds:0:16,arg:0+4:8 --dump-wave 1 | FileCheck %s --check-prefix=DUMP
//      DUMP: dump 1: wg 0 wave 1 before 0x{{[0-9a-f]+}}  s_barrier  [{{.*}}observe.s:74]
// DUMP-NEXT:   exec 0xffffffffffffffff  vcc 0x0000000000000004  scc 1  m0 0x00000000  mode 0x000003f0
// DUMP-NEXT:   s8 = 0x00000007
// DUMP-NEXT:   v2 lane  0: 00000043 00000044 00000045 00000046 00000047 00000048 00000049 0000004a
// DUMP:        v2 lane 56: 0000007b
// DUMP-NEXT:   a1 lane  0: 00000000
// DUMP:        lds 0x00000000: 00000003 00000004 00000005 00000006
// DUMP-NEXT:   mem 0x{{[0-9a-f]+}}: 00000000 00000000
// RUN: atrex-sim run %t.co --grid 3 --block 128 --arg zero:512 --dump-at observe.s:74 --dump s8 --dump-wg all --dump-wave all --dump-count 5 | grep -c "^dump" | grep -x 5
// RUN: atrex-sim run %t.co --block 128 --arg zero:512 --dump-at observe.s:999 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: warning: no wave reached 'observe.s:999'
// Command line.
// RUN: atrex-sim run %t.co --dump-at 99x > %t.log 2>&1; test $? -eq 2
// RUN: FileCheck %s --check-prefix=AT < %t.log
// AT: --dump-at expects an address or FILE:LINE, got '99x'
// RUN: not atrex-sim run %t.co --arg zero:8 --dump-at 0 --dump q1 2>&1 | FileCheck %s --check-prefix=ITEM
// ITEM: --dump: 'q1' is none of s0-15, v3, a0-3, lds:OFFSET:BYTES, mem:ADDRESS:BYTES, arg:N+OFFSET:BYTES
// RUN: not atrex-sim run %t.co --arg i32:8 --dump-at 0 --dump arg:0:4 2>&1 | FileCheck %s --check-prefix=ARG
// ARG: --dump: 'arg:0:4': argument 0 is not a buffer
// RUN: not atrex-sim run %t.co --dump s1 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: --dump needs --dump-at
// Filters that nothing can pass.
// RUN: not atrex-sim run %t.co --block 128 --arg zero:512 --trace-exec=pc:5-2 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: kernel 'test': the trace asks for addresses from 0x5 to 0x2, which are none
// RUN: not atrex-sim run %t.co --block 128 --grid 99 --arg zero:512 --trace-exec=wg:99 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: kernel 'test': the trace asks for workgroup 99, the grid has 99
// RUN: not atrex-sim run %t.co --block 128 --grid 9 --sample 1,2 --arg zero:512 --trace-exec=wg:3 2>&1 | FileCheck %s --check-prefix=SAMPLED
// SAMPLED: error: kernel 'test': the trace asks for workgroup 3, which is not in the sample
// RUN: not atrex-sim run %t.co --block 128 --arg zero:512 --dump-at 0 --dump-wave 2 2>&1 | FileCheck %s --check-prefix=DUMPWAVE
// DUMPWAVE: error: kernel 'test': the dump asks for wave 2, a workgroup has 2
// RUN: not atrex-sim run %t.co --trace-exec=when:1 2>&1 | FileCheck %s --check-prefix=FILTER
// FILTER: --trace-exec: 'when:1' is none of wg:N|all, wave:N|all, pc:FIRST-LAST, line:FILE:LINE, op:MNEMONIC, file:F
.set ROW, 256
.include "macros.inc"
begin
  s_mov_b32 s8, 7
  v_mov_b32 v1, 3
  v_add_u32 v2, v0, v1
  v_cmp_eq_u32 vcc, 0x45, v2
  s_cmp_eq_u32 s8, 7
  ds_write_b32 v255, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  global_store_dword v255, v2, s[4:5]
finish lds=1024
