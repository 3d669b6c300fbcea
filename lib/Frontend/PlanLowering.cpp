//===- PlanLowering.cpp - Operators that launch kernels -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operator becomes a plan. What stands between launches becomes operators of
// their own, which the plan launches too; a schedule makes kernels of them.
//
//===----------------------------------------------------------------------===//
#include "ElementwiseLowering.h"
#include "SignatureLowering.h"
#include "atrex/Frontend/DimAlgebra.h"
#include "atrex/Frontend/Lowering.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace atrex;
using namespace atrex::frontend;
using namespace mlir;

namespace {

class PlanLowering {
public:
  PlanLowering(const Operator &op, ModuleOp module, Diagnostics &diags)
      : op(op), module(module), diags(diags), b(module.getContext()) {}

  void run();

private:
  MemRefType getMemoryType(ArrayRef<Extent> shape, DataType type) {
    return MemRefType::get(getStaticShape(shape), getMLIRType(b.getContext(), type));
  }
  mlir::Value getIndex(const DimExpr &expr, Location loc);
  /// A workspace for `node`.
  mlir::Value allocate(const Node &node);
  /// The memory of a tensor, or a scalar.
  mlir::Value getOperand(const Node &node);
  /// Computes tensors into memory.
  void lowerPart(ArrayRef<const Node *> values, ArrayRef<mlir::Value> targets);
  void lowerLaunch(const Node &node, const Node::Launch &launch);

  const Operator &op;
  ModuleOp module;
  Diagnostics &diags;
  OpBuilder b;
  Block *entry = nullptr;
  /// Memory of tensors that are there.
  DenseMap<const Node *, mlir::Value> memory;
  llvm::StringMap<mlir::Value> indices;
  llvm::StringMap<std::pair<mlir::Value, unsigned>> carriers;
  unsigned numWorkspaces = 0, numParts = 0;
};

} // namespace

mlir::Value PlanLowering::getIndex(const DimExpr &expr, Location loc) {
  mlir::Value &known = indices[expr.str()];
  if (known)
    return known;
  mlir::Value value;
  if (std::optional<int64_t> constant = expr.getConstant()) {
    value = arith::ConstantIndexOp::create(b, loc, *constant);
  } else if (auto carrier = carriers.find(simplify(expr).str()); carrier != carriers.end()) {
    value = memref::DimOp::create(b, loc, carrier->second.first, carrier->second.second);
  } else {
    mlir::Value lhs = getIndex(expr.getLhs(), loc), rhs = getIndex(expr.getRhs(), loc);
    value = createDimOperation(b, loc, expr.getKind(), lhs, rhs);
  }
  return indices[expr.str()] = value;
}

mlir::Value PlanLowering::allocate(const Node &node) {
  Location loc = diags.getLocation(node.loc);
  if (!node.name.empty())
    loc = NameLoc::get(b.getStringAttr(node.name), loc);
  SmallVector<mlir::Value> sizes;
  for (const Extent &extent : node.shape)
    if (!extent.constant)
      sizes.push_back(getIndex(extent.value, loc));
  auto alloc = memref::AllocOp::create(b, loc, getMemoryType(node.shape, node.type), sizes);
  alloc->setAttr(atx::nameAttrName, b.getStringAttr("workspace." + std::to_string(numWorkspaces++)));
  return alloc;
}

mlir::Value PlanLowering::getOperand(const Node &node) {
  Location loc = diags.getLocation(node.loc);
  if (auto *literal = std::get_if<Node::Literal>(&node.op))
    return arith::ConstantOp::create(b, loc, makeLiteralAttr(b.getContext(), node.type, literal->value));
  auto known = memory.find(&node);
  if (known != memory.end())
    return known->second;
  mlir::Value target = allocate(node);
  lowerPart(&node, target);
  memory[&node] = target;
  return target;
}

