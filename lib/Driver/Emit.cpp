//===- Emit.cpp - From LLVM dialect to a code object ------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "lld/Common/Driver.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/CodeGen/CommandFlags.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>
#include <shared_mutex>

LLD_HAS_DRIVER(elf)

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
void LLVMInitializeAMDGPUAsmPrinter();
}

using namespace llvm;
using namespace atrex;

namespace {

/// Which scheduler LLVM takes for a function.
constexpr StringLiteral schedulerAttrName = "amdgpu-sched-strategy";

/// An order of instructions that a function can be given.
struct Order {
  /// LLVM's name of the scheduler; empty for the usual one.
  StringLiteral scheduler;
  /// Whether what the schedule asks for (groups of instructions, and what must not pass them) is left out: it keeps
  /// the scheduler from saving registers.
  bool isFree;
  /// Whether what is loaded for a matrix instruction must stay behind the one before.
  bool isFenced;
};
/// The first is what every function gets at first; where it needs scratch memory the others are tried in turn.
constexpr Order orders[] = {{"", false, false}, {"iterative-minreg", true, false}, {"", true, false}, {"", true, true}};

/// Code object version 5: what current runtimes load.
constexpr unsigned codeObjectVersion = 500;

Error makeError(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

/// Message of a fatal error inside the backend.
thread_local std::string *fatalMessage = nullptr;

void onFatalError(void *, const char *reason, bool) {
  // Outside of emitCode nobody waits for the message.
  if (!fatalMessage) {
    errs() << "LLVM ERROR: " << reason << "\n";
    return;
  }
  *fatalMessage = reason;
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent())
    context->HandleExit(1);
}

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUAsmPrinter();
    CrashRecoveryContext::Enable();
    // Once for the process: code may be emitted on several threads.
    install_fatal_error_handler(onFatalError);
  });
}

struct DiagnosticCollector : DiagnosticHandler {
  DiagnosticCollector(std::string &errors, StringMap<uint64_t> &scratchBytes)
      : errors(errors), scratchBytes(scratchBytes) {}
  // What kernels take of the machine comes as remarks.
  bool isAnalysisRemarkEnabled(StringRef pass) const override { return pass == "kernel-resource-usage"; }
  bool isAnyRemarkEnabled() const override { return true; }
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (auto *remark = dyn_cast<DiagnosticInfoOptimizationBase>(&info)) {
      std::string message = remark->getMsg();
      StringRef text = StringRef(message).trim();
      uint64_t bytes;
      if (text.consume_front("ScratchSize [bytes/lane]:") && !text.trim().getAsInteger(10, bytes) && bytes != 0)
        scratchBytes[remark->getFunction().getName()] = bytes;
      return true;
    }
    if (info.getSeverity() != DS_Error)
      return true;
    raw_string_ostream os(errors);
    DiagnosticPrinterRawOStream printer(os);
    if (!errors.empty())
      os << "; ";
    info.print(printer);
    return true;
  }
  std::string &errors;
  StringMap<uint64_t> &scratchBytes;
};

//===----------------------------------------------------------------------===//
// Options of LLVM
//===----------------------------------------------------------------------===//

/// Options of LLVM's command line are global: whoever sets some is alone.
std::shared_mutex optionsMutex;

/// The option whose name is closest to a misspelt one, if any is close.
std::string findSimilarOption(StringRef name) {
  unsigned limit = std::max<size_t>(1, name.size() / 4), least = limit;
  StringRef best;
  for (const auto &entry : cl::getRegisteredOptions()) {
    StringRef candidate = entry.first;
    if (!is_contained(entry.second->Categories, &cl::getGeneralCategory()))
      continue;
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, limit);
    // The order of the table is none.
    if (distance > least || (distance == least && !best.empty() && best <= candidate))
      continue;
    least = distance;
    best = candidate;
  }
  return best.empty() ? std::string() : "; did you mean '-" + best.str() + "'?";
}

