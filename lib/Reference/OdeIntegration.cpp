//===- OdeIntegration.cpp - Integration of a system, in numbers -----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of wavesmith.ode_integrate, written down once more in f64:
// what its methods share, and the asymptotic one. Names are those of the
// description.
//
//===----------------------------------------------------------------------===//

#include "ZoneIntegrator.h"
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
  Integration result;
  if (auto method = dyn_cast<AsymptoticAttr>(op.getMethod())) {
    result.fluxFraction = method.getFluxFraction().convertToDouble();
    result.timeFraction = method.getTimeFraction().convertToDouble();
    result.tolerance = method.getTolerance().convertToDouble();
  } else {
    auto tsit5 = cast<Tsit5Attr>(op.getMethod());
    auto getNumbers = [&](Attribute tolerance) {
      SmallVector<double> numbers =
          Tsit5Attr::getNumbers(tolerance, system.getNumStates());
      return std::vector<double>(numbers.begin(), numbers.end());
    };
    result.tsit5 = {getNumbers(tsit5.getAbsoluteTolerance()),
                    getNumbers(tsit5.getRelativeTolerance()),
                    tsit5.getSafety().convertToDouble(),
                    tsit5.getSmallestFactor().convertToDouble(),
                    tsit5.getLargestFactor().convertToDouble(),
                    tsit5.getSmallestStep().convertToDouble(),
                    tsit5.getLargestStep().convertToDouble()};
  }
  auto conserved = getWeightedStates(system, op.getConservedStates(),
                                     op.getConservedWeights());
  result.conserved.assign(conserved.begin(), conserved.end());
  if (auto total = op.getTotal())
    result.total = total->convertToDouble();
  result.maxSteps = op.getMaxSteps();
  return result;
}

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

SumTable::SumTable(const OdeProgram &program,
                   llvm::function_ref<double(const Summand &)> getWeight) {
  for (const std::vector<Summand> &summands : program.sums) {
    for (const Summand &summand : summands)
      if (double weight = getWeight(summand); weight != 0)
        entries.push_back({program.terms[summand.term].valueSlot, weight});
    ends.push_back(entries.size());
  }
}

void SumTable::compute(ArrayRef<double> slots,
                       MutableArrayRef<double> results) const {
  computeSums(entries.data(), ends.data(), ends.size(), slots.data(),
              results.data());
}

ZoneRates::ZoneRates(const OdeProgram &program) : program(program) {
  frame.states.resize(program.numStates);
  frame.parameters.resize(program.numParameters);
  frame.slots.resize(program.steps.size());
  std::vector<const TermData *> terms(program.steps.size(), nullptr);
  for (const TermData &term : program.terms)
    terms[term.valueSlot] = &term;
  for (auto [slot, step] : llvm::enumerate(program.steps))
    if (step.varies)
      varying.push_back({static_cast<unsigned>(slot), terms[slot]});
}

void ZoneRates::computeInvariants() {
  // Should one of them read states or time after all, it will show.
  double nan = std::numeric_limits<double>::quiet_NaN();
  llvm::fill(frame.states, nan);
  frame.time = nan;
  for (auto [slot, step] : llvm::enumerate(program.steps))
    if (!step.varies)
      frame.slots[slot] = step.f64(frame);
}

void ZoneRates::compute(ArrayRef<double> states, double time) {
  llvm::copy(states, frame.states.begin());
  frame.time = time;
  for (const Varying &entry : varying)
    frame.slots[entry.slot] =
        entry.term
            ? getTermValue<double>(frame.slots[entry.term->coefficientSlot],
                                   entry.term->factors, frame.states)
            : program.steps[entry.slot].f64(frame);
}

void ZoneIntegrator::run(size_t zone,
                         std::vector<OdeEvaluator::Record> &records) {
  rates.computeInvariants();
  numSteps = 0;
  status = 0;
  branches = BranchCounts();
  start();
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

//===----------------------------------------------------------------------===//
// The asymptotic method
//===----------------------------------------------------------------------===//

namespace {

class AsymptoticIntegrator : public ZoneIntegrator {
public:
  AsymptoticIntegrator(const OdeProgram &program,
                       const Integration &integration,
                       ArrayRef<int64_t> recordedSteps)
      : ZoneIntegrator(program, integration, recordedSteps),
        productionSums(program, [](const Summand &s) { return s.gain; }),
        lossSums(program, [](const Summand &s) { return s.loss; }) {
    production.resize(program.numStates);
    loss.resize(program.numStates);
    updated.resize(program.numStates);
  }

private:
  void start() override {
    x0 = getConserved(y);
    total = integration.total ? *integration.total : x0;
  }

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
      double P = production[i], L = loss[i];
      double q = (L * d) / y[i];
      bool isAsymptotic = q > 1.0;
      updated[i] = isAsymptotic ? Fn::fma(P, d, y[i]) / (1.0 + q)
                                : Fn::fma(P - L, d, y[i]);
      asymptotic += isAsymptotic;
    }
  }

  bool step() override {
    rates.compute(y, t);
    productionSums.compute(rates.frame.slots, production);
    lossSums.compute(rates.frame.slots, loss);
    double m = 0.0;
    for (size_t i = 0; i != y.size(); ++i)
      m = maximum(m, std::fabs(production[i] - loss[i]));
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

  SumTable productionSums, lossSums;
  std::vector<double> production, loss, updated;
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
  if (integration.tsit5)
    for (const std::vector<double> *tolerance :
         {&integration.tsit5->absoluteTolerance,
          &integration.tsit5->relativeTolerance})
      if (tolerance->size() != program->numStates)
        return llvm::createStringError(
            "expected " + llvm::Twine(program->numStates) +
            " tolerances, one a state, got " + llvm::Twine(tolerance->size()));
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
    std::unique_ptr<ZoneIntegrator> own =
        integration.tsit5
            ? createTsit5Integrator(*program, integration, recordedSteps)
            : std::make_unique<AsymptoticIntegrator>(*program, integration,
                                                     recordedSteps);
    ZoneIntegrator &integrator = *own;
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
