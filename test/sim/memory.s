// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// LDS, global, flat, scratch and buffer memory; 4 work-items, one row each.
// RUN: printf '\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017\020\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037\040' > %t.in
// RUN: atrex-sim run %t.co --raw-kernarg --block 4 --arg out:4096:%t.bin --arg in:%t.in --arg zero:256
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s
.set ROW, 16
.include "macros.inc"
begin
  s_load_dwordx4 s[8:11], s[0:1], 0x8
  v_lshlrev_b32 v1, 3, v0
  s_waitcnt lgkmcnt(0)
  // Global loads of all widths, lane i reads at byte 8 i.
  global_load_ubyte v2, v1, s[8:9]
  emit v2
// CHECK: 00000001 00000009 00000011 00000019
  global_load_ubyte_d16_hi v2, v1, s[8:9] offset:2
  emit v2
// CHECK-NEXT: 00030001 000b0009 00130011 001b0019
  global_load_ushort v2, v1, s[8:9] offset:1
  emit v2
// CHECK-NEXT: 00000302 00000b0a 00001312 00001b1a
  v_add_co_u32 v4, vcc, s8, v1
  v_mov_b32 v5, s9
  v_addc_co_u32 v5, vcc, 0, v5, vcc
  global_load_dwordx2 v[2:3], v[4:5], off
  emit v3
// CHECK-NEXT: 08070605 100f0e0d 18171615 201f1e1d
  flat_load_dword v2, v[4:5] offset:4
  emit v2
// CHECK-NEXT: 08070605 100f0e0d 18171615 201f1e1d
  v_mov_b32 v6, 0
  global_load_dwordx4 v[8:11], v6, s[8:9] offset:16
  emit v11
// CHECK-NEXT: 201f1e1d 201f1e1d 201f1e1d 201f1e1d
  // Scratch.
  v_mov_b32 v2, v0
  scratch_store_dword off, v2, off offset:4
  v_mov_b32 v3, 8
  scratch_store_dwordx2 v3, v[4:5], off offset:8
  scratch_load_dword v2, off, off offset:4
  emit v2
// CHECK-NEXT: 00000000 00000001 00000002 00000003
  // The same scratch through FLAT and the private aperture.
  s_mov_b64 s[12:13], src_private_base
  v_mov_b32 v12, 4
  v_mov_b32 v13, s13
  flat_load_dword v2, v[12:13]
  emit v2
// CHECK-NEXT: 00000000 00000001 00000002 00000003
  // LDS.
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v2, 0x11223344
  v_add_u32 v2, v2, v0
  v_mov_b32 v3, 0x55
  v_mov_b32 v4, 0x66
  v_mov_b32 v5, 0x77
  ds_write_b128 v1, v[2:5]
  v_xor_b32 v6, 16, v1
  ds_read_b128 v[8:11], v6
  s_waitcnt lgkmcnt(0)
  emit v8
// CHECK-NEXT: 11223345 11223344 11223347 11223346
  emit v11
// CHECK-NEXT: 00000077 00000077 00000077 00000077
  ds_read_u8 v8, v1 offset:1
  emit v8
// CHECK-NEXT: 00000033 00000033 00000033 00000033
  ds_read2_b32 v[8:9], v1 offset0:1 offset1:2
  emit v9
// CHECK-NEXT: 00000066 00000066 00000066 00000066
  ds_write2_b32 v1, v0, v3 offset0:2 offset1:3
  ds_read_b64 v[8:9], v1 offset:8
  emit v8
// CHECK-NEXT: 00000000 00000001 00000002 00000003
  v_mov_b32 v7, 0
  v_mov_b32 v8, 1
  ds_write_b32 v7, v7 offset:512
  ds_add_rtn_u32 v9, v7, v8 offset:512
  emit v9
// CHECK-NEXT: 00000000 00000001 00000002 00000003
  ds_max_u32 v7, v3 offset:512
  ds_read_b32 v9, v7 offset:512
  emit v9
// CHECK-NEXT: 00000055 00000055 00000055 00000055
  v_mov_b32 v8, 1.0
  ds_write_b32 v7, v8 offset:516
  ds_add_f32 v7, v8 offset:516
  ds_read_b32 v9, v7 offset:516
  emit v9
