//===- SemaExpr.cpp - Types, shapes and expressions -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Analyzer.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdint>

using namespace atrex;
using namespace atrex::frontend;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::string Analyzer::typeOf(const Value &value) {
  switch (value.kind) {
  case Value::Kind::Poison:
    return "?";
  case Value::Kind::Float:
    return "floating-point constant";
  case Value::Kind::Dim:
    return value.getInteger() ? "integer constant" : "dimension";
  case Value::Kind::Tuple:
    return "(" + llvm::join(llvm::map_range(value.elements, [](const Value &v) { return typeOf(v); }), ", ") + ")";
  case Value::Kind::Memory:
    return getName(value.memory->type).str() + toString(value.memory->shape);
  case Value::Kind::Node:
    break;
  }
  std::string name = getName(value.node->type).str();
  return value.node->isScalar ? name : name + toString(value.node->shape);
}

bool Analyzer::adapt(Value &value, DataType type, StringRef what, llvm::SMLoc loc) {
  if (value.isFloat()) {
    if (!isFloat(type) || isStorageOnly(type)) {
      diags.error(loc) << what << " needs a value of type '" << getName(type) << "', got a floating-point constant";
      return false;
    }
    llvm::APFloat number(value.number);
    bool losesInfo;
    number.convert(getSemantics(type), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    bool overflows = number.isInfinity() && !std::isinf(value.number);
    bool underflows = number.isZero() && value.number != 0;
    if (overflows || underflows) {
      diags.error(value.expr ? value.expr->loc : loc)
          << "constant '" << (value.expr ? printable(value.expr->getText()) : "") << "' "
          << (overflows ? "is too large for" : "is rounded to zero in") << " type '" << getName(type) << "'";
      return false;
    }
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    value = makeValue(makeLiteral(number.convertToDouble(), type, value.expr ? value.expr->loc : loc), value.expr);
    return true;
  }
  std::optional<int64_t> integer = value.getInteger();
  if (isKernel && value.isDim() && !integer && isInteger(type)) {
    // Dimensions are numbers of a kernel.
    Node *node = makeDimNode(value, type, value.expr ? value.expr->loc : loc);
    if (node)
      value = makeValue(node, value.expr);
    return node;
  }
  if (!integer || !isInteger(type)) {
    mlir::InFlightDiagnostic diagnostic = diags.error(loc);
    diagnostic << what << " needs a value of type '" << getName(type) << "', got "
               << (integer ? "an integer constant" : "a dimension");
    if (integer && value.expr && llvm::isa<ast::IntegerExpr>(value.expr) && isFloat(type))
      diagnostic << "; write '" << *integer << ".0'";
    else if (value.expr && type != DataType::I1)
      diagnostic << "; convert it with '" << suggestCast(getName(type), value) << "'";
    return false;
  }
  bool fits = isUnsigned(type) ? *integer >= 0 && llvm::isUIntN(getBits(type), *integer)
                               : getBits(type) == 64 || llvm::isIntN(getBits(type), *integer);
  if (!fits) {
    diags.error(value.expr ? value.expr->loc : loc)
        << "integer '" << *integer << "' does not fit type '" << getName(type) << "'";
    return false;
  }
  value = makeValue(makeLiteral(*integer, type, value.expr ? value.expr->loc : loc), value.expr);
  return true;
}

bool Analyzer::unify(llvm::MutableArrayRef<Value> values, StringRef what, llvm::SMLoc loc) {
  const Value *first = llvm::find_if(values, [](const Value &v) { return v.isNode(); });
  if (first == values.end() && isKernel) {
    // Constants alone become i32 or f32, as in a variable.
    first = llvm::find_if(values, [](const Value &v) { return v.isFloat(); });
    if (!makeTyped(first == values.end() ? values.front() : *const_cast<Value *>(first)))
      return false;
    first = llvm::find_if(values, [](const Value &v) { return v.isNode(); });
  }
  if (first == values.end()) {
    diags.error(loc) << "all operands of " << what << " are constants or dimensions; give one a type, for example '"
                     << suggestCast("f32", values.front()) << "'";
    return false;
  }
  for (Value &value : values) {
    if (!value.isNode()) {
      if (!adapt(value, first->node->type, what, value.expr->loc))
        return false;
      continue;
    }
    if (value.node->type == first->node->type)
      continue;
    // Converting to f32 loses nothing where one operand has it.
    bool convertFirst = value.node->type == DataType::F32 || value.node->type == DataType::F64;
    const Value &converted = convertFirst ? *first : value;
    const Value &kept = convertFirst ? value : *first;
    mlir::InFlightDiagnostic diagnostic = diags.error(loc);
    diagnostic << "operands of " << what << " have different element types '" << getName(first->node->type) << "' and '"
               << getName(value.node->type) << "'; convert one, for example with '"
               << suggestCast(getName(kept.node->type), converted) << "'";
    noteType(diagnostic, *first, "this operand");
    noteType(diagnostic, value, "this operand");
    return false;
  }
  return true;
}

bool Analyzer::requireTyped(const Value &value, StringRef what) {
  if (value.isNode())
    return true;
  diags.error(value.expr->loc) << "the operand of " << what << " is a "
                               << (value.isFloat()      ? "constant"
                                   : value.getInteger() ? "constant"
                                                        : "dimension")
                               << " without a type; write '" << suggestCast("f32", value) << "'";
  return false;
}

/// Whether arithmetic exists in the type of `value`.
bool Analyzer::checkComputes(const Value &value, StringRef what) {
  if (!isStorageOnly(value.node->type))
    return true;
  diags.error(value.expr->loc) << "type '" << getName(value.node->type) << "' does not compute; apply " << what
                               << " to '" << suggestCast("f32", value) << "'";
  return false;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Broadcasts `shape` against the shape of `operand`. `shapeOwner` is the
/// operand that gave `shape`, for messages.
bool Analyzer::broadcast(Shape &shape, const Value *&shapeOwner, const Value &operand, StringRef what,
                         llvm::SMLoc loc) {
  const Shape &other = operand.node->shape;
  if (!shapeOwner || (shape.empty() && !other.empty())) {
    shape = other;
    shapeOwner = &operand;
    return true;
  }
  Shape merged = shape.size() >= other.size() ? shape : other;
  unsigned rank = merged.size();
  for (unsigned fromEnd = 1; fromEnd <= std::min(shape.size(), other.size()); ++fromEnd) {
    const Extent &left = shape[shape.size() - fromEnd], &right = other[other.size() - fromEnd];
    Extent &target = merged[rank - fromEnd];
    if (left == right || right.isOne()) {
      target = left;
    } else if (left.isOne()) {
      target = right;
    } else {
      mlir::InFlightDiagnostic diagnostic = diags.error(loc);
      diagnostic << "shapes '" << toString(shape) << "' and '" << toString(other) << "' of the operands of " << what
                 << " do not broadcast: '" << left.written.str() << "' against '" << right.written.str()
                 << "', counted from the last axis";
      // A row statistic that lost its axis.
      bool isLeftShort = shape.size() < other.size();
      const Shape &shorter = isLeftShort ? shape : other, &longer = isLeftShort ? other : shape;
      if (shorter.size() + 1 == longer.size() &&
          std::equal(shorter.begin(), shorter.end(), longer.begin(), longer.end() - 1)) {
        std::string hint = "[";
        for (unsigned i = 0; i < shorter.size(); ++i)
          hint += ":, ";
        diagnostic << "; did you mean '" << hint << "None]' after the " << (isLeftShort ? "first" : "second") << "?";
      }
      noteType(diagnostic, *shapeOwner, "this operand");
      noteType(diagnostic, operand, "this operand");
      return false;
    }
  }
  if (other.size() > shape.size())
    shapeOwner = &operand;
  shape = std::move(merged);
  return true;
}

Value Analyzer::makeElementwise(Elementwise op, DataType type, llvm::ArrayRef<Value> operands, StringRef what,
                                const ast::Expr *source) {
  Shape shape;
  const Value *owner = nullptr;
  bool isScalar = true;
  for (const Value &operand : operands) {
    if (!broadcast(shape, owner, operand, what, source->loc))
      return {};
    isScalar &= operand.node->isScalar;
  }
  Node *node = makeNode(Node::Compute{op}, type, source->loc);
  node->isScalar = isScalar;
  node->shape = std::move(shape);
  for (const Value &operand : operands)
    node->operands.push_back(operand.node);
  return makeValue(node, source);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

std::vector<StringRef> Analyzer::visibleNames() const {
  std::vector<StringRef> names;
  // A helper does not see the names of its caller.
  if (helperStack.empty())
    for (const Variable &param : result->params)
      names.push_back(param.name);
  llvm::append_range(names, letNames);
  llvm::append_range(names, dimNames);
  if (helperStack.empty())
    for (const Knob &knob : result->knobs)
      names.push_back(knob.name);
  if (options.library)
    llvm::append_range(names, options.library->constNames);
  return names;
}

Value Analyzer::evaluate(const ast::Expr *expr) {
  Value value = evaluateAny(expr);
  if (value.isTuple() && value.elements.empty()) {
    diags.error(expr->loc) << "'" << printable(expr->getText()) << "' gives no value; it stands alone as a statement";
    return {};
  }
  if (value.isTuple()) {
    diags.error(expr->loc) << "one value is needed here, got " << describe(value)
                           << "; take them apart with 'let (a, b) = ...'";
    return {};
  }
  foldTruth(value);
  return isKernel ? finishKernelValue(std::move(value), expr) : value;
}

Value Analyzer::evaluateAny(const ast::Expr *expr) {
  Value value = evaluateExpr(expr);
  if (diags.listener && !value.isPoison())
    diags.listener->onExpression(*expr, typeOf(value));
  return value;
}

Value Analyzer::evaluateExpr(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::Expr::Kind::Error:
    return {};
  case ast::Expr::Kind::Integer:
    return makeDim(DimExpr::constant(llvm::cast<ast::IntegerExpr>(expr)->value), 1, expr);
  case ast::Expr::Kind::Float: {
    Value value;
    value.kind = Value::Kind::Float;
    value.number = llvm::cast<ast::FloatExpr>(expr)->value;
    value.expr = expr;
    return value;
  }
  case ast::Expr::Kind::Name:
    return evaluateName(*llvm::cast<ast::NameExpr>(expr));
  case ast::Expr::Kind::Unary:
    return evaluateUnary(*llvm::cast<ast::UnaryExpr>(expr));
  case ast::Expr::Kind::Binary:
    return evaluateBinary(*llvm::cast<ast::BinaryExpr>(expr));
  case ast::Expr::Kind::Call:
    return evaluateCall(*llvm::cast<ast::CallExpr>(expr));
  case ast::Expr::Kind::Index:
    return evaluateIndex(*llvm::cast<ast::IndexExpr>(expr));
  case ast::Expr::Kind::Tuple:
    diags.error(expr->loc) << "a list of values is allowed only as axes, as a shape and as the values of 'concat'";
    return {};
  case ast::Expr::Kind::Bool:
    return makeValue(makeLiteral(int64_t(llvm::cast<ast::BoolExpr>(expr)->value), DataType::I1, expr->loc), expr);
  case ast::Expr::Kind::Member:
    return evaluateMember(*llvm::cast<ast::MemberExpr>(expr));
  case ast::Expr::Kind::Launch:
    return evaluateLaunch(*llvm::cast<ast::LaunchExpr>(expr));
  case ast::Expr::Kind::String:
    diags.error(expr->loc) << "'" << printable(expr->getText()) << "' is not supported here";
    return {};
  }
  return {};
}

Value Analyzer::evaluateName(const ast::NameExpr &expr) {
  auto symbol = symbols.find(expr.name);
  if (symbol != symbols.end()) {
    symbol->second.isUsed = true;
    Value value = symbol->second.value;
    value.expr = &expr;
    return value;
  }
  if (auto index = resultIndex.find(expr.name); index != resultIndex.end()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    diagnostic << "result '" << expr.name << "' cannot be read; bind its value with 'let' and use that";
    diags.note(diagnostic, result->results[index->second].loc) << "the result is declared here";
    return {};
  }
  if (std::optional<Value> constant = lookupConstant(expr))
    return *constant;
  if (lookupType(expr.name)) {
    diags.error(expr.loc) << "'" << expr.name << "' is an element type; a conversion is written '" << expr.name
                          << "(value)'";
    return {};
  }
  if (llvm::is_contained(getFunctionNames(), expr.name)) {
    diags.error(expr.loc) << "'" << expr.name << "' is a function; call it with '" << expr.name << "(...)'";
    return {};
  }
  diags.error(expr.loc) << "unknown name '" << printable(expr.name) << "'" << didYouMean(expr.name, visibleNames());
  return {};
}

Value Analyzer::evaluateUnary(const ast::UnaryExpr &expr) {
  Value operand = evaluate(expr.operand);
  if (operand.isPoison())
    return {};
  if (expr.op == ast::UnaryOp::Neg) {
    if (operand.isFloat()) {
      operand.number = -operand.number;
      operand.expr = &expr;
      return operand;
    }
    if (operand.isDim())
      return makeDimBinary(DimExpr::Kind::Sub, makeDim(DimExpr::constant(0), 1, &expr), operand, &expr);
    if (!checkComputes(operand, "'-'"))
      return {};
    if (operand.node->type == DataType::I1 || isUnsigned(operand.node->type)) {
      diags.error(expr.loc) << "'-' needs a signed operand, got " << describe(operand);
      return {};
    }
    return makeElementwise(Elementwise::Neg, operand.node->type, operand, "'-'", &expr);
  }
  if (expr.op == ast::UnaryOp::BitNot) {
    if (std::optional<int64_t> integer = operand.getInteger())
      return makeDim(DimExpr::constant(~*integer), 1, &expr);
    if (!operand.isNode() || !isInteger(operand.node->type)) {
      diags.error(expr.loc) << "'~' needs an integer, got " << describe(operand);
      return {};
    }
    return makeElementwise(Elementwise::BitNot, operand.node->type, operand, "'~'", &expr);
  }
  if (!operand.isNode() || operand.node->type != DataType::I1) {
    diags.error(expr.loc) << "'!' needs a truth value of type 'i1', got " << describe(operand);
    return {};
  }
  return makeElementwise(Elementwise::Not, DataType::I1, operand, "'!'", &expr);
}

static std::optional<DimExpr::Kind> getDimKind(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Add:
    return DimExpr::Kind::Add;
  case ast::BinaryOp::Sub:
    return DimExpr::Kind::Sub;
  case ast::BinaryOp::Mul:
    return DimExpr::Kind::Mul;
  case ast::BinaryOp::Div:
    return DimExpr::Kind::FloorDiv;
  case ast::BinaryOp::Mod:
    return DimExpr::Kind::Mod;
  default:
    return std::nullopt;
  }
}

static bool isBitOperation(ast::BinaryOp op) {
  return op == ast::BinaryOp::BitAnd || op == ast::BinaryOp::BitOr || op == ast::BinaryOp::BitXor ||
         op == ast::BinaryOp::ShiftLeft || op == ast::BinaryOp::ShiftRight;
}

/// A bit operation on 64-bit integers, by the rules for values.
static int64_t foldBits(ast::BinaryOp op, int64_t lhs, int64_t rhs) {
  bool isWide = uint64_t(rhs) > 63;
  switch (op) {
  case ast::BinaryOp::BitAnd:
    return lhs & rhs;
  case ast::BinaryOp::BitOr:
    return lhs | rhs;
  case ast::BinaryOp::BitXor:
    return lhs ^ rhs;
  case ast::BinaryOp::ShiftLeft:
    return isWide ? 0 : int64_t(uint64_t(lhs) << rhs);
  default:
    return lhs >> (isWide ? 63 : rhs);
  }
}

static Elementwise getElementwise(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Add:
    return Elementwise::Add;
  case ast::BinaryOp::Sub:
    return Elementwise::Sub;
  case ast::BinaryOp::Mul:
    return Elementwise::Mul;
  case ast::BinaryOp::Div:
    return Elementwise::Div;
  case ast::BinaryOp::Mod:
    return Elementwise::Mod;
  case ast::BinaryOp::Eq:
    return Elementwise::Eq;
  case ast::BinaryOp::Ne:
    return Elementwise::Ne;
  case ast::BinaryOp::Lt:
    return Elementwise::Lt;
  case ast::BinaryOp::Le:
    return Elementwise::Le;
  case ast::BinaryOp::Gt:
    return Elementwise::Gt;
  case ast::BinaryOp::Ge:
    return Elementwise::Ge;
  case ast::BinaryOp::And:
    return Elementwise::And;
  case ast::BinaryOp::Or:
    return Elementwise::Or;
  case ast::BinaryOp::BitAnd:
    return Elementwise::BitAnd;
  case ast::BinaryOp::BitOr:
    return Elementwise::BitOr;
  case ast::BinaryOp::BitXor:
    return Elementwise::BitXor;
  case ast::BinaryOp::ShiftLeft:
    return Elementwise::ShiftLeft;
  case ast::BinaryOp::ShiftRight:
    return Elementwise::ShiftRight;
  }
  return Elementwise::Add;
}

