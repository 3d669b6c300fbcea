//===- OperatorExtents.cpp - Extents of an operator's tensors -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperatorExtents.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atrex;
using Kind = DimExpr::Kind;

DimExpr atrex::makeExpr(Kind kind, const DimExpr &lhs, const DimExpr &rhs) {
  std::optional<int64_t> l = lhs.getConstant(), r = rhs.getConstant();
  if (kind == Kind::Mul && (l == 1 || r == 1))
    return l == 1 ? rhs : lhs;
  if (kind == Kind::Add && (l == 0 || r == 0))
    return l == 0 ? rhs : lhs;
  if ((kind == Kind::FloorDiv || kind == Kind::CeilDiv) && r == 1)
    return lhs;
  DimExpr expr = DimExpr::binary(kind, lhs, rhs);
  if (l && r)
    if (std::optional<int64_t> value = expr.substitute({}).getConstant())
      return DimExpr::constant(*value);
  return expr;
}

DimExpr atrex::makeProduct(ArrayRef<DimExpr> factors) {
  DimExpr product = DimExpr::constant(1);
  for (const DimExpr &factor : factors)
    product = makeExpr(Kind::Mul, product, factor);
  return product;
}

Value atrex::emitDimExpr(const DimExpr &expr, llvm::function_ref<Value(StringRef)> getDim, OpBuilder &builder,
                         Location loc) {
  switch (expr.getKind()) {
  case Kind::Constant:
    return arith::ConstantIndexOp::create(builder, loc, expr.getValue());
  case Kind::Dim:
    return getDim(expr.getDim());
  default:
    break;
  }
  Value lhs = emitDimExpr(expr.getLhs(), getDim, builder, loc), rhs = emitDimExpr(expr.getRhs(), getDim, builder, loc);
  if (!lhs || !rhs)
    return {};
  switch (expr.getKind()) {
  case Kind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case Kind::Sub:
    return arith::SubIOp::create(builder, loc, lhs, rhs);
  case Kind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case Kind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  case Kind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  default:
    break;
  }
  // The remainder has the sign of the divisor.
  Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  return arith::SubIOp::create(builder, loc, lhs, arith::MulIOp::create(builder, loc, quotient, rhs));
}

ArrayAttr atrex::getShapeAttr(MLIRContext *context, ArrayRef<DimExpr> shape) {
  SmallVector<Attribute> attrs;
  for (const DimExpr &expr : shape)
    attrs.push_back(StringAttr::get(context, expr.str()));
  return ArrayAttr::get(context, attrs);
}

LogicalResult OperatorExtents::initialize() {
  shapes.resize(func.getNumArguments());
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<ShapedType>(arg.getType());
    if (!type)
      continue;
    unsigned index = arg.getArgNumber();
    auto attr = func.getArgAttrOfType<ArrayAttr>(index, atx::shapeAttrName);
    if (!attr || int64_t(attr.size()) != type.getRank())
      return func.emitError() << "argument " << index << " needs '" << atx::shapeAttrName << "' with " << type.getRank()
                              << " extents";
    for (auto [dim, element] : llvm::enumerate(attr)) {
      auto text = dyn_cast<StringAttr>(element);
      llvm::Expected<DimExpr> expr = DimExpr::parse(text ? text.getValue() : StringRef());
      if (!expr)
        return func.emitError() << "extent " << dim << " of argument " << index << ": "
                                << llvm::toString(expr.takeError());
      std::optional<int64_t> constant = expr->substitute({}).getConstant();
      if (!type.isDynamicDim(dim) && constant != type.getDimSize(dim))
        return func.emitError() << "extent " << dim << " of argument " << index << " is '" << expr->str()
                                << "', its type says " << type;
      shapes[index].push_back(constant ? DimExpr::constant(*constant) : *expr);
    }
  }
  return success();
}

FailureOr<DimExpr> OperatorExtents::getIndex(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return DimExpr::constant(*constant);
  return getIndex(cast<Value>(index));
}

FailureOr<DimExpr> OperatorExtents::getIndex(Value index) {
  IntegerAttr constant;
  if (matchPattern(index, m_Constant(&constant)))
    return DimExpr::constant(constant.getInt());
  Operation *def = index.getDefiningOp();
  if (auto arg = dyn_cast<BlockArgument>(index)) {
    // A dimension that is passed by itself.
    auto name = arg.getOwner()->getParentOp() == func
                    ? func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), atx::nameAttrName)
                    : StringAttr();
    auto dims = func->getAttrOfType<ArrayAttr>(atx::dimsAttrName);
    if (name && dims && llvm::is_contained(dims, name))
      return DimExpr::dim(name.getValue());
    return emitError(index.getLoc()) << "an extent of operator '" << func.getName()
                                     << "' is an argument that names none of its dimensions";
  }
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(def))
    if (std::optional<int64_t> axis = dim.getConstantIndex())
      return getExtent(dim.getSource(), *axis);
  if (auto dim = dyn_cast_or_null<memref::DimOp>(def))
    if (std::optional<int64_t> axis = dim.getConstantIndex())
      return getExtent(dim.getSource(), *axis);
  std::optional<Kind> kind =
      llvm::TypeSwitch<Operation *, std::optional<Kind>>(def)
          .Case<arith::AddIOp>([](auto) { return Kind::Add; })
          .Case<arith::SubIOp>([](auto) { return Kind::Sub; })
          .Case<arith::MulIOp>([](auto) { return Kind::Mul; })
          // Extents are not negative.
          .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>([](auto) { return Kind::FloorDiv; })
          .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([](auto) { return Kind::CeilDiv; })
          .Case<arith::RemSIOp, arith::RemUIOp>([](auto) { return Kind::Mod; })
          .Default([](Operation *) { return std::nullopt; });
  if (!kind)
    return emitError(index.getLoc()) << "an extent of operator '" << func.getName()
                                     << "' does not follow from the shapes of its arguments";
  FailureOr<DimExpr> lhs = getIndex(def->getOperand(0)), rhs = getIndex(def->getOperand(1));
  if (failed(lhs) || failed(rhs))
    return failure();
  return makeExpr(*kind, *lhs, *rhs);
}

