//===- GenericSchedule.cpp - Any operator as kernels on tiles -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule for what the row mapping does not take. Values that combine
// elements (reductions, products, scans, selections) and results are stored;
// each becomes a kernel. Everything else is pulled: a workgroup chooses a block of
// elements of what it stores and asks for the elements of the operands that these
// need, by coordinate, until it reaches memory.
//
//===----------------------------------------------------------------------===//

#include "OperatorExtents.h"
#include "RowAnalysis.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace atrex {
#define GEN_PASS_DEF_GENERICSCHEDULEPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using Kind = DimExpr::Kind;

namespace {

constexpr int64_t workgroupThreads = 256;
/// Elements of the tile that a workgroup computes at a time.
constexpr int64_t tileElements = 1024, reduceElements = 2048;
/// Longest row that `topk` and `sort` hold in one tile.
constexpr int64_t maxSelected = 4096;

/// Where a stored value lives.
struct Storage {
  std::string name;
  MemRefType type;
  SmallVector<DimExpr> shape;
  /// The argument of the operator; null for a workspace.
  BlockArgument arg;
  /// A kernel writes it.
  bool isOutput = false;
};

/// One kernel and what its arguments are bound to.
struct Launch {
  func::FuncOp kernel;
  /// Storage or scalar argument; null for a run-time dimension.
  SmallVector<std::pair<Storage *, BlockArgument>> args;
};

class OperatorScheduler;

/// Builds one kernel.
class KernelBuilder {
public:
  KernelBuilder(OperatorScheduler &scheduler, StringRef name, Location loc);

  LogicalResult emitElementwise(Value value, Storage &target);
  LogicalResult emitRoot(Operation *root, ArrayRef<Storage *> targets);
  LogicalResult emitHistogram(atx::TensorHistogramOp op, Storage &target);
  LogicalResult emitZero(Storage &target);
  Launch finish();

private:
  //===--- Arguments and scalars ------------------------------------------===//

  Value getDim(StringRef name);
  Value getMemory(Storage &storage);
  /// A scalar or index value of the operator, computed at the kernel's entry.
  Value getScalar(Value value);
  /// An extent as a coordinate.
  Value getExtent(const DimExpr &expr);
  Value makeIndex(int64_t value) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(coordType, value)); }

  //===--- Tiles ----------------------------------------------------------===//

  /// base + 0, 1, ... along one axis of a tile of rank `rank`.
  Value makeAxis(Value base, int64_t length, unsigned axis, unsigned rank);
  static ArrayRef<int64_t> getShape(Value value) {
    auto vector = dyn_cast<VectorType>(value.getType());
    return vector ? vector.getShape() : ArrayRef<int64_t>();
  }
  Value broadcastTo(Value value, ArrayRef<int64_t> shape);
  /// Gives all operands one shape; scalars stay when all are.
  SmallVector<int64_t> unify(MutableArrayRef<Value> values);
  template <typename OpTy, typename... Args> Value binary(Value lhs, Value rhs, Args... args) {
    Value operands[] = {lhs, rhs};
    unify(operands);
    return OpTy::create(b, loc, operands[0], operands[1], args...);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value operands[] = {lhs, rhs};
    unify(operands);
    return arith::CmpIOp::create(b, loc, predicate, operands[0], operands[1]);
  }
  Value select(Value condition, Value yes, Value no) {
    Value operands[] = {condition, yes, no};
    unify(operands);
    return arith::SelectOp::create(b, loc, operands[0], operands[1], operands[2]);
  }
  Value splat(TypedAttr attr, ArrayRef<int64_t> shape);
  /// Coordinates of the elements with row-major index `linear`.
  SmallVector<Value> delinearize(Value linear, ArrayRef<DimExpr> extents);
  Value blockStart(unsigned axis, int64_t step);

  //===--- Values ---------------------------------------------------------===//

  /// Elements of a tensor at coordinates.
  FailureOr<Value> pull(Value tensor, ArrayRef<Value> coords);
  FailureOr<Value> pullUncached(Value tensor, ArrayRef<Value> coords);
  /// The values that the body of `op` yields at a point of its loops. Combiners
  /// are left out; operands of theirs are returned instead.
  FailureOr<SmallVector<Value>> evaluateBody(linalg::GenericOp op, ArrayRef<Value> loops,
                                             ArrayRef<Operation *> combiners, ArrayRef<Value> wanted);
  Operation *cloneElementwise(Operation *op, IRMapping &values);
  Value load(Storage &storage, ArrayRef<Value> coords);
  void store(Value value, Storage &storage, ArrayRef<Value> coords, ArrayRef<int64_t> shape);
  bool isInMemory(Value tensor);

  //===--- Roots ----------------------------------------------------------===//

  LogicalResult emitReduction(linalg::GenericOp op, Storage &target);
  LogicalResult emitContraction(linalg::GenericOp op, const linalg::ContractionDimensions &dims, Storage &target);
  LogicalResult emitArg(atx::TensorArgOp op, Storage &target);
  LogicalResult emitScan(atx::TensorScanOp op, Storage &target);
  LogicalResult emitTopk(atx::TensorTopkOp op, ArrayRef<Storage *> targets);
  LogicalResult emitRank(atx::TensorRankOp op, Storage &target);

  /// Rows of a tensor along `axis`: coordinates of all other axes, `rows` at a
  /// time from the workgroup's first; the place of `axis` stays null.
  SmallVector<Value> makeRows(ArrayRef<DimExpr> shape, int64_t axis, int64_t rows, unsigned rank);
  scf::ForOp makeLoop(Value end, int64_t step, ValueRange inits);
  /// The number that stands for missing elements: never first of its kind.
  TypedAttr getLast(Type type, bool isLargest, bool isUnsigned, bool withNaN);

  OperatorScheduler &scheduler;
  OpBuilder b;
  Location loc;
  func::FuncOp kernel;
  Block *entry;
  Type coordType;
  std::string gridTexts[3] = {"1", "1", "1"};
  llvm::StringMap<Value> dims, extents;
  llvm::MapVector<Storage *, Value> memory;
  DenseMap<Value, Value> scalars;
  SmallVector<std::pair<Storage *, BlockArgument>> bindings;
  /// Elements pulled already; those of a loop's body are forgotten behind it.
  std::map<std::pair<void *, SmallVector<void *>>, Value> pulled;
  SmallVector<std::pair<void *, SmallVector<void *>>> order;
  friend class OperatorScheduler;
};

/// Schedules one operator.
class OperatorScheduler {
public:
  OperatorScheduler(func::FuncOp func) : func(func), extents(func) {}

  LogicalResult run();

  func::FuncOp func;
  OperatorExtents extents;
  /// Stored tensors.
  DenseMap<Value, Storage *> stored;
  bool hasWideCoordinates = false;

private:
  LogicalResult findRoots();
  Storage *addStorage(Value value, BlockArgument output);
  LogicalResult emit(StringRef name, Location loc, function_ref<LogicalResult(KernelBuilder &)> body);
  void emitLaunches(OpBuilder &b, function_ref<Value(unsigned)> getArg);
  void makePlan();
  std::string nextName() { return (func.getName() + "." + Twine(launches.size())).str(); }

  std::vector<std::unique_ptr<Storage>> storages;
  SmallVector<Operation *> roots;
  std::vector<Launch> launches;
  unsigned numWorkspaces = 0;
};

bool isRoot(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumReductionLoops() > 0;
  return isa<atx::TensorArgOp, atx::TensorScanOp, atx::TensorTopkOp, atx::TensorRankOp, atx::TensorHistogramOp>(op);
}

/// Smallest power of two that is not below the extent, at most `limit`.
int64_t coverExtent(const DimExpr &extent, int64_t limit) {
  std::optional<int64_t> constant = extent.getConstant();
  return constant ? std::min<int64_t>(limit, llvm::PowerOf2Ceil(std::max<int64_t>(1, *constant))) : limit;
}

} // namespace

//===----------------------------------------------------------------------===//
// Arguments and scalars
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(OperatorScheduler &scheduler, StringRef name, Location loc)
    : scheduler(scheduler), b(scheduler.func.getContext()), loc(loc) {
  b.setInsertionPoint(scheduler.func);
  kernel = func::FuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  entry = &kernel.getBody().emplaceBlock();
  b.setInsertionPointToStart(entry);
  coordType = scheduler.hasWideCoordinates ? Type(b.getI64Type()) : Type(b.getI32Type());
  if (auto names = scheduler.func->getAttrOfType<ArrayAttr>(atx::dimsAttrName))
    for (auto dim : names.getAsRange<StringAttr>()) {
      dims[dim.getValue()] = entry->addArgument(b.getIndexType(), loc);
      bindings.push_back({nullptr, BlockArgument()});
    }
}

Value KernelBuilder::getDim(StringRef name) { return dims.lookup(name); }

Value KernelBuilder::getMemory(Storage &storage) {
  Value &value = memory[&storage];
  if (!value) {
    value = entry->addArgument(storage.type, loc);
    bindings.push_back({&storage, BlockArgument()});
  }
  return value;
}

