//===- Workers.h - Jobs in processes of their own ---------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A candidate may crash the compiler, never end or eat the memory of the
// machine. Jobs therefore run in forked processes with limits; what ends one of
// them ends one job.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_LIB_WORKERS_H
#define ATREX_BENCH_LIB_WORKERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atrex::bench {

/// 0: no limit.
struct WorkerLimits {
  /// Wall time of one job.
  double seconds = 0;
  /// Anonymous memory of one process, swapped out or not.
  uint64_t bytes = 0;
};

/// How a job talks to the process that handed it out.
class JobChannel {
public:
  virtual ~JobChannel();
  /// What the job is about to do, for the case that it gets no further.
  virtual void enter(llvm::StringRef stage) = 0;
  virtual void send(llvm::StringRef message) = 0;
};

enum class JobEnd : uint8_t { Done, Crashed, TimedOut, OutOfMemory };

struct JobOutcome {
  JobEnd end = JobEnd::Done;
  std::vector<std::string> messages;
  /// The last stage entered.
  std::string stage;
  /// Why the job did not get to its end.
  std::string reason;
  double seconds = 0;
};

using JobFunction = std::function<void(size_t job, JobChannel &channel)>;

struct JobPool {
  unsigned workers = 1;
  WorkerLimits limits;
  /// Called in each worker before its first job.
  std::function<JobFunction()> start;
  /// Jobs of one group share work that a process does once, such as compiling a
  /// kernel: a process stays with the groups it has begun, and takes jobs of
  /// others' groups only when there is nothing else. Empty: every job is a group
  /// of its own.
  std::function<size_t(size_t job)> group;
  /// Whether a job need not run; asked before it is handed out. May be empty.
  std::function<bool(size_t job)> skip;
  std::function<void(size_t job)> onStart;
  /// An error ends everything.
  std::function<llvm::Error(size_t job, JobOutcome outcome)> onEnd;
  /// Called a few times a second.
  std::function<void()> onTick;
  /// Once true, jobs in flight are ended and lost.
  std::function<bool()> isStopped;
};

/// Runs the jobs in order of their being listed as far as groups allow, `workers` at a time, each in a
/// process of its own that serves one after the other. The calling process must
/// have no other thread.
llvm::Error runJobs(llvm::ArrayRef<size_t> jobs, const JobPool &pool);

/// The same in this process, without limits, one after the other: for debuggers
/// and tests. A job that runs is never ended.
llvm::Error runJobsHere(llvm::ArrayRef<size_t> jobs, const JobPool &pool);

/// Physical memory of the machine, bytes.
uint64_t getPhysicalMemory();

} // namespace atrex::bench

#endif // ATREX_BENCH_LIB_WORKERS_H
