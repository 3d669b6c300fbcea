//===- Sema.cpp - Names, types and shapes ---------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Sema.h"
#include "atrex/Frontend/DimAlgebra.h"
#include "atrex/Frontend/Lexer.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdint>
#include <set>

using namespace atrex;
using namespace atrex::frontend;
using llvm::StringRef;

std::string atrex::frontend::toString(llvm::ArrayRef<Extent> shape) {
  std::string text = "[";
  llvm::interleave(shape, [&](const Extent &extent) { text += extent.written.str(); }, [&] { text += ", "; });
  return text + "]";
}

namespace {
/// Operators a dimension expression may have; longer ones come from chains of
/// `let` that double.
constexpr unsigned maxDimExprSize = 500;

/// Functions from one floating-point value to another.
std::optional<Elementwise> getUnaryFunction(StringRef name) {
  return llvm::StringSwitch<std::optional<Elementwise>>(name)
      .Case("abs", Elementwise::Abs)
      .Case("exp", Elementwise::Exp)
      .Case("exp2", Elementwise::Exp2)
      .Case("log", Elementwise::Log)
      .Case("log2", Elementwise::Log2)
      .Case("sqrt", Elementwise::Sqrt)
      .Case("rsqrt", Elementwise::Rsqrt)
      .Case("recip", Elementwise::Recip)
      .Case("sigmoid", Elementwise::Sigmoid)
      .Case("silu", Elementwise::Silu)
      .Case("tanh", Elementwise::Tanh)
      .Case("floor", Elementwise::Floor)
      .Case("ceil", Elementwise::Ceil)
      .Default(std::nullopt);
}

std::optional<Reduction> getReduction(StringRef name) {
  return llvm::StringSwitch<std::optional<Reduction>>(name)
      .Case("sum", Reduction::Sum)
      .Case("mean", Reduction::Mean)
      .Case("max", Reduction::Max)
      .Case("min", Reduction::Min)
      .Default(std::nullopt);
}

constexpr StringRef functionNames[] = {"abs",     "cdiv", "ceil", "exp",  "exp2", "floor", "fma",
                                       "log",     "log2", "max",  "mean", "min",  "recip", "rsqrt",
                                       "sigmoid", "silu", "sqrt", "sum",  "tanh", "where"};

constexpr StringRef typeNames[] = {"i1",  "i8",  "i16", "i32",      "i64",        "u8",     "u32",       "bf16",
                                   "f16", "f32", "f64", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"};

/// An element type by its name in the language.
std::optional<DataType> lookupType(StringRef name) {
  std::optional<DataType> type = parseDataType(name);
  return type && getName(*type) == name ? type : std::nullopt;
}

bool isInteger(DataType type) { return !isFloat(type) && type != DataType::I1; }
bool isUnsigned(DataType type) { return type == DataType::U8 || type == DataType::U32; }
unsigned getBits(DataType type) { return type == DataType::I1 ? 1 : 8 * getSizeInBytes(type); }
/// 8-bit floats hold values but do not compute.
bool isStorageOnly(DataType type) { return isFloat(type) && getSizeInBytes(type) == 1; }

const llvm::fltSemantics &getSemantics(DataType type) {
  switch (type) {
  case DataType::BF16:
    return llvm::APFloat::BFloat();
  case DataType::F16:
    return llvm::APFloat::IEEEhalf();
  case DataType::F64:
    return llvm::APFloat::IEEEdouble();
  default:
    return llvm::APFloat::IEEEsingle();
  }
}

/// What an expression denotes.
struct Value {
  enum class Kind : uint8_t {
    /// Already reported; everything made of it is silent.
    Poison,
    /// A floating-point constant without a type of its own.
    Float,
    /// An integer constant or an expression over dimensions.
    Dim,
    Node,
  };
  Kind kind = Kind::Poison;
  double number = 0;
  DimExpr dim;
  unsigned dimSize = 0;
  Node *node = nullptr;
  /// The expression, for messages.
  const ast::Expr *expr = nullptr;

  bool isPoison() const { return kind == Kind::Poison; }
  bool isFloat() const { return kind == Kind::Float; }
  bool isDim() const { return kind == Kind::Dim; }
  bool isNode() const { return kind == Kind::Node; }
  /// An integer without a dimension in it.
  std::optional<int64_t> getInteger() const { return isDim() ? dim.getConstant() : std::nullopt; }
};

/// A name of the program.
struct Symbol {
  enum class Kind : uint8_t { Param, Let, Dim };
  Kind kind;
  llvm::SMLoc loc;
  Value value;
  bool isUsed = false;
};

class Analyzer {
public:
  Analyzer(const ast::OpDecl &decl, const DimMap &dims, Diagnostics &diags) : decl(decl), dims(dims), diags(diags) {}

  std::unique_ptr<Operator> run();

private:
  //===--- Declarations ---------------------------------------------------===//

  void declareDims();
  void collectDims(const ast::Expr *expr);
  void declare(const ast::ValueDecl &value, bool isResult);
  void checkDefault(const ast::ValueDecl &value, Variable &variable);
  void checkConstraint(const ast::Expr *expr);
  void checkRuntimeDims();
  void checkStmt(const ast::Stmt &stmt);
  void checkLet(const ast::Stmt &stmt, const Value &value);
  void checkAssign(const ast::Stmt &stmt, const Value &value);
  void checkResultsAssigned();
  void warnUnused();

  //===--- Dimension expressions ------------------------------------------===//

  std::optional<Extent> makeExtent(const DimExpr &expr, llvm::SMLoc loc);
  Value makeDim(DimExpr expr, unsigned size, const ast::Expr *source);
  Value makeDimBinary(DimExpr::Kind kind, const Value &lhs, const Value &rhs, const ast::Expr *source);
  /// Evaluates an expression that must be an integer or over dimensions.
  std::optional<DimExpr> evaluateDim(const ast::Expr *expr, StringRef what);
  void require(const DimExpr &lhs, StringRef op, const DimExpr &rhs);
  std::string describeDims(const DimExpr &expr) const;

  //===--- Expressions ----------------------------------------------------===//

  Value evaluate(const ast::Expr *expr);
  Value evaluateName(const ast::NameExpr &expr);
  Value evaluateUnary(const ast::UnaryExpr &expr);
  Value evaluateBinary(const ast::BinaryExpr &expr);
  Value evaluateCall(const ast::CallExpr &expr);
  Value evaluateCast(const ast::CallExpr &expr, DataType type);
  Value evaluateReduction(const ast::CallExpr &expr, Reduction reduction);
  Value evaluateIndex(const ast::IndexExpr &expr);
  bool evaluateAxes(const ast::Argument &arg, unsigned rank, llvm::SmallVectorImpl<unsigned> &axes);
  bool evaluateArgs(const ast::CallExpr &expr, unsigned count, llvm::SmallVectorImpl<Value> &values);

  /// Gives constants among `values` the type of the others and checks that all
  /// types agree. False after an error.
  bool unify(llvm::MutableArrayRef<Value> values, StringRef what, llvm::SMLoc loc);
  /// Makes a constant a node of `type`.
  bool adapt(Value &value, DataType type, StringRef what, llvm::SMLoc loc);
  bool requireTyped(const Value &value, StringRef what);
  bool checkComputes(const Value &value, StringRef what);
  Value makeElementwise(Elementwise op, DataType type, llvm::ArrayRef<Value> operands, StringRef what,
                        const ast::Expr *source);
  bool broadcast(Shape &shape, const Value *&shapeOwner, const Value &operand, StringRef what, llvm::SMLoc loc);

  Node *makeNode(decltype(Node::op) op, DataType type, llvm::SMLoc loc) {
    auto node = std::make_unique<Node>();
    node->op = std::move(op);
    node->type = type;
    node->loc = loc;
    result->nodes.push_back(std::move(node));
    return result->nodes.back().get();
  }
  static Value makeValue(Node *node, const ast::Expr *source) {
    Value value;
    value.kind = Value::Kind::Node;
    value.node = node;
    value.expr = source;
    return value;
  }
  Node *makeLiteral(decltype(Node::Literal::value) literal, DataType type, llvm::SMLoc loc) {
    Node *node = makeNode(Node::Literal{literal}, type, loc);
    node->isScalar = true;
    return node;
  }

  //===--- Messages -------------------------------------------------------===//

  static std::string typeOf(const Value &value);
  /// `a dimension`, `a scalar of type 'f32'`.
  static std::string describe(const Value &value) {
    if (!value.isNode())
      return (value.getInteger() ? "an " : "a ") + typeOf(value);
    return (value.node->isScalar ? "a scalar of type '" : "a tensor of type '") + typeOf(value) + "'";
  }
  static std::string typeOf(const Variable &variable) {
    return getName(variable.type).str() + (variable.isScalar ? "" : toString(variable.shape));
  }
  void noteType(mlir::InFlightDiagnostic &diagnostic, const Value &value, StringRef which) {
    diags.note(diagnostic, value.expr->loc) << which << " has type '" << typeOf(value) << "'";
  }
  /// `f32(x)` with the text of an expression, or with dots when it is long.
  static std::string suggestCast(StringRef type, const Value &value) {
    StringRef text = value.expr->getText();
    bool isShort = text.size() <= 24 && !text.contains('\n');
    if (isShort && text.starts_with("(") && text.ends_with(")"))
      return (type + text).str();
    return (type + "(" + (isShort ? text : "...") + ")").str();
  }
  std::vector<StringRef> visibleNames() const;

  const ast::OpDecl &decl;
  const DimMap &dims;
  Diagnostics &diags;
  std::unique_ptr<Operator> result;
  llvm::StringMap<Symbol> symbols;
  /// Names of `let`s in order, for warnings.
  std::vector<StringRef> letNames;
  std::vector<StringRef> dimNames;
  llvm::StringMap<unsigned> resultIndex;
  /// Results whose declaration or value has an error.
  llvm::SmallVector<bool> resultIsPoison;
};
} // namespace

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Visits the names in a dimension expression. The recursion is bounded by the
/// parser's limit on depth.
static void visitNames(const ast::Expr *expr, llvm::function_ref<void(const ast::NameExpr &)> visit) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(expr)) {
    visit(*name);
  } else if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(expr)) {
    visitNames(unary->operand, visit);
  } else if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr)) {
    visitNames(binary->lhs, visit);
    visitNames(binary->rhs, visit);
  } else if (auto *call = llvm::dyn_cast<ast::CallExpr>(expr)) {
    for (const ast::Argument &arg : call->args)
      visitNames(arg.value, visit);
  }
}

