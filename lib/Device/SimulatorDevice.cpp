//===- SimulatorDevice.cpp - The simulator as a device --------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceImplementations.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace wavesmith;

namespace {

class SimulatorDevice final : public Device {
public:
  SimulatorDevice(const TargetInfo &target, const DeviceOptions &options,
                  std::string note)
      : target(target), threads(options.threads), check(options.check),
        maxInstructions(options.maxInstructions), modelTime(options.modelTime),
        fittedScale(options.fittedScale) {
    deviceInfo.kind = DeviceKind::Simulator;
    deviceInfo.name = "Wavesmith simulator of " + target.displayName.str();
    deviceInfo.architecture = target.architecture.str();
    deviceInfo.fullArchitecture = target.architecture.str();
    deviceInfo.computeUnits = target.computeUnits;
    deviceInfo.note = std::move(note);
  }

  const DeviceInfo &info() const override { return deviceInfo; }

  llvm::Expected<uint64_t> allocate(uint64_t bytes,
                                    llvm::StringRef name) override {
    if (bytes == 0)
      return llvm::createStringError("cannot allocate zero bytes for '" + name +
                                     "'");
    return memory.allocate(bytes, name);
  }

  llvm::Error release(uint64_t address) override {
    return memory.release(address);
  }

  llvm::Error copyToDevice(uint64_t address,
                           llvm::ArrayRef<uint8_t> bytes) override {
    if (bytes.empty())
      return llvm::Error::success();
    return memory.write(address, bytes);
  }

  llvm::Error copyFromDevice(llvm::MutableArrayRef<uint8_t> bytes,
                             uint64_t address) override {
    if (bytes.empty())
      return llvm::Error::success();
    return memory.read(address, bytes);
  }

  llvm::Expected<std::unique_ptr<LoadedCodeObject>>
  loadCodeObject(llvm::ArrayRef<uint8_t> elf) override {
    // Programs launch the same few many times; decoding takes longer than a
    // small launch.
    auto *found = llvm::find_if(decoded, [&](const Decoded &entry) {
      return llvm::ArrayRef<uint8_t>(entry.elf) == elf;
    });
    if (found == decoded.end()) {
      llvm::Expected<std::shared_ptr<const sim::CodeObject>> metadata =
          readCodeObjectFor(deviceInfo.fullArchitecture, elf);
      if (!metadata)
        return metadata.takeError();
      if (decoded.size() == maxDecoded)
        decoded.pop_back();
      decoded.push_back({elf.vec(), std::move(*metadata)});
      found = std::prev(decoded.end());
    }
    // The one last used stands first.
    std::rotate(decoded.begin(), found, std::next(found));
    return std::make_unique<LoadedCodeObject>(decoded.front().object);
  }

  llvm::Error launch(const LoadedCodeObject &object,
                     const KernelLaunch &parameters) override {
    counted.reset();
    if (llvm::Error error = checkNamedLaunch(object, target, parameters))
      return error;
    sim::LaunchParameters launchParameters;
    launchParameters.kernel = parameters.kernel;
    launchParameters.grid = parameters.grid;
    launchParameters.workgroup = parameters.workgroup;
    launchParameters.kernarg = parameters.kernarg;
    launchParameters.dynamicLDSBytes = parameters.dynamicLDSBytes;
    launchParameters.maxInstructions = maxInstructions;
    used.clear();
    launchParameters.instructionUse = &used;
    found.clear();
    sim::CheckOptions checkOptions;
    if (check) {
      launchParameters.check = &checkOptions;
      launchParameters.findings = &found;
    }
    llvm::Expected<sim::Counters> result =
        modelTime
            ? launchTimed(object, launchParameters)
            : sim::launch(object.metadata(), memory, launchParameters, threads);
    if (!result) {
      // There will be no report: what led there is said here.
      std::string message = llvm::toString(result.takeError());
      for (const sim::Finding &finding : found)
        message += "\nfound before: " + finding.text();
      return llvm::createStringError(message);
    }
    counted = *result;
    return llvm::Error::success();
  }

  // A launch is over when it returns.
  llvm::Error wait() override { return llvm::Error::success(); }

  std::optional<sim::Counters> counters() const override { return counted; }

  llvm::ArrayRef<sim::InstructionUse> instructionUse() const override {
    return used;
  }

  const std::vector<sim::Finding> *findings() const override {
    return check ? &found : nullptr;
  }

  const sim::TimingReport *modelledTime() const override {
    return timing ? &*timing : nullptr;
  }

  // What a simulator takes is no time of a GPU.
  std::optional<double> measuredSeconds() const override {
    return std::nullopt;
  }

private:
  llvm::Expected<sim::Counters>
  launchTimed(const LoadedCodeObject &object,
              const sim::LaunchParameters &parameters) {
    sim::TimingOptions options;
    options.chip = target.chip.str();
    options.fittedScale = fittedScale;
    auto result = sim::launchTimed(object.metadata(), memory, parameters,
                                   options, threads);
    if (!result)
      return result.takeError();
    timing = std::move(result->second);
    return result->first;
  }

  /// A code object that was launched before.
  struct Decoded {
    std::vector<uint8_t> elf;
    std::shared_ptr<const sim::CodeObject> object;
  };
  static constexpr unsigned maxDecoded = 8;

  const TargetInfo &target;
  llvm::SmallVector<Decoded, 0> decoded;
  unsigned threads;
  bool check;
  uint64_t maxInstructions;
  bool modelTime;
  double fittedScale;
  DeviceInfo deviceInfo;
  sim::Memory memory;
  std::optional<sim::Counters> counted;
  std::vector<sim::InstructionUse> used;
  std::vector<sim::Finding> found;
  std::optional<sim::TimingReport> timing;
};

} // namespace

llvm::Expected<std::unique_ptr<Device>>
wavesmith::createSimulatorDevice(llvm::StringRef architecture,
                                 const DeviceOptions &options,
                                 std::string note) {
  llvm::Expected<const TargetInfo &> target =
      lookupTarget(architecture, options.chip);
  if (!target)
    return target.takeError();
  return std::make_unique<SimulatorDevice>(*target, options, std::move(note));
}
