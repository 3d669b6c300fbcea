//===- CodeObject.cpp - AMDGPU code objects -------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/CodeObject.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/DebugInfo/DIContext.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/Object/Decompressor.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace llvm::object;
using namespace atrex::device;
using namespace atrex::device::sim;

using ELFT = ELF64LE;

/// Larger spans are taken for damage.
static constexpr uint64_t maxImageBytes = 1ull << 30;
static constexpr uint64_t descriptorBytes = 64;

template <class... Ts> static Error makeError(const char *format, Ts &&...args) {
  return createStringError(inconvertibleErrorCode(), formatv(format, std::forward<Ts>(args)...).str());
}

static Error checkHeader(const ELFT::Ehdr &header, StringRef arch, unsigned &version) {
  if (header.e_machine != ELF::EM_AMDGPU)
    return makeError("not an AMDGPU code object: machine {0}", unsigned(header.e_machine));
  if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
    return makeError("not an HSA code object: OS ABI {0}", unsigned(header.e_ident[ELF::EI_OSABI]));
  unsigned abi = header.e_ident[ELF::EI_ABIVERSION];
  if (abi < ELF::ELFABIVERSION_AMDGPU_HSA_V4 || abi > ELF::ELFABIVERSION_AMDGPU_HSA_V6)
    return makeError("code object version {0} is not supported (4 to 6 are)", abi + 2);
  version = abi + 2;
  if (header.e_type != ELF::ET_DYN)
    return makeError("not a linked code object (ELF type {0}, expected a shared object)", unsigned(header.e_type));
  unsigned mach = header.e_flags & ELF::EF_AMDGPU_MACH;
  unsigned want = arch == "gfx942" ? ELF::EF_AMDGPU_MACH_AMDGCN_GFX942
                                   : (arch == "gfx950" ? ELF::EF_AMDGPU_MACH_AMDGCN_GFX950 : 0u);
  if (mach == want)
    return Error::success();
  const char *name = mach == ELF::EF_AMDGPU_MACH_AMDGCN_GFX942   ? "gfx942"
                     : mach == ELF::EF_AMDGPU_MACH_AMDGCN_GFX950 ? "gfx950"
                     : mach == ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A ? "gfx90a"
                                                                 : nullptr;
  return makeError("code object is for {0}, the device is {1}",
                   name ? std::string(name) : formatv("machine {0:x}", mach).str(), arch);
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static std::optional<uint64_t> getInt(msgpack::MapDocNode &map, StringRef key) {
  auto it = map.find(key);
  if (it == map.end())
    return std::nullopt;
  if (it->second.getKind() == msgpack::Type::UInt)
    return it->second.getUInt();
  if (it->second.getKind() == msgpack::Type::Int && it->second.getInt() >= 0)
    return uint64_t(it->second.getInt());
  return std::nullopt;
}
static StringRef getString(msgpack::MapDocNode &map, StringRef key) {
  auto it = map.find(key);
  if (it == map.end() || it->second.getKind() != msgpack::Type::String)
    return "";
  return it->second.getString();
}

/// LLVM's document takes any value as a key of a map and then cannot compare
/// maps and arrays (it crashes); real keys are strings.
static bool hasPlainKeys(StringRef blob) {
  msgpack::Reader reader(blob);
  /// Open maps and arrays: items left, and whether keys alternate with values.
  struct Level {
    uint64_t left;
    bool map;
  };
  SmallVector<Level, 8> levels;
  msgpack::Object object;
  while (true) {
    Expected<bool> more = reader.read(object);
    if (!more) {
      consumeError(more.takeError());
      return false;
    }
    if (!*more)
      return levels.empty();
    if (!levels.empty()) {
      Level &l = levels.back();
      bool key = l.map && l.left % 2 == 0;
      --l.left;
      if (key && object.Kind != msgpack::Type::String && object.Kind != msgpack::Type::UInt &&
          object.Kind != msgpack::Type::Int)
        return false;
    }
    if (object.Kind == msgpack::Type::Map || object.Kind == msgpack::Type::Array) {
      bool map = object.Kind == msgpack::Type::Map;
      if (object.Length > blob.size())
        return false;
      levels.push_back({uint64_t(object.Length) * (map ? 2 : 1), map});
    }
    while (!levels.empty() && !levels.back().left)
      levels.pop_back();
    if (levels.empty())
      return true;
  }
}

static Error readMetadata(StringRef blob, std::vector<KernelDesc> &kernels) {
  if (!hasPlainKeys(blob))
    return makeError("the metadata note is not valid MessagePack");
  msgpack::Document doc;
  if (!doc.readFromBlob(blob, /*Multi=*/false))
    return makeError("the metadata note is not valid MessagePack");
  if (doc.getRoot().getKind() != msgpack::Type::Map)
    return makeError("the metadata note is not a map");
  msgpack::MapDocNode &root = doc.getRoot().getMap();
  auto list = root.find("amdhsa.kernels");
  if (list == root.end())
    return Error::success();
  if (list->second.getKind() != msgpack::Type::Array)
    return makeError("amdhsa.kernels of the metadata is not an array");
  for (msgpack::DocNode &node : list->second.getArray()) {
    if (node.getKind() != msgpack::Type::Map)
      return makeError("a kernel of the metadata is not a map");
    msgpack::MapDocNode &map = node.getMap();
    StringRef symbol = getString(map, ".symbol");
    symbol.consume_back(".kd");
    if (symbol.empty())
      symbol = getString(map, ".name");
    auto kernel = llvm::find_if(kernels, [&](const KernelDesc &k) { return k.name == symbol; });
    if (kernel == kernels.end())
      continue;
    uint64_t acc = getInt(map, ".agpr_count").value_or(0);
    if (auto v = getInt(map, ".vgpr_count"); v && *v <= 1024)
      kernel->resources.vgprs = uint32_t(std::max<uint64_t>(*v, 1));
    if (acc <= 512)
      kernel->resources.agprs = uint32_t(acc);
    if (auto v = getInt(map, ".sgpr_count"); v && *v <= 1024)
      kernel->resources.sgprs = uint32_t(*v);
    if (auto v = getInt(map, ".kernarg_segment_size"); v && *v <= (1u << 20))
      kernel->resources.kernargBytes = std::max(kernel->resources.kernargBytes, uint32_t(*v));
    if (auto v = getInt(map, ".vgpr_spill_count"); v && *v <= (1u << 24))
      kernel->vgprSpills = uint32_t(*v);
    if (auto v = getInt(map, ".sgpr_spill_count"); v && *v <= (1u << 24))
      kernel->sgprSpills = uint32_t(*v);
    if (auto v = getInt(map, ".max_flat_workgroup_size"); v && *v <= 65536)
      kernel->maxWorkgroupSize = uint32_t(*v);
    auto required = map.find(".reqd_workgroup_size");
    if (required != map.end() && required->second.getKind() == msgpack::Type::Array &&
        required->second.getArray().size() == 3)
      for (unsigned d = 0; d < 3; ++d)
        if (required->second.getArray()[d].getKind() == msgpack::Type::UInt)
          kernel->requiredWorkgroup[d] = uint32_t(required->second.getArray()[d].getUInt());
    auto args = map.find(".args");
    if (args == map.end())
      continue;
    if (args->second.getKind() != msgpack::Type::Array)
      return makeError("the arguments of kernel '{0}' are not an array", symbol);
    for (msgpack::DocNode &argNode : args->second.getArray()) {
      if (argNode.getKind() != msgpack::Type::Map)
        return makeError("an argument of kernel '{0}' is not a map", symbol);
      msgpack::MapDocNode &arg = argNode.getMap();
      auto offset = getInt(arg, ".offset"), size = getInt(arg, ".size");
      if (!offset || !size || *offset > (1u << 20) || *size > (1u << 20))
        return makeError("an argument of kernel '{0}' has no valid offset and size", symbol);
      KernelArgInfo info;
      info.name = getString(arg, ".name").str();
      info.valueKind = getString(arg, ".value_kind").str();
      info.offset = uint32_t(*offset);
      info.size = uint32_t(*size);
      kernel->resources.kernargBytes = std::max(kernel->resources.kernargBytes, info.offset + info.size);
      kernel->args.push_back(std::move(info));
    }
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static Error readDescriptor(const CodeObject &object, uint64_t address, KernelDesc &k) {
  if (address > object.image.size() || object.image.size() - address < descriptorBytes)
    return makeError("the descriptor of kernel '{0}' lies outside of the loaded segments", k.name);
  const uint8_t *p = object.image.data() + address;
  k.descriptor = address;
  k.resources.staticLdsBytes = support::endian::read32le(p);
  k.resources.scratchBytesPerLane = support::endian::read32le(p + 4);
  k.resources.kernargBytes = support::endian::read32le(p + 8);
  k.entry = address + support::endian::read64le(p + 16);
  k.rsrc3 = support::endian::read32le(p + 44);
  k.rsrc1 = support::endian::read32le(p + 48);
  k.rsrc2 = support::endian::read32le(p + 52);
  k.properties = support::endian::read16le(p + 56);
  k.preload = support::endian::read16le(p + 58);
  if (k.resources.kernargBytes > (1u << 20))
    return makeError("kernel '{0}' declares {1} bytes of arguments", k.name, k.resources.kernargBytes);
  if (k.resources.scratchBytesPerLane > (1u << 20))
    return makeError("kernel '{0}' declares {1} bytes of scratch per lane", k.name, k.resources.scratchBytesPerLane);
  k.dynamicStack = k.properties & (1u << 11);
  // Preloading firmware enters behind the 256 bytes that load the arguments.
  if (k.preload & 0x7f)
    k.entry += 256;
  if (k.entry < object.code.begin || k.entry >= object.code.end || (k.entry & 3))
    return makeError("the entry of kernel '{0}' ({1:x}) lies outside of the code", k.name, k.entry);
  if (k.properties & (1u << 10))
    return makeError("kernel '{0}' is built for waves of 32 lanes", k.name);
  unsigned total = ((k.rsrc1 & 63) + 1) * 8, arch = ((k.rsrc3 & 63) + 1) * 4;
  k.resources.vgprs = total;
  k.resources.agprs = total > arch ? total - arch : 0;
  k.resources.sgprs = 112;
  return Error::success();
}

static Error readRelocations(const ELFFile<ELFT> &elf, ArrayRef<ELFT::Shdr> sections, CodeObject &object) {
  for (const ELFT::Shdr &section : sections) {
    if (section.sh_type != ELF::SHT_RELA || !(section.sh_flags & ELF::SHF_ALLOC))
      continue;
    auto relas = elf.relas(section);
    if (!relas)
      return relas.takeError();
    const ELFT::Shdr *symtab = nullptr;
    if (section.sh_link) {
      auto link = elf.getSection(section.sh_link);
      if (!link)
        return link.takeError();
      symtab = *link;
    }
    for (const ELFT::Rela &rela : *relas) {
      uint32_t type = rela.getType(false);
      if (type == ELF::R_AMDGPU_NONE)
        continue;
      uint64_t symbolValue = 0;
      if (uint32_t index = rela.getSymbol(false)) {
        if (!symtab)
          return makeError("a relocation names a symbol but its section has no symbol table");
        auto sym = elf.template getEntry<ELFT::Sym>(*symtab, index);
        if (!sym)
          return sym.takeError();
        if ((*sym)->st_shndx == ELF::SHN_UNDEF) {
          std::string name = "?";
          auto strings = elf.getStringTableForSymtab(*symtab, sections);
          if (strings) {
            auto n = (*sym)->getName(*strings);
            if (n)
              name = n->str();
            else
              consumeError(n.takeError());
          } else {
            consumeError(strings.takeError());
          }
          return makeError("undefined symbol '{0}'", name);
        }
        symbolValue = (*sym)->st_value;
      }
      CodeObject::Relocation r = {rela.r_offset, symbolValue + uint64_t(int64_t(rela.r_addend)), 8, 0, true, false};
      switch (type) {
      case ELF::R_AMDGPU_RELATIVE64:
      case ELF::R_AMDGPU_ABS64:
        break;
      case ELF::R_AMDGPU_ABS32_LO:
      case ELF::R_AMDGPU_ABS32:
        r.bytes = 4;
        break;
      case ELF::R_AMDGPU_ABS32_HI:
        r.bytes = 4;
        r.shift = 32;
        break;
      case ELF::R_AMDGPU_REL64:
        r.relative = true;
        break;
      case ELF::R_AMDGPU_REL32:
      case ELF::R_AMDGPU_REL32_LO:
        r.relative = true;
        r.bytes = 4;
        break;
      case ELF::R_AMDGPU_REL32_HI:
        r.relative = true;
        r.bytes = 4;
        r.shift = 32;
        break;
      default:
        return makeError("relocation type {0} is not supported", type);
      }
      if (r.offset > object.image.size() || object.image.size() - r.offset < r.bytes)
        return makeError("a relocation at {0:x} lies outside of the loaded segments", r.offset);
      object.relocations.push_back(r);
    }
  }
  return Error::success();
}

Expected<CodeObject> atrex::device::sim::parseCodeObject(MemoryBufferRef buffer, StringRef arch) {
  CodeObject object;
  object.file = MemoryBuffer::getMemBufferCopy(buffer.getBuffer(), buffer.getBufferIdentifier());
  StringRef bytes = object.file->getBuffer();
  if (!bytes.starts_with(StringRef(ELF::ElfMagic, 4)))
    return makeError("not an ELF file");
  if (bytes.size() < sizeof(ELFT::Ehdr) || bytes[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      bytes[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return makeError("not a 64-bit little-endian ELF file");
  auto elf = ELFFile<ELFT>::create(bytes);
  if (!elf)
    return elf.takeError();
  if (Error e = checkHeader(elf->getHeader(), arch, object.version))
    return std::move(e);

  auto segments = elf->program_headers();
  if (!segments)
    return segments.takeError();
  uint64_t end = 0;
  for (const ELFT::Phdr &p : *segments) {
    if (p.p_type != ELF::PT_LOAD)
      continue;
    if (p.p_vaddr > maxImageBytes || p.p_memsz > maxImageBytes || p.p_filesz > p.p_memsz)
      return makeError("a segment at {0:x} of {1} bytes is out of bounds", uint64_t(p.p_vaddr), uint64_t(p.p_memsz));
    if (p.p_offset > bytes.size() || p.p_filesz > bytes.size() - p.p_offset)
      return makeError("the file is truncated: a segment ends at byte {0} of {1}", uint64_t(p.p_offset + p.p_filesz),
                       bytes.size());
    end = std::max<uint64_t>(end, p.p_vaddr + p.p_memsz);
    if (p.p_flags & ELF::PF_X && p.p_filesz) {
      uint64_t first = alignTo(uint64_t(p.p_vaddr), 4), last = p.p_vaddr + p.p_filesz;
      if (object.code.begin == object.code.end)
        object.code = {first, last};
      else
        object.code = {std::min(object.code.begin, first), std::max(object.code.end, last)};
    }
  }
  if (!end)
    return makeError("the code object has no loadable segment");
  object.image.resize(alignTo(end, 8));
  for (const ELFT::Phdr &p : *segments)
    if (p.p_type == ELF::PT_LOAD && p.p_filesz)
      memcpy(object.image.data() + p.p_vaddr, bytes.data() + p.p_offset, p.p_filesz);

  auto sections = elf->sections();
  if (!sections)
    return sections.takeError();
  if (Error e = readRelocations(*elf, *sections, object))
    return std::move(e);

  for (uint32_t wanted : {uint32_t(ELF::SHT_DYNSYM), uint32_t(ELF::SHT_SYMTAB)}) {
    for (const ELFT::Shdr &section : *sections) {
      if (section.sh_type != wanted)
        continue;
      auto symbols = elf->symbols(&section);
      if (!symbols)
        return symbols.takeError();
      auto strings = elf->getStringTableForSymtab(section, *sections);
      if (!strings)
        return strings.takeError();
      for (const ELFT::Sym &sym : *symbols) {
        auto name = sym.getName(*strings);
        if (!name)
          return name.takeError();
        StringRef kernel = *name;
        if (!kernel.consume_back(".kd") || kernel.empty() || sym.st_shndx == ELF::SHN_UNDEF)
          continue;
        if (llvm::any_of(object.kernels, [&](const KernelDesc &k) { return k.name == kernel; }))
          continue;
        KernelDesc k;
        k.name = kernel.str();
        if (Error e = readDescriptor(object, sym.st_value, k))
          return std::move(e);
        object.kernels.push_back(std::move(k));
      }
    }
  }
  if (object.kernels.empty())
    return makeError("the code object has no kernel");

  for (const ELFT::Phdr &p : *segments) {
    if (p.p_type != ELF::PT_NOTE)
      continue;
    Error err = Error::success();
    for (const ELFT::Note &note : elf->notes(p, err)) {
      if (note.getName() != "AMDGPU" || note.getType() != ELF::NT_AMDGPU_METADATA)
        continue;
      ArrayRef<uint8_t> desc = note.getDesc(std::max<uint64_t>(4, p.p_align));
      if (Error e = readMetadata(StringRef(reinterpret_cast<const char *>(desc.data()), desc.size()), object.kernels)) {
        consumeError(std::move(err));
        return std::move(e);
      }
    }
    if (err)
      return std::move(err);
  }
  for (KernelDesc &k : object.kernels)
    k.resources.vgprs = std::max(k.resources.vgprs, 1u);
  return std::move(object);
}

struct SourceLines::Impl {
  std::unique_ptr<ObjectFile> binary;
  std::unique_ptr<DWARFContext> dwarf;
  std::vector<DWARFDebugLine::LineTable> tables;
};

/// LLVM allocates what a compressed section claims to hold before it looks
/// further; a damaged header claims anything. Real line tables shrink at most
/// about a hundredfold.
static bool hasPlausibleSections(const ObjectFile &object) {
  for (const SectionRef &section : object.sections()) {
    if (!section.isCompressed())
      continue;
    Expected<StringRef> name = section.getName();
    Expected<StringRef> contents = section.getContents();
    if (!name || !contents) {
      if (!name)
        consumeError(name.takeError());
      if (!contents)
        consumeError(contents.takeError());
      return false;
    }
    Expected<Decompressor> decompressor =
        Decompressor::create(*name, *contents, object.isLittleEndian(), object.is64Bit());
    if (!decompressor) {
      consumeError(decompressor.takeError());
      return false;
    }
    if (decompressor->getDecompressedSize() > 1000 * uint64_t(contents->size()))
      return false;
  }
  return true;
}

SourceLines::~SourceLines() = default;

SourceLines::SourceLines(const CodeObject &object) : impl(std::make_unique<Impl>()) {
  auto binary = ObjectFile::createObjectFile(object.file->getMemBufferRef());
  if (!binary) {
    consumeError(binary.takeError());
    return;
  }
  impl->binary = std::move(*binary);
  if (!hasPlausibleSections(*impl->binary))
    return;
  auto ignore = [](Error e) { consumeError(std::move(e)); };
  impl->dwarf =
      DWARFContext::create(*impl->binary, DWARFContext::ProcessDebugRelocations::Process, nullptr, "", ignore, ignore);
  if (!impl->dwarf)
    return;
  // Straight from the line tables: LLVM's walk over the entries of a unit does
  // not withstand damaged input, and the entries are not needed.
  const DWARFObject &sections = impl->dwarf->getDWARFObj();
  DWARFDataExtractor data(sections, sections.getLineSection(), impl->dwarf->isLittleEndian(), 8);
  DWARFDebugLine::SectionParser parser(data, *impl->dwarf, DWARFUnitVector::iterator_range(nullptr, nullptr));
  while (!parser.done())
    impl->tables.push_back(parser.parseNext(ignore, ignore));
}

SourceLines::Location SourceLines::lookup(uint64_t address) const {
  for (const DWARFDebugLine::LineTable &table : impl->tables) {
    DILineInfo info;
    if (!table.getFileLineInfoForAddress({address, SectionedAddress::UndefSection}, /*Approximate=*/false, nullptr,
                                         DILineInfoSpecifier::FileLineInfoKind::RawValue, info))
      continue;
    if (info.Line && !info.FileName.empty() && info.FileName != DILineInfo::BadString)
      return {info.FileName, info.Line};
  }
  return {};
}

std::string SourceLines::Location::str() const {
  return file.empty() ? std::string() : formatv("{0}:{1}", file, line).str();
}

std::string atrex::device::sim::lookupSourceLine(const CodeObject &object, uint64_t address) {
  return SourceLines(object).lookup(address).str();
}
