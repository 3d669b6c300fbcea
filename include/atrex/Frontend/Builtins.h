//===- Builtins.h - The functions of the language ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One declaration of every function: its name, parameters, types and meaning.
// Semantic analysis binds arguments by it; messages, the reference page, the
// language server and the highlighting grammar's test read it.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_BUILTINS_H
#define ATREX_FRONTEND_BUILTINS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <string>

namespace atrex::frontend {

/// Sections of the reference.
enum class BuiltinGroup : uint8_t { Elementwise, Reduction, Scan, Order, Product, Shape, Memory, Workgroup };
llvm::StringRef getTitle(BuiltinGroup group);

struct Builtin {
  llvm::StringLiteral name;
  BuiltinGroup group;
  /// Parameters, optional ones with a default: `x, k, axis, smallest = false`.
  llvm::StringLiteral params;
  /// Operand types, for the reference.
  llvm::StringLiteral types;
  /// The meaning in one line of Markdown.
  llvm::StringLiteral doc;
  /// Exists in kernels only.
  bool isKernelOnly = false;

  /// `topk(x, k, axis, smallest = false)`.
  std::string getSignature() const { return (llvm::Twine(name) + "(" + params + ")").str(); }
};

struct BuiltinParam {
  llvm::StringRef name;
  bool isOptional;
};

/// All functions in the order of the reference.
llvm::ArrayRef<Builtin> getBuiltins();
/// Null for a name that is no function.
const Builtin *lookupBuiltin(llvm::StringRef name);
llvm::SmallVector<BuiltinParam, 6> getParams(const Builtin &builtin);

/// The tables of the reference page, in Markdown.
std::string printBuiltins();

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_BUILTINS_H
