//===- Observe.h - Trace and dumps of executed instructions -----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_OBSERVE_H
#define ATREX_LIB_DEVICE_SIM_OBSERVE_H

#include "atrex/Device/Device.h"
#include "lib/Device/Sim/CodeObject.h"
#include "lib/Device/Sim/Effects.h"

namespace atrex::device::sim {

/// Writes LaunchConfig::trace and LaunchConfig::dump.
class Observer {
public:
  Observer(Program &program, const LaunchConfig &config, u64 moduleBase, const CodeObject &object, bool isGfx950);

  /// Before an instruction of a workgroup (linear id) executes; true when
  /// after() is to follow.
  bool before(u64 group, const Wave &w, const Inst *in);
  void after(const Wave &w, const Inst *in);

private:
  struct Info {
    bool known = false;
    bool traced = false, dumped = false;
    std::string text;
  };
  Info &getInfo(const Inst *in);
  void dump(u64 group, const Wave &w, const Inst *in);

  Program &program;
  const TraceConfig *trace;
  const DumpConfig *dumps;
  u64 base;
  EffectsTable effects;
  SourceLines lines;
  std::vector<Info> infos;
  u64 tracedLines = 0, dumpCount = 0;
  /// The registers that the current instruction may change, before it.
  std::vector<u32> saved;
};

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_OBSERVE_H
