//===- LowerAtx.cpp - The atx dialect to arith, scf, vector and LLVM ------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of the algebra becomes one i64 per dynamic leaf, a pointer its base
// and an offset in elements, a view the pointer and the leaves of its layout, a
// fragment one vector per chunk. The algebra runs a second time, on those
// leaves, with a builder that emits arith operations.
//
//===----------------------------------------------------------------------===//

#include "LowerAtx.h"
#include "atrex/Conversion/Passes.h"
#include "atrex/Layout/Text.h"
#include "atrex/Target/Chip.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

namespace atrex {
#define GEN_PASS_DEF_LOWERATXPASS
#include "atrex/Conversion/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

namespace {

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Emits the arithmetic of the algebra on i64 values. Handles are positions in
/// a list of values.
class ArithBuilder : public layout::IntBuilder {
public:
  ArithBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  uint32_t addValue(Value value) {
    values.push_back(value);
    return values.size() - 1;
  }

  /// The integer as an i64 value; its path is ignored.
  Value materialize(const layout::Int &value) {
    // Without a handle after a fault, which is reported at the end.
    if (value.isDynamic() && value.handle < values.size())
      return values[value.handle];
    return arith::ConstantIntOp::create(builder, loc, value.value, 64);
  }

  uint32_t emit(Op op, const layout::Int &lhs, const layout::Int &rhs) override {
    Value a = materialize(lhs), b = op == Op::Abs ? Value() : materialize(rhs);
    auto result = [&]() -> Value {
      switch (op) {
      case Op::Add:
        return builder.createOrFold<arith::AddIOp>(loc, a, b);
      case Op::Sub:
        return builder.createOrFold<arith::SubIOp>(loc, a, b);
      case Op::Mul:
        return builder.createOrFold<arith::MulIOp>(loc, a, b);
      case Op::Div:
        return builder.createOrFold<arith::DivSIOp>(loc, a, b);
      case Op::Rem:
        return builder.createOrFold<arith::RemSIOp>(loc, a, b);
      case Op::DivU:
        return builder.createOrFold<arith::DivUIOp>(loc, a, b);
      case Op::RemU:
        return builder.createOrFold<arith::RemUIOp>(loc, a, b);
      case Op::CeilDiv:
        return builder.createOrFold<arith::CeilDivSIOp>(loc, a, b);
      case Op::FloorDiv:
        return builder.createOrFold<arith::FloorDivSIOp>(loc, a, b);
      case Op::FloorMod: {
        Value quotient = builder.createOrFold<arith::FloorDivSIOp>(loc, a, b);
        return builder.createOrFold<arith::SubIOp>(loc, a, builder.createOrFold<arith::MulIOp>(loc, quotient, b));
      }
      case Op::Abs: {
        Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
        return builder.createOrFold<arith::MaxSIOp>(loc, a, builder.createOrFold<arith::SubIOp>(loc, zero, a));
      }
      case Op::Min:
        return builder.createOrFold<arith::MinSIOp>(loc, a, b);
      case Op::Max:
        return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
      case Op::And:
        return builder.createOrFold<arith::AndIOp>(loc, a, b);
      case Op::Xor:
        return builder.createOrFold<arith::XOrIOp>(loc, a, b);
      case Op::Shl:
        return builder.createOrFold<arith::ShLIOp>(loc, a, b);
      case Op::ShrU:
        return builder.createOrFold<arith::ShRUIOp>(loc, a, b);
      }
      return a;
    }();
    return addValue(result);
  }

  void assertDivides(const layout::Int &divisor, const layout::Int &value, StringRef) override {
    Value rest = arith::RemSIOp::create(builder, loc, materialize(value), materialize(divisor));
    emitTrapUnless(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                                         arith::ConstantIntOp::create(builder, loc, 0, 64)));
  }

  void emitTrapUnless(Value condition) {
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value fails = arith::XOrIOp::create(builder, loc, condition, one);
    scf::IfOp::create(builder, loc, fails, [&](OpBuilder &inner, Location at) {
      LLVM::Trap::create(inner, at);
      scf::YieldOp::create(inner, at);
    });
  }

