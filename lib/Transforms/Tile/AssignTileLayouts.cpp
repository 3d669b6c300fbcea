//===- AssignTileLayouts.cpp - Who holds which element --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractPlan.h"
#include "ScalarProducts.h"
#include "Tensors.h"
#include "TileLowering.h"
#include "atrex/Target/TargetChip.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <functional>

namespace atrex {
#define GEN_PASS_DEF_ASSIGNTILELAYOUTSPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

namespace {

bool isTile(Value value) { return isa<VectorType>(value.getType()); }
ArrayRef<int64_t> getShape(Value value) { return cast<VectorType>(value.getType()).getShape(); }

bool isUnitCast(vector::ShapeCastOp op) {
  auto wide = [](VectorType type) {
    SmallVector<int64_t> shape;
    for (int64_t extent : type.getShape())
      if (extent != 1)
        shape.push_back(extent);
    return shape;
  };
  return wide(op.getSourceVectorType()) == wide(op.getResultVectorType());
}

/// Worth computing again rather than moving.
bool isCheap(Operation *op) {
  if (!isElementwise(op) || isa<math::MathDialect>(op->getDialect()))
    return false;
  return !isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
              arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, atx::TileConvertOp, arith::TruncFOp>(op) ||
         // Index arithmetic.
         (isa<arith::DivUIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::DivSIOp, arith::RemSIOp>(op) &&
          op->getOperand(1).getDefiningOp<arith::ConstantOp>());
}

/// Factors that are loaded in the layout of their product: none, those that no other wave needs, or all that lanes
/// have in runs.
enum class DirectFactors { Never, Own, Always };

class Assigner {
public:
  Assigner(gpu::GPUFuncOp kernel, int64_t threads, const ChipInfo &chip, const ContractOptions &options,
           DirectFactors direct)
      : kernel(kernel), threads(threads), chip(chip), options(options), direct(direct), builder(kernel.getContext()) {}

  LogicalResult run();
  unsigned numAssigned = 0, numConversions = 0, numRecomputed = 0;

private:
  /// Fixes the layout of a value that has none and is not flexible, and of what
  /// follows from it.
  void assign(Value value, const TileLayout &layout);
  /// `value` is needed in `layout`: what stands behind cheap operations may take it.
  void wish(Value value, const TileLayout &layout, unsigned depth = 0);
  void propagate();
  void propagateToDefinition(Value value, const TileLayout &layout);
  void propagateToUser(OpOperand &use, const TileLayout &layout);

  TileLayout getDefault(ArrayRef<int64_t> shape, Type element) {
    AccessPattern pattern;
    pattern.contiguousDim = shape.size() - 1;
    pattern.bytes = element.isIndex() ? 8 : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
    pattern.vector = std::max<int64_t>(1, 16 / pattern.bytes);
    return getAccessLayout(shape, threads, pattern);
  }
  TileLayout getDefault(Value value) { return getDefault(getShape(value), getElementTypeOrSelf(value.getType())); }
  /// The layout a value has by itself, a default where it has none.
  std::optional<TileLayout> findNatural(Value value, unsigned depth = 0);
  TileLayout getNatural(Value value) {
    std::optional<TileLayout> layout = findNatural(value);
    return layout ? *layout : getDefault(value);
  }
  TileLayout getAnchor(Operation *op);
  /// The layout in which a product wants what `load` reads; nothing where none does.
  std::optional<TileLayout> findWanted(Value value, unsigned depth = 0);
  LogicalResult assignAnchors();
  void assignRest();

  /// What `op` needs of an operand whose result has layout `result`; null for any.
  std::optional<TileLayout> getRequired(OpOperand &operand);
  std::optional<TileLayout> getFlexibleRequired(Operation *op, OpOperand &operand, const TileLayout &result);
  Value require(Value value, const TileLayout &layout);
  LogicalResult materialize();
  void setLayouts(Operation *op, ArrayRef<Value> values, StringRef name);

  gpu::GPUFuncOp kernel;
  int64_t threads;
  const ChipInfo &chip;
  ContractOptions options;
  DirectFactors direct;
  OpBuilder builder;
  IndexAnalysis analysis;
  SmallVector<Operation *> ops;
  DenseSet<Value> flexible;
  DenseMap<Value, TileLayout> layouts;
  ContractPlans plans;
  SmallVector<Value> queue;
  DenseMap<std::pair<Value, Attribute>, Value> copies;
  DenseSet<Operation *> created;
};

} // namespace

void Assigner::assign(Value value, const TileLayout &layout) {
  if (!isTile(value) || flexible.contains(value) || layouts.contains(value))
    return;
  if (layout.getRank() != getShape(value).size())
    return;
  layouts.try_emplace(value, layout);
  queue.push_back(value);
}

void Assigner::wish(Value value, const TileLayout &layout, unsigned depth) {
  if (!isTile(value) || depth > 50)
    return;
  if (!flexible.contains(value)) {
    // The layout of these follows from their operands alone.
    Operation *def = value.getDefiningOp();
    if (def && isa<atx::TileReduceOp, atx::TileScanOp, vector::ContractionOp>(def))
      return;
    assign(value, layout);
    return;
  }
  Operation *op = value.getDefiningOp();
  for (OpOperand &operand : op->getOpOperands())
    if (isTile(operand.get()))
      if (std::optional<TileLayout> needed = getFlexibleRequired(op, operand, layout))
        wish(operand.get(), *needed, depth + 1);
}

std::optional<TileLayout> Assigner::getFlexibleRequired(Operation *op, OpOperand &operand, const TileLayout &result) {
  ArrayRef<int64_t> source = getShape(operand.get());
  if (isa<vector::BroadcastOp>(op))
    return result.getBroadcastSource(source);
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
    return result.reshape(cast.getResultVectorType().getShape(), source);
  if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    SmallVector<int64_t> inverse(source.size());
    for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
      inverse[from] = i;
    return result.transpose(inverse);
  }
  return result;
}

std::optional<TileLayout> Assigner::findNatural(Value value, unsigned depth) {
  auto it = layouts.find(value);
  if (it != layouts.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  if (!op || depth > 50)
    return std::nullopt;
  if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    std::optional<TileLayout> source = findNatural(transpose.getVector(), depth + 1);
    return source ? std::optional(source->transpose(transpose.getPermutation())) : std::nullopt;
  }
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    std::optional<TileLayout> source = findNatural(cast.getSource(), depth + 1);
    return source ? source->reshape(getShape(cast.getSource()), getShape(value)) : std::nullopt;
  }
  if (isElementwise(op))
    for (Value operand : op->getOperands())
      if (isTile(operand))
        if (std::optional<TileLayout> layout = findNatural(operand, depth + 1))
          return layout;
  return std::nullopt;
}

void Assigner::propagate() {
  while (!queue.empty()) {
    Value value = queue.pop_back_val();
    TileLayout layout = layouts.find(value)->second;
    propagateToDefinition(value, layout);
    for (OpOperand &use : value.getUses())
      propagateToUser(use, layout);
  }
}

void Assigner::propagateToDefinition(Value value, const TileLayout &layout) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (arg.getArgNumber() > 0)
        assign(loop.getResult(arg.getArgNumber() - 1), layout);
    } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (arg.getOwner() == loop.getBeforeBody()) {
        wish(loop.getInits()[arg.getArgNumber()], layout);
        wish(loop.getYieldOp().getOperand(arg.getArgNumber()), layout);
      } else {
        assign(loop.getResult(arg.getArgNumber()), layout);
      }
    }
    return;
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    assign(loop.getRegionIterArg(number), layout);
    wish(loop.getInitArgs()[number], layout);
    wish(loop.getBody()->getTerminator()->getOperand(number), layout);
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    wish(branch.thenYield().getOperand(number), layout);
    wish(branch.elseYield().getOperand(number), layout);
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    assign(loop.getAfterArguments()[number], layout);
    wish(loop.getConditionOp().getArgs()[number], layout);
    return;
  }
  if (auto load = dyn_cast<atx::TileLoadOp>(op)) {
    for (Value index : load.getIndices())
      if (isTile(index))
        wish(index, layout.restrictTo(getShape(index)));
    return;
  }
  if (auto atomic = dyn_cast<atx::TileAtomicOp>(op)) {
    for (Value operand : op->getOperands())
      if (isTile(operand))
        wish(operand, layout.restrictTo(getShape(operand)));
    return;
  }
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    if (std::optional<TileLayout> source = layout.reshape(getShape(value), getShape(cast.getSource())))
      wish(cast.getSource(), *source);
    return;
  }
  if (isa<atx::TilePinOp, vector::ContractionOp>(op)) {
    auto contract = dyn_cast<vector::ContractionOp>(op);
    wish(contract ? contract.getAcc() : op->getOperand(0), layout);
    return;
  }
  if (isElementwise(op))
    for (Value operand : op->getOperands())
      wish(operand, layout);
}

void Assigner::propagateToUser(OpOperand &use, const TileLayout &layout) {
  Operation *op = use.getOwner();
  if (op->getNumResults() == 1 && flexible.contains(op->getResult(0)))
    return;
  if (auto store = dyn_cast<atx::TileStoreOp>(op)) {
    if (use.get() == store.getValue()) {
      for (Value index : store.getIndices())
        if (isTile(index))
          wish(index, layout.restrictTo(getShape(index)));
      if (Value mask = store.getMask(); mask && isTile(mask))
        wish(mask, layout.restrictTo(getShape(mask)));
    }
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned first = loop.getNumControlOperands();
    assign(loop.getResult(use.getOperandNumber() - first), layout);
    return;
  }
  if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      assign(loop.getBeforeArguments()[use.getOperandNumber()], layout);
    else if (use.getOperandNumber() < parent->getNumResults())
      assign(parent->getResult(use.getOperandNumber()), layout);
    return;
  }
  if (isa<scf::ConditionOp>(op)) {
    assign(op->getParentOp()->getResult(use.getOperandNumber() - 1), layout);
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    assign(loop.getBeforeArguments()[use.getOperandNumber()], layout);
    return;
  }
  if (auto reduce = dyn_cast<atx::TileReduceOp>(op)) {
    if (!isTile(reduce.getResult()))
      return;
    SmallVector<bool> dropped(layout.getRank(), false);
    for (int64_t axis : reduce.getAxes())
      dropped[axis] = true;
    assign(reduce.getResult(), layout.drop(dropped));
    return;
  }
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    if (std::optional<TileLayout> result = layout.reshape(getShape(cast.getSource()), getShape(cast.getResult())))
      assign(cast.getResult(), *result);
    return;
  }
  if (isElementwise(op))
    assign(op->getResult(0), layout);
}

std::optional<TileLayout> Assigner::findWanted(Value value, unsigned depth) {
  if (depth > 20)
    return std::nullopt;
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<vector::ContractionOp>(op)) {
      auto plan = plans.find(op);
      if (plan != plans.end() && plan->second.instruction && use.getOperandNumber() < 2)
        return use.getOperandNumber() == 0 ? plan->second.lhs : plan->second.rhs;
    } else if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
      if (std::optional<TileLayout> wanted = findWanted(transpose.getResult(), depth + 1))
        return getFlexibleRequired(op, use, *wanted);
    } else if (isElementwise(op) && isTile(op->getResult(0))) {
      if (std::optional<TileLayout> wanted = findWanted(op->getResult(0), depth + 1))
        return wanted;
    }
  }
  return std::nullopt;
}

TileLayout Assigner::getAnchor(Operation *op) {
  Value result = op->getResult(0);
  if (auto load = dyn_cast<atx::TileLoadOp>(op)) {
    AccessPattern pattern =
        analyzeAccess(analysis, load.getMemory(), load.getIndices(), {}, getShape(result), getInside(op));
    std::optional<TileLayout> wanted = findWanted(result);
    if (wanted && wanted->getRank() == getShape(result).size()) {
      if (direct != DirectFactors::Never && isLoadedDirectly(*wanted, pattern, direct == DirectFactors::Always))
        return *wanted;
      // A product that sums along another dimension than the contiguous one: a lane reads a block, so that it
      // has neighbours along both.
      int64_t run = wanted->getRunLength(pattern.contiguousDim);
      for (unsigned dim = 0; dim < wanted->getRank(); ++dim)
        if (dim != pattern.contiguousDim && wanted->getRunLength(dim) > run) {
          pattern.blockDim = dim;
          pattern.block = std::min<int64_t>(wanted->getRunLength(dim), std::max<int64_t>(1, 8 / pattern.bytes));
        }
    }
    return getAccessLayout(getShape(result), threads, pattern);
  }
  if (auto atomic = dyn_cast<atx::TileAtomicOp>(op)) {
    AccessPattern pattern =
        analyzeAccess(analysis, atomic.getMemory(), atomic.getIndices(), atomic.getMask(), getShape(result));
    pattern.vector = std::min<int64_t>(pattern.vector, pattern.bytes == 2 ? 2 : 1);
    return getAccessLayout(getShape(result), threads, pattern);
  }
  return getDefault(result);
}

LogicalResult Assigner::assignAnchors() {
  // What cannot choose.
  for (Operation *op : ops) {
    if (auto pin = dyn_cast<atx::TilePinOp>(op)) {
      std::string message;
      std::optional<TileLayout> layout = parsePinLayout(pin.getLayout(), getShape(pin.getResult()), threads, message);
      if (!layout)
        return op->emitError() << "layout \"" << pin.getLayout() << "\" cannot hold " << pin.getType() << ": "
                               << message;
      assign(pin.getResult(), *layout);
    } else if (auto contract = dyn_cast<vector::ContractionOp>(op)) {
      if (!isTile(contract.getResult()))
        continue;
      FailureOr<ContractChoice> choice =
          contract->hasAttr("atx.contract")
              ? getContractChoice(contract, threads, chip)
              : chooseContract(contract, threads, chip, options, findHeldLayout(contract.getLhs(), plans),
                               findNextProduct(contract));
      if (failed(choice))
        return failure();
      FailureOr<ContractPlan> plan = planContract(contract, threads, chip, *choice);
      if (failed(plan))
        return failure();
      if (choice->instruction && choice->instruction->a == MatrixType::XF32 &&
          !(isXF32(contract.getLhs()) && isXF32(contract.getRhs())))
        return contract.emitError() << "'" << choice->instruction->mnemonic
                                    << "' takes factors whose low 13 bits are zero, as those of "
                                       "'bitcast(f32, bitcast(i32, x) & -8192)'";
      setContractChoice(contract, *choice);
      assign(contract.getResult(), plan->acc);
      plans[op] = *plan;
    } else if (auto scan = dyn_cast<atx::TileScanOp>(op)) {
      assign(scan.getResult(), getScanLayout(getShape(scan.getResult()), threads, scan.getAxis()));
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (isTile(constant.getResult()) && !flexible.contains(constant.getResult())) {
        // Every lane holds all of a list of numbers.
        ArrayRef<int64_t> shape = getShape(constant.getResult());
        SmallVector<SmallVector<Mode>> dims(shape.size());
        int64_t stride = 1;
        for (int64_t dim = int64_t(shape.size()) - 1; dim >= 0; --dim) {
          dims[dim].push_back({shape[dim], false, stride});
          stride *= shape[dim];
        }
        layouts.try_emplace(constant.getResult(), TileLayout(threads, dims));
      }
    }
  }
  for (Operation *op : ops)
    if (auto raw = dyn_cast<atx::TileRawOp>(op))
      for (Value result : raw.getResults()) {
        if (!isTile(result))
          continue;
        for (Operation *user : result.getUsers())
          if (isa<atx::TilePinOp>(user) && layouts.contains(user->getResult(0)))
            assign(result, layouts.find(user->getResult(0))->second);
        for (Value input : raw.getInputs())
          if (isTile(input) && getShape(input) == getShape(result) && layouts.contains(input))
            assign(result, layouts.find(input)->second);
        if (!layouts.contains(result))
          return op->emitError() << "the layout of a result of type " << result.getType()
                                 << " is not known; pin it or an operand of the same shape";
      }
  propagate();

  // The largest first: small ones follow them.
  SmallVector<std::pair<int64_t, unsigned>> loads;
  for (auto [i, op] : llvm::enumerate(ops))
    if (isa<atx::TileLoadOp, atx::TileAtomicOp>(op) && isTile(op->getResult(0)))
      loads.push_back({-cast<VectorType>(op->getResult(0).getType()).getNumElements(), unsigned(i)});
  llvm::sort(loads);
  for (auto [size, position] : loads) {
    Operation *op = ops[position];
    assign(op->getResult(0), getAnchor(op));
    propagate();
  }
  return success();
}

void Assigner::assignRest() {
  auto settle = [&](Value value) {
    if (!isTile(value) || flexible.contains(value) || layouts.contains(value))
      return;
    TileLayout layout;
    Operation *op = value.getDefiningOp();
    if (auto reduce = dyn_cast_or_null<atx::TileReduceOp>(op)) {
      TileLayout input = getNatural(reduce.getInput());
      SmallVector<bool> dropped(input.getRank(), false);
      for (int64_t axis : reduce.getAxes())
        dropped[axis] = true;
      layout = input.drop(dropped);
    } else {
      layout = getNatural(value);
    }
    assign(value, layout);
    propagate();
  };
  for (Operation *op : ops) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (auto [init, arg] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
        if (!isTile(init) || layouts.contains(arg))
          continue;
        assign(arg, getNatural(init));
        propagate();
      }
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      for (Value arg : llvm::concat<Value>(llvm::to_vector_of<Value>(loop.getBeforeArguments()),
                                           llvm::to_vector_of<Value>(loop.getAfterArguments())))
        settle(arg);
    for (Value result : op->getResults())
      settle(result);
  }
}

std::optional<TileLayout> Assigner::getRequired(OpOperand &operand) {
  Operation *op = operand.getOwner();
  Value value = operand.get();
  auto of = [&](Value other) { return layouts.find(other)->second; };
  if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return of(loop.getBeforeArguments()[operand.getOperandNumber()]);
    return of(parent->getResult(operand.getOperandNumber()));
  }
  if (isa<scf::ConditionOp>(op))
    return of(op->getParentOp()->getResult(operand.getOperandNumber() - 1));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return of(loop.getResult(operand.getOperandNumber() - loop.getNumControlOperands()));
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return of(loop.getBeforeArguments()[operand.getOperandNumber()]);
  if (auto load = dyn_cast<atx::TileLoadOp>(op))
    return of(load.getResult()).restrictTo(getShape(value));
  if (isa<atx::TileAtomicOp>(op))
    return of(op->getResult(0)).restrictTo(getShape(value));
  if (auto store = dyn_cast<atx::TileStoreOp>(op)) {
    std::optional<TileLayout> held = findNatural(store.getValue());
    AccessPattern pattern =
        analyzeAccess(analysis, store.getMemory(), store.getIndices(), store.getMask(), getShape(store.getValue()));
    // Accesses of less than a word where 8 bytes could go at once are worth moving
    // elements between lanes.
    if (!held ||
        (held->getRunLength(pattern.contiguousDim) * pattern.bytes < 4 && held->getNumRegisters() >= 4 &&
         pattern.vector * pattern.bytes >= 8) ||
        // A work-item writes whole bytes.
        held->getRunLength(pattern.contiguousDim) % pattern.unit != 0)
      held = getAccessLayout(getShape(store.getValue()), threads, pattern);
    return held->restrictTo(getShape(value));
  }
  if (auto contract = dyn_cast<vector::ContractionOp>(op)) {
    auto plan = plans.find(op);
    if (plan == plans.end())
      return std::nullopt;
    if (operand.get() == contract.getAcc() && operand.getOperandNumber() == 2)
      return plan->second.acc;
    if (!plan->second.instruction)
      return std::nullopt;
    return operand.getOperandNumber() == 0 ? plan->second.lhs : plan->second.rhs;
  }
  if (auto scan = dyn_cast<atx::TileScanOp>(op))
    return getScanLayout(getShape(value), threads, scan.getAxis());
  if (auto rank = dyn_cast<atx::TileRankOp>(op))
    return of(rank.getResult());
  if (auto histogram = dyn_cast<atx::TileHistogramOp>(op))
    return getNatural(histogram.getInput()).restrictTo(getShape(value));
  if (auto take = dyn_cast<atx::TileTakeOp>(op); take && operand.getOperandNumber() == 1)
    return of(take.getResult()).restrictTo(getShape(value));
  if (isa<atx::TilePinOp>(op))
    return of(op->getResult(0));
  if (isElementwise(op) && op->getNumResults() == 1)
    return of(op->getResult(0));
  return std::nullopt;
}

