//===- atx-verify-resources.cpp - Whether a schedule can fit --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exit status: 0 fits, 1 exceeds or an error, 2 usage, 3 close.
//
//===----------------------------------------------------------------------===//

#include "atrex/Analysis/Resources.h"
#include "atrex/Analysis/StaticReport.h"
#include "atrex/Driver/CommandLine.h"
#include "atrex/Driver/Compile.h"
#include "atrex/Frontend/Frontend.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Target/TargetChip.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <chrono>
#include <random>

using namespace llvm;
using namespace atrex;

namespace {

cl::OptionCategory category("atx-verify-resources options");
cl::opt<std::string> inputName(cl::Positional, cl::desc("<kernel.atx or kernel.mlir>"), cl::cat(category));
cl::opt<std::string> arch("arch", cl::desc("Architecture or chip"), cl::init("gfx942"), cl::cat(category));
cl::list<std::string> dims("dim", cl::desc("Make a dimension a compile-time constant"), cl::value_desc("NAME=V,..."),
                           cl::CommaSeparated, cl::cat(category));
cl::list<std::string> knobs("knob", cl::desc("Set a knob of the kernel"), cl::value_desc("NAME=V"), cl::CommaSeparated,
                            cl::cat(category));
cl::list<std::string> scheduleSettings("set", cl::desc("Set an option of the schedule"),
                                       cl::value_desc("PASS.OPTION=VALUE"), cl::cat(category));
cl::opt<std::string> scheduleName("schedule", cl::desc("Schedule file; default is the built-in schedule"),
                                  cl::value_desc("file"), cl::cat(category));
cl::opt<std::string> opName("op", cl::desc("Kernel to check when the source has several"), cl::value_desc("name"),
                            cl::cat(category));
cl::opt<bool> asJSON("json", cl::desc("Write JSON"), cl::cat(category));
cl::opt<unsigned> repeat("median-of", cl::desc("Check so many times and print the median time"), cl::value_desc("N"),
                         cl::init(0), cl::cat(category));
cl::opt<unsigned> randomCount("random-schedules",
                              cl::desc("Compare with compiling, for random schedules of the kernel, or of a product"),
                              cl::value_desc("COUNT"), cl::init(0), cl::cat(category));
cl::opt<unsigned> seed("seed", cl::desc("With --random-schedules: seed"), cl::init(1), cl::cat(category));

int usageError(const Twine &message) {
  WithColor::error(errs(), "atx-verify-resources") << message << "\n";
  return 2;
}
int fail(Error error) {
  WithColor::error(errs(), "atx-verify-resources") << toString(std::move(error)) << "\n";
  return 1;
}

/// "file:line:column: " of a location, or nothing.
std::string describe(mlir::Location location) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>())
    return formatv("{0}:{1}:{2}: ", file.getFilename().getValue(), file.getLine(), file.getColumn()).str();
  return "";
}

json::Value toJSON(const KernelResourceReport &report) {
  json::Array findings;
  for (const ResourceFinding &f : report.findings)
    findings.push_back(json::Object{{"resource", f.resource.str()},
                                    {"verdict", getName(f.verdict).str()},
                                    {"tile", f.tile},
                                    {"location", StringRef(describe(f.location)).rtrim(": ").str()},
                                    {"needed", f.needed},
                                    {"available", f.available},
                                    {"excess", std::max<int64_t>(0, f.needed - f.available)},
                                    {"message", f.message}});
  return json::Object{{"name", report.name},
                      {"verdict", getName(report.getVerdict()).str()},
                      {"threads", report.threads},
                      {"registers", report.registers},
                      {"register_limit", report.registerLimit},
                      {"lds", report.lds},
                      {"lds_limit", report.ldsLimit},
                      {"workspace_bytes", report.workspace},
                      {"findings", std::move(findings)}};
}

