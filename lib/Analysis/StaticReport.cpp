//===- StaticReport.cpp - What the code object alone tells ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Analysis/StaticReport.h"
#include "IssueModel.h"
#include "LaneValues.h"
#include "MachineCode.h"
#include "Remarks.h"
#include "atrex/Analysis/LDSBanks.h"
#include "atrex/Target/MatrixInstructions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <set>

using namespace llvm;
using namespace atrex;
using namespace atrex::analysis;
using namespace atrex::device;
using namespace atrex::device::sim;

namespace {

/// Trips of an innermost loop that the addresses of LDS accesses are compared
/// over: staging buffers take turns.
constexpr unsigned addressTrips = 3;

/// Cycles of the LDS for a number of passes: writes take the wires for longer than
/// a pass where the table's rates say so.
struct LdsCost {
  uint64_t minimum = 0, perPass = 1;
};
LdsCost getLdsCost(const ChipInfo &chip, bool isWrite, unsigned bytes) {
  const LDSRule *rule = chip.lookupLDSRule(isWrite, bytes);
  uint64_t total = 64ull * std::max(bytes, 4u);
  uint64_t rate = isWrite ? chip.issue.ldsWriteBytesPerClock : chip.issue.ldsReadBytesPerClock;
  uint64_t passes = rule ? rule->phases.size() : divideCeil(total, rate);
  uint64_t clocks = std::max(passes, divideCeil(total, rate));
  return {clocks, std::max<uint64_t>(1, divideCeil(clocks, passes))};
}

/// What a sample run saw of one access.
struct AccessFact {
  bool isSeen = false, isUnknown = false, isAssumed = false, isRuleAssumed = false;
  /// Unknown for want of a rule of the LDS for such accesses.
  bool isWithoutRule = false;
  /// LDS: extra cycles of the costliest execution.
  uint64_t conflict = 0;
};

/// Kernel arguments a launch decides, for sampling.
struct Argument {
  enum Kind { Pointer, Dim, Other } kind = Other;
  std::string name;
  uint32_t offset = 0, size = 0;
};

class Analyzer {
public:
  Analyzer(const KernelDesc &k, const ManifestKernel *m, const Manifest &manifest, const ChipInfo &chip, Program &p,
           EffectsTable &e, const Inst *entry, const SourceLines &lines)
      : kernel(k), launch(m), manifest(manifest), chip(chip), program(p), f(buildFunction(p, e, entry, lines)) {}

  KernelReport run(std::vector<Remark> &remarks);

private:
  Assumptions makeAssumptions(uint64_t variant, const std::map<std::string, int64_t> &dims) const;
  void collectArguments();
  void evaluateLanes();
  void findTrips();
  using TripCounts = std::vector<std::optional<uint64_t>>;
  std::optional<DimExpr> fitTrips(StringRef dim, function_ref<std::optional<uint64_t>(int64_t)> count) const;
  LoopReport describeLoop(unsigned index);
  void analyzeWaits(LoopReport &loop, const std::vector<unsigned> &body, const std::vector<double> &stalls);
  void sumTraffic(KernelReport &report);
  uint64_t getIssueCycles(const MachineInst &mi) const;
  uint64_t getVmemCycles(unsigned index) const;