/// Sets options, which whoever holds the mutex resets again.
Error applyOptions(ArrayRef<std::string> texts) {
  StringSet<> seen;
  for (const std::string &text : texts) {
    auto fail = [&](const Twine &why) { return makeError("backend option '" + text + "': " + why); };
    StringRef rest = text;
    bool hasDash = rest.consume_front("-");
    rest.consume_front("-");
    auto [name, value] = rest.split('=');
    bool hasValue = name.size() != rest.size();
    if (!hasDash || name.empty())
      return fail("expected '-NAME' or '-NAME=VALUE'");
    auto found = cl::getRegisteredOptions().find(name);
    if (found == cl::getRegisteredOptions().end())
      return fail("LLVM has no option '-" + name + "'" + findSimilarOption(name));
    cl::Option *option = found->second;
    // Those of programs, and those that print a text and exit.
    if (!is_contained(option->Categories, &cl::getGeneralCategory()))
      return fail("'-" + name + "' is no option of LLVM's passes and code generation");
    bool isList = option->getNumOccurrencesFlag() == cl::ZeroOrMore || option->getNumOccurrencesFlag() == cl::OneOrMore;
    if (!seen.insert(name).second && !isList)
      return fail("'-" + name + "' is given twice");
    if (option->getValueExpectedFlag() == cl::ValueRequired && !hasValue)
      return fail("'-" + name + "' needs a value, as in '-" + name + "=VALUE'");
    if (option->getValueExpectedFlag() == cl::ValueDisallowed && hasValue)
      return fail("'-" + name + "' takes no value");
    SmallVector<StringRef> values{value};
    if (option->getMiscFlags() & cl::CommaSeparated) {
      values.clear();
      value.split(values, ',');
    }
    // LLVM prints what is wrong with the value.
    for (StringRef one : values)
      if (option->addOccurrence(0, name, one))
        return fail("the value '" + value + "' does not suit '-" + name + "'");
  }
  return Error::success();
}

/// Holds the options of LLVM as they are asked for.
class OptionsScope {
public:
  explicit OptionsScope(const BackendOptions &options) {
    if (options.llvmOptions.empty()) {
      shared = std::shared_lock(optionsMutex);
      return;
    }
    exclusive = std::unique_lock(optionsMutex);
    // Nothing that was set before takes part.
    cl::ResetAllOptionOccurrences();
  }
  ~OptionsScope() {
    if (exclusive)
      cl::ResetAllOptionOccurrences();
  }

private:
  std::shared_lock<std::shared_mutex> shared;
  std::unique_lock<std::shared_mutex> exclusive;
};

//===----------------------------------------------------------------------===//
// Passes and code generation
//===----------------------------------------------------------------------===//

OptimizationLevel getPassLevel(unsigned level) {
  constexpr const OptimizationLevel *levels[] = {&OptimizationLevel::O0, &OptimizationLevel::O1, &OptimizationLevel::O2,
                                                 &OptimizationLevel::O3};
  return *levels[level];
}

void optimize(Module &module, TargetMachine &machine, unsigned level) {
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  builder.buildPerModuleDefaultPipeline(getPassLevel(level)).run(module, mam);
}

Error emitFile(Module &module, TargetMachine &machine, CodeGenFileType type, SmallVectorImpl<char> &output) {
  legacy::PassManager pm;
  raw_svector_ostream os(output);
  if (!addCodeGenPasses(pm, machine, os, type))
    return makeError("the backend cannot emit this kind of file");
  pm.run(module);
  return Error::success();
}

