//===- NumberTest.cpp - Elements with error bounds ------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Interpreter/Elementwise.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <random>

using namespace atrex::interp;

namespace {
class NumberTest : public ::testing::Test {
protected:
  mlir::MLIRContext context;
  mlir::Builder builder{&context};
  ElementType f32 = *ElementType::get(builder.getF32Type());
  ElementType f64 = *ElementType::get(builder.getF64Type());
  ElementType bf16 = *ElementType::get(builder.getBF16Type());
  ElementType f16 = *ElementType::get(builder.getF16Type());

  Number make(float value, double bound = 0) {
    Number number = fromDouble(value, f32);
    number.bound = bound;
    return number;
  }
  float value(const Number &number) { return static_cast<float>(toDouble(number, f32)); }
};

/// Adds floats in a random order and grouping.
float addAnyhow(std::vector<float> terms, std::mt19937 &random) {
  while (terms.size() > 1) {
    size_t a = random() % terms.size();
    std::swap(terms[a], terms.back());
    float x = terms.back();
    terms.pop_back();
    size_t b = random() % terms.size();
    terms[b] += x;
  }
  return terms.front();
}

TEST_F(NumberTest, TypesAreDescribed) {
  EXPECT_EQ(f32.precision, 24);
  EXPECT_EQ(f32.minExponent, -126);
  EXPECT_EQ(f32.getSpacing(1.0), 0x1p-23);
  EXPECT_EQ(f32.getSpacing(0.0), 0x1p-149);
  EXPECT_EQ(bf16.getUnitRoundoff(), 0x1p-8);
  EXPECT_FALSE(ElementType::get(builder.getIntegerType(128)).has_value());
}

TEST_F(NumberTest, IntegersKeepTheirWidth) {
  ElementType i8 = ElementType::getInteger(8);
  EXPECT_EQ(fromSigned(-1, i8).bits, 0xFFu);
  EXPECT_EQ(toSigned(fromSigned(-128, i8), i8), -128);
  EXPECT_EQ(toUnsigned(fromSigned(-128, i8), i8), 128u);
}

TEST_F(NumberTest, SmallFloatsOverflowAsTheLanguageSays) {
  ElementType e4m3 = *ElementType::get(mlir::Float8E4M3FNType::get(&context));
  ElementType e5m2 = *ElementType::get(mlir::Float8E5M2Type::get(&context));
  ElementType fnuz = *ElementType::get(mlir::Float8E4M3FNUZType::get(&context));
  ElementType fp4 = *ElementType::get(mlir::Float4E2M1FNType::get(&context));
  EXPECT_EQ(encodeFloat(1e9, e4m3), 0x7Fu);
  EXPECT_EQ(encodeFloat(1e9, e4m3, /*saturate=*/true), 0x7Eu);
  EXPECT_EQ(encodeFloat(-1e9, e5m2), 0xFCu);
  EXPECT_EQ(encodeFloat(-1e9, e5m2, /*saturate=*/true), 0xFBu);
  EXPECT_EQ(encodeFloat(1e9, fnuz), 0x80u);
  EXPECT_EQ(encodeFloat(1e9, fp4), 7u);
  EXPECT_EQ(encodeFloat(std::nan(""), fp4) & 7u, 7u);
  // Ties to even: 0.25 lies between 0 and 0.5, 5 between 4 and 6.
  EXPECT_EQ(encodeFloat(0.25, fp4), 0u);
  EXPECT_EQ(encodeFloat(5, fp4), 6u);
  // 448 is the largest; 464 is the middle to the next step that does not exist.
  EXPECT_EQ(encodeFloat(464, e4m3), 0x7Eu);
  EXPECT_EQ(encodeFloat(465, e4m3), 0x7Fu);
}

TEST_F(NumberTest, SumsCoverEveryOrder) {
  std::mt19937 random(7);
  unsigned inexact = 0;
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<float> terms(2 + random() % 60);
    std::vector<Number> numbers;
    for (float &term : terms) {
      term = std::ldexp(float(random() % 20001) - 10000, int(random() % 30) - 15);
      numbers.push_back(make(term));
    }
    Number sum = combine(Combine::Sum, numbers, nullptr, f32, /*products=*/false);
    ASSERT_FALSE(sum.isUndetermined());
    inexact += !sum.isExact();
    for (unsigned order = 0; order < 50; ++order) {
      float other = addAnyhow(terms, random);
      EXPECT_LE(std::fabs(double(other) - value(sum)), sum.bound) << "round " << round;
    }
  }
  EXPECT_GT(inexact, 150u);
}

TEST_F(NumberTest, SumsOfSmallIntegersAreExact) {
  std::vector<Number> numbers;
  for (int i = -500; i < 700; ++i)
    numbers.push_back(make(float(i % 9)));
  Number start = make(0);
  EXPECT_TRUE(combine(Combine::Sum, numbers, &start, f32, /*products=*/true).isExact());
  // 2^24 + 1 + 1 depends on the order.
  Number large[] = {make(0x1p24f), make(1), make(1)};
  Number sum = combine(Combine::Sum, large, nullptr, f32, false);
  EXPECT_FALSE(sum.isExact());
  EXPECT_GE(sum.bound, 1);
}

