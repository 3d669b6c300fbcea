//===- VectorizeTile.cpp - Workgroup-wide vectors from linalg ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace atrex {
#define GEN_PASS_DEF_VECTORIZETILEPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

/// Upstream's vectorizer keeps masks on every operation and values in tensors
/// between operations. Tile form wants neither: bounds belong to the reads and
/// writes, and a tile is one vector per value. So the tile is vectorized as a
/// whole here.
class TileVectorizer {
public:
  TileVectorizer(scf::ForallOp loop, atx::MappingAttr mapping)
      : loop(loop), mapping(mapping), builder(loop.getContext()) {}

  LogicalResult run();

  unsigned numReads = 0, numVectorized = 0;

private:
  LogicalResult inferDims();
  LogicalResult vectorize(linalg::LinalgOp op);
  Value read(Value tensor, ArrayRef<int64_t> shape, Location loc);
  FailureOr<Value> getOperand(linalg::LinalgOp op, OpOperand &operand, ArrayRef<int64_t> loopShape);
  FailureOr<Value> broadcastTo(Value vector, AffineMap map, ArrayRef<int64_t> loopShape, Location loc);
  Value splat(Value scalar, ArrayRef<int64_t> shape, Location loc);

  /// Domain dimension (position in the mapping's tile) of each tensor
  /// dimension; -1 for dimensions that are not part of the mapped space.
  SmallVector<int64_t> &getDims(Value tensor) {
    auto [it, inserted] = dims.try_emplace(tensor);
    if (inserted)
      it->second.assign(cast<RankedTensorType>(tensor.getType()).getRank(), -1);
    return it->second;
  }

  /// Extent of a dimension once padded to what the layout covers.
  FailureOr<int64_t> padded(int64_t extent, int64_t domainDim, Location loc) {
    // The tile has one extent along each dimension; whatever is longer or shorter
    // would be cut off or padded with what nobody asked for.
    if (domainDim >= 1 && extent != mapping.getExtent()[domainDim])
      return emitError(loc) << "spans " << extent << " elements along dimension " << domainDim
                            << ", where the tile has " << mapping.getExtent()[domainDim];
    if (domainDim >= 0)
      return mapping.getTile()[domainDim];
    if (ShapedType::isDynamic(extent))
      return emitError(loc) << "a dimension of the tile has neither a constant extent nor a place in the mapping";
    return extent;
  }

  scf::ForallOp loop;
  atx::MappingAttr mapping;
  OpBuilder builder;
  DenseMap<Value, SmallVector<int64_t>> dims;
  DenseMap<Operation *, SmallVector<int64_t>> loopDims;
  DenseMap<Value, Value> vectors;
};

class VectorizeTile : public atrex::impl::VectorizeTilePassBase<VectorizeTile> {
public:
  using VectorizeTilePassBase::VectorizeTilePassBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto mapping = func->getAttrOfType<atx::MappingAttr>(atx::mappingAttrName);
    if (!func->hasAttr(atx::operatorAttrName) || !mapping)
      return;
    for (auto loop : llvm::to_vector(func.getOps<scf::ForallOp>())) {
      TileVectorizer vectorizer(loop, mapping);
      if (failed(vectorizer.run()))
        return signalPassFailure();
      numReads += vectorizer.numReads;
      numVectorized += vectorizer.numVectorized;
    }
  }
};

} // namespace

