//===- RunTest.cpp - Programs through the interpreter ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Interpreter/Judge.h"
#include "atrex/Pipelines/Pipelines.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace atrex;
using namespace atrex::interp;

namespace {
JudgeResult run(llvm::StringRef text, JudgeOptions options = {}, llvm::StringRef name = "test.mlir") {
  return judge(llvm::MemoryBufferRef(text, name), options);
}

std::vector<double> getValues(const JudgeResult &result, unsigned output = 0) {
  std::vector<double> values;
  const Output &out = result.run.outputs[output];
  for (int64_t i = 0; i < out.value.size(); ++i)
    values.push_back(toDouble(out.value[i], out.value.getType()));
  return values;
}

template <typename T> std::vector<uint8_t> toBytes(std::initializer_list<T> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

std::string makeOperator(llvm::StringRef type, llvm::StringRef body) {
  return ("func.func @f(%x: tensor<4x" + type + "> {atx.name = \"x\"}, %y: tensor<4x" + type +
          "> {atx.name = \"y\"}, %o: tensor<4x" + type + "> {atx.name = \"o\", atx.output}) -> tensor<4x" + type +
          "> attributes {atx.operator} {\n  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, "
          "affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]} ins(%x, %y : "
          "tensor<4x" +
          type + ">, tensor<4x" + type + ">) outs(%o : tensor<4x" + type + ">) {\n  ^bb0(%a: " + type +
          ", %b: " + type + ", %c: " + type + "):\n" + body + "\n  } -> tensor<4x" + type +
          ">\n  return %r : tensor<4x" + type + ">\n}\n")
      .str();
}

TEST(RunTest, ElementwiseIntegers) {
  JudgeOptions options;
  options.contents["x"] = toBytes<int32_t>({7, -7, INT32_MIN, 5});
  options.contents["y"] = toBytes<int32_t>({2, 2, 1, -3});
  JudgeResult result = run(makeOperator("i32", "%q = arith.floordivsi %a, %b : i32\n linalg.yield %q : i32"), options);
  ASSERT_TRUE(result.passed) << result.message;
  EXPECT_EQ(getValues(result), (std::vector<double>{3, -4, double(INT32_MIN), -2}));
  EXPECT_EQ(result.run.statistics.exact, 4u);
}

TEST(RunTest, UndefinedResultsAreFaultsUnlessDropped) {
  JudgeOptions options;
  options.contents["x"] = toBytes<int32_t>({1, 2, 3, 4});
  options.contents["y"] = toBytes<int32_t>({1, 0, 1, 1});
  JudgeResult result = run(makeOperator("i32", "%q = arith.divsi %a, %b : i32\n linalg.yield %q : i32"), options);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.stage, Stage::Interpret);
  EXPECT_NE(result.message.find("element 1 (row-major) of output 'o' is the result of an undefined operation"),
            std::string::npos)
      << result.message;
  result = run(makeOperator("i32", "%z = arith.constant 0 : i32\n %p = arith.cmpi eq, %b, %z : i32\n %q = arith.divsi "
                                   "%a, %b : i32\n %s = arith.select %p, %z, %q : i32\n linalg.yield %s : i32"),
               options);
  ASSERT_TRUE(result.passed) << result.message;
  EXPECT_EQ(getValues(result), (std::vector<double>{1, 0, 3, 4}));
}

TEST(RunTest, ApproximateFunctionsHaveBoundsAndComparisonsDecide) {
  JudgeOptions options;
  options.contents["x"] = toBytes<float>({0, 1, 2, -3});
  options.contents["y"] = toBytes<float>({100, 2.7182817f, 0, 0});
  // exp(1) lies within its bound of the other number.
  JudgeResult result = run(makeOperator("f32", "%e = math.exp %a : f32\n %p = arith.cmpf ogt, %e, %b : f32\n %o1 = "
                                               "arith.constant 1.0 : f32\n %t = arith.constant 2.0 : f32\n %s = "
                                               "arith.select %p, %o1, %t : f32\n linalg.yield %s : f32"),
                           options);
  ASSERT_TRUE(result.passed) << result.message;
  const Array &value = result.run.outputs[0].value;
  EXPECT_TRUE(value[0].isExact());
  EXPECT_FALSE(value[1].isExact());
  EXPECT_GE(value[1].bound, 1);
  EXPECT_TRUE(value[2].isExact());
  EXPECT_EQ(getValues(result)[0], 2);
  EXPECT_EQ(getValues(result)[2], 1);
}

TEST(RunTest, EndlessLoopsMeetTheLimit) {
  JudgeOptions options;
  options.maxSteps = 10000;
  JudgeResult result = run(R"(
func.func @f(%o: memref<1xi32> {atx.name = "o", atx.output}) attributes {atx.kernel} {
  %t = arith.constant true
  scf.while : () -> () {
    scf.condition(%t)
  } do {
    scf.yield
  }
  return
})",
                           options);
  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.message.find("has not ended after 10000 steps"), std::string::npos) << result.message;
}

TEST(RunTest, UnknownOperationsAreLocated) {
  JudgeResult result = run(R"(
func.func @f(%o: memref<1xi32> {atx.name = "o", atx.output}) attributes {atx.kernel} {
  %0 = gpu.thread_id x
  return
})");
  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.message.find("test.mlir:3:8: error: the interpreter does not know 'gpu.thread_id'"),
            std::string::npos)
      << result.message;
}

