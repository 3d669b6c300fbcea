//===- KernelArguments.cpp - Extents of kernel arguments ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace atrex;

FailureOr<SmallVector<DimExpr>> atrex::getShapeExprs(func::FuncOp func, unsigned index) {
  auto attr = func.getArgAttrOfType<ArrayAttr>(index, atx::shapeAttrName);
  auto type = cast<MemRefType>(func.getArgumentTypes()[index]);
  if (!attr || int64_t(attr.size()) != type.getRank())
    return func.emitError() << "argument " << index << " needs '" << atx::shapeAttrName << "' with " << type.getRank()
                            << " extents";
  SmallVector<DimExpr> exprs;
  for (auto [dim, element] : llvm::enumerate(attr)) {
    auto text = dyn_cast<StringAttr>(element);
    if (!text)
      return func.emitError() << "extent " << dim << " of argument " << index << " must be a string";
    llvm::Expected<DimExpr> expr = DimExpr::parse(text.getValue());
    if (!expr)
      return func.emitError() << "extent " << dim << " of argument " << index << ": "
                              << llvm::toString(expr.takeError());
    std::optional<int64_t> constant = expr->getConstant();
    if (type.isDynamicDim(dim) ? constant.has_value() : constant != type.getDimSize(dim))
      return func.emitError() << "extent " << dim << " of argument " << index << " is '" << text.getValue()
                              << "', its type says " << type;
    exprs.push_back(*expr);
  }
  return exprs;
}

FailureOr<Value> atrex::emitExpr(const DimExpr &expr, const llvm::StringMap<Value> &dims, OpBuilder &builder,
                                 Location loc) {
  using Kind = DimExpr::Kind;
  switch (expr.getKind()) {
  case Kind::Constant:
    return Value(arith::ConstantIndexOp::create(builder, loc, expr.getValue()));
  case Kind::Dim:
    if (Value value = dims.lookup(expr.getDim()))
      return value;
    return emitError(loc) << "'" << expr.getDim() << "' is not a run-time dimension of the operator";
  default:
    break;
  }
  FailureOr<Value> lhs = emitExpr(expr.getLhs(), dims, builder, loc);
  FailureOr<Value> rhs = emitExpr(expr.getRhs(), dims, builder, loc);
  if (failed(lhs) || failed(rhs))
    return failure();
  switch (expr.getKind()) {
  case Kind::Add:
    return Value(arith::AddIOp::create(builder, loc, *lhs, *rhs));
  case Kind::Sub:
    return Value(arith::SubIOp::create(builder, loc, *lhs, *rhs));
  case Kind::Mul:
    return Value(arith::MulIOp::create(builder, loc, *lhs, *rhs));
  case Kind::FloorDiv:
    return Value(arith::FloorDivSIOp::create(builder, loc, *lhs, *rhs));
  case Kind::CeilDiv:
    return Value(arith::CeilDivSIOp::create(builder, loc, *lhs, *rhs));
  default:
    // Extents are never negative, so the remainder is the unsigned one.
    return Value(arith::RemUIOp::create(builder, loc, *lhs, *rhs));
  }
}
