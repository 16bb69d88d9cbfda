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
#include "llvm/Support/CommandLine.h"

namespace wavesmith::bench {

/// One zone's integration, before its first step.
struct Problem {
  Network network;
  Conditions conditions;
  ZoneState start;
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

} // namespace wavesmith::bench

#endif // WAVESMITH_BENCH_LADDER_PROBLEM_H