  OpBuilder &builder;
  Location loc;

private:
  SmallVector<Value> values;
};

/// Gives the dynamic leaves of a value the next run-time values.
template <typename T> T attach(ArithBuilder &arith, const T &value, ValueRange values, unsigned &next) {
  layout::Value wrapped;
  if constexpr (std::is_same_v<T, layout::Layout>)
    wrapped = layout::Map(value);
  else
    wrapped = value;
  layout::walkDynamic(wrapped, [&](layout::Int &leaf) { leaf.handle = arith.addValue(values[next++]); });
  if constexpr (std::is_same_v<T, layout::Layout>)
    return *std::get<layout::Map>(wrapped).getLayout();
  else if constexpr (std::is_same_v<T, layout::Value>)
    return wrapped;
  else
    return std::get<T>(wrapped);
}

/// The run-time values of the dynamic leaves.
void detach(ArithBuilder &arith, const layout::Value &value, SmallVectorImpl<Value> &values) {
  layout::walkDynamic(value, [&](const layout::Int &leaf) { values.push_back(arith.materialize(leaf)); });
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// A view while code is generated.
struct LoweredView {
  LoweredView(ArithBuilder &arith, ViewType type, ValueRange values) : type(type), base(values[0]), offset(values[1]) {
    unsigned next = 2;
    layout = attach(arith, type.getLayout(), values, next);
  }

  ViewType type;
  Value base;
  /// Elements.
  Value offset;
  layout::Layout layout;
};

/// An offset in elements: what is known now and what is not.
struct Offset {
  int64_t constant = 0;
  layout::Int dynamic = 0;

  static Offset of(const layout::Int &value) {
    if (value.isStatic())
      return {value.value, 0};
    return {0, value};
  }
};

/// The value of `layout` at a static 1-D coordinate, static strides apart from
/// dynamic ones.
Offset evaluateAt(layout::Algebra &algebra, const layout::Layout &layout, int64_t index) {
  Offset offset;
  auto leaves = layout.getLeaves();
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    int64_t digit = index;
    if (i + 1 < leaves.size()) {
      // Only the last leaf may be dynamic here.
      digit = index % leaf.first.value;
      index /= leaf.first.value;
    }
    layout::Int term = algebra.mul(digit, leaf.second);
    if (term.isStatic())
      offset.constant += term.value;
    else
      offset.dynamic = algebra.add(offset.dynamic, term);
  }
  return offset;
}

uint64_t lowestBit(uint64_t value) { return value ? value & (0 - value) : uint64_t(1) << 62; }

/// The address of an element, swizzled, constants apart.
Address getAddress(ArithBuilder &arith, layout::Algebra &algebra, const LoweredView &view, const Offset &element,
                   int64_t align) {
  int64_t bytes = getElementBits(view.type.getElementType()) / 8;
  Address address;
  address.base = view.base;
  address.space = view.type.getSpace();
  // The base of the memory is aligned to at least the view's alignment, so the
  // offset of the view is a multiple of it.
  layout::Int start =
      layout::Int::dynamic(std::max<int64_t>(1, view.type.getAlign() / bytes), arith.addValue(view.offset));
  layout::Int dynamic = algebra.mul(algebra.add(start, element.dynamic), bytes);
  int64_t constant = element.constant * bytes;
  const layout::Swizzle swizzle = view.type.getSwizzle();
  if (!swizzle.isIdentity()) {
    // Multiples of the period pass through (L36).
    int64_t period = swizzle.getPeriod();
    int64_t rest = ((constant % period) + period) % period;
    constant -= rest;
    uint64_t unit = lowestBit(dynamic.getDivisor());
    if (rest != 0 && uint64_t(rest) < unit) {
      // dynamic + rest = dynamic XOR rest, and the swizzle is linear over XOR.
      int64_t moved = swizzle(rest);
      dynamic = algebra.swizzle(swizzle, dynamic);
      if (moved == rest && rest < (int64_t(1) << swizzle.base))
        constant += rest;
      else
        dynamic = layout::Int::dynamic(std::min<uint64_t>(lowestBit(moved), unit),
                                       arith.emit(layout::IntBuilder::Op::Xor, dynamic, moved));
    } else {
      dynamic = algebra.swizzle(swizzle, algebra.add(dynamic, rest));
    }
  }
  Value offset = arith.materialize(dynamic);
  if (address.space == MemorySpace::Shared || address.space == MemorySpace::Buffer)
    offset = arith.builder.createOrFold<arith::TruncIOp>(arith.loc, arith.builder.getI32Type(), offset);
  address.offset = offset;
  address.constant = constant;
  address.align = align;
  return address;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Registers of a fragment as vectors that may be cut and joined.
class RegisterFile {
public:
  RegisterFile(OpBuilder &builder, Location loc, Type elementType)
      : builder(builder), loc(loc), elementType(elementType) {}

  /// Fills registers [start, start + elements of `vector`).
  void write(int64_t start, Value vector) {
    int64_t count = cast<VectorType>(vector.getType()).getNumElements();
    // What the new piece cuts off from older ones survives as smaller pieces.
    auto piece = pieces.upper_bound(start);
    if (piece != pieces.begin())
      --piece;
    while (piece != pieces.end() && piece->first < start + count) {
      auto [at, old] = *piece;
      int64_t size = cast<VectorType>(old.getType()).getNumElements();
      if (at + size <= start) {
        ++piece;
        continue;
      }
      piece = pieces.erase(piece);
      if (at < start)
        pieces[at] = slice(old, 0, start - at);
      if (at + size > start + count)
        pieces[start + count] = slice(old, start + count - at, at + size - start - count);
    }
    pieces[start] = vector;
  }

  /// Registers [start, start + count) as a vector; unwritten ones are zero.
  Value read(int64_t start, int64_t count) {
    auto type = VectorType::get({count}, elementType);
    Value result;
    auto piece = pieces.upper_bound(start);
    if (piece != pieces.begin())
      --piece;
    for (; piece != pieces.end() && piece->first < start + count; ++piece) {
      int64_t at = piece->first, size = cast<VectorType>(piece->second.getType()).getNumElements();
      int64_t low = std::max(at, start), high = std::min(at + size, start + count);
      if (low >= high)
        continue;
      Value part = slice(piece->second, low - at, high - low);
      if (high - low == count)
        return part;
      if (!result)
        result = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
      result = vector::InsertStridedSliceOp::create(builder, loc, part, result, ArrayRef<int64_t>{low - start},
                                                    ArrayRef<int64_t>{1});
    }
    if (!result)
      result = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    return result;
  }

  SmallVector<Value> readChunks(FragmentType type) {
    SmallVector<Value> chunks;
    for (int64_t i = 0; i < type.getNumChunks(); ++i)
      chunks.push_back(read(i * type.getChunk(), type.getChunk()));
    return chunks;
  }

  void writeChunks(FragmentType type, ValueRange chunks) {
    for (auto [i, chunk] : llvm::enumerate(chunks))
      write(i * type.getChunk(), chunk);
  }

private:
  Value slice(Value vector, int64_t start, int64_t count) {
    if (cast<VectorType>(vector.getType()).getNumElements() == count)
      return vector;
    return vector::ExtractStridedSliceOp::create(builder, loc, vector, ArrayRef<int64_t>{start},
                                                 ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
  }

  OpBuilder &builder;
  Location loc;
  Type elementType;
  std::map<int64_t, Value> pieces;
};

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

struct Options {
  int64_t unrollLimit;
};

/// Reports a fault that inference should have found; only reachable when a type
/// was built without its verifier.
LogicalResult reportFault(Operation *op, const layout::Algebra &algebra) {
  return emitFault(op->getLoc(), op->getName().getStringRef(), *algebra.getFault());
}

/// Values of a view or coordinate view after a move.
LogicalResult replaceMoved(Operation *op, ArithBuilder &arith, layout::Algebra &algebra, Type viewType,
                           ValueRange values, const layout::Partition &partition, ConversionPatternRewriter &rewriter) {
  SmallVector<Value> result;
  if (isa<ViewType>(viewType)) {
    layout::Int start = layout::Int::dynamic(1, arith.addValue(values[1]));
    result = {values[0], arith.materialize(algebra.add(start, partition.offset.getLeaf()))};
  } else {
    unsigned next = 0;
    layout::IntTuple start = attach(arith, cast<CoordViewType>(viewType).getStart(), values, next);
    detach(arith, algebra.addOffset(start, partition.offset, /*coordinate=*/true), result);
  }
  detach(arith, layout::Value(layout::Map(partition.layout)), result);
  if (algebra.failed())
    return reportFault(op, algebra);
  rewriter.replaceOpWithMultiple(op, {result});
  return success();
}

/// All operations of the algebra: the evaluation that inferred the type runs on
/// run-time leaves.
struct AlgebraPattern : public OpInterfaceConversionPattern<AlgebraOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult matchAndRewrite(AlgebraOpInterface op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    ArithBuilder arith(rewriter, op.getLoc());
    layout::Algebra algebra(&arith);
    SmallVector<layout::Value> values;
    for (auto [operand, range] : llvm::zip(op->getOperands(), operands)) {
      unsigned next = 0;
      if (auto view = dyn_cast<ViewType>(operand.getType())) {
        next = 2;
      } else if (auto coord = dyn_cast<CoordViewType>(operand.getType())) {
        layout::walkDynamic(layout::Value(coord.getStart()), [&](const layout::Int &) { ++next; });
      }
      values.push_back(attach(arith, *getAlgebraValue(operand.getType()), range, next));
    }
    Type viewType = op->getNumOperands() ? op->getOperand(0).getType() : Type();
    bool onView = isa_and_present<ViewType, CoordViewType>(viewType);
    std::optional<layout::Results> results = op.evaluateOp(algebra, values, op->getAttrDictionary(), onView);
    if (!results)
      return reportFault(op, algebra);
    Type resultType = op->getResult(0).getType();
    if (isa<ViewType, CoordViewType>(resultType)) {
      layout::Partition partition{*std::get<layout::Map>(results->front()).getLayout(),
                                  std::get<layout::IntTuple>(results->back())};
      return replaceMoved(op, arith, algebra, viewType, operands[0], partition, rewriter);
    }
    if (auto *truth = std::get_if<bool>(&results->front())) {
      rewriter.replaceOpWithNewOp<arith::ConstantIntOp>(op, *truth, 1);
      return success();
    }
    SmallVector<Value> leaves;
    detach(arith, results->front(), leaves);
    rewriter.replaceOpWithMultiple(op, {leaves});
    return success();
  }
};

struct StaticPattern : public OpConversionPattern<StaticOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StaticOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{SmallVector<Value>()});
    return success();
  }
};

