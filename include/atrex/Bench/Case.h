//===- Case.h - Stored cases ------------------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stored case is a directory with `case.json` and one raw little-endian file
// per tensor (`atrex-mlir/case/1`, described in docs/formats.md).
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_CASE_H
#define ATREX_BENCH_CASE_H

#include "atrex/Bench/Operator.h"

namespace atrex::bench {

struct CaseTensor {
  std::string name;
  bool isOutput = false;
  DataType type = DataType::BF16;
  std::vector<int64_t> shape;
  /// File name inside the directory.
  std::string file;
  std::vector<uint8_t> data;
};

struct Case {
  std::string directory;
  std::string op;
  InputVariant variant = InputVariant::Published;
  uint64_t seed = 0;
  /// Constructor and input parameters in one name space.
  llvm::json::Object params;
  llvm::json::Object options;
  std::vector<CaseTensor> tensors;

  const CaseTensor *lookup(llvm::StringRef name, bool isOutput) const;
};

/// A case laid out as its operator sees it.
struct CaseBinding {
  Instance instance;
  std::vector<const CaseTensor *> inputs, outputs;
  /// Data of the inputs, in order.
  std::vector<const void *> inputData;
  /// Shapes of the outputs; lengths that depend on the data are resolved.
  std::vector<std::vector<int64_t>> outputShapes;
};

/// Reads a case; errors name file and field.
llvm::Expected<Case> loadCase(llvm::StringRef directory);

/// Lays the case out by its parameters and options, finds all tensors and checks
/// that indices, lengths and tables of the inputs stay within bounds. Errors
/// name case and tensor.
llvm::Expected<CaseBinding> bindCase(const Operator &op, const CatalogueOperator &entry, const Case &testCase);

/// Reads the output files of `testCase` from another directory (`DIR/out_*.bin`,
/// named as in the case) into a copy of its output tensors.
llvm::Expected<std::vector<CaseTensor>> loadOutputs(const Case &testCase, llvm::StringRef directory);

/// The tensor of `testCase` that belongs to `spec`; an error when it is missing
/// or its type or shape differ (leading axes may be flattened).
llvm::Expected<const CaseTensor *> matchTensor(const Case &testCase, const TensorSpec &spec, bool isOutput);

} // namespace atrex::bench

#endif // ATREX_BENCH_CASE_H
