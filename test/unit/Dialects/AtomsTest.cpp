//===- AtomsTest.cpp - AMD atoms against naive products --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every matrix instruction of the table is written as an atom, verified for the
// chips that have it and those that lack it, compiled, and run on the embedded
// device: operands are placed by the atom's layouts, results compared with a
// product in integers. Copies and atomics are compiled and run as well.
//
//===----------------------------------------------------------------------===//

#include "atrex/Conversion/Passes.h"
#include "atrex/Device/Device.h"
#include "atrex/Device/Sim/MatrixRunner.h"
#include "atrex/Layout/Text.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Target/CopyInstructions.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "lib/Driver/Emit.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

namespace {

//===----------------------------------------------------------------------===//
// Context and atoms
//===----------------------------------------------------------------------===//

MLIRContext &getContext() {
  static MLIRContext *context = [] {
    registerAllPasses();
    DialectRegistry registry;
    registerAllDialects(registry);
    auto *made = new MLIRContext(registry);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

Attribute parse(const std::string &text) {
  Attribute attr = parseAttribute(text, &getContext());
  if (!attr)
    ADD_FAILURE() << "does not parse: " << text;
  return attr;
}

/// Whether an atom verifies for a target; the diagnostic otherwise.
template <typename Interface> bool verifies(Interface atom, StringRef target, std::string *message = nullptr) {
  Location loc = UnknownLoc::get(&getContext());
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diag) {
    if (message)
      *message = diag.str();
    return success();
  });
  return succeeded(atom.verifyTarget(target, [&] { return emitError(loc); }));
}

StringRef getTypeName(MatrixType type, bool fnuz) {
  switch (type) {
  case MatrixType::XF32:
    return "tf32";
  case MatrixType::FP8:
    return fnuz ? "f8E4M3FNUZ" : "f8E4M3FN";
  case MatrixType::BF8:
    return fnuz ? "f8E5M2FNUZ" : "f8E5M2";
  case MatrixType::FP6:
    return "f6E2M3FN";
  case MatrixType::BF6:
    return "f6E3M2FN";
  case MatrixType::FP4:
    return "f4E2M1FN";
  default:
    return getName(type);
  }
}

/// One form of an instruction.
struct Form {
  const MatrixInstruction *inst;
  MatrixType a, b;
  /// ", cbsz = 1" and the like.
  std::string options;

