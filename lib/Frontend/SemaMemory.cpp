//===- SemaMemory.cpp - Values, views and memory of kernels ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Analyzer.h"
#include "dialects/Atx/AtxDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace atrex;
using namespace atrex::frontend;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A tile lives in registers, so its extents are numbers.
bool Analyzer::checkExtents(const Shape &shape, llvm::SMLoc loc) {
  int64_t elements = 1;
  for (const Extent &extent : shape) {
    if (!extent.constant) {
      if (!options.isSelected)
        continue;
      std::set<std::string> names;
      extent.value.collectDims(names);
      mlir::InFlightDiagnostic diagnostic = diags.error(loc);
      diagnostic << "the shape '" << toString(shape) << "' of a tile must be known when the program is compiled";
      std::string missing;
      for (const std::string &name : names)
        missing += (missing.empty() ? "'--dim " : " --dim ") + name + "=...";
      if (!missing.empty())
        diagnostic << "; give a value with " << missing << "', or cut slices of a fixed length";
      return false;
    }
    if (llvm::MulOverflow(elements, *extent.constant, elements) || elements > atx::maxTileElements) {
      diags.error(loc) << "a tile of shape '" << toString(shape) << "' is too large; a tile has at most "
                       << atx::maxTileElements << " elements";
      return false;
    }
  }
  return true;
}

Value Analyzer::evaluateSeveral(const ast::Expr *expr) {
  Value value = evaluateAny(expr);
  return isKernel && !value.isMemory() ? finishKernelValue(std::move(value), expr) : value;
}

Value Analyzer::finishKernelValue(Value value, const ast::Expr *source) {
  if (value.isMemory()) {
    if (value.memory->shape.empty()) {
      View view;
      view.memory = value;
      view.isScalar = true;
      view.expr = source;
      return makeLoad(view, nullptr, source);
    }
    mlir::InFlightDiagnostic diagnostic = diags.error(source->loc);
    std::string text = printable(source->getText());
    diagnostic << "'" << text << "' is in memory, not a value; read a tile of it with 'load(" << text << "["
               << (value.memory->shape.size() == 1 ? "a : b" : "i, a : b") << "])'";
    return {};
  }
  if (value.isTuple()) {
    for (Value &element : value.elements)
      element = finishKernelValue(std::move(element), source);
    return value;
  }
  if (!value.isNode())
    return value;
  // A value without axes is a scalar, however it came about.
  if (value.node->shape.empty())
    value.node->isScalar = true;
  else if (!checkExtents(value.node->shape, source->loc))
    return {};
  return value;
}

Node *Analyzer::makeDimNode(const Value &value, DataType type, llvm::SMLoc loc) {
  DimExpr dim = simplify(value.dim.substitute(dims));
  if (std::optional<int64_t> number = dim.getConstant()) {
    Value constant = value;
    constant.dim = DimExpr::constant(*number);
    return adapt(constant, type, "a dimension", loc) ? constant.node : nullptr;
  }
  if (type != DataType::I32 && type != DataType::I64) {
    diags.error(loc) << "'" << value.dim.str() << "' has no value when the program is compiled; convert it with '"
                     << getName(type) << "(i32(" << printable(value.dim.str()) << "))'";
    return nullptr;
  }
  if (type == DataType::I32)
    require(dim, "<=", DimExpr::constant(INT32_MAX));
  Node *node = makeNode(Node::Dim{dim}, type, loc);
  node->isScalar = true;
  return node;
}

