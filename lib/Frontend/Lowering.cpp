//===- Lowering.cpp - Checked programs to MLIR ----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Lowering.h"
#include "ElementwiseLowering.h"
#include "SignatureLowering.h"
#include "atrex/Frontend/DimAlgebra.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <numbers>

using namespace atrex;
using namespace atrex::frontend;
using namespace mlir;

namespace {
/// A tensor read through a renaming of its axes. Adding an axis and
/// broadcasting need no operation of their own: they end up in indexing maps.
struct View {
  /// The tensor, or a scalar.
  mlir::Value base;
  /// For every axis of the value, the axis of `base`; -1 for an axis of extent
  /// 1 that `base` does not have. Ascending.
  SmallVector<int, 4> axes;
  /// Extents of `base`.
  Shape extents;
};

class OperatorLowering {
public:
  OperatorLowering(const Operator &op, ModuleOp module, const Diagnostics &diags)
      : op(op), module(module), diags(diags), b(module.getContext()) {}

  void run();

private:
  //===--- Types ----------------------------------------------------------===//

  Type getType(DataType type) { return getMLIRType(b.getContext(), type); }
  RankedTensorType getTensorType(ArrayRef<Extent> extents, DataType type) {
    SmallVector<int64_t> shape;
    for (const Extent &extent : extents)
      shape.push_back(extent.constant.value_or(ShapedType::kDynamic));
    return RankedTensorType::get(shape, getType(type));
  }
  Location getLoc(llvm::SMLoc loc) { return diags.getLocation(loc); }
  /// The position of a value, under its name.
  Location getLoc(const Node &node) {
    Location loc = getLoc(node.loc);
    return node.name.empty() ? loc : Location(NameLoc::get(b.getStringAttr(node.name), loc));
  }

  //===--- Function -------------------------------------------------------===//

  func::FuncOp createFunction();
  void chooseDestinations();
  void lowerNode(const Node &node);
  mlir::Value lowerResult(unsigned index);

  //===--- Extents and constants ------------------------------------------===//

  mlir::Value getIndex(const DimExpr &expr, Location loc);
  mlir::Value getIndexUncached(const DimExpr &expr, Location loc);
  OpFoldResult getIndexOrConstant(const DimExpr &expr, Location loc) {
    if (std::optional<int64_t> value = expr.getConstant())
      return b.getIndexAttr(*value);
    return getIndex(expr, loc);
  }
  OpFoldResult getExtent(const Extent &extent, Location loc) {
    if (extent.constant)
      return b.getIndexAttr(*extent.constant);
    return getIndex(extent.value, loc);
  }
  mlir::Value getIndexValue(OpFoldResult value, Location loc) {
    if (auto attr = dyn_cast<Attribute>(value))
      return getConstant(cast<TypedAttr>(attr), loc);
    return cast<mlir::Value>(value);
  }
  mlir::Value getConstant(TypedAttr attr, Location loc) {
    mlir::Value &constant = constants[attr];
    if (!constant)
      constant = arith::ConstantOp::create(b, loc, attr);
    return constant;
  }
  mlir::Value getConstant(DataType type, double value, Location loc) {
    return getConstant(makeFloat(type, value), loc);
  }
  TypedAttr makeFloat(DataType type, double value) { return makeFloatAttr(b.getContext(), type, value); }
  TypedAttr makeLiteral(DataType type, const std::variant<double, int64_t> &value) {
    return makeLiteralAttr(b.getContext(), type, value);
  }

  //===--- Values ---------------------------------------------------------===//

  mlir::Value lowerDim(const Node &node, const DimExpr &expr);
  View lowerCompute(const Node &node, Elementwise elementwise);
  View lowerReduce(const Node &node, const Node::Reduce &reduce);
  View lowerSubscript(const Node &node, const Node::Subscript &subscript);
  mlir::Value lowerScan(const Node &node, const Node::Scan &scan);
  mlir::Value lowerHistogram(const Node &node);
  mlir::Value lowerContract(const Node &node, const Node::Contract &contract);
  mlir::Value lowerReshape(const Node &node);
  mlir::Value lowerTranspose(const Node &node, ArrayRef<unsigned> axes);
  mlir::Value lowerBroadcast(const Node &source, ArrayRef<Extent> shape, Location loc);
  mlir::Value lowerConcat(const Node &node, unsigned axis);
  mlir::Value lowerIota(const Node &node);

