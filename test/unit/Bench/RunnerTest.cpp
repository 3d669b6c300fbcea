//===- RunnerTest.cpp - Compile, execute and check ------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FakeDevice.h"
#include "atrex/Bench/Bench.h"
#include "atrex/Bench/Chart.h"
#include "atrex/Bench/Page.h"
#include "atrex/Bench/Result.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <csignal>
#include <set>

using namespace atrex;
using namespace atrex::bench;
using namespace atrex::bench::test;

namespace {
constexpr int64_t rowsPerWorkgroup = 4;

DimExpr expr(llvm::StringRef text) { return llvm::cantFail(DimExpr::parse(text)); }

/// A manifest for rms_norm with H fixed.
Manifest makeManifest(int64_t H) {
  Manifest manifest;
  manifest.op = "rms_norm";
  manifest.arch = "gfx942";
  manifest.codeObjectHash = "c0de";
  manifest.constants["H"] = H;
  manifest.runtimeDims = {"T"};
  ManifestKernel kernel;
  kernel.name = "rms_norm";
  kernel.workgroup = {256, 1, 1};
  kernel.grid[0] = expr("cdiv(T, 4)");
  auto addTensor = [&](const char *name, std::vector<DimExpr> shape, bool isOutput, bool isTiled) {
    ManifestArg arg;
    arg.name = name;
    arg.type = DataType::BF16;
    arg.offset = uint32_t(8 * kernel.args.size());
    arg.shape = std::move(shape);
    arg.isOutput = isOutput;
    if (isTiled) {
      arg.tileDim = 0;
      arg.tileExtent = DimExpr::constant(rowsPerWorkgroup);
    }
    kernel.args.push_back(arg);
  };
  addTensor("x", {expr("T"), DimExpr::constant(H)}, false, true);
  addTensor("weight", {DimExpr::constant(H)}, false, false);
  addTensor("out", {expr("T"), DimExpr::constant(H)}, true, true);
  ManifestArg T;
  T.kind = ManifestArg::Kind::Dim;
  T.name = "T";
  T.type = DataType::I64;
  T.offset = 24;
  ManifestArg eps;
  eps.kind = ManifestArg::Kind::Scalar;
  eps.name = "eps";
  eps.type = DataType::F32;
  eps.offset = 32;
  eps.size = 4;
  kernel.args.push_back(T);
  kernel.args.push_back(eps);
  kernel.kernargBytes = 40;
  manifest.kernels.push_back(kernel);
  return manifest;
}

/// Ways in which the fake kernel is wrong.
enum class Fault { None, WrongValue, SkipElement, WriteOutside, WriteInput, LaunchFails, HalfWeight, Interrupt };

struct Harness {
  Fault fault = Fault::None;
  unsigned compilations = 0, launches = 0;
  /// Called first thing in every launch.
  std::function<void()> onLaunch;
  /// Called with the address of the output.
  std::function<void(uint64_t out)> onKernarg;
  FakeDevice *device = nullptr;
  bool isSimulated = true;
  Catalogue catalogue = llvm::cantFail(Catalogue::load());

  Hooks makeHooks() {
    Hooks hooks;
    hooks.compilerVersion = "test";
    hooks.compile = [this](llvm::MemoryBufferRef source, const CompileOptions &options,
                           llvm::raw_ostream &diagnostics) -> std::optional<CompileResult> {
      if (source.getBuffer().contains("syntax error")) {
        diagnostics << source.getBufferIdentifier() << ":1:1: error: expected an op\n";
        return std::nullopt;
      }
      ++compilations;
      return CompileResult{"rms_norm", makeManifest(options.dims.lookup("H"))};
    };
    hooks.createDevice = [this](llvm::StringRef, const ChipInfo &chip,
                                unsigned) -> llvm::Expected<std::unique_ptr<device::Device>> {
      auto fake = std::make_unique<FakeDevice>(
          chip, [this](FakeDevice &dev, const device::LaunchConfig &config) { return launch(dev, config); });
      device = fake.get();
      device->simulated = isSimulated;
      return fake;
    };
    return hooks;
  }

