// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-distribute)))'

gpu.module @m {
  gpu.func @nolayout(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{has no 'atx.layout'; run 'atx-assign-layouts' first}}
    %v = vector.transfer_read %x[%c0, %c0], %zero  : memref<?x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @argument(%v: vector<16x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{operand of type 'vector<16x64xf32>' was not distributed}}
    %y = arith.negf %v {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : vector<16x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @elementwise(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>
    // expected-error @below {{operand of type 'vector<16x64xf32>' is held in layout #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)> but needed in layout #atx.tv<(16, 8):(4E1, 2E0), (4, 2):(1E1, 1E0)>}}
    %y = arith.negf %v {atx.layout = #atx.tv<(16, 8):(4E1, 2E0), (4, 2):(1E1, 1E0)>} : vector<16x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @write(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>
    // expected-error @below {{operand of type 'vector<16x64xf32>' is held in layout #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)> but needed in layout #atx.tv<(16, 8):(4E1, 2E0), (4, 2):(1E1, 1E0)>}}
    vector.transfer_write %v, %x[%c0, %c0] {atx.layout = #atx.tv<(16, 8):(4E1, 2E0), (4, 2):(1E1, 1E0)>} : vector<16x64xf32>, memref<?x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @broadcast(%x: memref<64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0], %zero {atx.layout = #atx.tv<(64, 2):(1E0, 0), ():()>} : memref<64xf32>, vector<64xf32>
    // expected-error @below {{operand of type 'vector<64xf32>' is held in layout #atx.tv<(64, 2):(1E0, 0), ():()> but needed in layout #atx.tv<(8, 16):(4E0, 0), (4, 2):(1E0, 32E0)>}}
    %y = vector.broadcast %v {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : vector<64xf32> to vector<16x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @cast(%x: memref<16xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0], %zero {atx.layout = #atx.tv<(16, 8):(1E0, 0), ():()>} : memref<16xf32>, vector<16xf32>
    // expected-error @below {{operand of type 'vector<16xf32>' is held in layout #atx.tv<(16, 8):(1E0, 0), ():()> but needed in layout #atx.tv<(8, 16):(0, 1E0), ():()>}}
    %y = vector.shape_cast %v {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} : vector<16xf32> to vector<16x1xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @moving_cast(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>
    // expected-error @below {{a cast from 'vector<16x64xf32>' to 'vector<64x16xf32>' moves elements between lanes}}
    %y = vector.shape_cast %v {atx.layout = #atx.tv<(64, 2):(1E0, 8E1), (8):(1E1)>} : vector<16x64xf32> to vector<64x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @reduce_layout(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>
    %acc = arith.constant {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} dense<0.0> : vector<16xf32>
    // expected-error @below {{layouts #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)> and #atx.tv<(16, 8):(1E0, 0), ():()> do not agree}}
    %y = vector.multi_reduction <add>, %v, %acc {atx.layout = #atx.tv<(16, 8):(1E0, 0), ():()>} [1] : vector<16x64xf32> to vector<16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @reduce_scalar(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>
    // expected-error @below {{a reduction to a scalar needs all lanes of the workgroup, which the row mapping lacks}}
    %y = vector.multi_reduction <add>, %v, %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} [0, 1] : vector<16x64xf32> to f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @neighbours(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(16, 8):(1E0, 8E1), (8):(1E1)>} : memref<?x64xf32>, vector<16x64xf32>
    %acc = arith.constant {atx.layout = #atx.tv<(16, 8):(1E0, 0), ():()>} dense<0.0> : vector<16xf32>
    // expected-error @below {{the lanes that share a row in layout #atx.tv<(16, 8):(1E0, 8E1), (8):(1E1)> are not neighbours}}
    %y = vector.multi_reduction <add>, %v, %acc {atx.layout = #atx.tv<(16, 8):(1E0, 0), ():()>} [1] : vector<16x64xf32> to vector<16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @kind(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>
    %acc = arith.constant {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} dense<0.0> : vector<16xf32>
    // expected-error @below {{reduction by 'mul' is not supported}}
    %y = vector.multi_reduction <mul>, %v, %acc {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} [1] : vector<16x64xf32> to vector<16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @lane_type(%x: memref<?x64xf16>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %hz = arith.constant 0.0 : f16
    %v = vector.transfer_read %x[%c0, %c0], %hz {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf16>, vector<16x64xf16>
    %acc = arith.constant {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} dense<0.0> : vector<16xf16>
    // expected-error @below {{reduction by 'add' of 'f16' across lanes is not supported}}
    %y = vector.multi_reduction <add>, %v, %acc {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} [1] : vector<16x64xf16> to vector<16xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @constant() kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{a constant whose elements differ cannot be distributed}}
    %y = arith.constant {atx.layout = #atx.tv<(2):(1E0), ():()>} dense<[0.0, 1.0]> : vector<2xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unsupported(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>
    // expected-error @below {{'vector.transpose' cannot be distributed over lanes}}
    %y = vector.transpose %v, [1, 0] {atx.layout = #atx.tv<(64, 2):(1E0, 8E1), (8):(1E1)>} : vector<16x64xf32> to vector<64x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @mask() kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{bound 62 of dimension 1 cuts through runs of 4 elements}}
    %y = vector.constant_mask [16, 62] {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : vector<16x64xi1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @mask_gap() kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{bound 60 of dimension 1 cuts through runs of 4 elements}}
    %y = vector.constant_mask [16, 60] {atx.layout = #atx.tv<(8, 16):(1E1, 1E0), (4, 2):(8E1, 32E1)>} : vector<16x64xi1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @bound(%x: memref<?x62xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{bound 62 of dimension 1 cuts through runs of 4 elements}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x62xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @bound_gap(%x: memref<?x60xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{bound 60 of dimension 1 cuts through runs of 4 elements}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(1E1, 1E0), (4, 2):(8E1, 32E1)>} : memref<?x60xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @tensor(%x: tensor<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{accesses a tensor; run 'atx-bufferize' first}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : tensor<?x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @permutation(%x: memref<64x16xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{only plain accesses to strided views can be distributed}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {permutation_map = affine_map<(d0, d1) -> (d1, d0)>, atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<64x16xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @masked(%x: memref<?x64xf32>, %m: vector<16x64xi1>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{only plain accesses to strided views can be distributed}}
    %v = vector.transfer_read %x[%c0, %c0], %zero, %m {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @minor(%x: memref<?x16x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{only plain accesses to strided views can be distributed}}
    %v = vector.transfer_read %x[%c0, %c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x16x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rank0(%x: memref<f32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{only plain accesses to strided views can be distributed}}
    %v = vector.transfer_read %x[], %zero {atx.layout = #atx.tv<(128):(0), ():()>} : memref<f32>, vector<f32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @floordiv(%x: memref<16x64xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{only plain accesses to strided views can be distributed}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<16x64xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @index(%x: memref<?x64xf32>, %i: index) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{an access must start at the first element of its view}}
    %v = vector.transfer_read %x[%i, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @start(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %c1 = arith.constant 1 : index
    // expected-error @below {{an access must start at the first element of its view}}
    %v = vector.transfer_read %x[%c0, %c1], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @padding(%x: memref<?x64xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    // expected-error @below {{only zero can stand for elements outside of the view}}
    %v = vector.transfer_read %x[%c0, %c0], %one {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @padding_argument(%x: memref<?x64xf32>, %p: f32) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{only zero can stand for elements outside of the view}}
    %v = vector.transfer_read %x[%c0, %c0], %p {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @stride(%x: memref<?x64xf32, strided<[?, 1]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{the stride of dimension 0 is not constant}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32, strided<[?, 1]>>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @extent(%x: memref<?x?xf32, strided<[64, 1]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{the extent of dimension 1 is not constant}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x?xf32, strided<[64, 1]>>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @backwards(%x: memref<16x64xf32, strided<[-64, 1], offset: 960>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{a view that runs backwards cannot be distributed}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<16x64xf32, strided<[-64, 1], offset: 960>>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @span(%x: memref<?x64xf32, strided<[1073741824, 1]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{the tile spans 2^31 bytes or more}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32, strided<[1073741824, 1]>>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @span_overflow(%x: memref<?x64xf32, strided<[9223372036854775807, 1]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{the tile spans 2^31 bytes or more}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32, strided<[9223372036854775807, 1]>>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @enclose(%x: memref<?x64xf32, strided<[1, 16]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{dimension 0 of the view, which has stride 1, must enclose dimension 1, which spans 64 x 16 elements}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32, strided<[1, 16]>>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @overlap(%x: memref<?x64xf32, strided<[32, 1]>>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{dimension 0 of the view, which has stride 32, must enclose dimension 1, which spans 64 x 1 elements}}
    %v = vector.transfer_read %x[%c0, %c0], %zero {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : memref<?x64xf32, strided<[32, 1]>>, vector<16x64xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @vectors(%x: memref<16xvector<4xf32>>, %vz: vector<4xf32>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{accesses 'f32' in a view of 'vector<4xf32>'; only elements of whole bytes can be distributed}}
    %v = vector.transfer_read %x[%c0], %vz {atx.layout = #atx.tv<(16, 8):(1E0, 0), (4):(1E1)>} : memref<16xvector<4xf32>>, vector<16x4xf32>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @index_element(%x: memref<16xindex>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{accesses 'index' in a view of 'index'; only elements of whole bytes can be distributed}}
    %v = vector.transfer_read %x[%c0], %c0 {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} : memref<16xindex>, vector<16xindex>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @i1(%x: memref<16xi1>) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %f = arith.constant false
    // expected-error @below {{accesses 'i1' in a view of 'i1'; only elements of whole bytes can be distributed}}
    %v = vector.transfer_read %x[%c0], %f {atx.layout = #atx.tv<(8, 16):(0, 1E0), ():()>} : memref<16xi1>, vector<16xi1>

    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @scalable(%x: f32) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{'vector<16x[64]xf32>' has no constant extent, so it cannot be distributed over lanes}}
    %y = vector.broadcast %x {atx.layout = #atx.tv<(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>} : f32 to vector<16x[64]xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @large(%x: f32) kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    // expected-error @below {{layout #atx.tv<(4):(1E0), (1048576):(1E1)> gives one lane 1048576 elements; its registers hold at most 256}}
    %y = vector.broadcast %x {atx.layout = #atx.tv<(4):(1E0), (1048576):(1E1)>} : f32 to vector<4x1048576xf32>
    gpu.return
  }
}