  const KernelDesc &kernel;
  const ManifestKernel *launch;
  const Manifest &manifest;
  const ChipInfo &chip;
  Program &program;
  MachineFunction f;
  unsigned threads = 64, waves = 1;
  Occupancy occupancy;
  std::vector<Argument> arguments;
  std::vector<AccessFact> facts;
  /// By instruction: active lanes summed over the waves of a workgroup.
  std::vector<uint64_t> lanes;
  /// Global accesses of the first wave on the first trip, of both samples.
  AccessLog accessLog;
  std::vector<std::optional<DimExpr>> trips;
};

/// Replaces dimensions by expressions.
DimExpr substitute(const DimExpr &expr, const std::map<std::string, DimExpr> &dims) {
  switch (expr.getKind()) {
  case DimExpr::Kind::Constant:
    return expr;
  case DimExpr::Kind::Dim: {
    auto found = dims.find(expr.getDim().str());
    return found == dims.end() ? expr : found->second;
  }
  default:
    return DimExpr::binary(expr.getKind(), substitute(expr.getLhs(), dims), substitute(expr.getRhs(), dims))
        .substitute({});
  }
}

/// Kernel arguments as the metadata and the manifest describe them.
void Analyzer::collectArguments() {
  for (const KernelArgInfo &arg : kernel.args) {
    Argument a;
    a.offset = arg.offset;
    a.size = arg.size;
    a.name = arg.name;
    if (arg.valueKind == "global_buffer" || arg.valueKind == "dynamic_shared_pointer")
      a.kind = Argument::Pointer;
    else if (arg.valueKind == "by_value" && (arg.size == 4 || arg.size == 8))
      a.kind = Argument::Dim;
    if (a.name.empty())
      a.name = "arg" + std::to_string(arguments.size());
    if (launch)
      for (const ManifestArg &m : launch->args)
        if (m.offset == arg.offset) {
          a.name = m.name;
          a.kind = m.kind == ManifestArg::Kind::Tensor ? Argument::Pointer
                   : m.kind == ManifestArg::Kind::Dim  ? Argument::Dim
                                                       : Argument::Other;
        }
    arguments.push_back(std::move(a));
  }
}

/// Sample values. `variant` moves pointers and workgroups; dimensions that `dims`
/// does not name are large multiples of 4096, different ones for each argument.
Assumptions Analyzer::makeAssumptions(uint64_t variant, const std::map<std::string, int64_t> &dims) const {
  Assumptions values;
  size_t dwords = (std::max<size_t>(kernel.resources.kernargBytes, 8) + 3) / 4;
  values.kernarg.assign(dwords, 0);
  values.trust.assign(dwords, Trust::Unknown);
  auto put = [&](uint32_t offset, uint32_t size, uint64_t value, Trust trust) {
    if (offset % 4)
      return;
    for (uint32_t k = 0; k < size / 4 && offset / 4 + k < dwords; ++k) {
      values.kernarg[offset / 4 + k] = uint32_t(value >> (32 * k));
      values.trust[offset / 4 + k] = trust;
    }
  };
  for (auto [i, a] : enumerate(arguments)) {
    if (a.kind == Argument::Pointer) {
      put(a.offset, a.size, ((i + 1) << 40) + variant * 4096, Trust::Assumed);
    } else if (a.kind == Argument::Dim) {
      auto found = dims.find(a.name);
      put(a.offset, a.size, found != dims.end() ? uint64_t(found->second) : 4096 * (i + 1) * (variant + 1),
          Trust::Assumed);
    }
  }
  for (const KernelArgInfo &arg : kernel.args)
    if (StringRef(arg.valueKind).starts_with("hidden_group_size_")) {
      uint32_t n =
          arg.valueKind.back() == 'x' ? (kernel.requiredWorkgroup[0] ? kernel.requiredWorkgroup[0] : threads) : 1;
      if (arg.offset % 4 == 0 && arg.offset / 4 < dwords) {
        // Two of them lie in a dword.
        values.kernarg[arg.offset / 4] |= n;
        values.trust[arg.offset / 4] = Trust::Assumed;
      }
    }
  for (unsigned d = 0; d < 3; ++d)
    values.group[d] = uint32_t(variant);
  return values;
}

void Analyzer::evaluateLanes() {
  facts.assign(f.insts.size(), {});
  lanes.assign(f.insts.size(), 0);
  LaneEvaluator evaluator(f, kernel, chip, threads, program);
  int64_t addresses[64];
  auto countLds = [&](const AccessPlace &place) {
    AccessFact &fact = facts[place.inst];
    const MachineInst &mi = f.insts[place.inst];
    fact.isSeen = true;
    if (!place.addresses || mi.effects->access->atomic) {
      fact.isUnknown |= !mi.effects->access->atomic;
      return;
    }
    fact.isAssumed |= place.trust != Trust::Known;
    const LdsPlaces &places = place.addresses->places;
    bool isWrite = mi.effects->access->writes;
    unsigned bytes = mi.effects->access->bytes;
    LdsCost cost = getLdsCost(chip, isWrite, bytes);
    uint64_t extra = 0;
    unsigned some = unsigned(__builtin_ctzll(place.active));
    for (unsigned k = 0; k < places.count; ++k) {
      for (unsigned i = 0; i < 64; ++i)
        addresses[i] = int64_t(places.at(k, place.active >> i & 1 ? i : some));
      layout::Fault fault;
      std::optional<LDSCost> count = countLDSPasses(chip, addresses, isWrite, bytes, LDSUnknown::Assume, fault);
      if (!count || !count->isExact()) {
        fact.isUnknown = true;
        fact.isWithoutRule = count.has_value();
        return;
      }
      fact.isRuleAssumed |= count->rule->evidence == LDSEvidence::Assumed;
      extra += uint64_t(count->getExtra()) * cost.perPass;
    }
    fact.conflict = std::max(fact.conflict, extra);
  };
  Assumptions base = makeAssumptions(0, {});
  for (unsigned wave = 0; wave < waves; ++wave)
    evaluator.run(wave, base, addressTrips, false, [&](const AccessPlace &place) {
      const MachineInst &mi = f.insts[place.inst];
      if (mi.isLdsAccess()) {
        countLds(place);
        return;
      }
      if (place.trip)
        return;
      lanes[place.inst] += unsigned(popcount(place.active));
      if (wave == 0)
        accessLog.add(0, place, f.insts[place.inst]);
    });
  // Other sample values must tell the same about what stands on them.
  if (llvm::none_of(facts, [](const AccessFact &fact) { return fact.isAssumed; }) && accessLog.empty())
    return;
  std::vector<AccessFact> first = facts;
  Assumptions other = makeAssumptions(1, {});
  facts.assign(f.insts.size(), {});
  evaluator.run(0, other, addressTrips, false, [&](const AccessPlace &place) {
    if (f.insts[place.inst].isLdsAccess())
      countLds(place);
    else if (!place.trip)
      accessLog.add(1, place, f.insts[place.inst]);
  });
  for (unsigned i = 0; i < f.insts.size(); ++i) {
    if (first[i].isAssumed && facts[i].isSeen && !first[i].isUnknown &&
        (facts[i].isUnknown || facts[i].conflict > first[i].conflict))
      first[i].isUnknown = true;
  }
  facts = std::move(first);
}

/// Trip counts as expressions: constants where all samples agree, otherwise of the
/// one dimension that they depend on.
void Analyzer::findTrips() {
  trips.assign(f.loops.size(), std::nullopt);
  if (f.loops.empty())
    return;
  LaneEvaluator evaluator(f, kernel, chip, threads, program);
  auto sample = [&](const Assumptions &values, unsigned wave, bool *isKnown = nullptr) {
    evaluator.run(wave, values, 2, true, nullptr);
    TripCounts counts;
    for (unsigned k = 0; k < f.loops.size(); ++k) {
      std::optional<LaneEvaluator::Trips> n = evaluator.countTrips(k);
      if (isKnown)
        *isKnown &= n && n->trust == Trust::Known;
      counts.push_back(n ? std::optional(n->count) : std::nullopt);
    }
    return counts;
  };
  std::map<std::string, int64_t> dims;
  for (auto [i, a] : enumerate(arguments))
    if (a.kind == Argument::Dim)
      dims[a.name] = 3840 + 256 * int64_t(i);
  bool isKnown = true;
  TripCounts base = sample(makeAssumptions(0, dims), 0, &isKnown);
  std::vector<bool> varies(f.loops.size(), false);
  auto compare = [&](const TripCounts &one, const TripCounts &other, std::vector<bool> &differs) {
    for (unsigned k = 0; k < f.loops.size(); ++k)
      if (other[k] != one[k])
        differs[k] = true;
  };
  if (waves > 1)
    compare(base, sample(makeAssumptions(0, dims), waves - 1), varies);
  if (!isKnown) {
    compare(base, sample(makeAssumptions(1, dims), 0), varies);
    compare(base, sample(makeAssumptions(3, dims), 0), varies);
    // The last workgroup of a grid that its tiles do not divide.
    std::map<std::string, int64_t> odd = dims;
    for (auto &entry : odd)
      entry.second += 1;
    if (launch) {
      DimMap values;
      for (const auto &[name, value] : manifest.constants)
        values[name] = value;
      for (const auto &[name, value] : odd)
        values[name] = value;
      Assumptions last = makeAssumptions(0, odd);
      for (unsigned d = 0; d < 3; ++d) {
        Expected<int64_t> extent = launch->grid[d].evaluate(values);
        if (extent && *extent > 0)
          last.group[d] = uint32_t(*extent - 1);
        else if (!extent)
          consumeError(extent.takeError());
      }
      compare(sample(makeAssumptions(0, odd), 0), sample(last, 0), varies);
    }
  }
  // Which dimensions matter.
  std::vector<std::vector<unsigned>> depends(f.loops.size());
  if (!isKnown)
    for (auto [i, a] : enumerate(arguments)) {
      if (a.kind != Argument::Dim)
        continue;
      std::vector<bool> differs(f.loops.size(), false);
      for (int64_t factor : {2, 5, 1000}) {
        std::map<std::string, int64_t> other = dims;
        other[a.name] = other[a.name] * factor + 1;
        compare(base, sample(makeAssumptions(0, other), 0), differs);
      }
      for (unsigned k = 0; k < f.loops.size(); ++k)
        if (differs[k])
          depends[k].push_back(unsigned(i));
    }
  for (unsigned k = 0; k < f.loops.size(); ++k) {
    if (varies[k] || !base[k])
      continue;
    if (depends[k].empty()) {
      if (*base[k] <= uint64_t(INT64_MAX))
        trips[k] = DimExpr::constant(int64_t(*base[k]));
      continue;
    }
    if (depends[k].size() != 1)
      continue;
    const std::string &dim = arguments[depends[k].front()].name;
    trips[k] = fitTrips(dim, [&](int64_t size) {
      std::map<std::string, int64_t> other = dims;
      other[dim] = size;
      return sample(makeAssumptions(0, other), 0)[k];
    });
  }
  // A plan gives the dimensions of a kernel as expressions.
  std::map<std::string, DimExpr> values;
  if (launch)
    for (const ManifestArg &arg : launch->args)
      if (arg.kind == ManifestArg::Kind::Dim && arg.value)
        values[arg.name] = *arg.value;
  for (std::optional<DimExpr> &trip : trips)
    if (trip)
      trip = substitute(*trip, values);
}

/// (D + c) / s, where the steps from 1 to 2 and from 2 to 3 trips put c and s, and
/// where further steps, both sides of them, and small sizes agree.
std::optional<DimExpr> Analyzer::fitTrips(StringRef dim, function_ref<std::optional<uint64_t>(int64_t)> count) const {
  constexpr int64_t largest = int64_t(1) << 31;
  // The smallest size with so many trips: counts grow with the size.
  auto find = [&](uint64_t trips, int64_t low) -> std::optional<int64_t> {
    int64_t high = std::max<int64_t>(low, 16);
    for (;; high *= 2) {
      if (high > largest)
        return std::nullopt;
      std::optional<uint64_t> n = count(high);
      if (!n)
        return std::nullopt;
      if (*n >= trips)
        break;
      low = high;
    }
    while (low + 1 < high) {
      int64_t middle = low + (high - low) / 2;
      std::optional<uint64_t> n = count(middle);
      if (!n)
        return std::nullopt;
      (*n >= trips ? high : low) = middle;
    }
    return high;
  };
  std::optional<int64_t> second = find(2, 0), third = second ? find(3, *second) : std::nullopt;
  if (!third || *third <= *second)
    return std::nullopt;
  int64_t step = *third - *second, offset = 2 * step - *second;
  std::vector<int64_t> sizes = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 255, 1000, 1025, 4097};
  for (int64_t k : {0, 1, 2, 3, 5, 8, 30, 31, 32, 100})
    for (int64_t side : {-1, 0, 1})
      sizes.push_back(*second + k * step + side);
  for (int64_t size : sizes) {
    if (size <= 0)
      continue;
    int64_t expected = (size + offset) >= 0 ? (size + offset) / step : -1;
    std::optional<uint64_t> n = count(size);
    if (!n || int64_t(*n) != expected)
      return std::nullopt;
  }
  DimExpr d = DimExpr::dim(dim);
  auto divide = [&](DimExpr::Kind kind) { return step == 1 ? d : DimExpr::binary(kind, d, DimExpr::constant(step)); };
  if (offset == step - 1)
    return divide(DimExpr::Kind::CeilDiv);
  if (offset == 0)
    return divide(DimExpr::Kind::FloorDiv);
  if (offset == step)
    return DimExpr::binary(DimExpr::Kind::Add, DimExpr::constant(1), divide(DimExpr::Kind::FloorDiv));
  DimExpr sum = offset < 0 ? DimExpr::binary(DimExpr::Kind::Sub, d, DimExpr::constant(-offset))
                           : DimExpr::binary(DimExpr::Kind::Add, d, DimExpr::constant(offset));
  return step == 1 ? sum : DimExpr::binary(DimExpr::Kind::FloorDiv, sum, DimExpr::constant(step));
}

