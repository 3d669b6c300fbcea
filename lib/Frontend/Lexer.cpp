//===- Lexer.cpp - Tokens of the kernel language --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Lexer.h"
#include "atrex/Support/DataType.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace atrex::frontend;

llvm::StringRef atrex::frontend::describe(TokenKind kind) {
  switch (kind) {
  case TokenKind::Eof:
    return "the end of the file";
  case TokenKind::Error:
    return "an unknown token";
  case TokenKind::Identifier:
    return "a name";
  case TokenKind::Integer:
    return "an integer";
  case TokenKind::Float:
    return "a number";
  case TokenKind::KwOp:
    return "'op'";
  case TokenKind::KwLet:
    return "'let'";
  case TokenKind::LParen:
    return "'('";
  case TokenKind::RParen:
    return "')'";
  case TokenKind::LSquare:
    return "'['";
  case TokenKind::RSquare:
    return "']'";
  case TokenKind::LBrace:
    return "'{'";
  case TokenKind::RBrace:
    return "'}'";
  case TokenKind::Comma:
    return "','";
  case TokenKind::Colon:
    return "':'";
  case TokenKind::Assign:
    return "'='";
  case TokenKind::Arrow:
    return "'->'";
  case TokenKind::Plus:
    return "'+'";
  case TokenKind::Minus:
    return "'-'";
  case TokenKind::Star:
    return "'*'";
  case TokenKind::Slash:
    return "'/'";
  case TokenKind::Percent:
    return "'%'";
  case TokenKind::Equal:
    return "'=='";
  case TokenKind::NotEqual:
    return "'!='";
  case TokenKind::Less:
    return "'<'";
  case TokenKind::LessEqual:
    return "'<='";
  case TokenKind::Greater:
    return "'>'";
  case TokenKind::GreaterEqual:
    return "'>='";
  case TokenKind::AndAnd:
    return "'&&'";
  case TokenKind::OrOr:
    return "'||'";
  case TokenKind::Not:
    return "'!'";
  }
  return "";
}

bool atrex::frontend::isReservedWord(llvm::StringRef word) {
  if (std::optional<DataType> type = parseDataType(word); type && getName(*type) == word)
    return true;
  return llvm::StringSwitch<bool>(word)
      .Cases({"op", "let", "kernel", "fn", "import", "const", "var", "for", "while"}, true)
      .Cases({"if", "else", "return", "launch", "knobs", "grid", "None", "inf"}, true)
      .Default(false);
}

static bool isIdentifierStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isIdentifierChar(char c) { return llvm::isAlnum(c) || c == '_'; }

Token Lexer::make(TokenKind kind, size_t start, bool startsLine) const {
  return {kind, buffer.slice(start, position), startsLine};
}

/// Whether `c` may begin a token or is skipped between tokens.
static bool isExpected(char c) {
  return isIdentifierChar(c) || llvm::StringRef(" \t\r\n()[]{},:=-+*/%!<>&|").contains(c);
}

Token Lexer::lexUnexpected(size_t start, bool startsLine) {
  ++position;
  while (position < buffer.size() && !isExpected(buffer[position]))
    ++position;
  Token token = make(TokenKind::Error, start, startsLine);
  mlir::InFlightDiagnostic diagnostic = diags.error(token.getLoc());
  if (token.text == "&" || token.text == "|")
    diagnostic << "unexpected '" << token.text << "'; the logical operator is '" << (token.text == "&" ? "&&" : "||")
               << "'";
  else
    diagnostic << "unexpected " << (token.text.size() == 1 ? "character" : "characters") << " '"
               << printable(token.text) << "'";
  return token;
}

