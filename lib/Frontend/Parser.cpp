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
  case TokenKind::Pipe:
    return {4, BinaryOp::BitOr};
  case TokenKind::Caret:
    return {5, BinaryOp::BitXor};
  case TokenKind::Ampersand:
    return {6, BinaryOp::BitAnd};
  case TokenKind::ShiftLeft:
    return {7, BinaryOp::ShiftLeft};
  case TokenKind::ShiftRight:
    return {7, BinaryOp::ShiftRight};
  case TokenKind::Plus:
    return {8, BinaryOp::Add};
  case TokenKind::Minus:
    return {8, BinaryOp::Sub};
  case TokenKind::Star:
    return {9, BinaryOp::Mul};
  case TokenKind::Slash:
    return {9, BinaryOp::Div};
  case TokenKind::Percent:
    return {9, BinaryOp::Mod};
  default:
    return {};
  }
}

/// The operation of `+=`.
std::optional<BinaryOp> getCompound(TokenKind kind) {
  switch (kind) {
  case TokenKind::PlusAssign:
    return BinaryOp::Add;
  case TokenKind::MinusAssign:
    return BinaryOp::Sub;
  case TokenKind::StarAssign:
    return BinaryOp::Mul;
  default:
    return std::nullopt;
  }
}

bool isAssignment(TokenKind kind) { return kind == TokenKind::Assign || getCompound(kind); }

/// Columns before the first character of the line of `loc` that is no space.
size_t getIndentation(llvm::StringRef buffer, llvm::SMLoc loc) {
  llvm::StringRef before = buffer.take_front(loc.getPointer() - buffer.data());
  size_t lineStart = before.rfind('\n');
  lineStart = lineStart == llvm::StringRef::npos ? 0 : lineStart + 1;
  return std::min(buffer.find_first_not_of(" \t", lineStart), buffer.size()) - lineStart;
}

