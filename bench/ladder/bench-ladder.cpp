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
// Integrates a network of 150 nuclides with the explicit asymptotic method on
// one simulated device, by the kernels of AMD's published ladder and by ours,
// and prints what a step costs. All device times are modelled: nothing here was
// measured on a GPU. The row of the CPU is measured, on this host.
//
// Further sections: other numbers of zones, other networks, and one whole
// integration.
//
//===----------------------------------------------------------------------===//

#include "../KernelSource.h"
#include "Measurement.h"
#include "wavesmith/Support/FileTransaction.h"
#include "wavesmith/Support/ToolCommandLine.h"
#include "wavesmith/Target/Target.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

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
  cl::opt<bool> noSweep{
      "no-zone-sweep",
      cl::desc("Leave out launches of more zones than compute units"),
      cl::cat(category)};
  cl::opt<bool> noNetworks{"no-networks",
                           cl::desc("Leave out the other networks"),
                           cl::cat(category)};
  cl::opt<bool> noWhole{"no-whole-integration",
                        cl::desc("Leave out the whole integration"),
                        cl::cat(category)};
  cl::opt<bool> noSensitivity{
      "no-sensitivity",
      cl::desc("Leave out the launches with other fitted latencies"),
      cl::cat(category)};

  std::vector<const cl::Option *> all() {
    std::vector<const cl::Option *> options = {
        &chip, &json,          &network, &steps,      &firstStep, &zones,
        &only, &noSensitivity, &noSweep, &noNetworks, &noWhole};
    append_range(options, problem.all());
    return options;
  }
};

//===----------------------------------------------------------------------===//
// The network and the CPU
//===----------------------------------------------------------------------===//

