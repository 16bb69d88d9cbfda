//===- sequential_integration.cpp - The method on one core ----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU row of the ladder, and the reference of the results of its kernels:
// plain C++ on one core, that shares nothing with the compiler or with them.
//
//===----------------------------------------------------------------------===//

#include "sequential_integration.h"
#include <algorithm>
#include <cmath>

using namespace wavesmith::bench;

SequentialIntegration::SequentialIntegration(const Network &network,
                                             const Conditions &conditions)
    : conditions(conditions), numStates(network.numStates()),
      coefficients(
          network.coefficients(conditions.temperature, conditions.density)),
      massNumber(network.massNumber), values(network.numTerms()),
      y0(numStates + 1, 1.0) {
  for (size_t r = 0; r < network.numTerms(); ++r)
    for (unsigned i = 0; i < Network::maxReactants; ++i)
      reactants.push_back(static_cast<uint16_t>(
          i < network.reactantCount[r] ? network.reactants[r][i] : numStates));
  for (auto [sums, from] : {std::pair(&gains, &network.gains),
                            std::pair(&losses, &network.losses)}) {
    sums->begin = from->begin;
    sums->term.assign(from->term.begin(), from->term.end());
    sums->weight = from->weight;
    sums->sum.resize(numStates);
  }
}

double SequentialIntegration::massOf(const std::vector<double> &y) const {
  double sum = 0;
  for (size_t i = 0; i < numStates; ++i)
    sum += massNumber[i] * y[i];
  return sum;
}

void SequentialIntegration::update(double step, std::vector<double> &y) const {
  for (size_t i = 0; i < numStates; ++i) {
    double ratio = losses.sum[i] * step / y0[i];
    // A state that is 0 has no losses, and its ratio is NaN.
    if (ratio > 1)
      y[i] = (y0[i] + gains.sum[i] * step) / (1 + ratio);
    else
      y[i] = y0[i] + (gains.sum[i] - losses.sum[i]) * step;
  }
}

void SequentialIntegration::advance(ZoneState &state, uint64_t maxSteps) {
  const double tolerance = conditions.massTolerance;
  double lastMass = massOf(state.y);
  for (uint64_t n = 0; n < maxSteps && state.time < conditions.endTime; ++n) {
    std::copy(state.y.begin(), state.y.end(), y0.begin());
    const double *y = y0.data(), *k = coefficients.data();
    const uint16_t *at = reactants.data();
    for (size_t r = 0, terms = values.size(); r < terms; ++r, at += 3)
      values[r] = k[r] * y[at[0]] * y[at[1]] * y[at[2]];
    double largest = 0;
    for (size_t i = 0; i < numStates; ++i) {
      for (Sums *sums : {&gains, &losses}) {
        double sum = 0;
        for (uint32_t e = sums->begin[i]; e < sums->begin[i + 1]; ++e)
          sum += sums->weight[e] * values[sums->term[e]];
        sums->sum[i] = sum;
      }
      largest = std::max(largest, std::fabs(gains.sum[i] - losses.sum[i]));
    }
    double d = std::min(
        {conditions.fluxFraction / largest, 0.1 * state.time, state.step});
    update(d, state.y);
    double mass = massOf(state.y);
    double change = std::fabs(lastMass - mass);
    if (std::fabs(mass - 1) > std::fabs(lastMass - 1) && change > tolerance)
      d *= std::max(tolerance / std::max(change, 1e-16), 0.1);
    else if (change < 0.25 * tolerance)
      d *= tolerance / std::max(change, 0.9 * tolerance);
    update(d, state.y);
    state.step = d;
    if (state.time + d >= conditions.endTime) {
      d = conditions.endTime - state.time;
      update(d, state.y);
    }
    lastMass = massOf(state.y);
    state.time += d;
    ++state.steps;
  }
}
