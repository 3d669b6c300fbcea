// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/gemm_check.py make %t 128 192 320 7
// RUN: atrex-compile %s --arch gfx942 -o %t/gfx942.hsaco
// RUN: atrex-sim run %t/gfx942.hsaco --grid 2,3,1 --block 256,1,1 --check all --shuffle 3 --arg in:%t/a.bin --arg in:%t/b.bin \
// RUN:   --arg out:98304:%t/c.bin --arg i32:128 --arg i32:192 --arg i32:320
// RUN: %python %S/Inputs/gemm_check.py check %t 128 192 320
// RUN: atrex-compile %s --arch gfx950 -o %t/gfx950.hsaco
// RUN: atrex-sim run %t/gfx950.hsaco --grid 2,3,1 --block 256,1,1 --check all --shuffle 3 --arg in:%t/a.bin --arg in:%t/b.bin \
// RUN:   --arg out:98304:%t/c.bin --arg i32:128 --arg i32:192 --arg i32:320
// RUN: %python %S/Inputs/gemm_check.py check %t 128 192 320
// RUN: atrex-compile %s --arch gfx942 --emit=asm -o - | FileCheck %s --check-prefix=ASM
// RUN: atrex-layout conflicts --arch gfx942 --tile 64x128 --swizzle 'S<3,4,3>' --write '(8,8):(16,128):16' \
// RUN:   --read '(16,4):(128,16):16' | FileCheck %s --check-prefix=LDS

// The step of the loop: 128-bit reads at constant distances from two swizzled
// addresses, 16 products, 128-bit writes, one barrier.
// ASM-LABEL: {{^}}gemm:
// ASM: [[LOOP:.LBB0_[0-9]+]]:
// ASM-COUNT-2: global_load_dwordx4
// ASM: ds_read_b128 {{.*}} offset:4096
// ASM: v_mfma_f32_16x16x16_bf16
// ASM-COUNT-4: ds_write_b128
// ASM: s_barrier
// ASM: s_cbranch_scc1 [[LOOP]]
// ASM: ; ScratchSize: 0

// No access of the loop meets a bank conflict.
// LDS: write (8,8):(16,128):16 {{.*}} 8 8 0
// LDS: read (16,4):(128,16):16 {{.*}} 8 8 0

// A matrix product written in the dialect: C = A * B^T, A and B row-major bf16
// with K contiguous, C row-major f32. A workgroup of four waves computes 64 x 64
// of C and walks K in steps of 64 through two LDS buffers. The K order inside a
// step is permuted, the same for both factors, so that a lane reads eight
// consecutive k, 128 bits, for two instructions; swizzle S<3,4,3> makes these
// reads and the 128-bit writes free of bank conflicts.

#load = #atx.tiled_copy<#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)>
#mma = #atx.tiled_mma<#atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>, (2,2,1):(1,2,0), permute = [*|*|(4,4,2):(1,8,4)]>

!product = !atx.view<f32, global, (?{div=64},?{div=64}):(?{div=64},1), align = 16>
!out = !atx.view<f32, global, (64,64):(?{div=64},1), align = 16>
!factor = !atx.view<bf16, global, (?{div=64},?{div=64}):(?{div=64},1), align = 16>
!rows = !atx.view<bf16, global, (64,64,?):(?{div=64},1,64), align = 16>
!moving = !atx.view<bf16, global, ((8,1),2,1,?):((1,0),?{div=2048},0,64), align = 16>
!stages = !atx.view<bf16, shared, (64,64,2):(64,1,4096), align = 1024, swizzle = S<3,4,3>>
!stage = !atx.view<bf16, shared, (64,64):(64,1), align = 1024, swizzle = S<3,4,3>>
!step = !atx.view<bf16, global, ((8,1),2,1):((1,0),?{div=2048},0), align = 16>
!staged = !atx.view<bf16, shared, ((8,1),2,1,2):((1,0),2048,0,4096), align = 16, swizzle = S<3,4,3>>
!slot = !atx.view<bf16, shared, ((8,1),2,1):((1,0),2048,0), align = 16, swizzle = S<3,4,3>>
!factors = !atx.view<bf16, shared, (4,2,(2,2)):(1,2048,(4,32)), align = 16, swizzle = S<3,4,3>>
!wide = !atx.view<bf16, shared, (4,(2,2),2):(1,(4,32),2048), align = 16, swizzle = S<3,4,3>>
!store = !atx.view<f32, global, ((4,1),2,2):((?{div=64},0),?{div=2048},32), align = 4>
!loaded = !atx.fragment<bf16, ((8,1),2,1):((1,0),8,0), chunk = 8>
!read = !atx.fragment<bf16, (4,(2,2),2):(1,(4,8),16), chunk = 8>
!operand = !atx.fragment<bf16, (4,2,(2,2)):(1,16,(4,8)), chunk = 8>
!acc = !atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>

