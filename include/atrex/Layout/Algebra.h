//===- Algebra.h - Operations of the layout algebra -------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One implementation of every operation, used three ways:
//
// * without a builder it infers: dynamic leaves of the result carry divisors;
// * with a builder that emits code it lowers: the same decisions are taken and
//   every computation with a dynamic operand is handed to the builder;
// * with a builder that computes it is an interpreter, which is how the tests
//   check dynamic operands against enumeration.
//
// Decisions never depend on handles, so that inference and lowering cannot
// disagree. A violated precondition is a Fault with the number of the
// constraint; nothing aborts and no value is silently wrong.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LAYOUT_ALGEBRA_H
#define ATREX_LAYOUT_ALGEBRA_H

#include "atrex/Layout/Values.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include <map>
#include <optional>
#include <string>

namespace atrex::layout {

/// A violated precondition.
struct Fault {
  /// The constraint: n of Cn.
  unsigned constraint = 0;
  std::string text;
  /// The mend or the other half of the evidence; may be empty.
  std::string note;
};

/// Receives the arithmetic on dynamic integers.
class IntBuilder {
public:
  /// Division truncates toward zero, Rem has the sign of the dividend; the U
  /// forms have operands that are known not to be negative. FloorDiv rounds
  /// down, FloorMod is never negative for a positive divisor.
  enum class Op : uint8_t {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    DivU,
    RemU,
    CeilDiv,
    FloorDiv,
    FloorMod,
    Abs,
    Min,
    Max,
    And,
    Xor,
    Shl,
    ShrU
  };

  virtual ~IntBuilder();
  /// Returns a handle for the result. At least one operand is dynamic; both
  /// have no path. `Abs` ignores `rhs`.
  virtual uint32_t emit(Op op, const Int &lhs, const Int &rhs) = 0;
  /// Checks at run time that `divisor` divides `value`.
  virtual void assertDivides(const Int &divisor, const Int &value, llvm::StringRef message) = 0;
};

/// What to do about a divisibility that holds only if dynamic values are kind.
enum class Policy : uint8_t {
  /// Refuse: "cannot prove that 8 divides ?".
  Prove,
  /// Ask the builder for a run-time assertion.
  Assert
};

/// Result of a partition: what one thread sees, and where it starts.
struct Partition {
  Layout layout;
  IntTuple offset;
  bool operator==(const Partition &other) const = default;
};

/// Element-wise operations on tuples.
enum class Arithmetic : uint8_t { Add, Sub, Mul, Div, Mod, Min, Max };

/// Domains larger than this are not enumerated.
constexpr int64_t enumerationLimit = 1 << 16;

class Algebra {
public:
  explicit Algebra(IntBuilder *builder = nullptr, Policy policy = Policy::Prove) : builder(builder), policy(policy) {}

  /// The first fault since construction or `reset`.
  const std::optional<Fault> &getFault() const { return fault; }
  void reset() { fault.reset(); }

  //===--------------------------------------------------------------------===//
  // Integers (C7, C8). Every operation returns 1 after a fault.
  //===--------------------------------------------------------------------===//
  Int add(const Int &lhs, const Int &rhs);
  Int sub(const Int &lhs, const Int &rhs);
  /// At most one operand is a basis element.
  Int mul(const Int &lhs, const Int &rhs);
  Int div(const Int &lhs, const Int &rhs);
  Int mod(const Int &lhs, const Int &rhs);
  /// Operands are not negative.
  Int divU(const Int &lhs, const Int &rhs);
  Int modU(const Int &lhs, const Int &rhs);
  Int ceilDiv(const Int &lhs, const Int &rhs);
  Int shapeDiv(const Int &lhs, const Int &rhs);
  Int abs(const Int &value);
  Int min(const Int &lhs, const Int &rhs);
  Int max(const Int &lhs, const Int &rhs);
  Int swizzle(const Swizzle &swizzle, const Int &value);

