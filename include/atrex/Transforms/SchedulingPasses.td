//===- SchedulingPasses.td - Order of work and instructions -*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_TRANSFORMS_SCHEDULINGPASSES_TD
#define ATREX_TRANSFORMS_SCHEDULINGPASSES_TD

include "atrex/Transforms/PassOptions.td"

//===----------------------------------------------------------------------===//
// Kernels on tiles: which workgroup does what
//===----------------------------------------------------------------------===//

def GridOrderPass : Pass<"atx-grid-order", "::mlir::func::FuncOp"> {
  let summary = "choose the order in which workgroups take the tiles of the grid";
  let description = [{
    Replaces the index of the workgroup in a kernel on tiles by a bijection of
    it; the grid stays. The device numbers workgroups with the first axis
    fastest and deals them out to its dies in turn.

    - `column` is the device's order; `row` has the second axis fastest.
    - `grouped` walks strips of `group` tiles along the first axis, so that
      workgroups that run together share rows of one operand and columns of the
      other.
    - `xcd` gives each die, which has an L2 of its own, a run of consecutive
      tiles of the grouped order.
    - `causal` then reorders the axis `causal-axis`: `reverse` starts with the
      last tiles, where causal attention has most to do; `zigzag` pairs long
      tiles with short ones.

    Any grid will do, remainders included. With the order `column` and `causal`
    `none` a kernel is left alone.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip of the chip table">,
    TunableChoice<"order", "order", "column", "order of the tiles", ["column", "row", "grouped", "xcd"]>,
    TunableOption<"group", "group", "int64_t", /*default=*/"8", "tiles of a strip along the first axis",
                  [1, 2, 4, 8, 16, 32]>,
    Option<"xcds", "xcds", "int64_t", /*default=*/"0", "dies that workgroups are dealt out to, 0 is what the chip has">,
    TunableChoice<"causal", "causal", "none", "order along 'causal-axis'", ["none", "reverse", "zigzag"]>,
    Option<"causalAxis", "causal-axis", "int64_t", /*default=*/"0", "axis of the grid that 'causal' reorders">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"numReordered", "num-reordered", "kernels whose grid has another order">];
}

def PersistentPass : Pass<"atx-persistent", "::mlir::func::FuncOp"> {
  let summary = "let workgroups of a kernel on tiles do several tiles";
  let description = [{
    The grid becomes cdiv(tiles, cdiv(tiles, `workgroups`)): no more than
    `workgroups`, and no more than the number of rounds that takes needs.
    Workgroup w does tiles w, w + grid, ... in the order of the device, so with
    a multiple of the number of dies a tile stays on its die. Where the kernel
    uses shared memory of its own, a barrier stands between two tiles.

    A kernel with a loop that may wait for another workgroup is left alone, with
    a remark, and so is one of no more tiles than `workgroups`.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip of the chip table">,
    TunableOption<"workgroups", "workgroups", "int64_t", /*default=*/"0",
                  "most workgroups, 0 leaves the grid, -1 is one for each compute unit of the chip; others than these are "
                  "accepted", [0, -1, 80, 160, 240, 256, 304, 608]>
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numPersistent", "num-persistent", "kernels whose workgroups do several tiles">];
}

def StreamKPass : Pass<"atx-stream-k", "::mlir::ModuleOp"> {
  let summary = "divide the sums of a kernel on tiles into equal shares";
  let description = [{
    For kernels with one loop that carries tiles of f32 or f64, starting at zero,
    to which each iteration adds something, and that write only behind the loop.
    The iterations of all tiles are numbered, and `workgroups` workgroups take
    equal runs of them. A tile that lies in one run is finished at once. Parts of
    the others go to a workspace; a second kernel adds them, in the order of the
    workgroups, and finishes the tile. Nobody waits for another workgroup, and
    the same sizes give the same bits.

    With `splits` S there are S workgroups for each tile: split-K.

    The kernel becomes a launch plan of two kernels with a workspace for each
    sum, two tiles for each workgroup. A kernel that the pattern does not fit is
    left alone, with a remark that says why.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip of the chip table">,
    TunableOption<"workgroups", "workgroups", "int64_t", /*default=*/"0",
                  "workgroups that share the iterations, 0 is off, -1 is one for each compute unit of the chip; others "
                  "than these are accepted", [0, -1, 80, 160, 240, 256, 304, 608]>,
    TunableOption<"splits", "splits", "int64_t", /*default=*/"0", "workgroups for each tile, 0 is off",
                  [0, 2, 3, 4, 8, 16]>
  ];
  let dependentDialects = ["::atrex::atx::AtxDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numDivided", "num-divided", "kernels divided along their sum">];
}

//===----------------------------------------------------------------------===//
// Tiles: what stands ready when an iteration begins
//===----------------------------------------------------------------------===//

def ReadAheadPass : Pass<"atx-read-ahead", "::mlir::gpu::GPUFuncOp"> {
  let summary = "read staged tiles from shared memory before the iteration that multiplies them";
  let description = [{
    In a loop whose tiles have two slots or more, an iteration ends in a barrier
    and the next one begins with reads of shared memory, which the matrix unit
    waits for. This pass puts these reads behind the barrier, into the iteration
    before: the loop carries what was read in registers, and matrix instructions
    that do not depend on it may stand behind the barrier too.

    Tiles are taken in the order of the program, while they need no more than
    `registers` registers of 32 bits for each lane together. With -1 that is what
    they need, if it fits beside what the loop carries, loads, reads and
    multiplies, in the registers of a wave when two share a SIMD (of more, when
    the workgroup has more); else nothing. A read stays where it is when a barrier or a write to its stage stands before it in the body, or
    when its slot is not computed from values that the loop carries.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip of the chip table">,
    TunableOption<"registers", "registers", "int64_t", /*default=*/"-1",
                  "registers that a loop may carry for tiles read ahead, 0 reads nothing ahead, -1 chooses; others than "
                  "these are accepted", [-1, 0, 16, 32, 48, 64, 96, 128]>
  ];
  let statistics = [Statistic<"numReads", "num-reads", "reads of staged tiles that were moved ahead">];
}

def ChooseProductsPass : Pass<"atx-choose-products", "::mlir::func::FuncOp"> {
  let summary = "demand matrix instructions of products of f32";
  let description = [{
    Puts `atx.f32` on the products of f32 by f32 of a kernel on tiles, which
    `atx-assign-tile-layouts` obeys. With `f32=xf32` they take the xf32
    instructions of the chip: an error where it has none, which names the
    nearest, and for factors whose low 13 bits are not known to be zero. With
    `f32=f32` they take those of f32. `auto` leaves the choice: xf32 where the
    chip has it and the factors lose nothing.
  }];
  let options = [
    TunableChoice<"f32", "f32", "auto", "instructions; xf32, an error where there are none, is accepted too",
                  ["auto", "f32"]>
  ];
  let statistics = [Statistic<"numProducts", "num-products", "products with a demand">];
}

//===----------------------------------------------------------------------===//
// One lane's program: the order of instructions
//===----------------------------------------------------------------------===//

def UnrollLoopsPass : Pass<"atx-unroll-loops", "::mlir::gpu::GPUFuncOp"> {
  let summary = "unroll innermost loops by cost";
  let description = [{
    For the program of one lane. Loops of at most four iterations that are known
    go altogether. With `factor` 0 a loop is unrolled

    - by the period in which carried values change places, as in a loop whose
      buffers take turns, so that each copy addresses its own by constants;
    - else by 2, 4 or 8, until the three instructions that a loop takes itself
      are no more than a twentieth;
    - by less where the copies would load more than `max-registers` registers, or
      be more than 4096 instructions.

    Iterations that are left run in a loop behind. What was decided stands: the
    backend does not unroll the loop again. Remarks give the reason.
  }];
  let options = [
    TunableOption<"factor", "factor", "int64_t", /*default=*/"-1",
                  "copies of the body, 0 chooses, 1 keeps the backend from unrolling, -1 leaves it to the backend; up to "
                  "64 are accepted", [-1, 0, 1, 2, 3, 4, 8]>,
    Option<"maxRegisters", "max-registers", "int64_t", /*default=*/"96",
           "registers that the copies may load together when the factor is chosen">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numUnrolled", "num-unrolled", "loops unrolled in part">,
                    Statistic<"numFull", "num-full", "loops that are gone">];
}

def PingPongPass : Pass<"atx-ping-pong", "::mlir::gpu::GPUFuncOp"> {
  let summary = "let the two waves of each SIMD take turns at memory and matrix instructions";
  let description = [{
    For innermost loops with matrix instructions of kernels with eight waves. The
    body is cut, behind its accesses, by another barrier into a phase of memory
    and one of products; before the loop the upper four waves wait at one barrier
    more, behind it the lower four. Limits for the scheduler stand at the cuts,
    `s_setprio` raises the phase of products.

    Every access to shared memory between two barriers of the loop must come
    before the cut, and each such stretch must multiply: shared memory has two
    stages or more. What does not fit is left alone, with a remark.
  }];
  let options = [
    TunableOption<"enable", "enable", "int64_t", /*default=*/"0", "1 does it where it can be done", [0, 1]>,
    TunableOption<"priority", "priority", "int64_t", /*default=*/"1", "priority of the phase of products", [0, 1, 2, 3]>
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numLoops", "num-loops", "loops whose waves take turns">];
}

def InterleavePass : Pass<"atx-interleave", "::mlir::gpu::GPUFuncOp"> {
  let summary = "interleave loads and stores with matrix instructions";
  let description = [{
    For the bodies of innermost loops with matrix instructions. The backend's
    scheduler is told by `sched_group_barrier` how many instructions of a class
    stand next.

    `pattern` is `off`, `auto`, or a list such as `mfma:4,ds_read:2,vmem_read:1`
    that is repeated until the matrix instructions are used up (classes: alu,
    valu, salu, mfma, vmem, vmem_read, vmem_write, ds, ds_read, ds_write, trans).
    With `auto`, what the first matrix instructions take is read first; other
    reads come two instructions ahead of their use at the latest, and with the
    loads from global memory and the writes to shared memory are spread evenly
    over the matrix instructions, on the right side of barriers. A long body gets
    fewer, larger groups, one of more than 128 matrix instructions none, with a
    remark: the time that the backend takes grows with the third power.

    `boundary=products` puts a limit for the scheduler behind the products that
    others depend on: in attention, between the scores and the softmax.
    `priority` raises the waves' priority in runs of matrix instructions; these
    are then regions of their own. `iglp` names a built-in strategy of the
    backend, which takes the place of the groups. With `sums` N the matrix
    instructions between two barriers finish N sums before they begin the next, so
    that what is made of a sum (a scale, for example) goes beside the next ones;
    0 leaves their order.
  }];
  let options = [
    TunableChoice<"pattern", "pattern", "off", "order of the groups; lists of groups are accepted too", ["off", "auto"]>,
    TunableChoice<"boundary", "boundary", "none", "where the scheduler is limited", ["none", "products"]>,
    TunableOption<"priority", "priority", "int64_t", /*default=*/"0", "priority of matrix instructions", [0, 1, 2, 3]>,
    TunableOption<"iglp", "iglp", "int64_t", /*default=*/"-1", "strategy of the backend, -1 for none", [-1, 0, 1, 2, 3]>,
    TunableOption<"sums", "sums", "int64_t", /*default=*/"0",
                  "sums that are finished before the next begin, 0 leaves the order", [0, 1, 2, 4]>
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::ROCDL::ROCDLDialect"];
  let statistics = [Statistic<"numLoops", "num-loops", "loops with an order">,
                    Statistic<"numGroups", "num-groups", "groups">,
                    Statistic<"numStretches", "num-stretches", "stretches ordered by sums">,
                    Statistic<"numBoundaries", "num-boundaries", "limits behind products">,
                    Statistic<"numPriorities", "num-priorities", "runs of raised priority">];
}

//===----------------------------------------------------------------------===//
// Kernels on tiles: loops and barriers
//===----------------------------------------------------------------------===//

def PeelLoopsPass : Pass<"atx-peel-loops", "::mlir::gpu::GPUFuncOp"> {
  let summary = "take the last, incomplete iteration out of loops over the columns of tensors";
  let description = [{
    For loops in tile form that count from 0 to an extent of a tensor and read tiles of `step` elements or fewer
    along that dimension. With `enable` the loop ends before the last incomplete tile; a copy of its body behind
    it does that one. The positions that the loop reads along the dimension are then all inside, which `atx.inside`
    on the loads tells the passes behind: no compare, no select, and runs as wide as the tile has them. Loops
    whose tiles are all complete, by numbers or by a constraint such as `K % 64 == 0`, are marked in any case.
  }];
  let options = [
    TunableOption<"enable", "enable", "int64_t", /*default=*/"0", "1 does it where a check goes away", [0, 1]>,
    Option<"remarks", "remarks", "bool", /*default=*/"false", "tell which loops are peeled, and why others are not">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numPeeled", "num-peeled", "loops whose last iteration stands behind">,
                    Statistic<"numInside", "num-inside", "loads that need no check any more">];
}

def RemoveBarriersPass : Pass<"atx-remove-barriers", "::mlir::gpu::GPUFuncOp"> {
  let summary = "remove barriers that order nothing, and shared memory that nobody reads";
  let description = [{
    For the program of one lane. A barrier is needed when an access to shared memory before it may meet one behind
    it, with no other barrier between, and one of the two writes. Accesses are told apart by the bytes that
    they may reach: the constant part of the address and the bounds of what is added. A barrier for which no such
    pair is open goes; loops are followed around the back edge. Barriers that also order accesses to
    tensors stay where tensors are accessed, and so do those that wait for copies to shared memory.

    Writes to shared memory at bytes that nothing reads are deleted first.
  }];
  let options = [
    TunableOption<"enable", "enable", "int64_t", /*default=*/"1", "1 removes what is not needed", [0, 1]>,
    Option<"remarks", "remarks", "bool", /*default=*/"false", "tell which barriers go">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect"];
  let statistics = [Statistic<"numRemoved", "num-removed", "barriers that are gone">,
                    Statistic<"numKept", "num-kept", "barriers that order something">,
                    Statistic<"numDeadWrites", "num-dead-writes", "writes to shared memory that nobody reads">];
}

#endif // ATREX_TRANSFORMS_SCHEDULINGPASSES_TD