std::vector<StringRef> atrex::frontend::collectDimNames(const ast::OpDecl &decl) {
  std::vector<StringRef> names;
  for (llvm::ArrayRef<ast::ValueDecl> list : {decl.params, decl.results})
    for (const ast::ValueDecl &value : list)
      for (const ast::Expr *extent : value.type.extents)
        visitNames(extent, [&](const ast::NameExpr &name) {
          if (!llvm::is_contained(names, name.name))
            names.push_back(name.name);
        });
  return names;
}

void Analyzer::declareDims() {
  auto visit = [&](const ast::NameExpr &name) {
    auto [entry, isNew] = symbols.try_emplace(name.name, Symbol{Symbol::Kind::Dim, name.loc, {}, true});
    if (!isNew)
      return;
    if (isReservedWord(name.name)) {
      diags.error(name.loc) << "'" << name.name << "' is reserved and cannot name a dimension";
      return;
    }
    entry->second.value.kind = Value::Kind::Dim;
    entry->second.value.dim = DimExpr::dim(name.name);
    entry->second.value.dimSize = 1;
    dimNames.push_back(name.name);
    if (!dims.count(name.name))
      result->runtimeDims.push_back(name.name.str());
  };
  for (llvm::ArrayRef<ast::ValueDecl> list : {decl.params, decl.results})
    for (const ast::ValueDecl &value : list)
      for (const ast::Expr *extent : value.type.extents)
        visitNames(extent, visit);
}

