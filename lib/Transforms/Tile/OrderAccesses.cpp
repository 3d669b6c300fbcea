//===- OrderAccesses.cpp - Barriers that keep the order of statements -----===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program of a workgroup reads like a program of one, but its waves run on
// their own: what one has loaded another may have overwritten already, or may
// overwrite before a third has loaded it. Wherever two accesses may meet that the
// language keeps in order, a barrier is placed between them.
//
// Walks the kernel with the accesses that no barrier has closed yet. A loop sees
// those of its iteration before, so walks are repeated until nothing changes.
// Accesses do not meet if they touch different elements, or if every element
// they share is accessed by the same work-item: equal layouts with equal positions
// up to what all work-items share.
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

namespace {

/// More open accesses than this are closed by a barrier, so that long programs do
/// not take quadratic time.
constexpr unsigned maxOpenAccesses = 256;

/// A position along one dimension of memory. `form` is absent where it is no sum.
struct Position {
  std::optional<LinearIndex> form;
  std::optional<Bounds> range;
  /// Largest sum of coordinates times coefficients; the least is 0.
  int64_t span = 0;
};

struct MemoryAccess {
  Operation *op = nullptr;
  Value memory;
  /// Accesses of different roots never meet: a shared tile, or the name of an argument.
  const void *root = nullptr;
  bool isShared = false, isLoad = false, isAtomic = false;
  TileLayout layout;
  SmallVector<int64_t> shape;
  SmallVector<Position> positions;
};

/// Open accesses, each with the outermost loop whose iteration has ended since, or null.
using OpenAccesses = llvm::MapVector<Operation *, Operation *>;

enum class Fence { None, Shared, All };

class Orderer {
public:
  Orderer(TileEmitter &e) : e(e) {}
  unsigned run();

private:
  void collect();
  void walk(Block &block, OpenAccesses &open);
  void visit(Operation *op, OpenAccesses &open);
  /// Adds what is open in `from`; true if `to` has changed.
  static bool join(OpenAccesses &to, const OpenAccesses &from, Operation *finished = nullptr);
  void close(OpenAccesses &open, Fence fence);
  void demand(Operation *before, Fence fence, OpenAccesses &open);
  bool mustOrder(const MemoryAccess &first, const MemoryAccess &second) const;
  /// Whether the accesses may touch one element in different work-items.
  bool mayMeet(const MemoryAccess &first, const MemoryAccess &second, Operation *finished);
  bool isSameView(Value first, Value second) const;
  /// Difference of the shared parts of two positions: a constant plus any multiple of `modulus`, 0 for none.
  std::pair<int64_t, int64_t> getDifference(const LinearIndex &first, const LinearIndex &second, Operation *finished);

  TileEmitter &e;
  llvm::MapVector<Operation *, MemoryAccess> accesses;
  DenseMap<const void *, bool> isRelevant;
  DenseMap<Operation *, Fence> fences;
  DenseMap<Operation *, OpenAccesses> atStart;
  bool changed = false, demanded = false;
};

} // namespace

void tile::addScalar(LinearIndex &form, Value value, int64_t coefficient, unsigned depth) {
  int64_t product;
  Operation *op = depth < 32 ? value.getDefiningOp() : nullptr;
  if (isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(op))
    return addScalar(form, op->getOperand(0), coefficient, depth + 1);
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    addScalar(form, op->getOperand(0), coefficient, depth + 1);
    return addScalar(form, op->getOperand(1), isa<arith::SubIOp>(op) ? -coefficient : coefficient, depth + 1);
  }
  if (isa_and_nonnull<arith::MulIOp>(op))
    for (unsigned side = 0; side < 2; ++side)
      if (std::optional<int64_t> number = getConstantIntValue(op->getOperand(side));
          number && !llvm::MulOverflow(*number, coefficient, product) && std::abs(product) < int64_t(1) << 40)
        return addScalar(form, op->getOperand(1 - side), product, depth + 1);
  if (std::optional<int64_t> number = getConstantIntValue(value);
      number && !llvm::MulOverflow(*number, coefficient, product) && std::abs(product) < int64_t(1) << 40) {
    form.constant += product;
    return;
  }
  for (auto &[known, factor] : form.scalars)
    if (known == value) {
      factor += coefficient;
      return;
    }
  form.scalars.push_back({value, coefficient});
}

