//===- Checker.h - The observer behind checked launches ---------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Shadow state of registers and memory, the queues of outstanding memory
/// instructions and the order between accesses. docs/simulator.md describes
/// the rules.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_CHECKER_H
#define WAVESMITH_LIB_SIMULATOR_CHECKER_H

#include "SourceLines.h"
#include "WorkgroupExecution.h"
#include "wavesmith/Simulator/Checker.h"
#include <deque>
#include <map>
#include <unordered_map>

namespace wavesmith::sim {

class Checker final : public Observer {
public:
  /// The dispatch must outlive the checker. Findings are appended.
  Checker(const Dispatch &dispatch, const CheckOptions &options,
          std::vector<Finding> &findings);
  ~Checker() override;

  bool tolerant() const override { return true; }
  void workgroupBegin(WorkgroupExecution &execution) override;
  void workgroupEnd(WorkgroupExecution &execution) override;
  void waveBegin(Wave &wave) override;
  void before(Wave &wave, const Instruction &instruction,
              uint32_t index) override;
  void after(Wave &wave, const Instruction &instruction, uint32_t index,
             const AccessRecord *record) override;
  void barrier(WorkgroupExecution &execution) override;

private:
  //===--- Definedness ----------------------------------------------------===//

  enum class Rule : uint8_t {
    None,
    Strict,         ///< defined where all sources are
    LowFirst,       ///< 64 bits; the low dword comes from low dwords alone
    HighFirst,      ///< 64 bits; the high dword comes from high dwords alone
    Copy,           ///< dword by dword
    PackedF32,      ///< two dwords by op_sel
    PackedMove,     ///< v_pk_mov_b32
    Select,         ///< v_cndmask
    AnySource,      ///< parts of several sources put together
    ReadFirstLane,  ///
    ReadLane,       ///
    WriteLane,      ///
    Swap,           ///
    Matrix,         ///
    ScalarStrict,   ///
    ScalarCopy,     ///
    ScalarLogic,    ///< bit by bit
    ScalarSelect,   ///
    ScalarMove,     ///< s_cmov: conditional
    ScalarRelative, ///< s_movrel
    SaveExec,       ///
    WriteExec,      ///
    BranchSCC,
    BranchVCC,
    BranchRegister,
    Memory,      ///< vector memory and LDS
    Permute,     ///< ds_bpermute, ds_permute, ds_swizzle
    ScalarMemory ///
  };
  enum class Logic : uint8_t { And, Or, Xor };

  /// What an instruction means for the shadow state; made once a launch.
  struct Plan {
    Rule rule = Rule::None;
    Logic logic = Logic::And;
    bool computes = true;
    /// Shifts of 64 bits: 1 left, -1 right, the latter with the sign or zeros.
    int8_t shifts = 0;
    bool arithmetic = false;
    bool invertFirst = false, invertSecond = false, invertResult = false;
    /// Between memory and LDS, past the registers.
    bool direct = false;
    bool writesSCC = false, readsSCC = false, writesExec = false;
    /// The first register that the kernel does not have; -1 for none.
    int16_t notAllocated = -1;
    bool notAllocatedVector = false;
    /// A scalar pair that is read or written lane by lane; -1 for none.
    int16_t maskRead = -1, maskWrite = -1;
    uint8_t vectorCount = 0, scalarCount = 0, resultCount = 0;
    uint16_t result = 0;
    uint16_t vector[12];
    uint8_t scalar[8];
    /// Registers, vector ones first, that must not be pending.
    uint32_t uses = 0;
    uint16_t vectorUses = 0, scalarUses = 0;
  };

  /// Where an undefined value comes from.
  struct Origin {
    enum Kind : uint8_t { Register, LDS, Global, Scratch };
    Kind kind = Register;
    /// Whether arithmetic was done with it since.
    bool computed = false;
    /// The instruction that read it from memory, and the address.
    uint32_t index = 0;
    uint64_t address = 0;
  };

  //===--- Order of accesses ----------------------------------------------===//

