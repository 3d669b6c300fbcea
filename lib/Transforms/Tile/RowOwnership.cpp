//===- RowOwnership.cpp - Which rows a workgroup writes -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowOwnership.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

static constexpr unsigned allAxes = 7;

/// Axes of the grid on which `value` depends. Memory that the kernel writes may hold anything.
static unsigned collectAxes(Value value, func::FuncOp func, DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return 0;
  unsigned axes = 0;
  auto collectOperands = [&](Operation *op) {
    for (Value operand : op->getOperands())
      axes |= collectAxes(operand, func, seen);
  };
  Operation *op = value.getDefiningOp();
  if (!op) {
    Operation *parent = cast<BlockArgument>(value).getOwner()->getParentOp();
    if (parent != func)
      parent->walk([&](Operation *inner) { collectOperands(inner); });
    return axes;
  }
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return 1u << unsigned(id.getDimension());
  if (auto load = dyn_cast<atx::TileLoadOp>(op)) {
    auto memory = dyn_cast<BlockArgument>(load.getMemory());
    if (!memory || func.getArgAttr(memory.getArgNumber(), atx::outputAttrName) ||
        func.getArgAttr(memory.getArgNumber(), atx::workspaceAttrName))
      return allAxes;
  } else if (op->getNumRegions() == 0 && !isMemoryEffectFree(op)) {
    return allAxes;
  }
  collectOperands(op);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) { collectOperands(inner); });
  return axes;
}

/// Position of the workgroup times a constant.
struct ScaledId {
  unsigned axis;
  int64_t factor;
};

static std::optional<ScaledId> matchScaledId(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return ScaledId{unsigned(id.getDimension()), 1};
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return matchScaledId(op->getOperand(0));
  if (!isa<arith::MulIOp>(op))
    return std::nullopt;
  for (unsigned side = 0; side < 2; ++side) {
    APInt factor;
    if (!matchPattern(op->getOperand(1 - side), m_ConstantInt(&factor)) || factor.getSignificantBits() > 32)
      continue;
    std::optional<ScaledId> id = matchScaledId(op->getOperand(side));
    if (id && id->factor == 1)
      return ScaledId{id->axis, factor.getSExtValue()};
  }
  return std::nullopt;
}

static Value skipShapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<vector::BroadcastOp, vector::ShapeCastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Rows `w * extent + iota(extent)` of workgroup w along an axis, or row w itself.
static void matchTile(Value index, RowOwnership &owned) {
  if (std::optional<ScaledId> id = matchScaledId(index); id && id->factor == 1) {
    owned.axis = id->axis;
    owned.extent = 1;
    return;
  }
  auto sum = skipShapes(index).getDefiningOp<arith::AddIOp>();
  if (!sum)
    return;
  for (unsigned side = 0; side < 2; ++side) {
    auto iota = skipShapes(sum->getOperand(side)).getDefiningOp<atx::TileIotaOp>();
    std::optional<ScaledId> id = matchScaledId(skipShapes(sum->getOperand(1 - side)));
    if (!iota || !id || id->factor != cast<VectorType>(iota.getType()).getNumElements())
      continue;
    owned.axis = id->axis;
    owned.extent = id->factor;
    return;
  }
}

std::optional<RowOwnership> tile::findRowOwnership(func::FuncOp func, BlockArgument arg) {
  bool isOutput = func.getArgAttr(arg.getArgNumber(), atx::outputAttrName) != nullptr;
  std::optional<RowOwnership> result;
  for (Operation *user : arg.getUsers()) {
    OperandRange indices = user->getOperands();
    if (auto store = dyn_cast<atx::TileStoreOp>(user); store && store.getMemory() == arg)
      indices = store.getIndices();
    else if (auto load = dyn_cast<atx::TileLoadOp>(user); load && !isOutput)
      indices = load.getIndices();
    else
      return std::nullopt;
    if (indices.empty())
      return std::nullopt;
    RowOwnership owned;
    DenseSet<Value> seen;
    owned.axes = collectAxes(indices.front(), func, seen);
    matchTile(indices.front(), owned);
    if (!result) {
      result = owned;
      continue;
    }
    result->axes |= owned.axes;
    if (result->extent != owned.extent || result->axis != owned.axis)
      result->extent = std::nullopt;
  }
  return result;
}
