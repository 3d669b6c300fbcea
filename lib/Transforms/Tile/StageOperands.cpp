//===- StageOperands.cpp - Pipelined loops over staged tiles --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopRegisters.h"
#include "LossRemarks.h"
#include "Tensors.h"
#include "TileLowering.h"
#include "atrex/Target/TargetChip.h"
#include "atrex/Transforms/Passes.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace atrex {
#define GEN_PASS_DEF_STAGEOPERANDSPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

namespace {

TileLayout getLayoutOf(Value value) {
  Operation *op = value.getDefiningOp();
  unsigned number;
  if (op) {
    number = cast<OpResult>(value).getResultNumber();
  } else {
    auto arg = cast<BlockArgument>(value);
    op = arg.getOwner()->getParentOp();
    number = arg.getArgNumber() - (isa<scf::ForOp>(op) ? 1 : 0);
  }
  auto attrs = op->getAttrOfType<ArrayAttr>(atx::tileLayoutsAttrName);
  if (!attrs || number >= attrs.size() || !isa<atx::TileLayoutAttr>(attrs[number]))
    return TileLayout();
  return TileLayout(cast<atx::TileLayoutAttr>(attrs[number]));
}

bool isShared(Value memory) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(cast<MemRefType>(memory.getType()).getMemorySpace());
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}

/// How a staged tile lies in shared memory, and what that costs a wave.
struct Arrangement {
  SmallVector<int64_t> order;
  int64_t pad = 0;
  SmallVector<layout::Swizzle, 2> swizzles;
  int64_t bytes = 0, passes = 0, extra = 0, cost = 0;
};

/// A tile that goes through shared memory.
struct Staged {
  atx::ConvertLayoutOp convert;
  /// What is converted.
  Value input;
  /// Loads that give what the tile is made of, and everything that they need from the loop.
  llvm::SmallSetVector<Operation *, 4> loads;
  /// From the loads to the tile.
  SmallVector<Operation *> transform;
  Arrangement arrangement;
  /// Set where the tile is copied to shared memory without passing through registers, in this arrangement.
  std::optional<DirectCopy> direct;
  Arrangement directArrangement;
  Value stage;
  const Arrangement &getArrangement() const { return direct ? directArrangement : arrangement; }
};

class LoopStager {
public:
  /// `share`: tiles of one slot may have it in the same place.
  LoopStager(scf::ForOp loop, const ChipInfo &chip, int64_t threads, bool share)
      : loop(loop), chip(chip), threads(threads), share(share) {}

  bool collect(bool remarks);
  /// Loads right in the layout of a product that may wait in registers for an iteration.
  SmallVector<atx::TileLoadOp> collectAhead(bool remarks);
  /// Loads them an iteration ahead; the loop that takes the place of this one.
  scf::ForOp loadAhead(ArrayRef<atx::TileLoadOp> loads);
  LogicalResult arrange(bool swizzle);
  /// Finds the tiles that may be copied directly; `always` with narrow copies as well.
  void planDirect(IndexAnalysis &analysis, bool always, bool swizzle, bool remarks);
  /// The number of slots, or nothing where not even one fits.
  std::optional<unsigned> chooseStages(unsigned wanted, int64_t held);
  int64_t getBytes(unsigned stages) const;
  /// Whether the tiles lie in the same place then.
  bool sharesSlots(unsigned stages) const { return share && stages == 1 && staged.size() > 1; }
  /// Shared memory that the loop's body needs for other things.
  int64_t getInnerBytes();
  void rewrite(unsigned stages, unsigned prefetch);

  std::vector<Staged> staged;

private:
  bool reach(Value value, Staged &tile, bool behindLoad, llvm::SmallSetVector<Operation *, 16> &needed,
             llvm::SmallSetVector<Operation *, 16> &transform, std::string &reason);

  /// What the loop's body does that keeps loads from moving.
  void findWrites();
  /// Counter of the last iteration; the first where there is none.
  Value emitLastCounter(OpBuilder &b);
  /// The counter `ahead` iterations behind `at`, not beyond the last.
  Value emitAdvance(OpBuilder &b, Value at, int64_t ahead, Value last);

  scf::ForOp loop;
  const ChipInfo &chip;
  int64_t threads;
  bool share;
  /// What loads need, in the order of the body.
  llvm::SmallSetVector<Operation *, 16> loadPart;
  WrittenTensors written;
  bool hasBarrier = false;
};

/// Loads of numbers that lead to other loads (pages, rows to gather): they go an iteration ahead of those that need
/// them, so that none waits for the other.
struct Positions {
  SmallVector<Operation *> loads;
  /// They and what they need, in the order of the body.
  SmallVector<Operation *> part;
};

} // namespace

/// Those of `part`, which is in the order of the body, that are no `isTarget`.
static Positions findPositions(ArrayRef<Operation *> part, function_ref<bool(Operation *)> isTarget) {
  Positions positions;
  for (Operation *op : part)
    if (isa<atx::TileLoadOp>(op) && !isTarget(op))
      positions.loads.push_back(op);
  llvm::SmallPtrSet<Operation *, 16> needed;
  for (Operation *op : llvm::reverse(part))
    if (llvm::is_contained(positions.loads, op) ||
        llvm::any_of(op->getUsers(), [&](Operation *user) { return needed.contains(user); })) {
      needed.insert(op);
      positions.part.push_back(op);
    }
  std::reverse(positions.part.begin(), positions.part.end());
  return positions;
}