Value KernelBuilder::getExtent(const DimExpr &expr) {
  Value &value = extents[expr.str()];
  if (!value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    if (std::optional<int64_t> constant = expr.getConstant()) {
      value = makeIndex(*constant);
    } else {
      Value index = emitDimExpr(expr, [&](StringRef name) { return getDim(name); }, b, loc);
      value = arith::IndexCastOp::create(b, loc, coordType, index);
    }
  }
  return value;
}

Value KernelBuilder::getScalar(Value value) {
  Value &known = scalars[value];
  if (known)
    return known;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    bindings.push_back({nullptr, arg});
    return scalars[value] = entry->addArgument(arg.getType(), loc);
  }
  Operation *def = value.getDefiningOp();
  Value result;
  if (auto dim = dyn_cast<tensor::DimOp>(def)) {
    FailureOr<DimExpr> expr = scheduler.extents.getIndex(value);
    if (failed(expr))
      return {};
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    result = emitDimExpr(*expr, [&](StringRef name) { return getDim(name); }, b, loc);
  } else {
    IRMapping mapping;
    for (Value operand : def->getOperands()) {
      Value scalar = getScalar(operand);
      if (!scalar)
        return {};
      mapping.map(operand, scalar);
    }
    OpBuilder::InsertionGuard guard(b);
    // Behind the operands, which stand at the entry.
    Operation *last = nullptr;
    for (Value operand : def->getOperands())
      if (Operation *op = mapping.lookup(operand).getDefiningOp(); op && (!last || last->isBeforeInBlock(op)))
        last = op;
    if (last)
      b.setInsertionPointAfter(last);
    else
      b.setInsertionPointToStart(entry);
    result = b.clone(*def, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  }
  return scalars[value] = result;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value KernelBuilder::makeAxis(Value base, int64_t length, unsigned axis, unsigned rank) {
  auto flat = VectorType::get(length, coordType);
  Value iota = atx::TileIotaOp::create(b, loc, flat);
  iota = arith::AddIOp::create(b, loc, vector::BroadcastOp::create(b, loc, flat, base), iota);
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = length;
  return rank == 1 ? iota : vector::ShapeCastOp::create(b, loc, VectorType::get(shape, coordType), iota).getResult();
}

Value KernelBuilder::broadcastTo(Value value, ArrayRef<int64_t> shape) {
  if (getShape(value) == shape)
    return value;
  Type element = getElementTypeOrSelf(value.getType());
  return vector::BroadcastOp::create(b, loc, VectorType::get(shape, element), value);
}

SmallVector<int64_t> KernelBuilder::unify(MutableArrayRef<Value> values) {
  SmallVector<int64_t> shape;
  for (Value value : values) {
    ArrayRef<int64_t> own = getShape(value);
    if (shape.empty())
      shape.assign(own.begin(), own.end());
    for (unsigned i = 0; i < own.size(); ++i)
      shape[i] = std::max(shape[i], own[i]);
  }
  if (!shape.empty())
    for (Value &value : values)
      value = broadcastTo(value, shape);
  return shape;
}

Value KernelBuilder::splat(TypedAttr attr, ArrayRef<int64_t> shape) {
  if (!shape.empty())
    attr = DenseElementsAttr::get(VectorType::get(shape, attr.getType()), Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

SmallVector<Value> KernelBuilder::delinearize(Value linear, ArrayRef<DimExpr> sizes) {
  SmallVector<Value> coords(sizes.size());
  Value rest = linear;
  // The slowest extent that is not 1 takes what is left, so that a linear index
  // behind the last element leaves the tensor.
  size_t slowest = 0;
  while (slowest + 1 < sizes.size() && sizes[slowest].getConstant() == 1)
    ++slowest;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (i < slowest) {
      coords[i] = makeIndex(0);
    } else if (i == slowest) {
      coords[i] = rest;
    } else if (sizes[i].getConstant() == 1) {
      coords[i] = makeIndex(0);
    } else {
      Value extent = getExtent(sizes[i]);
      coords[i] = binary<arith::RemUIOp>(rest, extent);
      rest = binary<arith::DivUIOp>(rest, extent);
    }
  }
  return coords;
}

Value KernelBuilder::blockStart(unsigned axis, int64_t step) {
  Value id = gpu::BlockIdOp::create(b, loc, gpu::Dimension(axis));
  id = arith::IndexCastOp::create(b, loc, coordType, id);
  return step == 1 ? id : arith::MulIOp::create(b, loc, id, makeIndex(step)).getResult();
}

scf::ForOp KernelBuilder::makeLoop(Value end, int64_t step, ValueRange inits) {
  auto loop = scf::ForOp::create(b, loc, makeIndex(0), end, makeIndex(step), inits);
  return loop;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool KernelBuilder::isInMemory(Value tensor) { return scheduler.stored.contains(tensor); }

Value KernelBuilder::load(Storage &storage, ArrayRef<Value> coords) {
  SmallVector<Value> indices(coords);
  SmallVector<int64_t> shape;
  for (Value coord : coords) {
    ArrayRef<int64_t> own = getShape(coord);
    if (shape.empty())
      shape.assign(own.begin(), own.end());
    for (unsigned i = 0; i < own.size(); ++i)
      shape[i] = std::max(shape[i], own[i]);
  }
  Type type = storage.type.getElementType();
  if (!shape.empty())
    type = VectorType::get(shape, type);
  return atx::TileLoadOp::create(b, loc, type, getMemory(storage), indices, Value());
}

void KernelBuilder::store(Value value, Storage &storage, ArrayRef<Value> coords, ArrayRef<int64_t> shape) {
  if (!shape.empty())
    value = broadcastTo(value, shape);
  storage.isOutput = true;
  // A tile needs a tile of indices.
  SmallVector<Value> indices(coords);
  if (!shape.empty() && llvm::none_of(indices, [](Value v) { return isa<VectorType>(v.getType()); }) &&
      !indices.empty())
    indices.front() = broadcastTo(indices.front(), SmallVector<int64_t>(shape.size(), 1));
  atx::TileStoreOp::create(b, loc, value, getMemory(storage), indices, Value());
}

FailureOr<Value> KernelBuilder::pull(Value tensor, ArrayRef<Value> coords) {
  std::pair<void *, SmallVector<void *>> key{tensor.getAsOpaquePointer(), {}};
  for (Value coord : coords)
    key.second.push_back(coord.getAsOpaquePointer());
  auto found = pulled.find(key);
  if (found != pulled.end())
    return found->second;
  FailureOr<Value> value = pullUncached(tensor, coords);
  if (succeeded(value)) {
    pulled[key] = *value;
    order.push_back(std::move(key));
  }
  return value;
}

Operation *KernelBuilder::cloneElementwise(Operation *op, IRMapping &values) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value mapped = values.lookupOrNull(operand);
    if (!mapped) {
      // Defined outside of the body.
      mapped = getScalar(operand);
      if (!mapped)
        return nullptr;
    }
    operands.push_back(mapped);
  }
  SmallVector<int64_t> shape = unify(operands);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  for (Type type : op->getResultTypes())
    state.addTypes(shape.empty() ? type : VectorType::get(shape, type));
  state.addAttributes(op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *clone = b.create(state);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
    values.map(from, to);
  return clone;
}

FailureOr<SmallVector<Value>> KernelBuilder::evaluateBody(linalg::GenericOp op, ArrayRef<Value> loops,
                                                          ArrayRef<Operation *> combiners, ArrayRef<Value> wanted) {
  IRMapping values;
  Block *body = op.getBody();
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    if (arg.use_empty() || (op.isDpsInit(&operand) && !combiners.empty()))
      continue;
    if (!isa<RankedTensorType>(operand.get().getType())) {
      Value scalar = getScalar(operand.get());
      if (!scalar)
        return failure();
      values.map(arg, scalar);
      continue;
    }
    SmallVector<Value> coords;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        coords.push_back(loops[dim.getPosition()]);
      else if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        coords.push_back(makeIndex(constant.getValue()));
      else
        return op.emitError() << "indexing map " << AffineMapAttr::get(op.getMatchingIndexingMap(&operand))
                              << " is more than a choice of loops";
    }
    FailureOr<Value> value = pull(operand.get(), coords);
    if (failed(value))
      return failure();
    values.map(arg, *value);
  }
  for (Operation &inner : body->without_terminator()) {
    if (llvm::is_contained(combiners, &inner))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      Value coord = loops[index.getDim()];
      Type type = b.getIndexType();
      if (auto vector = dyn_cast<VectorType>(coord.getType()))
        type = VectorType::get(vector.getShape(), type);
      values.map(index.getResult(), arith::IndexCastOp::create(b, loc, type, coord).getResult());
      continue;
    }
    if (inner.getNumRegions() != 0 || !(OpTrait::hasElementwiseMappableTraits(&inner) || isa<arith::ConstantOp>(inner)))
      return inner.emitError() << "'" << inner.getName() << "' cannot be applied to tiles element by element";
    if (!cloneElementwise(&inner, values))
      return failure();
  }
  SmallVector<Value> result;
  for (Value value : wanted) {
    Value mapped = values.lookupOrNull(value);
    if (!mapped)
      mapped = getScalar(value);
    if (!mapped)
      return failure();
    result.push_back(mapped);
  }
  return result;
}

