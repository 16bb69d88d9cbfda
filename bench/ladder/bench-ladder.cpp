//===- bench-ladder.cpp - The ladder, on the simulated device -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bench-ladder --chip=mi250|mi300x [--json=FILE] [--network=FILE.mlir]
//              [--steps=N] [--zones=N] ...
//
// Integrates a network of about 150 nuclides with the explicit asymptotic
// method on one simulated device, by the kernels of AMD's published ladder and
// by ours, and prints what a step costs. All device times are modelled: nothing
// here was measured on a GPU. The row of the CPU is measured, on this host.
//
// The cost of a step is the difference of two launches, of N and of N/2 steps,
// from a state that the sequential program has led to; rates and staging drop
// out. Results of both launches are compared with the sequential program's.
//
//===----------------------------------------------------------------------===//

#include "../KernelSource.h"
#include "Problem.h"
#include "Rung.h"
#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Support/FileTransaction.h"
#include "wavesmith/Support/ToolCommandLine.h"
#include "wavesmith/Target/Target.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::bench;

namespace {

struct Options {
  cl::OptionCategory category{"bench-ladder options"};
  cl::opt<std::string> chip{"chip", cl::value_desc("mi250|mi300x"),
                            cl::desc("Simulated chip (default mi250)"),
                            cl::init("mi250"), cl::cat(category)};
  cl::opt<std::string> json{"json", cl::value_desc("file"),
                            cl::desc("Write the rows there"),
                            cl::cat(category)};
  cl::opt<std::string> network{
      "network", cl::value_desc("file.mlir"),
      cl::desc("A network as the importers write it (default: 150 nuclides of "
               "REACLIB, imported by bench/ladder/make-network)"),
      cl::cat(category)};
  ProblemOptions problem{category};
  cl::opt<unsigned> steps{
      "steps", cl::value_desc("N"),
      cl::desc("Steps of the longer of two modelled launches (default 40)"),
      cl::init(40), cl::cat(category)};
  cl::opt<unsigned> firstStep{
      "first-step", cl::value_desc("N"),
      cl::desc("Steps that the sequential program does before (default 3000)"),
      cl::init(3000), cl::cat(category)};
  cl::opt<unsigned> zones{"zones", cl::value_desc("N"),
                          cl::desc("Zones (default: one a compute unit)"),
                          cl::init(0), cl::cat(category)};
  cl::opt<std::string> only{"only", cl::value_desc("text"),
                            cl::desc("Rows whose name contains this"),
                            cl::cat(category)};
  cl::opt<bool> noSensitivity{
      "no-sensitivity",
      cl::desc("Leave out the launches with other fitted latencies"),
      cl::cat(category)};

  std::vector<const cl::Option *> all() {
    std::vector<const cl::Option *> options = {&chip,  &json,         &network,
                                               &steps, &firstStep,    &zones,
                                               &only,  &noSensitivity};
    append_range(options, problem.all());
    return options;
  }
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
  /// The largest relative difference from the sequential program.
  double largestDifference = 0;
};

/// The largest of the parts: no kernel that executes these instructions takes
/// less on the modelled machine. The order of a wavefront's instructions is
/// left out of it, for a compiler may choose another one.
double boundOf(const sim::LowerBounds &bounds) {
  return std::max({bounds.lds, bounds.issue, bounds.dependencies});
}

/// How far the kernels' results may be from the sequential program's, relative,
/// for abundances above smallestCompared. They differ by sums in another order,
/// by fused products and sums, and by ocml's functions instead of the C
/// library's. A rate's exponent of up to 100 turns a rounding of 1e-16 into
/// 1e-14 of the rate; an abundance that is a balance of large gains and losses
/// has some 100 times that, 1e-12, which is what is seen. The step size adds to
/// it where the mass check steers it: by |X_last - X|, about 1e-7 and of that
/// 1e-9 is rounding, which moves an abundance by 1e-9 of its change in a step,
/// 1e-2 at most. Hence 1e-10; another formula, entry or order of factors gives
/// more.
constexpr double tolerance = 1e-10;
constexpr double smallestCompared = 1e-30;

/// The largest relative difference of two states.
double differenceOf(const ZoneState &a, const ZoneState &b) {
  double largest = std::fabs(a.time - b.time) / b.time;
  for (auto [x, y] : zip(a.y, b.y))
    if (std::fabs(y) > smallestCompared || !(std::fabs(x) < smallestCompared)) {
      double difference = std::fabs(x - y) / std::fabs(y);
      if (!(difference <= largest))
        largest = difference;
    }
  return largest;
}

/// Compares what a launch left with the sequential program; returns the largest
/// difference.
Expected<double> check(const Rung &rung, const Problem &problem,
                       ArrayRef<Zone> zones, ArrayRef<ZoneState> results,
                       uint64_t steps) {
  double largest = 0;
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
      Conditions conditions = problem.conditions;
      conditions.temperature = zone.temperature;
      conditions.density = zone.density;
      wanted = zone.state;
      SequentialIntegration(problem.network, conditions)
          .advance(*wanted, steps);
    }
    if (got.steps != wanted->steps)
      return createStringError(rung.name + ": zone " + Twine(number) +
                               " stands at step " + Twine(got.steps) +
                               ", the sequential program at " +
                               Twine(wanted->steps));
    double difference = differenceOf(got, *wanted);
    if (!(difference <= tolerance))
      return createStringError(
          rung.name + ": after " + Twine(steps) + " steps, zone " +
          Twine(number) + " differs by " + shortest(difference) +
          " from the sequential program, more than " + shortest(tolerance));
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
  launch.ldsBytes =
      (*object)->findKernel(rung.kernel)->groupSegmentFixedSize +
      prepared->dynamicLDSBytes;
  return launch;
}

