//===- FrontendFuzz.cpp - Random texts against the front end --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Half of the texts are mutations of sources, half are generated from the
// grammar with random spaces, line breaks and comments. Checked is that
//
//   * parsing, checking, lowering and formatting end, and end soon;
//   * there is a module, or there are errors, never both and never neither;
//   * every diagnostic stands at a line of the text, and none is the verifier's;
//   * what parses is formatted, formatting it again changes nothing, the tokens
//     and comments stay, and lines keep the width where they can be broken;
//   * what does not parse is not formatted;
//   * the same text gives the same module.
//
//   atrex-frontend-fuzz [--seed N] [--count N] [--seconds N] FILE...
//
// The number of executions is printed. A finding ends the run with status 1 and
// the text; the same seed gives the same texts.
//
//===----------------------------------------------------------------------===//

#include "atrex/Frontend/Format.h"
#include "atrex/Frontend/Frontend.h"
#include "atrex/Frontend/Lexer.h"
#include "atrex/Frontend/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <random>
#include <unistd.h>

using namespace llvm;
using namespace atrex::frontend;

namespace {
cl::list<std::string> corpusNames(cl::Positional, cl::desc("<sources to mutate>"), cl::OneOrMore);
cl::opt<uint64_t> seedOption("seed", cl::desc("Seed of the texts"), cl::init(1));
cl::opt<uint64_t> countOption("count", cl::desc("Number of texts"), cl::init(2000));
cl::opt<uint64_t> secondsOption("seconds", cl::desc("Go on for a time instead of a number of texts"), cl::init(0));
cl::opt<bool> printOption("print", cl::desc("Print the texts instead of running them"));

/// One text may take this long, in seconds.
constexpr unsigned timeLimit = 30;

/// The text being run, for the report after a signal.
std::string current;
uint64_t currentNumber = 0;

using Random = std::mt19937_64;

class Generator {
public:
  Generator(Random &random, ArrayRef<std::string> corpus) : random(random), corpus(corpus) {}

  std::string mutate() {
    std::string text = corpus[below(corpus.size())];
    for (size_t count = 1 + below(6); count; --count)
      mutateOnce(text);
    return text;
  }

  std::string generate() {
    out.clear();
    for (size_t count = 1 + below(4); count; --count)
      definition();
    return std::move(out);
  }

  size_t below(size_t limit) { return limit ? random() % limit : 0; }
  bool chance(unsigned percent) { return below(100) < percent; }

private:
  template <size_t N> StringRef pick(const StringRef (&choices)[N]) { return choices[below(N)]; }

  //===--- Mutation -------------------------------------------------------===//

