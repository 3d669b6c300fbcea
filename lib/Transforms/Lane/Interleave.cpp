//===- Interleave.cpp - The order of loads and matrix instructions --------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The backend's scheduler keeps to groups: sched.group.barrier says how many
// instructions of a class stand next in a region. A region is a block, or what
// lies between two limits in it (sched.barrier 0, s.setprio).
//
//===----------------------------------------------------------------------===//

#include "LaneOps.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <functional>
#include <tuple>

namespace atrex {
#define GEN_PASS_DEF_INTERLEAVEPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::lane;

namespace {

/// Classes of llvm.amdgcn.sched.group.barrier.
enum Mask : uint32_t {
  maskALU = 0x1,
  maskVALU = 0x2,
  maskSALU = 0x4,
  maskMFMA = 0x8,
  maskVMEM = 0x10,
  maskVMEMRead = 0x20,
  maskVMEMWrite = 0x40,
  maskDS = 0x80,
  maskDSRead = 0x100,
  maskDSWrite = 0x200,
  maskTranscendental = 0x400
};

/// Most groups times matrix instructions of a region: the time that the backend takes to form groups grows with
/// about the third power of these.
constexpr size_t maxGroupCost = 8192;
/// Most matrix instructions of a region that is given groups; the backend takes 0.1 to 0.2 s for these.
constexpr size_t maxInterleaved = 128;

struct Group {
  uint32_t mask;
  unsigned count;
};

/// "mfma:4,ds_read:2" as groups.
std::optional<SmallVector<Group>> parsePattern(StringRef text) {
  SmallVector<Group> groups;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, number] = part.trim().split(':');
    uint32_t mask = llvm::StringSwitch<uint32_t>(name)
                        .Case("alu", maskALU)
                        .Case("valu", maskVALU)
                        .Case("salu", maskSALU)
                        .Case("mfma", maskMFMA)
                        .Case("vmem", maskVMEM)
                        .Case("vmem_read", maskVMEMRead)
                        .Case("vmem_write", maskVMEMWrite)
                        .Case("ds", maskDS)
                        .Case("ds_read", maskDSRead)
                        .Case("ds_write", maskDSWrite)
                        .Case("trans", maskTranscendental)
                        .Default(0);
    unsigned count;
    if (mask == 0 || number.getAsInteger(10, count) || count == 0 || count > 1024)
      return std::nullopt;
    groups.push_back({mask, count});
  }
  return groups;
}

/// A part of a block that the backend schedules as a whole: [first, last).
struct SchedulerRegion {
  Block::iterator first, last;
  SmallVector<Operation *> mfmas;
  /// Accesses in order of the program, with the number of barriers before each.
  SmallVector<std::pair<Operation *, unsigned>> accesses;
  bool isStraight = true;
};

SmallVector<SchedulerRegion> getRegions(Block &block) {
  SmallVector<SchedulerRegion> regions(1);
  regions.back().first = block.begin();
  unsigned barriers = 0;
  for (Operation &op : block) {
    Unit unit = getUnit(&op);
    SchedulerRegion &region = regions.back();
    if (unit == Unit::Fence || op.getNumRegions() != 0) {
      region.last = op.getIterator();
      regions.emplace_back();
      regions.back().first = std::next(op.getIterator());
      barriers = 0;
      continue;
    }
    if (unit == Unit::MFMA)
      region.mfmas.push_back(&op);
    else if (unit == Unit::Barrier)
      ++barriers;
    else if (unit == Unit::Memory)
      region.isStraight = false;
    else if (isMemory(unit))
      region.accesses.push_back({&op, barriers});
  }
  regions.back().last = block.getTerminator()->getIterator();
  return regions;
}

uint32_t getMask(Unit unit) {
  switch (unit) {
  case Unit::LDSRead:
    return maskDSRead;
  case Unit::LDSWrite:
    return maskDSWrite;
  case Unit::GlobalRead:
    return maskVMEMRead;
  default:
    return maskVMEMWrite;
  }
}

