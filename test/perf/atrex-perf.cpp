//===- atrex-perf.cpp - Benchmarks with stored ratios ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Machines differ and are noisy, so a time alone proves nothing. Every benchmark
// is divided by a reference that is measured in the same run (hashing 8 MiB),
// and the ratio is compared with the stored one.
//
//   atrex-perf                    run and print
//   atrex-perf --check FILE       fail when a ratio is worse than stored
//   atrex-perf --update FILE      store the ratios of this run
//
//===----------------------------------------------------------------------===//

#include "atrex/Analysis/LDSBanks.h"
#include "atrex/Analysis/StaticReport.h"
#include "atrex/Bench/Catalogue.h"
#include "atrex/Bench/Operator.h"
#include "atrex/Bench/Verdict.h"
#include "atrex/Device/Device.h"
#include "atrex/Device/Sim/MatrixRunner.h"
#include "atrex/Driver/Cache.h"
#include "atrex/Driver/Compile.h"
#include "atrex/Frontend/Frontend.h"
#include "atrex/Runtime/Manifest.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <benchmark/benchmark.h>

using namespace llvm;
using namespace atrex;

namespace {

/// A ratio may exceed the stored one by this factor before it counts as worse.
constexpr double tolerance = 1.5;

std::unique_ptr<MemoryBuffer> readKernel(StringRef name) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile((StringRef(ATREX_SOURCE_DIR) + "/bench/kernels/" + name + ".atx").str());
  if (!buffer)
    report_fatal_error("cannot read kernel " + name);
  return std::move(*buffer);
}

CompileResult compileOrDie(MemoryBufferRef source, EmitKind emit) {
  CompileOptions options;
  options.dims["H"] = 1152;
  options.emit = emit;
  std::optional<CompileResult> result = compile(source, options, errs());
  if (!result)
    report_fatal_error("rms_norm does not compile");
  return std::move(*result);
}

void reference(benchmark::State &state) {
  std::vector<uint8_t> data(8 << 20);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = uint8_t(i * 2654435761u >> 13);
  for (auto _ : state) {
    SHA256 sha;
    sha.update(data);
    benchmark::DoNotOptimize(sha.final());
  }
}

void sourceToOperatorForm(benchmark::State &state) {
  std::unique_ptr<MemoryBuffer> source = readKernel("rms_norm");
  for (auto _ : state)
    benchmark::DoNotOptimize(compileOrDie(source->getMemBufferRef(), EmitKind::MLIR));
}

void sourceToCodeObject(benchmark::State &state) {
  std::unique_ptr<MemoryBuffer> source = readKernel("rms_norm");
  for (auto _ : state)
    benchmark::DoNotOptimize(compileOrDie(source->getMemBufferRef(), EmitKind::Hsaco));
}

/// The 256 x 256 x 64 tile of a matrix product, written in the atx dialect.
void lowerGemm(benchmark::State &state, EmitKind kind, const char *schedule) {
  std::string path = ATREX_SOURCE_DIR "/test/CodeGen/atx/gemm-256x256x64.mlir";
  ErrorOr<std::unique_ptr<MemoryBuffer>> source = MemoryBuffer::getFile(path);
  if (!source) {
    errs() << "atrex-perf: cannot read '" << path << "'\n";
    exit(1);
  }
  CompileOptions options;
  options.emit = kind;
  options.schedule = schedule;
  options.needManifest = false;
  for (auto _ : state)
    if (!compile((*source)->getMemBufferRef(), options, errs()))
      exit(1);
}

void gemmToLowered(benchmark::State &state) {
  lowerGemm(state, EmitKind::LLVM, "builtin.module(gpu.module(atx-lower),canonicalize,cse)");
}

void gemmToCodeObject(benchmark::State &state) { lowerGemm(state, EmitKind::Hsaco, ""); }

/// What a cache leaves to do.
enum class Cached { Nothing, IR, Object };

