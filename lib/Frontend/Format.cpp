//===- Format.cpp - Canonical text of the kernel language -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The syntax tree says what a token is (a prefix operator, the parenthesis of a
// call, the beginning of a statement); the text is made from the tokens. Where
// lines are broken depends on the tokens alone and not on how the source was
// laid out, so that the result does not change when it is formatted again.
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Format.h"
#include "atrex/Frontend/Lexer.h"
#include "atrex/Frontend/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace atrex::frontend;
using llvm::StringRef;

namespace {
/// Spaces per block, and before the rest of a broken line.
constexpr unsigned indentWidth = 2, continuationWidth = 4;
/// What begins further right is not aligned to: the rest begins a new line.
constexpr unsigned maxAlignment = 60;

/// What the tree knows about tokens, by their position in the source.
class Roles {
public:
  explicit Roles(const ast::File &file) {
    for (const ast::ConstDecl *decl : file.consts)
      visit(decl->value);
    for (const ast::FnDecl *fn : file.fns) {
      tightParens.insert(fn->loc.getPointer());
      visit(fn->params);
      if (fn->resultType)
        visit(*fn->resultType);
      visit(fn->body);
    }
    for (const ast::OpDecl *op : file.ops) {
      tightParens.insert(op->loc.getPointer());
      visit(op->params);
      visit(op->results);
      visit(op->constraints);
      for (const ast::KnobDecl &knob : op->knobs) {
        names.insert(knob.loc.getPointer());
        visit(knob.values);
        for (const ast::Expr *expr : {knob.begin, knob.end, knob.step, knob.defaultValue})
          visit(expr);
      }
      visit(op->threads);
      visit(op->grid);
      visit(op->body);
    }
  }

  bool isName(const Token &token) const { return names.contains(token.text.data()); }
  bool isPrefix(const Token &token) const { return prefixes.contains(token.text.data()); }
  /// Whether `(` follows the token without a space.
  bool takesTightParen(const Token &token) const { return tightParens.contains(token.text.data()); }
  bool beginsStatement(const Token &token) const { return statements.contains(token.text.data()); }
  bool opensBlock(const Token &token) const { return blockStarts.contains(token.text.data()); }
  bool closesBlock(const Token &token) const { return blockEnds.contains(token.text.data()); }
  /// Whether the comma before the closing bracket makes a list of one value.
  bool closesSingleTuple(const Token &token) const { return singleTuples.contains(token.text.data()); }
  /// Whether the token, a `:` or the bracket before one, belongs to a slice
  /// with a compound bound.
  bool isSpacedColon(const Token &token) const { return spacedColons.contains(token.text.data()); }

private:
  using Set = llvm::DenseSet<const char *>;

