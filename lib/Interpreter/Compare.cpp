//===- Compare.cpp - Inputs and verdicts ----------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Interpreter/Interpreter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numbers>

using namespace atrex;
using namespace atrex::interp;

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static bool agrees(const Number &expected, uint64_t actual, const ElementType &type) {
  if (expected.isUndetermined() || expected.bits == actual)
    return true;
  Number other;
  other.bits = actual;
  if (!type.isFloat())
    return std::fabs(toDouble(expected, type) - toDouble(other, type)) <= expected.bound && !expected.isExact();
  double x = toDouble(expected, type), y = toDouble(other, type);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y);
  if (expected.isExact())
    return false;
  // The distance may be lost in rounding by half a spacing of a double.
  return std::fabs(x - y) <= expected.bound * (1 + 0x1p-40);
}

uint64_t Parameter::loadBits(llvm::ArrayRef<uint8_t> bytes, size_t index) const {
  unsigned width = getElementBits();
  size_t first = index * width / 8;
  unsigned shift = index * width % 8;
  uint64_t bits = 0;
  for (unsigned n = 0; 8 * n < shift + width && first + n < bytes.size(); ++n)
    bits |= n == 0 ? uint64_t(bytes[first]) >> shift : uint64_t(bytes[first + n]) << (8 * n - shift);
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

void Parameter::storeBits(llvm::MutableArrayRef<uint8_t> bytes, size_t index, uint64_t bits) const {
  unsigned width = getElementBits();
  size_t first = index * width / 8;
  unsigned shift = index * width % 8;
  for (unsigned n = 0; 8 * n < shift + width; ++n) {
    unsigned low = n == 0 ? shift : 0, high = std::min(8u, shift + width - 8 * n);
    uint64_t field = n == 0 ? bits << shift : bits >> (8 * n - shift);
    unsigned mask = ((1u << high) - 1) & ~((1u << low) - 1);
    bytes[first + n] = static_cast<uint8_t>((bytes[first + n] & ~mask) | (field & mask));
  }
}

void interp::compare(const Parameter &parameter, const Array &expected, llvm::ArrayRef<uint8_t> actual,
                     Comparison &comparison) {
  const ElementType &type = parameter.element;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const Number &number = expected[i];
    ++comparison.elements;
    ++(number.isUndetermined() ? comparison.undetermined : number.isExact() ? comparison.exact : comparison.bounded);
    uint64_t bits = parameter.loadBits(actual, i);
    if (agrees(number, bits, type))
      continue;
    ++comparison.differences;
    if (comparison.first.size() >= 10)
      continue;
    Difference difference;
    difference.parameter = parameter.index;
    int64_t rest = i;
    difference.index.resize(expected.getShape().size());
    for (size_t axis = expected.getShape().size(); axis-- > 0;) {
      difference.index[axis] = rest % expected.getShape()[axis];
      rest /= expected.getShape()[axis];
    }
    difference.expected = number;
    difference.actual = bits;
    std::string index;
    for (int64_t at : difference.index)
      index += (index.empty() ? "" : ", ") + std::to_string(at);
    Number other;
    other.bits = bits;
    std::string bound = number.isExact() ? std::string("exactly") : llvm::formatv("within {0:e3}", number.bound).str();
    unsigned digits = (parameter.getElementBits() + 3) / 4;
    difference.text =
        llvm::formatv("{0}[{1}]: expected {2} (0x{3}) {4}, got {5} (0x{6})", parameter.name, index,
                      format(number, type, parameter.isUnsigned), llvm::utohexstr(number.bits, true, digits), bound,
                      format(other, type, parameter.isUnsigned), llvm::utohexstr(bits, true, digits))
            .str();
    comparison.first.push_back(std::move(difference));
  }
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

std::optional<ValueClass> interp::parseValueClass(llvm::StringRef text) {
  return llvm::StringSwitch<std::optional<ValueClass>>(text)
      .Case("small-int", ValueClass::SmallInt)
      .Case("normal", ValueClass::Normal)
      .Case("any-bits", ValueClass::AnyBits)
      .Default(std::nullopt);
}

namespace {
/// splitmix64: word i of a stream, computed alone.
class Stream {
public:
  Stream(uint64_t seed, llvm::StringRef name) {
    key = mix(seed + 0x9E3779B97F4A7C15ull);
    for (char c : name)
      key = mix(key ^ static_cast<uint8_t>(c));
  }
  uint64_t word(uint64_t i) const { return mix(key + 0x9E3779B97F4A7C15ull * (i + 1)); }
  double uniform(uint64_t i) const { return static_cast<double>(word(i) >> 11) * 0x1p-53; }

private:
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }
  uint64_t key;
};
} // namespace

HostTensor interp::makeInput(const Parameter &parameter, llvm::ArrayRef<int64_t> shape, ValueClass values,
                             uint64_t seed, std::optional<std::pair<int64_t, int64_t>> range) {
  HostTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  int64_t count = countElements(shape).value_or(0);
  const ElementType &type = parameter.element;
  tensor.bytes.resize(parameter.getBytes(count));
  Stream stream(seed, parameter.name);
  uint64_t mask = type.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << type.bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t word = stream.word(2 * i), bits = word & mask;
    if (range) {
      uint64_t span = static_cast<uint64_t>(range->second) - static_cast<uint64_t>(range->first) + 1;
      int64_t value = static_cast<int64_t>(static_cast<uint64_t>(range->first) + (span ? word % span : word));
      bits = type.isFloat() ? encodeFloat(static_cast<double>(value), type) : static_cast<uint64_t>(value) & mask;
    } else if (values == ValueClass::SmallInt) {
      // Few enough for 4-bit floats, of both signs where there are two.
      int64_t value = static_cast<int64_t>(word % 9) - 4;
      if (type.bits == 1 || parameter.isUnsigned)
        value = static_cast<int64_t>(word % (type.bits == 1 ? 2 : 9));
      bits = type.isFloat() ? encodeFloat(static_cast<double>(value), type) : static_cast<uint64_t>(value) & mask;
    } else if (values == ValueClass::Normal && type.isFloat()) {
      double radius = std::sqrt(-2 * std::log(1 - stream.uniform(2 * i)));
      double value = radius * std::cos(2 * std::numbers::pi * stream.uniform(2 * i + 1));
      bits = encodeFloat(value, type, /*saturate=*/true);
    } else if (values == ValueClass::AnyBits) {
      // Half of the words near the ends and the middle of the range, where
      // rounding, overflow and signs are decided.
      if (stream.word(2 * i + 1) % 4 == 0) {
        uint64_t few = word % 8;
        uint64_t corners[] = {few, mask - few, (mask >> 1) - few, ((mask >> 1) + 1 + few) & mask};
        bits = corners[(word >> 32) % 4];
      }
    }
    parameter.storeBits(tensor.bytes, i, bits);
  }
  return tensor;
}
