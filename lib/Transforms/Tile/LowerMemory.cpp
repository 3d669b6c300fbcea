//===- LowerMemory.cpp - Loads, stores and atomics of tiles ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "TileLowering.h"
#include "atrex/Target/CopyInstructions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

/// Bytes a buffer resource spans; masked accesses go to this offset, which reads zero
/// and drops writes.
static constexpr int64_t bufferSpan = int64_t(1) << 31;

static int64_t pow2Part(int64_t value) { return value == 0 ? 4096 : std::min<int64_t>(4096, value & -value); }

static int64_t getStorageBytes(Type element) {
  if (element.isIndex())
    return 8;
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

namespace {
/// How far elements lie apart: `step` parts of a byte of which it has 1 << `shift`.
struct ElementSize {
  int64_t step = 1;
  unsigned shift = 0;
  /// Elements that fill whole bytes.
  int64_t unit = 1;
  explicit ElementSize(Type element) : step(getStorageBytes(element)) {
    if (!isPackedType(element))
      return;
    int64_t bits = element.getIntOrFloatBitWidth();
    step = bits / std::gcd(bits, int64_t(8));
    unit = 8 / std::gcd(bits, int64_t(8));
    shift = llvm::Log2_64(unit);
  }
  /// Bytes of neighbours, a multiple of `unit`.
  int64_t getBytes(int64_t elements) const { return (elements * step) >> shift; }
};
} // namespace

/// Bytes that go at once of an access to `bytes`: words where it has whole ones.
static int64_t getChunk(int64_t bytes) { return std::min<int64_t>(4, bytes & -bytes); }

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

/// The most that an extent or stride can be, from constants and constraints.
static std::optional<int64_t> getMost(IndexAnalysis &analysis, Value memory, unsigned dim, bool isStride) {
  auto view = memory.getDefiningOp<memref::ReinterpretCastOp>();
  auto type = cast<MemRefType>(memory.getType());
  if (!view)
    return !isStride && !type.isDynamicDim(dim) ? std::optional(type.getDimSize(dim)) : std::nullopt;
  OpFoldResult value = isStride ? view.getMixedStrides()[dim] : view.getMixedSizes()[dim];
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return constant;
  std::optional<Bounds> range = analysis.getRange(cast<Value>(value));
  return range ? std::optional(range->max) : std::nullopt;
}

ArrayRef<int64_t> tile::getInside(Operation *op) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(insideAttrName);
  return attr ? attr.asArrayRef() : ArrayRef<int64_t>();
}

AccessPattern tile::analyzeAccess(IndexAnalysis &analysis, Value memoryValue, ValueRange indices, Value mask,
                                  ArrayRef<int64_t> shape, ArrayRef<int64_t> known) {
  auto memory = cast<MemRefType>(memoryValue.getType());
  AccessPattern pattern;
  pattern.bytes = getStorageBytes(memory.getElementType());
  ElementSize size(memory.getElementType());
  pattern.unit = size.unit;
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
  // Up to 16 bytes, a power of two of elements.
  int64_t vector = llvm::bit_floor(uint64_t(std::max<int64_t>(1, (int64_t(16) << size.shift) / size.step)));
  auto limit = [&](int64_t most) { vector = std::min(vector, std::max<int64_t>(1, most & -most)); };
  limit(std::min<int64_t>(last.contiguity[dim], 4096));
  limit(std::gcd(last.divisibility[dim], int64_t(4096)));
  std::optional<Bounds> range = analysis.getRange(indices[*unit]);
  int64_t extent = memory.getDimSize(*unit);
  bool inside = llvm::is_contained(known, int64_t(*unit)) ||
                (range && !ShapedType::isDynamic(extent) && range->min >= 0 && range->max < extent);
  if (!inside)
    limit(getDivisor(analysis, memoryValue, *unit, extent, /*isStride=*/false));
  // What is added to the address, and stays the same along the vector.
  int64_t align = int64_t(16) << size.shift;
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (i == *unit)
      continue;
    const AxisInfo &info = analysis.getInfo(indices[i]);
    if (dim < info.constancy.size())
      limit(std::min<int64_t>(info.constancy[dim], 4096));
    int64_t stride = getDivisor(analysis, memoryValue, i, strides[i], /*isStride=*/true);
    align = std::gcd(align, stride * std::min<int64_t>(info.divisor, 4096) * size.step);
  }
  if (mask) {
    const AxisInfo &info = analysis.getInfo(mask);
    if (dim < info.constancy.size())
      limit(std::min<int64_t>(info.constancy[dim], 4096));
  }
  align >>= size.shift;
  // Global memory takes words of any width at multiples of four bytes.
  while (vector > 1 && align < getChunk(size.getBytes(vector)))
    vector /= 2;
  // Packed elements go in whole bytes or one by one.
  pattern.vector = vector < size.unit ? 1 : vector;
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

/// The cache policy operand of a buffer instruction: non-temporal for what is touched once.
static Value getCachePolicy(TileEmitter &e, Operation *op) {
  constexpr int64_t nonTemporal = 2;
  bool streams = e.streams && op->hasAttr(streamingAttrName);
  e.numNonTemporal += streams;
  return e.i32(streams ? nonTemporal : 0);
}

static bool isZero(Value value) { return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat()); }

/// Whether the index is a sum of parts that are not negative.
static bool isNeverNegative(IndexAnalysis &analysis, const LinearIndex &form) {
  return form.constant >= 0 && llvm::all_of(form.scalars, [&](auto term) {
           std::optional<Bounds> range = analysis.getRange(term.first);
           return term.second >= 0 && range && range->min >= 0;
         });
}

namespace {

/// Emits one access of a tile.
class Access {
public:
  Access(TileEmitter &e, Operation *op, Value memoryValue, ValueRange indices, Value mask, const TileLayout &layout,
         ArrayRef<int64_t> shape)
      : e(e), op(op), memoryValue(memoryValue), indices(indices), mask(mask), layout(layout),
        shape(shape.begin(), shape.end()), size(cast<MemRefType>(memoryValue.getType()).getElementType()) {}

