//===- SemaBuiltins.cpp - Scans, order, products and shapes ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same code checks both forms: extents are expressions over dimensions in an
// operator and numbers in a kernel.
//
//===----------------------------------------------------------------------===//
#include "Analyzer.h"
#include "atrex/Frontend/Builtins.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

using namespace atrex;
using namespace atrex::frontend;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

bool Analyzer::bindArgs(const ast::CallExpr &expr, const Builtin &builtin,
                        llvm::SmallVectorImpl<const ast::Expr *> &bound) {
  llvm::SmallVector<BuiltinParam, 6> params = getParams(builtin);
  bound.assign(params.size(), nullptr);
  bool ok = true;
  unsigned position = 0;
  for (const ast::Argument &arg : expr.args) {
    const BuiltinParam *param;
    if (arg.name.empty()) {
      if (position == params.size()) {
        diags.error(arg.value->loc) << "'" << builtin.getSignature() << "' has " << params.size()
                                    << " parameters, got more";
        ok = false;
        break;
      }
      param = &params[position++];
    } else {
      param = llvm::find_if(params, [&](const BuiltinParam &p) { return p.name == arg.name; });
      if (param == params.end()) {
        std::vector<StringRef> names;
        for (const BuiltinParam &p : params)
          names.push_back(p.name);
        diags.error(arg.loc) << "'" << builtin.getSignature() << "' has no parameter '" << printable(arg.name) << "'"
                             << didYouMean(arg.name, names);
        ok = false;
        continue;
      }
    }
    const ast::Expr *&slot = bound[param - params.begin()];
    if (slot) {
      mlir::InFlightDiagnostic diagnostic = diags.error(arg.name.empty() ? arg.value->loc : arg.loc);
      diagnostic << "parameter '" << param->name << "' of '" << builtin.name << "' is given twice";
      diags.note(diagnostic, slot->loc) << "the other value is here";
      ok = false;
      continue;
    }
    slot = arg.value;
  }
  if (ok)
    for (auto [param, value] : llvm::zip_equal(params, bound))
      if (!value && !param.isOptional) {
        diags.error(expr.loc) << "'" << builtin.getSignature() << "' needs a value for '" << param.name << "'";
        ok = false;
        break;
      }
  // Names inside are still looked up, so that each is reported in this run.
  if (!ok)
    for (const ast::Argument &arg : expr.args)
      if (!llvm::isa<ast::StringExpr, ast::BoolExpr, ast::TupleExpr>(arg.value) && arg.name.empty())
        evaluate(arg.value);
  return ok;
}

/// Evaluates an operand that must be a tensor with axes.
Value Analyzer::evaluateTensor(const ast::Expr *expr, StringRef what) {
  Value value = evaluate(expr);
  if (value.isPoison())
    return {};
  if (value.isNode() && !value.node->isScalar)
    return value;
  diags.error(expr->loc) << what << " needs a tensor, got " << describe(value);
  return {};
}

std::optional<bool> Analyzer::evaluateFlag(const ast::Expr *expr, StringRef what) {
  if (!expr)
    return false;
  if (auto *flag = llvm::dyn_cast<ast::BoolExpr>(expr))
    return flag->value;
  diags.error(expr->loc) << what << " must be 'true' or 'false'";
  return std::nullopt;
}

std::optional<unsigned> Analyzer::evaluateAxis(const ast::Expr *expr, unsigned rank) {
  if (llvm::isa<ast::TupleExpr>(expr)) {
    diags.error(expr->loc) << "one axis is needed here, not a list";
    return std::nullopt;
  }
  llvm::SmallVector<unsigned> axes;
  if (!evaluateAxes({"", expr->loc, expr}, rank, axes))
    return std::nullopt;
  return axes.front();
}

/// Extents between parentheses, or a single one.
bool Analyzer::evaluateShape(const ast::Expr *expr, Shape &shape) {
  llvm::ArrayRef<const ast::Expr *> list = expr;
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(expr))
    list = tuple->elements;
  for (const ast::Expr *element : list) {
    std::optional<DimExpr> dim = evaluateDim(element, "an extent");
    std::optional<Extent> extent = dim ? makeExtent(*dim, element->loc) : std::nullopt;
    if (!extent)
      return false;
    shape.push_back(std::move(*extent));
  }
  return true;
}

