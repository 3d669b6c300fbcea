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
// CHECK: llvm.bitcast %[[L]] : vector<4xi32> to vector<8xbf16>
// CHECK: rocdl.raw.ptr.buffer.store {{.*}} : vector<4xi32>
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

// A transposed tile that is stored goes through shared memory, and a remark says so.
// CHECK-LABEL: gpu.func @transposed
// CHECK: amdgpu.lds_barrier
// REMARK: remark: moves a tile of 32x16xf32 from layout
// REMARK-SAME: through shared memory
func.func @transposed(%a: memref<16x32xf32> {atx.name = "a", atx.shape = ["16", "32"]}, %w: memref<32x16xf32> {atx.name = "w", atx.shape = ["32", "16"]}, %c: memref<32x16xf32> {atx.name = "c", atx.shape = ["32", "16"], atx.output}) attributes {atx.kernel, atx.grid = ["1"], atx.threads = 64 : i64} {
  %i = atx.tile_iota : vector<16xi32>
  %j = atx.tile_iota : vector<32xi32>
  %r = vector.shape_cast %i : vector<16xi32> to vector<16x1xi32>
  %k = vector.shape_cast %j : vector<32xi32> to vector<1x32xi32>
  %r2 = vector.shape_cast %j : vector<32xi32> to vector<32x1xi32>
  %k2 = vector.shape_cast %i : vector<16xi32> to vector<1x16xi32>
  %y = atx.tile_load %w[%r2, %k2] : memref<32x16xf32>, vector<32x1xi32>, vector<1x16xi32> -> vector<32x16xf32>
  %x = atx.tile_load %a[%r, %k] : memref<16x32xf32>, vector<16x1xi32>, vector<1x32xi32> -> vector<16x32xf32>
  %t = vector.transpose %x, [1, 0] : vector<16x32xf32> to vector<32x16xf32>
  %s = arith.addf %t, %y : vector<32x16xf32>
  atx.tile_store %s, %c[%r2, %k2] : vector<32x16xf32>, memref<32x16xf32>, vector<32x1xi32>, vector<1x16xi32>
  return
}
