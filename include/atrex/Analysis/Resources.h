//===- Resources.h - Whether a schedule can fit, before compiling -*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LDS and registers of kernels on tiles from the form that the front end gives,
// with the formulas of the passes (planContract) and no pass run. What tiles hold
// at the same time decides about registers, since the compiler saves them where it
// must; the few schedules for which LLVM's choices decide are told apart.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_ANALYSIS_RESOURCES_H
#define ATREX_ANALYSIS_RESOURCES_H

#include "atrex/Target/Chip.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace atrex {

/// The options of the matrix passes that decide on resources; zeros, and -1 for
/// `prefetch`, leave the choice to the compiler.
struct ResourceOptions {
  bool isStaged = true;
  int64_t stages = 0, prefetch = -1, share = 0;
  int64_t mfmaRows = 0, wavesM = 0;
  /// Of factors that are loaded without shared memory: whether an iteration ahead.
  int64_t ahead = 1;
  /// Registers of staged tiles that are read ahead.
  int64_t readAhead = -1;
  /// Whether tensors are accessed as buffers, with offsets of 32 bits.
  bool bufferAccess = true;
  /// "never", "auto" or "always".
  std::string direct = "auto", directToLds = "never";
  /// Of `atx-stream-k`: both 0 where sums are not divided.
  int64_t workgroups = 0, splits = 0;
};
/// Reads them off the text of a schedule (`atx-stage-operands`,
/// `atx-assign-tile-layouts`, `atx-read-ahead`, `atx-stream-k`). An error names an option that is no number,
/// or that the passes refuse.
llvm::Expected<ResourceOptions> readResourceOptions(llvm::StringRef schedule);

/// Makes the launch plans that `atx-stream-k` makes, so that the kernels are those that will be compiled. Fails with a
/// diagnostic.
mlir::LogicalResult divideSums(mlir::ModuleOp module, const ChipInfo &chip, const ResourceOptions &options);

enum class ResourceVerdict : uint8_t { Fits, Close, Exceeds };
llvm::StringRef getName(ResourceVerdict verdict);

struct ResourceFinding {
  /// "threads", "registers", "lds", "alignment", "mfma".
  llvm::StringLiteral resource = "";
  ResourceVerdict verdict = ResourceVerdict::Exceeds;
  /// The tile that takes most, as its type prints; empty where none is to blame.
  std::string tile;
  mlir::Location location;
  /// What is needed at least, what there is; bytes, registers of a work-item, or
  /// work-items.
  int64_t needed = 0, available = 0;
  std::string message;
};

struct KernelResourceReport {
  std::string name;
  int64_t threads = 0;
  /// Registers of a work-item: what it needs, and what there are for the waves of
  /// the workgroup.
  int64_t registers = 0, registerLimit = 0;
  /// Bytes of staged tiles, shared memory and exchanges between work-items.
  int64_t lds = 0, ldsLimit = 0;
  /// Bytes of the workspaces that a launch plan gives the kernel, an expression over run-time dimensions; empty where
  /// there are none.
  std::string workspace;
  std::vector<ResourceFinding> findings;

  ResourceVerdict getVerdict() const;
};

/// Checks every kernel on tiles of `module`. Operators without a mapping yet are
/// left out: their tiles are chosen to fit.
std::vector<KernelResourceReport> checkResources(mlir::ModuleOp module, const ChipInfo &chip,
                                                 const ResourceOptions &options);

} // namespace atrex

#endif // ATREX_ANALYSIS_RESOURCES_H
