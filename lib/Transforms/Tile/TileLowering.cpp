//===- TileLowering.cpp - Tiles to what one lane holds --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "Combine.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

//===----------------------------------------------------------------------===//
// Small emission
//===----------------------------------------------------------------------===//

Value TileEmitter::i32(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value))); }
Value TileEmitter::i64(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
Value TileEmitter::boolean(bool value) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(value)); }
Value TileEmitter::zero(Type type) { return arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type))); }

Value TileEmitter::extract(Value vector, int64_t index) {
  if (auto pack = vector.getDefiningOp<vector::FromElementsOp>())
    return pack.getElements()[index];
  if (auto broadcast = vector.getDefiningOp<vector::BroadcastOp>())
    if (!isa<VectorType>(broadcast.getSourceType()))
      return broadcast.getSource();
  return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{index});
}

Value TileEmitter::pack(ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(b, loc, VectorType::get(int64_t(elements.size()), elements.front().getType()),
                                        elements);
}

/// The backend takes vectors of bytes apart one by one where it can, so they move in words.
static bool isByte(Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 8; }

Value TileEmitter::select(Value vector, ArrayRef<int64_t> registers) {
  auto type = cast<VectorType>(vector.getType());
  bool identity = type.getNumElements() == int64_t(registers.size());
  bool same = true, run = true;
  for (auto [i, reg] : llvm::enumerate(registers)) {
    identity &= reg == int64_t(i);
    same &= reg == registers.front();
    run &= reg == registers.front() + int64_t(i);
  }
  if (identity)
    return vector;
  if (same && registers.size() > 1)
    return splat(extract(vector, registers.front()), registers.size());
  bool isWords = isByte(type.getElementType()) && type.getNumElements() % 4 == 0 && registers.size() % 4 == 0;
  for (auto [i, reg] : llvm::enumerate(registers))
    isWords = isWords && (i % 4 == 0 ? reg % 4 == 0 : reg == registers[i - 1] + 1);
  if (isWords) {
    SmallVector<int64_t> words;
    for (size_t i = 0; i < registers.size(); i += 4)
      words.push_back(registers[i] / 4);
    Value from = vector::BitCastOp::create(b, loc, VectorType::get(type.getNumElements() / 4, b.getI32Type()), vector);
    return vector::BitCastOp::create(b, loc, VectorType::get(int64_t(registers.size()), type.getElementType()),
                                     select(from, words));
  }
  if (run && registers.size() > 1 && !vector.getDefiningOp<vector::FromElementsOp>())
    return vector::ExtractStridedSliceOp::create(b, loc, vector, ArrayRef<int64_t>{registers.front()},
                                                 ArrayRef<int64_t>{int64_t(registers.size())}, ArrayRef<int64_t>{1});
  SmallVector<Value> elements;
  DenseMap<int64_t, Value> known;
  for (int64_t reg : registers) {
    Value &element = known[reg];
    if (!element)
      element = extract(vector, reg);
    elements.push_back(element);
  }
  return pack(elements);
}

Value TileEmitter::splat(Value scalar, int64_t count) {
  return vector::BroadcastOp::create(b, loc, VectorType::get(count, scalar.getType()), scalar);
}

Value TileEmitter::concat(ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors.front();
  auto holdsWords = [](Value vector) {
    auto type = cast<VectorType>(vector.getType());
    return isByte(type.getElementType()) && type.getNumElements() % 4 == 0;
  };
  if (llvm::all_of(vectors, holdsWords)) {
    SmallVector<Value> words;
    int64_t bytes = 0;
    for (Value vector : vectors) {
      int64_t count = cast<VectorType>(vector.getType()).getNumElements();
      bytes += count;
      words.push_back(vector::BitCastOp::create(b, loc, VectorType::get(count / 4, b.getI32Type()), vector));
    }
    return vector::BitCastOp::create(b, loc, VectorType::get(bytes, getElementTypeOrSelf(vectors.front().getType())),
                                     concat(words));
  }
  SmallVector<Value> elements;
  for (Value vector : vectors)
    for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i)
      elements.push_back(extract(vector, i));
  return pack(elements);
}

Value TileEmitter::toI64(Value value) {
  if (value.getType().isInteger(64))
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  return arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
}

Value TileEmitter::andMasks(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  return arith::AndIOp::create(b, loc, a, c);
}

SmallVector<Value> TileEmitter::toWords(Value scalar) {
  Type type = scalar.getType();
  if (type.isIndex()) {
    scalar = arith::IndexCastOp::create(b, loc, b.getI64Type(), scalar);
    type = scalar.getType();
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (!isa<IntegerType>(type))
    scalar = arith::BitcastOp::create(b, loc, b.getIntegerType(bits), scalar);
  if (bits == 32)
    return {scalar};
  if (bits < 32)
    return {arith::ExtUIOp::create(b, loc, b.getI32Type(), scalar)};
  Value low = arith::TruncIOp::create(b, loc, b.getI32Type(), scalar);
  Value high =
      arith::TruncIOp::create(b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, scalar, i64(32)).getResult());
  return {low, high};
}

Value TileEmitter::fromWords(ArrayRef<Value> words, Type type) {
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  Value value = words[0];
  if (bits == 64) {
    Value low = arith::ExtUIOp::create(b, loc, b.getI64Type(), words[0]);
    Value high = arith::ExtUIOp::create(b, loc, b.getI64Type(), words[1]);
    value = arith::OrIOp::create(b, loc, low, arith::ShLIOp::create(b, loc, high, i64(32)).getResult());
  } else if (bits < 32) {
    value = arith::TruncIOp::create(b, loc, b.getIntegerType(bits), value);
  }
  if (type.isIndex())
    return arith::IndexCastOp::create(b, loc, type, value);
  if (!isa<IntegerType>(type))
    value = arith::BitcastOp::create(b, loc, type, value);
  return value;
}

Value TileEmitter::makeUniform(Value scalar) {
  Type type = scalar.getType();
  if (!type.isIntOrIndexOrFloat())
    return scalar;
  SmallVector<Value> words = toWords(scalar);
  for (Value &word : words)
    word = ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(), word);
  return fromWords(words, type);
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Value TileEmitter::getThreadCoordinate(const TileLayout &layout, unsigned dim) {
  if (layout.getThreadBits(dim) == 0)
    return {};
  // One number for each list of thread modes and steps.
  SmallVector<int64_t> key;
  for (auto [i, mode] : llvm::enumerate(layout.getModes(dim)))
    if (mode.isThread)
      key.append({layout.getStep(dim, i), mode.size, mode.stride});
  Value &cached = coordinates[{layout.getThreads(), b.getDenseI64ArrayAttr(key)}];
  if (cached)
    return cached;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(entryPoint);
  Value sum;
  for (size_t i = 0; i < key.size(); i += 3) {
    int64_t step = key[i], size = key[i + 1], stride = key[i + 2];
    Value digit = thread;
    if (stride != 1)
      digit = arith::ShRUIOp::create(b, loc, digit, i32(llvm::Log2_64(stride)));
    if (stride * size != layout.getThreads())
      digit = arith::AndIOp::create(b, loc, digit, i32(size - 1));
    if (step != 1)
      digit = llvm::isPowerOf2_64(step) ? Value(arith::ShLIOp::create(b, loc, digit, i32(llvm::Log2_64(step))))
                                        : Value(arith::MulIOp::create(b, loc, digit, i32(step)));
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, digit,
                                            arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw))
              : digit;
  }
  entryPoint = sum.getDefiningOp();
  return coordinates[{layout.getThreads(), b.getDenseI64ArrayAttr(key)}] = sum;
}

Value TileEmitter::getCoordinate(const TileLayout &layout, unsigned dim, int64_t reg) {
  Value base = getThreadCoordinate(layout, dim);
  int64_t offset = layout.getRegisterCoordinate(dim, reg);
  if (!base)
    return i32(offset);
  if (offset == 0)
    return base;
  return arith::AddIOp::create(b, loc, base, i32(offset),
                               arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
}

/// Bound of what work-items add to the coordinate of register `reg` along `dim` where it is inside of an extent; 0
/// where it never is, and nothing where it always is. What they add are multiples of a step: registers that lie within
/// one have the same bound.
static std::optional<int64_t> getThreadLimit(const TileLayout &layout, unsigned dim, int64_t extent, int64_t reg) {
  int64_t at = layout.getRegisterCoordinate(dim, reg);
  if (at >= extent)
    return 0;
  int64_t limit = llvm::alignTo(extent - at, layout.getThreadStep(dim));
  if (layout.getMaxThreadCoordinate(dim) < limit)
    return std::nullopt;
  return limit;
}

Value TileEmitter::isAlive(const TileLayout &layout, ArrayRef<int64_t> shape, int64_t reg) {
  Value alive;
  for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
    std::optional<int64_t> limit = getThreadLimit(layout, dim, shape[dim], reg);
    if (!limit)
      continue;
    Value base = getThreadCoordinate(layout, dim);
    if (*limit == 0 || !base)
      return boolean(false);
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, base, i32(*limit));
    alive = andMasks(alive, inside);
  }
  return alive;
}

