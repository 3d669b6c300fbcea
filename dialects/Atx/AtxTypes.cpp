//===- AtxTypes.cpp - Types of the layout algebra -------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Text.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
/// Tokens of the MLIR lexer.
class AsmSource : public layout::TokenSource {
public:
  explicit AsmSource(AsmParser &parser) : parser(parser) {}

  bool consume(char punctuation) override {
    switch (punctuation) {
    case '(':
      return succeeded(parser.parseOptionalLParen());
    case ')':
      return succeeded(parser.parseOptionalRParen());
    case '[':
      return succeeded(parser.parseOptionalLSquare());
    case ']':
      return succeeded(parser.parseOptionalRSquare());
    case '{':
      return succeeded(parser.parseOptionalLBrace());
    case '}':
      return succeeded(parser.parseOptionalRBrace());
    case '<':
      return succeeded(parser.parseOptionalLess());
    case '>':
      return succeeded(parser.parseOptionalGreater());
    case ',':
      return succeeded(parser.parseOptionalComma());
    case ':':
      return succeeded(parser.parseOptionalColon());
    case '|':
      return succeeded(parser.parseOptionalVerticalBar());
    case '?':
      return succeeded(parser.parseOptionalQuestion());
    case '*':
      return succeeded(parser.parseOptionalStar());
    case '=':
      return succeeded(parser.parseOptionalEqual());
    }
    return false;
  }
  bool consumeWord(StringRef word) override {
    if (pendingO) {
      pendingO = word != "o";
      return !pendingO;
    }
    return succeeded(parser.parseOptionalKeyword(word));
  }
  bool consumeInteger(int64_t &value) override {
    // Wider than 64 bits, so that overflow is C8 and not the parser's error.
    APInt number;
    OptionalParseResult result = parser.parseOptionalInteger(number);
    if (!result.has_value())
      return false;
    if (failed(*result)) {
      // The lexer has said it.
      failedBefore = true;
      return false;
    }
    if (number.getSignificantBits() > 64) {
      error("C8: '" + llvm::toString(number, 10, /*Signed=*/true) + "' does not fit in 64 bits");
      value = 0;
      return true;
    }
    value = number.getSExtValue();
    return true;
  }
  bool consumePath(SmallVectorImpl<int32_t> &path) override {
    // The lexer reads `E0E1` as one word.
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word)))
      return false;
    StringRef rest = word;
    while (rest.consume_front("E")) {
      int32_t mode;
      if (rest.consumeInteger(10, mode) || mode < 0 || mode >= int32_t(layout::maxLeaves) ||
          path.size() == layout::maxDepth) {
        error("expected mode numbers after 'E' in '" + word + "'");
        return false;
      }
      path.push_back(mode);
    }
    if (rest.empty())
      return true;
    // `2 o 5`: the word belongs to a composed layout, whose parser asks next.
    if (path.empty() && word == "o") {
      pendingO = true;
      return false;
    }
    error("unexpected '" + word + "' after a number");
    return false;
  }
  void error(const Twine &message) override {
    if (!failedBefore)
      parser.emitError(parser.getCurrentLocation(), message);
    failedBefore = true;
  }

  bool failedBefore = false;

private:
  AsmParser &parser;
  bool pendingO = false;
};
} // namespace

/// Parses and checks the constraints of a value.
template <typename T> static FailureOr<T> parseParameter(AsmParser &parser, bool (*parse)(layout::TokenSource &, T &)) {
  SMLoc loc = parser.getCurrentLocation();
  AsmSource source(parser);
  T value;
  if (!parse(source, value) || source.failedBefore)
    return failure();
  layout::Algebra algebra;
  if constexpr (std::is_same_v<T, layout::Layout>)
    algebra.check(layout::Value(layout::Map(value)));
  else
    algebra.check(layout::Value(value));
  if (algebra.failed())
    return parser.emitError(loc, layout::toString(*algebra.getFault())), failure();
  return value;
}

