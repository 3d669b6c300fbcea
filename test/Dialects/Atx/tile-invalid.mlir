// Every rule of the operations on tiles has a program that breaks it.
//
// RUN: atrex-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: vector<f32>) {
  // expected-error @below {{'atx.tile_scan' op operand #0 must be tile (vector of rank 1 or more, at most 4194304 elements) of i1, i8, i16, i32, i64, index or a float type of the language, but got 'vector<f32>'}}
  %0 = atx.tile_scan sum %x axis 0 : vector<f32>
  return
}

// -----

func.func @f(%x: vector<4194305xf32>) {
  // expected-error @below {{'atx.tile_scan' op operand #0 must be tile (vector of rank 1 or more, at most 4194304 elements) of i1, i8, i16, i32, i64, index or a float type of the language, but got 'vector<4194305xf32>'}}
  %0 = atx.tile_scan sum %x axis 0 : vector<4194305xf32>
  return
}

// -----

func.func @f(%x: vector<9223372036854775807x3xf32>) {
  // expected-error @below {{'atx.tile_scan' op operand #0 must be tile (vector of rank 1 or more, at most 4194304 elements) of i1, i8, i16, i32, i64, index or a float type of the language, but got 'vector<9223372036854775807x3xf32>'}}
  %0 = atx.tile_scan sum %x axis 0 : vector<9223372036854775807x3xf32>
  return
}

// -----

func.func @f(%x: vector<[4]xf32>) {
  // expected-error @below {{'atx.tile_scan' op operand #0 must be tile (vector of rank 1 or more, at most 4194304 elements) of i1, i8, i16, i32, i64, index or a float type of the language, but got 'vector<[4]xf32>'}}
  %0 = atx.tile_scan sum %x axis 0 : vector<[4]xf32>
  return
}

// -----

func.func @f(%x: vector<4xi7>) {
  // expected-error @below {{'atx.tile_rank' op operand #0 must be tile (vector of rank 1 or more, at most 4194304 elements) of i8, i16, i32, i64 or index, but got 'vector<4xi7>'}}
  %0 = atx.tile_rank %x axis 0 : vector<4xi7> -> vector<4xi32>
  return
}

// -----

func.func @f(%m: memref<4xindex>, %i: index) {
  // expected-error @below {{custom op 'atx.tile_load' 'memory' must be memref of elements of the language whose strides are those of its layout attribute, but got 'memref<4xindex>'}}
  %0 = atx.tile_load %m[%i] : memref<4xindex>, index -> index
  return
}

// -----

func.func @f(%m: memref<4xf32, strided<[1], offset: 8>>, %i: index) {
  // expected-error @below {{custom op 'atx.tile_load' 'memory' must be memref of elements of the language whose strides are those of its layout attribute, but got 'memref<4xf32, strided<[1], offset: 8>>'}}
  %0 = atx.tile_load %m[%i] : memref<4xf32, strided<[1], offset: 8>>, index -> f32
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: i8) {
  // expected-error @below {{'atx.tile_load' op operand #1 must be variadic of tile (vector of rank 1 or more, at most 4194304 elements) of i32, i64 or index or i32, i64 or index, but got 'i8'}}
  %0 = atx.tile_load %m[%i] : memref<4xf32>, i8 -> f32
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: vector<4xi32>, %p: i32) {
  // expected-error @below {{'atx.tile_store' op operand #3 must be i1 tile or i1, but got 'i32'}}
  atx.tile_store %v, %m[%i] mask %p : vector<4xf32>, memref<4xf32>, vector<4xi32> mask i32
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.tile_iota' op counts along one axis, but the result has rank 2}}
  %0 = atx.tile_iota : vector<4x4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.tile_iota' op the last number, 128, does not fit 'i8' as a signed integer}}
  %0 = atx.tile_iota : vector<129xi8>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index) {
  // expected-error @below {{'atx.tile_load' op the result has elements of type 'i32', the memory of type 'f32'}}
  %0 = atx.tile_load %m[%i] : memref<4xf32>, index -> i32
  return
}

