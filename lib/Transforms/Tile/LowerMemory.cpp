//===- LowerMemory.cpp - Loads, stores and atomics of tiles ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

/// Word 3 of a raw buffer descriptor on GFX9: 32-bit data format, no swizzle.
static constexpr uint32_t rawBufferFlags = (7u << 12) | (4u << 15);
/// Bytes a buffer resource spans; masked accesses go to this offset, which reads zero
/// and drops writes.
static constexpr int64_t bufferSpan = int64_t(1) << 31;

static int64_t pow2Part(int64_t value) { return value == 0 ? 4096 : std::min<int64_t>(4096, value & -value); }

static int64_t getStorageBytes(Type element) {
  if (element.isIndex())
    return 8;
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

/// Largest power of two known to divide an extent or stride.
static int64_t getDivisor(IndexAnalysis &analysis, Value memory, unsigned dim, int64_t known, bool isStride) {
  if (!ShapedType::isDynamic(known))
    return pow2Part(known);
  auto cast = memory.getDefiningOp<memref::ReinterpretCastOp>();
  if (!cast)
    return 1;
  OpFoldResult value = isStride ? cast.getMixedStrides()[dim] : cast.getMixedSizes()[dim];
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return pow2Part(*constant);
  return std::min<int64_t>(4096, analysis.getInfo(llvm::cast<Value>(value)).divisor);
}

AccessPattern tile::analyzeAccess(IndexAnalysis &analysis, Value memoryValue, ValueRange indices, Value mask,
                                  ArrayRef<int64_t> shape) {
  auto memory = cast<MemRefType>(memoryValue.getType());
  AccessPattern pattern;
  pattern.bytes = getStorageBytes(memory.getElementType());
  pattern.contiguousDim = shape.empty() ? 0 : shape.size() - 1;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (shape.empty() || indices.empty() || failed(memory.getStridesAndOffset(strides, offset)))
    return pattern;
  // The index that moves by one element, and a dimension that it counts along.
  std::optional<unsigned> unit;
  for (unsigned i = 0; i < indices.size(); ++i)
    if (strides[i] == 1 && memory.getDimSize(i) != 1)
      unit = i;
  if (!unit)
    return pattern;
  const AxisInfo &last = analysis.getInfo(indices[*unit]);
  int64_t longest = 1;
  for (unsigned dim = 0; dim < last.contiguity.size(); ++dim)
    if (std::min(last.contiguity[dim], shape[dim]) > longest) {
      longest = std::min(last.contiguity[dim], shape[dim]);
      pattern.contiguousDim = dim;
    }
  if (longest == 1)
    return pattern;
  unsigned dim = pattern.contiguousDim;
  int64_t vector = std::max<int64_t>(1, 16 / pattern.bytes);
  auto limit = [&](int64_t most) { vector = std::min(vector, std::max<int64_t>(1, most & -most)); };
  limit(std::min<int64_t>(last.contiguity[dim], 4096));
  limit(std::gcd(last.divisibility[dim], int64_t(4096)));
  std::optional<Bounds> range = analysis.getRange(indices[*unit]);
  int64_t extent = memory.getDimSize(*unit);
  bool inside = range && !ShapedType::isDynamic(extent) && range->min >= 0 && range->max < extent;
  if (!inside)
    limit(getDivisor(analysis, memoryValue, *unit, extent, /*isStride=*/false));
  // What is added to the address, and stays the same along the vector.
  int64_t align = 16;
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (i == *unit)
      continue;
    const AxisInfo &info = analysis.getInfo(indices[i]);
    if (dim < info.constancy.size())
      limit(std::min<int64_t>(info.constancy[dim], 4096));
    int64_t stride = getDivisor(analysis, memoryValue, i, strides[i], /*isStride=*/true);
    align = std::gcd(align, stride * std::min<int64_t>(info.divisor, 4096) * pattern.bytes);
  }
  if (mask) {
    const AxisInfo &info = analysis.getInfo(mask);
    if (dim < info.constancy.size())
      limit(std::min<int64_t>(info.constancy[dim], 4096));
  }
  // Global memory takes words of any width at multiples of four bytes.
  while (vector > 1 && align < std::min<int64_t>(4, vector * pattern.bytes))
    vector /= 2;
  pattern.vector = vector;
  return pattern;
}

