//===- Compile.cpp - From source text to a code object ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Driver/Compile.h"
#include "Emit.h"
#include "atrex/Driver/Cache.h"
#include "atrex/Frontend/Diagnostics.h"
#include "atrex/Frontend/Format.h"
#include "atrex/Frontend/Frontend.h"
#include "atrex/Frontend/Printer.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Target/TargetChip.h"
#include "dialects/Atx/AtxDialect.h"
#include "lib/Transforms/Tile/LossRemarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace atrex;

namespace {

/// Keeps the text of the module as it stands behind a pass.
class StageRecorder : public PassInstrumentation {
public:
  StageRecorder(StringRef pass, std::string &text) : pass(pass), text(text) {}

  void runAfterPass(Pass *current, Operation *op) override {
    if (current->getArgument() != pass)
      return;
    while (Operation *parent = op->getParentOp())
      op = parent;
    text.clear();
    llvm::raw_string_ostream os(text);
    op->print(os);
    os << "\n";
  }

private:
  StringRef pass;
  std::string &text;
};

std::string hash(StringRef bytes) {
  llvm::SHA256 sha;
  sha.update(bytes);
  return llvm::toHex(sha.final(), /*LowerCase=*/true).substr(0, 16);
}

std::optional<DataType> getDataType(Type type) {
  if (type.isBF16())
    return DataType::BF16;
  if (type.isF16())
    return DataType::F16;
  if (type.isF32())
    return DataType::F32;
  if (type.isF64())
    return DataType::F64;
  if (isa<Float8E4M3FNType>(type))
    return DataType::E4M3FN;
  if (isa<Float8E4M3FNUZType>(type))
    return DataType::E4M3FNUZ;
  if (isa<Float8E5M2Type>(type))
    return DataType::E5M2;
  if (isa<Float8E5M2FNUZType>(type))
    return DataType::E5M2FNUZ;
  if (isa<Float4E2M1FNType>(type))
    return DataType::E2M1FN;
  if (isa<Float6E2M3FNType>(type))
    return DataType::E2M3FN;
  if (isa<Float6E3M2FNType>(type))
    return DataType::E3M2FN;
  if (type.isInteger(1))
    return DataType::I1;
  if (type.isInteger(8))
    return type.isUnsignedInteger() ? DataType::U8 : DataType::I8;
  if (type.isInteger(16))
    return DataType::I16;
  if (type.isInteger(32))
    return type.isUnsignedInteger() ? DataType::U32 : DataType::I32;
  if (type.isInteger(64))
    return DataType::I64;
  return std::nullopt;
}

/// Expressions in attributes of `op`.
FailureOr<DimExpr> parseExpr(Operation *op, Attribute attr) {
  auto text = dyn_cast_or_null<StringAttr>(attr);
  if (!text)
    return op->emitError() << "expected a dimension expression, got " << attr;
  llvm::Expected<DimExpr> expr = DimExpr::parse(text.getValue());
  if (!expr)
    return op->emitError() << "dimension expression '" << text.getValue() << "': " << llvm::toString(expr.takeError());
  return *expr;
}

/// Reads `lhs op rhs`.
LogicalResult parseConstraints(Operation *owner, ArrayAttr constraints, std::vector<ManifestConstraint> &result) {
  if (!constraints)
    return success();
  for (Attribute element : constraints) {
    auto string = dyn_cast<StringAttr>(element);
    if (!string)
      return owner->emitError() << "constraint " << element << " is not a comparison";
    llvm::Expected<ManifestConstraint> constraint = ManifestConstraint::parse(string.getValue());
    if (!constraint)
      return owner->emitError() << "constraint: " << llvm::toString(constraint.takeError());
    result.push_back(std::move(*constraint));
  }
  return success();
}

/// The default value of a scalar.
std::optional<double> getNumber(Attribute attr) {
  if (auto value = dyn_cast_or_null<FloatAttr>(attr))
    return value.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(attr))
    return number.getValue().signedRoundToDouble();
  return std::nullopt;
}

/// Values of knobs, and of parameters that are element types.
std::map<std::string, std::string> getKnobs(Operation *function) {
  std::map<std::string, std::string> knobs;
  if (auto values = function->getAttrOfType<DictionaryAttr>("atx.knobs"))
    for (NamedAttribute knob : values) {
      if (auto number = dyn_cast<IntegerAttr>(knob.getValue()))
        knobs[knob.getName().str()] = std::to_string(number.getInt());
      else if (auto text = dyn_cast<StringAttr>(knob.getValue()))
        knobs[knob.getName().str()] = text.str();
    }
  return knobs;
}

