//===- RaceCommand.cpp - Several kernels against each other ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandContext.h"
#include "Workers.h"
#include "atrex/Bench/Page.h"
#include "atrex/Bench/Result.h"
#include "atrex/Bench/Timing.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

namespace {

constexpr OptionSpec raceOptions[] = {
    {"op", "OPERATOR", "operator that the kernels compute"},
    {"shapes", "LIST", "ids such as 0,3-5; all without it"},
    {"arch", "ARCH", "architecture to compile for (default gfx942)"},
    {"chip", "CHIP", "chip that times are for (default: of the architecture)"},
    {"device", "sim|hip:N", "where to execute (default sim: times are predictions and exact)"},
    {"clock", "SPEC",
     "with sim: draw times of a synthetic clock around the predictions, to try the protocol; noise=PERCENT, "
     "outliers=PERCENT, drift=PERCENT, step=US, separated by commas"},
    {"rounds", "N", "rounds in which all candidates are timed (default 61)"},
    {"seed", "N", "seed of inputs and of the order inside the rounds (default 1)"},
    {"budget", "ELEMENTS", "tensor elements up to which a shape runs whole on the embedded device (default 4194304)"},
    {"whole", "", "execute every workgroup, however large the shape"},
    {"json", "FILE", "write the ranking as JSON"},
    {"time-limit", "SECONDS", "end a candidate that takes longer for a shape (default 3600; 0: never)"},
    {"memory-limit", "MIB", "end a candidate that needs more (default: three quarters of the machine; 0: no limit)"},
    {"in-process", "", "for debuggers: everything in this process, without limits"},
};
constexpr CommandSpec raceCommand = {
    "race",
    "Times kernels of one operator in turns and ranks them, with confidence.\n\n"
    "A candidate is KERNEL.atx, KERNEL.atx@SCHEDULE or @SCHEDULE; 'default' is the kernel of bench/kernels. Ratios\n"
    "are against the first one. Only candidates whose results pass the strict verdict are timed.",
    "CANDIDATE CANDIDATE...", raceOptions};

/// One entry of the race.
struct Candidate {
  std::string name;
  RunOptions options;
  /// "A", "B", ...: short enough for a table.
  std::string label;
};

/// What one candidate did on one shape.
struct Entry {
  ShapeResult result;
  bool passes() const { return result.status == ShapeStatus::Pass && result.hasTime; }
};

/// The race of one shape: `ranking` is over the candidates in `racers`.
struct ShapeRace {
  std::vector<Entry> entries;
  std::vector<unsigned> racers;
  std::optional<Ranking> ranking;
  std::string error;
};

llvm::Expected<Candidate> readCandidate(const std::string &text, const RunOptions &common) {
  Candidate candidate;
  candidate.name = text;
  candidate.options = common;
  std::string kernel = text, schedule;
  // A file of exactly this name is a kernel, whatever characters it has.
  if (size_t at = text.rfind('@'); at != std::string::npos && !llvm::sys::fs::exists(text)) {
    kernel = text.substr(0, at);
    schedule = text.substr(at + 1);
    if (schedule.empty())
      return makeError(fmt::format("candidate '{}': a schedule must stand behind the '@'", text));
  }
  if (!kernel.empty() && kernel != "default") {
    candidate.options.kernelName = kernel;
    if (llvm::Error error = readFile(kernel, candidate.options.kernelText))
      return std::move(error);
    if (candidate.options.kernelText.empty())
      return makeError(fmt::format("kernel file '{}' is empty", kernel));
  }
  if (!schedule.empty()) {
    candidate.options.scheduleName = schedule;
    if (llvm::Error error = readFile(schedule, candidate.options.scheduleText))
      return std::move(error);
  }
  return candidate;
}

llvm::Expected<SyntheticNoise> readClock(llvm::StringRef text) {
  SyntheticNoise clock;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    auto [name, value] = part.split('=');
    name = name.trim();
    double number;
    if (name != "noise" && name != "outliers" && name != "drift" && name != "step")
      return makeError(
          fmt::format("--clock '{}': '{}' is none of noise, outliers, drift, step", text.str(), name.str()));
    double limit = name == "noise" ? 50 : name == "outliers" ? 100 : 1e6;
    if (!llvm::to_float(value.trim(), number) || !(number >= 0) || number > limit)
      return makeError(fmt::format("--clock '{}': {} '{}' must be a number from 0 to {:g}", text.str(), name.str(),
                                   value.str(), limit));
    if (name == "noise")
      clock.noise = number / 100;
    else if (name == "outliers")
      clock.outliers = number / 100;
    else if (name == "drift")
      clock.drift = number / 100;
    else
      clock.step = number * 1e-6;
  }
  if (!clock.isAny())
    return makeError(fmt::format("--clock '{}' disturbs nothing; predictions are exact without it", text.str()));
  return clock;
}