/// Positions along an axis are of type i32.
void Analyzer::requirePositions(const Extent &extent) {
  if (!extent.constant)
    require(extent.value, "<=", DimExpr::constant(INT32_MAX));
}

Value Analyzer::convert(const Value &value, DataType type, const ast::Expr *source) {
  if (value.node->type == type)
    return value;
  return makeElementwise(Elementwise::Cast, type, value, "a conversion", source);
}

static DimExpr getNumElements(llvm::ArrayRef<Extent> shape) {
  DimExpr product = DimExpr::constant(1);
  for (const Extent &extent : shape)
    product = DimExpr::binary(DimExpr::Kind::Mul, product, extent.written);
  return product;
}

//===----------------------------------------------------------------------===//
// Scans and order
//===----------------------------------------------------------------------===//

Value Analyzer::evaluateScan(const ast::CallExpr &expr, const Builtin &builtin, Reduction reduction) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  std::string what = ("'" + builtin.name + "'").str();
  Value x = evaluateTensor(args[0], what);
  if (x.isPoison() || !checkReduces(x, reduction, builtin.name))
    return {};
  std::optional<unsigned> axis = evaluateAxis(args[1], x.node->shape.size());
  std::optional<bool> isExclusive = evaluateFlag(args[2], "'exclusive'"),
                      isReverse = evaluateFlag(args[3], "'reverse'");
  if (!axis || !isExclusive || !isReverse)
    return {};
  DataType type = x.node->type;
  Value input = convert(x, isFloat(type) && getSizeInBytes(type) < 4 ? DataType::F32 : type, &expr);
  Node *node = makeNode(Node::Scan{reduction, *axis, *isExclusive, *isReverse}, input.node->type, expr.loc);
  node->shape = input.node->shape;
  node->operands.push_back(input.node);
  return convert(makeValue(node, &expr), type, &expr);
}

Value Analyzer::evaluateTopK(const ast::CallExpr &expr, const Builtin &builtin, bool isSort) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  const ast::Expr *kExpr = isSort ? nullptr : args[1], *axisExpr = args[isSort ? 1 : 2],
                  *flagExpr = args[isSort ? 2 : 3];
  std::string what = ("'" + builtin.name + "'").str();
  Value x = evaluateTensor(args[0], what);
  if (x.isPoison() || !checkOrdered(x, what))
    return {};
  std::optional<unsigned> axis = evaluateAxis(axisExpr, x.node->shape.size());
  std::optional<bool> flag = evaluateFlag(flagExpr, isSort ? "'descending'" : "'smallest'");
  if (!axis || !flag)
    return {};
  const Extent &extent = x.node->shape[*axis];
  requirePositions(extent);
  Extent k = extent;
  if (kExpr) {
    std::optional<DimExpr> dim = evaluateDim(kExpr, "the number of elements");
    std::optional<Extent> count = dim ? makeExtent(*dim, kExpr->loc) : std::nullopt;
    if (!count)
      return {};
    k = *count;
    std::optional<bool> fits = isNonNegative(DimExpr::binary(DimExpr::Kind::Sub, extent.value, k.value));
    if (fits == false) {
      mlir::InFlightDiagnostic diagnostic = diags.error(kExpr->loc);
      diagnostic << what << " selects '" << k.written.str() << "' of '" << extent.written.str()
                 << "' elements along axis " << *axis;
      std::string values = describeDims(DimExpr::binary(DimExpr::Kind::Add, k.written, extent.written));
      if (!values.empty())
        diagnostic << " for " << values;
      noteType(diagnostic, x, "the tensor");
      return {};
    }
    if (!fits)
      require(k.value, "<=", extent.value);
  }
  Node *node = makeNode(Node::TopK{*axis, isSort ? !*flag : *flag}, x.node->type, expr.loc);
  node->shape = x.node->shape;
  node->shape[*axis] = k;
  node->operands.push_back(x.node);
  std::vector<Value> elements;
  for (unsigned i : {0u, 1u}) {
    Node *part = makeNode(Node::ExtractResult{i}, i ? DataType::I32 : node->type, expr.loc);
    part->shape = node->shape;
    part->operands.push_back(node);
    elements.push_back(makeValue(part, &expr));
  }
  return makeTuple(std::move(elements), &expr);
}

