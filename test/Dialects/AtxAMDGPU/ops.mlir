// RUN: atrex-opt %s | FileCheck %s
// RUN: atrex-opt %s --mlir-print-op-generic | atrex-opt | FileCheck %s

// CHECK-LABEL: func.func @access
func.func @access(%m: memref<?x1024xbf16, strided<[1024, 1], offset: ?>>, %offset: i32, %mask: i1) {
  // CHECK: %[[R:.*]] = atx_amdgpu.make_resource %{{.*}} : memref<?x1024xbf16, strided<[1024, 1], offset: ?>> -> !llvm.ptr<8>
  %r = atx_amdgpu.make_resource %m : memref<?x1024xbf16, strided<[1024, 1], offset: ?>> -> !llvm.ptr<8>
  // CHECK: atx_amdgpu.buffer_load %[[R]][%{{.*}} + 512] : vector<8xbf16>
  %v = atx_amdgpu.buffer_load %r[%offset + 512] : vector<8xbf16>
  // CHECK: atx_amdgpu.buffer_load %[[R]][%{{.*}} + 0] mask %{{.*}} : vector<6xbf16>
  %w = atx_amdgpu.buffer_load %r[%offset + 0] mask %mask : vector<6xbf16>
  // CHECK: atx_amdgpu.buffer_store %{{.*}}, %[[R]][%{{.*}} + 512] : vector<8xbf16>
  atx_amdgpu.buffer_store %v, %r[%offset + 512] : vector<8xbf16>
  // CHECK: atx_amdgpu.buffer_store %{{.*}}, %[[R]][%{{.*}} + 0] mask %{{.*}} : vector<6xbf16>
  atx_amdgpu.buffer_store %w, %r[%offset + 0] mask %mask : vector<6xbf16>
  return
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%v: vector<2xf32>, %w: vector<1xi32>) {
  // CHECK: atx_amdgpu.lane_reduce add %{{.*}} over 256 : vector<2xf32>
  %s = atx_amdgpu.lane_reduce add %v over 256 : vector<2xf32>
  // CHECK: atx_amdgpu.lane_reduce max %{{.*}} over 16 : vector<2xf32>
  %m = atx_amdgpu.lane_reduce max %v over 16 : vector<2xf32>
  // CHECK: atx_amdgpu.lane_reduce min %{{.*}} over 64 : vector<1xi32>
  %n = atx_amdgpu.lane_reduce min %w over 64 : vector<1xi32>
  return
}
