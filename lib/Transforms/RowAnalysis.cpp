//===- RowAnalysis.cpp - What the row mapping takes -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the dimensions of the results backwards through the operator as
// atx-vectorize-tile does, before anything is rewritten, and looks at each
// operation with the eyes of the passes that come later.
//
//===----------------------------------------------------------------------===//

#include "RowAnalysis.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;

namespace {

class RowAnalysis {
public:
  RowAnalysis(func::FuncOp func, std::string &reason, Location &where) : func(func), reason(reason), where(where) {}

  bool run(const ChipInfo *chip);

private:
  bool fail(Location loc, const Twine &text) {
    reason = text.str();
    where = loc;
    return false;
  }
  bool checkResults();
  bool checkOp(Operation &op);
  bool checkLinalg(linalg::LinalgOp op);
  SmallVector<int64_t> &getDims(Value tensor) {
    auto [it, inserted] = dims.try_emplace(tensor);
    if (inserted)
      it->second.assign(cast<RankedTensorType>(tensor.getType()).getRank(), -1);
    return it->second;
  }

  func::FuncOp func;
  std::string &reason;
  Location &where;
  /// The result that defines the tile.
  RankedTensorType widest;
  DenseMap<Value, SmallVector<int64_t>> dims;
};

} // namespace

bool RowAnalysis::checkResults() {
  Location loc = func.getLoc();
  ArrayAttr rows;
  SmallVector<RankedTensorType> results;
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    if (tensor.getElementType().isInteger(1))
      return fail(loc, "elements of type 'i1' in memory");
    if (!func.getArgAttr(index, atx::outputAttrName))
      continue;
    auto shape = func.getArgAttrOfType<ArrayAttr>(index, atx::shapeAttrName);
    if (!shape || shape.empty())
      return fail(loc, "a result without axes");
    if (rows && rows[0] != shape[0])
      return fail(loc, "results with different numbers of rows");
    rows = shape;
    results.push_back(tensor);
    if (!widest || tensor.getRank() > widest.getRank())
      widest = tensor;
  }
  if (!widest || widest.getRank() < 2)
    return fail(loc, "no result with two axes");
  if (widest.getRank() > 16)
    return fail(loc, "a result with more than 16 axes");
  int64_t elements = 1;
  for (int64_t extent : widest.getShape().drop_front())
    if (ShapedType::isDynamic(extent) || llvm::MulOverflow(elements, extent, elements) || elements > INT32_MAX)
      return fail(loc, "rows without a constant length below 2^31");
  for (RankedTensorType result : results)
    if (result.getShape().drop_front() != widest.getShape().slice(1, result.getRank() - 1))
      return fail(loc, "results whose extents differ");
  auto returnOp = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (Value value : returnOp.getOperands()) {
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    if (!op)
      return fail(returnOp.getLoc(), "a result that no elementwise operation or reduction computes");
    SmallVector<int64_t> &known = getDims(value);
    for (size_t dim = 0; dim < known.size(); ++dim)
      known[dim] = dim;
  }
  return true;
}

