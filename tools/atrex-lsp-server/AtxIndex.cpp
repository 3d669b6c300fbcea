//===- AtxIndex.cpp - Names of a kernel language source -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtxIndex.h"
#include "atrex/Frontend/Builtins.h"
#include "atrex/Frontend/Parser.h"
#include "atrex/Support/FileInput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace atrex;
using namespace atrex::lsp;
using namespace atrex::frontend;
using llvm::StringRef;

struct Index::Source {
  std::string path;
  llvm::SourceMgr sourceMgr;
  std::unique_ptr<ast::File> file;
  StringRef text;
};

/// Files beyond this are not looked into.
static constexpr unsigned maxSources = 64;
static constexpr uint64_t maxImportedSize = uint64_t(4) << 20;

/// Text on one line, shortened.
static std::string flatten(StringRef text) {
  std::string result;
  for (char c : text.take_front(400)) {
    bool isSpace = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!isSpace)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  if (text.size() > 400)
    result += "...";
  return StringRef(result).rtrim().str();
}

static StringRef between(llvm::SMLoc begin, llvm::SMLoc end) {
  return begin.isValid() && end.isValid() && begin.getPointer() < end.getPointer()
             ? StringRef(begin.getPointer(), end.getPointer() - begin.getPointer())
             : StringRef();
}

namespace atrex::lsp {
class IndexBuilder {
public:
  explicit IndexBuilder(Index &index) : index(index) {}

  void run() {
    // Definitions of files first: the order in a file does not matter.
    for (const auto &source : index.sources)
      defineFile(*source->file);
    const ast::File &main = *index.sources.front()->file;
    for (const ast::ConstDecl *decl : main.consts)
      visit(decl->value);
    for (const ast::FnDecl *fn : main.fns)
      visitFn(*fn);
    for (const ast::OpDecl *op : main.ops)
      visitOp(*op);
    StringRef text = index.sources.front()->text;
    llvm::erase_if(index.references, [&](const Reference &reference) {
      return reference.begin < text.begin() || reference.begin >= text.end();
    });
    llvm::sort(index.references, [](const Reference &a, const Reference &b) {
      return std::tie(a.begin, a.end, a.definition) < std::tie(b.begin, b.end, b.definition);
    });
  }

private:
  using Kind = Definition::Kind;
  using Scope = llvm::StringMap<unsigned>;

  unsigned define(Scope &scope, Kind kind, StringRef name, llvm::SMLoc loc, StringRef declaration,
                  const ast::Expr *value = nullptr) {
    unsigned number = index.definitions.size();
    index.definitions.push_back({kind, name.str(), loc.getPointer(), flatten(declaration), value, {}});
    scope[name] = number;
    refer(name, loc, number);
    return number;
  }
  void refer(StringRef name, llvm::SMLoc loc, unsigned definition) {
    index.references.push_back({loc.getPointer(), loc.getPointer() + name.size(), definition});
  }
  void use(StringRef name, llvm::SMLoc loc, bool isCall = false) {
    for (const Scope &scope : llvm::reverse(scopes)) {
      auto found = scope.find(name);
      if (found != scope.end())
        return refer(name, loc, found->second);
    }
    auto found = globals.find(name);
    if (found != globals.end())
      return refer(name, loc, found->second);
    const Builtin *builtin = lookupBuiltin(name);
    if (!builtin || !isCall)
      return;
    auto [entry, isNew] = builtins.try_emplace(name, index.definitions.size());
    if (isNew)
      index.definitions.push_back(
          {Kind::Builtin, name.str(), nullptr, builtin->getSignature(), nullptr, builtin->doc.str()});
    refer(name, loc, entry->second);
  }
  bool isKnown(StringRef name) const {
    return globals.contains(name) || llvm::any_of(scopes, [&](const Scope &s) { return s.contains(name); });
  }

  void defineFile(const ast::File &file) {
    auto add = [&](Kind kind, StringRef name, llvm::SMLoc loc, const llvm::Twine &declaration,
                   const ast::Expr *value = nullptr) {
      if (!globals.contains(name))
        define(globals, kind, name, loc, declaration.str(), value);
    };
    for (const ast::ConstDecl *decl : file.consts)
      add(Kind::Constant, decl->name, decl->loc, "const " + decl->name + " = " + decl->value->getText(), decl->value);
    for (const ast::FnDecl *fn : file.fns)
      add(Kind::Function, fn->name, fn->loc, "fn " + between(fn->loc, fn->body.range.Start));
    for (const ast::OpDecl *op : file.ops)
      add(op->isKernel ? Kind::Kernel : Kind::Operator, op->name, op->loc,
          (op->isKernel ? "kernel " : "op ") + between(op->loc, op->body.range.Start));
  }

