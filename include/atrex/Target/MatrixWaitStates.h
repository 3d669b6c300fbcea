//===- MatrixWaitStates.h - Instructions behind a matrix one ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wait states that a program has to leave between a matrix instruction and what
// touches its result or its C, from the CDNA3 and CDNA4 ISA documents and from
// LLVM's hazard recognizer. The device checks code for them, code generation
// adds those that LLVM leaves out.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TARGET_MATRIXWAITSTATES_H
#define ATREX_TARGET_MATRIXWAITSTATES_H

#include <cstdint>

namespace atrex {

/// By the unit that computes: f16, bf16, xf32, i8 and smaller floats; f32; f64 4x4x4 and 16x16x4.
enum class MatrixUnit : uint8_t { None, Xdl, Sgemm, Dgemm4, Dgemm16 };

struct MatrixProducer {
  MatrixUnit unit = MatrixUnit::None;
  /// Of four cycles each.
  unsigned passes = 0;
};

/// Before a use of the result other than as C; `memory`: by vector memory or LDS.
unsigned getResultWaitStates(const MatrixProducer &producer, bool memory, bool isGfx950);
/// Before something that is no matrix instruction overwrites the result.
unsigned getOverwriteWaitStates(const MatrixProducer &producer, bool isGfx950);
/// Before a matrix instruction takes exactly the result as its C.
unsigned getExactCWaitStates(const MatrixProducer &producer, MatrixUnit consumer);
/// Before a matrix instruction takes a part of the result in its C.
unsigned getPartCWaitStates(const MatrixProducer &producer, MatrixUnit consumer, bool isGfx950);
/// Before something that is no matrix instruction overwrites the C that is read during all passes.
unsigned getReadCWaitStates(const MatrixProducer &producer);

/// More than any of these.
constexpr unsigned maxMatrixWaitStates = 20;

} // namespace atrex

#endif // ATREX_TARGET_MATRIXWAITSTATES_H
