// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-assign-layouts)))'

gpu.module @m {
  gpu.func @shape(%v: vector<16x32xf32>, %o: memref<?x32xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{layout #atx.tv<(8, 16):(8E1, 1E0), (8):(1E1)> cannot hold 'vector<16x32xf32>' exactly once}}
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x32xf32>, memref<?x32xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rank(%v: vector<16x64x2xf32>, %o: memref<?x64x2xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{writes a vector of rank 3 in a mapping of rank 2}}
    vector.transfer_write %v, %o[%c0, %c0, %c0] : vector<16x64x2xf32>, memref<?x64x2xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @scalable(%v: vector<16x[64]xf32>, %o: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{'vector<16x[64]xf32>' has no constant extent, so no layout can hold it}}
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x[64]xf32>, memref<?x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @conflict(%x: memref<64xf32>, %s: memref<64xf32>, %o: memref<64x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [64, 64], extent = [64, 64], threads = 64, layout = <(64):(1E0), (64):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0], %zero : memref<64xf32>, vector<64xf32>
    // expected-error @below {{needs a vector in layout #atx.tv<(64):(0), (64):(1E0)> that is held in layout #atx.tv<(64):(1E0), ():()>}}
    %c = vector.shape_cast %v : vector<64xf32> to vector<64x1xf32>
    // expected-note @below {{the other layout comes from here}}
    %cb = vector.broadcast %c : vector<64x1xf32> to vector<64x64xf32>
    %rb = vector.broadcast %v : vector<64xf32> to vector<64x64xf32>
    %y = arith.mulf %cb, %rb : vector<64x64xf32>
    vector.transfer_write %y, %o[%c0, %c0] : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @cast(%x: memref<?x64xf32>, %o: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero : memref<?x64xf32>, vector<32x32xf32>
    // expected-error @below {{a cast from 'vector<32x32xf32>' to 'vector<16x64xf32>' moves elements between lanes}}
    %y = vector.shape_cast %v : vector<32x32xf32> to vector<16x64xf32>
    vector.transfer_write %y, %o[%c0, %c0] : vector<16x64xf32>, memref<?x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @scalar(%x: memref<?x64xf32>, %o: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero : memref<?x64xf32>, vector<16x64xf32>
    // expected-error @below {{a reduction to a scalar needs all lanes of the workgroup, which the row mapping lacks}}
    %s = vector.multi_reduction <add>, %v, %zero [0, 1] : vector<16x64xf32> to f32
    vector.transfer_write %v, %o[%c0, %c0] : vector<16x64xf32>, memref<?x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @nowhere(%x: memref<?x64xf32>, %o: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{nothing decides which lanes hold this 'vector<16x64xf32>'}}
    %v = vector.transfer_read %x[%c0, %c0], %zero : memref<?x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unsupported(%x: memref<?x64xf32>, %o: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{nothing decides which lanes hold this 'vector<64x16xf32>'}}
    %v = vector.transfer_read %x[%c0, %c0], %zero : memref<?x64xf32>, vector<64x16xf32>
    %y = vector.transpose %v, [1, 0] : vector<64x16xf32> to vector<16x64xf32>
    vector.transfer_write %y, %o[%c0, %c0] : vector<16x64xf32>, memref<?x64xf32>
    gpu.return
  }
}
