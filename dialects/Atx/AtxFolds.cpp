//===- AtxFolds.cpp - Folders and canonicalization patterns ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two values of one type may hold different numbers in their dynamic leaves.
// So a fold to an operand needs two reasons: the types agree, and the operation
// is known to hand every leaf on, in order. Each case below says why it does.
//
//===----------------------------------------------------------------------===//

#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

bool atx::detail::isStaticType(Type type) {
  // A view has an address, which no type says.
  std::optional<layout::Value> value = getAlgebraValue(type);
  return value && !isa<ViewType>(type) && layout::isStatic(*value) &&
         (!isa<CoordViewType>(type) || layout::isStatic(layout::Value(cast<CoordViewType>(type).getStart())));
}

DictionaryAttr atx::detail::getInherentAttributes(Operation *op) {
  auto attributes = dyn_cast_if_present<DictionaryAttr>(op->getPropertiesAsAttribute());
  return attributes ? attributes : DictionaryAttr::get(op->getContext());
}

/// Whether every leaf of a tuple is the static `number`.
static bool isFilledWith(Type type, int64_t number) {
  auto tuple = dyn_cast<IntTupleType>(type);
  if (!tuple)
    return false;
  bool filled = true;
  tuple.getValue().walk([&](const layout::Int &leaf) { filled &= leaf.is(number); });
  return filled;
}

static bool hasStar(const layout::IntTuple &tuple) {
  bool found = false;
  tuple.walk([&](const layout::Int &leaf) { found |= leaf.isStar(); });
  return found;
}

static bool isAllStars(const layout::IntTuple &tuple) {
  bool all = true;
  tuple.walk([&](const layout::Int &leaf) { all &= leaf.isStar(); });
  return all;
}

//===----------------------------------------------------------------------===//
// Operations of the algebra
//===----------------------------------------------------------------------===//

/// The operand that the operation returns unchanged, if there is one. The caller
/// compares the types.
static Value getForwardedOperand(Operation *op) {
  using Result = Value;
  return TypeSwitch<Operation *, Result>(op)
      .Case<AddOp>([](auto op) -> Result {
        if (isFilledWith(op.getRhs().getType(), 0))
          return op.getLhs();
        return isFilledWith(op.getLhs().getType(), 0) ? Result(op.getRhs()) : Result();
      })
      .Case<MulOp>([](auto op) -> Result {
        if (isFilledWith(op.getRhs().getType(), 1))
          return op.getLhs();
        return isFilledWith(op.getLhs().getType(), 1) ? Result(op.getRhs()) : Result();
      })
      .Case<SubOp>(
          [](auto op) -> Result { return isFilledWith(op.getRhs().getType(), 0) ? Result(op.getLhs()) : Result(); })
      .Case<DivOp, ShapeDivOp, CeilDivOp>(
          [](auto op) -> Result { return isFilledWith(op.getRhs().getType(), 1) ? Result(op.getLhs()) : Result(); })
      .Case<MinOp, MaxOp>([](auto op) -> Result { return op.getLhs() == op.getRhs() ? Result(op.getLhs()) : Result(); })
      // These multiply, merge, drop or add leaves and never reorder them. Where
      // the type is the operand's, there are as many leaves as before.
      .Case<ProductOp, ProductEachOp, ProductLikeOp, CoalesceOp, FilterOp, GetOp, TakeOp, GroupOp, AppendOp, PrependOp>(
          [](Operation *op) -> Result { return op->getOperand(0); })
      .Case<SizeOp, GetShapeOp>([](auto op) -> Result {
        // Of a tuple; a layout is no tuple.
        if (isa<IntTupleType>(op.getValue().getType()))
          return op.getValue();
        return Result();
      })
      // A permutation may keep the type.
      .Case<SelectOp>([](SelectOp op) -> Result {
        for (auto [position, index] : llvm::enumerate(op.getIndices()))
          if (index != int64_t(position))
            return Result();
        return op.getValue();
      })
      .Case<SliceOp>([](SliceOp op) -> Result {
        return isAllStars(op.getCoord().getType().getValue()) ? Result(op.getValue()) : Result();
      })
      .Case<DiceOp>([](DiceOp op) -> Result {
        return hasStar(op.getCoord().getType().getValue()) ? Result() : Result(op.getValue());
      })
      .Case<RecastOp>(
          [](RecastOp op) -> Result { return op.getFrom() == op.getTo() ? Result(op.getLayout()) : Result(); })
      .Case<MakeComposedLayoutOp>([](MakeComposedLayoutOp op) -> Result {
        // N6; a dynamic scale may keep the type and change the strides.
        if (!isFilledWith(op.getOffset().getType(), 0))
          return Result();
        if (auto swizzle = dyn_cast<SwizzleType>(op.getInner().getType()))
          if (const layout::Swizzle *bits = swizzle.getSwizzle().getSwizzle())
            return bits->isIdentity() ? Result(op.getOuter()) : Result();
        if (auto inner = dyn_cast<LayoutType>(op.getInner().getType()))
          if (inner.getLayout().shape.isLeaf() && inner.getLayout().stride.getLeaf().is(1))
            return op.getOuter();
        return Result();
      })
      .Default([](Operation *) { return Result(); });
}

