//===- ConvertToROCDL.cpp - Kernel modules to LLVM and ROCDL ----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"
#include "atrex/Conversion/Passes.h"
#include "atrex/Target/TargetChip.h"
#include "dialects/Atx/AtxDialect.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "lib/Transforms/Tile/TileLowering.h"
#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/GPUToROCDL/Runtimes.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/InterleavedRange.h"

namespace atrex {
#define GEN_PASS_DEF_CONVERTTOROCDLPASS
#include "atrex/Conversion/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::atx_amdgpu;

/// Blocks stay as they are: equal ones that stand under different conditions of lanes, once merged, would run for
/// lanes that left a loop and for such that never entered it, and matrix instructions with a part of the lanes.
static GreedyRewriteConfig getConfig() {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  return config;
}

namespace {

Value i32(ConversionPatternRewriter &rewriter, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32Type(), rewriter.getI32IntegerAttr(int32_t(value)));
}

/// Word 3 of a raw buffer descriptor on GFX9: 32-bit data format, no swizzle.
/// With it, accesses beyond num_records read zero and drop writes.
constexpr uint32_t rawBufferFlags = (7u << 12) | (4u << 15);

struct MakeResourceLowering : public ConvertOpToLLVMPattern<MakeResourceOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(MakeResourceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = op.getView().getType();
    MemRefDescriptor descriptor(adaptor.getView());
    Value pointer = descriptor.bufferPtr(rewriter, loc, *getTypeConverter(), type);
    // Bytes up to the end of the view: the largest extent times stride.
    Value elements;
    Type i64 = rewriter.getI64Type();
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value span = LLVM::MulOp::create(rewriter, loc, descriptor.size(rewriter, loc, dim),
                                       descriptor.stride(rewriter, loc, dim));
      elements = elements ? Value(LLVM::UMaxOp::create(rewriter, loc, elements, span)) : span;
    }
    Value width =
        LLVM::ConstantOp::create(rewriter, loc, i64, rewriter.getI64IntegerAttr(type.getElementTypeBitWidth() / 8));
    Value bytes = LLVM::MulOp::create(rewriter, loc, elements, width);
    Value stride = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI16Type(), rewriter.getI16IntegerAttr(0));
    rewriter.replaceOpWithNewOp<ROCDL::MakeBufferRsrcOp>(op, op.getResource().getType(), pointer, stride, bytes,
                                                         i32(rewriter, loc, rawBufferFlags));
    return success();
  }
};

/// Byte offset of an access; out of every buffer's range where the mask is false.
template <typename OpTy>
Value getByteOffset(OpTy op, typename OpTy::Adaptor adaptor, int64_t bytesPerElement,
                    ConversionPatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value offset = adaptor.getOffset();
  if (bytesPerElement != 1)
    offset = LLVM::MulOp::create(rewriter, loc, offset, i32(rewriter, loc, bytesPerElement));
  // A buffer spans less than 2^31 bytes, so this lies outside of it whatever
  // the constant adds.
  if (Value mask = adaptor.getMask())
    offset = LLVM::SelectOp::create(rewriter, loc, mask, offset, i32(rewriter, loc, INT32_MIN));
  if (int64_t constant = op.getConstOffset() * bytesPerElement)
    offset = LLVM::AddOp::create(rewriter, loc, offset, i32(rewriter, loc, constant));
  return offset;
}

/// The type a buffer instruction moves for `type`: words, or one small integer.
Type getTransferType(VectorType type, Builder &builder) {
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  if (bits < 32)
    return builder.getIntegerType(bits);
  if (bits == 32)
    return builder.getI32Type();
  return VectorType::get(bits / 32, builder.getI32Type());
}

struct BufferLoadLowering : public ConvertOpToLLVMPattern<BufferLoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(BufferLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(op.getResult().getType());
    Value offset = getByteOffset(op, adaptor, type.getElementTypeBitWidth() / 8, rewriter);
    Value zero = i32(rewriter, loc, 0);
    Value loaded =
        ROCDL::RawPtrBufferLoadOp::create(rewriter, loc, getTransferType(type, rewriter), adaptor.getResource(), offset,
                                          zero, zero, ArrayAttr(), ArrayAttr(), ArrayAttr());
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, getTypeConverter()->convertType(type), loaded);
    return success();
  }
};

