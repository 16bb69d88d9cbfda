//===- ComputeUnitModel.cpp - Issue and pipelines of one CU --------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ComputeUnitModel.h"
#include "DependencyChain.h"
#include "wavesmith/Simulator/MatrixInstruction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;

//===----------------------------------------------------------------------===//
// Costs of instructions
//===----------------------------------------------------------------------===//

static Unit unitOf(const Instruction &instruction) {
  switch (instruction.category) {
  case Category::VALU:
    return Unit::Vector;
  case Category::MFMA:
    return Unit::Matrix;
  case Category::SALU:
    return Unit::Scalar;
  case Category::SMEM:
    return Unit::ScalarMemory;
  case Category::LDS:
    return Unit::LDS;
  case Category::VMEMRead:
  case Category::VMEMWrite:
  case Category::VMEMAtomic:
    return Unit::VectorMemory;
  case Category::Branch:
    return Unit::Branch;
  case Category::Waitcnt:
  case Category::Barrier:
  case Category::Other:
    return Unit::Internal;
  }
  return Unit::Internal;
}

std::vector<InstructionCost>
wavesmith::sim::instructionCosts(const sim::detail::CodeObjectImage &image) {
  using Special = InstructionCost::Special;
  std::vector<InstructionCost> costs;
  costs.reserve(image.instructions.size());
  for (auto [i, instruction] : enumerate(image.instructions)) {
    InstructionCost cost{};
    StringRef name = image.opcodeNames[instruction.opcodeName];
    cost.unit = unitOf(instruction);
    // LLVM's scheduling model counts in turns. An instruction takes its unit
    // for as long as its result takes: the pipelines are one pass of 16 lanes
    // after the other.
    unsigned turns = std::max<unsigned>(1, image.scheduleTurns[i]);
    cost.cycles = static_cast<uint16_t>(turnCycles);
    cost.vectorCycles = cost.cycles;
    if (cost.unit == Unit::Vector)
      cost.cycles = cost.vectorCycles =
          static_cast<uint16_t>(turnCycles * turns);
    if (cost.unit == Unit::Matrix) {
      unsigned busy = mfmaCycles(name, image.target);
      cost.cycles = static_cast<uint16_t>(busy ? busy : turnCycles * turns);
      unsigned coissue = mfmaCoissueCycles(name, image.target);
      cost.vectorCycles = static_cast<uint16_t>(cost.cycles - coissue);
      cost.packedCycles = cost.vectorCycles;
      // From thread traces of MI308X, in the review of LLVM's pull request
      // 233721: packed f32 and dot products begin two turns after the last
      // pass of a matrix instruction, as all vector instructions do after one
      // for f32 or f64. Nothing of the kind is published for gfx90a.
      if (StringRef(image.target).starts_with("gfx942")) {
        cost.packedCycles = static_cast<uint16_t>(cost.cycles + 2 * turnCycles);
        if (!coissue)
          cost.vectorCycles = cost.packedCycles;
      }
    }
    cost.packed = StringSwitch<bool>(name)
                      .Cases({"V_PK_ADD_F32", "V_PK_MUL_F32", "V_PK_FMA_F32",
                              "V_PK_MOV_B32"},
                             true)
                      .StartsWith("V_DOT", true)
                      .Default(false);
    cost.nonTemporal = instruction.nonTemporal;
    cost.flat = instruction.isFlat;
    cost.storesToLDS = cost.unit == Unit::LDS && name.starts_with("DS_WRITE");
    cost.exchangesLanes = StringSwitch<bool>(name)
                              .StartsWith("DS_PERMUTE", true)
                              .StartsWith("DS_BPERMUTE", true)
                              .StartsWith("DS_SWIZZLE", true)
                              .Default(false);
    cost.immediate = static_cast<uint16_t>(instruction.imm);
    cost.special = StringSwitch<Special>(name)
                       .Case("S_WAITCNT", Special::Waitcnt)
                       .Case("S_NOP", Special::Nop)
                       .Case("S_SLEEP", Special::Sleep)
                       .Case("S_SETPRIO", Special::Priority)
                       .Case("S_BARRIER", Special::Barrier)
                       .Default(Special::None);
    costs.push_back(cost);
  }
  return costs;
}

