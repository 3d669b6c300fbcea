//===- FuzzTest.cpp - Generated and mutated expressions -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ATREX_LAYOUT_FUZZ=N and ATREX_LAYOUT_SEED=S run N expressions from seed S.
// Every expression must give a result whose text parses to the same value, or a
// fault with a message; inference and a builder that computes must agree. The
// lines that crash a build with sanitizers are printed with
// ATREX_LAYOUT_VERBOSE.
//
//===----------------------------------------------------------------------===//

#include "Laws.h"
#include "atrex/Layout/Operations.h"
#include <chrono>
#include <cstdlib>

using namespace llvm;

namespace atrex::layout {

namespace {
/// Texts of values and calls, mostly well formed, with extreme numbers.
class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  std::string expression() {
    std::string text = call(0);
    if (random.chance(30))
      for (int64_t i = random.between(1, 3); i > 0; --i)
        mutate(text);
    return text;
  }

private:
  std::string number() {
    static const int64_t extreme[] = {0,
                                      -1,
                                      int64_t(1) << 31,
                                      (int64_t(1) << 31) - 1,
                                      int64_t(1) << 32,
                                      int64_t(1) << 62,
                                      (int64_t(1) << 62) + 1,
                                      std::numeric_limits<int64_t>::max(),
                                      std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::max() - 1,
                                      3037000500,
                                      4096,
                                      65536};
    if (random.chance(12))
      return std::to_string(random.pick(extreme));
    return std::to_string(random.between(random.chance(10) ? -9 : 1, 12));
  }

  std::string leaf(bool extent) {
    if (random.chance(8)) {
      static const int64_t divisors[] = {1, 2, 4, 8, 12, int64_t(1) << 62, std::numeric_limits<int64_t>::max()};
      return random.chance(50) ? "?" : "?{div=" + std::to_string(random.pick(divisors)) + "}";
    }
    std::string text = number();
    if (!extent && random.chance(6))
      for (int64_t i = random.between(1, random.chance(5) ? 40 : 2); i > 0; --i)
        text += "E" + std::to_string(random.chance(90) ? random.below(3) : random.below(5000));
    if (random.chance(2))
      text = "*";
    return text;
  }

  /// A tree as text, with the leaf '#' to be filled in.
  std::string tree(int depth) {
    if (depth == 0 || random.chance(35))
      return "#";
    int64_t rank = random.chance(2) ? random.between(50, 400) : random.between(1, 4);
    std::string text = "(";
    for (int64_t i = 0; i < rank; ++i)
      text += (i ? "," : "") + (rank > 4 ? "#" : tree(depth - 1));
    return text + ")";
  }

  std::string fill(StringRef tree, bool extent) {
    std::string text;
    for (char c : tree)
      if (c == '#')
        text += leaf(extent);
      else
        text += c;
    return text;
  }

  std::string tuple() {
    if (!random.chance(3))
      return fill(tree(3), false);
    std::string text = leaf(false);
    for (int64_t i = random.between(20, 40); i > 0; --i)
      text = random.chance(50) ? "(" + text + ")" : "(" + text + ",2)";
    return text;
  }

  std::string layout() {
    // Proper layouts as well, so that deep code is reached.
    if (random.chance(50)) {
      static const Kind kinds[] = {Kind::Any, Kind::Signed, Kind::Compact, Kind::Gaps, Kind::Loose, Kind::Binary};
      Value value = Map(randomLayout(random, kinds[random.below(6)]));
      if (random.chance(30))
        value = mapLeaves(value, [&](const Int &l) {
          return l.value > 0 && random.chance(30) ? Int::dynamic(random.pick({1, l.value})) : l;
        });
      return toString(value);
    }
    std::string shape = tree(3);
    return fill(shape, true) + ":" + fill(random.chance(95) ? shape : tree(3), false);
  }

  std::string swizzle() {
    if (random.chance(15))
      return "CS<" + number() + "," + number() + ",[" + number() + "]," + number() + ",[" + number() + "]>";
    return "S<" + std::to_string(random.between(-1, 6)) + "," + std::to_string(random.between(-1, 60)) + "," +
           std::to_string(random.between(-7, 7)) + ">";
  }

  std::string map(int depth = 0) {
    if (random.chance(80) || depth > 3)
      return random.chance(93) ? layout() : swizzle();
    std::string inner = random.chance(70) ? swizzle() : layout();
    return inner + " o " + tuple() + " o [" + map(depth + 1) + "]";
  }

  std::string tile() {
    std::string text = "[";
    for (int64_t i = random.between(1, 4); i > 0; --i)
      text += (random.chance(20) ? "*" : random.chance(50) ? number() : layout()) + (i > 1 ? "|" : "");
    return text + "]";
  }

  std::string value(int depth) {
    int64_t kind = random.below(20);
    if (kind < 9)
      return map();
    if (kind < 14)
      return tuple();
    if (kind < 16)
      return number();
    if (kind < 18)
      return tile();
    return depth < 3 ? call(depth + 1) : swizzle();
  }