  void visit(llvm::ArrayRef<const ast::Expr *> exprs) {
    for (const ast::Expr *expr : exprs)
      visit(expr);
  }
  void visit(llvm::ArrayRef<ast::Argument> args) {
    for (const ast::Argument &arg : args)
      visit(arg.value);
  }
  void visit(const ast::TypeSpec &type) {
    visit(type.extents);
    visit(type.strides);
    visit(type.alignment);
  }
  void visit(llvm::ArrayRef<ast::ValueDecl> decls) {
    for (const ast::ValueDecl &decl : decls) {
      visit(decl.type);
      visit(decl.defaultValue);
    }
  }
  void visit(const ast::Block &block) {
    blockStarts.insert(block.range.Start.getPointer());
    blockEnds.insert(block.range.End.getPointer() - 1);
    for (const ast::Stmt *stmt : block.stmts) {
      statements.insert(stmt->range.Start.getPointer());
      visitStatement(*stmt);
    }
  }
  void visitStatement(const ast::Stmt &stmt) {
    if (auto *bind = llvm::dyn_cast<ast::BindStmt>(&stmt)) {
      if (bind->type)
        visit(*bind->type);
      visit(bind->value);
    } else if (auto *assign = llvm::dyn_cast<ast::AssignStmt>(&stmt)) {
      visit(assign->value);
    } else if (auto *loop = llvm::dyn_cast<ast::ForStmt>(&stmt)) {
      for (const ast::Expr *expr : {loop->begin, loop->end, loop->step})
        visit(expr);
      visit(loop->body);
    } else if (auto *loop = llvm::dyn_cast<ast::WhileStmt>(&stmt)) {
      visit(loop->condition);
      visit(loop->body);
    } else if (auto *branch = llvm::dyn_cast<ast::IfStmt>(&stmt)) {
      visit(branch->condition);
      visit(branch->thenBlock);
      if (branch->elseBlock) {
        // `else if` continues a line.
        if (*branch->elseBlock->range.Start.getPointer() == '{')
          visit(*branch->elseBlock);
        else
          visitStatement(*branch->elseBlock->stmts.front());
      }
    } else if (auto *value = llvm::dyn_cast<ast::ExprStmt>(&stmt)) {
      visit(value->value);
    } else if (auto *ret = llvm::dyn_cast<ast::ReturnStmt>(&stmt)) {
      visit(ret->values);
    }
  }
  /// The recursion is bounded by the parser's limit on depth.
  void visit(const ast::Expr *expr) {
    if (!expr)
      return;
    switch (expr->kind) {
    case ast::Expr::Kind::Unary: {
      auto *unary = llvm::cast<ast::UnaryExpr>(expr);
      prefixes.insert(unary->loc.getPointer());
      return visit(unary->operand);
    }
    case ast::Expr::Kind::Name:
      names.insert(expr->loc.getPointer());
      return;
    case ast::Expr::Kind::Binary:
      visit(llvm::cast<ast::BinaryExpr>(expr)->lhs);
      return visit(llvm::cast<ast::BinaryExpr>(expr)->rhs);
    case ast::Expr::Kind::Call:
      names.insert(expr->loc.getPointer());
      tightParens.insert(expr->loc.getPointer());
      return visit(llvm::cast<ast::CallExpr>(expr)->args);
    case ast::Expr::Kind::Launch:
      tightParens.insert(expr->loc.getPointer());
      visit(llvm::cast<ast::LaunchExpr>(expr)->args);
      return visit(llvm::cast<ast::LaunchExpr>(expr)->count);
    case ast::Expr::Kind::Member:
      return visit(llvm::cast<ast::MemberExpr>(expr)->base);
    case ast::Expr::Kind::Index: {
      auto *index = llvm::cast<ast::IndexExpr>(expr);
      visit(index->base);
      for (const ast::Subscript &item : index->items) {
        visit(item.begin);
        visit(item.end);
        if (item.kind != ast::Subscript::Kind::Slice)
          continue;
        auto isCompound = [](const ast::Expr *bound) { return bound && llvm::isa<ast::BinaryExpr>(bound); };
        if (isCompound(item.begin) || isCompound(item.end))
          spacedSlices.push_back(item);
      }
      return;
    }
    case ast::Expr::Kind::Tuple: {
      auto *tuple = llvm::cast<ast::TupleExpr>(expr);
      if (tuple->elements.size() == 1)
        singleTuples.insert(tuple->range.End.getPointer() - 1);
      return visit(tuple->elements);
    }
    default:
      return;
    }
  }

  Set names, prefixes, tightParens, statements, blockStarts, blockEnds, singleTuples, spacedColons;

public:
  std::vector<ast::Subscript> spacedSlices;
  void addSpacedColon(const Token &token) { spacedColons.insert(token.text.data()); }
};

/// A token with what precedes it in the line.
struct Item {
  Token token;
  bool hasSpace = false;
  /// A line must end before the item.
  bool isForced = false;
  /// Whether a line may end before the item, and how good a place that is: the
  /// lower the better, depth of brackets first.
  bool canBreak = false;
  unsigned depth = 0, level = 0;
};

/// What a line consists of before it is broken.
struct Line {
  std::vector<Item> items;
  unsigned indent = 0;
  /// Column of continuations outside of brackets.
  unsigned continuation = 0;
  bool hasBlankBefore = false;
};

bool isOpening(TokenKind kind) {
  return kind == TokenKind::LParen || kind == TokenKind::LSquare || kind == TokenKind::LBrace;
}
bool isClosing(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RSquare || kind == TokenKind::RBrace;
}

/// How weak a binary operator binds, from 1; 0 for other tokens.
unsigned getLooseness(TokenKind kind) {
  switch (kind) {
  case TokenKind::OrOr:
    return 1;
  case TokenKind::AndAnd:
    return 2;
  case TokenKind::Equal:
  case TokenKind::NotEqual:
  case TokenKind::Less:
  case TokenKind::LessEqual:
  case TokenKind::Greater:
  case TokenKind::GreaterEqual:
    return 3;
  case TokenKind::Pipe:
    return 4;
  case TokenKind::Caret:
    return 5;
  case TokenKind::Ampersand:
    return 6;
  case TokenKind::ShiftLeft:
  case TokenKind::ShiftRight:
    return 7;
  case TokenKind::Plus:
  case TokenKind::Minus:
    return 8;
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
    return 9;
  default:
    return 0;
  }
}

/// Characters before the first line break.
unsigned getFirstWidth(StringRef text) {
  return text.take_until([](char c) { return c == '\n'; }).size();
}

class Formatter {
public:
  Formatter(StringRef source, std::vector<Token> tokens, const ast::File &file)
      : source(source), tokens(std::move(tokens)), roles(file) {
    findColons();
    findClauses(file);
    dropTrailingCommas();
    chooseHeaders();
  }

