//===- Operations.cpp - Operations of the algebra by name -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Operations.h"
#include "atrex/Layout/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Call::wrong(const Twine &what) { algebra.fail(0, name + ": " + what); }

const IntTuple &Call::tuple(unsigned index) {
  if (auto *result = std::get_if<IntTuple>(&operands[index]))
    return *result;
  wrong("operand " + Twine(index) + " must be an integer or a tuple, got " + layout::toString(operands[index]));
  return noTuple;
}

const Map &Call::map(unsigned index) {
  if (auto *result = std::get_if<Map>(&operands[index]))
    return *result;
  wrong("operand " + Twine(index) + " must be a layout, got " + layout::toString(operands[index]));
  return noMap;
}

Layout Call::layout(unsigned index) {
  if (auto *tuple = std::get_if<IntTuple>(&operands[index]))
    if (tuple->isLeaf() && !tuple->getLeaf().isStar() && !tuple->getLeaf().isBasis())
      return Layout(*tuple, tuple->getLeaf().is(1) ? 0 : 1);
  if (auto *map = std::get_if<Map>(&operands[index]))
    if (const Layout *plain = map->getLayout())
      return *plain;
  wrong("operand " + Twine(index) + " must be a plain layout, got " + layout::toString(operands[index]));
  return Layout();
}

int64_t Call::integer(StringRef key, int64_t fallback) {
  auto entry = attributes.find(key);
  if (entry == attributes.end())
    return fallback;
  if (auto *number = std::get_if<int64_t>(&entry->second))
    return *number;
  wrong("attribute '" + key + "' must be an integer");
  return fallback;
}

SmallVector<int64_t, 4> Call::list(StringRef key) {
  auto entry = attributes.find(key);
  if (entry != attributes.end()) {
    if (auto *numbers = std::get_if<SmallVector<int64_t, 4>>(&entry->second))
      return *numbers;
    if (auto *number = std::get_if<int64_t>(&entry->second))
      return {*number};
    if (auto *value = std::get_if<Value>(&entry->second))
      if (auto *tuple = std::get_if<IntTuple>(value)) {
        SmallVector<int64_t, 4> numbers;
        for (const Int &leaf : tuple->flatten())
          if (leaf.isStatic() && !leaf.isBasis())
            numbers.push_back(leaf.value);
          else
            wrong("attribute '" + key + "' must be static integers");
        return numbers;
      }
  }
  wrong("attribute '" + key + "' must be a list of integers such as '[0,1]'");
  return {};
}

IntTuple Call::tuple(StringRef key) {
  auto entry = attributes.find(key);
  if (entry != attributes.end()) {
    if (auto *number = std::get_if<int64_t>(&entry->second))
      return *number;
    if (auto *numbers = std::get_if<SmallVector<int64_t, 4>>(&entry->second)) {
      std::vector<IntTuple> elements(numbers->begin(), numbers->end());
      if (!elements.empty())
        return IntTuple::tuple(std::move(elements));
    }
    if (auto *value = std::get_if<Value>(&entry->second))
      if (auto *tuple = std::get_if<IntTuple>(value))
        return *tuple;
  }
  wrong("attribute '" + key + "' must be an integer or a tuple");
  return 1;
}

Layout Call::layout(StringRef key) {
  auto entry = attributes.find(key);
  if (entry != attributes.end())
    if (auto *value = std::get_if<Value>(&entry->second))
      if (auto *map = std::get_if<Map>(value))
        if (const Layout *plain = map->getLayout())
          return *plain;
  wrong("attribute '" + key + "' must be a layout");
  return Layout();
}

Swizzle Call::swizzle(StringRef key) {
  auto entry = attributes.find(key);
  if (entry == attributes.end())
    return Swizzle();
  if (auto *value = std::get_if<Value>(&entry->second))
    if (auto *map = std::get_if<Map>(value))
      if (const Swizzle *swizzle = map->getSwizzle()) {
        algebra.check(*value);
        return *swizzle;
      }
  wrong("attribute '" + key + "' must be a swizzle such as 'S<3,4,3>'");
  return Swizzle();
}

