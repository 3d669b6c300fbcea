//===- MatrixRunner.cpp - One matrix instruction on the device ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Sim/MatrixRunner.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

using namespace llvm;
using namespace atrex;
using namespace atrex::device;

template <class... Ts> static Error makeError(const char *format, Ts &&...args) {
  return createStringError(inconvertibleErrorCode(), formatv(format, std::forward<Ts>(args)...).str());
}

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

/// Machine code of assembler text.
static Expected<std::string> assemble(StringRef text, StringRef arch) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
  });
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError("LLVM has no AMDGPU target: {0}", message);
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instrs(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, arch, ""));
  SourceMgr sources;
  std::string diagnostics;
  sources.setDiagHandler(
      [](const SMDiagnostic &d, void *out) {
        std::string &all = *static_cast<std::string *>(out);
        all += (all.empty() ? "" : "; ") + d.getMessage().str() + " in '" + d.getLineContents().trim().str() + "'";
      },
      &diagnostics);
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, "kernel.s"), SMLoc());
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(), &sources, &options);
  std::unique_ptr<MCObjectFileInfo> info(target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(info.get());
  SmallString<4096> object;
  raw_svector_ostream os(object);
  std::unique_ptr<MCAsmBackend> backend(target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCCodeEmitter> emitter(target->createMCCodeEmitter(*instrs, context));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(os);
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(target->createMCAsmParser(*subtarget, *parser, *instrs, options));
  if (!targetParser)
    return makeError("LLVM cannot assemble for {0}", arch);
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false) || !diagnostics.empty())
    return makeError("the assembler refuses the kernel: {0}", diagnostics);
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(object, "kernel.o"));
  if (!file)
    return file.takeError();
  for (const object::SectionRef &section : (*file)->sections()) {
    if (!section.isText())
      continue;
    auto contents = section.getContents();
    if (!contents)
      return contents.takeError();
    return contents->str();
  }
  return makeError("the assembler made no code");
}

namespace {
/// A file that grows at its end.
struct Image {
  std::string bytes;
  uint64_t align(uint64_t n) {
    bytes.resize(alignTo(bytes.size(), n));
    return bytes.size();
  }
  uint64_t add(StringRef data) {
    uint64_t at = bytes.size();
    bytes += data;
    return at;
  }
  template <class T> void put(uint64_t at, const T &value) { memcpy(bytes.data() + at, &value, sizeof(T)); }
};
} // namespace

