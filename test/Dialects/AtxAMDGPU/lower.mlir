// RUN: atrex-opt %s --atx-lower=arch=gfx950 --canonicalize | FileCheck %s

// A resource starts at the pointer: accesses count from zero.
// CHECK-LABEL: func.func @buffer
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[BYTES:.*]]: i64, %[[T:.*]]: i64)
func.func @buffer(%p: !llvm.ptr<1>, %bytes: i64, %t: !atx.int_tuple<?>) -> vector<16xbf16> {
  // CHECK: %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  // CHECK: %[[R:.*]] = rocdl.make.buffer.rsrc %[[Q]], %{{.*}}, %[[BYTES]], %{{.*}} : <1> to <8>
  %q = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
  %o = atx.static : !atx.int_tuple<64>
  %r = atx.add_offset %q, %o : !atx.ptr<bf16, global, align = 16>, !atx.int_tuple<64>
  %b = atx_amdgpu.make_buffer %r, %bytes : !atx.ptr<bf16, global, align = 16> -> !atx.ptr<bf16, buffer, align = 16>
  %l = atx.static : !atx.layout<(8,2):(1,256)>
  %v = atx.make_view %b, %l : !atx.ptr<bf16, buffer, align = 16>, !atx.layout<(8,2):(1,256)>
  // CHECK: %[[A:.*]] = rocdl.raw.ptr.buffer.load %[[R]], %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi32>
  // CHECK: vector.bitcast %[[A]] : vector<4xi32> to vector<8xbf16>
  // CHECK: rocdl.raw.ptr.buffer.load %[[R]]
  %f = atx.copy #atx_amdgpu.buffer_copy<128>, %v : !atx.view<bf16, buffer, (8,2):(1,256), align = 16>
      -> !atx.fragment<bf16, (8,2):(1,8), chunk = 8>
  %w = atx.to_vector %f : !atx.fragment<bf16, (8,2):(1,8), chunk = 8>
  return %w : vector<16xbf16>
}

// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[A:.*]]: vector<8xbf16>, %[[B:.*]]: vector<8xbf16>, %[[C:.*]]: vector<4xf32>)
// CHECK: rocdl.mfma.f32.16x16x32.bf16 %[[A]], %[[B]], %[[C]]
func.func @product(%a: !atx.fragment<bf16, (8,1,1):(1,0,0), chunk = 8>, %b: !atx.fragment<bf16, (8,1,1):(1,0,0), chunk = 8>,
                   %c: !atx.fragment<f32, ((4,1),1,1):((1,0),0,0), chunk = 4>)
    -> !atx.fragment<f32, ((4,1),1,1):((1,0),0,0), chunk = 4> {
  %d = atx.gemm #atx_amdgpu.mfma<16x16x32, bf16, bf16, f32>, %a, %b, %c : !atx.fragment<bf16, (8,1,1):(1,0,0), chunk = 8>,
      !atx.fragment<bf16, (8,1,1):(1,0,0), chunk = 8>, !atx.fragment<f32, ((4,1),1,1):((1,0),0,0), chunk = 4>
  return %d : !atx.fragment<f32, ((4,1),1,1):((1,0),0,0), chunk = 4>
}

// CHECK-LABEL: func.func @scaled
// CHECK-SAME: (%[[A:.*]]: vector<32xf8E4M3FN>, %[[B:.*]]: vector<32xf8E4M3FN>, %[[C:.*]]: vector<4xf32>, %[[SA:.*]]: i32, %[[SB:.*]]: i32)
// CHECK-DAG: %[[WA:.*]] = vector.bitcast %[[A]] : vector<32xf8E4M3FN> to vector<8xi32>
// CHECK-DAG: %[[WB:.*]] = vector.bitcast %[[B]] : vector<32xf8E4M3FN> to vector<8xi32>
// CHECK: rocdl.mfma.scale.f32.16x16x128.f8f6f4 %[[WA]], %[[WB]], %[[C]], %{{.*}}, %{{.*}}, %{{.*}}, %[[SA]], %{{.*}}, %[[SB]]
func.func @scaled(%a: !atx.fragment<f8E4M3FN, (32,1,1):(1,0,0), chunk = 32>, %b: !atx.fragment<f8E4M3FN, (32,1,1):(1,0,0), chunk = 32>,
                  %c: !atx.fragment<f32, ((4,1),1,1):((1,0),0,0), chunk = 4>, %sa: i32, %sb: i32)
    -> !atx.fragment<f32, ((4,1),1,1):((1,0),0,0), chunk = 4> {
  %d = atx.gemm #atx_amdgpu.scaled_mfma<16x16x128, f8E4M3FN, f8E4M3FN, f32>, %a, %b, %c with %sa, %sb
      : !atx.fragment<f8E4M3FN, (32,1,1):(1,0,0), chunk = 32>, !atx.fragment<f8E4M3FN, (32,1,1):(1,0,0), chunk = 32>,
        !atx.fragment<f32, ((4,1),1,1):((1,0),0,0), chunk = 4> with i32, i32
  return %d : !atx.fragment<f32, ((4,1),1,1):((1,0),0,0), chunk = 4>
}

// Lane 0's address in LDS from that of each lane.
// CHECK-LABEL: func.func @direct
// CHECK: rocdl.mbcnt.hi
// CHECK: llvm.sub
// CHECK: %[[FIRST:.*]] = rocdl.readfirstlane
// CHECK: %[[LDS:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[FIRST]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK: rocdl.global.load.lds %{{.*}}, %[[LDS]], 16, 0, 0
func.func @direct(%p: !llvm.ptr<1>, %t: !atx.int_tuple<?>) {
  %q = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
  %l = atx.static : !atx.layout<(1,512):(0,1)>
  %g = atx.make_view %q, %l : !atx.ptr<bf16, global, align = 16>, !atx.layout<(1,512):(0,1)>
  %s = atx.alloc_shared : !atx.view<bf16, shared, (1,512):(0,1), align = 16>
  %gp = atx.partition_copy %g, %t by <#atx_amdgpu.global_copy_lds<128>, (64,8):(8,1), (1,512)>
      : !atx.view<bf16, global, (1,512):(0,1), align = 16>, !atx.int_tuple<?>
  %sp = atx.partition_copy %s, %t by <#atx_amdgpu.global_copy_lds<128>, (64,8):(8,1), (1,512)>
      : !atx.view<bf16, shared, (1,512):(0,1), align = 16>, !atx.int_tuple<?>
  atx.copy #atx_amdgpu.global_copy_lds<128>, %gp to %sp : !atx.view<bf16, global, ((8,1),1,1):((1,0),0,0), align = 16>,
      !atx.view<bf16, shared, ((8,1),1,1):((1,0),0,0), align = 16>
  return
}

// CHECK-LABEL: func.func @atomic
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("agent") monotonic {alignment = 4 : i64} : !llvm.ptr<1>, vector<2xbf16>
func.func @atomic(%p: !llvm.ptr<1>, %f: !atx.fragment<bf16, 2:1, chunk = 2>) {
  %q = atx.make_ptr %p : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 4>
  %l = atx.static : !atx.layout<2:1>
  %v = atx.make_view %q, %l : !atx.ptr<bf16, global, align = 4>, !atx.layout<2:1>
  atx.copy #atx_amdgpu.global_atomic<add, vector<2xbf16>>, %f to %v : !atx.fragment<bf16, 2:1, chunk = 2>,
      !atx.view<bf16, global, 2:1, align = 4>
  return
}
