//===- Timing.cpp - A launch with its modelled time ----------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Checker.h"
#include "../SourceLines.h"
#include "ComputeUnitModel.h"
#include "wavesmith/Support/FatalErrors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <queue>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;

/// The modelled CU and its neighbours go on in step, so many cycles at a time.
static constexpr double stepCycles = 512;
/// The most registers of all wavefronts of neighbours, in bytes.
static constexpr unsigned mostNeighbourBytes = 64 << 20;

StringRef wavesmith::sim::stringify(StallReason reason) {
  switch (reason) {
  case StallReason::VectorMemory:
    return "vector memory";
  case StallReason::LDSOrScalar:
    return "LDS or scalar memory";
  case StallReason::Dependency:
    return "dependency";
  case StallReason::PipeBusy:
    return "unit busy";
  case StallReason::Arbitration:
    return "other wavefronts";
  case StallReason::Barrier:
    return "barrier";
  case StallReason::Fetch:
    return "instruction fetch";
  case StallReason::Sleep:
    return "s_nop or s_sleep";
  }
  return "unknown";
}

namespace {

/// The workgroups of a launch, and who executes them: workgroup k goes to die
/// k mod D, and there to the CUs in turn or, if it is known how much work each
/// one is, to the CU that has a slot free first. CU 0 is the modelled one.
class Assignment {
public:
  Assignment(const TargetInfo &target, uint64_t workgroups)
      : workgroups(workgroups), dies(target.dies),
        cusOfDie(target.computeUnits / target.dies) {}

  /// Gives the workgroups of the die with the most work, in the order of the
  /// launch, to whichever of its CUs has a slot free first. The CU with the
  /// most work, which decides the time, becomes the modelled one. Returns its
  /// work and that of the launch.
  std::pair<double, double>
  assignByWork(const std::function<double(uint64_t)> &work, unsigned slots) {
    double most = -1, all = 0;
    for (unsigned d = 0; d < dies; ++d) {
      double sum = 0;
      for (uint64_t number = d; number < workgroups; number += dies)
        sum += work(number);
      all += sum;
      if (sum > most) {
        most = sum;
        die = d;
      }
    }
    // When a slot is free, and whose it is: at first every CU's first slot,
    // then every CU's second one.
    using Slot = std::tuple<double, unsigned, unsigned>;
    std::priority_queue<Slot, std::vector<Slot>, std::greater<Slot>> free;
    for (unsigned slot = 0; slot < slots; ++slot)
      for (unsigned cu = 0; cu < cusOfDie; ++cu)
        free.push({0, slot, cu});
    byCU.assign(cusOfDie, {});
    std::vector<double> workOfCU(cusOfDie, 0);
    for (uint64_t number = die; number < workgroups; number += dies) {
      auto [time, slot, cu] = free.top();
      free.pop();
      byCU[cu].push_back(number);
      workOfCU[cu] += work(number);
      free.push({time + work(number), slot, cu});
    }
    auto longest = llvm::max_element(workOfCU);
    std::swap(byCU.front(), byCU[longest - workOfCU.begin()]);
    return {*longest, all};
  }

  /// The nth workgroup of a CU of the die.
  std::optional<uint64_t> workgroupOf(unsigned cu, uint64_t n) const {
    if (!byCU.empty())
      return n < byCU[cu].size() ? std::optional(byCU[cu][n]) : std::nullopt;
    uint64_t number = (n * cusOfDie + cu) * dies + die;
    if (number >= workgroups)
      return std::nullopt;
    return number;
  }
  uint64_t countOf(unsigned cu) const {
    if (!byCU.empty())
      return byCU[cu].size();
    uint64_t ofDie =
        workgroups > die ? divideCeil(workgroups - die, uint64_t(dies)) : 0;
    return ofDie > cu ? divideCeil(ofDie - cu, uint64_t(cusOfDie)) : 0;
  }

private:
  uint64_t workgroups;
  unsigned dies, cusOfDie;
  unsigned die = 0;
  /// If work is known.
  std::vector<std::vector<uint64_t>> byCU;
};

/// A CU that executes at the pace of the modelled one.
class Neighbour {
public:
  Neighbour(const Dispatch &dispatch, const TargetInfo &target,
            ArrayRef<InstructionCost> costs, MemoryModel &memory,
            const Assignment &assignment, unsigned cu, unsigned slots,
            Observer *observer)
      : memory(memory), costs(costs), assignment(assignment), cu(cu),
        caches(target) {
    for (unsigned i = 0; i < slots; ++i) {
      executions.push_back(
          std::make_unique<WorkgroupExecution>(dispatch, observer));
      active.push_back(false);
    }
  }