Expected<std::string> atrex::device::assembleKernel(StringRef text, StringRef arch, uint32_t kernargBytes) {
  auto code = assemble(text, arch);
  if (!code)
    return code.takeError();
  // One segment with everything; virtual addresses are file offsets.
  Image f;
  f.bytes.resize(sizeof(ELF::Elf64_Ehdr) + sizeof(ELF::Elf64_Phdr));
  uint64_t descriptor = f.align(64);
  f.bytes.resize(descriptor + 64);
  uint64_t entry = f.align(256);
  f.add(*code);
  f.align(8);
  uint64_t strings = f.add(StringRef("\0kernel\0kernel.kd\0.symtab\0.strtab\0.text\0", 41));
  uint64_t symbols = f.align(8);
  f.bytes.resize(symbols + 3 * sizeof(ELF::Elf64_Sym));
  uint64_t sections = f.align(8);
  f.bytes.resize(sections + 4 * sizeof(ELF::Elf64_Shdr));

  // The descriptor: 512 registers of which 256 are architectural, denormals on,
  // IEEE off, kernel arguments and the workgroup's x.
  f.put<uint32_t>(descriptor + 8, kernargBytes);
  f.put<uint64_t>(descriptor + 16, entry - descriptor);
  f.put<uint32_t>(descriptor + 44, 63);
  f.put<uint32_t>(descriptor + 48, 63 | 13 << 6 | 15 << 16 | 1 << 21);
  f.put<uint32_t>(descriptor + 52, 2 << 1 | 1 << 7);
  f.put<uint16_t>(descriptor + 56, 8);

  ELF::Elf64_Sym symbol = {};
  symbol.st_name = 1;
  symbol.st_info = ELF::STB_GLOBAL << 4 | ELF::STT_FUNC;
  symbol.st_shndx = 1;
  symbol.st_value = entry;
  symbol.st_size = code->size();
  f.put(symbols + sizeof(symbol), symbol);
  symbol.st_name = 8;
  symbol.st_info = ELF::STB_GLOBAL << 4 | ELF::STT_OBJECT;
  symbol.st_value = descriptor;
  symbol.st_size = 64;
  f.put(symbols + 2 * sizeof(symbol), symbol);

  ELF::Elf64_Shdr section = {};
  section.sh_name = 34;
  section.sh_type = ELF::SHT_PROGBITS;
  section.sh_flags = ELF::SHF_ALLOC | ELF::SHF_EXECINSTR;
  section.sh_addr = section.sh_offset = entry;
  section.sh_size = code->size();
  section.sh_addralign = 256;
  f.put(sections + sizeof(section), section);
  section = {};
  section.sh_name = 26;
  section.sh_type = ELF::SHT_STRTAB;
  section.sh_offset = strings;
  section.sh_size = 41;
  section.sh_addralign = 1;
  f.put(sections + 2 * sizeof(section), section);
  section = {};
  section.sh_name = 18;
  section.sh_type = ELF::SHT_SYMTAB;
  section.sh_offset = symbols;
  section.sh_size = 3 * sizeof(ELF::Elf64_Sym);
  section.sh_link = 2;
  section.sh_info = 1;
  section.sh_addralign = 8;
  section.sh_entsize = sizeof(ELF::Elf64_Sym);
  f.put(sections + 3 * sizeof(section), section);

  ELF::Elf64_Phdr segment = {};
  segment.p_type = ELF::PT_LOAD;
  segment.p_flags = ELF::PF_R | ELF::PF_X;
  segment.p_filesz = segment.p_memsz = alignTo(entry + code->size(), 8);
  segment.p_align = 4096;
  f.put(sizeof(ELF::Elf64_Ehdr), segment);

  ELF::Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELF::ElfMagic, 4);
  header.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
  header.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
  header.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
  header.e_ident[ELF::EI_OSABI] = ELF::ELFOSABI_AMDGPU_HSA;
  header.e_ident[ELF::EI_ABIVERSION] = ELF::ELFABIVERSION_AMDGPU_HSA_V5;
  header.e_type = ELF::ET_DYN;
  header.e_machine = ELF::EM_AMDGPU;
  header.e_version = ELF::EV_CURRENT;
  header.e_phoff = sizeof(ELF::Elf64_Ehdr);
  header.e_shoff = sections;
  header.e_flags = arch == "gfx950" ? ELF::EF_AMDGPU_MACH_AMDGCN_GFX950 : ELF::EF_AMDGPU_MACH_AMDGCN_GFX942;
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(segment);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(section);
  header.e_shnum = 4;
  header.e_shstrndx = 2;
  f.put(0, header);
  return f.bytes;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Input of one wave, rows of 256 bytes: 8 of A, 8 of B, 32 of C, index, two
/// scales. Output: 32 rows of D.
static constexpr unsigned rowA = 0, rowB = 8, rowC = 16, rowIndex = 48, inputRows = 64, outputRows = 32;

static std::string tuple(bool acc, unsigned first, unsigned count) {
  char file = acc ? 'a' : 'v';
  return count == 1 ? formatv("{0}{1}", file, first).str()
                    : formatv("{0}[{1}:{2}]", file, first, first + count - 1).str();
}

