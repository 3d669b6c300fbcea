//===- TensorHandlers.cpp - Operations of operator form -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::interp;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

static LogicalResult checkSlice(Operation *op, ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets,
                                ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t last = offsets[axis] + (sizes[axis] - 1) * strides[axis];
    bool inside = offsets[axis] >= 0 && sizes[axis] >= 0 && last < shape[axis] && last >= 0;
    if (sizes[axis] == 0)
      inside = offsets[axis] >= 0 && offsets[axis] <= shape[axis];
    if (!inside)
      return op->emitError() << "axis " << axis << ": " << sizes[axis] << " elements from " << offsets[axis]
                             << " with stride " << strides[axis] << " are not inside of an extent of " << shape[axis];
  }
  return success();
}

FailureOr<Array> interp::slice(Interpreter &interpreter, Operation *op, const Array &input, ArrayRef<int64_t> offsets,
                               ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (failed(checkSlice(op, input.getShape(), offsets, sizes, strides)))
    return failure();
  FailureOr<Array> result = interpreter.allocate(op, input.getType(), sizes);
  if (failed(result))
    return failure();
  SmallVector<int64_t> steps = getRowMajor(input.getShape());
  std::vector<Number> &elements = result->edit();
  forEachIndex(sizes, [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += (offsets[axis] + index[axis] * strides[axis]) * steps[axis];
    elements[i] = input[offset];
  });
  return result;
}

FailureOr<Array> interp::insertSlice(Operation *op, const Array &source, const Array &target, ArrayRef<int64_t> offsets,
                                     ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (failed(checkSlice(op, target.getShape(), offsets, sizes, strides)))
    return failure();
  Array result = target;
  SmallVector<int64_t> steps = getRowMajor(target.getShape());
  std::vector<Number> &elements = result.edit();
  if (source.size() != countElements(sizes))
    return op->emitError() << "the source has " << source.size() << " elements, the slice another number";
  forEachIndex(sizes, [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += (offsets[axis] + index[axis] * strides[axis]) * steps[axis];
    elements[offset] = source[i];
  });
  return result;
}