bool tile::decomposeIndex(Value value, unsigned rank, int64_t coefficient, ArrayRef<unsigned> dims, LinearIndex &index,
                          unsigned depth) {
  if (depth > 50)
    return false;
  Attribute attr;
  if (matchPattern(value, m_Constant(&attr))) {
    APInt number;
    if (auto integer = dyn_cast<IntegerAttr>(attr))
      number = integer.getValue();
    else if (auto splat = dyn_cast<SplatElementsAttr>(attr))
      number = splat.getSplatValue<APInt>();
    else
      return false;
    int64_t term;
    if (number.getSignificantBits() > 64 || llvm::MulOverflow(number.getSExtValue(), coefficient, term))
      return false;
    return !llvm::AddOverflow(index.constant, term, index.constant);
  }
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type) {
    index.scalars.push_back({value, coefficient});
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<atx::TileIotaOp>(op)) {
    // A single 0 may be stretched along a dimension that is longer.
    if (type.getDimSize(0) == 1)
      return true;
    index.coordinates.push_back({dims[0], coefficient});
    return true;
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    auto source = dyn_cast<VectorType>(broadcast.getSourceType());
    if (!source)
      return decomposeIndex(broadcast.getSource(), rank, coefficient, dims, index, depth + 1);
    return decomposeIndex(broadcast.getSource(), rank, coefficient, dims.take_back(source.getRank()), index, depth + 1);
  }
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    // Unit dimensions come and go; coordinates along them are 0.
    VectorType from = cast.getSourceVectorType();
    SmallVector<unsigned> moved;
    SmallVector<unsigned> wide;
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) != 1)
        wide.push_back(dim);
    unsigned next = 0;
    for (unsigned dim = 0; dim < from.getRank(); ++dim) {
      if (from.getDimSize(dim) == 1) {
        moved.push_back(dims[0]);
        continue;
      }
      if (next == wide.size() || type.getDimSize(wide[next]) != from.getDimSize(dim))
        return false;
      moved.push_back(dims[wide[next++]]);
    }
    return next == wide.size() && decomposeIndex(cast.getSource(), rank, coefficient, moved, index, depth + 1);
  }
  if (isa<arith::ExtSIOp, arith::IndexCastOp, atx::ConvertLayoutOp>(op))
    return decomposeIndex(op->getOperand(0), rank, coefficient, dims, index, depth + 1);
  if (isa<arith::AddIOp>(op))
    return decomposeIndex(op->getOperand(0), rank, coefficient, dims, index, depth + 1) &&
           decomposeIndex(op->getOperand(1), rank, coefficient, dims, index, depth + 1);
  if (isa<arith::SubIOp>(op))
    return decomposeIndex(op->getOperand(0), rank, coefficient, dims, index, depth + 1) &&
           decomposeIndex(op->getOperand(1), rank, -coefficient, dims, index, depth + 1);
  if (isa<arith::MulIOp>(op))
    for (unsigned side = 0; side < 2; ++side)
      if (auto splat = SplatElementsAttr(); matchPattern(op->getOperand(side), m_Constant(&splat))) {
        int64_t product;
        APInt number = splat.getSplatValue<APInt>();
        if (number.getSignificantBits() <= 32 && !llvm::MulOverflow(number.getSExtValue(), coefficient, product))
          return decomposeIndex(op->getOperand(1 - side), rank, product, dims, index, depth + 1);
      }
  return false;
}

namespace {

/// Emits one access of a tile.
class Access {
public:
  Access(TileEmitter &e, Operation *op, Value memoryValue, ValueRange indices, Value mask, const TileLayout &layout,
         ArrayRef<int64_t> shape)
      : e(e), op(op), memoryValue(memoryValue), indices(indices), mask(mask), layout(layout),
        shape(shape.begin(), shape.end()) {}

  LogicalResult prepare(bool forLoad, int64_t maxVector);
  int64_t getVector() const { return vector; }
  const MemoryRef &getMemory() const { return memory; }
  /// i1: registers from `reg` are inside and not masked; null where always so.
  Value getCondition(int64_t reg);
  bool isNever(int64_t reg) const { return TileEmitter::isAlwaysDead(layout, shape, reg); }
  bool usesBuffer() const { return useBuffer; }
  Value getResource() const { return resource; }
  /// Buffer: byte offset, out of the span where `condition` is false.
  Value getOffset(int64_t reg, Value condition);
  /// Pointer of the element.
  Value getPointer(int64_t reg);
  int64_t getAlign() const { return align; }
  int64_t getBytes() const { return bytes; }

private:
  Value getIndex(unsigned i, int64_t reg);
  int64_t getConstantOffset(int64_t reg) const;
  Value getLaneOffset32(int64_t reg);

