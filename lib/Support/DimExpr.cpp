//===- DimExpr.cpp - Integer expressions over named dimensions ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Support/DimExpr.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace atrex;

namespace {
llvm::Error makeError(const std::string &message) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), "%s", message.c_str());
}

constexpr int64_t minValue = std::numeric_limits<int64_t>::min();

bool isCommutativeKind(DimExpr::Kind kind) { return kind == DimExpr::Kind::Add || kind == DimExpr::Kind::Mul; }

/// Text of an infix operator; cdiv is written as a call.
const char *getOperator(DimExpr::Kind kind) {
  switch (kind) {
  case DimExpr::Kind::Add:
    return " + ";
  case DimExpr::Kind::Sub:
    return " - ";
  case DimExpr::Kind::Mul:
    return " * ";
  case DimExpr::Kind::FloorDiv:
    return " / ";
  case DimExpr::Kind::Mod:
    return " % ";
  case DimExpr::Kind::CeilDiv:
  case DimExpr::Kind::Constant:
  case DimExpr::Kind::Dim:
    break;
  }
  return "";
}

/// Binding strength: sums 1, products 2, everything else 3.
unsigned getPrecedence(DimExpr::Kind kind) {
  switch (kind) {
  case DimExpr::Kind::Add:
  case DimExpr::Kind::Sub:
    return 1;
  case DimExpr::Kind::Mul:
  case DimExpr::Kind::FloorDiv:
  case DimExpr::Kind::Mod:
    return 2;
  case DimExpr::Kind::Constant:
  case DimExpr::Kind::Dim:
  case DimExpr::Kind::CeilDiv:
    return 3;
  }
  return 3;
}

/// What went wrong in `apply`.
enum class ApplyStatus { Ok, Overflow, DivisionByZero };

ApplyStatus apply(DimExpr::Kind kind, int64_t lhs, int64_t rhs, int64_t &result) {
  switch (kind) {
  case DimExpr::Kind::Add:
    return llvm::AddOverflow(lhs, rhs, result) ? ApplyStatus::Overflow : ApplyStatus::Ok;
  case DimExpr::Kind::Sub:
    return llvm::SubOverflow(lhs, rhs, result) ? ApplyStatus::Overflow : ApplyStatus::Ok;
  case DimExpr::Kind::Mul:
    return llvm::MulOverflow(lhs, rhs, result) ? ApplyStatus::Overflow : ApplyStatus::Ok;
  case DimExpr::Kind::FloorDiv:
  case DimExpr::Kind::CeilDiv:
  case DimExpr::Kind::Mod: {
    if (rhs == 0)
      return ApplyStatus::DivisionByZero;
    if (rhs == -1) {
      // The quotient of the smallest value does not exist; the remainder is 0.
      if (kind == DimExpr::Kind::Mod) {
        result = 0;
        return ApplyStatus::Ok;
      }
      if (lhs == minValue)
        return ApplyStatus::Overflow;
      result = -lhs;
      return ApplyStatus::Ok;
    }
    int64_t quotient = lhs / rhs, remainder = lhs % rhs;
    bool sameSign = (remainder < 0) == (rhs < 0);
    if (kind == DimExpr::Kind::Mod)
      result = remainder != 0 && !sameSign ? remainder + rhs : remainder;
    else if (kind == DimExpr::Kind::FloorDiv)
      result = remainder != 0 && !sameSign ? quotient - 1 : quotient;
    else
      result = remainder != 0 && sameSign ? quotient + 1 : quotient;
    return ApplyStatus::Ok;
  }
  case DimExpr::Kind::Constant:
  case DimExpr::Kind::Dim:
    break;
  }
  result = 0;
  return ApplyStatus::Ok;
}
} // namespace

DimExpr DimExpr::constant(int64_t value) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::Constant;
  node->value = value;
  return DimExpr(std::move(node));
}

DimExpr DimExpr::dim(llvm::StringRef name) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::Dim;
  node->name = name.str();
  return DimExpr(std::move(node));
}

