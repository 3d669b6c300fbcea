// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(cse,atx-assign-tile-layouts,atx-stage-operands{prefetch=0})))' | FileCheck %s
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(cse,atx-assign-tile-layouts,atx-stage-operands)))' | FileCheck %s --check-prefix=CHOSEN
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(cse,atx-assign-tile-layouts,atx-stage-operands{stages=3 prefetch=1})))' | FileCheck %s --check-prefix=DEEP
// RUN: not atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(cse,atx-assign-tile-layouts,atx-stage-operands{stages=9})))' 2>&1 | FileCheck %s --check-prefix=DOMAIN
// RUN: not atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(cse,atx-assign-tile-layouts,atx-stage-operands{stages=8})))' 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(cse,atx-assign-tile-layouts,atx-stage-operands{remarks=true})))' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(cse,atx-assign-tile-layouts,atx-stage-operands{stages=1 share=1})))' | FileCheck %s --check-prefix=SHARE
// RUN: not atrex-opt %s -split-input-file --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(cse,atx-assign-tile-layouts,atx-stage-operands{share=2})))' 2>&1 | FileCheck %s --check-prefix=SHARES

// SHARES: error: 'share=2' is not possible: it is 0 or 1
// DOMAIN: error: 'stages=9 prefetch=-1' is not possible: stages are 0 to 8, prefetch is -1 to 8
// ROOM: error: 'stages=8' takes 131072 bytes of shared memory beside the {{[0-9]+}} of the kernel; gfx942 has 65536; use fewer stages or smaller tiles

// Two slots: the first tiles are written before the loop; an iteration loads the tiles of the next, computes on its own and
// writes at the end, with one barrier. No conflicts under the swizzle, and the last tile is not loaded past.
// REMARK: remark: a tile of type 'vector<128x32xbf16>' is staged in 2 slots of 8192 bytes, S<2,4,3>, without bank conflicts
// In the same place the second tile waits in registers until everybody has read the first.
// SHARE-LABEL: gpu.func @gemm
// SHARE: %[[A:.*]] = atx.stage_alloc slots 1 {{.*}}{atx.overlay = 0 : i64}
// SHARE: %[[B:.*]] = atx.stage_alloc slots 1 {{.*}}{atx.overlay = 1 : i64}
// SHARE: scf.for
// SHARE: amdgpu.lds_barrier
// SHARE: atx.stage_write %{{.*}}, %[[A]]
// SHARE-NOT: atx.stage_write
// SHARE: amdgpu.lds_barrier
// SHARE: atx.stage_read %[[A]]
// SHARE: amdgpu.lds_barrier
// SHARE: atx.stage_write %{{.*}}, %[[B]]
// SHARE: amdgpu.lds_barrier
// SHARE: atx.stage_read %[[B]]
// SHARE: vector.contract
// SHARE-NOT: atx.stage_write
// SHARE: scf.yield
// CHECK-LABEL: gpu.func @gemm
// CHECK: %[[A:.*]] = atx.stage_alloc slots 2 order [1, 0] swizzle [2, 4, 3] : <vector<128x32xbf16>>
// CHECK: %[[B:.*]] = atx.stage_alloc slots 2 order [1, 0] swizzle [2, 4, 3] : <vector<128x32xbf16>>
// CHECK: atx.stage_write %{{.*}}, %[[A]]
// CHECK: atx.stage_write %{{.*}}, %[[B]]
// CHECK: amdgpu.lds_barrier
// CHECK: scf.for
// CHECK: arith.minsi
// CHECK: %[[X:.*]] = atx.tile_load
// CHECK: %[[Y:.*]] = atx.tile_load
// CHECK: atx.stage_read %[[A]]
// CHECK: atx.stage_read %[[B]]
// CHECK: vector.contract
// CHECK: atx.stage_write %[[X]], %[[A]]
// CHECK: atx.stage_write %[[Y]], %[[B]]
// CHECK: amdgpu.lds_barrier
// CHECK: scf.yield
// CHECK: atx.stage_dealloc %[[B]]
// CHECK: atx.stage_dealloc %[[A]]

