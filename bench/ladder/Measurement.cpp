//===- Measurement.cpp - What the ladder's kernels cost -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measurement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::bench;

namespace {

/// The largest relative difference of two states.
double differenceOf(const ZoneState &a, const ZoneState &b, double smallest) {
  double largest = std::fabs(a.time - b.time) / b.time;
  for (auto [x, y] : zip(a.y, b.y))
    if (std::fabs(y) > smallest || !(std::fabs(x) < smallest)) {
      double difference = std::fabs(x - y) / std::fabs(y);
      if (!(difference <= largest))
        largest = difference;
    }
  return largest;
}

/// Compares what a launch left with the reference; returns the largest
/// difference.
Expected<double> check(const Rung &rung, const Problem &problem,
                       ArrayRef<Zone> zones, ArrayRef<ZoneState> results,
                       uint64_t steps) {
  double largest = 0;
  double most = std::max(tolerance, toleranceOfStep * double(steps));
  unsigned compared = 0;
  std::optional<ZoneState> wanted;
  for (auto [number, zone] : enumerate(zones)) {
    const ZoneState &got = results[number];
    // Not one of those that the model executes.
    if (got.steps == zone.state.steps)
      continue;
    const Zone &before = zones[number ? number - 1 : 0];
    if (!wanted || zone.temperature != before.temperature ||
        zone.density != before.density) {
      wanted = zone.state;
      if (Error error =
              problem.advance(*wanted, zone.temperature, zone.density, steps))
        return std::move(error);
    }
    if (got.steps != wanted->steps)
      return createStringError(rung.name + ": zone " + Twine(number) +
                               " stands at step " + Twine(got.steps) +
                               ", the sequential program at " +
                               Twine(wanted->steps));
    double difference = differenceOf(got, *wanted, problem.smallestCompared);
    if (!(difference <= most))
      return createStringError(
          rung.name + ": after " + Twine(steps) + " steps, zone " +
          Twine(number) + " differs by " + shortest(difference) +
          " from the reference, more than " + shortest(most));
    largest = std::max(largest, difference);
    ++compared;
  }
  if (!compared)
    return createStringError(rung.name + ": no zone was integrated");
  return largest;
}

sim::LaunchParameters launchParameters(const Rung &rung,
                                       const PreparedLaunch &prepared) {
  sim::LaunchParameters parameters;
  parameters.kernel = rung.kernel;
  parameters.grid = prepared.grid;
  parameters.workgroup = prepared.workgroup;
  parameters.kernarg = prepared.kernarg;
  parameters.dynamicLDSBytes = prepared.dynamicLDSBytes;
  return parameters;
}

/// One launch, modelled, and its results compared.
struct Launch {
  sim::Counters counters;
  sim::TimingReport report;
  double difference = 0;
  uint32_t ldsBytes = 0;
};

/// Another number for states that differ in any bit.
uint64_t bitsOf(ArrayRef<ZoneState> states) {
  std::vector<double> numbers;
  for (const ZoneState &state : states) {
    numbers.push_back(state.time);
    numbers.push_back(state.step);
    numbers.insert(numbers.end(), state.y.begin(), state.y.end());
  }
  return xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(numbers.data()),
                              numbers.size() * sizeof(double)));
}

Expected<Launch> modelledLaunch(const Rung &rung, const Problem &problem,
                                StringRef chip, ArrayRef<Zone> zones,
                                uint64_t steps, double fittedScale) {
  sim::Memory memory;
  auto prepared = rung.prepare(memory, zones, steps);
  if (!prepared)
    return prepared.takeError();
  sim::LaunchParameters parameters = launchParameters(rung, *prepared);
  sim::TimingOptions options;
  options.chip = chip.str();
  options.fittedScale = fittedScale;
  options.executeRest = false;
  options.followDependencies = fittedScale == 1.0;
  // Neighbours fill the caches that they share with the modelled CU; once the
  // tables are there, nothing changes any more.
  options.neighbourInstructions = 5'000'000;
  // All of the modelled compute unit's steps in detail.
  options.detailedInstructions = ~uint64_t(0);
  auto object = rung.objectFor(steps);
  if (!object)
    return object.takeError();
  auto result = sim::launchTimed(**object, memory, parameters, options, 2);
  if (!result)
    return createStringError(rung.name + ": " + toString(result.takeError()));
  auto states = prepared->readStates(memory);
  if (!states)
    return states.takeError();
  auto difference = check(rung, problem, zones, *states, steps);
  if (!difference)
    return difference.takeError();
  Launch launch;
  launch.counters = result->first;
  launch.report = std::move(result->second);
  launch.difference = *difference;
  launch.ldsBytes = (*object)->findKernel(rung.kernel)->groupSegmentFixedSize +
                    prepared->dynamicLDSBytes;
  return launch;
}