namespace {
//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

/// RuntimeValue of an affine expression at a point.
std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> point) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expr).getValue();
  case AffineExprKind::DimId:
    return point[cast<AffineDimExpr>(expr).getPosition()];
  case AffineExprKind::SymbolId:
    return std::nullopt;
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs = evaluate(binary.getLHS(), point), rhs = evaluate(binary.getRHS(), point);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *lhs + *rhs;
  case AffineExprKind::Mul:
    return *lhs * *rhs;
  case AffineExprKind::Mod:
    return *rhs > 0 ? std::optional(((*lhs % *rhs) + *rhs) % *rhs) : std::nullopt;
  case AffineExprKind::FloorDiv:
    return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs)) : std::nullopt;
  case AffineExprKind::CeilDiv:
    return *rhs > 0 ? std::optional(llvm::divideCeilSigned(*lhs, *rhs)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// How an operand is read at the points of an iteration space.
struct OperandAccess {
  Array array;
  AffineMap map;
  /// Offset of a point where every result of the map is a dimension or constant.
  bool isSimple = true;
  int64_t base = 0;
  SmallVector<int64_t> steps;
  SmallVector<int64_t> strides;

  std::optional<int64_t> getOffset(ArrayRef<int64_t> point) const {
    int64_t offset = base;
    if (isSimple) {
      for (auto [i, step] : llvm::zip(point, steps))
        offset += i * step;
      return offset;
    }
    offset = 0;
    for (auto [expr, stride, extent] : llvm::zip(map.getResults(), strides, array.getShape())) {
      std::optional<int64_t> i = evaluate(expr, point);
      if (!i || *i < 0 || *i >= extent)
        return std::nullopt;
      offset += *i * stride;
    }
    return offset;
  }
};

/// Whether a body can be run on many points at once.
bool isFlat(Block &body) {
  for (Operation &op : body.without_terminator())
    if (op.getNumRegions())
      return false;
  return true;
}

/// How a body combines what was there with something that does not depend on
/// it.
struct Reduction {
  Operation *op = nullptr;
  Combine kind = Combine::Sum;
  /// What is combined, computed by the body.
  mlir::Value term;
};

std::optional<Combine> getCombine(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Combine>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Combine::Sum; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Combine::Prod; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return Combine::Max; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return Combine::Min; })
      .Case<arith::MaxUIOp>([](auto) { return Combine::UMax; })
      .Case<arith::MinUIOp>([](auto) { return Combine::UMin; })
      .Case<arith::MaxNumFOp>([](auto) { return Combine::MaxNum; })
      .Case<arith::MinNumFOp>([](auto) { return Combine::MinNum; })
      .Case<arith::AndIOp>([](auto) { return Combine::And; })
      .Case<arith::OrIOp>([](auto) { return Combine::Or; })
      .Case<arith::XOrIOp>([](auto) { return Combine::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

bool dependsOn(mlir::Value value, const llvm::DenseSet<mlir::Value> &arguments) {
  SmallVector<mlir::Value> work{value};
  llvm::DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Value next = work.pop_back_val();
    if (arguments.contains(next))
      return true;
    if (!seen.insert(next).second)
      continue;
    if (Operation *def = next.getDefiningOp())
      llvm::append_range(work, def->getOperands());
  }
  return false;
}

class StructuredOp {
public:
  StructuredOp(Interpreter &interpreter, linalg::LinalgOp op)
      : interpreter(interpreter), op(op), body(op->getRegion(0).front()) {}

  LogicalResult run();

private:
  LogicalResult readOperands();
  LogicalResult runChunks(ArrayRef<Reduction> reductions);
  LogicalResult runPoints();
  LogicalResult faultAt(unsigned operand) {
    return op.emitError() << "operand " << operand << " is accessed outside of its shape";
  }
  /// linalg.index within the body gets its value from here.
  void bindIndices(ArrayRef<SmallVector<int64_t>> points);

  Interpreter &interpreter;
  linalg::LinalgOp op;
  Block &body;
  std::vector<OperandAccess> operands;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> parallel, reduced;
  std::vector<Array> results;
};

LogicalResult StructuredOp::readOperands() {
  unsigned loops = op.getNumLoops();
  extents.assign(loops, -1);
  for (OpOperand &operand : op->getOpOperands()) {
    OperandAccess access;
    const Array *array = std::get_if<Array>(&interpreter.get(operand.get()));
    if (!array)
      return op.emitError() << "the interpreter knows structured operations on tensors only";
    access.array = *array;
    access.map = op.getMatchingIndexingMap(&operand);
    if (access.map.getNumSymbols())
      return op.emitError() << "indexing map of operand " << operand.getOperandNumber() << " has symbols";
    access.strides = getRowMajor(access.array.getShape());
    access.steps.assign(loops, 0);
    for (auto [axis, expr] : llvm::enumerate(access.map.getResults())) {
      int64_t extent = access.array.getShape()[axis];
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int64_t &known = extents[dim.getPosition()];
        if (known >= 0 && known != extent)
          return op.emitError() << "loop " << dim.getPosition() << " has extent " << known << ", but axis " << axis
                                << " of operand " << operand.getOperandNumber() << " has " << extent;
        known = extent;
        access.steps[dim.getPosition()] += access.strides[axis];
      } else if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
        if (constant.getValue() < 0 || constant.getValue() >= extent)
          return faultAt(operand.getOperandNumber());
        access.base += constant.getValue() * access.strides[axis];
      } else {
        access.isSimple = false;
      }
    }
    operands.push_back(std::move(access));
  }
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (extent < 0)
      return op.emitError() << "no operand says how far loop " << loop << " goes";
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    (type == utils::IteratorType::reduction ? reduced : parallel).push_back(loop);
  return success();
}