void print(const KernelResourceReport &report) {
  for (const ResourceFinding &f : report.findings)
    outs() << describe(f.location) << (f.verdict == ResourceVerdict::Exceeds ? "error: " : "remark: ") << f.message
           << " [" << f.resource << "]\n";
  outs() << formatv("kernel '{0}' {1}: {2} work-items, {3} of {4} registers, {5} of {6} bytes of LDS\n", report.name,
                    getName(report.getVerdict()), report.threads, report.registers, report.registerLimit, report.lds,
                    report.ldsLimit);
  if (!report.workspace.empty())
    outs() << "  with a workspace of " << report.workspace << " bytes\n";
}

/// The product that random schedules are drawn for.
constexpr StringLiteral productSource = R"(kernel gemm(a: bf16[M, K], b: bf16[N, K]) -> (c: bf16[M, N])
  knobs TH in {64, 128, 256, 512, 1024}, BM in {16, 32, 64, 128, 256}, BN in {16, 32, 64, 128, 256},
        BK in {16, 32, 64, 128}
  threads TH
  grid (cdiv(M, BM), cdiv(N, BN))
{
  let (pm, pn) = block_id()
  var acc = fill(f32[BM, BN], 0.0)
  for k in range(0, K, BK) {
    let x = load(a[pm * BM : pm * BM + BM, k : k + BK])
    let y = load(b[pn * BN : pn * BN + BN, k : k + BK])
    acc += einsum("mk,nk->mn", x, y)
  }
  store(c[pm * BM : pm * BM + BM, pn * BN : pn * BN + BN], bf16(acc))
}
)";

struct Checked {
  std::vector<KernelResourceReport> reports;
  /// Seconds of the check alone.
  double seconds = 0;
};

/// Imports a source and checks its kernels; nullopt after diagnostics.
std::optional<Checked> check(MemoryBufferRef source, const frontend::FrontendOptions &options, const ChipInfo &chip,
                             const ResourceOptions &resources, unsigned times, mlir::MLIRContext &context,
                             bool isQuiet = false) {
  SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(source.getBuffer(), source.getBufferIdentifier()),
                               SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sourceMgr, &context, isQuiet ? nulls() : errs());
  mlir::OwningOpRef<mlir::ModuleOp> module = source.getBufferIdentifier().ends_with(".mlir")
                                                 ? mlir::parseSourceFile<mlir::ModuleOp>(sourceMgr, &context)
                                                 : frontend::importAtx(sourceMgr, context, options);
  if (!module)
    return std::nullopt;
  Checked result;
  std::vector<double> seconds;
  for (unsigned k = 0; k < std::max(1u, times); ++k) {
    // Each check begins with what the front end left.
    mlir::OwningOpRef<mlir::ModuleOp> copy = module->clone();
    auto start = std::chrono::steady_clock::now();
    if (failed(divideSums(*copy, chip, resources)))
      return std::nullopt;
    result.reports = checkResources(*copy, chip, resources);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  llvm::sort(seconds);
  result.seconds = seconds[seconds.size() / 2];
  return result;
}

/// What random schedules are drawn from: the kernel's knobs and the options of the passes.
struct Space {
  /// Names and values.
  std::vector<std::pair<std::string, std::vector<std::string>>> knobs, options;
};

std::optional<Space> readSpace(MemoryBufferRef source, const CompileOptions &options) {
  std::optional<std::string> text = describeSpace(source, options, errs());
  if (!text)
    return std::nullopt;
  Expected<json::Value> value = json::parse(*text);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  Space space;
  auto read = [](const json::Object &object) {
    std::vector<std::string> values;
    if (const json::Array *domain = object.getArray("domain"))
      for (const json::Value &element : *domain) {
        if (std::optional<StringRef> word = element.getAsString())
          values.push_back(word->str());
        else
          values.push_back(std::to_string(element.getAsInteger().value_or(0)));
      }
    return values;
  };
  const json::Object *root = value->getAsObject();
  if (const json::Array *array = root ? root->getArray("knobs") : nullptr)
    for (const json::Value &element : *array)
      if (const json::Object *knob = element.getAsObject())
        space.knobs.push_back({knob->getString("name").value_or("").str(), read(*knob)});
  if (const json::Array *array = root ? root->getArray("pass_options") : nullptr)
    for (const json::Value &element : *array)
      if (const json::Object *option = element.getAsObject()) {
        StringRef pass = option->getString("pass").value_or(""), name = option->getString("option").value_or("");
        // Plans of several kernels are compared by their own tests.
        if (pass != "atx-stream-k")
          space.options.push_back({(pass + "." + name).str(), read(*option)});
      }
  return space;
}

