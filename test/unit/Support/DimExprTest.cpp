//===- DimExprTest.cpp - Integer expressions over dimensions --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Support/DimExpr.h"
#include "gtest/gtest.h"
#include <limits>

using namespace atrex;

static DimExpr parse(llvm::StringRef text) {
  llvm::Expected<DimExpr> expr = DimExpr::parse(text);
  EXPECT_TRUE(bool(expr)) << text.str();
  if (expr)
    return *expr;
  llvm::consumeError(expr.takeError());
  return DimExpr();
}

static std::string parseError(llvm::StringRef text) {
  llvm::Expected<DimExpr> expr = DimExpr::parse(text);
  return expr ? "" : llvm::toString(expr.takeError());
}

static int64_t evaluate(llvm::StringRef text, const DimMap &dims = {}) {
  llvm::Expected<int64_t> value = parse(text).evaluate(dims);
  EXPECT_TRUE(bool(value)) << text.str();
  if (value)
    return *value;
  llvm::consumeError(value.takeError());
  return -12345;
}

static std::string evaluateError(llvm::StringRef text, const DimMap &dims = {}) {
  llvm::Expected<int64_t> value = parse(text).evaluate(dims);
  return value ? "" : llvm::toString(value.takeError());
}

TEST(DimExpr, Precedence) {
  EXPECT_EQ(evaluate("2 + 3 * 4"), 14);
  EXPECT_EQ(evaluate("(2 + 3) * 4"), 20);
  EXPECT_EQ(evaluate("20 - 3 - 4"), 13);
  EXPECT_EQ(evaluate("100 / 7 / 2"), 7);
  EXPECT_EQ(evaluate("-3 * 2"), -6);
}

TEST(DimExpr, DivisionRoundsAsDocumented) {
  EXPECT_EQ(evaluate("7 / 2"), 3);
  EXPECT_EQ(evaluate("-7 / 2"), -4);
  EXPECT_EQ(evaluate("7 / (-2)"), -4);
  EXPECT_EQ(evaluate("cdiv(7, 2)"), 4);
  EXPECT_EQ(evaluate("cdiv(-7, 2)"), -3);
  EXPECT_EQ(evaluate("cdiv(8, 2)"), 4);
  EXPECT_EQ(evaluate("7 % 3"), 1);
  EXPECT_EQ(evaluate("-7 % 3"), 2);
  EXPECT_EQ(evaluate("7 % (-3)"), -2);
  EXPECT_EQ(evaluate("5 % (-1)"), 0);
}

TEST(DimExpr, Dimensions) {
  DimMap dims;
  dims["T"] = 33;
  dims["I"] = 7;
  EXPECT_EQ(evaluate("cdiv(T, 16)", dims), 3);
  EXPECT_EQ(evaluate("2 * I", dims), 14);
  EXPECT_EQ(parse("2 * I + T").substitute(dims).getConstant(), 47);
  DimMap onlyI;
  onlyI["I"] = 7;
  EXPECT_EQ(parse("2 * I + T").substitute(onlyI).str(), "14 + T");
  EXPECT_EQ(parse("T * 1 + 0").substitute(onlyI).str(), "T");
  std::set<std::string> names;
  parse("cdiv(T, I) * T").collectDims(names);
  EXPECT_EQ(names, (std::set<std::string>{"I", "T"}));
  EXPECT_EQ(parse("T").getConstant(), std::nullopt);
}

TEST(DimExpr, TextRoundTrips) {
  for (const char *text :
       {"T", "2 * I", "(T + 15) / 16", "cdiv(T, 4)", "a - (b - c)", "a - b - c", "a / (b * c)", "a * (b / c)",
        "(a + b) * (c - d)", "a % b", "a - (-3)", "-3 * a", "-9223372036854775808", "cdiv(a + 1, b * 2) + 1"}) {
    EXPECT_EQ(parse(text).str(), text);
    EXPECT_EQ(parse(parse(text).str()), parse(text));
  }
  EXPECT_EQ(parse("-x").str(), "0 - x");
}

TEST(DimExpr, Errors) {
  EXPECT_EQ(parseError("T +"), "in expression 'T +': column 4: expected a dimension, an integer or '(', found the end");
  EXPECT_EQ(parseError("T $ 2"),
            "in expression 'T $ 2': column 3: expected an operator or the end of the expression, found '$'");
  EXPECT_EQ(parseError("(T"), "in expression '(T': column 3: expected ')', found the end");
  EXPECT_EQ(parseError("cdiv T"), "in expression 'cdiv T': column 6: expected '(' after cdiv, found 'T'");
  EXPECT_NE(parseError("99999999999999999999"), "");
  EXPECT_NE(parseError(""), "");
  EXPECT_NE(parseError(std::string(100000, '(')), "");
  std::string chain = "1";
  for (int i = 0; i < 5000; ++i)
    chain += "+1";
  EXPECT_NE(parseError(chain), "");
}

TEST(DimExpr, EvaluationFaults) {
  EXPECT_EQ(evaluateError("T + 1"), "dimension 'T' has no value");
  EXPECT_EQ(evaluateError("4 / 0"), "'4 / 0' divides 4 by zero");
  EXPECT_EQ(evaluateError("4 % 0"), "'4 % 0' divides 4 by zero");
  DimMap dims;
  dims["T"] = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(evaluateError("T + 1", dims), "'T + 1' overflows 64 bits: the operands are 9223372036854775807 and 1");
  EXPECT_NE(evaluateError("T * 2", dims), "");
  dims["T"] = std::numeric_limits<int64_t>::min();
  EXPECT_NE(evaluateError("T / (-1)", dims), "");
  EXPECT_NE(evaluateError("T - 1", dims), "");
  EXPECT_EQ(parse("4 / 0").getConstant(), std::nullopt);
}
