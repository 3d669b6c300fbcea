//===- FileOutput.cpp - Files that are whole or absent ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Support/FileOutput.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Error makeError(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

Error atrex::checkWritable(StringRef path) {
  if (path == "-")
    return Error::success();
  if (path.empty())
    return makeError("the output file name is empty");
  if (sys::fs::is_directory(path))
    return makeError("cannot write '" + path + "': it is a directory");
  if (sys::fs::exists(path)) {
    if (std::error_code ec = sys::fs::access(path, sys::fs::AccessMode::Write))
      return makeError("cannot write '" + path + "': " + ec.message());
    return Error::success();
  }
  StringRef parent = sys::path::parent_path(path);
  if (parent.empty())
    parent = ".";
  if (!sys::fs::is_directory(parent))
    return makeError("cannot write '" + path + "': there is no directory '" + parent + "'");
  if (std::error_code ec = sys::fs::access(parent, sys::fs::AccessMode::Write))
    return makeError("cannot write '" + path + "': " + ec.message());
  return Error::success();
}

Error atrex::writeFile(StringRef path, StringRef content) {
  if (path == "-") {
    outs() << content;
    outs().flush();
    if (outs().has_error()) {
      std::error_code ec = outs().error();
      outs().clear_error();
      return makeError("cannot write standard output: " + ec.message());
    }
    return Error::success();
  }
  if (Error error = checkWritable(path))
    return error;
  // Devices and pipes cannot be replaced.
  if (sys::fs::exists(path) && !sys::fs::is_regular_file(path)) {
    std::error_code ec;
    raw_fd_ostream os(path, ec);
    if (!ec) {
      os << content;
      os.close();
      ec = os.error();
      os.clear_error();
    }
    return ec ? makeError("cannot write '" + path + "': " + ec.message()) : Error::success();
  }
  Expected<sys::fs::TempFile> temporary =
      sys::fs::TempFile::create(path + ".tmp%%%%%%", sys::fs::all_read | sys::fs::all_write);
  if (!temporary)
    return makeError("cannot write '" + path + "': " + toString(temporary.takeError()));
  {
    raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
    os << content;
    os.flush();
    if (os.has_error()) {
      std::error_code ec = os.error();
      os.clear_error();
      consumeError(temporary->discard());
      return makeError("cannot write '" + path + "': " + ec.message());
    }
  }
  if (Error error = temporary->keep(path))
    return makeError("cannot write '" + path + "': " + toString(std::move(error)));
  return Error::success();
}
