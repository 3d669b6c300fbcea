//===- Format.h - Canonical text of the kernel language ---------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_FRONTEND_FORMAT_H
#define ATREX_FRONTEND_FORMAT_H

#include "atrex/Frontend/Diagnostics.h"
#include <optional>

namespace atrex::frontend {

/// Characters a line may have, where it can be broken.
constexpr unsigned maxLineWidth = 120;

/// The source in canonical form: the same tokens but for trailing commas, and
/// the same comments in the same order. Formatting twice changes nothing.
/// Nothing after an error of the parser, which is reported.
std::optional<std::string> formatSource(llvm::StringRef source, Diagnostics &diags);

} // namespace atrex::frontend

#endif // ATREX_FRONTEND_FORMAT_H