/// Reads one launchable kernel off the attributes that outlining left.
FailureOr<ManifestKernel> describeKernel(LLVM::LLVMFuncOp func, std::vector<std::string> &runtimeDims,
                                         std::vector<ManifestConstraint> &constraints) {
  auto args = func->getAttrOfType<ArrayAttr>(atx::kernelArgsAttrName);
  auto grid = func->getAttrOfType<ArrayAttr>("atx.grid");
  auto threads = func->getAttrOfType<IntegerAttr>("atx.threads");
  if (!args || !grid || grid.size() != 3 || !threads)
    return func.emitError() << "kernel carries no '" << atx::kernelArgsAttrName
                            << "', 'atx.grid' and 'atx.threads'; was it outlined by 'atx-outline-kernels'?";
  ManifestKernel kernel;
  kernel.name = func.getName().str();
  kernel.knobs = getKnobs(func);
  kernel.workgroup = {uint32_t(threads.getInt()), 1, 1};
  if (auto feeds = func->getAttrOfType<IntegerAttr>("atx.feeds"))
    kernel.feeds = uint32_t(feeds.getInt());
  for (unsigned axis = 0; axis < 3; ++axis) {
    FailureOr<DimExpr> expr = parseExpr(func, grid[axis]);
    if (failed(expr))
      return failure();
    kernel.grid[axis] = *expr;
  }
  uint32_t offset = 0;
  for (Attribute element : args) {
    auto info = dyn_cast<DictionaryAttr>(element);
    auto name = info ? info.getAs<StringAttr>("name") : StringAttr();
    auto kind = info ? info.getAs<StringAttr>("kind") : StringAttr();
    auto type = info ? info.getAs<TypeAttr>("type") : TypeAttr();
    std::optional<DataType> dataType = type ? getDataType(type.getValue()) : std::nullopt;
    if (!name || !kind || !dataType)
      return func.emitError() << "malformed kernel argument description " << element;
    ManifestArg arg;
    arg.name = name.getValue().str();
    arg.type = *dataType;
    if (kind == "tensor") {
      arg.kind = ManifestArg::Kind::Tensor;
      auto shape = info.getAs<ArrayAttr>("shape");
      if (!shape)
        return func.emitError() << "tensor argument '" << arg.name << "' has no shape";
      for (Attribute extent : shape) {
        FailureOr<DimExpr> expr = parseExpr(func, extent);
        if (failed(expr))
          return failure();
        arg.shape.push_back(*expr);
      }
      arg.isOutput = info.contains("output");
      if (Attribute tile = info.get("tile")) {
        FailureOr<DimExpr> expr = parseExpr(func, tile);
        if (failed(expr))
          return failure();
        arg.tileDim = 0;
        arg.tileExtent = *expr;
        if (auto axis = info.getAs<IntegerAttr>("tile_axis"))
          arg.tileAxis = unsigned(axis.getInt());
      }
      if (auto axes = info.getAs<DenseI64ArrayAttr>("row_axes"))
        arg.rowAxes.emplace(axes.asArrayRef().begin(), axes.asArrayRef().end());
    } else if (kind == "dim") {
      arg.kind = ManifestArg::Kind::Dim;
      runtimeDims.push_back(arg.name);
    } else {
      arg.kind = ManifestArg::Kind::Scalar;
      arg.size = getSizeInBytes(arg.type);
      arg.defaultValue = getNumber(info.get("default"));
    }
    offset = llvm::alignTo(offset, arg.size);
    arg.offset = offset;
    offset += arg.size;
    kernel.args.push_back(std::move(arg));
  }
  kernel.kernargBytes = offset;
  if (failed(parseConstraints(func, func->getAttrOfType<ArrayAttr>("atx.constraints"), constraints)))
    return failure();
  return kernel;
}

