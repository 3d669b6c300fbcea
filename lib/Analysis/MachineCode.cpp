//===- MachineCode.cpp - Blocks and loops of a code object ----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <map>

using namespace llvm;
using namespace atrex;
using namespace atrex::analysis;
using namespace atrex::device;
using namespace atrex::device::sim;

/// Whether control leaves for good.
static bool endsFlow(StringRef name) {
  return name == "s_endpgm" || name == "s_endpgm_saved" || name == "s_branch" || name == "s_setpc_b64";
}

/// The scalar ALU and the condition code, by the ISA documents.
static bool readsSCC(StringRef name) {
  return name.starts_with("s_cselect") || name.starts_with("s_addc") || name.starts_with("s_subb") ||
         name.starts_with("s_cmov") || name.starts_with("s_cbranch_scc");
}
static bool writesSCC(StringRef name) {
  for (StringRef prefix :
       {"s_mov",     "s_cmov",    "s_cselect", "s_mul_i32", "s_mul_hi",  "s_brev",         "s_ff",     "s_flbit",
        "s_sext",    "s_bitset",  "s_bfm",     "s_pack",    "s_mulk",    "s_getreg",       "s_setreg", "s_getpc",
        "s_setpc",   "s_swappc",  "s_call",    "s_branch",  "s_cbranch", "s_bitreplicate", "s_nop",    "s_wait",
        "s_barrier", "s_endpgm",  "s_sleep",   "s_setprio", "s_send",    "s_inst",         "s_icache", "s_trap",
        "s_rfe",     "s_set_gpr", "s_load",    "s_buffer",  "s_store",   "s_dcache",       "s_mem",    "s_sethalt",
        "s_ttrace",  "s_decperf", "s_incperf"})
    if (name.starts_with(prefix))
      return false;
  return name.starts_with("s_");
}

bool MachineFunction::dominates(unsigned a, unsigned b) const {
  while (position[b] > position[a])
    b = idom[b];
  return a == b;
}

uint32_t MachineFunction::getLine(const MachineLoop &loop) const {
  for (unsigned latch : loop.latches)
    if (uint32_t line = insts[blocks[latch].end - 1].line)
      return line;
  uint32_t first = 0;
  for (unsigned i = blocks[loop.header].begin; i < blocks[loop.header].end; ++i)
    if (uint32_t line = insts[i].line)
      first = first ? std::min(first, line) : line;
  return first;
}

std::vector<unsigned> MachineFunction::getOwnBlocks(unsigned loop) const {
  std::vector<unsigned> own;
  for (unsigned block : loops[loop].blocks)
    if (blocks[block].loop == int(loop))
      own.push_back(block);
  return own;
}

static void findLoops(MachineFunction &f) {
  // Back edges by header; natural loops of one header are one loop.
  std::map<unsigned, MachineLoop> byHeader;
  for (unsigned b : f.order)
    for (unsigned s : f.blocks[b].succs)
      if (f.dominates(s, b))
        byHeader[s].latches.push_back(b);
  for (auto &[header, loop] : byHeader) {
    loop.header = header;
    DenseSet<unsigned> in = {header};
    SmallVector<unsigned> work(loop.latches.begin(), loop.latches.end());
    while (!work.empty()) {
      unsigned b = work.pop_back_val();
      if (in.insert(b).second)
        work.append(f.blocks[b].preds.begin(), f.blocks[b].preds.end());
    }
    loop.blocks.assign(in.begin(), in.end());
    llvm::sort(loop.blocks);
    for (unsigned b : loop.blocks)
      for (unsigned i = f.blocks[b].begin; i < f.blocks[b].end; ++i) {
        const MachineInst &mi = f.insts[i];
        for (unsigned k = 0; k < mi.effects->numWrites; ++k)
          for (unsigned r = 0; r < mi.effects->writes[k].count; ++r)
            loop.written.set(mi.effects->writes[k].first + r);
        if (mi.writesSCC)
          loop.written.set(sccRegister);
      }
    f.loops.push_back(std::move(loop));
  }
  // Larger loops contain smaller ones.
  llvm::sort(f.loops, [&](const MachineLoop &a, const MachineLoop &b) {
    return f.insts[f.blocks[a.header].begin].address != f.insts[f.blocks[b.header].begin].address
               ? f.insts[f.blocks[a.header].begin].address < f.insts[f.blocks[b.header].begin].address
               : a.blocks.size() > b.blocks.size();
  });
  for (unsigned k = 0; k < f.loops.size(); ++k) {
    MachineLoop &loop = f.loops[k];
    size_t best = ~size_t(0);
    for (unsigned p = 0; p < f.loops.size(); ++p)
      if (p != k && f.loops[p].blocks.size() > loop.blocks.size() && f.loops[p].contains(loop.header) &&
          f.loops[p].blocks.size() < best) {
        best = f.loops[p].blocks.size();
        loop.parent = int(p);
      }
    if (loop.parent >= 0)
      f.loops[loop.parent].isInnermost = false;
    for (unsigned b : loop.blocks) {
      int &owner = f.blocks[b].loop;
      if (owner < 0 || f.loops[owner].blocks.size() > loop.blocks.size())
        owner = int(k);
    }
  }
  for (MachineLoop &loop : f.loops)
    for (int p = loop.parent; p >= 0; p = f.loops[p].parent)
      ++loop.depth;
}