FailureOr<Value> KernelBuilder::pullUncached(Value tensor, ArrayRef<Value> coords) {
  auto stored = scheduler.stored.find(tensor);
  if (stored != scheduler.stored.end())
    return load(*stored->second, coords);
  Operation *def = tensor.getDefiningOp();
  if (!def)
    return emitError(tensor.getLoc()) << "a tensor of the operator is no argument";
  Type element = getElementTypeOrSelf(tensor.getType());
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(def)
      .Case<tensor::EmptyOp>([&](auto) -> FailureOr<Value> {
        return arith::ConstantOp::create(b, loc, b.getZeroAttr(element)).getResult();
      })
      .Case<linalg::FillOp>([&](linalg::FillOp op) -> FailureOr<Value> {
        if (Value scalar = getScalar(op.getInputs().front()))
          return scalar;
        return failure();
      })
      .Case<linalg::GenericOp>([&](linalg::GenericOp op) -> FailureOr<Value> {
        AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(tensor));
        if (!map.isPermutation())
          return op.emitError() << "result map " << AffineMapAttr::get(map) << " is no permutation";
        SmallVector<Value> loops(op.getNumLoops());
        for (auto [coord, expr] : llvm::zip_equal(coords, map.getResults()))
          loops[cast<AffineDimExpr>(expr).getPosition()] = coord;
        auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
        Value wanted = yield.getOperand(cast<OpResult>(tensor).getResultNumber());
        FailureOr<SmallVector<Value>> values = evaluateBody(op, loops, {}, wanted);
        if (failed(values))
          return failure();
        return values->front();
      })
      .Case<tensor::CastOp>([&](tensor::CastOp op) { return pull(op.getSource(), coords); })
      .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp op) -> FailureOr<Value> {
        if (!op.hasUnitStride())
          return op.emitError() << "slices with a stride are not scheduled";
        llvm::SmallBitVector dropped = op.getDroppedDims();
        SmallVector<Value> source;
        unsigned next = 0;
        for (auto [i, offset] : llvm::enumerate(op.getMixedOffsets())) {
          Value coord = dropped.test(i) ? Value() : coords[next++];
          if (isConstantIntValue(offset, 0)) {
            source.push_back(coord ? coord : makeIndex(0));
            continue;
          }
          FailureOr<DimExpr> expr = scheduler.extents.getIndex(offset);
          if (failed(expr))
            return failure();
          Value start = getExtent(*expr);
          source.push_back(coord ? binary<arith::AddIOp>(coord, start) : start);
        }
        return pull(op.getSource(), source);
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto op) -> FailureOr<Value> {
        constexpr bool collapses = std::is_same_v<decltype(op), tensor::CollapseShapeOp>;
        FailureOr<SmallVector<DimExpr>> wide = scheduler.extents.getShape(collapses ? op.getSrc() : op.getResult());
        if (failed(wide))
          return failure();
        SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
        SmallVector<Value> source;
        if (groups.empty()) {
          // Axes of extent 1 appear or vanish.
          source.assign(cast<RankedTensorType>(op.getSrc().getType()).getRank(), makeIndex(0));
        } else if (collapses) {
          for (auto [coord, group] : llvm::zip_equal(coords, groups)) {
            SmallVector<DimExpr> sizes;
            for (int64_t axis : group)
              sizes.push_back((*wide)[axis]);
            llvm::append_range(source, delinearize(coord, sizes));
          }
        } else {
          for (const ReassociationIndices &group : groups) {
            Value linear;
            for (int64_t axis : group) {
              if (!linear) {
                linear = coords[axis];
                continue;
              }
              linear = binary<arith::MulIOp>(linear, getExtent((*wide)[axis]));
              linear = binary<arith::AddIOp>(linear, coords[axis]);
            }
            source.push_back(linear);
          }
        }
        return pull(op.getSrc(), source);
      })
      .Case<tensor::ConcatOp>([&](tensor::ConcatOp op) -> FailureOr<Value> {
        unsigned axis = op.getDim();
        Value result;
        DimExpr end = DimExpr::constant(0);
        SmallVector<std::pair<Value, Value>> parts;
        for (Value input : op.getInputs()) {
          SmallVector<Value> source(coords);
          if (end.getConstant() != 0)
            source[axis] = binary<arith::SubIOp>(coords[axis], getExtent(end));
          FailureOr<Value> value = pull(input, source);
          FailureOr<DimExpr> extent = scheduler.extents.getExtent(input, axis);
          if (failed(value) || failed(extent))
            return failure();
          end = makeExpr(Kind::Add, end, *extent);
          parts.push_back({*value, compare(arith::CmpIPredicate::slt, coords[axis], getExtent(end))});
        }
        for (auto [value, isBefore] : llvm::reverse(parts))
          result = result ? select(isBefore, value, result) : value;
        return result;
      })
      .Case<atx::TensorTakeOp>([&](atx::TensorTakeOp op) -> FailureOr<Value> {
        SmallVector<Value> at(coords), source(coords);
        auto type = op.getIndex().getType();
        for (int64_t i = 0; i < type.getRank(); ++i)
          if (i != int64_t(op.getAxis()) && type.getDimSize(i) == 1)
            at[i] = makeIndex(0);
        FailureOr<Value> index = pull(op.getIndex(), at);
        FailureOr<DimExpr> extent = scheduler.extents.getExtent(op.getInput(), op.getAxis());
        if (failed(index) || failed(extent))
          return failure();
        Value position = *index;
        if (coordType != b.getI32Type()) {
          Type wide = coordType;
          if (auto vector = dyn_cast<VectorType>(position.getType()))
            wide = VectorType::get(vector.getShape(), coordType);
          position = arith::ExtSIOp::create(b, loc, wide, position);
        }
        source[op.getAxis()] = position;
        FailureOr<Value> value = pull(op.getInput(), source);
        if (failed(value) || isInMemory(op.getInput()))
          return value;
        Value inside = binary<arith::AndIOp>(compare(arith::CmpIPredicate::sge, position, makeIndex(0)),
                                             compare(arith::CmpIPredicate::slt, position, getExtent(*extent)));
        return select(inside, *value, arith::ConstantOp::create(b, loc, b.getZeroAttr(element)));
      })
      .Default([&](Operation *op) -> FailureOr<Value> {
        return op->emitError() << "'" << op->getName() << "' cannot be scheduled";
      });
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// Splits the axes of a stored tensor into the last one and the others.
static std::pair<SmallVector<DimExpr>, DimExpr> splitShape(ArrayRef<DimExpr> shape) {
  if (shape.empty())
    return {{}, DimExpr::constant(1)};
  return {SmallVector<DimExpr>(shape.drop_back()), shape.back()};
}

LogicalResult KernelBuilder::emitElementwise(Value value, Storage &target) {
  unsigned rank = target.shape.size();
  auto [lead, last] = splitShape(target.shape);
  SmallVector<Value> coords;
  SmallVector<int64_t> shape;
  int64_t total = target.type.getElementTypeBitWidth() <= 16 ? 2 * tileElements : tileElements;
  if (rank == 1) {
    int64_t columns = coverExtent(last, total);
    shape = {columns};
    coords.push_back(makeAxis(blockStart(0, columns), columns, 0, 1));
    gridTexts[0] = makeExpr(Kind::CeilDiv, last, DimExpr::constant(columns)).str();
  } else if (rank > 1) {
    int64_t columns = coverExtent(last, total), rows = coverExtent(makeProduct(lead), total / columns);
    shape = {rows, columns};
    coords = delinearize(makeAxis(blockStart(0, rows), rows, 0, 2), lead);
    coords.push_back(makeAxis(blockStart(1, columns), columns, 1, 2));
    gridTexts[0] = makeExpr(Kind::CeilDiv, makeProduct(lead), DimExpr::constant(rows)).str();
    gridTexts[1] = makeExpr(Kind::CeilDiv, last, DimExpr::constant(columns)).str();
  }
  FailureOr<Value> result = pull(value, coords);
  if (failed(result))
    return failure();
  store(*result, target, coords, shape);
  return success();
}