  llvm::Error launch(FakeDevice &dev, const device::LaunchConfig &config) {
    ++launches;
    if (onLaunch)
      onLaunch();
    if (fault == Fault::LaunchFails)
      return makeError("unknown instruction v_foo at 0x10");
    // Once only: the second Ctrl-C ends the process.
    if (fault == Fault::Interrupt && dev.launches == 1)
      std::raise(SIGINT);
    uint64_t x, weight, out, T;
    std::memcpy(&x, config.kernarg.data(), 8);
    std::memcpy(&weight, config.kernarg.data() + 8, 8);
    std::memcpy(&out, config.kernarg.data() + 16, 8);
    std::memcpy(&T, config.kernarg.data() + 24, 8);
    if (onKernarg)
      onKernarg(out);
    const Operator *op = lookupOperator("rms_norm");
    int64_t H = currentH;
    Params params("rms_norm", llvm::json::Object{{"token_count", int64_t(T)}, {"hidden_size", H}});
    Instance instance = llvm::cantFail(op->instantiate(params));
    std::vector<uint64_t> ids(config.sample.begin(), config.sample.end());
    if (ids.empty())
      for (uint64_t i = 0; i < config.grid[0]; ++i)
        ids.push_back(i);
    for (uint64_t id : ids) {
      int64_t begin = int64_t(id) * rowsPerWorkgroup, end = std::min<int64_t>(begin + rowsPerWorkgroup, int64_t(T));
      std::vector<uint16_t> rows(size_t((end - begin) * H));
      op->compute(instance, {dev.getData(x) + begin * H * 2, dev.getData(weight)}, end - begin, {rows.data()});
      if (fault == Fault::WrongValue && id == ids.back())
        rows.back() += 64;
      if (fault == Fault::HalfWeight)
        for (uint16_t &value : rows)
          value = convertToBF16(convertFromBF16(value) * 1.004f);
      uint64_t bytes = rows.size() * 2;
      if (fault == Fault::SkipElement && id == 0)
        bytes -= 2;
      dev.store(out, uint64_t(begin * H * 2), rows.data(), bytes);
    }
    if (fault == Fault::WriteOutside) {
      uint16_t value = 0;
      dev.store(out, uint64_t(rowsPerWorkgroup * H * 2), &value, 2);
    }
    if (fault == Fault::WriteInput)
      dev.store(weight, 0, dev.getData(weight), 2);
    return llvm::Error::success();
  }

  ShapeResult run(int64_t shapeId, RunOptions options = {}) {
    options.chip = lookupChip("XPU-A");
    options.kernelText = kernelText;
    options.kernelName = "test.atx";
    runner = std::make_unique<Runner>(makeHooks(), options);
    EXPECT_FALSE(bool(runner->open("sim", 1)));
    return runAgain(shapeId);
  }
  ShapeResult runAgain(int64_t shapeId) {
    const CatalogueOperator *op = llvm::cantFail(catalogue.lookup("rms_norm"));
    const CatalogueShape *shape = op->lookupShape(shapeId);
    currentH = llvm::cantFail(shape->params.getInt("hidden_size"));
    return runner->runShape(*op, *shape);
  }

  std::string kernelText = "op rms_norm";
  int64_t currentH = 0;
  std::unique_ptr<Runner> runner;
};
} // namespace

TEST(Runner, WholeShapePasses) {
  Harness harness;
  ShapeResult result = harness.run(15); // 3 x 128
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.status, ShapeStatus::Pass);
  EXPECT_EQ(result.checks.size(), 2u);
  EXPECT_EQ(result.getCheckedShare(), 1.0);
  EXPECT_EQ(result.workgroupsExecuted, 1u);
  EXPECT_NEAR(result.getScore(), result.solUs / 10, 1e-12);
  EXPECT_EQ(result.productionUs, 7.55);
}