uint64_t Analyzer::getVmemCycles(unsigned index) const {
  const MachineInst &mi = f.insts[index];
  return std::max<uint64_t>(4, divideCeil(64ull * mi.getAccessBytes(), chip.issue.l1BytesPerClock));
}

/// Cycles in which an instruction keeps its wave from issuing the next.
uint64_t Analyzer::getIssueCycles(const MachineInst &mi) const {
  switch (mi.cls) {
  case InstClass::VALU:
  case InstClass::Trans:
  case InstClass::MulQuarter:
    return mi.inst->cycles;
  case InstClass::SALU:
  case InstClass::SMEM:
    return chip.issue.saluCycles;
  case InstClass::Internal:
    return 4ull * std::max<unsigned>(1, mi.effects->states);
  default:
    return 4;
  }
}

void Analyzer::analyzeWaits(LoopReport &loop, const std::vector<unsigned> &body, const std::vector<double> &stalls) {
  struct Operation {
    size_t position;
    unsigned inst;
    unsigned trip;
  };
  // Position and cycles of issue at the beginning of each instruction.
  std::vector<uint64_t> clock = {0};
  for (unsigned i : body)
    clock.push_back(clock.back() + getIssueCycles(f.insts[i]));
  const size_t n = body.size();
  std::vector<Operation> vm, lgkm;
  for (unsigned trip = 0; trip < 3; ++trip)
    for (size_t at = 0; at < n; ++at) {
      const MachineInst &mi = f.insts[body[at]];
      const Effects &e = *mi.effects;
      if (e.flags & Effects::Waitcnt) {
        auto wait = [&](std::vector<Operation> &queue, unsigned value, unsigned full, StringLiteral counter) {
          if (value >= full || queue.size() <= value)
            return;
          size_t complete = queue.size() - value;
          const Operation &youngest = queue[complete - 1];
          // The third trip is the steady state.
          if (trip == 2) {
            WaitReport w;
            w.line = mi.line;
            w.counter = counter;
            w.value = value;
            w.outstanding = unsigned(queue.size());
            size_t tripsApart = trip - youngest.trip;
            w.isEarlierTrip = tripsApart > 0;
            w.distance = unsigned(at + tripsApart * n - youngest.position - 1);
            if (counter == "vmcnt")
              w.stallCycles = stalls[at];
            w.distanceCycles = clock[at] + tripsApart * clock[n] - clock[youngest.position + 1];
            // Which of them are used before the next wait for the same counter?
            if (value == 0) {
              std::vector<bool> used(queue.size(), false);
              for (size_t step = 1; step <= n; ++step) {
                const MachineInst &next = f.insts[body[(at + step) % n]];
                bool again = next.effects->flags & Effects::Waitcnt &&
                             (counter == "vmcnt" ? next.effects->vmcnt < 63 : next.effects->lgkmcnt < 15);
                if (again)
                  break;
                for (size_t q = 0; q < queue.size(); ++q) {
                  const MachineInst &op = f.insts[queue[q].inst];
                  bool hit = op.isLdsDma() && next.effects->flags & Effects::Barrier;
                  // Loads overwrite each other in order.
                  bool isLoad = next.effects->kind == Effects::Vmem || next.effects->kind == Effects::Flat;
                  for (unsigned k = 0; k < op.effects->numWrites && !hit; ++k)
                    hit = next.effects->readsReg(op.effects->writes[k]) ||
                          (!isLoad && next.effects->writesReg(op.effects->writes[k]));
                  // What other waves are to see must have arrived.
                  if (!op.effects->numWrites && next.effects->flags & Effects::Barrier)
                    hit = true;
                  if (hit)
                    used[q] = true;
                }
              }
              // All in front of the youngest that is used have to be waited for.
              size_t last = queue.size();
              while (last && !used[last - 1])
                --last;
              w.unrelated = last ? unsigned(queue.size() - last) : 0;
            }
            loop.waits.push_back(w);
          }
          queue.erase(queue.begin(), queue.begin() + complete);
        };
        wait(vm, e.vmcnt, 63, "vmcnt");
        wait(lgkm, e.lgkmcnt, 15, "lgkmcnt");
      }
      if ((e.kind == Effects::Vmem || e.kind == Effects::Flat) && !(e.flags & Effects::NoCount))
        vm.push_back({at, body[at], trip});
      if (e.kind == Effects::Lds || e.kind == Effects::Smem)
        lgkm.push_back({at, body[at], trip});
    }
  for (const WaitReport &w : loop.waits)
    loop.fullDrains += w.isFullDrain() && w.counter == "vmcnt";
}

