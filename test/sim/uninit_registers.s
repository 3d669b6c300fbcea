// Registers and scratch memory that nothing has written: found where their values
// become visible, silent where they do not.
// RUN: seq 1 1000 | head -c 1024 > %t.in
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CLEAN=1
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --raw-kernarg --grid 2 --block 128 --arg out:65536:%t.bin --arg in:%t.in --check all
// RUN: atrex-sim run %t.co --raw-kernarg --grid 2 --block 128 --arg out:65536:%t.bin --arg in:%t.in --check all --shuffle 3
// RUN: llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -g -filetype=obj -I %S/Inputs %s -o %t.o --defsym CLEAN=0
// RUN: ld.lld -shared %t.o -o %t.co
// RUN: atrex-sim run %t.co --raw-kernarg --arg out:65536:%t.bin --arg in:%t.in --check uninit > %t.log 2>&1; test $? -eq 1
// RUN: FileCheck %s < %t.log
// Without the check they are zero, as ever.
// RUN: atrex-sim run %t.co --raw-kernarg --arg out:65536:%t.bin --arg in:%t.in
.set ROW, 512
.include "macros.inc"
begin
  s_load_dwordx2 s[6:7], s[0:1], 0x8
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
.if CLEAN
  // The first rows are the first workgroup's.
  s_lshl_b32 s8, s2, 15
  s_add_u32 s4, s4, s8
  s_addc_u32 s5, s5, 0
  // Copies, selections and spills of what nobody looks at.
  v_mov_b32 v10, v11
  v_accvgpr_write_b32 a3, v10
  scratch_store_dword off, v10, off offset:8
  scratch_load_dword v12, off, off offset:8
  ds_write_b32 v255, v10
  s_waitcnt vmcnt(0) lgkmcnt(0)
  ds_read_b32 v13, v255
  s_waitcnt lgkmcnt(0)
  v_add_u32 v13, v13, v12
  s_mov_b64 s[10:11], 0xf0
  v_cndmask_b32 v14, v0, v0, s[10:11]
  s_mov_b64 exec, s[10:11]
  v_mov_b32 v15, 7
  s_not_b64 exec, exec
  v_cndmask_b32 v16, v15, v0, exec
  s_mov_b64 exec, -1
  emit v14
  v_cndmask_b32 v16, v0, v15, s[10:11]
  emit v16
  // Halves and bytes.
  v_and_b32 v17, 0xffff, v0
  global_load_short_d16_hi v18, v1, s[6:7]
  global_load_ushort v19, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_lshrrev_b32 v20, 16, v18
  emit v20
  s_mov_b32 s12, 0x07060100
  v_perm_b32 v20, v18, v17, s12
  emit v20
  v_and_b32 v20, 0xffff0000, v18
  emit v20
  v_bfi_b32 v20, s20, v0, v0
  v_alignbit_b32 v20, v17, v18, 16
  emit v20
  v_pack_b32_f16 v20, v18, v19 op_sel:[1,0,0]
  emit v20
  v_cvt_pkrtz_f16_f32 v21, v0, v22
  global_store_short v255, v21, s[4:5]
  v_add_u16_sdwa v21, v18, v19 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0
  s_add_u32 s4, s4, ROW
  s_addc_u32 s5, s5, 0
  emit v21
  // Known although the operands are not.
  v_xor_b32 v23, v24, v24
  emit v23
  v_and_b32 v23, 0, v24
  emit v23
  v_mad_u64_u32 v[26:27], s[14:15], v0, v0, v[28:29]
  v_mov_b32 v28, 5
  v_mad_u64_u32 v[26:27], s[14:15], v0, v0, v[28:29]
  emit v26
  // Lanes one by one.
  v_writelane_b32 v30, s4, 5
  s_nop 0
  v_readlane_b32 s16, v30, 5
  s_nop 1
  v_mov_b32 v31, s16
  emit v31
  v_mov_b32 v32, 0
  v_mov_b32_dpp v32, v15 quad_perm:[0,1,2,3] row_mask:0x1 bank_mask:0x2
  v_lshlrev_b32 v33, 2, v0
  ds_bpermute_b32 v34, v1, v32
  s_waitcnt lgkmcnt(0)
  // Conditions of lanes that do not take part.
  s_mov_b64 s[20:21], exec
  s_mov_b64 exec, 0xff
  v_mov_b32 v35, v0
  s_mov_b64 exec, s[20:21]
  v_cmp_gt_u32 s[22:23], 4, v35
  s_and_b64 s[24:25], s[22:23], 0xff
  s_cbranch_scc0 1f
  s_nop 0
1:
  s_mov_b64 exec, 0xff
  s_and_saveexec_b64 s[26:27], s[22:23]
  v_add_u32 v35, 1, v35
  s_mov_b64 exec, 0xff
  s_andn2_b64 s[24:25], s[40:41], exec
  s_and_b64 s[28:29], s[22:23], exec
  s_or_b64 s[24:25], s[24:25], s[28:29]
  s_and_saveexec_b64 s[28:29], s[24:25]
  s_mov_b64 exec, -1
  // A row of A that is not there gives a row of the result that is not used.
  v_mov_b32 v43, 0
  v_mov_b32 v44, 0
  v_mov_b32 v45, 0
  s_mov_b32 exec_lo, 0xfffefffe
  s_mov_b32 exec_hi, 0xfffefffe
  v_mov_b32 v42, 0
  s_mov_b64 exec, -1
  s_nop 4
  v_mfma_f32_16x16x16_f16 v[46:49], v[42:43], v[44:45], 0
  s_nop 7
  emit v47
  emit v48