/// Where each access goes among the matrix instructions, as groups.
///
/// Slot s lies before instruction s. An access whose result an instruction takes
/// must come before it. What the first instructions take comes first; the rest is
/// spread evenly, each class for itself, with the accesses that come behind a
/// barrier behind those before it.
SmallVector<Group> planRegion(Block &block, const SchedulerRegion &region) {
  int64_t count = region.mfmas.size();
  struct Access {
    Unit unit;
    unsigned instructions;
    unsigned phase;
    int64_t deadline;
    bool waits = false, isUrgent = false;
    int64_t slot = 0;
    /// Place in the program, among accesses.
    unsigned number = 0;
  };
  DenseMap<Operation *, int64_t> position;
  for (auto [i, op] : llvm::enumerate(region.mfmas))
    position[op] = i;
  // The earliest instruction that needs a value, found from the back.
  DenseMap<Operation *, int64_t> needed;
  auto getNeed = [&](Operation *op) {
    auto it = needed.find(op);
    return it == needed.end() ? count : it->second;
  };
  DenseSet<Operation *> inside;
  for (Operation &op : llvm::make_range(region.first, region.last))
    inside.insert(&op);
  for (auto it = region.last; it != region.first;) {
    Operation *op = &*--it;
    int64_t need = getNeed(op);
    if (auto found = position.find(op); found != position.end())
      need = std::min(need, found->second);
    if (need == count)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && inside.contains(def)) {
        int64_t &known = needed.try_emplace(def, count).first->second;
        known = std::min(known, need);
      }
  }
  SmallVector<Operation *> loads;
  for (auto [op, phase] : region.accesses)
    if (getUnit(op) == Unit::GlobalRead)
      loads.push_back(op);
  DenseSet<Operation *> behindLoads = getDependents(block, loads);

  SmallVector<Access> accesses;
  unsigned phases = 0;
  bool hasWaiting = false;
  for (auto [op, phase] : region.accesses) {
    Unit unit = getUnit(op);
    bool waits = (unit == Unit::LDSWrite || unit == Unit::GlobalWrite) && behindLoads.contains(op);
    accesses.push_back({unit, countInstructions(op), phase, getNeed(op), waits, false, 0, unsigned(accesses.size())});
    hasWaiting |= waits;
    phases = std::max(phases, phase + 1);
  }
  // A barrier stands before everything behind it.
  SmallVector<int64_t> limits(phases + 1, count);
  SmallVector<int64_t> sizes(phases + 1, 0);
  for (unsigned phase = phases; phase-- > 0;) {
    limits[phase] = limits[phase + 1];
    for (Access &access : accesses)
      if (access.phase == phase) {
        access.deadline = std::min(access.deadline, limits[phase + 1]);
        sizes[phase] += access.instructions;
      }
    for (const Access &access : accesses)
      if (access.phase == phase)
        limits[phase] = std::min(limits[phase], access.deadline);
  }
  int64_t begin = 0;
  for (unsigned phase = 0; phase < phases; ++phase) {
    // Phases share what room there is by their size.
    int64_t rest = 0;
    for (unsigned later = phase; later < phases; ++later)
      rest += sizes[later];
    int64_t end = std::max(begin, limits[phase + 1]);
    end = begin + (rest == 0 ? 0 : (end - begin) * sizes[phase] / rest);
    for (Unit unit : {Unit::LDSRead, Unit::GlobalRead, Unit::LDSWrite, Unit::GlobalWrite}) {
      SmallVector<Access *> own;
      for (Access &access : accesses)
        if (access.phase == phase && access.unit == unit)
          own.push_back(&access);
      // By need; equal ones as the program has them.
      llvm::sort(own, [](const Access *a, const Access *b) {
        return std::tuple(a->deadline, a->number) < std::tuple(b->deadline, b->number);
      });
      int64_t urgent = llvm::count_if(own, [&](const Access *a) { return a->deadline <= begin; });
      int64_t spread = int64_t(own.size()) - urgent;
      for (auto [i, access] : llvm::enumerate(own)) {
        if (int64_t(i) < urgent) {
          access->slot = begin;
          access->isUrgent = true;
          continue;
        }
        int64_t from = begin, room = end - begin;
        // What is loaded takes time to arrive.
        if (access->waits) {
          from += room / 2;
          room -= room / 2;
        } else if (unit == Unit::GlobalRead && hasWaiting) {
          room /= 2;
        }
        int64_t slot = from + (2 * (int64_t(i) - urgent) + 1) * room / (2 * spread);
        // Two instructions ahead of the one that takes it.
        access->slot = std::max(begin, std::min(slot, access->deadline - 2));
      }
    }
    begin = end;
  }
  SmallVector<Group> groups;
  // Fewer, larger groups where the backend would take long; slots round down, so that everything still comes in time.
  for (int64_t step = 1;; step *= 2) {
    for (Access &access : accesses)
      access.slot = access.slot / step * step;
    llvm::sort(accesses, [](const Access &a, const Access &b) {
      return std::tuple(a.slot, a.phase, !a.isUrgent, a.number) < std::tuple(b.slot, b.phase, !b.isUrgent, b.number);
    });
    groups.clear();
    auto add = [&](uint32_t mask, unsigned size) {
      if (size == 0)
        return;
      if (!groups.empty() && groups.back().mask == mask)
        groups.back().count += size;
      else
        groups.push_back({mask, size});
    };
    int64_t done = 0;
    for (const Access &access : accesses) {
      add(maskMFMA, unsigned(access.slot - done));
      done = std::max(done, access.slot);
      add(getMask(access.unit), access.instructions);
    }
    add(maskMFMA, unsigned(count - done));
    if (groups.size() * count <= maxGroupCost || step > count)
      return groups;
  }
}

