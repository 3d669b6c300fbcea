// Counts per instruction and source line.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --grid 8 --jobs 1 --arg zero:256 --profile %t.json | FileCheck %s --check-prefix=TABLE
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// The number of host threads changes nothing.
// RUN: atrex-sim run %t.co --grid 8 --jobs 4 --arg zero:256 --profile %t.json4 > %t.table4
// RUN: cmp %t.json %t.json4
// Within 100 columns, however long the path.
// RUN: not grep -E '.{101}' %t.table4
// On standard output there is JSON only.
// RUN: atrex-sim run %t.co --grid 8 --arg zero:256 --profile - > %t.json5
// RUN: cmp %t.json %t.json5
// RUN: not atrex-sim run %t.co --arg zero:256 --profile %t.none/x 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: {{.*}}none
// RUN: atrex-sim run %t.co --arg zero:256 --profile= > %t.log 2>&1; test $? -eq 2
// RUN: FileCheck %s --check-prefix=EMPTY < %t.log
// EMPTY: --profile expects a file name
// Without debug information.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --arg zero:256 --profile %t.json6 | FileCheck %s --check-prefix=NOLINE
// RUN: FileCheck %s --check-prefix=NOLINEJSON < %t.json6
// NOLINE: (no source line)
// NOLINEJSON-NOT: "file"
.set ROW, 256
.include "macros.inc"
begin
  s_mov_b32 s8, 5
.Lloop:
  v_exp_f32 v2, v2
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lloop
  s_mov_b64 exec, 0xff
  v_add_f64 v[4:5], v[4:5], v[4:5]
  ds_write_b64 v255, v[4:5]
  global_load_dwordx2 v[4:5], v255, s[4:5]
  s_cbranch_execnz .Lend_of_it
  v_mov_b32 v6, 7
.Lend_of_it:
  global_store_short v255, v0, s[4:5]
finish lds=1024
// Per workgroup 3 + 1 + 20 + 6 + 1 instructions.
// TABLE: profile of test: 248 wave-instructions, {{[0-9]+}} valu cycles
// TABLE-NEXT: valu wave-insts bytes lds bytes line
// TABLE-NEXT: {{[0-9.]+}}% 40 0 0 {{.*}}profile.s:[[#@LINE-16]]
// TABLE: {{[0-9.]+}}% 8 0 0 {{.*}}profile.s:[[#@LINE-12]]
// TABLE-DAG: 0.0% 8 0 512 {{.*}}profile.s:[[#@LINE-12]]
// TABLE-DAG: 0.0% 8 512 0 {{.*}}profile.s:[[#@LINE-12]]
// TABLE-DAG: 0.0% 8 128 0 {{.*}}profile.s:[[#@LINE-9]]

// JSON: "executions": 248,
// JSON: "instructions": [
// JSON: "text": "s_mov_b32 s8, 5",
// JSON: "average_active_lanes": 64,
// JSON-NEXT: "class": "trans",
// JSON-NEXT: "executions": 40,
// JSON-NEXT: "file": "{{.*}}profile.s",
// JSON-NEXT: "lds_read_bytes": 0,
// JSON-NEXT: "lds_write_bytes": 0,
// JSON-NEXT: "line": [[#@LINE-31]],
// JSON-NEXT: "load_bytes": 0,
// JSON-NEXT: "matrix_cycles": 0,
// JSON-NEXT: "store_bytes": 0,
// JSON-NEXT: "text": "v_exp_f32_e32 v2, v2",
// JSON-NEXT: "valu_cycles": {{[1-9][0-9]*}}
// JSON: "text": "v_add_f64 v[4:5], v[4:5], v[4:5]",
// JSON: "average_active_lanes": 8,
// JSON-NEXT: "class": "lds",
// JSON: "lds_write_bytes": 512,
// JSON: "average_active_lanes": 8,
// JSON-NEXT: "class": "vmem-load",
// JSON: "load_bytes": 512,
// An instruction that never executed.
// JSON: "class": "valu",
// JSON-NEXT: "executions": 0,
// JSON: "text": "v_mov_b32_e32 v6, 7",
// JSON: "class": "vmem-store",
// JSON: "store_bytes": 128,
// JSON: "kernel": "test",
// JSON: "lines": [
// JSON: "instructions": 1,
// JSON: "schema": "atrex-mlir/sim-profile/1",
// JSON: "workgroups_executed": 8,