std::optional<Value> Analyzer::evaluateKernelBinary(const ast::BinaryExpr &expr, Value &lhs, Value &rhs) {
  std::string what = ("'" + ast::getSpelling(expr.op) + "'").str();
  auto truth = [&](bool value) { return makeValue(makeLiteral(int64_t(value), DataType::I1, expr.loc), &expr); };
  if (lhs.isDim() && rhs.isDim()) {
    std::optional<int64_t> left = getKnownInteger(lhs), right = getKnownInteger(rhs);
    if (ast::isComparison(expr.op)) {
      if (left && right)
        return truth(compareNumbers(expr.op, *left, *right));
      Value operands[] = {lhs, rhs};
      for (Value &operand : operands) {
        Node *node = makeDimNode(operand, DataType::I64, operand.expr->loc);
        if (!node)
          return Value();
        operand = makeValue(node, operand.expr);
      }
      Elementwise op = expr.op == ast::BinaryOp::Eq   ? Elementwise::Eq
                       : expr.op == ast::BinaryOp::Ne ? Elementwise::Ne
                       : expr.op == ast::BinaryOp::Lt ? Elementwise::Lt
                       : expr.op == ast::BinaryOp::Le ? Elementwise::Le
                       : expr.op == ast::BinaryOp::Gt ? Elementwise::Gt
                                                      : Elementwise::Ge;
      return makeElementwise(op, DataType::I1, operands, what, &expr);
    }
    if (!left || !right)
      return std::nullopt;
    bool isShift = expr.op == ast::BinaryOp::ShiftLeft || expr.op == ast::BinaryOp::ShiftRight;
    std::optional<int64_t> number;
    if (isShift && (*right < 0 || *right > 62 ||
                    (expr.op == ast::BinaryOp::ShiftLeft && (*left < 0 || *left > (INT64_MAX >> *right))))) {
      diags.error(expr.loc) << "'" << *left << " " << ast::getSpelling(expr.op) << " " << *right
                            << "' does not fit 64 bits";
      return Value();
    }
    if (expr.op == ast::BinaryOp::ShiftLeft)
      number = *left << *right;
    else if (expr.op == ast::BinaryOp::ShiftRight)
      number = *left >> *right;
    else if (expr.op == ast::BinaryOp::BitAnd)
      number = *left & *right;
    else if (expr.op == ast::BinaryOp::BitOr)
      number = *left | *right;
    else if (expr.op == ast::BinaryOp::BitXor)
      number = *left ^ *right;
    if (number)
      return makeDim(DimExpr::constant(*number), 1, &expr);
    return std::nullopt;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Symbolic values
//===----------------------------------------------------------------------===//

/// Integer scalars as sums of products of unknowns, to find the length of
/// `h * G : h * G + G`. Sums, differences and products hold modulo the width of
/// the type; everything else is an unknown named by its structure.
DimExpr Analyzer::getSymbol(const Node &node, unsigned depth) {
  constexpr size_t maxText = 300;
  constexpr unsigned maxDepth = 100;
  if (auto *literal = std::get_if<Node::Literal>(&node.op))
    if (auto *number = std::get_if<int64_t>(&literal->value))
      return DimExpr::constant(*number);
  if (auto *dim = std::get_if<Node::Dim>(&node.op))
    return dim->value;
  if (auto known = nodeSymbols.find(&node); known != nodeSymbols.end())
    return known->second;
  auto remember = [&](DimExpr symbol) {
    nodeSymbols.try_emplace(&node, symbol);
    return symbol;
  };
  auto unknown = [&] { return remember(DimExpr::dim("%" + std::to_string(numUnknowns++))); };
  auto *compute = std::get_if<Node::Compute>(&node.op);
  if (!compute || !node.isScalar || isFloat(node.type) || node.operands.size() > 2 || depth > maxDepth)
    return unknown();
  llvm::SmallVector<DimExpr> operands;
  size_t length = 0;
  for (const Node *operand : node.operands) {
    if (isFloat(operand->type))
      return unknown();
    operands.push_back(simplify(getSymbol(*operand, depth + 1)));
    length += operands.back().str().size();
  }
  if (length > maxText)
    return unknown();
  switch (compute->op) {
  case Elementwise::Add:
    return remember(DimExpr::binary(DimExpr::Kind::Add, operands[0], operands[1]));
  case Elementwise::Sub:
    return remember(DimExpr::binary(DimExpr::Kind::Sub, operands[0], operands[1]));
  case Elementwise::Mul:
    return remember(DimExpr::binary(DimExpr::Kind::Mul, operands[0], operands[1]));
  default:
    break;
  }
  std::string name = "%" + std::to_string(unsigned(compute->op)) + "." + getName(node.type).str() + "(";
  for (const DimExpr &operand : operands)
    name += operand.str() + ",";
  return remember(DimExpr::dim(name + ")"));
}

DimExpr Analyzer::getSymbol(const Value &value) { return value.isDim() ? value.dim : getSymbol(*value.node); }

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

std::optional<Value> Analyzer::evaluateMemory(const ast::Expr *expr) {
  auto *name = llvm::dyn_cast<ast::NameExpr>(expr);
  if (!name)
    return std::nullopt;
  auto symbol = symbols.find(name->name);
  if (symbol == symbols.end() || !symbol->second.value.isMemory())
    return std::nullopt;
  symbol->second.isUsed = true;
  Value value = symbol->second.value;
  value.expr = expr;
  if (diags.listener)
    diags.listener->onExpression(*expr, typeOf(value));
  return value;
}

Node *Analyzer::makeIndex(const Value &value, StringRef what) {
  if (value.isDim()) {
    std::optional<int64_t> number = getKnownInteger(value);
    bool isWide = !number || *number < INT32_MIN || *number > INT32_MAX;
    return makeDimNode(value, isWide ? DataType::I64 : DataType::I32, value.expr->loc);
  }
  if (value.isNode() && (value.node->type == DataType::I32 || value.node->type == DataType::I64))
    return value.node;
  mlir::InFlightDiagnostic diagnostic = diags.error(value.expr->loc);
  diagnostic << what << " must have type 'i32' or 'i64', got " << describe(value);
  if (value.isNode() && isInteger(value.node->type))
    diagnostic << "; convert it with '" << suggestCast("i32", value) << "'";
  return nullptr;
}

Node *Analyzer::makeIota(const Extent &extent, DataType type, llvm::SMLoc loc) {
  Node *node = makeNode(Node::Iota{}, type, loc);
  node->shape.push_back(extent);
  return node;
}

/// `tile`, which has one axis, as axis `axis` of `rank`.
Node *Analyzer::placeAxis(Node *tile, unsigned axis, unsigned rank, const ast::Expr *source) {
  if (rank == tile->shape.size())
    return tile;
  Node::Subscript subscript;
  Shape shape;
  unsigned after = rank - axis - tile->shape.size();
  auto addNew = [&](unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      subscript.items.emplace_back().isNewAxis = true;
      shape.push_back(*makeExtent(DimExpr::constant(1), source->loc));
    }
  };
  addNew(axis);
  for (const Extent &extent : tile->shape) {
    subscript.items.emplace_back().isFull = true;
    shape.push_back(extent);
  }
  addNew(after);
  Node *node = makeNode(std::move(subscript), tile->type, source->loc);
  node->shape = std::move(shape);
  node->operands.push_back(tile);
  return node;
}

std::optional<Analyzer::View> Analyzer::evaluateView(const ast::Expr *expr, StringRef function) {
  View view;
  view.expr = expr;
  auto *index = llvm::dyn_cast<ast::IndexExpr>(expr);
  const ast::Expr *base = index ? index->base : expr;
  std::optional<Value> memory = evaluateMemory(base);
  if (!memory) {
    Value value = evaluateAny(base);
    if (value.isPoison())
      return std::nullopt;
    if (!value.isMemory()) {
      mlir::InFlightDiagnostic diagnostic = diags.error(base->loc);
      diagnostic << "'" << function << "' needs a tensor parameter, a result or a shared tile, got " << describe(value);
      noteType(diagnostic, value, "this value");
      return std::nullopt;
    }
    memory = value;
  }
  view.memory = *memory;
  const Shape &extents = view.memory.memory->shape;

  struct Item {
    enum class Kind : uint8_t { Scalar, Tile, Slice, NewAxis } kind;
    const ast::Subscript *source;
    /// Scalar, tile: the index. Slice: its beginning.
    Node *node = nullptr;
    std::optional<Extent> length;
    const ast::Expr *expr = nullptr;
  };
  llvm::SmallVector<Item> items;
  llvm::SmallVector<ast::Subscript> whole;
  llvm::ArrayRef<ast::Subscript> subscripts;
  if (index) {
    subscripts = index->items;
  } else {
    whole.assign(extents.size(), ast::Subscript{ast::Subscript::Kind::Slice, expr->range, nullptr, nullptr});
    subscripts = whole;
  }
  unsigned count =
      llvm::count_if(subscripts, [](const ast::Subscript &i) { return i.kind != ast::Subscript::Kind::NewAxis; });
  if (count != extents.size()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr->loc);
    diagnostic << "view selects from " << count << (count == 1 ? " axis" : " axes") << ", but '"
               << printable(base->getText()) << "' has " << extents.size() << "; write ':' for an axis taken whole";
    noteType(diagnostic, view.memory, "the tensor");
    return std::nullopt;
  }
  bool ok = true, hasTile = false, hasSlice = false;
  unsigned axis = 0;
  for (const ast::Subscript &subscript : subscripts) {
    Item &item = items.emplace_back();
    item.source = &subscript;
    if (subscript.kind == ast::Subscript::Kind::NewAxis) {
      item.kind = Item::Kind::NewAxis;
      continue;
    }
    const Extent &extent = extents[axis++];
    if (subscript.kind == ast::Subscript::Kind::Element) {
      Value value = evaluate(subscript.begin);
      item.expr = subscript.begin;
      item.node = value.isPoison() ? nullptr : makeIndex(value, "an index");
      if (!item.node) {
        ok = false;
        continue;
      }
      item.kind = item.node->isScalar ? Item::Kind::Scalar : Item::Kind::Tile;
      hasTile |= !item.node->isScalar;
      continue;
    }
    item.kind = Item::Kind::Slice;
    hasSlice = true;
    item.expr = subscript.begin ? subscript.begin : subscript.end ? subscript.end : expr;
    auto constant = [&](DimExpr dim) {
      Value value;
      value.kind = Value::Kind::Dim;
      value.dim = std::move(dim);
      value.dimSize = 1;
      value.expr = item.expr;
      return value;
    };
    Value begin = subscript.begin ? evaluate(subscript.begin) : constant(DimExpr::constant(0));
    Value end = subscript.end ? evaluate(subscript.end) : constant(extent.written);
    for (const Value *bound : {&begin, &end}) {
      if (bound->isPoison()) {
        ok = false;
      } else if (!bound->isDim() && !(bound->isNode() && bound->node->isScalar && isInteger(bound->node->type))) {
        diags.error(bound->expr->loc) << "a slice bound must be an integer scalar, got " << describe(*bound)
                                      << (bound->isNode() && !bound->node->isScalar
                                              ? "; a tile of positions is an index by itself, without ':'"
                                              : "");
        ok = false;
      }
    }
    if (begin.isPoison() || end.isPoison() || !ok)
      continue;
    DimExpr length = simplify(DimExpr::binary(DimExpr::Kind::Sub, getSymbol(end), getSymbol(begin)));
    std::set<std::string> names;
    length.collectDims(names);
    if (llvm::any_of(names, [](const std::string &name) { return name.front() == '%'; })) {
      std::string first = subscript.begin ? printable(subscript.begin->getText()) : "0";
      diags.error(subscript.range.Start) << "the length of slice '"
                                         << printable(StringRef(subscript.range.Start.getPointer(),
                                                                subscript.range.End.getPointer() -
                                                                    subscript.range.Start.getPointer()))
                                         << "' depends on the run; write a fixed length, '" << first << " : " << first
                                         << " + N', and mask what is behind the end";
      ok = false;
      continue;
    }
    std::optional<int64_t> known = length.substitute(dims).getConstant();
    if (known && *known <= 0) {
      std::string values = describeDims(length);
      diags.error(subscript.range.Start) << "the length of this slice is " << *known << (values.empty() ? "" : " for ")
                                         << values << "; it must be positive";
      ok = false;
      continue;
    }
    item.length = makeExtent(length, item.expr->loc);
    if (!item.length || !checkExtents(Shape{*item.length}, item.expr->loc)) {
      ok = false;
      continue;
    }
    item.node = makeIndex(begin, "a slice bound");
    ok &= item.node != nullptr;
  }
  if (!ok)
    return std::nullopt;

  if (!hasTile) {
    // Slices and new axes become the axes of the tile, as written.
    unsigned rank = llvm::count_if(items, [](const Item &item) { return item.kind != Item::Kind::Scalar; });
    unsigned position = 0;
    for (const Item &item : items) {
      if (item.kind == Item::Kind::NewAxis) {
        view.shape.push_back(*makeExtent(DimExpr::constant(1), item.source->range.Start));
        ++position;
        continue;
      }
      if (item.kind == Item::Kind::Scalar) {
        view.indices.push_back(item.node);
        continue;
      }
      view.shape.push_back(*item.length);
      view.indices.push_back(placeAxis(makeSlice(item.node, *item.length, item.expr), position++, rank, item.expr));
    }
    view.isScalar = rank == 0;
    return checkExtents(view.shape, expr->loc) ? std::optional(view) : std::nullopt;
  }

  for (const Item &item : items) {
    if (item.kind == Item::Kind::NewAxis) {
      diags.error(item.source->range.Start) << "a new axis beside index tiles is written in the tiles: 'rows[:, None]'";
      return std::nullopt;
    }
    if (hasSlice && item.kind == Item::Kind::Tile && item.node->shape.size() > 1) {
      mlir::InFlightDiagnostic diagnostic = diags.error(item.expr->loc);
      diagnostic << "an index tile of more than one axis cannot stand beside a slice; write the slice 'a : a + N' as "
                    "index tile '(a + iota(N))[None, :]'";
      noteType(diagnostic, makeValue(item.node, item.expr), "the index tile");
      return std::nullopt;
    }
  }
  // Index tiles broadcast against each other.
  Shape indexShape;
  llvm::SmallVector<Value> tiles;
  tiles.reserve(items.size());
  const Value *owner = nullptr;
  for (const Item &item : items) {
    if (item.kind != Item::Kind::Tile)
      continue;
    tiles.push_back(makeValue(item.node, item.expr));
    if (!broadcast(indexShape, owner, tiles.back(), "an index list", item.expr->loc))
      return std::nullopt;
  }
  unsigned rank = indexShape.size() + llvm::count_if(items, [](const Item &i) { return i.kind == Item::Kind::Slice; });
  // Without slices the tiles are the whole shape; with them they are one axis,
  // at the first of them.
  bool hasPlace = false;
  for (const Item &item : items) {
    if (item.kind == Item::Kind::Scalar)
      continue;
    if (item.kind == Item::Kind::Slice) {
      view.shape.push_back(*item.length);
    } else if (!hasPlace) {
      hasPlace = true;
      llvm::append_range(view.shape, indexShape);
    }
  }
  unsigned position = 0, tilePosition = 0;
  hasPlace = false;
  for (const Item &item : items) {
    if (item.kind == Item::Kind::Scalar) {
      view.indices.push_back(item.node);
    } else if (item.kind == Item::Kind::Slice) {
      view.indices.push_back(placeAxis(makeSlice(item.node, *item.length, item.expr), position++, rank, item.expr));
    } else {
      if (!hasPlace) {
        hasPlace = true;
        tilePosition = position;
        position += indexShape.size();
      }
      // Aligned at the last axis of the index shape.
      unsigned axis = tilePosition + indexShape.size() - item.node->shape.size();
      view.indices.push_back(placeAxis(item.node, axis, rank, item.expr));
    }
  }
  return checkExtents(view.shape, expr->loc) ? std::optional(view) : std::nullopt;
}

