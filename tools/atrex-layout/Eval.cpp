//===- Eval.cpp - Expressions and files of facts --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "atrex/Layout/Text.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/Json.h"
#include "atrex/Target/MatrixInstructions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

static Layout toLayout(const ThreadValueLayout &layout) {
  auto side = [](ArrayRef<LayoutMode> modes, bool stride) {
    std::vector<IntTuple> elements;
    for (const LayoutMode &mode : modes)
      elements.push_back(IntTuple(int64_t(stride ? mode.stride : mode.extent)));
    return elements.empty() ? IntTuple(stride ? 0 : 1) : IntTuple::tuple(std::move(elements));
  };
  return Layout(IntTuple::tuple({side(layout.thread, false), side(layout.value, false)}),
                IntTuple::tuple({side(layout.thread, true), side(layout.value, true)}));
}

static std::optional<MatrixType> parseMatrixType(StringRef name) {
  for (MatrixType type :
       {MatrixType::F64, MatrixType::F32, MatrixType::XF32, MatrixType::F16, MatrixType::BF16, MatrixType::FP8,
        MatrixType::BF8, MatrixType::FP6, MatrixType::BF6, MatrixType::FP4, MatrixType::I8})
    if (getName(type).equals_insensitive(name))
      return type;
  return std::nullopt;
}

/// "16x16x16 f16/bf16": the first instruction with this shape and type.
static const MatrixInstruction *findMatrix(Algebra &algebra, StringRef text, MatrixType &type) {
  auto [shape, types] = text.trim().split(' ');
  SmallVector<StringRef> extents;
  shape.split(extents, 'x');
  unsigned m = 0, n = 0, k = 0;
  std::optional<MatrixType> parsed = parseMatrixType(types.trim().split('/').first);
  if (extents.size() != 3 || extents[0].getAsInteger(10, m) || extents[1].getAsInteger(10, n) ||
      extents[2].getAsInteger(10, k) || !parsed) {
    algebra.fail(0, "expected a shape and a type such as '16x16x16 bf16', got '" + text + "'");
    return nullptr;
  }
  type = *parsed;
  for (const MatrixInstruction &inst : getMatrixInstructions()) {
    if (inst.kind == MatrixKind::Sparse || inst.m != m || inst.n != n || inst.k != k || inst.blocks != 1)
      continue;
    if (inst.a == type || (inst.isF8F6F4() && getBitWidth(type) <= 8 && type != MatrixType::I8))
      return &inst;
  }
  algebra.fail(32, "no matrix instruction has the shape and type '" + text + "'");
  return nullptr;
}

