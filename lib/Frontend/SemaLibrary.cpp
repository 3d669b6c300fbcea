//===- SemaLibrary.cpp - Constants, knobs, helpers ------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Analyzer.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"

using namespace atrex;
using namespace atrex::frontend;
using llvm::StringRef;

/// Values that the domain of a knob may have.
static constexpr size_t maxKnobValues = 4096;
/// Levels of helpers that call each other.
static constexpr size_t maxHelperDepth = 64;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<Value> Analyzer::lookupConstant(const ast::NameExpr &expr) {
  if (!options.library)
    return std::nullopt;
  auto entry = options.library->consts.find(expr.name);
  if (entry == options.library->consts.end())
    return std::nullopt;
  Library::Constant &constant = entry->second;
  if (constant.state == Library::Constant::State::Active) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    diagnostic << "the value of constant '" << expr.name << "' depends on itself";
    diags.note(diagnostic, constant.decl->loc) << "the constant is defined here";
    return Value();
  }
  evaluateConstant(constant);
  Value value;
  value.expr = &expr;
  if (auto *integer = std::get_if<int64_t>(&constant.value))
    return makeDim(DimExpr::constant(*integer), 1, &expr);
  if (auto *number = std::get_if<double>(&constant.value)) {
    value.kind = Value::Kind::Float;
    value.number = *number;
  } else if (auto *truth = std::get_if<bool>(&constant.value)) {
    return makeValue(makeLiteral(int64_t(*truth), DataType::I1, expr.loc), &expr);
  }
  return value;
}

void Analyzer::evaluateConstant(Library::Constant &constant) {
  if (constant.state != Library::Constant::State::New)
    return;
  constant.state = Library::Constant::State::Active;
  // A constant sees constants only.
  llvm::StringMap<Symbol> savedSymbols;
  std::swap(symbols, savedSymbols);
  llvm::StringMap<unsigned> savedResults;
  std::swap(resultIndex, savedResults);
  const CallSite *savedSite = std::exchange(callSite, nullptr);
  Value value = evaluate(constant.decl->value);
  std::swap(symbols, savedSymbols);
  std::swap(resultIndex, savedResults);
  callSite = savedSite;
  constant.state = Library::Constant::State::Done;
  if (value.isFloat()) {
    constant.value = value.number;
  } else if (std::optional<int64_t> integer = value.getInteger()) {
    constant.value = *integer;
  } else if (value.isNode() && getKnownTruth(*value.node)) {
    constant.value = *getKnownTruth(*value.node);
  } else if (!value.isPoison()) {
    diags.error(constant.decl->value->loc) << "the value of constant '" << constant.decl->name
                                           << "' must be a number or a truth value that is known when the program is "
                                              "compiled, got "
                                           << describe(value);
  }
}

void Analyzer::evaluateConstants() {
  result = std::make_unique<Operator>();
  for (StringRef name : options.library->constNames)
    evaluateConstant(options.library->consts.find(name)->second);
}

void atrex::frontend::evaluateConstants(Library &library, Diagnostics &diags) {
  ast::OpDecl nothing;
  AnalyzeOptions options;
  options.library = &library;
  Analyzer(nothing, options, diags).evaluateConstants();
}

//===----------------------------------------------------------------------===//
// Knobs
//===----------------------------------------------------------------------===//

std::optional<int64_t> Analyzer::evaluateNumber(const ast::Expr *expr, StringRef what) {
  Value value = evaluate(expr);
  if (value.isPoison())
    return std::nullopt;
  if (std::optional<int64_t> number = getKnownInteger(value))
    return number;
  if (value.isDim() && !options.isSelected)
    return std::nullopt;
  mlir::InFlightDiagnostic diagnostic = diags.error(expr->loc);
  diagnostic << what << " must be an integer that is known when the program is compiled, got " << describe(value);
  if (value.isDim())
    diagnostic << " '" << value.dim.str() << "' without a value";
  return std::nullopt;
}

