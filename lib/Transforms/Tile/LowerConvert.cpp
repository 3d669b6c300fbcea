//===- LowerConvert.cpp - Conversions of elements -------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats of 8, 6 and 4 bits by integer arithmetic, the same on every chip; where the
// chip converts a kind itself, reading it takes one instruction.
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

namespace {

/// A small float: sign, exponent, mantissa.
struct SmallFloat {
  unsigned bits, mantissa;
  int bias;
  /// Code of the largest finite number, and of what overflow gives (-1: nothing but
  /// saturation).
  int largest, overflow;
  /// Code of NaN, or -1; codes from `firstNaN` on are NaN.
  int nan, firstNaN;
  /// Code of infinity, or -1.
  int infinity;
  /// The code with only the sign set is NaN, and there is no -0.
  bool isUnsignedZero;
};

std::optional<SmallFloat> getSmallFloat(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return SmallFloat{8, 3, 7, 0x7E, 0x7F, 0x7F, 0x7F, -1, false};
  if (isa<Float8E4M3FNUZType>(type))
    return SmallFloat{8, 3, 8, 0x7F, 0x80, 0x80, 0x80, -1, true};
  if (isa<Float8E5M2Type>(type))
    return SmallFloat{8, 2, 15, 0x7B, 0x7C, 0x7E, 0x7D, 0x7C, false};
  if (isa<Float8E5M2FNUZType>(type))
    return SmallFloat{8, 2, 16, 0x7F, 0x80, 0x80, 0x80, -1, true};
  if (isa<Float6E2M3FNType>(type))
    return SmallFloat{6, 3, 1, 0x1F, -1, -1, 0x40, -1, false};
  if (isa<Float6E3M2FNType>(type))
    return SmallFloat{6, 2, 3, 0x1F, -1, -1, 0x40, -1, false};
  if (isa<Float4E2M1FNType>(type))
    return SmallFloat{4, 1, 1, 0x7, -1, -1, 0x40, -1, false};
  return std::nullopt;
}

Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), element);
  return element;
}

/// Arithmetic on values of one shape.
struct Arith {
  TileEmitter &e;
  Type shape;
  Value constant(Type element, Attribute attr) {
    Type type = withElement(shape, element);
    if (isa<VectorType>(type))
      return arith::ConstantOp::create(e.b, e.loc,
                                       cast<TypedAttr>(DenseElementsAttr::get(cast<ShapedType>(type), attr)));
    return arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(attr));
  }
  Value i32(int64_t value) { return constant(e.b.getI32Type(), e.b.getI32IntegerAttr(int32_t(value))); }
  Value f32(float value) { return constant(e.b.getF32Type(), e.b.getF32FloatAttr(value)); }
  Value asFloat(Value bits) { return arith::BitcastOp::create(e.b, e.loc, withElement(shape, e.b.getF32Type()), bits); }
  Value asBits(Value number) {
    return arith::BitcastOp::create(e.b, e.loc, withElement(shape, e.b.getI32Type()), number);
  }
  Value andI(Value a, Value c) { return arith::AndIOp::create(e.b, e.loc, a, c); }
  Value orI(Value a, Value c) { return arith::OrIOp::create(e.b, e.loc, a, c); }
  Value shl(Value a, int64_t by) { return arith::ShLIOp::create(e.b, e.loc, a, i32(by)); }
  Value shr(Value a, int64_t by) { return arith::ShRUIOp::create(e.b, e.loc, a, i32(by)); }
  Value add(Value a, Value c) { return arith::AddIOp::create(e.b, e.loc, a, c); }
  Value cmp(arith::CmpIPredicate predicate, Value a, Value c) {
    return arith::CmpIOp::create(e.b, e.loc, predicate, a, c);
  }
  Value select(Value condition, Value a, Value c) { return arith::SelectOp::create(e.b, e.loc, condition, a, c); }
};

} // namespace

