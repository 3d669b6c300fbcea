//===- Operator.h - Reference operators -------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the bench must know about an operator to run and check a kernel:
// parameters, dimensions and tensors, how inputs are drawn, what the right
// result is. Inputs and results can be computed for any range of rows alone, so
// that a shape too large to execute whole is checked on the rows that ran.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_OPERATOR_H
#define ATREX_BENCH_OPERATOR_H

#include "atrex/Bench/Catalogue.h"
#include "atrex/Support/DataType.h"
#include "atrex/Support/DimExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>

namespace atrex::bench {

/// How inputs are drawn.
enum class InputVariant : uint8_t {
  /// The published distributions.
  Published,
  /// Every term of the operator matters.
  Strict,
};
llvm::StringRef getName(InputVariant variant);

/// A tensor of one instance, seen as rows along the outermost dimension.
struct TensorSpec {
  std::string name;
  DataType type = DataType::BF16;
  /// Shape of the kernel argument; row-major, contiguous.
  std::vector<int64_t> shape;
  /// One row serves all rows of the operator (weights). Otherwise row r of the
  /// tensor belongs to row r of the operator.
  bool isShared = false;

  /// Extent along the rows: 1 for shared tensors.
  int64_t getRows() const { return isShared ? 1 : shape.front(); }
  int64_t getRowElements() const;
  int64_t getElements() const { return getRows() * getRowElements(); }
  uint64_t getRowBytes() const { return uint64_t(getRowElements()) * getSizeInBytes(type); }
  uint64_t getBytes() const { return uint64_t(getElements()) * getSizeInBytes(type); }
};

/// An operator at given parameters.
struct Instance {
  Params params;
  /// Model dimensions: compile-time constants of the kernel.
  std::map<std::string, int64_t> modelDims;
  /// Traffic dimensions: run-time parameters.
  std::map<std::string, int64_t> trafficDims;
  std::map<std::string, double> scalars;
  std::vector<TensorSpec> inputs, outputs;
  /// Rows that can be computed independently.
  int64_t rows = 0;

  DimMap getAllDims() const;
  /// "2500 x 1024", for tables.
  std::string shapeText;
  /// "hidden_size=1024" for messages.
  std::string str() const { return params.str(); }
};

/// Data of one input or output for a range of rows; shared inputs are whole.
using RowData = std::vector<std::vector<uint8_t>>;

class Operator {
public:
  virtual ~Operator();
  virtual llvm::StringRef getName() const = 0;

  /// Checks the parameters and lays out the tensors.
  virtual llvm::Expected<Instance> instantiate(const Params &params) const = 0;

  /// Draws rows rowBegin .. rowEnd - 1 of an input (0 .. 1 for a shared one)
  /// into `out`, in the storage type.
  virtual void generate(const Instance &instance, unsigned input, InputVariant variant, uint64_t seed, int64_t rowBegin,
                        int64_t rowEnd, void *out) const = 0;

  /// Computes `rows` rows from the same rows of the inputs. Sums are binary64,
  /// roundings stand where the operator defines them. Results are in the
  /// storage type.
  virtual void compute(const Instance &instance, llvm::ArrayRef<const void *> inputs, int64_t rows,
                       llvm::ArrayRef<void *> outputs) const = 0;
};

/// The reference for an operator of the catalogue; nullptr where there is none
/// yet.
const Operator *lookupOperator(llvm::StringRef name);

/// Names of the operators that have a reference.
std::vector<std::string> getReferenceNames();

} // namespace atrex::bench

#endif // ATREX_BENCH_OPERATOR_H
