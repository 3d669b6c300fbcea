//===- KernelLowering.cpp - Checked kernels to tile form ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ElementwiseLowering.h"
#include "SignatureLowering.h"
#include "atrex/Frontend/DimAlgebra.h"
#include "atrex/Frontend/Lowering.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace atrex;
using namespace atrex::frontend;
using namespace mlir;
using mlir::Value;

namespace {
class KernelLowering {
public:
  KernelLowering(const Operator &kernel, ModuleOp module, Diagnostics &diags)
      : kernel(kernel), module(module), diags(diags), b(module.getContext()) {}

  void run();

private:
  //===--- Types and places -----------------------------------------------===//

  Type getType(DataType type) { return getMLIRType(b.getContext(), type); }
  /// A vector, or the element type for a scalar.
  Type getTileType(ArrayRef<Extent> extents, DataType type) {
    return extents.empty() ? getType(type) : Type(VectorType::get(getStaticShape(extents), getType(type)));
  }
  Type getTileType(const Node &node) { return getTileType(node.shape, node.type); }
  MemRefType getMemoryType(const Variable &variable);
  Location getLoc(const Node &node);
  ElementwiseBuilder at(const Node &node) { return ElementwiseBuilder(b, getLoc(node)); }

  //===--- Function -------------------------------------------------------===//

  func::FuncOp createFunction();
  void lowerBlock(const NodeBlock &block);
  void lowerNode(const Node &node);
  void accumulateProducts(func::FuncOp function);
  void eraseUnused();

  //===--- Values ---------------------------------------------------------===//

  /// Builds in front of all operations of the body.
  template <typename Build> auto atTop(Build build) {
    OpBuilder::InsertionGuard guard(b);
    if (lastAtTop)
      b.setInsertionPointAfter(lastAtTop);
    else
      b.setInsertionPointToStart(entry);
    Value value = build();
    if (Operation *op = value.getDefiningOp(); op && op->getBlock() == entry)
      lastAtTop = op;
    return value;
  }
  Value getConstant(TypedAttr attr) {
    Value &constant = constants[attr];
    if (!constant)
      constant = atTop([&] { return Value(arith::ConstantOp::create(b, b.getUnknownLoc(), attr)); });
    return constant;
  }
  Value getIndex(const DimExpr &expr);
  Value lowerDim(const Node &node, const DimExpr &expr);
  Value getValue(const Node *node);
  /// `value`, whose shape is that of `node`, repeated to `shape`.
  Value broadcastTo(Value value, ArrayRef<int64_t> shape, Location loc);
  /// `node` as a tile of `rank` axes, extents 1 in front.
  Value withRank(const Node *node, size_t rank, Location loc);

  Value lowerCompute(const Node &node, Elementwise op);
  Value lowerConstantDivision(const Node &node, Elementwise op);
  Value lowerReduce(const Node &node, const Node::Reduce &reduce);
  Value createReduce(Location loc, atx::TileReduceKind kind, Value value, ArrayRef<int64_t> axes, bool isUnsigned);
  Value lowerSubscript(const Node &node, const Node::Subscript &subscript);
  Value lowerContract(const Node &node, const Node::Contract &contract);

  //===--- Kernel operations ----------------------------------------------===//

  Value getMemory(const MemoryRef &memory) {
    switch (memory.kind) {
    case MemoryRef::Kind::Param:
      return entry->getArgument(memory.index);
    case MemoryRef::Kind::Result:
      return entry->getArgument(kernel.params.size() + memory.index);
    case MemoryRef::Kind::Shared:
      break;
    }
    return values.lookup(memory.shared);
  }
  unsigned getMemoryRank(const MemoryRef &memory) { return cast<MemRefType>(getMemory(memory).getType()).getRank(); }
  void lowerKernelOp(const Node &node, const KernelOp &op);
  Value lowerAtomic(const Node &node, const KernelOp &op, ValueRange indices);
  void lowerFor(const Node &node, const KernelOp &op);
  void lowerWhile(const Node &node, const KernelOp &op);
  void lowerIf(const Node &node, const KernelOp &op);
  Value lowerRaw(const Node &node, const KernelOp &op);
  SmallVector<Value> getValues(ArrayRef<Node *> nodes) {
    SmallVector<Value> list;
    for (const Node *node : nodes)
      list.push_back(getValue(node));
    return list;
  }

  const Operator &kernel;
  ModuleOp module;
  Diagnostics &diags;
  OpBuilder b;
  Block *entry = nullptr;
  Operation *lastAtTop = nullptr;
  DenseMap<const Node *, Value> values;
  /// Results of operations that have several.
  DenseMap<const Node *, SmallVector<Value>> results;
  DenseMap<Attribute, Value> constants;
  /// Errors inside of the text of a `raw`, before they are reported.
  SmallVector<std::pair<llvm::SMLoc, std::string>> rawErrors;
  /// Dimension expressions by their text.
  llvm::StringMap<Value> indices;
};
} // namespace

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

