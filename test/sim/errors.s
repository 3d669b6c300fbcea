// RUN: rm -f %t.bin
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CASE=0
// RUN: ld.lld -shared %t.o -o %t.co
// An instruction without handler is an error where it is executed, with address,
// text and source line.
// RUN: not atrex-sim run %t.co --arg out:256:%t.bin 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not test -e %t.bin
// UNKNOWN: kernel 'test': instruction is not implemented; wave 0 of workgroup (0, 0, 0), instruction at 0x{{[0-9a-f]+}} (test+0x{{[0-9a-f]+}}): v_screen_partition_4se_b32_e32 v1, v2 [{{.*}}errors.s:[[#@LINE+87]]]
// RUN: not atrex-sim coverage %t.co | FileCheck %s --check-prefix=COVERAGE
// COVERAGE: errors.s.tmp.co: {{[0-9]+}} instructions, 1 mnemonics not implemented
// COVERAGE-NEXT: v_screen_partition_4se_b32 (1 times)
//
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CASE=1
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: not atrex-sim run %t.co --arg out:100:%t.bin 2>&1 | FileCheck %s --check-prefix=OOB
// OOB: out-of-bounds store of 4 bytes at 0x{{[0-9a-f]+}} by lane 25: 0 bytes past the end of 'argument 0' (0x{{[0-9a-f]+}}, 100 bytes); wave 0 of workgroup (0, 0, 0), instruction at {{.*}}: global_store_dword v255, v0, s[4:5] [{{.*}}:{{[0-9]+}}]
//
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o --defsym CASE=2
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: not atrex-sim run %t.co --max-instructions 10000 --arg out:256:%t.bin 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: executed more than 10000 instructions and was given up as endless; wave 0 {{.*}}: s_branch
//
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o --defsym CASE=3
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: not atrex-sim run %t.co --arg out:256:%t.bin 2>&1 | FileCheck %s --check-prefix=JUMP
// JUMP: jump to 0x1000, which is no address of the code
// An unknown instruction that is not reached does no harm.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o --defsym CASE=4
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --arg out:256:%t.bin
//
// Files.
// RUN: head -c 300 %t.co > %t.cut
// RUN: not atrex-sim run %t.cut --arg zero:4 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: atrex-sim: error: '{{.*}}.cut':
// RUN: echo hello > %t.txt
// RUN: not atrex-sim run %t.txt 2>&1 | FileCheck %s --check-prefix=NOELF
// NOELF: error: '{{.*}}.txt': not an ELF file
// RUN: not atrex-sim run %t.none 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: error: cannot read '{{.*}}.none'
// What has no end or is too large is not read.
// RUN: not atrex-sim run /dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: cannot read '/dev/zero': it is a character device, not a regular file
// RUN: atrex-sim run %t.co --arg in:/dev/zero > %t.log 2>&1; test $? -eq 1
// RUN: FileCheck %s --check-prefix=DEVICE < %t.log
// RUN: atrex-sim run %t.co --arg inout:/dev/zero:%t.bin > %t.log 2>&1; test $? -eq 1
// RUN: FileCheck %s --check-prefix=DEVICE < %t.log
// RUN: not atrex-sim coverage /dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: rm -f %t.pipe && mkfifo %t.pipe
// RUN: not atrex-sim run %t.co --arg in:%t.pipe 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: error: cannot read '{{.*}}.pipe': it is a pipe, not a regular file
// RUN: not atrex-sim run %S 2>&1 | FileCheck %s --check-prefix=DIR
// DIR: error: cannot read '{{.*}}': it is a directory, not a regular file
// RUN: rm -f %t.large && truncate -s 1073741825 %t.large
// RUN: not atrex-sim run %t.large 2>&1 | FileCheck %s --check-prefix=LARGE && rm %t.large
// LARGE: error: cannot read '{{.*}}.large': it has 1073741825 bytes, more than the 1073741824 that are read
// RUN: rm -f %t.large && truncate -s 17179869185 %t.large
// RUN: not atrex-sim run %t.co --arg in:%t.large 2>&1 | FileCheck %s --check-prefix=LARGEARG && rm %t.large
// LARGEARG: error: cannot read '{{.*}}.large': it has 17179869185 bytes, more than the 17179869184 that are read
// RUN: not atrex-sim run %t.co --arch gfx950 --arg zero:4 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: code object is for gfx942, the device is gfx950
// RUN: not atrex-sim run %t.o --arg zero:4 2>&1 | FileCheck %s --check-prefix=OBJ
// OBJ: not a linked code object
// RUN: not atrex-sim run %t.co --kernel nope 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: has no kernel 'nope'; it has test
// RUN: not atrex-sim run %t.co --arg out:256:%t.nodir/x 2>&1 | FileCheck %s --check-prefix=OUTFILE
// OUTFILE: error: {{.*}}nodir
//
// Command line: usage errors end with 2.
// RUN: atrex-sim run %t.co --arg bogus:1 > %t.log 2>&1; test $? -eq 2
// RUN: FileCheck %s --check-prefix=SPEC < %t.log
// SPEC: argument 'bogus:1': unknown kind
// RUN: not atrex-sim run %t.co --arg out:12 2>&1 | FileCheck %s --check-prefix=SPECOUT
// SPECOUT: argument 'out:12': expected out:BYTES:FILE
// RUN: not atrex-sim run %t.co --arg i32:4294967296 2>&1 | FileCheck %s --check-prefix=SPECI32
// SPECI32: argument 'i32:4294967296': not a i32 integer
// RUN: not atrex-sim run %t.co --arg ptr:0+4 2>&1 | FileCheck %s --check-prefix=SPECPTR
// SPECPTR: argument 'ptr:0+4': argument 0 is not a buffer
// RUN: not atrex-sim run %t.co --arg zero:8 --arg ptr:0+9 2>&1 | FileCheck %s --check-prefix=SPECPTR2
// SPECPTR2: the buffer of argument 0 has 8 bytes
// RUN: not atrex-sim run %t.co --grid 0 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: --grid expects one to three positive integers, got '0'
// RUN: not atrex-sim run %t.co --block 2048 --arg zero:4 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: workgroup of 2048 work-items is larger than 1024
// RUN: not atrex-sim run %t.co --lds 70000 --arg zero:4 2>&1 | FileCheck %s --check-prefix=LDS
// LDS: 70000 bytes of LDS exceed the 65536 of MI308X
// RUN: not atrex-sim run %t.co --chip H20 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: chip 'H20' (NVIDIA) cannot be simulated
// RUN: not atrex-sim run %t.co --sample 3 --arg zero:256 2>&1 | FileCheck %s --check-prefix=SAMPLE
// SAMPLE: sampled workgroup 3 is not in the grid of 1
.set ROW, 256
.include "macros.inc"
begin
.if CASE == 0
  v_screen_partition_4se_b32_e32 v1, v2
.elseif CASE == 1
  emit v0
.elseif CASE == 2
.Lself:
  s_branch .Lself
.elseif CASE == 3
  s_movk_i32 s6, 0x1000
  s_mov_b32 s7, 0
  s_setpc_b64 s[6:7]
.else
  s_branch .Lskip
  v_screen_partition_4se_b32_e32 v1, v2
.Lskip:
.endif
finish