  void visitOp(const ast::OpDecl &op) {
    scopes.emplace_back();
    for (const ast::KnobDecl &knob : op.knobs) {
      define(scopes.back(), Kind::Knob, knob.name, knob.loc, between(knob.range.Start, knob.range.End));
      visit(knob.values);
      visit({knob.begin, knob.end, knob.step, knob.defaultValue});
    }
    for (const ast::ValueDecl &param : op.params)
      defineValue(Kind::Parameter, param);
    // A result may have the name of a parameter; reading means the parameter,
    // assigning the result.
    Scope params = scopes.back();
    for (const ast::ValueDecl &result : op.results)
      defineValue(Kind::Result, result);
    results = scopes.back();
    for (const auto &entry : params)
      scopes.back()[entry.getKey()] = entry.getValue();
    for (llvm::ArrayRef<ast::ValueDecl> list : {op.params, op.results})
      for (const ast::ValueDecl &decl : list)
        for (const ast::Expr *extent : decl.type.extents)
          defineDims(extent, op.name);
    for (llvm::ArrayRef<ast::ValueDecl> list : {op.params, op.results})
      for (const ast::ValueDecl &decl : list) {
        visit(decl.type);
        visit(decl.defaultValue);
      }
    visit(op.constraints);
    visit(op.threads);
    visit(op.grid);
    visit(op.body);
    scopes.clear();
    results.clear();
  }
  void visitFn(const ast::FnDecl &fn) {
    scopes.emplace_back();
    for (const ast::ValueDecl &param : fn.params)
      defineValue(Kind::Parameter, param);
    for (const ast::ValueDecl &param : fn.params) {
      for (const ast::Expr *extent : param.type.extents)
        defineDims(extent, fn.name);
      visit(param.type);
      visit(param.defaultValue);
    }
    if (fn.resultType)
      visit(*fn.resultType);
    visit(fn.body);
    scopes.clear();
  }
  void defineValue(Kind kind, const ast::ValueDecl &decl) {
    llvm::SMLoc end = decl.defaultValue               ? decl.defaultValue->range.End
                      : decl.type.range.End.isValid() ? decl.type.range.End
                                                      : llvm::SMLoc();
    StringRef text = end.isValid() ? between(decl.loc, end) : decl.name;
    define(scopes.back(), kind, decl.name, decl.loc, text);
  }
  /// Names in extents are dimensions unless they are something else.
  void defineDims(const ast::Expr *expr, StringRef owner) {
    if (!expr)
      return;
    if (auto *name = llvm::dyn_cast<ast::NameExpr>(expr)) {
      if (!isKnown(name->name))
        define(scopes.back(), Kind::Dimension, name->name, name->loc,
               ("dimension " + name->name + " of " + owner).str());
    } else if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(expr)) {
      defineDims(unary->operand, owner);
    } else if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr)) {
      defineDims(binary->lhs, owner);
      defineDims(binary->rhs, owner);
    } else if (auto *call = llvm::dyn_cast<ast::CallExpr>(expr)) {
      for (const ast::Argument &arg : call->args)
        defineDims(arg.value, owner);
    }
  }

  void visit(const ast::TypeSpec &type) {
    visit(type.extents);
    visit(type.strides);
    visit(type.alignment);
  }
  void visit(const ast::Block &block) {
    scopes.emplace_back();
    visitStatements(block);
    scopes.pop_back();
  }
  void visitStatements(const ast::Block &block) {
    for (const ast::Stmt *stmt : block.stmts)
      visit(*stmt);
  }
  void visit(const ast::Stmt &stmt) {
    if (auto *bind = llvm::dyn_cast<ast::BindStmt>(&stmt)) {
      if (bind->type)
        visit(*bind->type);
      visit(bind->value);
      Kind kind = bind->kind == ast::Stmt::Kind::Var     ? Kind::Variable
                  : bind->kind == ast::Stmt::Kind::Const ? Kind::Constant
                                                         : Kind::Value;
      for (const ast::Binding &name : bind->names)
        if (name.name != "_")
          define(scopes.back(), kind, name.name, name.loc, between(bind->range.Start, bind->range.End),
                 bind->isTuple ? nullptr : bind->value);
    } else if (auto *assign = llvm::dyn_cast<ast::AssignStmt>(&stmt)) {
      for (const ast::Binding &name : assign->names) {
        auto result = results.find(name.name);
        if (result != results.end() && index.definitions[result->second].kind == Kind::Result)
          refer(name.name, name.loc, result->second);
        else
          use(name.name, name.loc);
      }
      visit(assign->value);
    } else if (auto *loop = llvm::dyn_cast<ast::ForStmt>(&stmt)) {
      visit({loop->begin, loop->end, loop->step});
      scopes.emplace_back();
      if (loop->variable.name != "_")
        define(scopes.back(), Kind::LoopVariable, loop->variable.name, loop->variable.loc,
               between(loop->range.Start, loop->body.range.Start));
      visitStatements(loop->body);
      scopes.pop_back();
    } else if (auto *loop = llvm::dyn_cast<ast::WhileStmt>(&stmt)) {
      visit(loop->condition);
      visit(loop->body);
    } else if (auto *branch = llvm::dyn_cast<ast::IfStmt>(&stmt)) {
      visit(branch->condition);
      visit(branch->thenBlock);
      if (branch->elseBlock)
        visit(*branch->elseBlock);
    } else if (auto *value = llvm::dyn_cast<ast::ExprStmt>(&stmt)) {
      visit(value->value);
    } else if (auto *ret = llvm::dyn_cast<ast::ReturnStmt>(&stmt)) {
      visit(ret->values);
    }
  }
  void visit(llvm::ArrayRef<const ast::Expr *> exprs) {
    for (const ast::Expr *expr : exprs)
      visit(expr);
  }
  void visit(std::initializer_list<const ast::Expr *> exprs) {
    for (const ast::Expr *expr : exprs)
      visit(expr);
  }
  void visit(llvm::ArrayRef<ast::Argument> args) {
    for (const ast::Argument &arg : args)
      visit(arg.value);
  }
  /// The recursion is bounded by the parser's limit on depth.
  void visit(const ast::Expr *expr) {
    if (!expr)
      return;
    if (auto *name = llvm::dyn_cast<ast::NameExpr>(expr)) {
      use(name->name, name->loc);
    } else if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(expr)) {
      visit(unary->operand);
    } else if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr)) {
      visit(binary->lhs);
      visit(binary->rhs);
    } else if (auto *call = llvm::dyn_cast<ast::CallExpr>(expr)) {
      use(call->callee, call->loc, /*isCall=*/true);
      visit(call->args);
    } else if (auto *launch = llvm::dyn_cast<ast::LaunchExpr>(expr)) {
      use(launch->callee, launch->loc);
      visit(launch->args);
      visit(launch->count);
    } else if (auto *item = llvm::dyn_cast<ast::IndexExpr>(expr)) {
      visit(item->base);
      for (const ast::Subscript &subscript : item->items)
        visit({subscript.begin, subscript.end});
    } else if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(expr)) {
      visit(tuple->elements);
    } else if (auto *member = llvm::dyn_cast<ast::MemberExpr>(expr)) {
      visit(member->base);
    }
  }

  Index &index;
  Scope globals, results, builtins;
  std::vector<Scope> scopes;
};
} // namespace atrex::lsp

