//===- Passes.td - Passes from fragment form to LLVM -------*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_CONVERSION_PASSES_TD
#define ATREX_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandBF16Pass : Pass<"atx-expand-bf16", "::mlir::gpu::GPUFuncOp"> {
  let summary = "expand rounding to bf16 on chips without the conversion";
  let description = [{
    Rounds f32 to bf16, to nearest even, in two integer instructions per
    element. A NaN stays a NaN: where its payload could be lost by the short
    form it is tested for, which is the case only for values that come from f32
    memory; scalar kernel arguments are made canonical once instead. Chips with
    a conversion instruction keep it.
  }];
  let options = [Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numShort", "num-short", "conversions without a NaN test">,
                    Statistic<"numGuarded", "num-guarded", "conversions with a NaN test">];
}

def LowerLaneReducePass : Pass<"atx-lower-lane-reduce", "::mlir::gpu::GPUFuncOp"> {
  let summary = "lower lane reductions to DPP and one LDS exchange";
  let description = [{
    Up to 64 lanes a reduction becomes `gpu.subgroup_reduce`, lowered to DPP by
    upstream. Beyond, the first lane of each wave writes the partial results of
    all values to LDS, one barrier follows, and every lane combines the partial
    results of its group in the order of the waves. Each reduction has its own
    LDS slots, so that one barrier is enough; inside a loop a second one keeps
    the turns apart.
  }];
  let options = [Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip">];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
                           "::mlir::ROCDL::ROCDLDialect"];
}

def LowerAtxPass : Pass<"atx-lower"> {
  let summary = "lower the atx dialect to arith, scf, vector and LLVM pointers";
  let description = [{
    Values of the layout algebra become one i64 per dynamic leaf, views a base
    pointer, an offset and leaves, fragments one vector per chunk. The algebra
    runs on the leaves with the same decisions as type inference. Copies and
    matrix products become instructions of their atoms, with addresses split
    into base, run-time offset and constant. A copy between two memories, and a
    product with both factors in memory, keep a loop where more than
    `unroll-limit` instructions would be written out.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip">,
    Option<"unrollLimit", "unroll-limit", "int64_t", /*default=*/"256", "accesses or products that are written out before a loop is kept">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ConvertToROCDLPass : Pass<"atx-convert-to-rocdl", "::mlir::gpu::GPUModuleOp"> {
  let summary = "convert a kernel module to the LLVM and ROCDL dialects";
  let description = [{
    Upstream's conversions of gpu, amdgpu, arith, math, memref, vector, scf and
    cf, plus the operations of `atx_amdgpu`, in one conversion: math functions
    become LLVM intrinsics that the AMDGPU backend selects itself, never calls of
    a device library. Kernel arguments are bare pointers.
  }];
  let options = [Option<"arch", "arch", "std::string", /*default=*/"\"gfx942\"", "architecture or chip">,
                 Option<"waves", "waves", "unsigned", /*default=*/"0",
                        "waves that a SIMD must have registers for, 0 leaves it to LLVM; one of 0, 1, 2, 3, 4">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
}

#endif // ATREX_CONVERSION_PASSES_TD
