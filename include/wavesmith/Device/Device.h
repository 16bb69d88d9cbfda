//===- Device.h - One interface to GPUs and the simulator -------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Device runs code objects: on a GPU through AMD's HIP runtime, found at run
// time, or on Wavesmith's own simulator. Programs that embed Wavesmith and have
// streams and device pointers of their own launch the code object by
// themselves; this interface serves tools, tests and host arrays.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DEVICE_DEVICE_H
#define WAVESMITH_DEVICE_DEVICE_H

#include "wavesmith/Simulator/Checker.h"
#include "wavesmith/Simulator/Simulator.h"
#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Target/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wavesmith {
/// Where kernels run.
enum class DeviceKind {
  Auto,      ///< A GPU where there is one of the architecture, else simulator.
  HIP,       ///< A GPU through the HIP runtime.
  Simulator, ///< Wavesmith's instruction-level simulator on the CPU.
};

/// The name for reports: "auto", "HIP GPU", "simulator".
llvm::StringRef stringify(DeviceKind kind);

/// The name on a command line: "auto", "hip", "sim". The error lists them.
llvm::Expected<DeviceKind> parseDeviceKind(llvm::StringRef text);

/// There is no device of the kind asked for. Everything else that goes wrong
/// while a device is opened is another error: `DeviceKind::Auto` passes over
/// this one only.
class NoDeviceError : public llvm::ErrorInfo<NoDeviceError> {
public:
  static char ID;
  explicit NoDeviceError(std::string message) : text(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override; ///< Prints the message.
  std::error_code convertToErrorCode() const override;

private:
  std::string text;
};
/// What a device says about itself.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::Simulator; ///< Never Auto.
  /// HIP's number of the device; 0 for a simulator.
  int ordinal = 0;
  std::string name;         ///< E.g. "AMD Instinct MI210".
  std::string architecture; ///< E.g. "gfx90a".
  /// Architecture with the modes the device runs in, as HIP gives it, e.g.
  /// "gfx90a:sramecc+:xnack-". The plain architecture for a simulator.
  std::string fullArchitecture;
  unsigned computeUnits = 0;
  /// What runs it: "HIP 5.7.31921 (/opt/rocm/lib/libamdhip64.so.5)" or empty.
  std::string runtime;
  /// Why `DeviceKind::Auto` did not take a GPU; empty if it did not have to.
  std::string note;
};
/// What a caller may choose when a device is opened.
struct DeviceOptions {
  /// HIP's number of the device to take; the first of the architecture if
  /// absent. With one, Auto does not fall back on the simulator.
  std::optional<int> ordinal;
  /// The chip whose table entry a simulator carries; the default of the
  /// architecture if empty.
  std::string chip;
  /// Host threads of the simulator, from 1 to 1024.
  unsigned threads = 1;
  /// Run the simulator's checker (docs/simulator.md). Auto then takes the
  /// simulator; a GPU that is asked for is an error.
  bool check = false;
  /// Instructions that a workgroup may issue on the simulator, against endless
  /// loops; 0 is no limit.
  uint64_t maxInstructions = sim::LaunchParameters().maxInstructions;
  /// Model the time of launches on the chip. Auto then takes the simulator; a
  /// GPU that is asked for is an error.
  bool modelTime = false;
  /// Multiplies the fitted parameters of that model.
  double fittedScale = 1.0;
};

/// A code object on a device. It must not outlive its device.
class LoadedCodeObject {
public:
  explicit LoadedCodeObject(std::shared_ptr<const sim::CodeObject> metadata)
      : contents(std::move(metadata)) {}
  virtual ~LoadedCodeObject();

  /// What the code object says about itself and its kernels.
  const sim::CodeObject &metadata() const { return *contents; }

private:
  std::shared_ptr<const sim::CodeObject> contents;
};
/// What to launch.
struct KernelLaunch {
  llvm::StringRef kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1};      ///< Counts workgroups.
  std::array<uint32_t, 3> workgroup = {1, 1, 1}; ///< Counts work-items.
  uint32_t dynamicLDSBytes = 0;
  /// The explicit arguments, packed at the offsets of the metadata. Hidden
  /// arguments are filled in by the device.
  llvm::ArrayRef<uint8_t> kernarg;
  /// A GPU's stream to launch on, of the caller's (null is HIP's default one);
  /// absent for the device's own. Nothing is measured there, and wait() does
  /// not wait for it. A simulator has no streams.
  std::optional<void *> stream = std::nullopt;
};

