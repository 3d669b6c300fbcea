//===- SemaKernel.cpp - Statements and control flow -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels, and the statements that both forms share. Variables become values
// here: a loop takes what it changes as arguments of its block, and a statement
// behind it uses the results of the loop.
//
//===----------------------------------------------------------------------===//
#include "Analyzer.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace atrex;
using namespace atrex::frontend;
using llvm::StringRef;

/// Statements that unrolled loops may become.
static constexpr uint64_t maxUnrolled = 4096;
static constexpr int64_t defaultThreads = 256;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Node *Analyzer::makeKernelNode(KernelOp::Kind kind, DataType type, llvm::SMLoc loc, llvm::ArrayRef<Node *> operands) {
  auto op = std::make_unique<KernelOp>();
  op->kind = kind;
  Node *node = makeNode(Node::Kernel(std::move(op)), type, loc);
  node->isScalar = true;
  node->operands.assign(operands.begin(), operands.end());
  return node;
}

/// A block argument or result with the type of `model`.
Node *Analyzer::makeLike(KernelOp::Kind kind, const Node &model, unsigned index, llvm::SMLoc loc) {
  Node *node = makeKernelNode(kind, model.type, loc);
  node->isScalar = model.isScalar;
  node->shape = model.shape;
  node->name = model.name;
  std::get<Node::Kernel>(node->op)->index = index;
  return node;
}

bool Analyzer::makeTyped(Value &value) {
  if (value.isNode())
    return true;
  if (value.isFloat())
    return adapt(value, DataType::F32, "a floating-point constant", value.expr->loc);
  if (!value.isDim())
    return false;
  std::optional<int64_t> number = getKnownInteger(value);
  DataType type = number && (*number < INT32_MIN || *number > INT32_MAX) ? DataType::I64 : DataType::I32;
  Node *node = makeDimNode(value, type, value.expr->loc);
  if (node)
    value = makeValue(node, value.expr);
  return node;
}

std::optional<bool> Analyzer::getKnownTruth(const Node &node) const {
  auto *literal = std::get_if<Node::Literal>(&node.op);
  auto *number = literal && node.type == DataType::I1 ? std::get_if<int64_t>(&literal->value) : nullptr;
  return number ? std::optional(*number != 0) : std::nullopt;
}

/// Decides a truth value where its operands are known. They were decided before,
/// so one look is enough.
void Analyzer::foldTruth(Value &value) {
  auto *compute = value.isNode() && value.node->isScalar && value.node->type == DataType::I1
                      ? std::get_if<Node::Compute>(&value.node->op)
                      : nullptr;
  if (!compute)
    return;
  std::optional<bool> lhs = getKnownTruth(*value.node->operands[0]), result;
  if (compute->op == Elementwise::Not) {
    if (lhs)
      result = !*lhs;
  } else if (compute->op == Elementwise::And || compute->op == Elementwise::Or) {
    std::optional<bool> rhs = getKnownTruth(*value.node->operands[1]);
    bool decides = compute->op == Elementwise::Or;
    if (lhs == decides || rhs == decides)
      result = decides;
    else if (lhs && rhs)
      result = !decides;
  }
  if (result)
    value.node = makeLiteral(int64_t(*result), DataType::I1, value.node->loc);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void Analyzer::recordUse(StringRef name, const Symbol &symbol) {
  bool isUsed = symbol.isUsed || name.starts_with("_");
  // What an atomic operation found is a name for the reader; its effect is why it
  // stands there.
  if (symbol.value.isNode())
    if (auto *kernel = std::get_if<Node::Kernel>(&symbol.value.node->op))
      isUsed |= (*kernel)->kind == KernelOp::Kind::Atomic;
  // Unrolled and inlined statements give one name several values.
  auto [entry, isNew] = uses.try_emplace(symbol.loc.getPointer(), name, isUsed);
  entry->second.second |= isUsed;
}

void Analyzer::warnUnused() {
  if (decl.hasErrors || options.isQuiet)
    return;
  std::vector<std::pair<mlir::FileLineColLoc, StringRef>> unused;
  for (const auto &[pointer, use] : uses)
    if (!use.second && (!options.library || options.library->warned.insert(pointer).second))
      unused.emplace_back(llvm::cast<mlir::FileLineColLoc>(diags.getLocation(llvm::SMLoc::getFromPointer(pointer))),
                          use.first);
  // Where buffers lie says nothing about the order of files.
  llvm::sort(unused, [](const auto &a, const auto &b) {
    auto key = [](mlir::FileLineColLoc loc) {
      return std::tuple(loc.getFilename().getValue(), loc.getLine(), loc.getColumn());
    };
    return key(a.first) < key(b.first);
  });
  for (const auto &[loc, name] : unused)
    mlir::emitWarning(loc) << "'" << name << "' is never used";
}

void Analyzer::closeScope(size_t count) {
  for (StringRef name : llvm::ArrayRef(letNames).drop_front(count)) {
    auto symbol = symbols.find(name);
    if (symbol == symbols.end())
      continue;
    recordUse(name, symbol->second);
    symbols.erase(symbol);
  }
  letNames.resize(count);
}

void Analyzer::checkBlock(const ast::Block &body) {
  size_t count = letNames.size();
  for (const ast::Stmt *stmt : body.stmts) {
    if (diags.reachedLimit())
      break;
    if (result->nodes.size() > maxProgramNodes) {
      diags.error(stmt->loc) << "the program has more than " << maxProgramNodes
                             << " operations here; unroll less or use a loop that runs";
      break;
    }
    checkStmt(*stmt);
  }
  closeScope(count);
}

llvm::SmallVector<StringRef> Analyzer::findAssigned(llvm::ArrayRef<const ast::Block *> bodies) {
  llvm::SmallVector<StringRef> names;
  // Blocks nest at most as deep as the parser allows.
  auto visit = [&](auto &&self, const ast::Block &body) -> void {
    for (const ast::Stmt *stmt : body.stmts) {
      if (auto *assign = llvm::dyn_cast<ast::AssignStmt>(stmt)) {
        for (const ast::Binding &binding : assign->names) {
          auto symbol = symbols.find(binding.name);
          if (symbol != symbols.end() && symbol->second.kind == Symbol::Kind::Var && !symbol->second.value.isPoison() &&
              !llvm::is_contained(names, binding.name))
            names.push_back(binding.name);
        }
      } else if (auto *loop = llvm::dyn_cast<ast::ForStmt>(stmt)) {
        self(self, loop->body);
      } else if (auto *loop = llvm::dyn_cast<ast::WhileStmt>(stmt)) {
        self(self, loop->body);
      } else if (auto *branch = llvm::dyn_cast<ast::IfStmt>(stmt)) {
        self(self, branch->thenBlock);
        if (branch->elseBlock)
          self(self, *branch->elseBlock);
      }
    }
  };
  for (const ast::Block *body : bodies)
    visit(visit, *body);
  return names;
}

bool Analyzer::collectYields(llvm::ArrayRef<StringRef> names, NodeBlock &target) {
  for (StringRef name : names) {
    auto symbol = symbols.find(name);
    if (symbol == symbols.end() || !symbol->second.value.isNode())
      return false;
    target.yields.push_back(symbol->second.value.node);
  }
  return true;
}

void Analyzer::bindResults(llvm::ArrayRef<StringRef> names, Node *op, llvm::SMLoc loc) {
  for (auto [i, name] : llvm::enumerate(names)) {
    auto symbol = symbols.find(name);
    if (symbol == symbols.end() || !symbol->second.value.isNode())
      continue;
    Node *node = makeLike(KernelOp::Kind::Result, *symbol->second.value.node, i, loc);
    node->operands.push_back(op);
    symbol->second.value.node = node;
  }
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

bool Analyzer::checkCommonStmt(const ast::Stmt &stmt) {
  switch (stmt.kind) {
  case ast::Stmt::Kind::Let:
    if (!isKernel && helperStack.empty())
      return false;
    checkBind(llvm::cast<ast::BindStmt>(stmt));
    return true;
  case ast::Stmt::Kind::Var:
  case ast::Stmt::Kind::Const:
    checkBind(llvm::cast<ast::BindStmt>(stmt));
    return true;
  case ast::Stmt::Kind::Assign: {
    auto &assign = llvm::cast<ast::AssignStmt>(stmt);
    bool hasVar = llvm::any_of(assign.names, [&](const ast::Binding &binding) {
      auto symbol = symbols.find(binding.name);
      return symbol != symbols.end() && symbol->second.kind == Symbol::Kind::Var;
    });
    if (!isKernel && helperStack.empty() && !hasVar)
      return false;
    checkVarAssign(assign);
    return true;
  }
  case ast::Stmt::Kind::For:
    checkFor(llvm::cast<ast::ForStmt>(stmt));
    return true;
  case ast::Stmt::Kind::While:
    checkWhile(llvm::cast<ast::WhileStmt>(stmt));
    return true;
  case ast::Stmt::Kind::If:
    checkIf(llvm::cast<ast::IfStmt>(stmt));
    return true;
  case ast::Stmt::Kind::Expr:
    if (!isKernel && helperStack.empty())
      return false;
    checkExprStmt(llvm::cast<ast::ExprStmt>(stmt));
    return true;
  case ast::Stmt::Kind::Return:
    diags.error(stmt.loc) << (helperStack.empty() ? "'return' belongs to the end of a 'fn'"
                                                  : "'return' must be the last statement of the body of a 'fn'");
    return true;
  }
  return false;
}

void Analyzer::checkBind(const ast::BindStmt &stmt) {
  bool isVar = stmt.kind == ast::Stmt::Kind::Var, isConst = stmt.kind == ast::Stmt::Kind::Const;
  // A name on the left is not yet known on the right.
  Value value = evaluateSeveral(stmt.value);
  if (value.isTuple() && value.elements.empty()) {
    diags.error(stmt.value->loc) << "'" << printable(stmt.value->getText()) << "' gives no value";
    value = {};
  }
  if (stmt.isTuple || stmt.names.size() != 1) {
    bool fits = value.isTuple() && value.elements.size() == stmt.names.size();
    if (!value.isPoison() && !fits) {
      diags.error(stmt.loc) << stmt.names.size() << " names for "
                            << (value.isTuple() ? std::to_string(value.elements.size()) + " values" : "one value")
                            << " of " << (value.isTuple() ? "types " : "type '") << typeOf(value)
                            << (value.isTuple() ? "" : "'");
    }
    for (auto [i, binding] : llvm::enumerate(stmt.names)) {
      Value element = fits ? value.elements[i] : Value();
      if (fits && element.expr == nullptr)
        element.expr = stmt.value;
      if (stmt.type && !element.isPoison() &&
          !checkAnnotation(element, *stmt.type, "'" + binding.name + "'", binding.loc, /*bindsNames=*/false))
        element = {};
      if (binding.name == "_")
        continue;
      checkLet(binding, element);
      auto symbol = symbols.find(binding.name);
      if (isVar && symbol != symbols.end() && symbol->second.loc == binding.loc)
        symbol->second.kind = Symbol::Kind::Var;
    }
    return;
  }

  const ast::Binding &binding = stmt.names.front();
  if (value.isTuple()) {
    diags.error(stmt.loc) << "one name for " << value.elements.size() << " values; write '"
                          << (isVar ? "var (" : "let (") << binding.name << ", ...) = ...'";
    value = {};
  }
  if (isConst && !value.isPoison() && !value.isFloat() && !getKnownInteger(value) &&
      !(value.isDim() && !options.isSelected) && !(value.isNode() && getKnownTruth(*value.node))) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.value->loc);
    diagnostic << "the value of a 'const' must be known when the program is compiled, got " << describe(value);
    if (value.isDim())
      diagnostic << " '" << value.dim.str() << "' without a value";
    else
      diagnostic << "; a value of the run is named with 'let'";
    value = {};
  }
  if (stmt.type && !value.isPoison() &&
      !checkAnnotation(value, *stmt.type, "'" + binding.name + "'", binding.loc, /*bindsNames=*/false))
    value = {};
  if (isVar && value.isMemory()) {
    diags.error(stmt.value->loc) << "a variable holds a value, not " << describe(value) << "; name it with 'let'";
    value = {};
  }
  if (isVar && !value.isPoison() && !makeTyped(value))
    value = {};
  if (binding.name == "_")
    return;
  if (value.isNode() && value.node->name.empty() && !std::holds_alternative<Node::Literal>(value.node->op))
    value.node->name = binding.name;
  checkLet(binding, value);
  auto symbol = symbols.find(binding.name);
  if (symbol == symbols.end() || symbol->second.loc != binding.loc)
    return;
  if (isVar)
    symbol->second.kind = Symbol::Kind::Var;
  if (isConst)
    symbol->second.kind = Symbol::Kind::Const;
}