bool TileEmitter::isAlwaysDead(const TileLayout &layout, ArrayRef<int64_t> shape, int64_t reg) {
  for (unsigned dim = 0; dim < layout.getRank(); ++dim)
    if (layout.getRegisterCoordinate(dim, reg) >= shape[dim])
      return true;
  return false;
}

Value TileEmitter::isFirstCopy(const TileLayout &layout) {
  uint64_t bits = layout.getReplicaBits();
  if (bits == 0)
    return {};
  Value own = arith::AndIOp::create(b, loc, thread, i32(bits));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, own, i32(0));
}

Value TileEmitter::maskDead(const TileValue &tile, Value neutral) {
  int64_t count = tile.layout.getNumRegisters();
  SmallVector<Value> elements;
  bool any = false;
  for (int64_t reg = 0; reg < count; ++reg) {
    Value element = extract(tile.vector, reg);
    if (isAlwaysDead(tile.layout, tile.shape, reg)) {
      element = neutral;
      any = true;
    } else if (Value alive = isAlive(tile.layout, tile.shape, reg)) {
      element = arith::SelectOp::create(b, loc, alive, element, neutral);
      any = true;
    }
    elements.push_back(element);
  }
  return any ? pack(elements) : tile.vector;
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Value TileEmitter::shuffle(Value scalar, Value lane) {
  Value address = arith::ShLIOp::create(b, loc, lane, i32(2));
  SmallVector<Value> words = toWords(scalar);
  for (Value &word : words)
    word = ROCDL::DsBpermuteOp::create(b, loc, b.getI32Type(), address, word);
  return fromWords(words, scalar.getType());
}

Value TileEmitter::shuffleXor(Value scalar, int64_t mask, bool lowBitsAgree) {
  // Controls of DPP: quad_perm, row_half_mirror, row_mirror, row_ror.
  std::optional<uint32_t> dpp;
  if (mask == 1)
    dpp = 0xB1; // quad_perm [1, 0, 3, 2]
  else if (mask == 2)
    dpp = 0x4E; // quad_perm [2, 3, 0, 1]
  else if (mask == 3)
    dpp = 0x1B; // quad_perm [3, 2, 1, 0]
  else if (mask == 4 && lowBitsAgree)
    dpp = 0x141; // lane ^ 7
  else if (mask == 8)
    dpp = 0x128; // rotation of 16 by 8
  if (!dpp && mask >= 32) {
    Value own = arith::AndIOp::create(b, loc, thread, i32(63));
    return shuffle(scalar, arith::XOrIOp::create(b, loc, own, i32(mask)));
  }
  SmallVector<Value> words = toWords(scalar);
  for (Value &word : words)
    if (dpp)
      word = ROCDL::DPPUpdateOp::create(b, loc, word.getType(), word, word, *dpp, 0xF, 0xF, true);
    else
      // Bit mode: and 0x1F, or 0, xor mask, inside 32 lanes.
      word = ROCDL::DsSwizzleOp::create(b, loc, b.getI32Type(), word, i32(0x1F | (mask << 10)));
  return fromWords(words, scalar.getType());
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

TileEmitter::ScratchHold::ScratchHold(TileEmitter &e) : e(e) {
  if (e.scratchUnknown || !e.pending.empty())
    e.ldsBarrier(0);
  e.nextScratch = 0;
  e.held = true;
}

/// The place of an operation in the source; of its first use for what has none,
/// like constants.
static Location getKnownLoc(Operation *op) {
  for (unsigned depth = 0; depth < 8 && isa<UnknownLoc>(op->getLoc()); ++depth) {
    if (op->use_empty())
      break;
    op = *op->user_begin();
  }
  return op->getLoc();
}

FailureOr<int64_t> TileEmitter::acquireScratch(int64_t bytes, Operation *user) {
  bytes = llvm::alignTo(std::max<int64_t>(bytes, 16), 16);
  int64_t taken = scratchBase + (held ? nextScratch : 0), room = int64_t(chip.ldsBytesPerCU) - taken;
  if (bytes > room) {
    InFlightDiagnostic diagnostic = emitError(getKnownLoc(user)) << "'" << user->getName() << "'";
    for (Value operand : user->getOperands())
      if (isa<VectorType>(operand.getType())) {
        diagnostic << " of a tile of type " << operand.getType();
        break;
      }
    diagnostic << " needs " << bytes << " bytes of shared memory, and " << room << " of the " << chip.ldsBytesPerCU
               << " of " << chip.arch << " are free";
    if (taken)
      diagnostic << " beside the 'shared' tiles and what it holds already";
    diagnostic << "; use smaller tiles";
    return diagnostic;
  }
  // Behind the last use, so that the next writes do not wait for its reads.
  int64_t soft = std::min<int64_t>(room, std::max<int64_t>(scratchEnd, 8192));
  if (!held && nextScratch + bytes > soft)
    nextScratch = 0;
  int64_t offset = nextScratch;
  bool meets = scratchUnknown ||
               llvm::any_of(pending, [&](auto range) { return range.first < offset + bytes && offset < range.second; });
  if (meets) {
    ldsBarrier();
    pending.clear();
    scratchUnknown = false;
  }
  pending.push_back({offset, offset + bytes});
  nextScratch = offset + bytes;
  scratchEnd = std::max(scratchEnd, offset + bytes);
  ldsEnd = std::max(ldsEnd, scratchBase + offset + bytes);
  return scratchBase + offset;
}

/// LLVM drops the wait of a barrier at the head of a loop when nothing is on its way
/// from before the loop, though its body may have left writes: it deletes what the
/// fence asks for when it sees the block first. An explicit wait stays.
static void waitForLDS(OpBuilder &b, Location loc, std::optional<int64_t> vectorMemory = {}) {
  // GFX9: lgkmcnt 0 in bits 8 to 11, exports unlimited in bits 4 to 6, vector memory in bits 0 to 3 and 14 to 15.
  int64_t count = std::min<int64_t>(vectorMemory.value_or(63), 63);
  ROCDL::SWaitcntOp::create(b, loc, b.getI32IntegerAttr((count & 15) | (count >> 4) << 14 | 0x70));
}

void TileEmitter::emitBarrier(Operation *op) {
  // Copies to shared memory are counted like loads. They arrive in order, so those that may be on their way are
  // the last ones.
  std::optional<int64_t> copies;
  if (hasDirectWrites) {
    auto tiles = op->getAttrOfType<IntegerAttr>(inFlightAttrName);
    copies = 0;
    if (tiles && tiles.getInt() > 0)
      for (auto &[value, stage] : stages)
        *copies += tiles.getInt() * stage.copies;
  }
  waitForLDS(b, loc, copies);
  Operation *barrier = b.clone(*op, map);
  if (!copies || *copies == 0)
    barrier->removeAttr(inFlightAttrName);
  pending.clear();
  scratchUnknown = false;
}

void TileEmitter::ldsBarrier(unsigned keep) {
  ++numBarriers;
  waitForLDS(b, loc);
  amdgpu::LDSBarrierOp::create(b, loc);
  // Earlier reads are done; the last use is about to be read.
  scratchUnknown = false;
  if (pending.size() > keep)
    pending.erase(pending.begin(), pending.end() - keep);
}

Value TileEmitter::getLDS(int64_t offset, Value byteOffset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 3);
  Value pointer = LLVM::AddressOfOp::create(b, loc, type, lds.getSymName());
  if (byteOffset)
    pointer = LLVM::GEPOp::create(b, loc, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{byteOffset},
                                  LLVM::GEPNoWrapFlags::inbounds);
  if (offset)
    pointer = LLVM::GEPOp::create(b, loc, type, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{int32_t(offset)},
                                  LLVM::GEPNoWrapFlags::inbounds);
  return pointer;
}

Type TileEmitter::getStorageType(Type element) {
  if (element.isIndex())
    return b.getI64Type();
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits < 8)
    return b.getI8Type();
  if (bits == 8)
    return b.getI8Type();
  return element;
}

static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Value TileEmitter::toStorage(Value vector) {
  Type type = vector.getType(), element = getElementTypeOrSelf(type);
  Type storage = getStorageType(element);
  if (storage == element)
    return vector;
  if (element.isIndex())
    return arith::IndexCastOp::create(b, loc, withElement(type, storage), vector);
  if (isPackedType(element))
    return UnrealizedConversionCastOp::create(b, loc, withElement(type, storage), vector).getResult(0);
  unsigned bits = element.getIntOrFloatBitWidth();
  if (!isa<IntegerType>(element))
    vector = arith::BitcastOp::create(b, loc, withElement(type, b.getIntegerType(bits)), vector);
  if (bits < 8)
    vector = arith::ExtUIOp::create(b, loc, withElement(type, storage), vector);
  return vector;
}