void StructuredOp::bindIndices(ArrayRef<SmallVector<int64_t>> points) {
  ElementType index = ElementType::getInteger(64);
  for (Operation &inner : body)
    if (auto position = dyn_cast<linalg::IndexOp>(inner)) {
      Array array(index, ArrayRef<int64_t>({static_cast<int64_t>(points.size())}));
      std::vector<Number> &elements = array.edit();
      for (size_t i = 0; i < points.size(); ++i)
        elements[i] = fromSigned(points[i][position.getDim()], index);
      if (points.size() == 1)
        array = array.reshape({});
      interpreter.set(position.getResult(), std::move(array));
    }
}

LogicalResult StructuredOp::run() {
  if (failed(readOperands()))
    return failure();
  int64_t total = 1;
  for (int64_t extent : extents)
    if (llvm::MulOverflow(total, extent, total))
      return op.emitError() << "the iteration space is too large to interpret";
  if (uint64_t(total) > interpreter.options.maxSteps)
    return interpreter.spend(op, interpreter.options.maxSteps);
  for (OpOperand &init : op.getDpsInitsMutable())
    results.push_back(operands[init.getOperandNumber()].array);

  // Results combined from terms that do not depend on them may be combined in
  // any order, and their terms are computed for many points at once.
  llvm::DenseSet<mlir::Value> outs;
  for (OpOperand &init : op.getDpsInitsMutable())
    outs.insert(op.getMatchingBlockArgument(&init));
  SmallVector<Reduction> reductions;
  bool isRegular = isFlat(body);
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    mlir::Value argument = op.getMatchingBlockArgument(&init);
    mlir::Value yielded = body.getTerminator()->getOperand(number);
    Reduction reduction;
    reduction.term = yielded;
    if (!reduced.empty()) {
      reduction.op = yielded.getDefiningOp();
      std::optional<Combine> kind = reduction.op ? getCombine(reduction.op) : std::nullopt;
      if (!kind || (reduction.op->getOperand(0) == argument) == (reduction.op->getOperand(1) == argument)) {
        isRegular = false;
        break;
      }
      reduction.kind = *kind;
      reduction.term = reduction.op->getOperand(reduction.op->getOperand(0) == argument ? 1 : 0);
      if (dependsOn(reduction.term, outs))
        isRegular = false;
    }
    reductions.push_back(reduction);
  }
  if (failed(isRegular ? runChunks(reductions) : runPoints()))
    return failure();
  for (auto [result, value] : llvm::zip(op->getResults(), results))
    interpreter.set(result, std::move(value));
  return success();
}