  /// A stretch of a wavefront's execution without barrier or atomic.
  struct Segment {
    uint64_t group = 0;
    uint32_t wave = 0;
    uint32_t epoch = 0;
    /// Atomics done before, by the wavefront and by its workgroup.
    uint32_t waveAtomics = 0, groupAtomics = 0;
    /// Of accesses that were outstanding when the barrier was reached.
    bool late = false;
  };
  /// The last accesses of a dword. Masks have a bit for each byte.
  struct Cell {
    uint32_t writeSegment = 0, readSegment = 0;
    uint32_t writeIndex = 0, readIndex = 0;
    /// Of LDS: the dword's contents after the last write.
    uint32_t written = 0;
    uint8_t writeMask = 0, readMask = 0;
    /// Others have read it concurrently: 1 in the workgroup, 2 beyond.
    uint8_t readMany = 0;
    bool writeAtomic = false;
    /// All of the reads were those of atomic variables.
    bool readAtomic = false;
    /// The bytes have been accessed apart: see Cells::apart.
    bool apart = false;
  };
  struct Cells {
    static constexpr unsigned page = 1024;
    std::vector<std::unique_ptr<Cell[]>> pages;
    std::unordered_map<uint64_t, std::array<Cell, 4>> apart;
    Cell &at(uint64_t dword) {
      auto &p = pages[dword / page];
      if (!p)
        p.reset(new Cell[page]);
      return p[dword % page];
    }
  };

  //===--- Outstanding memory instructions --------------------------------===//

  struct Outstanding {
    uint32_t index = 0;
    /// Reported: its registers are taken for written.
    bool forgotten = false;
    /// LDS that it reads or writes: for barriers and loads to LDS.
    bool ldsWrite = false, ldsDirect = false;
    uint16_t ldsBytes = 0;
    llvm::SmallVector<uint32_t, 0> ldsOffsets;
  };

  /// A read of LDS that other wavefronts' atomics have made stale since, with
  /// no barrier between. The wavefront may be one that looks again, or goes on
  /// with an atomic; else it has taken a value that is not the last one.
  struct StaleRead {
    uint32_t wave = 0, index = 0;
    uint32_t writer = 0, writeIndex = 0;
  };

  struct GroupState;
  struct WaveState {
    GroupState *group = nullptr;
    uint32_t number = 0;
    /// A bit for each lane.
    uint64_t vector[512];
    /// A bit for each bit.
    uint32_t scalar[scalarRegisters + 16];
    bool scc = false;
    Origin vectorOrigin[512];
    Origin scalarOrigin[scalarRegisters + 16];
    Origin sccOrigin;
    /// For each byte of a lane's private memory, the lanes where it is defined.
    std::vector<uint64_t> scratch;
    /// The current segment; 0 where the next access begins one.
    uint32_t segment = 0;
    bool segmentStale = false;
    uint32_t atomics = 0;
    /// Whether the last vector access to global memory since the last barrier
    /// was a store, and whether the wavefront has waited for it. Nothing but a
    /// release needs that: a store that follows is an atomic one, which gfx90a
    /// does not mark.
    bool storedLast = false, fencedStores = false;
    std::deque<Outstanding> vm, lds, unordered;
    unsigned outstanding = 0;
    /// Outstanding instructions that write the register.
    uint8_t pendingVector[512];
    uint8_t pendingScalar[scalarRegisters + 16];
    /// Under DPP: the first source as permuted, and the lanes that write.
    uint64_t permuted[2] = {0, 0};
    uint64_t enabled = 0;
  };
  struct GroupState {
    WorkgroupExecution *execution = nullptr;
    uint64_t number = 0;
    uint32_t epoch = 0;
    uint32_t atomics = 0;
    std::vector<std::unique_ptr<WaveState>> waves;
    Cells cells;
    /// By the dword of LDS, since the last barrier.
    std::map<uint64_t, StaleRead> staleReads;
    /// Whether each byte of LDS is defined.
    std::vector<uint8_t> defined;
  };

  /// How many registers a wavefront has.
  struct Allocated {
    unsigned all = 0, vector = 0, accumulation = 0, scalar = 0;
  };

