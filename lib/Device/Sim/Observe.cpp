//===- Observe.cpp - Trace and dumps of executed instructions -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Observe.h"
#include "lib/Device/Sim/Access.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace atrex::device;
using namespace atrex::device::sim;

Observer::Observer(Program &p, const LaunchConfig &config, u64 moduleBase, const CodeObject &object, bool isGfx950)
    : program(p), trace(config.trace), dumps(config.dump), base(moduleBase), effects(p, isGfx950), lines(object),
      infos(p.getDwords()) {}

/// "FILE:LINE" against a location; FILE may be the end of the path.
static bool isAtSource(StringRef wanted, const SourceLines::Location &l) {
  auto [file, line] = wanted.rsplit(':');
  unsigned n;
  if (l.file.empty() || line.getAsInteger(10, n) || n != l.line || !StringRef(l.file).ends_with(file))
    return false;
  size_t rest = l.file.size() - file.size();
  return !rest || file.empty() || l.file[rest - 1] == '/';
}

static bool matches(StringRef pattern, StringRef mnemonic) {
  if (pattern.consume_back("*"))
    return mnemonic.starts_with(pattern);
  return mnemonic == pattern;
}

Observer::Info &Observer::getInfo(const Inst *in) {
  Info &info = infos[in->index];
  if (info.known)
    return info;
  info.known = true;
  info.text = program.describe(in);
  u64 address = program.getAddress(in) - base;
  bool needsSource = (trace && !trace->source.empty()) || (dumps && !dumps->source.empty());
  SourceLines::Location here = needsSource ? lines.lookup(address) : SourceLines::Location();
  if (trace) {
    StringRef mnemonic = StringRef(info.text).split(' ').first;
    StringRef plain = mnemonic;
    for (StringRef suffix : {"_e32", "_e64", "_dpp", "_sdwa"})
      if (plain.consume_back(suffix))
        break;
    info.traced = (!trace->addresses || (address >= trace->addresses->first && address <= trace->addresses->second)) &&
                  (trace->source.empty() || isAtSource(trace->source, here)) &&
                  (trace->mnemonic.empty() || matches(trace->mnemonic, mnemonic) || matches(trace->mnemonic, plain));
  }
  if (dumps) {
    if (dumps->address)
      info.dumped = *dumps->address == address;
    else if (isAtSource(dumps->source, here))
      // Where the line begins, not at each of its instructions.
      info.dumped = address < 4 || !isAtSource(dumps->source, lines.lookup(address - 4));
  }
  return info;
}

static const u32 *registerData(const Wave &w, u32 r) {
  return r >= firstVector ? w.v + u64(r - firstVector) * 64 : w.s + r;
}

bool Observer::before(u64 group, const Wave &w, const Inst *in) {
  if (in->index >= infos.size())
    return false;
  Info &info = getInfo(in);
  if (info.dumped && (!dumps->workgroup || *dumps->workgroup == group) &&
      (!dumps->wave || *dumps->wave == w.waveInGroup) && dumpCount < dumps->limit) {
    ++dumpCount;
    dump(group, w, in);
  }
  if (!info.traced || (trace->workgroup && *trace->workgroup != group) ||
      (trace->wave && *trace->wave != w.waveInGroup) || tracedLines > trace->limit)
    return false;
  if (tracedLines++ == trace->limit) {
    *trace->os << "# cut after " << trace->limit << " lines\n";
    return false;
  }
  *trace->os << "wg " << group << " wave " << w.waveInGroup << " pc " << format_hex(program.getAddress(in) - base, 8)
             << " exec " << format_hex(getExec(w), 18) << "  " << info.text << '\n';
  if (!trace->registers)
    return false;
  const Effects &e = effects.get(in);
  saved.clear();
  for (unsigned k = 0; k < e.numWrites; ++k)
    for (u32 r = e.writes[k].first; r < u32(e.writes[k].first + e.writes[k].count); ++r)
      saved.insert(saved.end(), registerData(w, r), registerData(w, r) + (r >= firstVector ? 64 : 1));
  saved.push_back(w.scc);
  return true;
}