/// Packed floats that gfx950 reads itself: 4 bits in pairs to f32, f16 and bf16, 6
/// bits in runs of 32 to f32. Null for others.
static Value widenPacked(TileEmitter &e, Value value, Type element) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  auto type = dyn_cast<VectorType>(value.getType());
  Type from = getElementTypeOrSelf(value.getType());
  if (!type || !isPackedType(from) || e.chip.arch != "gfx950")
    return {};
  int64_t count = type.getNumElements();
  Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f));
  SmallVector<Value> elements;
  if (isa<Float4E2M1FNType>(from)) {
    SmallVector<Value> words = packElements(e, value, 32);
    Type wide = element.isF16() || element.isBF16() ? element : Type(b.getF32Type());
    auto pair = VectorType::get(2, wide);
    for (int64_t i = 0; i < count; i += 2) {
      Value word = words[i / 8], both;
      int32_t byte = int32_t(i / 2 % 4);
      if (wide.isF16())
        both = ROCDL::CvtScaleF32PkF16Fp4Op::create(b, loc, pair, word, one, byte);
      else if (wide.isBF16())
        both = ROCDL::CvtScaleF32PkBf16Fp4Op::create(b, loc, pair, word, one, byte);
      else
        both = ROCDL::CvtScaleF32PkF32Fp4Op::create(b, loc, pair, word, one, byte);
      for (int64_t j = i; j < std::min(i + 2, count); ++j)
        elements.push_back(e.extract(both, j - i));
    }
    return e.pack(elements);
  }
  if (count % 32 != 0)
    return {};
  SmallVector<Value> words = packElements(e, value, 32);
  auto run = VectorType::get(32, b.getF32Type());
  for (int64_t i = 0; i < count / 32; ++i) {
    Value six = e.pack(ArrayRef<Value>(words).slice(i * 6, 6));
    Value wide = isa<Float6E2M3FNType>(from) ? Value(ROCDL::CvtScaleF32Pk32F32Fp6Op::create(b, loc, run, six, one))
                                             : Value(ROCDL::CvtScaleF32Pk32F32Bf6Op::create(b, loc, run, six, one));
    for (int64_t j = 0; j < 32; ++j)
      elements.push_back(e.extract(wide, j));
  }
  return e.pack(elements);
}

/// f32 as 4-bit floats on gfx950. Null for others.
static Value narrowPacked(TileEmitter &e, Value value, Type element) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || !isa<Float4E2M1FNType>(element) || e.chip.arch != "gfx950")
    return {};
  int64_t count = type.getNumElements();
  Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f));
  // The sign that NaN would have is nowhere stated: the minimum makes it the largest
  // number, which is what the language says.
  Value largest = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(6.0f));
  auto get = [&](int64_t i) -> Value {
    return i < count ? Value(arith::MinNumFOp::create(b, loc, e.extract(value, i), largest)) : largest;
  };
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; i += 8) {
    Value word = e.i32(0);
    for (int64_t j = i; j < std::min(i + 8, count); j += 2)
      word = ROCDL::CvtScaleF32PkFp4F32Op::create(b, loc, b.getI32Type(), word, get(j), get(j + 1), one,
                                                  int32_t(j / 2 % 4));
    words.push_back(word);
  }
  return unpackElements(e, words, element, count);
}