Value Analyzer::evaluateRank(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  Value x = evaluateTensor(args[0], "'rank'");
  if (x.isPoison())
    return {};
  if (!isInteger(x.node->type)) {
    diags.error(x.expr->loc) << "'rank' compares integers, got " << describe(x);
    return {};
  }
  std::optional<unsigned> axis = evaluateAxis(args[1], x.node->shape.size());
  if (!axis)
    return {};
  requirePositions(x.node->shape[*axis]);
  Node *node = makeNode(Node::Rank{*axis}, DataType::I32, expr.loc);
  node->shape = x.node->shape;
  node->operands.push_back(x.node);
  return makeValue(node, &expr);
}

Value Analyzer::evaluateHistogram(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  Value x = evaluateTensor(args[0], "'histogram'");
  std::optional<DimExpr> dim = evaluateDim(args[1], "the number of bins");
  std::optional<Extent> bins = dim ? makeExtent(*dim, args[1]->loc) : std::nullopt;
  Value mask = args[2] ? evaluate(args[2]) : Value();
  if (x.isPoison() || !bins || (args[2] && mask.isPoison()))
    return {};
  if (!isInteger(x.node->type)) {
    diags.error(x.expr->loc) << "'histogram' counts integers, got " << describe(x);
    return {};
  }
  Node *node = makeNode(Node::Histogram{}, DataType::I32, expr.loc);
  node->shape.push_back(*bins);
  node->operands.push_back(x.node);
  if (!args[2])
    return makeValue(node, &expr);
  if (!mask.isNode() || mask.node->type != DataType::I1) {
    diags.error(mask.expr->loc) << "the mask of 'histogram' must have type 'i1', got " << describe(mask);
    return {};
  }
  Shape shape;
  const Value *owner = nullptr;
  if (!broadcast(shape, owner, x, "'histogram'", expr.loc) || !broadcast(shape, owner, mask, "'histogram'", expr.loc))
    return {};
  if (shape != x.node->shape) {
    mlir::InFlightDiagnostic diagnostic = diags.error(mask.expr->loc);
    diagnostic << "the mask of 'histogram' has more elements than the values";
    noteType(diagnostic, x, "the tensor");
    noteType(diagnostic, mask, "the mask");
    return {};
  }
  node->operands.push_back(mask.node);
  return makeValue(node, &expr);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The type in which products of `operand` are summed: as written, or the
/// default.
std::optional<DataType> Analyzer::evaluateAccumulator(const ast::Expr *expr, const Value &operand, StringRef what) {
  DataType type = operand.node->type;
  if (type == DataType::I1) {
    diags.error(operand.expr->loc) << what << " multiplies numbers, got " << describe(operand);
    return std::nullopt;
  }
  if (!expr) {
    if (isFloat(type))
      return type == DataType::F64 ? DataType::F64 : DataType::F32;
    return type == DataType::I64 || type == DataType::U32 ? type : DataType::I32;
  }
  auto *name = llvm::dyn_cast<ast::NameExpr>(expr);
  std::optional<DataType> acc = name ? lookupType(name->name) : std::nullopt;
  if (!acc) {
    diags.error(expr->loc) << "the accumulator of " << what << " is an element type, for example 'acc = f32'";
    return std::nullopt;
  }
  bool fits = isFloat(type) ? (*acc == DataType::F64 || (*acc == DataType::F32 && type != DataType::F64))
                            : (*acc == DataType::I64 || *acc == DataType::I32 || *acc == DataType::U32) &&
                                  getBits(*acc) >= getBits(type);
  if (fits)
    return acc;
  diags.error(expr->loc) << "products of type '" << getName(type) << "' are not summed in '" << getName(*acc)
                         << "'; possible are "
                         << (type == DataType::F64 ? "'f64'"
                             : isFloat(type)       ? "'f32' and 'f64'"
                             : getBits(type) == 64 ? "'i64'"
                                                   : "'i32', 'u32' and 'i64'");
  return std::nullopt;
}

/// Sum of products. `letters` has a letter for every axis of each operand.
Value Analyzer::makeContract(llvm::ArrayRef<Value> operands, llvm::ArrayRef<std::string> letters, StringRef output,
                             DataType acc, StringRef what, const ast::Expr *source) {
  // Letters in loop order: those of the result, then those summed over.
  std::string order = output.str();
  for (const std::string &text : letters)
    for (char letter : text)
      if (order.find(letter) == std::string::npos)
        order += letter;
  llvm::SmallVector<std::pair<const Extent *, const Value *>> extents(order.size());
  Node::Contract contract;
  contract.numLoops = order.size();
  for (auto [operand, text] : llvm::zip_equal(operands, letters)) {
    llvm::SmallVector<unsigned> &axes = contract.axes.emplace_back();
    for (auto [axis, letter] : llvm::enumerate(text)) {
      unsigned loop = order.find(letter);
      axes.push_back(loop);
      const Extent &extent = operand.node->shape[axis];
      auto &[known, owner] = extents[loop];
      if (!known) {
        known = &extent;
        owner = &operand;
      } else if (!(*known == extent)) {
        mlir::InFlightDiagnostic diagnostic = diags.error(source->loc);
        diagnostic << "axis '" << std::string(1, letter) << "' of " << what << " has extent '" << known->written.str()
                   << "' in one operand and '" << extent.written.str() << "' in the other";
        noteType(diagnostic, *owner, "this operand");
        noteType(diagnostic, operand, "this operand");
        return {};
      }
    }
  }
  Node *node = makeNode(std::move(contract), acc, source->loc);
  for (unsigned i = 0; i < output.size(); ++i)
    node->shape.push_back(*extents[i].first);
  for (const Value &operand : operands)
    node->operands.push_back(operand.node);
  return makeValue(node, source);
}

Value Analyzer::evaluateEinsum(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  llvm::SmallVector<Value> operands;
  bool ok = true;
  for (const ast::Expr *arg : {args[1], args[2]}) {
    if (!arg)
      continue;
    operands.push_back(evaluateTensor(arg, "'einsum'"));
    ok &= !operands.back().isPoison();
  }
  auto *subscripts = llvm::dyn_cast<ast::StringExpr>(args[0]);
  if (!subscripts) {
    diags.error(args[0]->loc) << "the subscripts of 'einsum' are a text, for example \"mk,nk->mn\"";
    return {};
  }
  // The position of a character, where no escape stands before it.
  auto fail = [&](size_t at) {
    bool isPlain = size_t(subscripts->range.End.getPointer() - subscripts->range.Start.getPointer()) ==
                   subscripts->value.size() + 2;
    llvm::SMLoc loc = subscripts->loc;
    if (isPlain)
      loc = llvm::SMLoc::getFromPointer(subscripts->range.Start.getPointer() + 1 + at);
    return diags.error(loc);
  };
  StringRef text = subscripts->value;
  std::vector<std::string> letters(1);
  std::string output;
  bool isOutput = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ')
      continue;
    if (text[i] == ',' && !isOutput) {
      letters.emplace_back();
      continue;
    }
    if (text[i] == '-' && !isOutput && i + 1 < text.size() && text[i + 1] == '>') {
      isOutput = true;
      ++i;
      continue;
    }
    if (!llvm::isAlpha(text[i])) {
      fail(i) << "unexpected '" << printable(text.substr(i, 1))
              << "' in the subscripts of 'einsum'; they are letters, ',' and one '->'";
      return {};
    }
    std::string &target = isOutput ? output : letters.back();
    if (target.find(text[i]) != std::string::npos) {
      fail(i) << "letter '" << text.substr(i, 1) << "' stands twice for one " << (isOutput ? "result" : "operand")
              << "; diagonals are not selected by 'einsum'";
      return {};
    }
    if (isOutput &&
        llvm::none_of(letters, [&](const std::string &s) { return s.find(text[i]) != std::string::npos; })) {
      fail(i) << "letter '" << text.substr(i, 1) << "' of the result is no axis of an operand";
      return {};
    }
    target += text[i];
  }
  if (!isOutput) {
    fail(text.size()) << "the subscripts of 'einsum' need '->' and the letters of the result";
    return {};
  }
  if (!ok)
    return {};
  if (letters.size() != operands.size()) {
    diags.error(subscripts->loc) << "the subscripts of 'einsum' describe " << letters.size()
                                 << (letters.size() == 1 ? " operand" : " operands") << ", got " << operands.size()
                                 << (letters.size() > 2 ? "; products of more than two are nested" : "");
    return {};
  }
  for (auto [operand, axes] : llvm::zip_equal(operands, letters)) {
    if (axes.size() == operand.node->shape.size())
      continue;
    mlir::InFlightDiagnostic diagnostic = diags.error(subscripts->loc);
    diagnostic << "'" << axes << "' names " << axes.size() << (axes.size() == 1 ? " axis" : " axes")
               << ", but the operand has " << operand.node->shape.size();
    noteType(diagnostic, operand, "the operand");
    return {};
  }
  if (!unify(operands, "'einsum'", expr.loc))
    return {};
  std::optional<DataType> acc = evaluateAccumulator(args[3], operands[0], "'einsum'");
  if (!acc)
    return {};
  return makeContract(operands, letters, output, *acc, "'einsum'", &expr);
}