  //===--------------------------------------------------------------------===//
  // Tuples (C6, C7, C9)
  //===--------------------------------------------------------------------===//
  IntTuple arithmetic(Arithmetic op, const IntTuple &lhs, const IntTuple &rhs);
  Int product(const IntTuple &tuple);
  IntTuple productEach(const IntTuple &tuple);
  IntTuple productLike(const IntTuple &tuple, const IntTuple &guide);
  IntTuple shapeDiv(const IntTuple &lhs, const IntTuple &rhs);
  IntTuple ceilDiv(const IntTuple &lhs, const IntTuple &rhs);
  /// Component-wise lhs < rhs of congruent tuples; all must hold. Static only.
  bool elemLess(const IntTuple &lhs, const IntTuple &rhs);

  //===--------------------------------------------------------------------===//
  // Construction (C1, C2, C13, C21, C24)
  //===--------------------------------------------------------------------===//
  Layout makeLayout(const IntTuple &shape, const IntTuple &stride);
  Layout makeLayout(const IntTuple &shape);
  Layout makeOrderedLayout(const IntTuple &shape, const IntTuple &order);
  Layout makeIdentityLayout(const IntTuple &shape);
  Layout makeLayoutLike(const Map &layout);
  Layout makeFragmentLike(const Map &layout);
  Swizzle makeSwizzle(int64_t bits, int64_t base, int64_t shift);
  /// `inner o offset o outer` in normal form N6.
  Map makeComposed(const Map &inner, const IntTuple &offset, const Map &outer);
  /// Whether a parsed value keeps C1, C2, C14 and C21; its parts as well.
  void check(const Value &value);

  //===--------------------------------------------------------------------===//
  // Mode surgery (C3, C5)
  //===--------------------------------------------------------------------===//
  Value get(const Value &value, llvm::ArrayRef<int64_t> mode);
  Value take(const Value &value, int64_t begin, int64_t end);
  Value select(const Value &value, llvm::ArrayRef<int64_t> indices);
  Value group(const Value &value, int64_t begin, int64_t end);
  Value append(const Value &value, const Value &mode, std::optional<int64_t> rank = std::nullopt);
  Value prepend(const Value &value, const Value &mode, std::optional<int64_t> rank = std::nullopt);
  Value slice(const Value &value, const IntTuple &coord);
  Value dice(const Value &value, const IntTuple &coord);

  //===--------------------------------------------------------------------===//
  // Measures
  //===--------------------------------------------------------------------===//
  Int size(const Value &value);
  IntTuple getShape(const Value &value);
  IntTuple getStride(const Map &layout);
  Int cosize(const Map &layout);
  IntTuple coshape(const Map &layout);
  IntTuple coprofile(const Map &layout);
  /// No two coordinates share a value; faults with C12 when neither proved nor
  /// enumerated.
  bool injective(const Map &layout);
  /// A bijection of the domain onto [0, size).
  bool compact(const Map &layout);

  //===--------------------------------------------------------------------===//
  // Coordinates (C3, C4, C14)
  //===--------------------------------------------------------------------===//
  IntTuple crd2idx(const IntTuple &coord, const Map &layout);
  IntTuple idx2crd(const IntTuple &index, const Map &layout);
  IntTuple get1DCoord(const IntTuple &index, const Map &layout);
  IntTuple getFlatCoord(const IntTuple &index, const Map &layout);
  /// Sum of an offset and a value; coordinates are padded with zeros.
  IntTuple addOffset(const IntTuple &offset, const IntTuple &value);
  /// The coordinate tree of a 1-D coordinate, colexicographic.
  IntTuple coordOf(const Int &index, const IntTuple &shape);

  //===--------------------------------------------------------------------===//
  // Coalesce, composition, complement, inverses
  //===--------------------------------------------------------------------===//
  Map coalesce(const Map &layout, const IntTuple *profile = nullptr);
  /// Leaves without unit extents and strides 0, coalesced.
  Layout filter(const Map &layout);
  Map composition(const Map &lhs, const Map &rhs);
  Map composition(const Map &lhs, const Tile &tiler);
  /// Whether no value past the end of `lhs` is used. Unknown is false.
  bool compositionExact(const Map &lhs, const Map &rhs);
  Layout complement(const Map &layout, const IntTuple *codomain = nullptr);
  bool complementExact(const Map &layout, const IntTuple *codomain = nullptr);
  Map rightInverse(const Map &layout);
  Layout leftInverse(const Map &layout);

