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
  // Probes: the strict inputs with the bf16 and fp16 tensors bent into a
  // structure that random values never have.
  /// One value per tensor.
  Constant,
  /// One element in sixteen, the rest zero.
  Sparse,
  /// Signs alternate along the tensor.
  Alternating,
  /// Elements scaled by 2^-12 .. 2^12.
  Wide,
  /// Every element stands eight times in a row.
  Duplicates,
};
llvm::StringRef getName(InputVariant variant);
/// The probes, in order.
llvm::ArrayRef<InputVariant> getProbes();

/// A tensor of one instance, seen as rows along the outermost dimension.
struct TensorSpec {
  std::string name;
  DataType type = DataType::BF16;
  /// Shape of the kernel argument; row-major, contiguous.
  std::vector<int64_t> shape;
  /// One row serves all rows of the operator (weights). Otherwise row r of the
  /// tensor belongs to row r of the operator.
  /// A shared output is written by all rows together.
  bool isShared = false;
  /// Output whose length depends on the data: the outermost extent is an upper
  /// bound, see Operator::resolveOutputs.
  bool isBound = false;
  /// Elements that are drawn together (1: any element alone, 0: the whole
  /// tensor); used by table-driven operators.
  int64_t drawUnit = 1;

  /// Extent along the rows: 1 for shared tensors.
  int64_t getRows() const { return isShared ? 1 : shape.front(); }
  int64_t getRowElements() const;
  int64_t getElements() const { return getRows() * getRowElements(); }
  uint64_t getRowBytes() const { return getSizeInBytes(type, uint64_t(getRowElements())); }
  uint64_t getBytes() const { return getSizeInBytes(type, uint64_t(getElements())); }
};

/// An operator at given parameters.
struct Instance {
  Params params;
  /// Model dimensions: compile-time constants of the kernel.
  std::map<std::string, int64_t> modelDims;
  /// Model dimensions that a kernel may do without, because they are no extent
  /// of a tensor or only divide one (chunk and block sizes, k of a top-k).
  std::vector<std::string> optionalDims;
  /// Traffic dimensions: run-time parameters.
  std::map<std::string, int64_t> trafficDims;
  std::map<std::string, double> scalars;
  /// Everything else references need: switches, types and lists of lengths.
  std::map<std::string, std::vector<int64_t>> lists;
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

  /// Checks the parameters and lays out the tensors. Sizes can depend on the
  /// variant (strict inputs have sequences of different length).
  virtual llvm::Expected<Instance> instantiate(const Params &params, InputVariant variant) const = 0;
  llvm::Expected<Instance> instantiate(const Params &params) const {
    return instantiate(params, InputVariant::Published);
  }

  /// Draws rows rowBegin .. rowEnd - 1 of an input (0 .. 1 for a shared one)
  /// into `out`, in the storage type.
  void generate(const Instance &instance, unsigned input, InputVariant variant, uint64_t seed, int64_t rowBegin,
                int64_t rowEnd, void *out) const;

  /// Whether indices, lengths and tables in foreign inputs stay within their
  /// tensors; `compute` relies on it. Inputs are whole.
  virtual llvm::Error validate(const Instance &instance, llvm::ArrayRef<const void *> inputs) const;

  /// The shapes of outputs whose length depends on the data (`isBound`), from
  /// whole inputs.
  virtual std::vector<std::vector<int64_t>> resolveOutputs(const Instance &instance,
                                                           llvm::ArrayRef<const void *> inputs) const;

  /// Computes `rows` rows from the same rows of the inputs; the first one is row
  /// `rowBegin` of the operator. Sums are binary64, roundings stand where the
  /// operator defines them. Results are in the storage type; bound outputs are
  /// filled up to their resolved length.
  virtual void compute(const Instance &instance, llvm::ArrayRef<const void *> inputs, int64_t rows,
                       llvm::ArrayRef<void *> outputs, int64_t rowBegin = 0) const = 0;

protected:
  /// `generate` without probes: `variant` is Published or Strict.
  virtual void draw(const Instance &instance, unsigned input, InputVariant variant, uint64_t seed, int64_t rowBegin,
                    int64_t rowEnd, void *out) const = 0;
};

/// The reference for an operator of the catalogue; nullptr where there is none
/// yet.
const Operator *lookupOperator(llvm::StringRef name);

/// Host threads that references and generators of this process use; 0, the
/// default, means one per core. Results do not depend on it.
void setReferenceThreads(unsigned threads);

/// Names of the operators that have a reference.
std::vector<std::string> getReferenceNames();

} // namespace atrex::bench

#endif // ATREX_BENCH_OPERATOR_H
