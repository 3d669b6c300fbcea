//===- FileInput.cpp - Files of a bounded size ----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Support/FileInput.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

static StringRef describeType(sys::fs::file_type type) {
  switch (type) {
  case sys::fs::file_type::directory_file:
    return "a directory";
  case sys::fs::file_type::character_file:
    return "a character device";
  case sys::fs::file_type::block_file:
    return "a block device";
  case sys::fs::file_type::fifo_file:
    return "a pipe";
  case sys::fs::file_type::socket_file:
    return "a socket";
  default:
    return "a special file";
  }
}

Expected<std::unique_ptr<MemoryBuffer>> atrex::readRegularFile(StringRef path, uint64_t maxBytes) {
  auto fail = [&](std::error_code ec, const Twine &why) {
    return createStringError(ec, "cannot read '" + path + "': " + why);
  };
  sys::fs::file_status status;
  if (std::error_code ec = sys::fs::status(path, status))
    return fail(ec, ec.message());
  if (status.type() != sys::fs::file_type::regular_file)
    return fail(inconvertibleErrorCode(), "it is " + describeType(status.type()) + ", not a regular file");
  if (status.getSize() > maxBytes)
    return fail(inconvertibleErrorCode(),
                "it has " + Twine(status.getSize()) + " bytes, more than the " + Twine(maxBytes) + " that are read");
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(buffer.getError(), buffer.getError().message());
  return std::move(*buffer);
}

Expected<std::unique_ptr<MemoryBuffer>> atrex::readInput(StringRef path, uint64_t maxBytes) {
  bool isStandard = path == "-";
  auto fail = [&](std::error_code ec, const Twine &why) {
    return createStringError(ec, (isStandard ? Twine("cannot read standard input: ") : "cannot read '" + path + "': ") +
                                     why);
  };
  int fd = STDIN_FILENO;
  sys::fs::file_status status;
  std::error_code ec = isStandard ? sys::fs::status(fd, status) : sys::fs::status(path, status);
  if (ec)
    return fail(ec, ec.message());
  // Somebody may type at a terminal; all other devices are there by mistake.
  bool isTerminal = isStandard && ::isatty(fd);
  bool isReadable = status.type() == sys::fs::file_type::regular_file ||
                    status.type() == sys::fs::file_type::fifo_file ||
                    status.type() == sys::fs::file_type::socket_file || isTerminal;
  if (!isReadable)
    return fail(inconvertibleErrorCode(), "it is " + describeType(status.type()) + ", not a file");
  if (status.type() == sys::fs::file_type::regular_file && status.getSize() > maxBytes)
    return fail(inconvertibleErrorCode(),
                "it has " + Twine(status.getSize()) + " bytes, more than the " + Twine(maxBytes) + " that are read");
  if (!isStandard) {
    fd = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      ec = std::error_code(errno, std::generic_category());
      return fail(ec, ec.message());
    }
  }
  std::string text;
  constexpr size_t chunk = size_t(1) << 20;
  while (true) {
    size_t size = text.size();
    text.resize(size + chunk);
    ssize_t got = ::read(fd, text.data() + size, chunk);
    bool isInterrupted = got < 0 && errno == EINTR;
    if (got < 0 && !isInterrupted)
      ec = std::error_code(errno, std::generic_category());
    text.resize(size + size_t(got > 0 ? got : 0));
    if (ec || (got == 0 && !isInterrupted) || text.size() > maxBytes)
      break;
  }
  if (!isStandard)
    ::close(fd);
  if (ec)
    return fail(ec, ec.message());
  if (text.size() > maxBytes)
    return fail(inconvertibleErrorCode(), "it has more than the " + Twine(maxBytes) + " bytes that are read");
  return MemoryBuffer::getMemBufferCopy(text, path);
}
