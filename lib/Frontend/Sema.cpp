//===- Sema.cpp - Declarations and statements -----------------------------===//
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

std::string atrex::frontend::toString(llvm::ArrayRef<Extent> shape) {
  std::string text = "[";
  llvm::interleave(shape, [&](const Extent &extent) { text += extent.written.str(); }, [&] { text += ", "; });
  return text + "]";
}
//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Visits the names in a dimension expression. The recursion is bounded by the
/// parser's limit on depth.
static void visitNames(const ast::Expr *expr, llvm::function_ref<void(const ast::NameExpr &)> visit) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(expr)) {
    visit(*name);
  } else if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(expr)) {
    visitNames(unary->operand, visit);
  } else if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr)) {
    visitNames(binary->lhs, visit);
    visitNames(binary->rhs, visit);
  } else if (auto *call = llvm::dyn_cast<ast::CallExpr>(expr)) {
    for (const ast::Argument &arg : call->args)
      visitNames(arg.value, visit);
  }
}

void atrex::frontend::visitDimNames(const ast::Expr *expr, llvm::function_ref<void(StringRef)> visit) {
  visitNames(expr, [&](const ast::NameExpr &name) { visit(name.name); });
}

/// `K: dim` among the parameters: a dimension that is no extent.
static bool isDimParam(const ast::ValueDecl &value) { return value.type.element == "dim" && !value.type.isTensor; }

/// `DTYPE: type` among the parameters: an element type that is chosen when the
/// program is compiled.
static bool isTypeParam(const ast::ValueDecl &value) { return value.type.element == "type" && !value.type.isTensor; }

std::vector<StringRef> atrex::frontend::collectTypeParams(const ast::OpDecl &decl) {
  std::vector<StringRef> names;
  for (const ast::ValueDecl &param : decl.params)
    if (isTypeParam(param))
      names.push_back(param.name);
  return names;
}

/// Visits the dimensions of a signature: names in extents and strides, and
/// parameters that are dimensions.
static void visitSignature(const ast::OpDecl &decl, llvm::function_ref<void(StringRef, llvm::SMLoc)> visit) {
  auto visitName = [&](const ast::NameExpr &name) { visit(name.name, name.loc); };
  for (llvm::ArrayRef<ast::ValueDecl> list : {decl.params, decl.results})
    for (const ast::ValueDecl &value : list) {
      if (list.data() == decl.params.data() && isDimParam(value))
        visit(value.name, value.loc);
      for (const ast::Expr *extent : value.type.extents)
        visitNames(extent, visitName);
      for (const ast::Expr *stride : value.type.strides)
        if (stride)
          visitNames(stride, visitName);
    }
}

std::vector<StringRef> atrex::frontend::collectDimNames(const ast::OpDecl &decl, const Library *library) {
  std::vector<StringRef> names;
  visitSignature(decl, [&](StringRef name, llvm::SMLoc) {
    bool isKnob = llvm::any_of(decl.knobs, [&](const ast::KnobDecl &knob) { return knob.name == name; });
    if (!isKnob && !(library && library->consts.count(name)) && !llvm::is_contained(names, name))
      names.push_back(name);
  });
  return names;
}

void Analyzer::declareTypes() {
  for (const ast::ValueDecl &param : decl.params) {
    if (!isTypeParam(param))
      continue;
    // A program that is not compiled is checked with any type.
    DataType type = DataType::F32;
    auto given = options.knobs.find(param.name.str());
    if (param.defaultValue) {
      auto *name = llvm::dyn_cast<ast::NameExpr>(param.defaultValue);
      if (std::optional<DataType> value = name ? frontend::lookupType(name->name) : std::nullopt)
        type = *value;
      else
        diags.error(param.defaultValue->loc)
            << "the default of type '" << param.name << "' must be an element type, got '"
            << printable(param.defaultValue->getText()) << "'";
    } else if (options.isSelected && given == options.knobs.end()) {
      diags.error(param.loc) << "type '" << param.name << "' has no value; give it one with '--knob " << param.name
                             << "=...', for example 'bf16'";
    }
    if (given != options.knobs.end()) {
      if (std::optional<DataType> value = frontend::lookupType(given->second))
        type = *value;
      else
        diags.error(param.loc) << "type '" << param.name << "' must be an element type, got '"
                               << printable(given->second) << "'" << didYouMean(given->second, typeNames);
    }
    if (!typeParams.try_emplace(param.name, type).second)
      diags.error(param.loc) << "type '" << param.name << "' is declared twice";
    else
      result->types.emplace_back(param.name.str(), type);
  }
}