  std::vector<StringRef> split(StringRef text) {
    std::vector<StringRef> tokens;
    for (size_t i = 0; i < text.size();) {
      size_t begin = i;
      auto isWord = [&](size_t k) { return k < text.size() && (isAlnum(text[k]) || text[k] == '_'); };
      if (isWord(i))
        while (isWord(i))
          ++i;
      else
        ++i;
      tokens.push_back(text.slice(begin, i));
    }
    return tokens;
  }
  void mutateOnce(std::string &text) {
    static constexpr StringRef words[] = {"op",
                                          "kernel",
                                          "fn",
                                          "import",
                                          "const",
                                          "let",
                                          "var",
                                          "for",
                                          "while",
                                          "if",
                                          "else",
                                          "return",
                                          "in",
                                          "range",
                                          "where",
                                          "knobs",
                                          "grid",
                                          "count",
                                          "launch",
                                          "f32",
                                          "bf16",
                                          "i32",
                                          "i1",
                                          "u32",
                                          "None",
                                          "inf",
                                          "nan",
                                          "true",
                                          "_",
                                          "T",
                                          "axis",
                                          "sum",
                                          "max",
                                          "load",
                                          "store",
                                          "iota",
                                          "dot",
                                          "topk",
                                          "sort",
                                          "shared",
                                          "fill",
                                          "take",
                                          "concat",
                                          "reshape",
                                          "einsum",
                                          "raw",
                                          "pin",
                                          "cumsum",
                                          "0",
                                          "1",
                                          "-1",
                                          "128",
                                          "1e38",
                                          "0x10",
                                          "9223372036854775807",
                                          "\"ab,bc->ac\"",
                                          "\"",
                                          "\"\"\"",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ",",
                                          ":",
                                          "=",
                                          "+=",
                                          "->",
                                          "..",
                                          "+",
                                          "-",
                                          "*",
                                          "/",
                                          "%",
                                          "<<",
                                          ">>",
                                          "&",
                                          "|",
                                          "^",
                                          "~",
                                          "!",
                                          "&&",
                                          "||",
                                          "==",
                                          "<",
                                          "\n",
                                          "// c\n",
                                          "f8e4m3fn",
                                          "x",
                                          "out",
                                          "H",
                                          "barrier()",
                                          "block_id()"};
    std::vector<StringRef> tokens = split(text);
    if (tokens.empty()) {
      text = pick(words).str();
      return;
    }
    size_t at = below(tokens.size()), other = below(tokens.size());
    std::vector<std::string> result(tokens.begin(), tokens.end());
    switch (below(10)) {
    case 0:
      result.erase(result.begin() + at);
      break;
    case 1:
      result.insert(result.begin() + at, pick(words).str());
      break;
    case 2:
    case 3:
      result[at] = pick(words).str();
      break;
    case 4:
      std::swap(result[at], result[other]);
      break;
    case 5:
      result[at] = result[other];
      break;
    case 6: { // a piece moves, or is repeated
      size_t length = 1 + below(20);
      std::vector<std::string> piece(result.begin() + at, result.begin() + std::min(at + length, result.size()));
      result.insert(result.begin() + other, piece.begin(), piece.end());
      break;
    }
    case 7: { // a piece disappears
      size_t length = 1 + below(20);
      result.erase(result.begin() + at, result.begin() + std::min(at + length, result.size()));
      break;
    }
    case 8: { // any byte
      std::string &token = result[at];
      token[below(token.size())] = char(below(256));
      break;
    }
    case 9: { // a piece of another source, or the end is cut off
      if (chance(30)) {
        result.resize(at);
        break;
      }
      const std::string &from = corpus[below(corpus.size())];
      size_t begin = below(from.size());
      result.insert(result.begin() + at, from.substr(begin, 1 + below(80)));
      break;
    }
    }
    text.clear();
    for (const std::string &token : result)
      text += token;
  }

  //===--- The grammar ----------------------------------------------------===//