Value Analyzer::evaluateDot(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  Value operands[] = {evaluateTensor(args[0], "'dot'"), evaluateTensor(args[1], "'dot'")};
  if (operands[0].isPoison() || operands[1].isPoison() || !unify(operands, "'dot'", expr.loc))
    return {};
  std::optional<DataType> acc = evaluateAccumulator(args[2], operands[0], "'dot'");
  if (!acc)
    return {};
  unsigned left = operands[0].node->shape.size(), right = operands[1].node->shape.size();
  bool isVector = left == 1 || right == 1;
  if (!left || !right || left > 26 || right > 26 || (isVector ? left > 2 || right > 2 : left != right)) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    diagnostic << "'dot' multiplies matrices with the same number of leading axes, or a matrix and a vector; other "
                  "products are written with 'einsum'";
    noteType(diagnostic, operands[0], "this operand");
    noteType(diagnostic, operands[1], "this operand");
    return {};
  }
  std::string batch;
  for (unsigned i = 2; i < left && !isVector; ++i)
    batch += char('a' + i - 2);
  std::string letters[] = {batch + (left == 1 ? "K" : "MK"), batch + (right == 1 ? "K" : "KN")};
  std::string output = batch + (left == 1 ? "" : "M") + (right == 1 ? "" : "N");
  return makeContract(operands, letters, output, *acc, "'dot'", &expr);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value Analyzer::evaluateReshape(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  Value x = evaluateTensor(args[0], "'reshape'");
  Shape shape;
  bool ok = evaluateShape(args[1], shape);
  if (x.isPoison() || !ok)
    return {};
  DimExpr from = getNumElements(x.node->shape), to = getNumElements(shape);
  DimExpr fromValue = simplify(from.substitute(dims)), toValue = simplify(to.substitute(dims));
  if (simplify(from).str() != simplify(to).str() && fromValue.str() != toValue.str()) {
    std::optional<int64_t> fromCount = fromValue.getConstant(), toCount = toValue.getConstant();
    if (fromCount && toCount) {
      mlir::InFlightDiagnostic diagnostic = diags.error(args[1]->loc);
      diagnostic << "shape '" << toString(shape) << "' has " << *toCount << " elements, the operand of 'reshape' has "
                 << *fromCount;
      std::string values = describeDims(DimExpr::binary(DimExpr::Kind::Add, from, to));
      if (!values.empty())
        diagnostic << " for " << values;
      noteType(diagnostic, x, "the operand");
      return {};
    }
    require(fromValue, "==", toValue);
  }
  if (shape == x.node->shape) {
    x.expr = &expr;
    return x;
  }
  Node *node = makeNode(Node::Reshape{}, x.node->type, expr.loc);
  node->shape = std::move(shape);
  node->operands.push_back(x.node);
  return makeValue(node, &expr);
}

