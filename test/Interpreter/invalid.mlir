// Programs that no run can be made of: each is refused at the place concerned.
//
// RUN: split-file %s %t
// RUN: not atrex-interpret %t/unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not atrex-interpret %t/outside.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not atrex-interpret %t/poison.mlir 2>&1 | FileCheck %s --check-prefix=POISON
// RUN: not atrex-interpret %t/large.mlir 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not atrex-interpret %t/endless.mlir --max-steps 1000 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not atrex-interpret %t/inner.mlir --max-steps 10000 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not atrex-interpret %t/memory.mlir --max-elements 120000 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not atrex-interpret %t/type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not atrex-interpret %t/order.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not atrex-interpret %t/recursive.mlir 2>&1 | FileCheck %s --check-prefix=RECURSIVE

//--- unknown.mlir
func.func @f(%o: memref<1xi32> {atx.name = "o", atx.output}) attributes {atx.kernel} {
  // UNKNOWN: unknown.mlir:3:8: error: the interpreter does not know 'gpu.thread_id'
  %0 = gpu.thread_id x
  return
}
//--- outside.mlir
func.func @f(%x: tensor<4xi32> {atx.name = "x"}, %o: tensor<i32> {atx.name = "o", atx.output}) -> tensor<i32> attributes {atx.operator} {
  %c9 = arith.constant 9 : index
  // OUTSIDE: error: index 9 is outside of axis 0 with extent 4
  %0 = tensor.extract %x[%c9] : tensor<4xi32>
  %1 = tensor.from_elements %0 : tensor<i32>
  return %1 : tensor<i32>
}
//--- poison.mlir
// POISON: error: element 0 (row-major) of output 'o' is the result of an undefined operation
func.func @f(%o: memref<1xi32> {atx.name = "o", atx.output}) attributes {atx.kernel} {
  %c0 = arith.constant 0 : index
  %s = atx.tile_shared : memref<4xi32, #gpu.address_space<workgroup>>
  %0 = atx.tile_load %s[%c0] : memref<4xi32, #gpu.address_space<workgroup>>, index -> i32
  atx.tile_store %0, %o[%c0] : i32, memref<1xi32>, index
  return
}
//--- large.mlir
func.func @f(%o: tensor<1xi32> {atx.name = "o", atx.output}) -> tensor<1xi32> attributes {atx.operator} {
  // LARGE: error: a value of shape '1000000x1000000' is too large to interpret
  %0 = tensor.empty() : tensor<1000000x1000000xi32>
  return %o : tensor<1xi32>
}
//--- endless.mlir
func.func @f(%o: memref<1xi32> {atx.name = "o", atx.output}) attributes {atx.kernel} {
  %t = arith.constant true
  // ENDLESS: error: the program has not ended after 1000 steps
  // ENDLESS: note: this loop has done {{[0-9]+}} iterations
  scf.while : () -> () {
    scf.condition(%t)
  } do {
    scf.yield
  }
  return
}
//--- inner.mlir
func.func @f(%o: memref<1xi32> {atx.name = "o", atx.output}) attributes {atx.kernel, atx.grid = ["3"]} {
  %a = arith.constant 0 : i32
  %b = arith.constant 1000 : i32
  %s = arith.constant 1 : i32
  // INNER: inner.mlir:{{[0-9]+}}:{{[0-9]+}}: error: the program has not ended after 10000 steps, in workgroup (0, 0, 0)
  // INNER: inner.mlir:{{[0-9]+}}:{{[0-9]+}}: note: {{this loop has|it is inside of a loop that has}} done {{[0-9]+}} iterations
  // INNER: inner.mlir:{{[0-9]+}}:{{[0-9]+}}: note: it is inside of a loop that has done {{[1-9]}} iterations
  scf.for %i = %a to %b step %s : i32 {
    scf.for %j = %a to %b step %s : i32 {
      %k = arith.addi %i, %j : i32
    }
  }
  return
}
//--- memory.mlir
func.func @f(%o: tensor<1xi32> {atx.name = "o", atx.output}) -> tensor<1xi32> attributes {atx.operator} {
  %0 = tensor.empty() : tensor<50000xi32>
  %1 = tensor.empty() : tensor<50000xi32>
  // MEMORY: error: a value of 50000 elements beside the {{1[0-9]+}} that are held already is too much to interpret; at most 120000 elements together
  %2 = tensor.empty() : tensor<50000xi32>
  return %o : tensor<1xi32>
}
//--- type.mlir
// TYPE: error: parameter 'x' has a type that the interpreter cannot supply
func.func @f(%x: tensor<4xi128> {atx.name = "x"}, %o: tensor<1xi32> {atx.name = "o", atx.output}) -> tensor<1xi32> attributes {atx.operator} {
  return %o : tensor<1xi32>
}
//--- order.mlir
func.func @f(%x: tensor<4xf32> {atx.name = "x"}, %o: tensor<f32> {atx.name = "o", atx.output}) -> tensor<f32> attributes {atx.operator} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%o : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %b, %b : f32
    // ORDER: error: the interpreter knows floating-point reductions that yield the combination of the result so far with one term
    %r = arith.addf %s, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
//--- recursive.mlir
// RECURSIVE: error: 'f' calls itself
func.func @f(%o: tensor<1xi32> {atx.name = "o", atx.output}) -> tensor<1xi32> attributes {atx.operator} {
  %0 = func.call @f(%o) : (tensor<1xi32>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}