  std::string getText(bool fnuz) const {
    std::string name = inst->kind == MatrixKind::Dense    ? "mfma"
                       : inst->kind == MatrixKind::Sparse ? "smfmac"
                                                          : "scaled_mfma";
    std::string text = "#atx_amdgpu." + name + "<" + std::to_string(inst->m) + "x" + std::to_string(inst->n) + "x" +
                       std::to_string(inst->k) + ", " + getTypeName(a, fnuz).str() + ", " + getTypeName(b, fnuz).str() +
                       ", " + getName(inst->c).str();
    if (inst->blocks > 1)
      text += ", blocks = " + std::to_string(inst->blocks);
    return text + options + ">";
  }
};

constexpr MatrixType narrowTypes[] = {MatrixType::FP8, MatrixType::BF8, MatrixType::FP6, MatrixType::BF6,
                                      MatrixType::FP4};

/// Every instruction, those of chosen formats with all pairs of formats.
std::vector<Form> getForms() {
  std::vector<Form> forms;
  for (const MatrixInstruction &inst : getMatrixInstructions()) {
    if (!inst.isF8F6F4()) {
      forms.push_back({&inst, inst.a, inst.b, ""});
      continue;
    }
    for (MatrixType a : narrowTypes)
      for (MatrixType b : narrowTypes)
        forms.push_back({&inst, a, b, inst.kind == MatrixKind::Scaled ? ", selectA = 1, selectB = 3" : ""});
  }
  // Products in which all blocks read one A or one B.
  auto add = [&](StringRef mnemonic, const std::string &options) {
    const MatrixInstruction *inst = lookupMatrixInstruction(mnemonic);
    forms.push_back({inst, inst->a, inst->b, options});
  };
  for (StringRef type : {"f32", "f16", "bf16", "i8"}) {
    std::string k = type == "f32" ? "1" : "4", c = type == "i8" ? "i32" : "f32";
    std::string prefix = "v_mfma_" + c + "_";
    add(prefix + "32x32x" + k + "_2b_" + type.str(), ", cbsz = 1, abid = 1");
    add(prefix + "32x32x" + k + "_2b_" + type.str(), ", blgp = 1");
    add(prefix + "32x32x" + k + "_2b_" + type.str(), ", blgp = 2");
    add(prefix + "16x16x" + k + "_4b_" + type.str(), ", cbsz = 2, abid = 3");
    add(prefix + "16x16x" + k + "_4b_" + type.str(), ", blgp = 4");
    add(prefix + "16x16x" + k + "_4b_" + type.str(), ", blgp = 6");
    add(prefix + "4x4x" + k + "_16b_" + type.str(), ", cbsz = 4, abid = 7");
  }
  // Negations.
  add("v_mfma_f64_16x16x4_f64", ", blgp = 1");
  add("v_mfma_f64_4x4x4_4b_f64", ", blgp = 6");
  // The second index set.
  add("v_smfmac_f32_16x16x32_f16", ", abid = 1");
  return forms;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

int64_t apply(const layout::IntTuple &shape, const layout::IntTuple &stride, int64_t &coordinate) {
  if (shape.isLeaf()) {
    int64_t extent = shape.getLeaf().value, at = coordinate % extent;
    coordinate /= extent;
    return at * stride.getLeaf().value;
  }
  int64_t sum = 0;
  for (unsigned i = 0; i < shape.getRank(); ++i)
    sum += apply(shape[i], stride[i], coordinate);
  return sum;
}

int64_t locate(const layout::Layout &layout, int64_t lane, int64_t value) {
  return apply(layout.shape[0], layout.stride[0], lane) + apply(layout.shape[1], layout.stride[1], value);
}

int64_t getNumValues(const layout::Layout &layout) {
  int64_t count = 1;
  layout.shape[1].walk([&](const layout::Int &extent) { count *= extent.value; });
  return count;
}

TEST(Atoms, LayoutsOfTheSpecification) {
  struct Row {
    const char *shape;
    std::vector<const char *> types;
    const char *ab, *c;
  };
  const char *c16 = "((16,4),(4,1)):((16,4),(1,16))", *c32 = "((32,2),(4,4)):((32,4),(1,8))";
  const Row rows[] = {
      {"16x16x4", {"f32"}, "((16,4),1):((1,16),16)", c16},
      {"16x16x16", {"f16", "bf16"}, "((16,4),4):((1,64),16)", c16},
      {"16x16x32", {"f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2", "i8"}, "((16,4),8):((1,128),16)", c16},
      {"16x16x32", {"f16", "bf16"}, "((16,4),8):((1,128),16)", c16},
      {"16x16x64", {"i8"}, "((16,4),16):((1,256),16)", c16},
      {"16x16x128", {"f6E2M3FN", "f6E3M2FN", "f4E2M1FN"}, "((16,4),32):((1,512),16)", c16},
      {"16x16x128", {"f8E4M3FN", "f8E5M2"}, "((16,4),(16,2)):((1,256),(16,1024))", c16},
      {"32x32x2", {"f32"}, "((32,2),1):((1,32),32)", c32},
      {"32x32x8", {"f16", "bf16"}, "((32,2),4):((1,128),32)", c32},
      {"32x32x16", {"f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2", "i8"}, "((32,2),8):((1,256),32)", c32},
      {"32x32x16", {"f16", "bf16"}, "((32,2),8):((1,256),32)", c32},
      {"32x32x32", {"i8"}, "((32,2),16):((1,512),32)", c32},
      {"32x32x64", {"f6E2M3FN", "f6E3M2FN", "f4E2M1FN"}, "((32,2),32):((1,1024),32)", c32},
      {"32x32x64", {"f8E4M3FN", "f8E5M2"}, "((32,2),(16,2)):((1,512),(32,1024))", c32},
  };
  for (const Row &row : rows)
    for (std::string type : row.types) {
      std::string c = type == "i8" ? "i32" : "f32";
      std::string text = std::string("#atx_amdgpu.mfma<") + row.shape + ", " + type + ", " + type + ", " + c + ">";
      auto atom = dyn_cast_or_null<MmaAtomInterface>(parse(text));
      ASSERT_TRUE(atom) << text;
      EXPECT_EQ(layout::toString(atom.getOperandLayout(MmaOperand::A)), row.ab) << text;
      EXPECT_EQ(layout::toString(atom.getOperandLayout(MmaOperand::B)), row.ab) << text;
      EXPECT_EQ(layout::toString(atom.getOperandLayout(MmaOperand::C)), row.c) << text;
      EXPECT_EQ(layout::toString(atom.getOperandLayout(MmaOperand::D)), row.c) << text;
    }
}

TEST(Atoms, LayoutsOfSharedBlocks) {
  auto a = cast<MmaAtomInterface>(parse("#atx_amdgpu.mfma<4x4x4, f16, f16, f32, blocks = 16, cbsz = 4>"));
  EXPECT_EQ(a.getShape(), (SmallVector<int64_t, 3>{4, 64, 4}));
  EXPECT_EQ(layout::toString(a.getOperandLayout(MmaOperand::A)), "((4,16),4):((1,0),4)");
  EXPECT_EQ(layout::toString(a.getOperandLayout(MmaOperand::B)), "((4,16),4):((1,4),64)");
  EXPECT_EQ(layout::toString(a.getOperandLayout(MmaOperand::C)), "((4,16),4):((4,16),1)");
  auto b = cast<MmaAtomInterface>(parse("#atx_amdgpu.mfma<16x16x1, f32, f32, f32, blocks = 4, blgp = 5>"));
  EXPECT_EQ(b.getShape(), (SmallVector<int64_t, 3>{64, 16, 1}));
  EXPECT_EQ(layout::toString(b.getOperandLayout(MmaOperand::A)), "((16,4),1):((1,16),64)");
  EXPECT_EQ(layout::toString(b.getOperandLayout(MmaOperand::B)), "((16,4),1):((1,0),16)");
  EXPECT_EQ(layout::toString(b.getOperandLayout(MmaOperand::C)), "((16,4),(4,4)):((64,4),(1,16))");
  auto batch = cast<MmaAtomInterface>(parse("#atx_amdgpu.mfma<16x16x1, f32, f32, f32, blocks = 4, cbsz = 1>"));
  EXPECT_EQ(batch.getShape(), (SmallVector<int64_t, 3>{16, 16, 1}));
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

TEST(Atoms, EveryInstructionHasAnAtom) {
  unsigned count = 0;
  for (const Form &form : getForms()) {
    for (bool fnuz : {true, false}) {
      StringRef arch = fnuz ? "gfx942" : "gfx950", other = fnuz ? "gfx950" : "gfx942";
      if (!form.inst->isAvailable(arch))
        continue;
      ++count;
      std::string text = form.getText(fnuz);
      auto atom = dyn_cast_or_null<MmaAtomInterface>(parse(text));
      ASSERT_TRUE(atom) << text;
      std::string message;
      EXPECT_TRUE(verifies(atom, arch, &message)) << text << ": " << message;
      EXPECT_TRUE(verifies(atom, fnuz ? "MI308X" : "MI355X")) << text;
      EXPECT_TRUE(verifies(atom, "")) << text;
      EXPECT_FALSE(verifies(atom, "H800")) << text;
      bool there = form.inst->isAvailable(other) && form.getText(!fnuz) == text;
      EXPECT_EQ(verifies(atom, other, &message), there) << text;
      if (!there)
        EXPECT_NE(message.find("needs " + arch.str() + "; target is " + other.str()), std::string::npos) << message;
      if (auto mfma = dyn_cast<atx_amdgpu::MfmaAttr>(Attribute(atom)))
        EXPECT_EQ(&mfma.getInstruction(), form.inst) << text;
      else if (auto smfmac = dyn_cast<atx_amdgpu::SmfmacAttr>(Attribute(atom)))
        EXPECT_EQ(&smfmac.getInstruction(), form.inst) << text;
      else
        EXPECT_EQ(&cast<atx_amdgpu::ScaledMfmaAttr>(Attribute(atom)).getInstruction(), form.inst) << text;
    }
  }
  // Formats in pairs and shared blocks multiply the rows of the table.
  EXPECT_GT(count, 200u);
}

/// Whether an assembler takes the line.
bool assembles(const std::string &line, StringRef arch) {
  auto object = device::assembleKernel(line + "\ns_endpgm\n", arch, 8);
  if (object)
    return true;
  llvm::consumeError(object.takeError());
  return false;
}

TEST(Atoms, CopyTableAgreesWithTheAssembler) {
  auto registers = [](unsigned bits) {
    return bits <= 32 ? std::string("v2") : "v[2:" + std::to_string(1 + bits / 32) + "]";
  };
  for (StringRef arch : {"gfx942", "gfx950"}) {
    for (const CopyInstruction &copy : getCopyInstructions()) {
      std::string data = registers(copy.bits), load = copy.load.str(), store = copy.store.str();
      switch (copy.path) {
      case CopyPath::Buffer:
        load += " " + data + ", v0, s[0:3], 0 offen", store += " " + data + ", v0, s[0:3], 0 offen";
        break;
      case CopyPath::Global:
        load += " " + data + ", v[0:1], off", store += " v[0:1], " + data + ", off";
        break;
      case CopyPath::Lds:
      case CopyPath::LdsTranspose:
        load += " " + data + ", v0", store += " v0, " + data;
        break;
      case CopyPath::BufferToLds:
        load += " v0, s[0:3], 0 offen lds";
        break;
      case CopyPath::GlobalToLds:
        load += " v[0:1], off";
        break;
      }
      EXPECT_EQ(assembles(load, arch), copy.isAvailable(arch)) << arch.str() << ": " << load;
      if (!copy.store.empty())
        EXPECT_EQ(assembles(store, arch), copy.isAvailable(arch)) << arch.str() << ": " << store;
    }
    for (const AtomicInstruction &atomic : getAtomicInstructions()) {
      std::string data = registers(getBitWidth(atomic.type)), line = atomic.mnemonic.str();
      if (atomic.memory == AtomicMemory::Buffer)
        line += " " + data + ", v0, s[0:3], 0 offen";
      else if (atomic.memory == AtomicMemory::Global)
        line += " v[0:1], " + data + ", off";
      else
        line += " v0, " + data;
      EXPECT_EQ(assembles(line, arch), atomic.isAvailable(arch)) << arch.str() << ": " << line;
    }
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A module of kernels of one wave (or `threads`) with `numPointers` pointers to
/// global memory, whose bodies `build` fills.
class Kernels {
public:
  explicit Kernels(StringRef arch) : arch(arch) {
    module = parseSourceString<ModuleOp>("module { gpu.module @kernels { } }", &getContext());
    gpuModule = *module->getOps<gpu::GPUModuleOp>().begin();
  }

  void add(const std::string &name, unsigned numPointers, unsigned threads,
           llvm::function_ref<void(OpBuilder &, Location, ValueRange, Value lane)> build) {
    OpBuilder builder = OpBuilder::atBlockEnd(gpuModule.getBody());
    Location loc = UnknownLoc::get(&getContext());
    SmallVector<Type> types(numPointers, LLVM::LLVMPointerType::get(&getContext(), 1));
    auto func = gpu::GPUFuncOp::create(builder, loc, name, builder.getFunctionType(types, {}));
    func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    func->setAttr("known_block_size", builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
    builder.setInsertionPointToStart(&func.getBody().front());
    Value lane = ROCDL::ThreadIdXOp::create(builder, loc, builder.getI32Type());
    build(builder, loc, func.getArguments(), lane);
    gpu::ReturnOp::create(builder, loc);
  }

  /// Compiles and loads everything.
  void finish() {
    ASSERT_TRUE(succeeded(verify(*module)));
    PassManager pm(&getContext());
    std::string errors;
    llvm::raw_string_ostream os(errors);
    ASSERT_TRUE(succeeded(parseSchedule("builtin.module(gpu.module(atx-convert-to-rocdl{arch=" + arch + "}))", pm, os)))
        << errors;
    ASSERT_TRUE(succeeded(pm.run(*module)));
    llvm::Expected<EmittedCode> code = emitCode(gpuModule, arch, /*wantAssembly=*/true, /*wantCodeObject=*/true);
    ASSERT_TRUE(bool(code)) << llvm::toString(code.takeError());
    emitted = std::move(*code);
    auto made = device::createSimDevice({arch, 1});
    ASSERT_TRUE(bool(made)) << llvm::toString(made.takeError());
    device = std::move(*made);
    auto loaded = device->load(llvm::MemoryBufferRef(emitted.codeObject, "kernels"));
    ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
    object = std::move(*loaded);
    ok = true;
  }

  bool isLoaded() const { return ok; }

  /// Assembly of one kernel.
  StringRef getAssembly(const std::string &name) const {
    StringRef text = emitted.assembly;
    size_t begin = text.find("\n" + name + ":"), end = text.find("s_endpgm", begin);
    return begin == StringRef::npos ? StringRef() : text.slice(begin, end);
  }

  /// Runs with the buffers, which are read back.
  void run(const std::string &name, unsigned threads, std::vector<std::vector<uint8_t>> &buffers) {
    const device::Kernel *kernel = object->lookup(name);
    ASSERT_TRUE(kernel) << name;
    std::vector<uint64_t> pointers;
    for (auto &buffer : buffers) {
      auto pointer = device->allocate(buffer.size());
      ASSERT_TRUE(bool(pointer));
      ASSERT_FALSE(bool(device->copyToDevice(*pointer, buffer.data(), buffer.size())));
      pointers.push_back(*pointer);
    }
    device::LaunchConfig config;
    config.workgroup = {threads, 1, 1};
    config.kernarg = ArrayRef(reinterpret_cast<const uint8_t *>(pointers.data()), pointers.size() * 8);
    auto result = device->launch(*kernel, config);
    ASSERT_TRUE(bool(result)) << name << ": " << llvm::toString(result.takeError());
    for (auto [buffer, pointer] : llvm::zip_equal(buffers, pointers)) {
      ASSERT_FALSE(bool(device->copyFromDevice(buffer.data(), pointer, buffer.size())));
      llvm::consumeError(device->free(pointer));
    }
  }

private:
  std::string arch;
  OwningOpRef<ModuleOp> module;
  gpu::GPUModuleOp gpuModule;
  EmittedCode emitted;
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Module> object;
  bool ok = false;
};

Value number(OpBuilder &builder, Location loc, int64_t value, unsigned bits = 32) {
  Type type = builder.getIntegerType(bits);
  return LLVM::ConstantOp::create(builder, loc, type, builder.getIntegerAttr(type, value));
}

/// The address of `bytes` bytes per lane.
Value addressOf(OpBuilder &builder, Location loc, Value base, Value lane, int64_t bytes) {
  Value offset = LLVM::MulOp::create(builder, loc, lane, number(builder, loc, bytes));
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

uint64_t encode(MatrixType type, bool fnuz, double value) {
  const llvm::fltSemantics *semantics = &llvm::APFloat::IEEEsingle();
  switch (type) {
  case MatrixType::I8:
    return uint8_t(int8_t(value));
  case MatrixType::I32:
    return uint32_t(int32_t(value));
  case MatrixType::F64:
    semantics = &llvm::APFloat::IEEEdouble();
    break;
  case MatrixType::F16:
    semantics = &llvm::APFloat::IEEEhalf();
    break;
  case MatrixType::BF16:
    semantics = &llvm::APFloat::BFloat();
    break;
  case MatrixType::FP8:
    semantics = fnuz ? &llvm::APFloat::Float8E4M3FNUZ() : &llvm::APFloat::Float8E4M3FN();
    break;
  case MatrixType::BF8:
    semantics = fnuz ? &llvm::APFloat::Float8E5M2FNUZ() : &llvm::APFloat::Float8E5M2();
    break;
  case MatrixType::FP6:
    semantics = &llvm::APFloat::Float6E2M3FN();
    break;
  case MatrixType::BF6:
    semantics = &llvm::APFloat::Float6E3M2FN();
    break;
  case MatrixType::FP4:
    semantics = &llvm::APFloat::Float4E2M1FN();
    break;
  default:
    break;
  }
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  EXPECT_FALSE(losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

double decode(MatrixType type, uint64_t bits) {
  switch (type) {
  case MatrixType::I32:
    return int32_t(bits);
  case MatrixType::F64:
    return llvm::bit_cast<double>(bits);
  default:
    return llvm::bit_cast<float>(uint32_t(bits));
  }
}

void setBits(std::vector<uint8_t> &bytes, uint64_t at, unsigned width, uint64_t value) {
  for (unsigned i = 0; i < width; ++i)
    if (value >> i & 1)
      bytes[(at + i) / 8] |= uint8_t(1u << ((at + i) % 8));
}

uint64_t getBits(const std::vector<uint8_t> &bytes, uint64_t at, unsigned width) {
  uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i)
    value |= uint64_t(bytes[(at + i) / 8] >> ((at + i) % 8) & 1) << i;
  return value;
}

unsigned getBytes(const Form &form, MatrixOperand operand) {
  MatrixType type = operand == MatrixOperand::A ? form.a : operand == MatrixOperand::B ? form.b : form.inst->c;
  return getNumRegisters(*form.inst, operand, type) * 4;
}

/// Registers of an operand, [lane][bytes], filled by the layout from `elements`.
std::vector<uint8_t> place(const layout::Layout &layout, MatrixType type, bool fnuz, unsigned bytesPerLane,
                           const std::vector<int> &elements) {
  std::vector<uint8_t> registers(64 * bytesPerLane);
  unsigned width = getBitWidth(type);
  for (int64_t lane = 0; lane < 64; ++lane)
    for (int64_t value = 0; value < getNumValues(layout); ++value)
      setBits(registers, lane * bytesPerLane * 8 + value * width, width,
              encode(type, fnuz, elements.at(locate(layout, lane, value))));
  return registers;
}

void addProduct(Kernels &kernels, const std::string &name, const Form &form, MmaAtomInterface atom) {
  kernels.add(name, 5, 64, [&](OpBuilder &builder, Location loc, ValueRange args, Value lane) {
    auto load = [&](Value base, MatrixOperand operand) -> Value {
      int64_t bytes = getBytes(form, operand);
      return LLVM::LoadOp::create(builder, loc, VectorType::get(bytes / 4, builder.getI32Type()),
                                  addressOf(builder, loc, base, lane, bytes), 4);
    };
    Value a = load(args[0], MatrixOperand::A), b = load(args[1], MatrixOperand::B), c = load(args[2], MatrixOperand::C);
    SmallVector<Value> extra;
    for (unsigned i = 0; i < atom.getNumExtraOperands(); ++i) {
      Value words = LLVM::LoadOp::create(builder, loc, VectorType::get(2, builder.getI32Type()),
                                         addressOf(builder, loc, args[4], lane, 8), 4);
      extra.push_back(LLVM::ExtractElementOp::create(builder, loc, words, number(builder, loc, i)));
    }
    Value d = atom.emitMma(builder, loc, a, b, c, extra);
    ASSERT_TRUE(d) << name;
    LLVM::StoreOp::create(builder, loc, d, addressOf(builder, loc, args[3], lane, getBytes(form, MatrixOperand::D)), 4);
  });
}

void checkProduct(Kernels &kernels, const std::string &name, const Form &form, bool fnuz, MmaAtomInterface atom,
                  std::mt19937 &random) {
  const MatrixInstruction &inst = *form.inst;
  SmallVector<int64_t, 3> shape = atom.getShape();
  int64_t m = shape[0], n = shape[1], k = shape[2];
  // Blocks that are products of their own.
  int64_t batch = m == inst.m && n == inst.n ? inst.blocks : 1;
  bool sparse = inst.kind == MatrixKind::Sparse;
  int64_t storedK = sparse ? k / 2 : k;
  auto draw = [&](std::vector<int> values) { return values[random() % values.size()]; };
  auto fill = [&](int64_t count) {
    std::vector<int> elements(count);
    for (int &element : elements)
      element = draw({-3, -2, -1, 0, 1, 2, 3});
    return elements;
  };
  std::vector<int> a = fill(m * storedK * batch), b = fill(n * k * batch), c = fill(m * n * batch);
  layout::Layout layoutA = atom.getOperandLayout(MmaOperand::A), layoutB = atom.getOperandLayout(MmaOperand::B),
                 layoutC = atom.getOperandLayout(MmaOperand::C);
  std::vector<std::vector<uint8_t>> buffers = {
      place(layoutA, form.a, fnuz, getBytes(form, MatrixOperand::A), a),
      place(layoutB, form.b, fnuz, getBytes(form, MatrixOperand::B), b),
      place(layoutC, inst.c, fnuz, getBytes(form, MatrixOperand::C), c),
      std::vector<uint8_t>(64 * getBytes(form, MatrixOperand::D)),
      std::vector<uint8_t>(64 * 8),
  };
  std::vector<uint8_t> &extra = buffers[4];
  for (uint8_t &byte : extra)
    byte = uint8_t(random());

  // What the product is about: m x k by k x n.
  std::vector<int> denseA(m * k * batch);
  if (!sparse)
    denseA = a;
  if (sparse) {
    std::fill(extra.begin(), extra.end(), 0);
    int64_t abid = cast<atx_amdgpu::SmfmacAttr>(Attribute(atom)).getAbid();
    SparseIndexInfo info = getSparseIndexInfo(inst);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t group = 0; group < k / 4; ++group) {
        int first = int(random() % 3), second = first + 1 + int(random() % (3 - first));
        denseA[row + m * (4 * group + first)] = a[row + m * 2 * group];
        denseA[row + m * (4 * group + second)] = a[row + m * (2 * group + 1)];
        int64_t lane = row + m * (4 * group / (k * m / 64));
        int64_t bit = 4 * (group % info.groupsPerLane + abid * info.groupsPerLane);
        setBits(extra, lane * 64 + bit, 4, uint64_t(first | second << 2));
      }
  }
  // Scales of A and B by (row, k div 32): a power of two.
  std::vector<int> scaleA(m * k / 32, 1), scaleB(n * k / 32, 1);
  if (auto scaled = dyn_cast<atx_amdgpu::ScaledMfmaAttr>(Attribute(atom))) {
    auto fillScales = [&](MmaOperand operand, std::vector<int> &scales, int64_t select, int64_t word) {
      layout::Layout layout = scaled.getScaleLayout(operand);
      for (int64_t lane = 0; lane < 64; ++lane) {
        int exponent = draw({0, 1, 2});
        scales.at(locate(layout, lane, 0)) = 1 << exponent;
        extra[lane * 8 + word * 4 + select] = uint8_t(127 + exponent);
      }
    };
    fillScales(MmaOperand::A, scaleA, scaled.getSelectA(), 0);
    fillScales(MmaOperand::B, scaleB, scaled.getSelectB(), 1);
  }
  double signProduct = 1, signC = 1;
  if (inst.hasNegation) {
    int64_t blgp = cast<atx_amdgpu::MfmaAttr>(Attribute(atom)).getBlgp();
    signProduct = (blgp & 1 ? -1 : 1) * (blgp & 2 ? -1 : 1);
    signC = blgp & 4 ? -1 : 1;
  }

  kernels.run(name, 64, buffers);
  if (::testing::Test::HasFatalFailure())
    return;
  unsigned width = getBitWidth(inst.c), bytesPerLane = getBytes(form, MatrixOperand::D), wrong = 0;
  std::vector<bool> seen(m * n * batch);
  for (int64_t lane = 0; lane < 64; ++lane)
    for (int64_t value = 0; value < getNumValues(layoutC); ++value) {
      int64_t at = locate(layoutC, lane, value);
      seen.at(at) = true;
      int64_t block = at / (m * n), row = at % m, column = at / m % n;
      double expected = signC * c[at];
      for (int64_t i = 0; i < k; ++i)
        expected += signProduct * denseA[row + m * i + m * k * block] * b[column + n * i + n * k * block] *
                    (inst.kind == MatrixKind::Scaled ? scaleA[row + m * (i / 32)] * scaleB[column + n * (i / 32)] : 1);
      double got = decode(inst.c, getBits(buffers[3], lane * bytesPerLane * 8 + value * width, width));
      if (got != expected && ++wrong < 4)
        ADD_FAILURE() << name << " " << form.getText(fnuz) << ": D[" << row << "][" << column << "] of block " << block
                      << " is " << got << ", expected " << expected;
    }
  EXPECT_EQ(wrong, 0u) << form.getText(fnuz);
  EXPECT_TRUE(llvm::all_of(seen, [](bool x) { return x; })) << form.getText(fnuz);
}

void runProducts(StringRef arch) {
  bool fnuz = arch == "gfx942";
  std::vector<std::pair<Form, MmaAtomInterface>> atoms;
  Kernels kernels(arch);
  for (const Form &form : getForms()) {
    if (!form.inst->isAvailable(arch))
      continue;
    auto atom = dyn_cast_or_null<MmaAtomInterface>(parse(form.getText(fnuz)));
    ASSERT_TRUE(atom);
    addProduct(kernels, "k" + std::to_string(atoms.size()), form, atom);
    atoms.emplace_back(form, atom);
  }
  kernels.finish();
  ASSERT_TRUE(kernels.isLoaded());
  std::mt19937 random(1);
  for (auto [number, entry] : llvm::enumerate(atoms)) {
    std::string name = "k" + std::to_string(number);
    EXPECT_TRUE(kernels.getAssembly(name).contains(entry.first.inst->mnemonic.str() + " "))
        << entry.first.getText(fnuz) << " became\n"
        << kernels.getAssembly(name).str();
    checkProduct(kernels, name, entry.first, fnuz, entry.second, random);
  }
}

TEST(Atoms, ProductsOnGfx942) { runProducts("gfx942"); }
TEST(Atoms, ProductsOnGfx950) { runProducts("gfx950"); }

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

CopyAtomInterface parseCopy(const std::string &text) {
  auto atom = dyn_cast_or_null<CopyAtomInterface>(parse(text));
  EXPECT_TRUE(atom) << text;
  return atom;
}

/// `lane * bytes` as an offset of the memory space.
Value offsetOf(OpBuilder &builder, Location loc, MemorySpace space, Value lane, int64_t bytes) {
  Value offset = LLVM::MulOp::create(builder, loc, lane, number(builder, loc, bytes));
  if (space == MemorySpace::Global)
    offset = LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), offset);
  return offset;
}

constexpr int64_t ldsBytes = 64 * 16 + 64;

/// Shared memory of a kernel.
Value makeShared(OpBuilder &builder, Location loc, const std::string &name) {
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), ldsBytes);
  OpBuilder outside(builder.getInsertionBlock()->getParentOp());
  auto global = LLVM::GlobalOp::create(outside, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                                       Attribute(), /*alignment=*/16, /*addrSpace=*/3);
  outside.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(outside, loc, ValueRange{LLVM::PoisonOp::create(outside, loc, type)});
  return LLVM::AddressOfOp::create(builder, loc, global);
}

/// A kernel that copies `bits` per lane from one pointer to another: through a
/// buffer, global memory or LDS, 512 bytes on in the source.
struct CopyCase {
  std::string load, store;
  int64_t bits;
  bool throughShared;
  /// What the assembly shows.
  std::vector<std::string> expected;
};

std::vector<CopyCase> getCopyCases(StringRef arch) {
  std::vector<CopyCase> cases;
  auto atom = [](const std::string &name, unsigned bits, const std::string &cache = "") {
    return "#atx_amdgpu." + name + "<" + std::to_string(bits) + cache + ">";
  };
  for (const CopyInstruction &copy : getCopyInstructions()) {
    if (!copy.isAvailable(arch))
      continue;
    unsigned bits = copy.bits;
    std::string load = copy.load.str(), store = copy.store.str();
    switch (copy.path) {
    case CopyPath::Buffer:
      // The constant is the instruction's own.
      cases.push_back({atom("buffer_copy", bits),
                       atom("buffer_copy", bits, ", nt"),
                       bits,
                       false,
                       {load + " ", "offen offset:512\n", store + " ", "offen nt"}});
      break;
    case CopyPath::Global:
      cases.push_back({atom("global_copy", bits, ", nt"),
                       atom("global_copy", bits),
                       bits,
                       false,
                       {load + " ", "offset:512 nt", store + " "}});
      break;
    case CopyPath::Lds:
      cases.push_back({atom("lds_copy", bits), atom("global_copy", bits), bits, true, {load + " ", store + " "}});
      break;
    case CopyPath::BufferToLds:
      cases.push_back({atom("buffer_copy_lds", bits, ", sc1"),
                       atom("global_copy", bits),
                       bits,
                       true,
                       {load + " ", "offen sc1 lds", " m0, "}});
      break;
    case CopyPath::GlobalToLds:
      cases.push_back({atom("global_copy_lds", bits), atom("global_copy", bits), bits, true, {load + " ", " m0, "}});
      break;
    case CopyPath::LdsTranspose:
      break;
    }
  }
  return cases;
}

/// Makes what the lanes wrote visible to each other.
void synchronize(OpBuilder &builder, Location loc) {
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release, "workgroup");
  ROCDL::SBarrierOp::create(builder, loc);
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acquire, "workgroup");
}

constexpr int64_t sourceOffset = 512, boundedLanes = 40;

void addCopy(Kernels &kernels, const std::string &name, const CopyCase &copy) {
  CopyAtomInterface load = parseCopy(copy.load), store = parseCopy(copy.store);
  kernels.add(name, 2, 64, [&](OpBuilder &builder, Location loc, ValueRange args, Value lane) {
    int64_t bytes = copy.bits / 8;
    auto type = VectorType::get(bytes, builder.getI8Type());
    auto address = [&](Value pointer, MemorySpace space, int64_t constant, int64_t lanes) {
      Address made;
      made.base = pointer;
      made.space = space;
      if (space == MemorySpace::Buffer) {
        Address global;
        global.base = pointer;
        global.space = MemorySpace::Global;
        made.base =
            atx_amdgpu::emitMakeBuffer(builder, loc, global, number(builder, loc, lanes * bytes + constant, 64));
      }
      made.offset = offsetOf(builder, loc, space, lane, bytes);
      made.constant = constant;
      made.align = 16;
      if (bytes % 16)
        made.align = bytes & -bytes;
      return made;
    };
    auto spaceOf = [](CopyAtomInterface atom, bool source) {
      for (MemorySpace space : {MemorySpace::Buffer, MemorySpace::Global, MemorySpace::Shared})
        if (source ? atom.connects(space, MemorySpace::Register) || atom.connects(space, MemorySpace::Shared)
                   : atom.connects(MemorySpace::Register, space))
          return space;
      return MemorySpace::Register;
    };
    MemorySpace from = spaceOf(load, true), to = spaceOf(store, false);
    Value value;
    if (!copy.throughShared) {
      value = load.emitLoad(builder, loc, address(args[0], from, sourceOffset, boundedLanes), type);
    } else {
      Address shared = address(makeShared(builder, loc, name + "_shared"), MemorySpace::Shared, 32, 64);
      // What another lane has written, so that memory is not bypassed.
      Value other = LLVM::XOrOp::create(builder, loc, lane, number(builder, loc, 63));
      if (from == MemorySpace::Shared) {
        // 96 bits need an alignment of 16 bytes.
        int64_t stride = std::max<int64_t>(load.getAlignment(), bytes);
        shared.offset = offsetOf(builder, loc, MemorySpace::Shared, lane, stride);
        shared.align = load.getAlignment();
        Address source = address(args[0], MemorySpace::Global, sourceOffset, 64);
        Value moved =
            parseCopy("#atx.universal_copy<" + std::to_string(copy.bits) + ">").emitLoad(builder, loc, source, type);
        ASSERT_TRUE(load.emitStore(builder, loc, moved, shared));
        synchronize(builder, loc);
        shared.offset = offsetOf(builder, loc, MemorySpace::Shared, other, stride);
        value = load.emitLoad(builder, loc, shared, type);
      } else {
        ASSERT_TRUE(load.emitMove(builder, loc, address(args[0], from, sourceOffset, boundedLanes), shared));
        synchronize(builder, loc);
        shared.offset = offsetOf(builder, loc, MemorySpace::Shared, other, bytes);
        value = LLVM::LoadOp::create(builder, loc, type, emitPointer(builder, loc, shared), unsigned(shared.align));
      }
    }
    ASSERT_TRUE(value);
    ASSERT_EQ(value.getType(), type);
    ASSERT_TRUE(store.emitStore(builder, loc, value, address(args[1], to, 0, 64)));
  });
}

void runCopies(StringRef arch) {
  Kernels kernels(arch);
  std::vector<CopyCase> cases = getCopyCases(arch);
  for (auto [number, copy] : llvm::enumerate(cases)) {
    EXPECT_TRUE(verifies(parseCopy(copy.load), arch)) << copy.load;
    EXPECT_TRUE(verifies(parseCopy(copy.load), "")) << copy.load;
    EXPECT_FALSE(verifies(parseCopy(copy.load), "H800")) << copy.load;
    addCopy(kernels, "c" + std::to_string(number), copy);
  }
  kernels.finish();
  ASSERT_TRUE(kernels.isLoaded());
  for (auto [number, copy] : llvm::enumerate(cases)) {
    std::string name = "c" + std::to_string(number);
    for (const std::string &text : copy.expected)
      EXPECT_TRUE(kernels.getAssembly(name).contains(text)) << copy.load << ": no '" << text << "' in\n"
                                                            << kernels.getAssembly(name).str();
    int64_t bytes = copy.bits / 8;
    std::vector<std::vector<uint8_t>> buffers = {std::vector<uint8_t>(sourceOffset + 64 * bytes),
                                                 std::vector<uint8_t>(64 * bytes, 0xee)};
    std::mt19937 random(2);
    for (uint8_t &byte : buffers[0])
      byte = uint8_t(random() | 1);
    kernels.run(name, 64, buffers);
    if (::testing::Test::HasFatalFailure())
      return;
    // Beyond the end of a buffer is nothing; through LDS lanes come in reverse.
    int64_t there = StringRef(copy.load).contains("buffer") ? boundedLanes : 64;
    for (int64_t lane = 0; lane < 64; ++lane)
      for (int64_t i = 0; i < bytes; ++i) {
        int64_t from = copy.throughShared ? 63 - lane : lane;
        unsigned expected = from < there ? buffers[0][sourceOffset + from * bytes + i] : 0;
        ASSERT_EQ(unsigned(buffers[1][lane * bytes + i]), expected)
            << copy.load << ", byte " << i << " of lane " << lane << " on " << arch.str() << "\n"
            << kernels.getAssembly(name).str();
      }
  }
}

TEST(Atoms, CopiesOnGfx942) { runCopies("gfx942"); }
TEST(Atoms, CopiesOnGfx950) { runCopies("gfx950"); }

TEST(Atoms, TransposingReads) {
  Kernels kernels("gfx950");
  std::vector<std::string> expected;
  for (const CopyInstruction &copy : getCopyInstructions()) {
    if (copy.path != CopyPath::LdsTranspose)
      continue;
    std::string name = "t" + std::to_string(expected.size());
    expected.push_back(copy.load.str());
    CopyAtomInterface atom = parseCopy("#atx_amdgpu.lds_read_trans<" + std::to_string(copy.bits) + ", " +
                                       std::to_string(copy.elementBits) + ">");
    EXPECT_TRUE(verifies(atom, "gfx950"));
    EXPECT_FALSE(verifies(atom, "gfx942"));
    EXPECT_EQ(atom.getNumLanes(), 64);
    kernels.add(name, 1, 64, [&](OpBuilder &builder, Location loc, ValueRange args, Value lane) {
      Address shared;
      shared.base = makeShared(builder, loc, name + "_shared");
      shared.space = MemorySpace::Shared;
      shared.offset = offsetOf(builder, loc, MemorySpace::Shared, lane, 16);
      shared.align = 16;
      auto type = VectorType::get(copy.bits / 8, builder.getI8Type());
      Value value = atom.emitLoad(builder, loc, shared, type);
      ASSERT_EQ(value.getType(), type);
      LLVM::StoreOp::create(builder, loc, value, addressOf(builder, loc, args[0], lane, 16), 16);
    });
  }
  kernels.finish();
  ASSERT_TRUE(kernels.isLoaded());
  for (auto [number, mnemonic] : llvm::enumerate(expected))
    EXPECT_TRUE(kernels.getAssembly("t" + std::to_string(number)).contains(mnemonic + " ")) << mnemonic;
  auto trans = cast<atx_amdgpu::LdsReadTransAttr>(parse("#atx_amdgpu.lds_read_trans<64, 16>"));
  EXPECT_EQ(layout::toString(trans.getExchangeLayout()), "((16,4),4):((1,64),16)");
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

std::string getAtomText(const AtomicInstruction &atomic) {
  std::string type = getName(atomic.type).str();
  if (type.front() == '2')
    type = "vector<" + type + ">";
  return std::string("#atx_amdgpu.") +
         (atomic.memory == AtomicMemory::Buffer   ? "buffer"
          : atomic.memory == AtomicMemory::Global ? "global"
                                                  : "lds") +
         "_atomic<" + getName(atomic.operation).str() + ", " + type + ">";
}

/// A number as the bits of a type; both halves of packed types.
uint64_t encode(AtomicType type, int value) {
  switch (type) {
  case AtomicType::I32:
    return uint32_t(value);
  case AtomicType::I64:
    return uint64_t(int64_t(value));
  case AtomicType::F32:
    return encode(MatrixType::F32, false, value);
  case AtomicType::F64:
    return encode(MatrixType::F64, false, value);
  case AtomicType::PackedF16:
    return encode(MatrixType::F16, false, value) * 0x10001;
  case AtomicType::PackedBF16:
    return encode(MatrixType::BF16, false, value) * 0x10001;
  }
  return 0;
}

void runAtomics(StringRef arch) {
  Kernels kernels(arch);
  std::vector<const AtomicInstruction *> atomics;
  for (const AtomicInstruction &atomic : getAtomicInstructions()) {
    CopyAtomInterface atom = parseCopy(getAtomText(atomic));
    EXPECT_EQ(verifies(atom, arch), atomic.isAvailable(arch)) << getAtomText(atomic);
    EXPECT_TRUE(verifies(atom, "")) << getAtomText(atomic);
    EXPECT_FALSE(verifies(atom, "H800")) << getAtomText(atomic);
    if (!atomic.isAvailable(arch))
      continue;
    std::string name = "a" + std::to_string(atomics.size());
    atomics.push_back(&atomic);
    // Lane l combines its value with element l mod 2 of the result.
    kernels.add(name, 2, 64, [&](OpBuilder &builder, Location loc, ValueRange args, Value lane) {
      int64_t bytes = getBitWidth(atomic.type) / 8;
      auto type = VectorType::get(bytes, builder.getI8Type());
      Value value =
          LLVM::LoadOp::create(builder, loc, type, addressOf(builder, loc, args[0], lane, bytes), unsigned(bytes));
      Address address;
      address.base = args[1];
      address.space = MemorySpace::Global;
      Value odd = LLVM::AndOp::create(builder, loc, lane, number(builder, loc, 1));
      if (atomic.memory == AtomicMemory::Buffer) {
        address.base = atx_amdgpu::emitMakeBuffer(builder, loc, address, number(builder, loc, 2 * bytes, 64));
        address.space = MemorySpace::Buffer;
      } else if (atomic.memory == AtomicMemory::Lds) {
        address.base = makeShared(builder, loc, name + "_shared");
        address.space = MemorySpace::Shared;
      }
      address.offset = offsetOf(builder, loc, address.space, odd, bytes);
      address.align = bytes;
      Value result = addressOf(builder, loc, args[1], odd, bytes);
      if (atomic.memory == AtomicMemory::Lds) {
        Value old = LLVM::LoadOp::create(builder, loc, type, result, unsigned(bytes));
        LLVM::StoreOp::create(builder, loc, old, emitPointer(builder, loc, address), unsigned(bytes));
      }
      ASSERT_TRUE(atom.emitStore(builder, loc, value, address));
      if (atomic.memory == AtomicMemory::Lds) {
        Value sum = LLVM::LoadOp::create(builder, loc, type, emitPointer(builder, loc, address), unsigned(bytes));
        LLVM::StoreOp::create(builder, loc, sum, result, unsigned(bytes));
      }
    });
  }
  kernels.finish();
  ASSERT_TRUE(kernels.isLoaded());
  std::mt19937 random(3);
  for (auto [number, atomic] : llvm::enumerate(atomics)) {
    std::string name = "a" + std::to_string(number), text = getAtomText(*atomic);
    EXPECT_TRUE(kernels.getAssembly(name).contains(atomic->mnemonic.str() + " ")) << text << "\n"
                                                                                  << kernels.getAssembly(name).str();
    unsigned width = getBitWidth(atomic->type);
    std::vector<std::vector<uint8_t>> buffers = {std::vector<uint8_t>(64 * width / 8),
                                                 std::vector<uint8_t>(2 * width / 8)};
    int results[2] = {2, -2};
    for (int i = 0; i < 2; ++i)
      setBits(buffers[1], i * width, width, encode(atomic->type, results[i]));
    for (int lane = 0; lane < 64; ++lane) {
      int value = int(random() % 7) - 3, &result = results[lane % 2];
      setBits(buffers[0], lane * width, width, encode(atomic->type, value));
      switch (atomic->operation) {
      case AtomicOperation::Add:
        result += value;
        break;
      case AtomicOperation::Max:
        result = std::max(result, value);
        break;
      case AtomicOperation::Min:
        result = std::min(result, value);
        break;
      case AtomicOperation::UMax:
        result = int(std::max(unsigned(result), unsigned(value)));
        break;
      case AtomicOperation::UMin:
        result = int(std::min(unsigned(result), unsigned(value)));
        break;
      }
    }
    kernels.run(name, 64, buffers);
    if (::testing::Test::HasFatalFailure())
      return;
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(getBits(buffers[1], i * width, width), encode(atomic->type, results[i]))
          << text << " on " << arch.str();
  }
}

TEST(Atoms, AtomicsOnGfx942) { runAtomics("gfx942"); }
TEST(Atoms, AtomicsOnGfx950) { runAtomics("gfx950"); }

//===----------------------------------------------------------------------===//
// Faults of what is emitted
//===----------------------------------------------------------------------===//

TEST(Atoms, EmissionDiagnosesOperands) {
  std::string message;
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diag) {
    message = diag.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&getContext()));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Location loc = module->getLoc();
  auto vector = [&](int64_t elements, Type type) -> Value {
    return LLVM::PoisonOp::create(builder, loc, VectorType::get(elements, type));
  };
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  auto mfma = cast<MmaAtomInterface>(parse("#atx_amdgpu.mfma<16x16x16, bf16, bf16, f32>"));
  EXPECT_FALSE(mfma.emitMma(builder, loc, vector(4, i32), vector(2, i32), vector(4, f32), {}));
  EXPECT_EQ(message, "operand A of v_mfma_f32_16x16x16_bf16 has 64 bits per lane, got 'vector<4xi32>'");
  EXPECT_FALSE(mfma.emitMma(builder, loc, vector(2, i32), number(builder, loc, 1), vector(4, f32), {}));
  EXPECT_EQ(message, "operand B of v_mfma_f32_16x16x16_bf16 has 64 bits per lane, got 'i32'");
  auto scaled = cast<MmaAtomInterface>(parse("#atx_amdgpu.scaled_mfma<16x16x128, f4E2M1FN, f4E2M1FN, f32>"));
  Value ab = vector(4, i32), c = vector(4, f32), one = number(builder, loc, 1);
  EXPECT_FALSE(scaled.emitMma(builder, loc, ab, ab, c, {one}));
  EXPECT_EQ(message, "a scaled product takes the scales of A and of B, got 1 extra operands");
  EXPECT_FALSE(scaled.emitMma(builder, loc, ab, ab, c, {one, c}));
  EXPECT_EQ(message, "the scale of B must be an i32, an i8 or a vector of 32 bits, got 'vector<4xf32>'");
  EXPECT_TRUE(scaled.emitMma(builder, loc, ab, ab, c, {number(builder, loc, 1, 8), vector(4, builder.getI8Type())}));
  auto sparse = cast<MmaAtomInterface>(parse("#atx_amdgpu.smfmac<16x16x32, f16, f16, f32>"));
  EXPECT_FALSE(sparse.emitMma(builder, loc, vector(2, i32), vector(4, i32), c, {}));
  EXPECT_EQ(message, "a sparse product takes the index register, got 0 extra operands");
  EXPECT_FALSE(sparse.emitMma(builder, loc, vector(2, i32), vector(4, i32), c, {number(builder, loc, 1, 8)}));
  EXPECT_EQ(message, "the index must be an i32 or a vector of 32 bits, got 'i8'");

  Address buffer;
  buffer.base = LLVM::PoisonOp::create(builder, loc, LLVM::LLVMPointerType::get(&getContext(), 8));
  buffer.space = MemorySpace::Buffer;
  buffer.constant = int64_t(1) << 32;
  auto copy = parseCopy("#atx_amdgpu.buffer_copy<32>"), direct = parseCopy("#atx_amdgpu.buffer_copy_lds<32>");
  EXPECT_FALSE(copy.emitLoad(builder, loc, buffer, VectorType::get(1, i32)));
  EXPECT_EQ(message, "an offset of 4294967296 bytes is beyond what a buffer can address");
  EXPECT_FALSE(copy.emitStore(builder, loc, vector(1, i32), buffer));
  Address shared;
  shared.base = LLVM::PoisonOp::create(builder, loc, LLVM::LLVMPointerType::get(&getContext(), 3));
  shared.space = MemorySpace::Shared;
  EXPECT_FALSE(direct.emitMove(builder, loc, buffer, shared));
  buffer.constant = 0;
  EXPECT_FALSE(direct.emitMove(builder, loc, buffer, shared));
  EXPECT_EQ(message, "all lanes have the same destination; direct copies need 4 consecutive bytes of LDS per lane");
}

} // namespace