/// Follows `value` back through the loop's body. False with a reason where that leads to something that is not known
/// an iteration ahead.
bool LoopStager::reach(Value value, Staged &tile, bool behindLoad, llvm::SmallSetVector<Operation *, 16> &needed,
                       llvm::SmallSetVector<Operation *, 16> &transform, std::string &reason) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (arg.getOwner() != loop.getBody() || arg == loop.getInductionVar())
      return true;
    reason = "it depends on a value that the loop carries";
    return false;
  }
  Operation *op = value.getDefiningOp();
  if (!loop->isAncestor(op))
    return true;
  if (op->getBlock() != loop.getBody()) {
    reason = "it is computed inside of a branch or an inner loop";
    return false;
  }
  bool load = isa<atx::TileLoadOp>(op);
  // An operation on both sides of a load is computed twice.
  if (behindLoad || load ? needed.contains(op) : transform.contains(op)) {
    if (load && !behindLoad)
      tile.loads.insert(op);
    return true;
  }
  if (load && isShared(cast<atx::TileLoadOp>(op).getMemory())) {
    reason = "it is read from shared memory";
    return false;
  }
  if (load && written.mayHold(cast<atx::TileLoadOp>(op).getMemory())) {
    reason = "the loop writes to a tensor, which may be the one that is read";
    return false;
  }
  if (!load && (!isMemoryEffectFree(op) || op->getNumRegions() != 0)) {
    reason = ("it comes from '" + op->getName().getStringRef() + "'").str();
    return false;
  }
  // What is done again an iteration ahead must not read what another staged tile holds now: only operations on
  // elements stand between a load and its tile.
  bool isOnElements = load || isElementwise(op) ||
                      isa<atx::TileIotaOp, vector::BroadcastOp, vector::ShapeCastOp, vector::TransposeOp,
                          arith::ConstantOp, atx::TileConvertOp>(op);
  if (auto convert = dyn_cast<atx::ConvertLayoutOp>(op))
    isOnElements = findLocalConversion(getLayoutOf(convert.getInput()), getLayoutOf(convert.getResult()),
                                       cast<VectorType>(convert.getType()).getShape())
                       .has_value();
  if (!isOnElements && llvm::any_of(op->getOperandTypes(), [](Type type) { return isa<VectorType>(type); })) {
    reason = ("it is computed by '" + op->getName().getStringRef() + "'").str();
    return false;
  }
  for (Value operand : op->getOperands())
    if (!reach(operand, tile, behindLoad || load, needed, transform, reason))
      return false;
  if (behindLoad || load)
    needed.insert(op);
  else
    transform.insert(op);
  if (load && !behindLoad)
    tile.loads.insert(op);
  return true;
}

void LoopStager::findWrites() {
  loop.getBody()->walk([&](Operation *op) {
    written.note(op);
    hasBarrier |= isa<gpu::BarrierOp>(op);
  });
}

bool LoopStager::collect(bool remarks) {
  findWrites();
  llvm::SmallSetVector<Operation *, 16> allNeeded;
  for (auto convert : loop.getBody()->getOps<atx::ConvertLayoutOp>()) {
    TileLayout from = getLayoutOf(convert.getInput()), to = getLayoutOf(convert.getResult());
    ArrayRef<int64_t> shape = cast<VectorType>(convert.getType()).getShape();
    if (from.getRank() == 0 || to.getRank() == 0 || findLocalConversion(from, to, shape))
      continue;
    Staged tile;
    tile.convert = convert;
    tile.input = convert.getInput();
    llvm::SmallSetVector<Operation *, 16> needed, transform;
    std::string reason;
    bool reached = reach(convert.getInput(), tile, false, needed, transform, reason);
    if (reached && tile.loads.empty())
      continue;
    if (hasBarrier) {
      reached = false;
      reason = "the loop has a barrier of its own";
    }
    if (!reached) {
      // What the loop computes anew is not expected to come from elsewhere.
      if (remarks && reason != "it depends on a value that the loop carries")
        convert.emitRemark() << "a tile of type " << convert.getType() << " is not staged: " << reason
                             << " [unpipelined]";
      continue;
    }
    tile.transform = transform.takeVector();
    for (Operation *op : needed)
      allNeeded.insert(op);
    staged.push_back(std::move(tile));
  }
  for (Operation &op : *loop.getBody())
    if (allNeeded.contains(&op))
      loadPart.insert(&op);
  return !staged.empty();
}

/// Whether a product takes `value` as a factor, element by element and without moving anything.
static bool leadsToProduct(Value value, unsigned depth = 0) {
  if (depth > 20)
    return false;
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<vector::ContractionOp>(op)) {
      if (use.getOperandNumber() < 2)
        return true;
      continue;
    }
    bool isLocal = isElementwise(op) || isa<vector::TransposeOp, atx::TileConvertOp>(op);
    if (auto convert = dyn_cast<atx::ConvertLayoutOp>(op))
      isLocal = findLocalConversion(getLayoutOf(convert.getInput()), getLayoutOf(convert.getResult()),
                                    cast<VectorType>(convert.getType()).getShape())
                    .has_value();
    if (isLocal && op->getNumResults() == 1 && leadsToProduct(op->getResult(0), depth + 1))
      return true;
  }
  return false;
}

/// Whether the tile, or what is computed of it, must move between work-items.
static bool leadsToExchange(Value value, unsigned depth = 0) {
  if (depth > 20)
    return true;
  return llvm::any_of(value.getUsers(), [&](Operation *op) {
    if (auto convert = dyn_cast<atx::ConvertLayoutOp>(op);
        convert && !findLocalConversion(getLayoutOf(convert.getInput()), getLayoutOf(convert.getResult()),
                                        cast<VectorType>(convert.getType()).getShape()))
      return true;
    bool isLocal = isElementwise(op) || isa<vector::TransposeOp, atx::TileConvertOp, atx::ConvertLayoutOp>(op);
    return isLocal && op->getNumResults() == 1 && leadsToExchange(op->getResult(0), depth + 1);
  });
}