class Interleave : public atrex::impl::InterleavePassBase<Interleave> {
public:
  using InterleavePassBase::InterleavePassBase;

  void runOnOperation() override;

private:
  void run(scf::ForOp loop, ArrayRef<Group> given);
  void finishSums(scf::ForOp loop);
  void cutBehindProducts(scf::ForOp loop);
  void raisePriority(scf::ForOp loop);
};

} // namespace

/// A limit behind the last matrix instruction of each level: those of a level take
/// as factors what was computed from the results of the level before.
void Interleave::cutBehindProducts(scf::ForOp loop) {
  // By operation: one more than the level of the products its results come from.
  DenseMap<Operation *, unsigned> depths;
  SmallVector<Operation *> last;
  for (Operation &op : *loop.getBody()) {
    bool isMFMA = getUnit(&op) == Unit::MFMA;
    unsigned depth = 0;
    op.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands()) {
        Operation *def = operand.get().getDefiningOp();
        unsigned own = def ? depths.lookup(def) : 0;
        // The sum that an instruction adds to belongs to its own level.
        if (isMFMA && operand.getOperandNumber() == 2 && own > 0)
          --own;
        depth = std::max(depth, own);
      }
    });
    if (isMFMA) {
      if (last.size() <= depth)
        last.resize(depth + 1);
      last[depth] = &op;
      ++depth;
    }
    depths[&op] = depth;
  }
  OpBuilder b(loop);
  for (Operation *op : ArrayRef<Operation *>(last).drop_back(last.empty() ? 0 : 1))
    if (op) {
      b.setInsertionPointAfter(op);
      ROCDL::SchedBarrier::create(b, op->getLoc(), 0);
      ++numBoundaries;
    }
}

