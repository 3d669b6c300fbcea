//===- AST.h - Syntax tree of the kernel language ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parser read, with source ranges and without meaning. Nodes live in
// an arena, hold no resources and are never changed after parsing, so trees of
// any depth are freed without recursion.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_AST_H
#define ATREX_FRONTEND_AST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/SMLoc.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace atrex::frontend::ast {

enum class UnaryOp : uint8_t { Neg, Not, BitNot };
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,
};

/// The operator as it is written.
llvm::StringRef getSpelling(UnaryOp op);
llvm::StringRef getSpelling(BinaryOp op);
bool isComparison(BinaryOp op);

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

struct Expr {
  enum class Kind : uint8_t {
    /// Stands where an expression could not be parsed; already reported.
    Error,
    Integer,
    Float,
    Name,
    Unary,
    Binary,
    Call,
    Index,
    Tuple,
    String,
    Bool,
    Member,
    Launch,
  };
  const Kind kind;
  /// Levels below and including this one.
  unsigned depth = 1;
  llvm::SMRange range;
  /// Where a diagnostic about the expression points: the operator, the name of
  /// a call, else the beginning.
  llvm::SMLoc loc;

  llvm::StringRef getText() const {
    return llvm::StringRef(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
  }

protected:
  Expr(Kind kind, llvm::SMRange range, llvm::SMLoc loc) : kind(kind), range(range), loc(loc) {}
};

struct ErrorExpr : Expr {
  explicit ErrorExpr(llvm::SMRange range) : Expr(Kind::Error, range, range.Start) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Error; }
};

struct IntegerExpr : Expr {
  IntegerExpr(llvm::SMRange range, int64_t value) : Expr(Kind::Integer, range, range.Start), value(value) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Integer; }
  int64_t value;
};

struct FloatExpr : Expr {
  FloatExpr(llvm::SMRange range, double value) : Expr(Kind::Float, range, range.Start), value(value) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Float; }
  double value;
};

struct NameExpr : Expr {
  NameExpr(llvm::SMRange range, llvm::StringRef name) : Expr(Kind::Name, range, range.Start), name(name) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Name; }
  llvm::StringRef name;
};

struct UnaryExpr : Expr {
  UnaryExpr(llvm::SMRange range, UnaryOp op, const Expr *operand)
      : Expr(Kind::Unary, range, range.Start), op(op), operand(operand) {
    depth = operand->depth + 1;
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Unary; }
  UnaryOp op;
  const Expr *operand;
};

struct BinaryExpr : Expr {
  BinaryExpr(llvm::SMLoc operatorLoc, BinaryOp op, const Expr *lhs, const Expr *rhs)
      : Expr(Kind::Binary, {lhs->range.Start, rhs->range.End}, operatorLoc), op(op), lhs(lhs), rhs(rhs) {
    depth = std::max(lhs->depth, rhs->depth) + 1;
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Binary; }
  BinaryOp op;
  const Expr *lhs, *rhs;
};

/// `value` or `name = value`.
struct Argument {
  llvm::StringRef name;
  llvm::SMLoc loc;
  const Expr *value;
};

/// A function application or, when the name is an element type, a conversion.
struct CallExpr : Expr {
  CallExpr(llvm::SMRange range, llvm::StringRef callee, llvm::ArrayRef<Argument> args)
      : Expr(Kind::Call, range, range.Start), callee(callee), args(args) {
    for (const Argument &arg : args)
      depth = std::max(depth, arg.value->depth + 1);
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Call; }
  llvm::StringRef callee;
  llvm::ArrayRef<Argument> args;
};

/// One item between square brackets.
struct Subscript {
  enum class Kind : uint8_t { Slice, NewAxis, Element };
  Kind kind;
  llvm::SMRange range;
  /// Slice: bounds, null where left out. Element: `begin` is the index.
  const Expr *begin = nullptr, *end = nullptr;
};

struct IndexExpr : Expr {
  IndexExpr(llvm::SMRange range, llvm::SMLoc bracket, const Expr *base, llvm::ArrayRef<Subscript> items)
      : Expr(Kind::Index, range, bracket), base(base), items(items) {
    depth = base->depth + 1;
    for (const Subscript &item : items)
      for (const Expr *bound : {item.begin, item.end})
        if (bound)
          depth = std::max(depth, bound->depth + 1);
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Index; }
  const Expr *base;
  llvm::ArrayRef<Subscript> items;
};

/// `(a, b)`, an argument of some functions.
struct TupleExpr : Expr {
  TupleExpr(llvm::SMRange range, llvm::ArrayRef<const Expr *> elements)
      : Expr(Kind::Tuple, range, range.Start), elements(elements) {
    for (const Expr *element : elements)
      depth = std::max(depth, element->depth + 1);
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Tuple; }
  llvm::ArrayRef<const Expr *> elements;
};