TEST(Runner, OneCodeObjectServesAllTokenCounts) {
  Harness harness;
  EXPECT_EQ(harness.run(15).status, ShapeStatus::Pass);
  EXPECT_EQ(harness.runAgain(16).status, ShapeStatus::Pass); // 1504 x 128
  EXPECT_EQ(harness.compilations, 1u);
  EXPECT_EQ(harness.runAgain(41).status, ShapeStatus::Pass); // 3 x 256
  EXPECT_EQ(harness.compilations, 2u);
  EXPECT_EQ(harness.runner->getCodeObjects().size(), 2u);
}

TEST(Runner, LargeShapeRunsFirstLastAndRandomWorkgroups) {
  Harness harness;
  RunOptions options;
  options.budget = 100000;
  ShapeResult result = harness.run(27, options); // 505888 x 128
  EXPECT_EQ(result.status, ShapeStatus::Pass) << result.error;
  EXPECT_EQ(result.workgroupsTotal, 126472u);
  EXPECT_GE(result.workgroupsExecuted, 50u);
  EXPECT_LT(result.getCheckedShare(), 0.01);
  EXPECT_EQ(harness.device->executed.front(), 0u);
  EXPECT_EQ(harness.device->executed.back(), 126471u);
  EXPECT_TRUE(llvm::is_sorted(harness.device->executed));
}

TEST(Runner, FaultsAreFound) {
  struct Expectation {
    Fault fault;
    const char *where;
  };
  for (uint64_t budget : {uint64_t(2000000), uint64_t(20000)})
    for (Fault fault : {Fault::WrongValue, Fault::SkipElement, Fault::WriteInput, Fault::WriteOutside}) {
      // Whole runs own every row: nothing is outside.
      if (fault == Fault::WriteOutside && budget > 1000000)
        continue;
      Harness harness;
      harness.fault = fault;
      RunOptions options;
      options.budget = budget;
      ShapeResult result = harness.run(16, options);
      EXPECT_EQ(result.status, ShapeStatus::Fail) << int(fault);
      EXPECT_EQ(result.strict, false);
      EXPECT_EQ(result.getScore(), 0.0);
      const CheckResult &check = result.checks.front();
      if (fault == Fault::SkipElement)
        EXPECT_EQ(check.writeFault, "output 'out': not written at row 3, element 127");
      if (fault == Fault::WriteOutside)
        EXPECT_EQ(check.writeFault,
                  "output 'out': written outside the rows of the executed workgroups, at row 4, element 0");
      if (fault == Fault::WriteInput)
        EXPECT_EQ(check.inputFault, "input 'weight' was written at byte 0");
      if (fault == Fault::WrongValue)
        EXPECT_GT(check.outputs.front().second.strict.bad, 0u);
    }
}

TEST(Runner, SmallErrorWithinTheLimitPasses) {
  Harness harness;
  harness.fault = Fault::HalfWeight;
  EXPECT_EQ(harness.run(15).status, ShapeStatus::Pass);
}

TEST(Runner, FaultsOfCompilerAndDeviceAreResults) {
  Harness harness;
  harness.fault = Fault::LaunchFails;
  ShapeResult result = harness.run(15);
  EXPECT_EQ(result.status, ShapeStatus::Error);
  EXPECT_EQ(result.error, "published inputs: unknown instruction v_foo at 0x10");
  harness.kernelText = "syntax error";
  result = harness.run(15);
  EXPECT_EQ(result.status, ShapeStatus::Error);
  EXPECT_EQ(result.error, "cannot compile test.atx:\ntest.atx:1:1: error: expected an op");
}

TEST(Runner, OperatorsWithoutReferenceSaySo) {
  Harness harness;
  harness.run(15);
  CatalogueOperator op = *llvm::cantFail(harness.catalogue.lookup("topk_filter"));
  op.name = "topk_other";
  ShapeResult result = harness.runner->runShape(op, op.shapes.front());
  EXPECT_EQ(result.status, ShapeStatus::Error);
  EXPECT_NE(result.error.find("has no reference in this build yet"), std::string::npos);
}