DimExpr DimExpr::binary(Kind kind, DimExpr lhs, DimExpr rhs) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->lhs = std::move(lhs.node);
  node->rhs = std::move(rhs.node);
  return DimExpr(std::move(node));
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string DimExpr::str() const {
  switch (getKind()) {
  case Kind::Constant:
    return std::to_string(getValue());
  case Kind::Dim:
    return getDim().str();
  case Kind::CeilDiv:
    return "cdiv(" + getLhs().str() + ", " + getRhs().str() + ")";
  default:
    break;
  }
  unsigned precedence = getPrecedence(getKind());
  DimExpr lhs = getLhs(), rhs = getRhs();
  // A negative literal on the left of a product needs no parentheses; on the
  // right of any operator it would read as two operators.
  auto isNegative = [](const DimExpr &e) { return e.getKind() == Kind::Constant && e.getValue() < 0; };
  std::string left = lhs.str(), right = rhs.str();
  if (getPrecedence(lhs.getKind()) < precedence)
    left = "(" + left + ")";
  // Operators group to the left, so an operand of equal strength on the right
  // keeps its parentheses.
  if (getPrecedence(rhs.getKind()) <= precedence || isNegative(rhs))
    right = "(" + right + ")";
  return left + getOperator(getKind()) + right;
}

namespace {
/// Recursive descent over `expr := term {(+|-) term}`,
/// `term := unary {(*|/|%) unary}`, `unary := [-] primary`,
/// `primary := integer | name | cdiv(expr, expr) | (expr)`.
class Parser {
public:
  explicit Parser(llvm::StringRef text) : text(text) {}

  llvm::Expected<DimExpr> parse() {
    llvm::Expected<DimExpr> result = parseSum();
    if (!result)
      return result;
    skipSpace();
    if (position != text.size())
      return fail("expected an operator or the end of the expression");
    return result;
  }

private:
  llvm::Error fail(const char *expected) {
    std::string found = position < text.size() ? fmt::format("'{}'", text[position]) : std::string("the end");
    return makeError(
        fmt::format("in expression '{}': column {}: {}, found {}", text.str(), position + 1, expected, found));
  }

  void skipSpace() {
    while (position < text.size() && llvm::isSpace(text[position]))
      ++position;
  }