  TileEmitter &e;
  Operation *op;
  Value memoryValue;
  ValueRange indices;
  Value mask;
  TileLayout layout;
  SmallVector<int64_t> shape;

  MemoryRef memory;
  int64_t vector = 1, bytes = 4, align = 1;
  /// Of every index: the lane's elements, and the register for each of the layout's.
  SmallVector<Value> values;
  SmallVector<SmallVector<int64_t>> projections;
  Value maskValue;
  SmallVector<int64_t> maskProjection;
  SmallVector<bool> needsCheck;
  SmallVector<Value> limits;
  DenseMap<std::pair<unsigned, int64_t>, Value> checks;

  SmallVector<std::optional<LinearIndex>> linear;
  bool narrow = true, useBuffer = false;
  /// Memory's base plus what is the same for all lanes.
  Value base, resource;
  /// Bytes by dimension of the tile, and the sum over work-items.
  SmallVector<int64_t> steps;
  Value laneBase;
};

} // namespace

LogicalResult Access::prepare(bool forLoad, int64_t maxVector) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  FailureOr<MemoryRef> ref = e.getMemory(memoryValue, op);
  if (failed(ref))
    return failure();
  memory = *ref;
  Type element = memory.elementType;
  if (!element.isIndex() && !element.isInteger(1) && element.getIntOrFloatBitWidth() % 8 != 0)
    return op->emitError() << "'" << op->getName() << "' accesses elements of " << element
                           << " in memory, which are smaller than a byte; convert them to f8 or wider in the tensor";
  bytes = getStorageBytes(element);
  unsigned rank = layout.getRank();

  AccessPattern pattern = analyzeAccess(e.analysis, memoryValue, indices, mask, shape);
  vector = 1;
  if (rank != 0) {
    int64_t run = layout.getRunLength(pattern.contiguousDim);
    vector = std::min({pattern.vector, run & -run, maxVector});
    while (shape[pattern.contiguousDim] % vector != 0)
      vector /= 2;
  }

  for (auto [i, index] : llvm::enumerate(indices)) {
    if (auto type = dyn_cast<VectorType>(index.getType())) {
      TileLayout held = layout.restrictTo(type.getShape());
      FailureOr<Value> value = e.convertLayout(e.getTile(index), held, op);
      if (failed(value))
        return failure();
      values.push_back(*value);
      projections.push_back(layout.projectRegisters(held, llvm::to_vector(llvm::seq<int64_t>(0, rank))));
    } else {
      values.push_back(e.getScalar(index));
      projections.push_back({});
    }
    // Bounds.
    OpFoldResult size = memory.sizes[i];
    std::optional<Bounds> range = e.analysis.getRange(index);
    std::optional<int64_t> extent = getConstantIntValue(size);
    needsCheck.push_back(!(range && extent && range->min >= 0 && range->max < *extent));
    Value limit;
    if (needsCheck.back()) {
      Type type = getElementTypeOrSelf(index.getType());
      bool wide = type.isIndex() || type.getIntOrFloatBitWidth() > 32;
      if (extent) {
        limit = wide ? e.i64(*extent) : e.i32(std::min<int64_t>(*extent, int64_t(1) << 31));
      } else if (wide) {
        limit = cast<Value>(size);
      } else {
        Value least = arith::MinUIOp::create(b, loc, cast<Value>(size), e.i64(int64_t(1) << 31));
        limit = arith::TruncIOp::create(b, loc, b.getI32Type(), least);
      }
    }
    limits.push_back(limit);
  }
  if (mask) {
    if (auto type = dyn_cast<VectorType>(mask.getType())) {
      TileLayout held = layout.restrictTo(type.getShape());
      FailureOr<Value> value = e.convertLayout(e.getTile(mask), held, op);
      if (failed(value))
        return failure();
      maskValue = *value;
      maskProjection = layout.projectRegisters(held, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    } else {
      maskValue = e.getScalar(mask);
    }
  }

  // Address: what all lanes share in 64 bits, the rest in 32 where it fits.
  steps.assign(rank, 0);
  int64_t reach = 0;
  align = 16;
  SmallVector<int64_t> strides;
  for (OpFoldResult stride : memory.strides)
    strides.push_back(getConstantIntValue(stride).value_or(ShapedType::kDynamic));
  for (auto [i, index] : llvm::enumerate(indices)) {
    linear.emplace_back();
    LinearIndex form;
    SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, rank));
    bool isLinear = decomposeIndex(index, rank, 1, dims, form);
    int64_t stride = strides[i];
    if (isLinear && stride != ShapedType::kDynamic) {
      for (auto [dim, coefficient] : form.coordinates)
        isLinear &= coefficient >= 0 && coefficient < (int64_t(1) << 31) && stride < (int64_t(1) << 31);
    } else if (isLinear) {
      isLinear = form.coordinates.empty();
    }
    int64_t divisor = std::min<int64_t>(e.analysis.getInfo(index).divisor, 4096);
    if (stride != ShapedType::kDynamic) {
      if (stride == 1 && vector > 1)
        divisor = std::max(divisor, std::min<int64_t>(vector, 4096));
      align = std::gcd(align, pow2Part(stride) * divisor * bytes);
    } else {
      align = std::gcd(align, getDivisor(e.analysis, memoryValue, i, stride, /*isStride=*/true) * divisor * bytes);
    }
    if (isLinear) {
      for (auto [dim, coefficient] : form.coordinates) {
        int64_t step = coefficient * stride * bytes, span;
        steps[dim] += step;
        if (llvm::MulOverflow(step, layout.getPaddedExtent(dim) - 1, span) || llvm::AddOverflow(reach, span, reach))
          reach = bufferSpan;
      }
      linear.back() = form;
      continue;
    }
    // An index that is inside is below the extent.
    std::optional<int64_t> extent = getConstantIntValue(memory.sizes[i]);
    int64_t span;
    if (!extent || stride == ShapedType::kDynamic || llvm::MulOverflow(*extent - 1, stride * bytes, span) ||
        llvm::AddOverflow(reach, span, reach))
      reach = bufferSpan;
    reach = std::min(reach, bufferSpan);
  }
  narrow = reach < bufferSpan - 65536;
  if (memory.isShared)
    narrow = true;
  // Lanes in the same 64-bit form when they do not fit.
  Value uniform;
  int64_t constant = 0;
  auto add = [&](Value &sum, Value term) { sum = sum ? Value(arith::AddIOp::create(b, loc, sum, term)) : term; };
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (!linear[i])
      continue;
    auto strided = [&](Value value, int64_t coefficient) -> Value {
      if (strides[i] == ShapedType::kDynamic) {
        value = arith::MulIOp::create(b, loc, value, cast<Value>(memory.strides[i]));
        coefficient *= bytes;
      } else {
        coefficient *= strides[i] * bytes;
      }
      return coefficient == 1 ? value : Value(arith::MulIOp::create(b, loc, value, e.i64(coefficient)));
    };
    for (auto [scalar, coefficient] : linear[i]->scalars)
      add(uniform, strided(e.toI64(e.getScalar(scalar)), coefficient));
    if (strides[i] == ShapedType::kDynamic) {
      if (linear[i]->constant)
        add(uniform, strided(e.i64(linear[i]->constant), 1));
    } else {
      constant += linear[i]->constant * strides[i] * bytes;
    }
  }
  if (constant)
    add(uniform, e.i64(constant));
  base = memory.base;
  auto pointerType = cast<LLVM::LLVMPointerType>(base.getType());
  // The safe place for masked lanes is the memory's own start.
  if (uniform) {
    if (memory.isShared)
      uniform = arith::TruncIOp::create(b, loc, b.getI32Type(), uniform);
    base = LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{uniform});
  }
  for (unsigned dim = 0; dim < rank; ++dim)
    if (steps[dim] != 0)
      if (Value coordinate = e.getThreadCoordinate(layout, dim)) {
        Value wide = narrow ? coordinate : Value(arith::ExtUIOp::create(b, loc, b.getI64Type(), coordinate));
        add(laneBase, steps[dim] == 1
                          ? wide
                          : Value(arith::MulIOp::create(b, loc, wide, narrow ? e.i32(steps[dim]) : e.i64(steps[dim]))));
      }
  useBuffer = e.bufferAccess && narrow && !memory.isShared && rank != 0;
  if (useBuffer) {
    Value stride = arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(0));
    resource = ROCDL::MakeBufferRsrcOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), 8), base, stride,
                                               e.i64(bufferSpan), e.i32(rawBufferFlags));
  }
  align = std::min<int64_t>(align, std::max<int64_t>(1, vector * bytes));
  (void)forLoad;
  return success();
}