void Analyzer::declareDims() {
  declareTypes();
  // Defaults first: they decide which dimensions have no value.
  for (const ast::ValueDecl &param : decl.params) {
    if (!isDimParam(param) || !param.defaultValue || dims.count(param.name.str()))
      continue;
    std::optional<int64_t> value = evaluateNumber(param.defaultValue, "the default value of a dimension");
    if (value && *value <= 0)
      diags.error(param.defaultValue->loc) << "dimension '" << param.name << "' must be positive, got " << *value;
    else if (value)
      dims[param.name.str()] = *value;
  }
  visitSignature(decl, [&](StringRef name, llvm::SMLoc loc) {
    if (options.library && options.library->consts.count(name))
      return;
    auto [entry, isNew] = symbols.try_emplace(name, Symbol{Symbol::Kind::Dim, loc, {}, true});
    if (!isNew)
      return;
    if (isReservedWord(name)) {
      diags.error(loc) << "'" << name << "' is reserved and cannot name a dimension";
      return;
    }
    entry->second.value.kind = Value::Kind::Dim;
    entry->second.value.dim = DimExpr::dim(name);
    entry->second.value.dimSize = 1;
    dimNames.push_back(name);
    if (!dims.count(name.str()))
      result->runtimeDims.push_back(name.str());
  });
}

/// `H = 1020, K = 8`: the values of the dimensions in `expr`.
std::string Analyzer::describeDims(const DimExpr &expr) const {
  std::set<std::string> names;
  expr.collectDims(names);
  std::string text;
  for (const std::string &name : names) {
    auto value = dims.find(name);
    if (value == dims.end())
      continue;
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value->second);
  }
  return text;
}

Value Analyzer::makeDim(DimExpr expr, unsigned size, const ast::Expr *source) {
  Value value;
  value.expr = source;
  if (size > maxDimExprSize) {
    diags.error(source->loc) << "dimension expression has more than " << maxDimExprSize << " operators";
    return value;
  }
  value.kind = Value::Kind::Dim;
  value.dim = std::move(expr);
  value.dimSize = size;
  return value;
}

Value Analyzer::makeDimBinary(DimExpr::Kind kind, const Value &lhs, const Value &rhs, const ast::Expr *source) {
  Value value = makeDim(DimExpr::binary(kind, lhs.dim, rhs.dim), lhs.dimSize + rhs.dimSize + 1, source);
  if (value.isPoison())
    return value;
  // Report here what is wrong whatever the dimensions are.
  std::set<std::string> names;
  DimExpr substituted = value.dim.substitute(dims);
  substituted.collectDims(names);
  bool isZeroDivisor = rhs.getInteger() == 0 && kind >= DimExpr::Kind::FloorDiv;
  if (!names.empty() && !isZeroDivisor)
    return value;
  if (isZeroDivisor) {
    diags.error(source->loc) << "division by zero in '" << value.dim.str() << "'";
    return {};
  }
  llvm::Expected<int64_t> number = substituted.evaluate({});
  if (!number) {
    std::string values = describeDims(value.dim);
    diags.error(source->loc) << llvm::toString(number.takeError()) << (values.empty() ? "" : " for ") << values;
    return {};
  }
  // Keep literal arithmetic small.
  if (std::optional<int64_t> constant = value.dim.getConstant()) {
    value.dim = DimExpr::constant(*constant);
    value.dimSize = 1;
  }
  return value;
}

std::optional<Extent> Analyzer::makeExtent(const DimExpr &expr, llvm::SMLoc loc) {
  Extent extent;
  extent.written = expr;
  extent.value = expr.substitute(dims);
  DimExpr written = simplify(expr), value = simplify(extent.value);
  extent.writtenKey = written.str();
  extent.valueKey = value.str();
  extent.constant = value.getConstant();
  std::optional<bool> isPositive =
      isNonNegative(DimExpr::binary(DimExpr::Kind::Sub, extent.value, DimExpr::constant(1)));
  if (isPositive == false) {
    std::string values = describeDims(expr);
    mlir::InFlightDiagnostic diagnostic = diags.error(loc);
    diagnostic << "extent '" << expr.str() << "' ";
    if (std::optional<int64_t> constant = value.getConstant(); constant && expr.getKind() != DimExpr::Kind::Constant)
      diagnostic << "is " << *constant << (values.empty() ? "" : " for ") << values << "; it must be positive";
    else
      diagnostic << "is not positive";
    return std::nullopt;
  }
  if (!isPositive)
    require(extent.value, ">=", DimExpr::constant(1));
  return extent;
}

