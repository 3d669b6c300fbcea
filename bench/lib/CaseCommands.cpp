//===- CaseCommands.cpp - reference, judge, draw --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CaseCommands.h"
#include "atrex/Bench/Case.h"
#include "atrex/Bench/Shortcut.h"
#include "atrex/Bench/Verdict.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/FileOutput.h"
#include "atrex/Support/Json.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <limits>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

namespace {
constexpr int exitOk = 0, exitFault = 1, exitUsage = 2;

int fail(llvm::raw_ostream &err, llvm::Error error, int code = exitFault) {
  err << "error: " << llvm::toString(std::move(error)) << "\n";
  return code;
}

/// A case with its operator.
struct OpenCase {
  Case stored;
  const Operator *op = nullptr;
  CaseBinding binding;
};

/// Fills `opened` in place: the binding points into the stored case.
llvm::Error openCase(const Catalogue &catalogue, const std::string &directory, OpenCase &opened) {
  llvm::Expected<Case> stored = loadCase(directory);
  if (!stored)
    return stored.takeError();
  opened.stored = std::move(*stored);
  llvm::Expected<const CatalogueOperator *> entry = catalogue.lookup(opened.stored.op);
  if (!entry)
    return makeError(fmt::format("case '{}': {}", directory, llvm::toString(entry.takeError())));
  opened.op = lookupOperator(opened.stored.op);
  if (!opened.op)
    return makeError(fmt::format("case '{}': operator '{}' has no reference", directory, opened.stored.op));
  llvm::Expected<CaseBinding> binding = bindCase(*opened.op, **entry, opened.stored);
  if (!binding)
    return binding.takeError();
  opened.binding = std::move(*binding);
  return llvm::Error::success();
}

/// Outputs of `op`, cut to their resolved shapes.
std::vector<std::vector<uint8_t>> computeOutputs(const Operator &op, const Instance &instance,
                                                 llvm::ArrayRef<const void *> inputs,
                                                 llvm::ArrayRef<std::vector<int64_t>> shapes) {
  std::vector<std::vector<uint8_t>> outputs;
  std::vector<void *> pointers;
  for (const TensorSpec &spec : instance.outputs)
    outputs.emplace_back(spec.getBytes());
  for (std::vector<uint8_t> &output : outputs)
    pointers.push_back(output.data());
  op.compute(instance, inputs, instance.rows, pointers);
  for (auto [spec, shape, output] : llvm::zip_equal(instance.outputs, shapes, outputs)) {
    TensorSpec resolved = spec;
    resolved.shape = shape;
    output.resize(resolved.getBytes());
  }
  return outputs;
}

size_t countDifferences(DataType type, const std::vector<uint8_t> &a, const std::vector<uint8_t> &b) {
  unsigned bytes = getSizeInBytes(type);
  size_t count = 0;
  for (size_t i = 0; i < a.size(); i += bytes)
    count += std::memcmp(a.data() + i, b.data() + i, bytes) != 0;
  return count;
}

//===----------------------------------------------------------------------===//
// reference
//===----------------------------------------------------------------------===//

constexpr OptionSpec referenceOptions[] = {
    {"case", "DIR", "the stored case"},
};
constexpr CommandSpec referenceCommand = {"reference", "Recomputes a stored case and compares inputs and outputs.", "",
                                          referenceOptions};

//===----------------------------------------------------------------------===//
// judge
//===----------------------------------------------------------------------===//

constexpr OptionSpec judgeOptions[] = {
    {"case", "DIR", "the stored case: right outputs, and the inputs they belong to"},
    {"outputs", "DIR", "outputs to judge, in files named as in the case; inputs found there must be unchanged"},
    {"shortcut", "NAME|all|list", "judge a known shortcut instead, computed from the inputs of the case"},
    {"honest", "NAME|all|list", "judge a right result of another order of operations instead"},
    {"grade", "strict|fp8", "verdict that decides the exit code (default strict)"},
    {"json", "FILE", "write the verdicts as JSON"},
};
constexpr CommandSpec judgeCommand = {"judge", "Applies the verdicts to output files, or to known shortcuts.", "",
                                      judgeOptions};

struct Judgement {
  std::string name;
  OutputVerdict verdict;
  /// Where the operator has a looser grade for fp8 inside.
  std::optional<OutputVerdict> fp8;

