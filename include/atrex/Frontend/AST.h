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
#include <vector>

namespace atrex::frontend::ast {

enum class UnaryOp : uint8_t { Neg, Not };
enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Mod, Eq, Ne, Lt, Le, Gt, Ge, And, Or };

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

//===----------------------------------------------------------------------===//
// Declarations and statements
//===----------------------------------------------------------------------===//

/// `bf16[T, 2*I]`, or `f32` for a scalar.
struct TypeSpec {
  llvm::StringRef element;
  llvm::SMRange range;
  bool isTensor = false;
  llvm::ArrayRef<const Expr *> extents;
};

/// A parameter or a result.
struct ValueDecl {
  llvm::StringRef name;
  llvm::SMLoc loc;
  TypeSpec type;
  const Expr *defaultValue = nullptr;
};

struct Stmt {
  enum class Kind : uint8_t { Let, Assign };
  Kind kind;
  llvm::StringRef name;
  llvm::SMLoc loc;
  const Expr *value;
};

struct OpDecl {
  llvm::StringRef name;
  llvm::SMLoc loc;
  llvm::SMLoc endLoc;
  llvm::ArrayRef<ValueDecl> params;
  llvm::ArrayRef<ValueDecl> results;
  llvm::ArrayRef<const Expr *> constraints;
  llvm::ArrayRef<Stmt> body;
  /// The signature could not be parsed; nothing in it can be relied on.
  bool isIncomplete = false;
  /// Something in the body could not be parsed.
  bool hasErrors = false;
};

/// A source file. Owns all nodes; names point into the source buffer.
struct File {
  std::vector<const OpDecl *> ops;

  template <typename T, typename... Args> T *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocator.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> elements) { return elements.copy(allocator); }

private:
  llvm::BumpPtrAllocator allocator;
};

} // namespace atrex::frontend::ast

#endif // ATREX_FRONTEND_AST_H