.else
  global_store_dword v255, v10, s[4:5]
  s_mov_b64 exec, 0xff
  v_mov_b32 v11, 1
  s_mov_b64 exec, -1
  global_store_dword v255, v11, s[4:5]
  v_add_u32 v12, v13, v0
  v_lshlrev_b32 v12, 3, v12
  global_store_dword v255, v12, s[4:5]
  global_load_short_d16 v14, v1, s[6:7]
  s_waitcnt vmcnt(0)
  global_store_short v255, v14, s[4:5]
  global_store_dword v255, v14, s[4:5]
  global_load_dword v15, v16, s[6:7]
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 1f
1:
  v_cmp_eq_u32 vcc, v17, v0
  s_cbranch_vccz 1f
1:
  v_cmp_gt_u32 vcc, v18, v0
  s_and_saveexec_b64 s[22:23], vcc
  s_mov_b64 exec, -1
  v_accvgpr_read_b32 v19, a5
  global_store_dword v255, v19, s[4:5]
  scratch_load_dword v20, off, off offset:16
  s_waitcnt vmcnt(0)
  global_store_dword v255, v20, s[4:5]
  ds_write_b32 v255, v21
  ds_read_b32 v22, v255
  s_waitcnt lgkmcnt(0)
  global_store_dword v255, v22, s[4:5]
  v_readfirstlane_b32 s24, v23
  s_load_dword s25, s[6:7], s24
  s_mov_b64 s[28:29], s[6:7]
  s_mov_b32 s30, 64
  buffer_load_dword v24, v1, s[28:31], 0 offen
  v_mov_b32 v43, 0
  v_mov_b32 v44, 0
  v_mov_b32 v45, 0
  s_mov_b32 exec_lo, 0xfffefffe
  s_mov_b32 exec_hi, 0xfffefffe
  v_mov_b32 v42, 0
  s_mov_b64 exec, -1
  v_mfma_f32_16x16x16_f16 v[46:49], v[42:43], v[44:45], 0
  s_nop 7
  global_store_dwordx4 v255, v[46:49], s[4:5]
  ds_write_addtid_b32 v1 offset:256
  s_mov_b64 exec, 0xf7
  v_mov_b32 v31, 1
  s_mov_b64 exec, 0xff
  v_mov_b32 v30, 0
  s_nop 4
  v_mov_b32_dpp v30, v31 row_shr:1 row_mask:0xf bank_mask:0xf
  global_atomic_add v255, v30, s[6:7]
.endif
  s_endpgm
.Lend:
.size test, .Lend-test
.rodata
.p2align 6
.amdhsa_kernel test
  .amdhsa_next_free_vgpr 512
  .amdhsa_next_free_sgpr 96
  .amdhsa_accum_offset 256
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 512
  .amdhsa_private_segment_fixed_size 64
.end_amdhsa_kernel

// CHECK: error: kernel 'test': uninit: data of a store in v10 that nothing has written, by lanes 0-63; wave 0 of workgroup (0, 0, 0), instruction at {{.*}}: global_store_dword v255, v10, s[4:5] [{{.*}}uninit_registers.s:[[#@LINE-69]]]
// CHECK-NEXT: error: kernel 'test': uninit: data of a store in v11 that nothing has written, by lanes 8-63; {{.*}}: global_store_dword v255, v11
// CHECK-NEXT: error: kernel 'test': uninit: data of a store in v12: its value comes from v13, which nothing has written, by lanes 0-63; {{.*}}: global_store_dword v255, v12
// CHECK-NEXT: error: kernel 'test': uninit: data of a store in v14 that nothing has written, by lanes 0-63; {{.*}}: global_store_dword v255, v14
// CHECK-NEXT: error: kernel 'test': uninit: address in v16 that nothing has written, by lanes 0-63; {{.*}}: global_load_dword v15, v16, s[6:7]
// CHECK-NEXT: error: kernel 'test': uninit: condition of a branch in scc: its value comes from s20, which nothing has written, by the scalar unit; {{.*}}: s_cbranch_scc1
// CHECK-NEXT: error: kernel 'test': uninit: condition or target of a branch in vcc_lo: its value comes from v17, which nothing has written, by the scalar unit; {{.*}}: s_cbranch_vccz
// CHECK-NEXT: error: kernel 'test': uninit: new EXEC in vcc: its value comes from v18, which nothing has written, by lanes 0-63; {{.*}}: s_and_saveexec_b64 s[22:23], vcc
// CHECK-NEXT: error: kernel 'test': uninit: data of a store in v19: its value comes from a5, which nothing has written, by lanes 0-63;
// CHECK-NEXT: error: kernel 'test': uninit: data of a store in v20: its value comes from scratch memory that nothing has written, by lanes 0-63;
// CHECK-NEXT: error: kernel 'test': uninit: data of a store in v22: its value comes from LDS, where nothing or an undefined value was stored, by lanes 0-63;
// CHECK-NEXT: error: kernel 'test': uninit: operand of a scalar memory instruction in s24: its value comes from v23, which nothing has written, by the scalar unit; {{.*}}: s_load_dword s25
// CHECK-NEXT: error: kernel 'test': uninit: buffer descriptor or offset in s31 that nothing has written, by the scalar unit; {{.*}}: buffer_load_dword v24
// CHECK-NEXT: error: kernel 'test': uninit: data of a store in v46: its value comes from v42, which nothing has written, by lanes 0-15; {{.*}}: global_store_dwordx4
// CHECK-NEXT: error: kernel 'test': uninit: address in m0 that nothing has written, by the scalar unit; {{.*}}: ds_write_addtid_b32
// CHECK-NEXT: error: kernel 'test': uninit: data of an atomic in v30: its value comes from v31, which nothing has written, by lane 4; {{.*}}: global_atomic_add
// CHECK-NOT: uninit:
