//===- Programs.h - Programs of a sweep and what they must give -*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_SWEEP_PROGRAMS_H
#define ATREX_TOOLS_SWEEP_PROGRAMS_H

#include "atrex/Support/DataType.h"
#include "atrex/Support/DimExpr.h"
#include "atrex/Target/Chip.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace atrex::sweep {

/// A tensor as the device gets it, and what it must hold afterwards.
struct Tensor {
  std::string name;
  DataType type = DataType::F32;
  bool isOutput = false;
  std::vector<int64_t> shape;
  /// Of inputs the contents; of outputs what is expected, where `expected` is empty.
  std::vector<uint8_t> bytes;
  /// Of outputs that are not exact: values and how far off they may be.
  std::vector<double> expected, bounds;
};

/// Extents by name.
using Extents = std::map<std::string, int64_t>;

/// A kernel for one choice of everything but its run-time extents.
class Program {
public:
  virtual ~Program() = default;
  /// Names of types, layouts and knobs, enough to find the program again.
  std::string name;
  /// In the kernel language, with all choices in it.
  std::string source;
  /// Assignments for the schedule, as `--set` takes them.
  std::vector<std::string> settings;
  /// Dimensions that are made constants.
  DimMap constants;

  /// The extents to run, at most so many, the most telling first; or every set around a small tile.
  virtual std::vector<Extents> getExtents(uint64_t most, bool every) const = 0;
  /// Multiply-adds that the tiles of a run do, with padding.
  virtual uint64_t getWork(const Extents &extents) const = 0;
  /// Inputs, and what follows from them, worked out on the host without tiles.
  virtual std::vector<Tensor> makeTensors(const Extents &extents, uint64_t seed) const = 0;
};

struct Selection {
  bool products = true, attention = true;
  /// Random settings of the schedule for each program instead of the default.
  bool schedules = false;
  uint64_t seed = 1;
};

/// Every program of a chip in a fixed order.
std::vector<std::unique_ptr<Program>> makePrograms(const ChipInfo &chip, const Selection &selection);

} // namespace atrex::sweep

#endif // ATREX_TOOLS_SWEEP_PROGRAMS_H
