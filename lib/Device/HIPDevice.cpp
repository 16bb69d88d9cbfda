//===- HIPDevice.cpp - Devices of the HIP runtime -------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceImplementations.h"
#include "HIPRuntime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstring>

using namespace wavesmith;
using namespace wavesmith::hip;

using RuntimePointer = std::shared_ptr<const Runtime>;

//===----------------------------------------------------------------------===//
// Finding devices
//===----------------------------------------------------------------------===//

/// Opens HIP, initialises it and lists its devices.
static llvm::Expected<std::vector<DeviceInfo>>
listDevices(RuntimePointer &runtime) {
  llvm::Expected<RuntimePointer> opened = openRuntime();
  if (!opened)
    return opened.takeError();
  runtime = *opened;
  const std::string where = runtime->describe();

  // Without a GPU the one call gives 101 and the other 100; both are taken for
  // either call, and nothing else.
  int count = 0;
  const char *call = "hipInit";
  int code = runtime->hipInit(0);
  if (code == success) {
    call = "hipGetDeviceCount";
    code = runtime->hipGetDeviceCount(&count);
  }
  if (code == errorNoDevice || code == errorInvalidDevice)
    return llvm::make_error<NoDeviceError>(
        "no HIP device: " +
        llvm::toString(runtime->check(code, where + ": " + call)));
  if (llvm::Error error = runtime->check(code, where + ": " + call))
    return error;
  if (count <= 0)
    return llvm::make_error<NoDeviceError>("no HIP device: " + where +
                                           " shows 0 devices");

  std::vector<DeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto check = [&](int code, llvm::StringRef call) {
      return runtime->check(code, where + ": " + call + " of device " +
                                      llvm::Twine(ordinal));
    };
    DeviceInfo info;
    info.kind = DeviceKind::HIP;
    info.ordinal = ordinal;
    info.runtime = where;

    char name[256] = {};
    if (llvm::Error error =
            check(runtime->hipDeviceGetName(name, sizeof(name) - 1, ordinal),
                  "hipDeviceGetName"))
      return error;
    info.name = name;

    alignas(16) char properties[propertiesBufferSize] = {};
    if (llvm::Error error = check(runtime->getProperties(properties, ordinal),
                                  "hipGetDeviceProperties"))
      return error;
    const char *architecture = properties + runtime->archNameOffset;
    info.fullArchitecture.assign(architecture,
                                 strnlen(architecture, archNameSize));
    // A third layout of the properties must not pass for an architecture.
    if (!llvm::StringRef(info.fullArchitecture).starts_with("gfx"))
      return llvm::createStringError(
          where + ": properties of device " + llvm::Twine(ordinal) +
          " hold no architecture name where this HIP version keeps it");
    info.architecture = getArchitecture(info.fullArchitecture).str();

    int computeUnits = 0;
    if (llvm::Error error =
            check(runtime->hipDeviceGetAttribute(
                      &computeUnits, attributeMultiprocessorCount, ordinal),
                  "hipDeviceGetAttribute"))
      return error;
    info.computeUnits = computeUnits > 0 ? computeUnits : 0;
    devices.push_back(std::move(info));
  }
  return devices;
}

llvm::Expected<std::vector<DeviceInfo>> wavesmith::enumerateHIPDevices() {
  RuntimePointer runtime;
  return listDevices(runtime);
}

//===----------------------------------------------------------------------===//
// HIPDevice
//===----------------------------------------------------------------------===//

namespace {

/// A code object that HIP has loaded.
class HIPModule {
public:
  HIPModule(RuntimePointer runtime, void *module)
      : runtime(std::move(runtime)), module(module) {}
  HIPModule(const HIPModule &) = delete;
  // Nobody is left to hear of a failure to unload.
  ~HIPModule() { (void)runtime->hipModuleUnload(module); }