  /// The scalar `node` in its compute type where `inComputeType`.
  mlir::Value getScalar(const Node &node, bool inComputeType);
  /// A tensor to compute `node` into: the result that it is assigned to, or a
  /// new one. Null for intermediate values.
  mlir::Value getInit(const Node *node, RankedTensorType type, ArrayRef<Extent> extents, Location loc);
  /// Removes an axis of extent 1 from the base of `view`.
  void dropAxis(View &view, unsigned axis, DataType type, Location loc);
  /// The value of a tensor node with all of its axes in their order.
  mlir::Value materialize(const Node &node);
  /// `value` with the static extents of `type`.
  mlir::Value castTo(mlir::Value value, RankedTensorType type, Location loc) {
    return value.getType() == type ? value : tensor::CastOp::create(b, loc, type, value).getResult();
  }
  AffineMap getMap(const View &view, ArrayRef<int> loops, unsigned numLoops);

  /// An elementwise operation of `inputs` in their order over all of `extents`.
  mlir::Value createGeneric(Location loc, ArrayRef<mlir::Value> inputs, ArrayRef<AffineMap> maps, mlir::Value init,
                            function_ref<mlir::Value(OpBuilder &, ValueRange)> body);

  const Operator &op;
  ModuleOp module;
  const Diagnostics &diags;
  OpBuilder b;
  Block *entry = nullptr;
  DenseMap<const Node *, View> views;
  /// Results of operations with several.
  DenseMap<const Node *, SmallVector<mlir::Value>> results;
  /// The result whose tensor a value is computed into.
  DenseMap<const Node *, unsigned> destinations;
  /// Extents by their text, and constants.
  llvm::StringMap<mlir::Value> indices;
  DenseMap<Attribute, mlir::Value> constants;
  /// Block arguments that carry an extent, by its text: argument and axis.
  llvm::StringMap<std::pair<mlir::Value, unsigned>> carriers;
  SmallVector<BlockArgument> outputs;
};

} // namespace

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

func::FuncOp OperatorLowering::createFunction() {
  SmallVector<Type> types, resultTypes;
  SmallVector<Attribute> argAttrs;
  auto addArg = [&](const Variable &variable, bool isOutput) {
    SmallVector<NamedAttribute> attrs = getArgumentAttrs(b, variable, isOutput);
    types.push_back(variable.isScalar ? getType(variable.type) : Type(getTensorType(variable.shape, variable.type)));
    if (!variable.isScalar)
      attrs.push_back(b.getNamedAttr(bufferization::BufferizationDialect::kWritableAttrName, b.getBoolAttr(isOutput)));
    argAttrs.push_back(b.getDictionaryAttr(attrs));
  };
  for (const Variable &param : op.params)
    addArg(param, /*isOutput=*/false);
  for (const Variable &variable : op.results) {
    addArg(variable, /*isOutput=*/true);
    resultTypes.push_back(types.back());
  }

  b.setInsertionPointToEnd(module.getBody());
  auto function =
      func::FuncOp::create(b, getLoc(op.loc), op.name, FunctionType::get(b.getContext(), types, resultTypes));
  function->setAttr(atx::operatorAttrName, b.getUnitAttr());
  setSignatureAttrs(function, op);
  function.setAllArgAttrs(argAttrs);

  SmallVector<Location> locs;
  for (const std::vector<Variable> *list : {&op.params, &op.results})
    for (const Variable &variable : *list)
      locs.push_back(getLoc(variable.loc));
  entry = &function.getBody().emplaceBlock();
  entry->addArguments(types, locs);
  outputs.assign(entry->args_begin() + op.params.size(), entry->args_end());
  for (auto [i, variable] : llvm::enumerate(llvm::concat<const Variable>(op.params, op.results)))
    for (auto [axis, extent] : llvm::enumerate(variable.shape))
      carriers.try_emplace(extent.valueKey, entry->getArgument(i), axis);
  b.setInsertionPointToStart(entry);
  return function;
}

void OperatorLowering::chooseDestinations() {
  for (auto [i, node] : llvm::enumerate(op.values)) {
    bool computes = std::holds_alternative<Node::Compute>(node->op) || std::holds_alternative<Node::Reduce>(node->op);
    if (computes && !node->isScalar)
      destinations.try_emplace(node, i);
  }
}

