//===- Printer.cpp - Kernel language text of MLIR -------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three steps per function. Groups of operations that the lowering makes of one
// function of the language (a rounded-down quotient, `sigmoid`) are recognised:
// the group is built again from what seem to be its operands and compared. Then
// the uses that the text will have are counted, from the effects backwards. Then
// the text is made in order: a value with a name, or with several uses, becomes
// a `let`, others go into the expression that uses them.
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Printer.h"
#include "ElementwiseLowering.h"
#include "atrex/Frontend/Builtins.h"
#include "atrex/Frontend/Lexer.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace atrex;
using namespace atrex::frontend;
using namespace mlir;
using mlir::Value;

namespace {
/// Strength of operators as in docs/language.md.
enum Strength : int { OrOr = 1, AndAnd, Comparison, Or, Xor, And, Shift, Sum, Product, Prefix, Atom };

using ShapeText = SmallVector<std::string, 4>;

/// Text of a value.
struct Expr {
  std::string text;
  int strength = Atom;
  DataType type = DataType::F32;
  ShapeText shape;
  /// A number without a type of its own.
  bool isLiteral = false;
  /// Reads memory, so it must not move behind a write.
  bool reads = false;
  /// Variables that the text mentions.
  llvm::StringSet<> variables;

  std::string at(int minimum) const { return strength >= minimum ? text : "(" + text + ")"; }
};

/// Operations that are one function of the language.
struct Group {
  Elementwise kind;
  DataType operandType, resultType;
  SmallVector<Value, 3> operands;
};

/// A slice `begin : begin + length` of a memory axis; all of it where `isFull`.
struct Slice {
  Value begin;
  int64_t offset = 0, length = 0;
  bool isFull = false;
};

std::optional<DataType> getDataType(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIndex())
    return DataType::I64;
  if (type.isUnsignedInteger(8))
    return DataType::U8;
  if (type.isUnsignedInteger(32))
    return DataType::U32;
  for (DataType candidate : {DataType::I1, DataType::I8, DataType::I16, DataType::I32, DataType::I64, DataType::BF16,
                             DataType::F16, DataType::F32, DataType::F64, DataType::E4M3FN, DataType::E4M3FNUZ,
                             DataType::E5M2, DataType::E5M2FNUZ, DataType::E2M1FN, DataType::E2M3FN, DataType::E3M2FN})
    if (getMLIRType(type.getContext(), candidate) == type)
      return candidate;
  return std::nullopt;
}

DataType withSign(DataType type, bool isUnsigned) {
  if (isUnsigned)
    return type == DataType::I8 ? DataType::U8 : type == DataType::I32 ? DataType::U32 : type;
  return type == DataType::U8 ? DataType::I8 : type == DataType::U32 ? DataType::I32 : type;
}

std::string number(int64_t value) { return std::to_string(value); }

/// The shortest text that is the same number in its type.
std::string printFloat(const llvm::APFloat &value) {
  if (value.isNaN())
    return "nan";
  if (value.isInfinity())
    return value.isNegative() ? "-inf" : "inf";
  llvm::APFloat wide = value;
  bool losesInfo;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  char buffer[64];
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(buffer, sizeof(buffer), "%.*g", digits, wide.convertToDouble());
    llvm::APFloat again(strtod(buffer, nullptr));
    again.convert(value.getSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    if (again.bitwiseIsEqual(value))
      break;
  }
  std::string text = buffer;
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::optional<ShapeText> broadcastShapes(const ShapeText &a, const ShapeText &b) {
  const ShapeText &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  ShapeText result(longer);
  size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    if (result[offset + i] == "1")
      result[offset + i] = shorter[i];
    else if (shorter[i] != "1" && shorter[i] != result[offset + i])
      return std::nullopt;
  }
  return result;
}

std::string tuple(ArrayRef<std::string> items) {
  return "(" + llvm::join(items, ", ") + (items.size() == 1 ? ",)" : ")");
}

std::string list(ArrayRef<std::string> items) { return llvm::join(items, ", "); }

class FunctionPrinter {
public:
  /// `symbols` holds the names that functions have in the text.
  FunctionPrinter(func::FuncOp function, std::string &out, const llvm::StringMap<std::string> &symbols)
      : function(function), out(out), symbols(symbols), b(function.getContext()) {}
  LogicalResult run();

private:
  //===--- Errors and names -----------------------------------------------===//

  Expr fail(Operation *op, const Twine &why = "") {
    if (!hasFailed)
      op->emitError() << "'" << op->getName() << "' has no form in the kernel language" << why;
    hasFailed = true;
    return {"0", Atom, DataType::I32, {}, true, false, {}};
  }
  std::string makeUnique(StringRef base) {
    std::string name;
    for (char c : base)
      name += llvm::isAlnum(c) || c == '_' ? c : '_';
    if (name.empty() || llvm::isDigit(name.front()) || name == "_")
      name = "v" + name;
    std::string candidate = name;
    for (unsigned i = 1; isReservedWord(candidate) || lookupBuiltin(candidate) || parseDataType(candidate) ||
                         llvm::is_contained({"where", "range", "threads", "knobs", "grid", "count", "step", "T", "in",
                                             "strides", "align", "dim", "type"},
                                            candidate) ||
                         !names.insert(candidate).second;
         ++i)
      candidate = name + "_" + number(i);
    return candidate;
  }
  static StringRef getName(Location loc) {
    if (auto call = dyn_cast<CallSiteLoc>(loc))
      return getName(call.getCallee());
    if (auto name = dyn_cast<NameLoc>(loc))
      return name.getName().getValue();
    return {};
  }
  static StringRef getName(Value value) { return getName(value.getLoc()); }

  //===--- Analysis -------------------------------------------------------===//

  void findGroups();
  void findSlices(Operation *op, ValueRange indices, MemRefType memory);
  bool isSame(Value built, Value value, Block *scratch, int depth);
  template <typename Build> bool isBuiltAs(Value value, Build build);
  bool matchGroup(Operation *op);
  /// Values that the text of `op` mentions.
  SmallVector<Value> getPrintedOperands(Operation *op);
  bool isAlwaysInline(Operation *op);
  void addUse(Value value, Operation *user);
  void countUses(Block &block);
  bool isLive(Operation *op);

  //===--- Text -----------------------------------------------------------===//

  void line(const Twine &text) { out.append(indent, ' ').append(text.str()).append("\n"); }
  ShapeText getShape(Value value);
  DataType getType(Value value) {
    if (std::optional<DataType> type = getDataType(value.getType()))
      return *type;
    if (!hasFailed)
      emitError(value.getLoc()) << "type " << value.getType() << " has no form in the kernel language";
    hasFailed = true;
    return DataType::F32;
  }
  std::optional<std::pair<std::string, int>> getDim(Value value);
  std::string getDimText(OpFoldResult value, Operation *op);
  Expr get(Value value);
  /// The operand of an elementwise operation: broadcasts are implied.
  Expr getElement(Value value);
  std::optional<Expr> getLiteral(Value value);
  Expr makeTyped(Value value, const Expr &literal);
  Expr as(Expr expr, DataType type);
  Expr call(StringRef name, ArrayRef<Expr> args, DataType type, ShapeText shape, const Twine &rest = "");
  /// `values` in one type: that of the first that is no literal, or `type`.
  SmallVector<Expr> unify(ArrayRef<Value> values, std::optional<bool> isUnsigned = std::nullopt);
  Expr binary(StringRef op, int strength, ArrayRef<Expr> operands, std::optional<DataType> type = std::nullopt);
  Expr prefix(StringRef op, const Expr &operand);
  /// `expr` repeated to `shape` where operands did not reach it.
  Expr fit(Expr expr, const ShapeText &shape);
  Expr printGroup(const Group &group);
  std::optional<Expr> printElementwise(Operation *op);
  std::optional<Expr> printTileOp(Operation *op);
  std::optional<Expr> printTensorOp(Operation *op);
  Expr printReduce(StringRef name, Value input, ArrayRef<int64_t> axes, DataType type, bool isUnsigned, Value result);
  Expr printScan(Operation *op, atx::TileScanKind kind, Value input, int64_t axis, bool exclusive, bool reverse);
  Expr printView(Operation *op, Value memory, ValueRange indices);
  Expr printEinsum(Operation *op, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, DataType acc);
  std::string printRaw(atx::TileRawOp op);
  DataType getMemoryType(Value memory);
  std::string getMemoryName(Value memory, Operation *op);

  void define(Value value, Expr expr);
  Expr bind(Value value, Expr expr, StringRef name);
  void flush(bool all);
  void printBlock(Block &block);
  void printOp(Operation *op);
  void printFor(scf::ForOp op);
  void printWhile(scf::WhileOp op);
  void printIf(scf::IfOp op);
  void printGeneric(linalg::GenericOp op);
  bool printReduction(linalg::GenericOp op);
  Expr adapt(const Expr &input, AffineMap map, const ShapeText &loops, Operation *op);
  bool isDeadBehind(Value value, Operation *op);
  std::string declareVariable(Value init, Value arg, Value result, Operation *op, ArrayRef<std::string> taken);
  void assign(ArrayRef<std::string> variables, ArrayRef<Value> values, Operation *op);
  std::string describeType(Value value);
  LogicalResult printHeader(bool isKernel);

  //===--- Plans ----------------------------------------------------------===//

  LogicalResult runPlan();
  void printLaunch(atx::LaunchOp launch, func::FuncOp callee);
  std::string printKernelLaunch(atx::LaunchOp launch, func::FuncOp callee);
  SmallVector<Expr> printPart(atx::LaunchOp launch, func::FuncOp callee);
  Expr getArgument(Value value, Operation *op);
  void defineMemory(Value memory, const std::string &name, func::FuncOp callee, unsigned index);
  bool isReadByLaunch(Value memory);

  func::FuncOp function;
  std::string &out;
  const llvm::StringMap<std::string> &symbols;
  OpBuilder b;
  unsigned indent = 0;
  bool hasFailed = false;
  llvm::StringSet<> names;
  DenseMap<Operation *, Group> groups;
  DenseMap<Operation *, SmallVector<std::optional<Slice>, 4>> slices;
  DenseMap<Value, SmallVector<Operation *, 2>> uses;
  DenseMap<Value, Expr> exprs;
  /// Expressions that wait for their one use, in order.
  SmallVector<Value> pending;
  DenseMap<Value, std::string> memories;
  DenseMap<Value, DataType> memoryTypes;
  /// Names of the workgroup's position and of the grid's extents.
  std::string blockIds[3], gridDims[3];
  /// Extents of the loops around the operations of a `linalg.generic`.
  ShapeText loopShape;
  bool isInBody = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

bool FunctionPrinter::isSame(Value built, Value value, Block *scratch, int depth) {
  if (built == value)
    return true;
  Operation *a = built.getDefiningOp(), *c = value.getDefiningOp();
  if (!a || !c || a->getBlock() != scratch || depth == 0 || a->getName() != c->getName() ||
      a->getNumOperands() != c->getNumOperands() || a->getResultTypes() != c->getResultTypes() || a->getNumRegions() ||
      a->getDiscardableAttrDictionary() != c->getDiscardableAttrDictionary() ||
      a->getPropertiesAsAttribute() != c->getPropertiesAsAttribute())
    return false;
  for (auto [x, y] : llvm::zip_equal(a->getOperands(), c->getOperands()))
    if (!isSame(x, y, scratch, depth - 1))
      return false;
  return true;
}

template <typename Build> bool FunctionPrinter::isBuiltAs(Value value, Build build) {
  Block scratch;
  OpBuilder inside(function.getContext());
  inside.setInsertionPointToStart(&scratch);
  ElementwiseBuilder builder(inside, inside.getUnknownLoc());
  Value built = build(builder);
  bool same = built && built.getType() == value.getType() && isSame(built, value, &scratch, 16);
  scratch.dropAllDefinedValueUses();
  while (!scratch.empty()) {
    scratch.back().dropAllUses();
    scratch.back().erase();
  }
  return same;
}

bool FunctionPrinter::matchGroup(Operation *op) {
  if (!isa<arith::SelectOp, arith::ShRSIOp, arith::DivFOp, arith::AddFOp>(op) || op->getNumResults() != 1)
    return false;
  // The operations behind this one, a few levels deep.
  SmallVector<Operation *> reached{op};
  for (unsigned begin = 0, level = 0; level < 9 && begin < reached.size() && reached.size() < 64; ++level)
    for (unsigned end = reached.size(); begin < end; ++begin)
      for (Value operand : reached[begin]->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && source->getBlock() == op->getBlock() && !llvm::is_contained(reached, source))
          reached.push_back(source);
  Value root = op->getResult(0);
  std::optional<DataType> rootType = getDataType(root.getType());
  if (!rootType)
    return false;
  auto attempt = [&](Elementwise kind, DataType operandType, DataType resultType, ArrayRef<Value> operands) {
    bool matches = isBuiltAs(
        root, [&](ElementwiseBuilder &builder) { return builder.create(kind, operandType, resultType, operands); });
    if (matches)
      groups[op] = {kind, operandType, resultType, SmallVector<Value, 3>(operands)};
    return matches;
  };
  auto unselected = [](Value value) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    return select ? select.getFalseValue() : Value();
  };
  for (Operation *core : reached) {
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemUIOp>(core)) {
      DataType type = withSign(*rootType, !isa<arith::DivSIOp>(core));
      if (Value rhs = unselected(core->getOperand(1)))
        for (Elementwise kind : {Elementwise::Div, Elementwise::Mod})
          if (attempt(kind, type, type, {core->getOperand(0), rhs}))
            return true;
    } else if (isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(core)) {
      DataType type = withSign(*rootType, isa<arith::ShRUIOp>(core));
      auto select = core->getOperand(1).getDefiningOp<arith::SelectOp>();
      if (select && attempt(isa<arith::ShLIOp>(core) ? Elementwise::ShiftLeft : Elementwise::ShiftRight, type, type,
                            {core->getOperand(0), select.getTrueValue()}))
        return true;
    } else if (isa<arith::FPToSIOp, arith::FPToUIOp>(core) && isa<arith::SelectOp>(op)) {
      Value from = core->getOperand(0);
      if (std::optional<DataType> type = getDataType(from.getType()))
        if (attempt(Elementwise::Cast, *type, withSign(*rootType, isa<arith::FPToUIOp>(core)), {from}))
          return true;
    } else if (isa<math::Exp2Op>(core) && isa<arith::DivFOp>(op)) {
      if (auto product = core->getOperand(0).getDefiningOp<arith::MulFOp>())
        if (attempt(Elementwise::Sigmoid, *rootType, *rootType, {product.getLhs()}))
          return true;
    } else if (isa<math::Log1pOp>(core) && isa<arith::AddFOp>(op)) {
      if (auto linear = op->getOperand(0).getDefiningOp<arith::MaximumFOp>())
        if (attempt(Elementwise::Softplus, *rootType, *rootType, {linear.getLhs()}))
          return true;
    }
  }
  return false;
}

