//===- ComputeUnitModel.h - Issue and pipelines of one CU -------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One compute unit (CU): four SIMDs with their wavefronts. Each SIMD has its
/// turn every four cycles and may then issue one instruction of each kind, each
/// from another wavefront, the oldest first. The instruction is executed when
/// it is issued, so that addresses are real and what follows from memory (loops
/// until another wavefront has written, say) happens in the order of the model.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_TIMING_COMPUTEUNITMODEL_H
#define WAVESMITH_LIB_SIMULATOR_TIMING_COMPUTEUNITMODEL_H

#include "../WorkgroupExecution.h"
#include "MemoryModel.h"
#include <deque>

namespace wavesmith::sim {

/// A SIMD has its turn every so many cycles, and a wavefront of 64 lanes passes
/// a SIMD of 16 in as many.
constexpr double turnCycles = 4;

/// The unit that executes an instruction.
enum class Unit : uint8_t {
  Vector,
  Matrix,
  Scalar,
  ScalarMemory,
  LDS,
  VectorMemory,
  Branch,
  /// Done by the instruction buffer: waits, s_nop, s_setprio, s_barrier.
  Internal,
};
constexpr unsigned numUnits = 8;

/// What the model needs to know of an instruction, once for a code object.
struct InstructionCost {
  enum class Special : uint8_t { None, Waitcnt, Nop, Sleep, Priority, Barrier };
  Unit unit;
  Special special;
  /// Cycles that the instruction takes its unit.
  uint16_t cycles;
  /// Cycles that it takes the SIMD's vector unit, which a matrix instruction
  /// leaves earlier.
  uint16_t vectorCycles;
  /// Cycles from a matrix instruction to the SIMD's next packed f32
  /// instruction or dot product.
  uint16_t packedCycles;
  /// Counts in lgkmcnt as well as in vmcnt.
  bool flat;
  /// A packed f32 instruction or a dot product.
  bool packed;
  /// L2 keeps what this accesses no longer than it must.
  bool nonTemporal;
  bool storesToLDS;
  /// ds_permute, ds_bpermute, ds_swizzle: lanes exchange a word each through
  /// LDS, which neither reads nor writes its memory.
  bool exchangesLanes;
  /// The name counts, for the instructions of SIMM16.
  uint16_t immediate;
};

std::vector<InstructionCost>
instructionCosts(const detail::CodeObjectImage &image);

/// Cycles that the banks of LDS need for one access, and those of them that
/// conflicts add: lanes are served in groups that could fill all banks, and
/// each distinct word of a bank takes a cycle.
struct LDSCycles {
  unsigned all = 0, conflicts = 0;
};
LDSCycles ldsCycles(const TargetInfo &target, const MemoryAccess &access);

/// What one access of LDS takes when nothing else does: cycles of the port of a
/// pair of SIMDs, of the banks, and until the result is there.
struct LDSAccessCost {
  LDSCycles banks;
  double portCycles = 0, latency = 0;
};
LDSAccessCost ldsAccessCost(const TargetInfo &target,
                            const TimingParameters &parameters,
                            const MemoryAccess &access, bool store);
/// The same for an exchange between lanes. Nothing is published of its cost:
/// the model takes that of a load of a word a lane without conflicts.
LDSAccessCost ldsExchangeCost(const TargetInfo &target,
                              const TimingParameters &parameters);

/// The outstanding accesses that an s_waitcnt allows: of vector memory, and of
/// LDS and scalar memory.
struct VectorAndOtherCounts {
  unsigned vector, others;
};
VectorAndOtherCounts decodeWaitcnt(uint16_t immediate);

class DependencyChain;

class ComputeUnitModel {
public:
  /// Where the next workgroup of the CU comes from.
  using NextWorkgroup = std::function<std::optional<uint64_t>()>;