Value TileEmitter::fromStorage(Value vector, Type element) {
  Type type = vector.getType(), storage = getElementTypeOrSelf(type);
  if (storage == element)
    return vector;
  if (element.isIndex())
    return arith::IndexCastOp::create(b, loc, withElement(type, element), vector);
  if (isPackedType(element))
    return UnrealizedConversionCastOp::create(b, loc, withElement(type, element), vector).getResult(0);
  unsigned bits = element.getIntOrFloatBitWidth();
  if (element.isInteger(1)) {
    // Any byte that is not 0 is true.
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, vector, zero(type));
  }
  if (bits < 8)
    vector = arith::TruncIOp::create(b, loc, withElement(type, b.getIntegerType(bits)), vector);
  if (!isa<IntegerType>(element))
    vector = arith::BitcastOp::create(b, loc, withElement(type, element), vector);
  return vector;
}

// LLVM joins neighbouring accesses of less than a word to misaligned ones, which are
// slow and not allowed everywhere; it leaves atomic ones alone.

Value TileEmitter::loadLDS(Type storage, int64_t count, Value pointer, int64_t align) {
  if (count != 1 || storage.getIntOrFloatBitWidth() >= 32) {
    auto load =
        LLVM::LoadOp::create(b, loc, count != 1 ? Type(VectorType::get(count, storage)) : storage, pointer, align);
    setScopes(load);
    return count != 1 ? load.getResult() : splat(load, 1);
  }
  unsigned bits = storage.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  Value loaded = LLVM::LoadOp::create(b, loc, integer, pointer, align, /*isVolatile=*/false, /*isNonTemporal=*/false,
                                      /*isInvariant=*/false, /*isInvariantGroup=*/false,
                                      LLVM::AtomicOrdering::monotonic, "singlethread");
  setScopes(loaded.getDefiningOp());
  if (integer != storage)
    loaded = arith::BitcastOp::create(b, loc, storage, loaded);
  return splat(loaded, 1);
}

void TileEmitter::storeLDS(Value vector, Value pointer, int64_t align) {
  auto type = cast<VectorType>(vector.getType());
  unsigned bits = type.getElementTypeBitWidth();
  if (type.getNumElements() != 1 || bits >= 32) {
    Value value = type.getNumElements() != 1 ? vector : extract(vector, 0);
    setScopes(LLVM::StoreOp::create(b, loc, value, pointer, align));
    return;
  }
  Value value = extract(vector, 0);
  Type integer = b.getIntegerType(bits);
  if (value.getType() != integer)
    value = arith::BitcastOp::create(b, loc, integer, value);
  setScopes(LLVM::StoreOp::create(b, loc, value, pointer, align, /*isVolatile=*/false, /*isNonTemporal=*/false,
                                  /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, "singlethread"));
}

void TileEmitter::setScopes(Operation *access) {
  if (!aliasScopes)
    return;
  auto interface = cast<LLVM::AliasAnalysisOpInterface>(access);
  interface.setAliasScopes(aliasScopes);
  interface.setNoAliasScopes(noaliasScopes);
}

FailureOr<LDSArray> TileEmitter::acquireArray(ArrayRef<int64_t> extents, Type element, unsigned contiguousDim,
                                              Operation *user) {
  LDSArray array;
  array.storage = getStorageType(element);
  array.bytes = array.storage.getIntOrFloatBitWidth() / 8;
  array.contiguousDim = contiguousDim;
  array.strides.resize(extents.size(), 1);
  int64_t quantum = std::max<int64_t>(1, 16 / array.bytes), next = 1;
  int64_t room = int64_t(chip.ldsBytesPerCU) - scratchBase - (held ? nextScratch : 0);
  if (!extents.empty()) {
    next = extents[contiguousDim];
    int64_t rowCount = llvm::product_of(extents) / extents[contiguousDim];
    // Without padding where it would not fit.
    if (rowCount > 1 && next > 1 && rowCount * (next + 2 * quantum) * array.bytes <= room) {
      next = llvm::alignTo(next, next * array.bytes >= 16 ? quantum : 1);
      // Rows of whole bank cycles would meet in the same banks.
      if (next * array.bytes % 64 == 0)
        next += quantum;
    }
  }
  for (int64_t dim = int64_t(extents.size()) - 1; dim >= 0; --dim) {
    if (dim == contiguousDim)
      continue;
    array.strides[dim] = next;
    if (llvm::MulOverflow(next, extents[dim], next) || next > (int64_t(1) << 30))
      return user->emitError() << "'" << user->getName() << "' would need more than 2^30 elements of shared memory",
             failure();
  }
  FailureOr<int64_t> offset = acquireScratch(next * array.bytes, user);
  if (failed(offset))
    return failure();
  array.offset = *offset;
  return array;
}

int64_t tile::getArrayVector(const LDSArray &array, const TileLayout &layout, ArrayRef<int64_t> shape,
                             unsigned startDim, int64_t start) {
  if (array.strides.empty())
    return 1;
  int64_t run = layout.getRunLength(array.contiguousDim);
  int64_t vector = std::min<int64_t>(run & -run, std::max<int64_t>(1, 16 / array.bytes));
  // Some of a run dead would be written too.
  while (shape[array.contiguousDim] % vector != 0)
    vector /= 2;
  if (array.windowDim == array.contiguousDim)
    vector = 1;
  while (array.offset % (vector * array.bytes) != 0)
    vector /= 2;
  for (unsigned dim = 0; dim < array.strides.size(); ++dim)
    if (dim != array.contiguousDim && layout.getPaddedExtent(dim) > 1)
      while (array.strides[dim] % vector != 0)
        vector /= 2;
  if (start != 0)
    while (start * array.strides[startDim] % vector != 0)
      vector /= 2;
  return vector;
}

/// By work-item: bytes that its coordinates add, where they are limited of these at most. Empty where nothing asks for
/// them.
static SmallVector<int64_t> getLaneOffsets(const LDSArray &array, const TileLayout &layout,
                                           ArrayRef<int64_t> limits = {}) {
  SmallVector<int64_t> offsets;
  if (array.swizzles.empty())
    return offsets;
  for (int64_t thread = 0; thread < layout.getThreads(); ++thread) {
    int64_t offset = 0;
    for (unsigned dim = 0; dim < layout.getRank(); ++dim)
      offset += std::min(layout.getThreadCoordinate(dim, thread), limits.empty() ? INT64_MAX : limits[dim]) *
                array.strides[dim] * array.bytes;
    offsets.push_back(offset);
  }
  return offsets;
}

void TileEmitter::writeArray(const LDSArray &array, const TileValue &tile, unsigned startDim, int64_t start) {
  Value stored = toStorage(tile.vector);
  emitIf(isFirstCopy(tile.layout), [&] {
    Value base;
    for (unsigned dim = 0; dim < tile.layout.getRank(); ++dim)
      if (Value coordinate = getThreadCoordinate(tile.layout, dim)) {
        Value term = arith::MulIOp::create(b, loc, coordinate, i32(array.strides[dim] * array.bytes));
        base = base ? Value(arith::AddIOp::create(b, loc, base, term)) : term;
      }
    SmallVector<int64_t> laneOffsets = getLaneOffsets(array, tile.layout);
    int64_t vector = getArrayVector(array, tile.layout, tile.shape, startDim, start);
    int64_t count = tile.layout.getNumRegisters();
    // Those that the same work-items write stand together behind one branch.
    SmallVector<std::pair<std::vector<int64_t>, SmallVector<int64_t>>> groups;
    for (int64_t reg = 0; reg < count; reg += vector) {
      if (isAlwaysDead(tile.layout, tile.shape, reg))
        continue;
      std::vector<int64_t> key;
      for (unsigned dim = 0; dim < tile.layout.getRank(); ++dim)
        key.push_back(getThreadLimit(tile.layout, dim, tile.shape[dim], reg).value_or(INT64_MAX));
      if (array.windowDim)
        key.push_back(tile.layout.getRegisterCoordinate(*array.windowDim, reg));
      auto *group = llvm::find_if(groups, [&](const auto &entry) { return entry.first == key; });
      if (group == groups.end())
        group = &groups.emplace_back(key, SmallVector<int64_t>());
      group->second.push_back(reg);
    }
    for (const auto &group : groups) {
      ArrayRef<int64_t> members = group.second;
      int64_t first = members.front();
      // The array ends with the last element: what lies beyond belongs to others.
      emitIf(andMasks(isAlive(tile.layout, tile.shape, first), isInWindow(array, tile.layout, first)), [&] {
        for (int64_t reg : members) {
          int64_t at = start == 0 ? 0 : start * array.strides[startDim];
          for (unsigned dim = 0; dim < tile.layout.getRank(); ++dim)
            at += tile.layout.getRegisterCoordinate(dim, reg) * array.strides[dim];
          if (array.windowDim)
            at -= array.begin * array.strides[*array.windowDim];
          SmallVector<int64_t> regs;
          for (int64_t i = 0; i < vector; ++i)
            regs.push_back(reg + i);
          storeLDS(select(stored, regs), getArrayPointer(array, base, laneOffsets, at * array.bytes),
                   vector * array.bytes);
        }
      });
    }
  });
}

