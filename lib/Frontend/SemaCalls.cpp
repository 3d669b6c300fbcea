//===- SemaCalls.cpp - Conversions, functions, reductions -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Analyzer.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdint>

using namespace atrex;
using namespace atrex::frontend;
using llvm::StringRef;

namespace {
/// Functions from one floating-point value to another.
std::optional<Elementwise> getUnaryFunction(StringRef name) {
  return llvm::StringSwitch<std::optional<Elementwise>>(name)
      .Case("abs", Elementwise::Abs)
      .Case("exp", Elementwise::Exp)
      .Case("exp2", Elementwise::Exp2)
      .Case("log", Elementwise::Log)
      .Case("log2", Elementwise::Log2)
      .Case("sqrt", Elementwise::Sqrt)
      .Case("rsqrt", Elementwise::Rsqrt)
      .Case("recip", Elementwise::Recip)
      .Case("sigmoid", Elementwise::Sigmoid)
      .Case("silu", Elementwise::Silu)
      .Case("softplus", Elementwise::Softplus)
      .Case("tanh", Elementwise::Tanh)
      .Case("erf", Elementwise::Erf)
      .Case("sin", Elementwise::Sin)
      .Case("cos", Elementwise::Cos)
      .Case("round", Elementwise::Round)
      .Case("trunc", Elementwise::Trunc)
      .Case("isnan", Elementwise::IsNaN)
      .Case("fast_sqrt", Elementwise::FastSqrt)
      .Case("fast_exp2", Elementwise::FastExp2)
      .Case("popcount", Elementwise::PopCount)
      .Case("floor", Elementwise::Floor)
      .Case("ceil", Elementwise::Ceil)
      .Default(std::nullopt);
}

std::optional<Reduction> getReduction(StringRef name) {
  return llvm::StringSwitch<std::optional<Reduction>>(name)
      .Case("sum", Reduction::Sum)
      .Case("mean", Reduction::Mean)
      .Case("prod", Reduction::Prod)
      .Case("max", Reduction::Max)
      .Case("min", Reduction::Min)
      .Case("argmax", Reduction::ArgMax)
      .Case("argmin", Reduction::ArgMin)
      .Case("any", Reduction::Any)
      .Case("all", Reduction::All)
      .Default(std::nullopt);
}

} // namespace

std::vector<StringRef> atrex::frontend::getFunctionNames() {
  std::vector<StringRef> names;
  for (const Builtin &builtin : getBuiltins())
    names.push_back(builtin.name);
  return names;
}

bool Analyzer::evaluateArgs(const ast::CallExpr &expr, unsigned count, llvm::SmallVectorImpl<Value> &values) {
  bool ok = true;
  for (const ast::Argument &arg : expr.args) {
    if (!arg.name.empty()) {
      diags.error(arg.loc) << "'" << expr.callee << "' has no argument named '" << printable(arg.name) << "'";
      ok = false;
    }
    values.push_back(evaluate(arg.value));
    ok &= !values.back().isPoison();
  }
  if (!ok)
    return false;
  if (values.size() == count)
    return true;
  diags.error(expr.loc) << "'" << expr.callee << "' takes " << count << (count == 1 ? " argument" : " arguments")
                        << ", got " << values.size();
  return false;
}

