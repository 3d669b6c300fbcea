//===- LowerAtxAMDGPU.cpp - AMD operations on types of atx ----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerAtx.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;
using namespace atrex::atx_amdgpu;

namespace {

struct MakeBufferPattern : public OpConversionPattern<MakeBufferOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MakeBufferOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i64 = rewriter.getI64Type();
    auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(rewriter, loc, i64, value); };
    // The resource starts at the pointer, so what follows counts from zero.
    Address source;
    source.base = adaptor.getPtr()[0];
    source.space = MemorySpace::Global;
    int64_t bits = getElementBits(op.getPtr().getType().getElementType());
    source.offset =
        rewriter.createOrFold<arith::MulIOp>(loc, adaptor.getPtr()[1], constant(bits % 8 ? bits : bits / 8));
    if (bits % 8)
      source.offset = rewriter.createOrFold<arith::ShRSIOp>(loc, source.offset, constant(3));
    SmallVector<Value> values = {emitMakeBuffer(rewriter, loc, source, adaptor.getBytes().front()), constant(0)};
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

} // namespace

void atrex::populateLowerAtxAMDGPUPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MakeBufferPattern>(converter, patterns.getContext());
}