/// Zones that differ, from the first step on, without a model: results alone.
Expected<double> checkOtherZones(const Rung &rung, const Problem &problem,
                                 uint64_t steps) {
  std::vector<Zone> zones;
  for (double factor : {1.0, 0.75, 0.5})
    zones.push_back({problem.conditions.temperature * factor,
                     problem.conditions.density * factor, problem.start});
  sim::Memory memory;
  auto prepared = rung.prepare(memory, zones, steps);
  if (!prepared)
    return prepared.takeError();
  sim::LaunchParameters parameters = launchParameters(rung, *prepared);
  auto object = rung.objectFor(steps);
  if (!object)
    return object.takeError();
  auto counters = sim::launch(**object, memory, parameters, 2);
  if (!counters)
    return createStringError(rung.name + ": " + toString(counters.takeError()));
  auto states = prepared->readStates(memory);
  if (!states)
    return states.takeError();
  return check(rung, problem, zones, *states, steps);
}

/// What limits the steps alone: as TimingReport::limit, of what the longer
/// launch did more.
std::string
limitOf(const sim::TimingReport &shorter, const sim::TimingReport &longer,
        const std::array<uint64_t, sim::numStallReasons> &stalls) {
  StringRef busiest;
  double most = 0;
  for (const sim::ResourceShare &resource : longer.shares)
    for (const sim::ResourceShare &before : shorter.shares)
      if (before.name == resource.name) {
        double share = (resource.share * longer.cycles -
                        before.share * shorter.cycles) /
                       (longer.cycles - shorter.cycles);
        if (share > most) {
          most = share;
          busiest = resource.name;
        }
      }
  if (most > 0.5)
    return busiest.str();
  auto reason = std::distance(stalls.begin(), llvm::max_element(stalls));
  return ("latency: " + sim::stringify(static_cast<sim::StallReason>(reason)))
      .str();
}