std::string Call::word(StringRef key, StringRef fallback) {
  auto entry = attributes.find(key);
  if (entry == attributes.end())
    return fallback.str();
  if (auto *text = std::get_if<std::string>(&entry->second))
    return *text;
  wrong("attribute '" + key + "' must be a word");
  return fallback.str();
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

using Evaluate = std::function<Results(Call &)>;

static Evaluate elementwise(Arithmetic op) {
  return [op](Call &call) -> Results { return {call.algebra.arithmetic(op, call.tuple(0u), call.tuple(1u))}; };
}

static Evaluate divideWith(Map (Algebra::*divide)(const Map &, const Value &, bool)) {
  return [divide](Call &call) -> Results {
    return {(call.algebra.*divide)(call.map(0), call.value(1), call.flag("strict"))};
  };
}

static Evaluate productWith(Layout (Algebra::*product)(const Map &, const Value &)) {
  return [product](Call &call) -> Results { return {Map((call.algebra.*product)(call.map(0), call.value(1)))}; };
}

static std::optional<int64_t> getRank(Call &call) {
  if (call.has("rank"))
    return call.integer("rank");
  return std::nullopt;
}

static const Composed *requireComposed(Call &call) {
  if (const Composed *composed = call.map(0).getComposed())
    return composed;
  call.algebra.fail(17, call.name + ": " + layout::toString(call.map(0)) + " is not a composed layout");
  return nullptr;
}

static Results toResults(const Partition &partition) { return {Map(partition.layout), partition.offset}; }

static Partition mmaPartition(Call &call) {
  std::string operand = call.word("operand");
  if (operand.size() != 1) {
    call.algebra.fail(28, "operand '" + operand + "' is none of A, B and C");
    return {};
  }
  return call.algebra.mmaPartition(call.layout(0u), call.layout(1u), call.list("atom"), call.layout("atoms"),
                                   operand[0], call.integer("thr"));
}

ArrayRef<Operation> getOperations() {
  static const std::vector<Operation> operations = [] {
    std::vector<Operation> ops = {
        {"add", 2, 2, "", elementwise(Arithmetic::Add)},
        {"sub", 2, 2, "", elementwise(Arithmetic::Sub)},
        {"mul", 2, 2, "", elementwise(Arithmetic::Mul)},
        {"div", 2, 2, "", elementwise(Arithmetic::Div)},
        {"mod", 2, 2, "", elementwise(Arithmetic::Mod)},
        {"min", 2, 2, "", elementwise(Arithmetic::Min)},
        {"max", 2, 2, "", elementwise(Arithmetic::Max)},
        {"shape_div", 2, 2, "", [](Call &c) -> Results { return {c.algebra.shapeDiv(c.tuple(0u), c.tuple(1u))}; }},
        {"ceil_div", 2, 2, "", [](Call &c) -> Results { return {c.algebra.ceilDiv(c.tuple(0u), c.tuple(1u))}; }},
        {"elem_less", 2, 2, "", [](Call &c) -> Results { return {c.algebra.elemLess(c.tuple(0u), c.tuple(1u))}; }},
        {"equal", 2, 2, "",
         [](Call &c) -> Results {
           // N7: the texts agree.
           if (!isStatic(c.value(0)) || !isStatic(c.value(1)))
             c.algebra.fail(13, "equal needs static values");
           return {c.value(0) == c.value(1)};
         }},
        {"product", 1, 1, "", [](Call &c) -> Results { return {IntTuple(c.algebra.product(c.tuple(0u)))}; }},
        {"product_each", 1, 1, "", [](Call &c) -> Results { return {c.algebra.productEach(c.tuple(0u))}; }},
        {"product_like", 2, 2, "",
         [](Call &c) -> Results { return {c.algebra.productLike(c.tuple(0u), c.tuple(1u))}; }},
        {"make_layout", 1, 2, "",
         [](Call &c) -> Results {
           if (c.getNumOperands() == 1)
             return {Map(c.algebra.makeLayout(c.tuple(0u)))};
           return {Map(c.algebra.makeLayout(c.tuple(0u), c.tuple(1u)))};
         }},
        {"make_ordered_layout", 2, 2, "",
         [](Call &c) -> Results { return {Map(c.algebra.makeOrderedLayout(c.tuple(0u), c.tuple(1u)))}; }},
        {"make_identity_layout", 1, 1, "",
         [](Call &c) -> Results { return {Map(c.algebra.makeIdentityLayout(c.tuple(0u)))}; }},
        {"make_layout_like", 1, 1, "", [](Call &c) -> Results { return {Map(c.algebra.makeLayoutLike(c.map(0)))}; }},
        {"make_fragment_like", 1, 1, "stages",
         [](Call &c) -> Results {
           Layout fragment = c.algebra.makeFragmentLike(c.map(0));
           if (!c.has("stages"))
             return {Map(fragment)};
           int64_t stages = c.integer("stages");
           if (stages < 1)
             c.algebra.fail(2, "stages must be at least 1, got " + Twine(stages));
           if (c.algebra.failed())
             return {Map()};
           Map mode = Layout(stages, stages == 1 ? Int(0) : c.algebra.product(fragment.shape));
           return {c.algebra.append(Map(fragment), mode)};
         }},
        {"make_composed_layout", 3, 3, "",
         [](Call &c) -> Results { return {c.algebra.makeComposed(c.map(0), c.tuple(1u), c.map(2))}; }},
        {"get", 1, 1, "!mode", [](Call &c) -> Results { return {c.algebra.get(c.value(0), c.list("mode"))}; }},
        {"take", 1, 1, "!begin !end",
         [](Call &c) -> Results { return {c.algebra.take(c.value(0), c.integer("begin"), c.integer("end"))}; }},
        {"group", 1, 1, "!begin !end",
         [](Call &c) -> Results { return {c.algebra.group(c.value(0), c.integer("begin"), c.integer("end"))}; }},
        {"select", 1, 1, "!indices",
         [](Call &c) -> Results { return {c.algebra.select(c.value(0), c.list("indices"))}; }},
        {"append", 2, 2, "rank",
         [](Call &c) -> Results { return {c.algebra.append(c.value(0), c.value(1), getRank(c))}; }},
        {"prepend", 2, 2, "rank",
         [](Call &c) -> Results { return {c.algebra.prepend(c.value(0), c.value(1), getRank(c))}; }},
        {"slice", 2, 2, "", [](Call &c) -> Results { return {c.algebra.slice(c.value(0), c.tuple(1u))}; }},
        {"dice", 2, 2, "", [](Call &c) -> Results { return {c.algebra.dice(c.value(0), c.tuple(1u))}; }},
        {"size", 1, 1, "", [](Call &c) -> Results { return {IntTuple(c.algebra.size(c.value(0)))}; }},
        {"rank", 1, 1, "",
         [](Call &c) -> Results { return {IntTuple(int64_t(c.algebra.getShape(c.value(0)).getRank()))}; }},
        {"depth", 1, 1, "",
         [](Call &c) -> Results { return {IntTuple(int64_t(c.algebra.getShape(c.value(0)).getDepth()))}; }},
        {"cosize", 1, 1, "", [](Call &c) -> Results { return {IntTuple(c.algebra.cosize(c.map(0)))}; }},
        {"coshape", 1, 1, "", [](Call &c) -> Results { return {c.algebra.coshape(c.map(0))}; }},
        {"coprofile", 1, 1, "", [](Call &c) -> Results { return {c.algebra.coprofile(c.map(0))}; }},
        {"injective", 1, 1, "", [](Call &c) -> Results { return {c.algebra.injective(c.map(0))}; }},
        {"compact", 1, 1, "", [](Call &c) -> Results { return {c.algebra.compact(c.map(0))}; }},
        {"get_shape", 1, 1, "", [](Call &c) -> Results { return {c.algebra.getShape(c.value(0))}; }},
        {"get_stride", 1, 1, "", [](Call &c) -> Results { return {c.algebra.getStride(c.map(0))}; }},
        {"composed_inner", 1, 1, "",
         [](Call &c) -> Results {
           const Composed *composed = requireComposed(c);
           return {composed ? composed->inner : Map()};
         }},
        {"composed_offset", 1, 1, "",
         [](Call &c) -> Results {
           const Composed *composed = requireComposed(c);
           return {composed ? composed->offset : IntTuple(0)};
         }},
        {"composed_outer", 1, 1, "",
         [](Call &c) -> Results {
           const Composed *composed = requireComposed(c);
           return {composed ? composed->outer : Map()};
         }},
        {"crd2idx", 2, 2, "", [](Call &c) -> Results { return {c.algebra.crd2idx(c.tuple(0u), c.map(1))}; }},
        {"idx2crd", 2, 2, "", [](Call &c) -> Results { return {c.algebra.idx2crd(c.tuple(0u), c.map(1))}; }},
        {"get_1d_coord", 2, 2, "", [](Call &c) -> Results { return {c.algebra.get1DCoord(c.tuple(0u), c.map(1))}; }},
        {"get_flat_coord", 2, 2, "",
         [](Call &c) -> Results { return {c.algebra.getFlatCoord(c.tuple(0u), c.map(1))}; }},
        {"coord", 2, 2, "",
         [](Call &c) -> Results {
           IntTuple index = c.tuple(0u), shape = c.algebra.getShape(c.value(1));
           if (index.isTuple() || index.getLeaf().isStar() || index.getLeaf().isBasis())
             c.algebra.fail(3, "index " + layout::toString(index) + " must be an integer");
           else if (index.getLeaf().isStatic() && index.getLeaf().value < 0)
             c.algebra.fail(4, "coordinate " + layout::toString(index) + " is negative");
           return {c.algebra.failed() ? IntTuple(0) : c.algebra.coordOf(index.getLeaf(), shape)};
         }},
        {"table", 1, 1, "",
         [](Call &c) -> Results {
           SmallVector<IntTuple> values = c.algebra.table(c.map(0));
           if (values.empty())
             return {IntTuple(0)};
           return {IntTuple::tuple(std::vector<IntTuple>(values.begin(), values.end()))};
         }},
        {"coalesce", 1, 2, "",
         [](Call &c) -> Results {
           return {c.algebra.coalesce(c.map(0), c.getNumOperands() == 2 ? &c.tuple(1u) : nullptr)};
         }},
        {"filter", 1, 1, "", [](Call &c) -> Results { return {Map(c.algebra.filter(c.map(0)))}; }},
        {"composition", 2, 2, "",
         [](Call &c) -> Results {
           if (auto *tile = std::get_if<Tile>(&c.value(1))) {
             c.algebra.check(c.value(1));
             return {c.algebra.composition(c.map(0), *tile)};
           }
           if (std::holds_alternative<IntTuple>(c.value(1)))
             return {c.algebra.composition(c.map(0), Map(c.layout(1u)))};
           return {c.algebra.composition(c.map(0), c.map(1))};
         }},
        {"composition_exact", 2, 2, "",
         [](Call &c) -> Results { return {c.algebra.compositionExact(c.map(0), Map(c.layout(1u)))}; }},
        {"complement", 1, 2, "",
         [](Call &c) -> Results {
           return {Map(c.algebra.complement(c.map(0), c.getNumOperands() == 2 ? &c.tuple(1u) : nullptr))};
         }},
        {"complement_exact", 1, 2, "",
         [](Call &c) -> Results {
           return {c.algebra.complementExact(c.map(0), c.getNumOperands() == 2 ? &c.tuple(1u) : nullptr)};
         }},
        {"right_inverse", 1, 1, "", [](Call &c) -> Results { return {c.algebra.rightInverse(c.map(0))}; }},
        {"left_inverse", 1, 1, "", [](Call &c) -> Results { return {Map(c.algebra.leftInverse(c.map(0)))}; }},
        {"logical_divide", 2, 2, "strict", divideWith(&Algebra::logicalDivide)},
        {"zipped_divide", 2, 2, "strict", divideWith(&Algebra::zippedDivide)},
        {"tiled_divide", 2, 2, "strict", divideWith(&Algebra::tiledDivide)},
        {"flat_divide", 2, 2, "strict", divideWith(&Algebra::flatDivide)},
        {"divide_exact", 2, 2, "", [](Call &c) -> Results { return {c.algebra.divideExact(c.map(0), c.value(1))}; }},
        {"logical_product", 2, 2, "", productWith(&Algebra::logicalProduct)},
        {"zipped_product", 2, 2, "", productWith(&Algebra::zippedProduct)},
        {"tiled_product", 2, 2, "", productWith(&Algebra::tiledProduct)},
        {"flat_product", 2, 2, "", productWith(&Algebra::flatProduct)},
        {"blocked_product", 2, 2, "", productWith(&Algebra::blockedProduct)},
        {"raked_product", 2, 2, "", productWith(&Algebra::rakedProduct)},
        {"tile_to_shape", 3, 3, "",
         [](Call &c) -> Results { return {c.algebra.tileToShape(c.map(0), c.tuple(1u), c.tuple(2u))}; }},
        {"local_tile", 3, 3, "",
         [](Call &c) -> Results { return {c.algebra.localTile(c.map(0), c.value(1), c.tuple(2u))}; }},
        {"local_partition", 3, 3, "",
         [](Call &c) -> Results { return {c.algebra.localPartition(c.map(0), c.value(1), c.tuple(2u))}; }},
        {"recast", 1, 1, "!from !to",
         [](Call &c) -> Results { return {c.algebra.recast(c.map(0), c.integer("from"), c.integer("to"))}; }},
        {"max_common_vector", 2, 2, "",
         [](Call &c) -> Results { return {IntTuple(c.algebra.maxCommonVector(c.map(0), c.map(1)))}; }},
        {"max_alignment", 1, 1, "", [](Call &c) -> Results { return {IntTuple(c.algebra.maxAlignment(c.map(0)))}; }},
        {"vector_width", 2, 2, "!bits !src_align !dst_align !max_bits swizzle",
         [](Call &c) -> Results {
           return {IntTuple(c.algebra.vectorWidth(c.map(0), c.map(1), c.integer("bits"), c.integer("src_align"),
                                                  c.integer("dst_align"), c.integer("max_bits"),
                                                  c.swizzle("swizzle")))};
         }},
        {"check_tv", 1, 1, "!tile",
         [](Call &c) -> Results { return {c.algebra.checkTV(c.layout(0u), c.algebra.product(c.tuple("tile")))}; }},
        {"make_layout_tv", 2, 2, "",
         [](Call &c) -> Results { return {Map(c.algebra.makeLayoutTV(c.layout(0u), c.layout(1u)))}; }},
        {"tv_tile", 2, 2, "",
         [](Call &c) -> Results {
           IntTuple tile = 1;
           c.algebra.makeLayoutTV(c.layout(0u), c.layout(1u), &tile);
           return {tile};
         }},
        {"copy_partition", 2, 2, "!tile !vals thr",
         [](Call &c) -> Results {
           return toResults(c.algebra.copyPartition(c.layout(0u), c.layout(1u), c.tuple("tile"), c.integer("vals"),
                                                    c.integer("thr")));
         }},
        {"mma_partition", 2, 2, "!atom !atoms !operand thr",
         [](Call &c) -> Results { return toResults(mmaPartition(c)); }},
        {"tiled_copy.partition", 2, 2, "!tile !vals thr",
         [](Call &c) -> Results {
           return {Map(c.algebra
                           .copyPartition(c.layout(0u), c.layout(1u), c.tuple("tile"), c.integer("vals"),
                                          c.integer("thr"))
                           .layout)};
         }},
        {"tiled_mma.partition", 2, 2, "!atom !atoms !operand thr",
         [](Call &c) -> Results { return {Map(mmaPartition(c).layout)}; }},
        {"tiled_mma.partition_shape", 2, 2, "!atom !atoms !operand thr",
         [](Call &c) -> Results { return {mmaPartition(c).layout.shape}; }},
        {"mma.make_fragment", 2, 2, "!atom !atoms !operand thr stages",
         [](Call &c) -> Results {
           Layout fragment = c.algebra.makeFragmentLike(Map(mmaPartition(c).layout));
           int64_t stages = c.integer("stages", 0);
           if (c.has("stages") && stages < 1)
             c.algebra.fail(2, "stages must be at least 1, got " + Twine(stages));
           if (stages < 1 || c.algebra.failed())
             return {Map(fragment)};
           Map mode = Layout(stages, stages == 1 ? Int(0) : c.algebra.product(fragment.shape));
           return {c.algebra.append(Map(fragment), mode)};
         }},
    };
    // The name FlyDSL uses for the register image.
    auto fragment = find_if(ops, [](const Operation &op) { return op.name == "make_fragment_like"; });
    Operation alias = *fragment;
    alias.name = "make_fragment_layout_like";
    ops.push_back(alias);
    sort(ops, [](const Operation &a, const Operation &b) { return a.name < b.name; });
    return ops;
  }();
  return operations;
}

const Operation *findOperation(StringRef name, ArrayRef<Operation> extra) {
  for (ArrayRef<Operation> list : {getOperations(), extra})
    for (const Operation &operation : list)
      if (operation.name == name)
        return &operation;
  return nullptr;
}

std::optional<Results> evaluate(Algebra &algebra, const Operation &operation, ArrayRef<Value> operands,
                                const Attributes &attributes) {
  if (algebra.failed())
    return std::nullopt;
  if (operands.size() < operation.minOperands || operands.size() > operation.maxOperands) {
    std::string range = operation.minOperands == operation.maxOperands
                            ? std::to_string(operation.minOperands)
                            : std::to_string(operation.minOperands) + " or " + std::to_string(operation.maxOperands);
    algebra.fail(0, operation.name + Twine(" takes ") + range + " operands, got " + Twine(operands.size()));
    return std::nullopt;
  }
  SmallVector<StringRef> known;
  SplitString(operation.attributes, known);
  for (StringRef name : known)
    if (name.consume_front("!") && !attributes.count(name)) {
      algebra.fail(0, operation.name + Twine(" needs the attribute '") + name + "'");
      return std::nullopt;
    }
  for (const auto &entry : attributes)
    if (none_of(known, [&](StringRef name) { return name.trim('!') == entry.first(); })) {
      algebra.fail(0, operation.name + Twine(" has no attribute '") + entry.first() + "'");
      return std::nullopt;
    }
  for (const Value &operand : operands)
    algebra.check(operand);
  if (algebra.failed())
    return std::nullopt;
  Call call(algebra, operation.name, operands, attributes);
  Results results = operation.evaluate(call);
  if (algebra.failed())
    return std::nullopt;
  return results;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Splits at a separator outside of brackets; brackets must balance.
static bool splitTop(StringRef text, char separator, SmallVectorImpl<StringRef> &parts, size_t &badOffset) {
  SmallVector<char> open;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '(' || c == '[' || c == '<' || c == '{') {
      open.push_back(c);
    } else if (c == ')' || c == ']' || c == '>' || c == '}') {
      char expected = c == ')' ? '(' : c == ']' ? '[' : c == '>' ? '<' : '{';
      if (open.empty() || open.pop_back_val() != expected) {
        badOffset = i;
        return false;
      }
    } else if (c == separator && open.empty()) {
      parts.push_back(text.slice(start, i));
      start = i + 1;
    }
  }
  badOffset = text.size();
  parts.push_back(text.drop_front(start));
  return open.empty();
}