/// Finds out which dimension of the mapped space each dimension of each tensor
/// is, from the results of the tile backwards.
LogicalResult TileVectorizer::inferDims() {
  for (auto insert : loop.getTerminator().getOps<tensor::ParallelInsertSliceOp>()) {
    int64_t rank = insert.getSourceType().getRank();
    if (rank > int64_t(mapping.getTile().size()))
      return insert.emitError() << "a result of rank " << rank << " has no place in a mapping of rank "
                                << mapping.getTile().size();
    SmallVector<int64_t> &known = getDims(insert.getSource());
    // Results of lower rank lack the trailing dimensions.
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t extent = insert.getSourceType().getDimSize(dim);
      if (dim > 0 && extent != mapping.getExtent()[dim])
        return insert.emitError() << "a result has " << extent << " elements along dimension " << dim
                                  << ", the one that defines the tile " << mapping.getExtent()[dim]
                                  << "; results of one operator must agree there, or be operators of their own";
      known[dim] = dim;
    }
  }
  int64_t last = mapping.getTile().size() - 1;
  for (Operation &op : llvm::reverse(loop.getBody()->without_terminator())) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      continue;
    if (!linalgOp.hasPureTensorSemantics())
      return op.emitError() << "works on buffers; the row mapping vectorizes tensors";
    for (Value operand : op.getOperands())
      if (!getElementTypeOrSelf(operand.getType()).isIntOrIndexOrFloat())
        return op.emitError() << "elements of type " << getElementTypeOrSelf(operand.getType())
                              << " cannot be held in a vector";
    SmallVector<int64_t> loops(linalgOp.getNumLoops(), -1);
    for (auto [index, map] : llvm::enumerate(linalgOp.getIndexingMapsArray()))
      if (!map.isProjectedPermutation())
        return op.emitError() << "indexing map " << index << " is not a projected permutation, which the row mapping "
                              << "cannot vectorize";
    for (OpResult result : op.getResults()) {
      AffineMap map = linalgOp.getIndexingMapMatchingResult(result);
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (int64_t known = getDims(result)[dim]; known >= 0)
          loops[cast<AffineDimExpr>(expr).getPosition()] = known;
    }
    // A reduction over whole rows: its loop is the column dimension unless the
    // result still has that.
    SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
    if (last >= 0 && !llvm::is_contained(loops, last))
      for (int64_t i = loops.size() - 1; i >= 0; --i)
        if (loops[i] < 0 && linalgOp.getIteratorTypesArray()[i] == utils::IteratorType::reduction &&
            ranges[i] == mapping.getExtent()[last]) {
          loops[i] = last;
          break;
        }
    for (OpOperand &operand : op.getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        int64_t loopDim = loops[cast<AffineDimExpr>(expr).getPosition()];
        int64_t &known = getDims(operand.get())[dim];
        if (known >= 0 && loopDim >= 0 && known != loopDim)
          return op.emitError() << "operand " << operand.getOperandNumber() << " is used along dimension " << known
                                << " and along dimension " << loopDim << " of the results";
        if (loopDim >= 0)
          known = loopDim;
      }
    }
    loopDims[&op] = loops;
  }
  return success();
}

Value TileVectorizer::splat(Value scalar, ArrayRef<int64_t> shape, Location loc) {
  return vector::BroadcastOp::create(builder, loc, VectorType::get(shape, scalar.getType()), scalar);
}

/// The vector of an operand in its own dimensions: computed in the tile, or read
/// from memory once.
FailureOr<Value> TileVectorizer::getOperand(linalg::LinalgOp op, OpOperand &operand, ArrayRef<int64_t> loopShape) {
  Value tensor = operand.get();
  if (Value known = vectors.lookup(tensor))
    return known;
  if (tensor.getDefiningOp<tensor::EmptyOp>())
    return op.emitError() << "operand " << operand.getOperandNumber() << " reads a tensor without content";
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> shape;
  for (AffineExpr expr : map.getResults())
    shape.push_back(loopShape[cast<AffineDimExpr>(expr).getPosition()]);
  return read(tensor, shape, op.getLoc());
}

/// Reads a tile of `shape`; where the tensor ends before the tile, elements are
/// zero.
Value TileVectorizer::read(Value tensor, ArrayRef<int64_t> shape, Location loc) {
  auto tensorType = cast<RankedTensorType>(tensor.getType());
  auto type = VectorType::get(shape, tensorType.getElementType());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(tensorType.getElementType()));
  Value index = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<bool> inBounds;
  for (auto [have, want] : llvm::zip_equal(tensorType.getShape(), shape))
    inBounds.push_back(have == want);
  SmallVector<Value> indices(shape.size(), index);
  Value vector = vector::TransferReadOp::create(builder, loc, type, tensor, indices, zero,
                                                builder.getMultiDimIdentityMap(shape.size()), inBounds);
  ++numReads;
  vectors[tensor] = vector;
  return vector;
}