void FunctionPrinter::findGroups() {
  SmallVector<Operation *> candidates;
  function.walk([&](Operation *op) {
    if (op->getParentOfType<atx::TileRawOp>())
      return;
    candidates.push_back(op);
    if (auto load = dyn_cast<atx::TileLoadOp>(op))
      findSlices(op, load.getIndices(), cast<MemRefType>(load.getMemory().getType()));
    else if (auto store = dyn_cast<atx::TileStoreOp>(op))
      findSlices(op, store.getIndices(), cast<MemRefType>(store.getMemory().getType()));
    else if (auto atomic = dyn_cast<atx::TileAtomicOp>(op))
      findSlices(op, atomic.getIndices(), cast<MemRefType>(atomic.getMemory().getType()));
  });
  for (Operation *op : candidates)
    matchGroup(op);
}

/// Index tiles that count upwards along one axis each, the axes in order, are
/// slices.
void FunctionPrinter::findSlices(Operation *op, ValueRange indices, MemRefType memory) {
  SmallVector<std::optional<Slice>, 4> found;
  size_t numTiles = llvm::count_if(indices, [](Value index) { return isa<VectorType>(index.getType()); });
  size_t next = 0;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    auto type = dyn_cast<VectorType>(index.getType());
    if (!type) {
      found.push_back(std::nullopt);
      continue;
    }
    size_t position = next++;
    if (size_t(type.getRank()) != numTiles || !getName(index).empty())
      return;
    for (auto [i, extent] : llvm::enumerate(type.getShape()))
      if (i != position && extent != 1)
        return;
    Slice slice;
    slice.length = type.getDimSize(position);
    Value value = index;
    auto strip = [&] {
      if (auto shaped = value.getDefiningOp<vector::ShapeCastOp>())
        value = shaped.getSource();
    };
    strip();
    if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
      Value base = sum.getLhs(), rest = sum.getRhs();
      if (!rest.getDefiningOp<atx::TileIotaOp>() && !rest.getDefiningOp<vector::ShapeCastOp>())
        std::swap(base, rest);
      DenseElementsAttr splat;
      if (auto repeated = base.getDefiningOp<vector::BroadcastOp>();
          repeated && !isa<VectorType>(repeated.getSource().getType()))
        slice.begin = repeated.getSource();
      else if (matchPattern(base, m_Constant(&splat)) && splat.isSplat() && splat.getElementType().isInteger())
        slice.offset = splat.getSplatValue<llvm::APInt>().getSExtValue();
      else
        return;
      value = rest;
      strip();
    }
    if (!value.getDefiningOp<atx::TileIotaOp>() || slice.offset < 0)
      return;
    slice.isFull = !slice.begin && !slice.offset && memory.getDimSize(axis) == slice.length;
    found.push_back(slice);
  }
  if (numTiles)
    slices[op] = std::move(found);
}

SmallVector<Value> FunctionPrinter::getPrintedOperands(Operation *op) {
  auto group = groups.find(op);
  if (group != groups.end())
    return SmallVector<Value>(group->second.operands.begin(), group->second.operands.end());
  SmallVector<Value> values;
  // What is written to is no operand of the text.
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    for (OpOperand *input : structured.getDpsInputOperands())
      values.push_back(input->get());
    return values;
  }
  auto sliced = slices.find(op);
  unsigned first = isa<atx::TileLoadOp>(op) ? 1 : 2;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (sliced != slices.end() && i >= first && i - first < sliced->second.size() && sliced->second[i - first]) {
      if (Value begin = sliced->second[i - first]->begin)
        values.push_back(begin);
      continue;
    }
    values.push_back(operand);
  }
  return values;
}

bool FunctionPrinter::isAlwaysInline(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<memref::DimOp, tensor::DimOp, tensor::EmptyOp, gpu::BlockIdOp, gpu::GridDimOp, vector::BroadcastOp>(op) ||
         (op->getNumResults() == 1 && op->getResult(0).getType().isIndex() && getDim(op->getResult(0))) ||
         (isa<arith::IndexCastOp>(op) && op->getOperand(0).getType().isIndex() &&
          (getDim(op->getOperand(0)) ||
           isa_and_nonnull<gpu::BlockIdOp, gpu::GridDimOp>(op->getOperand(0).getDefiningOp())));
}

void FunctionPrinter::addUse(Value value, Operation *user) {
  if (Operation *source = value.getDefiningOp(); source && isAlwaysInline(source)) {
    uses[value].push_back(user);
    for (Value operand : source->getOperands())
      addUse(operand, user);
    return;
  }
  uses[value].push_back(user);
}

bool FunctionPrinter::isLive(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op) || (op->getNumRegions() && !isPure(op)))
    return true;
  return llvm::any_of(op->getResults(), [&](Value result) { return uses.contains(result); });
}

void FunctionPrinter::countUses(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    // Reads without use are left out.
    bool isDeadRead = isa<atx::TileLoadOp>(op) && !uses.contains(op.getResult(0));
    if (isDeadRead || !isLive(&op) || isAlwaysInline(&op))
      continue;
    if (!isa<atx::TileRawOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : llvm::reverse(region))
          countUses(inner);
    for (Value operand : getPrintedOperands(&op))
      addUse(operand, &op);
  }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

std::optional<std::pair<std::string, int>> FunctionPrinter::getDim(Value value) {
  using Result = std::optional<std::pair<std::string, int>>;
  IntegerAttr constant;
  if (!value.getType().isIndex())
    return std::nullopt;
  if (matchPattern(value, m_Constant(&constant)))
    return std::pair(number(constant.getInt()), constant.getInt() < 0 ? int(Prefix) : int(Atom));
  auto ofArgument = [&](BlockArgument arg, std::optional<int64_t> axis) -> Result {
    if (arg.getOwner() != &function.getBody().front())
      return std::nullopt;
    if (!axis) {
      if (auto name = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), atx::nameAttrName))
        return std::pair(name.getValue().str(), int(Atom));
      return std::nullopt;
    }
    auto shape = function.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), atx::shapeAttrName);
    if (!shape || *axis < 0 || *axis >= int64_t(shape.size()))
      return std::nullopt;
    std::string text = cast<StringAttr>(shape[*axis]).getValue().str();
    bool isAtom = llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    return std::pair(text, isAtom ? int(Atom) : 0);
  };
  if (auto arg = dyn_cast<BlockArgument>(value))
    return ofArgument(arg, std::nullopt);
  Operation *op = value.getDefiningOp();
  if (isa<memref::DimOp, tensor::DimOp>(op)) {
    if (!matchPattern(op->getOperand(1), m_Constant(&constant)))
      return std::nullopt;
    if (auto arg = dyn_cast<BlockArgument>(op->getOperand(0)))
      return ofArgument(arg, constant.getInt());
    return std::nullopt;
  }
  auto combine = [&](StringRef text, int strength) -> Result {
    auto lhs = getDim(op->getOperand(0)), rhs = getDim(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    auto wrap = [](const std::pair<std::string, int> &dim, int minimum) {
      return dim.second >= minimum ? dim.first : "(" + dim.first + ")";
    };
    if (text == "cdiv")
      return std::pair("cdiv(" + lhs->first + ", " + rhs->first + ")", int(Atom));
    return std::pair(wrap(*lhs, strength) + " " + text.str() + " " + wrap(*rhs, strength + 1), strength);
  };
  if (isa<arith::AddIOp>(op))
    return combine("+", Sum);
  if (isa<arith::SubIOp>(op))
    return combine("-", Sum);
  if (isa<arith::MulIOp>(op))
    return combine("*", Product);
  if (isa<arith::FloorDivSIOp>(op))
    return combine("/", Product);
  if (isa<arith::CeilDivSIOp>(op))
    return combine("cdiv", Atom);
  return std::nullopt;
}

std::string FunctionPrinter::getDimText(OpFoldResult value, Operation *op) {
  if (auto attr = dyn_cast<Attribute>(value))
    return number(cast<IntegerAttr>(attr).getInt());
  if (auto dim = getDim(cast<Value>(value)))
    return dim->first;
  fail(op, ": an extent is not an expression of dimensions");
  return "1";
}

ShapeText FunctionPrinter::getShape(Value value) {
  ShapeText shape;
  if (auto known = exprs.find(value); known != exprs.end())
    return known->second.shape;
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    for (int64_t extent : vector.getShape())
      shape.push_back(number(extent));
    return shape;
  }
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return isInBody ? loopShape : shape;
  Operation *op = value.getDefiningOp();
  auto empty = op ? dyn_cast<tensor::EmptyOp>(op) : tensor::EmptyOp();
  if (auto fill = op ? dyn_cast<linalg::FillOp>(op) : linalg::FillOp())
    return getShape(fill.getOutputs().front());
  if (empty) {
    for (OpFoldResult size : empty.getMixedSizes())
      shape.push_back(getDimText(size, op));
    return shape;
  }
  if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == &function.getBody().front())
    if (auto extents = function.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), atx::shapeAttrName))
      for (Attribute extent : extents)
        shape.push_back(cast<StringAttr>(extent).getValue().str());
  return shape;
}

std::optional<Expr> FunctionPrinter::getLiteral(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attr)) {
    if (!dense.isSplat())
      return std::nullopt;
    attr = dense.getSplatValue<Attribute>();
  }
  Expr expr;
  expr.isLiteral = true;
  expr.type = getType(value);
  if (auto real = dyn_cast<FloatAttr>(attr))
    expr.text = printFloat(real.getValue());
  else if (auto integer = dyn_cast<IntegerAttr>(attr))
    expr.text = integer.getType().isInteger(1) ? (integer.getValue().isZero() ? "false" : "true")
                                               : number(integer.getValue().getSExtValue());
  else
    return std::nullopt;
  if (expr.text.front() == '-')
    expr.strength = Prefix;
  return expr;
}

/// A literal with its type and shape.
Expr FunctionPrinter::makeTyped(Value value, const Expr &literal) {
  Expr expr = literal;
  expr.isLiteral = false;
  expr.strength = Atom;
  std::string type = atrex::getName(expr.type).str();
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    for (int64_t extent : vector.getShape())
      expr.shape.push_back(number(extent));
    expr.text = "fill(" + type + "[" + list(expr.shape) + "], " + literal.text + ")";
  } else if (expr.type != DataType::I1) {
    expr.text = type + "(" + literal.text + ")";
  }
  return expr;
}

Expr FunctionPrinter::as(Expr expr, DataType type) {
  if (expr.type == type || expr.isLiteral) {
    expr.type = type;
    return expr;
  }
  expr.text = atrex::getName(type).str() + "(" + expr.text + ")";
  expr.strength = Atom;
  expr.type = type;
  return expr;
}