  /// Executes so many instructions in a slot, or less if there are no more.
  Error execute(unsigned slot, uint64_t instructions) {
    WorkgroupExecution &execution = *executions[slot];
    while (instructions) {
      if (!active[slot]) {
        std::optional<uint64_t> number = assignment.workgroupOf(cu, begun);
        if (!number)
          return Error::success();
        ++begun;
        execution.begin(*number);
        active[slot] = true;
      }
      bool any = false;
      for (Wave &wave : execution.waves()) {
        // A few instructions each, so that wavefronts stay close.
        for (unsigned i = 0;
             i < 16 && instructions && wave.status == WaveStatus::Running;
             ++i, --instructions) {
          any = true;
          if (Error error = step(slot, wave))
            return error;
        }
      }
      if (execution.barrierComplete()) {
        execution.releaseBarrier();
        any = true;
      }
      if (execution.ended()) {
        active[slot] = false;
        if (Error error = execution.end())
          return error;
        any = true;
      }
      if (!any)
        return createStringError("wavefronts wait at a barrier that the others "
                                 "never reach");
    }
    return Error::success();
  }

  /// Executes what was begun to its end.
  Error drain() {
    for (unsigned slot = 0; slot < executions.size(); ++slot) {
      if (!active[slot])
        continue;
      uint64_t rest = begun;
      while (active[slot]) {
        // One at a time: no other workgroup may begin.
        if (Error error = execute(slot, 1))
          return error;
        if (begun != rest)
          return createStringError("a neighbour began a workgroup too many");
      }
    }
    return Error::success();
  }

  uint64_t instructions = 0;
  uint64_t begun = 0;
  std::vector<std::unique_ptr<WorkgroupExecution>> executions;

private:
  Error step(unsigned slot, Wave &wave) {
    WorkgroupExecution &execution = *executions[slot];
    uint32_t index = wave.pc;
    const AccessRecord *record = execution.step(wave);
    ++instructions;
    if (wave.status == WaveStatus::Failed)
      return execution.end();
    if (!record)
      return Error::success();
    LineRequests requests;
    requests.nonTemporal = costs[index].nonTemporal;
    for (unsigned i = 0; i < record->count; ++i)
      if (record->access[i].space != AccessSpace::LDS)
        memory.linesOf(record->access[i],
                       scratchBase + (uint64_t(cu + 1) << 40) +
                           (uint64_t(slot) << 32) + wave.scratchOffset,
                       requests);
    memory.neighbourAccess(caches, index, requests,
                           costs[index].unit == Unit::ScalarMemory);
    return Error::success();
  }

  MemoryModel &memory;
  ArrayRef<InstructionCost> costs;
  const Assignment &assignment;
  unsigned cu;
  PrivateCaches caches;
  std::vector<bool> active;
};

} // namespace

using TimedLaunch = std::pair<Counters, TimingReport>;

std::string
wavesmith::sim::limitOf(ArrayRef<ResourceShare> shares,
                        const std::array<uint64_t, numStallReasons> &stalls) {
  const ResourceShare *busiest = llvm::max_element(
      shares, [](const auto &a, const auto &b) { return a.share < b.share; });
  if (busiest != shares.end() && busiest->share > 0.5)
    return busiest->name.str();
  auto reason = std::distance(stalls.begin(), llvm::max_element(stalls));
  return ("latency: " + stringify(static_cast<StallReason>(reason))).str();
}