Node *Analyzer::makeSlice(Node *begin, const Extent &length, const ast::Expr *source) {
  Node *iota = makeIota(length, begin->type, source->loc);
  auto *literal = std::get_if<Node::Literal>(&begin->op);
  if (literal && std::get_if<int64_t>(&literal->value) && std::get<int64_t>(literal->value) == 0)
    return iota;
  Node *sum = makeNode(Node::Compute{Elementwise::Add}, begin->type, source->loc);
  sum->shape = iota->shape;
  sum->operands = {begin, iota};
  return sum;
}

std::optional<Value> Analyzer::evaluateKernelIndex(const ast::IndexExpr &expr) {
  std::optional<Value> memory = evaluateMemory(expr.base);
  if (!memory)
    return std::nullopt;
  std::optional<View> view = evaluateView(&expr, "load");
  if (!view)
    return Value();
  if (!view->isScalar) {
    diags.error(expr.loc) << "'" << printable(expr.getText()) << "' selects a tile of memory; read it with 'load("
                          << printable(expr.getText()) << ")'";
    return Value();
  }
  return makeLoad(*view, nullptr, &expr);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool Analyzer::splitArgs(const ast::CallExpr &expr, unsigned minimum, unsigned maximum, llvm::ArrayRef<StringRef> names,
                         llvm::SmallVectorImpl<const ast::Expr *> &positional,
                         llvm::SmallVectorImpl<const ast::Expr *> &named) {
  bool ok = true;
  named.assign(names.size(), nullptr);
  for (const ast::Argument &arg : expr.args) {
    if (arg.name.empty()) {
      positional.push_back(arg.value);
      continue;
    }
    size_t index = llvm::find(names, arg.name) - names.begin();
    if (index == names.size()) {
      diags.error(arg.loc) << "'" << expr.callee << "' has no argument named '" << printable(arg.name) << "'"
                           << didYouMean(arg.name, names);
      ok = false;
    } else if (named[index]) {
      diags.error(arg.loc) << "argument '" << arg.name << "' of '" << expr.callee << "' is given twice";
      ok = false;
    } else {
      named[index] = arg.value;
    }
  }
  if (positional.size() < minimum || positional.size() > maximum) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    diagnostic << "'" << expr.callee << "' takes ";
    if (minimum != maximum)
      diagnostic << minimum << " to ";
    diagnostic << maximum << (maximum == 1 ? " argument" : " arguments") << ", got " << positional.size();
    if (positional.size() > maximum && !names.empty())
      diagnostic << "; '" << names.front() << "' is named: '" << names.front() << " = ...'";
    ok = false;
  }
  return ok;
}

