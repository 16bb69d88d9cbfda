//===- HangDetector.h - Loops in which nothing changes ----------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds a workgroup that has come back to a state that it had before: the
/// same registers, LDS, private memory, and contents of all global memory that
/// it writes. Such a workgroup goes round for ever unless another one changes
/// what it reads.
///
/// From time to time a workgroup is watched for a bounded number of
/// instructions. In the first half what it writes is collected, since only
/// that can change; then its state is kept, and compared whenever the same
/// instruction comes up again.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_HANGDETECTOR_H
#define WAVESMITH_LIB_SIMULATOR_HANGDETECTOR_H

#include "Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace wavesmith::sim {

class HangDetector {
public:
  /// After so many instructions of a workgroup it is watched for the first
  /// time, and then whenever their number has doubled.
  static constexpr uint64_t firstWatch = uint64_t(1) << 22;

  void begin();
  void stop() { phase = Phase::Idle; }
  bool watching() const { return phase != Phase::Idle; }

  /// Takes note of an instruction of one wavefront and what it accessed (null
  /// for nothing). True if the state of the workgroup is one that it had
  /// before, and nothing but another workgroup can change it.
  bool observe(llvm::ArrayRef<Wave> waves, const Wave &stepped,
               llvm::ArrayRef<uint8_t> scratch, const AccessRecord *record);

  /// Whether the loop reads global memory, which other workgroups may write.
  bool readsGlobalMemory() const { return readsGlobal; }
  /// Instructions from one state to the same one.
  uint64_t period() const { return steps; }

private:
  enum class Phase : uint8_t { Idle, Collecting, Comparing };

  /// Notes the accesses; false where they are more than can be followed.
  bool note(const Wave &wave, const AccessRecord &record);
  void keep(llvm::ArrayRef<Wave> waves, const Wave &anchor,
            llvm::ArrayRef<uint8_t> scratch);
  bool same(llvm::ArrayRef<Wave> waves, llvm::ArrayRef<uint8_t> scratch) const;

  /// A wavefront's registers and what else decides how it goes on.
  struct State {
    uint32_t scalar[scalarRegisters + 16];
    std::vector<uint32_t> vector;
    bool scc, gprIndexing;
    uint8_t gprIndexMode;
    WaveStatus status;
    uint32_t mode, pc;
    uint64_t clock;
  };

  Phase phase = Phase::Idle;
  uint64_t steps = 0;
  bool readsGlobal = false;
  uint32_t anchor = 0;
  std::vector<State> states;
  std::vector<uint8_t> lds, scratchKept;
  /// Bytes of global memory that the workgroup writes, and their contents.
  llvm::DenseMap<const uint8_t *, uint8_t> written;
};

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_HANGDETECTOR_H