void Observer::after(const Wave &w, const Inst *in) {
  const Effects &e = effects.get(in);
  raw_ostream &os = *trace->os;
  const u32 *old = saved.data();
  for (unsigned k = 0; k < e.numWrites; ++k)
    for (u32 r = e.writes[k].first; r < u32(e.writes[k].first + e.writes[k].count); ++r) {
      const u32 *now = registerData(w, r);
      unsigned n = r >= firstVector ? 64 : 1;
      if (memcmp(old, now, n * 4)) {
        os << "    " << formatRegister({u16(r), 1}) << " =";
        if (n == 1) {
          os << ' ' << format_hex(*now, 10);
        } else {
          // Runs of lanes whose values have one step between them.
          for (u32 i = 0; i < 64; ++i) {
            if (old[i] == now[i])
              continue;
            u32 last = i, step = i < 63 ? now[i + 1] - now[i] : 0;
            while (last < 63 && old[last + 1] != now[last + 1] && now[last + 1] - now[last] == step)
              ++last;
            if (last < i + 2 && step)
              last = i;
            os << ' ' << i;
            if (last != i)
              os << '-' << last;
            os << ':' << format_hex(now[i], 10);
            if (last != i && step)
              os << '+' << format_hex(step, 1);
            i = last;
          }
        }
        os << '\n';
      }
      old += n;
    }
  if (*old != w.scc)
    os << "    scc = " << w.scc << '\n';
}

void Observer::dump(u64 group, const Wave &w, const Inst *in) {
  raw_ostream &os = *dumps->os;
  u64 address = program.getAddress(in) - base;
  std::string source = lines.lookup(address).str();
  os << "dump " << dumpCount << ": wg " << group << " wave " << w.waveInGroup << " before " << format_hex(address, 8)
     << "  " << program.describe(in);
  if (!source.empty())
    os << "  [" << source << ']';
  os << "\n  exec " << format_hex(getExec(w), 18) << "  vcc " << format_hex(read64(w, regVCC), 18) << "  scc " << w.scc
     << "  m0 " << format_hex(w.s[regM0], 10) << "  mode " << format_hex(w.mode, 10) << '\n';
  auto bytes = [&](const char *label, u64 first, u64 count, const u8 *data) {
    for (u64 at = 0; at < count; at += 32) {
      os << "  " << label << ' ' << format_hex(first + at, 10) << ':';
      for (u64 k = at; k < std::min(at + 32, count); k += 4) {
        u32 x = 0;
        memcpy(&x, data + k, std::min<u64>(4, count - k));
        os << ' ' << format_hex_no_prefix(x, 8);
      }
      os << '\n';
    }
  };
  for (const DumpConfig::Item &item : dumps->items) {
    switch (item.kind) {
    case DumpConfig::Item::Scalar:
      for (u64 r = item.first; r < std::min<u64>(item.first + item.count, 128); ++r)
        os << "  " << formatRegister({u16(r), 1}) << " = " << format_hex(w.s[r], 10) << '\n';
      break;
    case DumpConfig::Item::Vector:
    case DumpConfig::Item::Accumulation:
      for (u64 r = item.first; r < std::min<u64>(item.first + item.count, 256); ++r) {
        u32 number = u32(r) + (item.kind == DumpConfig::Item::Vector ? 256 : 512);
        const u32 *data = registerData(w, number);
        for (u32 i = 0; i < 64; i += 8) {
          os << "  " << formatRegister({u16(number), 1}) << " lane " << format("%2u", i) << ':';
          for (u32 k = 0; k < 8; ++k)
            os << ' ' << format_hex_no_prefix(data[i + k], 8);
          os << '\n';
        }
      }
      break;
    case DumpConfig::Item::Lds:
      if (item.first < w.ldsBytes)
        bytes("lds", item.first, std::min<u64>(item.count, w.ldsBytes - item.first), w.lds + item.first);
      else
        os << "  lds " << format_hex(item.first, 10) << ": beyond the " << w.ldsBytes << " bytes of the workgroup\n";
      break;
    case DumpConfig::Item::Memory:
      if (findAlloc(*w.ts, item.first, item.count))
        bytes("mem", item.first, item.count, reinterpret_cast<const u8 *>(item.first));
      else
        os << "  mem " << format_hex(item.first, 10) << ": not inside of one allocation\n";
      break;
    }
  }
}
