// Set-ups that hand-written and foreign kernels rely on. No metadata: arguments
// lie one after the other.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
//
// Preloaded arguments: the entry is 256 bytes behind, the descriptor states fewer
// bytes than the host passes.
// RUN: atrex-sim run %t.co --kernel preload --arg out:16:%t.bin --arg i32:0x1234 --arg bytes:7856341200000000 --check all
// RUN: od -An -tx4 %t.bin | FileCheck %s --check-prefix=PRELOAD
// PRELOAD: 00001234 12345678 deadbeef 00000000
//
// Dispatch packet, queue, dispatch id, private segment size.
// RUN: atrex-sim run %t.co --kernel packet --grid 3,2 --block 32,2 --arg out:32:%t.bin --check all
// RUN: od -An -tx4 %t.bin | FileCheck %s --check-prefix=PACKET
// PACKET: 00020020 00000060 00000004 00000001
// PACKET-NEXT: 00ff0000 00fe0000 00000040 00000001
//
// Scratch through a buffer descriptor, every lane its own.
// RUN: atrex-sim run %t.co --kernel scratch_buffer --grid 2 --block 128 --arg out:1024:%t.bin --check all
// RUN: od -An -td4 -v -w4 %t.bin | sed -n '1p;65p;256p' | FileCheck %s --check-prefix=SCRATCH
// SCRATCH: 1000
// SCRATCH-NEXT: 1064
// SCRATCH-NEXT: 1255
//
// VSKIP passes over vector instructions only.
// RUN: atrex-sim run %t.co --kernel vskip --arg out:256:%t.bin --stats | FileCheck %s --check-prefix=STATS
// RUN: od -An -tx4 -N4 %t.bin | FileCheck %s --check-prefix=VSKIP
// STATS: wave-instructions
// VSKIP: 00000705
//
// Workgroups that wait for each other, forwards and backwards, through scalar
// and vector memory: 150 of them on one host thread.
// RUN: head -c 4096 /dev/zero > %t.zero
// RUN: atrex-sim run %t.co --kernel ring --grid 150 --block 64 --jobs 1 --arg inout:%t.zero:%t.bin
// RUN: od -An -td4 -N4 %t.bin | FileCheck %s --check-prefix=RING
// RUN: atrex-sim run %t.co --kernel ring --grid 150 --block 64 --jobs 2 --arg inout:%t.zero:%t.bin
// RUN: od -An -td4 -N4 %t.bin | FileCheck %s --check-prefix=RING
// RUN: atrex-sim run %t.co --kernel ring --grid 150 --block 64 --shuffle 5 --arg inout:%t.zero:%t.bin
// RUN: od -An -td4 -N4 %t.bin | FileCheck %s --check-prefix=RING
// RING: 150
//
// One wave waits for another without a barrier; right on hardware, where waves
// advance together, and reported.
// RUN: atrex-sim run %t.co --kernel together --block 128 --arg out:256:%t.bin
// RUN: od -An -td4 -N4 %t.bin | FileCheck %s --check-prefix=TOGETHER
// RUN: not atrex-sim run %t.co --kernel together --block 128 --arg out:256:%t.bin --check race 2>&1 | FileCheck %s --check-prefix=RACE
// TOGETHER: 77
// RACE: race: 4 bytes at offset 0 of LDS: read of what wave 1 of the workgroup writes in parallel
//
// A null pointer.
// RUN: atrex-sim run %t.co --kernel optional --arg out:4:%t.bin --arg i64:0
// RUN: od -An -td4 -N4 %t.bin | FileCheck %s --check-prefix=NULL
// RUN: not atrex-sim run %t.co --kernel optional --arg i64:0 --arg i64:0 2>&1 | FileCheck %s --check-prefix=DEREF
// NULL: 5
// DEREF: out-of-bounds store of 4 bytes at 0x0 by lane 0
//
// A descriptor with a stride counts bytes unless an index is used; the last dword
// of a wide access is cut.
// RUN: atrex-sim run %t.co --kernel stride4 --arg out:64:%t.bin --check align
// RUN: od -An -td4 -N64 %t.bin | FileCheck %s --check-prefix=STRIDE
// STRIDE: 1 1 1 1
// STRIDE-NEXT: 1 1 0 0
// STRIDE-NEXT: 0 0 0 0
//
// Subnormal half-precision values survive conversions and packed arithmetic.
// RUN: atrex-sim run %t.co --kernel halves --arg out:16:%t.bin
// RUN: od -An -tx4 -N16 %t.bin | FileCheck %s --check-prefix=HALVES
// HALVES: 00000001 33800000 00020002 00018001
//
// Arguments on the command line.
// RUN: not atrex-sim run %t.co --kernel optional --arg bytes:123 2>&1 | FileCheck %s --check-prefix=HEX
// HEX: argument 'bytes:123': expected bytes:HEX with an even number of digits