  /// Appends a token with something in front.
  void put(StringRef text, bool mayBreak = true) {
    if (mayBreak && chance(3))
      out += chance(50) ? "\n" : "\n\n  ";
    if (mayBreak && chance(1))
      out += chance(50) ? " // a comment\n" : "\n// alone\n\n";
    if (chance(80))
      out += ' ';
    else if (!out.empty() && !text.empty() && needsSpace(out.back(), text.front()))
      out += ' ';
    out += text.str();
  }
  static bool needsSpace(char before, char after) {
    auto isWord = [](char c) { return isAlnum(c) || c == '_' || c == '.' || c == '"'; };
    if (isWord(before) && isWord(after))
      return true;
    // No two operators become one, and none becomes a comment.
    return StringRef("+-*/%<>=!&|.").contains(before) && StringRef("+-*/%<>=!&|.").contains(after);
  }
  void name() {
    static constexpr StringRef names[] = {"x",   "y", "out", "weight", "H", "T", "BN", "a_rather_long_name_of_a_value",
                                          "tok", "m", "l",   "acc"};
    put(pick(names));
  }
  void number() {
    static constexpr StringRef numbers[] = {"0",    "1",     "2",     "16",  "128", "1.0",  "0.5",  "1e-6",
                                            "0xff", "0b101", "1_000", "inf", "nan", "true", "false"};
    put(pick(numbers));
  }
  template <typename F> void list(StringRef open, StringRef close, size_t count, F element, bool tight = false) {
    if (tight)
      out += open.str();
    else
      put(open);
    for (size_t i = 0; i < count; ++i) {
      if (i)
        put(",");
      element();
    }
    if (count && chance(5))
      put(",");
    put(close);
  }
  void subscript() {
    switch (below(5)) {
    case 0:
      return put("None");
    case 1:
      return put(":");
    case 2:
      expression(1);
      put(":");
      return expression(1);
    case 3:
      put(":");
      return expression(1);
    default:
      return expression(1);
    }
  }
  void call(unsigned depth) {
    static constexpr StringRef functions[] = {"f32",  "bf16",    "exp",  "sum",    "max",  "dot",   "load",  "where",
                                              "iota", "reshape", "fill", "gather", "topk", "rsqrt", "helper"};
    put(pick(functions));
    list(
        "(", ")", below(4),
        [&] {
          if (chance(20)) {
            static constexpr StringRef arguments[] = {"axis", "fill", "mask", "acc", "type"};
            put(pick(arguments));
            put("=");
          }
          expression(depth - 1);
        },
        /*tight=*/true);
  }
  void expression(unsigned depth) {
    if (depth == 0)
      return chance(60) ? name() : number();
    switch (below(12)) {
    case 0:
    case 1:
    case 2: {
      static constexpr StringRef operators[] = {"+", "-", "*", "/", "%", "&&", "||", "|", "^", "&", "<<", ">>"};
      expression(depth - 1);
      put(pick(operators));
      return expression(depth - 1);
    }
    case 3:
      put("(");
      expression(depth - 1);
      put(chance(50) ? "<" : "==");
      expression(depth - 1);
      return put(")");
    case 4: {
      static constexpr StringRef operators[] = {"-", "!", "~"};
      put(pick(operators));
      put("(");
      expression(depth - 1);
      return put(")");
    }
    case 5:
      name();
      return list("[", "]", 1 + below(4), [&] { subscript(); });
    case 6:
      name();
      out += ".T";
      return;
    case 7:
      put("(");
      expression(depth - 1);
      return put(")");
    case 8:
      return put(chance(70) ? "\"mk,nk->mn\"" : "\"\"\"two\n lines\"\"\"");
    case 9:
      return list("(", ")", 2 + below(2), [&] { expression(depth - 1); });
    default:
      return call(depth);
    }
  }
  void type() {
    static constexpr StringRef types[] = {"f32", "bf16", "i32", "u8", "f8e4m3fn"};
    put(pick(types));
    if (chance(60))
      list("[", "]", below(4), [&] { expression(chance(30)); });
    if (chance(5)) {
      put("strides");
      list("(", ")", 1 + below(3), [&] { chance(30) ? put("_") : expression(0); });
    }
    if (chance(5)) {
      put("align");
      put("16");
    }
  }
  void newLine() {
    if (chance(10))
      out += " // trailing";
    out += chance(90) ? "\n" : chance(50) ? "\n\n\n" : "\n// about what follows\n";
  }
  void block(unsigned depth) {
    put("{");
    for (size_t count = below(5); count; --count)
      statement(depth);
    if (chance(80))
      newLine();
    put("}", false);
  }
  void statement(unsigned depth) {
    if (chance(85))
      newLine();
    switch (below(depth ? 11 : 7)) {
    case 0:
    case 1: {
      static constexpr StringRef words[] = {"let", "var", "const"};
      put(pick(words));
      name();
      if (chance(20)) {
        put(":");
        type();
      }
      put("=");
      return expression(below(4));
    }
    case 2:
      put("let");
      list("(", ")", 1 + below(3), [&] { chance(20) ? put("_") : name(); });
      put("=");
      return expression(2);
    case 3: {
      newLine();
      name();
      static constexpr StringRef words[] = {"=", "+=", "-=", "*="};
      put(pick(words));
      return expression(below(5));
    }
    case 4:
    case 5:
      newLine();
      put("store", false);
      return list("(", ")", 2, [&] { expression(2); }, /*tight=*/true);
    case 6:
      newLine();
      put("let", false);
      name();
      put("=");
      put("launch");
      put("some_kernel");
      list("(", ")", below(4), [&] { expression(1); }, /*tight=*/true);
      if (chance(30)) {
        put("count", false);
        name();
      }
      return;
    case 7:
      put("for");
      if (chance(20))
        put("const");
      name();
      put("in");
      put("range");
      list("(", ")", 1 + below(3), [&] { expression(1); });
      return block(depth - 1);
    case 8:
      put("while");
      expression(2);
      return block(depth - 1);
    default:
      put("if");
      expression(2);
      block(depth - 1);
      if (chance(40)) {
        put("else");
        if (chance(40)) {
          put("if");
          expression(1);
        }
        block(depth - 1);
      }
      return;
    }
  }
  void values(size_t count) {
    list("(", ")", count, [&] {
      name();
      put(":");
      type();
      if (chance(10)) {
        put("=");
        number();
      }
    });
  }
  void definition() {
    newLine();
    switch (below(6)) {
    case 0:
      put("const", false);
      name();
      put("=");
      return expression(1);
    case 1:
      put("fn", false);
      put("helper");
      list("(", ")", below(4), [&] {
        name();
        if (chance(40)) {
          put(":");
          type();
        }
      });
      if (chance(30)) {
        put("->");
        type();
      }
      put("{");
      statement(1);
      newLine();
      put("return");
      expression(2);
      put("}");
      return;
    default:
      break;
    }
    bool isKernel = chance(50);
    put(isKernel ? "kernel" : "op", false);
    put("some_name");
    values(below(5));
    put("->");
    values(below(3));
    std::vector<unsigned> clauses;
    for (unsigned clause = 0; clause < (isKernel ? 4 : 2); ++clause)
      if (chance(40))
        clauses.push_back(clause);
    std::shuffle(clauses.begin(), clauses.end(), random);
    for (unsigned clause : clauses) {
      if (clause == 0) {
        put("where");
        for (size_t i = 0, count = 1 + below(4); i < count; ++i) {
          if (i)
            put(",");
          expression(0);
          put(chance(50) ? "==" : "<=");
          expression(1);
        }
      } else if (clause == 1) {
        put("knobs");
        for (size_t i = 0, count = 1 + below(4); i < count; ++i) {
          if (i)
            put(",");
          name();
          put("in");
          if (chance(50)) {
            list("{", "}", 1 + below(5), [&] { number(); });
          } else {
            put("1");
            put("..");
            put("8");
            if (chance(30)) {
              put("step");
              put("2");
            }
          }
          if (chance(40)) {
            put("=");
            put("4");
          }
        }
      } else if (clause == 2) {
        put("threads");
        expression(1);
      } else {
        put("grid");
        list("(", ")", 1 + below(3), [&] { expression(1); });
      }
    }
    block(3);
  }

