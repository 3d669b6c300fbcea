//===- Judge.cpp - Compiled code against the interpreter ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Interpreter/Judge.h"
#include "atrex/Device/Device.h"
#include "atrex/Frontend/Diagnostics.h"
#include "atrex/Frontend/Frontend.h"
#include "atrex/Pipelines/Pipelines.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>
#include <numeric>
#include <set>

using namespace atrex;
using namespace atrex::interp;

llvm::StringRef interp::getName(Stage stage) {
  switch (stage) {
  case Stage::Source:
    return "source";
  case Stage::Interpret:
    return "interpret";
  case Stage::Compile:
    return "compile";
  case Stage::Device:
    return "device";
  case Stage::Compare:
    return "compare";
  }
  return "";
}

namespace {
llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Names in alphabetical order.
std::vector<llvm::StringRef> sortedKeys(const DimMap &dims) {
  std::vector<llvm::StringRef> names(dims.keys().begin(), dims.keys().end());
  llvm::sort(names);
  return names;
}

/// Whether sizes name run-time dimensions.
llvm::Error checkSizes(mlir::func::FuncOp function, llvm::ArrayRef<Parameter> parameters, const JudgeOptions &options) {
  std::set<std::string> known;
  if (auto names = function->getAttrOfType<mlir::ArrayAttr>(atx::dimsAttrName))
    for (llvm::StringRef name : names.getAsValueRange<mlir::StringAttr>()) {
      if (!options.sizes.count(name) && !options.compile.dims.count(name))
        return makeError("dimension '" + name + "' of '" + function.getName() +
                         "' has no value; give it with '--size " + name + "=...'");
      known.insert(name.str());
    }
  for (const Parameter &parameter : parameters) {
    if (parameter.isDim)
      known.insert(parameter.name);
    for (const DimExpr &extent : parameter.shape)
      extent.collectDims(known);
    for (const DimExpr &stride : parameter.strides)
      stride.collectDims(known);
  }
  for (llvm::StringRef name : sortedKeys(options.sizes)) {
    if (known.count(name.str()))
      continue;
    if (options.compile.dims.count(name))
      return makeError("'--size " + name + "=...': '--dim' has made this dimension a constant");
    std::vector<llvm::StringRef> names(known.begin(), known.end());
    std::string list = names.empty() ? std::string("it has none") : "they are " + llvm::join(names, ", ");
    return makeError("'--size " + name + "=...': '" + function.getName() + "' has no run-time dimension '" + name +
                     "'" + frontend::didYouMean(name, names) + "; " + list);
  }
  return llvm::Error::success();
}

/// The bits of a scalar's value.
uint64_t encodeScalar(const Parameter &parameter, double value) {
  if (parameter.element.isFloat())
    return encodeFloat(value, parameter.element);
  return fromSigned(static_cast<int64_t>(value), parameter.element).bits;
}

/// Fills `result.tensors` and the scalars.
llvm::Error supply(const JudgeOptions &options, const DimMap &dims, JudgeResult &result,
                   llvm::DenseMap<unsigned, uint64_t> &scalars, llvm::StringMap<double> &named) {
  result.tensors.resize(result.parameters.size());
  std::set<std::string> names;
  for (const Parameter &parameter : result.parameters) {
    names.insert(parameter.name);
    if (parameter.isDim) {
      auto found = dims.find(parameter.name);
      if (found == dims.end())
        return makeError("dimension '" + parameter.name + "' has no value");
      scalars[parameter.index] = static_cast<uint64_t>(found->second);
      continue;
    }
    if (!parameter.isTensor) {
      auto found = options.scalars.find(parameter.name);
      std::optional<double> value = parameter.defaultValue;
      if (found != options.scalars.end())
        value = found->second;
      if (!value) {
        // One element of the parameter's own class.
        HostTensor one = makeInput(parameter, {}, ValueClass::SmallInt, options.seed);
        Number number;
        for (auto [i, byte] : llvm::enumerate(one.bytes))
          number.bits |= uint64_t(byte) << (8 * i);
        value = toDouble(number, parameter.element);
      }
      if (!parameter.element.isFloat() && !(std::fabs(*value) < 0x1p63))
        return makeError("scalar '" + parameter.name + "' does not fit its type");
      scalars[parameter.index] = encodeScalar(parameter, *value);
      named[parameter.name] = *value;
      continue;
    }
    llvm::Expected<std::vector<int64_t>> shape = getShape(parameter, dims);
    if (!shape)
      return shape.takeError();
    llvm::Expected<std::vector<int64_t>> strides = getStrides(parameter, *shape, dims);
    if (!strides)
      return strides.takeError();
    llvm::Expected<int64_t> span = getSpan(parameter, *shape, *strides);
    if (!span)
      return span.takeError();
    if (parameter.isWorkspace) {
      result.tensors[parameter.index].shape = *shape;
      continue;
    }
    ValueClass values = options.values;
    if (auto found = options.classes.find(parameter.name); found != options.classes.end())
      values = found->second;
    std::optional<std::pair<int64_t, int64_t>> range;
    if (auto found = options.ranges.find(parameter.name); found != options.ranges.end())
      range = found->second;
    // What an output holds before the launch is a stream of its own.
    // Gaps between elements hold something too.
    HostTensor tensor =
        makeInput(parameter, *span, parameter.isOutput ? ValueClass::SmallInt : values,
                  options.seed + (parameter.isOutput ? 0x10000 : 0), parameter.isOutput ? std::nullopt : range);
    tensor.shape = *shape;
    tensor.strides = *strides;
    auto contents = options.contents.find(parameter.name);
    if (contents != options.contents.end() && !parameter.isOutput) {
      if (contents->second.size() != tensor.bytes.size())
        return makeError("the contents of '" + parameter.name + "' are " + llvm::Twine(contents->second.size()) +
                         " bytes, the tensor has " + llvm::Twine(tensor.bytes.size()));
      tensor.bytes = contents->second;
    }
    result.tensors[parameter.index] = std::move(tensor);
  }
  auto check = [&](const auto &map, llvm::StringRef what) -> llvm::Error {
    for (const auto &entry : map)
      if (!names.count(entry.first))
        return makeError("there is no parameter '" + entry.first + "' (" + what + ")");
    return llvm::Error::success();
  };
  if (llvm::Error error = check(options.ranges, "range"))
    return error;
  if (llvm::Error error = check(options.classes, "values"))
    return error;
  if (llvm::Error error = check(options.contents, "contents"))
    return error;
  return check(options.scalars, "scalar");
}

/// Bytes of a tensor's memory that belong to no element and are not what they were.
int64_t countChangedGaps(const Parameter &parameter, const HostTensor &tensor, llvm::ArrayRef<uint8_t> bytes) {
  // Contiguous memory has none.
  uint64_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements *= uint64_t(extent);
  if (bytes.size() == parameter.getBytes(elements))
    return 0;
  std::vector<int64_t> places(bytes.size() * 8 / parameter.getElementBits());
  std::iota(places.begin(), places.end(), 0);
  std::vector<bool> isElement(places.size(), false);
  for (int64_t place : gather<int64_t>(places, tensor.shape, tensor.strides))
    isElement[place] = true;
  int64_t changed = 0;
  for (int64_t place : places)
    changed += !isElement[place] && parameter.loadBits(bytes, place) != parameter.loadBits(tensor.bytes, place);
  return changed;
}

/// The elements of a tensor with strides, one after the other.
std::vector<uint8_t> gatherBytes(const Parameter &parameter, const HostTensor &tensor, llvm::ArrayRef<uint8_t> bytes) {
  std::vector<int64_t> places(bytes.size() * 8 / parameter.getElementBits());
  std::iota(places.begin(), places.end(), 0);
  std::vector<int64_t> order = gather<int64_t>(places, tensor.shape, tensor.strides);
  std::vector<uint8_t> dense(parameter.getBytes(order.size()));
  for (size_t i = 0; i < order.size(); ++i)
    parameter.storeBits(dense, i, parameter.loadBits(bytes, order[i]));
  return dense;
}

struct OutputBytes {
  unsigned parameter = 0;
  std::vector<uint8_t> bytes;
};

/// Runs a code object on the embedded device.
llvm::Expected<std::vector<OutputBytes>> runOnDevice(const CompileResult &code, const JudgeOptions &options,
                                                     const DimMap &sizes, const JudgeResult &result,
                                                     const llvm::StringMap<double> &scalars) {
  const Manifest &manifest = code.manifest;
  llvm::Expected<std::unique_ptr<device::Device>> device = device::createSimDevice({options.compile.arch, 1});
  if (!device)
    return device.takeError();
  llvm::Expected<std::unique_ptr<device::Module>> module =
      (*device)->load(llvm::MemoryBufferRef(code.output, "code object"));
  if (!module)
    return module.takeError();
  if (manifest.kernels.empty())
    return makeError("the code object has no kernel with a manifest");
  LaunchArguments arguments;
  for (const std::string &name : manifest.runtimeDims)
    if (auto found = sizes.find(name); found != sizes.end())
      arguments.dims[name] = found->second;
  llvm::Expected<DimMap> dims = resolveDims(manifest, arguments.dims);
  if (!dims)
    return dims.takeError();
  std::set<std::string> scalarNames;
  for (const ManifestKernel &kernel : manifest.kernels)
    for (const ManifestArg &arg : kernel.args)
      if (arg.kind == ManifestArg::Kind::Scalar)
        scalarNames.insert(arg.name);
  for (const auto &entry : scalars)
    if (scalarNames.count(entry.getKey().str()))
      arguments.scalars[entry.getKey()] = entry.getValue();

  // One allocation per tensor of the operator; others are workspaces.
  std::map<std::pair<std::string, bool>, device::DevicePtr> memory;
  std::map<std::pair<std::string, bool>, unsigned> owners;
  for (const Parameter &parameter : result.parameters)
    if (parameter.isTensor && !parameter.isWorkspace)
      owners[{parameter.name, parameter.isOutput}] = parameter.index;
  for (const ManifestKernel &kernel : manifest.kernels) {
    arguments.tensors.assign(kernel.args.size(), 0);
    for (auto [index, arg] : llvm::enumerate(kernel.args)) {
      if (arg.kind != ManifestArg::Kind::Tensor)
        continue;
      std::pair<std::string, bool> key(arg.name, arg.isOutput);
      device::DevicePtr &address = memory[key];
      if (!address) {
        llvm::Expected<uint64_t> size = evaluateBytes(arg, *dims);
        if (!size)
          return size.takeError();
        uint64_t bytes = *size;
        auto owner = owners.find(key);
        // The manifest does not tell strides.
        if (owner != owners.end() && !result.parameters[owner->second].strides.empty())
          bytes = result.tensors[owner->second].bytes.size();
        llvm::Expected<device::DevicePtr> allocated = (*device)->allocate(bytes, arg.name);
        if (!allocated)
          return allocated.takeError();
        address = *allocated;
        if (owner != owners.end()) {
          const HostTensor &tensor = result.tensors[owner->second];
          if (tensor.bytes.size() != bytes)
            return makeError("the manifest gives '" + arg.name + "' " + llvm::Twine(bytes) + " bytes, the source " +
                             llvm::Twine(tensor.bytes.size()));
          if (!tensor.bytes.empty())
            if (llvm::Error error = (*device)->copyToDevice(address, tensor.bytes.data(), bytes))
              return error;
        }
      }
      arguments.tensors[index] = address;
    }
    const device::Kernel *loaded = (*module)->lookup(kernel.name);
    if (!loaded)
      return makeError("the code object has no kernel '" + kernel.name + "'");
    llvm::Expected<std::vector<uint8_t>> kernarg = packArguments(manifest, kernel, arguments);
    if (!kernarg)
      return kernarg.takeError();
    llvm::Expected<std::array<uint32_t, 3>> grid = evaluateGrid(kernel, *dims);
    if (!grid)
      return grid.takeError();
    if ((*grid)[0] == 0 || (*grid)[1] == 0 || (*grid)[2] == 0)
      continue;
    device::LaunchConfig config;
    config.grid = *grid;
    config.workgroup = kernel.workgroup;
    config.dynamicLdsBytes = kernel.dynamicLdsBytes;
    config.kernarg = *kernarg;
    config.checks = options.checks;
    config.trackMemory = options.checks != 0;
    config.shuffle = options.shuffle;
    llvm::Expected<device::LaunchResult> launched = (*device)->launch(*loaded, config);
    if (!launched)
      return launched.takeError();
    if (launched->numFindings) {
      std::string text = std::to_string(launched->numFindings) + " findings of the device's checks";
      for (const device::Finding &finding : launched->findings)
        text += "\n  " + finding.message;
      return makeError(text);
    }
  }
  std::vector<OutputBytes> outputs;
  for (const Parameter &parameter : result.parameters) {
    if (!parameter.isTensor || !parameter.isOutput)
      continue;
    OutputBytes output;
    output.parameter = parameter.index;
    output.bytes = result.tensors[parameter.index].bytes;
    auto found = memory.find({parameter.name, true});
    if (found == memory.end() && !output.bytes.empty())
      return makeError("no kernel of the code object has the output '" + parameter.name + "'");
    if (!output.bytes.empty())
      if (llvm::Error error = (*device)->copyFromDevice(output.bytes.data(), found->second, output.bytes.size()))
        return error;
    outputs.push_back(std::move(output));
  }
  return outputs;
}
} // namespace