/// Binds the kernels of `manifest`, of which `constraints` holds those of each by
/// name, to the launches of the module's plan.
LogicalResult bindPlan(ModuleOp module, DictionaryAttr plan, Manifest &manifest,
                       const std::map<std::string, std::vector<ManifestConstraint>> &constraints) {
  std::map<std::string, ManifestKernel> kernels;
  for (ManifestKernel &kernel : manifest.kernels)
    kernels[kernel.name] = std::move(kernel);
  manifest.kernels.clear();
  auto name = plan.getAs<StringAttr>("name");
  auto launches = plan.getAs<ArrayAttr>("launches");
  auto malformed = [&] { return module.emitError() << "malformed launch plan " << plan; };
  if (!name || !launches)
    return malformed();
  manifest.op = name.getValue().str();
  if (auto names = plan.getAs<ArrayAttr>("dims"))
    for (StringRef dim : names.getAsValueRange<StringAttr>())
      manifest.runtimeDims.push_back(dim.str());
  if (failed(parseConstraints(module, plan.getAs<ArrayAttr>("constraints"), manifest.constraints)))
    return failure();
  auto addConstraint = [&](ManifestConstraint constraint) {
    if (llvm::none_of(manifest.constraints, [&](const ManifestConstraint &c) { return c.str() == constraint.str(); }))
      manifest.constraints.push_back(std::move(constraint));
  };
  for (Attribute element : launches) {
    auto launch = dyn_cast<DictionaryAttr>(element);
    auto symbol = launch ? launch.getAs<StringAttr>("kernel") : StringAttr();
    auto args = launch ? launch.getAs<ArrayAttr>("args") : ArrayAttr();
    auto dimAttrs = launch ? launch.getAs<DictionaryAttr>("dims") : DictionaryAttr();
    if (!symbol || !args || !dimAttrs)
      return malformed();
    auto found = kernels.find(symbol.getValue().str());
    if (found == kernels.end())
      return module.emitError() << "the launch plan names kernel '" << symbol.getValue()
                                << "', which the schedule did not leave";
    std::map<std::string, DimExpr> dims;
    for (NamedAttribute dim : dimAttrs) {
      FailureOr<DimExpr> expr = parseExpr(module, dim.getValue());
      if (failed(expr))
        return failure();
      dims[dim.getName().str()] = *expr;
    }
    ManifestKernel kernel = found->second;
    for (DimExpr &extent : kernel.grid)
      extent = extent.bind(dims);
    if (args.size() > kernel.args.size())
      return malformed();
    for (auto [i, arg] : llvm::enumerate(kernel.args)) {
      if (arg.kind == ManifestArg::Kind::Dim) {
        auto value = dims.find(arg.name);
        if (value == dims.end())
          return module.emitError() << "dimension '" << arg.name << "' of kernel '" << kernel.name
                                    << "' has no value in the launch plan";
        arg.value = value->second;
        continue;
      }
      auto info = i < args.size() ? dyn_cast<DictionaryAttr>(args[i]) : DictionaryAttr();
      if (!info)
        return malformed();
      if (Attribute value = info.get("value")) {
        arg.isConstant = true;
        arg.defaultValue = getNumber(value);
        continue;
      }
      auto bound = info.getAs<StringAttr>("name");
      if (!bound)
        return malformed();
      arg.name = bound.getValue().str();
      if (arg.kind == ManifestArg::Kind::Scalar) {
        arg.defaultValue = getNumber(info.get("default"));
        continue;
      }
      arg.isOutput = info.contains("output");
      arg.isWorkspace = info.contains("workspace");
      if (arg.tileDim >= 0)
        arg.tileExtent = arg.tileExtent.bind(dims);
      arg.shape.clear();
      auto shape = info.getAs<ArrayAttr>("shape");
      if (!shape)
        return malformed();
      for (Attribute extent : shape) {
        FailureOr<DimExpr> expr = parseExpr(module, extent);
        if (failed(expr))
          return failure();
        arg.shape.push_back(*expr);
      }
    }
    auto own = constraints.find(found->first);
    if (own != constraints.end())
      for (ManifestConstraint constraint : own->second) {
        constraint.lhs = constraint.lhs.bind(dims);
        constraint.rhs = constraint.rhs.bind(dims);
        addConstraint(std::move(constraint));
      }
    manifest.kernels.push_back(std::move(kernel));
  }
  return success();
}

