//===- Frontend.cpp - Kernel language to MLIR -----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Frontend.h"
#include "Library.h"
#include "atrex/Frontend/Builtins.h"
#include "atrex/Frontend/Lowering.h"
#include "atrex/Frontend/Parser.h"
#include "atrex/Frontend/Sema.h"
#include "atrex/Support/FileInput.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace atrex;
using namespace atrex::frontend;

namespace {
constexpr unsigned maxFiles = 256;
constexpr unsigned maxImportDepth = 64;
constexpr uint64_t maxFileSize = uint64_t(16) << 20;

/// Reads a file and what it imports, each file once.
class Loader {
public:
  Loader(llvm::SourceMgr &sourceMgr, Diagnostics &diags) : sourceMgr(sourceMgr), diags(diags) {}

  /// Parses a buffer, then its imports. The files stand in order of reading, the
  /// main file first.
  void load(unsigned buffer, llvm::StringRef path);

  std::vector<std::unique_ptr<ast::File>> files;

private:
  void import(const ast::ImportDecl &decl, llvm::StringRef importer);

  llvm::SourceMgr &sourceMgr;
  Diagnostics &diags;
  /// Paths being read, outermost first, and all that were.
  std::vector<std::string> active;
  llvm::StringSet<> seen;
};
} // namespace

/// One spelling for each file.
static std::string normalizePath(llvm::StringRef path) {
  llvm::SmallString<256> real;
  if (!llvm::sys::fs::real_path(path, real))
    return real.str().str();
  real = path;
  llvm::sys::path::remove_dots(real, /*remove_dot_dot=*/true);
  return real.str().str();
}

void Loader::load(unsigned buffer, llvm::StringRef path) {
  std::string normalized = normalizePath(path);
  seen.insert(normalized);
  active.push_back(normalized);
  files.push_back(parse(sourceMgr.getMemoryBuffer(buffer)->getBuffer(), diags));
  // Loading may move the list, not the file.
  const ast::File &file = *files.back();
  for (const ast::ImportDecl *decl : file.imports)
    import(*decl, path);
  active.pop_back();
}

void Loader::import(const ast::ImportDecl &decl, llvm::StringRef importer) {
  llvm::SmallString<256> path(decl.path);
  if (decl.path.empty()) {
    diags.error(decl.loc) << "the path of an import is empty";
    return;
  }
  if (!llvm::sys::path::is_absolute(path)) {
    path = llvm::sys::path::parent_path(importer);
    llvm::sys::path::append(path, decl.path);
  }
  std::string normalized = normalizePath(path);
  auto cycle = llvm::find(active, normalized);
  if (cycle != active.end()) {
    std::string chain;
    for (const std::string &file : llvm::make_range(cycle, active.end()))
      chain += llvm::sys::path::filename(file).str() + " -> ";
    diags.error(decl.loc) << "files import each other: " << chain << llvm::sys::path::filename(normalized);
    return;
  }
  if (seen.contains(normalized))
    return;
  if (files.size() >= maxFiles || active.size() >= maxImportDepth) {
    diags.error(decl.loc) << "too many imports: at most " << maxFiles << " files, " << maxImportDepth
                          << " levels deep, are read";
    return;
  }
  // Only regular files: a device or a pipe may never end.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readRegularFile(path, maxFileSize);
  if (!text) {
    diags.error(decl.loc) << llvm::toString(text.takeError());
    return;
  }
  // A copy does not change when the file does.
  unsigned buffer =
      sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy((*text)->getBuffer(), path), decl.loc);
  load(buffer, path);
}

/// Collects the definitions of all files and reports names that are defined
/// twice; later ones are not seen.
static void collectDefinitions(llvm::ArrayRef<std::unique_ptr<ast::File>> files, Library &library, Diagnostics &diags) {
  llvm::StringMap<llvm::SMLoc> seen;
  auto define = [&](llvm::StringRef name, llvm::SMLoc loc, llvm::StringRef what) {
    if (lookupBuiltin(name) && what != "operator") {
      diags.error(loc) << what << " '" << name << "' has the name of a function of the language; choose another";
      return false;
    }
    auto [entry, isNew] = seen.try_emplace(name, loc);
    if (isNew)
      return true;
    mlir::InFlightDiagnostic diagnostic = diags.error(loc);
    diagnostic << what << " '" << name << "' is defined twice";
    diags.note(diagnostic, entry->second) << "the other definition is here";
    return false;
  };
  for (const std::unique_ptr<ast::File> &file : files) {
    for (const ast::ConstDecl *decl : file->consts)
      if (define(decl->name, decl->loc, "constant")) {
        library.consts.try_emplace(decl->name).first->second.decl = decl;
        library.constNames.push_back(decl->name);
      }
    for (const ast::FnDecl *decl : file->fns)
      if (define(decl->name, decl->loc, "helper")) {
        library.fns[decl->name] = decl;
        library.fnNames.push_back(decl->name);
      }
    for (const ast::OpDecl *decl : file->ops)
      if (define(decl->name, decl->loc, decl->isKernel ? "kernel" : "operator"))
        library.ops[decl->name] = decl;
  }
}

