//===- LowerReduce.cpp - Reductions of tiles ------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

Value tile::emitExtremum(TileEmitter &e, Value a, Value c, bool largest) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type type = a.getType(), element = getElementTypeOrSelf(type);
  auto create = [&](Value x, Value y) -> Value {
    return largest ? Value(LLVM::MaximumOp::create(b, loc, x, y)) : Value(LLVM::MinimumOp::create(b, loc, x, y));
  };
  if (!element.isBF16())
    return create(a, c);
  Type wide = b.getF32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    wide = VectorType::get(vector.getShape(), wide);
  Value result = create(arith::ExtFOp::create(b, loc, wide, a), arith::ExtFOp::create(b, loc, wide, c));
  return arith::TruncFOp::create(b, loc, type, result);
}

Value tile::combine(TileEmitter &e, CombineKind kind, Value a, Value c) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
  case CombineKind::Sum:
    return isFloat ? Value(arith::AddFOp::create(b, loc, a, c)) : Value(arith::AddIOp::create(b, loc, a, c));
  case CombineKind::Prod:
    return isFloat ? Value(arith::MulFOp::create(b, loc, a, c)) : Value(arith::MulIOp::create(b, loc, a, c));
  case CombineKind::Max:
    return isFloat ? emitExtremum(e, a, c, /*largest=*/true) : Value(arith::MaxSIOp::create(b, loc, a, c));
  case CombineKind::Min:
    return isFloat ? emitExtremum(e, a, c, /*largest=*/false) : Value(arith::MinSIOp::create(b, loc, a, c));
  case CombineKind::UMax:
    return arith::MaxUIOp::create(b, loc, a, c);
  case CombineKind::UMin:
    return arith::MinUIOp::create(b, loc, a, c);
  case CombineKind::Any:
    return arith::OrIOp::create(b, loc, a, c);
  case CombineKind::All:
    return arith::AndIOp::create(b, loc, a, c);
  }
  llvm_unreachable("covered switch");
}

Value tile::getNeutral(TileEmitter &e, CombineKind kind, Type type) {
  Attribute attr;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    APFloat value(semantics);
    switch (kind) {
    case CombineKind::Sum:
      // Adding -0 changes nothing, adding +0 would change -0.
      value = APFloat::getZero(semantics, /*Negative=*/true);
      break;
    case CombineKind::Prod:
      value = APFloat::getOne(semantics);
      break;
    default:
      value = APFloat::getInf(semantics, /*Negative=*/kind == CombineKind::Max);
    }
    attr = FloatAttr::get(type, value);
  } else {
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    APInt value(bits, 0);
    if (kind == CombineKind::Prod)
      value = APInt(bits, 1);
    else if (kind == CombineKind::Max)
      value = APInt::getSignedMinValue(bits);
    else if (kind == CombineKind::Min)
      value = APInt::getSignedMaxValue(bits);
    else if (kind == CombineKind::UMin || kind == CombineKind::All)
      value = APInt::getAllOnes(bits);
    attr = IntegerAttr::get(type, value);
  }
  return arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(attr));
}

Value tile::makeSortKey(TileEmitter &e, Value value, bool isUnsigned, bool smallest) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type type = value.getType();
  Value key;
  if (isa<FloatType>(type)) {
    if (type.getIntOrFloatBitWidth() < 32) {
      type = b.getF32Type();
      value = arith::ExtFOp::create(b, loc, type, value);
    }
    unsigned bits = type.getIntOrFloatBitWidth();
    Type integer = b.getIntegerType(bits);
    auto number = [&](const APInt &v) -> Value {
      return arith::ConstantOp::create(b, loc, cast<TypedAttr>(IntegerAttr::get(integer, v)));
    };
    // -0 equals +0.
    Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value, e.zero(type));
    Value raw = arith::BitcastOp::create(b, loc, integer, value);
    raw = arith::SelectOp::create(b, loc, isZero, number(APInt(bits, 0)), raw);
    // Magnitudes of negative numbers count down.
    Value sign = arith::ShRSIOp::create(b, loc, raw, number(APInt(bits, bits - 1)));
    Value flip = arith::AndIOp::create(b, loc, sign, number(APInt::getSignedMaxValue(bits)));
    key = arith::XOrIOp::create(b, loc, raw, flip);
    Value most = number(APInt::getSignedMaxValue(bits));
    if (smallest) {
      key = arith::XOrIOp::create(b, loc, key, number(APInt::getAllOnes(bits)));
      most = number(APInt::getSignedMinValue(bits));
    }
    return arith::SelectOp::create(b, loc, isNaN, most, key);
  }
  if (type.isIndex()) {
    value = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
    type = b.getI64Type();
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 32) {
    key = isUnsigned || bits == 1 ? Value(arith::ExtUIOp::create(b, loc, b.getI32Type(), value))
                                  : Value(arith::ExtSIOp::create(b, loc, b.getI32Type(), value));
    type = b.getI32Type();
    bits = 32;
    isUnsigned = false;
  } else {
    key = value;
  }
  auto number = [&](const APInt &v) -> Value {
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(IntegerAttr::get(type, v)));
  };
  if (isUnsigned)
    key = arith::XOrIOp::create(b, loc, key, number(APInt::getSignedMinValue(bits)));
  if (smallest)
    key = arith::XOrIOp::create(b, loc, key, number(APInt::getAllOnes(bits)));
  return key;
}