Value Analyzer::evaluateBinary(const ast::BinaryExpr &expr) {
  Value operands[] = {evaluate(expr.lhs), evaluate(expr.rhs)};
  Value &lhs = operands[0], &rhs = operands[1];
  if (lhs.isPoison() || rhs.isPoison())
    return {};
  std::string what = ("'" + ast::getSpelling(expr.op) + "'").str();
  if (isKernel)
    if (std::optional<Value> value = evaluateKernelBinary(expr, lhs, rhs))
      return *value;

  std::optional<DimExpr::Kind> dimKind = getDimKind(expr.op);
  if (lhs.isDim() && rhs.isDim() && dimKind)
    return makeDimBinary(*dimKind, lhs, rhs, &expr);
  if (isBitOperation(expr.op) && lhs.getInteger() && rhs.getInteger())
    return makeDim(DimExpr::constant(foldBits(expr.op, *lhs.getInteger(), *rhs.getInteger())), 1, &expr);
  if (lhs.isFloat() && rhs.isFloat() && dimKind && expr.op != ast::BinaryOp::Mod) {
    Value value = lhs;
    value.expr = &expr;
    double a = lhs.number, b = rhs.number;
    value.number = expr.op == ast::BinaryOp::Add   ? a + b
                   : expr.op == ast::BinaryOp::Sub ? a - b
                   : expr.op == ast::BinaryOp::Mul ? a * b
                                                   : a / b;
    if ((std::isnan(value.number) && !std::isnan(a) && !std::isnan(b)) ||
        (std::isinf(value.number) && !std::isinf(a) && !std::isinf(b))) {
      diags.error(expr.loc) << "constant expression '" << printable(expr.getText()) << "' has no finite value";
      return {};
    }
    return value;
  }
  if (!lhs.isNode() && !rhs.isNode()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    if (ast::isComparison(expr.op) && lhs.isDim() && rhs.isDim())
      diagnostic << "dimensions are compared in the 'where' clause of the operator, not in its body";
    else
      diagnostic << "operands of " << what << " are " << describe(lhs) << " and " << describe(rhs)
                 << "; give them types, for example with '" << suggestCast("f32", lhs.isDim() ? lhs : rhs) << "'";
    return {};
  }
  if (!unify(operands, what, expr.loc))
    return {};

  DataType type = lhs.node->type;
  auto fail = [&](const llvm::Twine &message) -> Value {
    diags.error(expr.loc) << message;
    return {};
  };
  if (expr.op == ast::BinaryOp::And || expr.op == ast::BinaryOp::Or) {
    if (type != DataType::I1)
      return fail(what + " needs truth values of type 'i1', got " + describe(lhs));
    return makeElementwise(getElementwise(expr.op), type, operands, what, &expr);
  }
  if (!checkComputes(lhs, what))
    return {};
  if (ast::isComparison(expr.op)) {
    if (type == DataType::I1 && expr.op != ast::BinaryOp::Eq && expr.op != ast::BinaryOp::Ne)
      return fail("truth values have no order; " + what + " needs numbers");
    return makeElementwise(getElementwise(expr.op), DataType::I1, operands, what, &expr);
  }
  if (isBitOperation(expr.op)) {
    bool isShift = expr.op == ast::BinaryOp::ShiftLeft || expr.op == ast::BinaryOp::ShiftRight;
    if (isFloat(type) || (isShift && type == DataType::I1))
      return fail(what + " needs integers, got " + describe(lhs));
    return makeElementwise(getElementwise(expr.op), type, operands, what, &expr);
  }
  if (type == DataType::I1)
    return fail(what + " needs numbers, got " + describe(lhs) + "; select with 'where(condition, a, b)'");
  if (expr.op == ast::BinaryOp::Mod && isFloat(type))
    return fail("'%' needs integers, got " + describe(lhs));
  return makeElementwise(getElementwise(expr.op), type, operands, what, &expr);
}