void PlanLowering::lowerPart(ArrayRef<const Node *> values, ArrayRef<mlir::Value> targets) {
  // What has to be computed, up to what is there.
  DenseSet<const Node *> needed;
  SmallVector<const Node *> work(values);
  while (!work.empty()) {
    const Node *node = work.pop_back_val();
    if (needed.insert(node).second && !memory.count(node))
      llvm::append_range(work, node->operands);
  }
  Operator part;
  part.name = op.name + ".part" + std::to_string(numParts++);
  part.loc = values.front()->loc;
  part.runtimeDims = op.runtimeDims;
  part.constraints = op.constraints;
  SmallVector<mlir::Value> args;
  DenseMap<const Node *, Node *> copies;
  auto addParam = [&](const Node &node) {
    Variable variable;
    variable.name = "x" + std::to_string(part.params.size());
    variable.loc = node.loc;
    variable.type = node.type;
    variable.isScalar = node.isScalar;
    variable.shape = node.shape;
    auto copy = std::make_unique<Node>();
    copy->op = Node::Param{unsigned(part.params.size())};
    copy->type = node.type;
    copy->isScalar = node.isScalar;
    copy->shape = node.shape;
    copy->loc = node.loc;
    part.params.push_back(std::move(variable));
    args.push_back(memory.lookup(&node));
    part.nodes.push_back(std::move(copy));
    return part.nodes.back().get();
  };
  for (const std::unique_ptr<Node> &node : op.nodes) {
    if (!needed.contains(node.get()))
      continue;
    if (memory.count(node.get())) {
      copies[node.get()] = addParam(*node);
      continue;
    }
    auto copy = std::make_unique<Node>();
    std::visit(
        [&](const auto &alternative) {
          using T = std::decay_t<decltype(alternative)>;
          if constexpr (std::is_copy_constructible_v<T>)
            copy->op = alternative;
        },
        node->op);
    copy->type = node->type;
    copy->isScalar = node->isScalar;
    copy->shape = node->shape;
    copy->loc = node->loc;
    for (const Node *operand : node->operands)
      copy->operands.push_back(copies[operand]);
    copies[node.get()] = copy.get();
    part.nodes.push_back(std::move(copy));
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    Variable variable;
    variable.name = "value" + std::to_string(i);
    variable.loc = value->loc;
    variable.type = value->type;
    variable.shape = value->shape;
    // A single value fills the whole result.
    auto type = cast<MemRefType>(targets[i].getType());
    if (value->shape.size() != size_t(type.getRank()))
      for (const Variable &result : op.results)
        if (&result - op.results.data() < ptrdiff_t(op.values.size()) &&
            op.values[&result - op.results.data()] == value && result.shape.size() == size_t(type.getRank()))
          variable.shape = result.shape;
    part.results.push_back(std::move(variable));
    part.values.push_back(copies[value]);
    part.valueLocs.push_back(value->loc);
  }
  // Run-time dimensions come from the shapes of tensors.
  for (const std::string &dim : part.runtimeDims) {
    auto standsAlone = [&](const Variable &variable) {
      return llvm::any_of(variable.shape, [&](const Extent &extent) { return extent.valueKey == dim; });
    };
    if (llvm::any_of(part.params, standsAlone) || llvm::any_of(part.results, standsAlone))
      continue;
    for (const std::unique_ptr<Node> &node : op.nodes)
      if (auto *param = std::get_if<Node::Param>(&node->op); param && standsAlone(op.params[param->index])) {
        addParam(*node);
        break;
      }
  }
  // A dimension that only results have is not needed by a part without them.
  llvm::erase_if(part.runtimeDims, [&](const std::string &dim) {
    auto standsAlone = [&](const Variable &variable) {
      return llvm::any_of(variable.shape, [&](const Extent &extent) { return extent.valueKey == dim; });
    };
    return llvm::none_of(part.params, standsAlone) && llvm::none_of(part.results, standsAlone);
  });
  part.constraints.clear();
  {
    OpBuilder::InsertionGuard guard(b);
    lower(part, module, diags);
  }
  llvm::append_range(args, targets);
  atx::LaunchOp::create(b, diags.getLocation(part.loc), part.name, args, mlir::Value(), ValueRange());
}