Value Access::getIndex(unsigned i, int64_t reg) {
  return projections[i].empty() ? values[i] : e.extract(values[i], projections[i][reg]);
}

Value Access::getCondition(int64_t reg) {
  OpBuilder &b = e.b;
  Value condition = layout.getRank() ? e.isAlive(layout, shape, reg) : Value();
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (!needsCheck[i])
      continue;
    Value &check = checks[{i, projections[i].empty() ? 0 : projections[i][reg]}];
    if (!check) {
      Value index = getIndex(i, reg);
      if (index.getType().isIndex())
        index = e.toI64(index);
      else if (index.getType().getIntOrFloatBitWidth() < 32)
        index = arith::ExtSIOp::create(b, e.loc, b.getI32Type(), index);
      check = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ult, index, limits[i]);
    }
    condition = e.andMasks(condition, check);
  }
  if (mask)
    condition = e.andMasks(condition, maskProjection.empty() ? maskValue : e.extract(maskValue, maskProjection[reg]));
  return condition;
}

int64_t Access::getConstantOffset(int64_t reg) const {
  int64_t offset = 0;
  for (unsigned dim = 0; dim < layout.getRank(); ++dim)
    offset += layout.getRegisterCoordinate(dim, reg) * steps[dim];
  return offset;
}

