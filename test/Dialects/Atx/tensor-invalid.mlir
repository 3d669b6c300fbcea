// Every rule of the operations on tensors and of launches has a program that
// breaks it.
//
// RUN: atrex-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{finds 'argmax' or 'argmin', not 'sum'; other reductions are 'linalg.generic'}}
  %0 = atx.tensor_arg sum %x axis 0 : tensor<4xf32> -> tensor<i32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{axis 1 is not one of the 1 axes of 'tensor<4xf32>'}}
  %0 = atx.tensor_arg argmax %x axis 1 : tensor<4xf32> -> tensor<i32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'is_unsigned' belongs to integers, got elements of type 'f32'}}
  %0 = atx.tensor_arg argmax %x axis 0 {is_unsigned} : tensor<4xf32> -> tensor<i32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{elements of type 'i1' have no order}}
  %0 = atx.tensor_scan max %x axis 0 : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{gives 'tensor<8xi32>', not 'tensor<4xi32>'}}
  %0 = atx.tensor_arg argmax %x axis 0 : tensor<4x8xf32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{axis 2 is not one of the 1 axes}}
  %0 = atx.tensor_scan sum %x axis 2 : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %k = arith.constant 5 : index
  // expected-error @below {{k is at least 1 and at most the extent of axis 0 of 'tensor<4xf32>', got 5}}
  %0:2 = atx.tensor_topk %x, %k axis 0 : tensor<4xf32> -> tensor<5xf32>, tensor<5xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %k: index) {
  // expected-error @below {{k is not constant, but the results have 2 elements along axis 0}}
  %0:2 = atx.tensor_topk %x, %k axis 0 : tensor<4xf32> -> tensor<2xf32>, tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %k = arith.constant 2 : index
  // expected-error @below {{gives 'tensor<2xi32>', not 'tensor<3xi32>'}}
  %0:2 = atx.tensor_topk %x, %k axis 0 : tensor<4xf32> -> tensor<2xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %k: index) {
  // expected-error @below {{axis -1 is not one of the 1 axes}}
  %0:2 = atx.tensor_topk %x, %k axis -1 : tensor<4xf32> -> tensor<?xf32>, tensor<?xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{gives 'tensor<4xi32>', not 'tensor<5xi32>'}}
  %0 = atx.tensor_rank %x axis 0 : tensor<4xi32> -> tensor<5xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{axis 1 is not one of the 1 axes}}
  %0 = atx.tensor_rank %x axis 1 : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>, %m: tensor<5xi1>, %n: index) {
  // expected-error @below {{the mask of type 'tensor<5xi1>' does not have the shape of 'tensor<4xi32>'}}
  %0 = atx.tensor_histogram %x mask %m bins %n : tensor<4xi32> mask tensor<5xi1> -> tensor<?xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>, %n: index) {
  // expected-error @below {{the number of bins is not constant, but the result is 'tensor<8xi32>'}}
  %0 = atx.tensor_histogram %x bins %n : tensor<4xi32> -> tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  %n = arith.constant 7 : index
  // expected-error @below {{the number of bins is 7, but the result is 'tensor<8xi32>'}}
  %0 = atx.tensor_histogram %x bins %n : tensor<4xi32> -> tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>, %n: index) {
  // expected-error @below {{counts into a tensor of rank 1, got 'tensor<?x1xi32>'}}
  %0 = atx.tensor_histogram %x bins %n : tensor<4xi32> -> tensor<?x1xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<2x3xi32>) {
  // expected-error @below {{index tensor of type 'tensor<2x3xi32>' does not fit 'tensor<4x8xf32>'}}
  %0 = atx.tensor_take %x, %i axis 1 : tensor<4x8xf32>, tensor<2x3xi32> -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<1x3xi32>) {
  // expected-error @below {{gives 'tensor<4x3xf32>', not 'tensor<4x8xf32>'}}
  %0 = atx.tensor_take %x, %i axis 1 : tensor<4x8xf32>, tensor<1x3xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<1x3xi32>) {
  // expected-error @below {{axis 2 is not one of the 2 axes}}
  %0 = atx.tensor_take %x, %i axis 2 : tensor<4x8xf32>, tensor<1x3xi32> -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: memref<4xf32>) {
  // expected-error @below {{'@g' is no function marked 'atx.kernel' or 'atx.operator'}}
  atx.launch @g(%x) : memref<4xf32>
  return
}

// -----

func.func private @k(memref<4xf32>) attributes {atx.kernel}
func.func @f(%x: memref<8xf32>) {
  // expected-error @below {{passes ('memref<8xf32>'), but '@k' takes ('memref<4xf32>')}}
  atx.launch @k(%x) : memref<8xf32>
  return
}

// -----

func.func private @k(memref<4xf32>) attributes {atx.kernel}
func.func @f(%x: memref<4xf32>, %i: index) {
  // expected-error @below {{'count' is one element of a tensor of i32, got 1 indices of 'memref<4xf32>'}}
  atx.launch @k(%x) count %x[%i] : memref<4xf32> count memref<4xf32>
  return
}