// Registers are left for tiles that wait in them.
// CHOSEN-LABEL: gpu.func @gemm
// CHOSEN: atx.stage_alloc slots 2
// CHOSEN: scf.for {{.*}} -> (vector<128x128xf32>, vector<128x32xbf16>, vector<128x32xbf16>, i32)

// Three slots, a tile in registers: two are written ahead, the third is carried by the loop.
// DEEP-LABEL: gpu.func @gemm
// DEEP: %[[A:.*]] = atx.stage_alloc slots 3
// DEEP-COUNT-4: atx.stage_write
// DEEP-COUNT-2: atx.tile_load
// DEEP: scf.for {{.*}} -> (vector<128x128xf32>, vector<128x32xbf16>, vector<128x32xbf16>, i32)
// DEEP: atx.stage_write
// DEEP: atx.stage_write
// DEEP: atx.tile_load
// DEEP: atx.stage_read
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d1, d2)>
#z = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @gemm(%a: memref<128x4096xbf16> {atx.name = "a", atx.shape = ["128", "4096"]}, %b: memref<128x4096xbf16> {atx.name = "b", atx.shape = ["128", "4096"]}, %c: memref<128x128xf32> {atx.name = "c", atx.shape = ["128", "128"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 256 : i64} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %end = arith.constant 4096 : i32
  %i = atx.tile_iota : vector<128xi32>
  %r = vector.shape_cast %i : vector<128xi32> to vector<128x1xi32>
  %q = vector.shape_cast %i : vector<128xi32> to vector<1x128xi32>
  %j = atx.tile_iota : vector<32xi32>
  %sum = scf.for %k = %c0 to %end step %c32 iter_args(%acc = %zero) -> (vector<128x128xf32>) : i32 {
    %kk = vector.broadcast %k : i32 to vector<32xi32>
    %at = arith.addi %kk, %j : vector<32xi32>
    %col = vector.shape_cast %at : vector<32xi32> to vector<1x32xi32>
    %x = atx.tile_load %a[%r, %col] : memref<128x4096xbf16>, vector<128x1xi32>, vector<1x32xi32> -> vector<128x32xbf16>
    %y = atx.tile_load %b[%r, %col] : memref<128x4096xbf16>, vector<128x1xi32>, vector<1x32xi32> -> vector<128x32xbf16>
    %s = vector.contract {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %acc : vector<128x32xbf16>, vector<128x32xbf16> into vector<128x128xf32>
    scf.yield %s : vector<128x128xf32>
  }
  atx.tile_store %sum, %c[%r, %q] : vector<128x128xf32>, memref<128x128xf32>, vector<128x1xi32>, vector<1x128xi32>
  return
}

// -----

// A loop that writes to a result may write the parameter of that name, which it reads next: nothing is loaded ahead, and
// the remark says so.
// REMARK: remark: a tile of type 'vector<128x32xbf16>' is not staged: the loop writes to a tensor, which may be the one that is read
// CHECK-LABEL: gpu.func @writes
// CHECK-NOT: atx.stage_alloc
// CHECK: gpu.return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d1, d2)>
#z = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @writes(%a: memref<128x4096xbf16> {atx.name = "a", atx.shape = ["128", "4096"]}, %c: memref<128x4096xbf16> {atx.name = "a", atx.shape = ["128", "4096"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 256 : i64} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %end = arith.constant 4096 : i32
  %i = atx.tile_iota : vector<128xi32>
  %r = vector.shape_cast %i : vector<128xi32> to vector<128x1xi32>
  %j = atx.tile_iota : vector<32xi32>
  %sum = scf.for %k = %c0 to %end step %c32 iter_args(%acc = %zero) -> (vector<128x128xf32>) : i32 {
    %kk = vector.broadcast %k : i32 to vector<32xi32>
    %at = arith.addi %kk, %j : vector<32xi32>
    %col = vector.shape_cast %at : vector<32xi32> to vector<1x32xi32>
    %x = atx.tile_load %a[%r, %col] : memref<128x4096xbf16>, vector<128x1xi32>, vector<1x32xi32> -> vector<128x32xbf16>
    %s = vector.contract {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %x, %acc : vector<128x32xbf16>, vector<128x32xbf16> into vector<128x128xf32>
    atx.tile_store %x, %c[%r, %col] : vector<128x32xbf16>, memref<128x4096xbf16>, vector<128x1xi32>, vector<1x32xi32>
    scf.yield %s : vector<128x128xf32>
  }
  return
}

