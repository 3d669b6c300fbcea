//===- IssueModel.cpp - Cycles of a loop on one compute unit --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IssueModel.h"
#include "atrex/Target/ChipTiming.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <vector>

using namespace llvm;
using namespace atrex;
using namespace atrex::analysis;

namespace {
/// Trips that every wave executes before the clock is read, and that are measured.
constexpr unsigned warmTrips = 4, measuredTrips = 16;
/// Instructions of a wave that its counters can tell apart.
constexpr unsigned maxOutstanding = 15, maxMemory = 63;

struct WaveState {
  unsigned simd = 0, group = 0;
  size_t pc = 0;
  uint64_t trips = 0;
  uint64_t readyAt = 0;
  uint8_t priority = 0;
  bool atBarrier = false;
  /// When what it asked for will be there, oldest first: of the LDS, of vector memory.
  SmallVector<uint64_t, 16> outstanding, memory;
};

struct SimdState {
  uint64_t vectorFree = 0, matrixFree = 0;
  /// Waves in the order they issue.
  SmallVector<unsigned, 8> waves;
  bool unsorted = false;
};
} // namespace

/// Removes what is there, or what `keep` leaves when that is there. False when it is not yet.
static bool complete(SmallVectorImpl<uint64_t> &queue, size_t keep, uint64_t now) {
  if (queue.size() <= keep)
    return true;
  size_t count = queue.size() - keep;
  // Later operations are never there first.
  if (queue[count - 1] > now)
    return false;
  queue.erase(queue.begin(), queue.begin() + count);
  return true;
}

IssueResult atrex::analysis::simulateLoop(ArrayRef<IssueItem> body, const ChipInfo &chip, unsigned wavesPerGroup,
                                          unsigned groups) {
  IssueResult result;
  result.stalls.assign(body.size(), 0);
  if (body.empty() || !wavesPerGroup || !groups || !chip.simdsPerCU)
    return result;
  const ChipTiming &timing = getTiming(chip);
  std::vector<WaveState> waves(size_t(wavesPerGroup) * groups);
  std::vector<SimdState> simds(chip.simdsPerCU);
  std::vector<unsigned> arrived(groups, 0);
  for (unsigned i = 0; i < waves.size(); ++i) {
    waves[i].simd = i % chip.simdsPerCU;
    waves[i].group = i / wavesPerGroup;
    simds[waves[i].simd].waves.push_back(i);
  }
  const unsigned active = unsigned(std::min<size_t>(waves.size(), simds.size()));
  uint64_t ldsFree = 0, vmemFree = 0;
  std::vector<SmallVector<uint64_t, 16>> entries((simds.size() + 1) / 2);
  const uint64_t wideAccess = 64 * 16 / std::max(1u, chip.issue.l1BytesPerClock);
  uint64_t done = 0, startTime = 0, startDone = 0;
  const uint64_t warm = warmTrips * waves.size(), all = (warmTrips + measuredTrips) * waves.size();
  bool warmed = false;
  // A trip that never ends would be a defect of the rules above.
  uint64_t serial = 0;
  for (const IssueItem &item : body)
    serial += item.cycles + 4 + (item.port == IssueItem::Wait ? timing.l2LatencyCycles : 0);
  const uint64_t limit = (serial + 64) * (all + waves.size()) * 4;
  for (uint64_t now = 0; now < limit; now += 4) {
    for (SimdState &simd : simds) {
      bool used[IssueItem::Hold] = {};
      if (simd.unsorted) {
        llvm::sort(simd.waves, [&](unsigned a, unsigned b) {
          return waves[a].priority != waves[b].priority ? waves[a].priority > waves[b].priority : a < b;
        });
        simd.unsorted = false;
      }
      for (unsigned index : simd.waves) {
        WaveState &w = waves[index];
        if (w.atBarrier || w.readyAt > now)
          continue;
        const IssueItem &item = body[w.pc];
        uint64_t hold = 4;
        bool issued = true;
        switch (item.port) {
        case IssueItem::Vector:
          if (used[IssueItem::Vector] || simd.vectorFree > now) {
            issued = false;
            break;
          }
          used[IssueItem::Vector] = true;
          simd.vectorFree = now + item.cycles;
          break;
        case IssueItem::Matrix:
          if (used[IssueItem::Vector] || simd.vectorFree > now || simd.matrixFree > now) {
            issued = false;
            break;
          }
          used[IssueItem::Vector] = true;
          simd.matrixFree = now + item.cycles;
          simd.vectorFree = now + (item.isExclusive ? item.cycles : std::min(item.cycles, timing.mfmaIssueCycles));
          break;
        case IssueItem::Scalar:
        case IssueItem::Branch:
          issued = !used[item.port];
          used[item.port] = true;
          break;
        case IssueItem::Lds: {
          SmallVector<uint64_t, 16> &fifo = entries[w.simd / 2];
          while (!fifo.empty() && fifo.front() <= now)
            fifo.erase(fifo.begin());
          if (used[IssueItem::Lds] || fifo.size() >= timing.ldsQueueEntries ||
              !complete(w.outstanding, maxOutstanding, now)) {
            issued = false;
            break;
          }
          used[IssueItem::Lds] = true;
          uint64_t begin = std::max(ldsFree, now);
          ldsFree = begin + item.cycles;
          fifo.push_back(ldsFree);
          w.outstanding.push_back(std::max<uint64_t>(ldsFree, begin + timing.ldsLatencyCycles));
          break;
        }
        case IssueItem::Vmem:
          if (used[IssueItem::Vmem] || vmemFree > now + 3 * wideAccess || !complete(w.memory, maxMemory, now)) {
            issued = false;
            break;
          }
          used[IssueItem::Vmem] = true;
          vmemFree = std::max(vmemFree, now) + item.cycles;
          if (item.value)
            w.memory.push_back(std::max<uint64_t>(vmemFree, now + timing.l2LatencyCycles));
          break;
        case IssueItem::Hold:
          hold = item.cycles;
          break;
        case IssueItem::Wait:
          if (!complete(w.memory, item.memory, now)) {
            issued = false;
            if (warmed)
              result.stalls[w.pc] += 4;
          } else {
            issued = complete(w.outstanding, item.value, now);
          }
          break;
        case IssueItem::Barrier:
          if (++arrived[w.group] == wavesPerGroup) {
            arrived[w.group] = 0;
            for (WaveState &other : waves)
              if (other.group == w.group && other.atBarrier) {
                other.atBarrier = false;
                other.readyAt = now + 4;
              }
          } else {
            w.atBarrier = true;
          }
          break;
        case IssueItem::Priority:
          simd.unsorted |= w.priority != item.value;
          w.priority = item.value;
          break;
        }
        if (!issued)
          continue;
        w.readyAt = now + hold;
        if (++w.pc == body.size()) {
          w.pc = 0;
          ++w.trips;
          ++done;
        }
      }
    }
    if (!warmed && done >= warm) {
      warmed = true;
      startTime = now;
      startDone = done;
    }
    if (done >= all && warmed && done > startDone) {
      result.cycles = double(now - startTime) * active / double(done - startDone);
      for (double &stall : result.stalls)
        stall /= double(done - startDone);
      return result;
    }
  }
  return result;
}