Value Analyzer::makeTranspose(const Value &x, llvm::ArrayRef<unsigned> axes, const ast::Expr *source) {
  Node *node = makeNode(Node::Transpose{llvm::SmallVector<unsigned>(axes)}, x.node->type, source->loc);
  for (unsigned axis : axes)
    node->shape.push_back(x.node->shape[axis]);
  node->operands.push_back(x.node);
  return makeValue(node, source);
}

Value Analyzer::evaluateTranspose(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  Value x = evaluateTensor(args[0], "'transpose'");
  if (x.isPoison())
    return {};
  llvm::ArrayRef<const ast::Expr *> list = args[1];
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(args[1]))
    list = tuple->elements;
  unsigned rank = x.node->shape.size();
  llvm::SmallVector<unsigned> axes;
  for (const ast::Expr *element : list) {
    std::optional<unsigned> axis = evaluateAxis(element, rank);
    if (!axis)
      return {};
    if (llvm::is_contained(axes, *axis)) {
      diags.error(element->loc) << "axis " << *axis << " is named twice";
      return {};
    }
    axes.push_back(*axis);
  }
  if (axes.size() != rank) {
    mlir::InFlightDiagnostic diagnostic = diags.error(args[1]->loc);
    diagnostic << "'transpose' needs each of the " << rank << " axes once, got " << axes.size();
    noteType(diagnostic, x, "the operand");
    return {};
  }
  return makeTranspose(x, axes, &expr);
}

