//===- HipDevice.cpp - A real GPU through HIP -----------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Device/HipDevice.h"
#include "Sim/CodeObject.h"
#include "atrex/Target/Chip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <dlfcn.h>
#include <mutex>
#include <set>

using namespace llvm;
using namespace atrex;
using namespace atrex::device;

namespace {
template <typename... Ts> Error makeError(const char *format, Ts &&...values) {
  return createStringError(inconvertibleErrorCode(), formatv(format, std::forward<Ts>(values)...).str());
}

/// The functions of the runtime that are used, by their C interface. Codes are
/// ints, handles are pointers.
struct Runtime {
  int (*init)(unsigned);
  int (*getDeviceCount)(int *);
  int (*setDevice)(int);
  int (*deviceGetName)(char *, int, int);
  const char *(*getErrorString)(int);
  int (*malloc)(void **, size_t);
  int (*free)(void *);
  int (*memcpyHtoD)(void *, const void *, size_t);
  int (*memcpyDtoH)(void *, void *, size_t);
  int (*memset)(void *, int, size_t);
  int (*deviceSynchronize)();
  int (*moduleLoadData)(void **, const void *);
  int (*moduleUnload)(void *);
  int (*moduleGetFunction)(void **, void *, const char *);
  int (*moduleLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                            void **, void **);
  int (*eventCreate)(void **);
  int (*eventDestroy)(void *);
  int (*eventRecord)(void *, void *);
  int (*eventSynchronize)(void *);
  int (*eventElapsedTime)(float *, void *, void *);

  Error check(int code, const Twine &what) const {
    if (code == 0)
      return Error::success();
    const char *text = getErrorString(code);
    return makeError("{0}: HIP error {1} ({2})", what.str(), code, text ? text : "unknown");
  }
};

Expected<Runtime> loadRuntime(StringRef library) {
  std::vector<std::string> names = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
  if (!library.empty())
    names = {library.str()};
  void *handle = nullptr;
  std::string first;
  for (const std::string &name : names) {
    // Never closed: the runtime starts threads that outlive a device.
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      break;
    if (first.empty())
      if (const char *message = dlerror())
        first = message;
  }
  if (!handle)
    return makeError("the HIP runtime is not there ({0}; {1} tried); install ROCm and put its lib directory into "
                     "LD_LIBRARY_PATH, or use the embedded device, --device sim",
                     first, join(names, ", "));
  Runtime runtime;
  Error error = Error::success();
  (void)bool(error);
  auto load = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (!function && !error)
      error = makeError("the HIP runtime has no function '{0}'; it is older than this program needs", name);
  };
  load(runtime.init, "hipInit");
  load(runtime.getDeviceCount, "hipGetDeviceCount");
  load(runtime.setDevice, "hipSetDevice");
  load(runtime.deviceGetName, "hipDeviceGetName");
  load(runtime.getErrorString, "hipGetErrorString");
  load(runtime.malloc, "hipMalloc");
  load(runtime.free, "hipFree");
  load(runtime.memcpyHtoD, "hipMemcpyHtoD");
  load(runtime.memcpyDtoH, "hipMemcpyDtoH");
  load(runtime.memset, "hipMemset");
  load(runtime.deviceSynchronize, "hipDeviceSynchronize");
  load(runtime.moduleLoadData, "hipModuleLoadData");
  load(runtime.moduleUnload, "hipModuleUnload");
  load(runtime.moduleGetFunction, "hipModuleGetFunction");
  load(runtime.moduleLaunchKernel, "hipModuleLaunchKernel");
  load(runtime.eventCreate, "hipEventCreate");
  load(runtime.eventDestroy, "hipEventDestroy");
  load(runtime.eventRecord, "hipEventRecord");
  load(runtime.eventSynchronize, "hipEventSynchronize");
  load(runtime.eventElapsedTime, "hipEventElapsedTime");
  if (error)
    return std::move(error);
  return runtime;
}

class HipKernel : public Kernel {
public:
  StringRef getName() const override { return desc.name; }
  const KernelResources &getResources() const override { return desc.resources; }
  ArrayRef<KernelArgInfo> getArgs() const override { return desc.args; }

  sim::KernelDesc desc;
  void *function = nullptr;
};

