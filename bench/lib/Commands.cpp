//===- Commands.cpp - list, roofline, run, score, reference ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CaseCommands.h"
#include "CommandContext.h"
#include "Workers.h"
#include "atrex/Bench/Chart.h"
#include "atrex/Bench/Page.h"
#include "atrex/Bench/Result.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/FileOutput.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

namespace {
/// Set by the first Ctrl-C; the second one ends the process.
std::atomic<bool> isInterrupted{false};

extern "C" void handleInterrupt(int) {
  isInterrupted.store(true);
  std::signal(SIGINT, SIG_DFL);
}

/// The operators that `--op` (all when absent) selects.
llvm::Expected<std::vector<const CatalogueOperator *>> selectOperators(Context &context, const Arguments &arguments) {
  std::vector<const CatalogueOperator *> selected;
  if (arguments.has("op")) {
    llvm::Expected<const CatalogueOperator *> op = context.catalogue.lookup(arguments.get("op"));
    if (!op)
      return op.takeError();
    selected.push_back(*op);
    return selected;
  }
  for (const CatalogueOperator &op : context.catalogue.getOperators())
    selected.push_back(&op);
  return selected;
}

//===----------------------------------------------------------------------===//
// list
//===----------------------------------------------------------------------===//

/// Whether the bench brings a kernel for the operator.
bool hasKernel(const std::string &op) {
  std::string path;
  return findSource("kernels/" + op + ".atx", path).has_value();
}

constexpr OptionSpec listOptions[] = {
    {"op", "OPERATOR", "show one operator"},
    {"shapes", "", "show every shape with its parameters"},
};
constexpr CommandSpec listCommand = {"list", "Lists operators and shapes.", "", listOptions};

int runList(Context &context, const Arguments &arguments) {
  auto selected = selectOperators(context, arguments);
  if (!selected)
    return context.fail(selected.takeError());
  double total = context.catalogue.getTotalImportance();
  context.print("{:<30} {:<15} {:>10} {:>7} {:>7}  {:<9} {}\n", "operator", "phase", "importance", "weight", "shapes",
                "type", "kernel");
  for (const CatalogueOperator *op : *selected)
    context.print("{:<30} {:<15} {:>10.6f} {:>7.4f} {:>7}  {:<9} {}\n", op->name, op->phase, op->importance,
                  op->importance / total, op->shapes.size(), op->dtype, hasKernel(op->name) ? "yes" : "not yet");
  if (arguments.has("op") || arguments.has("shapes"))
    for (const CatalogueOperator *op : *selected) {
      auto join = [](const std::vector<std::pair<std::string, std::string>> &tensors) {
        std::vector<std::string> parts;
        for (const auto &[name, type] : tensors)
          parts.push_back(name + ": " + type);
        return llvm::join(parts, ", ");
      };
      context.print("\n{}({}) -> ({})\n", op->name, join(op->inputs), join(op->outputs));
      if (arguments.has("shapes"))
        for (const CatalogueShape &shape : op->shapes) {
          std::string params = shape.params.str();
          // A long list of lengths does not help on a terminal.
          if (params.size() > 400)
            params = params.substr(0, 397) + "...";
          context.print("  {:>3}  {}\n", shape.id, params);
        }
    }
  if (arguments.has("op"))
    return exitOk;
  size_t kernels = 0, shapes = 0;
  double weight = 0;
  for (const CatalogueOperator *op : *selected)
    if (hasKernel(op->name)) {
      ++kernels;
      shapes += op->shapes.size();
      weight += op->importance / total;
    }
  context.print("\n{} operators, {} shapes; importances sum to {:.5f}\n", selected->size(),
                context.catalogue.getShapeCount(), total);
  context.print("{} operators with {} shapes and {:.1f} % of the weight have a kernel; the other {} count 0 in S_agg\n",
                kernels, shapes, weight * 100, selected->size() - kernels);
  return exitOk;
}

//===----------------------------------------------------------------------===//
// roofline
//===----------------------------------------------------------------------===//

constexpr OptionSpec rooflineOptions[] = {
    {"op", "OPERATOR", "one operator; all without it"},
    {"shapes", "LIST", "ids such as 0,3-5 (needs --op)"},
    {"device", "CHIP", "chip of the table, such as XPU-A or H20 (default XPU-A)"},
    {"verify", "", "compare every figure with the published ones, bit for bit"},
    {"json", "FILE", "write the figures as JSON"},
};
constexpr CommandSpec rooflineCommand = {
    "roofline", "Work, traffic and roofline time of every shape, from closed formulas.", "", rooflineOptions};

int verifyRoofline(Context &context, llvm::ArrayRef<const CatalogueOperator *> selected) {
  size_t shapes = 0, flops = 0, reads = 0, writes = 0, times = 0, timesTotal = 0;
  for (const CatalogueOperator *op : selected)
    for (const CatalogueShape &shape : op->shapes) {
      ++shapes;
      llvm::Expected<WorkPair> work = computeWork(op->name, shape.params, shape.realised);
      if (!work)
        return context.fail(work.takeError());
      auto compare = [&](const char *what, double ours, double published, size_t &agreeing) {
        if (std::memcmp(&ours, &published, sizeof(ours)) == 0 || (ours == 0 && published == 0)) {
          ++agreeing;
          return;
        }
        context.print("{} shape {}: {} is {:.17g}, published {:.17g}\n", op->name, shape.id, what, ours, published);
      };
      compare("flops", work->charged.flops, shape.flops, flops);
      compare("read bytes", work->charged.readBytes, shape.readBytes, reads);
      compare("write bytes", work->charged.writeBytes, shape.writeBytes, writes);
      for (const auto &[device, published] : shape.solMs) {
        ++timesTotal;
        std::string message;
        const ChipInfo *chip = findChip(device, message);
        if (!chip)
          return context.fail(makeError(message));
        compare(("SOL ms on " + device).c_str(), computeSolMs(work->charged, op->dtype, *chip), published, times);
      }
    }
  context.print("flops  {} of {} agree\n", flops, shapes);
  context.print("reads  {} of {} agree\n", reads, shapes);
  context.print("writes {} of {} agree\n", writes, shapes);
  context.print("SOL    {} of {} agree bit for bit\n", times, timesTotal);
  bool agrees = flops == shapes && reads == shapes && writes == shapes && times == timesTotal;
  return agrees ? exitOk : exitFault;
}

int runRoofline(Context &context, const Arguments &arguments) {
  auto selected = selectOperators(context, arguments);
  if (!selected)
    return context.fail(selected.takeError());
  if (arguments.has("shapes") && !arguments.has("op"))
    return context.fail(makeError("roofline: --shapes needs --op"), exitUsage);
  std::string message, deviceName = arguments.get("device", "XPU-A");
  const ChipInfo *chip = findChip(deviceName, message);
  if (!chip)
    return context.fail(makeError(message));
  if (arguments.has("json"))
    if (llvm::Error error = checkWritable(arguments.get("json")))
      return context.fail(std::move(error));
  if (arguments.has("verify"))
    return verifyRoofline(context, *selected);

  json::Array rows;
  context.print("{:<29} {:>3} {:>9} {:>9} {:>9} {:>11} {:>7} {:>11}\n", "operator", "id", "FLOP", "read B", "write B",
                "SOL us", "bound", "minimal us");
  for (const CatalogueOperator *op : *selected) {
    llvm::Expected<std::vector<int64_t>> ids = parseShapeList(arguments.get("shapes"), *op);
    if (!ids)
      return context.fail(ids.takeError());
    for (int64_t id : *ids) {
      const CatalogueShape &shape = *op->lookupShape(id);
      llvm::Expected<WorkPair> work = computeWork(op->name, shape.params, shape.realised);
      if (!work)
        return context.fail(work.takeError());
      const Work &charged = work->charged;
      double sol = computeSolMs(charged, op->dtype, *chip);
      double peak = getPeak(*chip, op->dtype);
      bool isCompute =
          charged.flops > 0 && peak > 0 && charged.flops / peak > charged.getBytes() / chip->hbmBytesPerSecond;
      std::string minimalText = work->minimalIsNothing ? "0 (copy)" : "same";
      json::Object row{{"op", op->name},
                       {"id", id},
                       {"flops", charged.flops},
                       {"read_bytes", charged.readBytes},
                       {"write_bytes", charged.writeBytes},
                       {"sol_ms", sol},
                       {"bound", isCompute ? "compute" : "memory"}};
      if (work->minimal) {
        double minimal = computeSolMs(*work->minimal, op->dtype, *chip);
        minimalText = formatUs(minimal * 1000);
        row["minimal"] = json::Object{{"flops", work->minimal->flops},
                                      {"read_bytes", work->minimal->readBytes},
                                      {"write_bytes", work->minimal->writeBytes},
                                      {"sol_ms", minimal}};
      }
      context.print("{:<29} {:>3} {:>9.3g} {:>9.3g} {:>9.3g} {:>11} {:>7} {:>11}\n", op->name, id, charged.flops,
                    charged.readBytes, charged.writeBytes, formatUs(sol * 1000), isCompute ? "compute" : "memory",
                    minimalText);
      rows.push_back(std::move(row));
    }
  }
  if (!arguments.has("json"))
    return exitOk;
  json::Value tree =
      json::Object{{"schema", "atrex-mlir/bench-roofline/1"}, {"chip", chip->name.str()}, {"shapes", std::move(rows)}};
  if (llvm::Error error = writeFile(arguments.get("json"), llvm::formatv("{0:2}\n", tree).str()))
    return context.fail(std::move(error));
  return exitOk;
}

//===----------------------------------------------------------------------===//
// run
//===----------------------------------------------------------------------===//

constexpr OptionSpec runOptionSpecs[] = {
    {"op", "OPERATOR", "operator to run"},
    {"all", "", "every operator that has a kernel"},
    {"case", "DIR", "run a stored case instead of catalogue shapes"},
    {"shapes", "LIST", "ids such as 0,3-5; all without it"},
    {"arch", "ARCH", "architecture to compile for (default gfx942)"},
    {"chip", "CHIP", "chip that times and rooflines are for (default: of the architecture)"},
    {"device", "sim|hip:N", "where to execute (default sim, the embedded device)"},
    {"kernel", "FILE", "kernel source instead of bench/kernels/OPERATOR.atx"},
    {"schedule", "FILE", "pipeline or regimes (FILE.regimes) instead of bench/schedules/ARCH/OPERATOR.*"},
    {"knob", "NAME=V,...", "knobs that do not take the value of regime or kernel"},
    {"check", "upstream|strict|both,all,race,...",
     "verdicts that decide pass or fail (default both; fp8: with the looser grade for fp8 inside), and checks of the "
     "embedded device (uninit, race, wait, hazard, "
     "align, all) whose findings fail a shape"},
    {"shuffle", "SEED", "draw the order of workgroups and waves on the embedded device from this seed"},
    {"inputs", "published|strict|both|probes|all", "inputs to run with (default both)"},
    {"json", "FILE", "write results as JSON, after every shape"},
    {"resume", "", "keep the shapes that the file of --json already holds"},
    {"html", "FILE", "write a page: charts, table and details of every shape"},
    {"svg", "FILE", "write a picture: share of the roofline by shape, beside production"},
    {"jobs", "N",
     "shapes at a time, each in a process of its own; threads that are left over execute them faster "
     "(default: one per core)"},
    {"time-limit", "SECONDS", "end a shape that takes longer (default 3600; 0: never)"},
    {"memory-limit", "MIB",
     "end a shape that needs more (default: three quarters of the machine, shared by the "
     "processes; 0: no limit)"},
    {"retry", "", "with --resume: run shapes without a verdict again"},
    {"profile", "", "record the profile by source line"},
    {"in-process", "", "for debuggers: one shape after the other in this process, without limits"},
    {"seed", "N", "seed of inputs and samples (default 1)"},
    {"repeat", "N",
     "run every shape with N draws of the inputs, seeds SEED .. SEED + N - 1; the verdict is over all (default 1)"},
    {"whole", "", "execute every workgroup, however large the shape"},
    {"budget", "ELEMENTS", "tensor elements up to which a shape runs whole (default 4194304)"},
};
constexpr CommandSpec runCommand = {"run", "Compiles, executes, checks and scores kernels.", "", runOptionSpecs};

std::string describeVerdict(std::optional<bool> verdict) { return !verdict ? "-" : *verdict ? "pass" : "FAIL"; }

/// Three columns of figures share one head; predictions say so there.
void printRunHead(Context &context, bool isPrediction) {
  const char *kind = isPrediction ? "predicted" : "measured";
  context.print("{:>3} {:>17} {:>8} {:>6} {:>8} {:>11} {:>9} {:>11} {:>12}\n", "", "", "", "", "output", kind,
                "share of", "production", isPrediction ? "predicted vs" : "measured vs");
  context.print("{:>3} {:>17} {:>8} {:>6} {:>8} {:>11} {:>9} {:>11} {:>12}\n", "id", "shape", "upstream", "strict",
                "checked", "us", "roofline", "measured us", "production");
}

void printRunRow(Context &context, const ShapeResult &result) {
  std::string id = result.id < 0 ? "-" : std::to_string(result.id);
  if (result.status == ShapeStatus::Error) {
    context.print("{:>3} {:>17} {:>8} {:>6}\n", id, result.shapeText, "error", "error");
    return;
  }
  std::string checked = formatShare(result.getCheckedShare());
  std::string time = "-", score = "-", production = "-", speedUp = "-";
  if (result.hasTime) {
    time = formatUs(result.getTimeUs());
    score = fmt::format("{:.3f}", result.getScore());
    if (result.productionUs) {
      production = formatUs(*result.productionUs);
      speedUp = result.getTimeUs() > 0 ? fmt::format("{:.2f} x", *result.productionUs / result.getTimeUs()) : "-";
    }
  }
  context.print("{:>3} {:>17} {:>8} {:>6} {:>8} {:>11} {:>9} {:>11} {:>12}\n", id, result.shapeText,
                describeVerdict(result.upstream), describeVerdict(result.strict), checked, time, score, production,
                speedUp);
}

/// Why a shape failed, one line per fault.
void printFaults(Context &context, const ShapeResult &result) {
  std::string where = result.id < 0 ? "case" : fmt::format("shape {}", result.id);
  if (!result.error.empty()) {
    context.print("  {}: {}\n", where, result.error);
    return;
  }
  for (const CheckResult &check : result.checks) {
    if (!check.writeFault.empty())
      context.print("  {}, {}: {}\n", where, check.describe(), check.writeFault);
    if (!check.inputFault.empty())
      context.print("  {}, {}: {}\n", where, check.describe(), check.inputFault);
    for (const auto &[name, verdict] : check.outputs) {
      auto printDetail = [&](const char *rule, const VerdictDetail &detail) {
        if (detail.passes)
          return;
        context.print("  {}, {}, output '{}', {}:\n    {};\n    worst at row {}, element {}: expected {:g}, got "
                      "{:g}\n",
                      where, check.describe(), name, rule, detail.message, detail.worstIndex / verdict.rowElements,
                      detail.worstIndex % verdict.rowElements, detail.worstReference, detail.worstCandidate);
      };
      if (check.inputs != "strict")
        printDetail("upstream", verdict.upstream);
      printDetail(verdict.rule.c_str(), verdict.strict);
    }
  }
}

/// The same fault in many shapes (a kernel that does not compile, or only takes
/// other dimensions) is told once; figures may differ.
void printAllFaults(Context &context, llvm::ArrayRef<ShapeResult> results) {
  std::map<std::string, size_t> told;
  for (const ShapeResult &result : results) {
    if (result.status == ShapeStatus::Pass)
      continue;
    std::string kind = result.error;
    llvm::erase_if(kind, [](char c) { return llvm::isDigit(c) || c == ' ' || c == '^'; });
    if (kind.empty() || told[kind]++ == 0)
      printFaults(context, result);
  }
  size_t repeated = 0;
  for (const auto &[kind, count] : told)
    repeated += count - 1;
  if (repeated)
    context.print("  the same in {} more {}\n", repeated, repeated == 1 ? "shape" : "shapes");
}

std::string formatDuration(double seconds) {
  if (seconds < 10)
    return fmt::format("{:.1f} s", seconds);
  if (seconds < 120)
    return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200)
    return fmt::format("{:.0f} min", seconds / 60);
  return seconds < 172800 ? fmt::format("{:.1f} h", seconds / 3600) : fmt::format("{:.1f} days", seconds / 86400);
}