LoopReport Analyzer::describeLoop(unsigned index) {
  const MachineLoop &ml = f.loops[index];
  LoopReport loop;
  loop.line = f.getLine(ml);
  loop.depth = ml.depth;
  loop.parent = ml.parent;
  loop.trips = trips[index];
  std::vector<unsigned> body;
  for (unsigned block : f.getOwnBlocks(index))
    for (unsigned i = f.blocks[block].begin; i < f.blocks[block].end; ++i)
      body.push_back(i);
  loop.begin = f.insts[body.front()].address;
  loop.end = f.insts[body.back()].address + f.insts[body.back()].inst->bytes;

  std::vector<IssueItem> items;
  uint64_t conflicts = 0, gap = 0, gapCycles = 0, firstGap = 0, firstGapCycles = 0;
  bool anyMatrix = false;
  for (unsigned i : body) {
    const MachineInst &mi = f.insts[i];
    const Effects &e = *mi.effects;
    ++loop.mix[device::getName(mi.cls).str()];
    IssueItem item;
    switch (mi.cls) {
    case InstClass::MFMA: {
      const MatrixOp *op = mi.inst->matrix;
      uint64_t cycles = op && op->passes ? 4ull * op->passes : 4;
      loop.mfmaCycles += cycles;
      item = {IssueItem::Matrix, e.matrix != Effects::Xdl, 0, uint32_t(cycles)};
      if (op && op->info) {
        loop.flops += op->info->getFlops() * waves;
      }
      break;
    }
    case InstClass::VALU:
    case InstClass::Trans:
    case InstClass::MulQuarter:
      loop.valuCycles += mi.inst->cycles;
      item = {IssueItem::Vector, false, 0, mi.inst->cycles};
      break;
    case InstClass::SALU:
    case InstClass::SMEM:
      loop.saluCycles += chip.issue.saluCycles;
      item = {IssueItem::Scalar, false, 0, chip.issue.saluCycles};
      break;
    case InstClass::LDS: {
      uint64_t cycles = 0;
      if (e.access && !e.access->byM0) {
        bool isWrite = e.access->writes && !e.access->atomic;
        LdsCost cost = getLdsCost(chip, isWrite, e.access->bytes);
        cycles = cost.minimum * (e.access->offsetScale ? 2 : 1);
        ++(isWrite ? loop.ldsWriteWidths : loop.ldsReadWidths)[e.access->bytes];
        const AccessFact &fact = facts[i];
        // An access that no wave reaches costs nothing but is counted.
        if (fact.isUnknown)
          ++loop.ldsUnknown;
        loop.isLdsAssumed |= fact.isAssumed || fact.isRuleAssumed;
        conflicts += fact.conflict;
        loop.ldsCycles += cycles;
        cycles += fact.conflict;
      } else {
        // Exchanges between lanes take the wires of a 4-byte read.
        cycles = getLdsCost(chip, false, 4).minimum;
        loop.ldsCycles += cycles;
      }
      item = {IssueItem::Lds, false, 0, uint32_t(cycles)};
      break;
    }
    case InstClass::VMEMLoad:
    case InstClass::VMEMStore:
    case InstClass::VMEMAtomic: {
      uint64_t cycles = getVmemCycles(i);
      loop.vmemCycles += cycles;
      if (mi.isLdsDma() && e.access) {
        // What arrives is written side by side.
        loop.ldsCycles += getLdsCost(chip, /*isWrite=*/true, e.access->bytes).minimum;
        ++loop.ldsWriteWidths[e.access->bytes];
      }
      item = {IssueItem::Vmem, false, uint8_t(!(e.flags & Effects::NoCount)), uint32_t(cycles)};
      break;
    }
    case InstClass::Branch:
      loop.otherCycles += 4;
      item = {IssueItem::Branch, false, 0, 4};
      break;
    case InstClass::Internal:
      loop.otherCycles += getIssueCycles(mi);
      if (e.flags & Effects::Waitcnt)
        item = {IssueItem::Wait, false, e.lgkmcnt, 4, e.vmcnt};
      else if (e.flags & Effects::Barrier)
        item = {IssueItem::Barrier, false, 0, 4};
      else if (mi.mnemonic == "s_setprio")
        item = {IssueItem::Priority, false, uint8_t(mi.inst->imm & 3), 4};
      else
        item = {IssueItem::Hold, false, 0, uint32_t(getIssueCycles(mi))};
      loop.barriers += bool(e.flags & Effects::Barrier);
      break;
    }
    items.push_back(item);
    if (mi.cls == InstClass::MFMA) {
      if (!anyMatrix) {
        firstGap = gap;
        firstGapCycles = gapCycles;
      } else {
        loop.mfmaGap = std::max(loop.mfmaGap, unsigned(gap));
        loop.mfmaGapCycles = std::max(loop.mfmaGapCycles, gapCycles);
      }
      anyMatrix = true;
      gap = gapCycles = 0;
    } else {
      ++gap;
      gapCycles += getIssueCycles(mi);
    }
    if (mi.isGlobalAccess()) {
      unsigned bytes = e.access->bytes;
      bool isStore = e.access->writes && !e.access->reads;
      ++(isStore ? loop.storeWidths : loop.loadWidths)[bytes];
      if (e.access->reads)
        loop.bytesRead += lanes[i] * bytes;
      if (e.access->writes)
        loop.bytesWritten += lanes[i] * bytes;
    }
  }
  if (anyMatrix) {
    loop.mfmaGap = std::max(loop.mfmaGap, unsigned(gap + firstGap));
    loop.mfmaGapCycles = std::max(loop.mfmaGapCycles, gapCycles + firstGapCycles);
  }
  if (!loop.ldsUnknown)
    loop.ldsConflictCycles = conflicts;

  unsigned groups = std::max(1u, occupancy.workgroupsPerCU);
  IssueResult issue = simulateLoop(items, chip, waves, groups);
  loop.cycles = issue.cycles;
  uint64_t serial = loop.mfmaCycles + loop.valuCycles + loop.saluCycles + loop.ldsCycles + conflicts + loop.vmemCycles +
                    loop.otherCycles;
  loop.mfmaShareSerial = serial ? double(loop.mfmaCycles) / serial : 0;

  // Units that the SIMDs share cost a wave as many times their cycles as there are
  // SIMDs with waves.
  unsigned active = std::min<unsigned>(chip.simdsPerCU, waves * groups);
  uint64_t matrices = loop.mix[device::getName(InstClass::MFMA).str()];
  std::pair<double, StringLiteral> bounds[] = {
      {double(loop.mfmaCycles), "mfma"},          {double(loop.valuCycles + matrices * chip.issue.valuCycles), "valu"},
      {double(loop.saluCycles), "salu"},          {double((loop.ldsCycles + conflicts) * active), "lds"},
      {double(loop.vmemCycles * active), "vmem"},
  };
  if (!matrices)
    loop.mix.erase(device::getName(InstClass::MFMA).str());
  for (auto [cycles, name] : bounds)
    if (cycles > loop.lowerBound) {
      loop.lowerBound = cycles;
      loop.bound = name;
    }
  // Trips that are watched may begin with queues that are still empty.
  if (loop.cycles > 0)
    loop.cycles = std::max(loop.cycles, loop.lowerBound);
  loop.mfmaShare = loop.cycles > 0 ? std::min(1.0, loop.mfmaCycles / loop.cycles) : 0;
  loop.computeCycles = loop.cycles * waves / active;
  double bytesPerClock = chip.hbmBytesPerSecond / chip.computeUnits / chip.clockHz;
  loop.memoryCycles = (loop.bytesRead + loop.bytesWritten) / bytesPerClock;
  analyzeWaits(loop, body, issue.stalls);
  return loop;
}