/// `H = 1020, K = 8`: the values of the dimensions in `expr`.
std::string Analyzer::describeDims(const DimExpr &expr) const {
  std::set<std::string> names;
  expr.collectDims(names);
  std::string text;
  for (const std::string &name : names) {
    auto value = dims.find(name);
    if (value == dims.end())
      continue;
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value->second);
  }
  return text;
}

Value Analyzer::makeDim(DimExpr expr, unsigned size, const ast::Expr *source) {
  Value value;
  value.expr = source;
  if (size > maxDimExprSize) {
    diags.error(source->loc) << "dimension expression has more than " << maxDimExprSize << " operators";
    return value;
  }
  value.kind = Value::Kind::Dim;
  value.dim = std::move(expr);
  value.dimSize = size;
  return value;
}

Value Analyzer::makeDimBinary(DimExpr::Kind kind, const Value &lhs, const Value &rhs, const ast::Expr *source) {
  Value value = makeDim(DimExpr::binary(kind, lhs.dim, rhs.dim), lhs.dimSize + rhs.dimSize + 1, source);
  if (value.isPoison())
    return value;
  // Report here what is wrong whatever the dimensions are.
  std::set<std::string> names;
  DimExpr substituted = value.dim.substitute(dims);
  substituted.collectDims(names);
  bool isZeroDivisor = rhs.getInteger() == 0 && kind >= DimExpr::Kind::FloorDiv;
  if (!names.empty() && !isZeroDivisor)
    return value;
  if (isZeroDivisor) {
    diags.error(source->loc) << "division by zero in '" << value.dim.str() << "'";
    return {};
  }
  llvm::Expected<int64_t> number = substituted.evaluate({});
  if (!number) {
    std::string values = describeDims(value.dim);
    diags.error(source->loc) << llvm::toString(number.takeError()) << (values.empty() ? "" : " for ") << values;
    return {};
  }
  // Keep literal arithmetic small.
  if (std::optional<int64_t> constant = value.dim.getConstant()) {
    value.dim = DimExpr::constant(*constant);
    value.dimSize = 1;
  }
  return value;
}

std::optional<Extent> Analyzer::makeExtent(const DimExpr &expr, llvm::SMLoc loc) {
  Extent extent;
  extent.written = expr;
  extent.value = expr.substitute(dims);
  DimExpr written = simplify(expr), value = simplify(extent.value);
  extent.writtenKey = written.str();
  extent.valueKey = value.str();
  extent.constant = value.getConstant();
  std::optional<bool> isPositive =
      isNonNegative(DimExpr::binary(DimExpr::Kind::Sub, extent.value, DimExpr::constant(1)));
  if (isPositive == false) {
    std::string values = describeDims(expr);
    mlir::InFlightDiagnostic diagnostic = diags.error(loc);
    diagnostic << "extent '" << expr.str() << "' ";
    if (std::optional<int64_t> constant = value.getConstant(); constant && expr.getKind() != DimExpr::Kind::Constant)
      diagnostic << "is " << *constant << (values.empty() ? "" : " for ") << values << "; it must be positive";
    else
      diagnostic << "is not positive";
    return std::nullopt;
  }
  if (!isPositive)
    require(extent.value, ">=", DimExpr::constant(1));
  return extent;
}

/// Adds a condition that a launch must check, unless it is there already.
void Analyzer::require(const DimExpr &lhs, StringRef op, const DimExpr &rhs) {
  std::string text = lhs.str() + " " + op.str() + " " + rhs.str();
  if (!llvm::is_contained(result->constraints, text))
    result->constraints.push_back(std::move(text));
}

