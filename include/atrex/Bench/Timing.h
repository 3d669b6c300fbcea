//===- Timing.h - How kernels are timed on a device -------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The protocol by which times are measured, against an interface that a real
// device implements through events and tests implement with a synthetic noisy
// clock. Intervals are order statistics of the median: they assume nothing
// about the distribution of the noise.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_TIMING_H
#define ATREX_BENCH_TIMING_H

#include "atrex/Target/Chip.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <utility>
#include <vector>

namespace atrex::bench {

/// What the protocol asks of a device. All times are seconds.
class LaunchTimer {
public:
  virtual ~LaunchTimer();
  /// Writes `bytes` bytes that no candidate uses, so that the caches hold
  /// nothing of its data afterwards.
  virtual llvm::Error flushCaches(uint64_t bytes) = 0;
  /// Launches a candidate between two events; the time between them.
  virtual llvm::Expected<double> timeLaunch(unsigned candidate) = 0;
  /// The same for a kernel that does nothing; 0 where there is none.
  virtual llvm::Expected<double> timeEmptyLaunch() = 0;
  /// Step of the clock; 0 where it is not known.
  virtual double getResolution() const = 0;
};

struct TimingOptions {
  /// Calls from which the number of the others is estimated.
  unsigned estimateCalls = 5;
  /// Time of one candidate, without flushes, that warm-up and measurement take.
  double warmupSeconds = 0.010, measureSeconds = 0.100;
  unsigned minSamples = 21, maxSamples = 2001;
  /// Bytes written before every timed call.
  uint64_t flushBytes = uint64_t(512) << 20;
  /// Probability with which an interval holds the true median.
  double confidence = 0.95;
  /// Rounds of comparisons and rankings.
  unsigned rounds = 61;
  /// Draws the order inside the rounds.
  uint64_t seed = 1;

  /// The protocol for a chip: flushes twice its last-level cache.
  static TimingOptions forChip(const ChipInfo &chip);
};

/// Statistics of the times of one candidate.
struct TimingSummary {
  /// In the order taken.
  std::vector<double> samples;
  double mean = 0, median = 0, minimum = 0;
  /// Median of the distances from the median, times 1.4826: the standard
  /// deviation where the noise is normal, whatever the outliers.
  double spread = 0;
  /// Bounds of the median, one clock step wider on each side where it has steps.
  double low = 0, high = 0;
  /// Samples more than six spreads (and two clock steps) off.
  size_t outliers = 0;
  /// Relative change between the first and the last third, of medians.
  double drift = 0;
  /// Empty launch, median; 0 where it was not measured.
  double emptySeconds = 0;
  double resolution = 0;
  /// What a reader of the figures must know: drift, a coarse clock, a time that
  /// is mostly launch, too few samples for the confidence asked for.
  std::vector<std::string> warnings;

  llvm::json::Object toJSON() const;
};

/// Interval [low, high] that holds the median of the distribution with at least
/// the given probability, from its order statistics; all of the range when there
/// are too few samples. `samples` need not be sorted and must not be empty.
std::pair<double, double> getMedianInterval(std::vector<double> samples, double confidence);

double getMedian(std::vector<double> samples);

/// Samples that an interval of this confidence needs at least.
size_t getSamplesNeeded(double confidence);

TimingSummary summarizeSamples(std::vector<double> samples, double resolution, double emptySeconds,
                               const TimingOptions &options);

/// Times one candidate: estimate, warm-up, then flush and timed call in turn.
/// Fails when the device does, or when a time is not a positive number.
llvm::Expected<TimingSummary> measureCandidate(LaunchTimer &timer, unsigned candidate, const TimingOptions &options);

enum class Preference : uint8_t { Undecided, First, Second };

/// Two candidates timed in turn.
struct PairedComparison {
  /// Time of the second over time of the first: median over the rounds, and the
  /// bounds of that median.
  double ratio = 1, low = 1, high = 1;
  size_t rounds = 0;
  /// Only where the whole interval is on one side of 1.
  Preference faster = Preference::Undecided;
};

/// Interleaves the candidates: each round times both, in an order drawn anew, so
/// that a drift of the clock speed meets both alike.
llvm::Expected<PairedComparison> compareCandidates(LaunchTimer &timer, unsigned first, unsigned second,
                                                   const TimingOptions &options);

/// Several candidates timed in rounds. Rounds go in pairs: an order drawn anew,
/// and its reverse.
struct Ranking {
  /// Fastest first, by median.
  std::vector<unsigned> order;
  /// By candidate: median time relative to that of the same round's median
  /// candidate, and its bounds.
  std::vector<double> relative, low, high;
  /// By candidate: median time, seconds.
  std::vector<double> median;
  /// By candidate: against candidate 0, from the times of the same rounds; the
  /// ratio is the candidate's time over that of candidate 0.
  std::vector<PairedComparison> againstFirst;
  /// Candidates that are not told apart from the one before them in `order`.
  std::vector<bool> isTied;
  /// Kendall's tau between the ranks of two rounds, mean over neighbouring
  /// rounds: 1 for ranks that never change, about 0 for noise.
  double stability = 1;
  /// Most places by which a candidate's rank differs between two rounds.
  size_t largestMove = 0;
  /// Whether no interval overlaps the next one in the order.
  bool isDecided() const;
};

/// Noise of a clock that does not exist, to try the protocol on predicted times.
struct SyntheticNoise {
  /// Standard deviation of the logarithm of a time, share of times that are three
  /// to eight times as long, relative slow-down of the last launch against the
  /// first of `driftLaunches`, and clock step in seconds.
  double noise = 0, outliers = 0, drift = 0, step = 0;
  unsigned driftLaunches = 1000;

  bool isAny() const { return noise > 0 || outliers > 0 || drift > 0 || step > 0; }
};

/// A timer that launches nothing and draws times around the given ones.
class SyntheticTimer : public LaunchTimer {
public:
  SyntheticTimer(std::vector<double> trueSeconds, SyntheticNoise noise, uint64_t seed);
  llvm::Error flushCaches(uint64_t bytes) override;
  llvm::Expected<double> timeLaunch(unsigned candidate) override;
  llvm::Expected<double> timeEmptyLaunch() override { return 0.0; }
  double getResolution() const override { return noise.step; }

private:
  std::vector<double> trueSeconds;
  SyntheticNoise noise;
  uint64_t seed;
  uint64_t launches = 0;
};

/// At least two candidates, 0 .. count - 1.
llvm::Expected<Ranking> rankCandidates(LaunchTimer &timer, unsigned count, const TimingOptions &options);

} // namespace atrex::bench

#endif // ATREX_BENCH_TIMING_H