  std::string run();

private:
  /// The operator or kernel whose header has clauses: indices of its first
  /// token, of the clauses, and of the `{`.
  struct Header {
    size_t first, end;
    std::vector<const char *> clauses;
  };

  void findColons();
  void findClauses(const ast::File &file);
  void dropTrailingCommas();
  void chooseHeaders();
  bool needsSpace(const Token &before, const Token &token) const;
  /// Fills in where the items of a line may be separated.
  void prepare(Line &line) const;
  /// The broken line, without a line break at its end.
  std::string print(Line &line) const;
  /// Width of a line that is not broken; nothing when it must be.
  std::optional<unsigned> measure(const Line &line) const;
  bool hasBlankBefore(const Token &token) const;
  bool beginsLine(const Token &token) const {
    bool isDefinition = blockDepth == 0 && token.kind >= TokenKind::KwOp && token.kind <= TokenKind::KwConst;
    return roles.beginsStatement(token) || isDefinition || clauseLines.contains(token.text.data());
  }
  static bool isFullDefinition(const Token &token) {
    return token.is(TokenKind::KwOp) || token.is(TokenKind::KwKernel) || token.is(TokenKind::KwFn);
  }
  void add(Line &line, const Token &token) const {
    Item item;
    item.token = token;
    const Item *last = line.items.empty() ? nullptr : &line.items.back();
    item.isForced = last && (last->token.is(TokenKind::Comment) || (token.is(TokenKind::Comment) && token.startsLine));
    item.hasSpace = last && needsSpace(last->token, token);
    line.items.push_back(item);
  }
  unsigned getIndent(const Token &token) const {
    auto clause = clauseLines.find(token.text.data());
    if (clause != clauseLines.end())
      return token.is(TokenKind::LBrace) ? 0 : indentWidth;
    return blockDepth * indentWidth;
  }
  void flush();
  void startLine(const Token &token, bool isBlank) {
    flush();
    current.indent = getIndent(token);
    bool isClause = clauseLines.contains(token.text.data());
    current.continuation = current.indent + (isClause ? token.text.size() + 1 : continuationWidth);
    current.hasBlankBefore = isBlank && !atStart;
    atStart = false;
  }
  void printComment(const Token &comment, unsigned indent, bool isBlank) {
    if (isBlank && !atStart)
      out += '\n';
    atStart = false;
    out.append(indent, ' ');
    out += comment.text.str() + "\n";
  }

  StringRef source;
  std::vector<Token> tokens;
  Roles roles;
  llvm::DenseSet<const char *> sliceColons;
  std::vector<Header> headers;
  llvm::DenseSet<const char *> clauseWords;
  /// Clauses, and the `{` of a body, that begin a line.
  llvm::DenseSet<const char *> clauseLines;