TEST(Sample, RowsForCostlyReferences) {
  using Rows = std::vector<std::pair<int64_t, int64_t>>;
  Rows owned = {{0, 40}, {100, 140}};
  // Cheap enough: all.
  EXPECT_EQ(chooseRows(owned, 16, 1, 80, "op", 0, 1), owned);
  // Three blocks at least; ends of ranges cut blocks.
  Rows few = chooseRows(owned, 16, 1, 79, "op", 0, 1);
  ASSERT_EQ(few.size(), 4u);
  EXPECT_EQ(few.front(), std::make_pair(int64_t(0), int64_t(16)));
  EXPECT_EQ(few.back(), std::make_pair(int64_t(132), int64_t(140)));
  EXPECT_EQ(chooseRows(owned, 16, 1, 1, "op", 0, 1).size(), 3u);
  EXPECT_EQ(chooseRows(owned, 16, 1, 79, "op", 0, 1), few);
  std::set<Rows> drawn;
  for (uint64_t seed = 0; seed < 20; ++seed)
    drawn.insert(chooseRows(owned, 16, 1, 1, "op", 0, seed));
  EXPECT_GT(drawn.size(), 1u);
}

TEST(Sample, IsFirstLastAndDistinct) {
  EXPECT_TRUE(chooseSample(10, 10, "op", 0, 1).empty());
  EXPECT_TRUE(chooseSample(1, 3, "op", 0, 1).empty());
  for (uint64_t count = 3; count < 40; ++count) {
    std::vector<uint64_t> sample = chooseSample(40, count, "op", 3, 7);
    EXPECT_EQ(sample.size(), count);
    EXPECT_EQ(sample.front(), 0u);
    EXPECT_EQ(sample.back(), 39u);
    EXPECT_TRUE(llvm::is_sorted(sample));
    EXPECT_EQ(std::set<uint64_t>(sample.begin(), sample.end()).size(), count);
  }
  EXPECT_EQ(chooseSample(1000, 20, "op", 3, 7), chooseSample(1000, 20, "op", 3, 7));
  EXPECT_NE(chooseSample(1000, 20, "op", 3, 7), chooseSample(1000, 20, "op", 3, 8));
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

namespace {
struct ProgramResult {
  int code;
  std::string out, err;
};
ProgramResult runProgram(Harness &harness, std::vector<const char *> arguments) {
  ProgramResult result;
  // What a launch does to the harness must happen in this process.
  if (!arguments.empty() && llvm::is_contained({"run", "race"}, llvm::StringRef(arguments.front())))
    arguments.insert(arguments.begin() + 1, "--in-process");
  llvm::raw_string_ostream out(result.out), err(result.err);
  result.code = runMain(arguments, harness.makeHooks(), out, err);
  return result;
}
} // namespace

TEST(Program, RunTableFitsTheTerminalAndJSONScores) {
  Harness harness;
  harness.currentH = 128;
  llvm::SmallString<128> path, scorePath;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("bench", "json", path));
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("score", "json", scorePath));
  ProgramResult result =
      runProgram(harness, {"run", "--op", "rms_norm", "--shapes=15-17", "--json", path.c_str(), "--seed", "3"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  for (llvm::StringRef line : llvm::split(result.out, '\n'))
    EXPECT_LE(line.size(), 100u) << line.str();
  EXPECT_NE(result.out.find("3 passed, 0 failed, 0 without a verdict"), std::string::npos) << result.out;
  ProgramResult scored = runProgram(harness, {"score", path.c_str(), "--json", scorePath.c_str()});
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_NE(scored.out.find("3/56"), std::string::npos) << scored.out;
  EXPECT_NE(scored.out.find("S from predicted times"), std::string::npos);
  for (llvm::StringRef line : llvm::split(scored.out, '\n'))
    EXPECT_LE(line.size(), 100u) << line.str();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(buffer));
  llvm::Expected<llvm::json::Value> tree = llvm::json::parse((*buffer)->getBuffer());
  ASSERT_TRUE(bool(tree));
  EXPECT_EQ(tree->getAsObject()->getInteger("seed"), 3);
  llvm::sys::fs::remove(path);
  llvm::sys::fs::remove(scorePath);
}