LDSCycles wavesmith::sim::ldsCycles(const TargetInfo &target,
                                    const MemoryAccess &access) {
  LDSCycles cycles;
  unsigned words = std::max(1u, unsigned(access.bytes) / target.ldsBankBytes);
  // So many lanes fill all banks once.
  unsigned lanes = std::max(1u, target.ldsBanks / words);
  for (unsigned first = 0; first < target.wavefrontSize; first += lanes) {
    uint64_t group = access.lanes >> first;
    if (lanes < 64)
      group &= (uint64_t(1) << lanes) - 1;
    if (!group)
      continue;
    // The distinct words that each bank has to give.
    SmallVector<uint64_t, 64> asked;
    for (uint64_t rest = group; rest; rest &= rest - 1) {
      uint64_t word =
          access.address[first + llvm::countr_zero(rest)] / target.ldsBankBytes;
      for (unsigned k = 0; k < words; ++k)
        asked.push_back(word + k);
    }
    llvm::sort(asked);
    asked.erase(llvm::unique(asked), asked.end());
    SmallVector<unsigned, 32> perBank(target.ldsBanks, 0);
    unsigned most = 0;
    for (uint64_t word : asked)
      most = std::max(most, ++perBank[word % target.ldsBanks]);
    cycles.all += most;
    cycles.conflicts += most - 1;
  }
  return cycles;
}

LDSAccessCost wavesmith::sim::ldsAccessCost(const TargetInfo &target,
                                            const TimingParameters &parameters,
                                            const MemoryAccess &access,
                                            bool store) {
  LDSAccessCost cost;
  cost.banks = ldsCycles(target, access);
  double words = std::max(1.0, access.bytes / 4.0);
  double portCycles = turnCycles * words;
  if (store)
    portCycles += parameters.ldsStoreOverhead;
  cost.portCycles = std::max(portCycles, double(cost.banks.all));
  // The latency is that of an access of one word without conflicts.
  cost.latency = parameters.ldsLatency +
                 std::max(0.0, portCycles - turnCycles) + cost.banks.conflicts;
  return cost;
}

LDSAccessCost
wavesmith::sim::ldsExchangeCost(const TargetInfo &target,
                                const TimingParameters &parameters) {
  LDSAccessCost cost;
  cost.banks.all = divideCeil(target.wavefrontSize, target.ldsBanks);
  cost.portCycles = turnCycles;
  cost.latency = parameters.ldsLatency;
  return cost;
}

VectorAndOtherCounts wavesmith::sim::decodeWaitcnt(uint16_t immediate) {
  return {(immediate & 15u) | ((immediate >> 10) & 0x30u),
          (immediate >> 8) & 15u};
}

//===----------------------------------------------------------------------===//
// Workgroups
//===----------------------------------------------------------------------===//

ComputeUnitModel::ComputeUnitModel(const Dispatch &dispatch,
                                   const TargetInfo &target,
                                   const TimingParameters &parameters,
                                   ArrayRef<InstructionCost> costs,
                                   MemoryModel &memory, unsigned workgroupSlots,
                                   Observer *observer, bool followDependencies)
    : issuedBySlot(workgroupSlots, 0), dispatch(dispatch), target(target),
      p(parameters), costs(costs), memory(memory),
      instructionCache(target.instructionCacheBytes, 64, 8),
      slots(workgroupSlots), simds(target.simdsPerCU),
      ldsPorts(std::max(1u, target.simdsPerCU / 2)) {
  for (Slot &slot : slots) {
    slot.execution = std::make_unique<WorkgroupExecution>(dispatch, observer);
    slot.states.resize(dispatch.waves);
    if (followDependencies) {
      slot.dependencies = std::make_unique<DependencyChain>(
          dispatch, target, parameters, costs, /*inOrder=*/false);
      slot.inOrder = std::make_unique<DependencyChain>(
          dispatch, target, parameters, costs, /*inOrder=*/true);
    }
  }
  timings.resize(costs.size());
}

ComputeUnitModel::~ComputeUnitModel() = default;

void ComputeUnitModel::start(unsigned index, uint64_t number) {
  Slot &slot = slots[index];
  slot.execution->begin(number);
  if (slot.dependencies) {
    slot.dependencies->begin();
    slot.inOrder->begin();
  }
  slot.active = true;
  ++residentWorkgroups;
  double first = std::max(now, slot.freeAt);
  for (auto [i, state] : enumerate(slot.states)) {
    state = WaveState();
    state.wave = &slot.execution->waves()[i];
    state.slot = index;
    state.age = nextAge++;
    state.ready = state.since = first;
    state.reason = StallReason::Fetch;
    SIMD &simd = *min_element(simds, [](const SIMD &a, const SIMD &b) {
      return a.waves.size() < b.waves.size();
    });
    simd.waves.push_back(&state);
    ++residentWaves;
  }
}

