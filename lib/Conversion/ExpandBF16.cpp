//===- ExpandBF16.cpp - Rounding to bf16 in integer arithmetic --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Conversion/Passes.h"
#include "atrex/Target/TargetChip.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace atrex {
#define GEN_PASS_DEF_EXPANDBF16PASS
#include "atrex/Conversion/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class ExpandBF16 : public atrex::impl::ExpandBF16PassBase<ExpandBF16> {
public:
  using ExpandBF16PassBase::ExpandBF16PassBase;

  void runOnOperation() override;

private:
  /// Whether a NaN among the elements of `value` has zeros in the lower half of
  /// its payload. Arithmetic keeps the payload of an operand or makes the
  /// default NaN 0x7FC00000, so it is enough to look at where values come from.
  bool hasShortNaN(Value value);
  void canonicalizeScalarArguments(gpu::GPUFuncOp kernel);
  void expand(arith::TruncFOp op);

  DenseMap<Value, bool> shortNaN;
};

Value splat(OpBuilder &builder, Location loc, Type type, uint32_t bits) {
  auto vector = dyn_cast<VectorType>(type);
  Attribute element = builder.getI32IntegerAttr(int32_t(bits));
  if (vector)
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, element));
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(element));
}

} // namespace

/// Values that `value` takes its NaN from, or nothing where its NaN may be any.
static std::optional<SmallVector<Value>> getNaNSources(Value value) {
  SmallVector<Value> sources;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
    OpOperand *init = loop && arg != loop.getInductionVar() ? loop.getTiedLoopInit(arg) : nullptr;
    if (!init)
      return std::nullopt;
    sources = {init->get(), loop.getTiedLoopYieldedValue(arg)->get()};
    return sources;
  }
  Operation *def = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(def)) {
    sources = {loop.getInitArgs()[number], loop.getBody()->getTerminator()->getOperand(number)};
    return sources;
  }
  if (auto branch = dyn_cast<scf::IfOp>(def)) {
    sources = {branch.thenYield().getOperand(number), branch.elseYield().getOperand(number)};
    return sources;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    auto clean = [](const APFloat &v) { return !v.isNaN() || v.bitcastToAPInt().getLoBits(16).isZero(); };
    bool isClean = false;
    if (auto scalar = dyn_cast<FloatAttr>(constant.getValue()))
      isClean = clean(scalar.getValue());
    else if (auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
      isClean = llvm::all_of(elements.getValues<APFloat>(), clean);
    return isClean ? std::optional(sources) : std::nullopt;
  }
  if (auto ext = dyn_cast<arith::ExtFOp>(def))
    return getElementTypeOrSelf(ext.getIn().getType()).isBF16() ? std::optional(sources) : std::nullopt;
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(def))
    return sources;
  if (auto select = dyn_cast<arith::SelectOp>(def)) {
    if (!def->hasAttr("atx.canonical_nan"))
      sources = {select.getTrueValue(), select.getFalseValue()};
    return sources;
  }
  // A matrix instruction makes its own NaN or hands on one of a factor or of the sum.
  if (def->getName().getStringRef().starts_with("rocdl.mfma.f32")) {
    for (Value operand : def->getOperands()) {
      Type element = getElementTypeOrSelf(operand.getType());
      if (element.isF32())
        sources.push_back(operand);
      else if (element.isF16())
        return std::nullopt;
    }
    return sources;
  }
  // Words that travel between lanes.
  if (auto cast = dyn_cast<arith::BitcastOp>(def)) {
    if (isa<VectorType>(cast.getType()) || cast.getType().getIntOrFloatBitWidth() != 32)
      return std::nullopt;
    sources.push_back(cast.getIn());
    return sources;
  }
  if (auto swizzle = dyn_cast<ROCDL::DsSwizzleOp>(def)) {
    sources.push_back(swizzle.getSrc());
    return sources;
  }
  if (auto permute = dyn_cast<ROCDL::DsBpermuteOp>(def)) {
    sources.push_back(permute.getSrc());
    return sources;
  }
  if (auto dpp = dyn_cast<ROCDL::DPPUpdateOp>(def)) {
    sources = {dpp.getOld(), dpp.getSrc()};
    return sources;
  }
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
          arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, math::FmaOp, math::Exp2Op, math::ExpOp, math::RsqrtOp,
          math::SqrtOp, math::AbsFOp, math::LogOp, math::Log2Op, vector::BroadcastOp, vector::ExtractOp,
          vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp, vector::ShapeCastOp, vector::FromElementsOp,
          atx_amdgpu::LaneReduceOp, vector::InsertOp, LLVM::MaximumOp, LLVM::MinimumOp, LLVM::MaxNumOp, LLVM::MinNumOp>(
          def)) {
    for (Value operand : def->getOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand.getType())))
        sources.push_back(operand);
    return sources;
  }
  return std::nullopt;
}