/// Lane part without the constant of the register; 64 bits unless narrow.
Value Access::getLaneOffset32(int64_t reg) {
  OpBuilder &b = e.b;
  Value sum = laneBase;
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (linear[i])
      continue;
    Value index = e.toI64(getIndex(i, reg));
    if (narrow)
      index = arith::TruncIOp::create(b, e.loc, b.getI32Type(), index);
    std::optional<int64_t> stride = getConstantIntValue(memory.strides[i]);
    if (!stride) {
      index = arith::MulIOp::create(b, e.loc, index, cast<Value>(memory.strides[i]));
      stride = 1;
    }
    if (int64_t factor = *stride * bytes; factor != 1)
      index = arith::MulIOp::create(b, e.loc, index, narrow ? e.i32(factor) : e.i64(factor));
    sum = sum ? Value(arith::AddIOp::create(b, e.loc, sum, index)) : index;
  }
  return sum;
}

Value Access::getOffset(int64_t reg, Value condition) {
  OpBuilder &b = e.b;
  Value offset = getLaneOffset32(reg);
  if (!offset)
    offset = e.i32(0);
  if (condition)
    offset = arith::SelectOp::create(b, e.loc, condition, offset, e.i32(bufferSpan));
  if (int64_t constant = getConstantOffset(reg))
    offset = arith::AddIOp::create(b, e.loc, offset, e.i32(constant));
  return offset;
}

Value Access::getPointer(int64_t reg) {
  OpBuilder &b = e.b;
  auto type = cast<LLVM::LLVMPointerType>(base.getType());
  Value pointer = base;
  if (Value offset = getLaneOffset32(reg)) {
    // 32 bits are a number without sign.
    if (narrow && !memory.isShared)
      offset = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), offset);
    pointer = LLVM::GEPOp::create(b, e.loc, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{offset});
  }
  if (int64_t constant = getConstantOffset(reg)) {
    if (llvm::isInt<31>(constant))
      pointer = LLVM::GEPOp::create(b, e.loc, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{int32_t(constant)});
    else
      pointer = LLVM::GEPOp::create(b, e.loc, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{e.i64(constant)});
  }
  return pointer;
}

/// The type a buffer instruction moves: words, or one small integer.
static Type getTransferType(int64_t bits, Builder &b) {
  if (bits <= 32)
    return b.getIntegerType(bits);
  return VectorType::get(bits / 32, b.getI32Type());
}

static bool isZero(Value value) { return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat()); }

