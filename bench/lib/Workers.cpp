//===- Workers.cpp - Jobs in processes of their own -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Workers.h"
#include "atrex/Bench/Catalogue.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace atrex;
using namespace atrex::bench;
using Clock = std::chrono::steady_clock;

JobChannel::~JobChannel() = default;

uint64_t bench::getPhysicalMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? uint64_t(pages) * uint64_t(size) : 0;
}

namespace {
/// Milliseconds between two looks at time and memory of the workers.
constexpr int tickMs = 20;
/// What a worker printed is kept up to this length.
constexpr size_t maxErrorText = 8192;

double getSeconds(Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); }

/// A frame: one byte that tells what it is, eight bytes of length, the text.
enum FrameKind : char { StageFrame = 'S', MessageFrame = 'M', EndFrame = 'E' };
constexpr size_t frameHead = 9;

bool writeAll(int fd, const char *data, size_t size) {
  while (size > 0) {
    ssize_t written = ::send(fd, data, size, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    data += written;
    size -= size_t(written);
  }
  return true;
}

/// The worker's end of the channel.
class SocketChannel : public JobChannel {
public:
  explicit SocketChannel(int fd) : fd(fd) {}
  void enter(llvm::StringRef stage) override { write(StageFrame, stage); }
  void send(llvm::StringRef message) override { write(MessageFrame, message); }
  void end() { write(EndFrame, ""); }

private:
  void write(FrameKind kind, llvm::StringRef text) {
    char head[frameHead];
    head[0] = kind;
    uint64_t size = text.size();
    std::memcpy(head + 1, &size, sizeof(size));
    // Without the other process there is nobody to work for.
    if (!writeAll(fd, head, sizeof(head)) || !writeAll(fd, text.data(), text.size()))
      _exit(1);
  }
  int fd;
};

[[noreturn]] void serve(int fd, const std::function<JobFunction()> &start) {
  JobFunction job = start();
  SocketChannel channel(fd);
  while (true) {
    uint64_t index;
    ssize_t got = ::recv(fd, &index, sizeof(index), MSG_WAITALL);
    if (got < 0 && errno == EINTR)
      continue;
    if (got != ssize_t(sizeof(index)))
      // No destructors: what was buffered before the fork is not this process's.
      _exit(0);
    job(size_t(index), channel);
    channel.end();
  }
}

/// The parent's view of a worker.
struct Worker {
  pid_t pid = -1;
  int fd = -1, errorFd = -1;
  bool isBusy = false;
  size_t job = 0;
  Clock::time_point since;
  /// Groups whose jobs this process has run.
  std::set<size_t> groups;
  std::string input, errorText;
  JobOutcome outcome;

  ~Worker() { end(); }
  /// Ends the process; its wait status.
  int end() {
    int status = 0;
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    }
    pid = -1;
    close();
    return status;
  }
  /// Waits for a process that is about to end.
  int wait() {
    int status = 0;
    while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR)
      ;
    pid = -1;
    return status;
  }
  void close() {
    for (int *descriptor : {&fd, &errorFd}) {
      if (*descriptor >= 0)
        ::close(*descriptor);
      *descriptor = -1;
    }
  }
  void readErrorText() {
    char buffer[4096];
    while (true) {
      ssize_t got = ::read(errorFd, buffer, sizeof(buffer));
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        return;
      errorText.append(buffer, std::min(size_t(got), maxErrorText - std::min(maxErrorText, errorText.size())));
    }
  }
};

/// Anonymous memory of a process, resident and swapped; 0 when it is gone.
uint64_t getMemory(pid_t pid) {
  std::string path = fmt::format("/proc/{}/status", pid);
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  char buffer[8192];
  ssize_t size = ::read(fd, buffer, sizeof(buffer));
  ::close(fd);
  uint64_t total = 0;
  llvm::StringRef text(buffer, size > 0 ? size_t(size) : 0);
  for (llvm::StringRef field : {"RssAnon:", "VmSwap:"}) {
    size_t at = text.find(field);
    uint64_t kib = 0;
    if (at != llvm::StringRef::npos && !text.substr(at + field.size()).ltrim().consumeInteger(10, kib))
      total += kib << 10;
  }
  return total;
}

std::string describeEnd(int status, const std::string &errorText) {
  std::string text;
  if (WIFSIGNALED(status)) {
    int number = WTERMSIG(status);
    text = fmt::format("ended by signal {} ({})", number, strsignal(number));
    if (number == SIGKILL)
      text += "; the system may have been out of memory";
  } else {
    text = fmt::format("ended with exit code {}", WEXITSTATUS(status));
  }
  // What it said before it ended: the first lines name the cause.
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(errorText).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : llvm::ArrayRef(lines).take_front(3))
    text += "\n" + line.substr(0, 300).str();
  return text;
}