void OperatorLowering::run() {
  func::FuncOp function = createFunction();
  chooseDestinations();

  // Values that no result needs are left out. Users stand behind operands.
  DenseSet<const Node *> live(op.values.begin(), op.values.end());
  for (const std::unique_ptr<Node> &node : llvm::reverse(op.nodes))
    if (live.contains(node.get()))
      live.insert(node->operands.begin(), node->operands.end());
  for (const std::unique_ptr<Node> &node : op.nodes)
    if (live.contains(node.get()))
      lowerNode(*node);

  SmallVector<mlir::Value> values;
  for (unsigned i = 0; i < op.results.size(); ++i)
    values.push_back(lowerResult(i));
  func::ReturnOp::create(b, function.getLoc(), values);
}

void OperatorLowering::lowerNode(const Node &node) {
  View view;
  if (auto *param = std::get_if<Node::Param>(&node.op)) {
    view.base = entry->getArgument(param->index);
    view.axes = llvm::to_vector<4>(llvm::seq<int>(0, node.shape.size()));
    view.extents = node.shape;
  } else if (std::holds_alternative<Node::Literal>(node.op)) {
    // Made where it is used, in the type it is used in.
    return;
  } else if (auto *dim = std::get_if<Node::Dim>(&node.op)) {
    view.base = lowerDim(node, dim->value);
  } else if (auto *compute = std::get_if<Node::Compute>(&node.op)) {
    view = lowerCompute(node, compute->op);
  } else if (auto *reduce = std::get_if<Node::Reduce>(&node.op)) {
    view = lowerReduce(node, *reduce);
  } else if (auto *subscript = std::get_if<Node::Subscript>(&node.op)) {
    view = lowerSubscript(node, *subscript);
  } else if (auto *topk = std::get_if<Node::TopK>(&node.op)) {
    Location loc = getLoc(node);
    DataType type = node.operands.front()->type;
    auto op = atx::TensorTopkOp::create(b, loc, getTensorType(node.shape, type),
                                        getTensorType(node.shape, DataType::I32), materialize(*node.operands.front()),
                                        getIndexValue(getExtent(node.shape[topk->axis], loc), loc), topk->axis,
                                        topk->isSmallest, type == DataType::U8 || type == DataType::U32);
    results[&node] = {op.getValues(), op.getIndices()};
    return;
  } else {
    if (auto *scan = std::get_if<Node::Scan>(&node.op))
      view.base = lowerScan(node, *scan);
    else if (auto *extract = std::get_if<Node::ExtractResult>(&node.op))
      view.base = results[node.operands.front()][extract->index];
    else if (auto *rank = std::get_if<Node::Rank>(&node.op))
      view.base = atx::TensorRankOp::create(b, getLoc(node), getTensorType(node.shape, DataType::I32),
                                            materialize(*node.operands.front()), rank->axis);
    else if (std::holds_alternative<Node::Histogram>(node.op))
      view.base = lowerHistogram(node);
    else if (auto *contract = std::get_if<Node::Contract>(&node.op))
      view.base = lowerContract(node, *contract);
    else if (std::holds_alternative<Node::Reshape>(node.op))
      view.base = lowerReshape(node);
    else if (auto *transpose = std::get_if<Node::Transpose>(&node.op))
      view.base = lowerTranspose(node, transpose->axes);
    else if (std::holds_alternative<Node::Broadcast>(node.op))
      view.base = lowerBroadcast(*node.operands.front(), node.shape, getLoc(node));
    else if (auto *concat = std::get_if<Node::Concat>(&node.op))
      view.base = lowerConcat(node, concat->axis);
    else if (auto *take = std::get_if<Node::Take>(&node.op))
      view.base = atx::TensorTakeOp::create(b, getLoc(node), getTensorType(node.shape, node.type),
                                            materialize(*node.operands[0]), materialize(*node.operands[1]), take->axis);
    else
      view.base = lowerIota(node);
    view.axes = llvm::to_vector<4>(llvm::seq<int>(0, node.shape.size()));
    view.extents = node.shape;
  }
  views[&node] = std::move(view);
}

mlir::Value OperatorLowering::lowerResult(unsigned index) {
  const Node &node = *op.values[index];
  mlir::Value output = outputs[index];
  Location loc = getLoc(op.valueLocs[index]);
  if (node.isScalar) {
    mlir::Value scalar = getScalar(node, /*inComputeType=*/false);
    return linalg::FillOp::create(b, loc, scalar, output).getResult(0);
  }
  const View &view = views[&node];
  if (Operation *producer = view.base.getDefiningOp())
    if (auto generic = dyn_cast<linalg::GenericOp>(producer)) {
      // A reduction reaches the output through the fill of its neutral element.
      mlir::Value init = generic.getDpsInitOperand(0)->get();
      if (auto fill = init.getDefiningOp<linalg::FillOp>())
        init = fill.getOutputs().front();
      if (init == output)
        return view.base;
    }
  unsigned rank = op.results[index].shape.size();
  SmallVector<int> loops = llvm::to_vector(llvm::seq<int>(0, rank));
  AffineMap map = getMap(view, ArrayRef<int>(loops).take_back(view.axes.size()), rank);
  return createGeneric(loc, view.base, map, output, [](OpBuilder &, ValueRange args) { return args.front(); });
}

