//===- Network.h - A reaction network as plain arrays ----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the independent programs of the ladder (the sequential one, the HIP
// kernels) know of a system: arrays that are read from the `.mlir` that the
// importers write. Nothing of the compiler takes part but its parser.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_BENCH_LADDER_NETWORK_H
#define WAVESMITH_BENCH_LADDER_NETWORK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace wavesmith::bench {

/// Weighted sums over terms, one for each state: the entries of state i are
/// those from begin[i] to begin[i + 1], in ascending order of the terms.
struct RaggedSums {
  std::vector<uint32_t> begin;
  std::vector<uint32_t> term;
  std::vector<double> weight;

  size_t length(size_t state) const { return begin[state + 1] - begin[state]; }
};

/// A network of REACLIB rates. With T9 = T / 1e9, term r has the coefficient
///
///     k_r = factor_r * rho^densityPower_r *
///           sum over its sets of exp(a0 + a1/T9 + a2 T9^(-1/3) + a3 T9^(1/3)
///                                    + a4 T9 + a5 T9^(5/3) + a6 ln T9)
///
/// and the value k_r times the product of its reactants' abundances.
struct Network {
  /// The most reactants of a term that the kernels take.
  static constexpr unsigned maxReactants = 3;

  std::vector<std::string> states;
  /// Mass numbers A, from the states' names; every term conserves sum A Y.
  std::vector<double> massNumber;

  std::vector<double> factor;
  std::vector<uint32_t> densityPower;
  /// The sets of term r are those from setBegin[r] to setBegin[r + 1].
  std::vector<uint32_t> setBegin;
  std::vector<std::array<double, 7>> sets;
  /// Number of reactants, from 1 to 3, and the states; one that stands twice in
  /// the reaction stands twice here. Entries that are not used are 0.
  std::vector<uint32_t> reactantCount;
  std::vector<std::array<uint32_t, maxReactants>> reactants;

  /// F+ and F-.
  RaggedSums gains, losses;

  size_t numStates() const { return states.size(); }
  size_t numTerms() const { return factor.size(); }

  /// k_r of all terms, in the C library's arithmetic. T in K, rho in g/cm^3.
  std::vector<double> coefficients(double temperature, double density) const;

  /// The number of a state, or -1.
  int find(llvm::StringRef name) const;
};

/// A number for messages, as %g writes it.
std::string shortest(double value);

/// Reads the only `wavesmith.ode_system` of a file. An error names what in it
/// is not a network of REACLIB rates with 1 to 3 reactants, a nuclide whose
/// mass number its name does not tell, or a term that does not conserve mass.
llvm::Expected<Network> loadNetwork(llvm::StringRef path);

} // namespace wavesmith::bench

#endif // WAVESMITH_BENCH_LADDER_NETWORK_H