/// Bits of the work-item's number under `mask`, pushed together.
static Value gatherBits(TileEmitter &e, uint64_t mask) {
  Value sum;
  int64_t position = 0;
  while (mask) {
    int64_t low = llvm::countr_zero(mask), run = llvm::countr_one(mask >> low);
    Value part = e.getThread();
    if (low)
      part = arith::ShRUIOp::create(e.b, e.loc, part, e.i32(low));
    part = arith::AndIOp::create(e.b, e.loc, part, e.i32((int64_t(1) << run) - 1));
    if (position)
      part = arith::ShLIOp::create(e.b, e.loc, part, e.i32(position));
    sum = sum ? Value(arith::OrIOp::create(e.b, e.loc, sum, part)) : part;
    position += run;
    mask &= ~(((uint64_t(1) << run) - 1) << low);
  }
  return sum ? sum : e.i32(0);
}

namespace {

/// Elements that are reduced together: one for most kinds, key and position for
/// argmax.
using Parts = SmallVector<Value, 2>;

class Reducer {
public:
  Reducer(TileEmitter &e, function_ref<Parts(const Parts &, const Parts &)> combine) : e(e), combine(combine) {}

  /// Over the lanes and waves whose numbers differ in `bits`.
  LogicalResult overThreads(SmallVector<Parts> &values, uint64_t bits, uint64_t keptBits, Operation *op);
  Parts tree(ArrayRef<Parts> values) {
    if (values.size() == 1)
      return values.front();
    size_t half = values.size() / 2;
    return combine(tree(values.take_front(half)), tree(values.drop_front(half)));
  }

private:
  TileEmitter &e;
  function_ref<Parts(const Parts &, const Parts &)> combine;
};

} // namespace

LogicalResult Reducer::overThreads(SmallVector<Parts> &values, uint64_t bits, uint64_t keptBits, Operation *op) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  for (int64_t mask = 1; mask < 64; mask *= 2) {
    if (!(bits & mask))
      continue;
    for (Parts &value : values) {
      Parts other;
      for (Value part : value)
        other.push_back(e.shuffleXor(part, mask, (bits & 3) == 3));
      // Both lanes combine in the same order, so that they get the same bits.
      value = combine(value, other);
    }
  }
  uint64_t waveBits = bits & ~uint64_t(63);
  if (!waveBits)
    return success();
  // One slot for every wave, value, and work-item that keeps its own result.
  int64_t waves = int64_t(1) << llvm::popcount(waveBits), slots = int64_t(1) << llvm::popcount(keptBits);
  int64_t count = values.size();
  SmallVector<int64_t> partBytes, partOffsets;
  int64_t total = 0;
  for (Value part : values.front()) {
    int64_t bytes = e.getStorageType(part.getType()).getIntOrFloatBitWidth() / 8;
    total = llvm::alignTo(total, 16);
    partBytes.push_back(bytes);
    partOffsets.push_back(total);
    total += waves * slots * count * bytes;
  }
  FailureOr<int64_t> scratch = e.acquireScratch(total, op);
  if (failed(scratch))
    return failure();
  Value slot = gatherBits(e, keptBits), wave = gatherBits(e, waveBits);
  Value writes;
  uint64_t silent = ~(waveBits | keptBits);
  int64_t threads = e.kernel->getAttrOfType<IntegerAttr>("atx.threads").getInt();
  silent &= uint64_t(threads - 1);
  if (silent) {
    Value own = arith::AndIOp::create(b, loc, e.getThread(), e.i32(silent));
    writes = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, own, e.i32(0));
  }
  Value mine = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, wave, e.i32(slots * count)), slot);
  e.emitIf(writes, [&] {
    for (unsigned p = 0; p < partBytes.size(); ++p) {
      Value at = arith::MulIOp::create(b, loc, mine, e.i32(partBytes[p]));
      for (int64_t i = 0; i < count; ++i)
        e.storeLDS(e.toStorage(e.splat(values[i][p], 1)),
                   e.getLDS(*scratch + partOffsets[p] + i * slots * partBytes[p], at), partBytes[p]);
    }
  });
  e.ldsBarrier();
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Parts> parts(waves);
    for (unsigned p = 0; p < partBytes.size(); ++p) {
      Type type = values[i][p].getType();
      Value at = arith::MulIOp::create(b, loc, slot, e.i32(partBytes[p]));
      for (int64_t w = 0; w < waves; ++w) {
        Value pointer = e.getLDS(*scratch + partOffsets[p] + (w * count + i) * slots * partBytes[p], at);
        parts[w].push_back(
            e.extract(e.fromStorage(e.loadLDS(e.getStorageType(type), 1, pointer, partBytes[p]), type), 0));
      }
    }
    values[i] = tree(parts);
  }
  return success();
}

