//===- Json.h - JSON from files of any content ------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_SUPPORT_JSON_H
#define ATREX_SUPPORT_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace atrex {

/// Levels of arrays and objects that parseJson() accepts inside of each other.
inline constexpr unsigned maxJsonDepth = 256;

/// Parses JSON as llvm::json::parse() does, which descends recursively: text that
/// nests deeper than `maxJsonDepth` is refused before, and so is an object with two
/// values for one key, which parsers take differently. Errors have line, column and
/// byte.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace atrex

#endif // ATREX_SUPPORT_JSON_H
