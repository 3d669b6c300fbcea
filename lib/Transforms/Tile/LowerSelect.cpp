//===- LowerSelect.cpp - Selection and rearrangement of tiles -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// topk and rank count, for every element, those that go before it; histogram adds
// in shared memory; concat and take go through it.
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

/// Byte offset of register `reg`'s element without its coordinate along `axis`; lanes
/// of dead elements stay inside.
static Value getRowOffset(TileEmitter &e, const LDSArray &array, const TileLayout &layout, ArrayRef<int64_t> shape,
                          int64_t reg, unsigned axis) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Value offset;
  for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
    if (dim == axis)
      continue;
    Value coordinate = e.getCoordinate(layout, dim, reg);
    if (layout.getPaddedExtent(dim) > shape[dim])
      coordinate = arith::MinSIOp::create(b, loc, coordinate, e.i32(shape[dim] - 1));
    Value term = arith::MulIOp::create(b, loc, coordinate, e.i32(array.strides[dim] * array.bytes));
    offset = offset ? Value(arith::AddIOp::create(b, loc, offset, term)) : term;
  }
  return offset ? offset : e.i32(0);
}

/// For every register the number of elements along `axis` for which `goesBefore` holds.
/// Its arguments: the other element's key and position, and the register.
static SmallVector<Value> countAlong(TileEmitter &e, const LDSArray &array, const TileValue &tile, Type keyType,
                                     unsigned axis, function_ref<Value(Value, Value, int64_t)> goesBefore) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  int64_t count = tile.layout.getNumRegisters(), extent = tile.shape[axis];
  // Registers that differ along the axis only read the same elements.
  std::map<std::vector<int64_t>, int64_t> rows;
  SmallVector<int64_t> rowOf;
  SmallVector<Value> offsets;
  for (int64_t reg = 0; reg < count; ++reg) {
    std::vector<int64_t> key;
    for (unsigned dim = 0; dim < tile.layout.getRank(); ++dim)
      if (dim != axis)
        key.push_back(tile.layout.getRegisterCoordinate(dim, reg));
    auto [it, isNew] = rows.try_emplace(key, offsets.size());
    if (isNew)
      offsets.push_back(getRowOffset(e, array, tile.layout, tile.shape, reg, axis));
    rowOf.push_back(it->second);
  }
  int64_t step = 1;
  if (array.contiguousDim == axis)
    while (step * 2 * array.bytes <= 16 && extent % (step * 2) == 0)
      step *= 2;
  bool aligned = true;
  for (unsigned dim = 0; dim < array.strides.size(); ++dim)
    if (dim != axis)
      aligned &= array.strides[dim] % step == 0;
  if (!aligned)
    step = 1;
  SmallVector<Value> zeros(count, e.i32(0));
  auto loop = scf::ForOp::create(b, loc, e.i32(0), e.i32(extent), e.i32(step), ValueRange(zeros));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value shift = arith::MulIOp::create(b, loc, loop.getInductionVar(), e.i32(array.strides[axis] * array.bytes));
    SmallVector<Value> read;
    for (Value offset : offsets)
      read.push_back(e.loadLDS(keyType, step,
                               e.getLDS(array.offset, arith::AddIOp::create(b, loc, offset, shift).getResult()),
                               step * array.bytes));
    SmallVector<Value> counts(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    for (int64_t i = 0; i < step; ++i) {
      Value position = i == 0 ? Value(loop.getInductionVar())
                              : Value(arith::AddIOp::create(b, loc, loop.getInductionVar(), e.i32(i)));
      for (int64_t reg = 0; reg < count; ++reg) {
        Value before = goesBefore(e.extract(read[rowOf[reg]], i), position, reg);
        counts[reg] = arith::AddIOp::create(b, loc, counts[reg],
                                            arith::ExtUIOp::create(b, loc, b.getI32Type(), before).getResult());
      }
    }
    scf::YieldOp::create(b, loc, counts);
  }
  return SmallVector<Value>(loop.getResults().begin(), loop.getResults().end());
}

