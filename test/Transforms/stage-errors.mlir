// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-assign-tile-layouts),atx-distribute-tiles))'

// Stages that hand-written IR uses otherwise than the compiler does.

// expected-error @+2 {{a stage cannot be an argument of a kernel}}
gpu.module @m {
  gpu.func @argument(%a: !atx.stage<vector<32x32xf32>>, %s: i32) kernel attributes {atx.kernel, atx.threads = 64 : i64, known_block_size = array<i32: 64, 1, 1>} {
    %y = atx.stage_read %a[%s] : !atx.stage<vector<32x32xf32>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @yielded(%c: i1) kernel attributes {atx.kernel, atx.threads = 64 : i64, known_block_size = array<i32: 64, 1, 1>} {
    %x = arith.constant dense<1.0> : vector<32x32xf32>
    %z = arith.constant 0 : i32
    %a = scf.if %c -> (!atx.stage<vector<32x32xf32>>) {
      %b = atx.stage_alloc slots 2 order [1, 0] : !atx.stage<vector<32x32xf32>>
      // expected-error @+1 {{'scf.yield' cannot take a stage}}
      scf.yield %b : !atx.stage<vector<32x32xf32>>
    } else {
      %d = atx.stage_alloc slots 2 order [1, 0] : !atx.stage<vector<32x32xf32>>
      scf.yield %d : !atx.stage<vector<32x32xf32>>
    }
    atx.stage_write %x, %a[%z] : !atx.stage<vector<32x32xf32>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @slot() kernel attributes {atx.kernel, atx.threads = 64 : i64, known_block_size = array<i32: 64, 1, 1>} {
    %x = arith.constant dense<1.0> : vector<32x32xf32>
    %z = arith.constant 7 : i32
    %a = atx.stage_alloc slots 2 order [1, 0] : !atx.stage<vector<32x32xf32>>
    // expected-error @+1 {{slot 7 is not one of the 2 of the stage}}
    atx.stage_write %x, %a[%z] : !atx.stage<vector<32x32xf32>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @behind() kernel attributes {atx.kernel, atx.threads = 64 : i64, known_block_size = array<i32: 64, 1, 1>} {
    %x = arith.constant dense<1.0> : vector<32x32xf32>
    %z = arith.constant 0 : i32
    %a = atx.stage_alloc slots 2 order [1, 0] : !atx.stage<vector<32x32xf32>>
    atx.stage_dealloc %a : !atx.stage<vector<32x32xf32>>
    // expected-error @+1 {{'atx.stage_write' stands behind the end of its stage}}
    atx.stage_write %x, %a[%z] : !atx.stage<vector<32x32xf32>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @twice() kernel attributes {atx.kernel, atx.threads = 64 : i64, known_block_size = array<i32: 64, 1, 1>} {
    %a = atx.stage_alloc slots 2 order [1, 0] : !atx.stage<vector<32x32xf32>>
    atx.stage_dealloc %a : !atx.stage<vector<32x32xf32>>
    // expected-error @+1 {{the stage ends twice}}
    atx.stage_dealloc %a : !atx.stage<vector<32x32xf32>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @room() kernel attributes {atx.kernel, atx.threads = 64 : i64, known_block_size = array<i32: 64, 1, 1>} {
    %x = arith.constant dense<1.0> : vector<32x32xf32>
    %z = arith.constant 0 : i32
    // expected-error @+1 {{8 slots of 'vector<64x64xf32>' take 131072 bytes of shared memory beside the 0 it holds already; gfx942 has 65536; use fewer stages or smaller tiles}}
    %a = atx.stage_alloc slots 8 order [1, 0] : !atx.stage<vector<64x64xf32>>
    gpu.return
  }
}