Value TileEmitter::readArray(const LDSArray &array, const TileLayout &layout, ArrayRef<int64_t> shape, Type element,
                             ArrayRef<int64_t> starts) {
  unsigned rank = layout.getRank();
  // Lanes whose elements may be dead read at the last element instead.
  SmallVector<bool> clamped(rank, false);
  for (unsigned dim = 0; dim < rank; ++dim)
    clamped[dim] = layout.getPaddedExtent(dim) > shape[dim] || array.windowDim == dim;
  int64_t constantStart = 0;
  for (auto [start, stride] : llvm::zip(starts, array.strides))
    constantStart += start * stride;
  int64_t vector = getArrayVector(array, layout, shape, array.contiguousDim, 0);
  while (constantStart % vector != 0)
    vector /= 2;
  // By bounds of the work-items' coordinates: what they add to an address, and its values.
  struct Base {
    std::vector<int64_t> limits;
    Value address;
    SmallVector<int64_t> laneOffsets;
  };
  SmallVector<Base> bases;
  auto getBase = [&](const std::vector<int64_t> &limits) -> const Base & {
    for (const Base &base : bases)
      if (base.limits == limits)
        return base;
    Base base{limits, Value(), {}};
    for (unsigned dim = 0; dim < rank; ++dim) {
      Value coordinate = limits[dim] == 0 ? Value() : getThreadCoordinate(layout, dim);
      if (!coordinate)
        continue;
      if (limits[dim] != INT64_MAX)
        coordinate = arith::MinSIOp::create(b, loc, coordinate, i32(limits[dim]));
      Value term = arith::MulIOp::create(b, loc, coordinate, i32(array.strides[dim] * array.bytes));
      base.address = base.address ? Value(arith::AddIOp::create(b, loc, base.address, term)) : term;
    }
    base.laneOffsets = getLaneOffsets(array, layout, limits);
    return bases.emplace_back(std::move(base));
  };
  int64_t count = layout.getNumRegisters();
  SmallVector<Value> pieces;
  for (int64_t reg = 0; reg < count; reg += vector) {
    int64_t at = constantStart;
    std::vector<int64_t> limits(rank, INT64_MAX);
    Value inWindow;
    for (unsigned dim = 0; dim < rank; ++dim) {
      int64_t offset = layout.getRegisterCoordinate(dim, reg);
      if (array.windowDim == dim) {
        limits[dim] = 0;
        Value inside = arith::MaxSIOp::create(b, loc, getCoordinate(layout, dim, reg), i32(array.begin));
        inside = arith::MinSIOp::create(b, loc, inside, i32(array.end - 1));
        inWindow = arith::MulIOp::create(b, loc, inside, i32(array.strides[dim] * array.bytes));
        at -= array.begin * array.strides[dim];
        continue;
      }
      if (clamped[dim]) {
        int64_t last = shape[dim] - (dim == array.contiguousDim ? vector : 1);
        int64_t step = layout.getThreadStep(dim);
        if (offset > last)
          limits[dim] = 0;
        else if (offset + layout.getMaxThreadCoordinate(dim) > last)
          limits[dim] = (last - offset) / step * step;
        offset = std::min(offset, last);
      }
      at += offset * array.strides[dim];
    }
    const Base &base = getBase(limits);
    Value address = base.address;
    if (inWindow)
      address = address ? Value(arith::AddIOp::create(b, loc, address, inWindow)) : inWindow;
    ArrayRef<int64_t> laneOffsets = inWindow ? ArrayRef<int64_t>() : ArrayRef<int64_t>(base.laneOffsets);
    Value pointer = getArrayPointer(array, address, laneOffsets, at * array.bytes);
    pieces.push_back(loadLDS(array.storage, vector, pointer, vector * array.bytes));
  }
  return fromStorage(concat(pieces), element);
}

Value TileEmitter::isInWindow(const LDSArray &array, const TileLayout &layout, int64_t reg) {
  if (!array.windowDim)
    return {};
  unsigned dim = *array.windowDim;
  int64_t first = layout.getRegisterCoordinate(dim, reg), last = first + layout.getMaxThreadCoordinate(dim);
  if (first >= array.begin && last < array.end)
    return {};
  if (last < array.begin || first >= array.end)
    return boolean(false);
  Value shifted = arith::SubIOp::create(b, loc, getCoordinate(layout, dim, reg), i32(array.begin));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, shifted, i32(array.end - array.begin));
}

std::optional<SmallVector<int64_t>> tile::findLocalConversion(const TileLayout &from, const TileLayout &to,
                                                              ArrayRef<int64_t> shape) {
  unsigned rank = to.getRank();
  // Registers by their coordinates.
  auto getCoordinates = [&](const TileLayout &layout, int64_t reg) {
    std::vector<int64_t> coordinates;
    for (unsigned dim = 0; dim < rank; ++dim)
      coordinates.push_back(layout.getRegisterCoordinate(dim, reg));
    return coordinates;
  };
  SmallVector<int64_t> registers;
  if (to.isRegisterPermutationOf(from)) {
    // Copies may go, and registers change places.
    std::map<std::vector<int64_t>, int64_t> sources;
    for (int64_t reg = 0; reg < from.getNumRegisters(); ++reg)
      sources.try_emplace(getCoordinates(from, reg), reg);
    for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg)
      registers.push_back(sources.at(getCoordinates(to, reg)));
    return registers;
  }
  // Every work-item already holds what it needs, the tile is repeated. Coordinates
  // are sums over the bits of the work-item's number, so that single bits decide.
  if (to.getNumRegisters() * from.getNumRegisters() > 65536)
    return std::nullopt;
  for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg) {
    int64_t found = TileEmitter::isAlwaysDead(to, shape, reg) ? 0 : -1;
    for (int64_t source = 0; found < 0 && source < from.getNumRegisters(); ++source) {
      bool equal = true;
      for (unsigned dim = 0; equal && dim < rank; ++dim)
        for (int64_t t = 0; equal && t < to.getThreads(); t = t == 0 ? 1 : t * 2)
          equal = to.getRegisterCoordinate(dim, reg) + to.getThreadCoordinate(dim, t) ==
                  from.getRegisterCoordinate(dim, source) + from.getThreadCoordinate(dim, t);
      if (equal)
        found = source;
    }
    if (found < 0)
      return std::nullopt;
    registers.push_back(found);
  }
  return registers;
}

FailureOr<Value> TileEmitter::convertLayout(const TileValue &tile, const TileLayout &to, Operation *user) {
  if (tile.layout == to)
    return tile.vector;
  ++numConversions;
  if (std::optional<SmallVector<int64_t>> registers = findLocalConversion(tile.layout, to, tile.shape))
    return select(tile.vector, *registers);
  unsigned rank = to.getRank();
  ++numLDSConversions;
  if (remarks)
    user->emitRemark() << "moves a tile of type " << VectorType::get(tile.shape, tile.getElementType())
                       << " from layout " << tile.layout.str() << " to " << to.str()
                       << " through shared memory [conversion]";
  unsigned contiguous = rank - 1;
  int64_t longest = 1;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (int64_t run = std::max(2 * to.getRunLength(dim), tile.layout.getRunLength(dim)); run > longest) {
      longest = run;
      contiguous = dim;
    }
  // What does not fit goes in several parts.
  Type element = tile.getElementType();
  int64_t bytes = getStorageType(element).getIntOrFloatBitWidth() / 8;
  int64_t room = int64_t(chip.ldsBytesPerCU) - scratchBase;
  SmallVector<int64_t> part = tile.shape;
  std::optional<unsigned> windowDim;
  if (llvm::product_of(tile.shape) * bytes > room) {
    for (unsigned dim = 0; dim < rank; ++dim)
      if (rank == 1 || dim != contiguous)
        if (!windowDim || tile.shape[dim] > tile.shape[*windowDim])
          windowDim = dim;
    int64_t slice = llvm::product_of(tile.shape) / tile.shape[*windowDim] * bytes;
    part[*windowDim] = std::max<int64_t>(1, room / std::max<int64_t>(1, slice));
  }
  Value result;
  int64_t step = windowDim ? part[*windowDim] : 1, extent = windowDim ? tile.shape[*windowDim] : 1;
  for (int64_t begin = 0; begin < extent; begin += step) {
    FailureOr<LDSArray> array = acquireArray(part, element, contiguous, user);
    if (failed(array))
      return failure();
    array->windowDim = windowDim;
    array->begin = begin;
    array->end = std::min(begin + step, extent);
    writeArray(*array, tile);
    ldsBarrier();
    Value read = readArray(*array, to, tile.shape, element);
    if (!result) {
      result = read;
      continue;
    }
    SmallVector<Value> elements;
    for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg) {
      Value fresh = extract(read, reg);
      Value inside = isInWindow(*array, to, reg);
      elements.push_back(inside ? Value(arith::SelectOp::create(b, loc, inside, fresh, extract(result, reg))) : fresh);
    }
    result = pack(elements);
  }
  return result;
}