Expected<std::unique_ptr<MatrixRunner>> MatrixRunner::create(const MatrixForm &form, unsigned jobs) {
  const MatrixInstruction &inst = *form.inst;
  unsigned numA = getNumRegisters(inst, MatrixOperand::A, form.getTypeA()),
           numB = getNumRegisters(inst, MatrixOperand::B, form.getTypeB()),
           numC = getNumRegisters(inst, MatrixOperand::C);
  bool sparse = inst.kind == MatrixKind::Sparse;
  constexpr unsigned a = 8, b = 16, c = 32;
  unsigned d = form.inPlace || sparse ? c : 64;
  std::string text;
  raw_string_ostream os(text);
  // s[8:9] input, s[10:11] output of this wave; v1 the lane's byte.
  os << "s_load_dwordx4 s[8:11], s[0:1], 0\n"
     << "v_lshlrev_b32 v1, 2, v0\n"
     << "s_mul_i32 s4, s2, " << inputRows * 256 << "\ns_mul_hi_u32 s5, s2, " << inputRows * 256
     << "\ns_mul_i32 s6, s2, " << outputRows * 256 << "\ns_mul_hi_u32 s7, s2, " << outputRows * 256 << "\n"
     << "s_waitcnt lgkmcnt(0)\n"
     << "s_add_u32 s8, s8, s4\ns_addc_u32 s9, s9, s5\ns_add_u32 s10, s10, s6\ns_addc_u32 s11, s11, s7\n";
  auto move = [&](bool store, bool acc, unsigned reg, unsigned row) {
    os << "v_add_u32 v7, " << row * 256 << ", v1\n";
    if (store)
      os << "global_store_dword v7, " << tuple(acc, reg, 1) << ", s[10:11]\n";
    else
      os << "global_load_dword " << tuple(acc, reg, 1) << ", v7, s[8:9]\n";
  };
  for (unsigned r = 0; r < numA; ++r)
    move(false, form.accA, a + r, rowA + r);
  for (unsigned r = 0; r < numB; ++r)
    move(false, form.accB, b + r, rowB + r);
  for (unsigned r = 0; r < numC; ++r)
    move(false, form.accC, c + r, rowC + r);
  for (unsigned r = 0; r < 3; ++r)
    move(false, false, 2 + r, rowIndex + r);
  os << "s_waitcnt vmcnt(0)\n";
  auto emit = [&](unsigned dst, const std::string &third) {
    os << inst.mnemonic << ' ' << tuple(form.accC, dst, numC) << ", " << tuple(form.accA, a, numA) << ", "
       << tuple(form.accB, b, numB) << ", " << third;
    if (inst.kind == MatrixKind::Scaled)
      os << ", v3, v4";
    os << form.modifiers;
    for (auto [name, type] : {std::pair("cbsz", form.getTypeA()), std::pair("blgp", form.getTypeB())})
      if (inst.isF8F6F4())
        for (unsigned code = 0; code < 5; ++code)
          if (code && getF8F6F4Type(code) == type)
            os << ' ' << name << ':' << code;
    os << '\n';
  };
  emit(d, sparse ? "v2" : form.constantC.empty() ? tuple(form.accC, c, numC) : form.constantC);
  if (form.repeat > 1) {
    constexpr unsigned unroll = 16;
    uint32_t rest = form.repeat - 1, loops = rest / unroll;
    for (uint32_t n = 0; n < rest % unroll; ++n)
      emit(d, sparse ? "v2" : tuple(form.accC, d, numC));
    if (loops) {
      os << "s_mov_b32 s12, " << loops << "\nloop:\n";
      for (unsigned n = 0; n < unroll; ++n)
        emit(d, sparse ? "v2" : tuple(form.accC, d, numC));
      os << "s_sub_u32 s12, s12, 1\ns_cmp_lg_u32 s12, 0\ns_cbranch_scc1 loop\n";
    }
  }
  os << "s_nop 15\ns_nop 15\n";
  for (unsigned r = 0; r < numC; ++r)
    move(true, form.accC, d + r, r);
  os << "s_endpgm\n";

  auto object = assembleKernel(text, form.arch, 16);
  if (!object)
    return object.takeError();
  std::unique_ptr<MatrixRunner> runner(new MatrixRunner());
  runner->form = form;
  SimOptions options;
  options.chip = form.arch;
  options.jobs = jobs;
  auto device = createSimDevice(options);
  if (!device)
    return device.takeError();
  runner->device = std::move(*device);
  auto module = runner->device->load(MemoryBufferRef(*object, inst.mnemonic));
  if (!module)
    return module.takeError();
  runner->module = std::move(*module);
  return std::move(runner);
}

Error MatrixRunner::run(MutableArrayRef<MatrixRegisters> waves) {
  uint64_t n = waves.size();
  std::vector<uint32_t> input(n * inputRows * 64), output(n * outputRows * 64);
  auto copyRows = [](uint32_t *to, const auto &rows) { memcpy(to, rows.data(), sizeof(rows)); };
  for (uint64_t w = 0; w < n; ++w) {
    uint32_t *p = input.data() + w * inputRows * 64;
    copyRows(p + rowA * 64, waves[w].a);
    copyRows(p + rowB * 64, waves[w].b);
    copyRows(p + rowC * 64, waves[w].c);
    copyRows(p + rowIndex * 64, waves[w].index);
    copyRows(p + (rowIndex + 1) * 64, waves[w].scaleA);
    copyRows(p + (rowIndex + 2) * 64, waves[w].scaleB);
  }
  auto in = device->allocate(input.size() * 4, "input"), out = device->allocate(output.size() * 4, "output");
  if (!in || !out)
    return joinErrors(in ? Error::success() : in.takeError(), out ? Error::success() : out.takeError());
  uint64_t args[2] = {*in, *out};
  LaunchConfig config;
  config.grid = {uint32_t(n), 1, 1};
  config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(args), sizeof(args));
  config.trackMemory = false;
  config.matrixArithmetic = form.arithmetic;
  Error e = device->copyToDevice(*in, input.data(), input.size() * 4);
  if (!e) {
    auto result = device->launch(*module->lookup("kernel"), config);
    if (result)
      stats = result->stats;
    else
      e = result.takeError();
  }
  if (!e)
    e = device->copyFromDevice(output.data(), *out, output.size() * 4);
  e = joinErrors(joinErrors(std::move(e), device->free(*in)), device->free(*out));
  for (uint64_t w = 0; w < n && !e; ++w)
    memcpy(waves[w].d.data(), output.data() + w * outputRows * 64, sizeof(waves[w].d));
  return e;
}