std::string Index::resolveImport(StringRef importer, StringRef path) {
  if (llvm::sys::path::is_absolute(path))
    return path.str();
  llvm::SmallString<256> result(llvm::sys::path::parent_path(importer));
  llvm::sys::path::append(result, path);
  llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
  return result.str().str();
}

Index::Index(StringRef text, StringRef path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto add = [&](std::unique_ptr<llvm::MemoryBuffer> buffer, StringRef from) {
    auto source = std::make_unique<Source>();
    source->path = from.str();
    source->text = buffer->getBuffer();
    source->sourceMgr.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    Diagnostics diags(source->sourceMgr, context);
    source->file = parse(source->text, diags);
    sources.push_back(std::move(source));
  };
  add(llvm::MemoryBuffer::getMemBufferCopy(text, path), path);
  std::vector<std::pair<const ast::ImportDecl *, std::string>> mainImports;
  for (size_t i = 0; i < sources.size(); ++i) {
    // Adding moves the list.
    std::string importer = sources[i]->path;
    for (const ast::ImportDecl *decl : std::vector(sources[i]->file->imports)) {
      std::string target = resolveImport(importer, decl->path);
      if (i == 0)
        mainImports.emplace_back(decl, target);
      bool isRead = llvm::any_of(sources, [&](const auto &source) { return source->path == target; });
      if (isRead || sources.size() >= maxSources)
        continue;
      // What cannot be read is reported by the check of the file.
      if (auto buffer = readRegularFile(target, maxImportedSize))
        add(llvm::MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer(), target), target);
      else
        llvm::consumeError(buffer.takeError());
    }
  }
  IndexBuilder(*this).run();
  for (const auto &[decl, target] : mainImports) {
    Definition file{
        Definition::Kind::File, decl->path.str(), nullptr, "import \"" + decl->path.str() + "\"", nullptr, target};
    const char *begin = decl->loc.getPointer();
    references.push_back({begin, begin + decl->path.size() + 2, unsigned(definitions.size())});
    definitions.push_back(std::move(file));
  }
  llvm::sort(references, [](const Reference &a, const Reference &b) { return a.begin < b.begin; });
}

Index::~Index() = default;

const Reference *Index::find(const char *position) const {
  // A cursor right behind a name is at the name too.
  const Reference *behind = nullptr;
  for (const Reference &reference : references) {
    if (reference.begin > position)
      break;
    if (position < reference.end)
      return &reference;
    if (position == reference.end)
      behind = &reference;
  }
  return behind;
}

const ast::File &Index::getFile() const { return *sources.front()->file; }
StringRef Index::getText() const { return sources.front()->text; }

std::pair<StringRef, std::string> Index::getBuffer(const char *position) const {
  for (const auto &source : sources)
    if (position >= source->text.begin() && position <= source->text.end())
      return {source->text, source->path};
  return {sources.front()->text, sources.front()->path};
}
