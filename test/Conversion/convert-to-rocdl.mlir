// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(atx-convert-to-rocdl,canonicalize,cse))' | FileCheck %s

// The resource ends where the view ends: the largest extent times stride, in bytes. Flags of a raw buffer of GFX9.
// CHECK-LABEL: llvm.func @access
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr{{.*}}, %[[N:.*]]: i64, %[[O:.*]]: i32, %[[M:.*]]: i1) attributes
// CHECK-SAME: rocdl.flat_work_group_size = "128,128"
// CHECK-SAME: rocdl.kernel
// CHECK-NOT: atx.mapping
// CHECK-DAG: %[[FLAGS:.*]] = llvm.mlir.constant(159744 : i32)
// CHECK-DAG: %[[OUT:.*]] = llvm.mlir.constant(-2147483648 : i32)
// CHECK-DAG: %[[C1024:.*]] = llvm.mlir.constant(1024 : i32)
// CHECK-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG: %[[WIDTH:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-DAG: %[[ROW:.*]] = llvm.mlir.constant(1024 : index)
// CHECK: %[[ALL:.*]] = llvm.mul %[[N]], %[[ROW]]
// CHECK: %[[ONE:.*]] = llvm.mul %[[ROW]], %{{.*}}
// CHECK: %[[SPAN:.*]] = llvm.intr.umax(%[[ALL]], %[[ONE]])
// CHECK: %[[BYTES:.*]] = llvm.mul %[[SPAN]], %[[WIDTH]] : i64
// CHECK: %[[R:.*]] = rocdl.make.buffer.rsrc %[[P]], %{{.*}}, %[[BYTES]], %[[FLAGS]] : <1> to <8>
// The constant part, 512 elements, is added last, where the backend finds it.
// CHECK: %[[B:.*]] = llvm.mul %[[O]], %[[TWO]]
// CHECK: %[[AT:.*]] = llvm.add %[[B]], %[[C1024]]
// CHECK: rocdl.raw.ptr.buffer.load %[[R]], %[[AT]], %{{.*}}, %{{.*}} : vector<4xi32>
// Where the mask is false the offset lies outside of every buffer, whatever the constant adds.
// CHECK: %[[SEL:.*]] = llvm.select %[[M]], %[[B]], %[[OUT]]
// CHECK: %[[AT2:.*]] = llvm.add %[[SEL]], %[[C1024]]
// CHECK: rocdl.raw.ptr.buffer.load %[[R]], %[[AT2]], {{.*}} : i16
// CHECK: rocdl.raw.ptr.buffer.store %{{.*}}, %[[R]], %[[B]], {{.*}} : vector<4xi32>
// CHECK: rocdl.raw.ptr.buffer.store %{{.*}}, %[[R]], %[[SEL]], {{.*}} : i16
gpu.module @m {
  gpu.func @access(%p: memref<bf16, #gpu.address_space<global>>, %n: i64, %o: i32, %m: i1) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, atx.mapping = #atx.mapping<tile = [128], extent = [128], threads = 128, layout = <(128):(1E0), ():()>>} {
    %size = arith.index_cast %n : i64 to index
    %v = memref.reinterpret_cast %p to offset: [0], sizes: [%size, 1024], strides: [1024, 1] : memref<bf16, #gpu.address_space<global>> to memref<?x1024xbf16, strided<[1024, 1]>, #gpu.address_space<global>>
    %r = atx_amdgpu.make_resource %v : memref<?x1024xbf16, strided<[1024, 1]>, #gpu.address_space<global>> -> !llvm.ptr<8>
    %a = atx_amdgpu.buffer_load %r[%o + 512] : vector<8xbf16>
    %b = atx_amdgpu.buffer_load %r[%o + 512] mask %m : vector<1xbf16>
    atx_amdgpu.buffer_store %a, %r[%o + 0] : vector<8xbf16>
    atx_amdgpu.buffer_store %b, %r[%o + 0] mask %m : vector<1xbf16>
    gpu.return
  }
}

// -----

