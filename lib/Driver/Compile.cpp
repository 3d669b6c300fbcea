//===- Compile.cpp - From source text to a code object ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Driver/Compile.h"
#include "Emit.h"
#include "atrex/Frontend/Frontend.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Target/Chip.h"
#include "dialects/Atx/AtxDialect.h"
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

/// Reads one launchable kernel off the attributes that outlining left.
FailureOr<ManifestKernel> describeKernel(LLVM::LLVMFuncOp func, Manifest &manifest) {
  auto args = func->getAttrOfType<ArrayAttr>(atx::kernelArgsAttrName);
  auto grid = func->getAttrOfType<ArrayAttr>("atx.grid");
  auto threads = func->getAttrOfType<IntegerAttr>("atx.threads");
  if (!args || !grid || grid.size() != 3 || !threads)
    return func.emitError() << "kernel carries no '" << atx::kernelArgsAttrName
                            << "', 'atx.grid' and 'atx.threads'; was it outlined by 'atx-outline-kernels'?";
  auto parseExpr = [&](Attribute attr) -> FailureOr<DimExpr> {
    auto text = dyn_cast<StringAttr>(attr);
    if (!text)
      return func.emitError() << "expected a dimension expression, got " << attr;
    llvm::Expected<DimExpr> expr = DimExpr::parse(text.getValue());
    if (!expr)
      return func.emitError() << "dimension expression '" << text.getValue()
                              << "': " << llvm::toString(expr.takeError());
    return *expr;
  };

  ManifestKernel kernel;
  kernel.name = func.getName().str();
  kernel.workgroup = {uint32_t(threads.getInt()), 1, 1};
  for (unsigned axis = 0; axis < 3; ++axis) {
    FailureOr<DimExpr> expr = parseExpr(grid[axis]);
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
        FailureOr<DimExpr> expr = parseExpr(extent);
        if (failed(expr))
          return failure();
        arg.shape.push_back(*expr);
      }
      arg.isOutput = info.contains("output");
      if (Attribute tile = info.get("tile")) {
        FailureOr<DimExpr> expr = parseExpr(tile);
        if (failed(expr))
          return failure();
        arg.tileDim = 0;
        arg.tileExtent = *expr;
      }
    } else if (kind == "dim") {
      arg.kind = ManifestArg::Kind::Dim;
      manifest.runtimeDims.push_back(arg.name);
    } else {
      arg.kind = ManifestArg::Kind::Scalar;
      arg.size = getSizeInBytes(arg.type);
      if (auto value = info.getAs<FloatAttr>("default"))
        arg.defaultValue = value.getValueAsDouble();
      else if (auto number = info.getAs<IntegerAttr>("default"))
        arg.defaultValue = number.getValue().signedRoundToDouble();
    }
    offset = llvm::alignTo(offset, arg.size);
    arg.offset = offset;
    offset += arg.size;
    kernel.args.push_back(std::move(arg));
  }
  kernel.kernargBytes = offset;
  if (auto constraints = func->getAttrOfType<ArrayAttr>("atx.constraints"))
    for (Attribute element : constraints) {
      auto string = dyn_cast<StringAttr>(element);
      if (!string)
        return func.emitError() << "constraint " << element << " is not a comparison";
      StringRef text = string.getValue();
      ManifestConstraint constraint;
      for (StringRef op : {"==", "!=", "<=", ">=", "<", ">"}) {
        auto [lhs, rhs] = text.split(op);
        if (rhs.empty())
          continue;
        FailureOr<DimExpr> left = parseExpr(StringAttr::get(func.getContext(), lhs.trim()));
        FailureOr<DimExpr> right = parseExpr(StringAttr::get(func.getContext(), rhs.trim()));
        if (failed(left) || failed(right))
          return failure();
        constraint.lhs = *left;
        constraint.rhs = *right;
        constraint.op = op.str();
        break;
      }
      if (constraint.op.empty())
        return func.emitError() << "constraint '" << text << "' is not a comparison";
      manifest.constraints.push_back(std::move(constraint));
    }
  return kernel;
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

} // namespace

std::string atrex::getCompilerVersion() { return "atrex " ATREX_VERSION " (LLVM " LLVM_VERSION_STRING ")"; }