Error ComputeUnitModel::finish(unsigned index) {
  Slot &slot = slots[index];
  slot.active = false;
  slot.freeAt = now + p.workgroupStart;
  --residentWorkgroups;
  completions.emplace_back(now, issued);
  if (slot.dependencies) {
    longestDependencies =
        std::max(longestDependencies, slot.dependencies->length());
    longestInOrder = std::max(longestInOrder, slot.inOrder->length());
  }
  return slot.execution->end();
}

void ComputeUnitModel::addCounters(Counters &counters,
                                   std::vector<uint64_t> &hits) {
  for (Slot &slot : slots) {
    counters += slot.execution->counters;
    for (auto [to, from] : zip(hits, slot.execution->instructionHits()))
      to += from;
  }
}

//===----------------------------------------------------------------------===//
// Issue
//===----------------------------------------------------------------------===//

/// When at most so many of some completions, in any order, are outstanding.
static double remaining(SmallVectorImpl<double> &times, size_t allowed) {
  if (times.size() <= allowed)
    return 0;
  llvm::sort(times);
  return times[times.size() - 1 - allowed];
}

double ComputeUnitModel::waitTime(const WaveState &state, uint16_t immediate,
                                  StallReason &reason) const {
  VectorAndOtherCounts counts = decodeWaitcnt(immediate);
  double vectorTime = 0;
  // In order: an older one that is late holds up the count.
  if (state.vectorMemory.size() > counts.vector)
    vectorTime =
        state.vectorMemory[state.vectorMemory.size() - 1 - counts.vector];
  SmallVector<double> times;
  for (const PendingScalar &pending : state.other)
    times.push_back(pending.ready);
  double otherTime = remaining(times, counts.others);
  reason = vectorTime >= otherTime ? StallReason::VectorMemory
                                   : StallReason::LDSOrScalar;
  return std::max(vectorTime, otherTime);
}

static bool overlaps(const RegisterRange &a, const RegisterRange &b) {
  return a.file == b.file && a.first < b.first + b.count &&
         b.first < a.first + a.count;
}

bool ComputeUnitModel::canIssue(WaveState &state, SIMD &simd, double t) {
  auto wait = [&](double until, StallReason reason) {
    if (until <= t)
      return false;
    state.ready = until;
    state.reason = reason;
    return true;
  };
  Wave &wave = *state.wave;
  uint32_t index = wave.pc;
  if (index >= costs.size())
    return true; // the execution says what is wrong
  const InstructionCost &cost = costs[index];
  uint64_t line = dispatch.image.addressOf(index) / 64;
  if (line != state.instructionLine) {
    state.instructionLine = line;
    bool hit = instructionCache.access(line);
    // The next line is on its way.
    instructionCache.access(line + 1);
    if (!hit && wait(t + p.instructionMiss, StallReason::Fetch))
      return false;
  }
  if (cost.special == InstructionCost::Special::Waitcnt) {
    StallReason reason;
    double until = waitTime(state, cost.immediate, reason);
    if (wait(until, reason))
      return false;
  }
  if (!state.pending.empty()) {
    llvm::erase_if(state.pending,
                   [&](const PendingRange &r) { return r.ready <= t; });
    const RegisterUse &use = dispatch.image.registerUse[index];
    for (const PendingRange &pending : state.pending) {
      // Vector instructions see scalar registers in time.
      if (pending.range.file != RegisterFile::Vector &&
          cost.unit == Unit::Vector)
        continue;
      auto hits = [&](const RegisterRange &range) {
        return overlaps(range, pending.range);
      };
      if ((any_of(use.reads, hits) || any_of(use.writes, hits)) &&
          wait(pending.ready, StallReason::Dependency))
        return false;
    }
  }
  switch (cost.unit) {
  case Unit::Vector:
    return !wait(std::max({simd.vectorFree, simd.vectorHeld,
                           cost.packed ? simd.packedHeld : 0}),
                 StallReason::PipeBusy);
  case Unit::Matrix:
    return !wait(std::max(simd.vectorFree, simd.matrixFree),
                 StallReason::PipeBusy);
  case Unit::LDS:
    // A few instructions queue before the port.
    return !wait(ldsPorts[(&simd - simds.data()) % ldsPorts.size()].freeTime() -
                     4 * turnCycles,
                 StallReason::PipeBusy);
  case Unit::VectorMemory:
    return !wait(memory.addressFreeTime() - 16 * turnCycles,
                 StallReason::PipeBusy);
  default:
    return true;
  }
}

