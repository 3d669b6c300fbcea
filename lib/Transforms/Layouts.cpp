//===- Layouts.cpp - Layouts on both sides of an operation ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace atrex;

std::optional<SmallVector<unsigned>> atrex::matchUnitExpansion(VectorType from, VectorType to) {
  SmallVector<unsigned> positions;
  unsigned next = 0;
  for (auto [dim, extent] : llvm::enumerate(to.getShape())) {
    if (next < from.getRank() && from.getDimSize(next) == extent) {
      positions.push_back(dim);
      ++next;
    } else if (extent != 1) {
      return std::nullopt;
    }
  }
  if (next != from.getRank())
    return std::nullopt;
  return positions;
}

atx::TVAttr atrex::renumber(atx::TVAttr layout, ArrayRef<unsigned> positions) {
  SmallVector<int64_t> tDims(layout.getThreadDims()), vDims(layout.getValueDims());
  for (auto [dim, step] : llvm::zip_equal(tDims, layout.getThreadSteps()))
    dim = step == 0 ? 0 : positions[dim];
  for (int64_t &dim : vDims)
    dim = positions[dim];
  return atx::TVAttr::get(layout.getContext(), layout.getThreadShape(), layout.getThreadSteps(), tDims,
                          layout.getValueShape(), layout.getValueSteps(), vDims);
}

atx::TVAttr atrex::dropUnits(atx::TVAttr layout, unsigned rank, ArrayRef<unsigned> positions) {
  llvm::SmallBitVector dropped(rank, true);
  for (unsigned position : positions)
    dropped.reset(position);
  return layout.project(dropped);
}

atx::TVAttr atrex::castLayout(atx::TVAttr layout, VectorType from, VectorType to) {
  if (auto positions = matchUnitExpansion(from, to))
    return renumber(layout, *positions);
  if (auto positions = matchUnitExpansion(to, from))
    return dropUnits(layout, from.getRank(), *positions);
  return {};
}

atx::TVAttr atrex::getBroadcastSource(atx::TVAttr layout, VectorType from, VectorType to) {
  // Dimensions that the source lacks or has with extent 1 disappear; those with
  // extent 1 come back without modes.
  unsigned lead = to.getRank() - from.getRank();
  llvm::SmallBitVector dropped(to.getRank());
  SmallVector<unsigned> positions;
  for (unsigned dim = 0; dim < to.getRank(); ++dim) {
    if (dim < lead || (from.getDimSize(dim - lead) == 1 && to.getDimSize(dim) != 1))
      dropped.set(dim);
    else
      positions.push_back(dim - lead);
  }
  return renumber(layout.project(dropped), positions);
}
