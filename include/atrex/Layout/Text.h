//===- Text.h - Text form of the layout algebra -----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   inttuple ::= int | '?' | '?{div=' int '}' | '*' | int ('E' int)+
//              | '(' inttuple (',' inttuple)* ')'
//   layout   ::= inttuple ':' inttuple
//   swizzle  ::= 'S<' int ',' int ',' int '>'
//              | 'CS<' int ',' int ',[' int '],' int ',[' int ']>'
//   composed ::= (layout | swizzle) 'o' inttuple 'o'
//                (layout | swizzle | '[' composed ']')
//   tile     ::= '[' (int | layout | '*') ('|' (int | layout | '*'))* ']'
//
// One parser serves the command line and the MLIR assembly; they differ in
// where tokens come from.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LAYOUT_TEXT_H
#define ATREX_LAYOUT_TEXT_H

#include "atrex/Layout/Values.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>

namespace atrex::layout {

/// Limits on what is parsed: deeper or larger values are refused, so that no
/// text can exhaust the stack or the memory.
constexpr unsigned maxDepth = 32;
constexpr unsigned maxLeaves = 4096;

/// Where tokens come from.
class TokenSource {
public:
  virtual ~TokenSource();
  /// Consumes one of `( ) [ ] { } < > , : | ? * =` if it is next.
  virtual bool consume(char punctuation) = 0;
  /// Consumes the word if it is next.
  virtual bool consumeWord(llvm::StringRef word) = 0;
  /// Consumes a number, possibly negative. False when none is next; a number
  /// beyond 64 bits is an error.
  virtual bool consumeInteger(int64_t &value) = 0;
  /// Consumes `E0E1...` directly after a number.
  virtual bool consumePath(llvm::SmallVectorImpl<int32_t> &path) = 0;
  /// Reports an error at the current position (the first one counts).
  virtual void error(const llvm::Twine &message) = 0;
};

/// Each returns false after an error has been reported.
bool parseIntTuple(TokenSource &source, IntTuple &value);
bool parseLayout(TokenSource &source, Layout &value);
bool parseMap(TokenSource &source, Map &value);
bool parseTile(TokenSource &source, Tile &value);
/// An integer, tuple, layout, swizzle, composed layout or tile.
bool parseValue(TokenSource &source, Value &value);

/// Parses a whole string; the error names the column.
llvm::Expected<Value> parse(llvm::StringRef text);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Int &value);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const IntTuple &value);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &value);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Swizzle &value);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const CoordSwizzle &value);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Map &value);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Tile &value);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Value &value);

/// With blanks around `o`, so that other lexers see words: `S<3,3,3> o 0 o ...`.
void printSpaced(llvm::raw_ostream &os, const Map &value);

template <typename T> std::string toString(const T &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value;
  return text;
}

} // namespace atrex::layout

#endif // ATREX_LAYOUT_TEXT_H
