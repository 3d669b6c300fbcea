//===- Program.h - Checked programs -----------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What semantic analysis makes of a syntax tree: a graph of typed operations per
// operator. Nothing in it can be wrong any more; lowering cannot fail on it.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_PROGRAM_H
#define ATREX_FRONTEND_PROGRAM_H

#include "atrex/Support/DataType.h"
#include "atrex/Support/DimExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/SMLoc.h"
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace atrex::frontend {

/// One extent of a shape: as it was written, for messages, and after the
/// dimensions with a value have been replaced.
struct Extent {
  DimExpr written;
  DimExpr value;
  /// Text of the normal forms of both; equal texts mean equal extents.
  std::string writtenKey, valueKey;

  /// The number, when no run-time dimension remains.
  std::optional<int64_t> constant;

  /// Whether the source says 1. A dimension that happens to be 1 in one
  /// compilation does not broadcast.
  bool isOne() const { return writtenKey == "1"; }
  bool operator==(const Extent &other) const { return writtenKey == other.writtenKey || valueKey == other.valueKey; }
};
using Shape = llvm::SmallVector<Extent, 3>;

/// `[T, 2 * I]` as written.
std::string toString(llvm::ArrayRef<Extent> shape);

/// Elementwise operations. Operands broadcast against each other.
enum class Elementwise : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
  Not,
  Neg,
  Abs,
  Exp,
  Exp2,
  Log,
  Log2,
  Sqrt,
  Rsqrt,
  Recip,
  Sigmoid,
  Silu,
  Tanh,
  Floor,
  Ceil,
  /// condition, value if true, value if false
  Select,
  Fma,
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,
  /// Conversion of the operand to the node's type.
  Cast,
};

enum class Reduction : uint8_t { Sum, Mean, Max, Min };

/// One item of a subscript, in the order of the result's axes.
struct SubscriptItem {
  bool isNewAxis = false;
  /// The item keeps the whole axis.
  bool isFull = false;
  /// First element, where not full.
  DimExpr begin;
};

/// A value: an operation with its operands.
struct Node {
  struct Param {
    unsigned index;
  };
  struct Literal {
    std::variant<double, int64_t> value;
  };
  /// A dimension expression converted to the node's type.
  struct Dim {
    DimExpr value;
  };
  struct Compute {
    Elementwise op;
  };
  struct Reduce {
    Reduction op;
    /// Ascending.
    llvm::SmallVector<unsigned> axes;
  };
  struct Subscript {
    llvm::SmallVector<SubscriptItem> items;
  };

  std::variant<Param, Literal, Dim, Compute, Reduce, Subscript> op;
  DataType type = DataType::F32;
  /// A scalar is no tensor; a tensor may have rank 0.
  bool isScalar = false;
  Shape shape;
  llvm::SmallVector<Node *, 3> operands;
  llvm::SMLoc loc;
};

/// A parameter or result of an operator.
struct Variable {
  std::string name;
  llvm::SMLoc loc;
  DataType type = DataType::F32;
  bool isScalar = false;
  Shape shape;
  /// Scalars: the value used when the caller gives none.
  std::optional<std::variant<double, int64_t>> defaultValue;
};

struct Operator {
  std::string name;
  llvm::SMLoc loc;
  std::vector<Variable> params;
  std::vector<Variable> results;
  /// The value assigned to each result, and where.
  std::vector<Node *> values;
  std::vector<llvm::SMLoc> valueLocs;
  /// Dimensions without a value, in order of first appearance.
  std::vector<std::string> runtimeDims;
  /// What a launch must check about them, `lhs op rhs`.
  std::vector<std::string> constraints;
  /// All values; operands stand before their users.
  std::vector<std::unique_ptr<Node>> nodes;
};

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_PROGRAM_H