OwningOpRef<ModuleOp> parseSource(llvm::SourceMgr &sourceMgr, MLIRContext &context, bool isMLIR,
                                  const CompileOptions &options) {
  if (!isMLIR) {
    frontend::FrontendOptions frontendOptions;
    frontendOptions.dims = options.dims;
    frontendOptions.op = options.op;
    frontendOptions.knobs = options.knobs;
    return frontend::importAtx(sourceMgr, context, frontendOptions);
  }
  return parseSourceFile<ModuleOp>(sourceMgr, &context);
}

/// Names the dimensions a caller fixed by their operator's text.
std::string printModule(Operation *module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  os << "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// In front of the backend
//===----------------------------------------------------------------------===//

/// A diagnostic as it is printed, with a text of the backend to be put in.
struct Template {
  std::string before, after;

  void print(StringRef text, raw_ostream &os) const { os << before << text << after; }
};

/// What the backend takes, and what is to be known to end the work behind it
/// without the module.
struct Prepared {
  /// Without the hash of the code object.
  Manifest manifest;
  std::string bitcode;
  /// The backend gave up.
  Template failure;
  /// What is said of a function whose registers do not suffice.
  struct Texts {
    std::string function;
    /// It keeps bytes in scratch memory; it does not, since it was scheduled for few registers.
    Template scratch, lean;
  };
  /// In the order of the module.
  std::vector<Texts> functions;
};

/// Renders what `report` emits; `mark` stands where the text belongs, and
/// `introduction` in front of it.
Template makeTemplate(llvm::SourceMgr &sourceMgr, MLIRContext &context, StringRef introduction,
                      llvm::function_ref<void(StringRef mark)> report) {
  constexpr StringRef mark = "\x01";
  std::string text;
  {
    llvm::raw_string_ostream os(text);
    SourceMgrDiagnosticHandler handler(sourceMgr, &context, os);
    report(mark);
  }
  // The mark may also be part of a file's name or of a source line.
  size_t at = text.find((introduction + mark).str()) + introduction.size();
  return {text.substr(0, at), text.substr(at + mark.size())};
}

/// A cache is not used for what stops at an earlier stage.
bool usesBackend(const CompileOptions &options) {
  return options.emit == EmitKind::Asm || options.emit == EmitKind::Hsaco;
}

bool isMLIRSource(llvm::MemoryBufferRef source) { return source.getBufferIdentifier().ends_with(".mlir"); }

void addSource(llvm::SourceMgr &sourceMgr, llvm::MemoryBufferRef source) {
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source.getBuffer(), source.getBufferIdentifier()),
                               SMLoc());
}

/// Key of what is compiled, with all files that it was read from, up to the backend.
std::string makeKey(const llvm::SourceMgr &sourceMgr, const ChipInfo &chip, const CompileOptions &options) {
  CacheKey key;
  key.add("ir 2");
  key.add(getCompilerVersion());
  key.add(getBuildId());
  // Names are part of debug information and of messages.
  key.add(uint64_t(sourceMgr.getNumBuffers()));
  for (unsigned i = 1; i <= sourceMgr.getNumBuffers(); ++i) {
    const llvm::MemoryBuffer *buffer = sourceMgr.getMemoryBuffer(i);
    key.add(buffer->getBufferIdentifier());
    key.add(buffer->getBuffer());
  }
  key.add(chip.arch);
  key.add(chip.name);
  key.add(options.op);
  std::map<std::string, int64_t> dims;
  for (const auto &dim : options.dims)
    dims[dim.getKey().str()] = dim.getValue();
  key.add(uint64_t(dims.size()));
  for (const auto &[name, value] : dims) {
    key.add(name);
    key.add(uint64_t(value));
  }
  key.add(uint64_t(options.knobs.size()));
  for (const auto &[name, value] : options.knobs) {
    key.add(name);
    key.add(value);
  }
  // The built-in schedule may be left for the generic one, the same text as a file
  // may not.
  key.add(uint64_t(options.schedule.empty()));
  key.add(options.schedule.empty() ? getDefaultSchedule(chip.arch) : options.schedule);
  key.add(uint64_t(options.needManifest));
  key.add(uint64_t(options.remarks));
  return key.finish();
}

/// The key before anything is compiled; nothing for a source that cannot be read,
/// which compiling reports.
std::optional<std::string> makeKey(llvm::MemoryBufferRef source, const ChipInfo &chip, const CompileOptions &options) {
  llvm::SourceMgr sourceMgr;
  addSource(sourceMgr, source);
  if (!isMLIRSource(source)) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
    if (!frontend::readImports(sourceMgr, context))
      return std::nullopt;
  }
  return makeKey(sourceMgr, chip, options);
}

