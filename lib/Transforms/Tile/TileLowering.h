//===- TileLowering.h - Tiles to what one lane holds ------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common ground of `atx-distribute-tiles`: the kernel is rebuilt operation by
// operation; a tile becomes one vector of the lane's elements, in the order of
// its layout's registers. The lowerings of the operations stand in files of
// their own and use what is declared here.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_TILELOWERING_H
#define ATREX_LIB_TRANSFORMS_TILE_TILELOWERING_H

#include "AxisInfo.h"
#include "TileLayout.h"
#include "atrex/Analysis/LDSBanks.h"
#include "atrex/Target/Chip.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace atrex::tile {

using namespace mlir;

/// Elements of one tile that a lane can hold: its registers are 512 words.
constexpr int64_t maxRegistersPerTile = 1024;

/// A tile as one lane sees it.
struct TileValue {
  /// `vector<RxT>`, R being the layout's registers.
  Value vector;
  TileLayout layout;
  SmallVector<int64_t> shape;
  Type getElementType() const { return cast<VectorType>(vector.getType()).getElementType(); }
};

/// A tensor or shared memory.
struct MemoryRef {
  /// !llvm.ptr<1> or <3>.
  Value base;
  /// In elements; i64 values where not constant.
  SmallVector<OpFoldResult> sizes, strides;
  Type elementType;
  bool isShared = false;
  /// Elements of static memory, or -1.
  int64_t staticElements = -1;
};

/// A part of the scratch memory of the workgroup that holds elements by
/// coordinates.
struct LDSArray {
  /// Only coordinates `begin` to `end` - 1 along `windowDim` have a place.
  std::optional<unsigned> windowDim;
  int64_t begin = 0, end = 0;
  int64_t offset = 0;
  /// In elements.
  SmallVector<int64_t> strides;
  /// Type as stored.
  Type storage;
  int64_t bytes = 4;
  unsigned contiguousDim = 0;
  /// On byte offsets from the array's start, one after the other.
  SmallVector<layout::Swizzle, 2> swizzles;
  /// i32, bytes: added after the swizzle. Null for the first slot.
  Value slot;
  /// Scopes that tell accesses apart which cannot meet; null for none.
  ArrayAttr aliasScopes, noaliasScopes;
};

/// Where the swizzles of an array take a byte offset, and the size of the aligned blocks that they map onto themselves.
int64_t applySwizzles(ArrayRef<layout::Swizzle> swizzles, int64_t offset);
int64_t getSwizzleBlock(ArrayRef<layout::Swizzle> swizzles);
/// Elements that one access to an array can take: they follow one another in registers
/// and in memory, and every address they have is aligned.
int64_t getArrayVector(const LDSArray &array, const TileLayout &layout, ArrayRef<int64_t> shape, unsigned startDim,
                       int64_t start);
/// A tile of `shape` in memory with the dimensions of `order` from the contiguous one on and `pad` elements behind
/// each run; for a slot of `atx.stage_alloc`.
LDSArray arrangeArray(ArrayRef<int64_t> shape, Type storage, ArrayRef<int64_t> order, int64_t pad);
/// Elements from the first to the last, with padding.
int64_t getArrayElements(const LDSArray &array, ArrayRef<int64_t> shape);
/// Byte offsets, not swizzled, of the accesses with which the first wave writes or reads a tile.
LDSAccess describeArrayAccess(const LDSArray &array, const TileLayout &layout, ArrayRef<int64_t> shape, bool isWrite);
/// The registers of `from` that hold the registers of `to` where every work-item holds what it needs; nothing where
/// elements must move between work-items.
std::optional<SmallVector<int64_t>> findLocalConversion(const TileLayout &from, const TileLayout &to,
                                                        ArrayRef<int64_t> shape);

class TileEmitter {
public:
  TileEmitter(gpu::GPUFuncOp kernel, const ChipInfo &chip, bool bufferAccess)
      : b(kernel.getContext()), loc(kernel.getLoc()), kernel(kernel), chip(chip), bufferAccess(bufferAccess) {}

  LogicalResult run();

  //===--- Values -----------------------------------------------------------===//

