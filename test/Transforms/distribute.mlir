// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-assign-layouts,atx-distribute,canonicalize,cse)))' | FileCheck %s
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-assign-layouts,atx-distribute{vector-bits=32},canonicalize,cse)))' | FileCheck %s --check-prefix=NARROW

// 8 work-items share a row of 60 columns in 64; each holds two runs of four. The first run is always inside, the second
// reaches past the end in the last work-item only: a mask, no branch. Offsets are constants; 16 bytes a load.
// CHECK-LABEL: gpu.func @row
// CHECK-SAME: %[[X:.*]]: memref<?x60xf32>, %[[O:.*]]: memref<?x60xf32>
// CHECK-DAG: %[[RX:.*]] = atx_amdgpu.make_resource %[[X]] : memref<?x60xf32> -> !llvm.ptr<8>
// CHECK-DAG: %[[RO:.*]] = atx_amdgpu.make_resource %[[O]] : memref<?x60xf32> -> !llvm.ptr<8>
// CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK-DAG: %[[R:.*]] = arith.divui %[[T]], %c8_i32
// CHECK-DAG: %[[C8:.*]] = arith.remui %[[T]], %c8_i32
// CHECK-DAG: %[[C:.*]] = arith.muli %[[C8]], %c4_i32
// CHECK: %[[R60:.*]] = arith.muli %[[R]], %c60_i32
// CHECK: %[[AT:.*]] = arith.addi %[[R60]], %[[C]]
// CHECK: %[[A:.*]] = atx_amdgpu.buffer_load %[[RX]][%[[AT]] + 0] : vector<4xf32>
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[C]], %c28_i32
// CHECK: %[[B:.*]] = atx_amdgpu.buffer_load %[[RX]][%[[AT]] + 32] mask %[[IN]] : vector<4xf32>
// CHECK-NOT: buffer_load
// CHECK: atx_amdgpu.buffer_store %[[A]], %[[RO]][%[[AT]] + 0] : vector<4xf32>
// CHECK: atx_amdgpu.buffer_store %[[B]], %[[RO]][%[[AT]] + 32] mask %[[IN]] : vector<4xf32>
// CHECK-NOT: scf.if
// NARROW-LABEL: gpu.func @row
// NARROW-COUNT-4: buffer_load %{{.*}}] : vector<1xf32>
// NARROW-COUNT-4: buffer_load %{{.*}}] mask %{{.*}} : vector<1xf32>
gpu.module @m {
  gpu.func @row(%x: memref<?x60xf32>, %o: memref<?x60xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero : memref<?x60xf32>, vector<16x64xf32>
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x64xf32>, memref<?x60xf32>
    gpu.return
  }
}

// -----

// Runs of eight are 16 bytes, and every row starts at a multiple of them.
// CHECK-LABEL: gpu.func @align
// CHECK: buffer_load %{{.*}} + 0] : vector<8xbf16>
// CHECK-NOT: buffer_load
gpu.module @m {
  gpu.func @align(%x: memref<?x64xbf16, strided<[64, 1], offset: 64>>, %o: memref<?x64xbf16, strided<[64, 1], offset: 64>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %bz = arith.constant 0.0 : bf16
    %v = vector.transfer_read %x[%c0, %c0], %bz : memref<?x64xbf16, strided<[64, 1], offset: 64>>, vector<16x64xbf16>
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: 64>>
    gpu.return
  }
}

// -----

// Rows start at words: that is enough for a wide access.
// CHECK-LABEL: gpu.func @align
// CHECK: buffer_load %{{.*}} + 0] : vector<8xbf16>
// CHECK-NOT: buffer_load
gpu.module @m {
  gpu.func @align(%x: memref<?x64xbf16, strided<[66, 1]>>, %o: memref<?x64xbf16, strided<[66, 1]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %bz = arith.constant 0.0 : bf16
    %v = vector.transfer_read %x[%c0, %c0], %bz : memref<?x64xbf16, strided<[66, 1]>>, vector<16x64xbf16>
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x64xbf16>, memref<?x64xbf16, strided<[66, 1]>>
    gpu.return
  }
}