/// lld works on files and keeps global state.
Expected<std::string> link(StringRef object) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  SmallString<128> in, out;
  int fd;
  if (std::error_code ec = sys::fs::createTemporaryFile("atrex", "o", fd, in))
    return makeError("cannot create a temporary file for the linker: " + ec.message());
  FileRemover removeIn(in);
  {
    raw_fd_ostream os(fd, /*shouldClose=*/true);
    os << object;
    os.close();
    if (os.has_error()) {
      std::error_code ec = os.error();
      os.clear_error();
      return makeError("cannot write the linker's input '" + in + "': " + ec.message());
    }
  }
  if (std::error_code ec = sys::fs::createTemporaryFile("atrex", "hsaco", out))
    return makeError("cannot create a temporary file for the linker: " + ec.message());
  FileRemover removeOut(out);
  std::string messages;
  raw_string_ostream os(messages);
  const char *args[] = {"ld.lld", "-shared", "--no-undefined", "--threads=1", in.c_str(), "-o", out.c_str()};
  lld::Result result = lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return makeError("linking failed: " + StringRef(messages).trim());
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(out);
  if (!buffer)
    return makeError("cannot read the linker's output: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

/// Takes the wishes for an order of instructions out of a function, priorities of waves among them: nothing is moved
/// past them.
void freeOrder(Function &function) {
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
      if (is_contained({Intrinsic::amdgcn_sched_group_barrier, Intrinsic::amdgcn_sched_barrier,
                        Intrinsic::amdgcn_iglp_opt, Intrinsic::amdgcn_s_setprio},
                       call->getIntrinsicID()))
        call->eraseFromParent();
}

/// Whether `instruction` reads memory and does nothing else, so that it may stand behind others that write none.
bool isPlainLoad(const Instruction &instruction) {
  if (const auto *load = dyn_cast<LoadInst>(&instruction))
    return load->isSimple();
  const auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && is_contained({Intrinsic::amdgcn_raw_ptr_buffer_load, Intrinsic::amdgcn_raw_buffer_load},
                              call->getIntrinsicID());
}

/// Moves what is loaded, and what is computed from it or for it, down to where it is used first: LLVM's schedulers
/// begin with the order they find, and an order in which nothing waits is the best to begin with for few registers.
void sinkToUses(BasicBlock &block) {
  for (Instruction &instruction : make_early_inc_range(reverse(block))) {
    bool isLoad = isPlainLoad(instruction);
    if (isa<PHINode>(instruction) || instruction.isTerminator() ||
        (!isLoad &&
         (instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects() || isa<CallBase>(instruction))))
      continue;
    Instruction *first = nullptr;
    for (User *user : instruction.users()) {
      auto *other = cast<Instruction>(user);
      if (other->getParent() == &block && !isa<PHINode>(other) && (!first || other->comesBefore(first)))
        first = other;
    }
    if (!first || first == instruction.getNextNode())
      continue;
    // What writes, or waits for who does, is not passed.
    if (isLoad && std::any_of(std::next(instruction.getIterator()), first->getIterator(),
                              [](const Instruction &between) { return between.mayHaveSideEffects(); }))
      continue;
    instruction.moveBefore(first->getIterator());
  }
}

/// Keeps loads behind the matrix instructions that they stand behind.
void fenceLoads(BasicBlock &block) {
  bool isBehind = false;
  for (Instruction &instruction : block) {
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
        call && Intrinsic::getBaseName(call->getIntrinsicID()).contains("amdgcn.mfma")) {
      isBehind = true;
    } else if (isBehind && isPlainLoad(instruction)) {
      IRBuilder<> builder(&instruction);
      builder.CreateIntrinsic(Intrinsic::amdgcn_sched_barrier, {}, {builder.getInt32(0)});
      isBehind = false;
    }
  }
}

/// `chosen` numbers the orders of functions that do not have the usual one.
Error emitInto(StringRef bitcode, StringRef arch, unsigned optLevel, bool wantAssembly, bool wantCodeObject,
               const StringMap<unsigned> &chosen, EmittedCode &code) {
  LLVMContext context;
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(errors, code.scratchBytes));
  Expected<std::unique_ptr<Module>> read = parseBitcodeFile(MemoryBufferRef(bitcode, "module"), context);
  if (!read)
    return read.takeError();
  std::unique_ptr<Module> module = std::move(*read);
  module->setModuleIdentifier(module->getSourceFileName());

  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError(message);
  TargetOptions options;
  options.MCOptions.AsmVerbose = true;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, arch, "", options, Reloc::PIC_, std::nullopt, *CodeGenOpt::getLevel(int(optLevel))));
  if (!machine)
    return makeError("the backend does not know '" + arch + "'");
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  module->addModuleFlag(Module::Error, "amdhsa_code_object_version", codeObjectVersion);
  for (Function &function : *module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("uniform-work-group-size", "true");
    // Subnormals are kept, as in the references.
    function.addFnAttr("denormal-fp-math-f32", "ieee,ieee");
    const Order &order = orders[chosen.lookup(function.getName())];
    if (!order.scheduler.empty())
      function.addFnAttr(schedulerAttrName, order.scheduler);
    if (order.isFree)
      freeOrder(function);
  }
  optimize(*module, *machine, optLevel);
  for (Function &function : *module) {
    const Order &order = orders[chosen.lookup(function.getName())];
    for (BasicBlock &block : function) {
      if (order.isFree)
        sinkToUses(block);
      if (order.isFenced)
        fenceLoads(block);
    }
  }
  for (Function &function : *module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return makeError("'" + function.getName() + "' would need a device library, which is never linked");

  if (wantAssembly) {
    std::unique_ptr<Module> copy = wantCodeObject ? CloneModule(*module) : std::move(module);
    SmallString<0> text;
    if (Error error = emitFile(*copy, *machine, CodeGenFileType::AssemblyFile, text))
      return error;
    code.assembly = text.str().str();
  }
  if (wantCodeObject) {
    SmallString<0> object;
    if (Error error = emitFile(*module, *machine, CodeGenFileType::ObjectFile, object))
      return error;
    if (errors.empty()) {
      Expected<std::string> linked = link(object);
      if (!linked)
        return linked.takeError();
      code.codeObject = std::move(*linked);
    }
  }
  if (!errors.empty())
    return makeError(errors);
  return Error::success();
}