  bool passes(bool isFp8) const { return (isFp8 && fp8 ? *fp8 : verdict).strict.passes; }
};

std::vector<Judgement> judgeOutputs(const OpenCase &opened, llvm::ArrayRef<std::vector<uint8_t>> candidates) {
  std::vector<Judgement> judgements;
  const CaseBinding &binding = opened.binding;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const TensorSpec &spec = binding.instance.outputs[i];
    // Every output of the catalogue has a rule; BenchTest checks it.
    Rule rule = *getStrictRule(opened.stored.op, spec.name), loose = *getStrictRule(opened.stored.op, spec.name, true);
    const std::vector<uint8_t> &reference = binding.outputs[i]->data;
    Judgement judgement{spec.name,
                        judgeTensor(rule, spec.type, binding.outputs[i]->shape, reference.data(), candidates[i].data()),
                        std::nullopt};
    if (loose.str() != rule.str())
      judgement.fp8 = judgeTensor(loose, spec.type, binding.outputs[i]->shape, reference.data(), candidates[i].data());
    judgements.push_back(std::move(judgement));
  }
  return judgements;
}

void printJudgements(llvm::raw_ostream &out, llvm::ArrayRef<Judgement> judgements) {
  auto describe = [](bool passes) { return passes ? "pass" : "FAIL"; };
  for (const Judgement &judgement : judgements)
    out << fmt::format("  {:<22} upstream {:<4} strict {:<4} fp8 {:<4} {}\n", judgement.name,
                       describe(judgement.verdict.upstream.passes), describe(judgement.verdict.strict.passes),
                       judgement.fp8 ? describe(judgement.fp8->strict.passes) : "-", judgement.verdict.strict.message);
}

json::Value toJSON(llvm::ArrayRef<Judgement> judgements) {
  json::Array outputs;
  for (const Judgement &judgement : judgements) {
    json::Object object = judgement.verdict.toJSON();
    object["name"] = judgement.name;
    if (judgement.fp8) {
      json::Object fp8 = judgement.fp8->toJSON();
      object["fp8"] = std::move(*fp8.get("strict"));
      object["fp8_rule"] = judgement.fp8->rule;
    }
    outputs.push_back(std::move(object));
  }
  return outputs;
}

/// Input files beside the outputs must hold what the case holds; the text says
/// which does not.
std::string checkInputs(const Case &stored, const std::string &directory) {
  for (const CaseTensor &tensor : stored.tensors) {
    if (tensor.isOutput)
      continue;
    llvm::SmallString<256> path(directory);
    llvm::sys::path::append(path, tensor.file);
    if (!llvm::sys::fs::exists(path))
      continue;
    auto buffer = readRegularFile(path, std::numeric_limits<uint64_t>::max());
    if (!buffer)
      return llvm::toString(buffer.takeError());
    llvm::StringRef text = (*buffer)->getBuffer();
    if (text.size() != tensor.data.size() ||
        (!tensor.data.empty() && std::memcmp(text.data(), tensor.data.data(), text.size()) != 0))
      return fmt::format("input '{}' was changed: '{}' differs from the case", tensor.name, path.str().str());
  }
  return "";
}

//===----------------------------------------------------------------------===//
// draw
//===----------------------------------------------------------------------===//

constexpr OptionSpec drawOptions[] = {
    {"op", "OPERATOR", "operator"},
    {"shape", "ID", "parameters of this catalogue shape"},
    {"params", "JSON", "parameters and options as an object; they replace those of --shape"},
    {"inputs", "VARIANT", "published, strict, constant, sparse, alternating, wide or duplicates (default strict)"},
    {"seed", "N", "seed of the inputs (default 1)"},
    {"out", "DIR", "directory of the new case"},
};
constexpr CommandSpec drawCommand = {"draw", "Draws inputs, computes the right outputs and writes a case.", "",
                                     drawOptions};