Expr FunctionPrinter::get(Value value) {
  if (auto known = exprs.find(value); known != exprs.end()) {
    Expr expr = known->second;
    if (auto *waits = llvm::find(pending, value); waits != pending.end())
      pending.erase(waits);
    return expr;
  }
  if (std::optional<Expr> literal = getLiteral(value))
    return makeTyped(value, *literal);
  if (auto dim = getDim(value))
    return {"i64(" + dim->first + ")", Atom, DataType::I64, {}, false, false, {}};
  Operation *op = value.getDefiningOp();
  if (!op) {
    if (!hasFailed)
      emitError(value.getLoc()) << "this value has no form in the kernel language";
    hasFailed = true;
    return {};
  }
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return as({blockIds[unsigned(id.getDimension())], Atom, DataType::I32, {}, false, false, {}}, DataType::I64);
  if (auto dim = dyn_cast<gpu::GridDimOp>(op))
    return as({gridDims[unsigned(dim.getDimension())], Atom, DataType::I32, {}, false, false, {}}, DataType::I64);
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    DataType type = getType(value);
    Value source = cast.getIn();
    std::string name = atrex::getName(type).str();
    if (auto dim = getDim(source))
      return {name + "(" + dim->first + ")", Atom, type, {}, false, false, {}};
    if (auto id = source.getDefiningOp<gpu::BlockIdOp>())
      return as({blockIds[unsigned(id.getDimension())], Atom, DataType::I32, {}, false, false, {}}, type);
    if (auto dim = source.getDefiningOp<gpu::GridDimOp>())
      return as({gridDims[unsigned(dim.getDimension())], Atom, DataType::I32, {}, false, false, {}}, type);
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Expr source = get(broadcast.getSource());
    ShapeText shape;
    for (int64_t extent : broadcast.getResultVectorType().getShape())
      shape.push_back(number(extent));
    return call("broadcast", source, source.type, shape, ", " + tuple(shape));
  }
  return fail(op);
}

Expr FunctionPrinter::getElement(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>(); broadcast && !exprs.contains(value))
    return get(broadcast.getSource());
  return get(value);
}

Expr FunctionPrinter::call(StringRef name, ArrayRef<Expr> args, DataType type, ShapeText shape, const Twine &rest) {
  Expr expr;
  expr.type = type;
  expr.shape = std::move(shape);
  SmallVector<std::string> texts;
  for (const Expr &arg : args) {
    texts.push_back(arg.text);
    expr.reads |= arg.reads;
    for (const auto &variable : arg.variables)
      expr.variables.insert(variable.getKey());
  }
  expr.text = name.str() + "(" + list(texts) + rest.str() + ")";
  return expr;
}

SmallVector<Expr> FunctionPrinter::unify(ArrayRef<Value> values, std::optional<bool> isUnsigned) {
  SmallVector<Expr> operands;
  std::optional<DataType> type;
  for (Value value : values) {
    std::optional<Expr> literal = exprs.contains(value) ? std::nullopt : getLiteral(value);
    operands.push_back(literal ? *literal : getElement(value));
    if (!operands.back().isLiteral && !type)
      type = operands.back().type;
  }
  if (!type) {
    operands.front() = makeTyped(values.front(), operands.front());
    // Scalars repeat by themselves.
    if (std::optional<Expr> literal = getLiteral(values.front());
        literal && literal->type != DataType::I1 && values.size() > 1) {
      operands.front().text = atrex::getName(literal->type).str() + "(" + literal->text + ")";
      operands.front().shape.clear();
    }
    type = operands.front().type;
  }
  if (isUnsigned) {
    DataType wanted = withSign(*type, *isUnsigned);
    if (*isUnsigned && (wanted == DataType::I64 || wanted == DataType::I16))
      if (Operation *op = values.front().getDefiningOp())
        fail(op, ": the language has no unsigned type of this width");
    type = wanted;
  }
  for (Expr &operand : operands) {
    // The literal of an unsigned number has no sign.
    if (operand.isLiteral && (*type == DataType::U32 || *type == DataType::U8) && operand.text.front() == '-') {
      operand.text = number(std::stoll(operand.text) + (*type == DataType::U32 ? int64_t(1) << 32 : 256));
      operand.strength = Atom;
    }
    operand = as(operand, *type);
  }
  return operands;
}

static void absorb(Expr &expr, ArrayRef<Expr> operands) {
  for (const Expr &operand : operands) {
    expr.reads |= operand.reads;
    for (const auto &variable : operand.variables)
      expr.variables.insert(variable.getKey());
    if (std::optional<ShapeText> shape = broadcastShapes(expr.shape, operand.shape))
      expr.shape = *shape;
  }
}

Expr FunctionPrinter::binary(StringRef op, int strength, ArrayRef<Expr> operands, std::optional<DataType> type) {
  Expr expr;
  int left = strength == Comparison ? strength + 1 : strength;
  expr.text = operands[0].at(left) + " " + op.str() + " " + operands[1].at(strength + 1);
  expr.strength = strength;
  expr.type = type.value_or(operands[0].type);
  absorb(expr, operands);
  return expr;
}

Expr FunctionPrinter::prefix(StringRef op, const Expr &operand) {
  Expr expr = operand;
  expr.text = op.str() + operand.at(Prefix);
  expr.strength = Prefix;
  return expr;
}

Expr FunctionPrinter::fit(Expr expr, const ShapeText &shape) {
  if (expr.shape == shape || shape.empty())
    return expr;
  return call("broadcast", expr, expr.type, shape, ", " + tuple(shape));
}

Expr FunctionPrinter::printGroup(const Group &group) {
  bool isUnsigned = group.operandType == DataType::U8 || group.operandType == DataType::U32;
  bool isInteger = !isFloat(group.operandType);
  SmallVector<Expr> operands =
      unify(group.operands, isInteger ? std::optional<bool>(isUnsigned) : std::optional<bool>());
  auto named = [&](StringRef name) {
    Expr expr = call(name, operands, group.resultType, {});
    absorb(expr, operands);
    return expr;
  };
  switch (group.kind) {
  case Elementwise::Div:
    return binary("/", Product, operands);
  case Elementwise::Mod:
    return binary("%", Product, operands);
  case Elementwise::ShiftLeft:
    return binary("<<", Shift, operands);
  case Elementwise::ShiftRight:
    return binary(">>", Shift, operands);
  case Elementwise::Sigmoid:
    return named("sigmoid");
  case Elementwise::Softplus:
    return named("softplus");
  default:
    return named(atrex::getName(group.resultType));
  }
}

std::optional<Expr> FunctionPrinter::printElementwise(Operation *op) {
  auto group = groups.find(op);
  if (group != groups.end())
    return printGroup(group->second);
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  SmallVector<Value> values(op->getOperands());
  bool isBool = getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1);
  auto infix = [&](StringRef text, int strength, std::optional<bool> isUnsigned = std::nullopt) {
    return binary(text, strength, unify(values, isUnsigned));
  };
  auto function = [&](StringRef name, std::optional<bool> isUnsigned = std::nullopt) {
    SmallVector<Expr> operands = unify(values, isUnsigned);
    Expr expr = call(name, operands, operands.front().type, {});
    absorb(expr, operands);
    return expr;
  };
  auto convert = [&](DataType to, std::optional<bool> isUnsigned = std::nullopt, StringRef rest = "") {
    SmallVector<Expr> operands = unify(values, isUnsigned);
    Expr expr = call(atrex::getName(to), operands, to, {}, rest);
    absorb(expr, operands);
    return expr;
  };
  auto isApproximate = [](Operation *op) {
    auto math = dyn_cast<arith::ArithFastMathInterface>(op);
    return math && bitEnumContainsAny(math.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
  };
  auto compare = [&](StringRef text, std::optional<bool> isUnsigned = std::nullopt) {
    return binary(text, Comparison, unify(values, isUnsigned), DataType::I1);
  };
  auto isAllOnes = [&](Value value) {
    std::optional<Expr> literal = getLiteral(value);
    return literal && (literal->text == "-1" || literal->text == "true");
  };
  DataType result = getType(op->getResult(0));
  return TypeSwitch<Operation *, std::optional<Expr>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([&](auto) { return infix("+", Sum); })
      .Case<arith::SubFOp>([&](auto) { return infix("-", Sum); })
      .Case([&](arith::SubIOp) -> std::optional<Expr> {
        if (!matchPattern(values[0], m_Zero()))
          return infix("-", Sum);
        values.erase(values.begin());
        SmallVector<Expr> operand = unify(values, false);
        return prefix("-", operand.front());
      })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) { return infix("*", Product); })
      .Case([&](arith::DivFOp) -> std::optional<Expr> {
        if (!isApproximate(op))
          return infix("/", Product);
        std::optional<Expr> one = getLiteral(values[0]);
        if (!one || one->text != "1.0")
          return function("fast_div");
        values.erase(values.begin());
        return function("recip");
      })
      .Case([&](arith::FloorDivSIOp) { return infix("/", Product, false); })
      // Bare forms leave open what the language defines: division by zero and
      // shifts by the width or more.
      .Case([&](arith::DivUIOp) { return infix("/", Product, true); })
      .Case([&](arith::RemUIOp) { return infix("%", Product, true); })
      .Case([&](arith::ShLIOp) { return infix("<<", Shift); })
      .Case([&](arith::ShRSIOp) { return infix(">>", Shift, false); })
      .Case([&](arith::ShRUIOp) { return infix(">>", Shift, true); })
      .Case<arith::MaximumFOp>([&](auto) { return function("max"); })
      .Case<arith::MinimumFOp>([&](auto) { return function("min"); })
      .Case<arith::MaxSIOp>([&](auto) { return function("max", false); })
      .Case<arith::MinSIOp>([&](auto) { return function("min", false); })
      .Case<arith::MaxUIOp>([&](auto) { return function("max", true); })
      .Case<arith::MinUIOp>([&](auto) { return function("min", true); })
      .Case([&](arith::AndIOp) { return isBool ? infix("&&", AndAnd) : infix("&", And); })
      .Case([&](arith::OrIOp) { return isBool ? infix("||", OrOr) : infix("|", Or); })
      .Case([&](arith::XOrIOp) -> std::optional<Expr> {
        if (isAllOnes(values[1])) {
          values.pop_back();
          return prefix(isBool ? "!" : "~", unify(values).front());
        }
        return isBool ? compare("!=") : infix("^", Xor);
      })
      .Case([&](arith::NegFOp) { return prefix("-", unify(values).front()); })
      .Case([&](arith::CmpIOp cmp) -> std::optional<Expr> {
        using P = arith::CmpIPredicate;
        switch (cmp.getPredicate()) {
        case P::eq:
          return compare("==");
        case P::ne:
          return compare("!=");
        case P::slt:
        case P::ult:
          return compare("<", cmp.getPredicate() == P::ult);
        case P::sle:
        case P::ule:
          return compare("<=", cmp.getPredicate() == P::ule);
        case P::sgt:
        case P::ugt:
          return compare(">", cmp.getPredicate() == P::ugt);
        case P::sge:
        case P::uge:
          return compare(">=", cmp.getPredicate() == P::uge);
        }
        return std::nullopt;
      })
      .Case([&](arith::CmpFOp cmp) -> std::optional<Expr> {
        using P = arith::CmpFPredicate;
        switch (cmp.getPredicate()) {
        case P::OEQ:
          return compare("==");
        case P::UNE:
          return compare("!=");
        case P::OLT:
          return compare("<");
        case P::OLE:
          return compare("<=");
        case P::OGT:
          return compare(">");
        case P::OGE:
          return compare(">=");
        case P::UNO:
          if (values[0] == values[1]) {
            values.pop_back();
            Expr expr = function("isnan");
            expr.type = DataType::I1;
            return expr;
          }
          return std::nullopt;
        default:
          return std::nullopt;
        }
      })
      .Case([&](arith::SelectOp) -> std::optional<Expr> {
        Expr condition = getElement(values[0]);
        SmallVector<Expr> sides = unify({values[1], values[2]});
        SmallVector<Expr> operands{condition, sides[0], sides[1]};
        Expr expr = call("where", operands, sides[0].type, {});
        absorb(expr, operands);
        return expr;
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return convert(result); })
      .Case([&](arith::TruncIOp) -> std::optional<Expr> {
        if (isBool)
          return std::nullopt;
        return convert(result);
      })
      .Case([&](arith::ExtSIOp) -> std::optional<Expr> {
        if (getElementTypeOrSelf(values[0].getType()).isInteger(1))
          return std::nullopt;
        return convert(result, false);
      })
      .Case([&](arith::ExtUIOp) {
        return getElementTypeOrSelf(values[0].getType()).isInteger(1) ? convert(result) : convert(result, true);
      })
      .Case([&](arith::SIToFPOp) -> std::optional<Expr> {
        if (getElementTypeOrSelf(values[0].getType()).isInteger(1))
          return std::nullopt;
        return convert(result, false);
      })
      .Case([&](arith::UIToFPOp) {
        return getElementTypeOrSelf(values[0].getType()).isInteger(1) ? convert(result) : convert(result, true);
      })
      .Case([&](arith::IndexCastOp) { return convert(result, false); })
      // Where the language clamps, these have no defined result.
      .Case([&](arith::FPToSIOp) { return convert(result); })
      .Case([&](arith::FPToUIOp) { return convert(withSign(result, true)); })
      .Case([&](arith::BitcastOp) {
        SmallVector<Expr> operands = unify(values);
        Expr expr = operands.front();
        expr.text = "bitcast(" + atrex::getName(result).str() + ", " + expr.text + ")";
        expr.strength = Atom;
        expr.type = result;
        return expr;
      })
      .Case([&](atx::TileConvertOp convertOp) -> std::optional<Expr> {
        if (isFloat(result))
          return convert(result, std::nullopt, convertOp.getSaturate() ? ", saturate = true" : "");
        return convert(withSign(result, convertOp.getIsUnsigned()));
      })
      .Case<math::AbsFOp, math::AbsIOp>([&](auto) { return function("abs"); })
      .Case<math::ExpOp>([&](auto) { return function("exp"); })
      .Case([&](math::Exp2Op) { return function(isApproximate(op) ? "fast_exp2" : "exp2"); })
      .Case<math::LogOp>([&](auto) { return function("log"); })
      .Case<math::Log2Op>([&](auto) { return function("log2"); })
      .Case([&](math::SqrtOp) { return function(isApproximate(op) ? "fast_sqrt" : "sqrt"); })
      .Case<math::RsqrtOp>([&](auto) { return function("rsqrt"); })
      .Case<math::TanhOp>([&](auto) { return function("tanh"); })
      .Case<math::ErfOp>([&](auto) { return function("erf"); })
      .Case<math::SinOp>([&](auto) { return function("sin"); })
      .Case<math::CosOp>([&](auto) { return function("cos"); })
      .Case<math::FloorOp>([&](auto) { return function("floor"); })
      .Case<math::CeilOp>([&](auto) { return function("ceil"); })
      .Case<math::RoundEvenOp>([&](auto) { return function("round"); })
      .Case<math::TruncOp>([&](auto) { return function("trunc"); })
      .Case<math::FmaOp>([&](auto) { return function("fma"); })
      .Case<math::CtPopOp>([&](auto) { return function("popcount"); })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Operations on tiles
