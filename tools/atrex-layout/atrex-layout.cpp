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
cl::SubCommand showCommand("show", "Show a layout as a table, a tile by thread or an LDS access by bank");
cl::SubCommand conflictsCommand("conflicts", "Count the LDS passes of accesses and search padding or swizzle");

cl::opt<std::string> expression(cl::Positional, cl::desc("EXPR"), cl::sub(evalCommand), cl::sub(showCommand),
                                cl::cat(category));
cl::opt<std::string> factsFile("facts", cl::desc("JSON list of operations with expected results"),
                               cl::value_desc("file"), cl::sub(evalCommand), cl::cat(category));
cl::opt<std::string> batchFile("batch", cl::desc("One expression per line, one result or 'error Cn: text' per line"),
                               cl::value_desc("file"), cl::sub(evalCommand), cl::cat(category));
cl::opt<std::string> docFile("doc", cl::desc("Markdown with blocks of worked examples, 'expression = result'"),
                             cl::value_desc("file"), cl::sub(evalCommand), cl::cat(category));

ShowOptions show;
cl::opt<std::string, true> svgFile("svg", cl::desc("Write the picture as SVG ('-': standard output)"),
                                   cl::value_desc("file"), cl::location(show.svg), cl::sub(showCommand),
                                   cl::cat(category));
cl::opt<bool, true> ansi("ansi", cl::desc("Colours even if the output is no terminal"), cl::location(show.ansi),
                         cl::sub(showCommand), cl::cat(category));
cl::opt<bool, true> showAll("all", cl::desc("Leave nothing out"), cl::location(show.all), cl::sub(showCommand),
                            cl::cat(category));
cl::opt<std::string, true> tvTile("tv", cl::desc("EXPR is a thread-value layout of a tile with these extents"),
                                  cl::value_desc("(M,N)"), cl::location(show.tile), cl::sub(showCommand),
                                  cl::cat(category));
cl::opt<bool, true> showLDS("lds", cl::desc("EXPR gives the byte address of every lane of an LDS access"),
                            cl::location(show.lds), cl::sub(showCommand), cl::cat(category));
cl::opt<int64_t, true> width("width", cl::desc("Bytes per lane of the LDS access"), cl::value_desc("bytes"),
                             cl::location(show.width), cl::sub(showCommand), cl::cat(category));
cl::opt<std::string, true> kind("kind", cl::desc("read (default) or write"), cl::value_desc("kind"),
                                cl::location(show.kind), cl::sub(showCommand), cl::cat(category));

ConflictOptions conflicts;
cl::list<std::string> writes("write", cl::desc("A write: lane to byte offset in the tile, and bytes per lane"),
                             cl::value_desc("LAYOUT:WIDTH"), cl::sub(conflictsCommand), cl::cat(category));
cl::list<std::string> reads("read",
                            cl::desc("A read; 'tv LAYOUT:WIDTH' (also for --write) for a thread-value layout of the "
                                     "elements of the tile"),
                            cl::value_desc("LAYOUT:WIDTH"), cl::sub(conflictsCommand), cl::cat(category));
cl::opt<std::string, true> tile("tile", cl::desc("ROWSxBYTES, or the layout of its elements (with --bits)"),
                                cl::value_desc("tile"), cl::location(conflicts.tile), cl::sub(conflictsCommand),
                                cl::cat(category));
cl::opt<int64_t, true> bits("bits", cl::desc("Width of an element of the tile"), cl::value_desc("bits"),
                            cl::location(conflicts.bits), cl::sub(conflictsCommand), cl::cat(category));
cl::opt<int64_t, true> pad("pad", cl::desc("Bytes of padding after each row"), cl::value_desc("bytes"),
                           cl::location(conflicts.pad), cl::sub(conflictsCommand), cl::cat(category));
cl::opt<bool, true> solve("solve", cl::desc("Search the padding or swizzle with the fewest passes"),
                          cl::location(conflicts.solve), cl::sub(conflictsCommand), cl::cat(category));
cl::opt<std::string, true> json("json", cl::desc("Write the figures as JSON (without a file: instead of the table)"),
                                cl::value_desc("file"), cl::ValueOptional, cl::location(conflicts.json),
                                cl::sub(conflictsCommand), cl::cat(category));

// Options of both.
cl::opt<std::string> arch("arch", cl::desc("Architecture or chip, such as gfx942 or MI355X"), cl::value_desc("arch"),
                          cl::sub(showCommand), cl::sub(conflictsCommand), cl::cat(category));
cl::opt<std::string> swizzle("swizzle", cl::desc("XOR swizzle on byte offsets"), cl::value_desc("S<b,m,s>"),
                             cl::sub(showCommand), cl::sub(conflictsCommand), cl::cat(category));
cl::opt<bool> assume("assume", cl::desc("Use rules of the chip that are only assumed"), cl::sub(showCommand),
                     cl::sub(conflictsCommand), cl::cat(category));
} // namespace

int atrex::layout::reportUsage(const Twine &message) {
  errs() << "atrex-layout: " << message << "; see 'atrex-layout --help'\n";
  return 2;
}

int atrex::layout::reportFault(const Fault &fault) {
  errs() << "error: " << toString(fault) << '\n';
  return 1;
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
  for (cl::SubCommand *command : {&evalCommand, &opsCommand, &showCommand, &conflictsCommand})
    cl::HideUnrelatedOptions({&category}, *command);
  // A wrong option is a usage error: exit code 2.
  if (!cl::ParseCommandLineOptions(argc, argv, "Layout algebra of the atx dialect\n", &errs()))
    return 2;
  if (evalCommand) {
    int given = !expression.empty() + !factsFile.empty() + !docFile.empty() + !batchFile.empty();
    if (given != 1)
      return reportUsage("eval takes an expression, --facts FILE, --doc FILE or --batch FILE");
    if (!factsFile.empty())
      return runFacts(factsFile);
    if (!batchFile.empty())
      return runBatch(batchFile);
    if (!docFile.empty())
      return runDoc(docFile);
    return runEval(expression);
  }
  if (showCommand) {
    show.expression = expression;
    show.arch = arch;
    show.swizzle = swizzle;
    show.assume = assume;
    return runShow(show);
  }
  if (conflictsCommand) {
    conflicts.arch = arch;
    conflicts.swizzle = swizzle;
    conflicts.assume = assume;
    conflicts.writes.assign(writes.begin(), writes.end());
    conflicts.reads.assign(reads.begin(), reads.end());
    // '--json' alone: to standard output.
    if (json.getNumOccurrences() && conflicts.json.empty())
      conflicts.json = "-";
    return runConflicts(conflicts);
  }
  if (opsCommand)
    return listOperations();
  return reportUsage("expected a command: eval, ops, show, conflicts");
}