// -----

// Odd rows start between words: single elements.
// CHECK-LABEL: gpu.func @align
// CHECK: buffer_load %{{.*}} + 0] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 1] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 2] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 3] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 4] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 5] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 6] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 7] : vector<1xbf16>
// CHECK-NOT: buffer_load
gpu.module @m {
  gpu.func @align(%x: memref<?x64xbf16, strided<[65, 1]>>, %o: memref<?x64xbf16, strided<[65, 1]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %bz = arith.constant 0.0 : bf16
    %v = vector.transfer_read %x[%c0, %c0], %bz : memref<?x64xbf16, strided<[65, 1]>>, vector<16x64xbf16>
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x64xbf16>, memref<?x64xbf16, strided<[65, 1]>>
    gpu.return
  }
}

// -----

// So does an odd offset.
// CHECK-LABEL: gpu.func @align
// CHECK: buffer_load %{{.*}} + 0] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 1] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 2] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 3] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 4] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 5] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 6] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 7] : vector<1xbf16>
// CHECK-NOT: buffer_load
gpu.module @m {
  gpu.func @align(%x: memref<?x64xbf16, strided<[64, 1], offset: 1>>, %o: memref<?x64xbf16, strided<[64, 1], offset: 1>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %bz = arith.constant 0.0 : bf16
    %v = vector.transfer_read %x[%c0, %c0], %bz : memref<?x64xbf16, strided<[64, 1], offset: 1>>, vector<16x64xbf16>
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: 1>>
    gpu.return
  }
}

// -----

// A view whose start is not known may start anywhere.
// CHECK-LABEL: gpu.func @align
// CHECK: buffer_load %{{.*}} + 0] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 1] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 2] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 3] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 4] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 5] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 6] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 7] : vector<1xbf16>
// CHECK-NOT: buffer_load
gpu.module @m {
  gpu.func @align(%x: memref<?x64xbf16, strided<[64, 1], offset: ?>>, %o: memref<?x64xbf16, strided<[64, 1], offset: ?>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %bz = arith.constant 0.0 : bf16
    %v = vector.transfer_read %x[%c0, %c0], %bz : memref<?x64xbf16, strided<[64, 1], offset: ?>>, vector<16x64xbf16>
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>>
    gpu.return
  }
}

// -----

// Elements that are not neighbours.
// CHECK-LABEL: gpu.func @align

// CHECK: buffer_load %{{.*}} + 0] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 2] : vector<1xbf16>
// CHECK: buffer_load %{{.*}} + 14] : vector<1xbf16>
gpu.module @m {
  gpu.func @align(%x: memref<?x64xbf16, strided<[128, 2]>>, %o: memref<?x64xbf16, strided<[128, 2]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %bz = arith.constant 0.0 : bf16
    %v = vector.transfer_read %x[%c0, %c0], %bz : memref<?x64xbf16, strided<[128, 2]>>, vector<16x64xbf16>
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x64xbf16>, memref<?x64xbf16, strided<[128, 2]>>
    gpu.return
  }
}

// -----

// A slice of rows starts at a multiple of a row: its offset is as aligned as the stride.
// CHECK-LABEL: gpu.func @slice
// CHECK: buffer_load %{{.*}} + 0] : vector<8xbf16>
gpu.module @m {
  gpu.func @slice(%big: memref<?x64xbf16>, %i: index, %n: index) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.subview %big[%i, 0] [%n, 64] [1, 1] : memref<?x64xbf16> to memref<?x64xbf16, strided<[64, 1], offset: ?>>
    %bz = arith.constant 0.0 : bf16
    %v = vector.transfer_read %x[%c0, %c0], %bz : memref<?x64xbf16, strided<[64, 1], offset: ?>>, vector<16x64xbf16>
    vector.transfer_write %v, %x[%c0, %c0] : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>>
    gpu.return
  }
}

// -----

