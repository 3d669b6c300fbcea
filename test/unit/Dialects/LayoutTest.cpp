//===- LayoutTest.cpp - Thread-value layouts against brute force ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Atx/AtxDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace mlir;
using namespace atrex;

namespace {

using Coordinate = std::vector<int64_t>;

/// Which element a thread holds as which value: what the layout's description
/// says, taken literally.
Coordinate locate(atx::TVAttr layout, int64_t thread, int64_t value, unsigned rank) {
  Coordinate at(rank, 0);
  auto walk = [&](int64_t index, ArrayRef<int64_t> shape, ArrayRef<int64_t> steps, ArrayRef<int64_t> dims) {
    for (auto [extent, step, dim] : llvm::zip_equal(shape, steps, dims)) {
      if (step != 0)
        at.at(dim) += index % extent * step;
      index /= extent;
    }
  };
  walk(thread, layout.getThreadShape(), layout.getThreadSteps(), layout.getThreadDims());
  walk(value, layout.getValueShape(), layout.getValueSteps(), layout.getValueDims());
  return at;
}

/// Every element of the tile is reached, none by two values of a thread, and by
/// as many threads as the repeating modes have elements; nothing lies outside.
bool coversByCounting(atx::TVAttr layout, ArrayRef<int64_t> shape) {
  for (auto [steps, dims] : {std::pair(layout.getThreadSteps(), layout.getThreadDims()),
                             std::pair(layout.getValueSteps(), layout.getValueDims())})
    for (auto [step, dim] : llvm::zip_equal(steps, dims))
      if (step != 0 && dim >= int64_t(shape.size()))
        return false;
  int64_t repeats = 1;
  for (auto [extent, step] : llvm::zip_equal(layout.getThreadShape(), layout.getThreadSteps()))
    if (step == 0)
      repeats *= extent;
  std::map<Coordinate, int64_t> reached;
  for (int64_t thread = 0; thread < layout.getNumThreads(); ++thread)
    for (int64_t value = 0; value < layout.getNumValues(); ++value) {
      Coordinate at = locate(layout, thread, value, shape.size());
      for (auto [coordinate, extent] : llvm::zip_equal(at, shape))
        if (coordinate >= extent)
          return false;
      ++reached[at];
    }
  return int64_t(reached.size()) == llvm::product_of(shape) &&
         llvm::all_of(reached, [&](const auto &entry) { return entry.second == repeats; });
}

class LayoutTest : public testing::Test {
protected:
  LayoutTest() : random(20241118) {
    context.loadDialect<atx::AtxDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  }