/// Repeats a vector along the loops it does not depend on.
FailureOr<Value> TileVectorizer::broadcastTo(Value vector, AffineMap map, ArrayRef<int64_t> loopShape, Location loc) {
  auto type = cast<VectorType>(vector.getType());
  // Positions must ascend: a transposed operand would need its elements moved
  // between lanes.
  int64_t previous = -1;
  SmallVector<int64_t> expanded(loopShape.size(), 1);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    int64_t position = cast<AffineDimExpr>(expr).getPosition();
    if (position <= previous)
      return emitError(loc) << "operand is transposed, which the row mapping does not support";
    previous = position;
    if (type.getShape()[dim] != loopShape[position])
      return emitError(loc) << "operand is held with " << type.getShape()[dim] << " elements along dimension " << dim
                            << " and used with " << loopShape[position];
    expanded[position] = type.getShape()[dim];
  }
  if (llvm::equal(expanded, loopShape) && int64_t(loopShape.size()) == type.getRank())
    return vector;
  auto expandedType = VectorType::get(expanded, type.getElementType());
  if (expandedType != type)
    vector = vector::ShapeCastOp::create(builder, loc, expandedType, vector);
  return Value(vector::BroadcastOp::create(builder, loc, VectorType::get(loopShape, type.getElementType()), vector));
}

/// The element that does not change a combination.
static TypedAttr getNeutral(vector::CombiningKind kind, Type type, OpBuilder &builder) {
  using vector::CombiningKind;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (kind != CombiningKind::ADD && kind != CombiningKind::MUL && !APFloat::semanticsHasInf(semantics))
      return {};
    switch (kind) {
    case CombiningKind::ADD:
      return builder.getFloatAttr(type, 0.0);
    case CombiningKind::MUL:
      return builder.getFloatAttr(type, 1.0);
    case CombiningKind::MAXIMUMF:
    case CombiningKind::MAXNUMF:
      return builder.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/true));
    case CombiningKind::MINIMUMF:
    case CombiningKind::MINNUMF:
      return builder.getFloatAttr(type, APFloat::getInf(semantics));
    default:
      return {};
    }
  }
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  switch (kind) {
  case CombiningKind::ADD:
  case CombiningKind::OR:
  case CombiningKind::XOR:
  case CombiningKind::MAXUI:
    return builder.getIntegerAttr(type, APInt::getZero(width));
  case CombiningKind::MUL:
    return builder.getIntegerAttr(type, APInt(width, 1));
  case CombiningKind::AND:
  case CombiningKind::MINUI:
    return builder.getIntegerAttr(type, APInt::getAllOnes(width));
  case CombiningKind::MAXSI:
    return builder.getIntegerAttr(type, APInt::getSignedMinValue(width));
  case CombiningKind::MINSI:
    return builder.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  default:
    return {};
  }
}

