// Operations on tiles: custom form, generic form and bytecode are read back.
//
// RUN: atrex-opt %s | FileCheck %s
// RUN: atrex-opt %s | atrex-opt | FileCheck %s
// RUN: atrex-opt %s --mlir-print-op-generic | atrex-opt | FileCheck %s
// RUN: atrex-opt %s -emit-bytecode | atrex-opt | FileCheck %s

// CHECK-LABEL: func.func @memory
func.func @memory(%m: memref<?x64xf32>, %s: memref<f32>, %p: vector<16x1xi1>, %q: i1, %i: index, %j: i32) attributes {atx.kernel} {
  // CHECK: atx.tile_iota : vector<16xi32>
  %0 = atx.tile_iota : vector<16xi32>
  // CHECK: atx.tile_iota : vector<80xindex>
  %1 = atx.tile_iota : vector<80xindex>
  %r = vector.shape_cast %0 : vector<16xi32> to vector<16x1xi32>
  %c = vector.shape_cast %1 : vector<80xindex> to vector<1x80xindex>
  %f = arith.constant -1.0 : f32
  // CHECK: %[[X:.*]] = atx.tile_load %{{.*}}[%{{.*}}, %{{.*}}] fill %{{.*}} : memref<?x64xf32>, vector<16x1xi32>, vector<1x80xindex> -> vector<16x80xf32>
  %x = atx.tile_load %m[%r, %c] fill %f : memref<?x64xf32>, vector<16x1xi32>, vector<1x80xindex> -> vector<16x80xf32>
  // CHECK: atx.tile_load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x64xf32>, index, i32 -> f32
  %y = atx.tile_load %m[%i, %j] : memref<?x64xf32>, index, i32 -> f32
  // CHECK: atx.tile_load %{{.*}}[] : memref<f32> -> f32
  %z = atx.tile_load %s[] : memref<f32> -> f32
  // CHECK: atx.tile_store %[[X]], %{{.*}}[%{{.*}}, %{{.*}}] mask %{{.*}} : vector<16x80xf32>, memref<?x64xf32>, vector<16x1xi32>, vector<1x80xindex> mask vector<16x1xi1>
  atx.tile_store %x, %m[%r, %c] mask %p : vector<16x80xf32>, memref<?x64xf32>, vector<16x1xi32>, vector<1x80xindex> mask vector<16x1xi1>
  // CHECK: atx.tile_store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] mask %{{.*}} : f32, memref<?x64xf32>, index, i32 mask i1
  atx.tile_store %y, %m[%i, %j] mask %q : f32, memref<?x64xf32>, index, i32 mask i1
  // CHECK: atx.tile_store %{{.*}}, %{{.*}}[] : f32, memref<f32>
  atx.tile_store %z, %s[] : f32, memref<f32>
  return
}

// CHECK-LABEL: func.func @shared
func.func @shared(%v: vector<64xi32>, %h: vector<64xbf16>, %i: vector<64xi32>, %p: vector<64xi1>, %j: index) {
  // CHECK: atx.tile_shared : memref<16xi32, #gpu.address_space<workgroup>>
  %s = atx.tile_shared : memref<16xi32, #gpu.address_space<workgroup>>
  %t = atx.tile_shared : memref<16xbf16, #gpu.address_space<workgroup>>
  // CHECK: atx.tile_atomic add %{{.*}}, %{{.*}}[%{{.*}}] mask %{{.*}} : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32> mask vector<64xi1>
  %0 = atx.tile_atomic add %v, %s[%i] mask %p : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32> mask vector<64xi1>
  %z = arith.constant 0 : i32
  // CHECK: atx.tile_atomic cas %{{.*}}, %{{.*}}[%{{.*}}] cmp %{{.*}} : i32, memref<16xi32, #gpu.address_space<workgroup>>, index
  %1 = atx.tile_atomic cas %z, %s[%j] cmp %z : i32, memref<16xi32, #gpu.address_space<workgroup>>, index
  // CHECK: atx.tile_atomic cas %{{.*}}, %{{.*}}[%{{.*}}] cmp %{{.*}} mask %{{.*}} : vector<64xi32>
  %2 = atx.tile_atomic cas %v, %s[%i] cmp %i mask %p : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32> mask vector<64xi1>
  // CHECK: atx.tile_atomic add %{{.*}}, %{{.*}}[%{{.*}}] : vector<64xbf16>
  %3 = atx.tile_atomic add %h, %t[%i] : vector<64xbf16>, memref<16xbf16, #gpu.address_space<workgroup>>, vector<64xi32>
  // CHECK: atx.tile_atomic max
  %4 = atx.tile_atomic max %v, %s[%i] : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32>
  // CHECK: atx.tile_atomic min
  %5 = atx.tile_atomic min %v, %s[%i] : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32>
  // CHECK: atx.tile_atomic umax
  %6 = atx.tile_atomic umax %v, %s[%i] : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32>
  // CHECK: atx.tile_atomic umin
  %7 = atx.tile_atomic umin %v, %s[%i] : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32>
  // CHECK: atx.tile_atomic and
  %8 = atx.tile_atomic and %v, %s[%i] : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32>
  // CHECK: atx.tile_atomic or
  %9 = atx.tile_atomic or %v, %s[%i] : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32>
  // CHECK: atx.tile_atomic xor
  %10 = atx.tile_atomic xor %v, %s[%i] : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32>
  // CHECK: atx.tile_atomic exchange
  %11 = atx.tile_atomic exchange %v, %s[%i] : vector<64xi32>, memref<16xi32, #gpu.address_space<workgroup>>, vector<64xi32>
  return
}

