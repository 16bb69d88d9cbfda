//===- Measurement.h - What the ladder's kernels cost ----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of a step is the difference of two launches, of N and of N/2 steps,
// so that rates and staging drop out. Results of every launch are compared with
// the problem's reference, and one that differs is an error.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_BENCH_LADDER_MEASUREMENT_H
#define WAVESMITH_BENCH_LADDER_MEASUREMENT_H

#include "Rung.h"
#include "wavesmith/Simulator/Timing.h"

namespace wavesmith::bench {

/// How far results may be from the reference's, relative, for abundances above
/// Problem::smallestCompared. They differ by sums in another order, by fused
/// products and sums, and by ocml's functions instead of the C library's. A
/// rate's exponent of up to 100 turns a rounding of 1e-16 into 1e-14 of the
/// rate; an abundance that is a balance of large gains and losses has some 100
/// times that, 1e-12, which is what is seen. The step size adds to it where the
/// mass check steers it: by |X_last - X|, about 1e-7 and of that 1e-9 is
/// rounding, which moves an abundance by 1e-9 of its change in a step, 1e-2 at
/// most, in every step. Hence 1e-10, and 1e-11 a step where that is more (20
/// steps of FERN's 70 nuclides leave 1.4e-10); another formula, entry or order
/// of factors gives more.
constexpr double tolerance = 1e-10, toleranceOfStep = 1e-11;
/// The same after a whole integration of thousands of steps, for abundances
/// above smallestOfWhole: what FERN's own result is held to.
constexpr double toleranceOfWhole = 1e-3;
constexpr double smallestOfWhole = 1e-12;

/// How a kernel is measured.
struct MeasurementOptions {
  /// Steps of the longer of two launches.
  uint64_t steps = 40;
  /// Launches with all fitted latencies a third lower and higher too.
  bool sensitivity = true;
};

/// A third either way, as bench-fidelity does.
constexpr double fittedScales[] = {2.0 / 3, 4.0 / 3};

/// What one row says; what is missing was not asked for or does not exist.
struct Row {
  std::string name;
  std::optional<double> publishedSeconds;
  double cyclesPerStep = 0;
  double cyclesPerStepAtScale[2] = {0, 0};
  sim::KernelInfo kernel;
  uint32_t ldsBytes = 0;
  std::string occupancyLimit;
  double occupancy = 0, activeLanes = 0, instructionsPerCycle = 0,
         instructionsPerStep = 0;
  /// Cycles of LDS that conflicts added, over all its cycles; and the share of
  /// time that LDS was busy.
  double ldsConflictShare = 0;
  std::string limit;
  /// Cycles that a step takes at least, by what of the model alone.
  sim::LowerBounds bounds;
  double barrierShare = 0;
  uint64_t steps = 0;
  /// The largest relative difference from the reference.
  double largestDifference = 0;
  /// The same for rows whose results have the same bits: in a modelled zone,
  /// and in zones of three temperatures and densities from the first step on.
  uint64_t bits = 0;
};

/// The largest of the parts: no kernel that executes these instructions takes
/// less on the modelled machine. The order of a wavefront's instructions is
/// left out of it, for a compiler may choose another one.
inline double boundOf(const sim::LowerBounds &bounds) {
  return std::max({bounds.lds, bounds.issue, bounds.dependencies});
}

/// Measures a kernel over zones that are alike.
llvm::Expected<Row> measure(const Rung &rung, const Problem &problem,
                            const TargetInfo &target,
                            llvm::ArrayRef<Zone> zones,
                            const MeasurementOptions &options);

/// A launch of another number of zones.
struct ZonesRow {
  std::string name;
  uint64_t zones = 0;
  /// Of the whole launch, for one step of all its zones.
  double cyclesPerStep = 0;
  /// Workgroups of the CU that has the most, and how many of them it can have
  /// at the same time.
  uint64_t workgroupsOfCU = 0;
  unsigned residentWorkgroups = 0;
};

/// Measures launches of so many zones, all like \p zone.
llvm::Expected<std::vector<ZonesRow>>
measureZones(const Rung &rung, const Problem &problem, const TargetInfo &target,
             const Zone &zone, llvm::ArrayRef<uint64_t> numbersOfZones,
             const MeasurementOptions &options);

/// A whole integration of one zone, from the start to the end, without a model.
struct WholeIntegration {
  std::string name;
  uint64_t steps = 0, stepsOfReference = 0;
  /// The largest relative difference of abundances above smallestOfWhole.
  double largestDifference = 0;
};

llvm::Expected<WholeIntegration> integrateWhole(const Rung &rung,
                                                const Problem &problem);

} // namespace wavesmith::bench

#endif // WAVESMITH_BENCH_LADDER_MEASUREMENT_H
