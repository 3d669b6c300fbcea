//===- Remarks.cpp - What makes a kernel slow, and where ------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remarks.h"
#include "atrex/Target/ChipTiming.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;
using namespace atrex;
using namespace atrex::analysis;
using namespace atrex::device::sim;

/// The widest access of one lane.
static constexpr unsigned widestAccess = 16;
/// Part of a trip that waits for memory may take without a remark.
static constexpr double ignoredStall = 0.02;

void AccessLog::add(unsigned sample, const AccessPlace &place, const MachineInst &mi) {
  Entry &e = entries[sample][place.inst];
  e.active = place.active;
  e.isKnown = place.addresses && !mi.effects->access->atomic && !mi.effects->access->isFormat;
  if (e.isKnown)
    std::copy(std::begin(place.addresses->addr), std::end(place.addresses->addr), std::begin(e.addr));
}

const AccessLog::Entry *AccessLog::lookup(unsigned sample, unsigned inst) const {
  auto it = entries[sample].find(inst);
  return it == entries[sample].end() || !it->second.isKnown || !it->second.active ? nullptr : &it->second;
}

namespace {

class RemarkWriter {
public:
  RemarkWriter(const KernelReport &r, const MachineFunction &f, const ChipInfo &chip, const AccessLog &log,
               const LdsFacts &lds)
      : report(r), f(f), chip(chip), log(log), lds(lds) {}

  std::vector<Remark> run();

private:
  template <class... Ts> void add(StringLiteral kind, uint32_t line, const char *format, Ts &&...args) {
    remarks.push_back(
        {kind, report.name, report.file, line ? line : report.line, formatv(format, std::forward<Ts>(args)...).str()});
  }
  void checkKernel();
  void checkLoop(unsigned index);
  void checkAccesses(const std::vector<unsigned> &accesses, const LoopReport &loop);
  /// Shortest run of contiguous bytes that consecutive lanes cover.
  uint64_t getLaneRun(unsigned sample, unsigned inst) const;
  /// Bytes that one lane's accesses of the loop cover without a gap around it.
  uint64_t getOwnRun(unsigned sample, unsigned inst, const std::vector<unsigned> &accesses) const;
  /// Cache lines and bytes that the wave touches.
  std::pair<uint64_t, uint64_t> countLines(unsigned sample, ArrayRef<unsigned> accesses) const;

  const KernelReport &report;
  const MachineFunction &f;
  const ChipInfo &chip;
  const AccessLog &log;
  const LdsFacts &lds;
  std::vector<Remark> remarks;
};

} // namespace

static bool isWrite(const MachineInst &mi) { return mi.effects->access->writes && !mi.effects->access->reads; }