void Assigner::setLayouts(Operation *op, ArrayRef<Value> values, StringRef name) {
  SmallVector<Attribute> attrs;
  bool any = false;
  for (Value value : values) {
    if (!isTile(value)) {
      attrs.push_back(builder.getUnitAttr());
      continue;
    }
    any = true;
    ++numAssigned;
    attrs.push_back(layouts.find(value)->second.getAttr(builder.getContext()));
  }
  if (any)
    op->setAttr(name, builder.getArrayAttr(attrs));
}

Value Assigner::require(Value value, const TileLayout &layout) {
  auto it = layouts.find(value);
  if (it != layouts.end() && it->second == layout)
    return value;
  std::pair<Value, Attribute> key(value, layout.getAttr(builder.getContext()));
  if (Value copy = copies.lookup(key))
    return copy;
  Value result;
  if (flexible.contains(value)) {
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get())) {
        operands.push_back(operand.get());
        continue;
      }
      std::optional<TileLayout> needed = getFlexibleRequired(op, operand, layout);
      operands.push_back(require(operand.get(), needed ? *needed : getNatural(operand.get())));
    }
    builder.setInsertionPointAfter(op);
    Operation *clone = builder.clone(*op);
    clone->setOperands(operands);
    // Operands may have been made behind the original.
    for (Value operand : operands)
      if (Operation *def = operand.getDefiningOp())
        if (def->getBlock() == clone->getBlock() && clone->isBeforeInBlock(def))
          clone->moveAfter(def);
    created.insert(clone);
    result = clone->getResult(0);
    ++numRecomputed;
  } else {
    builder.setInsertionPointAfterValue(value);
    auto convert = atx::ConvertLayoutOp::create(builder, value.getLoc(), value.getType(), value);
    created.insert(convert);
    result = convert;
    ++numConversions;
  }
  layouts[result] = layout;
  setLayouts(result.getDefiningOp(), {result}, atx::tileLayoutsAttrName);
  copies[key] = result;
  return result;
}

LogicalResult Assigner::materialize() {
  for (Operation *op : ops) {
    if (op->getNumResults() == 1 && flexible.contains(op->getResult(0)))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get()))
        continue;
      std::optional<TileLayout> needed = getRequired(operand);
      operand.set(require(operand.get(), needed ? *needed : getNatural(operand.get())));
    }
    setLayouts(op, llvm::to_vector_of<Value>(op->getResults()), atx::tileLayoutsAttrName);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      setLayouts(op, llvm::to_vector_of<Value>(loop.getBeforeArguments()), atx::beforeLayoutsAttrName);
  }
  for (Operation *op : llvm::reverse(ops))
    if (op->getNumResults() == 1 && flexible.contains(op->getResult(0)) && op->use_empty())
      op->erase();
  return success();
}

