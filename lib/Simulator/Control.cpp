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

void updateSlow(Wave &w) { setMode(w, w.modeRegister); }
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

enum HardwareRegister : unsigned {
  hwMode = 1,
  hwStatus = 2,
  hwTrapStatus = 3,
  hwId = 4,
  hwGprAllocation = 5,
  hwLdsAllocation = 6,
  hwIbStatus = 7,
  hwMemoryBases = 15,
  hwXccId = 20,
};

void setHardwareRegister(Wave &w, const Instruction &I, uint32_t value) {
  unsigned id = I.imm & 63, offset = (I.imm >> 6) & 31;
  unsigned size = ((I.imm >> 11) & 31) + 1;
  if (id == hwTrapStatus)
    return; // exceptions are not modelled: nothing reads the flags
  if (id != hwMode) {
    fail(w, "writes hardware register " + llvm::Twine(id) +
                "; only MODE and TRAPSTS are modelled");
    return;
  }
  uint64_t mask = ((uint64_t(1) << size) - 1) << offset;
  uint32_t mode = (w.modeRegister & ~static_cast<uint32_t>(mask)) |
                  static_cast<uint32_t>((uint64_t(value) << offset) & mask);
  if ((mode >> 12) & 0x1ff) {
    fail(w, "enables floating-point exceptions (MODE 0x" +
                llvm::Twine::utohexstr(mode) + "), which are not modelled");
    return;
  }
  setMode(w, mode);
}
void setRegister(Wave &w, const Instruction &I) {
  setHardwareRegister(w, I, s32(w, I.src[0]));
}
void getRegister(Wave &w, const Instruction &I) {
  unsigned id = I.imm & 63, offset = (I.imm >> 6) & 31;
  unsigned size = ((I.imm >> 11) & 31) + 1;
  uint32_t value = 0;
  switch (id) {
  case hwMode:
    value = w.modeRegister;
    break;
  case hwStatus: // SCC, EXECZ, VCCZ, valid
    value = uint32_t(w.scc) | (uint32_t(w.read64(sgprEXEC) == 0) << 9) |
            (uint32_t(w.read64(sgprVCC) == 0) << 10) | (1u << 16);
    break;
  case hwTrapStatus:
  case hwIbStatus:
  case hwXccId:
    break;
  case hwId: // wave slot [3:0], SIMD [5:4]: the wavefronts go round the SIMDs
    value = ((w.numberInGroup / 4) & 15) | ((w.numberInGroup & 3) << 4);
    break;
  case hwGprAllocation: {
    // Where the registers begin in the files [5:0] and [23:18] (a wavefront
    // that has a SIMD for itself: 0), the descriptor's numbers of VGPRs [11:6]
    // and SGPRs [27:24], and where the AGPRs begin [17:12]: as Linux's trap
    // handler reads it (cwsr_trap_handler_gfx9.asm, CHIP_ALDEBARAN and later).
    const KernelCode &code = *w.group->code;
    value = ((code.rsrc1 & 63) << 6) | ((code.rsrc3 & 63) << 12) |
            (((code.rsrc1 >> 6) & 15) / 2 << 24);
    break;
  }
  case hwLdsAllocation: // LDS is given out in 128 dwords and counted in 64
    value = static_cast<uint32_t>((w.group->lds.size() + 511) / 512 * 2) << 12;
    break;
  case hwMemoryBases: // the high halves of the apertures
    value = (privateApertureHigh >> 16) | (sharedApertureHigh & 0xffff0000u);
    break;
  default:
    fail(w, "reads hardware register " + llvm::Twine(id) +
                ", which is not modelled");
    return;
  }
  uint64_t mask = (uint64_t(1) << size) - 1;
  setS32(w, I.dst, static_cast<uint32_t>((value >> offset) & mask));
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// LLVM's names of what s_sendmsg sends on these targets.
const char *messageName(unsigned type) {
  switch (type) {
  case 2:
    return "MSG_GS";
  case 3:
    return "MSG_GS_DONE";
  case 4:
    return "MSG_SAVEWAVE";
  case 5:
    return "MSG_STALL_WAVE_GEN";
  case 6:
    return "MSG_HALT_WAVES";
  case 7:
    return "MSG_ORDERED_PS_DONE";
  case 8:
    return "MSG_EARLY_PRIM_DEALLOC";
  case 9:
    return "MSG_GS_ALLOC_REQ";
  case 10:
    return "MSG_GET_DOORBELL";
  case 15:
    return "MSG_SYSMSG";
  default:
    return "no known one";
  }
}

/// Compute code interrupts the host, which looks at a signal in memory then and
/// does nothing to the wavefront. All other messages belong to shaders of
/// graphics and to trap handlers, and some have an answer.
void sendMessage(Wave &w, const Instruction &I) {
  unsigned type = I.imm & 15;
  if (type != 1)
    fail(w, "sends message " + llvm::Twine(type) + " (" + messageName(type) +
                "); only MSG_INTERRUPT is modelled");
}

/// Without a notion of time the counters advance at every read.
void readClock(Wave &w, const Instruction &I) {
  w.clock += 64;
  setS64(w, I.dst, w.clock);
}

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

/// The stack of forked paths: MODE[31:29] counts its entries, each of four
/// SGPRs from s0 on.
unsigned forkDepth(Wave &w) { return w.modeRegister >> 29; }
void setForkDepth(Wave &w, unsigned depth) {
  w.modeRegister = (w.modeRegister & 0x1fffffffu) | (depth << 29);
}

/// Lanes whose mask bit is set go to the target, the others on; the smaller
/// group goes first and the other is pushed.
void fork(Wave &w, uint64_t mask, uint64_t target) {
  uint64_t exec = w.read64(sgprEXEC);
  uint64_t pass = mask & exec, rest = ~mask & exec;
  if (pass == exec) {
    jumpTo(w, target);
    return;
  }
  if (rest == exec)
    return;
  unsigned depth = forkDepth(w);
  if (depth == 7) {
    fail(w, "forks more than seven paths deep");
    return;
  }
  bool restFirst = __builtin_popcountll(rest) < __builtin_popcountll(pass);
  w.write64(4 * depth, restFirst ? pass : rest);
  w.write64(4 * depth + 2, restFirst ? target : addressOfNext(w));
  setForkDepth(w, depth + 1);
  w.write64(sgprEXEC, restFirst ? rest : pass);
  if (!restFirst)
    jumpTo(w, target);
}
void forkTo(Wave &w, const Instruction &I) {
  fork(w, s64(w, I.src[0]), s64(w, I.src[1]));
}
void forkBy(Wave &w, const Instruction &I) {
  fork(w, s64(w, I.src[0]),
       addressOfNext(w) + 4 * uint64_t(int64_t(int16_t(I.imm & 0xffff))));
}
void join(Wave &w, const Instruction &I) {
  unsigned depth = forkDepth(w);
  if (depth == (s32(w, I.src[0]) & 7))
    return;
  if (depth == 0) {
    fail(w, "joins paths without a fork");
    return;
  }
  setForkDepth(w, --depth);
  uint64_t exec = w.read64(4 * depth), target = w.read64(4 * depth + 2);
  w.write64(sgprEXEC, exec);
  jumpTo(w, target);
}

void halt(Wave &w, const Instruction &I) {
  if (I.imm & 1)
    fail(w, "the wavefront halts itself");
}
void haltAlways(Wave &w, const Instruction &) {
  fail(w, "the wavefront halts itself");
}
void killWave(Wave &w, const Instruction &I) {
  if (I.imm & 1)
    w.status = WaveStatus::Ended;
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
  for (const char *name : {"S_NOP",
                           "S_SLEEP",
                           "S_SETPRIO",
                           "S_INCPERFLEVEL",
                           "S_DECPERFLEVEL",
                           "S_ICACHE_INV",
                           "S_DCACHE_INV",
                           "S_DCACHE_WB",
                           "S_DCACHE_INV_VOL",
                           "S_DCACHE_WB_VOL",
                           "BUFFER_WBINVL1",
                           "BUFFER_WBINVL1_VOL",
                           "BUFFER_WBL2",
                           "BUFFER_INVL2",
                           "BUFFER_INV",
                           "S_TTRACEDATA",
                           "S_WAKEUP",
                           "S_ATC_PROBE",
                           "S_ATC_PROBE_BUFFER",
                           "S_DCACHE_DISCARD",
                           "S_DCACHE_DISCARD_X2"})
    add(name, &nothing, Category::Other);
  // No debugger is attached.
  for (const char *name :
       {"S_CBRANCH_CDBGSYS", "S_CBRANCH_CDBGUSER", "S_CBRANCH_CDBGSYS_OR_USER",
        "S_CBRANCH_CDBGSYS_AND_USER"})
    add(name, &nothing, Category::Branch);
  add("S_SENDMSG", &sendMessage, Category::Other);
  table.entries["S_SENDMSG"].note =
      "MSG_INTERRUPT, to a host that does not listen; others are an error";
  add("S_SENDMSGHALT", &haltAlways, Category::Other);
  add("S_SETHALT", &halt, Category::Other);
  add("S_SETKILL", &killWave, Category::Other);
  add("S_CBRANCH_G_FORK", &forkTo, Category::Branch);
  add("S_CBRANCH_I_FORK", &forkBy, Category::Branch);
  add("S_CBRANCH_JOIN", &join, Category::Branch);
  add("S_MEMTIME", &readClock, Category::SMEM);
  add("S_MEMREALTIME", &readClock, Category::SMEM);
  approximate(table, {"S_MEMTIME", "S_MEMREALTIME"},
              "a counter that rises by 64 at every read of a wavefront");
  add("V_NOP", &nothing, Category::VALU);
  add("V_CLREXCP", &nothing, Category::VALU);

  add("S_SET_GPR_IDX_ON", &gprIndexOn, Category::SALU);
  add("S_SET_GPR_IDX_OFF", &gprIndexOff, Category::SALU);
  add("S_SET_GPR_IDX_MODE", &gprIndexMode, Category::SALU);
  add("S_SET_GPR_IDX_IDX", &gprIndexIndex, Category::SALU);
  add("S_SETREG_B32", &setRegister, Category::SALU);
  add("S_SETREG_IMM32_B32", &setRegister, Category::SALU);
  add("S_GETREG_B32", &getRegister, Category::SALU);
  table.entries["S_GETREG_B32"].note =
      "MODE; GPR_ALLOC and LDS_ALLOC of a wavefront that is alone; a plausible "
      "STATUS, HW_ID, SH_MEM_BASES; 0 for TRAPSTS, IB_STS, XCC_ID; others are "
      "an error";
  table.entries["S_SETREG_B32"].note =
      table.entries["S_SETREG_IMM32_B32"].note =
          "MODE, but for exceptions; TRAPSTS is ignored";
  table.unknown = &unknownInstruction;
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
