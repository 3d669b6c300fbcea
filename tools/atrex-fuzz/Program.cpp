//===- Program.cpp - Random well-typed programs ----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace atrex;
using namespace atrex::fuzz;
using llvm::formatv;

std::optional<Form> fuzz::parseForm(llvm::StringRef text) {
  return llvm::StringSwitch<std::optional<Form>>(text)
      .Case("operator", Form::Operator)
      .Case("kernel", Form::Kernel)
      .Case("tile", Form::Tile)
      .Default(std::nullopt);
}

llvm::StringRef fuzz::getName(Form form) {
  return form == Form::Operator ? "operator" : form == Form::Kernel ? "kernel" : "tile";
}

llvm::ArrayRef<Feature> fuzz::getFeatures() {
  static const Feature features[] = {
      {"division", "op f(x: i32[T, 4], y: i32[T, 4]) -> (out: i32[T, 4]) { out = x / y + x % y }"},
      {"bits",
       "op f(x: i32[T, 4], y: i32[T, 4]) -> (out: i32[T, 4]) { out = ((x & y) | (x ^ y)) + (x << y) + (x >> y) }"},
      {"functions", "op f(x: f32[T, 4]) -> (out: f32[T, 4]) { out = erf(x) + sin(x) + cos(x) + trunc(x) + round(x) }"},
      {"fp8", "op f(x: f32[T, 4]) -> (out: f8e4m3fn[T, 4]) { out = f8e4m3fn(x) }"},
      {"packed", "op f(x: f6e2m3fn[T, 4]) -> (out: f4e2m1fn[T, 4]) { out = f4e2m1fn(x) }"},
      {"reductions",
       "op f(x: f32[T, 4]) -> (out: i32[T], p: f32[T]) { out = argmax(x, axis = 1) p = prod(x, axis = 1) }"},
      {"scan", "op f(x: i32[T, 4]) -> (out: i32[T, 4]) { out = cumsum(x, axis = 1) }"},
      {"topk", "op f(x: f32[T, 4]) -> (out: f32[T, 2]) { let (v, i) = topk(x, 2, axis = 1) out = v }"},
      {"rank", "op f(x: i32[T, 4]) -> (out: i32[T, 4]) { out = rank(x, axis = 1) }"},
      {"transpose", "op f(x: f32[T, 4]) -> (out: f32[4, T]) { out = transpose(x, (1, 0)) }"},
      {"reshape", "op f(x: f32[T, 4]) -> (out: f32[T, 2, 2]) { out = reshape(x, (T, 2, 2)) }"},
      {"concat", "op f(x: f32[T, 4]) -> (out: f32[T, 8]) { out = concat((x, x), axis = 1) }"},
      {"take", "op f(x: f32[T, 4], i: i32[T, 2]) -> (out: f32[T, 2]) { out = take(x, i, axis = 1) }"},
      {"histogram", "kernel f(x: i32[T]) -> (out: i32[8]) grid (1) { store(out[:], histogram(load(x[0 : 16]), 8)) }"},
      {"f64", "op f(x: f64[T, 4]) -> (out: f64[T, 4]) { out = sqrt(x) + fma(x, x, x) }"},
      {"memory", "kernel f(x: i32[T]) -> (out: i32[8]) grid (1) { let s = shared(i32[8]) store(s[:], load(x[0 : 8])) "
                 "atomic_add(s[iota(8)], 1) scatter(out[iota(8)], gather(s[7 - iota(8)])) }"},
      {"while",
       "kernel f(x: i32[T]) -> (out: i32[1]) grid (1) { var n = x[0] while n > 0 { n -= 1 } store(out[0], n) }"},
      {"dot", "op f(x: f32[T, 4], y: f32[3, 4]) -> (out: f32[T, 3]) { out = einsum(\"mk,nk->mn\", x, y) }"},
  };
  return features;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Extent of the axis that is the dimension T in operators.
static constexpr int64_t rowMarker = int64_t(1) << 20;

static bool isInteger(DataType type) { return !isFloat(type) && type != DataType::I1; }
static bool isUnsigned(DataType type) { return type == DataType::U8 || type == DataType::U32; }
static bool isSmallFloat(DataType type) { return isFloat(type) && getSizeInBits(type) <= 8; }

/// Whether rows of the type fill bytes: a parameter or result may have it.
static bool fillsBytes(const TensorType &type) {
  int64_t unit = getElementsPerUnit(type.element);
  return unit == 1 || (!type.shape.empty() && type.shape.back() != rowMarker && type.shape.back() % unit == 0);
}

static std::string getTileElement(DataType type) {
  switch (type) {
  case DataType::U8:
    return "i8";
  case DataType::U32:
    return "i32";
  case DataType::E4M3FN:
    return "f8E4M3FN";
  case DataType::E4M3FNUZ:
    return "f8E4M3FNUZ";
  case DataType::E5M2:
    return "f8E5M2";
  case DataType::E5M2FNUZ:
    return "f8E5M2FNUZ";
  case DataType::E2M1FN:
    return "f4E2M1FN";
  case DataType::E2M3FN:
    return "f6E2M3FN";
  case DataType::E3M2FN:
    return "f6E3M2FN";
  default:
    return getName(type).str();
  }
}

static std::string getTileType(const TensorType &type, llvm::StringRef element = "") {
  std::string name = element.empty() ? getTileElement(type.element) : element.str();
  if (type.shape.empty())
    return name;
  std::string text = "vector<";
  for (int64_t extent : type.shape)
    text += std::to_string(extent) + "x";
  return text + name + ">";
}

static std::string joinShape(llvm::ArrayRef<std::string> extents) {
  std::string text;
  for (const std::string &extent : extents)
    text += (text.empty() ? "" : ", ") + extent;
  return text;
}

/// Replaces `$...` of a template.
static std::string expand(llvm::StringRef text, const Node &node, llvm::StringRef self,
                          llvm::ArrayRef<std::string> names, llvm::ArrayRef<const Node *> operands) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    char c = text[++i];
    if (c >= '0' && c <= '9') {
      unsigned index = c - '0';
      if (i + 1 < text.size() && text[i + 1] == 't') {
        ++i;
        result += getTileType(operands[index]->type);
      } else {
        result += names[index];
      }
    } else if (c == 'x' && i + 1 < text.size()) {
      // The tensor behind a parameter of a kernel.
      result += "x" + names[text[++i] - '0'].substr(1);
    } else if (c == 'e') {
      result += getName(node.type.element);
    } else if (c == 'r') {
      result += self;
    } else if (c == 't') {
      result += getTileType(node.type);
    } else if (c == 's') {
      result += getTileElement(node.type.element);
    } else if (c == 'b') {
      result += getTileType(node.type, "i1");
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

namespace {
class Generator {
public:
  Generator(Program &program, uint64_t seed, const std::set<std::string> &features)
      : program(program), random(seed * 0x9E3779B97F4A7C15ull + 1), features(features) {}

  void run();

private:
  int64_t below(int64_t limit) { return static_cast<int64_t>(random() % uint64_t(limit)); }
  template <typename T> T pick(std::initializer_list<T> list) { return *(list.begin() + below(list.size())); }
  bool has(const char *feature) const { return features.count(feature) != 0; }
  bool isOperator() const { return program.form == Form::Operator; }

  unsigned add(Node node) {
    program.nodes.push_back(std::move(node));
    return program.nodes.size() - 1;
  }
  unsigned addOp(TensorType type, std::vector<unsigned> operands, std::string atx, std::vector<std::string> tile) {
    Node node;
    node.type = std::move(type);
    node.operands = std::move(operands);
    node.atx = std::move(atx);
    node.tile = std::move(tile);
    return add(std::move(node));
  }
  unsigned addParameter(TensorType type, bool byRow);
  const TensorType &typeOf(unsigned node) const { return program.nodes[node].type; }

  /// A value with the property, or nullopt.
  template <typename Predicate> std::optional<unsigned> find(Predicate predicate) {
    std::vector<unsigned> found;
    for (unsigned i = 0; i < program.nodes.size(); ++i)
      if (!program.nodes[i].isResult && predicate(program.nodes[i].type))
        found.push_back(i);
    if (found.empty())
      return std::nullopt;
    // The newest are preferred, so that programs grow deep.
    size_t back = std::min<size_t>(found.size(), 1 + below(4));
    return found[below(2) ? found.size() - back : below(found.size())];
  }
  /// Another value of the same type, perhaps the same one.
  unsigned findLike(unsigned node) {
    TensorType type = typeOf(node);
    return *find([&](const TensorType &other) { return other == type; });
  }
  /// A value of one axis less, stretched to the shape of `like`.
  unsigned stretch(unsigned node, const TensorType &like, unsigned missing);

  void addStep();
  void addBinary();
  void addUnary();
  void addCompare();
  void addCast();
  void addReduce();
  void addShape();
  void addAlong();
  void addDot();
  void addLoop();
  void addHistogram();
  void addMemory();
  void addWhile();
  std::string drawPermutation(int64_t extent);
  /// Subscripts that permute the elements of a tile along every axis.
  std::string drawPermutations(llvm::ArrayRef<int64_t> shape);
  /// A value that a kernel computes by several statements.
  unsigned addBlock(TensorType type, std::vector<unsigned> operands, std::string lines) {
    return addOp(std::move(type), std::move(operands), "!block " + std::move(lines), {});
  }

  Program &program;
  std::mt19937_64 random;
  const std::set<std::string> &features;
  int64_t columns = 4;
};

unsigned Generator::addParameter(TensorType type, bool byRow) {
  Node node;
  node.type = std::move(type);
  node.isParameter = true;
  node.byRow = byRow;
  node.values = pick({interp::ValueClass::SmallInt, interp::ValueClass::SmallInt, interp::ValueClass::Normal,
                      interp::ValueClass::AnyBits});
  return add(std::move(node));
}

unsigned Generator::stretch(unsigned node, const TensorType &like, unsigned missing) {
  TensorType type = like;
  type.element = typeOf(node).element;
  TensorType unit = type;
  unit.shape[missing] = 1;
  std::string subscript;
  for (unsigned axis = 0; axis < like.shape.size(); ++axis)
    subscript += std::string(axis ? ", " : "") + (axis == missing ? "None" : ":");
  std::string unitType = getTileType(unit);
  std::string extents;
  for (int64_t extent : type.shape)
    extents += (extents.empty() ? "" : ", ") + (extent == rowMarker ? std::string("T") : std::to_string(extent));
  unsigned stretched =
      addOp(type, {node}, "broadcast($0[" + subscript + "], (" + extents + "))",
            {"%$r_u = vector.shape_cast %$0 : $0t to " + unitType, "vector.broadcast %$r_u : " + unitType + " to $t"});
  program.nodes[stretched].type.shape = type.shape;
  return stretched;
}

void Generator::addBinary() {
  std::optional<unsigned> lhs =
      find([](const TensorType &type) { return type.element != DataType::I1 && !isSmallFloat(type.element); });
  if (!lhs)
    return;
  TensorType type = typeOf(*lhs);
  unsigned rhs = findLike(*lhs);
  if (isFloat(type.element)) {
    struct Kind {
      const char *atx, *tile;
    };
    Kind kind = pick<Kind>({{"($0 + $1)", "arith.addf"},
                            {"($0 - $1)", "arith.subf"},
                            {"($0 * $1)", "arith.mulf"},
                            {"($0 / $1)", "arith.divf"},
                            {"max($0, $1)", "arith.maximumf"},
                            {"min($0, $1)", "arith.minimumf"}});
    if (type.element == DataType::F32 || type.element == DataType::F64) {
      if (below(6) == 0) {
        unsigned third = findLike(*lhs);
        addOp(type, {*lhs, rhs, third}, "fma($0, $1, $2)", {"math.fma %$0, %$1, %$2 : $t"});
        return;
      }
      addOp(type, {*lhs, rhs}, kind.atx, {std::string(kind.tile) + " %$0, %$1 fastmath<contract> : $t"});
      return;
    }
    // 16 bits: computed in f32, each result rounded.
    std::string wide = getTileType(type, "f32");
    addOp(type, {*lhs, rhs}, kind.atx,
          {"%$r_a = arith.extf %$0 : $t to " + wide, "%$r_b = arith.extf %$1 : $t to " + wide,
           "%$r_c = " + std::string(kind.tile) + " %$r_a, %$r_b fastmath<contract> : " + wide,
           "arith.truncf %$r_c : " + wide + " to $t"});
    return;
  }
  bool isU = isUnsigned(type.element);
  int64_t choice = below(11);
  auto simple = [&](const char *atx, const char *tile) {
    addOp(type, {*lhs, rhs}, atx, {std::string(tile) + " %$0, %$1 : $t"});
  };
  if (choice < 3)
    return simple(choice == 0   ? "($0 + $1)"
                  : choice == 1 ? "($0 - $1)"
                                : "($0 * $1)",
                  choice == 0   ? "arith.addi"
                  : choice == 1 ? "arith.subi"
                                : "arith.muli");
  if (choice == 3)
    return simple("max($0, $1)", isU ? "arith.maxui" : "arith.maxsi");
  if (choice == 4)
    return simple("min($0, $1)", isU ? "arith.minui" : "arith.minsi");
  if (choice < 8) {
    if (!has("bits"))
      return;
    if (choice == 5)
      return below(2)   ? simple("($0 & $1)", "arith.andi")
             : below(2) ? simple("($0 | $1)", "arith.ori")
                        : simple("($0 ^ $1)", "arith.xori");
    unsigned bits = getSizeInBytes(type.element) * 8;
    std::vector<std::string> prefix = {formatv("%$r_w = arith.constant {0} : $s", bits).str(),
                                       formatv("%$r_m = arith.constant {0} : $s", bits - 1).str(),
                                       "%$r_z = arith.constant 0 : $s"};
    auto splat = [&](const char *name) {
      return type.shape.empty() ? formatv("%$r_{0}s = arith.addi %$r_{0}, %$r_z : $s", name).str()
                                : formatv("%$r_{0}s = vector.broadcast %$r_{0} : $s to $t", name).str();
    };
    for (const char *name : {"w", "m", "z"})
      prefix.push_back(splat(name));
    prefix.push_back("%$r_c = arith.cmpi ult, %$1, %$r_ws : $t");
    prefix.push_back("%$r_n = arith.select %$r_c, %$1, %$r_ms : $b, $t");
    bool left = choice == 6;
    prefix.push_back(std::string("%$r_v = arith.") + (left ? "shli" : isU ? "shrui" : "shrsi") + " %$0, %$r_n : $t");
    prefix.push_back(left || isU ? "arith.select %$r_c, %$r_v, %$r_zs : $b, $t" : "arith.shrsi %$0, %$r_n : $t");
    addOp(type, {*lhs, rhs}, left ? "($0 << $1)" : "($0 >> $1)", prefix);
    return;
  }
  if (!has("division") || isU)
    return;
  // x / 0 is 0 and x % 0 is x; the quotient of the smallest number and -1 wraps.
  bool isRemainder = choice == 10;
  std::vector<std::string> lines = {"%$r_0 = arith.constant 0 : $s", "%$r_1 = arith.constant 1 : $s",
                                    "%$r_m = arith.constant -1 : $s"};
  for (const char *name : {"0", "1", "m"})
    lines.push_back(type.shape.empty() ? formatv("%$r_{0}s = arith.addi %$r_{0}, %$r_0 : $s", name).str()
                                       : formatv("%$r_{0}s = vector.broadcast %$r_{0} : $s to $t", name).str());
  lines.push_back("%$r_z = arith.cmpi eq, %$1, %$r_0s : $t");
  lines.push_back("%$r_n = arith.cmpi eq, %$1, %$r_ms : $t");
  lines.push_back("%$r_e = arith.ori %$r_z, %$r_n : $b");
  lines.push_back("%$r_d = arith.select %$r_e, %$r_1s, %$1 : $b, $t");
  lines.push_back("%$r_q = arith.floordivsi %$0, %$r_d : $t");
  lines.push_back("%$r_g = arith.subi %$r_0s, %$0 : $t");
  lines.push_back("%$r_p = arith.select %$r_n, %$r_g, %$r_q : $b, $t");
  if (!isRemainder) {
    lines.push_back("arith.select %$r_z, %$r_0s, %$r_p : $b, $t");
  } else {
    lines.push_back("%$r_x = arith.muli %$r_p, %$1 : $t");
    lines.push_back("arith.subi %$0, %$r_x : $t");
  }
  addOp(type, {*lhs, rhs}, isRemainder ? "($0 % $1)" : "($0 / $1)", lines);
}

void Generator::addUnary() {
  std::optional<unsigned> node = find([](const TensorType &type) {
    return type.element == DataType::F32 || type.element == DataType::F64 || isInteger(type.element);
  });
  if (!node)
    return;
  TensorType type = typeOf(*node);
  if (isInteger(type.element)) {
    if (isUnsigned(type.element))
      return;
    if (below(2)) {
      addOp(type, {*node}, "abs($0)", {"math.absi %$0 : $t"});
      return;
    }
    std::vector<std::string> lines = {"%$r_0 = arith.constant 0 : $s"};
    lines.push_back(type.shape.empty() ? "%$r_z = arith.addi %$r_0, %$r_0 : $s"
                                       : "%$r_z = vector.broadcast %$r_0 : $s to $t");
    lines.push_back("arith.subi %$r_z, %$0 : $t");
    addOp(type, {*node}, "(-$0)", lines);
    return;
  }
  struct Kind {
    const char *atx, *tile;
  };
  std::vector<Kind> kinds = {{"(-$0)", "arith.negf"},     {"abs($0)", "math.absf"},    {"exp($0)", "math.exp"},
                             {"exp2($0)", "math.exp2"},   {"log($0)", "math.log"},     {"log2($0)", "math.log2"},
                             {"sqrt($0)", "math.sqrt"},   {"rsqrt($0)", "math.rsqrt"}, {"tanh($0)", "math.tanh"},
                             {"floor($0)", "math.floor"}, {"ceil($0)", "math.ceil"}};
  // No chip has the others in double precision.
  if (type.element == DataType::F64)
    kinds = {{"(-$0)", "arith.negf"},
             {"abs($0)", "math.absf"},
             {"sqrt($0)", "math.sqrt"},
             {"floor($0)", "math.floor"},
             {"ceil($0)", "math.ceil"}};
  // The tile compiler's functions are those the lowering has.
  else if (program.form != Form::Tile && has("functions"))
    kinds.insert(kinds.end(),
                 {{"erf($0)", ""}, {"sin($0)", ""}, {"cos($0)", ""}, {"round($0)", ""}, {"trunc($0)", ""}});
  if (program.form != Form::Tile && type.element != DataType::F64)
    kinds.insert(kinds.end(), {{"sigmoid($0)", ""}, {"silu($0)", ""}, {"recip($0)", ""}});
  Kind kind = kinds[below(kinds.size())];
  addOp(type, {*node}, kind.atx, {std::string(kind.tile) + " %$0 fastmath<contract> : $t"});
}

void Generator::addCompare() {
  std::optional<unsigned> lhs =
      find([](const TensorType &type) { return type.element != DataType::I1 && !isSmallFloat(type.element); });
  if (!lhs)
    return;
  TensorType type = typeOf(*lhs), boolean = type;
  boolean.element = DataType::I1;
  unsigned rhs = findLike(*lhs);
  bool isU = isUnsigned(type.element);
  int64_t choice = below(6);
  static const char *operators[] = {"==", "!=", "<", "<=", ">", ">="};
  static const char *floats[] = {"oeq", "une", "olt", "ole", "ogt", "oge"};
  static const char *integers[] = {"eq", "ne", "slt", "sle", "sgt", "sge"};
  static const char *unsigneds[] = {"eq", "ne", "ult", "ule", "ugt", "uge"};
  std::string line = isFloat(type.element)
                         ? formatv("arith.cmpf {0}, %$0, %$1 : $0t", floats[choice]).str()
                         : formatv("arith.cmpi {0}, %$0, %$1 : $0t", (isU ? unsigneds : integers)[choice]).str();
  unsigned condition = addOp(boolean, {*lhs, rhs}, formatv("($0 {0} $1)", operators[choice]).str(), {line});
  if (below(3) == 0) {
    std::optional<unsigned> other = find([&](const TensorType &t) { return t == boolean; });
    bool isAnd = below(2);
    condition = addOp(boolean, {condition, *other}, isAnd ? "($0 && $1)" : "($0 || $1)",
                      {std::string(isAnd ? "arith.andi" : "arith.ori") + " %$0, %$1 : $t"});
  }
  std::optional<unsigned> a = find([&](const TensorType &t) {
    return t.shape == type.shape && t.element != DataType::I1 && !isSmallFloat(t.element);
  });
  if (!a)
    return;
  unsigned b = findLike(*a);
  addOp(typeOf(*a), {condition, *a, b}, "where($0, $1, $2)", {"arith.select %$0, %$1, %$2 : $0t, $t"});
}

void Generator::addCast() {
  std::optional<unsigned> node = find([](const TensorType &) { return true; });
  if (!node)
    return;
  TensorType from = typeOf(*node), to = from;
  auto line = [&](const char *op) { return std::vector<std::string>{std::string(op) + " %$0 : $0t to $t"}; };
  auto cast = [&](DataType type, std::vector<std::string> lines) {
    to.element = type;
    addOp(to, {*node}, getName(type).str() + "($0)", std::move(lines));
  };
  if (isSmallFloat(from.element))
    return cast(DataType::F32, line("arith.extf"));
  if (from.element == DataType::F16 || from.element == DataType::BF16)
    return cast(DataType::F32, line("arith.extf"));
  if (from.element == DataType::I1)
    return below(2) ? cast(DataType::I32, line("arith.extui")) : cast(DataType::F32, line("arith.uitofp"));
  if (from.element == DataType::F64)
    return below(2) ? cast(DataType::F32, line("arith.truncf"))
                    : cast(DataType::I32, {"atx.tile_convert %$0 : $0t -> $t"});
  if (from.element == DataType::F32) {
    if (has("f64") && below(8) == 0)
      return cast(DataType::F64, line("arith.extf"));
    int64_t choice = below(has("fp8") ? 7 : 4);
    if (choice < 2)
      return cast(choice ? DataType::BF16 : DataType::F16, line("arith.truncf"));
    if (choice == 2)
      return cast(DataType::I32, {"atx.tile_convert %$0 : $0t -> $t"});
    if (choice == 3)
      return cast(DataType::I64, {"atx.tile_convert %$0 : $0t -> $t"});
    DataType type = pick({DataType::E4M3FN, DataType::E4M3FNUZ, DataType::E5M2, DataType::E5M2FNUZ});
    if (has("packed") && below(2))
      type = pick({DataType::E2M1FN, DataType::E2M3FN, DataType::E3M2FN});
    to.element = type;
    // Types without NaN saturate by themselves.
    bool saturate = getElementsPerUnit(type) == 1 && below(2);
    addOp(to, {*node}, getName(type).str() + (saturate ? "($0, saturate = true)" : "($0)"),
          {saturate ? "atx.tile_convert %$0 {saturate} : $0t -> $t" : "atx.tile_convert %$0 : $0t -> $t"});
    return;
  }
  if (below(2))
    return cast(DataType::F32, line(isUnsigned(from.element) ? "arith.uitofp" : "arith.sitofp"));
  DataType type = pick({DataType::I8, DataType::I16, DataType::I32, DataType::I64, DataType::U8, DataType::U32});
  if (type == from.element)
    return;
  unsigned fromBits = getSizeInBytes(from.element), toBits = getSizeInBytes(type);
  if (fromBits == toBits)
    return cast(type, {"arith.bitcast %$0 : $0t to $t"});
  cast(type, line(toBits < fromBits ? "arith.trunci" : isUnsigned(from.element) ? "arith.extui" : "arith.extsi"));
}

void Generator::addReduce() {
  std::optional<unsigned> node = find([](const TensorType &type) {
    return !type.shape.empty() && (type.element == DataType::F32 || type.element == DataType::F64 ||
                                   type.element == DataType::I32 || type.element == DataType::I64);
  });
  if (!node)
    return;
  TensorType from = typeOf(*node), to = from;
  unsigned rank = from.shape.size();
  std::vector<unsigned> axes;
  unsigned axis = below(rank);
  axes.push_back(axis);
  if (rank > 1 && below(4) == 0)
    axes.push_back((axis + 1) % rank);
  llvm::sort(axes);
  to.shape.clear();
  for (unsigned i = 0; i < rank; ++i)
    if (!llvm::is_contained(axes, i))
      to.shape.push_back(from.shape[i]);
  std::string list, tuple;
  for (unsigned i : axes) {
    list += (list.empty() ? "" : ", ") + std::to_string(i);
  }
  tuple = axes.size() == 1 ? list : "(" + list + ")";
  const char *kind = pick({"sum", "sum", "max", "min"});
  bool isArg = false;
  if (has("reductions") && below(3) == 0) {
    isArg = axes.size() == 1 && below(2);
    kind = isArg ? pick({"argmax", "argmin"}) : "prod";
  }
  if (isArg)
    to.element = DataType::I32;
  unsigned reduced = addOp(to, {*node}, formatv("{0}($0, axis = {1})", kind, tuple).str(),
                           {formatv("atx.tile_reduce {0} %$0 axes [{1}] : $0t -> $t", kind, list).str()});
  // Often it is used with what it came from.
  if (axes.size() == 1 && !isArg && rank > 1 && below(2)) {
    unsigned back = stretch(reduced, from, axes.front());
    bool isF = isFloat(from.element);
    addOp(from, {*node, back}, "($0 - $1)",
          {isF ? "arith.subf %$0, %$1 fastmath<contract> : $t" : "arith.subi %$0, %$1 : $t"});
  }
}

void Generator::addShape() {
  std::optional<unsigned> node = find([](const TensorType &type) { return type.shape.size() == 2; });
  if (!node)
    return;
  TensorType from = typeOf(*node), to = from;
  switch (below(4)) {
  case 0: {
    // A slice of columns.
    int64_t begin = below(from.shape[1]), size = 1 + below(from.shape[1] - begin);
    to.shape[1] = size;
    addOp(
        to, {*node}, formatv("$0[:, {0} : {1}]", begin, begin + size).str(),
        {formatv(
             "vector.extract_strided_slice %$0 {{offsets = [0, {0}], sizes = [{1}, {2}], strides = [1, 1]} : $0t to $t",
             begin, from.shape[0], size)
             .str()});
    return;
  }
  case 1:
    if (!has("transpose"))
      return;
    // Rows are the axis of the grid in operators: they stay in front.
    if (isOperator())
      return;
    std::swap(to.shape[0], to.shape[1]);
    addOp(to, {*node}, "transpose($0, (1, 0))", {"vector.transpose %$0, [1, 0] : $0t to $t"});
    return;
  case 2: {
    if (!has("concat"))
      return;
    std::optional<unsigned> other = find([&](const TensorType &type) {
      return type.shape.size() == 2 && type.element == from.element && type.shape[0] == from.shape[0];
    });
    to.shape[1] += typeOf(*other).shape[1];
    if (to.shape[1] > 256)
      return;
    addOp(to, {*node, *other}, "concat(($0, $1), axis = 1)", {"atx.tile_concat %$0, %$1 axis 1 : $0t, $1t -> $t"});
    return;
  }
  default: {
    if (!has("reshape") || from.shape[1] % 2)
      return;
    to.shape = {from.shape[0], from.shape[1] / 2, 2};
    addOp(to, {*node},
          from.shape[0] == rowMarker ? formatv("reshape($0, (T, {0}, 2))", to.shape[1]).str()
                                     : formatv("reshape($0, ({0}, {1}, 2))", to.shape[0], to.shape[1]).str(),
          {"vector.shape_cast %$0 : $0t to $t"});
  }
  }
}

void Generator::addAlong() {
  std::optional<unsigned> node = find([](const TensorType &type) {
    return !type.shape.empty() && (type.element == DataType::F32 || type.element == DataType::I32);
  });
  if (!node)
    return;
  TensorType from = typeOf(*node), to = from;
  int64_t axis = from.shape.size() - 1;
  // In operators axis 0 is the one the grid runs over.
  if (isOperator() && axis == 0)
    return;
  switch (below(4)) {
  case 0: {
    if (!has("scan"))
      return;
    const char *kind = pick({"sum", "max", "min"});
    bool exclusive = below(2), reverse = below(2);
    std::string atx = formatv("cum{0}($0, axis = {1}{2}{3})", kind, axis, exclusive ? ", exclusive = true" : "",
                              reverse ? ", reverse = true" : "");
    std::string flags = exclusive && reverse ? " {exclusive, reverse}"
                        : exclusive          ? " {exclusive}"
                        : reverse            ? " {reverse}"
                                             : "";
    addOp(to, {*node}, atx, {formatv("atx.tile_scan {0} %$0 axis {1}{2} : $t", kind, axis, flags).str()});
    return;
  }
  case 1: {
    if (!has("topk"))
      return;
    int64_t k = 1 + below(from.shape[axis]);
    bool smallest = below(2);
    to.shape[axis] = k;
    TensorType indices = to;
    indices.element = DataType::I32;
    bool takesIndex = below(2);
    std::string types = getTileType(to) + ", " + getTileType(indices);
    // The language: smallest as an argument; one of both results is kept.
    std::string call = formatv("topk($0, {0}, axis = {1}{2})", k, axis, smallest ? ", smallest = true" : "");
    addOp(takesIndex ? indices : to, {*node}, (takesIndex ? "@1 " : "@0 ") + call,
          {formatv("#{0} atx.tile_topk %$0 k {1} axis {2}{3} : $0t -> {4}", takesIndex ? 1 : 0, k, axis,
                   smallest ? " {smallest}" : "", types)
               .str()});
    return;
  }
  case 2:
    if (!has("rank") || from.element != DataType::I32)
      return;
    addOp(to, {*node}, formatv("rank($0, axis = {0})", axis).str(),
          {formatv("atx.tile_rank %$0 axis {0} : $0t -> $t", axis).str()});
    return;
  default: {
    if (!has("take"))
      return;
    TensorType index = from;
    index.element = DataType::I32;
    index.shape[axis] = 1 + below(9);
    to.shape = index.shape;
    unsigned indices = addParameter(index, /*byRow=*/from.shape.size() > 1 && from.shape[0] == program.tileRows);
    program.nodes[indices].values = interp::ValueClass::SmallInt;
    // Indices outside of the axis too.
    program.nodes[indices].range = {-2, from.shape[axis] + 1};
    if (isOperator() && !program.nodes[indices].byRow)
      return;
    addOp(to, {*node, indices}, formatv("take($0, $1, axis = {0})", axis).str(),
          {formatv("atx.tile_take %$0, %$1 axis {0} : $0t, $1t -> $t", axis).str()});
  }
  }
}

void Generator::addDot() {
  if (!has("dot"))
    return;
  std::optional<unsigned> lhs = find([](const TensorType &type) {
    return type.shape.size() == 2 && (type.element == DataType::F32 || type.element == DataType::BF16 ||
                                      type.element == DataType::F16 || isSmallFloat(type.element));
  });
  if (!lhs)
    return;
  TensorType a = typeOf(*lhs), b = a;
  b.shape = {1 + below(20), a.shape[1]};
  if (!fillsBytes(b))
    return;
  unsigned rhs = addParameter(b, /*byRow=*/false);
  TensorType to;
  to.element = DataType::F32;
  to.shape = {a.shape[0], b.shape[0]};
  addOp(to, {*lhs, rhs}, "einsum(\"mk,nk->mn\", $0, $1)",
        {"%$r_z = arith.constant dense<0.0> : $t",
         "vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
         "affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"], kind = "
         "#vector.kind<add>} %$0, %$1, %$r_z : $0t, $1t into $t"});
}

/// A loop that carries a tile, and a branch inside of it.
void Generator::addLoop() {
  if (isOperator())
    return;
  std::optional<unsigned> node =
      find([](const TensorType &type) { return type.element == DataType::I32 || type.element == DataType::F32; });
  if (!node)
    return;
  TensorType type = typeOf(*node);
  unsigned other = findLike(*node);
  bool isF = isFloat(type.element);
  int64_t count = below(5);
  std::string add = isF ? "arith.addf" : "arith.addi", sub = isF ? "arith.maximumf" : "arith.maxsi";
  std::string t = getTileType(type);
  addOp(type, {*node, other}, formatv("!loop {0}", count).str(),
        {"%$r_b = arith.constant 0 : index", formatv("%$r_e = arith.constant {0} : index", count).str(),
         "%$r_1 = arith.constant 1 : index",
         "scf.for %$r_i = %$r_b to %$r_e step %$r_1 iter_args(%$r_x = %$0) -> ($t) {\n      %$r_c = arith.cmpi eq, "
         "%$r_i, "
         "%$r_1 : index\n      %$r_y = scf.if %$r_c -> ($t) {\n        %$r_p = " +
             add + " %$r_x, %$1 : $t\n        scf.yield %$r_p : $t\n      } else {\n        %$r_q = " + sub +
             " %$r_x, %$1 : $t\n        scf.yield %$r_q : $t\n      }\n      scf.yield %$r_y : $t\n    }"});
}

void Generator::addHistogram() {
  if (!has("histogram") || isOperator())
    return;
  std::optional<unsigned> node =
      find([](const TensorType &type) { return !type.shape.empty() && type.element == DataType::I32; });
  if (!node)
    return;
  TensorType to;
  to.element = DataType::I32;
  to.shape = {1 + below(20)};
  addOp(to, {*node}, formatv("histogram($0, {0})", to.shape[0]).str(), {"atx.tile_histogram %$0 : $0t -> $t"});
}

/// Positions along an axis, each once.
std::string Generator::drawPermutation(int64_t extent) {
  int64_t factor = 1 + below(std::min<int64_t>(extent, 40)), shift = below(extent);
  while (std::gcd(factor, extent) != 1)
    ++factor;
  if (below(3) == 0)
    return formatv("({0} - iota({1}))", extent - 1, extent);
  return formatv("((iota({1}) * {0} + {2}) % {1})", factor, extent, shift);
}

std::string Generator::drawPermutations(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    text += (axis ? ", " : "") + drawPermutation(shape[axis]);
    if (shape.size() == 1)
      continue;
    text += "[";
    for (unsigned other = 0; other < shape.size(); ++other)
      text += std::string(other ? ", " : "") + (other == axis ? ":" : "None");
    text += "]";
  }
  return text;
}

/// What other work-items have written and read: every statement is done before the next.
void Generator::addMemory() {
  if (!has("memory") || program.form != Form::Kernel)
    return;
  int64_t choice = below(6);
  // Atomic operations are those whose order does not matter.
  static const char *kinds[] = {"add", "max", "min", "and", "or", "xor"};
  const char *kind = kinds[below(std::size(kinds))];
  auto isWord = [](const TensorType &type) {
    return !type.shape.empty() &&
           (type.element == DataType::I32 || type.element == DataType::U32 || type.element == DataType::I64);
  };
  if (choice >= 3) {
    std::optional<unsigned> node = find([&](const TensorType &type) {
      return choice == 5 ? !type.shape.empty() && type.element == DataType::I32 : isWord(type);
    });
    if (!node)
      return;
    TensorType type = typeOf(*node);
    unsigned value = findLike(*node);
    std::string all, at = drawPermutations(type.shape);
    for (unsigned axis = 0; axis < type.shape.size(); ++axis)
      all += axis ? ", :" : ":";
    std::string shape;
    for (int64_t extent : type.shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    if (choice == 3) {
      // What memory holds before and behind, each element once.
      addBlock(type, {*node, value},
               formatv("let $r_s = shared($e[{0}])\nstore($r_s[{1}], $0)\nlet $r_o = atomic_{2}($r_s[{3}], $1)\n"
                       "let $r = $r_o ^ load($r_s[{1}])",
                       shape, all, kind, at)
                   .str());
      return;
    }
    int64_t bins = int64_t(1) << below(6);
    TensorType counts = type;
    counts.shape = {bins};
    if (choice == 4 || below(2)) {
      addBlock(counts, {*node, value},
               formatv("let $r_s = shared($e[{0}])\nstore($r_s[:], {1})\natomic_{2}($r_s[i32($0) & {3}], $1)\n"
                       "let $r = load($r_s[:])",
                       bins, 5, kind, bins - 1)
                   .str());
      return;
    }
    // A result that all workgroups add to.
    unsigned result = addOp(counts, {*node, value}, formatv("!global {0} {1}", kind, bins - 1).str(), {});
    program.nodes[result].isResult = true;
    program.results.push_back(result);
    return;
  }
  // Packed elements share bytes, which one store must own.
  std::optional<unsigned> node = find([](const TensorType &type) {
    return !type.shape.empty() && type.element != DataType::I1 && getElementsPerUnit(type.element) == 1;
  });
  if (!node)
    return;
  TensorType type = typeOf(*node);
  std::string all, shape;
  for (int64_t extent : type.shape) {
    all += all.empty() ? ":" : ", :";
    shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  }
  std::string setUp = formatv("let $r_s = shared($e[{0}])\nstore($r_s[{1}], $0)\n", shape, all).str();
  if (choice == 0) {
    // Read and written by permutations, in place in a loop.
    std::string read = drawPermutations(type.shape), write = drawPermutations(type.shape);
    addBlock(type, {*node},
             setUp + formatv("for $r_i in range({0}) {{\n  let $r_v = gather($r_s[{1}])\n  scatter($r_s[{2}], $r_v)\n"
                             "}\nlet $r = load($r_s[{3}])",
                             below(4), read, write, drawPermutations(type.shape))
                         .str());
    return;
  }
  if (choice == 1) {
    // A trip count and a condition that are overwritten while they are used.
    unsigned other = findLike(*node);
    addBlock(type, {*node, other},
             formatv("let $r_n = shared(i32[2])\nstore($r_n[:], iota(2) + {0})\nvar $r = $0\n"
                     "for $r_i in range($r_n[0]) {{\n  store($r_n[0], $r_n[1] + $r_i)\n  if $r_n[0] > {1} {{\n"
                     "    $r = $1\n    store($r_n[1], {2})\n  }\n}",
                     below(4), below(6), below(9))
                 .str());
    return;
  }
  // Rows of a tensor by an index that may be outside.
  std::optional<unsigned> index =
      find([](const TensorType &type) { return !type.shape.empty() && type.element == DataType::I32; });
  if (!index)
    return;
  TensorType table;
  table.element = pick({DataType::F32, DataType::I32, DataType::BF16, DataType::U8, DataType::I64});
  table.shape = {1 + below(40)};
  unsigned tensor = addParameter(table, /*byRow=*/false);
  TensorType to = typeOf(*index);
  to.element = table.element;
  addBlock(to, {*index, tensor}, formatv("let $r = gather($x1[$0 & {0}])", (int64_t(1) << below(7)) - 1).str());
}

void Generator::addWhile() {
  if (!has("while") || program.form != Form::Kernel)
    return;
  std::optional<unsigned> node =
      find([](const TensorType &type) { return type.element == DataType::I32 || type.element == DataType::F32; });
  if (!node)
    return;
  unsigned other = findLike(*node);
  // How often is known when it runs.
  addBlock(typeOf(*node), {*node, other},
           formatv("var $r = $0\nvar $r_n = {0} + num_blocks() % 3\nwhile $r_n > 1 && $r_n != 7 {{\n"
                   "  if $r_n % 2 == 0 {{\n    $r_n = $r_n / 2\n    $r = $r + $1\n  } else {{\n"
                   "    $r_n = 3 * $r_n + 1\n    $r = max($r, $1)\n  }\n}",
                   1 + below(12))
               .str());
}

void Generator::addStep() {
  switch (below(16)) {
  case 12:
    return addHistogram();
  case 13:
  case 14:
    return addMemory();
  case 15:
    return addWhile();
  case 0:
  case 1:
  case 2:
    return addBinary();
  case 3:
    return addUnary();
  case 4:
    return addCompare();
  case 5:
  case 6:
    return addCast();
  case 7:
    return addReduce();
  case 8:
    return addShape();
  case 9:
    return addAlong();
  case 10:
    return addDot();
  default:
    return addLoop();
  }
}

void Generator::run() {
  columns = pick({1, 2, 3, 5, 8, 16, 17, 33, 64, 80, 96});
  program.tileRows = isOperator() ? rowMarker : pick({1, 2, 3, 5, 8, 16});
  program.rows = isOperator() ? 1 + below(20) : 1 + below(3 * program.tileRows);
  program.threads = pick({64, 128, 256, 512});
  unsigned parameters = 1 + below(3);
  for (unsigned i = 0; i < parameters; ++i) {
    TensorType type;
    type.element = pick({DataType::F32, DataType::F32, DataType::F32, DataType::BF16, DataType::F16, DataType::I32,
                         DataType::I32, DataType::I64, DataType::U8, DataType::U32, DataType::I8});
    if (has("f64") && below(10) == 0)
      type.element = DataType::F64;
    int64_t kind = below(6);
    if (has("packed") && kind != 0 && columns % 4 == 0 && below(8) == 0)
      type.element = pick({DataType::E2M1FN, DataType::E2M3FN, DataType::E3M2FN});
    type.shape = {program.tileRows, columns};
    if (kind == 0)
      type.shape = {program.tileRows};
    addParameter(type, /*byRow=*/true);
  }
  unsigned steps = 3 + below(10);
  for (unsigned i = 0; i < steps; ++i)
    addStep();
  // The last values, those nothing uses first.
  std::vector<bool> used(program.nodes.size());
  for (const Node &node : program.nodes)
    for (unsigned operand : node.operands)
      used[operand] = true;
  for (unsigned i = program.nodes.size(); i-- > 0 && program.results.size() < 3;)
    if (!used[i] && !program.nodes[i].isResult && fillsBytes(program.nodes[i].type) &&
        (!program.nodes[i].isParameter || program.results.empty()))
      program.results.push_back(i);
  for (unsigned i = program.nodes.size(); i-- > 0 && program.results.empty();)
    if (!program.nodes[i].isResult && fillsBytes(program.nodes[i].type))
      program.results.push_back(i);
}
} // namespace

Program Program::generate(uint64_t seed, Form form, const std::set<std::string> &features) {
  Program program;
  program.form = form;
  program.seed = seed;
  Generator(program, seed, features).run();
  return program;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::vector<bool> Program::getLive() const {
  std::vector<bool> live(nodes.size());
  for (unsigned result : results)
    live[result] = true;
  // The first parameter says what T is.
  live[0] = true;
  for (size_t i = nodes.size(); i-- > 0;)
    if (live[i])
      for (unsigned operand : nodes[i].operands)
        live[operand] = true;
  return live;
}

size_t Program::countLive() const {
  size_t count = 0;
  for (auto [node, live] : llvm::zip(nodes, getLive()))
    count += live && !node.isParameter;
  return count;
}

/// Extents as the language writes them; rows of operators are a dimension.
static std::vector<std::string> getExtents(const Program &program, const TensorType &type, bool byRow) {
  std::vector<std::string> extents;
  for (auto [axis, extent] : llvm::enumerate(type.shape))
    extents.push_back(byRow && axis == 0 ? "T" : std::to_string(extent));
  return extents;
}

std::string Program::printAtx() const {
  std::vector<bool> live = getLive();
  bool isKernel = form == Form::Kernel;
  std::string params, outs, body, grid = formatv("cdiv(T, {0})", tileRows);
  auto typeText = [](DataType element, llvm::ArrayRef<std::string> extents) {
    return getName(element).str() + "[" + joinShape(extents) + "]";
  };
  for (auto [i, node] : llvm::enumerate(nodes)) {
    if (!live[i])
      continue;
    std::string name = "v" + std::to_string(i);
    if (node.isParameter) {
      std::string tensor = isKernel ? "x" + std::to_string(i) : name;
      params += (params.empty() ? "" : ", ") + tensor + ": " +
                typeText(node.type.element, getExtents(*this, node.type, node.byRow));
      if (isKernel) {
        std::string subscript;
        for (unsigned axis = 0; axis < node.type.shape.size(); ++axis)
          subscript += std::string(axis ? ", " : "") +
                       (node.byRow && axis == 0 ? formatv("b * {0} : b * {0} + {0}", tileRows).str() : ":");
        body += formatv("  let {0} = load({1}[{2}])\n", name, tensor, subscript);
      }
      continue;
    }
    std::vector<std::string> names;
    std::vector<const Node *> operands;
    for (unsigned operand : node.operands) {
      names.push_back("v" + std::to_string(operand));
      operands.push_back(&nodes[operand]);
    }
    llvm::StringRef text = node.atx;
    if (text.consume_front("!loop ")) {
      body += formatv(
          "  var {0} = {1}\n  for i{0} in range(0, {3}) {{\n    if i{0} == 1 {{\n      {0} = {0} + {2}\n    } else "
          "{{\n      {0} = max({0}, {2})\n    }\n  }\n",
          name, names[0], names[1], text);
      continue;
    }
    if (text.consume_front("!block ")) {
      llvm::SmallVector<llvm::StringRef> lines;
      llvm::StringRef(text).split(lines, '\n');
      for (llvm::StringRef line : lines)
        body += "  " + expand(line, node, name, names, operands) + "\n";
      continue;
    }
    if (text.consume_front("!global ")) {
      auto [kind, mask] = text.split(' ');
      body += formatv("  atomic_{0}(g{1}[i32({2}) & {3}], {4})\n", kind, i, names[0], mask, names[1]);
      continue;
    }
    std::string pattern = name;
    if (text.consume_front("@0 "))
      pattern = "(" + name + ", _)";
    else if (text.consume_front("@1 "))
      pattern = "(_, " + name + ")";
    body += "  let " + pattern + " = " + expand(text, node, name, names, operands) + "\n";
  }
  for (auto [number, result] : llvm::enumerate(results)) {
    const Node &node = nodes[result];
    if (node.isResult) {
      outs += formatv("{0}g{1}: {2}", outs.empty() ? "" : ", ", result,
                      typeText(node.type.element, getExtents(*this, node.type, false)));
      continue;
    }
    std::string name = "r" + std::to_string(number);
    std::vector<std::string> extents =
        getExtents(*this, node.type, !isKernel && !node.type.shape.empty() && node.type.shape[0] == tileRows);
    std::string value = "v" + std::to_string(result);
    if (isKernel) {
      extents.insert(extents.begin(), grid);
      std::string subscript = "b";
      for (size_t axis = 0; axis < node.type.shape.size(); ++axis)
        subscript += ", :";
      body += formatv("  store({0}[{1}], {2})\n", name, subscript, value);
    } else {
      body += formatv("  {0} = {1}\n", name, value);
    }
    outs += (outs.empty() ? "" : ", ") + name + ": " + typeText(node.type.element, extents);
  }
  if (!isKernel)
    return formatv("// seed {3}\nop f({0}) -> ({1}) {{\n{2}}\n", params, outs, body, seed);
  return formatv("// seed {5}\nkernel f({0}) -> ({1})\n  threads {2}\n  grid ({3})\n{{\n  let b = block_id()\n{4}}\n",
                 params, outs, threads, grid, body, seed);
}

std::string Program::printTile() const {
  std::vector<bool> live = getLive();
  std::string args, body;
  std::string grid = formatv("cdiv(T, {0})", tileRows);
  auto memref = [](DataType element, llvm::ArrayRef<std::string> extents) {
    std::string text = "memref<";
    for (const std::string &extent : extents)
      text += (extent.find_first_not_of("0123456789") == std::string::npos ? extent : std::string("?")) + "x";
    return text + getTileElement(element) + ">";
  };
  auto argument = [&](const std::string &name, DataType element, llvm::ArrayRef<std::string> extents, bool isOutput) {
    std::string shape;
    for (const std::string &extent : extents)
      shape += (shape.empty() ? "\"" : ", \"") + extent + "\"";
    std::string attributes = formatv("atx.name = \"{0}\", atx.shape = [{1}]", name, shape);
    if (isUnsigned(element))
      attributes += formatv(", atx.type = {0}", element == DataType::U8 ? "ui8" : "ui32");
    if (isOutput)
      attributes += ", atx.output";
    args += formatv("{0}%{1}: {2} {{{3}}", args.empty() ? "" : ", ", name, memref(element, extents), attributes);
  };
  // An index tile along each axis of a tile of `shape`.
  auto indices = [&](const std::string &prefix, llvm::ArrayRef<int64_t> shape, const std::string &first,
                     std::vector<std::string> &names, std::vector<std::string> &types) {
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      std::string name = formatv("%{0}_i{1}", prefix, axis);
      std::string flat = formatv("vector<{0}xi32>", extent);
      std::string spread = "vector<";
      for (size_t other = 0; other < shape.size(); ++other)
        spread += (other == axis ? std::to_string(extent) : std::string("1")) + "x";
      spread += "i32>";
      body += formatv("    {0}f = atx.tile_iota : {1}\n", name, flat);
      std::string value = name + "f";
      if (axis == 0 && !first.empty()) {
        body += formatv("    {0}s = vector.broadcast {1} : i32 to {2}\n    {0}o = arith.addi {0}f, {0}s : {2}\n", name,
                        first, flat);
        value = name + "o";
      }
      body += formatv("    {0} = vector.shape_cast {1} : {2} to {3}\n", name, value, flat, spread);
      names.push_back(name);
      types.push_back(spread);
    }
  };
  for (auto [i, node] : llvm::enumerate(nodes)) {
    if (!live[i])
      continue;
    std::string name = "v" + std::to_string(i);
    if (node.isParameter) {
      std::string tensor = "x" + std::to_string(i);
      std::vector<std::string> extents = getExtents(*this, node.type, node.byRow);
      argument(tensor, node.type.element, extents, false);
      std::vector<std::string> names, types;
      indices(name, node.type.shape, node.byRow ? "%row" : "", names, types);
      body += formatv("    %{0} = atx.tile_load %{1}[{2}] : {3}{4}{5} -> {6}\n", name, tensor, joinShape(names),
                      memref(node.type.element, extents), types.empty() ? "" : ", ", joinShape(types),
                      getTileType(node.type));
      continue;
    }
    std::vector<std::string> names;
    std::vector<const Node *> operands;
    for (unsigned operand : node.operands) {
      names.push_back("v" + std::to_string(operand));
      operands.push_back(&nodes[operand]);
    }
    for (auto [number, line] : llvm::enumerate(node.tile)) {
      llvm::StringRef text = line;
      std::string left;
      if (number + 1 == node.tile.size()) {
        left = "%" + name + " = ";
        if (text.consume_front("#0 "))
          left = "%" + name + ", %" + name + "_other = ";
        else if (text.consume_front("#1 "))
          left = "%" + name + "_other, %" + name + " = ";
      }
      body += "    " + left + expand(text, node, name, names, operands) + "\n";
    }
  }
  for (auto [number, result] : llvm::enumerate(results)) {
    const Node &node = nodes[result];
    std::string name = "r" + std::to_string(number);
    std::vector<std::string> extents = getExtents(*this, node.type, false);
    extents.insert(extents.begin(), grid);
    argument(name, node.type.element, extents, true);
    std::vector<std::string> names = {"%b"}, types = {"i32"};
    indices(name, node.type.shape, "", names, types);
    body += formatv("    atx.tile_store %v{0}, %{1}[{2}] : {3}, {4}, {5}\n", result, name, joinShape(names),
                    getTileType(node.type), memref(node.type.element, extents), joinShape(types));
  }
  return formatv(
      "// seed {0}\nmodule {{\n  func.func @f({1}, %T: index {{atx.name = \"T\"}) attributes {{atx.kernel, atx.dims = "
      "[\"T\"], atx.constraints = [], atx.grid = [\"{2}\", \"1\", \"1\"], atx.threads = {3} : i64} {{\n"
      "    %bx = gpu.block_id x\n    %b = arith.index_cast %bx : index to i32\n    %n = arith.constant {4} : "
      "i32\n    %row = arith.muli %b, %n : i32\n{5}    return\n  }\n}\n",
      seed, args, grid, threads, tileRows, body);
}

std::string Program::print() const { return form == Form::Tile ? printTile() : printAtx(); }

interp::JudgeOptions Program::getOptions() const {
  interp::JudgeOptions options;
  options.sizes["T"] = rows;
  options.seed = seed;
  options.maxSteps = uint64_t(1) << 30;
  std::vector<bool> live = getLive();
  for (auto [i, node] : llvm::enumerate(nodes)) {
    if (!live[i] || !node.isParameter)
      continue;
    std::string name = (form == Form::Operator ? "v" : "x") + std::to_string(i);
    options.classes[name] = node.values;
    if (node.range)
      options.ranges[name] = *node.range;
  }
  return options;
}

//===----------------------------------------------------------------------===//
// Shrinking
//===----------------------------------------------------------------------===//

std::vector<Program> Program::shrink() const {
  std::vector<Program> smaller;
  // One result alone.
  if (results.size() > 1)
    for (unsigned result : results) {
      Program program = *this;
      program.results = {result};
      smaller.push_back(std::move(program));
    }
  std::vector<bool> live = getLive();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!live[i] || nodes[i].isParameter)
      continue;
    // A value becomes a result instead of what uses it.
    if (!llvm::is_contained(results, i) && results.size() == 1) {
      Program program = *this;
      program.results = {static_cast<unsigned>(i)};
      smaller.push_back(std::move(program));
    }
    // A value becomes an operand of its own type.
    for (unsigned operand : nodes[i].operands)
      if (nodes[operand].type == nodes[i].type) {
        Program program = *this;
        for (Node &node : program.nodes)
          for (unsigned &use : node.operands)
            if (use == i)
              use = operand;
        for (unsigned &use : program.results)
          if (use == i)
            use = operand;
        smaller.push_back(std::move(program));
      }
    // A value becomes a parameter, its history goes.
    if (!llvm::is_contained(results, i)) {
      Program program = *this;
      Node &node = program.nodes[i];
      node.isParameter = true;
      node.operands.clear();
      node.byRow = !node.type.shape.empty() && node.type.shape[0] == tileRows;
      smaller.push_back(std::move(program));
    }
  }
  if (rows > 1 && form != Form::Operator) {
    Program program = *this;
    program.rows = std::min(rows - 1, tileRows);
    smaller.push_back(std::move(program));
  }
  return smaller;
}
