//===- Manifest.h - What a host must know to launch a kernel ----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The manifest stands beside a code object and says how to launch it: arguments
// in order with offset and size, grid as expressions over run-time dimensions,
// which tile of each output one workgroup writes, and where the code came from.
// JSON schema `atrex-mlir/manifest/1`, described in docs/formats.md.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_RUNTIME_MANIFEST_H
#define ATREX_RUNTIME_MANIFEST_H

#include "atrex/Support/DataType.h"
#include "atrex/Support/DimExpr.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atrex {

/// One explicit kernel argument, in kernarg order.
struct ManifestArg {
  enum class Kind : uint8_t {
    /// Address of a tensor, 8 bytes.
    Tensor,
    /// A run-time dimension, 8 bytes, signed.
    Dim,
    /// A scalar parameter of the operator.
    Scalar,
  };
  Kind kind = Kind::Tensor;
  std::string name;
  DataType type = DataType::F32;
  /// Byte offset and size inside the kernarg segment.
  uint32_t offset = 0;
  uint32_t size = 8;
  /// Tensors: extents, outermost first, contiguous and row-major.
  std::vector<DimExpr> shape;
  /// Tensors: written by the kernel. An operator may have an input and an
  /// output of the same name; they are two arguments.
  bool isOutput = false;
  /// Tensors: memory between the launches of a plan, known by its name. Its
  /// contents are undefined at the beginning of a run; who launches provides it.
  bool isWorkspace = false;
  /// Dimensions of a kernel that is launched by a plan: the value, an expression
  /// over the dimensions of the operator. Absent: the dimension `name` itself.
  std::optional<DimExpr> value;
  /// Scalars: `defaultValue` is what the plan passes; the caller has no say.
  bool isConstant = false;
  /// Tensors that every workgroup indexes by tile along one dimension: the
  /// dimension's position in `shape` and the extent one workgroup covers, an
  /// expression over the run-time dimensions.
  /// Workgroup w along axis tileAxis of the grid covers
  /// [w * tileExtent, min((w + 1) * tileExtent, extent)).
  /// tileDim is -1 where a workgroup may touch the whole tensor.
  int tileDim = -1;
  DimExpr tileExtent;
  unsigned tileAxis = 0;
  /// Tensors: the axes of the grid that decide which rows (positions along the
  /// first dimension) a workgroup touches. Workgroups that differ in other axes
  /// touch the same rows. Absent: not known.
  std::optional<std::vector<unsigned>> rowAxes;
  /// Scalars: the value used when the caller gives none.
  std::optional<double> defaultValue;
};

using ManifestConstraint = DimComparison;

struct ManifestKernel {
  /// Symbol in the code object (without the `.kd` suffix).
  std::string name;
  std::array<uint32_t, 3> workgroup = {1, 1, 1};
  /// Number of workgroups per axis.
  std::array<DimExpr, 3> grid = {DimExpr::constant(1), DimExpr::constant(1), DimExpr::constant(1)};
  uint32_t kernargBytes = 0;
  uint32_t dynamicLdsBytes = 0;
  /// Where not 0: what workgroup w does is of use to workgroup floor(w / feeds) of the next launch alone, both counted
  /// with the first axis fastest.
  uint32_t feeds = 0;
  std::vector<ManifestArg> args;
  /// Knobs and element types that the kernel was compiled with, by name.
  std::map<std::string, std::string> knobs;
};

struct Manifest {
  std::string op;
  std::string arch;
  std::string compiler;
  std::string sourceHash;
  std::string scheduleHash;
  std::string codeObjectHash;
  /// The schedule as text: a pipeline that `atrex-opt --pass-pipeline` accepts.
  std::string schedule;
  /// Dimensions fixed at compile time.
  std::map<std::string, int64_t> constants;
  /// Knobs and element types that the program was compiled with, by name: chosen
  /// or default.
  std::map<std::string, std::string> knobs;
  /// Dimensions that stay run-time parameters, in declaration order.
  std::vector<std::string> runtimeDims;
  std::vector<ManifestConstraint> constraints;
  /// Launches in order; a kernel may be launched more than once, with other
  /// arguments.
  std::vector<ManifestKernel> kernels;

  llvm::json::Value toJSON() const;
  std::string toText() const;
  static llvm::Expected<Manifest> fromText(llvm::StringRef text);
};

/// Values for one launch. Dimensions fixed at compile time may be repeated in
/// `dims`; another value than the compiled one is an error.
struct LaunchArguments {
  DimMap dims;
  llvm::StringMap<double> scalars;
  /// Device addresses by tensor argument index (position in `args`).
  std::vector<uint64_t> tensors;
};

/// Checks dimensions (all present, positive, constraints satisfied) and returns
/// the complete map including compile-time constants.
llvm::Expected<DimMap> resolveDims(const Manifest &manifest, const DimMap &dims);

/// Fills a kernarg segment for `kernel`.
llvm::Expected<std::vector<uint8_t>> packArguments(const Manifest &manifest, const ManifestKernel &kernel,
                                                   const LaunchArguments &arguments);

/// Evaluates the grid of `kernel`; an error when it exceeds what a dispatch
/// packet can express (2^32 - 1 work-items per axis).
llvm::Expected<std::array<uint32_t, 3>> evaluateGrid(const ManifestKernel &kernel, const DimMap &dims);

/// Tensors that the launches share and the caller allocates, each once, in order of
/// first use: the argument that names it first. An error when two launches
/// disagree about one.
llvm::Expected<std::vector<ManifestArg>> getWorkspaces(const Manifest &manifest);

/// Evaluates a tensor shape; an error when the byte size overflows 64 bits.
llvm::Expected<std::vector<int64_t>> evaluateShape(const ManifestArg &arg, const DimMap &dims);
/// Bytes of a tensor argument without gaps between its elements.
llvm::Expected<uint64_t> evaluateBytes(const ManifestArg &arg, const DimMap &dims);

} // namespace atrex

#endif // ATREX_RUNTIME_MANIFEST_H
