//===- Observer.h - Watching a launch instruction by instruction -*- C++
//-*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What an observed run tells about itself: the events of a launch and the
/// addresses that each instruction accesses. A plain run pays nothing but one
/// test of a null pointer for each memory instruction.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_OBSERVER_H
#define WAVESMITH_LIB_SIMULATOR_OBSERVER_H

#include <cstdint>
#include <string>
#include <vector>

namespace wavesmith::sim {

struct Dispatch;
struct Instruction;
struct Wave;
class WorkgroupExecution;

/// Where an access goes, and what its addresses are.
enum class AccessSpace : uint8_t {
  Global,  ///< device addresses
  LDS,     ///< offsets in the workgroup's LDS
  Scratch, ///< offsets in the private memory of the lane
  Scalar,  ///< device addresses; lane 0 stands for the wavefront
};

/// The same access by several lanes.
struct MemoryAccess {
  AccessSpace space = AccessSpace::Global;
  bool write = false;
  /// A read-modify-write; write is set as well.
  bool atomic = false;
  /// Loads, and atomics that return the old value.
  bool returns = false;
  /// Bytes of a lane, contiguous.
  uint16_t bytes = 0;
  /// The lanes that access; address holds nothing for the others. Lanes that
  /// a buffer descriptor's range check turns away are not among them.
  uint64_t lanes = 0;
  uint64_t address[64];
};

/// Why an access of a lane was not done.
enum class FaultKind : uint8_t { OutOfBounds, Misaligned, ReadOnly, Other };

struct LaneFault {
  /// -1 for a scalar access.
  int lane;
  FaultKind kind;
  std::string message;
};

/// The accesses of one instruction: one for most; two for ds_read2, ds_write2
/// and loads to LDS; up to three for flat ones whose lanes go to different
/// spaces.
struct AccessRecord {
  static constexpr unsigned maximum = 4;
  unsigned count = 0;
  MemoryAccess access[maximum];
  /// With this set, a lane's bad access is noted in faults and left out (a
  /// load leaves the lane's destination as it was), and the run goes on.
  bool tolerant = false;
  bool hasFaults = false;
  std::vector<LaneFault> faults;

  // Inlined always or out of line, for the families are compiled for several
  // host instruction sets.
  __attribute__((always_inline)) void clear() {
    count = 0;
    if (hasFaults)
      clearFaults();
  }
  void addFault(int lane, FaultKind kind, std::string message);
  /// Starts another access.
  __attribute__((always_inline)) MemoryAccess &add(AccessSpace space,
                                                   bool write, bool atomic,
                                                   bool returns,
                                                   unsigned bytes) {
    MemoryAccess &a = access[count < maximum ? count++ : maximum - 1];
    a.space = space;
    a.write = write;
    a.atomic = atomic;
    a.returns = returns;
    a.bytes = static_cast<uint16_t>(bytes);
    a.lanes = 0;
    return a;
  }

private:
  void clearFaults();
};

/// Receives the events of an observed run, from the thread that executes. The
/// defaults do nothing.
class Observer {
public:
  virtual ~Observer();
  /// Whether bad accesses are noted in the AccessRecord instead of ending the
  /// run. Asked once for each WorkgroupExecution.
  virtual bool tolerant() const { return false; }
  virtual void launchBegin(const Dispatch &) {}
  virtual void launchEnd(const Dispatch &) {}
  /// All wavefronts are set up and none has executed an instruction.
  virtual void workgroupBegin(WorkgroupExecution &) {}
  /// Also called where a wavefront has failed.
  virtual void workgroupEnd(WorkgroupExecution &) {}
  virtual void waveBegin(Wave &) {}
  /// Before the instruction has any effect; EXEC is unpacked.
  virtual void before(Wave &, const Instruction &, uint32_t /*index*/) {}
  /// After its effects. The record is null where memory was not accessed.
  /// Wave::status tells whether the wavefront ended, failed or waits at the
  /// barrier.
  virtual void after(Wave &, const Instruction &, uint32_t /*index*/,
                     const AccessRecord *) {}
  /// All wavefronts that have not ended were at the barrier and go on.
  virtual void barrier(WorkgroupExecution &) {}
};

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_OBSERVER_H