  void *get() const { return module; }

private:
  RuntimePointer runtime;
  void *module;
};

class HIPCodeObject final : public LoadedCodeObject {
public:
  HIPCodeObject(std::shared_ptr<const sim::CodeObject> metadata,
                std::shared_ptr<HIPModule> module)
      : LoadedCodeObject(std::move(metadata)), module(std::move(module)) {}

  void *getModule() const { return module->get(); }

private:
  std::shared_ptr<HIPModule> module;
};

class HIPDevice final : public Device {
public:
  HIPDevice(RuntimePointer runtime, DeviceInfo info, const TargetInfo &target)
      : runtime(std::move(runtime)), deviceInfo(std::move(info)),
        target(target) {}

  ~HIPDevice() override {
    if (runtime->hipSetDevice(deviceInfo.ordinal) != success)
      return;
    if (!loaded.empty())
      (void)runtime->hipDeviceSynchronize();
    loaded.clear();
    if (stream) {
      (void)runtime->hipStreamSynchronize(stream);
      (void)runtime->hipStreamDestroy(stream);
    }
    for (void *event : {begin, stop})
      if (event)
        (void)runtime->hipEventDestroy(event);
  }

  llvm::Error initialise() {
    if (llvm::Error error = select())
      return error;
    if (llvm::Error error =
            check(runtime->hipStreamCreateWithFlags(&stream, streamNonBlocking),
                  "hipStreamCreateWithFlags"))
      return error;
    if (llvm::Error error =
            check(runtime->hipEventCreate(&begin), "hipEventCreate"))
      return error;
    return check(runtime->hipEventCreate(&stop), "hipEventCreate");
  }

  const DeviceInfo &info() const override { return deviceInfo; }

  llvm::Expected<uint64_t> allocate(uint64_t bytes,
                                    llvm::StringRef name) override {
    if (bytes == 0)
      return llvm::createStringError("cannot allocate zero bytes for '" + name +
                                     "'");
    if (llvm::Error error = select())
      return error;
    void *pointer = nullptr;
    if (llvm::Error error = check(runtime->hipMalloc(&pointer, bytes),
                                  "hipMalloc of " + llvm::Twine(bytes) +
                                      " bytes for '" + name + "'"))
      return error;
    return reinterpret_cast<uint64_t>(pointer);
  }

  llvm::Error release(uint64_t address) override {
    if (llvm::Error error = select())
      return error;
    return check(runtime->hipFree(reinterpret_cast<void *>(address)),
                 "hipFree");
  }

  llvm::Error copyToDevice(uint64_t address,
                           llvm::ArrayRef<uint8_t> bytes) override {
    if (bytes.empty())
      return llvm::Error::success();
    if (llvm::Error error = select())
      return error;
    if (llvm::Error error = check(
            runtime->hipMemcpyAsync(reinterpret_cast<void *>(address),
                                    bytes.data(), bytes.size(),
                                    memcpyHostToDevice, stream),
            "copy of " + llvm::Twine(bytes.size()) + " bytes to the device"))
      return error;
    return synchronise("copy to the device");
  }

  llvm::Error copyFromDevice(llvm::MutableArrayRef<uint8_t> bytes,
                             uint64_t address) override {
    if (bytes.empty())
      return llvm::Error::success();
    if (llvm::Error error = select())
      return error;
    if (llvm::Error error = check(
            runtime->hipMemcpyAsync(bytes.data(),
                                    reinterpret_cast<const void *>(address),
                                    bytes.size(), memcpyDeviceToHost, stream),
            "copy of " + llvm::Twine(bytes.size()) + " bytes from the device"))
      return error;
    return synchronise("copy from the device");
  }