/// Numbers that lead to elements (pages, rows to gather) are read anew by each access that needs them: it holds them
/// the way it holds its elements, and a number costs less than moving it.
static void separatePositions(gpu::GPUFuncOp kernel) {
  llvm::SmallDenseMap<Operation *, Operation *> owners;
  // What changes may give another number when it is read again.
  WrittenTensors written;
  kernel.walk([&](Operation *op) { written.note(op); });
  kernel.walk([&](Operation *access) {
    if (!isa<atx::TileLoadOp, atx::TileStoreOp, atx::TileAtomicOp>(access))
      return;
    // What lies between a load of numbers and the access, operands first.
    SmallVector<Operation *> path;
    llvm::SmallPtrSet<Operation *, 16> seen, leads;
    std::function<bool(Value, unsigned)> reach = [&](Value value, unsigned depth) {
      Operation *op = value.getDefiningOp();
      if (!op || depth > 20 || !isTile(value) || op->getNumResults() != 1 || op->getBlock() != access->getBlock())
        return false;
      if (!seen.insert(op).second)
        return leads.contains(op);
      auto load = dyn_cast<atx::TileLoadOp>(op);
      bool found = load && isa<IntegerType>(getElementTypeOrSelf(value.getType())) &&
                   !cast<MemRefType>(load.getMemory().getType()).getMemorySpace() && !written.mayHold(load.getMemory());
      if (!found && !isElementwise(op) && !isa<vector::BroadcastOp, vector::ShapeCastOp, vector::TransposeOp>(op))
        return false;
      for (Value operand : op->getOperands())
        found |= reach(operand, depth + 1);
      if (found) {
        leads.insert(op);
        path.push_back(op);
      }
      return found;
    };
    ValueRange indices;
    if (auto load = dyn_cast<atx::TileLoadOp>(access))
      indices = load.getIndices();
    else if (auto store = dyn_cast<atx::TileStoreOp>(access))
      indices = store.getIndices();
    else
      indices = cast<atx::TileAtomicOp>(access).getIndices();
    for (Value index : indices)
      reach(index, 0);
    bool isShared = false;
    for (Operation *op : path)
      if (isa<atx::TileLoadOp>(op))
        isShared |= owners.try_emplace(op, access).first->second != access;
    if (!isShared)
      return;
    IRMapping map;
    OpBuilder b(kernel.getContext());
    for (Operation *op : path) {
      b.setInsertionPointAfter(op);
      Operation *copy = b.clone(*op, map);
      if (isa<atx::TileLoadOp>(copy))
        owners.try_emplace(copy, access);
    }
    for (OpOperand &operand : access->getOpOperands())
      if (Value copy = map.lookupOrNull(operand.get()); copy && llvm::is_contained(indices, operand.get()))
        operand.set(copy);
  });
}

/// Page and slot of a position that a multiple of the page's size and a number within a tile add up to: both parts
/// alone, so that what the loop's counter has no part in stays as it is.
static void splitPositions(gpu::GPUFuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<arith::ShRSIOp, arith::AndIOp>(op) && isTile(op->getResult(0)))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    auto sum = op->getOperand(0).getDefiningOp<arith::AddIOp>();
    SplatElementsAttr splat;
    if (!sum || !matchPattern(op->getOperand(1), m_Constant(&splat)))
      continue;
    bool isShift = isa<arith::ShRSIOp>(op);
    APInt number = splat.getSplatValue<APInt>();
    if (isShift ? number.uge(std::min(62u, number.getBitWidth() - 1)) : !number.isMask())
      continue;
    // No divisor tells of as many bits.
    if (!isShift && number.countr_one() >= 62)
      continue;
    // Of this operation alone: others are erased and made on the way.
    IndexAnalysis analysis;
    int64_t size = int64_t(1) << (isShift ? number.getZExtValue() : number.countr_one());
    for (unsigned side = 0; side < 2; ++side) {
      auto whole = sum->getOperand(side).getDefiningOp<vector::BroadcastOp>();
      Value part = sum->getOperand(1 - side);
      if (!whole || isa<VectorType>(whole.getSourceType()))
        continue;
      int64_t divisor = analysis.getInfo(whole.getSource()).divisor;
      std::optional<Bounds> range = analysis.getRange(part);
      // A part below the divisor never carries into it, and the sum does not wrap.
      if (divisor % size != 0 || (isShift && !(range && range->min >= 0 && range->max < divisor)))
        continue;
      OpBuilder b(op);
      Location loc = op->getLoc();
      Type type = op->getResult(0).getType();
      if (!isShift) {
        op->setOperand(0, part);
        break;
      }
      Value scalar = whole.getSource();
      Value amount = arith::ConstantOp::create(b, loc, b.getIntegerAttr(scalar.getType(), number));
      Value first = arith::ShRSIOp::create(b, loc, scalar, amount);
      Value rest = arith::ShRSIOp::create(b, loc, part, op->getOperand(1));
      Value wide = vector::BroadcastOp::create(b, loc, type, first);
      op->getResult(0).replaceAllUsesWith(arith::AddIOp::create(b, loc, wide, rest));
      op->erase();
      break;
    }
  }
}