Location KernelLowering::getLoc(const Node &node) {
  Location loc = diags.getLocation(node.loc);
  if (!node.name.empty())
    loc = NameLoc::get(b.getStringAttr(node.name), loc);
  for (const CallSite *site = node.callSite; site; site = site->caller)
    loc = CallSiteLoc::get(loc, diags.getLocation(site->loc));
  return loc;
}

MemRefType KernelLowering::getMemoryType(const Variable &variable) {
  SmallVector<int64_t> shape = getStaticShape(variable.shape);
  if (variable.strides.empty())
    return MemRefType::get(shape, getType(variable.type));
  SmallVector<int64_t> strides;
  for (const DimExpr &stride : variable.strides)
    strides.push_back(stride.getConstant().value_or(ShapedType::kDynamic));
  return MemRefType::get(shape, getType(variable.type), StridedLayoutAttr::get(b.getContext(), /*offset=*/0, strides));
}

func::FuncOp KernelLowering::createFunction() {
  SmallVector<Type> types;
  SmallVector<Attribute> argAttrs;
  SmallVector<Location> locs;
  auto addArg = [&](const Variable &variable, bool isOutput) {
    types.push_back(variable.isScalar ? getType(variable.type) : Type(getMemoryType(variable)));
    argAttrs.push_back(b.getDictionaryAttr(getArgumentAttrs(b, variable, isOutput)));
    locs.push_back(diags.getLocation(variable.loc));
  };
  for (const Variable &param : kernel.params)
    addArg(param, /*isOutput=*/false);
  for (const Variable &variable : kernel.results)
    addArg(variable, /*isOutput=*/true);
  for (const std::string &dim : kernel.runtimeDims) {
    types.push_back(b.getIndexType());
    argAttrs.push_back(b.getDictionaryAttr(b.getNamedAttr(atx::nameAttrName, b.getStringAttr(dim))));
    locs.push_back(diags.getLocation(kernel.loc));
  }

  b.setInsertionPointToEnd(module.getBody());
  auto function =
      func::FuncOp::create(b, diags.getLocation(kernel.loc), kernel.name, FunctionType::get(b.getContext(), types, {}));
  function->setAttr(atx::kernelAttrName, b.getUnitAttr());
  SmallVector<Attribute> grid;
  for (unsigned axis = 0; axis < 3; ++axis)
    grid.push_back(b.getStringAttr(axis < kernel.grid.size() ? kernel.grid[axis].str() : "1"));
  function->setAttr(atx::gridAttrName, b.getArrayAttr(grid));
  function->setAttr(atx::threadsAttrName, b.getI64IntegerAttr(kernel.threads));
  setSignatureAttrs(function, kernel);
  function.setAllArgAttrs(argAttrs);
  entry = &function.getBody().emplaceBlock();
  entry->addArguments(types, locs);
  unsigned firstDim = kernel.params.size() + kernel.results.size();
  for (auto [i, dim] : llvm::enumerate(kernel.runtimeDims))
    indices[dim] = entry->getArgument(firstDim + i);
  b.setInsertionPointToStart(entry);
  return function;
}

void KernelLowering::eraseUnused() {
  // Users stand behind what they use.
  auto visit = [](auto &&self, Block &block) -> void {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          self(self, inner);
      if (isOpTriviallyDead(&op))
        op.erase();
    }
  };
  visit(visit, *entry);
}

/// Sums into the accumulator of a product instead of behind it, as the language
/// permits: `acc + dot(a, b)`.
void KernelLowering::accumulateProducts(func::FuncOp function) {
  SmallVector<vector::ContractionOp> products;
  function.walk([&](vector::ContractionOp op) { products.push_back(op); });
  for (vector::ContractionOp product : products) {
    bool fromZero = matchPattern(product.getAcc(), m_Zero()) || matchPattern(product.getAcc(), m_AnyZeroFloat());
    if (!product->hasOneUse() || !fromZero)
      continue;
    Operation *sum = *product->user_begin();
    if (!isa<arith::AddFOp, arith::AddIOp>(sum) || sum->getBlock() != product->getBlock())
      continue;
    Value other = sum->getOperand(sum->getOperand(0) == product.getResult() ? 1 : 0);
    if (other == product.getResult() || other.getType() != product.getType())
      continue;
    product->moveBefore(sum);
    product.getAccMutable().assign(other);
    product->setLoc(sum->getLoc());
    sum->getResult(0).replaceAllUsesWith(product.getResult());
    sum->erase();
  }
}

void KernelLowering::run() {
  func::FuncOp function = createFunction();
  lowerBlock(kernel.body);
  func::ReturnOp::create(b, function.getLoc());
  accumulateProducts(function);
  eraseUnused();
}