static Expected<TimedLaunch> runTimed(const CodeObject &object, Memory &memory,
                                      const LaunchParameters &parameters,
                                      const TimingOptions &options,
                                      unsigned threads) {
  Expected<const TargetInfo &> found =
      lookupTarget(object.target(), options.chip);
  if (!found)
    return found.takeError();
  const TargetInfo &target = *found;
  if (!(options.fittedScale > 0))
    return createStringError("the scale of fitted parameters has to be "
                             "positive, got " +
                             Twine(std::to_string(options.fittedScale)));
  auto adjusted = parametersOfCheck(parameters);
  if (!adjusted)
    return adjusted.takeError();
  auto prepared = prepareLaunch(object, memory, *adjusted);
  if (!prepared)
    return prepared.takeError();
  const Dispatch &dispatch = **prepared;
  const KernelInfo &kernel = dispatch.kernel;
  auto occupancy = computeOccupancy(target, kernel.vgprCount - kernel.agprCount,
                                    kernel.agprCount, kernel.sgprCount,
                                    dispatch.ldsBytes, dispatch.threads);
  if (!occupancy)
    return occupancy.takeError();

  TimingParameters p = timingParameters(target, options.fittedScale);
  std::vector<InstructionCost> costs = instructionCosts(dispatch.image);
  Assignment assignment(target, dispatch.workgroups);
  auto [workOfCU, workOfLaunch] =
      options.work
          ? assignment.assignByWork(options.work, occupancy->workgroupsPerCU)
          : std::pair(double(assignment.countOf(0)),
                      double(dispatch.workgroups));
  uint64_t ofCU = assignment.countOf(0);
  unsigned slots = static_cast<unsigned>(std::min<uint64_t>(
      occupancy->workgroupsPerCU, std::max<uint64_t>(ofCU, 1)));
  unsigned cusOfDie = target.computeUnits / target.dies;
  unsigned busyCUs = static_cast<unsigned>(
      std::min<uint64_t>(dispatch.workgroups, target.computeUnits));
  // All CUs of the die if that is possible: what one reads another may have
  // brought to L2, from workgroups far apart in the launch, as the planes of a
  // grid are. Rather fewer workgroups at a time on each than fewer CUs.
  unsigned mostNeighbourWaves =
      mostNeighbourBytes /
      (std::max(8u, kernel.vgprCount) * target.wavefrontSize * 4);
  unsigned neighbours =
      std::min(cusOfDie - 1, std::max(1u, mostNeighbourWaves / dispatch.waves));
  unsigned neighbourSlots =
      std::clamp(mostNeighbourWaves / std::max(1u, neighbours * dispatch.waves),
                 1u, slots);
  while (neighbours && !assignment.countOf(neighbours))
    --neighbours;

  std::unique_ptr<Checker> checker;
  if (parameters.check)
    checker = std::make_unique<Checker>(dispatch, *parameters.check,
                                        *parameters.findings);
  PinnedEnvironment environment;
  MemoryModel model(target, p, busyCUs, 1 + neighbours,
                    static_cast<uint32_t>(costs.size()));
  ComputeUnitModel cu(dispatch, target, p, costs, model, slots, checker.get(),
                      options.followDependencies);
  std::vector<std::unique_ptr<Neighbour>> others;
  for (unsigned i = 1; i <= neighbours; ++i)
    others.push_back(std::make_unique<Neighbour>(dispatch, target, costs, model,
                                                 assignment, i, neighbourSlots,
                                                 checker.get()));

  // The modelled CU goes ahead, its neighbours follow.
  uint64_t begun = 0;
  double begunWork = 0;
  double lastBegin = 0;
  uint64_t issuedAtLastBegin = 0;
  auto next = [&]() -> std::optional<uint64_t> {
    if (begun && cu.issued >= options.detailedInstructions)
      return std::nullopt;
    auto number = assignment.workgroupOf(0, begun);
    if (number) {
      ++begun;
      begunWork += options.work ? options.work(*number) : 1;
      lastBegin = cu.now;
      issuedAtLastBegin = cu.issued;
    }
    return number;
  };
  bool following = !others.empty();
  std::vector<uint64_t> followed(slots, 0);
  do {
    if (Error error = cu.advance(cu.now + stepCycles, next))
      return std::move(error);
    if (!following)
      continue;
    uint64_t executed = 0;
    for (unsigned slot = 0; slot < slots; ++slot) {
      uint64_t count = cu.issuedBySlot[slot] - followed[slot];
      followed[slot] += count;
      for (auto &other : others)
        if (Error error = other->execute(slot % neighbourSlots, count))
          return std::move(error);
    }
    for (auto &other : others)
      executed += other->instructions;
    if (executed >= options.neighbourInstructions) {
      following = false;
      model.freezeShared();
    }
  } while (!cu.idle());
  // What they began has to be ended where results or findings are asked for.
  if (options.executeRest || checker)
    for (auto &other : others)
      if (Error error = other->drain())
        return std::move(error);

  // The rest of the launch, plainly.
  DenseSet<uint64_t> done;
  for (uint64_t n = 0; n < begun; ++n)
    done.insert(*assignment.workgroupOf(0, n));
  for (auto [i, other] : enumerate(others))
    for (uint64_t n = 0; n < other->begun; ++n)
      done.insert(*assignment.workgroupOf(static_cast<unsigned>(i) + 1, n));
  Counters counters;
  std::vector<uint64_t> hits(costs.size(), 0);
  // Instructions of a workgroup that is not modelled.
  double instructionsOfRest =
      double(cu.issued) / double(std::max<uint64_t>(begun, 1));
  if (options.executeRest) {
    if (Error error = runWorkgroups(dispatch, done, threads, counters, hits,
                                    checker.get()))
      return std::move(error);
    uint64_t rest = dispatch.workgroups - done.size();
    if (rest)
      instructionsOfRest =
          double(std::accumulate(hits.begin(), hits.end(), uint64_t(0))) /
          double(rest);
  }
  cu.addCounters(counters, hits);
  // Neighbours that were not drained have done an arbitrary part of their work.
  if (options.executeRest || checker)
    for (auto &other : others)
      for (auto &execution : other->executions) {
        counters += execution->counters;
        for (auto [to, from] : zip(hits, execution->instructionHits()))
          to += from;
      }
  countLaunch(dispatch, hits, counters);

  // The report.
  TimingReport report;
  report.chip = target.chip.str();
  report.kernel = kernel.name;
  report.clockHz = target.clockHz;
  report.workgroupsOfCU = ofCU;
  if (workOfCU > 0)
    report.balance = workOfLaunch / (workOfCU * target.computeUnits);
  report.detailedWorkgroups = begun;
  report.residentWorkgroups = slots;
  report.wavesPerSIMD = occupancy->wavesPerSIMD;
  report.occupancyLimit = stringify(occupancy->limit).str();
  double cycles = cu.now;
  report.detailedCycles = static_cast<uint64_t>(cycles);
  report.cycles = cycles;
  // What the CU has to do in all, over what was modelled.
  double whole = 1;
  if (begun < ofCU) {
    report.extrapolated = true;
    // From the second generation of workgroups on, until the last one begins,
    // the CU is full and goes on at a steady rate.
    double steadyFrom = 0;
    uint64_t issuedBefore = 0;
    if (cu.completions.size() > slots &&
        cu.completions[slots - 1].first < lastBegin)
      std::tie(steadyFrom, issuedBefore) = cu.completions[slots - 1];
    double rate = issuedAtLastBegin > issuedBefore && lastBegin > steadyFrom
                      ? double(issuedAtLastBegin - issuedBefore) /
                            (lastBegin - steadyFrom)
                      : double(cu.issued) / cycles;
    double rest = options.work && begunWork > 0
                      ? std::max(0.0, workOfCU - begunWork) / begunWork *
                            double(cu.issued)
                      : double(ofCU - begun) * instructionsOfRest;
    report.cycles += rest / rate;
    whole = 1 + rest / double(cu.issued);
  }
  report.seconds = report.cycles / target.clockHz;
  double simds = target.simdsPerCU;
  report.achievedOccupancy = cycles ? whole * cu.waveCycles / report.cycles /
                                          (simds * target.maxWavesPerSIMD)
                                    : 0;
  report.instructionsPerCycle =
      cycles ? whole * double(cu.issued) / report.cycles : 0;
  auto share = [&](StringRef name, double busy, double units) {
    report.shares.push_back(
        {name, cycles ? whole * busy / report.cycles / units : 0});
  };
  auto busy = [&](Unit unit) { return cu.busy[static_cast<unsigned>(unit)]; };
  share("VALU", busy(Unit::Vector), simds);
  share("MFMA", busy(Unit::Matrix), simds);
  share("scalar ALU", busy(Unit::Scalar), simds);
  share("LDS", double(cu.ldsBusy), 1);
  share("vector L1", std::max(model.vectorL1Busy(), model.addressBusy()), 1);
  share("L2", model.l2Busy(), 1);
  if (target.infinityCacheBytes)
    share("Infinity Cache", model.infinityBusy(), 1);
  share("HBM", model.hbmBusy(), 1);
  llvm::sort(report.shares, [](const ResourceShare &a, const ResourceShare &b) {
    return std::tie(b.share, a.name) < std::tie(a.share, b.name);
  });
  const MemoryModel::Statistics &s = model.statistics();
  auto rate = [](uint64_t hits, uint64_t accesses) {
    return accesses ? double(hits) / double(accesses) : -1.0;
  };
  report.vectorL1HitRate = rate(s.vectorHits, s.vectorAccesses);
  report.scalarL1HitRate = rate(s.scalarHits, s.scalarAccesses);
  report.l2HitRate = rate(s.l2Hits, s.l2Accesses);
  report.infinityCacheHitRate = rate(s.infinityHits, s.infinityAccesses);
  // Of the device.
  double scale = begun && workOfCU > 0 ? whole * workOfLaunch / workOfCU : 0;
  report.hbmBytesRead = s.hbmBytesRead * scale;
  report.hbmBytesWritten = s.hbmBytesWritten * scale;
  report.l2Requests = s.l2Requests * scale;
  report.l2Misses = s.l2Misses * scale;
  report.ldsCycles = double(cu.ldsBusy) * scale;
  report.ldsConflictCycles = double(cu.ldsConflicts) * scale;
  // One port a pair of SIMDs; the banks are shared by all.
  double ldsPorts = std::max(1u, target.simdsPerCU / 2);
  report.bounds.lds = std::max(double(cu.ldsBusy), cu.ldsPortBusy / ldsPorts);
  // Units that take instructions through one port of the issue are one.
  for (double unit :
       {busy(Unit::Vector), busy(Unit::Matrix),
        busy(Unit::Scalar) + busy(Unit::ScalarMemory), busy(Unit::LDS),
        busy(Unit::VectorMemory), busy(Unit::Branch)})
    report.bounds.issue = std::max(report.bounds.issue, unit / simds);
  report.bounds.dependencies = cu.longestDependencies;
  report.bounds.inOrder = cu.longestInOrder;
  SourceLines lines(dispatch.image.elf);
  for (auto [i, timing] : enumerate(cu.timings)) {
    if (!timing.issued)
      continue;
    auto index = static_cast<uint32_t>(i);
    timing.address = dispatch.image.addressOf(index);
    timing.text = dispatch.image.textOfInstruction(index);
    timing.source = lines.at(timing.address);
    for (unsigned r = 0; r < numStallReasons; ++r)
      report.stallsByReason[r] += timing.stallsByReason[r];
    report.instructions.push_back(timing);
  }
  llvm::sort(report.instructions,
             [](const InstructionTiming &a, const InstructionTiming &b) {
               return a.address < b.address;
             });
  report.limit = limitOf(report.shares, report.stallsByReason);
  report.parameters = p.list;
  return std::make_pair(counters, std::move(report));
}

