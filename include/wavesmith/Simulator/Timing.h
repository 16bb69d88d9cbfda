//===- Timing.h - Modelled time of a launch ---------------------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A cycle-approximate model of a launch. One compute unit (CU) is modelled in
/// detail while its neighbours on the die execute at the same pace to fill the
/// caches that they share; the device follows by scaling. No figure from here
/// was measured on a GPU, and none may be reported as if it were.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_SIMULATOR_TIMING_H
#define WAVESMITH_SIMULATOR_TIMING_H

#include "wavesmith/Simulator/Simulator.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

namespace wavesmith::sim {

/// One number of the model.
struct TimingParameter {
  /// What it is, in lower case with underscores, and its unit at the end.
  llvm::StringRef name;
  double value;
  /// Where it comes from; for fitted ones, what they were fitted to.
  llvm::StringRef source;
  /// Neither published nor measured: chosen so that the rows of the first
  /// group of bench-fidelity come out.
  bool fitted;
};

struct TimingOptions {
  /// The chip, as in the table of targets ("mi300x"); empty for the default of
  /// the code object's architecture.
  std::string chip;
  /// Multiplies every fitted parameter, to see how far results depend on them.
  double fittedScale = 1.0;
  /// Instructions that are modelled in detail; after so many, no workgroup is
  /// started any more, and the rest is extrapolated.
  uint64_t detailedInstructions = 20'000'000;
  /// Instructions that neighbouring CUs execute for the state of the caches.
  uint64_t neighbourInstructions = 20'000'000;
  /// Without it, only the workgroups that the model looks at are executed, and
  /// memory holds only their results. Counters are then those of the compute
  /// unit that is modelled in detail: its neighbours stop in the middle.
  bool executeRest = true;
  /// Finds the longest chains of dependent instructions too
  /// (TimingReport::bounds), which takes about as long as the model.
  bool followDependencies = false;
  /// How much work each workgroup is, by its number and in any unit, for
  /// launches whose workgroups differ too much for the modelled ones to stand
  /// for all. Workgroups go to the compute unit that has a slot free first by
  /// it, the compute unit with the most of it is modelled, and what is not
  /// modelled in detail is extrapolated by it. Without it, workgroups are alike
  /// and go to the compute units in turn.
  std::function<double(uint64_t)> work;
};

/// What a wavefront waits for between two of its instructions.
enum class StallReason : uint8_t {
  VectorMemory, ///< s_waitcnt vmcnt
  LDSOrScalar,  ///< s_waitcnt lgkmcnt
  Dependency,   ///< the result of an MFMA, or of a VALU in a scalar register
  PipeBusy,     ///< the unit that executes the instruction is taken
  Arbitration,  ///< another wavefront of the SIMD was served
  Barrier,
  Fetch, ///< a branch, or a miss of the instruction cache
  Sleep, ///< s_nop, s_sleep
};
constexpr unsigned numStallReasons = 8;
llvm::StringRef stringify(StallReason reason);

/// One instruction of the code, summed over the wavefronts modelled in detail.
struct InstructionTiming {
  /// Address in the ELF, the instruction's text, and file:line:column, which is
  /// empty where the code object has no line for it.
  uint64_t address;
  std::string text;
  std::string source;
  uint64_t issued;
  /// Cycles that wavefronts waited before it, in all and by reason.
  uint64_t stallCycles;
  std::array<uint64_t, numStallReasons> stallsByReason;
};

/// How much of what a part could do at most was used, over the whole launch.
struct ResourceShare {
  /// "VALU", "MFMA", "scalar ALU", "LDS", "vector L1", "L2", "Infinity Cache",
  /// "HBM", "issue".
  llvm::StringRef name;
  /// From 0 to 1.
  double share;
};

/// Cycles that the modelled CU needs at least for the workgroups that were
/// modelled in detail, by what of the model alone. docs/ladder.md has the
/// formulas.
struct LowerBounds {
  /// The ports and banks of LDS, conflicts counted.
  double lds = 0;
  /// The unit of the SIMDs that is taken longest, evenly over the SIMDs.
  double issue = 0;
  /// The longest chain of dependent instructions of a workgroup, and the same
  /// with the order of each wavefront's instructions and its waits as further
  /// dependencies. 0 where TimingOptions::followDependencies is not set.
  double dependencies = 0, inOrder = 0;
};

/// The modelled time of one launch, and where it goes.
struct TimingReport {
  std::string chip;
  std::string kernel;
  /// Modelled cycles of the device's clock from the first to the last
  /// wavefront, and the same in seconds. The start of a kernel by the host is
  /// not included.
  double cycles = 0;
  double seconds = 0;
  /// Peak clock that seconds are based on.
  double clockHz = 0;
  /// Cycles that were modelled in detail; less than cycles where the rest is
  /// extrapolated.
  uint64_t detailedCycles = 0;
  bool extrapolated = false;
  uint64_t workgroupsOfCU = 0;
  /// The work of a compute unit, as a mean over the device, over that of the
  /// modelled one, which has the most: TimingOptions::work, or else the number
  /// of workgroups. Shares of units are those of the modelled one.
  double balance = 1;
  uint64_t detailedWorkgroups = 0;
  unsigned wavesPerSIMD = 0;
  std::string occupancyLimit;
  /// Wavefronts resident on the modelled CU, averaged over time, over its
  /// slots; from 0 to 1.
  double achievedOccupancy = 0;
  /// Instructions a cycle of the CU.
  double instructionsPerCycle = 0;
  /// Sorted, the largest first.
  std::vector<ResourceShare> shares;
  /// The resource with the largest share if that is above one half, else
  /// "latency: " and the largest stall reason.
  std::string limit;
  /// Hits over accesses, of the modelled CU (vector L1, scalar L1) and of it
  /// and its neighbours (L2, Infinity Cache); negative where there were none.
  double vectorL1HitRate = -1, scalarL1HitRate = -1, l2HitRate = -1,
         infinityCacheHitRate = -1;
  /// Bytes from and to HBM, of the whole launch; scaled from the modelled CU,
  /// as what follows.
  double hbmBytesRead = 0, hbmBytesWritten = 0;
  double l2Requests = 0, l2Misses = 0;
  /// Cycles of LDS of all CUs, and those of them that bank conflicts added.
  double ldsCycles = 0, ldsConflictCycles = 0;
  LowerBounds bounds;
  /// Workgroups that the modelled CU had at the same time, at most.
  unsigned residentWorkgroups = 0;
  std::array<uint64_t, numStallReasons> stallsByReason = {};
  /// In the order of addresses; instructions that were not reached left out.
  std::vector<InstructionTiming> instructions;
  std::vector<TimingParameter> parameters;