SmallVector<atx::TileLoadOp> LoopStager::collectAhead(bool remarks) {
  findWrites();
  SmallVector<atx::TileLoadOp> loads;
  int64_t registers = 0;
  for (auto load : loop.getBody()->getOps<atx::TileLoadOp>()) {
    Value result = load.getResult();
    if (!isa<VectorType>(result.getType()) || getLayoutOf(result).getRank() == 0 || isShared(load.getMemory()) ||
        !leadsToProduct(result) || leadsToExchange(result))
      continue;
    Staged tile;
    llvm::SmallSetVector<Operation *, 16> needed, transform;
    std::string reason;
    int64_t own = getRegisters(load).value_or(0);
    bool isPossible = reach(result, tile, false, needed, transform, reason);
    if (isPossible && registers + own > maxAheadRegisters) {
      isPossible = false;
      reason = "its " + std::to_string(own) + " registers beside the " + std::to_string(registers) +
               " of others are more than " + std::to_string(maxAheadRegisters);
    }
    if (!isPossible) {
      if (remarks)
        load.emitRemark() << "a tile of type " << result.getType() << " is not loaded ahead: " << reason;
      continue;
    }
    registers += own;
    loads.push_back(load);
    loadPart.insert(needed.begin(), needed.end());
  }
  return loads;
}

scf::ForOp LoopStager::loadAhead(ArrayRef<atx::TileLoadOp> loads) {
  SmallVector<Operation *> part, indices;
  for (Operation &op : *loop.getBody())
    if (loadPart.contains(&op)) {
      part.push_back(&op);
      if (!isa<atx::TileLoadOp>(op))
        indices.push_back(&op);
    }
  Positions positions = findPositions(part, [&](Operation *op) { return llvm::is_contained(loads, op); });
  IRRewriter b(loop.getContext());
  auto emit = [&](ArrayRef<Operation *> ops, Value at) {
    IRMapping map;
    map.map(loop.getInductionVar(), at);
    for (Operation *op : ops)
      b.clone(*op, map);
    return map;
  };
  SmallVector<Value> first, next;
  SmallVector<Operation *> carried(loads.begin(), loads.end());
  b.setInsertionPoint(loop);
  Value last = emitLastCounter(b);
  IRMapping map = emit(part, loop.getLowerBound());
  for (atx::TileLoadOp load : loads)
    first.push_back(map.lookup(load.getResult()));
  if (!positions.loads.empty()) {
    map = emit(positions.part, emitAdvance(b, loop.getLowerBound(), 1, last));
    for (Operation *op : positions.loads)
      first.push_back(map.lookup(op->getResult(0)));
  }
  b.setInsertionPointToStart(loop.getBody());
  map = emit(part, emitAdvance(b, loop.getInductionVar(), 1, last));
  for (atx::TileLoadOp load : loads)
    next.push_back(map.lookup(load.getResult()));
  // The numbers of the next iteration were read in the one before.
  for (Operation *op : positions.loads)
    carried.push_back(map.lookup(op->getResult(0)).getDefiningOp());
  if (!positions.loads.empty()) {
    map = emit(positions.part, emitAdvance(b, loop.getInductionVar(), 2, last));
    for (Operation *op : positions.loads)
      next.push_back(map.lookup(op->getResult(0)));
  }
  scf::ForOp fresh = carryTiles(b, loop, carried, first, next);
  // Indices of loads that are gone.
  llvm::append_range(indices, positions.loads);
  llvm::sort(indices, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : llvm::reverse(indices))
    if (op->use_empty() && (isMemoryEffectFree(op) || isa<atx::TileLoadOp>(op)))
      b.eraseOp(op);
  return fresh;
}