bool ExpandBF16::hasShortNaN(Value value) {
  if (auto it = shortNaN.find(value); it != shortNaN.end())
    return it->second;
  // All that lead here, loops included: short until one of their sources is not.
  SmallVector<Value> cone = {value};
  DenseMap<Value, SmallVector<Value>> users;
  SmallVector<Value> spoiled;
  llvm::SmallDenseSet<Value> seen = {value};
  for (size_t i = 0; i < cone.size(); ++i) {
    Value current = cone[i];
    std::optional<SmallVector<Value>> sources = getNaNSources(current);
    if (!sources) {
      spoiled.push_back(current);
      continue;
    }
    for (Value source : *sources) {
      users[source].push_back(current);
      auto known = shortNaN.find(source);
      if (known != shortNaN.end()) {
        if (!known->second)
          spoiled.push_back(source);
      } else if (seen.insert(source).second) {
        cone.push_back(source);
      }
    }
  }
  for (Value current : cone)
    shortNaN[current] = true;
  while (!spoiled.empty()) {
    Value current = spoiled.pop_back_val();
    shortNaN[current] = false;
    for (Value user : users.lookup(current))
      if (shortNaN[user])
        spoiled.push_back(user);
  }
  return shortNaN[value];
}

/// A scalar argument may be any NaN; one select per kernel saves the test on
/// every element it reaches.
void ExpandBF16::canonicalizeScalarArguments(gpu::GPUFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  for (BlockArgument arg : kernel.getArguments()) {
    if (!arg.getType().isF32() || arg.use_empty())
      continue;
    Location loc = arg.getLoc();
    Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, arg, arg);
    Value canonical = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(arg.getType(), APFloat::getQNaN(APFloat::IEEEsingle())));
    auto select = arith::SelectOp::create(builder, loc, isNaN, canonical, arg);
    select->setAttr("atx.canonical_nan", builder.getUnitAttr());
    arg.replaceUsesWithIf(
        select, [&](OpOperand &use) { return use.getOwner() != isNaN.getDefiningOp() && use.getOwner() != select; });
  }
}

void ExpandBF16::expand(arith::TruncFOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type floatType = op.getIn().getType();
  auto vector = dyn_cast<VectorType>(floatType);
  auto withElement = [&](Type element) { return vector ? Type(VectorType::get(vector.getShape(), element)) : element; };
  Type i32 = withElement(builder.getI32Type());
  Value bits = arith::BitcastOp::create(builder, loc, i32, op.getIn());
  Value sixteen = splat(builder, loc, i32, 16);
  // Nearest even: add just under half of the last kept place, and the rest when
  // that place is odd.
  Value odd = arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, bits, sixteen),
                                    splat(builder, loc, i32, 1));
  Value sum = arith::AddIOp::create(builder, loc, arith::AddIOp::create(builder, loc, bits, odd),
                                    splat(builder, loc, i32, 0x7FFF));
  if (hasShortNaN(op.getIn())) {
    ++numShort;
  } else {
    ++numGuarded;
    Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, op.getIn(), op.getIn());
    Value quiet = arith::OrIOp::create(builder, loc, bits, splat(builder, loc, i32, 0x400000));
    sum = arith::SelectOp::create(builder, loc, isNaN, quiet, sum);
  }
  Value high = arith::ShRUIOp::create(builder, loc, sum, sixteen);
  Value half = arith::TruncIOp::create(builder, loc, withElement(builder.getI16Type()), high);
  Value result = arith::BitcastOp::create(builder, loc, op.getType(), half);
  op.replaceAllUsesWith(result);
  op.erase();
}

void ExpandBF16::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  const ChipInfo *chip = getTarget(kernel, arch);
  if (!chip)
    return signalPassFailure();
  if (chip->hasCvtPkBF16)
    return;
  SmallVector<arith::TruncFOp> ops;
  kernel.walk([&](arith::TruncFOp op) {
    if (getElementTypeOrSelf(op.getType()).isBF16() && getElementTypeOrSelf(op.getIn().getType()).isF32())
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  for (arith::TruncFOp op : ops)
    if (auto mode = op.getRoundingmode(); mode && *mode != arith::RoundingMode::to_nearest_even) {
      op.emitError() << "rounds '" << arith::stringifyRoundingMode(*mode) << "', which has no expansion for "
                     << chip->arch;
      return signalPassFailure();
    }
  canonicalizeScalarArguments(kernel);
  // Rounded values are extended again: their origin is asked for before they
  // are rewritten.
  for (arith::TruncFOp op : ops)
    hasShortNaN(op.getIn());
  for (arith::TruncFOp op : ops)
    expand(op);
}
