// RUN: atrex-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(atx-convert-to-rocdl))'

gpu.module @m {
  gpu.func @unknown(%r: !llvm.ptr<8>, %o: i32) kernel {
    // expected-error @below {{'ub.poison' has no lowering for gfx942}}
    %p = ub.poison : vector<2xf32>
    atx_amdgpu.buffer_store %p, %r[%o + 0] : vector<2xf32>
    gpu.return
  }
}

// -----

// Loops are lowered before.
gpu.module @m {
  gpu.func @loop(%c: i1) kernel {
    // expected-error @below {{'scf.if' has no lowering for gfx942}}
    scf.if %c {
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// An operation of no dialect.
gpu.module @m {
  gpu.func @foreign() kernel {
    // expected-error @below {{'other.thing' has no lowering for gfx942}}
    "other.thing"() : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{a workgroup of 2048 x 1 x 1 work-items; gfx942 takes 1 to 1024}}
  gpu.func @many() kernel attributes {known_block_size = array<i32: 2048, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{a workgroup of 256 x -2147483648 x 1 work-items; gfx942 takes 1 to 1024}}
  gpu.func @negative() kernel attributes {known_block_size = array<i32: 256, -2147483648, 1>} {
    gpu.return
  }
}
