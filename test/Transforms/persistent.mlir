// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(atx-persistent{workgroups=6}))' --verify-diagnostics | FileCheck %s

// 20 tiles by 6 workgroups take 4 rounds, which 5 workgroups do as well.
// CHECK-LABEL: func.func @constant
// CHECK-SAME: atx.grid = ["5", "1", "1"]
// CHECK: %[[B:.*]] = gpu.block_id  x
// CHECK: %[[W:.*]] = arith.index_cast %[[B]] : index to i32
// CHECK: atx.tile_shared
// CHECK-NEXT: scf.for %[[T:.*]] = %[[W]] to %c20_i32{{.*}} step %c5_i32{{.*}} : i32 {
// CHECK: %[[X:.*]] = arith.remui %[[T]]
// CHECK: %[[Y:.*]] = arith.divui %[[T]]
// CHECK-NOT: gpu.block_id
// CHECK-NOT: gpu.grid_dim
// CHECK: gpu.barrier
// CHECK: atx.tile_store %{{.*}}, %arg0[%[[I:.*]], %[[J:.*]]]
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @constant(%c: memref<5x4xi32> {atx.name = "c", atx.shape = ["5", "4"], atx.output}) attributes {atx.kernel, atx.grid = ["5", "4", "1"], atx.threads = 64 : i64, atx.dims = []} {
  %s = atx.tile_shared : memref<4xi32, #gpu.address_space<workgroup>>
  %x = gpu.block_id x
  %y = gpu.block_id y
  %n = gpu.grid_dim x
  %i = arith.index_cast %n : index to i32
  atx.tile_store %i, %s[%y] : i32, memref<4xi32, #gpu.address_space<workgroup>>, index
  gpu.barrier
  %v = atx.tile_load %s[%y] : memref<4xi32, #gpu.address_space<workgroup>>, index -> i32
  atx.tile_store %v, %c[%x, %y] : i32, memref<5x4xi32>, index, index
  return
}

// -----

// With dimensions of run time the grid is an expression, right for no tiles too.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: atx.grid = ["cdiv(N * M, cdiv(N * M + 1 / (N * M + 1), 6))", "1", "1"]
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
func.func @dynamic(%c: memref<?x?xi32> {atx.name = "c", atx.shape = ["N", "M"], atx.output}) attributes {atx.kernel, atx.grid = ["N", "M"], atx.threads = 64 : i64, atx.dims = ["N", "M"]} {
  %x = gpu.block_id x
  %y = gpu.block_id y
  %i = arith.index_cast %x : index to i32
  atx.tile_store %i, %c[%x, %y] : i32, memref<?x?xi32>, index, index
  return
}

// -----

// CHECK-LABEL: func.func @few
// CHECK-SAME: atx.grid = ["6"]
// expected-remark @+1 {{is not made persistent: its 6 tiles are no more than 6 workgroups}}
func.func @few(%c: memref<6xi32> {atx.name = "c", atx.shape = ["6"], atx.output}) attributes {atx.kernel, atx.grid = ["6"], atx.threads = 64 : i64, atx.dims = []} {
  %x = gpu.block_id x
  %i = arith.index_cast %x : index to i32
  atx.tile_store %i, %c[%x] : i32, memref<6xi32>, index
  return
}

// -----

// Workgroup 7 would never run while workgroup 1 waits for it.
// CHECK-LABEL: func.func @waits
// CHECK-SAME: atx.grid = ["9"]
func.func @waits(%c: memref<9xi32> {atx.name = "c", atx.shape = ["9"], atx.output}) attributes {atx.kernel, atx.grid = ["9"], atx.threads = 64 : i64, atx.dims = []} {
  %zero = arith.constant 0 : i32
  %x = gpu.block_id x
  // expected-remark @+1 {{keeps the kernel from being persistent: the loop may wait for another workgroup}}
  %r = scf.while (%v = %zero) : (i32) -> i32 {
    %l = atx.tile_load %c[%x] : memref<9xi32>, index -> i32
    %e = arith.cmpi eq, %l, %zero : i32
    scf.condition(%e) %l : i32
  } do {
  ^bb0(%a: i32):
    scf.yield %a : i32
  }
  return
}