LogicalResult tile::lowerTopk(TileEmitter &e, Operation *op) {
  auto topk = cast<atx::TileTopkOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  TileValue input = e.getTile(topk.getInput());
  unsigned axis = topk.getAxis();
  int64_t k = topk.getK();
  int64_t count = input.layout.getNumRegisters();
  SmallVector<Value> keys;
  for (int64_t reg = 0; reg < count; ++reg)
    keys.push_back(makeSortKey(e, e.extract(input.vector, reg), topk.getIsUnsigned(), topk.getSmallest()));
  Type keyType = keys.front().getType();
  TileValue keyTile{e.pack(keys), input.layout, input.shape};
  SmallVector<int64_t> outShape = input.shape;
  outShape[axis] = k;
  TileEmitter::ScratchHold hold(e);
  FailureOr<LDSArray> keyArray = e.acquireArray(input.shape, keyType, axis, op);
  if (failed(keyArray))
    return failure();
  FailureOr<LDSArray> valueArray = e.acquireArray(outShape, input.getElementType(), axis, op);
  if (failed(valueArray))
    return failure();
  FailureOr<LDSArray> indexArray = e.acquireArray(outShape, b.getI32Type(), axis, op);
  if (failed(indexArray))
    return failure();
  e.writeArray(*keyArray, keyTile);
  e.ldsBarrier(3);
  SmallVector<Value> positions;
  for (int64_t reg = 0; reg < count; ++reg)
    positions.push_back(e.getCoordinate(input.layout, axis, reg));
  SmallVector<Value> ranks =
      countAlong(e, *keyArray, keyTile, keyType, axis, [&](Value key, Value position, int64_t reg) -> Value {
        Value greater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, key, keys[reg]);
        Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, key, keys[reg]);
        Value earlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position, positions[reg]);
        return arith::OrIOp::create(b, loc, greater, arith::AndIOp::create(b, loc, equal, earlier).getResult());
      });
  Value firstCopy = e.isFirstCopy(input.layout);
  Value stored = e.toStorage(input.vector);
  for (int64_t reg = 0; reg < count; ++reg) {
    if (TileEmitter::isAlwaysDead(input.layout, input.shape, reg))
      continue;
    Value taken = e.andMasks(firstCopy, e.isAlive(input.layout, input.shape, reg));
    if (k < input.shape[axis])
      taken = e.andMasks(taken, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, ranks[reg], e.i32(k)));
    e.emitIf(taken, [&] {
      for (const LDSArray *array : {&*valueArray, &*indexArray}) {
        Value offset = getRowOffset(e, *array, input.layout, outShape, reg, axis);
        offset = arith::AddIOp::create(
            b, loc, offset,
            arith::MulIOp::create(b, loc, ranks[reg], e.i32(array->strides[axis] * array->bytes)).getResult());
        Value value = array == &*valueArray ? e.extract(stored, reg) : positions[reg];
        e.storeLDS(e.splat(value, 1), e.getLDS(array->offset, offset), array->bytes);
      }
    });
  }
  e.ldsBarrier(3);
  e.setTile(topk.getValues(),
            e.readArray(*valueArray, e.getLayout(topk.getValues()), outShape, input.getElementType()));
  e.setTile(topk.getIndices(), e.readArray(*indexArray, e.getLayout(topk.getIndices()), outShape, b.getI32Type()));
  return success();
}

LogicalResult tile::lowerRank(TileEmitter &e, Operation *op) {
  auto rank = cast<atx::TileRankOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  TileValue input = e.getTile(rank.getInput());
  unsigned axis = rank.getAxis();
  FailureOr<LDSArray> array = e.acquireArray(input.shape, input.getElementType(), axis, op);
  if (failed(array))
    return failure();
  e.writeArray(*array, input);
  e.ldsBarrier();
  Value stored = e.toStorage(input.vector);
  SmallVector<Value> positions;
  for (int64_t reg = 0; reg < input.layout.getNumRegisters(); ++reg)
    positions.push_back(e.getCoordinate(input.layout, axis, reg));
  SmallVector<Value> ranks =
      countAlong(e, *array, input, array->storage, axis, [&](Value key, Value position, int64_t reg) -> Value {
        Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, key, e.extract(stored, reg));
        Value earlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position, positions[reg]);
        return arith::AndIOp::create(b, loc, equal, earlier);
      });
  FailureOr<Value> result =
      e.convertLayout({e.pack(ranks), input.layout, input.shape}, e.getLayout(rank.getResult()), op);
  if (failed(result))
    return failure();
  e.setTile(rank.getResult(), *result);
  return success();
}

