//===- InstructionSet.cpp - Every instruction of a processor --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list of instructions comes from LLVM and from nowhere else: every opcode
// field of every encoding is filled with every value and many operand patterns,
// and what the processor's disassembler accepts is in the list.
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Sim/Coverage.h"
#include "lib/Device/Sim/Decoder.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"
#include <array>
#include <mutex>

extern "C" void LLVMInitializeAMDGPUAsmParser();

using namespace llvm;
using namespace atrex;
using namespace atrex::device;
using namespace atrex::device::sim;

namespace {

/// An encoding: the bits that say so, where the opcode sits, and whether a second
/// dword always belongs to it.
struct Encoding {
  const char *name;
  uint32_t mask, fixed;
  unsigned shift, bits;
  bool wide;
};

constexpr uint32_t top(unsigned bits) { return ~0u << (32 - bits); }
constexpr uint32_t segment = 3u << 14;
constexpr Encoding encodings[] = {
    {"SOP2", top(2), 2u << 30, 23, 7, false},
    {"SOPK", top(4), 0xbu << 28, 23, 5, false},
    {"SOP1", top(9), 0x17du << 23, 8, 8, false},
    {"SOPC", top(9), 0x17eu << 23, 16, 7, false},
    {"SOPP", top(9), 0x17fu << 23, 16, 7, false},
    {"SMEM", top(6), 0x30u << 26, 18, 8, true},
    {"VOP2", top(1), 0, 25, 6, false},
    {"VOP1", top(7), 0x3fu << 25, 9, 8, false},
    {"VOPC", top(7), 0x3eu << 25, 17, 8, false},
    {"VOP3", top(6), 0x34u << 26, 16, 10, true},
    {"VOP3P", top(9), 0x1a7u << 23, 16, 7, true},
    {"DS", top(6), 0x36u << 26, 17, 8, true},
    {"FLAT", top(6) | segment, 0x37u << 26, 18, 7, true},
    {"GLOBAL", top(6) | segment, 0x37u << 26 | 2u << 14, 18, 7, true},
    {"SCRATCH", top(6) | segment, 0x37u << 26 | 1u << 14, 18, 7, true},
    {"MUBUF", top(6), 0x38u << 26, 18, 7, true},
    {"MTBUF", top(6), 0x3au << 26, 15, 4, true},
    {"MIMG", top(6), 0x3cu << 26, 18, 7, true},
    {"EXP", top(6), 0x31u << 26, 4, 6, true},
    {"VINTRP", top(6), 0x35u << 26, 16, 2, false},
};

/// Deterministic operand bits.
class Generator {
public:
  uint64_t next() {
    state += 0x9e3779b97f4a7c15ull;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

private:
  uint64_t state = 1;
};

/// The class an instruction is counted in.
std::string classify(const Encoding &e, const Disassembler::Result &r) {
  StringRef m = r.mnemonic;
  if (m.starts_with("v_mfma_") || m.starts_with("v_smfmac_"))
    return "MFMA";
  StringRef name = r.name;
  if (name.contains("_sdwa"))
    return std::string(e.name) + "_SDWA";
  if (name.contains("_dpp"))
    return std::string(e.name) + "_DPP";
  return e.name;
}

/// Notes the lines that became instructions.
class LineStreamer : public MCStreamer {
public:
  LineStreamer(MCContext &context, const SourceMgr &sources, std::vector<bool> &lines)
      : MCStreamer(context), sources(sources), lines(lines) {}
  void emitInstruction(const MCInst &inst, const MCSubtargetInfo &) override {
    unsigned line = sources.getLineAndColumn(inst.getLoc()).first;
    if (line && line <= lines.size())
      lines[line - 1] = true;
  }
  bool emitSymbolAttribute(MCSymbol *, MCSymbolAttr) override { return true; }
  void emitCommonSymbol(MCSymbol *, uint64_t, Align) override {}

private:
  const SourceMgr &sources;
  std::vector<bool> &lines;
};

/// Which lines of `text` the processor's assembler accepts.
Expected<std::vector<bool>> assemble(StringRef arch, StringRef text) {
  static std::once_flag once;
  std::call_once(once, [] { LLVMInitializeAMDGPUAsmParser(); });
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(inconvertibleErrorCode(), message);
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instrs(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, arch, ""));
  std::vector<bool> lines(text.count('\n'));
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text), SMLoc());
  sources.setDiagHandler([](const SMDiagnostic &, void *) {});
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(), &sources);
  std::unique_ptr<MCObjectFileInfo> objectInfo(target->createMCObjectFileInfo(context, true));
  context.setObjectFileInfo(objectInfo.get());
  context.setDiagnosticHandler([](const SMDiagnostic &, bool, const SourceMgr &, std::vector<const MDNode *> &) {});
  LineStreamer streamer(context, sources, lines);
  target->createNullTargetStreamer(streamer);
  std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(target->createMCAsmParser(*subtarget, *parser, *instrs, options));
  if (!targetParser)
    return createStringError(inconvertibleErrorCode(), "LLVM has no assembler for " + arch);
  parser->setTargetParser(*targetParser);
  parser->Run(false);
  return lines;
}

} // namespace

