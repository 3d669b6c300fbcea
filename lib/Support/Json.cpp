//===- Json.cpp - JSON from files of any content --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Support/Json.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

Expected<json::Value> atrex::parseJson(StringRef text) {
  unsigned line = 1;
  size_t lineStart = 0;
  auto fail = [&](size_t at, const Twine &message) {
    return createStringError(inconvertibleErrorCode(), "[" + Twine(line) + ":" + Twine(at - lineStart + 1) +
                                                           ", byte=" + Twine(at) + "]: " + message);
  };
  /// An open array or object.
  struct Level {
    bool isObject;
    /// The next string is a key.
    bool expectsKey;
    StringSet<> keys;
  };
  SmallVector<Level> levels;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (char c = text[i]) {
    case '\n':
      ++line;
      lineStart = i + 1;
      break;
    case '"': {
      size_t start = i++;
      while (i < text.size() && text[i] != '"' && text[i] != '\n')
        i += text[i] == '\\' ? 2 : 1;
      // The parser reports strings that do not end.
      if (i >= text.size() || text[i] == '\n')
        return json::parse(text);
      if (levels.empty() || !levels.back().expectsKey)
        break;
      levels.back().expectsKey = false;
      StringRef key = text.slice(start + 1, i);
      if (!levels.back().keys.insert(key).second)
        return fail(start, "the object has two values for '" + key + "'");
      break;
    }
    case '[':
    case '{':
      if (levels.size() == maxJsonDepth)
        return fail(i, "'" + Twine(c) + "' opens level " + Twine(maxJsonDepth + 1) +
                           " of nested arrays and objects; at most " + Twine(maxJsonDepth) + " are read");
      levels.push_back({c == '{', c == '{', {}});
      break;
    case ']':
    case '}':
      if (!levels.empty())
        levels.pop_back();
      break;
    case ',':
      if (!levels.empty())
        levels.back().expectsKey = levels.back().isObject;
      break;
    default:
      break;
    }
  }
  return json::parse(text);
}
