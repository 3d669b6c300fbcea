//===- Interpreter.cpp - Values, control flow, running --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Interpreter/Interpreter.h"
#include "Handlers.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <atomic>

using namespace mlir;
using namespace atrex;
using namespace atrex::interp;

namespace {
/// Elements of one value, and of all values that are alive: 24 bytes each.
constexpr int64_t maxElements = int64_t(1) << 26;
constexpr unsigned maxDepth = 64;
} // namespace

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

std::optional<int64_t> interp::countElements(ArrayRef<int64_t> shape) {
  int64_t total = 1;
  bool isEmpty = llvm::is_contained(shape, 0);
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (!isEmpty && (llvm::MulOverflow(total, extent, total) || total > maxElements))
      return std::nullopt;
  }
  return isEmpty ? 0 : total;
}

/// Runs may share a process.
static std::atomic<int64_t> liveElements = 0;

int64_t interp::getLiveElements() { return liveElements; }

/// Elements that are counted while they live. Lists that handlers put in place of
/// them have the same size.
static std::shared_ptr<std::vector<Number>> makeElements(std::vector<Number> list) {
  int64_t count = int64_t(list.size());
  liveElements += count;
  return {new std::vector<Number>(std::move(list)), [count](std::vector<Number> *elements) {
            liveElements -= count;
            delete elements;
          }};
}

Array::Array(ElementType type, ArrayRef<int64_t> shape) : type(type), shape(shape) {
  elements = makeElements(std::vector<Number>(countElements(shape).value_or(0)));
}

Array::Array(ElementType type, const Number &value) : type(type) {
  elements = makeElements(std::vector<Number>(1, value));
}

std::vector<Number> &Array::edit() {
  if (elements.use_count() != 1)
    elements = makeElements(*elements);
  return *elements;
}

Array Array::reshape(ArrayRef<int64_t> newShape) const {
  Array result = *this;
  result.shape.assign(newShape.begin(), newShape.end());
  return result;
}

Array Array::retype(ElementType newType) const {
  Array result = *this;
  result.type = newType;
  return result;
}

SmallVector<int64_t> interp::getRowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

//===----------------------------------------------------------------------===//
// Interpreter
//===----------------------------------------------------------------------===//

Interpreter::Interpreter(const RunOptions &options) : options(options) {
  addCoreHandlers(*this);
  addTensorHandlers(*this);
  addTileHandlers(*this);
  addPlanHandlers(*this);
}

Interpreter::~Interpreter() = default;

void Interpreter::addHandler(StringRef operation, Handler handler) { handlers[operation] = std::move(handler); }

const RuntimeValue &Interpreter::get(mlir::Value value) const {
  auto found = values.find(value);
  // Verified IR defines before use; nothing else sets values.
  static const RuntimeValue none = Array(ElementType(), makePoison());
  return found == values.end() ? none : found->second;
}

const Array &Interpreter::getArray(mlir::Value value) const {
  static const Array none(ElementType(), makePoison());
  const Array *array = std::get_if<Array>(&get(value));
  return array ? *array : none;
}

void Interpreter::set(mlir::Value value, RuntimeValue result) { values[value] = std::move(result); }

LogicalResult Interpreter::spend(Operation *op, uint64_t steps) {
  statistics.steps += steps + 1;
  if (statistics.steps <= options.maxSteps)
    return success();
  InFlightDiagnostic diagnostic = op->emitError();
  diagnostic << "the program has not ended after " << options.maxSteps << " steps";
  if (severalWorkgroups)
    diagnostic << ", in workgroup (" << block[0] << ", " << block[1] << ", " << block[2] << ")";
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto it = iterations.find(parent); it != iterations.end())
      diagnostic.attachNote(parent->getLoc()) << (parent == op ? "this loop has" : "it is inside of a loop that has")
                                              << " done " << it->second << " iterations";
  return diagnostic;
}

FailureOr<Array> Interpreter::allocate(Operation *op, mlir::Type type) {
  std::optional<ElementType> element = ElementType::get(getElementTypeOrSelf(type));
  if (!element) {
    op->emitError() << "the interpreter has no elements of type " << getElementTypeOrSelf(type);
    return failure();
  }
  ArrayRef<int64_t> shape;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!shaped.hasStaticShape()) {
      op->emitError() << "the shape of " << type << " is not known here";
      return failure();
    }
    shape = shaped.getShape();
  }
  return allocate(op, *element, shape);
}

