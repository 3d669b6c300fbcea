// RUN: atrex-opt %s --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(atx-assign-tile-layouts{direct=never})))' | FileCheck %s

// The large load chooses: 16 bytes a lane, 256 bytes of a row side by side, the waves over rows. What is broadcast to it
// takes the slice, so that nothing moves between lanes; constants and index arithmetic follow.
// CHECK-LABEL: gpu.func @follow
// CHECK: atx.tile_load {{.*}}atx.tile_layouts = [#atx.tile_layout<256, {{\[\[}}16t16], [4r1, 16t1]]>]} : {{.*}} -> vector<16x64xf32>
// CHECK: atx.tile_load {{.*}}atx.tile_layouts = [#atx.tile_layout<256, {{\[\[}}4r1, 16t1]]>]} : {{.*}} -> vector<64xf32>
// CHECK-NOT: atx.convert_layout
// CHECK: vector.broadcast {{.*}} {atx.tile_layouts = [#atx.tile_layout<256, {{\[\[}}16t16], [4r1, 16t1]]>]}
// CHECK: arith.mulf {{.*}} {atx.tile_layouts = [#atx.tile_layout<256, {{\[\[}}16t16], [4r1, 16t1]]>]}
// CHECK: gpu.return
func.func @follow(%a: memref<16x64xf32> {atx.name = "a", atx.shape = ["16", "64"]}, %w: memref<64xf32> {atx.name = "w", atx.shape = ["64"]}, %c: memref<16x64xf32> {atx.name = "c", atx.shape = ["16", "64"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 256 : i64} {
  %i = atx.tile_iota : vector<16xi32>
  %r = vector.shape_cast %i : vector<16xi32> to vector<16x1xi32>
  %j = atx.tile_iota : vector<64xi32>
  %k = vector.shape_cast %j : vector<64xi32> to vector<1x64xi32>
  %x = atx.tile_load %a[%r, %k] : memref<16x64xf32>, vector<16x1xi32>, vector<1x64xi32> -> vector<16x64xf32>
  %y = atx.tile_load %w[%j] : memref<64xf32>, vector<64xi32> -> vector<64xf32>
  %b = vector.broadcast %y : vector<64xf32> to vector<16x64xf32>
  %z = arith.mulf %x, %b : vector<16x64xf32>
  atx.tile_store %z, %c[%r, %k] : vector<16x64xf32>, memref<16x64xf32>, vector<16x1xi32>, vector<1x64xi32>
  return
}

// Factors of a product are loaded as memory likes it and converted once; the sum stays with the instruction through the
// loop and into the store. A slice of a reduction needs no conversion.
// CHECK-LABEL: gpu.func @product
// CHECK: atx.tile_load {{.*}} -> vector<32x64xbf16>
// CHECK: %[[A:.*]] = atx.convert_layout {{.*}} {atx.tile_layouts = [#atx.tile_layout<64, {{\[\[}}32t1], [8r1, 2t32, 4r8]]>]}
// CHECK: vector.contract {{.*}} {atx.contract = {instruction = "v_mfma_f32_32x32x8_bf16", run = 8 : i64, waves = array<i64: 1, 1>}, atx.tile_layouts = [#atx.tile_layout<64, {{\[\[}}32t1], [4r1, 2t32, 4r4]]>]
// CHECK: atx.tile_reduce max {{.*}} {atx.tile_layouts = [#atx.tile_layout<64, {{\[\[}}32t1]]>]}
// CHECK-NOT: atx.convert_layout
// CHECK: gpu.return
func.func @product(%a: memref<32x64xbf16> {atx.name = "a", atx.shape = ["32", "64"]}, %c: memref<32x32xf32> {atx.name = "c", atx.shape = ["32", "32"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  %i = atx.tile_iota : vector<32xi32>
  %r = vector.shape_cast %i : vector<32xi32> to vector<32x1xi32>
  %q = vector.shape_cast %i : vector<32xi32> to vector<1x32xi32>
  %j = atx.tile_iota : vector<64xi32>
  %k = vector.shape_cast %j : vector<64xi32> to vector<1x64xi32>
  %x = atx.tile_load %a[%r, %k] : memref<32x64xbf16>, vector<32x1xi32>, vector<1x64xi32> -> vector<32x64xbf16>
  %z = arith.constant dense<0.0> : vector<32x32xf32>
  %s = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %x, %z : vector<32x64xbf16>, vector<32x64xbf16> into vector<32x32xf32>
  %m = atx.tile_reduce max %s axes [1] : vector<32x32xf32> -> vector<32xf32>
  %m1 = vector.shape_cast %m : vector<32xf32> to vector<32x1xf32>
  %m2 = vector.broadcast %m1 : vector<32x1xf32> to vector<32x32xf32>
  %d = arith.subf %s, %m2 : vector<32x32xf32>
  atx.tile_store %d, %c[%r, %q] : vector<32x32xf32>, memref<32x32xf32>, vector<32x1xi32>, vector<1x32xi32>
  return
}

// A pinned tile keeps what is written.
// CHECK-LABEL: gpu.func @pinned
// CHECK: atx.tile_pin {{.*}} layout {{.*}} {atx.tile_layouts = [#atx.tile_layout<64, {{\[\[}}2r1, 64t1]]>]}
func.func @pinned(%a: memref<128xf32> {atx.name = "a", atx.shape = ["128"]}, %c: memref<128xf32> {atx.name = "c", atx.shape = ["128"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  %i = atx.tile_iota : vector<128xi32>
  %x = atx.tile_load %a[%i] : memref<128xf32>, vector<128xi32> -> vector<128xf32>
  %p = atx.tile_pin %x layout "((64,1),2):((2,0),1)" : vector<128xf32>
  atx.tile_store %p, %c[%i] : vector<128xf32>, memref<128xf32>, vector<128xi32>
  return
}