/// The kind of `atx.tile_reduce` that combines like `op`.
static std::optional<atx::TileReduceKind> getReduceKind(Operation *op) {
  bool onTruth = op->getResult(0).getType().isInteger(1);
  using K = atx::TileReduceKind;
  return llvm::TypeSwitch<Operation *, std::optional<K>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return K::Sum; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return K::Prod; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return K::Max; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return K::Min; })
      .Case<arith::MaxUIOp>([](auto) { return K::UMax; })
      .Case<arith::MinUIOp>([](auto) { return K::UMin; })
      .Case<arith::OrIOp>([&](auto) { return onTruth ? std::optional(K::Any) : std::nullopt; })
      .Case<arith::AndIOp>([&](auto) { return onTruth ? std::optional(K::All) : std::nullopt; })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult KernelBuilder::emitReduction(linalg::GenericOp op, Storage &target) {
  SmallVector<Operation *, 4> found;
  if (op.getNumDpsInits() != 1)
    return op.emitError() << "a reduction with " << op.getNumDpsInits() << " results is not scheduled";
  Value reduced = matchReduction(op.getRegionOutputArgs(), 0, found);
  std::optional<atx::TileReduceKind> kind = reduced && found.size() == 1 ? getReduceKind(found.front()) : std::nullopt;
  std::optional<TypedAttr> neutral = kind ? arith::getNeutralElement(found.front()) : std::nullopt;
  AffineMap outMap = op.getIndexingMapMatchingResult(op->getResult(0));
  if (!neutral || !outMap.isProjectedPermutation())
    return op.emitError() << "is not a reduction by one operation";

  // Loops: those of the result in its order, then the reduced ones.
  SmallVector<unsigned> kept, reducedLoops;
  for (AffineExpr expr : outMap.getResults())
    kept.push_back(cast<AffineDimExpr>(expr).getPosition());
  op.getReductionDims(reducedLoops);
  SmallVector<DimExpr> loopExtents(op.getNumLoops(), DimExpr::constant(1));
  for (OpOperand &operand : op->getOpOperands())
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        FailureOr<DimExpr> extent = scheduler.extents.getExtent(operand.get(), axis);
        if (failed(extent))
          return failure();
        loopExtents[dim.getPosition()] = *extent;
      }
  SmallVector<DimExpr> reducedExtents;
  for (unsigned loop : reducedLoops)
    reducedExtents.push_back(loopExtents[loop]);
  DimExpr count = makeProduct(reducedExtents);

  auto [lead, last] = splitShape(target.shape);
  unsigned rank = std::min<size_t>(kept.size(), 2) + 1;
  bool alongRows = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() == 0)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
    alongRows = dim && llvm::is_contained(reducedLoops, dim.getPosition());
    break;
  }
  int64_t chunk, columns = 1, rows = 1;
  if (alongRows || kept.empty()) {
    chunk = coverExtent(count, kept.empty() ? reduceElements : reduceElements / 4);
    if (!kept.empty())
      columns = coverExtent(last, reduceElements / chunk);
  } else {
    columns = coverExtent(last, 256);
    chunk = coverExtent(count, reduceElements / columns);
  }
  if (kept.size() > 1)
    rows = coverExtent(makeProduct(lead), std::max<int64_t>(1, reduceElements / (chunk * columns)));

  SmallVector<Value> outCoords;
  SmallVector<int64_t> shape;
  if (kept.size() > 1) {
    outCoords = delinearize(makeAxis(blockStart(0, rows), rows, 0, rank), lead);
    shape.push_back(rows);
    gridTexts[0] = makeExpr(Kind::CeilDiv, makeProduct(lead), DimExpr::constant(rows)).str();
  }
  if (!kept.empty()) {
    unsigned axis = rank - 2;
    outCoords.push_back(makeAxis(blockStart(axis, columns), columns, axis, rank));
    shape.push_back(columns);
    gridTexts[axis] = makeExpr(Kind::CeilDiv, last, DimExpr::constant(columns)).str();
  }
  SmallVector<int64_t> outShape(shape);
  shape.push_back(chunk);

  SmallVector<Value> loops(op.getNumLoops());
  for (auto [loop, coord] : llvm::zip_equal(kept, outCoords))
    loops[loop] = coord;
  Value end = getExtent(count);
  scf::ForOp loop = makeLoop(end, chunk, splat(*neutral, shape));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    size_t mark = order.size();
    Value linear = makeAxis(loop.getInductionVar(), chunk, rank - 1, rank);
    for (auto [reducedLoop, coord] : llvm::zip_equal(reducedLoops, delinearize(linear, reducedExtents)))
      loops[reducedLoop] = coord;
    FailureOr<SmallVector<Value>> value = evaluateBody(op, loops, found, reduced);
    if (failed(value))
      return failure();
    Value element = value->front();
    std::optional<int64_t> constant = count.getConstant();
    if (!constant || *constant % chunk != 0)
      element = select(compare(arith::CmpIPredicate::slt, linear, end), element, splat(*neutral, {}));
    IRMapping mapping;
    Value acc = loop.getRegionIterArg(0);
    Operation *combiner = found.front();
    for (Value operand : combiner->getOperands())
      mapping.map(operand, operand == reduced ? broadcastTo(element, shape) : acc);
    Operation *combined = cloneElementwise(combiner, mapping);
    scf::YieldOp::create(b, loc, combined->getResult(0));
    while (order.size() > mark)
      pulled.erase(order.pop_back_val());
  }
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  Type resultType = outShape.empty() ? element : VectorType::get(outShape, element);
  Value total = atx::TileReduceOp::create(b, loc, resultType, *kind, loop.getResult(0), int64_t(rank - 1),
                                          /*is_unsigned=*/false);
  // Coordinates lose the axis of the chunk.
  SmallVector<Value> coords;
  for (Value coord : outCoords) {
    auto vector = dyn_cast<VectorType>(coord.getType());
    coords.push_back(
        vector ? vector::ShapeCastOp::create(b, loc, VectorType::get(vector.getShape().drop_back(), coordType), coord)
                     .getResult()
               : coord);
  }
  // What the sum starts from.
  Value init = op.getDpsInits().front();
  auto fill = init.getDefiningOp<linalg::FillOp>();
  Attribute start;
  if (!fill || !matchPattern(fill.getInputs().front(), m_Constant(&start)) || start != *neutral) {
    FailureOr<Value> first = pull(init, coords);
    if (failed(first))
      return failure();
    IRMapping mapping;
    for (Value operand : found.front()->getOperands())
      mapping.map(operand, operand == reduced ? total : *first);
    total = cloneElementwise(found.front(), mapping)->getResult(0);
  }
  store(total, target, coords, outShape);
  return success();
}

LogicalResult KernelBuilder::emitContraction(linalg::GenericOp op, const linalg::ContractionDimensions &dims,
                                             Storage &target) {
  SmallVector<DimExpr> loopExtents(op.getNumLoops(), DimExpr::constant(1));
  for (OpOperand &operand : op->getOpOperands())
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      FailureOr<DimExpr> extent = scheduler.extents.getExtent(operand.get(), axis);
      if (failed(extent))
        return failure();
      loopExtents[cast<AffineDimExpr>(expr).getPosition()] = *extent;
    }
  auto gather = [&](ArrayRef<unsigned> loops) {
    SmallVector<DimExpr> sizes;
    for (unsigned loop : loops)
      sizes.push_back(loopExtents[loop]);
    return sizes;
  };
  SmallVector<DimExpr> batch = gather(dims.batch), m = gather(dims.m), n = gather(dims.n), k = gather(dims.k);
  Value inputs[] = {op.getDpsInputs()[0], op.getDpsInputs()[1]};
  unsigned bits = getElementTypeOrSelf(inputs[0].getType()).getIntOrFloatBitWidth();
  int64_t blockM = std::max<int64_t>(16, coverExtent(makeProduct(m), 64)),
          blockN = std::max<int64_t>(16, coverExtent(makeProduct(n), 64));
  int64_t blockK = std::max<int64_t>(16, coverExtent(makeProduct(k), bits <= 8 ? 64 : 32));
  gridTexts[0] = makeExpr(Kind::CeilDiv, makeProduct(m), DimExpr::constant(blockM)).str();
  gridTexts[1] = makeExpr(Kind::CeilDiv, makeProduct(n), DimExpr::constant(blockN)).str();
  gridTexts[2] = makeProduct(batch).str();

  SmallVector<Value> loops(op.getNumLoops());
  auto assign = [&](ArrayRef<unsigned> which, Value linear, ArrayRef<DimExpr> sizes) {
    for (auto [loop, coord] : llvm::zip_equal(which, delinearize(linear, sizes)))
      loops[loop] = coord;
  };
  if (!batch.empty())
    assign(dims.batch, blockStart(2, 1), batch);
  Value startM = blockStart(0, blockM), startN = blockStart(1, blockN);
  Value rowsM = makeAxis(startM, blockM, 0, 2), rowsN = makeAxis(startN, blockN, 0, 2);
  SmallVector<Value> coordsM = delinearize(rowsM, m), coordsN = delinearize(rowsN, n);

  Type accType = getElementTypeOrSelf(op->getResult(0));
  SmallVector<int64_t> shape{blockM, blockN};
  Value end = getExtent(makeProduct(k));
  scf::ForOp loop = makeLoop(end, blockK, splat(b.getZeroAttr(accType), shape));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    size_t mark = order.size();
    Value linear = makeAxis(loop.getInductionVar(), blockK, 1, 2);
    SmallVector<Value> coordsK = delinearize(linear, k);
    SmallVector<Value> tiles;
    Value inside;
    for (unsigned side : {0u, 1u}) {
      for (auto [which, coords] : {std::pair(ArrayRef<unsigned>(side ? dims.n : dims.m), side ? coordsN : coordsM),
                                   std::pair(ArrayRef<unsigned>(dims.k), coordsK)})
        for (auto [dim, coord] : llvm::zip_equal(which, coords))
          loops[dim] = coord;
      SmallVector<Value> coords;
      for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInputOperand(side)).getResults())
        coords.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
      FailureOr<Value> value = pull(inputs[side], coords);
      if (failed(value))
        return failure();
      Value tile = *value;
      Type element = getElementTypeOrSelf(tile.getType());
      // Memory gives zero behind the last element; what is computed may not.
      std::optional<int64_t> constant = makeProduct(k).getConstant();
      if (!isInMemory(inputs[side]) && (!constant || *constant % blockK != 0)) {
        if (!inside)
          inside = compare(arith::CmpIPredicate::slt, linear, end);
        tile = select(inside, tile, splat(b.getZeroAttr(element), {}));
      }
      tile = broadcastTo(tile, {side ? blockN : blockM, blockK});
      // Unsigned elements are widened by the rules of the body.
      BlockArgument arg = op.getMatchingBlockArgument(op.getDpsInputOperand(side));
      if (arg.hasOneUse())
        if (auto widen = dyn_cast<arith::ExtUIOp>(*arg.user_begin()))
          tile = arith::ExtUIOp::create(b, loc, VectorType::get(getShape(tile), widen.getType()), tile);
      tiles.push_back(tile);
    }
    AffineExpr d0, d1, d2;
    bindDims(b.getContext(), d0, d1, d2);
    AffineMap maps[] = {AffineMap::get(3, 0, {d0, d2}, b.getContext()), AffineMap::get(3, 0, {d1, d2}, b.getContext()),
                        AffineMap::get(3, 0, {d0, d1}, b.getContext())};
    Attribute iterators[] = {vector::IteratorTypeAttr::get(b.getContext(), vector::IteratorType::parallel),
                             vector::IteratorTypeAttr::get(b.getContext(), vector::IteratorType::parallel),
                             vector::IteratorTypeAttr::get(b.getContext(), vector::IteratorType::reduction)};
    Value product = vector::ContractionOp::create(b, loc, tiles[0], tiles[1], loop.getRegionIterArg(0),
                                                  b.getAffineMapArrayAttr(maps), b.getArrayAttr(iterators));
    scf::YieldOp::create(b, loc, product);
    while (order.size() > mark)
      pulled.erase(order.pop_back_val());
  }
  // Where the products go: columns along the second axis.
  coordsN = delinearize(makeAxis(startN, blockN, 1, 2), n);
  for (auto [which, coords] :
       {std::pair(ArrayRef<unsigned>(dims.m), coordsM), std::pair(ArrayRef<unsigned>(dims.n), coordsN)})
    for (auto [dim, coord] : llvm::zip_equal(which, coords))
      loops[dim] = coord;
  SmallVector<Value> coords;
  for (AffineExpr expr : op.getIndexingMapMatchingResult(op->getResult(0)).getResults())
    coords.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
  store(loop.getResult(0), target, coords, shape);
  return success();
}