/// Puts the matrix instructions of a stretch between barriers in the order of their sums: `sums` of them are finished,
/// in turn, before the next begin. What is made of a sum can then go beside the next ones, and fewer are live.
void Interleave::finishSums(scf::ForOp loop) {
  Block &block = *loop.getBody();
  SmallVector<SmallVector<Operation *>> stretches(1);
  for (Operation &op : block) {
    Unit unit = getUnit(&op);
    if (unit == Unit::Barrier || unit == Unit::Fence || op.getNumRegions() != 0)
      stretches.emplace_back();
    else if (unit == Unit::MFMA)
      stretches.back().push_back(&op);
  }
  for (ArrayRef<Operation *> stretch : stretches) {
    if (stretch.size() < 2)
      continue;
    // The instructions that add to one sum, by the last of them.
    DenseMap<Operation *, unsigned> last;
    SmallVector<SmallVector<Operation *>> chains;
    for (Operation *op : stretch) {
      Operation *before = op->getOperand(2).getDefiningOp();
      auto it = before && before->hasOneUse() ? last.find(before) : last.end();
      unsigned chain;
      if (it != last.end()) {
        chain = it->second;
        last.erase(it);
      } else {
        chain = chains.size();
        chains.emplace_back();
      }
      chains[chain].push_back(op);
      last[op] = chain;
    }
    // What factors are named by moves along; they must not come from memory or a sum of the stretch.
    DenseSet<Operation *> own(stretch.begin(), stretch.end()), seen;
    SmallVector<Operation *> names;
    bool fits = true;
    std::function<void(Operation *)> visit = [&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def || def->getBlock() != &block || def->isBeforeInBlock(stretch.front()) || own.contains(def) ||
            !seen.insert(def).second)
          continue;
        fits &= getUnit(def) == Unit::Other && isPure(def) && def->getNumRegions() == 0;
        fits &= llvm::none_of(def->getOperands(), [&](Value value) { return own.contains(value.getDefiningOp()); });
        visit(def);
        names.push_back(def);
      }
    };
    for (Operation *op : stretch)
      visit(op);
    for (ArrayRef<Operation *> chain : chains)
      for (auto [i, op] : llvm::enumerate(chain))
        for (Value operand : op->getOperands())
          if (Operation *def = operand.getDefiningOp(); def && own.contains(def))
            fits &= i > 0 && def == chain[i - 1];
    if (!fits)
      continue;
    SmallVector<Operation *> order;
    for (size_t begin = 0; begin < chains.size(); begin += size_t(sums)) {
      ArrayRef<SmallVector<Operation *>> part =
          ArrayRef(chains).slice(begin, std::min<size_t>(size_t(sums), chains.size() - begin));
      size_t length = 0;
      for (const SmallVector<Operation *> &chain : part)
        length = std::max(length, chain.size());
      for (size_t i = 0; i < length; ++i)
        for (const SmallVector<Operation *> &chain : part)
          if (i < chain.size())
            order.push_back(chain[i]);
    }
    // Behind a mark that stays.
    OpBuilder b(stretch.front());
    Operation *mark = arith::ConstantOp::create(b, loop.getLoc(), b.getI32IntegerAttr(0));
    for (Operation *op : names)
      op->moveBefore(mark);
    for (Operation *op : order)
      op->moveBefore(mark);
    mark->erase();
    ++numStretches;
  }
}

/// s.setprio around matrix instructions that follow one another.
void Interleave::raisePriority(scf::ForOp loop) {
  SmallVector<std::pair<Operation *, Operation *>> runs;
  bool open = false;
  for (Operation &op : *loop.getBody()) {
    Unit unit = getUnit(&op);
    if (unit == Unit::MFMA) {
      if (open)
        runs.back().second = &op;
      else
        runs.push_back({&op, &op});
      open = true;
    } else if (unit != Unit::Other) {
      open = false;
    }
  }
  OpBuilder b(loop);
  for (auto [first, last] : runs) {
    b.setInsertionPoint(first);
    ROCDL::SetPrioOp::create(b, first->getLoc(), uint16_t(priority));
    b.setInsertionPointAfter(last);
    ROCDL::SetPrioOp::create(b, last->getLoc(), uint16_t(0));
    ++numPriorities;
  }
}

