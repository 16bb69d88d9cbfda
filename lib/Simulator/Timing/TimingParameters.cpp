//===- TimingParameters.cpp - Numbers of the timing model ----------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimingParameters.h"

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;

static constexpr double gibi = 1024.0 * 1024 * 1024;

TimingParameters wavesmith::sim::timingParameters(const TargetInfo &target,
                                                  double fittedScale) {
  TimingParameters p{};
  auto set = [&](double TimingParameters::*member, StringRef name, double value,
                 StringRef source, bool fitted = false) {
    p.*member = fitted ? value * fittedScale : value;
    p.list.push_back({name, p.*member, source, fitted});
  };
  using P = TimingParameters;
  bool gfx942 = target.architecture == "gfx942";
  // MI250X has the same dies as MI210, which was measured.
  bool mi300a = target.chip == "mi300a";
  constexpr StringLiteral chase =
      "measured: mt4g, sample_results, pointer chase, median";
  constexpr StringLiteral bandwidth = "measured: mt4g, sample_results";
  set(&P::ldsLatency, "lds_latency_cycles",
      !gfx942  ? 48
      : mi300a ? 48
               : 52,
      chase);
  set(&P::vectorL1Latency, "vector_l1_latency_cycles",
      !gfx942  ? 124
      : mi300a ? 112
               : 116,
      chase);
  set(&P::scalarL1Latency, "scalar_l1_latency_cycles", 48, chase);
  set(&P::l2Latency, "l2_latency_cycles",
      !gfx942  ? 292
      : mi300a ? 268
               : 288,
      chase);
  if (gfx942)
    set(&P::infinityCacheLatency, "infinity_cache_latency_cycles", 492,
        mi300a ? StringRef(chase) : "measured on MI300A: mt4g, sample_results");
  set(&P::hbmLatency, "hbm_latency_cycles",
      !gfx942  ? 684
      : mi300a ? 844
               : 876,
      chase);
  set(&P::l2BytesPerCycle, "l2_bytes_per_cycle",
      (!gfx942  ? 4014 * gibi / 104 * target.computeUnits
       : mi300a ? 14483 * gibi
                : 14365 * gibi) /
          target.clockHz,
      bandwidth);
  if (gfx942)
    set(&P::infinityCacheBytesPerCycle, "infinity_cache_bytes_per_cycle",
        17142 * gibi / target.clockHz,
        "measured on MI300A: mt4g, sample_results");
  set(&P::hbmBytesPerCycle, "hbm_bytes_per_cycle",
      target.hbmAchievableBytesPerSecond / target.clockHz,
      "the table of targets, achievable bandwidth");
  set(&P::l2PortBytesPerCycle, "l2_port_bytes_per_cycle", gfx942 ? 128 : 64,
      "ROCm Compute Profiler documentation");
  set(&P::l2FetchBytes, "l2_fetch_bytes", gfx942 ? 128 : 64, bandwidth);

  constexpr bool fitted = true;
  set(&P::branchTaken, "branch_taken_cycles", 20, "fitted: not published",
      fitted);
  set(&P::vectorToScalar, "vector_to_scalar_cycles", 12,
      "fitted: not published", fitted);
  set(&P::barrier, "barrier_cycles", 16, "fitted: not published", fitted);
  set(&P::instructionMiss, "instruction_miss_cycles", 200,
      "fitted: about the latency of L2", fitted);
  set(&P::outstandingLines, "outstanding_lines", 256,
      "fitted: not published; streaming reaches the achievable bandwidth",
      fitted);
  set(&P::addressesPerCycle, "addresses_per_cycle", 16,
      "fitted: a quarter of a wavefront a cycle", fitted);
  set(&P::workgroupStart, "workgroup_start_cycles", 400,
      "fitted: not published", fitted);
  set(&P::ldsStoreOverhead, "lds_store_overhead_cycles", 4,
      "fitted: stores of 4 and of 16 bytes a lane take 8 and 20 cycles",
      fitted);
  return p;
}