/// The file of a network that make-network knows by name, made where there is
/// none in the build yet.
Expected<std::string> importedNetwork(StringRef name) {
  std::string path =
      formatv("{0}/network-{1}.mlir", WAVESMITH_LADDER_KERNELS, name);
  if (!sys::fs::exists(path))
    if (Error error = runProgram({WAVESMITH_LADDER_SOURCE "/make-network",
                                  WAVESMITH_LADDER_BUILD, name, path}))
      return std::move(error);
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

/// Rows of another network, or why there are none.
struct OtherNetwork {
  std::string name;
  size_t states = 0, terms = 0;
  std::vector<Row> rows;
  std::string skipped;
};

json::Object boundsOf(const Row &row) {
  return json::Object{
      {"ratio_to_bound", row.cyclesPerStep / boundOf(row.bounds)},
      {"bound_cycles", boundOf(row.bounds)},
      {"bound_lds_cycles", row.bounds.lds},
      {"bound_issue_cycles", row.bounds.issue},
      {"bound_dependency_cycles", row.bounds.dependencies},
      {"in_order_cycles", row.bounds.inOrder}};
}

struct Ladder {
  const TargetInfo *target = nullptr;
  /// The chip's name, as the user gave it.
  std::string chip;
  const Problem *problem = nullptr;
  size_t zones = 0;
  std::vector<Row> rows;
  std::vector<ZonesRow> sweep;
  std::vector<OtherNetwork> networks;
  std::optional<WholeIntegration> whole;
  double microsecondsOfCPU = 0, compileSeconds = 0;
  uint64_t stepsOfCPU = 0;

  const Row *find(StringRef name) const {
    for (const Row &row : rows)
      if (row.name == name)
        return &row;
    return nullptr;
  }
  /// Whether a row's results are those of the row before in \p rows, bit by
  /// bit.
  static bool hasBitsOfRowBefore(ArrayRef<Row> rows, const Row &row) {
    return &row != rows.begin() && (&row)[-1].bits == row.bits;
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
           << "name                    blog s  cycles/step  vs start   vs end  "
              "VGPR "
              "SGPR "
              "  LDS KB  occup.  lanes/64   IPC  conflicts  latencies -1/3 "
              "+1/3  difference  bits  limit\n";
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
             << format("%12.1e  ", row.largestDifference)
             << (hasBitsOfRowBefore(rows, row) ? "same  " : "new   ")
             << row.limit << "\n";
    }
    outs() << "Bits of the results, in a modelled zone and three further ones: "
              "the same as those of the row before, or new\n";
    outs() << "\nCycles a step that the same instructions take at least: the "
              "largest of LDS, issue and dependencies is the bound\n";
    printBoundsHeader();
    for (const Row &row : rows)
      printBounds(row);
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
    if (compileSeconds > 0)
      outs() << format("wavesmith-compile, on this host, measured: %.1f s\n",
                       compileSeconds);
    printSweep();
    for (const OtherNetwork &other : networks) {
      outs() << "\nNetwork " << other.name;
      if (!other.skipped.empty()) {
        outs() << " skipped: " << other.skipped << "\n";
        continue;
      }
      outs() << ": " << other.states << " states, " << other.terms
             << " terms\n";
      printBoundsHeader();
      for (const Row &row : other.rows)
        printBounds(row);
    }
    if (whole)
      outs() << "\nWhole integration by " << whole->name << ": " << whole->steps
             << " steps, by the sequential program " << whole->stepsOfReference
             << format("; abundances above %.0e differ by %.1e at most\n",
                       smallestOfWhole, whole->largestDifference);
  }

  static void printBoundsHeader() {
    outs() << "name                    cycles     bound  vs bound       LDS   "
              "  issue  dependencies  wavefronts in order\n";
  }
  static void printBounds(const Row &row) {
    outs() << left_justify(row.name, 23) << format("%7.0f", row.cyclesPerStep)
           << format("%10.0f", boundOf(row.bounds))
           << format("%10.2f", row.cyclesPerStep / boundOf(row.bounds))
           << format("%10.0f", row.bounds.lds)
           << format("%10.0f", row.bounds.issue)
           << format("%14.0f", row.bounds.dependencies)
           << format("%21.0f\n", row.bounds.inOrder);
  }

  /// The row of the sweep with one zone a CU that another one is compared with.
  const ZonesRow &first(const ZonesRow &row) const {
    return *find_if(sweep,
                    [&](const ZonesRow &r) { return r.name == row.name; });
  }
  /// How many times longer the launch takes than that of one zone a CU.
  double longer(const ZonesRow &row) const {
    return row.cyclesPerStep / first(row).cyclesPerStep;
  }
  /// What the partial round of workgroups costs: over the time that the zones
  /// would take if CUs could share them evenly.
  double partialCost(const ZonesRow &row) const {
    return longer(row) * double(first(row).zones) / double(row.zones);
  }

  void printSweep() const {
    if (sweep.empty())
      return;
    outs() << "\nOther numbers of zones: cycles of the whole launch for a step "
              "of all its zones\n"
              "name                   zones    cycles  times those of one a CU"
              "  over even shares  workgroups of a CU  at the same time\n";
    for (const ZonesRow &row : sweep)
      outs() << left_justify(row.name, 21) << format("%7u", unsigned(row.zones))
             << format("%10.0f", row.cyclesPerStep)
             << format("%25.2f", longer(row))
             << format("%18.2f", partialCost(row))
             << format("%20u", unsigned(row.workgroupsOfCU))
             << format("%18u\n", row.residentWorkgroups);
  }

  static json::Value rowJSON(ArrayRef<Row> rows, const Row &row,
                             const Row *start, const Row *end) {
    json::Object object{
        {"name", row.name},
        {"published_seconds", row.publishedSeconds
                                  ? json::Value(*row.publishedSeconds)
                                  : json::Value(nullptr)},
        {"cycles_per_step_per_cu", row.cyclesPerStep},
        {"ratio_to_baseline", optionalNumber(ratio(row, start))},
        {"ratio_to_hip_end", optionalNumber(ratio(row, end))},
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
        {"largest_difference_from_sequential", row.largestDifference},
        {"has_bits_of_row_before", hasBitsOfRowBefore(rows, row)}};
    for (auto &[key, value] : boundsOf(row))
      object[key] = value;
    return std::move(object);
  }

  json::Value toJSON() const {
    const Row *start = find("hip-start"), *end = find("hip-end");
    json::Array array, sweepArray, networksArray;
    for (const Row &row : rows)
      array.push_back(rowJSON(rows, row, start, end));
    for (const ZonesRow &row : sweep)
      sweepArray.push_back(json::Object{
          {"name", row.name},
          {"zones", int64_t(row.zones)},
          {"cycles_per_step", row.cyclesPerStep},
          {"ratio_to_one_zone_per_cu", longer(row)},
          {"ratio_to_even_shares", partialCost(row)},
          {"workgroups_of_cu", int64_t(row.workgroupsOfCU)},
          {"resident_workgroups", int64_t(row.residentWorkgroups)}});
    for (const OtherNetwork &other : networks) {
      json::Array ofNetwork;
      const Row *endOfNetwork = nullptr;
      for (const Row &row : other.rows)
        if (row.name == "hip-end")
          endOfNetwork = &row;
      for (const Row &row : other.rows)
        ofNetwork.push_back(rowJSON(other.rows, row, nullptr, endOfNetwork));
      networksArray.push_back(json::Object{
          {"name", other.name},
          {"states", int64_t(other.states)},
          {"terms", int64_t(other.terms)},
          {"skipped", other.skipped.empty() ? json::Value(nullptr)
                                            : json::Value(other.skipped)},
          {"rows", std::move(ofNetwork)}});
    }
    json::Value wholeJSON = nullptr;
    if (whole)
      wholeJSON = json::Object{
          {"name", whole->name},
          {"steps", int64_t(whole->steps)},
          {"steps_of_sequential", int64_t(whole->stepsOfReference)},
          {"largest_difference_from_sequential", whole->largestDifference},
          {"smallest_compared", smallestOfWhole},
          {"tolerance", toleranceOfWhole}};
    return json::Object{
        {"rows", std::move(array)},
        {"zone_sweep", std::move(sweepArray)},
        {"networks", std::move(networksArray)},
        {"whole_integration", std::move(wholeJSON)},
        {"modelled", true},
        {"chip", chip},
        {"zones", int64_t(zones)},
        {"states", int64_t(problem->network.numStates())},
        {"terms", int64_t(problem->network.numTerms())},
        {"tolerance", tolerance},
        {"cpu", json::Object{{"name", "sequential program, one core, measured"},
                             {"microseconds_per_step", microsecondsOfCPU},
                             {"steps", int64_t(stepsOfCPU)}}},
        {"compile_seconds_measured", optionalNumber(compileSeconds)}};
  }
};