struct MakePattern : public OpConversionPattern<MakeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MakeOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> leaves;
    for (ValueRange range : adaptor.getLeaves()) {
      Value leaf = range.front();
      if (isa<IndexType>(leaf.getType()))
        leaf = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), leaf);
      else if (leaf.getType().isInteger(32))
        leaf = arith::ExtSIOp::create(rewriter, loc, rewriter.getI64Type(), leaf);
      leaves.push_back(leaf);
    }
    if (op.getChecked()) {
      ArithBuilder arith(rewriter, loc);
      unsigned next = 0;
      layout::walkDynamic(*getAlgebraValue(op.getType()), [&](const layout::Int &leaf) {
        layout::Int value = layout::Int::dynamic(1, arith.addValue(leaves[next++]));
        if (leaf.value != 1)
          arith.assertDivides(leaf.value, value, "");
      });
    }
    rewriter.replaceOpWithMultiple(op, {leaves});
    return success();
  }
};

struct GetScalarPattern : public OpConversionPattern<GetScalarOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(GetScalarOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const layout::Int leaf = op.getValue().getType().getValue().getLeaf();
    if (leaf.isStatic())
      rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, leaf.value);
    else
      rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(), adaptor.getValue().front());
    return success();
  }
};

Value zero64(OpBuilder &builder, Location loc) { return arith::ConstantIntOp::create(builder, loc, 0, 64); }

struct MakePtrPattern : public OpConversionPattern<MakePtrOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MakePtrOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values = {adaptor.getBase().front(), zero64(rewriter, op.getLoc())};
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct AllocSharedPattern : public OpConversionPattern<AllocSharedOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AllocSharedOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto name = op->getAttrOfType<StringAttr>("atx.symbol");
    Value base = LLVM::AddressOfOp::create(rewriter, op.getLoc(), LLVM::LLVMPointerType::get(rewriter.getContext(), 3),
                                           name.getValue());
    SmallVector<Value> values = {base, zero64(rewriter, op.getLoc())};
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct MakeViewPattern : public OpConversionPattern<MakeViewOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MakeViewOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values(adaptor.getPtr());
    llvm::append_range(values, adaptor.getLayout());
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct MakeCoordViewPattern : public OpConversionPattern<MakeCoordViewOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MakeCoordViewOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    // The start is static, the strides are unit coordinates.
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(adaptor.getShape())});
    return success();
  }
};

struct GetLayoutPattern : public OpConversionPattern<GetLayoutOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(GetLayoutOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    unsigned skip = 2;
    if (auto coord = dyn_cast<CoordViewType>(op.getView().getType())) {
      skip = 0;
      layout::walkDynamic(layout::Value(coord.getStart()), [&](const layout::Int &) { ++skip; });
    }
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(adaptor.getView().drop_front(skip))});
    return success();
  }
};

struct GetPtrPattern : public OpConversionPattern<GetPtrOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(GetPtrOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(adaptor.getView().take_front(2))});
    return success();
  }
};

struct AddOffsetPattern : public OpConversionPattern<AddOffsetOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AddOffsetOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArithBuilder arith(rewriter, op.getLoc());
    layout::Algebra algebra(&arith);
    unsigned next = 0;
    layout::IntTuple offset = attach(arith, op.getOffset().getType().getValue(), adaptor.getOffset(), next);
    layout::Int start = layout::Int::dynamic(1, arith.addValue(adaptor.getPtr()[1]));
    SmallVector<Value> values = {adaptor.getPtr()[0], arith.materialize(algebra.add(start, offset.getLeaf()))};
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct RecastViewPattern : public OpConversionPattern<RecastViewOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RecastViewOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArithBuilder arith(rewriter, op.getLoc());
    layout::Algebra algebra(&arith);
    LoweredView view(arith, op.getView().getType(), adaptor.getView());
    int64_t from = getElementBits(view.type.getElementType()), to = getElementBits(op.getElementType());
    layout::Map recast = algebra.recast(layout::Map(view.layout), from, to);
    if (algebra.failed())
      return reportFault(op, algebra);
    layout::Int offset =
        layout::Int::dynamic(std::max<int64_t>(1, view.type.getAlign() * 8 / from), arith.addValue(view.offset));
    offset = to > from ? algebra.div(offset, to / from) : algebra.mul(offset, from / to);
    SmallVector<Value> values = {view.base, arith.materialize(offset)};
    detach(arith, layout::Value(recast), values);
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct PartitionCopyPattern : public OpConversionPattern<PartitionCopyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartitionCopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override;
};

struct PartitionMmaPattern : public OpConversionPattern<PartitionMmaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartitionMmaOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override;
};

/// The layout of a view with its run-time leaves.
layout::Layout attachLayout(ArithBuilder &arith, Type type, ValueRange values) {
  unsigned next = 2;
  if (auto view = dyn_cast<ViewType>(type))
    return attach(arith, view.getLayout(), values, next);
  auto coord = cast<CoordViewType>(type);
  next = 0;
  layout::walkDynamic(layout::Value(coord.getStart()), [&](const layout::Int &) { ++next; });
  return attach(arith, coord.getLayout(), values, next);
}