/// The position with equal terms joined and constants folded; nothing where coefficients are negative or large.
static std::optional<LinearIndex> getForm(Value index, unsigned rank) {
  LinearIndex form, result;
  SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  if (!decomposeIndex(index, rank, 1, dims, form) || std::abs(form.constant) > int64_t(1) << 40)
    return std::nullopt;
  result.constant = form.constant;
  for (auto [value, coefficient] : form.scalars)
    addScalar(result, value, coefficient);
  llvm::erase_if(result.scalars, [](auto term) { return term.second == 0; });
  for (auto [dim, coefficient] : form.coordinates) {
    auto *known = llvm::find_if(result.coordinates, [dim = dim](auto term) { return term.first == dim; });
    if (known == result.coordinates.end())
      result.coordinates.push_back({dim, coefficient});
    else
      known->second += coefficient;
  }
  llvm::erase_if(result.coordinates, [](auto term) { return term.second == 0; });
  for (auto [dim, coefficient] : result.coordinates)
    if (coefficient < 0 || coefficient > int64_t(1) << 31)
      return std::nullopt;
  // From the fastest on.
  llvm::sort(result.coordinates,
             [](auto a, auto b) { return std::pair(a.second, a.first) < std::pair(b.second, b.first); });
  return result;
}

void Orderer::collect() {
  auto args = e.kernel->getAttrOfType<ArrayAttr>(atx::kernelArgsAttrName);
  auto getRoot = [&](Value memory) -> const void * {
    if (memory.getDefiningOp<atx::TileSharedOp>())
      return memory.getAsOpaquePointer();
    // A result may be the buffer of the parameter with its name.
    if (auto cast = memory.getDefiningOp<memref::ReinterpretCastOp>())
      if (auto arg = dyn_cast<BlockArgument>(cast.getSource()); arg && args && arg.getArgNumber() < args.size())
        if (auto info = dyn_cast<DictionaryAttr>(args[arg.getArgNumber()]))
          if (Attribute name = info.get("name"))
            return name.getAsOpaquePointer();
    return nullptr;
  };
  auto add = [&](Operation *op, Value memory, ValueRange indices, Value layoutOf) {
    MemoryAccess access;
    access.op = op;
    access.memory = memory;
    access.root = getRoot(memory);
    access.isShared = bool(memory.getDefiningOp<atx::TileSharedOp>());
    access.isLoad = isa<atx::TileLoadOp>(op);
    access.isAtomic = isa<atx::TileAtomicOp>(op);
    if (isa<VectorType>(layoutOf.getType())) {
      access.layout = e.getLayout(layoutOf);
      access.shape = TileEmitter::getShape(layoutOf);
    } else {
      // All work-items load, the first one stores.
      access.layout = TileLayout(e.kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName).getInt(), {});
    }
    for (Value index : indices) {
      Position position;
      position.form = getForm(index, access.shape.size());
      position.range = e.analysis.getRange(index);
      if (position.form)
        for (auto [dim, coefficient] : position.form->coordinates)
          position.span += coefficient * (access.shape[dim] - 1);
      access.positions.push_back(std::move(position));
    }
    accesses.insert({op, std::move(access)});
  };
  e.kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<atx::TileRawOp>(op))
      return WalkResult::skip();
    if (auto load = dyn_cast<atx::TileLoadOp>(op))
      add(op, load.getMemory(), load.getIndices(), load.getResult());
    else if (auto store = dyn_cast<atx::TileStoreOp>(op))
      add(op, store.getMemory(), store.getIndices(), store.getValue());
    else if (auto atomic = dyn_cast<atx::TileAtomicOp>(op))
      add(op, atomic.getMemory(), atomic.getIndices(), atomic.getOld());
    return WalkResult::advance();
  });
  // Memory that is only loaded, or not shared and never loaded, needs no order.
  DenseMap<const void *, std::pair<bool, bool>> uses;
  bool unknown = false;
  for (auto &[op, access] : accesses) {
    auto &[loaded, written] = uses[access.root];
    (access.isLoad ? loaded : written) = true;
    unknown |= !access.root;
  }
  for (auto &[op, access] : accesses) {
    auto [loaded, written] = uses[access.root];
    isRelevant[access.root] = unknown || (written && (loaded || access.isShared));
  }
}

bool Orderer::mustOrder(const MemoryAccess &first, const MemoryAccess &second) const {
  if (first.root != second.root && first.root && second.root)
    return false;
  if ((first.isLoad && second.isLoad) || (first.isAtomic && second.isAtomic))
    return false;
  // Which of two stores to global memory remains is the program's care.
  return first.isShared || first.isLoad || second.isLoad;
}

bool Orderer::isSameView(Value first, Value second) const {
  if (first == second)
    return true;
  auto a = first.getDefiningOp<memref::ReinterpretCastOp>(), b = second.getDefiningOp<memref::ReinterpretCastOp>();
  return a && b && a.getType() == b.getType() && a.getMixedSizes() == b.getMixedSizes() &&
         a.getMixedStrides() == b.getMixedStrides();
}

