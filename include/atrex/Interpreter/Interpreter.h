//===- Interpreter.h - Reference interpreter ---------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes operator form (functions with `atx.operator`) and tile form (functions
// with `atx.kernel`) on the host: slow, without a thought for layouts or
// schedules, and with an error bound on every element (Number.h). What compiled
// code computes from the same inputs is judged against it.
//
// Anything the interpreter does not know is a located error; a loop without end
// meets the limit of steps.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_INTERPRETER_INTERPRETER_H
#define ATREX_INTERPRETER_INTERPRETER_H

#include "atrex/Interpreter/Number.h"
#include "atrex/Support/DataType.h"
#include "atrex/Support/DimExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <variant>
#include <vector>

namespace atrex::interp {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A scalar (rank 0), tile or tensor: elements in row-major order. Copies share
/// them until one is changed.
class Array {
public:
  Array() = default;
  Array(ElementType type, llvm::ArrayRef<int64_t> shape);
  /// A scalar.
  Array(ElementType type, const Number &value);

  const ElementType &getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t size() const { return elements ? static_cast<int64_t>(elements->size()) : 0; }
  const Number &operator[](int64_t i) const { return (*elements)[i]; }
  const Number *data() const { return elements->data(); }
  /// The elements to be changed; those of other copies stay.
  std::vector<Number> &edit();
  /// The same elements in another shape of the same size.
  Array reshape(llvm::ArrayRef<int64_t> newShape) const;
  /// The same bits as elements of another type.
  Array retype(ElementType newType) const;

private:
  ElementType type;
  llvm::SmallVector<int64_t> shape;
  std::shared_ptr<std::vector<Number>> elements;
};

/// Elements that all arrays hold together.
int64_t getLiveElements();

/// Number of elements of a shape; nullopt beyond the limit of the interpreter.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Memory of a tensor, or of a workgroup.
struct Buffer {
  ElementType type;
  std::vector<Number> elements;
  bool isShared = false;
  std::string name;
  /// Per element: 0 for what was there before the launch, else 1 + the workgroup
  /// that wrote it last; -1 after several workgroups did atomic operations on
  /// it. Empty until the first write.
  std::vector<int32_t> writer;
  /// Per element the kinds of atomic operations it has seen (bits).
  std::vector<uint16_t> atomics;
  /// Per element what floating-point atomic additions have added up.
  struct Sum {
    uint64_t count = 0;
    double magnitude = 0, radius = 0;
    bool integers = true;
  };
  std::vector<Sum> sums;
};

/// A view of memory.
struct Memory {
  std::shared_ptr<Buffer> buffer;
  llvm::SmallVector<int64_t> shape, strides;
};

using RuntimeValue = std::variant<Array, Memory>;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// A tensor on the host: elements in row-major order, or with gaps between them
/// where strides say so, each in the least number of whole bytes; floats of 4 and 6
/// bits packed, the first in the low bits.
struct HostTensor {
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
  /// In elements; empty for a contiguous tensor.
  std::vector<int64_t> strides;
};

struct RunOptions {
  /// Values of run-time dimensions that no shape determines (kernels).
  DimMap dims;
  /// Elementary steps (one operation on one element) after which a program
  /// counts as endless.
  uint64_t maxSteps = uint64_t(1) << 32;
  /// Elements of all values that live at one time, of 24 bytes each.
  int64_t maxLiveElements = int64_t(1) << 27;
};

/// A tensor argument of the function that is run, or a scalar.
struct Parameter {
  unsigned index = 0;
  std::string name;
  bool isTensor = true;
  bool isOutput = false;
  bool isWorkspace = false;
  /// A run-time dimension of a kernel.
  bool isDim = false;
  mlir::Type type;
  ElementType element;
  /// Unsigned integers in the source.
  bool isUnsigned = false;
  /// Text of each extent.
  std::vector<DimExpr> shape;
  /// Elements between neighbours of each axis; empty for a contiguous tensor.
  std::vector<DimExpr> strides;
  std::optional<double> defaultValue;

  /// Bits of an element in memory.
  unsigned getElementBits() const { return element.isFloat() ? element.bits : (element.bits + 7) / 8 * 8; }
  size_t getBytes(int64_t elements) const { return (size_t(elements) * getElementBits() + 7) / 8; }
  /// Element `index` of a tensor's bytes; bits beyond them are 0.
  uint64_t loadBits(llvm::ArrayRef<uint8_t> bytes, size_t index) const;
  void storeBits(llvm::MutableArrayRef<uint8_t> bytes, size_t index, uint64_t bits) const;
};

/// The function of a module to run: the one named, or the only one with
/// `atx.operator` or `atx.kernel`.
llvm::Expected<mlir::func::FuncOp> findFunction(mlir::ModuleOp module, llvm::StringRef name);
/// Its parameters; an error for types that the host cannot supply.
llvm::Expected<std::vector<Parameter>> getParameters(mlir::func::FuncOp function);
/// Extents of a tensor under values of dimensions.
llvm::Expected<std::vector<int64_t>> getShape(const Parameter &parameter, const DimMap &dims);
/// Elements between neighbours of each axis, those of a contiguous tensor where
/// the parameter says nothing.
llvm::Expected<std::vector<int64_t>> getStrides(const Parameter &parameter, llvm::ArrayRef<int64_t> shape,
                                                const DimMap &dims);
/// Elements from the first one of a tensor to the last; an error for too many.
llvm::Expected<int64_t> getSpan(const Parameter &parameter, llvm::ArrayRef<int64_t> shape,
                                llvm::ArrayRef<int64_t> strides);
/// An error with the values of the dimensions for a condition in `atx.constraints`
/// that does not hold.
llvm::Error checkConstraints(mlir::func::FuncOp function, const DimMap &dims);

/// What an output holds in the end.
struct Output {
  unsigned parameter = 0;
  Array value;
};

/// The elements of a tensor with strides from those of its memory, in row-major
/// order.
template <typename T>
std::vector<T> gather(llvm::ArrayRef<T> memory, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                      unsigned width = 1) {
  std::vector<T> elements;
  int64_t total = 1;
  for (int64_t extent : shape)
    total *= extent;
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, offset = 0;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      offset += rest % shape[axis] * strides[axis];
    llvm::append_range(elements, memory.slice(offset * width, width));
  }
  return elements;
}