void KernelLowering::lowerBlock(const NodeBlock &block) {
  for (const Node *node : block.nodes)
    lowerNode(*node);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value KernelLowering::getIndex(const DimExpr &expr) {
  std::string key = expr.str();
  if (auto found = indices.find(key); found != indices.end())
    return found->second;
  Value value;
  if (std::optional<int64_t> number = expr.getConstant()) {
    value = getConstant(b.getIndexAttr(*number));
  } else {
    Value lhs = getIndex(expr.getLhs()), rhs = getIndex(expr.getRhs());
    value = atTop([&] { return createDimOperation(b, diags.getLocation(kernel.loc), expr.getKind(), lhs, rhs); });
  }
  indices[key] = value;
  return value;
}

Value KernelLowering::lowerDim(const Node &node, const DimExpr &expr) {
  DimExpr value = simplify(expr);
  if (std::optional<int64_t> constant = value.getConstant())
    return getConstant(makeDimAttr(b.getContext(), node.type, *constant));
  Value index = getIndex(value);
  return atTop([&] { return castDim(b, getLoc(node), node.type, index); });
}

Value KernelLowering::getValue(const Node *node) {
  if (Value value = values.lookup(node))
    return value;
  return getConstant(makeLiteralAttr(b.getContext(), node->type, std::get<Node::Literal>(node->op).value));
}

Value KernelLowering::broadcastTo(Value value, ArrayRef<int64_t> shape, Location loc) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (shape.empty() || (vector && vector.getShape() == shape))
    return value;
  auto type = VectorType::get(shape, vector ? vector.getElementType() : value.getType());
  if (!vector)
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      return getConstant(DenseElementsAttr::get(type, Attribute(constant.getValue())));
  return vector::BroadcastOp::create(b, loc, type, value);
}

Value KernelLowering::withRank(const Node *node, size_t rank, Location loc) {
  Value value = getValue(node);
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector || size_t(vector.getRank()) == rank)
    return value;
  SmallVector<int64_t> shape(rank - vector.getRank(), 1);
  llvm::append_range(shape, vector.getShape());
  return vector::ShapeCastOp::create(b, loc, VectorType::get(shape, vector.getElementType()), value);
}

void KernelLowering::lowerNode(const Node &node) {
  Location loc = getLoc(node);
  auto set = [&](Value value) { values[&node] = value; };
  if (auto *param = std::get_if<Node::Param>(&node.op))
    return set(entry->getArgument(param->index));
  // Made where it is used.
  if (std::holds_alternative<Node::Literal>(node.op))
    return;
  if (auto *dim = std::get_if<Node::Dim>(&node.op))
    return set(lowerDim(node, dim->value));
  if (auto *compute = std::get_if<Node::Compute>(&node.op))
    return set(lowerCompute(node, compute->op));
  if (auto *reduce = std::get_if<Node::Reduce>(&node.op))
    return set(lowerReduce(node, *reduce));
  if (auto *subscript = std::get_if<Node::Subscript>(&node.op))
    return set(lowerSubscript(node, *subscript));
  if (auto *contract = std::get_if<Node::Contract>(&node.op))
    return set(lowerContract(node, *contract));
  if (std::holds_alternative<Node::Iota>(node.op))
    return set(atx::TileIotaOp::create(b, loc, getTileType(node)));
  if (auto *result = std::get_if<Node::ExtractResult>(&node.op))
    return set(results[node.operands.front()][result->index]);
  if (auto *kernelOp = std::get_if<Node::Kernel>(&node.op))
    return lowerKernelOp(node, **kernelOp);

  Value first = getValue(node.operands.front());
  bool isUnsigned = node.operands.front()->type == DataType::U8 || node.operands.front()->type == DataType::U32;
  if (auto *scan = std::get_if<Node::Scan>(&node.op)) {
    atx::TileScanKind kind = scan->op == Reduction::Sum    ? atx::TileScanKind::Sum
                             : scan->op == Reduction::Prod ? atx::TileScanKind::Prod
                             : scan->op == Reduction::Max
                                 ? isUnsigned ? atx::TileScanKind::UMax : atx::TileScanKind::Max
                             : isUnsigned ? atx::TileScanKind::UMin
                                          : atx::TileScanKind::Min;
    return set(
        atx::TileScanOp::create(b, loc, first.getType(), kind, first, scan->axis, scan->isExclusive, scan->isReverse));
  }
  if (auto *topk = std::get_if<Node::TopK>(&node.op)) {
    auto op = atx::TileTopkOp::create(b, loc, getTileType(node), getTileType(node.shape, DataType::I32), first,
                                      *node.shape[topk->axis].constant, topk->axis, topk->isSmallest, isUnsigned);
    results[&node] = {op.getValues(), op.getIndices()};
    return set(op.getValues());
  }
  if (auto *rank = std::get_if<Node::Rank>(&node.op))
    return set(atx::TileRankOp::create(b, loc, getTileType(node), first, rank->axis));
  if (std::holds_alternative<Node::Histogram>(node.op)) {
    Value mask;
    if (node.operands.size() > 1)
      mask = withRank(node.operands[1], node.operands[0]->shape.size(), loc);
    // Counted as signed numbers; unsigned ones must not become negative.
    DataType type = node.operands.front()->type;
    if (type == DataType::U8)
      first = at(node).cast(first, type, DataType::I32);
    return set(atx::TileHistogramOp::create(b, loc, getTileType(node), first, mask));
  }
  if (auto *concat = std::get_if<Node::Concat>(&node.op))
    return set(atx::TileConcatOp::create(b, loc, getTileType(node), getValues(node.operands), concat->axis));
  if (auto *take = std::get_if<Node::Take>(&node.op))
    return set(atx::TileTakeOp::create(b, loc, getTileType(node), first, getValue(node.operands[1]), take->axis));
  if (std::holds_alternative<Node::Reshape>(node.op)) {
    if (node.shape.empty())
      return set(
          vector::ExtractOp::create(b, loc, first, SmallVector<int64_t>(node.operands.front()->shape.size(), 0)));
    return set(vector::ShapeCastOp::create(b, loc, cast<VectorType>(getTileType(node)), first));
  }
  if (auto *transpose = std::get_if<Node::Transpose>(&node.op))
    return set(vector::TransposeOp::create(b, loc, first,
                                           SmallVector<int64_t>(transpose->axes.begin(), transpose->axes.end())));
  if (std::holds_alternative<Node::Broadcast>(node.op))
    return set(broadcastTo(first, getStaticShape(node.shape), loc));
}