FailureOr<Value> TileEmitter::spreadFirstCopy(const TileValue &tile, Operation *user) {
  if (tile.layout.getReplicaBits() == 0)
    return tile.vector;
  FailureOr<LDSArray> array = acquireArray(tile.shape, tile.getElementType(), tile.layout.getRank() - 1, user);
  if (failed(array))
    return failure();
  writeArray(*array, tile);
  ldsBarrier();
  return readArray(*array, tile.layout, tile.shape, tile.getElementType());
}

FailureOr<Value> TileEmitter::reshapeThroughLDS(const TileValue &tile, const TileLayout &to, ArrayRef<int64_t> toShape,
                                                Operation *user) {
  LDSArray array;
  array.storage = getStorageType(tile.getElementType());
  array.bytes = array.storage.getIntOrFloatBitWidth() / 8;
  FailureOr<int64_t> offset = acquireScratch(llvm::product_of(toShape) * array.bytes, user);
  if (failed(offset))
    return failure();
  array.offset = *offset;
  auto setStrides = [&](ArrayRef<int64_t> shape) {
    array.strides.assign(shape.size(), 1);
    for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
      array.strides[dim] = array.strides[dim + 1] * shape[dim + 1];
    array.contiguousDim = shape.size() - 1;
  };
  setStrides(tile.shape);
  writeArray(array, tile);
  ldsBarrier();
  setStrides(toShape);
  return readArray(array, to, toShape, tile.getElementType());
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void TileEmitter::emitIf(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

Value TileEmitter::emitIfValue(Value condition, Value otherwise, function_ref<Value()> body) {
  if (!condition)
    return body();
  auto op = scf::IfOp::create(b, loc, otherwise.getType(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(b, loc, body());
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return op.getResult(0);
}

Type TileEmitter::getLaneType(Value old) {
  auto type = dyn_cast<VectorType>(old.getType());
  if (!type)
    return old.getType();
  return VectorType::get(getLayout(old).getNumRegisters(), type.getElementType());
}

const TileLayout &TileEmitter::getLayout(Value old) {
  auto it = layouts.find(old);
  assert(it != layouts.end() && "checkLayouts() has seen all tiles");
  return it->second;
}

LogicalResult TileEmitter::checkLayouts() {
  int64_t threads = kernel->getAttrOfType<IntegerAttr>("atx.threads").getInt();
  auto assign = [&](ValueRange values, ArrayAttr attr, Operation *op, StringRef name) -> LogicalResult {
    for (auto [i, value] : llvm::enumerate(values)) {
      auto type = dyn_cast<VectorType>(value.getType());
      if (!type)
        continue;
      auto layout = attr && i < attr.size() ? dyn_cast<atx::TileLayoutAttr>(attr[i]) : atx::TileLayoutAttr();
      if (!layout)
        return op->emitError() << "'" << op->getName() << "' has no layout in '" << name << "' for its tile " << i
                               << " of type " << type << "; run 'atx-assign-tile-layouts' first";
      TileLayout parsed(layout);
      if (parsed.getThreads() != threads || parsed.getRank() != type.getRank())
        return op->emitError() << "layout " << layout << " is not one of " << type << " on " << threads
                               << " work-items";
      for (unsigned dim = 0; dim < parsed.getRank(); ++dim)
        if (parsed.getPaddedExtent(dim) < type.getDimSize(dim))
          return op->emitError() << "layout " << layout << " reaches " << parsed.getPaddedExtent(dim) << " of the "
                                 << type.getDimSize(dim) << " elements along dimension " << dim;
      int64_t registers = parsed.getNumRegisters();
      if (registers > maxRegistersPerTile)
        return emitError(getKnownLoc(op))
               << "a tile of type " << type << " takes " << registers << " elements in each of the kernel's " << threads
               << " work-items; at most " << maxRegistersPerTile
               << " can be held; use a smaller tile or more work-items";
      layouts[value] = parsed;
    }
    return success();
  };
  LogicalResult result = success();
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == kernel)
      return WalkResult::advance();
    auto attr = op->getAttrOfType<ArrayAttr>(atx::tileLayoutsAttrName);
    auto fail = [&] {
      result = failure();
      return WalkResult::interrupt();
    };
    if (failed(assign(op->getResults(), attr, op, atx::tileLayoutsAttrName)))
      return fail();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(assign(loop.getRegionIterArgs(), attr, op, atx::tileLayoutsAttrName)))
        return fail();
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (failed(assign(loop.getAfterArguments(), attr, op, atx::tileLayoutsAttrName)) ||
          failed(assign(loop.getBeforeArguments(), op->getAttrOfType<ArrayAttr>(atx::beforeLayoutsAttrName), op,
                        atx::beforeLayoutsAttrName)))
        return fail();
    }
    return isa<atx::TileRawOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return result;
}

Value tile::getMemoryRoot(Value memory) {
  auto cast = memory.getDefiningOp<memref::ReinterpretCastOp>();
  return cast ? cast.getSource() : memory;
}

bool TileEmitter::isWritten(Value memory) const { return written.contains(getMemoryRoot(memory)); }

LogicalResult TileEmitter::checkStages() {
  auto isStage = [](Type type) { return isa<atx::StageType>(type); };
  if (llvm::any_of(kernel.getArgumentTypes(), isStage))
    return kernel.emitError() << "a stage cannot be an argument of a kernel";
  LogicalResult result = success();
  kernel.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!isStage(operand.getType()) || failed(result))
        continue;
      auto alloc = operand.getDefiningOp<atx::StageAllocOp>();
      if (!alloc) {
        result = op->emitError() << "'" << op->getName() << "' needs the result of 'atx.stage_alloc' itself";
        continue;
      }
      if (!isa<atx::StageReadOp, atx::StageWriteOp, atx::StageDeallocOp>(op)) {
        result = op->emitError() << "'" << op->getName() << "' cannot take a stage";
        continue;
      }
      Value slot = isa<atx::StageDeallocOp>(op) ? Value() : op->getOperand(op->getNumOperands() - 1);
      std::optional<int64_t> number = slot ? getConstantIntValue(slot) : std::nullopt;
      if (number && (*number < 0 || *number >= int64_t(alloc.getSlots())))
        result = op->emitError() << "slot " << *number << " is not one of the " << int64_t(alloc.getSlots())
                                 << " of the stage";
    }
  });
  kernel.walk([&](atx::StageAllocOp alloc) {
    SmallVector<Operation *> ends;
    for (Operation *user : alloc.getStage().getUsers())
      if (isa<atx::StageDeallocOp>(user))
        ends.push_back(user);
    if (failed(result) || ends.empty())
      return;
    if (ends.size() > 1) {
      result = ends[0]->emitError() << "the stage ends twice";
      return;
    }
    for (Operation *user : alloc.getStage().getUsers())
      if (user != ends[0] && user->getBlock() == ends[0]->getBlock() && ends[0]->isBeforeInBlock(user))
        result = user->emitError() << "'" << user->getName() << "' stands behind the end of its stage";
  });
  return result;
}

bool tile::isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op);
}

LogicalResult TileEmitter::emitConstant(Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  auto type = cast<VectorType>(constant.getType());
  const TileLayout &layout = getLayout(constant);
  int64_t count = layout.getNumRegisters();
  auto lane = VectorType::get(count, type.getElementType());
  if (auto splatAttr = dyn_cast<SplatElementsAttr>(constant.getValue())) {
    setTile(constant, arith::ConstantOp::create(
                          b, loc, cast<TypedAttr>(DenseElementsAttr::get(lane, splatAttr.getSplatValue<Attribute>()))));
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense)
    return op->emitError() << "constant of type " << type << " must be a dense list of elements";
  for (unsigned dim = 0; dim < layout.getRank(); ++dim)
    if (layout.getThreadBits(dim) != 0)
      return op->emitError() << "a constant whose elements differ must be held whole by every lane";
  auto values = llvm::to_vector(dense.getValues<Attribute>());
  SmallVector<Attribute> elements;
  for (int64_t reg = 0; reg < count; ++reg) {
    int64_t linear = 0;
    for (unsigned dim = 0; dim < layout.getRank(); ++dim)
      linear =
          linear * type.getDimSize(dim) + std::min(layout.getRegisterCoordinate(dim, reg), type.getDimSize(dim) - 1);
    elements.push_back(values[linear]);
  }
  setTile(constant, arith::ConstantOp::create(b, loc, cast<TypedAttr>(DenseElementsAttr::get(lane, elements))));
  return success();
}