/// The extremum of many f32, NaN if any is one. One comparison finds a NaN in two numbers, and the hardware's maximum
/// of three passes over NaN: half of the instructions that a maximum which keeps NaN takes each time.
static Value reduceExtremum(TileEmitter &e, ArrayRef<Parts> values, bool largest) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Value result, anyNaN;
  for (size_t i = 0; i < values.size(); i += 2) {
    Value x = values[i][0], y = values[std::min(i + 1, values.size() - 1)][0];
    Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, y);
    anyNaN = anyNaN ? Value(arith::OrIOp::create(b, loc, anyNaN, isNaN)) : isNaN;
    auto join = [&](Value value) {
      if (!result)
        result = value;
      else
        result = largest ? Value(LLVM::MaxNumOp::create(b, loc, result, value))
                         : Value(LLVM::MinNumOp::create(b, loc, result, value));
    };
    join(x);
    if (i + 1 < values.size())
      join(y);
  }
  Value nan =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(b.getF32Type(), APFloat::getQNaN(APFloat::IEEEsingle())));
  return arith::SelectOp::create(b, loc, anyNaN, nan, result);
}

/// The sum of many f32 by packed additions, which take two numbers each.
static Value reducePairs(TileEmitter &e, ArrayRef<Parts> values) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  SmallVector<Value> pairs;
  for (size_t i = 0; i + 1 < values.size(); i += 2)
    pairs.push_back(e.pack({values[i][0], values[i + 1][0]}));
  while (pairs.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      next.push_back(arith::AddFOp::create(b, loc, pairs[i], pairs[i + 1]));
    if (pairs.size() % 2)
      next.push_back(pairs.back());
    pairs = std::move(next);
  }
  Value sum = arith::AddFOp::create(b, loc, e.extract(pairs[0], 0), e.extract(pairs[0], 1));
  return values.size() % 2 ? Value(arith::AddFOp::create(b, loc, sum, values.back()[0])) : sum;
}