void ComputeUnitModel::accessMemory(WaveState &state, unsigned simd,
                                    const InstructionCost &cost, uint32_t index,
                                    const AccessRecord *record, double t) {
  bool vector = cost.unit == Unit::VectorMemory;
  double vectorDone = t, otherDone = t;
  LineRequests requests;
  requests.nonTemporal = cost.nonTemporal;
  auto accessLDS = [&](const LDSAccessCost &of) {
    ldsBusy += of.banks.all;
    ldsConflicts += of.banks.conflicts;
    ldsPortBusy += of.portCycles;
    Server &port = ldsPorts[simd % ldsPorts.size()];
    double begin = port.take(t, of.portCycles);
    begin = std::max(begin, ldsBanks.take(begin, of.banks.all));
    otherDone = std::max(otherDone, begin + of.latency);
  };
  if (cost.exchangesLanes)
    accessLDS(ldsExchangeCost(target, p));
  for (unsigned i = 0; record && i < record->count; ++i) {
    const MemoryAccess &access = record->access[i];
    if (access.space != AccessSpace::LDS) {
      memory.linesOf(access,
                     scratchBase + (uint64_t(state.slot) << 32) +
                         state.wave->scratchOffset,
                     requests);
      continue;
    }
    accessLDS(ldsAccessCost(target, p, access, cost.storesToLDS));
  }
  if (cost.unit == Unit::ScalarMemory) {
    otherDone = memory.scalarAccess(t, index, requests);
  } else if (vector) {
    vectorDone = memory.vectorAccess(t, index, requests);
  }
  if (vector) {
    // The count falls in order.
    if (!state.vectorMemory.empty())
      vectorDone = std::max(vectorDone, state.vectorMemory.back());
    state.vectorMemory.push_back(vectorDone);
    while (!state.vectorMemory.empty() && state.vectorMemory.front() <= t)
      state.vectorMemory.pop_front();
  }
  if (!vector || cost.flat) {
    if (cost.flat)
      otherDone = std::max(otherDone, vectorDone);
    llvm::erase_if(state.other,
                   [&](const PendingScalar &o) { return o.ready <= t; });
    state.other.push_back({otherDone, cost.unit == Unit::ScalarMemory});
  }
}

Error ComputeUnitModel::issue(WaveState &state, SIMD &simd, double t) {
  Wave &wave = *state.wave;
  Slot &slot = slots[state.slot];
  uint32_t index = wave.pc;
  uint32_t nextInOrder = index + 1;
  const AccessRecord *record = slot.execution->step(wave);
  if (wave.status == WaveStatus::Failed)
    return slot.execution->end();
  if (slot.dependencies) {
    slot.dependencies->executed(wave, index, record);
    slot.inOrder->executed(wave, index, record);
  }
  ++issued;
  ++issuedBySlot[state.slot];
  InstructionTiming &timing = timings[index];
  ++timing.issued;
  if (t > state.since) {
    uint64_t stalled = static_cast<uint64_t>(t - state.since);
    timing.stallCycles += stalled;
    timing.stallsByReason[static_cast<unsigned>(state.reason)] += stalled;
  }
  const InstructionCost &cost = costs[index];
  double next = t + turnCycles;
  StallReason reason = StallReason::Arbitration;
  busy[static_cast<unsigned>(cost.unit)] += cost.cycles;
  auto writesScalar = [](const RegisterRange &range) {
    return range.file != RegisterFile::Vector;
  };
  switch (cost.unit) {
  case Unit::Vector:
    simd.vectorFree = t + cost.cycles;
    for (const RegisterRange &range : dispatch.image.registerUse[index].writes)
      if (writesScalar(range))
        state.pending.push_back({range, t + p.vectorToScalar});
    break;
  case Unit::Matrix:
    simd.matrixFree = t + cost.cycles;
    // The next matrix instruction waits for this unit only.
    simd.vectorHeld = t + cost.vectorCycles;
    simd.packedHeld = t + cost.packedCycles;
    for (const RegisterRange &range : dispatch.image.registerUse[index].writes)
      state.pending.push_back({range, t + cost.cycles});
    break;
  case Unit::ScalarMemory:
  case Unit::LDS:
  case Unit::VectorMemory:
    accessMemory(state, static_cast<unsigned>(&simd - simds.data()), cost,
                 index, record, t);
    break;
  case Unit::Branch:
    if (wave.status == WaveStatus::Running && wave.pc != nextInOrder) {
      next = t + p.branchTaken;
      reason = StallReason::Fetch;
    }
    break;
  default:
    break;
  }
  using Special = InstructionCost::Special;
  if (cost.special == Special::Nop) {
    next = t + turnCycles * ((cost.immediate & 15) + 1);
    reason = StallReason::Sleep;
  } else if (cost.special == Special::Sleep) {
    next = t + 64 * (cost.immediate & 127);
    reason = StallReason::Sleep;
  } else if (cost.special == Special::Priority) {
    state.priority = cost.immediate & 3;
  }
  state.since = t + turnCycles;
  state.ready = next;
  state.reason = reason;
  if (wave.status == WaveStatus::AtBarrier ||
      wave.status == WaveStatus::Ended) {
    state.ready = std::numeric_limits<double>::infinity();
    if (wave.status == WaveStatus::Ended) {
      llvm::erase(simd.waves, &state);
      --residentWaves;
    }
    if (slot.execution->barrierComplete()) {
      slot.execution->releaseBarrier();
      if (slot.dependencies) {
        slot.dependencies->barrier();
        slot.inOrder->barrier();
      }
      for (WaveState &other : slot.states)
        if (other.wave->status == WaveStatus::Running &&
            other.ready == std::numeric_limits<double>::infinity()) {
          other.ready = t + p.barrier;
          other.reason = StallReason::Barrier;
        }
    }
    if (slot.execution->ended())
      return finish(state.slot);
  }
  return Error::success();
}

