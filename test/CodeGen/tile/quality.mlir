// RUN: atrex-compile %s --emit=asm -o - | FileCheck %s

// A constraint on a run-time extent makes accesses of 16 bytes: without it, no vector is known to end inside.
// CHECK-LABEL: constrained:
// CHECK: buffer_load_dwordx4
// CHECK: buffer_store_dwordx4
// CHECK: s_endpgm
// CHECK-LABEL: free:
// CHECK-NOT: dwordx4 v
// CHECK: buffer_load_dword v
// CHECK: s_endpgm
func.func @constrained(%a: memref<?xf32> {atx.name = "a", atx.shape = ["N"]}, %c: memref<?xf32> {atx.name = "c", atx.shape = ["N"], atx.output}, %n: index {atx.name = "N"}) attributes {atx.kernel, atx.grid = ["cdiv(N, 1024)"], atx.threads = 256 : i64, atx.dims = ["N"], atx.constraints = ["N % 4 == 0"]} {
  %block = gpu.block_id x
  %b = arith.index_cast %block : index to i32
  %size = arith.constant 1024 : i32
  %first = arith.muli %b, %size : i32
  %i = atx.tile_iota : vector<1024xi32>
  %f = vector.broadcast %first : i32 to vector<1024xi32>
  %r = arith.addi %f, %i : vector<1024xi32>
  %x = atx.tile_load %a[%r] : memref<?xf32>, vector<1024xi32> -> vector<1024xf32>
  atx.tile_store %x, %c[%r] : vector<1024xf32>, memref<?xf32>, vector<1024xi32>
  return
}
func.func @free(%a: memref<?xf32> {atx.name = "a", atx.shape = ["N"]}, %c: memref<?xf32> {atx.name = "c", atx.shape = ["N"], atx.output}, %n: index {atx.name = "N"}) attributes {atx.kernel, atx.grid = ["cdiv(N, 1024)"], atx.threads = 256 : i64, atx.dims = ["N"]} {
  %block = gpu.block_id x
  %b = arith.index_cast %block : index to i32
  %size = arith.constant 1024 : i32
  %first = arith.muli %b, %size : i32
  %i = atx.tile_iota : vector<1024xi32>
  %f = vector.broadcast %first : i32 to vector<1024xi32>
  %r = arith.addi %f, %i : vector<1024xi32>
  %x = atx.tile_load %a[%r] : memref<?xf32>, vector<1024xi32> -> vector<1024xf32>
  atx.tile_store %x, %c[%r] : vector<1024xf32>, memref<?xf32>, vector<1024xi32>
  return
}