LogicalResult PartitionCopyPattern::matchAndRewrite(PartitionCopyOp op, OneToNOpAdaptor adaptor,
                                                    ConversionPatternRewriter &rewriter) const {
  ArithBuilder arith(rewriter, op.getLoc());
  layout::Algebra algebra(&arith);
  Type type = op.getView().getType();
  auto view = dyn_cast<ViewType>(type);
  unsigned next = 0;
  layout::IntTuple thread = attach(arith, op.getThread().getType().getValue(), adaptor.getThread(), next);
  std::optional<layout::Partition> partition =
      atx::detail::evaluatePartition(algebra, op.getTiled(), view ? view.getElementType() : Type(),
                                     attachLayout(arith, type, adaptor.getView()), thread.getLeaf());
  if (!partition)
    return reportFault(op, algebra);
  return replaceMoved(op, arith, algebra, type, adaptor.getView(), *partition, rewriter);
}

LogicalResult PartitionMmaPattern::matchAndRewrite(PartitionMmaOp op, OneToNOpAdaptor adaptor,
                                                   ConversionPatternRewriter &rewriter) const {
  ArithBuilder arith(rewriter, op.getLoc());
  layout::Algebra algebra(&arith);
  Type type = op.getView().getType();
  unsigned next = 0;
  layout::IntTuple thread = attach(arith, op.getThread().getType().getValue(), adaptor.getThread(), next);
  std::optional<layout::Partition> partition = atx::detail::evaluatePartition(
      algebra, op.getTiled(), op.getOperand(), attachLayout(arith, type, adaptor.getView()), thread.getLeaf());
  if (!partition)
    return reportFault(op, algebra);
  return replaceMoved(op, arith, algebra, type, adaptor.getView(), *partition, rewriter);
}

//===----------------------------------------------------------------------===//
// Elements and fragments
//===----------------------------------------------------------------------===//

/// Address of the element at a coordinate.
FailureOr<Address> getElementAddress(Operation *op, ViewType type, ValueRange values, IntTupleType coordType,
                                     ValueRange coordValues, ArithBuilder &arith) {
  layout::Algebra algebra(&arith);
  LoweredView view(arith, type, values);
  unsigned next = 0;
  layout::IntTuple coord = attach(arith, coordType.getValue(), coordValues, next);
  layout::IntTuple index = algebra.crd2idx(coord, layout::Map(view.layout));
  if (algebra.failed())
    return reportFault(op, algebra);
  int64_t bytes = getElementBits(type.getElementType()) / 8;
  return getAddress(
      arith, algebra, view, Offset::of(index.getLeaf()),
      std::min<int64_t>(lowestBit(bytes), getAlignAfter(type.getAlign(), index.getLeaf(), type.getElementType())));
}

struct LoadPattern : public OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArithBuilder arith(rewriter, op.getLoc());
    FailureOr<Address> address = getElementAddress(op, op.getView().getType(), adaptor.getView(),
                                                   op.getCoord().getType(), adaptor.getCoord(), arith);
    if (failed(address))
      return failure();
    Value vector = emitVectorLoad(rewriter, op.getLoc(), *address, VectorType::get({1}, op.getType()));
    rewriter.replaceOpWithNewOp<vector::ExtractOp>(op, vector, ArrayRef<int64_t>{0});
    return success();
  }
};

struct StorePattern : public OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArithBuilder arith(rewriter, op.getLoc());
    FailureOr<Address> address = getElementAddress(op, op.getView().getType(), adaptor.getView(),
                                                   op.getCoord().getType(), adaptor.getCoord(), arith);
    if (failed(address))
      return failure();
    Value value = adaptor.getValue().front();
    Value vector = vector::BroadcastOp::create(rewriter, op.getLoc(), VectorType::get({1}, value.getType()), value);
    emitVectorStore(rewriter, op.getLoc(), vector, *address);
    rewriter.eraseOp(op);
    return success();
  }
};

struct SplatPattern : public OpConversionPattern<SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SplatOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value chunk =
        vector::BroadcastOp::create(rewriter, op.getLoc(), op.getType().getChunkType(), adaptor.getValue().front());
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(op.getType().getNumChunks(), chunk)});
    return success();
  }
};

struct ToVectorPattern : public OpConversionPattern<ToVectorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ToVectorOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getFragment().getType();
    RegisterFile registers(rewriter, op.getLoc(), type.getElementType());
    registers.writeChunks(type, adaptor.getFragment());
    rewriter.replaceOp(op, registers.read(0, type.getNumElements()));
    return success();
  }
};

struct FromVectorPattern : public OpConversionPattern<FromVectorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(FromVectorOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RegisterFile registers(rewriter, op.getLoc(), op.getType().getElementType());
    registers.write(0, adaptor.getVector().front());
    rewriter.replaceOpWithMultiple(op, {registers.readChunks(op.getType())});
    return success();
  }
};

struct RetilePattern : public OpConversionPattern<RetileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RetileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getFragment().getType();
    RegisterFile registers(rewriter, op.getLoc(), type.getElementType());
    registers.writeChunks(type, adaptor.getFragment());
    rewriter.replaceOpWithMultiple(op, {registers.readChunks(op.getType())});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Copy
//===----------------------------------------------------------------------===//

/// Leaves of a layout, the first ones cut so that `values` ends a leaf.
SmallVector<std::pair<layout::Int, layout::Int>> cutLeaves(layout::Algebra &algebra, const layout::Layout &layout,
                                                           int64_t values) {
  SmallVector<std::pair<layout::Int, layout::Int>> leaves;
  int64_t have = 1;
  for (auto &[extent, stride] : layout.getLeaves()) {
    if (extent.is(1))
      continue;
    int64_t missing = values / std::min(have, values);
    if (have < values && !(extent.isStatic() && extent.value <= missing)) {
      leaves.emplace_back(missing, stride);
      leaves.emplace_back(algebra.div(extent, missing), algebra.mul(stride, missing));
      have = values;
      continue;
    }
    leaves.emplace_back(extent, stride);
    have = extent.isStatic() ? have * extent.value : values;
  }
  return leaves;
}

layout::Layout fromLeaves(ArrayRef<std::pair<layout::Int, layout::Int>> leaves) {
  if (leaves.empty())
    return layout::Layout();
  std::vector<layout::IntTuple> shape, stride;
  for (auto &[extent, step] : leaves) {
    shape.push_back(extent);
    stride.push_back(step);
  }
  return layout::Layout(layout::IntTuple::tuple(std::move(shape)), layout::IntTuple::tuple(std::move(stride)));
}

class CopyLowering {
public:
  CopyLowering(CopyOp op, ConversionPatternRewriter &rewriter, int64_t unrollLimit)
      : op(op), rewriter(rewriter), loc(op.getLoc()), arith(rewriter, loc), algebra(&arith), atom(op.getCopyAtom()),
        values(op.getValuesPerAccess()), unrollLimit(unrollLimit) {}