  std::string call(int depth) {
    ArrayRef<Operation> operations = getOperations();
    const Operation &operation = operations[random.below(operations.size())];
    int64_t operands =
        random.chance(97) ? random.between(operation.minOperands, operation.maxOperands) : random.below(5);
    std::string text = operation.name.str() + "(";
    for (int64_t i = 0; i < operands; ++i)
      text += (i ? ", " : "") + (i == 0 && random.chance(60) ? map() : value(depth));
    SmallVector<StringRef> attributes;
    operation.attributes.split(attributes, ' ', -1, false);
    for (StringRef name : attributes) {
      bool required = name.consume_front("!");
      if (!random.chance(required ? 97 : 50))
        continue;
      text += (StringRef(text).ends_with("(") ? "" : ", ") + name.str() + "=";
      int64_t kind = random.below(10);
      if (name == "operand")
        text += "ABCX"[random.below(4)];
      else if (name == "strict")
        text += random.chance(70) ? "true" : "false";
      else if (name == "atoms" || name == "swizzle")
        text += name == "atoms" ? layout() : swizzle();
      else if (name == "tile" || name == "atom")
        text += kind < 8 ? "(" + number() + "," + number() + (name == "atom" ? "," + number() : "") + ")" : tuple();
      else if (name == "mode" || name == "indices")
        text +=
            "[" + std::to_string(random.between(-1, 3)) + (kind < 5 ? "," + std::to_string(random.below(3)) : "") + "]";
      else
        text += kind < 7 ? std::to_string(random.pick({0, 1, 2, 4, 8, 16, 32, 64})) : number();
    }
    return text + ")";
  }

  void mutate(std::string &text) {
    static const char alphabet[] = "()[]{}<>:,|*?oES=-0123456789 divC.\t\x7f\xff";
    size_t position = random.below(text.size() + 1);
    char c = alphabet[random.below(sizeof(alphabet) - 1)];
    switch (random.below(4)) {
    case 0:
      text.insert(position, 1, c);
      break;
    case 1:
      text.erase(position, random.between(1, 3));
      break;
    case 2:
      if (position < text.size())
        text[position] = c;
      break;
    default:
      text.insert(position, text.substr(random.below(text.size() + 1), random.between(1, 12)));
      break;
    }
    if (text.empty())
      text = "?";
  }

  Random random;
};
} // namespace

static int64_t getOption(const char *name, int64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : fallback;
}

/// The expression with handles on its dynamic leaves.
static void giveHandles(Expression &expression, Interpreter &interpreter, Random &random) {
  auto give = [&](Int &leaf) {
    int64_t factor = random.between(1, 4), number;
    if (__builtin_mul_overflow(leaf.value, factor, &number))
      number = leaf.value;
    leaf.handle = interpreter.add(number);
  };
  walkDynamic(expression.literal, give);
  for (auto &attribute : expression.attributes)
    if (auto *value = std::get_if<Value>(&attribute.second))
      walkDynamic(*value, give);
  for (Expression &operand : expression.operands)
    giveHandles(operand, interpreter, random);
}

TEST(Fuzz, NoCrashNoHangNoFalseClaim) {
  int64_t count = getOption("ATREX_LAYOUT_FUZZ", 20000), seed = getOption("ATREX_LAYOUT_SEED", 1);
  bool verbose = std::getenv("ATREX_LAYOUT_VERBOSE");
  unsigned results = 0, faults = 0, unparsed = 0;
  double slowest = 0;
  std::string slowestText;
  for (int64_t i = 0; i < count; ++i) {
    std::string text = Generator(seed * 1000003 + i).expression();
    if (verbose)
      errs() << text << '\n';
    auto start = std::chrono::steady_clock::now();
    Expected<Expression> expression = parseExpression(text);
    if (!expression) {
      std::string message = toString(expression.takeError());
      ASSERT_TRUE(StringRef(message).starts_with("column ")) << text << ": " << message;
      ++unparsed;
      continue;
    }
    Algebra algebra;
    std::optional<Results> inferred = evaluate(algebra, *expression);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds > slowest)
      slowest = seconds, slowestText = text;
    ASSERT_EQ(inferred.has_value(), !algebra.failed()) << text;
    std::string outcome;
    if (inferred) {
      ++results;
      outcome = toString(*inferred);
      for (const Value &value : *inferred)
        if (!std::holds_alternative<bool>(value) && toString(value).size() < 2000) {
          Expected<Value> again = parse(toString(value));
          // A value may nest deeper than text is allowed to.
          if (!again)
            ASSERT_TRUE(StringRef(toString(again.takeError())).contains("nest")) << text << ": " << toString(value);
          else
            ASSERT_TRUE(*again == value || toString(*again) == toString(value)) << text << ": " << toString(value);
        }
    } else {
      ++faults;
      const Fault &fault = *algebra.getFault();
      outcome = toString(fault);
      ASSERT_TRUE(!fault.text.empty() && fault.text.back() != '.' && fault.constraint <= 34) << text << ": " << outcome;
    }
    // The same with run-time values.
    Interpreter interpreter;
    Random random(seed + i);
    giveHandles(*expression, interpreter, random);
    Algebra computing(&interpreter);
    std::optional<Results> built = evaluate(computing, *expression);
    std::string other = built ? toString(*built) : toString(*computing.getFault());
    ASSERT_EQ(outcome, other) << text;
    if (built && !interpreter.undefined)
      for (const Value &value : *built)
        walkDynamic(value, [&](const Int &leaf) {
          if (leaf.handle != Int::noHandle)
            EXPECT_EQ(interpreter.get(leaf) % leaf.value, 0) << text << ": " << outcome;
        });
    if (HasFailure())
      return;
  }
  RecordProperty("results", results);
  RecordProperty("faults", faults);
  if (verbose || count > 100000)
    errs() << results << " results, " << faults << " faults, " << unparsed << " not parsed; slowest " << slowest
           << " s: " << StringRef(slowestText).take_front(300) << '\n';
  // Not only errors, and not only in the parser.
  EXPECT_GE(results, count / 16);
  EXPECT_GE(faults, count / 8);
}

} // namespace atrex::layout
