//===- Parser.cpp - Tokens to syntax tree ---------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Parser.h"
#include "atrex/Frontend/Lexer.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <limits>

using namespace atrex::frontend;
using namespace atrex::frontend::ast;

llvm::StringRef ast::getSpelling(UnaryOp op) {
  switch (op) {
  case UnaryOp::Neg:
    return "-";
  case UnaryOp::Not:
    return "!";
  case UnaryOp::BitNot:
    return "~";
  }
  return "";
}

llvm::StringRef ast::getSpelling(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "+";
  case BinaryOp::Sub:
    return "-";
  case BinaryOp::Mul:
    return "*";
  case BinaryOp::Div:
    return "/";
  case BinaryOp::Mod:
    return "%";
  case BinaryOp::Eq:
    return "==";
  case BinaryOp::Ne:
    return "!=";
  case BinaryOp::Lt:
    return "<";
  case BinaryOp::Le:
    return "<=";
  case BinaryOp::Gt:
    return ">";
  case BinaryOp::Ge:
    return ">=";
  case BinaryOp::And:
    return "&&";
  case BinaryOp::Or:
    return "||";
  case BinaryOp::BitAnd:
    return "&";
  case BinaryOp::BitOr:
    return "|";
  case BinaryOp::BitXor:
    return "^";
  case BinaryOp::ShiftLeft:
    return "<<";
  case BinaryOp::ShiftRight:
    return ">>";
  }
  return "";
}

bool ast::isComparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }

namespace {
/// Binding strength of binary operators, 1 the weakest; 0 for other tokens.
struct OperatorInfo {
  unsigned precedence = 0;
  BinaryOp op = BinaryOp::Add;
};

OperatorInfo getOperatorInfo(TokenKind kind) {
  switch (kind) {
  case TokenKind::OrOr:
    return {1, BinaryOp::Or};
  case TokenKind::AndAnd:
    return {2, BinaryOp::And};
  case TokenKind::Equal:
    return {3, BinaryOp::Eq};
  case TokenKind::NotEqual:
    return {3, BinaryOp::Ne};
  case TokenKind::Less:
    return {3, BinaryOp::Lt};
  case TokenKind::LessEqual:
    return {3, BinaryOp::Le};
  case TokenKind::Greater:
    return {3, BinaryOp::Gt};
  case TokenKind::GreaterEqual:
    return {3, BinaryOp::Ge};
  case TokenKind::Plus:
    return {4, BinaryOp::Add};
  case TokenKind::Minus:
    return {4, BinaryOp::Sub};
  case TokenKind::Star:
    return {5, BinaryOp::Mul};
  case TokenKind::Slash:
    return {5, BinaryOp::Div};
  case TokenKind::Percent:
    return {5, BinaryOp::Mod};
  default:
    return {};
  }
}

/// Recursive descent with one token of lookahead (two for `name =`). A parse
/// function returns false or null after it has reported an error; the caller
/// that can resume does.
class Parser {
public:
  Parser(llvm::StringRef buffer, File &file, Diagnostics &diags) : lexer(buffer, diags), file(file), diags(diags) {
    tok = lexer.lex();
    ahead = lexer.lex();
    previousEnd = tok.getLoc();
  }

  void parseFile();

private:
  //===--- Tokens ---------------------------------------------------------===//

  void advance() {
    previousEnd = tok.getEndLoc();
    tok = ahead;
    ahead = lexer.lex();
  }
  bool consumeIf(TokenKind kind) {
    if (!tok.is(kind))
      return false;
    advance();
    return true;
  }
  bool isWord(llvm::StringRef word) const { return tok.is(TokenKind::Identifier) && tok.text == word; }

  /// Reports `expected ...` at the current token.
  bool failExpected(const llvm::Twine &expected, llvm::SMLoc opening = {}) {
    // The text here, or right behind, has been reported by the lexer.
    if (tok.is(TokenKind::Error) || ahead.is(TokenKind::Error))
      return false;
    mlir::InFlightDiagnostic diagnostic = diags.error(tok.getLoc());
    diagnostic << "expected " << expected << ", found ";
    if (tok.is(TokenKind::Eof))
      diagnostic << "the end of the file";
    else
      diagnostic << "'" << printable(tok.text) << "'";
    if (opening.isValid())
      diags.note(diagnostic, opening) << "to close this";
    return false;
  }
  bool expect(TokenKind kind, llvm::StringRef context) {
    if (consumeIf(kind))
      return true;
    return failExpected(describe(kind) + " " + context);
  }
  /// Like expect for a closing bracket; a note shows the opening one.
  bool expectClosing(TokenKind kind, llvm::SMLoc opening, llvm::StringRef alternatives) {
    if (consumeIf(kind))
      return true;
    return failExpected(alternatives + describe(kind), opening);
  }

