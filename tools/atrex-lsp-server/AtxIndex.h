//===- AtxIndex.h - Names of a kernel language source -----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_LSP_SERVER_ATXINDEX_H
#define ATREX_TOOLS_ATREX_LSP_SERVER_ATXINDEX_H

#include "atrex/Frontend/AST.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>
#include <string>
#include <vector>

namespace atrex::lsp {

/// What a name stands for.
struct Definition {
  enum class Kind : uint8_t {
    Operator,
    Kernel,
    Function,
    Constant,
    Parameter,
    Result,
    Dimension,
    Knob,
    Value,
    Variable,
    LoopVariable,
    Builtin,
    File,
  };
  Kind kind;
  std::string name;
  /// The name where it is introduced; null for a function of the language and a
  /// file.
  const char *loc = nullptr;
  /// How it is declared, on one line: `x: bf16[T, H]`.
  std::string declaration;
  /// The expression whose value it has; null where there is none.
  const frontend::ast::Expr *value = nullptr;
  /// Path of a file, meaning of a function of the language.
  std::string detail;
};

/// A place where a name stands, its introduction included.
struct Reference {
  const char *begin, *end;
  /// Index into Index::definitions.
  unsigned definition;
};

/// The names of a source and of the files it imports. Made from syntax alone, so
/// it exists for sources with errors too.
class Index {
public:
  /// `path` is the file that imports are relative to.
  Index(llvm::StringRef text, llvm::StringRef path);
  ~Index();

  /// The reference at a position of the main source; null when there is none.
  const Reference *find(const char *position) const;
  llvm::ArrayRef<Reference> getReferences() const { return references; }
  const Definition &getDefinition(const Reference &reference) const { return definitions[reference.definition]; }
  /// The syntax tree of the main source.
  const frontend::ast::File &getFile() const;
  /// Text of the main source, as the tree points to it.
  llvm::StringRef getText() const;
  /// The buffer that contains a position, and its path.
  std::pair<llvm::StringRef, std::string> getBuffer(const char *position) const;
  /// Path of an imported file.
  static std::string resolveImport(llvm::StringRef importer, llvm::StringRef path);

private:
  friend class IndexBuilder;
  struct Source;
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<Definition> definitions;
  /// Sorted by position.
  std::vector<Reference> references;
};

} // namespace atrex::lsp

#endif // ATREX_TOOLS_ATREX_LSP_SERVER_ATXINDEX_H