/// Says that one of several operators must be chosen.
static void reportChoice(const ast::File &file, Diagnostics &diags) {
  mlir::InFlightDiagnostic diagnostic = diags.error(file.ops.front()->loc);
  bool hasKernel = llvm::any_of(file.ops, [](const ast::OpDecl *op) { return op->isKernel; });
  diagnostic << "the source defines " << file.ops.size() << (hasKernel ? " operators and kernels" : " operators")
             << "; choose one with '--op'";
  for (const ast::OpDecl *op : llvm::ArrayRef(file.ops).take_front(8))
    diags.note(diagnostic, op->loc) << (op->isKernel ? "kernel '" : "operator '") << op->name << "'";
}

/// The operator to import; null after an error, when the source has none because
/// of errors already reported, or when it has several and no name was given.
static const ast::OpDecl *selectOp(const ast::File &file, const Library &library, const std::string &name,
                                   Diagnostics &diags) {
  if (auto imported = library.ops.find(name); !name.empty() && imported != library.ops.end())
    return imported->second;
  if (file.ops.empty()) {
    if (!diags.getNumErrors())
      diags.error({}) << "the source defines no operator";
    return nullptr;
  }
  std::vector<llvm::StringRef> names;
  for (const ast::OpDecl *op : file.ops)
    names.push_back(op->name);
  if (name.empty())
    return file.ops.size() == 1 ? file.ops.front() : nullptr;
  for (const ast::OpDecl *op : file.ops)
    if (op->name == name)
      return op;
  diags.error({}) << "the source defines no operator '" << printable(name) << "'" << didYouMean(name, names);
  return nullptr;
}

/// Reports values of dimensions and knobs that make no sense for `op`. False when
/// there are any.
static bool checkOptions(const ast::OpDecl &op, const Library &library, const FrontendOptions &options,
                         Diagnostics &diags) {
  llvm::StringRef what = op.isKernel ? "kernel" : "operator";
  std::vector<llvm::StringRef> names = collectDimNames(op, &library);
  std::vector<std::pair<llvm::StringRef, int64_t>> sorted;
  for (const auto &entry : options.dims)
    sorted.emplace_back(entry.getKey(), entry.getValue());
  llvm::sort(sorted);
  bool ok = true;
  for (auto [name, value] : sorted) {
    if (!llvm::is_contained(names, name)) {
      ok = false;
      diags.error(op.loc) << what << " '" << op.name << "' has no dimension '" << printable(name) << "'"
                          << didYouMean(name, names)
                          << (names.empty() ? std::string() : "; its dimensions are " + llvm::join(names, ", "));
    } else if (value <= 0) {
      ok = false;
      diags.error(op.loc) << "dimension '" << name << "' must be positive, got " << value;
    }
  }
  std::vector<llvm::StringRef> knobs = collectTypeParams(op);
  for (const ast::KnobDecl &knob : op.knobs)
    knobs.push_back(knob.name);
  for (const auto &[name, value] : options.knobs) {
    if (llvm::is_contained(knobs, name))
      continue;
    ok = false;
    diags.error(op.loc) << what << " '" << op.name << "' has no knob '" << printable(name) << "'"
                        << didYouMean(name, knobs)
                        << (knobs.empty() ? std::string("; it has none")
                                          : "; its knobs are " + llvm::join(knobs, ", "));
  }
  return ok;
}

void atrex::frontend::registerFrontendDialects(mlir::DialectRegistry &registry) {
  registry.insert<atx::AtxDialect, mlir::arith::ArithDialect, mlir::bufferization::BufferizationDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect, mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::tensor::TensorDialect,
                  mlir::vector::VectorDialect>();
}

