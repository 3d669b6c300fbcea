//===- RegimesTest.cpp ----------------------------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Regimes.h"
#include "gtest/gtest.h"

using namespace atrex;
using namespace atrex::bench;

namespace {

std::string getError(llvm::StringRef text) {
  llvm::Expected<std::vector<Regime>> regimes = parseRegimes(text, "f.regimes");
  return regimes ? "" : llvm::toString(regimes.takeError());
}

TEST(Regimes, FirstThatHoldsCounts) {
  llvm::Expected<std::vector<Regime>> regimes = parseRegimes("# few rows\n"
                                                             "T <= 16, H % 8 == 0: BM=16 W=2\n"
                                                             "\n"
                                                             "T * H <= 4096: BM=32  # small\n"
                                                             "else: BM=64 schedule=wide.pipeline a-pass.splits=4\n",
                                                             "f.regimes");
  ASSERT_TRUE(bool(regimes)) << llvm::toString(regimes.takeError());
  auto choose = [&](int64_t T, int64_t H) {
    DimMap dims;
    dims["T"] = T;
    dims["H"] = H;
    llvm::Expected<const Regime *> regime = chooseRegime(*regimes, dims, "f.regimes");
    return regime ? (*regime)->str() : llvm::toString(regime.takeError());
  };
  EXPECT_EQ(choose(16, 64), "BM=16 W=2");
  EXPECT_EQ(choose(16, 63), "BM=32");
  EXPECT_EQ(choose(17, 64), "BM=32");
  EXPECT_EQ(choose(4097, 1), "BM=64 schedule=wide.pipeline a-pass.splits=4");
  EXPECT_EQ((*regimes)[2].line, 5u);
}

TEST(Regimes, FaultsHaveALine) {
  EXPECT_EQ(getError("T <= 16 BM=16\n"), "f.regimes:1: a ':' must stand between conditions and settings");
  EXPECT_EQ(getError("\nT: BM=16\n"), "f.regimes:2: 'T' is not a comparison such as 'T <= 64'");
  EXPECT_EQ(getError("else: BM\n"), "f.regimes:1: 'BM' is not a setting such as 'BM=64'");
  EXPECT_EQ(getError("else: BM=1 BM=2\n"), "f.regimes:1: knob 'BM' is given twice");
  EXPECT_EQ(getError("else: p.a=1 p.a=2\n"), "f.regimes:1: option 'p.a' is given twice");
  EXPECT_EQ(getError("else: schedule=../x\n"),
            "f.regimes:1: schedule '../x' must be the name of a file beside this one");
  EXPECT_EQ(getError("else: BM=1\nT > 1: BM=2\n"), "f.regimes:2: nothing gets behind the 'else' of line 1");
  EXPECT_EQ(getError("# nothing\n"), "f.regimes: there is no regime in the file");
  EXPECT_NE(getError("T + < 3: BM=1\n").find("f.regimes:1: "), std::string::npos);
}

TEST(Regimes, ShapesWithoutOneAndUnknownDimensions) {
  llvm::Expected<std::vector<Regime>> regimes = parseRegimes("T <= 16: BM=16\n", "f.regimes");
  ASSERT_TRUE(bool(regimes));
  DimMap dims;
  dims["T"] = 17;
  EXPECT_EQ(llvm::toString(chooseRegime(*regimes, dims, "f.regimes").takeError()),
            "f.regimes: no regime holds for this shape; end with a line 'else: ...'");
  llvm::Expected<const Regime *> none = chooseRegime(*regimes, DimMap(), "f.regimes");
  ASSERT_FALSE(bool(none));
  std::string message = llvm::toString(none.takeError());
  EXPECT_NE(message.find("f.regimes:1: "), std::string::npos) << message;
  EXPECT_NE(message.find("'T'"), std::string::npos) << message;
}

} // namespace