//===----------------------------------------------------------------------===//
// Extents and scalars
//===----------------------------------------------------------------------===//

mlir::Value OperatorLowering::getIndex(const DimExpr &expr, Location loc) {
  std::string key = expr.str();
  auto found = indices.find(key);
  if (found != indices.end())
    return found->second;
  mlir::Value value = getIndexUncached(expr, loc);
  indices[key] = value;
  return value;
}

mlir::Value OperatorLowering::getIndexUncached(const DimExpr &expr, Location loc) {
  if (std::optional<int64_t> value = expr.getConstant())
    return getConstant(b.getIndexAttr(*value), loc);
  auto carrier = carriers.find(simplify(expr).str());
  if (carrier != carriers.end()) {
    auto [tensor, axis] = carrier->second;
    return tensor::DimOp::create(b, loc, tensor, getConstant(b.getIndexAttr(axis), loc));
  }
  mlir::Value lhs = getIndex(expr.getLhs(), loc), rhs = getIndex(expr.getRhs(), loc);
  return createDimOperation(b, loc, expr.getKind(), lhs, rhs);
}

mlir::Value OperatorLowering::lowerDim(const Node &node, const DimExpr &expr) {
  Location loc = getLoc(node);
  DimExpr value = simplify(expr);
  if (std::optional<int64_t> constant = value.getConstant())
    return getConstant(makeDimAttr(b.getContext(), node.type, *constant), loc);
  return castDim(b, loc, node.type, getIndex(value, loc));
}