/// The constant amount of a shift of bytes below 8, which may still stand as the smaller of two constants.
static std::optional<unsigned> getByteShift(Value amount) {
  APInt splat, other;
  if (auto choice = amount.getDefiningOp<arith::SelectOp>()) {
    auto compare = choice.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::ule || compare.getLhs() != choice.getTrueValue() ||
        compare.getRhs() != choice.getFalseValue() || !matchPattern(compare.getLhs(), m_ConstantInt(&splat)) ||
        !matchPattern(compare.getRhs(), m_ConstantInt(&other)))
      return std::nullopt;
    splat = splat.ule(other) ? splat : other;
  } else if (!matchPattern(amount, m_ConstantInt(&splat))) {
    return std::nullopt;
  }
  return splat.ult(8) ? std::optional(unsigned(splat.getZExtValue())) : std::nullopt;
}

/// What an `i8` tile's elements are at most, as unsigned numbers.
static unsigned getByteMax(Value value, unsigned depth = 0) {
  APInt splat;
  if (matchPattern(value, m_ConstantInt(&splat)))
    return unsigned(splat.getZExtValue());
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8)
    return 255;
  if (isa<arith::AndIOp>(op))
    return std::min(getByteMax(op->getOperand(0), depth + 1), getByteMax(op->getOperand(1), depth + 1));
  if (isa<arith::ShRUIOp>(op))
    if (std::optional<unsigned> amount = getByteShift(op->getOperand(1)))
      return getByteMax(op->getOperand(0), depth + 1) >> *amount;
  return 255;
}

/// Bit operations, sums and constant shifts of bytes, four in a word; null for others. The backend would take every
/// byte out of its word.
static Value emitBytes(TileEmitter &e, Operation *op, int64_t count) {
  if (!getElementTypeOrSelf(op->getResult(0).getType()).isInteger(8) || count % 4 != 0)
    return Value();
  std::optional<unsigned> shift;
  if (isa<arith::ShRUIOp, arith::ShLIOp>(op))
    shift = getByteShift(op->getOperand(1));
  if (!shift && !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::AddIOp>(op))
    return Value();
  OpBuilder &b = e.b;
  Location loc = e.loc;
  auto words = VectorType::get(count / 4, b.getI32Type());
  auto word = [&](uint32_t byte) -> Value {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(words, APInt(32, byte * 0x01010101u)));
  };
  auto get = [&](unsigned operand) -> Value {
    return vector::BitCastOp::create(b, loc, words, e.getScalar(op->getOperand(operand)));
  };
  Value x = get(0), result;
  if (shift) {
    uint32_t amount = *shift;
    Value by = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(words, APInt(32, amount)));
    if (isa<arith::ShRUIOp>(op))
      result = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, x, by).getResult(), word(0xff >> amount));
    else
      result = arith::ShLIOp::create(b, loc, arith::AndIOp::create(b, loc, x, word(0xff >> amount)).getResult(), by);
  } else if (isa<arith::AddIOp>(op)) {
    Value y = get(1);
    if (getByteMax(op->getOperand(0)) + getByteMax(op->getOperand(1)) <= 255) {
      result = arith::AddIOp::create(b, loc, x, y);
    } else {
      // The highest bits are added without a carry.
      Value low = word(0x7f);
      Value sum = arith::AddIOp::create(b, loc, arith::AndIOp::create(b, loc, x, low).getResult(),
                                        arith::AndIOp::create(b, loc, y, low).getResult());
      Value high =
          arith::AndIOp::create(b, loc, arith::XOrIOp::create(b, loc, x, y).getResult(), word(0x80)).getResult();
      result = arith::XOrIOp::create(b, loc, sum, high);
    }
  } else if (isa<arith::AndIOp>(op)) {
    result = arith::AndIOp::create(b, loc, x, get(1));
  } else if (isa<arith::OrIOp>(op)) {
    result = arith::OrIOp::create(b, loc, x, get(1));
  } else {
    result = arith::XOrIOp::create(b, loc, x, get(1));
  }
  return vector::BitCastOp::create(b, loc, VectorType::get(count, b.getI8Type()), result);
}

LogicalResult TileEmitter::emitElementwise(Operation *op) {
  Type result = op->getResult(0).getType();
  bool isExtremum = isa<arith::MaximumFOp, arith::MinimumFOp>(op);
  if (isExtremum && !isa<VectorType>(result)) {
    setScalar(op->getResult(0), emitExtremum(*this, getScalar(op->getOperand(0)), getScalar(op->getOperand(1)),
                                             isa<arith::MaximumFOp>(op)));
    return success();
  }
  if (!isa<VectorType>(result)) {
    b.clone(*op, map);
    return success();
  }
  const TileLayout &layout = getLayout(op->getResult(0));
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()) && getLayout(operand) != layout)
      return op->emitError() << "operand of type " << operand.getType() << " is held in layout "
                             << getLayout(operand).str() << " but needed in layout " << layout.str();
  if (isExtremum) {
    setTile(op->getResult(0), emitExtremum(*this, map.lookup(op->getOperand(0)), map.lookup(op->getOperand(1)),
                                           isa<arith::MaximumFOp>(op)));
    return success();
  }
  if (Value bytes = emitBytes(*this, op, layout.getNumRegisters())) {
    setTile(op->getResult(0), bytes);
    return success();
  }
  Operation *clone = b.clone(*op, map);
  clone->removeAttr(atx::tileLayoutsAttrName);
  clone->getResult(0).setType(getLaneType(op->getResult(0)));
  return success();
}

LogicalResult TileEmitter::emitFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(map.lookup(init));
  auto fresh = scf::ForOp::create(b, loc, getScalar(loop.getLowerBound()), getScalar(loop.getUpperBound()),
                                  getScalar(loop.getStep()), inits, nullptr, loop.getUnsignedCmp());
  map.map(loop.getInductionVar(), fresh.getInductionVar());
  for (auto [from, to] : llvm::zip_equal(loop.getRegionIterArgs(), fresh.getRegionIterArgs()))
    map.map(from, to);
  {
    OpBuilder::InsertionGuard guard(b);
    if (!fresh.getBody()->empty())
      fresh.getBody()->back().erase();
    b.setInsertionPointToEnd(fresh.getBody());
    forgetScratch();
    if (failed(emitBlock(*loop.getBody())))
      return failure();
    SmallVector<Value> yields;
    for (Value value : loop.getBody()->getTerminator()->getOperands())
      yields.push_back(map.lookup(value));
    scf::YieldOp::create(b, loc, yields);
  }
  forgetScratch();
  for (auto [from, to] : llvm::zip_equal(loop.getResults(), fresh.getResults()))
    map.map(from, to);
  return success();
}

LogicalResult TileEmitter::emitIfOp(Operation *op) {
  auto old = cast<scf::IfOp>(op);
  SmallVector<Type> types;
  for (Value result : old.getResults())
    types.push_back(getLaneType(result));
  bool hasElse = !old.getElseRegion().empty();
  auto fresh = scf::IfOp::create(b, loc, types, getScalar(old.getCondition()), hasElse);
  for (unsigned side = 0; side < (hasElse ? 2u : 1u); ++side) {
    OpBuilder::InsertionGuard guard(b);
    Block *from = side ? old.elseBlock() : old.thenBlock(), *to = side ? fresh.elseBlock() : fresh.thenBlock();
    if (!to->empty())
      to->back().erase();
    b.setInsertionPointToEnd(to);
    forgetScratch();
    if (failed(emitBlock(*from)))
      return failure();
    SmallVector<Value> yields;
    for (Value value : from->getTerminator()->getOperands())
      yields.push_back(map.lookup(value));
    scf::YieldOp::create(b, loc, yields);
  }
  forgetScratch();
  for (auto [from, to] : llvm::zip_equal(old.getResults(), fresh.getResults()))
    map.map(from, to);
  return success();
}