TEST(Program, FailingShapeMakesExitCodeOne) {
  Harness harness;
  harness.currentH = 128;
  harness.fault = Fault::WrongValue;
  ProgramResult result = runProgram(harness, {"run", "--op", "rms_norm", "--shapes", "15"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.out.find("0 passed, 1 failed"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("expected"), std::string::npos) << result.out;
}

TEST(Program, InterruptKeepsFinishedResults) {
  Harness harness;
  harness.currentH = 128;
  harness.fault = Fault::Interrupt;
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("bench", "json", path));
  ProgramResult result = runProgram(harness, {"run", "--op", "rms_norm", "--shapes", "15-27", "--json", path.c_str()});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "interrupted after 1 of 13 shapes\n");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(buffer));
  EXPECT_TRUE((*buffer)->getBuffer().contains("\"interrupted\": true"));
  EXPECT_TRUE((*buffer)->getBuffer().contains("\"status\": \"pass\""));
  llvm::sys::fs::remove(path);
}

namespace {
/// A file that does not exist yet and is gone afterwards.
struct ScratchFile {
  llvm::SmallString<128> path;
  ScratchFile() {
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("bench", "json", path));
    llvm::sys::fs::remove(path);
  }
  ~ScratchFile() { llvm::sys::fs::remove(path); }
  const char *c_str() { return path.c_str(); }
  void write(llvm::StringRef text) { EXPECT_FALSE(bool(writeFile(path.str().str(), text))); }
  std::string read() {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  /// Ids in the file, in order; empty when there is no file.
  std::vector<int64_t> getIds() {
    std::string text = read();
    std::vector<int64_t> ids;
    if (text.empty())
      return ids;
    llvm::Expected<StoredRun> run = readRun(text, path);
    EXPECT_TRUE(bool(run)) << llvm::toString(run.takeError());
    if (run)
      for (const ShapeResult &shape : run->shapes)
        ids.push_back(shape.id);
    return ids;
  }
};
} // namespace

