//===- TimingTest.cpp - The timing protocol on a noisy device -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Timing.h"
#include "atrex/Bench/Catalogue.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace atrex;
using namespace atrex::bench;

namespace {
/// A device that launches nothing: times are drawn. Time passes with the
/// launches, and the clock of the chip falls with it.
class NoisyTimer : public LaunchTimer {
public:
  NoisyTimer(std::vector<double> trueSeconds, uint64_t seed) : trueSeconds(std::move(trueSeconds)), random(seed) {}

  llvm::Error flushCaches(uint64_t bytes) override {
    flushed += bytes;
    isCold = bytes >= cacheBytes;
    return llvm::Error::success();
  }
  llvm::Expected<double> timeLaunch(unsigned candidate) override {
    if (failAt && ++launches == failAt)
      return makeError("the device is lost");
    log.push_back(candidate);
    double time = trueSeconds[candidate] * (isCold ? 1 : warmFactor);
    isCold = false;
    time *= 1 + driftPerLaunch * double(log.size());
    if (log.size() <= slowLaunches)
      time *= 4;
    time *= std::exp(noise * normal(random));
    if (uniform(random) < outlierShare)
      time *= 3 + 5 * uniform(random);
    return quantize(time);
  }
  llvm::Expected<double> timeEmptyLaunch() override {
    return quantize(emptySeconds * std::exp(noise * normal(random)));
  }
  double getResolution() const override { return resolution; }

  std::vector<double> trueSeconds;
  double noise = 0.01, outlierShare = 0, driftPerLaunch = 0, resolution = 0, emptySeconds = 5e-6, warmFactor = 0.5;
  uint64_t cacheBytes = uint64_t(256) << 20;
  unsigned slowLaunches = 0, failAt = 0, launches = 0;
  uint64_t flushed = 0;
  std::vector<unsigned> log;

private:
  double quantize(double time) const { return resolution > 0 ? std::floor(time / resolution) * resolution : time; }
  bool isCold = false;
  std::mt19937_64 random;
  std::normal_distribution<double> normal{0, 1};
  std::uniform_real_distribution<double> uniform{0, 1};
};

/// Noise, outliers, a clock that falls by a fifth and steps of 0.1 us: all at
/// once.
void makeNasty(NoisyTimer &timer) {
  timer.noise = 0.01;
  timer.outlierShare = 0.05;
  timer.driftPerLaunch = 0.2 / 150;
  timer.resolution = 1e-7;
  timer.slowLaunches = 3;
}
} // namespace

TEST(Timing, MedianIntervalHoldsTheMedianAsOftenAsItSays) {
  EXPECT_EQ(getSamplesNeeded(0.95), 6u);
  EXPECT_EQ(getSamplesNeeded(0.99), 8u);
  // Tables of the sign test: ranks 6 and 15 of 20 samples, 22 and 40 of 61.
  std::vector<double> twenty(20), sixtyOne(61);
  for (size_t i = 0; i < 61; ++i)
    (i < 20 ? twenty[i] = double(i + 1) : 0.0), sixtyOne[i] = double(i + 1);
  EXPECT_EQ(getMedianInterval(twenty, 0.95), (std::pair<double, double>(6, 15)));
  EXPECT_EQ(getMedianInterval(sixtyOne, 0.95), (std::pair<double, double>(23, 39)));
  EXPECT_EQ(getMedian({4, 1, 3}), 3);
  EXPECT_EQ(getMedian({4, 1, 3, 2}), 2.5);
  std::mt19937_64 random(1);
  std::exponential_distribution<double> skewed;
  unsigned held = 0;
  for (unsigned trial = 0; trial < 2000; ++trial) {
    std::vector<double> samples(41);
    for (double &sample : samples)
      sample = skewed(random);
    auto [low, high] = getMedianInterval(samples, 0.95);
    held += low <= std::log(2.0) && std::log(2.0) <= high;
  }
  EXPECT_GE(held, 1880u); // 94 %
  EXPECT_LE(held, 1990u);
}

