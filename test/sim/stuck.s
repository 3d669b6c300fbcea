// Waves that never come to the barrier, and addresses that are no multiple.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CASE=1
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: not atrex-sim run %t.co --block 256 --arg zero:256 --max-instructions 5000 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: not atrex-sim run %t.co --block 256 --arg zero:256 --max-instructions 5000 --shuffle 1 2>&1 | FileCheck %s --check-prefix=BARRIER
// BARRIER: a wave executed more than 5000 instructions and was given up as endless; waves 0, 1 of the workgroup wait at the barrier at 0x{{[0-9a-f]+}} [{{.*}}stuck.s:{{[0-9]+}}]; 1 of its 4 waves have ended; wave 2 of workgroup (0, 0, 0), instruction at {{.*}}: s_branch {{.*}} [{{.*}}stuck.s:
// RUN: %S/Inputs/cases.sh %s %t align 2:1 3:1 4:1 5:1 > %t.log
// RUN: FileCheck %s < %t.log
// CHECK: case 2 gap 0: finding: align: 4 bytes at 0x{{[0-9a-f]+}} (offset 2 of 'argument 0' {{.*}}: misaligned access: slower, and wrong where unaligned access is off, by lanes 0-63;
// CHECK-NEXT: case 2 gap 1: clean
// CHECK: case 3 gap 0: finding: align: 8 bytes at offset 1 of LDS: misaligned access{{.*}} by lanes 0-63;
// CHECK-NEXT: case 3 gap 1: clean
// CHECK: case 4 gap 0: finding: align: 4 bytes at 0x{{[0-9a-f]+}} (offset 3 of {{.*}}: scalar memory ignores the two low bits of the address, by the scalar unit;
// CHECK-NEXT: case 4 gap 1: clean
// CHECK: case 5 gap 0: finding: align: 2 bytes {{.*}}by lane 1;
// CHECK-NEXT: case 5 gap 1: clean
.set ROW, 256
.include "macros.inc"
.ifndef GAP
.set GAP, 0
.endif
begin
.if CASE == 1
  v_readfirstlane_b32 s8, v0
  s_cmp_eq_u32 s8, 192
  s_cbranch_scc1 .Lout
  s_cmp_eq_u32 s8, 128
  s_cbranch_scc1 .Lloop
  s_barrier
  s_endpgm
.Lloop:
  s_branch .Lloop
.Lout:
.elseif CASE == 2
  global_load_dword v1, v255, s[4:5] offset:2+2*GAP
.elseif CASE == 3
  v_lshlrev_b32 v1, 3, v0
  ds_read_b64 v[2:3], v1 offset:1+3*GAP
.elseif CASE == 4
  s_add_u32 s4, s4, 3+GAP
  s_load_dword s8, s[4:5], 0x0
.elseif CASE == 5
  v_mov_b32 v1, v0
.if GAP
  v_mov_b32 v1, 0
.endif
  s_mov_b64 exec, 3
  global_store_short v1, v0, s[4:5]
.endif
finish lds=1024
