//===- PassDeclarations.td - All passes with options -------*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "atrex/Transforms/Passes.td"
include "atrex/Transforms/SchedulingPasses.td"
