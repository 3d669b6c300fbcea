// RUN: atrex-opt %s | FileCheck %s
// RUN: atrex-opt %s --mlir-print-op-generic | atrex-opt | FileCheck %s

// CHECK-LABEL: func.func private @mfma
func.func private @mfma() attributes {
  // CHECK-SAME: a = #atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>
  a = #atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>,
  // CHECK-SAME: b = #atx_amdgpu.mfma<4x4x4, f16, f16, f32, blocks = 16, cbsz = 4, abid = 1>
  b = #atx_amdgpu.mfma<4x4x4, f16, f16, f32, blocks = 16, abid = 1, cbsz = 4>,
  // CHECK-SAME: c = #atx_amdgpu.mfma<16x16x8, tf32, tf32, f32>
  c = #atx_amdgpu.mfma<16x16x8, tf32, tf32, f32, blocks = 1>,
  // CHECK-SAME: d = #atx_amdgpu.mfma<16x16x4, f64, f64, f64, blgp = 5>
  d = #atx_amdgpu.mfma<16x16x4, f64, f64, f64, blgp = 5>,
  // CHECK-SAME: e = #atx_amdgpu.mfma<32x32x16, f8E4M3FNUZ, f8E5M2FNUZ, f32>
  e = #atx_amdgpu.mfma<32x32x16, f8E4M3FNUZ, f8E5M2FNUZ, f32>,
  // CHECK-SAME: f = #atx_amdgpu.mfma<16x16x128, f6E2M3FN, f6E3M2FN, f32>
  f = #atx_amdgpu.mfma<16x16x128, f6E2M3FN, f6E3M2FN, f32>
}

// CHECK-LABEL: func.func private @others
func.func private @others() attributes {
  // CHECK-SAME: a = #atx_amdgpu.scaled_mfma<16x16x128, f8E4M3FN, f4E2M1FN, f32>
  a = #atx_amdgpu.scaled_mfma<16x16x128, f8E4M3FN, f4E2M1FN, f32>,
  // CHECK-SAME: b = #atx_amdgpu.scaled_mfma<32x32x64, f8E5M2, f8E5M2, f32, selectA = 1, selectB = 3>
  b = #atx_amdgpu.scaled_mfma<32x32x64, f8E5M2, f8E5M2, f32, selectB = 3, selectA = 1>,
  // CHECK-SAME: c = #atx_amdgpu.smfmac<16x16x32, bf16, bf16, f32>
  c = #atx_amdgpu.smfmac<16x16x32, bf16, bf16, f32>,
  // CHECK-SAME: d = #atx_amdgpu.smfmac<16x16x32, f16, f16, f32, abid = 3>
  d = #atx_amdgpu.smfmac<16x16x32, f16, f16, f32, cbsz = 0, abid = 3>
}

// CHECK-LABEL: func.func private @copies
func.func private @copies() attributes {
  // CHECK-SAME: a = #atx_amdgpu.buffer_copy<128>
  a = #atx_amdgpu.buffer_copy<128, cached>,
  // CHECK-SAME: b = #atx_amdgpu.buffer_copy<16, sc0_sc1_nt>
  b = #atx_amdgpu.buffer_copy<16, sc0_sc1_nt>,
  // CHECK-SAME: c = #atx_amdgpu.global_copy<96, nt>
  c = #atx_amdgpu.global_copy<96, nt>,
  // CHECK-SAME: d = #atx_amdgpu.lds_copy<96>
  d = #atx_amdgpu.lds_copy<96>,
  // CHECK-SAME: e = #atx_amdgpu.buffer_copy_lds<32, sc1>
  e = #atx_amdgpu.buffer_copy_lds<32, sc1>,
  // CHECK-SAME: f = #atx_amdgpu.global_copy_lds<128>
  f = #atx_amdgpu.global_copy_lds<128>,
  // CHECK-SAME: g = #atx_amdgpu.lds_read_trans<96, 6>
  g = #atx_amdgpu.lds_read_trans<96, 6>
}

// CHECK-LABEL: func.func private @atomics
func.func private @atomics() attributes {
  // CHECK-SAME: a = #atx_amdgpu.buffer_atomic<add, vector<2xf16>>
  a = #atx_amdgpu.buffer_atomic<add, vector<2xf16>>,
  // CHECK-SAME: b = #atx_amdgpu.global_atomic<umax, i64>
  b = #atx_amdgpu.global_atomic<umax, i64>,
  // CHECK-SAME: c = #atx_amdgpu.lds_atomic<max, f32>
  c = #atx_amdgpu.lds_atomic<max, f32>
}

