//===- Target.cpp - Operations that need the chip table -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tool.h"

namespace atrex::layout {

llvm::ArrayRef<Operation> getTargetOperations() { return {}; }

} // namespace atrex::layout