/// Quotients and remainders by a positive constant need none of the tests that
/// the general ones have, and positions made of them stay simple.
Value KernelLowering::lowerConstantDivision(const Node &node, Elementwise op) {
  auto *literal = std::get_if<Node::Literal>(&node.operands[1]->op);
  auto *number = literal ? std::get_if<int64_t>(&literal->value) : nullptr;
  if (!number || *number <= 0 || isFloat(node.type))
    return {};
  Location loc = getLoc(node);
  bool isUnsigned = node.type == DataType::U8 || node.type == DataType::U32;
  SmallVector<int64_t> shape = getStaticShape(node.shape);
  Value lhs = broadcastTo(getValue(node.operands[0]), shape, loc);
  auto constant = [&](int64_t value) {
    return broadcastTo(getConstant(b.getIntegerAttr(getType(node.type), value)), shape, loc);
  };
  bool wantsRemainder = op == Elementwise::Mod;
  if (llvm::isPowerOf2_64(*number)) {
    if (wantsRemainder)
      return arith::AndIOp::create(b, loc, lhs, constant(*number - 1));
    Value amount = constant(llvm::Log2_64(*number));
    return isUnsigned ? Value(arith::ShRUIOp::create(b, loc, lhs, amount))
                      : Value(arith::ShRSIOp::create(b, loc, lhs, amount));
  }
  Value divisor = constant(*number);
  if (isUnsigned)
    return wantsRemainder ? Value(arith::RemUIOp::create(b, loc, lhs, divisor))
                          : Value(arith::DivUIOp::create(b, loc, lhs, divisor));
  Value quotient = arith::FloorDivSIOp::create(b, loc, lhs, divisor);
  if (!wantsRemainder)
    return quotient;
  return arith::SubIOp::create(b, loc, lhs, arith::MulIOp::create(b, loc, quotient, divisor));
}

Value KernelLowering::lowerCompute(const Node &node, Elementwise op) {
  if (op == Elementwise::Div || op == Elementwise::Mod)
    if (Value value = lowerConstantDivision(node, op))
      return value;
  Location loc = getLoc(node);
  ElementwiseBuilder builder(b, loc);
  DataType operandType = node.operands.front()->type;
  SmallVector<int64_t> shape = getStaticShape(node.shape);
  SmallVector<Value> operands;
  for (const Node *operand : node.operands) {
    Value value;
    DataType type = takesComputeType(op) ? getComputeType(operand->type) : operand->type;
    if (auto *literal = std::get_if<Node::Literal>(&operand->op))
      value = getConstant(makeLiteralAttr(b.getContext(), type, literal->value));
    else
      value = builder.cast(getValue(operand), operand->type, type);
    operands.push_back(broadcastTo(value, shape, loc));
  }
  return builder.create(op, operandType, node.type, operands);
}

//===----------------------------------------------------------------------===//
// Reductions, products, slices
//===----------------------------------------------------------------------===//

Value KernelLowering::createReduce(Location loc, atx::TileReduceKind kind, Value value, ArrayRef<int64_t> axes,
                                   bool isUnsigned) {
  Type type = atx::TileReduceOp::getResultType(cast<VectorType>(value.getType()), kind, axes);
  return atx::TileReduceOp::create(b, loc, type, kind, value, axes, isUnsigned);
}