mlir::Value OperatorLowering::getScalar(const Node &node, bool inComputeType) {
  Location loc = getLoc(node);
  DataType type = inComputeType ? getComputeType(node.type) : node.type;
  if (auto *literal = std::get_if<Node::Literal>(&node.op))
    return getConstant(makeLiteral(type, literal->value), loc);
  return ElementwiseBuilder(b, loc).cast(views[&node].base, node.type, type);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

mlir::Value OperatorLowering::getInit(const Node *node, RankedTensorType type, ArrayRef<Extent> extents, Location loc) {
  auto destination = destinations.find(node);
  if (destination != destinations.end() && outputs[destination->second].getType() == type)
    return outputs[destination->second];
  SmallVector<OpFoldResult> sizes;
  for (const Extent &extent : extents)
    sizes.push_back(getExtent(extent, loc));
  return tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
}

void OperatorLowering::dropAxis(View &view, unsigned axis, DataType type, Location loc) {
  unsigned dropped = view.axes[axis];
  SmallVector<OpFoldResult> offsets(view.extents.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(view.extents.size(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (const Extent &extent : view.extents)
    sizes.push_back(getExtent(extent, loc));
  view.extents.erase(view.extents.begin() + dropped);
  view.base =
      tensor::ExtractSliceOp::create(b, loc, getTensorType(view.extents, type), view.base, offsets, sizes, strides);
  for (int &other : view.axes)
    other = other == int(dropped) ? -1 : other > int(dropped) ? other - 1 : other;
}

/// Indexing map of the base of `view`; `loops` has the loop of each axis of the
/// value.
AffineMap OperatorLowering::getMap(const View &view, ArrayRef<int> loops, unsigned numLoops) {
  SmallVector<AffineExpr> exprs;
  for (auto [axis, loop] : llvm::zip_equal(view.axes, loops))
    if (axis >= 0)
      exprs.push_back(b.getAffineDimExpr(loop));
  return AffineMap::get(numLoops, 0, exprs, b.getContext());
}

View OperatorLowering::lowerSubscript(const Node &node, const Node::Subscript &subscript) {
  View view = views[node.operands.front()];
  Location loc = getLoc(node);
  SmallVector<int, 4> axes;
  Shape extents = view.extents;
  SmallVector<OpFoldResult> offsets(extents.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(extents.size(), b.getIndexAttr(1));
  bool slices = false;
  unsigned source = 0;
  for (auto [item, extent] : llvm::zip_equal(subscript.items, node.shape)) {
    if (item.isNewAxis) {
      axes.push_back(-1);
      continue;
    }
    int axis = view.axes[source++];
    axes.push_back(axis);
    if (item.isFull)
      continue;
    slices = true;
    extents[axis] = extent;
    offsets[axis] = getIndexOrConstant(item.begin, loc);
  }
  view.axes = std::move(axes);
  if (!slices)
    return view;
  SmallVector<OpFoldResult> sizes;
  for (const Extent &extent : extents)
    sizes.push_back(getExtent(extent, loc));
  view.base =
      tensor::ExtractSliceOp::create(b, loc, getTensorType(extents, node.type), view.base, offsets, sizes, strides);
  view.extents = std::move(extents);
  return view;
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

mlir::Value OperatorLowering::createGeneric(Location loc, ArrayRef<mlir::Value> inputs, ArrayRef<AffineMap> maps,
                                            mlir::Value init, function_ref<mlir::Value(OpBuilder &, ValueRange)> body) {
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(b, loc, type, inputs, init, allMaps, iterators,
                                           [&](OpBuilder &builder, Location, ValueRange args) {
                                             linalg::YieldOp::create(builder, loc, body(builder, args));
                                           });
  return generic.getResult(0);
}

View OperatorLowering::lowerCompute(const Node &node, Elementwise elementwise) {
  Location loc = getLoc(node);
  bool computes = takesComputeType(elementwise);
  DataType operandType = node.operands.front()->type;
  View result;
  if (node.isScalar) {
    SmallVector<mlir::Value> operands;
    for (const Node *operand : node.operands)
      operands.push_back(getScalar(*operand, computes));
    result.base = ElementwiseBuilder(b, loc).create(elementwise, operandType, node.type, operands);
    return result;
  }

  // Axes that some operand really has become loops.
  unsigned rank = node.shape.size();
  SmallVector<bool> isCarried(rank, false);
  SmallVector<View, 0> operandViews(node.operands.size());
  for (auto [operand, view] : llvm::zip_equal(node.operands, operandViews)) {
    if (operand->isScalar)
      continue;
    view = views[operand];
    unsigned offset = rank - view.axes.size();
    for (unsigned i = 0; i < view.axes.size(); ++i) {
      if (view.axes[i] < 0)
        continue;
      if (operand->shape[i].isOne() && !node.shape[offset + i].isOne())
        dropAxis(view, i, operand->type, loc);
      else
        isCarried[offset + i] = true;
    }
  }
  SmallVector<int> loops;
  for (unsigned i = 0; i < rank; ++i) {
    loops.push_back(isCarried[i] ? int(result.extents.size()) : -1);
    if (isCarried[i])
      result.extents.push_back(node.shape[i]);
  }
  result.axes.assign(loops.begin(), loops.end());

  // Operands that read the same elements share an input.
  SmallVector<mlir::Value> inputs, scalars(node.operands.size());
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> inputOf(node.operands.size());
  for (unsigned i = 0; i < node.operands.size(); ++i) {
    const View &view = operandViews[i];
    if (node.operands[i]->isScalar) {
      scalars[i] = getScalar(*node.operands[i], computes);
      continue;
    }
    AffineMap map = getMap(view, ArrayRef<int>(loops).take_back(view.axes.size()), result.extents.size());
    unsigned input = 0;
    while (input < inputs.size() && (inputs[input] != view.base || maps[input] != map))
      ++input;
    if (input == inputs.size()) {
      inputs.push_back(view.base);
      maps.push_back(map);
    }
    inputOf[i] = input;
  }
  mlir::Value init = getInit(&node, getTensorType(result.extents, node.type), result.extents, loc);
  result.base = createGeneric(loc, inputs, maps, init, [&](OpBuilder &builder, ValueRange args) {
    SmallVector<mlir::Value> operands;
    SmallVector<mlir::Value> converted(inputs.size());
    for (unsigned i = 0; i < node.operands.size(); ++i) {
      if (scalars[i]) {
        operands.push_back(scalars[i]);
        continue;
      }
      mlir::Value &value = converted[inputOf[i]];
      if (!value) {
        DataType type = node.operands[i]->type;
        value = ElementwiseBuilder(builder, loc).cast(args[inputOf[i]], type, computes ? getComputeType(type) : type);
      }
      operands.push_back(value);
    }
    return ElementwiseBuilder(builder, loc).create(elementwise, operandType, node.type, operands);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

View OperatorLowering::lowerReduce(const Node &node, const Node::Reduce &reduce) {
  const Node &operand = *node.operands.front();
  const View &source = views[&operand];
  Location loc = getLoc(node);
  unsigned rank = source.extents.size();
  if (reduce.op == Reduction::ArgMax || reduce.op == Reduction::ArgMin) {
    View position;
    bool isUnsigned = operand.type == DataType::U8 || operand.type == DataType::U32;
    position.base = atx::TensorArgOp::create(b, loc, getTensorType(node.shape, DataType::I32),
                                             reduce.op == Reduction::ArgMax ? atx::TileReduceKind::ArgMax
                                                                            : atx::TileReduceKind::ArgMin,
                                             materialize(operand), reduce.axes.front(), isUnsigned);
    position.axes = llvm::to_vector<4>(llvm::seq<int>(0, node.shape.size()));
    position.extents = node.shape;
    return position;
  }

  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  for (unsigned axis : reduce.axes)
    if (source.axes[axis] >= 0)
      iterators[source.axes[axis]] = utils::IteratorType::reduction;

  View result;
  SmallVector<AffineExpr> kept;
  SmallVector<int> position(rank, -1);
  for (unsigned i = 0; i < rank; ++i) {
    if (iterators[i] == utils::IteratorType::reduction)
      continue;
    position[i] = kept.size();
    kept.push_back(b.getAffineDimExpr(i));
    result.extents.push_back(source.extents[i]);
  }
  for (auto [axis, baseAxis] : llvm::enumerate(source.axes))
    if (!llvm::is_contained(reduce.axes, axis))
      result.axes.push_back(baseAxis < 0 ? -1 : position[baseAxis]);

  // Only axes of extent 1 that the tensor does not have: nothing to combine.
  if (kept.size() == rank) {
    result.base = source.base;
    return result;
  }

  TypedAttr neutral = ElementwiseBuilder(b, loc).getNeutral(reduce.op, node.type);

  // The divisor of a mean: as a number, which does not overflow, and as factors.
  double count = 1;
  uint64_t staticCount = 1;
  SmallVector<const Extent *> unknown;
  for (unsigned i = 0; i < rank; ++i) {
    if (iterators[i] != utils::IteratorType::reduction)
      continue;
    const Extent &extent = source.extents[i];
    if (extent.constant) {
      count *= double(*extent.constant);
      staticCount *= uint64_t(*extent.constant);
    } else {
      unknown.push_back(&extent);
    }
  }
  bool divides = reduce.op == Reduction::Mean && (count != 1 || !unknown.empty());

  RankedTensorType type = getTensorType(result.extents, node.type);
  // A mean goes through an intermediate sum; only the quotient is the result.
  mlir::Value init = getInit(divides ? nullptr : &node, type, result.extents, loc);
  mlir::Value filled = linalg::FillOp::create(b, loc, getConstant(neutral, loc), init).getResult(0);
  AffineMap maps[] = {b.getMultiDimIdentityMap(rank), AffineMap::get(rank, 0, kept, b.getContext())};
  auto generic = linalg::GenericOp::create(
      b, loc, type, source.base, filled, maps, iterators, [&](OpBuilder &builder, Location, ValueRange args) {
        linalg::YieldOp::create(builder, loc,
                                ElementwiseBuilder(builder, loc).combine(reduce.op, node.type, args[0], args[1]));
      });
  result.base = generic.getResult(0);
  if (!divides)
    return result;

  // Multiplying by the reciprocal is exact for a power of two only.
  int exponent;
  bool isPowerOfTwo = unknown.empty() && std::frexp(count, &exponent) == 0.5 && exponent < 120;
  mlir::Value divisor;
  if (unknown.empty()) {
    divisor = getConstant(node.type, isPowerOfTwo ? 1 / count : count, loc);
  } else {
    mlir::Value extent;
    for (const Extent *factor : unknown) {
      mlir::Value index = getIndex(factor->value, loc);
      extent = extent ? arith::MulIOp::create(b, loc, extent, index).getResult() : index;
    }
    if (count != 1)
      extent = arith::MulIOp::create(b, loc, extent, getConstant(b.getIndexAttr(int64_t(staticCount)), loc));
    mlir::Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), extent);
    divisor = arith::SIToFPOp::create(b, loc, getType(node.type), wide);
  }
  result.base = createGeneric(loc, result.base, b.getMultiDimIdentityMap(type.getRank()),
                              getInit(&node, type, result.extents, loc), [&](OpBuilder &builder, ValueRange args) {
                                if (isPowerOfTwo)
                                  return arith::MulFOp::create(builder, loc, args[0], divisor, contract).getResult();
                                return arith::DivFOp::create(builder, loc, args[0], divisor, contract).getResult();
                              });
  return result;
}

//===----------------------------------------------------------------------===//
// Scans, order, products, shapes
//===----------------------------------------------------------------------===//

mlir::Value OperatorLowering::materialize(const Node &node) {
  const View &view = views[&node];
  Location loc = getLoc(node);
  RankedTensorType type = getTensorType(node.shape, node.type);
  bool isWhole = view.extents.size() == node.shape.size();
  for (auto [i, axis] : llvm::enumerate(view.axes))
    isWhole &= axis == int(i);
  if (isWhole)
    return castTo(view.base, type, loc);
  SmallVector<int> loops = llvm::to_vector(llvm::seq<int>(0, node.shape.size()));
  return createGeneric(loc, view.base, getMap(view, loops, loops.size()), getInit(nullptr, type, node.shape, loc),
                       [](OpBuilder &, ValueRange args) { return args.front(); });
}

mlir::Value OperatorLowering::lowerScan(const Node &node, const Node::Scan &scan) {
  bool isUnsigned = node.type == DataType::U8 || node.type == DataType::U32;
  atx::TileScanKind kind = atx::TileScanKind::Sum;
  switch (scan.op) {
  case Reduction::Prod:
    kind = atx::TileScanKind::Prod;
    break;
  case Reduction::Max:
    kind = isUnsigned ? atx::TileScanKind::UMax : atx::TileScanKind::Max;
    break;
  case Reduction::Min:
    kind = isUnsigned ? atx::TileScanKind::UMin : atx::TileScanKind::Min;
    break;
  default:
    break;
  }
  mlir::Value input = materialize(*node.operands.front());
  return atx::TensorScanOp::create(b, getLoc(node), input.getType(), kind, input, scan.axis, scan.isExclusive,
                                   scan.isReverse);
}

mlir::Value OperatorLowering::lowerHistogram(const Node &node) {
  Location loc = getLoc(node);
  const Node &x = *node.operands.front();
  mlir::Value mask = node.operands.size() > 1 ? lowerBroadcast(*node.operands[1], x.shape, loc) : mlir::Value();
  return atx::TensorHistogramOp::create(b, loc, getTensorType(node.shape, DataType::I32), materialize(x),
                                        getIndexValue(getExtent(node.shape.front(), loc), loc), mask,
                                        x.type == DataType::U8 || x.type == DataType::U32);
}

mlir::Value OperatorLowering::lowerContract(const Node &node, const Node::Contract &contract) {
  Location loc = getLoc(node);
  unsigned rank = node.shape.size();
  SmallVector<mlir::Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [operand, axes] : llvm::zip_equal(node.operands, contract.axes)) {
    inputs.push_back(materialize(*operand));
    SmallVector<AffineExpr> exprs;
    for (unsigned loop : axes)
      exprs.push_back(b.getAffineDimExpr(loop));
    maps.push_back(AffineMap::get(contract.numLoops, 0, exprs, b.getContext()));
  }
  RankedTensorType type = getTensorType(node.shape, node.type);
  mlir::Value init = getInit(nullptr, type, node.shape, loc);
  bool isSum = contract.numLoops > rank;
  if (isSum)
    init = linalg::FillOp::create(
               b, loc, getConstant(ElementwiseBuilder(b, loc).getNeutral(Reduction::Sum, node.type), loc), init)
               .getResult(0);
  SmallVector<AffineExpr> kept;
  for (unsigned i = 0; i < rank; ++i)
    kept.push_back(b.getAffineDimExpr(i));
  maps.push_back(AffineMap::get(contract.numLoops, 0, kept, b.getContext()));
  SmallVector<utils::IteratorType> iterators(contract.numLoops, utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, type, inputs, init, maps, iterators, [&](OpBuilder &builder, Location, ValueRange args) {
        ElementwiseBuilder e(builder, loc);
        mlir::Value value = e.cast(args[0], node.operands[0]->type, node.type);
        if (node.operands.size() > 1)
          value = e.create(Elementwise::Mul, node.type, node.type,
                           {value, e.cast(args[1], node.operands[1]->type, node.type)});
        if (isSum)
          value = e.combine(Reduction::Sum, node.type, args.back(), value);
        linalg::YieldOp::create(builder, loc, value);
      });
  return generic.getResult(0);
}

mlir::Value OperatorLowering::lowerReshape(const Node &node) {
  Location loc = getLoc(node);
  const Node &operand = *node.operands.front();
  mlir::Value value = materialize(operand);
  auto allAxes = [](size_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank)
      groups.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(0, rank)));
    return groups;
  };
  // Through one axis, or none when there is a single element.
  if (operand.shape.size() > 1)
    value = tensor::CollapseShapeOp::create(b, loc, value, allAxes(operand.shape.size()));
  RankedTensorType type = getTensorType(node.shape, node.type);
  auto flat = cast<RankedTensorType>(value.getType());
  if (node.shape.empty()) {
    // All extents are 1.
    value = castTo(value, RankedTensorType::get(SmallVector<int64_t>(flat.getRank(), 1), flat.getElementType()), loc);
    return flat.getRank()
               ? tensor::CollapseShapeOp::create(b, loc, type, value, ArrayRef<ReassociationIndices>()).getResult()
               : value;
  }
  if (flat.getRank() == 0)
    return tensor::ExpandShapeOp::create(b, loc, type, value, ArrayRef<ReassociationIndices>());
  int64_t count = 1;
  for (int64_t extent : type.getShape())
    count = ShapedType::isDynamic(extent) || ShapedType::isDynamic(count) ? ShapedType::kDynamic : count * extent;
  value = castTo(value, RankedTensorType::get(count, flat.getElementType()), loc);
  if (node.shape.size() == 1)
    return castTo(value, type, loc);
  SmallVector<OpFoldResult> sizes;
  for (const Extent &extent : node.shape)
    sizes.push_back(getExtent(extent, loc));
  return tensor::ExpandShapeOp::create(b, loc, type, value, allAxes(node.shape.size()), sizes);
}

mlir::Value OperatorLowering::lowerTranspose(const Node &node, ArrayRef<unsigned> axes) {
  Location loc = getLoc(node);
  SmallVector<AffineExpr> exprs(axes.size());
  for (auto [i, axis] : llvm::enumerate(axes))
    exprs[axis] = b.getAffineDimExpr(i);
  return createGeneric(loc, materialize(*node.operands.front()), AffineMap::get(axes.size(), 0, exprs, b.getContext()),
                       getInit(nullptr, getTensorType(node.shape, node.type), node.shape, loc),
                       [](OpBuilder &, ValueRange args) { return args.front(); });
}

mlir::Value OperatorLowering::lowerBroadcast(const Node &source, ArrayRef<Extent> shape, Location loc) {
  mlir::Value init = getInit(nullptr, getTensorType(shape, source.type), shape, loc);
  if (source.isScalar)
    return linalg::FillOp::create(b, loc, getScalar(source, /*inComputeType=*/false), init).getResult(0);
  View view = views[&source];
  unsigned offset = shape.size() - source.shape.size();
  for (unsigned i = 0; i < source.shape.size(); ++i)
    if (view.axes[i] >= 0 && source.shape[i].isOne() && !shape[offset + i].isOne())
      dropAxis(view, i, source.type, loc);
  SmallVector<int> loops = llvm::to_vector(llvm::seq<int>(offset, shape.size()));
  return createGeneric(loc, view.base, getMap(view, loops, shape.size()), init,
                       [](OpBuilder &, ValueRange args) { return args.front(); });
}

mlir::Value OperatorLowering::lowerConcat(const Node &node, unsigned axis) {
  Location loc = getLoc(node);
  RankedTensorType type = getTensorType(node.shape, node.type);
  SmallVector<mlir::Value> inputs;
  for (const Node *operand : node.operands) {
    mlir::Value input = materialize(*operand);
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = cast<RankedTensorType>(input.getType()).getDimSize(axis);
    inputs.push_back(castTo(input, RankedTensorType::get(shape, type.getElementType()), loc));
  }
  mlir::Value joined = tensor::ConcatOp::create(b, loc, axis, inputs);
  return castTo(joined, type, loc);
}

mlir::Value OperatorLowering::lowerIota(const Node &node) {
  Location loc = getLoc(node);
  return createGeneric(loc, {}, {}, getInit(nullptr, getTensorType(node.shape, node.type), node.shape, loc),
                       [&](OpBuilder &builder, ValueRange) {
                         mlir::Value index = linalg::IndexOp::create(builder, loc, 0);
                         return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index).getResult();
                       });
}

void atrex::frontend::lower(const Operator &op, ModuleOp module, const Diagnostics &diags) {
  OperatorLowering(op, module, diags).run();
}
