//===- OdeIntegration.cpp - Integration of a system, in numbers -----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of wavesmith.ode_integrate, written down once more in f64.
// Names are those of the description. A zone takes tens of thousands of steps:
// what depends on neither states nor time is computed once, terms and sums run
// over plain arrays.
//
//===----------------------------------------------------------------------===//

#include "OdeProgram.h"
#include "wavesmith/Reference/OdeEvaluator.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace wavesmith;

using Integration = OdeEvaluator::Integration;
using BranchCounts = OdeEvaluator::BranchCounts;

Integration Integration::get(OdeIntegrateOp op) {
  auto system =
      SymbolTable::lookupNearestSymbolFrom<OdeSystemOp>(op, op.getSystemAttr());
  AsymptoticAttr method = op.getMethod();
  Integration result;
  result.fluxFraction = method.getFluxFraction().convertToDouble();
  result.timeFraction = method.getTimeFraction().convertToDouble();
  result.tolerance = method.getTolerance().convertToDouble();
  auto conserved = getWeightedStates(system, op.getConservedStates(),
                                     op.getConservedWeights());
  result.conserved.assign(conserved.begin(), conserved.end());
  if (auto total = op.getTotal())
    result.total = total->convertToDouble();
  result.maxSteps = op.getMaxSteps();
  return result;
}

/// NaN if an operand is, as `min` and `max` of the description.
static double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return b < a ? b : a;
}
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return b > a ? b : a;
}

namespace {
struct SumEntry {
  unsigned slot;
  double weight;
};
} // namespace

// A call of fma for each summand would take most of an integration's time:
// where the host has the instruction, it is used. The bits are the same.
#if defined(__x86_64__) && defined(__ELF__)
__attribute__((target_clones("fma", "default")))
#endif
static void computeSums(const SumEntry *entries, const size_t *ends,
                        size_t numStates, const double *slots,
                        double *results) {
  // Plain pointers: clang 22 loses templates that a clone calls.
  size_t at = 0;
  for (size_t i = 0; i != numStates; ++i) {
    double sum = 0.0;
    for (; at != ends[i]; ++at)
      sum = __builtin_fma(entries[at].weight, slots[entries[at].slot], sum);
    results[i] = sum;
  }
}

namespace {

/// The sums of all states, one after the other.
class SumTable {
public:
  SumTable(const OdeProgram &program, double Summand::*weight) {
    for (const std::vector<Summand> &summands : program.sums) {
      for (const Summand &summand : summands)
        if (summand.*weight != 0)
          entries.push_back(
              {program.terms[summand.term].valueSlot, summand.*weight});
      ends.push_back(entries.size());
    }
  }

  void compute(ArrayRef<double> slots, MutableArrayRef<double> results) const {
    computeSums(entries.data(), ends.data(), ends.size(), slots.data(),
                results.data());
  }

private:
  std::vector<SumEntry> entries;
  /// For each state, the end of its entries.
  std::vector<size_t> ends;
};

/// Production and loss of a zone at changing states and time.
class ProductionLoss {
public:
  explicit ProductionLoss(const OdeProgram &program)
      : program(program), productionSums(program, &Summand::gain),
        lossSums(program, &Summand::loss) {
    frame.states.resize(program.numStates);
    frame.parameters.resize(program.numParameters);
    frame.slots.resize(program.steps.size());
    production.resize(program.numStates);
    loss.resize(program.numStates);
    std::vector<const TermData *> terms(program.steps.size(), nullptr);
    for (const TermData &term : program.terms)
      terms[term.valueSlot] = &term;
    for (auto [slot, step] : llvm::enumerate(program.steps))
      if (step.varies)
        varying.push_back({static_cast<unsigned>(slot), terms[slot]});
  }

  /// Starts a zone: its parameters have been set.
  void computeInvariants() {
    // Should one of them read states or time after all, it will show.
    double nan = std::numeric_limits<double>::quiet_NaN();
    llvm::fill(frame.states, nan);
    frame.time = nan;
    for (auto [slot, step] : llvm::enumerate(program.steps))
      if (!step.varies)
        frame.slots[slot] = step.f64(frame);
  }