Value Analyzer::evaluateCall(const ast::CallExpr &expr) {
  if (std::optional<Value> value = evaluateKernelCall(expr))
    return *value;
  if (std::optional<DataType> type = lookupType(expr.callee))
    return evaluateCast(expr, *type);

  bool hasAxis = llvm::any_of(expr.args, [](const ast::Argument &arg) { return !arg.name.empty(); });
  std::optional<Reduction> reduction = getReduction(expr.callee);
  bool isMinMax = expr.callee == "max" || expr.callee == "min";
  // `max(x, axis = 1)` reduces, `max(a, b)` compares.
  if (reduction && (!isMinMax || hasAxis || expr.args.size() == 1))
    return evaluateReduction(expr, *reduction);

  llvm::SmallVector<Value> args;
  std::string what = ("'" + expr.callee + "'").str();
  if (isMinMax) {
    if (!evaluateArgs(expr, 2, args) || !unify(args, what, expr.loc) || !checkComputes(args[0], what))
      return {};
    if (args[0].node->type == DataType::I1) {
      diags.error(expr.loc) << what << " needs numbers, got " << describe(args[0]);
      return {};
    }
    return makeElementwise(expr.callee == "max" ? Elementwise::Max : Elementwise::Min, args[0].node->type, args, what,
                           &expr);
  }
  if (expr.callee == "cdiv") {
    if (!evaluateArgs(expr, 2, args))
      return {};
    for (const Value &arg : args) {
      if (arg.isDim())
        continue;
      diags.error(arg.expr->loc) << "'cdiv' divides integers and dimensions, got " << describe(arg);
      return {};
    }
    return makeDimBinary(DimExpr::Kind::CeilDiv, args[0], args[1], &expr);
  }
  if (expr.callee == "where") {
    if (!evaluateArgs(expr, 3, args))
      return {};
    if (!args[0].isNode() || args[0].node->type != DataType::I1) {
      diags.error(args[0].expr->loc) << "the condition of 'where' must have type 'i1', got " << describe(args[0]);
      return {};
    }
    if (!unify(llvm::MutableArrayRef(args).drop_front(), what, expr.loc))
      return {};
    return makeElementwise(Elementwise::Select, args[1].node->type, args, what, &expr);
  }
  if (expr.callee == "clamp") {
    if (!evaluateArgs(expr, 3, args) || !unify(args, what, expr.loc) || !checkOrdered(args[0], what))
      return {};
    DataType type = args[0].node->type;
    Value bounded = makeElementwise(Elementwise::Max, type, {args[0], args[1]}, what, &expr);
    if (bounded.isPoison())
      return {};
    return makeElementwise(Elementwise::Min, type, {bounded, args[2]}, what, &expr);
  }
  std::optional<Elementwise> unary = getUnaryFunction(expr.callee);
  bool isFma = expr.callee == "fma", isFastDiv = expr.callee == "fast_div";
  if (unary || isFma || isFastDiv) {
    if (!evaluateArgs(expr, isFma ? 3 : isFastDiv ? 2 : 1, args))
      return {};
    if (unary ? !requireTyped(args[0], what) : !unify(args, what, expr.loc))
      return {};
    if (!checkComputes(args[0], what))
      return {};
    DataType type = args[0].node->type;
    if (unary == Elementwise::PopCount) {
      if (isInteger(type))
        return makeElementwise(*unary, type, args, what, &expr);
      diags.error(args[0].expr->loc) << what << " needs an integer operand, got " << describe(args[0]);
      return {};
    }
    bool takesInteger = unary == Elementwise::Abs && isInteger(type) && !isUnsigned(type);
    if (!isFloat(type) && !takesInteger) {
      diags.error(args[0].expr->loc) << what << " needs a floating-point operand, got " << describe(args[0]);
      return {};
    }
    // No chip has these in double precision without a library.
    bool isExactInF64 = isFma || unary == Elementwise::Abs || unary == Elementwise::Sqrt ||
                        unary == Elementwise::Floor || unary == Elementwise::Ceil || unary == Elementwise::Round ||
                        unary == Elementwise::Trunc || unary == Elementwise::IsNaN;
    if (type == DataType::F64 && !isExactInF64) {
      diags.error(args[0].expr->loc) << what << " is not available in 'f64'; convert with '"
                                     << suggestCast("f32", args[0]) << "'";
      return {};
    }
    if (unary == Elementwise::IsNaN)
      return makeElementwise(*unary, DataType::I1, args, what, &expr);
    return makeElementwise(isFma       ? Elementwise::Fma
                           : isFastDiv ? Elementwise::FastDiv
                                       : *unary,
                           type, args, what, &expr);
  }
  if (std::optional<Value> value = evaluateShapedCall(expr))
    return *value;

  std::vector<StringRef> names = getFunctionNames();
  llvm::append_range(names, typeNames);
  if (options.library)
    llvm::append_range(names, options.library->fnNames);
  if (symbols.count(expr.callee)) {
    diags.error(expr.loc) << "'" << printable(expr.callee) << "' is not a function; a product is written with '*'";
  } else {
    diags.error(expr.loc) << "unknown function '" << printable(expr.callee) << "'" << didYouMean(expr.callee, names);
  }
  // Names inside are still looked up, so that each is reported in this run.
  for (const ast::Argument &arg : expr.args)
    if (!evaluateMemory(arg.value))
      evaluate(arg.value);
  return {};
}