  /// `dropsOutside`: reading zero and writing nothing is all that happens outside of the memory.
  LogicalResult prepare(bool dropsOutside, int64_t maxVector);
  int64_t getVector() const { return vector; }
  const MemoryRef &getMemory() const { return memory; }
  /// i1: registers from `reg` are inside and not masked; null where always so.
  Value getCondition(int64_t reg);
  bool isNever(int64_t reg) const { return TileEmitter::isAlwaysDead(layout, shape, reg); }
  bool usesBuffer() const { return useBuffer; }
  /// Of the accesses of register `reg`.
  Value getResource(int64_t reg);
  /// Buffer: byte offset, out of the span where `condition` is false.
  Value getOffset(int64_t reg, Value condition);
  /// Pointer of the element.
  Value getPointer(int64_t reg);
  int64_t getAlign() const { return align; }
  int64_t getBytes() const { return size.step; }
  /// Bytes of one access.
  int64_t getVectorBytes() const { return size.getBytes(vector); }
  const ElementSize &getElementSize() const { return size; }
  /// As getOffset(), for an element whose coordinates are i32 values of the lane; only where isByCoordinates().
  Value getOffsetAt(ArrayRef<Value> coordinates);
  /// Whether every position is a sum of coordinates and what all lanes share, and none can be negative where it
  /// is compared with an extent.
  bool isByCoordinates() const;
  /// Packed elements one by one: the byte, or that in which the element ends, and
  /// the first bit.
  Value getPackedByte(int64_t reg, Value condition, bool second);
  Value getPackedBit(int64_t reg);

private:
  /// All lanes of a wave have the same value of index `i`, in every register.
  bool isWaveUniform(unsigned i) const;
  Value makeResource(Value start, Value span);
  /// Elements follow one another without gaps, row after row, and indices but the outermost are known to be inside.
  bool isDense() const;
  Value getIndex(unsigned i, int64_t reg);
  /// i64.
  Value getExtent(unsigned i);
  int64_t getConstantOffset(int64_t reg) const;
  Value getLaneOffset32(int64_t reg);
  /// Parts of a byte from the base to register `reg`, and the rest in bytes.
  Value getPackedPosition(int64_t reg, int64_t &constantBytes);
  /// Offset of the lane in bytes, null for 0, and the rest.
  Value getByteOffset(int64_t reg, int64_t &constant);
  Value addToBase(Value offset, int64_t constant);

  TileEmitter &e;
  Operation *op;
  Value memoryValue;
  ValueRange indices;
  Value mask;
  TileLayout layout;
  SmallVector<int64_t> shape;

  MemoryRef memory;
  int64_t vector = 1, align = 1;
  ElementSize size;
  /// Of every index: the lane's elements, and the register for each of the layout's.
  SmallVector<Value> values;
  SmallVector<SmallVector<int64_t>> projections;
  Value maskValue;
  SmallVector<int64_t> maskProjection;
  SmallVector<bool> needsCheck;
  SmallVector<Value> limits;
  DenseMap<std::pair<unsigned, int64_t>, Value> checks;
  /// i32: what the coordinates' part of an index must be below; see getOffsetAt().
  SmallVector<Value> limitsAt;

  SmallVector<std::optional<LinearIndex>> linear;
  bool narrow = true, useBuffer = false;
  /// Indices that move the buffer of a wave, in 64 bits; one that is outside leaves it empty.
  SmallVector<bool> movesBuffer;
  std::map<std::vector<int64_t>, Value> movedResources;
  /// Memory's base plus what is the same for all lanes.
  Value base, resource;
  /// i64 elements: what is the same for all lanes of the outermost index, where the buffer's size bounds it.
  Value outerUniform;
  /// Bytes, or parts of them, by dimension of the tile, and the sum over work-items.
  SmallVector<int64_t> steps;
  Value laneBase;
  /// Parts of a byte that the base leaves over, i32; null for 0.
  Value baseRest;
};

} // namespace