static Error atColumn(StringRef whole, const char *position, const Twine &message) {
  return createStringError("column " + Twine(position - whole.data() + 1) + ": " + message);
}

static Expected<Value> parseLiteral(StringRef whole, StringRef text) {
  Expected<Value> value = parse(text);
  if (value)
    return value;
  // The column in `text` becomes one in the whole expression.
  std::string message = llvm::toString(value.takeError());
  StringRef rest = message;
  size_t column = 1;
  rest.consume_front("column ");
  rest.consumeInteger(10, column);
  rest.consume_front(": ");
  return atColumn(whole, text.data() + column - 1, rest);
}

static Expected<Attribute> parseAttribute(StringRef whole, StringRef text) {
  text = text.trim();
  int64_t number;
  if (!text.getAsInteger(10, number))
    return Attribute(number);
  if (text.starts_with("[") && text.ends_with("]") && !text.contains('|') && !text.contains(':')) {
    SmallVector<int64_t, 4> numbers;
    StringRef inner = text.drop_front().drop_back();
    SmallVector<StringRef> parts;
    if (!inner.trim().empty())
      inner.split(parts, ',');
    for (StringRef part : parts) {
      if (part.trim().getAsInteger(10, number))
        return atColumn(whole, part.data(), "expected an integer in the list");
      numbers.push_back(number);
    }
    return Attribute(numbers);
  }
  if (!text.empty() && isAlpha(text[0]) && all_of(text, [](char c) { return isAlnum(c) || c == '_' || c == '/'; }))
    return Attribute(text.str());
  Expected<Value> value = parseLiteral(whole, text);
  if (!value)
    return value.takeError();
  return Attribute(*value);
}