FailureOr<Array> Interpreter::allocate(Operation *op, ElementType type, ArrayRef<int64_t> shape) {
  std::optional<int64_t> count = countElements(shape);
  if (!count) {
    InFlightDiagnostic diagnostic = op->emitError();
    diagnostic << "a value of shape '";
    llvm::interleave(shape, [&](int64_t extent) { diagnostic << extent; }, [&] { diagnostic << "x"; });
    diagnostic << "' is too large to interpret; at most " << maxElements << " elements";
    return failure();
  }
  if (failed(spend(op, *count)))
    return failure();
  if (int64_t live = getLiveElements(); *count > options.maxLiveElements - live) {
    op->emitError() << "a value of " << *count << " elements beside the " << live
                    << " that are held already is too much to interpret; at most " << options.maxLiveElements
                    << " elements together";
    return failure();
  }
  return Array(type, shape);
}

void Interpreter::taint(Operation *op, StringRef why) {
  if (!statistics.tainted.empty())
    return;
  llvm::raw_string_ostream os(statistics.tainted);
  os << why << " at ";
  op->getLoc().print(os);
}

/// Operand i of an elementwise operation: itself, or one element for all.
static LogicalResult executeElementwise(Interpreter &interpreter, Operation *op, const ElementFunction &function) {
  SmallVector<const Array *, 3> operands;
  const Array *largest = nullptr;
  for (mlir::Value operand : op->getOperands()) {
    const Array *array = std::get_if<Array>(&interpreter.get(operand));
    if (!array)
      return op->emitError() << "'" << op->getName() << "' on memory is not something the interpreter knows";
    operands.push_back(array);
    if (!largest || array->size() > largest->size() ||
        (array->size() == largest->size() && array->getShape().size() > largest->getShape().size()))
      largest = array;
  }
  std::optional<ElementType> type = ElementType::get(getElementTypeOrSelf(op->getResult(0).getType()));
  // A scalar operand of size 1 beside empty tiles.
  for (const Array *operand : operands)
    if (operand->size() == 0)
      largest = operand;
  FailureOr<Array> result = interpreter.allocate(op, *type, largest->getShape());
  if (failed(result))
    return failure();
  for (const Array *operand : operands)
    if (operand->size() != 1 && operand->size() != result->size())
      return op->emitError() << "operands have " << operand->size() << " and " << result->size() << " elements";
  std::vector<Number> &elements = result->edit();
  Number arguments[3];
  for (size_t i = 0; i < elements.size(); ++i) {
    for (size_t n = 0; n < operands.size(); ++n)
      arguments[n] = (*operands[n])[operands[n]->size() == 1 ? 0 : i];
    elements[i] = function(arguments);
  }
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

LogicalResult Interpreter::execute(Operation *op) {
  if (failed(spend(op, 0)))
    return failure();
  auto found = handlers.find(op->getName().getStringRef());
  if (found != handlers.end())
    return found->second(*this, op);
  if (ElementFunction function = getElementFunction(op))
    return executeElementwise(*this, op, function);
  return op->emitError() << "the interpreter does not know '" << op->getName() << "'";
}

FailureOr<SmallVector<RuntimeValue>> Interpreter::executeBlock(Block &block) {
  if (depth >= maxDepth) {
    block.getParentOp()->emitError() << "nested deeper than the " << maxDepth << " levels the interpreter follows";
    return failure();
  }
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  for (Operation &op : block.without_terminator())
    if (failed(execute(&op)))
      return failure();
  SmallVector<RuntimeValue> results;
  for (mlir::Value operand : block.getTerminator()->getOperands())
    results.push_back(get(operand));
  return results;
}

FailureOr<int64_t> interp::getKnownInteger(Interpreter &interpreter, Operation *op, mlir::Value value) {
  const Array &array = interpreter.getArray(value);
  if (array.size() != 1 || array[0].poison) {
    op->emitError() << "an operand of '" << op->getName() << "' is the result of an undefined operation";
    return failure();
  }
  if (!array[0].isExact())
    interpreter.taint(op, "an undetermined operand");
  return toSigned(array[0], array.getType());
}

FailureOr<SmallVector<int64_t>> interp::getMixed(Interpreter &interpreter, Operation *op,
                                                 ArrayRef<OpFoldResult> mixed) {
  SmallVector<int64_t> result;
  for (OpFoldResult item : mixed) {
    if (auto attribute = dyn_cast<Attribute>(item)) {
      result.push_back(cast<IntegerAttr>(attribute).getInt());
      continue;
    }
    FailureOr<int64_t> value = getKnownInteger(interpreter, op, cast<mlir::Value>(item));
    if (failed(value))
      return failure();
    result.push_back(*value);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Control flow, constants, places
//===----------------------------------------------------------------------===//

/// Elements of a constant.
static LogicalResult executeConstant(Interpreter &interpreter, Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  FailureOr<Array> result = interpreter.allocate(op, constant.getType());
  if (failed(result))
    return failure();
  ElementType type = result->getType();
  std::vector<Number> &elements = result->edit();
  auto bitsOf = [](Attribute attribute) -> std::optional<llvm::APInt> {
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      return integer.getValue();
    if (auto floating = dyn_cast<FloatAttr>(attribute))
      return floating.getValue().bitcastToAPInt();
    return std::nullopt;
  };
  if (std::optional<llvm::APInt> bits = bitsOf(constant.getValue())) {
    elements[0].bits = bits->getZExtValue();
  } else if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
    if (type.isFloat()) {
      size_t i = 0;
      for (const llvm::APFloat &value : dense.getValues<llvm::APFloat>())
        elements[i++].bits = value.bitcastToAPInt().getZExtValue();
    } else {
      size_t i = 0;
      for (const llvm::APInt &value : dense.getValues<llvm::APInt>())
        elements[i++].bits = value.getZExtValue();
    }
  } else {
    return op->emitError() << "the interpreter does not know this kind of constant";
  }
  interpreter.set(op->getResult(0), std::move(*result));
  return success();
}

/// Results of a branch that an undetermined condition chose: both are possible.
static RuntimeValue mergeValues(const RuntimeValue &chosen, const RuntimeValue &other) {
  const Array *a = std::get_if<Array>(&chosen), *b = std::get_if<Array>(&other);
  if (!a || !b || a->size() != b->size())
    return chosen;
  Array result = *a;
  std::vector<Number> &elements = result.edit();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = merge((*a)[i], (*b)[i], a->getType());
  return result;
}

static LogicalResult executeIf(Interpreter &interpreter, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  Number condition = interpreter.getArray(branch.getCondition())[0];
  if (condition.poison)
    return op->emitError() << "the condition is the result of an undefined operation";
  auto run = [&](bool taken) -> FailureOr<SmallVector<RuntimeValue>> {
    Region &region = taken ? branch.getThenRegion() : branch.getElseRegion();
    if (region.empty())
      return SmallVector<RuntimeValue>();
    return interpreter.executeBlock(region.front());
  };
  bool taken = condition.bits & 1;
  FailureOr<SmallVector<RuntimeValue>> results = run(taken);
  if (failed(results))
    return failure();
  if (!condition.isExact()) {
    if (isMemoryEffectFree(op) && op->getNumResults()) {
      FailureOr<SmallVector<RuntimeValue>> others = run(!taken);
      if (failed(others))
        return failure();
      for (auto [result, other] : llvm::zip(*results, *others))
        result = mergeValues(result, other);
    } else {
      interpreter.taint(op, "a branch was decided by an undetermined value");
    }
  }
  for (auto [result, value] : llvm::zip(op->getResults(), *results))
    interpreter.set(result, std::move(value));
  return success();
}

static LogicalResult executeFor(Interpreter &interpreter, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  FailureOr<int64_t> lower = getKnownInteger(interpreter, op, loop.getLowerBound());
  FailureOr<int64_t> upper = getKnownInteger(interpreter, op, loop.getUpperBound());
  FailureOr<int64_t> step = getKnownInteger(interpreter, op, loop.getStep());
  if (failed(lower) || failed(upper) || failed(step))
    return failure();
  if (*step <= 0)
    return op->emitError() << "the step of a loop is positive, got " << *step;
  ElementType type = interpreter.getArray(loop.getLowerBound()).getType();
  bool isUnsigned = loop.getUnsignedCmp();
  SmallVector<RuntimeValue> carried;
  for (mlir::Value init : loop.getInitArgs())
    carried.push_back(interpreter.get(init));
  auto less = [&](int64_t a, int64_t b) { return isUnsigned ? uint64_t(a) < uint64_t(b) : a < b; };
  interpreter.iterations[op] = 0;
  for (int64_t i = *lower; less(i, *upper);) {
    interpreter.set(loop.getInductionVar(), Array(type, fromSigned(i, type)));
    for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
      interpreter.set(argument, value);
    carried.clear();
    FailureOr<SmallVector<RuntimeValue>> results = interpreter.executeBlock(*loop.getBody());
    if (failed(results))
      return failure();
    carried = std::move(*results);
    ++interpreter.iterations[op];
    if (failed(interpreter.spend(op, 1)))
      return failure();
    // What the counter would be then is not defined.
    bool isOverflow = llvm::AddOverflow(i, *step, i) ||
                      (type.bits < 64 && (isUnsigned ? !llvm::isUIntN(type.bits, i) : !llvm::isIntN(type.bits, i)));
    if (isOverflow && !isUnsigned)
      return op->emitError() << "the counter of this loop passes the largest number of its type; the loop ends at "
                             << *upper << " in steps of " << *step;
    if (isOverflow)
      break;
  }
  interpreter.iterations.erase(op);
  for (auto [result, value] : llvm::zip(op->getResults(), carried))
    interpreter.set(result, std::move(value));
  return success();
}

static LogicalResult executeWhile(Interpreter &interpreter, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<RuntimeValue> carried;
  for (mlir::Value init : loop.getInits())
    carried.push_back(interpreter.get(init));
  interpreter.iterations[op] = 0;
  while (true) {
    for (auto [argument, value] : llvm::zip(loop.getBeforeArguments(), carried))
      interpreter.set(argument, value);
    FailureOr<SmallVector<RuntimeValue>> results = interpreter.executeBlock(*loop.getBeforeBody());
    if (failed(results))
      return failure();
    Number condition = std::get<Array>(results->front())[0];
    if (condition.poison)
      return op->emitError() << "the condition is the result of an undefined operation";
    if (!condition.isExact())
      interpreter.taint(op, "a loop was decided by an undetermined value");
    SmallVector<RuntimeValue> passed(std::make_move_iterator(results->begin() + 1),
                                     std::make_move_iterator(results->end()));
    if (!(condition.bits & 1)) {
      interpreter.iterations.erase(op);
      for (auto [result, value] : llvm::zip(op->getResults(), passed))
        interpreter.set(result, std::move(value));
      return success();
    }
    for (auto [argument, value] : llvm::zip(loop.getAfterArguments(), passed))
      interpreter.set(argument, std::move(value));
    FailureOr<SmallVector<RuntimeValue>> next = interpreter.executeBlock(*loop.getAfterBody());
    if (failed(next))
      return failure();
    carried = std::move(*next);
    ++interpreter.iterations[op];
    if (failed(interpreter.spend(op, 1)))
      return failure();
  }
}

static LogicalResult executeCall(Interpreter &interpreter, Operation *op) {
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return op->emitError() << "the interpreter cannot see the body of '" << call.getCallee() << "'";
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (parent == callee.getOperation())
      return op->emitError() << "'" << call.getCallee() << "' calls itself";
  for (auto [argument, operand] : llvm::zip(callee.getArguments(), call.getOperands()))
    interpreter.set(argument, interpreter.get(operand));
  FailureOr<SmallVector<RuntimeValue>> results = interpreter.executeBlock(callee.getBody().front());
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip(op->getResults(), *results))
    interpreter.set(result, std::move(value));
  return success();
}

void interp::addCoreHandlers(Interpreter &interpreter) {
  auto add = [&](StringRef name, Handler handler) { interpreter.addHandler(name, std::move(handler)); };
  add("arith.constant", executeConstant);
  add("scf.if", executeIf);
  add("scf.for", executeFor);
  add("scf.while", executeWhile);
  add("func.call", executeCall);
  add("scf.execute_region", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    Region &region = op->getRegion(0);
    if (!region.hasOneBlock())
      return op->emitError() << "the interpreter follows one block, got " << region.getBlocks().size();
    FailureOr<SmallVector<RuntimeValue>> results = interpreter.executeBlock(region.front());
    if (failed(results))
      return failure();
    for (auto [result, value] : llvm::zip(op->getResults(), *results))
      interpreter.set(result, std::move(value));
    return success();
  });
  add("cf.assert", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto assertion = cast<cf::AssertOp>(op);
    Number condition = interpreter.getArray(assertion.getArg())[0];
    if (condition.isExact() && !condition.bits)
      return op->emitError() << "assertion failed: " << assertion.getMsg();
    return success();
  });
  auto place = [](Interpreter &interpreter, Operation *op, int64_t value) {
    ElementType index = ElementType::getInteger(64);
    interpreter.set(op->getResult(0), Array(index, fromSigned(value, index)));
    return success();
  };
  add("gpu.block_id", [=](Interpreter &interpreter, Operation *op) {
    return place(interpreter, op, interpreter.block[unsigned(cast<gpu::BlockIdOp>(op).getDimension())]);
  });
  add("gpu.grid_dim", [=](Interpreter &interpreter, Operation *op) {
    return place(interpreter, op, interpreter.grid[unsigned(cast<gpu::GridDimOp>(op).getDimension())]);
  });
  // One statement of a workgroup is done before the next one starts.
  add("gpu.barrier", [](Interpreter &, Operation *) { return success(); });
  for (StringRef name : {"arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended"})
    add(name, [](Interpreter &interpreter, Operation *op) -> LogicalResult {
      const Array &a = interpreter.getArray(op->getOperand(0)), &b = interpreter.getArray(op->getOperand(1));
      const Array &larger = a.size() > b.size() ? a : b;
      ElementType type = a.getType(), second = isa<arith::AddUIExtendedOp>(op) ? ElementType::getInteger(1) : type;
      FailureOr<Array> low = interpreter.allocate(op, type, larger.getShape());
      FailureOr<Array> high = interpreter.allocate(op, second, larger.getShape());
      if (failed(low) || failed(high))
        return failure();
      bool isSigned = isa<arith::MulSIExtendedOp>(op);
      for (int64_t i = 0; i < larger.size(); ++i) {
        const Number &x = a[a.size() == 1 ? 0 : i], &y = b[b.size() == 1 ? 0 : i];
        llvm::APInt p(128, isSigned ? uint64_t(toSigned(x, type)) : toUnsigned(x, type), isSigned);
        llvm::APInt q(128, isSigned ? uint64_t(toSigned(y, type)) : toUnsigned(y, type), isSigned);
        llvm::APInt value = isa<arith::AddUIExtendedOp>(op) ? p + q : p * q;
        Number lowNumber, highNumber;
        lowNumber.bits = value.extractBitsAsZExtValue(type.bits, 0);
        highNumber.bits = value.extractBitsAsZExtValue(second.bits, type.bits);
        lowNumber.poison = highNumber.poison = x.poison || y.poison;
        if (!x.isExact() || !y.isExact())
          lowNumber.bound = highNumber.bound = undetermined;
        low->edit()[i] = lowNumber;
        high->edit()[i] = highNumber;
      }
      interpreter.set(op->getResult(0), std::move(*low));
      interpreter.set(op->getResult(1), std::move(*high));
      return success();
    });
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<func::FuncOp> interp::findFunction(ModuleOp module, StringRef name) {
  std::vector<func::FuncOp> found, plans;
  module.walk([&](func::FuncOp function) {
    bool isPlan = function->hasAttr(atx::planAttrName);
    if (name.empty() ? isPlan || function->hasAttr(atx::operatorAttrName) || function->hasAttr(atx::kernelAttrName)
                     : function.getName() == name)
      found.push_back(function);
    if (name.empty() && isPlan)
      plans.push_back(function);
  });
  // Beside a plan stand the kernels that it launches.
  if (!plans.empty())
    found = std::move(plans);
  if (found.empty())
    return makeError(name.empty() ? "the module has no function with 'atx.operator' or 'atx.kernel'"
                                  : "the module has no function '" + name + "'");
  if (found.size() > 1)
    return makeError("the module has " + llvm::Twine(found.size()) + " functions to run; choose one with '--op'");
  func::FuncOp function = found.front();
  if (!function->hasAttr(atx::operatorAttrName) && !function->hasAttr(atx::kernelAttrName) &&
      !function->hasAttr(atx::planAttrName))
    return makeError("function '" + function.getName() + "' has none of 'atx.operator', 'atx.kernel' and 'atx.plan'");
  if (!function.getBody().hasOneBlock())
    return makeError("function '" + function.getName() + "' has no body of one block");
  return function;
}