/// A value for every element of a view: a scalar, or a tile that broadcasts.
bool Analyzer::checkFills(const Value &value, const Shape &shape, StringRef what, const Value &viewed) {
  const Shape &own = value.node->shape;
  bool fits = own.size() <= shape.size();
  for (unsigned fromEnd = 1; fits && fromEnd <= own.size(); ++fromEnd) {
    const Extent &extent = own[own.size() - fromEnd];
    fits = extent.isOne() || extent == shape[shape.size() - fromEnd];
  }
  if (fits)
    return true;
  mlir::InFlightDiagnostic diagnostic = diags.error(value.expr->loc);
  diagnostic << what << " has shape '" << toString(own) << "', the view has '" << toString(shape) << "'";
  noteType(diagnostic, value, what);
  diags.note(diagnostic, viewed.expr->loc)
      << "the view of '" << typeOf(viewed) << "' has shape '" << toString(shape) << "'";
  return false;
}

Value Analyzer::makeLoad(const View &view, Node *fill, const ast::Expr *source) {
  Node *node = makeKernelNode(KernelOp::Kind::Load, view.memory.memory->type, source->loc, view.indices);
  KernelOp &op = *std::get<Node::Kernel>(node->op);
  op.memory = view.memory.memory->ref;
  op.hasExtra = fill != nullptr;
  if (fill)
    node->operands.push_back(fill);
  node->isScalar = view.isScalar;
  node->shape = view.shape;
  return makeValue(node, source);
}