  bool consume(char c) {
    skipSpace();
    if (position >= text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  llvm::Expected<DimExpr> parseSum() {
    llvm::Expected<DimExpr> lhs = parseProduct();
    if (!lhs)
      return lhs;
    while (true) {
      DimExpr::Kind kind;
      if (consume('+'))
        kind = DimExpr::Kind::Add;
      else if (consume('-'))
        kind = DimExpr::Kind::Sub;
      else
        return lhs;
      llvm::Expected<DimExpr> rhs = parseProduct();
      if (!rhs)
        return rhs;
      if (llvm::Error error = countNode())
        return std::move(error);
      lhs = DimExpr::binary(kind, *lhs, *rhs);
    }
  }

  llvm::Expected<DimExpr> parseProduct() {
    llvm::Expected<DimExpr> lhs = parseUnary();
    if (!lhs)
      return lhs;
    while (true) {
      DimExpr::Kind kind;
      if (consume('*'))
        kind = DimExpr::Kind::Mul;
      else if (consume('/'))
        kind = DimExpr::Kind::FloorDiv;
      else if (consume('%'))
        kind = DimExpr::Kind::Mod;
      else
        return lhs;
      llvm::Expected<DimExpr> rhs = parseUnary();
      if (!rhs)
        return rhs;
      if (llvm::Error error = countNode())
        return std::move(error);
      lhs = DimExpr::binary(kind, *lhs, *rhs);
    }
  }

  llvm::Expected<DimExpr> parseUnary() {
    skipSpace();
    if (position < text.size() && text[position] == '-') {
      ++position;
      skipSpace();
      if (position < text.size() && llvm::isDigit(text[position]))
        return parseInteger(/*isNegative=*/true);
      llvm::Expected<DimExpr> operand = parsePrimary();
      if (!operand)
        return operand;
      if (llvm::Error error = countNode())
        return std::move(error);
      return DimExpr::binary(DimExpr::Kind::Sub, DimExpr::constant(0), *operand);
    }
    return parsePrimary();
  }

  llvm::Expected<DimExpr> parseInteger(bool isNegative) {
    size_t start = position;
    while (position < text.size() && llvm::isDigit(text[position]))
      ++position;
    std::string digits = (isNegative ? "-" : "") + text.slice(start, position).str();
    int64_t value;
    if (llvm::StringRef(digits).getAsInteger(10, value)) {
      position = start;
      return fail("expected an integer of at most 64 bits");
    }
    return DimExpr::constant(value);
  }

  llvm::Expected<DimExpr> parsePrimary() {
    skipSpace();
    if (position >= text.size())
      return fail("expected a dimension, an integer or '('");
    char c = text[position];
    if (llvm::isDigit(c))
      return parseInteger(/*isNegative=*/false);
    if (c == '(') {
      ++position;
      return parseNested(')');
    }
    if (!llvm::isAlpha(c) && c != '_')
      return fail("expected a dimension, an integer or '('");
    size_t start = position;
    while (position < text.size() && (llvm::isAlnum(text[position]) || text[position] == '_'))
      ++position;
    llvm::StringRef name = text.slice(start, position);
    if (name != "cdiv")
      return DimExpr::dim(name);
    if (!consume('('))
      return fail("expected '(' after cdiv");
    llvm::Expected<DimExpr> lhs = parseNested(',');
    if (!lhs)
      return lhs;
    llvm::Expected<DimExpr> rhs = parseNested(')');
    if (!rhs)
      return rhs;
    return DimExpr::binary(DimExpr::Kind::CeilDiv, *lhs, *rhs);
  }

  /// An expression followed by `close`. The depth bound keeps hostile text from
  /// exhausting the stack.
  llvm::Expected<DimExpr> parseNested(char close) {
    if (++depth > 200)
      return fail("expected at most 200 levels of nesting");
    llvm::Expected<DimExpr> inner = parseSum();
    --depth;
    if (!inner)
      return inner;
    if (!consume(close))
      return fail(close == ')' ? "expected ')'" : "expected ','");
    return inner;
  }

  /// Long chains nest as deeply as they are long when they are walked.
  llvm::Error countNode() {
    if (++nodes > 2000)
      return fail("expected at most 2000 operators");
    return llvm::Error::success();
  }

  llvm::StringRef text;
  size_t position = 0;
  unsigned depth = 0;
  unsigned nodes = 0;
};
} // namespace

llvm::Expected<DimExpr> DimExpr::parse(llvm::StringRef text) { return Parser(text).parse(); }

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

llvm::Expected<int64_t> DimExpr::evaluate(const DimMap &dims) const {
  if (getKind() == Kind::Constant)
    return getValue();
  if (getKind() == Kind::Dim) {
    auto found = dims.find(getDim());
    if (found == dims.end())
      return makeError(fmt::format("dimension '{}' has no value", getDim().str()));
    return found->second;
  }
  llvm::Expected<int64_t> lhs = getLhs().evaluate(dims);
  if (!lhs)
    return lhs;
  llvm::Expected<int64_t> rhs = getRhs().evaluate(dims);
  if (!rhs)
    return rhs;
  int64_t result = 0;
  switch (apply(getKind(), *lhs, *rhs, result)) {
  case ApplyStatus::Ok:
    return result;
  case ApplyStatus::Overflow:
    return makeError(
        fmt::format("'{}' overflows 64 bits: the operands are {} and {}", str(), int64_t(*lhs), int64_t(*rhs)));
  case ApplyStatus::DivisionByZero:
    return makeError(fmt::format("'{}' divides {} by zero", str(), int64_t(*lhs)));
  }
  return result;
}

std::optional<int64_t> DimExpr::getConstant() const {
  if (getKind() == Kind::Constant)
    return getValue();
  if (getKind() == Kind::Dim)
    return std::nullopt;
  std::optional<int64_t> lhs = getLhs().getConstant(), rhs = getRhs().getConstant();
  int64_t result = 0;
  if (!lhs || !rhs || apply(getKind(), *lhs, *rhs, result) != ApplyStatus::Ok)
    return std::nullopt;
  return result;
}

DimExpr DimExpr::substitute(const DimMap &dims) const {
  if (getKind() == Kind::Constant)
    return *this;
  if (getKind() == Kind::Dim) {
    auto found = dims.find(getDim());
    return found == dims.end() ? *this : constant(found->second);
  }
  DimExpr lhs = getLhs().substitute(dims), rhs = getRhs().substitute(dims);
  Kind kind = getKind();
  // Fold what became constant and drop neutral operands; a fold that would
  // overflow or divide by zero stays, so that evaluate reports it.
  int64_t result = 0;
  bool lhsIsConstant = lhs.getKind() == Kind::Constant, rhsIsConstant = rhs.getKind() == Kind::Constant;
  if (lhsIsConstant && rhsIsConstant && apply(kind, lhs.getValue(), rhs.getValue(), result) == ApplyStatus::Ok)
    return constant(result);
  int64_t neutral = kind == Kind::Add || kind == Kind::Sub ? 0 : 1;
  if (kind != Kind::Mod && rhsIsConstant && rhs.getValue() == neutral)
    return lhs;
  if (isCommutativeKind(kind) && lhsIsConstant && lhs.getValue() == neutral)
    return rhs;
  return binary(kind, lhs, rhs);
}

void DimExpr::collectDims(std::set<std::string> &names) const {
  if (getKind() == Kind::Dim) {
    names.insert(getDim().str());
    return;
  }
  if (getKind() == Kind::Constant)
    return;
  getLhs().collectDims(names);
  getRhs().collectDims(names);
}

DimExpr DimExpr::bind(const std::map<std::string, DimExpr> &dims) const {
  if (getKind() == Kind::Constant)
    return *this;
  if (getKind() == Kind::Dim) {
    auto found = dims.find(getDim().str());
    return found == dims.end() ? *this : found->second;
  }
  return binary(getKind(), getLhs().bind(dims), getRhs().bind(dims)).substitute({});
}

llvm::Expected<DimComparison> DimComparison::parse(llvm::StringRef text) {
  for (llvm::StringRef op : {"==", "!=", "<=", ">=", "<", ">"}) {
    auto [lhsText, rhsText] = text.split(op);
    if (rhsText.empty())
      continue;
    llvm::Expected<DimExpr> lhs = DimExpr::parse(lhsText.trim()), rhs = DimExpr::parse(rhsText.trim());
    if (!lhs || !rhs)
      return llvm::joinErrors(lhs ? llvm::Error::success() : lhs.takeError(),
                              rhs ? llvm::Error::success() : rhs.takeError());
    return DimComparison{*lhs, *rhs, op.str()};
  }
  return makeError(fmt::format("'{}' is not a comparison", text.str()));
}

llvm::Expected<bool> DimComparison::evaluate(const DimMap &dims) const {
  llvm::Expected<int64_t> left = lhs.evaluate(dims), right = rhs.evaluate(dims);
  if (!left || !right)
    return llvm::joinErrors(left ? llvm::Error::success() : left.takeError(),
                            right ? llvm::Error::success() : right.takeError());
  if (op == "==")
    return *left == *right;
  if (op == "!=")
    return *left != *right;
  if (op == "<")
    return *left < *right;
  if (op == "<=")
    return *left <= *right;
  if (op == ">")
    return *left > *right;
  return *left >= *right;
}

std::string DimComparison::describeDims(const DimMap &dims) const {
  std::set<std::string> names;
  lhs.collectDims(names);
  rhs.collectDims(names);
  std::string text;
  for (const std::string &name : names)
    if (auto value = dims.find(name); value != dims.end())
      text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value->second);
  return text;
}