Value Analyzer::evaluateCast(const ast::CallExpr &expr, DataType type) {
  llvm::SmallVector<Value> args;
  std::string what = ("'" + expr.callee + "'").str();
  auto fail = [&](const llvm::Twine &message) -> Value {
    diags.error(expr.loc) << message;
    return {};
  };
  // `saturate` belongs to the conversion, not to the operands.
  bool saturates = false;
  llvm::SmallVector<ast::Argument> operands;
  for (const ast::Argument &arg : expr.args) {
    if (arg.name != "saturate" || !isStorageOnly(type)) {
      operands.push_back(arg);
      continue;
    }
    std::optional<bool> flag = evaluateFlag(arg.value, "'saturate'");
    if (!flag)
      return {};
    if (!*flag && isPacked(type))
      return fail(what + " has neither infinity nor NaN: conversions to it always saturate");
    saturates = *flag && !isPacked(type);
  }
  if (!evaluateArgs(ast::CallExpr(expr.range, expr.callee, operands), 1, args))
    return {};
  Value &operand = args[0];
  if (isStorageOnly(type)) {
    if (!operand.isNode())
      return fail(what + " converts typed values; write '" + expr.callee.str() + "(" + suggestCast("f32", operand) +
                  ")'");
    DataType from = operand.node->type;
    if (from == type && !saturates) {
      operand.expr = &expr;
      return operand;
    }
    if (!isFloat(from) || from == DataType::F64)
      return fail("'" + getName(from) + "' converts to " + what + " in two roundings; write them out as '" +
                  suggestCast((expr.callee + "(f32").str(), operand) + ")'");
    // Narrower floats are exact in f32.
    Value value = convert(operand, DataType::F32, &expr);
    return makeElementwise(saturates ? Elementwise::CastSaturating : Elementwise::Cast, type, value, what, &expr);
  }
  if (operand.isFloat()) {
    if (!adapt(operand, type, what, expr.loc))
      return {};
    operand.expr = &expr;
    return operand;
  }
  if (operand.isDim()) {
    if (std::optional<int64_t> integer = operand.getInteger()) {
      if (type == DataType::I1)
        return fail("truth values are made by comparing, not by conversion");
      if (!isFloat(type)) {
        if (!adapt(operand, type, what, expr.loc))
          return {};
        operand.expr = &expr;
        return operand;
      }
    }
    if (type != DataType::F32 && type != DataType::I32 && type != DataType::I64)
      return fail("a dimension or integer converts to 'f32', 'i32' or 'i64', not to " + what);
    if (type == DataType::I32) {
      DimExpr limit = DimExpr::constant(INT32_MAX);
      DimExpr value = operand.dim.substitute(dims);
      if (std::optional<int64_t> constant = value.getConstant()) {
        if (!llvm::isInt<32>(*constant))
          return fail("'" + operand.dim.str() + "' is " + llvm::Twine(*constant) + ", which does not fit 'i32'");
      } else {
        require(value, "<=", limit);
      }
    }
    Node *node = makeNode(Node::Dim{operand.dim.substitute(dims)}, type, expr.loc);
    node->isScalar = true;
    return makeValue(node, &expr);
  }

  DataType from = operand.node->type;
  if (from == type) {
    operand.expr = &expr;
    return operand;
  }
  if (type == DataType::I1)
    return fail("truth values are made by comparing, for example 'x != 0'");
  if (isInteger(from) && isFloat(type) && type != DataType::F32 && type != DataType::F64)
    return fail("'" + getName(from) + "' converts to " + what + " in two roundings; write them out as '" +
                suggestCast((expr.callee + "(f32").str(), operand) + ")'");
  return makeElementwise(Elementwise::Cast, type, operand, what, &expr);
}

bool Analyzer::evaluateAxes(const ast::Argument &arg, unsigned rank, llvm::SmallVectorImpl<unsigned> &axes) {
  llvm::ArrayRef<const ast::Expr *> list = arg.value;
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(arg.value))
    list = tuple->elements;
  for (const ast::Expr *expr : list) {
    std::optional<DimExpr> value = evaluateDim(expr, "an axis");
    if (!value)
      return false;
    std::optional<int64_t> axis = value->getConstant();
    if (!axis) {
      diags.error(expr->loc) << "an axis must be an integer constant";
      return false;
    }
    if (*axis < -int64_t(rank) || *axis >= int64_t(rank)) {
      diags.error(expr->loc) << "axis " << *axis << " is out of range for a tensor of rank " << rank;
      return false;
    }
    unsigned position = *axis < 0 ? *axis + rank : *axis;
    if (llvm::is_contained(axes, position)) {
      diags.error(expr->loc) << "axis " << *axis << " is named twice";
      return false;
    }
    axes.push_back(position);
  }
  llvm::sort(axes);
  return true;
}

