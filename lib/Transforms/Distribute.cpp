//===- Distribute.cpp - Tile form to fragment form --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace atrex {
#define GEN_PASS_DEF_DISTRIBUTEPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

/// No lane holds more elements of a vector, however small, in its 512 registers.
constexpr int64_t maxValuesPerLane = 256;

/// What one lane holds of a vector: runs of the fastest value mode, the other
/// value modes enumerate the runs, the first of them fastest.
struct Fragment {
  SmallVector<Value> runs;
};

class Distributor {
public:
  Distributor(gpu::GPUFuncOp kernel, int64_t vectorBits)
      : kernel(kernel), builder(kernel.getContext()), vectorBits(vectorBits) {}

  LogicalResult run();
  unsigned numLoads = 0, numStores = 0;

private:
  LogicalResult distribute(Operation *op);
  LogicalResult distributeElementwise(Operation *op, atx::TVAttr layout);
  LogicalResult distributeConstant(arith::ConstantOp op, atx::TVAttr layout);
  LogicalResult distributeBroadcast(vector::BroadcastOp op, atx::TVAttr layout);
  LogicalResult distributeMask(vector::ConstantMaskOp op, atx::TVAttr layout);
  LogicalResult distributeReduction(vector::MultiDimReductionOp op);
  LogicalResult distributeTransfer(VectorTransferOpInterface op, atx::TVAttr layout);

  /// What a lane holds of `value`, which `user` needs in layout `layout`.
  FailureOr<Fragment> getFragment(Value value, atx::TVAttr layout, Operation *user);
  atx::TVAttr getLayout(Value value) {
    Operation *def = value.getDefiningOp();
    return def ? def->getAttrOfType<atx::TVAttr>(atx::layoutAttrName) : atx::TVAttr();
  }
  /// Extent of the fastest value mode: elements per run.
  static int64_t getRunLength(atx::TVAttr layout) {
    return layout.getValueShape().empty() ? 1 : layout.getValueShape().front();
  }
  static int64_t getNumRuns(atx::TVAttr layout) { return layout.getNumValues() / getRunLength(layout); }
  /// Digits of run `index`: one per value mode, 0 for the fastest.
  static SmallVector<int64_t> getDigits(atx::TVAttr layout, int64_t index) {
    SmallVector<int64_t> digits(layout.getValueShape().size(), 0);
    for (unsigned mode = 1; mode < digits.size(); ++mode) {
      digits[mode] = index % layout.getValueShape()[mode];
      index /= layout.getValueShape()[mode];
    }
    return digits;
  }
  static SmallVector<int64_t> getCoordinate(atx::TVAttr layout, ArrayRef<int64_t> digits, unsigned rank) {
    SmallVector<int64_t> coordinate(rank, 0);
    for (auto [mode, digit] : llvm::enumerate(digits))
      coordinate[layout.getValueDims()[mode]] += digit * layout.getValueSteps()[mode];
    return coordinate;
  }
  /// Index of the work-item along a thread mode, as i32.
  Value getThreadDigit(atx::TVAttr layout, unsigned mode);
  /// First coordinate of the work-item along `dim`, as i32; null when it is 0.
  Value getThreadCoordinate(atx::TVAttr layout, int64_t dim);
  static int64_t getMaxThreadCoordinate(atx::TVAttr layout, int64_t dim) {
    int64_t most = 0;
    for (auto [extent, step, d] :
         llvm::zip_equal(layout.getThreadShape(), layout.getThreadSteps(), layout.getThreadDims()))
      if (step != 0 && d == dim)
        most += (extent - 1) * step;
    return most;
  }
  Value constant(int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(int32_t(value)));
  }
  /// i1 that holds where `coordinate + step < bound`, by the work-item's own
  /// coordinate; a constant where all work-items agree.
  Value getInside(atx::TVAttr layout, int64_t dim, int64_t step, int64_t run, int64_t bound);

  gpu::GPUFuncOp kernel;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  int64_t vectorBits;
  DenseMap<Value, Fragment> fragments;
  DenseMap<Value, Value> resources;
  Value threadId;
  DenseMap<std::pair<Attribute, int64_t>, Value> coordinates;
  DenseMap<std::pair<Attribute, int64_t>, Value> threadDigits;
};