LogicalResult Access::prepare(bool dropsOutside, int64_t maxVector) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  FailureOr<MemoryRef> ref = e.getMemory(memoryValue, op);
  if (failed(ref))
    return failure();
  memory = *ref;
  Type element = memory.elementType;
  if (!element.isIndex() && !element.isInteger(1) && !isPackedType(element) && element.getIntOrFloatBitWidth() % 8 != 0)
    return op->emitError() << "'" << op->getName() << "' accesses elements of " << element
                           << " in memory, which do not fill bytes";
  const int64_t bytes = size.step;
  unsigned rank = layout.getRank();

  AccessPattern pattern = analyzeAccess(e.analysis, memoryValue, indices, mask, shape, getInside(op));
  vector = 1;
  if (rank != 0) {
    int64_t run = layout.getRunLength(pattern.contiguousDim);
    vector = std::min({pattern.vector, run & -run, maxVector});
    while (shape[pattern.contiguousDim] % vector != 0)
      vector /= 2;
    if (vector < size.unit)
      vector = 1;
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
    OpFoldResult extentValue = memory.sizes[i];
    std::optional<Bounds> range = e.analysis.getRange(index);
    std::optional<int64_t> extent = getConstantIntValue(extentValue);
    needsCheck.push_back(!llvm::is_contained(getInside(op), int64_t(i)) &&
                         !(range && extent && range->min >= 0 && range->max < *extent));
    Value limit;
    if (needsCheck.back()) {
      Type type = getElementTypeOrSelf(index.getType());
      bool wide = type.isIndex() || type.getIntOrFloatBitWidth() > 32;
      if (extent) {
        limit = wide ? e.i64(*extent) : e.i32(std::min<int64_t>(*extent, int64_t(1) << 31));
      } else if (wide) {
        limit = cast<Value>(extentValue);
      } else {
        Value least = arith::MinUIOp::create(b, loc, cast<Value>(extentValue), e.i64(int64_t(1) << 31));
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

  bool canMoveBuffer = dropsOutside && size.shift == 0 && e.bufferAccess && !memory.isShared && rank != 0;
  // Address: what all lanes share in 64 bits, the rest in 32 where it fits.
  steps.assign(rank, 0);
  movesBuffer.assign(indices.size(), false);
  int64_t reach = 0, reachOfLanes = 0;
  align = int64_t(16) << size.shift;
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
        if (llvm::MulOverflow(step, layout.getPaddedExtent(dim) - 1, span))
          span = bufferSpan;
        if (llvm::AddOverflow(reach, span, reach))
          reach = bufferSpan;
        if (llvm::AddOverflow(reachOfLanes, span, reachOfLanes))
          reachOfLanes = bufferSpan;
      }
      linear.back() = form;
      continue;
    }
    // An index that is inside is below the extent.
    std::optional<int64_t> extent = getConstantIntValue(memory.sizes[i]), far = stride;
    if (!extent)
      extent = getMost(e.analysis, memoryValue, i, /*isStride=*/false);
    if (stride == ShapedType::kDynamic)
      far = getMost(e.analysis, memoryValue, i, /*isStride=*/true);
    int64_t span;
    bool isFar = !extent || !far || *far >= bufferSpan || llvm::MulOverflow(*extent - 1, *far * bytes, span) ||
                 span >= bufferSpan;
    movesBuffer[i] = isFar && canMoveBuffer && stride != ShapedType::kDynamic && isWaveUniform(i);
    if (isFar || llvm::AddOverflow(reach, span, reach))
      reach = bufferSpan;
    reach = std::min(reach, bufferSpan);
    if (!movesBuffer[i] && (isFar || llvm::AddOverflow(reachOfLanes, span, reachOfLanes)))
      reachOfLanes = bufferSpan;
    reachOfLanes = std::min(reachOfLanes, bufferSpan);
  }
  narrow = reach < bufferSpan - 65536;
  // What is far for a lane may be the same for its wave.
  if (!narrow && reachOfLanes < bufferSpan - 65536 && llvm::is_contained(movesBuffer, true))
    narrow = true;
  else
    movesBuffer.assign(indices.size(), false);
  // The outermost index of a dense tensor that counts up from somewhere inside or behind needs no check of lanes: a
  // buffer that ends with the tensor reads zero behind it and drops writes.
  bool isBounded = dropsOutside && !llvm::is_contained(movesBuffer, true) && size.shift == 0 && e.bufferAccess &&
                   narrow && !memory.isShared && rank != 0 && needsCheck[0] && linear[0] &&
                   !linear[0]->coordinates.empty() && isNeverNegative(e.analysis, *linear[0]) && isDense();
  if (memory.isShared)
    narrow = true;
  if (e.remarks && !narrow && rank != 0) {
    unsigned at = 0;
    while (at + 1 < indices.size() && linear[at])
      ++at;
    op->emitRemark() << "lanes address this tile by 64 bits, with a comparison each: "
                     << (linear[at]
                             ? std::string("it spans more than 2 GiB")
                             : "index " + std::to_string(at) +
                                   " comes from a computation or from memory, and how far it reaches is not known")
                     << "; fix the tensor's dimensions with --dim, or use a smaller tile [wide-address]";
  }
  // Lanes in the same 64-bit form when they do not fit.
  Value uniform;
  int64_t constant = 0;
  // What divides the sum.
  int64_t divisor = int64_t(1) << size.shift;
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
    int64_t stride = getDivisor(e.analysis, memoryValue, i, strides[i], /*isStride=*/true);
    if (i == 0 && isBounded) {
      Value sum;
      for (auto [scalar, coefficient] : linear[i]->scalars) {
        Value term = e.toI64(e.getScalar(scalar));
        add(sum, coefficient == 1 ? term : Value(arith::MulIOp::create(b, loc, term, e.i64(coefficient))));
      }
      if (linear[i]->constant)
        add(sum, e.i64(linear[i]->constant));
      outerUniform = sum ? sum : e.i64(0);
      continue;
    }
    for (auto [scalar, coefficient] : linear[i]->scalars) {
      add(uniform, strided(e.toI64(e.getScalar(scalar)), coefficient));
      int64_t known = std::min<int64_t>(e.analysis.getInfo(scalar).divisor, 4096);
      divisor = std::gcd(divisor, pow2Part(coefficient) * known * stride);
    }
    if (strides[i] == ShapedType::kDynamic) {
      if (linear[i]->constant)
        add(uniform, strided(e.i64(linear[i]->constant), 1));
    } else {
      constant += linear[i]->constant * strides[i] * bytes;
    }
  }
  if (constant)
    add(uniform, e.i64(constant));
  if (size.shift != 0 && uniform) {
    if (std::gcd(divisor, pow2Part(constant)) < (int64_t(1) << size.shift)) {
      Value low = arith::AndIOp::create(b, loc, uniform, e.i64((int64_t(1) << size.shift) - 1));
      baseRest = arith::TruncIOp::create(b, loc, b.getI32Type(), low);
    }
    uniform = arith::ShRSIOp::create(b, loc, uniform, e.i64(size.shift));
  }
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
    Value span = e.i64(bufferSpan);
    if (isBounded) {
      int64_t rowBytes = *getConstantIntValue(memory.strides[0]) * bytes;
      Value zero = e.i64(0);
      Value rows = getConstantIntValue(memory.sizes[0]) ? e.i64(*getConstantIntValue(memory.sizes[0]))
                                                        : cast<Value>(memory.sizes[0]);
      Value first = arith::MinSIOp::create(b, loc, outerUniform, rows);
      Value left =
          arith::MulIOp::create(b, loc, arith::SubIOp::create(b, loc, rows, first).getResult(), e.i64(rowBytes));
      if (uniform)
        left = arith::SubIOp::create(b, loc, left, uniform);
      span = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, left, span).getResult(), zero);
      Value start = arith::MulIOp::create(b, loc, first, e.i64(rowBytes));
      base = LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{start});
      needsCheck[0] = false;
    }
    if (!llvm::is_contained(movesBuffer, true))
      resource = makeResource(base, span);
  }
  // Of a packed access alone only its chunks are aligned.
  int64_t whole = size.shift == 0 ? vector * bytes : size.getBytes(vector) & -size.getBytes(vector);
  align = std::clamp<int64_t>(align >> size.shift, 1, std::max<int64_t>(1, whole));
  return success();
}

