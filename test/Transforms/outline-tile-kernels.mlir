// RUN: atrex-opt %s --pass-pipeline='builtin.module(atx-outline-tile-kernels)' | FileCheck %s

// All kernels share a module; pointers are bare, sizes and strides come from run-time dimensions, which are 64-bit
// arguments whether the body takes them or only a shape names them.
// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @scale_kernels
// CHECK: gpu.func @scale(%[[X:.*]]: memref<f32>, %[[S:.*]]: f32, %[[C:.*]]: memref<i32>, %[[N:.*]]: i64, %[[M:.*]]: i64) kernel
// CHECK-SAME: {kind = "tensor", name = "x", shape = ["N", "M"], type = f32}
// CHECK-SAME: {default = 2.000000e+00 : f32, kind = "scalar", name = "s", type = f32}
// CHECK-SAME: {kind = "tensor", name = "c", output, row_axes = array<i64>, shape = ["N", "8"], type = ui32}
// CHECK-SAME: {kind = "dim", name = "N", type = i64}
// CHECK-SAME: {kind = "dim", name = "M", type = i64}
// CHECK-SAME: atx.constraints = ["N >= 1"]
// CHECK-SAME: atx.grid = ["cdiv(N, 4)", "1", "1"]
// CHECK-SAME: atx.kernel
// CHECK-SAME: atx.threads = 128
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-DAG: %[[NI:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK-DAG: %[[MI:.*]] = arith.index_cast %[[M]] : i64 to index
// CHECK: %[[STRIDE:.*]] = arith.muli %{{.*}}, %[[MI]]
// CHECK: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[NI]], %[[MI]]], strides: [%[[STRIDE]], 1]
// CHECK: %[[CAST:.*]] = memref.reinterpret_cast %[[C]] to offset: [0], sizes: [%[[NI]], 8], strides: [8, 1]
// CHECK: atx.tile_store %{{.*}}, %[[CAST]]
// CHECK: gpu.return
// CHECK: gpu.func @second(%{{.*}}: memref<i8>) kernel
// CHECK-NOT: func.func @scale
// CHECK: func.func @other
func.func @scale(%x: memref<?x?xf32> {atx.name = "x", atx.shape = ["N", "M"]}, %s: f32 {atx.name = "s", atx.default = 2.0 : f32}, %c: memref<?x8xi32> {atx.name = "c", atx.shape = ["N", "8"], atx.type = ui32, atx.output}, %n: index {atx.name = "N"}) attributes {atx.kernel, atx.grid = ["cdiv(N, 4)"], atx.threads = 128 : i64, atx.dims = ["N", "M"], atx.constraints = ["N >= 1"]} {
  %i = arith.index_cast %n : index to i32
  %z = arith.constant 0 : i32
  atx.tile_store %i, %c[%z, %z] : i32, memref<?x8xi32>, i32, i32
  return
}
func.func @second(%x: memref<4xi8> {atx.name = "x", atx.shape = ["4"]}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  return
}
func.func @other() {
  return
}
