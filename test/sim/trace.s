// One line per executed wave-instruction.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o --defsym BAD=0
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --grid 3 --block 100 --arg zero:512 --trace %t.trace
// RUN: FileCheck %s --match-full-lines < %t.trace
//      CHECK: wg 0 wave 0 pc 0x[[#%x,BASE:]] exec 0xffffffffffffffff  s_load_dwordx2 s[4:5], s[0:1], 0x0
// CHECK-NEXT: wg 0 wave 0 pc 0x{{0*}}[[#BASE+8]] exec 0xffffffffffffffff  v_lshlrev_b32_e32 v255, 2, v0
// CHECK-NEXT: wg 0 wave 0 pc 0x{{0*}}[[#BASE+12]] exec 0xffffffffffffffff  s_waitcnt lgkmcnt(0)
// CHECK-NEXT: wg 0 wave 0 pc 0x{{0*}}[[#BASE+16]] exec 0xffffffffffffffff  s_mov_b32 exec_hi, 0
// CHECK-NEXT: wg 0 wave 0 pc 0x{{0*}}[[#BASE+20]] exec 0x00000000ffffffff  s_barrier
// CHECK-NEXT: wg 0 wave 0 pc 0x{{0*}}[[#BASE+24]] exec 0x00000000ffffffff  global_store_dword v255, v0, s[4:5]
// CHECK-NEXT: wg 0 wave 0 pc 0x{{0*}}[[#BASE+32]] exec 0x00000000ffffffff  s_endpgm
//  CHECK-NOT: {{.}}
// Filters. The last wave of the workgroup has 36 work-items.
// RUN: atrex-sim run %t.co --grid 3 --block 100 --arg zero:512 --trace - --trace-wg 2 --trace-wave 1 | FileCheck %s --check-prefix=FILTER
//      FILTER: wg 2 wave 1 pc {{.*}} exec 0x0000000fffffffff  s_load
// FILTER-COUNT-6: wg 2 wave 1
//  FILTER-NOT: wg
// The order is that of the execution, for any number of host threads.
// RUN: atrex-sim run %t.co --grid 3 --block 100 --arg zero:512 --trace %t.all --trace-wg all --trace-wave all --jobs 1
// RUN: atrex-sim run %t.co --grid 3 --block 100 --arg zero:512 --trace %t.all4 --trace-wg all --trace-wave all --jobs 4
// RUN: cmp %t.all %t.all4
// RUN: FileCheck %s --check-prefix=ALL < %t.all
//   ALL: wg 0 wave 0 {{.*}} s_barrier
//   ALL-NEXT: wg 0 wave 1 {{.*}} s_load
//   ALL: wg 0 wave 1 {{.*}} s_barrier
//   ALL-NEXT: wg 0 wave 0 {{.*}} global_store
//   ALL: wg 2 wave 1 {{.*}} s_endpgm
// RUN: atrex-sim run %t.co --grid 3 --block 100 --arg zero:512 --trace - --trace-wg all --trace-limit 3 | FileCheck %s --check-prefix=CUT
//      CUT: wg 0 wave 0 {{.*}} s_load
// CUT-NEXT: wg 0 wave 0 {{.*}} v_lshl
// CUT-NEXT: wg 0 wave 0 {{.*}} s_waitcnt
// CUT-NEXT: # cut after 3 lines
//  CUT-NOT: {{.}}
// Exactly as many lines as there may be: nothing was cut.
// RUN: atrex-sim run %t.co --arg zero:512 --trace - --trace-limit 7 | FileCheck %s --check-prefix=EXACT
// EXACT-NOT: cut
// A run that fails leaves its trace up to the failing instruction.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o --defsym BAD=1
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: not atrex-sim run %t.co --arg zero:512 --trace %t.bad 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: FileCheck %s --check-prefix=BAD < %t.bad
// FAIL: error: kernel 'test': the code is no instruction of gfx942; wave 0 {{.*}}: .long 0x{{[0-9a-f]+}}
// BAD: global_store_dword
// BAD-NEXT: .long 0xc4000000{{$}}
// BAD-NOT: {{.}}
// Command line.
// RUN: atrex-sim run %t.co --arg zero:512 --trace %t.x --trace-wg first > %t.log 2>&1; test $? -eq 2
// RUN: FileCheck %s --check-prefix=NUMBER < %t.log
// NUMBER: --trace-wg expects a number or 'all', got 'first'
// RUN: atrex-sim run %t.co --arg zero:512 --trace-wave 1 > %t.log 2>&1; test $? -eq 2
// RUN: FileCheck %s --check-prefix=ALONE < %t.log
// ALONE: --trace-wave needs --trace
.set ROW, 512
.include "macros.inc"
begin
  s_mov_b32 exec_hi, 0
  s_barrier
  global_store_dword v255, v0, s[4:5]
.if BAD
  .long 0xc4000000
.endif
finish