/// The best arrangement of one tile between two layouts.
static FailureOr<Arrangement> findArrangement(const TileLayout &write, const TileLayout &read, ArrayRef<int64_t> shape,
                                              Type element, const ChipInfo &chip, bool swizzle, Operation *op) {
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  Type storage = IntegerType::get(op->getContext(), std::max(8u, bits));
  std::optional<Arrangement> best;
  for (unsigned contiguous = 0; contiguous < shape.size(); ++contiguous) {
    int64_t run = std::max(write.withFastest(contiguous).getRunLength(contiguous),
                           read.withFastest(contiguous).getRunLength(contiguous));
    if (run == 1 && contiguous + 1 != shape.size())
      continue;
    Arrangement candidate;
    candidate.order.push_back(contiguous);
    for (int64_t dim = int64_t(shape.size()) - 1; dim >= 0; --dim)
      if (dim != contiguous)
        candidate.order.push_back(dim);
    LDSArray array = arrangeArray(shape, storage, candidate.order, 0);
    std::vector<LDSAccess> accesses = {
        describeArrayAccess(array, write.withFastest(contiguous), shape, /*isWrite=*/true),
        describeArrayAccess(array, read.withFastest(contiguous), shape, /*isWrite=*/false)};
    layout::Fault fault;
    int64_t rowBytes = shape[contiguous] * array.bytes;
    std::optional<LDSTile> tile = makeLDSTile(llvm::product_of(shape) / shape[contiguous], rowBytes, fault);
    if (!tile)
      return op->emitError() << "shared memory cannot hold a tile of " << rowBytes << " bytes a row: " << fault.text,
             failure();
    candidate.bytes = tile->getBytes();
    auto take = [&](const LDSSolution &solution, ArrayRef<layout::Swizzle> before) {
      int64_t extra = solution.getExtraAfter();
      if (!candidate.swizzles.empty() || candidate.pad != 0 || candidate.passes != 0)
        if (extra >= candidate.extra)
          return;
      candidate.pad = solution.arrangement.pad;
      candidate.swizzles.assign(before.begin(), before.end());
      if (!solution.arrangement.swizzle.isIdentity())
        candidate.swizzles.push_back(solution.arrangement.swizzle);
      candidate.bytes = llvm::alignTo(solution.footprint, getSwizzleBlock(candidate.swizzles));
      candidate.extra = extra;
      candidate.passes = 0;
      for (const LDSCost &cost : solution.after)
        candidate.passes += cost.high;
    };
    std::optional<LDSSolution> solution;
    if (swizzle)
      solution = solveLDSConflicts(chip, *tile, accesses, LDSUnknown::Assume, fault);
    if (solution) {
      take(*solution, {});
      // A tile that is transposed on its way is written and read along different rows: one exchange serves
      // each.
      int base = llvm::Log2_64(std::max(accesses[0].bytes, accesses[1].bytes));
      for (int bits = 2; candidate.extra != 0 && bits <= 4; ++bits)
        for (int shift = bits; candidate.extra != 0 && shift <= ldsMaxSwizzleShift; ++shift) {
          layout::Swizzle first{bits, base, shift};
          if (tile->getBytes() % first.getBlock() != 0)
            continue;
          std::vector<LDSAccess> moved = accesses;
          for (LDSAccess &access : moved)
            for (int64_t &offset : access.offsets)
              offset = first(offset);
          layout::Fault ignored;
          std::optional<LDSSolution> second = solveLDSConflicts(chip, *tile, moved, LDSUnknown::Assume, ignored);
          if (second && second->arrangement.pad == 0)
            take(*second, first);
        }
    } else {
      for (const LDSAccess &access : accesses)
        if (std::optional<LDSCost> cost = countLDSAccess(chip, *tile, {}, access, LDSUnknown::Assume, fault)) {
          candidate.passes += cost->high;
          candidate.extra += cost->getExtra();
        }
    }
    // An instruction takes an issue slot however little it moves.
    auto weigh = [&](Arrangement &arrangement, ArrayRef<LDSAccess> accesses) {
      arrangement.cost = arrangement.passes;
      for (const LDSAccess &access : accesses)
        arrangement.cost += 4 * int64_t(access.offsets.size() / ldsLanes);
      if (!best || arrangement.cost < best->cost)
        best = arrangement;
    };
    weigh(candidate, accesses);
    // Rows that begin at fewer bytes than the widest access takes: more accesses, but none in conflict.
    for (int64_t pad = 4;
         swizzle && candidate.extra != 0 && shape.size() > 1 && pad < std::max(accesses[0].bytes, accesses[1].bytes);
         pad *= 2) {
      if (pad % array.bytes != 0)
        continue;
      Arrangement padded;
      padded.order = candidate.order;
      padded.pad = pad;
      LDSArray wide = arrangeArray(shape, storage, padded.order, pad);
      std::vector<LDSAccess> others = {
          describeArrayAccess(wide, write.withFastest(contiguous), shape, /*isWrite=*/true),
          describeArrayAccess(wide, read.withFastest(contiguous), shape, /*isWrite=*/false)};
      layout::Fault ignored;
      std::optional<LDSTile> rows = makeLDSTile(llvm::product_of(shape) / shape[contiguous], rowBytes + pad, ignored);
      bool isKnown = rows.has_value();
      for (const LDSAccess &access : others)
        if (std::optional<LDSCost> cost =
                rows ? countLDSAccess(chip, *rows, {}, access, LDSUnknown::Assume, ignored) : std::nullopt) {
          padded.passes += cost->high;
          padded.extra += cost->getExtra();
        } else {
          isKnown = false;
        }
      if (!isKnown)
        continue;
      padded.bytes = rows->getBytes();
      weigh(padded, others);
    }
  }
  return *best;
}

LogicalResult LoopStager::arrange(bool swizzle) {
  for (Staged &tile : staged) {
    auto type = cast<VectorType>(tile.convert.getType());
    FailureOr<Arrangement> arrangement =
        findArrangement(getLayoutOf(tile.convert.getInput()), getLayoutOf(tile.convert.getResult()), type.getShape(),
                        type.getElementType(), chip, swizzle, tile.convert);
    if (failed(arrangement))
      return failure();
    tile.arrangement = *arrangement;
  }
  return success();
}

void LoopStager::planDirect(IndexAnalysis &analysis, bool always, bool swizzle, bool remarks) {
  for (Staged &tile : staged) {
    auto type = cast<VectorType>(tile.convert.getType());
    std::string reason;
    auto refuse = [&] {
      if (remarks)
        tile.convert.emitRemark() << "a tile of type " << type << " passes through registers on its way to shared "
                                  << "memory: " << reason;
    };
    auto load = tile.input.getDefiningOp<atx::TileLoadOp>();
    if (!load || !tile.transform.empty()) {
      reason = "it is computed from what is loaded";
      refuse();
      continue;
    }
    if (!load->hasOneUse()) {
      reason = "its elements are used elsewhere too";
      refuse();
      continue;
    }
    std::optional<DirectCopy> copy = planDirectCopy(analysis, load, threads, chip, always, reason);
    if (!copy) {
      refuse();
      continue;
    }
    const Arrangement &known = tile.arrangement;
    if (known.order.front() != int64_t(copy->contiguousDim)) {
      reason = "it is transposed";
      refuse();
      continue;
    }
    // Lanes write side by side, so there is no padding; a swizzle keeps together what a lane copies.
    unsigned contiguous = copy->contiguousDim;
    Type element = type.getElementType();
    unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    Type storage = IntegerType::get(type.getContext(), std::max(8u, bits));
    LDSArray array = arrangeArray(type.getShape(), storage, known.order, 0);
    LDSAccess read = describeArrayAccess(array, getLayoutOf(tile.convert.getResult()).withFastest(contiguous),
                                         type.getShape(), /*isWrite=*/false);
    layout::Fault fault;
    std::optional<LDSTile> place = makeLDSTile(type.getNumElements() / type.getDimSize(contiguous),
                                               type.getDimSize(contiguous) * array.bytes, fault);
    if (!place)
      continue;
    Arrangement best;
    bool isFound = false;
    auto consider = [&](layout::Swizzle step) {
      Arrangement candidate;
      candidate.order = known.order;
      candidate.bytes = place->getBytes();
      if (!step.isIdentity())
        candidate.swizzles.push_back(step);
      array.swizzles = candidate.swizzles;
      if (!isLinearArray(array, type.getShape(), copy->bytes))
        return;
      std::optional<LDSCost> cost =
          countLDSAccess(chip, *place, LDSArrangement{0, step}, read, LDSUnknown::Assume, fault);
      if (!cost)
        return;
      candidate.passes = cost->high;
      candidate.extra = cost->getExtra();
      if (isFound && std::make_pair(candidate.extra, candidate.passes) >= std::make_pair(best.extra, best.passes))
        return;
      best = candidate;
      isFound = true;
    };
    consider({});
    int base = llvm::Log2_64(std::max<int64_t>(copy->bytes, read.bytes));
    for (int bits = 1; swizzle && best.extra != 0 && bits <= ldsMaxSwizzleBits; ++bits)
      for (int from = base; from <= ldsMaxSwizzleBase; ++from)
        for (int shift = bits; best.extra != 0 && shift <= ldsMaxSwizzleShift; ++shift)
          consider({bits, from, shift});
    if (!isFound || (!always && best.extra > known.extra)) {
      reason = isFound ? "without padding " + std::to_string(best.extra) + " passes would be lost to bank conflicts"
                       : "its arrangement has gaps";
      refuse();
      continue;
    }
    tile.direct = copy;
    tile.directArrangement = best;
  }
}