//===----------------------------------------------------------------------===//

DataType FunctionPrinter::getMemoryType(Value memory) {
  auto known = memoryTypes.find(memory);
  return known != memoryTypes.end() ? known->second : getType(memory);
}

std::string FunctionPrinter::getMemoryName(Value memory, Operation *op) {
  auto known = memories.find(memory);
  if (known != memories.end())
    return known->second;
  fail(op, ": its memory is neither a parameter nor a result nor shared");
  return "memory";
}

Expr FunctionPrinter::printView(Operation *op, Value memory, ValueRange indices) {
  SmallVector<Expr> all;
  SmallVector<std::string> items;
  auto sliced = slices.find(op);
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (sliced != slices.end() && sliced->second[i]) {
      const Slice &slice = *sliced->second[i];
      if (slice.isFull) {
        items.push_back(":");
      } else if (!slice.begin) {
        items.push_back(number(slice.offset) + " : " + number(slice.offset + slice.length));
      } else {
        Expr begin = get(slice.begin);
        // The text stands twice; what is not short gets a name.
        if (begin.reads || begin.text.size() > 24 || begin.text.find('(') != std::string::npos) {
          bool isLocal = exprs.contains(slice.begin);
          begin = bind(slice.begin, begin, "at");
          // What is made anew at each use may stand in other blocks too.
          if (!isLocal)
            exprs.erase(slice.begin);
        }
        items.push_back(begin.text + " : " + begin.at(Sum) + " + " + number(slice.length));
        all.push_back(begin);
      }
      continue;
    }
    std::optional<Expr> literal = isa<VectorType>(index.getType()) ? std::nullopt : getLiteral(index);
    Expr item = literal ? *literal : get(index);
    if (item.type == DataType::U8 || item.type == DataType::U32)
      item = as(item, DataType::I32);
    items.push_back(item.text);
    all.push_back(item);
  }
  Expr view = call("", all, getMemoryType(memory), {});
  view.text = getMemoryName(memory, op) + (items.empty() ? "" : "[" + list(items) + "]");
  view.reads = true;
  return view;
}

Expr FunctionPrinter::printReduce(StringRef name, Value input, ArrayRef<int64_t> axes, DataType type, bool isUnsigned,
                                  Value result) {
  Expr operand = get(input);
  if (!isFloat(operand.type) && operand.type != DataType::I1)
    operand = as(operand, withSign(operand.type, isUnsigned));
  SmallVector<std::string> texts;
  ShapeText shape;
  for (int64_t axis : axes)
    texts.push_back(number(axis));
  for (auto [i, extent] : llvm::enumerate(operand.shape))
    if (!llvm::is_contained(axes, int64_t(i)))
      shape.push_back(extent);
  std::string axisText = texts.size() == 1 ? texts.front() : tuple(texts);
  bool isPosition = name == "argmax" || name == "argmin";
  return call(name, operand, isPosition ? DataType::I32 : operand.type, shape, ", axis = " + axisText);
}

Expr FunctionPrinter::printScan(Operation *op, atx::TileScanKind kind, Value input, int64_t axis, bool exclusive,
                                bool reverse) {
  StringRef name;
  bool isUnsigned = false;
  switch (kind) {
  case atx::TileScanKind::Sum:
    name = "cumsum";
    break;
  case atx::TileScanKind::Prod:
    name = "cumprod";
    break;
  case atx::TileScanKind::UMax:
    isUnsigned = true;
    [[fallthrough]];
  case atx::TileScanKind::Max:
    name = "cummax";
    break;
  case atx::TileScanKind::UMin:
    isUnsigned = true;
    [[fallthrough]];
  case atx::TileScanKind::Min:
    name = "cummin";
    break;
  }
  Expr operand = get(input);
  if (!isFloat(operand.type) && kind != atx::TileScanKind::Sum && kind != atx::TileScanKind::Prod)
    operand = as(operand, withSign(operand.type, isUnsigned));
  return call(name, operand, operand.type, operand.shape,
              ", axis = " + number(axis) + (exclusive ? ", exclusive = true" : "") +
                  (reverse ? ", reverse = true" : ""));
}

static std::pair<StringRef, bool> getReduceName(atx::TileReduceKind kind, bool isUnsigned) {
  switch (kind) {
  case atx::TileReduceKind::Sum:
    return {"sum", false};
  case atx::TileReduceKind::Prod:
    return {"prod", false};
  case atx::TileReduceKind::Max:
    return {"max", false};
  case atx::TileReduceKind::Min:
    return {"min", false};
  case atx::TileReduceKind::UMax:
    return {"max", true};
  case atx::TileReduceKind::UMin:
    return {"min", true};
  case atx::TileReduceKind::ArgMax:
    return {"argmax", isUnsigned};
  case atx::TileReduceKind::ArgMin:
    return {"argmin", isUnsigned};
  case atx::TileReduceKind::Any:
    return {"any", false};
  case atx::TileReduceKind::All:
    return {"all", false};
  }
  return {};
}

Expr FunctionPrinter::printEinsum(Operation *op, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, DataType acc) {
  SmallVector<Expr> operands;
  for (Value input : inputs)
    operands.push_back(get(input));
  if (operands.size() == 2 && operands[0].type != operands[1].type)
    return fail(op, ": its operands have different types");
  std::string names(maps.front().getNumDims(), '?');
  StringRef order = "abcdefghijklmnopqrstuvwxyz";
  if (names.size() > order.size())
    return fail(op, ": it has too many axes");
  std::string text;
  ShapeText shape;
  llvm::StringMap<std::string> extents;
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = order[i];
  for (auto [m, map] : llvm::enumerate(maps)) {
    if (m)
      text += m + 1 == maps.size() ? "->" : ",";
    for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return fail(op, ": its indexing is not a permutation");
      std::string letter(1, names[dim.getPosition()]);
      text += letter;
      if (m + 1 == maps.size())
        shape.push_back(extents.lookup(letter));
      else if (axis < operands[m].shape.size())
        extents[letter] = operands[m].shape[axis];
    }
  }
  Expr expr;
  std::string rest = acc == DataType::F32 ? "" : ", acc = " + atrex::getName(acc).str();
  if (text == "ac,cb->ab" && operands.size() == 2) {
    expr = call("dot", operands, acc, shape, rest);
  } else {
    expr = call("einsum", operands, acc, shape, rest);
    expr.text.insert(strlen("einsum("), "\"" + text + "\", ");
  }
  return expr;
}

/// Text of the region: what is printed between its braces.
std::string FunctionPrinter::printRaw(atx::TileRawOp op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope().assumeVerified());
  StringRef body(text);
  body = body.substr(body.find('{') + 1).rsplit('}').first.trim();
  if (body.starts_with("^bb0"))
    body = body.substr(body.find("):") + 2).ltrim();
  return body.trim().str();
}

