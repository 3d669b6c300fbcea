//===- Lexer.cpp - Tokens of the kernel language --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Lexer.h"
#include "Analyzer.h"
#include "atrex/Support/DataType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

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
  case TokenKind::String:
    return "a string";
  case TokenKind::Comment:
    return "a comment";
  case TokenKind::KwOp:
    return "'op'";
  case TokenKind::KwKernel:
    return "'kernel'";
  case TokenKind::KwFn:
    return "'fn'";
  case TokenKind::KwImport:
    return "'import'";
  case TokenKind::KwConst:
    return "'const'";
  case TokenKind::KwLet:
    return "'let'";
  case TokenKind::KwVar:
    return "'var'";
  case TokenKind::KwFor:
    return "'for'";
  case TokenKind::KwWhile:
    return "'while'";
  case TokenKind::KwIf:
    return "'if'";
  case TokenKind::KwElse:
    return "'else'";
  case TokenKind::KwReturn:
    return "'return'";
  case TokenKind::KwLaunch:
    return "'launch'";
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
  case TokenKind::PlusAssign:
    return "'+='";
  case TokenKind::MinusAssign:
    return "'-='";
  case TokenKind::StarAssign:
    return "'*='";
  case TokenKind::Dot:
    return "'.'";
  case TokenKind::DotDot:
    return "'..'";
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
  case TokenKind::Tilde:
    return "'~'";
  case TokenKind::Ampersand:
    return "'&'";
  case TokenKind::Pipe:
    return "'|'";
  case TokenKind::Caret:
    return "'^'";
  case TokenKind::ShiftLeft:
    return "'<<'";
  case TokenKind::ShiftRight:
    return "'>>'";
  }
  return "";
}

static constexpr llvm::StringRef keywords[] = {"op",  "kernel", "fn", "import", "const",  "let",   "var",
                                               "for", "while",  "if", "else",   "return", "launch"};
static constexpr TokenKind keywordKinds[] = {
    TokenKind::KwOp,   TokenKind::KwKernel, TokenKind::KwFn,    TokenKind::KwImport, TokenKind::KwConst,
    TokenKind::KwLet,  TokenKind::KwVar,    TokenKind::KwFor,   TokenKind::KwWhile,  TokenKind::KwIf,
    TokenKind::KwElse, TokenKind::KwReturn, TokenKind::KwLaunch};
static_assert(std::size(keywords) == std::size(keywordKinds));
static constexpr llvm::StringRef literalWords[] = {"true", "false", "None", "inf", "nan"};
static constexpr llvm::StringRef contextualWords[] = {"where", "knobs", "threads", "grid",  "in",   "range",
                                                      "step",  "count", "strides", "align", "axis", "T"};

llvm::ArrayRef<llvm::StringRef> atrex::frontend::getKeywords() { return keywords; }
llvm::ArrayRef<llvm::StringRef> atrex::frontend::getLiteralWords() { return literalWords; }
llvm::ArrayRef<llvm::StringRef> atrex::frontend::getContextualWords() { return contextualWords; }

llvm::ArrayRef<llvm::StringRef> atrex::frontend::getTypeWords() { return typeNames; }

/// The kind of a name or keyword.
static TokenKind classifyWord(llvm::StringRef word) {
  for (auto [keyword, kind] : llvm::zip_equal(keywords, keywordKinds))
    if (keyword == word)
      return kind;
  return TokenKind::Identifier;
}

bool atrex::frontend::isReservedWord(llvm::StringRef word) {
  if (std::optional<DataType> type = parseDataType(word); type && getName(*type) == word)
    return true;
  return word == "knobs" || word == "grid" || llvm::is_contained(keywords, word) ||
         llvm::is_contained(literalWords, word);
}

static bool isIdentifierStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isIdentifierChar(char c) { return llvm::isAlnum(c) || c == '_'; }

Token Lexer::make(TokenKind kind, size_t start, bool startsLine) const {
  return {kind, buffer.slice(start, position), startsLine};
}

/// Whether `c` may begin a token or is skipped between tokens.
static bool isExpected(char c) {
  return isIdentifierChar(c) || llvm::StringRef(" \t\r\n()[]{},:;=-+*/%!<>&|~^.\"").contains(c);
}

Token Lexer::lexUnexpected(size_t start, bool startsLine) {
  ++position;
  while (position < buffer.size() && !isExpected(buffer[position]))
    ++position;
  Token token = make(TokenKind::Error, start, startsLine);
  diags.error(token.getLoc()) << "unexpected " << (token.text.size() == 1 ? "character" : "characters") << " '"
                              << printable(token.text) << "'";
  return token;
}

