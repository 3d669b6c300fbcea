// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-kernels{workgroups=960},canonicalize,cse)' | FileCheck %s
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-kernels,canonicalize,cse)' | FileCheck %s --check-prefix=NEVER

// One iteration is one workgroup; arguments are bare pointers, scalars, then run-time dimensions; nothing is shared between
// tiles, so there is no loop.
// CHECK-DAG: #[[MIN:.*]] = affine_map<()[s0, s1] -> (16, s0 - s1)>
// CHECK: module attributes {gpu.container_module}
// CHECK-NOT: func.func
// CHECK: gpu.module @copy_kernels
// CHECK: gpu.func @copy(%[[X:.*]]: memref<bf16, #gpu.address_space<global>>, %{{.*}}: f32, %[[O:.*]]: memref<bf16, #gpu.address_space<global>>, %[[T:.*]]: i64) kernel attributes
// CHECK-SAME: {kind = "tensor", name = "x", shape = ["T", "64"], tile = "16", type = bf16}
// CHECK-SAME: {default = 1.000000e+00 : f32, kind = "scalar", name = "eps", type = f32}
// CHECK-SAME: {kind = "tensor", name = "o", output, shape = ["T", "64"], tile = "16", type = bf16}
// CHECK-SAME: {kind = "dim", name = "T", type = i64}
// CHECK-SAME: atx.constraints = ["T >= 1"]
// CHECK-SAME: atx.grid = ["cdiv(T, 16)", "1", "1"]
// CHECK-SAME: atx.mapping = #atx.mapping<
// CHECK-SAME: atx.threads = 128
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK: %[[N:.*]] = arith.index_cast %[[T]] : i64 to index
// CHECK: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[N]], 64], strides: [64, 1]
// CHECK: %[[B:.*]] = gpu.block_id x
// CHECK: %[[ROW:.*]] = arith.muli %[[B]], %c16
// CHECK-NOT: scf.for
// CHECK: %[[LEFT:.*]] = affine.min #[[MIN]]()
// CHECK: memref.subview %{{.*}}[%[[ROW]], 0] [%[[LEFT]], 64]
// CHECK: gpu.return
func.func @copy(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %eps: f32 {atx.name = "eps", atx.default = 1.0 : f32}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.constraints = ["T >= 1"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// The weight is read and prepared once, in front of a loop over the tiles of the workgroup.
// CHECK-LABEL: gpu.func @weight
// CHECK-SAME: name = "x", shape = ["T", "64"], tile = "16 * (1 + T / 15360)"
// CHECK-SAME: {kind = "tensor", name = "w", shape = ["64"], type = bf16}
// CHECK-SAME: atx.grid = ["cdiv(T, 16 * (1 + T / 15360))", "1", "1"]
// CHECK: %[[W:.*]] = vector.transfer_read %{{.*}} : memref<64xbf16,
// CHECK: vector.broadcast %[[W]]
// CHECK: %[[MORE:.*]] = arith.floordivsi %{{.*}}, %c15360
// CHECK: %[[PER:.*]] = arith.addi %[[MORE]], %c1
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %[[PER]]
// CHECK: %[[ALL:.*]] = arith.ceildivui %{{.*}}, %c16
// CHECK: %[[LEFT:.*]] = arith.subi %[[ALL]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[PER]], %[[LEFT]]
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c1
// CHECK-NOT: memref<64xbf16
// CHECK: vector.transfer_write
// NEVER-LABEL: gpu.func @weight
// NEVER-SAME: atx.grid = ["cdiv(T, 16)", "1", "1"]
// NEVER-NOT: scf.for
// NEVER: gpu.return
func.func @weight(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %w: memref<64xbf16, #gpu.address_space<global>> {atx.name = "w", atx.shape = ["64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %wv = vector.transfer_read %w[%c0], %zero {in_bounds = [true]} : memref<64xbf16, #gpu.address_space<global>>, vector<64xbf16>
    %wb = vector.broadcast %wv : vector<64xbf16> to vector<16x64xbf16>
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %wb, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// What the kernel writes is not read in front of the loop.
// CHECK-LABEL: gpu.func @inplace
// CHECK-SAME: atx.grid = ["cdiv(64, 16)", "1", "1"]
// CHECK-NOT: scf.for
// CHECK: gpu.return
func.func @inplace(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %w: memref<64xbf16, #gpu.address_space<global>> {atx.name = "w", atx.output, atx.shape = ["64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %wv = vector.transfer_read %w[%c0], %zero {in_bounds = [true]} : memref<64xbf16, #gpu.address_space<global>>, vector<64xbf16>
    %wb = vector.broadcast %wv : vector<64xbf16> to vector<16x64xbf16>
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %wb, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// Expressions of dimensions are computed from them; each dimension is an argument.
// CHECK-LABEL: gpu.func @expr
// CHECK-SAME: %[[B:[a-z0-9]+]]: i64, %[[S:[a-z0-9]+]]: i64) kernel
// CHECK-SAME: atx.grid = ["cdiv(B * S + 1, 16)", "1", "1"]
// CHECK-DAG: %[[BI:.*]] = arith.index_cast %[[B]]
// CHECK-DAG: %[[SI:.*]] = arith.index_cast %[[S]]
// CHECK: %[[P:.*]] = arith.muli %[[BI]], %[[SI]]
// CHECK: %[[E:.*]] = arith.addi %[[P]], %c1
// CHECK: sizes: [%[[E]], 64], strides: [64, 1]
func.func @expr(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["B * S + 1", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["B * S + 1", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["B", "S"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// No operator, no kernel.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: gpu.module
func.func @plain() {
  return
}
