// RUN: atrex-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-interleave{pattern=auto})))' | FileCheck %s
// RUN: atrex-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-interleave{pattern=mfma:3,ds_read:1})))' | FileCheck %s --check-prefix=GIVEN
// RUN: atrex-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-interleave{boundary=products priority=2})))' | FileCheck %s --check-prefix=BOUNDARY
// RUN: atrex-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-interleave{iglp=1})))' | FileCheck %s --check-prefix=IGLP
// RUN: atrex-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-interleave{sums=1})))' | FileCheck %s --check-prefix=SUMS
// RUN: atrex-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-interleave{sums=2})))' | FileCheck %s --check-prefix=PAIRS
// RUN: atrex-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-interleave)))' | FileCheck %s --check-prefix=OFF

// OFF-NOT: sched
// OFF-NOT: setprio
// OFF-NOT: iglp

gpu.module @m {
  // Classes: 8 matrix, 32 global read, 256 LDS read, 512 LDS write. What the first instructions take comes first, 
  // the reads for the second four stand two before them, the global load in the first half, what waits for it in the second.
  // CHECK-LABEL: gpu.func @gemm
  // CHECK: amdgpu.lds_barrier
  // CHECK-NEXT: rocdl.sched.group.barrier 256, 2, 0
  // CHECK-NEXT: rocdl.sched.group.barrier 8, 2, 0
  // CHECK-NEXT: rocdl.sched.group.barrier 32, 1, 0
  // CHECK-NEXT: rocdl.sched.group.barrier 256, 2, 0
  // CHECK-NEXT: rocdl.sched.group.barrier 8, 4, 0
  // CHECK-NEXT: rocdl.sched.group.barrier 512, 1, 0
  // CHECK-NEXT: rocdl.sched.group.barrier 8, 2, 0
  // CHECK-NEXT: scf.yield
  // GIVEN-LABEL: gpu.func @gemm
  // GIVEN: amdgpu.lds_barrier
  // GIVEN-NEXT: rocdl.sched.group.barrier 8, 3, 0
  // GIVEN-NEXT: rocdl.sched.group.barrier 256, 1, 0
  // GIVEN-NEXT: rocdl.sched.group.barrier 8, 3, 0
  // GIVEN-NEXT: rocdl.sched.group.barrier 256, 1, 0
  // GIVEN-NEXT: rocdl.sched.group.barrier 8, 3, 0
  // GIVEN-NEXT: rocdl.sched.group.barrier 256, 1, 0
  // GIVEN-NEXT: scf.yield
  // BOUNDARY-LABEL: gpu.func @gemm
  // BOUNDARY-NOT: sched.barrier
  // BOUNDARY: rocdl.s.setprio 2
  // BOUNDARY-COUNT-8: rocdl.mfma
  // BOUNDARY: rocdl.s.setprio 0
  // IGLP-LABEL: gpu.func @gemm
  // IGLP: scf.for
  // IGLP-NEXT: rocdl.iglp.opt 1
  // IGLP-NOT: sched
  gpu.func @gemm(%p: !llvm.ptr<3>, %r: !llvm.ptr<8>, %hi: i32) kernel {
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

  // Scores, arithmetic on them, and a product with what it gives: one limit behind the scores.
  // BOUNDARY-LABEL: gpu.func @attention
  // BOUNDARY: rocdl.mfma
  // BOUNDARY: rocdl.mfma
  // BOUNDARY: rocdl.sched.barrier 0
  // BOUNDARY: math.exp2
  // BOUNDARY: rocdl.mfma
  // BOUNDARY-NOT: rocdl.sched.barrier
  gpu.func @attention(%p: !llvm.ptr<3>, %hi: i32, %q: vector<4xi16>) kernel {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      %k = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %s0 = rocdl.mfma.f32.32x32x8bf16.1k %k, %q, %z, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %s1 = rocdl.mfma.f32.32x32x8bf16.1k %q, %k, %s0, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %e = math.exp2 %s1 : vector<16xf32>
      %x = vector.extract_strided_slice %e {offsets = [0], sizes = [2], strides = [1]} : vector<16xf32> to vector<2xf32>
      %f = vector.bitcast %x : vector<2xf32> to vector<4xi16>
      %scaled = arith.mulf %acc, %e : vector<16xf32>
      %o = rocdl.mfma.f32.32x32x8bf16.1k %f, %k, %scaled, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      scf.yield %o : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }

  // Three sums of two: one after the other, or two side by side and then the third. What takes a part of a factor moves along.
  // BOUNDARY-LABEL: gpu.func @sums
  // SUMS-LABEL: gpu.func @sums
  // SUMS: scf.for
  // SUMS: %[[K:.*]] = llvm.load
  // SUMS: %[[X:.*]] = vector.bitcast %[[K]]
  // SUMS: %[[A0:.*]] = rocdl.mfma.f32.32x32x8bf16.1k %[[K]], %{{.*}}, %[[Z:[a-z0-9_]+]], {{.*}}
  // SUMS-NEXT: %[[A1:.*]] = rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[A0]], {{.*}}
  // SUMS-NEXT: %[[B0:.*]] = rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[Z]], {{.*}}
  // SUMS-NEXT: rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[B0]], {{.*}}
  // SUMS-NEXT: %[[C0:.*]] = rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[Z]], {{.*}}
  // SUMS-NEXT: rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[C0]], {{.*}}
  // SUMS-NEXT: arith.addf
  // PAIRS-LABEL: gpu.func @sums
  // PAIRS: scf.for
  // PAIRS: %[[A0:.*]] = rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[Z:[a-z0-9_]+]], %{{.*}}, %{{.*}}, %{{.*}} :
  // PAIRS-NEXT: %[[B0:.*]] = rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[Z]], {{.*}}
  // PAIRS-NEXT: rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[A0]], {{.*}}
  // PAIRS-NEXT: rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[B0]], {{.*}}
  // PAIRS-NEXT: %[[C0:.*]] = rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[Z]], {{.*}}
  // PAIRS-NEXT: rocdl.mfma.f32.32x32x8bf16.1k %{{.*}}, %[[C0]], {{.*}}
  gpu.func @sums(%p: !llvm.ptr<3>, %hi: i32, %q: vector<4xi16>) kernel {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      %k = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xi16>
      %a0 = rocdl.mfma.f32.32x32x8bf16.1k %k, %q, %z, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %b0 = rocdl.mfma.f32.32x32x8bf16.1k %q, %k, %z, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %c0 = rocdl.mfma.f32.32x32x8bf16.1k %q, %q, %z, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %w = vector.bitcast %k : vector<4xi16> to vector<2xi32>
      %x = vector.bitcast %w : vector<2xi32> to vector<4xi16>
      %a1 = rocdl.mfma.f32.32x32x8bf16.1k %x, %q, %a0, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %b1 = rocdl.mfma.f32.32x32x8bf16.1k %q, %x, %b0, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %c1 = rocdl.mfma.f32.32x32x8bf16.1k %x, %x, %c0, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %ab = arith.addf %a1, %b1 : vector<16xf32>
      %abc = arith.addf %ab, %c1 : vector<16xf32>
      %next = arith.addf %acc, %abc : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }

  // A factor that a sum leads to: the order stays.
  // SUMS-LABEL: gpu.func @chained
  // SUMS: scf.for
  // SUMS: rocdl.mfma
  // SUMS-NEXT: vector.extract_strided_slice
  // SUMS-NEXT: vector.bitcast
  // SUMS-NEXT: rocdl.mfma
  // SUMS-NEXT: rocdl.mfma
  gpu.func @chained(%p: !llvm.ptr<3>, %hi: i32, %q: vector<4xi16>) kernel {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<16xf32>
    %s = scf.for %i = %lo to %hi step %one iter_args(%acc = %z) -> (vector<16xf32>) : i32 {
      %a = rocdl.mfma.f32.32x32x8bf16.1k %q, %q, %z, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %x = vector.extract_strided_slice %a {offsets = [0], sizes = [2], strides = [1]} : vector<16xf32> to vector<2xf32>
      %f = vector.bitcast %x : vector<2xf32> to vector<4xi16>
      %b = rocdl.mfma.f32.32x32x8bf16.1k %f, %q, %acc, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %c = rocdl.mfma.f32.32x32x8bf16.1k %q, %q, %b, %lo, %lo, %lo : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      scf.yield %c : vector<16xf32>
    }
    llvm.store %s, %p : vector<16xf32>, !llvm.ptr<3>
    gpu.return
  }
}