FailureOr<DimExpr> OperatorExtents::getExtent(Value tensor, int64_t dim) {
  auto type = cast<ShapedType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return DimExpr::constant(type.getDimSize(dim));
  if (auto arg = dyn_cast<BlockArgument>(tensor)) {
    if (arg.getOwner()->getParentOp() == func)
      return shapes[arg.getArgNumber()][dim];
    return emitError(tensor.getLoc()) << "a tensor is passed to a region of operator '" << func.getName() << "'";
  }
  // Position of a dynamic extent among the operands that give them.
  auto dynamic = [&](ValueRange sizes) { return getIndex(sizes[type.getDynamicDimIndex(dim)]); };
  Operation *def = tensor.getDefiningOp();
  using Result = FailureOr<DimExpr>;
  return llvm::TypeSwitch<Operation *, Result>(def)
      .Case<tensor::EmptyOp>([&](auto op) { return dynamic(op.getDynamicSizes()); })
      .Case<memref::AllocOp>([&](auto op) { return dynamic(op.getDynamicSizes()); })
      .Case<linalg::LinalgOp>(
          [&](auto op) { return getExtent(op.getDpsInits()[cast<OpResult>(tensor).getResultNumber()], dim); })
      .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp op) -> Result {
        SmallVector<OpFoldResult> sizes = op.getMixedSizes();
        llvm::SmallBitVector dropped = op.getDroppedDims();
        for (unsigned i = 0; i < sizes.size(); ++i)
          if (!dropped.test(i) && dim-- == 0)
            return getIndex(sizes[i]);
        return failure();
      })
      .Case<tensor::CastOp>([&](tensor::CastOp op) { return getExtent(op.getSource(), dim); })
      .Case<tensor::CollapseShapeOp>([&](tensor::CollapseShapeOp op) -> Result {
        DimExpr product = DimExpr::constant(1);
        for (int64_t source : op.getReassociationIndices()[dim]) {
          Result extent = getExtent(op.getSrc(), source);
          if (failed(extent))
            return failure();
          product = makeExpr(Kind::Mul, product, *extent);
        }
        return product;
      })
      .Case<tensor::ExpandShapeOp>([&](tensor::ExpandShapeOp op) { return getIndex(op.getMixedOutputShape()[dim]); })
      .Case<tensor::ConcatOp>([&](tensor::ConcatOp op) -> Result {
        if (int64_t(op.getDim()) != dim)
          return getExtent(op.getInputs().front(), dim);
        DimExpr sum = DimExpr::constant(0);
        for (Value input : op.getInputs()) {
          Result extent = getExtent(input, dim);
          if (failed(extent))
            return failure();
          sum = makeExpr(Kind::Add, sum, *extent);
        }
        return sum;
      })
      .Case<atx::TensorScanOp, atx::TensorRankOp>([&](auto op) { return getExtent(op.getInput(), dim); })
      .Case<atx::TensorArgOp>(
          [&](atx::TensorArgOp op) { return getExtent(op.getInput(), dim < int64_t(op.getAxis()) ? dim : dim + 1); })
      .Case<atx::TensorTopkOp>([&](atx::TensorTopkOp op) {
        return dim == int64_t(op.getAxis()) ? getIndex(op.getK()) : getExtent(op.getInput(), dim);
      })
      .Case<atx::TensorHistogramOp>([&](atx::TensorHistogramOp op) { return getIndex(op.getBins()); })
      .Case<atx::TensorTakeOp>([&](atx::TensorTakeOp op) {
        return getExtent(dim == int64_t(op.getAxis()) ? Value(op.getIndex()) : Value(op.getInput()), dim);
      })
      .Default([&](Operation *op) -> Result {
        return op->emitError() << "'" << op->getName() << "' is not known in an operator";
      });
}

FailureOr<SmallVector<DimExpr>> OperatorExtents::getShape(Value tensor) {
  SmallVector<DimExpr> shape;
  for (int64_t dim = 0; dim < cast<ShapedType>(tensor.getType()).getRank(); ++dim) {
    FailureOr<DimExpr> extent = getExtent(tensor, dim);
    if (failed(extent))
      return failure();
    shape.push_back(*extent);
  }
  return shape;
}