/// Compiling a kernel language source. Without the module in a cache, with it (a
/// change of backend options), and with the code (a repetition).
void compileKernel(benchmark::State &state, StringRef name, CompileOptions options, Cached cached) {
  std::string path = (ATREX_SOURCE_DIR "/test/perf/Inputs/" + name + ".atx").str();
  ErrorOr<std::unique_ptr<MemoryBuffer>> source = MemoryBuffer::getFile(path);
  if (!source) {
    errs() << "atrex-perf: cannot read '" << path << "'\n";
    exit(1);
  }
  SmallString<128> directory;
  std::unique_ptr<CompileCache> cache;
  if (cached != Cached::Nothing) {
    if (std::error_code ec = sys::fs::createUniqueDirectory("atrex-perf", directory)) {
      errs() << "atrex-perf: cannot create a directory: " << ec.message() << "\n";
      exit(1);
    }
    cache = cantFail(CompileCache::open(directory));
    options.cache = cache.get();
  }
  auto run = [&] {
    if (!compile((*source)->getMemBufferRef(), options, errs()))
      exit(1);
  };
  if (cache)
    run();
  SmallString<128> objects(directory);
  sys::path::append(objects, "object");
  for (auto _ : state) {
    if (cached == Cached::IR) {
      state.PauseTiming();
      sys::fs::remove_directories(objects);
      sys::fs::create_directory(objects);
      state.ResumeTiming();
    }
    run();
  }
  if (cache)
    sys::fs::remove_directories(directory);
}

CompileOptions getGemmOptions() {
  CompileOptions options;
  options.dims["M"] = options.dims["N"] = options.dims["K"] = 4096;
  options.knobs["BK"] = "32";
  return options;
}

CompileOptions getAttentionOptions() {
  CompileOptions options;
  options.dims["H"] = 32;
  options.dims["D"] = 128;
  return options;
}

/// The static report of a code object.
void reportOn(benchmark::State &state, StringRef path, const CompileOptions &options) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> source = MemoryBuffer::getFile((ATREX_SOURCE_DIR + path).str());
  if (!source) {
    errs() << "atrex-perf: cannot read '" << path << "'\n";
    exit(1);
  }
  std::optional<CompileResult> code = compile((*source)->getMemBufferRef(), options, errs());
  if (!code)
    exit(1);
  for (auto _ : state)
    benchmark::DoNotOptimize(cantFail(
        analyzeCodeObject(MemoryBufferRef(code->output, "code object"), code->manifest, *lookupChip("gfx942"))));
}

void reportGemm(benchmark::State &state) {
  CompileOptions options;
  options.needManifest = false;
  reportOn(state, "/test/CodeGen/atx/gemm-256x256x64.mlir", options);
}

void reportAttention(benchmark::State &state) {
  CompileOptions options;
  options.dims["D"] = 128;
  reportOn(state, "/bench/kernels/attention_forward.atx", options);
}

/// A tile of 128 rows of 128 bytes: 16 writes, 16 reads of rows, 8 of columns.
void solveLDS(benchmark::State &state) {
  layout::Fault fault;
  LDSTile tile = *makeLDSTile(128, 128, fault);
  auto access = [&](bool isWrite, unsigned bytes, layout::IntTuple shape, layout::IntTuple stride) {
    return *makeLDSAccess("access", isWrite, bytes, layout::Map(layout::Layout(shape, stride)), fault);
  };
  using layout::IntTuple;
  std::vector<LDSAccess> accesses{
      access(true, 16, IntTuple::tuple({8, 128}), IntTuple::tuple({16, 128})),
      access(false, 16, IntTuple::tuple({16, 4, 2, 8}), IntTuple::tuple({128, 16, 64, 2048})),
      access(false, 8, IntTuple::tuple({64, 8}), IntTuple::tuple({128, 8})),
  };
  for (auto _ : state)
    benchmark::DoNotOptimize(
        solveLDSConflicts(*lookupChip("gfx942"), tile, accesses, LDSUnknown::Refuse, fault).value());
}

