//===- Table.h - Operators as rows of a table -------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator is four functions: lay out the tensors, draw inputs, check foreign
// inputs, compute. What all of them need (storage types, blocks, threads,
// faults of parameters) is here once.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_TABLE_H
#define ATREX_BENCH_TABLE_H

#include "atrex/Bench/Operator.h"
#include "atrex/Bench/Random.h"
#include "fmt/format.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>

namespace atrex::bench {

//===----------------------------------------------------------------------===//
// Storage types
//===----------------------------------------------------------------------===//

/// Rounds to the storage type and back.
float roundTo(DataType type, float value);
inline float roundToBF16(float value) { return convertFromBF16(convertToBF16(value)); }
/// Converts elements between a floating storage type and binary32.
void encodeFloats(DataType type, const float *values, int64_t count, void *out);
void decodeFloats(DataType type, const void *data, int64_t first, int64_t count, float *out);

/// Runs body(0) .. body(count - 1) on the processors at hand; every call must
/// write its own results.
void parallelFor(int64_t count, llvm::function_ref<void(int64_t)> body);

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// Laying out
//===----------------------------------------------------------------------===//

/// Whether a tensor goes by rows of the operator or serves all of them.
enum class Span : uint8_t { Rows, Whole };

/// Reads parameters, keeps the first fault and fills the instance.
class Layout {
public:
  Layout(Instance &instance, llvm::StringRef op, bool isStrict)
      : instance(instance), op(op.str()), isStrict(isStrict) {}

  Instance &instance;
  std::string op;
  bool isStrict;

  /// An integer from 1 to 2^31.
  int64_t count(llvm::StringRef name);
  /// The same; absent or null means `fallback`.
  int64_t count(llvm::StringRef name, int64_t fallback);
  /// An integer of at least 0.
  int64_t natural(llvm::StringRef name, int64_t fallback);
  double number(llvm::StringRef name, double fallback);
  bool flag(llvm::StringRef name, bool fallback);
  /// A string; null reads as "".
  std::string text(llvm::StringRef name, llvm::StringRef fallback);
  /// One of the types; the first is the default.
  DataType type(llvm::StringRef name, llvm::ArrayRef<DataType> types);
  std::vector<int64_t> list(llvm::StringRef name, int64_t low);
  /// Absent or null gives `fallback`; otherwise the list must have `size`
  /// entries.
  std::vector<int64_t> list(llvm::StringRef name, int64_t low, const std::vector<int64_t> &fallback);

  /// The product of sizes; a fault where it leaves the range of tensors.
  int64_t product(std::initializer_list<int64_t> sizes);
  void require(bool condition, const std::string &message);
  void input(llvm::StringRef name, DataType type, std::vector<int64_t> shape, Span span = Span::Rows,
             int64_t drawUnit = 1);
  void output(llvm::StringRef name, DataType type, std::vector<int64_t> shape, Span span = Span::Rows,
              bool isBound = false);
  /// Sets rows, dimensions and the text of the shape; `optional` are further
  /// model dimensions that a kernel may do without.
  using Dims = std::initializer_list<std::pair<const char *, int64_t>>;
  void dims(int64_t rows, Dims model, Dims traffic, Dims optional = {});

  bool failed() const { return !fault.empty(); }
  llvm::Error takeError() const { return makeError(fault); }

private:
  bool isAbsent(llvm::StringRef name) const;
  template <typename T> T take(llvm::Expected<T> value, T fallback);
  std::string fault;
};

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

/// Elements first .. first + count - 1 of one input are asked for; `values` or
/// `integers` takes them, depending on the type.
struct Draw {
  const Instance &instance;
  const TensorSpec &spec;
  std::string op;
  bool isStrict;
  uint64_t seed;
  /// What the operator's plan function made for this input.
  const void *plan;
  int64_t first = 0, count = 0;
  float *values = nullptr;
  int64_t *integers = nullptr;

  RandomStream stream(llvm::StringRef tag) const { return RandomStream(op, tag, seed); }
  int64_t dim(const char *name) const;
  int64_t item(const char *name, size_t index = 0) const { return instance.lists.at(name)[index]; }

  /// Standard normal values of the stream `tag` (the tensor's name when empty).
  void normal(llvm::StringRef tag = "") const;
  /// factor * N as a half-precision library computes it: N is rounded, then the
  /// product.
  void half(float factor = 1, llvm::StringRef tag = "") const;
  /// N scaled by row: factor(row) is applied before the only rounding.
  void scaledRows(int64_t width, llvm::function_ref<float(int64_t)> factor) const;
};

/// `sizes` in turn; of three or more rows the last is zero.
float cycleRows(llvm::ArrayRef<float> sizes, int64_t row, int64_t rows);
/// Stable order of `count` words: a permutation.
std::vector<int64_t> drawPermutation(const RandomStream &stream, int64_t count);
/// Softmax over `count` binary32 values, rounded to binary32.
void softmaxRounded(const float *values, int64_t count, float *out);

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

/// Rows rowBegin .. rowBegin + rows - 1.
struct Work {
  const Instance &instance;
  llvm::ArrayRef<const void *> inputs;
  llvm::ArrayRef<void *> outputs;
  int64_t rows = 0, rowBegin = 0;

  int64_t dim(const char *name) const;
  int64_t item(const char *name, size_t index = 0) const { return instance.lists.at(name)[index]; }
  double scalar(const char *name) const { return instance.scalars.at(name); }

  /// Elements of an input; those that go by rows count from row rowBegin.
  void load(unsigned input, int64_t first, int64_t count, float *out) const {
    decodeFloats(instance.inputs[input].type, inputs[input], first, count, out);
  }
  std::vector<float> load(unsigned input, int64_t first, int64_t count) const {
    std::vector<float> values(static_cast<size_t>(count));
    load(input, first, count, values.data());
    return values;
  }
  int64_t integer(unsigned input, int64_t index) const;
  void store(unsigned output, int64_t first, int64_t count, const float *values) const;
  void storeInteger(unsigned output, int64_t index, int64_t value) const;
};

/// One operator.
struct OperatorTable {
  const char *name;
  void (*layOut)(Layout &);
  void (*draw)(const Draw &);
  void (*compute)(const Work &);
  /// Checks indices and lengths in foreign inputs; may be null.
  llvm::Error (*validate)(const Work &) = nullptr;
  /// Extents of bound outputs along their outermost axis, in order of the
  /// outputs; may be null.
  std::vector<int64_t> (*resolve)(const Work &) = nullptr;
  /// Made once per call for all blocks of a draw; may be null.
  std::shared_ptr<const void> (*plan)(const Draw &) = nullptr;
};

/// Wraps a row of the table.
std::unique_ptr<Operator> makeOperator(const OperatorTable &table);

/// Every element of an integer input lies in [low, high); the message names the
/// first that does not.
llvm::Error checkRange(const Work &work, unsigned input, int64_t low, int64_t high);

} // namespace atrex::bench

#endif // ATREX_BENCH_TABLE_H