void RemarkWriter::checkKernel() {
  if (report.scratchBytes || report.vgprSpills) {
    // The innermost place tells most.
    uint32_t line = 0;
    unsigned depth = 0, count = 0, inLoops = 0;
    for (const MachineBlock &b : f.blocks)
      for (unsigned i = b.begin; i < b.end; ++i) {
        if (!f.insts[i].isScratchAccess())
          continue;
        ++count;
        unsigned d = b.loop < 0 ? 0 : f.loops[b.loop].depth;
        inLoops += d > 0;
        if (!line || d > depth) {
          line = f.insts[i].line;
          depth = d;
        }
      }
    add("scratch", line,
        "kernel '{0}' keeps {1} bytes of each work-item in scratch memory, with {2} registers spilled: {3} accesses, "
        "{4} "
        "of them in loops",
        report.name, report.scratchBytes, report.vgprSpills, count, inLoops);
  }
  if (report.occupancy.limiter == "waves" || !report.occupancy.wavesPerSIMD)
    return;
  unsigned waves = report.occupancy.wavesPerSIMD, threads = report.threads;
  if (report.occupancy.limiter == "vgpr") {
    // The next step, from the same formula.
    unsigned registers = report.vgprs;
    while (registers > 1 && computeOccupancy(chip, registers, report.ldsBytes, threads).wavesPerSIMD <= waves)
      --registers;
    Occupancy next = computeOccupancy(chip, registers, report.ldsBytes, threads);
    if (next.wavesPerSIMD > waves)
      add("occupancy", report.line,
          "kernel '{0}' has {1} of {2} waves on a SIMD, limited by its {3} vector registers; with {4} there would be "
          "{5}",
          report.name, waves, chip.maxWavesPerSIMD, report.vgprs, registers, next.wavesPerSIMD);
    else
      add("occupancy", report.line, "kernel '{0}' has {1} of {2} waves on a SIMD, limited by its {3} vector registers",
          report.name, waves, chip.maxWavesPerSIMD, report.vgprs);
    return;
  }
  unsigned bytes = report.ldsBytes;
  while (bytes && computeOccupancy(chip, report.vgprs, bytes, threads).wavesPerSIMD <= waves)
    bytes -= std::min(bytes, chip.ldsGranule);
  // Whole granules fit.
  bytes = bytes ? unsigned(alignDown(bytes + chip.ldsGranule - 1, chip.ldsGranule)) : 0;
  if (bytes && computeOccupancy(chip, report.vgprs, bytes, threads).wavesPerSIMD <= waves)
    bytes -= std::min(bytes, chip.ldsGranule);
  Occupancy next = computeOccupancy(chip, report.vgprs, bytes, threads);
  if (next.wavesPerSIMD > waves)
    add("occupancy", report.line,
        "kernel '{0}' has {1} of {2} waves on a SIMD, limited by its {3} bytes of LDS; with {4} there would be {5}",
        report.name, waves, chip.maxWavesPerSIMD, report.ldsBytes, bytes, next.wavesPerSIMD);
  else
    add("occupancy", report.line, "kernel '{0}' has {1} of {2} waves on a SIMD, limited by its {3} bytes of LDS",
        report.name, waves, chip.maxWavesPerSIMD, report.ldsBytes);
}

uint64_t RemarkWriter::getLaneRun(unsigned sample, unsigned inst) const {
  const AccessLog::Entry *e = log.lookup(sample, inst);
  if (!e)
    return 0;
  const unsigned bytes = f.insts[inst].getAccessBytes();
  uint64_t shortest = ~0ull, run = 0, previous = 0;
  for (unsigned i = 0; i < 64; ++i) {
    if (!(e->active >> i & 1))
      continue;
    if (run && e->addr[i] == previous + bytes) {
      run += bytes;
    } else if (run && e->addr[i] == previous) {
      // Lanes that share an element.
    } else {
      if (run)
        shortest = std::min(shortest, run);
      run = bytes;
    }
    previous = e->addr[i];
  }
  return std::min(shortest, run);
}

uint64_t RemarkWriter::getOwnRun(unsigned sample, unsigned inst, const std::vector<unsigned> &accesses) const {
  const AccessLog::Entry *e = log.lookup(sample, inst);
  if (!e)
    return 0;
  const unsigned bytes = f.insts[inst].getAccessBytes();
  // Offsets of the accesses that lie at the same distance for all lanes.
  std::set<int64_t> offsets;
  for (unsigned other : accesses) {
    const AccessLog::Entry *o = log.lookup(sample, other);
    if (!o || o->active != e->active || f.insts[other].getAccessBytes() != bytes ||
        isWrite(f.insts[other]) != isWrite(f.insts[inst]))
      continue;
    std::optional<int64_t> distance;
    bool same = true;
    for (uint64_t m = e->active; m && same; m &= m - 1) {
      unsigned i = unsigned(llvm::countr_zero(m));
      int64_t d = int64_t(o->addr[i] - e->addr[i]);
      same = !distance || *distance == d;
      distance = d;
    }
    if (same)
      offsets.insert(*distance);
  }
  uint64_t run = bytes;
  for (int64_t d = bytes; offsets.count(d); d += bytes)
    run += bytes;
  for (int64_t d = -int64_t(bytes); offsets.count(d); d -= bytes)
    run += bytes;
  return run;
}

