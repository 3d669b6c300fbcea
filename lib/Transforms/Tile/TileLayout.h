//===- TileLayout.h - Which work-item holds which element -------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_TILELAYOUT_H
#define ATREX_LIB_TRANSFORMS_TILE_TILELAYOUT_H

#include "dialects/Atx/AtxDialect.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace atrex::tile {

using mlir::ArrayRef;
using mlir::SmallVector;

/// `size` neighbours along a dimension, spread over registers or work-items
/// whose number grows by `stride`.
struct Mode {
  int64_t size = 1;
  bool isThread = false;
  int64_t stride = 1;
  bool operator==(const Mode &o) const = default;
};

/// A layout of a tile: for every dimension modes, fastest first, mixed radix.
/// See `#atx.tile_layout`. Layouts are kept in a normal form (no modes of size
/// 1, modes that continue one another joined), so that equal means the same.
class TileLayout {
public:
  TileLayout() = default;
  TileLayout(int64_t threads, ArrayRef<SmallVector<Mode>> dims) : threads(threads), dims(dims) { normalize(); }
  explicit TileLayout(atx::TileLayoutAttr attr);
  atx::TileLayoutAttr getAttr(mlir::MLIRContext *context) const;
  bool operator==(const TileLayout &o) const = default;

  int64_t getThreads() const { return threads; }
  unsigned getRank() const { return dims.size(); }
  ArrayRef<Mode> getModes(unsigned dim) const { return dims[dim]; }
  /// Elements of a lane.
  int64_t getNumRegisters() const;
  /// Product of the modes of a dimension: its extent with padding.
  int64_t getPaddedExtent(unsigned dim) const;
  /// Elements along `dim` that one step of mode `mode` moves.
  int64_t getStep(unsigned dim, unsigned mode) const;
  /// What register `reg` adds to the coordinate along `dim`.
  int64_t getRegisterCoordinate(unsigned dim, int64_t reg) const;
  /// What work-item `thread` adds.
  int64_t getThreadCoordinate(unsigned dim, int64_t thread) const;
  /// What work-items add along `dim` are multiples of this.
  int64_t getThreadStep(unsigned dim) const;
  int64_t getMaxThreadCoordinate(unsigned dim) const { return getThreadCoordinate(dim, threads - 1); }
  /// Bits of the work-item's number that modes of `dim` use.
  uint64_t getThreadBits(unsigned dim) const;
  /// Bits that no mode uses: work-items that differ in them repeat elements.
  uint64_t getReplicaBits() const;
  /// Register modes of all dimensions by stride.
  struct RegisterMode {
    unsigned dim, mode;
    int64_t size, stride;
  };
  SmallVector<RegisterMode> getRegisterModes() const;
  /// Elements along `dim` that are neighbours in registers 0, 1, 2 ...
  int64_t getRunLength(unsigned dim) const;

  /// The layout without the dimensions marked in `dropped`: what remains is
  /// repeated by the work-items that held them.
  TileLayout drop(ArrayRef<bool> dropped) const;
  /// The layout where dimensions marked in `single` have one element.
  TileLayout restrict(ArrayRef<bool> single) const;
  /// restrict() where `shape` has extent 1.
  TileLayout restrictTo(ArrayRef<int64_t> shape) const;
  /// Dimension i of the result is dimension `permutation[i]`.
  TileLayout transpose(ArrayRef<int64_t> permutation) const;
  /// The layout of the source of a broadcast (aligned at the last dimension,
  /// extents of 1 stretched) whose result has this layout.
  TileLayout getBroadcastSource(ArrayRef<int64_t> source) const;
  /// The layout of the same registers seen with another shape of the same row-major
  /// order; nothing where modes do not factor.
  std::optional<TileLayout> reshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) const;
  /// For every register of this layout, the register of `other` with the same
  /// coordinates, where all of `other`'s modes are among those of this layout's
  /// dimensions `dims[i]` (its dimension i).
  SmallVector<int64_t> projectRegisters(const TileLayout &other, ArrayRef<int64_t> dims) const;

  /// The same elements in the same work-items, registers numbered so that neighbours along `dim` lie together.
  TileLayout withFastest(unsigned dim) const;

  /// Thread modes unchanged and register modes differing only in order.
  bool isRegisterPermutationOf(const TileLayout &other) const;

  /// "#atx.tile_layout" text without the prefix, for messages.
  std::string str() const;

private:
  void normalize();
  /// Numbers registers without gaps, keeping their order.
  void compactRegisters();

  int64_t threads = 1;
  SmallVector<SmallVector<Mode>> dims;
};

/// What an access asks of a layout.
struct AccessPattern {
  /// Dimension whose neighbours are neighbours in memory.
  unsigned contiguousDim = 0;
  /// Widest vector along it, a power of two, in elements.
  int64_t vector = 1;
  /// Bytes of an element; 1 for packed ones.
  int64_t bytes = 4;
  /// A lane reads `block` neighbours along this other dimension, a power of two.
  unsigned blockDim = 0;
  int64_t block = 1;
  /// Elements that fill whole bytes: more than 1 for packed ones. Layouts keep so
  /// many together where `vector` has them.
  int64_t unit = 1;
};

/// A layout for accesses to memory: vectors along the contiguous dimension, lanes
/// beside each other up to a cache line or two, the rest of the work-items over
/// the other dimensions, fewest registers.
TileLayout getAccessLayout(ArrayRef<int64_t> shape, int64_t threads, const AccessPattern &pattern);

/// A layout with all of dimension `axis` as runs in lanes and lanes in order, for
/// scans along it.
TileLayout getScanLayout(ArrayRef<int64_t> shape, int64_t threads, unsigned axis);

/// Parses the text of `atx.tile_pin`: ((lanes, waves), values) to the row-major
/// index. Nothing, with `message` set, where the layout is not of this form.
std::optional<TileLayout> parsePinLayout(llvm::StringRef text, ArrayRef<int64_t> shape, int64_t threads,
                                         std::string &message);

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_TILELAYOUT_H