LogicalResult TileVectorizer::vectorize(linalg::LinalgOp op) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  SmallVector<int64_t> loopShape;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [range, domainDim] : llvm::zip_equal(ranges, loopDims[op])) {
    FailureOr<int64_t> extent = padded(range, domainDim, loc);
    if (failed(extent))
      return failure();
    loopShape.push_back(*extent);
  }

  // Fill: every element is the scalar.
  if (auto fill = dyn_cast<linalg::FillOp>(*op)) {
    vectors[op->getResult(0)] = splat(fill.getInputs().front(), loopShape, loc);
    ++numVectorized;
    return success();
  }
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  if (!generic)
    return op.emitError() << "'" << op->getName() << "' is not supported by the row mapping";

  Block *body = op.getBlock();
  IRMapping values;
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    if (arg.use_empty())
      continue;
    // The accumulator of a reduction enters at the end.
    if (!reductions.empty() && op.isDpsInit(&operand))
      continue;
    if (!isa<RankedTensorType>(operand.get().getType())) {
      values.map(arg, splat(operand.get(), loopShape, loc));
      continue;
    }
    FailureOr<Value> vector = getOperand(op, operand, loopShape);
    if (failed(vector))
      return failure();
    FailureOr<Value> full = broadcastTo(*vector, op.getMatchingIndexingMap(&operand), loopShape, loc);
    if (failed(full))
      return failure();
    values.map(arg, *full);
  }

  // A value of the body as a vector; `map` leaves what is defined outside.
  auto getVector = [&](Value value, Operation *user) -> FailureOr<Value> {
    Value mapped = values.lookupOrNull(value);
    if (!mapped && value.getParentBlock() == body)
      return user->emitError() << "uses the running value of a reduction other than to combine it";
    if (!mapped)
      mapped = value;
    if (isa<VectorType>(mapped.getType()) && mapped != value)
      return mapped;
    if (!mapped.getType().isIntOrIndexOrFloat())
      return user->emitError() << "a value of type " << mapped.getType() << " cannot be an element of a vector";
    return splat(mapped, loopShape, user->getLoc());
  };

  // Combiners are not cloned: they become the reductions.
  SmallVector<Operation *> combiners;
  SmallVector<Value> reduced;
  if (!reductions.empty()) {
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
      SmallVector<Operation *, 4> found;
      Value value = matchReduction(generic.getRegionOutputArgs(), i, found);
      if (!value || found.size() != 1)
        return op.emitError() << "result " << i << " is not a reduction by one operation";
      combiners.push_back(found.front());
      reduced.push_back(value);
    }
  }

  for (Operation &inner : body->without_terminator()) {
    if (llvm::is_contained(combiners, &inner))
      continue;
    if (inner.getNumResults() != 1 || inner.getNumRegions() != 0 ||
        !(OpTrait::hasElementwiseMappableTraits(&inner) || isa<arith::ConstantOp>(inner)))
      return inner.emitError() << "'" << inner.getName() << "' cannot be applied to vectors element by element";
    if (!inner.getResult(0).getType().isIntOrIndexOrFloat())
      return inner.emitError() << "a value of type " << inner.getResult(0).getType()
                               << " cannot be an element of a vector";
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      auto type = VectorType::get(loopShape, constant.getType());
      values.map(constant.getResult(),
                 arith::ConstantOp::create(builder, inner.getLoc(), DenseElementsAttr::get(type, constant.getValue()))
                     .getResult());
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands()) {
      FailureOr<Value> mapped = getVector(operand, &inner);
      if (failed(mapped))
        return failure();
      operands.push_back(*mapped);
    }
    OperationState state(inner.getLoc(), inner.getName());
    state.addOperands(operands);
    state.addTypes(VectorType::get(loopShape, inner.getResult(0).getType()));
    state.addAttributes(inner.getAttrs());
    Operation *vectorOp = builder.create(state);
    values.map(inner.getResult(0), vectorOp->getResult(0));
  }

  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    OpResult result = op->getResult(i);
    if (reductions.empty()) {
      FailureOr<Value> value = getVector(yield.getOperand(i), op);
      if (failed(value))
        return failure();
      if (!op.getIndexingMapMatchingResult(result).isIdentity())
        return op.emitError() << "result " << i << " is written transposed, which the row mapping does not support";
      vectors[result] = *value;
      continue;
    }
    std::optional<vector::CombiningKind> kind = linalg::getCombinerOpKind(combiners[i]);
    if (!kind)
      return combiners[i]->emitError() << "'" << combiners[i]->getName() << "' is not a combination of a reduction";
    FailureOr<Value> found = getVector(reduced[i], op);
    if (failed(found))
      return failure();
    Value source = *found;
    auto sourceType = cast<VectorType>(source.getType());
    int64_t previous = -1;
    for (AffineExpr expr : op.getIndexingMapMatchingResult(result).getResults()) {
      int64_t position = cast<AffineDimExpr>(expr).getPosition();
      if (position < previous)
        return op.emitError() << "result " << i << " is written transposed, which the row mapping does not support";
      previous = position;
    }
    // Padding of a reduced dimension must not count.
    SmallVector<int64_t> valid(loopShape);
    SmallVector<bool> mask(loopShape.size(), false);
    bool padding = false;
    for (unsigned dim : reductions) {
      mask[dim] = true;
      if (ranges[dim] != loopShape[dim]) {
        if (ShapedType::isDynamic(ranges[dim]))
          return op.emitError() << "reduces along dimension 0 of the results, which is spread over workgroups";
        valid[dim] = ranges[dim];
        padding = true;
      }
    }
    if (padding) {
      TypedAttr neutral = getNeutral(*kind, sourceType.getElementType(), builder);
      if (!neutral)
        return op.emitError() << "the reduction has no neutral element to fill padding with";
      auto maskType = VectorType::get(loopShape, builder.getI1Type());
      Value inside = vector::ConstantMaskOp::create(builder, loc, maskType, valid);
      Value fill = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(sourceType, neutral));
      source = arith::SelectOp::create(builder, loc, inside, source, fill);
    }
    FailureOr<Value> init = getOperand(op, *op.getDpsInitOperand(i), loopShape);
    if (failed(init))
      return failure();
    vectors[result] = vector::MultiDimReductionOp::create(builder, loc, source, *init, mask, *kind);
  }
  ++numVectorized;
  return success();
}