llvm::Expected<std::vector<Parameter>> interp::getParameters(func::FuncOp function) {
  std::vector<Parameter> parameters;
  bool isKernel = function->hasAttr(atx::kernelAttrName), isPlan = function->hasAttr(atx::planAttrName);
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    Parameter parameter;
    parameter.index = index;
    parameter.type = argument.getType();
    std::string what = ("argument " + llvm::Twine(index)).str();
    if (auto name = function.getArgAttrOfType<StringAttr>(index, atx::nameAttrName)) {
      parameter.name = name.str();
      what = "parameter '" + parameter.name + "'";
    } else {
      parameter.name = "arg" + std::to_string(index);
    }
    parameter.isOutput = function.getArgAttr(index, atx::outputAttrName) != nullptr;
    parameter.isWorkspace = function.getArgAttr(index, atx::workspaceAttrName) != nullptr;
    auto shaped = dyn_cast<ShapedType>(parameter.type);
    parameter.isTensor = shaped != nullptr;
    parameter.isDim = parameter.type.isIndex();
    std::optional<ElementType> element = ElementType::get(getElementTypeOrSelf(parameter.type));
    if (!element || (shaped && !isa<RankedTensorType, MemRefType>(parameter.type)))
      return makeError(what + " has a type that the interpreter cannot supply");
    parameter.element = *element;
    if (auto type = function.getArgAttrOfType<TypeAttr>(index, atx::typeAttrName))
      parameter.isUnsigned = type.getValue().isUnsignedInteger();
    if (shaped) {
      auto shape = function.getArgAttrOfType<ArrayAttr>(index, atx::shapeAttrName);
      if (shape && static_cast<int64_t>(shape.size()) != shaped.getRank())
        return makeError(what + ": 'atx.shape' has " + llvm::Twine(shape.size()) + " extents, the type " +
                         llvm::Twine(shaped.getRank()));
      for (int64_t axis = 0; axis < shaped.getRank(); ++axis) {
        if (!shaped.isDynamicDim(axis)) {
          parameter.shape.push_back(DimExpr::constant(shaped.getDimSize(axis)));
          continue;
        }
        auto text = shape ? dyn_cast<StringAttr>(shape[axis]) : StringAttr();
        if (!text)
          return makeError(what + ": extent " + llvm::Twine(axis) + " is dynamic and no 'atx.shape' says what it is");
        llvm::Expected<DimExpr> expr = DimExpr::parse(text.getValue());
        if (!expr)
          return makeError(what + ": extent '" + text.getValue() + "': " + llvm::toString(expr.takeError()));
        parameter.shape.push_back(*expr);
      }
      auto strides = function.getArgAttrOfType<ArrayAttr>(index, "atx.strides");
      if (strides && static_cast<int64_t>(strides.size()) != shaped.getRank())
        return makeError(what + ": 'atx.strides' has " + llvm::Twine(strides.size()) + " strides, the type " +
                         llvm::Twine(shaped.getRank()) + " axes");
      for (Attribute attribute : strides ? strides.getValue() : ArrayRef<Attribute>()) {
        auto text = dyn_cast<StringAttr>(attribute);
        llvm::Expected<DimExpr> expr = text ? DimExpr::parse(text.getValue()) : makeError("expected a text");
        if (!expr)
          return makeError(what + ": stride: " + llvm::toString(expr.takeError()));
        parameter.strides.push_back(*expr);
      }
      auto memory = dyn_cast<MemRefType>(parameter.type);
      if (memory && !memory.getLayout().isIdentity() && !strides)
        return makeError(what + " has a layout and no 'atx.strides' that says what it is");
    } else if (auto value = function.getArgAttr(index, atx::defaultAttrName)) {
      if (auto number = dyn_cast<FloatAttr>(value))
        parameter.defaultValue = number.getValueAsDouble();
      else if (auto integer = dyn_cast<IntegerAttr>(value))
        parameter.defaultValue = static_cast<double>(integer.getValue().getSExtValue());
    }
    if ((isKernel || isPlan) && isa<RankedTensorType>(parameter.type))
      return makeError(what + " of a kernel is memory, not a tensor");
    if (!isKernel && !isPlan && isa<MemRefType>(parameter.type))
      return makeError(what + " of an operator is a tensor, not memory");
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

llvm::Expected<std::vector<int64_t>> interp::getShape(const Parameter &parameter, const DimMap &dims) {
  std::vector<int64_t> shape;
  for (const DimExpr &extent : parameter.shape) {
    llvm::Expected<int64_t> value = extent.evaluate(dims);
    if (!value)
      return makeError("extent '" + extent.str() + "' of '" + parameter.name +
                       "': " + llvm::toString(value.takeError()));
    if (*value < 0)
      return makeError("extent '" + extent.str() + "' of '" + parameter.name + "' is " + llvm::Twine(*value));
    shape.push_back(*value);
  }
  if (!countElements(shape))
    return makeError("'" + parameter.name + "' has more than " + llvm::Twine(maxElements) +
                     " elements, too many to interpret");
  return shape;
}

llvm::Expected<std::vector<int64_t>> interp::getStrides(const Parameter &parameter, ArrayRef<int64_t> shape,
                                                        const DimMap &dims) {
  if (parameter.strides.empty()) {
    SmallVector<int64_t> strides = getRowMajor(shape);
    return std::vector<int64_t>(strides.begin(), strides.end());
  }
  std::vector<int64_t> strides;
  for (const DimExpr &stride : parameter.strides) {
    llvm::Expected<int64_t> value = stride.evaluate(dims);
    if (!value)
      return makeError("stride '" + stride.str() + "' of '" + parameter.name +
                       "': " + llvm::toString(value.takeError()));
    if (*value < 0)
      return makeError("stride '" + stride.str() + "' of '" + parameter.name + "' is " + llvm::Twine(*value) +
                       "; it must not be negative");
    strides.push_back(*value);
  }
  return strides;
}

llvm::Expected<int64_t> interp::getSpan(const Parameter &parameter, ArrayRef<int64_t> shape,
                                        ArrayRef<int64_t> strides) {
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t last = 0, part;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides))
    if (llvm::MulOverflow(extent - 1, stride, part) || llvm::AddOverflow(last, part, last) || last >= maxElements)
      return makeError("'" + parameter.name + "' with its strides spans more than " + llvm::Twine(maxElements) +
                       " elements, too many to interpret");
  return last + 1;
}