struct Statistics {
  uint64_t steps = 0;
  /// Elements of outputs by what is known of them.
  uint64_t exact = 0, bounded = 0, undetermined = 0;
  /// Set when a branch or a loop was decided by an undetermined value: nothing
  /// is known of any output then.
  std::string tainted;
};

struct RunResult {
  std::vector<Output> outputs;
  Statistics statistics;
};

/// Runs a function. `tensors` holds one entry per parameter: initial contents,
/// of outputs too; workspaces may be empty. `scalars` holds the bits of scalar
/// parameters by index. Failure after an error at the operation concerned.
mlir::FailureOr<RunResult> run(mlir::func::FuncOp function, llvm::ArrayRef<Parameter> parameters,
                               llvm::ArrayRef<HostTensor> tensors, const llvm::DenseMap<unsigned, uint64_t> &scalars,
                               const RunOptions &options);

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

struct Difference {
  unsigned parameter = 0;
  std::vector<int64_t> index;
  Number expected;
  uint64_t actual = 0;
  /// One sentence: index, both values, bits, bound.
  std::string text;
};

struct Comparison {
  uint64_t elements = 0, exact = 0, bounded = 0, undetermined = 0;
  /// Elements beyond their bound; `first` holds at most 10 of them.
  uint64_t differences = 0;
  std::vector<Difference> first;
};

/// Judges the bytes that a device computed for an output.
void compare(const Parameter &parameter, const Array &expected, llvm::ArrayRef<uint8_t> actual, Comparison &comparison);

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

enum class ValueClass : uint8_t {
  /// Integers of small magnitude, in floats too: sums are exact in any order.
  SmallInt,
  /// Floats of normal distribution, integers over their whole range.
  Normal,
  /// Any bits.
  AnyBits,
};
std::optional<ValueClass> parseValueClass(llvm::StringRef text);

/// Elements drawn from `seed`, the same on every host. With `range` integers (in
/// floats too) of a closed range.
HostTensor makeInput(const Parameter &parameter, llvm::ArrayRef<int64_t> shape, ValueClass values, uint64_t seed,
                     std::optional<std::pair<int64_t, int64_t>> range = std::nullopt);

//===----------------------------------------------------------------------===//
// Extension
//===----------------------------------------------------------------------===//

class Interpreter;
/// Executes one operation: reads its operands, sets its results.
using Handler = std::function<mlir::LogicalResult(Interpreter &, mlir::Operation *)>;

/// What handlers see of a run.
class Interpreter {
public:
  explicit Interpreter(const RunOptions &options);
  ~Interpreter();

  /// Registers what executes operations of a name; replaces what was there.
  void addHandler(llvm::StringRef operation, Handler handler);

  const RuntimeValue &get(mlir::Value value) const;
  /// An array operand.
  const Array &getArray(mlir::Value value) const;
  void set(mlir::Value value, RuntimeValue result);
  /// Accounts for work; failure at the limit.
  mlir::LogicalResult spend(mlir::Operation *op, uint64_t steps);
  /// An array of the type of a value; failure after an error for one that is
  /// too large or has elements of another kind.
  mlir::FailureOr<Array> allocate(mlir::Operation *op, mlir::Type type);
  mlir::FailureOr<Array> allocate(mlir::Operation *op, ElementType type, llvm::ArrayRef<int64_t> shape);

  /// Executes one operation, or the operations of a block up to its terminator;
  /// the terminator's operands are the outcome.
  mlir::LogicalResult execute(mlir::Operation *op);
  mlir::FailureOr<llvm::SmallVector<RuntimeValue>> executeBlock(mlir::Block &block);

  /// Nothing is known of any result from here on.
  void taint(mlir::Operation *op, llvm::StringRef why);

  RunOptions options;
  Statistics statistics;
  /// The workgroup at hand.
  std::array<int64_t, 3> block = {0, 0, 0}, grid = {1, 1, 1};
  int64_t linearBlock = 0;
  bool severalWorkgroups = false;
  /// Lane of an `atx.tile_raw` region, else -1.
  int64_t lane = -1;
  unsigned depth = 0;
  /// Iterations that loops have done since they were entered.
  llvm::DenseMap<mlir::Operation *, uint64_t> iterations;

private:
  llvm::StringMap<Handler> handlers;
  llvm::DenseMap<mlir::Value, RuntimeValue> values;
};

} // namespace atrex::interp

#endif // ATREX_INTERPRETER_INTERPRETER_H