/// What a question about a constructed value asks for, if an operand of the
/// constructor is the answer. The caller compares the types.
static Value getConstructedPart(Operation *op) {
  Operation *maker = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr;
  if (!maker)
    return Value();
  if (isa<GetShapeOp>(op) && isa<MakeLayoutOp, MakeOrderedLayoutOp, MakeIdentityLayoutOp, MakeCoordViewOp>(maker))
    return maker->getOperand(0);
  if (isa<GetStrideOp>(op))
    if (auto layout = dyn_cast<MakeLayoutOp>(maker))
      return layout.getStride();
  if (isa<ComposedInnerOp, ComposedOffsetOp, ComposedOuterOp>(op)) {
    auto make = dyn_cast<MakeComposedLayoutOp>(maker);
    if (!make)
      return Value();
    // The normal form may have dropped the inner part.
    auto map = [](Value value) { return std::get<layout::Map>(*getAlgebraValue(value.getType())); };
    layout::Map whole =
        layout::Composed{map(make.getInner()), make.getOffset().getType().getValue(), map(make.getOuter())};
    if (make.getType() != getAlgebraType(op->getContext(), whole))
      return Value();
    return isa<ComposedInnerOp>(op) ? make.getInner() : isa<ComposedOffsetOp>(op) ? make.getOffset() : make.getOuter();
  }
  return Value();
}

OpFoldResult atx::detail::fold(Operation *op) {
  Type type = op->getResult(0).getType();
  if (type.isInteger(1)) {
    // Questions about static values.
    SmallVector<layout::Value> values;
    for (Value operand : op->getOperands())
      if (std::optional<layout::Value> value = getAlgebraValue(operand.getType()))
        values.push_back(*value);
    layout::Algebra algebra;
    std::optional<layout::Results> results =
        evaluate(op->getName().getStringRef(), algebra, values, getInherentAttributes(op), false);
    if (!results)
      return {};
    return BoolAttr::get(op->getContext(), std::get<bool>(results->front()));
  }
  if (isStaticType(type))
    return TypeAttr::get(type);
  if (Value forwarded = getForwardedOperand(op))
    if (forwarded.getType() == type)
      return forwarded;
  if (Value part = getConstructedPart(op))
    if (part.getType() == type)
      return part;
  // Questions about a view that concern its layout only.
  if (isa<GetShapeOp, GetStrideOp, SizeOp, MakeFragmentLikeOp>(op))
    if (auto view = op->getOperand(0).getDefiningOp<MakeViewOp>()) {
      op->setOperand(0, view.getLayout());
      return op->getResult(0);
    }
  return {};
}

OpFoldResult StaticOp::fold(FoldAdaptor) { return TypeAttr::get(getType()); }

OpFoldResult MakeOp::fold(FoldAdaptor) {
  if (getLeaves().empty())
    return TypeAttr::get(getType());
  // The number taken out of a tuple and put back with the same promise.
  if (getLeaves().size() == 1 && !getChecked())
    if (auto scalar = getLeaves()[0].getDefiningOp<GetScalarOp>())
      if (scalar.getValue().getType() == getType())
        return scalar.getValue();
  return {};
}