  /// What stands for a scalar of the old body.
  Value getScalar(Value old) { return map.lookup(old); }
  /// What stands for a tile of the old body.
  TileValue getTile(Value old) { return {map.lookup(old), getLayout(old), getShape(old)}; }
  void setTile(Value old, Value vector) { map.map(old, vector); }
  void setScalar(Value old, Value value) { map.map(old, value); }
  /// The layout that `atx-assign-tile-layouts` left; run() has checked that there is one.
  const TileLayout &getLayout(Value old);
  static SmallVector<int64_t> getShape(Value old) {
    return llvm::to_vector(cast<VectorType>(old.getType()).getShape());
  }
  FailureOr<MemoryRef> getMemory(Value old, Operation *user);
  /// Whether the kernel writes to the memory. A load of what lies outside must then leave memory alone: any other place
  /// it could read instead may be one that someone writes.
  bool isWritten(Value memory) const;
  /// The array behind a stage, at `slot`.
  LDSArray getStage(Value old, Value slot);
  LogicalResult beginStage(Operation *op);
  void endStage(Operation *op);
  void writeStage(Value old, Value slot, const TileValue &tile);
  /// A write that is marked as direct; `isDone` is false where it must go through registers.
  LogicalResult copyToStage(atx::StageWriteOp write, bool &isDone);
  Value readStage(Value old, Value slot, const TileLayout &layout);
  /// A barrier of the old body, with the waits that make what was written before visible.
  void emitBarrier(Operation *op);
  /// Bytes from the start of an array to where the wave's first lane copies `bytes`; uniform, null for 0.
  Value getWaveStart(int64_t bytes);
  /// Where swizzles take a byte offset, or from where they do.
  Value exchange(Value offset, ArrayRef<layout::Swizzle> swizzles, bool isReversed);

  //===--- Small emission ---------------------------------------------------===//

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value boolean(bool value);
  Value zero(Type type);
  Value extract(Value vector, int64_t index);
  Value pack(ArrayRef<Value> elements);
  Value select(Value vector, ArrayRef<int64_t> registers);
  Value splat(Value scalar, int64_t count);
  Value concat(ArrayRef<Value> vectors);
  /// Integers to i64 by sign, index by cast.
  Value toI64(Value value);
  Value andMasks(Value a, Value b);
  /// A scalar that all lanes agree on, in a register of the wave.
  Value makeUniform(Value scalar);

  //===--- Coordinates ------------------------------------------------------===//

  Value getThread() { return thread; }
  /// Contribution of the work-item to the coordinate along `dim`, i32; null where 0.
  Value getThreadCoordinate(const TileLayout &layout, unsigned dim);
  Value getCoordinate(const TileLayout &layout, unsigned dim, int64_t reg);
  /// i1: register `reg` holds an element of the tile; null where all do.
  Value isAlive(const TileLayout &layout, ArrayRef<int64_t> shape, int64_t reg);
  static bool isAlwaysDead(const TileLayout &layout, ArrayRef<int64_t> shape, int64_t reg);
  /// i1: the first of the work-items with the same elements; null without copies.
  Value isFirstCopy(const TileLayout &layout);
  /// Elements beyond the extents become `neutral`.
  Value maskDead(const TileValue &tile, Value neutral);

  //===--- Lanes ------------------------------------------------------------===//

  /// The value of the work-item whose lane differs in `mask` (below 64). Where
  /// `agreed` bits below have been exchanged already, mirrors may serve.
  Value shuffleXor(Value scalar, int64_t mask, bool lowBitsAgree = false);
  /// The value of lane `lane` (i32) of the wave.
  Value shuffle(Value scalar, Value lane);
  /// The bits of a scalar as i32 words and back.
  SmallVector<Value> toWords(Value scalar);
  Value fromWords(ArrayRef<Value> words, Type type);

  //===--- Shared memory ----------------------------------------------------===//

  /// Space for `bytes` that no work-item still reads from; emits a barrier where
  /// that takes one.
  FailureOr<int64_t> acquireScratch(int64_t bytes, Operation *user);
  /// Spaces acquired while one of these lives do not overlap.
  struct ScratchHold {
    explicit ScratchHold(TileEmitter &e);
    ~ScratchHold() { e.held = false; }
    TileEmitter &e;
  };
  /// What was written to shared memory can be read; the last `keep` spaces are about to be.
  void ldsBarrier(unsigned keep = 1);
  Value getLDS(int64_t offset, Value byteOffset = {});
  /// The pointer to byte `constant` plus `lane` (i32, null for 0) of an array. `laneOffsets` has `lane` for every
  /// work-item where it depends on that alone, else it is empty.
  Value getArrayPointer(const LDSArray &array, Value lane, ArrayRef<int64_t> laneOffsets, int64_t constant);
  /// Elements as scratch memory holds them: i1 in bytes, narrow floats as integers.
  /// The byte of a packed float has zeros above its bits; it is the same register, as
  /// LLVM would take vectors of i4 apart in memory.
  Type getStorageType(Type element);
  Value toStorage(Value vector);
  Value fromStorage(Value vector, Type element);
  Value loadLDS(Type storage, int64_t count, Value pointer, int64_t align);
  void storeLDS(Value vector, Value pointer, int64_t align);
  /// Marks an access to shared memory with the scopes in force.
  void setScopes(Operation *access);