/// How far a run is: on a terminal one line that is rewritten, elsewhere a line
/// every ten minutes.
class Progress {
public:
  /// `weights` are proportional to the time that jobs are expected to take.
  Progress(llvm::raw_ostream &err, std::vector<double> weights)
      : err(err), weights(std::move(weights)), isTerminal(llvm::sys::Process::StandardErrIsDisplayed()),
        start(std::chrono::steady_clock::now()), told(start) {
    for (double weight : this->weights)
      total += weight;
  }
  void add(size_t job, std::string what) { running.emplace_back(job, std::move(what)); }
  void remove(size_t job) {
    llvm::erase_if(running, [&](const auto &entry) { return entry.first == job; });
    ++done;
    doneWeight += weights[job];
  }
  void show() {
    auto now = std::chrono::steady_clock::now();
    double quiet = std::chrono::duration<double>(now - told).count();
    if (running.empty() || quiet < (isTerminal ? 0.2 : 600))
      return;
    told = now;
    double elapsed = std::chrono::duration<double>(now - start).count();
    std::string text = fmt::format("[{}/{}] {}", done, weights.size(), running.front().second);
    if (running.size() > 1)
      text += fmt::format(" and {} more", running.size() - 1);
    if (doneWeight > 0)
      text += fmt::format(", about {} left", formatDuration(elapsed / doneWeight * (total - doneWeight)));
    err << (isTerminal ? "\r\033[K" + text : text + "\n");
    err.flush();
  }
  void clear() {
    if (isTerminal)
      err << "\r\033[K";
    err.flush();
  }

private:
  llvm::raw_ostream &err;
  std::vector<double> weights;
  double total = 0, doneWeight = 0;
  size_t done = 0;
  std::vector<std::pair<size_t, std::string>> running;
  bool isTerminal;
  std::chrono::steady_clock::time_point start, told;
};

