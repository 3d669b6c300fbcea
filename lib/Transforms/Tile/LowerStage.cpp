//===- LowerStage.cpp - Tiles staged in shared memory ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slots of shared memory for pipelined loops, and addresses under a swizzle.
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

int64_t tile::applySwizzles(ArrayRef<layout::Swizzle> swizzles, int64_t offset) {
  for (const layout::Swizzle &swizzle : swizzles)
    offset = swizzle(offset);
  return offset;
}

int64_t tile::getSwizzleBlock(ArrayRef<layout::Swizzle> swizzles) {
  int64_t block = 1;
  for (const layout::Swizzle &swizzle : swizzles)
    block = std::max(block, swizzle.getBlock());
  return block;
}

LDSArray tile::arrangeArray(ArrayRef<int64_t> shape, Type storage, ArrayRef<int64_t> order, int64_t pad) {
  LDSArray array;
  array.storage = storage;
  array.bytes = storage.getIntOrFloatBitWidth() / 8;
  array.contiguousDim = order.front();
  array.strides.resize(shape.size(), 1);
  int64_t next = 1;
  for (int64_t dim : order) {
    array.strides[dim] = next;
    next *= shape[dim];
    if (dim == order.front())
      next += pad / array.bytes;
  }
  return array;
}

int64_t tile::getArrayElements(const LDSArray &array, ArrayRef<int64_t> shape) {
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(shape, array.strides))
    last += (extent - 1) * stride;
  return last + 1;
}

LDSAccess tile::describeArrayAccess(const LDSArray &array, const TileLayout &layout, ArrayRef<int64_t> shape,
                                    bool isWrite) {
  LDSAccess access;
  access.name = isWrite ? "write" : "read";
  access.isWrite = isWrite;
  int64_t vector = getArrayVector(array, layout, shape, array.contiguousDim, 0);
  access.bytes = vector * array.bytes;
  for (int64_t reg = 0; reg < layout.getNumRegisters(); reg += vector) {
    if (isWrite && TileEmitter::isAlwaysDead(layout, shape, reg))
      continue;
    for (int64_t lane = 0; lane < int64_t(ldsLanes); ++lane) {
      // Copies do not write.
      int64_t thread = isWrite ? lane & ~int64_t(layout.getReplicaBits()) : lane % layout.getThreads();
      int64_t at = 0;
      for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
        // Work-items outside of the tile read at the last element that they may.
        int64_t last = shape[dim] - (dim == array.contiguousDim ? vector : 1);
        int64_t offset = std::min(layout.getRegisterCoordinate(dim, reg), last), step = layout.getThreadStep(dim);
        int64_t most = layout.getRegisterCoordinate(dim, reg) > last ? 0 : (last - offset) / step * step;
        at += (offset + std::min(layout.getThreadCoordinate(dim, thread), most)) * array.strides[dim];
      }
      access.offsets.push_back(at * array.bytes);
    }
  }
  return access;
}

bool tile::isLinearArray(const LDSArray &array, ArrayRef<int64_t> shape, int64_t bytes) {
  int64_t elements = llvm::product_of(shape);
  if (getArrayElements(array, shape) != elements || array.windowDim)
    return false;
  for (const layout::Swizzle &step : array.swizzles)
    if ((int64_t(1) << step.base) < bytes)
      return false;
  return elements * array.bytes % getSwizzleBlock(array.swizzles) == 0;
}

bool tile::isDirectWrite(Operation *op) { return isa<atx::StageWriteOp>(op) && op->hasAttr(directAttrName); }

Value TileEmitter::exchange(Value offset, ArrayRef<layout::Swizzle> swizzles, bool isReversed) {
  auto apply = [&](const layout::Swizzle &step) {
    Value source = arith::ShRUIOp::create(b, loc, offset, i32(step.shift));
    source = arith::AndIOp::create(b, loc, source, i32(((int64_t(1) << step.bits) - 1) << step.base));
    offset = arith::XOrIOp::create(b, loc, offset, source);
  };
  // Each is its own inverse: it leaves the bits that it exchanges by.
  if (isReversed)
    llvm::for_each(llvm::reverse(swizzles), apply);
  else
    llvm::for_each(swizzles, apply);
  return offset;
}

Value TileEmitter::getWaveStart(int64_t bytes) {
  auto threads = kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName).getInt();
  if (threads <= 64)
    return {};
  Value &start = waveStarts[bytes];
  if (start)
    return start;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(entryPoint);
  Value wave = makeUniform(arith::ShRUIOp::create(b, loc, thread, i32(6)));
  start = arith::MulIOp::create(b, loc, wave, i32(64 * bytes));
  entryPoint = start.getDefiningOp();
  return start;
}

