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
      .Case("tanh", Elementwise::Tanh)
      .Case("floor", Elementwise::Floor)
      .Case("ceil", Elementwise::Ceil)
      .Default(std::nullopt);
}

std::optional<Reduction> getReduction(StringRef name) {
  return llvm::StringSwitch<std::optional<Reduction>>(name)
      .Case("sum", Reduction::Sum)
      .Case("mean", Reduction::Mean)
      .Case("max", Reduction::Max)
      .Case("min", Reduction::Min)
      .Default(std::nullopt);
}

constexpr StringRef functionNames[] = {"abs",     "cdiv", "ceil", "exp",  "exp2", "floor", "fma",
                                       "log",     "log2", "max",  "mean", "min",  "recip", "rsqrt",
                                       "sigmoid", "silu", "sqrt", "sum",  "tanh", "where"};

} // namespace

llvm::ArrayRef<StringRef> atrex::frontend::getFunctionNames() { return functionNames; }

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
  std::optional<Elementwise> unary = getUnaryFunction(expr.callee);
  bool isFma = expr.callee == "fma";
  if (unary || isFma) {
    if (!evaluateArgs(expr, isFma ? 3 : 1, args))
      return {};
    if (isFma ? !unify(args, what, expr.loc) : !requireTyped(args[0], what))
      return {};
    if (!checkComputes(args[0], what))
      return {};
    DataType type = args[0].node->type;
    bool takesInteger = unary == Elementwise::Abs && isInteger(type) && !isUnsigned(type);
    if (!isFloat(type) && !takesInteger) {
      diags.error(args[0].expr->loc) << what << " needs a floating-point operand, got " << describe(args[0]);
      return {};
    }
    // No chip has these in double precision without a library.
    bool isExactInF64 = isFma || unary == Elementwise::Abs || unary == Elementwise::Sqrt ||
                        unary == Elementwise::Floor || unary == Elementwise::Ceil;
    if (type == DataType::F64 && !isExactInF64) {
      diags.error(args[0].expr->loc) << what << " is not available in 'f64'; convert with '"
                                     << suggestCast("f32", args[0]) << "'";
      return {};
    }
    return makeElementwise(isFma ? Elementwise::Fma : *unary, type, args, what, &expr);
  }

  std::vector<StringRef> names = getFunctionNames().vec();
  llvm::append_range(names, typeNames);
  if (symbols.count(expr.callee)) {
    diags.error(expr.loc) << "'" << printable(expr.callee) << "' is not a function; a product is written with '*'";
  } else {
    diags.error(expr.loc) << "unknown function '" << printable(expr.callee) << "'" << didYouMean(expr.callee, names);
  }
  // Names inside are still looked up, so that each is reported in this run.
  for (const ast::Argument &arg : expr.args)
    evaluate(arg.value);
  return {};
}

Value Analyzer::evaluateCast(const ast::CallExpr &expr, DataType type) {
  llvm::SmallVector<Value> args;
  if (!evaluateArgs(expr, 1, args))
    return {};
  Value &operand = args[0];
  std::string what = ("'" + expr.callee + "'").str();
  auto fail = [&](const llvm::Twine &message) -> Value {
    diags.error(expr.loc) << message;
    return {};
  };
  if (isStorageOnly(type))
    return fail("conversions to " + what + " are not supported yet");
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
  if (isFloat(from) && isInteger(type) && type != DataType::I32 && type != DataType::I64)
    return fail("'" + getName(from) + "' converts to 'i32' or 'i64', not to " + what);
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
  DataType type = operand.node->type;
  if (isFloat(type) && type != DataType::F32) {
    diags.error(operand.expr->loc) << "'" << expr.callee << "' accumulates in 'f32', but the operand has type '"
                                   << typeOf(operand) << "'; reduce '" << suggestCast("f32", operand) << "'";
    return {};
  }
  bool reducesInteger = (type == DataType::I32 || type == DataType::I64) && reduction != Reduction::Mean;
  if (type != DataType::F32 && !reducesInteger) {
    diags.error(operand.expr->loc) << "'" << expr.callee << "' cannot reduce type '" << typeOf(operand) << "'; reduce '"
                                   << suggestCast(reduction == Reduction::Mean ? "f32" : "i32", operand) << "'";
    return {};
  }
  llvm::SmallVector<unsigned> axes;
  const Shape &shape = operand.node->shape;
  if (!evaluateAxes(*axisArg, shape.size(), axes))
    return {};
  Node *node = makeNode(Node::Reduce{reduction, axes}, type, expr.loc);
  for (unsigned i = 0; i < shape.size(); ++i)
    if (!llvm::is_contained(axes, i))
      node->shape.push_back(shape[i]);
  node->operands.push_back(operand.node);
  return makeValue(node, &expr);
}
