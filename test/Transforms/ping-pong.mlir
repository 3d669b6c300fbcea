// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-ping-pong{enable=1})))' --verify-diagnostics | FileCheck %s

gpu.module @m {
  // Accesses, barrier, products, barrier; the upper four waves wait once before the loop, the lower ones behind it.
  // CHECK-LABEL: gpu.func @gemm
  // CHECK: %[[ID:.*]] = gpu.thread_id  x
  // CHECK: %[[I:.*]] = arith.index_cast %[[ID]] : index to i32
  // CHECK: %[[T:.*]] = rocdl.readfirstlane %[[I]]
  // CHECK: %[[UP:.*]] = arith.cmpi uge, %[[T]], %c256_i32
  // CHECK-NEXT: scf.if %[[UP]] {
  // CHECK-NEXT: amdgpu.lds_barrier
  // CHECK-NEXT: }
  // CHECK: scf.for
  // CHECK: rocdl.raw.ptr.buffer.load
  // CHECK-COUNT-4: llvm.load
  // CHECK: llvm.store
  // CHECK-NOT: rocdl.mfma
  // CHECK: rocdl.sched.barrier 0
  // CHECK-NEXT: amdgpu.lds_barrier
  // CHECK-NEXT: rocdl.sched.barrier 0
  // CHECK-NEXT: rocdl.s.setprio 1
  // CHECK-COUNT-8: rocdl.mfma
  // CHECK-NEXT: rocdl.s.setprio 0
  // CHECK-NEXT: rocdl.sched.barrier 0
  // CHECK-NEXT: amdgpu.lds_barrier
  // CHECK-NEXT: rocdl.sched.barrier 0
  // CHECK-NEXT: scf.yield
  // CHECK: %[[LOW:.*]] = arith.cmpi ult, %[[T]], %c256_i32
  // CHECK-NEXT: scf.if %[[LOW]] {
  // CHECK-NEXT: amdgpu.lds_barrier
  gpu.func @gemm(%p: !llvm.ptr<3>, %r: !llvm.ptr<8>, %hi: i32) kernel attributes {atx.threads = 512 : i64} {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      %g = rocdl.raw.ptr.buffer.load %r, %i, %lo, %lo : vector<4xi32>
      %pa0 = llvm.getelementptr %p[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %ra0 = llvm.load %pa0 {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %pa1 = llvm.getelementptr %p[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %ra1 = llvm.load %pa1 {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %pa2 = llvm.getelementptr %p[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %ra2 = llvm.load %pa2 {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %pa3 = llvm.getelementptr %p[48] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %ra3 = llvm.load %pa3 {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %m0 = rocdl.mfma.f32.32x32x8bf16.1k %ra0, %ra1, %acc, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %m1 = rocdl.mfma.f32.32x32x8bf16.1k %ra0, %ra1, %m0, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %m2 = rocdl.mfma.f32.32x32x8bf16.1k %ra0, %ra1, %m1, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %m3 = rocdl.mfma.f32.32x32x8bf16.1k %ra0, %ra1, %m2, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %m4 = rocdl.mfma.f32.32x32x8bf16.1k %ra2, %ra3, %m3, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %m5 = rocdl.mfma.f32.32x32x8bf16.1k %ra2, %ra3, %m4, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %m6 = rocdl.mfma.f32.32x32x8bf16.1k %ra2, %ra3, %m5, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %m7 = rocdl.mfma.f32.32x32x8bf16.1k %ra2, %ra3, %m6, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      llvm.store %g, %p {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
      amdgpu.lds_barrier
      scf.yield %m7 : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @four
  // CHECK-NOT: rocdl.sched.barrier
  gpu.func @four(%p: !llvm.ptr<3>, %hi: i32, %q: vector<4xi16>) kernel attributes {atx.threads = 256 : i64} {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    // expected-remark @+1 {{waves do not take turns in this loop: that takes 8 waves, the workgroup has 4}}
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      %k = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %m = rocdl.mfma.f32.32x32x8bf16.1k %k, %q, %acc, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      amdgpu.lds_barrier
      scf.yield %m : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @apart
  // CHECK-NOT: rocdl.sched.barrier
  gpu.func @apart(%p: !llvm.ptr<3>, %hi: i32, %q: vector<4xi16>) kernel attributes {atx.threads = 512 : i64} {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    // expected-remark @+1 {{waves do not take turns in this loop: its waves do not meet: there is no barrier}}
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      %k = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %m = rocdl.mfma.f32.32x32x8bf16.1k %k, %q, %acc, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      scf.yield %m : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @single
  // CHECK-NOT: rocdl.sched.barrier
  gpu.func @single(%p: !llvm.ptr<3>, %hi: i32, %q: vector<4xi16>) kernel attributes {atx.threads = 512 : i64} {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    // expected-remark @+1 {{waves do not take turns in this loop: between two barriers memory is accessed and nothing multiplied; shared memory needs more stages}}
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      llvm.store %q, %p {alignment = 8 : i64} : vector<4xi16>, !llvm.ptr<3>
      amdgpu.lds_barrier
      %k = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      amdgpu.lds_barrier
      %m = rocdl.mfma.f32.32x32x8bf16.1k %k, %q, %acc, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      scf.yield %m : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @both
  // CHECK-NOT: rocdl.sched.barrier
  gpu.func @both(%p: !llvm.ptr<3>, %hi: i32, %q: vector<4xi16>) kernel attributes {atx.threads = 512 : i64} {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    // expected-remark @+1 {{waves do not take turns in this loop: shared memory is accessed both before the first barrier of an iteration and behind the last}}
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      %k = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %m = rocdl.mfma.f32.32x32x8bf16.1k %k, %q, %acc, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      amdgpu.lds_barrier
      llvm.store %q, %p {alignment = 8 : i64} : vector<4xi16>, !llvm.ptr<3>
      scf.yield %m : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @result
  // CHECK-NOT: rocdl.sched.barrier
  gpu.func @result(%p: !llvm.ptr<3>, %hi: i32, %q: vector<4xi16>) kernel attributes {atx.threads = 512 : i64} {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    // expected-remark @+1 {{waves do not take turns in this loop: memory is accessed with what the products give}}
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      %k = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %m = rocdl.mfma.f32.32x32x8bf16.1k %k, %q, %acc, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      llvm.store %m, %p : vector<16xf32>, !llvm.ptr<3>
      amdgpu.lds_barrier
      scf.yield %m : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }
}
