// RUN: atrex-opt %s --pass-pipeline='builtin.module(func.func(atx-grid-order{order=grouped group=4}))' | FileCheck %s
// RUN: atrex-opt %s --pass-pipeline='builtin.module(func.func(atx-grid-order{order=xcd group=1}))' | FileCheck %s --check-prefix=XCD
// RUN: atrex-opt %s --pass-pipeline='builtin.module(func.func(atx-grid-order{causal=reverse causal-axis=1}))' | FileCheck %s --check-prefix=REVERSE
// RUN: atrex-opt %s --pass-pipeline='builtin.module(func.func(atx-grid-order))' | FileCheck %s --check-prefix=SAME

// Constant extents: 16 x 8 in strips of 4, all divisors known.
// CHECK-LABEL: func.func @constant
// CHECK-SAME: atx.grid = ["16", "8", "1"]
// CHECK: %[[BX:.*]] = gpu.block_id  x
// CHECK: %[[X:.*]] = arith.index_cast %[[BX]] : index to i32
// CHECK: %[[BY:.*]] = gpu.block_id  y
// CHECK: %[[Y:.*]] = arith.index_cast %[[BY]] : index to i32
// CHECK: %[[ROW:.*]] = arith.muli %[[Y]], %{{.*}} : i32
// CHECK: %[[N:.*]] = arith.addi %[[X]], %[[ROW]] : i32
// CHECK: %[[STRIP:.*]] = arith.divui %[[N]], %{{.*}} : i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[STRIP]], %{{.*}} : i32
// CHECK: %[[IN:.*]] = arith.remui %[[N]], %{{.*}} : i32
// CHECK: %[[R:.*]] = arith.remui %[[IN]], %{{.*}} : i32
// CHECK: %[[TX:.*]] = arith.addi %[[FIRST]], %[[R]] : i32
// CHECK-NOT: arith.minsi
// CHECK: %[[TY:.*]] = arith.divui %[[IN]], %{{.*}} : i32
// CHECK: %[[I:.*]] = arith.index_castui %[[TX]] {atx.tile_index = 0 : i64} : i32 to index
// CHECK: %[[J:.*]] = arith.index_castui %[[TY]] {atx.tile_index = 1 : i64} : i32 to index
// CHECK: arith.index_cast %[[I]] : index to i32
// CHECK: arith.index_cast %[[J]] : index to i32
// Chip MI308X has four dies, of 128 tiles 32 each.
// XCD-LABEL: func.func @constant
// XCD: arith.remui %{{.*}}, %{{.*}} : i32
// XCD: arith.divui
// REVERSE-LABEL: func.func @constant
// REVERSE: %[[BY:.*]] = gpu.block_id  y
// REVERSE: %[[Y:.*]] = arith.index_cast %[[BY]] : index to i32
// REVERSE: arith.subi %{{.*}}, %[[Y]] : i32
// SAME-LABEL: func.func @constant
// SAME-NOT: atx.tile_index
func.func @constant(%c: memref<16x8xi32> {atx.name = "c", atx.shape = ["16", "8"], atx.output}) attributes {atx.kernel, atx.grid = ["16", "8", "1"], atx.threads = 64 : i64, atx.dims = []} {
  %x = gpu.block_id x
  %y = gpu.block_id y
  %i = arith.index_cast %x : index to i32
  %j = arith.index_cast %y : index to i32
  %v = arith.addi %i, %j : i32
  atx.tile_store %v, %c[%i, %j] : i32, memref<16x8xi32>, i32, i32
  return
}

// Extents of run time come from the arguments; the last strip may be narrower.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[C:.*]]: memref<?x?xi32>
// CHECK-DAG: memref.dim %[[C]]
// CHECK-DAG: arith.ceildivsi
// CHECK: arith.minsi
// CHECK: arith.minsi
func.func @dynamic(%c: memref<?x?xi32> {atx.name = "c", atx.shape = ["M", "N"], atx.output}) attributes {atx.kernel, atx.grid = ["cdiv(M, 16)", "N"], atx.threads = 64 : i64, atx.dims = ["M", "N"]} {
  %x = gpu.block_id x
  %y = gpu.block_id y
  %i = arith.index_cast %x : index to i32
  atx.tile_store %i, %c[%x, %y] : i32, memref<?x?xi32>, index, index
  return
}

// One tile after the other has one order only; what is no kernel is left alone.
// CHECK-LABEL: func.func @line
// CHECK-NOT: atx.tile_index
func.func @line(%c: memref<?xi32> {atx.name = "c", atx.shape = ["M"], atx.output}) attributes {atx.kernel, atx.grid = ["M"], atx.threads = 64 : i64, atx.dims = ["M"]} {
  %x = gpu.block_id x
  %i = arith.index_cast %x : index to i32
  atx.tile_store %i, %c[%x] : i32, memref<?xi32>, index
  return
}
func.func @other() {
  return
}