TEST(Timing, MeasuresColdCachesAfterWarmUp) {
  NoisyTimer timer({40e-6}, 7);
  timer.slowLaunches = 3;
  TimingOptions options = TimingOptions::forChip(*lookupChip("MI308X"));
  EXPECT_GE(options.flushBytes, 2 * lookupChip("MI308X")->lastLevelCacheBytes);
  llvm::Expected<TimingSummary> summary = measureCandidate(timer, 0, options);
  ASSERT_TRUE(bool(summary));
  // Warm caches would halve the time, slow first calls would raise the mean.
  EXPECT_NEAR(summary->median, 40e-6, 0.4e-6);
  EXPECT_NEAR(summary->mean, 40e-6, 0.4e-6);
  EXPECT_LE(summary->low, 40e-6);
  EXPECT_GE(summary->high, 40e-6);
  EXPECT_NEAR(summary->spread, 0.4e-6, 0.1e-6);
  EXPECT_NEAR(summary->emptySeconds, 5e-6, 0.2e-6);
  // 100 ms of kernel time at 40 us, after 5 calls and 10 ms of warm-up.
  EXPECT_NEAR(double(summary->samples.size()), 2001, 1);
  EXPECT_EQ(summary->outliers, 0u);
  EXPECT_TRUE(summary->warnings.empty()) << summary->warnings.front();
  EXPECT_EQ(timer.flushed, options.flushBytes * timer.log.size());
}

TEST(Timing, OutliersMoveTheMeanAndNotTheMedian) {
  NoisyTimer timer({40e-6}, 3);
  timer.outlierShare = 0.1;
  llvm::Expected<TimingSummary> summary = measureCandidate(timer, 0, TimingOptions());
  ASSERT_TRUE(bool(summary));
  EXPECT_NEAR(summary->median, 40e-6, 0.4e-6);
  EXPECT_GT(summary->mean, 50e-6);
  EXPECT_NEAR(double(summary->outliers) / double(summary->samples.size()), 0.1, 0.03);
  ASSERT_EQ(summary->warnings.size(), 1u);
  EXPECT_NE(summary->warnings[0].find("samples are outliers"), std::string::npos);
}

TEST(Timing, WarnsOfDriftCoarseClockAndLaunchBoundTimes) {
  TimingOptions options;
  auto getWarnings = [&](auto change) {
    NoisyTimer timer({40e-6}, 11);
    change(timer);
    llvm::Expected<TimingSummary> summary = measureCandidate(timer, 0, options);
    EXPECT_TRUE(bool(summary));
    std::string all;
    for (const std::string &warning : summary->warnings)
      all += warning + "\n";
    return all;
  };
  EXPECT_EQ(getWarnings([](NoisyTimer &) {}), "");
  EXPECT_NE(getWarnings([](NoisyTimer &t) { t.driftPerLaunch = 1e-4; }).find("the times drift by +1"),
            std::string::npos);
  EXPECT_NE(getWarnings([](NoisyTimer &t) { t.resolution = 4e-6; }).find("steps of the clock (4 us)"),
            std::string::npos);
  EXPECT_NE(getWarnings([](NoisyTimer &t) { t.trueSeconds = {6e-6}; }).find("mostly launch: an empty kernel takes"),
            std::string::npos);
  options.minSamples = options.maxSamples = 5;
  EXPECT_NE(getWarnings([](NoisyTimer &) {}).find("5 samples; an interval of 95 % needs 6"), std::string::npos);
}

