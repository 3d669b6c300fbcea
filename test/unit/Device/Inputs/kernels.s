// Kernels of SimDeviceTest.cpp.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.macro descriptor name
.size \name, .-\name
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
  .amdhsa_accum_offset 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
.end_amdhsa_kernel
.text
.endm
.text
.p2align 8
// out[64 g + i] = in[64 g + i] + in[0], bytes 0..2 of each dword only.
.globl partial
.type partial,@function
partial:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_lshl_b32 s3, s2, 8
  v_lshlrev_b32 v1, 2, v0
  v_add_u32 v1, s3, v1
  v_mov_b32 v4, 0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[6:7]
  global_load_dword v3, v4, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_u32 v2, v2, v3
  global_store_short v1, v2, s[4:5]
  v_lshrrev_b32 v2, 16, v2
  global_store_byte v1, v2, s[4:5] offset:2
  s_endpgm
descriptor partial
// Every workgroup adds its id + 1 to out[0] and waits until the sum is complete.
.globl meet
.type meet,@function
.p2align 8
meet:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  s_add_u32 s3, s2, 1
  v_mov_b32 v1, 0
  v_mov_b32 v2, s3
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v2, s[4:5]
.Lwait:
  global_load_dword v3, v1, s[4:5] sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s7, v3
  s_cmp_lg_u32 s7, s6
  s_cbranch_scc1 .Lwait
  s_endpgm
descriptor meet
// Reads in[0], takes it for an address and reads there.
.globl chase
.type chase,@function
.p2align 8
chase:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  global_load_dwordx2 v[2:3], v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_load_dword v4, v[2:3], off
  s_endpgm
descriptor chase
// 25 instructions that read in[i].
.globl many
.type many,@function
.p2align 8
many:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
.rept 25
  global_load_dword v2, v1, s[4:5]
.endr
  s_endpgm
descriptor many