LogicalResult TileVectorizer::run() {
  if (failed(inferDims()))
    return failure();
  SmallVector<linalg::LinalgOp> ops;
  for (Operation &op : loop.getBody()->without_terminator())
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      ops.push_back(linalgOp);
  for (linalg::LinalgOp op : ops)
    if (failed(vectorize(op)))
      return failure();

  for (auto insert : loop.getTerminator().getOps<tensor::ParallelInsertSliceOp>()) {
    Value source = insert.getSource();
    Value value = vectors.lookup(source);
    auto producer = source.getDefiningOp<linalg::LinalgOp>();
    Location loc = insert.getLoc();
    builder.setInsertionPoint(loop.getTerminator());
    Value dest;
    if (producer && value) {
      loc = producer.getLoc();
      // A reduction accumulates into a fill of the slice that is written.
      dest = producer.getDpsInits()[cast<OpResult>(source).getResultNumber()];
      while (auto init = dest.getDefiningOp<linalg::LinalgOp>())
        dest = init.getDpsInits()[cast<OpResult>(dest).getResultNumber()];
    } else if (source.getDefiningOp<tensor::ExtractSliceOp>()) {
      // A result that is a plain copy of an argument: canonicalization leaves no
      // operation of it, only the slices.
      loc = source.getLoc();
      SmallVector<int64_t> shape(mapping.getTile().take_front(insert.getSourceType().getRank()));
      if (int64_t(shape.size()) != insert.getSourceType().getRank())
        return insert.emitError() << "copies a tensor of rank " << insert.getSourceType().getRank()
                                  << " in a mapping of rank " << shape.size();
      if (!insert.getSourceType().getElementType().isIntOrIndexOrFloat())
        return insert.emitError() << "elements of type " << insert.getSourceType().getElementType()
                                  << " cannot be held in a vector";
      value = read(source, shape, loc);
      dest = tensor::ExtractSliceOp::create(builder, loc, insert.getSourceType(), insert.getDest(),
                                            insert.getMixedOffsets(), insert.getMixedSizes(), insert.getMixedStrides());
    } else {
      return insert.emitError() << "a result of the tile is not computed in it";
    }
    auto type = cast<VectorType>(value.getType());
    Value index = arith::ConstantIndexOp::create(builder, loc, 0);
    SmallVector<Value> indices(type.getRank(), index);
    SmallVector<bool> inBounds;
    for (auto [have, want] : llvm::zip_equal(cast<RankedTensorType>(dest.getType()).getShape(), type.getShape()))
      inBounds.push_back(have == want);
    auto write = vector::TransferWriteOp::create(builder, loc, value, dest, indices,
                                                 builder.getMultiDimIdentityMap(type.getRank()), inBounds);
    insert.getSourceMutable().assign(write.getResult());
  }
  for (linalg::LinalgOp op : llvm::reverse(ops)) {
    if (!op->use_empty())
      return op.emitError() << "has a use that was not vectorized";
    op->erase();
  }
  return success();
}
