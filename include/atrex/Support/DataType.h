//===- DataType.h - Element types of kernel arguments ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types that cross the boundary between host and device, with the
// names used by the language (`f32`) and by case files (`fp32`).
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_SUPPORT_DATATYPE_H
#define ATREX_SUPPORT_DATATYPE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace atrex {

/// An element type as it is stored in memory.
enum class DataType : uint8_t {
  I1,
  I8,
  I16,
  I32,
  I64,
  U8,
  U32,
  BF16,
  F16,
  F32,
  F64,
  E4M3FN,
  E4M3FNUZ,
  E5M2,
  E5M2FNUZ,
  E2M1FN,
  E2M3FN,
  E3M2FN,
};

/// Bits one element occupies in memory (an i1 occupies a byte). Elements of 4 and
/// 6 bits follow one another without gaps, the first in the low bits: two in a
/// byte, four in three bytes.
unsigned getSizeInBits(DataType type);

/// Bytes one element occupies when it stands alone.
unsigned getSizeInBytes(DataType type);

/// Bytes of `elements` in a row.
uint64_t getSizeInBytes(DataType type, uint64_t elements);

/// Fewest elements that fill whole bytes: 1, of 4-bit types 2, of 6-bit types 4.
unsigned getElementsPerUnit(DataType type);

/// Name in the kernel language and in manifests: `bf16`, `f32`, `f8e4m3fnuz`.
llvm::StringRef getName(DataType type);

/// Name in stored cases (`fp32`, `int32`, `e4m3fnuz`, ...); empty when the case
/// format has no such type.
llvm::StringRef getCaseName(DataType type);

/// Accepts either spelling; std::nullopt for an unknown name.
std::optional<DataType> parseDataType(llvm::StringRef name);

bool isFloat(DataType type);

//===----------------------------------------------------------------------===//
// Host conversions. All of them round to nearest, ties to even.
//===----------------------------------------------------------------------===//

/// Upper half of the rounded binary32; NaN becomes the quiet NaN 0x7FC0 with
/// the sign dropped, overflow gives infinity.
uint16_t convertToBF16(float value);
float convertFromBF16(uint16_t bits);

uint16_t convertToF16(float value);
float convertFromF16(uint16_t bits);

/// fp8 conversions do not saturate: magnitudes beyond the largest value become
/// NaN (`e4m3fn`: above 464, `e4m3fnuz`: 248 and above).
uint8_t convertToE4M3FN(float value);
float convertFromE4M3FN(uint8_t bits);
uint8_t convertToE4M3FNUZ(float value);
float convertFromE4M3FNUZ(uint8_t bits);

/// The nearest value of a 4- or 6-bit float (ties to even), which have neither
/// infinity nor NaN: what lies beyond is the largest one, and so is NaN, positive.
uint8_t convertToE2M1FN(float value);
uint8_t convertToE2M3FN(float value);
uint8_t convertToE3M2FN(float value);

/// Element `index` of packed elements of 4 or 6 bits.
uint8_t loadPacked(DataType type, const void *data, size_t index);

/// Reads element `index` of `data` as a double (integers up to 2^53 exactly).
double loadElement(DataType type, const void *data, size_t index);

} // namespace atrex

#endif // ATREX_SUPPORT_DATATYPE_H