std::optional<Expr> FunctionPrinter::printTileOp(Operation *op) {
  ShapeText shape;
  if (op->getNumResults() == 1)
    if (auto vector = dyn_cast<VectorType>(op->getResult(0).getType()))
      for (int64_t extent : vector.getShape())
        shape.push_back(number(extent));
  return TypeSwitch<Operation *, std::optional<Expr>>(op)
      .Case([&](atx::TileIotaOp) -> std::optional<Expr> {
        Expr expr = call("iota", {}, DataType::I32, shape);
        expr.text = "iota(" + list(shape) + ")";
        return as(expr, getType(op->getResult(0)));
      })
      .Case([&](atx::TileLoadOp load) -> std::optional<Expr> {
        Expr view = printView(op, load.getMemory(), load.getIndices());
        view.shape = shape;
        if (shape.empty() && !load.getFill() && !load.getIndices().empty())
          return view;
        std::string rest;
        SmallVector<Expr> args{view};
        if (Value fill = load.getFill()) {
          std::optional<Expr> literal = getLiteral(fill);
          Expr value = literal ? *literal : as(get(fill), view.type);
          args.push_back(value);
          args.back().text = "fill = " + value.text;
        }
        return call("load", args, view.type, shape);
      })
      .Case([&](atx::TileReduceOp reduce) -> std::optional<Expr> {
        auto [name, isUnsigned] = getReduceName(reduce.getKind(), reduce.getIsUnsigned());
        return printReduce(name, reduce.getInput(), reduce.getAxes(), getType(reduce.getResult()), isUnsigned,
                           reduce.getResult());
      })
      .Case([&](atx::TileScanOp scan) -> std::optional<Expr> {
        return printScan(op, scan.getKind(), scan.getInput(), scan.getAxis(), scan.getExclusive(), scan.getReverse());
      })
      .Case([&](atx::TileRankOp rank) -> std::optional<Expr> {
        return call("rank", get(rank.getInput()), DataType::I32, shape, ", axis = " + number(rank.getAxis()));
      })
      .Case([&](atx::TileHistogramOp histogram) -> std::optional<Expr> {
        Expr input = get(histogram.getInput());
        if (input.type == DataType::U32)
          input = as(input, DataType::I32);
        SmallVector<Expr> args{input};
        args.push_back({shape.front(), Atom, DataType::I32, {}, false, false, {}});
        if (Value mask = histogram.getMask()) {
          args.push_back(get(mask));
          args.back().text = "mask = " + args.back().text;
        }
        return call("histogram", args, DataType::I32, shape);
      })
      .Case([&](atx::TileConcatOp concat) -> std::optional<Expr> {
        SmallVector<Expr> parts;
        for (Value input : concat.getInputs()) {
          parts.push_back(get(input));
          parts.back() = as(parts.back(), parts.front().type);
        }
        Expr expr = call("concat", parts, parts.front().type, shape);
        SmallVector<std::string> texts;
        for (const Expr &part : parts)
          texts.push_back(part.text);
        expr.text = "concat(" + tuple(texts) + ", axis = " + number(concat.getAxis()) + ")";
        return expr;
      })
      .Case([&](atx::TileTakeOp take) -> std::optional<Expr> {
        Expr input = get(take.getInput());
        return call("take", {input, as(get(take.getIndex()), DataType::I32)}, input.type, shape,
                    ", axis = " + number(take.getAxis()));
      })
      .Case([&](atx::TilePinOp pin) -> std::optional<Expr> {
        Expr input = get(pin.getInput());
        return call("pin", input, input.type, shape, ", \"" + pin.getLayout().str() + "\"");
      })
      .Case([&](atx::TileRawOp raw) -> std::optional<Expr> {
        std::string text = printRaw(raw);
        if (raw->getNumResults() != 1 || StringRef(text).contains("\"\"\""))
          return std::nullopt;
        SmallVector<Expr> operands;
        for (Value input : raw.getInputs())
          operands.push_back(get(input));
        DataType type = getType(raw->getResult(0));
        Expr expr = call("raw", operands, type, shape,
                         std::string(operands.empty() ? "" : ", ") + "type = " + atrex::getName(type).str() +
                             (shape.empty() ? "" : "[" + list(shape) + "]"));
        expr.text.insert(strlen("raw("), "\"\"\"" + text + "\"\"\", ");
        return expr;
      })
      .Case([&](vector::ShapeCastOp cast) -> std::optional<Expr> {
        Expr source = get(cast.getSource());
        // New axes of extent 1 are written as such.
        SmallVector<std::string> items;
        size_t next = 0;
        for (const std::string &extent : shape) {
          if (next < source.shape.size() && extent == source.shape[next] &&
              shape.size() - items.size() >= source.shape.size() - next &&
              (extent != "1" || shape.size() - items.size() == source.shape.size() - next)) {
            items.push_back(":");
            ++next;
          } else {
            items.push_back(extent == "1" ? "None" : "?");
          }
        }
        bool inserts = next == source.shape.size() && !llvm::is_contained(items, std::string("?")) && next;
        if (inserts) {
          Expr expr = call("", source, source.type, shape);
          expr.text = source.at(Atom) + "[" + list(items) + "]";
          return expr;
        }
        return call("reshape", source, source.type, shape, ", " + tuple(shape));
      })
      .Case([&](vector::TransposeOp transpose) -> std::optional<Expr> {
        Expr source = get(transpose.getVector());
        ArrayRef<int64_t> permutation = transpose.getPermutation();
        if (permutation.size() == 2 && permutation[0] == 1) {
          Expr expr = call("", source, source.type, shape);
          expr.text = source.at(Atom) + ".T";
          return expr;
        }
        SmallVector<std::string> axes;
        for (int64_t axis : permutation)
          axes.push_back(number(axis));
        return call("transpose", source, source.type, shape, ", " + tuple(axes));
      })
      .Case([&](vector::ExtractStridedSliceOp slice) -> std::optional<Expr> {
        Expr source = get(slice.getSource());
        SmallVector<std::string> items;
        for (auto [i, extent] : llvm::enumerate(source.shape)) {
          bool isCut = i < slice.getOffsets().size();
          int64_t offset = isCut ? cast<IntegerAttr>(slice.getOffsets()[i]).getInt() : 0;
          std::string end = number(offset + std::stoll(shape[i]));
          items.push_back(offset == 0 && end == extent ? ":" : number(offset) + " : " + end);
        }
        Expr expr = call("", source, source.type, shape);
        expr.text = source.at(Atom) + "[" + list(items) + "]";
        return expr;
      })
      .Case([&](vector::ExtractOp extract) -> std::optional<Expr> {
        Expr source = get(extract.getSource());
        bool isOnly = shape.empty() && llvm::all_of(source.shape, [](StringRef extent) { return extent == "1"; });
        if (!isOnly || extract.hasDynamicPosition())
          return std::nullopt;
        return call("reshape", source, source.type, {}, ", ()");
      })
      .Case([&](vector::ContractionOp contract) -> std::optional<Expr> {
        if (contract.getKind() != vector::CombiningKind::ADD)
          return std::nullopt;
        Expr product = printEinsum(op, {contract.getLhs(), contract.getRhs()}, contract.getIndexingMapsArray(),
                                   getType(contract.getResult()));
        product.shape = shape;
        Value acc = contract.getAcc();
        if (matchPattern(acc, m_Zero()) || matchPattern(acc, m_AnyZeroFloat()))
          return product;
        return binary("+", Sum, {as(get(acc), product.type), product});
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Expr FunctionPrinter::bind(Value value, Expr expr, StringRef name) {
  StringRef own = getName(value);
  std::string text = makeUnique(own.empty() ? name : own);
  line("let " + text + " = " + expr.text);
  Expr named;
  named.text = text;
  named.type = expr.type;
  named.shape = expr.shape;
  exprs[value] = named;
  if (auto *waits = llvm::find(pending, value); waits != pending.end())
    pending.erase(waits);
  return named;
}

/// Gives the waiting expressions names: those that read memory, or all.
void FunctionPrinter::flush(bool all) {
  SmallVector<Value> waiting(pending);
  for (Value value : waiting)
    if (llvm::is_contained(pending, value) && (all || exprs[value].reads))
      bind(value, exprs[value], "v");
}

void FunctionPrinter::define(Value value, Expr expr) {
  if (hasFailed)
    return;
  auto used = uses.find(value);
  if (used == uses.end())
    return;
  Operation *user = used->second.front();
  StringRef name = getName(value);
  // What one operation of the source became has one name.
  if (isa<linalg::YieldOp>(user))
    user = user->getParentOp();
  StringRef userName = user->getNumResults() ? getName(user->getResult(0)) : StringRef();
  user = used->second.front();
  // What a variable becomes needs no other name.
  if (isa<scf::YieldOp>(user)) {
    unsigned index = llvm::find(user->getOperands(), value) - user->operand_begin();
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()))
      userName = getName(loop.getRegionIterArg(index));
    else if (auto loop = dyn_cast<scf::WhileOp>(user->getParentOp()))
      userName = getName(loop.getAfterArguments()[index]);
    else
      userName = name;
  }
  bool isName = expr.strength == Atom && expr.text.find_first_of("([.\"") == std::string::npos && !expr.isLiteral &&
                expr.variables.empty();
  bool waits = used->second.size() == 1 && (name.empty() || name == userName) && expr.text.size() < 160 &&
               user->getBlock() == value.getParentBlock() && !isa<scf::WhileOp>(user);
  if (isName && (name.empty() || name == expr.text)) {
    exprs[value] = expr;
    return;
  }
  if (!waits) {
    bind(value, expr, "v");
    return;
  }
  exprs[value] = expr;
  pending.push_back(value);
}

bool FunctionPrinter::isDeadBehind(Value value, Operation *op) {
  for (Operation *user : uses.lookup(value)) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor || (ancestor != op && !ancestor->isBeforeInBlock(op)))
      return false;
    if (ancestor == op && user != op && !isa<scf::IfOp>(op))
      return false;
  }
  return true;
}

/// The variable that a loop or branch carries: the one that holds `init`, where
/// nothing reads it later, or a new one.
std::string FunctionPrinter::declareVariable(Value init, Value arg, Value result, Operation *op,
                                             ArrayRef<std::string> taken) {
  if (init && !getLiteral(init)) {
    auto known = exprs.find(init);
    if (known != exprs.end() && known->second.variables.size() == 1 &&
        known->second.variables.contains(known->second.text) && init.getParentBlock() == op->getBlock() &&
        !llvm::is_contained(taken, known->second.text) && isDeadBehind(init, op))
      return known->second.text;
  }
  DataType type = getType(result);
  std::string text;
  if (std::optional<Expr> literal = init ? getLiteral(init) : std::nullopt) {
    bool isPlain =
        !isa<ShapedType>(init.getType()) && (type == DataType::I32 || type == DataType::F32 || type == DataType::I1);
    text = isPlain ? literal->text : makeTyped(init, *literal).text;
  } else if (init) {
    text = as(get(init), type).text;
  } else {
    Expr zero;
    zero.text = type == DataType::I1 ? "false" : isFloat(type) ? "0.0" : "0";
    zero.type = type;
    text = makeTyped(result, zero).text;
  }
  StringRef name = arg ? getName(arg) : StringRef();
  if (name.empty() && init)
    name = getName(init);
  std::string variable = makeUnique(name.empty() ? StringRef("state") : name);
  line("var " + variable + " = " + text);
  return variable;
}

/// Assigns all at once: no value may read a variable that was assigned before.
void FunctionPrinter::assign(ArrayRef<std::string> variables, ArrayRef<Value> values, Operation *op) {
  struct Assignment {
    std::string variable;
    Expr value;
  };
  SmallVector<Assignment> rest;
  for (auto [variable, value] : llvm::zip_equal(variables, values)) {
    std::optional<Expr> literal = getLiteral(value);
    Expr expr = literal ? *literal : as(get(value), getType(value));
    if (expr.text != variable)
      rest.push_back({variable, expr});
  }
  flush(/*all=*/true);
  while (!rest.empty()) {
    auto *next = llvm::find_if(rest, [&](const Assignment &candidate) {
      return llvm::none_of(rest, [&](const Assignment &other) {
        return &other != &candidate && other.value.variables.contains(candidate.variable);
      });
    });
    if (next == rest.end()) {
      // A cycle: one value is kept aside.
      Assignment &first = rest.front();
      std::string name = makeUnique(first.variable + "_next");
      line("let " + name + " = " + first.value.text);
      first.value.text = name;
      first.value.variables.clear();
      continue;
    }
    line(next->variable + " = " + next->value.text);
    rest.erase(next);
  }
}

static Expr makeVariable(const std::string &name, DataType type, ShapeText shape) {
  Expr expr;
  expr.text = name;
  expr.type = type;
  expr.shape = std::move(shape);
  expr.variables.insert(name);
  return expr;
}

void FunctionPrinter::printFor(scf::ForOp op) {
  SmallVector<std::string> variables;
  for (auto [init, arg, result] : llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    DataType type = getType(result);
    variables.push_back(declareVariable(init, arg, result, op, variables));
    exprs[arg] = makeVariable(variables.back(), type, getShape(result));
  }
  SmallVector<Expr> bounds = unify({op.getLowerBound(), op.getUpperBound(), op.getStep()}, false);
  if (llvm::all_of(ArrayRef<Value>{op.getLowerBound(), op.getUpperBound(), op.getStep()},
                   [&](Value bound) { return getLiteral(bound).has_value(); }) &&
      bounds[0].type == DataType::I32)
    bounds[0] = *getLiteral(op.getLowerBound());
  flush(/*all=*/true);
  Value counter = op.getInductionVar();
  StringRef name = getName(counter);
  std::string text = makeUnique(name.empty() ? StringRef("i") : name);
  exprs[counter] = {text, Atom, getType(counter), {}, false, false, {}};
  std::string range = bounds[1].text;
  bool hasStep = bounds[2].text != "1";
  if (hasStep || bounds[0].text != "0")
    range = bounds[0].text + ", " + range;
  if (hasStep)
    range += ", " + bounds[2].text;
  line("for " + text + " in range(" + range + ") {");
  indent += 2;
  printBlock(*op.getBody());
  SmallVector<Value> yields(op.getBody()->getTerminator()->getOperands());
  assign(variables, yields, op);
  indent -= 2;
  line("}");
  for (auto [variable, result] : llvm::zip_equal(variables, op.getResults()))
    exprs[result] = makeVariable(variable, getType(result), getShape(result));
}

void FunctionPrinter::printWhile(scf::WhileOp op) {
  Block &before = op.getBefore().front();
  auto condition = cast<scf::ConditionOp>(before.getTerminator());
  if (!llvm::equal(condition.getArgs(), before.getArguments())) {
    fail(op, ": its condition passes on something else than what the loop carries");
    return;
  }
  SmallVector<std::string> variables;
  for (auto [init, arg, result] : llvm::zip_equal(op.getInits(), op.getAfterArguments(), op.getResults())) {
    DataType type = getType(result);
    variables.push_back(declareVariable(init, arg, result, op, variables));
    Expr variable = makeVariable(variables.back(), type, getShape(result));
    exprs[before.getArgument(arg.getArgNumber())] = variable;
    exprs[arg] = variable;
  }
  flush(/*all=*/true);
  // A condition that needs statements stands inside of the loop.
  bool isPlain = llvm::all_of(before.without_terminator(), [&](Operation &inner) {
    return !isLive(&inner) || isAlwaysInline(&inner) ||
           (inner.getNumResults() == 1 && inner.getNumRegions() == 0 &&
            (isPure(&inner) || isa<atx::TileLoadOp>(inner)) && getName(inner.getResult(0)).empty() &&
            uses.lookup(inner.getResult(0)).size() <= 1);
  });
  std::string runs;
  if (!isPlain) {
    runs = makeUnique("runs");
    line("var " + runs + " = true");
    line("while " + runs + " {");
    indent += 2;
  }
  printBlock(before);
  Expr test =
      getLiteral(condition.getCondition()) ? *getLiteral(condition.getCondition()) : get(condition.getCondition());
  flush(/*all=*/true);
  line((isPlain ? "while " : "if ") + test.text + " {");
  indent += 2;
  Block &after = op.getAfter().front();
  printBlock(after);
  SmallVector<Value> yields(after.getTerminator()->getOperands());
  assign(variables, yields, op);
  if (!isPlain) {
    indent -= 2;
    line("} else {");
    line("  " + runs + " = false");
    line("}");
  }
  indent -= 2;
  line("}");
  for (auto [variable, result] : llvm::zip_equal(variables, op.getResults()))
    exprs[result] = makeVariable(variable, getType(result), getShape(result));
}