Value KernelLowering::lowerReduce(const Node &node, const Node::Reduce &reduce) {
  const Node &operand = *node.operands.front();
  Location loc = getLoc(node);
  bool isUnsigned = operand.type == DataType::U8 || operand.type == DataType::U32;
  atx::TileReduceKind kind = atx::TileReduceKind::Sum;
  bool isPosition = false;
  switch (reduce.op) {
  case Reduction::Sum:
  case Reduction::Mean:
    break;
  case Reduction::Prod:
    kind = atx::TileReduceKind::Prod;
    break;
  case Reduction::Max:
    kind = isUnsigned ? atx::TileReduceKind::UMax : atx::TileReduceKind::Max;
    break;
  case Reduction::Min:
    kind = isUnsigned ? atx::TileReduceKind::UMin : atx::TileReduceKind::Min;
    break;
  case Reduction::ArgMax:
    kind = atx::TileReduceKind::ArgMax;
    isPosition = true;
    break;
  case Reduction::ArgMin:
    kind = atx::TileReduceKind::ArgMin;
    isPosition = true;
    break;
  case Reduction::Any:
    kind = atx::TileReduceKind::Any;
    break;
  case Reduction::All:
    kind = atx::TileReduceKind::All;
    break;
  }
  SmallVector<int64_t> axes(reduce.axes.begin(), reduce.axes.end());
  Value value = createReduce(loc, kind, getValue(&operand), axes, isUnsigned && isPosition);
  if (reduce.op != Reduction::Mean)
    return value;
  double count = 1;
  for (int64_t axis : axes)
    count *= double(*operand.shape[axis].constant);
  if (count == 1)
    return value;
  // Multiplying by the reciprocal is exact for a power of two only.
  int exponent;
  bool isPowerOfTwo = std::frexp(count, &exponent) == 0.5 && exponent < 120;
  Value factor = broadcastTo(getConstant(makeFloatAttr(b.getContext(), node.type, isPowerOfTwo ? 1 / count : count)),
                             getStaticShape(node.shape), loc);
  if (isPowerOfTwo)
    return arith::MulFOp::create(b, loc, value, factor, contract);
  return arith::DivFOp::create(b, loc, value, factor, contract);
}

Value KernelLowering::lowerSubscript(const Node &node, const Node::Subscript &subscript) {
  const Node &operand = *node.operands.front();
  Location loc = getLoc(node);
  Value value = getValue(&operand);
  SmallVector<int64_t> offsets, sizes;
  bool slices = false;
  unsigned source = 0;
  for (auto [item, extent] : llvm::zip_equal(subscript.items, node.shape)) {
    if (item.isNewAxis)
      continue;
    offsets.push_back(item.isFull ? 0 : *item.begin.getConstant());
    sizes.push_back(item.isFull ? *operand.shape[source].constant : *extent.constant);
    slices |= !item.isFull;
    ++source;
  }
  if (slices)
    value = vector::ExtractStridedSliceOp::create(b, loc, value, offsets, sizes, SmallVector<int64_t>(sizes.size(), 1));
  auto type = cast<VectorType>(getTileType(node));
  return value.getType() == type ? value : Value(vector::ShapeCastOp::create(b, loc, type, value));
}

/// Sum of products as `vector.contract`. Axes that only one operand has and that
/// are summed over are summed first; products without a common axis are products
/// of broadcast tiles.
Value KernelLowering::lowerContract(const Node &node, const Node::Contract &contract) {
  Location loc = getLoc(node);
  unsigned numResult = node.shape.size();
  struct Operand {
    Value value;
    SmallVector<unsigned> loops;
    DataType type;
  };
  SmallVector<Operand, 2> operands;
  for (auto [operand, axes] : llvm::zip_equal(node.operands, contract.axes))
    operands.push_back({getValue(operand), axes, operand->type});
  for (unsigned i = 0; i < operands.size(); ++i) {
    SmallVector<int64_t> summed;
    for (auto [axis, loop] : llvm::enumerate(operands[i].loops))
      if (loop >= numResult && !(operands.size() == 2 && llvm::is_contained(operands[1 - i].loops, loop)))
        summed.push_back(axis);
    // Unsigned numbers are extended here: an extension inside of the product is
    // a signed one.
    bool isUnsigned = operands[i].type == DataType::U8 || operands[i].type == DataType::U32;
    if (summed.empty() && operands.size() == 2 && !isUnsigned)
      continue;
    operands[i].value = at(node).cast(operands[i].value, operands[i].type, node.type);
    operands[i].type = node.type;
    if (summed.empty())
      continue;
    operands[i].value = createReduce(loc, atx::TileReduceKind::Sum, operands[i].value, summed, /*isUnsigned=*/false);
    for (int64_t axis : llvm::reverse(summed))
      operands[i].loops.erase(operands[i].loops.begin() + axis);
  }
  // The other operand must have one type too.
  bool isCommon = operands.size() == 2 && llvm::any_of(operands[0].loops, [&](unsigned loop) {
                    return loop >= numResult && llvm::is_contained(operands[1].loops, loop);
                  });
  if (!isCommon) {
    // Every axis that is left is one of the result.
    Value product;
    for (Operand &operand : operands) {
      Value value = at(node).cast(operand.value, operand.type, node.type);
      SmallVector<unsigned> order(operand.loops);
      llvm::sort(order);
      if (!operand.loops.empty()) {
        SmallVector<int64_t> permutation;
        for (unsigned loop : order)
          permutation.push_back(llvm::find(operand.loops, loop) - operand.loops.begin());
        if (!llvm::is_sorted(permutation))
          value = vector::TransposeOp::create(b, loc, value, permutation);
        SmallVector<int64_t> shape(numResult, 1);
        for (unsigned loop : order)
          shape[loop] = *node.shape[loop].constant;
        auto type = VectorType::get(shape, getType(node.type));
        if (value.getType() != type)
          value = vector::ShapeCastOp::create(b, loc, type, value);
      }
      value = broadcastTo(value, getStaticShape(node.shape), loc);
      product = product ? at(node).create(Elementwise::Mul, node.type, node.type, {product, value}) : value;
    }
    return product;
  }

  // Loops in order, without those that were summed already.
  SmallVector<int> position(contract.numLoops, -1);
  SmallVector<vector::IteratorType> iterators;
  for (unsigned loop = 0; loop < contract.numLoops; ++loop) {
    if (!llvm::is_contained(operands[0].loops, loop) && !llvm::is_contained(operands[1].loops, loop))
      continue;
    position[loop] = iterators.size();
    iterators.push_back(loop < numResult ? vector::IteratorType::parallel : vector::IteratorType::reduction);
  }
  auto getMap = [&](auto &&loops) {
    SmallVector<AffineExpr> exprs;
    for (unsigned loop : loops)
      exprs.push_back(b.getAffineDimExpr(position[loop]));
    return AffineMap::get(iterators.size(), 0, exprs, b.getContext());
  };
  if (operands[0].type != operands[1].type)
    for (Operand &operand : operands)
      operand.value = at(node).cast(operand.value, operand.type, node.type);
  AffineMap maps[] = {getMap(operands[0].loops), getMap(operands[1].loops), getMap(llvm::seq<unsigned>(0, numResult))};
  Value zero =
      broadcastTo(getConstant(cast<TypedAttr>(b.getZeroAttr(getType(node.type)))), getStaticShape(node.shape), loc);
  SmallVector<Attribute> iteratorAttrs;
  for (vector::IteratorType iterator : iterators)
    iteratorAttrs.push_back(vector::IteratorTypeAttr::get(b.getContext(), iterator));
  return vector::ContractionOp::create(b, loc, operands[0].value, operands[1].value, zero,
                                       b.getAffineMapArrayAttr(maps), b.getArrayAttr(iteratorAttrs));
}