int64_t LoopStager::getBytes(unsigned stages) const {
  int64_t bytes = 0;
  for (const Staged &tile : staged) {
    const Arrangement &a = tile.getArrangement();
    int64_t unit = std::max<int64_t>(4 * int64_t(chip.ldsBanks), getSwizzleBlock(a.swizzles));
    int64_t own = stages * llvm::alignTo(a.bytes, unit);
    bytes = sharesSlots(stages) ? std::max(bytes, own) : llvm::alignTo(bytes, unit) + own;
  }
  return bytes;
}

int64_t LoopStager::getInnerBytes() {
  int64_t stageBytes = 0, scratch = 0;
  auto getTileBytes = [](Type type) {
    auto tile = cast<VectorType>(type);
    Type element = tile.getElementType();
    return tile.getNumElements() * (element.isIndex() ? 8 : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8));
  };
  loop.getBody()->walk([&](Operation *op) {
    if (auto alloc = dyn_cast<atx::StageAllocOp>(op))
      stageBytes += llvm::alignTo(getTileBytes(alloc.getStage().getType().getTile()) * alloc.getSlots(), 256) * 5 / 4;
    else if (auto convert = dyn_cast<atx::ConvertLayoutOp>(op)) {
      // A conversion goes in several parts where room is short.
      if (llvm::none_of(staged, [&](const Staged &tile) { return tile.convert == convert; }) &&
          !findLocalConversion(getLayoutOf(convert.getInput()), getLayoutOf(convert.getResult()),
                               cast<VectorType>(convert.getType()).getShape()))
        scratch = std::max(scratch, std::min<int64_t>(getTileBytes(convert.getType()) * 5 / 4, 16384));
    } else if (auto reduce = dyn_cast<atx::TileReduceOp>(op)) {
      // Only waves exchange through shared memory.
      TileLayout layout = getLayoutOf(reduce.getInput());
      uint64_t bits = 0;
      for (int64_t axis : reduce.getAxes())
        bits |= layout.getRank() ? layout.getThreadBits(axis) : ~uint64_t(0);
      if (bits >> 6)
        scratch = std::max(scratch, std::min<int64_t>(getTileBytes(reduce.getInput().getType()), 8192));
    } else if (op->getName().getDialectNamespace() == "atx" &&
               !isa<atx::TileLoadOp, atx::TileStoreOp, atx::TileIotaOp>(op)) {
      for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
        if (isa<VectorType>(type))
          scratch = std::max(scratch, std::min<int64_t>(getTileBytes(type), 8192));
    } else if (auto contract = dyn_cast<vector::ContractionOp>(op)) {
      // Factors without a matrix instruction lie in shared memory.
      Type sum = getElementTypeOrSelf(contract.getAccType());
      if (sum.isBF16() || sum.isF16() || sum.isInteger(16))
        scratch = std::max(scratch, getTileBytes(contract.getLhsType()) + getTileBytes(contract.getRhsType()));
    }
  });
  return stageBytes + scratch;
}

std::optional<unsigned> LoopStager::chooseStages(unsigned wanted, int64_t held) {
  int64_t room = int64_t(chip.ldsBytesPerCU) - held;
  if (wanted != 0)
    return getBytes(wanted) <= room ? std::optional(wanted) : std::nullopt;
  // Eight waves of a compute unit hide each other's waits.
  auto waves = [&](unsigned stages) {
    return getBytes(stages) <= room ? int64_t(chip.ldsBytesPerCU) / (held + getBytes(stages)) * (threads / 64) : 0;
  };
  // Copies take the time of an iteration more where that costs no wave.
  bool isDirect = llvm::any_of(staged, [](const Staged &tile) { return tile.direct.has_value(); });
  if (isDirect && waves(3) >= 1 && waves(3) >= std::min<int64_t>(8, waves(2)))
    return 3;
  if (waves(2) >= 8 || (waves(2) >= 1 && waves(1) <= waves(2)))
    return 2;
  if (waves(1) >= 1)
    return 1;
  return std::nullopt;
}

Value LoopStager::emitLastCounter(OpBuilder &b) {
  Location loc = loop.getLoc();
  Type counter = loop.getInductionVar().getType();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(counter, value));
  };
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  std::optional<int64_t> lowerConst = getConstantIntValue(lower), upperConst = getConstantIntValue(upper),
                         stepConst = getConstantIntValue(step);
  if (lowerConst && upperConst && stepConst)
    return number(*upperConst > *lowerConst ? *lowerConst + (*upperConst - 1 - *lowerConst) / *stepConst * *stepConst
                                            : *lowerConst);
  // Bounds may lie further apart than a signed number tells.
  Value span = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower).getResult(), number(1));
  Value steps = arith::DivUIOp::create(b, loc, span, step);
  Value last = arith::AddIOp::create(b, loc, lower, arith::MulIOp::create(b, loc, steps, step).getResult());
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, upper, lower);
  // The maximum changes nothing; it tells that an offset is not negative where the first counter is not.
  return arith::MaxSIOp::create(b, loc, arith::SelectOp::create(b, loc, any, last, lower).getResult(), lower);
}

