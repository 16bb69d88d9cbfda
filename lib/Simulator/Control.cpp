//===- Control.cpp - Branches, barriers and the state of a wavefront ----===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

uint64_t addressOfNext(Wave &w) {
  const detail::CodeObjectImage &object = *w.group->object;
  return w.group->imageBase + object.addressOf(w.current) +
         object.instructions[w.current].bytes;
}

void jumpTo(Wave &w, uint64_t address) {
  int32_t index = w.group->object->indexAt(address - w.group->imageBase);
  if (index < 0) {
    fail(w, "jumps to 0x" + llvm::Twine::utohexstr(address) +
                ", where no instruction of the code object starts");
    return;
  }
  w.pc = static_cast<uint32_t>(index);
}

ALWAYS_INLINE void branch(Wave &w, const Instruction &I) {
  if (I.target < 0) {
    fail(w, "branches to a place where no instruction starts");
    return;
  }
  w.pc = static_cast<uint32_t>(I.target);
}

void sBranch(Wave &w, const Instruction &I) { branch(w, I); }
void branchSCC0(Wave &w, const Instruction &I) {
  if (!w.scc)
    branch(w, I);
}
void branchSCC1(Wave &w, const Instruction &I) {
  if (w.scc)
    branch(w, I);
}
void branchVCCZ(Wave &w, const Instruction &I) {
  if (w.read64(sgprVCC) == 0)
    branch(w, I);
}
void branchVCCNZ(Wave &w, const Instruction &I) {
  if (w.read64(sgprVCC) != 0)
    branch(w, I);
}
void branchEXECZ(Wave &w, const Instruction &I) {
  if (w.read64(sgprEXEC) == 0)
    branch(w, I);
}
void branchEXECNZ(Wave &w, const Instruction &I) {
  if (w.read64(sgprEXEC) != 0)
    branch(w, I);
}
void getPC(Wave &w, const Instruction &I) {
  setS64(w, I.dst, addressOfNext(w));
}
void setPC(Wave &w, const Instruction &I) { jumpTo(w, s64(w, I.src[0])); }
void swapPC(Wave &w, const Instruction &I) {
  uint64_t target = s64(w, I.src[0]);
  setS64(w, I.dst, addressOfNext(w));
  jumpTo(w, target);
}
void call(Wave &w, const Instruction &I) {
  setS64(w, I.dst, addressOfNext(w));
  branch(w, I);
}
void nothing(Wave &, const Instruction &) {}
void endProgram(Wave &w, const Instruction &) { w.status = WaveStatus::Ended; }
void barrier(Wave &w, const Instruction &) { w.status = WaveStatus::AtBarrier; }
void trap(Wave &w, const Instruction &I) {
  fail(w, "trap " + llvm::Twine(I.imm) +
              " is taken (the program has stopped itself)");
}

//===----------------------------------------------------------------------===//
// Indexed registers
//===----------------------------------------------------------------------===//

void updateSlow(Wave &w) {
  w.slow = w.flushF32 || (w.gprIndexing && w.gprIndexMode);
}
void gprIndexOn(Wave &w, const Instruction &I) {
  // The index is M0[7:0], the mode M0[15:12].
  uint32_t index = s32(w, I.src[0]);
  w.sgpr[sgprM0] = (w.sgpr[sgprM0] & 0xffff0f00u) | (index & 0xffu) |
                   (uint32_t(I.imm & 15) << 12);
  w.gprIndexing = true;
  w.gprIndexMode = I.imm & 15;
  updateSlow(w);
}
void gprIndexOff(Wave &w, const Instruction &) {
  w.gprIndexing = false;
  updateSlow(w);
}
void gprIndexMode(Wave &w, const Instruction &I) {
  w.sgpr[sgprM0] =
      (w.sgpr[sgprM0] & 0xffff0fffu) | (uint32_t(I.imm & 15) << 12);
  w.gprIndexMode = I.imm & 15;
  updateSlow(w);
}
void gprIndexIndex(Wave &w, const Instruction &I) {
  w.sgpr[sgprM0] = (w.sgpr[sgprM0] & 0xffffff00u) | (s32(w, I.src[0]) & 0xffu);
}

//===----------------------------------------------------------------------===//
// Hardware registers
//===----------------------------------------------------------------------===//

constexpr unsigned hwRegMode = 1;