std::optional<Results> evaluateMatrixQuery(Algebra &algebra, StringRef name, ArrayRef<StringRef> args) {
  MatrixType type = MatrixType::F16;
  if (name == "mfma.tv_layout" && args.size() == 2) {
    const MatrixInstruction *inst = findMatrix(algebra, args[0].trim().trim('"'), type);
    StringRef operand = args[1].trim().trim('"');
    if (!inst)
      return std::nullopt;
    if (operand != "A" && operand != "B" && operand != "C" && operand != "D") {
      algebra.fail(28, "operand '" + operand + "' is none of A, B, C and D");
      return std::nullopt;
    }
    MatrixOperand which = operand == "A" ? MatrixOperand::A : operand == "B" ? MatrixOperand::B : MatrixOperand::C;
    bool isC = which == MatrixOperand::C;
    return Results{Map(toLayout(getThreadValueLayout(*inst, which, isC ? inst->c : type)))};
  }
  if (name == "mfma.c_coord" && args.size() == 3) {
    int64_t edge = 0, lane = 0, value = 0;
    if (args[0].trim().getAsInteger(10, edge) || args[1].trim().getAsInteger(10, lane) ||
        args[2].trim().getAsInteger(10, value) || (edge != 16 && edge != 32)) {
      algebra.fail(0, "mfma.c_coord takes the tile edge (16 or 32), a lane and a value");
      return std::nullopt;
    }
    const MatrixInstruction *inst = findMatrix(algebra, edge == 16 ? "16x16x16 f16" : "32x32x8 f16", type);
    if (!inst)
      return std::nullopt;
    ThreadValueLayout layout = getThreadValueLayout(*inst, MatrixOperand::C);
    if (lane < 0 || lane >= layout.getNumLanes() || value < 0 || value >= layout.getNumValues()) {
      algebra.fail(26, "lane " + Twine(lane) + " or value " + Twine(value) + " is outside the accumulator");
      return std::nullopt;
    }
    int64_t index = layout.at(lane, value);
    return Results{IntTuple::tuple({IntTuple(index % edge), IntTuple(index / edge)})};
  }
  algebra.fail(0, "unknown query '" + name + "' or wrong number of operands");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

std::optional<Results> evaluateText(Algebra &algebra, StringRef text) {
  StringRef query = text.trim();
  if (query.starts_with("mfma.")) {
    StringRef name = query.take_until([](char c) { return c == '('; });
    StringRef inner = query.drop_front(name.size());
    if (!inner.consume_front("(") || !inner.consume_back(")")) {
      algebra.fail(0, "expected operands in parentheses after '" + name + "'");
      return std::nullopt;
    }
    SmallVector<StringRef> args;
    inner.split(args, ',');
    return evaluateMatrixQuery(algebra, name.trim(), args);
  }
  Expected<Expression> expression = parseExpression(text);
  if (!expression) {
    std::string message = llvm::toString(expression.takeError());
    // A number beyond 64 bits keeps its constraint.
    size_t overflow = message.find("C8: ");
    if (overflow != std::string::npos)
      message.erase(overflow, 4);
    algebra.fail(overflow != std::string::npos ? 8 : 0, message);
    return std::nullopt;
  }
  return evaluate(algebra, *expression, getTargetOperations());
}

/// Warns when a divide misses elements or a composition leaves its domain.
static void warnInexact(StringRef text) {
  Expected<Expression> expression = parseExpression(text);
  if (!expression) {
    consumeError(expression.takeError());
    return;
  }
  if (expression->operands.size() != 2)
    return;
  Algebra algebra;
  SmallVector<Value> operands;
  for (const Expression &operand : expression->operands) {
    std::optional<Results> results = evaluate(algebra, operand, getTargetOperations());
    if (!results)
      return;
    operands.push_back(results->front());
  }
  auto *map = std::get_if<Map>(&operands[0]);
  if (!map)
    return;
  if (StringRef(expression->name).ends_with("_divide")) {
    if (algebra.divideLossy(*map, operands[1]))
      errs() << "warning: the tiler never visits some elements of " << toString(*map) << '\n';
    else if (!algebra.divideExact(*map, operands[1]))
      errs() << "note: not exact, tiles run over the end of " << toString(*map) << '\n';
  } else if (expression->name == "composition") {
    auto *right = std::get_if<Map>(&operands[1]);
    if (right && right->getLayout() && map->getLayout() && map->getLayout()->isStatic() &&
        right->getLayout()->isStatic() && !right->getLayout()->hasBasis() && !algebra.compositionExact(*map, *right))
      errs() << "note: not exact, values past the end of " << toString(*map) << " are used\n";
  }
}

int runEval(StringRef text) {
  Algebra algebra;
  std::optional<Results> results = evaluateText(algebra, text);
  if (!results) {
    errs() << "error: " << toString(*algebra.getFault()) << '\n';
    return 1;
  }
  outs() << toString(*results) << '\n';
  warnInexact(text);
  return 0;
}

int runBatch(StringRef file) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(file, maxTextBytes);
  if (!buffer) {
    errs() << "error: " << llvm::toString(buffer.takeError()) << '\n';
    return 1;
  }
  StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    Algebra algebra;
    std::optional<Results> results = evaluateText(algebra, line);
    // One line of output for each of input: notes are left out.
    if (results)
      outs() << toString(*results) << '\n';
    else
      outs() << "error C" << algebra.getFault()->constraint << ": " << algebra.getFault()->text << '\n';
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Comparison with published values
//===----------------------------------------------------------------------===//

static bool agrees(const Int &got, const Int &wanted) {
  if (wanted.isDynamic())
    return got.path == wanted.path && got.isMultipleOf(wanted.getDivisor());
  return got == wanted;
}

static bool agrees(const IntTuple &got, const IntTuple &wanted) {
  SmallVector<Int> a = got.flatten(), b = wanted.flatten();
  return areCongruent(got, wanted) &&
         all_of(zip(a, b), [](const auto &pair) { return agrees(std::get<0>(pair), std::get<1>(pair)); });
}

static SmallVector<Int> bigExtents(Algebra &algebra, const Map &map) {
  SmallVector<Int> extents;
  for (const Int &extent : algebra.getShape(Value(map)).flatten())
    if (!extent.is(1))
      extents.push_back(extent);
  return extents;
}

/// Equivalence N7: size, values and the list of extents above 1; for dynamic
/// values every leaf has to be known at least as well as wanted.
static bool agrees(const Value &got, const Value &wanted) {
  if (got == wanted)
    return true;
  if (auto *tuple = std::get_if<IntTuple>(&got)) {
    auto *other = std::get_if<IntTuple>(&wanted);
    return other && agrees(*tuple, *other);
  }
  auto *map = std::get_if<Map>(&got), *other = std::get_if<Map>(&wanted);
  if (!map || !other)
    return false;
  if (map->getSwizzle() || other->getSwizzle() || map->getCoordSwizzle() || other->getCoordSwizzle())
    return false;
  Algebra algebra;
  if (!isStatic(got) || !isStatic(wanted)) {
    if (!map->getLayout() || !other->getLayout())
      return false;
    auto leaves = [&](const Layout &layout) {
      SmallVector<std::pair<Int, Int>> kept;
      for (auto &leaf : layout.getLeaves())
        if (!leaf.first.is(1))
          kept.push_back(leaf);
      return kept;
    };
    auto a = leaves(*map->getLayout()), b = leaves(*other->getLayout());
    return a.size() == b.size() && all_of(zip(a, b), [](const auto &pair) {
             auto [x, y] = pair;
             return agrees(x.first, y.first) && agrees(x.second, y.second);
           });
  }
  if (bigExtents(algebra, *map) != bigExtents(algebra, *other))
    return false;
  Int size = algebra.size(got);
  if (algebra.failed() || !(size == algebra.size(wanted)))
    return false;
  for (int64_t i = 0; i < std::min<int64_t>(size.value, enumerationLimit); ++i)
    if (!(algebra.crd2idx(IntTuple(i), *map) == algebra.crd2idx(IntTuple(i), *other)))
      return false;
  return !algebra.failed();
}

namespace {
struct Tally {
  unsigned agree = 0, disagree = 0;
  int finish() const {
    outs() << agree << " agree, " << disagree << " disagree\n";
    return disagree ? 1 : 0;
  }
};
} // namespace

/// One entry of a facts file. Returns false with `reason` when it is malformed.
static bool runFact(const json::Object &fact, std::string &got, bool &agree, std::string &wanted, std::string &reason) {
  std::optional<StringRef> op = fact.getString("op");
  const json::Array *inputs = fact.getArray("inputs");
  if (!op || !inputs) {
    reason = "needs the string 'op' and the list 'inputs'";
    return false;
  }
  const json::Object *error = fact.getObject("error");
  std::optional<StringRef> output = fact.getString("output");
  if (!error && !output) {
    reason = "needs the string 'output' or the object 'error'";
    return false;
  }
  SmallVector<StringRef> texts;
  for (const json::Value &input : *inputs) {
    std::optional<StringRef> text = input.getAsString();
    if (!text) {
      reason = "'inputs' must be strings";
      return false;
    }
    texts.push_back(*text);
  }
  Attributes attributes;
  if (const json::Object *attrs = fact.getObject("attrs")) {
    for (const auto &[key, value] : *attrs) {
      Attribute attribute;
      if (auto number = value.getAsInteger()) {
        attribute = *number;
      } else if (auto flag = value.getAsBoolean()) {
        attribute = std::string(*flag ? "true" : "false");
      } else if (const json::Array *list = value.getAsArray()) {
        SmallVector<int64_t, 4> numbers;
        for (const json::Value &element : *list) {
          auto number = element.getAsInteger();
          if (!number) {
            reason = ("attribute '" + StringRef(key) + "' must be a list of integers").str();
            return false;
          }
          numbers.push_back(*number);
        }
        attribute = numbers;
      } else if (auto text = value.getAsString()) {
        Expected<Value> parsed = parse(*text);
        if (parsed) {
          attribute = *parsed;
        } else {
          consumeError(parsed.takeError());
          attribute = text->str();
        }
      } else {
        reason = ("attribute '" + StringRef(key) + "' has an unknown kind").str();
        return false;
      }
      attributes.try_emplace(StringRef(key), attribute);
    }
  }
  Algebra algebra;
  std::optional<Results> results;
  if (op->starts_with("mfma.")) {
    results = evaluateMatrixQuery(algebra, *op, texts);
  } else if (const Operation *operation = findOperation(*op, getTargetOperations())) {
    SmallVector<Value> operands;
    for (StringRef text : texts) {
      Expected<Value> value = parse(text);
      if (!value) {
        std::string message = llvm::toString(value.takeError());
        // A number beyond 64 bits is the fault C8, not a malformed file.
        if (StringRef(message).contains("C8: ")) {
          algebra.fail(8, message);
          break;
        }
        reason = ("input '" + text + "': " + message).str();
        return false;
      }
      operands.push_back(*value);
    }
    results = evaluate(algebra, *operation, operands, attributes);
  } else {
    reason = ("unknown operation '" + *op + "'").str();
    return false;
  }
  got = results ? toString(*results) : "error " + toString(*algebra.getFault());
  if (error) {
    std::optional<StringRef> code = error->getString("code");
    if (!code) {
      reason = "'error' needs the string 'code'";
      return false;
    }
    wanted = ("error " + *code).str();
    agree = !results && ("C" + std::to_string(algebra.getFault()->constraint)) == *code;
    return true;
  }
  wanted = output->str();
  if (*output == "true" || *output == "false") {
    agree = results && got == *output;
    return true;
  }
  Expected<Value> expected = parse(*output);
  if (!expected) {
    reason = ("output '" + *output + "': " + llvm::toString(expected.takeError())).str();
    return false;
  }
  agree = results && agrees(results->front(), *expected);
  return true;
}

int runFacts(StringRef file) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(file, maxTextBytes);
  if (!buffer) {
    errs() << "error: " << llvm::toString(buffer.takeError()) << '\n';
    return 1;
  }
  Expected<json::Value> document = parseJson((*buffer)->getBuffer());
  if (!document) {
    errs() << file << ": error: " << llvm::toString(document.takeError()) << '\n';
    return 1;
  }
  const json::Array *facts = document->getAsArray();
  if (!facts) {
    errs() << file << ": error: expected a list of facts\n";
    return 1;
  }
  Tally tally;
  bool malformed = false;
  for (auto [i, entry] : enumerate(*facts)) {
    const json::Object *fact = entry.getAsObject();
    std::string id = ("entry " + Twine(i)).str(), got, wanted, reason;
    bool agree = false;
    if (fact)
      if (auto name = fact->getString("id"))
        id = name->str();
    if (!fact || !runFact(*fact, got, agree, wanted, reason)) {
      errs() << file << ": error: " << id << ": " << (fact ? reason : "is not an object") << '\n';
      malformed = true;
      ++tally.disagree;
      continue;
    }
    if (agree) {
      ++tally.agree;
      continue;
    }
    ++tally.disagree;
    outs() << id << ": " << fact->getString("op").value_or("") << '(';
    interleave(
        *fact->getArray("inputs"), outs(), [&](const json::Value &input) { outs() << *input.getAsString(); }, ", ");
    outs() << "): got " << got << ", wanted " << wanted << '\n';
  }
  return tally.finish() | int(malformed);
}