void printSummary(Context &context, llvm::ArrayRef<ShapeResult> results) {
  size_t passed = 0, failed = 0, errors = 0;
  double sum = 0, worst = 0;
  const ShapeResult *worstShape = nullptr;
  for (const ShapeResult &result : results) {
    passed += result.status == ShapeStatus::Pass;
    failed += result.status == ShapeStatus::Fail;
    errors += result.status == ShapeStatus::Error;
    double score = result.getScore();
    sum += score;
    if (!worstShape || score < worst) {
      worst = score;
      worstShape = &result;
    }
  }
  context.print("{} passed, {} failed, {} without a verdict\n", passed, failed, errors);
  if (worstShape)
    context.print("share of roofline: mean {:.3f}, lowest {:.3f} ({})\n", sum / double(results.size()), worst,
                  worstShape->id < 0 ? std::string("case")
                                     : fmt::format("{} shape {}", worstShape->op, worstShape->id));
}

/// Whether the parameters of a case describe its tensors.
llvm::Error checkCase(const CatalogueOperator &entry, const Case &testCase) {
  const Operator *op = lookupOperator(entry.name);
  return op ? bindCase(*op, entry, testCase).takeError() : llvm::Error::success();
}

using Work = std::vector<std::pair<const CatalogueOperator *, std::vector<int64_t>>>;

llvm::Error refuseResume(const std::string &path, const std::string &why) {
  return makeError(fmt::format("'{}' cannot be resumed: {}; run without --resume to start anew", path, why));
}

/// Reads the results of earlier runs that `record` goes on from. Anything that
/// would make them results of another run is an error.
llvm::Expected<StoredRun> readEarlierRun(const std::string &path, const RunRecord &record, const Work &work) {
  std::string text;
  if (llvm::Error error = readFile(path, text))
    return std::move(error);
  llvm::Expected<StoredRun> stored = readRun(text, path);
  if (!stored)
    return stored.takeError();
  if (llvm::Error error = checkSameRun(*stored, record, path))
    return std::move(error);
  for (const ShapeResult &shape : stored->shapes) {
    std::string where =
        shape.id < 0 ? "a stored case of " + shape.op : fmt::format("shape {} of {}", shape.id, shape.op);
    auto found = llvm::find_if(work, [&](const auto &entry) { return entry.first->name == shape.op; });
    if (found == work.end() || !llvm::is_contained(found->second, shape.id))
      return refuseResume(path, fmt::format("it holds {}, which this command does not run", where));
    const CatalogueShape &expected = *found->first->lookupShape(shape.id);
    if (shape.params.getValues() != expected.params.getValues())
      return refuseResume(path, fmt::format("different parameters of {}: '{}' there, '{}' now", where,
                                            shape.params.str(), expected.params.str()));
  }
  return stored;
}

/// Compiles what the kept shapes need; an error when it is other code.
llvm::Error checkEarlierCode(const std::string &path, const StoredRun &stored, Runner &runner,
                             const Catalogue &catalogue) {
  for (const ShapeResult &shape : stored.shapes) {
    // The compiler may have been what was ended.
    if (!shape.failure.empty() && shape.codeObjectHash.empty())
      continue;
    const CatalogueOperator &op = *llvm::cantFail(catalogue.lookup(shape.op));
    llvm::Expected<const CodeObjectInfo *> info = runner.compileShape(op, *op.lookupShape(shape.id));
    if (!info) {
      std::string now = llvm::toString(info.takeError());
      if (!shape.codeObjectHash.empty() || now != shape.error)
        return refuseResume(path, fmt::format("shape {} of {} does not compile now: {}", shape.id, shape.op, now));
      continue;
    }
    if (llvm::Error error = checkSameCode(stored, shape, **info, path))
      return error;
  }
  return llvm::Error::success();
}

/// One shape of a run.
struct Slot {
  const CatalogueOperator *op = nullptr;
  int64_t id = -1;
  std::optional<ShapeResult> result;
  std::optional<json::Object> codeObject;
  bool isKept = false;
  /// What the compiler depends on besides the command: operator and model dimensions.
  std::string compileKey;
  double weight = 1;
};

/// Fills in what is known before anything runs.
void describeSlot(Slot &slot, const RunOptions &options) {
  slot.compileKey = slot.op->name;
  const Operator *op = lookupOperator(slot.op->name);
  if (!op || slot.id < 0)
    return;
  llvm::Expected<Instance> instance = op->instantiate(slot.op->lookupShape(slot.id)->params);
  if (!instance) {
    llvm::consumeError(instance.takeError());
    return;
  }
  for (const auto &[name, value] : instance->modelDims)
    slot.compileKey += fmt::format(" {}={}", name, value);
  double elements = 0;
  for (const std::vector<TensorSpec> *tensors : {&instance->inputs, &instance->outputs})
    for (const TensorSpec &spec : *tensors)
      elements += double(spec.getElements());
  // Compiling, and a shape of no elements, take about as long as some ten thousand of them.
  slot.weight = 3e4 + (options.whole ? elements : std::min(elements, double(options.budget)));
}

/// Finished shapes and their code objects, in the order of the work, whatever
/// order they came in.
void fillRecord(llvm::ArrayRef<Slot> slots, RunRecord &record) {
  record.shapes.clear();
  record.codeObjects.clear();
  for (const Slot &slot : slots) {
    if (!slot.result)
      continue;
    record.shapes.push_back(*slot.result);
    if (slot.codeObject && !llvm::is_contained(record.codeObjects, *slot.codeObject) &&
        llvm::none_of(record.codeObjects, [&](const json::Object &entry) {
          return llvm::all_of(
              std::initializer_list<llvm::StringRef>{"op", "dims", "code_object_hash"},
              [&](llvm::StringRef key) { return entry.getString(key) == slot.codeObject->getString(key); });
        }))
      record.codeObjects.push_back(*slot.codeObject);
  }
}

