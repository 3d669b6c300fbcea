// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-lower-lane-reduce)))' | FileCheck %s

// One lane: nothing. Inside a wave: DPP, no memory, no barrier.
// CHECK-LABEL: gpu.func @wave
// CHECK-SAME: (%[[V:.*]]: vector<1xf32>
// CHECK-NOT: workgroup(
// CHECK: buffer_store %[[V]]
// 4
// CHECK-COUNT-2: amdgpu.dpp {{.*}} quad_perm
// CHECK: buffer_store %{{.*}} + 4]
// 8
// CHECK-COUNT-2: amdgpu.dpp {{.*}} quad_perm
// CHECK: amdgpu.dpp {{.*}} row_half_mirror
// CHECK: arith.maximumf
// CHECK: buffer_store %{{.*}} + 8]
// 16
// CHECK: amdgpu.dpp {{.*}} row_half_mirror
// CHECK: amdgpu.dpp {{.*}} row_mirror
// CHECK: buffer_store %{{.*}} + 16]
// 32: the lane that knows tells its half.
// CHECK: amdgpu.dpp {{.*}} row_bcast_15
// CHECK: amdgpu.swizzle_bitmode
// CHECK: buffer_store %{{.*}} + 32]
// 64: the last lane tells all.
// CHECK: amdgpu.dpp {{.*}} row_bcast_15
// CHECK: amdgpu.dpp {{.*}} row_bcast_31
// CHECK: rocdl.readlane %{{.*}}, %c63_i32
// CHECK-NOT: gpu.barrier
// CHECK-NOT: memref.
// CHECK: buffer_store %{{.*}} + 64]
gpu.module @m {
  gpu.func @wave(%v: vector<1xf32>, %r: !llvm.ptr<8>, %o: i32) kernel {
    %1 = atx_amdgpu.lane_reduce add %v over 1 : vector<1xf32>
    atx_amdgpu.buffer_store %1, %r[%o + 1] : vector<1xf32>
    %4 = atx_amdgpu.lane_reduce add %v over 4 : vector<1xf32>
    atx_amdgpu.buffer_store %4, %r[%o + 4] : vector<1xf32>
    %8 = atx_amdgpu.lane_reduce max %v over 8 : vector<1xf32>
    atx_amdgpu.buffer_store %8, %r[%o + 8] : vector<1xf32>
    %16 = atx_amdgpu.lane_reduce min %v over 16 : vector<1xf32>
    atx_amdgpu.buffer_store %16, %r[%o + 16] : vector<1xf32>
    %32 = atx_amdgpu.lane_reduce add %v over 32 : vector<1xf32>
    atx_amdgpu.buffer_store %32, %r[%o + 32] : vector<1xf32>
    %64 = atx_amdgpu.lane_reduce add %v over 64 : vector<1xf32>
    atx_amdgpu.buffer_store %64, %r[%o + 64] : vector<1xf32>
    gpu.return
  }
}

// -----

// Beyond a wave: all values in one exchange, one barrier; the first lane of each wave writes, and every lane combines the
// waves of its group in their order.
// CHECK-LABEL: gpu.func @waves
// CHECK-SAME: workgroup(%[[LDS:.*]] : memref<2x4xf32, #gpu.address_space<workgroup>>)
// CHECK: %[[A:.*]] = rocdl.readlane
// CHECK: %[[B:.*]] = rocdl.readlane
// CHECK: %[[LANE:.*]] = arith.remui %thread_id_x, %c64
// CHECK: %[[WAVE:.*]] = arith.divui %thread_id_x, %c64
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK-NOT: gpu.barrier
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: memref.store %[[A]], %[[LDS]][%c0, %[[WAVE]]]
// CHECK-NEXT: memref.store %[[B]], %[[LDS]][%c1, %[[WAVE]]]
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: %[[IN:.*]] = arith.remui %[[WAVE]], %c2
// CHECK: %[[START:.*]] = arith.subi %[[WAVE]], %[[IN]]
// CHECK: %[[PARTS:.*]] = vector.load %[[LDS]][%c0, %[[START]]] : {{.*}}, vector<2xf32>
// CHECK: %[[P0:.*]] = vector.extract %[[PARTS]][0]
// CHECK: %[[P1:.*]] = vector.extract %[[PARTS]][1]
// CHECK: arith.addf %[[P0]], %[[P1]] : f32
// CHECK: vector.load %[[LDS]][%c1, %[[START]]]
gpu.module @m {
  gpu.func @waves(%v: vector<2xf32>, %r: !llvm.ptr<8>, %o: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %s = atx_amdgpu.lane_reduce add %v over 128 : vector<2xf32>
    atx_amdgpu.buffer_store %s, %r[%o + 0] : vector<2xf32>
    gpu.return
  }
}

// -----

// Two reductions have slots of their own, so each needs one barrier; in a loop a second one keeps the turns apart.
// CHECK-LABEL: gpu.func @loop
// CHECK-SAME: workgroup(%{{.*}} : memref<1x16xi32, {{.*}}>, %{{.*}} : memref<1x16xi32, {{.*}}>)
// CHECK-COUNT-1: gpu.barrier
// CHECK: arith.maxsi
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: memref.store
// CHECK: gpu.barrier
// CHECK: vector.load {{.*}}, vector<16xi32>
// CHECK-COUNT-15: arith.addi %{{.*}} : i32
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
gpu.module @m {
  gpu.func @loop(%v: vector<1xi32>, %r: !llvm.ptr<8>, %o: i32, %n: index) kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = atx_amdgpu.lane_reduce max %v over 512 : vector<1xi32>
    scf.for %i = %c0 to %n step %c1 {
      %s = atx_amdgpu.lane_reduce add %m over 1024 : vector<1xi32>
      atx_amdgpu.buffer_store %s, %r[%o + 0] : vector<1xi32>
    }
    gpu.return
  }
}
