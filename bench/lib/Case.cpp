//===- Case.cpp - Stored cases --------------------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Case.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/Json.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <limits>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

const CaseTensor *Case::lookup(llvm::StringRef name, bool isOutput) const {
  for (const CaseTensor &tensor : tensors)
    if (tensor.name == name && tensor.isOutput == isOutput)
      return &tensor;
  return nullptr;
}

static std::string joinPath(llvm::StringRef directory, llvm::StringRef file) {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, file);
  return path.str().str();
}

static std::string formatShape(llvm::ArrayRef<int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// Fills `tensor.data` from a file of exactly the right size.
static llvm::Error readTensor(const std::string &path, CaseTensor &tensor) {
  uint64_t bytes = getSizeInBytes(tensor.type);
  for (int64_t extent : tensor.shape)
    bytes *= uint64_t(extent);
  auto buffer = readRegularFile(path, std::numeric_limits<uint64_t>::max());
  if (!buffer)
    return buffer.takeError();
  if ((*buffer)->getBufferSize() != bytes)
    return makeError(fmt::format("'{}' holds {} bytes, but shape {} of {} needs {}", path, (*buffer)->getBufferSize(),
                                 formatShape(tensor.shape), getCaseName(tensor.type).str(), bytes));
  tensor.data.assign((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
  return llvm::Error::success();
}

static llvm::Expected<CaseTensor> loadTensor(const json::Value &value, const std::string &where,
                                             llvm::StringRef directory) {
  auto fail = [&](const std::string &what) { return makeError(fmt::format("{}: {}", where, what)); };
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail("must be an object");
  CaseTensor tensor;
  std::optional<llvm::StringRef> name = object->getString("name"), role = object->getString("role"),
                                 dtype = object->getString("dtype"), file = object->getString("file");
  if (!name || name->empty())
    return fail("field 'name' must be a string");
  if (!role || (*role != "in" && *role != "out"))
    return fail("field 'role' must be \"in\" or \"out\"");
  if (!dtype)
    return fail("field 'dtype' must be a string");
  std::optional<DataType> type = parseDataType(*dtype);
  if (!type || getCaseName(*type) != *dtype)
    return fail(fmt::format("unknown dtype '{}'; a case holds bf16, fp16, fp32, int32, int64, e4m3fn or e4m3fnuz",
                            dtype->str()));
  if (!file || file->empty() || file->contains('/') || *file == "." || *file == "..")
    return fail("field 'file' must be a plain file name");
  tensor.name = name->str();
  tensor.isOutput = *role == "out";
  tensor.type = *type;
  const json::Array *shape = object->getArray("shape");
  if (!shape)
    return fail("field 'shape' must be an array");
  int64_t bytes = getSizeInBytes(*type);
  for (const json::Value &extent : *shape) {
    std::optional<int64_t> number = extent.getAsInteger();
    if (!number || *number < 0 || llvm::MulOverflow(bytes, *number, bytes))
      return fail("field 'shape' must hold non-negative integers whose product fits 64 bits");
    tensor.shape.push_back(*number);
  }
  tensor.file = file->str();
  std::string path = joinPath(directory, *file);
  if (llvm::Error error = readTensor(path, tensor))
    return std::move(error);
  return tensor;
}

llvm::Expected<Case> bench::loadCase(llvm::StringRef directory) {
  std::string path = joinPath(directory, "case.json");
  auto buffer = readInput(path, maxTextBytes);
  if (!buffer)
    return buffer.takeError();
  llvm::Expected<json::Value> tree = parseJson((*buffer)->getBuffer());
  if (!tree)
    return makeError(fmt::format("'{}': {}", path, llvm::toString(tree.takeError())));
  auto fail = [&](const std::string &what) { return makeError(fmt::format("'{}': {}", path, what)); };
  const json::Object *object = tree->getAsObject();
  if (!object)
    return fail("must hold a JSON object");
  if (object->getString("format") != llvm::StringRef("atrex-mlir/case/1"))
    return fail("field 'format' must be \"atrex-mlir/case/1\"");
  Case result;
  result.directory = directory.str();
  std::optional<llvm::StringRef> op = object->getString("operator"), variant = object->getString("variant");
  if (!op)
    return fail("field 'operator' must be a string");
  result.op = op->str();
  if (!variant || (*variant != "upstream" && *variant != "strict"))
    return fail("field 'variant' must be \"upstream\" or \"strict\"");
  result.variant = *variant == "strict" ? InputVariant::Strict : InputVariant::Published;
  if (const json::Value *probe = object->get("probe")) {
    const InputVariant *found =
        llvm::find_if(getProbes(), [&](InputVariant candidate) { return probe->getAsString() == getName(candidate); });
    if (found == getProbes().end())
      return fail("field 'probe' must be one of constant, sparse, alternating, wide, duplicates");
    result.variant = *found;
  }
  std::optional<int64_t> seed = object->getInteger("seed");
  if (!seed)
    return fail("field 'seed' must be an integer");
  result.seed = uint64_t(*seed);
  for (const char *key : {"params", "init"}) {
    const json::Object *values = object->getObject(key);
    if (!values)
      return fail(fmt::format("field '{}' must be an object", key));
    for (const auto &[name, value] : *values)
      result.params[name] = value;
  }
  if (const json::Value *options = object->get("options")) {
    if (!options->getAsObject())
      return fail("field 'options' must be an object");
    result.options = *options->getAsObject();
  }
  const json::Array *tensors = object->getArray("tensors");
  if (!tensors)
    return fail("field 'tensors' must be an array");
  for (size_t i = 0; i < tensors->size(); ++i) {
    llvm::Expected<CaseTensor> tensor = loadTensor((*tensors)[i], fmt::format("'{}': tensors[{}]", path, i), directory);
    if (!tensor)
      return tensor.takeError();
    if (result.lookup(tensor->name, tensor->isOutput))
      return fail(fmt::format("tensor '{}' occurs twice with the same role", tensor->name));
    result.tensors.push_back(std::move(*tensor));
  }
  return result;
}

llvm::Expected<CaseBinding> bench::bindCase(const Operator &op, const CatalogueOperator &entry, const Case &testCase) {
  auto locate = [&](llvm::Error error) {
    return makeError(fmt::format("case '{}': {}", testCase.directory, llvm::toString(std::move(error))));
  };
  json::Object params = testCase.params;
  for (const auto &[name, value] : testCase.options)
    params[name] = value;
  CaseBinding binding;
  llvm::Expected<Instance> instance = op.instantiate(entry.makeParams(params), testCase.variant);
  if (!instance)
    return locate(instance.takeError());
  binding.instance = std::move(*instance);
  for (const TensorSpec &spec : binding.instance.inputs) {
    llvm::Expected<const CaseTensor *> tensor = matchTensor(testCase, spec, false);
    if (!tensor)
      return tensor.takeError();
    binding.inputs.push_back(*tensor);
    binding.inputData.push_back((*tensor)->data.data());
  }
  // A tensor nobody reads would leave the case other than it looks.
  for (const CaseTensor &tensor : testCase.tensors) {
    bool isKnown = llvm::any_of(tensor.isOutput ? binding.instance.outputs : binding.instance.inputs,
                                [&](const TensorSpec &spec) { return spec.name == tensor.name; });
    if (!isKnown)
      return locate(makeError(fmt::format("operator {} has no {} '{}' at these parameters", testCase.op,
                                          tensor.isOutput ? "output" : "input", tensor.name)));
  }
  if (llvm::Error error = op.validate(binding.instance, binding.inputData))
    return locate(std::move(error));
  binding.outputShapes = op.resolveOutputs(binding.instance, binding.inputData);
  for (auto [spec, shape] : llvm::zip_equal(binding.instance.outputs, binding.outputShapes)) {
    TensorSpec resolved = spec;
    resolved.shape = shape;
    llvm::Expected<const CaseTensor *> tensor = matchTensor(testCase, resolved, true);
    if (!tensor)
      return tensor.takeError();
    binding.outputs.push_back(*tensor);
  }
  return binding;
}

llvm::Expected<std::vector<CaseTensor>> bench::loadOutputs(const Case &testCase, llvm::StringRef directory) {
  std::vector<CaseTensor> outputs;
  for (const CaseTensor &tensor : testCase.tensors) {
    if (!tensor.isOutput)
      continue;
    outputs.push_back(tensor);
    if (llvm::Error error = readTensor(joinPath(directory, tensor.file), outputs.back()))
      return std::move(error);
  }
  return outputs;
}

llvm::Expected<const CaseTensor *> bench::matchTensor(const Case &testCase, const TensorSpec &spec, bool isOutput) {
  const char *role = isOutput ? "output" : "input";
  const CaseTensor *tensor = testCase.lookup(spec.name, isOutput);
  if (!tensor)
    return makeError(
        fmt::format("case '{}': {} '{}' of operator {} is missing", testCase.directory, role, spec.name, testCase.op));
  int64_t elements = 1;
  for (int64_t extent : tensor->shape)
    elements *= extent;
  // Operators that work on the last axis take any number of leading axes.
  bool lastAgrees =
      tensor->shape.empty() ? spec.shape.empty() : !spec.shape.empty() && tensor->shape.back() == spec.shape.back();
  if (tensor->type != spec.type || elements != spec.getElements() || !lastAgrees)
    return makeError(fmt::format("case '{}': {} '{}' is {} of {}, but the parameters ask for {} of {}",
                                 testCase.directory, role, spec.name, formatShape(tensor->shape),
                                 getCaseName(tensor->type).str(), formatShape(spec.shape),
                                 getCaseName(spec.type).str()));
  return tensor;
}