class Distribute : public atrex::impl::DistributePassBase<Distribute> {
public:
  using DistributePassBase::DistributePassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (!kernel->hasAttr(atx::mappingAttrName))
      return;
    if (!llvm::is_contained({16, 32, 64, 128}, vectorBits)) {
      kernel.emitError() << "option 'vector-bits' is " << int64_t(vectorBits) << "; it must be 16, 32, 64 or 128";
      return signalPassFailure();
    }
    Distributor distributor(kernel, vectorBits);
    if (failed(distributor.run()))
      return signalPassFailure();
    numLoads += distributor.numLoads;
    numStores += distributor.numStores;
  }
};

} // namespace

Value Distributor::getThreadDigit(atx::TVAttr layout, unsigned mode) {
  Value &digit = threadDigits[{layout, mode}];
  if (digit)
    return digit;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(threadId);
  int64_t below = llvm::product_of(layout.getThreadShape().take_front(mode));
  int64_t extent = layout.getThreadShape()[mode];
  digit = threadId;
  if (below != 1)
    digit = arith::DivUIOp::create(builder, loc, digit, constant(below));
  if (below * extent != layout.getNumThreads())
    digit = arith::RemUIOp::create(builder, loc, digit, constant(extent));
  return digit;
}

Value Distributor::getThreadCoordinate(atx::TVAttr layout, int64_t dim) {
  if (auto it = coordinates.find({layout, dim}); it != coordinates.end())
    return it->second;
  SmallVector<Value> digits;
  for (unsigned mode = 0; mode < layout.getThreadShape().size(); ++mode)
    digits.push_back(getThreadDigit(layout, mode));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(kernel.getBody().front().getTerminator());
  // Behind the last digit.
  Operation *last = threadId.getDefiningOp();
  for (Value digit : digits)
    if (last->isBeforeInBlock(digit.getDefiningOp()))
      last = digit.getDefiningOp();
  builder.setInsertionPointAfter(last);
  Value sum;
  for (auto [mode, digit] : llvm::enumerate(digits)) {
    int64_t step = layout.getThreadSteps()[mode];
    if (step == 0 || layout.getThreadDims()[mode] != dim || layout.getThreadShape()[mode] == 1)
      continue;
    Value term = step == 1 ? digit : Value(arith::MulIOp::create(builder, loc, digit, constant(step)));
    sum = sum ? Value(arith::AddIOp::create(builder, loc, sum, term)) : term;
  }
  coordinates[{layout, dim}] = sum;
  return sum;
}

Value Distributor::getInside(atx::TVAttr layout, int64_t dim, int64_t step, int64_t run, int64_t bound) {
  int64_t most = getMaxThreadCoordinate(layout, dim);
  bool all = step + most + run <= bound, none = step >= bound;
  Value coordinate = getThreadCoordinate(layout, dim);
  if (all || none || !coordinate)
    return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(all || (!none && step < bound)));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, coordinate, constant(bound - step));
}

FailureOr<Fragment> Distributor::getFragment(Value value, atx::TVAttr layout, Operation *user) {
  auto it = fragments.find(value);
  if (it == fragments.end())
    return user->emitError() << "operand of type " << value.getType() << " was not distributed";
  // Layouts are attributes that anything may have changed.
  if (atx::TVAttr held = getLayout(value); held != layout)
    return user->emitError() << "operand of type " << value.getType() << " is held in layout " << held
                             << " but needed in layout " << layout;
  return it->second;
}

LogicalResult Distributor::distributeElementwise(Operation *op, atx::TVAttr layout) {
  SmallVector<Fragment> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<VectorType>(operand.getType())) {
      operands.push_back({SmallVector<Value>(getNumRuns(layout), operand)});
      continue;
    }
    FailureOr<Fragment> fragment = getFragment(operand, layout, op);
    if (failed(fragment))
      return failure();
    operands.push_back(std::move(*fragment));
  }
  Fragment result;
  auto type = VectorType::get(getRunLength(layout), getElementTypeOrSelf(op->getResult(0).getType()));
  for (int64_t run = 0; run < getNumRuns(layout); ++run) {
    OperationState state(loc, op->getName());
    for (Fragment &operand : operands)
      state.addOperands(operand.runs[run]);
    state.addTypes(type);
    for (NamedAttribute attr : op->getAttrs())
      if (attr.getName() != atx::layoutAttrName)
        state.addAttribute(attr.getName(), attr.getValue());
    result.runs.push_back(builder.create(state)->getResult(0));
  }
  fragments[op->getResult(0)] = std::move(result);
  return success();
}

