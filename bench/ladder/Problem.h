//===- Problem.h - A network and where it starts ---------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_BENCH_LADDER_PROBLEM_H
#define WAVESMITH_BENCH_LADDER_PROBLEM_H

#include "Network.h"
#include "sequential_integration.h"
#include "wavesmith/Reference/OdeEvaluator.h"
#include "llvm/Support/CommandLine.h"
#include <memory>

namespace wavesmith::bench {

/// One zone's integration, before its first step.
struct Problem {
  /// For a mechanism that is no network of REACLIB rates: its states alone, and
  /// in place of mass numbers weights whose sum over the states is conserved
  /// and 1.
  Network network;
  size_t numTerms = 0;
  /// Parameters of the system: the temperature, and the density where there are
  /// two.
  unsigned numParameters = 2;
  Conditions conditions;
  ZoneState start;
  /// States below this are not compared: their last digits are those of a
  /// difference of larger ones.
  double smallestCompared = 1e-30;
  /// What integrates a mechanism; null for a network, which the sequential
  /// program integrates.
  std::shared_ptr<const OdeEvaluator> evaluator;

  /// The reference of all results: goes on from a state to the end time, or for
  /// so many steps at most, at another temperature (K) and density.
  llvm::Error advance(ZoneState &state, double temperature, double density,
                      uint64_t maxSteps) const;
};

/// What the command line says of the problem.
struct ProblemOptions {
  explicit ProblemOptions(llvm::cl::OptionCategory &category);
  std::vector<llvm::cl::Option *> all() const;

  mutable llvm::cl::opt<double> temperature, density, endTime;
  mutable llvm::cl::opt<std::string> initial;
};

/// A problem from a network; an error names a bad option. Without initial
/// abundances, those of FERN's networks are taken: carbon-12 and oxygen-16,
/// half of the mass each.
llvm::Expected<Problem> makeProblem(Network network,
                                    const ProblemOptions &options);

/// Methane in air at 1500 K and 101325 Pa, in kmol/m^3, kept at that
/// temperature for a millisecond, by a mechanism that the importer of Cantera's
/// files wrote. The number of atoms is conserved.
llvm::Expected<Problem> makeMethaneProblem(llvm::StringRef path);

} // namespace wavesmith::bench

#endif // WAVESMITH_BENCH_LADDER_PROBLEM_H
