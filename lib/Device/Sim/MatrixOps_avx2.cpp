//===- MatrixOps_avx2.cpp - Matrix handlers for one x86 level ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define ATREX_SIM_LEVEL avx2
#include "lib/Device/Sim/MatrixOps.inc"