LogicalResult StructuredOp::runChunks(ArrayRef<Reduction> reductions) {
  SmallVector<int64_t> outer, inner;
  for (unsigned loop : parallel)
    outer.push_back(extents[loop]);
  for (unsigned loop : reduced)
    inner.push_back(extents[loop]);
  int64_t innerSize = 1;
  for (int64_t extent : inner)
    innerSize *= extent;
  int64_t outerSize = 1;
  for (int64_t extent : outer)
    outerSize *= extent;
  if (innerSize == 0 || outerSize == 0)
    return success();
  if (!countElements(inner))
    return op.emitError() << "more than " << innerSize << " elements are combined into one";
  int64_t chunk = std::max<int64_t>(1, (int64_t(1) << 14) / innerSize);

  llvm::DenseSet<Operation *> combining;
  for (const Reduction &reduction : reductions)
    if (reduction.op)
      combining.insert(reduction.op);

  std::vector<SmallVector<int64_t>> points;
  SmallVector<int64_t> point(extents.size(), 0);
  auto flush = [&]() -> LogicalResult {
    int64_t count = static_cast<int64_t>(points.size());
    if (failed(interpreter.spend(op, count)))
      return failure();
    for (auto [number, access] : llvm::enumerate(operands)) {
      Array values(access.array.getType(), ArrayRef<int64_t>({count}));
      std::vector<Number> &elements = values.edit();
      for (int64_t i = 0; i < count; ++i) {
        std::optional<int64_t> offset = access.getOffset(points[i]);
        if (!offset)
          return faultAt(number);
        // A product of one statement may be contracted with a sum of another:
        // fusion puts both into one loop.
        elements[i] = access.array[*offset];
      }
      if (number < body.getNumArguments())
        interpreter.set(body.getArgument(number), std::move(values));
    }
    bindIndices(points);
    for (Operation &inner : body.without_terminator())
      if (!isa<linalg::IndexOp>(inner) && !combining.contains(&inner) && failed(interpreter.execute(&inner)))
        return failure();
    for (auto [number, reduction] : llvm::enumerate(reductions)) {
      OperandAccess &access = operands[op.getNumDpsInputs() + number];
      const Array terms = interpreter.getArray(reduction.term);
      std::vector<Number> &target = results[number].edit();
      bool isSplat = terms.size() == 1;
      for (int64_t first = 0; first < count; first += innerSize) {
        std::optional<int64_t> offset = access.getOffset(points[first]);
        if (!offset)
          return faultAt(op.getNumDpsInputs() + number);
        if (!reduction.op) {
          for (int64_t i = first; i < first + innerSize; ++i)
            target[*offset] = terms[isSplat ? 0 : i];
          continue;
        }
        Number start = target[*offset];
        std::vector<Number> splat;
        if (isSplat)
          splat.assign(innerSize, terms[0]);
        ArrayRef<Number> numbers =
            isSplat ? ArrayRef<Number>(splat) : ArrayRef<Number>(terms.data() + first, innerSize);
        Operation *term = reduction.term.getDefiningOp();
        bool products = term && isa<arith::MulFOp>(term);
        Number &total = target[*offset];
        total = combine(reduction.kind, numbers, &start, terms.getType(), products);
        if (!products || reduction.kind != Combine::Sum)
          continue;
        const Array lhs = interpreter.getArray(term->getOperand(0)), rhs = interpreter.getArray(term->getOperand(1));
        auto at = [](const Array &array, int64_t i) { return array[array.size() == 1 ? 0 : i]; };
        ProductReach reach(terms.getType());
        for (int64_t i = first; i < first + innerSize; ++i)
          reach.add(at(lhs, i), at(rhs, i), numbers[i - first]);
        reach.apply(total, start);
      }
    }
    points.clear();
    return success();
  };
  LogicalResult status = success();
  forEachIndex(outer, [&](ArrayRef<int64_t> index, int64_t i) {
    if (failed(status))
      return;
    for (auto [loop, at] : llvm::zip(parallel, index))
      point[loop] = at;
    forEachIndex(inner, [&](ArrayRef<int64_t> within, int64_t) {
      for (auto [loop, at] : llvm::zip(reduced, within))
        point[loop] = at;
      points.push_back(point);
    });
    if (static_cast<int64_t>(points.size()) >= chunk * innerSize)
      status = flush();
  });
  if (failed(status))
    return failure();
  return points.empty() ? success() : flush();
}