/// Recursive descent with one token of lookahead (two for `name =`). A parse
/// function returns false or null after it has reported an error; the caller
/// that can resume does.
class Parser {
public:
  Parser(llvm::StringRef buffer, File &file, Diagnostics &diags)
      : buffer(buffer), lexer(buffer, diags), file(file), diags(diags) {
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

  /// A name that the program introduces. `_` is one where `mayDrop` is set.
  bool parseNewName(llvm::StringRef what, llvm::StringRef &name, llvm::SMLoc &loc, bool mayDrop = false) {
    if (!tok.is(TokenKind::Identifier)) {
      if (llvm::is_contained(getKeywords(), tok.text)) {
        diags.error(tok.getLoc()) << "'" << tok.text << "' is a keyword and cannot name " << what;
        // Meant as a name, it begins nothing.
        if (!tok.startsLine)
          advance();
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
    if (name == "_" && !mayDrop) {
      diags.error(loc) << "'_' drops a value and cannot name " << what;
      return false;
    }
    advance();
    return true;
  }

  //===--- Recovery -------------------------------------------------------===//

  /// Whether a name at the beginning of a line stands where the statement being
  /// parsed would end. Inside brackets that the program forgot to close only the
  /// indentation tells a statement from a named argument.
  bool isOutsideStatement() const {
    return bracketDepth == 0 || getIndentation(buffer, tok.getLoc()) <= getIndentation(buffer, statementStart);
  }
  /// Whether a new statement begins here, judged without its context.
  bool atStatementStart() const {
    switch (tok.kind) {
    case TokenKind::KwLet:
    case TokenKind::KwVar:
    case TokenKind::KwConst:
    case TokenKind::KwFor:
    case TokenKind::KwWhile:
    case TokenKind::KwIf:
    case TokenKind::KwReturn:
      return true;
    case TokenKind::KwLaunch:
      return tok.startsLine;
    case TokenKind::Identifier:
      return tok.startsLine && isAssignment(ahead.kind) && isOutsideStatement();
    default:
      return false;
    }
  }
  /// Like atStatementStart, after an error. A call and a list of names could
  /// also continue an expression; at the indentation of the statement in error
  /// they are taken for statements.
  bool atResumption() const {
    if (atStatementStart())
      return true;
    bool beginsLikeStatement =
        (tok.is(TokenKind::Identifier) && ahead.is(TokenKind::LParen)) || tok.is(TokenKind::LParen);
    return tok.startsLine && beginsLikeStatement &&
           getIndentation(buffer, tok.getLoc()) <= getIndentation(buffer, statementStart);
  }
  /// Whether a definition begins here. `const` is a statement too; a definition
  /// is one that is not indented.
  bool atDefinition() const {
    if (!tok.startsLine)
      return false;
    return tok.is(TokenKind::KwOp) || tok.is(TokenKind::KwKernel) || tok.is(TokenKind::KwFn) ||
           tok.is(TokenKind::KwImport);
  }
  bool atConstDefinition() const {
    return tok.is(TokenKind::KwConst) && tok.startsLine && getIndentation(buffer, tok.getLoc()) == 0;
  }
  /// A block in braces is skipped whole.
  void skipToStatement() {
    for (unsigned depth = 0; !tok.is(TokenKind::Eof) && !atDefinition(); advance()) {
      if (depth == 0 && (tok.is(TokenKind::RBrace) || atResumption()))
        return;
      if (tok.is(TokenKind::LBrace))
        ++depth;
      else if (tok.is(TokenKind::RBrace))
        --depth;
      else if (tok.is(TokenKind::LParen) || tok.is(TokenKind::LSquare))
        ++bracketDepth;
      else if ((tok.is(TokenKind::RParen) || tok.is(TokenKind::RSquare)) && bracketDepth)
        --bracketDepth;
    }
  }
  /// Stands at the first token behind the block whose `{` is the current token.
  void skipBlock() {
    unsigned depth = 0;
    do {
      if (tok.is(TokenKind::LBrace))
        ++depth;
      else if (tok.is(TokenKind::RBrace))
        --depth;
      advance();
    } while (depth && !tok.is(TokenKind::Eof) && !atDefinition());
  }
  void skipToDefinition() {
    while (!tok.is(TokenKind::Eof) && !atDefinition() && !atConstDefinition())
      advance();
  }

  //===--- Declarations ---------------------------------------------------===//

  void parseOp();
  void parseFn();
  void parseConst();
  void parseImport();
  bool parseSignature(OpDecl &op);
  bool parseClauses(OpDecl &op);
  bool atClause(bool followsComma = false) const;
  bool parseConstraints(OpDecl &op);
  bool parseKnobs(OpDecl &op);
  bool parseKnob(KnobDecl &knob);
  bool parseValueDecls(llvm::StringRef what, llvm::StringRef context, llvm::ArrayRef<ValueDecl> &decls);
  bool parseValueDecl(llvm::StringRef what, ValueDecl &decl, bool needsType);
  bool parseType(TypeSpec &type);
  /// `( a, b )`, trailing comma allowed; with `_` (null) for some where `mayDrop`.
  bool parseExprList(llvm::StringRef context, llvm::ArrayRef<const Expr *> &exprs, bool mayDrop = false);

  //===--- Statements -----------------------------------------------------===//

  /// The body of a definition. False when its end was not found.
  bool parseBody(Block &body, llvm::SMLoc &endLoc, bool &hasErrors, llvm::StringRef context);
  bool parseBlock(Block &block, llvm::StringRef context);
  /// Null when nothing of the statement is worth keeping; `ok` tells whether it
  /// was read without error.
  const Stmt *parseStatement(bool &ok);
  const Stmt *parseBind(bool &ok);
  const Stmt *parseAssign(bool &ok);
  const Stmt *parseFor(bool &ok);
  const Stmt *parseWhile(bool &ok);
  const Stmt *parseIf(bool &ok);
  const Stmt *parseReturn(bool &ok);
  const Stmt *parseExprStatement(bool &ok);
  /// `a` or `(a, b)` before `=`.
  bool parseNames(llvm::StringRef what, bool isNew, llvm::SmallVectorImpl<Binding> &names, bool &isTuple);
  /// The right side of `=`.
  const Expr *parseValue() { return tok.is(TokenKind::KwLaunch) ? parseLaunch() : parseExpr(); }
  const Expr *parseLaunch();

  //===--- Expressions ----------------------------------------------------===//

  /// Null after an error.
  const Expr *parseExpr() { return parseBinary(1); }
  const Expr *parseBinary(unsigned minPrecedence);
  const Expr *parseUnary();
  const Expr *parsePostfix();
  const Expr *parsePrimary();
  const Expr *parseParenthesized();
  const Expr *parseCall(Token callee);
  const Expr *parseString(Token token);
  const Expr *parseMember(const Expr *base);
  bool parseArguments(llvm::SmallVectorImpl<Argument> &args);
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

  /// Consumes the opening bracket. Without a call of close the bracket counts
  /// as open until the next statement.
  llvm::SMLoc open() {
    llvm::SMLoc loc = tok.getLoc();
    advance();
    ++bracketDepth;
    return loc;
  }
  bool close(TokenKind kind, llvm::SMLoc opening) {
    if (!expectClosing(kind, opening, "',' or "))
      return false;
    if (bracketDepth)
      --bracketDepth;
    return true;
  }

  llvm::StringRef buffer;
  Lexer lexer;
  File &file;
  Diagnostics &diags;
  Token tok, ahead;
  llvm::SMLoc previousEnd;
  unsigned nesting = 0;
  /// Blocks around the current token.
  unsigned blockDepth = 0;
  /// Parentheses and square brackets of the current statement that are open.
  unsigned bracketDepth = 0;
  llvm::SMLoc statementStart;
  /// Something in the current body could not be parsed.
  bool bodyHasErrors = false;
  /// A block without an end has been reported; blocks around it end silently.
  bool isUnclosed = false;
  /// The first block of the current body whose `}` stands left of where it
  /// began; likely the one that was not closed.
  llvm::SMLoc suspect;
};
} // namespace

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Parser::parseFile() {
  while (!tok.is(TokenKind::Eof) && !diags.reachedLimit()) {
    statementStart = tok.getLoc();
    bracketDepth = 0;
    switch (tok.kind) {
    case TokenKind::KwOp:
    case TokenKind::KwKernel:
      parseOp();
      continue;
    case TokenKind::KwFn:
      parseFn();
      continue;
    case TokenKind::KwConst:
      parseConst();
      continue;
    case TokenKind::KwImport:
      parseImport();
      continue;
    default:
      failExpected("a definition ('op', 'kernel', 'fn', 'const' or 'import')");
      advance();
      skipToDefinition();
    }
  }
}

void Parser::parseOp() {
  OpDecl *op = file.create<OpDecl>();
  op->loc = tok.getLoc();
  op->isKernel = tok.is(TokenKind::KwKernel);
  advance();
  if (!parseSignature(*op)) {
    op->isIncomplete = op->hasErrors = true;
    skipToDefinition();
  } else {
    bool hasClauses = !op->constraints.empty() || !op->knobs.empty() || op->threads || op->gridLoc.isValid();
    llvm::StringRef context = hasClauses     ? "after the clauses"
                              : op->isKernel ? "or a clause ('where', 'knobs', 'threads', 'grid') after the results"
                                             : "or a clause ('where', 'knobs') after the results";
    if (!parseBody(op->body, op->endLoc, op->hasErrors, context))
      skipToDefinition();
  }
  if (!op->name.empty())
    file.ops.push_back(op);
}

void Parser::parseFn() {
  FnDecl *fn = file.create<FnDecl>();
  fn->loc = tok.getLoc();
  advance();
  bool ok = parseNewName("a function", fn->name, fn->loc) &&
            parseValueDecls("a parameter of a function", "after the name of the function", fn->params);
  if (ok && consumeIf(TokenKind::Arrow)) {
    auto *type = file.create<TypeSpec>();
    ok = parseType(*type);
    fn->resultType = type;
  }
  llvm::SMLoc endLoc;
  if (!ok)
    fn->isIncomplete = fn->hasErrors = true;
  if (!ok || !parseBody(fn->body, endLoc, fn->hasErrors,
                        fn->resultType ? "after the type of the result" : "or '->' after the parameters"))
    skipToDefinition();
  if (!fn->name.empty())
    file.fns.push_back(fn);
}

void Parser::parseConst() {
  ConstDecl *decl = file.create<ConstDecl>();
  decl->loc = tok.getLoc();
  advance();
  decl->value = nullptr;
  if (parseNewName("a constant", decl->name, decl->loc) && expect(TokenKind::Assign, "after the name"))
    decl->value = parseExpr();
  if (!decl->value) {
    decl->value = file.create<ErrorExpr>(llvm::SMRange(decl->loc, decl->loc));
    skipToDefinition();
  }
  if (!decl->name.empty())
    file.consts.push_back(decl);
}

void Parser::parseImport() {
  advance();
  Token path = tok;
  if (!path.is(TokenKind::String)) {
    failExpected("the path of a file in quotation marks after 'import'");
    return skipToDefinition();
  }
  advance();
  if (const Expr *expr = parseString(path)) {
    auto *decl = file.create<ImportDecl>();
    decl->path = llvm::cast<StringExpr>(expr)->value;
    decl->loc = path.getLoc();
    file.imports.push_back(decl);
  }
}

bool Parser::parseSignature(OpDecl &op) {
  return parseNewName(op.isKernel ? "a kernel" : "an operator", op.name, op.loc) &&
         parseValueDecls("a parameter", op.isKernel ? "after the name of the kernel" : "after the name of the operator",
                         op.params) &&
         expect(TokenKind::Arrow, "and the results after the parameters") &&
         parseValueDecls("a result", "before the results", op.results) && parseClauses(op);
}

/// Whether a clause begins here. `threads` may be a name, so behind a comma it
/// begins a clause only when no operator follows.
bool Parser::atClause(bool followsComma) const {
  return isWord("where") || isWord("knobs") || isWord("grid") ||
         (isWord("threads") && !(followsComma && getOperatorInfo(ahead.kind).precedence));
}

bool Parser::parseClauses(OpDecl &op) {
  llvm::SmallVector<Token, 4> seen;
  while (atClause()) {
    Token word = tok;
    advance();
    for (const Token &other : seen) {
      if (other.text != word.text)
        continue;
      mlir::InFlightDiagnostic diagnostic = diags.error(word.getLoc());
      diagnostic << "the clause '" << word.text << "' is given twice";
      diags.note(diagnostic, other.getLoc()) << "the other one is here";
      return false;
    }
    seen.push_back(word);
    if (word.text == "where") {
      if (!parseConstraints(op))
        return false;
      continue;
    }
    if (word.text == "knobs") {
      if (!parseKnobs(op))
        return false;
      continue;
    }
    if (!op.isKernel) {
      diags.error(word.getLoc()) << "'" << word.text
                                 << "' belongs to a kernel; the schedule decides it for an operator";
      return false;
    }
    if (word.text == "threads") {
      op.threads = parseExpr();
      if (!op.threads)
        return false;
      continue;
    }
    op.gridLoc = word.getLoc();
    if (!parseExprList("and the numbers of workgroups after 'grid'", op.grid))
      return false;
    if (op.grid.empty() || op.grid.size() > 3) {
      diags.error(word.getLoc()) << "a grid has one to three axes, got " << op.grid.size();
      return false;
    }
  }
  return true;
}

bool Parser::parseConstraints(OpDecl &op) {
  llvm::SmallVector<const Expr *> constraints;
  do {
    if (!constraints.empty() && (tok.is(TokenKind::LBrace) || atClause(/*followsComma=*/true)))
      break;
    const Expr *constraint = parseExpr();
    if (!constraint)
      return false;
    constraints.push_back(constraint);
  } while (consumeIf(TokenKind::Comma));
  op.constraints = file.copy<const Expr *>(constraints);
  return true;
}

bool Parser::parseKnobs(OpDecl &op) {
  llvm::SmallVector<KnobDecl> knobs;
  do {
    if (!knobs.empty() && (tok.is(TokenKind::LBrace) || atClause(/*followsComma=*/true)))
      break;
    KnobDecl knob;
    if (!parseKnob(knob))
      return false;
    knobs.push_back(knob);
  } while (consumeIf(TokenKind::Comma));
  op.knobs = file.copy<KnobDecl>(knobs);
  return true;
}

bool Parser::parseKnob(KnobDecl &knob) {
  if (!parseNewName("a knob", knob.name, knob.loc))
    return false;
  if (!isWord("in"))
    return failExpected("'in' and the values after the name of the knob");
  advance();
  if (tok.is(TokenKind::LBrace)) {
    llvm::SMLoc opening = open();
    llvm::SmallVector<const Expr *> values;
    while (!tok.is(TokenKind::RBrace)) {
      const Expr *value = parseExpr();
      if (!value)
        return false;
      values.push_back(value);
      if (!consumeIf(TokenKind::Comma))
        break;
    }
    knob.values = file.copy<const Expr *>(values);
    if (!close(TokenKind::RBrace, opening))
      return false;
    if (values.empty()) {
      diags.error(opening) << "knob '" << knob.name << "' has no values";
      return false;
    }
  } else {
    knob.isRange = true;
    knob.begin = parseExpr();
    if (!knob.begin)
      return false;
    if (!consumeIf(TokenKind::DotDot))
      return failExpected("'..' and the last value of the range, or values in braces '{a, b}'");
    knob.end = parseExpr();
    if (!knob.end)
      return false;
    if (isWord("step")) {
      advance();
      knob.step = parseExpr();
      if (!knob.step)
        return false;
    }
  }
  if (consumeIf(TokenKind::Assign)) {
    knob.defaultValue = parseExpr();
    if (!knob.defaultValue)
      return false;
  }
  knob.range = llvm::SMRange(knob.loc, previousEnd);
  return true;
}

bool Parser::parseExprList(llvm::StringRef context, llvm::ArrayRef<const Expr *> &exprs, bool mayDrop) {
  if (!tok.is(TokenKind::LParen))
    return failExpected("'(' " + context);
  llvm::SMLoc opening = open();
  llvm::SmallVector<const Expr *> list;
  while (!tok.is(TokenKind::RParen)) {
    const Expr *expr = nullptr;
    if (mayDrop && isWord("_"))
      advance();
    else if (!(expr = parseExpr()))
      return false;
    list.push_back(expr);
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  exprs = file.copy<const Expr *>(list);
  return close(TokenKind::RParen, opening);
}

bool Parser::parseValueDecls(llvm::StringRef what, llvm::StringRef context, llvm::ArrayRef<ValueDecl> &decls) {
  if (!tok.is(TokenKind::LParen))
    return failExpected("'(' " + context);
  llvm::SMLoc opening = open();
  llvm::SmallVector<ValueDecl> list;
  while (!tok.is(TokenKind::RParen)) {
    ValueDecl decl;
    if (!parseValueDecl(what, decl, /*needsType=*/what != "a parameter of a function"))
      return false;
    list.push_back(decl);
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  decls = file.copy<ValueDecl>(list);
  return close(TokenKind::RParen, opening);
}

bool Parser::parseValueDecl(llvm::StringRef what, ValueDecl &decl, bool needsType) {
  if (!parseNewName(what, decl.name, decl.loc))
    return false;
  if (needsType || tok.is(TokenKind::Colon))
    if (!expect(TokenKind::Colon, "and a type after the name") || !parseType(decl.type))
      return false;
  if (!tok.is(TokenKind::Assign))
    return true;
  advance();
  decl.defaultValue = parseExpr();
  return decl.defaultValue;
}

bool Parser::parseType(TypeSpec &type) {
  if (!tok.is(TokenKind::Identifier))
    return failExpected("a type");
  type.element = tok.text;
  type.range = tok.getRange();
  advance();
  if (tok.is(TokenKind::LSquare)) {
    llvm::SMLoc opening = open();
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
    if (!close(TokenKind::RSquare, opening))
      return false;
    type.range.End = previousEnd;
  }
  while (isWord("strides") || isWord("align")) {
    bool isStrides = tok.text == "strides";
    if (isStrides ? type.hasStrides : type.alignment != nullptr) {
      diags.error(tok.getLoc()) << "'" << tok.text << "' is given twice";
      return false;
    }
    advance();
    if (isStrides) {
      type.hasStrides = true;
      if (!parseExprList("and one stride per axis after 'strides'", type.strides, /*mayDrop=*/true))
        return false;
    } else {
      type.alignment = parseExpr();
      if (!type.alignment)
        return false;
    }
    type.range.End = previousEnd;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool Parser::parseBody(Block &body, llvm::SMLoc &endLoc, bool &hasErrors, llvm::StringRef context) {
  bodyHasErrors = isUnclosed = false;
  suspect = {};
  bool closed = parseBlock(body, context);
  endLoc = closed ? llvm::SMLoc::getFromPointer(body.range.End.getPointer() - 1) : tok.getLoc();
  hasErrors |= bodyHasErrors || !closed;
  return closed;
}

bool Parser::parseBlock(Block &block, llvm::StringRef context) {
  if (!tok.is(TokenKind::LBrace))
    return failExpected("'{' " + context);
  llvm::SMLoc opening = tok.getLoc();
  if (blockDepth == maxBlockNesting) {
    diags.error(opening) << "blocks are nested more than " << maxBlockNesting << " levels deep";
    bodyHasErrors = true;
    skipBlock();
    block.range = llvm::SMRange(opening, previousEnd);
    return true;
  }
  advance();
  ++blockDepth;
  llvm::SmallVector<const Stmt *> stmts;
  auto finish = [&](bool closed) {
    --blockDepth;
    block.stmts = file.copy<const Stmt *>(stmts);
    block.range = llvm::SMRange(opening, closed ? previousEnd : tok.getLoc());
    return closed;
  };
  while (!tok.is(TokenKind::RBrace)) {
    if (tok.is(TokenKind::Eof) || atDefinition()) {
      bodyHasErrors = true;
      if (!isUnclosed && !tok.is(TokenKind::Error) && !ahead.is(TokenKind::Error)) {
        mlir::InFlightDiagnostic diagnostic = diags.error(tok.getLoc());
        diagnostic << "expected a statement or '}', found "
                   << (tok.is(TokenKind::Eof) ? "the end of the file" : ("'" + tok.text + "'").str());
        diags.note(diagnostic, opening) << "to close this";
        if (suspect.isValid()) {
          diags.note(diagnostic, suspect) << "or this; the '}' that closes it now stands further left";
        }
      }
      isUnclosed = true;
      return finish(false);
    }
    if (diags.reachedLimit()) {
      bodyHasErrors = isUnclosed = true;
      return finish(false);
    }
    statementStart = tok.getLoc();
    bracketDepth = 0;
    llvm::SMLoc start = statementStart;
    bool ok = true;
    if (const Stmt *stmt = parseStatement(ok))
      stmts.push_back(stmt);
    if (ok)
      continue;
    bodyHasErrors = true;
    if (isUnclosed)
      continue;
    statementStart = start;
    if (tok.getLoc() == start)
      advance();
    skipToStatement();
  }
  if (!suspect.isValid() && tok.startsLine && getIndentation(buffer, tok.getLoc()) < getIndentation(buffer, opening)) {
    suspect = opening;
  }
  advance();
  return finish(true);
}

const Stmt *Parser::parseStatement(bool &ok) {
  switch (tok.kind) {
  case TokenKind::KwLet:
  case TokenKind::KwVar:
  case TokenKind::KwConst:
    return parseBind(ok);
  case TokenKind::KwFor:
    return parseFor(ok);
  case TokenKind::KwWhile:
    return parseWhile(ok);
  case TokenKind::KwIf:
    return parseIf(ok);
  case TokenKind::KwReturn:
    return parseReturn(ok);
  case TokenKind::KwLaunch:
    return parseExprStatement(ok);
  case TokenKind::KwElse:
    diags.error(tok.getLoc()) << "'else' without an 'if' before it";
    ok = false;
    return nullptr;
  case TokenKind::LParen:
    return parseAssign(ok);
  case TokenKind::Identifier:
    if (isReservedWord(tok.text) && !ahead.is(TokenKind::LParen)) {
      diags.error(tok.getLoc()) << "'" << tok.text << "' cannot begin a statement";
      ok = false;
      return nullptr;
    }
    if (ahead.is(TokenKind::LParen) || ahead.is(TokenKind::LSquare) || ahead.is(TokenKind::Dot))
      return parseExprStatement(ok);
    if ((tok.text == "break" || tok.text == "continue") && !ahead.is(TokenKind::Assign) && !getCompound(ahead.kind)) {
      // All work-items go through the same rounds.
      diags.error(tok.getLoc()) << "there is no '" << tok.text << "'; "
                                << (tok.text == "break" ? "a loop that may end early is a 'while' with a condition"
                                                        : "what a round leaves out stands in an 'if'");
      bodyHasErrors = true;
      advance();
      return nullptr;
    }
    return parseAssign(ok);
  default:
    failExpected("a statement ('let name = ...' or 'result = ...') or '}'");
    ok = false;
    return nullptr;
  }
}

bool Parser::parseNames(llvm::StringRef what, bool isNew, llvm::SmallVectorImpl<Binding> &names, bool &isTuple) {
  auto parseOne = [&] {
    Binding name{{}, tok.getLoc()};
    bool ok = true;
    if (isNew) {
      ok = parseNewName(what, name.name, name.loc, /*mayDrop=*/true);
    } else if (!tok.is(TokenKind::Identifier) || isReservedWord(tok.text)) {
      ok = failExpected("the name of " + what);
    } else {
      name.name = tok.text;
      advance();
    }
    if (ok)
      names.push_back(name);
    return ok;
  };
  isTuple = tok.is(TokenKind::LParen);
  if (!isTuple)
    return parseOne();
  llvm::SMLoc opening = open();
  do {
    if (!names.empty() && tok.is(TokenKind::RParen))
      break;
    if (!parseOne())
      return false;
  } while (consumeIf(TokenKind::Comma));
  return close(TokenKind::RParen, opening);
}

const Stmt *Parser::parseBind(bool &ok) {
  Stmt::Kind kind = tok.is(TokenKind::KwLet)   ? Stmt::Kind::Let
                    : tok.is(TokenKind::KwVar) ? Stmt::Kind::Var
                                               : Stmt::Kind::Const;
  llvm::SMLoc start = tok.getLoc();
  advance();
  llvm::SmallVector<Binding, 4> names;
  bool isTuple = false;
  TypeSpec *type = nullptr;
  const Expr *value = nullptr;
  ok = parseNames(kind == Stmt::Kind::Const ? "a constant" : "a value", /*isNew=*/true, names, isTuple);
  if (ok && kind != Stmt::Kind::Let && isTuple) {
    diags.error(names.front().loc) << "'" << (kind == Stmt::Kind::Var ? "var" : "const")
                                   << "' introduces one name; a list of names is for 'let'";
    ok = false;
  }
  if (ok && consumeIf(TokenKind::Colon)) {
    type = file.create<TypeSpec>();
    ok = parseType(*type);
  }
  if (ok)
    ok = expect(TokenKind::Assign, type ? "after the type" : isTuple ? "after the names" : "after the name");
  if (ok) {
    value = parseValue();
    ok = value;
  }
  if (names.empty())
    return nullptr;
  // The names stay known, so that their uses are not reported as well.
  if (!value) {
    value = file.create<ErrorExpr>(llvm::SMRange(start, start));
    type = nullptr;
  }
  return file.create<BindStmt>(kind, llvm::SMRange(start, previousEnd), file.copy<Binding>(names), isTuple, type,
                               value);
}

const Stmt *Parser::parseAssign(bool &ok) {
  llvm::SMLoc start = tok.getLoc(), operatorLoc = start;
  llvm::SmallVector<Binding, 4> names;
  bool isTuple = false;
  std::optional<BinaryOp> compound;
  const Expr *value = nullptr;
  ok = parseNames("a result", /*isNew=*/false, names, isTuple);
  if (ok) {
    operatorLoc = tok.getLoc();
    compound = getCompound(tok.kind);
    bool isGlued = ahead.is(TokenKind::Assign) && ahead.getLoc() == tok.getEndLoc();
    if (compound && !isTuple) {
      advance();
    } else if (getOperatorInfo(tok.kind).precedence && isGlued && !isTuple) {
      diags.error(operatorLoc) << "there is no '" << tok.text << "='; write '" << printable(names.front().name) << " = "
                               << printable(names.front().name) << " " << tok.text << " ...'";
      ok = false;
    } else {
      ok = expect(TokenKind::Assign, isTuple ? "after the names of the results" : "after the result's name");
    }
  }
  if (ok) {
    value = parseValue();
    ok = value;
  }
  if (names.empty())
    return nullptr;
  if (!value)
    value = file.create<ErrorExpr>(llvm::SMRange(start, start));
  return file.create<AssignStmt>(llvm::SMRange(start, previousEnd), operatorLoc, file.copy<Binding>(names), isTuple,
                                 compound, value);
}

const Stmt *Parser::parseFor(bool &ok) {
  llvm::SMLoc start = tok.getLoc();
  advance();
  bool isUnrolled = consumeIf(TokenKind::KwConst);
  Binding variable;
  ok = parseNewName("a loop variable", variable.name, variable.loc, /*mayDrop=*/true);
  if (!ok)
    return nullptr;
  ok = false;
  if (!isWord("in")) {
    failExpected("'in range(...)' after the loop variable");
    return nullptr;
  }
  advance();
  if (!isWord("range") || !ahead.is(TokenKind::LParen)) {
    failExpected("'range(begin, end, step)' after 'in'");
    return nullptr;
  }
  llvm::SMLoc rangeLoc = tok.getLoc();
  advance();
  llvm::ArrayRef<const Expr *> bounds;
  if (!parseExprList("", bounds))
    return nullptr;
  if (bounds.empty() || bounds.size() > 3) {
    diags.error(rangeLoc) << "'range' takes an end, a begin and an end, or a begin, an end and a step; got "
                          << bounds.size() << " values";
    return nullptr;
  }
  const Expr *begin = bounds.size() > 1 ? bounds[0] : nullptr;
  const Expr *end = bounds.size() > 1 ? bounds[1] : bounds[0];
  const Expr *step = bounds.size() > 2 ? bounds[2] : nullptr;
  Block body;
  if (!parseBlock(body, "after the range"))
    return nullptr;
  ok = true;
  return file.create<ForStmt>(llvm::SMRange(start, previousEnd), variable, isUnrolled, begin, end, step, body);
}

const Stmt *Parser::parseWhile(bool &ok) {
  llvm::SMLoc start = tok.getLoc();
  advance();
  const Expr *condition = parseExpr();
  Block body;
  ok = condition && parseBlock(body, "after the condition");
  return ok ? file.create<WhileStmt>(llvm::SMRange(start, previousEnd), condition, body) : nullptr;
}

const Stmt *Parser::parseIf(bool &ok) {
  llvm::SMLoc start = tok.getLoc();
  advance();
  const Expr *condition = parseExpr();
  Block thenBlock;
  ok = condition && parseBlock(thenBlock, "after the condition");
  if (!ok)
    return nullptr;
  std::optional<Block> elseBlock;
  if (consumeIf(TokenKind::KwElse)) {
    elseBlock.emplace();
    if (tok.is(TokenKind::KwIf)) {
      // The chain is a block in a block; it counts as one, so that no chain
      // exhausts the stack.
      llvm::SMLoc inner = tok.getLoc();
      if (blockDepth == maxBlockNesting) {
        diags.error(inner) << "blocks are nested more than " << maxBlockNesting
                           << " levels deep; each 'else if' is one level";
        ok = false;
        return nullptr;
      }
      ++blockDepth;
      const Stmt *chained = parseIf(ok);
      --blockDepth;
      if (chained)
        elseBlock->stmts = file.copy<const Stmt *>(chained);
      elseBlock->range = llvm::SMRange(inner, previousEnd);
    } else {
      ok = parseBlock(*elseBlock, "or 'if' after 'else'");
    }
  }
  return file.create<IfStmt>(llvm::SMRange(start, previousEnd), condition, thenBlock, elseBlock);
}

const Stmt *Parser::parseReturn(bool &ok) {
  llvm::SMLoc start = tok.getLoc();
  advance();
  llvm::SmallVector<const Expr *, 4> values;
  if (!tok.is(TokenKind::RBrace) && !atStatementStart()) {
    do {
      const Expr *value = parseExpr();
      if (!value) {
        ok = false;
        value = file.create<ErrorExpr>(llvm::SMRange(start, start));
      }
      values.push_back(value);
    } while (ok && consumeIf(TokenKind::Comma));
  }
  return file.create<ReturnStmt>(llvm::SMRange(start, previousEnd), file.copy<const Expr *>(values));
}

const Stmt *Parser::parseExprStatement(bool &ok) {
  llvm::SMLoc start = tok.getLoc();
  const Expr *value = parseValue();
  ok = false;
  if (!value)
    return nullptr;
  if (isAssignment(tok.kind)) {
    mlir::InFlightDiagnostic diagnostic = diags.error(tok.getLoc());
    diagnostic << "only names are assigned";
    if (llvm::isa<IndexExpr>(value))
      diagnostic << "; elements are written with 'store(" << printable(value->getText()) << ", value)'";
    return nullptr;
  }
  if (!llvm::isa<CallExpr, LaunchExpr>(value) || value->range.Start != start) {
    diags.error(value->loc) << "an expression is no statement; bind its value with 'let name = ...'";
    return nullptr;
  }
  ok = true;
  return file.create<ExprStmt>(value);
}

const Expr *Parser::parseLaunch() {
  llvm::SMLoc start = tok.getLoc();
  advance();
  Token callee = tok;
  if (!callee.is(TokenKind::Identifier)) {
    failExpected("the name of a kernel after 'launch'");
    return nullptr;
  }
  advance();
  if (!tok.is(TokenKind::LParen)) {
    failExpected("'(' and the arguments of the kernel");
    return nullptr;
  }
  llvm::SmallVector<Argument> args;
  if (!parseArguments(args))
    return nullptr;
  const Expr *count = nullptr;
  // At the beginning of a line `count = ...` is a statement.
  if (isWord("count") && !isAssignment(ahead.kind) && !(tok.startsLine && ahead.is(TokenKind::LParen))) {
    advance();
    count = parsePostfix();
    if (!count)
      return nullptr;
  }
  return checkDepth(file.create<LaunchExpr>(llvm::SMRange(start, previousEnd), callee.getLoc(), callee.text,
                                            file.copy<Argument>(args), count));
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
      // `a > b & c > d` means `a > (b & c) > d`.
      if (auto *middle = llvm::dyn_cast<BinaryExpr>(left->rhs);
          middle && (middle->op == BinaryOp::BitAnd || middle->op == BinaryOp::BitOr) &&
          middle->range.Start == middle->lhs->range.Start)
        diagnostic << "; '" << getSpelling(middle->op) << "' binds tighter than '" << getSpelling(left->op)
                   << "', the logical operator is '" << (middle->op == BinaryOp::BitAnd ? "&&" : "||") << "'";
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
  UnaryOp op;
  switch (tok.kind) {
  case TokenKind::Minus:
    op = UnaryOp::Neg;
    break;
  case TokenKind::Not:
    op = UnaryOp::Not;
    break;
  case TokenKind::Tilde:
    op = UnaryOp::BitNot;
    break;
  default:
    return parsePostfix();
  }
  NestingScope scope(*this);
  if (scope.isTooDeep())
    return nullptr;
  llvm::SMLoc start = tok.getLoc();
  advance();
  const Expr *operand = parseUnary();
  if (!operand)
    return nullptr;
  return checkDepth(file.create<UnaryExpr>(llvm::SMRange(start, operand->range.End), op, operand));
}

const Expr *Parser::parsePostfix() {
  const Expr *expr = parsePrimary();
  while (expr) {
    if (tok.is(TokenKind::LSquare))
      expr = parseSubscripts(expr);
    else if (tok.is(TokenKind::Dot))
      expr = parseMember(expr);
    else
      break;
  }
  return expr;
}

const Expr *Parser::parseMember(const Expr *base) {
  advance();
  if (!tok.is(TokenKind::Identifier)) {
    failExpected("'T' after '.'");
    return nullptr;
  }
  Token member = tok;
  advance();
  if (member.text != "T") {
    diags.error(member.getLoc()) << "unknown member '." << printable(member.text)
                                 << "'; the only one is '.T', which swaps the last two axes";
    return nullptr;
  }
  return checkDepth(
      file.create<MemberExpr>(llvm::SMRange(base->range.Start, previousEnd), member.getLoc(), base, member.text));
}

const Expr *Parser::parsePrimary() {
  if (tok.is(TokenKind::KwIf) && !tok.startsLine) {
    diags.error(tok.getLoc()) << "'if' is a statement; 'where(condition, a, b)' chooses between values";
    // Its branches are no statements.
    while (!tok.is(TokenKind::Eof) && !atDefinition() && !tok.is(TokenKind::RBrace) && !tok.startsLine) {
      if (tok.is(TokenKind::LBrace))
        skipBlock();
      else
        advance();
    }
    return nullptr;
  }
  // What begins a statement on a new line does not end the one before.
  if (atStatementStart()) {
    failExpected("an expression");
    return nullptr;
  }
  Token token = tok;
  switch (token.kind) {
  case TokenKind::Integer: {
    advance();
    std::string digits = token.text.str();
    llvm::erase(digits, '_');
    llvm::StringRef text = digits;
    bool isHex = text.starts_with_insensitive("0x"), isBinary = text.starts_with_insensitive("0b");
    int64_t value;
    if (text.drop_front(isHex || isBinary ? 2 : 0).getAsInteger(isHex ? 16 : isBinary ? 2 : 10, value)) {
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
    std::string digits = token.text.str();
    llvm::erase(digits, '_');
    // Fails for texts without a value only; the lexer lets none through.
    bool failed = llvm::StringRef(digits).getAsDouble(value, /*AllowInexact=*/true);
    if (failed || std::isinf(value)) {
      diags.error(token.getLoc()) << "number '" << printable(token.text) << "' is too large";
      return nullptr;
    }
    return file.create<FloatExpr>(token.getRange(), value);
  }
  case TokenKind::String:
    advance();
    return parseString(token);
  case TokenKind::Identifier:
    advance();
    // A parenthesis on the next line begins a statement.
    if (tok.is(TokenKind::LParen) && (bracketDepth || !tok.startsLine))
      return parseCall(token);
    if (token.text == "inf" || token.text == "nan")
      return file.create<FloatExpr>(token.getRange(), token.text == "inf" ? std::numeric_limits<double>::infinity()
                                                                          : std::numeric_limits<double>::quiet_NaN());
    if (token.text == "true" || token.text == "false")
      return file.create<BoolExpr>(token.getRange(), token.text == "true");
    if (token.text == "_") {
      diags.error(token.getLoc()) << "'_' stands for a value that is dropped and cannot be read";
      return nullptr;
    }
    return file.create<NameExpr>(token.getRange(), token.text);
  case TokenKind::LParen:
    return parseParenthesized();
  case TokenKind::KwLaunch:
    diags.error(token.getLoc()) << "'launch' is no operand; it stands alone behind '=' or as a statement";
    return nullptr;
  default:
    failExpected("an expression");
    return nullptr;
  }
}

const Expr *Parser::parseString(Token token) {
  llvm::StringRef body = token.text;
  if (body.consume_front("\"\"\""))
    return file.create<StringExpr>(token.getRange(), body.drop_back(3));
  body = body.drop_front().drop_back();
  // Without escapes the value is a part of the source, so that messages about
  // it can point there.
  if (!body.contains('\\'))
    return file.create<StringExpr>(token.getRange(), body);
  std::string value;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      value += body[i];
      continue;
    }
    switch (body[++i]) {
    case 'n':
      value += '\n';
      break;
    case 't':
      value += '\t';
      break;
    case '\\':
    case '"':
      value += body[i];
      break;
    default:
      diags.error(llvm::SMLoc::getFromPointer(body.data() + i - 1))
          << "unknown escape '" << printable(body.substr(i - 1, 2)) << "'; there are '\\n', '\\t', '\\\"' and '\\\\'";
      return nullptr;
    }
  }
  return file.create<StringExpr>(token.getRange(), file.copy(llvm::StringRef(value)));
}

const Expr *Parser::parseParenthesized() {
  NestingScope scope(*this);
  if (scope.isTooDeep())
    return nullptr;
  llvm::SMLoc opening = open();
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
  if (!close(TokenKind::RParen, opening))
    return nullptr;
  llvm::SMRange range(opening, previousEnd);
  if (isTuple)
    return checkDepth(file.create<TupleExpr>(range, file.copy<const Expr *>(elements)));
  // The parentheses belong to the text of the expression; nodes of the arena
  // are not shared at this point.
  const_cast<Expr *>(elements.front())->range = range;
  return elements.front();
}

bool Parser::parseArguments(llvm::SmallVectorImpl<Argument> &args) {
  llvm::SMLoc opening = open();
  while (!tok.is(TokenKind::RParen)) {
    Argument arg{{}, tok.getLoc(), nullptr};
    if (tok.is(TokenKind::Identifier) && ahead.is(TokenKind::Assign)) {
      arg.name = tok.text;
      advance();
      advance();
    }
    arg.value = parseExpr();
    if (!arg.value)
      return false;
    args.push_back(arg);
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  return close(TokenKind::RParen, opening);
}

const Expr *Parser::parseCall(Token callee) {
  NestingScope scope(*this);
  if (scope.isTooDeep())
    return nullptr;
  llvm::SmallVector<Argument> args;
  if (!parseArguments(args))
    return nullptr;
  return checkDepth(
      file.create<CallExpr>(llvm::SMRange(callee.getLoc(), previousEnd), callee.text, file.copy<Argument>(args)));
}

const Expr *Parser::parseSubscripts(const Expr *base) {
  NestingScope scope(*this);
  if (scope.isTooDeep())
    return nullptr;
  llvm::SMLoc opening = open();
  llvm::SmallVector<Subscript> items;
  while (!tok.is(TokenKind::RSquare)) {
    Subscript item;
    if (!parseSubscript(item))
      return nullptr;
    items.push_back(item);
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  if (!close(TokenKind::RSquare, opening))
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
