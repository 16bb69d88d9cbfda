//===- DeviceImplementations.h - Constructors of the devices ----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_DEVICE_DEVICEIMPLEMENTATIONS_H
#define WAVESMITH_LIB_DEVICE_DEVICEIMPLEMENTATIONS_H

#include "wavesmith/Device/Device.h"

namespace wavesmith {

/// All GPUs that HIP shows. None is a NoDeviceError.
llvm::Expected<std::vector<DeviceInfo>> enumerateHIPDevices();

/// Opens a GPU of \p architecture, any if empty.
llvm::Expected<std::unique_ptr<Device>>
createHIPDevice(llvm::StringRef architecture, const DeviceOptions &options);

/// \p note becomes DeviceInfo::note.
llvm::Expected<std::unique_ptr<Device>>
createSimulatorDevice(llvm::StringRef architecture,
                      const DeviceOptions &options, std::string note = "");

/// The table entry that fits a GPU: its architecture, and of the chips the one
/// with as many compute units (the architecture's default if none has).
llvm::Expected<const TargetInfo &>
lookupTargetOfGPU(llvm::StringRef architecture, unsigned computeUnits);

/// Reads a code object and checks that a device of the full architecture
/// \p deviceTarget can run it.
llvm::Expected<std::shared_ptr<const sim::CodeObject>>
readCodeObjectFor(llvm::StringRef deviceTarget, llvm::ArrayRef<uint8_t> elf);

/// Checks a launch against the kernel that it names, which must be one of the
/// code object.
llvm::Error checkNamedLaunch(const LoadedCodeObject &object,
                             const TargetInfo &target,
                             const KernelLaunch &parameters);

} // namespace wavesmith

#endif // WAVESMITH_LIB_DEVICE_DEVICEIMPLEMENTATIONS_H