Value Access::makeResource(Value start, Value span) {
  Value stride = arith::ConstantOp::create(e.b, e.loc, e.b.getI16IntegerAttr(0));
  return ROCDL::MakeBufferRsrcOp::create(e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), 8), start, stride,
                                         span, e.i32(rawBufferDescriptorFlags));
}

bool Access::isWaveUniform(unsigned i) const {
  auto type = dyn_cast<VectorType>(indices[i].getType());
  if (!type)
    return true;
  TileLayout held = layout.restrictTo(type.getShape());
  const AxisInfo &info = e.analysis.getInfo(indices[i]);
  for (unsigned dim = 0; dim < held.getRank(); ++dim) {
    if (type.getDimSize(dim) == 1)
      continue;
    // The first and the last lane of a wave hold the ends of its range.
    for (int64_t reg = 0, count = held.getNumRegisters(); reg < count; ++reg)
      for (int64_t wave = 0; wave < held.getThreads(); wave += 64) {
        int64_t first = held.getRegisterCoordinate(dim, reg) + held.getThreadCoordinate(dim, wave);
        int64_t last = held.getRegisterCoordinate(dim, reg) + held.getThreadCoordinate(dim, wave + 63);
        if (first / info.constancy[dim] != last / info.constancy[dim])
          return false;
      }
  }
  return true;
}

Value Access::getResource(int64_t reg) {
  if (resource)
    return resource;
  OpBuilder &b = e.b;
  std::vector<int64_t> key;
  for (unsigned i = 0; i < indices.size(); ++i)
    if (movesBuffer[i])
      key.push_back(projections[i].empty() ? 0 : projections[i][reg]);
  Value &moved = movedResources[key];
  if (moved)
    return moved;
  Value offset, inside;
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (!movesBuffer[i])
      continue;
    Value index = e.makeUniform(getIndex(i, reg));
    if (needsCheck[i]) {
      Value compared = index.getType().isIndex() ? e.toI64(index) : index;
      if (compared.getType().getIntOrFloatBitWidth() < 32)
        compared = arith::ExtSIOp::create(b, e.loc, b.getI32Type(), compared);
      inside = e.andMasks(inside, arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ult, compared, limits[i]));
    }
    Value term =
        arith::MulIOp::create(b, e.loc, e.toI64(index), e.i64(*getConstantIntValue(memory.strides[i]) * size.step));
    offset = offset ? Value(arith::AddIOp::create(b, e.loc, offset, term)) : term;
  }
  Value span = e.i64(bufferSpan);
  if (inside) {
    offset = arith::SelectOp::create(b, e.loc, inside, offset, e.i64(0));
    span = arith::SelectOp::create(b, e.loc, inside, span, e.i64(0));
  }
  Value start = LLVM::GEPOp::create(b, e.loc, base.getType(), b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
  return moved = makeResource(start, span);
}

bool Access::isDense() const {
  int64_t next = 1;
  for (int64_t i = int64_t(memory.sizes.size()) - 1; i >= 0; --i) {
    if (getConstantIntValue(memory.strides[i]) != next)
      return false;
    if (i == 0)
      break;
    std::optional<int64_t> extent = getConstantIntValue(memory.sizes[i]);
    if (!extent || needsCheck[i] || llvm::MulOverflow(next, *extent, next) || next * size.step >= bufferSpan / 4096)
      return false;
  }
  return true;
}

Value Access::getIndex(unsigned i, int64_t reg) {
  return projections[i].empty() ? values[i] : e.extract(values[i], projections[i][reg]);
}

Value Access::getCondition(int64_t reg) {
  OpBuilder &b = e.b;
  Value condition = layout.getRank() ? e.isAlive(layout, shape, reg) : Value();
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (!needsCheck[i] || movesBuffer[i])
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
    if (linear[i] || movesBuffer[i])
      continue;
    Value index = e.toI64(getIndex(i, reg));
    if (narrow)
      index = arith::TruncIOp::create(b, e.loc, b.getI32Type(), index);
    std::optional<int64_t> stride = getConstantIntValue(memory.strides[i]);
    if (!stride) {
      Value factor = cast<Value>(memory.strides[i]);
      if (narrow)
        factor = arith::TruncIOp::create(b, e.loc, b.getI32Type(), factor);
      index = arith::MulIOp::create(b, e.loc, index, factor);
      stride = 1;
    }
    if (int64_t factor = *stride * size.step; factor != 1)
      index = arith::MulIOp::create(b, e.loc, index, narrow ? e.i32(factor) : e.i64(factor));
    sum = sum ? Value(arith::AddIOp::create(b, e.loc, sum, index)) : index;
  }
  return sum;
}

Value Access::getPackedPosition(int64_t reg, int64_t &constantBytes) {
  OpBuilder &b = e.b;
  Value position = getLaneOffset32(reg);
  auto isWide = [&] { return position && position.getType().isInteger(64); };
  auto add = [&](Value term) {
    if (isWide())
      term = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), term);
    position = position ? Value(arith::AddIOp::create(b, e.loc, position, term)) : term;
  };
  if (baseRest)
    add(baseRest);
  // Floors, so that what is left is not negative.
  int64_t constant = getConstantOffset(reg), rest = constant & ((int64_t(1) << size.shift) - 1);
  constantBytes = (constant - rest) >> size.shift;
  if (rest)
    add(e.i32(rest));
  return position;
}

Value Access::getByteOffset(int64_t reg, int64_t &constant) {
  OpBuilder &b = e.b;
  if (size.shift == 0) {
    constant = getConstantOffset(reg);
    return getLaneOffset32(reg);
  }
  Value position = getPackedPosition(reg, constant);
  if (!position)
    return {};
  // 32 bits are a number without sign.
  if (position.getType().isInteger(64))
    return arith::ShRSIOp::create(b, e.loc, position, e.i64(size.shift));
  return arith::ShRUIOp::create(b, e.loc, position, e.i32(size.shift));
}