Value Analyzer::evaluateLoad(const ast::CallExpr &expr) {
  llvm::SmallVector<const ast::Expr *> args, named;
  if (!splitArgs(expr, 1, 1, {"fill"}, args, named))
    return {};
  std::optional<View> view = evaluateView(args[0], expr.callee);
  Value fill = named[0] ? evaluate(named[0]) : Value();
  if (!view || (named[0] && fill.isPoison()))
    return {};
  if (named[0]) {
    DataType type = view->memory.memory->type;
    if (!fill.isNode() && !adapt(fill, type, "the fill value", named[0]->loc))
      return {};
    if (!fill.isNode() || !fill.node->isScalar || fill.node->type != type) {
      mlir::InFlightDiagnostic diagnostic = diags.error(named[0]->loc);
      diagnostic << "the fill value must be a scalar of type '" << getName(type) << "', got " << describe(fill);
      noteType(diagnostic, view->memory, "the tensor");
      return {};
    }
  }
  return makeLoad(*view, named[0] ? fill.node : nullptr, &expr);
}

bool Analyzer::selectWritten(View &view, StringRef function) {
  MemoryRef memory = view.memory.memory->ref;
  if (memory.kind == MemoryRef::Kind::Param) {
    const Variable &param = result->params[memory.index];
    auto entry = llvm::find_if(result->results, [&](const Variable &v) { return v.name == param.name; });
    if (entry == result->results.end()) {
      mlir::InFlightDiagnostic diagnostic = diags.error(view.expr->loc);
      diagnostic << "'" << function << "' cannot write to parameter '" << param.name
                 << "'; what a kernel writes stands among its results, '-> (" << param.name << ": " << typeOf(param)
                 << ")'";
      diags.note(diagnostic, param.loc) << "the parameter is declared here";
      return false;
    }
    memory.kind = MemoryRef::Kind::Result;
    memory.index = entry - result->results.begin();
  }
  if (memory.kind == MemoryRef::Kind::Result)
    writtenResults.insert(memory.index);
  auto written = std::make_shared<MemoryInfo>(*view.memory.memory);
  written->ref = memory;
  view.memory.memory = std::move(written);
  return true;
}