/// What a launch leaves, without a model.
Expected<std::vector<ZoneState>> statesAfter(const Rung &rung,
                                             ArrayRef<Zone> zones,
                                             uint64_t steps, unsigned threads) {
  sim::Memory memory;
  auto prepared = rung.prepare(memory, zones, steps);
  if (!prepared)
    return prepared.takeError();
  auto object = rung.objectFor(steps);
  if (!object)
    return object.takeError();
  auto counters =
      sim::launch(**object, memory, launchParameters(rung, *prepared), threads);
  if (!counters)
    return createStringError(rung.name + ": " + toString(counters.takeError()));
  return prepared->readStates(memory);
}

/// Zones that differ from the first step on, and one of those that are
/// modelled, which may be many steps later: other terms count there.
std::vector<Zone> differentZones(const Problem &problem, const Zone &modelled) {
  std::vector<Zone> zones;
  for (double factor : {1.0, 0.75, 0.5})
    zones.push_back({problem.conditions.temperature * factor,
                     problem.conditions.density * factor, problem.start});
  zones.push_back(modelled);
  return zones;
}

/// The shares of resources in what the longer launch did more.
SmallVector<sim::ResourceShare> sharesOfSteps(const sim::TimingReport &shorter,
                                              const sim::TimingReport &longer) {
  SmallVector<sim::ResourceShare> shares;
  for (const sim::ResourceShare &resource : longer.shares)
    for (const sim::ResourceShare &before : shorter.shares)
      if (before.name == resource.name)
        shares.push_back({resource.name, (resource.share * longer.cycles -
                                          before.share * shorter.cycles) /
                                             (longer.cycles - shorter.cycles)});
  return shares;
}

} // namespace

Expected<Row> wavesmith::bench::measure(const Rung &rung,
                                        const Problem &problem,
                                        const TargetInfo &target,
                                        ArrayRef<Zone> zones,
                                        const MeasurementOptions &options) {
  Row row;
  row.name = rung.name;
  row.publishedSeconds = rung.publishedSeconds;
  auto object = rung.objectFor(options.steps);
  if (!object)
    return object.takeError();
  const sim::KernelInfo *kernel = (*object)->findKernel(rung.kernel);
  if (!kernel)
    return createStringError(rung.name + ": the code object has no kernel '" +
                             rung.kernel + "'");
  row.kernel = *kernel;
  uint64_t most = options.steps, half = most / 2;
  // Cycles of a zone's step times what of a CU a zone has.
  double perStep = double(target.computeUnits) /
                   (double(zones.size()) * double(most - half));
  std::optional<Launch> shorter, longer;
  for (double scale : {1.0, fittedScales[0], fittedScales[1]}) {
    if (scale != 1.0 && !options.sensitivity)
      continue;
    auto first = modelledLaunch(rung, problem, target.chip, zones, half, scale);
    if (!first)
      return first.takeError();
    auto second =
        modelledLaunch(rung, problem, target.chip, zones, most, scale);
    if (!second)
      return second.takeError();
    double cycles = (second->report.cycles - first->report.cycles) * perStep;
    if (scale != 1.0) {
      row.cyclesPerStepAtScale[scale > 1] = cycles;
      continue;
    }
    row.cyclesPerStep = cycles;
    shorter = std::move(*first);
    longer = std::move(*second);
  }
  row.largestDifference = std::max(shorter->difference, longer->difference);
  // Results alone, without a model: all of these zones are executed, whereas
  // the model's neighbours stop where the rung's speed lets them.
  std::vector<Zone> others = differentZones(problem, zones.front());
  auto states = statesAfter(rung, others, most, /*threads=*/2);
  if (!states)
    return states.takeError();
  auto other = check(rung, problem, others, *states, most);
  if (!other)
    return other.takeError();
  row.largestDifference = std::max(row.largestDifference, *other);
  row.bits = bitsOf(*states);

  row.steps = most;
  row.ldsBytes = longer->ldsBytes;
  row.occupancy = longer->report.achievedOccupancy;
  row.occupancyLimit = longer->report.occupancyLimit;
  // Of the steps alone: what the longer launch did more than the shorter one.
  auto more = [&](auto member) {
    return double(longer->counters.*member - shorter->counters.*member);
  };
  row.activeLanes = more(&sim::Counters::activeLanesVALU) /
                    std::max(1.0, more(&sim::Counters::VALU));
  row.instructionsPerStep =
      more(&sim::Counters::instructions) /
      (double(longer->report.workgroupsOfCU) * double(most - half));
  row.instructionsPerCycle = row.instructionsPerStep * double(most - half) *
                             double(longer->report.workgroupsOfCU) /
                             (longer->report.cycles - shorter->report.cycles);
  row.ldsConflictShare =
      (longer->report.ldsConflictCycles - shorter->report.ldsConflictCycles) /
      std::max(1.0, longer->report.ldsCycles - shorter->report.ldsCycles);
  std::array<uint64_t, sim::numStallReasons> stalls;
  uint64_t allStalls = 0;
  for (unsigned r = 0; r < sim::numStallReasons; ++r) {
    stalls[r] =
        longer->report.stallsByReason[r] - shorter->report.stallsByReason[r];
    allStalls += stalls[r];
  }
  row.barrierShare =
      double(stalls[static_cast<unsigned>(sim::StallReason::Barrier)]) /
      double(std::max<uint64_t>(1, allStalls));
  row.limit =
      sim::limitOf(sharesOfSteps(shorter->report, longer->report), stalls);

  auto perStepOf = [&](double sim::LowerBounds::*part, double times) {
    return (longer->report.bounds.*part - shorter->report.bounds.*part) *
           times * perStep;
  };
  // Chains of workgroups that a CU can have at the same time overlap.
  double rounds =
      double(divideCeil(longer->report.workgroupsOfCU,
                        uint64_t(longer->report.residentWorkgroups)));
  using Bounds = sim::LowerBounds;
  row.bounds.lds = perStepOf(&Bounds::lds, 1);
  row.bounds.issue = perStepOf(&Bounds::issue, 1);
  row.bounds.dependencies = perStepOf(&Bounds::dependencies, rounds);
  row.bounds.inOrder = perStepOf(&Bounds::inOrder, rounds);
  return row;
}