/// Point by point, in order: bodies with control flow, and reductions that are
/// no plain combination. A floating-point sum in such a body has no defined
/// order, and no bound is known for it.
LogicalResult StructuredOp::runPoints() {
  if (!reduced.empty())
    for (Operation &inner : body)
      if (isa<arith::AddFOp, arith::MulFOp>(inner) && isa<FloatType>(inner.getResult(0).getType())) {
        llvm::DenseSet<mlir::Value> outs;
        for (OpOperand &init : op.getDpsInitsMutable())
          outs.insert(op.getMatchingBlockArgument(&init));
        if (dependsOn(inner.getResult(0), outs))
          return inner.emitError() << "the interpreter knows floating-point reductions that yield the combination of "
                                      "the result so far with one term";
      }
  LogicalResult status = success();
  SmallVector<unsigned> loops = parallel;
  llvm::append_range(loops, reduced);
  SmallVector<int64_t> order;
  for (unsigned loop : loops)
    order.push_back(extents[loop]);
  SmallVector<int64_t> point(extents.size(), 0);
  forEachIndex(order, [&](ArrayRef<int64_t> index, int64_t) {
    if (failed(status))
      return;
    for (auto [loop, at] : llvm::zip(loops, index))
      point[loop] = at;
    auto step = [&]() -> LogicalResult {
      if (failed(interpreter.spend(op, 1)))
        return failure();
      SmallVector<int64_t> offsets;
      for (auto [number, access] : llvm::enumerate(operands)) {
        std::optional<int64_t> offset = access.getOffset(point);
        if (!offset)
          return faultAt(number);
        offsets.push_back(*offset);
        bool isInit = number >= unsigned(op.getNumDpsInputs());
        Number value = isInit ? results[number - op.getNumDpsInputs()][*offset] : access.array[*offset];
        if (number < body.getNumArguments())
          interpreter.set(body.getArgument(number), Array(access.array.getType(), value));
      }
      bindIndices({point});
      for (Operation &inner : body.without_terminator())
        if (!isa<linalg::IndexOp>(inner) && failed(interpreter.execute(&inner)))
          return failure();
      for (auto [number, value] : llvm::enumerate(body.getTerminator()->getOperands()))
        results[number].edit()[offsets[op.getNumDpsInputs() + number]] = interpreter.getArray(value)[0];
      return success();
    };
    status = step();
  });
  return status;
}

LogicalResult executeStructured(Interpreter &interpreter, Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured->getNumRegions() != 1 || !structured.hasPureTensorSemantics())
    return op->emitError() << "the interpreter does not know '" << op->getName() << "' in this form";
  return StructuredOp(interpreter, structured).run();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Static extents of a tensor type with values for the dynamic ones.
FailureOr<Array> allocateTensor(Interpreter &interpreter, Operation *op, RankedTensorType type,
                                OperandRange dynamicSizes) {
  std::optional<ElementType> element = ElementType::get(type.getElementType());
  if (!element)
    return op->emitError() << "the interpreter has no elements of type " << type.getElementType();
  SmallVector<int64_t> shape(type.getShape());
  size_t next = 0;
  for (int64_t &extent : shape) {
    if (!ShapedType::isDynamic(extent))
      continue;
    FailureOr<int64_t> size = getKnownInteger(interpreter, op, dynamicSizes[next++]);
    if (failed(size))
      return failure();
    extent = *size;
  }
  return interpreter.allocate(op, *element, shape);
}

/// The shape of a reshaped tensor, a single unknown extent worked out.
FailureOr<SmallVector<int64_t>> getReshaped(Operation *op, const Array &input, ArrayRef<ReassociationIndices> groups,
                                            RankedTensorType type, bool expands, ArrayRef<int64_t> given) {
  SmallVector<int64_t> shape(expands ? given : type.getShape());
  if (expands) {
    if (shape.empty())
      shape.assign(type.getShape().begin(), type.getShape().end());
    int64_t product = 1;
    for (int64_t extent : shape)
      product *= extent;
    if (product != input.size())
      return op->emitError() << "the expanded shape has " << product << " elements, the tensor " << input.size();
    return shape;
  }
  for (auto [axis, group] : llvm::enumerate(groups)) {
    shape[axis] = 1;
    for (int64_t from : group)
      shape[axis] *= input.getShape()[from];
  }
  return shape;
}