SmallVector<Value> KernelBuilder::makeRows(ArrayRef<DimExpr> shape, int64_t axis, int64_t rows, unsigned rank) {
  SmallVector<DimExpr> others(shape);
  others.erase(others.begin() + axis);
  SmallVector<Value> coords;
  if (!others.empty())
    coords = delinearize(makeAxis(blockStart(0, rows), rows, 0, rank), others);
  coords.insert(coords.begin() + axis, Value());
  gridTexts[0] = makeExpr(Kind::CeilDiv, makeProduct(others), DimExpr::constant(rows)).str();
  return coords;
}

TypedAttr KernelBuilder::getLast(Type type, bool isLargest, bool isUnsigned, bool withNaN) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (!isLargest && withNaN)
      return FloatAttr::get(floatType, APFloat::getNaN(semantics));
    return FloatAttr::get(floatType, APFloat::getInf(semantics, /*Negative=*/isLargest));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isUnsigned)
    return IntegerAttr::get(type, isLargest ? APInt::getMinValue(bits) : APInt::getMaxValue(bits));
  return IntegerAttr::get(type, isLargest ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits));
}

/// Rows and columns of a tile that goes along rows of `length` elements.
static std::pair<int64_t, int64_t> chooseRowTile(ArrayRef<DimExpr> shape, int64_t axis, int64_t total) {
  SmallVector<DimExpr> others(shape);
  others.erase(others.begin() + axis);
  int64_t columns = coverExtent(shape[axis], total);
  return {coverExtent(makeProduct(others), std::max<int64_t>(1, total / columns)), columns};
}

LogicalResult KernelBuilder::emitArg(atx::TensorArgOp op, Storage &target) {
  FailureOr<SmallVector<DimExpr>> inputShape = scheduler.extents.getShape(op.getInput());
  if (failed(inputShape))
    return failure();
  int64_t axis = op.getAxis();
  auto [rows, columns] = chooseRowTile(*inputShape, axis, reduceElements / 2);
  SmallVector<Value> coords = makeRows(*inputShape, axis, rows, 2);
  bool isMax = op.getKind() == atx::TileReduceKind::ArgMax;
  Type element = op.getInput().getType().getElementType(), i32 = b.getI32Type();
  bool onFloats = isa<FloatType>(element);
  SmallVector<int64_t> shape{rows, columns};

  // Each place of the tile keeps its own winner; they meet at the end.
  Value end = getExtent((*inputShape)[axis]);
  TypedAttr none = IntegerAttr::get(i32, INT32_MAX);
  scf::ForOp loop = makeLoop(
      end, columns, {splat(getLast(element, isMax, op.getIsUnsigned(), /*withNaN=*/false), shape), splat(none, shape)});
  auto isNaN = [&](Value value) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  };
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    size_t mark = order.size();
    coords[axis] = makeAxis(loop.getInductionVar(), columns, 1, 2);
    FailureOr<Value> pulledValue = pull(op.getInput(), coords);
    if (failed(pulledValue))
      return failure();
    Value value = broadcastTo(*pulledValue, shape), best = loop.getRegionIterArg(0), where = loop.getRegionIterArg(1);
    Value inside = broadcastTo(compare(arith::CmpIPredicate::slt, coords[axis], end), shape);
    Value better;
    if (onFloats) {
      better =
          arith::CmpFOp::create(b, loc, isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, value, best);
      Value bestIsNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, best, best);
      better = arith::OrIOp::create(b, loc, better, arith::AndIOp::create(b, loc, isNaN(value), bestIsNumber));
    } else {
      better =
          arith::CmpIOp::create(b, loc,
                                op.getIsUnsigned() ? (isMax ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::ult)
                                                   : (isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt),
                                value, best);
    }
    // The first element of a place wins even when it is the worst there is.
    Value isFirst = compare(arith::CmpIPredicate::eq, where, splat(none, {}));
    better = arith::AndIOp::create(b, loc, arith::OrIOp::create(b, loc, better, isFirst), inside);
    Value position = coords[axis];
    if (coordType != i32)
      position = arith::TruncIOp::create(b, loc, VectorType::get(getShape(position), i32), position);
    scf::YieldOp::create(b, loc, ValueRange{select(better, value, best), select(better, position, where)});
    while (order.size() > mark)
      pulled.erase(order.pop_back_val());
  }
  Value best = loop.getResult(0), where = loop.getResult(1);
  auto reduce = [&](atx::TileReduceKind kind, Value value) -> Value {
    Type type = VectorType::get(rows, getElementTypeOrSelf(value.getType()));
    return atx::TileReduceOp::create(b, loc, type, kind, value, int64_t(1), /*is_unsigned=*/false);
  };
  using K = atx::TileReduceKind;
  Value winner = reduce(op.getIsUnsigned() ? (isMax ? K::UMax : K::UMin) : (isMax ? K::Max : K::Min), best);
  winner = vector::ShapeCastOp::create(b, loc, VectorType::get({rows, 1}, element), winner);
  winner = broadcastTo(winner, shape);
  Value equal;
  if (onFloats)
    equal = arith::OrIOp::create(b, loc, arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, best, winner),
                                 arith::AndIOp::create(b, loc, isNaN(best), isNaN(winner)));
  else
    equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, best, winner);
  Value position = reduce(K::Min, select(equal, where, splat(none, {})));
  SmallVector<Value> outCoords;
  for (auto [i, coord] : llvm::enumerate(coords))
    if (int64_t(i) != axis) {
      auto vector = dyn_cast<VectorType>(coord.getType());
      outCoords.push_back(
          vector ? vector::ShapeCastOp::create(b, loc, VectorType::get(rows, coordType), coord).getResult() : coord);
    }
  if (outCoords.empty()) {
    store(vector::ExtractOp::create(b, loc, position, ArrayRef<int64_t>{0}), target, {}, {});
    return success();
  }
  store(position, target, outCoords, {rows});
  return success();
}

