// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-remove-barriers)))' | FileCheck %s
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-remove-barriers{remarks=1})))' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-remove-barriers{enable=0})))' | FileCheck %s --check-prefix=OFF

// OFF-COUNT-17: amdgpu.lds_barrier

// Nothing lies before the first barrier; the second one orders a write and a read; behind the third nothing follows.
// REMARK: remark: no access to shared memory before this barrier meets one behind it; it is gone
// CHECK-LABEL: gpu.func @ends
// CHECK-NOT: barrier
// CHECK: llvm.store
// CHECK: rocdl.s.waitcnt
// CHECK-NEXT: amdgpu.lds_barrier
// CHECK-NEXT: llvm.load
// CHECK-NOT: barrier
// CHECK-NOT: waitcnt
// CHECK: gpu.return
gpu.module @m {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<4096 x i8>
  gpu.func @ends(%out: !llvm.ptr<1>) kernel attributes {atx.threads = 64 : i64} {
    %base = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %id = gpu.thread_id x
    %i = arith.index_cast %id : index to i32
    %c4 = arith.constant 4 : i32
    %at = arith.muli %i, %c4 : i32
    rocdl.s.waitcnt 49279
    amdgpu.lds_barrier
    %p = llvm.getelementptr %base[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %i, %p : i32, !llvm.ptr<3>
    rocdl.s.waitcnt 49279
    amdgpu.lds_barrier
    %x = llvm.load %base : !llvm.ptr<3> -> i32
    rocdl.s.waitcnt 49279
    amdgpu.lds_barrier
    llvm.store %x, %out : i32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// Two parts of shared memory: what is written to one and read from the other does not meet. One barrier is enough for both.
// CHECK-LABEL: gpu.func @apart
// CHECK: llvm.store
// CHECK-NOT: barrier
// CHECK: llvm.store
// CHECK: amdgpu.lds_barrier
// CHECK: llvm.load
// CHECK-NOT: barrier
// CHECK: llvm.load
gpu.module @m {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<4096 x i8>
  gpu.func @apart(%out: !llvm.ptr<1>) kernel attributes {atx.threads = 256 : i64} {
    %base = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %id = gpu.thread_id x
    %i = arith.index_cast %id : index to i32
    %c2 = arith.constant 2 : i32
    %at = arith.shli %i, %c2 : i32
    %p = llvm.getelementptr %base[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %q = llvm.getelementptr %p[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %i, %p : i32, !llvm.ptr<3>
    amdgpu.lds_barrier
    llvm.store %i, %q : i32, !llvm.ptr<3>
    amdgpu.lds_barrier
    %r = llvm.getelementptr %base[1020] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load %r : !llvm.ptr<3> -> i32
    amdgpu.lds_barrier
    %s = llvm.getelementptr %base[2044] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %y = llvm.load %s : !llvm.ptr<3> -> i32
    %z = arith.addi %x, %y : i32
    llvm.store %z, %out : i32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// The last byte of one part is the first of the other: both barriers stay. 256 work-items of 4 bytes end at 1024.
// CHECK-LABEL: gpu.func @touching
// CHECK: llvm.store
// CHECK: amdgpu.lds_barrier
// CHECK: llvm.store
// CHECK: amdgpu.lds_barrier
// CHECK: llvm.load
gpu.module @m {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<4096 x i8>
  gpu.func @touching(%out: !llvm.ptr<1>) kernel attributes {atx.threads = 256 : i64} {
    %base = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %id = gpu.thread_id x
    %i = arith.index_cast %id : index to i32
    %c2 = arith.constant 2 : i32
    %at = arith.shli %i, %c2 : i32
    %p = llvm.getelementptr %base[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %q = llvm.getelementptr %p[1023] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %i, %p : i32, !llvm.ptr<3>
    amdgpu.lds_barrier
    llvm.store %i, %q : i32, !llvm.ptr<3>
    amdgpu.lds_barrier
    %r = llvm.getelementptr %base[1020] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load %r : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// Reads before the barrier and writes behind it meet too, here around the back edge: both barriers of the loop stay, also that at its
// end.
// CHECK-LABEL: gpu.func @loop
// CHECK: scf.for
// CHECK: llvm.store
// CHECK: amdgpu.lds_barrier
// CHECK: llvm.load
// CHECK: amdgpu.lds_barrier
// CHECK: scf.yield
gpu.module @m {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<4096 x i8>
  gpu.func @loop(%out: !llvm.ptr<1>, %n: i32) kernel attributes {atx.threads = 256 : i64} {
    %base = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %id = gpu.thread_id x
    %i = arith.index_cast %id : index to i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %at = arith.shli %i, %c2 : i32
    %p = llvm.getelementptr %base[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      llvm.store %k, %p : i32, !llvm.ptr<3>
      amdgpu.lds_barrier
      %x = llvm.load %base : !llvm.ptr<3> -> i32
      amdgpu.lds_barrier
      %t = arith.addi %s, %x : i32
      scf.yield %t : i32
    }
    llvm.store %sum, %out : i32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// Two slots that take turns: what they hold together is known, and another part behind them is apart. An offset that is not
// known may be anything.
// CHECK-LABEL: gpu.func @slots
// CHECK: scf.for
// CHECK-NOT: barrier
// CHECK: scf.yield
// CHECK: llvm.load
// CHECK: amdgpu.lds_barrier
// CHECK: llvm.store
// CHECK: amdgpu.lds_barrier
// CHECK: llvm.load
gpu.module @m {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<8192 x i8>
  gpu.func @slots(%out: !llvm.ptr<1>, %n: i32, %any: i32) kernel attributes {atx.threads = 256 : i64} {
    %base = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %id = gpu.thread_id x
    %i = arith.index_cast %id : index to i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c1024 = arith.constant 1024 : i32
    %at = arith.shli %i, %c2 : i32
    %far = llvm.getelementptr %base[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %c0, %slot = %c0) -> (i32, i32) : i32 {
      %offset = arith.muli %slot, %c1024 : i32
      %p = llvm.getelementptr %base[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %q = llvm.getelementptr %p[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %y = llvm.load %q : !llvm.ptr<3> -> i32
      amdgpu.lds_barrier
      %x = llvm.load %far : !llvm.ptr<3> -> i32
      %z = arith.addi %x, %y : i32
      %t = arith.addi %s, %z : i32
      %next = arith.xori %slot, %c1 : i32
      scf.yield %t, %next : i32, i32
    }
    %u = llvm.load %far : !llvm.ptr<3> -> i32
    amdgpu.lds_barrier
    %w = llvm.getelementptr %base[%any] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %sum#0, %w : i32, !llvm.ptr<3>
    amdgpu.lds_barrier
    %v = llvm.load %base : !llvm.ptr<3> -> i32
    %r = arith.addi %u, %v : i32
    llvm.store %r, %out : i32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// A barrier of the program that orders tensors, one whose wait is for copies, and one under a branch whose other side writes.
// CHECK-LABEL: gpu.func @others
// CHECK: llvm.store
// CHECK: gpu.barrier
// CHECK: llvm.load
// CHECK: rocdl.s.waitcnt 112
// CHECK-NEXT: amdgpu.lds_barrier
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: amdgpu.lds_barrier
// CHECK: llvm.load
gpu.module @m {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<4096 x i8>
  gpu.func @others(%out: !llvm.ptr<1>, %c: i1, %v: i32) kernel attributes {atx.threads = 256 : i64} {
    %base = llvm.mlir.addressof @lds : !llvm.ptr<3>
    llvm.store %v, %out : i32, !llvm.ptr<1>
    gpu.barrier
    %y = llvm.load %out : !llvm.ptr<1> -> i32
    rocdl.s.waitcnt 112
    amdgpu.lds_barrier
    scf.if %c {
      llvm.store %v, %base : i32, !llvm.ptr<3>
    }
    amdgpu.lds_barrier
    %x = llvm.load %base : !llvm.ptr<3> -> i32
    %z = arith.addi %x, %y : i32
    llvm.store %z, %out : i32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// Bytes that nothing reads are not written, and need no barrier. The neighbour is read.
// REMARK: remark: nothing reads what is written to shared memory here; the write is gone
// CHECK-LABEL: gpu.func @dead
// CHECK-NOT: barrier
// CHECK: %[[Q:.*]] = llvm.getelementptr %{{.*}}[1024]
// CHECK: llvm.store %{{.*}}, %[[Q]]
// CHECK: amdgpu.lds_barrier
// CHECK-NOT: llvm.store {{.*}}ptr<3>
// CHECK: llvm.load
gpu.module @m {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<4096 x i8>
  gpu.func @dead(%out: !llvm.ptr<1>) kernel attributes {atx.threads = 256 : i64} {
    %base = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %id = gpu.thread_id x
    %i = arith.index_cast %id : index to i32
    %c2 = arith.constant 2 : i32
    %at = arith.shli %i, %c2 : i32
    %p = llvm.getelementptr %base[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %i, %p : i32, !llvm.ptr<3>
    amdgpu.lds_barrier
    %q = llvm.getelementptr %base[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %i, %q : i32, !llvm.ptr<3>
    amdgpu.lds_barrier
    %x = llvm.load %q : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    gpu.return
  }
}