void PlanLowering::lowerLaunch(const Node &node, const Node::Launch &launch) {
  Location loc = diags.getLocation(node.loc);
  const Operator &kernel = *op.kernels[launch.kernel];
  auto func = module.lookupSymbol<func::FuncOp>(kernel.name);
  ArrayRef<Node *> operands(node.operands);
  SmallVector<mlir::Value> args, results(launch.numResults);
  for (const Node *operand : operands.take_front(kernel.params.size()))
    args.push_back(getOperand(*operand));
  mlir::Value count = launch.hasCount ? getOperand(*operands.back()) : mlir::Value();
  for (const std::unique_ptr<Node> &user : op.nodes) {
    auto *extract = std::get_if<Node::ExtractResult>(&user->op);
    if (!extract || user->operands.front() != &node)
      continue;
    // Straight into a result of the operator that cannot be a parameter's memory.
    mlir::Value target;
    for (auto [i, value] : llvm::enumerate(op.values))
      if (!target && value == user.get() &&
          llvm::none_of(op.params, [&, i = i](const Variable &p) { return p.name == op.results[i].name; }))
        target = entry->getArgument(op.params.size() + i);
    if (!target)
      target = allocate(*user);
    memory[user.get()] = target;
    results[extract->index] = target;
  }
  llvm::append_range(args, results);
  // Run-time dimensions stand behind parameters and results.
  for (unsigned i = args.size(); i < func.getNumArguments(); ++i) {
    auto name = func.getArgAttrOfType<StringAttr>(i, atx::nameAttrName);
    auto dim = llvm::find_if(launch.dims, [&](const auto &entry) { return name && entry.first == name.getValue(); });
    args.push_back(dim == launch.dims.end() ? mlir::Value() : getIndex(dim->second, loc));
  }
  // Memory with strides or an offset is another type for the kernel.
  for (auto [arg, type] : llvm::zip_equal(args, func.getArgumentTypes()))
    if (arg && arg.getType() != type && isa<MemRefType>(type) && isa<MemRefType>(arg.getType()))
      diags.error(node.loc) << "kernel '" << kernel.name
                            << "' takes a tensor with strides, which a launch does not pass";
  if (diags.getNumErrors() || llvm::is_contained(args, mlir::Value()))
    return;
  SmallVector<mlir::Value> at;
  for (const DimExpr &index : launch.countIndices)
    at.push_back(getIndex(index, loc));
  atx::LaunchOp::create(b, loc, kernel.name, args, count, at);
}

void PlanLowering::run() {
  for (const std::unique_ptr<Operator> &kernel : op.kernels)
    lowerKernel(*kernel, module, diags);
  if (diags.getNumErrors())
    return;

  SmallVector<Type> types;
  SmallVector<Location> locs;
  SmallVector<Attribute> argAttrs;
  auto addArg = [&](const Variable &variable, bool isOutput) {
    types.push_back(variable.isScalar ? getMLIRType(b.getContext(), variable.type)
                                      : Type(getMemoryType(variable.shape, variable.type)));
    argAttrs.push_back(b.getDictionaryAttr(getArgumentAttrs(b, variable, isOutput)));
    locs.push_back(diags.getLocation(variable.loc));
  };
  for (const Variable &param : op.params)
    addArg(param, /*isOutput=*/false);
  for (const Variable &result : op.results)
    addArg(result, /*isOutput=*/true);
  b.setInsertionPointToEnd(module.getBody());
  auto plan = func::FuncOp::create(b, diags.getLocation(op.loc), op.name, b.getFunctionType(types, {}));
  plan->setAttr(atx::planAttrName, b.getUnitAttr());
  setSignatureAttrs(plan, op);
  plan.setAllArgAttrs(argAttrs);
  entry = &plan.getBody().emplaceBlock();
  entry->addArguments(types, locs);
  for (auto [i, variable] : llvm::enumerate(llvm::concat<const Variable>(op.params, op.results)))
    for (auto [axis, extent] : llvm::enumerate(variable.shape))
      carriers.try_emplace(extent.valueKey, entry->getArgument(i), axis);
  b.setInsertionPointToStart(entry);

  DenseSet<const Node *> live(op.values.begin(), op.values.end());
  for (const std::unique_ptr<Node> &node : llvm::reverse(op.nodes))
    if (live.contains(node.get()) || std::holds_alternative<Node::Launch>(node->op)) {
      live.insert(node.get());
      live.insert(node->operands.begin(), node->operands.end());
    }
  for (const std::unique_ptr<Node> &node : op.nodes) {
    if (auto *param = std::get_if<Node::Param>(&node->op))
      memory[node.get()] = entry->getArgument(param->index);
    else if (auto *launch = std::get_if<Node::Launch>(&node->op); launch && live.contains(node.get()))
      lowerLaunch(*node, *launch);
    if (diags.getNumErrors())
      return;
  }
  // Results that no launch wrote.
  SmallVector<const Node *> values;
  SmallVector<mlir::Value> targets;
  for (auto [i, value] : llvm::enumerate(op.values)) {
    mlir::Value output = entry->getArgument(op.params.size() + i);
    if (memory.lookup(value) == output)
      continue;
    values.push_back(value);
    targets.push_back(output);
  }
  if (!values.empty())
    lowerPart(values, targets);
  func::ReturnOp::create(b, plan.getLoc());
}

void atrex::frontend::lowerPlan(const Operator &op, ModuleOp module, Diagnostics &diags) {
  PlanLowering(op, module, diags).run();
}