json::Array numbersToJSON(llvm::ArrayRef<double> values) {
  json::Array array;
  for (double value : values)
    array.push_back(value);
  return array;
}

/// A ranking and how it travels from the process that measured it.
json::Object rankingToJSON(const Ranking &ranking) {
  json::Array order, ratios;
  for (unsigned candidate : ranking.order)
    order.push_back(int64_t(candidate));
  json::Array tied;
  for (bool isTied : ranking.isTied)
    tied.push_back(isTied);
  for (const PairedComparison &pair : ranking.againstFirst)
    ratios.push_back(json::Array{pair.ratio, pair.low, pair.high, int64_t(pair.rounds)});
  return json::Object{{"order", std::move(order)},
                      {"tied", std::move(tied)},
                      {"relative", numbersToJSON(ranking.relative)},
                      {"low", numbersToJSON(ranking.low)},
                      {"high", numbersToJSON(ranking.high)},
                      {"median", numbersToJSON(ranking.median)},
                      {"ratios", std::move(ratios)},
                      {"stability", ranking.stability},
                      {"largest_move", int64_t(ranking.largestMove)}};
}

/// The inverse, for texts of rankingToJSON() alone.
llvm::Expected<Ranking> readRanking(const json::Object &object) {
  Ranking ranking;
  auto getArray = [&](llvm::StringRef name) {
    const json::Array *array = object.getArray(name);
    return array ? llvm::ArrayRef<json::Value>(array->data(), array->size()) : llvm::ArrayRef<json::Value>();
  };
  auto getNumbers = [&](llvm::StringRef name, std::vector<double> &out) {
    for (const json::Value &value : getArray(name))
      out.push_back(value.getAsNumber().value_or(0));
  };
  getNumbers("relative", ranking.relative);
  getNumbers("low", ranking.low);
  getNumbers("high", ranking.high);
  getNumbers("median", ranking.median);
  for (const json::Value &value : getArray("order"))
    ranking.order.push_back(unsigned(value.getAsInteger().value_or(0)));
  for (const json::Value &value : getArray("tied"))
    ranking.isTied.push_back(value.getAsBoolean().value_or(false));
  for (const json::Value &value : getArray("ratios")) {
    const json::Array *parts = value.getAsArray();
    if (!parts || parts->size() != 4)
      return makeError("a worker sent a ranking without its ratios");
    PairedComparison pair;
    pair.ratio = (*parts)[0].getAsNumber().value_or(1);
    pair.low = (*parts)[1].getAsNumber().value_or(1);
    pair.high = (*parts)[2].getAsNumber().value_or(1);
    pair.rounds = size_t((*parts)[3].getAsInteger().value_or(0));
    if (pair.high < 1)
      pair.faster = Preference::Second;
    else if (pair.low > 1)
      pair.faster = Preference::First;
    ranking.againstFirst.push_back(pair);
  }
  ranking.stability = object.getNumber("stability").value_or(0);
  ranking.largestMove = size_t(object.getInteger("largest_move").value_or(0));
  return ranking;
}

