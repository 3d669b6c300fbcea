//===- DataTypeTest.cpp - Element types -----------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Support/DataType.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <vector>

using namespace atrex;

static constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(DataType, NamesRoundTrip) {
  for (unsigned i = 0; i <= unsigned(DataType::E3M2FN); ++i) {
    DataType type = DataType(i);
    EXPECT_EQ(parseDataType(getName(type)), type);
    if (!getCaseName(type).empty())
      EXPECT_EQ(parseDataType(getCaseName(type)), type);
  }
  EXPECT_EQ(parseDataType("fp32"), DataType::F32);
  EXPECT_EQ(parseDataType("f32"), DataType::F32);
  EXPECT_EQ(parseDataType(""), std::nullopt);
  EXPECT_EQ(parseDataType("f24"), std::nullopt);
  EXPECT_EQ(getSizeInBytes(DataType::I1), 1u);
  EXPECT_EQ(getSizeInBytes(DataType::F64), 8u);
  EXPECT_TRUE(isFloat(DataType::E4M3FN));
  EXPECT_FALSE(isFloat(DataType::U32));
}

TEST(DataType, BF16RoundsToNearestEven) {
  for (uint32_t high = 0; high < 0x10000; ++high) {
    float value = convertFromBF16(uint16_t(high));
    if (std::isnan(value)) {
      EXPECT_EQ(convertToBF16(value), 0x7FC0);
      continue;
    }
    EXPECT_EQ(convertToBF16(value), high);
    if (std::isinf(value))
      continue;
    // The tie goes to the even neighbour, one step beside it to the nearer one.
    uint16_t even = uint16_t(high + (high & 1));
    EXPECT_EQ(convertToBF16(llvm::bit_cast<float>((high << 16) | 0x8000)), even);
    EXPECT_EQ(convertToBF16(llvm::bit_cast<float>((high << 16) | 0x7FFF)), high);
    EXPECT_EQ(convertToBF16(llvm::bit_cast<float>((high << 16) | 0x8001)), high + 1);
  }
  EXPECT_EQ(convertToBF16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(convertToBF16(-std::numeric_limits<float>::quiet_NaN()), 0x7FC0);
}

TEST(DataType, F16RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = convertFromF16(uint16_t(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(convertFromF16(convertToF16(value))));
      continue;
    }
    EXPECT_EQ(convertToF16(value), bits);
    float next = convertFromF16(uint16_t(bits + 1));
    if (!std::isfinite(next) || !std::isfinite(value) || (bits & 0x7FFF) == 0x7FFF)
      continue;
    float tie = float((double(value) + double(next)) / 2);
    EXPECT_EQ(convertToF16(tie), bits + (bits & 1));
  }
  EXPECT_EQ(convertToF16(65519.0f), 0x7BFF);
  EXPECT_EQ(convertToF16(65520.0f), 0x7C00);
  EXPECT_EQ(convertToF16(-infinity), 0xFC00);
  EXPECT_EQ(convertToF16(0x1p-25f), 0);
  EXPECT_EQ(convertToF16(-0.0f), 0x8000);
}

/// Checks one 8-bit format by brute force: every value round-trips, every tie
/// between neighbours goes to the even code.
template <typename Encode, typename Decode> static void checkFloat8(Encode encode, Decode decode, unsigned largest) {
  for (unsigned code = 0; code <= largest; ++code) {
    EXPECT_EQ(encode(decode(code)), code);
    if (code > 0)
      EXPECT_EQ(encode(-decode(code)), code | 0x80);
    if (code == largest)
      continue;
    float tie = (decode(code) + decode(code + 1)) / 2;
    EXPECT_EQ(encode(tie), code + (code & 1)) << code;
    EXPECT_EQ(encode(std::nextafter(tie, 0.0f)), code);
    EXPECT_EQ(encode(std::nextafter(tie, infinity)), code + 1);
  }
}

TEST(DataType, E4M3FN) {
  checkFloat8(convertToE4M3FN, [](unsigned c) { return convertFromE4M3FN(uint8_t(c)); }, 0x7E);
  EXPECT_EQ(convertFromE4M3FN(0x7E), 448.0f);
  EXPECT_TRUE(std::isnan(convertFromE4M3FN(0x7F)));
  EXPECT_TRUE(std::isnan(convertFromE4M3FN(0xFF)));
  EXPECT_EQ(convertToE4M3FN(464.0f), 0x7E);
  EXPECT_EQ(convertToE4M3FN(std::nextafter(464.0f, infinity)), 0x7F);
  EXPECT_EQ(convertToE4M3FN(infinity), 0x7F);
  EXPECT_EQ(convertToE4M3FN(-0.0f), 0x80);
}

