// RUN: atrex-opt %s -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-expand-bf16)))'
// RUN: not atrex-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-expand-bf16{arch=b200})))' 2>&1 | FileCheck %s
// CHECK: error: 'b200' is not an architecture code can be generated for; known are

gpu.module @m {
  gpu.func @mode(%r: !llvm.ptr<8>, %o: i32, %v: vector<2xf32>) kernel {
    // expected-error @below {{rounds 'toward_zero', which has no expansion for gfx942}}
    %t = arith.truncf %v toward_zero : vector<2xf32> to vector<2xbf16>
    atx_amdgpu.buffer_store %t, %r[%o + 0] : vector<2xbf16>
    gpu.return
  }
}