Value Access::getOffset(int64_t reg, Value condition) {
  OpBuilder &b = e.b;
  int64_t constant;
  Value offset = getByteOffset(reg, constant);
  if (!offset)
    offset = e.i32(0);
  if (condition)
    offset = arith::SelectOp::create(b, e.loc, condition, offset, e.i32(bufferSpan));
  if (constant)
    offset = arith::AddIOp::create(b, e.loc, offset, e.i32(constant));
  return offset;
}

bool Access::isByCoordinates() const {
  for (auto [form, check] : llvm::zip_equal(linear, needsCheck))
    if (!form || (check && !isNeverNegative(e.analysis, *form)))
      return false;
  return true;
}

Value Access::getOffsetAt(ArrayRef<Value> coordinates) {
  OpBuilder &b = e.b;
  auto add = [&](Value &sum, Value value, int64_t factor) {
    if (factor == 0)
      return;
    if (factor != 1)
      value = arith::MulIOp::create(b, e.loc, value, e.i32(factor));
    sum = sum ? Value(arith::AddIOp::create(b, e.loc, sum, value)) : value;
  };
  Value offset, condition;
  for (unsigned dim = 0; dim < coordinates.size(); ++dim)
    add(offset, coordinates[dim], steps[dim]);
  limitsAt.resize(indices.size());
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (!needsCheck[i])
      continue;
    if (!limitsAt[i]) {
      // What is left of the extent behind the part that all lanes share.
      Value left = arith::ConstantOp::create(b, e.loc, b.getI64IntegerAttr(-linear[i]->constant));
      left = arith::AddIOp::create(b, e.loc, left, getExtent(i));
      for (auto [scalar, factor] : linear[i]->scalars)
        left = arith::SubIOp::create(
            b, e.loc, left, arith::MulIOp::create(b, e.loc, e.toI64(e.getScalar(scalar)), e.i64(factor)).getResult());
      left = arith::MaxSIOp::create(b, e.loc, left, e.i64(0));
      left = arith::MinSIOp::create(b, e.loc, left, e.i64(INT32_MAX));
      limitsAt[i] = arith::TruncIOp::create(b, e.loc, b.getI32Type(), left);
    }
    Value part;
    for (auto [dim, factor] : linear[i]->coordinates)
      add(part, coordinates[dim], factor);
    if (!part)
      part = e.i32(0);
    condition = e.andMasks(condition,
                           arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ult, part, limitsAt[i]).getResult());
  }
  if (!offset)
    offset = e.i32(0);
  return condition ? Value(arith::SelectOp::create(b, e.loc, condition, offset, e.i32(bufferSpan))) : offset;
}

Value Access::getExtent(unsigned i) {
  if (std::optional<int64_t> extent = getConstantIntValue(memory.sizes[i]))
    return e.i64(*extent);
  return cast<Value>(memory.sizes[i]);
}

Value Access::addToBase(Value offset, int64_t constant) {
  OpBuilder &b = e.b;
  auto type = cast<LLVM::LLVMPointerType>(base.getType());
  Value pointer = base;
  if (offset) {
    // 32 bits are a number without sign.
    if (offset.getType().isInteger(32) && !memory.isShared)
      offset = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), offset);
    pointer = LLVM::GEPOp::create(b, e.loc, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{offset});
  }
  if (constant) {
    if (llvm::isInt<31>(constant))
      pointer = LLVM::GEPOp::create(b, e.loc, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{int32_t(constant)});
    else
      pointer = LLVM::GEPOp::create(b, e.loc, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{e.i64(constant)});
  }
  return pointer;
}

Value Access::getPointer(int64_t reg) {
  int64_t constant;
  Value offset = getByteOffset(reg, constant);
  return addToBase(offset, constant);
}

Value Access::getPackedBit(int64_t reg) {
  OpBuilder &b = e.b;
  int64_t constant;
  Value position = getPackedPosition(reg, constant);
  if (!position)
    return e.i32(0);
  if (position.getType().isInteger(64))
    position = arith::TruncIOp::create(b, e.loc, b.getI32Type(), position);
  Value part = arith::AndIOp::create(b, e.loc, position, e.i32((int64_t(1) << size.shift) - 1));
  return arith::MulIOp::create(b, e.loc, part, e.i32(8 >> size.shift));
}

Value Access::getPackedByte(int64_t reg, Value condition, bool second) {
  OpBuilder &b = e.b;
  int64_t constant;
  Value offset = getPackedPosition(reg, constant);
  if (offset) {
    // The last bit lies step - 1 parts, and less than one, behind the first.
    bool isWide = offset.getType().isInteger(64);
    auto number = [&](int64_t value) { return isWide ? e.i64(value) : e.i32(value); };
    if (second)
      offset = arith::AddIOp::create(b, e.loc, offset, number(size.step - 1));
    offset = isWide ? Value(arith::ShRSIOp::create(b, e.loc, offset, number(size.shift)))
                    : Value(arith::ShRUIOp::create(b, e.loc, offset, number(size.shift)));
  }
  Type byte = b.getI8Type();
  if (useBuffer) {
    if (!offset)
      offset = e.i32(0);
    if (condition)
      offset = arith::SelectOp::create(b, e.loc, condition, offset, e.i32(bufferSpan));
    if (constant)
      offset = arith::AddIOp::create(b, e.loc, offset, e.i32(constant));
    Value none = e.i32(0);
    return ROCDL::RawPtrBufferLoadOp::create(b, e.loc, byte, getResource(reg), offset, none, none, ArrayAttr(),
                                             ArrayAttr(), ArrayAttr());
  }
  Value pointer = addToBase(offset, constant);
  if (condition)
    pointer = arith::SelectOp::create(b, e.loc, condition, pointer, memory.base);
  return e.extract(e.loadLDS(byte, 1, pointer, 1), 0);
}