std::string makeObjectKey(StringRef irKey, const CompileOptions &options) {
  CacheKey key;
  key.add("object 2");
  key.add(irKey);
  key.add(uint64_t(options.emit));
  key.add(uint64_t(options.optLevel));
  key.add(uint64_t(options.backendOptions.size()));
  for (const std::string &option : options.backendOptions)
    key.add(option);
  return key.finish();
}

/// Diagnostics, manifest, bitcode, the two texts of a failure, and those of each function:
/// (name, before and after of both texts), each ended by a zero.
constexpr size_t numIRParts = 6;
/// Diagnostics, manifest, code.
constexpr size_t numObjectParts = 3;

/// The manifest as text, if it can be read back the same.
std::optional<std::string> writeManifest(const Manifest &manifest) {
  std::string text = manifest.toText();
  llvm::Expected<Manifest> read = Manifest::fromText(text);
  if (!read) {
    llvm::consumeError(read.takeError());
    return std::nullopt;
  }
  if (read->toText() != text)
    return std::nullopt;
  return text;
}

std::optional<Manifest> readManifest(StringRef text) {
  llvm::Expected<Manifest> manifest = Manifest::fromText(text);
  if (manifest)
    return std::move(*manifest);
  llvm::consumeError(manifest.takeError());
  return std::nullopt;
}

void storePrepared(CompileCache &cache, StringRef key, const Prepared &prepared, StringRef reported,
                   raw_ostream &diagnostics) {
  std::optional<std::string> manifest = writeManifest(prepared.manifest);
  if (!manifest)
    return;
  std::string scratch;
  for (const Prepared::Texts &texts : prepared.functions)
    for (StringRef part : {StringRef(texts.function), StringRef(texts.scratch.before), StringRef(texts.scratch.after),
                           StringRef(texts.lean.before), StringRef(texts.lean.after)}) {
      // Never in a name, and a source with it is no text.
      if (part.contains('\0'))
        return;
      scratch += part;
      scratch += '\0';
    }
  cache.store(CompileCache::Level::IR, key,
              {reported, *manifest, prepared.bitcode, prepared.failure.before, prepared.failure.after, scratch},
              diagnostics);
}

/// Fills `prepared` and `reported`, the diagnostics of its making.
bool loadPrepared(CompileCache &cache, StringRef key, Prepared &prepared, std::string &reported,
                  raw_ostream &diagnostics) {
  std::optional<std::vector<std::string>> parts = cache.load(CompileCache::Level::IR, key, numIRParts, diagnostics);
  if (!parts)
    return false;
  std::optional<Manifest> manifest = readManifest((*parts)[1]);
  if (!manifest)
    return false;
  reported = std::move((*parts)[0]);
  prepared.manifest = std::move(*manifest);
  prepared.bitcode = std::move((*parts)[2]);
  prepared.failure = {std::move((*parts)[3]), std::move((*parts)[4])};
  SmallVector<StringRef> texts;
  StringRef((*parts)[5]).split(texts, '\0');
  for (size_t i = 0; i + 5 <= texts.size(); i += 5)
    prepared.functions.push_back(
        {texts[i].str(), {texts[i + 1].str(), texts[i + 2].str()}, {texts[i + 3].str(), texts[i + 4].str()}});
  return true;
}

void storeObject(CompileCache &cache, StringRef key, const CompileResult &result, StringRef reported,
                 raw_ostream &diagnostics) {
  if (std::optional<std::string> manifest = writeManifest(result.manifest))
    cache.store(CompileCache::Level::Object, key, {reported, *manifest, result.output}, diagnostics);
}

/// Fills `result` and says what was said when it was made.
bool loadObject(CompileCache &cache, StringRef key, CompileResult &result, raw_ostream &diagnostics) {
  std::optional<std::vector<std::string>> parts =
      cache.load(CompileCache::Level::Object, key, numObjectParts, diagnostics);
  if (!parts)
    return false;
  std::optional<Manifest> manifest = readManifest((*parts)[1]);
  if (!manifest)
    return false;
  diagnostics << (*parts)[0];
  result.manifest = std::move(*manifest);
  result.output = std::move((*parts)[2]);
  return true;
}

