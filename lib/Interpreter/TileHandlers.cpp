//===- TileHandlers.cpp - Operations of tile form -------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace atrex;
using namespace atrex::interp;

namespace {
/// Reads an operand of shape `shape` or with extents of 1, or a scalar, at the
/// elements of `shape`.
class Stretched {
public:
  Stretched(const Array &array, ArrayRef<int64_t> shape) : array(&array), strides(shape.size(), 0) {
    ArrayRef<int64_t> own = array.getShape();
    if (own.size() == shape.size()) {
      int64_t stride = 1;
      for (size_t axis = shape.size(); axis-- > 0;) {
        strides[axis] = own[axis] == 1 ? 0 : stride;
        stride *= own[axis];
      }
    }
  }
  const Number &at(ArrayRef<int64_t> index) const {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * strides[axis];
    return (*array)[offset];
  }
  const ElementType &getType() const { return array->getType(); }

private:
  const Array *array;
  SmallVector<int64_t> strides;
};

/// Where element `index` of an access goes.
struct Place {
  bool inside = false, known = true, poison = false;
  int64_t offset = 0;
};

Place locate(const Memory &memory, ArrayRef<Stretched> indices, ArrayRef<int64_t> index) {
  Place place;
  place.inside = true;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const Number &number = indices[dim].at(index);
    place.poison |= number.poison;
    place.known &= number.isExact();
    int64_t i = toSigned(number, indices[dim].getType());
    if (i < 0 || i >= memory.shape[dim])
      place.inside = false;
    else
      place.offset += i * memory.strides[dim];
  }
  return place;
}

/// Operands of an access.
struct Access {
  Memory memory;
  SmallVector<Stretched> indices;
  SmallVector<int64_t> shape;
  std::optional<Stretched> mask;
};

FailureOr<Access> getAccess(Interpreter &interpreter, Operation *op, mlir::Value memory, OperandRange indices,
                            Type shaped, mlir::Value mask) {
  Access access;
  const Memory *view = std::get_if<Memory>(&interpreter.get(memory));
  if (!view) {
    op->emitError() << "accesses memory that the interpreter has not seen made";
    return failure();
  }
  access.memory = *view;
  if (auto vector = dyn_cast<VectorType>(shaped))
    access.shape.assign(vector.getShape().begin(), vector.getShape().end());
  for (mlir::Value index : indices)
    access.indices.push_back(Stretched(interpreter.getArray(index), access.shape));
  if (mask)
    access.mask.emplace(interpreter.getArray(mask), access.shape);
  return access;
}

/// What this workgroup reads at an element: nothing is known of what another
/// workgroup of the launch may write, and of an element that several workgroups
/// have changed.
Number readElement(Interpreter &interpreter, Buffer &buffer, int64_t offset) {
  Number number = buffer.elements[offset];
  if (!buffer.isShared && !buffer.writer.empty()) {
    int32_t writer = buffer.writer[offset];
    if (writer != 0 && writer != interpreter.linearBlock + 1)
      number.bound = undetermined;
  }
  return number;
}

void writeElement(Interpreter &interpreter, Buffer &buffer, int64_t offset, const Number &value) {
  if (buffer.isShared) {
    buffer.elements[offset] = value;
    return;
  }
  if (buffer.writer.empty())
    buffer.writer.resize(buffer.elements.size(), 0);
  int32_t &writer = buffer.writer[offset];
  Number &element = buffer.elements[offset];
  bool isRace = writer != 0 && writer != interpreter.linearBlock + 1;
  bool differs = element.bits != value.bits || !element.isExact() || !value.isExact();
  element = value;
  if (isRace && differs)
    element.bound = undetermined;
  writer = static_cast<int32_t>(interpreter.linearBlock + 1);
}