  std::string out;
  Line current;
  /// The comment at the end of the current line.
  std::optional<Token> trailing;
  unsigned blockDepth = 0;
  /// Nothing has been printed in the current block.
  bool atStart = true;
};

/// The colon of a slice has no position of its own in the tree: it is the one
/// outside of brackets between the ends of the item.
void Formatter::findColons() {
  llvm::DenseMap<const char *, size_t> index;
  llvm::SmallVector<TokenKind> brackets;
  for (size_t i = 0; i < tokens.size(); ++i) {
    index[tokens[i].text.data()] = i;
    if (isOpening(tokens[i].kind))
      brackets.push_back(tokens[i].kind);
    else if (isClosing(tokens[i].kind) && !brackets.empty())
      brackets.pop_back();
    else if (tokens[i].is(TokenKind::Colon) && !brackets.empty() && brackets.back() == TokenKind::LSquare)
      sliceColons.insert(tokens[i].text.data());
  }
  for (const ast::Subscript &item : roles.spacedSlices) {
    unsigned depth = 0;
    for (size_t i = index.lookup(item.range.Start.getPointer());
         i < tokens.size() && tokens[i].text.data() < item.range.End.getPointer(); ++i) {
      if (isOpening(tokens[i].kind))
        ++depth;
      else if (isClosing(tokens[i].kind))
        --depth;
      else if (!depth && tokens[i].is(TokenKind::Colon))
        roles.addSpacedColon(tokens[i]);
    }
  }
}

/// Clauses have no position in the tree either: they begin with the words of a
/// header that are no names.
void Formatter::findClauses(const ast::File &file) {
  llvm::DenseMap<const char *, const ast::OpDecl *> bodies;
  for (const ast::OpDecl *op : file.ops)
    bodies[op->body.range.Start.getPointer()] = op;
  Header header{};
  unsigned depth = 0;
  bool inHeader = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    if (token.is(TokenKind::KwOp) || token.is(TokenKind::KwKernel)) {
      header = {i, 0, {}};
      depth = 0;
      inHeader = true;
    } else if (inHeader && bodies.contains(token.text.data())) {
      header.end = i;
      headers.push_back(header);
      inHeader = false;
    } else if (inHeader && isOpening(token.kind)) {
      ++depth;
    } else if (inHeader && isClosing(token.kind)) {
      --depth;
    } else if (inHeader && depth == 0 && token.is(TokenKind::Identifier) && !roles.isName(token) &&
               llvm::is_contained({"where", "knobs", "threads", "grid"}, token.text)) {
      header.clauses.push_back(token.text.data());
      clauseWords.insert(token.text.data());
    }
  }
}

void Formatter::dropTrailingCommas() {
  std::vector<Token> kept;
  std::vector<size_t> positions(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    positions[i] = kept.size();
    if (tokens[i].is(TokenKind::Comma)) {
      size_t next = i + 1;
      while (tokens[next].is(TokenKind::Comment))
        ++next;
      if ((isClosing(tokens[next].kind) && !roles.closesSingleTuple(tokens[next])) || roles.opensBlock(tokens[next]) ||
          clauseWords.contains(tokens[next].text.data()))
        continue;
    }
    kept.push_back(tokens[i]);
  }
  for (Header &header : headers) {
    header.first = positions[header.first];
    header.end = positions[header.end];
  }
  tokens = std::move(kept);
}

/// A header with one clause that fits stands in one line; else every clause and
/// the `{` begin a line.
void Formatter::chooseHeaders() {
  for (const Header &header : headers) {
    if (header.clauses.empty())
      continue;
    Line line;
    for (size_t i = header.first; i <= header.end; ++i)
      add(line, tokens[i]);
    std::optional<unsigned> width = measure(line);
    if (header.clauses.size() == 1 && width && *width <= maxLineWidth)
      continue;
    clauseLines.insert(header.clauses.begin(), header.clauses.end());
    clauseLines.insert(tokens[header.end].text.data());
  }
}

bool Formatter::needsSpace(const Token &before, const Token &token) const {
  if (before.is(TokenKind::LParen) || before.is(TokenKind::LSquare) || before.is(TokenKind::Dot) ||
      before.is(TokenKind::DotDot) || roles.isPrefix(before) ||
      (before.is(TokenKind::LBrace) && !roles.opensBlock(before)))
    return false;
  switch (token.kind) {
  case TokenKind::Comma:
  case TokenKind::RParen:
  case TokenKind::RSquare:
  case TokenKind::RBrace:
  case TokenKind::LSquare:
  case TokenKind::Dot:
  case TokenKind::DotDot:
    return false;
  case TokenKind::Colon:
    return before.is(TokenKind::Comma) || roles.isSpacedColon(token);
  case TokenKind::LParen:
    return !roles.takesTightParen(before) && !(before.is(TokenKind::Identifier) && before.text == "range");
  default:
    return !sliceColons.contains(before.text.data()) || roles.isSpacedColon(before);
  }
}

