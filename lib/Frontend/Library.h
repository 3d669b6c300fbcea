//===- Library.h - What a file and its imports define -----------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One name space for the constants, helpers, kernels and operators of all files
// that are read. Constants are evaluated once, helpers where they are called.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_FRONTEND_LIBRARY_H
#define ATREX_LIB_FRONTEND_LIBRARY_H

#include "atrex/Frontend/AST.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <variant>

namespace atrex::frontend {

struct Library {
  struct Constant {
    enum class State : uint8_t { New, Active, Done };
    const ast::ConstDecl *decl = nullptr;
    State state = State::New;
    /// Empty after an error.
    std::variant<std::monostate, int64_t, double, bool> value;
  };
  llvm::StringMap<Constant> consts;
  llvm::StringMap<const ast::FnDecl *> fns;
  llvm::StringMap<const ast::OpDecl *> ops;
  /// Names of constants and of helpers in the order of their definition.
  std::vector<llvm::StringRef> constNames, fnNames;
  /// Helpers with an error that has been reported.
  llvm::StringSet<> failedFns;
  /// Names that were called unused, by position: several programs may inline a
  /// helper or launch a kernel.
  llvm::DenseSet<const char *> warned;
};

} // namespace atrex::frontend

#endif // ATREX_LIB_FRONTEND_LIBRARY_H