class HipModule : public device::Module {
public:
  HipModule(const Runtime &runtime, void *handle) : runtime(runtime), handle(handle) {}
  ~HipModule() override { (void)runtime.moduleUnload(handle); }
  std::vector<const Kernel *> getKernels() const override {
    std::vector<const Kernel *> result;
    for (const auto &kernel : kernels)
      result.push_back(kernel.get());
    return result;
  }

  Runtime runtime;
  void *handle;
  std::vector<std::unique_ptr<HipKernel>> kernels;
};

class HipDevice : public Device {
public:
  HipDevice(const Runtime &runtime, const ChipInfo &chip, std::string name)
      : runtime(runtime), chip(chip), name(std::move(name)) {}
  ~HipDevice() override {
    for (void *event : events)
      if (event)
        (void)runtime.eventDestroy(event);
  }

  Error open() {
    for (void *&event : events)
      if (Error error = runtime.check(runtime.eventCreate(&event), name + ": cannot create an event"))
        return error;
    return Error::success();
  }

  StringRef getName() const override { return name; }
  const ChipInfo &getChip() const override { return chip; }
  bool isSimulated() const override { return false; }

  Expected<std::unique_ptr<device::Module>> load(MemoryBufferRef buffer) override {
    std::lock_guard<std::mutex> lock(mutex);
    // Resources and arguments come from the code object itself, as on the
    // embedded device, and so do the messages for defects.
    Expected<sim::CodeObject> object = sim::parseCodeObject(buffer, chip.arch);
    if (!object)
      return object.takeError();
    void *handle = nullptr;
    if (Error error = runtime.check(runtime.moduleLoadData(&handle, buffer.getBufferStart()),
                                    name + ": cannot load the code object '" + buffer.getBufferIdentifier() + "' for " +
                                        chip.arch))
      return std::move(error);
    auto module = std::make_unique<HipModule>(runtime, handle);
    for (sim::KernelDesc &desc : object->kernels) {
      auto kernel = std::make_unique<HipKernel>();
      kernel->desc = std::move(desc);
      if (Error error = runtime.check(runtime.moduleGetFunction(&kernel->function, handle, kernel->desc.name.c_str()),
                                      name + ": no kernel '" + kernel->desc.name + "'"))
        return std::move(error);
      module->kernels.push_back(std::move(kernel));
    }
    return std::unique_ptr<device::Module>(std::move(module));
  }

  Expected<DevicePtr> allocate(uint64_t bytes, StringRef label) override {
    std::lock_guard<std::mutex> lock(mutex);
    void *ptr = nullptr;
    if (Error error = runtime.check(runtime.malloc(&ptr, bytes),
                                    name + ": cannot allocate " + Twine(bytes) + " bytes for '" + label + "'"))
      return std::move(error);
    // Fresh memory reads as zero on every device.
    if (Error error = runtime.check(runtime.memset(ptr, 0, bytes), name + ": cannot clear memory")) {
      (void)runtime.free(ptr);
      return std::move(error);
    }
    return DevicePtr(reinterpret_cast<uintptr_t>(ptr));
  }
  Error free(DevicePtr ptr) override {
    std::lock_guard<std::mutex> lock(mutex);
    return runtime.check(runtime.free(toPointer(ptr)), name + ": cannot free memory");
  }
  Error copyToDevice(DevicePtr dst, const void *src, uint64_t bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    return runtime.check(runtime.memcpyHtoD(toPointer(dst), src, bytes), name + ": cannot copy to the device");
  }
  Error copyFromDevice(void *dst, DevicePtr src, uint64_t bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    return runtime.check(runtime.memcpyDtoH(dst, toPointer(src), bytes), name + ": cannot copy from the device");
  }
  Error fill(DevicePtr dst, uint8_t value, uint64_t bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    return runtime.check(runtime.memset(toPointer(dst), value, bytes), name + ": cannot fill memory");
  }

