//===- DimExpr.h - Integer expressions over named dimensions ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes, grid sizes and constraints are expressions over the named dimensions
// of an operator (`T`, `2 * I`, `(T + 15) / 16`). The front end parses them, the
// manifest stores their text, the launcher evaluates them.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_SUPPORT_DIMEXPR_H
#define ATREX_SUPPORT_DIMEXPR_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace atrex {

/// Values of named dimensions.
using DimMap = llvm::StringMap<int64_t>;

/// An immutable integer expression. `/` is floor division, `cdiv(a, b)` is
/// ceiling division, `%` is the remainder with the sign of the divisor.
/// Arithmetic is 64-bit; overflow and division by zero are reported.
class DimExpr {
public:
  enum class Kind : uint8_t { Constant, Dim, Add, Sub, Mul, FloorDiv, CeilDiv, Mod };

  DimExpr() : DimExpr(constant(0)) {}
  static DimExpr constant(int64_t value);
  static DimExpr dim(llvm::StringRef name);
  static DimExpr binary(Kind kind, DimExpr lhs, DimExpr rhs);

  /// Parses the text form; the error names the offending column.
  static llvm::Expected<DimExpr> parse(llvm::StringRef text);

  Kind getKind() const { return node->kind; }
  int64_t getValue() const { return node->value; }
  llvm::StringRef getDim() const { return node->name; }
  DimExpr getLhs() const { return DimExpr(node->lhs); }
  DimExpr getRhs() const { return DimExpr(node->rhs); }

  /// The value under `dims`; an error names a missing dimension, an overflow or
  /// a division by zero.
  llvm::Expected<int64_t> evaluate(const DimMap &dims) const;

  /// The value when no dimension occurs in the expression.
  std::optional<int64_t> getConstant() const;

  /// Replaces dimensions that have a value in `dims`.
  DimExpr substitute(const DimMap &dims) const;

  /// Replaces dimensions that `dims` names by expressions, and folds numbers.
  DimExpr bind(const std::map<std::string, DimExpr> &dims) const;

  void collectDims(std::set<std::string> &names) const;

  /// Canonical text; `parse(str())` gives an equal expression.
  std::string str() const;

  bool operator==(const DimExpr &other) const { return str() == other.str(); }

private:
  struct Node {
    Kind kind;
    int64_t value = 0;
    std::string name;
    std::shared_ptr<const Node> lhs, rhs;
  };
  explicit DimExpr(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  std::shared_ptr<const Node> node;
};

/// A condition on dimensions: `lhs op rhs` with op one of == != < <= > >=.
struct DimComparison {
  DimExpr lhs, rhs;
  std::string op;

  static llvm::Expected<DimComparison> parse(llvm::StringRef text);
  std::string str() const { return lhs.str() + " " + op + " " + rhs.str(); }
  /// Whether it holds under `dims`; an error as for DimExpr::evaluate.
  llvm::Expected<bool> evaluate(const DimMap &dims) const;
  /// "H = 100, T = 3" for the dimensions that occur, in alphabetical order.
  std::string describeDims(const DimMap &dims) const;
};

} // namespace atrex

#endif // ATREX_SUPPORT_DIMEXPR_H
