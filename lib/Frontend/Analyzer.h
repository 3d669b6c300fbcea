//===- Analyzer.h - Semantic analysis, shared by its files ------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_FRONTEND_ANALYZER_H
#define ATREX_LIB_FRONTEND_ANALYZER_H

#include "atrex/Frontend/DimAlgebra.h"
#include "atrex/Frontend/Lexer.h"
#include "atrex/Frontend/Sema.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace atrex::frontend {
/// Operators a dimension expression may have; longer ones come from chains of
/// `let` that double.
inline constexpr unsigned maxDimExprSize = 500;

inline constexpr llvm::StringRef typeNames[] = {"i1",  "i8",       "i16",        "i32",    "i64",
                                                "u8",  "u32",      "bf16",       "f16",    "f32",
                                                "f64", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"};

/// An element type by its name in the language.
inline std::optional<DataType> lookupType(llvm::StringRef name) {
  std::optional<DataType> type = parseDataType(name);
  return type && getName(*type) == name ? type : std::nullopt;
}

inline bool isInteger(DataType type) { return !isFloat(type) && type != DataType::I1; }
inline bool isUnsigned(DataType type) { return type == DataType::U8 || type == DataType::U32; }
inline unsigned getBits(DataType type) { return type == DataType::I1 ? 1 : 8 * getSizeInBytes(type); }
/// 8-bit floats hold values but do not compute.
inline bool isStorageOnly(DataType type) { return isFloat(type) && getSizeInBytes(type) == 1; }

inline const llvm::fltSemantics &getSemantics(DataType type) {
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

/// Names of the functions, for messages.
llvm::ArrayRef<llvm::StringRef> getFunctionNames();

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
  void checkLet(const ast::Binding &stmt, const Value &value);
  void checkAssign(const ast::Binding &stmt, const ast::Expr *source, const Value &value);
  void checkResultsAssigned();
  void warnUnused();

  //===--- Dimension expressions ------------------------------------------===//

  std::optional<Extent> makeExtent(const DimExpr &expr, llvm::SMLoc loc);
  Value makeDim(DimExpr expr, unsigned size, const ast::Expr *source);
  Value makeDimBinary(DimExpr::Kind kind, const Value &lhs, const Value &rhs, const ast::Expr *source);
  /// Evaluates an expression that must be an integer or over dimensions.
  std::optional<DimExpr> evaluateDim(const ast::Expr *expr, llvm::StringRef what);
  void require(const DimExpr &lhs, llvm::StringRef op, const DimExpr &rhs);
  std::string describeDims(const DimExpr &expr) const;

  //===--- Expressions ----------------------------------------------------===//

  /// Checks an expression and tells the listener its type.
  Value evaluate(const ast::Expr *expr);
  Value evaluateExpr(const ast::Expr *expr);
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
  bool unify(llvm::MutableArrayRef<Value> values, llvm::StringRef what, llvm::SMLoc loc);
  /// Makes a constant a node of `type`.
  bool adapt(Value &value, DataType type, llvm::StringRef what, llvm::SMLoc loc);
  bool requireTyped(const Value &value, llvm::StringRef what);
  bool checkComputes(const Value &value, llvm::StringRef what);
  Value makeElementwise(Elementwise op, DataType type, llvm::ArrayRef<Value> operands, llvm::StringRef what,
                        const ast::Expr *source);
  bool broadcast(Shape &shape, const Value *&shapeOwner, const Value &operand, llvm::StringRef what, llvm::SMLoc loc);

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
  void noteType(mlir::InFlightDiagnostic &diagnostic, const Value &value, llvm::StringRef which) {
    diags.note(diagnostic, value.expr->loc) << which << " has type '" << typeOf(value) << "'";
  }
  /// `f32(x)` with the text of an expression, or with dots when it is long.
  static std::string suggestCast(llvm::StringRef type, const Value &value) {
    llvm::StringRef text = value.expr->getText();
    bool isShort = text.size() <= 24 && !text.contains('\n');
    if (isShort && text.starts_with("(") && text.ends_with(")"))
      return (type + text).str();
    return (type + "(" + (isShort ? text : "...") + ")").str();
  }
  std::vector<llvm::StringRef> visibleNames() const;

  const ast::OpDecl &decl;
  const DimMap &dims;
  Diagnostics &diags;
  std::unique_ptr<Operator> result;
  llvm::StringMap<Symbol> symbols;
  /// Names of `let`s in order, for warnings.
  std::vector<llvm::StringRef> letNames;
  std::vector<llvm::StringRef> dimNames;
  llvm::StringMap<unsigned> resultIndex;
  /// Results whose declaration or value has an error.
  llvm::SmallVector<bool> resultIsPoison;
};

} // namespace atrex::frontend

#endif // ATREX_LIB_FRONTEND_ANALYZER_H
