//===- FakeHIP.h - A HIP library without a GPU, for tests -------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared object with the functions of HIP that Wavesmith uses. Its devices
// live in host memory; a launch calls back into the test. It stands in for
// everything that a machine without a GPU cannot show: success.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TEST_UNIT_DEVICE_FAKEHIP_H
#define WAVESMITH_TEST_UNIT_DEVICE_FAKEHIP_H

#include <cstddef>
#include <cstdint>

struct FakeLaunch {
  const char *kernel;
  unsigned grid[3], workgroup[3], dynamicLDS;
  const uint8_t *kernarg;
  size_t kernargSize;
};

/// Set by the test, or counted by the library.
struct FakeHIPState {
  int initResult;
  int version;
  int deviceCount;
  const char *architectures[4]; ///< As gcnArchName.
  int computeUnits;
  float milliseconds; ///< What the events of a launch are apart.
  void (*onLaunch)(const FakeLaunch *);
  int launchResult;

  int launches, modulesLoaded;
  int liveAllocations, liveModules, liveStreams, liveEvents;
  int currentDevice;
  const char *lastKernel;
  void *lastStream; ///< Of the last launch.
  int deviceSynchronisations;
};

#endif // WAVESMITH_TEST_UNIT_DEVICE_FAKEHIP_H