// A constant column keeps it as aligned as itself.
// CHECK-LABEL: gpu.func @slice_odd
// CHECK: buffer_load %{{.*}} + 0] : vector<1xbf16>
gpu.module @m {
  gpu.func @slice_odd(%big: memref<?x128xbf16>, %i: index, %n: index) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.subview %big[%i, 3] [%n, 64] [1, 1] : memref<?x128xbf16> to memref<?x64xbf16, strided<[128, 1], offset: ?>>
    %bz = arith.constant 0.0 : bf16
    %v = vector.transfer_read %x[%c0, %c0], %bz : memref<?x64xbf16, strided<[128, 1], offset: ?>>, vector<16x64xbf16>
    vector.transfer_write %v, %x[%c0, %c0] : vector<16x64xbf16>, memref<?x64xbf16, strided<[128, 1], offset: ?>>
    gpu.return
  }
}

// -----

// A row's sum: runs first, halves of a run, then the lanes that share the row; the neutral start is not added. The result
// of a row is written by the first of its lanes.
// CHECK-LABEL: gpu.func @sum
// CHECK: %[[A:.*]] = atx_amdgpu.buffer_load %{{.*}} + 0] : vector<4xf32>
// CHECK: %[[B:.*]] = atx_amdgpu.buffer_load %{{.*}} + 32] : vector<4xf32>
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]] fastmath<contract> : vector<4xf32>
// CHECK: %[[LO:.*]] = vector.extract_strided_slice %[[S]] {offsets = [0], sizes = [2], strides = [1]}
// CHECK: %[[HI:.*]] = vector.extract_strided_slice %[[S]] {offsets = [2], sizes = [2], strides = [1]}
// CHECK: %[[S2:.*]] = arith.addf %[[LO]], %[[HI]] fastmath<contract> : vector<2xf32>
// CHECK: atx_amdgpu.lane_reduce add %{{.*}} over 8 : vector<1xf32>
// CHECK-NOT: lane_reduce
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK: atx_amdgpu.buffer_store %{{.*}} mask %[[FIRST]] : vector<1xf32>
gpu.module @m {
  gpu.func @sum(%x: memref<?x64xf32>, %s: memref<?xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = arith.constant dense<0.0> : vector<16xf32>
    %v = vector.transfer_read %x[%c0, %c0], %zero : memref<?x64xf32>, vector<16x64xf32>
    %r = vector.multi_reduction <add>, %v, %acc [1] : vector<16x64xf32> to vector<16xf32>
    vector.transfer_write %r, %s[%c0] : vector<16xf32>, memref<?xf32>
    vector.transfer_write %v, %x[%c0, %c0] : vector<16x64xf32>, memref<?x64xf32>
    gpu.return
  }
}

// -----

// A start that is not neutral is added once, behind the lanes; the maximum of integers.
// CHECK-LABEL: gpu.func @start
// CHECK: %[[R:.*]] = atx_amdgpu.lane_reduce max %{{.*}} over 8 : vector<1xi32>
// CHECK: arith.maxsi %[[R]], %{{.*}} : vector<1xi32>
gpu.module @m {
  gpu.func @start(%x: memref<?x64xi32>, %s: memref<?xi32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %iz = arith.constant 0 : i32
    %acc = arith.constant dense<5> : vector<16xi32>
    %v = vector.transfer_read %x[%c0, %c0], %iz : memref<?x64xi32>, vector<16x64xi32>
    %r = vector.multi_reduction <maxsi>, %v, %acc [1] : vector<16x64xi32> to vector<16xi32>
    vector.transfer_write %r, %s[%c0] : vector<16xi32>, memref<?xi32>
    vector.transfer_write %v, %x[%c0, %c0] : vector<16x64xi32>, memref<?x64xi32>
    gpu.return
  }
}

// -----