LogicalResult executePad(Interpreter &interpreter, Operation *op) {
  auto pad = cast<tensor::PadOp>(op);
  const Array input = interpreter.getArray(pad.getSource());
  FailureOr<SmallVector<int64_t>> low = getMixed(interpreter, op, pad.getMixedLowPad());
  FailureOr<SmallVector<int64_t>> high = getMixed(interpreter, op, pad.getMixedHighPad());
  if (failed(low) || failed(high))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [extent, before, after] : llvm::zip(input.getShape(), *low, *high)) {
    if (before < 0 || after < 0)
      return op->emitError() << "padding is not negative, got " << before << " and " << after;
    shape.push_back(extent + before + after);
  }
  FailureOr<Array> result = interpreter.allocate(op, input.getType(), shape);
  if (failed(result))
    return failure();
  Block &body = pad.getRegion().front();
  mlir::Value constant = pad.getConstantPaddingValue();
  ElementType indexType = ElementType::getInteger(64);
  LogicalResult status = success();
  SmallVector<int64_t> strides = getRowMajor(input.getShape());
  std::vector<Number> &elements = result->edit();
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t i) {
    if (failed(status))
      return;
    int64_t offset = 0;
    bool inside = true;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      int64_t at = index[axis] - (*low)[axis];
      inside &= at >= 0 && at < input.getShape()[axis];
      offset += at * strides[axis];
    }
    if (inside) {
      elements[i] = input[offset];
      return;
    }
    if (constant && constant.getParentBlock() != &body) {
      elements[i] = interpreter.getArray(constant)[0];
      return;
    }
    for (auto [argument, at] : llvm::zip(body.getArguments(), index))
      interpreter.set(argument, Array(indexType, fromSigned(at, indexType)));
    FailureOr<SmallVector<RuntimeValue>> values = interpreter.executeBlock(body);
    status = values;
    if (succeeded(values))
      elements[i] = std::get<Array>(values->front())[0];
  });
  if (failed(status))
    return failure();
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

/// Also inside of bodies that run on many points at once: then indices are
/// arrays.
LogicalResult executeExtract(Interpreter &interpreter, Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  const Array input = interpreter.getArray(extract.getTensor());
  SmallVector<const Array *> indices;
  const Array *largest = nullptr;
  for (mlir::Value index : extract.getIndices()) {
    indices.push_back(&interpreter.getArray(index));
    if (!largest || indices.back()->size() > largest->size())
      largest = indices.back();
  }
  FailureOr<Array> result =
      interpreter.allocate(op, input.getType(), largest ? largest->getShape() : ArrayRef<int64_t>());
  if (failed(result))
    return failure();
  SmallVector<int64_t> strides = getRowMajor(input.getShape());
  std::vector<Number> &elements = result->edit();
  for (size_t i = 0; i < elements.size(); ++i) {
    int64_t offset = 0;
    bool known = true;
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      const Number &number = (*indices[axis])[indices[axis]->size() == 1 ? 0 : i];
      int64_t at = toSigned(number, indices[axis]->getType());
      known &= number.isExact();
      if (at < 0 || at >= input.getShape()[axis]) {
        if (known)
          return op->emitError() << "index " << at << " is outside of axis " << axis << " with extent "
                                 << input.getShape()[axis];
        at = 0;
      }
      offset += at * strides[axis];
    }
    if (input.size())
      elements[i] = input[offset];
    if (!known)
      elements[i].bound = undetermined;
  }
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}
} // namespace