  /// An array for a tile of `extents`, rows along `contiguousDim`, padded against bank conflicts.
  FailureOr<LDSArray> acquireArray(ArrayRef<int64_t> extents, Type element, unsigned contiguousDim, Operation *user);
  /// Every element to its coordinates plus `start` along `dim`; without barrier.
  void writeArray(const LDSArray &array, const TileValue &tile, unsigned startDim = 0, int64_t start = 0);
  /// A tile of `shape` in `layout` from coordinates plus `starts`.
  Value readArray(const LDSArray &array, const TileLayout &layout, ArrayRef<int64_t> shape, Type element,
                  ArrayRef<int64_t> starts = {});
  /// Elements by row-major number, to see a tile with another shape.
  FailureOr<Value> reshapeThroughLDS(const TileValue &tile, const TileLayout &to, ArrayRef<int64_t> toShape,
                                     Operation *user);
  /// i1: register `reg` lies in the array's window; null where always, false constants where never.
  Value isInWindow(const LDSArray &array, const TileLayout &layout, int64_t reg);
  FailureOr<Value> convertLayout(const TileValue &tile, const TileLayout &to, Operation *user);
  /// Value of the first copy to all copies.
  FailureOr<Value> spreadFirstCopy(const TileValue &tile, Operation *user);

  //===--- Control flow -----------------------------------------------------===//

  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation *op);
  LogicalResult emitElementwise(Operation *op);
  /// Runs `body` under `condition`, or always where it is null.
  void emitIf(Value condition, function_ref<void()> body);
  /// `condition ? body() : otherwise`.
  Value emitIfValue(Value condition, Value otherwise, function_ref<Value()> body);
  void forgetScratch() { scratchUnknown = true; }

  OpBuilder b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const ChipInfo &chip;
  /// Loads and stores through buffer resources where offsets fit.
  bool bufferAccess;
  /// Tells of conversions through shared memory.
  bool remarks = false;
  /// Accesses marked as streaming do not stay in caches.
  bool streams = false;
  IndexAnalysis analysis;
  unsigned numConversions = 0, numLDSConversions = 0, numBarriers = 0, numOrderBarriers = 0, numVectorAccesses = 0,
           numScalarAccesses = 0, numDirectCopies = 0, numNonTemporal = 0;

private:
  LogicalResult emitFor(Operation *op);
  LogicalResult emitIfOp(Operation *op);
  LogicalResult emitWhile(Operation *op);
  LogicalResult emitConstant(Operation *op);
  LogicalResult checkLayouts();
  /// Stages are results of their allocation, and used while they live.
  LogicalResult checkStages();
  Type getLaneType(Value old);

  IRMapping map;
  DenseMap<Value, TileLayout> layouts;
  DenseMap<Value, MemoryRef> memories;
  /// Arguments and shared tiles that stores and atomics go to.
  DenseSet<Value> written;
  Value thread;
  /// Coordinates that depend on the work-item alone, computed at the entry.
  DenseMap<std::pair<int64_t, Attribute>, Value> coordinates;
  Operation *entryPoint = nullptr;

  LLVM::GlobalOp lds;
  /// The kernel's own memory, and the largest end of what lies behind it.
  int64_t sharedBytes = 0, ldsEnd = 0;
  struct Stage {
    LDSArray array;
    int64_t slotBytes = 0, slots = 1, begin = 0;
    /// Instructions that copy a tile without registers.
    int64_t copies = 0;
  };
  llvm::MapVector<Value, Stage> stages;
  bool hasDirectWrites = false;
  /// getWaveStart() by bytes.
  DenseMap<int64_t, Value> waveStarts;
  /// In force for the accesses that are being emitted.
  ArrayAttr aliasScopes, noaliasScopes;
  /// Where scratch begins behind the stages that live.
  int64_t scratchBase = 0, scratchEnd = 0;
  SmallVector<std::pair<int64_t, int64_t>> pending;
  int64_t nextScratch = 0;
  bool scratchUnknown = true, held = false;
};

/// Floats of 4 and 6 bits: tensors hold them without gaps, the first in the low
/// bits of its byte; scratch memory has a byte for each.
inline bool isPackedType(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 8; }

/// Layout rules that both passes share.
bool isElementwise(Operation *op);
/// What a load, store or atomic could do best: the dimension along which it is contiguous,
/// and the widest vectors that alignment, bounds and mask allow.
/// `inside`: indices that are known to be.
AccessPattern analyzeAccess(IndexAnalysis &analysis, Value memory, ValueRange indices, Value mask,
                            ArrayRef<int64_t> shape, ArrayRef<int64_t> inside = {});
/// The attribute of a load whose positions along these indices are inside of the tensor, and its value.
constexpr llvm::StringLiteral insideAttrName = "atx.inside";
ArrayRef<int64_t> getInside(Operation *op);

/// An index as a sum: constant + scalars + coordinates of the tile.
struct LinearIndex {
  int64_t constant = 0;
  SmallVector<std::pair<Value, int64_t>> scalars;
  SmallVector<std::pair<unsigned, int64_t>> coordinates;
};

