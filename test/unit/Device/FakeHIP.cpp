//===- FakeHIP.cpp - A HIP library without a GPU, for tests ---------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeHIP.h"
#include <cstdlib>
#include <cstring>
#include <string>

// FAKE_HIP_R0600 chooses the properties' layout of HIP 6 and later.
#ifdef FAKE_HIP_R0600
static constexpr size_t archNameOffset = 1160, propertiesSize = 1472;
#else
static constexpr size_t archNameOffset = 396, propertiesSize = 792;
#endif

static FakeHIPState state;

namespace {
struct Function {
  std::string name;
};
struct Event {
  int launchesBefore = -1;
};
} // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))
static constexpr int invalidValue = 1;

FAKE_EXPORT FakeHIPState *fakeHIPState() { return &state; }

FAKE_EXPORT int hipInit(unsigned flags) {
  return flags ? invalidValue : state.initResult;
}
FAKE_EXPORT int hipRuntimeGetVersion(int *version) {
  *version = state.version;
  return 0;
}
FAKE_EXPORT int hipGetDeviceCount(int *count) {
  *count = state.deviceCount;
  return 0;
}
FAKE_EXPORT int hipSetDevice(int device) {
  if (device < 0 || device >= state.deviceCount)
    return 101;
  state.currentDevice = device;
  return 0;
}
FAKE_EXPORT int hipDeviceGetName(char *name, int length, int device) {
  std::string text = "Fake GPU " + std::to_string(device);
  if (int(text.size()) >= length)
    return invalidValue;
  std::strcpy(name, text.c_str());
  return 0;
}
FAKE_EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
  if (attribute != 63)
    return invalidValue;
  *value = state.computeUnits;
  return 0;
}
FAKE_EXPORT const char *hipGetErrorName(int code) {
  return code == 719   ? "hipErrorLaunchFailure"
         : code == 101 ? "hipErrorInvalidDevice"
                       : "hipErrorSomething";
}
FAKE_EXPORT const char *hipGetErrorString(int code) {
  // As HIP 5 does for all.
  return code == 101 ? hipGetErrorName(code) : "fake text";
}

static int getProperties(void *properties, int device) {
  // Whatever a caller reads at the wrong place is no architecture.
  std::memset(properties, '?', propertiesSize);
  char *name = static_cast<char *>(properties) + archNameOffset;
  std::memset(name, 0, 256);
  std::strcpy(name, state.architectures[device]);
  return 0;
}
#ifdef FAKE_HIP_R0600
FAKE_EXPORT int hipGetDevicePropertiesR0600(void *properties, int device) {
  return getProperties(properties, device);
}
// HIP 6 keeps the old function with the old layout.
FAKE_EXPORT int hipGetDeviceProperties(void *, int) { return invalidValue; }
#else
FAKE_EXPORT int hipGetDeviceProperties(void *properties, int device) {
  return getProperties(properties, device);
}
#endif

FAKE_EXPORT int hipMalloc(void **pointer, size_t size) {
  if (size > (size_t(1) << 30))
    return 2; // hipErrorOutOfMemory
  *pointer = std::malloc(size);
  ++state.liveAllocations;
  return 0;
}
FAKE_EXPORT int hipFree(void *pointer) {
  std::free(pointer);
  --state.liveAllocations;
  return 0;
}
FAKE_EXPORT int hipMemcpyAsync(void *to, const void *from, size_t size,
                               int kind, void *stream) {
  if ((kind != 1 && kind != 2) || !stream)
    return invalidValue;
  std::memcpy(to, from, size);
  return 0;
}
FAKE_EXPORT int hipStreamCreateWithFlags(void **stream, unsigned flags) {
  if (flags != 1)
    return invalidValue;
  *stream = new int(0);
  ++state.liveStreams;
  return 0;
}
FAKE_EXPORT int hipStreamDestroy(void *stream) {
  delete static_cast<int *>(stream);
  --state.liveStreams;
  return 0;
}
FAKE_EXPORT int hipStreamSynchronize(void *stream) {
  return stream ? 0 : invalidValue;
}
FAKE_EXPORT int hipDeviceSynchronize() {
  ++state.deviceSynchronisations;
  return 0;
}
FAKE_EXPORT int hipEventCreate(void **event) {
  *event = new Event;
  ++state.liveEvents;
  return 0;
}
FAKE_EXPORT int hipEventDestroy(void *event) {
  delete static_cast<Event *>(event);
  --state.liveEvents;
  return 0;
}
FAKE_EXPORT int hipEventRecord(void *event, void *stream) {
  if (!stream)
    return invalidValue;
  static_cast<Event *>(event)->launchesBefore = state.launches;
  return 0;
}
FAKE_EXPORT int hipEventElapsedTime(float *time, void *start, void *stop) {
  // Exactly one launch has to lie between the two.
  int before = static_cast<Event *>(start)->launchesBefore;
  int after = static_cast<Event *>(stop)->launchesBefore;
  if (before < 0 || after != before + 1)
    return invalidValue;
  *time = state.milliseconds;
  return 0;
}
FAKE_EXPORT int hipModuleLoadData(void **module, const void *image) {
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4))
    return 209; // hipErrorNoBinaryForGpu
  *module = new Function;
  ++state.liveModules;
  ++state.modulesLoaded;
  return 0;
}
FAKE_EXPORT int hipModuleUnload(void *module) {
  delete static_cast<Function *>(module);
  --state.liveModules;
  return 0;
}
FAKE_EXPORT int hipModuleGetFunction(void **function, void *module,
                                     const char *name) {
  static_cast<Function *>(module)->name = name;
  *function = module;
  return 0;
}
FAKE_EXPORT int hipModuleLaunchKernel(void *function, unsigned gridX,
                                      unsigned gridY, unsigned gridZ,
                                      unsigned blockX, unsigned blockY,
                                      unsigned blockZ, unsigned lds,
                                      void *stream, void **parameters,
                                      void **extra) {
  if (state.launchResult)
    return state.launchResult;
  if (!stream || parameters || !extra || extra[0] != (void *)1 ||
      extra[2] != (void *)2 || extra[4] != (void *)3)
    return invalidValue;
  ++state.launches;
  state.lastStream = stream;
  FakeLaunch launch{static_cast<Function *>(function)->name.c_str(),
                    {gridX, gridY, gridZ},
                    {blockX, blockY, blockZ},
                    lds,
                    static_cast<const uint8_t *>(extra[1]),
                    *static_cast<size_t *>(extra[3])};
  if (state.onLaunch)
    state.onLaunch(&launch);
  return 0;
}
