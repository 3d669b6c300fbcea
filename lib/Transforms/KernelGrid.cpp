//===- KernelGrid.cpp - The grid of a kernel on tiles ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGrid.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace atrex;

FailureOr<std::array<DimExpr, 3>> atrex::getGridExprs(func::FuncOp kernel) {
  auto grid = kernel->getAttrOfType<ArrayAttr>(atx::gridAttrName);
  if (!grid || grid.empty() || grid.size() > 3 || !llvm::all_of(grid, llvm::IsaPred<StringAttr>))
    return kernel.emitError() << "kernel needs 1 to 3 extents as texts in '" << atx::gridAttrName << "'";
  std::array<DimExpr, 3> exprs = {DimExpr::constant(1), DimExpr::constant(1), DimExpr::constant(1)};
  for (auto [axis, attr] : llvm::enumerate(grid)) {
    llvm::Expected<DimExpr> expr = DimExpr::parse(cast<StringAttr>(attr).getValue());
    if (!expr)
      return kernel.emitError() << "extent " << axis << " of '" << atx::gridAttrName
                                << "': " << llvm::toString(expr.takeError());
    exprs[axis] = expr->substitute({});
  }
  return exprs;
}

FailureOr<llvm::StringMap<Value>> atrex::emitDims(func::FuncOp kernel, ArrayRef<DimExpr> exprs, OpBuilder &builder) {
  std::set<std::string> names;
  for (const DimExpr &expr : exprs)
    expr.collectDims(names);
  llvm::StringMap<Value> dims;
  for (const std::string &name : names) {
    Value found;
    for (BlockArgument arg : kernel.getArguments()) {
      if (found)
        break;
      if (arg.getType().isIndex()) {
        auto own = kernel.getArgAttrOfType<StringAttr>(arg.getArgNumber(), atx::nameAttrName);
        if (own && own.getValue() == name)
          found = arg;
        continue;
      }
      auto shape = kernel.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), atx::shapeAttrName);
      if (!shape || !isa<MemRefType>(arg.getType()))
        continue;
      for (auto [axis, extent] : llvm::enumerate(shape))
        if (auto text = dyn_cast<StringAttr>(extent); text && text.getValue() == name && !found) {
          Value at = arith::ConstantIndexOp::create(builder, kernel.getLoc(), int64_t(axis));
          found = memref::DimOp::create(builder, kernel.getLoc(), arg, at);
        }
    }
    if (!found)
      return kernel.emitError() << "dimension '" << name << "' of the grid follows from none of the arguments";
    dims[name] = found;
  }
  return dims;
}

std::array<Value, 3> atrex::emitCoordinates(Value linear, ArrayRef<Value> extents, OpBuilder &builder, Location loc) {
  std::array<Value, 3> result;
  for (unsigned axis = 0; axis < 2; ++axis) {
    result[axis] = builder.createOrFold<arith::RemUIOp>(loc, linear, extents[axis]);
    linear = builder.createOrFold<arith::DivUIOp>(loc, linear, extents[axis]);
  }
  result[2] = linear;
  return result;
}

DimExpr atrex::foldExpr(DimExpr::Kind kind, const DimExpr &lhs, const DimExpr &rhs) {
  return DimExpr::binary(kind, lhs, rhs).substitute({});
}

DimExpr atrex::getBalancedWorkgroups(const DimExpr &tiles, int64_t most) {
  using Kind = DimExpr::Kind;
  // 1 / (tiles + 1) is 1 for no tiles, and 0 otherwise.
  DimExpr one = DimExpr::constant(1);
  DimExpr positive = foldExpr(Kind::Add, tiles, foldExpr(Kind::FloorDiv, one, foldExpr(Kind::Add, tiles, one)));
  return foldExpr(Kind::CeilDiv, tiles, foldExpr(Kind::CeilDiv, positive, DimExpr::constant(most)));
}
