//===- EditorTest.cpp - The highlighting grammar knows the language -------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Builtins.h"
#include "atrex/Frontend/Lexer.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <regex>

using namespace atrex::frontend;

/// All regular expressions of a grammar, in order.
static void collect(const llvm::json::Value &value, std::vector<std::string> &patterns) {
  if (auto *object = value.getAsObject()) {
    for (const auto &[key, member] : *object) {
      if (key == "match" || key == "begin")
        patterns.push_back(member.getAsString()->str());
      collect(member, patterns);
    }
  } else if (auto *array = value.getAsArray()) {
    for (const llvm::json::Value &element : *array)
      collect(element, patterns);
  }
}

/// Whether a pattern lists a word between `(`, `|` and `)`.
static bool lists(llvm::StringRef pattern, llvm::StringRef word) {
  for (size_t at = pattern.find(word); at != llvm::StringRef::npos; at = pattern.find(word, at + 1)) {
    auto isEdge = [&](size_t i) { return i >= pattern.size() || !(std::isalnum(pattern[i]) || pattern[i] == '_'); };
    // `\b` before the word ends in a letter.
    bool follows = at == 0 || isEdge(at - 1) || (at > 1 && pattern[at - 2] == '\\');
    if (follows && isEdge(at + word.size()))
      return true;
  }
  return false;
}

TEST(Editor, GrammarHasEveryWord) {
  auto buffer = llvm::MemoryBuffer::getFile(ATREX_SOURCE_DIR "/docs/editor/atx.tmLanguage.json");
  ASSERT_TRUE(buffer);
  llvm::Expected<llvm::json::Value> grammar = llvm::json::parse((*buffer)->getBuffer());
  ASSERT_TRUE(bool(grammar));
  const llvm::json::Object *repository = grammar->getAsObject()->getObject("repository");
  ASSERT_TRUE(repository);
  auto expectIn = [&](llvm::StringRef section, llvm::StringRef word) {
    std::vector<std::string> patterns;
    collect(*repository->get(section), patterns);
    bool found = false;
    for (const std::string &pattern : patterns)
      found |= lists(pattern, word);
    EXPECT_TRUE(found) << section.str() << " lacks '" << word.str() << "'";
  };
  for (llvm::StringRef word : getKeywords())
    expectIn("keyword", word);
  for (llvm::StringRef word : getLiteralWords())
    expectIn("constant", word);
  for (llvm::StringRef word : getTypeWords())
    expectIn("type", word);
  for (const Builtin &builtin : getBuiltins())
    expectIn("builtin", builtin.name);
  // `axis` is an argument like others.
  for (llvm::StringRef word : getContextualWords())
    if (word != "axis")
      expectIn("clause", word);
  EXPECT_FALSE(lists("\\b(sum|mean)\\b", "me"));
  EXPECT_TRUE(lists("\\b(sum|mean)\\b", "mean"));
}

TEST(Editor, PatternsAreExpressions) {
  for (const char *name : {"atx.tmLanguage.json", "language-configuration.json", "package.json"}) {
    auto buffer = llvm::MemoryBuffer::getFile(std::string(ATREX_SOURCE_DIR "/docs/editor/") + name);
    ASSERT_TRUE(buffer) << name;
    llvm::Expected<llvm::json::Value> value = llvm::json::parse((*buffer)->getBuffer());
    ASSERT_TRUE(bool(value)) << name << ": " << llvm::toString(value.takeError());
    std::vector<std::string> patterns;
    collect(*value, patterns);
    for (const std::string &pattern : patterns) {
      int depth = 0;
      bool inClass = false;
      for (size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '\\')
          ++i;
        else if (inClass)
          inClass = pattern[i] != ']';
        else if (pattern[i] == '[')
          inClass = true;
        else
          depth += pattern[i] == '(' ? 1 : pattern[i] == ')' ? -1 : 0;
        EXPECT_GE(depth, 0) << pattern;
      }
      EXPECT_EQ(depth, 0) << pattern;
      EXPECT_FALSE(inClass) << pattern;
    }
  }
}
