//===- Registry.cpp - All references, input variants and probes -----------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "References.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace atrex;
using namespace atrex::bench;

llvm::StringRef bench::getName(InputVariant variant) {
  switch (variant) {
  case InputVariant::Published:
    return "published";
  case InputVariant::Strict:
    return "strict";
  case InputVariant::Constant:
    return "constant";
  case InputVariant::Sparse:
    return "sparse";
  case InputVariant::Alternating:
    return "alternating";
  case InputVariant::Wide:
    return "wide";
  case InputVariant::Duplicates:
    return "duplicates";
  }
  return "";
}

llvm::ArrayRef<InputVariant> bench::getProbes() {
  static constexpr InputVariant probes[] = {InputVariant::Constant, InputVariant::Sparse, InputVariant::Alternating,
                                            InputVariant::Wide, InputVariant::Duplicates};
  return probes;
}

int64_t TensorSpec::getRowElements() const {
  int64_t count = 1;
  for (size_t i = isShared ? 0 : 1; i < shape.size(); ++i)
    count *= shape[i];
  return count;
}

DimMap Instance::getAllDims() const {
  DimMap dims;
  for (const auto &[name, value] : modelDims)
    dims[name] = value;
  for (const auto &[name, value] : trafficDims)
    dims[name] = value;
  return dims;
}

Operator::~Operator() = default;

llvm::Error Operator::validate(const Instance &, llvm::ArrayRef<const void *>) const { return llvm::Error::success(); }

std::vector<std::vector<int64_t>> Operator::resolveOutputs(const Instance &instance,
                                                           llvm::ArrayRef<const void *>) const {
  std::vector<std::vector<int64_t>> shapes;
  for (const TensorSpec &spec : instance.outputs)
    shapes.push_back(spec.shape);
  return shapes;
}

void Operator::generate(const Instance &instance, unsigned input, InputVariant variant, uint64_t seed, int64_t rowBegin,
                        int64_t rowEnd, void *out) const {
  bool isProbe = llvm::is_contained(getProbes(), variant);
  draw(instance, input, isProbe ? InputVariant::Strict : variant, seed, rowBegin, rowEnd, out);
  const TensorSpec &spec = instance.inputs[input];
  // Indices, lengths, gates and scales keep their meaning: only the half-precision
  // tensors are bent.
  if (!isProbe || (spec.type != DataType::BF16 && spec.type != DataType::F16))
    return;
  RandomStream stream(getName(), spec.name + "/probe", seed);
  uint16_t *words = static_cast<uint16_t *>(out);
  int64_t begin = rowBegin * spec.getRowElements(), count = (rowEnd - rowBegin) * spec.getRowElements();
  int64_t columns = !spec.isShared && spec.shape.size() == 1 ? 1 : spec.shape.back();
  auto edit = [&](int64_t i, llvm::function_ref<float(float)> change) {
    float value;
    decodeFloats(spec.type, words, i, 1, &value);
    value = change(value);
    encodeFloats(spec.type, &value, 1, words + i);
  };
  for (int64_t i = 0; i < count; ++i) {
    uint64_t position = uint64_t(begin + i), word = stream.getWord(position);
    switch (variant) {
    case InputVariant::Constant:
      edit(i, [&](float) { return 0.5f + float(stream.getWord(~uint64_t(0)) >> 62) * 0.25f; });
      break;
    case InputVariant::Sparse:
      if (word >> 60 != 0)
        words[i] = 0;
      break;
    case InputVariant::Alternating:
      edit(i, [&](float value) { return position % 2 ? -std::abs(value) : std::abs(value); });
      break;
    case InputVariant::Wide:
      // fp16 ends at 65504.
      edit(i, [&](float value) {
        int span = spec.type == DataType::F16 ? 4 : 12;
        return std::ldexp(value, int((word >> 32) % uint64_t(2 * span + 1)) - span);
      });
      break;
    case InputVariant::Duplicates:
      // The first of eight neighbours in the same row; a vector over rows has none.
      if ((begin + i) % columns % 8 != 0)
        words[i] = words[i - 1];
      break;
    case InputVariant::Published:
    case InputVariant::Strict:
      break;
    }
  }
}

static llvm::ArrayRef<const Operator *> getOperators() {
  static const std::vector<const Operator *> operators = [] {
    std::vector<const Operator *> list(getRowOperators());
    for (llvm::ArrayRef<OperatorTable> family : {getAttentionTables(), getRecurrenceTables(), getProductTables(),
                                                 getHeadTables(), getQuantiserTables(), getRoutingTables()})
      for (const OperatorTable &table : family)
        list.push_back(makeOperator(table).release());
    llvm::sort(list, [](const Operator *a, const Operator *b) { return a->getName() < b->getName(); });
    return list;
  }();
  return operators;
}

const Operator *bench::lookupOperator(llvm::StringRef name) {
  for (const Operator *op : getOperators())
    if (op->getName() == name)
      return op;
  return nullptr;
}

std::vector<std::string> bench::getReferenceNames() {
  std::vector<std::string> names;
  for (const Operator *op : getOperators())
    names.push_back(op->getName().str());
  return names;
}