  Random &random;
  ArrayRef<std::string> corpus;
  std::string out;
};

/// Runs texts. A finding is a message.
class Runner {
public:
  std::optional<std::string> run(StringRef text, Random &random, bool isGenerated) {
    // Types and attributes are kept for as long as the context.
    if (++uses % 500 == 0 || !context)
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    unsigned numErrors = 0;
    std::optional<std::string> finding;
    std::string firstError;
    unsigned numLines = text.count('\n') + 1;
    mlir::ScopedDiagnosticHandler handler(context.get(), [&](mlir::Diagnostic &diagnostic) {
      numErrors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
      std::string message = diagnostic.str();
      if (firstError.empty()) {
        raw_string_ostream os(firstError);
        os << diagnostic.getLocation() << ": " << message;
      }
      auto check = [&](mlir::Location location) {
        // A named value is reported at its place.
        auto place = location->findInstanceOf<mlir::FileLineColLoc>();
        if (!finding && (!place || place.getLine() == 0 || place.getColumn() == 0 || place.getLine() > numLines))
          finding = "diagnostic without a place in the text: " + message;
      };
      check(diagnostic.getLocation());
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        check(note.getLocation());
      // Operations of MLIR are not the author's words.
      if (!finding && StringRef(message).starts_with("'") && StringRef(message).contains("' op "))
        finding = "the verifier found what the front end did not: " + message;
      return mlir::success();
    });

    // Formatting.
    SourceMgr sourceMgr;
    sourceMgr.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, "fuzz.atx"), SMLoc());
    StringRef source = sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID())->getBuffer();
    Diagnostics diags(sourceMgr, *context);
    std::unique_ptr<ast::File> file = parse(source, diags);
    bool parses = diags.getNumErrors() == 0;
    std::vector<std::string> names;
    for (const ast::OpDecl *op : file->ops)
      names.push_back(op->name.str());
    numErrors = 0;
    Diagnostics formatDiags(sourceMgr, *context);
    std::optional<std::string> formatted = formatSource(source, formatDiags);
    if (formatted.has_value() != parses)
      return "a source that " + std::string(parses ? "parses is not" : "does not parse is") + " formatted";
    if (isGenerated && !parses)
      return "a generated program does not parse: " + firstError;
    if (formatted) {
      ++numFormatted;
      SourceMgr again;
      again.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(*formatted, "fuzz.atx"), SMLoc());
      Diagnostics againDiags(again, *context);
      std::optional<std::string> twice =
          formatSource(again.getMemoryBuffer(again.getMainFileID())->getBuffer(), againDiags);
      if (!twice)
        return "the formatted text does not parse:\n" + *formatted;
      if (*twice != *formatted)
        return "formatting twice changes the text:\n" + *formatted + "\n-----\n" + *twice;
      if (isGenerated)
        for (StringRef rest = *formatted; !rest.empty();) {
          auto [line, tail] = rest.split('\n');
          if (line.size() > maxLineWidth)
            return "line of " + std::to_string(line.size()) + " characters:\n" + line.str();
          rest = tail;
        }
    }

    // The whole front end.
    numErrors = 0;
    FrontendOptions options;
    if (!names.empty())
      options.op = names[random() % names.size()];
    if (random() % 2)
      for (StringRef dim : {"H", "T", "N", "I", "D", "K"})
        options.dims[dim] = int64_t(1) << random() % 8;
    auto import = [&]() -> std::optional<std::string> {
      SourceMgr main;
      main.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, "fuzz.atx"), SMLoc());
      mlir::OwningOpRef<mlir::ModuleOp> module = importAtx(main, *context, options);
      if (!module)
        return std::nullopt;
      std::string printed;
      raw_string_ostream(printed) << *module;
      return printed;
    };
    std::optional<std::string> module = import();
    if (finding)
      return finding;
    if (!module && !numErrors)
      return std::string("no module and no error");
    if (module && numErrors)
      return std::string("a module in spite of errors");
    if (module) {
      ++numModules;
      if (random() % 20 == 0 && import() != module)
        return std::string("the same text gives different modules");
    }
    return std::nullopt;
  }

  uint64_t numFormatted = 0, numModules = 0;