void Analyzer::assignVar(const ast::Binding &binding, Value value, const ast::Expr *source) {
  if (binding.name == "_")
    return;
  auto entry = symbols.find(binding.name);
  if (entry == symbols.end()) {
    mlir::InFlightDiagnostic diagnostic = diags.error(binding.loc);
    std::string hint = didYouMean(binding.name, letNames);
    diagnostic << "there is no variable '" << printable(binding.name) << "'" << hint;
    if (hint.empty())
      diagnostic << "; a new one is introduced with 'var'";
    return;
  }
  Symbol &symbol = entry->second;
  if (symbol.kind != Symbol::Kind::Var) {
    // Something about it was reported already.
    if (symbol.value.isPoison())
      return;
    symbol.isUsed = true;
    mlir::InFlightDiagnostic diagnostic = diags.error(binding.loc);
    switch (symbol.kind) {
    case Symbol::Kind::Param:
      if (resultIndex.count(binding.name))
        diagnostic << "elements of result '" << binding.name << "' are written with 'store(" << binding.name
                   << "[...], value)'";
      else
        diagnostic << "parameter '" << binding.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Dim:
      diagnostic << "dimension '" << binding.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Knob:
      diagnostic << "knob '" << binding.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Const:
      diagnostic << "constant '" << binding.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Counter:
      diagnostic << "loop counter '" << binding.name << "' cannot be assigned";
      break;
    case Symbol::Kind::Result:
      diagnostic << "elements of result '" << binding.name << "' are written with 'store(" << binding.name
                 << "[...], value)'";
      break;
    default:
      diagnostic << "'" << binding.name << "' was introduced with 'let' and does not change; introduce it with 'var'";
    }
    diags.note(diagnostic, symbol.loc) << "'" << binding.name << "' is introduced here";
    return;
  }
  if (symbol.value.isPoison() || value.isPoison()) {
    symbol.value = {};
    return;
  }
  const Node &old = *symbol.value.node;
  Value typed = value;
  if (value.isTuple() || value.isMemory()) {
    diags.error(source->loc) << "variable '" << binding.name << "' has type '" << typeOf(symbol.value)
                             << "', the value is " << describe(value);
    symbol.value = {};
    return;
  }
  if (!typed.isNode() && !adapt(typed, old.type, ("variable '" + binding.name + "'").str(), source->loc)) {
    symbol.value = {};
    return;
  }
  Value variable = symbol.value;
  symbol.value = {};
  if (typed.node->type != old.type) {
    mlir::InFlightDiagnostic diagnostic = diags.error(binding.loc);
    diagnostic << "variable '" << binding.name << "' has element type '" << getName(old.type) << "', the value has '"
               << getName(typed.node->type) << "'; convert it with '" << suggestCast(getName(old.type), value) << "'";
    diags.note(diagnostic, symbol.loc) << "'" << binding.name << "' is introduced here as '" << typeOf(variable) << "'";
    noteType(diagnostic, value, "the value");
    return;
  }
  // A single value fills the tile.
  if (typed.node->isScalar && !old.isScalar && isKernel) {
    typed = makeBroadcast(typed, old.shape, source);
  }
  if (typed.node->isScalar != old.isScalar || typed.node->shape != old.shape) {
    mlir::InFlightDiagnostic diagnostic = diags.error(binding.loc);
    diagnostic << "variable '" << binding.name << "' has type '" << typeOf(variable) << "', the value has '"
               << typeOf(typed) << "'";
    diags.note(diagnostic, symbol.loc) << "'" << binding.name << "' is introduced here";
    noteType(diagnostic, typed, "the value");
    return;
  }
  if (typed.node->name.empty() && !std::holds_alternative<Node::Literal>(typed.node->op))
    typed.node->name = binding.name;
  symbol.value = typed;
}