Value tile::widenFloat(TileEmitter &e, Value value, Type element) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type from = getElementTypeOrSelf(value.getType());
  SmallFloat kind = *getSmallFloat(from);
  Type type = value.getType();
  Arith a{e, type};
  Value wide = widenPacked(e, value, element);
  if (wide && getElementTypeOrSelf(wide.getType()) == element)
    return wide;
  // What the chip reads itself: pairs of a word.
  bool isFP8 = e.chip.fp8IsFNUZ ? isa<Float8E4M3FNUZType>(from) : isa<Float8E4M3FNType>(from);
  bool isBF8 = e.chip.fp8IsFNUZ ? isa<Float8E5M2FNUZType>(from) : isa<Float8E5M2Type>(from);
  auto vector = dyn_cast<VectorType>(type);
  if (wide) {
    // Exact in f32, rounded below where that is not enough.
  } else if ((isFP8 || isBF8) && vector && vector.getNumElements() % 4 == 0) {
    int64_t words = vector.getNumElements() / 4;
    Value bytes = arith::BitcastOp::create(b, loc, withElement(type, b.getI8Type()), value);
    Value packed = vector::BitCastOp::create(b, loc, VectorType::get(words, b.getI32Type()), bytes);
    Type pair = VectorType::get(2, b.getF32Type());
    SmallVector<Value> elements;
    for (int64_t word = 0; word < words; ++word)
      for (bool high : {false, true}) {
        Value both = isFP8 ? Value(ROCDL::CvtPkF32Fp8Op::create(b, loc, pair, e.extract(packed, word), high))
                           : Value(ROCDL::CvtPkF32Bf8Op::create(b, loc, pair, e.extract(packed, word), high));
        elements.push_back(e.extract(both, 0));
        elements.push_back(e.extract(both, 1));
      }
    wide = e.pack(elements);
  } else {
    Value code = isPackedType(from)
                     ? e.toStorage(value)
                     : arith::BitcastOp::create(b, loc, withElement(type, b.getIntegerType(kind.bits)), value);
    Value bits = arith::ExtUIOp::create(b, loc, withElement(type, b.getI32Type()), code);
    int64_t signBit = int64_t(1) << (kind.bits - 1);
    Value magnitude = a.andI(bits, a.i32(signBit - 1));
    Value sign = a.shl(a.andI(bits, a.i32(signBit)), 32 - kind.bits);
    // Exponent and mantissa in place, with the wrong bias: one exact product mends
    // it, also for subnormal codes.
    Value number = a.asFloat(a.shl(magnitude, 23 - kind.mantissa));
    llvm::APFloat factor = llvm::scalbn(llvm::APFloat(1.0f), 127 - kind.bias, llvm::APFloat::rmNearestTiesToEven);
    number = arith::MulFOp::create(b, loc, number, a.f32(factor.convertToFloat()));
    Value result = a.orI(a.asBits(number), sign);
    if (kind.infinity >= 0)
      result = a.select(a.cmp(arith::CmpIPredicate::eq, magnitude, a.i32(kind.infinity)),
                        a.orI(sign, a.i32(0x7F800000)), result);
    if (kind.nan >= 0) {
      Value isNaN = kind.isUnsignedZero ? a.cmp(arith::CmpIPredicate::eq, bits, a.i32(kind.nan))
                                        : a.cmp(arith::CmpIPredicate::uge, magnitude, a.i32(kind.firstNaN));
      result = a.select(isNaN, a.i32(0x7FC00000), result);
    }
    wide = a.asFloat(result);
  }
  if (element.isF32())
    return wide;
  Type to = withElement(type, element);
  // Every number of a small float is one of bf16: the upper half of its f32, and so is a quiet NaN.
  if (element.isBF16()) {
    Value half = arith::TruncIOp::create(b, loc, withElement(type, b.getI16Type()), a.shr(a.asBits(wide), 16));
    return arith::BitcastOp::create(b, loc, to, half);
  }
  if (element.getIntOrFloatBitWidth() > 32)
    return arith::ExtFOp::create(b, loc, to, wide);
  return arith::TruncFOp::create(b, loc, to, wide);
}

Value tile::unpackElements(TileEmitter &e, ArrayRef<Value> chunks, Type element, int64_t count) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  unsigned bits = element.getIntOrFloatBitWidth(), chunkBits = chunks.front().getType().getIntOrFloatBitWidth();
  SmallVector<Value> words;
  for (Value chunk : chunks)
    words.push_back(chunkBits == 32 ? chunk : Value(arith::ExtUIOp::create(b, loc, b.getI32Type(), chunk)));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    unsigned chunk = i * bits / chunkBits, shift = i * bits % chunkBits;
    Value field = words[chunk];
    if (shift != 0)
      field = arith::ShRUIOp::create(b, loc, field, e.i32(shift));
    if (shift + bits > chunkBits)
      field = arith::OrIOp::create(
          b, loc, field, arith::ShLIOp::create(b, loc, words[chunk + 1], e.i32(chunkBits - shift)).getResult());
    field = arith::AndIOp::create(b, loc, field, e.i32((1 << bits) - 1));
    elements.push_back(e.fromStorage(arith::TruncIOp::create(b, loc, b.getI8Type(), field), element));
  }
  return e.pack(elements);
}