FailureOr<layout::IntTuple> atx::parseIntTuple(AsmParser &parser) {
  return parseParameter<layout::IntTuple>(parser, layout::parseIntTuple);
}
FailureOr<layout::Layout> atx::parseLayout(AsmParser &parser) {
  return parseParameter<layout::Layout>(parser, layout::parseLayout);
}
FailureOr<layout::Map> atx::parseMap(AsmParser &parser) {
  return parseParameter<layout::Map>(parser, layout::parseMap);
}
FailureOr<layout::Tile> atx::parseTile(AsmParser &parser) {
  return parseParameter<layout::Tile>(parser, layout::parseTile);
}
FailureOr<layout::Swizzle> atx::parseSwizzle(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<layout::Map> map = parseMap(parser);
  if (failed(map))
    return failure();
  if (const layout::Swizzle *swizzle = map->getSwizzle())
    return *swizzle;
  return parser.emitError(loc, "expected a swizzle such as 'S<3,4,3>'"), failure();
}

template <typename T> static ParseResult unwrap(FailureOr<T> parsed, T &value) {
  if (failed(parsed))
    return failure();
  value = std::move(*parsed);
  return success();
}
ParseResult atx::parseValue(AsmParser &parser, layout::IntTuple &value) { return unwrap(parseIntTuple(parser), value); }
ParseResult atx::parseValue(AsmParser &parser, layout::Layout &value) { return unwrap(parseLayout(parser), value); }
ParseResult atx::parseValue(AsmParser &parser, layout::Map &value) { return unwrap(parseMap(parser), value); }
ParseResult atx::parseValue(AsmParser &parser, layout::Tile &value) { return unwrap(parseTile(parser), value); }
ParseResult atx::parseValue(AsmParser &parser, Type &type) { return parser.parseType(type); }
ParseResult atx::parseValue(AsmParser &parser, Attribute &atom) { return parser.parseAttribute(atom); }
ParseResult atx::parseValue(AsmParser &parser, FloatType &type) {
  SMLoc loc = parser.getCurrentLocation();
  Type any;
  if (parser.parseType(any))
    return failure();
  type = dyn_cast<FloatType>(any);
  if (!type)
    return parser.emitError(loc) << "expected a floating point type, got " << any;
  return success();
}
ParseResult atx::parseValue(AsmParser &parser, int64_t &number) { return parser.parseInteger(number); }

/// A keyword of an enum; the error lists those there are.
template <typename Enum>
static ParseResult parseEnum(AsmParser &parser, Enum &value, std::optional<Enum> (*symbolize)(StringRef),
                             StringRef what, StringRef known) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return parser.emitError(loc) << "expected the name of " << what << ": " << known;
  std::optional<Enum> found = symbolize(keyword);
  if (!found)
    return parser.emitError(loc) << "'" << keyword << "' is not the name of " << what << "; known are " << known;
  value = *found;
  return success();
}
ParseResult atx::parseValue(AsmParser &parser, MemorySpace &space) {
  return parseEnum<MemorySpace>(parser, space, symbolizeMemorySpace, "a memory space",
                                "generic, global, shared, buffer and register");
}
ParseResult atx::parseValue(AsmParser &parser, AtomicKind &kind) {
  return parseEnum<AtomicKind>(parser, kind, symbolizeAtomicKind, "an atomic operation",
                               "add, max, min, umax and umin");
}

void atx::printValue(AsmPrinter &printer, const layout::IntTuple &value) { printer << layout::toString(value); }
void atx::printValue(AsmPrinter &printer, const layout::Layout &value) { printer << layout::toString(value); }
void atx::printValue(AsmPrinter &printer, const layout::Tile &value) { printer << layout::toString(value); }
void atx::printValue(AsmPrinter &printer, const layout::Map &value) { layout::printSpaced(printer.getStream(), value); }
void atx::printValue(AsmPrinter &printer, Type type) { printer << type; }
void atx::printValue(AsmPrinter &printer, Attribute atom) { printer << atom; }
void atx::printValue(AsmPrinter &printer, int64_t number) { printer << number; }
void atx::printValue(AsmPrinter &printer, MemorySpace space) { printer << stringifyMemorySpace(space); }
void atx::printValue(AsmPrinter &printer, AtomicKind kind) { printer << stringifyAtomicKind(kind); }

ParseResult atx::parsePlacement(AsmParser &parser, int64_t &align, layout::Swizzle &swizzle) {
  align = 1;
  swizzle = layout::Swizzle();
  bool haveAlign = false, haveSwizzle = false;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (failed(parser.parseOptionalKeyword(&key, {"align", "swizzle"})))
      return parser.emitError(loc) << "expected 'align = ...' or 'swizzle = ...'";
    bool &have = key == "align" ? haveAlign : haveSwizzle;
    if (have)
      return parser.emitError(loc) << "'" << key << "' is given twice";
    have = true;
    if (parser.parseEqual())
      return failure();
    if (key == "align") {
      if (parser.parseInteger(align))
        return failure();
    } else if (failed(unwrap(parseSwizzle(parser), swizzle))) {
      return failure();
    }
  }
  return success();
}