std::optional<DimExpr> Analyzer::evaluateDim(const ast::Expr *expr, StringRef what) {
  Value value = evaluate(expr);
  if (value.isPoison())
    return std::nullopt;
  if (value.isDim())
    return value.dim;
  mlir::InFlightDiagnostic diagnostic = diags.error(expr->loc);
  diagnostic << what << " must be an integer expression over dimensions, got " << describe(value);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Analyzer::declare(const ast::ValueDecl &value, bool isResult) {
  Variable variable;
  variable.name = value.name.str();
  variable.loc = value.loc;
  variable.isScalar = !value.type.isTensor;
  bool isPoison = false;

  if (auto type = lookupType(value.type.element)) {
    variable.type = *type;
  } else {
    diags.error(value.type.range.Start) << "unknown element type '" << printable(value.type.element) << "'"
                                        << didYouMean(value.type.element, typeNames);
    isPoison = true;
  }
  for (const ast::Expr *expr : value.type.extents) {
    std::optional<DimExpr> dim = evaluateDim(expr, "an extent");
    std::optional<Extent> extent = dim ? makeExtent(*dim, expr->loc) : std::nullopt;
    if (extent)
      variable.shape.push_back(std::move(*extent));
    else
      isPoison = true;
  }

  if (isResult) {
    if (variable.isScalar && !isPoison) {
      diags.error(value.type.range.Start)
          << "result '" << value.name << "' must be a tensor; a single value has type '" << value.type.element << "[]'";
      isPoison = true;
    }
    if (value.defaultValue) {
      diags.error(value.defaultValue->loc) << "result '" << value.name << "' cannot have a default value";
      isPoison = true;
    }
    auto [entry, isNew] = resultIndex.try_emplace(value.name, result->results.size());
    if (!isNew) {
      mlir::InFlightDiagnostic diagnostic = diags.error(value.loc);
      diagnostic << "result '" << value.name << "' is declared twice";
      diags.note(diagnostic, result->results[entry->second].loc) << "the other declaration is here";
      return;
    }
    auto symbol = symbols.find(value.name);
    if (symbol != symbols.end() && symbol->second.kind == Symbol::Kind::Dim) {
      mlir::InFlightDiagnostic diagnostic = diags.error(value.loc);
      diagnostic << "result '" << value.name << "' has the name of a dimension";
      diags.note(diagnostic, symbol->second.loc) << "the dimension is used here";
    }
    result->results.push_back(std::move(variable));
    result->values.push_back(nullptr);
    result->valueLocs.emplace_back();
    resultIsPoison.push_back(isPoison);
    return;
  }

  if (variable.isScalar && !isPoison && variable.type != DataType::F32 && variable.type != DataType::I32 &&
      variable.type != DataType::I64) {
    diags.error(value.type.range.Start) << "scalar parameter '" << value.name << "' has type '" << value.type.element
                                        << "'; scalars are 'f32', 'i32' or 'i64'";
    isPoison = true;
  }
  if (value.defaultValue && !isPoison)
    checkDefault(value, variable);

  auto [entry, isNew] = symbols.try_emplace(value.name, Symbol{Symbol::Kind::Param, value.loc, {}, true});
  if (!isNew) {
    bool isDim = entry->second.kind == Symbol::Kind::Dim;
    mlir::InFlightDiagnostic diagnostic = diags.error(value.loc);
    diagnostic << "parameter '" << value.name << "' " << (isDim ? "has the name of a dimension" : "is declared twice");
    diags.note(diagnostic, entry->second.loc)
        << (isDim ? "the dimension is used here" : "the other declaration is here");
    return;
  }
  if (!isPoison) {
    Node *node = makeNode(Node::Param{unsigned(result->params.size())}, variable.type, value.loc);
    node->isScalar = variable.isScalar;
    node->shape = variable.shape;
    entry->second.value = makeValue(node, nullptr);
  }
  result->params.push_back(std::move(variable));
}

void Analyzer::checkDefault(const ast::ValueDecl &value, Variable &variable) {
  if (!variable.isScalar) {
    diags.error(value.defaultValue->loc) << "tensor parameter '" << value.name << "' cannot have a default value";
    return;
  }
  Value number = evaluate(value.defaultValue);
  if (number.isPoison())
    return;
  bool isConstant = number.isFloat() || number.getInteger();
  if (!isConstant) {
    diags.error(value.defaultValue->loc) << "the default value of '" << value.name << "' must be a constant";
    return;
  }
  std::string what = "the default value of '" + variable.name + "'";
  if (!adapt(number, variable.type, what, value.defaultValue->loc))
    return;
  variable.defaultValue = std::get<Node::Literal>(number.node->op).value;
}

static bool compare(ast::BinaryOp op, int64_t lhs, int64_t rhs) {
  switch (op) {
  case ast::BinaryOp::Eq:
    return lhs == rhs;
  case ast::BinaryOp::Ne:
    return lhs != rhs;
  case ast::BinaryOp::Lt:
    return lhs < rhs;
  case ast::BinaryOp::Le:
    return lhs <= rhs;
  case ast::BinaryOp::Gt:
    return lhs > rhs;
  default:
    return lhs >= rhs;
  }
}

void Analyzer::checkConstraint(const ast::Expr *expr) {
  auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr);
  if (binary && binary->op == ast::BinaryOp::And) {
    checkConstraint(binary->lhs);
    checkConstraint(binary->rhs);
    return;
  }
  if (!binary || !ast::isComparison(binary->op)) {
    diags.error(expr->loc) << "a constraint must be a comparison of dimension expressions, such as 'H % 8 == 0'";
    return;
  }
  std::optional<DimExpr> lhs = evaluateDim(binary->lhs, "the left side of a constraint");
  std::optional<DimExpr> rhs = evaluateDim(binary->rhs, "the right side of a constraint");
  if (!lhs || !rhs)
    return;
  StringRef op = ast::getSpelling(binary->op);
  DimExpr left = lhs->substitute(dims), right = rhs->substitute(dims);
  std::optional<int64_t> leftValue = left.getConstant(), rightValue = right.getConstant();
  if (!leftValue || !rightValue) {
    require(left, op, right);
    return;
  }
  if (compare(binary->op, *leftValue, *rightValue))
    return;
  std::string values = describeDims(DimExpr::binary(DimExpr::Kind::Add, *lhs, *rhs));
  mlir::InFlightDiagnostic diagnostic = diags.error(binary->loc);
  diagnostic << "constraint '" << printable(binary->getText()) << "' does not hold";
  if (!values.empty())
    diagnostic << " for " << values;
  // Say the value of a side that is more than a name or a number.
  for (auto [side, value] : {std::pair(*lhs, *leftValue), std::pair(*rhs, *rightValue)})
    if (side.getKind() != DimExpr::Kind::Constant && side.getKind() != DimExpr::Kind::Dim)
      diagnostic << ": '" << side.str() << "' is " << value;
}