  /// A name that the program introduces.
  bool parseNewName(llvm::StringRef what, llvm::StringRef &name, llvm::SMLoc &loc) {
    if (!tok.is(TokenKind::Identifier)) {
      if (tok.is(TokenKind::KwOp) || tok.is(TokenKind::KwLet)) {
        diags.error(tok.getLoc()) << "'" << tok.text << "' is a keyword and cannot name " << what;
        return false;
      }
      return failExpected("the name of " + what);
    }
    name = tok.text;
    loc = tok.getLoc();
    if (isReservedWord(name)) {
      diags.error(loc) << "'" << name << "' is reserved and cannot name " << what;
      return false;
    }
    advance();
    return true;
  }

  //===--- Recovery -------------------------------------------------------===//

  /// Whether a new statement or declaration plausibly begins here.
  bool atStatementStart() const {
    return tok.is(TokenKind::KwLet) || (tok.startsLine && tok.is(TokenKind::Identifier) && ahead.is(TokenKind::Assign));
  }
  bool atOpStart() const { return tok.is(TokenKind::KwOp) && tok.startsLine; }
  /// A block in braces is skipped whole.
  void skipToStatement() {
    for (unsigned depth = 0; !tok.is(TokenKind::Eof) && !atOpStart(); advance()) {
      if (depth == 0 && (tok.is(TokenKind::RBrace) || atStatementStart()))
        return;
      if (tok.is(TokenKind::LBrace))
        ++depth;
      else if (tok.is(TokenKind::RBrace))
        --depth;
    }
  }
  /// A definition of a form that does not exist yet.
  bool atLaterForm() const {
    return tok.is(TokenKind::Identifier) && tok.startsLine && ahead.is(TokenKind::Identifier) &&
           llvm::StringSwitch<bool>(tok.text).Cases({"kernel", "fn", "import", "const"}, true).Default(false);
  }
  void skipToDefinition() {
    while (!tok.is(TokenKind::Eof) && !atOpStart() && !atLaterForm())
      advance();
  }

  //===--- Declarations ---------------------------------------------------===//

  void parseOp();
  bool parseSignature(OpDecl &op);
  bool parseValueDecls(llvm::StringRef what, llvm::ArrayRef<ValueDecl> &decls);
  bool parseValueDecl(llvm::StringRef what, ValueDecl &decl);
  bool parseType(TypeSpec &type);
  bool parseBody(OpDecl &op);

  //===--- Expressions ----------------------------------------------------===//

  /// Null after an error.
  const Expr *parseExpr() { return parseBinary(1); }
  const Expr *parseBinary(unsigned minPrecedence);
  const Expr *parseUnary();
  const Expr *parsePostfix();
  const Expr *parsePrimary();
  const Expr *parseParenthesized();
  const Expr *parseCall(Token callee);
  const Expr *parseSubscripts(const Expr *base);
  bool parseSubscript(Subscript &item);

  /// Rejects trees that later stages could not walk.
  const Expr *checkDepth(const Expr *expr) {
    if (expr->depth <= maxTreeDepth)
      return expr;
    diags.error(expr->loc) << "expression has more than " << maxTreeDepth
                           << " levels; bind a part of it with 'let' first";
    return nullptr;
  }

  /// Counts levels of recursion and reports when there are too many.
  class NestingScope {
  public:
    explicit NestingScope(Parser &parser) : parser(parser) { ++parser.nesting; }
    ~NestingScope() { --parser.nesting; }
    bool isTooDeep() {
      if (parser.nesting <= maxNesting)
        return false;
      parser.diags.error(parser.tok.getLoc()) << "expression is nested more than " << maxNesting << " levels deep";
      return true;
    }

  private:
    Parser &parser;
  };