/// One device. Not thread-safe: a thread that shares one has to lock.
class Device {
public:
  virtual ~Device();
  /// What it is; does not change.
  virtual const DeviceInfo &info() const = 0;

  /// Device memory, uninitialised. \p name is used in diagnostics. Zero bytes
  /// are an error.
  virtual llvm::Expected<uint64_t> allocate(uint64_t bytes,
                                            llvm::StringRef name) = 0;
  virtual llvm::Error release(uint64_t address) = 0; ///< By its first address.

  /// Both copies are complete when they return; a range lies in one allocation.
  virtual llvm::Error copyToDevice(uint64_t address,
                                   llvm::ArrayRef<uint8_t> bytes) = 0;
  virtual llvm::Error copyFromDevice(llvm::MutableArrayRef<uint8_t> bytes,
                                     uint64_t address) = 0;

  /// \p elf is a raw code object (an ELF file, not an offload bundle). One for
  /// another architecture or mode than the device's is an error.
  virtual llvm::Expected<std::unique_ptr<LoadedCodeObject>>
  loadCodeObject(llvm::ArrayRef<uint8_t> elf) = 0;

  /// Starts a kernel. Checks sizes against the kernel's metadata first, see
  /// checkLaunch. On a GPU this only enqueues; the simulator is done when it
  /// returns.
  virtual llvm::Error launch(const LoadedCodeObject &object,
                             const KernelLaunch &parameters) = 0;

  /// Waits for everything started.
  virtual llvm::Error wait() = 0;

  /// What the last launch executed. The simulator counts; HIP does not.
  virtual std::optional<sim::Counters> counters() const = 0;

  /// The opcodes of the last launch and how exactly they are simulated; empty
  /// on a GPU.
  virtual llvm::ArrayRef<sim::InstructionUse> instructionUse() const {
    return {};
  }

  /// What the checker found in the last launch; null where none ran.
  virtual const std::vector<sim::Finding> *findings() const { return nullptr; }

  /// The modelled time of the last launch; null where none was modelled.
  virtual const sim::TimingReport *modelledTime() const { return nullptr; }

  /// Time of the last launch, measured on a GPU by HIP events, after wait().
  /// A simulator never gives one.
  virtual std::optional<double> measuredSeconds() const = 0;
};

/// Opens a device of \p architecture ("gfx90a", "gfx942"). With HIP or Auto the
/// architecture may be empty: any GPU then does; the simulator needs it.
/// No GPU is a NoDeviceError with all that was tried.
llvm::Expected<std::unique_ptr<Device>>
createDevice(DeviceKind kind, llvm::StringRef architecture,
             const DeviceOptions &options = {});

/// All GPUs that HIP shows, then one simulator for each known architecture. The
/// absence of HIP or of GPUs is no error here.
llvm::Expected<std::vector<DeviceInfo>> enumerateDevices();

/// The checks that any launch has to pass, on any device: sizes not zero,
/// grid x workgroup within 32 bits in each dimension, the workgroup within what
/// the kernel was compiled for, LDS within the target's, and a kernarg buffer
/// that holds every explicit argument.
llvm::Error checkLaunch(const sim::KernelInfo &kernel, const TargetInfo &target,
                        const KernelLaunch &parameters);

/// Whether an argument is filled in by the runtime instead of the caller.
bool isHiddenArgument(const sim::KernelArgument &argument);

/// "gfx90a" of "amdgcn-amd-amdhsa--gfx90a:xnack-" or of "gfx90a:xnack-".
llvm::StringRef getArchitecture(llvm::StringRef target);

/// Whether a code object for \p codeObjectTarget runs on a device of
/// \p deviceTarget: the same architecture, and every mode the code object names
/// is set likewise on the device. Otherwise an error that names both.
llvm::Error checkTargetMatches(llvm::StringRef codeObjectTarget,
                               llvm::StringRef deviceTarget);

} // namespace wavesmith

#endif // WAVESMITH_DEVICE_DEVICE_H