/// Sums products of trip counts.
void Analyzer::sumTraffic(KernelReport &report) {
  struct Term {
    DimExpr factor = DimExpr::constant(1);
    uint64_t read = 0, written = 0, flops = 0;
  };
  std::map<std::string, Term> terms;
  bool isKnown = true, flopsKnown = true;
  for (unsigned b : f.order) {
    DimExpr factor = DimExpr::constant(1);
    bool blockKnown = true;
    for (int loop = f.blocks[b].loop; loop >= 0; loop = f.loops[loop].parent) {
      if (!trips[loop])
        blockKnown = false;
      else
        factor = DimExpr::binary(DimExpr::Kind::Mul, factor, *trips[loop]).substitute({});
    }
    uint64_t read = 0, written = 0, flops = 0;
    for (unsigned i = f.blocks[b].begin; i < f.blocks[b].end; ++i) {
      const MachineInst &mi = f.insts[i];
      if (mi.isGlobalAccess()) {
        read += mi.effects->access->reads ? lanes[i] * mi.getAccessBytes() : 0;
        written += mi.effects->access->writes ? lanes[i] * mi.getAccessBytes() : 0;
      }
      if (mi.inst->matrix && mi.inst->matrix->info)
        flops += mi.inst->matrix->info->getFlops() * waves;
    }
    if (!blockKnown) {
      isKnown &= !read && !written;
      flopsKnown &= !flops;
      continue;
    }
    Term &term = terms[factor.str()];
    term.factor = factor;
    term.read += read;
    term.written += written;
    term.flops += flops;
  }
  auto sum = [&](uint64_t Term::*part) {
    DimExpr total = DimExpr::constant(0);
    bool first = true;
    for (auto &[text, term] : terms) {
      if (!(term.*part))
        continue;
      DimExpr product =
          DimExpr::binary(DimExpr::Kind::Mul, DimExpr::constant(int64_t(term.*part)), term.factor).substitute({});
      total = first ? product : DimExpr::binary(DimExpr::Kind::Add, total, product).substitute({});
      first = false;
    }
    if (launch && !first) {
      DimMap constants;
      for (const auto &[name, value] : manifest.constants)
        constants[name] = value;
      for (const DimExpr &extent : launch->grid) {
        DimExpr groups = extent.substitute(constants);
        if (groups.getConstant() == 1)
          continue;
        total = DimExpr::binary(DimExpr::Kind::Mul, total, groups).substitute({});
      }
    }
    return total;
  };
  if (isKnown) {
    report.bytesRead = sum(&Term::read);
    report.bytesWritten = sum(&Term::written);
  }
  if (flopsKnown)
    report.flops = sum(&Term::flops);
  report.perWorkgroup = !launch;
}