  Plan planOf(uint32_t index);
  static Allocated allocatedBy(const KernelCode &code);
  int16_t firstNotAllocated(const RegisterRange &range) const;
  void reportNotAllocated(Wave &wave, uint32_t index, bool vector,
                          unsigned reg);
  void report(FindingKind kind, Wave &wave, uint32_t index, int lane,
              const llvm::Twine &message);
  std::string place(uint32_t index);
  std::string describe(const Origin &origin);

  // Registers.
  uint64_t scalarBits(WaveState &s, const Operand &o, unsigned dwords);
  uint64_t scalarValue(Wave &w, const Operand &o, unsigned dwords);
  uint64_t operandMask(WaveState &s, const Operand &o, unsigned dword,
                       Origin &origin, uint64_t wanted);
  void setVector(WaveState &s, unsigned reg, uint64_t lanes, uint64_t defined,
                 const Origin &origin);
  void setScalar(WaveState &s, unsigned reg, unsigned dwords, uint64_t bits,
                 const Origin &origin);
  bool useVector(Wave &w, uint32_t index, unsigned reg, unsigned count,
                 uint64_t lanes, const char *what);
  bool useScalar(Wave &w, uint32_t index, unsigned reg, unsigned count,
                 const char *what);
  void strict(Wave &w, WaveState &s, const Instruction &I, const Plan &p);
  void vectorRule(Wave &w, WaveState &s, const Instruction &I, const Plan &p,
                  uint32_t index);
  void scalarRule(Wave &w, WaveState &s, const Instruction &I, const Plan &p,
                  uint32_t index);
  void addressUse(Wave &w, const Instruction &I, const Plan &p, uint32_t index);
  void memoryEffect(Wave &w, const Instruction &I, const Plan &p,
                    uint32_t index, const AccessRecord &record);

  // Order.
  bool ordered(const Segment &before, const Segment &now,
               const GroupState &group) const;
  /// The conflicting instruction, or -1; touches one cell.
  int64_t touch(Cells &cells, uint64_t dword, Cell &cell, uint8_t mask,
                WaveState &s, bool write, bool atomic, uint32_t index,
                bool &otherWrote, uint32_t &otherSegment);
  int64_t touchOne(Cell &cell, uint8_t mask, WaveState &s, bool write,
                   bool atomic, uint32_t index, bool &otherWrote,
                   uint32_t &otherSegment);
  bool isAtomic(const WaveState &s, const Instruction &I,
                const MemoryAccess &access) const;
  void checkRaces(Wave &w, const MemoryAccess &access, uint32_t index,
                  bool atomic);
  void noteStaleRead(WaveState &s, const Cell &cell, uint64_t dword,
                     uint8_t mask, bool changes, uint32_t index);
  void reportStaleReads(WorkgroupExecution &execution, GroupState &group);
  bool mayServeAtomics(uint32_t readIndex);
  uint32_t newSegment(WaveState &s);
  void forgetAccesses();
  Cells *cellsOf(const Region &region);

  // Waits.
  void checkPending(Wave &w, WaveState &s, const Instruction &I, const Plan &p,
                    uint32_t index);
  void issue(WaveState &s, const Instruction &I, uint32_t index,
             const AccessRecord *record);
  void wait(WaveState &s, int64_t immediate);
  void complete(WaveState &s, const Outstanding &operation);
  void markPending(WaveState &s, uint32_t index, int change);
  void checkDirectLDS(Wave &w, WaveState &s, const MemoryAccess &access,
                      uint32_t index);

  const Dispatch &dispatch;
  const CheckOptions options;
  std::vector<Finding> &findings;
  size_t firstFinding;
  Allocated allocated;
  std::vector<Plan> plans;
  std::vector<uint16_t> uses;
  std::vector<std::unique_ptr<GroupState>> groups, spare;
  std::vector<Segment> segments;
  std::unordered_map<uint64_t, uint32_t> atomicsOfGroup;
  std::unordered_map<uint32_t, bool> servesAtomics;
  std::unordered_map<const Region *, Cells> globalCells;
  const Region *recentRegion = nullptr;
  Cells *recentCells = nullptr;
  std::map<std::pair<uint32_t, FindingKind>, size_t> known;
  SourceLines lines;
};

} // namespace wavesmith::sim

#endif // WAVESMITH_LIB_SIMULATOR_CHECKER_H
