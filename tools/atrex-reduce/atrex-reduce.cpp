//===- atrex-reduce.cpp - Reduces inputs of atrex-opt ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shrinks a module while a script keeps calling it interesting:
//
//   atrex-reduce big.mlir -opt-reduction-pass='opt-pass=cse test=script.sh'
//
// The script gets a file and exits with 1 when the module is interesting.
//
//===----------------------------------------------------------------------===//

#include "atrex/Pipelines/Pipelines.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  atrex::registerAllDialects(registry);
  atrex::registerAllPasses();
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
