// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-lower-lane-reduce)))'

gpu.module @m {
  gpu.func @unknown(%v: vector<1xf32>) kernel {
    // expected-error @below {{the kernel's workgroup size is not known; set 'known_block_size'}}
    %s = atx_amdgpu.lane_reduce add %v over 128 : vector<1xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @parts(%v: vector<1xf32>) kernel attributes {known_block_size = array<i32: 192, 1, 1>} {
    // expected-error @below {{reduces over 128 lanes in a workgroup of 192}}
    %s = atx_amdgpu.lane_reduce add %v over 128 : vector<1xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @small(%v: vector<1xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{reduces over 128 lanes in a workgroup of 64}}
    %s = atx_amdgpu.lane_reduce add %v over 128 : vector<1xf32>
    gpu.return
  }
}

// -----

// Work-items are counted along x only.
gpu.module @m {
  gpu.func @dimensions(%v: vector<1xf32>) kernel attributes {known_block_size = array<i32: 128, 2, 1>} {
    // expected-error @below {{reduces over 128 lanes in a workgroup of more than one dimension}}
    %s = atx_amdgpu.lane_reduce add %v over 128 : vector<1xf32>
    gpu.return
  }
}

// -----

// Outside of a kernel there is no LDS.
gpu.module @m {
  gpu.func @nothing(%v: vector<1xf32>) kernel {
    gpu.return
  }
}
