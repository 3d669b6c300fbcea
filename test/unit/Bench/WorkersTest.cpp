//===- WorkersTest.cpp - What ends a job ends nothing else ----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "bench/lib/Workers.h"
#include "atrex/Bench/Catalogue.h"
#include "gtest/gtest.h"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>
#include <vector>

using namespace atrex;
using namespace atrex::bench;

namespace {
enum Behaviour : size_t { Fine, Segfault, Abort, Exit, Hang, Eat, Large };

struct Collected {
  std::map<size_t, JobOutcome> outcomes;
  std::vector<size_t> order;
  llvm::Error error = llvm::Error::success();
};

/// Job n behaves like jobs[n].
Collected collect(llvm::ArrayRef<Behaviour> behaviours, unsigned workers, WorkerLimits limits = {}) {
  Collected collected;
  JobPool pool;
  pool.workers = workers;
  pool.limits = limits;
  pool.start = [&]() -> JobFunction {
    return [&](size_t job, JobChannel &channel) {
      channel.enter("first stage");
      channel.send("message 1 of " + std::to_string(job));
      channel.enter("second stage");
      switch (behaviours[job]) {
      case Fine:
        break;
      case Segfault:
        std::raise(SIGSEGV);
        break;
      case Abort:
        std::fprintf(stderr, "it does not hold\nbecause of %zu\n", job);
        std::abort();
      case Exit:
        _exit(7);
      case Hang:
        while (true)
          pause();
      case Eat:
        for (std::vector<std::vector<char>> all;;)
          all.emplace_back(size_t(8) << 20, 'x');
      case Large:
        channel.send(std::string(size_t(3) << 20, 'y'));
        break;
      }
      channel.send("message 2 of " + std::to_string(job));
    };
  };
  pool.onEnd = [&](size_t job, JobOutcome outcome) {
    collected.order.push_back(job);
    collected.outcomes[job] = std::move(outcome);
    return llvm::Error::success();
  };
  std::vector<size_t> jobs;
  for (size_t i = 0; i < behaviours.size(); ++i)
    jobs.push_back(i);
  EXPECT_FALSE(bool(collected.error));
  collected.error = runJobs(jobs, pool);
  EXPECT_FALSE(bool(collected.error));
  return collected;
}

bool isGone(pid_t pid) { return ::kill(pid, 0) != 0; }
} // namespace

TEST(Workers, EveryKindOfEndIsToldAndCostsOneJob) {
  for (unsigned workers : {1u, 3u}) {
    Collected all = collect({Fine, Segfault, Abort, Fine, Exit, Hang, Eat, Large, Fine}, workers, {0.5, 256 << 20});
    ASSERT_EQ(all.outcomes.size(), 9u);
    for (size_t job : {0u, 3u, 7u, 8u}) {
      EXPECT_EQ(all.outcomes[job].end, JobEnd::Done) << job << all.outcomes[job].reason;
      EXPECT_EQ(all.outcomes[job].messages.front(), "message 1 of " + std::to_string(job));
      EXPECT_EQ(all.outcomes[job].messages.back(), "message 2 of " + std::to_string(job));
    }
    EXPECT_EQ(all.outcomes[7].messages[1].size(), size_t(3) << 20);
    EXPECT_EQ(all.outcomes[1].end, JobEnd::Crashed);
    EXPECT_EQ(all.outcomes[1].reason, "ended by signal 11 (Segmentation fault)");
    EXPECT_EQ(all.outcomes[1].stage, "second stage");
    EXPECT_EQ(all.outcomes[1].messages, (std::vector<std::string>{"message 1 of 1"}));
    EXPECT_EQ(all.outcomes[2].reason, "ended by signal 6 (Aborted)\nit does not hold\nbecause of 2");
    EXPECT_EQ(all.outcomes[4].reason, "ended with exit code 7");
    EXPECT_EQ(all.outcomes[5].end, JobEnd::TimedOut);
    EXPECT_EQ(all.outcomes[5].reason, "took longer than the limit of 0.5 s");
    EXPECT_GE(all.outcomes[5].seconds, 0.5);
    EXPECT_LT(all.outcomes[5].seconds, 5);
    EXPECT_EQ(all.outcomes[6].end, JobEnd::OutOfMemory);
    EXPECT_EQ(all.outcomes[6].reason, "needed more memory than the limit of 256 MiB");
    if (workers == 1)
      EXPECT_EQ(all.order, (std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  }
}

TEST(Workers, OneProcessServesManyJobsAndKeepsItsState) {
  JobPool pool;
  pool.start = []() -> JobFunction {
    auto served = std::make_shared<int>(0);
    return [served](size_t, JobChannel &channel) {
      channel.send(std::to_string(++*served) + " " + std::to_string(::getpid()));
    };
  };
  std::vector<std::string> answers;
  pool.onEnd = [&](size_t, JobOutcome outcome) {
    answers.push_back(outcome.messages.front());
    return llvm::Error::success();
  };
  ASSERT_FALSE(bool(runJobs({0, 1, 2}, pool)));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].substr(0, 2), "1 ");
  EXPECT_EQ(answers[2].substr(0, 2), "3 ");
  EXPECT_EQ(answers[0].substr(2), answers[2].substr(2));
  EXPECT_NE(answers[0].substr(2), std::to_string(::getpid()));
  EXPECT_TRUE(isGone(pid_t(std::stol(answers[0].substr(2)))));
}

