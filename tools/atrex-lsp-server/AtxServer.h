//===- AtxServer.h - Language server for the kernel language ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_LSP_SERVER_ATXSERVER_H
#define ATREX_TOOLS_ATREX_LSP_SERVER_ATXSERVER_H

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <memory>

namespace atrex::lsp {

/// Answers what an editor asks about `.atx` documents.
class AtxServer {
public:
  /// Takes the parameters of `textDocument/publishDiagnostics`.
  using Publish = llvm::unique_function<void(llvm::json::Value)>;

  explicit AtxServer(Publish publish);
  ~AtxServer();

  /// What the server can do, for the answer to `initialize`.
  static llvm::json::Object getCapabilities();

  /// Whether a document is one of this server.
  bool owns(llvm::StringRef uri) const;

  /// The parameters have a `textDocument` with a `uri`; everything else in them
  /// may be missing or of any kind. An error is one of the request.
  void notify(llvm::StringRef method, const llvm::json::Object &params);
  llvm::Expected<llvm::json::Value> request(llvm::StringRef method, const llvm::json::Object &params);

private:
  class Document;

  void update(llvm::StringRef uri, llvm::StringRef text, std::optional<int64_t> version);

  Publish publish;
  llvm::StringMap<std::unique_ptr<Document>> documents;
};

} // namespace atrex::lsp

#endif // ATREX_TOOLS_ATREX_LSP_SERVER_ATXSERVER_H
