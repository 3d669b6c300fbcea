// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(atx-stream-k{workgroups=3})' --verify-diagnostics | FileCheck %s
// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(atx-stream-k{splits=2})' --verify-diagnostics | FileCheck %s --check-prefix=SPLIT

// Two kernels and a plan in place of one. 4 tiles of 8 iterations, 3 workgroups.
// CHECK-LABEL: func.func @gemm(
// CHECK-SAME: %[[A:.*]]: memref<64x128xf32>
// CHECK-SAME: atx.plan
// CHECK: %[[P:.*]] = memref.alloc() {atx.name = "parts.0"} : memref<3x2x16x32xf32>
// CHECK: atx.launch @gemm.parts(%[[A]], %{{.*}}, %{{.*}}, %[[P]])
// CHECK: atx.launch @gemm.sum(%[[A]], %{{.*}}, %{{.*}}, %[[P]])
// CHECK-LABEL: func.func @gemm.parts(
// CHECK-SAME: %[[W:arg[0-9]+]]: memref<3x2x16x32xf32> {atx.name = "parts.0", atx.shape = ["3", "2", "16", "32"], atx.workspace}
// CHECK-SAME: atx.grid = ["3", "1", "1"]
// CHECK: %[[B:.*]] = gpu.block_id  x
// CHECK: scf.for
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: vector.contract
// CHECK: scf.if
// CHECK: atx.tile_store %{{.*}}, %{{.*}} : vector<16x32xf32>, memref<64x32xf32>
// CHECK: } else {
// CHECK: atx.tile_store %[[SUM]], %[[W]][%[[B]], %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK-LABEL: func.func @gemm.sum(
// CHECK-SAME: %[[W:arg[0-9]+]]: memref<3x2x16x32xf32>
// CHECK-SAME: atx.grid = ["4"]
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: scf.for
// CHECK: atx.tile_load %[[W]]
// CHECK: arith.addf
// CHECK: atx.tile_store
// CHECK-NOT: vector.contract
// SPLIT: memref.alloc() {atx.name = "parts.0"} : memref<8x2x16x32xf32>
// SPLIT-LABEL: func.func @gemm.parts(
// SPLIT-SAME: atx.feeds = 2
// SPLIT-SAME: atx.grid = ["8", "1", "1"]
// SPLIT-SAME: atx.reordered
func.func @gemm(%a: memref<64x128xf32> {atx.name = "a", atx.shape = ["64", "128"]}, %b: memref<32x128xf32> {atx.name = "b", atx.shape = ["32", "128"]}, %c: memref<64x32xf32> {atx.name = "c", atx.shape = ["64", "32"], atx.output}) attributes {atx.kernel, atx.grid = ["4"], atx.threads = 64 : i64, atx.dims = []} {
  %zero = arith.constant dense<0.0> : vector<16x32xf32>
  %lo = arith.constant 0 : i32
  %hi = arith.constant 128 : i32
  %step = arith.constant 16 : i32
  %block = gpu.block_id x
  %pm = arith.index_cast %block : index to i32
  %row0 = arith.muli %pm, %step : i32
  %ri = atx.tile_iota : vector<16xi32>
  %rb = vector.broadcast %row0 : i32 to vector<16xi32>
  %r = arith.addi %rb, %ri : vector<16xi32>
  %rows = vector.shape_cast %r : vector<16xi32> to vector<16x1xi32>
  %ni = atx.tile_iota : vector<32xi32>
  %ncol = vector.shape_cast %ni : vector<32xi32> to vector<32x1xi32>
  %sum = scf.for %k = %lo to %hi step %step iter_args(%acc = %zero) -> (vector<16x32xf32>) : i32 {
    %ki = atx.tile_iota : vector<16xi32>
    %kb = vector.broadcast %k : i32 to vector<16xi32>
    %kk = arith.addi %kb, %ki : vector<16xi32>
    %ks = vector.shape_cast %kk : vector<16xi32> to vector<1x16xi32>
    %x = atx.tile_load %a[%rows, %ks] : memref<64x128xf32>, vector<16x1xi32>, vector<1x16xi32> -> vector<16x16xf32>
    %y = atx.tile_load %b[%ncol, %ks] : memref<32x128xf32>, vector<32x1xi32>, vector<1x16xi32> -> vector<32x16xf32>
    %s = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %acc : vector<16x16xf32>, vector<32x16xf32> into vector<16x32xf32>
    scf.yield %s : vector<16x32xf32>
  }
  %cols = vector.shape_cast %ni : vector<32xi32> to vector<1x32xi32>
  atx.tile_store %sum, %c[%rows, %cols] : vector<16x32xf32>, memref<64x32xf32>, vector<16x1xi32>, vector<1x32xi32>
  return
}

// -----