.macro kernel name
.text
.globl \name
.protected \name
.p2align 8
.type \name,@function
\name:
.endm
.macro descriptor
  s_endpgm
.rodata
.p2align 6
.endm

kernel preload
  // What old firmware executes: never reached here.
  s_trap 2
  .fill 63, 4, 0xbf800000
  v_mov_b32 v0, 0
  v_mov_b32 v4, s4
  v_mov_b32 v5, s5
  v_mov_b32 v6, 0xdeadbeef
  v_mov_b32 v7, 0
  s_mov_b64 exec, 1
  global_store_dwordx4 v0, v[4:7], s[2:3]
  descriptor
.amdhsa_kernel preload
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 0
  .amdhsa_user_sgpr_kernarg_preload_offset 0
  .amdhsa_user_sgpr_kernarg_preload_length 4
.end_amdhsa_kernel

kernel packet
  // s[0:1] dispatch, s[2:3] queue, s[4:5] arguments, s[6:7] dispatch id, s8
  // private size.
  s_load_dwordx2 s[10:11], s[4:5], 0
  s_load_dword s12, s[0:1], 4
  s_load_dword s13, s[0:1], 12
  s_load_dword s14, s[0:1], 16
  s_load_dword s15, s[0:1], 20
  s_load_dword s16, s[2:3], 0x40
  s_load_dword s17, s[2:3], 0x44
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v0, 0
  v_mov_b32 v4, s12
  v_mov_b32 v5, s13
  v_mov_b32 v6, s14
  v_mov_b32 v7, s15
  v_mov_b32 v8, s16
  v_mov_b32 v9, s17
  v_mov_b32 v10, s8
  v_mov_b32 v11, s6
  s_mov_b64 exec, 1
  global_store_dwordx4 v0, v[4:7], s[10:11]
  global_store_dwordx4 v0, v[8:11], s[10:11] offset:16
  descriptor
.amdhsa_kernel packet
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_queue_ptr 1
  .amdhsa_user_sgpr_dispatch_id 1
  .amdhsa_user_sgpr_private_segment_size 1
  .amdhsa_private_segment_fixed_size 64
.end_amdhsa_kernel

kernel scratch_buffer
  // s[0:3] descriptor, s[4:5] arguments, s6 workgroup, s7 offset of the wave.
  s_load_dwordx2 s[10:11], s[4:5], 0
  v_and_b32 v0, 0x3ff, v0
  s_lshl_b32 s8, s6, 7
  v_add_u32 v1, s8, v0
  v_add_u32 v2, 1000, v1
  v_mov_b32 v3, 12
  buffer_store_dword v2, v3, s[0:3], s7 offen
  buffer_store_dword v0, off, s[0:3], s7 offset:16
  s_waitcnt vmcnt(0)
  buffer_load_dword v4, off, s[0:3], s7 offset:12
  v_lshlrev_b32 v1, 2, v1
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v1, v4, s[10:11]
  descriptor
// Written out: the assembler has no directive for it on this target.
.globl scratch_buffer.kd
.type scratch_buffer.kd,@object
scratch_buffer.kd:
  .long 0, 32, 16, 0
  .quad scratch_buffer-scratch_buffer.kd
  .fill 5, 4, 0
  .long 7, 0xf0003, 0x8d
  .short 9, 0
  .long 0