// -----

func.func @f(%m: memref<4x4xf32>, %i: index) {
  // expected-error @below {{'atx.tile_load' op needs one index for each of the 2 dimensions of 'memref<4x4xf32>', got 1}}
  %0 = atx.tile_load %m[%i] : memref<4x4xf32>, index -> f32
  return
}

// -----

func.func @f(%m: memref<4x4xf32>, %i: vector<8x2xi32>, %j: index) {
  // expected-error @below {{'atx.tile_load' op index 0 of type 'vector<8x2xi32>' does not stretch to the shape of the result of type 'vector<8x4xf32>': it needs the same rank, and extents that are equal or 1}}
  %0 = atx.tile_load %m[%i, %j] : memref<4x4xf32>, vector<8x2xi32>, index -> vector<8x4xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: vector<8xi32>) {
  // expected-error @below {{'atx.tile_load' op index 0 of type 'vector<8xi32>' does not stretch to the shape of the result of type 'vector<1x8xf32>': it needs the same rank, and extents that are equal or 1}}
  %0 = atx.tile_load %m[%i] : memref<4xf32>, vector<8xi32> -> vector<1x8xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: vector<8xi32>) {
  // expected-error @below {{'atx.tile_load' op index 0 of type 'vector<8xi32>' does not stretch to the shape of the result of type 'f32': it needs the same rank, and extents that are equal or 1}}
  %0 = atx.tile_load %m[%i] : memref<4xf32>, vector<8xi32> -> f32
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index) {
  // expected-error @below {{'atx.tile_load' op the result is a tile, but every index is a scalar}}
  %0 = atx.tile_load %m[%i] : memref<4xf32>, index -> vector<8xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: index) {
  // expected-error @below {{'atx.tile_store' op the value is a tile, but every index is a scalar}}
  atx.tile_store %v, %m[%i] : vector<4xf32>, memref<4xf32>, index
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_store' op mask of type 'vector<2xi1>' does not stretch to the shape of the value of type 'vector<4xf32>': it needs the same rank, and extents that are equal or 1}}
  atx.tile_store %v, %m[%i] mask %p : vector<4xf32>, memref<4xf32>, vector<4xi32> mask vector<2xi1>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>) {
  // expected-error @below {{'atx.tile_atomic' op needs one index for each of the 1 dimensions of 'memref<4xf32>', got 0}}
  %0 = atx.tile_atomic add %v, %m[] : vector<4xf32>, memref<4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op mask of type 'vector<2xi1>' does not stretch to the shape of the value of type 'vector<4xf32>': it needs the same rank, and extents that are equal or 1}}
  %0 = atx.tile_atomic add %v, %m[%i] mask %p : vector<4xf32>, memref<4xf32>, vector<4xi32> mask vector<2xi1>
  return
}

// -----

func.func @f(%v: vector<4xi8>, %m: memref<4xi8>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op there is no atomic operation on elements of type 'i8': they are i32, i64, f32, f64, f16 or bf16}}
  %0 = atx.tile_atomic add %v, %m[%i] : vector<4xi8>, memref<4xi8>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xbf16>, %m: memref<4xbf16>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op 'max' has no form for 'bf16', only 'add'}}
  %0 = atx.tile_atomic max %v, %m[%i] : vector<4xbf16>, memref<4xbf16>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op 'umax' needs integers, got 'f32'}}
  %0 = atx.tile_atomic umax %v, %m[%i] : vector<4xf32>, memref<4xf32>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op 'umin' needs integers, got 'f32'}}
  %0 = atx.tile_atomic umin %v, %m[%i] : vector<4xf32>, memref<4xf32>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op 'and' needs integers, got 'f32'}}
  %0 = atx.tile_atomic and %v, %m[%i] : vector<4xf32>, memref<4xf32>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op 'or' needs integers, got 'f32'}}
  %0 = atx.tile_atomic or %v, %m[%i] : vector<4xf32>, memref<4xf32>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %m: memref<4xf32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op 'xor' needs integers, got 'f32'}}
  %0 = atx.tile_atomic xor %v, %m[%i] : vector<4xf32>, memref<4xf32>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xi32>, %m: memref<4xi32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op 'cas' needs a value to compare with, 'cmp'}}
  %0 = atx.tile_atomic cas %v, %m[%i] : vector<4xi32>, memref<4xi32>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xi32>, %m: memref<4xi32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{'atx.tile_atomic' op 'cmp' belongs to 'cas' only}}
  %0 = atx.tile_atomic add %v, %m[%i] cmp %v : vector<4xi32>, memref<4xi32>, vector<4xi32>
  return
}