struct BufferStoreLowering : public ConvertOpToLLVMPattern<BufferStoreOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(BufferStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(op.getValue().getType());
    Value offset = getByteOffset(op, adaptor, type.getElementTypeBitWidth() / 8, rewriter);
    Value zero = i32(rewriter, loc, 0);
    Value words = LLVM::BitcastOp::create(rewriter, loc, getTransferType(type, rewriter), adaptor.getValue());
    rewriter.replaceOpWithNewOp<ROCDL::RawPtrBufferStoreOp>(op, words, adaptor.getResource(), offset, zero, zero,
                                                            ArrayAttr(), ArrayAttr(), ArrayAttr());
    return success();
  }
};

/// Applies a scalar function to every element of a value of rank 0 or 1.
Value mapElements(Value operand, Type type, const TypeConverter &converter, ConversionPatternRewriter &rewriter,
                  Location loc, function_ref<Value(Value)> scalar) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return scalar(operand);
  Value result = LLVM::PoisonOp::create(rewriter, loc, converter.convertType(type));
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value index = i32(rewriter, loc, i);
    Value element = LLVM::ExtractElementOp::create(rewriter, loc, operand, index);
    result = LLVM::InsertElementOp::create(rewriter, loc, result, scalar(element), index);
  }
  return result;
}

/// 1 / sqrt(x) by the hardware's approximation (1 ulp), which flushes subnormal
/// operands: those are scaled by 2^24 first and the result by 2^12.
struct RsqrtLowering : public ConvertOpToLLVMPattern<math::RsqrtOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(math::RsqrtOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = op.getType();
    auto vector = dyn_cast<VectorType>(type);
    if (!getElementTypeOrSelf(type).isF32() || (vector && vector.getRank() != 1))
      return failure();
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    auto number = [&](float value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc, f32, rewriter.getF32FloatAttr(value));
    };
    auto scalar = [&](Value x) -> Value {
      Value small = LLVM::FCmpOp::create(rewriter, loc, LLVM::FCmpPredicate::olt, x, number(0x1.0p-126f));
      Value scaled = LLVM::FMulOp::create(
          rewriter, loc, x, LLVM::SelectOp::create(rewriter, loc, small, number(0x1.0p+24f), number(1.0f)));
      Value root = LLVM::CallIntrinsicOp::create(rewriter, loc, f32, rewriter.getStringAttr("llvm.amdgcn.rsq.f32"),
                                                 ValueRange{scaled})
                       .getResult(0);
      return LLVM::FMulOp::create(rewriter, loc, root,
                                  LLVM::SelectOp::create(rewriter, loc, small, number(0x1.0p+12f), number(1.0f)));
    };
    rewriter.replaceOp(op, mapElements(adaptor.getOperand(), type, *getTypeConverter(), rewriter, loc, scalar));
    return success();
  }
};

/// exp2 where an approximation is allowed: the instruction itself (1 ulp), which
/// flushes subnormal results. LLVM scales around it even under `afn` once the
/// operation is a vector.
struct ApproximateExp2Lowering : public ConvertOpToLLVMPattern<math::Exp2Op> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!getElementTypeOrSelf(op.getType()).isF32() || (vector && vector.getRank() != 1) ||
        !bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    Location loc = op.getLoc();
    rewriter.replaceOp(
        op, mapElements(adaptor.getOperand(), op.getType(), *getTypeConverter(), rewriter, loc, [&](Value x) -> Value {
          return LLVM::CallIntrinsicOp::create(rewriter, loc, rewriter.getF32Type(),
                                               rewriter.getStringAttr("llvm.amdgcn.exp2.f32"), ValueRange{x})
              .getResult(0);
        }));
    return success();
  }
};

/// Floats of less than a byte are bytes here: LLVM would take vectors of i4 and i6
/// apart in memory. The upper bits are 0.
bool isPackedFloat(Type type) {
  auto floating = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return floating && floating.getWidth() < 8;
}

struct PackedBitcastLowering : public ConvertOpToLLVMPattern<arith::BitcastOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    bool from = isPackedFloat(op.getIn().getType()), to = isPackedFloat(op.getType());
    auto vector = dyn_cast<VectorType>(op.getType());
    if ((!from && !to) || (vector && vector.getRank() != 1))
      return failure();
    Type type = getTypeConverter()->convertType(op.getType());
    if (from && to)
      rewriter.replaceOp(op, adaptor.getIn());
    else if (to)
      rewriter.replaceOpWithNewOp<LLVM::ZExtOp>(op, type, adaptor.getIn());
    else
      rewriter.replaceOpWithNewOp<LLVM::TruncOp>(op, type, adaptor.getIn());
    return success();
  }
};