/// The type a buffer instruction moves: words, or one small integer.
static Type getTransferType(int64_t bits, Builder &b) {
  if (bits <= 32)
    return b.getIntegerType(bits);
  return VectorType::get(bits / 32, b.getI32Type());
}

/// Number of bits of the chunks in which `bytes` go.
static unsigned getChunkBits(int64_t bytes) { return unsigned(getChunk(bytes)) * 8; }

/// One packed element from the byte or two in which it lies.
static Value loadPackedElement(TileEmitter &e, Access &access, Type element, int64_t reg, Value condition) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type word = b.getI32Type();
  Value bits = arith::ExtUIOp::create(b, loc, word, access.getPackedByte(reg, condition, /*second=*/false));
  unsigned width = element.getIntOrFloatBitWidth();
  if (8 % width != 0) {
    Value high = arith::ExtUIOp::create(b, loc, word, access.getPackedByte(reg, condition, /*second=*/true));
    bits = arith::OrIOp::create(b, loc, bits, arith::ShLIOp::create(b, loc, high, e.i32(8)).getResult());
  }
  bits = arith::ShRUIOp::create(b, loc, bits, access.getPackedBit(reg));
  bits = arith::AndIOp::create(b, loc, bits, e.i32((1 << width) - 1));
  return e.fromStorage(arith::TruncIOp::create(b, loc, b.getI8Type(), bits), element);
}

/// A run of packed elements, loaded in chunks.
static Value loadPackedRun(TileEmitter &e, Access &access, Type element, int64_t reg, Value condition) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  int64_t bytes = access.getVectorBytes(), count = access.getVector();
  unsigned chunkBits = getChunkBits(bytes);
  int64_t numChunks = bytes * 8 / chunkBits;
  Type chunk = b.getIntegerType(chunkBits);
  SmallVector<Value> chunks;
  if (access.usesBuffer()) {
    Value offset = access.getOffset(reg, condition), none = e.i32(0);
    auto load = [&](Type type, Value at) -> Value {
      return ROCDL::RawPtrBufferLoadOp::create(b, loc, type, access.getResource(reg), at, none, none, ArrayAttr(),
                                               ArrayAttr(), ArrayAttr());
    };
    if (chunkBits == 32) {
      Value words = load(getTransferType(bytes * 8, b), offset);
      for (int64_t i = 0; i < numChunks; ++i)
        chunks.push_back(numChunks == 1 ? words : e.extract(words, i));
    } else {
      for (int64_t i = 0; i < numChunks; ++i)
        chunks.push_back(
            load(chunk, i == 0 ? offset : Value(arith::AddIOp::create(b, loc, offset, e.i32(i * chunkBits / 8)))));
    }
  } else {
    Value pointer = access.getPointer(reg);
    if (condition)
      pointer = arith::SelectOp::create(b, loc, condition, pointer, access.getMemory().base);
    if (chunkBits == 32) {
      Value words = e.loadLDS(chunk, numChunks, pointer, access.getAlign());
      for (int64_t i = 0; i < numChunks; ++i)
        chunks.push_back(e.extract(words, i));
    } else {
      for (int64_t i = 0; i < numChunks; ++i) {
        Value at = pointer;
        if (i != 0)
          at = LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                                   ArrayRef<LLVM::GEPArg>{int32_t(i * chunkBits / 8)});
        chunks.push_back(e.extract(e.loadLDS(chunk, 1, at, chunkBits / 8), 0));
      }
    }
  }
  return unpackElements(e, chunks, element, count);
}

LogicalResult tile::lowerLoad(TileEmitter &e, Operation *op) {
  auto load = cast<atx::TileLoadOp>(op);
  // Done where its elements go.
  if (llvm::any_of(op->getUsers(), isDirectWrite))
    return success();
  return lowerLoadNow(e, load);
}

LogicalResult tile::lowerLoadNow(TileEmitter &e, atx::TileLoadOp load) {
  Operation *op = load;
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
  if (failed(access.prepare(/*dropsOutside=*/!fill, 32)))
    return failure();
  Type element = access.getMemory().elementType, storage = e.getStorageType(element);
  Value zero = e.zero(element);
  Value otherwise = fill ? fill : zero;

  bool packed = isPackedType(element);
  if (!type && packed) {
    Value condition = access.getCondition(0);
    Value loaded = loadPackedElement(e, access, element, 0, condition);
    if (condition)
      loaded = arith::SelectOp::create(b, loc, condition, loaded, otherwise);
    e.setScalar(load.getResult(), e.makeUniform(loaded));
    return success();
  }
  if (!type) {
    Value condition = access.getCondition(0);
    Value pointer = access.getPointer(0), loaded;
    if (condition && e.isWritten(load.getMemory())) {
      loaded = e.emitIfValue(condition, e.zero(storage), [&]() -> Value {
        return LLVM::LoadOp::create(b, loc, storage, pointer, access.getAlign());
      });
    } else {
      if (condition)
        pointer = arith::SelectOp::create(b, loc, condition, pointer, access.getMemory().base);
      loaded = LLVM::LoadOp::create(b, loc, storage, pointer, access.getAlign());
    }
    loaded = e.fromStorage(loaded, element);
    if (condition)
      loaded = arith::SelectOp::create(b, loc, condition, loaded, otherwise);
    e.setScalar(load.getResult(), e.makeUniform(loaded));
    return success();
  }

  int64_t vector = access.getVector(), count = layout.getNumRegisters();
  bool written = e.isWritten(load.getMemory());
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
    if (packed) {
      loaded = vector == 1 ? e.splat(loadPackedElement(e, access, element, reg, condition), 1)
                           : loadPackedRun(e, access, element, reg, condition);
    } else if (access.usesBuffer()) {
      Value offset = access.getOffset(reg, condition);
      Value none = e.i32(0);
      loaded = ROCDL::RawPtrBufferLoadOp::create(b, loc, getTransferType(vector * access.getBytes() * 8, b),
                                                 access.getResource(reg), offset, none, getCachePolicy(e, op),
                                                 ArrayAttr(), ArrayAttr(), ArrayAttr());
      loaded = LLVM::BitcastOp::create(b, loc, piece, loaded);
    } else {
      Value pointer = access.getPointer(reg);
      if (condition && written) {
        loaded = e.emitIfValue(condition, e.zero(piece),
                               [&] { return e.loadLDS(storage, vector, pointer, access.getAlign()); });
      } else {
        if (condition)
          pointer = arith::SelectOp::create(b, loc, condition, pointer, access.getMemory().base);
        loaded = e.loadLDS(storage, vector, pointer, access.getAlign());
      }
    }
    if (!packed)
      loaded = e.fromStorage(loaded, element);
    // Out of the span a buffer reads zero.
    if (condition && (fill || !access.usesBuffer()))
      loaded = arith::SelectOp::create(b, loc, condition, loaded, e.splat(otherwise, vector));
    pieces.push_back(loaded);
  }
  e.setTile(load.getResult(), e.concat(pieces));
  return success();
}