void interp::addTensorHandlers(Interpreter &interpreter) {
  auto add = [&](StringRef name, Handler handler) { interpreter.addHandler(name, std::move(handler)); };
  for (StringRef name :
       {"linalg.generic", "linalg.map",          "linalg.reduce",      "linalg.transpose", "linalg.broadcast",
        "linalg.matmul",  "linalg.batch_matmul", "linalg.matvec",      "linalg.vecmat",    "linalg.dot",
        "linalg.add",     "linalg.sub",          "linalg.mul",         "linalg.div",       "linalg.max",
        "linalg.min",     "linalg.exp",          "linalg.log",         "linalg.abs",       "linalg.negf",
        "linalg.copy",    "linalg.select",       "linalg.elementwise", "linalg.contract"})
    add(name, executeStructured);
  add("linalg.fill", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto fill = cast<linalg::FillOp>(op);
    if (!fill.hasPureTensorSemantics())
      return op->emitError() << "the interpreter knows structured operations on tensors only";
    const Array value = interpreter.getArray(fill.getInputs().front());
    Array target = interpreter.getArray(fill.getOutputs().front());
    if (failed(interpreter.spend(op, target.size())))
      return failure();
    Number number = value[0];
    number.slack = 0;
    for (Number &element : target.edit())
      element = number;
    interpreter.set(op->getResult(0), std::move(target));
    return success();
  });
  add("tensor.empty", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto empty = cast<tensor::EmptyOp>(op);
    FailureOr<Array> result = allocateTensor(interpreter, op, empty.getType(), empty.getDynamicSizes());
    if (failed(result))
      return failure();
    for (Number &element : result->edit())
      element = makePoison();
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("tensor.splat", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto splat = cast<tensor::SplatOp>(op);
    FailureOr<Array> result = allocateTensor(interpreter, op, splat.getType(), splat.getDynamicSizes());
    if (failed(result))
      return failure();
    for (Number &element : result->edit())
      element = interpreter.getArray(splat.getInput())[0];
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("tensor.dim", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    const Array &tensor = interpreter.getArray(op->getOperand(0));
    FailureOr<int64_t> axis = getKnownInteger(interpreter, op, op->getOperand(1));
    if (failed(axis))
      return failure();
    if (*axis < 0 || *axis >= static_cast<int64_t>(tensor.getShape().size()))
      return op->emitError() << "there is no dimension " << *axis;
    ElementType index = ElementType::getInteger(64);
    interpreter.set(op->getResult(0), Array(index, fromSigned(tensor.getShape()[*axis], index)));
    return success();
  });
  add("tensor.cast", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    const Array &tensor = interpreter.getArray(op->getOperand(0));
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (type)
      for (auto [axis, extent] : llvm::enumerate(type.getShape()))
        if (!ShapedType::isDynamic(extent) && extent != tensor.getShape()[axis])
          return op->emitError() << "axis " << axis << " has extent " << tensor.getShape()[axis] << ", not " << extent;
    interpreter.set(op->getResult(0), tensor);
    return success();
  });
  add("tensor.extract", executeExtract);
  add("tensor.insert", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto insert = cast<tensor::InsertOp>(op);
    Array target = interpreter.getArray(insert.getDest());
    SmallVector<int64_t> strides = getRowMajor(target.getShape());
    int64_t offset = 0;
    for (auto [axis, index] : llvm::enumerate(insert.getIndices())) {
      FailureOr<int64_t> at = getKnownInteger(interpreter, op, index);
      if (failed(at))
        return failure();
      if (*at < 0 || *at >= target.getShape()[axis])
        return op->emitError() << "index " << *at << " is outside of axis " << axis << " with extent "
                               << target.getShape()[axis];
      offset += *at * strides[axis];
    }
    target.edit()[offset] = interpreter.getArray(insert.getScalar())[0];
    interpreter.set(op->getResult(0), std::move(target));
    return success();
  });
  add("tensor.from_elements", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    FailureOr<Array> result = interpreter.allocate(op, op->getResult(0).getType());
    if (failed(result))
      return failure();
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      result->edit()[i] = interpreter.getArray(operand)[0];
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("tensor.extract_slice", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto extract = cast<tensor::ExtractSliceOp>(op);
    const Array input = interpreter.getArray(extract.getSource());
    FailureOr<SmallVector<int64_t>> offsets = getMixed(interpreter, op, extract.getMixedOffsets());
    FailureOr<SmallVector<int64_t>> sizes = getMixed(interpreter, op, extract.getMixedSizes());
    FailureOr<SmallVector<int64_t>> strides = getMixed(interpreter, op, extract.getMixedStrides());
    if (failed(offsets) || failed(sizes) || failed(strides))
      return failure();
    FailureOr<Array> result = slice(interpreter, op, input, *offsets, *sizes, *strides);
    if (failed(result))
      return failure();
    llvm::SmallBitVector dropped = extract.getDroppedDims();
    SmallVector<int64_t> shape;
    for (auto [axis, extent] : llvm::enumerate(*sizes))
      if (!dropped.test(axis))
        shape.push_back(extent);
    interpreter.set(op->getResult(0), result->reshape(shape));
    return success();
  });
  add("tensor.insert_slice", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto insert = cast<tensor::InsertSliceOp>(op);
    FailureOr<SmallVector<int64_t>> offsets = getMixed(interpreter, op, insert.getMixedOffsets());
    FailureOr<SmallVector<int64_t>> sizes = getMixed(interpreter, op, insert.getMixedSizes());
    FailureOr<SmallVector<int64_t>> strides = getMixed(interpreter, op, insert.getMixedStrides());
    if (failed(offsets) || failed(sizes) || failed(strides))
      return failure();
    FailureOr<Array> result = insertSlice(op, interpreter.getArray(insert.getSource()),
                                          interpreter.getArray(insert.getDest()), *offsets, *sizes, *strides);
    if (failed(result))
      return failure();
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("tensor.expand_shape", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto expand = cast<tensor::ExpandShapeOp>(op);
    const Array input = interpreter.getArray(expand.getSrc());
    FailureOr<SmallVector<int64_t>> given = getMixed(interpreter, op, expand.getMixedOutputShape());
    if (failed(given))
      return failure();
    FailureOr<SmallVector<int64_t>> shape =
        getReshaped(op, input, expand.getReassociationIndices(), expand.getResultType(), /*expands=*/true, *given);
    if (failed(shape))
      return failure();
    interpreter.set(op->getResult(0), input.reshape(*shape));
    return success();
  });
  add("tensor.collapse_shape", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto collapse = cast<tensor::CollapseShapeOp>(op);
    const Array input = interpreter.getArray(collapse.getSrc());
    FailureOr<SmallVector<int64_t>> shape =
        getReshaped(op, input, collapse.getReassociationIndices(), collapse.getResultType(), /*expands=*/false, {});
    if (failed(shape))
      return failure();
    interpreter.set(op->getResult(0), input.reshape(*shape));
    return success();
  });
  add("tensor.concat", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto concat = cast<tensor::ConcatOp>(op);
    int64_t axis = concat.getDim();
    SmallVector<int64_t> shape(interpreter.getArray(concat.getInputs().front()).getShape());
    shape[axis] = 0;
    for (mlir::Value input : concat.getInputs())
      shape[axis] += interpreter.getArray(input).getShape()[axis];
    FailureOr<Array> result =
        interpreter.allocate(op, interpreter.getArray(concat.getInputs().front()).getType(), shape);
    if (failed(result))
      return failure();
    SmallVector<int64_t> offsets(shape.size(), 0), ones(shape.size(), 1);
    for (mlir::Value operand : concat.getInputs()) {
      const Array &input = interpreter.getArray(operand);
      FailureOr<Array> next = insertSlice(op, input, *result, offsets, input.getShape(), ones);
      if (failed(next))
        return failure();
      *result = std::move(*next);
      offsets[axis] += input.getShape()[axis];
    }
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("tensor.pad", executePad);
  add("tensor.generate", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto generate = cast<tensor::GenerateOp>(op);
    FailureOr<Array> result =
        allocateTensor(interpreter, op, cast<RankedTensorType>(generate.getType()), generate.getDynamicExtents());
    if (failed(result))
      return failure();
    Block &body = generate.getBody().front();
    ElementType indexType = ElementType::getInteger(64);
    SmallVector<int64_t> shape(result->getShape());
    LogicalResult status = success();
    forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t i) {
      if (failed(status))
        return;
      for (auto [argument, at] : llvm::zip(body.getArguments(), index))
        interpreter.set(argument, Array(indexType, fromSigned(at, indexType)));
      FailureOr<SmallVector<RuntimeValue>> values = interpreter.executeBlock(body);
      status = values;
      if (succeeded(values))
        result->edit()[i] = std::get<Array>(values->front())[0];
    });
    if (failed(status))
      return failure();
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
}