/// Evaluates exactly `count` positional arguments.
Value Analyzer::evaluateIndex(const ast::IndexExpr &expr) {
  if (isKernel)
    if (std::optional<Value> value = evaluateKernelIndex(expr))
      return *value;
  Value base = evaluate(expr.base);
  if (base.isPoison())
    return {};
  if (!base.isNode() || base.node->isScalar) {
    diags.error(expr.loc) << "only tensors have axes to select from, got " << describe(base);
    return {};
  }
  const Shape &shape = base.node->shape;
  unsigned count =
      llvm::count_if(expr.items, [](const ast::Subscript &i) { return i.kind != ast::Subscript::Kind::NewAxis; });
  if (count != shape.size()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    diagnostic << "subscript selects from " << count << (count == 1 ? " axis" : " axes") << ", but the tensor has "
               << shape.size() << "; write ':' for an axis kept whole";
    noteType(diagnostic, base, "the tensor");
    return {};
  }
  Node::Subscript subscript;
  Shape newShape;
  bool isIdentity = true;
  unsigned axis = 0;
  for (const ast::Subscript &item : expr.items) {
    SubscriptItem &lowered = subscript.items.emplace_back();
    if (item.kind == ast::Subscript::Kind::NewAxis) {
      lowered.isNewAxis = true;
      isIdentity = false;
      newShape.push_back(*makeExtent(DimExpr::constant(1), item.range.Start));
      continue;
    }
    const Extent &extent = shape[axis++];
    if (item.kind == ast::Subscript::Kind::Element) {
      diags.error(item.range.Start) << "selecting single elements is not supported; keep the axis with a slice 'k : "
                                       "k + 1'";
      return {};
    }
    std::optional<DimExpr> begin = item.begin ? evaluateDim(item.begin, "a slice bound") : DimExpr::constant(0);
    std::optional<DimExpr> end = item.end ? evaluateDim(item.end, "a slice bound") : extent.written;
    if (!begin || !end)
      return {};

    auto check = [&](const DimExpr &low, const DimExpr &high, const ast::Expr *source, StringRef problem) {
      DimExpr lowValue = low.substitute(dims), highValue = high.substitute(dims);
      std::optional<bool> holds = isNonNegative(DimExpr::binary(DimExpr::Kind::Sub, highValue, lowValue));
      if (holds == false) {
        mlir::InFlightDiagnostic diagnostic = diags.error(source->loc);
        diagnostic << "slice '" << begin->str() << ":" << end->str() << "' " << problem << " axis of extent '"
                   << extent.written.str() << "'";
        std::string values = describeDims(
            DimExpr::binary(DimExpr::Kind::Add, DimExpr::binary(DimExpr::Kind::Add, *begin, *end), extent.written));
        if (!values.empty())
          diagnostic << " for " << values;
        noteType(diagnostic, base, "the tensor");
        return false;
      }
      if (!holds)
        require(lowValue, "<=", highValue);
      return true;
    };
    const ast::Expr *beginSource = item.begin ? item.begin : item.end, *endSource = item.end ? item.end : item.begin;
    if (beginSource && (!check(DimExpr::constant(0), *begin, beginSource, "begins before the") ||
                        !check(*end, extent.written, endSource, "ends behind the")))
      return {};
    std::optional<bool> isEmpty =
        isNonNegative(DimExpr::binary(DimExpr::Kind::Sub, begin->substitute(dims), end->substitute(dims)));
    if (isEmpty == true) {
      diags.error(item.range.Start) << "slice '" << begin->str() << ":" << end->str() << "' selects nothing";
      return {};
    }
    DimExpr size = simplify(DimExpr::binary(DimExpr::Kind::Sub, *end, *begin));
    std::optional<Extent> newExtent = item.begin || item.end ? makeExtent(size, item.range.Start) : extent;
    if (!newExtent)
      return {};
    if (extent.isOne() && !newExtent->isOne()) {
      diags.error(item.range.Start) << "an axis of extent '1' has no slice but '0:1'";
      return {};
    }
    lowered.isFull = begin->substitute(dims).getConstant() == 0 && *newExtent == extent;
    lowered.begin = begin->substitute(dims);
    if (isKernel && options.isSelected && !lowered.begin.getConstant()) {
      diags.error(item.range.Start) << "a slice of a tile must begin at a place that is known when the program is "
                                       "compiled, got '"
                                    << lowered.begin.str() << "'";
      return {};
    }
    isIdentity &= lowered.isFull;
    newShape.push_back(lowered.isFull ? extent : *newExtent);
  }
  if (isIdentity) {
    base.expr = &expr;
    return base;
  }
  Node *node = makeNode(std::move(subscript), base.node->type, expr.loc);
  node->shape = std::move(newShape);
  node->operands.push_back(base.node);
  return makeValue(node, &expr);
}