SmallVector<Value> tile::packElements(TileEmitter &e, Value vector, unsigned chunkBits) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  auto type = cast<VectorType>(vector.getType());
  unsigned bits = type.getElementTypeBitWidth();
  int64_t count = type.getNumElements();
  SmallVector<Value> words(llvm::divideCeil(count * bits, chunkBits));
  auto add = [&](unsigned word, Value field) {
    words[word] = words[word] ? Value(arith::OrIOp::create(b, loc, words[word], field)) : field;
  };
  for (int64_t i = 0; i < count; ++i) {
    Value field = arith::ExtUIOp::create(b, loc, b.getI32Type(), e.toStorage(e.extract(vector, i)));
    unsigned word = i * bits / chunkBits, shift = i * bits % chunkBits;
    add(word, shift == 0 ? field : Value(arith::ShLIOp::create(b, loc, field, e.i32(shift))));
    if (shift + bits > chunkBits)
      add(word + 1, arith::ShRUIOp::create(b, loc, field, e.i32(chunkBits - shift)));
  }
  if (chunkBits != 32)
    for (Value &word : words)
      word = arith::TruncIOp::create(b, loc, b.getIntegerType(chunkBits), word);
  return words;
}

/// f64 to f32 so that a later rounding to fewer bits is right: an inexact result is
/// made odd.
static Value roundToOdd(TileEmitter &e, Value value) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Arith a{e, value.getType()};
  Value nearest = arith::TruncFOp::create(b, loc, withElement(value.getType(), b.getF32Type()), value);
  Value back = arith::ExtFOp::create(b, loc, value.getType(), nearest);
  Value inexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, value);
  Value larger =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back).getResult(),
                            math::AbsFOp::create(b, loc, value).getResult());
  Value bits = a.asBits(nearest);
  Value even = a.cmp(arith::CmpIPredicate::eq, a.andI(bits, a.i32(1)), a.i32(0));
  Value step = a.select(larger, a.i32(-1), a.i32(1));
  Value fix = arith::AndIOp::create(b, loc, inexact, even);
  return a.asFloat(a.select(fix, a.add(bits, step), bits));
}

Value tile::narrowFloat(TileEmitter &e, Value value, Type element, bool saturate) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  SmallFloat kind = *getSmallFloat(element);
  Type type = value.getType(), from = getElementTypeOrSelf(type);
  Arith a{e, type};
  if (getSmallFloat(from))
    value = widenFloat(e, value, b.getF32Type());
  else if (from.isF64())
    value = roundToOdd(e, value);
  else if (!from.isF32())
    value = arith::ExtFOp::create(b, loc, withElement(type, b.getF32Type()), value);
  if (Value packed = narrowPacked(e, value, element))
    return packed;
  Value bits = a.asBits(value);
  Value magnitude = a.andI(bits, a.i32(0x7FFFFFFF));
  // Normal numbers: nearest even on the bits, then the other bias.
  unsigned dropped = 23 - kind.mantissa;
  Value odd = a.andI(a.shr(magnitude, dropped), a.i32(1));
  Value rounded = a.add(a.add(magnitude, odd), a.i32((int64_t(1) << (dropped - 1)) - 1));
  Value normal = a.add(a.shr(rounded, dropped), a.i32(-(int64_t(127 - kind.bias) << kind.mantissa)));
  // Subnormal ones are multiples of the smallest: adding 2^23 rounds them.
  llvm::APFloat factor =
      llvm::scalbn(llvm::APFloat(1.0f), kind.bias - 1 + int(kind.mantissa), llvm::APFloat::rmNearestTiesToEven);
  Value scaled = arith::MulFOp::create(b, loc, a.asFloat(magnitude), a.f32(factor.convertToFloat()));
  Value sum = arith::AddFOp::create(b, loc, scaled, a.f32(8388608.0f));
  Value subnormal = a.add(a.asBits(sum), a.i32(-0x4B000000));
  Value isNormal = a.cmp(arith::CmpIPredicate::uge, magnitude, a.i32(int64_t(128 - kind.bias) << 23));
  Value code = a.select(isNormal, normal, subnormal);
  bool clamps = saturate || kind.overflow < 0;
  Value tooLarge = a.cmp(arith::CmpIPredicate::sgt, code, a.i32(kind.largest));
  code = a.select(tooLarge, a.i32(clamps ? kind.largest : kind.overflow), code);
  Value sign = a.shr(a.andI(bits, a.i32(int64_t(1) << 31)), 32 - kind.bits);
  Value result = a.orI(code, sign);
  if (kind.isUnsignedZero) {
    // No -0; NaN has no sign.
    Value isZero = a.cmp(arith::CmpIPredicate::eq, code, a.i32(0));
    result = a.select(isZero, a.i32(0), result);
    result = a.select(a.cmp(arith::CmpIPredicate::eq, code, a.i32(0x80)), a.i32(0x80), result);
  }
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  result = a.select(isNaN,
                    kind.nan >= 0 ? a.orI(a.i32(kind.nan), kind.isUnsignedZero ? a.i32(0) : sign) : a.i32(kind.largest),
                    result);
  Value small = arith::TruncIOp::create(b, loc, withElement(type, b.getI8Type()), result);
  if (isPackedType(element))
    return e.fromStorage(small, element);
  return arith::BitcastOp::create(b, loc, withElement(type, element), small);
}