Token Lexer::lexNumber(size_t start, bool startsLine) {
  // Digits of a base, `_` between them.
  auto skipDigits = [&](auto isDigit) {
    size_t first = position;
    while (isDigit(peek()) || (peek() == '_' && position > first && isDigit(peek(1))))
      ++position;
  };
  auto isBinaryDigit = [](char c) { return c == '0' || c == '1'; };
  bool isFloat = false, hasPrefix = false;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && llvm::isHexDigit(peek(2))) {
    hasPrefix = true;
    position += 2;
    skipDigits([](char c) { return llvm::isHexDigit(c); });
  } else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B') && isBinaryDigit(peek(2))) {
    hasPrefix = true;
    position += 2;
    skipDigits(isBinaryDigit);
  } else {
    skipDigits(llvm::isDigit);
    if (peek() == '.' && llvm::isDigit(peek(1))) {
      isFloat = true;
      ++position;
      skipDigits(llvm::isDigit);
    }
    size_t exponent = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && llvm::isDigit(peek(exponent))) {
      isFloat = true;
      position += exponent;
      skipDigits(llvm::isDigit);
    }
  }
  // Letters glued to a number (`2I`, `1.0f`) and a second fraction are one
  // malformed number, not two tokens. `1..4` is a range.
  if (isIdentifierChar(peek()) || (peek() == '.' && peek(1) != '.')) {
    size_t end = position;
    while (isIdentifierChar(peek()) || (peek() == '.' && peek(1) != '.'))
      ++position;
    llvm::StringRef text = buffer.slice(start, position), rest = buffer.slice(end, position);
    mlir::InFlightDiagnostic diagnostic = diags.error(llvm::SMLoc::getFromPointer(text.data()));
    diagnostic << "malformed number '" << printable(text) << "'";
    if (hasPrefix)
      return make(TokenKind::Error, start, startsLine);
    if (rest == ".")
      diagnostic << "; write '" << printable(text) << "0'";
    else if (rest.front() == '_')
      diagnostic << "; '_' stands between two digits";
    else if (!isFloat && isIdentifierStart(rest.front()) && text.front() != '0')
      diagnostic << "; a product is written '" << printable(buffer.slice(start, end)) << " * " << printable(rest)
                 << "'";
    return make(TokenKind::Error, start, startsLine);
  }
  return make(isFloat ? TokenKind::Float : TokenKind::Integer, start, startsLine);
}

Token Lexer::lexString(size_t start, bool startsLine) {
  constexpr llvm::StringLiteral fence("\"\"\"");
  llvm::SMLoc loc = llvm::SMLoc::getFromPointer(buffer.data() + start);
  if (buffer.substr(start).starts_with(fence)) {
    size_t end = buffer.find(fence, start + fence.size());
    position = end == llvm::StringRef::npos ? buffer.size() : end + fence.size();
    if (end != llvm::StringRef::npos)
      return make(TokenKind::String, start, startsLine);
    diags.error(loc) << "string is not closed; expected '\"\"\"' before the end of the file";
    return make(TokenKind::Error, start, startsLine);
  }
  ++position;
  while (position < buffer.size() && peek() != '"' && peek() != '\n')
    position += peek() == '\\' && position + 1 < buffer.size() && peek(1) != '\n' ? 2 : 1;
  if (position < buffer.size() && peek() == '"') {
    ++position;
    return make(TokenKind::String, start, startsLine);
  }
  diags.error(loc) << "string is not closed; expected '\"' before the end of the line";
  return make(TokenKind::Error, start, startsLine);
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
      if (keepsComments)
        return {TokenKind::Comment, buffer.slice(start, position).rtrim(), startsLine};
      continue;
    }
    if (isIdentifierStart(c)) {
      while (isIdentifierChar(peek()))
        ++position;
      llvm::StringRef text = buffer.slice(start, position);
      return make(classifyWord(text), start, startsLine);
    }
    if (llvm::isDigit(c))
      return lexNumber(start, startsLine);
    if (c == '"')
      return lexString(start, startsLine);

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
      return next == '=' ? token(TokenKind::PlusAssign, 2) : token(TokenKind::Plus, 1);
    case '-':
      return next == '>'   ? token(TokenKind::Arrow, 2)
             : next == '=' ? token(TokenKind::MinusAssign, 2)
                           : token(TokenKind::Minus, 1);
    case '*':
      return next == '=' ? token(TokenKind::StarAssign, 2) : token(TokenKind::Star, 1);
    case '/':
      return token(TokenKind::Slash, 1);
    case '%':
      return token(TokenKind::Percent, 1);
    case '=':
      return next == '=' ? token(TokenKind::Equal, 2) : token(TokenKind::Assign, 1);
    case '!':
      return next == '=' ? token(TokenKind::NotEqual, 2) : token(TokenKind::Not, 1);
    case '<':
      return next == '='   ? token(TokenKind::LessEqual, 2)
             : next == '<' ? token(TokenKind::ShiftLeft, 2)
                           : token(TokenKind::Less, 1);
    case '>':
      return next == '='   ? token(TokenKind::GreaterEqual, 2)
             : next == '>' ? token(TokenKind::ShiftRight, 2)
                           : token(TokenKind::Greater, 1);
    case '&':
      return next == '&' ? token(TokenKind::AndAnd, 2) : token(TokenKind::Ampersand, 1);
    case '|':
      return next == '|' ? token(TokenKind::OrOr, 2) : token(TokenKind::Pipe, 1);
    case '^':
      return token(TokenKind::Caret, 1);
    case '~':
      return token(TokenKind::Tilde, 1);
    case '.':
      return next == '.' ? token(TokenKind::DotDot, 2) : token(TokenKind::Dot, 1);
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