private:
  std::unique_ptr<mlir::MLIRContext> context;
  uint64_t uses = 0;
};

void report(void *) {
  std::string text =
      "text " + std::to_string(currentNumber) + " of seed " + std::to_string(seedOption) + ":\n" + current + "\n";
  (void)!::write(2, text.data(), text.size());
}
} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Random texts against the front end of the kernel language\n");
  sys::PrintStackTraceOnErrorSignal(argv[0]);
  sys::AddSignalHandler(report, nullptr);
  std::vector<std::string> corpus;
  for (const std::string &name : corpusNames) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(name);
    if (!buffer) {
      errs() << "cannot read '" << name << "': " << buffer.getError().message() << "\n";
      return 2;
    }
    // Large texts hide small mutations.
    if (!(*buffer)->getBuffer().empty() && (*buffer)->getBufferSize() < 20000)
      corpus.push_back((*buffer)->getBuffer().str());
  }
  if (corpus.empty()) {
    errs() << "no source to mutate\n";
    return 2;
  }
  Runner runner;
  auto start = std::chrono::steady_clock::now();
  auto isOver = [&](uint64_t number) {
    if (!secondsOption)
      return number >= countOption;
    return std::chrono::steady_clock::now() - start >= std::chrono::seconds(secondsOption);
  };
  uint64_t number = 0;
  for (; !isOver(number); ++number) {
    // Each text has a generator of its own, so that it can be run alone.
    Random random(seedOption * 1000003 + number);
    Generator generator(random, corpus);
    bool isGenerated = number % 2;
    current = isGenerated ? generator.generate() : generator.mutate();
    currentNumber = number;
    if (printOption) {
      outs() << "// text " << number << "\n" << current << "\n";
      continue;
    }
    ::alarm(timeLimit);
    if (std::optional<std::string> finding = runner.run(current, random, isGenerated)) {
      errs() << *finding << "\n";
      report(nullptr);
      return 1;
    }
  }
  outs() << number << " executions, " << runner.numFormatted << " formatted, " << runner.numModules
         << " modules, no findings\n";
  return 0;
}