TEST(Timing, FaultsOfTheDeviceAreErrors) {
  NoisyTimer timer({40e-6, 41e-6}, 1);
  timer.failAt = 9;
  llvm::Expected<TimingSummary> summary = measureCandidate(timer, 0, TimingOptions());
  ASSERT_FALSE(bool(summary));
  EXPECT_EQ(llvm::toString(summary.takeError()), "the device is lost");
  timer = NoisyTimer({std::nan(""), 1e-6}, 1);
  llvm::Expected<PairedComparison> comparison = compareCandidates(timer, 0, 1, TimingOptions());
  ASSERT_FALSE(bool(comparison));
  EXPECT_EQ(llvm::toString(comparison.takeError()), "the device timed candidate 0 at nan s, which is no positive time");
  llvm::Expected<Ranking> ranking = rankCandidates(timer, 1, TimingOptions());
  ASSERT_FALSE(bool(ranking));
  EXPECT_EQ(llvm::toString(ranking.takeError()), "1 candidates cannot be ranked; give at least two");
}

TEST(Timing, EqualCandidatesAreRarelyToldApart) {
  TimingOptions options;
  options.warmupSeconds = 1e-4;
  unsigned wrong = 0, wrongInBlocks = 0;
  constexpr unsigned trials = 400;
  for (unsigned trial = 0; trial < trials; ++trial) {
    NoisyTimer timer({40e-6, 40e-6}, trial);
    makeNasty(timer);
    options.seed = trial;
    llvm::Expected<PairedComparison> comparison = compareCandidates(timer, 0, 1, options);
    ASSERT_TRUE(bool(comparison));
    wrong += comparison->faster != Preference::Undecided;
    EXPECT_LE(comparison->low, comparison->ratio);
    EXPECT_GE(comparison->high, comparison->ratio);
    // What a tuner does that times one after the other.
    NoisyTimer blocks({40e-6, 40e-6}, trial);
    makeNasty(blocks);
    std::vector<double> samples[2];
    for (unsigned which : {0u, 1u})
      for (unsigned i = 0; i < options.rounds; ++i) {
        ASSERT_FALSE(bool(blocks.flushCaches(options.flushBytes)));
        samples[which].push_back(llvm::cantFail(blocks.timeLaunch(which)));
      }
    auto a = getMedianInterval(samples[0], 0.95), b = getMedianInterval(samples[1], 0.95);
    wrongInBlocks += a.second < b.first || b.second < a.first;
  }
  // Less than one in twenty of all decisions, where blocks are wrong nearly always.
  EXPECT_LE(wrong, trials / 20);
  EXPECT_GE(wrongInBlocks, trials * 9 / 10);
}

TEST(Timing, DifferencesOfThreePercentAreFoundInBothDirections) {
  TimingOptions options;
  options.warmupSeconds = 1e-4;
  unsigned right = 0, wrong = 0, holds = 0;
  constexpr unsigned trials = 200;
  for (unsigned trial = 0; trial < trials; ++trial) {
    bool isSecondFaster = trial % 2;
    double ratio = isSecondFaster ? 1 / 1.03 : 1.03;
    NoisyTimer timer({40e-6, 40e-6 * ratio}, trial + 1000);
    makeNasty(timer);
    options.seed = trial;
    llvm::Expected<PairedComparison> comparison = compareCandidates(timer, 0, 1, options);
    ASSERT_TRUE(bool(comparison));
    right += comparison->faster == (isSecondFaster ? Preference::Second : Preference::First);
    wrong += comparison->faster == (isSecondFaster ? Preference::First : Preference::Second);
    holds += comparison->low <= ratio && ratio <= comparison->high;
  }
  EXPECT_GE(right, trials * 9 / 10);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GE(holds, trials * 94 / 100);
}

TEST(Timing, StepsOfTheClockAreNoDifference) {
  // 7.43 and 7.46 us on a clock of 1 us: every sample says 7.
  NoisyTimer timer({7.43e-6, 7.46e-6}, 5);
  timer.noise = 0;
  timer.resolution = 1e-6;
  llvm::Expected<PairedComparison> comparison = compareCandidates(timer, 0, 1, TimingOptions());
  ASSERT_TRUE(bool(comparison));
  EXPECT_EQ(comparison->ratio, 1);
  EXPECT_EQ(comparison->faster, Preference::Undecided);
  EXPECT_LT(comparison->low, 0.9);
  EXPECT_GT(comparison->high, 1.1);
  // 6.99 and 7.01 us look a seventh apart; they are not.
  timer.trueSeconds = {6.99e-6, 7.01e-6};
  comparison = compareCandidates(timer, 0, 1, TimingOptions());
  ASSERT_TRUE(bool(comparison));
  EXPECT_GT(comparison->ratio, 1.1);
  EXPECT_EQ(comparison->faster, Preference::Undecided);
}

