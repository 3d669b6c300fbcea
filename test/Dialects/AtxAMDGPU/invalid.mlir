// RUN: atrex-opt %s -split-input-file -verify-diagnostics

func.func @layout(%m: memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>) {
  // expected-error @below {{needs a strided view}}
  %r = atx_amdgpu.make_resource %m : memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>> -> !llvm.ptr<8>
  return
}

// -----

func.func @element(%m: memref<4xi4>) {
  // expected-error @below {{needs elements of whole bytes, got 'i4'}}
  %r = atx_amdgpu.make_resource %m : memref<4xi4> -> !llvm.ptr<8>
  return
}

// -----

func.func @size(%m: memref<65536x16384xf32>) {
  // expected-error @below {{dimension 0 of the view spans 65536 x 16384 elements, a buffer resource addresses less than 2^31 bytes}}
  %r = atx_amdgpu.make_resource %m : memref<65536x16384xf32> -> !llvm.ptr<8>
  return
}

// -----

func.func @load_width(%r: !llvm.ptr<8>, %o: i32) {
  // expected-error @below {{moves 20 bytes; a buffer access is 1, 2, 4, 8, 12 or 16 bytes wide}}
  %v = atx_amdgpu.buffer_load %r[%o + 0] : vector<5xf32>
  return
}

// -----

func.func @load_rank(%r: !llvm.ptr<8>, %o: i32) {
  // expected-error @below {{needs a vector of rank 1 and fixed size, got 'vector<2x2xf32>'}}
  %v = atx_amdgpu.buffer_load %r[%o + 0] : vector<2x2xf32>
  return
}

// -----

func.func @load_element(%r: !llvm.ptr<8>, %o: i32) {
  // expected-error @below {{needs elements of whole bytes, got 'i1'}}
  %v = atx_amdgpu.buffer_load %r[%o + 0] : vector<8xi1>
  return
}

// -----

func.func @store_width(%r: !llvm.ptr<8>, %o: i32, %v: vector<16xbf16>) {
  // expected-error @below {{moves 32 bytes; a buffer access is 1, 2, 4, 8, 12 or 16 bytes wide}}
  atx_amdgpu.buffer_store %v, %r[%o + 0] : vector<16xbf16>
  return
}

// -----

func.func @lanes(%v: vector<1xf32>) {
  // expected-error @below {{reduces over 48 lanes; it must be a power of two from 1 to 1024}}
  %s = atx_amdgpu.lane_reduce add %v over 48 : vector<1xf32>
  return
}

// -----

func.func @too_many_lanes(%v: vector<1xf32>) {
  // expected-error @below {{reduces over 2048 lanes; it must be a power of two from 1 to 1024}}
  %s = atx_amdgpu.lane_reduce add %v over 2048 : vector<1xf32>
  return
}

// -----

func.func @negative_offset(%r: !llvm.ptr<8>, %o: i32) {
  // expected-error @below {{has a constant offset of -1 elements; it must lie from 0 to less than 2^31 bytes}}
  %v = atx_amdgpu.buffer_load %r[%o + -1] : vector<4xf32>
  return
}

// -----

func.func @far_offset(%r: !llvm.ptr<8>, %o: i32, %v: vector<4xf32>) {
  // expected-error @below {{has a constant offset of 536870912 elements; it must lie from 0 to less than 2^31 bytes}}
  atx_amdgpu.buffer_store %v, %r[%o + 536870912] : vector<4xf32>
  return
}

// -----

func.func @endless(%r: !llvm.ptr<8>, %o: i32) {
  // expected-error @below {{moves 9223372036854775807 elements; a buffer access is at most 16 bytes wide}}
  %v = atx_amdgpu.buffer_load %r[%o + 0] : vector<9223372036854775807xf32>
  return
}

// -----

func.func @large(%v: vector<513xf32>) {
  // expected-error @below {{reduces 513 elements of a lane, which has 512 registers}}
  %s = atx_amdgpu.lane_reduce add %v over 64 : vector<513xf32>
  return
}