/// Writes a file so that it survives a loss of power, too.
llvm::Error writeDurably(const std::string &path, llvm::StringRef text) {
  if (llvm::Error error = writeFile(path, text))
    return error;
  llvm::SmallString<256> directory = llvm::sys::path::parent_path(path);
  for (const std::string &name : {path, directory.empty() ? std::string(".") : directory.str().str()}) {
    int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      continue;
    ::fsync(fd);
    ::close(fd);
  }
  return llvm::Error::success();
}

/// Runs `job` as one isolated job (or here) and returns what it sends; an empty
/// text when the run was interrupted.
llvm::Expected<std::string> askWorker(bool isInProcess, std::function<std::string()> job) {
  std::string answer;
  JobPool pool;
  pool.start = [&]() -> JobFunction { return [&](size_t, JobChannel &channel) { channel.send(job()); }; };
  pool.isStopped = [] { return isInterrupted.load(); };
  pool.onEnd = [&](size_t, JobOutcome outcome) -> llvm::Error {
    if (outcome.end != JobEnd::Done)
      return makeError("a process that prepares the run was " + outcome.reason);
    answer = outcome.messages.front();
    return llvm::Error::success();
  };
  if (llvm::Error error = isInProcess ? runJobsHere({0}, pool) : runJobs({0}, pool))
    return std::move(error);
  return answer;
}

/// Names in lines of readable length.
std::string wrapNames(llvm::ArrayRef<std::string> names) {
  std::string text, line;
  for (const std::string &name : names) {
    if (!line.empty() && line.size() + 1 + name.size() > 100) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "  " : " ") + name;
  }
  return text + line + "\n";
}

void printMissing(Context &context, const Score &score) {
  if (!score.isPartial())
    return;
  context.print("{}{}\n", score.describeMissing(), score.missingOperators.empty() ? "" : ":");
  if (!score.missingOperators.empty())
    context.print("{}", wrapNames(score.missingOperators));
}

/// S_agg over the whole catalogue, whatever was run of it.
void printAggregate(Context &context, const RunRecord &record) {
  ResultSet results;
  results.add(record);
  Score score = computeScore(context.catalogue, results, *record.chip, record.chip->launchFloorSeconds);
  const Score::Row &row = score.rows.front();
  context.print("S_agg over all {} operators and {} shapes: {:.4f} raw, {:.4f} normalised ({}); production {:.4f}, "
                "{:.4f}\n",
                score.operators.size(), score.shapes, row.all.raw, row.all.normalised,
                results.timeKind.empty() ? "no times" : results.timeKind, row.production.raw,
                row.production.normalised);
  printMissing(context, score);
}

/// Seconds by operator, where there are several.
void printCost(Context &context, llvm::ArrayRef<Slot> slots) {
  std::vector<std::pair<const CatalogueOperator *, std::pair<size_t, double>>> rows;
  double total = 0;
  for (const Slot &slot : slots) {
    if (!slot.result)
      continue;
    if (rows.empty() || rows.back().first != slot.op)
      rows.push_back({slot.op, {0, 0}});
    ++rows.back().second.first;
    rows.back().second.second += slot.result->wallSeconds;
    total += slot.result->wallSeconds;
  }
  if (rows.size() < 2)
    return;
  context.err << fmt::format("{:<29} {:>6} {:>13} {:>6}\n", "cost of the run", "shapes", "process time", "share");
  for (const auto &[op, row] : rows)
    context.err << fmt::format("{:<29} {:>6} {:>13} {:>6}\n", op->name, row.first, formatDuration(row.second),
                               formatShare(total > 0 ? row.second / total : 0));
}

/// Whether the file can be replaced as often as one likes: no pipe, no device.
bool isReplaceable(const std::string &path) {
  return path != "-" && (!llvm::sys::fs::exists(path) || llvm::sys::fs::is_regular_file(path));
}

/// Keeps a result file for one run at a time by a lock beside it, which ends with
/// the process however that ends. Where no lock can be had, nothing is claimed.
class FileClaim {
public:
  explicit FileClaim(const std::string &path) : lock(path + ".lock") {
    fd = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    isOthers = fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  }
  ~FileClaim() {
    if (fd < 0)
      return;
    if (!isOthers)
      ::unlink(lock.c_str());
    ::close(fd);
  }
  FileClaim(const FileClaim &) = delete;
  FileClaim &operator=(const FileClaim &) = delete;
  bool isTaken() const { return isOthers; }

private:
  std::string lock;
  int fd = -1;
  bool isOthers = false;
};

