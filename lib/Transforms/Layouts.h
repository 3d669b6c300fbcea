//===- Layouts.h - Layouts on both sides of an operation --------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `atx-assign-layouts` propagates and `atx-distribute` relies on.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_LAYOUTS_H
#define ATREX_LIB_TRANSFORMS_LAYOUTS_H

#include "dialects/Atx/AtxDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace atrex {

/// Dimensions of `to` that hold the dimensions of `from`, where `to` has the
/// same elements with unit dimensions added. Empty when it is another cast.
std::optional<mlir::SmallVector<unsigned>> matchUnitExpansion(mlir::VectorType from, mlir::VectorType to);

/// Renames dimensions of a layout.
atx::TVAttr renumber(atx::TVAttr layout, mlir::ArrayRef<unsigned> positions);

/// The layout of a vector seen through a cast that drops those of its `rank`
/// dimensions, of one element each, that are not in `positions`.
atx::TVAttr dropUnits(atx::TVAttr layout, unsigned rank, mlir::ArrayRef<unsigned> positions);

/// The layout that the result of a cast from `from` to `to` has where its source
/// has `layout`; null for a cast that moves elements.
atx::TVAttr castLayout(atx::TVAttr layout, mlir::VectorType from, mlir::VectorType to);

/// The layout that the source of a broadcast needs where its result has `layout`.
atx::TVAttr getBroadcastSource(atx::TVAttr layout, mlir::VectorType from, mlir::VectorType to);

} // namespace atrex

#endif // ATREX_LIB_TRANSFORMS_LAYOUTS_H