KernelReport Analyzer::run(std::vector<Remark> &remarks) {
  KernelReport report;
  report.name = kernel.name;
  report.file = f.file;
  for (const MachineInst &mi : f.insts)
    if (mi.line) {
      report.line = report.line ? std::min(report.line, mi.line) : mi.line;
    }
  if (launch)
    threads = launch->workgroup[0] * launch->workgroup[1] * launch->workgroup[2];
  else if (kernel.requiredWorkgroup[0])
    threads = kernel.requiredWorkgroup[0] * kernel.requiredWorkgroup[1] * kernel.requiredWorkgroup[2];
  else if (kernel.maxWorkgroupSize)
    threads = kernel.maxWorkgroupSize;
  threads = std::clamp(threads, 1u, chip.maxWorkgroupSize);
  waves = (threads + 63) / 64;
  report.vgprs = kernel.resources.vgprs;
  report.agprs = kernel.resources.agprs;
  report.sgprs = kernel.resources.sgprs;
  report.ldsBytes = kernel.resources.staticLdsBytes + (launch ? launch->dynamicLdsBytes : 0);
  report.scratchBytes = kernel.resources.scratchBytesPerLane;
  report.vgprSpills = kernel.vgprSpills;
  report.sgprSpills = kernel.sgprSpills;
  report.threads = threads;
  report.occupancy = occupancy = computeOccupancy(chip, report.vgprs, report.ldsBytes, threads);
  report.instructions = f.insts.size();
  for (const MachineInst &mi : f.insts) {
    ++report.mix[device::getName(mi.cls).str()];
    if (mi.isGlobalAccess())
      ++(mi.effects->access->writes && !mi.effects->access->reads ? report.storeWidths
                                                                  : report.loadWidths)[mi.getAccessBytes()];
  }
  collectArguments();
  evaluateLanes();
  findTrips();
  for (unsigned k = 0; k < f.loops.size(); ++k)
    report.loops.push_back(describeLoop(k));
  sumTraffic(report);
  if (launch) {
    DimMap constants;
    for (const auto &[name, value] : manifest.constants)
      constants[name] = value;
    DimExpr total = DimExpr::constant(0);
    for (const ManifestArg &arg : launch->args) {
      if (arg.kind != ManifestArg::Kind::Tensor)
        continue;
      DimExpr bytes = DimExpr::constant(int64_t(getSizeInBytes(arg.type)));
      for (const DimExpr &extent : arg.shape)
        bytes = DimExpr::binary(DimExpr::Kind::Mul, bytes, extent.substitute(constants)).substitute({});
      total = DimExpr::binary(DimExpr::Kind::Add, total, bytes).substitute({});
    }
    report.minimalBytes = total;
  }
  LdsFacts lds;
  for (const AccessFact &fact : facts) {
    lds.conflicts.push_back(fact.isUnknown ? 0 : fact.conflict);
    lds.isUnknown.push_back(fact.isUnknown);
    lds.isWithoutRule.push_back(fact.isWithoutRule);
  }
  addRemarks(report, f, chip, accessLog, lds, remarks);
  return report;
}

} // namespace

