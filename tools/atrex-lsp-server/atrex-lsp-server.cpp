//===- atrex-lsp-server.cpp - Language server ------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Diagnostics, hover and navigation in .atx documents and in .mlir documents
// with operations of the project. Upstream's server for MLIR owns its loop over
// standard input, so it runs in a process of its own: messages about .mlir
// documents pass through, those about .atx documents are answered here, and the
// editor sees one server with the abilities of both.
//
//===----------------------------------------------------------------------===//

#include "AtxServer.h"
#include "Channel.h"
#include "atrex/Pipelines/Pipelines.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/LSP/Protocol.h"
#include <csignal>
#include <thread>
#include <unistd.h>

using namespace atrex::lsp;
using llvm::StringRef;
namespace json = llvm::json;
using llvm::lsp::ErrorCode;

namespace {
class Router {
public:
  Router(int argc, char **argv)
      : argc(argc), argv(argv), editor(0, 1), atx([this](json::Value params) {
          editor.write(json::Object{
              {"jsonrpc", "2.0"}, {"method", "textDocument/publishDiagnostics"}, {"params", std::move(params)}});
        }) {}

  /// Serves until the editor ends; the exit status.
  int run();

private:
  void handle(json::Object message, StringRef text);
  void initialize(const json::Object &message, StringRef text);
  /// Passes messages of the other server to the editor until it ends.
  void forwardReplies();
  void reply(const json::Value &id, json::Value result) {
    editor.write(json::Object{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
  }
  void fail(const json::Value &id, ErrorCode code, const llvm::Twine &message) {
    editor.write(json::Object{{"jsonrpc", "2.0"},
                              {"id", id},
                              {"error", json::Object{{"code", int(code)}, {"message", json::fixUTF8(message.str())}}}});
  }

  int argc;
  char **argv;
  Channel editor;
  AtxServer atx;
  std::unique_ptr<MlirProcess> mlir;
  std::thread replies;
  /// Requests that the other server has not answered, as texts of their ids.
  std::mutex pendingLock;
  std::map<std::string, json::Value> pending;
  bool mlirEnded = false;
  bool isInitialized = false, isShutDown = false, isEnding = false;
};
} // namespace

static std::string toText(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Our request for the other server to shut down; the editor asked only once.
static constexpr llvm::StringLiteral shutdownId("atrex-shutdown");

void Router::forwardReplies() {
  while (true) {
    Incoming incoming = mlir->channel.read();
    if (incoming.kind == Incoming::Kind::End)
      break;
    if (incoming.kind == Incoming::Kind::TooLarge)
      continue;
    llvm::Expected<json::Value> message = parseMessage(incoming.text);
    if (!message) {
      llvm::consumeError(message.takeError());
      continue;
    }
    if (json::Object *object = message->getAsObject(); object && !object->get("method")) {
      if (const json::Value *id = object->get("id")) {
        if (id->getAsString() == StringRef(shutdownId))
          continue;
        std::lock_guard<std::mutex> lock(pendingLock);
        pending.erase(toText(*id));
      }
    }
    editor.write(StringRef(incoming.text));
  }
  std::lock_guard<std::mutex> lock(pendingLock);
  mlirEnded = true;
  for (const auto &entry : pending)
    fail(entry.second, ErrorCode::InternalError, "the server for .mlir documents has ended");
  pending.clear();
}

void Router::initialize(const json::Object &message, StringRef text) {
  json::Object capabilities;
  mlir = MlirProcess::start(argc, argv);
  if (mlir && mlir->channel.write(text)) {
    // Nothing else can come before the answer.
    Incoming incoming = mlir->channel.read();
    if (incoming.kind == Incoming::Kind::Message) {
      if (llvm::Expected<json::Value> answer = parseMessage(incoming.text)) {
        const json::Object *object = answer->getAsObject();
        const json::Object *result = object ? object->getObject("result") : nullptr;
        if (const json::Object *theirs = result ? result->getObject("capabilities") : nullptr)
          capabilities = *theirs;
      } else {
        llvm::consumeError(answer.takeError());
      }
      replies = std::thread([this] { forwardReplies(); });
    } else {
      mlir.reset();
    }
  }
  for (const auto &[name, value] : AtxServer::getCapabilities())
    capabilities[name] = value;
  isInitialized = true;
  reply(*message.get("id"), json::Object{{"serverInfo", json::Object{{"name", "atrex-lsp-server"}}},
                                         {"capabilities", std::move(capabilities)}});
}

void Router::handle(json::Object message, StringRef text) {
  const json::Value *id = message.get("id");
  std::optional<StringRef> method = message.getString("method");
  if (!method) {
    // An answer to a request of the other server, or nonsense.
    if (id && (message.get("result") || message.get("error"))) {
      if (mlir)
        mlir->channel.write(text);
    } else {
      fail(id ? *id : json::Value(nullptr), ErrorCode::InvalidRequest, "the message has no method");
    }
    return;
  }
  if (*method == "exit") {
    isEnding = true;
    return;
  }
  if (*method == "initialize") {
    if (!id)
      return;
    if (isInitialized)
      return fail(*id, ErrorCode::InvalidRequest, "the server is initialized already");
    return initialize(message, text);
  }
  if (!isInitialized) {
    if (id)
      fail(*id, ErrorCode::ServerNotInitialized, "the first request must be 'initialize'");
    return;
  }
  if (isShutDown) {
    if (id)
      fail(*id, ErrorCode::InvalidRequest, "the server is shut down");
    return;
  }
  if (*method == "shutdown") {
    isShutDown = true;
    if (mlir)
      mlir->channel.write(json::Object{{"jsonrpc", "2.0"}, {"id", shutdownId}, {"method", "shutdown"}});
    if (id)
      reply(*id, nullptr);
    return;
  }

  const json::Object empty;
  const json::Object *params = message.getObject("params");
  if (!params)
    params = &empty;
  const json::Object *document = params->getObject("textDocument");
  std::optional<StringRef> uri = document ? document->getString("uri") : std::nullopt;
  bool isAtx = uri && (atx.owns(*uri) || document->getString("languageId") == StringRef("atx"));
  if (isAtx) {
    if (!id)
      return atx.notify(*method, *params);
    if (llvm::Expected<json::Value> result = atx.request(*method, *params))
      return reply(*id, std::move(*result));
    else
      llvm::handleAllErrors(
          result.takeError(), [&](const llvm::lsp::LSPError &error) { fail(*id, error.code, error.message); },
          [&](const llvm::ErrorInfoBase &error) { fail(*id, ErrorCode::InternalError, error.message()); });
    return;
  }
  if (id) {
    std::lock_guard<std::mutex> lock(pendingLock);
    if (!mlir || mlirEnded)
      return fail(*id, uri ? ErrorCode::InternalError : ErrorCode::MethodNotFound,
                  uri ? "the server for .mlir documents has ended" : "there is no method '" + *method + "'");
    pending.insert_or_assign(toText(*id), *id);
  }
  if (mlir)
    mlir->channel.write(text);
}

int Router::run() {
  while (!isEnding) {
    Incoming incoming = editor.read();
    if (incoming.kind == Incoming::Kind::End)
      break;
    if (incoming.kind == Incoming::Kind::TooLarge) {
      fail(nullptr, ErrorCode::InvalidRequest, "message is larger than " + llvm::Twine(maxMessageSize >> 20) + " MiB");
      continue;
    }
    llvm::Expected<json::Value> message = parseMessage(incoming.text);
    if (!message) {
      fail(nullptr, ErrorCode::ParseError, llvm::toString(message.takeError()));
      continue;
    }
    if (json::Object *object = message->getAsObject())
      handle(std::move(*object), incoming.text);
    else
      fail(nullptr, ErrorCode::InvalidRequest, "the message is no object");
  }
  if (mlir) {
    mlir->channel.write(json::Object{{"jsonrpc", "2.0"}, {"method", "exit"}});
    // Ends the process, and with it the thread that reads from it.
    mlir->end();
    if (replies.joinable())
      replies.join();
  }
  return isShutDown ? 0 : 1;
}

/// Options of upstream's server that change what it reads or prints.
static bool isForMlirAlone(StringRef argument) {
  StringRef name = argument.ltrim('-').split('=').first;
  return argument == mlirOnlyOption || name == "lit-test" || name == "input-style" || name == "help" ||
         name == "help-hidden" || name == "version";
}

int main(int argc, char **argv) {
  // Writing to a process that has ended is an error and no signal.
  std::signal(SIGPIPE, SIG_IGN);
  llvm::SmallVector<char *> arguments(argv, argv + argc);
  if (llvm::none_of(llvm::ArrayRef(argv + 1, argc - 1), isForMlirAlone))
    return Router(argc, argv).run();
  llvm::erase_if(arguments, [](char *argument) { return StringRef(argument) == mlirOnlyOption; });
  mlir::DialectRegistry registry;
  atrex::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(arguments.size(), arguments.data(), registry));
}
