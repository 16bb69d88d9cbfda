//===- TimingParameters.h - Numbers of the timing model ---------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Latencies and rates of a chip that the table of targets does not hold. All
/// fitted numbers of the model stand in TimingParameters.cpp and nowhere else.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_TIMING_TIMINGPARAMETERS_H
#define WAVESMITH_LIB_SIMULATOR_TIMING_TIMINGPARAMETERS_H

#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Target/Target.h"

namespace wavesmith::sim {

/// In cycles of the device's clock, and bytes a cycle, unless named otherwise.
struct TimingParameters {
  // Load to use, the whole way, measured by pointer chase.
  double ldsLatency;
  double vectorL1Latency;
  double scalarL1Latency;
  double l2Latency;
  double infinityCacheLatency;
  double hbmLatency;
  // Bandwidths of the whole device.
  double l2BytesPerCycle;
  double infinityCacheBytesPerCycle;
  double hbmBytesPerCycle;
  /// What one CU moves to or from L2.
  double l2PortBytesPerCycle;
  /// Bytes that L2 fetches at a time, and that the model's L2 lines have.
  double l2FetchBytes;

  // Fitted.
  /// From a taken branch to the next instruction of the wavefront.
  double branchTaken;
  /// From a VALU that writes a scalar register to a scalar instruction that
  /// reads it.
  double vectorToScalar;
  /// From the last wavefront's arrival to the next instruction.
  double barrier;
  /// From a miss of the instruction cache to the instruction.
  double instructionMiss;
  /// Lines that a vector L1 may have on order.
  double outstandingLines;
  /// Addresses that a vector memory instruction handles a cycle.
  double addressesPerCycle;
  /// From the end of a workgroup to the first instruction of the next one.
  double workgroupStart;
  /// Cycles that an LDS store occupies on top of its data.
  double ldsStoreOverhead;

  /// All of the above with names and sources, for reports.
  std::vector<TimingParameter> list;
};

/// The parameters of a chip. Fitted ones are multiplied by the scale.
TimingParameters timingParameters(const TargetInfo &target, double fittedScale);

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_TIMING_TIMINGPARAMETERS_H