Value Analyzer::evaluateMember(const ast::MemberExpr &expr) {
  Value x = evaluate(expr.base);
  if (x.isPoison())
    return {};
  if (expr.member != "T") {
    diags.error(expr.loc) << "values have no member '" << printable(expr.member) << "'; '.T' swaps the last two axes";
    return {};
  }
  if (!x.isNode() || x.node->isScalar || x.node->shape.size() < 2) {
    diags.error(expr.loc) << "'.T' swaps the last two axes, got " << describe(x);
    return {};
  }
  llvm::SmallVector<unsigned> axes = llvm::to_vector(llvm::seq<unsigned>(0, x.node->shape.size()));
  std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
  return makeTranspose(x, axes, &expr);
}

Value Analyzer::makeBroadcast(const Value &x, Shape shape, const ast::Expr *source) {
  if (!x.node->isScalar && x.node->shape == shape)
    return x;
  Node *node = makeNode(Node::Broadcast{}, x.node->type, source->loc);
  node->shape = std::move(shape);
  node->operands.push_back(x.node);
  return makeValue(node, source);
}

Value Analyzer::evaluateBroadcast(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  Value x = evaluate(args[0]);
  Shape shape;
  bool ok = evaluateShape(args[1], shape);
  if (x.isPoison() || !ok || !requireTyped(x, "'broadcast'"))
    return {};
  const Shape &from = x.node->shape;
  bool fits = from.size() <= shape.size();
  for (unsigned i = 1; fits && i <= from.size(); ++i)
    fits = from[from.size() - i].isOne() || from[from.size() - i] == shape[shape.size() - i];
  if (!fits) {
    mlir::InFlightDiagnostic diagnostic = diags.error(args[1]->loc);
    diagnostic << "shape '" << toString(from) << "' does not broadcast to '" << toString(shape)
               << "', counted from the last axis";
    noteType(diagnostic, x, "the operand");
    return {};
  }
  return makeBroadcast(x, std::move(shape), &expr);
}