/// Adds a condition that a launch must check, unless it is there already.
void Analyzer::require(const DimExpr &lhs, StringRef op, const DimExpr &rhs) {
  std::string text = lhs.str() + " " + op.str() + " " + rhs.str();
  if (!llvm::is_contained(result->constraints, text))
    result->constraints.push_back(std::move(text));
}

std::optional<DimExpr> Analyzer::evaluateDim(const ast::Expr *expr, StringRef what) {
  Value value = evaluate(expr);
  if (value.isPoison())
    return std::nullopt;
  if (value.isDim())
    return value.dim;
  mlir::InFlightDiagnostic diagnostic = diags.error(expr->loc);
  diagnostic << what << " must be an integer expression over dimensions, got " << describe(value);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Analyzer::declare(const ast::ValueDecl &value, bool isResult) {
  if (!isResult && (isDimParam(value) || isTypeParam(value)))
    return;
  Variable variable;
  variable.name = value.name.str();
  variable.loc = value.loc;
  variable.isScalar = !value.type.isTensor;
  bool isPoison = false;

  if (auto type = lookupType(value.type.element)) {
    variable.type = *type;
  } else {
    diags.error(value.type.range.Start) << "unknown element type '" << printable(value.type.element) << "'"
                                        << didYouMean(value.type.element, typeNames);
    isPoison = true;
  }
  for (const ast::Expr *expr : value.type.extents) {
    std::optional<DimExpr> dim = evaluateDim(expr, "an extent");
    std::optional<Extent> extent = dim ? makeExtent(*dim, expr->loc) : std::nullopt;
    if (extent)
      variable.shape.push_back(std::move(*extent));
    else
      isPoison = true;
  }

  if (!isPoison && !variable.isScalar && !checkLayout(value, variable))
    isPoison = true;

  if (isResult) {
    if (variable.isScalar && !isPoison) {
      diags.error(value.type.range.Start)
          << "result '" << value.name << "' must be a tensor; a single value has type '" << value.type.element << "[]'";
      isPoison = true;
    }
    if (value.defaultValue) {
      diags.error(value.defaultValue->loc) << "result '" << value.name << "' cannot have a default value";
      isPoison = true;
    }
    auto [entry, isNew] = resultIndex.try_emplace(value.name, result->results.size());
    if (!isNew) {
      mlir::InFlightDiagnostic diagnostic = diags.error(value.loc);
      diagnostic << "result '" << value.name << "' is declared twice";
      diags.note(diagnostic, result->results[entry->second].loc) << "the other declaration is here";
      return;
    }
    auto symbol = symbols.find(value.name);
    if (symbol != symbols.end() &&
        (symbol->second.kind == Symbol::Kind::Dim || symbol->second.kind == Symbol::Kind::Knob)) {
      bool isKnob = symbol->second.kind == Symbol::Kind::Knob;
      mlir::InFlightDiagnostic diagnostic = diags.error(value.loc);
      diagnostic << "result '" << value.name << "' has the name of a " << (isKnob ? "knob" : "dimension");
      diags.note(diagnostic, symbol->second.loc)
          << (isKnob ? "the knob is declared here" : "the dimension is used here");
    }
    // Kernels write to elements of a result.
    if (isKernel && !symbols.count(value.name))
      symbols.try_emplace(value.name, Symbol{Symbol::Kind::Result, value.loc,
                                             isPoison ? Value() : makeMemory(variable, MemoryRef::Kind::Result), true});
    result->results.push_back(std::move(variable));
    result->values.push_back(nullptr);
    result->valueLocs.emplace_back();
    resultIsPoison.push_back(isPoison);
    return;
  }

  if (variable.isScalar && !isPoison && variable.type != DataType::F32 && variable.type != DataType::I32 &&
      variable.type != DataType::I64) {
    diags.error(value.type.range.Start) << "scalar parameter '" << value.name << "' has type '" << value.type.element
                                        << "'; scalars are 'f32', 'i32' or 'i64'";
    isPoison = true;
  }
  if (value.defaultValue && !isPoison)
    checkDefault(value, variable);

  auto [entry, isNew] = symbols.try_emplace(value.name, Symbol{Symbol::Kind::Param, value.loc, {}, true});
  if (!isNew) {
    bool isDim = entry->second.kind == Symbol::Kind::Dim, isKnob = entry->second.kind == Symbol::Kind::Knob;
    mlir::InFlightDiagnostic diagnostic = diags.error(value.loc);
    diagnostic << "parameter '" << value.name << "' "
               << (isDim    ? "has the name of a dimension"
                   : isKnob ? "has the name of a knob"
                            : "is declared twice");
    diags.note(diagnostic, entry->second.loc)
        << (isDim ? "the dimension is used here" : "the other declaration is here");
    return;
  }
  if (!isPoison && isKernel && !variable.isScalar) {
    entry->second.value = makeMemory(variable, MemoryRef::Kind::Param);
  } else if (!isPoison) {
    Node *node = makeNode(Node::Param{unsigned(result->params.size())}, variable.type, value.loc);
    node->isScalar = variable.isScalar;
    node->shape = variable.shape;
    entry->second.value = makeValue(node, nullptr);
  }
  result->params.push_back(std::move(variable));
}

/// The next parameter or result as memory.
Value Analyzer::makeMemory(const Variable &variable, MemoryRef::Kind kind) {
  Value value;
  value.kind = Value::Kind::Memory;
  auto memory = std::make_shared<MemoryInfo>();
  memory->ref.kind = kind;
  memory->ref.index = kind == MemoryRef::Kind::Param ? result->params.size() : result->results.size();
  memory->type = variable.type;
  memory->shape = variable.shape;
  value.memory = std::move(memory);
  return value;
}

/// Rows of packed elements begin and end with a byte: `count` of them, or a stride.
/// What constants do not decide is checked before a launch.
bool Analyzer::checkPacked(DataType type, const DimExpr &count, const llvm::Twine &what, llvm::SMLoc loc) {
  int64_t unit = getElementsPerUnit(type);
  if (unit == 1)
    return true;
  DimExpr value = count.substitute(dims);
  DimExpr rest = simplify(DimExpr::binary(DimExpr::Kind::Mod, value, DimExpr::constant(unit)));
  std::optional<int64_t> constant = rest.getConstant();
  if (!constant) {
    require(DimExpr::binary(DimExpr::Kind::Mod, value, DimExpr::constant(unit)), "==", DimExpr::constant(0));
    return true;
  }
  if (*constant == 0)
    return true;
  mlir::InFlightDiagnostic diagnostic = diags.error(loc);
  diagnostic << what << " of a tensor of '" << getName(type) << "' must be a multiple of " << unit << ": "
             << (unit == 2 ? "two elements fill a byte" : "four elements fill three bytes");
  std::string values = describeDims(count);
  if (std::optional<int64_t> number = simplify(value).getConstant())
    diagnostic << "; it is " << *number << (values.empty() ? "" : " for ") << values;
  return false;
}

/// Strides and alignment that the source states.
bool Analyzer::checkLayout(const ast::ValueDecl &value, Variable &variable) {
  bool ok = true;
  if (isPacked(variable.type)) {
    if (variable.shape.empty()) {
      diags.error(value.type.range.Start)
          << "'" << getName(variable.type) << "' is smaller than a byte: a tensor of it "
          << "has at least one axis";
      return false;
    }
    ok = checkPacked(variable.type, variable.shape.back().written, "the last extent", value.type.extents.back()->loc);
  }
  if (value.type.hasStrides) {
    if (!isKernel) {
      diags.error(value.type.range.Start) << "strides belong to kernels; tensors of an operator are contiguous";
      return false;
    }
    if (value.type.strides.size() != variable.shape.size()) {
      diags.error(value.type.range.Start) << "'" << value.name << "' has " << variable.shape.size() << " axes and "
                                          << value.type.strides.size() << " strides";
      return false;
    }
    DimExpr contiguous = DimExpr::constant(1);
    for (unsigned i = variable.shape.size(); i-- > 0;) {
      DimExpr stride = contiguous;
      if (const ast::Expr *expr = value.type.strides[i]) {
        std::optional<DimExpr> written = evaluateDim(expr, "a stride");
        if (!written) {
          ok = false;
          continue;
        }
        stride = simplify(written->substitute(dims));
        if (std::optional<int64_t> number = stride.getConstant(); number && *number < 0) {
          std::string values = describeDims(*written);
          diags.error(expr->loc) << "stride '" << written->str() << "' is " << *number
                                 << (values.empty() ? "" : " for ") << values << "; it must not be negative";
          ok = false;
          continue;
        }
        if (isPacked(variable.type) && i + 1 == variable.shape.size() && stride.getConstant() != 1) {
          diags.error(expr->loc) << "elements of '" << getName(variable.type)
                                 << "' are packed along the last axis, whose stride is 1";
          ok = false;
        } else if (i + 1 != variable.shape.size() && !checkPacked(variable.type, *written, "a stride", expr->loc)) {
          ok = false;
        }
      }
      variable.strides.insert(variable.strides.begin(), stride);
      contiguous = simplify(DimExpr::binary(DimExpr::Kind::Mul, stride, variable.shape[i].value));
    }
  }
  if (value.type.alignment) {
    std::optional<int64_t> alignment = evaluateNumber(value.type.alignment, "an alignment");
    if (!alignment) {
      ok = false;
    } else if (*alignment <= 0 || *alignment > 4096 || !llvm::isPowerOf2_64(*alignment) ||
               *alignment % getSizeInBytes(variable.type) != 0) {
      diags.error(value.type.alignment->loc) << "an alignment is a power of two between the size of an element, "
                                             << getSizeInBytes(variable.type) << ", and 4096 bytes, got " << *alignment;
      ok = false;
    } else {
      variable.alignment = *alignment;
    }
  }
  return ok;
}

void Analyzer::checkDefault(const ast::ValueDecl &value, Variable &variable) {
  if (!variable.isScalar) {
    diags.error(value.defaultValue->loc) << "tensor parameter '" << value.name << "' cannot have a default value";
    return;
  }
  Value number = evaluate(value.defaultValue);
  if (number.isPoison())
    return;
  bool isConstant = number.isFloat() || number.getInteger();
  if (!isConstant) {
    diags.error(value.defaultValue->loc) << "the default value of '" << value.name << "' must be a constant";
    return;
  }
  std::string what = "the default value of '" + variable.name + "'";
  if (!adapt(number, variable.type, what, value.defaultValue->loc))
    return;
  variable.defaultValue = std::get<Node::Literal>(number.node->op).value;
}

bool atrex::frontend::compareNumbers(ast::BinaryOp op, int64_t lhs, int64_t rhs) {
  switch (op) {
  case ast::BinaryOp::Eq:
    return lhs == rhs;
  case ast::BinaryOp::Ne:
    return lhs != rhs;
  case ast::BinaryOp::Lt:
    return lhs < rhs;
  case ast::BinaryOp::Le:
    return lhs <= rhs;
  case ast::BinaryOp::Gt:
    return lhs > rhs;
  default:
    return lhs >= rhs;
  }
}

std::optional<Analyzer::Constraint> Analyzer::evaluateConstraint(const ast::Expr *expr) {
  auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr);
  bool isJoined = binary && (binary->op == ast::BinaryOp::And || binary->op == ast::BinaryOp::Or);
  if (isJoined) {
    std::optional<Constraint> lhs = evaluateConstraint(binary->lhs), rhs = evaluateConstraint(binary->rhs);
    if (!lhs || !rhs)
      return std::nullopt;
    // One side may decide alone.
    bool deciding = binary->op == ast::BinaryOp::Or;
    Constraint result;
    if (lhs->holds == deciding || rhs->holds == deciding)
      result.holds = deciding;
    else if (lhs->holds && rhs->holds)
      result.holds = !deciding;
    result.lhs = DimExpr::binary(DimExpr::Kind::Add, lhs->lhs, lhs->rhs);
    result.rhs = DimExpr::binary(DimExpr::Kind::Add, rhs->lhs, rhs->rhs);
    return result;
  }
  if (!binary || !ast::isComparison(binary->op)) {
    diags.error(expr->loc) << "a constraint must be a comparison of dimension expressions, such as 'H % 8 == 0'";
    return std::nullopt;
  }
  std::optional<DimExpr> lhs = evaluateDim(binary->lhs, "the left side of a constraint");
  std::optional<DimExpr> rhs = evaluateDim(binary->rhs, "the right side of a constraint");
  if (!lhs || !rhs)
    return std::nullopt;
  Constraint result{*lhs, *rhs, std::nullopt};
  std::optional<int64_t> left = lhs->substitute(dims).getConstant(), right = rhs->substitute(dims).getConstant();
  if (left && right)
    result.holds = compareNumbers(binary->op, *left, *right);
  return result;
}