LogicalResult KernelBuilder::emitScan(atx::TensorScanOp op, Storage &target) {
  int64_t axis = op.getAxis();
  auto [rows, columns] = chooseRowTile(target.shape, axis, tileElements);
  SmallVector<Value> coords = makeRows(target.shape, axis, rows, 2);
  Type element = op.getResult().getType().getElementType();
  SmallVector<int64_t> shape{rows, columns};
  using S = atx::TileScanKind;
  S kind = op.getKind();
  // The combination, as an operation on whole tiles.
  auto combine = [&](Value lhs, Value rhs) -> Value {
    Value operands[] = {lhs, rhs};
    unify(operands);
    auto make = [&]<typename OpTy>() -> Value { return OpTy::create(b, loc, operands[0], operands[1]); };
    bool onFloats = isa<FloatType>(element);
    switch (kind) {
    case S::Sum:
      return onFloats ? make.template operator()<arith::AddFOp>() : make.template operator()<arith::AddIOp>();
    case S::Prod:
      return onFloats ? make.template operator()<arith::MulFOp>() : make.template operator()<arith::MulIOp>();
    case S::Max:
      return onFloats ? make.template operator()<arith::MaximumFOp>() : make.template operator()<arith::MaxSIOp>();
    case S::Min:
      return onFloats ? make.template operator()<arith::MinimumFOp>() : make.template operator()<arith::MinSIOp>();
    case S::UMax:
      return make.template operator()<arith::MaxUIOp>();
    case S::UMin:
      return make.template operator()<arith::MinUIOp>();
    }
    return {};
  };
  TypedAttr neutral = kind == S::Sum    ? b.getZeroAttr(element)
                      : kind == S::Prod ? b.getOneAttr(element)
                                        : getLast(element, kind == S::Max || kind == S::UMax,
                                                  kind == S::UMax || kind == S::UMin, /*withNaN=*/false);
  atx::TileReduceKind reduceKind = kind == S::Sum    ? atx::TileReduceKind::Sum
                                   : kind == S::Prod ? atx::TileReduceKind::Prod
                                   : kind == S::Max  ? atx::TileReduceKind::Max
                                   : kind == S::Min  ? atx::TileReduceKind::Min
                                   : kind == S::UMax ? atx::TileReduceKind::UMax
                                                     : atx::TileReduceKind::UMin;
  Value end = getExtent(target.shape[axis]);
  scf::ForOp loop = makeLoop(end, columns, splat(neutral, {rows, 1}));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value begin = loop.getInductionVar();
  if (op.getReverse()) {
    // Chunks from the end; the last one may begin before the row.
    begin = arith::SubIOp::create(b, loc, end, begin);
    begin = arith::SubIOp::create(b, loc, begin, makeIndex(columns));
  }
  coords[axis] = makeAxis(begin, columns, 1, 2);
  FailureOr<Value> value = pull(op.getInput(), coords);
  if (failed(value))
    return failure();
  Value inside = binary<arith::AndIOp>(compare(arith::CmpIPredicate::sge, coords[axis], makeIndex(0)),
                                       compare(arith::CmpIPredicate::slt, coords[axis], end));
  Value tile = broadcastTo(select(inside, *value, splat(neutral, {})), shape);
  Value carry = loop.getRegionIterArg(0);
  Value scanned =
      atx::TileScanOp::create(b, loc, tile.getType(), kind, tile, int64_t(1), op.getExclusive(), op.getReverse());
  store(combine(carry, scanned), target, coords, shape);
  Value total = atx::TileReduceOp::create(b, loc, VectorType::get(rows, element), reduceKind, tile, int64_t(1),
                                          /*is_unsigned=*/false);
  total = vector::ShapeCastOp::create(b, loc, VectorType::get({rows, 1}, element), total);
  scf::YieldOp::create(b, loc, combine(carry, total));
  return success();
}

LogicalResult KernelBuilder::emitTopk(atx::TensorTopkOp op, ArrayRef<Storage *> targets) {
  int64_t axis = op.getAxis();
  FailureOr<SmallVector<DimExpr>> inputShape = scheduler.extents.getShape(op.getInput());
  FailureOr<DimExpr> count = scheduler.extents.getIndex(op.getK());
  if (failed(inputShape) || failed(count))
    return failure();
  std::optional<int64_t> k = count->getConstant();
  if (!k || *k > maxSelected)
    return op.emitError() << "selects '" << count->str() << "' elements of a row; the generic schedule holds them in a "
                          << "tile of at most " << maxSelected
                          << (k ? "" : ", so give the number when compiling (--dim NAME=V)");
  Type element = op.getInput().getType().getElementType(), i32 = b.getI32Type();
  const DimExpr &extent = (*inputShape)[axis];
  std::optional<int64_t> length = extent.getConstant();
  // The whole row when it fits, else chunks that hold at least as many.
  int64_t columns = length && *length <= 2 * *k && *length <= maxSelected
                        ? *length
                        : std::max<int64_t>(llvm::PowerOf2Ceil(*k), coverExtent(extent, tileElements));
  if (length && *length <= columns)
    columns = *length;
  SmallVector<Value> coords = makeRows(*inputShape, axis, 1, 2);
  TypedAttr last = getLast(element, !op.getSmallest(), op.getIsUnsigned(), /*withNaN=*/true);
  Value end = getExtent(extent);
  auto read = [&](Value begin) -> FailureOr<std::pair<Value, Value>> {
    coords[axis] = makeAxis(begin, columns, 1, 2);
    FailureOr<Value> value = pull(op.getInput(), coords);
    if (failed(value))
      return failure();
    Value tile = *value;
    if (!length || *length % columns != 0)
      tile = select(compare(arith::CmpIPredicate::slt, coords[axis], end), tile, splat(last, {}));
    Value position = coords[axis];
    if (coordType != i32)
      position = arith::TruncIOp::create(b, loc, VectorType::get(getShape(position), i32), position);
    return std::pair(broadcastTo(tile, {1, columns}), position);
  };
  auto valuesType = VectorType::get({1, *k}, element), positionsType = VectorType::get({1, *k}, i32);
  auto selectBest = [&](Value values, Value positions) {
    auto best = atx::TileTopkOp::create(b, loc, valuesType, positionsType, values, *k, int64_t(1), op.getSmallest(),
                                        op.getIsUnsigned());
    Value where = atx::TileTakeOp::create(b, loc, positionsType, positions, best.getIndices(), int64_t(1));
    return std::pair<Value, Value>(best.getValues(), where);
  };
  // The first chunk has at least k elements, so what stands for missing ones
  // comes behind those that are equal to it and is never selected.
  FailureOr<std::pair<Value, Value>> first = read(makeIndex(0));
  if (failed(first))
    return failure();
  auto [values, positions] = selectBest(first->first, first->second);
  if (!length || *length > columns) {
    auto loop = scf::ForOp::create(b, loc, makeIndex(columns), end, makeIndex(columns), ValueRange{values, positions});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    size_t mark = order.size();
    FailureOr<std::pair<Value, Value>> chunk = read(loop.getInductionVar());
    if (failed(chunk))
      return failure();
    auto join = [&](Value a, Value c) -> Value {
      Type type = VectorType::get({1, *k + columns}, getElementTypeOrSelf(a.getType()));
      return atx::TileConcatOp::create(b, loc, type, ValueRange{a, c}, int64_t(1));
    };
    auto [better, where] =
        selectBest(join(loop.getRegionIterArg(0), chunk->first), join(loop.getRegionIterArg(1), chunk->second));
    scf::YieldOp::create(b, loc, ValueRange{better, where});
    while (order.size() > mark)
      pulled.erase(order.pop_back_val());
    values = loop.getResult(0);
    positions = loop.getResult(1);
  }
  coords[axis] = makeAxis(makeIndex(0), *k, 1, 2);
  if (targets[0])
    store(values, *targets[0], coords, {1, *k});
  if (targets[1])
    store(positions, *targets[1], coords, {1, *k});
  return success();
}

LogicalResult KernelBuilder::emitRank(atx::TensorRankOp op, Storage &target) {
  // For a block of positions, all positions before them, a chunk at a time.
  int64_t axis = op.getAxis();
  int64_t columns = coverExtent(target.shape[axis], 64), chunk = coverExtent(target.shape[axis], 32);
  SmallVector<DimExpr> others(target.shape);
  others.erase(others.begin() + axis);
  // Rows on the first axis of the grid, blocks of positions on the second.
  SmallVector<Value> own(target.shape.size()), earlier(target.shape.size());
  if (!others.empty()) {
    SmallVector<Value> rows = delinearize(blockStart(0, 1), others);
    rows.insert(rows.begin() + axis, Value());
    own = earlier = rows;
  }
  gridTexts[0] = makeProduct(others).str();
  gridTexts[1] = makeExpr(Kind::CeilDiv, target.shape[axis], DimExpr::constant(columns)).str();
  Value start = blockStart(1, columns);
  own[axis] = makeAxis(start, columns, 0, 2);
  FailureOr<Value> mine = pull(op.getInput(), own);
  if (failed(mine))
    return failure();
  SmallVector<int64_t> shape{columns, chunk};
  Value end = getExtent(target.shape[axis]);
  Value stop = arith::MinSIOp::create(b, loc, end, arith::AddIOp::create(b, loc, start, makeIndex(columns)));
  scf::ForOp loop = makeLoop(stop, chunk, splat(b.getI32IntegerAttr(0), shape));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    size_t mark = order.size();
    earlier[axis] = makeAxis(loop.getInductionVar(), chunk, 1, 2);
    FailureOr<Value> other = pull(op.getInput(), earlier);
    if (failed(other))
      return failure();
    Value counts = binary<arith::AndIOp>(compare(arith::CmpIPredicate::eq, *mine, *other),
                                         compare(arith::CmpIPredicate::slt, earlier[axis], own[axis]));
    Value number = arith::ExtUIOp::create(b, loc, VectorType::get(shape, b.getI32Type()), broadcastTo(counts, shape));
    scf::YieldOp::create(b, loc, arith::AddIOp::create(b, loc, loop.getRegionIterArg(0), number).getResult());
    while (order.size() > mark)
      pulled.erase(order.pop_back_val());
  }
  Value total = atx::TileReduceOp::create(b, loc, VectorType::get(columns, b.getI32Type()), atx::TileReduceKind::Sum,
                                          loop.getResult(0), int64_t(1), /*is_unsigned=*/false);
  own[axis] = vector::ShapeCastOp::create(b, loc, VectorType::get(columns, coordType), own[axis]);
  store(total, target, own, {columns});
  return success();
}

