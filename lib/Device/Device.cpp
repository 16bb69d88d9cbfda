//===- Device.cpp - What all devices have in common -----------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/Device.h"
#include "DeviceImplementations.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

using namespace wavesmith;

char NoDeviceError::ID = 0;

void NoDeviceError::log(llvm::raw_ostream &os) const { os << text; }

std::error_code NoDeviceError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

LoadedCodeObject::~LoadedCodeObject() = default;
Device::~Device() = default;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

llvm::StringRef wavesmith::stringify(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Auto:
    return "auto";
  case DeviceKind::HIP:
    return "HIP GPU";
  case DeviceKind::Simulator:
    return "simulator";
  }
  return "unknown";
}

llvm::Expected<DeviceKind> wavesmith::parseDeviceKind(llvm::StringRef text) {
  if (text == "auto")
    return DeviceKind::Auto;
  if (text == "hip")
    return DeviceKind::HIP;
  if (text == "sim")
    return DeviceKind::Simulator;
  return llvm::createStringError("unknown device '" + text +
                                 "'; known are auto, hip, sim");
}

llvm::StringRef wavesmith::getArchitecture(llvm::StringRef target) {
  size_t dashes = target.rfind("--");
  if (dashes != llvm::StringRef::npos)
    target = target.drop_front(dashes + 2);
  return target.split(':').first;
}

