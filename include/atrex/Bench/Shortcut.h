//===- Shortcut.h - Wrong results that look right ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shortcuts that a slack check accepts: work left out, terms dropped, neighbours
// mixed up. Each one is computed from the reference with bent inputs or outputs,
// so that the strict verdict can be held against it.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_SHORTCUT_H
#define ATREX_BENCH_SHORTCUT_H

#include "atrex/Bench/Operator.h"

namespace atrex::bench {

/// Data of the tensors of an instance by name, in their storage types.
class TensorSet {
public:
  TensorSet(llvm::ArrayRef<TensorSpec> specs, std::vector<std::vector<uint8_t>> data)
      : specs(specs), data(std::move(data)) {}

  const TensorSpec &getSpec(llvm::StringRef name) const { return specs[find(name)]; }
  std::vector<uint8_t> &getData(llvm::StringRef name) { return data[find(name)]; }
  std::vector<float> getFloats(llvm::StringRef name) const;
  void setFloats(llvm::StringRef name, const std::vector<float> &values);
  std::vector<int64_t> getIntegers(llvm::StringRef name) const;
  void setIntegers(llvm::StringRef name, const std::vector<int64_t> &values);
  /// Every element becomes `value`.
  void fill(llvm::StringRef name, float value);
  std::vector<std::vector<uint8_t>> take() { return std::move(data); }
  std::vector<const void *> getPointers() const;

private:
  size_t find(llvm::StringRef name) const;
  llvm::ArrayRef<TensorSpec> specs;
  std::vector<std::vector<uint8_t>> data;
};

struct Shortcut {
  llvm::StringLiteral op, name, description;
  /// Changes the inputs before the reference runs; may be null.
  void (*bendInputs)(const Instance &instance, TensorSet &inputs);
  /// Changes the outputs afterwards; `inputs` are those of the case. May be null.
  void (*bendOutputs)(const Instance &instance, TensorSet &inputs, TensorSet &outputs);
};

llvm::ArrayRef<Shortcut> getShortcuts();
/// Right results of another order of operations, where the published check cannot
/// be passed: computed as kernels do, accepted by the strict verdict.
llvm::ArrayRef<Shortcut> getHonestVariants();

/// What the shortcut returns for `inputs`; outputs have the resolved shapes.
std::vector<std::vector<uint8_t>> takeShortcut(const Shortcut &shortcut, const Operator &op, const Instance &instance,
                                               std::vector<std::vector<uint8_t>> inputs,
                                               llvm::ArrayRef<std::vector<int64_t>> outputShapes);

} // namespace atrex::bench

#endif // ATREX_BENCH_SHORTCUT_H