TEST(Timing, TooFewRoundsDecideNothing) {
  TimingOptions options;
  options.rounds = 5;
  NoisyTimer timer({40e-6, 80e-6}, 5);
  llvm::Expected<PairedComparison> comparison = compareCandidates(timer, 0, 1, options);
  ASSERT_TRUE(bool(comparison));
  EXPECT_NEAR(comparison->ratio, 2, 0.1);
  EXPECT_EQ(comparison->faster, Preference::Undecided);
  llvm::Expected<Ranking> ranking = rankCandidates(timer, 2, options);
  ASSERT_TRUE(bool(ranking));
  EXPECT_FALSE(ranking->isDecided());
}

TEST(Timing, RoundsAreInterleavedAndBalanced) {
  NoisyTimer timer({40e-6, 41e-6}, 2);
  TimingOptions options;
  options.rounds = 100;
  options.warmupSeconds = 0;
  ASSERT_TRUE(bool(compareCandidates(timer, 0, 1, options)));
  llvm::ArrayRef<unsigned> log = llvm::ArrayRef(timer.log).take_back(200);
  unsigned firstLeads = 0;
  for (size_t round = 0; round < 100; ++round) {
    EXPECT_NE(log[2 * round], log[2 * round + 1]);
    firstLeads += log[2 * round] == 0;
  }
  EXPECT_EQ(firstLeads, 50u);
  // The seed decides the order, and nothing else does.
  std::vector<unsigned> before = timer.log;
  timer.log.clear();
  ASSERT_TRUE(bool(compareCandidates(timer, 0, 1, options)));
  EXPECT_EQ(timer.log, before);
  options.seed = 2;
  timer.log.clear();
  ASSERT_TRUE(bool(compareCandidates(timer, 0, 1, options)));
  EXPECT_NE(timer.log, before);
}

TEST(Timing, RanksAreStableOnlyWhereCandidatesDiffer) {
  TimingOptions options;
  options.warmupSeconds = 1e-4;
  NoisyTimer distinct({50e-6, 40e-6, 60e-6, 70e-6, 55e-6}, 4);
  makeNasty(distinct);
  distinct.outlierShare = 0;
  llvm::Expected<Ranking> ranking = rankCandidates(distinct, 5, options);
  ASSERT_TRUE(bool(ranking));
  EXPECT_EQ(ranking->order, (std::vector<unsigned>{1, 0, 4, 2, 3}));
  EXPECT_TRUE(ranking->isDecided());
  EXPECT_GT(ranking->stability, 0.95);
  EXPECT_LE(ranking->largestMove, 1u);

  NoisyTimer equal(std::vector<double>(20, 40e-6), 4);
  makeNasty(equal);
  ranking = rankCandidates(equal, 20, options);
  ASSERT_TRUE(bool(ranking));
  EXPECT_FALSE(ranking->isDecided());
  EXPECT_LT(std::abs(ranking->stability), 0.2);
  EXPECT_GE(ranking->largestMove, 15u);

  // Two that are alike among others: the tie is named, the rest is decided.
  NoisyTimer mixed({40e-6, 80e-6, 40.05e-6}, 4);
  makeNasty(mixed);
  ranking = rankCandidates(mixed, 3, options);
  ASSERT_TRUE(bool(ranking));
  EXPECT_EQ(ranking->order.back(), 1u);
  EXPECT_EQ(ranking->isTied, (std::vector<bool>{false, true, false}));
}
