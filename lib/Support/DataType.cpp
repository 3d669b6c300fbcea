//===- DataType.cpp - Element types of kernel arguments -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Support/DataType.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Compiler.h"
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace atrex;

namespace {
/// One row per DataType, in the order of the enumeration.
struct TypeRow {
  DataType type;
  unsigned bits;
  llvm::StringLiteral name;
  llvm::StringLiteral caseName;
  bool isFloat;
};
constexpr TypeRow typeRows[] = {
    {DataType::I1, 8, "i1", "", false},
    {DataType::I8, 8, "i8", "", false},
    {DataType::I16, 16, "i16", "", false},
    {DataType::I32, 32, "i32", "int32", false},
    {DataType::I64, 64, "i64", "int64", false},
    {DataType::U8, 8, "u8", "", false},
    {DataType::U32, 32, "u32", "", false},
    {DataType::BF16, 16, "bf16", "bf16", true},
    {DataType::F16, 16, "f16", "fp16", true},
    {DataType::F32, 32, "f32", "fp32", true},
    {DataType::F64, 64, "f64", "", true},
    {DataType::E4M3FN, 8, "f8e4m3fn", "e4m3fn", true},
    {DataType::E4M3FNUZ, 8, "f8e4m3fnuz", "e4m3fnuz", true},
    {DataType::E5M2, 8, "f8e5m2", "", true},
    {DataType::E5M2FNUZ, 8, "f8e5m2fnuz", "", true},
    {DataType::E2M1FN, 4, "f4e2m1fn", "", true},
    {DataType::E2M3FN, 6, "f6e2m3fn", "", true},
    {DataType::E3M2FN, 6, "f6e3m2fn", "", true},
};
constexpr bool rowsAreInOrder() {
  for (size_t i = 0; i < std::size(typeRows); ++i)
    if (size_t(typeRows[i].type) != i)
      return false;
  return std::size(typeRows) == size_t(DataType::E3M2FN) + 1;
}
static_assert(rowsAreInOrder(), "one row per data type, in the order of the enumeration");
} // namespace

unsigned atrex::getSizeInBits(DataType type) { return typeRows[unsigned(type)].bits; }

unsigned atrex::getSizeInBytes(DataType type) { return (getSizeInBits(type) + 7) / 8; }

uint64_t atrex::getSizeInBytes(DataType type, uint64_t elements) {
  unsigned bits = getSizeInBits(type);
  return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

unsigned atrex::getElementsPerUnit(DataType type) { return 8 / std::gcd(getSizeInBits(type), 8u); }

llvm::StringRef atrex::getName(DataType type) { return typeRows[unsigned(type)].name; }

llvm::StringRef atrex::getCaseName(DataType type) { return typeRows[unsigned(type)].caseName; }

bool atrex::isFloat(DataType type) { return typeRows[unsigned(type)].isFloat; }

std::optional<DataType> atrex::parseDataType(llvm::StringRef name) {
  if (name.empty())
    return std::nullopt;
  for (const TypeRow &row : typeRows)
    if (name == row.name || name == row.caseName)
      return row.type;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// bf16 and f16
//===----------------------------------------------------------------------===//

uint16_t atrex::convertToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return 0x7FC0;
  // Cannot wrap: the largest finite pattern plus 0x8000 still has its sign bit.
  return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float atrex::convertFromBF16(uint16_t bits) { return llvm::bit_cast<float>(uint32_t(bits) << 16); }

uint16_t atrex::convertToF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return uint16_t(sign | 0x7E00);
  // 65520 is the tie between 65504 and 2^16; it goes to infinity.
  if (magnitude >= 0x477FF000)
    return uint16_t(sign | 0x7C00);
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits.
    float shifted = llvm::bit_cast<float>(magnitude) + 0.5f;
    return uint16_t(sign | (llvm::bit_cast<uint32_t>(shifted) - 0x3F000000u));
  }
  uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  return uint16_t(sign | ((rounded - 0x38000000u) >> 13));
}

float atrex::convertFromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 0x3FF;
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7F800000 | (mantissa << 13));
  if (exponent == 0) {
    float magnitude = float(mantissa) * 0x1p-24f;
    return llvm::bit_cast<float>(sign | llvm::bit_cast<uint32_t>(magnitude));
  }
  return llvm::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