/// Times without noise: only equal ones are tied.
Ranking rankExactly(llvm::ArrayRef<double> seconds) {
  Ranking ranking;
  double middle = getMedian(seconds.vec());
  for (unsigned i = 0; i < seconds.size(); ++i) {
    ranking.order.push_back(i);
    ranking.median.push_back(seconds[i]);
    ranking.relative.push_back(seconds[i] / middle);
    PairedComparison pair;
    pair.ratio = pair.low = pair.high = seconds[i] / seconds[0];
    pair.faster = pair.ratio < 1 ? Preference::Second : pair.ratio > 1 ? Preference::First : Preference::Undecided;
    ranking.againstFirst.push_back(pair);
  }
  ranking.low = ranking.high = ranking.relative;
  llvm::sort(ranking.order, [&](unsigned a, unsigned b) { return std::tie(seconds[a], a) < std::tie(seconds[b], b); });
  for (unsigned i = 0; i < ranking.order.size(); ++i)
    ranking.isTied.push_back(i > 0 && seconds[ranking.order[i]] == seconds[ranking.order[i - 1]]);
  return ranking;
}

/// All racers behind one timer.
class CombinedTimer : public LaunchTimer {
public:
  explicit CombinedTimer(std::vector<LaunchTimer *> timers) : timers(std::move(timers)) {}
  // One buffer serves all.
  llvm::Error flushCaches(uint64_t bytes) override { return timers.front()->flushCaches(bytes); }
  llvm::Expected<double> timeLaunch(unsigned candidate) override { return timers[candidate]->timeLaunch(0); }
  llvm::Expected<double> timeEmptyLaunch() override { return timers.front()->timeEmptyLaunch(); }
  double getResolution() const override { return timers.front()->getResolution(); }

private:
  std::vector<LaunchTimer *> timers;
};

/// Brings the data of all racers onto the device, one inside the other, times
/// them in turns and checks their outputs of the last round.
llvm::Expected<Ranking> raceOnDevice(Context &context, llvm::ArrayRef<const Candidate *> racers,
                                     const std::string &deviceName, const CatalogueOperator &op,
                                     const CatalogueShape &shape, const TimingOptions &timing) {
  std::vector<std::unique_ptr<Runner>> runners;
  for (const Candidate *racer : racers) {
    RunOptions options = racer->options;
    options.inputs = {InputVariant::Published};
    runners.push_back(std::make_unique<Runner>(context.hooks, options));
    if (runners.size() > 1)
      runners.back()->shareDevice(*runners.front());
    else if (llvm::Error error = runners.front()->open(deviceName, 1))
      return std::move(error);
  }
  std::vector<LaunchTimer *> timers;
  std::optional<Ranking> ranking;
  std::function<llvm::Error(size_t)> enter = [&](size_t index) -> llvm::Error {
    if (index == runners.size()) {
      CombinedTimer timer(timers);
      llvm::Expected<Ranking> ranked = rankCandidates(timer, unsigned(timers.size()), timing);
      if (!ranked)
        return ranked.takeError();
      ranking = std::move(*ranked);
      return llvm::Error::success();
    }
    std::string inner;
    runners[index]->onReady = [&, index](LaunchTimer &timer) -> llvm::Error {
      timers.push_back(&timer);
      if (llvm::Error error = enter(index + 1)) {
        inner = llvm::toString(std::move(error));
        return makeError(inner);
      }
      return llvm::Error::success();
    };
    ShapeResult result = runners[index]->runShape(op, shape);
    if (!inner.empty())
      return makeError(inner);
    if (!result.error.empty())
      return makeError(fmt::format("candidate {}: {}", racers[index]->label, result.error));
    if (!result.strict.value_or(false))
      return makeError(fmt::format("candidate {}: the outputs of its last timed launch fail the strict verdict",
                                   racers[index]->label));
    return llvm::Error::success();
  };
  if (llvm::Error error = enter(0))
    return std::move(error);
  return std::move(*ranking);
}

