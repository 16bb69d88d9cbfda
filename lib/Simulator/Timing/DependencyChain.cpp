//===- DependencyChain.cpp - What no resource could shorten --------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DependencyChain.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;

DependencyChain::DependencyChain(const Dispatch &dispatch,
                                 const TargetInfo &target,
                                 const TimingParameters &parameters,
                                 ArrayRef<InstructionCost> costs, bool inOrder)
    : dispatch(dispatch), target(target), p(parameters), costs(costs),
      inOrder(inOrder) {}

void DependencyChain::begin() {
  states.assign(dispatch.waves, WaveState());
  for (WaveState &state : states) {
    state.vector.assign(vectorRegisters, 0);
    state.scalarForVector.assign(scalarRegisters + 16, 0);
    state.scalarForOthers.assign(scalarRegisters + 16, 0);
  }
  stored.assign(dispatch.ldsBytes / 4 + 1, 0);
  end = 0;
}

double DependencyChain::readyAt(const WaveState &state,
                                const RegisterRange &range,
                                bool vectorUnit) const {
  switch (range.file) {
  case RegisterFile::SCC:
    return state.scc;
  case RegisterFile::Mode:
    return state.mode;
  case RegisterFile::Vector:
  case RegisterFile::Scalar:
    break;
  }
  const std::vector<double> &times = range.file == RegisterFile::Vector
                                         ? state.vector
                                     : vectorUnit ? state.scalarForVector
                                                  : state.scalarForOthers;
  double latest = 0;
  for (size_t i = range.first,
              last = std::min<size_t>(range.first + range.count, times.size());
       i < last; ++i)
    latest = std::max(latest, times[i]);
  return latest;
}

void DependencyChain::write(WaveState &state, const RegisterRange &range,
                            double forVector, double forOthers, bool merged) {
  auto set = [&](std::vector<double> &times, double time) {
    for (size_t i = range.first, last = std::min<size_t>(
                                     range.first + range.count, times.size());
         i < last; ++i)
      times[i] = merged ? std::max(times[i], time) : time;
  };
  switch (range.file) {
  case RegisterFile::SCC:
    state.scc = forOthers;
    return;
  case RegisterFile::Mode:
    state.mode = forOthers;
    return;
  case RegisterFile::Vector:
    set(state.vector, forVector);
    return;
  case RegisterFile::Scalar:
    merged = false;
    set(state.scalarForVector, forVector);
    set(state.scalarForOthers, forOthers);
    return;
  }
}

double DependencyChain::waitTime(WaveState &state, uint16_t immediate) const {
  VectorAndOtherCounts counts = decodeWaitcnt(immediate);
  double until = 0;
  if (state.vectorMemory.size() > counts.vector)
    until = state.vectorMemory[state.vectorMemory.size() - 1 - counts.vector];
  while (state.vectorMemory.size() > counts.vector)
    state.vectorMemory.pop_front();
  llvm::sort(state.others);
  if (state.others.size() > counts.others) {
    auto last = state.others.end() - counts.others;
    until = std::max(until, *std::prev(last));
    state.others.erase(state.others.begin(), last);
  }
  return until;
}