namespace {
/// A source and its imports, read and ready to be checked.
struct Source {
  Source(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context, const FrontendOptions &options)
      : diags(sourceMgr, context), loader(sourceMgr, diags) {
    diags.listener = options.listener;
    unsigned mainBuffer = sourceMgr.getMainFileID();
    loader.load(mainBuffer, sourceMgr.getMemoryBuffer(mainBuffer)->getBufferIdentifier());
    collectDefinitions(loader.files, library, diags);
    evaluateConstants(library, diags);
    if (!options.isCheckOnly)
      selected = selectOp(*loader.files.front(), library, options.op, diags);
    optionsAreFine = !selected || selected->isIncomplete || checkOptions(*selected, library, options, diags);
  }

  /// Checks the selected operator.
  std::unique_ptr<Operator> check(const FrontendOptions &options) {
    AnalyzeOptions analyzeOptions;
    analyzeOptions.library = &library;
    analyzeOptions.isSelected = optionsAreFine;
    if (optionsAreFine) {
      analyzeOptions.dims = options.dims;
      analyzeOptions.knobs = options.knobs;
    }
    return analyze(*selected, analyzeOptions, diags);
  }

  Diagnostics diags;
  Loader loader;
  Library library;
  const ast::OpDecl *selected = nullptr;
  bool optionsAreFine = true;
};
} // namespace

static void loadDialects(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registerFrontendDialects(registry);
  context.appendDialectRegistry(registry);
  for (llvm::StringRef name : registry.getDialectNames())
    context.getOrLoadDialect(name);
}

mlir::OwningOpRef<mlir::ModuleOp> atrex::frontend::importAtx(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context,
                                                             const FrontendOptions &options) {
  loadDialects(context);
  Source source(sourceMgr, context, options);
  Diagnostics &diags = source.diags;

  // Operators that are not imported are checked with all dimensions unknown;
  // so is the selected one when the values given for it make no sense.
  std::unique_ptr<Operator> program;
  for (const std::unique_ptr<ast::File> &file : source.loader.files) {
    for (const ast::OpDecl *op : file->ops) {
      if (diags.reachedLimit())
        break;
      if (op == source.selected) {
        program = source.check(options);
        continue;
      }
      AnalyzeOptions analyzeOptions;
      analyzeOptions.library = &source.library;
      analyze(*op, analyzeOptions, diags);
    }
  }
  // A matter of the command line: it can wait until the source is right.
  if (!options.isCheckOnly && !source.selected && !diags.getNumErrors())
    reportChoice(*source.loader.files.front(), diags);
  if (diags.reachedLimit())
    mlir::emitRemark(diags.getLocation({})) << "stopped after " << Diagnostics::errorLimit << " errors";
  if (diags.getNumErrors() || !program)
    return nullptr;

  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(diags.getLocation(source.selected->loc));
  if (program->isKernel)
    lowerKernel(*program, *module, diags);
  else if (!program->kernels.empty())
    lowerPlan(*program, *module, diags);
  else
    lower(*program, *module, diags);
  if (diags.getNumErrors() || mlir::failed(mlir::verify(*module)))
    return nullptr;
  return module;
}

bool atrex::frontend::readImports(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context) {
  Diagnostics diags(sourceMgr, context);
  Loader loader(sourceMgr, diags);
  unsigned mainBuffer = sourceMgr.getMainFileID();
  loader.load(mainBuffer, sourceMgr.getMemoryBuffer(mainBuffer)->getBufferIdentifier());
  return diags.getNumErrors() == 0;
}

//===----------------------------------------------------------------------===//
// Knobs
//===----------------------------------------------------------------------===//

static std::string printLocation(mlir::Location loc) {
  auto file = loc->findInstanceOf<mlir::FileLineColLoc>();
  return file
             ? (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine()) + ":" + llvm::Twine(file.getColumn()))
                   .str()
             : std::string();
}