Value TileEmitter::getArrayPointer(const LDSArray &array, Value lane, ArrayRef<int64_t> laneOffsets, int64_t constant) {
  auto addSlot = [&](Value address) -> Value {
    if (!array.slot)
      return address;
    return address ? Value(arith::AddIOp::create(b, loc, address, array.slot)) : array.slot;
  };
  auto swizzle = [&](int64_t offset) { return applySwizzles(array.swizzles, offset); };
  if (array.swizzles.empty())
    return getLDS(array.offset + constant, addSlot(lane));
  if (!lane)
    return getLDS(array.offset + swizzle(constant), addSlot(lane));
  auto apply = [&](Value offset) { return exchange(offset, array.swizzles, /*isReversed=*/false); };
  // The swizzle is linear over bits: where lane and constant share none, it may be
  // taken of each, and what meets no bit of a lane can be added.
  int64_t bits = 0, swizzledBits = 0;
  bool disjoint = !laneOffsets.empty();
  for (int64_t offset : laneOffsets) {
    bits |= offset;
    swizzledBits |= swizzle(offset);
  }
  disjoint &= (bits & constant) == 0;
  if (!disjoint) {
    Value offset = constant ? Value(arith::AddIOp::create(b, loc, lane, i32(constant))) : lane;
    return getLDS(array.offset, addSlot(apply(offset)));
  }
  int64_t moved = swizzle(constant);
  Value address = apply(lane);
  if (int64_t exchanged = moved & swizzledBits)
    address = arith::XOrIOp::create(b, loc, address, i32(exchanged));
  return getLDS(array.offset + (moved & ~swizzledBits), addSlot(address));
}

LogicalResult TileEmitter::beginStage(Operation *op) {
  auto alloc = cast<atx::StageAllocOp>(op);
  VectorType tile = alloc.getStage().getType().getTile();
  Stage stage;
  int64_t pad = alloc.getPad().value_or(0);
  stage.array = arrangeArray(tile.getShape(), getStorageType(tile.getElementType()), alloc.getOrder(), pad);
  if (std::optional<ArrayRef<int64_t>> swizzle = alloc.getSwizzle())
    for (size_t i = 0; i + 2 < swizzle->size(); i += 3)
      stage.array.swizzles.push_back({int32_t((*swizzle)[i]), int32_t((*swizzle)[i + 1]), int32_t((*swizzle)[i + 2])});
  stage.slots = alloc.getSlots();
  stage.slotBytes = getArrayElements(stage.array, tile.getShape()) * stage.array.bytes;
  // Slots start at the same bank; a swizzle fills whole blocks.
  int64_t unit = 4 * int64_t(chip.ldsBanks);
  unit = std::max(unit, getSwizzleBlock(stage.array.swizzles));
  stage.slotBytes = llvm::alignTo(stage.slotBytes, unit);
  // What lay here before may still be read.
  if (scratchUnknown || !pending.empty())
    ldsBarrier(0);
  pending.clear();
  nextScratch = 0;
  stage.begin = scratchBase;
  auto overlay = alloc->getAttrOfType<IntegerAttr>(overlayAttrName);
  if (overlay && overlay.getInt() > 0) {
    if (stages.empty())
      return op->emitError() << "no stage begins before that this one could lie upon";
    stage.begin = stages.back().second.begin;
  }
  stage.array.offset = llvm::alignTo(stage.begin, unit);
  scratchBase = std::max(scratchBase, stage.array.offset + stage.slots * stage.slotBytes);
  if (scratchBase > int64_t(chip.ldsBytesPerCU))
    return op->emitError() << stage.slots << " slots of " << tile << " take " << stage.slots * stage.slotBytes
                           << " bytes of shared memory beside the " << stage.begin << " it holds already; " << chip.arch
                           << " has " << chip.ldsBytesPerCU << "; use fewer stages or smaller tiles";
  ldsEnd = std::max(ldsEnd, scratchBase);
  stages[alloc.getStage()] = stage;
  return success();
}

void TileEmitter::endStage(Operation *op) {
  auto it = stages.find(cast<atx::StageDeallocOp>(op).getStage());
  if (it == stages.end())
    return;
  scratchBase = std::min(scratchBase, it->second.begin);
  it->second.copies = 0;
  nextScratch = 0;
  pending.clear();
  forgetScratch();
}

