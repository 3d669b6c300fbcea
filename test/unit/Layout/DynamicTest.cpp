//===- DynamicTest.cpp - Worked cases with dynamic leaves -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Laws.h"
#include "atrex/Layout/Operations.h"

using namespace llvm;

namespace atrex::layout {

static std::string resultOf(StringRef text) {
  Expected<Expression> expression = parseExpression(text);
  if (!expression)
    return toString(expression.takeError());
  Algebra algebra;
  std::optional<Results> results = evaluate(algebra, *expression);
  return results ? toString(*results) : "C" + std::to_string(algebra.getFault()->constraint);
}

TEST(Dynamic, WorkedCases) {
  static const std::pair<const char *, const char *> cases[] = {
      {"logical_divide(?:1, 4:1)", "(4,?):(1,4)"},
      {"logical_divide((?,?):(?,1), [4|8])", "((4,?),(8,?)):((?,?{div=4}),(1,8))"},
      {"logical_product((?,8):(8,1), 4:1)", "((?,8),4):((8,1),?{div=8})"},
      {"coalesce((4,?):(1,4))", "?{div=4}:1"},
      {"coalesce((?,?):(1,?))", "(?,?):(1,?)"},
      {"right_inverse((4,?):(1,4))", "?{div=4}:1"},
      {"crd2idx((?{div=2},3), (4,8):(8,4))", "?{div=4}"},
      {"size((?{div=4},8):(1,?))", "?{div=32}"},
      {"add(?{div=4}, 6)", "?{div=2}"},
      {"div(?{div=8}, 4)", "?{div=2}"},
      {"div(?{div=8}, 3)", "?"},
      {"mod(?{div=8}, 4)", "0"},
      {"mod(?{div=8}, 12)", "?{div=4}"},
      {"ceil_div(?{div=8}, 4)", "?{div=2}"},
      {"shape_div(?{div=8}, 4)", "?{div=2}"},
      {"min(?{div=8}, 12)", "?{div=4}"},
      {"recast((4,?):(1,4), from=16, to=32)", "(2,?):(1,2)"},
      {"complement((2,4):(?,1), 32)", "C13"},
      {"complement(4:?, 32)", "(?,?):(1,?{div=4})"},
      {"crd2idx(?{div=16}, S<3,3,3>)", "?{div=8}"},
      // Identities fold.
      {"mul(?, 0)", "0"},
      {"mul(?{div=3}, 1)", "?{div=3}"},
      {"add(?{div=3}, 0)", "?{div=3}"},
      {"mod(?, 1)", "0"},
      {"div(?{div=3}, 1)", "?{div=3}"},
      // 0 is a multiple of everything, and so keeps the divisor.
      {"sub(0, ?{div=6})", "?{div=6}"},
      // Divisors near 2^63 do not wrap.
      {"mul(?{div=9223372036854775807}, ?{div=2})", "?{div=9223372036854775807}"},
      {"mul(?{div=4611686018427387904}, 2)", "?{div=4611686018427387904}"},
      {"mul(?, -9223372036854775808)", "?{div=4611686018427387904}"},
      {"size((?{div=4611686018427387904},4):(1,1))", "?{div=4611686018427387904}"},
      {"max_alignment((4,?{div=4611686018427387904}):(1,4))", "4611686018427387904"},
      // Nothing is assumed of what is not known.
      {"composition((4,8):(1,100), ?:1)", "C10"},
      {"composition((4,8):(1,100), ?{div=4}:1)", "(4,?):(1,100)"},
      {"composition((4,8):(1,100), 2:?)", "C10"},
      {"composition((4,8):(1,100), 2:?{div=4})", "2:?{div=100}"},
      {"composition((?,8):(1,100), 4:1)", "C10"},
      {"composition((?{div=4},8):(1,100), 4:1)", "4:1"},
      {"composition(?:3, ?:?)", "?:?{div=3}"},
      {"left_inverse(4:?)", "(?,4):(0,1)"},
      {"max_common_vector((?{div=4},8):(1,?), (?{div=4},8):(1,?))", "4"},
      {"max_alignment((?{div=4},8):(1,?{div=6}))", "2"},
  };
  for (auto [expression, wanted] : cases)
    EXPECT_EQ(resultOf(expression), wanted) << expression;
}

TEST(Dynamic, AssertionsReplaceProofs) {
  Interpreter interpreter;
  Algebra algebra(&interpreter, Policy::Assert);
  Layout left(IntTuple::tuple({4, 8}), IntTuple::tuple({1, 100}));
  Map result = algebra.composition(Map(left), Map(Layout(Int::dynamic(1, interpreter.add(8)), 1)));
  EXPECT_FALSE(algebra.failed());
  EXPECT_FALSE(interpreter.asserted);
  EXPECT_EQ(toString(stripHandles(result)), "(4,?):(1,100)");
  algebra.composition(Map(left), Map(Layout(Int::dynamic(1, interpreter.add(6)), 1)));
  EXPECT_FALSE(algebra.failed());
  EXPECT_TRUE(interpreter.asserted);
}

/// A builder never sees two static operands, and static parts fold.
TEST(Dynamic, StaticPartsFold) {
  Interpreter interpreter;
  Algebra algebra(&interpreter);
  Int dynamic = Int::dynamic(1, interpreter.add(5));
  // A static negative index with a static stride and a dynamic extent.
  IntTuple digits = algebra.idx2crd(-7, Map(Layout(dynamic, 2)));
  EXPECT_EQ(interpreter.get(digits.getLeaf()), 1); // floor(-7 / 2) mod 5
  IntTuple swizzled = algebra.crd2idx(IntTuple::tuple({12, dynamic}), Map(CoordSwizzle{3, 2, 0, 1, 1}));
  EXPECT_EQ(interpreter.get(swizzled[1].getLeaf()), 5 ^ (3 << 1));
  EXPECT_EQ(interpreter.misuse, "");
  EXPECT_FALSE(algebra.failed());
}

TEST(Dynamic, LimitsOfResults) {
  // Nested calls must not build values without bound.
  std::string text = "2";
  for (int i = 0; i < 20; ++i)
    text = "append((2,3), " + text + ", rank=200)";
  EXPECT_EQ(resultOf(text), "C5");
  std::string list = "0";
  for (int i = 0; i < 1000; ++i)
    list += ",0";
  EXPECT_EQ(resultOf("select(select(((2,3,4,5,6),3), indices=[" + list + "]), indices=[" + list + "])"), "C5");
}

/// Wrappers: kept at top level, dropped where they join other modes (N2).
TEST(Structure, Wrappers) {
  static const std::pair<const char *, const char *> cases[] = {
      {"group((4,2):(1,4), begin=0, end=2)", "((4,2)):((1,4))"},
      {"group((2,(3,4),5):(1,(2,6),24), begin=1, end=2)", "(2,(3,4),5):(1,(2,6),24)"},
      {"append(((4,2)):((1,4)), 3:8)", "((4,2),3):((1,4),8)"},
      {"append(3:8, ((4,2)):((1,4)))", "(3,(4,2)):(8,(1,4))"},
      {"append(((4,2)):((1,4)), 3:8, rank=1)", "((4,2)):((1,4))"},
      {"prepend((5,6), ((2,3)))", "((2,3),5,6)"},
      {"tile_to_shape(((2,2)):((1,2)), 8, 0)", "((2,2),2):((1,2),4)"},
      {"logical_divide(8:1, ((2,2)):((1,2)))", "((2,2),2):((1,2),4)"},
      {"make_layout_like((4,8):(-1,4))", "(4,8):(1,4)"},
      {"cosize((1,4):(-9223372036854775808,1))", "4"},
      {"make_ordered_layout((4,1,8), (0,0,0))", "C24"},
      {"make_ordered_layout((4,1,8), (0,0,1))", "(4,1,8):(1,0,4)"},
      {"make_ordered_layout((4,1,8,1), (1,0,0,1))", "(4,1,8,1):(8,0,1,0)"},
      {"composition_exact((12,20):(20,1), 4:5E0)", "false"},
      {"composition_exact((12,20):(20,1), 4:3E0)", "true"},
  };
  for (auto [expression, wanted] : cases)
    EXPECT_EQ(resultOf(expression), wanted) << expression;
}

} // namespace atrex::layout