void writeMode(Wave &w, uint32_t mask, uint32_t value) {
  uint32_t mode = (w.modeRegister & ~mask) | (value & mask);
  if (mode & 0xf) {
    fail(w, "sets a rounding mode other than nearest even (MODE 0x" +
                llvm::Twine::utohexstr(mode) + ")");
    return;
  }
  unsigned denormal32 = (mode >> 4) & 3, denormal64 = (mode >> 6) & 3;
  if (denormal64 != 3) {
    fail(w, "sets f64 and f16 denormals to be flushed (MODE 0x" +
                llvm::Twine::utohexstr(mode) + "), which is not modelled");
    return;
  }
  if (denormal32 != 3 && denormal32 != 0) {
    fail(w, "flushes f32 denormals of sources or results only (MODE 0x" +
                llvm::Twine::utohexstr(mode) + "), which is not modelled");
    return;
  }
  w.modeRegister = mode;
  w.flushF32 = denormal32 == 0;
  w.dx10Clamp = (mode >> 8) & 1;
  w.ieeeMode = (mode >> 9) & 1;
  updateSlow(w);
}

void setHardwareRegister(Wave &w, const Instruction &I, uint32_t value) {
  unsigned id = I.imm & 63, offset = (I.imm >> 6) & 31;
  unsigned size = ((I.imm >> 11) & 31) + 1;
  if (id != hwRegMode) {
    fail(w, "writes hardware register " + llvm::Twine(id) +
                "; only MODE is modelled");
    return;
  }
  uint64_t mask = ((uint64_t(1) << size) - 1) << offset;
  writeMode(w, static_cast<uint32_t>(mask),
            static_cast<uint32_t>(uint64_t(value) << offset));
}
void setRegister(Wave &w, const Instruction &I) {
  setHardwareRegister(w, I, s32(w, I.src[0]));
}
void getRegister(Wave &w, const Instruction &I) {
  unsigned id = I.imm & 63, offset = (I.imm >> 6) & 31;
  unsigned size = ((I.imm >> 11) & 31) + 1;
  if (id != hwRegMode) {
    fail(w, "reads hardware register " + llvm::Twine(id) +
                "; only MODE is modelled");
    return;
  }
  uint64_t mask = (uint64_t(1) << size) - 1;
  setS32(w, I.dst, static_cast<uint32_t>((w.modeRegister >> offset) & mask));
}

void unknownInstruction(Wave &w, const Instruction &I) {
  const std::string &name = w.group->object->opcodeNames[I.opcodeName];
  fail(w, name.empty() ? "the bytes are no instruction of this target"
                       : "the instruction is not implemented (" +
                             llvm::Twine(name) + ")");
}

} // namespace

void registerControl(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler, Category category) {
    table.entries[name] = plainEntry(handler, category);
  };
  add("S_BRANCH", &sBranch, Category::Branch);
  add("S_CBRANCH_SCC0", &branchSCC0, Category::Branch);
  add("S_CBRANCH_SCC1", &branchSCC1, Category::Branch);
  add("S_CBRANCH_VCCZ", &branchVCCZ, Category::Branch);
  add("S_CBRANCH_VCCNZ", &branchVCCNZ, Category::Branch);
  add("S_CBRANCH_EXECZ", &branchEXECZ, Category::Branch);
  add("S_CBRANCH_EXECNZ", &branchEXECNZ, Category::Branch);
  add("S_GETPC_B64", &getPC, Category::SALU);
  add("S_SETPC_B64", &setPC, Category::Branch);
  add("S_SWAPPC_B64", &swapPC, Category::Branch);
  add("S_CALL_B64", &call, Category::Branch);
  add("S_WAITCNT", &nothing, Category::Waitcnt);
  add("S_BARRIER", &barrier, Category::Barrier);
  add("S_ENDPGM", &endProgram, Category::Other);
  add("S_TRAP", &trap, Category::Other);
  // Without a notion of time and with one coherent memory, these do nothing.
  for (const char *name :
       {"S_NOP", "S_SLEEP", "S_SETPRIO", "S_INCPERFLEVEL", "S_DECPERFLEVEL",
        "S_ICACHE_INV", "S_DCACHE_INV", "S_DCACHE_WB", "S_DCACHE_INV_VOL",
        "S_DCACHE_WB_VOL", "BUFFER_WBINVL1", "BUFFER_WBINVL1_VOL",
        "BUFFER_WBL2", "BUFFER_INVL2", "BUFFER_INV", "S_TTRACEDATA",
        "S_WAKEUP"})
    add(name, &nothing, Category::Other);
  add("V_NOP", &nothing, Category::VALU);
  add("V_CLREXCP", &nothing, Category::VALU);

  add("S_SET_GPR_IDX_ON", &gprIndexOn, Category::SALU);
  add("S_SET_GPR_IDX_OFF", &gprIndexOff, Category::SALU);
  add("S_SET_GPR_IDX_MODE", &gprIndexMode, Category::SALU);
  add("S_SET_GPR_IDX_IDX", &gprIndexIndex, Category::SALU);
  add("S_SETREG_B32", &setRegister, Category::SALU);
  add("S_SETREG_IMM32_B32", &setRegister, Category::SALU);
  add("S_GETREG_B32", &getRegister, Category::SALU);
  table.unknown = &unknownInstruction;
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
