// RUN: atrex-opt %s -atx-lower="unroll-limit=4" -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s

// Shared memory is a global of the module, aligned to the swizzle period.

// CHECK: llvm.mlir.global internal @atx_shared_0() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<16384 x i8>
// CHECK-LABEL: func @swizzled
func.func @swizzled(%i: index) -> bf16 {
  // Rows of 128 bytes; the offset is swizzled in 64 bits, then cut to 32.
  // CHECK: arith.andi %{{.*}}, %c896_i64
  // CHECK: arith.shrui
  // CHECK: arith.xori
  // CHECK: arith.trunci %{{.*}} : i64 to i32
  // CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> vector<1xbf16>
  %s = atx.alloc_shared : !atx.view<bf16, shared, (128,64):(64,1), align = 1024, swizzle = S<3,4,3>>
  %c = atx.make %i : index -> !atx.int_tuple<(?,8)>
  %x = atx.load %s[%c] : !atx.view<bf16, shared, (128,64):(64,1), align = 1024, swizzle = S<3,4,3>>, !atx.int_tuple<(?,8)>
  return %x : bf16
}

// -----

// Accesses below the limit are written out, with constant distances.

// CHECK-LABEL: func @unrolled
func.func @unrolled(%p: !llvm.ptr<1>) -> !atx.fragment<f32, (4,2):(1,4), chunk = 4> {
  // CHECK: %[[A:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK: %[[Q:.*]] = llvm.getelementptr inbounds {{.*}}[256]
  // CHECK: %[[B:.*]] = llvm.load %[[Q]] {alignment = 16 : i64}
  // CHECK: return %[[A]], %[[B]]
  %ptr = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
  %l = atx.static : !atx.layout<(4,2):(1,64)>
  %v = atx.make_view %ptr, %l : !atx.ptr<f32, global, align = 16>, !atx.layout<(4,2):(1,64)>
  %f = atx.copy #atx.universal_copy<128>, %v : !atx.view<f32, global, (4,2):(1,64), align = 16> -> !atx.fragment<f32, (4,2):(1,4), chunk = 4>
  return %f : !atx.fragment<f32, (4,2):(1,4), chunk = 4>
}

// -----

// Above it a loop is kept around what ends with a mode of both sides.

// CHECK-LABEL: func @looped
func.func @looped(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) {
  // CHECK: scf.for %{{.*}} = %c0_i64 to %c16_i64 step %c1_i64
  // CHECK-COUNT-2: llvm.store
  // CHECK-NOT: llvm.store
  %from = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
  %to = atx.make_ptr %q : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
  %l = atx.static : !atx.layout<(8,16):(1,64)>
  %m = atx.static : !atx.layout<(8,16):(1,8)>
  %v = atx.make_view %from, %l : !atx.ptr<f32, global, align = 16>, !atx.layout<(8,16):(1,64)>
  %w = atx.make_view %to, %m : !atx.ptr<f32, global, align = 16>, !atx.layout<(8,16):(1,8)>
  atx.copy #atx.universal_copy<128>, %v to %w : !atx.view<f32, global, (8,16):(1,64), align = 16>, !atx.view<f32, global, (8,16):(1,8), align = 16>
  return
}

// -----

// A dynamic extent always makes a loop.

// CHECK-LABEL: func @dynamic
func.func @dynamic(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %n: i64) {
  // CHECK: scf.for %{{.*}} = %c0_i64 to %{{.*}} step %c1_i64
  // CHECK: llvm.store
  %from = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
  %to = atx.make_ptr %q : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
  %l = atx.make %n : i64 -> !atx.layout<?{div=4}:1>
  %v = atx.make_view %from, %l : !atx.ptr<f32, global, align = 16>, !atx.layout<?{div=4}:1>
  %w = atx.make_view %to, %l : !atx.ptr<f32, global, align = 16>, !atx.layout<?{div=4}:1>
  atx.copy #atx.universal_copy<128>, %v to %w : !atx.view<f32, global, ?{div=4}:1, align = 16>, !atx.view<f32, global, ?{div=4}:1, align = 16>
  return
}

// -----

// A predicate that divisors prove uniform guards whole accesses; elements that
// do not take part are zero.

// CHECK-LABEL: func @predicated
func.func @predicated(%p: !llvm.ptr<1>, %n: i64) -> !atx.fragment<f32, 8:1, chunk = 4> {
  // CHECK: %[[IN:.*]] = arith.cmpi sgt, %{{.*}}, %c0_i64
  // CHECK: scf.if %[[IN]] -> (vector<4xf32>)
  // CHECK: llvm.load {{.*}} vector<4xf32>
  // CHECK: else
  // CHECK: scf.yield %cst
  // CHECK: arith.cmpi sgt, %{{.*}}, %c4_i64
  %ptr = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
  %l = atx.static : !atx.layout<8:1>
  %v = atx.make_view %ptr, %l : !atx.ptr<f32, global, align = 16>, !atx.layout<8:1>
  %s = atx.static : !atx.int_tuple<8>
  %c = atx.make_coord_view %s : !atx.int_tuple<8>
  %b = atx.make %n : i64 -> !atx.int_tuple<?{div=4}>
  %f = atx.copy #atx.universal_copy<128>, %v where %c less %b : !atx.view<f32, global, 8:1, align = 16> where !atx.coord_view<0, 8:1>, !atx.int_tuple<?{div=4}> -> !atx.fragment<f32, 8:1, chunk = 4>
  return %f : !atx.fragment<f32, 8:1, chunk = 4>
}