/// `"mk,nk->mn"`: the text between the quotation marks, escapes resolved.
struct StringExpr : Expr {
  StringExpr(llvm::SMRange range, llvm::StringRef value) : Expr(Kind::String, range, range.Start), value(value) {}
  static bool classof(const Expr *e) { return e->kind == Kind::String; }
  llvm::StringRef value;
};

/// `true` or `false`.
struct BoolExpr : Expr {
  BoolExpr(llvm::SMRange range, bool value) : Expr(Kind::Bool, range, range.Start), value(value) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Bool; }
  bool value;
};

/// `x.T`.
struct MemberExpr : Expr {
  MemberExpr(llvm::SMRange range, llvm::SMLoc memberLoc, const Expr *base, llvm::StringRef member)
      : Expr(Kind::Member, range, memberLoc), base(base), member(member) {
    depth = base->depth + 1;
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Member; }
  const Expr *base;
  llvm::StringRef member;
};

/// `launch kernel(args) count t[i]` in the body of an operator.
struct LaunchExpr : Expr {
  LaunchExpr(llvm::SMRange range, llvm::SMLoc calleeLoc, llvm::StringRef callee, llvm::ArrayRef<Argument> args,
             const Expr *count)
      : Expr(Kind::Launch, range, calleeLoc), callee(callee), args(args), count(count) {
    for (const Argument &arg : args)
      depth = std::max(depth, arg.value->depth + 1);
    if (count)
      depth = std::max(depth, count->depth + 1);
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Launch; }
  llvm::StringRef callee;
  llvm::ArrayRef<Argument> args;
  /// The device-side number of workgroups along the first axis; null for all.
  const Expr *count;
};

//===----------------------------------------------------------------------===//
// Declarations and statements
//===----------------------------------------------------------------------===//

/// `bf16[T, 2*I] strides (S, 1) align 16`, or `f32` for a scalar.
struct TypeSpec {
  llvm::StringRef element;
  llvm::SMRange range;
  bool isTensor = false;
  llvm::ArrayRef<const Expr *> extents;
  /// In elements; empty for a contiguous tensor. Null stands for `_`, the
  /// stride that a contiguous tensor would have.
  llvm::ArrayRef<const Expr *> strides;
  bool hasStrides = false;
  /// Bytes that the address is a multiple of; null where nothing is stated.
  const Expr *alignment = nullptr;
};

/// A parameter or a result.
struct ValueDecl {
  llvm::StringRef name;
  llvm::SMLoc loc;
  /// Parameters of `fn` may have no type; `element` is empty then.
  TypeSpec type;
  const Expr *defaultValue = nullptr;
};

/// One name that a statement introduces or assigns.
struct Binding {
  llvm::StringRef name;
  llvm::SMLoc loc;
};

struct Stmt {
  enum class Kind : uint8_t { Let, Var, Const, Assign, For, While, If, Expr, Return };
  const Kind kind;
  llvm::SMRange range;
  llvm::SMLoc loc;

protected:
  Stmt(Kind kind, llvm::SMRange range, llvm::SMLoc loc) : kind(kind), range(range), loc(loc) {}
};

/// The statements between braces.
struct Block {
  llvm::ArrayRef<const Stmt *> stmts;
  llvm::SMRange range;
};

/// `let x = e`, `let (a, b) = e`, `var x = e`, `const N = e`, each with or
/// without `: type` behind the names. `_` drops a value.
struct BindStmt : Stmt {
  BindStmt(Kind kind, llvm::SMRange range, llvm::ArrayRef<Binding> names, bool isTuple, const TypeSpec *type,
           const frontend::ast::Expr *value)
      : Stmt(kind, range, names.empty() ? range.Start : names.front().loc), names(names), isTuple(isTuple), type(type),
        value(value) {}
  static bool classof(const Stmt *s) { return s->kind <= Kind::Const; }
  llvm::ArrayRef<Binding> names;
  /// Names stand between parentheses.
  bool isTuple;
  /// Null when left out.
  const TypeSpec *type;
  const frontend::ast::Expr *value;
};

/// `x = e`, `(a, b) = e`, `x += e`.
struct AssignStmt : Stmt {
  AssignStmt(llvm::SMRange range, llvm::SMLoc operatorLoc, llvm::ArrayRef<Binding> names, bool isTuple,
             std::optional<BinaryOp> compound, const frontend::ast::Expr *value)
      : Stmt(Kind::Assign, range, names.empty() ? range.Start : names.front().loc), names(names), isTuple(isTuple),
        operatorLoc(operatorLoc), compound(compound), value(value) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Assign; }
  llvm::ArrayRef<Binding> names;
  bool isTuple;
  llvm::SMLoc operatorLoc;
  /// The operation of `+=`.
  std::optional<BinaryOp> compound;
  const frontend::ast::Expr *value;
};