Value LoopStager::emitAdvance(OpBuilder &b, Value at, int64_t ahead, Value last) {
  if (ahead == 0)
    return at;
  Location loc = loop.getLoc();
  Type counter = loop.getInductionVar().getType();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(counter, value));
  };
  Value lower = loop.getLowerBound(), step = loop.getStep();
  std::optional<int64_t> lowerConst = getConstantIntValue(lower),
                         upperConst = getConstantIntValue(loop.getUpperBound()), stepConst = getConstantIntValue(step);
  unsigned width = counter.isIndex() ? 64 : counter.getIntOrFloatBitWidth();
  bool isShort = stepConst && llvm::isIntN(width, *stepConst * ahead);
  if (lowerConst && upperConst && isShort && llvm::isIntN(width, *upperConst + *stepConst * ahead)) {
    Value sum = arith::AddIOp::create(b, loc, at, number(*stepConst * ahead));
    return arith::MinSIOp::create(b, loc, sum, last);
  }
  // The sum may pass the largest number, and several steps at once as well.
  Value result = at;
  for (int64_t k = 0; k < (isShort ? 1 : ahead); ++k) {
    Value limit = arith::SubIOp::create(b, loc, last, result);
    Value more = arith::MinUIOp::create(b, loc, limit, isShort ? number(*stepConst * ahead) : step);
    result = arith::AddIOp::create(b, loc, result, more);
  }
  return arith::MaxSIOp::create(b, loc, result, lower);
}