/// Adds `coefficient` times `value`, an index of a tile of rank `rank` whose dimension i is `dims[i]` of the
/// tile, to `index`; false where it is no such sum. Scalars are taken as they are.
bool decomposeIndex(Value value, unsigned rank, int64_t coefficient, ArrayRef<unsigned> dims, LinearIndex &index,
                    unsigned depth = 0);

/// `value` as constants and other scalars times numbers, added to `form`.
void addScalar(LinearIndex &form, Value value, int64_t coefficient, unsigned depth = 0);

/// What a view is a view of.
Value getMemoryRoot(Value memory);

/// Loads and stores of tiles whose elements no other workgroup, iteration or access touches.
DenseSet<Operation *> findStreamingAccesses(gpu::GPUFuncOp kernel);
/// The attribute that `atx-assign-tile-layouts` gives them, which loads keep when they are moved ahead.
constexpr llvm::StringLiteral streamingAttrName = "atx.streaming";

/// Places barriers so that loads see what statements before them have written and nothing of those behind, in
/// shared memory also the last of several stores. Returns their number.
unsigned orderAccesses(TileEmitter &e);

/// A lane's vector, or a scalar, of floats of at most 8 bits as wider floats; exact to f32 and f16.
Value widenFloat(TileEmitter &e, Value value, Type element);
/// Floats of any width as floats of at most 8 bits, nearest even.
Value narrowFloat(TileEmitter &e, Value value, Type element, bool saturate);

/// Packed elements as i4 or i6 fields of `chunks` of up to 32 bits: `count` elements
/// as a vector, and back.
Value unpackElements(TileEmitter &e, ArrayRef<Value> chunks, Type element, int64_t count);
SmallVector<Value> packElements(TileEmitter &e, Value vector, unsigned chunkBits);

//===--- Lowerings of operations, one file each kind ---------------------------===//

/// A tile that goes from a tensor to a slot of a stage without passing through registers: every work-item copies
/// `count` times `bytes` along `contiguousDim`.
struct DirectCopy {
  int64_t bytes = 0, count = 0;
  unsigned contiguousDim = 0;
};
/// The attribute of an `atx.stage_write` whose tile is loaded right there, and of a barrier: how many of the last
/// tiles copied to each stage may still be on their way behind it.
constexpr llvm::StringLiteral directAttrName = "atx.direct", inFlightAttrName = "atx.in_flight";
/// The attribute of `atx.stage_alloc` for stages in the same place, no two of which hold a tile at a time: 0 for the
/// first, then 1, 2, ... for those that begin where the one before begins.
constexpr llvm::StringLiteral overlayAttrName = "atx.overlay";
/// The copy of what `load` reads, with the chip's widest instruction; nothing with a reason where there is none.
/// `narrowToo`: with 4 bytes for a lane as well.
std::optional<DirectCopy> planDirectCopy(IndexAnalysis &analysis, atx::TileLoadOp load, int64_t threads,
                                         const ChipInfo &chip, bool narrowToo, std::string &reason);
/// Whether an array holds the bytes of its elements without gaps, and swizzles that keep `bytes` together map it
/// onto itself.
bool isLinearArray(const LDSArray &array, ArrayRef<int64_t> shape, int64_t bytes);
bool isDirectWrite(Operation *op);
/// `isDone` is false where the tile must go through registers.
LogicalResult lowerDirectCopy(TileEmitter &e, atx::StageWriteOp write, bool &isDone);
LogicalResult lowerLoadNow(TileEmitter &e, atx::TileLoadOp load);
LogicalResult lowerLoad(TileEmitter &e, Operation *op);
LogicalResult lowerStore(TileEmitter &e, Operation *op);
LogicalResult lowerAtomic(TileEmitter &e, Operation *op);
LogicalResult lowerReduce(TileEmitter &e, Operation *op);
LogicalResult lowerScan(TileEmitter &e, Operation *op);
LogicalResult lowerTopk(TileEmitter &e, Operation *op);
LogicalResult lowerRank(TileEmitter &e, Operation *op);
LogicalResult lowerHistogram(TileEmitter &e, Operation *op);
LogicalResult lowerConcat(TileEmitter &e, Operation *op);
LogicalResult lowerTake(TileEmitter &e, Operation *op);
LogicalResult lowerConvert(TileEmitter &e, Operation *op);
LogicalResult lowerFloatCast(TileEmitter &e, Operation *op);
LogicalResult lowerContract(TileEmitter &e, Operation *op);
LogicalResult lowerRaw(TileEmitter &e, Operation *op);
LogicalResult lowerStageWrite(TileEmitter &e, Operation *op);
LogicalResult lowerStageRead(TileEmitter &e, Operation *op);

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_TILELOWERING_H