llvm::Expected<InputVariant> parseVariant(const std::string &name) {
  std::vector<InputVariant> variants = {InputVariant::Published, InputVariant::Strict};
  llvm::append_range(variants, getProbes());
  std::vector<std::string> names;
  for (InputVariant variant : variants) {
    if (name == getName(variant))
      return variant;
    names.push_back(getName(variant).str());
  }
  return makeError(fmt::format("--inputs '{}' is none of {}", name, llvm::join(names, ", ")));
}

llvm::Error writeBytes(const std::string &path, llvm::ArrayRef<uint8_t> bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    stream.flush();
    error = stream.error();
    stream.clear_error();
  }
  return error ? makeError(fmt::format("cannot write '{}': {}", path, error.message())) : llvm::Error::success();
}
} // namespace

const CommandSpec &bench::getReferenceCommand() { return referenceCommand; }
const CommandSpec &bench::getJudgeCommand() { return judgeCommand; }
const CommandSpec &bench::getDrawCommand() { return drawCommand; }

int bench::runReference(const Catalogue &catalogue, const Arguments &arguments, llvm::raw_ostream &out,
                        llvm::raw_ostream &err) {
  if (!arguments.has("case"))
    return fail(err, makeError("reference: --case DIR is missing"), exitUsage);
  OpenCase opened;
  if (llvm::Error error = openCase(catalogue, arguments.get("case"), opened))
    return fail(err, std::move(error));
  const Case &stored = opened.stored;
  const Instance &instance = opened.binding.instance;
  out << fmt::format("{} {}, {}\n", stored.op, instance.shapeText, getName(stored.variant).str());
  for (unsigned i = 0; i < instance.inputs.size(); ++i) {
    const TensorSpec &spec = instance.inputs[i];
    std::vector<uint8_t> drawn(spec.getBytes());
    opened.op->generate(instance, i, stored.variant, stored.seed, 0, spec.getRows(), drawn.data());
    size_t different = countDifferences(spec.type, drawn, opened.binding.inputs[i]->data);
    out << fmt::format("  in  {:<22} {}\n", spec.name,
                       different ? fmt::format("drawn again: {} of {} elements differ", different, spec.getElements())
                                 : "drawn again: identical");
  }
  std::vector<std::vector<uint8_t>> outputs =
      computeOutputs(*opened.op, instance, opened.binding.inputData, opened.binding.outputShapes);
  bool passes = true;
  for (const auto &[i, judgement] : llvm::enumerate(judgeOutputs(opened, outputs))) {
    size_t different = countDifferences(instance.outputs[i].type, outputs[i], opened.binding.outputs[i]->data);
    const VerdictDetail &strict = judgement.verdict.strict;
    out << fmt::format("  out {:<22} {}; strict {}: {}\n", judgement.name,
                       different ? fmt::format("{} of {} elements differ", different, judgement.verdict.elements)
                                 : "identical",
                       strict.passes ? "pass" : "FAIL", strict.message);
    passes &= strict.passes;
  }
  return passes ? exitOk : exitFault;
}

