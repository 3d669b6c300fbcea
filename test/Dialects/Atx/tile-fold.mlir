// Folds of operations on tiles.
//
// RUN: atrex-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @iota
func.func @iota() -> (vector<1xi32>, vector<2xi32>) {
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<0> : vector<1xi32>
  // CHECK-DAG: %[[N:.*]] = atx.tile_iota : vector<2xi32>
  %0 = atx.tile_iota : vector<1xi32>
  %1 = atx.tile_iota : vector<2xi32>
  // CHECK: return %[[Z]], %[[N]]
  return %0, %1 : vector<1xi32>, vector<2xi32>
}

// CHECK-LABEL: func.func @scan(
// CHECK-SAME: %[[X:.*]]: vector<4x1xi32>
func.func @scan(%x: vector<4x1xi32>) -> (vector<4x1xi32>, vector<4x1xi32>, vector<4x1xi32>) {
  %0 = atx.tile_scan sum %x axis 1 : vector<4x1xi32>
  // CHECK: %[[E:.*]] = atx.tile_scan sum %[[X]] axis 1 {exclusive}
  %1 = atx.tile_scan sum %x axis 1 {exclusive} : vector<4x1xi32>
  // CHECK: %[[A:.*]] = atx.tile_scan sum %[[X]] axis 0
  %2 = atx.tile_scan sum %x axis 0 : vector<4x1xi32>
  // CHECK: return %[[X]], %[[E]], %[[A]]
  return %0, %1, %2 : vector<4x1xi32>, vector<4x1xi32>, vector<4x1xi32>
}

// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[X:.*]]: vector<4xi32>
func.func @concat(%x: vector<4xi32>) -> vector<4xi32> {
  %0 = atx.tile_concat %x axis 0 : vector<4xi32> -> vector<4xi32>
  // CHECK: return %[[X]]
  return %0 : vector<4xi32>
}

// CHECK-LABEL: func.func @pin(
func.func @pin(%x: vector<64xi32>) -> (vector<64xi32>, vector<64xi32>) {
  // CHECK: %[[A:.*]] = atx.tile_pin %{{.*}} layout "((64,1),1):((1,0),0)"
  %0 = atx.tile_pin %x layout "((64,1),1):((1,0),0)" : vector<64xi32>
  %1 = atx.tile_pin %0 layout "((64,1),1):((1,0),0)" : vector<64xi32>
  // CHECK: %[[B:.*]] = atx.tile_pin %[[A]] layout "((16,1),4):((1,0),16)"
  %2 = atx.tile_pin %1 layout "((16,1),4):((1,0),16)" : vector<64xi32>
  // CHECK: return %[[A]], %[[B]]
  return %1, %2 : vector<64xi32>, vector<64xi32>
}

// A load stays behind a store, and one that nothing uses disappears.
// CHECK-LABEL: func.func @effects
func.func @effects(%m: memref<4xf32>, %i: index) -> f32 {
  // CHECK-NOT: atx.tile_load
  %0 = atx.tile_load %m[%i] : memref<4xf32>, index -> f32
  %z = arith.constant 0.0 : f32
  // CHECK: atx.tile_store
  atx.tile_store %z, %m[%i] : f32, memref<4xf32>, index
  // CHECK: atx.tile_atomic
  %1 = atx.tile_atomic add %z, %m[%i] : f32, memref<4xf32>, index
  // CHECK: %[[R:.*]] = atx.tile_load
  %2 = atx.tile_load %m[%i] : memref<4xf32>, index -> f32
  // CHECK: return %[[R]]
  return %2 : f32
}