bool RowAnalysis::checkLinalg(linalg::LinalgOp op) {
  Location loc = op->getLoc();
  bool isFill = isa<linalg::FillOp>(*op);
  if (!isFill && !isa<linalg::GenericOp>(*op))
    return fail(loc, "'" + op->getName().getStringRef() + "'");
  SmallVector<int64_t> loops(op.getNumLoops(), -1);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  bool reduces = op.getNumReductionLoops() > 0;
  for (auto [index, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    if (!map.isProjectedPermutation())
      return fail(loc, "an operand that is not indexed by single axes");
    int64_t previous = -1;
    for (AffineExpr expr : map.getResults()) {
      int64_t position = cast<AffineDimExpr>(expr).getPosition();
      if (position <= previous)
        return fail(loc, "a transposed operand");
      previous = position;
    }
  }
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    if (!reduces && !map.isIdentity())
      return fail(loc, "a transposed result");
    if (reduces && map.getNumResults() == 0)
      return fail(loc, "a reduction to a single value");
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (int64_t known = getDims(result)[dim]; known >= 0)
        loops[cast<AffineDimExpr>(expr).getPosition()] = known;
  }
  int64_t last = widest.getRank() - 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!llvm::is_contained(loops, last))
    for (int64_t i = loops.size() - 1; i >= 0; --i)
      if (loops[i] < 0 && iterators[i] == utils::IteratorType::reduction && ranges[i] == widest.getDimSize(last)) {
        loops[i] = last;
        break;
      }
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (loop > 0 && ranges[i] != widest.getDimSize(loop))
      return fail(loc, "an axis of another length than that of the result");
    if (loop < 0 && ShapedType::isDynamic(ranges[i]))
      return fail(loc, "an axis beside the rows without a constant length");
    if (loop == 0 && iterators[i] == utils::IteratorType::reduction)
      return fail(loc, "a reduction over rows");
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    if (!getElementTypeOrSelf(operand.get().getType()).isIntOrFloat())
      return fail(loc, "elements that are no numbers");
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      int64_t loop = loops[cast<AffineDimExpr>(expr).getPosition()];
      int64_t &known = getDims(operand.get())[dim];
      if (known >= 0 && loop >= 0 && known != loop)
        return fail(loc, "a tensor that is used along two axes of the result");
      if (loop >= 0)
        known = loop;
    }
  }
  if (isFill)
    return true;
  auto generic = cast<linalg::GenericOp>(*op);
  SmallVector<Operation *> combiners;
  if (reduces)
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
      SmallVector<Operation *, 4> found;
      Value value = matchReduction(generic.getRegionOutputArgs(), i, found);
      if (!value || found.size() != 1 ||
          !isa<arith::AddFOp, arith::AddIOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp>(
              found.front()))
        return fail(loc, "a reduction that lanes do not combine");
      Type type = value.getType();
      if (!type.isF32() && !type.isInteger(32))
        return fail(loc, "a reduction of elements that lanes do not exchange");
      combiners.push_back(found.front());
    }
  for (Operation &inner : generic.getBody()->without_terminator()) {
    bool fits = inner.getNumResults() == 1 && inner.getNumRegions() == 0 &&
                (OpTrait::hasElementwiseMappableTraits(&inner) || isa<arith::ConstantOp>(inner)) &&
                inner.getResult(0).getType().isIntOrFloat() && !isa<atx::TileConvertOp>(inner);
    if (!fits)
      return fail(inner.getLoc(), "'" + inner.getName().getStringRef() + "'");
    for (Value operand : inner.getOperands())
      if (auto arg = dyn_cast<BlockArgument>(operand); reduces && arg && arg.getOwner() == generic.getBody() &&
                                                       arg.getArgNumber() >= op.getNumDpsInputs() &&
                                                       !llvm::is_contained(combiners, &inner))
        return fail(inner.getLoc(), "the running value of a reduction");
  }
  return true;
}

bool RowAnalysis::checkOp(Operation &op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return checkLinalg(linalgOp);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!slice.hasUnitStride())
      return fail(op.getLoc(), "a slice with a stride");
    // The dimensions of the slice that remain carry over.
    SmallVector<int64_t> own = getDims(slice.getResult());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int64_t> &source = getDims(slice.getSource());
    unsigned next = 0;
    for (unsigned i = 0; i < source.size(); ++i) {
      int64_t dim = dropped.test(i) ? -1 : own[next++];
      bool isWhole = isConstantIntValue(slice.getMixedOffsets()[i], 0) &&
                     slice.getStaticSizes()[i] == slice.getSourceType().getDimSize(i) &&
                     !ShapedType::isDynamic(slice.getStaticSizes()[i]);
      if (dim == 0 && !isConstantIntValue(slice.getMixedOffsets()[i], 0))
        return fail(op.getLoc(), "a slice of rows");
      if (!isWhole && !isa<BlockArgument>(slice.getSource()) && dim != 0)
        return fail(op.getLoc(), "a slice of a computed value");
    }
    return true;
  }
  if (isa<tensor::EmptyOp, tensor::DimOp, func::ReturnOp>(op))
    return true;
  bool isScalar = op.getNumRegions() == 0 &&
                  llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); }) &&
                  isMemoryEffectFree(&op);
  return isScalar ? true : fail(op.getLoc(), "'" + op.getName().getStringRef() + "'");
}

bool RowAnalysis::run(const ChipInfo *chip) {
  if (func.isExternal() || !func.getBody().hasOneBlock() || !chip)
    return fail(func.getLoc(), "no body of one block");
  if (!checkResults())
    return false;
  for (Operation &op : llvm::reverse(func.getBody().front()))
    if (!checkOp(op))
      return false;
  return rowFitsRegisters(func, widest, *chip) || fail(func.getLoc(), "rows that do not fit into registers");
}

bool atrex::fitsRowMapping(func::FuncOp func, StringRef arch, std::string &reason, Location &where) {
  return RowAnalysis(func, reason, where).run(lookupChip(arch));
}