JudgeResult interp::judge(llvm::MemoryBufferRef source, const JudgeOptions &options) {
  JudgeResult result;
  llvm::raw_string_ostream diagnostics(result.message);
  auto fail = [&](Stage stage, llvm::Error error = llvm::Error::success()) {
    result.stage = stage;
    if (error)
      diagnostics << "error: " << llvm::toString(std::move(error)) << "\n";
    return std::move(result);
  };

  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source.getBuffer(), source.getBufferIdentifier()),
                               llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sourceMgr, &context, diagnostics);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (source.getBufferIdentifier().ends_with(".mlir")) {
    module = mlir::parseSourceFile<mlir::ModuleOp>(sourceMgr, &context);
  } else {
    frontend::FrontendOptions frontendOptions;
    frontendOptions.dims = options.compile.dims;
    frontendOptions.op = options.compile.op;
    frontendOptions.knobs = options.compile.knobs;
    module = frontend::importAtx(sourceMgr, context, frontendOptions);
  }
  if (!module)
    return fail(Stage::Source);
  llvm::Expected<mlir::func::FuncOp> function = findFunction(*module, options.compile.op);
  if (!function)
    return fail(Stage::Source, function.takeError());
  llvm::Expected<std::vector<Parameter>> parameters = getParameters(*function);
  if (!parameters)
    return fail(Stage::Source, parameters.takeError());
  result.parameters = std::move(*parameters);
  DimMap dims = options.compile.dims;
  for (const auto &entry : options.sizes)
    dims[entry.getKey()] = entry.getValue();
  if (llvm::Error error = checkSizes(*function, result.parameters, options))
    return fail(Stage::Source, std::move(error));
  if (llvm::Error error = checkConstraints(*function, dims))
    return fail(Stage::Source, std::move(error));
  llvm::DenseMap<unsigned, uint64_t> scalars;
  llvm::StringMap<double> named;
  if (llvm::Error error = supply(options, dims, result, scalars, named))
    return fail(Stage::Source, std::move(error));

  RunOptions runOptions;
  runOptions.dims = dims;
  runOptions.maxSteps = options.maxSteps;
  runOptions.maxLiveElements = options.maxLiveElements;
  mlir::FailureOr<RunResult> run = interp::run(*function, result.parameters, result.tensors, scalars, runOptions);
  if (mlir::failed(run))
    return fail(Stage::Interpret);
  result.run = std::move(*run);
  if (!options.useDevice) {
    result.stage = Stage::Interpret;
    result.passed = true;
    return result;
  }

  CompileOptions compileOptions = options.compile;
  compileOptions.emit = EmitKind::Hsaco;
  // What the front end says twice is said once.
  std::string compilerMessage;
  llvm::raw_string_ostream compilerStream(compilerMessage);
  std::optional<CompileResult> code = compile(source, compileOptions, compilerStream);
  diagnostics << compilerMessage;
  if (!code)
    return fail(Stage::Compile);
  llvm::Expected<std::vector<OutputBytes>> outputs = runOnDevice(*code, options, options.sizes, result, named);
  if (!outputs)
    return fail(Stage::Device, outputs.takeError());
  result.stage = Stage::Compare;
  for (auto [output, expected] : llvm::zip(*outputs, result.run.outputs)) {
    const Parameter &parameter = result.parameters[output.parameter];
    const HostTensor &tensor = result.tensors[output.parameter];
    if (int64_t changed = countChangedGaps(parameter, tensor, output.bytes))
      return fail(Stage::Device, makeError(llvm::Twine(changed) + " elements of memory between those of '" +
                                           parameter.name + "' were written"));
    compare(parameter, expected.value,
            tensor.strides.empty() ? output.bytes : gatherBytes(parameter, tensor, output.bytes), result.comparison);
  }
  for (const Difference &difference : result.comparison.first)
    diagnostics << difference.text << "\n";
  result.passed = result.comparison.differences == 0;
  return result;
}
