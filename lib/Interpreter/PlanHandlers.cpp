//===- PlanHandlers.cpp - Launches, one after the other -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a plan is executed like any other: workspaces are memory that
// nothing wrote, and a launch runs all workgroups of its kernel, or an operator
// on the contents of its memory.
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::interp;

LogicalResult interp::runWorkgroups(Interpreter &interpreter, func::FuncOp kernel, const DimMap &dims,
                                    std::optional<int64_t> count) {
  interpreter.grid = {1, 1, 1};
  auto grid = kernel->getAttrOfType<ArrayAttr>(atx::gridAttrName);
  if (grid && grid.size() > 3)
    return kernel.emitError() << "'atx.grid' has " << grid.size() << " axes, at most 3";
  for (auto [axis, attribute] : llvm::enumerate(grid ? grid.getValue() : ArrayRef<Attribute>())) {
    auto text = dyn_cast<StringAttr>(attribute);
    if (!text)
      return kernel.emitError() << "expected a dimension expression in 'atx.grid', got " << attribute;
    llvm::Expected<DimExpr> expr = DimExpr::parse(text.getValue());
    llvm::Expected<int64_t> value = expr ? expr->evaluate(dims) : llvm::Expected<int64_t>(expr.takeError());
    if (!value)
      return kernel.emitError() << "grid '" << text.getValue() << "': " << llvm::toString(value.takeError());
    if (*value < 0 || *value > INT32_MAX)
      return kernel.emitError() << "grid '" << text.getValue() << "' is " << *value << ", which no launch can have";
    interpreter.grid[axis] = *value;
  }
  std::optional<int64_t> total = countElements(interpreter.grid);
  if (!total)
    return kernel.emitError() << "the grid has too many workgroups to interpret";
  interpreter.severalWorkgroups = *total > 1;
  for (int64_t block = 0; block < *total; ++block) {
    interpreter.linearBlock = block;
    interpreter.block = {block % interpreter.grid[0], block / interpreter.grid[0] % interpreter.grid[1],
                         block / interpreter.grid[0] / interpreter.grid[1]};
    if (count && interpreter.block[0] >= *count)
      continue;
    if (failed(interpreter.executeBlock(kernel.getBody().front())))
      return failure();
  }
  return success();
}

/// What a memory location was written by says nothing to the next launch.
static void endLaunch(const Memory &memory) {
  memory.buffer->writer.clear();
  memory.buffer->atomics.clear();
  memory.buffer->sums.clear();
}

static LogicalResult executeAlloc(Interpreter &interpreter, Operation *op) {
  auto alloc = cast<memref::AllocOp>(op);
  MemRefType type = alloc.getType();
  Memory memory;
  auto size = alloc.getDynamicSizes().begin();
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent)) {
      FailureOr<int64_t> value = getKnownInteger(interpreter, op, *size++);
      if (failed(value))
        return failure();
      extent = *value;
    }
    memory.shape.push_back(extent);
  }
  std::optional<ElementType> element = ElementType::get(type.getElementType());
  if (!element)
    return op->emitError() << "the interpreter has no elements of type " << type.getElementType();
  FailureOr<Array> contents = interpreter.allocate(op, *element, memory.shape);
  if (failed(contents))
    return failure();
  memory.buffer = std::make_shared<Buffer>();
  memory.buffer->type = *element;
  memory.buffer->elements.assign(contents->size(), makePoison());
  if (auto name = alloc->getAttrOfType<StringAttr>(atx::nameAttrName))
    memory.buffer->name = name.str();
  memory.strides = getRowMajor(memory.shape);
  interpreter.set(op->getResult(0), std::move(memory));
  return success();
}

/// The element of a tensor that says how many workgroups do anything.
static FailureOr<int64_t> readCount(Interpreter &interpreter, atx::LaunchOp launch) {
  const Memory *memory = std::get_if<Memory>(&interpreter.get(launch.getCountMemory()));
  if (!memory || memory->shape.size() != launch.getCountIndices().size()) {
    launch.emitError() << "the count is no element of memory that the interpreter has seen made";
    return failure();
  }
  int64_t offset = 0;
  for (auto [axis, index] : llvm::enumerate(launch.getCountIndices())) {
    FailureOr<int64_t> at = getKnownInteger(interpreter, launch, index);
    if (failed(at))
      return failure();
    // As any load: 0 outside of the tensor.
    if (*at < 0 || *at >= memory->shape[axis])
      return 0;
    offset += *at * memory->strides[axis];
  }
  const Number &number = memory->buffer->elements[offset];
  if (number.poison) {
    launch.emitError() << "nothing wrote the count of this launch before";
    return failure();
  }
  if (!number.isExact())
    interpreter.taint(launch, "an undetermined count of workgroups");
  return toSigned(number, memory->buffer->type);
}

