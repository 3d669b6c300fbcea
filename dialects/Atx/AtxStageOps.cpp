//===- AtxStageOps.cpp - Tiles staged in shared memory --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Atx/AtxDialect.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

LogicalResult StageType::verify(function_ref<InFlightDiagnostic()> emitError, VectorType tile) {
  if (!isTileType(tile))
    return emitError() << "a stage holds tiles of rank 1 or more, static shape and at most 4194304 elements, not "
                       << tile;
  return success();
}

LogicalResult StageAllocOp::verify() {
  VectorType tile = getStage().getType().getTile();
  if (int64_t(getSlots()) < 1 || int64_t(getSlots()) > 8)
    return emitOpError() << "a stage has 1 to 8 slots, not " << int64_t(getSlots());
  SmallVector<int64_t> sorted(getOrder());
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, tile.getRank())))
    return emitOpError() << "'order' must name each of the " << tile.getRank() << " dimensions of " << tile << " once";
  Type element = tile.getElementType();
  int64_t bytes = element.isIndex() ? 8 : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  if (int64_t pad = getPad().value_or(0); pad < 0 || pad > 4096 || pad % bytes != 0)
    return emitOpError() << "'pad' must be a multiple of the " << bytes << " bytes of an element from 0 to 4096, not "
                         << pad;
  if (std::optional<ArrayRef<int64_t>> swizzle = getSwizzle()) {
    bool isValid = !swizzle->empty() && swizzle->size() % 3 == 0 && swizzle->size() <= 6;
    for (size_t i = 0; isValid && i < swizzle->size(); i += 3)
      isValid = (*swizzle)[i] >= 0 && (*swizzle)[i] <= 5 && (*swizzle)[i + 1] >= 0 && (*swizzle)[i + 1] <= 7 &&
                (*swizzle)[i + 2] >= (*swizzle)[i] && (*swizzle)[i + 2] <= 8;
    if (!isValid)
      return emitOpError() << "'swizzle' is [bits, base, shift], once or twice, with bits 0 to 5, base 0 to 7, shift "
                              "from bits to 8";
    for (size_t i = 1; i < swizzle->size(); i += 3)
      if ((int64_t(1) << (*swizzle)[i]) < bytes)
        return emitOpError() << "'swizzle' with base " << (*swizzle)[i] << " would take apart elements of " << bytes
                             << " bytes";
    if (getPad().value_or(0) != 0)
      return emitOpError() << "a stage is padded or swizzled, not both";
  }
  return success();
}