int runRun(Context &context, const Arguments &arguments) {
  // Usage.
  if (arguments.has("op") + arguments.has("all") + arguments.has("case") != 1)
    return context.fail(makeError("run: give exactly one of --op OPERATOR, --all and --case DIR"), exitUsage);
  if (arguments.has("shapes") && !arguments.has("op"))
    return context.fail(makeError("run: --shapes needs --op"), exitUsage);
  if (arguments.has("kernel") && arguments.has("all"))
    return context.fail(makeError("run: --kernel needs --op or --case"), exitUsage);
  if (arguments.has("resume") && !arguments.has("json"))
    return context.fail(makeError("run: --resume needs --json FILE, the file to go on with"), exitUsage);
  if (arguments.has("retry") && !arguments.has("resume"))
    return context.fail(makeError("run: --retry needs --resume"), exitUsage);
  bool isInProcess = arguments.has("in-process");
  for (llvm::StringRef limit : {"time-limit", "memory-limit"})
    if (isInProcess && arguments.has(limit))
      return context.fail(
          makeError(fmt::format("run: --in-process has no process to end, so --{} has no effect", limit.str())),
          exitUsage);
  if (arguments.has("resume") && arguments.has("case"))
    return context.fail(makeError("run: --resume needs --op or --all; a stored case is one shape"), exitUsage);
  constexpr llvm::StringLiteral outputs[] = {"json", "html", "svg"};
  for (size_t i = 0; i < std::size(outputs); ++i)
    for (size_t j = 0; j < i; ++j)
      if (arguments.has(outputs[i]) && arguments.has(outputs[j]) &&
          arguments.get(outputs[i]) == arguments.get(outputs[j]))
        return context.fail(makeError(fmt::format("run: --{} and --{} name the same file '{}'", outputs[j].str(),
                                                  outputs[i].str(), arguments.get(outputs[i]))),
                            exitUsage);
  std::string jsonPath = arguments.get("json");
  if (arguments.has("resume") && !isReplaceable(jsonPath))
    return context.fail(makeError(fmt::format("run: --resume cannot read results from '{}'", jsonPath)), exitUsage);
  RunOptions options;
  std::string checkText = arguments.get("check", "both");
  llvm::SmallVector<llvm::StringRef, 4> checkNames;
  llvm::StringRef(checkText).split(checkNames, ',');
  for (llvm::StringRef name : checkNames) {
    llvm::StringRef bad;
    name = name.trim();
    if (name == "upstream")
      options.check = CheckMode::Upstream;
    else if (name == "strict")
      options.check = CheckMode::Strict;
    else if (name == "both")
      options.check = CheckMode::Both;
    else if (name == "fp8")
      options.fp8Inside = true;
    else if (!device::parseCheckNames(name, options.deviceChecks, bad))
      return context.fail(
          makeError(fmt::format("--check '{}' is none of upstream, strict, both, fp8, oob, uninit, race, "
                                "wait, hazard, align, all",
                                name.str())),
          exitUsage);
  }
  if (arguments.has("shuffle")) {
    llvm::Expected<uint64_t> shuffle = arguments.getUnsigned("shuffle", 0, 0);
    if (!shuffle)
      return context.fail(shuffle.takeError(), exitUsage);
    options.shuffle = *shuffle;
  }
  llvm::Expected<std::string> inputs =
      arguments.getChoice("inputs", "both", {"published", "strict", "both", "probes", "all"});
  if (!inputs)
    return context.fail(inputs.takeError(), exitUsage);
  if (*inputs == "published")
    options.inputs = {InputVariant::Published};
  else if (*inputs == "strict")
    options.inputs = {InputVariant::Strict};
  else if (*inputs == "probes")
    options.inputs = getProbes().vec();
  else if (*inputs == "all")
    llvm::append_range(options.inputs, getProbes());
  llvm::Expected<uint64_t> jobs = arguments.getUnsigned("jobs", 0, 1), seed = arguments.getUnsigned("seed", 1, 0),
                           repeat = arguments.getUnsigned("repeat", 1, 1),
                           budget = arguments.getUnsigned("budget", options.budget, 1),
                           timeLimit = arguments.getUnsigned("time-limit", 3600, 0),
                           memoryLimit = arguments.getUnsigned("memory-limit", 0, 0);
  for (llvm::Expected<uint64_t> *number : {&jobs, &seed, &repeat, &budget, &timeLimit, &memoryLimit})
    if (!*number) {
      int code = context.fail(number->takeError(), exitUsage);
      for (llvm::Expected<uint64_t> *other : {&jobs, &seed, &repeat, &budget, &timeLimit, &memoryLimit})
        if (other != number && !*other)
          llvm::consumeError(other->takeError());
      return code;
    }
  if (*seed > uint64_t(std::numeric_limits<int64_t>::max()))
    return context.fail(makeError(fmt::format("--seed '{}' must be below 2^63", *seed)), exitUsage);
  if (*repeat > 1000000 || *seed + *repeat > uint64_t(std::numeric_limits<int64_t>::max()))
    return context.fail(
        makeError(fmt::format("--repeat '{}' must be at most 1000000, and the last seed below 2^63", *repeat)),
        exitUsage);
  if (arguments.has("repeat") && arguments.has("case"))
    return context.fail(makeError("run: --repeat draws inputs anew, but the inputs of --case are stored"), exitUsage);
  if (*jobs > 4096)
    return context.fail(makeError(fmt::format("--jobs '{}' must be at most 4096", *jobs)), exitUsage);
  options.seed = *seed;
  options.repeat = *repeat;
  options.budget = *budget;
  options.whole = arguments.has("whole");
  options.profile = arguments.has("profile");
  if (*memoryLimit > uint64_t(1) << 40)
    return context.fail(makeError(fmt::format("--memory-limit '{}' must be at most 2^40 MiB", *memoryLimit)),
                        exitUsage);

  // Inputs that may be at fault; all of them are looked at before work starts.
  if (llvm::Error error = chooseTarget(arguments, options))
    return context.fail(std::move(error));
  if (arguments.has("kernel")) {
    options.kernelName = arguments.get("kernel");
    if (llvm::Error error = readFile(options.kernelName, options.kernelText))
      return context.fail(std::move(error));
    if (options.kernelText.empty())
      return context.fail(makeError(fmt::format("kernel file '{}' is empty", options.kernelName)));
  }
  if (arguments.has("schedule")) {
    options.scheduleName = arguments.get("schedule");
    if (llvm::Error error = readFile(options.scheduleName, options.scheduleText))
      return context.fail(std::move(error));
  }
  if (arguments.has("knob")) {
    std::string settings = arguments.get("knob");
    for (llvm::StringRef setting : llvm::split(settings, ',')) {
      auto [name, value] = setting.split('=');
      if (name.empty() || value.empty() || !options.knobs.emplace(name.str(), value.str()).second)
        return context.fail(
            makeError(fmt::format("--knob '{}': '{}' must be NAME=VALUE, each name once", settings, setting.str())),
            exitUsage);
    }
  }
  for (llvm::StringRef output : outputs)
    if (arguments.has(output))
      if (llvm::Error error = checkWritable(arguments.get(output)))
        return context.fail(std::move(error));

  std::optional<Case> testCase;
  Work work;
  if (arguments.has("case")) {
    llvm::Expected<Case> loaded = loadCase(arguments.get("case"));
    if (!loaded)
      return context.fail(loaded.takeError());
    testCase = std::move(*loaded);
    llvm::Expected<const CatalogueOperator *> op = context.catalogue.lookup(testCase->op);
    if (!op)
      return context.fail(op.takeError());
    if (llvm::Error error = checkCase(**op, *testCase))
      return context.fail(std::move(error));
    work.push_back({*op, {-1}});
  } else if (arguments.has("op")) {
    llvm::Expected<const CatalogueOperator *> op = context.catalogue.lookup(arguments.get("op"));
    if (!op)
      return context.fail(op.takeError());
    llvm::Expected<std::vector<int64_t>> ids = parseShapeList(arguments.get("shapes"), **op);
    if (!ids)
      return context.fail(ids.takeError());
    work.push_back({*op, std::move(*ids)});
  } else {
    for (const CatalogueOperator &op : context.catalogue.getOperators())
      if (hasKernel(op.name))
        work.push_back({&op, llvm::cantFail(parseShapeList("", op))});
  }
  if (!arguments.has("kernel"))
    for (const auto &[op, ids] : work)
      if (!hasKernel(op->name))
        return context.fail(makeError(fmt::format("there is no kernel for {}: bench/kernels/{}.atx does not exist; "
                                                  "name one with --kernel",
                                                  op->name, op->name)));

  // Two runs would replace each other's results.
  std::optional<FileClaim> claim;
  if (arguments.has("json") && isReplaceable(jsonPath)) {
    claim.emplace(jsonPath);
    if (claim->isTaken())
      return context.fail(
          makeError(fmt::format("another run writes '{}'; wait for it or name another file", jsonPath)));
  }

  isInterrupted.store(false);
  auto previousHandler = std::signal(SIGINT, handleInterrupt);
  llvm::scope_exit restoreHandler([&] { std::signal(SIGINT, previousHandler == SIG_ERR ? SIG_DFL : previousHandler); });

  // Devices and compilers start threads, which a fork loses: this process opens
  // and compiles nothing itself.
  std::string deviceName = arguments.get("device", "sim");
  unsigned numThreads = *jobs ? unsigned(*jobs) : std::max(1u, std::thread::hardware_concurrency());
  Runner runner(context.hooks, options);
  bool isOpen = false;
  auto openHere = [&]() -> std::string {
    if (isOpen)
      return "";
    if (llvm::Error error = runner.open(deviceName, numThreads))
      return llvm::toString(std::move(error));
    isOpen = true;
    return "";
  };
  llvm::Expected<std::string> answer = askWorker(isInProcess, [&]() -> std::string {
    std::string error = openHere();
    if (!error.empty())
      return "E" + error;
    return (runner.getDevice().isSimulated() ? "S" : "M") + runner.getDevice().getName().str();
  });
  if (!answer)
    return context.fail(answer.takeError());
  if (answer->empty())
    return context.fail(makeError("interrupted before the first shape"));
  if (answer->front() == 'E')
    return context.fail(makeError(answer->substr(1)));
  bool isSimulated = answer->front() == 'S';

  RunRecord record;
  record.compilerVersion = context.hooks.compilerVersion;
  record.deviceName = answer->substr(1);
  record.isSimulated = isSimulated;
  record.chip = options.chip;
  record.arch = options.arch;
  record.check = options.check;
  record.grade = options.fp8Inside ? "fp8" : "strict";
  if (testCase)
    record.inputs = {"stored"};
  else
    for (InputVariant variant : options.inputs)
      record.inputs.push_back(getName(variant).str());
  record.seed = options.seed;
  record.repeat = options.repeat;
  record.whole = options.whole;
  record.budget = options.budget;
  record.schedule = options.scheduleName.empty() ? "<default>" : options.scheduleName;

  std::vector<Slot> slots;
  for (const auto &[op, ids] : work)
    for (int64_t id : ids) {
      Slot &slot = slots.emplace_back();
      slot.op = op;
      slot.id = id;
      describeSlot(slot, options);
    }
  size_t total = slots.size(), kept = 0;
  // Without a file there is nothing to keep yet.
  if (arguments.has("resume") && llvm::sys::fs::exists(jsonPath)) {
    llvm::Expected<StoredRun> stored = readEarlierRun(jsonPath, record, work);
    if (!stored)
      return context.fail(stored.takeError());
    if (arguments.has("retry"))
      llvm::erase_if(stored->shapes, [](const ShapeResult &shape) { return shape.status == ShapeStatus::Error; });
    if (!stored->shapes.empty()) {
      llvm::Expected<std::string> fault = askWorker(isInProcess, [&]() -> std::string {
        std::string error = openHere();
        if (!error.empty())
          return "E" + error;
        if (llvm::Error code = checkEarlierCode(jsonPath, *stored, runner, context.catalogue))
          return "E" + llvm::toString(std::move(code));
        return "same";
      });
      if (!fault)
        return context.fail(fault.takeError());
      if (fault->empty())
        return context.fail(makeError("interrupted before the first shape"));
      if (fault->front() == 'E')
        return context.fail(makeError(fault->substr(1)));
    }
    for (Slot &slot : slots)
      for (ShapeResult &shape : stored->shapes)
        if (shape.id == slot.id && shape.op == slot.op->name && !slot.isKept) {
          for (const json::Object &entry : stored->codeObjects)
            if (entry.getString("code_object_hash") == llvm::StringRef(shape.codeObjectHash) &&
                entry.getString("op") == llvm::StringRef(shape.op) && !slot.codeObject)
              slot.codeObject = entry;
          slot.result = std::move(shape);
          slot.isKept = true;
          ++kept;
        }
  }

  context.print("{} on {}{}, executed by {}; {}\n", options.arch, options.chip->name.str(),
                options.chip->alias.empty() ? std::string() : fmt::format(" ({})", options.chip->alias.str()),
                isSimulated ? "the embedded device" : record.deviceName,
                options.repeat > 1 ? fmt::format("seeds {} to {}", options.seed, options.seed + options.repeat - 1)
                                   : fmt::format("seed {}", options.seed));
  if (isSimulated)
    context.print("times are predictions (roofline-grade), production times are measurements\n");
  if (arguments.has("all"))
    context.print("{} of {} operators have a kernel and are run; the others count 0 in S_agg\n", work.size(),
                  context.catalogue.getOperators().size());
  if (kept)
    context.print("{} of {} shapes are kept from '{}'\n", kept, total, jsonPath);

  std::vector<size_t> pending;
  std::vector<double> weights;
  for (auto [i, slot] : llvm::enumerate(slots)) {
    weights.push_back(slot.isKept ? 0 : slot.weight);
    if (!slot.isKept)
      pending.push_back(i);
  }
  Progress progress(context.err, std::move(weights));

  // Rows are shown in the order of the work; `next` is the first that is not.
  size_t next = 0, shownOfOp = 0;
  const CatalogueOperator *shownOp = nullptr;
  auto endOperator = [&] {
    if (!shownOp)
      return;
    std::vector<ShapeResult> results;
    double seconds = 0;
    for (const Slot &slot : slots)
      if (slot.op == shownOp && slot.result) {
        results.push_back(*slot.result);
        seconds += slot.result->wallSeconds;
      }
    printAllFaults(context, results);
    printSummary(context, results);
    // Times of the host differ from run to run; the results do not.
    if (work.size() > 1)
      context.err << fmt::format("{}: {} shapes took {}\n", shownOp->name, results.size(), formatDuration(seconds));
    shownOp = nullptr;
  };
  auto showRow = [&](const Slot &slot) {
    if (slot.op != shownOp) {
      endOperator();
      context.print("\n{}\n", slot.op->name);
      printRunHead(context, isSimulated);
      shownOp = slot.op;
      shownOfOp = 0;
    }
    printRunRow(context, *slot.result);
    if (++shownOfOp == size_t(llvm::count_if(slots, [&](const Slot &other) { return other.op == slot.op; })))
      endOperator();
  };
  auto showRows = [&](bool skipsGaps) {
    for (; next < total && (slots[next].result || skipsGaps); ++next)
      if (slots[next].result)
        showRow(slots[next]);
    context.out.flush();
  };
  showRows(false);

  std::map<std::string, JobOutcome> brokenCompiles;
  auto fail = [&](const Slot &slot, const std::string &error, const std::string &failure) {
    if (slot.id >= 0)
      return runner.failShape(*slot.op, *slot.op->lookupShape(slot.id), error, failure);
    ShapeResult result;
    result.op = slot.op->name;
    result.error = error;
    result.failure = failure;
    return result;
  };
  auto failOutcome = [&](const Slot &slot, const JobOutcome &outcome) {
    return fail(slot, fmt::format("{}: {}", outcome.stage.empty() ? "starting" : outcome.stage, outcome.reason),
                outcome.end == JobEnd::Crashed    ? "crash"
                : outcome.end == JobEnd::TimedOut ? "timeout"
                                                  : "memory");
  };
  // The file is as good as the run has got: what is lost at worst are the
  // shapes at hand. It says that it is unfinished until the end.
  auto store = [&](bool isUnfinished) -> llvm::Error {
    fillRecord(slots, record);
    record.isInterrupted = isUnfinished;
    return writeDurably(jsonPath, llvm::formatv("{0:2}\n", toJSON(record)).str());
  };
  auto take = [&](size_t job) -> llvm::Error {
    showRows(false);
    return arguments.has("json") && isReplaceable(jsonPath) ? store(true) : llvm::Error::success();
  };

  constexpr llvm::StringLiteral compiling = "compiling", executing = "executing and checking";
  JobPool pool;
  // A GPU measures one kernel at a time.
  pool.workers = isSimulated ? unsigned(std::min<size_t>(numThreads, std::max<size_t>(1, pending.size()))) : 1;
  pool.limits.seconds = double(*timeLimit);
  pool.limits.bytes = arguments.has("memory-limit") ? *memoryLimit << 20 : getPhysicalMemory() / 4 * 3 / pool.workers;
  unsigned threadsEach = std::max(1u, numThreads / pool.workers);
  pool.start = [&]() -> JobFunction {
    Runner *mine = &runner;
    std::shared_ptr<Runner> own;
    std::string openError;
    // Workers share the cores; references know nothing of each other.
    setReferenceThreads(isInProcess ? numThreads : threadsEach);
    if (isInProcess) {
      openError = openHere();
    } else {
      own = std::make_shared<Runner>(context.hooks, options);
      mine = own.get();
      if (llvm::Error error = own->open(deviceName, threadsEach))
        openError = llvm::toString(std::move(error));
    }
    return [&, mine, own, openError](size_t job, JobChannel &channel) {
      const Slot &slot = slots[job];
      auto begin = std::chrono::steady_clock::now();
      ShapeResult result;
      if (!openError.empty()) {
        result = fail(slot, openError, "");
      } else {
        channel.enter(compiling);
        const CatalogueShape *shape = slot.id < 0 ? nullptr : slot.op->lookupShape(slot.id);
        if (shape) {
          // Compiling again comes from the runner's cache, errors included.
          if (llvm::Expected<const CodeObjectInfo *> info = mine->compileShape(*slot.op, *shape))
            channel.send(llvm::formatv("{0}", json::Value(toJSON(**info))).str());
          else
            llvm::consumeError(info.takeError());
        }
        channel.enter(executing);
        result = shape ? mine->runShape(*slot.op, *shape) : mine->runCase(*slot.op, *testCase);
        if (!shape && !mine->getCodeObjects().empty())
          channel.send(llvm::formatv("{0}", json::Value(toJSON(*mine->getCodeObjects().back()))).str());
      }
      result.wallSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      channel.send(llvm::formatv("{0}", json::Value(toJSON(result))).str());
    };
  };
  // A kernel is compiled by one process where there is other work for the rest.
  std::map<std::string, size_t> groupOfKey;
  for (const Slot &slot : slots)
    groupOfKey.try_emplace(slot.compileKey, groupOfKey.size());
  pool.group = [&](size_t job) { return groupOfKey.at(slots[job].compileKey); };
  pool.skip = [&](size_t job) {
    auto broken = brokenCompiles.find(slots[job].compileKey);
    if (broken == brokenCompiles.end())
      return false;
    // The same compilation would end the same way, after the same time.
    slots[job].result = failOutcome(slots[job], broken->second);
    progress.remove(job);
    showRows(false);
    return true;
  };
  pool.onStart = [&](size_t job) {
    const Slot &slot = slots[job];
    progress.add(job,
                 slot.id < 0 ? slot.op->name + " stored case" : fmt::format("{} shape {}", slot.op->name, slot.id));
    progress.show();
  };
  pool.onTick = [&] { progress.show(); };
  pool.isStopped = [] { return isInterrupted.load(); };
  pool.onEnd = [&](size_t job, JobOutcome outcome) -> llvm::Error {
    Slot &slot = slots[job];
    progress.remove(job);
    progress.clear();
    auto parse = [&](const std::string &text) -> llvm::Expected<json::Value> { return json::parse(text); };
    size_t numObjects = outcome.messages.size() - (outcome.end == JobEnd::Done ? 1 : 0);
    for (size_t i = 0; i < numObjects; ++i) {
      llvm::Expected<json::Value> object = parse(outcome.messages[i]);
      if (!object)
        return object.takeError();
      if (json::Object *entry = object->getAsObject())
        slot.codeObject = std::move(*entry);
    }
    if (outcome.end == JobEnd::Done) {
      llvm::Expected<json::Value> tree = parse(outcome.messages.back());
      if (!tree)
        return tree.takeError();
      llvm::Expected<ShapeResult> result = readShapeResult(*tree, slot.op->name, "a worker's result");
      slot.result = result ? std::move(*result) : fail(slot, llvm::toString(result.takeError()), "");
    } else {
      if (outcome.stage == compiling)
        brokenCompiles[slot.compileKey] = outcome;
      slot.result = failOutcome(slot, outcome);
      slot.result->wallSeconds = outcome.seconds;
      if (slot.codeObject)
        slot.result->codeObjectHash = slot.codeObject->getString("code_object_hash").value_or("").str();
    }
    return take(job);
  };
  if (llvm::Error error = isInProcess ? runJobsHere(pending, pool) : runJobs(pending, pool))
    return context.fail(std::move(error));
  progress.clear();
  showRows(true);
  endOperator();

  fillRecord(slots, record);
  size_t finished = record.shapes.size();
  record.isInterrupted = finished < total;
  if (work.size() > 1) {
    context.print("\nall operators\n");
    printSummary(context, record.shapes);
    if (arguments.has("all"))
      printAggregate(context, record);
    printCost(context, slots);
  }
  if (record.isInterrupted)
    context.err << fmt::format("interrupted after {} of {} shapes\n", finished, total);
  if (arguments.has("json"))
    if (llvm::Error error = store(record.isInterrupted))
      return context.fail(std::move(error));
  if (arguments.has("html"))
    if (llvm::Error error = writeFile(arguments.get("html"), writePage(record)))
      return context.fail(std::move(error));
  if (arguments.has("svg"))
    if (llvm::Error error = writeFile(arguments.get("svg"), drawChart(record)))
      return context.fail(std::move(error));
  bool allPass = llvm::all_of(record.shapes, [](const ShapeResult &r) { return r.status == ShapeStatus::Pass; });
  return allPass && !record.isInterrupted ? exitOk : exitFault;
}

