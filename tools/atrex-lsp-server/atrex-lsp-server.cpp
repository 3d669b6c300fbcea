//===- atrex-lsp-server.cpp - Language server for the dialects ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Diagnostics, hover and navigation in .mlir files with operations of the
// project: an editor starts it in place of mlir-lsp-server.
//
//===----------------------------------------------------------------------===//

#include "atrex/Pipelines/Pipelines.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  atrex::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
