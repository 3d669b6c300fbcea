//===- RecordPlan.cpp - Launch plans as attributes ------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is host code: what it binds to the arguments of each launch goes to an
// attribute of the module, from which the manifest is written.
//
//===----------------------------------------------------------------------===//

#include "KernelGrid.h"
#include "OperatorExtents.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"

namespace atrex {
#define GEN_PASS_DEF_RECORDPLANPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class RecordPlan : public atrex::impl::RecordPlanPassBase<RecordPlan> {
public:
  using RecordPlanPassBase::RecordPlanPassBase;

  void runOnOperation() override {
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (func->hasAttr(atx::planAttrName) && failed(record(func)))
        return signalPassFailure();
  }

private:
  LogicalResult record(func::FuncOp plan);
  FailureOr<Attribute> describe(func::FuncOp plan, OperatorExtents &extents, Value operand);
  FailureOr<DictionaryAttr> bindDims(atx::LaunchOp launch, func::FuncOp kernel, OperatorExtents &extents);
  void addCount(atx::LaunchOp launch, func::FuncOp kernel);
};

} // namespace

/// What an argument of a launch is bound to.
FailureOr<Attribute> RecordPlan::describe(func::FuncOp plan, OperatorExtents &extents, Value operand) {
  Builder b(plan.getContext());
  SmallVector<NamedAttribute> info;
  auto add = [&](StringRef name, Attribute value) { info.push_back(b.getNamedAttr(name, value)); };
  if (operand.getType().isIndex()) {
    FailureOr<DimExpr> expr = extents.getIndex(operand);
    if (failed(expr))
      return failure();
    add("expr", b.getStringAttr(expr->str()));
    return Attribute(b.getDictionaryAttr(info));
  }
  auto arg = dyn_cast<BlockArgument>(operand);
  auto name = arg ? plan.getArgAttrOfType<StringAttr>(arg.getArgNumber(), atx::nameAttrName)
                  : operand.getDefiningOp()->getAttrOfType<StringAttr>(atx::nameAttrName);
  Attribute constant;
  if (!arg && matchPattern(operand, m_Constant(&constant))) {
    add("value", constant);
    return Attribute(b.getDictionaryAttr(info));
  }
  auto memory = dyn_cast<MemRefType>(operand.getType());
  if (!name || (!arg && !operand.getDefiningOp<memref::AllocOp>()))
    return emitError(operand.getLoc()) << "an argument of a launch is neither an argument of the plan nor a named "
                                       << "workspace nor a constant";
  add("name", name);
  if (!memory) {
    if (Attribute value = plan.getArgAttr(arg.getArgNumber(), atx::defaultAttrName))
      add("default", value);
    return Attribute(b.getDictionaryAttr(info));
  }
  FailureOr<SmallVector<DimExpr>> shape = extents.getShape(operand);
  if (failed(shape))
    return failure();
  add("shape", getShapeAttr(b.getContext(), *shape));
  if (!arg)
    add("workspace", b.getUnitAttr());
  else if (plan.getArgAttr(arg.getArgNumber(), atx::outputAttrName))
    add("output", b.getUnitAttr());
  return Attribute(b.getDictionaryAttr(info));
}

