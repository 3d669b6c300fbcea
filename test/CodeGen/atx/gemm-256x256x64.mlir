// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/gemm_check.py make %t 256 256 128 3
// RUN: atrex-compile %s --arch gfx942 -o %t/gemm.hsaco
// RUN: atrex-sim run %t/gemm.hsaco --grid 1,1,1 --block 256,1,1 --arg in:%t/a.bin --arg in:%t/b.bin \
// RUN:   --arg out:262144:%t/c.bin --arg i32:256 --arg i32:256 --arg i32:128
// RUN: %python %S/Inputs/gemm_check.py check %t 256 256 128
// RUN: atrex-compile %s --arch gfx942 --emit=asm -o - | FileCheck %s

// The accumulators of 256 x 256 stay in registers, nothing spills.
// CHECK-COUNT-256: v_mfma_f32_16x16x16_bf16
// CHECK: ; ScratchSize: 0

// A tile of 256 x 256 x 64 in the dialect: C = A * B^T, A and B row-major bf16, C
// row-major f32, one LDS buffer that fills all of a gfx942 compute unit. The
// factors of a product stay in LDS: atx.gemm reads them as it needs them.

#load = #atx.tiled_copy<#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)>
#mma = #atx.tiled_mma<#atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>, (2,2,1):(1,2,0)>

!tensor = !atx.view<bf16, global, (?{div=256},?{div=64}):(?{div=64},1), align = 16>
!product = !atx.view<f32, global, (?{div=256},?{div=256}):(?{div=256},1), align = 16>
!rows = !atx.view<bf16, global, (256,64,?):(?{div=64},1,64), align = 16>
!moving = !atx.view<bf16, global, ((8,1),8,1,?):((1,0),?{div=2048},0,64), align = 16>
!step = !atx.view<bf16, global, ((8,1),8,1):((1,0),?{div=2048},0), align = 16>
!tile = !atx.view<bf16, shared, (256,64):(64,1), align = 1024, swizzle = S<3,4,3>>
!slot = !atx.view<bf16, shared, ((8,1),8,1):((1,0),2048,0), align = 16, swizzle = S<3,4,3>>
!factor = !atx.view<bf16, shared, (4,8,4):(1,2048,16), align = 8, swizzle = S<3,4,3>>
!loaded = !atx.fragment<bf16, ((8,1),8,1):((1,0),8,0), chunk = 8>
!out = !atx.view<f32, global, (256,256):(?{div=256},1), align = 16>
!store = !atx.view<f32, global, ((4,1),8,8):((?{div=256},0),?{div=8192},32), align = 4>
!acc = !atx.fragment<f32, ((4,1),8,8):((1,0),4,32), chunk = 4>

gpu.module @kernels {
  gpu.func @gemm256(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    %tid = gpu.thread_id x
    %bm = gpu.block_id x
    %bn = gpu.block_id y
    %thread = atx.make %tid : index -> !atx.int_tuple<?>
    %pa = atx.make_ptr %a : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
    %pb = atx.make_ptr %b : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
    %pc = atx.make_ptr %c : !llvm.ptr<1> -> !atx.ptr<f32, global, align = 16>
    %la = atx.make %m, %k, %k : i32, i32, i32 -> !atx.layout<(?{div=256},?{div=64}):(?{div=64},1)>
    %lb = atx.make %n, %k, %k : i32, i32, i32 -> !atx.layout<(?{div=256},?{div=64}):(?{div=64},1)>
    %lc = atx.make %m, %n, %n : i32, i32, i32 -> !atx.layout<(?{div=256},?{div=256}):(?{div=256},1)>
    %ta = atx.make_view %pa, %la : !atx.ptr<bf16, global, align = 16>, !atx.layout<(?{div=256},?{div=64}):(?{div=64},1)>
    %tb = atx.make_view %pb, %lb : !atx.ptr<bf16, global, align = 16>, !atx.layout<(?{div=256},?{div=64}):(?{div=64},1)>
    %tc = atx.make_view %pc, %lc : !atx.ptr<f32, global, align = 16>, !atx.layout<(?{div=256},?{div=256}):(?{div=256},1)>
    %tile = atx.static : !atx.tile<[256|64]>
    %ca = atx.make %bm : index -> !atx.int_tuple<(?,*)>
    %cb = atx.make %bn : index -> !atx.int_tuple<(?,*)>
    %ga = atx.local_tile %ta, %tile, %ca : !tensor, !atx.tile<[256|64]>, !atx.int_tuple<(?,*)>
    %gb = atx.local_tile %tb, %tile, %cb : !tensor, !atx.tile<[256|64]>, !atx.int_tuple<(?,*)>
    %sa = atx.alloc_shared : !tile
    %sb = atx.alloc_shared : !tile
    %load_a = atx.partition_copy %ga, %thread by #load : !rows, !atx.int_tuple<?>
    %load_b = atx.partition_copy %gb, %thread by #load : !rows, !atx.int_tuple<?>
    %store_a = atx.partition_copy %sa, %thread by #load : !tile, !atx.int_tuple<?>
    %store_b = atx.partition_copy %sb, %thread by #load : !tile, !atx.int_tuple<?>
    %fa = atx.partition_mma a %sa, %thread by #mma : !tile, !atx.int_tuple<?>
    %fb = atx.partition_mma b %sb, %thread by #mma : !tile, !atx.int_tuple<?>
    %steps32 = arith.divui %k, %c64 : i32
    %steps = arith.index_cast %steps32 : i32 to index
    %acc0 = atx.splat %zero : f32 -> !acc
    %acc = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %acc0) -> (!acc) {
      %at = atx.make %i : index -> !atx.int_tuple<(*,*,*,?)>
      %gai = atx.slice %load_a, %at : !moving, !atx.int_tuple<(*,*,*,?)>
      %gbi = atx.slice %load_b, %at : !moving, !atx.int_tuple<(*,*,*,?)>
      %va = atx.copy #load, %gai : !step -> !loaded
      %vb = atx.copy #load, %gbi : !step -> !loaded
      atx.copy #load, %va to %store_a : !loaded, !slot
      atx.copy #load, %vb to %store_b : !loaded, !slot
      gpu.barrier
      %more = atx.gemm #mma, %fa, %fb, %sum order kmn serpentine : !factor, !factor, !acc
      gpu.barrier
      scf.yield %more : !acc
    }
    %output = atx.static : !atx.tile<[256|256]>
    %cc = atx.make %bm, %bn : index, index -> !atx.int_tuple<(?,?)>
    %gc = atx.local_tile %tc, %output, %cc : !product, !atx.tile<[256|256]>, !atx.int_tuple<(?,?)>
    %mine = atx.partition_mma c %gc, %thread by #mma : !out, !atx.int_tuple<?>
    atx.copy #atx.universal_copy<32>, %acc to %mine : !acc, !store
    gpu.return
  }
}