void atx::printPlacement(AsmPrinter &printer, int64_t align, const layout::Swizzle &swizzle) {
  if (align != 1)
    printer << ", align = " << align;
  if (!(swizzle == layout::Swizzle()))
    printer << ", swizzle = " << layout::toString(swizzle);
}

ParseResult atx::parsePermutation(AsmParser &parser, layout::Tile &permutation) {
  permutation = layout::Tile();
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("permute") || parser.parseEqual())
    return failure();
  return parseValue(parser, permutation);
}

void atx::printPermutation(AsmPrinter &printer, const layout::Tile &permutation) {
  if (permutation.modes.empty())
    return;
  printer << ", permute = ";
  printValue(printer, permutation);
}

#define GET_TYPEDEF_CLASSES
#include "dialects/Atx/AtxTypes.cpp.inc"

void AtxDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Atx/AtxTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyValue(function_ref<InFlightDiagnostic()> emitError, const layout::Value &value) {
  layout::Algebra algebra;
  algebra.check(value);
  if (algebra.failed())
    return emitError() << layout::toString(*algebra.getFault());
  return success();
}

LogicalResult IntTupleType::verify(function_ref<InFlightDiagnostic()> emitError, layout::IntTuple value) {
  return success();
}

LogicalResult LayoutType::verify(function_ref<InFlightDiagnostic()> emitError, layout::Layout value) {
  return verifyValue(emitError, layout::Map(value));
}

LogicalResult SwizzleType::verify(function_ref<InFlightDiagnostic()> emitError, layout::Map value) {
  if (!value.getSwizzle() && !value.getCoordSwizzle())
    return emitError() << "expected a swizzle such as 'S<3,4,3>', got '" << layout::toString(value) << "'";
  return verifyValue(emitError, value);
}

LogicalResult ComposedLayoutType::verify(function_ref<InFlightDiagnostic()> emitError, layout::Map value) {
  if (!value.getComposed())
    return emitError() << "expected a composed layout such as 'S<3,3,3> o 0 o (8,64):(64,1)', got '"
                       << layout::toString(value) << "'";
  return verifyValue(emitError, value);
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, layout::Tile value) {
  return verifyValue(emitError, value);
}

int64_t atx::getElementBits(Type type) {
  if (isa<IndexType>(type))
    return 64;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

/// Elements have at least one bit: sizes in bytes and the elements of an access
/// are quotients by it.
static LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError, Type type) {
  if (!type.isIntOrFloat())
    return emitError() << "element type " << type << " is not an integer or a floating point type";
  if (getElementBits(type) < 1 || getElementBits(type) > maxElementBits)
    return emitError() << "element type " << type << " has " << getElementBits(type) << " bits; 1 to " << maxElementBits
                       << " are supported";
  return success();
}

static LogicalResult verifyMemory(function_ref<InFlightDiagnostic()> emitError, Type elementType, MemorySpace space,
                                  int64_t align, const layout::Swizzle &swizzle) {
  if (failed(verifyElement(emitError, elementType)))
    return failure();
  if (space == MemorySpace::Register)
    return emitError() << "registers have no addresses: use a fragment";
  if (align < 1 || align > (int64_t(1) << 32) || !llvm::isPowerOf2_64(align))
    return emitError() << "alignment " << align << " is not a power of two up to 2^32";
  if (!swizzle.isValid())
    return emitError() << "C21: " << layout::toString(swizzle)
                       << " needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62";
  if (!swizzle.isIdentity() && getElementBits(elementType) % 8 != 0)
    return emitError() << "a swizzle acts on bytes, element type " << elementType << " has "
                       << getElementBits(elementType) << " bits";
  return success();
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType, MemorySpace space,
                              int64_t align, layout::Swizzle swizzle) {
  return verifyMemory(emitError, elementType, space, align, swizzle);
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType, MemorySpace space,
                               layout::Layout layout, int64_t align, layout::Swizzle swizzle) {
  if (failed(verifyMemory(emitError, elementType, space, align, swizzle)) ||
      failed(verifyValue(emitError, layout::Map(layout))))
    return failure();
  if (layout.hasBasis())
    return emitError() << "C14: a view needs integer strides, '" << layout::toString(layout)
                       << "' has coordinate-valued ones";
  // Whole tensor addressable in 64-bit bytes.
  layout::Algebra algebra;
  algebra.mul(algebra.cosize(layout::Map(layout)), llvm::divideCeil(maxElementBits, 8));
  if (algebra.failed())
    return emitError() << layout::toString(*algebra.getFault());
  return success();
}

