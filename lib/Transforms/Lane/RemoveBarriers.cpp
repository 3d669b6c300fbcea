//===- RemoveBarriers.cpp - Barriers that order nothing -------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses and barriers of a kernel become the nodes of a graph, whose edges say
// what may follow what. A barrier stays when, from an access that reaches it and one that
// is reached from it, both without another barrier, one writes bytes that the other
// may touch.
//
//===----------------------------------------------------------------------===//

#include "LaneOps.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace atrex {
#define GEN_PASS_DEF_REMOVEBARRIERSPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

/// Bytes [begin, end).
struct Bytes {
  int64_t begin = 0, end = 0;
  bool meets(const Bytes &other) const { return begin < other.end && other.begin < end; }
};

/// Inclusive bounds of an offset.
struct OffsetRange {
  int64_t min = 0, max = 0;
};

constexpr int64_t farthest = int64_t(1) << 40;
/// `lgkmcnt(0)` alone: what stands before a barrier that waits for nothing else.
constexpr uint32_t waitForLDS = 0xC07F;
/// Longer kernels are left alone, so that the pass takes no more than linear time in practice.
constexpr size_t maxNodes = 20000;

/// Bounds of 32-bit numbers without wrapping; nothing where they are not known.
class Ranges {
public:
  explicit Ranges(int64_t threads) : threads(threads) {}
  std::optional<OffsetRange> get(Value value);

private:
  std::optional<OffsetRange> compute(Value value);
  int64_t threads;
  unsigned depth = 0;
  DenseMap<Value, std::optional<OffsetRange>> known;
  /// Carried values under a hypothesis that is being tested.
  DenseMap<Value, OffsetRange> assumed;
};

enum class NodeKind { Join, Shared, Global, Barrier };

struct Node {
  NodeKind kind = NodeKind::Join;
  Operation *op = nullptr;
  /// The memory, null for any.
  Attribute base;
  Bytes bytes;
  bool writes = false, reads = false, isGone = false;
  SmallVector<unsigned, 2> next, before;
};

class BarrierGraph {
public:
  BarrierGraph(gpu::GPUFuncOp kernel, int64_t threads) : ranges(threads) { build(kernel); }
  /// Whether every operation is one that is understood.
  bool isComplete() const { return complete; }
  /// Writes to bytes that nothing reads.
  SmallVector<Operation *> getDeadWrites();
  bool isNeeded(unsigned barrier) const;

  std::vector<Node> nodes;

private:
  void build(gpu::GPUFuncOp kernel);
  unsigned add(Node node, ArrayRef<unsigned> from);
  SmallVector<unsigned> visit(Block &block, SmallVector<unsigned> from);
  /// Of a pointer into shared memory.
  Node describe(Operation *op, Value pointer, int64_t size, bool reads, bool writes);
  SmallVector<const Node *> collect(unsigned barrier, bool isForward) const;

  Ranges ranges;
  bool complete = true;
};

} // namespace

std::optional<OffsetRange> Ranges::get(Value value) {
  if (auto it = assumed.find(value); it != assumed.end())
    return it->second;
  if (assumed.empty())
    if (auto it = known.find(value); it != known.end())
      return it->second;
  if (depth > 64)
    return std::nullopt;
  ++depth;
  std::optional<OffsetRange> range = compute(value);
  --depth;
  // Nothing wraps in 31 bits.
  if (range && (range->min < -(int64_t(1) << 31) || range->max >= int64_t(1) << 31))
    range.reset();
  if (assumed.empty())
    known[value] = range;
  return range;
}

