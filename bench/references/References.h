//===- References.h - Families of references --------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_REFERENCES_H
#define ATREX_BENCH_REFERENCES_H

#include "Table.h"

namespace atrex::bench {

/// Norms, activations and sums by row.
llvm::ArrayRef<const Operator *> getRowOperators();
llvm::ArrayRef<OperatorTable> getAttentionTables();
llvm::ArrayRef<OperatorTable> getRecurrenceTables();
llvm::ArrayRef<OperatorTable> getProductTables();
llvm::ArrayRef<OperatorTable> getHeadTables();
llvm::ArrayRef<OperatorTable> getQuantiserTables();
llvm::ArrayRef<OperatorTable> getRoutingTables();

} // namespace atrex::bench

#endif // ATREX_BENCH_REFERENCES_H
