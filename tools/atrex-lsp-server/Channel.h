//===- Channel.h - Messages of the language server protocol -----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's transport runs a loop over standard input; here messages come from an
// editor and from a server for .mlir documents, and most are passed on as they
// are. The frames are the same: `Content-Length: N`, an empty line, N bytes.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_LSP_SERVER_CHANNEL_H
#define ATREX_TOOLS_ATREX_LSP_SERVER_CHANNEL_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>

namespace atrex::lsp {

/// Messages beyond this are skipped.
constexpr size_t maxMessageSize = size_t(64) << 20;
/// Brackets in brackets that a message may have.
constexpr unsigned maxMessageNesting = 200;

/// What was read from a channel.
struct Incoming {
  enum class Kind { Message, TooLarge, End };
  Kind kind = Kind::End;
  std::string text;
};

/// One end of a stream of messages. Reading is for one thread, writing for any.
class Channel {
public:
  Channel(int input, int output) : input(input), output(output) {}

  /// The next message. Lines that are no header are skipped.
  Incoming read();
  /// False when nobody reads any more.
  bool write(llvm::StringRef text);
  bool write(const llvm::json::Value &message);

private:
  /// Nothing at the end.
  std::optional<char> getChar();

  int input, output;
  std::string buffer;
  size_t position = 0;
  std::mutex writing;
};

/// Parses a message. Fails for texts nested so deeply that the parser, or those
/// who read the value, would exhaust the stack.
llvm::Expected<llvm::json::Value> parseMessage(llvm::StringRef text);

/// This program, started again as the server for .mlir documents.
class MlirProcess {
public:
  /// Null when it cannot be started; the error goes to standard error.
  static std::unique_ptr<MlirProcess> start(int argc, char **argv);
  ~MlirProcess();
  /// Waits for the process to end, and ends one that does not.
  void end();

  Channel channel;

private:
  MlirProcess(pid_t pid, int input, int output) : channel(input, output), pid(pid), input(input), output(output) {}

  pid_t pid;
  int input, output;
  bool hasEnded = false;
};

/// The option that makes this program that server alone.
constexpr llvm::StringLiteral mlirOnlyOption("--mlir-only");

} // namespace atrex::lsp

#endif // ATREX_TOOLS_ATREX_LSP_SERVER_CHANNEL_H