MachineFunction atrex::analysis::buildFunction(Program &program, EffectsTable &effects, const Inst *entry,
                                               const SourceLines &lines) {
  MachineFunction f;
  std::vector<const Inst *> reachable = program.getReachable(entry);
  DenseMap<const Inst *, unsigned> index;
  StringMap<unsigned> files;
  for (const Inst *in : reachable) {
    MachineInst mi;
    mi.inst = in;
    mi.effects = &effects.get(in);
    if (in->def)
      mi.mnemonic = StringRef(in->def->name).split('.').first;
    mi.cls = InstClass(in->cls);
    mi.address = program.getAddress(in);
    mi.readsSCC = readsSCC(mi.mnemonic);
    mi.writesSCC = writesSCC(mi.mnemonic);
    SourceLines::Location location = lines.lookup(mi.address);
    mi.line = location.line;
    if (location.line)
      ++files[location.file];
    index[in] = unsigned(f.insts.size());
    f.insts.push_back(mi);
  }
  unsigned most = 0;
  for (const auto &file : files)
    if (file.getValue() > most || (file.getValue() == most && file.getKey() < StringRef(f.file))) {
      most = file.getValue();
      f.file = file.getKey().str();
    }
  if (f.insts.empty())
    return f;

  // Leaders: the entry, targets, and what stands behind a branch.
  auto find = [&](const Inst *in) {
    auto it = index.find(in);
    return it == index.end() ? ~0u : it->second;
  };
  auto isBranch = [](const MachineInst &mi) {
    return mi.mnemonic.starts_with("s_cbranch") || endsFlow(mi.mnemonic) || mi.mnemonic == "s_swappc_b64" ||
           mi.mnemonic == "s_call_b64";
  };
  std::vector<bool> leader(f.insts.size() + 1, false);
  leader[0] = leader[find(entry)] = true;
  for (unsigned i = 0; i < f.insts.size(); ++i) {
    const MachineInst &mi = f.insts[i];
    if (isBranch(mi)) {
      leader[i + 1] = true;
      if (mi.inst->target)
        if (unsigned t = find(mi.inst->target); t != ~0u)
          leader[t] = true;
    }
    // Unreachable code in between.
    if (i + 1 < f.insts.size() && mi.inst->next != f.insts[i + 1].inst)
      leader[i + 1] = true;
  }
  std::vector<unsigned> blockOf(f.insts.size());
  for (unsigned i = 0; i < f.insts.size(); ++i) {
    if (leader[i])
      f.blocks.push_back({i, i, {}, {}, -1});
    f.blocks.back().end = i + 1;
    blockOf[i] = unsigned(f.blocks.size()) - 1;
  }
  for (unsigned b = 0; b < f.blocks.size(); ++b) {
    const MachineInst &last = f.insts[f.blocks[b].end - 1];
    auto link = [&](const Inst *to) {
      unsigned t = find(to);
      if (t == ~0u || is_contained(f.blocks[b].succs, blockOf[t]))
        return;
      f.blocks[b].succs.push_back(blockOf[t]);
      f.blocks[blockOf[t]].preds.push_back(b);
    };
    if (!endsFlow(last.mnemonic))
      link(last.inst->next);
    if (last.inst->target)
      link(last.inst->target);
  }

  // Reverse post order, then dominators (Cooper, Harvey, Kennedy).
  const unsigned root = blockOf[find(entry)];
  std::vector<uint8_t> seen(f.blocks.size(), 0);
  std::vector<std::pair<unsigned, unsigned>> stack = {{root, 0}};
  seen[root] = 1;
  while (!stack.empty()) {
    auto &[b, next] = stack.back();
    if (next == f.blocks[b].succs.size()) {
      f.order.push_back(b);
      stack.pop_back();
      continue;
    }
    unsigned s = f.blocks[b].succs[next++];
    if (!seen[s]) {
      seen[s] = 1;
      stack.push_back({s, 0});
    }
  }
  std::reverse(f.order.begin(), f.order.end());
  f.position.assign(f.blocks.size(), ~0u);
  for (unsigned k = 0; k < f.order.size(); ++k)
    f.position[f.order[k]] = k;
  f.idom.assign(f.blocks.size(), ~0u);
  f.idom[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned b : f.order) {
      if (b == root)
        continue;
      unsigned best = ~0u;
      for (unsigned p : f.blocks[b].preds) {
        if (f.position[p] == ~0u || f.idom[p] == ~0u)
          continue;
        if (best == ~0u) {
          best = p;
          continue;
        }
        unsigned x = p, y = best;
        while (x != y) {
          while (f.position[x] > f.position[y])
            x = f.idom[x];
          while (f.position[y] > f.position[x])
            y = f.idom[y];
        }
        best = x;
      }
      if (best != f.idom[b]) {
        f.idom[b] = best;
        changed = true;
      }
    }
  }
  findLoops(f);
  return f;
}