void Analyzer::checkConstraint(const ast::Expr *expr) {
  auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr);
  if (binary && binary->op == ast::BinaryOp::And) {
    checkConstraint(binary->lhs);
    checkConstraint(binary->rhs);
    return;
  }
  std::optional<Constraint> constraint = evaluateConstraint(expr);
  if (!constraint || constraint->holds == true)
    return;
  DimExpr left = constraint->lhs.substitute(dims), right = constraint->rhs.substitute(dims);
  bool isChoice = binary->op == ast::BinaryOp::Or;
  if (!constraint->holds && !isChoice) {
    require(left, ast::getSpelling(binary->op), right);
    return;
  }
  if (!constraint->holds) {
    // A launch checks comparisons, each of which must hold.
    if (!options.isSelected)
      return;
    std::set<std::string> open;
    left.collectDims(open);
    right.collectDims(open);
    diags.error(binary->loc) << "a constraint with '||' must be decided when the program is compiled; '"
                             << llvm::join(open, "', '") << (open.size() == 1 ? "' has" : "' have")
                             << " no value, give one with '--dim " << *open.begin() << "=...'";
    return;
  }
  std::string values = describeDims(DimExpr::binary(DimExpr::Kind::Add, constraint->lhs, constraint->rhs));
  mlir::InFlightDiagnostic diagnostic = diags.error(binary->loc);
  diagnostic << "constraint '" << printable(binary->getText()) << "' does not hold";
  if (!values.empty())
    diagnostic << " for " << values;
  if (isChoice)
    return;
  // Say the value of a side that is more than a name or a number.
  for (auto [side, value] : {std::pair(constraint->lhs, left), std::pair(constraint->rhs, right)})
    if (side.getKind() != DimExpr::Kind::Constant && side.getKind() != DimExpr::Kind::Dim)
      diagnostic << ": '" << side.str() << "' is " << *value.getConstant();
}