std::optional<DirectCopy> tile::planDirectCopy(IndexAnalysis &analysis, atx::TileLoadOp load, int64_t threads,
                                               const ChipInfo &chip, bool narrowToo, std::string &reason) {
  auto type = cast<VectorType>(load.getResult().getType());
  auto memory = cast<MemRefType>(load.getMemory().getType());
  Type element = memory.getElementType();
  if (isPackedType(element) || element.isInteger(1)) {
    reason = "its elements are unpacked on their way";
    return std::nullopt;
  }
  if (Value fill = load.getFill(); fill && !isZero(fill)) {
    reason = "what lies outside of the tensor is not zero";
    return std::nullopt;
  }
  int64_t bytes = getStorageBytes(element), total = type.getNumElements() * bytes;
  SmallVector<int64_t> strides;
  int64_t offset, reach = 0;
  if (failed(memory.getStridesAndOffset(strides, offset))) {
    reason = "the tensor has no strides";
    return std::nullopt;
  }
  unsigned rank = type.getRank();
  SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  for (auto [index, stride] : llvm::zip_equal(load.getIndices(), strides)) {
    LinearIndex form;
    if (!decomposeIndex(index, rank, 1, dims, form)) {
      reason = "its positions are loaded or computed for each element";
      return std::nullopt;
    }
    if (!isNeverNegative(analysis, form)) {
      reason = "a position may be negative";
      return std::nullopt;
    }
    for (auto [dim, coefficient] : form.coordinates) {
      int64_t span;
      if (ShapedType::isDynamic(stride)) {
        reason = "a stride of the tensor is not constant";
        return std::nullopt;
      }
      if (coefficient < 0 || llvm::MulOverflow(coefficient * bytes, stride, span) ||
          llvm::MulOverflow(span, 2 * type.getDimSize(dim), span) || llvm::AddOverflow(reach, span, reach) ||
          reach >= bufferSpan - 65536) {
        reason = "its rows lie too far apart for 32-bit offsets";
        return std::nullopt;
      }
    }
  }
  AccessPattern pattern =
      analyzeAccess(analysis, load.getMemory(), load.getIndices(), {}, type.getShape(), getInside(load));
  DirectCopy copy;
  copy.contiguousDim = pattern.contiguousDim;
  // Only the shapes of the tile that fill whole waves.
  // What is no power of two has no place under a swizzle.
  SmallVector<int64_t> sizes;
  for (unsigned bits : getCopyWidths(CopyPath::BufferToLds, chip.arch))
    if (llvm::isPowerOf2_32(bits) && (bits == 128 || narrowToo))
      sizes.push_back(bits / 8);
  for (int64_t size : llvm::reverse(sizes)) {
    if (size % bytes != 0 || pattern.vector * bytes < size || total % (size * threads) != 0)
      continue;
    copy.bytes = size;
    copy.count = total / (size * threads);
    return copy;
  }
  if (sizes.empty())
    reason = llvm::formatv("{0} copies fewer than 16 bytes for a lane", chip.arch);
  else if (pattern.vector * bytes < sizes.front())
    reason = llvm::formatv("only {0} bytes lie side by side for certain, and a lane copies {1}", pattern.vector * bytes,
                           sizes.front());
  else
    reason = llvm::formatv("{0} work-items that copy {1} bytes each do not share its {2} bytes evenly", threads,
                           sizes.front(), total);
  return std::nullopt;
}

LogicalResult tile::lowerDirectCopy(TileEmitter &e, atx::StageWriteOp write, bool &isDone) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  isDone = false;
  auto load = write.getTile().getDefiningOp<atx::TileLoadOp>();
  const TileLayout &layout = e.getLayout(load.getResult());
  SmallVector<int64_t> shape = TileEmitter::getShape(load.getResult());
  std::string reason;
  std::optional<DirectCopy> copy =
      planDirectCopy(e.analysis, load, layout.getThreads(), e.chip, /*narrowToo=*/true, reason);
  LDSArray array = e.getStage(write.getStage(), e.getScalar(write.getSlot()));
  if (!copy || !e.bufferAccess || !isLinearArray(array, shape, copy->bytes) ||
      array.contiguousDim != copy->contiguousDim)
    return success();
  Access access(e, load, load.getMemory(), load.getIndices(), {}, layout, shape);
  if (failed(access.prepare(/*dropsOutside=*/true, 32)))
    return failure();
  if (!access.usesBuffer() || !access.isByCoordinates())
    return success();
  isDone = true;
  // Bytes from the start of a slot: those of a wave follow one another, whatever lies there.
  Value own = arith::MulIOp::create(b, loc, e.getThread(), e.i32(copy->bytes));
  own = e.exchange(own, array.swizzles, /*isReversed=*/true);
  int64_t stride = copy->bytes * layout.getThreads();
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_pair(array.strides[a], shape[a]) < std::make_pair(array.strides[b], shape[b]);
  });
  Value none = e.i32(0);
  for (int64_t i = 0; i < copy->count; ++i) {
    int64_t there = i * stride;
    for (const layout::Swizzle &step : llvm::reverse(array.swizzles))
      there = step(there);
    // The work-items' part has no bit of the multiples of `stride`, and exchanges are linear.
    Value at = there ? Value(arith::XOrIOp::create(b, loc, own, e.i32(there))) : own;
    at = arith::DivUIOp::create(b, loc, at, e.i32(array.bytes));
    SmallVector<Value> coordinates(shape.size(), none);
    for (unsigned dim : order) {
      if (shape[dim] == 1)
        continue;
      coordinates[dim] = dim == order.back() ? at : Value(arith::RemUIOp::create(b, loc, at, e.i32(shape[dim])));
      if (dim != order.back())
        at = arith::DivUIOp::create(b, loc, at, e.i32(shape[dim]));
    }
    Value offset = access.getOffsetAt(coordinates);
    Value target = e.getWaveStart(copy->bytes);
    if (array.slot)
      target = target ? Value(arith::AddIOp::create(b, loc, target, array.slot)) : array.slot;
    auto dma = ROCDL::RawPtrBufferLoadLdsOp::create(
        b, loc, access.getResource(0), e.getLDS(array.offset + i * stride, target), e.i32(copy->bytes), offset, none,
        none, getCachePolicy(e, load), ArrayAttr(), ArrayAttr(), ArrayAttr());
    e.setScopes(dma);
  }
  e.numDirectCopies += copy->count;
  return success();
}