bool Analyzer::checkWritten(Value &value, DataType type, const Shape &shape, StringRef what, const Value &viewed,
                            llvm::SMLoc loc) {
  if (!value.isNode() && !value.isTuple() && !adapt(value, type, what, loc))
    return false;
  if (!value.isNode() || value.node->type != type) {
    mlir::InFlightDiagnostic diagnostic = diags.error(loc);
    diagnostic << what << " must have element type '" << getName(type) << "', got " << describe(value);
    if (value.isNode())
      diagnostic << "; convert it with '" << suggestCast(getName(type), value) << "'";
    noteType(diagnostic, viewed, "the tensor");
    return false;
  }
  return checkFills(value, shape, what, viewed);
}

bool Analyzer::checkMask(const Value &mask, const Shape &shape, const Value &viewed, llvm::SMLoc loc) {
  if (mask.isNode() && mask.node->type == DataType::I1)
    return checkFills(mask, shape, "the mask", viewed);
  diags.error(loc) << "a mask must have type 'i1', got " << describe(mask);
  return false;
}

Value Analyzer::evaluateStore(const ast::CallExpr &expr) {
  llvm::SmallVector<const ast::Expr *> args, named;
  if (!splitArgs(expr, 2, 2, {"mask"}, args, named))
    return {};
  std::optional<View> view = evaluateView(args[0], expr.callee);
  if (view && !selectWritten(*view, expr.callee))
    view.reset();
  Value value = evaluate(args[1]);
  Value mask = named[0] ? evaluate(named[0]) : Value();
  if (!view || value.isPoison() || (named[0] && mask.isPoison()))
    return {};
  DataType type = view->memory.memory->type;
  std::string what = ("the value of '" + expr.callee + "'").str();
  if (!checkWritten(value, type, view->shape, what, view->memory, args[1]->loc))
    return {};
  if (named[0] && !checkMask(mask, view->shape, view->memory, named[0]->loc))
    return {};
  Node *node = makeKernelNode(KernelOp::Kind::Store, type, expr.loc, view->indices);
  KernelOp &op = *std::get<Node::Kernel>(node->op);
  op.memory = view->memory.memory->ref;
  op.hasExtra = named[0] != nullptr;
  node->isScalar = view->isScalar;
  node->shape = view->shape;
  node->operands.push_back(value.node);
  if (named[0])
    node->operands.push_back(mask.node);
  return makeVoid(&expr);
}

Value Analyzer::evaluateAtomic(const ast::CallExpr &expr, AtomicKind kind) {
  bool isCas = kind == AtomicKind::CompareExchange;
  llvm::SmallVector<const ast::Expr *> args, named;
  if (!splitArgs(expr, isCas ? 3 : 2, isCas ? 3 : 2, {"mask"}, args, named))
    return {};
  std::optional<View> view = evaluateView(args[0], expr.callee);
  if (view && !selectWritten(*view, expr.callee))
    view.reset();
  llvm::SmallVector<Value> values;
  for (const ast::Expr *arg : llvm::ArrayRef(args).drop_front())
    values.push_back(evaluate(arg));
  Value mask = named[0] ? evaluate(named[0]) : Value();
  if (!view || llvm::any_of(values, [](const Value &v) { return v.isPoison(); }) || (named[0] && mask.isPoison()))
    return {};
  DataType type = view->memory.memory->type;
  // The table of functions lists the types.
  llvm::SmallVector<StringRef> known;
  lookupBuiltin(expr.callee)->types.trim('`').split(known, ' ');
  if (!llvm::is_contained(known, getName(type))) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    diagnostic << "'" << expr.callee << "' works on elements of type '"
               << llvm::join(known.begin(), known.end() - 1, "', '") << "' or '" << known.back() << "', got '"
               << getName(type) << "'";
    noteType(diagnostic, view->memory, "the tensor");
    return {};
  }
  std::string what = ("the value of '" + expr.callee + "'").str();
  for (auto [value, arg] : llvm::zip_equal(values, llvm::ArrayRef(args).drop_front())) {
    if (!checkWritten(value, type, view->shape, what, view->memory, arg->loc))
      return {};
  }
  if (named[0] && !checkMask(mask, view->shape, view->memory, named[0]->loc))
    return {};
  Node *node = makeKernelNode(KernelOp::Kind::Atomic, type, expr.loc, view->indices);
  KernelOp &op = *std::get<Node::Kernel>(node->op);
  op.memory = view->memory.memory->ref;
  op.atomic = kind;
  op.hasExtra = named[0] != nullptr;
  node->isScalar = view->isScalar;
  node->shape = view->shape;
  for (const Value &value : values)
    node->operands.push_back(value.node);
  if (named[0])
    node->operands.push_back(mask.node);
  return makeValue(node, &expr);
}