TEST(Workers, GroupsStayWithTheirProcess) {
  // Two groups of four jobs, then one of one: whoever is free takes what nobody
  // has begun, and only at the end something of another's. The first job of the
  // second group lasts until one of its siblings is done.
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  JobPool pool;
  pool.workers = 2;
  pool.limits.seconds = 60;
  pool.group = [](size_t job) { return job / 4; };
  pool.start = [&]() -> JobFunction {
    return [&](size_t job, JobChannel &channel) {
      channel.send(std::to_string(::getpid()));
      char byte;
      if (job == 4 && ::read(gate[0], &byte, 1) != 1)
        _exit(1);
    };
  };
  std::map<size_t, std::string> process;
  std::vector<size_t> started;
  pool.onStart = [&](size_t job) { started.push_back(job); };
  pool.onEnd = [&](size_t job, JobOutcome outcome) {
    process[job] = outcome.messages.front();
    EXPECT_TRUE(job != 5 || ::write(gate[1], "x", 1) == 1);
    return llvm::Error::success();
  };
  EXPECT_FALSE(bool(runJobs({0, 1, 2, 3, 4, 5, 6, 7, 8}, pool)));
  ::close(gate[0]);
  ::close(gate[1]);
  ASSERT_EQ(process.size(), 9u);
  EXPECT_EQ(std::vector<size_t>(started.begin(), started.begin() + 7), (std::vector<size_t>{0, 4, 1, 2, 3, 8, 5}));
  for (size_t job : {1u, 2u, 3u, 8u, 5u})
    EXPECT_EQ(process[job], process[0]) << job;
  EXPECT_NE(process[4], process[0]);
}

TEST(Workers, StoppingEndsWhatIsInFlight) {
  bool isStopped = false;
  JobPool pool;
  pool.workers = 2;
  pool.start = []() -> JobFunction {
    return [](size_t job, JobChannel &channel) {
      channel.send(std::to_string(::getpid()));
      while (job > 0)
        pause();
    };
  };
  std::vector<size_t> ended;
  pool.onEnd = [&](size_t job, JobOutcome) {
    ended.push_back(job);
    isStopped = true;
    return llvm::Error::success();
  };
  pool.isStopped = [&] { return isStopped; };
  auto start = std::chrono::steady_clock::now();
  ASSERT_FALSE(bool(runJobs({0, 1, 2, 3}, pool)));
  EXPECT_EQ(ended, (std::vector<size_t>{0}));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
}

TEST(Workers, JobsAreSkippedAndErrorsEndTheRun) {
  JobPool pool;
  pool.start = []() -> JobFunction { return [](size_t, JobChannel &) {}; };
  pool.skip = [](size_t job) { return job % 2 == 1; };
  std::vector<size_t> ended;
  pool.onEnd = [&](size_t job, JobOutcome) -> llvm::Error {
    ended.push_back(job);
    return job == 4 ? makeError("the disk is full") : llvm::Error::success();
  };
  for (bool isHere : {false, true}) {
    ended.clear();
    llvm::Error error = isHere ? runJobsHere({1, 2, 3, 4, 5, 6}, pool) : runJobs({1, 2, 3, 4, 5, 6}, pool);
    EXPECT_EQ(llvm::toString(std::move(error)), "the disk is full");
    EXPECT_EQ(ended, (std::vector<size_t>{2, 4}));
  }
}