LogicalResult tile::lowerHistogram(TileEmitter &e, Operation *op) {
  auto histogram = cast<atx::TileHistogramOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  TileValue input = e.getTile(histogram.getInput());
  SmallVector<int64_t> outShape = TileEmitter::getShape(histogram.getResult());
  int64_t bins = outShape.front(), threads = input.layout.getThreads();
  Value mask;
  SmallVector<int64_t> maskRegisters;
  if (histogram.getMask()) {
    mask = e.getScalar(histogram.getMask());
    if (auto type = dyn_cast<VectorType>(histogram.getMask().getType())) {
      TileLayout held = input.layout.restrictTo(type.getShape());
      FailureOr<Value> value = e.convertLayout(e.getTile(histogram.getMask()), held, op);
      if (failed(value))
        return failure();
      mask = *value;
      maskRegisters =
          input.layout.projectRegisters(held, llvm::to_vector(llvm::seq<int64_t>(0, input.layout.getRank())));
    }
  }
  FailureOr<LDSArray> array = e.acquireArray(outShape, b.getI32Type(), 0, op);
  if (failed(array))
    return failure();
  for (int64_t start = 0; start < bins; start += threads) {
    Value bin = arith::AddIOp::create(b, loc, e.getThread(), e.i32(start));
    Value inside = start + threads <= bins
                       ? Value()
                       : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bin, e.i32(bins)));
    e.emitIf(inside, [&] {
      Value offset = arith::MulIOp::create(b, loc, bin, e.i32(4));
      e.storeLDS(e.splat(e.i32(0), 1), e.getLDS(array->offset, offset), 4);
    });
  }
  e.ldsBarrier();
  Value firstCopy = e.isFirstCopy(input.layout);
  for (int64_t reg = 0; reg < input.layout.getNumRegisters(); ++reg) {
    if (TileEmitter::isAlwaysDead(input.layout, input.shape, reg))
      continue;
    Value condition = e.andMasks(firstCopy, e.isAlive(input.layout, input.shape, reg));
    if (mask)
      condition = e.andMasks(condition, maskRegisters.empty() ? mask : e.extract(mask, maskRegisters[reg]));
    Value value = e.extract(input.vector, reg);
    // Signed numbers that are below 0 are large unsigned ones.
    unsigned width = value.getType().isIndex() ? 64 : value.getType().getIntOrFloatBitWidth();
    if (width <= 8 && bins > 127) {
      value = arith::ExtSIOp::create(b, loc, b.getI32Type(), value);
    } else if (width < 32) {
      value = arith::ExtSIOp::create(b, loc, b.getI32Type(), value);
    }
    bool wide = width > 32;
    if (wide)
      value = e.toI64(value);
    condition = e.andMasks(
        condition, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value, wide ? e.i64(bins) : e.i32(bins)));
    e.emitIf(condition, [&] {
      Value bin = wide ? Value(arith::TruncIOp::create(b, loc, b.getI32Type(), value)) : value;
      Value offset = arith::MulIOp::create(b, loc, bin, e.i32(4));
      LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, e.getLDS(array->offset, offset), e.i32(1),
                                LLVM::AtomicOrdering::monotonic, "workgroup", 4);
    });
  }
  e.ldsBarrier();
  e.setTile(histogram.getResult(), e.readArray(*array, e.getLayout(histogram.getResult()), outShape, b.getI32Type()));
  return success();
}

LogicalResult tile::lowerConcat(TileEmitter &e, Operation *op) {
  auto concat = cast<atx::TileConcatOp>(op);
  SmallVector<int64_t> shape = TileEmitter::getShape(concat.getResult());
  Type element = cast<VectorType>(concat.getType()).getElementType();
  FailureOr<LDSArray> array = e.acquireArray(shape, element, unsigned(shape.size()) - 1, op);
  if (failed(array))
    return failure();
  int64_t start = 0;
  unsigned axis = concat.getAxis();
  for (Value input : concat.getInputs()) {
    TileValue tile = e.getTile(input);
    e.writeArray(*array, tile, axis, start);
    start += tile.shape[axis];
  }
  e.ldsBarrier();
  e.setTile(concat.getResult(), e.readArray(*array, e.getLayout(concat.getResult()), shape, element));
  return success();
}

LogicalResult tile::lowerTake(TileEmitter &e, Operation *op) {
  auto take = cast<atx::TileTakeOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  TileValue input = e.getTile(take.getInput());
  unsigned axis = take.getAxis();
  const TileLayout &layout = e.getLayout(take.getResult());
  SmallVector<int64_t> shape = TileEmitter::getShape(take.getResult());
  TileValue index = e.getTile(take.getIndex());
  TileLayout held = layout.restrictTo(index.shape);
  FailureOr<Value> indices = e.convertLayout(index, held, op);
  if (failed(indices))
    return failure();
  SmallVector<int64_t> registers =
      layout.projectRegisters(held, llvm::to_vector(llvm::seq<int64_t>(0, layout.getRank())));
  FailureOr<LDSArray> array = e.acquireArray(input.shape, input.getElementType(), unsigned(input.shape.size()) - 1, op);
  if (failed(array))
    return failure();
  e.writeArray(*array, input);
  e.ldsBarrier();
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
    Value at = e.extract(*indices, registers[reg]);
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, e.i32(input.shape[axis]));
    Value safe = arith::SelectOp::create(b, loc, inside, at, e.i32(0));
    Value offset = getRowOffset(e, *array, layout, input.shape, reg, axis);
    offset = arith::AddIOp::create(
        b, loc, offset, arith::MulIOp::create(b, loc, safe, e.i32(array->strides[axis] * array->bytes)).getResult());
    Value element = e.extract(e.fromStorage(e.loadLDS(array->storage, 1, e.getLDS(array->offset, offset), array->bytes),
                                            input.getElementType()),
                              0);
    elements.push_back(arith::SelectOp::create(b, loc, inside, element, e.zero(input.getElementType())));
  }
  e.setTile(take.getResult(), e.pack(elements));
  return success();
}