LogicalResult executeLoad(Interpreter &interpreter, Operation *op) {
  auto load = cast<atx::TileLoadOp>(op);
  FailureOr<Access> access =
      getAccess(interpreter, op, load.getMemory(), load.getIndices(), load.getResult().getType(), nullptr);
  FailureOr<Array> result = interpreter.allocate(op, load.getResult().getType());
  if (failed(access) || failed(result))
    return failure();
  Number fill;
  if (load.getFill())
    fill = interpreter.getArray(load.getFill())[0];
  std::vector<Number> &elements = result->edit();
  forEachIndex(access->shape, [&](ArrayRef<int64_t> index, int64_t i) {
    Place place = locate(access->memory, access->indices, index);
    Number number = place.inside ? readElement(interpreter, *access->memory.buffer, place.offset) : fill;
    number.slack = 0;
    if (!place.known)
      number.bound = undetermined;
    elements[i] = place.poison ? makePoison() : number;
  });
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

/// An index or a mask that is not known: any element may have been written.
void spoil(Buffer &buffer) {
  for (Number &element : buffer.elements)
    element.bound = undetermined;
}

LogicalResult executeStore(Interpreter &interpreter, Operation *op) {
  auto store = cast<atx::TileStoreOp>(op);
  FailureOr<Access> access =
      getAccess(interpreter, op, store.getMemory(), store.getIndices(), store.getValue().getType(), store.getMask());
  if (failed(access))
    return failure();
  Stretched value(interpreter.getArray(store.getValue()), access->shape);
  llvm::DenseMap<int64_t, Number> written;
  Buffer &buffer = *access->memory.buffer;
  bool isPoison = false, spoiled = false;
  forEachIndex(access->shape, [&](ArrayRef<int64_t> index, int64_t) {
    Place place = locate(access->memory, access->indices, index);
    Number mask;
    mask.bits = 1;
    if (access->mask)
      mask = access->mask->at(index);
    if (mask.isExact() && !mask.bits)
      return;
    isPoison |= place.poison || mask.poison;
    if (!place.known) {
      spoiled = true;
      return;
    }
    if (!place.inside)
      return;
    Number number = value.at(index);
    number.slack = 0;
    if (!mask.isExact())
      number = merge(mask.bits ? number : buffer.elements[place.offset],
                     mask.bits ? buffer.elements[place.offset] : number, buffer.type);
    // Of several elements with one address any may be stored.
    auto [entry, isFirst] = written.try_emplace(place.offset, number);
    if (!isFirst)
      number = merge(number, entry->second, buffer.type);
    entry->second = number;
  });
  if (isPoison)
    return op->emitError() << "an index or mask of the store is the result of an undefined operation";
  for (auto &[offset, number] : written)
    writeElement(interpreter, buffer, offset, number);
  if (spoiled)
    spoil(buffer);
  return interpreter.spend(op, value.getType().bits ? written.size() : 0);
}

/// The same NaN rules and rounding as the language's operations.
Number applyAtomic(atx::TileAtomicKind kind, const Number &old, const Number &value, const Number *compare,
                   const ElementType &type) {
  std::optional<Combine> combination;
  switch (kind) {
  case atx::TileAtomicKind::Add:
    if (type.isFloat())
      return addFloat(old, value, type, /*contract=*/false);
    combination = Combine::Sum;
    break;
  case atx::TileAtomicKind::Max:
    combination = Combine::Max;
    break;
  case atx::TileAtomicKind::Min:
    combination = Combine::Min;
    break;
  case atx::TileAtomicKind::UMax:
    combination = Combine::UMax;
    break;
  case atx::TileAtomicKind::UMin:
    combination = Combine::UMin;
    break;
  case atx::TileAtomicKind::And:
    combination = Combine::And;
    break;
  case atx::TileAtomicKind::Or:
    combination = Combine::Or;
    break;
  case atx::TileAtomicKind::Xor:
    combination = Combine::Xor;
    break;
  case atx::TileAtomicKind::Exchange:
    return value;
  case atx::TileAtomicKind::Cas: {
    if (old.poison || compare->poison)
      return makePoison();
    Number result = old.bits == compare->bits ? value : old;
    if (!old.isExact() || !compare->isExact())
      result.bound = undetermined;
    return result;
  }
  }
  return combine(*combination, {old, value}, nullptr, type, /*products=*/false);
}

void addTerm(Buffer::Sum &sum, const Number &term, const ElementType &type) {
  double value = toDouble(term, type);
  ++sum.count;
  sum.magnitude += std::fabs(value) + term.bound;
  sum.radius += term.bound;
  sum.integers &= term.isExact() && value == std::trunc(value);
}

double getSumBound(const Buffer::Sum &sum, const Number &value, const ElementType &type) {
  if (sum.integers && sum.magnitude <= std::ldexp(1.0, type.precision))
    return 0;
  double bound = sum.radius + 2 * double(sum.count) * type.getUnitRoundoff() * sum.magnitude;
  bool isFinite = sum.magnitude * 1.01 < type.getLargest() && std::isfinite(toDouble(value, type));
  return isFinite && std::isfinite(bound) ? bound : undetermined;
}

LogicalResult executeAtomic(Interpreter &interpreter, Operation *op) {
  auto atomic = cast<atx::TileAtomicOp>(op);
  FailureOr<Access> access = getAccess(interpreter, op, atomic.getMemory(), atomic.getIndices(),
                                       atomic.getValue().getType(), atomic.getMask());
  FailureOr<Array> result = interpreter.allocate(op, atomic.getValue().getType());
  if (failed(access) || failed(result))
    return failure();
  Stretched value(interpreter.getArray(atomic.getValue()), access->shape);
  std::optional<Stretched> compare;
  if (atomic.getCompare())
    compare.emplace(interpreter.getArray(atomic.getCompare()), access->shape);
  Buffer &buffer = *access->memory.buffer;
  std::vector<Buffer::Sum> &sums = buffer.sums;
  if (buffer.atomics.empty())
    buffer.atomics.resize(buffer.elements.size(), 0);
  if (buffer.writer.empty())
    buffer.writer.resize(buffer.elements.size(), 0);
  std::vector<Number> &olds = result->edit();
  atx::TileAtomicKind kind = atomic.getKind();
  // Elements by address: the order of those with one address is free.
  llvm::DenseMap<int64_t, SmallVector<int64_t, 1>> users;
  SmallVector<int64_t> order;
  bool isPoison = false, spoiled = false;
  SmallVector<Number> values(olds.size()), compares(olds.size());
  forEachIndex(access->shape, [&](ArrayRef<int64_t> index, int64_t i) {
    Place place = locate(access->memory, access->indices, index);
    Number mask;
    mask.bits = 1;
    if (access->mask)
      mask = access->mask->at(index);
    if (mask.isExact() && !mask.bits)
      return;
    isPoison |= place.poison || mask.poison;
    values[i] = value.at(index);
    values[i].slack = 0;
    if (compare)
      compares[i] = compare->at(index);
    if (!place.known || !mask.isExact()) {
      spoiled = true;
      olds[i].bound = undetermined;
      return;
    }
    if (!place.inside)
      return;
    SmallVector<int64_t, 1> &list = users[place.offset];
    if (list.empty())
      order.push_back(place.offset);
    list.push_back(i);
  });
  if (isPoison)
    return op->emitError() << "an index or mask of the atomic operation is the result of an undefined operation";
  bool commutes = kind != atx::TileAtomicKind::Exchange && kind != atx::TileAtomicKind::Cas;
  bool isFloatAdd = buffer.type.isFloat() && kind == atx::TileAtomicKind::Add;
  bool across = !buffer.isShared && interpreter.severalWorkgroups;
  for (int64_t offset : order) {
    Number &element = buffer.elements[offset];
    int32_t &writer = buffer.writer[offset];
    bool fromOthers = across && writer != 0 && writer != interpreter.linearBlock + 1;
    // Plain writes of other workgroups, or other kinds of atomic operations.
    uint16_t bit = uint16_t(1) << unsigned(kind);
    bool isMixed = fromOthers && (buffer.atomics[offset] & ~bit || !buffer.atomics[offset]);
    const SmallVector<int64_t, 1> &list = users[offset];
    if (isFloatAdd && sums.empty())
      sums.resize(buffer.elements.size());
    if (isFloatAdd && !sums[offset].count)
      addTerm(sums[offset], element, buffer.type);
    for (int64_t i : list) {
      if (isFloatAdd)
        addTerm(sums[offset], values[i], buffer.type);
      olds[i] = element;
      if (list.size() > 1 || across)
        olds[i].bound = undetermined;
      element = applyAtomic(kind, element, values[i], compare ? &compares[i] : nullptr, buffer.type);
    }
    bool free = list.size() > 1 || fromOthers;
    if ((free && !commutes) || isMixed)
      element.bound = undetermined;
    if (isFloatAdd) {
      // Any order, and each step rounds. Sums of integers that stay small are
      // exact all the same.
      if (free)
        element.bound = getSumBound(sums[offset], element, buffer.type);
    }
    buffer.atomics[offset] |= bit;
    writer = across && writer != 0 && fromOthers ? -1 : static_cast<int32_t>(interpreter.linearBlock + 1);
  }
  if (spoiled)
    spoil(buffer);
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult executeShared(Interpreter &interpreter, Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  FailureOr<Array> contents = interpreter.allocate(op, *ElementType::get(type.getElementType()), type.getShape());
  if (failed(contents))
    return failure();
  Memory memory;
  memory.buffer = std::make_shared<Buffer>();
  memory.buffer->type = contents->getType();
  memory.buffer->elements.assign(contents->size(), makePoison());
  memory.buffer->isShared = true;
  memory.shape.assign(type.getShape().begin(), type.getShape().end());
  memory.strides = getRowMajor(memory.shape);
  interpreter.set(op->getResult(0), std::move(memory));
  return success();
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

/// Splits the elements of `input` into lines: those that share all coordinates
/// outside of `axes`, in order of the axes. Calls `visit(number of the line,
/// elements, their positions)`.
template <typename Visit> void forEachLine(const Array &input, ArrayRef<int64_t> axes, Visit visit) {
  SmallVector<int64_t> strides = getRowMajor(input.getShape());
  SmallVector<int64_t> outer, outerStrides, inner, innerStrides;
  for (auto [axis, extent] : llvm::enumerate(input.getShape())) {
    if (llvm::is_contained(axes, static_cast<int64_t>(axis)))
      continue;
    outer.push_back(extent);
    outerStrides.push_back(strides[axis]);
  }
  SmallVector<int64_t> ascending(axes);
  llvm::sort(ascending);
  for (int64_t axis : ascending) {
    inner.push_back(input.getShape()[axis]);
    innerStrides.push_back(strides[axis]);
  }
  std::vector<int64_t> positions;
  std::vector<Number> elements;
  forEachIndex(outer, [&](ArrayRef<int64_t> index, int64_t line) {
    int64_t base = 0;
    for (auto [i, stride] : llvm::zip(index, outerStrides))
      base += i * stride;
    positions.clear();
    elements.clear();
    forEachIndex(inner, [&](ArrayRef<int64_t> within, int64_t) {
      int64_t position = base;
      for (auto [i, stride] : llvm::zip(within, innerStrides))
        position += i * stride;
      positions.push_back(position);
      elements.push_back(input[position]);
    });
    visit(line, ArrayRef<Number>(elements), ArrayRef<int64_t>(positions));
  });
}

/// Position of the first largest or smallest element.
Number findExtreme(ArrayRef<Number> elements, const ElementType &type, bool isMin, bool isUnsigned) {
  // NaN wins either way: it is first among all.
  auto precedes = [&](const Number &a, const Number &b) -> Truth {
    if (type.isFloat() && isMin) {
      bool aNaN = a.isExact() && std::isnan(toDouble(a, type)), bNaN = b.isExact() && std::isnan(toDouble(b, type));
      if (aNaN || bNaN)
        return aNaN && !bNaN ? Truth::True : Truth::False;
    }
    return isMin ? lessInOrder(a, b, type, isUnsigned) : lessInOrder(b, a, type, isUnsigned);
  };
  auto exactly = [](Number number) {
    number.bound = 0;
    return number;
  };
  size_t best = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].poison)
      return makePoison();
    if (precedes(exactly(elements[i]), exactly(elements[best])) == Truth::True)
      best = i;
  }
  Number result;
  result.bits = best;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i == best || (elements[i].isExact() && elements[best].isExact()))
      continue;
    if (precedes(elements[best], elements[i]) != Truth::True)
      result.bound = undetermined;
  }
  return result;
}