//===----------------------------------------------------------------------===//
// Kernel operations
//===----------------------------------------------------------------------===//

Value KernelLowering::lowerAtomic(const Node &node, const KernelOp &op, ValueRange indices) {
  Location loc = getLoc(node);
  bool isUnsigned = node.type == DataType::U8 || node.type == DataType::U32;
  atx::TileAtomicKind kind = atx::TileAtomicKind::Add;
  switch (op.atomic) {
  case AtomicKind::Add:
    break;
  case AtomicKind::Max:
    kind = isUnsigned ? atx::TileAtomicKind::UMax : atx::TileAtomicKind::Max;
    break;
  case AtomicKind::Min:
    kind = isUnsigned ? atx::TileAtomicKind::UMin : atx::TileAtomicKind::Min;
    break;
  case AtomicKind::And:
    kind = atx::TileAtomicKind::And;
    break;
  case AtomicKind::Or:
    kind = atx::TileAtomicKind::Or;
    break;
  case AtomicKind::Xor:
    kind = atx::TileAtomicKind::Xor;
    break;
  case AtomicKind::Exchange:
    kind = atx::TileAtomicKind::Exchange;
    break;
  case AtomicKind::CompareExchange:
    kind = atx::TileAtomicKind::Cas;
    break;
  }
  unsigned next = indices.size();
  auto take = [&] {
    const Node *operand = node.operands[next++];
    return broadcastTo(getValue(operand), getStaticShape(node.shape), loc);
  };
  Value compare = kind == atx::TileAtomicKind::Cas ? take() : Value();
  Value value = take();
  Value mask = op.hasExtra ? withRank(node.operands[next], node.shape.size(), loc) : Value();
  return atx::TileAtomicOp::create(b, loc, kind, value, getMemory(op.memory), indices, compare, mask);
}

void KernelLowering::lowerKernelOp(const Node &node, const KernelOp &op) {
  Location loc = getLoc(node);
  auto set = [&](Value value) { values[&node] = value; };
  static constexpr gpu::Dimension axes[] = {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z};
  switch (op.kind) {
  case KernelOp::Kind::BlockId:
  case KernelOp::Kind::NumBlocks: {
    Value index = op.kind == KernelOp::Kind::BlockId ? Value(gpu::BlockIdOp::create(b, loc, axes[op.index]))
                                                     : Value(gpu::GridDimOp::create(b, loc, axes[op.index]));
    return set(arith::IndexCastOp::create(b, loc, getType(node.type), index));
  }
  case KernelOp::Kind::Argument:
    // Set with the operation that has the block.
    return;
  case KernelOp::Kind::Result:
    return set(results[node.operands.front()][op.index]);
  case KernelOp::Kind::Load: {
    unsigned rank = getMemoryRank(op.memory);
    SmallVector<Value> operands = getValues(node.operands);
    Value fill = op.hasExtra ? operands[rank] : Value();
    return set(atx::TileLoadOp::create(b, loc, getTileType(node), getMemory(op.memory),
                                       ValueRange(operands).take_front(rank), fill));
  }
  case KernelOp::Kind::Store: {
    unsigned rank = getMemoryRank(op.memory);
    SmallVector<Value> indices = getValues(ArrayRef<Node *>(node.operands).take_front(rank));
    Value value = broadcastTo(getValue(node.operands[rank]), getStaticShape(node.shape), loc);
    Value mask = op.hasExtra ? withRank(node.operands[rank + 1], node.shape.size(), loc) : Value();
    atx::TileStoreOp::create(b, loc, value, getMemory(op.memory), indices, mask);
    return;
  }
  case KernelOp::Kind::Atomic: {
    unsigned rank = getMemoryRank(op.memory);
    return set(lowerAtomic(node, op, getValues(ArrayRef<Node *>(node.operands).take_front(rank))));
  }
  case KernelOp::Kind::Shared: {
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    auto type = MemRefType::get(getStaticShape(node.shape), getType(node.type), MemRefLayoutAttrInterface(), space);
    return set(atx::TileSharedOp::create(b, loc, type));
  }
  case KernelOp::Kind::Barrier:
    gpu::BarrierOp::create(b, loc);
    return;
  case KernelOp::Kind::For:
    return lowerFor(node, op);
  case KernelOp::Kind::While:
    return lowerWhile(node, op);
  case KernelOp::Kind::If:
    return lowerIf(node, op);
  case KernelOp::Kind::Pin:
    return set(atx::TilePinOp::create(b, loc, getValue(node.operands.front()), op.text));
  case KernelOp::Kind::Raw:
    return set(lowerRaw(node, op));
  }
}