  //===--------------------------------------------------------------------===//
  // Divides, products, tiling (C10..C12, C23, C31). `tiler` is an integer, a
  // layout or a tile.
  //===--------------------------------------------------------------------===//
  Map logicalDivide(const Map &layout, const Value &tiler, bool strict = false);
  Map zippedDivide(const Map &layout, const Value &tiler, bool strict = false);
  Map tiledDivide(const Map &layout, const Value &tiler, bool strict = false);
  Map flatDivide(const Map &layout, const Value &tiler, bool strict = false);
  /// Whether tiler and rest visit every element exactly once. Unknown is false.
  bool divideExact(const Map &layout, const Value &tiler);
  /// Whether elements of `layout` are never visited by the divide.
  bool divideLossy(const Map &layout, const Value &tiler);
  Layout logicalProduct(const Map &lhs, const Value &rhs);
  Layout zippedProduct(const Map &lhs, const Value &rhs);
  Layout tiledProduct(const Map &lhs, const Value &rhs);
  Layout flatProduct(const Map &lhs, const Value &rhs);
  Layout blockedProduct(const Map &lhs, const Value &rhs);
  Layout rakedProduct(const Map &lhs, const Value &rhs);
  Map tileToShape(const Map &block, const IntTuple &shape, const IntTuple &order);
  /// The tile at coordinate `coord` of the rests; `*` keeps a rest mode.
  Map localTile(const Map &layout, const Value &tiler, const IntTuple &coord);
  /// What thread `thread` of the thread layout `tiler` owns.
  Map localPartition(const Map &layout, const Value &tiler, const IntTuple &thread);

  //===--------------------------------------------------------------------===//
  // Recast, vectorization (C18..C20, C22, C27, C30)
  //===--------------------------------------------------------------------===//
  Map recast(const Map &layout, int64_t from, int64_t to);
  int64_t maxCommonVector(const Map &lhs, const Map &rhs);
  int64_t maxAlignment(const Map &layout);
  /// Elements per access; alignments in bytes, `swizzle` on bytes.
  int64_t vectorWidth(const Map &source, const Map &destination, int64_t elementBits, int64_t sourceAlign,
                      int64_t destinationAlign, int64_t maxBits, const Swizzle &swizzle = {});

  //===--------------------------------------------------------------------===//
  // Thread-value layouts, partitions (C25, C26, C27, C28)
  //===--------------------------------------------------------------------===//
  /// Whether every element of [0, tile) belongs to exactly one (thread, value).
  bool checkTV(const Layout &tv, const Int &tile);
  Layout makeLayoutTV(const Layout &threads, const Layout &values, IntTuple *tile = nullptr);
  Partition copyPartition(const Layout &tensor, const Layout &tv, const IntTuple &tile, int64_t valuesPerAccess,
                          const Int &thread);
  /// `operand` is 'A' (M,K), 'B' (N,K) or 'C' (M,N).
  Partition mmaPartition(const Layout &tensor, const Layout &tv, llvm::ArrayRef<int64_t> atomShape, const Layout &atoms,
                         char operand, const Int &thread, const Tile *permutation = nullptr);

  //===--------------------------------------------------------------------===//
  // For the implementation and for clients that build on it
  //===--------------------------------------------------------------------===//
  /// Records a fault; the first one counts.
  void fail(unsigned constraint, const llvm::Twine &text, const llvm::Twine &note = "");
  bool failed() const { return fault.has_value(); }
  /// Proves that `divisor` divides `value`, or asserts it by policy, or faults
  /// with `constraint`.
  bool requireDivides(const Int &divisor, const Int &value, unsigned constraint, const llvm::Twine &what);
  /// Values of a static layout in colexicographic order of coordinates; faults
  /// when the domain exceeds the enumeration limit.
  llvm::SmallVector<IntTuple> table(const Map &layout);

private:
  struct Leaf {
    Int extent, stride;
  };
  using Leaves = llvm::SmallVector<Leaf, 8>;
  struct SortedLeaf {
    Int extent, stride;
    /// Stride of the leaf in the 1-D coordinate of the domain.
    Int position;
    /// Among the leaves of the layout; ties keep their order.
    unsigned index = 0;
  };
  /// Coefficient by path; the value of a layout with basis strides.
  struct Vector {
    llvm::SmallVector<std::pair<llvm::SmallVector<int32_t, 2>, Int>, 4> terms;
    Int scalar = 0;
  };
  /// Extents by path, as a tree.
  struct Paths {
    std::map<int32_t, Paths> children;
    std::optional<Int> leaf;
  };

