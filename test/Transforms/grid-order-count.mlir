// RUN: atrex-opt %s --pass-pipeline='builtin.module(func.func(atx-grid-order{order=row}),atx-record-plan)' | FileCheck %s

// The count of a launch is compared with the index that the kernel works with, not with the device's.
// CHECK-LABEL: func.func @kernel.count
// CHECK: %[[N:.*]] = arith.addi
// CHECK: %[[X:.*]] = arith.divui %[[N]]
// CHECK: %[[I:.*]] = arith.index_castui %[[X]] {atx.tile_index = 0 : i64}
// CHECK: %[[COUNT:.*]] = atx.tile_load
// CHECK: %[[OWN:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[OWN]], %[[COUNT]]
// CHECK: scf.if %[[BELOW]]
// CHECK: atx.tile_store
func.func @kernel(%c: memref<4x6xi32> {atx.name = "c", atx.shape = ["4", "6"], atx.output}) attributes {atx.kernel, atx.grid = ["4", "6"], atx.threads = 64 : i64, atx.dims = []} {
  %x = gpu.block_id x
  %y = gpu.block_id y
  %i = arith.index_cast %x : index to i32
  atx.tile_store %i, %c[%x, %y] : i32, memref<4x6xi32>, index, index
  return
}
func.func @plan(%c: memref<4x6xi32> {atx.name = "c", atx.shape = ["4", "6"], atx.output}, %n: memref<1xi32> {atx.name = "n", atx.shape = ["1"]}) attributes {atx.plan, atx.dims = []} {
  %zero = arith.constant 0 : index
  atx.launch @kernel(%c) count %n[%zero] : memref<4x6xi32> count memref<1xi32>
  return
}