/// The kernel takes each dimension from the shape of a tensor.
void Analyzer::checkRuntimeDims() {
  for (StringRef name : dimNames) {
    if (dims.count(name))
      continue;
    auto standsAlone = [&](const Variable &variable) {
      return llvm::any_of(variable.shape, [&](const Extent &extent) { return extent.valueKey == name; });
    };
    if (!llvm::any_of(result->params, standsAlone) && !llvm::any_of(result->results, standsAlone))
      diags.error(symbols.find(name)->second.loc)
          << "run-time dimension '" << name
          << "' is never an extent by itself, so it cannot be known from the tensors; "
          << "give it a value with '--dim " << name << "=...'";
    require(DimExpr::dim(name), ">=", DimExpr::constant(1));
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Analyzer::checkStmt(const ast::Stmt &stmt) {
  Value value = evaluate(stmt.value);
  if (stmt.kind == ast::Stmt::Kind::Let)
    checkLet(stmt, value);
  else
    checkAssign(stmt, value);
}

void Analyzer::checkLet(const ast::Stmt &stmt, const Value &value) {
  auto existing = symbols.find(stmt.name);
  if (existing != symbols.end()) {
    Symbol &symbol = existing->second;
    StringRef what = symbol.kind == Symbol::Kind::Param ? "a parameter"
                     : symbol.kind == Symbol::Kind::Dim ? "a dimension"
                                                        : "another value";
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "'" << stmt.name << "' is the name of " << what << " already; choose another";
    diags.note(diagnostic, symbol.loc) << "'" << stmt.name << "' is introduced here";
    // Which of the two a later use means is unclear.
    symbol.value = {};
    symbol.isUsed = true;
    return;
  }
  if (auto index = resultIndex.find(stmt.name); index != resultIndex.end()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "'" << stmt.name << "' is a result; assign it without 'let'";
    diags.note(diagnostic, result->results[index->second].loc) << "the result is declared here";
    resultIsPoison[index->second] = true;
    return;
  }
  symbols.try_emplace(stmt.name, Symbol{Symbol::Kind::Let, stmt.loc, value, value.isPoison()});
  letNames.push_back(stmt.name);
}

void Analyzer::checkAssign(const ast::Stmt &stmt, const Value &value) {
  auto index = resultIndex.find(stmt.name);
  if (index == resultIndex.end()) {
    auto symbol = symbols.find(stmt.name);
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    if (symbol == symbols.end()) {
      std::vector<StringRef> names;
      for (const Variable &variable : result->results)
        names.push_back(variable.name);
      std::string hint = didYouMean(stmt.name, names);
      diagnostic << "there is no result '" << printable(stmt.name) << "'" << hint;
      if (hint.empty())
        diagnostic << "; a new value is introduced with 'let'";
      // The intended result is taken as assigned.
      if (auto similar = resultIndex.find(findSimilar(stmt.name, names)); similar != resultIndex.end())
        resultIsPoison[similar->second] = true;
      return;
    }
    switch (symbol->second.kind) {
    case Symbol::Kind::Param:
      diagnostic << "parameter '" << stmt.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Dim:
      diagnostic << "dimension '" << stmt.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Let:
      diagnostic << "'" << stmt.name << "' has a value already; 'let' values do not change";
      symbol->second.isUsed = true;
      break;
    }
    diags.note(diagnostic, symbol->second.loc) << "'" << stmt.name << "' is introduced here";
    return;
  }

  unsigned i = index->second;
  const Variable &variable = result->results[i];
  if (result->valueLocs[i].isValid()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "result '" << stmt.name << "' is assigned twice";
    diags.note(diagnostic, result->valueLocs[i]) << "the other assignment is here";
    return;
  }
  result->valueLocs[i] = stmt.loc;
  if (value.isPoison() || resultIsPoison[i]) {
    resultIsPoison[i] = true;
    return;
  }
  resultIsPoison[i] = true;

  Value typed = value;
  if (!typed.isNode() && !adapt(typed, variable.type, "result '" + variable.name + "'", stmt.value->loc))
    return;
  Node *node = typed.node;
  if (node->type != variable.type) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "result '" << stmt.name << "' has element type '" << getName(variable.type) << "', the value has '"
               << getName(node->type) << "'; convert it with '" << suggestCast(getName(variable.type), value) << "'";
    diags.note(diagnostic, variable.loc) << "the result is declared here as '" << typeOf(variable) << "'";
    noteType(diagnostic, value, "the value");
    return;
  }
  // A single value fills the whole result.
  if (!node->shape.empty() && node->shape != variable.shape) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "result '" << stmt.name << "' has shape '" << toString(variable.shape) << "', the value has '"
               << toString(node->shape) << "'";
    diags.note(diagnostic, variable.loc) << "the result is declared here as '" << typeOf(variable) << "'";
    noteType(diagnostic, value, "the value");
    return;
  }
  resultIsPoison[i] = false;
  result->values[i] = node;
}