std::optional<unsigned> Formatter::measure(const Line &line) const {
  unsigned width = line.indent;
  for (const Item &item : line.items) {
    if (item.isForced || item.token.is(TokenKind::Comment) || item.token.text.contains('\n'))
      return std::nullopt;
    width += item.hasSpace + item.token.text.size();
  }
  return width;
}

void Formatter::prepare(Line &line) const {
  unsigned depth = 0;
  for (size_t i = 0; i < line.items.size(); ++i) {
    Item &item = line.items[i];
    const Token &token = item.token;
    if (isClosing(token.kind) && depth)
      --depth;
    if (i > 0 && !isClosing(token.kind) && !token.is(TokenKind::Comma) && !token.is(TokenKind::Comment)) {
      const Token &before = line.items[i - 1].token;
      auto allow = [&](unsigned atDepth, unsigned level) {
        item.canBreak = true;
        item.depth = atDepth;
        item.level = level;
      };
      unsigned looseness = roles.isPrefix(before) ? 0 : getLooseness(before.kind);
      if (before.is(TokenKind::Comma) || (depth == 0 && token.is(TokenKind::Arrow)))
        allow(depth, 0);
      else if (looseness)
        allow(depth, looseness);
      else if (roles.isSpacedColon(before))
        allow(depth, 10);
      else if (depth == 0 && (before.is(TokenKind::Assign) || before.is(TokenKind::PlusAssign) ||
                              before.is(TokenKind::MinusAssign) || before.is(TokenKind::StarAssign)))
        allow(1, 50);
      else if (isOpening(before.kind) && !roles.opensBlock(before))
        allow(depth, 100);
    }
    if (isOpening(token.kind) && !roles.opensBlock(token))
      ++depth;
  }
}

/// Width of the items from `begin` up to where the line may end again.
static unsigned getUnbrokenWidth(llvm::ArrayRef<Item> items, size_t begin, unsigned indent) {
  unsigned width = 0;
  for (size_t i = begin; i < items.size(); ++i) {
    const Item &item = items[i];
    if (i > begin && (item.isForced || item.token.is(TokenKind::Comment) ||
                      (item.canBreak && (item.level != 100 || indent + width > maxAlignment))))
      break;
    width += (i > begin && item.hasSpace) + getFirstWidth(item.token.text);
    if (item.token.text.contains('\n'))
      break;
  }
  return width;
}

std::string Formatter::print(Line &line) const {
  prepare(line);
  std::vector<Item> &items = line.items;
  constexpr size_t none = ~size_t(0);
  // Per opening bracket: the column behind it, the indentation of its line, and
  // whether its contents begin a line.
  struct Bracket {
    unsigned column = 0, indent = 0;
    bool isHanging = false;
  };
  std::vector<Bracket> brackets(items.size());
  std::vector<size_t> parents(items.size(), none);
  llvm::SmallVector<size_t> open;
  for (size_t i = 0; i < items.size(); ++i) {
    if (isClosing(items[i].token.kind) && !open.empty())
      open.pop_back();
    parents[i] = open.empty() ? none : open.back();
    if (isOpening(items[i].token.kind) && !roles.opensBlock(items[i].token))
      open.push_back(i);
  }

  std::string text;
  for (size_t i = 0; i < items.size();) {
    unsigned indent = line.indent;
    if (i > 0) {
      text += '\n';
      indent = line.continuation;
      if (parents[i] != none) {
        Bracket &bracket = brackets[parents[i]];
        bracket.isHanging |= parents[i] + 1 == i;
        bool isAligned = !bracket.isHanging && bracket.column <= maxAlignment;
        unsigned hanging = std::min(bracket.indent + continuationWidth, maxAlignment);
        indent = isAligned ? bracket.column : hanging;
        // What cannot be broken moves to the left until it fits.
        if (unsigned width = getUnbrokenWidth(items, i, indent); indent + width > maxLineWidth)
          indent = hanging + width <= maxLineWidth ? std::min(indent, hanging)
                                                   : maxLineWidth - std::min(width, maxLineWidth);
      }
    }
    unsigned column = indent;
    size_t best = none, end = i;
    for (; end < items.size(); ++end) {
      const Item &item = items[end];
      if (end > i) {
        if (item.isForced)
          break;
        bool isHanging = item.level == 100;
        if (item.canBreak && (!isHanging || column > maxAlignment) &&
            (best == none || std::pair(item.depth, item.level) <= std::pair(items[best].depth, items[best].level)))
          best = end;
        // A comment that does not fit has the next line for itself.
        if (item.token.is(TokenKind::Comment) && column + 2 + item.token.text.size() > maxLineWidth) {
          items[end].token.startsLine = true;
          break;
        }
      }
      unsigned width = (end > i && item.hasSpace) + getFirstWidth(item.token.text);
      if (column + width > maxLineWidth && best != none && !item.token.is(TokenKind::Comment)) {
        end = best;
        break;
      }
      size_t lastBreak = item.token.text.rfind('\n');
      column = lastBreak == StringRef::npos ? column + width : item.token.text.size() - lastBreak - 1;
      brackets[end].column = column;
      brackets[end].indent = indent;
    }
    text.append(indent, ' ');
    for (size_t k = i; k < end; ++k) {
      if (k > i)
        text += items[k].token.is(TokenKind::Comment) ? "  " : items[k].hasSpace ? " " : "";
      text += items[k].token.text.str();
    }
    i = end;
  }
  return text;
}