// The words an access moves: one small integer, a word, or several.
// CHECK-LABEL: llvm.func @widths
// CHECK: raw.ptr.buffer.load {{.*}} : i8
// CHECK: raw.ptr.buffer.load {{.*}} : i16
// CHECK: raw.ptr.buffer.load {{.*}} : i32
// CHECK: raw.ptr.buffer.load {{.*}} : vector<2xi32>
// CHECK: raw.ptr.buffer.load {{.*}} : vector<3xi32>
// CHECK: raw.ptr.buffer.load {{.*}} : vector<4xi32>
gpu.module @m {
  gpu.func @widths(%r: !llvm.ptr<8>, %o: i32, %p: !llvm.ptr<8>) kernel {
    %a = atx_amdgpu.buffer_load %r[%o + 0] : vector<1xi8>
    %b = atx_amdgpu.buffer_load %r[%o + 0] : vector<2xi8>
    %c = atx_amdgpu.buffer_load %r[%o + 0] : vector<1xf32>
    %d = atx_amdgpu.buffer_load %r[%o + 0] : vector<1xi64>
    %e = atx_amdgpu.buffer_load %r[%o + 0] : vector<6xbf16>
    %f = atx_amdgpu.buffer_load %r[%o + 0] : vector<16xi8>
    atx_amdgpu.buffer_store %a, %p[%o + 0] : vector<1xi8>
    atx_amdgpu.buffer_store %b, %p[%o + 0] : vector<2xi8>
    atx_amdgpu.buffer_store %c, %p[%o + 0] : vector<1xf32>
    atx_amdgpu.buffer_store %d, %p[%o + 0] : vector<1xi64>
    atx_amdgpu.buffer_store %e, %p[%o + 0] : vector<6xbf16>
    atx_amdgpu.buffer_store %f, %p[%o + 0] : vector<16xi8>
    gpu.return
  }
}

// -----

// rsqrt: the instruction, with subnormal operands scaled by 2^24 and the result by 2^12. Approximate exp2 is the
// instruction; exact functions are LLVM's intrinsics, never calls.
// CHECK-LABEL: llvm.func @math
// CHECK-DAG: %[[TINY:.*]] = llvm.mlir.constant(1.17549435E-38 : f32)
// CHECK-DAG: %[[UP:.*]] = llvm.mlir.constant(0x4B800000 : f32)
// CHECK-DAG: %[[BACK:.*]] = llvm.mlir.constant(4.096000e+03 : f32)
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1.000000e+00 : f32)
// CHECK: %[[SMALL:.*]] = llvm.fcmp "olt" %[[X:.*]], %[[TINY]]
// CHECK: %[[SCALE:.*]] = llvm.select %[[SMALL]], %[[UP]], %[[ONE]]
// CHECK: %[[XS:.*]] = llvm.fmul %[[X]], %[[SCALE]]
// CHECK: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.amdgcn.rsq.f32"(%[[XS]])
// CHECK: %[[POST:.*]] = llvm.select %[[SMALL]], %[[BACK]], %[[ONE]]
// CHECK: llvm.fmul %[[ROOT]], %[[POST]]
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.exp2.f32"
// CHECK: llvm.intr.exp2
// CHECK: llvm.intr.exp(
// CHECK: llvm.intr.sqrt
// CHECK-NOT: __ocml
gpu.module @m {
  gpu.func @math(%x: f32, %v: vector<2xf32>, %r: !llvm.ptr<8>, %o: i32) kernel {
    %a = math.rsqrt %x : f32
    %b = math.exp2 %v fastmath<afn> : vector<2xf32>
    %c = math.exp2 %v : vector<2xf32>
    %d = math.exp %c : vector<2xf32>
    %e = math.sqrt %d : vector<2xf32>
    %s = vector.broadcast %a : f32 to vector<2xf32>
    atx_amdgpu.buffer_store %s, %r[%o + 0] : vector<2xf32>
    atx_amdgpu.buffer_store %b, %r[%o + 2] : vector<2xf32>
    atx_amdgpu.buffer_store %e, %r[%o + 4] : vector<2xf32>
    gpu.return
  }
}

// -----

// One value subtracted from a run is negated and added: packed addition exists. Others stay subtractions.
// CHECK-LABEL: llvm.func @subtract
// CHECK: %[[N:.*]] = llvm.fneg %{{.*}} : f32
// CHECK: %[[Q:.*]] = llvm.call_intrinsic "llvm.canonicalize.f32"(%[[N]])
// CHECK: llvm.insertelement %[[Q]]
// CHECK: llvm.fadd %{{.*}} : vector<2xf32>
// CHECK: llvm.fsub %{{.*}} : vector<2xf32>
gpu.module @m {
  gpu.func @subtract(%x: f32, %v: vector<2xf32>, %w: vector<2xf32>, %r: !llvm.ptr<8>, %o: i32) kernel {
    %b = vector.broadcast %x : f32 to vector<2xf32>
    %s = arith.subf %v, %b : vector<2xf32>
    %t = arith.subf %s, %w : vector<2xf32>
    atx_amdgpu.buffer_store %t, %r[%o + 0] : vector<2xf32>
    gpu.return
  }
}