LogicalResult Distributor::distributeConstant(arith::ConstantOp op, atx::TVAttr layout) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return op.emitError() << "a constant whose elements differ cannot be distributed";
  auto type = VectorType::get(getRunLength(layout), splat.getElementType());
  Value run = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
  fragments[op] = {SmallVector<Value>(getNumRuns(layout), run)};
  return success();
}

LogicalResult Distributor::distributeBroadcast(vector::BroadcastOp op, atx::TVAttr layout) {
  auto type = VectorType::get(getRunLength(layout), op.getResultVectorType().getElementType());
  if (!isa<VectorType>(op.getSourceType())) {
    Value run = vector::BroadcastOp::create(builder, loc, type, op.getSource());
    fragments[op] = {SmallVector<Value>(getNumRuns(layout), run)};
    return success();
  }
  // The value modes of the source are those modes of the result that lie along
  // dimensions the source has, in the same order.
  auto sourceType = cast<VectorType>(op.getSourceType());
  VectorType resultType = op.getResultVectorType();
  atx::TVAttr from = getBroadcastSource(layout, sourceType, resultType);
  FailureOr<Fragment> source = getFragment(op.getSource(), from, op);
  if (failed(source))
    return failure();
  int64_t lead = resultType.getRank() - sourceType.getRank();
  SmallVector<int64_t> match(layout.getValueShape().size(), -1);
  unsigned next = 0;
  for (auto [mode, dim] : llvm::enumerate(layout.getValueDims())) {
    bool repeated = dim < lead || (sourceType.getDimSize(dim - lead) == 1 && resultType.getDimSize(dim) != 1);
    if (!repeated)
      match[mode] = next++;
  }

  Fragment result;
  DenseMap<std::pair<int64_t, int64_t>, Value> splats;
  for (int64_t run = 0; run < getNumRuns(layout); ++run) {
    SmallVector<int64_t> digits = getDigits(layout, run);
    SmallVector<int64_t> sourceDigits(from.getValueShape().size(), 0);
    for (auto [mode, digit] : llvm::enumerate(digits))
      if (match[mode] >= 0)
        sourceDigits[match[mode]] = digit;
    int64_t sourceRun = 0, stride = 1;
    for (unsigned mode = 1; mode < sourceDigits.size(); ++mode) {
      sourceRun += sourceDigits[mode] * stride;
      stride *= from.getValueShape()[mode];
    }
    // The fastest mode is shared: the run is used as it stands.
    if (!match.empty() && match[0] == 0) {
      result.runs.push_back(source->runs[sourceRun]);
      continue;
    }
    int64_t element = sourceDigits.empty() ? 0 : sourceDigits[0];
    Value &splat = splats[{sourceRun, element}];
    if (!splat) {
      Value scalar = vector::ExtractOp::create(builder, loc, source->runs[sourceRun], ArrayRef<int64_t>{element});
      splat = vector::BroadcastOp::create(builder, loc, type, scalar);
    }
    result.runs.push_back(splat);
  }
  fragments[op] = std::move(result);
  return success();
}