  /// P and L at `states` and `time`.
  void compute(ArrayRef<double> states, double time) {
    llvm::copy(states, frame.states.begin());
    frame.time = time;
    for (const Varying &entry : varying)
      frame.slots[entry.slot] =
          entry.term
              ? getTermValue<double>(frame.slots[entry.term->coefficientSlot],
                                     entry.term->factors, frame.states)
              : program.steps[entry.slot].f64(frame);
    productionSums.compute(frame.slots, production);
    lossSums.compute(frame.slots, loss);
  }

  Frame<double> frame;
  std::vector<double> production, loss;

private:
  /// A step that is computed at each step in time; terms need no detour.
  struct Varying {
    unsigned slot;
    const TermData *term;
  };
  const OdeProgram &program;
  SumTable productionSums, lossSums;
  std::vector<Varying> varying;
};

/// One zone on its way.
class ZoneIntegrator {
public:
  ZoneIntegrator(const OdeProgram &program, const Integration &integration,
                 ArrayRef<int64_t> recordedSteps)
      : integration(integration), recordedSteps(recordedSteps), rates(program) {
    y.resize(program.numStates);
    updated.resize(program.numStates);
  }

  /// The zone at the start; set before run(). `y` has the size of the states.
  double t = 0, h = 0;
  std::vector<double> y;
  MutableArrayRef<double> parameters() { return rates.frame.parameters; }

  int32_t numSteps = 0, status = 0;
  BranchCounts branches;

  /// Runs to the end.
  void run(size_t zone, std::vector<OdeEvaluator::Record> &records) {
    rates.computeInvariants();
    numSteps = 0;
    status = 0;
    branches = BranchCounts();
    x0 = getConserved(y);
    total = integration.total ? *integration.total : x0;
    const int64_t *nextRecord = recordedSteps.begin();
    while (t < integration.end) {
      if (numSteps == integration.maxSteps) {
        status = 1;
        break;
      }
      nextRecord = std::find_if(nextRecord, recordedSteps.end(),
                                [&](int64_t n) { return n >= numSteps; });
      if (nextRecord != recordedSteps.end() && *nextRecord == numSteps)
        records.push_back({zone, numSteps, t, h, y});
      if (!step()) {
        status = 2;
        break;
      }
    }
    if (!llvm::all_of(y, [](double value) { return std::isfinite(value); }))
      status = 2;
  }

private:
  /// X(y).
  double getConserved(ArrayRef<double> states) const {
    double sum = 0.0;
    for (const WeightedState &entry : integration.conserved)
      sum = Fn::fma(entry.weight, states[entry.state], sum);
    return sum;
  }

  /// Sets `updated` to update(d).
  void update(double d, uint64_t &asymptotic) {
    for (size_t i = 0; i != y.size(); ++i) {
      double P = rates.production[i], L = rates.loss[i];
      double q = (L * d) / y[i];
      bool isAsymptotic = q > 1.0;
      updated[i] = isAsymptotic ? Fn::fma(P, d, y[i]) / (1.0 + q)
                                : Fn::fma(P - L, d, y[i]);
      asymptotic += isAsymptotic;
    }
  }