//===----------------------------------------------------------------------===//
// Worked examples in documents
//===----------------------------------------------------------------------===//

int runDoc(StringRef file) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(file, maxTextBytes);
  if (!buffer) {
    errs() << "error: " << llvm::toString(buffer.takeError()) << '\n';
    return 1;
  }
  Tally tally;
  bool inside = false;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (auto [i, line] : enumerate(lines)) {
    StringRef text = line.trim();
    if (text.starts_with("```")) {
      inside = !inside && text == "```examples";
      continue;
    }
    if (!inside || text.empty() || text.starts_with("#"))
      continue;
    text = text.split("  #").first.trim();
    // The last '=' outside of brackets separates expression and result.
    size_t split = StringRef::npos;
    int level = 0;
    for (size_t c = 0; c < text.size(); ++c) {
      if (StringRef("([<{").contains(text[c]))
        ++level;
      else if (StringRef(")]>}").contains(text[c]))
        --level;
      else if (text[c] == '=' && level == 0)
        split = c;
    }
    if (split == StringRef::npos) {
      errs() << file << ':' << i + 1 << ": error: expected 'expression = result'\n";
      ++tally.disagree;
      continue;
    }
    Algebra algebra;
    std::optional<Results> results = evaluateText(algebra, text.take_front(split));
    std::string got = results ? toString(*results) : "error C" + std::to_string(algebra.getFault()->constraint);
    auto squeeze = [](StringRef value) {
      std::string result;
      copy_if(value, std::back_inserter(result), [](char c) { return c != ' '; });
      return result;
    };
    if (squeeze(got) == squeeze(text.drop_front(split + 1))) {
      ++tally.agree;
      continue;
    }
    ++tally.disagree;
    outs() << file << ':' << i + 1 << ": " << text << "\n    got " << (results ? got : toString(*algebra.getFault()))
           << '\n';
  }
  return tally.finish();
}

} // namespace atrex::layout