std::pair<uint64_t, uint64_t> RemarkWriter::countLines(unsigned sample, ArrayRef<unsigned> accesses) const {
  std::set<uint64_t> lines, dwords;
  for (unsigned inst : accesses) {
    const AccessLog::Entry *e = log.lookup(sample, inst);
    if (!e)
      continue;
    for (uint64_t m = e->active; m; m &= m - 1) {
      uint64_t first = e->addr[llvm::countr_zero(m)], last = first + f.insts[inst].getAccessBytes() - 1;
      for (uint64_t l = first / chip.cacheLineBytes; l <= last / chip.cacheLineBytes; ++l)
        lines.insert(l);
      for (uint64_t d = first / 4; d <= last / 4; ++d)
        dwords.insert(d);
    }
  }
  return {lines.size(), dwords.size() * 4};
}

void RemarkWriter::checkAccesses(const std::vector<unsigned> &accesses, const LoopReport &loop) {
  // One remark for each line, direction and width.
  std::map<std::tuple<uint32_t, bool, unsigned>, std::pair<unsigned, uint64_t>> narrow;
  std::map<std::pair<uint32_t, bool>, std::vector<unsigned>> byLine;
  for (unsigned i : accesses) {
    const MachineInst &mi = f.insts[i];
    const unsigned bytes = mi.getAccessBytes();
    if (mi.effects->access->atomic)
      continue;
    byLine[{mi.line, isWrite(mi)}].push_back(i);
    if (bytes >= widestAccess)
      continue;
    uint64_t run = ~0ull;
    for (unsigned sample : {0, 1})
      run = std::min(run, std::max(getLaneRun(sample, i), getOwnRun(sample, i, accesses)));
    uint64_t possible = run >= widestAccess ? widestAccess : run >= 8 ? 8 : run >= 4 ? 4 : run >= 2 ? 2 : 1;
    if (possible <= bytes)
      continue;
    auto &[count, width] = narrow[{mi.line, isWrite(mi), bytes}];
    width = count ? std::min(width, possible) : possible;
    ++count;
  }
  for (auto &[key, value] : narrow) {
    auto [line, write, bytes] = key;
    auto [count, width] = value;
    add("vectorization", line,
        "{0} {1}{2} of {3} bytes per lane in a loop; neighbouring bytes are accessed by the same or the next lanes, so "
        "that {4} bytes per lane are possible",
        count, write ? "store" : "load", count == 1 ? "" : "s", bytes, width);
  }
  for (auto &[key, insts] : byLine) {
    std::pair<uint64_t, uint64_t> best = {0, 0};
    bool isSparse = true;
    for (unsigned sample : {0, 1}) {
      auto [lines, used] = countLines(sample, insts);
      isSparse &= lines > 1 && lines * chip.cacheLineBytes > 2 * used;
      if (!sample)
        best = {lines, used};
    }
    if (!isSparse)
      continue;
    // What the other accesses of the loop use of the lines counts too.
    std::vector<unsigned> all;
    for (unsigned i : accesses)
      if (isWrite(f.insts[i]) == key.second && !f.insts[i].effects->access->atomic)
        all.push_back(i);
    auto [lines, used] = countLines(0, all);
    if (lines * chip.cacheLineBytes <= 2 * used)
      continue;
    add("uncoalesced", key.first,
        "a wave's {0}s in a loop touch {1} cache lines of {2} bytes for {3} bytes: lanes are not next to each other in "
        "memory",
        key.second ? "store" : "load", best.first, chip.cacheLineBytes, best.second);
  }
  (void)loop;
}