LogicalResult Distributor::distributeMask(vector::ConstantMaskOp op, atx::TVAttr layout) {
  VectorType type = op.getVectorType();
  int64_t length = getRunLength(layout);
  auto runType = VectorType::get(length, builder.getI1Type());
  Fragment result;
  for (int64_t run = 0; run < getNumRuns(layout); ++run) {
    SmallVector<int64_t> coordinate = getCoordinate(layout, getDigits(layout, run), type.getRank());
    Value inside;
    for (auto [dim, bound] : llvm::enumerate(op.getMaskDimSizes())) {
      if (bound == type.getDimSize(dim))
        continue;
      bool alongRun = !layout.getValueShape().empty() && layout.getValueDims()[0] == int64_t(dim);
      int64_t step = alongRun ? length : 1;
      // A run lies on one side of the bound: the mapping chooses runs that
      // divide a row.
      if (alongRun && (bound % length != 0 || layout.getValueSteps()[0] != 1))
        return op.emitError() << "bound " << bound << " of dimension " << dim << " cuts through runs of " << length
                              << " elements";
      Value here = getInside(layout, dim, coordinate[dim], step, bound);
      inside = inside ? Value(arith::AndIOp::create(builder, loc, inside, here)) : here;
    }
    if (!inside)
      inside = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    result.runs.push_back(vector::BroadcastOp::create(builder, loc, runType, inside));
  }
  fragments[op] = std::move(result);
  return success();
}

/// Combines two values of a reduction.
static FailureOr<Value> combine(OpBuilder &builder, Location loc, vector::CombiningKind kind, Value a, Value b) {
  using vector::CombiningKind;
  switch (kind) {
  case CombiningKind::ADD:
    if (isa<FloatType>(getElementTypeOrSelf(a.getType())))
      return Value(arith::AddFOp::create(builder, loc, a, b, arith::FastMathFlags::contract));
    return Value(arith::AddIOp::create(builder, loc, a, b));
  case CombiningKind::MAXIMUMF:
    return Value(arith::MaximumFOp::create(builder, loc, a, b));
  case CombiningKind::MINIMUMF:
    return Value(arith::MinimumFOp::create(builder, loc, a, b));
  case CombiningKind::MAXSI:
    return Value(arith::MaxSIOp::create(builder, loc, a, b));
  case CombiningKind::MINSI:
    return Value(arith::MinSIOp::create(builder, loc, a, b));
  default:
    return emitError(loc) << "reduction by '" << vector::stringifyCombiningKind(kind) << "' is not supported";
  }
}

static std::optional<atx_amdgpu::ReduceKind> getLaneKind(vector::CombiningKind kind) {
  using vector::CombiningKind;
  switch (kind) {
  case CombiningKind::ADD:
    return atx_amdgpu::ReduceKind::Add;
  case CombiningKind::MAXIMUMF:
  case CombiningKind::MAXSI:
    return atx_amdgpu::ReduceKind::Max;
  case CombiningKind::MINIMUMF:
  case CombiningKind::MINSI:
    return atx_amdgpu::ReduceKind::Min;
  default:
    return std::nullopt;
  }
}

/// Whether `value` is a splat that does not change a combination by `kind`.
static bool isNeutral(Value value, vector::CombiningKind kind) {
  Attribute element;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      element = splat.getSplatValue<Attribute>();
    else
      element = constant.getValue();
  } else if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>()) {
    return isNeutral(broadcast.getSource(), kind);
  }
  using vector::CombiningKind;
  if (auto number = dyn_cast_if_present<FloatAttr>(element)) {
    const APFloat &v = number.getValue();
    return (kind == CombiningKind::ADD && v.isZero()) ||
           (kind == CombiningKind::MAXIMUMF && v.isInfinity() && v.isNegative()) ||
           (kind == CombiningKind::MINIMUMF && v.isInfinity() && !v.isNegative());
  }
  if (auto number = dyn_cast_if_present<IntegerAttr>(element)) {
    const APInt &v = number.getValue();
    return (kind == CombiningKind::ADD && v.isZero()) || (kind == CombiningKind::MAXSI && v.isMinSignedValue()) ||
           (kind == CombiningKind::MINSI && v.isMaxSignedValue());
  }
  return false;
}