  Lexer lexer;
  File &file;
  Diagnostics &diags;
  Token tok, ahead;
  llvm::SMLoc previousEnd;
  unsigned nesting = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Parser::parseFile() {
  while (!tok.is(TokenKind::Eof) && !diags.reachedLimit()) {
    if (tok.is(TokenKind::KwOp)) {
      parseOp();
      continue;
    }
    if (atLaterForm())
      diags.error(tok.getLoc()) << "'" << tok.text << "' is not supported yet; a file consists of 'op' definitions";
    else
      failExpected("'op'");
    advance();
    skipToDefinition();
  }
}

void Parser::parseOp() {
  OpDecl *op = file.create<OpDecl>();
  op->loc = tok.getLoc();
  advance();
  if (!parseSignature(*op)) {
    op->isIncomplete = op->hasErrors = true;
    skipToDefinition();
  } else if (!parseBody(*op)) {
    op->hasErrors = true;
    skipToDefinition();
  }
  if (!op->name.empty())
    file.ops.push_back(op);
}

bool Parser::parseSignature(OpDecl &op) {
  if (!parseNewName("an operator", op.name, op.loc))
    return false;
  if (!parseValueDecls("a parameter", op.params))
    return false;
  if (!expect(TokenKind::Arrow, "and the results after the parameters"))
    return false;
  if (!parseValueDecls("a result", op.results))
    return false;
  if (isWord("where")) {
    advance();
    llvm::SmallVector<const Expr *> constraints;
    do {
      if (tok.is(TokenKind::LBrace) && !constraints.empty())
        break;
      const Expr *constraint = parseExpr();
      if (!constraint)
        return false;
      constraints.push_back(constraint);
    } while (consumeIf(TokenKind::Comma));
    op.constraints = file.copy<const Expr *>(constraints);
  } else if (isWord("knobs") || isWord("grid")) {
    diags.error(tok.getLoc()) << "'" << tok.text << "' belongs to the kernel form, which is not supported yet";
    return false;
  }
  return true;
}

bool Parser::parseValueDecls(llvm::StringRef what, llvm::ArrayRef<ValueDecl> &decls) {
  llvm::SMLoc opening = tok.getLoc();
  if (!expect(TokenKind::LParen, what == "a result" ? "before the results" : "after the name of the operator"))
    return false;
  llvm::SmallVector<ValueDecl> list;
  while (!tok.is(TokenKind::RParen)) {
    ValueDecl decl;
    if (!parseValueDecl(what, decl))
      return false;
    list.push_back(decl);
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  decls = file.copy<ValueDecl>(list);
  return expectClosing(TokenKind::RParen, opening, "',' or ");
}

bool Parser::parseValueDecl(llvm::StringRef what, ValueDecl &decl) {
  if (!parseNewName(what, decl.name, decl.loc) || !expect(TokenKind::Colon, "and a type after the name") ||
      !parseType(decl.type))
    return false;
  if (!consumeIf(TokenKind::Assign))
    return true;
  decl.defaultValue = parseExpr();
  return decl.defaultValue;
}

bool Parser::parseType(TypeSpec &type) {
  if (!tok.is(TokenKind::Identifier))
    return failExpected("a type");
  type.element = tok.text;
  type.range = tok.getRange();
  advance();
  llvm::SMLoc opening = tok.getLoc();
  if (!consumeIf(TokenKind::LSquare))
    return true;
  type.isTensor = true;
  llvm::SmallVector<const Expr *> extents;
  while (!tok.is(TokenKind::RSquare)) {
    const Expr *extent = parseExpr();
    if (!extent)
      return false;
    extents.push_back(extent);
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  type.extents = file.copy<const Expr *>(extents);
  if (!expectClosing(TokenKind::RSquare, opening, "',' or "))
    return false;
  type.range.End = previousEnd;
  return true;
}

bool Parser::parseBody(OpDecl &op) {
  llvm::SMLoc opening = tok.getLoc();
  if (!expect(TokenKind::LBrace, op.constraints.empty() ? "or 'where' after the results" : "after the constraints"))
    return false;
  llvm::SmallVector<const Stmt *> body;
  bool ok = true;
  while (!tok.is(TokenKind::RBrace)) {
    if (tok.is(TokenKind::Eof) || atOpStart()) {
      op.body = {file.copy<const Stmt *>(body), llvm::SMRange(opening, tok.getEndLoc())};
      return expectClosing(TokenKind::RBrace, opening, "a statement or ");
    }
    if (diags.reachedLimit())
      return false;
    Binding name{{}, tok.getLoc()};
    const Expr *value = nullptr;
    bool isLet = false;
    auto add = [&] {
      llvm::SMRange range(name.loc, previousEnd);
      if (isLet)
        body.push_back(file.create<BindStmt>(Stmt::Kind::Let, range, file.copy<Binding>(name), /*isTuple=*/false,
                                             /*type=*/nullptr, value));
      else
        body.push_back(file.create<AssignStmt>(range, name.loc, file.copy<Binding>(name), /*isTuple=*/false,
                                               /*compound=*/std::nullopt, value));
    };
    llvm::SMLoc start = tok.getLoc();
    bool parsed = true;
    if (consumeIf(TokenKind::KwLet)) {
      isLet = true;
      if (tok.is(TokenKind::LParen)) {
        diags.error(tok.getLoc()) << "'let' binds one name; lists of names are not supported yet";
        parsed = false;
      } else {
        parsed = parseNewName("a value", name.name, name.loc);
      }
    } else if (tok.is(TokenKind::Identifier) && isReservedWord(tok.text)) {
      diags.error(tok.getLoc()) << "'" << tok.text << "' cannot begin a statement of an operator";
      parsed = false;
    } else if (tok.is(TokenKind::Identifier)) {
      name.name = tok.text;
      advance();
    } else {
      parsed = failExpected("a statement ('let name = ...' or 'result = ...') or '}'");
    }
    if (parsed)
      parsed = expect(TokenKind::Assign, isLet ? "after the name" : "after the result's name");
    if (parsed) {
      value = parseExpr();
      parsed = value;
    }
    if (!parsed) {
      ok = false;
      // The name stays known, so that its uses are not reported as well.
      if (!name.name.empty()) {
        value = file.create<ErrorExpr>(llvm::SMRange(start, start));
        add();
      }
      if (tok.getLoc() == start)
        advance();
      skipToStatement();
      continue;
    }
    add();
  }
  op.body = {file.copy<const Stmt *>(body), llvm::SMRange(opening, tok.getEndLoc())};
  op.endLoc = tok.getLoc();
  advance();
  op.hasErrors |= !ok;
  return true;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

const Expr *Parser::parseBinary(unsigned minPrecedence) {
  const Expr *lhs = parseUnary();
  while (lhs) {
    OperatorInfo info = getOperatorInfo(tok.kind);
    if (!info.precedence || info.precedence < minPrecedence)
      break;
    llvm::SMLoc loc = tok.getLoc();
    auto *left = llvm::dyn_cast<BinaryExpr>(lhs);
    // Parentheses start a range before the operands; without them a comparison
    // of a comparison is a mistake.
    if (isComparison(info.op) && left && isComparison(left->op) && left->range.Start == left->lhs->range.Start) {
      mlir::InFlightDiagnostic diagnostic = diags.error(loc);
      diagnostic << "comparisons do not chain; combine them with '&&'";
      diags.note(diagnostic, left->loc) << "the other comparison is here";
      return nullptr;
    }
    advance();
    const Expr *rhs = parseBinary(info.precedence + 1);
    if (!rhs)
      return nullptr;
    lhs = checkDepth(file.create<BinaryExpr>(loc, info.op, lhs, rhs));
  }
  return lhs;
}

const Expr *Parser::parseUnary() {
  if (!tok.is(TokenKind::Minus) && !tok.is(TokenKind::Not))
    return parsePostfix();
  NestingScope scope(*this);
  if (scope.isTooDeep())
    return nullptr;
  UnaryOp op = tok.is(TokenKind::Minus) ? UnaryOp::Neg : UnaryOp::Not;
  llvm::SMLoc start = tok.getLoc();
  advance();
  const Expr *operand = parseUnary();
  if (!operand)
    return nullptr;
  return checkDepth(file.create<UnaryExpr>(llvm::SMRange(start, operand->range.End), op, operand));
}

const Expr *Parser::parsePostfix() {
  const Expr *expr = parsePrimary();
  while (expr && tok.is(TokenKind::LSquare))
    expr = parseSubscripts(expr);
  return expr;
}

const Expr *Parser::parsePrimary() {
  // What begins a statement on a new line does not end the one before.
  if (atStatementStart()) {
    failExpected("an expression");
    return nullptr;
  }
  Token token = tok;
  switch (token.kind) {
  case TokenKind::Integer: {
    advance();
    int64_t value;
    if (token.text.getAsInteger(10, value)) {
      diags.error(token.getLoc()) << "integer '" << printable(token.text) << "' does not fit 64 bits";
      return nullptr;
    }
    return file.create<IntegerExpr>(token.getRange(), value);
  }
  case TokenKind::Float: {
    advance();
    double value = 0;
    // The conversion computes with as many digits as the text has.
    constexpr size_t maxDigits = 100;
    if (token.text.size() > maxDigits) {
      diags.error(token.getLoc()) << "number '" << printable(token.text) << "' has more than " << maxDigits
                                  << " characters";
      return nullptr;
    }
    // Fails for texts without a value only; the lexer lets none through.
    bool failed = token.text.getAsDouble(value, /*AllowInexact=*/true);
    if (failed || std::isinf(value)) {
      diags.error(token.getLoc()) << "number '" << printable(token.text) << "' is too large";
      return nullptr;
    }
    return file.create<FloatExpr>(token.getRange(), value);
  }
  case TokenKind::Identifier:
    advance();
    if (tok.is(TokenKind::LParen))
      return parseCall(token);
    if (token.text == "inf")
      return file.create<FloatExpr>(token.getRange(), std::numeric_limits<double>::infinity());
    return file.create<NameExpr>(token.getRange(), token.text);
  case TokenKind::LParen:
    return parseParenthesized();
  default:
    failExpected("an expression");
    return nullptr;
  }
}

const Expr *Parser::parseParenthesized() {
  NestingScope scope(*this);
  if (scope.isTooDeep())
    return nullptr;
  llvm::SMLoc opening = tok.getLoc();
  advance();
  llvm::SmallVector<const Expr *> elements;
  bool isTuple = false;
  do {
    if (isTuple && tok.is(TokenKind::RParen))
      break;
    const Expr *element = parseExpr();
    if (!element)
      return nullptr;
    elements.push_back(element);
    isTuple |= tok.is(TokenKind::Comma);
  } while (consumeIf(TokenKind::Comma));
  if (!expectClosing(TokenKind::RParen, opening, "',' or "))
    return nullptr;
  llvm::SMRange range(opening, previousEnd);
  if (isTuple)
    return checkDepth(file.create<TupleExpr>(range, file.copy<const Expr *>(elements)));
  // The parentheses belong to the text of the expression; nodes of the arena
  // are not shared at this point.
  const_cast<Expr *>(elements.front())->range = range;
  return elements.front();
}

const Expr *Parser::parseCall(Token callee) {
  NestingScope scope(*this);
  if (scope.isTooDeep())
    return nullptr;
  llvm::SMLoc opening = tok.getLoc();
  advance();
  llvm::SmallVector<Argument> args;
  while (!tok.is(TokenKind::RParen)) {
    Argument arg{{}, tok.getLoc(), nullptr};
    if (tok.is(TokenKind::Identifier) && ahead.is(TokenKind::Assign)) {
      arg.name = tok.text;
      advance();
      advance();
    }
    arg.value = parseExpr();
    if (!arg.value)
      return nullptr;
    args.push_back(arg);
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  if (!expectClosing(TokenKind::RParen, opening, "',' or "))
    return nullptr;
  return checkDepth(
      file.create<CallExpr>(llvm::SMRange(callee.getLoc(), previousEnd), callee.text, file.copy<Argument>(args)));
}

const Expr *Parser::parseSubscripts(const Expr *base) {
  NestingScope scope(*this);
  if (scope.isTooDeep())
    return nullptr;
  llvm::SMLoc opening = tok.getLoc();
  advance();
  llvm::SmallVector<Subscript> items;
  while (!tok.is(TokenKind::RSquare)) {
    Subscript item;
    if (!parseSubscript(item))
      return nullptr;
    items.push_back(item);
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  if (!expectClosing(TokenKind::RSquare, opening, "',' or "))
    return nullptr;
  return checkDepth(file.create<IndexExpr>(llvm::SMRange(base->range.Start, previousEnd), opening, base,
                                           file.copy<Subscript>(items)));
}

bool Parser::parseSubscript(Subscript &item) {
  item.range.Start = tok.getLoc();
  if (isWord("None")) {
    advance();
    item.kind = Subscript::Kind::NewAxis;
    item.range.End = previousEnd;
    return true;
  }
  item.kind = Subscript::Kind::Element;
  if (!tok.is(TokenKind::Colon)) {
    item.begin = parseExpr();
    if (!item.begin)
      return false;
  }
  if (consumeIf(TokenKind::Colon)) {
    item.kind = Subscript::Kind::Slice;
    if (tok.is(TokenKind::Colon)) {
      diags.error(tok.getLoc()) << "slices with a step are not supported";
      return false;
    }
    if (!tok.is(TokenKind::Comma) && !tok.is(TokenKind::RSquare)) {
      item.end = parseExpr();
      if (!item.end)
        return false;
    }
    if (tok.is(TokenKind::Colon)) {
      diags.error(tok.getLoc()) << "slices with a step are not supported";
      return false;
    }
  }
  item.range.End = previousEnd;
  return true;
}

std::unique_ptr<File> atrex::frontend::parse(llvm::StringRef buffer, Diagnostics &diags) {
  auto file = std::make_unique<File>();
  Parser(buffer, *file, diags).parseFile();
  return file;
}