/// Whether a step is positive without a test.
static bool isPositive(const Node &node) {
  if (auto *literal = std::get_if<Node::Literal>(&node.op)) {
    auto *number = std::get_if<int64_t>(&literal->value);
    return number && *number > 0;
  }
  auto *kernelOp = std::get_if<Node::Kernel>(&node.op);
  return kernelOp && (*kernelOp)->kind == KernelOp::Kind::NumBlocks;
}

void KernelLowering::lowerFor(const Node &node, const KernelOp &op) {
  Location loc = getLoc(node);
  SmallVector<Value> operands = getValues(node.operands);
  Value begin = operands[0], end = operands[1], step = operands[2];
  // A loop with another step does nothing.
  if (!isPositive(*node.operands[2])) {
    Value zero = getConstant(b.getIntegerAttr(step.getType(), 0)),
          one = getConstant(b.getIntegerAttr(step.getType(), 1));
    Value runs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, step, zero);
    end = arith::SelectOp::create(b, loc, runs, end, begin);
    step = arith::MaxSIOp::create(b, loc, step, one);
  }
  const NodeBlock &body = op.blocks.front();
  auto loop = scf::ForOp::create(b, loc, begin, end, step, ValueRange(operands).drop_front(3),
                                 [&](OpBuilder &, Location, Value counter, ValueRange carried) {
                                   // Filled below, where the builder stands inside.
                                   values[body.args.front()] = counter;
                                   for (auto [arg, value] : llvm::zip_equal(llvm::drop_begin(body.args), carried))
                                     values[arg] = value;
                                   for (const Node *arg : body.args)
                                     values[arg].setLoc(getLoc(*arg));
                                 });
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = loop.getBody();
    if (block->mightHaveTerminator())
      block->getTerminator()->erase();
    b.setInsertionPointToEnd(block);
    lowerBlock(body);
    scf::YieldOp::create(b, loc, getValues(body.yields));
  }
  results[&node] = SmallVector<Value>(loop.getResults());
}

void KernelLowering::lowerWhile(const Node &node, const KernelOp &op) {
  Location loc = getLoc(node);
  SmallVector<Value> inits = getValues(node.operands);
  SmallVector<Type> types;
  for (Value value : inits)
    types.push_back(value.getType());
  auto loop = scf::WhileOp::create(b, loc, types, inits);
  SmallVector<Location> locs(types.size(), loc);
  OpBuilder::InsertionGuard guard(b);
  for (auto [i, body] : llvm::enumerate(op.blocks)) {
    Block *block = b.createBlock(&loop->getRegion(i), {}, types, locs);
    for (auto [arg, value] : llvm::zip_equal(body.args, block->getArguments())) {
      values[arg] = value;
      value.setLoc(getLoc(*arg));
    }
    lowerBlock(body);
    SmallVector<Value> yields = getValues(body.yields);
    if (i == 0)
      scf::ConditionOp::create(b, loc, yields.front(), ValueRange(yields).drop_front());
    else
      scf::YieldOp::create(b, loc, yields);
  }
  results[&node] = SmallVector<Value>(loop.getResults());
}

void KernelLowering::lowerIf(const Node &node, const KernelOp &op) {
  Location loc = getLoc(node);
  SmallVector<Type> types;
  for (const Node *value : op.blocks.front().yields)
    types.push_back(getTileType(*value));
  bool hasElse = !types.empty() || !op.blocks[1].nodes.empty();
  auto branch = scf::IfOp::create(b, loc, types, getValue(node.operands.front()), hasElse);
  OpBuilder::InsertionGuard guard(b);
  for (auto [i, body] : llvm::enumerate(op.blocks)) {
    if (i == 1 && !hasElse)
      continue;
    Block *block = &branch->getRegion(i).front();
    if (block->mightHaveTerminator())
      block->getTerminator()->erase();
    b.setInsertionPointToEnd(block);
    lowerBlock(body);
    scf::YieldOp::create(b, loc, getValues(body.yields));
  }
  results[&node] = SmallVector<Value>(branch.getResults());
}