LogicalResult Distributor::distributeReduction(vector::MultiDimReductionOp op) {
  if (!isa<VectorType>(op.getDestType()))
    return op.emitError() << "a reduction to a scalar needs all lanes of the workgroup, which the row mapping lacks";
  atx::TVAttr from = getLayout(op.getSource()), to = op->getAttrOfType<atx::TVAttr>(atx::layoutAttrName);
  FailureOr<Fragment> source = getFragment(op.getSource(), from, op);
  if (failed(source))
    return failure();
  llvm::SmallBitVector reducedDims(op.getSourceVectorType().getRank());
  for (int64_t dim : op.getReductionDims())
    reducedDims.set(dim);
  if (from.project(reducedDims) != to)
    return op.emitError() << "layouts " << from << " and " << to << " do not agree";
  Type element = op.getSourceVectorType().getElementType();

  // Lanes of one group must be neighbours: the reduced thread modes come first.
  int64_t lanes = 1;
  bool open = true;
  for (auto [extent, step, dim] : llvm::zip_equal(from.getThreadShape(), from.getThreadSteps(), from.getThreadDims())) {
    bool reduced = step != 0 && extent != 1 && op.isReducedDim(dim);
    if (reduced && !open)
      return op.emitError() << "the lanes that share a row in layout " << from << " are not neighbours";
    if (reduced)
      lanes *= extent;
    else if (extent != 1)
      open = false;
  }

  // Result runs: combine everything a lane holds.
  bool runReduced = !from.getValueShape().empty() && op.isReducedDim(from.getValueDims()[0]);
  int64_t toLength = getRunLength(to), fromLength = getRunLength(from);
  SmallVector<int64_t> kept;
  for (auto [mode, dim] : llvm::enumerate(from.getValueDims()))
    if (!op.isReducedDim(dim))
      kept.push_back(mode);
  // Accumulators by the digits of the kept modes.
  int64_t numAccumulators = 1;
  for (int64_t mode : kept)
    if (mode != 0)
      numAccumulators *= from.getValueShape()[mode];
  SmallVector<Value> accumulators(numAccumulators);
  for (int64_t run = 0; run < getNumRuns(from); ++run) {
    SmallVector<int64_t> digits = getDigits(from, run);
    int64_t index = 0, stride = 1;
    for (int64_t mode : kept) {
      if (mode == 0)
        continue;
      index += digits[mode] * stride;
      stride *= from.getValueShape()[mode];
    }
    Value &accumulator = accumulators[index];
    if (!accumulator) {
      accumulator = source->runs[run];
      continue;
    }
    FailureOr<Value> sum = combine(builder, loc, op.getKind(), accumulator, source->runs[run]);
    if (failed(sum))
      return failure();
    accumulator = *sum;
  }

  Fragment result;
  if (runReduced) {
    // Fold each run to one element, halves first: packed instructions.
    SmallVector<Value> scalars;
    for (Value run : accumulators) {
      int64_t length = fromLength;
      while (length > 1 && length % 2 == 0) {
        length /= 2;
        auto slice = [&](int64_t offset) {
          return vector::ExtractStridedSliceOp::create(builder, loc, run, ArrayRef<int64_t>{offset},
                                                       ArrayRef<int64_t>{length}, ArrayRef<int64_t>{1});
        };
        Value low = slice(0), high = slice(length);
        FailureOr<Value> sum = combine(builder, loc, op.getKind(), low, high);
        if (failed(sum))
          return failure();
        run = *sum;
      }
      Value scalar = vector::ExtractOp::create(builder, loc, run, ArrayRef<int64_t>{0});
      for (int64_t i = 1; i < length; ++i) {
        Value next = vector::ExtractOp::create(builder, loc, run, ArrayRef<int64_t>{i});
        FailureOr<Value> sum = combine(builder, loc, op.getKind(), scalar, next);
        if (failed(sum))
          return failure();
        scalar = *sum;
      }
      scalars.push_back(scalar);
    }
    // The accumulators are the elements of the result, in order.
    for (size_t first = 0; first < scalars.size(); first += toLength)
      result.runs.push_back(vector::FromElementsOp::create(builder, loc, VectorType::get(toLength, element),
                                                           ArrayRef<Value>(scalars).slice(first, toLength)));
  } else {
    result.runs = accumulators;
  }

  if (lanes > 1) {
    std::optional<atx_amdgpu::ReduceKind> kind = getLaneKind(op.getKind());
    if (!kind || !(element.isF32() || element.isInteger(32)))
      return op.emitError() << "reduction by '" << vector::stringifyCombiningKind(op.getKind()) << "' of " << element
                            << " across lanes is not supported";
    for (Value &run : result.runs)
      run = atx_amdgpu::LaneReduceOp::create(builder, loc, *kind, run, lanes);
  }

  if (!isNeutral(op.getAcc(), op.getKind())) {
    FailureOr<Fragment> acc = getFragment(op.getAcc(), to, op);
    if (failed(acc))
      return failure();
    for (auto [run, init] : llvm::zip_equal(result.runs, acc->runs)) {
      FailureOr<Value> sum = combine(builder, loc, op.getKind(), init, run);
      if (failed(sum))
        return failure();
      run = *sum;
    }
  }
  fragments[op.getDest()] = std::move(result);
  return success();
}

