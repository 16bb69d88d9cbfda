//===- sequential_integration.h - The method on one core -------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_BENCH_LADDER_SEQUENTIAL_INTEGRATION_H
#define WAVESMITH_BENCH_LADDER_SEQUENTIAL_INTEGRATION_H

#include "Network.h"

namespace wavesmith::bench {

/// What a zone's integration is told.
struct Conditions {
  double temperature = 7e9; ///< K
  double density = 1e8;     ///< g/cm^3
  double endTime = 1e-9;    ///< s
  /// The most that sum of gains and losses may move an abundance in a step.
  double fluxFraction = 0.01;
  /// The change of sum A Y in a step that the step size is steered to.
  double massTolerance = 1e-7;
};

/// Where a zone's integration stands: what a later one needs to go on as if
/// there had been no break. A new one stands at a small time above 0, of which
/// a tenth limits the first step.
struct ZoneState {
  std::vector<double> y; ///< mol/g
  double time = 1e-20;   ///< s
  double step = 1.23456789e-22;
  uint64_t steps = 0;
};

/// The explicit asymptotic method. Per step, with Y0 the abundances at its
/// beginning:
///
///     F+_i, F-_i   weighted sums over the terms' values, in ascending order
///     d = min(fluxFraction / max |F+ - F-|, 0.1 time, step)
///     Y = update(d), X = sum A Y; with t1 = |X_last - 1|, t2 = |X - 1| and
///     c = |X_last - X|:
///       t2 > t1 and c > massTolerance:
///         d *= max(massTolerance / max(c, 1e-16), 0.1)
///       else c < massTolerance / 4:
///         d *= massTolerance / max(c, 0.9 massTolerance)
///     Y = update(d), step = d
///     time + d >= endTime: d = endTime - time, Y = update(d)
///     X_last = sum A Y, time += d
///
/// update(d) of a state: F- d / Y0 > 1 ? (Y0 + F+ d) / (1 + F- d / Y0)
///                                     : Y0 + (F+ - F-) d
///
/// X_last is sum A Y at first. The method and what reproduces the published
/// abundances are those of FERN's networks (data/fern/README.md).
class SequentialIntegration {
public:
  SequentialIntegration(const Network &network, const Conditions &conditions);

  /// Goes on from a state to the end time, or for so many steps at most.
  void advance(ZoneState &state, uint64_t maxSteps);

private:
  void update(double step, std::vector<double> &y) const;
  double massOf(const std::vector<double> &y) const;

  Conditions conditions;
  size_t numStates;
  std::vector<double> coefficients, massNumber;
  /// Three indices a term; those that are not used lead to a state that is 1.
  std::vector<uint16_t> reactants;
  /// Entries of F+ and F- by state.
  struct Sums {
    std::vector<uint32_t> begin;
    std::vector<uint16_t> term;
    std::vector<double> weight;
    std::vector<double> sum;
  } gains, losses;
  std::vector<double> values, y0;
};

} // namespace wavesmith::bench

#endif // WAVESMITH_BENCH_LADDER_SEQUENTIAL_INTEGRATION_H
