//===- LowerRaw.cpp - Programs of one lane inside tile form ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

LogicalResult tile::lowerRaw(TileEmitter &e, Operation *op) {
  auto raw = cast<atx::TileRawOp>(op);
  Block &body = raw.getBody().front();
  IRMapping map;
  for (auto [input, arg] : llvm::zip_equal(raw.getInputs(), body.getArguments())) {
    Value value = e.getScalar(input);
    if (value.getType() != arg.getType())
      return op->emitError() << "a lane holds " << value.getType() << " of an operand of type " << input.getType()
                             << ", the region takes " << arg.getType();
    map.map(arg, value);
  }
  for (Operation &inner : body.without_terminator())
    e.b.clone(inner, map);
  for (auto [result, yielded] : llvm::zip_equal(raw.getResults(), body.getTerminator()->getOperands())) {
    Value value = map.lookup(yielded);
    if (auto type = dyn_cast<VectorType>(result.getType())) {
      auto lane = VectorType::get(e.getLayout(result).getNumRegisters(), type.getElementType());
      if (value.getType() != lane)
        return op->emitError() << "the region yields " << value.getType() << " for a result of type " << type
                               << " of which a lane holds " << lane << " in layout " << e.getLayout(result).str();
    }
    e.setScalar(result, value);
  }
  // What the region does to shared memory is not known.
  e.forgetScratch();
  return success();
}