/// Largest power of two that divides the first element of every row the view can
/// start with, in elements.
static int64_t getOffsetAlignment(Value view) {
  auto type = cast<MemRefType>(view.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 1;
  if (offset == 0)
    return 128;
  if (!ShapedType::isDynamic(offset))
    return offset & -offset;
  auto subview = view.getDefiningOp<memref::SubViewOp>();
  if (!subview)
    return 1;
  auto sourceType = cast<MemRefType>(subview.getSource().getType());
  SmallVector<int64_t> sourceStrides;
  int64_t sourceOffset;
  if (failed(sourceType.getStridesAndOffset(sourceStrides, sourceOffset)))
    return 1;
  int64_t alignment = getOffsetAlignment(subview.getSource());
  for (auto [start, stride] : llvm::zip_equal(subview.getMixedOffsets(), sourceStrides)) {
    if (ShapedType::isDynamic(stride))
      return 1;
    int64_t term = stride;
    if (auto known = getConstantIntValue(start))
      term *= *known;
    alignment = std::gcd(alignment, term);
  }
  return alignment == 0 ? 128 : alignment;
}

LogicalResult Distributor::distributeTransfer(VectorTransferOpInterface op, atx::TVAttr layout) {
  bool isRead = isa<vector::TransferReadOp>(op);
  auto type = dyn_cast<MemRefType>(op.getShapedType());
  if (!type)
    return op->emitError() << "accesses a tensor; run 'atx-bufferize' first";
  VectorType vectorType = op.getVectorType();
  unsigned rank = vectorType.getRank();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (rank == 0 || !op.getPermutationMap().isIdentity() || op.getMask() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return op->emitError() << "only plain accesses to strided views can be distributed";
  if (!type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() % 8 != 0 ||
      vectorType.getElementType() != type.getElementType())
    return op->emitError() << "accesses " << vectorType.getElementType() << " in a view of " << type.getElementType()
                           << "; only elements of whole bytes can be distributed";
  for (Value index : op.getIndices())
    if (getConstantIntValue(index) != 0)
      return op->emitError() << "an access must start at the first element of its view";
  if (isRead) {
    Attribute padding;
    if (!matchPattern(op->getOperand(op->getNumOperands() - 1), m_Constant(&padding)) ||
        !(matchPattern(padding, m_Zero()) || matchPattern(padding, m_AnyZeroFloat())))
      return op->emitError() << "only zero can stand for elements outside of the view";
  }
  for (auto [dim, stride] : llvm::enumerate(strides))
    if (ShapedType::isDynamic(stride))
      return op->emitError() << "the stride of dimension " << dim << " is not constant";
  for (unsigned dim = 1; dim < rank; ++dim)
    if (ShapedType::isDynamic(type.getDimSize(dim)))
      return op->emitError() << "the extent of dimension " << dim << " is not constant";
  // Offsets are 32 bits wide and count bytes.
  int64_t span = 1;
  for (auto [extent, stride] : llvm::zip_equal(vectorType.getShape(), strides)) {
    int64_t reach;
    if (stride < 0)
      return op->emitError() << "a view that runs backwards cannot be distributed";
    if (llvm::MulOverflow(extent - 1, stride, reach) || llvm::AddOverflow(span, reach, span) ||
        span > INT32_MAX / int64_t(type.getElementTypeBitWidth() / 8))
      return op->emitError() << "the tile spans 2^31 bytes or more";
  }
  // The end of the buffer bounds dimension 0 only where a row is not reached
  // from an earlier one.
  if (type.getDimSize(0) != vectorType.getDimSize(0))
    for (unsigned dim = 1; dim < rank; ++dim)
      if (type.getDimSize(dim) > strides[0] / std::max<int64_t>(strides[dim], 1))
        return op->emitError() << "dimension 0 of the view, which has stride " << strides[0]
                               << ", must enclose dimension " << dim << ", which spans " << type.getDimSize(dim)
                               << " x " << strides[dim] << " elements";

  Value view = op.getBase();
  Value &resource = resources[view];
  if (!resource) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(view);
    resource =
        atx_amdgpu::MakeResourceOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 8), view);
  }

  // Offset of the work-item's first element.
  Value base;
  for (unsigned dim = 0; dim < rank; ++dim) {
    Value coordinate = getThreadCoordinate(layout, dim);
    if (!coordinate)
      continue;
    Value term =
        strides[dim] == 1 ? coordinate : Value(arith::MulIOp::create(builder, loc, coordinate, constant(strides[dim])));
    base = base ? Value(arith::AddIOp::create(builder, loc, base, term)) : term;
  }
  if (!base)
    base = constant(0);

  // Width: a run that is consecutive in memory, as far as everything that is
  // added to its address keeps it aligned.
  int64_t length = getRunLength(layout);
  unsigned bits = type.getElementTypeBitWidth();
  int64_t width = 1;
  if (!layout.getValueShape().empty() && strides[layout.getValueDims()[0]] == 1 && layout.getValueSteps()[0] == 1) {
    width = std::gcd(length, std::max<int64_t>(1, vectorBits / bits));
    width &= -width;
    int64_t alignment = getOffsetAlignment(view);
    for (auto [extent, step, dim] :
         llvm::zip_equal(layout.getThreadShape(), layout.getThreadSteps(), layout.getThreadDims()))
      if (step != 0 && extent != 1)
        alignment = std::gcd(alignment, step * strides[dim]);
    for (unsigned mode = 1; mode < layout.getValueShape().size(); ++mode)
      alignment = std::gcd(alignment, layout.getValueSteps()[mode] * strides[layout.getValueDims()[mode]]);
    // Buffer accesses of four bytes and more only need aligned words.
    int64_t word = std::max<int64_t>(1, 32 / bits);
    while (width > 1 && alignment % std::min(width, word) != 0)
      width /= 2;
  }

  // Elements that repeat in several work-items are written by the first.
  Value writer;
  if (!isRead)
    for (auto [mode, extent, step] : llvm::enumerate(layout.getThreadShape(), layout.getThreadSteps())) {
      if (step != 0 || extent == 1)
        continue;
      Value first =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, getThreadDigit(layout, mode), constant(0));
      writer = writer ? Value(arith::AndIOp::create(builder, loc, writer, first)) : first;
    }

  Fragment values;
  if (!isRead) {
    FailureOr<Fragment> known = getFragment(cast<vector::TransferWriteOp>(op.getOperation()).getVector(), layout, op);
    if (failed(known))
      return failure();
    values = std::move(*known);
  }
  Type element = type.getElementType();
  auto runType = VectorType::get(length, element), pieceType = VectorType::get(width, element);
  for (int64_t run = 0; run < getNumRuns(layout); ++run) {
    SmallVector<int64_t> coordinate = getCoordinate(layout, getDigits(layout, run), rank);
    // Dimension 0 is bounded by the end of the buffer, the others by a mask.
    Value mask = writer;
    bool never = false;
    for (unsigned dim = 1; dim < rank; ++dim) {
      int64_t bound = type.getDimSize(dim);
      if (bound == vectorType.getDimSize(dim))
        continue;
      bool alongRun = !layout.getValueShape().empty() && layout.getValueDims()[0] == int64_t(dim);
      if (alongRun && (bound % length != 0 || layout.getValueSteps()[0] != 1))
        return op->emitError() << "bound " << bound << " of dimension " << dim << " cuts through runs of " << length
                               << " elements";
      Value inside = getInside(layout, dim, coordinate[dim], alongRun ? length : 1, bound);
      Attribute known;
      if (matchPattern(inside, m_Constant(&known))) {
        never |= !cast<BoolAttr>(known).getValue();
        continue;
      }
      mask = mask ? Value(arith::AndIOp::create(builder, loc, mask, inside)) : inside;
    }
    if (never) {
      if (isRead)
        values.runs.push_back(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(runType)));
      continue;
    }
    int64_t linear = 0;
    for (unsigned dim = 0; dim < rank; ++dim)
      linear += coordinate[dim] * strides[dim];
    int64_t pieceStep =
        layout.getValueShape().empty() ? 1 : layout.getValueSteps()[0] * strides[layout.getValueDims()[0]];
    Value value;
    for (int64_t piece = 0; piece < length; piece += width) {
      int64_t at = linear + piece * pieceStep;
      if (isRead) {
        ++numLoads;
        Value loaded = atx_amdgpu::BufferLoadOp::create(builder, loc, pieceType, resource, base,
                                                        builder.getI32IntegerAttr(at), mask);
        if (width == length) {
          value = loaded;
          break;
        }
        if (!value)
          value = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(runType));
        value = vector::InsertStridedSliceOp::create(builder, loc, loaded, value, ArrayRef<int64_t>{piece},
                                                     ArrayRef<int64_t>{1});
        continue;
      }
      ++numStores;
      value = values.runs[run];
      if (width != length)
        value = vector::ExtractStridedSliceOp::create(builder, loc, value, ArrayRef<int64_t>{piece},
                                                      ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
      atx_amdgpu::BufferStoreOp::create(builder, loc, value, resource, base, builder.getI32IntegerAttr(at), mask);
    }
    if (isRead)
      values.runs.push_back(value);
  }
  if (isRead)
    fragments[op->getResult(0)] = std::move(values);
  return success();
}