Value Analyzer::evaluateGrid(const ast::CallExpr &expr, KernelOp::Kind kind) {
  llvm::SmallVector<const ast::Expr *> args, named;
  if (!splitArgs(expr, 0, 0, {}, args, named))
    return {};
  std::vector<Value> values;
  for (unsigned axis = 0; axis < std::max<size_t>(1, std::min<size_t>(decl.grid.size(), 3)); ++axis) {
    Node *node = makeKernelNode(kind, DataType::I32, expr.loc);
    std::get<Node::Kernel>(node->op)->index = axis;
    values.push_back(makeValue(node, &expr));
  }
  return values.size() == 1 ? values.front() : makeTuple(std::move(values), &expr);
}

bool Analyzer::evaluateTileType(const ast::Expr *expr, DataType &type, Shape &shape, bool &isScalar) {
  auto *index = llvm::dyn_cast<ast::IndexExpr>(expr);
  auto *name = llvm::dyn_cast<ast::NameExpr>(index ? index->base : expr);
  std::optional<DataType> element = name ? lookupType(name->name) : std::nullopt;
  if (!element) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr->loc);
    diagnostic << "expected a type such as 'f32[64, 32]', got '" << printable(expr->getText()) << "'"
               << (name ? didYouMean(name->name, typeNames) : std::string());
    return false;
  }
  type = *element;
  isScalar = !index;
  if (!index)
    return true;
  bool ok = true;
  for (const ast::Subscript &item : index->items) {
    if (item.kind != ast::Subscript::Kind::Element) {
      diags.error(item.range.Start) << "an extent is a number, not a slice";
      ok = false;
      continue;
    }
    std::optional<DimExpr> dim = evaluateDim(item.begin, "an extent");
    std::optional<Extent> extent = dim ? makeExtent(*dim, item.begin->loc) : std::nullopt;
    if (extent)
      shape.push_back(*extent);
    else
      ok = false;
  }
  return ok && checkExtents(shape, expr->loc);
}

Value Analyzer::evaluateShared(const ast::CallExpr &expr) {
  llvm::SmallVector<const ast::Expr *> args, named;
  if (!splitArgs(expr, 1, 1, {}, args, named))
    return {};
  Value value;
  value.kind = Value::Kind::Memory;
  value.expr = &expr;
  auto memory = std::make_shared<MemoryInfo>();
  bool isScalar;
  if (!evaluateTileType(args[0], memory->type, memory->shape, isScalar))
    return {};
  if (isScalar || memory->shape.empty()) {
    diags.error(args[0]->loc) << "a shared tile has axes: 'shared(" << getName(memory->type) << "[64])'";
    return {};
  }
  if (memory->type == DataType::I1) {
    diags.error(args[0]->loc) << "a shared tile holds no 'i1'; use 'u8'";
    return {};
  }
  if (!checkPacked(memory->type, memory->shape.back().written, "the last extent", args[0]->loc))
    return {};
  Node *node = makeKernelNode(KernelOp::Kind::Shared, memory->type, expr.loc);
  node->isScalar = false;
  node->shape = memory->shape;
  memory->ref.kind = MemoryRef::Kind::Shared;
  memory->ref.shared = node;
  value.memory = std::move(memory);
  return value;
}

Value Analyzer::evaluatePin(const ast::CallExpr &expr) {
  llvm::SmallVector<const ast::Expr *> args, named;
  if (!splitArgs(expr, 2, 2, {}, args, named))
    return {};
  Value value = evaluate(args[0]);
  if (value.isPoison())
    return {};
  if (!value.isNode() || value.node->isScalar) {
    diags.error(args[0]->loc) << "only the elements of a tile have a layout, got " << describe(value);
    return {};
  }
  auto *text = llvm::dyn_cast<ast::StringExpr>(args[1]);
  if (!text) {
    diags.error(args[1]->loc) << "the layout of 'pin' is a text, for example '\"((64,4),4):((4,256),1)\"'";
    return {};
  }
  Node *node = makeKernelNode(KernelOp::Kind::Pin, value.node->type, expr.loc, value.node);
  node->isScalar = false;
  node->shape = value.node->shape;
  KernelOp &op = *std::get<Node::Kernel>(node->op);
  op.text = text->value.str();
  op.textLoc = args[1]->loc;
  return makeValue(node, &expr);
}

