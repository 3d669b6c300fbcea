//===- MatrixWaitStates.cpp - Instructions behind a matrix one ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Target/MatrixWaitStates.h"

using namespace atrex;

unsigned atrex::getResultWaitStates(const MatrixProducer &producer, bool memory, bool isGfx950) {
  switch (producer.unit) {
  case MatrixUnit::Xdl:
    return producer.passes + (isGfx950 && producer.passes >= 4 ? 4 : 3);
  case MatrixUnit::Sgemm:
    return producer.passes + 2;
  case MatrixUnit::Dgemm4:
    return memory ? 9 : 6;
  case MatrixUnit::Dgemm16:
    return memory ? 18 : isGfx950 ? 19 : 11;
  case MatrixUnit::None:
    break;
  }
  return 0;
}

unsigned atrex::getOverwriteWaitStates(const MatrixProducer &producer, bool isGfx950) {
  // LLVM waits as on gfx942 before a double result is overwritten.
  return producer.unit == MatrixUnit::Dgemm16 ? 11 : getResultWaitStates(producer, /*memory=*/false, isGfx950);
}

unsigned atrex::getExactCWaitStates(const MatrixProducer &producer, MatrixUnit consumer) {
  if (producer.unit == MatrixUnit::Dgemm4)
    return consumer == MatrixUnit::Dgemm4 ? 4 : 0;
  return producer.unit == MatrixUnit::Dgemm16 || producer.passes != 2 ? 0 : 2;
}

unsigned atrex::getPartCWaitStates(const MatrixProducer &producer, MatrixUnit consumer, bool isGfx950) {
  bool toXdl = consumer == MatrixUnit::Xdl;
  switch (producer.unit) {
  case MatrixUnit::Dgemm16:
    return toXdl ? 0 : isGfx950 ? 17 : 9;
  case MatrixUnit::Dgemm4:
    return toXdl ? 0 : 4;
  case MatrixUnit::Xdl:
    // Behind two passes, f32 and f64 consumers need no more than on gfx942.
    return producer.passes + (isGfx950 && (producer.passes >= 4 || toXdl) ? 2 : 1);
  default:
    return toXdl ? 0 : producer.passes;
  }
}

unsigned atrex::getReadCWaitStates(const MatrixProducer &producer) {
  return producer.unit == MatrixUnit::Xdl && producer.passes > 1 ? producer.passes - 1 : 0;
}