bool Formatter::hasBlankBefore(const Token &token) const {
  unsigned breaks = 0;
  for (const char *c = token.text.data(); c != source.begin() && llvm::is_contained(" \t\r\n", c[-1]); --c)
    breaks += c[-1] == '\n';
  return breaks > 1;
}

void Formatter::flush() {
  if (current.items.empty())
    return;
  std::string text = print(current);
  if (current.hasBlankBefore)
    out += '\n';
  if (trailing) {
    size_t lastBreak = text.rfind('\n');
    size_t width = text.size() - (lastBreak == std::string::npos ? 0 : lastBreak + 1);
    if (width + 2 + trailing->text.size() <= maxLineWidth) {
      text += "  " + trailing->text.str();
    } else if (bool opens = roles.opensBlock(current.items.back().token);
               opens || llvm::any_of(current.items, [](const Item &i) { return i.token.is(TokenKind::Comment); })) {
      // Into the block that the line opens. Comments stay in order: with one
      // inside of the line, below it.
      text += "\n" + std::string(current.indent + (opens ? indentWidth : 0), ' ') + trailing->text.str();
    } else {
      // Above the line there is more room. What closes a block has its comment
      // in the block.
      unsigned indent = current.indent + (roles.closesBlock(current.items.front().token) ? indentWidth : 0);
      text = std::string(indent, ' ') + trailing->text.str() + "\n" + text;
    }
  }
  out += text + "\n";
  current = {};
  trailing.reset();
}

