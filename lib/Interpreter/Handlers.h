//===- Handlers.h - Operations the interpreter knows ------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_INTERPRETER_HANDLERS_H
#define ATREX_LIB_INTERPRETER_HANDLERS_H

#include "Elementwise.h"
#include "llvm/ADT/STLExtras.h"

namespace atrex::interp {

void addCoreHandlers(Interpreter &interpreter);
void addTensorHandlers(Interpreter &interpreter);
void addTileHandlers(Interpreter &interpreter);
/// Launches and what stands between them.
void addPlanHandlers(Interpreter &interpreter);

/// Runs the workgroups of a kernel whose arguments have values. With `count` those
/// whose first index in the grid is not below it do nothing.
mlir::LogicalResult runWorkgroups(Interpreter &interpreter, mlir::func::FuncOp kernel, const DimMap &dims,
                                  std::optional<int64_t> count = std::nullopt);

/// Row-major strides of a shape.
llvm::SmallVector<int64_t> getRowMajor(llvm::ArrayRef<int64_t> shape);

/// Calls `visit` with the coordinates of every element of `shape`, the last
/// varying fastest.
template <typename Visit> void forEachIndex(llvm::ArrayRef<int64_t> shape, Visit visit) {
  int64_t total = 1;
  for (int64_t extent : shape)
    total *= extent;
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < total; ++i) {
    visit(llvm::ArrayRef<int64_t>(index), i);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

/// An integer operand that must be known.
mlir::FailureOr<int64_t> getKnownInteger(Interpreter &interpreter, mlir::Operation *op, mlir::Value value);
/// Offsets, sizes or strides: static ones and values.
mlir::FailureOr<llvm::SmallVector<int64_t>> getMixed(Interpreter &interpreter, mlir::Operation *op,
                                                     llvm::ArrayRef<mlir::OpFoldResult> mixed);

/// The elements of `input` at `offsets + i * strides` for every i below `sizes`;
/// failure after an error where one is outside.
mlir::FailureOr<Array> slice(Interpreter &interpreter, mlir::Operation *op, const Array &input,
                             llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                             llvm::ArrayRef<int64_t> strides);
mlir::FailureOr<Array> insertSlice(mlir::Operation *op, const Array &source, const Array &target,
                                   llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                                   llvm::ArrayRef<int64_t> strides);

} // namespace atrex::interp

#endif // ATREX_LIB_INTERPRETER_HANDLERS_H
