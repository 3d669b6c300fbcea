//===- JsonTest.cpp -------------------------------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Support/Json.h"
#include "gtest/gtest.h"

using namespace atrex;

namespace {

std::string nest(unsigned levels) { return std::string(levels, '[') + std::string(levels, ']'); }

/// Empty on success.
std::string errorOf(llvm::StringRef text) {
  auto value = parseJson(text);
  return value ? "" : llvm::toString(value.takeError());
}

TEST(JsonTest, NestsUpToTheLimit) {
  EXPECT_EQ(errorOf(nest(maxJsonDepth)), "");
  EXPECT_EQ(errorOf("{\"a\": 1,\n \"b\": " + nest(maxJsonDepth) + "}"),
            "[2:262, byte=270]: '[' opens level 257 of nested arrays and objects; at most 256 are read");
  EXPECT_EQ(errorOf(std::string(1000000, '{')),
            "[1:257, byte=256]: '{' opens level 257 of nested arrays and objects; at most 256 are read");
}

TEST(JsonTest, CountsNoBracketsOfStrings) {
  EXPECT_EQ(errorOf("[\"" + std::string(1000, '[') + "\", \"\\\"" + std::string(1000, '{') + "\"]"), "");
  EXPECT_EQ(errorOf("\"" + std::string(1000, '[')).find("opens level"), std::string::npos);
}

TEST(JsonTest, CountsDepthNotBrackets) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i)
    text += "[{}],";
  EXPECT_EQ(errorOf(text + "0]"), "");
}

TEST(JsonTest, RefusesTwoValuesForOneKey) {
  EXPECT_EQ(errorOf("{\"a\": {\"a\": 1},\n \"a\": 2}"), "[2:2, byte=17]: the object has two values for 'a'");
  EXPECT_EQ(errorOf("[{\"a\": \"b\"}, {\"a\": [\"a\", \"a\"], \"b\": \"a\"}]"), "");
}

} // namespace