OpFoldResult GetScalarOp::fold(FoldAdaptor) {
  const layout::Int &leaf = getValue().getType().getValue().getLeaf();
  if (leaf.isStatic())
    return IntegerAttr::get(getType(), leaf.value);
  if (auto make = getValue().getDefiningOp<MakeOp>())
    if (make.getLeaves().size() == 1 && make.getLeaves()[0].getType() == getType() && !make.getChecked())
      return make.getLeaves()[0];
  return {};
}

//===----------------------------------------------------------------------===//
// Views and fragments
//===----------------------------------------------------------------------===//

OpFoldResult MakeViewOp::fold(FoldAdaptor) {
  // A view taken apart and put together.
  auto ptr = getPtr().getDefiningOp<GetPtrOp>();
  auto layout = getLayout().getDefiningOp<GetLayoutOp>();
  if (ptr && layout && ptr.getView() == layout.getView() && ptr.getView().getType() == getType())
    return ptr.getView();
  // A static layout is a constant, which does not remember its view.
  if (ptr && detail::isStaticType(getLayout().getType()) && ptr.getView().getType() == getType())
    return ptr.getView();
  return {};
}

OpFoldResult MakeCoordViewOp::fold(FoldAdaptor) {
  return detail::isStaticType(getType()) ? OpFoldResult(TypeAttr::get(getType())) : OpFoldResult();
}

OpFoldResult GetLayoutOp::fold(FoldAdaptor) {
  if (detail::isStaticType(getType()))
    return TypeAttr::get(getType());
  if (auto view = getView().getDefiningOp<MakeViewOp>())
    return view.getLayout();
  return {};
}

OpFoldResult GetPtrOp::fold(FoldAdaptor) {
  if (auto view = getView().getDefiningOp<MakeViewOp>())
    return view.getPtr();
  return {};
}

OpFoldResult AddOffsetOp::fold(FoldAdaptor) {
  if (isFilledWith(getOffset().getType(), 0) && getPtr().getType() == getType())
    return getPtr();
  return {};
}

OpFoldResult RecastViewOp::fold(FoldAdaptor) {
  if (getView().getType() == getType())
    return getView();
  // There and back: recasts keep the leaves in order, and a recast to a wider
  // type is exact where it is allowed at all (C19).
  if (auto first = getView().getDefiningOp<RecastViewOp>())
    if (first.getView().getType() == getType())
      return first.getView();
  return {};
}

OpFoldResult ToVectorOp::fold(FoldAdaptor) {
  if (auto from = getFragment().getDefiningOp<FromVectorOp>())
    return from.getVector();
  return {};
}

OpFoldResult FromVectorOp::fold(FoldAdaptor) {
  // Under another layout or chunk it is another fragment.
  if (auto to = getVector().getDefiningOp<ToVectorOp>())
    if (to.getFragment().getType() == getType())
      return to.getFragment();
  return {};
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// Refuses to compute: what remains is what only moves leaves.
class NoArithmetic : public layout::IntBuilder {
public:
  uint32_t emit(Op, const layout::Int &, const layout::Int &) override {
    refused = true;
    return layout::Int::noHandle;
  }
  void assertDivides(const layout::Int &, const layout::Int &, StringRef) override { refused = true; }
  bool refused = false;
};

/// An operation on `make`s whose result has leaves of theirs, unchanged, is a
/// `make` of those leaves: `get_shape(make %m, %n -> L)` is `make %m -> S`.
struct ForwardLeaves : OpInterfaceRewritePattern<AlgebraOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(AlgebraOpInterface op, PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    if (!isa<IntTupleType, LayoutType, ComposedLayoutType>(type))
      return failure();
    SmallVector<layout::Value> values;
    SmallVector<Value> leaves;
    for (Value operand : op->getOperands()) {
      std::optional<layout::Value> value = getAlgebraValue(operand.getType());
      if (!value || isa<ViewType, CoordViewType>(operand.getType()))
        return failure();
      if (!layout::isStatic(*value)) {
        // The run-time assertion of a checked one must not be lost.
        auto make = operand.getDefiningOp<MakeOp>();
        if (!make || make.getChecked())
          return failure();
        unsigned next = leaves.size();
        layout::walkDynamic(*value, [&](layout::Int &leaf) { leaf.handle = next++; });
        llvm::append_range(leaves, make.getLeaves());
      }
      values.push_back(std::move(*value));
    }
    if (leaves.empty())
      return failure();
    NoArithmetic builder;
    layout::Algebra algebra(&builder);
    std::optional<layout::Results> results = atx::detail::evaluate(
        op->getName().getStringRef(), algebra, values, atx::detail::getInherentAttributes(op), /*onView=*/false);
    if (!results || builder.refused || getAlgebraType(op->getContext(), results->front()) != type)
      return failure();
    SmallVector<Value> kept;
    bool known = true;
    layout::walkDynamic(std::as_const(results->front()), [&](const layout::Int &leaf) {
      known &= leaf.handle < leaves.size();
      if (known)
        kept.push_back(leaves[leaf.handle]);
    });
    if (!known)
      return failure();
    rewriter.replaceOpWithNewOp<MakeOp>(op, type, kept, /*checked=*/false);
    return success();
  }
};

