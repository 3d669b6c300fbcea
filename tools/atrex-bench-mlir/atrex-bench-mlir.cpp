//===- atrex-bench-mlir.cpp - Runs, checks and scores kernels -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Bench.h"
#include "atrex/Device/HipDevice.h"
#include "atrex/Pipelines/Pipelines.h"
#include "llvm/Support/InitLLVM.h"

using namespace atrex;

static llvm::Expected<std::unique_ptr<device::Device>> createDevice(llvm::StringRef name, const ChipInfo &chip,
                                                                    unsigned jobs) {
  if (name == "sim")
    return device::createSimDevice({chip.name.str(), jobs});
  if (name == "hip" || name.starts_with("hip:")) {
    unsigned ordinal = 0;
    if (name.consume_front("hip:") && name.getAsInteger(10, ordinal))
      return bench::makeError("device 'hip:" + name.str() + "': behind 'hip:' stands the number of a GPU, as in hip:0");
    return device::createHipDevice({chip.name.str(), ordinal, ""});
  }
  return bench::makeError("unknown device '" + name.str() + "'; use sim, the embedded device, or hip:N, a GPU");
}

static llvm::Expected<std::string> setOptions(llvm::StringRef schedule, llvm::ArrayRef<std::string> settings,
                                              llvm::StringRef arch) {
  const ChipInfo *chip = lookupChip(arch);
  std::string text = schedule.empty() && chip ? getDefaultSchedule(chip->arch) : schedule.str();
  for (const std::string &setting : settings)
    if (llvm::Error error = setScheduleOption(text, setting))
      return std::move(error);
  return text;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  bench::Hooks hooks{compile, createDevice, getCompilerVersion(), setOptions};
  return bench::runMain(llvm::ArrayRef<const char *>(argv + 1, argv + argc), hooks, llvm::outs(), llvm::errs());
}