LDSArray TileEmitter::getStage(Value old, Value slot) {
  const Stage &stage = stages.find(old)->second;
  LDSArray array = stage.array;
  if (stage.slots > 1)
    array.slot = arith::MulIOp::create(b, loc, slot, i32(stage.slotBytes));
  return array;
}

/// Scopes of a stage's accesses. The slots that are written and read between two barriers are different
/// ones when there are several. Stages that lie upon one another meet.
static std::pair<ArrayAttr, ArrayAttr> getScopes(TileEmitter &e, Value stage, bool isWrite, int64_t slots) {
  SmallVector<Attribute> own, others;
  MLIRContext *context = e.b.getContext();
  Attribute name = StringAttr::get(context, (e.kernel.getName() + "_stages").str());
  auto domain = LLVM::AliasScopeDomainAttr::get(context, name, StringAttr());
  unsigned number = 0;
  bool isOverlaid = stage.getDefiningOp()->hasAttr(overlayAttrName);
  e.kernel.walk([&](atx::StageAllocOp alloc) {
    for (bool write : {false, true}) {
      std::string text = (e.kernel.getName() + "_stage" + Twine(number) + (write ? "_write" : "_read")).str();
      auto scope = LLVM::AliasScopeAttr::get(context, StringAttr::get(context, text), domain, StringAttr());
      bool same = alloc.getStage() == stage || (isOverlaid && alloc->hasAttr(overlayAttrName));
      bool meets = same && (slots == 1 || write == isWrite);
      (meets ? own : others).push_back(scope);
    }
    ++number;
  });
  return {e.b.getArrayAttr(own), e.b.getArrayAttr(others)};
}

void TileEmitter::writeStage(Value old, Value slot, const TileValue &tile) {
  LDSArray array = getStage(old, slot);
  std::tie(aliasScopes, noaliasScopes) = getScopes(*this, old, /*isWrite=*/true, stages.find(old)->second.slots);
  // Neighbours in memory from neighbouring registers.
  TileLayout layout = tile.layout.withFastest(array.contiguousDim);
  writeArray(array, {select(tile.vector, *findLocalConversion(tile.layout, layout, tile.shape)), layout, tile.shape});
  aliasScopes = noaliasScopes = {};
}

LogicalResult TileEmitter::copyToStage(atx::StageWriteOp write, bool &isDone) {
  Stage &stage = stages.find(write.getStage())->second;
  std::tie(aliasScopes, noaliasScopes) = getScopes(*this, write.getStage(), /*isWrite=*/true, stage.slots);
  unsigned before = numDirectCopies;
  LogicalResult result = lowerDirectCopy(*this, write, isDone);
  stage.copies = numDirectCopies - before;
  hasDirectWrites |= stage.copies != 0;
  aliasScopes = noaliasScopes = {};
  return result;
}

Value TileEmitter::readStage(Value old, Value slot, const TileLayout &layout) {
  LDSArray array = getStage(old, slot);
  VectorType tile = cast<atx::StageType>(old.getType()).getTile();
  std::tie(aliasScopes, noaliasScopes) = getScopes(*this, old, /*isWrite=*/false, stages.find(old)->second.slots);
  TileLayout held = layout.withFastest(array.contiguousDim);
  Value value = readArray(array, held, tile.getShape(), tile.getElementType());
  value = select(value, *findLocalConversion(held, layout, tile.getShape()));
  aliasScopes = noaliasScopes = {};
  return value;
}

LogicalResult tile::lowerStageWrite(TileEmitter &e, Operation *op) {
  auto write = cast<atx::StageWriteOp>(op);
  if (isDirectWrite(op)) {
    bool isDone;
    if (failed(e.copyToStage(write, isDone)))
      return failure();
    if (isDone)
      return success();
    // The same by way of registers.
    auto load = write.getTile().getDefiningOp<atx::TileLoadOp>();
    if (failed(lowerLoadNow(e, load)))
      return failure();
  }
  e.writeStage(write.getStage(), e.getScalar(write.getSlot()), e.getTile(write.getTile()));
  return success();
}

LogicalResult tile::lowerStageRead(TileEmitter &e, Operation *op) {
  auto read = cast<atx::StageReadOp>(op);
  e.setTile(read.getTile(), e.readStage(read.getStage(), e.getScalar(read.getSlot()), e.getLayout(read.getTile())));
  return success();
}