/// Does what lies in front of the backend. Where an earlier stage is asked for, its
/// text is the result instead. `key`, if any, becomes the key of what was read.
std::optional<Prepared> prepare(llvm::MemoryBufferRef source, const ChipInfo &chip, const CompileOptions &options,
                                std::string *key, std::string &stageText, raw_ostream &diagnostics) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  registerAllPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sourceMgr;
  addSource(sourceMgr, source);
  SourceMgrDiagnosticHandler handler(sourceMgr, &context, diagnostics);

  OwningOpRef<ModuleOp> module = parseSource(sourceMgr, context, isMLIRSource(source), options);
  if (!module)
    return std::nullopt;
  if (key)
    *key = makeKey(sourceMgr, chip, options);
  if (options.emit == EmitKind::Atx) {
    std::optional<std::string> text = frontend::printSource(*module);
    if (!text)
      return std::nullopt;
    llvm::SourceMgr printed;
    printed.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(*text, "<printed>"), SMLoc());
    SourceMgrDiagnosticHandler printedHandler(printed, &context, diagnostics);
    frontend::Diagnostics printedDiags(printed, context);
    std::optional<std::string> formatted =
        frontend::formatSource(printed.getMemoryBuffer(printed.getMainFileID())->getBuffer(), printedDiags);
    if (!formatted)
      return std::nullopt;
    stageText = std::move(*formatted);
    return Prepared();
  }
  if (options.emit == EmitKind::MLIR) {
    stageText = printModule(*module);
    return Prepared();
  }

  Prepared result;
  // The program that was asked for: a plan beside what it launches, or the only
  // function.
  func::FuncOp program;
  for (auto function : module->getOps<func::FuncOp>())
    if (!program || function->hasAttr(atx::planAttrName))
      program = function;
  if (program)
    result.manifest.knobs = getKnobs(program);

  if (options.remarks)
    (*module)->setAttr(tile::remarksAttrName, UnitAttr::get(&context));
  std::string schedule = options.schedule.empty() ? getDefaultSchedule(chip.arch) : options.schedule;
  std::string stage;
  StringRef stagePass = options.emit == EmitKind::Tile       ? StringRef(tileFormPass)
                        : options.emit == EmitKind::Fragment ? StringRef(fragmentFormPass)
                                                             : StringRef();
  /// Runs a schedule; no value when it is no pipeline.
  auto runSchedule = [&](StringRef text, ModuleOp target) -> std::optional<bool> {
    PassManager pm(&context, ModuleOp::getOperationName());
    std::string pipelineErrors;
    llvm::raw_string_ostream errorStream(pipelineErrors);
    if (failed(parseSchedule(text, pm, errorStream))) {
      diagnostics << options.scheduleName << ": error: the schedule is not a valid pass pipeline\n" << pipelineErrors;
      return std::nullopt;
    }
    if (options.printTimings)
      pm.enableTiming();
    if (!stagePass.empty())
      pm.addInstrumentation(std::make_unique<StageRecorder>(stagePass, stage));
    return succeeded(pm.run(target));
  };
  // The analysis that chooses the row mapping foresees what the passes behind it
  // do. Where one refuses all the same, the generic schedule takes the operator.
  constexpr StringRef automatic = "mode=auto";
  bool hasChoice = options.schedule.empty() && StringRef(schedule).contains(automatic) &&
                   llvm::any_of(module->getOps<func::FuncOp>(),
                                [](func::FuncOp func) { return func->hasAttr(atx::operatorAttrName); });
  OwningOpRef<ModuleOp> original = hasChoice ? module->clone() : ModuleOp();
  SmallVector<Diagnostic> reported;
  std::optional<bool> ran;
  {
    std::optional<ScopedDiagnosticHandler> recorder;
    if (hasChoice)
      recorder.emplace(&context, [&](Diagnostic &diagnostic) {
        reported.push_back(std::move(diagnostic));
        return success();
      });
    ran = runSchedule(schedule, *module);
  }
  const Diagnostic *refusal =
      llvm::find_if(reported, [](const Diagnostic &d) { return d.getSeverity() == DiagnosticSeverity::Error; });
  if (hasChoice && ran == false && refusal != reported.end()) {
    // Both refuse: the second says why, in terms of the source.
    emitRemark(refusal->getLocation()) << "the generic schedule is taken, for the row mapping ends here: "
                                       << refusal->str();
    schedule.replace(schedule.find(automatic), automatic.size(), "mode=always");
    module = std::move(original);
    stage.clear();
    ran = runSchedule(schedule, *module);
  } else {
    for (Diagnostic &diagnostic : reported)
      context.getDiagEngine().emit(std::move(diagnostic));
  }
  if (!ran)
    return std::nullopt;
  (*module)->removeAttr(tile::remarksAttrName);
  bool ok = *ran;
  if (!stagePass.empty()) {
    // A stage that was reached is shown even if a later pass fails.
    if (!stage.empty()) {
      stageText = std::move(stage);
      return Prepared();
    }
    if (ok)
      diagnostics << options.scheduleName << ": error: the schedule has no pass '" << stagePass << "'\n";
    return std::nullopt;
  }
  if (!ok)
    return std::nullopt;
  if (options.emit == EmitKind::LLVM) {
    stageText = printModule(*module);
    return Prepared();
  }

  auto gpuModules = llvm::to_vector(module->getOps<gpu::GPUModuleOp>());
  if (gpuModules.size() != 1) {
    emitError(module->getLoc()) << "the schedule left " << gpuModules.size()
                                << " kernel modules; a code object is made of exactly one"
                                << (gpuModules.size() > 1 && options.op.empty() ? " (choose an operator with '--op')"
                                                                                : "");
    return std::nullopt;
  }
  Manifest &manifest = result.manifest;
  manifest.arch = chip.arch.str();
  manifest.compiler = getCompilerVersion();
  manifest.sourceHash = hash(source.getBuffer());
  manifest.schedule = stripSchedule(schedule);
  manifest.scheduleHash = hash(manifest.schedule);
  for (const auto &dim : options.dims)
    manifest.constants[dim.getKey().str()] = dim.getValue();
  // With a plan, dimensions and constraints of a kernel are its own.
  auto plan = (*module)->getAttrOfType<DictionaryAttr>(atx::planAttrName);
  std::vector<std::string> kernelDims;
  std::map<std::string, std::vector<ManifestConstraint>> kernelConstraints;
  bool anyKernel = false;
  for (auto func : gpuModules.front().getOps<LLVM::LLVMFuncOp>()) {
    if (!func->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) && !func->hasAttr("rocdl.kernel"))
      continue;
    anyKernel = true;
    // A kernel written by hand: its launcher knows grid and arguments.
    if (!options.needManifest && !func->hasAttr(atx::kernelArgsAttrName))
      continue;
    std::vector<ManifestConstraint> &constraints =
        plan ? kernelConstraints[func.getName().str()] : manifest.constraints;
    FailureOr<ManifestKernel> kernel = describeKernel(func, plan ? kernelDims : manifest.runtimeDims, constraints);
    if (failed(kernel))
      return std::nullopt;
    manifest.kernels.push_back(std::move(*kernel));
  }
  if (!anyKernel) {
    emitError(module->getLoc()) << "the schedule left no kernel";
    return std::nullopt;
  }
  if (plan) {
    if (failed(bindPlan(*module, plan, manifest, kernelConstraints)))
      return std::nullopt;
  } else if (!manifest.kernels.empty()) {
    manifest.op = manifest.kernels.front().name;
  }

  gpu::GPUModuleOp gpuModule = gpuModules.front();
  llvm::Expected<std::string> bitcode = translateToBitcode(gpuModule);
  if (!bitcode) {
    emitError(gpuModule.getLoc()) << llvm::toString(bitcode.takeError());
    return std::nullopt;
  }
  result.bitcode = std::move(*bitcode);
  result.failure =
      makeTemplate(sourceMgr, context, "error: ", [&](StringRef mark) { emitError(gpuModule.getLoc()) << mark; });
  // Registers that do not suffice cost dearly; nobody shall find out on the device.
  for (auto func : gpuModule.getOps<LLVM::LLVMFuncOp>()) {
    if (func.isExternal())
      continue;
    std::string beginning = ("kernel '" + func.getName() + "' keeps ").str();
    Template warning = makeTemplate(sourceMgr, context, beginning, [&](StringRef mark) {
      emitWarning(func.getLoc()) << beginning << mark
                                 << " bytes of each work-item in scratch memory, since its registers do not suffice; "
                                    "use smaller tiles or more work-items";
    });
    std::string leanBeginning = ("kernel '" + func.getName() + "' would keep ").str();
    Template remark = makeTemplate(sourceMgr, context, leanBeginning, [&](StringRef mark) {
      emitRemark(func.getLoc()) << leanBeginning << mark
                                << " bytes of each work-item in scratch memory if its instructions stood in the usual "
                                   "order; the order that saves registers hides less latency: use smaller tiles or "
                                   "more work-items";
    });
    result.functions.push_back({func.getName().str(), std::move(warning), std::move(remark)});
  }
  return result;
}

} // namespace

