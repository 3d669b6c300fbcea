//===- FileInputTest.cpp - Reading of files and endless input -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Support/FileInput.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <sys/stat.h>
#include <thread>

using namespace atrex;

namespace {
std::string readText(llvm::StringRef path, uint64_t limit) {
  auto buffer = readInput(path, limit);
  return buffer ? (*buffer)->getBuffer().str() : "error: " + llvm::toString(buffer.takeError());
}

struct Scratch {
  llvm::SmallString<128> path;
  Scratch() {
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("input", "txt", path));
    llvm::sys::fs::remove(path);
  }
  ~Scratch() { llvm::sys::fs::remove(path); }
  void write(llvm::StringRef text) {
    std::error_code ec;
    llvm::raw_fd_ostream(path, ec) << text;
    EXPECT_FALSE(ec);
  }
};
} // namespace

TEST(FileInput, FilesUpToTheLimit) {
  Scratch file;
  file.write("");
  EXPECT_EQ(readText(file.path, 10), "");
  file.write("0123456789");
  EXPECT_EQ(readText(file.path, 10), "0123456789");
  EXPECT_NE(readText(file.path, 9).find("it has 10 bytes, more than the 9 that are read"), std::string::npos);
  std::string large(3000000, 'x');
  file.write(large);
  EXPECT_EQ(readText(file.path, large.size()), large);
  auto buffer = readInput(file.path, large.size());
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ((*buffer)->getBufferEnd()[0], '\0');
}

TEST(FileInput, PipesUpToTheLimit) {
  Scratch pipe;
  ASSERT_EQ(::mkfifo(pipe.path.c_str(), 0600), 0);
  for (size_t size : {size_t(5), size_t(2000000)}) {
    std::thread writer([&] { pipe.write(std::string(size, 'y')); });
    EXPECT_EQ(readText(pipe.path, 2000000), std::string(size, 'y'));
    writer.join();
  }
}

TEST(FileInput, WhatIsNoFile) {
  EXPECT_NE(readText("/dev/zero", 1000).find("cannot read '/dev/zero': it is a character device, not a file"),
            std::string::npos);
  EXPECT_NE(readText("/", 1000).find("cannot read '/': it is a directory, not a file"), std::string::npos);
  EXPECT_NE(readText("/nonexistent", 1000).find("No such file or directory"), std::string::npos);
}