TEST(Program, ResultsAreInTheFileAfterEveryShape) {
  Harness harness;
  harness.currentH = 128;
  ScratchFile file;
  std::vector<std::vector<int64_t>> seen;
  harness.onLaunch = [&] {
    seen.push_back(file.getIds());
    EXPECT_EQ(file.read().find("\"interrupted\": false"), std::string::npos);
  };
  ProgramResult result =
      runProgram(harness, {"run", "--op", "rms_norm", "--shapes=15-17", "--inputs=strict", "--json", file.c_str()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(seen, (std::vector<std::vector<int64_t>>{{}, {15}, {15, 16}}));
  EXPECT_EQ(file.getIds(), (std::vector<int64_t>{15, 16, 17}));
  EXPECT_NE(file.read().find("\"interrupted\": false"), std::string::npos);
}

TEST(Program, ResumeRunsWhatIsMissingAndLosesNothing) {
  Harness harness;
  harness.currentH = 128;
  ScratchFile file;
  auto run = [&](const char *shapes) {
    harness.launches = 0;
    return runProgram(harness, {"run", "--op", "rms_norm", "--shapes", shapes, "--inputs=strict", "--resume", "--json",
                                file.c_str()});
  };
  EXPECT_EQ(run("17").code, 0);
  EXPECT_EQ(harness.launches, 1u);
  // What was kept stays in the file before it is its turn.
  std::vector<std::vector<int64_t>> seen;
  harness.onLaunch = [&] { seen.push_back(file.getIds()); };
  ProgramResult result = run("15-18");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("1 of 4 shapes are kept"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("4 passed, 0 failed"), std::string::npos) << result.out;
  EXPECT_EQ(seen, (std::vector<std::vector<int64_t>>{{17}, {15, 17}, {15, 16, 17}}));
  std::string text = file.read();
  EXPECT_EQ(run("15-18").code, 0);
  EXPECT_EQ(harness.launches, 0u);
  EXPECT_EQ(file.read(), text);
}

TEST(Program, ResumeKeepsFailures) {
  Harness harness;
  harness.currentH = 128;
  harness.fault = Fault::WrongValue;
  ScratchFile file;
  std::vector<const char *> arguments = {"run", "--op",   "rms_norm",   "--shapes",
                                         "15",  "--json", file.c_str(), "--resume"};
  ProgramResult first = runProgram(harness, arguments);
  EXPECT_EQ(first.code, 1);
  harness.fault = Fault::None;
  harness.launches = 0;
  ProgramResult second = runProgram(harness, arguments);
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(harness.launches, 0u);
  // The fault is told as if it had just been found.
  EXPECT_EQ(first.out.substr(first.out.find("rms_norm\n")), second.out.substr(second.out.find("rms_norm\n")));
}

TEST(Page, NamesAreEscapedAndAbsentValuesShown) {
  RunRecord record;
  record.chip = lookupChip("XPU-A");
  record.compilerVersion = "</style><script>\"&";
  ShapeResult shape;
  shape.op = "rms_norm";
  shape.id = 3;
  shape.shapeText = "1 x 2";
  shape.error = "cannot compile <b>";
  record.shapes.push_back(shape);
  shape.op = "l2_norm";
  shape.id = -1;
  record.shapes.push_back(shape);
  std::string page = writePage(record);
  EXPECT_NE(page.find("&lt;/style&gt;&lt;script&gt;&quot;&amp;"), std::string::npos);
  EXPECT_NE(page.find("<pre>cannot compile &lt;b&gt;</pre>"), std::string::npos);
  EXPECT_NE(page.find("<td class=\"n\" data-v=\"\">-</td>"), std::string::npos);
  EXPECT_NE(page.find("2 operators on MI308X (XPU-A)"), std::string::npos);
  EXPECT_NE(page.find("<details id=\"l2_norm-case\">"), std::string::npos);
  // One chart per operator; the rest are legend marks.
  EXPECT_EQ(llvm::StringRef(page).count("aria-label=\"share of the roofline by shape\""), 2u);
  record.shapes.clear();
  EXPECT_NE(writePage(record).find("0 shapes: 0 passed"), std::string::npos);
}

TEST(Chart, SharesAboveOneAreNotClipped) {
  RunRecord record;
  record.chip = lookupChip("XPU-A");
  ShapeResult shape;
  shape.op = "rms_norm";
  shape.id = 0;
  shape.solUs = 30;
  shape.productionUs = 20;
  record.shapes.push_back(shape);
  EXPECT_NE(drawChart(record).find(">1.6</text>"), std::string::npos);
  record.shapes.front().productionUs = 40;
  EXPECT_EQ(drawChart(record).find(">1.2</text>"), std::string::npos);
}

TEST(Program, RepetitionsDrawFreshDataAndAllCount) {
  Harness harness;
  harness.currentH = 128;
  harness.onLaunch = [&] {
    // Two sets of inputs each time: wrong from the third time on.
    harness.fault = harness.launches > 4 ? Fault::WrongValue : Fault::None;
  };
  ScratchFile file;
  std::vector<const char *> arguments = {"run",      "--op", "rms_norm", "--shapes",  "15",
                                         "--repeat", "2",    "--json",   file.c_str()};
  EXPECT_EQ(runProgram(harness, arguments).code, 0);
  EXPECT_EQ(harness.launches, 4u);
  llvm::json::Value tree = llvm::cantFail(llvm::json::parse(file.read()));
  EXPECT_EQ(tree.getAsObject()->getInteger("repeat"), 2);
  // Three draws: the last one is wrong, and that decides.
  harness.launches = 0;
  arguments[6] = "3";
  ProgramResult result = runProgram(harness, arguments);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(harness.launches, 6u);
  EXPECT_NE(result.out.find("seeds 1 to 3"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("published inputs, seed 3, output 'out'"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("seed 2, output"), std::string::npos) << result.out;
  // A file of two draws is not a part of a run of three.
  arguments.push_back("--resume");
  arguments[6] = "2";
  result = runProgram(harness, arguments);
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("different number of repetitions: '3' there, '2' now"), std::string::npos) << result.err;
}

TEST(Program, RacesTimeAllCandidatesInTurnsOnADevice) {
  Harness harness;
  harness.currentH = 128;
  harness.isSimulated = false;
  ScratchFile first, second, json;
  first.write("op rms_norm");
  second.write("op rms_norm");
  // On one device the data of the second candidate lie behind those of the first.
  std::vector<uint64_t> log;
  uint64_t lowest = UINT64_MAX;
  harness.onKernarg = [&](uint64_t out) {
    log.push_back(out);
    lowest = std::min(lowest, out);
    harness.device->launchSeconds = (out == lowest ? 20e-3 : 19e-3) * (1 + 0.001 * double(log.size() % 7));
  };
  ProgramResult result = runProgram(harness, {"race", "--op", "rms_norm", "--shapes", "15", "--device", "hip:0",
                                              "--rounds", "20", "--json", json.c_str(), first.c_str(), second.c_str()});
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_NE(result.out.find("measured"), std::string::npos);
  EXPECT_NE(result.out.find("ranks decided"), std::string::npos) << result.out;
  // The last forty launches are twenty rounds of both.
  llvm::ArrayRef<uint64_t> rounds = llvm::ArrayRef(log).take_back(40);
  unsigned leads = 0;
  for (size_t round = 0; round < 20; ++round) {
    EXPECT_NE(rounds[2 * round], rounds[2 * round + 1]);
    leads += rounds[2 * round] == rounds[0];
  }
  EXPECT_EQ(leads, 10u);
  llvm::json::Value tree = llvm::cantFail(llvm::json::parse(json.read()));
  const llvm::json::Object &object = *tree.getAsObject();
  EXPECT_EQ(object.getString("schema"), llvm::StringRef("atrex-mlir/bench-race/1"));
  EXPECT_EQ(object.getString("time_kind"), llvm::StringRef("measured"));

  // Wrong results of the timed launches end the race of the shape: alone each
  // candidate is right.
  size_t last = log.size(), launches = 0;
  harness.onKernarg = [&](uint64_t) {
    harness.device->launchSeconds = 20e-3;
    harness.fault = ++launches + 20 > last ? Fault::WrongValue : Fault::None;
  };
  result = runProgram(harness, {"race", "--op", "rms_norm", "--shapes", "15", "--device", "hip:0", "--rounds", "20",
                                first.c_str(), second.c_str()});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.out.find("outputs of its last timed launch fail the strict verdict"), std::string::npos)
      << result.out;
}

TEST(Program, UsageAndInputFaults) {
  Harness harness;
  auto check = [&](std::vector<const char *> arguments, int code, const char *text) {
    ProgramResult result = runProgram(harness, arguments);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  };
  check({}, 2, "usage:");
  check({"reports"}, 2, "unknown command 'reports'; did you mean 'report'?");
  check({"run"}, 2, "exactly one of");
  check({"run", "--op", "rms_nrm"}, 1, "did you mean 'rms_norm'?");
  check({"run", "--op", "rms_norm", "--shapes", "56"}, 1, "has no shape 56; its ids go from 0 to 55");
  check({"run", "--op", "rms_norm", "--shapes", "3-1"}, 1, "runs backwards");
  check({"run", "--op", "rms_norm", "--shapes", "1,,2"}, 1, "neither an id nor a range");
  check({"run", "--op", "rms_norm", "--chip", "X"}, 1, "unknown chip 'X'");
  check({"run", "--op", "rms_norm", "--json", "/nonexistent/r.json"}, 1, "cannot write '/nonexistent/r.json'");
  check({"run", "--op", "rms_norm", "--budget", "x"}, 2, "--budget 'x' must be an integer");
  check({"run", "--op", "rms_norm", "--op", "rms_norm"}, 2, "given twice");
  check({"run", "--op"}, 2, "needs a value");
  check({"run", "--case", "/nonexistent"}, 1, "cannot read '/nonexistent/case.json'");
  check({"score", "/dev/null"}, 1, "/dev/null");
}