  Expected<LaunchResult> launch(const Kernel &kernel, const LaunchConfig &config) override {
    std::lock_guard<std::mutex> lock(mutex);
    // Kernels of this device are made by its load() alone.
    const auto &hipKernel = static_cast<const HipKernel &>(kernel);
    if (!config.sample.empty())
      return makeError("{0}: kernel '{1}': a GPU executes whole grids, no samples", name, kernel.getName());
    if (config.checks || config.profile || config.trace || config.dump || config.shuffle)
      return makeError(
          "{0}: kernel '{1}': checks, profiles, traces, dumps and shuffled orders need the embedded device", name,
          kernel.getName());
    // HIP_LAUNCH_PARAM_BUFFER_POINTER, ..._SIZE, ..._END.
    size_t size = config.kernarg.size();
    void *extra[] = {reinterpret_cast<void *>(1), const_cast<uint8_t *>(config.kernarg.data()),
                     reinterpret_cast<void *>(2), &size, reinterpret_cast<void *>(3)};
    auto describe = [&](const char *what) {
      return (Twine(name) + ": kernel '" + kernel.getName() + "': " + what).str();
    };
    if (Error error = runtime.check(runtime.eventRecord(events[0], nullptr), describe("cannot record an event")))
      return std::move(error);
    if (Error error =
            runtime.check(runtime.moduleLaunchKernel(hipKernel.function, config.grid[0], config.grid[1], config.grid[2],
                                                     config.workgroup[0], config.workgroup[1], config.workgroup[2],
                                                     config.dynamicLdsBytes, nullptr, nullptr, extra),
                          describe("cannot launch")))
      return std::move(error);
    if (Error error = runtime.check(runtime.eventRecord(events[1], nullptr), describe("cannot record an event")))
      return std::move(error);
    if (Error error = runtime.check(runtime.eventSynchronize(events[1]), describe("failed")))
      return std::move(error);
    float milliseconds = 0;
    if (Error error = runtime.check(runtime.eventElapsedTime(&milliseconds, events[0], events[1]),
                                    describe("cannot read the time")))
      return std::move(error);
    LaunchResult result;
    result.time.seconds = double(milliseconds) * 1e-3;
    result.time.isPrediction = false;
    result.stats.workgroupsTotal = result.stats.workgroupsExecuted =
        uint64_t(config.grid[0]) * config.grid[1] * config.grid[2];
    return result;
  }

  Expected<std::vector<ByteRange>> getWrittenRanges(DevicePtr) override {
    return makeError("{0}: a GPU does not tell what was written", name);
  }
  void clearTracking() override {}

private:
  static void *toPointer(DevicePtr ptr) { return reinterpret_cast<void *>(uintptr_t(ptr)); }

  Runtime runtime;
  const ChipInfo &chip;
  std::string name;
  void *events[2] = {nullptr, nullptr};
  std::mutex mutex;
};
} // namespace

Expected<std::unique_ptr<Device>> atrex::device::createHipDevice(const HipOptions &options) {
  std::string name = formatv("hip:{0}", options.ordinal).str();
  const ChipInfo *chip = lookupChip(options.chip);
  if (!chip || !chip->isAMDGPU())
    return makeError("device '{0}': '{1}' is no AMD GPU of the chip table", name, options.chip);
  Expected<Runtime> runtime = loadRuntime(options.library);
  if (!runtime)
    return makeError("device '{0}': {1}", name, toString(runtime.takeError()));
  if (Error error = runtime->check(runtime->init(0), "device '" + name + "': cannot start HIP"))
    return std::move(error);
  int count = 0;
  if (Error error = runtime->check(runtime->getDeviceCount(&count), "device '" + name + "': cannot count GPUs"))
    return std::move(error);
  if (int64_t(options.ordinal) >= count)
    return makeError("device '{0}': there {1} {2} GPU{3}; numbers start at 0", name, count == 1 ? "is" : "are", count,
                     count == 1 ? "" : "s");
  if (Error error = runtime->check(runtime->setDevice(int(options.ordinal)), "device '" + name + "': cannot select it"))
    return std::move(error);
  char model[256] = {};
  if (Error error = runtime->check(runtime->deviceGetName(model, sizeof(model) - 1, int(options.ordinal)),
                                   "device '" + name + "': cannot read its name"))
    return std::move(error);
  auto device = std::make_unique<HipDevice>(*runtime, *chip, name + ":" + model);
  if (Error error = device->open())
    return std::move(error);
  return std::unique_ptr<Device>(std::move(device));
}