  LogicalResult run(CopyOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor) {
    if (auto type = dyn_cast<ViewType>(op.getSource().getType())) {
      source.emplace(arith, type, adaptor.getSource());
    } else {
      sourceType = cast<FragmentType>(op.getSource().getType());
      registers.emplace(rewriter, loc, sourceType.getElementType());
      registers->writeChunks(sourceType, adaptor.getSource());
    }
    if (op.getDestination())
      destination.emplace(arith, op.getDestination().getType(), adaptor.getDestination());
    else
      registers.emplace(rewriter, loc, cast<FragmentType>(op.getResult().getType()).getElementType());
    if (op.getCoords()) {
      unsigned next = 0;
      start = attach(arith, op.getCoords().getType().getStart(), adaptor.getCoords(), next);
      coords = attach(arith, op.getCoords().getType().getLayout(), adaptor.getCoords(), next);
      next = 0;
      bounds = attach(arith, op.getBounds().getType().getValue(), adaptor.getBounds(), next);
    }
    layout::Int size = algebra.size(layout::Value(layout::Map((source ? source : destination)->layout)));
    bool onRegisters = registers.has_value();
    bool unroll = size.isStatic() && (onRegisters || size.value / values <= unrollLimit);
    if (unroll) {
      for (int64_t i = 0; i < size.value; i += values)
        if (failed(emitAccess(i, nullptr)))
          return failure();
    } else if (failed(emitLoop(size))) {
      return failure();
    }
    if (algebra.failed())
      return reportFault(op, algebra);
    if (faulty)
      return failure();
    if (op.getResult())
      rewriter.replaceOpWithMultiple(op, {registers->readChunks(cast<FragmentType>(op.getResult().getType()))});
    else
      rewriter.eraseOp(op);
    return success();
  }

private:
  /// Where a loop iteration starts.
  struct Iteration {
    int64_t unrolled;
    layout::Int index;
    layout::Int source = 0, destination = 0;
  };

  /// A loop over the slow modes around as many unrolled accesses as fit the
  /// limit.
  LogicalResult emitLoop(const layout::Int &size) {
    auto from = cutLeaves(algebra, source->layout, values), to = cutLeaves(algebra, destination->layout, values);
    // Ends of leading leaves that both layouts share.
    auto ends = [](ArrayRef<std::pair<layout::Int, layout::Int>> leaves) {
      std::map<int64_t, unsigned> result;
      int64_t product = 1;
      result[1] = 0;
      for (auto [i, leaf] : llvm::enumerate(leaves)) {
        if (!leaf.first.isStatic())
          break;
        product *= leaf.first.value;
        result[product] = i + 1;
      }
      return result;
    };
    auto fromEnds = ends(from), toEnds = ends(to);
    int64_t unrolled = values;
    for (auto [product, count] : fromEnds)
      if (toEnds.count(product) && product % values == 0 && product / values <= unrollLimit)
        unrolled = std::max(unrolled, product);
    if (!fromEnds.count(unrolled) || !toEnds.count(unrolled))
      return op.emitOpError("cannot be looped over: the leading modes of source and destination do not end together");
    layout::Layout slowFrom = fromLeaves(ArrayRef(from).drop_front(fromEnds[unrolled]));
    layout::Layout slowTo = fromLeaves(ArrayRef(to).drop_front(toEnds[unrolled]));
    layout::Int trips = algebra.product(slowFrom.shape);
    Value low = zero64(rewriter, loc), step = arith::ConstantIntOp::create(rewriter, loc, 1, 64);
    auto loop = scf::ForOp::create(rewriter, loc, low, arith.materialize(trips), step);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    layout::Int trip = layout::Int::dynamic(1, arith.addValue(loop.getInductionVar()));
    Iteration iteration{unrolled, algebra.mul(trip, unrolled),
                        algebra.crd2idx(layout::IntTuple(trip), layout::Map(slowFrom)).getLeaf(),
                        algebra.crd2idx(layout::IntTuple(trip), layout::Map(slowTo)).getLeaf()};
    for (int64_t i = 0; i < unrolled; i += values)
      if (failed(emitAccess(i, &iteration)))
        return failure();
    return success();
  }

  Address addressOf(const LoweredView &view, int64_t index, const layout::Int &loopOffset, int64_t align) {
    Offset offset = evaluateAt(algebra, view.layout, index);
    offset.dynamic = algebra.add(offset.dynamic, loopOffset.isStatic() ? layout::Int(0) : loopOffset);
    if (loopOffset.isStatic())
      offset.constant += loopOffset.value;
    return getAddress(arith, algebra, view, offset, align);
  }

  /// Coordinate of element `index` (plus that of the iteration).
  layout::IntTuple coordinateAt(int64_t index, const Iteration *iteration) {
    layout::Int position = index;
    if (iteration)
      position = algebra.add(iteration->index, index);
    return algebra.addOffset(start, algebra.crd2idx(layout::IntTuple(position), layout::Map(coords)),
                             /*coordinate=*/true);
  }