/// The kernel takes each dimension from the shape of a tensor.
void Analyzer::checkRuntimeDims() {
  for (StringRef name : dimNames) {
    if (dims.count(name))
      continue;
    auto standsAlone = [&](const Variable &variable) {
      return llvm::any_of(variable.shape, [&](const Extent &extent) { return extent.valueKey == name; });
    };
    // A kernel gets its dimensions from the launch, an operator from its tensors.
    if (!isKernel && !llvm::any_of(result->params, standsAlone) && !llvm::any_of(result->results, standsAlone))
      diags.error(symbols.find(name)->second.loc)
          << "run-time dimension '" << name
          << "' is never an extent by itself, so it cannot be known from the tensors; "
          << "give it a value with '--dim " << name << "=...'";
    require(DimExpr::dim(name), ">=", DimExpr::constant(1));
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Analyzer::checkStmt(const ast::Stmt &stmt) {
  if (checkCommonStmt(stmt))
    return;
  if (auto *bind = llvm::dyn_cast<ast::BindStmt>(&stmt)) {
    checkBinding(*bind);
  } else if (auto *assign = llvm::dyn_cast<ast::AssignStmt>(&stmt)) {
    if (assign->compound) {
      diags.error(assign->operatorLoc) << "'" << ast::getSpelling(*assign->compound)
                                       << "=' changes a variable, which only kernels have";
      return;
    }
    if (!assign->isTuple) {
      checkAssign(assign->names.front(), assign->value, evaluate(assign->value));
      return;
    }
    Value value = evaluateAny(assign->value);
    if (!value.isPoison() && (!value.isTuple() || value.elements.size() != assign->names.size())) {
      diags.error(assign->value->loc) << assign->names.size() << (assign->names.size() == 1 ? " name" : " names")
                                      << " for " << (value.isTuple() ? describe(value) : "one value");
      value = {};
    }
    for (auto [i, name] : llvm::enumerate(assign->names))
      if (name.name != "_")
        checkAssign(name, assign->value, value.isPoison() ? Value() : value.elements[i]);
  } else if (auto *call = llvm::dyn_cast<ast::ExprStmt>(&stmt); call && llvm::isa<ast::LaunchExpr>(call->value)) {
    evaluateAny(call->value);
  } else {
    diags.error(stmt.loc) << "this statement belongs to the kernel form";
  }
}

void Analyzer::checkBinding(const ast::BindStmt &stmt) {
  if (stmt.kind != ast::Stmt::Kind::Let) {
    diags.error(stmt.loc) << "this statement belongs to the kernel form";
    return;
  }
  if (!stmt.isTuple) {
    Value value = evaluate(stmt.value);
    if (stmt.type && !value.isPoison() && !checkAnnotation(value, *stmt.type, stmt.names.front()))
      value = {};
    if (stmt.names.front().name != "_")
      checkLet(stmt.names.front(), value);
    return;
  }
  Value value = evaluateAny(stmt.value);
  if (stmt.type)
    diags.error(stmt.type->range.Start) << "several names have no common type; annotate each by a 'let' of its own";
  if (!value.isPoison() && (!value.isTuple() || value.elements.size() != stmt.names.size())) {
    diags.error(stmt.value->loc) << stmt.names.size() << (stmt.names.size() == 1 ? " name" : " names") << " for "
                                 << (value.isTuple() ? describe(value) : "one value");
    value = {};
  }
  for (auto [i, name] : llvm::enumerate(stmt.names))
    if (name.name != "_")
      checkLet(name, value.isPoison() ? Value() : value.elements[i]);
}

bool Analyzer::checkAnnotation(Value &value, const ast::TypeSpec &spec, const ast::Binding &name) {
  std::optional<DataType> type = lookupType(spec.element);
  if (!type) {
    diags.error(spec.range.Start) << "unknown element type '" << printable(spec.element) << "'"
                                  << didYouMean(spec.element, typeNames);
    return false;
  }
  Shape shape;
  for (const ast::Expr *extent : spec.extents)
    if (!evaluateShape(extent, shape))
      return false;
  if (!value.isNode() && !adapt(value, *type, "'" + name.name.str() + "'", value.expr->loc))
    return false;
  bool isScalar = !spec.isTensor;
  if (value.node->type == *type && value.node->isScalar == isScalar && value.node->shape == shape)
    return true;
  mlir::InFlightDiagnostic diagnostic = diags.error(spec.range.Start);
  diagnostic << "'" << name.name << "' is declared as '" << getName(*type)
             << (isScalar ? std::string() : toString(shape)) << "', the value has type '" << typeOf(value) << "'";
  if (value.node->type != *type && value.node->shape == shape)
    diagnostic << "; convert it with '" << suggestCast(getName(*type), value) << "'";
  noteType(diagnostic, value, "the value");
  return false;
}

void Analyzer::checkLet(const ast::Binding &stmt, const Value &value) {
  auto existing = symbols.find(stmt.name);
  if (existing != symbols.end()) {
    Symbol &symbol = existing->second;
    StringRef what = symbol.kind == Symbol::Kind::Param    ? "a parameter"
                     : symbol.kind == Symbol::Kind::Dim    ? "a dimension"
                     : symbol.kind == Symbol::Kind::Knob   ? "a knob"
                     : symbol.kind == Symbol::Kind::Result ? "a result"
                                                           : "another value";
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "'" << stmt.name << "' is the name of " << what << " already; choose another";
    diags.note(diagnostic, symbol.loc) << "'" << stmt.name << "' is introduced here";
    // Which of the two a later use means is unclear.
    symbol.value = {};
    symbol.isUsed = true;
    return;
  }
  if (auto index = resultIndex.find(stmt.name); index != resultIndex.end()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "'" << stmt.name << "' is a result; assign it without 'let'";
    diags.note(diagnostic, result->results[index->second].loc) << "the result is declared here";
    resultIsPoison[index->second] = true;
    return;
  }
  // The name that the value keeps in MLIR.
  Node *named = value.isNode() ? value.node : value.isMemory() ? value.memory->ref.shared : nullptr;
  if (named && named->name.empty() && !std::holds_alternative<Node::Literal>(named->op) &&
      !std::holds_alternative<Node::Param>(named->op))
    named->name = stmt.name;
  symbols.try_emplace(stmt.name, Symbol{Symbol::Kind::Let, stmt.loc, value, value.isPoison()});
  letNames.push_back(stmt.name);
}

void Analyzer::checkAssign(const ast::Binding &stmt, const ast::Expr *source, const Value &value) {
  auto index = resultIndex.find(stmt.name);
  if (index == resultIndex.end()) {
    auto symbol = symbols.find(stmt.name);
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    if (symbol == symbols.end()) {
      std::vector<StringRef> names;
      for (const Variable &variable : result->results)
        names.push_back(variable.name);
      std::string hint = didYouMean(stmt.name, names);
      diagnostic << "there is no result '" << printable(stmt.name) << "'" << hint;
      if (hint.empty())
        diagnostic << "; a new value is introduced with 'let'";
      // The intended result is taken as assigned.
      if (auto similar = resultIndex.find(findSimilar(stmt.name, names)); similar != resultIndex.end())
        resultIsPoison[similar->second] = true;
      return;
    }
    switch (symbol->second.kind) {
    case Symbol::Kind::Param:
      diagnostic << "parameter '" << stmt.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Dim:
      diagnostic << "dimension '" << stmt.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Knob:
      diagnostic << "knob '" << stmt.name << "' cannot be assigned";
      break;
    default:
      diagnostic << "'" << stmt.name << "' has a value already; 'let' values do not change";
      symbol->second.isUsed = true;
      break;
    }
    diags.note(diagnostic, symbol->second.loc) << "'" << stmt.name << "' is introduced here";
    return;
  }

  unsigned i = index->second;
  const Variable &variable = result->results[i];
  if (result->valueLocs[i].isValid()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "result '" << stmt.name << "' is assigned twice";
    diags.note(diagnostic, result->valueLocs[i]) << "the other assignment is here";
    return;
  }
  result->valueLocs[i] = stmt.loc;
  if (value.isPoison() || resultIsPoison[i]) {
    resultIsPoison[i] = true;
    return;
  }
  resultIsPoison[i] = true;

  Value typed = value;
  if (!typed.isNode() && !adapt(typed, variable.type, "result '" + variable.name + "'", source->loc))
    return;
  Node *node = typed.node;
  if (node->type != variable.type) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "result '" << stmt.name << "' has element type '" << getName(variable.type) << "', the value has '"
               << getName(node->type) << "'; convert it with '" << suggestCast(getName(variable.type), value) << "'";
    diags.note(diagnostic, variable.loc) << "the result is declared here as '" << typeOf(variable) << "'";
    noteType(diagnostic, value, "the value");
    return;
  }
  // A single value fills the whole result.
  if (!node->shape.empty() && node->shape != variable.shape) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.loc);
    diagnostic << "result '" << stmt.name << "' has shape '" << toString(variable.shape) << "', the value has '"
               << toString(node->shape) << "'";
    diags.note(diagnostic, variable.loc) << "the result is declared here as '" << typeOf(variable) << "'";
    noteType(diagnostic, value, "the value");
    return;
  }
  resultIsPoison[i] = false;
  result->values[i] = node;
}

