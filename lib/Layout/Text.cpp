//===- Text.cpp - Text form of the layout algebra ---===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Text.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atrex::layout {

TokenSource::~TokenSource() = default;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static bool expect(TokenSource &source, char punctuation) {
  if (source.consume(punctuation))
    return true;
  source.error(Twine("expected '") + Twine(punctuation) + "'");
  return false;
}

static bool parseTuple(TokenSource &source, IntTuple &value, unsigned depth, unsigned &leaves) {
  if (source.consume('(')) {
    if (depth == maxDepth) {
      source.error("tuples nest more than " + Twine(maxDepth) + " deep");
      return false;
    }
    std::vector<IntTuple> elements;
    do {
      if (!parseTuple(source, elements.emplace_back(), depth + 1, leaves))
        return false;
    } while (source.consume(','));
    value = IntTuple::tuple(std::move(elements));
    return expect(source, ')');
  }
  if (++leaves > maxLeaves) {
    source.error("more than " + Twine(maxLeaves) + " integers in one value");
    return false;
  }
  if (source.consume('*')) {
    value = Int::star();
    return true;
  }
  int64_t number = 0;
  SmallVector<int32_t, 2> path;
  if (source.consume('?')) {
    int64_t divisor = 1;
    if (source.consume('{')) {
      if (!source.consumeWord("div")) {
        source.error("expected 'div' in the braces of a dynamic integer");
        return false;
      }
      if (!expect(source, '='))
        return false;
      if (!source.consumeInteger(divisor) || divisor < 1) {
        source.error("expected a divisor of at least 1");
        return false;
      }
      if (!expect(source, '}'))
        return false;
    }
    Int leaf = Int::dynamic(divisor);
    if (source.consumePath(path))
      leaf.path = path;
    value = leaf;
    return true;
  }
  if (!source.consumeInteger(number)) {
    source.error("expected an integer, '?', '*' or a tuple");
    return false;
  }
  value = Int(number);
  if (source.consumePath(path))
    value = Int::basis(Int(number), path);
  return true;
}

bool parseIntTuple(TokenSource &source, IntTuple &value) {
  unsigned leaves = 0;
  return parseTuple(source, value, 0, leaves);
}

bool parseLayout(TokenSource &source, Layout &value) {
  return parseIntTuple(source, value.shape) && expect(source, ':') && parseIntTuple(source, value.stride);
}

static bool parseSmall(TokenSource &source, int32_t &value) {
  int64_t number = 0;
  if (!source.consumeInteger(number) || number < -1000 || number > 1000) {
    source.error("expected a small integer");
    return false;
  }
  value = number;
  return true;
}

static bool parseSwizzle(TokenSource &source, Swizzle &value) {
  return expect(source, '<') && parseSmall(source, value.bits) && expect(source, ',') &&
         parseSmall(source, value.base) && expect(source, ',') && parseSmall(source, value.shift) &&
         expect(source, '>');
}

static bool parseCoordSwizzle(TokenSource &source, CoordSwizzle &value) {
  return expect(source, '<') && parseSmall(source, value.bits) && expect(source, ',') &&
         parseSmall(source, value.rowBase) && expect(source, ',') && expect(source, '[') &&
         parseSmall(source, value.row) && expect(source, ']') && expect(source, ',') &&
         parseSmall(source, value.columnBase) && expect(source, ',') && expect(source, '[') &&
         parseSmall(source, value.column) && expect(source, ']') && expect(source, '>');
}

static bool parseValueAt(TokenSource &source, Value &value, unsigned depth);

/// `o offset o outer` after an inner part.
static bool parseTail(TokenSource &source, Value &value, unsigned depth) {
  if (!source.consumeWord("o"))
    return true;
  Composed composed;
  if (auto *map = std::get_if<Map>(&value)) {
    composed.inner = *map;
  } else {
    source.error("the inner part of a composed layout is a layout or a swizzle");
    return false;
  }
  if (!parseIntTuple(source, composed.offset))
    return false;
  if (!source.consumeWord("o")) {
    source.error("expected 'o' and the outer part of a composed layout");
    return false;
  }
  if (depth == maxDepth) {
    source.error("composed layouts nest more than " + Twine(maxDepth) + " deep");
    return false;
  }
  bool bracket = source.consume('[');
  Value outer;
  if (!parseValueAt(source, outer, depth + 1))
    return false;
  auto *map = std::get_if<Map>(&outer);
  if (!map) {
    source.error("the outer part of a composed layout is a layout or a composed layout");
    return false;
  }
  if (bracket && !expect(source, ']'))
    return false;
  composed.outer = *map;
  value = Map(std::move(composed));
  return true;
}