int bench::runJudge(const Catalogue &catalogue, const Arguments &arguments, llvm::raw_ostream &out,
                    llvm::raw_ostream &err) {
  bool isHonest = arguments.has("honest");
  std::string kind = isHonest ? "honest variant" : "shortcut",
              shortcut = arguments.get(isHonest ? "honest" : "shortcut");
  llvm::ArrayRef<Shortcut> entries = isHonest ? getHonestVariants() : getShortcuts();
  if (shortcut == "list") {
    for (const Shortcut &entry : entries)
      out << fmt::format("{:<30} {:<22} {}\n", entry.op, entry.name, entry.description);
    return exitOk;
  }
  if (!arguments.has("case") || arguments.has("outputs") + arguments.has("shortcut") + isHonest != 1)
    return fail(err, makeError("judge: give --case DIR and one of --outputs DIR, --shortcut NAME and --honest NAME"),
                exitUsage);
  llvm::Expected<std::string> grade = arguments.getChoice("grade", "strict", {"strict", "fp8"});
  if (!grade)
    return fail(err, grade.takeError(), exitUsage);
  bool isFp8 = *grade == "fp8";
  if (arguments.has("json"))
    if (llvm::Error error = checkWritable(arguments.get("json")))
      return fail(err, std::move(error));
  OpenCase opened;
  if (llvm::Error error = openCase(catalogue, arguments.get("case"), opened))
    return fail(err, std::move(error));
  out << fmt::format("{} {}, {}\n", opened.stored.op, opened.binding.instance.shapeText,
                     getName(opened.stored.variant).str());
  json::Array records;
  std::string inputFault;
  bool passes = true;
  auto judge = [&](const std::string &label, llvm::ArrayRef<std::vector<uint8_t>> candidates) {
    std::vector<Judgement> judgements = judgeOutputs(opened, candidates);
    if (!label.empty())
      out << fmt::format(" {} {}\n", kind, label);
    printJudgements(out, judgements);
    passes &= llvm::all_of(judgements, [&](const Judgement &judgement) { return judgement.passes(isFp8); });
    records.push_back(json::Object{{"shortcut", label}, {"outputs", toJSON(judgements)}});
  };
  if (arguments.has("outputs")) {
    std::string directory = arguments.get("outputs");
    llvm::Expected<std::vector<CaseTensor>> loaded = loadOutputs(opened.stored, directory);
    if (!loaded)
      return fail(err, loaded.takeError());
    std::vector<std::vector<uint8_t>> candidates;
    for (const TensorSpec &spec : opened.binding.instance.outputs)
      for (const CaseTensor &tensor : *loaded)
        if (tensor.name == spec.name)
          candidates.push_back(tensor.data);
    judge("", candidates);
    inputFault = checkInputs(opened.stored, directory);
    passes &= inputFault.empty();
    if (!inputFault.empty())
      out << fmt::format("  {}\n", inputFault);
  } else {
    std::vector<std::string> names;
    bool isKnown = false;
    for (const Shortcut &entry : entries) {
      if (entry.op != opened.stored.op)
        continue;
      names.push_back(entry.name.str());
      if (shortcut != "all" && shortcut != entry.name)
        continue;
      isKnown = true;
      std::vector<std::vector<uint8_t>> inputs;
      for (const CaseTensor *tensor : opened.binding.inputs)
        inputs.push_back(tensor->data);
      judge(entry.name.str(),
            takeShortcut(entry, *opened.op, opened.binding.instance, std::move(inputs), opened.binding.outputShapes));
    }
    if (!isKnown)
      return fail(err, makeError(fmt::format("{} has no {} '{}'; it has: {}", opened.stored.op, kind, shortcut,
                                             names.empty() ? "none" : llvm::join(names, ", "))));
  }
  if (arguments.has("json")) {
    json::Value tree = json::Object{{"schema", "atrex-mlir/bench-judgement/1"},
                                    {"operator", opened.stored.op},
                                    {"grade", *grade},
                                    {"pass", passes},
                                    {"judgements", std::move(records)}};
    if (!inputFault.empty())
      (*tree.getAsObject())["input_fault"] = inputFault;
    if (llvm::Error error = writeFile(arguments.get("json"), llvm::formatv("{0:2}\n", tree).str()))
      return fail(err, std::move(error));
  }
  return passes ? exitOk : exitFault;
}