Value Analyzer::evaluateRaw(const ast::CallExpr &expr) {
  llvm::SmallVector<const ast::Expr *> args, named;
  if (!splitArgs(expr, 1, 17, {"type"}, args, named))
    return {};
  auto *text = llvm::dyn_cast<ast::StringExpr>(args[0]);
  if (!text) {
    diags.error(args[0]->loc) << "the first argument of 'raw' is the text of MLIR operations";
    return {};
  }
  llvm::SmallVector<Node *> operands;
  bool ok = true;
  for (const ast::Expr *arg : llvm::ArrayRef(args).drop_front()) {
    Value value = evaluate(arg);
    if (!value.isPoison() && !value.isNode()) {
      requireTyped(value, "'raw'");
      value = {};
    }
    ok &= !value.isPoison();
    operands.push_back(value.node);
  }
  DataType type = DataType::I1;
  Shape shape;
  bool isScalar = true;
  if (!named[0]) {
    diags.error(expr.loc) << "'raw' needs the type of its value: 'type = f32[64]'";
    ok = false;
  } else {
    ok &= evaluateTileType(named[0], type, shape, isScalar);
  }
  if (!ok)
    return {};
  Node *node = makeKernelNode(KernelOp::Kind::Raw, type, expr.loc, operands);
  node->isScalar = shape.empty();
  node->shape = std::move(shape);
  KernelOp &op = *std::get<Node::Kernel>(node->op);
  op.text = text->value.str();
  op.textLoc = args[0]->loc;
  return makeValue(node, &expr);
}

/// `cdiv` of numbers and of values: -(-a / b), whose division rounds down.
Value Analyzer::evaluateCeilDiv(const ast::CallExpr &expr) {
  llvm::SmallVector<Value> args;
  if (!evaluateArgs(expr, 2, args))
    return {};
  if (args[0].isDim() && args[1].isDim())
    return makeDimBinary(DimExpr::Kind::CeilDiv, args[0], args[1], &expr);
  if (!unify(args, "'cdiv'", expr.loc))
    return {};
  DataType type = args[0].node->type;
  if (!isInteger(type) || isUnsigned(type)) {
    diags.error(expr.loc) << "'cdiv' divides signed integers, got " << describe(args[0]);
    return {};
  }
  Value negative = makeElementwise(Elementwise::Neg, type, args[0], "'cdiv'", &expr);
  Value quotient = makeElementwise(Elementwise::Div, type, {negative, args[1]}, "'cdiv'", &expr);
  return quotient.isPoison() ? Value() : makeElementwise(Elementwise::Neg, type, quotient, "'cdiv'", &expr);
}

std::optional<Value> Analyzer::evaluateKernelCall(const ast::CallExpr &expr) {
  std::optional<AtomicKind> atomic = llvm::StringSwitch<std::optional<AtomicKind>>(expr.callee)
                                         .Case("atomic_add", AtomicKind::Add)
                                         .Case("atomic_max", AtomicKind::Max)
                                         .Case("atomic_min", AtomicKind::Min)
                                         .Case("atomic_and", AtomicKind::And)
                                         .Case("atomic_or", AtomicKind::Or)
                                         .Case("atomic_xor", AtomicKind::Xor)
                                         .Case("atomic_exchange", AtomicKind::Exchange)
                                         .Case("atomic_cas", AtomicKind::CompareExchange)
                                         .Default(std::nullopt);
  const Builtin *builtin = lookupBuiltin(expr.callee);
  if (!builtin)
    return evaluateHelperCall(expr);
  if (isKernel && expr.callee == "cdiv")
    return evaluateCeilDiv(expr);
  if (!isKernel || !builtin->isKernelOnly)
    return std::nullopt;
  if (atomic)
    return evaluateAtomic(expr, *atomic);
  if (expr.callee == "load" || expr.callee == "gather")
    return evaluateLoad(expr);
  if (expr.callee == "store" || expr.callee == "scatter")
    return evaluateStore(expr);
  if (expr.callee == "block_id")
    return evaluateGrid(expr, KernelOp::Kind::BlockId);
  if (expr.callee == "num_blocks")
    return evaluateGrid(expr, KernelOp::Kind::NumBlocks);
  if (expr.callee == "shared")
    return evaluateShared(expr);
  if (expr.callee == "pin")
    return evaluatePin(expr);
  if (expr.callee == "raw")
    return evaluateRaw(expr);
  // barrier()
  llvm::SmallVector<const ast::Expr *> args, named;
  if (!splitArgs(expr, 0, 0, {}, args, named))
    return Value();
  makeKernelNode(KernelOp::Kind::Barrier, DataType::I1, expr.loc);
  return makeVoid(&expr);
}