std::pair<int64_t, int64_t> Orderer::getDifference(const LinearIndex &first, const LinearIndex &second,
                                                   Operation *finished) {
  uint64_t modulus = 0;
  auto vary = [&](Value value, int64_t coefficient, int64_t divisor) {
    divisor = std::max(divisor, e.analysis.getInfo(value).divisor);
    // Positions wrap at powers of two, which keeps multiples of smaller ones.
    uint64_t step = uint64_t(std::abs(coefficient) & -std::abs(coefficient)) * uint64_t(divisor & -divisor);
    step = std::min<uint64_t>(step, uint64_t(1) << 31);
    modulus = std::gcd(modulus, step);
  };
  auto coefficientIn = [](const LinearIndex &form, Value value) -> int64_t {
    for (auto [known, coefficient] : form.scalars)
      if (known == value)
        return coefficient;
    return 0;
  };
  auto visit = [&](Value value, int64_t inFirst, int64_t inSecond) {
    Operation *parent = value.getParentRegion()->getParentOp();
    if (!finished || !finished->isAncestor(parent)) {
      if (inFirst != inSecond)
        vary(value, inFirst - inSecond, 1);
      return;
    }
    // Of different iterations.
    if (inFirst == inSecond)
      if (auto loop = dyn_cast<scf::ForOp>(parent); loop == finished && loop.getInductionVar() == value)
        return vary(value, inFirst, e.analysis.getInfo(loop.getStep()).divisor);
    if (inFirst)
      vary(value, inFirst, 1);
    if (inSecond)
      vary(value, inSecond, 1);
  };
  for (auto [value, coefficient] : first.scalars)
    visit(value, coefficient, coefficientIn(second, value));
  for (auto [value, coefficient] : second.scalars)
    if (coefficientIn(first, value) == 0)
      visit(value, 0, coefficient);
  return {second.constant - first.constant, int64_t(modulus)};
}

bool Orderer::mayMeet(const MemoryAccess &first, const MemoryAccess &second, Operation *finished) {
  if (!isSameView(first.memory, second.memory))
    return true;
  SmallVector<std::optional<std::pair<int64_t, int64_t>>> differences;
  for (auto [a, b] : llvm::zip_equal(first.positions, second.positions)) {
    if (a.range && b.range && (a.range->max < b.range->min || b.range->max < a.range->min))
      return false;
    differences.emplace_back();
    if (!a.form || !b.form)
      continue;
    auto [constant, modulus] = getDifference(*a.form, *b.form, finished);
    // Farther apart, positions of 32 bits may meet by wrapping around.
    if (std::abs(constant) + a.span + b.span >= int64_t(1) << 31)
      continue;
    differences.back() = {constant, modulus};
    // Elements lie in [0, a.span] and constant + k modulus + [0, b.span].
    if (modulus == 0 ? constant > a.span || constant + b.span < 0
                     : llvm::mod(constant, modulus) > a.span && modulus - llvm::mod(constant, modulus) > b.span)
      return false;
  }
  // Every shared element in one work-item: positions tell the work-item, in the same way for both.
  if (first.shape != second.shape || first.layout != second.layout)
    return true;
  uint64_t replicas = first.layout.getReplicaBits();
  // Loads are done by all copies, stores by the first: its wave is ordered by its
  // instructions. A wave that reads what one of its lanes wrote is not, since other
  // lanes may go around the store.
  if (first.isLoad && (replicas & ~uint64_t(63)) != 0)
    return true;
  if (second.isLoad && replicas != 0)
    return true;
  SmallVector<bool> known(first.shape.size(), false);
  for (auto [a, b, difference] : llvm::zip_equal(first.positions, second.positions, differences)) {
    if (!difference || a.form->coordinates != b.form->coordinates)
      continue;
    auto [constant, modulus] = *difference;
    // Equal elements then have equal sums of coordinates.
    if (constant != 0 && (modulus == 0 || constant % modulus != 0))
      continue;
    if (modulus != 0 && modulus <= a.span)
      continue;
    // The sum tells its coordinates where each step is longer than all smaller ones together.
    int64_t below = 0;
    bool isMixedRadix = true;
    for (auto [dim, coefficient] : a.form->coordinates) {
      isMixedRadix &= coefficient > below;
      below += coefficient * (first.shape[dim] - 1);
    }
    if (isMixedRadix)
      for (auto [dim, coefficient] : a.form->coordinates)
        known[dim] = true;
  }
  for (auto [dim, isKnown] : llvm::enumerate(known))
    if (!isKnown && first.shape[dim] != 1 && first.layout.getThreadBits(dim) != 0)
      return true;
  return false;
}

