// RUN: atrex-opt %s --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(atx-assign-tile-layouts),atx-distribute-tiles{remarks=true},canonicalize,cse))' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: atrex-opt %s --pass-pipeline='builtin.module(atx-outline-tile-kernels,gpu.module(gpu.func(atx-assign-tile-layouts),atx-distribute-tiles{buffer-access=false},canonicalize,cse))' | FileCheck %s --check-prefix=POINTER

// What all lanes share is added to the 64-bit base; lanes add 32 bits. Rows that are not there are out of the resource.
// Nothing is asked where extents decide: a column is always inside.
// CHECK-LABEL: gpu.func @rows(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64)
// CHECK-DAG: %[[OUT:.*]] = arith.constant -2147483648 : i32
// CHECK-DAG: %[[SPAN:.*]] = arith.constant 2147483648 : i64
// CHECK: llvm.getelementptr
// CHECK: rocdl.make.buffer.rsrc %{{.*}}, %{{.*}}, %[[SPAN]]
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[AT:.*]] = arith.select %[[IN]], %{{.*}}, %[[OUT]] : i32
// CHECK: %[[L:.*]] = rocdl.raw.ptr.buffer.load %{{.*}}, %[[AT]], {{.*}} : vector<4xi32>
// CHECK-NOT: arith.cmpi
// CHECK: rocdl.raw.ptr.buffer.store %[[L]], %{{.*}}, %[[AT]], {{.*}} : vector<4xi32>
// CHECK-NOT: scf.if
// CHECK: gpu.return
// POINTER-LABEL: gpu.func @rows
// POINTER: %[[IN:.*]] = arith.cmpi ult
// POINTER: %[[SAFE:.*]] = arith.select %[[IN]], %{{.*}}, %arg0 : {{.*}}!llvm.ptr<1>
// POINTER: llvm.load %[[SAFE]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// POINTER: scf.if %[[IN]]
// POINTER: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>
func.func @rows(%a: memref<?x128xbf16> {atx.name = "a", atx.shape = ["T", "128"]}, %c: memref<?x128xbf16> {atx.name = "c", atx.shape = ["T", "128"], atx.output}, %t: index {atx.name = "T"}) attributes {atx.kernel, atx.grid = ["cdiv(T, 4)"], atx.threads = 64 : i64} {
  %block = gpu.block_id x
  %b = arith.index_cast %block : index to i32
  %four = arith.constant 4 : i32
  %first = arith.muli %b, %four : i32
  %i = atx.tile_iota : vector<4xi32>
  %f = vector.broadcast %first : i32 to vector<4xi32>
  %r = arith.addi %f, %i : vector<4xi32>
  %row = vector.shape_cast %r : vector<4xi32> to vector<4x1xi32>
  %j = atx.tile_iota : vector<128xi32>
  %col = vector.shape_cast %j : vector<128xi32> to vector<1x128xi32>
  %x = atx.tile_load %a[%row, %col] : memref<?x128xbf16>, vector<4x1xi32>, vector<1x128xi32> -> vector<4x128xbf16>
  atx.tile_store %x, %c[%row, %col] : vector<4x128xbf16>, memref<?x128xbf16>, vector<4x1xi32>, vector<1x128xi32>
  return
}

// A sum over all: registers, lanes, and one number of each wave through shared memory, with one barrier.
// CHECK-LABEL: gpu.func @total
// CHECK-COUNT-3: arith.addf
// CHECK: rocdl.update.dpp
// CHECK: rocdl.ds_bpermute
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: amdgpu.lds_barrier
// CHECK-NOT: amdgpu.lds_barrier
// CHECK-COUNT-4: llvm.load
// CHECK: rocdl.readfirstlane
// CHECK: gpu.return
func.func @total(%a: memref<1024xf32> {atx.name = "a", atx.shape = ["1024"]}, %c: memref<1xf32> {atx.name = "c", atx.shape = ["1"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 256 : i64} {
  %i = atx.tile_iota : vector<1024xi32>
  %x = atx.tile_load %a[%i] : memref<1024xf32>, vector<1024xi32> -> vector<1024xf32>
  %s = atx.tile_reduce sum %x axes [0] : vector<1024xf32> -> f32
  %z = arith.constant 0 : i32
  atx.tile_store %s, %c[%z] : f32, memref<1xf32>, i32
  return
}

// A tile that is pinned to another layout goes through shared memory, in rows that are padded against bank conflicts, and a
// remark says so.
// CHECK-LABEL: gpu.func @pinned
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: amdgpu.lds_barrier
// CHECK-NOT: scf.if
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3>
// REMARK: remark: moves a tile of type 'vector<16x32xf32>' from layout {{\[\[}}8t8, 2r4], [4r1, 8t1]] to {{\[\[}}4t16, 4r1], [16t1, 2r4]] through shared memory
func.func @pinned(%a: memref<16x32xf32> {atx.name = "a", atx.shape = ["16", "32"]}, %c: memref<16x32xf32> {atx.name = "c", atx.shape = ["16", "32"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  %i = atx.tile_iota : vector<16xi32>
  %j = atx.tile_iota : vector<32xi32>
  %r = vector.shape_cast %i : vector<16xi32> to vector<16x1xi32>
  %k = vector.shape_cast %j : vector<32xi32> to vector<1x32xi32>
  %x = atx.tile_load %a[%r, %k] : memref<16x32xf32>, vector<16x1xi32>, vector<1x32xi32> -> vector<16x32xf32>
  %m = atx.tile_pin %x layout "(((8,8),1),(4,2)):(((4,32),0),(1,256))" : vector<16x32xf32>
  %p = atx.tile_pin %m layout "(((16,4),1),(4,2)):(((1,32),0),(128,16))" : vector<16x32xf32>
  atx.tile_store %p, %c[%r, %k] : vector<16x32xf32>, memref<16x32xf32>, vector<16x1xi32>, vector<1x32xi32>
  return
}