std::string atrex::getCompilerVersion() { return "atrex " ATREX_VERSION " (LLVM " LLVM_VERSION_STRING ")"; }

std::optional<CompileResult> atrex::compile(llvm::MemoryBufferRef source, const CompileOptions &options,
                                            raw_ostream &diagnostics) {
  const ChipInfo *chip = lookupChip(options.arch);
  if (!chip || !chip->isAMDGPU()) {
    diagnostics << "error: " << describeUnknownTarget(options.arch) << "\n";
    return std::nullopt;
  }
  bool isMLIR = isMLIRSource(source);
  if (isMLIR && !options.knobs.empty()) {
    diagnostics << "error: '--knob' applies to kernel language sources; '" << source.getBufferIdentifier()
                << "' is MLIR, which has no knob '" << options.knobs.begin()->first << "'\n";
    return std::nullopt;
  }
  if (isMLIR && !options.dims.empty()) {
    diagnostics << "error: '--dim' applies to kernel language sources; '" << source.getBufferIdentifier()
                << "' is MLIR, whose types hold the dimensions\n";
    return std::nullopt;
  }

  BackendOptions backend{options.optLevel, options.backendOptions};
  if (llvm::Error error = checkBackendOptions(backend)) {
    diagnostics << "error: " << llvm::toString(std::move(error)) << "\n";
    return std::nullopt;
  }

  CompileResult result;
  Prepared prepared;
  if (!usesBackend(options)) {
    if (!prepare(source, *chip, options, nullptr, result.output, diagnostics))
      return std::nullopt;
    return result;
  }

  CompileCache *cache = options.cache;
  std::optional<std::string> key = cache ? makeKey(source, *chip, options) : std::nullopt;
  if (!key)
    cache = nullptr;
  std::string objectKey;
  // What was reported in front of the backend and behind it; a later compilation
  // that finds the result says it again.
  std::string reported, behind;
  if (cache) {
    objectKey = makeObjectKey(*key, options);
    if (loadObject(*cache, objectKey, result, diagnostics))
      return result;
  }
  if (!cache || !loadPrepared(*cache, *key, prepared, reported, diagnostics)) {
    std::string readKey;
    llvm::raw_string_ostream os(reported);
    std::optional<Prepared> made =
        prepare(source, *chip, options, cache ? &readKey : nullptr, result.output, cache ? os : diagnostics);
    if (!made) {
      diagnostics << reported;
      return std::nullopt;
    }
    prepared = std::move(*made);
    // A file changed in between.
    if (cache && readKey != *key)
      cache = nullptr;
    if (cache)
      storePrepared(*cache, *key, prepared, reported, diagnostics);
  }
  diagnostics << reported;

  llvm::Expected<EmittedCode> code = emitCode(prepared.bitcode, chip->arch, backend, options.emit == EmitKind::Asm,
                                              /*wantCodeObject=*/options.emit == EmitKind::Hsaco);
  if (!code) {
    prepared.failure.print(llvm::toString(code.takeError()), diagnostics);
    return std::nullopt;
  }
  llvm::raw_string_ostream os(behind);
  for (const Prepared::Texts &texts : prepared.functions) {
    if (uint64_t bytes = code->scratchBytes.lookup(texts.function))
      texts.scratch.print(std::to_string(bytes), os);
    else if (uint64_t bytes = code->leanBytes.lookup(texts.function))
      texts.lean.print(std::to_string(bytes), os);
  }
  diagnostics << behind;
  result.manifest = std::move(prepared.manifest);
  if (options.emit == EmitKind::Asm) {
    result.output = std::move(code->assembly);
  } else {
    result.manifest.codeObjectHash = hash(code->codeObject);
    result.output = std::move(code->codeObject);
  }
  if (cache)
    storeObject(*cache, objectKey, result, reported + behind, diagnostics);
  return result;
}
