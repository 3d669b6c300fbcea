//===- PassOptions.td - Options of passes ------------------*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_TRANSFORMS_PASSOPTIONS_TD
#define ATREX_TRANSFORMS_PASSOPTIONS_TD

include "mlir/Pass/PassBase.td"

/// An option that a search may set. The domain is written here only: the help
/// text, the reference and `atrex-compile --emit-space` have it from here.
class TunableOption<string varName, string arg, string varType, string default, string text, list<int> values>
    : Option<varName, arg, varType, default, text # "; one of " # !interleave(values, ", ")> {
  list<int> domain = values;
}

/// An option that takes one of several words.
class TunableChoice<string varName, string arg, string default, string text, list<string> values>
    : Option<varName, arg, "std::string", "\"" # default # "\"", text # "; one of " # !interleave(values, ", ")> {
  list<string> domain = values;
}

#endif // ATREX_TRANSFORMS_PASSOPTIONS_TD