gpu.module @kernels {
  gpu.func @gemm(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
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

    // What this thread copies into LDS, ...
    %load_a = atx.partition_copy %ga, %thread by #load : !rows, !atx.int_tuple<?>
    %load_b = atx.partition_copy %gb, %thread by #load : !rows, !atx.int_tuple<?>
    %store_a = atx.partition_copy %sa, %thread by #load : !stages, !atx.int_tuple<?>
    %store_b = atx.partition_copy %sb, %thread by #load : !stages, !atx.int_tuple<?>

    // The first step goes to the first stage.
    %c64 = arith.constant 64 : i32
    %steps32 = arith.divui %k, %c64 : i32
    %steps = arith.index_cast %steps32 : i32 to index
    %last = arith.subi %steps, %c1 : index
    %first = atx.static : !atx.int_tuple<(*,*,*,0)>
    %ga0 = atx.slice %load_a, %first : !moving, !atx.int_tuple<(*,*,*,0)>
    %gb0 = atx.slice %load_b, %first : !moving, !atx.int_tuple<(*,*,*,0)>
    %sa0 = atx.slice %store_a, %first : !staged, !atx.int_tuple<(*,*,*,0)>
    %sb0 = atx.slice %store_b, %first : !staged, !atx.int_tuple<(*,*,*,0)>
    %fa0 = atx.copy #load, %ga0 : !step -> !loaded
    %fb0 = atx.copy #load, %gb0 : !step -> !loaded
    atx.copy #load, %fa0 to %sa0 : !loaded, !slot
    atx.copy #load, %fb0 to %sb0 : !loaded, !slot
    gpu.barrier

    // Each turn loads the next step, multiplies the present one and fills the
    // other stage; one barrier keeps the turns apart.
    %acc0 = atx.splat %zero : f32 -> !acc
    %acc = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %acc0) -> (!acc) {
      %after = arith.addi %i, %c1 : index
      %next = arith.minui %after, %last : index
      %now_stage = arith.remui %i, %c2 : index
      %next_stage = arith.remui %after, %c2 : index
      %next_step = atx.make %next : index -> !atx.int_tuple<(*,*,*,?)>
      %now = atx.make %now_stage : index -> !atx.int_tuple<(*,*,?)>
      %fill = atx.make %next_stage : index -> !atx.int_tuple<(*,*,*,?)>

      %gan = atx.slice %load_a, %next_step : !moving, !atx.int_tuple<(*,*,*,?)>
      %gbn = atx.slice %load_b, %next_step : !moving, !atx.int_tuple<(*,*,*,?)>
      %fan = atx.copy #load, %gan : !step -> !loaded
      %fbn = atx.copy #load, %gbn : !step -> !loaded

      %san = atx.slice %sa, %now : !stages, !atx.int_tuple<(*,*,?)>
      %sbn = atx.slice %sb, %now : !stages, !atx.int_tuple<(*,*,?)>
      %pma = atx.partition_mma a %san, %thread by #mma : !stage, !atx.int_tuple<?>
      %pmb = atx.partition_mma b %sbn, %thread by #mma : !stage, !atx.int_tuple<?>
      %va = atx.select %pma {indices = array<i64: 0, 2, 1>} : !factors
      %vb = atx.select %pmb {indices = array<i64: 0, 2, 1>} : !factors
      %ra = atx.copy #atx.universal_copy<128>, %va : !wide -> !read
      %rb = atx.copy #atx.universal_copy<128>, %vb : !wide -> !read
      %oa = atx.retile %ra : !read -> !operand
      %ob = atx.retile %rb : !read -> !operand
      %more = atx.gemm #mma, %oa, %ob, %sum order kmn serpentine : !operand, !operand, !acc

      %saf = atx.slice %store_a, %fill : !staged, !atx.int_tuple<(*,*,*,?)>
      %sbf = atx.slice %store_b, %fill : !staged, !atx.int_tuple<(*,*,*,?)>
      atx.copy #load, %fan to %saf : !loaded, !slot
      atx.copy #load, %fbn to %sbf : !loaded, !slot
      gpu.barrier
      scf.yield %more : !acc
    }

    // The tile of C.
    %cc = atx.make %bm, %bn : index, index -> !atx.int_tuple<(?,?)>
    %gc = atx.local_tile %tc, %tile, %cc : !product, !atx.tile<[64|64]>, !atx.int_tuple<(?,?)>
    %mine = atx.partition_mma c %gc, %thread by #mma : !out, !atx.int_tuple<?>
    atx.copy #atx.universal_copy<32>, %acc to %mine : !acc, !store
    gpu.return
  }
}
