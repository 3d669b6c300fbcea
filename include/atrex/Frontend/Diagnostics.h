//===- Diagnostics.h - Located diagnostics of the front end -----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_DIAGNOSTICS_H
#define ATREX_FRONTEND_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <vector>

namespace atrex::frontend {

namespace ast {
struct Expr;
}

/// Hears what semantic analysis finds out, for editors.
class SemaListener {
public:
  virtual ~SemaListener() = default;
  /// `expr` was given a type: `f32[T, H]`, `dimension`. An expression that is
  /// checked several times (unrolled, inlined) is heard several times.
  virtual void onExpression(const ast::Expr &expr, llvm::StringRef type) = 0;
};

/// Reports through the diagnostic engine of an MLIR context at source
/// positions, and counts errors.
class Diagnostics {
public:
  /// Errors after which the stages stop looking for more.
  static constexpr unsigned errorLimit = 50;

  Diagnostics(const llvm::SourceMgr &sourceMgr, mlir::MLIRContext &context)
      : sourceMgr(sourceMgr), context(context),
        discarded(mlir::UnknownLoc::get(&context), mlir::DiagnosticSeverity::Note) {}

  mlir::MLIRContext &getContext() const { return context; }

  /// File, line and column (both counted from 1) of a position.
  mlir::Location getLocation(llvm::SMLoc loc) const;

  /// Reports an error; silent, but counted, once there are too many.
  mlir::InFlightDiagnostic error(llvm::SMLoc loc) {
    ++numErrors;
    isSilent = numErrors > errorLimit;
    if (isSilent)
      return {};
    mlir::InFlightDiagnostic diagnostic = mlir::emitError(getLocation(loc));
    for (llvm::SMLoc call : llvm::reverse(llvm::ArrayRef(calls).take_back(maxCallNotes)))
      diagnostic.attachNote(getLocation(call)) << "called from here";
    return diagnostic;
  }
  mlir::InFlightDiagnostic warning(llvm::SMLoc loc) { return mlir::emitWarning(getLocation(loc)); }
  /// Adds a note to the error reported last.
  mlir::Diagnostic &note(mlir::InFlightDiagnostic &diagnostic, llvm::SMLoc loc) {
    return isSilent ? discarded : diagnostic.attachNote(getLocation(loc));
  }

  /// Errors until `leaveCall` are inside of what is called here.
  void enterCall(llvm::SMLoc loc) { calls.push_back(loc); }
  void leaveCall() { calls.pop_back(); }

  unsigned getNumErrors() const { return numErrors; }
  /// Forgets errors: all, for a source that is checked again with other values; or
  /// those behind the first `before`, which were not shown.
  void forgetErrors(unsigned before = 0) { numErrors = before; }
  bool reachedLimit() const { return numErrors >= errorLimit; }

  /// Null: nobody listens.
  SemaListener *listener = nullptr;

private:
  const llvm::SourceMgr &sourceMgr;
  mlir::MLIRContext &context;
  /// Call sites that an error shows.
  static constexpr unsigned maxCallNotes = 8;

  unsigned numErrors = 0;
  llvm::SmallVector<llvm::SMLoc> calls;
  bool isSilent = false;
  /// Takes the notes of silent errors.
  mlir::Diagnostic discarded;
};

/// The candidate closest to a misspelt `name`, or an empty string when none is
/// close.
llvm::StringRef findSimilar(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

/// `; did you mean 'x'?` or nothing.
std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

/// Source text made printable and short: control characters and bytes outside
/// ASCII appear as \xNN.
std::string printable(llvm::StringRef text);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_DIAGNOSTICS_H