static Expected<Expression> parseNested(StringRef whole, StringRef text, unsigned depth) {
  text = text.trim();
  Expression result;
  StringRef name = text.take_while([](char c) { return isAlnum(c) || c == '_' || c == '.'; });
  bool isCall =
      !name.empty() && (isAlpha(name[0]) || name[0] == '_') && text.drop_front(name.size()).ltrim().starts_with("(");
  if (!isCall) {
    Expected<Value> value = parseLiteral(whole, text);
    if (!value)
      return value.takeError();
    result.literal = *value;
    return result;
  }
  if (depth == maxDepth)
    return atColumn(whole, text.data(), "calls nest more than " + Twine(maxDepth) + " deep");
  result.name = name.str();
  StringRef inner = text.drop_front(name.size()).ltrim();
  SmallVector<StringRef> parts;
  size_t bad = 0;
  if (!inner.ends_with(")"))
    return atColumn(whole, text.end(), "expected ')' at the end of the call");
  inner = inner.drop_front().drop_back();
  if (!splitTop(inner, ',', parts, bad))
    return atColumn(whole, inner.data() + bad, "brackets do not match");
  if (parts.size() == 1 && parts[0].trim().empty())
    parts.clear();
  for (StringRef part : parts) {
    StringRef key = part.ltrim().take_while([](char c) { return isAlpha(c) || c == '_'; });
    StringRef rest = part.ltrim().drop_front(key.size()).ltrim();
    if (!key.empty() && rest.consume_front("=")) {
      Expected<Attribute> value = parseAttribute(whole, rest);
      if (!value)
        return value.takeError();
      if (!result.attributes.try_emplace(key, *value).second)
        return atColumn(whole, part.data(), "attribute '" + key + "' is given twice");
      continue;
    }
    Expected<Expression> operand = parseNested(whole, part, depth + 1);
    if (!operand)
      return operand.takeError();
    result.operands.push_back(std::move(*operand));
  }
  return result;
}