std::optional<CompileResult> atrex::compile(llvm::MemoryBufferRef source, const CompileOptions &options,
                                            raw_ostream &diagnostics) {
  const ChipInfo *chip = lookupChip(options.arch);
  if (!chip || !chip->isAMDGPU()) {
    diagnostics << "error: '" << options.arch << "' is not an architecture code can be generated for; known are "
                << getArchList() << "\n";
    return std::nullopt;
  }
  bool isMLIR = source.getBufferIdentifier().ends_with(".mlir");
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

  DialectRegistry registry;
  registerCompilerDialects(registry);
  registerAllPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source.getBuffer(), source.getBufferIdentifier()),
                               SMLoc());
  SourceMgrDiagnosticHandler handler(sourceMgr, &context, diagnostics);

  OwningOpRef<ModuleOp> module = parseSource(sourceMgr, context, isMLIR, options);
  if (!module)
    return std::nullopt;
  CompileResult result;
  if (options.emit == EmitKind::MLIR) {
    result.output = printModule(*module);
    return result;
  }

  std::string schedule = options.schedule.empty() ? getDefaultSchedule(chip->arch) : options.schedule;
  PassManager pm(&context, ModuleOp::getOperationName());
  std::string pipelineErrors;
  llvm::raw_string_ostream errorStream(pipelineErrors);
  if (failed(parseSchedule(schedule, pm, errorStream))) {
    diagnostics << options.scheduleName << ": error: the schedule is not a valid pass pipeline\n" << pipelineErrors;
    return std::nullopt;
  }
  if (options.printTimings)
    pm.enableTiming();
  std::string stage;
  StringRef stagePass = options.emit == EmitKind::Tile       ? StringRef(tileFormPass)
                        : options.emit == EmitKind::Fragment ? StringRef(fragmentFormPass)
                                                             : StringRef();
  if (!stagePass.empty())
    pm.addInstrumentation(std::make_unique<StageRecorder>(stagePass, stage));
  bool ok = succeeded(pm.run(*module));
  if (!stagePass.empty()) {
    // A stage that was reached is shown even if a later pass fails.
    if (!stage.empty()) {
      result.output = std::move(stage);
      return result;
    }
    if (ok)
      diagnostics << options.scheduleName << ": error: the schedule has no pass '" << stagePass << "'\n";
    return std::nullopt;
  }
  if (!ok)
    return std::nullopt;
  if (options.emit == EmitKind::LLVM) {
    result.output = printModule(*module);
    return result;
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
  manifest.arch = chip->arch.str();
  manifest.compiler = getCompilerVersion();
  manifest.sourceHash = hash(source.getBuffer());
  manifest.schedule = stripSchedule(schedule);
  manifest.scheduleHash = hash(manifest.schedule);
  for (const auto &dim : options.dims)
    manifest.constants[dim.getKey().str()] = dim.getValue();
  bool anyKernel = false;
  for (auto func : gpuModules.front().getOps<LLVM::LLVMFuncOp>()) {
    if (!func->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) && !func->hasAttr("rocdl.kernel"))
      continue;
    anyKernel = true;
    // A kernel written by hand: its launcher knows grid and arguments.
    if (!options.needManifest && !func->hasAttr(atx::kernelArgsAttrName))
      continue;
    FailureOr<ManifestKernel> kernel = describeKernel(func, manifest);
    if (failed(kernel))
      return std::nullopt;
    manifest.kernels.push_back(std::move(*kernel));
  }
  if (!anyKernel) {
    emitError(module->getLoc()) << "the schedule left no kernel";
    return std::nullopt;
  }
  if (!manifest.kernels.empty())
    manifest.op = manifest.kernels.front().name;

  llvm::Expected<EmittedCode> code = emitCode(gpuModules.front(), chip->arch, options.emit == EmitKind::Asm,
                                              /*wantCodeObject=*/options.emit == EmitKind::Hsaco);
  if (!code) {
    emitError(gpuModules.front().getLoc()) << llvm::toString(code.takeError());
    return std::nullopt;
  }
  // Registers that do not suffice cost dearly; nobody shall find out on the device.
  for (auto func : gpuModules.front().getOps<LLVM::LLVMFuncOp>())
    if (uint64_t bytes = code->scratchBytes.lookup(func.getName()))
      emitWarning(func.getLoc()) << "kernel '" << func.getName() << "' keeps " << bytes
                                 << " bytes of each work-item in scratch memory, since its registers do not suffice; "
                                    "use smaller tiles or more work-items";
  if (options.emit == EmitKind::Asm) {
    result.output = std::move(code->assembly);
    return result;
  }
  manifest.codeObjectHash = hash(code->codeObject);
  result.output = std::move(code->codeObject);
  return result;
}