// -----

// Every other result is a tensor of its own.
// CHECK-LABEL: gpu.func @writes_other
// CHECK: atx.stage_alloc
// CHECK: scf.for
// CHECK: atx.tile_store
// CHECK: scf.yield
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d1, d2)>
#z = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @writes_other(%a: memref<128x4096xbf16> {atx.name = "a", atx.shape = ["128", "4096"]}, %c: memref<128x128xf32> {atx.name = "c", atx.shape = ["128", "128"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 256 : i64} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %end = arith.constant 4096 : i32
  %i = atx.tile_iota : vector<128xi32>
  %r = vector.shape_cast %i : vector<128xi32> to vector<128x1xi32>
  %q = vector.shape_cast %i : vector<128xi32> to vector<1x128xi32>
  %j = atx.tile_iota : vector<32xi32>
  %sum = scf.for %k = %c0 to %end step %c32 iter_args(%acc = %zero) -> (vector<128x128xf32>) : i32 {
    %kk = vector.broadcast %k : i32 to vector<32xi32>
    %at = arith.addi %kk, %j : vector<32xi32>
    %col = vector.shape_cast %at : vector<32xi32> to vector<1x32xi32>
    %x = atx.tile_load %a[%r, %col] : memref<128x4096xbf16>, vector<128x1xi32>, vector<1x32xi32> -> vector<128x32xbf16>
    %s = vector.contract {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %x, %acc : vector<128x32xbf16>, vector<128x32xbf16> into vector<128x128xf32>
    atx.tile_store %s, %c[%r, %q] : vector<128x128xf32>, memref<128x128xf32>, vector<128x1xi32>, vector<1x128xi32>
    scf.yield %s : vector<128x128xf32>
  }
  return
}

// -----

// Rows by number: the numbers of the iteration after next are read beside the rows of the next, and the loop carries them.
// CHECK-LABEL: gpu.func @numbered
// CHECK: %[[STAGE:.*]] = atx.stage_alloc slots 2
// CHECK: atx.stage_write %{{.*}}, %[[STAGE]]
// CHECK: %[[AHEAD:.*]] = atx.tile_load {{.*}} -> vector<64xi32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[KNOWN:.*]] = %[[AHEAD]], %{{.*}} = %{{.*}})
// CHECK: %[[AT:.*]] = vector.shape_cast %[[KNOWN]]
// CHECK: %[[ROWS:.*]] = atx.tile_load %{{.*}}[%[[AT]], %{{.*}}] {{.*}} -> vector<64x64xbf16>
// CHECK: %[[LATER:.*]] = atx.tile_load {{.*}} -> vector<64xi32>
// CHECK: atx.stage_read %[[STAGE]]
// CHECK: atx.stage_write %[[ROWS]], %[[STAGE]]
// CHECK: scf.yield %{{.*}}, %[[LATER]], %{{.*}}
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d1, d2)>
#z = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @numbered(%q: memref<64x64xbf16> {atx.name = "q", atx.shape = ["64", "64"]}, %a: memref<1000x64xbf16> {atx.name = "a", atx.shape = ["1000", "64"]}, %n: memref<4096xi32> {atx.name = "n", atx.shape = ["4096"]}, %c: memref<64x64xf32> {atx.name = "c", atx.shape = ["64", "64"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 256 : i64} {
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %end = arith.constant 4096 : i32
  %i = atx.tile_iota : vector<64xi32>
  %r = vector.shape_cast %i : vector<64xi32> to vector<64x1xi32>
  %col = vector.shape_cast %i : vector<64xi32> to vector<1x64xi32>
  %w = atx.tile_load %q[%r, %col] : memref<64x64xbf16>, vector<64x1xi32>, vector<1x64xi32> -> vector<64x64xbf16>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (vector<64x64xf32>) : i32 {
    %kk = vector.broadcast %k : i32 to vector<64xi32>
    %at = arith.addi %kk, %i : vector<64xi32>
    %number = atx.tile_load %n[%at] : memref<4096xi32>, vector<64xi32> -> vector<64xi32>
    %row = vector.shape_cast %number : vector<64xi32> to vector<64x1xi32>
    %x = atx.tile_load %a[%row, %col] : memref<1000x64xbf16>, vector<64x1xi32>, vector<1x64xi32> -> vector<64x64xbf16>
    %s = vector.contract {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %w, %x, %acc : vector<64x64xbf16>, vector<64x64xbf16> into vector<64x64xf32>
    scf.yield %s : vector<64x64xf32>
  }
  atx.tile_store %sum, %c[%r, %col] : vector<64x64xf32>, memref<64x64xf32>, vector<64x1xi32>, vector<1x64xi32>
  return
}