/// Why an entry takes no part, in one line.
std::string describeFault(const ShapeResult &result) {
  if (!result.error.empty())
    return llvm::StringRef(result.error).take_until([](char c) { return c == '\n'; }).rtrim(':').str();
  for (const CheckResult &check : result.checks) {
    for (const std::string *fault : {&check.writeFault, &check.inputFault})
      if (!fault->empty())
        return fmt::format("{} inputs: {}", check.inputs, *fault);
    for (const auto &[name, verdict] : check.outputs)
      if (!verdict.strict.passes)
        return fmt::format("fails strict on {} inputs, output '{}': {}", check.inputs, name, verdict.strict.message);
  }
  return "has no time";
}

const char *describePreference(const PairedComparison &pair) {
  switch (pair.faster) {
  case Preference::Second:
    return "faster";
  case Preference::First:
    return "slower";
  case Preference::Undecided:
    return "not told apart";
  }
  return "";
}

void printRace(Context &context, const ShapeRace &race, llvm::ArrayRef<Candidate> candidates, llvm::StringRef kind,
               bool isExact) {
  context.print("{:>4} {:>12} {:>9} {:>16} {:>8} {:>16} {:>14}  {}\n", "", kind.str(), "of the", "95 % certain", "over",
                "95 % certain", "", "");
  std::string reference = race.racers.empty() ? candidates.front().label : candidates[race.racers.front()].label;
  context.print("{:>4} {:>12} {:>9} {:>16} {:>8} {:>16} {:>14}  {}\n", "rank", "us", "median", "to lie in", reference,
                "to lie in", "than " + reference, "candidate");
  auto range = [&](double low, double high) {
    return isExact ? std::string("exact") : fmt::format("{:.3f} .. {:.3f}", low, high);
  };
  if (race.ranking) {
    const Ranking &ranking = *race.ranking;
    size_t rank = 0;
    for (size_t place = 0; place < ranking.order.size(); ++place) {
      unsigned which = ranking.order[place];
      if (!ranking.isTied[place])
        rank = place + 1;
      const PairedComparison &pair = ranking.againstFirst[which];
      const Candidate &candidate = candidates[race.racers[which]];
      context.print("{:>4} {:>12} {:>9.3f} {:>16} {:>8} {:>16} {:>14}  {} {}\n",
                    fmt::format("{}{}", ranking.isTied[place] ? "=" : "", rank), formatUs(ranking.median[which] * 1e6),
                    ranking.relative[which], range(ranking.low[which], ranking.high[which]),
                    which ? fmt::format("{:.3f}", pair.ratio) : "-", which ? range(pair.low, pair.high) : "-",
                    which ? describePreference(pair) : "-", candidate.label, candidate.name);
    }
  }
  for (auto [entry, candidate] : llvm::zip_equal(race.entries, candidates))
    if (!entry.passes())
      context.print("{:>4} {} {}: {}\n", "-", candidate.label, candidate.name, describeFault(entry.result));
  if (!race.error.empty())
    context.print("  not ranked: {}\n", race.error);
  if (race.ranking && !isExact)
    context.print("  ranks {}; stability {:.2f} (Kendall's tau between rounds); largest move {}\n",
                  race.ranking->isDecided() ? "decided" : "with ties (=: not told apart from the one above)",
                  race.ranking->stability, race.ranking->largestMove);
}