/// rms_norm of 2048 x 1152 on one host thread.
void executeRmsNormWith(benchmark::State &state, uint32_t checks, std::optional<uint64_t> shuffle) {
  std::unique_ptr<MemoryBuffer> source = readKernel("rms_norm");
  CompileResult code = compileOrDie(source->getMemBufferRef(), EmitKind::Hsaco);
  std::unique_ptr<device::Device> dev = cantFail(device::createSimDevice({"gfx942", 1}));
  std::unique_ptr<device::Module> module = cantFail(dev->load(MemoryBufferRef(code.output, "rms_norm")));
  const ManifestKernel &kernel = code.manifest.kernels.front();
  LaunchArguments arguments;
  arguments.dims["T"] = 2048;
  for (const ManifestArg &arg : kernel.args)
    arguments.tensors.push_back(arg.kind == ManifestArg::Kind::Tensor ? cantFail(dev->allocate(2048 * 1152 * 2)) : 0);
  std::vector<uint8_t> kernarg = cantFail(packArguments(code.manifest, kernel, arguments));
  device::LaunchConfig config;
  config.grid = cantFail(evaluateGrid(kernel, cantFail(resolveDims(code.manifest, arguments.dims))));
  config.workgroup = kernel.workgroup;
  config.kernarg = kernarg;
  config.checks = checks;
  config.shuffle = shuffle;
  uint64_t instructions = 0;
  for (auto _ : state) {
    device::LaunchResult result = cantFail(dev->launch(*module->lookup(kernel.name), config));
    instructions += result.stats.totalInstructions();
  }
  state.counters["wave_instructions"] = benchmark::Counter(double(instructions), benchmark::Counter::kIsRate);
}

/// A loop around one matrix instruction on one host thread; operands uniform in
/// [-1, 1] (8-bit formats: whatever the same bits mean).
/// With `wide`, bfloats from 2^-63 on, whose products leave the range in which the
/// exact arithmetic takes its shortest way.
void executeMatrix(benchmark::State &state, StringRef mnemonic, StringRef arch, device::MatrixArithmetic arithmetic,
                   bool wide = false) {
  device::MatrixForm form;
  form.inst = lookupMatrixInstruction(mnemonic);
  form.arch = arch.str();
  form.arithmetic = arithmetic;
  form.repeat = 20001;
  std::unique_ptr<device::MatrixRunner> runner = cantFail(device::MatrixRunner::create(form));
  std::vector<device::MatrixRegisters> waves(1);
  uint32_t seed = 1;
  auto next = [&] { return (seed = seed * 1664525 + 1013904223) >> 8; };
  // Two halves or bfloats of magnitude 2^-3 to 1.
  uint32_t exponent = form.inst->a == MatrixType::BF16 ? 0x3e00 : 0x3000, mask = 0x81ff;
  if (form.inst->a == MatrixType::FP8 || form.inst->isF8F6F4()) {
    exponent = 0x3030;
    mask = 0x8787;
  }
  if (wide) {
    exponent = 0x2000;
    mask = 0x9fff;
  }
  auto pair = [&] { return (exponent + (next() & mask)) | (exponent + (next() & mask)) << 16; };
  for (auto *rows : {&waves[0].a, &waves[0].b})
    for (auto &row : *rows)
      for (uint32_t &x : row)
        x = pair();
  waves[0].scaleA.fill(0x7f);
  waves[0].scaleB.fill(0x7f);
  uint64_t instructions = 0;
  for (auto _ : state) {
    cantFail(runner->run(waves));
    instructions += form.repeat;
  }
  state.counters["flops"] =
      benchmark::Counter(double(instructions) * double(form.inst->getFlops()), benchmark::Counter::kIsRate);
}
void exact16x16x16F16(benchmark::State &state) {
  executeMatrix(state, "v_mfma_f32_16x16x16_f16", "gfx942", device::MatrixArithmetic::Exact);
}
void exact32x32x8BF16(benchmark::State &state) {
  executeMatrix(state, "v_mfma_f32_32x32x8_bf16", "gfx942", device::MatrixArithmetic::Exact);
}
void exactWide32x32x8BF16(benchmark::State &state) {
  executeMatrix(state, "v_mfma_f32_32x32x8_bf16", "gfx942", device::MatrixArithmetic::Exact, true);
}
void exact32x32x16FP8(benchmark::State &state) {
  executeMatrix(state, "v_mfma_f32_32x32x16_fp8_fp8", "gfx942", device::MatrixArithmetic::Exact);
}
void exactScaled16x16x128(benchmark::State &state) {
  executeMatrix(state, "v_mfma_scale_f32_16x16x128_f8f6f4", "gfx950", device::MatrixArithmetic::Exact);
}
void fast16x16x16F16(benchmark::State &state) {
  executeMatrix(state, "v_mfma_f32_16x16x16_f16", "gfx942", device::MatrixArithmetic::Fast);
}
void fast32x32x8BF16(benchmark::State &state) {
  executeMatrix(state, "v_mfma_f32_32x32x8_bf16", "gfx942", device::MatrixArithmetic::Fast);
}
void fast16x16x32F16(benchmark::State &state) {
  executeMatrix(state, "v_mfma_f32_16x16x32_f16", "gfx950", device::MatrixArithmetic::Fast);
}
void fastScaled16x16x128(benchmark::State &state) {
  executeMatrix(state, "v_mfma_scale_f32_16x16x128_f8f6f4", "gfx950", device::MatrixArithmetic::Fast);
}
void executeRmsNorm(benchmark::State &state) { executeRmsNormWith(state, 0, std::nullopt); }
void checkRmsNorm(benchmark::State &state) { executeRmsNormWith(state, device::CheckAll, std::nullopt); }
void shuffleRmsNorm(benchmark::State &state) { executeRmsNormWith(state, 0, 1); }