LogicalResult tile::lowerReduce(TileEmitter &e, Operation *op) {
  auto reduce = cast<atx::TileReduceOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  TileValue input = e.getTile(reduce.getInput());
  unsigned rank = input.layout.getRank();
  SmallVector<bool> dropped(rank, false);
  for (int64_t axis : reduce.getAxes())
    dropped[axis] = true;
  SmallVector<int64_t> kept, keptShape;
  SmallVector<int64_t> bounds;
  uint64_t bits = 0, keptBits = 0;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (dropped[dim]) {
      bits |= input.layout.getThreadBits(dim);
      bounds.push_back(input.shape[dim]);
      continue;
    }
    kept.push_back(dim);
    keptShape.push_back(input.shape[dim]);
    keptBits |= input.layout.getThreadBits(dim);
    // What is dead there stays dead.
    bounds.push_back(input.layout.getPaddedExtent(dim));
  }
  TileLayout reducedLayout = input.layout.drop(dropped);
  SmallVector<int64_t> target = input.layout.projectRegisters(reducedLayout, kept);
  int64_t count = input.layout.getNumRegisters(), results = reducedLayout.getNumRegisters();

  using Kind = atx::TileReduceKind;
  Kind kind = reduce.getKind();
  bool isArg = kind == Kind::ArgMax || kind == Kind::ArgMin;
  Type element = input.getElementType();
  CombineKind combineKind = CombineKind::Sum;
  switch (kind) {
  case Kind::Sum:
    combineKind = CombineKind::Sum;
    break;
  case Kind::Prod:
    combineKind = CombineKind::Prod;
    break;
  case Kind::Max:
    combineKind = CombineKind::Max;
    break;
  case Kind::Min:
    combineKind = CombineKind::Min;
    break;
  case Kind::UMax:
    combineKind = CombineKind::UMax;
    break;
  case Kind::UMin:
    combineKind = CombineKind::UMin;
    break;
  case Kind::Any:
    combineKind = CombineKind::Any;
    break;
  case Kind::All:
    combineKind = CombineKind::All;
    break;
  default:
    break;
  }
  auto join = [&](const Parts &x, const Parts &y) -> Parts {
    if (!isArg)
      return {combine(e, combineKind, x[0], y[0])};
    // The larger key, at equality the lower position.
    Value greater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x[0], y[0]);
    Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x[0], y[0]);
    Value before = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x[1], y[1]);
    Value first = arith::OrIOp::create(b, loc, greater, arith::AndIOp::create(b, loc, equal, before));
    return {arith::SelectOp::create(b, loc, first, x[0], y[0]), arith::SelectOp::create(b, loc, first, x[1], y[1])};
  };
  Reducer reducer(e, join);

  Value neutral;
  if (!isArg)
    neutral = getNeutral(e, combineKind, element);
  SmallVector<SmallVector<Parts>> groups(results);
  for (int64_t reg = 0; reg < count; ++reg) {
    if (TileEmitter::isAlwaysDead(input.layout, bounds, reg))
      continue;
    Value value = e.extract(input.vector, reg);
    Value alive = e.isAlive(input.layout, bounds, reg);
    Parts parts;
    if (isArg) {
      // NaN is what argmin looks for as well.
      bool smallest = kind == Kind::ArgMin;
      Value key = makeSortKey(e, value, reduce.getIsUnsigned(), smallest);
      if (smallest && isa<FloatType>(element)) {
        Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
        unsigned width = key.getType().getIntOrFloatBitWidth();
        Value most = arith::ConstantOp::create(
            b, loc, cast<TypedAttr>(IntegerAttr::get(key.getType(), APInt::getSignedMaxValue(width))));
        key = arith::SelectOp::create(b, loc, isNaN, most, key);
      }
      Value position = e.getCoordinate(input.layout, reduce.getAxes().front(), reg);
      if (alive) {
        unsigned width = key.getType().getIntOrFloatBitWidth();
        Value least = arith::ConstantOp::create(
            b, loc, cast<TypedAttr>(IntegerAttr::get(key.getType(), APInt::getSignedMinValue(width))));
        key = arith::SelectOp::create(b, loc, alive, key, least);
        position = arith::SelectOp::create(b, loc, alive, position, e.i32(-1));
      }
      parts = {key, position};
    } else {
      parts = {alive ? Value(arith::SelectOp::create(b, loc, alive, value, neutral)) : value};
    }
    groups[target[reg]].push_back(parts);
  }
  SmallVector<Parts> partial;
  for (SmallVector<Parts> &group : groups) {
    // A register that is dead along the kept dimensions only.
    if (group.empty())
      group.push_back(isArg ? Parts{e.i32(0), e.i32(0)} : Parts{neutral});
    bool isExtremum = combineKind == CombineKind::Max || combineKind == CombineKind::Min;
    if (!isArg && isExtremum && element.isF32() && group.size() > 2)
      partial.push_back({reduceExtremum(e, group, combineKind == CombineKind::Max)});
    else if (!isArg && combineKind == CombineKind::Sum && element.isF32() && group.size() > 3)
      partial.push_back({reducePairs(e, group)});
    else
      partial.push_back(reducer.tree(group));
  }
  if (failed(reducer.overThreads(partial, bits, keptBits, op)))
    return failure();
  SmallVector<Value> elements;
  for (const Parts &parts : partial)
    elements.push_back(isArg ? parts[1] : parts[0]);
  if (!isa<VectorType>(reduce.getType())) {
    e.setScalar(reduce.getResult(), e.makeUniform(elements.front()));
    return success();
  }
  FailureOr<Value> value =
      e.convertLayout({e.pack(elements), reducedLayout, keptShape}, e.getLayout(reduce.getResult()), op);
  if (failed(value))
    return failure();
  e.setTile(reduce.getResult(), *value);
  return success();
}