Expected<Expression> parseExpression(StringRef text) {
  if (text.size() > (1 << 20))
    return createStringError("the expression has more than 2^20 characters");
  return parseNested(text, text, 0);
}

std::optional<Results> evaluate(Algebra &algebra, const Expression &expression, ArrayRef<Operation> extra) {
  if (expression.name.empty()) {
    algebra.check(expression.literal);
    if (algebra.failed())
      return std::nullopt;
    return Results{expression.literal};
  }
  const Operation *operation = findOperation(expression.name, extra);
  if (!operation) {
    algebra.fail(0, "unknown operation '" + expression.name + "'");
    return std::nullopt;
  }
  SmallVector<Value> operands;
  for (const Expression &operand : expression.operands) {
    std::optional<Results> results = evaluate(algebra, operand, extra);
    if (!results)
      return std::nullopt;
    operands.push_back(results->front());
  }
  return evaluate(algebra, *operation, operands, expression.attributes);
}

std::string toString(const Results &results) {
  std::string text = layout::toString(results.front());
  for (const Value &value : drop_begin(results))
    text += " @" + layout::toString(value);
  return text;
}

std::string toString(const Fault &fault) {
  std::string text = fault.constraint ? ("C" + Twine(fault.constraint) + ": " + fault.text).str() : fault.text;
  if (!fault.note.empty())
    text += "\nnote: " + fault.note;
  return text;
}

} // namespace atrex::layout
