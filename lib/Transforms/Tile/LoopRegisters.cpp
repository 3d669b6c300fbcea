//===- LoopRegisters.cpp - What a loop on tiles holds -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopRegisters.h"
#include "TileLowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

/// Addresses, counters and what the backend needs in passing.
static constexpr int64_t reservedRegisters = 24;

std::optional<int64_t> tile::getRegisters(Operation *op, unsigned result) {
  auto layouts = op->getAttrOfType<ArrayAttr>(atx::tileLayoutsAttrName);
  if (!layouts || result >= layouts.size())
    return std::nullopt;
  auto type = dyn_cast<VectorType>(op->getResult(result).getType());
  auto layout = dyn_cast<atx::TileLayoutAttr>(layouts[result]);
  if (!type || !layout)
    return std::nullopt;
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : std::max<int64_t>(8, element.getIntOrFloatBitWidth());
  return llvm::divideCeil(TileLayout(layout).getNumRegisters() * bits, 32);
}

LoopRegisters tile::estimateRegisters(scf::ForOp loop, const ChipInfo &chip, int64_t threads) {
  LoopRegisters result;
  int64_t waves = std::max<int64_t>(2, llvm::divideCeil(threads, 64 * int64_t(chip.simdsPerCU)));
  int64_t held = reservedRegisters;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    held += getRegisters(loop, i).value_or(1);
  loop.getBody()->walk([&](Operation *op) {
    if (op->getNumResults() != 1)
      return;
    int64_t size = getRegisters(op).value_or(0);
    if (isa<atx::StageReadOp, atx::ConvertLayoutOp>(op))
      result.reads += size;
    else if (isa<atx::TileLoadOp>(op))
      result.loads += size;
    else if (auto contract = dyn_cast<vector::ContractionOp>(op); contract && contract.getAcc().getDefiningOp())
      held += size;
  });
  result.room = int64_t(chip.vgprsPerSIMD) / waves - held - result.loads - result.reads;
  return result;
}

scf::ForOp tile::carryTiles(RewriterBase &rewriter, scf::ForOp loop, ArrayRef<Operation *> ops, ArrayRef<Value> first,
                            ArrayRef<Value> next) {
  rewriter.setInsertionPoint(loop);
  FailureOr<LoopLikeOpInterface> replaced = loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return SmallVector<Value>(next); });
  assert(succeeded(replaced) && "a loop can always carry more");
  auto fresh = cast<scf::ForOp>(replaced->getOperation());
  SmallVector<Attribute> layouts;
  if (auto old = fresh->getAttrOfType<ArrayAttr>(atx::tileLayoutsAttrName))
    llvm::append_range(layouts, old);
  layouts.resize(fresh.getNumRegionIterArgs() - ops.size(), rewriter.getUnitAttr());
  for (auto [op, arg] : llvm::zip_equal(ops, fresh.getRegionIterArgs().take_back(ops.size()))) {
    layouts.push_back(op->getAttrOfType<ArrayAttr>(atx::tileLayoutsAttrName)[0]);
    rewriter.replaceOp(op, arg);
  }
  fresh->setAttr(atx::tileLayoutsAttrName, rewriter.getArrayAttr(layouts));
  return fresh;
}