/// Takes apart what `,` and `&&` join.
static void collectConstraints(const ast::Expr *expr, const Source &source, const DimMap &dims, const KnobSpace &space,
                               std::vector<KnobSpace::Constraint> &constraints) {
  auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr);
  if (binary && binary->op == ast::BinaryOp::And) {
    collectConstraints(binary->lhs, source, dims, space, constraints);
    collectConstraints(binary->rhs, source, dims, space, constraints);
    return;
  }
  KnobSpace::Constraint constraint;
  // One line, however it was written.
  for (llvm::StringRef text = expr->getText(); char c : text) {
    bool isBlank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!isBlank)
      constraint.text += c;
    else if (!constraint.text.empty() && constraint.text.back() != ' ')
      constraint.text += ' ';
  }
  constraint.location = printLocation(source.diags.getLocation(expr->range.Start));
  std::set<std::string> knobs, names;
  visitDimNames(expr, [&](llvm::StringRef name) {
    if (llvm::any_of(space.knobs, [&](const KnobSpace::KnobInfo &knob) { return knob.name == name; }))
      knobs.insert(name.str());
    else if (!source.library.consts.count(name))
      names.insert(name.str());
  });
  constraint.knobs.assign(knobs.begin(), knobs.end());
  constraint.dims.assign(names.begin(), names.end());
  constraint.isCheckedAtLaunch = llvm::any_of(names, [&](const std::string &name) { return !dims.count(name); });
  constraints.push_back(std::move(constraint));
}

std::optional<KnobSpace> atrex::frontend::exploreKnobs(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context,
                                                       const FrontendOptions &options) {
  loadDialects(context);
  Source source(sourceMgr, context, options);
  Diagnostics &diags = source.diags;
  if (!source.selected && !diags.getNumErrors())
    reportChoice(*source.loader.files.front(), diags);
  if (diags.getNumErrors() || !source.selected)
    return std::nullopt;

  KnobSpace space;
  space.name = source.selected->name.str();
  space.isKernel = source.selected->isKernel;
  space.dims = options.dims;
  for (llvm::StringRef name : collectDimNames(*source.selected, &source.library))
    if (!options.dims.count(name))
      space.runtimeDims.push_back(name.str());
  {
    AnalyzeOptions analyzeOptions;
    analyzeOptions.library = &source.library;
    analyzeOptions.knobs = options.knobs;
    for (const Knob &knob : analyzeKnobs(*source.selected, analyzeOptions, diags)) {
      bool isFixed = options.knobs.count(knob.name);
      space.knobs.push_back(
          {knob.name, isFixed ? std::vector<int64_t>{knob.value} : knob.domain, knob.defaultValue, isFixed});
      space.numPoints = llvm::SaturatingMultiply<uint64_t>(space.numPoints, space.knobs.back().domain.size());
    }
  }
  if (diags.getNumErrors())
    return std::nullopt;
  for (const ast::Expr *expr : source.selected->constraints)
    collectConstraints(expr, source, options.dims, space, space.constraints);
  if (space.numPoints > maxKnobPoints) {
    diags.error(source.selected->loc) << "the knobs of '" << space.name << "' have " << space.numPoints
                                      << " combinations, more than the " << maxKnobPoints
                                      << " that are looked at; fix some with '--knob NAME=VALUE'";
    return std::nullopt;
  }

  // Every combination is checked as if it were compiled: constraints and
  // whatever else of the program depends on a knob.
  std::vector<size_t> position(space.knobs.size(), 0);
  for (uint64_t point = 0; point < space.numPoints; ++point) {
    FrontendOptions pointOptions = options;
    KnobSpace::Excluded excluded;
    for (auto [knob, at] : llvm::zip_equal(space.knobs, position)) {
      excluded.values.push_back(knob.domain[at]);
      pointOptions.knobs[knob.name] = std::to_string(knob.domain[at]);
    }
    bool isValid = false;
    {
      mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && excluded.message.empty()) {
          excluded.message = diagnostic.str();
          excluded.location = printLocation(diagnostic.getLocation());
        }
        return mlir::success();
      });
      // Errors of one point say nothing about the next.
      source.diags.forgetErrors();
      source.library.failedFns.clear();
      isValid = source.check(pointOptions) != nullptr;
    }
    if (!isValid)
      space.excluded.push_back(std::move(excluded));
    for (size_t i = position.size(); i-- > 0;) {
      if (++position[i] < space.knobs[i].domain.size())
        break;
      position[i] = 0;
    }
  }
  if (space.excluded.size() < space.numPoints)
    return space;
  // Nothing works: say why not with the knobs as they are.
  diags.forgetErrors();
  source.library.failedFns.clear();
  source.check(options);
  return std::nullopt;
}