llvm::Error interp::checkConstraints(func::FuncOp function, const DimMap &dims) {
  auto constraints = function->getAttrOfType<ArrayAttr>("atx.constraints");
  for (Attribute attribute : constraints ? constraints.getValue() : ArrayRef<Attribute>()) {
    auto text = dyn_cast<StringAttr>(attribute);
    if (!text)
      continue;
    llvm::Expected<DimComparison> comparison = DimComparison::parse(text.getValue());
    if (!comparison)
      return comparison.takeError();
    llvm::Expected<bool> holds = comparison->evaluate(dims);
    if (!holds)
      return makeError("constraint '" + comparison->str() + "': " + llvm::toString(holds.takeError()));
    if (!*holds)
      return makeError("constraint '" + comparison->str() + "' of '" + function.getName() + "' does not hold for " +
                       comparison->describeDims(dims));
  }
  return llvm::Error::success();
}

/// Elements from bytes.
static std::vector<Number> decode(const Parameter &parameter, ArrayRef<uint8_t> bytes, int64_t count) {
  std::vector<Number> elements(count);
  for (size_t i = 0; i < elements.size(); ++i) {
    elements[i].bits = parameter.loadBits(bytes, i);
    // Any byte that is not 0 is true.
    if (parameter.element.bits == 1)
      elements[i].bits = elements[i].bits != 0;
    else if (parameter.element.bits < 64)
      elements[i].bits &= (uint64_t(1) << parameter.element.bits) - 1;
  }
  return elements;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

FailureOr<RunResult> interp::run(func::FuncOp function, ArrayRef<Parameter> parameters, ArrayRef<HostTensor> tensors,
                                 const llvm::DenseMap<unsigned, uint64_t> &scalars, const RunOptions &options) {
  Interpreter interpreter(options);
  bool isKernel = function->hasAttr(atx::kernelAttrName), isPlan = function->hasAttr(atx::planAttrName);
  Block &body = function.getBody().front();

  int64_t total = 0;
  for (const Parameter &parameter : parameters) {
    BlockArgument argument = function.getArgument(parameter.index);
    if (!parameter.isTensor) {
      auto found = scalars.find(parameter.index);
      if (found == scalars.end())
        return function.emitError() << "parameter '" << parameter.name << "' has no value";
      Number number;
      number.bits = found->second;
      interpreter.set(argument, Array(parameter.element, number));
      continue;
    }
    const HostTensor &tensor = tensors[parameter.index];
    std::vector<int64_t> strides = tensor.strides;
    if (strides.empty())
      llvm::append_range(strides, getRowMajor(tensor.shape));
    llvm::Expected<int64_t> count = getSpan(parameter, tensor.shape, strides);
    if (!count)
      return function.emitError() << llvm::toString(count.takeError());
    total += *count;
    if (total > options.maxLiveElements)
      return function.emitError() << "the tensors up to '" << parameter.name << "' have " << total
                                  << " elements together; at most " << options.maxLiveElements << " can be interpreted";
    bool isUnset = tensor.bytes.empty() && parameter.isWorkspace;
    if (!isUnset && tensor.bytes.size() != parameter.getBytes(*count))
      return function.emitError() << "parameter '" << parameter.name << "' has " << tensor.bytes.size()
                                  << " bytes, which its shape does not account for";
    std::vector<Number> elements =
        isUnset ? std::vector<Number>(*count, makePoison()) : decode(parameter, tensor.bytes, *count);
    if (!isKernel && !isPlan) {
      Array array(parameter.element, tensor.shape);
      array.edit() = std::move(elements);
      interpreter.set(argument, std::move(array));
      continue;
    }
    Memory memory;
    memory.buffer = std::make_shared<Buffer>();
    memory.buffer->type = parameter.element;
    memory.buffer->elements = std::move(elements);
    memory.buffer->name = parameter.name;
    memory.shape.assign(tensor.shape.begin(), tensor.shape.end());
    memory.strides.assign(strides.begin(), strides.end());
    interpreter.set(argument, std::move(memory));
  }

  RunResult result;
  if (isKernel || isPlan) {
    if (isKernel ? failed(runWorkgroups(interpreter, function, options.dims)) : failed(interpreter.executeBlock(body)))
      return failure();
    for (const Parameter &parameter : parameters) {
      if (!parameter.isTensor || !parameter.isOutput)
        continue;
      const auto &memory = std::get<Memory>(interpreter.get(function.getArgument(parameter.index)));
      Output output;
      output.parameter = parameter.index;
      output.value = Array(parameter.element, memory.shape);
      output.value.edit() = gather<Number>(memory.buffer->elements, memory.shape, memory.strides);
      result.outputs.push_back(std::move(output));
    }
  } else {
    FailureOr<SmallVector<RuntimeValue>> values = interpreter.executeBlock(body);
    if (failed(values))
      return failure();
    size_t next = 0;
    for (const Parameter &parameter : parameters) {
      if (!parameter.isTensor || !parameter.isOutput)
        continue;
      const Array *array = next < values->size() ? std::get_if<Array>(&(*values)[next]) : nullptr;
      ++next;
      if (!array || array->getShape() != ArrayRef<int64_t>(tensors[parameter.index].shape))
        return function.emitError() << "result " << next - 1 << " does not have the shape of output '" << parameter.name
                                    << "'";
      result.outputs.push_back({parameter.index, *array});
    }
  }

  for (Output &output : result.outputs) {
    const Parameter &parameter = parameters[output.parameter];
    for (int64_t i = 0; i < output.value.size(); ++i) {
      if (!interpreter.statistics.tainted.empty())
        output.value.edit()[i].bound = undetermined;
      const Number &number = output.value[i];
      if (number.poison && interpreter.statistics.tainted.empty())
        return function.emitError() << "element " << i << " (row-major) of output '" << parameter.name
                                    << "' is the result of an undefined operation: a division by zero, a shift "
                                       "beyond the width, a conversion out of range, or memory that nothing wrote";
      ++(number.isUndetermined() ? interpreter.statistics.undetermined
         : number.isExact()      ? interpreter.statistics.exact
                                 : interpreter.statistics.bounded);
    }
  }
  result.statistics = interpreter.statistics;
  return result;
}