//===----------------------------------------------------------------------===//
// 8-bit floats
//===----------------------------------------------------------------------===//

namespace {
/// Shape of an 8-bit format: sign, exponent, `mantissaBits` of mantissa.
struct Float8Format {
  int mantissaBits;
  int bias;
  /// The only NaN is 0x80, there is neither -0 nor infinity.
  bool isFNUZ;
  /// IEEE-like: the top exponent holds infinities and NaN.
  bool hasInfinity;
};
constexpr Float8Format e4m3fn{3, 7, false, false};
constexpr Float8Format e4m3fnuz{3, 8, true, false};
constexpr Float8Format e5m2{2, 15, false, true};
constexpr Float8Format e5m2fnuz{2, 16, true, false};

float decodeFloat8(uint8_t bits, const Float8Format &format) {
  const float quietNaN = std::numeric_limits<float>::quiet_NaN();
  if (format.isFNUZ && bits == 0x80)
    return quietNaN;
  int magnitude = bits & 0x7F;
  int exponent = magnitude >> format.mantissaBits;
  int mantissa = magnitude & ((1 << format.mantissaBits) - 1);
  float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (format.hasInfinity && exponent == (0x7F >> format.mantissaBits))
    return mantissa ? quietNaN : sign * std::numeric_limits<float>::infinity();
  if (!format.isFNUZ && !format.hasInfinity && magnitude == 0x7F)
    return quietNaN;
  if (exponent == 0)
    return sign * std::ldexp(float(mantissa), 1 - format.bias - format.mantissaBits);
  return sign * std::ldexp(float(mantissa + (1 << format.mantissaBits)), exponent - format.bias - format.mantissaBits);
}

std::array<float, 256> makeFloat8Table(const Float8Format &format) {
  std::array<float, 256> table;
  for (unsigned i = 0; i < 256; ++i)
    table[i] = decodeFloat8(uint8_t(i), format);
  return table;
}

/// e4m3 by integer rounding of the binary32 pattern.
template <bool isFNUZ> uint8_t encodeE4M3(float value) {
  constexpr uint8_t nanCode = isFNUZ ? 0x80 : 0x7F;
  // Exponent field of the smallest normal, and the first pattern that is NaN:
  // 248 (fnuz), just above 464 (fn).
  constexpr uint32_t bias = isFNUZ ? 8 : 7;
  constexpr uint32_t firstNaN = isFNUZ ? 0x43780000u : 0x43E80001u;
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint8_t sign = (bits >> 24) & 0x80;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= firstNaN)
    return nanCode;
  uint32_t code;
  if (magnitude < (127 - bias + 1) << 23) {
    // Subnormal: adding 2^23 steps leaves the rounded step count in the mantissa.
    const float shift = std::ldexp(1.0f, 1 - int(bias) - 3 + 23);
    code = llvm::bit_cast<uint32_t>(llvm::bit_cast<float>(magnitude) + shift) - llvm::bit_cast<uint32_t>(shift);
  } else {
    uint32_t rounded = magnitude + 0x7FFFF + ((magnitude >> 20) & 1);
    code = (rounded - ((127 - bias) << 23)) >> 20;
  }
  if (isFNUZ && code == 0)
    return 0;
  return uint8_t(code | sign);
}

/// A 4- or 6-bit format: all codes are finite.
struct FiniteFormat {
  int bits, mantissaBits, bias;
};
constexpr FiniteFormat e2m1fn{4, 1, 1};
constexpr FiniteFormat e2m3fn{6, 3, 1};
constexpr FiniteFormat e3m2fn{6, 2, 3};

float decodeFinite(uint8_t bits, const FiniteFormat &format) {
  int magnitude = bits & ((1 << (format.bits - 1)) - 1);
  int exponent = magnitude >> format.mantissaBits;
  int mantissa = magnitude & ((1 << format.mantissaBits) - 1);
  if (exponent == 0)
    exponent = 1;
  else
    mantissa += 1 << format.mantissaBits;
  float value = std::ldexp(float(mantissa), exponent - format.bias - format.mantissaBits);
  return bits >> (format.bits - 1) ? -value : value;
}