/// Run-time dimensions of the kernel by name, as expressions over those of the
/// plan: from the index arguments, and from the shapes of tensors.
FailureOr<DictionaryAttr> RecordPlan::bindDims(atx::LaunchOp launch, func::FuncOp kernel, OperatorExtents &extents) {
  Builder b(launch.getContext());
  NamedAttrList dims;
  auto names = kernel->getAttrOfType<ArrayAttr>(atx::dimsAttrName);
  if (!names)
    return b.getDictionaryAttr({});
  for (auto name : names.getAsRange<StringAttr>()) {
    std::optional<DimExpr> bound;
    for (auto [i, operand] : llvm::enumerate(launch.getArgs())) {
      if (bound)
        break;
      if (operand.getType().isIndex()) {
        if (kernel.getArgAttrOfType<StringAttr>(i, atx::nameAttrName) != name)
          continue;
        FailureOr<DimExpr> expr = extents.getIndex(operand);
        if (failed(expr))
          return failure();
        bound = *expr;
      } else if (auto shape = kernel.getArgAttrOfType<ArrayAttr>(i, atx::shapeAttrName)) {
        for (auto [axis, extent] : llvm::enumerate(shape))
          if (extent == name && !bound) {
            FailureOr<DimExpr> expr = extents.getExtent(operand, axis);
            if (failed(expr))
              return failure();
            bound = *expr;
          }
      }
    }
    if (!bound)
      return launch.emitError() << "dimension '" << name.getValue() << "' of '@" << kernel.getName()
                                << "' follows from none of its arguments";
    dims.set(name, b.getStringAttr(bound->str()));
  }
  return dims.getDictionary(b.getContext());
}

/// A copy of the kernel that does nothing in workgroups from the count on.
void RecordPlan::addCount(atx::LaunchOp launch, func::FuncOp kernel) {
  Location loc = launch.getLoc();
  func::FuncOp copy = kernel.clone();
  copy.setName((kernel.getName() + ".count").str());
  SymbolTable symbols(getOperation());
  symbols.insert(copy);
  OpBuilder b(copy);
  Block &entry = copy.getBody().front();
  SmallVector<Value> operands(launch.getArgs());
  auto addArg = [&](Value operand, StringRef name) {
    unsigned index = copy.getNumArguments();
    auto attrs = b.getDictionaryAttr(b.getNamedAttr(atx::nameAttrName, b.getStringAttr(name)));
    (void)copy.insertArgument(index, operand.getType(), attrs, loc);
    Value arg = copy.getArgument(index);
    operands.push_back(operand);
    return arg;
  };
  // Names of the language, because extents are texts of its expressions, and none
  // that the kernel has.
  llvm::StringSet<> taken;
  SmallVector<Attribute> dimNames;
  if (auto names = copy->getAttrOfType<ArrayAttr>(atx::dimsAttrName))
    llvm::append_range(dimNames, names);
  for (Attribute name : dimNames)
    taken.insert(cast<StringAttr>(name).getValue());
  for (unsigned i = 0; i < copy.getNumArguments(); ++i)
    if (auto name = copy.getArgAttrOfType<StringAttr>(i, atx::nameAttrName))
      taken.insert(name.getValue());
  auto makeName = [&](std::string name) {
    while (!taken.insert(name).second)
      name += "_";
    return name;
  };
  Value memory = addArg(launch.getCountMemory(), makeName("count"));
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<Attribute> shape;
  SmallVector<int64_t> dynamicAxes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      shape.push_back(b.getStringAttr(std::to_string(type.getDimSize(axis))));
      continue;
    }
    // A dimension of its own, found from the tensor, that the launch hands over.
    std::string name = makeName("count_extent" + std::to_string(axis));
    shape.push_back(b.getStringAttr(name));
    dimNames.push_back(shape.back());
    dynamicAxes.push_back(axis);
  }
  copy.setArgAttr(entry.getNumArguments() - 1, atx::shapeAttrName, b.getArrayAttr(shape));
  OpBuilder planBuilder(launch);
  for (int64_t axis : dynamicAxes)
    addArg(memref::DimOp::create(planBuilder, loc, launch.getCountMemory(), axis),
           cast<StringAttr>(shape[axis]).getValue());
  SmallVector<Value> indices;
  for (auto [i, index] : llvm::enumerate(launch.getCountIndices())) {
    std::string name = makeName("count_index" + std::to_string(i));
    indices.push_back(addArg(index, name));
    dimNames.push_back(b.getStringAttr(name));
  }
  copy->setAttr(atx::dimsAttrName, b.getArrayAttr(dimNames));

  Operation *first = &entry.front();
  Operation *terminator = entry.getTerminator();
  // Where the grid is reordered, the index is the one the kernel works with.
  Value block;
  for (Operation &op : entry)
    if (auto axis = op.getAttrOfType<IntegerAttr>(tileIndexAttrName); axis && axis.getInt() == 0) {
      block = op.getResult(0);
      first = op.getNextNode();
      break;
    }
  b.setInsertionPoint(first);
  Value count = atx::TileLoadOp::create(b, loc, b.getI32Type(), memory, indices, Value());
  if (!block)
    block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  block = arith::IndexCastOp::create(b, loc, b.getI32Type(), block);
  Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, block, count);
  auto guard = scf::IfOp::create(b, loc, isBelow, /*withElseRegion=*/false);
  guard.thenBlock()->getOperations().splice(guard.thenBlock()->begin(), entry.getOperations(), first->getIterator(),
                                            terminator->getIterator());
  b.setInsertionPoint(launch);
  atx::LaunchOp::create(b, loc, copy.getName(), operands, Value(), ValueRange());
  launch.erase();
}

