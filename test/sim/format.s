// Typed buffer loads and stores: formats, selections, halves, ranges.
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -I %S/Inputs %s -o %t.o
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --block 1 --arg out:1024:%t.bin
// RUN: od -An -tx4 -v -w16 %t.bin | FileCheck %s
.set ROW, 4
.include "macros.inc"
.macro emit4
  emit v10
  emit v11
  emit v12
  emit v13
.endm
begin
// Bytes 01 7f ff 80, then 3c004200.
  s_add_u32 s40, s4, 0x300
  s_addc_u32 s41, s5, 0
  s_mov_b32 s42, 64
  s_movk_i32 s43, 0xfac
  v_mov_b32 v1, 0x80ff7f01
  v_mov_b32 v2, 0x3c004200
  v_mov_b32 v3, 0
  global_store_dword v3, v1, s[40:41]
  global_store_dword v3, v2, s[40:41] offset:4
  s_waitcnt vmcnt(0)
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM]
  emit4
// CHECK: 3b808081 3efefeff 3f800000 3f008081
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_SNORM]
  emit4
// CHECK-NEXT: 3c010204 3f800000 bc010204 bf800000
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_USCALED]
  emit4
// CHECK-NEXT: 3f800000 42fe0000 437f0000 43000000
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_SSCALED]
  emit4
// CHECK-NEXT: 3f800000 42fe0000 bf800000 c3000000
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_SINT]
  emit4
// CHECK-NEXT: 00000001 0000007f ffffffff ffffff80
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_2_10_10_10,BUF_NUM_FORMAT_UINT]
  emit4
// CHECK-NEXT: 00000301 000003df 0000000f 00000002
// Missing components are 0, 0, 1.
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT]
  emit4
// CHECK-NEXT: 80ff7f01 00000000 00000000 00000001
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] offset:4
  emit4
// CHECK-NEXT: 40400000 3f800000 00000000 3f800000
// Out of range: zeros.
  tbuffer_load_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offset:64
  emit4
// CHECK-NEXT: 00000000 00000000 00000000 00000000
// The descriptor's format 8_8 UINT; then Y in place of X, and a constant one.
  s_mov_b32 s43, 0x1cfac
  buffer_load_format_xy v[10:11], off, s[40:43], 0
  s_mov_b32 s43, 0x1cfcd
  buffer_load_format_xy v[12:13], off, s[40:43], 0
  emit4
// CHECK-NEXT: 00000001 0000007f 0000007f 00000001
// Halves: 8_8 UNORM; one half keeps the other.
  s_mov_b32 s43, 0x18fac
  buffer_load_format_d16_xy v10, off, s[40:43], 0
  v_mov_b32 v11, 0x11112222
  buffer_load_format_d16_x v11, off, s[40:43], 0
  v_mov_b32 v12, 0x11112222
  buffer_load_format_d16_hi_x v12, off, s[40:43], 0
  v_mov_b32 v13, 0
  emit4
// CHECK-NEXT: 37f81c04 11111c04 1c042222 00000000
// Stores clamp and round to nearest even.
  v_mov_b32 v10, 0.5
  v_mov_b32 v11, 1.0
  v_mov_b32 v12, -1.0
  v_mov_b32 v13, 2.0
  tbuffer_store_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM]
  tbuffer_store_format_xy v[10:11], off, s[40:43], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] offset:4
  tbuffer_store_format_xyzw v[10:13], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_SNORM] offset:8
  v_mov_b32 v10, 0x1ff
  v_mov_b32 v11, -5
  tbuffer_store_format_xy v[10:11], off, s[40:43], 0 format:[BUF_DATA_FORMAT_8_8,BUF_NUM_FORMAT_SINT] offset:12
  s_waitcnt vmcnt(0)
  v_mov_b32 v3, 0
  global_load_dwordx4 v[10:13], v3, s[40:41]
  s_waitcnt vmcnt(0)
  v_and_b32 v13, 0xffff, v13
  emit4
// CHECK-NEXT: ff00ff80 3c003800 7f817f40 0000fb7f
finish
