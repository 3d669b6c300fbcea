//===- Json.cpp - JSON from files of any content --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Support/Json.h"

using namespace llvm;

Expected<json::Value> atrex::parseJson(StringRef text) {
  unsigned depth = 0, line = 1;
  size_t lineStart = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\n') {
      ++line;
      lineStart = i + 1;
    }
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxJsonDepth)
        return createStringError(inconvertibleErrorCode(),
                                 "[" + Twine(line) + ":" + Twine(i - lineStart + 1) + ", byte=" + Twine(i) + "]: '" +
                                     Twine(c) + "' opens level " + Twine(depth) +
                                     " of nested arrays and objects; at most " + Twine(maxJsonDepth) + " are read");
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  return json::parse(text);
}
