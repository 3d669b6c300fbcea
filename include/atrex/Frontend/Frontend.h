//===- Frontend.h - Kernel language to MLIR ---------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entry points of the front end. The stages have a header each: Lexer.h,
// AST.h and Parser.h, Program.h and Sema.h, Lowering.h.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_FRONTEND_H
#define ATREX_FRONTEND_FRONTEND_H

#include "atrex/Support/DimExpr.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atrex::frontend {
class SemaListener;

struct FrontendOptions {
  /// Dimensions that become compile-time constants.
  DimMap dims;
  /// Operator to import when the source defines several; empty takes the only
  /// one.
  std::string op;
  /// Values of knobs by name; others take their default.
  std::map<std::string, std::string> knobs;
  /// Checks everything and makes no module; the file need not define an operator.
  bool isCheckOnly = false;
  SemaListener *listener = nullptr;
};

/// What the knobs of an operator or kernel may be, and why not all of it works.
struct KnobSpace {
  struct KnobInfo {
    std::string name;
    std::vector<int64_t> domain;
    int64_t defaultValue = 0;
    /// Chosen by the caller; the domain is that value.
    bool isFixed = false;
  };
  struct Constraint {
    std::string text;
    /// `file:line:column`.
    std::string location;
    /// What it depends on, sorted.
    std::vector<std::string> knobs, dims;
    /// It has a run-time dimension and is checked by each launch.
    bool isCheckedAtLaunch = false;
  };
  /// A choice of values that is refused.
  struct Excluded {
    std::vector<int64_t> values;
    std::string message, location;
  };
  std::string name;
  bool isKernel = false;
  DimMap dims;
  std::vector<std::string> runtimeDims;
  std::vector<KnobInfo> knobs;
  std::vector<Constraint> constraints;
  uint64_t numPoints = 1;
  std::vector<Excluded> excluded;
};

/// Checks the selected operator for every combination of its knobs. Nothing
/// after an error that no choice of knobs avoids, or when there are more than
/// `maxKnobPoints` combinations.
std::optional<KnobSpace> exploreKnobs(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context,
                                      const FrontendOptions &options);
inline constexpr uint64_t maxKnobPoints = 4096;

/// Parses, checks and lowers the main buffer of `sourceMgr` to `linalg` on
/// tensors. Diagnostics go to the context with file, line and column; after an
/// error the result is null. Operators that are not imported are checked too.
mlir::OwningOpRef<mlir::ModuleOp> importAtx(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context,
                                            const FrontendOptions &options);

/// Reads and parses the main buffer of `sourceMgr` and adds the files it imports,
/// the same as importAtx and in the same order. False after an error; diagnostics as
/// there.
bool readImports(llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context);

/// Registers the dialects that importAtx creates operations and attributes of.
void registerFrontendDialects(mlir::DialectRegistry &registry);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_FRONTEND_H