// -----

// The same rows as a factor that each wave loads for itself: its rows and, one iteration further, their numbers are carried.
// CHECK-LABEL: gpu.func @numbered_direct
// CHECK-NOT: atx.stage_alloc
// CHECK: %[[FIRST:.*]] = atx.tile_load {{.*}} -> vector<64x64xbf16>
// CHECK: %[[AHEAD:.*]] = atx.tile_load {{.*}} -> vector<64xi32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[NOW:.*]] = %[[FIRST]], %[[KNOWN:.*]] = %[[AHEAD]])
// CHECK-NOT: -> vector<64xi32>
// CHECK: %[[AT:.*]] = vector.shape_cast %[[KNOWN]]
// CHECK: %[[NEXT:.*]] = atx.tile_load %{{.*}}[%[[AT]], %{{.*}}] {{.*}} -> vector<64x64xbf16>
// CHECK: %[[LATER:.*]] = atx.tile_load {{.*}} -> vector<64xi32>
// CHECK: vector.contract {{.*}} %{{.*}}, %[[NOW]], %{{.*}}
// CHECK: scf.yield %{{.*}}, %[[NEXT]], %[[LATER]]
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d1, d2)>
#z = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @numbered_direct(%q: memref<16x64xbf16> {atx.name = "q", atx.shape = ["16", "64"]}, %a: memref<1000x64xbf16> {atx.name = "a", atx.shape = ["1000", "64"]}, %n: memref<4096xi32> {atx.name = "n", atx.shape = ["4096"]}, %c: memref<16x64xf32> {atx.name = "c", atx.shape = ["16", "64"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 256 : i64} {
  %zero = arith.constant dense<0.0> : vector<16x64xf32>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %end = arith.constant 4096 : i32
  %h = atx.tile_iota : vector<16xi32>
  %r = vector.shape_cast %h : vector<16xi32> to vector<16x1xi32>
  %i = atx.tile_iota : vector<64xi32>
  %col = vector.shape_cast %i : vector<64xi32> to vector<1x64xi32>
  %w = atx.tile_load %q[%r, %col] : memref<16x64xbf16>, vector<16x1xi32>, vector<1x64xi32> -> vector<16x64xbf16>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (vector<16x64xf32>) : i32 {
    %kk = vector.broadcast %k : i32 to vector<64xi32>
    %at = arith.addi %kk, %i : vector<64xi32>
    %number = atx.tile_load %n[%at] : memref<4096xi32>, vector<64xi32> -> vector<64xi32>
    %row = vector.shape_cast %number : vector<64xi32> to vector<64x1xi32>
    %x = atx.tile_load %a[%row, %col] : memref<1000x64xbf16>, vector<64x1xi32>, vector<1x64xi32> -> vector<64x64xbf16>
    %s = vector.contract {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %w, %x, %acc : vector<16x64xbf16>, vector<64x64xbf16> into vector<16x64xf32>
    scf.yield %s : vector<16x64xf32>
  }
  atx.tile_store %sum, %c[%r, %col] : vector<16x64xf32>, memref<16x64xf32>, vector<16x1xi32>, vector<1x64xi32>
  return
}
