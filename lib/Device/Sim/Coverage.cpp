//===- Coverage.cpp - Which instructions the device executes --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Sim/Coverage.h"
#include "lib/Device/Sim/CodeObject.h"
#include "lib/Device/Sim/Decoder.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace atrex;
using namespace atrex::device;
using namespace atrex::device::sim;

StringRef atrex::device::getCodeObjectArch(MemoryBufferRef codeObject) {
  StringRef bytes = codeObject.getBuffer();
  if (bytes.size() < 64 || !bytes.starts_with(StringRef(ELF::ElfMagic, 4)))
    return "";
  switch (support::endian::read32le(bytes.data() + 48) & ELF::EF_AMDGPU_MACH) {
  case ELF::EF_AMDGPU_MACH_AMDGCN_GFX942:
    return "gfx942";
  case ELF::EF_AMDGPU_MACH_AMDGCN_GFX950:
    return "gfx950";
  default:
    return "";
  }
}

Expected<CoverageReport> atrex::device::computeCoverage(MemoryBufferRef codeObject, StringRef arch) {
  if (arch.empty())
    arch = getCodeObjectArch(codeObject);
  if (arch.empty())
    arch = "gfx942";
  const ChipInfo *chip = getDefaultChip(arch);
  if (!chip)
    return createStringError(inconvertibleErrorCode(), "unknown architecture '" + arch + "'");
  auto object = parseCodeObject(codeObject, arch);
  if (!object)
    return object.takeError();
  uint64_t begin = object->code.begin, bytes = (object->code.end - begin) & ~3ull;
  ArrayRef<uint8_t> code = ArrayRef<uint8_t>(object->image).slice(begin, bytes);
  auto program = Program::create(*chip, begin, code);
  if (!program)
    return program.takeError();
  auto disassembler = Disassembler::create(arch);
  if (!disassembler)
    return disassembler.takeError();
  CoverageReport report;
  for (uint64_t at = 0; at < bytes;) {
    auto result = (*disassembler)->decode(code.drop_front(at), begin + at, false);
    if (!result.size) {
      ++report.undecodedDwords;
      at += 4;
      continue;
    }
    ++report.instructions;
    const Inst *in = (*program)->decodeFrom(begin + at);
    if (!in || in->fn == handleUnknown)
      ++report.missing[result.mnemonic];
    at += alignTo(result.size, 4);
  }
  return report;
}

Expected<std::vector<std::string>> atrex::device::getMissingMnemonics(StringRef arch) {
  auto disassembler = Disassembler::create(arch);
  if (!disassembler)
    return disassembler.takeError();
  std::vector<std::string> missing;
  for (std::string &name : (*disassembler)->getMnemonics())
    if (!getHandlers().count(name))
      missing.push_back(std::move(name));
  return missing;
}

StringRef atrex::device::getHostLevel() { return getHandlerLevel(); }