void LoopStager::rewrite(unsigned stages, unsigned prefetch) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  MLIRContext *context = b.getContext();
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
  };
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  Value last = emitLastCounter(b);
  auto advance = [&](Value at, int64_t ahead) { return emitAdvance(b, at, ahead, last); };

  bool isOverlaid = sharesSlots(stages);
  for (auto [number, tile] : llvm::enumerate(staged)) {
    const Arrangement &a = tile.getArrangement();
    SmallVector<int64_t> swizzle;
    for (const layout::Swizzle &step : a.swizzles)
      swizzle.append({step.bits, step.base, step.shift});
    auto alloc = atx::StageAllocOp::create(b, tile.convert.getLoc(),
                                           atx::StageType::get(context, cast<VectorType>(tile.convert.getType())),
                                           stages, a.order, a.pad ? b.getI64IntegerAttr(a.pad) : IntegerAttr(),
                                           swizzle.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(swizzle));
    tile.stage = alloc;
    if (isOverlaid)
      alloc->setAttr(overlayAttrName, b.getI64IntegerAttr(int64_t(number)));
  }

  // What one iteration loads, in order.
  llvm::SmallSetVector<Operation *, 8> loads;
  for (Staged &tile : staged)
    if (!tile.direct)
      for (Operation *load : tile.loads)
        loads.insert(load);
  auto [positions, positionPart] = findPositions(loadPart.getArrayRef(), [&](Operation *op) {
    return llvm::any_of(staged, [&](const Staged &tile) { return tile.loads.contains(op); });
  });
  // Tiles that go without registers are on their way to `slot` then.
  auto emitLoads = [&](Value at, Value slot, ValueRange known = {}) {
    IRMapping map;
    map.map(loop.getInductionVar(), at);
    for (auto [position, value] : llvm::zip(positions, known))
      map.map(position->getResult(0), value);
    for (Operation *op : loadPart)
      if (known.empty() || !llvm::is_contained(positions, op))
        b.clone(*op, map);
    for (Staged &tile : staged)
      if (tile.direct)
        atx::StageWriteOp::create(b, tile.input.getLoc(), map.lookup(tile.input), tile.stage, slot)
            ->setAttr(directAttrName, b.getUnitAttr());
    SmallVector<Value> values;
    for (Operation *load : loads)
      values.push_back(map.lookup(load->getResult(0)));
    return values;
  };
  auto emitPositions = [&](Value at) {
    IRMapping map;
    map.map(loop.getInductionVar(), at);
    for (Operation *op : positionPart)
      b.clone(*op, map);
    SmallVector<Value> values;
    for (Operation *position : positions)
      values.push_back(map.lookup(position->getResult(0)));
    return values;
  };
  // The body's counter, which becomes that of the new loop.
  Value counterNow = loop.getInductionVar();
  auto emitWrites = [&](MutableArrayRef<Staged> tiles, ArrayRef<Value> values, Value at, Value slot) {
    IRMapping map;
    map.map(counterNow, at);
    for (auto [load, value] : llvm::zip_equal(loads, values))
      map.map(load->getResult(0), value);
    llvm::SmallPtrSet<Operation *, 16> cloned;
    for (Staged &tile : tiles) {
      if (tile.direct)
        continue;
      for (Operation *op : tile.transform)
        if (cloned.insert(op).second)
          b.clone(*op, map);
      atx::StageWriteOp::create(b, tile.input.getLoc(), map.lookupOrDefault(tile.input), tile.stage, slot);
    }
  };

  // Fill.
  unsigned lead = stages - 1;
  bool isDirect = llvm::any_of(staged, [](const Staged &tile) { return tile.direct.has_value(); });
  // Behind it the tile of the next iteration is there, and later ones may be on their way.
  auto createBarrier = [&](unsigned inFlight) {
    auto barrier = amdgpu::LDSBarrierOp::create(b, loc);
    if (isDirect && inFlight > 0)
      barrier->setAttr(inFlightAttrName, b.getI64IntegerAttr(inFlight));
  };
  for (unsigned ahead = 0; ahead < lead; ++ahead) {
    Value at = advance(lower, ahead);
    Value slot = i32(ahead);
    emitWrites(staged, emitLoads(at, slot), at, slot);
  }
  SmallVector<Value> inits = llvm::to_vector_of<Value>(loop.getInitArgs());
  unsigned numOld = inits.size();
  for (unsigned ahead = 0; ahead < prefetch; ++ahead)
    llvm::append_range(inits, emitLoads(advance(lower, lead + ahead), Value()));
  if (!positions.empty())
    llvm::append_range(inits, emitPositions(advance(lower, lead + prefetch)));
  if (stages > 1)
    inits.push_back(i32(0));
  // Nothing keeps the copies of several tiles in order here.
  if (lead > 0)
    createBarrier(0);

  auto fresh = scf::ForOp::create(b, loc, lower, upper, step, inits, nullptr, loop.getUnsignedCmp());
  fresh->setAttrs(loop->getAttrs());
  SmallVector<Attribute> layouts;
  if (auto old = loop->getAttrOfType<ArrayAttr>(atx::tileLayoutsAttrName))
    llvm::append_range(layouts, old);
  layouts.resize(numOld, b.getUnitAttr());
  for (unsigned ahead = 0; ahead < prefetch; ++ahead)
    for (Operation *load : loads) {
      auto attrs = load->getAttrOfType<ArrayAttr>(atx::tileLayoutsAttrName);
      layouts.push_back(attrs ? attrs[0] : b.getUnitAttr());
    }
  for (Operation *position : positions) {
    auto attrs = position->getAttrOfType<ArrayAttr>(atx::tileLayoutsAttrName);
    layouts.push_back(attrs ? attrs[0] : b.getUnitAttr());
  }
  if (stages > 1)
    layouts.push_back(b.getUnitAttr());
  fresh->setAttr(atx::tileLayoutsAttrName, b.getArrayAttr(layouts));

  // The body.
  Block *body = fresh.getBody();
  if (!body->empty())
    body->back().erase();
  Block *old = loop.getBody();
  ValueRange args = fresh.getRegionIterArgs();
  Value at = fresh.getInductionVar();
  SmallVector<SmallVector<Value>> waiting(prefetch);
  for (unsigned ahead = 0; ahead < prefetch; ++ahead)
    llvm::append_range(waiting[ahead], args.slice(numOld + ahead * loads.size(), loads.size()));
  ValueRange known = args.slice(numOld + prefetch * loads.size(), positions.size());
  Value slot = stages > 1 ? args.back() : Value();
  b.setInsertionPointToEnd(body);
  if (stages == 1)
    slot = i32(0);
  Value target = slot, next = slot;
  if (stages > 1) {
    // (slot + lead) % stages and (slot + 1) % stages.
    auto wrap = [&](Value sum) -> Value {
      Value over = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, sum, i32(stages));
      Value less = arith::SubIOp::create(b, loc, sum, i32(stages));
      return arith::SelectOp::create(b, loc, over, less, sum);
    };
    if (stages == 2) {
      target = next = arith::XOrIOp::create(b, loc, slot, i32(1));
    } else {
      target = wrap(arith::AddIOp::create(b, loc, slot, i32(lead)));
      next = wrap(arith::AddIOp::create(b, loc, slot, i32(1)));
    }
  } else {
    // Everybody has read the tile of the iteration before.
    amdgpu::LDSBarrierOp::create(b, loc);
  }
  SmallVector<Value> now = prefetch ? waiting[0] : emitLoads(advance(at, lead), target, known);
  // Without a tile that waits the loads have the length of the body to arrive.
  bool writesLate = prefetch == 0 && stages > 1;
  if (!writesLate)
    emitWrites(isOverlaid ? MutableArrayRef(staged).take_front() : MutableArrayRef(staged), now, advance(at, lead),
               target);
  if (stages == 1)
    amdgpu::LDSBarrierOp::create(b, loc);
  SmallVector<Value> loaded;
  if (prefetch)
    loaded = emitLoads(advance(at, lead + prefetch), Value(), known);
  SmallVector<Value> later;
  if (!positions.empty())
    later = emitPositions(advance(at, lead + prefetch + 1));

  SmallVector<Value> replacements;
  replacements.push_back(at);
  llvm::append_range(replacements, args.take_front(numOld));
  for (auto [arg, value] : llvm::zip_equal(old->getArguments(), replacements))
    arg.replaceAllUsesWith(value);
  counterNow = at;
  Operation *yield = old->getTerminator();
  SmallVector<Value> yields = llvm::to_vector_of<Value>(yield->getOperands());
  yield->erase();
  body->getOperations().splice(body->end(), old->getOperations());

  for (Staged &tile : staged) {
    b.setInsertionPoint(tile.convert);
    if (isOverlaid && &tile != &staged.front()) {
      // Everybody has read the tile that lies there, and then this one is there.
      amdgpu::LDSBarrierOp::create(b, loc);
      emitWrites(tile, now, at, slot);
      amdgpu::LDSBarrierOp::create(b, loc);
    }
    auto read = atx::StageReadOp::create(b, tile.convert.getLoc(), tile.convert.getType(), tile.stage, slot);
    read->setAttr(atx::tileLayoutsAttrName, tile.convert->getAttr(atx::tileLayoutsAttrName));
    for (Value &value : yields)
      if (value == tile.convert.getResult())
        value = read;
    tile.convert.getResult().replaceAllUsesWith(read.getTile());
    tile.convert.erase();
  }
  // What the iteration's own tiles are used for beside.
  if (stages == 1 && prefetch != 0)
    for (auto [load, value] : llvm::zip_equal(loads, now)) {
      for (Value &yielded : yields)
        if (yielded == load->getResult(0))
          yielded = value;
      load->getResult(0).replaceAllUsesWith(value);
    }
  b.setInsertionPointToEnd(body);
  if (writesLate)
    emitWrites(staged, now, advance(at, lead), target);
  if (stages > 1)
    createBarrier(lead - 1);
  for (unsigned ahead = 1; ahead < prefetch; ++ahead)
    llvm::append_range(yields, waiting[ahead]);
  llvm::append_range(yields, loaded);
  llvm::append_range(yields, later);
  if (stages > 1)
    yields.push_back(next);
  scf::YieldOp::create(b, loc, yields);
  // Loads and their indices that nobody reads here any more.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (op.use_empty() && (isMemoryEffectFree(&op) || isa<atx::TileLoadOp>(op)) && op.getNumResults() != 0)
      op.erase();

  b.setInsertionPointAfter(fresh);
  // Copies of iterations that do not come must not meet what uses the memory next.
  if (isDirect && lead > 1)
    createBarrier(0);
  for (Staged &tile : llvm::reverse(staged))
    atx::StageDeallocOp::create(b, loc, tile.stage);
  for (auto [from, to] : llvm::zip(loop.getResults(), fresh.getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
}

namespace {

class StageOperands : public atrex::impl::StageOperandsPassBase<StageOperands> {
public:
  using StageOperandsPassBase::StageOperandsPassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (!kernel->hasAttr(atx::kernelAttrName))
      return;
    const ChipInfo *chip = getTarget(kernel, arch);
    if (!chip)
      return signalPassFailure();
    if (stages > 8 || prefetch > 8 || prefetch < -1) {
      kernel.emitError() << "'stages=" << unsigned(stages) << " prefetch=" << int64_t(prefetch)
                         << "' is not possible: stages are 0 to 8, prefetch is -1 to 8";
      return signalPassFailure();
    }
    auto threads = kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName);
    if (!threads)
      return;
    bool losses = remarks || wantsLossRemarks(kernel);
    int64_t held = 0;
    kernel.walk([&](atx::TileSharedOp op) {
      auto type = cast<MemRefType>(op.getType());
      if (type.hasStaticShape())
        held += llvm::alignTo(type.getNumElements() * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8), 16);
    });
    if (!llvm::is_contained({"auto", "never", "always"}, StringRef(directToLds))) {
      kernel.emitError() << "'direct-to-lds=" << StringRef(directToLds)
                         << "' is not possible: it is auto, never or always";
      return signalPassFailure();
    }
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    if (share > 1) {
      kernel.emitError() << "'share=" << unsigned(share) << "' is not possible: it is 0 or 1";
      return signalPassFailure();
    }
    if (ahead > 1) {
      kernel.emitError() << "'ahead=" << unsigned(ahead) << "' is not possible: it is 0 or 1";
      return signalPassFailure();
    }
    for (scf::ForOp loop : loops) {
      if (ahead == 1) {
        LoopStager loader(loop, *chip, threads.getInt(), /*share=*/false);
        SmallVector<atx::TileLoadOp> loads = loader.collectAhead(remarks);
        numAhead += loads.size();
        if (!loads.empty())
          loop = loader.loadAhead(loads);
      }
      LoopStager stager(loop, *chip, threads.getInt(), share == 1);
      if (!stager.collect(losses))
        continue;
      if (failed(stager.arrange(swizzle != 0)))
        return signalPassFailure();
      LoopRegisters needed = estimateRegisters(loop, *chip, threads.getInt());
      int64_t around = held + stager.getInnerBytes();
      IndexAnalysis analysis;
      if (directToLds != "never")
        stager.planDirect(analysis, directToLds == "always", swizzle != 0, remarks);
      std::optional<unsigned> count = stager.chooseStages(stages, around);
      // With one slot, or tiles that wait in registers, there is nothing to copy ahead to.
      if (!count || *count < 2 || prefetch > 0) {
        bool any = false;
        for (Staged &tile : stager.staged) {
          any |= tile.direct.has_value();
          tile.direct.reset();
        }
        if (any && count && remarks)
          loop.emitRemark() << "tiles pass through registers on their way to shared memory: they "
                            << (prefetch > 0 ? "wait there for another iteration" : "have one slot only");
        if (any)
          count = stager.chooseStages(stages, around);
      }
      if (!count) {
        int64_t bytes = stager.getBytes(std::max<unsigned>(1, stages));
        if (stages != 0) {
          loop.emitError() << "'stages=" << unsigned(stages) << "' takes " << bytes
                           << " bytes of shared memory beside the " << around << " of the kernel; " << chip->arch
                           << " has " << chip->ldsBytesPerCU << "; use fewer stages or smaller tiles";
          return signalPassFailure();
        }
        if (losses)
          loop.emitRemark() << "the loop is not pipelined: its tiles take " << bytes
                            << " bytes of shared memory beside the " << around << " of the kernel; " << chip->arch
                            << " has " << chip->ldsBytesPerCU << "; use smaller tiles [unpipelined]";
        continue;
      }
      numShared += stager.sharesSlots(*count) ? stager.staged.size() - 1 : 0;
      for (Staged &tile : stager.staged) {
        const Arrangement &a = tile.getArrangement();
        // What costs nothing is told only who asks for everything.
        if (!remarks && (!losses || !a.extra))
          continue;
        InFlightDiagnostic remark = tile.convert.emitRemark();
        remark << "a tile of type " << tile.convert.getType() << " is staged in " << *count << " slots of " << a.bytes
               << " bytes, ";
        if (a.swizzles.empty())
          remark << toString(LDSArrangement{a.pad, {}});
        for (auto [i, step] : llvm::enumerate(a.swizzles))
          remark << (i ? " and " : "") << toString(LDSArrangement{0, step});
        if (stager.sharesSlots(*count))
          remark << ", in the same place as others";
        if (tile.direct)
          remark << ", copied without registers, " << tile.direct->bytes << " bytes for a lane";
        remark << ", ";
        if (a.extra)
          remark << a.extra << " of " << a.passes << " passes lost to bank conflicts in each iteration [lds-conflict]";
        else
          remark << "without bank conflicts";
      }
      numStaged += stager.staged.size();
      numDirect += llvm::count_if(stager.staged, [](const Staged &tile) { return tile.direct.has_value(); });
      ++numPipelined;
      // A tile that waits in registers for an iteration is there in time wherever it comes from.
      bool isDirect = llvm::any_of(stager.staged, [](const Staged &tile) { return tile.direct.has_value(); });
      unsigned waits = *count == 1 || (!isDirect && needed.room >= needed.loads) ? 1 : 0;
      stager.rewrite(*count, prefetch >= 0 ? unsigned(prefetch) : waits);
    }
  }
};

} // namespace
