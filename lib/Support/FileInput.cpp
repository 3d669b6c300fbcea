//===- FileInput.cpp - Files of a bounded size ----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Support/FileInput.h"
#include "llvm/Support/FileSystem.h"

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