// -----

func.func @f(%v: vector<4xi32>, %m: memref<4xi32>, %i: vector<4xi32>, %p: vector<2xi1>) {
  // expected-error @below {{expected what is done: add, max, min, umax, umin, and, or, xor, exchange or cas}}
  %0 = atx.tile_atomic sub %v, %m[%i] : vector<4xi32>, memref<4xi32>, vector<4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.tile_shared' op memory of a workgroup has the space '#gpu.address_space<workgroup>', got 'memref<4xf32>'}}
  %0 = atx.tile_shared : memref<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.tile_shared' op memory of a workgroup has a static shape, got 'memref<?xf32, #gpu.address_space<workgroup>>'}}
  %0 = atx.tile_shared : memref<?xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.tile_shared' op memory of a workgroup is contiguous and row-major, got 'memref<4xf32, strided<[2]>, #gpu.address_space<workgroup>>'}}
  %0 = atx.tile_shared : memref<4xf32, strided<[2]>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.tile_shared' op has more than 4194304 elements: 'memref<4194305xf32, #gpu.address_space<workgroup>>'}}
  %0 = atx.tile_shared : memref<4194305xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op reduces along no axis}}
  %0 = atx.tile_reduce sum %x axes [] : vector<4x8xf32> -> vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op axis 2 is not one of the 2 axes of 'vector<4x8xf32>'}}
  %0 = atx.tile_reduce sum %x axes [2] : vector<4x8xf32> -> vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op axis -1 is not one of the 2 axes of 'vector<4x8xf32>'}}
  %0 = atx.tile_reduce sum %x axes [-1] : vector<4x8xf32> -> vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op axis 0 stands twice}}
  %0 = atx.tile_reduce sum %x axes [0, 0] : vector<4x8xf32> -> vector<8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op 'argmax' finds a position along one axis, got 2}}
  %0 = atx.tile_reduce argmax %x axes [0, 1] : vector<4x8xf32> -> i32
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op 'is_unsigned' belongs to 'argmax' and 'argmin'; 'max' has none}}
  %0 = atx.tile_reduce max %i axes [0] {is_unsigned} : vector<4x8xi32> -> vector<8xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op 'any' needs elements of type i1, got 'f32'}}
  %0 = atx.tile_reduce any %x axes [0] : vector<4x8xf32> -> vector<8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op 'umax' compares unsigned integers, got 'f32'}}
  %0 = atx.tile_reduce umax %x axes [0] : vector<4x8xf32> -> vector<8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op 'argmin' compares unsigned integers, got 'f32'}}
  %0 = atx.tile_reduce argmin %x axes [0] {is_unsigned} : vector<4x8xf32> -> vector<8xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op 'sum' has no form for elements of type 'f8E5M2': they are i8, i16, i32, i64, index, f16, bf16, f32 or f64}}
  %0 = atx.tile_reduce sum %q axes [0] : vector<4x8xf8E5M2> -> vector<8xf8E5M2>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op gives 'vector<8xf32>', not 'vector<4xf32>'}}
  %0 = atx.tile_reduce sum %x axes [0] : vector<4x8xf32> -> vector<4xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op gives 'vector<8xi32>', not 'vector<8xf32>'}}
  %0 = atx.tile_reduce argmax %x axes [0] : vector<4x8xf32> -> vector<8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_reduce' op gives 'f32', not 'vector<1xf32>'}}
  %0 = atx.tile_reduce sum %x axes [0, 1] : vector<4x8xf32> -> vector<1xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{expected what is done: sum, prod, max, min, umax, umin, argmax, argmin, any or all}}
  %0 = atx.tile_reduce mean %x axes [0] : vector<4x8xf32> -> vector<8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_scan' op axis 2 is not one of the 2 axes of 'vector<4x8xf32>'}}
  %0 = atx.tile_scan sum %x axis 2 : vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_scan' op 'umin' compares unsigned integers, got 'f32'}}
  %0 = atx.tile_scan umin %x axis 0 : vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{expected what is done: sum, prod, max, min, umax or umin}}
  %0 = atx.tile_scan any %x axis 0 : vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_topk' op axis 3 is not one of the 2 axes of 'vector<4x8xf32>'}}
  %0, %1 = atx.tile_topk %x k 4 axis 3 : vector<4x8xf32> -> vector<4x4xf32>, vector<4x4xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_topk' op 'topk' compares unsigned integers, got 'f32'}}
  %0, %1 = atx.tile_topk %x k 4 axis 1 {is_unsigned} : vector<4x8xf32> -> vector<4x4xf32>, vector<4x4xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_topk' op k is at least 1 and at most the extent 8 of axis 1, got 0}}
  %0, %1 = atx.tile_topk %x k 0 axis 1 : vector<4x8xf32> -> vector<4x4xf32>, vector<4x4xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_topk' op k is at least 1 and at most the extent 8 of axis 1, got 9}}
  %0, %1 = atx.tile_topk %x k 9 axis 1 : vector<4x8xf32> -> vector<4x9xf32>, vector<4x9xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_topk' op gives 'vector<4x4xf32>' and 'vector<4x4xi32>', not 'vector<4x4xf32>' and 'vector<4x8xi32>'}}
  %0, %1 = atx.tile_topk %x k 4 axis 1 : vector<4x8xf32> -> vector<4x4xf32>, vector<4x8xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_rank' op axis 2 is not one of the 2 axes of 'vector<4x8xi32>'}}
  %0 = atx.tile_rank %i axis 2 : vector<4x8xi32> -> vector<4x8xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_rank' op the result has the shape of the input, 4x8, not 8}}
  %0 = atx.tile_rank %i axis 0 : vector<4x8xi32> -> vector<8xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>, %p: vector<8xi1>) {
  // expected-error @below {{'atx.tile_histogram' op mask of type 'vector<8xi1>' does not stretch to the shape of the input of type 'vector<4x8xi32>': it needs the same rank, and extents that are equal or 1}}
  %0 = atx.tile_histogram %i mask %p : vector<4x8xi32> mask vector<8xi1> -> vector<4xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_histogram' op counts into a tile of rank 1, got 'vector<4x4xi32>'}}
  %0 = atx.tile_histogram %i : vector<4x8xi32> -> vector<4x4xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_concat' op axis 2 is not one of the 2 axes of 'vector<4x16xf32>'}}
  %0 = atx.tile_concat %x, %x axis 2 : vector<4x8xf32>, vector<4x8xf32> -> vector<4x16xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.tile_concat' op needs at least one input}}
  %0 = "atx.tile_concat"() {axis = 0 : i64} : () -> vector<4xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_concat' op input 1 of type 'vector<4x8xi32>' does not fit 'vector<4x16xf32>': element type, rank and extents except along axis 1 are the result's}}
  %0 = atx.tile_concat %x, %i axis 1 : vector<4x8xf32>, vector<4x8xi32> -> vector<4x16xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_concat' op input 0 of type 'vector<4x8xf32>' does not fit 'vector<16xf32>': element type, rank and extents except along axis 0 are the result's}}
  %0 = atx.tile_concat %x axis 0 : vector<4x8xf32> -> vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_concat' op the inputs have 16 elements along axis 1 together, the result 17}}
  %0 = atx.tile_concat %x, %x axis 1 : vector<4x8xf32>, vector<4x8xf32> -> vector<4x17xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_take' op axis 2 is not one of the 2 axes of 'vector<4x8xf32>'}}
  %0 = atx.tile_take %x, %i axis 2 : vector<4x8xf32>, vector<4x8xi32> -> vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>, %a: vector<4x3xi32>) {
  %s = atx.tile_concat %a, %a axis 1 : vector<4x3xi32>, vector<4x3xi32> -> vector<4x6xi32>
  // expected-error @below {{'atx.tile_take' op index tile of type 'vector<4x8xi32>' does not fit 'vector<4x6xi32>': it needs the same rank, and extents that are equal or 1 except along axis 0}}
  %0 = atx.tile_take %s, %i axis 0 : vector<4x6xi32>, vector<4x8xi32> -> vector<4x8xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>, %j: vector<8xi32>) {
  // expected-error @below {{'atx.tile_take' op index tile of type 'vector<8xi32>' does not fit 'vector<4x8xf32>': it needs the same rank, and extents that are equal or 1 except along axis 0}}
  %0 = atx.tile_take %x, %j axis 0 : vector<4x8xf32>, vector<8xi32> -> vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_take' op gives 'vector<4x8xf32>', not 'vector<8x8xf32>'}}
  %0 = atx.tile_take %x, %i axis 0 : vector<4x8xf32>, vector<4x8xi32> -> vector<8x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_convert' op converts from f16, bf16, f32 or f64, got 'i32'}}
  %0 = atx.tile_convert %i : vector<4x8xi32> -> vector<4x8xf8E5M2>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_convert' op converts to an 8-, 6- or 4-bit float, i8, i16, i32 or i64, got 'bf16'}}
  %0 = atx.tile_convert %x : vector<4x8xf32> -> vector<4x8xbf16>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_convert' op converts to an 8-, 6- or 4-bit float, i8, i16, i32 or i64, got 'i1'}}
  %0 = atx.tile_convert %x : vector<4x8xf32> -> vector<4x8xi1>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_convert' op 'saturate' belongs to floats; a conversion to 'i32' is always clamped}}
  %0 = atx.tile_convert %x {saturate} : vector<4x8xf32> -> vector<4x8xi32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_convert' op 'is_unsigned' belongs to integers, not to 'f8E5M2'}}
  %0 = atx.tile_convert %x {is_unsigned} : vector<4x8xf32> -> vector<4x8xf8E5M2>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %i: vector<4x8xi32>, %q: vector<4x8xf8E5M2>) {
  // expected-error @below {{'atx.tile_convert' op requires the same shape for all operands and results}}
  %0 = atx.tile_convert %x : vector<4x8xf32> -> vector<8x4xf8E5M2>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op cannot read the layout '(4': }}
  %0 = atx.tile_pin %x layout "(4" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op '4' is not a layout with integer shape and stride}}
  %0 = atx.tile_pin %x layout "4" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op '((4,?),1):((1,4),0)' is not a layout with integer shape and stride}}
  %0 = atx.tile_pin %x layout "((4,?),1):((1,4),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op '((4,4),1):((1E0,4E0),0)' is not a layout with integer shape and stride}}
  %0 = atx.tile_pin %x layout "((4,4),1):((1E0,4E0),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op the layout '(4,4):(1,4)' is not of the form ((lane, wave), value)}}
  %0 = atx.tile_pin %x layout "(4,4):(1,4)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op the layout '((4,4),1,1):((1,4),0,0)' is not of the form ((lane, wave), value)}}
  %0 = atx.tile_pin %x layout "((4,4),1,1):((1,4),0,0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op the layout '((4,4),9223372036854775807):((1,4),0)' has an extent below 1 or more places than a tile can have}}
  %0 = atx.tile_pin %x layout "((4,4),9223372036854775807):((1,4),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op the layout '((64,32),1):((0,0),0)' has 2048 lanes, a workgroup at most 1024}}
  %0 = atx.tile_pin %x layout "((64,32),1):((0,0),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op the layout '((4,4),1):((1,5),0)' puts element 16 into value 0 of lane 1 in wave 3; 'vector<16xf32>' has elements 0 to 15}}
  %0 = atx.tile_pin %x layout "((4,4),1):((1,5),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op the layout '((4,4),1):((1,-4),0)' puts element -4 into value 0 of lane 0 in wave 1; 'vector<16xf32>' has elements 0 to 15}}
  %0 = atx.tile_pin %x layout "((4,4),1):((1,-4),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op the layout '((8,1),4):((2,0),0)' puts element 0 into lane 0 of wave 0 twice}}
  %0 = atx.tile_pin %x layout "((8,1),4):((2,0),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  // expected-error @below {{'atx.tile_pin' op the layout '((8,1),1):((2,0),0)' reaches 8 of the 16 elements of 'vector<16xf32>'; the first missing is 1}}
  %0 = atx.tile_pin %x layout "((8,1),1):((2,0),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>) attributes {atx.threads = 64 : i64} {
  // expected-error @below {{'atx.tile_pin' op the layout '((16,1),1):((1,0),0)' has 16 lanes in 1 waves, the kernel 64 threads}}
  %0 = atx.tile_pin %x layout "((16,1),1):((1,0),0)" : vector<16xf32>
  return
}