void FunctionPrinter::printIf(scf::IfOp op) {
  SmallVector<std::string> variables;
  Expr condition = getLiteral(op.getCondition()) ? *getLiteral(op.getCondition()) : get(op.getCondition());
  flush(/*all=*/true);
  Region *branches[] = {&op.getThenRegion(), &op.getElseRegion()};
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    // A value from outside is what the variable holds before.
    Value init;
    for (Region *branch : {branches[1], branches[0]}) {
      Value value = branch->front().getTerminator()->getOperand(i);
      if (!init && !op->isProperAncestor(value.getParentBlock()->getParentOp()) &&
          value.getParentBlock()->getParentOp() != op)
        init = value;
    }
    variables.push_back(declareVariable(init, Value(), result, op, variables));
  }
  line("if " + condition.text + " {");
  for (Region *branch : branches) {
    if (branch->empty())
      continue;
    Block &block = branch->front();
    size_t length = out.size();
    if (branch == branches[1])
      out.append(indent, ' ').append("} else {\n");
    size_t begin = out.size();
    indent += 2;
    printBlock(block);
    SmallVector<Value> yields(block.getTerminator()->getOperands());
    assign(variables, yields, op);
    indent -= 2;
    if (branch == branches[1] && out.size() == begin)
      out.resize(length);
  }
  line("}");
  for (auto [variable, result] : llvm::zip_equal(variables, op.getResults()))
    exprs[result] = makeVariable(variable, getType(result), getShape(result));
}

void FunctionPrinter::printOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return printWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return printIf(branch);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return printGeneric(generic);
  if (isa<gpu::BarrierOp>(op)) {
    flush(/*all=*/false);
    return line("barrier()");
  }
  if (auto shared = dyn_cast<atx::TileSharedOp>(op)) {
    auto type = cast<MemRefType>(shared.getResult().getType());
    Value memory = shared.getResult();
    DataType element = getType(memory);
    for (Operation *user : memory.getUsers())
      if (auto atomic = dyn_cast<atx::TileAtomicOp>(user))
        if (atomic.getKind() == atx::TileAtomicKind::UMax || atomic.getKind() == atx::TileAtomicKind::UMin)
          element = withSign(element, true);
    SmallVector<std::string> extents;
    for (int64_t extent : type.getShape())
      extents.push_back(number(extent));
    StringRef name = getName(memory);
    std::string text = makeUnique(name.empty() ? StringRef("shared_tile") : name);
    memories[memory] = text;
    memoryTypes[memory] = element;
    return line("let " + text + " = shared(" + atrex::getName(element) + "[" + list(extents) + "])");
  }
  if (auto store = dyn_cast<atx::TileStoreOp>(op)) {
    Expr view = printView(op, store.getMemory(), store.getIndices());
    std::optional<Expr> literal = getLiteral(store.getValue());
    Expr value = literal ? *literal : as(getElement(store.getValue()), view.type);
    std::string mask = store.getMask() ? ", mask = " + getElement(store.getMask()).text : "";
    flush(/*all=*/false);
    return line("store(" + view.text + ", " + value.text + mask + ")");
  }
  if (auto atomic = dyn_cast<atx::TileAtomicOp>(op)) {
    Expr view = printView(op, atomic.getMemory(), atomic.getIndices());
    StringRef name;
    switch (atomic.getKind()) {
    case atx::TileAtomicKind::Add:
      name = "atomic_add";
      break;
    case atx::TileAtomicKind::Max:
    case atx::TileAtomicKind::UMax:
      name = "atomic_max";
      break;
    case atx::TileAtomicKind::Min:
    case atx::TileAtomicKind::UMin:
      name = "atomic_min";
      break;
    case atx::TileAtomicKind::And:
      name = "atomic_and";
      break;
    case atx::TileAtomicKind::Or:
      name = "atomic_or";
      break;
    case atx::TileAtomicKind::Xor:
      name = "atomic_xor";
      break;
    case atx::TileAtomicKind::Exchange:
      name = "atomic_exchange";
      break;
    case atx::TileAtomicKind::Cas:
      name = "atomic_cas";
      break;
    }
    std::string text = name.str() + "(" + view.text;
    auto add = [&](Value value) {
      std::optional<Expr> literal = getLiteral(value);
      text += ", " + (literal ? *literal : as(getElement(value), view.type)).text;
    };
    if (Value compare = atomic.getCompare())
      add(compare);
    add(atomic.getValue());
    if (Value mask = atomic.getMask())
      text += ", mask = " + getElement(mask).text;
    text += ")";
    flush(/*all=*/false);
    if (!uses.contains(atomic.getOld()))
      return line(text);
    Expr old = call("", {}, view.type, getShape(atomic.getOld()));
    old.text = text;
    bind(atomic.getOld(), old, "old");
    return;
  }
  auto bindPair = [&](Value values, Value indices, const std::string &text, DataType type, const ShapeText &shape) {
    flush(/*all=*/false);
    SmallVector<std::string> texts;
    for (Value result : {values, indices}) {
      if (!uses.contains(result)) {
        texts.push_back("_");
        continue;
      }
      StringRef name = getName(result);
      texts.push_back(makeUnique(name.empty() ? StringRef(result == values ? "values" : "positions") : name));
      exprs[result] = {texts.back(), Atom, result == values ? type : DataType::I32, shape, false, false, {}};
    }
    line("let (" + list(texts) + ") = " + text);
  };
  if (auto topk = dyn_cast<atx::TileTopkOp>(op)) {
    Expr input = get(topk.getInput());
    if (!isFloat(input.type))
      input = as(input, withSign(input.type, topk.getIsUnsigned()));
    ShapeText shape = getShape(topk.getValues());
    return bindPair(topk.getValues(), topk.getIndices(),
                    "topk(" + input.text + ", " + number(topk.getK()) + ", axis = " + number(topk.getAxis()) +
                        (topk.getSmallest() ? ", smallest = true)" : ")"),
                    input.type, shape);
  }
  if (auto topk = dyn_cast<atx::TensorTopkOp>(op)) {
    Expr input = get(topk.getInput());
    if (!isFloat(input.type))
      input = as(input, withSign(input.type, topk.getIsUnsigned()));
    ShapeText shape = input.shape;
    std::string k = getDimText(Value(topk.getK()), op);
    if (topk.getAxis() < shape.size())
      shape[topk.getAxis()] = k;
    return bindPair(topk.getValues(), topk.getIndices(),
                    "topk(" + input.text + ", " + k + ", axis = " + number(topk.getAxis()) +
                        (topk.getSmallest() ? ", smallest = true)" : ")"),
                    input.type, shape);
  }
  std::optional<Expr> expr = printElementwise(op);
  if (expr) {
    ShapeText shape = getShape(op->getResult(0));
    expr = fit(*expr, shape);
  }
  if (!expr)
    expr = printTileOp(op);
  if (!expr)
    expr = printTensorOp(op);
  if (!expr || op->getNumResults() != 1) {
    fail(op);
    return;
  }
  define(op->getResult(0), *expr);
}

void FunctionPrinter::printBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (hasFailed)
      return;
    bool isDeadRead = isa<atx::TileLoadOp>(op) && !uses.contains(op.getResult(0));
    if (!isDeadRead && isLive(&op) && !isAlwaysInline(&op))
      printOp(&op);
  }
}

//===----------------------------------------------------------------------===//
// Operations on tensors
//===----------------------------------------------------------------------===//

/// `input`, indexed by `map`, aligned with loops of the extents `loops`.
Expr FunctionPrinter::adapt(const Expr &input, AffineMap map, const ShapeText &loops, Operation *op) {
  SmallVector<unsigned> dims;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || llvm::is_contained(dims, dim.getPosition()))
      return fail(op, ": its indexing is not a permutation");
    dims.push_back(dim.getPosition());
  }
  Expr expr = input;
  if (!llvm::is_sorted(dims)) {
    SmallVector<unsigned> sorted(dims);
    llvm::sort(sorted);
    SmallVector<std::string> axes;
    ShapeText shape;
    for (unsigned dim : sorted) {
      unsigned axis = llvm::find(dims, dim) - dims.begin();
      axes.push_back(number(axis));
      shape.push_back(axis < expr.shape.size() ? expr.shape[axis] : "1");
    }
    if (axes.size() == 2) {
      expr = call("", input, input.type, shape);
      expr.text = input.at(Atom) + ".T";
    } else {
      expr = call("transpose", input, input.type, shape, ", " + tuple(axes));
    }
    dims = std::move(sorted);
  }
  // Missing axes in front are implied.
  if (dims.empty() || dims.size() == loops.size() - dims.front())
    return expr;
  SmallVector<std::string> items;
  ShapeText shape;
  unsigned next = 0;
  for (unsigned dim = dims.front(); dim < loops.size(); ++dim) {
    bool isPresent = next < dims.size() && dims[next] == dim;
    items.push_back(isPresent ? ":" : "None");
    shape.push_back(isPresent ? next < expr.shape.size() ? expr.shape[next] : loops[dim] : "1");
    next += isPresent;
  }
  Expr result = call("", expr, expr.type, shape);
  result.text = expr.at(Atom) + "[" + list(items) + "]";
  return result;
}

void FunctionPrinter::printGeneric(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1) {
    fail(op, ": it has several results");
    return;
  }
  if (op.getNumReductionLoops()) {
    if (!printReduction(op))
      fail(op, ": it is none of the reductions and products of the language");
    return;
  }
  Block &body = *op.getBody();
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap outMap = op.getMatchingIndexingMap(init);
  if (!outMap.isIdentity() || !body.getArguments().back().use_empty()) {
    fail(op, ": it reads its result or permutes it");
    return;
  }
  ShapeText loops = getShape(init->get());
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(input);
    Expr source = isa<RankedTensorType>(input->get().getType()) ? get(input->get()) : getElement(input->get());
    if (isa<RankedTensorType>(input->get().getType()))
      source = adapt(source, op.getMatchingIndexingMap(input), loops, op);
    // Read from several places, it gets a name.
    if (uses.lookup(arg).size() > 1 && source.text.size() > 24)
      source = bind(arg, source, "x");
    exprs[arg] = source;
  }
  loopShape = loops;
  isInBody = true;
  for (Operation &inner : body.without_terminator()) {
    if (hasFailed || !isLive(&inner) || isAlwaysInline(&inner))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      unsigned axis = index.getDim();
      Expr iota = call("iota", {}, DataType::I32, {loops[axis]});
      iota.text = "iota(" + loops[axis] + ")";
      exprs[index.getResult()] = adapt(iota, AffineMap::get(loops.size(), 0, b.getAffineDimExpr(axis)), loops, &inner);
      continue;
    }
    // No extent is reached before the last operation.
    std::optional<Expr> expr;
    if (isa<arith::IndexCastOp>(inner) && exprs.contains(inner.getOperand(0)))
      expr = as(exprs[inner.getOperand(0)], getType(inner.getResult(0)));
    else
      expr = printElementwise(&inner);
    if (!expr) {
      fail(&inner);
      break;
    }
    define(inner.getResult(0), *expr);
  }
  Value yielded = body.getTerminator()->getOperand(0);
  std::optional<Expr> literal = getLiteral(yielded);
  Expr value = literal && !exprs.contains(yielded) ? makeTyped(yielded, *literal) : get(yielded);
  isInBody = false;
  loopShape.clear();
  define(op->getResult(0), fit(value, loops));
}