TEST_F(NumberTest, SumsOfSpecialValues) {
  float inf = std::numeric_limits<float>::infinity();
  auto sum = [&](std::initializer_list<float> terms) {
    std::vector<Number> numbers;
    for (float term : terms)
      numbers.push_back(make(term));
    return combine(Combine::Sum, numbers, nullptr, f32, false);
  };
  EXPECT_TRUE(sum({1, inf, 3}).isExact());
  EXPECT_EQ(value(sum({1, inf, 3})), inf);
  EXPECT_TRUE(std::isnan(value(sum({1, inf, -inf}))));
  EXPECT_TRUE(std::isnan(value(sum({1, std::nanf(""), inf}))));
  // Overflows in one order and not in another.
  EXPECT_TRUE(sum({3e38f, 3e38f, -3e38f}).isUndetermined());
}

TEST_F(NumberTest, ContractionMovesASum) {
  Number a = make(1 + 0x1p-12f), c = make(-1);
  Number product = mulFloat(a, a, f32, /*contract=*/true);
  EXPECT_TRUE(product.isExact());
  EXPECT_GT(product.slack, 0);
  Number sum = addFloat(product, c, f32, /*contract=*/true);
  float rounded = (1 + 0x1p-12f) * (1 + 0x1p-12f) - 1, fused = std::fma(1 + 0x1p-12f, 1 + 0x1p-12f, -1.0f);
  EXPECT_NE(rounded, fused);
  EXPECT_LE(std::fabs(double(rounded) - value(sum)), sum.bound);
  EXPECT_LE(std::fabs(double(fused) - value(sum)), sum.bound);
  // Without the flag there is one result.
  EXPECT_TRUE(addFloat(product, c, f32, /*contract=*/false).isExact());
  // An exact product changes nothing.
  Number two = make(2);
  EXPECT_TRUE(addFloat(mulFloat(two, two, f32, true), c, f32, true).isExact());
}

TEST_F(NumberTest, RoundingSwallowsABound) {
  // Within a quarter of a step of bf16 around 1: one value.
  Interval near{1 - 0x1p-12, 1 + 0x1p-12, true};
  EXPECT_TRUE(bounded(encodeFloat(1, bf16), bf16, near).isExact());
  Interval wide{1 - 0x1p-7, 1 + 0x1p-7, true};
  Number number = bounded(encodeFloat(1, bf16), bf16, wide);
  EXPECT_GE(number.bound, 0x1p-7);
  EXPECT_LT(number.bound, 0x1p-6);
}

TEST_F(NumberTest, NothingIsKnownBeyondTheRange) {
  Interval interval{3e38, 4e38, true};
  EXPECT_TRUE(bounded(encodeFloat(3.2e38, f32), f32, interval).isUndetermined());
}

TEST_F(NumberTest, MaximaFollowIEEE) {
  EXPECT_EQ(maxFloat(make(-0.0f), make(0.0f), f32, false).bits, make(0.0f).bits);
  EXPECT_EQ(maxFloat(make(-0.0f), make(0.0f), f32, true).bits, make(-0.0f).bits);
  // A NaN wins even where the other is not known.
  Number unknown = make(1, undetermined);
  Number nan = maxFloat(make(std::nanf("")), unknown, f32, false);
  EXPECT_TRUE(nan.isExact());
  EXPECT_TRUE(std::isnan(value(nan)));
  // The larger one decides alone when the other cannot reach it.
  EXPECT_TRUE(maxFloat(make(5), make(1, 0.5), f32, false).isExact());
  EXPECT_FALSE(maxFloat(make(5), make(4.8f, 0.5), f32, false).isExact());
}

TEST_F(NumberTest, OrderHasNaNOnTop) {
  Number nan = make(std::nanf("")), one = make(1);
  EXPECT_EQ(lessInOrder(one, nan, f32, false), Truth::True);
  EXPECT_EQ(lessInOrder(nan, one, f32, false), Truth::False);
  EXPECT_EQ(lessInOrder(nan, nan, f32, false), Truth::False);
  EXPECT_EQ(lessInOrder(make(-0.0f), make(0.0f), f32, false), Truth::False);
  EXPECT_EQ(lessInOrder(make(1, 0.1), make(1.15f), f32, false), Truth::True);
  EXPECT_EQ(lessInOrder(make(1, 0.2), make(1.1f), f32, false), Truth::Unknown);
  ElementType i8 = ElementType::getInteger(8);
  EXPECT_EQ(lessInOrder(fromSigned(-1, i8), fromSigned(1, i8), i8, false), Truth::True);
  EXPECT_EQ(lessInOrder(fromSigned(-1, i8), fromSigned(1, i8), i8, true), Truth::False);
}

TEST_F(NumberTest, ProductsInAnyOrder) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 100; ++round) {
    std::vector<float> terms(2 + random() % 12);
    std::vector<Number> numbers;
    for (float &term : terms) {
      term = 0.5f + float(random() % 1000) / 1000;
      numbers.push_back(make(term));
    }
    Number product = combine(Combine::Prod, numbers, nullptr, f32, false);
    for (unsigned order = 0; order < 20; ++order) {
      std::shuffle(terms.begin(), terms.end(), random);
      float other = 1;
      for (float term : terms)
        other *= term;
      EXPECT_LE(std::fabs(double(other) - value(product)), product.bound);
    }
  }
  Number powers[] = {make(2), make(0.5f), make(-8), make(3)};
  Number exact = combine(Combine::Prod, powers, nullptr, f32, false);
  EXPECT_TRUE(exact.isExact());
  EXPECT_EQ(value(exact), -24);
}
} // namespace
