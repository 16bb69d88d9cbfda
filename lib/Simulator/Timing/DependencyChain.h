//===- DependencyChain.h - What no resource could shorten -------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The longest chain of dependent instructions of a workgroup, with the
/// latencies of the timing model and without anything that wavefronts share: as
/// if every instruction had units, ports and caches of its own. docs/timing.md
/// says what is taken for a dependency.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_TIMING_DEPENDENCYCHAIN_H
#define WAVESMITH_LIB_SIMULATOR_TIMING_DEPENDENCYCHAIN_H

#include "ComputeUnitModel.h"

namespace wavesmith::sim {

/// Follows one workgroup, instruction by instruction, in the order in which
/// they are executed.
class DependencyChain {
public:
  /// A wavefront issues one instruction a turn. In order, it does so in the
  /// order of its code, and waits where the code says so. Otherwise in any
  /// order between two branches or barriers: an instruction waits for its
  /// operands and for the branch or barrier that leads to it, and that for as
  /// many turns as there are instructions.
  DependencyChain(const Dispatch &dispatch, const TargetInfo &target,
                  const TimingParameters &parameters,
                  llvm::ArrayRef<InstructionCost> costs, bool inOrder);

  /// A workgroup begins.
  void begin();
  /// A wavefront has executed an instruction, and accessed what the record says
  /// (null for nothing).
  void executed(const Wave &wave, uint32_t index, const AccessRecord *record);
  /// All wavefronts that have not ended were at the barrier and go on.
  void barrier();
  /// The end of the longest chain of the workgroup so far, in cycles.
  double length() const { return end; }

private:
  struct WaveState {
    /// When control has come to the next instruction.
    double flow = 0;
    /// Turns of the instructions since then, and those of the vector unit.
    double turns = 0, vectorTurns = 0;
    /// What the waits so far have waited for.
    double waited = 0;
    /// In order: when the wavefront's last vector instruction is through.
    double vectorFree = 0;
    /// When a register has its value. Vector instructions see what one of them
    /// has written to a scalar register earlier than others do.
    std::vector<double> vector, scalarForVector, scalarForOthers;
    double scc = 0, mode = 0;
    /// Ends of memory accesses, as waits count them.
    std::deque<double> vectorMemory;
    llvm::SmallVector<double, 16> others;
    bool atBarrier = false;
  };

  double readyAt(const WaveState &state, const RegisterRange &range,
                 bool vectorUnit) const;
  void write(WaveState &state, const RegisterRange &range, double forVector,
             double forOthers, bool merged);
  double waitTime(WaveState &state, uint16_t immediate) const;

  const Dispatch &dispatch;
  const TargetInfo &target;
  const TimingParameters &p;
  llvm::ArrayRef<InstructionCost> costs;
  bool inOrder;
  std::vector<WaveState> states;
  /// When each word of LDS was stored.
  std::vector<double> stored;
  double end = 0;
};

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_TIMING_DEPENDENCYCHAIN_H
