//===- IsaCoverageTest.cpp - Every instruction has a handler --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Sim/Coverage.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace llvm;
using namespace atrex;
using namespace atrex::device;

class IsaCoverage : public testing::TestWithParam<const char *> {
protected:
  static const std::vector<IsaEntry> &entries() {
    static std::map<std::string, std::vector<IsaEntry>> cache;
    auto [it, added] = cache.try_emplace(GetParam());
    if (added) {
      auto list = computeIsaCoverage(*lookupChip(GetParam()));
      if (!list)
        ADD_FAILURE() << toString(list.takeError());
      else
        it->second = std::move(*list);
    }
    return it->second;
  }
};

/// Whatever LLVM's assembler and disassembler know has a handler for the very
/// operands it was found with, or a reason.
TEST_P(IsaCoverage, EverythingHasAHandlerOrAReason) {
  std::string missing;
  unsigned handled = 0;
  for (const IsaEntry &e : entries()) {
    EXPECT_FALSE(e.handled && !e.excluded.empty()) << e.mnemonic << " has a handler and a reason to have none";
    if (e.handled)
      ++handled;
    else if (e.excluded.empty())
      for (const IsaEntry::Sample &s : e.samples)
        if (!s.handled)
          missing += e.encoding + " " + s.text + "\n";
  }
  EXPECT_EQ(missing, "");
  EXPECT_GT(handled, 2900u);
}

/// The list would be worthless if the search for encodings missed some.
TEST_P(IsaCoverage, FindsEveryEncoding) {
  std::map<std::string, std::set<std::string>> mnemonics;
  for (const IsaEntry &e : entries())
    mnemonics[e.encoding].insert(e.mnemonic);
  const std::pair<const char *, size_t> atLeast[] = {
      {"SOP1", 54},  {"SOP2", 53},       {"SOPC", 20}, {"SOPK", 21},      {"SOPP", 31},     {"SMEM", 84},
      {"VOP1", 83},  {"VOP1_DPP", 79},   {"VOP2", 60}, {"VOP2_DPP", 57},  {"VOP3", 430},    {"VOP3P", 31},
      {"VOPC", 198}, {"VOPC_SDWA", 132}, {"DS", 120},  {"FLAT", 48},      {"GLOBAL", 56},   {"SCRATCH", 27},
      {"MUBUF", 60}, {"MTBUF", 16},      {"MFMA", 30}, {"VOP1_SDWA", 55}, {"VOP2_SDWA", 50}};
  for (auto [encoding, count] : atLeast)
    EXPECT_GE(mnemonics[encoding].size(), count) << encoding;
  for (const char *name : {"v_add_f32", "v_fma_f32", "ds_read_b128", "global_load_dwordx4", "buffer_load_dword",
                           "s_load_dwordx16", "ds_gws_barrier", "s_set_gpr_idx_on", "global_load_lds_dword"}) {
    bool found = false;
    for (auto &[encoding, set] : mnemonics)
      found |= set.count(name) != 0;
    EXPECT_TRUE(found) << name;
  }
}

/// Exclusions are for graphics, each with a reason, and few.
TEST_P(IsaCoverage, ExclusionsAreFewAndExplained) {
  std::set<std::string> excluded;
  for (const IsaEntry &e : entries())
    if (!e.handled && !e.excluded.empty()) {
      excluded.insert(e.mnemonic);
      EXPECT_NE(e.excluded.find("graphics"), std::string::npos) << e.mnemonic << ": " << e.excluded;
    }
  EXPECT_LE(excluded.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Chips, IsaCoverage, testing::Values("gfx942", "gfx950"));