// -----

func.func @f(%x: vector<16xf32>, %s: f32) {
  // expected-error @below {{'atx.tile_raw' op has 1 operands, but its region 0 arguments}}
  atx.tile_raw(%x) : (vector<16xf32>) -> () {
    atx.tile_yield
  }
  return
}

// -----

func.func @f(%x: vector<16xf32>, %s: f32) {
  // expected-error @below {{'atx.tile_raw' op argument 0 of the region has type 'vector<4xi32>'; for an operand of type 'vector<16xf32>' it is a vector of rank 1 with the same elements}}
  atx.tile_raw(%x) : (vector<16xf32>) -> () {
  ^bb0(%a: vector<4xi32>):
    atx.tile_yield
  }
  return
}

// -----

func.func @f(%x: vector<16xf32>, %s: f32) {
  // expected-error @below {{'atx.tile_raw' op argument 0 of the region has type 'vector<4xf32>'; for an operand of type 'f32' it is the same type}}
  atx.tile_raw(%s) : (f32) -> () {
  ^bb0(%a: vector<4xf32>):
    atx.tile_yield
  }
  return
}

// -----

func.func @f(%x: vector<16xf32>, %s: f32) {
  // expected-error @below {{'atx.tile_raw' op has 1 results, but its region yields 0 values}}
  %0 = atx.tile_raw(%s) : (f32) -> f32 {
  ^bb0(%a: f32):
    atx.tile_yield
  }
  return
}

// -----

func.func @f(%x: vector<16xf32>, %s: f32) {
  // expected-error @below {{'atx.tile_raw' op the region yields 'f32' for result 0 of type 'vector<16xf32>'}}
  %0 = atx.tile_raw(%s) : (f32) -> vector<16xf32> {
  ^bb0(%a: f32):
    atx.tile_yield %a : f32
  }
  return
}

// -----

func.func @f(%x: vector<16xf32>) {
  %p = atx.tile_pin %x layout "((4,1),4):((4,0),1)" : vector<16xf32>
  // expected-error @below {{'atx.tile_raw' op argument 0 of the region has 2 values, but a lane has 4 in the layout '((4,1),4):((4,0),1)'}}
  atx.tile_raw(%p) : (vector<16xf32>) -> () {
  ^bb0(%a: vector<2xf32>):
    atx.tile_yield
  }
  return
}