/// The tile compiler's views of packed floats as bytes.
struct PackedViewLowering : public ConvertOpToLLVMPattern<UnrealizedConversionCastOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getNumOperands() != 1 || op.getNumResults() != 1 ||
        isPackedFloat(op.getOperand(0).getType()) == isPackedFloat(op.getResult(0).getType()))
      return failure();
    rewriter.replaceOp(op, adaptor.getInputs());
    return success();
  }
};

struct PackedConstantLowering : public ConvertOpToLLVMPattern<arith::ConstantOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (!isPackedFloat(op.getType()))
      return failure();
    auto getCode = [](const APFloat &value) { return value.bitcastToAPInt().zext(8); };
    Type type = getTypeConverter()->convertType(op.getType());
    if (auto scalar = dyn_cast<FloatAttr>(op.getValue())) {
      rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(op, type, IntegerAttr::get(type, getCode(scalar.getValue())));
      return success();
    }
    auto dense = dyn_cast<DenseFPElementsAttr>(op.getValue());
    auto vector = dyn_cast<VectorType>(type);
    if (!dense || !vector)
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(op, type, dense.mapValues(vector.getElementType(), getCode));
    return success();
  }
};

/// The backend has packed addition of two f32, but no packed subtraction. Where
/// one value is subtracted from a whole run it is negated once; canonicalize, an
/// identity here, keeps LLVM from turning the addition back into a subtraction.
struct SubtractSplat : public OpRewritePattern<arith::SubFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SubFOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto splat = op.getRhs().getDefiningOp<vector::BroadcastOp>();
    if (!type || !type.getElementType().isF32() || !splat || isa<VectorType>(splat.getSourceType()))
      return failure();
    Location loc = op.getLoc();
    Value negated = arith::NegFOp::create(rewriter, loc, splat.getSource());
    Value opaque = LLVM::CallIntrinsicOp::create(rewriter, loc, type.getElementType(),
                                                 rewriter.getStringAttr("llvm.canonicalize.f32"), ValueRange{negated})
                       .getResult(0);
    Value addend = vector::BroadcastOp::create(rewriter, loc, type, opaque);
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, op.getLhs(), addend, op.getFastmathAttr());
    return success();
  }
};

/// tanh from exp2 where the argument is not small, else from the series: neither
/// cancels. The relative error is a few units of the last place.
struct ExpandTanh : public OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::TanhOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    Location loc = op.getLoc();
    auto number = [&](float value) -> Value {
      Attribute scalar = rewriter.getF32FloatAttr(value);
      if (auto vector = dyn_cast<VectorType>(type))
        return arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(vector, scalar));
      return arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(scalar));
    };
    auto approximate = arith::FastMathFlags::contract | arith::FastMathFlags::arcp | arith::FastMathFlags::afn;
    Value x = op.getOperand();
    Value magnitude = math::AbsFOp::create(rewriter, loc, x);
    // 1 - 2 / (exp(2|x|) + 1)
    Value power = math::Exp2Op::create(
        rewriter, loc, arith::MulFOp::create(rewriter, loc, magnitude, number(2.885390081777927f)), approximate);
    Value quotient = arith::DivFOp::create(rewriter, loc, number(2.0f),
                                           arith::AddFOp::create(rewriter, loc, power, number(1.0f)), approximate);
    Value large = arith::SubFOp::create(rewriter, loc, number(1.0f), quotient);
    // x - x^3/3 + 2x^5/15 - 17x^7/315 + 62x^9/2835 - 1382x^11/155925, |x| < 1/4
    Value square = arith::MulFOp::create(rewriter, loc, x, x);
    Value sum = number(-1382.0f / 155925);
    for (float coefficient : {62.0f / 2835, -17.0f / 315, 2.0f / 15, -1.0f / 3})
      sum = math::FmaOp::create(rewriter, loc, sum, square, number(coefficient));
    Value small = math::FmaOp::create(rewriter, loc, arith::MulFOp::create(rewriter, loc, sum, square), x, x);
    Value isSmall = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OLT, magnitude, number(0.25f));
    // The sign last: the small branch loses that of zero.
    rewriter.replaceOpWithNewOp<math::CopySignOp>(op, arith::SelectOp::create(rewriter, loc, isSmall, small, large), x);
    return success();
  }
};