/// The value of operand 0, checked to be in the result's layout, and where it goes.
static FailureOr<Value> getInput(TileEmitter &e, Operation *op) {
  Value result = op->getResult(0), input = op->getOperand(0);
  if (!isa<VectorType>(result.getType()))
    return e.getScalar(input);
  return e.convertLayout(e.getTile(input), e.getLayout(result), op);
}

/// Codes of the 8-bit floats of one chip as those of the other, where `op` narrows the product of the widened numbers
/// and the factor by which the same code differs: they stay but for three of them, and four in a word are mended at
/// once. Null for anything else.
static Value recodeFloat(TileEmitter &e, Operation *op) {
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  auto product = op->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!type || !product)
    return Value();
  llvm::APFloat factor(0.0f);
  Value wide = product.getLhs();
  if (!matchPattern(product.getRhs(), m_ConstantFloat(&factor))) {
    wide = product.getRhs();
    if (!matchPattern(product.getLhs(), m_ConstantFloat(&factor)))
      return Value();
  }
  auto widen = wide.getDefiningOp<arith::ExtFOp>();
  if (!widen)
    return Value();
  Value codes = widen.getIn();
  Type from = getElementTypeOrSelf(codes.getType()), to = type.getElementType();
  bool isHalf = isa<Float8E4M3FNType>(from) && isa<Float8E4M3FNUZType>(to) && factor.convertToDouble() == 0.5;
  bool isTwice = isa<Float8E4M3FNUZType>(from) && isa<Float8E4M3FNType>(to) && factor.convertToDouble() == 2.0;
  // What is twice 240 is too large, and not to be the largest.
  if (auto convert = dyn_cast<atx::TileConvertOp>(op))
    isTwice &= !convert.getSaturate();
  TileLayout layout = e.getLayout(op->getResult(0));
  if ((!isHalf && !isTwice) || e.getLayout(codes) != layout || layout.getNumRegisters() % 4 != 0)
    return Value();
  OpBuilder &b = e.b;
  Location loc = e.loc;
  int64_t count = layout.getNumRegisters();
  Value bytes = arith::BitcastOp::create(b, loc, VectorType::get(count, b.getI8Type()), e.getScalar(codes));
  Value packed = vector::BitCastOp::create(b, loc, VectorType::get(count / 4, b.getI32Type()), bytes);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count / 4; ++i)
    words.push_back(e.extract(packed, i));
  Arith a{e, b.getI32Type()};
  // Averages of the bytes of two words, rounded up where the lowest bit of the third's byte is set; they have no
  // carries from one to the next.
  auto average = [&](Value x, Value y, Value up) -> Value {
    return LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(), b.getStringAttr("llvm.amdgcn.lerp"),
                                         ValueRange{x, y, up})
        .getResult(0);
  };
  constexpr int64_t low = 0x7f7f7f7f, high = 0x80808080;
  for (Value &word : words) {
    // The highest bit is that of negative numbers, without -0 (FNUZ: without NaN).
    Value negative = average(word, a.i32(low), a.i32(0));
    if (isHalf) {
      // NaN is the code behind the largest number. The average of x and x + 1 is x, or x + 1 if rounded up.
      Value magnitude = a.andI(word, a.i32(low));
      Value next = a.add(magnitude, a.i32(0x01010101));
      magnitude = average(magnitude, next, a.shr(next, 7));
      word = a.orI(a.andI(negative, a.i32(high)), magnitude);
    } else {
      Value isNaN = a.andI(a.andI(word, arith::XOrIOp::create(b, loc, negative, a.i32(-1)).getResult()), a.i32(high));
      word = arith::SubIOp::create(b, loc, word, a.shr(isNaN, 7));
    }
  }
  bytes = vector::BitCastOp::create(b, loc, bytes.getType(), e.pack(words));
  return arith::BitcastOp::create(b, loc, VectorType::get(count, to), bytes);
}