/// Reductions and sums of products.
bool FunctionPrinter::printReduction(linalg::GenericOp op) {
  Block &body = *op.getBody();
  Value yielded = body.getTerminator()->getOperand(0);
  BlockArgument accumulator = body.getArguments().back();
  AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto fill = op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  std::optional<DataType> stored = getDataType(yielded.getType());
  Attribute start;
  if (!fill || !stored || !matchPattern(fill.getInputs().front(), m_Constant(&start)))
    return false;
  // The parallel loops come first, in the order of the result.
  SmallVector<unsigned> kept;
  for (AffineExpr expr : outMap.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return false;
    kept.push_back(dim.getPosition());
  }
  struct Candidate {
    Reduction reduction;
    StringLiteral name;
    bool isUnsigned;
  };
  static constexpr Candidate candidates[] = {{Reduction::Sum, "sum", false}, {Reduction::Max, "max", false},
                                             {Reduction::Min, "min", false}, {Reduction::Max, "max", true},
                                             {Reduction::Min, "min", true},  {Reduction::Prod, "prod", false},
                                             {Reduction::Any, "any", false}, {Reduction::All, "all", false}};
  OpBuilder unused(op.getContext());
  for (const Candidate &candidate : candidates) {
    DataType type = withSign(*stored, candidate.isUnsigned);
    bool isBool = type == DataType::I1;
    if (isBool != (candidate.reduction == Reduction::Any || candidate.reduction == Reduction::All) ||
        (isFloat(type) && candidate.isUnsigned))
      continue;
    if (ElementwiseBuilder(unused, op.getLoc()).getNeutral(candidate.reduction, type) != start)
      continue;
    // Of one input: combined as it is.
    if (op.getNumDpsInputs() == 1 && isBuiltAs(yielded, [&](ElementwiseBuilder &e) {
          return e.combine(candidate.reduction, type, body.getArgument(0), accumulator);
        })) {
      AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
      if (!map.isIdentity() || !llvm::is_sorted(kept))
        return false;
      SmallVector<int64_t> axes;
      for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
        if (!llvm::is_contained(kept, loop))
          axes.push_back(loop);
      Expr reduced = printReduce(candidate.name, op.getDpsInputOperand(0)->get(), axes, type, candidate.isUnsigned,
                                 op->getResult(0));
      define(op->getResult(0), reduced);
      return true;
    }
    if (candidate.reduction != Reduction::Sum)
      continue;
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands()) {
      inputs.push_back(input->get());
      maps.push_back(op.getMatchingIndexingMap(input));
    }
    maps.push_back(outMap);
    SmallVector<DataType> types;
    for (Value input : inputs) {
      std::optional<DataType> inputType = getDataType(input.getType());
      if (!inputType)
        return false;
      // The sign is that of the value's text.
      auto known = exprs.find(input);
      types.push_back(known != exprs.end() ? known->second.type : *inputType);
    }
    if (inputs.size() > 2 || inputs.empty())
      return false;
    bool matches = isBuiltAs(yielded, [&](ElementwiseBuilder &e) {
      Value value = e.cast(body.getArgument(0), types[0], type);
      if (inputs.size() > 1)
        value = e.create(Elementwise::Mul, type, type, {value, e.cast(body.getArgument(1), types[1], type)});
      return e.combine(Reduction::Sum, type, accumulator, value);
    });
    if (!matches)
      continue;
    define(op->getResult(0), printEinsum(op, inputs, maps, type));
    return true;
  }
  return false;
}