/// LLVM narrows f32 arithmetic that is rounded to f16 to arithmetic in f16, which
/// is exact, and then fuses it where `contract` allows, which drops a rounding.
/// So the flag goes from everything that reaches such a rounding element by
/// element. An approximate quotient becomes the reciprocal and the product it
/// stands for: in f16 it would be rounded twice.
void protectF16Roundings(Operation *root) {
  SmallVector<Value> work;
  root->walk([&](arith::TruncFOp op) {
    if (getElementTypeOrSelf(op.getType()).isF16())
      work.push_back(op.getIn());
  });
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<arith::DivFOp> quotients;
  while (!work.empty()) {
    Operation *def = work.pop_back_val().getDefiningOp();
    if (!def || !seen.insert(def).second ||
        !(OpTrait::hasElementwiseMappableTraits(def) || isa<LLVM::MaximumOp, LLVM::MinimumOp>(def)))
      continue;
    if (auto flags = dyn_cast<arith::ArithFastMathInterface>(def)) {
      arith::FastMathFlagsAttr attr = flags.getFastMathFlagsAttr();
      if (attr)
        def->setAttr(
            flags.getFastMathAttrName(),
            arith::FastMathFlagsAttr::get(root->getContext(), attr.getValue() & ~arith::FastMathFlags::contract));
    }
    if (auto quotient = dyn_cast<arith::DivFOp>(def);
        quotient && getElementTypeOrSelf(quotient.getType()).isF32() &&
        bitEnumContainsAny(quotient.getFastmath(), arith::FastMathFlags::afn | arith::FastMathFlags::arcp))
      quotients.push_back(quotient);
    llvm::append_range(work, def->getOperands());
  }
  for (arith::DivFOp op : quotients) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto reciprocal = [&](Value value) -> Value {
      return LLVM::CallIntrinsicOp::create(b, loc, value.getType(), b.getStringAttr("llvm.amdgcn.rcp.f32"),
                                           ValueRange{value})
          .getResult(0);
    };
    Value inverse;
    if (auto type = dyn_cast<VectorType>(op.getType())) {
      if (type.getRank() != 1)
        continue;
      SmallVector<Value> elements;
      for (int64_t i = 0; i < type.getNumElements(); ++i)
        elements.push_back(reciprocal(vector::ExtractOp::create(b, loc, op.getRhs(), ArrayRef<int64_t>{i})));
      inverse = vector::FromElementsOp::create(b, loc, type, elements);
    } else {
      inverse = reciprocal(op.getRhs());
    }
    if (!matchPattern(op.getLhs(), m_OneFloat()))
      inverse = arith::MulFOp::create(b, loc, op.getLhs(), inverse);
    op.replaceAllUsesWith(inverse);
    op.erase();
  }
}

/// A fence of the workgroup waits for all copies to shared memory. Where a barrier says how many may be on their
/// way (the explicit wait before it leaves so many), fences of the wave keep the order of instructions alone.
void lowerBarriersInFlight(Operation *root) {
  SmallVector<amdgpu::LDSBarrierOp> barriers;
  root->walk([&](amdgpu::LDSBarrierOp barrier) {
    if (barrier->hasAttr(tile::inFlightAttrName))
      barriers.push_back(barrier);
  });
  for (amdgpu::LDSBarrierOp barrier : barriers) {
    OpBuilder b(barrier);
    LLVM::FenceOp::create(b, barrier.getLoc(), LLVM::AtomicOrdering::release, "wavefront");
    ROCDL::SBarrierOp::create(b, barrier.getLoc());
    LLVM::FenceOp::create(b, barrier.getLoc(), LLVM::AtomicOrdering::acquire, "wavefront");
    barrier.erase();
  }
}

class ConvertToROCDL : public atrex::impl::ConvertToROCDLPassBase<ConvertToROCDL> {
public:
  using ConvertToROCDLPassBase::ConvertToROCDLPassBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    const ChipInfo *chip = getTarget(module, arch);
    if (!chip)
      return signalPassFailure();
    FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(chip->arch);
    if (failed(chipset))
      return signalPassFailure();
    if (waves > chip->maxWavesPerSIMD) {
      module.emitError() << "'waves=" << unsigned(waves) << "' is not possible: a SIMD of " << chip->arch
                         << " has 0 to " << chip->maxWavesPerSIMD << " waves";
      return signalPassFailure();
    }