LogicalResult tile::lowerFloatCast(TileEmitter &e, Operation *op) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
  bool narrow = getSmallFloat(to).has_value();
  if (!narrow && !getSmallFloat(from))
    return e.emitElementwise(op);
  if (Value codes = recodeFloat(e, op)) {
    e.setTile(op->getResult(0), codes);
    return success();
  }
  FailureOr<Value> input = getInput(e, op);
  if (failed(input))
    return failure();
  e.setScalar(op->getResult(0), narrow ? narrowFloat(e, *input, to, /*saturate=*/false) : widenFloat(e, *input, to));
  return success();
}

LogicalResult tile::lowerConvert(TileEmitter &e, Operation *op) {
  auto convert = cast<atx::TileConvertOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type from = getElementTypeOrSelf(convert.getInput().getType()), to = getElementTypeOrSelf(convert.getType());
  if (Value codes = recodeFloat(e, op)) {
    e.setTile(convert.getResult(), codes);
    return success();
  }
  FailureOr<Value> input = getInput(e, op);
  if (failed(input))
    return failure();
  Value value = *input;
  if (getSmallFloat(to)) {
    e.setScalar(convert.getResult(), narrowFloat(e, value, to, convert.getSaturate()));
    return success();
  }
  if (isa<FloatType>(to)) {
    if (getSmallFloat(from)) {
      e.setScalar(convert.getResult(), widenFloat(e, value, to));
      return success();
    }
    return op->emitError() << "no conversion from " << from << " to " << to << "; write a cast";
  }
  // To an integer: the saturating intrinsic, element by element.
  if (getSmallFloat(from))
    value = widenFloat(e, value, b.getF32Type());
  else if (from.getIntOrFloatBitWidth() < 32)
    value = arith::ExtFOp::create(b, loc, withElement(value.getType(), b.getF32Type()), value);
  Type wide = getElementTypeOrSelf(value.getType());
  Type integer = to.isIndex() ? Type(b.getI64Type()) : to;
  std::string name = (Twine(convert.getIsUnsigned() ? "llvm.fptoui.sat.i" : "llvm.fptosi.sat.i") +
                      Twine(integer.getIntOrFloatBitWidth()) + ".f" + Twine(wide.getIntOrFloatBitWidth()))
                         .str();
  auto scalar = [&](Value x) -> Value {
    Value result = LLVM::CallIntrinsicOp::create(b, loc, integer, b.getStringAttr(name), ValueRange{x}).getResult(0);
    return to.isIndex() ? Value(arith::IndexCastOp::create(b, loc, to, result)) : result;
  };
  if (!isa<VectorType>(value.getType())) {
    e.setScalar(convert.getResult(), scalar(value));
    return success();
  }
  SmallVector<Value> elements;
  for (int64_t i = 0; i < cast<VectorType>(value.getType()).getNumElements(); ++i)
    elements.push_back(scalar(e.extract(value, i)));
  e.setTile(convert.getResult(), e.pack(elements));
  return success();
}