  /// Whether the coordinate is inside the bounds; null when it always is.
  Value isInside(const layout::IntTuple &coord, bool &never) {
    Value inside;
    for (auto [c, bound] : llvm::zip(coord.flatten(), bounds.flatten())) {
      if (c.isStatic() && bound.isStatic()) {
        never |= c.value >= bound.value;
        continue;
      }
      Value less = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, arith.materialize(c),
                                         arith.materialize(bound));
      inside = inside ? Value(arith::AndIOp::create(rewriter, loc, inside, less)) : less;
    }
    return inside;
  }

  /// Whether all elements of an access are on one side of the bounds: they
  /// step along one component by k, and v*k divides its start and its bound.
  bool isUniform(int64_t index, const Iteration *iteration) {
    if (values == 1)
      return true;
    layout::Layout known = stripLayout(coords);
    // Accesses do not cross the first leaf.
    for (auto &[extent, stride] : known.getLeaves()) {
      if (extent.is(1))
        continue;
      if (!extent.isMultipleOf(values))
        return false;
      break;
    }
    Algebra probe;
    layout::IntTuple first = coordinateStatic(probe, index, iteration);
    layout::IntTuple origin = start.map([](const layout::Int &) { return layout::Int(0); });
    layout::IntTuple unit =
        probe.addOffset(origin, probe.crd2idx(layout::IntTuple(1), layout::Map(known)), /*coordinate=*/true);
    if (probe.failed() || !areCongruent(first, bounds) || !areCongruent(unit, bounds))
      return false;
    for (auto [c, u, bound] : llvm::zip(first.flatten(), unit.flatten(), bounds.flatten())) {
      if (!u.isStatic() || u.value < 0)
        return false;
      if (u.value && (!c.isMultipleOf(u.value * values) || !bound.isMultipleOf(u.value * values)))
        return false;
    }
    return true;
  }

  using Algebra = layout::Algebra;

  static layout::Layout stripLayout(const layout::Layout &layout) {
    layout::Value stripped = layout::stripHandles(layout::Map(layout));
    return *std::get<layout::Map>(stripped).getLayout();
  }

  /// What is known about a coordinate, without emitting code.
  layout::IntTuple coordinateStatic(Algebra &probe, int64_t index, const Iteration *iteration) {
    layout::Int position = index;
    if (iteration)
      position = probe.add(layout::Int::dynamic(iteration->unrolled), index);
    layout::IntTuple begin = std::get<layout::IntTuple>(layout::stripHandles(start));
    return probe.addOffset(begin, probe.crd2idx(layout::IntTuple(position), layout::Map(stripLayout(coords))),
                           /*coordinate=*/true);
  }

  LogicalResult emitAccess(int64_t index, const Iteration *iteration) {
    if (!op.getCoords())
      return emitMove(atom, index, values, iteration, Value());
    if (isUniform(index, iteration)) {
      bool never = false;
      Value inside = isInside(coordinateAt(index, iteration), never);
      return emitGuarded(atom, index, values, iteration, inside, never);
    }
    auto universal = dyn_cast<UniversalCopyAttr>(Attribute(atom));
    if (!universal)
      return op.emitOpError() << "the predicate is not proved to be uniform over the " << values
                              << " elements of an access, and atom " << Attribute(atom)
                              << " has no narrower form; give coordinates and bounds divisors";
    if (!warned)
      op.emitWarning() << "'atx.copy' op the predicate is not proved to be uniform over the " << values
                       << " elements of an access; it is made element by element";
    warned = true;
    CopyAtomInterface narrow = cast<CopyAtomInterface>(
        Attribute(UniversalCopyAttr::get(rewriter.getContext(), getElementBits(op.getElementType()))));
    for (int64_t e = 0; e < values; ++e) {
      bool never = false;
      Value inside = isInside(coordinateAt(index + e, iteration), never);
      if (failed(emitGuarded(narrow, index + e, 1, iteration, inside, never)))
        return failure();
    }
    return success();
  }

  /// Registers of element `index` in the fragment.
  int64_t registerOf(int64_t index) {
    FragmentType type = sourceType ? sourceType : cast<FragmentType>(op.getResult().getType());
    Algebra probe;
    return evaluateAt(probe, type.getLayout(), index).constant;
  }

  LogicalResult emitGuarded(CopyAtomInterface by, int64_t index, int64_t count, const Iteration *iteration,
                            Value inside, bool never) {
    auto type = VectorType::get({count}, op.getElementType());
    auto zeros = [&]() -> Value { return arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)); };
    if (never) {
      if (op.getResult())
        registers->write(registerOf(index), zeros());
      else if (op.getZeroFill())
        storeTo(by, index, count, iteration, zeros());
      return success();
    }
    if (!inside)
      return emitMove(by, index, count, iteration, Value());
    if (op.getResult()) {
      Value loaded;
      auto guard = scf::IfOp::create(
          rewriter, loc, inside,
          [&](OpBuilder &, Location) {
            loaded = loadFrom(by, index, count, iteration);
            scf::YieldOp::create(rewriter, loc, loaded);
          },
          [&](OpBuilder &, Location) { scf::YieldOp::create(rewriter, loc, zeros()); });
      registers->write(registerOf(index), guard.getResult(0));
      return success();
    }
    LogicalResult moved = success();
    scf::IfOp::create(
        rewriter, loc, inside,
        [&](OpBuilder &, Location) {
          moved = emitMove(by, index, count, iteration, Value());
          scf::YieldOp::create(rewriter, loc);
        },
        op.getZeroFill() ? function_ref<void(OpBuilder &, Location)>([&](OpBuilder &, Location) {
          storeTo(by, index, count, iteration, zeros());
          scf::YieldOp::create(rewriter, loc);
        })
                         : function_ref<void(OpBuilder &, Location)>());
    return moved;
  }

  Value loadFrom(CopyAtomInterface by, int64_t index, int64_t count, const Iteration *iteration) {
    Address address = addressOf(*source, index, iteration ? iteration->source : layout::Int(0), by.getAlignment());
    auto type = VectorType::get({count}, op.getElementType());
    Value loaded = by.emitLoad(rewriter, loc, address, type);
    if (loaded)
      return loaded;
    // The atom has said why.
    faulty = true;
    return arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  }

  void storeTo(CopyAtomInterface by, int64_t index, int64_t count, const Iteration *iteration, Value value) {
    Address address =
        addressOf(*destination, index, iteration ? iteration->destination : layout::Int(0), by.getAlignment());
    faulty |= !by.emitStore(rewriter, loc, value, address);
  }

  LogicalResult emitMove(CopyAtomInterface by, int64_t index, int64_t count, const Iteration *iteration, Value) {
    if (source && destination) {
      if (by.connects(source->type.getSpace(), destination->type.getSpace())) {
        Address from = addressOf(*source, index, iteration ? iteration->source : layout::Int(0), by.getAlignment());
        Address to =
            addressOf(*destination, index, iteration ? iteration->destination : layout::Int(0), by.getAlignment());
        if (!by.emitMove(rewriter, loc, from, to))
          return op.emitOpError() << "atom " << Attribute(by) << " cannot move between these memories";
        return success();
      }
      Value loaded = loadFrom(by, index, count, iteration);
      if (!loaded)
        return op.emitOpError() << "atom " << Attribute(by) << " cannot load " << count << " elements of "
                                << op.getElementType();
      storeTo(by, index, count, iteration, loaded);
      return success();
    }
    if (source) {
      Value loaded = loadFrom(by, index, count, iteration);
      if (!loaded)
        return op.emitOpError() << "atom " << Attribute(by) << " cannot load " << count << " elements of "
                                << op.getElementType();
      registers->write(registerOf(index), loaded);
      return success();
    }
    storeTo(by, index, count, iteration, registers->read(registerOf(index), count));
    return success();
  }

  CopyOp op;
  ConversionPatternRewriter &rewriter;
  Location loc;
  ArithBuilder arith;
  layout::Algebra algebra;
  CopyAtomInterface atom;
  int64_t values;
  int64_t unrollLimit;
  std::optional<LoweredView> source, destination;
  FragmentType sourceType;
  std::optional<RegisterFile> registers;
  layout::IntTuple start = 0, bounds = 0;
  layout::Layout coords;
  bool warned = false;
  bool faulty = false;
};

struct CopyPattern : public OpConversionPattern<CopyOp> {
  CopyPattern(const TypeConverter &converter, MLIRContext *context, Options options)
      : OpConversionPattern(converter, context), options(options) {}
  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return CopyLowering(op, rewriter, options.unrollLimit).run(adaptor);
  }
  Options options;
};

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

class GemmLowering {
public:
  GemmLowering(GemmOp op, ConversionPatternRewriter &rewriter, int64_t unrollLimit)
      : op(op), rewriter(rewriter), loc(op.getLoc()), arith(rewriter, loc), algebra(&arith), atom(op.getMmaAtom()),
        accumulators(rewriter, loc, cast<FragmentType>(op.getC().getType()).getElementType()),
        unrollLimit(unrollLimit) {}

