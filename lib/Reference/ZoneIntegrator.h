//===- ZoneIntegrator.h - One zone on its way -------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the methods of wavesmith.ode_integrate share. A zone takes tens of
// thousands of steps: what depends on neither states nor time is computed once,
// terms and sums run over plain arrays.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_REFERENCE_ZONEINTEGRATOR_H
#define WAVESMITH_LIB_REFERENCE_ZONEINTEGRATOR_H

#include "OdeProgram.h"
#include "wavesmith/Reference/OdeEvaluator.h"

namespace wavesmith {

/// NaN if an operand is, as `min` and `max` of the description.
inline double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return b < a ? b : a;
}
inline double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return b > a ? b : a;
}

struct SumEntry {
  unsigned slot;
  double weight;
};

/// The sums of all states, one after the other.
class SumTable {
public:
  /// \param getWeight the weight of a summand; those of zero take no part
  SumTable(const OdeProgram &program,
           llvm::function_ref<double(const Summand &)> getWeight);

  void compute(llvm::ArrayRef<double> slots,
               llvm::MutableArrayRef<double> results) const;

private:
  std::vector<SumEntry> entries;
  /// For each state, the end of its entries.
  std::vector<size_t> ends;
};

/// The values of a zone's terms at changing states and time.
class ZoneRates {
public:
  explicit ZoneRates(const OdeProgram &program);

  /// Starts a zone: its parameters have been set.
  void computeInvariants();

  /// Sets the slots of `frame` at `states` and `time`.
  void compute(llvm::ArrayRef<double> states, double time);

  Frame<double> frame;

private:
  /// A step that is computed at each step in time; terms need no detour.
  struct Varying {
    unsigned slot;
    const TermData *term;
  };
  const OdeProgram &program;
  std::vector<Varying> varying;
};

class ZoneIntegrator {
public:
  ZoneIntegrator(const OdeProgram &program,
                 const OdeEvaluator::Integration &integration,
                 llvm::ArrayRef<int64_t> recordedSteps)
      : integration(integration), recordedSteps(recordedSteps), rates(program) {
    y.resize(program.numStates);
  }
  virtual ~ZoneIntegrator() = default;

  /// The zone at the start; set before run(). `y` has the size of the states.
  double t = 0, h = 0;
  std::vector<double> y;
  llvm::MutableArrayRef<double> parameters() { return rates.frame.parameters; }

  int32_t numSteps = 0, status = 0;
  OdeEvaluator::BranchCounts branches;

  /// Runs to the end.
  void run(size_t zone, std::vector<OdeEvaluator::Record> &records);

protected:
  /// Called when `t`, `h`, `y` and the invariant rates are those of the start.
  virtual void start() = 0;
  /// Takes a step; one that fails leaves the zone as it was and returns false.
  virtual bool step() = 0;

  const OdeEvaluator::Integration &integration;
  /// In ascending order.
  llvm::ArrayRef<int64_t> recordedSteps;
  ZoneRates rates;
};

/// An integrator of `wavesmith.tsit5`. References must outlive it.
std::unique_ptr<ZoneIntegrator>
createTsit5Integrator(const OdeProgram &program,
                      const OdeEvaluator::Integration &integration,
                      llvm::ArrayRef<int64_t> recordedSteps);

} // namespace wavesmith

#endif // WAVESMITH_LIB_REFERENCE_ZONEINTEGRATOR_H
