//===- FormatFiles.cpp - atrex-compile --format ---------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatFiles.h"
#include "atrex/Frontend/Format.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace atrex;

/// Line, from 1, in which the texts begin to differ.
static unsigned findDifference(StringRef before, StringRef after) {
  size_t length = std::min(before.size(), after.size());
  size_t i = std::mismatch(before.begin(), before.begin() + length, after.begin()).first - before.begin();
  return before.take_front(i).count('\n') + 1;
}

int atrex::formatFiles(ArrayRef<std::string> names, const FormatOptions &options) {
  int status = 0;
  auto fail = [&](const Twine &message) {
    WithColor::error(errs(), "atrex-compile") << message << "\n";
    status = 1;
  };
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const std::string &name : names) {
    Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(name, maxTextBytes);
    if (!buffer) {
      fail(toString(buffer.takeError()));
      continue;
    }
    StringRef source = (*buffer)->getBuffer();
    SourceMgr sourceMgr;
    sourceMgr.AddNewSourceBuffer(std::move(*buffer), SMLoc());
    mlir::SourceMgrDiagnosticHandler handler(sourceMgr, &context, errs());
    frontend::Diagnostics diags(sourceMgr, context);
    std::optional<std::string> text = frontend::formatSource(source, diags);
    if (!text) {
      status = 1;
      continue;
    }
    if (options.check) {
      if (*text != source)
        fail("'" + name + "' is not in canonical form from line " + Twine(findDifference(source, *text)) +
             " on; 'atrex-compile --format -i' rewrites it");
    } else if (!options.inPlace) {
      if (Error error = writeFile(options.output, *text))
        fail(toString(std::move(error)));
    } else if (*text != source) {
      if (Error error = writeFile(name, *text))
        fail(toString(std::move(error)));
    }
  }
  return status;
}