/// Attributes that the forms of an operation on tiles and on tensors share.
int64_t getAxis(Operation *op) { return op->getAttrOfType<IntegerAttr>("axis").getInt(); }

/// Reductions to a position on tensors: `atx.tensor_arg`.
LogicalResult executeArg(Interpreter &interpreter, Operation *op) {
  const Array input = interpreter.getArray(op->getOperand(0));
  int64_t axes[] = {getAxis(op)};
  auto kind = op->getAttrOfType<atx::TileReduceKindAttr>("kind");
  SmallVector<int64_t> shape(input.getShape());
  shape.erase(shape.begin() + axes[0]);
  FailureOr<Array> result = interpreter.allocate(op, ElementType::getInteger(32), shape);
  if (!kind || failed(result) || failed(interpreter.spend(op, input.size())))
    return failure();
  if (input.getShape()[axes[0]] == 0)
    return op->emitError() << "an axis without elements has no largest one";
  std::vector<Number> &elements = result->edit();
  forEachLine(input, axes, [&](int64_t line, ArrayRef<Number> numbers, ArrayRef<int64_t>) {
    elements[line] = findExtreme(numbers, input.getType(), kind.getValue() == atx::TileReduceKind::ArgMin,
                                 op->hasAttr("is_unsigned"));
  });
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

std::optional<Combine> getCombine(atx::TileReduceKind kind) {
  switch (kind) {
  case atx::TileReduceKind::Sum:
    return Combine::Sum;
  case atx::TileReduceKind::Prod:
    return Combine::Prod;
  case atx::TileReduceKind::Max:
    return Combine::Max;
  case atx::TileReduceKind::Min:
    return Combine::Min;
  case atx::TileReduceKind::UMax:
    return Combine::UMax;
  case atx::TileReduceKind::UMin:
    return Combine::UMin;
  case atx::TileReduceKind::Any:
    return Combine::Or;
  case atx::TileReduceKind::All:
    return Combine::And;
  case atx::TileReduceKind::ArgMax:
  case atx::TileReduceKind::ArgMin:
    return std::nullopt;
  }
  return std::nullopt;
}

/// Whether the elements of a value may be products that a matrix instruction
/// sums up.
bool areProducts(mlir::Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->getName().getStringRef() == "arith.mulf";
}

LogicalResult executeReduce(Interpreter &interpreter, Operation *op) {
  auto reduce = cast<atx::TileReduceOp>(op);
  const Array input = interpreter.getArray(reduce.getInput());
  FailureOr<Array> result = interpreter.allocate(op, reduce.getResult().getType());
  if (failed(result) || failed(interpreter.spend(op, input.size())))
    return failure();
  std::vector<Number> &elements = result->edit();
  std::optional<Combine> kind = getCombine(reduce.getKind());
  bool products = areProducts(reduce.getInput());
  forEachLine(input, reduce.getAxes(), [&](int64_t line, ArrayRef<Number> numbers, ArrayRef<int64_t>) {
    elements[line] = kind ? combine(*kind, numbers, nullptr, input.getType(), products)
                          : findExtreme(numbers, input.getType(), reduce.getKind() == atx::TileReduceKind::ArgMin,
                                        reduce.getIsUnsigned());
  });
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult executeScan(Interpreter &interpreter, Operation *op) {
  auto kindAttr = op->getAttrOfType<atx::TileScanKindAttr>("kind");
  const Array input = interpreter.getArray(op->getOperand(0));
  bool isExclusive = op->hasAttr("exclusive"), isReverse = op->hasAttr("reverse");
  int64_t axes[] = {getAxis(op)};
  FailureOr<Array> result = interpreter.allocate(op, input.getType(), input.getShape());
  if (failed(result) || failed(interpreter.spend(op, input.size())))
    return failure();
  std::vector<Number> &elements = result->edit();
  Combine kinds[] = {Combine::Sum, Combine::Prod, Combine::Max, Combine::Min, Combine::UMax, Combine::UMin};
  Combine kind = kinds[unsigned(kindAttr.getValue())];
  const ElementType &type = input.getType();
  // Sums and products of floats are free in their order at every position.
  bool isSum = type.isFloat() && kind == Combine::Sum, isProduct = type.isFloat() && kind == Combine::Prod;
  forEachLine(input, axes, [&](int64_t, ArrayRef<Number> numbers, ArrayRef<int64_t> positions) {
    Number running = getNeutral(kind, type);
    FloatSum sum(type);
    FloatProduct product(type);
    for (size_t n = 0; n < numbers.size(); ++n) {
      size_t i = isReverse ? numbers.size() - 1 - n : n;
      if (isExclusive)
        elements[positions[i]] = running;
      if (isSum) {
        sum.add(numbers[i]);
        running = sum.get(/*products=*/false);
      } else if (isProduct) {
        product.add(numbers[i]);
        running = product.get();
      } else {
        running = combine(kind, {running, numbers[i]}, nullptr, type, false);
      }
      if (!isExclusive)
        elements[positions[i]] = running;
    }
  });
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult executeTopk(Interpreter &interpreter, Operation *op) {
  const Array input = interpreter.getArray(op->getOperand(0));
  int64_t axis = getAxis(op), k = 0;
  if (auto attribute = op->getAttrOfType<IntegerAttr>("k")) {
    k = attribute.getInt();
  } else {
    FailureOr<int64_t> known = getKnownInteger(interpreter, op, op->getOperand(1));
    if (failed(known))
      return failure();
    k = *known;
  }
  SmallVector<int64_t> shape(input.getShape());
  if (k < 0 || k > shape[axis])
    return op->emitError() << "k is " << k << ", the axis has " << shape[axis] << " elements";
  shape[axis] = k;
  FailureOr<Array> values = interpreter.allocate(op, input.getType(), shape);
  FailureOr<Array> indices = interpreter.allocate(op, ElementType::getInteger(32), shape);
  if (failed(values) || failed(indices) || failed(interpreter.spend(op, input.size() * 8)))
    return failure();
  const ElementType &type = input.getType();
  bool isUnsigned = op->hasAttr("is_unsigned"), smallest = op->hasAttr("smallest");
  std::vector<Number> &valueElements = values->edit(), &indexElements = indices->edit();
  // Positions of the k results of each line, in the same order of lines.
  std::vector<SmallVector<int64_t>> targets;
  int64_t axes[] = {axis};
  forEachLine(*values, axes, [&](int64_t, ArrayRef<Number>, ArrayRef<int64_t> positions) {
    targets.push_back(SmallVector<int64_t>(positions));
  });
  bool isPoison = false;
  forEachLine(input, axes, [&](int64_t line, ArrayRef<Number> numbers, ArrayRef<int64_t>) {
    bool exact = true;
    for (const Number &number : numbers) {
      isPoison |= number.poison;
      exact &= number.isExact();
    }
    auto centre = [](Number number) {
      number.bound = 0;
      return number;
    };
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, numbers.size()));
    auto before = [&](const Number &a, const Number &b) {
      return (smallest ? lessInOrder(a, b, type, isUnsigned) : lessInOrder(b, a, type, isUnsigned)) == Truth::True;
    };
    llvm::sort(order, [&](int64_t a, int64_t b) {
      if (before(centre(numbers[a]), centre(numbers[b])))
        return true;
      return !before(centre(numbers[b]), centre(numbers[a])) && a < b;
    });
    for (int64_t i = 0; i < k; ++i) {
      Number value = numbers[order[i]], index;
      index.bits = order[i];
      value.slack = 0;
      if (!exact) {
        // The element at this place is known if it is apart from all others.
        for (size_t other = 0; other < numbers.size(); ++other) {
          if (static_cast<int64_t>(other) == order[i] || (numbers[other].isExact() && value.isExact()))
            continue;
          bool isBefore = llvm::is_contained(ArrayRef(order).take_front(i), static_cast<int64_t>(other));
          const Number &first = isBefore ? numbers[other] : numbers[order[i]];
          const Number &second = isBefore ? numbers[order[i]] : numbers[other];
          Truth apart =
              smallest ? lessInOrder(first, second, type, isUnsigned) : lessInOrder(second, first, type, isUnsigned);
          if (apart != Truth::True) {
            index.bound = undetermined;
            // The value is one of both.
            value = merge(value, numbers[other], type);
          }
        }
      }
      valueElements[targets[line][i]] = value;
      indexElements[targets[line][i]] = index;
    }
  });
  if (isPoison)
    return op->emitError() << "sorts results of undefined operations";
  interpreter.set(op->getResult(0), std::move(*values));
  interpreter.set(op->getResult(1), std::move(*indices));
  return success();
}

LogicalResult executeRank(Interpreter &interpreter, Operation *op) {
  const Array input = interpreter.getArray(op->getOperand(0));
  FailureOr<Array> result = interpreter.allocate(op, ElementType::getInteger(32), input.getShape());
  if (failed(result) || failed(interpreter.spend(op, input.size())))
    return failure();
  std::vector<Number> &elements = result->edit();
  int64_t axes[] = {getAxis(op)};
  forEachLine(input, axes, [&](int64_t, ArrayRef<Number> numbers, ArrayRef<int64_t> positions) {
    std::map<uint64_t, uint64_t> seen;
    bool exact = true, poison = false;
    for (auto [number, position] : llvm::zip(numbers, positions)) {
      exact &= number.isExact();
      poison |= number.poison;
      elements[position].bits = seen[number.bits]++;
      elements[position].poison = poison;
      if (!exact)
        elements[position].bound = undetermined;
    }
  });
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult executeHistogram(Interpreter &interpreter, Operation *op) {
  const Array input = interpreter.getArray(op->getOperand(0));
  bool isUnsigned = op->hasAttr("is_unsigned");
  mlir::Value maskValue;
  SmallVector<int64_t> bins;
  if (auto histogram = dyn_cast<atx::TileHistogramOp>(op)) {
    maskValue = histogram.getMask();
    bins.push_back(histogram.getResult().getType().getDimSize(0));
  } else {
    FailureOr<int64_t> known = getKnownInteger(interpreter, op, op->getOperand(1));
    if (failed(known))
      return failure();
    bins.push_back(*known);
    if (op->getNumOperands() > 2)
      maskValue = op->getOperand(2);
  }
  FailureOr<Array> result = interpreter.allocate(op, ElementType::getInteger(32), bins);
  if (failed(result) || failed(interpreter.spend(op, input.size())))
    return failure();
  std::optional<Stretched> mask;
  if (maskValue)
    mask.emplace(interpreter.getArray(maskValue), input.getShape());
  std::vector<Number> &elements = result->edit();
  bool exact = true, poison = false;
  forEachIndex(input.getShape(), [&](ArrayRef<int64_t> index, int64_t i) {
    Number taken;
    taken.bits = 1;
    if (mask)
      taken = mask->at(index);
    if (taken.isExact() && !taken.bits)
      return;
    exact &= taken.isExact() && input[i].isExact();
    poison |= taken.poison || input[i].poison;
    int64_t value =
        isUnsigned ? static_cast<int64_t>(toUnsigned(input[i], input.getType())) : toSigned(input[i], input.getType());
    if (value >= 0 && value < static_cast<int64_t>(elements.size()))
      ++elements[value].bits;
  });
  for (Number &element : elements) {
    element.poison = poison;
    if (!exact)
      element.bound = undetermined;
  }
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult executeConcat(Interpreter &interpreter, Operation *op) {
  auto concat = cast<atx::TileConcatOp>(op);
  FailureOr<Array> result = interpreter.allocate(op, concat.getResult().getType());
  if (failed(result))
    return failure();
  SmallVector<int64_t> offsets(result->getShape().size(), 0), ones(offsets.size(), 1);
  for (mlir::Value operand : concat.getInputs()) {
    const Array &input = interpreter.getArray(operand);
    FailureOr<Array> next = insertSlice(op, input, *result, offsets, input.getShape(), ones);
    if (failed(next))
      return failure();
    *result = std::move(*next);
    offsets[concat.getAxis()] += input.getShape()[concat.getAxis()];
  }
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult executeTake(Interpreter &interpreter, Operation *op) {
  const Array input = interpreter.getArray(op->getOperand(0)), indexTile = interpreter.getArray(op->getOperand(1));
  int64_t axis = getAxis(op);
  SmallVector<int64_t> shape(input.getShape());
  shape[axis] = indexTile.getShape()[axis];
  for (auto [i, extent] : llvm::enumerate(indexTile.getShape()))
    if (extent != shape[i] && extent != 1)
      return op->emitError() << "axis " << i << " of the indices has extent " << extent << ", the tensor " << shape[i];
  FailureOr<Array> result = interpreter.allocate(op, input.getType(), shape);
  if (failed(result))
    return failure();
  SmallVector<int64_t> strides = getRowMajor(input.getShape());
  Stretched indices(indexTile, shape);
  std::vector<Number> &elements = result->edit();
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t i) {
    const Number &at = indices.at(index);
    int64_t position = toSigned(at, indexTile.getType());
    Number value;
    if (position >= 0 && position < input.getShape()[axis]) {
      int64_t offset = 0;
      for (size_t d = 0; d < index.size(); ++d)
        offset += (static_cast<int64_t>(d) == axis ? position : index[d]) * strides[d];
      value = input[offset];
    }
    if (!at.isExact())
      value.bound = undetermined;
    elements[i] = at.poison ? makePoison() : value;
  });
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

LogicalResult executeRaw(Interpreter &interpreter, Operation *op) {
  auto raw = cast<atx::TileRawOp>(op);
  Block &body = raw.getBody().front();
  auto silent = [] { return InFlightDiagnostic(); };
  auto layoutOf = [&](atx::TilePinOp pin) {
    return atx::parsePinnedLayout(pin.getLayout(), pin.getInput().getType(), silent);
  };
  SmallVector<std::optional<atx::PinnedLayout>> inputs, outputs;
  std::optional<int64_t> lanes;
  for (mlir::Value input : raw.getInputs()) {
    inputs.emplace_back();
    if (!isa<VectorType>(input.getType()))
      continue;
    auto pin = input.getDefiningOp<atx::TilePinOp>();
    FailureOr<atx::PinnedLayout> layout = pin ? layoutOf(pin) : FailureOr<atx::PinnedLayout>(failure());
    if (failed(layout))
      return op->emitError() << "a tile operand of 'atx.tile_raw' is pinned by 'atx.tile_pin'";
    inputs.back() = *layout;
    if (lanes && *lanes != layout->lanes * layout->waves)
      return op->emitError() << "operands are pinned to " << *lanes << " and " << layout->lanes * layout->waves
                             << " work-items";
    lanes = layout->lanes * layout->waves;
  }
  for (OpResult result : raw->getResults()) {
    outputs.emplace_back();
    if (!isa<VectorType>(result.getType()))
      continue;
    for (Operation *user : result.getUsers())
      if (auto pin = dyn_cast<atx::TilePinOp>(user))
        if (FailureOr<atx::PinnedLayout> layout = layoutOf(pin); succeeded(layout))
          outputs.back() = *layout;
    for (auto [input, layout] : llvm::zip(raw.getInputs(), inputs))
      if (!outputs.back() && layout &&
          cast<VectorType>(input.getType()).getShape() == cast<VectorType>(result.getType()).getShape())
        outputs.back() = layout;
    if (!outputs.back())
      return op->emitError() << "nothing says how result " << result.getResultNumber() << " is spread over lanes";
    if (!lanes)
      lanes = outputs.back()->lanes * outputs.back()->waves;
  }
  SmallVector<Array> results;
  for (Type type : raw->getResultTypes()) {
    FailureOr<Array> result = interpreter.allocate(op, type);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  for (int64_t lane = 0; lane < lanes.value_or(1); ++lane) {
    interpreter.lane = lane;
    for (auto [number, input] : llvm::enumerate(raw.getInputs())) {
      const Array &whole = interpreter.getArray(input);
      if (!inputs[number]) {
        interpreter.set(body.getArgument(number), whole);
        continue;
      }
      Array part(whole.getType(), ArrayRef<int64_t>({inputs[number]->numValues}));
      for (int64_t i = 0; i < inputs[number]->numValues; ++i)
        part.edit()[i] = whole[inputs[number]->getElement(lane, i)];
      interpreter.set(body.getArgument(number), std::move(part));
    }
    FailureOr<SmallVector<RuntimeValue>> values = interpreter.executeBlock(body);
    interpreter.lane = -1;
    if (failed(values))
      return failure();
    for (auto [number, value] : llvm::enumerate(*values)) {
      const Array &part = std::get<Array>(value);
      if (!outputs[number]) {
        results[number] = part;
        continue;
      }
      if (part.size() != outputs[number]->numValues)
        return op->emitError() << "the region yields " << part.size() << " values for result " << number
                               << ", its layout has " << outputs[number]->numValues;
      for (int64_t i = 0; i < part.size(); ++i)
        results[number].edit()[outputs[number]->getElement(lane, i)] = part[i];
    }
  }
  for (auto [result, value] : llvm::zip(op->getResults(), results))
    interpreter.set(result, std::move(value));
  return success();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

LogicalResult executeBroadcast(Interpreter &interpreter, Operation *op) {
  auto broadcast = cast<vector::BroadcastOp>(op);
  const Array source = interpreter.getArray(broadcast.getSource());
  FailureOr<Array> result = interpreter.allocate(op, broadcast.getType());
  if (failed(result))
    return failure();
  SmallVector<int64_t> shape(result->getShape());
  size_t rank = source.getShape().size(), lead = shape.size() - rank;
  SmallVector<int64_t> strides = getRowMajor(source.getShape());
  for (size_t axis = 0; axis < rank; ++axis)
    if (source.getShape()[axis] == 1)
      strides[axis] = 0;
  std::vector<Number> &elements = result->edit();
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      offset += index[lead + axis] * strides[axis];
    elements[i] = source[offset];
  });
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult executeTranspose(Interpreter &interpreter, Operation *op) {
  auto transpose = cast<vector::TransposeOp>(op);
  const Array source = interpreter.getArray(transpose.getVector());
  FailureOr<Array> result = interpreter.allocate(op, transpose.getType());
  if (failed(result))
    return failure();
  SmallVector<int64_t> strides = getRowMajor(source.getShape()), shape(result->getShape());
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  std::vector<Number> &elements = result->edit();
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * strides[permutation[axis]];
    elements[i] = source[offset];
  });
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult executeContract(Interpreter &interpreter, Operation *op) {
  auto contract = cast<vector::ContractionOp>(op);
  if (contract.getKind() != vector::CombiningKind::ADD)
    return op->emitError() << "the interpreter knows contractions that add";
  const Array lhs = interpreter.getArray(contract.getLhs()), rhs = interpreter.getArray(contract.getRhs()),
              acc = interpreter.getArray(contract.getAcc());
  ElementType type = acc.getType();
  SmallVector<AffineMap> maps = contract.getIndexingMapsArray();
  ArrayAttr iterators = contract.getIteratorTypes();
  unsigned loops = maps[0].getNumDims();
  SmallVector<int64_t> extents(loops, 1);
  auto visitMap = [&](AffineMap map, ArrayRef<int64_t> shape, SmallVector<int64_t> &steps) -> LogicalResult {
    SmallVector<int64_t> strides = getRowMajor(shape);
    steps.assign(loops, 0);
    for (auto [result, extent, stride] : llvm::zip(map.getResults(), shape, strides)) {
      auto dim = dyn_cast<AffineDimExpr>(result);
      if (!dim)
        return op->emitError() << "the interpreter knows contractions whose maps are projected permutations";
      extents[dim.getPosition()] = extent;
      steps[dim.getPosition()] += stride;
    }
    return success();
  };
  SmallVector<int64_t> lhsSteps, rhsSteps, accSteps;
  if (failed(visitMap(maps[0], lhs.getShape(), lhsSteps)) || failed(visitMap(maps[1], rhs.getShape(), rhsSteps)) ||
      failed(visitMap(maps[2], acc.getShape(), accSteps)))
    return failure();
  SmallVector<unsigned> outer, inner;
  for (unsigned i = 0; i < loops; ++i)
    (vector::isReductionIterator(iterators[i]) ? inner : outer).push_back(i);
  auto shapeOf = [&](ArrayRef<unsigned> axes) {
    SmallVector<int64_t> shape;
    for (unsigned axis : axes)
      shape.push_back(extents[axis]);
    return shape;
  };
  auto offsetOf = [&](ArrayRef<unsigned> axes, ArrayRef<int64_t> index, ArrayRef<int64_t> steps) {
    int64_t offset = 0;
    for (auto [axis, i] : llvm::zip(axes, index))
      offset += i * steps[axis];
    return offset;
  };
  uint64_t work = 1;
  for (int64_t extent : extents)
    work *= uint64_t(extent);
  Array result = acc;
  if (failed(interpreter.spend(op, work)))
    return failure();
  ElementType lhsType = lhs.getType(), rhsType = rhs.getType();
  // Operands narrower than the accumulator are widened first, which is exact.
  auto widenTo = [&](const Number &number, const ElementType &from) {
    if (number.poison)
      return number;
    Number wide = type.isFloat() ? fromDouble(toDouble(number, from), type) : fromSigned(toSigned(number, from), type);
    wide.bound = number.bound;
    return wide;
  };
  std::vector<Number> products;
  forEachIndex(shapeOf(outer), [&](ArrayRef<int64_t> index, int64_t) {
    ProductReach reach(type);
    int64_t l = offsetOf(outer, index, lhsSteps), r = offsetOf(outer, index, rhsSteps),
            a = offsetOf(outer, index, accSteps);
    products.clear();
    forEachIndex(shapeOf(inner), [&](ArrayRef<int64_t> k, int64_t) {
      Number x = widenTo(lhs[l + offsetOf(inner, k, lhsSteps)], lhsType);
      Number y = widenTo(rhs[r + offsetOf(inner, k, rhsSteps)], rhsType);
      products.push_back(type.isFloat() ? mulFloat(x, y, type, /*contract=*/true)
                                        : combine(Combine::Prod, {x, y}, nullptr, type, false));
      if (type.isFloat())
        reach.add(x, y, products.back());
    });
    Number start = acc[a];
    Number sum = combine(Combine::Sum, products, &start, type, /*products=*/true);
    if (type.isFloat())
      reach.apply(sum, start);
    result.edit()[a] = sum;
  });
  interpreter.set(op->getResult(0), std::move(result));
  return success();
}

/// Places of a static or dynamic position.
FailureOr<SmallVector<int64_t>> getPosition(Interpreter &interpreter, Operation *op, ArrayRef<OpFoldResult> mixed,
                                            ArrayRef<int64_t> shape) {
  FailureOr<SmallVector<int64_t>> position = getMixed(interpreter, op, mixed);
  if (failed(position))
    return failure();
  for (auto [i, extent] : llvm::zip(*position, shape))
    if (i < 0 || i >= extent) {
      op->emitError() << "position " << i << " is outside of an extent of " << extent;
      return failure();
    }
  return position;
}
} // namespace

void interp::addTileHandlers(Interpreter &interpreter) {
  auto add = [&](StringRef name, Handler handler) { interpreter.addHandler(name, std::move(handler)); };
  add("atx.tile_iota", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    FailureOr<Array> result = interpreter.allocate(op, op->getResult(0).getType());
    if (failed(result))
      return failure();
    for (int64_t i = 0; i < result->size(); ++i)
      result->edit()[i] = fromSigned(i, result->getType());
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  interpreter.addHandler("vector.step", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    FailureOr<Array> result = interpreter.allocate(op, op->getResult(0).getType());
    if (failed(result))
      return failure();
    for (int64_t i = 0; i < result->size(); ++i)
      result->edit()[i] = fromSigned(i, result->getType());
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("atx.tile_load", executeLoad);
  add("atx.tile_store", executeStore);
  add("atx.tile_atomic", executeAtomic);
  add("atx.tile_shared", executeShared);
  add("atx.tile_reduce", executeReduce);
  add("atx.tile_scan", executeScan);
  add("atx.tile_topk", executeTopk);
  add("atx.tile_rank", executeRank);
  add("atx.tile_histogram", executeHistogram);
  add("atx.tile_concat", executeConcat);
  add("atx.tile_take", executeTake);
  add("atx.tile_raw", executeRaw);
  // The same on whole tensors.
  add("atx.tensor_arg", executeArg);
  add("atx.tensor_scan", executeScan);
  add("atx.tensor_topk", executeTopk);
  add("atx.tensor_rank", executeRank);
  add("atx.tensor_histogram", executeHistogram);
  add("atx.tensor_take", executeTake);
  add("atx.tile_pin", [](Interpreter &interpreter, Operation *op) {
    interpreter.set(op->getResult(0), interpreter.get(op->getOperand(0)));
    return success();
  });
  add("vector.broadcast", executeBroadcast);
  add("vector.transpose", executeTranspose);
  add("vector.contract", executeContract);
  add("vector.shape_cast", [](Interpreter &interpreter, Operation *op) {
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    interpreter.set(op->getResult(0),
                    interpreter.getArray(op->getOperand(0)).reshape(type ? type.getShape() : ArrayRef<int64_t>()));
    return success();
  });
  add("vector.extract_strided_slice", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto extract = cast<vector::ExtractStridedSliceOp>(op);
    const Array input = interpreter.getArray(op->getOperand(0));
    SmallVector<int64_t> sizes(input.getShape()), offsets(sizes.size(), 0), strides(sizes.size(), 1);
    for (auto [axis, attrs] : llvm::enumerate(llvm::zip(extract.getOffsets().getAsRange<IntegerAttr>(),
                                                        extract.getSizes().getAsRange<IntegerAttr>(),
                                                        extract.getStrides().getAsRange<IntegerAttr>()))) {
      offsets[axis] = std::get<0>(attrs).getInt();
      sizes[axis] = std::get<1>(attrs).getInt();
      strides[axis] = std::get<2>(attrs).getInt();
    }
    FailureOr<Array> result = slice(interpreter, op, input, offsets, sizes, strides);
    if (failed(result))
      return failure();
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("vector.insert_strided_slice", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto insert = cast<vector::InsertStridedSliceOp>(op);
    const Array source = interpreter.getArray(insert.getValueToStore()),
                target = interpreter.getArray(insert.getDest());
    size_t rank = target.getShape().size(), lead = rank - source.getShape().size();
    SmallVector<int64_t> offsets, sizes(rank, 1), strides(rank, 1);
    for (IntegerAttr offset : insert.getOffsets().getAsRange<IntegerAttr>())
      offsets.push_back(offset.getInt());
    for (size_t axis = lead; axis < rank; ++axis)
      sizes[axis] = source.getShape()[axis - lead];
    FailureOr<Array> result = insertSlice(op, source, target, offsets, sizes, strides);
    if (failed(result))
      return failure();
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("vector.extract", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto extract = cast<vector::ExtractOp>(op);
    const Array input = interpreter.getArray(extract.getSource());
    FailureOr<SmallVector<int64_t>> position =
        getPosition(interpreter, op, extract.getMixedPosition(), input.getShape());
    if (failed(position))
      return failure();
    SmallVector<int64_t> sizes(input.getShape()), offsets(sizes.size(), 0), ones(sizes.size(), 1);
    for (auto [axis, i] : llvm::enumerate(*position)) {
      offsets[axis] = i;
      sizes[axis] = 1;
    }
    FailureOr<Array> result = slice(interpreter, op, input, offsets, sizes, ones);
    if (failed(result))
      return failure();
    interpreter.set(op->getResult(0), result->reshape(ArrayRef<int64_t>(sizes).drop_front(position->size())));
    return success();
  });
  add("vector.insert", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto insert = cast<vector::InsertOp>(op);
    const Array source = interpreter.getArray(insert.getValueToStore()),
                target = interpreter.getArray(insert.getDest());
    FailureOr<SmallVector<int64_t>> position =
        getPosition(interpreter, op, insert.getMixedPosition(), target.getShape());
    if (failed(position))
      return failure();
    SmallVector<int64_t> sizes(target.getShape()), offsets(sizes.size(), 0), ones(sizes.size(), 1);
    for (auto [axis, i] : llvm::enumerate(*position)) {
      offsets[axis] = i;
      sizes[axis] = 1;
    }
    FailureOr<Array> result = insertSlice(op, source, target, offsets, sizes, ones);
    if (failed(result))
      return failure();
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("vector.from_elements", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    FailureOr<Array> result = interpreter.allocate(op, op->getResult(0).getType());
    if (failed(result))
      return failure();
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      result->edit()[i] = interpreter.getArray(operand)[0];
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  });
  add("vector.bitcast", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    const Array input = interpreter.getArray(op->getOperand(0));
    std::optional<ElementType> type = ElementType::get(getElementTypeOrSelf(op->getResult(0).getType()));
    if (!type || type->bits != input.getType().bits)
      return op->emitError() << "the interpreter knows bit casts between elements of one width";
    Array result = input.retype(*type);
    for (Number &number : result.edit()) {
      number.slack = 0;
      bool isNaN = input.getType().isFloat() && !type->isFloat() && std::isnan(toDouble(number, input.getType()));
      if (!number.isExact() || isNaN)
        number.bound = undetermined;
    }
    interpreter.set(op->getResult(0), std::move(result));
    return success();
  });
  auto reduceVector = [](Interpreter &interpreter, Operation *op, mlir::Value source, mlir::Value acc,
                         ArrayRef<int64_t> axes, vector::CombiningKind kind) -> LogicalResult {
    std::optional<Combine> combination;
    switch (kind) {
    case vector::CombiningKind::ADD:
      combination = Combine::Sum;
      break;
    case vector::CombiningKind::MUL:
      combination = Combine::Prod;
      break;
    case vector::CombiningKind::MAXIMUMF:
    case vector::CombiningKind::MAXSI:
      combination = Combine::Max;
      break;
    case vector::CombiningKind::MINIMUMF:
    case vector::CombiningKind::MINSI:
      combination = Combine::Min;
      break;
    case vector::CombiningKind::MAXNUMF:
      combination = Combine::MaxNum;
      break;
    case vector::CombiningKind::MINNUMF:
      combination = Combine::MinNum;
      break;
    case vector::CombiningKind::MAXUI:
      combination = Combine::UMax;
      break;
    case vector::CombiningKind::MINUI:
      combination = Combine::UMin;
      break;
    case vector::CombiningKind::AND:
      combination = Combine::And;
      break;
    case vector::CombiningKind::OR:
      combination = Combine::Or;
      break;
    case vector::CombiningKind::XOR:
      combination = Combine::Xor;
      break;
    }
    const Array input = interpreter.getArray(source);
    Array init;
    if (acc)
      init = interpreter.getArray(acc);
    FailureOr<Array> result = interpreter.allocate(op, op->getResult(0).getType());
    if (failed(result) || failed(interpreter.spend(op, input.size())))
      return failure();
    bool products = areProducts(source);
    forEachLine(input, axes, [&](int64_t line, ArrayRef<Number> numbers, ArrayRef<int64_t>) {
      result->edit()[line] = combine(*combination, numbers, acc ? &init[line] : nullptr, input.getType(), products);
    });
    interpreter.set(op->getResult(0), std::move(*result));
    return success();
  };
  add("vector.multi_reduction", [=](Interpreter &interpreter, Operation *op) {
    auto reduction = cast<vector::MultiDimReductionOp>(op);
    return reduceVector(interpreter, op, reduction.getSource(), reduction.getAcc(), reduction.getReductionDims(),
                        reduction.getKind());
  });
  add("vector.reduction", [=](Interpreter &interpreter, Operation *op) {
    auto reduction = cast<vector::ReductionOp>(op);
    return reduceVector(interpreter, op, reduction.getVector(), reduction.getAcc(), {0}, reduction.getKind());
  });
  add("memref.dim", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    const Memory *memory = std::get_if<Memory>(&interpreter.get(op->getOperand(0)));
    FailureOr<int64_t> axis = getKnownInteger(interpreter, op, op->getOperand(1));
    if (failed(axis))
      return failure();
    if (!memory || *axis < 0 || *axis >= static_cast<int64_t>(memory->shape.size()))
      return op->emitError() << "there is no dimension " << *axis;
    ElementType index = ElementType::getInteger(64);
    interpreter.set(op->getResult(0), Array(index, fromSigned(memory->shape[*axis], index)));
    return success();
  });
}