TEST(RunTest, OldValuesOfSharedCountersAreNotDetermined) {
  JudgeResult result = run(R"(
func.func @f(%m: memref<1xi32> {atx.name = "m", atx.output}, %o: memref<8xi32> {atx.name = "o", atx.output})
    attributes {atx.kernel, atx.grid = ["2", "1", "1"]} {
  %b = gpu.block_id x
  %z = arith.constant 0 : i32
  %one = arith.constant dense<1> : vector<4xi32>
  %at = vector.broadcast %z : i32 to vector<4xi32>
  %i = atx.tile_iota : vector<4xi32>
  %b32 = arith.index_cast %b : index to i32
  %four = arith.constant 4 : i32
  %first = arith.muli %b32, %four : i32
  %s = vector.broadcast %first : i32 to vector<4xi32>
  %to = arith.addi %i, %s : vector<4xi32>
  %old = atx.tile_atomic add %one, %m[%at] : vector<4xi32>, memref<1xi32>, vector<4xi32>
  atx.tile_store %old, %o[%to] : vector<4xi32>, memref<8xi32>, vector<4xi32>
  return
})");
  ASSERT_TRUE(result.passed) << result.message;
  const Array &counter = result.run.outputs[0].value;
  EXPECT_TRUE(counter[0].isExact());
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_TRUE(result.run.outputs[1].value[i].isUndetermined());
}

TEST(RunTest, WritesOfTwoWorkgroupsToOnePlaceAreARace) {
  llvm::StringRef text = R"(
func.func @f(%o: memref<2xi32> {atx.name = "o", atx.output}) attributes {atx.kernel, atx.grid = ["2"]} {
  %b = gpu.block_id x
  %b32 = arith.index_cast %b : index to i32
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  atx.tile_store %b32, %o[%z] : i32, memref<2xi32>, i32
  atx.tile_store %one, %o[%one] : i32, memref<2xi32>, i32
  return
})";
  JudgeResult result = run(text);
  ASSERT_TRUE(result.passed) << result.message;
  EXPECT_TRUE(result.run.outputs[0].value[0].isUndetermined());
  // The same value from both is no harm.
  EXPECT_TRUE(result.run.outputs[0].value[1].isExact());
}

TEST(RunTest, ReductionsOfAnyKindOfBody) {
  JudgeOptions options;
  options.contents["x"] = toBytes<int32_t>({3, 9, 9, 1});
  // Position of the first largest element, by two results.
  JudgeResult result = run(R"(
func.func @f(%x: tensor<4xi32> {atx.name = "x"}, %o: tensor<i32> {atx.name = "o", atx.output})
    -> tensor<i32> attributes {atx.operator} {
  %lowest = arith.constant dense<-100> : tensor<i32>
  %zero = arith.constant dense<-1> : tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]} ins(%x : tensor<4xi32>) outs(%lowest, %zero : tensor<i32>, tensor<i32>) {
  ^bb0(%a: i32, %m: i32, %p: i32):
    %i = linalg.index 0 : index
    %i32 = arith.index_cast %i : index to i32
    %g = arith.cmpi sgt, %a, %m : i32
    %m2 = arith.select %g, %a, %m : i32
    %p2 = arith.select %g, %i32, %p : i32
    linalg.yield %m2, %p2 : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %r#1 : tensor<i32>
})",
                           options);
  ASSERT_TRUE(result.passed) << result.message;
  EXPECT_EQ(getValues(result), std::vector<double>{1});
}

TEST(RunTest, ComparisonFindsWhatIsOutside) {
  Parameter parameter;
  parameter.name = "o";
  mlir::MLIRContext context;
  parameter.element = *ElementType::get(mlir::Float32Type::get(&context));
  Array expected(parameter.element, llvm::ArrayRef<int64_t>({4}));
  for (unsigned i = 0; i < 4; ++i)
    expected.edit()[i] = fromDouble(1, parameter.element);
  expected.edit()[1].bound = 0x1p-20;
  expected.edit()[2].bound = 0x1p-20;
  expected.edit()[3].bound = undetermined;
  float next = std::nextafter(1.0f, 2.0f);
  Comparison comparison;
  compare(parameter, expected, toBytes<float>({next, next, 1.001f, -5}), comparison);
  EXPECT_EQ(comparison.elements, 4u);
  EXPECT_EQ(comparison.exact, 1u);
  EXPECT_EQ(comparison.bounded, 2u);
  EXPECT_EQ(comparison.undetermined, 1u);
  EXPECT_EQ(comparison.differences, 2u);
  ASSERT_EQ(comparison.first.size(), 2u);
  EXPECT_EQ(comparison.first[0].text, "o[0]: expected 1 (0x3f800000) exactly, got 1.00000012 (0x3f800001)");
  EXPECT_EQ(comparison.first[1].index, std::vector<int64_t>{2});
}

TEST(RunTest, InputsDependOnTheSeedAlone) {
  Parameter parameter;
  parameter.name = "x";
  parameter.element = ElementType::getInteger(32);
  HostTensor a = makeInput(parameter, {100}, ValueClass::AnyBits, 5),
             b = makeInput(parameter, {100}, ValueClass::AnyBits, 5),
             c = makeInput(parameter, {100}, ValueClass::AnyBits, 6);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_NE(a.bytes, c.bytes);
  HostTensor ranged = makeInput(parameter, {1000}, ValueClass::AnyBits, 5, {{-2, 3}});
  for (size_t i = 0; i < 1000; ++i) {
    int32_t value;
    std::memcpy(&value, ranged.bytes.data() + 4 * i, 4);
    EXPECT_GE(value, -2);
    EXPECT_LE(value, 3);
  }
}
} // namespace