// CHECK-LABEL: func.func @axes
func.func @axes(%x: vector<4x8x16xf32>, %i: vector<4x8xi32>, %b: vector<4x8xi1>, %u: vector<8xi8>) {
  // CHECK: atx.tile_reduce sum %{{.*}} axes [1, 2] : vector<4x8x16xf32> -> vector<4xf32>
  %0 = atx.tile_reduce sum %x axes [1, 2] : vector<4x8x16xf32> -> vector<4xf32>
  // CHECK: atx.tile_reduce prod %{{.*}} axes [0, 2, 1] : vector<4x8x16xf32> -> f32
  %1 = atx.tile_reduce prod %x axes [0, 2, 1] : vector<4x8x16xf32> -> f32
  // CHECK: atx.tile_reduce max
  %2 = atx.tile_reduce max %x axes [0] : vector<4x8x16xf32> -> vector<8x16xf32>
  // CHECK: atx.tile_reduce min
  %3 = atx.tile_reduce min %i axes [0] : vector<4x8xi32> -> vector<8xi32>
  // CHECK: atx.tile_reduce umax
  %4 = atx.tile_reduce umax %i axes [0] : vector<4x8xi32> -> vector<8xi32>
  // CHECK: atx.tile_reduce umin
  %5 = atx.tile_reduce umin %i axes [0] : vector<4x8xi32> -> vector<8xi32>
  // CHECK: atx.tile_reduce argmax %{{.*}} axes [2] : vector<4x8x16xf32> -> vector<4x8xi32>
  %6 = atx.tile_reduce argmax %x axes [2] : vector<4x8x16xf32> -> vector<4x8xi32>
  // CHECK: atx.tile_reduce argmin %{{.*}} axes [0] {is_unsigned} : vector<8xi8> -> i32
  %7 = atx.tile_reduce argmin %u axes [0] {is_unsigned} : vector<8xi8> -> i32
  // CHECK: atx.tile_reduce any
  %8 = atx.tile_reduce any %b axes [0] : vector<4x8xi1> -> vector<8xi1>
  // CHECK: atx.tile_reduce all
  %9 = atx.tile_reduce all %b axes [0, 1] : vector<4x8xi1> -> i1
  // CHECK: atx.tile_scan sum %{{.*}} axis 1 {exclusive, reverse} : vector<4x8xi32>
  %10 = atx.tile_scan sum %i axis 1 {exclusive, reverse} : vector<4x8xi32>
  // CHECK: atx.tile_scan prod
  %11 = atx.tile_scan prod %i axis 0 : vector<4x8xi32>
  // CHECK: atx.tile_scan max
  %12 = atx.tile_scan max %x axis 0 : vector<4x8x16xf32>
  // CHECK: atx.tile_scan min
  %13 = atx.tile_scan min %x axis 0 : vector<4x8x16xf32>
  // CHECK: atx.tile_scan umax
  %14 = atx.tile_scan umax %i axis 0 : vector<4x8xi32>
  // CHECK: atx.tile_scan umin
  %15 = atx.tile_scan umin %i axis 0 : vector<4x8xi32>
  // CHECK: atx.tile_topk %{{.*}} k 4 axis 2 : vector<4x8x16xf32> -> vector<4x8x4xf32>, vector<4x8x4xi32>
  %v, %w = atx.tile_topk %x k 4 axis 2 : vector<4x8x16xf32> -> vector<4x8x4xf32>, vector<4x8x4xi32>
  // CHECK: atx.tile_topk %{{.*}} k 8 axis 0 {is_unsigned, smallest} : vector<8xi8> -> vector<8xi8>, vector<8xi32>
  %o, %p = atx.tile_topk %u k 8 axis 0 {smallest, is_unsigned} : vector<8xi8> -> vector<8xi8>, vector<8xi32>
  // CHECK: atx.tile_rank %{{.*}} axis 0 : vector<8xi8> -> vector<8xi32>
  %16 = atx.tile_rank %u axis 0 : vector<8xi8> -> vector<8xi32>
  // CHECK: atx.tile_histogram %{{.*}} mask %{{.*}} : vector<4x8xi32> mask vector<4x8xi1> -> vector<16xi32>
  %17 = atx.tile_histogram %i mask %b : vector<4x8xi32> mask vector<4x8xi1> -> vector<16xi32>
  // CHECK: atx.tile_histogram %{{.*}} : vector<4x8xi32> -> vector<16xi32>
  %18 = atx.tile_histogram %i : vector<4x8xi32> -> vector<16xi32>
  // CHECK: atx.tile_concat %{{.*}}, %{{.*}}, %{{.*}} axis 1 : vector<4x8xi32>, vector<4x8xi32>, vector<4x8xi32> -> vector<4x24xi32>
  %19 = atx.tile_concat %i, %10, %11 axis 1 : vector<4x8xi32>, vector<4x8xi32>, vector<4x8xi32> -> vector<4x24xi32>
  %20 = vector.shape_cast %16 : vector<8xi32> to vector<1x8xi32>
  // CHECK: atx.tile_take %{{.*}}, %{{.*}} axis 1 : vector<4x24xi32>, vector<1x8xi32> -> vector<4x8xi32>
  %21 = atx.tile_take %19, %20 axis 1 : vector<4x24xi32>, vector<1x8xi32> -> vector<4x8xi32>
  return
}