std::string Formatter::run() {
  /// Comments that wait for the `{` they stand in front of.
  std::vector<Token> deferred;
  enum class Last { None, Simple, Full } last = Last::None;
  const Token *before = nullptr; // the last token that is no comment
  auto endsLine = [&](const Token &next) {
    if (!before || next.is(TokenKind::Eof) || roles.opensBlock(*before) || roles.closesBlock(next))
      return true;
    if (roles.closesBlock(*before))
      return !next.is(TokenKind::KwElse);
    return beginsLine(next);
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    if (token.is(TokenKind::Comment)) {
      size_t n = i + 1;
      while (tokens[n].is(TokenKind::Comment))
        ++n;
      const Token &next = tokens[n];
      if (!endsLine(next)) {
        bool waits = roles.opensBlock(next);
        if (next.is(TokenKind::KwElse)) {
          // Comments stay in order: behind the ones of the condition there is no place.
          size_t brace = n;
          while (!roles.opensBlock(tokens[brace]) && !tokens[brace].is(TokenKind::Comment) &&
                 !tokens[brace].is(TokenKind::Eof))
            ++brace;
          waits = roles.opensBlock(tokens[brace]);
        }
        if (waits)
          deferred.push_back(token);
        else
          add(current, token);
        continue;
      }
      if (!token.startsLine && !trailing && !current.items.empty()) {
        trailing = token;
        continue;
      }
      flush();
      // All comments up to the next token that is none.
      bool isTopLevel = blockDepth == 0 && !clauseLines.contains(next.text.data());
      std::vector<bool> blanks;
      for (size_t k = i; k < n; ++k)
        blanks.push_back(hasBlankBefore(tokens[k]));
      // Between definitions there is a blank line, above or below the comments.
      bool isSeparated = llvm::is_contained(blanks, true) || hasBlankBefore(next) || next.is(TokenKind::Eof);
      if (isTopLevel && !isSeparated && (last == Last::Full || (last == Last::Simple && isFullDefinition(next))))
        blanks.front() = true;
      bool inHeader = clauseLines.contains(next.text.data());
      for (size_t k = i; k < n; ++k)
        printComment(tokens[k], getIndent(next), blanks[k - i] && !inHeader);
      if (isTopLevel && last == Last::Full)
        last = Last::Simple;
      i = n - 1;
      continue;
    }
    if (token.is(TokenKind::Eof))
      break;

    bool isEmptyBlock = before && roles.closesBlock(token) && tokens[i - 1].text.data() == before->text.data() &&
                        roles.opensBlock(*before) && !current.items.empty();
    bool isNewLine = endsLine(token) && !isEmptyBlock;
    if (roles.closesBlock(token))
      --blockDepth;
    if (isNewLine) {
      bool isTopLevel = blockDepth == 0 && token.kind >= TokenKind::KwOp && token.kind <= TokenKind::KwConst;
      bool isBlank = hasBlankBefore(token) && !roles.closesBlock(token) && !clauseLines.contains(token.text.data());
      // A comment right above belongs to the definition.
      bool followsComment = i > 0 && tokens[i - 1].is(TokenKind::Comment) && tokens[i - 1].startsLine;
      if (isTopLevel && !followsComment && (last == Last::Full || (last == Last::Simple && isFullDefinition(token))))
        isBlank = true;
      startLine(token, isBlank);
      if (isTopLevel)
        last = isFullDefinition(token) ? Last::Full : Last::Simple;
    }
    add(current, token);
    if (roles.opensBlock(token)) {
      ++blockDepth;
      if (!deferred.empty()) {
        flush();
        for (const Token &comment : deferred)
          printComment(comment, blockDepth * indentWidth, false);
        deferred.clear();
      } else {
        atStart = true;
      }
    } else if (roles.closesBlock(token)) {
      atStart = false;
    }
    before = &token;
  }
  flush();
  return std::move(out);
}

std::vector<Token> lexAll(StringRef source, Diagnostics &diags) {
  Lexer lexer(source, diags, /*keepsComments=*/true);
  std::vector<Token> tokens;
  do
    tokens.push_back(lexer.lex());
  while (!tokens.back().is(TokenKind::Eof));
  return tokens;
}

/// Whether both are the same program with the same comments.
bool isSame(llvm::ArrayRef<Token> before, llvm::ArrayRef<Token> after) {
  auto split = [](llvm::ArrayRef<Token> tokens, bool wantsComments) {
    std::vector<StringRef> texts;
    for (const auto &[i, token] : llvm::enumerate(tokens))
      if (token.is(TokenKind::Comment) == wantsComments && !token.is(TokenKind::Comma))
        texts.push_back(token.text);
    return texts;
  };
  return split(before, false) == split(after, false) && split(before, true) == split(after, true);
}
} // namespace

std::optional<std::string> atrex::frontend::formatSource(StringRef source, Diagnostics &diags) {
  unsigned errorsBefore = diags.getNumErrors();
  std::unique_ptr<ast::File> file = parse(source, diags);
  // At the limit the parser stops without another error.
  if (diags.getNumErrors() != errorsBefore || diags.reachedLimit())
    return std::nullopt;
  auto refuse = [&]() -> std::optional<std::string> {
    diags.error({}) << "formatting would change the program; the source is left as it is";
    return std::nullopt;
  };
  const std::vector<Token> tokens = lexAll(source, diags);
  std::string text = Formatter(source, tokens, *file).run();
  // A comment that finds no room beside a token gets a line for itself, which may
  // leave the rest of the line room that it did not have; so the result is what
  // formatting does not change any more. Comments leave lines and never return:
  // there are at most as many rounds as comments, and nearly always one.
  size_t maxRounds = llvm::count_if(tokens, [](const Token &token) { return token.is(TokenKind::Comment); }) + 2;
  for (size_t round = 0; round < maxRounds; ++round) {
    std::vector<Token> again = lexAll(text, diags);
    if (!isSame(tokens, again))
      return refuse();
    file = parse(text, diags);
    if (diags.getNumErrors() != errorsBefore)
      return refuse();
    std::string next = Formatter(text, std::move(again), *file).run();
    if (next == text)
      return text;
    text = std::move(next);
  }
  return refuse();
}
