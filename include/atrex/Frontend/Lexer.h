//===- Lexer.h - Tokens of the kernel language ------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_LEXER_H
#define ATREX_FRONTEND_LEXER_H

#include "atrex/Frontend/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"
#include <cstdint>

namespace atrex::frontend {

enum class TokenKind : uint8_t {
  Eof,
  /// Text that is no token; already reported.
  Error,
  Identifier,
  Integer,
  Float,
  KwOp,
  KwLet,
  LParen,
  RParen,
  LSquare,
  RSquare,
  LBrace,
  RBrace,
  Comma,
  Colon,
  Assign,
  Arrow,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  AndAnd,
  OrOr,
  Not,
};

/// How a token is called in a message: `'+'`, `an identifier`.
llvm::StringRef describe(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::Eof;
  llvm::StringRef text;
  /// Whether a line break stands between this token and the one before.
  bool startsLine = false;

  bool is(TokenKind k) const { return kind == k; }
  llvm::SMLoc getLoc() const { return llvm::SMLoc::getFromPointer(text.data()); }
  llvm::SMLoc getEndLoc() const { return llvm::SMLoc::getFromPointer(text.data() + text.size()); }
  llvm::SMRange getRange() const { return {getLoc(), getEndLoc()}; }
};

/// Splits a buffer into tokens. A run of bytes that start no token is reported
/// and becomes one error token.
class Lexer {
public:
  Lexer(llvm::StringRef buffer, Diagnostics &diags) : buffer(buffer), diags(diags) {}

  Token lex();

private:
  char peek(size_t offset = 0) const { return position + offset < buffer.size() ? buffer[position + offset] : '\0'; }
  Token make(TokenKind kind, size_t start, bool startsLine) const;
  Token lexNumber(size_t start, bool startsLine);
  Token lexUnexpected(size_t start, bool startsLine);

  llvm::StringRef buffer;
  Diagnostics &diags;
  size_t position = 0;
};

/// Whether `word` has a meaning in the language that forbids it as a name:
/// keywords of this and of later forms, and element types.
bool isReservedWord(llvm::StringRef word);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_LEXER_H