    protectF16Roundings(module);
    lowerBarriersInFlight(module);
    {
      RewritePatternSet patterns(context);
      patterns.add<ExpandTanh, SubtractSplat>(context);
      populateExpandMathPatterns(patterns);
      if (failed(applyPatternsGreedily(module, std::move(patterns), getConfig())))
        return signalPassFailure();
    }
    {
      RewritePatternSet patterns(context);
      vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
      vector::populateVectorShapeCastLoweringPatterns(patterns);
      vector::populateVectorBroadcastLoweringPatterns(patterns);
      if (failed(applyPatternsGreedily(module, std::move(patterns), getConfig())))
        return signalPassFailure();
    }

    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(64);
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(context, options);
    amdgpu::populateCommonGPUTypeAndAttributeConversions(converter);
    populateAMDGPUTypeAndAttributeConversions(converter);

    converter.addConversion([](FloatType type) -> std::optional<Type> {
      if (!isPackedFloat(type))
        return std::nullopt;
      return IntegerType::get(type.getContext(), 8);
    });

    RewritePatternSet patterns(context);
    patterns.add<PackedBitcastLowering, PackedViewLowering, PackedConstantLowering>(converter, PatternBenefit(20));
    // LLVM intrinsics instead of calls of a device library.
    patterns.add<RsqrtLowering, ApproximateExp2Lowering>(converter, PatternBenefit(20));
    populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/true, /*benefit=*/10);
    populateAMDGPUToROCDLConversionPatterns(converter, patterns, *chipset);
    populateGpuToROCDLConversionPatterns(converter, patterns, gpu::amd::Runtime::HIP, *chipset);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    patterns.add<MakeResourceLowering, BufferLoadLowering, BufferStoreLowering>(converter);

    LLVMConversionTarget target(*context);
    configureGpuToROCDLConversionLegality(target);
    target.addLegalOp<LLVM::ExpOp, LLVM::Exp2Op, LLVM::LogOp, LLVM::Log2Op, LLVM::FFloorOp, LLVM::FCeilOp, LLVM::SinOp,
                      LLVM::CosOp, LLVM::SqrtOp, LLVM::FAbsOp, LLVM::RintOp, LLVM::RoundOp, LLVM::RoundEvenOp,
                      LLVM::FTruncOp, LLVM::PowOp, LLVM::FMAOp, LLVM::Log10Op>();
    target.addDynamicallyLegalOp<UnrealizedConversionCastOp>([](UnrealizedConversionCastOp op) {
      return llvm::none_of(op->getOperandTypes(), isPackedFloat) && llvm::none_of(op->getResultTypes(), isPackedFloat);
    });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();

    // The manifest's attributes stay on the function; the mapping is spent. The
    // exact workgroup size lets the backend use all registers, and more than the
    // 256 work-items it would assume.
    WalkResult sizes = module.walk([&](LLVM::LLVMFuncOp func) {
      func->removeAttr(atx::mappingAttrName);
      auto size = func->getAttrOfType<DenseI32ArrayAttr>("rocdl.reqd_work_group_size");
      if (!size)
        return WalkResult::advance();
      int64_t product = 1;
      for (int32_t extent : size.asArrayRef())
        if (extent < 1 || (product *= extent) > int64_t(chip->maxWorkgroupSize)) {
          func.emitError() << "a workgroup of " << llvm::interleaved(size.asArrayRef(), " x ") << " work-items; "
                           << chip->arch << " takes 1 to " << chip->maxWorkgroupSize;
          return WalkResult::interrupt();
        }
      std::string threads = std::to_string(product);
      func->setAttr("rocdl.flat_work_group_size", StringAttr::get(context, threads + "," + threads));
      // LLVM may take a register too many for another wave, which costs more than it gains.
      if (waves != 0)
        func->setAttr("rocdl.waves_per_eu", IntegerAttr::get(IntegerType::get(context, 32), waves));
      return WalkResult::advance();
    });
    if (sizes.wasInterrupted())
      return signalPassFailure();
    WalkResult left = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op) || isa_and_present<LLVM::LLVMDialect, ROCDL::ROCDLDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName() << "' has no lowering for " << chip->arch;
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      return signalPassFailure();
  }
};

} // namespace