LogicalResult TileEmitter::emitWhile(Operation *op) {
  auto old = cast<scf::WhileOp>(op);
  SmallVector<Value> inits;
  for (Value init : old.getInits())
    inits.push_back(map.lookup(init));
  SmallVector<Type> types, beforeTypes;
  for (Value result : old.getResults())
    types.push_back(getLaneType(result));
  auto fresh = scf::WhileOp::create(b, loc, types, inits);
  auto fill = [&](Block &from, Region &region) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> argTypes;
    SmallVector<Location> locs;
    for (BlockArgument arg : from.getArguments()) {
      argTypes.push_back(getLaneType(arg));
      locs.push_back(arg.getLoc());
    }
    Block *to = b.createBlock(&region, region.end(), argTypes, locs);
    for (auto [a, c] : llvm::zip_equal(from.getArguments(), to->getArguments()))
      map.map(a, c);
    forgetScratch();
    if (failed(emitBlock(from)))
      return failure();
    SmallVector<Value> operands;
    for (Value value : from.getTerminator()->getOperands())
      operands.push_back(map.lookup(value));
    if (isa<scf::ConditionOp>(from.getTerminator()))
      scf::ConditionOp::create(b, loc, operands.front(), ArrayRef<Value>(operands).drop_front());
    else
      scf::YieldOp::create(b, loc, operands);
    return success();
  };
  if (failed(fill(*old.getBeforeBody(), fresh.getBefore())) || failed(fill(*old.getAfterBody(), fresh.getAfter())))
    return failure();
  forgetScratch();
  for (auto [from, to] : llvm::zip_equal(old.getResults(), fresh.getResults()))
    map.map(from, to);
  return success();
}

FailureOr<MemoryRef> TileEmitter::getMemory(Value old, Operation *user) {
  auto it = memories.find(old);
  if (it != memories.end())
    return it->second;
  auto type = cast<MemRefType>(old.getType());
  MemoryRef ref;
  ref.elementType = type.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return user->emitError() << "memory of type " << type << " has no strides", failure();
  ref.staticElements = type.hasStaticShape() ? 1 : -1;
  if (ref.staticElements == 1)
    for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides)) {
      int64_t span;
      if (ShapedType::isDynamic(stride) || llvm::MulOverflow(extent - 1, stride, span) ||
          llvm::AddOverflow(ref.staticElements, span, ref.staticElements)) {
        ref.staticElements = -1;
        break;
      }
    }
  auto cast = old.getDefiningOp<memref::ReinterpretCastOp>();
  if (!cast)
    return user->emitError() << "memory of type " << type
                             << " is not an argument of the kernel; only arguments and 'atx.tile_shared' can be "
                                "accessed",
           failure();
  auto arg = dyn_cast<BlockArgument>(cast.getSource());
  if (!arg || arg.getOwner() != &kernel.getBody().front() || getConstantIntValue(cast.getMixedOffsets().front()) != 0)
    return user->emitError() << "memory of type " << type << " must be a view of a whole kernel argument", failure();
  ref.base = map.lookup(arg);
  auto convert = [&](OpFoldResult value) -> OpFoldResult {
    if (auto attr = dyn_cast<Attribute>(value))
      return attr;
    OpBuilder::InsertionGuard guard(b);
    Value mapped = map.lookup(llvm::cast<Value>(value));
    b.setInsertionPointAfterValue(mapped);
    return toI64(mapped);
  };
  for (auto [dim, value] : llvm::enumerate(cast.getMixedSizes()))
    ref.sizes.push_back(type.isDynamicDim(dim) ? convert(value) : OpFoldResult(b.getIndexAttr(type.getDimSize(dim))));
  for (auto [dim, value] : llvm::enumerate(cast.getMixedStrides()))
    ref.strides.push_back(ShapedType::isDynamic(strides[dim]) ? convert(value)
                                                              : OpFoldResult(b.getIndexAttr(strides[dim])));
  memories[old] = ref;
  return ref;
}

LogicalResult TileEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    loc = op.getLoc();
    if (failed(emitOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult TileEmitter::emitOp(Operation *op) {
  using Lowering = LogicalResult (*)(TileEmitter &, Operation *);
  Lowering lowering = nullptr;
  if (isa<atx::TileLoadOp>(op))
    lowering = lowerLoad;
  else if (isa<atx::TileStoreOp>(op))
    lowering = lowerStore;
  else if (isa<atx::TileAtomicOp>(op))
    lowering = lowerAtomic;
  else if (isa<atx::TileReduceOp>(op))
    lowering = lowerReduce;
  else if (isa<atx::TileScanOp>(op))
    lowering = lowerScan;
  else if (isa<atx::TileTopkOp>(op))
    lowering = lowerTopk;
  else if (isa<atx::TileRankOp>(op))
    lowering = lowerRank;
  else if (isa<atx::TileHistogramOp>(op))
    lowering = lowerHistogram;
  else if (isa<atx::TileConcatOp>(op))
    lowering = lowerConcat;
  else if (isa<atx::TileTakeOp>(op))
    lowering = lowerTake;
  else if (isa<atx::TileConvertOp>(op))
    lowering = lowerConvert;
  else if (isa<atx::TileRawOp>(op))
    lowering = lowerRaw;
  else if (isa<atx::StageWriteOp>(op))
    lowering = lowerStageWrite;
  else if (isa<atx::StageReadOp>(op))
    lowering = lowerStageRead;
  else if (isa<vector::ContractionOp>(op))
    lowering = lowerContract;
  else if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    lowering = lowerFloatCast;
  if (lowering)
    return lowering(*this, op);

  if (isa<scf::ForOp>(op))
    return emitFor(op);
  if (isa<scf::IfOp>(op))
    return emitIfOp(op);
  if (isa<scf::WhileOp>(op))
    return emitWhile(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isa<VectorType>(constant.getType()))
    return emitConstant(op);
  if (auto iota = dyn_cast<atx::TileIotaOp>(op)) {
    const TileLayout &layout = getLayout(iota.getResult());
    Type element = cast<VectorType>(iota.getType()).getElementType();
    SmallVector<Value> elements;
    for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
      Value coordinate = getCoordinate(layout, 0, reg);
      if (element.isIndex())
        coordinate = arith::IndexCastOp::create(b, loc, element, coordinate);
      else if (element.getIntOrFloatBitWidth() > 32)
        coordinate = arith::ExtSIOp::create(b, loc, element, coordinate);
      else if (element.getIntOrFloatBitWidth() < 32)
        coordinate = arith::TruncIOp::create(b, loc, element, coordinate);
      elements.push_back(coordinate);
    }
    setTile(iota.getResult(), pack(elements));
    return success();
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    const TileLayout &layout = getLayout(broadcast.getVector());
    auto source = dyn_cast<VectorType>(broadcast.getSourceType());
    if (!source) {
      setTile(broadcast, splat(getScalar(broadcast.getSource()), layout.getNumRegisters()));
      return success();
    }
    TileLayout held = layout.getBroadcastSource(source.getShape());
    FailureOr<Value> value = convertLayout(getTile(broadcast.getSource()), held, op);
    if (failed(value))
      return failure();
    SmallVector<int64_t> dims;
    for (unsigned dim = 0; dim < source.getRank(); ++dim)
      dims.push_back(layout.getRank() - source.getRank() + dim);
    setTile(broadcast, select(*value, layout.projectRegisters(held, dims)));
    return success();
  }
  if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    TileValue source = getTile(transpose.getVector());
    TileLayout moved = source.layout.transpose(transpose.getPermutation());
    SmallVector<int64_t> shape = getShape(transpose.getResult());
    FailureOr<Value> value = convertLayout({source.vector, moved, shape}, getLayout(transpose.getResult()), op);
    if (failed(value))
      return failure();
    setTile(transpose.getResult(), *value);
    return success();
  }
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    TileValue source = getTile(cast.getSource());
    SmallVector<int64_t> shape = getShape(cast.getResult());
    const TileLayout &to = getLayout(cast.getResult());
    std::optional<TileLayout> seen = source.layout.reshape(source.shape, shape);
    FailureOr<Value> value =
        seen ? convertLayout({source.vector, *seen, shape}, to, op) : reshapeThroughLDS(source, to, shape, op);
    if (!seen)
      ++numLDSConversions;
    if (failed(value))
      return failure();
    setTile(cast.getResult(), *value);
    return success();
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    TileValue source = getTile(slice.getSource());
    SmallVector<int64_t> shape = getShape(slice.getResult()), starts(shape.size(), 0);
    for (auto [i, attr] : llvm::enumerate(slice.getOffsets()))
      starts[i] = cast<IntegerAttr>(attr).getInt();
    if (slice.hasNonUnitStrides())
      return op->emitError() << "only slices of stride 1 can be distributed";
    FailureOr<LDSArray> array = acquireArray(source.shape, source.getElementType(), unsigned(shape.size()) - 1, op);
    if (failed(array))
      return failure();
    ++numLDSConversions;
    writeArray(*array, source);
    ldsBarrier();
    setTile(slice.getResult(), readArray(*array, getLayout(slice.getResult()), shape, source.getElementType(), starts));
    return success();
  }
  if (auto extractOp = dyn_cast<vector::ExtractOp>(op);
      extractOp && isa<VectorType>(extractOp.getType()) && !extractOp.hasDynamicPosition()) {
    // A slice whose leading dimensions go.
    TileValue source = getTile(extractOp.getSource());
    FailureOr<LDSArray> array = acquireArray(source.shape, source.getElementType(), source.shape.size() - 1, op);
    if (failed(array))
      return failure();
    ++numLDSConversions;
    writeArray(*array, source);
    ldsBarrier();
    ArrayRef<int64_t> positions = extractOp.getStaticPosition();
    for (auto [position, stride] : llvm::zip(positions, array->strides))
      array->offset += position * stride * array->bytes;
    array->strides.erase(array->strides.begin(), array->strides.begin() + positions.size());
    array->contiguousDim -= positions.size();
    setTile(extractOp.getResult(), readArray(*array, getLayout(extractOp.getResult()), getShape(extractOp.getResult()),
                                             source.getElementType()));
    return success();
  }
  if (auto extractOp = dyn_cast<vector::ExtractOp>(op); extractOp && !isa<VectorType>(extractOp.getType())) {
    // One element to all: the lane that holds it hands it over.
    TileValue source = getTile(extractOp.getSource());
    if (extractOp.hasDynamicPosition())
      return op->emitError() << "only constant positions can be extracted from a tile";
    // Every lane may hold it.
    for (int64_t reg = 0; reg < source.layout.getNumRegisters(); ++reg) {
      bool here = true;
      for (auto [dim, position] : llvm::enumerate(extractOp.getStaticPosition()))
        here &= source.layout.getThreadBits(dim) == 0 && source.layout.getRegisterCoordinate(dim, reg) == position;
      if (!here)
        continue;
      setScalar(extractOp.getResult(), makeUniform(extract(source.vector, reg)));
      return success();
    }
    FailureOr<LDSArray> array =
        acquireArray(source.shape, source.getElementType(), unsigned(source.shape.size()) - 1, op);
    if (failed(array))
      return failure();
    writeArray(*array, source);
    ldsBarrier();
    int64_t at = 0;
    for (auto [position, stride] : llvm::zip_equal(extractOp.getStaticPosition(), array->strides))
      at += position * stride;
    Value element = fromStorage(loadLDS(array->storage, 1, getLDS(array->offset + at * array->bytes), array->bytes),
                                source.getElementType());
    setScalar(extractOp.getResult(), makeUniform(extract(element, 0)));
    return success();
  }
  if (isa<atx::ConvertLayoutOp>(op)) {
    FailureOr<Value> value = convertLayout(getTile(op->getOperand(0)), getLayout(op->getResult(0)), op);
    if (failed(value))
      return failure();
    setTile(op->getResult(0), *value);
    return success();
  }
  if (isa<atx::TilePinOp>(op)) {
    FailureOr<Value> value = convertLayout(getTile(op->getOperand(0)), getLayout(op->getResult(0)), op);
    if (failed(value))
      return failure();
    setTile(op->getResult(0), *value);
    return success();
  }
  if (isa<memref::DimOp>(op)) {
    auto dim = cast<memref::DimOp>(op);
    FailureOr<MemoryRef> memory = getMemory(dim.getSource(), op);
    if (failed(memory))
      return failure();
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!axis || *axis >= int64_t(memory->sizes.size()))
      return op->emitError() << "the dimension of a size must be constant";
    OpFoldResult size = memory->sizes[*axis];
    if (auto attr = dyn_cast<Attribute>(size))
      setScalar(dim.getResult(), arith::ConstantIndexOp::create(b, loc, cast<IntegerAttr>(attr).getInt()));
    else
      setScalar(dim.getResult(), arith::IndexCastOp::create(b, loc, b.getIndexType(), cast<Value>(size)));
    return success();
  }
  if (isa<memref::ReinterpretCastOp, atx::TileSharedOp>(op))
    return success();
  if (isa<atx::StageAllocOp>(op))
    return beginStage(op);
  if (isa<atx::StageDeallocOp>(op)) {
    endStage(op);
    return success();
  }
  if (isa<gpu::BarrierOp, amdgpu::LDSBarrierOp>(op)) {
    emitBarrier(op);
    return success();
  }
  if (isElementwise(op))
    return emitElementwise(op);
  auto isTile = [](Type type) { return isa<VectorType, MemRefType>(type); };
  if (op->getNumRegions() == 0 && llvm::none_of(op->getOperandTypes(), isTile) &&
      llvm::none_of(op->getResultTypes(), isTile)) {
    b.clone(*op, map);
    return success();
  }
  return op->emitError() << "'" << op->getName() << "' cannot be distributed over work-items";
}