void Analyzer::declareKnobs() {
  // Domains do not depend on other knobs: their names are known behind the clause.
  llvm::StringMap<Symbol> declared;
  for (const ast::KnobDecl &knob : decl.knobs) {
    auto [entry, isNew] = declared.try_emplace(knob.name, Symbol{Symbol::Kind::Knob, knob.loc, {}, true});
    if (!isNew) {
      mlir::InFlightDiagnostic diagnostic = diags.error(knob.loc);
      diagnostic << "knob '" << knob.name << "' is declared twice";
      diags.note(diagnostic, entry->second.loc) << "the other declaration is here";
      continue;
    }
    std::string what = ("a value of knob '" + knob.name + "'").str();
    Knob checked;
    checked.name = knob.name.str();
    checked.loc = knob.loc;
    bool ok = true;
    if (knob.isRange) {
      std::optional<int64_t> begin = evaluateNumber(knob.begin, what), end = evaluateNumber(knob.end, what);
      std::optional<int64_t> step = knob.step ? evaluateNumber(knob.step, what) : std::optional<int64_t>(1);
      if (!begin || !end || !step)
        continue;
      if (*step <= 0) {
        diags.error(knob.step->loc) << "the step of knob '" << knob.name << "' must be positive, got " << *step;
        continue;
      }
      if (*begin > *end) {
        diags.error(knob.end->loc) << "the domain of knob '" << knob.name << "' is empty: " << *begin << " .. " << *end;
        continue;
      }
      if ((uint64_t(*end) - uint64_t(*begin)) / uint64_t(*step) >= maxKnobValues) {
        diags.error(knob.end->loc) << "the domain of knob '" << knob.name << "' has more than " << maxKnobValues
                                   << " values";
        continue;
      }
      for (uint64_t i = 0, count = (uint64_t(*end) - uint64_t(*begin)) / uint64_t(*step); i <= count; ++i)
        checked.domain.push_back(*begin + int64_t(i) * *step);
    } else {
      for (const ast::Expr *expr : knob.values) {
        std::optional<int64_t> value = evaluateNumber(expr, what);
        if (!value) {
          ok = false;
        } else if (llvm::is_contained(checked.domain, *value)) {
          diags.error(expr->loc) << "value " << *value << " of knob '" << knob.name << "' is given twice";
        } else {
          checked.domain.push_back(*value);
        }
      }
      if (knob.values.size() > maxKnobValues) {
        diags.error(knob.loc) << "the domain of knob '" << knob.name << "' has more than " << maxKnobValues
                              << " values";
        ok = false;
      }
      if (knob.values.empty()) {
        diags.error(knob.loc) << "the domain of knob '" << knob.name << "' is empty";
        ok = false;
      }
    }
    if (!ok)
      continue;
    auto listDomain = [&] {
      std::string text = "{";
      for (int64_t value : llvm::ArrayRef(checked.domain).take_front(16))
        text += (text.size() > 1 ? ", " : "") + std::to_string(value);
      return text + (checked.domain.size() > 16 ? ", ...}" : "}");
    };
    checked.defaultValue = checked.domain.front();
    if (knob.defaultValue) {
      std::optional<int64_t> value = evaluateNumber(knob.defaultValue, what);
      if (value && !llvm::is_contained(checked.domain, *value)) {
        mlir::InFlightDiagnostic diagnostic = diags.error(knob.defaultValue->loc);
        diagnostic << "the default value " << *value << " of knob '" << knob.name << "' is not in its domain "
                   << listDomain();
        continue;
      }
      if (value)
        checked.defaultValue = *value;
    }
    checked.value = checked.defaultValue;
    if (auto given = options.knobs.find(checked.name); given != options.knobs.end()) {
      int64_t value;
      if (StringRef(given->second).getAsInteger(10, value)) {
        diags.error(knob.loc) << "the value of knob '" << knob.name << "' must be an integer, got '"
                              << printable(given->second) << "'";
      } else if (!llvm::is_contained(checked.domain, value)) {
        diags.error(knob.loc) << "value " << value << " of knob '" << knob.name << "' is not in its domain "
                              << listDomain();
      } else {
        checked.value = value;
      }
    }
    entry->second.value.kind = Value::Kind::Dim;
    entry->second.value.dim = DimExpr::dim(knob.name);
    entry->second.value.dimSize = 1;
    result->knobs.push_back(std::move(checked));
  }
  for (const Knob &knob : result->knobs)
    dims[knob.name] = knob.value;
  for (auto &entry : declared)
    symbols.try_emplace(entry.getKey(), std::move(entry.getValue()));
}

std::vector<Knob> Analyzer::takeKnobs() {
  result = std::make_unique<Operator>();
  declareKnobs();
  return std::move(result->knobs);
}

std::vector<Knob> atrex::frontend::analyzeKnobs(const ast::OpDecl &decl, const AnalyzeOptions &options,
                                                Diagnostics &diags) {
  return Analyzer(decl, options, diags).takeKnobs();
}

//===----------------------------------------------------------------------===//
// Types of names
//===----------------------------------------------------------------------===//