Expected<bool> ComputeUnitModel::turn(unsigned number, double t) {
  SIMD &simd = simds[number];
  unsigned taken = 0;
  bool issuedAny = false;
  // The wavefronts may change while they are served.
  SmallVector<WaveState *, 8> order(simd.waves);
  llvm::sort(order, [](const WaveState *a, const WaveState *b) {
    return a->priority != b->priority ? a->priority > b->priority
                                      : a->age < b->age;
  });
  for (WaveState *state : order) {
    if (state->ready > t || state->wave->status != WaveStatus::Running)
      continue;
    uint32_t index = state->wave->pc;
    Unit unit = index < costs.size() ? costs[index].unit : Unit::Internal;
    // Vector and matrix instructions come through the same port.
    unsigned port = unit == Unit::Matrix         ? unsigned(Unit::Vector)
                    : unit == Unit::ScalarMemory ? unsigned(Unit::Scalar)
                                                 : unsigned(unit);
    if (unit != Unit::Internal && ((taken >> port) & 1)) {
      if (state->ready <= state->since)
        state->reason = StallReason::Arbitration;
      continue;
    }
    if (!canIssue(*state, simd, t))
      continue;
    taken |= 1u << port;
    issuedAny = true;
    now = t;
    if (Error error = issue(*state, simd, t))
      return std::move(error);
  }
  return issuedAny;
}

Error ComputeUnitModel::advance(double until, const NextWorkgroup &next) {
  while (now < until) {
    if (dispatching)
      for (auto [i, slot] : enumerate(slots)) {
        if (slot.active)
          continue;
        std::optional<uint64_t> number = next();
        if (!number) {
          dispatching = false;
          break;
        }
        start(static_cast<unsigned>(i), *number);
      }
    if (!residentWorkgroups)
      return Error::success();
    double begin = now;
    unsigned waves = residentWaves;
    bool issuedAny = false;
    for (unsigned s = 0; s < simds.size(); ++s) {
      Expected<bool> result = turn(s, begin + s);
      if (!result)
        return result.takeError();
      issuedAny |= *result;
    }
    double step = turnCycles;
    if (!issuedAny) {
      // To the next turn at which one may go on.
      double earliest = std::numeric_limits<double>::infinity();
      for (SIMD &simd : simds)
        for (WaveState *state : simd.waves)
          earliest = std::min(earliest, state->ready);
      if (earliest == std::numeric_limits<double>::infinity())
        return createStringError("kernel '" + dispatch.kernel.name +
                                 "': wavefronts wait at a barrier that the "
                                 "others never reach");
      double turns = std::floor((earliest - begin) / turnCycles);
      step = std::max(1.0, turns) * turnCycles;
    }
    now = begin + step;
    waveCycles += waves * step;
  }
  return Error::success();
}