/// A layout, swizzle, composed layout or tuple.
static bool parseValueAt(TokenSource &source, Value &value, unsigned depth) {
  if (source.consumeWord("S")) {
    Swizzle swizzle;
    if (!parseSwizzle(source, swizzle))
      return false;
    value = Map(swizzle);
    return parseTail(source, value, depth);
  }
  if (source.consumeWord("CS")) {
    CoordSwizzle swizzle;
    if (!parseCoordSwizzle(source, swizzle))
      return false;
    value = Map(swizzle);
    return parseTail(source, value, depth);
  }
  Layout layout;
  if (!parseIntTuple(source, layout.shape))
    return false;
  if (!source.consume(':')) {
    value = layout.shape;
    return true;
  }
  if (!parseIntTuple(source, layout.stride))
    return false;
  value = Map(std::move(layout));
  return parseTail(source, value, depth);
}

bool parseMap(TokenSource &source, Map &value) {
  Value parsed;
  if (!parseValueAt(source, parsed, 0))
    return false;
  if (auto *map = std::get_if<Map>(&parsed)) {
    value = *map;
    return true;
  }
  source.error("expected a layout, such as '(4,8):(1,4)'");
  return false;
}

/// `t0|t1|...]` after the bracket.
static bool parseTileModes(TokenSource &source, Tile &value) {
  do {
    if (value.modes.size() == maxLeaves) {
      source.error("more than " + Twine(maxLeaves) + " modes in a tile");
      return false;
    }
    Value mode;
    if (!parseValueAt(source, mode, 0))
      return false;
    auto *map = std::get_if<Map>(&mode);
    auto *tuple = std::get_if<IntTuple>(&mode);
    if (map && map->getLayout()) {
      value.modes.emplace_back(*map->getLayout());
    } else if (tuple && tuple->isLeaf() && !tuple->getLeaf().isBasis()) {
      const Int &leaf = tuple->getLeaf();
      if (leaf.isStar())
        value.modes.emplace_back();
      else
        value.modes.emplace_back(Layout(*tuple, leaf.is(1) ? 0 : 1));
    } else {
      source.error("a mode of a tile is an integer, a layout or '*'");
      return false;
    }
  } while (source.consume('|'));
  return expect(source, ']');
}

bool parseTile(TokenSource &source, Tile &value) { return expect(source, '[') && parseTileModes(source, value); }

bool parseValue(TokenSource &source, Value &value) {
  if (!source.consume('['))
    return parseValueAt(source, value, 0);
  Tile tile;
  if (!parseTileModes(source, tile))
    return false;
  value = std::move(tile);
  return true;
}

namespace {
/// Tokens of a string; blanks are skipped.
class TextSource : public TokenSource {
public:
  explicit TextSource(StringRef text) : text(text), rest(text) {}

  bool consume(char punctuation) override {
    skip();
    return rest.consume_front(StringRef(&punctuation, 1));
  }
  bool consumeWord(StringRef word) override {
    skip();
    // `2o5o(...)` is how composed layouts are printed: no blank ends a word.
    return rest.consume_front(word);
  }
  bool consumeInteger(int64_t &value) override {
    skip();
    StringRef digits = rest;
    size_t length = digits.starts_with("-") ? 1 : 0;
    while (length < digits.size() && isDigit(digits[length]))
      ++length;
    if (length == 0 || (length == 1 && digits[0] == '-'))
      return false;
    if (digits.take_front(length).getAsInteger(10, value)) {
      error("C8: '" + digits.take_front(length) + "' does not fit in 64 bits");
      value = 0;
    }
    rest = rest.drop_front(length);
    return true;
  }
  bool consumePath(SmallVectorImpl<int32_t> &path) override {
    while (rest.starts_with("E")) {
      StringRef digits = rest.drop_front().take_while(isDigit);
      int32_t mode = 0;
      if (digits.empty() || digits.getAsInteger(10, mode) || mode >= int32_t(maxLeaves)) {
        error("expected a mode number after 'E'");
        return false;
      }
      if (path.size() == maxDepth) {
        error("a basis element nests more than " + Twine(maxDepth) + " deep");
        return false;
      }
      path.push_back(mode);
      rest = rest.drop_front(1 + digits.size());
    }
    return !path.empty();
  }
  void error(const Twine &message) override {
    if (!this->message.empty())
      return;
    this->message = message.str();
    column = text.size() - rest.size() + 1;
  }
  bool atEnd() {
    skip();
    return rest.empty();
  }

