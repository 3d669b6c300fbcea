//===- SemaLaunch.cpp - Launches of kernels in operators ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Analyzer.h"

using namespace atrex;
using namespace atrex::frontend;
using llvm::StringRef;

/// The kernel with some dimensions and knobs, without diagnostics: what is wrong
/// with it is reported where it is checked for itself.
static std::unique_ptr<Operator> analyzeQuietly(const ast::OpDecl &decl, AnalyzeOptions options, Diagnostics &diags) {
  options.isQuiet = true;
  mlir::ScopedDiagnosticHandler silence(&diags.getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  unsigned before = diags.getNumErrors();
  std::unique_ptr<Operator> kernel = analyze(decl, options, diags);
  diags.forgetErrors(before);
  return kernel;
}

/// Whether an index of a count lies inside of its axis; what only the run decides
/// becomes a condition of the launch.
bool Analyzer::checkCountIndex(const DimExpr &written, const DimExpr &value, const Value &tensor, unsigned axis,
                               llvm::SMLoc loc) {
  const Extent &extent = tensor.node->shape[axis];
  DimExpr rest = DimExpr::binary(DimExpr::Kind::Sub, DimExpr::binary(DimExpr::Kind::Sub, extent.value, value),
                                 DimExpr::constant(1));
  std::optional<bool> isNotBefore = isNonNegative(value), isNotBehind = isNonNegative(rest);
  if (isNotBefore == false || isNotBehind == false) {
    std::string values = describeDims(DimExpr::binary(DimExpr::Kind::Add, written, extent.written));
    mlir::InFlightDiagnostic diagnostic = diags.error(loc);
    diagnostic << "index '" << written.str() << "' of 'count' ";
    if (std::optional<int64_t> number = value.getConstant(); number && written.getKind() != DimExpr::Kind::Constant)
      diagnostic << "is " << *number << (values.empty() ? "" : " for ") << values << ", ";
    diagnostic << "outside of axis " << axis << " of extent '" << extent.written.str() << "'";
    if (extent.constant && extent.written.getKind() != DimExpr::Kind::Constant)
      diagnostic << ", which is " << *extent.constant;
    noteType(diagnostic, tensor, "the tensor");
    return false;
  }
  if (!isNotBefore)
    require(value, ">=", DimExpr::constant(0));
  if (!isNotBehind)
    require(value, "<", extent.value);
  return true;
}

Value Analyzer::evaluateLaunch(const ast::LaunchExpr &expr) {
  if (isKernel || !helperStack.empty()) {
    diags.error(expr.loc) << "a kernel is launched by an operator, not by another kernel or a helper";
    return {};
  }
  const ast::OpDecl *target = options.library ? options.library->ops.lookup(expr.callee) : nullptr;
  if (!target || !target->isKernel) {
    std::vector<StringRef> names;
    if (options.library)
      for (const auto &entry : options.library->ops)
        if (entry.getValue()->isKernel)
          names.push_back(entry.getKey());
    llvm::sort(names);
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    if (target)
      diagnostic << "'" << expr.callee << "' is an operator; only kernels are launched";
    else
      diagnostic << "there is no kernel '" << printable(expr.callee) << "'" << didYouMean(expr.callee, names);
    return {};
  }

  // The signature of the kernel, with no dimension known.
  AnalyzeOptions kernelOptions;
  kernelOptions.library = options.library;
  std::unique_ptr<Operator> signature = analyzeQuietly(*target, kernelOptions, diags);
  std::vector<StringRef> dimNames = collectDimNames(*target, options.library);

  // Arguments: parameters in their order or by name; dimensions, types and knobs
  // by name.
  std::vector<StringRef> typeParamNames = collectTypeParams(*target);
  llvm::SmallVector<const ast::ValueDecl *> params;
  for (const ast::ValueDecl &param : target->params)
    if (!llvm::is_contained(typeParamNames, param.name) && !llvm::is_contained(dimNames, param.name))
      params.push_back(&param);
  llvm::SmallVector<Value> args(params.size());
  llvm::SmallVector<llvm::SMLoc> argLocs(params.size());
  std::map<std::string, DimExpr> bound;
  bool ok = signature != nullptr;
  unsigned position = 0;
  for (const ast::Argument &arg : expr.args) {
    unsigned index = params.size();
    if (arg.name.empty()) {
      index = position++;
      if (index >= params.size()) {
        mlir::InFlightDiagnostic diagnostic = diags.error(arg.value->loc);
        diagnostic << "kernel '" << expr.callee << "' has " << params.size() << " parameters, got more arguments";
        diags.note(diagnostic, target->loc) << "the kernel is defined here";
        ok = false;
        break;
      }
    } else {
      for (auto [i, param] : llvm::enumerate(params))
        if (param->name == arg.name)
          index = i;
    }
    if (index < params.size()) {
      if (argLocs[index].isValid()) {
        diags.error(arg.value->loc) << "parameter '" << params[index]->name << "' of kernel '" << expr.callee
                                    << "' is given twice";
        ok = false;
        continue;
      }
      argLocs[index] = arg.value->loc;
      args[index] = evaluate(arg.value);
      ok &= !args[index].isPoison();
      continue;
    }
    if (llvm::is_contained(typeParamNames, arg.name)) {
      auto *type = llvm::dyn_cast<ast::NameExpr>(arg.value);
      if (!type || !lookupType(type->name)) {
        diags.error(arg.value->loc) << "the value of type '" << arg.name << "' must be an element type, got '"
                                    << printable(arg.value->getText()) << "'";
        ok = false;
        continue;
      }
      kernelOptions.knobs[arg.name.str()] = getName(*lookupType(type->name)).str();
      continue;
    }
    bool isKnob = llvm::any_of(target->knobs, [&](const ast::KnobDecl &knob) { return knob.name == arg.name; });
    if (!isKnob && !llvm::is_contained(dimNames, arg.name)) {
      std::vector<StringRef> names = dimNames;
      for (const ast::ValueDecl &param : target->params)
        names.push_back(param.name);
      for (const ast::KnobDecl &knob : target->knobs)
        names.push_back(knob.name);
      mlir::InFlightDiagnostic diagnostic = diags.error(arg.loc);
      diagnostic << "kernel '" << expr.callee << "' has no parameter, dimension or knob '" << printable(arg.name) << "'"
                 << didYouMean(arg.name, names);
      diags.note(diagnostic, target->loc) << "the kernel is defined here";
      ok = false;
      continue;
    }
    std::optional<DimExpr> value = evaluateDim(arg.value, isKnob ? "the value of a knob" : "the value of a dimension");
    if (!value) {
      ok = false;
      continue;
    }
    if (isKnob) {
      std::optional<int64_t> number = value->substitute(dims).getConstant();
      if (!number) {
        diags.error(arg.value->loc) << "the value of knob '" << arg.name << "' must be a constant";
        ok = false;
        continue;
      }
      kernelOptions.knobs[arg.name.str()] = std::to_string(*number);
      continue;
    }
    bound.emplace(arg.name.str(), *value);
  }
  if (!ok)
    return {};
  // Knobs may stand in extents.
  if (!kernelOptions.knobs.empty() && !(signature = analyzeQuietly(*target, kernelOptions, diags))) {
    diags.error(expr.loc) << "kernel '" << expr.callee << "' does not take these values of its knobs";
    return {};
  }

  for (auto [i, param] : llvm::enumerate(signature->params)) {
    Value &arg = args[i];
    if (!argLocs[i].isValid()) {
      if (param.defaultValue) {
        arg = makeValue(makeLiteral(*param.defaultValue, param.type, expr.loc), &expr);
        continue;
      }
      mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
      diagnostic << "kernel '" << expr.callee << "' needs a value for parameter '" << param.name << "'";
      diags.note(diagnostic, param.loc) << "the parameter is declared here as '" << typeOf(param) << "'";
      return {};
    }
    if (param.isScalar && !arg.isNode() &&
        !adapt(arg, param.type, "parameter '" + param.name + "' of kernel '" + expr.callee.str() + "'", argLocs[i]))
      return {};
    bool fits = arg.isNode() && arg.node->type == param.type && arg.node->isScalar == param.isScalar &&
                arg.node->shape.size() == param.shape.size();
    if (!fits) {
      mlir::InFlightDiagnostic diagnostic = diags.error(argLocs[i]);
      diagnostic << "parameter '" << param.name << "' of kernel '" << expr.callee << "' has type '" << typeOf(param)
                 << "', got " << describe(arg);
      diags.note(diagnostic, param.loc) << "the parameter is declared here";
      return {};
    }
    bool isSimple =
        std::holds_alternative<Node::Param>(arg.node->op) || std::holds_alternative<Node::Literal>(arg.node->op);
    if (param.isScalar && !isSimple) {
      diags.error(argLocs[i])
          << "a scalar that is computed cannot be passed to a launch; pass a parameter or a constant "
             "and compute in the kernel";
      return {};
    }
    for (auto [extent, given] : llvm::zip_equal(param.shape, arg.node->shape))
      if (extent.value.getKind() == DimExpr::Kind::Dim)
        bound.emplace(extent.value.getDim().str(), given.written);
  }
  for (StringRef name : dimNames) {
    if (bound.count(name.str()) || !llvm::is_contained(signature->runtimeDims, name))
      continue;
    mlir::InFlightDiagnostic diagnostic = diags.error(expr.loc);
    diagnostic << "dimension '" << name << "' of kernel '" << expr.callee
               << "' follows from no argument; give it with '" << name << " = ...'";
    diags.note(diagnostic, target->loc) << "the kernel is defined here";
    return {};
  }
  // Every extent, those that are expressions too.
  for (auto [i, param] : llvm::enumerate(signature->params))
    for (auto [axis, extent] : llvm::enumerate(param.shape)) {
      const Extent &given = args[i].node->shape[axis];
      DimExpr wanted = extent.value.bind(bound);
      DimExpr wantedValue = simplify(wanted.substitute(dims)), givenValue = simplify(given.value);
      if (wantedValue.str() == givenValue.str() || simplify(wanted).str() == given.writtenKey)
        continue;
      std::optional<int64_t> wantedNumber = wantedValue.getConstant(), givenNumber = givenValue.getConstant();
      if (!wantedNumber || !givenNumber) {
        require(givenValue, "==", wantedValue);
        continue;
      }
      mlir::InFlightDiagnostic diagnostic = diags.error(argLocs[i]);
      diagnostic << "axis " << axis << " of parameter '" << param.name << "' of kernel '" << expr.callee
                 << "' has extent '" << extent.written.str() << "', which is " << *wantedNumber
                 << " here, the argument has " << *givenNumber;
      diags.note(diagnostic, param.loc) << "the parameter is declared here as '" << typeOf(param) << "'";
      noteType(diagnostic, args[i], "the argument");
      return {};
    }

  Node::Launch launch;
  for (const auto &[name, value] : bound) {
    DimExpr known = simplify(value.substitute(dims));
    launch.dims.push_back({name, known});
    if (std::optional<int64_t> constant = known.getConstant())
      kernelOptions.dims[name] = *constant;
  }
  std::string key = target->name.str();
  for (const auto &[name, value] : launch.dims)
    if (value.getConstant())
      key += "," + name + "=" + value.str();
  for (const auto &[name, value] : kernelOptions.knobs)
    key += "," + name + "=" + value;
  if (options.isSelected) {
    auto known = llvm::find(launchKeys, key);
    launch.kernel = known - launchKeys.begin();
    if (known == launchKeys.end()) {
      kernelOptions.isSelected = true;
      std::unique_ptr<Operator> kernel = analyze(*target, kernelOptions, diags);
      if (!kernel) {
        diags.error(expr.loc) << "kernel '" << expr.callee << "' cannot be compiled for this launch";
        return {};
      }
      bool isTaken = llvm::any_of(result->kernels, [&](const std::unique_ptr<Operator> &other) {
        return other->name == target->name || StringRef(other->name).starts_with((target->name + ".").str());
      });
      if (isTaken)
        kernel->name += "." + std::to_string(result->kernels.size());
      result->kernels.push_back(std::move(kernel));
      launchKeys.push_back(key);
    }
  }

  llvm::SmallVector<Node *> operands;
  for (const Value &arg : args)
    operands.push_back(arg.node);
  if (expr.count) {
    auto *index = llvm::dyn_cast<ast::IndexExpr>(expr.count);
    Value tensor = index ? evaluateTensor(index->base, "'count'") : Value();
    if (!index || (!tensor.isPoison() &&
                   (tensor.node->type != DataType::I32 || tensor.node->shape.size() != index->items.size()))) {
      diags.error(expr.count->loc) << "'count' is one element of an 'i32' tensor, such as 't[0]'";
      return {};
    }
    if (tensor.isPoison())
      return {};
    for (const ast::Subscript &item : index->items) {
      if (item.kind != ast::Subscript::Kind::Element) {
        diags.error(item.range.Start) << "'count' is one element; its index is an integer expression over dimensions";
        return {};
      }
      std::optional<DimExpr> at = evaluateDim(item.begin, "the index of 'count'");
      if (!at)
        return {};
      DimExpr value = simplify(at->substitute(dims));
      if (!checkCountIndex(*at, value, tensor, launch.countIndices.size(), item.range.Start))
        return {};
      launch.countIndices.push_back(value);
    }
    launch.hasCount = true;
    operands.push_back(tensor.node);
  }
  std::vector<Value> elements;
  llvm::SmallVector<Node *> parts;
  for (auto [i, variable] : llvm::enumerate(signature->results)) {
    Node *part = makeNode(Node::ExtractResult{unsigned(i)}, variable.type, expr.loc);
    for (const Extent &extent : variable.shape) {
      std::optional<Extent> size = makeExtent(simplify(extent.value.bind(bound)), expr.loc);
      if (!size)
        return {};
      part->shape.push_back(*size);
    }
    parts.push_back(part);
    elements.push_back(makeValue(part, &expr));
  }
  // Operands stand before their users: the launch before what it gives.
  launch.numResults = parts.size();
  Node *node = makeNode(std::move(launch), DataType::I32, expr.loc);
  node->isScalar = true;
  node->operands.assign(operands.begin(), operands.end());
  for (Node *part : parts)
    part->operands.push_back(node);
  auto first = result->nodes.end() - parts.size() - 1;
  std::rotate(first, result->nodes.end() - 1, result->nodes.end());
  if (elements.size() == 1)
    return elements.front();
  return makeTuple(std::move(elements), &expr);
}
