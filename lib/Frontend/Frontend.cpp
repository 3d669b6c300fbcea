//===- Frontend.cpp - Kernel language to MLIR -----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Frontend.h"
#include "atrex/Frontend/Lowering.h"
#include "atrex/Frontend/Parser.h"
#include "atrex/Frontend/Sema.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace atrex;
using namespace atrex::frontend;

/// Reports operators of the same name; later ones are not selected.
static void checkNames(const ast::File &file, Diagnostics &diags) {
  llvm::StringMap<llvm::SMLoc> seen;
  for (const ast::OpDecl *op : file.ops) {
    auto [entry, isNew] = seen.try_emplace(op->name, op->loc);
    if (isNew)
      continue;
    mlir::InFlightDiagnostic diagnostic = diags.error(op->loc);
    diagnostic << "operator '" << op->name << "' is defined twice";
    diags.note(diagnostic, entry->second) << "the other definition is here";
  }
}

/// Reports definitions that the later stages do not take.
static void checkSupported(const ast::File &file, Diagnostics &diags) {
  for (const ast::ImportDecl *decl : file.imports)
    diags.error(decl->loc) << "'import' is not supported yet";
  for (const ast::ConstDecl *decl : file.consts)
    diags.error(decl->loc) << "'const' outside of an operator is not supported yet";
  for (const ast::FnDecl *decl : file.fns)
    diags.error(decl->loc) << "'fn' is not supported yet";
  for (const ast::OpDecl *decl : file.ops) {
    if (decl->isKernel)
      diags.error(decl->loc) << "'kernel' is not supported yet";
    else if (!decl->knobs.empty())
      diags.error(decl->knobs.front().loc) << "knobs of an operator are not supported yet";
  }
}

/// The operator to import; null after an error, or when the source has none
/// because of errors already reported.
static const ast::OpDecl *selectOp(const ast::File &file, const std::string &name, Diagnostics &diags) {
  if (file.ops.empty()) {
    if (!diags.getNumErrors())
      diags.error({}) << "the source defines no operator";
    return nullptr;
  }
  std::vector<llvm::StringRef> names;
  for (const ast::OpDecl *op : file.ops)
    names.push_back(op->name);
  if (name.empty()) {
    if (file.ops.size() == 1)
      return file.ops.front();
    mlir::InFlightDiagnostic diagnostic = diags.error(file.ops.front()->loc);
    diagnostic << "the source defines " << file.ops.size() << " operators; choose one with '--op'";
    for (const ast::OpDecl *op : llvm::ArrayRef(file.ops).take_front(8))
      diags.note(diagnostic, op->loc) << "operator '" << op->name << "'";
    return nullptr;
  }
  for (const ast::OpDecl *op : file.ops)
    if (op->name == name)
      return op;
  diags.error({}) << "the source defines no operator '" << printable(name) << "'" << didYouMean(name, names);
  return nullptr;
}

/// Reports values of dimensions that make no sense for `op`. False when there
/// are any.
static bool checkDims(const ast::OpDecl &op, const DimMap &dims, Diagnostics &diags) {
  std::vector<llvm::StringRef> names = collectDimNames(op);
  std::vector<std::pair<llvm::StringRef, int64_t>> sorted;
  for (const auto &entry : dims)
    sorted.emplace_back(entry.getKey(), entry.getValue());
  llvm::sort(sorted);
  bool ok = true;
  for (auto [name, value] : sorted) {
    if (!llvm::is_contained(names, name)) {
      ok = false;
      diags.error(op.loc) << "operator '" << op.name << "' has no dimension '" << printable(name) << "'"
                          << didYouMean(name, names)
                          << (names.empty() ? std::string() : "; its dimensions are " + llvm::join(names, ", "));
    } else if (value <= 0) {
      ok = false;
      diags.error(op.loc) << "dimension '" << name << "' must be positive, got " << value;
    }
  }
  return ok;
}

void atrex::frontend::registerFrontendDialects(mlir::DialectRegistry &registry) {
  registry.insert<atx::AtxDialect, mlir::arith::ArithDialect, mlir::bufferization::BufferizationDialect,
                  mlir::func::FuncDialect, mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
}

mlir::OwningOpRef<mlir::ModuleOp> atrex::frontend::importAtx(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context,
                                                             const FrontendOptions &options) {
  context.loadDialect<atx::AtxDialect, mlir::arith::ArithDialect, mlir::bufferization::BufferizationDialect,
                      mlir::func::FuncDialect, mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                      mlir::tensor::TensorDialect>();

  Diagnostics diags(sourceMgr, context);
  diags.listener = options.listener;
  std::unique_ptr<ast::File> file = parse(sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID())->getBuffer(), diags);
  checkNames(*file, diags);
  checkSupported(*file, diags);
  const ast::OpDecl *selected = options.isCheckOnly ? nullptr : selectOp(*file, options.op, diags);
  bool dimsAreFine = !selected || selected->isIncomplete || checkDims(*selected, options.dims, diags);

  // Operators that are not imported are checked with all dimensions unknown;
  // so is the selected one when the values given for it make no sense.
  std::unique_ptr<Operator> program;
  for (const ast::OpDecl *op : file->ops) {
    if (diags.reachedLimit())
      break;
    if (op->isKernel)
      continue;
    bool isSelected = op == selected;
    std::unique_ptr<Operator> checked = analyze(*op, isSelected && dimsAreFine ? options.dims : DimMap(), diags);
    if (isSelected)
      program = std::move(checked);
  }
  if (diags.reachedLimit())
    mlir::emitRemark(diags.getLocation({})) << "stopped after " << Diagnostics::errorLimit << " errors";
  if (diags.getNumErrors() || !program)
    return nullptr;

  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(diags.getLocation(selected->loc));
  lower(*program, *module, diags);
  if (mlir::failed(mlir::verify(*module)))
    return nullptr;
  return module;
}