LogicalResult KernelBuilder::emitZero(Storage &target) {
  int64_t columns = coverExtent(target.shape.front(), tileElements);
  Value coord = makeAxis(blockStart(0, columns), columns, 0, 1);
  gridTexts[0] = makeExpr(Kind::CeilDiv, target.shape.front(), DimExpr::constant(columns)).str();
  store(splat(b.getZeroAttr(target.type.getElementType()), {columns}), target, coord, {columns});
  return success();
}

LogicalResult KernelBuilder::emitHistogram(atx::TensorHistogramOp op, Storage &target) {
  FailureOr<SmallVector<DimExpr>> inputShape = scheduler.extents.getShape(op.getInput());
  if (failed(inputShape))
    return failure();
  auto [lead, last] = splitShape(*inputShape);
  int64_t columns = coverExtent(last, tileElements), rows = coverExtent(makeProduct(lead), tileElements / columns);
  SmallVector<Value> coords;
  if (!inputShape->empty()) {
    Value row = makeAxis(blockStart(0, rows), rows, 0, 2);
    if (!lead.empty())
      coords = delinearize(row, lead);
    coords.push_back(makeAxis(blockStart(1, columns), columns, 1, 2));
    gridTexts[0] = makeExpr(Kind::CeilDiv, makeProduct(lead), DimExpr::constant(rows)).str();
    gridTexts[1] = makeExpr(Kind::CeilDiv, last, DimExpr::constant(columns)).str();
  }
  FailureOr<Value> value = pull(op.getInput(), coords);
  if (failed(value))
    return failure();
  SmallVector<int64_t> shape{rows, columns};
  // What the tile reaches beyond the tensor does not count.
  Value inside = splat(b.getBoolAttr(true), {1, 1});
  for (auto [coord, extent] : llvm::zip_equal(coords, *inputShape))
    inside = binary<arith::AndIOp>(inside, compare(arith::CmpIPredicate::slt, coord, getExtent(extent)));
  if (op.getMask()) {
    FailureOr<Value> mask = pull(op.getMask(), coords);
    if (failed(mask))
      return failure();
    inside = binary<arith::AndIOp>(inside, *mask);
  }
  Value index = broadcastTo(*value, shape);
  unsigned bits = getElementTypeOrSelf(index.getType()).isIndex()
                      ? 64
                      : getElementTypeOrSelf(index.getType()).getIntOrFloatBitWidth();
  if (op.getIsUnsigned() && bits < 64)
    index = arith::ExtUIOp::create(b, loc, VectorType::get(shape, b.getI64Type()), index);
  else if (bits < 32)
    index = arith::ExtSIOp::create(b, loc, VectorType::get(shape, b.getI32Type()), index);
  target.isOutput = true;
  Value one = splat(b.getI32IntegerAttr(1), shape);
  atx::TileAtomicOp::create(b, loc, one.getType(), atx::TileAtomicKind::Add, one, getMemory(target), index, Value(),
                            broadcastTo(inside, shape));
  return success();
}

LogicalResult KernelBuilder::emitRoot(Operation *root, ArrayRef<Storage *> targets) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(root)
      .Case<linalg::GenericOp>([&](linalg::GenericOp op) -> LogicalResult {
        auto linalgOp = cast<linalg::LinalgOp>(op.getOperation());
        FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(linalgOp);
        // Matrix products with something to share on both sides.
        if (succeeded(dims) && !dims->m.empty() && !dims->n.empty() && !dims->k.empty() &&
            dims->batch.size() + dims->m.size() + dims->n.size() + dims->k.size() == op.getNumLoops() &&
            linalg::isaContractionOpInterface(linalgOp))
          return emitContraction(op, *dims, *targets[0]);
        return emitReduction(op, *targets[0]);
      })
      .Case<atx::TensorArgOp>([&](auto op) { return emitArg(op, *targets[0]); })
      .Case<atx::TensorScanOp>([&](auto op) { return emitScan(op, *targets[0]); })
      .Case<atx::TensorTopkOp>([&](auto op) { return emitTopk(op, targets); })
      .Case<atx::TensorRankOp>([&](auto op) { return emitRank(op, *targets[0]); })
      .Default([](Operation *op) { return op->emitError() << "is not scheduled"; });
}

Launch KernelBuilder::finish() {
  func::FuncOp func = scheduler.func;
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, loc);
  kernel.setFunctionType(b.getFunctionType(entry->getArgumentTypes(), {}));
  kernel->setAttr(atx::kernelAttrName, b.getUnitAttr());
  kernel->setAttr(atx::gridAttrName, b.getStrArrayAttr({gridTexts[0], gridTexts[1], gridTexts[2]}));
  kernel->setAttr(atx::threadsAttrName, b.getI64IntegerAttr(workgroupThreads));
  auto dimNames = func->getAttrOfType<ArrayAttr>(atx::dimsAttrName);
  kernel->setAttr(atx::dimsAttrName, dimNames ? dimNames : b.getArrayAttr({}));
  if (Attribute constraints = func->getAttr("atx.constraints"))
    kernel->setAttr("atx.constraints", constraints);
  for (auto [i, binding] : llvm::enumerate(bindings)) {
    auto [storage, scalar] = binding;
    auto set = [&, i = i](StringRef name, Attribute value) { kernel.setArgAttr(i, name, value); };
    if (!storage && !scalar) {
      set(atx::nameAttrName, dimNames[i]);
      continue;
    }
    BlockArgument arg = scalar ? scalar : storage->arg;
    if (arg)
      for (StringRef name :
           {StringRef(atx::nameAttrName), StringRef(atx::defaultAttrName), StringRef(atx::typeAttrName)})
        if (Attribute value = func.getArgAttr(arg.getArgNumber(), name))
          set(name, value);
    if (!storage)
      continue;
    set(atx::shapeAttrName, getShapeAttr(b.getContext(), storage->shape));
    if (!arg) {
      set(atx::nameAttrName, b.getStringAttr(storage->name));
      set(atx::workspaceAttrName, b.getUnitAttr());
    }
    bool writes = llvm::any_of(memory[storage].getUsers(), llvm::IsaPred<atx::TileStoreOp, atx::TileAtomicOp>);
    if (writes)
      set(atx::outputAttrName, b.getUnitAttr());
  }
  return {kernel, bindings};
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Storage *OperatorScheduler::addStorage(Value value, BlockArgument output) {
  auto tensor = cast<RankedTensorType>(value.getType());
  auto storage = std::make_unique<Storage>();
  storage->type = MemRefType::get(tensor.getShape(), tensor.getElementType());
  storage->arg = output;
  FailureOr<SmallVector<DimExpr>> shape = extents.getShape(output ? Value(output) : value);
  if (failed(shape))
    return nullptr;
  storage->shape = *shape;
  if (output)
    storage->type = MemRefType::get(cast<RankedTensorType>(output.getType()).getShape(), tensor.getElementType());
  else
    storage->name = "workspace." + std::to_string(numWorkspaces++);
  storages.push_back(std::move(storage));
  return storages.back().get();
}

LogicalResult OperatorScheduler::emit(StringRef name, Location loc, function_ref<LogicalResult(KernelBuilder &)> body) {
  KernelBuilder kernel(*this, name, loc);
  if (failed(body(kernel))) {
    kernel.kernel.erase();
    return failure();
  }
  launches.push_back(kernel.finish());
  return success();
}

