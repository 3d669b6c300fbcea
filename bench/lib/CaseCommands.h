//===- CaseCommands.h - Commands on stored cases ----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_LIB_CASECOMMANDS_H
#define ATREX_BENCH_LIB_CASECOMMANDS_H

#include "CommandLine.h"
#include "atrex/Bench/Catalogue.h"

namespace atrex::bench {

const CommandSpec &getReferenceCommand();
int runReference(const Catalogue &catalogue, const Arguments &arguments, llvm::raw_ostream &out,
                 llvm::raw_ostream &err);

const CommandSpec &getJudgeCommand();
int runJudge(const Catalogue &catalogue, const Arguments &arguments, llvm::raw_ostream &out, llvm::raw_ostream &err);

const CommandSpec &getDrawCommand();
int runDraw(const Catalogue &catalogue, const Arguments &arguments, llvm::raw_ostream &out, llvm::raw_ostream &err);

} // namespace atrex::bench

#endif // ATREX_BENCH_LIB_CASECOMMANDS_H