TEST(DataType, E4M3FNUZ) {
  checkFloat8(convertToE4M3FNUZ, [](unsigned c) { return convertFromE4M3FNUZ(uint8_t(c)); }, 0x7F);
  EXPECT_EQ(convertFromE4M3FNUZ(0x7F), 240.0f);
  EXPECT_TRUE(std::isnan(convertFromE4M3FNUZ(0x80)));
  EXPECT_EQ(convertToE4M3FNUZ(std::nextafter(248.0f, 0.0f)), 0x7F);
  EXPECT_EQ(convertToE4M3FNUZ(248.0f), 0x80);
  EXPECT_EQ(convertToE4M3FNUZ(-infinity), 0x80);
  // There is no negative zero.
  EXPECT_EQ(convertToE4M3FNUZ(-0.0f), 0);
  EXPECT_EQ(convertToE4M3FNUZ(-0x1p-20f), 0);
}

TEST(DataType, LoadElement) {
  int8_t bytes[] = {-1, 5};
  EXPECT_EQ(loadElement(DataType::I8, bytes, 0), -1);
  EXPECT_EQ(loadElement(DataType::U8, bytes, 0), 255);
  int64_t wide[] = {int64_t(1) << 53};
  EXPECT_EQ(loadElement(DataType::I64, wide, 0), 0x1p53);
  uint8_t e5m2[] = {0x7C, 0x3C, 0x80};
  EXPECT_EQ(loadElement(DataType::E5M2, e5m2, 0), double(infinity));
  EXPECT_EQ(loadElement(DataType::E5M2, e5m2, 1), 1.0);
  EXPECT_TRUE(std::isnan(loadElement(DataType::E5M2FNUZ, e5m2, 2)));
  EXPECT_EQ(loadElement(DataType::E5M2FNUZ, e5m2, 1), 0.5);
}

/// Checks a packed format against a search over all of its values.
static void checkPacked(DataType type, uint8_t (*encode)(float), std::vector<float> values) {
  unsigned half = values.size();
  std::vector<uint8_t> codes(2 * half);
  // All codes in a row, packed bit by bit.
  unsigned bits = getSizeInBits(type);
  std::vector<uint8_t> bytes(getSizeInBytes(type, codes.size()));
  EXPECT_EQ(bytes.size(), codes.size() * bits / 8);
  for (unsigned code = 0; code < 2 * half; ++code)
    for (unsigned bit = 0; bit < bits; ++bit)
      bytes[(code * bits + bit) / 8] |= (code >> bit & 1) << (code * bits + bit) % 8;
  for (unsigned code = 0; code < 2 * half; ++code) {
    float value = code < half ? values[code] : -values[code - half];
    EXPECT_EQ(loadPacked(type, bytes.data(), code), code);
    EXPECT_EQ(loadElement(type, bytes.data(), code), double(value));
    EXPECT_EQ(encode(value), code);
  }
  for (unsigned code = 0; code + 1 < half; ++code) {
    float tie = (values[code] + values[code + 1]) / 2;
    EXPECT_EQ(encode(tie), code + (code & 1));
    EXPECT_EQ(encode(-tie), half + code + (code & 1));
    EXPECT_EQ(encode(std::nextafter(tie, 0.0f)), code);
    EXPECT_EQ(encode(std::nextafter(tie, infinity)), code + 1);
  }
  for (float large : {values.back() * 1.01f, values.back() * 2, infinity}) {
    EXPECT_EQ(encode(large), half - 1);
    EXPECT_EQ(encode(-large), 2 * half - 1);
  }
  for (float nan : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()})
    EXPECT_EQ(encode(nan), half - 1);
  EXPECT_EQ(encode(1e-45f), 0);
  EXPECT_EQ(encode(-1e-45f), half);
}

TEST(DataType, PackedFloats) {
  checkPacked(DataType::E2M1FN, convertToE2M1FN, {0, 0.5, 1, 1.5, 2, 3, 4, 6});
  std::vector<float> e2m3, e3m2;
  for (int i = 0; i < 8; ++i)
    e2m3.push_back(i / 8.0f);
  for (float scale : {1.0f, 2.0f, 4.0f})
    for (int i = 8; i < 16; ++i)
      e2m3.push_back(scale * i / 8);
  for (int i = 0; i < 4; ++i)
    e3m2.push_back(i / 16.0f);
  for (int exponent = 1; exponent < 8; ++exponent)
    for (int i = 4; i < 8; ++i)
      e3m2.push_back(std::ldexp(i / 4.0f, exponent - 3));
  checkPacked(DataType::E2M3FN, convertToE2M3FN, e2m3);
  checkPacked(DataType::E3M2FN, convertToE3M2FN, e3m2);
  EXPECT_EQ(getElementsPerUnit(DataType::E2M1FN), 2u);
  EXPECT_EQ(getElementsPerUnit(DataType::E3M2FN), 4u);
  EXPECT_EQ(getElementsPerUnit(DataType::I1), 1u);
  EXPECT_EQ(getSizeInBytes(DataType::E2M3FN, 4), 3u);
  EXPECT_EQ(getSizeInBytes(DataType::E2M3FN, 5), 4u);
  EXPECT_EQ(getSizeInBytes(DataType::F64, uint64_t(1) << 59), uint64_t(1) << 62);
}
