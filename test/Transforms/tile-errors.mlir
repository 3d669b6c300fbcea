// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(atx-assign-tile-layouts),atx-distribute-tiles))'

// expected-error @+1 {{argument 0 has no 'atx.name'}}
func.func @nameless(%x: memref<4xf32>) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  return
}

// -----

// expected-error @+1 {{kernel has 96 work-items in 'atx.threads'; it must be a power of two from 64 to 1024}}
func.func @threads() attributes {atx.kernel, atx.grid = ["1"], atx.threads = 96 : i64} {
  return
}

// -----

// expected-error @+1 {{kernel needs 1 to 3 extents as texts in 'atx.grid'}}
func.func @grid() attributes {atx.kernel, atx.threads = 64 : i64} {
  return
}

// -----

// expected-error @+1 {{'M' is not a run-time dimension of the operator}}
func.func @unknown(%x: memref<?xf32> {atx.name = "x", atx.shape = ["M"]}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  return
}

// -----

func.func @large(%x: memref<1048576xf32> {atx.name = "x", atx.shape = ["1048576"]}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  // expected-error @+1 {{a tile of type 'vector<262144xi32>' takes 4096 elements in each of the kernel's 64 work-items; at most 1024 can be held; use a smaller tile or more work-items}}
  %i = atx.tile_iota : vector<262144xi32>
  %v = atx.tile_load %x[%i] : memref<1048576xf32>, vector<262144xi32> -> vector<262144xf32>
  %s = atx.tile_reduce sum %v axes [0] : vector<262144xf32> -> f32
  return
}

// -----

func.func @shared() attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  // expected-error @+1 {{shared memory of the kernel takes 80000 bytes; gfx942 has 65536}}
  %s = atx.tile_shared : memref<20000xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @raw(%x: memref<128xf32> {atx.name = "x", atx.shape = ["128"]}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  %i = atx.tile_iota : vector<128xi32>
  %v = atx.tile_load %x[%i] : memref<128xf32>, vector<128xi32> -> vector<128xf32>
  %p = atx.tile_pin %v layout "((64,1),2):((2,0),1)" : vector<128xf32>
  // expected-error @+1 {{the region yields 'vector<1xf32>' for a result of type 'vector<128xf32>' of which a lane holds 'vector<2xf32>' in layout}}
  %r = atx.tile_raw (%p) : (vector<128xf32>) -> vector<128xf32> {
  ^bb0(%a: vector<2xf32>):
    %b = vector.extract_strided_slice %a {offsets = [0], sizes = [1], strides = [1]} : vector<2xf32> to vector<1xf32>
    atx.tile_yield %b : vector<1xf32>
  }
  atx.tile_store %r, %x[%i] : vector<128xf32>, memref<128xf32>, vector<128xi32>
  return
}

// -----

func.func @operation(%x: memref<64xf32> {atx.name = "x", atx.shape = ["64"]}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  %i = atx.tile_iota : vector<64xi32>
  %v = atx.tile_load %x[%i] : memref<64xf32>, vector<64xi32> -> vector<64xf32>
  // expected-error @+1 {{'vector.reduction' cannot be distributed over work-items}}
  %s = vector.reduction <add>, %v : vector<64xf32> into f32
  return
}