Value Analyzer::evaluateReduction(const ast::CallExpr &expr, Reduction reduction) {
  const ast::Argument *axisArg = nullptr;
  llvm::SmallVector<Value> operands;
  bool ok = true;
  for (const ast::Argument &arg : expr.args) {
    if (arg.name == "axis" && !axisArg) {
      axisArg = &arg;
    } else if (!arg.name.empty()) {
      diags.error(arg.loc) << "'" << expr.callee << "' has no "
                           << (arg.name == "axis" ? "second argument 'axis'"
                                                  : "argument named '" + printable(arg.name) + "'")
                           << (arg.name == "axis" ? "" : didYouMean(arg.name, {"axis"}));
      ok = false;
    } else {
      operands.push_back(evaluate(arg.value));
      ok &= !operands.back().isPoison();
    }
  }
  if (!ok)
    return {};
  if (operands.size() == 2 && !axisArg && operands[1].isDim()) {
    diags.error(operands[1].expr->loc) << "the axis of '" << expr.callee
                                       << "' is named: 'axis = " << printable(operands[1].expr->getText()) << "'";
    return {};
  }
  if (operands.size() != 1) {
    diags.error(expr.loc) << "'" << expr.callee << "' reduces one tensor, got " << operands.size() << " operands";
    return {};
  }
  if (!axisArg) {
    bool isMinMax = reduction == Reduction::Max || reduction == Reduction::Min;
    diags.error(expr.loc) << "'" << expr.callee << "' needs the axis it reduces, for example 'axis = -1'"
                          << (isMinMax ? ", or a second value to compare with" : "");
    return {};
  }
  Value &operand = operands[0];
  if (!operand.isNode() || operand.node->isScalar) {
    diags.error(operand.expr->loc) << "'" << expr.callee << "' reduces a tensor, got " << describe(operand);
    return {};
  }
  if (!checkReduces(operand, reduction, expr.callee))
    return {};
  llvm::SmallVector<unsigned> axes;
  if (!evaluateAxes(*axisArg, operand.node->shape.size(), axes))
    return {};
  bool isPosition = reduction == Reduction::ArgMax || reduction == Reduction::ArgMin;
  if (isPosition) {
    if (axes.size() != 1) {
      diags.error(axisArg->value->loc) << "'" << expr.callee << "' gives a position along one axis, got "
                                       << axes.size();
      return {};
    }
    requirePositions(operand.node->shape[axes.front()]);
  }
  // 16-bit floats are combined in f32 and rounded once.
  DataType type = operand.node->type;
  Value input = convert(operand, isFloat(type) && getSizeInBytes(type) < 4 ? DataType::F32 : type, &expr);
  Node *node = makeNode(Node::Reduce{reduction, axes}, isPosition ? DataType::I32 : input.node->type, expr.loc);
  const Shape &shape = input.node->shape;
  for (unsigned i = 0; i < shape.size(); ++i)
    if (!llvm::is_contained(axes, i))
      node->shape.push_back(shape[i]);
  node->operands.push_back(input.node);
  Value value = makeValue(node, &expr);
  return isPosition ? value : convert(value, type, &expr);
}

bool Analyzer::checkOrdered(const Value &operand, StringRef what) {
  if (!checkComputes(operand, what))
    return false;
  if (operand.node->type != DataType::I1)
    return true;
  diags.error(operand.expr->loc) << what << " needs numbers, got " << describe(operand);
  return false;
}

bool Analyzer::checkReduces(const Value &operand, Reduction reduction, StringRef name) {
  DataType type = operand.node->type;
  if (reduction == Reduction::Any || reduction == Reduction::All) {
    if (type == DataType::I1)
      return true;
    diags.error(operand.expr->loc) << "'" << name << "' combines truth values of type 'i1', got " << describe(operand);
    return false;
  }
  bool combines;
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Prod:
    combines = isFloat(type) || type == DataType::I32 || type == DataType::I64 || type == DataType::U32;
    break;
  case Reduction::Mean:
    combines = isFloat(type);
    break;
  default:
    combines = type != DataType::I1;
    break;
  }
  if (combines && !isStorageOnly(type))
    return true;
  bool toFloat = reduction == Reduction::Mean || isFloat(type);
  diags.error(operand.expr->loc) << "'" << name << "' cannot reduce type '" << typeOf(operand) << "'; reduce '"
                                 << suggestCast(toFloat ? "f32" : "i32", operand) << "'";
  return false;
}