class Pool {
public:
  Pool(llvm::ArrayRef<size_t> jobs, const JobPool &options) : queue(jobs.vec()), options(options) {}

  llvm::Error run() {
    workers.resize(std::min<size_t>(std::max(1u, options.workers), std::max<size_t>(1, queue.size())));
    while (true) {
      if (options.isStopped && options.isStopped()) {
        workers.clear();
        return llvm::Error::success();
      }
      bool isIdle = true;
      for (std::unique_ptr<Worker> &worker : workers) {
        if (llvm::Error error = handOut(worker))
          return error;
        isIdle &= !worker || !worker->isBusy;
      }
      if (isIdle)
        return llvm::Error::success();
      if (llvm::Error error = wait())
        return error;
      if (options.onTick)
        options.onTick();
    }
  }

private:
  llvm::Error spawn(std::unique_ptr<Worker> &slot) {
    int sockets[2], errors[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
      return makeError(fmt::format("cannot start a worker: {}", std::strerror(errno)));
    if (::pipe2(errors, O_CLOEXEC) != 0) {
      int why = errno;
      ::close(sockets[0]);
      ::close(sockets[1]);
      return makeError(fmt::format("cannot start a worker: {}", std::strerror(why)));
    }
    pid_t parent = ::getpid(), pid = ::fork();
    if (pid < 0) {
      int why = errno;
      for (int fd : {sockets[0], sockets[1], errors[0], errors[1]})
        ::close(fd);
      return makeError(fmt::format("cannot start a worker: {}", std::strerror(why)));
    }
    if (pid == 0) {
      // Nothing outlives the run, even one that is killed.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent)
        _exit(1);
      // Ctrl-C is for the process that keeps the results. Handlers that print
      // stack traces would only bury what the crash says itself.
      std::signal(SIGINT, SIG_IGN);
      for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT})
        std::signal(number, SIG_DFL);
      rlimit none{0, 0};
      ::setrlimit(RLIMIT_CORE, &none);
      // The ends of other workers would keep their channels open.
      for (std::unique_ptr<Worker> &other : workers)
        if (other)
          other->close();
      ::close(sockets[0]);
      ::close(errors[0]);
      ::dup2(errors[1], STDERR_FILENO);
      serve(sockets[1], options.start);
    }
    ::close(sockets[1]);
    ::close(errors[1]);
    ::fcntl(errors[0], F_SETFL, O_NONBLOCK);
    slot = std::make_unique<Worker>();
    slot->pid = pid;
    slot->fd = sockets[0];
    slot->errorFd = errors[0];
    return llvm::Error::success();
  }

  /// The place in the queue of the job that a worker (null: a new one) takes: of
  /// a group it has begun, else of one that nobody has, else the first.
  size_t choose(const Worker *worker) const {
    if (!options.group)
      return 0;
    std::optional<size_t> fresh;
    for (auto [place, job] : llvm::enumerate(queue)) {
      size_t group = options.group(job);
      if (worker && worker->groups.count(group))
        return place;
      bool isTaken = llvm::any_of(workers, [&](const std::unique_ptr<Worker> &other) {
        return other && other.get() != worker && other->groups.count(group);
      });
      if (!fresh && !isTaken)
        fresh = place;
    }
    return fresh.value_or(0);
  }

  llvm::Error handOut(std::unique_ptr<Worker> &slot) {
    if (slot && slot->isBusy)
      return llvm::Error::success();
    if (options.skip)
      llvm::erase_if(queue, options.skip);
    if (queue.empty())
      return llvm::Error::success();
    size_t chosen = choose(slot.get());
    if (!slot)
      if (llvm::Error error = spawn(slot))
        return error;
    slot->job = queue[chosen];
    queue.erase(queue.begin() + long(chosen));
    if (options.group)
      slot->groups.insert(options.group(slot->job));
    slot->isBusy = true;
    slot->since = Clock::now();
    slot->outcome = JobOutcome();
    slot->errorText.clear();
    if (options.onStart)
      options.onStart(slot->job);
    uint64_t index = slot->job;
    // A worker that is gone already is found when its channel is read.
    (void)writeAll(slot->fd, reinterpret_cast<const char *>(&index), sizeof(index));
    return llvm::Error::success();
  }

  llvm::Error finish(std::unique_ptr<Worker> &slot, JobEnd end, std::string reason) {
    slot->isBusy = false;
    JobOutcome outcome = std::move(slot->outcome);
    outcome.end = end;
    outcome.reason = std::move(reason);
    outcome.seconds = getSeconds(slot->since);
    size_t job = slot->job;
    if (end != JobEnd::Done)
      slot.reset();
    else if (options.limits.bytes && getMemory(slot->pid) > options.limits.bytes / 4)
      // What it keeps would count against its next job.
      slot.reset();
    return options.onEnd(job, std::move(outcome));
  }

  /// Reads what a worker sent; true when its channel is closed.
  bool readChannel(Worker &worker, bool &isDone) {
    char buffer[65536];
    ssize_t got = ::recv(worker.fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (got < 0)
      return errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK;
    if (got == 0)
      return true;
    worker.input.append(buffer, size_t(got));
    while (worker.input.size() >= frameHead) {
      uint64_t size;
      std::memcpy(&size, worker.input.data() + 1, sizeof(size));
      if (worker.input.size() - frameHead < size)
        break;
      std::string text = worker.input.substr(frameHead, size);
      switch (worker.input[0]) {
      case StageFrame:
        worker.outcome.stage = std::move(text);
        break;
      case MessageFrame:
        worker.outcome.messages.push_back(std::move(text));
        break;
      default:
        isDone = true;
      }
      worker.input.erase(0, frameHead + size);
    }
    return false;
  }

  /// Waits for news of the workers for one tick.
  llvm::Error wait() {
    std::vector<pollfd> fds;
    std::vector<size_t> slots;
    for (auto [i, worker] : llvm::enumerate(workers))
      if (worker && worker->isBusy) {
        fds.push_back({worker->fd, POLLIN, 0});
        fds.push_back({worker->errorFd, POLLIN, 0});
        slots.push_back(i);
      }
    int ready = ::poll(fds.data(), nfds_t(fds.size()), tickMs);
    if (ready < 0 && errno != EINTR)
      return makeError(fmt::format("cannot wait for workers: {}", std::strerror(errno)));
    for (auto [n, i] : llvm::enumerate(slots)) {
      std::unique_ptr<Worker> &slot = workers[i];
      Worker &worker = *slot;
      if (ready > 0 && fds[2 * n + 1].revents)
        worker.readErrorText();
      if (ready > 0 && fds[2 * n].revents) {
        bool isDone = false, isClosed = readChannel(worker, isDone);
        if (isDone) {
          if (llvm::Error error = finish(slot, JobEnd::Done, ""))
            return error;
          continue;
        }
        if (isClosed) {
          int status = worker.wait();
          worker.readErrorText();
          if (llvm::Error error = finish(slot, JobEnd::Crashed, describeEnd(status, worker.errorText)))
            return error;
          continue;
        }
      }
      const WorkerLimits &limits = options.limits;
      if (limits.seconds > 0 && getSeconds(worker.since) > limits.seconds) {
        if (llvm::Error error =
                finish(slot, JobEnd::TimedOut, fmt::format("took longer than the limit of {:g} s", limits.seconds)))
          return error;
        continue;
      }
      if (limits.bytes && getMemory(worker.pid) > limits.bytes)
        if (llvm::Error error = finish(slot, JobEnd::OutOfMemory,
                                       fmt::format("needed more memory than the limit of {} MiB", limits.bytes >> 20)))
          return error;
    }
    return llvm::Error::success();
  }

  /// Jobs that nobody has taken yet.
  std::vector<size_t> queue;
  const JobPool &options;
  std::vector<std::unique_ptr<Worker>> workers;
};

class LocalChannel : public JobChannel {
public:
  void enter(llvm::StringRef stage) override { outcome.stage = stage.str(); }
  void send(llvm::StringRef message) override { outcome.messages.push_back(message.str()); }
  JobOutcome outcome;
};
} // namespace

llvm::Error bench::runJobs(llvm::ArrayRef<size_t> jobs, const JobPool &pool) { return Pool(jobs, pool).run(); }

llvm::Error bench::runJobsHere(llvm::ArrayRef<size_t> jobs, const JobPool &pool) {
  if (jobs.empty())
    return llvm::Error::success();
  JobFunction function = pool.start();
  for (size_t job : jobs) {
    if (pool.isStopped && pool.isStopped())
      break;
    if (pool.skip && pool.skip(job))
      continue;
    if (pool.onStart)
      pool.onStart(job);
    LocalChannel channel;
    Clock::time_point since = Clock::now();
    function(job, channel);
    channel.outcome.seconds = getSeconds(since);
    if (llvm::Error error = pool.onEnd(job, std::move(channel.outcome)))
      return error;
    if (pool.onTick)
      pool.onTick();
  }
  return llvm::Error::success();
}