std::optional<Expr> FunctionPrinter::printTensorOp(Operation *op) {
  return TypeSwitch<Operation *, std::optional<Expr>>(op)
      .Case([&](linalg::FillOp fill) -> std::optional<Expr> {
        Value value = fill.getInputs().front();
        ShapeText shape = getShape(fill.getOutputs().front());
        std::optional<Expr> literal = getLiteral(value);
        Expr source = literal ? *literal : get(value);
        if (shape.empty()) {
          if (literal)
            source = makeTyped(value, *literal);
          return source;
        }
        Expr expr = call("fill", source, source.type, shape);
        expr.text = "fill(" + atrex::getName(source.type).str() + "[" + list(shape) + "], " + source.text + ")";
        return expr;
      })
      .Case([&](tensor::CastOp cast) -> std::optional<Expr> { return get(cast.getSource()); })
      .Case([&](tensor::ExtractSliceOp slice) -> std::optional<Expr> {
        if (!slice.hasUnitStride())
          return std::nullopt;
        Expr source = get(slice.getSource());
        SmallVector<std::string> items;
        ShapeText full, shape;
        SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes();
        for (auto [axis, offset, size] : llvm::enumerate(offsets, sizes)) {
          std::string begin = getDimText(offset, op), length = getDimText(size, op);
          full.push_back(length);
          if (begin == "0" && axis < source.shape.size() && length == source.shape[axis]) {
            items.push_back(":");
            continue;
          }
          std::string end = begin == "0" ? length : begin + " + " + length;
          int64_t a, c;
          if (!StringRef(begin).getAsInteger(10, a) && !StringRef(length).getAsInteger(10, c))
            end = number(a + c);
          items.push_back(begin + " : " + end);
        }
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        for (auto [axis, extent] : llvm::enumerate(full))
          if (!dropped.test(axis))
            shape.push_back(extent);
        Expr expr = source;
        if (llvm::any_of(items, [](StringRef item) { return item != ":"; })) {
          expr = call("", source, source.type, full);
          expr.text = source.at(Atom) + "[" + list(items) + "]";
        }
        if (dropped.none())
          return expr;
        return call("reshape", expr, expr.type, shape, ", " + (shape.empty() ? std::string("()") : tuple(shape)));
      })
      .Case([&](tensor::ConcatOp concat) -> std::optional<Expr> {
        SmallVector<Expr> parts;
        SmallVector<std::string> texts, sum;
        int64_t constant = 0;
        for (Value input : concat.getInputs()) {
          parts.push_back(get(input));
          parts.back() = as(parts.back(), parts.front().type);
          texts.push_back(parts.back().text);
          std::string extent = parts.back().shape[concat.getDim()];
          int64_t value;
          if (!StringRef(extent).getAsInteger(10, value))
            constant += value;
          else
            sum.push_back(extent);
        }
        if (constant || sum.empty())
          sum.push_back(number(constant));
        ShapeText shape = parts.front().shape;
        shape[concat.getDim()] = llvm::join(sum, " + ");
        Expr expr = call("concat", parts, parts.front().type, shape);
        expr.text = "concat(" + tuple(texts) + ", axis = " + number(concat.getDim()) + ")";
        return expr;
      })
      .Case<tensor::CollapseShapeOp>([&](tensor::CollapseShapeOp collapse) -> std::optional<Expr> {
        Expr source = get(collapse.getSrc());
        ShapeText shape;
        for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
          int64_t constant = 1;
          SmallVector<std::string> factors;
          for (int64_t axis : group) {
            const std::string &extent = source.shape[axis];
            int64_t value;
            bool isAtom = llvm::all_of(extent, [](char c) { return llvm::isAlnum(c) || c == '_'; });
            if (!StringRef(extent).getAsInteger(10, value))
              constant *= value;
            else
              factors.push_back(isAtom ? extent : "(" + extent + ")");
          }
          if (constant != 1 || factors.empty())
            factors.push_back(number(constant));
          shape.push_back(llvm::join(factors, " * "));
        }
        return call("reshape", source, source.type, shape, ", " + (shape.empty() ? std::string("()") : tuple(shape)));
      })
      .Case<tensor::ExpandShapeOp>([&](tensor::ExpandShapeOp expand) -> std::optional<Expr> {
        Expr source = get(expand.getSrc());
        ShapeText shape;
        for (OpFoldResult size : expand.getMixedOutputShape())
          shape.push_back(getDimText(size, op));
        return call("reshape", source, source.type, shape, ", " + (shape.empty() ? std::string("()") : tuple(shape)));
      })
      .Case([&](atx::TensorArgOp arg) -> std::optional<Expr> {
        auto [name, isUnsigned] = getReduceName(arg.getKind(), arg.getIsUnsigned());
        return printReduce(name, arg.getInput(), int64_t(arg.getAxis()), DataType::I32, isUnsigned, arg.getResult());
      })
      .Case([&](atx::TensorScanOp scan) -> std::optional<Expr> {
        return printScan(op, scan.getKind(), scan.getInput(), scan.getAxis(), scan.getExclusive(), scan.getReverse());
      })
      .Case([&](atx::TensorRankOp rank) -> std::optional<Expr> {
        Expr input = get(rank.getInput());
        return call("rank", input, DataType::I32, input.shape, ", axis = " + number(rank.getAxis()));
      })
      .Case([&](atx::TensorTakeOp take) -> std::optional<Expr> {
        Expr input = get(take.getInput());
        Expr index = as(get(take.getIndex()), DataType::I32);
        ShapeText shape = input.shape;
        shape[take.getAxis()] = index.shape[take.getAxis()];
        return call("take", {input, index}, input.type, shape, ", axis = " + number(take.getAxis()));
      })
      .Case([&](atx::TensorHistogramOp histogram) -> std::optional<Expr> {
        Expr input = get(histogram.getInput());
        input = as(input, withSign(input.type, histogram.getIsUnsigned()));
        std::string bins = getDimText(Value(histogram.getBins()), op);
        SmallVector<Expr> args{input, {bins, Atom, DataType::I32, {}, false, false, {}}};
        if (Value mask = histogram.getMask()) {
          args.push_back(get(mask));
          args.back().text = "mask = " + args.back().text;
        }
        return call("histogram", args, DataType::I32, {bins});
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult FunctionPrinter::printHeader(bool isKernel) {
  Block &entry = function.getBody().front();
  SmallVector<std::string> params, results;
  for (BlockArgument arg : entry.getArguments()) {
    unsigned i = arg.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(i, atx::nameAttrName);
    if (!name)
      return function.emitError() << "argument " << i << " has no attribute 'atx.name'";
    names.insert(name.getValue());
    auto shapeAttr = function.getArgAttrOfType<ArrayAttr>(i, atx::shapeAttrName);
    if (arg.getType().isIndex()) {
      // A run-time dimension, known from the shapes where it is an extent.
      bool isExtent = llvm::any_of(entry.getArguments(), [&](BlockArgument other) {
        auto shape = function.getArgAttrOfType<ArrayAttr>(other.getArgNumber(), atx::shapeAttrName);
        return shape && llvm::is_contained(shape, Attribute(name));
      });
      if (!isExtent)
        params.push_back(name.getValue().str() + ": dim");
      continue;
    }
    DataType type = getType(arg);
    if (auto typeAttr = function.getArgAttrOfType<TypeAttr>(i, atx::typeAttrName))
      if (std::optional<DataType> stated = getDataType(typeAttr.getValue()))
        type = *stated;
    std::string text = name.getValue().str() + ": " + atrex::getName(type).str();
    if (!isa<ShapedType>(arg.getType())) {
      if (Attribute value = function.getArgAttr(i, atx::defaultAttrName)) {
        if (auto real = dyn_cast<FloatAttr>(value))
          text += " = " + printFloat(real.getValue());
        else if (auto integer = dyn_cast<IntegerAttr>(value))
          text += " = " + number(integer.getValue().getSExtValue());
      }
      exprs[arg] = {name.getValue().str(), Atom, type, {}, false, false, {}};
      params.push_back(text);
      continue;
    }
    if (!shapeAttr)
      return function.emitError() << "argument " << i << " has no attribute 'atx.shape'";
    ShapeText shape;
    for (Attribute extent : shapeAttr)
      shape.push_back(cast<StringAttr>(extent).getValue().str());
    text += "[" + list(shape) + "]";
    if (auto strides = function.getArgAttrOfType<ArrayAttr>(i, "atx.strides")) {
      SmallVector<std::string> items;
      for (Attribute stride : strides)
        items.push_back(cast<StringAttr>(stride).getValue().str());
      text += " strides (" + list(items) + ")";
    }
    if (auto align = function.getArgAttrOfType<IntegerAttr>(i, "atx.align"))
      text += " align " + number(align.getInt());
    memories[arg] = name.getValue().str();
    memoryTypes[arg] = type;
    bool isOutput = function.getArgAttr(i, atx::outputAttrName) != nullptr;
    if (!isOutput)
      exprs[arg] = {name.getValue().str(), Atom, type, shape, false, false, {}};
    (isOutput ? results : params).push_back(text);
  }
  if (auto dims = function->getAttrOfType<ArrayAttr>(atx::dimsAttrName))
    for (Attribute dim : dims)
      names.insert(cast<StringAttr>(dim).getValue());
  std::string text = (isKernel ? "kernel " : "op ") + symbols.lookup(function.getName()) + "(" + list(params) +
                     ") -> (" + list(results) + ")";
  auto getTexts = [&](StringRef attribute) {
    SmallVector<std::string> texts;
    if (auto array = function->getAttrOfType<ArrayAttr>(attribute))
      for (Attribute item : array)
        texts.push_back(cast<StringAttr>(item).getValue().str());
    return texts;
  };
  SmallVector<std::string> constraints = getTexts("atx.constraints");
  if (!constraints.empty())
    text += "\n  where " + list(constraints);
  if (isKernel) {
    if (auto threads = function->getAttrOfType<IntegerAttr>(atx::threadsAttrName))
      text += "\n  threads " + number(threads.getInt());
    SmallVector<std::string> grid = getTexts(atx::gridAttrName);
    // Axes that are stated, and those that are asked for.
    size_t used = 1;
    DenseMap<unsigned, StringRef> idNames, gridNames;
    bool usesGrid = false;
    function.walk([&](Operation *op) {
      bool isId = isa<gpu::BlockIdOp>(op);
      if (!isId && !isa<gpu::GridDimOp>(op))
        return;
      unsigned axis =
          isId ? unsigned(cast<gpu::BlockIdOp>(op).getDimension()) : unsigned(cast<gpu::GridDimOp>(op).getDimension());
      used = std::max<size_t>(used, axis + 1);
      usesGrid |= !isId;
      StringRef name = getName(op->getResult(0));
      for (Operation *user : op->getUsers())
        if (name.empty() && isa<arith::IndexCastOp>(user))
          name = getName(user->getResult(0));
      (isId ? idNames : gridNames).try_emplace(axis, name);
    });
    while (grid.size() > used && grid.back() == "1")
      grid.pop_back();
    text += "\n  grid (" + list(grid) + ")";
    out += text + "\n{\n";
    indent = 2;
    auto declare = [&](DenseMap<unsigned, StringRef> &found, std::string *texts, StringRef function, StringRef base) {
      if (found.empty())
        return;
      SmallVector<std::string> pattern;
      for (unsigned axis = 0; axis < grid.size(); ++axis) {
        auto entry = found.find(axis);
        if (entry == found.end()) {
          pattern.push_back("_");
          continue;
        }
        StringRef name = entry->second;
        texts[axis] = makeUnique(name.empty() ? base : name);
        pattern.push_back(texts[axis]);
      }
      line("let " + (pattern.size() == 1 ? pattern.front() : "(" + list(pattern) + ")") + " = " + function + "()");
    };
    declare(idNames, blockIds, "block_id", "block");
    declare(gridNames, gridDims, "num_blocks", "blocks");
    return success();
  }
  out += text + " {\n";
  indent = 2;
  return success();
}

LogicalResult FunctionPrinter::run() {
  bool isKernel = function->hasAttr(atx::kernelAttrName), isPlan = function->hasAttr(atx::planAttrName);
  if (!isKernel && !isPlan && !function->hasAttr(atx::operatorAttrName))
    return function.emitError() << "function '" << function.getName()
                                << "' is neither a kernel in tile form ('atx.kernel') nor an operator "
                                   "('atx.operator', 'atx.plan'); the kernel language has no form for it";
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "function '" << function.getName()
                                << "' has not one block; control flow must be structured to be printed";
  names.insert(symbols.lookup(function.getName()));
  if (isPlan)
    return runPlan();
  findGroups();
  Block &entry = function.getBody().front();
  countUses(entry);
  if (failed(printHeader(isKernel)))
    return failure();
  printBlock(entry);
  if (!isKernel) {
    Operation *ret = entry.getTerminator();
    SmallVector<BlockArgument> outputs;
    for (BlockArgument arg : entry.getArguments())
      if (function.getArgAttr(arg.getArgNumber(), atx::outputAttrName))
        outputs.push_back(arg);
    if (ret->getNumOperands() != outputs.size())
      return ret->emitError() << "the operator has " << outputs.size() << " results, but " << ret->getNumOperands()
                              << " values are returned";
    SmallVector<std::string> texts;
    for (Value value : ret->getOperands())
      texts.push_back(hasFailed ? "" : get(value).text);
    flush(/*all=*/true);
    for (auto [output, text] : llvm::zip_equal(outputs, texts))
      line(memories[output] + " = " + text);
  } else {
    flush(/*all=*/false);
  }
  out += "}\n";
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Whether a launch reads what another one writes there.
bool FunctionPrinter::isReadByLaunch(Value memory) {
  for (OpOperand &use : memory.getUses()) {
    auto launch = dyn_cast<atx::LaunchOp>(use.getOwner());
    if (!launch)
      continue;
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
    unsigned index = use.getOperandNumber();
    if (index >= launch.getArgs().size() || !callee || !callee.getArgAttr(index, atx::outputAttrName))
      return true;
  }
  return false;
}

/// What is passed to a launch.
Expr FunctionPrinter::getArgument(Value value, Operation *op) {
  if (auto known = exprs.find(value); known != exprs.end())
    return known->second;
  if (std::optional<Expr> literal = getLiteral(value))
    return *literal;
  return fail(op, isa<MemRefType>(value.getType()) ? ": it reads memory that nothing before has written"
                                                   : ": it passes a value that is neither a parameter nor a constant");
}

/// Memory that a launch has written, under a name.
void FunctionPrinter::defineMemory(Value memory, const std::string &name, func::FuncOp callee, unsigned index) {
  Expr expr;
  expr.text = name;
  expr.type = getType(memory);
  if (auto type = callee.getArgAttrOfType<TypeAttr>(index, atx::typeAttrName))
    expr.type = getDataType(type.getValue()).value_or(expr.type);
  if (auto alloc = memory.getDefiningOp<memref::AllocOp>()) {
    for (OpFoldResult size : alloc.getMixedSizes())
      expr.shape.push_back(getDimText(size, alloc));
  } else if (auto arg = dyn_cast<BlockArgument>(memory)) {
    if (auto extents = function.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), atx::shapeAttrName))
      for (Attribute extent : extents)
        expr.shape.push_back(cast<StringAttr>(extent).getValue().str());
  }
  exprs[memory] = std::move(expr);
}

/// The launch, without the names of its results.
std::string FunctionPrinter::printKernelLaunch(atx::LaunchOp launch, func::FuncOp callee) {
  SmallVector<std::string> args, dims;
  for (auto [i, operand] : llvm::enumerate(launch.getArgs())) {
    if (callee.getArgAttr(i, atx::outputAttrName))
      continue;
    if (!operand.getType().isIndex()) {
      args.push_back(getArgument(operand, launch).text);
      continue;
    }
    auto name = callee.getArgAttrOfType<StringAttr>(i, atx::nameAttrName);
    bool isKnown = false;
    for (unsigned other = 0; other < callee.getNumArguments(); ++other) {
      auto shape = callee.getArgAttrOfType<ArrayAttr>(other, atx::shapeAttrName);
      isKnown |= shape && !callee.getArgAttr(other, atx::outputAttrName) && llvm::is_contained(shape, Attribute(name));
    }
    if (!isKnown && name)
      dims.push_back(name.getValue().str() + " = " + getDimText(operand, launch));
  }
  llvm::append_range(args, dims);
  std::string text = "launch " + symbols.lookup(callee.getName()) + "(" + list(args) + ")";
  if (launch.getCountMemory()) {
    SmallVector<std::string> indices;
    for (Value index : launch.getCountIndices())
      indices.push_back(getDimText(index, launch));
    text += " count " + getArgument(launch.getCountMemory(), launch).text + "[" + list(indices) + "]";
  }
  return text;
}

/// An operator between launches: its body stands in that of the plan. What its
/// results are.
SmallVector<Expr> FunctionPrinter::printPart(atx::LaunchOp launch, func::FuncOp callee) {
  FunctionPrinter part(callee, out, symbols);
  part.indent = indent;
  part.names = std::move(names);
  part.findGroups();
  Block &entry = callee.getBody().front();
  part.countUses(entry);
  SmallVector<ShapeText> shapes;
  for (auto [arg, operand] : llvm::zip_equal(entry.getArguments(), launch.getArgs())) {
    unsigned i = arg.getArgNumber();
    ShapeText shape;
    if (auto extents = callee.getArgAttrOfType<ArrayAttr>(i, atx::shapeAttrName))
      for (Attribute extent : extents)
        shape.push_back(cast<StringAttr>(extent).getValue().str());
    if (callee.getArgAttr(i, atx::outputAttrName)) {
      shapes.push_back(shape);
      continue;
    }
    Expr expr = getArgument(operand, launch);
    if (isa<ShapedType>(arg.getType()))
      expr.shape = shape;
    part.exprs[arg] = std::move(expr);
  }
  part.printBlock(entry);
  SmallVector<Expr> results;
  Operation *ret = entry.getTerminator();
  if (ret->getNumOperands() != shapes.size())
    part.fail(ret, ": the operator returns not as many values as it has outputs");
  for (auto [value, shape] : llvm::zip(ret->getOperands(), shapes)) {
    if (part.hasFailed)
      break;
    Expr expr = part.get(value);
    results.push_back(part.fit(expr, shape));
  }
  part.flush(/*all=*/true);
  names = std::move(part.names);
  hasFailed |= part.hasFailed;
  return results;
}

void FunctionPrinter::printLaunch(atx::LaunchOp launch, func::FuncOp callee) {
  SmallVector<std::pair<Value, unsigned>> outputs;
  for (auto [i, operand] : llvm::enumerate(launch.getArgs())) {
    if (!callee.getArgAttr(i, atx::outputAttrName))
      continue;
    if (exprs.contains(operand)) {
      fail(launch, ": it writes memory that was written before");
      return;
    }
    outputs.emplace_back(operand, i);
  }
  auto chooseName = [&](Value memory) {
    StringRef name = getName(memory);
    if (auto arg = dyn_cast<BlockArgument>(memory); arg && name.empty())
      name = memories[arg];
    return makeUnique(name.empty() ? "work" : name);
  };
  // Results of the operator that no launch reads need no name of their own.
  bool isDirect = llvm::all_of(
      outputs, [&](const auto &output) { return isa<BlockArgument>(output.first) && !isReadByLaunch(output.first); });
  if (callee->hasAttr(atx::operatorAttrName)) {
    SmallVector<Expr> values = printPart(launch, callee);
    for (auto [output, value] : llvm::zip(outputs, values)) {
      auto arg = dyn_cast<BlockArgument>(output.first);
      if (arg && !isReadByLaunch(arg)) {
        defineMemory(arg, value.text, callee, output.second);
        continue;
      }
      std::string name = chooseName(output.first);
      line("let " + name + " = " + value.text);
      defineMemory(output.first, name, callee, output.second);
    }
    return;
  }
  std::string text = printKernelLaunch(launch, callee);
  SmallVector<std::string> targets;
  for (const auto &[memory, index] : outputs) {
    std::string name = isDirect ? memories[memory] : chooseName(memory);
    targets.push_back(name);
    defineMemory(memory, name, callee, index);
    // Assigned here.
    if (isDirect)
      exprs[memory].text.clear();
  }
  if (targets.empty())
    line(text);
  else
    line((isDirect ? "" : "let ") + (targets.size() == 1 ? targets.front() : "(" + list(targets) + ")") + " = " + text);
}

LogicalResult FunctionPrinter::runPlan() {
  if (failed(printHeader(/*isKernel=*/false)))
    return failure();
  Block &entry = function.getBody().front();
  for (Operation &op : entry.without_terminator()) {
    if (isa<memref::AllocOp>(op) || isMemoryEffectFree(&op))
      continue;
    auto launch = dyn_cast<atx::LaunchOp>(op);
    func::FuncOp callee;
    if (launch)
      callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
    if (callee && !callee.isExternal() && callee.getNumArguments() == launch.getArgs().size())
      printLaunch(launch, callee);
    else
      fail(&op, launch ? ": the kernel is not in the module" : "");
    if (hasFailed)
      return failure();
  }
  for (BlockArgument arg : entry.getArguments()) {
    if (!function.getArgAttr(arg.getArgNumber(), atx::outputAttrName))
      continue;
    auto value = exprs.find(arg);
    if (value == exprs.end())
      return function.emitError() << "no launch writes result '" << memories[arg]
                                  << "'; the kernel language has no form for that";
    if (!value->second.text.empty())
      line(memories[arg] + " = " + value->second.text);
  }
  out += "}\n";
  return failure(hasFailed);
}

std::optional<std::string> atrex::frontend::printSource(ModuleOp module) {
  // Names of the language for all functions; what a plan computes between launches
  // stands in the plan.
  llvm::StringMap<std::string> symbols;
  llvm::StringSet<> taken, parts;
  for (auto function : module.getOps<func::FuncOp>()) {
    std::string name;
    for (char c : function.getName())
      name += llvm::isAlnum(c) || c == '_' ? c : '_';
    if (name.empty() || llvm::isDigit(name.front()))
      name = "f" + name;
    bool isFree = name == function.getName() || !module.lookupSymbol(name);
    while (!isFree || !taken.insert(name).second) {
      name += "_";
      isFree = !module.lookupSymbol(name);
    }
    symbols[function.getName()] = name;
  }
  module.walk([&](atx::LaunchOp launch) { parts.insert(launch.getKernel()); });
  std::string text;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || function.isExternal()) {
      op.emitError() << "'" << op.getName() << "' has no form in the kernel language; a module of operators and "
                     << "kernels is printed";
      return std::nullopt;
    }
    if (function->hasAttr(atx::operatorAttrName) && parts.contains(function.getName()))
      continue;
    if (!text.empty())
      text += "\n";
    if (failed(FunctionPrinter(function, text, symbols).run()))
      return std::nullopt;
  }
  return text;
}
