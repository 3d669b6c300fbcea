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
  /// Integers: rounded down, 0 for a divisor of 0.
  Div,
  /// Integers: with the sign of the divisor, the dividend for a divisor of 0.
  Mod,
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
  Softplus,
  Tanh,
  Erf,
  Sin,
  Cos,
  Floor,
  Ceil,
  /// To the nearest integer, ties to even.
  Round,
  Trunc,
  IsNaN,
  /// Approximate quotient, square root and power of 2.
  FastDiv,
  FastSqrt,
  FastExp2,
  /// condition, value if true, value if false
  Select,
  Fma,
  BitAnd,
  BitOr,
  BitXor,
  BitNot,
  ShiftLeft,
  ShiftRight,
  PopCount,
  /// Conversion of the operand to the node's type.
  Cast,
  /// The same to an 8-bit float; magnitudes beyond the largest finite number
  /// become it.
  CastSaturating,
  /// The same bits as the node's type, which has the same width.
  Bitcast,
};

/// `ArgMax` and `ArgMin` give positions, `Any` and `All` combine truth values.
enum class Reduction : uint8_t { Sum, Mean, Prod, Max, Min, ArgMax, ArgMin, Any, All };

/// One item of a subscript, in the order of the result's axes.
struct SubscriptItem {
  bool isNewAxis = false;
  /// The item keeps the whole axis.
  bool isFull = false;
  /// First element, where not full.
  DimExpr begin;
};

struct Node;
struct KernelOp;

/// The call of a helper function that an operation was inlined from.
struct CallSite {
  llvm::SMLoc loc;
  /// The call that contains this one; null outside of helpers.
  const CallSite *caller = nullptr;
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
  /// Sum, Prod, Max or Min of the elements up to each position of an axis.
  struct Scan {
    Reduction op;
    unsigned axis;
    bool isExclusive, isReverse;
  };
  /// The largest or smallest elements along an axis, as many as the node's extent
  /// there, in order and stable. Two results: the values, which the node's type
  /// describes, and their positions (i32). NaN counts as largest.
  struct TopK {
    unsigned axis;
    bool isSmallest;
  };
  /// One result of an operand that has several.
  struct ExtractResult {
    unsigned index;
  };
  /// How many earlier elements along the axis are equal.
  struct Rank {
    unsigned axis;
  };
  /// How often each number below the node's extent occurs. Operands: the numbers,
  /// [a mask that broadcasts to them].
  struct Histogram {};
  /// Sum of products of one or two operands in the node's type: for every axis of
  /// each operand the loop that runs over it. The first loops are the axes of the
  /// result, the others are summed over.
  struct Contract {
    llvm::SmallVector<llvm::SmallVector<unsigned>, 2> axes;
    unsigned numLoops;
  };
  /// The operand's elements in row-major order in the node's shape.
  struct Reshape {};
  /// Axis i of the node is axis axes[i] of the operand.
  struct Transpose {
    llvm::SmallVector<unsigned> axes;
  };
  /// The operand, which may be a scalar, repeated to the node's shape.
  struct Broadcast {};
  struct Concat {
    unsigned axis;
  };
  /// Operands: x and indices of its rank, whose extents beside the axis are those
  /// of x or 1. 0 where an index is outside.
  struct Take {
    unsigned axis;
  };
  /// 0, 1, 2, ... along the node's only axis.
  struct Iota {};
  /// Launch of a kernel in an operator. Operands: the arguments, [the tensor of the
  /// count]. The results are extracted.
  struct Launch {
    /// Position in Operator::kernels.
    unsigned kernel = 0;
    unsigned numResults = 0;
    /// Dimensions of the kernel over those of the operator.
    llvm::SmallVector<std::pair<std::string, DimExpr>> dims;
    bool hasCount = false;
    llvm::SmallVector<DimExpr> countIndices;
  };

  /// What only the kernel form has; defined below.
  struct Kernel {
    explicit Kernel(std::unique_ptr<KernelOp> op);
    Kernel(Kernel &&);
    Kernel &operator=(Kernel &&);
    ~Kernel();
    KernelOp *operator->() const { return op.get(); }
    KernelOp &operator*() const { return *op; }

  private:
    std::unique_ptr<KernelOp> op;
  };