//===----------------------------------------------------------------------===//
// score
//===----------------------------------------------------------------------===//

constexpr OptionSpec scoreOptions[] = {
    {"chip", "CHIP", "chip of the rooflines (default: the one in the files)"},
    {"floor-us", "US", "time of an empty launch for the ceiling (default: of the chip table)"},
    {"shapes", "", "show every shape: against roofline, minimal traffic, ceiling and production"},
    {"json", "FILE", "write the scores as JSON"},
};
constexpr CommandSpec scoreCommand = {
    "score", "Scores result files: S per operator, aggregates, production and ceiling.", "FILES...", scoreOptions};

/// One row per shape of the result files. S stands beside the score against
/// minimal traffic, so that an S above 1 is explained.
void printScoredShapes(Context &context, const ResultSet &results, const ChipInfo &chip, double floorUs) {
  std::string kind = results.timeKind.empty() ? "no time" : results.timeKind;
  context.print("\n{:<29} {:>3} {:>11} {:>9} {:>7} {:>7} {:>7} {:>11} {:>10}\n", "", "", kind, "roofline", "", "S of",
                "", "production", "S of");
  context.print("{:<29} {:>3} {:>11} {:>9} {:>7} {:>7} {:>7} {:>11} {:>10}\n", "operator", "id", "us", "us", "S",
                "minimal", "ceiling", "measured us", "production");
  std::vector<std::string> reasons;
  for (const CatalogueOperator &op : context.catalogue.getOperators()) {
    auto found = results.shapes.find(op.name);
    if (found == results.shapes.end())
      continue;
    for (const CatalogueShape &shape : op.shapes) {
      auto entry = found->second.find(shape.id);
      llvm::Expected<WorkPair> work = computeWork(op.name, shape.params, shape.realised);
      if (!work) {
        llvm::consumeError(work.takeError());
        continue;
      }
      ShapeResult row;
      row.solUs = computeSolMs(work->charged, op.dtype, chip) * 1000;
      if (work->minimal)
        row.minimalUs = computeSolMs(*work->minimal, op.dtype, chip) * 1000;
      bool isPresent = entry != found->second.end();
      if (isPresent && entry->second.passes && entry->second.timeUs > 0) {
        row.status = ShapeStatus::Pass;
        row.strict = true;
        row.hasTime = true;
        row.time.seconds = entry->second.timeUs * 1e-6;
      }
      auto production = shape.productionUs.find(chip.alias.str());
      bool hasProduction = production != shape.productionUs.end();
      double score = row.getScore();
      std::string time = row.hasTime ? formatUs(row.getTimeUs()) : isPresent ? "no pass" : "missing";
      context.print("{:<29} {:>3} {:>11} {:>9} {:>7.4f} {:>7} {:>7.4f} {:>11} {:>10}\n", op.name, shape.id, time,
                    formatUs(row.solUs), score,
                    !row.hasTime ? "-"
                    : work->minimalIsNothing
                        ? "0"
                        : fmt::format("{:.4f}", row.minimalUs.value_or(row.solUs) / row.getTimeUs()),
                    row.solUs > 0 ? row.solUs / std::max(row.solUs, floorUs) : 0,
                    hasProduction ? formatUs(production->second) : "-",
                    hasProduction ? fmt::format("{:.4f}", row.solUs / production->second) : "-");
      if (std::string why = explainScore(row); !why.empty())
        reasons.push_back(fmt::format("{} shape {}: {}", op.name, shape.id, why));
    }
  }
  for (const std::string &reason : reasons)
    context.print("{}\n", reason);
}