  LogicalResult run(GemmOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor) {
    setOperand(operands[0], op.getA(), adaptor.getA());
    setOperand(operands[1], op.getB(), adaptor.getB());
    FragmentType type = op.getC().getType();
    cLayout = type.getLayout();
    cValues = product(cLayout.shape[0]);
    int64_t m = product(cLayout.shape[1]), n = product(cLayout.shape[2]);
    int64_t k = product(operands[0].layout.shape[2]);
    for (ValueRange range : adaptor.getExtra())
      llvm::append_range(extra, range);
    accumulators.writeChunks(type, adaptor.getC());
    bool keepLoop = m * n * k > unrollLimit && k > 1 && operands[0].view && operands[1].view;
    if (keepLoop) {
      Value low = zero64(rewriter, loc), high = arith::ConstantIntOp::create(rewriter, loc, k, 64);
      Value step = arith::ConstantIntOp::create(rewriter, loc, 1, 64);
      auto loop = scf::ForOp::create(rewriter, loc, low, high, step, accumulators.readChunks(type));
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      accumulators.writeChunks(type, loop.getRegionIterArgs());
      dynamicK = layout::Int::dynamic(1, arith.addValue(loop.getInductionVar()));
      emitProducts(m, n, 1);
      scf::YieldOp::create(rewriter, loc, accumulators.readChunks(type));
      rewriter.setInsertionPointAfter(loop);
      accumulators.writeChunks(type, loop.getResults());
    } else {
      emitProducts(m, n, k);
    }
    if (algebra.failed())
      return reportFault(op, algebra);
    if (faulty)
      return failure();
    rewriter.replaceOpWithMultiple(op, {accumulators.readChunks(type)});
    return success();
  }

private:
  struct Operand {
    layout::Layout layout;
    int64_t values = 1;
    std::optional<LoweredView> view;
    std::optional<RegisterFile> registers;
    /// Loaded vectors by (rest, k).
    std::map<std::pair<int64_t, int64_t>, Value> loaded;
  };

  static int64_t product(const layout::IntTuple &shape) {
    int64_t size = 1;
    shape.walk([&](const layout::Int &extent) { size *= extent.value; });
    return size;
  }

  void setOperand(Operand &operand, Value value, ValueRange values) {
    if (auto type = dyn_cast<ViewType>(value.getType())) {
      operand.view.emplace(arith, type, values);
      operand.layout = operand.view->layout;
    } else {
      auto fragment = cast<FragmentType>(value.getType());
      operand.layout = fragment.getLayout();
      operand.registers.emplace(rewriter, loc, fragment.getElementType());
      operand.registers->writeChunks(fragment, values);
    }
    operand.values = product(operand.layout.shape[0]);
  }

  /// The vector of one atom's operand at (rest, k).
  Value read(Operand &operand, int64_t rest, int64_t k) {
    Value &cached = operand.loaded[{rest, k}];
    if (cached)
      return cached;
    Offset offset;
    int64_t coordinates[2] = {rest, k};
    for (int i = 0; i < 2; ++i) {
      layout::Layout mode = operand.layout.getMode(i + 1);
      Offset part = i == 1 && dynamicK
                        ? Offset::of(algebra.crd2idx(layout::IntTuple(*dynamicK), layout::Map(mode)).getLeaf())
                        : evaluateAt(algebra, mode, coordinates[i]);
      offset.constant += part.constant;
      offset.dynamic = algebra.add(offset.dynamic, part.dynamic);
    }
    if (operand.registers)
      return cached = operand.registers->read(offset.constant, operand.values);
    ViewType type = operand.view->type;
    auto vector = VectorType::get({operand.values}, type.getElementType());
    int64_t align = getAlignAfter(type.getAlign(), offset.constant, type.getElementType());
    align = getAlignAfter(align, offset.dynamic, type.getElementType());
    if (!type.getSwizzle().isIdentity())
      align = std::min<int64_t>(align, int64_t(1) << type.getSwizzle().base);
    Address address = getAddress(arith, algebra, *operand.view, offset, align);
    return cached = emitVectorLoad(rewriter, loc, address, vector);
  }

  void emitProducts(int64_t m, int64_t n, int64_t k) {
    static constexpr int nesting[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int *order = nesting[static_cast<int>(op.getOrder())];
    int64_t extents[3] = {m, n, k};
    // The inner one of m and n turns back and forth.
    int inner = -1;
    for (int i = 0; i < 3; ++i)
      if (order[i] != 2)
        inner = order[i];
    int64_t turn = 0;
    for (int64_t x = 0; x < extents[order[0]]; ++x)
      for (int64_t y = 0; y < extents[order[1]]; ++y, turn += order[2] == inner)
        for (int64_t z = 0; z < extents[order[2]]; ++z) {
          int64_t at[3];
          at[order[0]] = x;
          at[order[1]] = y;
          at[order[2]] = z;
          if (op.getSerpentine()) {
            int64_t outer = order[2] == inner ? turn : order[1] == inner ? x : 0;
            if (outer % 2)
              at[inner] = extents[inner] - 1 - at[inner];
          }
          emitProduct(at[0], at[1], at[2]);
        }
  }

  void emitProduct(int64_t m, int64_t n, int64_t k) {
    layout::Algebra probe;
    int64_t at = evaluateAt(probe, cLayout.getMode(1), m).constant + evaluateAt(probe, cLayout.getMode(2), n).constant;
    Value a = read(operands[0], m, k), b = read(operands[1], n, k);
    Value d = atom.emitMma(rewriter, loc, a, b, accumulators.read(at, cValues), extra);
    // The atom has said why.
    faulty |= !d;
    if (d)
      accumulators.write(at, d);
  }

  GemmOp op;
  ConversionPatternRewriter &rewriter;
  Location loc;
  ArithBuilder arith;
  layout::Algebra algebra;
  MmaAtomInterface atom;
  Operand operands[2];
  RegisterFile accumulators;
  layout::Layout cLayout;
  int64_t cValues = 1;
  SmallVector<Value> extra;
  std::optional<layout::Int> dynamicK;
  int64_t unrollLimit;
  bool faulty = false;
};

struct GemmPattern : public OpConversionPattern<GemmOp> {
  GemmPattern(const TypeConverter &converter, MLIRContext *context, Options options)
      : OpConversionPattern(converter, context), options(options) {}
  LogicalResult matchAndRewrite(GemmOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return GemmLowering(op, rewriter, options.unrollLimit).run(adaptor);
  }
  Options options;
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

class LowerAtxPass : public atrex::impl::LowerAtxPassBase<LowerAtxPass> {
public:
  using LowerAtxPassBase::LowerAtxPassBase;

