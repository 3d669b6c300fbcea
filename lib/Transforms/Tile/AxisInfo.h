//===- AxisInfo.h - What is known about index values ------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts about integer scalars and tiles before they are distributed, from which
// the width of accesses and the checks they need follow.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_AXISINFO_H
#define ATREX_LIB_TRANSFORMS_TILE_AXISINFO_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace atrex::tile {

/// Per dimension of a tile (empty for scalars): `contiguity` c: in aligned
/// groups of c elements each is the one before plus one; `constancy`: in aligned
/// groups all are equal; `divisibility`: the first element of every contiguous
/// group is a multiple of this. Dimensions of extent 1 have constancy of any
/// size.
struct AxisInfo {
  llvm::SmallVector<int64_t> contiguity, constancy, divisibility;
  /// Divisor of a scalar, or of all elements.
  int64_t divisor = 1;
  std::optional<int64_t> constant;
};

/// Inclusive bounds.
struct Bounds {
  int64_t min, max;
};

class IndexAnalysis {
public:
  const AxisInfo &getInfo(mlir::Value value);
  /// Bounds of a scalar or of all elements of a tile; at worst those of an integer of 32 bits or fewer.
  std::optional<Bounds> getRange(mlir::Value value);

private:
  AxisInfo compute(mlir::Value value);
  std::optional<Bounds> computeRange(mlir::Value value);

  llvm::DenseMap<mlir::Value, AxisInfo> infos;
  llvm::DenseMap<mlir::Value, std::optional<Bounds>> ranges;
  unsigned depth = 0;
};

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_AXISINFO_H