LogicalResult tile::lowerLoad(TileEmitter &e, Operation *op) {
  auto load = cast<atx::TileLoadOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  auto type = dyn_cast<VectorType>(load.getResult().getType());
  Value fill = load.getFill() ? e.getScalar(load.getFill()) : Value();
  if (fill && isZero(fill))
    fill = {};
  SmallVector<int64_t> shape;
  TileLayout layout;
  if (type) {
    layout = e.getLayout(load.getResult());
    shape = TileEmitter::getShape(load.getResult());
  }
  Access access(e, op, load.getMemory(), load.getIndices(), {}, layout, shape);
  if (failed(access.prepare(/*forLoad=*/true, 16)))
    return failure();
  Type element = access.getMemory().elementType, storage = e.getStorageType(element);
  Value zero = e.zero(element);
  Value otherwise = fill ? fill : zero;

  if (!type) {
    Value condition = access.getCondition(0);
    Value pointer = access.getPointer(0);
    if (condition)
      pointer = arith::SelectOp::create(b, loc, condition, pointer, access.getMemory().base);
    Value loaded = LLVM::LoadOp::create(b, loc, storage, pointer, access.getAlign());
    loaded = e.fromStorage(loaded, element);
    if (condition)
      loaded = arith::SelectOp::create(b, loc, condition, loaded, otherwise);
    e.setScalar(load.getResult(), e.makeUniform(loaded));
    return success();
  }

  int64_t vector = access.getVector(), count = layout.getNumRegisters();
  auto piece = VectorType::get(vector, storage);
  SmallVector<Value> pieces;
  for (int64_t reg = 0; reg < count; reg += vector) {
    if (access.isNever(reg)) {
      pieces.push_back(e.splat(zero, vector));
      continue;
    }
    ++(vector > 1 ? e.numVectorAccesses : e.numScalarAccesses);
    Value condition = access.getCondition(reg);
    Value loaded;
    if (access.usesBuffer()) {
      Value offset = access.getOffset(reg, condition);
      Value none = e.i32(0);
      loaded = ROCDL::RawPtrBufferLoadOp::create(b, loc, getTransferType(vector * access.getBytes() * 8, b),
                                                 access.getResource(), offset, none, none, ArrayAttr(), ArrayAttr(),
                                                 ArrayAttr());
      loaded = LLVM::BitcastOp::create(b, loc, piece, loaded);
    } else {
      Value pointer = access.getPointer(reg);
      if (condition)
        pointer = arith::SelectOp::create(b, loc, condition, pointer, access.getMemory().base);
      loaded = e.loadLDS(storage, vector, pointer, access.getAlign());
    }
    loaded = e.fromStorage(loaded, element);
    // Out of the span a buffer reads zero.
    if (condition && (fill || !access.usesBuffer()))
      loaded = arith::SelectOp::create(b, loc, condition, loaded, e.splat(otherwise, vector));
    pieces.push_back(loaded);
  }
  e.setTile(load.getResult(), e.concat(pieces));
  return success();
}

LogicalResult tile::lowerStore(TileEmitter &e, Operation *op) {
  auto store = cast<atx::TileStoreOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  auto type = dyn_cast<VectorType>(store.getValue().getType());
  SmallVector<int64_t> shape;
  TileLayout layout;
  if (type) {
    layout = e.getLayout(store.getValue());
    shape = TileEmitter::getShape(store.getValue());
  }
  Access access(e, op, store.getMemory(), store.getIndices(), store.getMask(), layout, shape);
  if (failed(access.prepare(/*forLoad=*/false, 16)))
    return failure();
  if (!type) {
    // One work-item speaks for all.
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, e.getThread(), e.i32(0));
    Value value = e.toStorage(e.getScalar(store.getValue()));
    e.emitIf(e.andMasks(first, access.getCondition(0)),
             [&] { LLVM::StoreOp::create(b, loc, value, access.getPointer(0), access.getAlign()); });
    return success();
  }
  Value stored = e.toStorage(e.getTile(store.getValue()).vector);
  int64_t vector = access.getVector(), count = layout.getNumRegisters();
  Value firstCopy = e.isFirstCopy(layout);
  for (int64_t reg = 0; reg < count; reg += vector) {
    if (access.isNever(reg))
      continue;
    ++(vector > 1 ? e.numVectorAccesses : e.numScalarAccesses);
    Value condition = e.andMasks(firstCopy, access.getCondition(reg));
    SmallVector<int64_t> regs = llvm::to_vector(llvm::seq<int64_t>(reg, reg + vector));
    Value piece = e.select(stored, regs);
    if (access.usesBuffer()) {
      Value none = e.i32(0);
      Value words = LLVM::BitcastOp::create(b, loc, getTransferType(vector * access.getBytes() * 8, b), piece);
      ROCDL::RawPtrBufferStoreOp::create(b, loc, words, access.getResource(), access.getOffset(reg, condition), none,
                                         none, ArrayAttr(), ArrayAttr(), ArrayAttr());
      continue;
    }
    Value pointer = access.getPointer(reg);
    e.emitIf(condition, [&] { e.storeLDS(piece, pointer, access.getAlign()); });
  }
  return success();
}

