//===- GridOrder.cpp - Which tile a workgroup takes -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Transforms/GridOrder.h"
#include "KernelGrid.h"
#include "atrex/Target/TargetChip.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

namespace atrex {
#define GEN_PASS_DEF_GRIDORDERPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

/// Arithmetic on 32-bit numbers without sign: a grid has fewer than 2^32 workgroups.
struct IRArith {
  using Number = Value;
  OpBuilder &b;
  Location loc;

  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value))); }
  std::optional<int64_t> getConstant(Value value) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return int64_t(number.getZExtValue());
    return std::nullopt;
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(loc, x, y); }
  Value rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(loc, x, y); }
  // Both are below 2^31, and ranges of signed ones are followed.
  Value min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
  Value select(Value bit, Value ifOne, Value ifZero) {
    Value isOne = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bit, constant(0));
    return b.createOrFold<arith::SelectOp>(loc, isOne, ifOne, ifZero);
  }
};

class GridOrder : public atrex::impl::GridOrderPassBase<GridOrder> {
public:
  using GridOrderPassBase::GridOrderPassBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(atx::kernelAttrName) || kernel.isExternal())
      return;
    if (failed(reorder(kernel)))
      signalPassFailure();
  }

private:
  FailureOr<GridOrderSettings> readSettings(Operation *op);
  LogicalResult reorder(func::FuncOp kernel);
};

} // namespace

FailureOr<GridOrderSettings> GridOrder::readSettings(Operation *op) {
  GridOrderSettings settings;
  auto order = llvm::StringSwitch<std::optional<TileOrder>>(this->order)
                   .Case("column", TileOrder::Column)
                   .Case("row", TileOrder::Row)
                   .Case("grouped", TileOrder::Grouped)
                   .Case("xcd", TileOrder::XCD)
                   .Default(std::nullopt);
  if (!order)
    return op->emitError() << "option 'order' is '" << this->order << "'; it is one of column, row, grouped, xcd";
  auto causal = llvm::StringSwitch<std::optional<CausalOrder>>(this->causal)
                    .Case("none", CausalOrder::None)
                    .Case("reverse", CausalOrder::Reverse)
                    .Case("zigzag", CausalOrder::Zigzag)
                    .Default(std::nullopt);
  if (!causal)
    return op->emitError() << "option 'causal' is '" << this->causal << "'; it is one of none, reverse, zigzag";
  if (group < 1 || group > 65536)
    return op->emitError() << "option 'group' is " << int64_t(group) << "; it must be from 1 to 65536";
  if (causalAxis < 0 || causalAxis > 2)
    return op->emitError() << "option 'causal-axis' is " << int64_t(causalAxis) << "; a grid has axes 0, 1 and 2";
  if (xcds < 0 || xcds > 1024)
    return op->emitError() << "option 'xcds' is " << int64_t(xcds) << "; it must be from 0 to 1024";
  const ChipInfo *chip = getTarget(op, arch);
  if (!chip)
    return failure();
  settings.order = *order;
  settings.causal = *causal;
  settings.causalAxis = unsigned(causalAxis);
  settings.group = group;
  settings.xcds = xcds == 0 ? chip->xcds : int64_t(xcds);
  return settings;
}

LogicalResult GridOrder::reorder(func::FuncOp kernel) {
  FailureOr<GridOrderSettings> settings = readSettings(kernel);
  if (failed(settings))
    return failure();
  if (settings->isIdentity())
    return success();
  SmallVector<gpu::BlockIdOp> ids;
  kernel.walk([&](gpu::BlockIdOp id) { ids.push_back(id); });
  if (ids.empty())
    return success();
  FailureOr<std::array<DimExpr, 3>> grid = getGridExprs(kernel);
  if (failed(grid))
    return failure();
  unsigned longAxes = llvm::count_if(*grid, [](const DimExpr &extent) { return extent.getConstant() != 1; });
  if (settings->causal == CausalOrder::None && settings->order != TileOrder::XCD && longAxes < 2)
    return success();
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = ids.front().getLoc();
  FailureOr<llvm::StringMap<Value>> dims = emitDims(kernel, *grid, b);
  if (failed(dims))
    return failure();
  IRArith arith{b, loc};
  std::array<Value, 3> id, extents;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (std::optional<int64_t> constant = (*grid)[axis].getConstant()) {
      extents[axis] = arith.constant(*constant);
    } else {
      FailureOr<Value> extent = emitExpr((*grid)[axis], *dims, b, loc);
      if (failed(extent))
        return failure();
      extents[axis] = arith::IndexCastOp::create(b, loc, b.getI32Type(), *extent);
    }
    if ((*grid)[axis].getConstant() == 1) {
      id[axis] = arith.constant(0);
      continue;
    }
    Value raw = gpu::BlockIdOp::create(b, loc, gpu::Dimension(axis));
    id[axis] = arith::IndexCastOp::create(b, loc, b.getI32Type(), raw);
  }
  std::array<Value, 3> tile = orderTile(arith, id, extents, *settings);
  std::array<Value, 3> indices;
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto cast = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), tile[axis]);
    // The first index is compared with the count of a launch that has one.
    cast->setAttr(tileIndexAttrName, b.getI64IntegerAttr(axis));
    indices[axis] = cast;
  }
  for (gpu::BlockIdOp old : ids) {
    old.replaceAllUsesWith(indices[unsigned(old.getDimension())]);
    old.erase();
  }
  kernel->setAttr(reorderedAttrName, b.getUnitAttr());
  ++numReordered;
  return success();
}
