//===- TunableOptions.cpp - Pass options that a search may set ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options and their domains are the declarations in Passes.td, which the
// build turns into JSON; nothing about them is written twice.
//
//===----------------------------------------------------------------------===//
#include "atrex/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace atrex;

extern const char atrexPassDeclarations[];

namespace {
struct Declarations {
  /// Options by the argument of their pass, in order of declaration.
  llvm::StringMap<std::vector<TunableOption>> passes;
};
} // namespace

/// A value as the domain writes it: without quotes, truth values as 0 and 1.
static std::string normalize(StringRef text) {
  text.consume_front("\"");
  text.consume_back("\"");
  return text == "true" ? "1" : text == "false" ? "0" : text.str();
}

static Declarations readDeclarations() {
  Declarations declarations;
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(atrexPassDeclarations);
  if (!json) {
    llvm::consumeError(json.takeError());
    return declarations;
  }
  const llvm::json::Object *root = json->getAsObject();
  for (const auto &[name, value] : *root) {
    const llvm::json::Object *record = value.getAsObject();
    const llvm::json::Array *options = record ? record->getArray("options") : nullptr;
    std::optional<StringRef> argument = record ? record->getString("argument") : std::nullopt;
    if (!options || !argument)
      continue;
    for (const llvm::json::Value &reference : *options) {
      const llvm::json::Object *def = reference.getAsObject();
      std::optional<StringRef> defName = def ? def->getString("def") : std::nullopt;
      const llvm::json::Object *option = defName ? root->getObject(*defName) : nullptr;
      const llvm::json::Array *domain = option ? option->getArray("domain") : nullptr;
      if (!domain)
        continue;
      TunableOption tunable;
      tunable.pass = argument->str();
      tunable.option = option->getString("argument").value_or("").str();
      tunable.description = option->getString("description").value_or("").str();
      tunable.programs = option->getString("programs").value_or("any").str();
      tunable.defaultValue = normalize(option->getString("defaultValue").value_or(""));
      for (const llvm::json::Value &element : *domain) {
        if (std::optional<StringRef> word = element.getAsString())
          tunable.choices.push_back(word->str());
        else
          tunable.domain.push_back(element.getAsInteger().value_or(0));
      }
      declarations.passes[tunable.pass].push_back(std::move(tunable));
    }
  }
  return declarations;
}

std::vector<TunableOption> atrex::getTunableOptions(PassManager &pm) {
  Declarations declarations = readDeclarations();
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  std::vector<TunableOption> result;
  llvm::StringMap<unsigned> instances;
  // Names are separated by brackets and commas; options stand in braces.
  StringRef rest = text;
  while (!rest.empty()) {
    size_t length = rest.find_first_of("(){},");
    StringRef name = rest.take_front(length).trim();
    rest = rest.drop_front(std::min(length, rest.size()));
    StringRef values;
    if (rest.consume_front("{")) {
      size_t end = rest.find('}');
      values = rest.take_front(end);
      rest = rest.drop_front(std::min(end + 1, rest.size()));
    } else if (!rest.empty()) {
      rest = rest.drop_front();
    }
    auto found = declarations.passes.find(name);
    if (found == declarations.passes.end())
      continue;
    unsigned instance = instances[name]++;
    for (TunableOption option : found->second) {
      option.instance = instance;
      option.value = option.defaultValue;
      SmallVector<StringRef> assignments;
      values.split(assignments, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      for (StringRef assignment : assignments) {
        auto [key, value] = assignment.split('=');
        if (key == option.option)
          option.value = normalize(value);
      }
      result.push_back(std::move(option));
    }
  }
  return result;
}
