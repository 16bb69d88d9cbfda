//===- WorkgroupExecution.h - One workgroup at a time -----------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A prepared launch, and the execution of its workgroups: whole, or one
/// instruction of one wavefront at a time under the control of a driver.
///
/// A driver with its own order of wavefronts (several workgroups may be alive,
/// each with its own WorkgroupExecution):
/// \code
///   auto dispatch = prepareLaunch(object, memory, parameters);
///   PinnedEnvironment environment;
///   WorkgroupExecution execution(**dispatch, observer);
///   execution.begin(number);
///   while (!execution.ended() && !execution.failed()) {
///     // for some wave with status Running:
///     const AccessRecord *accesses = execution.step(wave);
///     // the instruction was wave.current
///     if (execution.barrierComplete())
///       execution.releaseBarrier();
///   }
///   if (Error error = execution.end())
///     ...
/// \endcode
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_WORKGROUPEXECUTION_H
#define WAVESMITH_LIB_SIMULATOR_WORKGROUPEXECUTION_H

#include "HangDetector.h"
#include "Machine.h"
#include "llvm/ADT/DenseSet.h"
#include <cfenv>

namespace wavesmith::sim {

/// What all workgroups of a launch share. Immutable once prepared; refers to
/// the code object, the memory and the parameters that it was made from.
struct Dispatch {
  Dispatch(const CodeObject &object, const detail::CodeObjectImage &image,
           const KernelInfo &kernel, const KernelCode &code,
           const LaunchParameters &parameters)
      : object(object), image(image), kernel(kernel), code(code),
        parameters(parameters) {}

  const CodeObject &object;
  const detail::CodeObjectImage &image;
  const KernelInfo &kernel;
  const KernelCode &code;
  const LaunchParameters &parameters;
  MemoryView view;
  uint64_t imageBase = 0;
  uint64_t kernargAddress = 0;
  uint64_t packetAddress = 0;
  std::vector<uint8_t> kernarg;
  std::array<uint8_t, 64> packet = {};
  /// The index of the first instruction.
  uint32_t entry = 0;
  uint32_t ldsBytes = 0;
  uint32_t scratchPerLane = 0;
  /// Work-items and wavefronts of a workgroup.
  uint32_t threads = 0;
  uint32_t waves = 0;
  /// Workgroups of the launch.
  uint64_t workgroups = 0;
};

/// Checks a launch and lays out its memory. Errors as launch has them, apart
/// from those in execution.
llvm::Expected<std::unique_ptr<Dispatch>>
prepareLaunch(const CodeObject &object, Memory &memory,
              const LaunchParameters &parameters);

/// The parameters of a launch with the budget of its checker, if it has one,
/// which needs a list for its findings.
llvm::Expected<LaunchParameters>
parametersOfCheck(const LaunchParameters &parameters);

/// Adds to counters what follows from how often each instruction was issued,
/// and notes the opcodes where the launch asks for them.
void countLaunch(const Dispatch &dispatch, llvm::ArrayRef<uint64_t> hits,
                 Counters &counters);

/// Runs all workgroups that are not done by so many host threads, and adds to
/// the counters and to how often each instruction was issued. The error is that
/// of the first workgroup that fails. An observer sees them one after the
/// other: one host thread runs them.
llvm::Error runWorkgroups(const Dispatch &dispatch,
                          const llvm::DenseSet<uint64_t> &done,
                          unsigned threads, Counters &counters,
                          std::vector<uint64_t> &hits,
                          Observer *observer = nullptr);

/// The host's floating-point environment for the time of a launch: round to
/// nearest, denormals kept, nothing trapped. For each thread that executes.
class PinnedEnvironment {
public:
  PinnedEnvironment() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PinnedEnvironment() { std::fesetenv(&saved); }

private:
  std::fenv_t saved;
};

/// The state of one workgroup, reused for workgroup after workgroup. Not
/// shared between threads.
class WorkgroupExecution {
public:
  /// With an observer every run is an observed one.
  explicit WorkgroupExecution(const Dispatch &dispatch,
                              Observer *observer = nullptr);
  WorkgroupExecution(const WorkgroupExecution &) = delete;

  /// Runs one workgroup to its end: begin, all its instructions, end.
  llvm::Error run(uint64_t number);

  /// Sets up the wavefronts of a workgroup.
  void begin(uint64_t number);
  /// Executes exactly one instruction of a wavefront, which must be Running.
  /// Returns what it accessed in memory, null for nothing; valid until the
  /// next step. Afterwards Wave::current is the instruction's index and
  /// Wave::status tells how it went on.
  const AccessRecord *step(Wave &wave);
  /// Whether all wavefronts that have not ended wait at the barrier, and one
  /// does.
  bool barrierComplete() const;
  /// Lets those that wait go on.
  void releaseBarrier();
  bool ended() const;
  /// The first wavefront that failed, null for none.
  const Wave *failed() const { return failedWave; }
  /// Whether it failed because it would not have ended.
  bool hangs() const { return hanging; }
  /// Says that no other workgroup runs meanwhile: what this one reads, it
  /// alone can change.
  void setAlone(bool value) { alone = value; }
  /// Accounts for the workgroup; the error of the wavefront that failed.
  llvm::Error end();

  const Dispatch &dispatch;
  llvm::MutableArrayRef<Wave> waves() { return waveStates; }
  Workgroup &workgroup() { return group; }
  uint64_t number() const { return currentNumber; }
  std::array<uint32_t, 3> id() const { return currentID; }

  /// Of all workgroups run so far.
  Counters counters;
  const std::vector<uint64_t> &instructionHits() const { return hits; }

private:
  void setUp(Wave &wave, uint32_t index);
  /// Notices the end of the budget and the first failure.
  void settle(Wave &wave);
  /// Instructions that the workgroup has issued.
  uint64_t issued() const { return limit - group.remaining; }

  /// Aligned for the host's vector loads.
  struct alignas(64) Registers {
    uint32_t words[vectorRegisters][lanesPerWave];
  };

  Observer *observer;
  Workgroup group;
  AccessRecord record;
  uint64_t currentNumber = 0;
  std::array<uint32_t, 3> currentID = {0, 0, 0};
  const Wave *failedWave = nullptr;
  std::vector<Wave> waveStates;
  std::vector<std::unique_ptr<Registers>> registers;
  std::vector<uint8_t> scratch;
  std::vector<uint64_t> hits;
  HangDetector detector;
  bool hanging = false, alone = false;
  /// Instructions that the workgroup may issue, and after how many it is
  /// watched next.
  uint64_t limit = 0, nextWatch = 0;
};

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_WORKGROUPEXECUTION_H
