// Reads of what nothing has written.
// RUN: head -c 1024 /dev/zero > %t.in
// What is written first is found by nobody.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CLEAN=1
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --raw-kernarg --arg out:4096:%t.bin --arg in:%t.in --arg zero:1024 --check uninit
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CLEAN=0
// RUN: ld.lld -shared %t.o -o %t.co
// Off, nothing is said.
// RUN: atrex-sim run %t.co --raw-kernarg --arg out:4096:%t.bin --arg in:%t.in --arg out:1024:%t.b2
// `out` buffers are not written by the host. The run goes on to its end.
// RUN: rm -f %t.bin
// RUN: atrex-sim run %t.co --raw-kernarg --grid 3 --jobs 1 --arg out:4096:%t.bin --arg in:%t.in --arg out:1024:%t.b2 --check uninit --json %t.json > %t.log 2>&1; test $? -eq 1
// RUN: FileCheck %s < %t.log
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: test -e %t.bin
// RUN: atrex-sim run %t.co --raw-kernarg --grid 3 --jobs 4 --arg out:4096:%t.bin --arg in:%t.in --arg out:1024:%t.b2 --check uninit > %t.log4 2>&1; test $? -eq 1
// RUN: sed -E 's/0x[0-9a-f]{9,}//g' %t.log > %t.log1a
// RUN: sed -E 's/0x[0-9a-f]{9,}//g' %t.log4 > %t.log4a
// RUN: cmp %t.log1a %t.log4a
// RUN: atrex-sim run %t.co --check everything > %t.log 2>&1; test $? -eq 2
// RUN: FileCheck %s --check-prefix=UNKNOWN < %t.log
// UNKNOWN: error: unknown check 'everything'; available are oob, uninit, race, wait, hazard, align and all
.set ROW, 256
.include "macros.inc"
begin
  s_load_dwordx4 s[8:11], s[0:1], 0x8
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  // Written by the host.
  global_load_dwordx4 v[4:7], v255, s[8:9]
  // Not written: once whole, once lanes 3 and 5 to 7 only.
  global_load_dword v2, v255, s[10:11]
  s_mov_b64 exec, 0xe8
  global_load_ushort v2, v255, s[10:11] offset:2
  s_mov_b64 exec, -1
  // Now written, but only the low halves.
  global_store_short v255, v0, s[10:11] offset:512
  global_load_ushort v2, v255, s[10:11] offset:512
  global_load_dword v2, v255, s[10:11] offset:512
  // Flat, buffers with an end inside of the access, atomics, scalar loads.
  v_add_co_u32 v4, vcc, s10, v255
  v_mov_b32 v5, s11
  v_addc_co_u32 v5, vcc, 0, v5, vcc
  flat_load_dword v2, v[4:5]
  s_mov_b32 s12, s10
  s_mov_b32 s13, s11
  s_mov_b32 s14, 4
  s_mov_b32 s15, 0x20000
  v_mov_b32 v8, 0
  global_store_dword v1, v8, s[10:11]
  buffer_load_dwordx2 v[2:3], v1, s[12:15], 0 offen
  global_atomic_swap v1, v8, s[10:11] offset:1020
  global_atomic_add v1, v8, s[10:11] offset:1016
  s_load_dwordx2 s[6:7], s[10:11], 0x3f0
  // LDS.
  ds_write_b32 v255, v0
  ds_read_b32 v2, v255
.if CLEAN
  ds_write2st64_b32 v255, v0, v0 offset0:1 offset1:2
  ds_write2_b64 v255, v[8:9], v[8:9] offset0:128 offset1:192
  v_lshlrev_b32 v12, 3, v0
  ds_write_b128 v12, v[8:11] offset:1024
  ds_write_b128 v12, v[8:11] offset:1512
.endif
  ds_read2_b32 v[2:3], v255 offset0:1 offset1:64
  ds_add_u32 v255, v0 offset:1024
  ds_read_b32 v2, v255 offset:1024
  // Out of the LDS allocation: zero by rule.
  v_mov_b32 v9, 0x8000
  ds_read_b32 v2, v9
  s_mov_b64 s[16:17], src_shared_base
  v_mov_b32 v10, 1536
  v_mov_b32 v11, s17
  flat_load_dword v2, v[10:11]
finish lds=2048

//      CHECK: error: kernel 'test': uninit: read of 4 bytes at 0x{{[0-9a-f]+}} (offset 0 of 'argument 2' (0x{{[0-9a-f]+}}, 1024 bytes)) that nothing has written, by lanes 0-63; wave 0 of workgroup (0, 0, 0), instruction at 0x{{[0-9a-f]+}} (test+0x{{[0-9a-f]+}}): global_load_dword v2, v255, s[10:11] [{{.*}}uninit.s:[[#@LINE-45]]]
//      CHECK: uninit: read of 2 bytes at 0x{{[0-9a-f]+}} (offset 14 of 'argument 2' ({{.*}} by lanes 3, 5-7; {{.*}}: global_load_ushort v2, v255, s[10:11] offset:2 [{{.*}}:[[#@LINE-44]]] (3 times)
//      CHECK: uninit: read of 4 bytes {{.*}} (offset 512 of {{.*}} by lanes 0-63; {{.*}}: global_load_dword v2, v255, s[10:11] offset:512 [
// In the first workgroup: later ones find what the first has written.
//      CHECK: uninit: {{.*}} by lanes 0-63; {{.*}}: flat_load_dword v2, v[4:5] [
//      CHECK: uninit: read of 4 bytes {{.*}} (offset 1016 of {{.*}}: global_atomic_add v1, v8, s[10:11] offset:1016 [
//      CHECK: uninit: read of 4 bytes {{.*}} (offset 1008 of {{.*}} by the scalar unit; {{.*}}: s_load_dwordx2 s[6:7], s[10:11], 0x3f0 [
//      CHECK: uninit: read of 4 bytes at offset 256 of LDS that nothing has written, by lanes 0-63; {{.*}}: ds_read2_b32 v[2:3], v255 offset0:1 offset1:64 [
//      CHECK: uninit: read of 4 bytes at offset 1024 of LDS {{.*}}: ds_add_u32 v255, v0 offset:1024 [
//      CHECK: uninit: read of 4 bytes at offset 1536 of LDS {{.*}} by lanes 0-63; {{.*}}: flat_load_dword v2, v[10:11] [
//  CHECK-NOT: error

// JSON: "findings": [
// JSON: "check": "uninit",
// JSON: "lanes": "0xffffffffffffffff",
// JSON: "source": "{{.*}}uninit.s:
// JSON: "wave": 0,
// JSON: "workgroup": [
// JSON: "findings_total": 9