void Interleave::run(scf::ForOp loop, ArrayRef<Group> given) {
  bool hasMFMA = llvm::any_of(*loop.getBody(), [](Operation &op) { return getUnit(&op) == Unit::MFMA; });
  if (!hasMFMA)
    return;
  if (boundary == "products")
    cutBehindProducts(loop);
  if (priority > 0)
    raisePriority(loop);
  if (sums > 0)
    finishSums(loop);
  OpBuilder b(loop);
  if (iglp >= 0) {
    b.setInsertionPointToStart(loop.getBody());
    ROCDL::IglpOpt::create(b, loop.getLoc(), uint32_t(iglp));
    return;
  }
  if (pattern == "off")
    return;
  int32_t id = 0;
  for (const SchedulerRegion &region : getRegions(*loop.getBody())) {
    if (region.mfmas.empty())
      continue;
    if (!region.isStraight) {
      region.mfmas.front()->emitRemark() << "matrix instructions are not interleaved: an operation beside them "
                                            "accesses memory in a way that no group describes";
      continue;
    }
    SmallVector<Group> groups;
    if (given.empty()) {
      if (region.accesses.empty())
        continue;
      if (region.mfmas.size() > maxInterleaved) {
        region.mfmas.front()->emitRemark()
            << region.mfmas.size() << " matrix instructions are not interleaved: groups are "
            << "formed of up to " << maxInterleaved << "; unroll less, or let more waves share the tile";
        continue;
      }
      groups = planRegion(*loop.getBody(), region);
    } else {
      // Until the matrix instructions are used up.
      unsigned round = 0;
      for (const Group &group : given)
        round += group.mask == maskMFMA ? group.count : 0;
      for (unsigned done = 0; done < region.mfmas.size(); done += round)
        groups.append(given.begin(), given.end());
    }
    b.setInsertionPoint(&*region.last);
    for (const Group &group : groups)
      ROCDL::SchedGroupBarrier::create(b, loop.getLoc(), group.mask, group.count, id);
    numGroups += groups.size();
    ++id;
  }
  ++numLoops;
}

void Interleave::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  if (iglp < -1 || iglp > 3) {
    kernel.emitError() << "option 'iglp' is " << int64_t(iglp) << "; it must be -1 (off) or a variant from 0 to 3";
    return signalPassFailure();
  }
  if (priority < 0 || priority > 3) {
    kernel.emitError() << "option 'priority' is " << int64_t(priority) << "; it must be from 0 to 3";
    return signalPassFailure();
  }
  if (sums < 0 || sums > 64) {
    kernel.emitError() << "option 'sums' is " << int64_t(sums) << "; it must be from 0 (the order stays) to 64";
    return signalPassFailure();
  }
  if (boundary != "none" && boundary != "products") {
    kernel.emitError() << "option 'boundary' is '" << boundary << "'; it is one of none, products";
    return signalPassFailure();
  }
  SmallVector<Group> given;
  if (pattern != "off" && pattern != "auto") {
    std::optional<SmallVector<Group>> groups = parsePattern(pattern);
    if (!groups || llvm::none_of(*groups, [](const Group &group) { return group.mask == maskMFMA; })) {
      kernel.emitError() << "option 'pattern' is '" << pattern
                         << "'; it is 'off', 'auto' or groups CLASS:COUNT with commas between, one of them of class "
                            "mfma; classes are alu, valu, salu, mfma, vmem, vmem_read, vmem_write, ds, ds_read, "
                            "ds_write, trans";
      return signalPassFailure();
    }
    given = *groups;
  }
  if (pattern == "off" && boundary == "none" && priority == 0 && iglp < 0 && sums == 0)
    return;
  for (scf::ForOp loop : getInnermostLoops(kernel))
    run(loop, given);
}
