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

/// An option that a search may set. Domain and programs are written here only: the
/// help text, the reference and `atrex-compile --emit-space` have them from here.
/// A truth value has the domain [0, 1]. `programs` says what the option acts on:
/// "rows" (operators of the row mapping), "tiles" (kernels, and operators of the
/// generic schedule) or "any".
class TunableOption<string varName, string arg, string varType, string default, string text, list<int> values,
                    string actsOn = "tiles">
    : Option<varName, arg, varType, default, text # "; one of " # !interleave(values, ", ")> {
  list<int> domain = values;
  string programs = actsOn;
}

/// An option that takes one of several words.
class TunableChoice<string varName, string arg, string default, string text, list<string> values,
                    string actsOn = "tiles">
    : Option<varName, arg, "std::string", "\"" # default # "\"", text # "; one of " # !interleave(values, ", ")> {
  list<string> domain = values;
  string programs = actsOn;
}

#endif // ATREX_TRANSFORMS_PASSOPTIONS_TD
