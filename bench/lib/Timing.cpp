//===- Timing.cpp - How kernels are timed on a device ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Timing.h"
#include "atrex/Bench/Catalogue.h"
#include "atrex/Bench/Random.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

LaunchTimer::~LaunchTimer() = default;

TimingOptions TimingOptions::forChip(const ChipInfo &chip) {
  TimingOptions options;
  if (chip.lastLevelCacheBytes)
    options.flushBytes = 2 * chip.lastLevelCacheBytes;
  return options;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

static double getSortedMedian(llvm::ArrayRef<double> sorted) {
  size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double bench::getMedian(std::vector<double> samples) {
  llvm::sort(samples);
  return getSortedMedian(samples);
}

/// The largest k for which the k-th smallest and the k-th largest of n samples
/// enclose the median with the probability asked for; 0 when none does. The
/// number of samples below the median is binomial(n, 1/2).
static size_t getOrderRank(size_t n, double confidence) {
  double tail = (1 - confidence) / 2, sum = 0;
  for (size_t k = 0; k <= n / 2; ++k) {
    sum += std::exp(std::lgamma(double(n) + 1) - std::lgamma(double(k) + 1) - std::lgamma(double(n - k) + 1) -
                    double(n) * std::log(2.0));
    if (sum > tail)
      return k;
  }
  return n / 2;
}

size_t bench::getSamplesNeeded(double confidence) {
  size_t n = 1;
  while (getOrderRank(n, confidence) == 0)
    ++n;
  return n;
}

static std::pair<double, double> getSortedInterval(llvm::ArrayRef<double> sorted, double confidence) {
  size_t rank = std::max<size_t>(1, getOrderRank(sorted.size(), confidence));
  return {sorted[rank - 1], sorted[sorted.size() - rank]};
}

std::pair<double, double> bench::getMedianInterval(std::vector<double> samples, double confidence) {
  llvm::sort(samples);
  return getSortedInterval(samples, confidence);
}

TimingSummary bench::summarizeSamples(std::vector<double> samples, double resolution, double emptySeconds,
                                      const TimingOptions &options) {
  TimingSummary summary;
  size_t n = samples.size();
  std::vector<double> sorted = samples;
  llvm::sort(sorted);
  summary.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / double(n);
  summary.median = getSortedMedian(sorted);
  summary.minimum = sorted.front();
  std::tie(summary.low, summary.high) = getSortedInterval(sorted, options.confidence);
  // A sample is off by up to a step of the clock, and so may all of them be.
  summary.low = std::max(0.0, summary.low - resolution);
  summary.high += resolution;
  std::vector<double> distances;
  for (double sample : samples)
    distances.push_back(std::abs(sample - summary.median));
  summary.spread = 1.4826 * getMedian(distances);
  double limit = 6 * summary.spread + 2 * resolution;
  summary.outliers = llvm::count_if(distances, [&](double d) { return d > limit; });
  summary.emptySeconds = emptySeconds;
  summary.resolution = resolution;
  if (n >= 9) {
    size_t third = n / 3;
    auto begin = samples.begin(), end = samples.end();
    double first = getMedian({begin, begin + ptrdiff_t(third)}), last = getMedian({end - ptrdiff_t(third), end});
    summary.drift = last / first - 1;
    // Medians of m samples scatter by 1.25 spread / sqrt(m).
    double noise = (1.25 * summary.spread * std::sqrt(2 / double(third)) + resolution) / summary.median;
    if (std::abs(summary.drift) > 0.02 && std::abs(summary.drift) > 4 * noise)
      summary.warnings.push_back(
          fmt::format("the times drift by {:+.1f} % between the first and the last third", summary.drift * 100));
  }
  if (resolution > 0 && summary.median < 20 * resolution)
    summary.warnings.push_back(fmt::format("the median is {:.1f} steps of the clock ({:.3g} us)",
                                           summary.median / resolution, resolution * 1e6));
  if (emptySeconds > 0 && summary.median < 1.5 * emptySeconds)
    summary.warnings.push_back(
        fmt::format("the time is mostly launch: an empty kernel takes {:.3g} us", emptySeconds * 1e6));
  if (double(summary.outliers) > 0.05 * double(n))
    summary.warnings.push_back(fmt::format("{} of {} samples are outliers", summary.outliers, n));
  if (size_t needed = getSamplesNeeded(options.confidence); n < needed)
    summary.warnings.push_back(
        fmt::format("{} samples; an interval of {:g} % needs {}", n, options.confidence * 100, needed));
  summary.samples = std::move(samples);
  return summary;
}

json::Object TimingSummary::toJSON() const {
  json::Object object{{"samples", int64_t(samples.size())}, {"mean_us", mean * 1e6},
                      {"median_us", median * 1e6},          {"minimum_us", minimum * 1e6},
                      {"spread_us", spread * 1e6},          {"interval_us", json::Array{low * 1e6, high * 1e6}},
                      {"outliers", int64_t(outliers)},      {"drift", drift},
                      {"warnings", json::Array(warnings)}};
  if (emptySeconds > 0)
    object["empty_us"] = emptySeconds * 1e6;
  if (resolution > 0)
    object["resolution_us"] = resolution * 1e6;
  return object;
}

//===----------------------------------------------------------------------===//
// Protocol
//===----------------------------------------------------------------------===//

namespace {
/// One timed call after a flush.
llvm::Expected<double> timeOnce(LaunchTimer &timer, unsigned candidate, const TimingOptions &options) {
  if (llvm::Error error = timer.flushCaches(options.flushBytes))
    return std::move(error);
  llvm::Expected<double> time = timer.timeLaunch(candidate);
  if (!time)
    return time.takeError();
  // A clock with steps may well say zero.
  if (!std::isfinite(*time) || *time < 0 || (*time == 0 && !(timer.getResolution() > 0)))
    return makeError(fmt::format("the device timed candidate {} at {} s, which is no positive time", candidate, *time));
  return time;
}

/// Runs the warm-up; the number of samples that the time for measuring allows.
llvm::Expected<unsigned> warmUp(LaunchTimer &timer, unsigned candidate, const TimingOptions &options) {
  std::vector<double> calls;
  for (unsigned i = 0; i < std::max(1u, options.estimateCalls); ++i) {
    llvm::Expected<double> time = timeOnce(timer, candidate, options);
    if (!time)
      return time.takeError();
    calls.push_back(*time);
  }
  // First calls are slower than the others, sometimes all of these.
  double estimate = std::max({*llvm::min_element(calls), timer.getResolution(), 1e-9});
  double warmups = std::min(options.warmupSeconds / estimate, double(options.maxSamples));
  for (unsigned i = 0; i < unsigned(std::max(1.0, warmups)); ++i) {
    llvm::Expected<double> time = timeOnce(timer, candidate, options);
    if (!time)
      return time.takeError();
  }
  double wanted = std::clamp(options.measureSeconds / estimate, double(options.minSamples), double(options.maxSamples));
  return unsigned(wanted);
}

/// A permutation of 0 .. count - 1 for one round.
std::vector<unsigned> drawOrder(unsigned count, unsigned round, uint64_t seed) {
  RandomStream stream("timing", fmt::format("round/{}", round), seed);
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (unsigned i = count; i > 1; --i)
    std::swap(order[i - 1], order[stream.getBelow(i, i)]);
  return order;
}

/// A clock step in units of `time`, for intervals of ratios.
double getStepShare(double resolution, double time) { return time > 0 ? resolution / time : 1; }

/// `step` widens the interval on both sides.
PairedComparison summarizeRatios(const std::vector<double> &ratios, double step, const TimingOptions &options) {
  PairedComparison result;
  result.rounds = ratios.size();
  result.ratio = getMedian(ratios);
  std::tie(result.low, result.high) = getMedianInterval(ratios, options.confidence);
  if (ratios.size() < getSamplesNeeded(options.confidence))
    return result;
  result.low -= step;
  result.high += step;
  if (result.high < 1)
    result.faster = Preference::Second;
  else if (result.low > 1)
    result.faster = Preference::First;
  return result;
}
} // namespace

llvm::Expected<TimingSummary> bench::measureCandidate(LaunchTimer &timer, unsigned candidate,
                                                      const TimingOptions &options) {
  llvm::Expected<unsigned> count = warmUp(timer, candidate, options);
  if (!count)
    return count.takeError();
  std::vector<double> samples, empty;
  for (unsigned i = 0; i < *count; ++i) {
    llvm::Expected<double> time = timeOnce(timer, candidate, options);
    if (!time)
      return time.takeError();
    samples.push_back(*time);
    // Spread over the run, so that both see the same clock.
    if (i % std::max(1u, *count / 11) == 0) {
      llvm::Expected<double> launch = timer.timeEmptyLaunch();
      if (!launch)
        return launch.takeError();
      empty.push_back(*launch);
    }
  }
  return summarizeSamples(std::move(samples), timer.getResolution(), getMedian(empty), options);
}

llvm::Expected<PairedComparison> bench::compareCandidates(LaunchTimer &timer, unsigned first, unsigned second,
                                                          const TimingOptions &options) {
  for (unsigned candidate : {first, second})
    if (llvm::Expected<unsigned> count = warmUp(timer, candidate, options); !count)
      return count.takeError();
  std::vector<double> ratios, times;
  for (unsigned round = 0; round < options.rounds; ++round) {
    double time[2];
    // Rounds go in pairs of opposite order: what favours the one that comes
    // later favours both alike.
    bool isSwapped = (drawOrder(2, round / 2, options.seed)[0] == 1) != (round % 2 == 1);
    for (unsigned i = 0; i < 2; ++i) {
      unsigned which = isSwapped ? 1 - i : i;
      llvm::Expected<double> sample = timeOnce(timer, which ? second : first, options);
      if (!sample)
        return sample.takeError();
      time[which] = std::max(*sample, timer.getResolution() / 2);
    }
    ratios.push_back(time[1] / time[0]);
    times.push_back(time[0]);
  }
  return summarizeRatios(ratios, getStepShare(timer.getResolution(), getMedian(times)), options);
}

bool Ranking::isDecided() const {
  return llvm::none_of(isTied, [](bool tied) { return tied; });
}

llvm::Expected<Ranking> bench::rankCandidates(LaunchTimer &timer, unsigned count, const TimingOptions &options) {
  if (count < 2)
    return makeError(fmt::format("{} candidates cannot be ranked; give at least two", count));
  for (unsigned candidate = 0; candidate < count; ++candidate)
    if (llvm::Expected<unsigned> samples = warmUp(timer, candidate, options); !samples)
      return samples.takeError();
  std::vector<std::vector<double>> relative(count), seconds(count), ratios(count);
  std::vector<std::vector<unsigned>> ranks;
  double step = 0;
  for (unsigned round = 0; round < options.rounds; ++round) {
    std::vector<double> times(count);
    std::vector<unsigned> turns = drawOrder(count, round / 2, options.seed);
    if (round % 2 == 1)
      std::reverse(turns.begin(), turns.end());
    for (unsigned candidate : turns) {
      llvm::Expected<double> sample = timeOnce(timer, candidate, options);
      if (!sample)
        return sample.takeError();
      times[candidate] = std::max(*sample, timer.getResolution() / 2);
    }
    double middle = getMedian(times);
    step = std::max(step, getStepShare(timer.getResolution(), middle));
    std::vector<unsigned> order(count), rank(count);
    std::iota(order.begin(), order.end(), 0u);
    llvm::sort(order, [&](unsigned a, unsigned b) { return std::tie(times[a], a) < std::tie(times[b], b); });
    for (auto [place, candidate] : llvm::enumerate(order))
      rank[candidate] = unsigned(place);
    for (unsigned candidate = 0; candidate < count; ++candidate) {
      relative[candidate].push_back(times[candidate] / middle);
      seconds[candidate].push_back(times[candidate]);
      ratios[candidate].push_back(times[candidate] / times[0]);
    }
    ranks.push_back(std::move(rank));
  }
  Ranking result;
  for (const std::vector<double> &values : relative) {
    auto [low, high] = getMedianInterval(values, options.confidence);
    result.relative.push_back(getMedian(values));
    result.low.push_back(low - step);
    result.high.push_back(high + step);
  }
  for (unsigned candidate = 0; candidate < count; ++candidate) {
    result.median.push_back(getMedian(seconds[candidate]));
    result.againstFirst.push_back(summarizeRatios(
        ratios[candidate], candidate ? getStepShare(timer.getResolution(), result.median.front()) : 0, options));
  }
  result.order.resize(count);
  std::iota(result.order.begin(), result.order.end(), 0u);
  llvm::sort(result.order,
             [&](unsigned a, unsigned b) { return std::tie(result.relative[a], a) < std::tie(result.relative[b], b); });
  bool isEnough = options.rounds >= getSamplesNeeded(options.confidence);
  for (unsigned i = 0; i < count; ++i)
    result.isTied.push_back(i > 0 && (!isEnough || result.low[result.order[i]] <= result.high[result.order[i - 1]]));
  double sum = 0;
  for (size_t round = 1; round < ranks.size(); ++round) {
    int64_t concordance = 0;
    for (unsigned a = 0; a < count; ++a)
      for (unsigned b = 0; b < a; ++b)
        concordance += (ranks[round][a] < ranks[round][b]) == (ranks[round - 1][a] < ranks[round - 1][b]) ? 1 : -1;
    sum += double(concordance) / (double(count) * double(count - 1) / 2);
  }
  if (ranks.size() > 1)
    result.stability = sum / double(ranks.size() - 1);
  for (unsigned candidate = 0; candidate < count; ++candidate) {
    auto [low, high] = std::minmax_element(ranks.begin(), ranks.end(),
                                           [&](const auto &a, const auto &b) { return a[candidate] < b[candidate]; });
    result.largestMove = std::max<size_t>(result.largestMove, (*high)[candidate] - (*low)[candidate]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// A clock that does not exist
//===----------------------------------------------------------------------===//

SyntheticTimer::SyntheticTimer(std::vector<double> trueSeconds, SyntheticNoise noise, uint64_t seed)
    : trueSeconds(std::move(trueSeconds)), noise(noise), seed(seed) {}

llvm::Error SyntheticTimer::flushCaches(uint64_t) { return llvm::Error::success(); }

llvm::Expected<double> SyntheticTimer::timeLaunch(unsigned candidate) {
  if (candidate >= trueSeconds.size())
    return makeError(fmt::format("there is no candidate {}", candidate));
  RandomStream stream("timing", "clock", seed);
  uint64_t launch = launches++;
  float normal;
  RandomStream("timing", "noise", seed).fillNormal(launch, 1, &normal);
  double time = trueSeconds[candidate] * std::exp(noise.noise * double(normal));
  time *= 1 + noise.drift * double(launch) / double(std::max(1u, noise.driftLaunches));
  if (double(stream.getUniform(2 * launch)) < noise.outliers)
    time *= 3 + 5 * double(stream.getUniform(2 * launch + 1));
  return noise.step > 0 ? std::floor(time / noise.step) * noise.step : time;
}