//===----------------------------------------------------------------------===//
// Operations written as MLIR
//===----------------------------------------------------------------------===//

/// The text runs as the region of `atx.tile_raw`: `%arg0`, `%arg1`, ... are a
/// lane's values of the operands, `atx.tile_yield` ends it.
Value KernelLowering::lowerRaw(const Node &node, const KernelOp &op) {
  Location loc = getLoc(node);
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<Value> operands = getValues(node.operands);
  Type resultType = getTileType(node);
  os << "func.func private @raw(";
  llvm::interleaveComma(llvm::enumerate(operands), os,
                        [&](auto item) { os << "%in" << item.index() << ": " << item.value().getType(); });
  os << ") -> " << resultType << " {\n%out = atx.tile_raw (";
  llvm::interleaveComma(llvm::seq<size_t>(0, operands.size()), os, [&](size_t i) { os << "%in" << i; });
  os << ") : (";
  llvm::interleaveComma(operands, os, [&](Value value) { os << value.getType(); });
  os << ") -> " << resultType << " {\n";
  if (!operands.empty())
    os << "^bb0(";
  bool ok = true;
  llvm::interleaveComma(llvm::enumerate(operands), os, [&](auto item) {
    Value value = item.value();
    os << "%arg" << item.index() << ": ";
    auto tile = dyn_cast<VectorType>(value.getType());
    if (!tile) {
      os << value.getType();
      return;
    }
    auto pin = value.getDefiningOp<atx::TilePinOp>();
    if (!pin) {
      diags.error(node.loc) << "operand " << item.index() + 1
                            << " of 'raw' has no layout; a lane's part of it is known after 'pin(x, \"...\")'";
      ok = false;
      return;
    }
    FailureOr<atx::PinnedLayout> layout =
        atx::parsePinnedLayout(pin.getLayout(), tile, [&] { return emitError(pin.getLoc()) << "'pin': "; });
    if (failed(layout)) {
      // Counted, so that nothing is made of this module.
      diags.error(node.loc) << "the layout of operand " << item.index() + 1 << " of 'raw' is not valid";
      ok = false;
      return;
    }
    os << "vector<" << layout->numValues << "x" << tile.getElementType() << ">";
  });
  if (!operands.empty())
    os << "):\n";
  if (!ok)
    return getConstant(cast<TypedAttr>(b.getZeroAttr(resultType)));
  size_t begin = text.size();
  os << op.text;
  size_t end = text.size();
  os << "\n}\nreturn %out : " << resultType << "\n}\n";

  // Positions inside of the text are positions in the source, where no escape
  // stands before them.
  unsigned quotes = llvm::StringRef(op.textLoc.getPointer(), 2) == "\"\"" && !op.text.empty() ? 3 : 1;
  llvm::StringRef source(op.textLoc.getPointer() + quotes, std::min<size_t>(op.text.size(), 1u << 20));
  bool isPlain = source == op.text;
  OwningOpRef<ModuleOp> parsed;
  {
    bool isReported = false;
    ScopedDiagnosticHandler handler(b.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error || isReported)
        return success();
      isReported = true;
      llvm::SMLoc where = op.textLoc;
      if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>(); file && isPlain) {
        size_t offset = 0;
        for (unsigned line = 1; line < file.getLine() && offset != llvm::StringRef::npos; ++line)
          offset = llvm::StringRef(text).find('\n', offset) + 1;
        offset += file.getColumn() - 1;
        if (offset >= begin && offset <= end)
          where = llvm::SMLoc::getFromPointer(op.textLoc.getPointer() + quotes + (offset - begin));
      }
      rawErrors.emplace_back(where, diagnostic.str());
      return success();
    });
    parsed = parseSourceString<ModuleOp>(text, ParserConfig(b.getContext()), "raw");
  }
  for (const auto &[where, message] : rawErrors)
    diags.error(where) << "in 'raw': " << message;
  bool failedToParse = !rawErrors.empty();
  rawErrors.clear();
  atx::TileRawOp raw;
  if (parsed && !failedToParse)
    parsed->walk([&](atx::TileRawOp found) { raw = found; });
  if (!raw) {
    if (!failedToParse)
      diags.error(op.textLoc) << "the text of 'raw' is not a list of operations ending in 'atx.tile_yield'";
    return getConstant(cast<TypedAttr>(b.getZeroAttr(resultType)));
  }
  IRMapping mapping;
  for (auto [inside, outside] : llvm::zip_equal(raw.getInputs(), operands))
    mapping.map(inside, outside);
  Operation *clone = b.clone(*raw, mapping);
  clone->walk([&](Operation *inner) { inner->setLoc(loc); });
  return clone->getResult(0);
}

void atrex::frontend::lowerKernel(const Operator &kernel, ModuleOp module, Diagnostics &diags) {
  KernelLowering(kernel, module, diags).run();
}