/// One operator of the bench at parameters of its own, published inputs.
struct BenchCase {
  const bench::Operator *op = nullptr;
  bench::Instance instance;
  std::vector<std::vector<uint8_t>> inputs, outputs;

  BenchCase(const char *name, const char *params) {
    bench::setReferenceThreads(1);
    bench::Catalogue catalogue = cantFail(bench::Catalogue::load());
    op = bench::lookupOperator(name);
    json::Value object = cantFail(json::parse(params));
    instance = cantFail(op->instantiate(cantFail(catalogue.lookup(name))->makeParams(*object.getAsObject())));
    for (const bench::TensorSpec &spec : instance.inputs)
      inputs.emplace_back(spec.getBytes());
    for (const bench::TensorSpec &spec : instance.outputs)
      outputs.emplace_back(spec.getBytes());
    draw();
  }
  void draw() {
    for (auto [i, spec] : enumerate(instance.inputs))
      op->generate(instance, unsigned(i), bench::InputVariant::Published, 1, 0, spec.getRows(), inputs[i].data());
  }
  void compute() {
    std::vector<const void *> in;
    std::vector<void *> out;
    for (std::vector<uint8_t> &data : inputs)
      in.push_back(data.data());
    for (std::vector<uint8_t> &data : outputs)
      out.push_back(data.data());
    op->compute(instance, in, instance.rows, out);
  }
};

struct BenchReference {
  const char *op, *params;
};
/// References of every kind: rows, attention, products, experts, recurrences,
/// quantisers, selection, sorting.
constexpr BenchReference benchReferences[] = {
    {"rms_norm", R"({"token_count": 64, "hidden_size": 4096})"},
    {"attention_forward", R"({"seq_lens": [300], "num_heads": 4, "head_dim": 72})"},
    {"paged_attention_decode",
     R"({"num_seqs": 4, "ctx_len": 512, "num_query_heads": 8, "num_kv_heads": 2, "head_size": 128})"},
    {"block_scaled_mm", R"({"m": 64, "n": 512, "k": 1024, "group_n": 128, "group_k": 128})"},
    {"fused_moe", R"({"token_count": 32, "hidden_size": 512, "intermediate_size": 256, "num_experts": 8, "top_k": 2})"},
    {"gated_delta_rule_update", R"({"token_count": 64, "num_q_heads": 2, "num_v_heads": 4, "state_count": 2})"},
    {"per_token_group_quant_fp8", R"({"token_count": 64, "hidden_size": 4096, "group_size": 128})"},
    {"topk_filter", R"({"seq_len": 8, "hidden_size": 16384})"},
    {"moe_align_block_size", R"({"token_count": 4096, "top_k": 8, "num_experts": 128, "block_size": 64})"},
};

void benchDraw(benchmark::State &state) {
  BenchCase one("rms_norm", benchReferences[0].params);
  for (auto _ : state)
    one.draw();
}

void benchJudge(benchmark::State &state) {
  BenchCase one("rms_norm", benchReferences[0].params);
  one.compute();
  const bench::TensorSpec &spec = one.instance.outputs.front();
  bench::Rule rule = *bench::getStrictRule("rms_norm", spec.name);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        bench::judgeTensor(rule, spec.type, spec.shape, one.outputs[0].data(), one.outputs[0].data()));
}

