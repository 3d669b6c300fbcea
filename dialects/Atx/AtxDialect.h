//===- AtxDialect.h - Target-neutral kernel dialect -------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DIALECTS_ATX_ATXDIALECT_H
#define ATREX_DIALECTS_ATX_ATXDIALECT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "llvm/ADT/SmallBitVector.h"

#include "dialects/Atx/AtxDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Atx/AtxAttrs.h.inc"

namespace atrex::atx {

/// Names of the discardable attributes.
constexpr llvm::StringLiteral operatorAttrName = "atx.operator";
constexpr llvm::StringLiteral dimsAttrName = "atx.dims";
constexpr llvm::StringLiteral nameAttrName = "atx.name";
constexpr llvm::StringLiteral shapeAttrName = "atx.shape";
constexpr llvm::StringLiteral typeAttrName = "atx.type";
constexpr llvm::StringLiteral outputAttrName = "atx.output";
constexpr llvm::StringLiteral defaultAttrName = "atx.default";
constexpr llvm::StringLiteral mappingAttrName = "atx.mapping";
constexpr llvm::StringLiteral layoutAttrName = "atx.layout";
constexpr llvm::StringLiteral kernelArgsAttrName = "atx.args";

} // namespace atrex::atx

#endif // ATREX_DIALECTS_ATX_ATXDIALECT_H