Token Lexer::lexNumber(size_t start, bool startsLine) {
  while (llvm::isDigit(peek()))
    ++position;
  bool isFloat = false;
  if (peek() == '.' && llvm::isDigit(peek(1))) {
    isFloat = true;
    ++position;
    while (llvm::isDigit(peek()))
      ++position;
  }
  size_t exponent = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
  if ((peek() == 'e' || peek() == 'E') && llvm::isDigit(peek(exponent))) {
    isFloat = true;
    position += exponent;
    while (llvm::isDigit(peek()))
      ++position;
  }
  // Letters glued to a number (`0x10`, `2I`, `1.0f`) and a second fraction are
  // one malformed number, not two tokens.
  if (isIdentifierStart(peek()) || peek() == '.') {
    size_t end = position;
    while (isIdentifierChar(peek()) || peek() == '.')
      ++position;
    llvm::StringRef text = buffer.slice(start, position), rest = buffer.slice(end, position);
    mlir::InFlightDiagnostic diagnostic = diags.error(llvm::SMLoc::getFromPointer(text.data()));
    diagnostic << "malformed number '" << printable(text) << "'";
    if (rest == ".")
      diagnostic << "; write '" << printable(text) << "0'";
    else if (!isFloat && isIdentifierStart(rest.front()) && text.front() != '0')
      diagnostic << "; a product is written '" << printable(buffer.slice(start, end)) << " * " << printable(rest)
                 << "'";
    return make(TokenKind::Error, start, startsLine);
  }
  return make(isFloat ? TokenKind::Float : TokenKind::Integer, start, startsLine);
}

Token Lexer::lex() {
  bool startsLine = position == 0;
  while (position < buffer.size()) {
    size_t start = position;
    char c = buffer[position];
    if (c == '\n') {
      startsLine = true;
      ++position;
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      ++position;
      continue;
    }
    if (c == ';') {
      // Understood, so lexing goes on as if it were not there.
      diags.error(llvm::SMLoc::getFromPointer(buffer.data() + position))
          << "unexpected ';': a statement ends where the next one begins";
      position = diags.reachedLimit() ? buffer.size() : position + 1;
      continue;
    }
    if (c == '/' && peek(1) == '/') {
      position = std::min(buffer.find('\n', position), buffer.size());
      continue;
    }
    if (isIdentifierStart(c)) {
      while (isIdentifierChar(peek()))
        ++position;
      llvm::StringRef text = buffer.slice(start, position);
      TokenKind kind = llvm::StringSwitch<TokenKind>(text)
                           .Case("op", TokenKind::KwOp)
                           .Case("let", TokenKind::KwLet)
                           .Default(TokenKind::Identifier);
      return make(kind, start, startsLine);
    }
    if (llvm::isDigit(c))
      return lexNumber(start, startsLine);

    auto token = [&](TokenKind kind, size_t length) {
      position += length;
      return make(kind, start, startsLine);
    };
    char next = peek(1);
    switch (c) {
    case '(':
      return token(TokenKind::LParen, 1);
    case ')':
      return token(TokenKind::RParen, 1);
    case '[':
      return token(TokenKind::LSquare, 1);
    case ']':
      return token(TokenKind::RSquare, 1);
    case '{':
      return token(TokenKind::LBrace, 1);
    case '}':
      return token(TokenKind::RBrace, 1);
    case ',':
      return token(TokenKind::Comma, 1);
    case ':':
      return token(TokenKind::Colon, 1);
    case '+':
      return token(TokenKind::Plus, 1);
    case '-':
      return next == '>' ? token(TokenKind::Arrow, 2) : token(TokenKind::Minus, 1);
    case '*':
      return token(TokenKind::Star, 1);
    case '/':
      return token(TokenKind::Slash, 1);
    case '%':
      return token(TokenKind::Percent, 1);
    case '=':
      return next == '=' ? token(TokenKind::Equal, 2) : token(TokenKind::Assign, 1);
    case '!':
      return next == '=' ? token(TokenKind::NotEqual, 2) : token(TokenKind::Not, 1);
    case '<':
      return next == '=' ? token(TokenKind::LessEqual, 2) : token(TokenKind::Less, 1);
    case '>':
      return next == '=' ? token(TokenKind::GreaterEqual, 2) : token(TokenKind::Greater, 1);
    case '&':
      if (next == '&')
        return token(TokenKind::AndAnd, 2);
      break;
    case '|':
      if (next == '|')
        return token(TokenKind::OrOr, 2);
      break;
    default:
      break;
    }
    if (diags.reachedLimit()) {
      position = buffer.size();
      break;
    }
    return lexUnexpected(start, startsLine);
  }
  return {TokenKind::Eof, buffer.substr(buffer.size()), startsLine};
}