Value Analyzer::evaluateConcat(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  auto *tuple = llvm::dyn_cast<ast::TupleExpr>(args[0]);
  if (!tuple) {
    diags.error(args[0]->loc) << "'concat' takes its values between parentheses: 'concat((a, b), axis)'";
    return {};
  }
  llvm::SmallVector<Value> values;
  bool ok = true;
  for (const ast::Expr *element : tuple->elements) {
    values.push_back(evaluateTensor(element, "'concat'"));
    ok &= !values.back().isPoison();
  }
  if (values.empty()) {
    diags.error(args[0]->loc) << "'concat' needs at least one value";
    return {};
  }
  if (!ok || !unify(values, "'concat'", expr.loc))
    return {};
  const Shape &first = values.front().node->shape;
  std::optional<unsigned> axis = evaluateAxis(args[1], first.size());
  if (!axis)
    return {};
  DimExpr extent = first[*axis].written;
  for (const Value &value : llvm::drop_begin(values)) {
    const Shape &shape = value.node->shape;
    bool fits = shape.size() == first.size();
    for (unsigned i = 0; fits && i < shape.size(); ++i)
      fits = i == *axis || shape[i] == first[i];
    if (!fits) {
      mlir::InFlightDiagnostic diagnostic = diags.error(value.expr->loc);
      diagnostic << "values of 'concat' have shapes '" << toString(first) << "' and '" << toString(shape)
                 << "', which differ beside axis " << *axis;
      noteType(diagnostic, values.front(), "this value");
      noteType(diagnostic, value, "this value");
      return {};
    }
    extent = DimExpr::binary(DimExpr::Kind::Add, extent, shape[*axis].written);
  }
  if (values.size() == 1) {
    values.front().expr = &expr;
    return values.front();
  }
  std::optional<Extent> total = makeExtent(simplify(extent), expr.loc);
  if (!total)
    return {};
  Node *node = makeNode(Node::Concat{*axis}, values.front().node->type, expr.loc);
  node->shape = first;
  node->shape[*axis] = *total;
  for (const Value &value : values)
    node->operands.push_back(value.node);
  return makeValue(node, &expr);
}

Value Analyzer::evaluateTake(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  Value x = evaluateTensor(args[0], "'take'"), indices = evaluateTensor(args[1], "'take'");
  if (x.isPoison() || indices.isPoison())
    return {};
  const Shape &from = x.node->shape, &at = indices.node->shape;
  if (indices.node->type != DataType::I32) {
    diags.error(indices.expr->loc) << "the indices of 'take' must have type 'i32', got " << describe(indices);
    return {};
  }
  std::optional<unsigned> axis = evaluateAxis(args[2], from.size());
  if (!axis)
    return {};
  bool fits = from.size() == at.size();
  for (unsigned i = 0; fits && i < from.size(); ++i)
    fits = i == *axis || at[i].isOne() || at[i] == from[i];
  if (!fits) {
    mlir::InFlightDiagnostic diagnostic = diags.error(indices.expr->loc);
    diagnostic << "indices of shape '" << toString(at) << "' do not select from '" << toString(from) << "' along axis "
               << *axis << "; beside the axis their extents must be equal or 1";
    noteType(diagnostic, x, "the tensor");
    noteType(diagnostic, indices, "the indices");
    return {};
  }
  Node *node = makeNode(Node::Take{*axis}, x.node->type, expr.loc);
  node->shape = from;
  node->shape[*axis] = at[*axis];
  node->operands = {x.node, indices.node};
  return makeValue(node, &expr);
}

Value Analyzer::evaluateIota(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  std::optional<DimExpr> dim = evaluateDim(args[0], "the extent of 'iota'");
  std::optional<Extent> extent = dim ? makeExtent(*dim, args[0]->loc) : std::nullopt;
  if (!extent)
    return {};
  requirePositions(*extent);
  Node *node = makeNode(Node::Iota{}, DataType::I32, expr.loc);
  node->shape.push_back(*extent);
  return makeValue(node, &expr);
}