Expected<TimedLaunch>
wavesmith::sim::launchTimed(const CodeObject &object, Memory &memory,
                            const LaunchParameters &parameters,
                            const TimingOptions &options, unsigned threads) {
  std::optional<Expected<TimedLaunch>> result;
  if (Error fatal = containFatalErrors([&] {
        result.emplace(runTimed(object, memory, parameters, options, threads));
      }))
    return createStringError(
        "launch of kernel '" + parameters.kernel +
        "': the simulator gave up: " + toString(std::move(fatal)));
  return std::move(*result);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

json::Value TimingReport::toJSON() const {
  json::Object o;
  o["modelled"] = true;
  o["chip"] = chip;
  o["kernel"] = kernel;
  o["cycles"] = cycles;
  o["seconds"] = seconds;
  o["clock_hz"] = clockHz;
  o["detailed_cycles"] = detailedCycles;
  o["extrapolated"] = extrapolated;
  o["workgroups_of_compute_unit"] = workgroupsOfCU;
  o["detailed_workgroups"] = detailedWorkgroups;
  o["waves_per_simd"] = wavesPerSIMD;
  o["occupancy_limit"] = occupancyLimit;
  o["achieved_occupancy"] = achievedOccupancy;
  o["instructions_per_cycle"] = instructionsPerCycle;
  o["limit"] = limit;
  json::Object sharesObject;
  for (const ResourceShare &s : shares)
    sharesObject[s.name] = s.share;
  o["shares"] = std::move(sharesObject);
  auto rate = [&](StringRef name, double value) {
    o[name] = value < 0 ? json::Value(nullptr) : json::Value(value);
  };
  rate("vector_l1_hit_rate", vectorL1HitRate);
  rate("scalar_l1_hit_rate", scalarL1HitRate);
  rate("l2_hit_rate", l2HitRate);
  rate("infinity_cache_hit_rate", infinityCacheHitRate);
  o["hbm_bytes_read"] = hbmBytesRead;
  o["hbm_bytes_written"] = hbmBytesWritten;
  o["l2_requests"] = l2Requests;
  o["l2_misses"] = l2Misses;
  o["lds_cycles"] = ldsCycles;
  o["lds_conflict_cycles"] = ldsConflictCycles;
  auto stalls = [](const std::array<uint64_t, numStallReasons> &values) {
    json::Object stallsObject;
    for (unsigned r = 0; r < numStallReasons; ++r)
      if (values[r])
        stallsObject[stringify(static_cast<StallReason>(r))] = values[r];
    return stallsObject;
  };
  o["stall_cycles"] = stalls(stallsByReason);
  json::Array list;
  for (const InstructionTiming &i : instructions) {
    json::Object instruction{{"address", i.address},
                             {"instruction", i.text},
                             {"issued", i.issued},
                             {"stall_cycles", i.stallCycles},
                             {"stalls", stalls(i.stallsByReason)}};
    if (!i.source.empty())
      instruction["source"] = i.source;
    list.push_back(std::move(instruction));
  }
  o["instructions"] = std::move(list);
  if (bounds.dependencies > 0)
    o["bounds"] = json::Object{{"lds_cycles", bounds.lds},
                               {"issue_cycles", bounds.issue},
                               {"dependency_cycles", bounds.dependencies},
                               {"in_order_cycles", bounds.inOrder}};
  json::Array numbers;
  for (const TimingParameter &p : parameters)
    numbers.push_back(json::Object{{"name", p.name},
                                   {"value", p.value},
                                   {"source", p.source},
                                   {"fitted", p.fitted}});
  o["parameters"] = std::move(numbers);
  return o;
}

void TimingReport::print(raw_ostream &os, unsigned hotSpots) const {
  os << "modelled time of '" << kernel << "' on " << chip << ": "
     << format("%.4g", seconds * 1e6) << " us, " << format("%.0f", cycles)
     << " cycles at " << format("%.2f", clockHz / 1e9) << " GHz"
     << (extrapolated ? " (extrapolated from " : " (") << detailedWorkgroups
     << " of " << workgroupsOfCU << " workgroups of one compute unit)\n"
     << "limit: " << limit << '\n';
  for (const ResourceShare &s : shares)
    os << format("  %-16s %5.1f %%\n", s.name.str().c_str(), 100 * s.share);
  os << format("waves a SIMD %u (limit: %s), occupancy achieved %.1f %%, "
               "instructions a cycle %.2f\n",
               wavesPerSIMD, occupancyLimit.c_str(), 100 * achievedOccupancy,
               instructionsPerCycle);
  std::vector<InstructionTiming> hot = instructions;
  llvm::sort(hot, [](const InstructionTiming &a, const InstructionTiming &b) {
    return std::tie(b.stallCycles, a.address) <
           std::tie(a.stallCycles, b.address);
  });
  uint64_t all = 0;
  for (const InstructionTiming &i : hot)
    all += i.stallCycles;
  if (hot.size() > hotSpots)
    hot.resize(hotSpots);
  os << "share of stalls  reason                 instruction\n";
  for (const InstructionTiming &i : hot) {
    if (!i.stallCycles)
      break;
    auto most =
        std::max_element(i.stallsByReason.begin(), i.stallsByReason.end());
    os << format("%13.1f %%  %-21s  %#6llx  ",
                 100.0 * double(i.stallCycles) / double(all),
                 stringify(
                     static_cast<StallReason>(most - i.stallsByReason.begin()))
                     .str()
                     .c_str(),
                 static_cast<unsigned long long>(i.address))
       << i.text;
    if (!i.source.empty())
      os << "  (" << i.source << ')';
    os << '\n';
  }
}