// A maximum is no sum.
// CHECK-LABEL: func.func @maximum
// CHECK-SAME: atx.kernel
func.func @maximum(%a: memref<?xf32> {atx.name = "a", atx.shape = ["N"]}, %c: memref<64xf32> {atx.name = "c", atx.shape = ["64"], atx.output}) attributes {atx.kernel, atx.grid = ["4"], atx.threads = 64 : i64, atx.dims = ["N"]} {
  %zero = arith.constant dense<0.0> : vector<64xf32>
  %lo = arith.constant 0 : index
  %step = arith.constant 64 : index
  %hi = memref.dim %a, %lo : memref<?xf32>
  %i = atx.tile_iota : vector<64xi32>
  %m = scf.for %k = %lo to %hi step %step iter_args(%acc = %zero) -> (vector<64xf32>) {
    %x = atx.tile_load %a[%i] : memref<?xf32>, vector<64xi32> -> vector<64xf32>
    // expected-remark @+1 {{kernel 'maximum' is not divided along its sum: a carried value is not only added to}}
    %s = arith.maximumf %x, %acc : vector<64xf32>
    scf.yield %s : vector<64xf32>
  }
  atx.tile_store %m, %c[%i] : vector<64xf32>, memref<64xf32>, vector<64xi32>
  return
}

// -----

// Tiles of different length.
// CHECK-LABEL: func.func @triangle
// CHECK-SAME: atx.kernel
func.func @triangle(%a: memref<512xf32> {atx.name = "a", atx.shape = ["512"]}, %c: memref<64xf32> {atx.name = "c", atx.shape = ["64"], atx.output}) attributes {atx.kernel, atx.grid = ["4"], atx.threads = 64 : i64, atx.dims = []} {
  %zero = arith.constant dense<0.0> : vector<64xf32>
  %lo = arith.constant 0 : index
  %step = arith.constant 64 : index
  // expected-remark @+1 {{the number of iterations differs between tiles}}
  %block = gpu.block_id x
  %hi = arith.muli %block, %step : index
  %i = atx.tile_iota : vector<64xi32>
  %m = scf.for %k = %lo to %hi step %step iter_args(%acc = %zero) -> (vector<64xf32>) {
    %x = atx.tile_load %a[%i] : memref<512xf32>, vector<64xi32> -> vector<64xf32>
    %s = arith.addf %acc, %x : vector<64xf32>
    scf.yield %s : vector<64xf32>
  }
  atx.tile_store %m, %c[%i] : vector<64xf32>, memref<64xf32>, vector<64xi32>
  return
}

// -----

// Run-time extents: the workspace is as large as they say, and the plan finds them in its tensors.
// SPLIT-LABEL: func.func @dynamic(
// SPLIT-SAME: atx.plan
// SPLIT: %[[T:.*]] = arith.ceildivsi
// SPLIT: %[[W:.*]] = arith.muli %[[T]]
// SPLIT: memref.alloc(%[[W]]) {atx.name = "parts.0"} : memref<?x2x64xf32>
// SPLIT-LABEL: func.func @dynamic.parts(
// SPLIT-SAME: memref<?x2x64xf32> {atx.name = "parts.0", atx.shape = ["cdiv(M, 64) * 2", "2", "64"], atx.workspace}
// SPLIT-SAME: atx.grid = ["cdiv(M, 64) * 2", "1", "1"]
// SPLIT-LABEL: func.func @dynamic.sum(
// SPLIT-SAME: atx.grid = ["cdiv(M, 64)"]
// CHECK-LABEL: func.func @dynamic(
// CHECK: memref.alloc() {atx.name = "parts.0"} : memref<3x2x64xf32>
func.func @dynamic(%a: memref<?x?xf32> {atx.name = "a", atx.shape = ["K", "M"]}, %c: memref<?xf32> {atx.name = "c", atx.shape = ["M"], atx.output}, %k: index {atx.name = "K"}, %n: index {atx.name = "M"}) attributes {atx.kernel, atx.grid = ["cdiv(M, 64)"], atx.threads = 64 : i64, atx.dims = ["K", "M"]} {
  %zero = arith.constant dense<0.0> : vector<64xf32>
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %width = arith.constant 64 : i32
  %block = gpu.block_id x
  %p = arith.index_cast %block : index to i32
  %first = arith.muli %p, %width : i32
  %iota = atx.tile_iota : vector<64xi32>
  %b = vector.broadcast %first : i32 to vector<64xi32>
  %i = arith.addi %b, %iota : vector<64xi32>
  %sum = scf.for %j = %lo to %k step %step iter_args(%acc = %zero) -> (vector<64xf32>) {
    %x = atx.tile_load %a[%j, %i] : memref<?x?xf32>, index, vector<64xi32> -> vector<64xf32>
    %s = arith.addf %acc, %x : vector<64xf32>
    scf.yield %s : vector<64xf32>
  }
  atx.tile_store %sum, %c[%i] : vector<64xf32>, memref<?xf32>, vector<64xi32>
  return
}