// CHECK-LABEL: func.func @buffer
func.func @buffer(%p: !llvm.ptr<1>, %bytes: i64) {
  // CHECK: %[[P:.*]] = atx.make_ptr
  %q = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
  // CHECK: atx_amdgpu.make_buffer %[[P]], %{{.*}} : !atx.ptr<bf16, global, align = 16> -> !atx.ptr<bf16, buffer, align = 16>
  %b = atx_amdgpu.make_buffer %q, %bytes : !atx.ptr<bf16, global, align = 16> -> !atx.ptr<bf16, buffer, align = 16>
  // CHECK: atx_amdgpu.make_buffer %[[P]], %{{.*}} : !atx.ptr<bf16, global, align = 16> -> !atx.ptr<bf16, buffer, align = 4>
  %c = atx_amdgpu.make_buffer %q, %bytes : !atx.ptr<bf16, global, align = 16> -> !atx.ptr<bf16, buffer, align = 4>
  return
}

// Atoms in use: the operations verify memory spaces, widths and the chip.
// CHECK-LABEL: func.func @use
func.func @use(%v: !atx.view<bf16, buffer, (8,4):(1,64), align = 16>, %s: !atx.view<bf16, shared, (8,4):(1,64), align = 16>)
    attributes {atx.target = "MI300X"} {
  // CHECK: atx.copy #atx_amdgpu.buffer_copy<128>,
  %f = atx.copy #atx_amdgpu.buffer_copy<128>, %v : !atx.view<bf16, buffer, (8,4):(1,64), align = 16>
      -> !atx.fragment<bf16, (8,4):(1,8), chunk = 8>
  // CHECK: atx.copy #atx_amdgpu.lds_copy<128>,
  atx.copy #atx_amdgpu.lds_copy<128>, %f to %s : !atx.fragment<bf16, (8,4):(1,8), chunk = 8>,
      !atx.view<bf16, shared, (8,4):(1,64), align = 16>
  // CHECK: atx.copy #atx_amdgpu.buffer_copy_lds<32>,
  atx.copy #atx_amdgpu.buffer_copy_lds<32>, %v to %s : !atx.view<bf16, buffer, (8,4):(1,64), align = 16>,
      !atx.view<bf16, shared, (8,4):(1,64), align = 16>
  return
}

// CHECK-LABEL: func.func @product
func.func @product(%a: !atx.fragment<bf16, (4,2,1):(1,4,0), chunk = 4>, %b: !atx.fragment<bf16, (4,1,1):(1,0,0), chunk = 4>,
                   %c: !atx.fragment<f32, ((4,1),2,1):((1,0),4,0), chunk = 4>) attributes {atx.target = "gfx950"} {
  // CHECK: atx.gemm #atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>,
  %d = atx.gemm #atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>, %a, %b, %c : !atx.fragment<bf16, (4,2,1):(1,4,0), chunk = 4>,
      !atx.fragment<bf16, (4,1,1):(1,0,0), chunk = 4>, !atx.fragment<f32, ((4,1),2,1):((1,0),4,0), chunk = 4>
  return
}

// A partition of C by four waves; that of B of a product 4 x 64 in which all
// blocks share A.
// CHECK-LABEL: func.func @partition
func.func @partition(%c: !atx.view<f32, global, (64,64):(64,1), align = 16>, %t: !atx.int_tuple<?>,
                     %b: !atx.view<f16, global, (64,16):(16,1), align = 16>)
    -> (!atx.view<f32, global, ((4,1),2,2):((64,0),2048,32), align = 4>, !atx.view<f16, global, (4,1,4):(1,0,4), align = 16>) {
  // CHECK: atx.partition_mma c %{{.*}} by <#atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>, (2,2,1):(1,2,0)>
  %p = atx.partition_mma c %c, %t by <#atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>, (2,2,1):(1,2,0)>
      : !atx.view<f32, global, (64,64):(64,1), align = 16>, !atx.int_tuple<?>
  %q = atx.partition_mma b %b, %t by <#atx_amdgpu.mfma<4x4x4, f16, f16, f32, blocks = 16, cbsz = 4>, (1,1,1):(0,0,0)>
      : !atx.view<f16, global, (64,16):(16,1), align = 16>, !atx.int_tuple<?>
  return %p, %q : !atx.view<f32, global, ((4,1),2,2):((64,0),2048,32), align = 4>, !atx.view<f16, global, (4,1,4):(1,0,4), align = 16>
}