int bench::runDraw(const Catalogue &catalogue, const Arguments &arguments, llvm::raw_ostream &out,
                   llvm::raw_ostream &err) {
  if (!arguments.has("op") || !arguments.has("out"))
    return fail(err, makeError("draw: give --op OPERATOR and --out DIR"), exitUsage);
  llvm::Expected<const CatalogueOperator *> entry = catalogue.lookup(arguments.get("op"));
  if (!entry)
    return fail(err, entry.takeError());
  llvm::Expected<uint64_t> seed = arguments.getUnsigned("seed", 1, 0);
  if (!seed)
    return fail(err, seed.takeError(), exitUsage);
  llvm::Expected<InputVariant> variant = parseVariant(arguments.get("inputs", "strict"));
  if (!variant)
    return fail(err, variant.takeError(), exitUsage);
  json::Object given;
  if (arguments.has("shape")) {
    llvm::Expected<std::vector<int64_t>> ids = parseShapeList(arguments.get("shape"), **entry);
    if (!ids)
      return fail(err, ids.takeError());
    if (ids->size() != 1)
      return fail(err, makeError(fmt::format("--shape '{}' must be one id", arguments.get("shape"))), exitUsage);
    given = (*entry)->lookupShape(ids->front())->params.getValues();
  }
  if (arguments.has("params")) {
    llvm::Expected<json::Value> parsed = parseJson(arguments.get("params"));
    if (!parsed)
      return fail(err, makeError(fmt::format("--params: {}", llvm::toString(parsed.takeError()))));
    if (!parsed->getAsObject())
      return fail(err, makeError("--params must be a JSON object"));
    for (const auto &[name, value] : *parsed->getAsObject())
      given[name] = value;
  }
  const Operator *op = lookupOperator((*entry)->name);
  if (!op)
    return fail(err, makeError(fmt::format("operator '{}' has no reference", (*entry)->name)));
  Params params = (*entry)->makeParams(given);
  llvm::Expected<Instance> instance = op->instantiate(params, *variant);
  if (!instance)
    return fail(err, instance.takeError());
  uint64_t total = 0;
  for (const std::vector<TensorSpec> *specs : {&instance->inputs, &instance->outputs})
    for (const TensorSpec &spec : *specs)
      total += spec.getBytes();
  constexpr uint64_t most = uint64_t(1) << 32;
  if (total > most)
    return fail(err, makeError(fmt::format("{}: the tensors take {} bytes; a case of more than {} is not written; "
                                           "give smaller --params",
                                           (*entry)->name, total, most)));
  std::string directory = arguments.get("out");
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return fail(err, makeError(fmt::format("cannot create '{}': {}", directory, error.message())));
  std::vector<std::vector<uint8_t>> inputs;
  std::vector<const void *> pointers;
  for (unsigned i = 0; i < instance->inputs.size(); ++i) {
    const TensorSpec &spec = instance->inputs[i];
    inputs.emplace_back(spec.getBytes());
    op->generate(*instance, i, *variant, *seed, 0, spec.getRows(), inputs.back().data());
  }
  for (const std::vector<uint8_t> &input : inputs)
    pointers.push_back(input.data());
  std::vector<std::vector<int64_t>> shapes = op->resolveOutputs(*instance, pointers);
  std::vector<std::vector<uint8_t>> outputs = computeOutputs(*op, *instance, pointers, shapes);
  json::Array tensors;
  for (bool isOutput : {false, true}) {
    const std::vector<TensorSpec> &specs = isOutput ? instance->outputs : instance->inputs;
    for (size_t i = 0; i < specs.size(); ++i) {
      std::string file = fmt::format("{}_{}.bin", isOutput ? "out" : "in", specs[i].name);
      llvm::SmallString<256> path(directory);
      llvm::sys::path::append(path, file);
      if (llvm::Error error = writeBytes(path.str().str(), isOutput ? outputs[i] : inputs[i]))
        return fail(err, std::move(error));
      tensors.push_back(json::Object{{"name", specs[i].name},
                                     {"role", isOutput ? "out" : "in"},
                                     {"dtype", getCaseName(specs[i].type)},
                                     {"shape", json::Array(isOutput ? shapes[i] : specs[i].shape)},
                                     {"file", file}});
    }
  }
  bool isPublished = *variant == InputVariant::Published;
  json::Object object{
      {"format", "atrex-mlir/case/1"}, {"operator", (*entry)->name},   {"variant", isPublished ? "upstream" : "strict"},
      {"seed", int64_t(*seed)},        {"init", json::Object()},       {"params", json::Object(params.getValues())},
      {"options", json::Object()},     {"tensors", std::move(tensors)}};
  if (!isPublished && *variant != InputVariant::Strict)
    object["probe"] = getName(*variant);
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, "case.json");
  if (llvm::Error error = writeFile(path.str().str(), llvm::formatv("{0:2}\n", json::Value(std::move(object))).str()))
    return fail(err, std::move(error));
  out << fmt::format("{} {}, {}, seed {}: {} tensors in '{}'\n", (*entry)->name, instance->shapeText,
                     getName(*variant).str(), *seed, inputs.size() + outputs.size(), directory);
  return exitOk;
}