/// The leaf of a `make` with operands of 32 or 64 bits.
struct ScalarOfMake : OpRewritePattern<GetScalarOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GetScalarOp op, PatternRewriter &rewriter) const override {
    auto make = op.getValue().getDefiningOp<MakeOp>();
    if (!make || make.getChecked() || make.getLeaves().size() != 1 || !isa<IntegerType>(make.getLeaves()[0].getType()))
      return failure();
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, op.getType(), make.getLeaves()[0]);
    return success();
  }
};

/// Two moves of a pointer, one of them by a number known now, are one move.
struct MergeOffsets : OpRewritePattern<AddOffsetOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOffsetOp op, PatternRewriter &rewriter) const override {
    auto first = op.getPtr().getDefiningOp<AddOffsetOp>();
    if (!first)
      return failure();
    const layout::Int &inner = first.getOffset().getType().getValue().getLeaf();
    const layout::Int &outer = op.getOffset().getType().getValue().getLeaf();
    if (!inner.isStatic() && !outer.isStatic())
      return failure();
    layout::Algebra algebra;
    layout::Int sum = algebra.add(inner, outer);
    PtrType start = first.getPtr().getType();
    if (algebra.failed())
      return failure();
    // The sum may prove a larger alignment than the two steps did; then the
    // pointer would get another type.
    if (getAlignAfter(start.getAlign(), sum, start.getElementType()) != op.getType().getAlign())
      return failure();
    Value offset = AddOp::create(rewriter, op.getLoc(), first.getOffset(), op.getOffset());
    rewriter.replaceOpWithNewOp<AddOffsetOp>(op, op.getType(), first.getPtr(), offset);
    return success();
  }
};

struct LayoutOfCoordView : OpRewritePattern<GetLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GetLayoutOp op, PatternRewriter &rewriter) const override {
    auto view = op.getView().getDefiningOp<MakeCoordViewOp>();
    if (!view)
      return failure();
    rewriter.replaceOpWithNewOp<MakeIdentityLayoutOp>(op, op.getType(), view.getShape());
    return success();
  }
};

struct VectorOfSplat : OpRewritePattern<ToVectorOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ToVectorOp op, PatternRewriter &rewriter) const override {
    auto splat = op.getFragment().getDefiningOp<SplatOp>();
    if (!splat)
      return failure();
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, op.getType(), splat.getValue());
    return success();
  }
};

/// Registers stay where they are, so the first layout does not matter.
struct RetileOfRetile : OpRewritePattern<RetileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RetileOp op, PatternRewriter &rewriter) const override {
    auto first = op.getFragment().getDefiningOp<RetileOp>();
    if (!first)
      return failure();
    rewriter.replaceOpWithNewOp<RetileOp>(op, op.getType(), first.getFragment());
    return success();
  }
};

struct VectorOfRetile : OpRewritePattern<ToVectorOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ToVectorOp op, PatternRewriter &rewriter) const override {
    auto retile = op.getFragment().getDefiningOp<RetileOp>();
    if (!retile)
      return failure();
    rewriter.replaceOpWithNewOp<ToVectorOp>(op, op.getType(), retile.getFragment());
    return success();
  }
};
} // namespace

void AtxDialect::getCanonicalizationPatterns(RewritePatternSet &results) const {
  results
      .add<ForwardLeaves, ScalarOfMake, MergeOffsets, LayoutOfCoordView, VectorOfSplat, RetileOfRetile, VectorOfRetile>(
          getContext());
}