  /// Takes a step; one that fails leaves the zone as it was and returns false.
  bool step() {
    rates.compute(y, t);
    double m = 0.0;
    for (size_t i = 0; i != y.size(); ++i)
      m = maximum(m, std::fabs(rates.production[i] - rates.loss[i]));
    if (!std::isfinite(m))
      return false;

    double h1 = minimum(
        minimum(integration.fluxFraction / m, integration.timeFraction * t), h);
    if (!(h1 > 0.0))
      return false;
    BranchCounts counts = branches;
    double h2 = h1;
    uint64_t trialAsymptotic = 0;
    if (integration.conserved.empty()) {
      ++counts.unchanged;
    } else {
      update(h1, trialAsymptotic);
      double x = getConserved(updated);
      if (!std::isfinite(x))
        return false;
      double c = std::fabs(x0 - x);
      double w = integration.tolerance * std::fabs(total);
      if (std::fabs(x - total) > std::fabs(x0 - total) && c > w) {
        h2 = h1 * maximum(w / maximum(c, 1e-9 * w), 0.1);
        ++counts.reduced;
      } else if (c < 0.25 * w) {
        h2 = h1 * (w / maximum(c, 0.9 * w));
        ++counts.stretched;
      } else {
        ++counts.unchanged;
      }
    }

    double next = t + h2;
    double d = h2;
    if (next >= integration.end) {
      d = integration.end - t;
      next = integration.end;
    }
    uint64_t asymptotic = 0;
    update(d, asymptotic);
    counts.asymptotic += asymptotic;
    counts.euler += y.size() - asymptotic;
    std::swap(y, updated);
    t = next;
    h = h2;
    x0 = getConserved(y);
    branches = counts;
    ++numSteps;
    return true;
  }

  const Integration &integration;
  /// In ascending order.
  ArrayRef<int64_t> recordedSteps;
  ProductionLoss rates;
  std::vector<double> updated;
  double x0 = 0, total = 0;
};

} // namespace

llvm::Error
OdeEvaluator::integrate(const Integration &integration, ArrayRef<double> time,
                        ArrayRef<double> step, ArrayRef<double> states,
                        ArrayRef<double> parameters, size_t numZones,
                        IntegrationResults &results) const {
  if (llvm::Error error = checkSize("times", time.size(), 1, numZones))
    return error;
  if (llvm::Error error = checkSize("step sizes", step.size(), 1, numZones))
    return error;
  if (llvm::Error error =
          checkSize("states", states.size(), program->numStates, numZones))
    return error;
  if (llvm::Error error = checkSize("parameters", parameters.size(),
                                    program->numParameters, numZones))
    return error;
  for (const WeightedState &entry : integration.conserved)
    if (entry.state >= program->numStates)
      return llvm::createStringError(
          "expected the numbers of conserved states below " +
          llvm::Twine(program->numStates) + ", got " +
          llvm::Twine(entry.state));
  if (integration.maxSteps < 1 ||
      integration.maxSteps > std::numeric_limits<int32_t>::max())
    return llvm::createStringError(
        "expected max_steps from 1 to " +
        llvm::Twine(std::numeric_limits<int32_t>::max()) + ", got " +
        llvm::Twine(integration.maxSteps));

  std::vector<int64_t> recordedSteps = integration.recordedSteps;
  llvm::sort(recordedSteps);
  results.states.assign(states.size(), 0.0);
  results.time.assign(numZones, 0.0);
  results.step.assign(numZones, 0.0);
  results.numSteps.assign(numZones, 0);
  results.status.assign(numZones, 0);
  results.branches.assign(numZones, {});
  // Each zone has its own, so that threads do not meet.
  std::vector<std::vector<Record>> records(numZones);
  forEachPart(numZones, integration.numThreads, [&](size_t begin, size_t end) {
    ZoneIntegrator integrator(*program, integration, recordedSteps);
    for (size_t zone = begin; zone != end; ++zone) {
      integrator.t = time[zone];
      integrator.h = step[zone];
      for (unsigned i = 0; i != program->numStates; ++i)
        integrator.y[i] = states[i * numZones + zone];
      for (unsigned i = 0; i != program->numParameters; ++i)
        integrator.parameters()[i] = parameters[i * numZones + zone];
      integrator.run(zone, records[zone]);
      for (unsigned i = 0; i != program->numStates; ++i)
        results.states[i * numZones + zone] = integrator.y[i];
      results.time[zone] = integrator.t;
      results.step[zone] = integrator.h;
      results.numSteps[zone] = integrator.numSteps;
      results.status[zone] = integrator.status;
      results.branches[zone] = integrator.branches;
    }
  });
  results.records.clear();
  for (std::vector<Record> &zone : records)
    llvm::append_range(results.records, std::move(zone));
  return llvm::Error::success();
}
