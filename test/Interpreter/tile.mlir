// Operations of tile form, each against values worked out by hand.
//
// RUN: atrex-interpret %s --op reduce --print | FileCheck %s --check-prefix=REDUCE
// RUN: atrex-interpret %s --op order --print | FileCheck %s --check-prefix=ORDER
// RUN: atrex-interpret %s --op memory --print --size T=5 | FileCheck %s --check-prefix=MEMORY
// RUN: atrex-interpret %s --op convert --print | FileCheck %s --check-prefix=CONVERT
// RUN: atrex-interpret %s --op lanes --print | FileCheck %s --check-prefix=LANES

func.func @reduce(%o: memref<6xi32> {atx.name = "o", atx.output}) attributes {atx.kernel} {
  %x = arith.constant dense<[[3, -1, 7], [2, 7, -5]]> : vector<2x3xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %sum = atx.tile_reduce sum %x axes [0, 1] : vector<2x3xi32> -> i32
  atx.tile_store %sum, %o[%c0] : i32, memref<6xi32>, index
  %max = atx.tile_reduce umax %x axes [0, 1] : vector<2x3xi32> -> i32
  atx.tile_store %max, %o[%c1] : i32, memref<6xi32>, index
  %arg = atx.tile_reduce argmax %x axes [1] : vector<2x3xi32> -> vector<2xi32>
  %a0 = vector.extract %arg[0] : i32 from vector<2xi32>
  %a1 = vector.extract %arg[1] : i32 from vector<2xi32>
  atx.tile_store %a0, %o[%c2] : i32, memref<6xi32>, index
  atx.tile_store %a1, %o[%c3] : i32, memref<6xi32>, index
  // The first NaN wins; zeros are equal.
  %f = arith.constant dense<[-0.0, 0.0, 0x7FC00000, 5.0]> : vector<4xf32>
  %nan = atx.tile_reduce argmin %f axes [0] : vector<4xf32> -> i32
  atx.tile_store %nan, %o[%c4] : i32, memref<6xi32>, index
  %g = arith.constant dense<[-0.0, 0.0, -1.0, -0.0]> : vector<4xf32>
  %zero = atx.tile_reduce argmax %g axes [0] : vector<4xf32> -> i32
  atx.tile_store %zero, %o[%c5] : i32, memref<6xi32>, index
  return
}
// REDUCE: o[0] = 13 exact
// REDUCE-NEXT: o[1] = -1 exact
// REDUCE-NEXT: o[2] = 2 exact
// REDUCE-NEXT: o[3] = 1 exact
// REDUCE-NEXT: o[4] = 2 exact
// REDUCE-NEXT: o[5] = 0 exact
// REDUCE-NEXT: 6 elements: 6 exact, 0 bounded, 0 undetermined (0.0%)

func.func @order(%o: memref<5x4xi32> {atx.name = "o", atx.output}) attributes {atx.kernel} {
  %x = arith.constant dense<[3, 1, 3, 2]> : vector<4xi32>
  %i = atx.tile_iota : vector<4xi32>
  %r0 = arith.constant 0 : i32
  %r1 = arith.constant 1 : i32
  %r2 = arith.constant 2 : i32
  %r3 = arith.constant 3 : i32
  %r4 = arith.constant 4 : i32
  %v, %at = atx.tile_topk %x k 4 axis 0 : vector<4xi32> -> vector<4xi32>, vector<4xi32>
  atx.tile_store %at, %o[%r0, %i] : vector<4xi32>, memref<5x4xi32>, i32, vector<4xi32>
  %rank = atx.tile_rank %x axis 0 : vector<4xi32> -> vector<4xi32>
  atx.tile_store %rank, %o[%r1, %i] : vector<4xi32>, memref<5x4xi32>, i32, vector<4xi32>
  %scan = atx.tile_scan sum %x axis 0 {exclusive, reverse} : vector<4xi32>
  atx.tile_store %scan, %o[%r2, %i] : vector<4xi32>, memref<5x4xi32>, i32, vector<4xi32>
  %h = atx.tile_histogram %x : vector<4xi32> -> vector<4xi32>
  atx.tile_store %h, %o[%r3, %i] : vector<4xi32>, memref<5x4xi32>, i32, vector<4xi32>
  // The last index is outside.
  %t = atx.tile_take %x, %scan axis 0 : vector<4xi32>, vector<4xi32> -> vector<4xi32>
  atx.tile_store %t, %o[%r4, %i] : vector<4xi32>, memref<5x4xi32>, i32, vector<4xi32>
  return
}
// ORDER: o[0, 0] = 0 exact
// ORDER-NEXT: o[0, 1] = 2 exact
// ORDER-NEXT: o[0, 2] = 3 exact
// ORDER-NEXT: o[0, 3] = 1 exact
// ORDER-NEXT: o[1, 0] = 0 exact
// ORDER-NEXT: o[1, 1] = 0 exact
// ORDER-NEXT: o[1, 2] = 1 exact
// ORDER-NEXT: o[1, 3] = 0 exact
// ORDER-NEXT: o[2, 0] = 6 exact
// ORDER-NEXT: o[2, 1] = 5 exact
// ORDER-NEXT: o[2, 2] = 2 exact
// ORDER-NEXT: o[2, 3] = 0 exact
// ORDER-NEXT: o[3, 0] = 0 exact
// ORDER-NEXT: o[3, 1] = 1 exact
// ORDER-NEXT: o[3, 2] = 1 exact
// ORDER-NEXT: o[3, 3] = 2 exact
// ORDER-NEXT: o[4, 0] = 0 exact
// ORDER-NEXT: o[4, 1] = 0 exact
// ORDER-NEXT: o[4, 2] = 3 exact
// ORDER-NEXT: o[4, 3] = 3 exact

