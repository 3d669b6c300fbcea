// A matrix product written in the dialect: C = A * B^T, A and B row-major bf16
// with K contiguous, C row-major f32. A workgroup of four waves computes 64 x 64
// of C and walks K in steps of 64 through two LDS buffers. The K order inside a
// step is permuted, the same for both factors, so that a lane reads eight
// consecutive k, 128 bits, for two instructions; swizzle S<3,4,3> makes these
// reads and the 128-bit writes free of bank conflicts.

#load = #atx.tiled_copy<#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)>
#mma = #atx.tiled_mma<#atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>, (2,2,1):(1,2,0), permute = [*|*|(4,4,2):(1,8,4)]>

!factor = !atx.view<bf16, global, (?{div=64},?{div=64}):(?{div=64},1), align = 16>
!stages = !atx.view<bf16, shared, (64,64,2):(64,1,4096), align = 1024, swizzle = S<3,4,3>>
!stage = !atx.view<bf16, shared, (64,64):(64,1), align = 1024, swizzle = S<3,4,3>>
!loaded = !atx.fragment<bf16, ((8,1),2,1):((1,0),8,0), chunk = 8>
!read = !atx.fragment<bf16, (4,(2,2),2):(1,(4,8),16), chunk = 8>
!operand = !atx.fragment<bf16, (4,2,(2,2)):(1,16,(4,8)), chunk = 8>
!acc = !atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>

gpu.module @kernels {
  gpu.func @gemm(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %tid = gpu.thread_id x
    %bm = gpu.block_id x
    %bn = gpu.block_id y
    %thread = atx.make %tid : index -> !atx.int_tuple<?>

    // Tensors.
    %pa = atx.make_ptr %a : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
    %pb = atx.make_ptr %b : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
    %pc = atx.make_ptr %c : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
    %la = atx.make %m, %k, %k : i32, i32, i32 -> !atx.layout<(?{div=64},?{div=64}):(?{div=64},1)>
    %lb = atx.make %n, %k, %k : i32, i32, i32 -> !atx.layout<(?{div=64},?{div=64}):(?{div=64},1)>
    %lc = atx.make %m, %n, %n : i32, i32, i32 -> !atx.layout<(?{div=64},?{div=64}):(?{div=64},1)>
    %ta = atx.make_view %pa, %la : !atx.ptr<bf16, global, align = 16>, !atx.layout<(?{div=64},?{div=64}):(?{div=64},1)>
    %tb = atx.make_view %pb, %lb : !atx.ptr<bf16, global, align = 16>, !atx.layout<(?{div=64},?{div=64}):(?{div=64},1)>
    %tc = atx.make_view %pc, %lc : !atx.ptr<f32, global, align = 16>, !atx.layout<(?{div=64},?{div=64}):(?{div=64},1)>
    %tile = atx.static : !atx.tile<[64|64]>

    // The rows of A and B of this workgroup, one mode of steps along K left.
    %ca = atx.make %bm : index -> !atx.int_tuple<(?,*)>
    %cb = atx.make %bn : index -> !atx.int_tuple<(?,*)>
    %ga = atx.local_tile %ta, %tile, %ca : !factor, !atx.tile<[64|64]>, !atx.int_tuple<(?,*)>
    %gb = atx.local_tile %tb, %tile, %cb : !factor, !atx.tile<[64|64]>, !atx.int_tuple<(?,*)>

    // LDS.
    %sa = atx.alloc_shared : !stages
    %sb = atx.alloc_shared : !stages

    %steps32 = arith.divui %k, %c64 : i32
    %c64 = arith.constant 64 : i32
    gpu.return
  }
}