void RemarkWriter::checkLoop(unsigned index) {
  const LoopReport &loop = report.loops[index];
  std::vector<unsigned> accesses;
  std::map<uint32_t, std::pair<unsigned, uint64_t>> conflicts;
  std::map<std::pair<uint32_t, bool>, unsigned> unknown;
  std::map<uint32_t, std::string> names;
  bool hasUse = false;
  for (unsigned block : f.getOwnBlocks(index))
    for (unsigned i = f.blocks[block].begin; i < f.blocks[block].end; ++i) {
      const MachineInst &mi = f.insts[i];
      hasUse |= mi.cls <= device::InstClass::MFMA;
      if (mi.isGlobalAccess())
        accesses.push_back(i);
      if (!mi.isLdsAccess())
        continue;
      if (lds.isUnknown[i])
        ++unknown[{mi.line, lds.isWithoutRule[i]}];
      if (uint64_t cycles = lds.conflicts[i]) {
        ++conflicts[mi.line].first;
        conflicts[mi.line].second += cycles;
        names[mi.line] = mi.mnemonic.str();
      }
    }
  for (auto &[line, value] : conflicts)
    add("lds-conflict", line,
        "bank conflicts cost {0} cycles of the LDS for each wave and trip of the loop, in {1} {2}{3}", value.second,
        value.first, names[line], value.first == 1 ? "" : " and the like");
  for (auto &[key, count] : unknown)
    add("lds-unknown", key.first, "bank conflicts of {0} LDS instruction{1} in a loop are not known: {2}", count,
        count == 1 ? "" : "s",
        key.second ? "how the chip serves accesses of this width has not been measured"
                   : "the addresses depend on memory or on more than the first trips");
  checkAccesses(accesses, loop);

  // Loads that are waited for before they can have arrived.
  const WaitReport *worst = nullptr;
  bool hasLoads = llvm::any_of(accesses, [&](unsigned i) { return f.insts[i].effects->access->reads; });
  double stalls = 0;
  for (const WaitReport &w : loop.waits) {
    if (!hasLoads || !hasUse || w.counter != "vmcnt")
      continue;
    stalls += w.stallCycles;
    if (!worst || w.stallCycles > worst->stallCycles)
      worst = &w;
  }
  // A trip of a wave: others of its SIMD work beside it. Where a unit is busy all the time nothing is lost.
  const double trip = loop.cycles * std::max(1u, report.occupancy.wavesPerSIMD);
  if (worst && stalls > ignoredStall * trip && loop.cycles > (1 + ignoredStall) * loop.lowerBound)
    add("unpipelined", worst->line,
        "a wave waits {0:f0} of the {1:f0} cycles of a trip for global memory, though it is taken to lie in the L2 "
        "({2} "
        "cycles), most of them {3} instructions ({4} cycles of issue) after it asked for it; fetch for a later trip, "
        "or "
        "let more waves share a SIMD",
        stalls, trip, getTiming(chip).l2LatencyCycles, worst->distance, worst->distanceCycles);
  for (const WaitReport &w : loop.waits)
    if (w.counter == "vmcnt" && w.isFullDrain() && w.unrelated)
      add("full-drain", w.line,
          "the loop waits for all {0} outstanding operations of global memory, though {1} of them are not needed "
          "before "
          "the next wait",
          w.outstanding, w.unrelated);
}

std::vector<Remark> RemarkWriter::run() {
  checkKernel();
  for (unsigned k = 0; k < report.loops.size(); ++k)
    checkLoop(k);
  // By line, otherwise in the order they were found. std::stable_sort of this type trips over a deprecation in
  // libstdc++.
  std::multimap<uint32_t, Remark> byLine;
  for (Remark &remark : remarks)
    byLine.emplace(remark.line, std::move(remark));
  std::vector<Remark> sorted;
  for (auto &entry : byLine)
    sorted.push_back(std::move(entry.second));
  return sorted;
}

void atrex::analysis::addRemarks(const KernelReport &report, const MachineFunction &f, const ChipInfo &chip,
                                 const AccessLog &log, const LdsFacts &lds, std::vector<Remark> &remarks) {
  std::vector<Remark> own = RemarkWriter(report, f, chip, log, lds).run();
  remarks.insert(remarks.end(), own.begin(), own.end());
}