// Rows of 2 per workgroup, of 5: the last row of the last workgroup is outside.
func.func @memory(%o: memref<?xi32> {atx.name = "o", atx.shape = ["T"], atx.output}, %n: memref<1xi32> {atx.name = "n", atx.output},
    %T: index {atx.name = "T"}) attributes {atx.kernel, atx.grid = ["cdiv(T, 2)", "1", "1"]} {
  %b = gpu.block_id x
  %b32 = arith.index_cast %b : index to i32
  %two = arith.constant 2 : i32
  %first = arith.muli %b32, %two : i32
  %i = atx.tile_iota : vector<2xi32>
  %s = vector.broadcast %first : i32 to vector<2xi32>
  %at = arith.addi %i, %s : vector<2xi32>
  // A fill value comes back for what is outside, through shared memory.
  %l = atx.tile_shared : memref<2xi32, #gpu.address_space<workgroup>>
  atx.tile_store %at, %l[%i] : vector<2xi32>, memref<2xi32, #gpu.address_space<workgroup>>, vector<2xi32>
  gpu.barrier
  %ones = arith.constant dense<1> : vector<2xi32>
  %next = arith.addi %i, %ones : vector<2xi32>
  %fill = arith.constant 77 : i32
  %v = atx.tile_load %l[%next] fill %fill : memref<2xi32, #gpu.address_space<workgroup>>, vector<2xi32> -> vector<2xi32>
  atx.tile_store %v, %o[%at] : vector<2xi32>, memref<?xi32>, vector<2xi32>
  %zeros = arith.constant dense<0> : vector<2xi32>
  %mask = arith.constant dense<[true, false]> : vector<2xi1>
  %old = atx.tile_atomic max %at, %n[%zeros] mask %mask : vector<2xi32>, memref<1xi32>, vector<2xi32> mask vector<2xi1>
  return
}
// MEMORY: o[0] = 1 exact
// MEMORY-NEXT: o[1] = 77 exact
// MEMORY-NEXT: o[2] = 3 exact
// MEMORY-NEXT: o[3] = 77 exact
// MEMORY-NEXT: o[4] = 5 exact
// MEMORY-NEXT: n[0] = 4 exact

func.func @convert(%o: memref<4xf8E4M3FN> {atx.name = "o", atx.output}, %n: memref<4xi8> {atx.name = "n", atx.output},
    %e: memref<2xf32> {atx.name = "e", atx.output}) attributes {atx.kernel} {
  %x = arith.constant dense<[448.0, 464.5, -1.0e9, 0x7FC00000]> : vector<4xf32>
  %i = atx.tile_iota : vector<4xi32>
  %f = atx.tile_convert %x : vector<4xf32> -> vector<4xf8E4M3FN>
  atx.tile_store %f, %o[%i] : vector<4xf8E4M3FN>, memref<4xf8E4M3FN>, vector<4xi32>
  %u = atx.tile_convert %x {is_unsigned} : vector<4xf32> -> vector<4xi8>
  atx.tile_store %u, %n[%i] : vector<4xi8>, memref<4xi8>, vector<4xi32>
  // A bound of 2 units, and what is left of it behind a rounding.
  %one = arith.constant 1.0 : f32
  %exp = math.exp %one : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  atx.tile_store %exp, %e[%c0] : f32, memref<2xf32>, index
  %short = arith.truncf %exp : f32 to bf16
  %long = arith.extf %short : bf16 to f32
  atx.tile_store %long, %e[%c1] : f32, memref<2xf32>, index
  return
}
// CONVERT: o[0] = 448 exact
// CONVERT-NEXT: o[1] = nan exact
// CONVERT-NEXT: o[2] = nan exact
// CONVERT-NEXT: o[3] = nan exact
// CONVERT-NEXT: n[0] = -1 exact
// CONVERT-NEXT: n[1] = -1 exact
// CONVERT-NEXT: n[2] = 0 exact
// CONVERT-NEXT: n[3] = 0 exact
// CONVERT-NEXT: e[0] = 2.71828175 +-{{4|5|6}}.{{[0-9]+}}e-07
// CONVERT-NEXT: e[1] = 2.71875 exact

// Lane l of 4 holds elements l and l + 4; each adds up its own.
func.func @lanes(%o: memref<8xi32> {atx.name = "o", atx.output}) attributes {atx.kernel} {
  %i = atx.tile_iota : vector<8xi32>
  %p = atx.tile_pin %i layout "((4,1),2):((1,0),4)" : vector<8xi32>
  %r = atx.tile_raw(%p) : (vector<8xi32>) -> vector<8xi32> {
  ^bb0(%a: vector<2xi32>):
    %s = vector.reduction <add>, %a : vector<2xi32> into i32
    %b = vector.broadcast %s : i32 to vector<2xi32>
    atx.tile_yield %b : vector<2xi32>
  }
  atx.tile_store %r, %o[%i] : vector<8xi32>, memref<8xi32>, vector<8xi32>
  return
}
// LANES: o[0] = 4 exact
// LANES-NEXT: o[1] = 6 exact
// LANES-NEXT: o[2] = 8 exact
// LANES-NEXT: o[3] = 10 exact
// LANES-NEXT: o[4] = 4 exact
// LANES-NEXT: o[5] = 6 exact
// LANES-NEXT: o[6] = 8 exact
// LANES-NEXT: o[7] = 10 exact