LogicalResult TileEmitter::run() {
  auto threads = kernel->getAttrOfType<IntegerAttr>("atx.threads");
  if (!threads || threads.getInt() < 1)
    return kernel.emitError() << "kernel has no 'atx.threads'";
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitError() << "kernel needs a body of one block";
  if (failed(checkLayouts()) || failed(checkStages()))
    return failure();
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<atx::TileStoreOp>(op))
      written.insert(getMemoryRoot(store.getMemory()));
    else if (auto atomic = dyn_cast<atx::TileAtomicOp>(op))
      written.insert(getMemoryRoot(atomic.getMemory()));
  });
  numOrderBarriers += orderAccesses(*this);

  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  std::string name = (kernel.getName() + "_shared").str();
  for (unsigned i = 0; module.lookupSymbol(name); ++i)
    name = (kernel.getName() + "_shared_" + Twine(i)).str();
  b.setInsertionPoint(kernel);
  lds = LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                               LLVM::Linkage::Internal, name, Attribute(), /*alignment=*/16, /*addrSpace=*/3);

  // Bare pointers instead of buffers.
  Block &old = kernel.getBody().front();
  auto fresh = new Block();
  kernel.getBody().push_back(fresh);
  SmallVector<Type> types;
  for (BlockArgument arg : old.getArguments()) {
    Type type = arg.getType();
    if (isa<MemRefType>(type))
      type = LLVM::LLVMPointerType::get(b.getContext(), 1);
    types.push_back(type);
    map.map(arg, fresh->addArgument(type, arg.getLoc()));
  }
  b.setInsertionPointToEnd(fresh);
  Value id = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  thread = arith::IndexCastOp::create(b, loc, b.getI32Type(), id);
  entryPoint = thread.getDefiningOp();

  // The kernel's own shared memory lies before the scratch space.
  LogicalResult placed = success();
  kernel.walk([&](atx::TileSharedOp op) {
    auto type = cast<MemRefType>(op.getType());
    MemoryRef ref;
    ref.elementType = type.getElementType();
    ref.isShared = true;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset))) {
      placed = op.emitError() << "shared memory of type " << type << " needs a static shape";
      return;
    }
    ref.staticElements = type.getNumElements();
    for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides)) {
      ref.sizes.push_back(b.getIndexAttr(extent));
      ref.strides.push_back(b.getIndexAttr(stride));
    }
    int64_t bytes = isPackedType(ref.elementType)
                        ? llvm::divideCeil(ref.staticElements * ref.elementType.getIntOrFloatBitWidth(), 8)
                        : ref.staticElements * (getStorageType(ref.elementType).getIntOrFloatBitWidth() / 8);
    ref.base = getLDS(sharedBytes);
    sharedBytes = llvm::alignTo(sharedBytes + bytes, 16);
    memories[op.getResult()] = ref;
    if (sharedBytes > int64_t(chip.ldsBytesPerCU) && succeeded(placed))
      placed = op.emitError() << "shared memory of the kernel takes " << sharedBytes << " bytes; " << chip.arch
                              << " has " << chip.ldsBytesPerCU;
  });
  if (failed(placed))
    return failure();
  if (Operation *last = fresh->empty() ? nullptr : &fresh->back())
    entryPoint = last;

  scratchUnknown = false;
  scratchBase = ldsEnd = sharedBytes;
  if (failed(emitBlock(old)))
    return failure();
  loc = kernel.getLoc();
  gpu::ReturnOp::create(b, loc);

  old.dropAllDefinedValueUses();
  // Regions of the old body refer to each other only.
  old.dropAllReferences();
  old.erase();
  kernel.setFunctionType(b.getFunctionType(types, TypeRange()));
  int64_t bytes = ldsEnd;
  if (bytes == 0) {
    lds.erase();
    return success();
  }
  lds.setGlobalType(LLVM::LLVMArrayType::get(b.getI8Type(), bytes));
  return success();
}