uint8_t encodeFinite(float value, const FiniteFormat &format) {
  unsigned largest = (1u << (format.bits - 1)) - 1;
  if (std::isnan(value))
    return uint8_t(largest);
  uint8_t sign = std::signbit(value) ? uint8_t(largest + 1) : 0;
  float magnitude = std::fabs(value);
  if (magnitude >= decodeFinite(uint8_t(largest), format))
    return uint8_t(largest | sign);
  // Steps of the binade, a whole number of them at its end is the next code.
  int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : 1 - format.bias, 1 - format.bias);
  float steps = std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
  int base = (exponent + format.bias - 1) << format.mantissaBits;
  return uint8_t(unsigned(base + int(steps)) | sign);
}
} // namespace

uint8_t atrex::convertToE2M1FN(float value) { return encodeFinite(value, e2m1fn); }
uint8_t atrex::convertToE2M3FN(float value) { return encodeFinite(value, e2m3fn); }
uint8_t atrex::convertToE3M2FN(float value) { return encodeFinite(value, e3m2fn); }

uint8_t atrex::convertToE4M3FN(float value) { return encodeE4M3<false>(value); }

float atrex::convertFromE4M3FN(uint8_t bits) {
  static const std::array<float, 256> table = makeFloat8Table(e4m3fn);
  return table[bits];
}

uint8_t atrex::convertToE4M3FNUZ(float value) { return encodeE4M3<true>(value); }

float atrex::convertFromE4M3FNUZ(uint8_t bits) {
  static const std::array<float, 256> table = makeFloat8Table(e4m3fnuz);
  return table[bits];
}

//===----------------------------------------------------------------------===//
// Generic access
//===----------------------------------------------------------------------===//

namespace {
template <typename T> T loadAs(const void *data, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T), sizeof(T));
  return value;
}
} // namespace

uint8_t atrex::loadPacked(DataType type, const void *data, size_t index) {
  unsigned bits = getSizeInBits(type);
  auto *bytes = static_cast<const uint8_t *>(data);
  // Eight elements take `bits` bytes: no overflow, and no byte is read that the
  // element has no bit in.
  size_t byte = index / 8 * bits + index % 8 * bits / 8;
  unsigned shift = index % 8 * bits % 8;
  unsigned value = bytes[byte] >> shift;
  if (shift + bits > 8)
    value |= unsigned(bytes[byte + 1]) << (8 - shift);
  return uint8_t(value & ((1u << bits) - 1));
}

double atrex::loadElement(DataType type, const void *data, size_t index) {
  switch (type) {
  case DataType::I1:
    return loadAs<uint8_t>(data, index) != 0;
  case DataType::I8:
    return loadAs<int8_t>(data, index);
  case DataType::I16:
    return loadAs<int16_t>(data, index);
  case DataType::I32:
    return loadAs<int32_t>(data, index);
  case DataType::I64:
    return double(loadAs<int64_t>(data, index));
  case DataType::U8:
    return loadAs<uint8_t>(data, index);
  case DataType::U32:
    return loadAs<uint32_t>(data, index);
  case DataType::BF16:
    return convertFromBF16(loadAs<uint16_t>(data, index));
  case DataType::F16:
    return convertFromF16(loadAs<uint16_t>(data, index));
  case DataType::F32:
    return loadAs<float>(data, index);
  case DataType::F64:
    return loadAs<double>(data, index);
  case DataType::E4M3FN:
    return convertFromE4M3FN(loadAs<uint8_t>(data, index));
  case DataType::E4M3FNUZ:
    return convertFromE4M3FNUZ(loadAs<uint8_t>(data, index));
  case DataType::E5M2:
    return decodeFloat8(loadAs<uint8_t>(data, index), e5m2);
  case DataType::E5M2FNUZ:
    return decodeFloat8(loadAs<uint8_t>(data, index), e5m2fnuz);
  case DataType::E2M1FN:
    return decodeFinite(loadPacked(type, data, index), e2m1fn);
  case DataType::E2M3FN:
    return decodeFinite(loadPacked(type, data, index), e2m3fn);
  case DataType::E3M2FN:
    return decodeFinite(loadPacked(type, data, index), e3m2fn);
  }
  LLVM_BUILTIN_UNREACHABLE;
}