std::string atrex::device::getExclusionReason(StringRef mnemonic, StringRef encoding) {
  if (mnemonic.starts_with("v_screen_partition_"))
    return "screen tiles of the rasterizer: graphics only";
  if (encoding == "MIMG")
    return "image instruction: the processors have no image unit for compute";
  if (encoding == "EXP")
    return "export: graphics only";
  if (encoding == "VINTRP" || mnemonic.starts_with("v_interp_"))
    return "attribute interpolation: graphics only";
  return "";
}

Expected<std::vector<IsaEntry>> atrex::device::computeIsaCoverage(const ChipInfo &chip) {
  auto disassembler = Disassembler::create(chip.arch);
  if (!disassembler)
    return disassembler.takeError();
  std::map<std::pair<unsigned, std::string>, IsaEntry> found;
  Generator random;
  constexpr unsigned samplesPerEntry = 8, triesPerEntry = 48, patterns = 384;
  for (const Encoding &e : encodings) {
    for (uint32_t op = 0; op < (1u << e.bits); ++op) {
      for (unsigned p = 0; p < patterns; ++p) {
        uint64_t rest = p == 0 ? 0 : random.next();
        // Even registers, few modifiers, or everything.
        if (p % 4 == 1)
          rest &= 0x00fefefe00fefefeull;
        if (p % 4 == 2)
          rest &= 0x0000fefe0000fefeull;
        uint32_t opMask = ((1u << e.bits) - 1) << e.shift;
        // Vector registers, even ones, in all three sources.
        if (e.wide && p % 4 == 3 && StringRef(e.name).starts_with("VOP3"))
          rest = (rest & ~(0x201ull << 32 | 1ull << 50 | (p % 8 == 3 ? 0xe000ff00ull << 32 | 0xff01 : 1))) |
                 0x04020100ull << 32;
        // Vector registers, then a scalar pair; the other way round.
        if (e.wide && (p % 8 == 5 || p % 8 == 6) && StringRef(e.name).starts_with("VOP3")) {
          uint64_t vector = random.next() & 0xfe, scalar = random.next() & 0x3e, third = random.next() & 0x3e;
          rest = (rest & 0x3e) | (p % 16 < 8 ? random.next() & 0x3e00 : 0) | (vector | 256) << 32;
          rest |= p % 8 == 5 ? (vector | 256) << 41 | third << 50 : scalar << 41 | (vector | 256) << 50;
        }
        if (e.wide && p % 4 == 3 && !StringRef(e.name).starts_with("VOP3"))
          rest &= 0xfefefefefffffffeull;
        // Global wave synchronization: a bit of its own, and one operand.
        if (e.name == StringRef("DS") && p % 16 == 8)
          rest = (rest & 0xfe0000ffffull) | 1u << 16;
        // Without a scalar address.
        if ((e.mask & segment) && p % 3)
          rest |= 0x7full << 48;
        // Dot products of gfx942 take their halves in the usual order only.
        if (e.name == StringRef("VOP3P") && p % 16 == 3)
          rest = (rest & ~0x3800ull) | 3ull << 59 | 0x4000;
        uint32_t lo = uint32_t(rest), hi = uint32_t(rest >> 32);
        // The ways a VOP1, VOP2 or VOPC goes on: plain, SDWA, DPP.
        if (StringRef(e.name).starts_with("VOP") && !e.wide) {
          uint32_t source = p % 8 < 4 ? (lo & 0x1ff) : p % 8 < 6 ? 249 : 250;
          if (p % 8 >= 2 && p % 8 < 4)
            source = 256 | (lo & 0xfe);
          lo = (lo & ~0x1ffu) | source;
          if (source == 249) {
            uint32_t sel = uint32_t(random.next());
            hi &= 0x00ff; // Source register.
            // Selections and the fate of the unused bits.
            if (StringRef(e.name) != "VOPC")
              hi |= (sel % 7) << 8 | (sel >> 8) % 3 << 11;
            hi |= ((sel >> 16) % 7) << 16 | ((sel >> 24) % 7) << 24;
            hi |= uint32_t(random.next()) & 0x30300000u & (p & 8 ? ~0u : 0u);
          } else if (source == 250) {
            static const uint32_t controls[] = {0x000, 0x0e4, 0x101, 0x111, 0x121, 0x130, 0x134, 0x138,
                                                0x13c, 0x140, 0x141, 0x142, 0x143, 0x150, 0x155, 0x15f};
            hi = (hi & 0xfe) | controls[(p / 8) % 16] << 8 | 0xff000000u | (p & 16 ? 1u << 19 : 0);
          }
        }
        lo = (lo & ~(opMask | e.mask)) | e.fixed | op << e.shift;
        std::array<uint8_t, 16> bytes = {};
        support::endian::write32le(bytes.data(), lo);
        support::endian::write32le(bytes.data() + 4, hi);
        // A scaled matrix instruction is a prefix and the instruction itself.
        if ((lo >> 16) == 0xd3ac) {
          uint64_t r = random.next();
          support::endian::write32le(bytes.data() + 8, 0xd3ad0000u | uint32_t(r & 0x100fe));
          support::endian::write32le(bytes.data() + 12, 0x04020100u | (uint32_t(r >> 32) & 0x03f9fcfeu));
        }
        auto first = (*disassembler)->decode(bytes, 0, false);
        if (!first.size || first.mnemonic.empty())
          continue;
        std::vector<uint8_t> canonical = (*disassembler)->canonicalize(bytes);
        auto r = (*disassembler)->decode(canonical, 0, true);
        if (!r.size || r.size != canonical.size() || r.opcode != first.opcode)
          continue;
        // Another encoding inside this one's range has its own row.
        if (e.name == StringRef("SOP2") && (lo >> 28) == 0xb)
          continue;
        if (e.name == StringRef("SOPK") && (lo >> 23) >= 0x17d)
          continue;
        if (e.name == StringRef("VOP2") && (lo >> 25) >= 0x3e)
          continue;
        if (e.name == StringRef("VOP3") && (lo >> 23) == 0x1a7)
          continue;
        std::string cls = classify(e, r);
        IsaEntry &entry = found[{r.opcode, cls}];
        if (entry.opcode.empty()) {
          entry.opcode = r.name;
          entry.mnemonic = r.mnemonic;
          entry.encoding = cls;
          entry.excluded = getExclusionReason(r.mnemonic, cls);
        }
        if (entry.samples.size() >= triesPerEntry)
          continue;
        IsaEntry::Sample s;
        s.bytes = std::move(canonical);
        if (any_of(entry.samples, [&](const IsaEntry::Sample &o) { return o.bytes == s.bytes; }))
          continue;
        s.text = r.text;
        entry.samples.push_back(std::move(s));
      }
    }
  }
  // What the assembler does not take back is no instruction of the processor:
  // the disassembler is lenient about registers and constants.
  std::string text;
  for (auto &[key, entry] : found)
    for (const IsaEntry::Sample &s : entry.samples)
      text += s.text + '\n';
  auto accepted = assemble(chip.arch, text);
  if (!accepted)
    return accepted.takeError();
  // The longest encoding has 16 bytes.
  constexpr uint64_t slotBytes = 16;
  std::vector<uint8_t> code;
  std::vector<IsaEntry> result;
  unsigned line = 0;
  for (auto &[key, entry] : found) {
    std::vector<IsaEntry::Sample> samples;
    for (IsaEntry::Sample &s : entry.samples)
      if ((*accepted)[line++] && samples.size() < samplesPerEntry)
        samples.push_back(std::move(s));
    if (samples.empty())
      continue;
    entry.samples = std::move(samples);
    for (IsaEntry::Sample &s : entry.samples) {
      code.insert(code.end(), s.bytes.begin(), s.bytes.end());
      code.resize(alignTo(code.size(), slotBytes));
    }
    result.push_back(std::move(entry));
  }
  auto program = Program::create(chip, 0x1000, code);
  if (!program)
    return program.takeError();
  uint64_t at = 0x1000;
  for (IsaEntry &entry : result) {
    for (IsaEntry::Sample &s : entry.samples) {
      const Inst *in = (*program)->decodeFrom(at);
      s.handled = in && in->fn != handleUnknown;
      at += slotBytes;
    }
    entry.handled = all_of(entry.samples, [](const IsaEntry::Sample &s) { return s.handled; });
  }
  llvm::sort(result, [](const IsaEntry &a, const IsaEntry &b) {
    return std::tie(a.encoding, a.mnemonic, a.opcode) < std::tie(b.encoding, b.mnemonic, b.opcode);
  });
  return result;
}