  llvm::Expected<std::unique_ptr<LoadedCodeObject>>
  loadCodeObject(llvm::ArrayRef<uint8_t> elf) override {
    // A launch on a caller's stream may still be under way when the object is
    // given up, and to load takes longer than a small launch.
    auto *found = llvm::find_if(loaded, [&](const Loaded &entry) {
      return llvm::ArrayRef<uint8_t>(entry.elf) == elf;
    });
    if (found != loaded.end()) {
      std::rotate(loaded.begin(), found, std::next(found));
      return std::make_unique<HIPCodeObject>(loaded.front().metadata,
                                             loaded.front().module);
    }
    // HIP 5.2 aborts on what it does not understand, so everything is checked
    // here before HIP sees it.
    llvm::Expected<std::shared_ptr<const sim::CodeObject>> metadata =
        readCodeObjectFor(deviceInfo.fullArchitecture, elf);
    if (!metadata)
      return metadata.takeError();
    if (llvm::Error error = checkVersion((*metadata)->version()))
      return error;
    if (llvm::Error error = select())
      return error;
    void *module = nullptr;
    if (llvm::Error error =
            check(runtime->hipModuleLoadData(&module, elf.data()),
                  "hipModuleLoadData"))
      return error;
    auto kept = std::make_shared<HIPModule>(runtime, module);
    if (loaded.size() == maxLoaded) {
      if (llvm::Error error =
              check(runtime->hipDeviceSynchronize(), "hipDeviceSynchronize"))
        return error;
      loaded.pop_back();
    }
    loaded.insert(loaded.begin(), {elf.vec(), *metadata, kept});
    return std::make_unique<HIPCodeObject>(*metadata, std::move(kept));
  }

  llvm::Error launch(const LoadedCodeObject &object,
                     const KernelLaunch &parameters) override {
    hasTiming = false;
    if (llvm::Error error = checkNamedLaunch(object, target, parameters))
      return error;
    if (llvm::Error error = select())
      return error;
    // A code object is only ever given back to the device that loaded it.
    void *module = static_cast<const HIPCodeObject &>(object).getModule();
    void *function = nullptr;
    if (llvm::Error error =
            check(runtime->hipModuleGetFunction(
                      &function, module, parameters.kernel.str().c_str()),
                  "hipModuleGetFunction of '" + parameters.kernel + "'"))
      return error;

    // HIP copies the buffer before the call returns.
    size_t size = parameters.kernarg.size();
    void *extra[] = {reinterpret_cast<void *>(launchParameterBufferPointer),
                     const_cast<uint8_t *>(parameters.kernarg.data()),
                     reinterpret_cast<void *>(launchParameterBufferSize), &size,
                     reinterpret_cast<void *>(launchParameterEnd)};
    void **arguments = size == 0 ? nullptr : extra;
    auto start = [&](void *on) {
      return check(runtime->hipModuleLaunchKernel(
                       function, parameters.grid[0], parameters.grid[1],
                       parameters.grid[2], parameters.workgroup[0],
                       parameters.workgroup[1], parameters.workgroup[2],
                       parameters.dynamicLDSBytes, on, nullptr, arguments),
                   "launch of kernel '" + parameters.kernel + "'");
    };
    if (parameters.stream)
      return start(*parameters.stream);
    if (llvm::Error error =
            check(runtime->hipEventRecord(begin, stream), "hipEventRecord"))
      return error;
    if (llvm::Error error = start(stream))
      return error;
    if (llvm::Error error =
            check(runtime->hipEventRecord(stop, stream), "hipEventRecord"))
      return error;
    launchPending = true;
    return llvm::Error::success();
  }

  llvm::Error wait() override {
    if (llvm::Error error = select())
      return error;
    if (llvm::Error error = synchronise("wait for the device"))
      return error;
    if (!launchPending)
      return llvm::Error::success();
    launchPending = false;
    float milliseconds = 0;
    if (llvm::Error error =
            check(runtime->hipEventElapsedTime(&milliseconds, begin, stop),
                  "hipEventElapsedTime"))
      return error;
    seconds = milliseconds * 1e-3;
    hasTiming = true;
    return llvm::Error::success();
  }

  std::optional<sim::Counters> counters() const override {
    return std::nullopt;
  }

