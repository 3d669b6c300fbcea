//===- Operations.h - Operations of the algebra by name ---------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations as `name(operands, attribute = value)`. The dialect (type
// inference, folding, lowering) and `atrex-layout eval` both call them here.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LAYOUT_OPERATIONS_H
#define ATREX_LAYOUT_OPERATIONS_H

#include "atrex/Layout/Algebra.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>

namespace atrex::layout {

/// A named attribute: an integer, a list of integers, a word, or a value.
using Attribute = std::variant<int64_t, llvm::SmallVector<int64_t, 4>, std::string, Value>;
using Attributes = llvm::StringMap<Attribute>;

/// One call: typed access to operands and attributes. A wrong kind is a fault
/// of the algebra (constraint 0: usage).
class Call {
public:
  Call(Algebra &algebra, llvm::StringRef name, llvm::ArrayRef<Value> operands, const Attributes &attributes)
      : algebra(algebra), name(name), operands(operands), attributes(attributes) {}

  unsigned getNumOperands() const { return operands.size(); }
  const Value &value(unsigned index) { return operands[index]; }
  const IntTuple &tuple(unsigned index);
  const Map &map(unsigned index);
  /// A plain layout; an integer n is n:1.
  Layout layout(unsigned index);

  bool has(llvm::StringRef key) const { return attributes.count(key); }
  int64_t integer(llvm::StringRef key, int64_t fallback = 0);
  llvm::SmallVector<int64_t, 4> list(llvm::StringRef key);
  IntTuple tuple(llvm::StringRef key);
  Layout layout(llvm::StringRef key);
  Swizzle swizzle(llvm::StringRef key);
  std::string word(llvm::StringRef key, llvm::StringRef fallback = "");
  bool flag(llvm::StringRef key) { return word(key, "false") == "true"; }

  Algebra &algebra;
  llvm::StringRef name;

private:
  void wrong(const llvm::Twine &what);
  llvm::ArrayRef<Value> operands;
  const Attributes &attributes;
  IntTuple noTuple = 1;
  Map noMap;
};

/// A list of results; a partition has two, layout and offset.
using Results = llvm::SmallVector<Value, 2>;

struct Operation {
  llvm::StringRef name;
  unsigned minOperands, maxOperands;
  /// Attributes it understands, separated by blanks; `!` marks required ones.
  llvm::StringRef attributes;
  std::function<Results(Call &)> evaluate;
};

/// All operations of the specification, sorted by name.
llvm::ArrayRef<Operation> getOperations();

/// Looks the name up in the operations of the specification and in `extra`.
const Operation *findOperation(llvm::StringRef name, llvm::ArrayRef<Operation> extra = {});

/// Checks operands and attributes and evaluates; nothing on a fault.
std::optional<Results> evaluate(Algebra &algebra, const Operation &operation, llvm::ArrayRef<Value> operands,
                                const Attributes &attributes);

/// A parsed `name(operands, key = value)`; operands may be calls themselves.
struct Expression {
  /// Empty for a literal.
  std::string name;
  Value literal;
  std::vector<Expression> operands;
  Attributes attributes;
};

/// Parses an expression; the error names the column.
llvm::Expected<Expression> parseExpression(llvm::StringRef text);

/// Evaluates a parsed expression.
std::optional<Results> evaluate(Algebra &algebra, const Expression &expression, llvm::ArrayRef<Operation> extra = {});

/// The text of results: a value, or `LAYOUT @OFFSET` for a partition.
std::string toString(const Results &results);

/// `C10: text` with the note on a second line.
std::string toString(const Fault &fault);

} // namespace atrex::layout

#endif // ATREX_LAYOUT_OPERATIONS_H