/// Draws schedules of a kernel and compares the answers with what compiling makes of them.
int compareRandom(MemoryBufferRef source, CompileOptions options, const ChipInfo &chip, unsigned count, unsigned first,
                  mlir::MLIRContext &context) {
  std::optional<Space> space = readSpace(source, options);
  if (!space)
    return 1;
  std::mt19937 random(first);
  const std::map<std::string, std::string> fixed = options.knobs;
  const std::string schedule = options.schedule.empty() ? getDefaultSchedule(chip.arch) : options.schedule;
  options.scheduleName = "<drawn>";
  unsigned verdicts[3] = {}, wrong[2] = {};
  for (unsigned k = 0, refused = 0; k < count;) {
    std::string drawn;
    options.knobs = fixed;
    for (const auto &[name, values] : space->knobs)
      if (!values.empty() && !fixed.count(name)) {
        options.knobs[name] = values[random() % values.size()];
        drawn += " --knob " + name + "=" + options.knobs[name];
      }
    options.schedule = schedule;
    for (const auto &[name, values] : space->options) {
      std::string setting = name + "=" + values[random() % values.size()];
      if (Error error = setScheduleOption(options.schedule, setting))
        return fail(std::move(error));
      drawn += " --set " + setting;
    }
    Expected<ResourceOptions> resources = readResourceOptions(options.schedule);
    if (!resources)
      return fail(resources.takeError());
    frontend::FrontendOptions frontendOptions;
    frontendOptions.dims = options.dims;
    frontendOptions.knobs = options.knobs;
    frontendOptions.op = options.op;
    std::optional<Checked> checked = check(source, frontendOptions, chip, *resources, 1, context, /*isQuiet=*/true);
    // What the kernel's own constraints exclude is no schedule.
    if (!checked) {
      if (++refused > 100 * count + 1000)
        return fail(createStringError(inconvertibleErrorCode(), "the kernel's constraints exclude what is drawn"));
      continue;
    }
    ++k;
    ResourceVerdict verdict = ResourceVerdict::Fits;
    for (const KernelResourceReport &report : checked->reports)
      verdict = std::max(verdict, report.getVerdict());
    ++verdicts[unsigned(verdict)];
    std::string diagnostics;
    raw_string_ostream os(diagnostics);
    std::optional<CompileResult> code = compile(source, options, os);
    std::string outcome = "does not compile";
    bool fits = false;
    json::Object facts;
    if (code) {
      Expected<StaticReport> report =
          analyzeCodeObject(MemoryBufferRef(code->output, "code object"), code->manifest, chip);
      if (!report)
        return fail(report.takeError());
      fits = true;
      outcome.clear();
      for (const KernelReport &kernel : report->kernels) {
        fits &= kernel.scratchBytes == 0;
        outcome += formatv("{0}{1} registers, {2} bytes of scratch, {3} of LDS", outcome.empty() ? "" : "; ",
                           kernel.vgprs, kernel.scratchBytes, kernel.ldsBytes);
        facts = json::Object{
            {"vgpr", kernel.vgprs}, {"scratch_bytes", kernel.scratchBytes}, {"lds_bytes", kernel.ldsBytes}};
      }
    }
    if (asJSON) {
      json::Array kernels;
      for (const KernelResourceReport &report : checked->reports)
        kernels.push_back(toJSON(report));
      outs() << json::Value(json::Object{{"drawn", drawn},
                                         {"verdict", getName(verdict).str()},
                                         {"compiled", std::move(facts)},
                                         {"diagnostics", diagnostics.substr(0, 300)},
                                         {"kernels", std::move(kernels)}})
             << "\n";
      outs().flush();
    }
    if (verdict == ResourceVerdict::Close || fits == (verdict == ResourceVerdict::Fits))
      continue;
    ++wrong[fits];
    if (asJSON)
      continue;
    outs() << "wrong:" << drawn << ": " << outcome << "\n";
    for (const KernelResourceReport &report : checked->reports)
      print(report);
    outs().flush();
  }
  outs() << formatv("{0} schedules: {1} fit, {2} exceed, {3} close; {4} that fit have scratch memory or do not "
                    "compile, {5} that exceed have none\n",
                    count, verdicts[0], verdicts[2], verdicts[1], wrong[0], wrong[1]);
  return wrong[0] + wrong[1] ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  if (!parseCommandLine(argc, argv, category, "Tells whether kernels fit a chip, without compiling them\n"))
    return 2;
  const ChipInfo *chip = lookupTarget(arch);
  if (!chip)
    return usageError(describeUnknownTarget(arch));
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  if (inputName.empty() && !randomCount)
    return usageError("no input file; see --help");
  if (randomCount && repeat)
    return usageError("--median-of times one check; give it without --random-schedules");
  frontend::FrontendOptions options;
  options.op = opName;
  if (Error error = parseDims(dims, "dim", options.dims))
    return usageError(toString(std::move(error)));
  if (Error error = parseKnobs(knobs, options.knobs))
    return usageError(toString(std::move(error)));
  auto read = []() -> Expected<std::unique_ptr<MemoryBuffer>> {
    if (inputName.empty())
      return MemoryBuffer::getMemBuffer(productSource, "product.atx");
    return readInput(inputName, maxTextBytes);
  };
  Expected<std::unique_ptr<MemoryBuffer>> source = read();
  if (!source)
    return fail(source.takeError());
  std::string usedName = scheduleName;
  Expected<std::string> schedule = readSchedule(usedName, scheduleSettings, chip->arch);
  if (!schedule)
    return fail(schedule.takeError());
  if (randomCount) {
    if (StringRef(inputName).ends_with(".mlir"))
      return usageError("--random-schedules draws knobs, which MLIR has not; give it a kernel language source");
    CompileOptions compileOptions;
    compileOptions.arch = chip->name.str();
    compileOptions.op = opName;
    compileOptions.dims = options.dims;
    if (inputName.empty() && options.dims.empty())
      compileOptions.dims["M"] = compileOptions.dims["N"] = compileOptions.dims["K"] = 4096;
    compileOptions.knobs = options.knobs;
    compileOptions.schedule = *schedule;
    return compareRandom((*source)->getMemBufferRef(), compileOptions, *chip, randomCount, seed, context);
  }
  Expected<ResourceOptions> resources =
      readResourceOptions(schedule->empty() ? getDefaultSchedule(chip->arch) : stripSchedule(*schedule));
  if (!resources)
    return fail(createStringError(inconvertibleErrorCode(),
                                  (usedName.empty() ? std::string("the built-in schedule") : usedName) + ": " +
                                      toString(resources.takeError())));
  std::optional<Checked> checked = check((*source)->getMemBufferRef(), options, *chip, *resources, repeat, context);
  if (!checked)
    return 1;
  ResourceVerdict verdict = ResourceVerdict::Fits;
  json::Array array;
  for (const KernelResourceReport &report : checked->reports) {
    verdict = std::max(verdict, report.getVerdict());
    if (asJSON)
      array.push_back(toJSON(report));
    else
      print(report);
  }
  if (asJSON)
    outs() << formatv("{0:2}", json::Value(json::Object{{"schema", "atrex-mlir/resources/1"},
                                                        {"arch", chip->arch.str()},
                                                        {"kernels", std::move(array)}}))
           << "\n";
  else if (checked->reports.empty())
    outs() << "no kernel on tiles: the compiler chooses the tiles of operators so that they fit\n";
  if (repeat)
    errs() << formatv("{0:f3} ms, median of {1}\n", checked->seconds * 1e3, repeat);
  return verdict == ResourceVerdict::Fits ? 0 : verdict == ResourceVerdict::Exceeds ? 1 : 3;
}