  std::optional<double> measuredSeconds() const override {
    return hasTiming ? std::optional<double>(seconds) : std::nullopt;
  }

private:
  llvm::Error check(int code, const llvm::Twine &call) const {
    return runtime->check(code, call + " on device " +
                                    llvm::Twine(deviceInfo.ordinal) + ", " +
                                    deviceInfo.architecture);
  }

  /// HIP's current device belongs to the calling thread.
  llvm::Error select() const {
    return check(runtime->hipSetDevice(deviceInfo.ordinal), "hipSetDevice");
  }

  llvm::Error synchronise(llvm::StringRef what) const {
    return check(runtime->hipStreamSynchronize(stream), what);
  }

  /// Which HIP reads which code object version.
  llvm::Error checkVersion(unsigned version) const {
    int needed = version <= 4   ? makeVersion(5, 2)
                 : version == 5 ? makeVersion(5, 3)
                                : makeVersion(6, 2);
    if (runtime->version >= needed)
      return llvm::Error::success();
    return llvm::createStringError("code object has version " +
                                   llvm::Twine(version) + ", which needs HIP " +
                                   formatVersion(needed) +
                                   " or later; this is " + runtime->describe());
  }

  /// A code object that was launched before.
  struct Loaded {
    std::vector<uint8_t> elf;
    std::shared_ptr<const sim::CodeObject> metadata;
    std::shared_ptr<HIPModule> module;
  };
  static constexpr unsigned maxLoaded = 64;

  RuntimePointer runtime;
  DeviceInfo deviceInfo;
  const TargetInfo &target;
  /// The one last used stands first.
  llvm::SmallVector<Loaded, 0> loaded;
  void *stream = nullptr;
  void *begin = nullptr;
  void *stop = nullptr;
  bool launchPending = false;
  bool hasTiming = false;
  double seconds = 0;
};

} // namespace

static bool isSupported(llvm::StringRef architecture) {
  return llvm::any_of(knownTargets(), [&](const TargetInfo &target) {
    return target.architecture == architecture;
  });
}

llvm::Expected<std::unique_ptr<Device>>
wavesmith::createHIPDevice(llvm::StringRef architecture,
                           const DeviceOptions &options) {
  RuntimePointer runtime;
  llvm::Expected<std::vector<DeviceInfo>> devices = listDevices(runtime);
  if (!devices)
    return devices.takeError();

  const DeviceInfo *chosen = nullptr;
  std::string found;
  for (const DeviceInfo &info : *devices) {
    found += (found.empty() ? "" : ", ") + std::to_string(info.ordinal) + ": " +
             info.name + " (" + info.fullArchitecture + ")";
    bool fits = architecture.empty() ? isSupported(info.architecture)
                                     : info.architecture == architecture;
    bool wanted = !options.ordinal || *options.ordinal == info.ordinal;
    if (!chosen && fits && wanted)
      chosen = &info;
  }
  if (!chosen) {
    std::string wanted = architecture.empty()
                             ? " of a supported architecture"
                             : " of architecture " + architecture.str();
    if (options.ordinal)
      wanted += " with number " + std::to_string(*options.ordinal);
    return llvm::make_error<NoDeviceError>("no HIP device" + wanted + ": " +
                                           runtime->describe() + " shows " +
                                           found);
  }

  llvm::Expected<const TargetInfo &> target =
      lookupTargetOfGPU(chosen->architecture, chosen->computeUnits);
  if (!target)
    return target.takeError();
  // Earlier versions list the device, but their loader knows no gfx942 code.
  constexpr int gfx942Version = makeVersion(5, 7);
  if (chosen->architecture == "gfx942" && runtime->version < gfx942Version)
    return llvm::createStringError("gfx942 needs HIP " +
                                   formatVersion(gfx942Version) +
                                   " or later; this is " + runtime->describe());

  auto device = std::make_unique<HIPDevice>(runtime, *chosen, *target);
  if (llvm::Error error = device->initialise())
    return error;
  return device;
}