/// Reads, computes and exchanges until nobody came between. Unlike LLVM's own
/// expansion it reads the first value atomically. 16-bit elements are exchanged with
/// the word around them.
static Value emitCompareLoop(TileEmitter &e, Value pointer, Value value, StringRef scope,
                             function_ref<Value(Value)> compute) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type element = value.getType();
  unsigned bits = element.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(std::max(bits, 32u));
  int64_t bytes = std::max(bits, 32u) / 8;
  Value shift;
  if (bits < 32) {
    // Two halves to a word.
    Value address = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), pointer);
    Value low = arith::AndIOp::create(b, loc, address, e.i64(2));
    shift = arith::TruncIOp::create(b, loc, b.getI32Type(), arith::ShLIOp::create(b, loc, low, e.i64(3)).getResult());
    pointer = LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                                  ArrayRef<LLVM::GEPArg>{arith::SubIOp::create(b, loc, e.i64(0), low).getResult()});
  }
  auto unpack = [&](Value whole) -> Value {
    if (shift)
      whole = arith::TruncIOp::create(b, loc, b.getIntegerType(bits),
                                      arith::ShRUIOp::create(b, loc, whole, shift).getResult());
    return arith::BitcastOp::create(b, loc, element, whole);
  };
  auto repack = [&](Value whole, Value part) -> Value {
    Value raw = arith::BitcastOp::create(b, loc, b.getIntegerType(bits), part);
    if (!shift)
      return raw;
    Value field = arith::ShLIOp::create(b, loc, e.i32(0xFFFF), shift);
    Value rest = arith::AndIOp::create(b, loc, whole, arith::XOrIOp::create(b, loc, field, e.i32(-1)).getResult());
    Value moved = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, b.getI32Type(), raw).getResult(), shift);
    return arith::OrIOp::create(b, loc, rest, moved);
  };
  Value first =
      LLVM::LoadOp::create(b, loc, word, pointer, bytes, /*isVolatile=*/false, /*isNonTemporal=*/false,
                           /*isInvariant=*/false, /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{word}, ValueRange{first},
      [&](OpBuilder &, Location, ValueRange args) {
        Value next = repack(args[0], compute(unpack(args[0])));
        Value pair = LLVM::AtomicCmpXchgOp::create(b, loc, pointer, args[0], next, LLVM::AtomicOrdering::monotonic,
                                                   LLVM::AtomicOrdering::monotonic, scope, bytes);
        Value seen = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{0});
        Value done = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{1});
        Value again = arith::XOrIOp::create(b, loc, done, e.boolean(true));
        scf::ConditionOp::create(b, loc, again, ValueRange{seen});
      },
      [&](OpBuilder &, Location, ValueRange args) { scf::YieldOp::create(b, loc, args); });
  return unpack(loop.getResult(0));
}