void Analyzer::checkResultsAssigned() {
  // A statement that could not be read may be the missing one.
  if (decl.hasErrors)
    return;
  for (auto [variable, loc, isPoison] : llvm::zip(result->results, result->valueLocs, resultIsPoison))
    if (!loc.isValid() && !isPoison)
      diags.error(variable.loc) << "result '" << variable.name << "' is never assigned";
}

void Analyzer::warnUnused() {
  for (StringRef name : letNames) {
    const Symbol &symbol = symbols.find(name)->second;
    if (!symbol.isUsed && !name.starts_with("_"))
      diags.warning(symbol.loc) << "'" << name << "' is never used";
  }
}

std::unique_ptr<Operator> Analyzer::run() {
  unsigned errorsBefore = diags.getNumErrors();
  result = std::make_unique<Operator>();
  result->name = decl.name.str();
  result->loc = decl.loc;
  declareDims();
  for (const ast::ValueDecl &param : decl.params)
    declare(param, /*isResult=*/false);
  for (const ast::ValueDecl &value : decl.results)
    declare(value, /*isResult=*/true);
  if (decl.results.empty())
    diags.error(decl.loc) << "operator '" << decl.name << "' has no result";
  // Names must be known and shapes right before the body can be judged.
  bool signatureIsFine = diags.getNumErrors() == errorsBefore;
  if (signatureIsFine) {
    checkRuntimeDims();
    for (const ast::Expr *constraint : decl.constraints)
      checkConstraint(constraint);
  }
  for (const ast::Stmt &stmt : decl.body) {
    if (diags.reachedLimit())
      return nullptr;
    checkStmt(stmt);
  }
  checkResultsAssigned();
  if (!decl.hasErrors)
    warnUnused();
  if (diags.getNumErrors() != errorsBefore || decl.hasErrors)
    return nullptr;
  return std::move(result);
}

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
  for (const Variable &param : result->params)
    names.push_back(param.name);
  llvm::append_range(names, letNames);
  llvm::append_range(names, dimNames);
  return names;
}