  void runOnOperation() override;

private:
  LogicalResult createSharedMemory(const ChipInfo &chip);
};

void convertLeaves(const layout::Value &value, SmallVectorImpl<Type> &types, MLIRContext *context) {
  layout::walkDynamic(value, [&](const layout::Int &) { types.push_back(IntegerType::get(context, 64)); });
}

/// One global per allocation, named by position; a group of kernels that share
/// a module keeps them apart.
LogicalResult LowerAtxPass::createSharedMemory(const ChipInfo &chip) {
  LogicalResult result = success();
  llvm::DenseMap<Operation *, int64_t> bytesByFunction;
  unsigned counter = 0;
  getOperation()->walk([&](AllocSharedOp op) {
    Operation *table = op->getParentOp();
    while (table && !(isa<gpu::GPUModuleOp, ModuleOp>(table)))
      table = table->getParentOp();
    if (!table) {
      result = op.emitOpError("is not inside a module");
      return;
    }
    ViewType type = op.getType();
    std::string name;
    do
      name = "atx_shared_" + std::to_string(counter++);
    while (SymbolTable::lookupSymbolIn(table, name));
    OpBuilder builder = OpBuilder::atBlockBegin(&table->getRegion(0).front());
    auto array = LLVM::LLVMArrayType::get(builder.getI8Type(), op.getNumBytes());
    LLVM::GlobalOp::create(builder, op.getLoc(), array, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                           Attribute(), type.getAlign(), 3);
    op->setAttr("atx.symbol", builder.getStringAttr(name));
    auto function = op->getParentOfType<FunctionOpInterface>();
    int64_t &bytes = bytesByFunction[function];
    bytes = llvm::alignTo(bytes, type.getAlign()) + op.getNumBytes();
    if (bytes > int64_t(chip.ldsBytesPerCU))
      result = op.emitOpError() << "needs " << bytes << " bytes of shared memory with what was allocated before; "
                                << chip.name << " has " << chip.ldsBytesPerCU;
  });
  return result;
}

/// MLIR's own expansion of maximumf and minimumf takes zeros of both signs for
/// equal; LLVM's operations do not, and take fewer instructions.
static void keepSignsOfZeros(Operation *root) {
  root->walk([](Operation *op) {
    if (!isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      return;
    Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
    auto vector = dyn_cast<VectorType>(type);
    if ((vector && vector.getRank() != 1) || !(element.isF16() || element.isF32() || element.isF64()))
      return;
    OpBuilder b(op);
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    Value result = isa<arith::MaximumFOp>(op) ? Value(LLVM::MaximumOp::create(b, op->getLoc(), lhs, rhs))
                                              : Value(LLVM::MinimumOp::create(b, op->getLoc(), lhs, rhs));
    op->replaceAllUsesWith(ValueRange{result});
    op->erase();
  });
}

void LowerAtxPass::runOnOperation() {
  MLIRContext *context = &getContext();
  const ChipInfo *chip = lookupChip(arch);
  if (!chip || !chip->isAMDGPU()) {
    getOperation()->emitError() << "unknown architecture '" << arch << "'; known are " << getArchList();
    return signalPassFailure();
  }
  // Atoms are checked for the architecture of this run, which may differ from
  // what the code says it is for.
  WalkResult checked = getOperation()->walk([&](Operation *op) {
    LogicalResult valid = success();
    if (auto copy = dyn_cast<CopyOp>(op))
      valid = copy.getCopyAtom().verifyTarget(arch, [&] { return copy.emitOpError("C32: "); });
    else if (auto gemm = dyn_cast<GemmOp>(op))
      valid = gemm.getMmaAtom().verifyTarget(arch, [&] { return gemm.emitOpError("C32: "); });
    return failed(valid) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (checked.wasInterrupted() || failed(createSharedMemory(*chip)))
    return signalPassFailure();
  keepSignsOfZeros(getOperation());

  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  auto addAlgebra = [&](Type type, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    convertLeaves(*getAlgebraValue(type), types, context);
    return success();
  };
  converter.addConversion([=](IntTupleType type, SmallVectorImpl<Type> &types) { return addAlgebra(type, types); });
  converter.addConversion([=](LayoutType type, SmallVectorImpl<Type> &types) { return addAlgebra(type, types); });
  converter.addConversion([=](SwizzleType type, SmallVectorImpl<Type> &types) { return addAlgebra(type, types); });
  converter.addConversion(
      [=](ComposedLayoutType type, SmallVectorImpl<Type> &types) { return addAlgebra(type, types); });
  converter.addConversion([=](TileType type, SmallVectorImpl<Type> &types) { return addAlgebra(type, types); });
  auto addPointer = [=](MemorySpace space, SmallVectorImpl<Type> &types) {
    types.push_back(LLVM::LLVMPointerType::get(context, getAddressSpace(space)));
    types.push_back(IntegerType::get(context, 64));
  };
  converter.addConversion([=](PtrType type, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    addPointer(type.getSpace(), types);
    return success();
  });
  converter.addConversion([=](ViewType type, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    addPointer(type.getSpace(), types);
    convertLeaves(layout::Map(type.getLayout()), types, context);
    return success();
  });
  converter.addConversion([=](CoordViewType type, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    convertLeaves(type.getStart(), types, context);
    convertLeaves(layout::Map(type.getLayout()), types, context);
    return success();
  });
  converter.addConversion([](FragmentType type, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    types.append(type.getNumChunks(), type.getChunkType());
    return success();
  });

  RewritePatternSet patterns(context);
  Options options{unrollLimit};
  patterns.add<AlgebraPattern, StaticPattern, MakePattern, GetScalarPattern, MakePtrPattern, AllocSharedPattern,
               MakeViewPattern, MakeCoordViewPattern, GetLayoutPattern, GetPtrPattern, AddOffsetPattern,
               RecastViewPattern, PartitionCopyPattern, PartitionMmaPattern, LoadPattern, StorePattern, SplatPattern,
               ToVectorPattern, FromVectorPattern, RetilePattern>(converter, context);
  patterns.add<CopyPattern, GemmPattern>(converter, context, options);
  populateLowerAtxAMDGPUPatterns(converter, patterns);

  ConversionTarget target(*context);
  target.addIllegalDialect<AtxDialect>();
  target.markUnknownOpDynamicallyLegal([&](Operation *op) { return converter.isLegal(op); });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
  populateFunctionOpInterfaceTypeConversionPattern<gpu::GPUFuncOp>(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType()) && converter.isLegal(&op.getBody());
  });
  target.addDynamicallyLegalOp<gpu::GPUFuncOp>([&](gpu::GPUFuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType()) && converter.isLegal(&op.getBody());
  });
  if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
    signalPassFailure();
}

} // namespace