// -----

// Otherwise it is made element by element, and said so.

// CHECK-LABEL: func @ragged
func.func @ragged(%p: !llvm.ptr<1>, %n: i64, %f: !atx.fragment<f32, 4:1, chunk = 4>) {
  // CHECK-COUNT-4: llvm.store {{.*}} vector<1xf32>
  %ptr = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
  %l = atx.static : !atx.layout<4:1>
  %v = atx.make_view %ptr, %l : !atx.ptr<f32, global, align = 16>, !atx.layout<4:1>
  %s = atx.static : !atx.int_tuple<4>
  %c = atx.make_coord_view %s : !atx.int_tuple<4>
  %b = atx.make %n : i64 -> !atx.int_tuple<?>
  // expected-warning @+1 {{the predicate is not proved to be uniform over the 4 elements of an access; it is made element by element}}
  atx.copy #atx.universal_copy<128>, %f to %v where %c less %b : !atx.fragment<f32, 4:1, chunk = 4>, !atx.view<f32, global, 4:1, align = 16> where !atx.coord_view<0, 4:1>, !atx.int_tuple<?>
  return
}

// -----

// Products of operands in memory keep the loop over k; the accumulators are
// carried, one value per chunk.

// CHECK-LABEL: func @products
func.func @products(%a: !atx.view<f32, global, (1,2,8):(0,8,1)>, %b: !atx.view<f32, global, (1,2,8):(0,8,1)>,
                    %c: !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1>) -> !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1> {
  // CHECK: scf.for {{.*}} to %c8_i64 {{.*}} -> (vector<1xf32>, vector<1xf32>, vector<1xf32>, vector<1xf32>)
  // CHECK-COUNT-4: math.fma
  // CHECK-NOT: math.fma
  %d = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.view<f32, global, (1,2,8):(0,8,1)>, !atx.view<f32, global, (1,2,8):(0,8,1)>, !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1>
  return %d : !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1>
}

// -----

// Serpentine order turns the inner loop back: consecutive products share a
// factor.

// CHECK-LABEL: func @order
// CHECK-SAME: (%[[A0:[a-z0-9]+]]: vector<1xf32>, %[[A1:[a-z0-9]+]]: vector<1xf32>, %[[B0:[a-z0-9]+]]: vector<1xf32>, %[[B1:[a-z0-9]+]]: vector<1xf32>,
func.func @order(%a: !atx.fragment<f32, (1,2,1):(0,1,0), chunk = 1>, %b: !atx.fragment<f32, (1,2,1):(0,1,0), chunk = 1>,
                 %c: !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1>) -> !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1> {
  // CHECK: math.fma %[[A0]], %[[B0]]
  // CHECK: math.fma %[[A0]], %[[B1]]
  // CHECK: math.fma %[[A1]], %[[B1]]
  // CHECK: math.fma %[[A1]], %[[B0]]
  %d = atx.gemm #atx.universal_fma<f32>, %a, %b, %c order mnk serpentine : !atx.fragment<f32, (1,2,1):(0,1,0), chunk = 1>, !atx.fragment<f32, (1,2,1):(0,1,0), chunk = 1>, !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1>
  return %d : !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1>
}

// -----

// The bits of 8-bit floating point elements move as integers.

// CHECK-LABEL: func @fp8
func.func @fp8(%p: !llvm.ptr<1>) -> !atx.fragment<f8E4M3FNUZ, 4:1, chunk = 4> {
  // CHECK: %[[BITS:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xi8>
  // CHECK: vector.bitcast %[[BITS]] : vector<4xi8> to vector<4xf8E4M3FNUZ>
  %ptr = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<f8E4M3FNUZ, global, align = 4>
  %l = atx.static : !atx.layout<4:1>
  %v = atx.make_view %ptr, %l : !atx.ptr<f8E4M3FNUZ, global, align = 4>, !atx.layout<4:1>
  %f = atx.copy #atx.universal_copy<32>, %v : !atx.view<f8E4M3FNUZ, global, 4:1, align = 4> -> !atx.fragment<f8E4M3FNUZ, 4:1, chunk = 4>
  return %f : !atx.fragment<f8E4M3FNUZ, 4:1, chunk = 4>
}