LogicalResult RecordPlan::record(func::FuncOp plan) {
  ModuleOp module = getOperation();
  if (module->hasAttr(atx::planAttrName))
    return plan.emitError() << "the module has two plans; choose an operator with '--op'";
  for (auto launch : llvm::to_vector(plan.getOps<atx::LaunchOp>())) {
    auto kernel = module.lookupSymbol<func::FuncOp>(launch.getKernel());
    if (launch.getCountMemory() && kernel) {
      if (!kernel->hasAttr(atx::kernelAttrName))
        return launch.emitError() << "'count' belongs to kernels in tile form";
      addCount(launch, kernel);
    }
  }
  OperatorExtents extents(plan);
  if (failed(extents.initialize()))
    return failure();
  Builder b(&getContext());
  SmallVector<Attribute> launches;
  llvm::StringSet<> used;
  for (Operation &op : plan.getBody().front()) {
    auto launch = dyn_cast<atx::LaunchOp>(op);
    if (!launch) {
      if (isa<memref::AllocOp, func::ReturnOp>(op) || isMemoryEffectFree(&op))
        continue;
      return op.emitError() << "a plan launches kernels; it does nothing else";
    }
    auto kernel = module.lookupSymbol<func::FuncOp>(launch.getKernel());
    if (!kernel)
      return launch.emitError() << "there is no kernel '@" << launch.getKernel() << "'";
    used.insert(kernel.getName());
    SmallVector<Attribute> args;
    for (Value operand : launch.getArgs()) {
      FailureOr<Attribute> info = describe(plan, extents, operand);
      if (failed(info))
        return failure();
      args.push_back(*info);
    }
    FailureOr<DictionaryAttr> dims = bindDims(launch, kernel, extents);
    if (failed(dims))
      return failure();
    launches.push_back(
        b.getDictionaryAttr({b.getNamedAttr("kernel", b.getStringAttr(launch.getKernel())),
                             b.getNamedAttr("args", b.getArrayAttr(args)), b.getNamedAttr("dims", *dims)}));
  }
  if (launches.empty())
    return plan.emitError() << "the plan launches nothing";
  SmallVector<NamedAttribute> info = {b.getNamedAttr("name", b.getStringAttr(plan.getName())),
                                      b.getNamedAttr("launches", b.getArrayAttr(launches))};
  if (Attribute names = plan->getAttr(atx::dimsAttrName))
    info.push_back(b.getNamedAttr("dims", names));
  if (Attribute constraints = plan->getAttr("atx.constraints"))
    info.push_back(b.getNamedAttr("constraints", constraints));
  module->setAttr(atx::planAttrName, b.getDictionaryAttr(info));
  plan.erase();
  // What no launch uses is not compiled.
  for (auto func : llvm::to_vector(module.getOps<func::FuncOp>()))
    if ((func->hasAttr(atx::kernelAttrName) || func->hasAttr(atx::operatorAttrName)) && !used.contains(func.getName()))
      func.erase();
  return success();
}