Expected<Row> measure(const Rung &rung, const Problem &problem,
                      const TargetInfo &target, ArrayRef<Zone> zones,
                      const Options &options) {
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
    if (scale != 1.0 && options.noSensitivity)
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
  auto other = checkOtherZones(rung, problem, half);
  if (!other)
    return other.takeError();
  row.largestDifference = std::max(row.largestDifference, *other);

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
  row.limit = limitOf(shorter->report, longer->report, stalls);

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

//===----------------------------------------------------------------------===//
// The network and the CPU
//===----------------------------------------------------------------------===//

Expected<std::string> defaultNetwork() {
  std::string path = WAVESMITH_LADDER_KERNELS "/network-150.mlir";
  if (!sys::fs::exists(path))
    if (Error error = runProgram({WAVESMITH_LADDER_SOURCE "/make-network",
                                  WAVESMITH_LADDER_BUILD, path}))
      return createStringError("the network of 150 nuclides cannot be imported "
                               "(give another one with --network): " +
                               toString(std::move(error)));
  return path;
}

/// Microseconds of a step of the sequential program: of its whole integration,
/// the best of three. What else runs on the host can only make it slower.
std::pair<double, uint64_t> measureCPU(const Problem &problem) {
  double best = 0;
  uint64_t steps = 0;
  for (int i = 0; i < 3; ++i) {
    SequentialIntegration integration(problem.network, problem.conditions);
    ZoneState state = problem.start;
    auto begin = std::chrono::steady_clock::now();
    integration.advance(state, 1'000'000);
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    steps = state.steps;
    double perStep = 1e6 * seconds.count() / double(steps);
    if (i == 0 || perStep < best)
      best = perStep;
  }
  return {best, steps};
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

json::Value optionalNumber(double value) {
  return value > 0 ? json::Value(value) : json::Value(nullptr);
}

struct Ladder {
  const TargetInfo *target = nullptr;
  /// The chip's name, as the user gave it.
  std::string chip;
  const Problem *problem = nullptr;
  size_t zones = 0;
  std::vector<Row> rows;
  double microsecondsOfCPU = 0;
  uint64_t stepsOfCPU = 0;

  const Row *find(StringRef name) const {
    for (const Row &row : rows)
      if (row.name == name)
        return &row;
    return nullptr;
  }
  /// How many times slower than the row; 0 without it.
  static double ratio(const Row &row, const Row *base) {
    return base ? row.cyclesPerStep / base->cyclesPerStep : 0;
  }

  void print() const {
    const Network &network = problem->network;
    std::string name = target->displayName.str();
    if (chip != target->chip)
      name = chip + " (one GCD, as " + name + ")";
    outs() << network.numStates() << " states, " << network.numTerms()
           << " terms, " << network.gains.term.size() << " entries of F+, "
           << network.losses.term.size() << " of F-; " << zones << " zones on "
           << name << ", " << target->computeUnits << " CUs\n"
           << "Modelled: cycles a step and a CU, and their ratios; nothing was "
              "measured on a GPU\n\n"
           << "name                    blog s  cycles/step  vs start   vs end  VGPR "
              "SGPR "
              "  LDS KB  occup.  lanes/64   IPC  conflicts  latencies -1/3 "
              "+1/3  difference  limit\n";
    const Row *start = find("hip-start"), *end = find("hip-end");
    for (const Row &row : rows) {
      outs() << left_justify(row.name, 23);
      if (row.publishedSeconds)
        outs() << format("%7.2f", *row.publishedSeconds);
      else
        outs() << "       ";
      outs() << format("%13.0f", row.cyclesPerStep)
             << format("%10.4f", ratio(row, start))
             << format("%9.3f", ratio(row, end))
             << format("%6u", row.kernel.vgprCount)
             << format("%5u", row.kernel.sgprCount)
             << format("%9.1f", row.ldsBytes / 1e3)
             << format("%7.1f %%", 100 * row.occupancy)
             << format("%9.1f", row.activeLanes)
             << format("%7.2f", row.instructionsPerCycle)
             << format("%9.1f %%", 100 * row.ldsConflictShare)
             << format("%10.0f", row.cyclesPerStepAtScale[0])
             << format("%10.0f", row.cyclesPerStepAtScale[1])
             << format("%12.1e  ", row.largestDifference) << row.limit << "\n";
    }
    outs() << "\nCycles a step that the same instructions take at least: the "
              "largest of LDS, issue and dependencies is the bound\n"
              "name                    cycles     bound  vs bound       LDS   "
              "  issue  dependencies  wavefronts in order\n";
    for (const Row &row : rows)
      outs() << left_justify(row.name, 23)
             << format("%7.0f", row.cyclesPerStep)
             << format("%10.0f", boundOf(row.bounds))
             << format("%10.2f", row.cyclesPerStep / boundOf(row.bounds))
             << format("%10.0f", row.bounds.lds)
             << format("%10.0f", row.bounds.issue)
             << format("%14.0f", row.bounds.dependencies)
             << format("%21.0f\n", row.bounds.inOrder);
    if (start && end) {
      outs() << format("\nhip-start is %.1f times slower than hip-end",
                       ratio(*start, end))
             << " (the blog: 28.3)";
      if (start->cyclesPerStepAtScale[0] > 0)
        outs() << format(
            "; with latencies a third either way %.1f and %.1f",
            start->cyclesPerStepAtScale[0] / end->cyclesPerStepAtScale[0],
            start->cyclesPerStepAtScale[1] / end->cyclesPerStepAtScale[1]);
      outs() << "\n";
    }
    outs()
        << "The blog's counters: after LDS staging (26.5 s) 9.6 active lanes "
           "of 64, IPC 0.12, occupancy 12.3 %; at 1,024 threads (6.4 s) 29.9 "
           "lanes, IPC 0.74, occupancy 49.7 %\n"
        << format("Sequential program on one core of this host, measured: "
                  "%.2f us a step, ",
                  microsecondsOfCPU)
        << stepsOfCPU << " steps\n";
  }

  json::Value toJSON() const {
    json::Array array;
    const Row *start = find("hip-start"), *end = find("hip-end");
    for (const Row &row : rows)
      array.push_back(json::Object{
          {"name", row.name},
          {"published_seconds", row.publishedSeconds
                                    ? json::Value(*row.publishedSeconds)
                                    : json::Value(nullptr)},
          {"cycles_per_step_per_cu", row.cyclesPerStep},
          {"ratio_to_baseline", optionalNumber(ratio(row, start))},
          {"ratio_to_hip_end", optionalNumber(ratio(row, end))},
          {"ratio_to_bound", row.cyclesPerStep / boundOf(row.bounds)},
          {"bound_cycles", boundOf(row.bounds)},
          {"bound_lds_cycles", row.bounds.lds},
          {"bound_issue_cycles", row.bounds.issue},
          {"bound_dependency_cycles", row.bounds.dependencies},
          {"in_order_cycles", row.bounds.inOrder},
          {"vgprs", row.kernel.vgprCount},
          {"sgprs", row.kernel.sgprCount},
          {"vgpr_spills", row.kernel.vgprSpillCount},
          {"sgpr_spills", row.kernel.sgprSpillCount},
          {"lds_bytes", row.ldsBytes},
          {"occupancy", row.occupancy},
          {"occupancy_limit", row.occupancyLimit},
          {"active_lanes", row.activeLanes},
          {"instructions_per_cycle", row.instructionsPerCycle},
          {"instructions_per_step", row.instructionsPerStep},
          {"lds_conflict_share", row.ldsConflictShare},
          {"barrier_share_of_stalls", row.barrierShare},
          {"limit", row.limit},
          {"cycles_per_step_fitted_two_thirds",
           optionalNumber(row.cyclesPerStepAtScale[0])},
          {"cycles_per_step_fitted_four_thirds",
           optionalNumber(row.cyclesPerStepAtScale[1])},
          {"steps", int64_t(row.steps)},
          {"largest_difference_from_sequential", row.largestDifference}});
    return json::Object{
        {"rows", std::move(array)},
        {"modelled", true},
        {"chip", chip},
        {"zones", int64_t(zones)},
        {"states", int64_t(problem->network.numStates())},
        {"terms", int64_t(problem->network.numTerms())},
        {"tolerance", tolerance},
        {"cpu", json::Object{{"name", "sequential program, one core, measured"},
                             {"microseconds_per_step", microsecondsOfCPU},
                             {"steps", int64_t(stepsOfCPU)}}}};
  }
};

/// One GCD of an MI250 has 104 CUs, as the table's MI210, which is one such
/// die.
StringRef tableName(StringRef chip) { return chip == "mi250" ? "mi210" : chip; }

Error run(Options &options) {
  const TargetInfo *target = nullptr;
  for (const TargetInfo &known : knownTargets())
    if (known.chip == tableName(options.chip))
      target = &known;
  if (!target)
    return createStringError("got --chip=" + options.chip +
                             ", expected mi250 or mi300x");
  if (options.steps < 2)
    return createStringError("--steps must be at least 2");
  std::string path = options.network;
  if (path.empty()) {
    auto made = defaultNetwork();
    if (!made)
      return made.takeError();
    path = *made;
  }
  auto network = loadNetwork(path);
  if (!network)
    return network.takeError();
  auto problem = makeProblem(std::move(*network), options.problem);
  if (!problem)
    return problem.takeError();
  auto rungs = hipRungs(*problem, target->architecture);
  if (!rungs)
    return rungs.takeError();
  append_range(*rungs, wavesmithRungs(*problem, path, *target));

  Zone zone = {problem->conditions.temperature, problem->conditions.density,
               problem->start};
  SequentialIntegration(problem->network, problem->conditions)
      .advance(zone.state, options.firstStep);
  if (zone.state.time >= problem->conditions.endTime)
    return createStringError("the integration ends before step " +
                             Twine(options.firstStep) +
                             ", where modelled launches would begin");
  std::vector<Zone> zones(options.zones ? options.zones : target->computeUnits,
                          zone);
  Ladder ladder;
  ladder.target = target;
  ladder.chip = options.chip;
  ladder.problem = &*problem;
  ladder.zones = zones.size();
  for (const Rung &rung : *rungs) {
    if (!StringRef(rung.name).contains(options.only))
      continue;
    auto row = measure(rung, *problem, *target, zones, options);
    if (!row)
      return row.takeError();
    ladder.rows.push_back(std::move(*row));
  }
  if (ladder.rows.empty())
    return createStringError("no row's name contains '" + options.only + "'");
  std::tie(ladder.microsecondsOfCPU, ladder.stepsOfCPU) = measureCPU(*problem);
  ladder.print();
  if (options.json.empty())
    return Error::success();
  std::string text = formatv("{0:2}\n", ladder.toJSON());
  FileTransaction files;
  if (Error error = files.add(
          options.json,
          ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(text.data()),
                            text.size())))
    return error;
  return files.commit();
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  initializeTool("bench-ladder");
  Options options;
  if (!parseToolCommandLine(argc, argv,
                            "The published ladder, on the simulated device\n",
                            options.all()))
    return 1;
  if (Error error = run(options)) {
    printToolError(toString(std::move(error)));
    return 1;
  }
  return 0;
}