int runScore(Context &context, const Arguments &arguments) {
  if (arguments.getPositional().empty())
    return context.fail(makeError("score: name at least one result file"), exitUsage);
  double floorUs = -1;
  if (arguments.has("floor-us") && (!llvm::to_float(arguments.get("floor-us"), floorUs) || !(floorUs >= 0)))
    return context.fail(
        makeError(fmt::format("--floor-us '{}' must be a non-negative number", arguments.get("floor-us"))), exitUsage);
  if (arguments.has("json"))
    if (llvm::Error error = checkWritable(arguments.get("json")))
      return context.fail(std::move(error));
  ResultSet results;
  for (const std::string &path : arguments.getPositional()) {
    std::string text;
    if (llvm::Error error = readFile(path, text))
      return context.fail(std::move(error));
    if (llvm::Error error = results.add(text, path))
      return context.fail(std::move(error));
  }
  for (const auto &[name, shapes] : results.shapes) {
    llvm::Expected<const CatalogueOperator *> op = context.catalogue.lookup(name);
    if (!op)
      return context.fail(op.takeError());
    for (const auto &[id, shape] : shapes)
      if (!(*op)->lookupShape(id))
        return context.fail(
            makeError(fmt::format("a result names shape {} of {}, which the catalogue does not have", id, name)));
  }
  std::string message;
  const ChipInfo *chip = findChip(arguments.get("chip", results.chip), message);
  if (!chip)
    return context.fail(makeError(message));
  if (floorUs < 0)
    floorUs = chip->launchFloorSeconds * 1e6;
  Score score = computeScore(context.catalogue, results, *chip, floorUs * 1e-6);

  std::string kind = results.timeKind.empty() ? "no" : results.timeKind;
  context.print("rooflines of {}; S from {} times; production is measured\nfailed and missing shapes count 0\n\n",
                chip->name.str(), kind);
  context.print("{:<29} {:>9} {:>8} {:>9} {:>9} {:>10} {:>8}\n", "operator", "weight", "passing", "S", "S passing",
                "production", "ceiling");
  double total = context.catalogue.getTotalImportance();
  for (const OperatorScore &op : score.operators) {
    // Operators without results would only repeat zeros.
    if (op.present == 0)
      continue;
    context.print("{:<29} {:>9.4f} {:>8} {:>9.4f} {:>9.4f} {:>10.4f} {:>8.4f}\n", op.name, op.importance / total,
                  fmt::format("{}/{}", op.passing, op.shapes), op.mean, op.passingMean, op.production, op.ceiling);
  }
  printMissing(context, score);
  context.print(
      "\n{:<36} {:>9} {:>9} {:>10} {:>8}\n",
      fmt::format("{}S_agg over all {} operators", score.isPartial() ? "partial " : "", score.operators.size()), "S",
      "S passing", "production", "ceiling");
  for (const Score::Row &row : score.rows) {
    context.print("{:<8} {:<27} {:>9.4f} {:>9.4f} {:>10.4f} {:>8.4f}\n", row.label, "raw", row.all.raw, row.passing.raw,
                  row.production.raw, row.ceiling.raw);
    context.print("{:<8} {:<27} {:>9.4f} {:>9.4f} {:>10.4f} {:>8.4f}\n", "", "normalised", row.all.normalised,
                  row.passing.normalised, row.production.normalised, row.ceiling.normalised);
  }
  context.print("ceiling: no launch is faster than {} us\n", formatUs(floorUs));
  if (arguments.has("shapes"))
    printScoredShapes(context, results, *chip, floorUs);
  if (!arguments.has("json"))
    return exitOk;
  json::Value tree = score.toJSON();
  json::Object &object = *tree.getAsObject();
  object["schema"] = "atrex-mlir/bench-score/1";
  object["chip"] = chip->name.str();
  object["time_kind"] = kind;
  object["floor_us"] = floorUs;
  if (llvm::Error error = writeFile(arguments.get("json"), llvm::formatv("{0:2}\n", tree).str()))
    return context.fail(std::move(error));
  return exitOk;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

std::vector<Command> getCommands() {
  std::vector<Command> commands = {
      {&listCommand, runList},
      {&rooflineCommand, runRoofline},
      {&runCommand, runRun},
      {&scoreCommand, runScore},
      {&getReferenceCommand(),
       [](Context &c, const Arguments &arguments) { return runReference(c.catalogue, arguments, c.out, c.err); }},
      {&getJudgeCommand(),
       [](Context &c, const Arguments &arguments) { return runJudge(c.catalogue, arguments, c.out, c.err); }},
      {&getDrawCommand(),
       [](Context &c, const Arguments &arguments) { return runDraw(c.catalogue, arguments, c.out, c.err); }}};
  commands.insert(commands.begin() + 3, {&getRaceCommand(), runRace});
  llvm::append_range(commands, getReportCommands());
  return commands;
}

void printOverview(llvm::raw_ostream &out) {
  out << "usage: atrex-bench-mlir COMMAND [options]\n\n"
         "Runs, checks and scores kernels for the operators of Atrex-Bench.\n\n";
  for (const Command &command : getCommands())
    out << fmt::format("  {:<10} {}\n", command.spec->name.str(), command.spec->summary.str());
  out << "\n`atrex-bench-mlir COMMAND --help` shows the options of a command.\n"
         "Exit codes: 0 success, 1 the input or the result is at fault, 2 usage.\n";
}
} // namespace

