//===- atrex-layout.cpp - The layout algebra on the command line ----------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace atrex::layout;

namespace {
cl::OptionCategory category("atrex-layout options");
cl::SubCommand evalCommand("eval", "Evaluate an expression, or compare with a file of expected values");
cl::SubCommand opsCommand("ops", "List the operations with their operands and attributes");

cl::opt<std::string> expression(cl::Positional, cl::desc("EXPR"), cl::sub(evalCommand), cl::cat(category));
cl::opt<std::string> factsFile("facts", cl::desc("JSON list of operations with expected results"),
                               cl::value_desc("file"), cl::sub(evalCommand), cl::cat(category));
cl::opt<std::string> batchFile("batch", cl::desc("One expression per line, one result or 'error Cn: text' per line"),
                               cl::value_desc("file"), cl::sub(evalCommand), cl::cat(category));
cl::opt<std::string> docFile("doc", cl::desc("Markdown with blocks of worked examples, 'expression = result'"),
                             cl::value_desc("file"), cl::sub(evalCommand), cl::cat(category));
} // namespace

static int usage(const Twine &message) {
  errs() << "atrex-layout: " << message << "; see 'atrex-layout --help'\n";
  return 2;
}

static int listOperations() {
  for (llvm::ArrayRef<Operation> list : {getOperations(), getTargetOperations()})
    for (const Operation &operation : list) {
      outs() << operation.name << '(';
      for (unsigned i = 0; i < operation.maxOperands; ++i)
        outs() << (i ? ", " : "") << char('A' + i) << (i >= operation.minOperands ? "?" : "");
      SmallVector<StringRef> attributes;
      operation.attributes.split(attributes, ' ', -1, false);
      for (StringRef attribute : attributes) {
        bool required = attribute.consume_front("!");
        outs() << ", " << attribute << "=..." << (required ? "" : "?");
      }
      outs() << ")\n";
    }
  return 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions({&category});
  for (cl::SubCommand *command : {&evalCommand, &opsCommand})
    cl::HideUnrelatedOptions({&category}, *command);
  // A wrong option is a usage error: exit code 2.
  if (!cl::ParseCommandLineOptions(argc, argv, "Layout algebra of the atx dialect\n", &errs()))
    return 2;
  if (evalCommand) {
    int given = !expression.empty() + !factsFile.empty() + !docFile.empty() + !batchFile.empty();
    if (given != 1)
      return usage("eval takes an expression, --facts FILE, --doc FILE or --batch FILE");
    if (!factsFile.empty())
      return runFacts(factsFile);
    if (!batchFile.empty())
      return runBatch(batchFile);
    if (!docFile.empty())
      return runDoc(docFile);
    return runEval(expression);
  }
  if (opsCommand)
    return listOperations();
  return usage("expected a command: eval, ops");
}