/// "xnack+" and the like after the architecture.
static llvm::SmallVector<llvm::StringRef> getModes(llvm::StringRef target) {
  llvm::SmallVector<llvm::StringRef> modes;
  target.split(modes, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (!modes.empty())
    modes.erase(modes.begin());
  return modes;
}

llvm::Error wavesmith::checkTargetMatches(llvm::StringRef codeObjectTarget,
                                          llvm::StringRef deviceTarget) {
  llvm::StringRef wanted = getArchitecture(codeObjectTarget);
  llvm::StringRef got = getArchitecture(deviceTarget);
  if (wanted != got)
    return llvm::createStringError("code object is for " + wanted +
                                   ", the device is " + got);
  llvm::SmallVector<llvm::StringRef> deviceModes = getModes(deviceTarget);
  for (llvm::StringRef mode : getModes(codeObjectTarget))
    for (llvm::StringRef deviceMode : deviceModes)
      if (mode.drop_back() == deviceMode.drop_back() && mode != deviceMode)
        return llvm::createStringError("code object needs " + mode +
                                       ", the device is " + deviceTarget);
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<const sim::CodeObject>>
wavesmith::readCodeObjectFor(llvm::StringRef deviceTarget,
                             llvm::ArrayRef<uint8_t> elf) {
  llvm::Expected<std::shared_ptr<const sim::CodeObject>> metadata =
      sim::CodeObject::load(elf);
  if (!metadata)
    return metadata.takeError();
  if (llvm::Error error =
          checkTargetMatches((*metadata)->target(), deviceTarget))
    return std::move(error);
  return metadata;
}

llvm::Error wavesmith::checkNamedLaunch(const LoadedCodeObject &object,
                                        const TargetInfo &target,
                                        const KernelLaunch &parameters) {
  const sim::KernelInfo *kernel =
      object.metadata().findKernel(parameters.kernel);
  if (!kernel)
    return llvm::createStringError("code object has no kernel '" +
                                   parameters.kernel + "'");
  return checkLaunch(*kernel, target, parameters);
}

llvm::Expected<const TargetInfo &>
wavesmith::lookupTargetOfGPU(llvm::StringRef architecture,
                             unsigned computeUnits) {
  for (const TargetInfo &target : knownTargets())
    if (target.architecture == architecture &&
        target.computeUnits == computeUnits)
      return target;
  return lookupTarget(architecture);
}

//===----------------------------------------------------------------------===//
// Launch checks
//===----------------------------------------------------------------------===//

bool wavesmith::isHiddenArgument(const sim::KernelArgument &argument) {
  return llvm::StringRef(argument.valueKind).starts_with("hidden_");
}

static std::string formatSizes(const std::array<uint32_t, 3> &sizes) {
  return "[" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) +
         ", " + std::to_string(sizes[2]) + "]";
}

llvm::Error wavesmith::checkLaunch(const sim::KernelInfo &kernel,
                                   const TargetInfo &target,
                                   const KernelLaunch &parameters) {
  auto fail = [&](const llvm::Twine &what) {
    return llvm::createStringError("cannot launch kernel '" + kernel.name +
                                   "': " + what);
  };
  uint64_t workItems = 1;
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t grid = parameters.grid[i], workgroup = parameters.workgroup[i];
    if (grid == 0 || workgroup == 0)
      return fail("grid " + formatSizes(parameters.grid) + " and workgroup " +
                  formatSizes(parameters.workgroup) +
                  " must not have a zero size");
    if (grid * workgroup > std::numeric_limits<uint32_t>::max())
      return fail("dimension " + llvm::Twine(i) + " has " + llvm::Twine(grid) +
                  " workgroups of " + llvm::Twine(workgroup) +
                  " work-items; their product must fit in 32 bits");
    // Bounded before the next factor, so that the product cannot overflow.
    if (workgroup > target.maxWorkgroupSize)
      return fail("workgroup " + formatSizes(parameters.workgroup) +
                  " has more than " + llvm::Twine(target.maxWorkgroupSize) +
                  " work-items");
    workItems *= workgroup;
  }
  uint64_t maximum = target.maxWorkgroupSize;
  if (kernel.maxFlatWorkgroupSize)
    maximum = std::min<uint64_t>(maximum, kernel.maxFlatWorkgroupSize);
  if (workItems > maximum)
    return fail("workgroup " + formatSizes(parameters.workgroup) + " has " +
                llvm::Twine(workItems) +
                " work-items; the kernel takes up to " + llvm::Twine(maximum));
  if (kernel.requiredWorkgroupSize[0] != 0 &&
      kernel.requiredWorkgroupSize != parameters.workgroup)
    return fail("workgroup is " + formatSizes(parameters.workgroup) +
                "; the kernel requires " +
                formatSizes(kernel.requiredWorkgroupSize));
  uint64_t lds =
      uint64_t(kernel.groupSegmentFixedSize) + parameters.dynamicLDSBytes;
  if (lds > target.ldsBytes)
    return fail("it needs " + llvm::Twine(lds) + " bytes of LDS; " +
                target.architecture + " has " + llvm::Twine(target.ldsBytes));
  uint64_t needed = 0;
  for (const sim::KernelArgument &argument : kernel.arguments)
    if (!isHiddenArgument(argument))
      needed =
          std::max<uint64_t>(needed, uint64_t(argument.offset) + argument.size);
  if (parameters.kernarg.size() < needed)
    return fail("kernarg buffer has " + llvm::Twine(parameters.kernarg.size()) +
                " bytes; the explicit arguments take " + llvm::Twine(needed));
  if (parameters.kernarg.size() > kernel.kernargSize)
    return fail("kernarg buffer has " + llvm::Twine(parameters.kernarg.size()) +
                " bytes; the kernel takes " + llvm::Twine(kernel.kernargSize));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// More is a mistake on any host.
static constexpr unsigned maximumThreads = 1024;

llvm::Expected<std::unique_ptr<Device>>
wavesmith::createDevice(DeviceKind kind, llvm::StringRef architecture,
                        const DeviceOptions &options) {
  // An architecture that nothing can run is an error of its own, not the lack
  // of a device.
  if (!architecture.empty()) {
    llvm::Expected<const TargetInfo &> target =
        lookupTarget(architecture, options.chip);
    if (!target)
      return target.takeError();
  }
  if (options.threads == 0 || options.threads > maximumThreads)
    return llvm::createStringError("number of threads must be from 1 to " +
                                   llvm::Twine(maximumThreads) + ", got " +
                                   llvm::Twine(options.threads));
  if (kind == DeviceKind::Simulator) {
    if (options.ordinal)
      return llvm::createStringError("a device number (" +
                                     llvm::Twine(*options.ordinal) +
                                     ") chooses a GPU; the simulator has none");
    return createSimulatorDevice(architecture, options);
  }
  if (options.check || options.modelTime) {
    std::string what = options.check ? "checking" : "modelled time";
    what += " needs the simulator";
    if (kind == DeviceKind::HIP || options.ordinal)
      return llvm::createStringError(what + ", and a GPU is asked for");
    return createSimulatorDevice(architecture, options, what);
  }

  llvm::Expected<std::unique_ptr<Device>> gpu =
      createHIPDevice(architecture, options);
  // Who names one GPU wants that one or none.
  if (gpu || kind == DeviceKind::HIP || options.ordinal)
    return gpu;
  std::string reason;
  if (llvm::Error error = llvm::handleErrors(
          gpu.takeError(),
          [&](const NoDeviceError &absence) { reason = absence.message(); }))
    return error;
  return createSimulatorDevice(architecture, options, reason);
}

llvm::Expected<std::vector<DeviceInfo>> wavesmith::enumerateDevices() {
  std::vector<DeviceInfo> devices;
  llvm::Expected<std::vector<DeviceInfo>> gpus = enumerateHIPDevices();
  if (gpus)
    devices = std::move(*gpus);
  else if (llvm::Error error = llvm::handleErrors(gpus.takeError(),
                                                  [](const NoDeviceError &) {}))
    return error;
  std::string last;
  for (const TargetInfo &target : knownTargets()) {
    if (target.architecture == last)
      continue;
    last = target.architecture.str();
    llvm::Expected<std::unique_ptr<Device>> simulator =
        createSimulatorDevice(target.architecture, {});
    if (!simulator)
      return simulator.takeError();
    devices.push_back((*simulator)->info());
  }
  return devices;
}
