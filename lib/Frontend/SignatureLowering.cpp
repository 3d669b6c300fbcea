//===- SignatureLowering.cpp - Functions and dimensions -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SignatureLowering.h"
#include "ElementwiseLowering.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace atrex;
using namespace atrex::frontend;
using namespace mlir;
using mlir::Value;

template <typename Texts> static ArrayAttr toStrings(Builder &b, const Texts &texts) {
  SmallVector<Attribute> attrs;
  for (const auto &text : texts)
    attrs.push_back(b.getStringAttr(text));
  return b.getArrayAttr(attrs);
}

SmallVector<NamedAttribute> atrex::frontend::getArgumentAttrs(Builder &b, const Variable &variable, bool isOutput) {
  SmallVector<NamedAttribute> attrs;
  auto add = [&](StringRef name, Attribute value) { attrs.push_back(b.getNamedAttr(name, value)); };
  add(atx::nameAttrName, b.getStringAttr(variable.name));
  if (variable.isScalar) {
    if (variable.defaultValue)
      add(atx::defaultAttrName, makeLiteralAttr(b.getContext(), variable.type, *variable.defaultValue));
    return attrs;
  }
  add(atx::shapeAttrName,
      toStrings(b, llvm::map_range(variable.shape, [](const Extent &extent) { return extent.value.str(); })));
  if (!variable.strides.empty())
    add("atx.strides",
        toStrings(b, llvm::map_range(variable.strides, [](const DimExpr &stride) { return stride.str(); })));
  if (variable.alignment)
    add("atx.align", b.getI64IntegerAttr(variable.alignment));
  // Arithmetic works on signless integers; the host must know the sign.
  if (variable.type == DataType::U8 || variable.type == DataType::U32)
    add(atx::typeAttrName,
        TypeAttr::get(IntegerType::get(b.getContext(), 8 * getSizeInBytes(variable.type), IntegerType::Unsigned)));
  if (isOutput)
    add(atx::outputAttrName, b.getUnitAttr());
  return attrs;
}

void atrex::frontend::setSignatureAttrs(func::FuncOp function, const Operator &op) {
  Builder b(function.getContext());
  function->setAttr(atx::dimsAttrName, toStrings(b, op.runtimeDims));
  function->setAttr("atx.constraints", toStrings(b, op.constraints));
  if (op.knobs.empty() && op.types.empty())
    return;
  SmallVector<NamedAttribute> knobs;
  for (const Knob &knob : op.knobs)
    knobs.push_back(b.getNamedAttr(knob.name, b.getI64IntegerAttr(knob.value)));
  for (const auto &[name, type] : op.types)
    knobs.push_back(b.getNamedAttr(name, b.getStringAttr(getName(type))));
  function->setAttr("atx.knobs", b.getDictionaryAttr(knobs));
}

SmallVector<int64_t> atrex::frontend::getStaticShape(ArrayRef<Extent> extents) {
  SmallVector<int64_t> shape;
  for (const Extent &extent : extents)
    shape.push_back(extent.constant.value_or(ShapedType::kDynamic));
  return shape;
}

Value atrex::frontend::createDimOperation(OpBuilder &b, Location loc, DimExpr::Kind kind, Value lhs, Value rhs) {
  switch (kind) {
  case DimExpr::Kind::Add:
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case DimExpr::Kind::Sub:
    return arith::SubIOp::create(b, loc, lhs, rhs);
  case DimExpr::Kind::Mul:
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case DimExpr::Kind::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
  case DimExpr::Kind::CeilDiv:
    return arith::CeilDivSIOp::create(b, loc, lhs, rhs);
  default:
    break;
  }
  // The remainder has the sign of the divisor.
  Value quotient = arith::FloorDivSIOp::create(b, loc, lhs, rhs);
  Value product = arith::MulIOp::create(b, loc, quotient, rhs);
  return arith::SubIOp::create(b, loc, lhs, product);
}

TypedAttr atrex::frontend::makeDimAttr(MLIRContext *context, DataType type, int64_t value) {
  Type mlirType = getMLIRType(context, type);
  auto floatType = dyn_cast<FloatType>(mlirType);
  if (!floatType)
    return IntegerAttr::get(mlirType, value);
  llvm::APFloat number(floatType.getFloatSemantics());
  number.convertFromAPInt(llvm::APInt(64, value, /*isSigned=*/true), /*IsSigned=*/true,
                          llvm::APFloat::rmNearestTiesToEven);
  return FloatAttr::get(floatType, number);
}

Value atrex::frontend::castDim(OpBuilder &b, Location loc, DataType type, Value index) {
  if (type == DataType::I32)
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  return type == DataType::I64 ? wide : arith::SIToFPOp::create(b, loc, getMLIRType(b.getContext(), type), wide);
}