  Int emit(IntBuilder::Op op, const Int &lhs, const Int &rhs, uint64_t divisor);
  bool isPlainInteger(const Int &value, llvm::StringRef what);

  void checkLayout(const Layout &layout);
  void checkShape(const IntTuple &shape);
  IntTuple compactStrides(const IntTuple &shape);

  bool filterModes(const Layout &layout, const IntTuple &coord, bool keepStars, std::vector<Layout> &kept);
  bool filterModes(const IntTuple &tuple, const IntTuple &coord, bool keepStars, std::vector<IntTuple> &kept);

  void addTo(Vector &sum, const Int &value);
  void evaluate(const IntTuple &coord, const IntTuple &shape, const IntTuple &stride, Vector &sum);
  IntTuple toCoordinate(const Vector &vector, const Layout &layout);
  IntTuple zeroCoordinate(const IntTuple &coord, const IntTuple &shape);
  Int colexIndex(const IntTuple &coord, const IntTuple &shape);
  bool collectPaths(const Layout &layout, bool extents, Paths &paths);

  Leaves coalesceLeaves(llvm::ArrayRef<Leaf> leaves);
  Leaves coalesceExtended(const Layout &layout);
  Layout fromLeaves(llvm::ArrayRef<Leaf> leaves);
  Leaves toLeaves(const Layout &layout);
  struct Used;
  Leaves composeLeaf(llvm::ArrayRef<Leaf> left, const Int &extent, const Int &stride, Used &used);
  void checkNoCarry(llvm::ArrayRef<Leaf> left, const Used &used);
  Layout composeLayout(const Layout &lhs, const Layout &rhs);
  bool requirePlain(const Map &layout, llvm::StringRef what, Layout &plain);
  llvm::SmallVector<SortedLeaf> sortLeaves(const Layout &layout, llvm::StringRef what, bool strict);
  Layout rightInverse(const Layout &layout, bool strict);
  Map mapOuter(const Map &layout, llvm::function_ref<Map(const Layout &)> function);
  Map byMode(const Layout &layout, const Tile &tiler, llvm::function_ref<Layout(const Layout &, const Layout &)> op);
  Layout divideLayout(const Layout &layout, const Layout &tiler, bool strict);
  std::pair<Layout, Layout> gather(const Layout &divided, const Value &tiler);
  Map divide(const Map &layout, const Value &tiler, bool strict,
             llvm::function_ref<Layout(const Layout &, const Layout &)> combine);
  Layout productLayout(const Layout &lhs, const Layout &rhs);
  Layout pairedProduct(const Map &lhs, const Value &rhs, bool leftFirst);
  bool toTiler(const Value &value, Layout &layout, const Tile *&tile);
  Layout recastLayout(const Layout &layout, int64_t ratio, bool widen);

  IntBuilder *builder;
  Policy policy;
  std::optional<Fault> fault;
};

/// The divisor of a sum; 0 is the divisor of the number 0, which every number
/// divides.
uint64_t gcdDivisors(uint64_t lhs, uint64_t rhs);
/// The divisor of a product; where the product exceeds 2^63 - 1, the larger of
/// the two, which divides it as well.
uint64_t mulDivisors(uint64_t lhs, uint64_t rhs);
/// Layout whose modes are the given ones; a single tuple keeps a wrapper.
Layout concat(llvm::ArrayRef<Layout> modes);
/// A wrapper `((a,b))` becomes `(a,b)` when it joins other modes.
Layout asMode(const Layout &layout);
/// N1: a leaf of extent 1 has stride 0.
Layout zeroUnits(const Layout &layout);

} // namespace atrex::layout

#endif // ATREX_LAYOUT_ALGEBRA_H