  std::string message;
  size_t column = 0;

private:
  void skip() { rest = rest.ltrim(); }
  StringRef text, rest;
};
} // namespace

Expected<Value> parse(StringRef text) {
  TextSource source(text);
  Value value;
  bool ok = parseValue(source, value);
  if (ok && source.message.empty() && !source.atEnd())
    source.error("unexpected text after the value");
  if (!source.message.empty() || !ok)
    return createStringError("column " + Twine(source.column) + ": " + source.message);
  return value;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

raw_ostream &operator<<(raw_ostream &os, const Int &value) {
  if (value.isStar())
    return os << '*';
  if (value.isDynamic()) {
    os << '?';
    if (value.value != 1)
      os << "{div=" << value.value << '}';
  } else {
    os << value.value;
  }
  for (int32_t mode : value.path)
    os << 'E' << mode;
  return os;
}

raw_ostream &operator<<(raw_ostream &os, const IntTuple &value) {
  if (value.isLeaf())
    return os << value.getLeaf();
  os << '(';
  interleave(value.getElements(), os, [&](const IntTuple &element) { os << element; }, ",");
  return os << ')';
}

raw_ostream &operator<<(raw_ostream &os, const Layout &value) { return os << value.shape << ':' << value.stride; }

raw_ostream &operator<<(raw_ostream &os, const Swizzle &value) {
  return os << "S<" << value.bits << ',' << value.base << ',' << value.shift << '>';
}

raw_ostream &operator<<(raw_ostream &os, const CoordSwizzle &value) {
  return os << "CS<" << value.bits << ',' << value.rowBase << ",[" << value.row << "]," << value.columnBase << ",["
            << value.column << "]>";
}

static void printMap(raw_ostream &os, const Map &value, StringRef separator) {
  if (const Layout *layout = value.getLayout()) {
    os << *layout;
  } else if (const Swizzle *swizzle = value.getSwizzle()) {
    os << *swizzle;
  } else if (const CoordSwizzle *swizzle = value.getCoordSwizzle()) {
    os << *swizzle;
  } else {
    const Composed *composed = value.getComposed();
    printMap(os, composed->inner, separator);
    os << separator << composed->offset << separator;
    bool nested = composed->outer.getComposed();
    os << (nested ? "[" : "");
    printMap(os, composed->outer, separator);
    os << (nested ? "]" : "");
  }
}

raw_ostream &operator<<(raw_ostream &os, const Map &value) {
  printMap(os, value, "o");
  return os;
}

void printSpaced(raw_ostream &os, const Map &value) { printMap(os, value, " o "); }

raw_ostream &operator<<(raw_ostream &os, const Tile &value) {
  os << '[';
  interleave(
      value.modes, os,
      [&](const std::optional<Layout> &mode) {
        if (!mode)
          os << '*';
        else if (mode->shape.isLeaf() && (mode->stride.getLeaf().is(1) || mode->shape.getLeaf().is(1)))
          os << mode->shape;
        else
          os << *mode;
      },
      "|");
  return os << ']';
}

raw_ostream &operator<<(raw_ostream &os, const Value &value) {
  if (auto *tuple = std::get_if<IntTuple>(&value))
    return os << *tuple;
  if (auto *map = std::get_if<Map>(&value))
    return os << *map;
  if (auto *tile = std::get_if<Tile>(&value))
    return os << *tile;
  return os << (std::get<bool>(value) ? "true" : "false");
}

} // namespace atrex::layout
