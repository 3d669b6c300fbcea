//===- ExpandMath.cpp - Functions without an instruction ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expansions of f32 functions into arithmetic, on scalars and vectors, without
// branches: the compiler links no device library. Coefficients are interpolations
// at Chebyshev nodes, rounded to f32; test/Language/operators checks the errors
// stated here.
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {

constexpr arith::FastMathFlags approximate =
    arith::FastMathFlags::contract | arith::FastMathFlags::arcp | arith::FastMathFlags::afn;

/// Arithmetic on values of the shape of `like`.
class Emitter {
public:
  Emitter(OpBuilder &b, Location loc, Value like) : b(b), loc(loc), like(like.getType()) {}

  Type getType(Type element) const {
    if (auto vector = dyn_cast<VectorType>(like))
      return VectorType::get(vector.getShape(), element);
    return element;
  }
  Value constant(TypedAttr attr) {
    if (auto vector = dyn_cast<VectorType>(like))
      attr = DenseElementsAttr::get(VectorType::get(vector.getShape(), attr.getType()), Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value f32(float value) { return constant(b.getF32FloatAttr(value)); }
  Value f64(double value) { return constant(b.getF64FloatAttr(value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value neg(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  /// Coefficients from the constant one upwards.
  Value polynomial(ArrayRef<float> coefficients, Value x) {
    Value sum = f32(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, f32(coefficient));
    return sum;
  }

  OpBuilder &b;
  Location loc;
  Type like;
};

/// Below 1 an odd polynomial, above 1 - 2^-q(|x|) with a polynomial for
/// -log2(erfc); from 4 on 1. Up to 3 ulp.
struct ExpandErf : public OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Value x = op.getOperand();
    Emitter e(rewriter, op.getLoc(), x);
    Value magnitude = e.abs(x);
    Value square = e.mul(x, x);
    // erf(x) / x - 1 over x^2.
    Value small = e.polynomial({0.12837916612625122f, -0.3761262595653534f, 0.11283594369888306f, -0.02685421146452427f,
                                0.005189087241888046f, -0.000801686430349946f, 7.875874871388078e-05f},
                               square);
    small = e.fma(small, x, x);
    Value exponent =
        e.polynomial({0.0011049569584429264f, 1.6243212223052979f, 0.9220859408378601f, 0.14900316298007965f,
                      -0.03261179104447365f, 0.004951836541295052f, -0.00045724347000941634f, 1.9147970306221396e-05f},
                     magnitude);
    Value power = math::Exp2Op::create(rewriter, op.getLoc(), e.neg(exponent), approximate);
    Value large = e.sub(e.f32(1.0f), power);
    large = e.select(e.compare(arith::CmpFPredicate::OLT, magnitude, e.f32(4.0f)), large, e.f32(1.0f));
    // NaN takes the first branch.
    Value isSmall = e.compare(arith::CmpFPredicate::UGE, e.f32(1.0f), magnitude);
    Value result = e.select(isSmall, small, large);
    rewriter.replaceOpWithNewOp<math::CopySignOp>(op, result, x);
    return success();
  }
};

/// log(u) corrected for the rounding of u = 1 + x. Up to 4 ulp.
struct ExpandLog1p : public OpRewritePattern<math::Log1pOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Log1pOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Value x = op.getOperand();
    Emitter e(rewriter, op.getLoc(), x);
    Value one = e.f32(1.0f);
    Value u = e.add(one, x);
    Value rounded = e.sub(u, one);
    Value log = math::LogOp::create(rewriter, op.getLoc(), u);
    Value corrected = e.mul(log, arith::DivFOp::create(rewriter, op.getLoc(), x, rounded));
    Value isTiny = e.compare(arith::CmpFPredicate::OEQ, rounded, e.f32(0.0f));
    Value isInfinite = e.compare(arith::CmpFPredicate::OEQ, u, e.f32(std::numeric_limits<float>::infinity()));
    rewriter.replaceOp(op, e.select(isTiny, x, e.select(isInfinite, u, corrected)));
    return success();
  }
};

/// Sine or cosine of any f32, up to 2 ulp. The number of turns comes in f64: 1/(2
/// pi) is cut into pieces of 26 bits, whose products with a 24-bit number are
/// exact, so the whole turns of each can be dropped without an error; the rest is
/// summed with what the sums lose.
template <typename OpTy, bool isCosine> struct ExpandTurns : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Value x = op.getOperand();
    Location loc = op.getLoc();
    Emitter e(rewriter, loc, x);
    Value wide = arith::ExtFOp::create(rewriter, loc, e.getType(rewriter.getF64Type()), x);
    constexpr double pieces[] = {0x1.45f3068p-3,  0x1.7272208p-29,  0x1.4a7f09p-56,  0x1.abe8fa8p-81,
                                 0x1.a6ee06p-109, 0x1.b629590p-134, 0x1.278872p-159, 0x1.07f944p-188};
    auto dropTurns = [&](Value value) { return e.sub(value, math::RoundEvenOp::create(rewriter, loc, value)); };
    Value turns, lost;
    for (double piece : pieces) {
      Value part = dropTurns(e.mul(wide, e.f64(piece)));
      if (!turns) {
        turns = part;
        continue;
      }
      Value sum = e.add(turns, part);
      Value added = e.sub(sum, turns);
      Value error = e.add(e.sub(turns, e.sub(sum, added)), e.sub(part, added));
      lost = lost ? e.add(lost, error) : error;
      turns = sum;
    }
    // Quarters of a turn, and an angle between -pi/4 and pi/4.
    Value quarters = math::RoundEvenOp::create(rewriter, loc, e.mul(turns, e.f64(4.0)));
    Value rest = e.add(e.sub(turns, e.mul(quarters, e.f64(0.25))), lost);
    Value angle = arith::TruncFOp::create(rewriter, loc, x.getType(), e.mul(rest, e.f64(6.283185307179586)));
    Type i32 = e.getType(rewriter.getI32Type());
    Value quadrant = arith::FPToSIOp::create(rewriter, loc, i32, quarters);
    if (isCosine)
      quadrant = arith::AddIOp::create(rewriter, loc, quadrant, e.constant(rewriter.getI32IntegerAttr(1)));

    Value square = e.mul(angle, angle);
    Value sine = e.polynomial({-0.166666641831398f, 0.008332747966051102f, -0.00019587890710681677f}, square);
    sine = e.fma(e.mul(sine, square), angle, angle);
    Value cosine = e.polynomial({0.0416666641831398f, -0.001388830249197781f, 2.454794230288826e-05f}, square);
    cosine = e.fma(e.mul(cosine, square), square, e.fma(square, e.f32(-0.5f), e.f32(1.0f)));
    auto hasBit = [&](int bit) -> Value {
      Value masked = arith::AndIOp::create(rewriter, loc, quadrant, e.constant(rewriter.getI32IntegerAttr(bit)));
      return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, masked,
                                   e.constant(rewriter.getI32IntegerAttr(0)));
    };
    Value value = e.select(hasBit(1), cosine, sine);
    value = e.select(hasBit(2), e.neg(value), value);
    if (!isCosine) {
      // Keeps the sign of zero.
      Value isTiny = e.compare(arith::CmpFPredicate::OLT, e.abs(x), e.f32(0x1p-13f));
      value = e.select(isTiny, x, value);
    }
    rewriter.replaceOp(op, value);
    return success();
  }
};

} // namespace

void atrex::populateExpandMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandErf, ExpandLog1p, ExpandTurns<math::SinOp, false>, ExpandTurns<math::CosOp, true>>(
      patterns.getContext());
}