void Analyzer::checkVarAssign(const ast::AssignStmt &stmt) {
  if (stmt.compound) {
    const ast::Binding &binding = stmt.names.front();
    auto symbol = symbols.find(binding.name);
    if (symbol == symbols.end() || symbol->second.kind != Symbol::Kind::Var) {
      evaluate(stmt.value);
      assignVar(binding, {}, stmt.value);
      return;
    }
    llvm::SMRange range(binding.loc, llvm::SMLoc::getFromPointer(binding.loc.getPointer() + binding.name.size()));
    auto *name = synthetic.create<ast::NameExpr>(range, binding.name);
    auto *sum = synthetic.create<ast::BinaryExpr>(stmt.operatorLoc, *stmt.compound, name, stmt.value);
    assignVar(binding, evaluate(sum), sum);
    return;
  }
  Value value = evaluateSeveral(stmt.value);
  if (stmt.names.size() == 1 && !stmt.isTuple) {
    if (value.isTuple()) {
      diags.error(stmt.loc) << "one name for " << value.elements.size() << " values of types " << typeOf(value);
      value = {};
    }
    assignVar(stmt.names.front(), value, stmt.value);
    return;
  }
  bool fits = value.isTuple() && value.elements.size() == stmt.names.size();
  if (!value.isPoison() && !fits)
    diags.error(stmt.loc) << stmt.names.size() << " names for "
                          << (value.isTuple() ? std::to_string(value.elements.size()) + " values" : "one value");
  for (auto [i, binding] : llvm::enumerate(stmt.names))
    assignVar(binding, fits ? value.elements[i] : Value(), stmt.value);
}