void DependencyChain::executed(const Wave &wave, uint32_t index,
                               const AccessRecord *record) {
  WaveState &state = states[wave.numberInGroup];
  const InstructionCost &cost = costs[index];
  const RegisterUse &use = dispatch.image.registerUse[index];
  using Special = InstructionCost::Special;
  bool vectorUnit = cost.unit == Unit::Vector;
  double begin = state.flow;
  for (const RegisterRange &range : use.reads)
    begin = std::max(begin, readyAt(state, range, vectorUnit));
  if (inOrder && (vectorUnit || cost.unit == Unit::Matrix))
    begin = std::max(begin, state.vectorFree);

  if (!inOrder) {
    // All of a block's instructions are issued before the block ends.
    if (cost.unit == Unit::Branch || cost.special == Special::Barrier)
      begin = std::max(
          {begin, state.flow + state.turns, state.flow + state.vectorTurns});
    state.turns += turnCycles;
    if (vectorUnit)
      state.vectorTurns += cost.cycles;
    end = std::max(end, state.flow + state.turns);
  }

  // When the result is there for instructions of the vector unit, and for
  // others.
  double forVector = begin + cost.cycles, forOthers = forVector;
  bool memory = false;
  switch (cost.unit) {
  case Unit::Vector:
    forOthers = begin + std::max(double(cost.cycles), p.vectorToScalar);
    state.vectorFree = begin + cost.cycles;
    break;
  case Unit::LDS: {
    // What the words that it loads were stored by.
    auto ofLDS = [&](auto use) {
      for (unsigned i = 0; record && i < record->count; ++i) {
        const MemoryAccess &access = record->access[i];
        if (access.space != AccessSpace::LDS)
          continue;
        for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
          uint64_t first = access.address[llvm::countr_zero(rest)];
          for (uint64_t word = first / 4; word < (first + access.bytes + 3) / 4;
               ++word)
            if (word < stored.size())
              use(access, stored[word]);
        }
      }
    };
    ofLDS([&](const MemoryAccess &access, double &time) {
      if (!access.write || access.returns)
        begin = std::max(begin, time);
    });
    double latency = p.ldsLatency, port = turnCycles;
    for (unsigned i = 0; record && i < record->count; ++i)
      if (record->access[i].space == AccessSpace::LDS) {
        LDSAccessCost of =
            ldsAccessCost(target, p, record->access[i], cost.storesToLDS);
        latency = std::max(latency, of.latency);
        port = std::max(port, of.portCycles);
      }
    ofLDS([&](const MemoryAccess &access, double &time) {
      if (access.write)
        time = std::max(time, begin + port);
    });
    forVector = forOthers = begin + latency;
    memory = true;
    break;
  }
  case Unit::ScalarMemory:
    forVector = forOthers = begin + p.scalarL1Latency;
    memory = true;
    break;
  case Unit::VectorMemory: {
    // As if all that is loaded were in the nearest cache.
    bool through = false;
    for (unsigned i = 0; record && i < record->count; ++i)
      through |= record->access[i].lanes && record->access[i].write;
    forVector = forOthers = begin + (through ? p.l2Latency : p.vectorL1Latency);
    memory = true;
    break;
  }
  case Unit::Matrix:
  case Unit::Scalar:
  case Unit::Branch:
  case Unit::Internal:
    break;
  }
  bool merged = wave.exec != ~uint64_t(0);
  for (const RegisterRange &range : use.writes)
    write(state, range, forVector, forOthers, merged);
  if (memory) {
    if (cost.unit == Unit::VectorMemory) {
      // The count falls in order.
      if (!state.vectorMemory.empty())
        forVector = std::max(forVector, state.vectorMemory.back());
      state.vectorMemory.push_back(forVector);
    }
    if (cost.unit != Unit::VectorMemory || cost.flat)
      state.others.push_back(forVector);
  }
  end = std::max(end, forVector);

  // How control goes on.
  double next = inOrder ? begin + turnCycles : state.flow;
  if (cost.unit == Unit::Branch) {
    next = begin + (wave.pc != index + 1 ? std::max(p.branchTaken, turnCycles)
                                         : turnCycles);
    state.turns = state.vectorTurns = 0;
  }
  if (cost.special == Special::Waitcnt) {
    state.waited =
        std::max({state.waited, begin, waitTime(state, cost.immediate)});
    if (inOrder)
      next = state.waited + turnCycles;
  }
  if (inOrder && cost.special == Special::Nop)
    next = begin + turnCycles * ((cost.immediate & 15) + 1);
  if (cost.special == Special::Sleep)
    next = begin + 64 * (cost.immediate & 127);
  state.flow = std::max(state.flow, next);
  if (wave.status == WaveStatus::AtBarrier) {
    state.atBarrier = true;
    state.turns = state.vectorTurns = 0;
    state.flow = std::max({state.flow, begin, state.waited});
  }
}

void DependencyChain::barrier() {
  double last = 0;
  for (const WaveState &state : states)
    if (state.atBarrier)
      last = std::max(last, inOrder ? state.flow - turnCycles : state.flow);
  for (WaveState &state : states)
    if (state.atBarrier) {
      state.flow = last + p.barrier;
      state.atBarrier = false;
    }
}