Value Analyzer::evaluate(const ast::Expr *expr) {
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
    diags.error(expr->loc) << "a list of values is allowed only as the axes of a reduction";
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
  if (lookupType(expr.name)) {
    diags.error(expr.loc) << "'" << expr.name << "' is an element type; a conversion is written '" << expr.name
                          << "(value)'";
    return {};
  }
  if (llvm::is_contained(functionNames, expr.name)) {
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

static Elementwise getElementwise(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Add:
    return Elementwise::Add;
  case ast::BinaryOp::Sub:
    return Elementwise::Sub;
  case ast::BinaryOp::Mul:
    return Elementwise::Mul;
  case ast::BinaryOp::Div:
  case ast::BinaryOp::Mod:
    return Elementwise::Div;
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
  }
  return Elementwise::Add;
}

Value Analyzer::evaluateBinary(const ast::BinaryExpr &expr) {
  Value operands[] = {evaluate(expr.lhs), evaluate(expr.rhs)};
  Value &lhs = operands[0], &rhs = operands[1];
  if (lhs.isPoison() || rhs.isPoison())
    return {};
  std::string what = ("'" + ast::getSpelling(expr.op) + "'").str();

  std::optional<DimExpr::Kind> dimKind = getDimKind(expr.op);
  if (lhs.isDim() && rhs.isDim() && dimKind)
    return makeDimBinary(*dimKind, lhs, rhs, &expr);
  if (lhs.isFloat() && rhs.isFloat() && dimKind && expr.op != ast::BinaryOp::Mod) {
    Value value = lhs;
    value.expr = &expr;
    double a = lhs.number, b = rhs.number;
    value.number = expr.op == ast::BinaryOp::Add   ? a + b
                   : expr.op == ast::BinaryOp::Sub ? a - b
                   : expr.op == ast::BinaryOp::Mul ? a * b
                                                   : a / b;
    if (std::isnan(value.number) || (std::isinf(value.number) && !std::isinf(a) && !std::isinf(b))) {
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
  if (type == DataType::I1)
    return fail(what + " needs numbers, got " + describe(lhs) + "; select with 'where(condition, a, b)'");
  if (expr.op == ast::BinaryOp::Mod && isFloat(type))
    return fail("'%' needs integers, got " + describe(lhs));
  if (!isFloat(type) && (expr.op == ast::BinaryOp::Div || expr.op == ast::BinaryOp::Mod))
    return fail(what + " of integer tensors and scalars is not supported yet; only dimensions are divided");
  return makeElementwise(getElementwise(expr.op), type, operands, what, &expr);
}

/// Evaluates exactly `count` positional arguments.
bool Analyzer::evaluateArgs(const ast::CallExpr &expr, unsigned count, llvm::SmallVectorImpl<Value> &values) {
  bool ok = true;
  for (const ast::Argument &arg : expr.args) {
    if (!arg.name.empty()) {
      diags.error(arg.loc) << "'" << expr.callee << "' has no argument named '" << printable(arg.name) << "'";
      ok = false;
    }
    values.push_back(evaluate(arg.value));
    ok &= !values.back().isPoison();
  }
  if (!ok)
    return false;
  if (values.size() == count)
    return true;
  diags.error(expr.loc) << "'" << expr.callee << "' takes " << count << (count == 1 ? " argument" : " arguments")
                        << ", got " << values.size();
  return false;
}

Value Analyzer::evaluateCall(const ast::CallExpr &expr) {
  if (std::optional<DataType> type = lookupType(expr.callee))
    return evaluateCast(expr, *type);

  bool hasAxis = llvm::any_of(expr.args, [](const ast::Argument &arg) { return !arg.name.empty(); });
  std::optional<Reduction> reduction = getReduction(expr.callee);
  bool isMinMax = expr.callee == "max" || expr.callee == "min";
  // `max(x, axis = 1)` reduces, `max(a, b)` compares.
  if (reduction && (!isMinMax || hasAxis || expr.args.size() == 1))
    return evaluateReduction(expr, *reduction);

  llvm::SmallVector<Value> args;
  std::string what = ("'" + expr.callee + "'").str();
  if (isMinMax) {
    if (!evaluateArgs(expr, 2, args) || !unify(args, what, expr.loc) || !checkComputes(args[0], what))
      return {};
    if (args[0].node->type == DataType::I1) {
      diags.error(expr.loc) << what << " needs numbers, got " << describe(args[0]);
      return {};
    }
    return makeElementwise(expr.callee == "max" ? Elementwise::Max : Elementwise::Min, args[0].node->type, args, what,
                           &expr);
  }
  if (expr.callee == "cdiv") {
    if (!evaluateArgs(expr, 2, args))
      return {};
    for (const Value &arg : args) {
      if (arg.isDim())
        continue;
      diags.error(arg.expr->loc) << "'cdiv' divides integers and dimensions, got " << describe(arg);
      return {};
    }
    return makeDimBinary(DimExpr::Kind::CeilDiv, args[0], args[1], &expr);
  }
  if (expr.callee == "where") {
    if (!evaluateArgs(expr, 3, args))
      return {};
    if (!args[0].isNode() || args[0].node->type != DataType::I1) {
      diags.error(args[0].expr->loc) << "the condition of 'where' must have type 'i1', got " << describe(args[0]);
      return {};
    }
    if (!unify(llvm::MutableArrayRef(args).drop_front(), what, expr.loc))
      return {};
    return makeElementwise(Elementwise::Select, args[1].node->type, args, what, &expr);
  }
  std::optional<Elementwise> unary = getUnaryFunction(expr.callee);
  bool isFma = expr.callee == "fma";
  if (unary || isFma) {
    if (!evaluateArgs(expr, isFma ? 3 : 1, args))
      return {};
    if (isFma ? !unify(args, what, expr.loc) : !requireTyped(args[0], what))
      return {};
    if (!checkComputes(args[0], what))
      return {};
    DataType type = args[0].node->type;
    bool takesInteger = unary == Elementwise::Abs && isInteger(type) && !isUnsigned(type);
    if (!isFloat(type) && !takesInteger) {
      diags.error(args[0].expr->loc) << what << " needs a floating-point operand, got " << describe(args[0]);
      return {};
    }
    // No chip has these in double precision without a library.
    bool isExactInF64 = isFma || unary == Elementwise::Abs || unary == Elementwise::Sqrt ||
                        unary == Elementwise::Floor || unary == Elementwise::Ceil;
    if (type == DataType::F64 && !isExactInF64) {
      diags.error(args[0].expr->loc) << what << " is not available in 'f64'; convert with '"
                                     << suggestCast("f32", args[0]) << "'";
      return {};
    }
    return makeElementwise(isFma ? Elementwise::Fma : *unary, type, args, what, &expr);
  }

  std::vector<StringRef> names(std::begin(functionNames), std::end(functionNames));
  llvm::append_range(names, typeNames);
  if (symbols.count(expr.callee)) {
    diags.error(expr.loc) << "'" << printable(expr.callee) << "' is not a function; a product is written with '*'";
  } else {
    diags.error(expr.loc) << "unknown function '" << printable(expr.callee) << "'" << didYouMean(expr.callee, names);
  }
  // Names inside are still looked up, so that each is reported in this run.
  for (const ast::Argument &arg : expr.args)
    evaluate(arg.value);
  return {};
}

Value Analyzer::evaluateCast(const ast::CallExpr &expr, DataType type) {
  llvm::SmallVector<Value> args;
  if (!evaluateArgs(expr, 1, args))
    return {};
  Value &operand = args[0];
  std::string what = ("'" + expr.callee + "'").str();
  auto fail = [&](const llvm::Twine &message) -> Value {
    diags.error(expr.loc) << message;
    return {};
  };
  if (isStorageOnly(type))
    return fail("conversions to " + what + " are not supported yet");
  if (operand.isFloat()) {
    if (!adapt(operand, type, what, expr.loc))
      return {};
    operand.expr = &expr;
    return operand;
  }
  if (operand.isDim()) {
    if (std::optional<int64_t> integer = operand.getInteger()) {
      if (type == DataType::I1)
        return fail("truth values are made by comparing, not by conversion");
      if (!isFloat(type)) {
        if (!adapt(operand, type, what, expr.loc))
          return {};
        operand.expr = &expr;
        return operand;
      }
    }
    if (type != DataType::F32 && type != DataType::I32 && type != DataType::I64)
      return fail("a dimension or integer converts to 'f32', 'i32' or 'i64', not to " + what);
    if (type == DataType::I32) {
      DimExpr limit = DimExpr::constant(INT32_MAX);
      DimExpr value = operand.dim.substitute(dims);
      if (std::optional<int64_t> constant = value.getConstant()) {
        if (!llvm::isInt<32>(*constant))
          return fail("'" + operand.dim.str() + "' is " + llvm::Twine(*constant) + ", which does not fit 'i32'");
      } else {
        require(value, "<=", limit);
      }
    }
    Node *node = makeNode(Node::Dim{operand.dim.substitute(dims)}, type, expr.loc);
    node->isScalar = true;
    return makeValue(node, &expr);
  }

  DataType from = operand.node->type;
  if (from == type) {
    operand.expr = &expr;
    return operand;
  }
  if (type == DataType::I1)
    return fail("truth values are made by comparing, for example 'x != 0'");
  if (isInteger(from) && isFloat(type) && type != DataType::F32 && type != DataType::F64)
    return fail("'" + getName(from) + "' converts to " + what + " in two roundings; write them out as '" +
                suggestCast((expr.callee + "(f32").str(), operand) + ")'");
  if (isFloat(from) && isInteger(type) && type != DataType::I32 && type != DataType::I64)
    return fail("'" + getName(from) + "' converts to 'i32' or 'i64', not to " + what);
  return makeElementwise(Elementwise::Cast, type, operand, what, &expr);
}

bool Analyzer::evaluateAxes(const ast::Argument &arg, unsigned rank, llvm::SmallVectorImpl<unsigned> &axes) {
  llvm::ArrayRef<const ast::Expr *> list = arg.value;
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(arg.value))
    list = tuple->elements;
  for (const ast::Expr *expr : list) {
    std::optional<DimExpr> value = evaluateDim(expr, "an axis");
    if (!value)
      return false;
    std::optional<int64_t> axis = value->getConstant();
    if (!axis) {
      diags.error(expr->loc) << "an axis must be an integer constant";
      return false;
    }
    if (*axis < -int64_t(rank) || *axis >= int64_t(rank)) {
      diags.error(expr->loc) << "axis " << *axis << " is out of range for a tensor of rank " << rank;
      return false;
    }
    unsigned position = *axis < 0 ? *axis + rank : *axis;
    if (llvm::is_contained(axes, position)) {
      diags.error(expr->loc) << "axis " << *axis << " is named twice";
      return false;
    }
    axes.push_back(position);
  }
  llvm::sort(axes);
  return true;
}

Value Analyzer::evaluateReduction(const ast::CallExpr &expr, Reduction reduction) {
  const ast::Argument *axisArg = nullptr;
  llvm::SmallVector<Value> operands;
  bool ok = true;
  for (const ast::Argument &arg : expr.args) {
    if (arg.name == "axis" && !axisArg) {
      axisArg = &arg;
    } else if (!arg.name.empty()) {
      diags.error(arg.loc) << "'" << expr.callee << "' has no "
                           << (arg.name == "axis" ? "second argument 'axis'"
                                                  : "argument named '" + printable(arg.name) + "'")
                           << (arg.name == "axis" ? "" : didYouMean(arg.name, {"axis"}));
      ok = false;
    } else {
      operands.push_back(evaluate(arg.value));
      ok &= !operands.back().isPoison();
    }
  }
  if (!ok)
    return {};
  if (operands.size() == 2 && !axisArg && operands[1].isDim()) {
    diags.error(operands[1].expr->loc) << "the axis of '" << expr.callee
                                       << "' is named: 'axis = " << printable(operands[1].expr->getText()) << "'";
    return {};
  }
  if (operands.size() != 1) {
    diags.error(expr.loc) << "'" << expr.callee << "' reduces one tensor, got " << operands.size() << " operands";
    return {};
  }
  if (!axisArg) {
    bool isMinMax = reduction == Reduction::Max || reduction == Reduction::Min;
    diags.error(expr.loc) << "'" << expr.callee << "' needs the axis it reduces, for example 'axis = -1'"
                          << (isMinMax ? ", or a second value to compare with" : "");
    return {};
  }
  Value &operand = operands[0];
  if (!operand.isNode() || operand.node->isScalar) {
    diags.error(operand.expr->loc) << "'" << expr.callee << "' reduces a tensor, got " << describe(operand);
    return {};
  }
  DataType type = operand.node->type;
  if (isFloat(type) && type != DataType::F32) {
    diags.error(operand.expr->loc) << "'" << expr.callee << "' accumulates in 'f32', but the operand has type '"
                                   << typeOf(operand) << "'; reduce '" << suggestCast("f32", operand) << "'";
    return {};
  }
  bool reducesInteger = (type == DataType::I32 || type == DataType::I64) && reduction != Reduction::Mean;
  if (type != DataType::F32 && !reducesInteger) {
    diags.error(operand.expr->loc) << "'" << expr.callee << "' cannot reduce type '" << typeOf(operand) << "'; reduce '"
                                   << suggestCast(reduction == Reduction::Mean ? "f32" : "i32", operand) << "'";
    return {};
  }
  llvm::SmallVector<unsigned> axes;
  const Shape &shape = operand.node->shape;
  if (!evaluateAxes(*axisArg, shape.size(), axes))
    return {};
  Node *node = makeNode(Node::Reduce{reduction, axes}, type, expr.loc);
  for (unsigned i = 0; i < shape.size(); ++i)
    if (!llvm::is_contained(axes, i))
      node->shape.push_back(shape[i]);
  node->operands.push_back(operand.node);
  return makeValue(node, &expr);
}

Value Analyzer::evaluateIndex(const ast::IndexExpr &expr) {
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

std::unique_ptr<Operator> atrex::frontend::analyze(const ast::OpDecl &decl, const DimMap &dims, Diagnostics &diags) {
  if (decl.isIncomplete)
    return nullptr;
  return Analyzer(decl, dims, diags).run();
}