LogicalResult CoordViewType::verify(function_ref<InFlightDiagnostic()> emitError, layout::IntTuple start,
                                    layout::Layout layout) {
  if (failed(verifyValue(emitError, layout::Map(layout))))
    return failure();
  bool integers = true;
  start.walk([&](const layout::Int &leaf) { integers &= !leaf.isStar() && !leaf.isBasis(); });
  if (!integers)
    return emitError() << "start coordinate '" << layout::toString(start) << "' is not made of integers";
  return success();
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType,
                                   layout::Layout layout, int64_t chunk) {
  if (failed(verifyElement(emitError, elementType)))
    return failure();
  if (!layout.isStatic())
    return emitError() << "C13: a fragment is static, '" << layout::toString(layout) << "' has dynamic leaves";
  layout::Algebra algebra;
  bool compact = algebra.compact(layout::Map(layout));
  layout::Int size = algebra.size(layout::Value(layout::Map(layout)));
  if (algebra.failed())
    return emitError() << layout::toString(*algebra.getFault());
  if (!compact)
    return emitError() << "C12: a fragment's layout is compact, '" << layout::toString(layout) << "' is not";
  if (size.value > layout::maxLeaves)
    return emitError() << "a fragment of " << size.value << " elements exceeds the limit of " << layout::maxLeaves
                       << " registers";
  if (chunk < 1 || size.value % chunk != 0)
    return emitError() << "C27: chunk " << chunk << " does not divide the " << size.value << " elements";
  return success();
}

int64_t FragmentType::getNumElements() const {
  int64_t size = 1;
  getLayout().shape.walk([&](const layout::Int &extent) { size *= extent.value; });
  return size;
}

//===----------------------------------------------------------------------===//
// Values and types
//===----------------------------------------------------------------------===//

std::optional<layout::Value> atx::getAlgebraValue(Type type) {
  return TypeSwitch<Type, std::optional<layout::Value>>(type)
      .Case([](IntTupleType type) { return layout::Value(type.getValue()); })
      .Case([](LayoutType type) { return layout::Value(layout::Map(type.getLayout())); })
      .Case([](SwizzleType type) { return layout::Value(type.getSwizzle()); })
      .Case([](ComposedLayoutType type) { return layout::Value(type.getLayout()); })
      .Case([](TileType type) { return layout::Value(type.getTile()); })
      .Case([](ViewType type) { return layout::Value(layout::Map(type.getLayout())); })
      .Case([](CoordViewType type) { return layout::Value(layout::Map(type.getLayout())); })
      .Default([](Type) { return std::nullopt; });
}

Type atx::getAlgebraType(MLIRContext *context, const layout::Value &dirty) {
  layout::Value value = layout::stripHandles(dirty);
  if (auto *tuple = std::get_if<layout::IntTuple>(&value))
    return IntTupleType::get(context, *tuple);
  if (auto *tile = std::get_if<layout::Tile>(&value))
    return TileType::get(context, *tile);
  if (std::holds_alternative<bool>(value))
    return IntegerType::get(context, 1);
  const layout::Map &map = std::get<layout::Map>(value);
  if (map.getLayout())
    return LayoutType::get(context, *map.getLayout());
  if (map.getComposed())
    return ComposedLayoutType::get(context, map);
  return SwizzleType::get(context, map);
}

int64_t atx::getAlignAfter(int64_t align, const layout::Int &offset, Type elementType) {
  uint64_t divisor = offset.getDivisor();
  if (divisor == 0)
    return align;
  // Sub-byte elements: the alignment in bits, rounded down to bytes.
  uint64_t bits = getElementBits(elementType);
  uint64_t power = (divisor & (0 - divisor));
  uint64_t bytes = power >= (uint64_t(1) << 40) ? uint64_t(1) << 40 : power * bits / 8;
  bytes = bytes & (0 - bytes);
  return std::max<int64_t>(1, std::min<uint64_t>(align, bytes ? bytes : 1));
}
