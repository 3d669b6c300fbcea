// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-unroll-loops{factor=0})))' --verify-diagnostics | FileCheck %s
// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-unroll-loops{factor=0})))' 2>/dev/null | FileCheck %s --check-prefix=PIN
// PIN: #loop_unroll = #llvm.loop_unroll<disable = true>
// PIN: #loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll>
// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-unroll-loops{factor=3})))' 2>/dev/null | FileCheck %s --check-prefix=THREE
// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-unroll-loops)))' | FileCheck %s --check-prefix=OFF

gpu.module @m {
  // CHECK-LABEL: gpu.func @tiny
  // CHECK-NOT: scf.for
  // CHECK-COUNT-3: llvm.store
  // THREE-LABEL: gpu.func @tiny
  // THREE-NOT: scf.for
  // OFF-LABEL: gpu.func @tiny
  // OFF: scf.for
  // OFF-NOT: loop_annotation
  gpu.func @tiny(%p: !llvm.ptr<1>) kernel {
    %lo = arith.constant 0 : i32
    %hi = arith.constant 3 : i32
    %one = arith.constant 1 : i32
    // expected-remark @+1 {{loop is unrolled fully: 3 iterations of about 2 instructions}}
    scf.for %i = %lo to %hi step %one : i32 {
      %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %i, %q : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // The loop's own three instructions beside two: eight copies, what is left in a loop behind.
  // CHECK-LABEL: gpu.func @short
  // CHECK: scf.for
  // CHECK-COUNT-8: llvm.store
  // CHECK: llvm.loop_annotation = #loop_annotation
  // CHECK: scf.for
  // CHECK-COUNT-1: llvm.store
  // THREE-LABEL: gpu.func @short
  // THREE: scf.for
  // THREE-COUNT-3: llvm.store
  // THREE: scf.for
  gpu.func @short(%p: !llvm.ptr<1>, %hi: i32) kernel {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // expected-remark @+1 {{loop is unrolled by 8: the loop's own 3 instructions are many beside 2}}
    scf.for %i = %lo to %hi step %one : i32 {
      %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %i, %q : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // Three buffers in turn.
  // CHECK-LABEL: gpu.func @rotate
  // CHECK: scf.for
  // CHECK-COUNT-3: vector<64xf32>
  // CHECK: scf.yield
  gpu.func @rotate(%p: !llvm.ptr<3>, %a: i32, %b: i32, %c: i32, %hi: i32) kernel {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<64xf32>
    // expected-remark @+1 {{loop is unrolled by 3: its values change places with period 3}}
    %r:4 = scf.for %i = %lo to %hi step %one iter_args(%x = %a, %y = %b, %w = %c, %s = %z) -> (i32, i32, i32, vector<64xf32>) : i32 {
      %q = llvm.getelementptr %p[%x] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %v = llvm.load %q : !llvm.ptr<3> -> f32
      %t = vector.broadcast %v : f32 to vector<64xf32>
      %u = arith.addf %s, %t : vector<64xf32>
      scf.yield %y, %w, %x, %u : i32, i32, i32, vector<64xf32>
    }
    %q = llvm.getelementptr %p[%r#0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %r#3, %q : vector<64xf32>, !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @long
  // CHECK: llvm.loop_annotation = #loop_annotation
  gpu.func @long(%p: !llvm.ptr<3>, %hi: i32) kernel {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<64xf32>
    // expected-remark @+1 {{loop is not unrolled: its 65 instructions hide the loop's own 3}}
    %r = scf.for %i = %lo to %hi step %one iter_args(%s = %z) -> (vector<64xf32>) : i32 {
      %v = llvm.load %p : !llvm.ptr<3> -> f32
      %t = vector.broadcast %v : f32 to vector<64xf32>
      %u = arith.addf %s, %t : vector<64xf32>
      scf.yield %u : vector<64xf32>
    }
    llvm.store %r, %p : vector<64xf32>, !llvm.ptr<3>
    gpu.return
  }
}