/// Runs `work`, from which fatal errors of LLVM come back as errors: they must not
/// take the tool down.
Error runGuarded(function_ref<Error()> work) {
  initializeTarget();
  std::string fatal;
  std::optional<Error> result;
  CrashRecoveryContext recovery;
  bool finished = recovery.RunSafely([&] {
    fatalMessage = &fatal;
    result.emplace(work());
  });
  fatalMessage = nullptr;
  if (finished)
    return std::move(*result);
  if (result)
    consumeError(std::move(*result));
  return makeError("the backend gave up" + (fatal.empty() ? "" : ": " + fatal));
}

} // namespace

Error atrex::checkBackendOptions(const BackendOptions &options) {
  if (options.optLevel > 3)
    return makeError("optimization level " + Twine(options.optLevel) + " is not one of 0, 1, 2, 3");
  if (options.llvmOptions.empty())
    return Error::success();
  OptionsScope scope(options);
  return runGuarded([&] { return applyOptions(options.llvmOptions); });
}

Expected<std::string> atrex::translateToBitcode(mlir::gpu::GPUModuleOp module) {
  std::string bitcode;
  Error error = runGuarded([&]() -> Error {
    LLVMContext context;
    std::unique_ptr<Module> translated = mlir::translateModuleToLLVMIR(module, context, module.getName());
    if (!translated)
      return makeError("translation to LLVM IR failed");
    raw_string_ostream os(bitcode);
    // Passes visit users in the order of their lists.
    WriteBitcodeToFile(*translated, os, /*ShouldPreserveUseListOrder=*/true);
    return Error::success();
  });
  if (error)
    return std::move(error);
  return bitcode;
}

Expected<EmittedCode> atrex::emitCode(StringRef bitcode, StringRef arch, const BackendOptions &options,
                                      bool wantAssembly, bool wantCodeObject) {
  OptionsScope scope(options);
  auto emit = [&](const StringMap<unsigned> &chosen) -> Expected<EmittedCode> {
    EmittedCode code;
    Error error = runGuarded([&]() -> Error {
      // The linker resets them.
      if (Error unknown = applyOptions(options.llvmOptions))
        return unknown;
      return emitInto(bitcode, arch, options.optLevel, wantAssembly, wantCodeObject, chosen, code);
    });
    if (error)
      return std::move(error);
    return code;
  };
  Expected<EmittedCode> first = emit({});
  // Who chooses a scheduler gets it; without optimization everything is in scratch memory.
  bool isChosen = any_of(options.llvmOptions, [](StringRef option) { return option.contains("misched"); });
  if (!first || first->scratchBytes.empty() || options.optLevel == 0 || isChosen)
    return first;
  // The usual scheduler hides latencies and trusts that registers will do. Where they did not, another order often
  // needs no scratch memory; each function takes what needs least.
  EmittedCode code = std::move(*first);
  const StringMap<uint64_t> usual = code.scratchBytes;
  StringMap<uint64_t> least = usual;
  StringMap<unsigned> best;
  for (unsigned number = 1; number < std::size(orders); ++number) {
    StringMap<unsigned> tried = best;
    for (const auto &entry : least)
      if (entry.second != 0)
        tried[entry.first()] = number;
    if (tried == best)
      break;
    Expected<EmittedCode> result = emit(tried);
    // Where it fails what there is stands.
    if (!result) {
      consumeError(result.takeError());
      continue;
    }
    StringMap<unsigned> better = best;
    for (auto &entry : least)
      if (uint64_t bytes = result->scratchBytes.lookup(entry.first()); bytes < entry.second) {
        entry.second = bytes;
        better[entry.first()] = tried[entry.first()];
      }
    if (better == best)
      continue;
    best = std::move(better);
    if (best == tried) {
      code = std::move(*result);
    } else if (Expected<EmittedCode> mixed = emit(best)) {
      code = std::move(*mixed);
    } else {
      return mixed.takeError();
    }
  }
  for (const auto &entry : best)
    code.leanBytes[entry.first()] = usual.lookup(entry.first());
  return code;
}

Expected<EmittedCode> atrex::emitCode(mlir::gpu::GPUModuleOp module, StringRef arch, bool wantAssembly,
                                      bool wantCodeObject) {
  Expected<std::string> bitcode = translateToBitcode(module);
  if (!bitcode)
    return bitcode.takeError();
  return emitCode(*bitcode, arch, BackendOptions(), wantAssembly, wantCodeObject);
}
