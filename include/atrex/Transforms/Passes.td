//===- Passes.td - Passes from operator form to fragment form *- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_TRANSFORMS_PASSES_TD
#define ATREX_TRANSFORMS_PASSES_TD

include "atrex/Transforms/PassOptions.td"

def GenericSchedulePass : Pass<"atx-generic-schedule", "::mlir::ModuleOp"> {
  let summary = "turn operators that the row mapping does not take into kernels on tiles";
  let description = [{
    Takes any operator apart: values that combine elements (reductions, products,
    scans, `argmax`, `topk`, `rank`, `histogram`) and results are stored, each by a
    kernel in tile form of its own; everything else is computed where its elements
    are needed. A workgroup has a block of the elements of what it stores and pulls
    the operands by coordinate. Sums of products become `vector.contract`.

    An operator of one kernel is replaced by it. Several become a plan: a function
    marked `atx.plan` with an `atx.launch` for each, and a workspace
    (`memref.alloc`) for every value between them. A result with the name of a
    parameter is written last, so that both may be the same memory.

    With mode `auto` an operator that the row mapping takes is left alone; for the
    others a remark says why they are not. `topk` of more than 4096 elements, or of
    a number that is not constant, is an error.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"auto\"",
           "'auto': what the row mapping does not take; 'always': every operator; 'never': none">,
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip of the chip table">
  ];
  let dependentDialects = ["::atrex::atx::AtxDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numScheduled", "num-scheduled", "operators turned into kernels">];
}

def RecordPlanPass : Pass<"atx-record-plan", "::mlir::ModuleOp"> {
  let summary = "turn a launch plan into an attribute of the module";
  let description = [{
    A function marked `atx.plan` becomes the attribute `atx.plan` of its module:
    for each launch the kernel, what its arguments are bound to (tensors of the
    operator, workspaces, scalars, expressions over run-time dimensions) and the
    kernel's dimensions as expressions over the plan's. The manifest is written
    from it. A launch with `count` gets a copy of its kernel that compares the
    workgroup's first grid index with the number. Kernels that no launch uses are
    removed.
  }];
  let dependentDialects = ["::atrex::atx::AtxDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect"];
}

def SelectMappingPass : Pass<"atx-select-mapping", "::mlir::func::FuncOp"> {
  let summary = "choose how an operator's rows are mapped to workgroups and lanes";
  let description = [{
    Attaches `#atx.mapping` to every operator. Rows (dimension 0 of the results)
    are spread over workgroups; inside a workgroup, `threads-per-row` work-items
    share a row, each holding runs of `vector-bits` and `rows-per-thread` rows.

    Options left at 0 are chosen by a cost estimate in vector-ALU cycles per
    element: lanes idle through padding, the steps of the row reduction spread
    over the elements of a lane, an LDS exchange when a row needs more than one
    wave, accesses narrower than a cache line, and registers. The estimate uses
    the shape only, so the same source gives the same mapping.

    Fails with a diagnostic when a row is not of constant length or does not fit
    into the registers of one workgroup. With `threads-per-row` given, more is
    allowed: the backend may then spill.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip of the chip table">,
    TunableOption<"threads", "threads", "int64_t", /*default=*/"0",
                  "work-items of a workgroup, 0 chooses", [0, 64, 128, 256, 512, 1024], "rows">,
    TunableOption<"threadsPerRow", "threads-per-row", "int64_t", /*default=*/"0",
                  "work-items that share one row, up to 'threads', 0 chooses",
                  [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], "rows">,
    TunableOption<"rowsPerThread", "rows-per-thread", "int64_t", /*default=*/"0",
                  "rows each work-item holds, 0 chooses", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
                  "rows">,
    TunableOption<"vectorBits", "vector-bits", "int64_t", /*default=*/"128",
                  "widest access of one lane in bits", [16, 32, 64, 128], "rows">
  ];
  let dependentDialects = ["::atrex::atx::AtxDialect"];
}

def TileToWorkgroupsPass : Pass<"atx-tile-to-workgroups", "::mlir::func::FuncOp"> {
  let summary = "tile an operator over workgroups and fuse its producers";
  let description = [{
    Tiles the operations that compute the results of an operator along
    dimension 0, by the extent its `#atx.mapping` gives to a workgroup, into one
    `scf.forall`; everything they read is computed inside the tile. Results
    that do not depend on one another share the loop.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect"];
  let statistics = [Statistic<"numTiled", "num-tiled", "operations tiled or fused">];
}

def VectorizeTilePass : Pass<"atx-vectorize-tile", "::mlir::func::FuncOp"> {
  let summary = "turn the linalg operations of a tile into workgroup-wide vectors";
  let description = [{
    Each tensor of the tile becomes one vector of the padded tile shape; each
    input is read once, by a `vector.transfer_read` that is not in bounds where
    the tile may reach past the tensor. Values never go through memory between
    two operations. A reduction over a padded dimension ignores the padding.
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numReads", "num-reads", "tensor reads created">,
                    Statistic<"numVectorized", "num-vectorized", "linalg operations vectorized">];
}

def BufferizePass : Pass<"atx-bufferize", "::mlir::ModuleOp"> {
  let summary = "bufferize operators: tensors become buffers in global memory";
  let description = [{
    Upstream's one-shot bufferization with this project's choices: function
    arguments are contiguous buffers in global memory, results are written to
    the arguments marked `atx.output`. Fails when a result is not computed in
    place, since a kernel cannot return a buffer.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::gpu::GPUDialect"];
}

def OutlineKernelsPass : Pass<"atx-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "turn bufferized operators into GPU kernels";
  let description = [{
    Moves the `scf.forall` of each operator into a `gpu.func`: one iteration is
    one workgroup. Tensor arguments become bare pointers, run-time dimensions
    become 64-bit arguments behind them; the kernel carries what the manifest
    needs (`atx.args`, `atx.grid`, `atx.constraints`). The result is tile form.

    Where every tile reads the same tensor (a weight), a workgroup computes
    several tiles one after the other and reads it once: so many that about
    `workgroups` of them do all the work, decided at run time from the number
    of rows. Few rows still mean one tile for each workgroup.
  }];
  let options = [
    TunableOption<"workgroups", "workgroups", "int64_t", /*default=*/"0",
                  "workgroups that a large grid is limited to where tiles share an operand, 0 never loops; others than "
                  "these are accepted", [0, 120, 240, 304, 480, 608, 960], "rows">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect",
                           "::mlir::affine::AffineDialect"];
}

def AssignLayoutsPass : Pass<"atx-assign-layouts", "::mlir::gpu::GPUFuncOp"> {
  let summary = "decide which lane holds which element of every vector";
  let description = [{
    Starting from the writes, which take the layout of the kernel's
    `#atx.mapping`, propagates thread-value layouts backwards and forwards until
    every vector has one. A reduced dimension that nothing else places is held
    by one lane. Two different layouts for one vector are an error that names
    both.
  }];
  let dependentDialects = ["::atrex::atx::AtxDialect"];
  let statistics = [Statistic<"numAssigned", "num-assigned", "vectors with a layout">];
}

def DistributePass : Pass<"atx-distribute", "::mlir::gpu::GPUFuncOp"> {
  let summary = "rewrite workgroup-wide vectors to what one lane holds";
  let description = [{
    Tile form to fragment form, by the layouts that `atx-assign-layouts` left:
    a vector becomes runs of consecutive elements in registers, reads and writes
    become bounded buffer accesses as wide as alignment allows with constant
    offsets, reductions become sums in registers and `atx_amdgpu.lane_reduce`.
    Padding columns are masked through the buffer bounds.
  }];
  let options = [
    TunableOption<"vectorBits", "vector-bits", "int64_t", /*default=*/"128", "widest access of one lane in bits",
                  [16, 32, 64, 128], "rows">
  ];
  let dependentDialects = ["::atrex::atx_amdgpu::AtxAMDGPUDialect", "::mlir::vector::VectorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect"];
  let statistics = [Statistic<"numLoads", "num-loads", "buffer loads created">,
                    Statistic<"numStores", "num-stores", "buffer stores created">];
}

//===----------------------------------------------------------------------===//
// Tile form
//===----------------------------------------------------------------------===//

def OutlineTileKernelsPass : Pass<"atx-outline-tile-kernels", "::mlir::ModuleOp"> {
  let summary = "turn programs on tiles into GPU kernels";
  let description = [{
    Moves every function marked `atx.kernel` into one `gpu.module`. Tensor
    arguments become bare pointers, run-time dimensions 64-bit arguments; the
    kernel carries what the manifest needs (`atx.args`, `atx.grid`,
    `atx.threads`, `atx.constraints`). The body stays a program of one
    workgroup on tiles. Other functions stay as they are.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numArguments", "num-arguments", "tensor arguments turned into pointers">];
}

def AssignTileLayoutsPass : Pass<"atx-assign-tile-layouts", "::mlir::gpu::GPUFuncOp"> {
  let summary = "decide which work-item holds which element of every tile";
  let description = [{
    Products and pinned tiles choose first, then loads and atomics from the
    largest on: vectors along the contiguous dimension, lanes beside one
    another. Layouts spread from there through elementwise operations, loops and
    branches; a tile that is broadcast to one with a layout takes the slice of
    it. Constants, iota, broadcasts and cheap arithmetic of them have no layout of
    their own and are computed again in every layout they are needed in. Where
    a layout still differs from the one needed, `atx.convert_layout` is placed
    right behind the definition, once for each layout.

    A product takes the matrix instruction with the fewest passes. Where its sum
    becomes the left factor of another, element by element, both keep their rows in
    the same lanes where that costs less than moving the factor, and the second
    sums in the order in which the first left its columns. A load that such a
    product needs transposed gives each lane a block, so that it has neighbours
    along both dimensions.

    A factor that is loaded along the summed dimension, 8 bytes or more in a lane, can be loaded the way the
    matrix instruction wants it, and then needs no shared memory. With `direct` `auto` this is done where no
    other wave of the workgroup needs the same elements; `always` does it wherever lanes have such runs.

    The result: `atx.tile_layouts` on every operation with tile results, and
    `atx.contract` on products.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip">,
    TunableOption<"mfmaRows", "mfma-rows", "unsigned", /*default=*/"0",
      "rows of the matrix instruction, 0 chooses", [0, 16, 32]>,
    TunableOption<"wavesM", "waves-m", "unsigned", /*default=*/"0",
      "waves along the rows of a product, 0 chooses", [0, 1, 2, 4, 8, 16]>,
    TunableChoice<"direct", "direct", "auto", "factors of products straight from memory into the lanes that multiply "
      "them, without shared memory", ["auto", "never", "always"]>
  ];
  let dependentDialects = ["::atrex::atx::AtxDialect"];
  let statistics = [Statistic<"numAssigned", "num-assigned", "tiles with a layout">,
                    Statistic<"numConversions", "num-conversions", "conversions of a layout">,
                    Statistic<"numRecomputed", "num-recomputed", "cheap operations placed in a layout">];
}

def StageOperandsPass : Pass<"atx-stage-operands", "::mlir::gpu::GPUFuncOp"> {
  let summary = "stage the tiles of loops in shared memory, ahead of their use";
  let description = [{
    Where a loop reads a tile from a tensor and needs it in another layout
    (`atx.convert_layout`), the tile goes through a slot of shared memory of its
    own (`atx.stage_alloc`) in the arrangement, padded or swizzled, that lets its
    writes and reads meet the fewest bank conflicts. The loop is pipelined: with `stages` slots a tile is written
    `stages` - 1 iterations before it is read, and `prefetch` iterations before
    that it is loaded into registers. Loads for iterations behind the last repeat
    the last one. With several slots and `prefetch` 0 a tile is loaded at the start of an iteration and written at its
    end.

    A tile is staged when what leads to it inside the loop depends on the loop
    counter alone and reads only memory that the loop does not write.

    `stages` 0 takes two slots when they fit beside enough waves to hide the
    latency of one another, else one. `prefetch` -1 takes 1 with one slot, and with
    several where registers are left for it.

    With `share` 1 tiles that have one slot each and are read one after the other have it in the same place: a tile waits
    in registers until everybody has read the one before, which takes two more barriers in an iteration and leaves room
    for more workgroups, or for larger tiles.

    A tile that goes to shared memory as it is loaded may be copied there without passing through registers
    (`direct-to-lds`): lanes write beside one another, so a swizzle decides which lane loads what. `auto` does it
    with 16 bytes for a lane, `always` with 4 as well (gfx942 has no more), both where every lane
    has an element, or reads zero behind the tensor's end. Such stages need two slots or more, and no prefetch.
    It saves registers; where tiles can wait in registers for an iteration the issue model finds that no slower.

    A tile that a loop loads right in the layout of its product (see `direct` of `atx-assign-tile-layouts`) waits
    in registers for the next iteration when `ahead` is 1.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip">,
    TunableOption<"stages", "stages", "unsigned", /*default=*/"0", "slots of each staged tile, 0 chooses",
      [0, 1, 2, 3, 4]>,
    TunableOption<"prefetch", "prefetch", "int64_t", /*default=*/"-1",
      "iterations that a tile waits in registers before it is written, -1 chooses", [-1, 0, 1, 2]>,
    TunableOption<"swizzle", "swizzle", "unsigned", /*default=*/"1", "1 arranges against bank conflicts", [0, 1]>,
    TunableChoice<"directToLds", "direct-to-lds", "never", "copies that leave registers out",
      ["auto", "never", "always"]>,
    TunableOption<"ahead", "ahead", "unsigned", /*default=*/"1",
      "iterations that factors loaded straight into registers are loaded ahead", [0, 1]>,
    TunableOption<"share", "share", "unsigned", /*default=*/"0",
      "1 gives tiles of one slot that are read one after the other the same memory", [0, 1]>,
    Option<"remarks", "remarks", "bool", /*default=*/"false", "tell which tiles are staged, and which are not and why">
  ];
  let dependentDialects = ["::atrex::atx::AtxDialect", "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numStaged", "num-staged", "tiles staged in shared memory">,
                    Statistic<"numDirect", "num-direct", "of them copied without passing through registers">,
                    Statistic<"numAhead", "num-ahead", "tiles that wait in registers in the layout of their product">,
                    Statistic<"numShared", "num-shared", "tiles in the memory of another one">,
                    Statistic<"numPipelined", "num-pipelined", "loops pipelined">];
}

def DistributeTilesPass : Pass<"atx-distribute-tiles", "::mlir::gpu::GPUModuleOp"> {
  let summary = "rewrite programs on tiles to what one lane does";
  let description = [{
    By the layouts that `atx-assign-tile-layouts` left, a tile becomes one vector
    of the lane's elements. Loads and stores are as wide as facts about their
    indices allow; lanes outside of a tensor access nothing. Reductions go
    through registers, lanes (DPP) and, beyond a wave, shared memory. Layouts are
    converted in registers where possible, else through shared memory, whose
    space is used again with as few barriers as that takes. Where two accesses
    of a workgroup to one memory must keep their order and may touch an element in
    different work-items, a barrier is placed between them.

    What cannot be distributed is an error that names the operation, its types
    and what would help.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip">,
    TunableOption<"bufferAccess", "buffer-access", "bool", /*default=*/"true",
                  "accesses to tensors by buffer instructions where 32-bit offsets suffice", [0, 1], "tiles">,
    TunableChoice<"cachePolicy", "cache-policy", "auto", "non-temporal accesses to what the grid touches once",
                  ["auto", "none"]>,
    Option<"remarks", "remarks", "bool", /*default=*/"false", "tell of conversions through shared memory">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
                           "::atrex::atx_amdgpu::AtxAMDGPUDialect"];
  let statistics = [Statistic<"numConversions", "num-conversions", "conversions of a layout">,
                    Statistic<"numLDSConversions", "num-lds-conversions", "of them through shared memory">,
                    Statistic<"numBarriers", "num-barriers", "barriers for the compiler's own shared memory">,
                    Statistic<"numOrderBarriers", "num-order-barriers", "barriers that keep accesses in order">,
                    Statistic<"numNonTemporal", "num-non-temporal", "loads and stores that do not stay in caches">,
                    Statistic<"numVectorAccesses", "num-vector-accesses", "accesses of several elements">,
                    Statistic<"numScalarAccesses", "num-scalar-accesses", "accesses of one element">];
}

#endif // ATREX_TRANSFORMS_PASSES_TD