/// An operator on memory: its results are written when all of them are there.
static LogicalResult launchOperator(Interpreter &interpreter, atx::LaunchOp launch, func::FuncOp callee) {
  // Copies: a new value may move the ones that are there.
  SmallVector<Memory> outputs;
  for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), launch.getArgs())) {
    const Memory *memory = std::get_if<Memory>(&interpreter.get(operand));
    if (!memory) {
      interpreter.set(argument, interpreter.get(operand));
      continue;
    }
    if (callee.getArgAttr(argument.getArgNumber(), atx::outputAttrName))
      outputs.push_back(*memory);
    Array array(memory->buffer->type, memory->shape);
    array.edit() = gather<Number>(memory->buffer->elements, memory->shape, memory->strides);
    interpreter.set(argument, std::move(array));
  }
  FailureOr<SmallVector<RuntimeValue>> results = interpreter.executeBlock(callee.getBody().front());
  if (failed(results))
    return failure();
  if (results->size() != outputs.size())
    return launch.emitError() << "operator '" << callee.getName() << "' returns " << results->size()
                              << " values and has " << outputs.size() << " outputs";
  for (auto [memory, result] : llvm::zip_equal(outputs, *results)) {
    const Array *array = std::get_if<Array>(&result);
    if (!array || array->getShape() != ArrayRef<int64_t>(memory.shape))
      return launch.emitError() << "a result of operator '" << callee.getName()
                                << "' does not have the shape of its memory";
    forEachIndex(memory.shape, [&](ArrayRef<int64_t> index, int64_t i) {
      int64_t offset = 0;
      for (auto [at, stride] : llvm::zip_equal(index, memory.strides))
        offset += at * stride;
      Number number = (*array)[i];
      number.slack = 0;
      memory.buffer->elements[offset] = number;
    });
  }
  return success();
}

static LogicalResult launchKernel(Interpreter &interpreter, atx::LaunchOp launch, func::FuncOp callee) {
  // Dimensions from the arguments that are some, and from shapes.
  DimMap dims;
  for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), launch.getArgs())) {
    unsigned index = argument.getArgNumber();
    interpreter.set(argument, interpreter.get(operand));
    const Memory *memory = std::get_if<Memory>(&interpreter.get(operand));
    auto shape = callee.getArgAttrOfType<ArrayAttr>(index, atx::shapeAttrName);
    if (memory && shape && shape.size() == memory->shape.size()) {
      for (auto [extent, text] : llvm::zip_equal(memory->shape, shape.getAsRange<Attribute>()))
        if (auto name = dyn_cast<StringAttr>(text))
          dims.try_emplace(name.getValue(), extent);
      continue;
    }
    auto name = callee.getArgAttrOfType<StringAttr>(index, atx::nameAttrName);
    if (argument.getType().isIndex() && name) {
      FailureOr<int64_t> value = getKnownInteger(interpreter, launch, operand);
      if (failed(value))
        return failure();
      dims[name.getValue()] = *value;
    }
  }
  if (llvm::Error error = checkConstraints(callee, dims))
    return launch.emitError() << llvm::toString(std::move(error));
  std::optional<int64_t> count;
  if (launch.getCountMemory()) {
    FailureOr<int64_t> value = readCount(interpreter, launch);
    if (failed(value))
      return failure();
    count = *value;
  }
  if (failed(runWorkgroups(interpreter, callee, dims, count)))
    return failure();
  for (mlir::Value operand : launch.getArgs())
    if (const Memory *memory = std::get_if<Memory>(&interpreter.get(operand)))
      endLaunch(*memory);
  return success();
}

void interp::addPlanHandlers(Interpreter &interpreter) {
  interpreter.addHandler("memref.alloc", executeAlloc);
  interpreter.addHandler("atx.launch", [](Interpreter &interpreter, Operation *op) -> LogicalResult {
    auto launch = cast<atx::LaunchOp>(op);
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, launch.getKernelAttr());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
      return op->emitError() << "the interpreter cannot see the body of '" << launch.getKernel() << "'";
    if (callee.getNumArguments() != launch.getArgs().size())
      return op->emitError() << "'" << launch.getKernel() << "' has " << callee.getNumArguments()
                             << " arguments, the launch passes " << launch.getArgs().size();
    return callee->hasAttr(atx::operatorAttrName) ? launchOperator(interpreter, launch, callee)
                                                  : launchKernel(interpreter, launch, callee);
  });
}
