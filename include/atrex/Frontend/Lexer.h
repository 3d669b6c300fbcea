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
#include "llvm/ADT/ArrayRef.h"
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
  /// With its quotation marks.
  String,
  /// `// ...` without the line break; only where asked for.
  Comment,
  KwOp,
  KwKernel,
  KwFn,
  KwImport,
  KwConst,
  KwLet,
  KwVar,
  KwFor,
  KwWhile,
  KwIf,
  KwElse,
  KwReturn,
  KwLaunch,
  LParen,
  RParen,
  LSquare,
  RSquare,
  LBrace,
  RBrace,
  Comma,
  Colon,
  Assign,
  PlusAssign,
  MinusAssign,
  StarAssign,
  Dot,
  DotDot,
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
  Tilde,
  Ampersand,
  Pipe,
  Caret,
  ShiftLeft,
  ShiftRight,
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
  explicit Lexer(llvm::StringRef buffer, Diagnostics &diags, bool keepsComments = false)
      : buffer(buffer), diags(diags), keepsComments(keepsComments) {}

  Token lex();

private:
  char peek(size_t offset = 0) const { return position + offset < buffer.size() ? buffer[position + offset] : '\0'; }
  Token make(TokenKind kind, size_t start, bool startsLine) const;
  Token lexNumber(size_t start, bool startsLine);
  Token lexString(size_t start, bool startsLine);
  Token lexUnexpected(size_t start, bool startsLine);

  llvm::StringRef buffer;
  Diagnostics &diags;
  bool keepsComments;
  size_t position = 0;
};

/// Words that are tokens of their own and begin a declaration or a statement.
llvm::ArrayRef<llvm::StringRef> getKeywords();
/// Reserved words with a value: `true`, `None`, `inf`.
llvm::ArrayRef<llvm::StringRef> getLiteralWords();
/// Words that have a meaning in some places; those among them that are names
/// elsewhere are not reserved.
llvm::ArrayRef<llvm::StringRef> getContextualWords();

/// Names of the element types.
llvm::ArrayRef<llvm::StringRef> getTypeWords();

/// Whether `word` has a meaning in the language that forbids it as a name:
/// keywords, literals, element types, and the words `knobs` and `grid`.
bool isReservedWord(llvm::StringRef word);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_LEXER_H