.size scratch_buffer.kd, 64

kernel vskip
  s_load_dwordx2 s[10:11], s[0:1], 0
  v_mov_b32 v0, 0
  v_mov_b32 v1, 5
  s_mov_b32 s4, 2
  s_setvskip s4, 1 // bit 1 of 2: on
  s_nop 1
  v_mov_b32 v1, 9
  s_movk_i32 s5, 0x700
  v_mov_b32 v0, 64
  s_setvskip 0, 0
  s_nop 1
  v_or_b32 v1, s5, v1
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1
  s_nop 1
  v_mov_b32 v1, 9
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  global_store_dword v0, v1, s[10:11]
  descriptor
.amdhsa_kernel vskip
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel

kernel ring
  // Counts up from workgroup 0 to the last and back to 0: workgroup n waits for
  // n, the last one also publishes, the first one waits for that.
  s_load_dwordx2 s[10:11], s[0:1], 0
  v_mov_b32 v0, 0
  v_mov_b32 v1, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 .Lfirst
.Lwait:
  s_load_dword s4, s[10:11], 0x0 glc
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s4, s2
  s_cbranch_scc0 .Lwait
  s_mov_b64 exec, 1
  global_atomic_add v0, v1, s[10:11]
  s_waitcnt vmcnt(0)
  s_endpgm
.Lfirst:
  s_mov_b32 s5, 1
  s_store_dword s5, s[10:11], 0x0 glc
  s_waitcnt lgkmcnt(0)
.Lback:
  global_load_dword v2, v0, s[10:11] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s4, v2
  s_cmp_ge_u32 s4, 150
  s_cbranch_scc0 .Lback
  descriptor
.amdhsa_kernel ring
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel

kernel together
  s_load_dwordx2 s[10:11], s[0:1], 0
  v_and_b32 v0, 0x3ff, v0
  v_readfirstlane_b32 s4, v0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 77
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc1 .Lreader
  ds_write_b32 v1, v2
  s_endpgm
.Lreader:
  // About 100 instructions later the other wave is through.
.rept 100
  v_add_u32 v3, 1, v3
.endr
  ds_read_b32 v4, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v4, s[10:11]
  descriptor
.amdhsa_kernel together
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 64
.end_amdhsa_kernel

kernel optional
  s_load_dwordx4 s[8:11], s[0:1], 0
  v_mov_b32 v0, 0
  v_mov_b32 v1, 5
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u64 s[10:11], 0
  s_cbranch_scc1 .Lnull
  v_mov_b32 v1, 6
.Lnull:
  global_store_dword v0, v1, s[8:9]
  descriptor
.amdhsa_kernel optional
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel

kernel stride4
  s_load_dwordx2 s[8:9], s[0:1], 0
  v_mov_b32 v4, 1
  v_mov_b32 v5, 1
  v_mov_b32 v6, 1
  v_mov_b32 v7, 1
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v0, 4, v0
  s_waitcnt lgkmcnt(0)
  s_or_b32 s9, s9, 0x40000 // stride 4
  s_movk_i32 s10, 24 // bytes
  s_mov_b32 s11, 0x20000
  s_mov_b64 exec, 15
  buffer_store_dwordx4 v[4:7], v0, s[8:11], 0 offen
  descriptor
.amdhsa_kernel stride4
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel

kernel halves
  s_load_dwordx2 s[8:9], s[0:1], 0
  v_mov_b32 v0, 0
  v_mov_b32 v1, 0x33800000 // 2^-24, the smallest half
  v_cvt_f16_f32 v4, v1
  v_cvt_f32_f16 v5, v4
  v_mov_b32 v2, 0x00010001
  v_pk_add_f16 v6, v2, v2
  v_mov_b32 v2, 0x00018001
  v_pk_mul_f16 v7, v2, 1.0 op_sel_hi:[1,0]
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v0, v[4:7], s[8:9]
  descriptor
.amdhsa_kernel halves
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
