// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-read-ahead)))' | FileCheck %s
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-read-ahead{registers=4})))' 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-read-ahead{registers=0})))' | FileCheck %s --check-prefix=OFF
// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-read-ahead{registers=4})))' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: not atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(atx-read-ahead{registers=-2})))' 2>&1 | FileCheck %s --check-prefix=DOMAIN

// DOMAIN: error: option 'registers' is -2; it must be -1 (chosen) or more

#l = #atx.tile_layout<64, [[64t1, 4r1]]>

// Both reads go behind the barrier, with the slot of the next iteration; the first ones stand before the loop. One of them
// is all that 4 registers hold.
// REMARK: remark: a staged tile is not read ahead: its 4 registers beside the 4 of tiles before are more than 4
// CHECK-LABEL: gpu.func @two
// CHECK: %[[A:.*]] = atx.stage_alloc slots 2
// CHECK: %[[B:.*]] = atx.stage_alloc slots 2
// CHECK: amdgpu.lds_barrier
// CHECK: %[[X0:[a-z0-9_]+]] = atx.stage_read %[[A]][%[[ZERO:[a-z0-9_]+]]]
// CHECK: %[[Y0:[a-z0-9_]+]] = atx.stage_read %[[B]][%[[ZERO]]]
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}}, %[[SLOT:[a-z0-9_]+]] = %[[ZERO]], %[[X:[a-z0-9_]+]] = %[[X0]], %[[Y:[a-z0-9_]+]] = %[[Y0]])
// CHECK-NOT: atx.stage_read
// CHECK: arith.mulf %[[X]], %[[Y]]
// CHECK: %[[NEXT:[a-z0-9_]+]] = arith.xori %[[SLOT]]
// CHECK: atx.stage_write %{{.*}}, %[[A]][%[[NEXT]]]
// CHECK: amdgpu.lds_barrier
// CHECK: %[[X1:.*]] = atx.stage_read %[[A]][%[[NEXT]]] {atx.tile_layouts = [#{{.*}}]}
// CHECK: %[[Y1:.*]] = atx.stage_read %[[B]][%[[NEXT]]]
// CHECK: scf.yield %{{.*}}, %[[NEXT]], %[[X1]], %[[Y1]]
// CHECK: tile_layouts = [#atx.tile_layout<64, {{\[}}[64t1, 4r1]]>, unit, #atx.tile_layout<64, {{\[}}[64t1, 4r1]]>, #atx.tile_layout
// FOUR-LABEL: gpu.func @two
// FOUR: scf.for
// FOUR: atx.stage_read
// FOUR: amdgpu.lds_barrier
// FOUR: atx.stage_read
// FOUR-NOT: atx.stage_read
// FOUR: scf.yield
// OFF-LABEL: gpu.func @two
// OFF: scf.for
// OFF: atx.stage_read
// OFF: atx.stage_read
// OFF: arith.mulf
gpu.module @kernels {
  gpu.func @two() kernel attributes {atx.kernel, atx.threads = 64 : i64} {
    %zero = arith.constant {atx.tile_layouts = [#l]} dense<0.0> : vector<256xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    %a = atx.stage_alloc slots 2 order [0] : !atx.stage<vector<256xf32>>
    %b = atx.stage_alloc slots 2 order [0] : !atx.stage<vector<256xf32>>
    atx.stage_write %zero, %a[%c0] : !atx.stage<vector<256xf32>>
    atx.stage_write %zero, %b[%c0] : !atx.stage<vector<256xf32>>
    amdgpu.lds_barrier
    %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%sum = %zero, %slot = %c0) -> (vector<256xf32>, i32) : i32 {
      %x = atx.stage_read %a[%slot] {atx.tile_layouts = [#l]} : !atx.stage<vector<256xf32>>
      %y = atx.stage_read %b[%slot] {atx.tile_layouts = [#l]} : !atx.stage<vector<256xf32>>
      %p = arith.mulf %x, %y {atx.tile_layouts = [#l]} : vector<256xf32>
      %s = arith.addf %sum, %p {atx.tile_layouts = [#l]} : vector<256xf32>
      %next = arith.xori %slot, %c1 : i32
      atx.stage_write %s, %a[%next] : !atx.stage<vector<256xf32>>
      atx.stage_write %p, %b[%next] : !atx.stage<vector<256xf32>>
      amdgpu.lds_barrier
      scf.yield %s, %next : vector<256xf32>, i32
    } {atx.tile_layouts = [#l, unit]}
    atx.stage_dealloc %b : !atx.stage<vector<256xf32>>
    atx.stage_dealloc %a : !atx.stage<vector<256xf32>>
    gpu.return
  }
}

// -----

#l = #atx.tile_layout<64, [[64t1, 4r1]]>

// What is written in the iteration, before the barrier, before the read or by the counter stays: here the slot is the
// counter's, the other stage has one slot, written before it is read, and the third loop ends without a barrier.
// REMARK: remark: staged tiles are not read ahead: no barrier ends an iteration, since a tile has a single slot or the loop writes behind it
// CHECK-LABEL: gpu.func @stays
// CHECK-COUNT-3: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (vector<256xf32>)
// CHECK-NOT: scf.for
gpu.module @kernels {
  gpu.func @stays() kernel attributes {atx.kernel, atx.threads = 64 : i64} {
    %zero = arith.constant {atx.tile_layouts = [#l]} dense<0.0> : vector<256xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %a = atx.stage_alloc slots 2 order [0] : !atx.stage<vector<256xf32>>
    atx.stage_write %zero, %a[%c0] : !atx.stage<vector<256xf32>>
    atx.stage_write %zero, %a[%c1] : !atx.stage<vector<256xf32>>
    %b = atx.stage_alloc slots 1 order [0] : !atx.stage<vector<256xf32>>
    amdgpu.lds_barrier
    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %zero) -> (vector<256xf32>) : i32 {
      %x = atx.stage_read %a[%i] {atx.tile_layouts = [#l]} : !atx.stage<vector<256xf32>>
      %s = arith.addf %sum, %x {atx.tile_layouts = [#l]} : vector<256xf32>
      amdgpu.lds_barrier
      scf.yield %s : vector<256xf32>
    } {atx.tile_layouts = [#l]}
    %t = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %r) -> (vector<256xf32>) : i32 {
      atx.stage_write %sum, %b[%c0] : !atx.stage<vector<256xf32>>
      %x = atx.stage_read %b[%c0] {atx.tile_layouts = [#l]} : !atx.stage<vector<256xf32>>
      %s = arith.addf %sum, %x {atx.tile_layouts = [#l]} : vector<256xf32>
      amdgpu.lds_barrier
      scf.yield %s : vector<256xf32>
    } {atx.tile_layouts = [#l]}
    %u = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %t) -> (vector<256xf32>) : i32 {
      %x = atx.stage_read %a[%c1] {atx.tile_layouts = [#l]} : !atx.stage<vector<256xf32>>
      %s = arith.addf %sum, %x {atx.tile_layouts = [#l]} : vector<256xf32>
      amdgpu.lds_barrier
      atx.stage_write %s, %a[%c0] : !atx.stage<vector<256xf32>>
      scf.yield %s : vector<256xf32>
    } {atx.tile_layouts = [#l]}
    atx.stage_dealloc %b : !atx.stage<vector<256xf32>>
    atx.stage_dealloc %a : !atx.stage<vector<256xf32>>
    gpu.return
  }
}

// -----

#l = #atx.tile_layout<64, [[64t1, 64r1]]>

// Two tiles of 64 registers, carried ones of 128 and a load of 64: with -1 nothing is read ahead.
// CHECK-LABEL: gpu.func @full
// CHECK: scf.for {{.*}} -> (vector<4096xf32>, vector<4096xf32>, i32)
// FOUR-LABEL: gpu.func @full
gpu.module @kernels {
  gpu.func @full() kernel attributes {atx.kernel, atx.threads = 64 : i64} {
    %zero = arith.constant {atx.tile_layouts = [#l]} dense<0.0> : vector<4096xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    %a = atx.stage_alloc slots 2 order [0] : !atx.stage<vector<4096xf32>>
    %r:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%s0 = %zero, %s1 = %zero, %slot = %c0) -> (vector<4096xf32>, vector<4096xf32>, i32) : i32 {
      %x = atx.stage_read %a[%slot] {atx.tile_layouts = [#l]} : !atx.stage<vector<4096xf32>>
      %y = atx.stage_read %a[%slot] {atx.tile_layouts = [#l]} : !atx.stage<vector<4096xf32>>
      %s = arith.addf %s0, %x {atx.tile_layouts = [#l]} : vector<4096xf32>
      %t = arith.addf %s1, %y {atx.tile_layouts = [#l]} : vector<4096xf32>
      %next = arith.xori %slot, %c1 : i32
      amdgpu.lds_barrier
      scf.yield %s, %t, %next : vector<4096xf32>, vector<4096xf32>, i32
    } {atx.tile_layouts = [#l, #l, unit]}
    atx.stage_dealloc %a : !atx.stage<vector<4096xf32>>
    gpu.return
  }
}
