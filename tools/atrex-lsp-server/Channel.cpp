//===- Channel.cpp - Messages of the language server protocol -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace atrex::lsp;
using llvm::StringRef;

extern char **environ;

std::optional<char> Channel::getChar() {
  if (position == buffer.size()) {
    buffer.resize(1 << 16);
    ssize_t count;
    do
      count = ::read(input, buffer.data(), buffer.size());
    while (count < 0 && errno == EINTR);
    buffer.resize(std::max<ssize_t>(count, 0));
    position = 0;
    if (buffer.empty())
      return std::nullopt;
  }
  return buffer[position++];
}

Incoming Channel::read() {
  // Header lines up to an empty one; a line longer than any header is cut.
  constexpr size_t maxLine = 1024;
  std::optional<uint64_t> length;
  while (true) {
    std::string line;
    while (true) {
      std::optional<char> c = getChar();
      if (!c)
        return {};
      if (*c == '\n')
        break;
      if (line.size() < maxLine)
        line += *c;
    }
    StringRef text = StringRef(line).trim();
    if (text.empty()) {
      if (length)
        break;
      continue;
    }
    auto [name, value] = text.split(':');
    uint64_t number;
    if (!name.trim().equals_insensitive("content-length"))
      continue;
    // A number that does not fit is a large one.
    bool isNumber = !value.trim().empty() && llvm::all_of(value.trim(), llvm::isDigit);
    if (!isNumber)
      length.reset();
    else
      length = value.trim().getAsInteger(10, number) ? UINT64_MAX : number;
  }
  if (*length > maxMessageSize) {
    for (uint64_t i = 0; i < *length; ++i)
      if (!getChar())
        return {};
    return {Incoming::Kind::TooLarge, {}};
  }
  Incoming incoming{Incoming::Kind::Message, {}};
  // The length is the sender's claim; memory is taken as bytes come.
  while (incoming.text.size() < *length) {
    std::optional<char> c = getChar();
    if (!c)
      return {};
    incoming.text += *c;
    size_t count = std::min<uint64_t>(*length - incoming.text.size(), buffer.size() - position);
    incoming.text.append(buffer, position, count);
    position += count;
  }
  return incoming;
}

bool Channel::write(StringRef text) {
  std::string message = "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text.str();
  std::lock_guard<std::mutex> lock(writing);
  for (size_t done = 0; done < message.size();) {
    ssize_t count = ::write(output, message.data() + done, message.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    done += count;
  }
  return true;
}

bool Channel::write(const llvm::json::Value &message) {
  std::string text;
  llvm::raw_string_ostream(text) << message;
  return write(StringRef(text));
}

llvm::Expected<llvm::json::Value> atrex::lsp::parseMessage(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxMessageNesting)
        return llvm::createStringError(llvm::inconvertibleErrorCode(), "message is nested more than " +
                                                                           llvm::Twine(maxMessageNesting) +
                                                                           " levels deep");
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  return llvm::json::parse(text);
}

std::unique_ptr<MlirProcess> MlirProcess::start(int argc, char **argv) {
  int toChild[2], fromChild[2];
  if (::pipe2(toChild, O_CLOEXEC))
    return nullptr;
  if (::pipe2(fromChild, O_CLOEXEC)) {
    ::close(toChild[0]);
    ::close(toChild[1]);
    return nullptr;
  }
  static int anchor;
  std::string program = llvm::sys::fs::getMainExecutable(argv[0], &anchor);
  std::vector<char *> arguments{program.data(), const_cast<char *>(mlirOnlyOption.data())};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, toChild[0], 0);
  posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1);
  pid_t pid;
  int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(toChild[0]);
  ::close(fromChild[1]);
  if (error) {
    llvm::errs() << "atrex-lsp-server: cannot start the server for .mlir documents: " << std::strerror(error) << "\n";
    ::close(toChild[1]);
    ::close(fromChild[0]);
    return nullptr;
  }
  return std::unique_ptr<MlirProcess>(new MlirProcess(pid, fromChild[0], toChild[1]));
}

void MlirProcess::end() {
  if (std::exchange(hasEnded, true))
    return;
  // It ends by itself at the end of its input; one that hangs is ended.
  ::close(output);
  constexpr int patience = 200;
  int status = 0;
  for (int i = 0; ::waitpid(pid, &status, WNOHANG) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (i == patience)
      ::kill(pid, SIGKILL);
  }
}

MlirProcess::~MlirProcess() {
  end();
  ::close(input);
}