Expected<StaticReport> atrex::analyzeCodeObject(MemoryBufferRef buffer, const Manifest &manifest,
                                                const ChipInfo &chip) {
  Expected<CodeObject> object = parseCodeObject(buffer, chip.arch);
  if (!object)
    return object.takeError();
  uint64_t codeBytes = (object->code.end - object->code.begin) & ~3ull;
  Expected<std::unique_ptr<Program>> program =
      Program::create(chip, object->code.begin, ArrayRef<uint8_t>(object->image).slice(object->code.begin, codeBytes));
  if (!program)
    return program.takeError();
  EffectsTable effects(**program, chip.arch == "gfx950");
  SourceLines lines(*object);
  StaticReport report;
  auto analyze = [&](const KernelDesc &kernel, const ManifestKernel *launch) -> Error {
    const Inst *entry = (*program)->decodeFrom(kernel.entry);
    if (!entry)
      return createStringError(inconvertibleErrorCode(), "kernel '" + kernel.name + "' does not begin in the code");
    Analyzer analyzer(kernel, launch, manifest, chip, **program, effects, entry, lines);
    report.kernels.push_back(analyzer.run(report.remarks));
    return Error::success();
  };
  for (const ManifestKernel &launch : manifest.kernels) {
    auto kernel = llvm::find_if(object->kernels, [&](const KernelDesc &k) { return k.name == launch.name; });
    if (kernel == object->kernels.end())
      return createStringError(inconvertibleErrorCode(), "the code object has no kernel '" + launch.name + "'");
    if (Error error = analyze(*kernel, &launch))
      return std::move(error);
  }
  if (manifest.kernels.empty())
    for (const KernelDesc &kernel : object->kernels)
      if (Error error = analyze(kernel, nullptr))
        return std::move(error);
  return std::move(report);
}