  std::variant<Param, Literal, Dim, Compute, Reduce, Subscript, Scan, TopK, ExtractResult, Rank, Histogram, Contract,
               Reshape, Transpose, Broadcast, Concat, Take, Iota, Launch, Kernel>
      op;
  DataType type = DataType::F32;
  /// A scalar is no tensor; a tensor may have rank 0.
  bool isScalar = false;
  Shape shape;
  llvm::SmallVector<Node *, 3> operands;
  llvm::SMLoc loc;
  /// Null outside of helpers.
  const CallSite *callSite = nullptr;
  /// The name that a statement gave the value; empty for an intermediate one.
  llvm::StringRef name;
};

//===----------------------------------------------------------------------===//
// Kernel form
//===----------------------------------------------------------------------===//

/// Operations in the order of their evaluation.
struct NodeBlock {
  /// Values that change from one execution of the block to the next.
  std::vector<Node *> args;
  std::vector<Node *> nodes;
  /// What the block hands on: to its next execution, or to the operation that
  /// holds it. The first block of a `while` begins with the condition.
  std::vector<Node *> yields;
};

/// What holds elements: a tensor parameter, a result, or a tile in LDS.
struct MemoryRef {
  enum class Kind : uint8_t { Param, Result, Shared };
  Kind kind = Kind::Param;
  /// Position among the parameters or the results.
  unsigned index = 0;
  /// The operation that made a shared tile.
  Node *shared = nullptr;
};

enum class AtomicKind : uint8_t { Add, Max, Min, And, Or, Xor, Exchange, CompareExchange };

struct KernelOp {
  enum class Kind : uint8_t {
    /// Position of the workgroup on axis `index` of the grid.
    BlockId,
    /// Workgroups on axis `index` of the grid.
    NumBlocks,
    /// `index`-th argument of the block that holds the operation.
    Argument,
    /// `index`-th result of the operand, an operation with blocks.
    Result,
    /// Operands: the indices, one per dimension of `memory`; [the fill value].
    Load,
    /// Operands: the indices, the value, [the mask].
    Store,
    /// Operands: the indices, [what is compared,] the value, [the mask].
    Atomic,
    /// A tile in LDS of the node's type and shape.
    Shared,
    Barrier,
    /// Operands: begin, end, step, initial values. One block: the counter and
    /// the carried values are its arguments.
    For,
    /// Operands: initial values. Two blocks: condition, body.
    While,
    /// Operand: the condition. Two blocks.
    If,
    /// The operand in the layout `text`.
    Pin,
    /// MLIR operations, `text`, on the fragments of the operands.
    Raw,
  };
  Kind kind;
  unsigned index = 0;
  AtomicKind atomic = AtomicKind::Add;
  MemoryRef memory;
  /// Load: a fill value is the last operand. Store, atomic: a mask is.
  bool hasExtra = false;
  /// Where text in the source begins, for `raw`.
  std::string text;
  llvm::SMLoc textLoc;
  std::vector<NodeBlock> blocks;
};

inline Node::Kernel::Kernel(std::unique_ptr<KernelOp> op) : op(std::move(op)) {}
inline Node::Kernel::Kernel(Kernel &&) = default;
inline Node::Kernel &Node::Kernel::operator=(Kernel &&) = default;
inline Node::Kernel::~Kernel() = default;

/// A parameter or result of an operator.
struct Variable {
  std::string name;
  llvm::SMLoc loc;
  DataType type = DataType::F32;
  bool isScalar = false;
  Shape shape;
  /// Scalars: the value used when the caller gives none.
  std::optional<std::variant<double, int64_t>> defaultValue;
  /// Tensors: elements between neighbours of each axis; empty for a contiguous
  /// tensor.
  llvm::SmallVector<DimExpr> strides;
  /// Bytes that the address is a multiple of; 0 where nothing is stated.
  int64_t alignment = 0;
};

/// A number that a caller may choose from a domain.
struct Knob {
  std::string name;
  llvm::SMLoc loc;
  std::vector<int64_t> domain;
  int64_t defaultValue = 0;
  /// What this program is compiled with.
  int64_t value = 0;
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
  /// Operators: the kernels that launches name.
  std::vector<std::unique_ptr<Operator>> kernels;

  /// In order of declaration.
  std::vector<Knob> knobs;
  /// Element types that parameters stand for, with those chosen.
  std::vector<std::pair<std::string, DataType>> types;

  /// Kernels only: workgroups per axis, work-items of one, the program.
  bool isKernel = false;
  std::vector<DimExpr> grid;
  int64_t threads = 0;
  NodeBlock body;
  std::vector<std::unique_ptr<CallSite>> callSites;
};

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_PROGRAM_H