// CHECK-NEXT: 40a00000 40a00000 40a00000 40a00000
  // LDS out of the allocation reads zero.
  ds_read_b32 v9, v7 offset:65532
  emit v9
// CHECK-NEXT: 00000000 00000000 00000000 00000000
  // Global atomics.
  v_mov_b32 v8, 3
  global_atomic_add v9, v7, v8, s[10:11] sc0
  emit v9
// CHECK-NEXT: 00000000 00000003 00000006 00000009
  v_mov_b32 v8, 5
  v_mov_b32 v9, 12
  global_atomic_cmpswap v10, v7, v[8:9], s[10:11] sc0
  emit v10
// CHECK-NEXT: 0000000c 00000005 00000005 00000005
  v_mov_b32 v8, 1.0
  global_atomic_add_f32 v7, v8, s[10:11] offset:8
  global_load_dword v9, v7, s[10:11] offset:8
  emit v9
// CHECK-NEXT: 40800000 40800000 40800000 40800000
  // Raw buffer of 22 bytes: dwords are checked one by one.
  s_mov_b32 s20, s8
  s_mov_b32 s21, s9
  s_mov_b32 s22, 22
  s_mov_b32 s23, 0x27000
  v_lshlrev_b32 v1, 3, v0
  buffer_load_dword v2, v1, s[20:23], 0 offen
  emit v2
// CHECK-NEXT: 04030201 0c0b0a09 14131211 00000000
  buffer_load_dwordx2 v[2:3], v1, s[20:23], 0 offen
  emit v3
// CHECK-NEXT: 08070605 100f0e0d 00000000 00000000
  s_mov_b32 s24, 4
  buffer_load_dword v2, v1, s[20:23], s24 offen offset:4
  emit v2
// CHECK-NEXT: 0c0b0a09 14131211 00000000 00000000
  buffer_load_ubyte v2, v1, s[20:23], 0 offen offset:5
  emit v2
// CHECK-NEXT: 00000006 0000000e 00000016 00000000
  // Structured: stride 8, 3 records.
  s_or_b32 s21, s21, 0x80000
  s_mov_b32 s22, 3
  buffer_load_dword v2, v0, s[20:23], 0 idxen offset:4
  emit v2
// CHECK-NEXT: 08070605 100f0e0d 18171615 00000000
  // Stores beyond the range are dropped.
  s_mov_b32 s20, s10
  s_mov_b32 s21, s11
  s_mov_b32 s22, 72
  v_mov_b32 v2, 7
  v_lshlrev_b32 v1, 2, v0
  buffer_store_dword v2, v1, s[20:23], 0 offen offset:64
  global_load_dword v2, v1, s[10:11] offset:64
  emit v2
// CHECK-NEXT: 00000007 00000007 00000000 00000000
  buffer_atomic_add v8, v7, s[20:23], 0 offen offset:64 sc0
  emit v8
// CHECK-NEXT: 00000007 3f800007 7f000007 be800007
  // Scalar buffer load.
  s_mov_b32 s20, s8
  s_mov_b32 s21, s9
  s_mov_b32 s22, 22
  s_buffer_load_dwordx4 s[24:27], s[20:23], 0x8
  s_waitcnt lgkmcnt(0)
  emits s26
// CHECK-NEXT: 14131211 14131211 14131211 14131211
  emits s27
// CHECK-NEXT: 00000000 00000000 00000000 00000000
  // Direct to LDS.
  s_mov_b32 m0, 256
  s_nop 0
  global_load_lds_dword v1, s[8:9] offset:4
  v_add_u32 v3, 0x104, v1
  ds_read_b32 v2, v3
  emit v2
// CHECK-NEXT: 08070605 0c0b0a09 100f0e0d 14131211
  // Sums of address and offset wrap around.
  v_sub_u32 v3, 0, v1
  ds_read_b32 v2, v3 offset:272
  emit v2
// CHECK-NEXT: 14131211 100f0e0d 0c0b0a09 08070605
finish 1024, 3, 64