  int64_t draw(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  struct Mode {
    int64_t extent, step, dim;
  };
  atx::TVAttr make(ArrayRef<Mode> threads, ArrayRef<Mode> values) {
    SmallVector<int64_t> parts[6];
    for (auto [offset, modes] : {std::pair(0, threads), std::pair(3, values)})
      for (const Mode &mode : modes) {
        parts[offset].push_back(mode.extent);
        parts[offset + 1].push_back(mode.step);
        parts[offset + 2].push_back(mode.dim);
      }
    return atx::TVAttr::get(&context, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
  }

  /// A layout that covers a tile of `shape`: every dimension cut into digits,
  /// which are dealt to threads and values in any order.
  atx::TVAttr drawCovering(ArrayRef<int64_t> shape) {
    std::vector<Mode> threads, values;
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      int64_t rest = extent, step = 1;
      while (rest > 1) {
        int64_t digit = 2;
        while (rest % digit != 0)
          ++digit;
        while (digit < rest && draw(0, 1)) {
          int64_t more = 2;
          while (rest / digit % more != 0)
            ++more;
          digit *= more;
          if (rest / digit == 1)
            break;
        }
        (draw(0, 1) ? threads : values).push_back({digit, step, int64_t(dim)});
        step *= digit;
        rest /= digit;
      }
      if (draw(0, 5) == 0)
        (draw(0, 1) ? threads : values).push_back({1, draw(1, 3), int64_t(dim)});
    }
    if (draw(0, 2) == 0)
      threads.push_back({draw(1, 3), 0, 0});
    std::shuffle(threads.begin(), threads.end(), random);
    std::shuffle(values.begin(), values.end(), random);
    return make(threads, values);
  }

  SmallVector<int64_t> drawShape() {
    SmallVector<int64_t> shape(draw(1, 3));
    for (int64_t &extent : shape)
      extent = std::array<int64_t, 8>{1, 2, 3, 4, 6, 8, 9, 12}[draw(0, 7)];
    return shape;
  }

  MLIRContext context;
  std::mt19937 random;
  std::string message;
};

TEST_F(LayoutTest, CoversWhatItWasMadeFor) {
  for (int round = 0; round < 2000; ++round) {
    SmallVector<int64_t> shape = drawShape();
    atx::TVAttr layout = drawCovering(shape);
    std::string text;
    llvm::raw_string_ostream(text) << layout;
    EXPECT_TRUE(coversByCounting(layout, shape)) << text;
    EXPECT_TRUE(layout.covers(shape)) << text;
    EXPECT_EQ(layout.getTileShape(shape.size()), shape) << text;
  }
}

TEST_F(LayoutTest, CoversAgreesWithCounting) {
  int covering = 0;
  for (int round = 0; round < 20000; ++round) {
    SmallVector<int64_t> shape = drawShape();
    // Mostly layouts that almost cover: one number of a covering one changes.
    atx::TVAttr layout = drawCovering(shape);
    std::vector<Mode> modes[2];
    for (auto [extent, step, dim] :
         llvm::zip_equal(layout.getThreadShape(), layout.getThreadSteps(), layout.getThreadDims()))
      modes[0].push_back({extent, step, dim});
    for (auto [extent, step, dim] :
         llvm::zip_equal(layout.getValueShape(), layout.getValueSteps(), layout.getValueDims()))
      modes[1].push_back({extent, step, dim});
    int side = draw(0, 1);
    if (modes[side].empty())
      continue;
    Mode &mode = modes[side][draw(0, modes[side].size() - 1)];
    switch (draw(0, 2)) {
    case 0:
      mode.extent = draw(1, 4);
      break;
    case 1:
      mode.step = draw(side, 6);
      break;
    case 2:
      mode.dim = draw(0, 3);
      break;
    }
    layout = make(modes[0], modes[1]);
    std::string text;
    llvm::raw_string_ostream(text) << layout << " on ";
    for (int64_t extent : shape)
      text += std::to_string(extent) + " ";
    bool expected = coversByCounting(layout, shape);
    covering += expected;
    EXPECT_EQ(layout.covers(shape), expected) << text;
  }
  // Both answers were tried.
  EXPECT_GT(covering, 1000);
  EXPECT_LT(covering, 15000);
}

TEST_F(LayoutTest, ProjectForgetsDimensions) {
  for (int round = 0; round < 3000; ++round) {
    SmallVector<int64_t> shape = drawShape();
    unsigned rank = shape.size();
    atx::TVAttr layout = drawCovering(shape);
    llvm::SmallBitVector dropped(rank);
    for (unsigned dim = 0; dim < rank; ++dim)
      if (draw(0, 1))
        dropped.set(dim);
    atx::TVAttr projected = layout.project(dropped);
    std::string text;
    llvm::raw_string_ostream(text) << layout << " to " << projected;

    SmallVector<int64_t> kept;
    for (unsigned dim = 0; dim < rank; ++dim)
      if (!dropped.test(dim))
        kept.push_back(shape[dim]);
    EXPECT_TRUE(projected.covers(kept)) << text;
    EXPECT_TRUE(coversByCounting(projected, kept)) << text;
    EXPECT_EQ(projected.getNumThreads(), layout.getNumThreads()) << text;

    // A thread keeps the elements it had, seen without the dropped dimensions.
    for (int64_t thread = 0; thread < layout.getNumThreads(); ++thread) {
      std::set<Coordinate> before, after;
      for (int64_t value = 0; value < layout.getNumValues(); ++value) {
        Coordinate at = locate(layout, thread, value, rank), rest;
        for (unsigned dim = 0; dim < rank; ++dim)
          if (!dropped.test(dim))
            rest.push_back(at[dim]);
        before.insert(rest);
      }
      for (int64_t value = 0; value < projected.getNumValues(); ++value)
        after.insert(locate(projected, thread, value, kept.size()));
      EXPECT_EQ(before, after) << text << ", thread " << thread;
    }
  }
}

TEST_F(LayoutTest, ProjectByNothingIsTheSame) {
  for (int round = 0; round < 200; ++round) {
    SmallVector<int64_t> shape = drawShape();
    atx::TVAttr layout = drawCovering(shape);
    EXPECT_EQ(layout.project(llvm::SmallBitVector(shape.size())), layout);
  }
}

TEST_F(LayoutTest, FragmentShape) {
  // Slowest first, as vectors are written.
  EXPECT_EQ(make({}, {{8, 1, 1}, {3, 8, 1}, {2, 1, 0}}).getFragmentShape(), (SmallVector<int64_t>{2, 3, 8}));
  EXPECT_EQ(make({{4, 1, 0}}, {}).getFragmentShape(), (SmallVector<int64_t>{1}));
  for (int round = 0; round < 200; ++round) {
    atx::TVAttr layout = drawCovering(drawShape());
    EXPECT_EQ(llvm::product_of(layout.getFragmentShape()), layout.getNumValues());
  }
}

TEST_F(LayoutTest, TileShapeHoldsEverything) {
  // Of any layout, covering or not: the largest coordinate and one.
  for (int round = 0; round < 2000; ++round) {
    std::vector<Mode> modes[2];
    for (int side : {0, 1})
      for (int64_t i = draw(0, 3); i > 0; --i)
        modes[side].push_back({draw(1, 4), draw(side, 5), draw(0, 2)});
    atx::TVAttr layout = make(modes[0], modes[1]);
    SmallVector<int64_t> most(3, 1);
    for (int64_t thread = 0; thread < layout.getNumThreads(); ++thread)
      for (int64_t value = 0; value < layout.getNumValues(); ++value)
        for (auto [coordinate, extent] : llvm::zip_equal(locate(layout, thread, value, 3), most))
          extent = std::max(extent, coordinate + 1);
    EXPECT_EQ(layout.getTileShape(3), most);
  }
}

TEST_F(LayoutTest, RankZero) {
  EXPECT_TRUE(make({}, {}).covers({}));
  EXPECT_TRUE(make({{64, 0, 0}}, {}).covers({}));
  EXPECT_FALSE(make({{2, 1, 0}}, {}).covers({}));
  EXPECT_TRUE(make({{64, 0, 0}}, {}).covers({1, 1}));
  EXPECT_FALSE(make({{64, 0, 0}}, {}).covers({2}));
}

TEST_F(LayoutTest, UnitModesNameADimension) {
  EXPECT_TRUE(make({{4, 1, 0}, {1, 7, 0}}, {}).covers({4}));
  EXPECT_FALSE(make({{4, 1, 0}, {1, 7, 1}}, {}).covers({4}));
}

TEST_F(LayoutTest, TextRoundTrip) {
  for (int round = 0; round < 500; ++round) {
    atx::TVAttr layout = drawCovering(drawShape());
    std::string text;
    llvm::raw_string_ostream(text) << layout;
    EXPECT_EQ(parseAttribute(text, &context), layout) << text;
  }
  // A repeating mode has one spelling.
  EXPECT_EQ(parseAttribute("#atx.tv<(4, 2):(1E0, 0E3), ():()>", &context),
            parseAttribute("#atx.tv<(4, 2):(1E0, 0), ():()>", &context));
}

TEST_F(LayoutTest, VerifierRejects) {
  auto refuses = [&](StringRef text, StringRef expected) {
    message.clear();
    EXPECT_FALSE(parseAttribute(text, &context)) << text.str();
    EXPECT_NE(message.find(expected), std::string::npos) << text.str() << ": " << message;
  };
  refuses("#atx.tv<(0):(1E0), ():()>", "thread mode 0 has extent 0, which must be positive");
  refuses("#atx.tv<(-4):(1E0), ():()>", "thread mode 0 has extent -4, which must be positive");
  refuses("#atx.tv<(4):(1E0), (2):(0)>", "value mode 0 has stride 0, which must be positive");
  refuses("#atx.tv<(9223372036854775807, 4):(1E0, 1E1), ():()>", "thread side spans more than 2^31 elements");
  refuses("#atx.tv<(4):(9223372036854775807E0), ():()>", "thread side spans more than 2^31 elements");
  refuses("#atx.tv<(4):(1E99999999999), ():()>", "expected a basis element such as '8E1' or the broadcast stride '0'");
  refuses("#atx.mapping<tile = [4], extent = [0], threads = 4, layout = <(4):(1E0), ():()>>",
          "dimension 0 uses 0 of 4 elements");
}

} // namespace
