//===- LaneValues.h - Register values that need no memory -------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes the scalar and vector ALU instructions of one wave on what is known
// without a launch: work-item numbers and constants. Kernel arguments and the
// number of the workgroup get sample values, and what depends on them is marked;
// what comes from memory is unknown. Every block is visited once with the values
// of the first trip of its loops, innermost loops a few times more.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_ANALYSIS_LANEVALUES_H
#define ATREX_LIB_ANALYSIS_LANEVALUES_H

#include "MachineCode.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>

namespace atrex::analysis {

enum class Trust : uint8_t {
  /// The value for certain (on the first trip of the loops around).
  Known,
  /// Computed from sample values, from lanes that are taken to be active, or from
  /// what a loop left behind.
  Assumed,
  Unknown
};

/// Sample values for what a launch decides.
struct Assumptions {
  /// The kernarg segment; trust by dword.
  std::vector<uint32_t> kernarg;
  std::vector<Trust> trust;
  uint32_t group[3] = {0, 0, 0};
};

/// Where one execution of an access goes.
struct AccessPlace {
  unsigned inst = 0;
  unsigned wave = 0;
  /// 0: first trip.
  unsigned trip = 0;
  Trust trust = Trust::Unknown;
  /// Lanes of the wave that exist and are not known to be off.
  uint64_t active = 0;
  /// Null when the addresses are unknown.
  const device::sim::LaneAddresses *addresses = nullptr;
};

class LaneEvaluator {
public:
  LaneEvaluator(const MachineFunction &f, const device::sim::KernelDesc &kernel, const ChipInfo &chip, unsigned threads,
                device::sim::Program &program);
  ~LaneEvaluator();

  /// Visits every block that `wave` can reach; `trips` bounds the visits of
  /// innermost loops. `onAccess` (may be null) sees LDS and global accesses.
  /// `followSamples`: branches are decided by sample values too, and nothing is
  /// computed that branches do not depend on.
  void run(unsigned wave, const Assumptions &assumptions, unsigned trips, bool followSamples,
           llvm::function_ref<void(const AccessPlace &)> onAccess);

  /// Whether the last run reached a block.
  bool isReached(unsigned block) const { return bool(in[block]) || reached[block]; }

  struct Trips {
    uint64_t count = 0;
    Trust trust = Trust::Unknown;
  };
  /// How often the header of `loop` executes for each entry, from the state that
  /// the last run left in front of it. nullopt: not to be decided, or too long.
  std::optional<Trips> countTrips(unsigned loop);

private:
  struct State;
  std::optional<Trips> countTrips(llvm::ArrayRef<std::pair<unsigned, bool>> program, const MachineLoop &loop,
                                  const State &from);
  void start(unsigned wave);
  /// Marks what the ends of `blocks` depend on, backwards; `isSeed` chooses the
  /// branches. True when something was new.
  void slice(llvm::ArrayRef<unsigned> blocks, llvm::function_ref<bool(unsigned)> isSeed,
             std::vector<bool> &needed) const;
  void step(unsigned index);
  void stepVector(const MachineInst &mi);
  void stepScalar(const MachineInst &mi);
  void stepScalarLoad(const MachineInst &mi);
  void setUnknown(const MachineInst &mi);
  void visitBlock(unsigned block, unsigned trip, llvm::function_ref<void(const AccessPlace &)> onAccess);
  void reportAccess(unsigned index, unsigned trip, llvm::function_ref<void(const AccessPlace &)> onAccess);
  /// Whether control goes to the branch target (true) or on; nullopt when
  /// unknown. `trust` receives how far to be relied on.
  std::optional<bool> evaluateBranch(const MachineInst &mi, Trust &trust) const;
  std::unique_ptr<State> save() const;
  void load(const State &state);
  static void join(std::unique_ptr<State> &into, const State &from);
  Trust getExecTrust() const;

  const MachineFunction &f;
  const device::sim::KernelDesc &kernel;
  unsigned threads;
  const Assumptions *assumptions = nullptr;

  std::unique_ptr<device::sim::Wave> wave;
  std::vector<uint32_t> registers;
  uint64_t launchMask = 0;
  /// By number as in sim::RegRange: scalars below 128.
  Trust scalarTrust[128];
  Trust sccTrust = Trust::Unknown;
  /// By vector register (0 is v0): trust of the lanes of `known`.
  std::vector<Trust> vectorTrust;
  std::vector<uint64_t> known;
  std::vector<std::unique_ptr<State>> in;
  /// In front of headers of inner loops, on the second trip of an outer one.
  std::vector<std::pair<unsigned, std::unique_ptr<State>>> again;
  std::vector<bool> reached;
  bool followSamples = false;
  /// Instructions that some branch depends on.
  std::vector<bool> control;
};

} // namespace atrex::analysis

#endif // ATREX_LIB_ANALYSIS_LANEVALUES_H