json::Object raceToJSON(const ShapeRace &race, const CatalogueShape &shape, llvm::ArrayRef<Candidate> candidates) {
  json::Array entries;
  for (auto [i, entry] : llvm::enumerate(race.entries)) {
    json::Object object{{"candidate", candidates[i].label},
                        {"strict", entry.result.strict.value_or(false)},
                        {"code_object_hash", entry.result.codeObjectHash}};
    if (!entry.passes())
      object["fault"] = describeFault(entry.result);
    auto racer = llvm::find(race.racers, unsigned(i));
    if (race.ranking && racer != race.racers.end()) {
      size_t which = size_t(racer - race.racers.begin());
      const Ranking &ranking = *race.ranking;
      object["us"] = ranking.median[which] * 1e6;
      object["relative"] = ranking.relative[which];
      object["relative_interval"] = json::Array{ranking.low[which], ranking.high[which]};
      const PairedComparison &pair = ranking.againstFirst[which];
      object["ratio"] = pair.ratio;
      object["ratio_interval"] = json::Array{pair.low, pair.high};
      object["against_first"] = which ? describePreference(pair) : "first";
    }
    entries.push_back(std::move(object));
  }
  json::Object object{
      {"id", shape.id}, {"shape", race.entries.front().result.shapeText}, {"entries", std::move(entries)}};
  if (race.ranking) {
    json::Array order, tied;
    for (unsigned which : race.ranking->order)
      order.push_back(candidates[race.racers[which]].label);
    for (bool isTied : race.ranking->isTied)
      tied.push_back(isTied);
    object["order"] = std::move(order);
    object["tied"] = std::move(tied);
    object["stability"] = race.ranking->stability;
    object["largest_move"] = int64_t(race.ranking->largestMove);
  }
  if (!race.error.empty())
    object["error"] = race.error;
  return object;
}

/// Over several shapes: how each candidate did against the first one.
void printTotals(Context &context, llvm::ArrayRef<ShapeRace> races, llvm::ArrayRef<Candidate> candidates) {
  if (races.size() < 2)
    return;
  context.print("\nover {} shapes, against {} {}\n", races.size(), candidates[0].label, candidates[0].name);
  context.print("{:>6} {:>7} {:>7} {:>9} {:>10}  {}\n", "faster", "slower", "undecided", "not timed", "mean ratio",
                "candidate");
  for (unsigned i = 1; i < candidates.size(); ++i) {
    size_t faster = 0, slower = 0, undecided = 0;
    double logSum = 0;
    for (const ShapeRace &race : races) {
      auto racer = llvm::find(race.racers, i);
      // Without the first candidate there is nothing to compare with.
      if (!race.ranking || racer == race.racers.end() || race.racers.front() != 0)
        continue;
      const PairedComparison &pair = race.ranking->againstFirst[size_t(racer - race.racers.begin())];
      (pair.faster == Preference::Second ? faster : pair.faster == Preference::First ? slower : undecided)++;
      logSum += std::log(pair.ratio);
    }
    size_t timed = faster + slower + undecided;
    context.print("{:>6} {:>7} {:>9} {:>9} {:>10}  {} {}\n", faster, slower, undecided, races.size() - timed,
                  timed ? fmt::format("{:.3f}", std::exp(logSum / double(timed))) : "-", candidates[i].label,
                  candidates[i].name);
  }
}

} // namespace

const CommandSpec &bench::getRaceCommand() { return raceCommand; }