/// One GCD of an MI250 has 104 CUs, as the table's MI210, which is one such
/// die.
StringRef tableName(StringRef chip) { return chip == "mi250" ? "mi210" : chip; }

/// A zone after so many steps of the reference, where modelled launches begin.
/// Without \p exactly, half of the steps as often as the integration would end.
Expected<Zone> zoneAfter(const Problem &problem, uint64_t steps, bool exactly) {
  for (;; steps /= 2) {
    Zone zone = {problem.conditions.temperature, problem.conditions.density,
                 problem.start};
    if (Error error =
            problem.advance(zone.state, zone.temperature, zone.density, steps))
      return std::move(error);
    if (zone.state.time < problem.conditions.endTime)
      return zone;
    if (exactly || !steps)
      return createStringError("the integration ends before step " +
                               Twine(steps) +
                               ", where modelled launches would begin");
  }
}

/// The last of the HIP kernels, and what all passes make of the same network.
constexpr StringLiteral lastRungs[] = {"hip-end", "wavesmith-final"};

Error measureNetwork(OtherNetwork &other, const TargetInfo &target,
                     const Options &options,
                     const MeasurementOptions &measurement) {
  auto path = importedNetwork(other.name);
  if (!path) {
    std::string why = toString(path.takeError());
    // Its files are not part of the repository.
    if (!StringRef(other.name).starts_with("fern"))
      return createStringError("the network " + other.name +
                               " cannot be imported: " + why);
    other.skipped = "FERN's files are not in the folder WAVESMITH_FERN";
    return Error::success();
  }
  Expected<Problem> problem = [&]() -> Expected<Problem> {
    if (other.name == "gri30")
      return makeMethaneProblem(*path);
    auto network = loadNetwork(*path);
    if (!network)
      return network.takeError();
    return makeProblem(std::move(*network), options.problem);
  }();
  if (!problem)
    return problem.takeError();
  other.states = problem->network.numStates();
  other.terms = problem->numTerms;
  std::vector<Rung> rungs = wavesmithRungs(*problem, *path, target);
  if (!problem->evaluator) {
    auto hip = hipRungs(*problem, target.architecture);
    if (!hip)
      return hip.takeError();
    rungs.insert(rungs.begin(), hip->begin(), hip->end());
  }
  auto zone = zoneAfter(*problem, options.firstStep, /*exactly=*/false);
  if (!zone)
    return zone.takeError();
  std::vector<Zone> zones(target.computeUnits, *zone);
  for (const Rung &rung : rungs)
    if (is_contained(lastRungs, rung.name)) {
      auto row = measure(rung, *problem, target, zones, measurement);
      if (!row)
        return createStringError("network " + other.name + ": " +
                                 toString(row.takeError()));
      other.rows.push_back(std::move(*row));
    }
  return Error::success();
}

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
    auto made = importedNetwork("150");
    if (!made)
      return createStringError("the network of 150 nuclides cannot be imported "
                               "(give another one with --network): " +
                               toString(made.takeError()));
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
  auto zone = zoneAfter(*problem, options.firstStep, /*exactly=*/true);
  if (!zone)
    return zone.takeError();

  std::vector<Zone> zones(options.zones ? options.zones : target->computeUnits,
                          *zone);
  MeasurementOptions measurement;
  measurement.steps = options.steps;
  measurement.sensitivity = !options.noSensitivity;
  // Of the further sections: fewer steps, and no other latencies.
  MeasurementOptions shortened;
  shortened.steps = std::max<uint64_t>(2, options.steps / 2);
  shortened.sensitivity = false;
  Ladder ladder;
  ladder.target = target;
  ladder.chip = options.chip;
  ladder.problem = &*problem;
  ladder.zones = zones.size();
  for (const Rung &rung : *rungs) {
    if (!StringRef(rung.name).contains(options.only))
      continue;
    auto row = measure(rung, *problem, *target, zones, measurement);
    if (!row)
      return row.takeError();
    ladder.rows.push_back(std::move(*row));
    if (!is_contained(lastRungs, rung.name))
      continue;
    if (rung.compileSeconds)
      ladder.compileSeconds = rung.compileSeconds();
    if (!options.noSweep) {
      uint64_t one = target->computeUnits;
      auto sweep =
          measureZones(rung, *problem, *target, *zone,
                       {one, one * 5 / 4, one * 3 / 2, one * 2}, shortened);
      if (!sweep)
        return sweep.takeError();
      append_range(ladder.sweep, *sweep);
    }
    if (!options.noWhole && rung.name == lastRungs[1]) {
      auto whole = integrateWhole(rung, *problem);
      if (!whole)
        return whole.takeError();
      ladder.whole = std::move(*whole);
    }
  }
  if (ladder.rows.empty())
    return createStringError("no row's name contains '" + options.only + "'");
  if (!options.noNetworks)
    for (const char *name : {"50", "200", "fern-70", "gri30"}) {
      OtherNetwork &other = ladder.networks.emplace_back();
      other.name = name;
      if (Error error = measureNetwork(other, *target, options, shortened))
        return error;
    }
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
