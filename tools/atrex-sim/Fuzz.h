//===- Fuzz.h - The command `atrex-sim fuzz` --------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_SIM_FUZZ_H
#define ATREX_TOOLS_ATREX_SIM_FUZZ_H

#include "llvm/Support/CommandLine.h"

llvm::cl::SubCommand &getFuzzCommand();
/// Exit code.
int runFuzz();

#endif // ATREX_TOOLS_ATREX_SIM_FUZZ_H