int bench::runRace(Context &context, const Arguments &arguments) {
  constexpr size_t maxCandidates = 16;
  const std::vector<std::string> &names = arguments.getPositional();
  if (!arguments.has("op"))
    return context.fail(makeError("race: name the operator: --op OPERATOR"), exitUsage);
  if (names.size() < 2 || names.size() > maxCandidates)
    return context.fail(makeError(fmt::format("race: name 2 to {} candidates, not {}", maxCandidates, names.size())),
                        exitUsage);
  bool isInProcess = arguments.has("in-process");
  for (llvm::StringRef limit : {"time-limit", "memory-limit"})
    if (isInProcess && arguments.has(limit))
      return context.fail(
          makeError(fmt::format("race: --in-process has no process to end, so --{} has no effect", limit.str())),
          exitUsage);
  RunOptions common;
  common.check = CheckMode::Strict;
  common.whole = arguments.has("whole");
  TimingOptions timing;
  uint64_t rounds = timing.rounds, timeLimit = 3600, memoryLimit = 0;
  struct Number {
    llvm::StringLiteral name;
    uint64_t &value;
    uint64_t low, high;
  };
  for (const Number &number :
       {Number{"rounds", rounds, 1, 1000000}, Number{"seed", common.seed, 0, INT64_MAX},
        Number{"budget", common.budget, 1, UINT64_MAX}, Number{"time-limit", timeLimit, 0, UINT64_MAX},
        Number{"memory-limit", memoryLimit, 0, uint64_t(1) << 40}}) {
    llvm::Expected<uint64_t> value = arguments.getUnsigned(number.name, number.value, number.low);
    if (!value)
      return context.fail(value.takeError(), exitUsage);
    if (*value > number.high)
      return context.fail(
          makeError(fmt::format("--{} '{}' must be at most {}", number.name.str(), *value, number.high)), exitUsage);
    number.value = *value;
  }
  SyntheticNoise clock;
  if (arguments.has("clock")) {
    llvm::Expected<SyntheticNoise> read = readClock(arguments.get("clock"));
    if (!read)
      return context.fail(read.takeError(), exitUsage);
    clock = *read;
  }
  if (llvm::Error error = chooseTarget(arguments, common))
    return context.fail(std::move(error));
  llvm::Expected<const CatalogueOperator *> found = context.catalogue.lookup(arguments.get("op"));
  if (!found)
    return context.fail(found.takeError());
  const CatalogueOperator &op = **found;
  llvm::Expected<std::vector<int64_t>> ids = parseShapeList(arguments.get("shapes"), op);
  if (!ids)
    return context.fail(ids.takeError());
  std::vector<Candidate> candidates;
  for (const std::string &name : names) {
    llvm::Expected<Candidate> candidate = readCandidate(name, common);
    if (!candidate)
      return context.fail(candidate.takeError());
    std::string path;
    if (candidate->options.kernelName.empty() && !findSource("kernels/" + op.name + ".atx", path))
      return context.fail(makeError(fmt::format("candidate '{}': there is no kernel for {}: bench/kernels/{}.atx does "
                                                "not exist",
                                                name, op.name, op.name)));
    candidate->label = std::string(1, char('A' + candidates.size()));
    candidates.push_back(std::move(*candidate));
  }
  if (arguments.has("json"))
    if (llvm::Error error = checkWritable(arguments.get("json")))
      return context.fail(std::move(error));
  uint64_t seed = common.seed;
  timing = TimingOptions::forChip(*common.chip);
  timing.seed = seed;
  timing.rounds = unsigned(rounds);

  std::string deviceName = arguments.get("device", "sim");
  JobPool pool;
  pool.limits.seconds = double(timeLimit);
  pool.limits.bytes = arguments.has("memory-limit") ? memoryLimit << 20 : getPhysicalMemory() / 4 * 3;
  std::vector<ShapeRace> races(ids->size());
  for (auto [i, race] : llvm::enumerate(races)) {
    race.entries.resize(candidates.size());
    for (Entry &entry : race.entries)
      entry.result = Runner(context.hooks, common).describeShape(op, *op.lookupShape((*ids)[i]));
  }

  // First every candidate alone: whether it is right, and its predicted time.
  // One process per candidate keeps its code objects; one that ends does no harm.
  auto runPool = [&](llvm::ArrayRef<size_t> jobs, std::function<JobFunction()> start,
                     std::function<llvm::Error(size_t, JobOutcome)> end) {
    pool.start = std::move(start);
    pool.onEnd = std::move(end);
    return isInProcess ? runJobsHere(jobs, pool) : runJobs(jobs, pool);
  };
  auto failOutcome = [&](size_t shape, size_t candidate, const std::string &error, const std::string &failure) {
    return Runner(context.hooks, candidates[candidate].options)
        .failShape(op, *op.lookupShape((*ids)[shape]), error, failure);
  };
  auto describeEnd = [](const JobOutcome &outcome) {
    return fmt::format("{}: {}", outcome.stage.empty() ? "starting" : outcome.stage, outcome.reason);
  };
  bool isSimulated = true;
  std::string deviceFullName, openError;
  std::vector<size_t> jobs(ids->size());
  for (size_t i = 0; i < jobs.size(); ++i)
    jobs[i] = i;
  for (size_t c = 0; c < candidates.size() && openError.empty(); ++c) {
    llvm::Error error = runPool(
        jobs,
        [&, c]() -> JobFunction {
          auto runner = std::make_shared<Runner>(context.hooks, candidates[c].options);
          std::string why;
          if (llvm::Error open = runner->open(deviceName, 0))
            why = llvm::toString(std::move(open));
          return [&, runner, why](size_t job, JobChannel &channel) {
            if (!why.empty()) {
              channel.send("E" + why);
              return;
            }
            channel.send((runner->getDevice().isSimulated() ? "S" : "M") + runner->getDevice().getName().str());
            channel.enter("executing and checking");
            ShapeResult result = runner->runShape(op, *op.lookupShape((*ids)[job]));
            channel.send(llvm::formatv("{0}", json::Value(toJSON(result))).str());
          };
        },
        [&, c](size_t job, JobOutcome outcome) -> llvm::Error {
          ShapeResult &result = races[job].entries[c].result;
          if (outcome.end != JobEnd::Done) {
            result = failOutcome(job, c, describeEnd(outcome),
                                 outcome.end == JobEnd::Crashed    ? "crash"
                                 : outcome.end == JobEnd::TimedOut ? "timeout"
                                                                   : "memory");
            return llvm::Error::success();
          }
          const std::string &head = outcome.messages.front();
          if (head.front() == 'E') {
            openError = head.substr(1);
            return makeError(openError);
          }
          isSimulated = head.front() == 'S';
          deviceFullName = head.substr(1);
          llvm::Expected<json::Value> tree = json::parse(outcome.messages.back());
          if (!tree)
            return tree.takeError();
          llvm::Expected<ShapeResult> read = readShapeResult(*tree, op.name, "a worker's result");
          if (!read)
            return read.takeError();
          result = std::move(*read);
          return llvm::Error::success();
        });
    if (error)
      return context.fail(std::move(error));
  }
  if (!isSimulated && clock.isAny())
    return context.fail(
        makeError(fmt::format("race: --clock disturbs predictions; {} has a clock of its own", deviceFullName)),
        exitUsage);
  for (ShapeRace &race : races)
    for (auto [c, entry] : llvm::enumerate(race.entries))
      if (entry.passes())
        race.racers.push_back(unsigned(c));

  std::string kind = !isSimulated ? "measured" : clock.isAny() ? "synthetic" : "predicted";
  context.print("{} on {}{}, {} by {}; seed {}\n", common.arch, common.chip->name.str(),
                common.chip->alias.empty() ? std::string() : fmt::format(" ({})", common.chip->alias.str()),
                isSimulated ? "executed" : "executed and timed", isSimulated ? "the embedded device" : deviceFullName,
                seed);
  if (kind == "predicted")
    context.print("times are predictions without noise; they say nothing sure about a real device\n");
  else if (kind == "synthetic")
    context.print("times are drawn around predictions: they show the protocol, not the kernels\n");
  if (kind != "predicted")
    context.print("{} rounds, all candidates in each, in random order and its reverse\n", rounds);

  for (auto [i, race] : llvm::enumerate(races)) {
    const CatalogueShape &shape = *op.lookupShape((*ids)[i]);
    std::vector<double> seconds;
    std::vector<const Candidate *> racers;
    for (unsigned which : race.racers) {
      seconds.push_back(race.entries[which].result.time.seconds);
      racers.push_back(&candidates[which]);
    }
    if (racers.size() == 1) {
      race.error = fmt::format("only {} is left", racers.front()->label);
    } else if (racers.empty()) {
      race.error = "no candidate is left";
    } else if (kind == "predicted") {
      race.ranking = rankExactly(seconds);
    } else if (kind == "synthetic") {
      // Every shape meets its own noise.
      SyntheticTimer timer(seconds, clock, seed + 1000003 * uint64_t(i));
      llvm::Expected<Ranking> ranking = rankCandidates(timer, unsigned(seconds.size()), timing);
      if (ranking)
        race.ranking = std::move(*ranking);
      else
        race.error = llvm::toString(ranking.takeError());
    } else {
      llvm::Error error = runPool(
          {i},
          [&]() -> JobFunction {
            return [&](size_t, JobChannel &channel) {
              channel.enter("racing");
              llvm::Expected<Ranking> ranking = raceOnDevice(context, racers, deviceName, op, shape, timing);
              channel.send(ranking ? "R" + llvm::formatv("{0}", json::Value(rankingToJSON(*ranking))).str()
                                   : "E" + llvm::toString(ranking.takeError()));
            };
          },
          [&](size_t, JobOutcome outcome) -> llvm::Error {
            if (outcome.end != JobEnd::Done) {
              race.error = describeEnd(outcome);
              return llvm::Error::success();
            }
            const std::string &answer = outcome.messages.back();
            if (answer.front() == 'E') {
              race.error = answer.substr(1);
              return llvm::Error::success();
            }
            llvm::Expected<json::Value> tree = json::parse(llvm::StringRef(answer).drop_front());
            if (!tree)
              return tree.takeError();
            llvm::Expected<Ranking> ranking = readRanking(*tree->getAsObject());
            if (!ranking)
              return ranking.takeError();
            race.ranking = std::move(*ranking);
            return llvm::Error::success();
          });
      if (error)
        return context.fail(std::move(error));
    }
    context.print("\n{} shape {} ({})\n", op.name, shape.id, race.entries.front().result.shapeText);
    printRace(context, race, candidates, kind, kind == "predicted");
    context.out.flush();
  }
  printTotals(context, races, candidates);

  if (arguments.has("json")) {
    json::Array list, shapes;
    for (const Candidate &candidate : candidates)
      list.push_back(json::Object{
          {"label", candidate.label},
          {"kernel", candidate.options.kernelName.empty() ? "<default>" : candidate.options.kernelName},
          {"schedule", candidate.options.scheduleName.empty() ? "<default>" : candidate.options.scheduleName}});
    for (auto [i, race] : llvm::enumerate(races))
      shapes.push_back(raceToJSON(race, *op.lookupShape((*ids)[i]), candidates));
    json::Value tree = json::Object{{"schema", "atrex-mlir/bench-race/1"},
                                    {"compiler", context.hooks.compilerVersion},
                                    {"op", op.name},
                                    {"arch", common.arch},
                                    {"chip", common.chip->name.str()},
                                    {"device", deviceFullName},
                                    {"time_kind", kind},
                                    {"rounds", kind == "predicted" ? int64_t(0) : int64_t(rounds)},
                                    {"confidence", timing.confidence},
                                    {"seed", int64_t(seed)},
                                    {"candidates", std::move(list)},
                                    {"shapes", std::move(shapes)}};
    if (llvm::Error error = writeFile(arguments.get("json"), llvm::formatv("{0:2}\n", tree).str()))
      return context.fail(std::move(error));
  }
  bool allRaced = llvm::all_of(
      races, [](const ShapeRace &race) { return race.ranking && race.racers.size() == race.entries.size(); });
  return allRaced ? exitOk : exitFault;
}