  ComputeUnitModel(const Dispatch &dispatch, const TargetInfo &target,
                   const TimingParameters &parameters,
                   llvm::ArrayRef<InstructionCost> costs, MemoryModel &memory,
                   unsigned workgroupSlots, Observer *observer,
                   bool followDependencies = false);
  ~ComputeUnitModel();

  /// Advances until a cycle, or until all workgroups have ended. Fails as the
  /// execution does.
  llvm::Error advance(double until, const NextWorkgroup &next);
  bool idle() const { return residentWorkgroups == 0; }

  double now = 0;
  uint64_t issued = 0;
  /// Instructions issued by each slot's workgroup, for the neighbours' pace.
  std::vector<uint64_t> issuedBySlot;
  /// When each workgroup ended, in order, and what was issued until then.
  std::vector<std::pair<double, uint64_t>> completions;
  std::vector<InstructionTiming> timings;
  std::array<double, numUnits> busy = {};
  uint64_t ldsBusy = 0, ldsConflicts = 0;
  /// Cycles of all ports of LDS.
  double ldsPortBusy = 0;
  /// The longest chains of a workgroup, if they are followed.
  double longestDependencies = 0, longestInOrder = 0;
  /// Integral of the resident wavefronts over time.
  double waveCycles = 0;
  void addCounters(Counters &counters, std::vector<uint64_t> &hits);

private:
  struct PendingRange {
    RegisterRange range;
    double ready;
  };
  struct PendingScalar {
    double ready;
    /// Scalar loads come back out of order.
    bool scalar;
  };
  struct WaveState {
    Wave *wave = nullptr;
    unsigned slot = 0;
    uint64_t age = 0;
    /// Not before this can it issue, and why.
    double ready = 0;
    StallReason reason = StallReason::Arbitration;
    /// When it could have issued had nothing been in the way.
    double since = 0;
    unsigned priority = 0;
    uint64_t instructionLine = ~uint64_t(0);
    std::deque<double> vectorMemory;
    llvm::SmallVector<PendingScalar, 8> other;
    llvm::SmallVector<PendingRange, 4> pending;
  };
  struct SIMD {
    llvm::SmallVector<WaveState *, 8> waves;
    double vectorFree = 0, matrixFree = 0;
    /// When matrix instructions let others begin: vector instructions, and
    /// those of them that share more with the matrix unit.
    double vectorHeld = 0, packedHeld = 0;
  };
  struct Slot {
    std::unique_ptr<WorkgroupExecution> execution;
    std::vector<WaveState> states;
    /// Without and with the order of a wavefront's instructions; null where
    /// they are not followed.
    std::unique_ptr<DependencyChain> dependencies, inOrder;
    bool active = false;
    double freeAt = 0;
  };

  void start(unsigned slot, uint64_t number);
  llvm::Error finish(unsigned slot);
  /// Gives the SIMD its turn; whether anything was issued.
  llvm::Expected<bool> turn(unsigned simd, double t);
  /// Whether the wavefront can issue at a time; if not, sets ready and reason.
  bool canIssue(WaveState &state, SIMD &simd, double t);
  llvm::Error issue(WaveState &state, SIMD &simd, double t);
  double waitTime(const WaveState &state, uint16_t immediate,
                  StallReason &reason) const;
  void accessMemory(WaveState &state, unsigned simd,
                    const InstructionCost &cost, uint32_t index,
                    const AccessRecord *record, double t);

  const Dispatch &dispatch;
  const TargetInfo &target;
  const TimingParameters &p;
  llvm::ArrayRef<InstructionCost> costs;
  MemoryModel &memory;
  Cache instructionCache;
  std::vector<Slot> slots;
  std::vector<SIMD> simds;
  /// A pair of SIMDs shares a port of LDS; all share the banks.
  std::vector<Server> ldsPorts;
  Server ldsBanks;
  unsigned residentWorkgroups = 0;
  unsigned residentWaves = 0;
  uint64_t nextAge = 0;
  bool dispatching = true;
};

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_TIMING_COMPUTEUNITMODEL_H