bool Orderer::join(OpenAccesses &to, const OpenAccesses &from, Operation *finished) {
  bool grown = false;
  for (auto [op, loop] : from) {
    Operation *outermost = loop;
    if (finished && finished->isProperAncestor(op) && (!loop || finished->isAncestor(loop)))
      outermost = finished;
    auto [it, inserted] = to.insert({op, outermost});
    grown |= inserted;
    if (!inserted && outermost && it->second != outermost && (!it->second || outermost->isAncestor(it->second))) {
      it->second = outermost;
      grown = true;
    }
  }
  return grown;
}

void Orderer::close(OpenAccesses &open, Fence fence) {
  if (fence == Fence::All)
    open.clear();
  else if (fence == Fence::Shared)
    open.remove_if([&](auto &entry) { return accesses.find(entry.first)->second.isShared; });
}

void Orderer::demand(Operation *before, Fence fence, OpenAccesses &open) {
  Fence &known = fences[before];
  if (known < fence) {
    known = fence;
    demanded = true;
  }
  close(open, fence);
}

void Orderer::visit(Operation *op, OpenAccesses &open) {
  if (auto it = fences.find(op); it != fences.end())
    close(open, it->second);
  if (isa<gpu::BarrierOp>(op)) {
    open.clear();
    return;
  }
  if (isa<amdgpu::LDSBarrierOp>(op)) {
    close(open, Fence::Shared);
    return;
  }
  if (auto it = accesses.find(op); it != accesses.end()) {
    MemoryAccess &access = it->second;
    if (!isRelevant[access.root])
      return;
    Fence fence = Fence::None;
    SmallVector<Operation *> others;
    for (auto [other, finished] : open) {
      const MemoryAccess &earlier = accesses.find(other)->second;
      if (!mustOrder(earlier, access) || !mayMeet(earlier, access, finished))
        continue;
      fence = std::max(fence, earlier.isShared && access.isShared ? Fence::Shared : Fence::All);
      others.push_back(other);
    }
    if (open.size() > maxOpenAccesses)
      fence = Fence::All;
    if (fence != Fence::None) {
      // Before the outermost loop that none of the others is in: one barrier for all iterations.
      Operation *place = op;
      if (!others.empty())
        for (Operation *parent = op->getParentOp(); parent && parent != e.kernel; parent = parent->getParentOp()) {
          if (llvm::any_of(others, [&](Operation *other) { return parent->isProperAncestor(other); }))
            break;
          if (isa<scf::ForOp, scf::WhileOp>(parent))
            place = parent;
        }
      demand(place, fence, open);
    }
    open[op] = nullptr;
    return;
  }
  if (isa<atx::TileRawOp>(op))
    return;
  if (isa<scf::ForOp, scf::WhileOp>(op)) {
    OpenAccesses &start = atStart[op];
    changed |= join(start, open);
    OpenAccesses now = start;
    walk(op->getRegion(0).front(), now);
    // What follows a `for` may also follow no iteration, a `while` its condition.
    OpenAccesses after = now;
    if (isa<scf::WhileOp>(op))
      walk(op->getRegion(1).front(), now);
    else
      join(after, start);
    changed |= join(atStart[op], now, op);
    open = std::move(after);
    return;
  }
  if (op->getNumRegions() == 0)
    return;
  OpenAccesses before = open, result;
  bool mayPass = isa<scf::IfOp>(op) && op->getRegion(1).empty();
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      OpenAccesses now = before;
      walk(block, now);
      join(result, now);
    }
  if (mayPass)
    join(result, before);
  open = std::move(result);
}

void Orderer::walk(Block &block, OpenAccesses &open) {
  for (Operation &op : block)
    visit(&op, open);
}

unsigned Orderer::run() {
  collect();
  if (llvm::none_of(isRelevant, [](auto &entry) { return entry.second; }))
    return 0;
  do {
    changed = false;
    demanded = false;
    OpenAccesses open;
    walk(e.kernel.getBody().front(), open);
    // Fences close what has reached loops before.
    if (demanded)
      atStart.clear();
  } while (changed || demanded);
  unsigned count = 0;
  for (auto [op, fence] : fences) {
    OpBuilder b(op);
    if (fence == Fence::All)
      gpu::BarrierOp::create(b, op->getLoc());
    else
      amdgpu::LDSBarrierOp::create(b, op->getLoc());
    ++count;
  }
  return count;
}

unsigned tile::orderAccesses(TileEmitter &e) { return Orderer(e).run(); }