/// `for i in range(a, b, s) { ... }`; `for const i` is unrolled and `i` is a
/// constant. `begin` and `step` are null when left out.
struct ForStmt : Stmt {
  ForStmt(llvm::SMRange range, Binding variable, bool isUnrolled, const frontend::ast::Expr *begin,
          const frontend::ast::Expr *end, const frontend::ast::Expr *step, Block body)
      : Stmt(Kind::For, range, range.Start), variable(variable), isUnrolled(isUnrolled), begin(begin), end(end),
        step(step), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::For; }
  Binding variable;
  bool isUnrolled;
  const frontend::ast::Expr *begin, *end, *step;
  Block body;
};

struct WhileStmt : Stmt {
  WhileStmt(llvm::SMRange range, const frontend::ast::Expr *condition, Block body)
      : Stmt(Kind::While, range, range.Start), condition(condition), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::While; }
  const frontend::ast::Expr *condition;
  Block body;
};

/// `else if` is an else block of one IfStmt.
struct IfStmt : Stmt {
  IfStmt(llvm::SMRange range, const frontend::ast::Expr *condition, Block thenBlock, std::optional<Block> elseBlock)
      : Stmt(Kind::If, range, range.Start), condition(condition), thenBlock(thenBlock), elseBlock(elseBlock) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::If; }
  const frontend::ast::Expr *condition;
  Block thenBlock;
  std::optional<Block> elseBlock;
};

/// A call for its effect: `store(...)`, `barrier()`, `launch k(...)`.
struct ExprStmt : Stmt {
  explicit ExprStmt(const frontend::ast::Expr *value) : Stmt(Kind::Expr, value->range, value->loc), value(value) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Expr; }
  const frontend::ast::Expr *value;
};

/// `return a, b`, the last statement of a `fn`.
struct ReturnStmt : Stmt {
  ReturnStmt(llvm::SMRange range, llvm::ArrayRef<const frontend::ast::Expr *> values)
      : Stmt(Kind::Return, range, range.Start), values(values) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Return; }
  llvm::ArrayRef<const frontend::ast::Expr *> values;
};

/// `BN in {32, 64} = 64`, `ST in 1..4`, `K in 16..128 step 16`.
struct KnobDecl {
  llvm::StringRef name;
  llvm::SMLoc loc;
  llvm::SMRange range;
  /// A list, where `isRange` is false; else `begin`, `end` (inclusive) and
  /// `step` or null.
  llvm::ArrayRef<const Expr *> values;
  bool isRange = false;
  const Expr *begin = nullptr, *end = nullptr, *step = nullptr;
  /// Null: the first value.
  const Expr *defaultValue = nullptr;
};

/// An operator or a kernel.
struct OpDecl {
  llvm::StringRef name;
  llvm::SMLoc loc;
  llvm::SMLoc endLoc;
  bool isKernel = false;
  llvm::ArrayRef<ValueDecl> params;
  llvm::ArrayRef<ValueDecl> results;
  llvm::ArrayRef<const Expr *> constraints;
  llvm::ArrayRef<KnobDecl> knobs;
  /// Kernels: work-items per workgroup, null for the default; workgroups per
  /// axis, up to three.
  const Expr *threads = nullptr;
  llvm::ArrayRef<const Expr *> grid;
  llvm::SMLoc gridLoc;
  Block body;
  /// The signature could not be parsed; nothing in it can be relied on.
  bool isIncomplete = false;
  /// Something in the body could not be parsed.
  bool hasErrors = false;
};

/// A helper that is inlined where it is called.
struct FnDecl {
  llvm::StringRef name;
  llvm::SMLoc loc;
  llvm::ArrayRef<ValueDecl> params;
  /// Null when left out.
  const TypeSpec *resultType = nullptr;
  Block body;
  bool isIncomplete = false;
  bool hasErrors = false;
};

/// `const N = e` outside of operators.
struct ConstDecl {
  llvm::StringRef name;
  llvm::SMLoc loc;
  const Expr *value;
};

/// `import "path"`; the path is relative to the importing file.
struct ImportDecl {
  llvm::StringRef path;
  llvm::SMLoc loc;
};

/// A source file. Owns all nodes; names point into the source buffer.
struct File {
  /// Operators and kernels.
  std::vector<const OpDecl *> ops;
  std::vector<const FnDecl *> fns;
  std::vector<const ConstDecl *> consts;
  std::vector<const ImportDecl *> imports;

  template <typename T, typename... Args> T *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocator.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> elements) { return elements.copy(allocator); }
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(allocator); }

private:
  llvm::BumpPtrAllocator allocator;
};

} // namespace atrex::frontend::ast

#endif // ATREX_FRONTEND_AST_H