// A dimension in one lane is reduced in registers, run by run: no lane talks to another.
// CHECK-LABEL: gpu.func @middle
// CHECK-COUNT-5: buffer_load %{{.*}} : vector<4xf32>
// CHECK-COUNT-4: arith.addf %{{.*}} : vector<4xf32>
// CHECK-NOT: lane_reduce
// CHECK: buffer_store %{{.*}} : vector<4xf32>
gpu.module @m {
  gpu.func @middle(%x: memref<?x5x32xf32>, %o: memref<?x32xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 32], extent = [16, 32], threads = 128, layout = <(8, 16):(4E1, 1E0), (4):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = arith.constant dense<0.0> : vector<16x32xf32>
    %v = vector.transfer_read %x[%c0, %c0, %c0], %zero : memref<?x5x32xf32>, vector<16x5x32xf32>
    %r = vector.multi_reduction <add>, %v, %acc [1] : vector<16x5x32xf32> to vector<16x32xf32>
    vector.transfer_write %r, %o[%c0, %c0] : vector<16x32xf32>, memref<?x32xf32>
    gpu.return
  }
}

// -----

// The mask of a padded reduction: constant where all work-items agree, one comparison where they do not. Three runs of
// padding are not loaded at all.
// CHECK-LABEL: gpu.func @padding
// CHECK: %[[A:.*]] = atx_amdgpu.buffer_load %{{.*}} + 0] mask %[[IN:.*]] : vector<4xf32>
// CHECK-NOT: buffer_load
// CHECK: lane_reduce add
gpu.module @m {
  gpu.func @padding(%x: memref<?x28xf32>, %s: memref<?xf32>, %o: memref<?x28xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 128], extent = [16, 28], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 4):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = arith.constant dense<0.0> : vector<16xf32>
    %none = arith.constant dense<0.0> : vector<16x128xf32>
    %v = vector.transfer_read %x[%c0, %c0], %zero : memref<?x28xf32>, vector<16x128xf32>
    %m = vector.constant_mask [16, 28] : vector<16x128xi1>
    %p = arith.select %m, %v, %none : vector<16x128xi1>, vector<16x128xf32>
    %r = vector.multi_reduction <add>, %p, %acc [1] : vector<16x128xf32> to vector<16xf32>
    vector.transfer_write %r, %s[%c0] : vector<16xf32>, memref<?xf32>
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x128xf32>, memref<?x28xf32>
    gpu.return
  }
}

// -----

// Broadcasts: a row's value becomes a splat, a column's run is used as it stands, in all rows of the lane.
// CHECK-LABEL: gpu.func @broadcast
// CHECK-DAG: %[[W:.*]] = atx_amdgpu.buffer_load %{{.*}} + 0] : vector<4xf32>
// CHECK-DAG: %[[S0:.*]] = atx_amdgpu.buffer_load %{{.*}} + 0] : vector<1xf32>
// CHECK-DAG: %[[S1:.*]] = atx_amdgpu.buffer_load %{{.*}} + 8] : vector<1xf32>
// CHECK-DAG: %[[X0:.*]] = vector.extract %[[S0]][0]
// CHECK-DAG: %[[E0:.*]] = vector.broadcast %[[X0]] : f32 to vector<4xf32>
// CHECK-DAG: %[[X1:.*]] = vector.extract %[[S1]][0]
// CHECK-DAG: %[[E1:.*]] = vector.broadcast %[[X1]] : f32 to vector<4xf32>
// CHECK-DAG: arith.mulf %[[E0]], %[[W]] : vector<4xf32>
// CHECK-DAG: arith.mulf %[[E1]], %[[W]] : vector<4xf32>
gpu.module @m {
  gpu.func @broadcast(%w: memref<32xf32>, %s: memref<?xf32>, %o: memref<?x32xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 32], extent = [16, 32], threads = 64, layout = <(8, 8):(4E1, 1E0), (4, 2):(1E1, 8E0)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %sv = vector.transfer_read %s[%c0], %zero : memref<?xf32>, vector<16xf32>
    %wv = vector.transfer_read %w[%c0], %zero : memref<32xf32>, vector<32xf32>
    %sc = vector.shape_cast %sv : vector<16xf32> to vector<16x1xf32>
    %sb = vector.broadcast %sc : vector<16x1xf32> to vector<16x32xf32>
    %wb = vector.broadcast %wv : vector<32xf32> to vector<16x32xf32>
    %y = arith.mulf %sb, %wb : vector<16x32xf32>
    vector.transfer_write %y, %o[%c0, %c0] : vector<16x32xf32>, memref<?x32xf32>
    gpu.return
  }
}
