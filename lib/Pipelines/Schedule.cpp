//===- Schedule.cpp - Schedules are pass pipelines --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Conversion/Passes.h"
#include "atrex/Pipelines/Pipelines.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace atrex;

void atrex::registerCompilerDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, amdgpu::AMDGPUDialect, arith::ArithDialect, bufferization::BufferizationDialect,
              cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
              math::MathDialect, memref::MemRefDialect, ROCDL::ROCDLDialect, scf::SCFDialect, tensor::TensorDialect,
              vector::VectorDialect, atx::AtxDialect, atx_amdgpu::AtxAMDGPUDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerTilingInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}

std::string atrex::getDefaultSchedule(StringRef arch) {
  std::string text = R"(builtin.module(
  atx-generic-schedule{arch=ARCH mode=auto},
  func.func(atx-grid-order{arch=ARCH order=column group=8 xcds=0 causal=none causal-axis=0}),
  atx-stream-k{arch=ARCH workgroups=0 splits=0}, atx-record-plan,
  func.func(atx-persistent{arch=ARCH workgroups=0}, atx-choose-products{f32=auto}),
  atx-outline-tile-kernels,
  func.func(
    atx-select-mapping{arch=ARCH threads=0 threads-per-row=0 rows-per-thread=0 vector-bits=128},
    atx-tile-to-workgroups, canonicalize, cse,
    atx-vectorize-tile, canonicalize, cse),
  atx-bufferize, func.func(cse, canonicalize),
  atx-outline-kernels{workgroups=480},
  gpu.module(
    gpu.func(cse, atx-peel-loops{enable=0}, atx-assign-tile-layouts{arch=ARCH mfma-rows=0 waves-m=0 direct=auto},
      atx-stage-operands{arch=ARCH stages=0 prefetch=-1 swizzle=1 direct-to-lds=never ahead=1 share=0}, atx-read-ahead{arch=ARCH registers=-1}),
    atx-distribute-tiles{arch=ARCH buffer-access=true cache-policy=auto}),
  canonicalize, cse,
  gpu.module(gpu.func(
    atx-remove-barriers{enable=1},
    atx-unroll-loops{factor=-1 max-registers=96}, canonicalize, cse,
    atx-ping-pong{enable=0 priority=1},
    atx-interleave{pattern=auto boundary=products priority=0 iglp=-1 sums=0})),
  gpu.module(gpu.func(
    atx-assign-layouts,
    atx-distribute{vector-bits=128}, canonicalize, cse,
    atx-expand-bf16{arch=ARCH},
    atx-lower-lane-reduce{arch=ARCH}),
    atx-lower{arch=ARCH}),
  expand-strided-metadata, lower-affine, convert-scf-to-cf, arith-expand, canonicalize, cse,
  gpu.module(
    atx-convert-to-rocdl{arch=ARCH waves=0},
    reconcile-unrealized-casts, canonicalize, cse),
  ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly})
)";
  for (size_t at; (at = text.find("ARCH")) != std::string::npos;)
    text.replace(at, 4, arch);
  return text;
}

std::string atrex::stripSchedule(StringRef text) {
  std::string result;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.take_front(line.find("//")).trim();
    if (line.empty())
      continue;
    // A line may end between two options, which a blank keeps apart.
    if (!result.empty() && !StringRef("({").contains(result.back()) && !StringRef(")},").contains(line.front()))
      result += ' ';
    result += line;
  }
  return result;
}

llvm::Error atrex::setScheduleOption(std::string &schedule, StringRef assignment) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "'" + assignment + "' sets no option of the schedule: " + message);
  };
  auto [target, value] = assignment.split('=');
  auto [pass, option] = target.rsplit('.');
  target = target.trim();
  pass = pass.trim();
  option = option.trim();
  value = value.trim();
  if (!assignment.contains('=') || pass.empty() || option.empty() || value.empty() ||
      value.find_first_of("{}() \t\n") != StringRef::npos || option.find_first_of("{}() \t\n=") != StringRef::npos)
    return fail("write PASS.OPTION=VALUE");
  std::optional<unsigned> wanted;
  if (pass.ends_with("]")) {
    auto [name, number] = pass.drop_back().split('[');
    unsigned instance;
    if (number.getAsInteger(10, instance))
      return fail("a pass among several is PASS[N], from 0 on");
    wanted = instance;
    pass = name;
  }
  std::string text = stripSchedule(schedule), result;
  StringRef rest = text;
  unsigned instance = 0, changed = 0;
  while (!rest.empty()) {
    size_t length = rest.find_first_of("(){},");
    StringRef name = rest.take_front(length);
    result += name;
    rest = rest.drop_front(std::min(length, rest.size()));
    StringRef options;
    bool hasOptions = rest.consume_front("{");
    if (hasOptions) {
      options = rest.take_front(rest.find('}'));
      rest = rest.drop_front(std::min(options.size() + 1, rest.size()));
    }
    bool isMeant = name.trim() == pass;
    if (isMeant && wanted && instance++ != *wanted)
      isMeant = false;
    if (hasOptions || isMeant) {
      SmallVector<StringRef> assignments;
      options.split(assignments, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      std::string own = (option + "=" + value).str();
      bool found = false;
      if (isMeant) {
        ++changed;
        for (StringRef &other : assignments)
          if (other.split('=').first == option) {
            other = own;
            found = true;
          }
        if (!found)
          assignments.push_back(own);
      }
      result += "{" + llvm::join(assignments, " ") + "}";
    }
    if (!rest.empty() && rest.front() != '{') {
      result += rest.front();
      rest = rest.drop_front();
    }
  }
  if (changed == 0)
    return fail("it has no pass '" + target.rsplit('.').first + "'");
  schedule = std::move(result);
  return llvm::Error::success();
}

LogicalResult atrex::parseSchedule(StringRef text, PassManager &pm, raw_ostream &errors) {
  std::string pipeline = stripSchedule(text);
  StringRef inner = StringRef(pipeline).trim();
  if (!inner.consume_front("builtin.module(") || !inner.consume_back(")")) {
    errors << "a schedule must be anchored at 'builtin.module(...)'\n";
    return failure();
  }
  return parsePassPipeline(inner, pm, errors);
}