LogicalResult OperatorScheduler::run() {
  if (failed(extents.initialize()))
    return failure();
  if (func.isExternal() || !func.getBody().hasOneBlock())
    return func.emitError() << "operator needs a body of one block";
  // Coordinates of 32 bits where every tensor is known to be small.
  func.walk([&](Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(types, op->getOperandTypes());
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type)) {
        int64_t count = 1;
        for (int64_t extent : tensor.getShape())
          if (ShapedType::isDynamic(extent) || llvm::MulOverflow(count, extent, count) || count > INT32_MAX / 4)
            hasWideCoordinates = true;
      }
  });
  for (BlockArgument arg : func.getArguments())
    if (isa<RankedTensorType>(arg.getType()))
      if (!(stored[arg] = addStorage(arg, arg)))
        return failure();

  auto returnOp = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  SmallVector<BlockArgument> outputs;
  for (BlockArgument arg : func.getArguments())
    if (func.getArgAttr(arg.getArgNumber(), atx::outputAttrName))
      outputs.push_back(arg);
  if (outputs.size() != returnOp.getNumOperands())
    return returnOp.emitError() << "returns " << returnOp.getNumOperands() << " values for " << outputs.size()
                                << " results";

  // Values that are needed, operands first.
  DenseSet<Operation *> live;
  SmallVector<Value> work(returnOp.getOperands());
  while (!work.empty()) {
    Operation *def = work.pop_back_val().getDefiningOp();
    if (!def || !live.insert(def).second)
      continue;
    llvm::append_range(work, def->getOperands());
    for (Region &region : def->getRegions())
      region.walk([&](Operation *inner) { llvm::append_range(work, inner->getOperands()); });
  }
  // An output may be the memory of the parameter with its name; it is written
  // when everything else is done.
  llvm::StringSet<> params;
  for (BlockArgument arg : func.getArguments())
    if (!func.getArgAttr(arg.getArgNumber(), atx::outputAttrName))
      if (auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), atx::nameAttrName))
        params.insert(name.getValue());
  auto mayAlias = [&](BlockArgument arg) {
    auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), atx::nameAttrName);
    return name && params.contains(name.getValue());
  };
  DenseMap<Value, BlockArgument> direct;
  for (auto [value, output] : llvm::zip_equal(returnOp.getOperands(), outputs))
    if (value.getType() == output.getType() && !mayAlias(output) && value.getDefiningOp() &&
        isRoot(value.getDefiningOp()))
      direct.try_emplace(value, output);

  for (Operation &op : func.getBody().front()) {
    if (!live.contains(&op) || !isRoot(&op))
      continue;
    SmallVector<Storage *> targets;
    for (Value result : op.getResults()) {
      bool isUsed =
          llvm::any_of(result.getUsers(), [&](Operation *user) { return user == returnOp || live.contains(user); });
      Storage *storage = isUsed ? addStorage(result, direct.lookup(result)) : nullptr;
      if (isUsed && !storage)
        return failure();
      targets.push_back(storage);
    }
    if (auto histogram = dyn_cast<atx::TensorHistogramOp>(op)) {
      if (failed(emit(nextName(), op.getLoc(), [&](KernelBuilder &k) { return k.emitZero(*targets[0]); })) ||
          failed(
              emit(nextName(), op.getLoc(), [&](KernelBuilder &k) { return k.emitHistogram(histogram, *targets[0]); })))
        return failure();
    } else if (failed(emit(nextName(), op.getLoc(), [&](KernelBuilder &k) { return k.emitRoot(&op, targets); }))) {
      return failure();
    }
    for (auto [result, storage] : llvm::zip_equal(op.getResults(), targets))
      if (storage)
        stored[result] = storage;
  }

  // Results that are computed element by element, and copies.
  SmallVector<std::pair<Storage *, Storage *>> copies;
  for (auto [value, output] : llvm::zip_equal(returnOp.getOperands(), outputs)) {
    if (direct.lookup(value) == output)
      continue;
    Storage *target = stored[output];
    Storage *through = target;
    // Another kernel may still read the parameter.
    if (mayAlias(output) && !(stored.contains(value) && stored[value]->name.size())) {
      through = addStorage(value, BlockArgument());
      if (!through)
        return failure();
      copies.push_back({through, target});
    }
    Location loc = value.getDefiningOp() ? value.getLoc() : returnOp.getLoc();
    if (failed(
            emit(nextName(), loc, [&, value = value](KernelBuilder &k) { return k.emitElementwise(value, *through); })))
      return failure();
  }
  for (auto [from, to] : copies) {
    // A stored tensor has no value in the operator; the output stands for it.
    BlockArgument output = to->arg;
    Storage *kept = stored[output];
    stored[output] = from;
    LogicalResult status =
        emit(nextName(), returnOp.getLoc(), [&, to = to](KernelBuilder &k) { return k.emitElementwise(output, *to); });
    stored[output] = kept;
    if (failed(status))
      return failure();
  }
  makePlan();
  return success();
}

/// Launches the kernels at the place of `b`; `getArg` gives what stands for an
/// argument of the operator.
void OperatorScheduler::emitLaunches(OpBuilder &b, function_ref<Value(unsigned)> getArg) {
  Location loc = func.getLoc();
  // Run-time dimensions from the first tensor that has them.
  llvm::StringMap<Value> dims;
  SmallVector<StringRef> dimNames;
  if (auto names = func->getAttrOfType<ArrayAttr>(atx::dimsAttrName))
    for (StringRef dim : names.getAsValueRange<StringAttr>())
      dimNames.push_back(dim);
  for (StringRef dim : dimNames)
    for (unsigned i = 0; i < func.getNumArguments() && !dims.count(dim); ++i)
      if (auto shape = func.getArgAttrOfType<ArrayAttr>(i, atx::shapeAttrName))
        for (auto [axis, extent] : llvm::enumerate(shape.getAsValueRange<StringAttr>()))
          if (extent == dim && !dims.count(dim))
            dims[dim] = memref::DimOp::create(b, loc, getArg(i), axis);
  DenseMap<Storage *, Value> memory;
  auto getMemory = [&](Storage *storage) -> Value {
    if (storage->arg)
      return getArg(storage->arg.getArgNumber());
    Value &value = memory[storage];
    if (!value) {
      SmallVector<Value> sizes;
      for (auto [i, extent] : llvm::enumerate(storage->shape))
        if (storage->type.isDynamicDim(i))
          sizes.push_back(emitDimExpr(extent, [&](StringRef dim) { return dims.lookup(dim); }, b, loc));
      auto allocs = b.getInsertionBlock()->getOps<memref::AllocOp>();
      std::string name = "workspace." + std::to_string(std::distance(allocs.begin(), allocs.end()));
      auto alloc = memref::AllocOp::create(b, loc, storage->type, sizes);
      alloc->setAttr(atx::nameAttrName, b.getStringAttr(name));
      value = alloc;
    }
    return value;
  };
  for (Launch &launch : launches) {
    SmallVector<Value> args;
    unsigned nextDim = 0;
    for (auto [storage, scalar] : launch.args)
      args.push_back(storage  ? getMemory(storage)
                     : scalar ? getArg(scalar.getArgNumber())
                              : dims.lookup(dimNames[nextDim++]));
    atx::LaunchOp::create(b, launch.kernel.getLoc(), launch.kernel.getName(), args, Value(), ValueRange());
  }
}

void OperatorScheduler::makePlan() {
  std::string name = func.getName().str();
  // A part of a plan: its launches become those of the kernels.
  SmallVector<atx::LaunchOp> callers;
  func->getParentOp()->walk([&](atx::LaunchOp launch) {
    if (launch.getKernel() == name)
      callers.push_back(launch);
  });
  for (atx::LaunchOp caller : callers) {
    OpBuilder b(caller);
    emitLaunches(b, [&](unsigned index) { return caller.getArgs()[index]; });
    caller.erase();
  }
  if (!callers.empty()) {
    func.erase();
    return;
  }
  if (launches.size() == 1) {
    // The kernel is the operator.
    func::FuncOp kernel = launches.front().kernel;
    func.erase();
    kernel.setName(name);
    return;
  }
  OpBuilder b(func);
  Location loc = func.getLoc();
  SmallVector<Type> types;
  SmallVector<Location> locs;
  for (BlockArgument arg : func.getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(arg.getType());
    types.push_back(tensor ? Type(MemRefType::get(tensor.getShape(), tensor.getElementType())) : arg.getType());
    locs.push_back(arg.getLoc());
  }
  auto plan = func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  plan->setAttr(atx::planAttrName, b.getUnitAttr());
  for (StringRef attr : {StringRef(atx::dimsAttrName), StringRef("atx.constraints")})
    if (Attribute value = func->getAttr(attr))
      plan->setAttr(attr, value);
  for (unsigned i = 0; i < types.size(); ++i) {
    NamedAttrList attrs(func.getArgAttrDict(i));
    attrs.erase(bufferization::BufferizationDialect::kWritableAttrName);
    plan.setArgAttrs(i, attrs.getDictionary(b.getContext()));
  }
  Block *body = &plan.getBody().emplaceBlock();
  body->addArguments(types, locs);
  b.setInsertionPointToStart(body);
  emitLaunches(b, [&](unsigned index) { return body->getArgument(index); });
  func::ReturnOp::create(b, loc);
  func.erase();
}

namespace {

/// Positions of elements are counted in 64 bits, and tiles that reach beyond a
/// tensor must not wrap: its bytes, and those of every row, stay below 2^48.
LogicalResult checkExtents(func::FuncOp func) {
  constexpr int64_t limit = int64_t(1) << 48;
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<ShapedType>(arg.getType());
    if (!type)
      continue;
    int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    for (int64_t extent : type.getShape()) {
      if (ShapedType::isDynamic(extent))
        continue;
      if (llvm::MulOverflow(bytes, extent, bytes) || bytes >= limit) {
        auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), atx::nameAttrName);
        return func.emitError() << "tensor " << (name ? "'" + name.getValue() + "'" : Twine("argument"))
                                << " has constant extents of 2^48 bytes or more: " << type;
      }
    }
  }
  return success();
}

class GenericSchedule : public atrex::impl::GenericSchedulePassBase<GenericSchedule> {
public:
  using GenericSchedulePassBase::GenericSchedulePassBase;

  void runOnOperation() override {
    if (mode != "auto" && mode != "always" && mode != "never") {
      getOperation().emitError() << "option 'mode' is '" << mode << "'; it must be 'auto', 'always' or 'never'";
      return signalPassFailure();
    }
    if (mode == "never")
      return;
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!func->hasAttr(atx::operatorAttrName))
        continue;
      if (failed(checkExtents(func)))
        return signalPassFailure();
      std::string reason;
      Location where = func.getLoc();
      if (mode == "auto" && fitsRowMapping(func, arch, reason, where))
        continue;
      if (mode == "auto")
        emitRemark(where) << "operator '" << func.getName() << "' takes the generic schedule: " << reason;
      if (failed(OperatorScheduler(func).run()))
        return signalPassFailure();
      ++numScheduled;
    }
  }
};

} // namespace