std::optional<OffsetRange> Ranges::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 32)
    return OffsetRange{constant.getSExtValue(), constant.getSExtValue()};
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop || arg == loop.getInductionVar() || !assumed.empty())
      return std::nullopt;
    // Slots that take turns: what starts inside and stays inside.
    std::optional<OffsetRange> init = get(loop.getTiedLoopInit(arg)->get());
    if (!init || init->min < 0)
      return std::nullopt;
    for (int64_t most : {1, 3, 7}) {
      if (init->max > most)
        continue;
      assumed[arg] = {0, most};
      std::optional<OffsetRange> next = get(loop.getTiedLoopYieldedValue(arg)->get());
      assumed.clear();
      if (next && next->min >= 0 && next->max <= most)
        return OffsetRange{0, most};
    }
    return std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return id.getDimension() == gpu::Dimension::x ? OffsetRange{0, threads - 1} : OffsetRange{0, 0};
  auto operand = [&](unsigned i) { return get(op->getOperand(i)); };
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp, ROCDL::ReadfirstlaneOp>(op))
    return operand(op->getNumOperands() - 1);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op)) {
    std::optional<OffsetRange> range = operand(0);
    return range && range->min >= 0 ? range : std::nullopt;
  }
  if (op->getNumOperands() < 2)
    return std::nullopt;
  if (isa<arith::SelectOp>(op)) {
    std::optional<OffsetRange> a = operand(1), b = operand(2);
    return a && b ? std::optional(OffsetRange{std::min(a->min, b->min), std::max(a->max, b->max)}) : std::nullopt;
  }
  std::optional<OffsetRange> a = operand(0), b = operand(1);
  if (isa<arith::AndIOp>(op)) {
    if (b && b->min >= 0 && (!a || a->min < 0 || b->max <= a->max))
      return OffsetRange{0, b->max};
    return a && a->min >= 0 ? std::optional(OffsetRange{0, a->max}) : std::nullopt;
  }
  if (isa<arith::RemUIOp>(op))
    return b && b->min > 0 ? std::optional(OffsetRange{0, b->max - 1}) : std::nullopt;
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return OffsetRange{a->min + b->min, a->max + b->max};
  if (isa<arith::SubIOp>(op))
    return OffsetRange{a->min - b->max, a->max - b->min};
  if (a->min < 0 || b->min < 0)
    return std::nullopt;
  if (isa<arith::MulIOp>(op))
    return OffsetRange{a->min * b->min, a->max * b->max};
  if (isa<arith::ShLIOp>(op))
    return b->max < 31 ? std::optional(OffsetRange{a->min << b->min, a->max << b->max}) : std::nullopt;
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op))
    return b->max < 32 ? std::optional(OffsetRange{a->min >> b->max, a->max >> b->min}) : std::nullopt;
  if (isa<arith::DivUIOp, arith::DivSIOp>(op))
    return b->min > 0 ? std::optional(OffsetRange{a->min / b->max, a->max / b->min}) : std::nullopt;
  if (isa<arith::OrIOp, arith::XOrIOp>(op))
    return OffsetRange{0, int64_t(llvm::NextPowerOf2(uint64_t(std::max(a->max, b->max)))) - 1};
  if (isa<arith::MinUIOp, arith::MinSIOp>(op))
    return OffsetRange{std::min(a->min, b->min), std::min(a->max, b->max)};
  if (isa<arith::MaxUIOp, arith::MaxSIOp>(op))
    return OffsetRange{std::max(a->min, b->min), std::max(a->max, b->max)};
  return std::nullopt;
}

unsigned BarrierGraph::add(Node node, ArrayRef<unsigned> from) {
  unsigned number = nodes.size();
  node.before.assign(from.begin(), from.end());
  nodes.push_back(std::move(node));
  for (unsigned other : from)
    nodes[other].next.push_back(number);
  return number;
}

Node BarrierGraph::describe(Operation *op, Value pointer, int64_t size, bool reads, bool writes) {
  Node node;
  node.kind = NodeKind::Shared;
  node.op = op;
  node.reads = reads;
  node.writes = writes;
  OffsetRange range;
  while (auto step = pointer.getDefiningOp<LLVM::GEPOp>()) {
    bool isKnown = step.getElemType().isInteger(8) && step.getIndices().size() == 1;
    if (isKnown) {
      auto index = step.getIndices()[0];
      std::optional<OffsetRange> offset;
      if (auto constant = dyn_cast<IntegerAttr>(index))
        offset = OffsetRange{constant.getInt(), constant.getInt()};
      else
        offset = ranges.get(cast<Value>(index));
      isKnown = offset.has_value();
      if (isKnown)
        range = {range.min + offset->min, range.max + offset->max};
    }
    if (!isKnown)
      range = {-farthest, farthest};
    pointer = step.getBase();
  }
  node.bytes = {std::max(range.min, -farthest), std::min(range.max, farthest) + size};
  if (auto address = pointer.getDefiningOp<LLVM::AddressOfOp>())
    node.base = address.getGlobalNameAttr();
  else
    node.bytes = {-farthest, farthest};
  return node;
}