// CHECK-LABEL: func.func @lanes
func.func @lanes(%x: vector<16x64xf32>, %s: f32) -> vector<16x64xf32> attributes {atx.kernel, atx.threads = 256 : i64} {
  // CHECK: atx.tile_convert %{{.*}} {saturate} : vector<16x64xf32> -> vector<16x64xf8E4M3FNUZ>
  %0 = atx.tile_convert %x {saturate} : vector<16x64xf32> -> vector<16x64xf8E4M3FNUZ>
  // CHECK: atx.tile_convert %{{.*}} {is_unsigned} : f32 -> i8
  %1 = atx.tile_convert %s {is_unsigned} : f32 -> i8
  // CHECK: atx.tile_convert %{{.*}} : f32 -> f4E2M1FN
  %2 = atx.tile_convert %s : f32 -> f4E2M1FN
  // CHECK: atx.tile_pin %{{.*}} layout "(((16,4),4),4):(((4,64),256),1)" : vector<16x64xf32>
  %p = atx.tile_pin %x layout "(((16,4),4),4):(((4,64),256),1)" : vector<16x64xf32>
  // CHECK: atx.tile_raw(%{{.*}}, %{{.*}}) : (vector<16x64xf32>, f32) -> vector<16x64xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: vector<4xf32>, %{{.*}}: f32):
  // CHECK: atx.tile_yield %{{.*}} : vector<4xf32>
  %r = atx.tile_raw(%p, %s) : (vector<16x64xf32>, f32) -> vector<16x64xf32> {
  ^bb0(%a: vector<4xf32>, %b: f32):
    %c = vector.broadcast %b : f32 to vector<4xf32>
    %d = arith.addf %a, %c : vector<4xf32>
    atx.tile_yield %d : vector<4xf32>
  }
  // CHECK: atx.tile_raw() : () -> () {
  atx.tile_raw() : () -> () {
    atx.tile_yield
  }
  return %r : vector<16x64xf32>
}
