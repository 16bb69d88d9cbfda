//===- RunKernel.h - Run a described kernel on host arrays ------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one way from host arrays through a device and back: tools, the C API and
// Python call runKernel. It neither reads nor writes files.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DEVICE_RUNKERNEL_H
#define WAVESMITH_DEVICE_RUNKERNEL_H

#include "wavesmith/Device/Device.h"
#include "wavesmith/Device/HostArray.h"
#include "wavesmith/Device/KernelDescription.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace wavesmith {

/// Resources of a kernel as its code object states them.
struct KernelResources {
  uint32_t vgprs = 0; ///< Architected VGPRs of a lane.
  uint32_t agprs = 0; ///< Accumulation VGPRs of a lane.
  /// Of the unified register file: both, with AGPRs aligned.
  uint32_t unifiedVGPRs = 0;
  uint32_t sgprs = 0;
  uint32_t vgprSpills = 0;
  uint32_t sgprSpills = 0;
  uint32_t scratchBytes = 0; ///< Of a lane.
  uint32_t ldsBytes = 0;     ///< Of a workgroup, fixed at compile time.
};

/// Resources from a kernel's metadata, where `.vgpr_count` of gfx90a and gfx942
/// is that of the unified file.
KernelResources getResources(const sim::KernelInfo &kernel);

/// What a run did.
struct LaunchReport {
  DeviceInfo device;
  TargetInfo target;
  std::string kernel;
  int64_t zones = 0; ///< 0 for a kernel of a grid.
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> workgroup = {1, 1, 1};
  KernelResources resources;
  Occupancy occupancy = {};
  /// Only what was counted.
  std::optional<sim::Counters> counters;
  /// Only where instructions are simulated.
  std::vector<sim::InstructionUse> instructionUse;
  /// Only of a checked run.
  std::optional<std::vector<sim::Finding>> findings;
  /// Only of a run whose time was modelled.
  std::optional<sim::TimingReport> modelledTime;
  /// Only if a GPU measured it.
  std::optional<double> measuredSeconds;
  /// From the launch to its end by the host's clock; no part of the JSON, which
  /// is the same for the same run on a simulator.
  double hostSeconds = 0;
  llvm::json::Value schedule = nullptr;

  /// The counters under rocprof's names; none where nothing was counted.
  std::vector<sim::RocprofCounter> getRocprofCounters() const;

  /// The report as documented in docs/devices.md.
  llvm::json::Value toJSON() const;
};

/// Counters under rocprof's names where those mean the same, and under names of
/// our own, in lower case, for the rest: docs/devices.md.
llvm::json::Object countersToJSON(const sim::Counters &counters);

/// Which instructions are exact and which approximate, as docs/devices.md
/// describes it.
llvm::json::Object
semanticsToJSON(llvm::ArrayRef<sim::InstructionUse> instructionUse);

/// Counters by name.
llvm::json::Object
rocprofCountersToJSON(llvm::ArrayRef<sim::RocprofCounter> counters);

/// What the checker found, as docs/devices.md describes it.
llvm::json::Array findingsToJSON(llvm::ArrayRef<sim::Finding> findings);
/// What to run, on which arrays.
struct RunRequest {
  /// A raw code object.
  llvm::ArrayRef<uint8_t> codeObject;
  /// Its description, and the kernel's name (empty: the only one).
  const CodeObjectDescription *description = nullptr;
  llvm::StringRef kernel;
  /// An array for every argument of kind input, a scalar (no dimension) for
  /// every one of kind scalar; not one more. One of kind dimension may be given
  /// as a scalar, and has to be where no input's shape names it.
  llvm::StringMap<HostArrayView> values;
  /// The number of zones. May be absent where an input has a zones dimension;
  /// has to agree if given as well.
  std::optional<int64_t> zones;
};
/// What a run gives back.
struct RunResult {
  /// An array for every argument of kind output, in the kernel's order. What
  /// the kernel does not write reads as NaN (-1 for integers).
  std::vector<std::pair<std::string, HostArray>> outputs;
  LaunchReport report;
};

/// What a request comes to once it is checked; no device is needed for this.
struct RunPlan {
  const KernelDescription *kernel = nullptr;
  const sim::KernelInfo *info = nullptr;
  int64_t zones = 0; ///< 0 for a kernel of a grid.
  /// Every size that has a name, "zones" among them.
  llvm::StringMap<int64_t> sizes;
  std::array<uint32_t, 3> grid = {1, 1, 1};

  /// The sizes of workspaces: zones are padded to whole workgroups.
  llvm::StringMap<int64_t> getPaddedSizes() const;
};

/// Checks a request against the description and the code object: every input
/// and scalar is there once with its type and shape, zone counts agree and are
/// not zero, and the description's arguments fit the code object's metadata in
/// number and size. Errors name the argument, what was got and what was wanted.
llvm::Expected<RunPlan> planRun(const RunRequest &request,
                                const sim::CodeObject &codeObject);

/// Checks a request (see planRun), copies the inputs to \p device, launches the
/// kernel over all zones, waits and copies the outputs back. Device memory is
/// released whatever happens.
llvm::Expected<RunResult> runKernel(Device &device, const RunRequest &request);

/// The same for a plan that planRun made of this request.
llvm::Expected<RunResult> runKernel(Device &device, const RunRequest &request,
                                    const RunPlan &plan);

/// Starts a kernel on arrays that are on a GPU, and returns without waiting.
/// The bytes of the request's arrays are addresses there (those of scalars and
/// dimensions are the host's); \p others has the addresses of the outputs and
/// workspaces by name, whose shapes are up to the caller. \p stream is the
/// caller's.
llvm::Error startKernel(Device &device, const RunRequest &request,
                        const RunPlan &plan,
                        const llvm::StringMap<uint64_t> &others, void *stream);

} // namespace wavesmith

#endif // WAVESMITH_DEVICE_RUNKERNEL_H