const ChipInfo *bench::findChip(llvm::StringRef name, std::string &message) {
  if (const ChipInfo *chip = lookupChip(name))
    return chip;
  std::vector<std::string> names;
  for (const ChipInfo &chip : getChips()) {
    names.push_back(chip.name.str());
    if (!chip.alias.empty())
      names.push_back(chip.alias.str());
  }
  message = fmt::format("unknown chip '{}'; the chip table has: {}", name.str(), fmt::join(names, ", "));
  return nullptr;
}

llvm::Error bench::chooseTarget(const Arguments &arguments, RunOptions &options) {
  options.arch = arguments.get("arch", "gfx942");
  const ChipInfo *archChip = getDefaultChip(options.arch);
  if (!archChip) {
    std::vector<std::string> archs;
    for (const ChipInfo &chip : getChips())
      if (chip.isAMDGPU() && !llvm::is_contained(archs, chip.arch.str()))
        archs.push_back(chip.arch.str());
    return makeError(
        fmt::format("unknown architecture '{}'; code can be generated for: {}", options.arch, fmt::join(archs, ", ")));
  }
  options.chip = archChip;
  if (!arguments.has("chip"))
    return llvm::Error::success();
  std::string message;
  options.chip = findChip(arguments.get("chip"), message);
  if (!options.chip)
    return makeError(message);
  if (options.chip->arch == options.arch)
    return llvm::Error::success();
  if (arguments.has("arch") || !options.chip->isAMDGPU())
    return makeError(fmt::format("chip {} {}, so code for {} cannot run on it", options.chip->name.str(),
                                 options.chip->isAMDGPU() ? "is of architecture " + options.chip->arch.str()
                                                          : std::string("is only rated, not compiled for"),
                                 options.arch));
  options.arch = options.chip->arch.str();
  return llvm::Error::success();
}

llvm::Error bench::readFile(const std::string &path, std::string &text) {
  auto buffer = readInput(path, uint64_t(1) << 30);
  if (!buffer)
    return buffer.takeError();
  text = (*buffer)->getBuffer().str();
  return llvm::Error::success();
}

int bench::runMain(llvm::ArrayRef<const char *> arguments, const Hooks &hooks, llvm::raw_ostream &out,
                   llvm::raw_ostream &err) {
  if (arguments.empty()) {
    printOverview(err);
    return exitUsage;
  }
  llvm::StringRef name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    printOverview(out);
    return exitOk;
  }
  if (name == "--version") {
    out << "atrex-bench-mlir " << hooks.compilerVersion << "\n";
    return exitOk;
  }
  std::vector<std::string> names;
  for (const Command &command : getCommands()) {
    names.push_back(command.spec->name.str());
    if (command.spec->name != name)
      continue;
    arguments = arguments.drop_front();
    for (const char *argument : arguments)
      if (llvm::StringRef(argument) == "--help" || llvm::StringRef(argument) == "-h") {
        printHelp(*command.spec, out);
        return exitOk;
      }
    llvm::Expected<Arguments> parsed = Arguments::parse(*command.spec, arguments);
    llvm::Expected<Catalogue> catalogue = Catalogue::load();
    if (!catalogue) {
      if (!parsed)
        llvm::consumeError(parsed.takeError());
      err << "error: " << llvm::toString(catalogue.takeError()) << "\n";
      return exitFault;
    }
    Context context{hooks, out, err, std::move(*catalogue)};
    if (!parsed)
      return context.fail(parsed.takeError(), exitUsage);
    return command.run(context, *parsed);
  }
  std::string nearest = findNearest(name, names);
  err << "error: unknown command '" << name << "'"
      << (nearest.empty() ? std::string("; see atrex-bench-mlir --help") : "; did you mean '" + nearest + "'?") << "\n";
  return exitUsage;
}