Expected<std::vector<ZonesRow>>
wavesmith::bench::measureZones(const Rung &rung, const Problem &problem,
                               const TargetInfo &target, const Zone &zone,
                               ArrayRef<uint64_t> numbersOfZones,
                               const MeasurementOptions &options) {
  std::vector<ZonesRow> rows;
  uint64_t most = options.steps, half = most / 2;
  for (uint64_t number : numbersOfZones) {
    std::vector<Zone> zones(number, zone);
    auto shorter = modelledLaunch(rung, problem, target.chip, zones, half, 1.0);
    if (!shorter)
      return shorter.takeError();
    auto longer = modelledLaunch(rung, problem, target.chip, zones, most, 1.0);
    if (!longer)
      return longer.takeError();
    ZonesRow &row = rows.emplace_back();
    row.name = rung.name;
    row.zones = number;
    row.cyclesPerStep =
        (longer->report.cycles - shorter->report.cycles) / double(most - half);
    row.workgroupsOfCU = longer->report.workgroupsOfCU;
    row.residentWorkgroups = longer->report.residentWorkgroups;
  }
  return rows;
}

Expected<WholeIntegration>
wavesmith::bench::integrateWhole(const Rung &rung, const Problem &problem) {
  // More than any of the networks takes.
  constexpr uint64_t mostSteps = 1'000'000;
  Zone zone = {problem.conditions.temperature, problem.conditions.density,
               problem.start};
  auto states = statesAfter(rung, zone, mostSteps, /*threads=*/1);
  if (!states)
    return states.takeError();
  ZoneState wanted = problem.start;
  if (Error error =
          problem.advance(wanted, zone.temperature, zone.density, mostSteps))
    return std::move(error);
  const ZoneState &got = states->front();
  WholeIntegration whole;
  whole.name = rung.name;
  whole.steps = got.steps;
  whole.stepsOfReference = wanted.steps;
  whole.largestDifference = differenceOf(got, wanted, smallestOfWhole);
  if (!(whole.largestDifference <= toleranceOfWhole))
    return createStringError(rung.name + ": the whole integration differs by " +
                             shortest(whole.largestDifference) +
                             " from the reference, more than " +
                             shortest(toleranceOfWhole));
  return whole;
}
