// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-expand-bf16,canonicalize,cse)))' | FileCheck %s
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-expand-bf16{arch=gfx950},canonicalize,cse)))' | FileCheck %s --check-prefix=KEEP

// gfx950 has the instruction.
// KEEP-NOT: arith.shrui
// KEEP: arith.truncf
// KEEP-NOT: canonical_nan

// From bf16 through arithmetic: a NaN survives without a test. Nearest even: half less one, plus the last kept bit.
// CHECK-LABEL: gpu.func @short
// CHECK-DAG: %[[C16:.*]] = arith.constant dense<16> : vector<8xi32>
// CHECK-DAG: %[[C1:.*]] = arith.constant dense<1> : vector<8xi32>
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<32767> : vector<8xi32>
// CHECK: %[[S:.*]] = arith.mulf
// CHECK: %[[BITS:.*]] = arith.bitcast %[[S]] : vector<8xf32> to vector<8xi32>
// CHECK: %[[SHIFT:.*]] = arith.shrui %[[BITS]], %[[C16]]
// CHECK: %[[ODD:.*]] = arith.andi %[[SHIFT]], %[[C1]]
// CHECK: %[[SUM0:.*]] = arith.addi %[[BITS]], %[[ODD]]
// CHECK: %[[SUM:.*]] = arith.addi %[[SUM0]], %[[HALF]]
// CHECK-NOT: arith.select
// CHECK: %[[HIGH:.*]] = arith.shrui %[[SUM]], %[[C16]]
// CHECK: %[[LOW:.*]] = arith.trunci %[[HIGH]] : vector<8xi32> to vector<8xi16>
// CHECK: %[[R:.*]] = arith.bitcast %[[LOW]] : vector<8xi16> to vector<8xbf16>
// CHECK: buffer_store %[[R]]
gpu.module @m {
  gpu.func @short(%r: !llvm.ptr<8>, %o: i32) kernel {
    %v = atx_amdgpu.buffer_load %r[%o + 0] : vector<8xbf16>
    %e = arith.extf %v : vector<8xbf16> to vector<8xf32>
    %s = arith.mulf %e, %e : vector<8xf32>
    %t = arith.truncf %s : vector<8xf32> to vector<8xbf16>
    atx_amdgpu.buffer_store %t, %r[%o + 0] : vector<8xbf16>
    gpu.return
  }
}

// -----

// f32 from memory may hold any NaN: it is tested, and its payload made quiet.
// CHECK-LABEL: gpu.func @guarded
// CHECK: %[[V:.*]] = atx_amdgpu.buffer_load
// CHECK: %[[BITS:.*]] = arith.bitcast %[[V]]
// CHECK: arith.addi
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[V]], %[[V]]
// CHECK: %[[QUIET:.*]] = arith.ori %[[BITS]], %{{.*}}
// CHECK: arith.select %[[NAN]], %[[QUIET]], %[[SUM]]
gpu.module @m {
  gpu.func @guarded(%r: !llvm.ptr<8>, %o: i32) kernel {
    %v = atx_amdgpu.buffer_load %r[%o + 0] : vector<4xf32>
    %t = arith.truncf %v : vector<4xf32> to vector<4xbf16>
    atx_amdgpu.buffer_store %t, %r[%o + 0] : vector<4xbf16>
    gpu.return
  }
}

// -----