/// A run of packed elements, a whole number of bytes, in chunks.
static void storePackedRun(TileEmitter &e, Access &access, Value piece, int64_t reg, Value condition) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  int64_t bytes = access.getVectorBytes();
  unsigned chunkBits = getChunkBits(bytes);
  SmallVector<Value> chunks = packElements(e, piece, chunkBits);
  if (access.usesBuffer()) {
    Value offset = access.getOffset(reg, condition), none = e.i32(0);
    auto put = [&](Value value, Value at) {
      ROCDL::RawPtrBufferStoreOp::create(b, loc, value, access.getResource(reg), at, none, none, ArrayAttr(),
                                         ArrayAttr(), ArrayAttr());
    };
    if (chunkBits == 32) {
      put(chunks.size() == 1 ? chunks.front() : e.pack(chunks), offset);
      return;
    }
    for (auto [i, chunk] : llvm::enumerate(chunks))
      put(chunk, i == 0 ? offset : Value(arith::AddIOp::create(b, loc, offset, e.i32(i * chunkBits / 8))));
    return;
  }
  Value pointer = access.getPointer(reg);
  e.emitIf(condition, [&] {
    if (chunkBits == 32)
      return e.storeLDS(e.pack(chunks), pointer, access.getAlign());
    for (auto [i, chunk] : llvm::enumerate(chunks)) {
      Value at = pointer;
      if (i != 0)
        at = LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                                 ArrayRef<LLVM::GEPArg>{int32_t(i * chunkBits / 8)});
      e.storeLDS(e.splat(chunk, 1), at, chunkBits / 8);
    }
  });
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
  Type element = cast<MemRefType>(store.getMemory().getType()).getElementType();
  Value tile = type ? e.getTile(store.getValue()).vector : Value();
  bool packed = isPackedType(element);
  if (packed) {
    // A byte belongs to one work-item: nobody else may write the other elements in it.
    AccessPattern pattern = analyzeAccess(e.analysis, store.getMemory(), store.getIndices(), store.getMask(), shape);
    std::string name = StringRef(llvm::formatv("{0}", element).str()).lower();
    if (!type || pattern.vector < pattern.unit || shape[pattern.contiguousDim] % pattern.unit != 0)
      return op->emitError() << "a store of '" << name << "' must own whole bytes, " << pattern.unit
                             << " neighbours at a position that is a multiple of " << pattern.unit
                             << (type ? ", in memory along one axis of the tile and under one mask; that could not be "
                                        "shown for this view"
                                      : "; this one writes a single element");
    int64_t run = layout.getRunLength(pattern.contiguousDim);
    if (run % pattern.unit != 0) {
      TileLayout owned = getAccessLayout(shape, layout.getThreads(), pattern);
      FailureOr<Value> moved = e.convertLayout(e.getTile(store.getValue()), owned, op);
      if (failed(moved))
        return failure();
      tile = *moved;
      layout = owned;
    }
  }
  Access access(e, op, store.getMemory(), store.getIndices(), store.getMask(), layout, shape);
  if (failed(access.prepare(/*dropsOutside=*/true, 32)))
    return failure();
  if (!type) {
    // One work-item speaks for all.
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, e.getThread(), e.i32(0));
    Value value = e.toStorage(e.getScalar(store.getValue()));
    e.emitIf(e.andMasks(first, access.getCondition(0)),
             [&] { LLVM::StoreOp::create(b, loc, value, access.getPointer(0), access.getAlign()); });
    return success();
  }
  Value stored = packed ? tile : e.toStorage(tile);
  int64_t vector = access.getVector(), count = layout.getNumRegisters();
  Value firstCopy = e.isFirstCopy(layout);
  for (int64_t reg = 0; reg < count; reg += vector) {
    if (access.isNever(reg))
      continue;
    ++(vector > 1 ? e.numVectorAccesses : e.numScalarAccesses);
    Value condition = e.andMasks(firstCopy, access.getCondition(reg));
    SmallVector<int64_t> regs = llvm::to_vector(llvm::seq<int64_t>(reg, reg + vector));
    Value piece = e.select(stored, regs);
    if (packed) {
      storePackedRun(e, access, piece, reg, condition);
      continue;
    }
    if (access.usesBuffer()) {
      Value none = e.i32(0);
      Value words = LLVM::BitcastOp::create(b, loc, getTransferType(vector * access.getBytes() * 8, b), piece);
      ROCDL::RawPtrBufferStoreOp::create(b, loc, words, access.getResource(reg), access.getOffset(reg, condition), none,
                                         getCachePolicy(e, op), ArrayAttr(), ArrayAttr(), ArrayAttr());
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
  if (failed(access.prepare(/*dropsOutside=*/false, packed ? 2 : 1)))
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
