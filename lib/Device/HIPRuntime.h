//===- HIPRuntime.h - HIP's functions, found at run time --------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wavesmith neither links HIP nor includes its headers: one binary runs with
// any ROCm from 5.2 to 7, or with none. What is used of HIP's interface is
// declared here; a unit test compares it with the headers of an installed HIP.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_DEVICE_HIPRUNTIME_H
#define WAVESMITH_LIB_DEVICE_HIPRUNTIME_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace wavesmith {
namespace hip {

// Enumerations are passed as int, handles as void *.
constexpr int success = 0;
constexpr int errorNoDevice = 100;
constexpr int errorInvalidDevice = 101;
constexpr int memcpyHostToDevice = 1;
constexpr int memcpyDeviceToHost = 2;
constexpr unsigned streamNonBlocking = 1;
constexpr int attributeMultiprocessorCount = 63;

// Markers of the `extra` array of hipModuleLaunchKernel.
constexpr uintptr_t launchParameterBufferPointer = 1;
constexpr uintptr_t launchParameterBufferSize = 2;
constexpr uintptr_t launchParameterEnd = 3;

// hipDeviceProp_t has two layouts; of its members only gcnArchName is read, all
// else comes from attributes, whose numbers never changed.
constexpr size_t propertiesSizeR0000 = 792;  // up to HIP 5.7
constexpr size_t archNameOffsetR0000 = 396;  // hipGetDeviceProperties
constexpr size_t archNameOffsetR0600 = 1160; // hipGetDevicePropertiesR0600
constexpr size_t archNameSize = 256;
constexpr size_t propertiesBufferSize = 4096;

// Versions as hipRuntimeGetVersion gives them: major * 10^7 + minor * 10^5 +
// patch.
constexpr int makeVersion(int major, int minor) {
  return major * 10000000 + minor * 100000;
}

/// X(name, type) for every function that must be there.
#define WAVESMITH_HIP_FUNCTIONS(X)                                             \
  X(hipInit, int(unsigned))                                                    \
  X(hipRuntimeGetVersion, int(int *))                                          \
  X(hipGetDeviceCount, int(int *))                                             \
  X(hipSetDevice, int(int))                                                    \
  X(hipDeviceGetName, int(char *, int, int))                                   \
  X(hipDeviceGetAttribute, int(int *, int, int))                               \
  X(hipGetErrorName, const char *(int))                                        \
  X(hipGetErrorString, const char *(int))                                      \
  X(hipMalloc, int(void **, size_t))                                           \
  X(hipFree, int(void *))                                                      \
  X(hipMemcpyAsync, int(void *, const void *, size_t, int, void *))            \
  X(hipStreamCreateWithFlags, int(void **, unsigned))                          \
  X(hipStreamDestroy, int(void *))                                             \
  X(hipStreamSynchronize, int(void *))                                         \
  X(hipDeviceSynchronize, int())                                               \
  X(hipEventCreate, int(void **))                                              \
  X(hipEventDestroy, int(void *))                                              \
  X(hipEventRecord, int(void *, void *))                                       \
  X(hipEventElapsedTime, int(float *, void *, void *))                         \
  X(hipModuleLoadData, int(void **, const void *))                             \
  X(hipModuleUnload, int(void *))                                              \
  X(hipModuleGetFunction, int(void **, void *, const char *))                  \
  X(hipModuleLaunchKernel,                                                     \
    int(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,    \
        unsigned, void *, void **, void **))

/// The type of hipGetDeviceProperties and hipGetDevicePropertiesR0600.
using GetDeviceProperties = int(void *, int);

/// An opened HIP library. It is never closed: HIP registers exit handlers and
/// threads of its own.
struct Runtime {
#define WAVESMITH_HIP_MEMBER(name, ...)                                        \
  using name##Type = __VA_ARGS__;                                              \
  name##Type *name = nullptr;
  WAVESMITH_HIP_FUNCTIONS(WAVESMITH_HIP_MEMBER)
#undef WAVESMITH_HIP_MEMBER

  GetDeviceProperties *getProperties = nullptr;
  size_t archNameOffset = 0;

  /// Where it was found.
  std::string path;
  /// What hipRuntimeGetVersion gives.
  int version = 0;

  /// "HIP 5.2.21153 (libamdhip64.so.5)".
  std::string describe() const;

  /// Success, or an error with HIP's name and text of \p code; \p call says
  /// what was tried.
  llvm::Error check(int code, const llvm::Twine &call) const;
};

/// The environment variable that names a HIP library or a folder with one.
constexpr const char *libraryVariable = "WAVESMITH_HIP_LIBRARY";

/// Opens HIP. The order: what the environment variable names (an error if that
/// cannot be used), a copy that the process has already mapped,
/// libamdhip64.so.7, .so.6, .so.5, libamdhip64.so, and the same names below
/// /opt/rocm/lib. No library anywhere is a NoDeviceError with all attempts.
llvm::Expected<std::shared_ptr<const Runtime>> openRuntime();

/// Text of a version as hipRuntimeGetVersion gives it, e.g. "5.2.21153".
std::string formatVersion(int version);

} // namespace hip
} // namespace wavesmith

#endif // WAVESMITH_LIB_DEVICE_HIPRUNTIME_H