/// Parsing, checking and lowering of one kernel of the bench at the first shape of
/// the catalogue, in a context that has its dialects.
class FrontEndRun {
public:
  explicit FrontEndRun(StringRef op) : source(readKernel(op)) {
    static const bench::Catalogue catalogue = cantFail(bench::Catalogue::load());
    const bench::CatalogueOperator *entry = cantFail(catalogue.lookup(op));
    bench::Instance instance = cantFail(bench::lookupOperator(op)->instantiate(entry->shapes.front().params));
    options.op = op.str();
    StringRef text = source->getBuffer();
    for (const auto &[name, value] : instance.modelDims)
      if (!is_contained(instance.optionalDims, name) || mentions(text, name))
        options.dims[name] = value;
    if (mentions(text, "DTYPE"))
      options.knobs["DTYPE"] = atrex::getName(instance.inputs.front().type).str();
    isFine = bool(import());
  }

  mlir::OwningOpRef<mlir::ModuleOp> import() {
    SourceMgr sourceMgr;
    sourceMgr.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(source->getMemBufferRef()), SMLoc());
    message.clear();
    mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && message.empty())
        message = diagnostic.str();
      return mlir::success();
    });
    return frontend::importAtx(sourceMgr, context, options);
  }

  bool isFine = true;
  /// The first error.
  std::string message;

private:
  /// Whether `word` stands in `text` as a word.
  static bool mentions(StringRef text, StringRef word) {
    auto isLetter = [](char c) { return isAlnum(c) || c == '_'; };
    for (size_t at = text.find(word); at != StringRef::npos; at = text.find(word, at + 1))
      if ((at == 0 || !isLetter(text[at - 1])) &&
          (at + word.size() == text.size() || !isLetter(text[at + word.size()])))
        return true;
    return false;
  }

  std::unique_ptr<MemoryBuffer> source;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  frontend::FrontendOptions options;
};

/// Names of the bench's kernels.
std::vector<std::string> listKernels() {
  std::vector<std::string> names;
  std::error_code error;
  for (sys::fs::directory_iterator file(StringRef(ATREX_SOURCE_DIR) + "/bench/kernels", error), end;
       file != end && !error; file.increment(error))
    if (StringRef(file->path()).ends_with(".atx"))
      names.push_back(sys::path::stem(file->path()).str());
  sort(names);
  return names;
}

/// Keeps the median CPU time of every benchmark.
class MedianReporter : public benchmark::ConsoleReporter {
public:
  MedianReporter() : ConsoleReporter(OO_Tabular) {}
  void ReportRuns(const std::vector<Run> &runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run &run : runs)
      if (run.aggregate_name == "median")
        medians[run.run_name.function_name] = run.GetAdjustedCPUTime();
  }
  std::map<std::string, double> medians;
};

} // namespace

