//===- Fuzz.cpp - Damaged code objects against the embedded device --------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes a code object at random and runs what still loads, with a small budget
// of instructions. Every outcome but a crash is fine: the exit code is 0.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "atrex/Device/Device.h"
#include "atrex/Device/Sim/Coverage.h"
#include "atrex/Support/FileInput.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <random>

using namespace llvm;
using namespace atrex;
using namespace atrex::device;

static cl::opt<std::string> fuzzFile(cl::Positional, cl::Required, cl::desc("FILE"), cl::sub(getFuzzCommand()));
static cl::opt<uint64_t> fuzzSeed("seed", cl::desc("Seed of the changes"), cl::init(1), cl::sub(getFuzzCommand()));
static cl::opt<uint64_t> fuzzCount("count", cl::desc("Damaged files to run"), cl::init(1000),
                                   cl::sub(getFuzzCommand()));
static cl::opt<uint64_t> fuzzFirst("first", cl::desc("Number of the first one, to repeat it alone with --count 1"),
                                   cl::init(0), cl::sub(getFuzzCommand()));
static cl::opt<bool> fuzzVerbose("verbose", cl::desc("Print every outcome"), cl::sub(getFuzzCommand()));

cl::SubCommand &getFuzzCommand() {
  static cl::SubCommand command("fuzz", "Run randomly damaged copies of a code object; only a crash is a failure");
  return command;
}

namespace {
struct Span {
  uint64_t offset, size;
};
} // namespace

/// Where changes are worth while: headers and sections, by kind.
static std::vector<Span> findSpans(StringRef file) {
  std::vector<Span> spans = {{0, file.size()}};
  auto elf = object::ELFFile<object::ELF64LE>::create(file);
  if (!elf) {
    consumeError(elf.takeError());
    return spans;
  }
  const auto &header = elf->getHeader();
  auto add = [&](uint64_t offset, uint64_t size, unsigned times) {
    if (size && offset < file.size() && size <= file.size() - offset)
      spans.insert(spans.end(), times, {offset, size});
  };
  add(0, 64, 1);
  add(header.e_phoff, uint64_t(header.e_phnum) * header.e_phentsize, 1);
  add(header.e_shoff, uint64_t(header.e_shnum) * header.e_shentsize, 1);
  auto sections = elf->sections();
  if (!sections) {
    consumeError(sections.takeError());
    return spans;
  }
  for (const auto &section : *sections) {
    if (section.sh_type == ELF::SHT_NOBITS)
      continue;
    bool code = section.sh_flags & ELF::SHF_EXECINSTR;
    // Code, descriptors (read-only data), metadata, relocations, symbols.
    unsigned times = code                                                                   ? 6
                     : section.sh_type == ELF::SHT_NOTE || section.sh_type == ELF::SHT_RELA ? 2
                     : section.sh_flags & ELF::SHF_ALLOC                                    ? 2
                                                                                            : 1;
    add(section.sh_offset, section.sh_size, times);
  }
  return spans;
}

static void change(std::string &bytes, const std::vector<Span> &spans, std::mt19937_64 &random) {
  auto draw = [&](uint64_t n) { return n ? random() % n : 0; };
  if (!draw(50)) {
    bytes.resize(draw(bytes.size()));
    return;
  }
  for (uint64_t k = 0, n = 1 + draw(6); k < n; ++k) {
    const Span &s = spans[draw(spans.size())];
    uint64_t at = s.offset + draw(s.size);
    uint64_t word = s.offset + (draw(s.size) & ~3ull);
    bool room = word + 4 <= bytes.size();
    switch (draw(6)) {
    case 0:
      bytes[at] = char(bytes[at] ^ (1 << draw(8)));
      break;
    case 1:
      bytes[at] = char(random());
      break;
    case 2:
      if (room) {
        uint32_t x = uint32_t(random());
        memcpy(&bytes[word], &x, 4);
      }
      break;
    case 3: {
      // A word from elsewhere in the same part: another instruction, mostly.
      uint64_t from = s.offset + (draw(s.size) & ~3ull);
      if (room && from + 4 <= bytes.size())
        memmove(&bytes[word], &bytes[from], 4);
      break;
    }
    case 4: {
      static const uint32_t odd[] = {0, 1, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0x10000u, 0xffffu, 0x100u};
      if (room)
        memcpy(&bytes[word], &odd[draw(8)], 4);
      break;
    }
    default:
      if (room) {
        uint32_t x;
        memcpy(&x, &bytes[word], 4);
        x ^= 1u << draw(32);
        memcpy(&bytes[word], &x, 4);
      }
      break;
    }
  }
}

int runFuzz() {
  auto buffer = readRegularFile(fuzzFile, 1ull << 30);
  if (!buffer) {
    errs() << "atrex-sim: error: " << toString(buffer.takeError()) << '\n';
    return 1;
  }
  std::string original = (*buffer)->getBuffer().str();
  std::vector<Span> spans = findSpans(original);
  StringRef arch = getCodeObjectArch((*buffer)->getMemBufferRef());
  uint64_t rejected = 0, launched = 0, failed = 0, finished = 0, findings = 0;
  std::map<std::string, uint64_t> kinds;
  for (uint64_t n = fuzzFirst; n < fuzzFirst + fuzzCount; ++n) {
    std::mt19937_64 random(fuzzSeed * 0x9e3779b97f4a7c15ull + n);
    std::string bytes = original;
    change(bytes, spans, random);
    auto note = [&](StringRef outcome) {
      if (fuzzVerbose)
        outs() << n << ": " << outcome << '\n';
    };
    SimOptions options;
    if (random() % 8 && !arch.empty())
      options.chip = arch.str();
    else
      options.chip = random() % 2 ? "gfx942" : "gfx950";
    options.jobs = 1;
    auto dev = createSimDevice(options);
    if (!dev) {
      errs() << "atrex-sim: error: " << toString(dev.takeError()) << '\n';
      return 1;
    }
    auto module = (*dev)->load(MemoryBufferRef(bytes, "damaged"));
    if (!module) {
      ++rejected;
      note(toString(module.takeError()));
      continue;
    }
    std::vector<uint64_t> kernarg;
    for (unsigned k = 0; k < 3; ++k) {
      auto p = (*dev)->allocate(4096, formatv("buffer {0}", k).str());
      if (!p) {
        errs() << "atrex-sim: error: " << toString(p.takeError()) << '\n';
        return 1;
      }
      kernarg.push_back(*p);
    }
    for (unsigned k = 3; k < 32; ++k)
      kernarg.push_back(k % 4 == 3 ? k : kernarg[k % 3]);
    for (const Kernel *kernel : (*module)->getKernels()) {
      LaunchConfig config;
      config.grid = {2, 1, 1};
      config.workgroup = {random() % 2 ? 64u : 128u, 1, 1};
      config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(kernarg.data()), kernarg.size() * 8);
      config.maxWaveInstructions = 20000;
      config.checks = random() % 2 ? uint32_t(CheckAll) : 0;
      if (random() % 2)
        config.shuffle = n;
      config.profile = !(random() % 4);
      ++launched;
      auto result = (*dev)->launch(*kernel, config);
      if (!result) {
        ++failed;
        note(toString(result.takeError()));
        continue;
      }
      ++finished;
      findings += result->numFindings;
      note("finished");
    }
  }
  outs() << formatv("{0} files: {1} rejected; {2} launches: {3} finished with {4} findings, {5} failed\n",
                    fuzzCount.getValue(), rejected, launched, finished, findings, failed);
  return 0;
}