LogicalResult tile::lowerAtomic(TileEmitter &e, Operation *op) {
  auto atomic = cast<atx::TileAtomicOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  auto type = dyn_cast<VectorType>(atomic.getValue().getType());
  SmallVector<int64_t> shape;
  TileLayout layout;
  if (type) {
    layout = e.getLayout(atomic.getOld());
    shape = TileEmitter::getShape(atomic.getValue());
    for (Value operand : {atomic.getValue(), atomic.getCompare()})
      if (operand && e.getLayout(operand) != layout)
        return op->emitError() << "operand is held in layout " << e.getLayout(operand).str() << " but needed in layout "
                               << layout.str();
  }
  Type element = getElementTypeOrSelf(atomic.getValue().getType());
  using Kind = atx::TileAtomicKind;
  using Bin = LLVM::AtomicBinOp;
  bool isFloat = isa<FloatType>(element);
  // Pairs of 16-bit floats are added in one step where nobody asks for the old values.
  bool packed = isFloat && element.getIntOrFloatBitWidth() == 16;
  Access access(e, op, atomic.getMemory(), atomic.getIndices(), atomic.getMask(), layout, shape);
  if (failed(access.prepare(/*forLoad=*/false, packed ? 2 : 1)))
    return failure();
  std::optional<Bin> kind;
  switch (atomic.getKind()) {
  case Kind::Add:
    kind = isFloat ? Bin::fadd : Bin::add;
    break;
  case Kind::Max:
    kind = isFloat ? Bin::fmaximum : Bin::max;
    break;
  case Kind::Min:
    kind = isFloat ? Bin::fminimum : Bin::min;
    break;
  case Kind::UMax:
    kind = Bin::umax;
    break;
  case Kind::UMin:
    kind = Bin::umin;
    break;
  case Kind::And:
    kind = Bin::_and;
    break;
  case Kind::Or:
    kind = Bin::_or;
    break;
  case Kind::Xor:
    kind = Bin::_xor;
    break;
  case Kind::Exchange:
    kind = Bin::xchg;
    break;
  case Kind::Cas:
    break;
  }
  StringRef scope = access.getMemory().isShared ? "workgroup" : "agent";
  bool wanted = !atomic.getOld().use_empty();
  auto apply = [&](Value value, Value compare, Value pointer, int64_t align) -> Value {
    if (!kind) {
      auto integer = b.getIntegerType(element.getIntOrFloatBitWidth());
      auto asBits = [&](Value v) -> Value {
        return v.getType() == integer ? v : Value(arith::BitcastOp::create(b, loc, integer, v));
      };
      Value pair =
          LLVM::AtomicCmpXchgOp::create(b, loc, pointer, asBits(compare), asBits(value),
                                        LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic, scope, align);
      Value old = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{0});
      return element == integer ? old : Value(arith::BitcastOp::create(b, loc, element, old));
    }
    bool native =
        !isFloat || (*kind == Bin::fadd && (element.getIntOrFloatBitWidth() >= 32 || isa<VectorType>(value.getType())));
    if (!native && *kind != Bin::xchg)
      return emitCompareLoop(e, pointer, value, scope, [&](Value old) -> Value {
        if (*kind == Bin::fadd)
          return arith::AddFOp::create(b, loc, old, value);
        return emitExtremum(e, old, value, *kind == Bin::fmaximum);
      });
    auto rmw = LLVM::AtomicRMWOp::create(b, loc, *kind, pointer, value, LLVM::AtomicOrdering::monotonic, scope, align);
    if (isFloat) {
      // Tensors lie in the device's own memory: the hardware's addition is atomic
      // there.
      rmw->setDiscardableAttr("rocdl.no_fine_grained_memory", b.getUnitAttr());
      rmw->setDiscardableAttr("rocdl.no_remote_memory", b.getUnitAttr());
      rmw->setDiscardableAttr("rocdl.ignore_denormal_mode", b.getUnitAttr());
    }
    return rmw.getRes();
  };
  Value zero = e.zero(element);
  if (!type) {
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, e.getThread(), e.i32(0));
    Value value = e.getScalar(atomic.getValue());
    Value compare = atomic.getCompare() ? e.getScalar(atomic.getCompare()) : Value();
    Value condition = e.andMasks(first, access.getCondition(0));
    Value old =
        e.emitIfValue(condition, zero, [&] { return apply(value, compare, access.getPointer(0), access.getBytes()); });
    if (wanted) {
      FailureOr<int64_t> slot = e.acquireScratch(8, op);
      if (failed(slot))
        return failure();
      e.emitIf(first, [&] { e.storeLDS(e.splat(old, 1), e.getLDS(*slot), access.getBytes()); });
      e.ldsBarrier();
      old = e.makeUniform(e.extract(e.loadLDS(element, 1, e.getLDS(*slot), access.getBytes()), 0));
    }
    e.setScalar(atomic.getOld(), old);
    return success();
  }
  Value values = e.getTile(atomic.getValue()).vector;
  Value compares = atomic.getCompare() ? e.getTile(atomic.getCompare()).vector : Value();
  Value firstCopy = e.isFirstCopy(layout);
  int64_t count = layout.getNumRegisters(), vector = access.getVector();
  if (vector == 2 && (wanted || access.getAlign() < 4 || atomic.getKind() != Kind::Add))
    vector = 1;
  SmallVector<Value> olds;
  for (int64_t reg = 0; reg < count; reg += vector) {
    if (access.isNever(reg)) {
      olds.append(vector, zero);
      continue;
    }
    Value condition = e.andMasks(firstCopy, access.getCondition(reg));
    Value pointer = access.getPointer(reg);
    if (vector == 2) {
      Value pair = e.select(values, {reg, reg + 1});
      e.emitIf(condition, [&] { apply(pair, {}, pointer, 4); });
      olds.append(2, zero);
      continue;
    }
    Value value = e.extract(values, reg);
    Value compare = compares ? e.extract(compares, reg) : Value();
    olds.push_back(e.emitIfValue(condition, zero, [&] { return apply(value, compare, pointer, access.getBytes()); }));
  }
  Value old = e.pack(olds);
  if (wanted) {
    FailureOr<Value> spread = e.spreadFirstCopy({old, layout, shape}, op);
    if (failed(spread))
      return failure();
    old = *spread;
  }
  e.setTile(atomic.getOld(), old);
  return success();
}