LogicalResult Distributor::distribute(Operation *op) {
  loc = op->getLoc();
  builder.setInsertionPoint(op);
  auto layout = op->getAttrOfType<atx::TVAttr>(atx::layoutAttrName);
  if (!layout)
    return op->emitError() << "has no '" << atx::layoutAttrName << "'; run 'atx-assign-layouts' first";
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return distributeTransfer(transfer, layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return distributeConstant(constant, layout);
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return distributeBroadcast(broadcast, layout);
  if (auto mask = dyn_cast<vector::ConstantMaskOp>(op))
    return distributeMask(mask, layout);
  if (auto reduce = dyn_cast<vector::MultiDimReductionOp>(op))
    return distributeReduction(reduce);
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    // Unit dimensions come and go without moving an element.
    VectorType from = cast.getSourceVectorType(), to = cast.getResultVectorType();
    atx::TVAttr held = castLayout(layout, to, from);
    if (!held)
      return op->emitError() << "a cast from " << from << " to " << to << " moves elements between lanes";
    FailureOr<Fragment> source = getFragment(cast.getSource(), held, op);
    if (failed(source))
      return failure();
    Fragment copy = *source;
    fragments[cast.getResult()] = std::move(copy);
    return success();
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)
    return distributeElementwise(op, layout);
  return op->emitError() << "'" << op->getName() << "' cannot be distributed over lanes";
}

LogicalResult Distributor::run() {
  builder.setInsertionPointToStart(&kernel.getBody().front());
  loc = kernel.getLoc();
  Value id = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  threadId = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), id);

  SmallVector<Operation *> work;
  kernel.walk([&](Operation *op) {
    auto isVector = [](Type type) { return isa<VectorType>(type); };
    if (llvm::any_of(op->getOperandTypes(), isVector) || llvm::any_of(op->getResultTypes(), isVector))
      work.push_back(op);
  });
  for (Operation *op : work) {
    for (Type type : op->getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type); vector && vector.isScalable())
        return op->emitError() << type << " has no constant extent, so it cannot be distributed over lanes";
    if (auto layout = op->getAttrOfType<atx::TVAttr>(atx::layoutAttrName);
        layout && layout.getNumValues() > maxValuesPerLane)
      return op->emitError() << "layout " << layout << " gives one lane " << layout.getNumValues()
                             << " elements; its registers hold at most " << maxValuesPerLane;
    if (failed(distribute(op)))
      return failure();
  }
  for (Operation *op : llvm::reverse(work))
    op->erase();
  return success();
}