int main(int argc, char **argv) {
  std::string checkFile, updateFile;
  std::vector<char *> rest = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    StringRef arg = argv[i];
    if ((arg == "--check" || arg == "--update") && i + 1 < argc)
      (arg == "--check" ? checkFile : updateFile) = argv[++i];
    else
      rest.push_back(argv[i]);
  }
  int count = int(rest.size());
  for (auto [name, function] : std::initializer_list<std::pair<const char *, void (*)(benchmark::State &)>>{
           {"reference", reference},
           {"source_to_operator_form", sourceToOperatorForm},
           {"source_to_code_object", sourceToCodeObject},
           {"execute_rms_norm", executeRmsNorm},
           {"solve_lds", solveLDS},
           {"gemm_256_lowered", gemmToLowered},
           {"gemm_256_to_code_object", gemmToCodeObject},
           {"report_attention", reportAttention},
           {"report_gemm_256", reportGemm},
           {"mfma_exact_16x16x16_f16", exact16x16x16F16},
           {"mfma_exact_32x32x8_bf16", exact32x32x8BF16},
           {"mfma_exact_wide_32x32x8_bf16", exactWide32x32x8BF16},
           {"mfma_exact_32x32x16_fp8", exact32x32x16FP8},
           {"mfma_exact_scaled_16x16x128", exactScaled16x16x128},
           {"mfma_fast_16x16x16_f16", fast16x16x16F16},
           {"mfma_fast_32x32x8_bf16", fast32x32x8BF16},
           {"mfma_fast_16x16x32_f16", fast16x16x32F16},
           {"mfma_fast_scaled_16x16x128", fastScaled16x16x128},
           {"execute_rms_norm_check_all", checkRmsNorm},
           {"execute_rms_norm_shuffle", shuffleRmsNorm}})
    benchmark::RegisterBenchmark(name, function)
        ->Unit(benchmark::kMillisecond)
        ->MinTime(0.3)
        ->Repetitions(5)
        ->ReportAggregatesOnly();
  auto add = [](const std::string &name, std::function<void(benchmark::State &)> function) {
    benchmark::RegisterBenchmark(name.c_str(), std::move(function))
        ->Unit(benchmark::kMillisecond)
        ->MinTime(0.3)
        ->Repetitions(5)
        ->ReportAggregatesOnly();
  };
  for (const BenchReference &row : benchReferences)
    add(std::string("bench_reference_") + row.op, [row](benchmark::State &state) {
      BenchCase one(row.op, row.params);
      for (auto _ : state)
        one.compute();
    });
  for (const std::string &op : listKernels())
    benchmark::RegisterBenchmark(("front_end_" + op).c_str(),
                                 [op](benchmark::State &state) {
                                   FrontEndRun run(op);
                                   if (!run.isFine)
                                     state.SkipWithError(run.message.c_str());
                                   for (auto _ : state)
                                     benchmark::DoNotOptimize(run.import());
                                 })
        ->Unit(benchmark::kMillisecond)
        ->MinTime(0.05)
        ->Repetitions(5)
        ->ReportAggregatesOnly();
  for (auto [suffix, cached] : {std::pair("", Cached::Nothing), std::pair("_cached_ir", Cached::IR),
                                std::pair("_cached_object", Cached::Object)}) {
    add("compile_gemm_256" + std::string(suffix),
        [cached = cached](benchmark::State &state) { compileKernel(state, "gemm", getGemmOptions(), cached); });
    add("compile_attention" + std::string(suffix), [cached = cached](benchmark::State &state) {
      compileKernel(state, "attention", getAttentionOptions(), cached);
    });
  }
  add("bench_draw", benchDraw);
  add("bench_judge", benchJudge);
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data()))
    return 2;
  MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);

  double base = reporter.medians["reference"];
  if (base <= 0) {
    errs() << "atrex-perf: the reference was not measured\n";
    return 1;
  }
  json::Object ratios;
  for (const auto &[name, time] : reporter.medians)
    if (name != "reference")
      ratios[name] = time / base;
  if (!updateFile.empty()) {
    std::string text;
    raw_string_ostream(text) << formatv("{0:2}\n", json::Value(std::move(ratios)));
    if (Error error = writeFile(updateFile, text)) {
      errs() << "atrex-perf: " << toString(std::move(error)) << "\n";
      return 1;
    }
    return 0;
  }
  json::Object stored;
  if (!checkFile.empty()) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(checkFile);
    if (!buffer) {
      errs() << "atrex-perf: cannot read '" << checkFile << "': " << buffer.getError().message() << "\n";
      return 1;
    }
    Expected<json::Value> value = json::parse((*buffer)->getBuffer());
    if (!value || !value->getAsObject()) {
      errs() << "atrex-perf: '" << checkFile << "' does not hold a JSON object of ratios\n";
      consumeError(value.takeError());
      return 1;
    }
    stored = std::move(*value->getAsObject());
  }
  bool worse = false;
  outs() << "\nratio to the reference of this run (stored)\n";
  for (const auto &[name, ratio] : ratios) {
    double now = *ratio.getAsNumber();
    outs() << formatv("  {0,-40} {1,8:f3}", StringRef(name), now);
    if (std::optional<double> before = stored.getNumber(name)) {
      bool bad = now > *before * tolerance;
      worse |= bad;
      outs() << formatv(" ({0:f3}){1}", *before, bad ? "  worse" : "");
    }
    outs() << "\n";
  }
  return worse ? 1 : 0;
}