void Analyzer::checkResultsAssigned() {
  // A statement that could not be read may be the missing one.
  if (decl.hasErrors)
    return;
  for (auto [variable, loc, isPoison] : llvm::zip(result->results, result->valueLocs, resultIsPoison))
    if (!loc.isValid() && !isPoison)
      diags.error(variable.loc) << "result '" << variable.name << "' is never assigned";
}

std::unique_ptr<Operator> Analyzer::run() {
  if (isKernel)
    return runKernel();
  unsigned errorsBefore = diags.getNumErrors();
  result = std::make_unique<Operator>();
  result->name = decl.name.str();
  result->loc = decl.loc;
  declareKnobs();
  declareDims();
  for (const ast::ValueDecl &param : decl.params)
    declare(param, /*isResult=*/false);
  for (const ast::ValueDecl &value : decl.results)
    declare(value, /*isResult=*/true);
  if (decl.results.empty())
    diags.error(decl.loc) << "operator '" << decl.name << "' has no result";
  // Names must be known and shapes right before the body can be judged.
  bool signatureIsFine = diags.getNumErrors() == errorsBefore;
  if (signatureIsFine) {
    checkRuntimeDims();
    for (const ast::Expr *constraint : decl.constraints)
      checkConstraint(constraint);
  }
  for (const ast::Stmt *stmt : decl.body.stmts) {
    if (diags.reachedLimit())
      return nullptr;
    checkStmt(*stmt);
  }
  checkResultsAssigned();
  closeScope(0);
  warnUnused();
  if (diags.getNumErrors() != errorsBefore || decl.hasErrors)
    return nullptr;
  return std::move(result);
}

std::unique_ptr<Operator> atrex::frontend::analyze(const ast::OpDecl &decl, const AnalyzeOptions &options,
                                                   Diagnostics &diags) {
  if (decl.isIncomplete)
    return nullptr;
  return Analyzer(decl, options, diags).run();
}