bool Analyzer::checkAnnotation(Value &value, const ast::TypeSpec &type, const llvm::Twine &what, llvm::SMLoc loc,
                               bool bindsNames) {
  std::optional<DataType> element = lookupType(type.element);
  if (!element) {
    diags.error(type.range.Start) << "unknown element type '" << printable(type.element) << "'"
                                  << didYouMean(type.element, typeNames);
    return false;
  }
  auto fail = [&](const llvm::Twine &problem) {
    mlir::InFlightDiagnostic diagnostic = diags.error(loc);
    diagnostic << what << problem;
    if (value.expr && value.expr->loc != loc)
      noteType(diagnostic, value, "the value");
    diags.note(diagnostic, type.range.Start) << "the type is written here";
    return false;
  };
  if (value.isTuple())
    return fail(" has one type, but there are " + llvm::Twine(value.elements.size()) + " values");
  if (!value.isNode() && !value.isMemory()) {
    if (!adapt(value, *element, what.str(), loc))
      return false;
  }
  bool isScalar = value.isNode() && value.node->isScalar;
  DataType actual = value.isMemory() ? value.memory->type : value.node->type;
  if (actual != *element)
    return fail(" is declared with element type '" + getName(*element) + "', the value has '" + getName(actual) +
                "'; convert it with '" + suggestCast(getName(*element), value) + "'");
  if (!type.isTensor)
    return isScalar || fail(" is declared as a scalar, the value has type '" + typeOf(value) + "'");
  Shape shape = value.isMemory() ? value.memory->shape : value.node->shape;
  bool fills = isScalar && isKernel && !bindsNames && !type.extents.empty();
  if (!fills && shape.size() != type.extents.size())
    return fail(" is declared with " + llvm::Twine(type.extents.size()) + " axes, the value has type '" +
                typeOf(value) + "'");
  Shape declared;
  for (auto [i, expr] : llvm::enumerate(type.extents)) {
    if (auto *name = llvm::dyn_cast<ast::NameExpr>(expr);
        name && bindsNames && !symbols.count(name->name) &&
        !(options.library && options.library->consts.count(name->name))) {
      Symbol symbol{Symbol::Kind::Dim, name->loc, {}, true};
      symbol.value.kind = Value::Kind::Dim;
      symbol.value.dim = shape[i].written;
      symbol.value.dimSize = 1;
      symbols.try_emplace(name->name, std::move(symbol));
      letNames.push_back(name->name);
      declared.push_back(shape[i]);
      continue;
    }
    std::optional<DimExpr> dim = evaluateDim(expr, "an extent");
    std::optional<Extent> extent = dim ? makeExtent(*dim, expr->loc) : std::nullopt;
    if (!extent)
      return false;
    declared.push_back(*extent);
  }
  // A single value fills the tile.
  if (fills) {
    if (!checkExtents(declared, loc))
      return false;
    value = makeBroadcast(value, declared, value.expr);
    return true;
  }
  if (shape != declared)
    return fail(" is declared with shape '" + toString(declared) + "', the value has '" + toString(shape) + "'");
  return true;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

std::optional<Value> Analyzer::evaluateHelperCall(const ast::CallExpr &expr) {
  if (!options.library)
    return std::nullopt;
  auto entry = options.library->fns.find(expr.callee);
  if (entry == options.library->fns.end())
    return std::nullopt;
  return inlineHelper(expr, *entry->second);
}

Value Analyzer::inlineHelper(const ast::CallExpr &expr, const ast::FnDecl &fn) {
  // Arguments belong to the caller.
  llvm::SmallVector<Value> args(fn.params.size());
  llvm::SmallVector<bool> isGiven(fn.params.size(), false);
  bool ok = !fn.isIncomplete && !fn.hasErrors && !options.library->failedFns.contains(fn.name);
  bool isSilent = !ok;
  size_t position = 0;
  std::vector<StringRef> paramNames;
  for (const ast::ValueDecl &param : fn.params)
    paramNames.push_back(param.name);
  for (const ast::Argument &arg : expr.args) {
    Value value;
    if (std::optional<Value> memory = evaluateMemory(arg.value))
      value = *memory;
    else
      value = evaluate(arg.value);
    size_t index = position;
    if (!arg.name.empty()) {
      index = llvm::find(paramNames, arg.name) - paramNames.begin();
      if (index == paramNames.size()) {
        diags.error(arg.loc) << "'" << fn.name << "' has no parameter named '" << printable(arg.name) << "'"
                             << didYouMean(arg.name, paramNames);
        ok = false;
        isSilent = true;
        continue;
      }
      if (isGiven[index]) {
        diags.error(arg.loc) << "parameter '" << arg.name << "' of '" << fn.name << "' is given twice";
        ok = false;
        isSilent = true;
        continue;
      }
    } else {
      ++position;
    }
    if (value.isPoison())
      ok = false;
    if (index < args.size()) {
      args[index] = value;
      isGiven[index] = true;
    }
  }
  bool hasAll = position <= args.size() && llvm::all_of(llvm::enumerate(isGiven), [&](auto item) {
                  return item.value() || fn.params[item.index()].defaultValue;
                });
  if (!hasAll && !isSilent) {
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    diagnostic << "'" << fn.name << "' takes " << fn.params.size()
               << (fn.params.size() == 1 ? " argument" : " arguments") << ", got " << expr.args.size();
    diags.note(diagnostic, fn.loc) << "the helper is defined here";
    ok = false;
  }
  if (!ok)
    return {};
  if (llvm::is_contained(helperStack, &fn)) {
    std::string chain;
    for (const ast::FnDecl *active : llvm::make_range(llvm::find(helperStack, &fn), helperStack.end()))
      chain += active->name.str() + " -> ";
    diags.error(expr.loc) << "helper '" << fn.name << "' calls itself: " << chain << fn.name
                          << "; helpers are inlined, so the chain of calls must end";
    options.library->failedFns.insert(fn.name);
    return {};
  }
  if (helperStack.size() >= maxHelperDepth) {
    diags.error(expr.loc) << "helpers call each other more than " << maxHelperDepth << " levels deep";
    return {};
  }

  if (result->callSites.size() >= maxHelperCalls || result->nodes.size() > maxProgramNodes) {
    diags.error(expr.loc) << "the program becomes too large: more than " << maxHelperCalls << " calls of helpers or "
                          << maxProgramNodes << " operations";
    options.library->failedFns.insert(fn.name);
    return {};
  }

  unsigned errorsBefore = diags.getNumErrors();
  result->callSites.push_back(std::make_unique<CallSite>(CallSite{expr.loc, callSite}));
  const CallSite *savedSite = std::exchange(callSite, result->callSites.back().get());
  llvm::StringMap<Symbol> savedSymbols;
  std::swap(symbols, savedSymbols);
  llvm::StringMap<unsigned> savedResults;
  std::swap(resultIndex, savedResults);
  std::vector<StringRef> savedNames;
  std::swap(letNames, savedNames);
  std::vector<StringRef> savedDims;
  std::swap(dimNames, savedDims);
  helperStack.push_back(&fn);
  llvm::scope_exit restore([&] {
    helperStack.pop_back();
    std::swap(dimNames, savedDims);
    std::swap(letNames, savedNames);
    std::swap(resultIndex, savedResults);
    std::swap(symbols, savedSymbols);
    callSite = savedSite;
  });

  for (auto [param, value] : llvm::zip_equal(fn.params, args)) {
    if (!param.type.element.empty() &&
        !checkAnnotation(value, param.type, "parameter '" + param.name + "'", expr.loc, /*bindsNames=*/true))
      value = {};
    auto [entry, isNew] = symbols.try_emplace(param.name, Symbol{Symbol::Kind::Param, param.loc, value, true});
    if (!isNew) {
      mlir::InFlightDiagnostic diagnostic = diags.error(param.loc);
      diagnostic << "parameter '" << param.name << "' is declared twice";
      diags.note(diagnostic, entry->second.loc) << "the other declaration is here";
    }
    letNames.push_back(param.name);
  }
  Value returned = makeVoid(&expr);
  if (diags.getNumErrors() == errorsBefore) {
    diags.enterCall(expr.loc);
    llvm::ArrayRef<const ast::Stmt *> stmts = fn.body.stmts;
    const ast::ReturnStmt *last = stmts.empty() ? nullptr : llvm::dyn_cast<ast::ReturnStmt>(stmts.back());
    for (const ast::Stmt *stmt : last ? stmts.drop_back() : stmts) {
      if (diags.reachedLimit())
        break;
      checkStmt(*stmt);
    }
    if (last) {
      for (const ast::Expr *expr : last->values)
        returned.elements.push_back(evaluate(expr));
      if (fn.resultType && returned.elements.size() == 1 && !returned.elements.front().isPoison() &&
          !checkAnnotation(returned.elements.front(), *fn.resultType, "the result of '" + fn.name + "'",
                           last->values.front()->loc, /*bindsNames=*/false))
        returned.elements.front() = {};
    }
    closeScope(0);
    diags.leaveCall();
    // Other calls would only repeat what is wrong in the body.
    if (diags.getNumErrors() != errorsBefore)
      options.library->failedFns.insert(fn.name);
  }
  if (diags.getNumErrors() != errorsBefore)
    return {};
  for (Value &value : returned.elements) {
    if (value.isPoison())
      return {};
    value.expr = &expr;
  }
  if (returned.elements.size() == 1) {
    Value value = returned.elements.front();
    return value;
  }
  return returned;
}