Value Analyzer::evaluateFillCall(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  auto *index = llvm::dyn_cast<ast::IndexExpr>(args[0]);
  auto *name = index ? llvm::dyn_cast<ast::NameExpr>(index->base) : nullptr;
  std::optional<DataType> type = name ? lookupType(name->name) : std::nullopt;
  if (!type) {
    diags.error(args[0]->loc) << "'fill' begins with a type and a shape: 'fill(f32[N, M], 0.0)'";
    return {};
  }
  Shape shape;
  for (const ast::Subscript &item : index->items) {
    if (item.kind != ast::Subscript::Kind::Element) {
      diags.error(item.range.Start) << "an extent must be an integer expression over dimensions";
      return {};
    }
    if (!evaluateShape(item.begin, shape))
      return {};
  }
  Value value = evaluate(args[1]);
  if (value.isPoison() || (!value.isNode() && !adapt(value, *type, "'fill'", args[1]->loc)))
    return {};
  if (!value.node->shape.empty() || value.node->type != *type) {
    diags.error(args[1]->loc) << "'fill' needs a single value of type '" << getName(*type) << "', got "
                              << describe(value);
    return {};
  }
  return makeBroadcast(value, std::move(shape), &expr);
}

Value Analyzer::evaluateBitcast(const ast::CallExpr &expr, const Builtin &builtin) {
  llvm::SmallVector<const ast::Expr *> args;
  if (!bindArgs(expr, builtin, args))
    return {};
  auto *name = llvm::dyn_cast<ast::NameExpr>(args[0]);
  std::optional<DataType> type = name ? lookupType(name->name) : std::nullopt;
  if (!type) {
    diags.error(args[0]->loc) << "'bitcast' begins with an element type: 'bitcast(u32, x)'";
    return {};
  }
  Value x = evaluate(args[1]);
  if (x.isPoison() || !requireTyped(x, "'bitcast'"))
    return {};
  if (getBits(*type) != getBits(x.node->type)) {
    diags.error(expr.loc) << "'bitcast' keeps the width: '" << getName(x.node->type) << "' has "
                          << getBits(x.node->type) << " bits, '" << getName(*type) << "' has " << getBits(*type);
    return {};
  }
  if (*type == x.node->type)
    return x;
  return makeElementwise(Elementwise::Bitcast, *type, x, "'bitcast'", &expr);
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

std::optional<Value> Analyzer::evaluateShapedCall(const ast::CallExpr &expr) {
  const Builtin *builtin = lookupBuiltin(expr.callee);
  if (!builtin)
    return std::nullopt;
  using Method = Value (Analyzer::*)(const ast::CallExpr &, const Builtin &);
  Method method = llvm::StringSwitch<Method>(expr.callee)
                      .Case("rank", &Analyzer::evaluateRank)
                      .Case("histogram", &Analyzer::evaluateHistogram)
                      .Case("einsum", &Analyzer::evaluateEinsum)
                      .Case("dot", &Analyzer::evaluateDot)
                      .Case("reshape", &Analyzer::evaluateReshape)
                      .Case("transpose", &Analyzer::evaluateTranspose)
                      .Case("broadcast", &Analyzer::evaluateBroadcast)
                      .Case("concat", &Analyzer::evaluateConcat)
                      .Case("take", &Analyzer::evaluateTake)
                      .Case("iota", &Analyzer::evaluateIota)
                      .Case("fill", &Analyzer::evaluateFillCall)
                      .Case("bitcast", &Analyzer::evaluateBitcast)
                      .Default(nullptr);
  if (method)
    return (this->*method)(expr, *builtin);
  if (expr.callee == "topk" || expr.callee == "sort")
    return evaluateTopK(expr, *builtin, /*isSort=*/expr.callee == "sort");
  std::optional<Reduction> scan = llvm::StringSwitch<std::optional<Reduction>>(expr.callee)
                                      .Case("cumsum", Reduction::Sum)
                                      .Case("cumprod", Reduction::Prod)
                                      .Case("cummax", Reduction::Max)
                                      .Case("cummin", Reduction::Min)
                                      .Default(std::nullopt);
  if (scan)
    return evaluateScan(expr, *builtin, *scan);
  if (builtin->isKernelOnly && !decl.isKernel) {
    diags.error(expr.loc) << "'" << expr.callee << "' exists in kernels only; an operator names whole tensors";
    return Value();
  }
  return std::nullopt;
}