// A scalar argument is made canonical once, which saves the test on what it reaches. Constants, selects of clean values,
// conversions of integers and lane reductions are clean.
// CHECK-LABEL: gpu.func @argument
// CHECK-SAME: %[[EPS:[a-z0-9]+]]: f32
// CHECK-DAG: %[[QNAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK: %[[IS:.*]] = arith.cmpf uno, %[[EPS]], %[[EPS]] : f32
// CHECK: %[[C:.*]] = arith.select %[[IS]], %[[QNAN]], %[[EPS]] {atx.canonical_nan} : f32
// CHECK-NOT: %[[EPS]]
// CHECK: vector.broadcast %[[C]] : f32 to vector<4xf32>
// CHECK-NOT: uno
gpu.module @m {
  gpu.func @argument(%r: !llvm.ptr<8>, %o: i32, %eps: f32, %c: i1, %i: vector<4xi32>) kernel {
    %two = arith.constant dense<2.0> : vector<4xf32>
    %b = vector.broadcast %eps : f32 to vector<4xf32>
    %f = arith.sitofp %i : vector<4xi32> to vector<4xf32>
    %s = arith.select %c, %two, %f : vector<4xf32>
    %p = math.fma %b, %two, %s : vector<4xf32>
    %q = math.rsqrt %p : vector<4xf32>
    %l = atx_amdgpu.lane_reduce add %q over 64 : vector<4xf32>
    %t = arith.truncf %l : vector<4xf32> to vector<4xbf16>
    atx_amdgpu.buffer_store %t, %r[%o + 0] : vector<4xbf16>
    gpu.return
  }
}

// -----

// A constant NaN whose payload the short form would lose: tested, also where a loop carries it. A loop over rounded
// values needs no test.
// CHECK-LABEL: gpu.func @unclean
// CHECK-COUNT-2: arith.cmpf uno
// CHECK-NOT: arith.cmpf uno
// CHECK: gpu.return
gpu.module @m {
  gpu.func @unclean(%r: !llvm.ptr<8>, %o: i32, %n: index, %v: vector<4xbf16>) kernel {
    %nan = arith.constant dense<0x7F800001> : vector<4xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = arith.extf %v : vector<4xbf16> to vector<4xf32>
    %s = arith.addf %nan, %e : vector<4xf32>
    %t = arith.truncf %s : vector<4xf32> to vector<4xbf16>
    atx_amdgpu.buffer_store %t, %r[%o + 0] : vector<4xbf16>
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e) -> (vector<4xf32>) {
      %b = arith.addf %a, %e : vector<4xf32>
      scf.yield %b : vector<4xf32>
    }
    %u = arith.truncf %l : vector<4xf32> to vector<4xbf16>
    atx_amdgpu.buffer_store %u, %r[%o + 4] : vector<4xbf16>
    %k = scf.for %i = %c0 to %n step %c1 iter_args(%a = %nan) -> (vector<4xf32>) {
      %b = arith.addf %a, %e : vector<4xf32>
      scf.yield %b : vector<4xf32>
    }
    %w = arith.truncf %k : vector<4xf32> to vector<4xbf16>
    atx_amdgpu.buffer_store %w, %r[%o + 8] : vector<4xbf16>
    gpu.return
  }
}

// -----

// A value that is rounded, extended and rounded again has no memory of f32. Scalars are expanded, too; other conversions
// and kernels without one are left alone.
// CHECK-LABEL: gpu.func @twice
// CHECK-COUNT-1: arith.cmpf uno
// CHECK-NOT: arith.cmpf uno
// CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xf16>
// CHECK-LABEL: gpu.func @none
// CHECK-NOT: arith.cmpf
// CHECK: gpu.return
gpu.module @m {
  gpu.func @twice(%r: !llvm.ptr<8>, %o: i32) kernel {
    %v = atx_amdgpu.buffer_load %r[%o + 0] : vector<2xf32>
    %t = arith.truncf %v : vector<2xf32> to vector<2xbf16>
    %e = arith.extf %t : vector<2xbf16> to vector<2xf32>
    %x = vector.extract %e[0] : f32 from vector<2xf32>
    %y = arith.negf %x : f32
    %u = arith.truncf %y : f32 to bf16
    %w = vector.broadcast %u : bf16 to vector<2xbf16>
    atx_amdgpu.buffer_store %w, %r[%o + 0] : vector<2xbf16>
    %h = arith.truncf %v : vector<2xf32> to vector<2xf16>
    atx_amdgpu.buffer_store %h, %r[%o + 2] : vector<2xf16>
    gpu.return
  }
  gpu.func @none(%r: !llvm.ptr<8>, %o: i32, %x: f32) kernel {
    %w = vector.broadcast %x : f32 to vector<2xf32>
    atx_amdgpu.buffer_store %w, %r[%o + 0] : vector<2xf32>
    gpu.return
  }
}