LogicalResult Assigner::run() {
  splitPositions(kernel);
  separatePositions(kernel);
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != kernel)
      ops.push_back(op);
    return isa<atx::TileRawOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  for (Operation *op : ops) {
    for (Type type : op->getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type); vector && (vector.isScalable() || vector.getRank() == 0))
        return op->emitError() << type << " is no tile: it needs one dimension or more of constant extents";
    if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
      continue;
    bool flex = false;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      flex = isa<SplatElementsAttr>(constant.getValue());
    else if (isa<atx::TileIotaOp, vector::BroadcastOp, vector::TransposeOp>(op))
      flex = true;
    else if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
      flex = isUnitCast(cast);
    else if (isCheap(op))
      flex = llvm::all_of(op->getOperands(),
                          [&](Value operand) { return !isTile(operand) || flexible.contains(operand); });
    if (flex)
      flexible.insert(op->getResult(0));
  }
  if (failed(assignAnchors()))
    return failure();
  assignRest();
  return materialize();
}

namespace {

class AssignTileLayouts : public atrex::impl::AssignTileLayoutsPassBase<AssignTileLayouts> {
public:
  using AssignTileLayoutsPassBase::AssignTileLayoutsPassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (!kernel->hasAttr(atx::kernelAttrName))
      return;
    const ChipInfo *chip = getTarget(kernel, arch);
    if (!chip)
      return signalPassFailure();
    auto threads = kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName);
    if (!threads || threads.getInt() < 64 || threads.getInt() > 1024 || !llvm::isPowerOf2_64(threads.getInt())) {
      kernel.emitError() << "kernel needs '" << atx::threadsAttrName << "', a power of two from 64 to 1024";
      return signalPassFailure();
    }
    if ((mfmaRows != 0 && mfmaRows != 16 && mfmaRows != 32) || wavesM > 16 ||
        (wavesM != 0 && !llvm::isPowerOf2_64(wavesM))) {
      kernel.emitError() << "'mfma-rows=" << unsigned(mfmaRows) << " waves-m=" << unsigned(wavesM)
                         << "' is not possible: rows are 0, 16 or 32, waves 0 or a power of two up to 16";
      return signalPassFailure();
    }
    expandScalarProducts(kernel);
    for (Operation *op : findStreamingAccesses(kernel))
      op->setAttr(streamingAttrName, UnitAttr::get(kernel.getContext()));
    if (!llvm::is_contained({"auto", "never", "always"}, StringRef(direct))) {
      kernel.emitError() << "'direct=" << StringRef(direct) << "' is not possible: it is auto, never or always";
      return signalPassFailure();
    }
    DirectFactors factors = direct == "never"    ? DirectFactors::Never
                            : direct == "always" ? DirectFactors::Always
                                                 : DirectFactors::Own;
    Assigner assigner(kernel, threads.getInt(), *chip, {int64_t(mfmaRows), int64_t(wavesM)}, factors);
    if (failed(assigner.run()))
      return signalPassFailure();
    numAssigned += assigner.numAssigned;
    numConversions += assigner.numConversions;
    numRecomputed += assigner.numRecomputed;
  }
};

} // namespace
