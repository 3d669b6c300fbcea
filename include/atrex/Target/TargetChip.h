//===- TargetChip.h - The chip that code is generated for -------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TARGET_TARGETCHIP_H
#define ATREX_TARGET_TARGETCHIP_H

#include "atrex/Target/Chip.h"
#include "mlir/IR/Operation.h"

namespace atrex {

/// The chip or the architecture's default chip that `arch` names; nullptr where no code can be generated for it.
inline const ChipInfo *lookupTarget(llvm::StringRef arch) {
  const ChipInfo *chip = lookupChip(arch);
  return chip && chip->isAMDGPU() ? chip : nullptr;
}

/// What to tell about a name for which lookupTarget() knows nothing.
inline std::string describeUnknownTarget(llvm::StringRef arch) {
  return ("'" + arch + "' is not an architecture code can be generated for; known are ").str() + getArchList();
}

/// lookupTarget() for a pass; nullptr with an error at `op`.
inline const ChipInfo *getTarget(mlir::Operation *op, llvm::StringRef arch) {
  const ChipInfo *chip = lookupTarget(arch);
  if (!chip)
    op->emitError() << describeUnknownTarget(arch);
  return chip;
}

} // namespace atrex

#endif // ATREX_TARGET_TARGETCHIP_H