static int64_t getSize(Type type) {
  int64_t count = 1;
  if (auto vector = dyn_cast<VectorType>(type)) {
    count = vector.getNumElements();
    type = vector.getElementType();
  }
  return type.isIntOrFloat() ? llvm::divideCeil(count * type.getIntOrFloatBitWidth(), 8) : count * 8;
}

static bool isSharedPointer(Value value) {
  auto type = dyn_cast<LLVM::LLVMPointerType>(value.getType());
  return type && type.getAddressSpace() == 3;
}

SmallVector<unsigned> BarrierGraph::visit(Block &block, SmallVector<unsigned> from) {
  for (Operation &op : block.without_terminator()) {
    if (nodes.size() > maxNodes)
      complete = false;
    if (!complete)
      return from;
    if (isa<amdgpu::LDSBarrierOp, gpu::BarrierOp>(op)) {
      Node node;
      node.kind = NodeKind::Barrier;
      node.op = &op;
      from = {add(node, from)};
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      SmallVector<unsigned> ends = visit(branch.getThenRegion().front(), from);
      if (branch.getElseRegion().empty())
        ends.append(from);
      else
        ends.append(visit(branch.getElseRegion().front(), from));
      from = {add({}, ends)};
      continue;
    }
    if (isa<scf::ForOp, scf::WhileOp>(op)) {
      unsigned head = add({}, from);
      SmallVector<unsigned> ends = visit(op.getRegion(0).front(), {head});
      SmallVector<unsigned> exits = isa<scf::ForOp>(op) ? SmallVector<unsigned>{head} : ends;
      if (isa<scf::WhileOp>(op))
        ends = visit(op.getRegion(1).front(), ends);
      for (unsigned end : ends) {
        nodes[end].next.push_back(head);
        nodes[head].before.push_back(end);
      }
      from = exits;
      continue;
    }
    if (op.getNumRegions() != 0) {
      complete = false;
      return from;
    }
    if (auto load = dyn_cast<LLVM::LoadOp>(op); load && isSharedPointer(load.getAddr())) {
      from = {add(describe(&op, load.getAddr(), getSize(load.getType()), true, false), from)};
      continue;
    }
    if (auto store = dyn_cast<LLVM::StoreOp>(op); store && isSharedPointer(store.getAddr())) {
      from = {add(describe(&op, store.getAddr(), getSize(store.getValue().getType()), false, true), from)};
      continue;
    }
    if (auto copy = dyn_cast<ROCDL::RawPtrBufferLoadLdsOp>(op)) {
      // Lanes write beside one another.
      std::optional<OffsetRange> bytes = ranges.get(copy.getSize());
      Node node = describe(&op, copy.getLdsPtr(), bytes ? 64 * bytes->max : farthest, false, true);
      from = {add(node, from)};
      continue;
    }
    Value pointer;
    for (Value operand : op.getOperands()) {
      if (isSharedPointer(operand))
        pointer = operand;
      if (isa<MemRefType>(operand.getType()))
        complete = false;
    }
    if (pointer && !isa<LLVM::GEPOp>(op)) {
      // Atomics, transposed reads and the like.
      from = {add(describe(&op, pointer, 64, true, true), from)};
      continue;
    }
    lane::Unit unit = lane::getUnit(&op);
    if (unit == lane::Unit::GlobalRead || unit == lane::Unit::GlobalWrite || unit == lane::Unit::Memory ||
        isa<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp, LLVM::LoadOp, LLVM::StoreOp>(op)) {
      Node node;
      node.kind = NodeKind::Global;
      node.op = &op;
      from = {add(node, from)};
      continue;
    }
    // Inline assembly and calls may do anything.
    if (isa<LLVM::InlineAsmOp, CallOpInterface>(op))
      complete = false;
  }
  return from;
}

