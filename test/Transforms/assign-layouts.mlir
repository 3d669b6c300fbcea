// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-assign-layouts)))' | FileCheck %s

#mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>

// The write has the mapping's layout; it travels back to the reads. Reduced and broadcast dimensions repeat: their value
// modes disappear, their thread modes get stride 0. A splat used in two layouts is made for each.
// CHECK-LABEL: gpu.func @rows
// CHECK-DAG: arith.constant {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} dense<0.000000e+00> : vector<16xf32>
// CHECK: vector.transfer_read {{.*}} {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>
// CHECK: vector.transfer_read {{.*}} {atx.layout = #atx.tv<(8, 16):(4E0, 0), (4, 2):(1E0, 32E0)>
// CHECK: vector.constant_mask [16, 60] {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>}
// CHECK: vector.multi_reduction <add>, {{.*}} {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} [1]
// CHECK: vector.shape_cast {{.*}} {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} : vector<16xf32> to vector<16x1xf32>
// CHECK: vector.broadcast {{.*}} {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : vector<16x1xf32> to vector<16x64xf32>
// CHECK: vector.broadcast {{.*}} {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : vector<64xf32> to vector<16x64xf32>
// CHECK: vector.transfer_write {{.*}} {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>
// A result of lower rank: the sums of the rows.
// CHECK: vector.transfer_write {{.*}} {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>
gpu.module @m {
  gpu.func @rows(%x: memref<?x60xf32>, %w: memref<60xf32>, %o: memref<?x60xf32>, %s: memref<?xf32>) kernel attributes {atx.mapping = #mapping} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = arith.constant dense<0.0> : vector<16xf32>
    %none = arith.constant dense<0.0> : vector<16x64xf32>
    %v = vector.transfer_read %x[%c0, %c0], %zero : memref<?x60xf32>, vector<16x64xf32>
    %wv = vector.transfer_read %w[%c0], %zero : memref<60xf32>, vector<64xf32>
    %m = vector.constant_mask [16, 60] : vector<16x64xi1>
    %p = arith.select %m, %v, %none : vector<16x64xi1>, vector<16x64xf32>
    %r = vector.multi_reduction <add>, %p, %acc [1] : vector<16x64xf32> to vector<16xf32>
    %c = vector.shape_cast %r : vector<16xf32> to vector<16x1xf32>
    %b = vector.broadcast %c : vector<16x1xf32> to vector<16x64xf32>
    %wb = vector.broadcast %wv : vector<64xf32> to vector<16x64xf32>
    %y = arith.mulf %v, %b : vector<16x64xf32>
    %z = arith.mulf %y, %wb : vector<16x64xf32>
    vector.transfer_write %z, %o[%c0, %c0] : vector<16x64xf32>, memref<?x60xf32>
    vector.transfer_write %r, %s[%c0] : vector<16xf32>, memref<?xf32>
    gpu.return
  }
}

// -----

#mapping = #atx.mapping<tile = [2, 64], extent = [2, 64], threads = 16, layout = <(8, 2):(8E1, 1E0), (8):(1E1)>>

// A reduced dimension that nothing else places is held by one lane, behind the modes of the result.
// CHECK-LABEL: gpu.func @middle
// CHECK: vector.transfer_read {{.*}} {atx.layout = #atx.tv<(8, 2):(8E2, 1E0), (8, 5):(1E2, 1E1)>
// CHECK: vector.multi_reduction <add>, {{.*}} {atx.layout = #atx.tv<(8, 2):(8E1, 1E0), (8):(1E1)>} [1]
gpu.module @m {
  gpu.func @middle(%x: memref<?x5x64xf32>, %o: memref<?x64xf32>) kernel attributes {atx.mapping = #mapping} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = arith.constant dense<0.0> : vector<2x64xf32>
    %v = vector.transfer_read %x[%c0, %c0, %c0], %zero : memref<?x5x64xf32>, vector<2x5x64xf32>
    %r = vector.multi_reduction <add>, %v, %acc [1] : vector<2x5x64xf32> to vector<2x64xf32>
    vector.transfer_write %r, %o[%c0, %c0] : vector<2x64xf32>, memref<?x64xf32>
    gpu.return
  }
}

// -----

#mapping = #atx.mapping<tile = [64, 64], extent = [64, 64], threads = 64, layout = <(64):(1E0), (64):(1E1)>>

// One splat, two layouts: along the rows and along the columns of a square tile.
// CHECK-LABEL: gpu.func @square
// CHECK-DAG: arith.constant {atx.layout = #atx.tv<(64):(1E0), ():()>} dense<1.000000e+00> : vector<64xf32>
// CHECK-DAG: arith.constant {atx.layout = #atx.tv<(64):(0), (64):(1E0)>} dense<1.000000e+00> : vector<64xf32>
gpu.module @m {
  gpu.func @square(%w: memref<64xf32>, %s: memref<?xf32>, %o: memref<?x64xf32>) kernel attributes {atx.mapping = #mapping} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant dense<1.0> : vector<64xf32>
    %sv = vector.transfer_read %s[%c0], %zero : memref<?xf32>, vector<64xf32>
    %wv = vector.transfer_read %w[%c0], %zero : memref<64xf32>, vector<64xf32>
    %s1 = arith.addf %sv, %one : vector<64xf32>
    %w1 = arith.addf %wv, %one : vector<64xf32>
    %sc = vector.shape_cast %s1 : vector<64xf32> to vector<64x1xf32>
    %sb = vector.broadcast %sc : vector<64x1xf32> to vector<64x64xf32>
    %wb = vector.broadcast %w1 : vector<64xf32> to vector<64x64xf32>
    %y = arith.mulf %sb, %wb : vector<64x64xf32>
    vector.transfer_write %y, %o[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
    gpu.return
  }
}

// -----

// Without a mapping nothing happens.
// CHECK-LABEL: gpu.func @plain
// CHECK-NOT: atx.layout
gpu.module @m {
  gpu.func @plain(%x: vector<4xf32>) kernel {
    %0 = arith.negf %x : vector<4xf32>
    gpu.return
  }
}