void Analyzer::checkExprStmt(const ast::ExprStmt &stmt) {
  Value value = evaluateAny(stmt.value);
  if (value.isPoison() || (value.isTuple() && value.elements.empty()))
    return;
  // What memory held before an atomic operation is often not needed.
  if (value.isNode())
    if (auto *kernel = std::get_if<Node::Kernel>(&value.node->op); kernel && (*kernel)->kind == KernelOp::Kind::Atomic)
      return;
  auto *call = llvm::dyn_cast<ast::CallExpr>(stmt.value);
  diags.warning(stmt.loc) << "the value of '" << (call ? call->callee : printable(stmt.value->getText()))
                          << "' is not used; name it with 'let', or drop it with 'let _ = ...'";
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

bool Analyzer::requireControlFlow(const ast::Stmt &stmt, StringRef what) {
  if (isKernel)
    return true;
  diags.error(stmt.loc) << what << " depends on values of the run, which only a kernel's control flow may";
  // What stands inside is not looked at, so any result may be assigned there.
  resultIsPoison.assign(resultIsPoison.size(), true);
  return false;
}

void Analyzer::checkFor(const ast::ForStmt &stmt) {
  auto one = [&](int64_t number) {
    Value value;
    value.kind = Value::Kind::Dim;
    value.dim = DimExpr::constant(number);
    value.dimSize = 1;
    value.expr = stmt.end;
    return value;
  };
  Value bounds[] = {stmt.begin ? evaluate(stmt.begin) : one(0), evaluate(stmt.end),
                    stmt.step ? evaluate(stmt.step) : one(1)};
  static constexpr StringRef names[] = {"the first value of a loop", "the end of a loop", "the step of a loop"};
  bool isPoison = false;
  const Value *typed = nullptr;
  for (auto [value, name] : llvm::zip_equal(bounds, names)) {
    if (value.isPoison()) {
      isPoison = true;
      continue;
    }
    bool isInteger32or64 = value.isDim() || (value.isNode() && value.node->isScalar &&
                                             (value.node->type == DataType::I32 || value.node->type == DataType::I64));
    if (!isInteger32or64) {
      diags.error(value.expr->loc) << name << " must be a scalar of type 'i32' or 'i64', got " << describe(value);
      isPoison = true;
      continue;
    }
    if (!value.isNode())
      continue;
    if (typed && typed->node->type != value.node->type && !stmt.isUnrolled) {
      mlir::InFlightDiagnostic diagnostic = diags.error(value.expr->loc);
      diagnostic << name << " has type '" << typeOf(value) << "', another bound has '" << typeOf(*typed)
                 << "'; convert one, for example with '"
                 << suggestCast("i64", value.node->type == DataType::I32 ? value : *typed) << "'";
      noteType(diagnostic, *typed, "the other bound");
      isPoison = true;
      continue;
    }
    typed = &value;
  }
  if (!isPoison) {
    std::optional<int64_t> step = getKnownInteger(bounds[2]);
    if (step && *step <= 0) {
      diags.error(bounds[2].expr->loc) << "the step of a loop must be positive, got " << *step;
      isPoison = true;
    }
  }
  if (stmt.isUnrolled && !isPoison) {
    checkUnrolledFor(stmt, bounds[0], bounds[1], bounds[2]);
    return;
  }
  if (!isPoison && !requireControlFlow(stmt, "this loop"))
    return;

  DataType type = typed ? typed->node->type : DataType::I32;
  if (!typed)
    for (const Value &value : bounds)
      if (std::optional<int64_t> number = isPoison ? std::nullopt : getKnownInteger(value);
          number && (*number < INT32_MIN || *number > INT32_MAX))
        type = DataType::I64;
  isPoison = isPoison || !checkCounter(stmt, bounds, type);
  if (!isPoison)
    for (Value &value : bounds)
      if (!value.isNode() && !adapt(value, type, "a bound of a loop", value.expr->loc))
        isPoison = true;

  llvm::SmallVector<StringRef> carried;
  Node *loop = nullptr;
  NodeBlock *outer = block, unused;
  KernelOp *op = nullptr;
  Value counter;
  if (isPoison) {
    // The body is still looked at; what it changes is unknown.
    for (StringRef name : findAssigned(&stmt.body))
      symbols.find(name)->second.value = {};
    block = isKernel ? &unused : nullptr;
  } else {
    carried = findAssigned(&stmt.body);
    loop = makeKernelNode(KernelOp::Kind::For, type, stmt.loc);
    op = &*std::get<Node::Kernel>(loop->op);
    op->blocks.resize(1);
    for (const Value &value : bounds)
      loop->operands.push_back(value.node);
    for (StringRef name : carried)
      loop->operands.push_back(symbols.find(name)->second.value.node);
    block = &op->blocks.front();
    Node model;
    model.type = type;
    model.isScalar = true;
    Node *argument = makeLike(KernelOp::Kind::Argument, model, 0, stmt.variable.loc);
    argument->name = stmt.variable.name;
    block->args.push_back(argument);
    ast::NameExpr *source = synthetic.create<ast::NameExpr>(
        llvm::SMRange(stmt.variable.loc,
                      llvm::SMLoc::getFromPointer(stmt.variable.loc.getPointer() + stmt.variable.name.size())),
        stmt.variable.name);
    counter = makeValue(argument, source);
    for (auto [i, name] : llvm::enumerate(carried)) {
      Value &value = symbols.find(name)->second.value;
      value.node = makeLike(KernelOp::Kind::Argument, *value.node, i + 1, stmt.loc);
      block->args.push_back(value.node);
    }
  }
  size_t count = letNames.size();
  if (stmt.variable.name != "_") {
    checkLet(stmt.variable, counter);
    auto symbol = symbols.find(stmt.variable.name);
    if (symbol != symbols.end() && symbol->second.loc == stmt.variable.loc) {
      symbol->second.kind = Symbol::Kind::Counter;
      // Loops that only repeat are common.
      symbol->second.isUsed = true;
    }
  }
  checkBlock(stmt.body);
  closeScope(count);
  if (loop)
    collectYields(carried, op->blocks.front());
  block = outer;
  if (loop)
    bindResults(carried, loop, stmt.loc);
}

bool Analyzer::checkCounter(const ast::ForStmt &stmt, llvm::ArrayRef<Value> bounds, DataType type) {
  if (!llvm::all_of(bounds, [](const Value &value) { return value.isDim(); }))
    return true;
  // The number that ends the loop: begin + cdiv(end - begin, step) * step.
  using Kind = DimExpr::Kind;
  DimExpr begin = bounds[0].dim, end = bounds[1].dim, step = bounds[2].dim;
  DimExpr rounds = DimExpr::binary(Kind::CeilDiv, DimExpr::binary(Kind::Sub, end, begin), step);
  DimExpr written = DimExpr::binary(Kind::Add, begin, DimExpr::binary(Kind::Mul, rounds, step));
  DimExpr last = simplify(written.substitute(dims));
  int64_t largest = type == DataType::I32 ? INT32_MAX : INT64_MAX;
  if (std::optional<int64_t> number = last.getConstant()) {
    if (*number <= largest)
      return true;
    std::string values = describeDims(written);
    diags.error(stmt.loc) << "the counter of this loop comes to " << *number
                          << (values.empty() ? std::string() : " for " + values) << ", beyond the largest number of '"
                          << getName(type) << "', " << largest << "; make a bound 'i64', for example 'i64("
                          << printable(end.str()) << ")'";
    return false;
  }
  if (llvm::Expected<int64_t> number = last.evaluate({}); !number) {
    // Without a value for lack of dimensions, or because it overflows 64 bits.
    llvm::consumeError(number.takeError());
    std::set<std::string> names;
    last.collectDims(names);
    if (names.empty()) {
      diags.error(stmt.loc) << "the counter of this loop passes the largest number of 'i64'";
      return false;
    }
  }
  // Steps of one stop at the end, which is a number of the type.
  if (type == DataType::I32 && step.substitute(dims).getConstant() != 1)
    require(last, "<=", DimExpr::constant(largest));
  return true;
}

void Analyzer::checkUnrolledFor(const ast::ForStmt &stmt, const Value &begin, const Value &end, const Value &step) {
  std::optional<int64_t> numbers[3];
  const Value *bounds[] = {&begin, &end, &step};
  for (auto [i, pointer] : llvm::enumerate(bounds)) {
    const Value &value = *pointer;
    numbers[i] = getKnownInteger(value);
    if (numbers[i])
      continue;
    // Dimensions of a program that is not compiled have no value.
    if (value.isDim() && !options.isSelected)
      continue;
    diags.error(value.expr->loc) << "'for const' is unrolled, so its bounds must be known when the program is "
                                    "compiled; got "
                                 << describe(value);
    return;
  }
  auto run = [&](DimExpr number) {
    size_t count = letNames.size();
    Value value;
    value.kind = Value::Kind::Dim;
    value.dim = std::move(number);
    value.dimSize = 1;
    value.expr = stmt.end;
    if (stmt.variable.name != "_") {
      checkLet(stmt.variable, value);
      auto symbol = symbols.find(stmt.variable.name);
      if (symbol != symbols.end() && symbol->second.loc == stmt.variable.loc) {
        symbol->second.kind = Symbol::Kind::Counter;
        symbol->second.isUsed = true;
      }
    }
    unsigned errors = diags.getNumErrors();
    checkBlock(stmt.body);
    closeScope(count);
    return diags.getNumErrors() == errors;
  };
  if (!numbers[0] || !numbers[1] || !numbers[2]) {
    run(DimExpr::dim(stmt.variable.name));
    return;
  }
  for (int64_t i = *numbers[0]; i < *numbers[1];) {
    unrolled += stmt.body.stmts.size() + 1;
    if (unrolled > maxUnrolled) {
      diags.error(stmt.loc) << "unrolled loops become more than " << maxUnrolled
                            << " statements; use 'for' without 'const'";
      return;
    }
    // The same error in every round is one error.
    if (!run(DimExpr::constant(i)) || llvm::AddOverflow(i, *numbers[2], i))
      return;
  }
}

void Analyzer::checkWhile(const ast::WhileStmt &stmt) {
  if (!requireControlFlow(stmt, "this loop")) {
    return;
  }
  llvm::SmallVector<StringRef> carried = findAssigned(&stmt.body);
  Node *loop = makeKernelNode(KernelOp::Kind::While, DataType::I1, stmt.loc);
  KernelOp &op = *std::get<Node::Kernel>(loop->op);
  op.blocks.resize(2);
  for (StringRef name : carried)
    loop->operands.push_back(symbols.find(name)->second.value.node);
  NodeBlock *outer = block;
  auto enter = [&](NodeBlock &target) {
    block = &target;
    for (auto [i, name] : llvm::enumerate(carried)) {
      Value &value = symbols.find(name)->second.value;
      if (!value.isNode())
        continue;
      value.node = makeLike(KernelOp::Kind::Argument, *value.node, i, stmt.loc);
      block->args.push_back(value.node);
    }
  };
  enter(op.blocks[0]);
  Value condition = evaluate(stmt.condition);
  if (!condition.isPoison() &&
      !(condition.isNode() && condition.node->isScalar && condition.node->type == DataType::I1)) {
    diags.error(stmt.condition->loc) << "the condition of 'while' must be a scalar of type 'i1', got "
                                     << describe(condition);
    condition = {};
  }
  if (condition.isNode())
    op.blocks[0].yields.push_back(condition.node);
  collectYields(carried, op.blocks[0]);
  enter(op.blocks[1]);
  checkBlock(stmt.body);
  collectYields(carried, op.blocks[1]);
  block = outer;
  bindResults(carried, loop, stmt.loc);
}

void Analyzer::checkIf(const ast::IfStmt &stmt) {
  Value condition = evaluate(stmt.condition);
  if (!condition.isPoison() &&
      !(condition.isNode() && condition.node->isScalar && condition.node->type == DataType::I1)) {
    mlir::InFlightDiagnostic diagnostic = diags.error(stmt.condition->loc);
    diagnostic << "the condition of 'if' must be a scalar of type 'i1', got " << describe(condition);
    if (condition.isNode() && condition.node->type == DataType::I1)
      diagnostic << "; select elements with 'where', or reduce it with 'any' or 'all'";
    condition = {};
  }
  // What is decided before the program runs leaves one branch. The other one
  // may make no sense for these constants and is not looked at.
  if (condition.isNode()) {
    if (std::optional<bool> truth = getKnownTruth(*condition.node)) {
      if (*truth)
        checkBlock(stmt.thenBlock);
      else if (stmt.elseBlock)
        checkBlock(*stmt.elseBlock);
      return;
    }
    if (!requireControlFlow(stmt, "this condition"))
      return;
  }
  llvm::SmallVector<const ast::Block *> bodies{&stmt.thenBlock};
  if (stmt.elseBlock)
    bodies.push_back(&*stmt.elseBlock);
  llvm::SmallVector<StringRef> assigned = findAssigned(bodies);
  llvm::SmallVector<Value> before;
  for (StringRef name : assigned)
    before.push_back(symbols.find(name)->second.value);

  NodeBlock *outer = block;
  NodeBlock unused[2];
  NodeBlock *branches = unused;
  Node *branch = nullptr;
  if (condition.isNode()) {
    branch = makeKernelNode(KernelOp::Kind::If, DataType::I1, stmt.loc, condition.node);
    auto &op = std::get<Node::Kernel>(branch->op);
    op->blocks.resize(2);
    branches = op->blocks.data();
  }
  bool isPoison[2] = {};
  llvm::SmallVector<bool> lost(assigned.size(), false);
  for (unsigned i = 0; i < 2; ++i) {
    block = outer ? &branches[i] : nullptr;
    for (auto [name, value] : llvm::zip_equal(assigned, before))
      symbols.find(name)->second.value = value;
    if (i < bodies.size())
      checkBlock(*bodies[i]);
    isPoison[i] = !collectYields(assigned, branches[i]);
    for (auto [j, name] : llvm::enumerate(assigned))
      lost[j] = lost[j] || !symbols.find(name)->second.value.isNode();
  }
  block = outer;
  for (auto [j, name] : llvm::enumerate(assigned))
    symbols.find(name)->second.value = lost[j] || !branch ? Value() : before[j];
  if (branch && !isPoison[0] && !isPoison[1])
    bindResults(assigned, branch, stmt.loc);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void Analyzer::checkKernelClauses() {
  result->threads = defaultThreads;
  if (decl.threads) {
    std::optional<int64_t> threads = evaluateNumber(decl.threads, "the number of work-items");
    if (threads && (*threads < 64 || *threads > 1024 || *threads % 64 != 0))
      diags.error(decl.threads->loc) << "a workgroup has 64, 128, ... or 1024 work-items, got " << *threads;
    if (threads)
      result->threads = *threads;
  }
  if (decl.grid.empty()) {
    if (!decl.hasErrors)
      diags.error(decl.loc) << "kernel '" << decl.name << "' has no 'grid'; write for example 'grid ("
                            << (dimNames.empty() ? StringRef("1") : dimNames.front()) << ")'";
    return;
  }
  if (decl.grid.size() > 3) {
    diags.error(decl.grid[3]->loc) << "a grid has at most three axes, got " << decl.grid.size();
    return;
  }
  for (const ast::Expr *expr : decl.grid) {
    std::optional<DimExpr> extent = evaluateDim(expr, "an extent of the grid");
    if (!extent)
      continue;
    DimExpr value = simplify(extent->substitute(dims));
    if (std::optional<int64_t> number = value.getConstant(); number && (*number < 1 || *number > INT32_MAX)) {
      std::string values = describeDims(*extent);
      diags.error(expr->loc) << "an extent of the grid is " << *number << (values.empty() ? "" : " for ") << values
                             << "; it must be between 1 and 2147483647";
      continue;
    }
    result->grid.push_back(value);
  }
}

std::unique_ptr<Operator> Analyzer::runKernel() {
  unsigned errorsBefore = diags.getNumErrors();
  result = std::make_unique<Operator>();
  result->name = decl.name.str();
  result->loc = decl.loc;
  result->isKernel = true;
  block = &result->body;
  declareKnobs();
  declareDims();
  for (const ast::ValueDecl &param : decl.params)
    declare(param, /*isResult=*/false);
  for (const ast::ValueDecl &value : decl.results)
    declare(value, /*isResult=*/true);
  bool signatureIsFine = diags.getNumErrors() == errorsBefore;
  if (signatureIsFine) {
    checkRuntimeDims();
    for (const ast::Expr *constraint : decl.constraints)
      checkConstraint(constraint);
  }
  // A constraint that does not hold makes other numbers wrong as well.
  if (!signatureIsFine || diags.getNumErrors() == errorsBefore)
    checkKernelClauses();
  checkBlock(decl.body);
  if (diags.reachedLimit())
    return nullptr;
  warnUnused();
  if (!decl.hasErrors && diags.getNumErrors() == errorsBefore)
    for (auto [i, variable] : llvm::enumerate(result->results))
      if (!writtenResults.count(i))
        diags.error(variable.loc) << "no statement writes to result '" << variable.name << "'; write to it with 'store("
                                  << variable.name << "[...], value)'";
  if (diags.getNumErrors() != errorsBefore || decl.hasErrors)
    return nullptr;
  return std::move(result);
}