  llvm::json::Value toJSON() const;
  /// A summary, then the instructions with the most stalls beside their
  /// disassembly.
  void print(llvm::raw_ostream &os, unsigned hotSpots = 20) const;
};

/// The busiest resource where it is busy for more than half of the time, else
/// the reason for which wavefronts waited longest.
std::string limitOf(llvm::ArrayRef<ResourceShare> shares,
                    const std::array<uint64_t, numStallReasons> &stalls);

/// A counter under the name that AMD's rocprof gives it.
struct RocprofCounter {
  std::string name;
  double value;
};

/// The counters that a launch has: those of instructions, from
/// LaunchParameters::instructionUse, and, with a timing report, those of the
/// model. A counter that the simulator does not model is not there.
std::vector<RocprofCounter>
rocprofCounters(const Counters &counters, llvm::ArrayRef<InstructionUse> use,
                const TimingReport *timing = nullptr);

/// As rocprof writes them: a header, and one line for the kernel.
void printCSV(llvm::raw_ostream &os, llvm::StringRef kernel,
              llvm::ArrayRef<RocprofCounter> counters);

/// Executes a launch as launch() does, with the same results and counters, and
/// models its time on the way. Errors are those of launch(), and a chip that
/// is not known or not of the code object's architecture.
///
/// The report depends on nothing but the arguments: not on the number of
/// threads, which only execute the workgroups that are not modelled.
llvm::Expected<std::pair<Counters, TimingReport>>
launchTimed(const CodeObject &object, Memory &memory,
            const LaunchParameters &parameters, const TimingOptions &options,
            unsigned threads = 1);

} // namespace wavesmith::sim

#endif // WAVESMITH_SIMULATOR_TIMING_H
