//===- CommandLine.cpp - Options of a subcommand --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"
#include "atrex/Bench/Catalogue.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

using namespace atrex;
using namespace atrex::bench;

llvm::Expected<Arguments> Arguments::parse(const CommandSpec &command, llvm::ArrayRef<const char *> arguments) {
  Arguments result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef text = arguments[i];
    if (!text.starts_with("-") || text == "-") {
      if (command.positional.empty())
        return makeError(fmt::format("{}: unexpected argument '{}'", command.name.str(), text.str()));
      result.positional.push_back(text.str());
      continue;
    }
    auto [name, value] = text.ltrim('-').split('=');
    bool hasValue = text.contains('=');
    const OptionSpec *spec = nullptr;
    std::vector<std::string> names;
    for (const OptionSpec &option : command.options) {
      names.push_back(option.name.str());
      if (option.name == name)
        spec = &option;
    }
    if (!spec) {
      std::string nearest = findNearest(name, names);
      return makeError(fmt::format("{}: unknown option '--{}'{}", command.name.str(), name.str(),
                                   nearest.empty() ? std::string() : fmt::format("; did you mean '--{}'?", nearest)));
    }
    if (spec->placeholder.empty() && hasValue)
      return makeError(fmt::format("{}: option '--{}' takes no value", command.name.str(), name.str()));
    if (!spec->placeholder.empty() && !hasValue) {
      if (i + 1 == arguments.size())
        return makeError(fmt::format("{}: option '--{}' needs a value: --{} {}", command.name.str(), name.str(),
                                     name.str(), spec->placeholder.str()));
      value = arguments[++i];
    }
    if (!result.values.try_emplace(name.str(), value.str()).second)
      return makeError(fmt::format("{}: option '--{}' is given twice", command.name.str(), name.str()));
  }
  return result;
}

std::string Arguments::get(llvm::StringRef name, llvm::StringRef fallback) const {
  auto found = values.find(name.str());
  return found == values.end() ? fallback.str() : found->second;
}

llvm::Expected<uint64_t> Arguments::getUnsigned(llvm::StringRef name, uint64_t fallback, uint64_t low) const {
  if (!has(name))
    return fallback;
  uint64_t value;
  std::string text = get(name);
  if (llvm::StringRef(text).getAsInteger(0, value) || value < low)
    return makeError(fmt::format("--{} '{}' must be an integer of at least {}", name.str(), text, low));
  return value;
}

llvm::Expected<std::string> Arguments::getChoice(llvm::StringRef name, llvm::StringRef fallback,
                                                 const std::vector<std::string> &choices) const {
  std::string text = get(name, fallback);
  if (!llvm::is_contained(choices, text))
    return makeError(fmt::format("--{} '{}' is not one of {}", name.str(), text, fmt::join(choices, ", ")));
  return text;
}

void bench::printHelp(const CommandSpec &command, llvm::raw_ostream &out) {
  out << "usage: atrex-bench-mlir " << command.name << " [options]";
  if (!command.positional.empty())
    out << " " << command.positional;
  out << "\n\n" << command.summary << "\n\n";
  for (const OptionSpec &option : command.options) {
    std::string left = "--" + option.name.str() + (option.placeholder.empty() ? "" : " " + option.placeholder.str());
    out << fmt::format("  {:<26} {}\n", left, option.help.str());
  }
}