void BarrierGraph::build(gpu::GPUFuncOp kernel) {
  unsigned start = add({}, {});
  if (!kernel.getBody().hasOneBlock()) {
    complete = false;
    return;
  }
  visit(kernel.getBody().front(), {start});
}

SmallVector<Operation *> BarrierGraph::getDeadWrites() {
  SmallVector<const Node *> reads;
  for (const Node &node : nodes)
    if (node.kind == NodeKind::Shared && node.reads)
      reads.push_back(&node);
  SmallVector<Operation *> dead;
  for (Node &node : nodes) {
    if (node.kind != NodeKind::Shared || node.reads || !isa<LLVM::StoreOp>(node.op))
      continue;
    bool isRead = llvm::any_of(reads, [&](const Node *read) {
      return !node.base || !read->base || (node.base == read->base && node.bytes.meets(read->bytes));
    });
    if (isRead)
      continue;
    dead.push_back(node.op);
    node.kind = NodeKind::Join;
    node.op = nullptr;
  }
  return dead;
}

SmallVector<const Node *> BarrierGraph::collect(unsigned barrier, bool isForward) const {
  SmallVector<const Node *> found;
  std::vector<bool> seen(nodes.size(), false);
  ArrayRef<unsigned> start = isForward ? nodes[barrier].next : nodes[barrier].before;
  SmallVector<unsigned> work(start);
  while (!work.empty()) {
    unsigned number = work.pop_back_val();
    if (seen[number])
      continue;
    seen[number] = true;
    const Node &node = nodes[number];
    if (node.kind == NodeKind::Barrier && !node.isGone && number != barrier)
      continue;
    if (node.kind == NodeKind::Shared || node.kind == NodeKind::Global)
      found.push_back(&node);
    work.append(isForward ? node.next : node.before);
  }
  return found;
}

bool BarrierGraph::isNeeded(unsigned barrier) const {
  SmallVector<const Node *> earlier = collect(barrier, false), later = collect(barrier, true);
  bool ordersTensors = isa<gpu::BarrierOp>(nodes[barrier].op);
  auto isGlobal = [](const Node *node) { return node->kind == NodeKind::Global; };
  // A wave may wait for another workgroup on behalf of all.
  if (ordersTensors && (llvm::any_of(earlier, isGlobal) || llvm::any_of(later, isGlobal)))
    return true;
  return llvm::any_of(earlier, [&](const Node *first) {
    return !isGlobal(first) && llvm::any_of(later, [&](const Node *second) {
      return !isGlobal(second) && (first->writes || second->writes) &&
             (!first->base || !second->base || (first->base == second->base && first->bytes.meets(second->bytes)));
    });
  });
}

namespace {

class RemoveBarriers : public atrex::impl::RemoveBarriersPassBase<RemoveBarriers> {
public:
  using RemoveBarriersPassBase::RemoveBarriersPassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (enable == 0)
      return;
    auto threads = kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName);
    BarrierGraph graph(kernel, threads && threads.getInt() > 0 ? threads.getInt() : 1024);
    if (!graph.isComplete())
      return;
    for (Operation *write : graph.getDeadWrites()) {
      if (remarks)
        write->emitRemark() << "nothing reads what is written to shared memory here; the write is gone";
      write->erase();
      ++numDeadWrites;
    }
    for (unsigned number = 0; number < graph.nodes.size(); ++number) {
      Node &node = graph.nodes[number];
      if (node.kind != NodeKind::Barrier)
        continue;
      // A wait for more than shared memory belongs to copies that other waves read.
      auto wait = dyn_cast_or_null<ROCDL::SWaitcntOp>(node.op->getPrevNode());
      if ((wait && wait.getBitfield() != waitForLDS) || graph.isNeeded(number)) {
        ++numKept;
        continue;
      }
      if (remarks)
        node.op->emitRemark() << "no access to shared memory before this barrier meets one behind it; it is gone";
      if (wait)
        wait->erase();
      node.op->erase();
      node.op = nullptr;
      node.isGone = true;
      ++numRemoved;
    }
  }
};

} // namespace
