//===- Checker.cpp - The observer behind checked launches ---------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checker.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace wavesmith::sim;

using DecodedInstruction = wavesmith::sim::Instruction;

static constexpr uint64_t allLanes = ~uint64_t(0);
/// The largest counts that the counters hold: more are never outstanding.
static constexpr size_t mostVM = 63, mostLGKM = 15;
/// Of those that come back in any order; the oldest are taken for complete.
static constexpr size_t mostUnordered = 64;
/// When there are so many, what was accessed before is forgotten.
static constexpr size_t mostSegments = size_t(1) << 24;

static unsigned firstLane(uint64_t mask) {
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

StringRef wavesmith::sim::spelling(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::InvalidAccess:
    return "invalid access";
  case FindingKind::UninitialisedRegister:
    return "uninitialised register";
  case FindingKind::UninitialisedLDS:
    return "uninitialised LDS";
  case FindingKind::UninitialisedGlobal:
    return "uninitialised global memory";
  case FindingKind::UninitialisedScratch:
    return "uninitialised private memory";
  case FindingKind::LDSRace:
    return "LDS race";
  case FindingKind::GlobalRace:
    return "global memory race";
  case FindingKind::MissingWait:
    return "missing wait";
  case FindingKind::RegisterNotAllocated:
    return "register not allocated";
  case FindingKind::DivergentBarrier:
    return "divergent barrier";
  case FindingKind::BarrierNotReached:
    return "barrier not reached";
  case FindingKind::Hang:
    return "hang";
  }
  return "unknown";
}

std::string Finding::text() const {
  std::string result = spelling(kind).str() + ": kernel '" + kernel +
                       "', instruction at 0x" + utohexstr(pc, true) + " '" +
                       disassembly + "'";
  if (!source.empty())
    result += " (" + source + ")";
  result += ", workgroup (" + std::to_string(workgroup[0]) + ", " +
            std::to_string(workgroup[1]) + ", " + std::to_string(workgroup[2]) +
            "), wavefront " + std::to_string(wave);
  if (lane >= 0)
    result += ", lane " + std::to_string(lane);
  result += ": " + message;
  if (count > 1)
    result += " (" + std::to_string(count) + " times)";
  return result;
}

std::string Checker::place(uint32_t index) {
  uint64_t address = dispatch.image.addressOf(index);
  std::string result = "0x" + utohexstr(address, true) + " '" +
                       dispatch.image.textOfInstruction(index) + "'";
  std::string line = lines.at(address);
  return line.empty() ? result : result + " (" + line + ")";
}

void Checker::report(FindingKind kind, Wave &wave, uint32_t index, int lane,
                     const Twine &message) {
  auto [it, inserted] = known.try_emplace({index, kind}, findings.size());
  if (!inserted) {
    if (it->second < findings.size())
      ++findings[it->second].count;
    return;
  }
  if (findings.size() - firstFinding >= options.maximum)
    return;
  const WaveState &s = *static_cast<WaveState *>(wave.observed);
  Finding finding;
  finding.kind = kind;
  finding.kernel = dispatch.kernel.name;
  finding.workgroup = s.group->execution->id();
  finding.wave = s.number;
  finding.lane = lane;
  finding.pc = dispatch.image.addressOf(index);
  finding.disassembly = dispatch.image.textOfInstruction(index);
  finding.source = lines.at(finding.pc);
  finding.message = message.str();
  findings.push_back(std::move(finding));
}

static std::string vectorName(unsigned reg) {
  return reg < agprBase ? "v" + std::to_string(reg)
                        : "a" + std::to_string(reg - agprBase);
}

static std::string scalarName(unsigned reg) {
  switch (reg) {
  case sgprFlatScratch:
    return "flat_scratch_lo";
  case sgprFlatScratch + 1:
    return "flat_scratch_hi";
  case sgprVCC:
    return "vcc_lo";
  case sgprVCC + 1:
    return "vcc_hi";
  case sgprM0:
    return "m0";
  case sgprEXEC:
    return "exec_lo";
  case sgprEXEC + 1:
    return "exec_hi";
  default:
    return "s" + std::to_string(reg);
  }
}

std::string Checker::describe(const Origin &origin) {
  std::string suffix = origin.computed ? ", by way of arithmetic" : "";
  std::string reader =
      origin.kind == Origin::Register
          ? ""
          : ", read by the instruction at " + place(origin.index) + suffix;
  switch (origin.kind) {
  case Origin::Register:
    return "a register that was never written" + suffix;
  case Origin::LDS:
    return "LDS offset " + std::to_string(origin.address) +
           ", which nothing has written" + reader;
  case Origin::Global: {
    const Region *region = dispatch.view.find(origin.address);
    std::string where =
        region ? "byte " + std::to_string(origin.address - region->base) +
                     " of '" + region->name + "'"
               : "address 0x" + utohexstr(origin.address, true);
    return where + ", which nothing has written" + reader;
  }
  case Origin::Scratch:
    return "offset " + std::to_string(origin.address) +
           " of private memory, which nothing has written" + reader;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static void fillVector(const DecodedInstruction &I, unsigned sources,
                       uint16_t *list, uint8_t &count, unsigned most) {
  count = 0;
  for (unsigned i = 0; i < sources; ++i)
    if (I.src[i].isVGPR())
      for (unsigned k = 0; k < I.src[i].dwords && count < most; ++k)
        list[count++] = static_cast<uint16_t>(I.src[i].index + k);
}

/// The sources of a vector instruction that its whole result depends on.
static unsigned sourcesOf(const DecodedInstruction &I, StringRef name) {
  if (I.format == Format::SDWA && !name.starts_with("V_MAC"))
    return 2; // the third is the result's old value
  if (name.starts_with("V_CVT_PK_FP8") || name.starts_with("V_CVT_PK_BF8") ||
      name.starts_with("V_CVT_SR_"))
    return 2;
  return 3;
}

/// The registers that the kernel descriptor gives to a wavefront.
Checker::Allocated Checker::allocatedBy(const KernelCode &code) {
  Allocated result;
  result.all = 8 * ((code.rsrc1 & 63) + 1);
  unsigned accumulationOffset = 4 * ((code.rsrc3 & 63) + 1);
  result.vector = std::min({result.all, accumulationOffset, 256u});
  result.accumulation =
      std::min(result.all - std::min(result.all, accumulationOffset), 256u);
  // In units of 16, VCC and its like among them, which stand at the end.
  result.scalar = 16 * (((code.rsrc1 >> 6) & 15) / 2 + 1);
  return result;
}

int16_t Checker::firstNotAllocated(const RegisterRange &range) const {
  unsigned last = range.first + range.count - 1;
  unsigned end = 0;
  if (range.file == RegisterFile::Vector)
    end = range.first < agprBase ? allocated.vector
                                 : agprBase + allocated.accumulation;
  else if (range.file == RegisterFile::Scalar && last < sgprFlatScratch)
    end = allocated.scalar;
  else
    return -1;
  return static_cast<int16_t>(
      last < end ? -1 : int(std::max<unsigned>(range.first, end)));
}

void Checker::reportNotAllocated(Wave &w, uint32_t index, bool vector,
                                 unsigned reg) {
  std::string has = vector
                        ? std::to_string(allocated.vector) + " VGPRs and " +
                              std::to_string(allocated.accumulation) + " AGPRs"
                        : std::to_string(allocated.scalar) + " SGPRs";
  report(FindingKind::RegisterNotAllocated, w, index, -1,
         (vector ? vectorName(reg) : scalarName(reg)) +
             ", and the kernel descriptor allocates " + has);
}

Checker::Plan Checker::planOf(uint32_t index) {
  const DecodedInstruction &I = dispatch.image.instructions[index];
  const RegisterUse &use = dispatch.image.registerUse[index];
  StringRef name = dispatch.image.opcodeNames[I.opcodeName];
  Plan p;
  p.uses = static_cast<uint32_t>(uses.size());
  for (RegisterFile file : {RegisterFile::Vector, RegisterFile::Scalar}) {
    auto add = [&](ArrayRef<RegisterRange> ranges) {
      for (const RegisterRange &range : ranges)
        for (unsigned k = 0; range.file == file && k < range.count; ++k) {
          unsigned reg = range.first + k;
          if (file == RegisterFile::Scalar && reg >= sgprEXEC)
            continue; // no load writes it
          uses.push_back(static_cast<uint16_t>(reg));
          ++(file == RegisterFile::Vector ? p.vectorUses : p.scalarUses);
        }
    };
    add(use.reads);
    add(use.writes);
  }
  for (ArrayRef<RegisterRange> ranges : {ArrayRef<RegisterRange>(use.reads),
                                         ArrayRef<RegisterRange>(use.writes)})
    for (const RegisterRange &range : ranges)
      if (p.notAllocated < 0) {
        p.notAllocated = firstNotAllocated(range);
        p.notAllocatedVector = range.file == RegisterFile::Vector;
      }
  bool writesScalar = false;
  for (const RegisterRange &range : use.writes) {
    p.writesSCC |= range.file == RegisterFile::SCC;
    p.writesExec |=
        range.file == RegisterFile::Scalar && range.first >= sgprEXEC;
    if (range.file == RegisterFile::Scalar && range.first < sgprEXEC) {
      writesScalar = true;
      if (range.count == 2)
        p.maskWrite = static_cast<int16_t>(range.first);
    }
  }
  for (const RegisterRange &range : use.reads)
    p.readsSCC |= range.file == RegisterFile::SCC;

  switch (I.category) {
  case Category::VMEMRead:
  case Category::VMEMWrite:
  case Category::VMEMAtomic:
    p.rule = Rule::Memory;
    for (unsigned k = 0; I.src[0].isVGPR() && k < I.src[0].dwords && k < 4; ++k)
      p.vector[p.vectorCount++] = static_cast<uint16_t>(I.src[0].index + k);
    for (unsigned i : {2u, 3u})
      for (unsigned k = 0;
           I.src[i].kind == OperandKind::SGPR && k < I.src[i].dwords && k < 4;
           ++k)
        p.scalar[p.scalarCount++] = static_cast<uint8_t>(I.src[i].index + k);
    p.direct = name.contains("_LDS");
    if (p.direct && p.scalarCount < 8)
      p.scalar[p.scalarCount++] = sgprM0;
    return p;
  case Category::LDS:
    if (name == "DS_BPERMUTE_B32" || name == "DS_PERMUTE_B32" ||
        name == "DS_SWIZZLE_B32") {
      p.rule = Rule::Permute;
      return p;
    }
    if (name == "DS_NOP")
      return p;
    p.rule = Rule::Memory;
    if (name.contains("ADDTID") || name == "DS_APPEND" || name == "DS_CONSUME")
      p.scalar[p.scalarCount++] = sgprM0;
    else if (I.src[0].isVGPR())
      p.vector[p.vectorCount++] = I.src[0].index;
    return p;
  case Category::SMEM:
    p.rule = Rule::ScalarMemory;
    for (unsigned i : {0u, 1u})
      for (unsigned k = 0; I.src[i].kind == OperandKind::SGPR &&
                           k < I.src[i].dwords && p.scalarCount < 8;
           ++k)
        p.scalar[p.scalarCount++] = static_cast<uint8_t>(I.src[i].index + k);
    return p;
  case Category::MFMA:
    p.rule = Rule::Matrix;
    p.result = I.dst.index;
    p.resultCount = I.dst.isVGPR() ? I.dst.dwords : 0;
    return p;
  case Category::VALU:
    break;
  case Category::SALU:
  case Category::Branch:
    p.result = I.dst.index;
    p.resultCount =
        I.dst.kind == OperandKind::SGPR && (writesScalar || p.writesExec)
            ? I.dst.dwords
            : 0;
    if (name == "S_CBRANCH_SCC0" || name == "S_CBRANCH_SCC1") {
      p.rule = Rule::BranchSCC;
    } else if (name == "S_CBRANCH_VCCZ" || name == "S_CBRANCH_VCCNZ") {
      p.rule = Rule::BranchVCC;
    } else if (name == "S_SETPC_B64" || name == "S_SWAPPC_B64") {
      p.rule = Rule::BranchRegister;
    } else if (I.category == Category::Branch) {
      p.rule = p.resultCount ? Rule::ScalarStrict : Rule::None;
    } else if (name == "S_SET_GPR_IDX_ON" || name == "S_SET_GPR_IDX_IDX") {
      // Goes to M0[7:0], of which alone the index is made.
      p.rule = Rule::ScalarStrict;
      p.result = sgprM0;
      p.resultCount = 1;
    } else if (name.starts_with("S_SET_GPR_IDX")) {
      p.rule = Rule::None;
    } else if (name.starts_with("S_MOVREL")) {
      p.rule = Rule::ScalarRelative;
    } else if (name == "S_MOV_B32" || name == "S_MOV_B64" ||
               name == "S_NOT_B32" || name == "S_NOT_B64") {
      p.rule = Rule::ScalarCopy;
    } else if (name.starts_with("S_CSELECT")) {
      p.rule = Rule::ScalarSelect;
    } else if (name.starts_with("S_CMOV")) {
      p.rule = Rule::ScalarMove;
    } else {
      p.rule = Rule::ScalarStrict;
      if (name == "S_LSHL_B64")
        p.shifts = 1;
      if (name == "S_LSHR_B64" || name == "S_ASHR_I64")
        p.shifts = -1;
      p.arithmetic = name == "S_ASHR_I64";
      StringRef base = name;
      base.consume_front("S_");
      bool saves = base.contains("_SAVEEXEC_"),
           writes = base.contains("WREXEC");
      StringRef operation = base.split('_').first;
      struct Entry {
        StringRef name;
        Logic logic;
        bool first, second, result;
      };
      static const Entry entries[] = {{"AND", Logic::And, false, false, false},
                                      {"OR", Logic::Or, false, false, false},
                                      {"XOR", Logic::Xor, false, false, false},
                                      {"ANDN2", Logic::And, false, true, false},
                                      {"ORN2", Logic::Or, false, true, false},
                                      {"ANDN1", Logic::And, true, false, false},
                                      {"ORN1", Logic::Or, true, false, false},
                                      {"NAND", Logic::And, false, false, true},
                                      {"NOR", Logic::Or, false, false, true},
                                      {"XNOR", Logic::Xor, false, false, true}};
      for (const Entry &entry : entries)
        if (operation == entry.name) {
          p.rule = saves    ? Rule::SaveExec
                   : writes ? Rule::WriteExec
                            : Rule::ScalarLogic;
          p.logic = entry.logic;
          p.invertFirst = entry.first;
          p.invertSecond = entry.second;
          p.invertResult = entry.result;
        }
    }
    return p;
  default:
    return p;
  }

  // Vector arithmetic.
  if (name == "V_NOP" || name == "V_CLREXCP")
    return p;
  if (I.dst.isVGPR() && !name.starts_with("V_CMP")) {
    p.result = I.dst.index;
    p.resultCount = I.dst.dwords;
  }
  if (name == "V_READFIRSTLANE_B32") {
    p.rule = Rule::ReadFirstLane;
  } else if (name == "V_READLANE_B32") {
    p.rule = Rule::ReadLane;
  } else if (name == "V_WRITELANE_B32") {
    p.rule = Rule::WriteLane;
  } else if (name == "V_SWAP_B32") {
    p.rule = Rule::Swap;
  } else if (name == "V_CNDMASK_B32") {
    p.rule = Rule::Select;
  } else if (name == "V_PK_MOV_B32") {
    p.rule = Rule::PackedMove;
  } else if (name.starts_with("V_PK_") && name.ends_with("_F32") &&
             p.resultCount == 2) {
    p.rule = Rule::PackedF32;
  } else if (name == "V_MOV_B32" || name == "V_MOV_B64" ||
             name == "V_NOT_B32" || name.starts_with("V_ACCVGPR_")) {
    p.rule = Rule::Copy;
    p.computes = false;
  } else {
    p.rule = Rule::Strict;
    // Of extended operands the upper halves may be undefined.
    if (name == "V_MAD_U64_U32" || name == "V_MAD_I64_I32" ||
        name == "V_LSHL_ADD_U64" || name == "V_LSHLREV_B64")
      p.rule = Rule::LowFirst;
    if (name == "V_LSHRREV_B64" || name == "V_ASHRREV_I64")
      p.rule = Rule::HighFirst;
    if (p.rule == Rule::HighFirst || name == "V_LSHLREV_B64")
      p.shifts = p.rule == Rule::HighFirst ? -1 : 1;
    p.arithmetic = name == "V_ASHRREV_I64";
    for (StringRef parts :
         {"V_PERM_B32", "V_PACK_B32_F16", "V_BFI_B32", "V_ALIGNBIT_B32",
          "V_ALIGNBYTE_B32", "V_LSHL_OR_B32", "V_AND_OR_B32", "V_OR3_B32"})
      if (name == parts) {
        p.rule = Rule::AnySource;
        p.computes = false;
      }
  }
  if (I.format == Format::SDWA || I.half != HalfResult::Whole)
    p.computes = false; // parts of registers: see docs/simulator.md
  fillVector(I, sourcesOf(I, name), p.vector, p.vectorCount, 12);
  bool carries = name.starts_with("V_ADDC_") || name.starts_with("V_SUBB_") ||
                 name.starts_with("V_SUBBREV_");
  bool takesMask = carries || p.rule == Rule::Select;
  if (takesMask)
    p.maskRead = I.src[2].kind == OperandKind::SGPR
                     ? static_cast<int16_t>(I.src[2].index)
                     : int16_t(sgprVCC);
  else if (name.starts_with("V_DIV_FMAS"))
    p.maskRead = sgprVCC;
  for (unsigned i = 0; i < (takesMask ? 2 : sourcesOf(I, name)); ++i)
    if (I.src[i].kind == OperandKind::SGPR)
      for (unsigned k = 0; k < I.src[i].dwords && p.scalarCount < 8; ++k)
        p.scalar[p.scalarCount++] = static_cast<uint8_t>(I.src[i].index + k);
  return p;
}

Checker::Checker(const Dispatch &dispatch, const CheckOptions &options,
                 std::vector<Finding> &findings)
    : dispatch(dispatch), options(options), findings(findings),
      firstFinding(findings.size()), allocated(allocatedBy(dispatch.code)),
      segments(1), lines(dispatch.image.elf) {
  plans.reserve(dispatch.image.instructions.size());
  for (uint32_t i = 0; i < dispatch.image.instructions.size(); ++i)
    plans.push_back(planOf(i));
}

Checker::~Checker() = default;

//===----------------------------------------------------------------------===//
// Workgroups and wavefronts
//===----------------------------------------------------------------------===//

void Checker::workgroupBegin(WorkgroupExecution &execution) {
  std::unique_ptr<GroupState> group;
  if (!spare.empty()) {
    group = std::move(spare.back());
    spare.pop_back();
  } else {
    group = std::make_unique<GroupState>();
    for (uint32_t i = 0; i < dispatch.waves; ++i)
      group->waves.push_back(std::make_unique<WaveState>());
  }
  group->execution = &execution;
  group->number = execution.number();
  group->epoch = 0;
  group->atomics = 0;
  size_t dwords = (size_t(dispatch.ldsBytes) + 3) / 4;
  size_t pages = (dwords + Cells::page - 1) / Cells::page;
  group->cells.pages.resize(pages);
  for (auto &page : group->cells.pages)
    if (page)
      std::fill(page.get(), page.get() + Cells::page, Cell());
  group->cells.apart.clear();
  group->staleReads.clear();
  group->defined.assign(dispatch.ldsBytes, 0);
  groups.push_back(std::move(group));
}

void Checker::waveBegin(Wave &w) {
  GroupState *group = nullptr;
  for (auto &g : groups)
    if (&g->execution->workgroup() == w.group)
      group = g.get();
  WaveState &s = *group->waves[w.numberInGroup];
  w.observed = &s;
  s.group = group;
  s.number = w.numberInGroup;
  std::fill(std::begin(s.vector), std::end(s.vector), 0);
  std::fill(std::begin(s.vectorOrigin), std::end(s.vectorOrigin), Origin());
  std::fill(std::begin(s.scalarOrigin), std::end(s.scalarOrigin), Origin());
  s.sccOrigin = Origin();
  // Set-up leaves the pattern in what it does not define.
  for (unsigned l = 0; l < lanesPerWave; ++l)
    s.vector[0] |= uint64_t(w.vgpr[0][l] != poisonWord) << l;
  for (unsigned i = 0; i < std::size(s.scalar); ++i)
    s.scalar[i] = w.sgpr[i] != poisonWord ? ~0u : 0;
  s.scalar[sgprVCC] = s.scalar[sgprVCC + 1] = s.scalar[sgprM0] = 0;
  s.scalar[sgprEXEC] = s.scalar[sgprEXEC + 1] = ~0u;
  s.scc = false;
  s.scratch.assign(w.scratchPerLane, 0);
  s.atomics = 0;
  s.storedLast = s.fencedStores = false;
  s.vm.clear();
  s.lds.clear();
  s.unordered.clear();
  s.outstanding = 0;
  std::memset(s.pendingVector, 0, sizeof(s.pendingVector));
  std::memset(s.pendingScalar, 0, sizeof(s.pendingScalar));
  s.segment = 0;
  s.segmentStale = false;
}

void Checker::workgroupEnd(WorkgroupExecution &execution) {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i]->execution != &execution)
      continue;
    const Wave *failed = execution.failed();
    if (failed && execution.hangs())
      report(FindingKind::Hang, const_cast<Wave &>(*failed), failed->current,
             -1, failed->error);
    if (!failed)
      reportStaleReads(execution, *groups[i]);
    spare.push_back(std::move(groups[i]));
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void Checker::barrier(WorkgroupExecution &execution) {
  GroupState *group = nullptr;
  Wave *first = nullptr, *ended = nullptr;
  for (Wave &w : execution.waves()) {
    group = static_cast<WaveState *>(w.observed)->group;
    if (w.status == WaveStatus::AtBarrier) {
      if (first && options.barriers && w.current != first->current)
        report(FindingKind::DivergentBarrier, w, w.current, -1,
               "wavefront " + Twine(first->numberInGroup) +
                   " waits at another barrier, at " + place(first->current));
      if (!first)
        first = &w;
    } else if (!ended) {
      ended = &w;
    }
  }
  if (first && ended && options.barriers)
    report(FindingKind::BarrierNotReached, *first, first->current, -1,
           "wavefront " + Twine(ended->numberInGroup) +
               " has ended without reaching it");
  reportStaleReads(execution, *group);
  ++group->epoch;
  for (Wave &w : execution.waves()) {
    WaveState &s = *static_cast<WaveState *>(w.observed);
    s.segment = 0;
    s.storedLast = s.fencedStores = false;
    if (!options.races)
      continue;
    // What is outstanding at the barrier may happen behind it.
    uint32_t late = 0;
    auto restamp = [&](const Outstanding &o) {
      if (o.ldsOffsets.empty())
        return;
      if (!late) {
        late = newSegment(s);
        segments[late].late = true;
        s.segment = 0;
      }
      for (uint32_t offset : o.ldsOffsets)
        for (uint64_t dword = offset / 4;
             dword <= (offset + o.ldsBytes - 1) / 4; ++dword) {
          if (dword / Cells::page >= group->cells.pages.size())
            continue;
          auto move = [&](Cell &cell) {
            auto mine = [&](uint32_t id) {
              return id && segments[id].wave == s.number &&
                     segments[id].group == group->number;
            };
            if (o.ldsWrite && mine(cell.writeSegment) &&
                cell.writeIndex == o.index)
              cell.writeSegment = late;
            if (!o.ldsWrite && mine(cell.readSegment) &&
                cell.readIndex == o.index)
              cell.readSegment = late;
          };
          Cell &cell = group->cells.at(dword);
          if (cell.apart)
            for (Cell &part : group->cells.apart[dword])
              move(part);
          else
            move(cell);
        }
    };
    for (const Outstanding &o : s.vm)
      restamp(o);
    for (const Outstanding &o : s.lds)
      restamp(o);
  }
}

//===----------------------------------------------------------------------===//
// Definedness of registers
//===----------------------------------------------------------------------===//

void Checker::setVector(WaveState &s, unsigned reg, uint64_t lanes,
                        uint64_t defined, const Origin &origin) {
  if (reg >= std::size(s.vector))
    return;
  if (lanes & ~defined)
    s.vectorOrigin[reg] = origin;
  s.vector[reg] = (s.vector[reg] & ~lanes) | (defined & lanes);
}

void Checker::setScalar(WaveState &s, unsigned reg, unsigned dwords,
                        uint64_t bits, const Origin &origin) {
  for (unsigned k = 0; k < dwords && reg + k < std::size(s.scalar); ++k) {
    uint32_t b = static_cast<uint32_t>(bits >> (32 * k));
    s.scalar[reg + k] = b;
    if (b != ~0u)
      s.scalarOrigin[reg + k] = origin;
  }
}

uint64_t Checker::scalarBits(WaveState &s, const Operand &o, unsigned dwords) {
  uint64_t high = dwords < 2 ? uint64_t(0xffffffffu) << 32 : 0;
  if (o.kind == OperandKind::SGPR)
    return s.scalar[o.index] |
           (dwords < 2 ? high : uint64_t(s.scalar[o.index + 1]) << 32);
  if (o.kind == OperandKind::Special &&
      static_cast<SpecialRegister>(o.index) == SpecialRegister::SCC)
    return s.scc ? allLanes : 0;
  return allLanes;
}

uint64_t Checker::scalarValue(Wave &w, const Operand &o, unsigned dwords) {
  if (o.kind == OperandKind::SGPR)
    return w.sgpr[o.index] |
           (dwords < 2 ? 0 : uint64_t(w.sgpr[o.index + 1]) << 32);
  if (o.kind == OperandKind::Constant)
    return o.value;
  return 0;
}

/// The defined lanes of one dword of a vector source. Where some of the wanted
/// ones are not, origin says why.
uint64_t Checker::operandMask(WaveState &s, const Operand &o, unsigned dword,
                              Origin &origin, uint64_t wanted) {
  if (o.kind == OperandKind::VGPR) {
    uint64_t mask = s.vector[(o.index + dword) % 512];
    if (wanted & ~mask)
      origin = s.vectorOrigin[(o.index + dword) % 512];
    return mask;
  }
  if (o.kind == OperandKind::SGPR) {
    if (s.scalar[o.index + dword] == ~0u)
      return allLanes;
    origin = s.scalarOrigin[o.index + dword];
    return 0;
  }
  if (scalarBits(s, o, 1) != allLanes) {
    origin = s.sccOrigin;
    return 0;
  }
  return allLanes;
}

static FindingKind kindOf(unsigned origin) {
  constexpr FindingKind kinds[] = {
      FindingKind::UninitialisedRegister, FindingKind::UninitialisedLDS,
      FindingKind::UninitialisedGlobal, FindingKind::UninitialisedScratch};
  return kinds[origin];
}

/// Reports undefined lanes, and takes them for defined from then on.
bool Checker::useVector(Wave &w, uint32_t index, unsigned reg, unsigned count,
                        uint64_t lanes, const char *what) {
  WaveState &s = *static_cast<WaveState *>(w.observed);
  bool good = true;
  for (unsigned k = 0; k < count; ++k) {
    uint64_t bad = lanes & ~s.vector[reg + k];
    if (!bad)
      continue;
    const Origin origin = s.vectorOrigin[reg + k];
    if (good)
      report(kindOf(origin.kind), w, index, static_cast<int>(firstLane(bad)),
             Twine(what) + " depends on " + vectorName(reg + k) +
                 ", whose value comes from " + describe(origin));
    good = false;
    s.vector[reg + k] |= bad;
  }
  return good;
}

bool Checker::useScalar(Wave &w, uint32_t index, unsigned reg, unsigned count,
                        const char *what) {
  WaveState &s = *static_cast<WaveState *>(w.observed);
  bool good = true;
  for (unsigned k = 0; k < count; ++k) {
    if (s.scalar[reg + k] == ~0u)
      continue;
    const Origin origin = s.scalarOrigin[reg + k];
    if (good)
      report(kindOf(origin.kind), w, index, -1,
             Twine(what) + " depends on " + scalarName(reg + k) +
                 ", whose value comes from " + describe(origin));
    good = false;
    s.scalar[reg + k] = ~0u;
  }
  return good;
}

void Checker::strict(Wave &w, WaveState &s, const DecodedInstruction &I,
                     const Plan &p) {
  uint64_t exec = w.exec, defined = allLanes;
  if (I.format == Format::DPP) {
    exec &= s.enabled;
    for (unsigned k = 0; k < I.src[0].dwords && k < 2; ++k)
      defined &= s.permuted[k];
    unsigned skip = I.src[0].isVGPR() ? I.src[0].dwords : 0;
    for (unsigned i = skip; i < p.vectorCount; ++i)
      defined &= s.vector[p.vector[i]];
  } else {
    for (unsigned i = 0; i < p.vectorCount; ++i)
      defined &= s.vector[p.vector[i]];
  }
  for (unsigned i = 0; i < p.scalarCount; ++i)
    if (s.scalar[p.scalar[i]] != ~0u)
      defined = 0;
  if (p.maskRead >= 0)
    defined &=
        s.scalar[p.maskRead] | (uint64_t(s.scalar[p.maskRead + 1]) << 32);
  if (!(exec & ~defined)) {
    for (unsigned k = 0; k < p.resultCount; ++k)
      s.vector[p.result + k] |= exec;
    if (p.maskWrite >= 0)
      s.scalar[p.maskWrite] = s.scalar[p.maskWrite + 1] = ~0u;
    return; // EXEC is defined in any case
  }
  Origin origin;
  bool found = false;
  for (unsigned i = 0; i < p.vectorCount && !found; ++i)
    if (exec & ~s.vector[p.vector[i]]) {
      origin = s.vectorOrigin[p.vector[i]];
      found = true;
    }
  for (unsigned i = 0; i < p.scalarCount && !found; ++i)
    if (s.scalar[p.scalar[i]] != ~0u) {
      origin = s.scalarOrigin[p.scalar[i]];
      found = true;
    }
  if (!found && p.maskRead >= 0)
    origin = s.scalar[p.maskRead] != ~0u ? s.scalarOrigin[p.maskRead]
                                         : s.scalarOrigin[p.maskRead + 1];
  origin.computed |= p.computes;
  for (unsigned k = 0; k < p.resultCount; ++k)
    setVector(s, p.result + k, exec, defined, origin);
  if (p.maskWrite >= 0)
    setScalar(s, static_cast<unsigned>(p.maskWrite), 2, defined | ~w.exec,
              origin);
  if (p.writesExec)
    setScalar(s, sgprEXEC, 2, defined | ~w.exec, origin);
}

void Checker::vectorRule(Wave &w, WaveState &s, const DecodedInstruction &I,
                         const Plan &p, uint32_t index) {
  uint64_t exec = w.exec;
  Origin origin;
  if (I.format == Format::DPP && I.src[0].isVGPR()) {
    s.enabled = 0;
    s.permuted[0] = s.permuted[1] = 0;
    for (unsigned l = 0; l < lanesPerWave; ++l) {
      int from = dppSource(I.dppControl, static_cast<int>(l));
      if (from >= 0 && !((w.exec >> from) & 1))
        from = -1;
      bool on = ((I.dppRowMask >> (l / 16)) & 1) &&
                ((I.dppBankMask >> ((l % 16) / 4)) & 1) &&
                (from >= 0 || I.dppBoundControl);
      s.enabled |= uint64_t(on) << l;
      for (unsigned k = 0; k < I.src[0].dwords && k < 2; ++k)
        s.permuted[k] |=
            (from >= 0 ? (s.vector[(I.src[0].index + k) % 512] >> from) & 1 : 1)
            << l;
    }
    if (p.rule == Rule::Copy) {
      exec &= s.enabled;
      for (unsigned k = 0; k < p.resultCount && k < 2; ++k)
        setVector(s, p.result + k, exec, s.permuted[k],
                  s.vectorOrigin[(I.src[0].index + k) % 512]);
      return;
    }
  }
  switch (p.rule) {
  case Rule::Strict:
    strict(w, s, I, p);
    return;
  case Rule::LowFirst:
  case Rule::HighFirst: {
    unsigned half = p.rule == Rule::HighFirst;
    uint64_t mask = allLanes;
    const Operand &amount = I.src[0];
    if (p.shifts && amount.kind != OperandKind::VGPR &&
        (scalarValue(w, amount, 1) & 63) >= 32 &&
        operandMask(s, amount, 0, origin, exec) == allLanes) {
      // One dword comes from the other one, which leaves zeros or signs.
      const Operand &shifted = I.src[1];
      mask = operandMask(s, shifted,
                         shifted.kind == OperandKind::Constant ? 0 : half,
                         origin, exec);
      origin.computed = true;
      setVector(s, p.result + 1 - half, exec, mask, origin);
      setVector(s, p.result + half, exec, p.arithmetic ? mask : allLanes,
                origin);
      return;
    }
    for (unsigned i = 0; i < 3; ++i)
      if (I.src[i].kind != OperandKind::None)
        mask &= operandMask(s, I.src[i],
                            I.src[i].kind != OperandKind::Constant &&
                                    I.src[i].dwords == 2
                                ? half
                                : 0,
                            origin, exec);
    strict(w, s, I, p);
    origin.computed = true;
    setVector(s, p.result + half, exec, mask, origin);
    return;
  }
  case Rule::Copy: {
    uint64_t mask[2] = {allLanes, allLanes};
    Origin origins[2];
    for (unsigned k = 0; k < p.resultCount && k < 2; ++k)
      mask[k] = operandMask(s, I.src[0],
                            I.src[0].kind == OperandKind::Constant ? 0 : k,
                            origins[k], exec);
    for (unsigned k = 0; k < p.resultCount && k < 2; ++k)
      setVector(s, p.result + k, exec, mask[k], origins[k]);
    return;
  }
  case Rule::PackedF32: {
    uint64_t mask[2] = {allLanes, allLanes};
    Origin origins[2];
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned i = 0; i < 3; ++i) {
        const Operand &o = I.src[i];
        if (o.kind == OperandKind::None)
          continue;
        unsigned dword = o.dwords < 2 ? 0 : (o.modifiers >> (2 + half)) & 1;
        mask[half] &= operandMask(s, o, dword, origins[half], exec);
      }
    for (unsigned half = 0; half < 2; ++half) {
      origins[half].computed = true;
      setVector(s, p.result + half, exec, mask[half], origins[half]);
    }
    return;
  }
  case Rule::PackedMove: {
    uint64_t mask[2];
    Origin origins[2];
    for (unsigned half = 0; half < 2; ++half) {
      const Operand &o = I.src[half];
      unsigned dword = o.dwords < 2 ? 0 : (o.modifiers >> 2) & 1;
      mask[half] = operandMask(s, o, dword, origins[half], exec);
    }
    for (unsigned half = 0; half < 2; ++half)
      setVector(s, p.result + half, exec, mask[half], origins[half]);
    return;
  }
  case Rule::Select: {
    unsigned m = static_cast<unsigned>(p.maskRead);
    uint64_t chosen = w.read64(m);
    uint64_t known = s.scalar[m] | (uint64_t(s.scalar[m + 1]) << 32);
    Origin origins[3];
    uint64_t ifZero =
        I.format == Format::DPP
            ? s.permuted[0]
            : operandMask(s, I.src[0], 0, origins[0], exec & ~chosen);
    if (I.format == Format::DPP && I.src[0].isVGPR())
      origins[0] = s.vectorOrigin[I.src[0].index % 512];
    uint64_t ifOne = operandMask(s, I.src[1], 0, origins[1], exec & chosen);
    origins[2] = s.scalar[m] != ~0u ? s.scalarOrigin[m] : s.scalarOrigin[m + 1];
    origins[2].computed = true;
    if (I.format == Format::DPP)
      exec &= s.enabled;
    uint64_t defined = known & ((chosen & ifOne) | (~chosen & ifZero));
    origin = exec & ~known              ? origins[2]
             : exec & ~chosen & ~ifZero ? origins[0]
                                        : origins[1];
    setVector(s, p.result, exec, defined, origin);
    return;
  }
  case Rule::AnySource: {
    uint64_t defined = 0;
    bool any = false;
    for (unsigned i = 0; i < 3; ++i) {
      const Operand &o = I.src[i];
      if (o.kind != OperandKind::VGPR && o.kind != OperandKind::SGPR)
        continue;
      defined |= operandMask(s, o, 0, origin, exec);
      any = true;
    }
    setVector(s, p.result, exec, any ? defined : allLanes, origin);
    return;
  }
  case Rule::ReadFirstLane:
  case Rule::ReadLane: {
    unsigned lane = exec ? firstLane(exec) : 0;
    bool defined = true;
    if (p.rule == Rule::ReadLane) {
      lane = scalarValue(w, I.src[1], 1) & (lanesPerWave - 1);
      Origin selector;
      defined = operandMask(s, I.src[1], 0, selector, allLanes) == allLanes;
      origin = selector;
    }
    uint64_t bit = uint64_t(1) << lane;
    if (defined) {
      uint64_t mask = operandMask(s, I.src[0], 0, origin, bit);
      defined = mask & bit;
    }
    setScalar(s, I.dst.index, 1, defined ? allLanes : 0, origin);
    return;
  }
  case Rule::WriteLane: {
    unsigned lane = scalarValue(w, I.src[1], 1) & (lanesPerWave - 1);
    uint64_t mask = operandMask(s, I.src[0], 0, origin, allLanes);
    // A lane has one bit here. Masks of lanes that are spilled this way have
    // undefined bits for the lanes that are idle: -O0 code is full of them.
    if (I.src[0].kind == OperandKind::SGPR && s.scalar[I.src[0].index])
      mask = allLanes;
    setVector(s, I.dst.index, uint64_t(1) << lane, mask, origin);
    return;
  }
  case Rule::Swap: {
    unsigned a = I.dst.index % 512, b = I.src[0].index % 512;
    uint64_t maskA = s.vector[a], maskB = s.vector[b];
    Origin originA = s.vectorOrigin[a], originB = s.vectorOrigin[b];
    setVector(s, a, exec, maskB, originB);
    setVector(s, b, exec, maskA, originA);
    return;
  }
  case Rule::Matrix: {
    // Coarse: a result is undefined where its accumulator is, and everywhere
    // if a register of A or B is undefined in all lanes.
    uint64_t inputs = allLanes;
    for (unsigned i = 0; i < 2; ++i)
      if (I.src[i].isVGPR())
        for (unsigned k = 0; k < I.src[i].dwords; ++k)
          if (s.vector[(I.src[i].index + k) % 512] == 0) {
            inputs = 0;
            origin = s.vectorOrigin[(I.src[i].index + k) % 512];
          }
    origin.computed = true;
    bool accumulates = I.src[2].isVGPR() && I.src[2].dwords == p.resultCount;
    uint64_t masks[32];
    Origin origins[32];
    for (unsigned k = 0; k < p.resultCount && k < 32; ++k) {
      masks[k] = inputs;
      origins[k] = origin;
      if (accumulates && inputs) {
        masks[k] = operandMask(s, I.src[2], k, origins[k], allLanes);
        origins[k].computed = true;
      }
    }
    for (unsigned k = 0; k < p.resultCount && k < 32; ++k)
      setVector(s, p.result + k, allLanes, masks[k], origins[k]);
    return;
  }
  case Rule::Permute: {
    bool swizzles =
        dispatch.image.opcodeNames[I.opcodeName] == "DS_SWIZZLE_B32";
    const Operand &data = I.src[swizzles ? 0 : 1];
    bool scatters =
        dispatch.image.opcodeNames[I.opcodeName] == "DS_PERMUTE_B32";
    if (!swizzles)
      useVector(w, index, I.src[0].index, 1, exec,
                "the lane that is addressed");
    uint64_t mask = s.vector[data.index % 512];
    uint64_t defined = allLanes;
    if (exec & ~mask) {
      defined = scatters ? allLanes : 0;
      for (unsigned l = 0; l < lanesPerWave; ++l) {
        if (scatters) {
          unsigned to =
              ((w.vgpr[I.src[0].index][l] + uint32_t(I.imm)) / 4) & 63;
          if ((exec >> l) & 1)
            defined =
                (defined & ~(uint64_t(1) << to)) | (((mask >> l) & 1) << to);
          continue;
        }
        unsigned from =
            swizzles ? swizzleSource(static_cast<unsigned>(I.imm) & 0xffff, l)
                     : ((w.vgpr[I.src[0].index][l] + uint32_t(I.imm)) / 4) & 63;
        // Idle lanes read as zero.
        bool good = !((exec >> from) & 1) || ((mask >> from) & 1);
        defined |= uint64_t(good) << l;
      }
    }
    setVector(s, I.dst.index, exec, defined, s.vectorOrigin[data.index % 512]);
    return;
  }
  default:
    return;
  }
}

void Checker::scalarRule(Wave &w, WaveState &s, const DecodedInstruction &I,
                         const Plan &p, uint32_t index) {
  unsigned dwords = p.resultCount > 1 ? 2 : 1;
  Origin origin;
  auto originOf = [&](const Operand &o) {
    if (o.kind == OperandKind::SGPR)
      for (unsigned k = 0; k < o.dwords; ++k)
        if (s.scalar[o.index + k] != ~0u)
          return s.scalarOrigin[o.index + k];
    return s.sccOrigin;
  };
  auto setSCC = [&](bool defined, const Origin &from) {
    s.scc = defined;
    if (!defined)
      s.sccOrigin = from;
  };
  switch (p.rule) {
  case Rule::ScalarStrict: {
    bool defined = !p.readsSCC || s.scc;
    if (!defined)
      origin = s.sccOrigin;
    for (unsigned i = 0; i < 4 && defined; ++i)
      if (scalarBits(s, I.src[i], I.src[i].dwords) != allLanes) {
        defined = false;
        origin = originOf(I.src[i]);
      }
    origin.computed = true;
    uint64_t bits = defined ? allLanes : 0;
    if (!defined && p.shifts) {
      // Undefined bits move with the others.
      uint64_t undefined = ~scalarBits(s, I.src[0], 2);
      uint64_t amount = scalarValue(w, I.src[1], 1) & 63;
      if (scalarBits(s, I.src[1], 1) == allLanes)
        bits = ~(p.shifts > 0   ? undefined << amount
                 : p.arithmetic ? static_cast<uint64_t>(
                                      static_cast<int64_t>(undefined) >> amount)
                                : undefined >> amount);
    }
    setScalar(s, p.result, p.resultCount, bits, origin);
    if (p.writesSCC)
      setSCC(defined, origin);
    break;
  }
  case Rule::ScalarCopy: {
    uint64_t bits = scalarBits(s, I.src[0], dwords);
    origin = originOf(I.src[0]);
    setScalar(s, p.result, p.resultCount, bits, origin);
    if (p.writesSCC) // s_not
      setSCC(bits == allLanes, origin);
    break;
  }
  case Rule::ScalarLogic:
  case Rule::SaveExec:
  case Rule::WriteExec: {
    bool exec = p.rule != Rule::ScalarLogic;
    unsigned width = exec ? 2 : dwords;
    uint64_t a = scalarValue(w, I.src[0], width);
    uint64_t da = scalarBits(s, I.src[0], width);
    uint64_t b = exec ? w.read64(sgprEXEC) : scalarValue(w, I.src[1], width);
    uint64_t db = exec ? allLanes : scalarBits(s, I.src[1], width);
    if (p.invertFirst)
      a = ~a;
    if (p.invertSecond)
      b = ~b;
    uint64_t defined = da & db, value;
    switch (p.logic) {
    case Logic::And:
      defined |= (da & ~a) | (db & ~b);
      value = a & b;
      break;
    case Logic::Or:
      defined |= (da & a) | (db & b);
      value = a | b;
      break;
    case Logic::Xor:
      value = a ^ b;
      break;
    }
    if (p.invertResult)
      value = ~value;
    if (width == 1) {
      value &= 0xffffffffu;
      defined |= uint64_t(0xffffffffu) << 32;
    }
    origin = da != allLanes ? originOf(I.src[0]) : originOf(I.src[1]);
    if (p.rule == Rule::SaveExec) {
      setScalar(s, p.result, p.resultCount, allLanes, origin);
      setScalar(s, sgprEXEC, 2, defined, origin);
    } else {
      setScalar(s, p.result, p.resultCount, defined, origin);
      if (p.rule == Rule::WriteExec)
        setScalar(s, sgprEXEC, 2, defined, origin);
    }
    // A bit that is set for certain decides.
    setSCC(defined == allLanes || (value & defined), origin);
    break;
  }
  case Rule::ScalarSelect:
  case Rule::ScalarMove: {
    uint64_t bits;
    if (!s.scc) {
      bits = 0;
      origin = s.sccOrigin;
      origin.computed = true;
    } else if (p.rule == Rule::ScalarMove && !w.scc) {
      break;
    } else {
      const Operand &o = I.src[w.scc || p.rule == Rule::ScalarMove ? 0 : 1];
      bits = scalarBits(s, o, dwords);
      origin = originOf(o);
    }
    setScalar(s, p.result, p.resultCount, bits, origin);
    break;
  }
  case Rule::ScalarRelative: {
    useScalar(w, index, sgprM0, 1, "the index of a register");
    uint32_t m0 = w.sgpr[sgprM0];
    bool source =
        StringRef(dispatch.image.opcodeNames[I.opcodeName]).contains("RELS");
    uint32_t from = I.src[0].index + (source ? m0 : 0);
    uint32_t to = I.dst.index + (source ? 0 : m0);
    unsigned count = I.dst.dwords;
    if (from + count > scalarRegisters || to + count > scalarRegisters)
      break; // an error that the instruction reports itself
    for (unsigned k = 0; k < count; ++k) {
      bool isRegister = I.src[0].kind == OperandKind::SGPR;
      s.scalar[to + k] = isRegister ? s.scalar[from + k] : ~0u;
      if (isRegister)
        s.scalarOrigin[to + k] = s.scalarOrigin[from + k];
    }
    break;
  }
  case Rule::BranchSCC:
    if (!s.scc) {
      report(kindOf(s.sccOrigin.kind), w, index, -1,
             "the branch depends on SCC, whose value comes from " +
                 describe(s.sccOrigin));
      s.scc = true;
    }
    break;
  case Rule::BranchVCC: {
    uint64_t known =
        s.scalar[sgprVCC] | (uint64_t(s.scalar[sgprVCC + 1]) << 32);
    if (known != allLanes && !(w.read64(sgprVCC) & known))
      useScalar(w, index, sgprVCC, 2, "the branch");
    break;
  }
  case Rule::BranchRegister:
    if (I.src[0].kind == OperandKind::SGPR)
      useScalar(w, index, I.src[0].index, 2, "the target of the jump");
    setScalar(s, p.result, p.resultCount, allLanes, origin);
    break;
  default:
    break;
  }
}

void Checker::addressUse(Wave &w, const DecodedInstruction &, const Plan &p,
                         uint32_t index) {
  for (unsigned i = 0; i < p.vectorCount; ++i)
    useVector(w, index, p.vector[i], 1, w.exec, "the address");
  for (unsigned i = 0; i < p.scalarCount; ++i)
    useScalar(w, index, p.scalar[i], 1, "the address");
}

void Checker::before(Wave &w, const DecodedInstruction &I, uint32_t index) {
  WaveState &s = *static_cast<WaveState *>(w.observed);
  const Plan &p = plans[index];
  if (s.outstanding && options.waits)
    checkPending(w, s, I, p, index);
  if (p.notAllocated >= 0)
    reportNotAllocated(w, index, p.notAllocatedVector,
                       static_cast<unsigned>(p.notAllocated));
  if (!options.uninitialised)
    return;
  switch (p.rule) {
  case Rule::None:
    return;
  case Rule::Memory:
  case Rule::ScalarMemory:
    addressUse(w, I, p, index);
    return;
  default:
    break;
  }
  if (p.rule == Rule::Strict && !w.gprIndexing && I.format != Format::DPP) {
    strict(w, s, I, p);
    if (!p.writesExec)
      return;
  } else if (p.rule < Rule::ScalarStrict || p.rule == Rule::Permute) {
    if (w.gprIndexing && w.gprIndexMode && I.category == Category::VALU) {
      // The registers are only known now.
      useScalar(w, index, sgprM0, 1, "the index of a register");
      DecodedInstruction copy = I;
      Plan moved = p;
      unsigned shift = w.sgpr[sgprM0] & 0xffu;
      auto apply = [&](Operand &o) {
        if (!o.isVGPR())
          return true;
        unsigned base = o.index < agprBase ? 0 : agprBase;
        unsigned at = o.index - base + shift;
        o.index = static_cast<uint16_t>(base + at);
        if (at + o.dwords > 256)
          return false;
        int16_t beyond = firstNotAllocated(
            {RegisterFile::Vector, o.index, static_cast<uint16_t>(o.dwords)});
        if (beyond >= 0)
          reportNotAllocated(w, index, true, static_cast<unsigned>(beyond));
        return true;
      };
      for (unsigned i = 0; i < 3; ++i)
        if (((w.gprIndexMode >> i) & 1) && !apply(copy.src[i]))
          return; // an error that the instruction reports itself
      if ((w.gprIndexMode & 8) && !apply(copy.dst))
        return;
      if (moved.resultCount)
        moved.result = copy.dst.index;
      fillVector(copy,
                 sourcesOf(copy, dispatch.image.opcodeNames[I.opcodeName]),
                 moved.vector, moved.vectorCount, 12);
      vectorRule(w, s, copy, moved, index);
    } else {
      vectorRule(w, s, I, p, index);
    }
  } else {
    scalarRule(w, s, I, p, index);
  }
  if (p.writesExec) {
    uint64_t known =
        s.scalar[sgprEXEC] | (uint64_t(s.scalar[sgprEXEC + 1]) << 32);
    if (known != allLanes)
      useScalar(w, index, sgprEXEC, 2, "EXEC, and with it the control flow,");
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether one of the flags is set; a dword has four.
static bool anySet(const uint8_t *flags, unsigned count) {
  if (count == 4) {
    uint32_t four;
    std::memcpy(&four, flags, 4);
    return four != 0;
  }
  return std::any_of(flags, flags + count, [](uint8_t flag) { return flag; });
}

static void setAll(uint8_t *flags, unsigned count, bool value) {
  if (count == 4)
    std::memset(flags, value, 4);
  else
    std::memset(flags, value, count);
}

void Checker::memoryEffect(Wave &w, const DecodedInstruction &I, const Plan &p,
                           uint32_t index, const AccessRecord &record) {
  WaveState &s = *static_cast<WaveState *>(w.observed);
  GroupState &group = *s.group;
  const auto &view = dispatch.view;
  uint64_t faulty = 0;
  for (const LaneFault &fault : record.faults)
    faulty |= fault.lane >= 0 ? uint64_t(1) << fault.lane : allLanes;

  const Region *region = nullptr;
  auto find = [&](uint64_t address) {
    if (!region || address - region->base >= region->size)
      region = view.find(address);
    return region;
  };
  /// Whether any of the bytes is defined.
  auto isDefined = [&](AccessSpace space, uint64_t address, unsigned lane,
                       unsigned bytes) {
    switch (space) {
    case AccessSpace::LDS: {
      if (address + bytes > group.defined.size())
        return true;
      return anySet(&group.defined[address], bytes);
    }
    case AccessSpace::Scratch: {
      if (address + bytes > w.scratchPerLane)
        return true;
      uint64_t mask = 0;
      for (unsigned i = 0; i < bytes; ++i)
        mask |= s.scratch[address + i];
      return ((mask >> lane) & 1) != 0;
    }
    case AccessSpace::Global:
    case AccessSpace::Scalar: {
      const Region *r = find(address);
      if (!r || !r->defined || r->defined->all() ||
          r->size - (address - r->base) < bytes)
        return true;
      return r->defined->any(address - r->base, bytes);
    }
    }
    return true;
  };
  auto setDefined = [&](AccessSpace space, uint64_t address, unsigned lane,
                        unsigned bytes, bool defined) {
    switch (space) {
    case AccessSpace::LDS:
      if (address + bytes <= group.defined.size())
        setAll(&group.defined[address], bytes, defined);
      return;
    case AccessSpace::Scratch:
      if (address + bytes <= w.scratchPerLane)
        for (unsigned i = 0; i < bytes; ++i)
          s.scratch[address + i] =
              (s.scratch[address + i] & ~(uint64_t(1) << lane)) |
              (uint64_t(defined) << lane);
      return;
    case AccessSpace::Global:
    case AccessSpace::Scalar: {
      const Region *r = find(address);
      if (!r || !r->defined || r->size - (address - r->base) < bytes ||
          (defined && r->defined->all()))
        return;
      r->defined->set(address - r->base, bytes, defined);
      return;
    }
    }
  };
  auto originKind = [](AccessSpace space) {
    return space == AccessSpace::LDS       ? Origin::LDS
           : space == AccessSpace::Scratch ? Origin::Scratch
                                           : Origin::Global;
  };

  if (p.rule == Rule::ScalarMemory) {
    const MemoryAccess *a = record.count ? &record.access[0] : nullptr;
    if (a && a->write && !a->atomic && !faulty) {
      for (unsigned k = 0; k < a->bytes / 4; ++k)
        setDefined(a->space, a->address[0] + 4 * k, 0, 4,
                   s.scalar[I.dst.index + k] != 0);
    }
    if (I.dst.kind != OperandKind::SGPR || (a && !a->returns))
      return;
    for (unsigned k = 0; k < I.dst.dwords; ++k) {
      Origin origin;
      origin.kind = Origin::Global;
      origin.index = index;
      bool defined = true;
      if (a && !faulty && 4 * k + 4 <= a->bytes) {
        origin.address = a->address[0] + 4 * k;
        defined = isDefined(a->space, origin.address, 0, 4);
      }
      setScalar(s, I.dst.index + k, 1, defined ? allLanes : 0, origin);
    }
    return;
  }

  bool loads = I.dst.isVGPR() &&
               (I.category == Category::VMEMRead || I.returnsOld ||
                I.category == Category::LDS) &&
               !p.direct;
  // Lanes that a buffer's range check turns away read zero.
  if (loads)
    for (const RegisterRange &range : dispatch.image.registerUse[index].writes)
      if (range.file == RegisterFile::Vector)
        for (unsigned k = 0; k < range.count; ++k)
          setVector(s, range.first + k, w.exec, allLanes, Origin());

  bool two = I.category == Category::LDS && record.count == 2;
  for (unsigned e = 0; e < record.count; ++e) {
    const MemoryAccess &a = record.access[e];
    uint64_t lanes = a.lanes & ~faulty;
    unsigned words = a.bytes < 4 ? 1 : a.bytes / 4;
    unsigned wordBytes = a.bytes < 4 ? a.bytes : 4;
    // Spills: all lanes at the same offset of their private memory.
    uint64_t place = 0;
    bool sameOffset = a.space == AccessSpace::Scratch && !a.atomic && lanes;
    if (sameOffset) {
      place = a.address[firstLane(lanes)];
      for (uint64_t rest = lanes; rest; rest &= rest - 1)
        sameOffset &= a.address[firstLane(rest)] == place;
      sameOffset &= place + a.bytes <= s.scratch.size();
    }
    if (p.direct) {
      // To LDS: what is read decides; it is zero out of a buffer's range, where
      // nothing has been noted.
      if (a.space == AccessSpace::LDS && a.write)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
          unsigned l = firstLane(rest);
          const MemoryAccess &from = record.access[0];
          bool defined = e == 0 || !((from.lanes >> l) & 1) ||
                         isDefined(from.space, from.address[l], l, from.bytes);
          setDefined(a.space, a.address[l], l, a.bytes, defined);
        }
      else if (a.space != AccessSpace::LDS && a.write)
        for (uint64_t rest = lanes; rest; rest &= rest - 1)
          setDefined(a.space, a.address[firstLane(rest)], firstLane(rest),
                     a.bytes, true);
      continue;
    }
    const Operand *data = nullptr;
    if (a.write) {
      data = two ? &I.src[1 + e] : &I.src[1];
      if (!data->isVGPR())
        data = &I.src[0]; // ds_write_addtid
      if (!data->isVGPR())
        data = nullptr; // ds_append
    }
    if (data) {
      uint64_t every = lanes, computed = 0, some = 0;
      Origin origin;
      unsigned count = std::min<unsigned>(words, data->dwords);
      for (unsigned k = 0; k < count; ++k) {
        unsigned reg = (data->index + k) % 512;
        uint64_t bad = lanes & ~s.vector[reg];
        every &= bad;
        some |= bad;
        if (bad && s.vectorOrigin[reg].computed)
          computed |= bad;
        if (bad && (!origin.computed))
          origin = s.vectorOrigin[reg];
      }
      uint64_t bad = every | computed;
      if (bad && a.space == AccessSpace::Global)
        report(kindOf(origin.kind), w, index, static_cast<int>(firstLane(bad)),
               "the value that is stored comes from " + describe(origin));
      bool toGlobal = a.space == AccessSpace::Global;
      if (a.atomic) {
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
          unsigned l = firstLane(rest);
          if (!isDefined(a.space, a.address[l], l, a.bytes)) {
            Origin where;
            where.kind = originKind(a.space);
            where.address = a.address[l];
            where.index = index;
            report(kindOf(where.kind), w, index, static_cast<int>(l),
                   "the atomic operation is applied to " + describe(where));
          }
          setDefined(a.space, a.address[l], l, a.bytes, true);
        }
      } else {
        bool skip = toGlobal && !some;
        for (unsigned b = 0; sameOffset && b < a.bytes; ++b) {
          uint64_t defined =
              b / 4 >= count ? allLanes : s.vector[(data->index + b / 4) % 512];
          uint64_t &flags = s.scratch[place + b];
          flags = (flags & ~lanes) | (defined & lanes);
        }
        for (uint64_t rest = sameOffset ? 0 : lanes; rest; rest &= rest - 1) {
          unsigned l = firstLane(rest);
          if (skip) {
            // The usual case: all of a buffer is defined.
            const Region *r = find(a.address[l]);
            if (!r || !r->defined || r->defined->all())
              continue;
          }
          for (unsigned k = 0; k < words; ++k) {
            bool defined = k >= count ||
                           ((s.vector[(data->index + k) % 512] >> l) & 1) ||
                           // Reported: not once more by who reads it.
                           (toGlobal && ((bad >> l) & 1));
            setDefined(a.space, a.address[l] + 4 * k, l, wordBytes, defined);
          }
        }
      }
    } else if (a.write) {
      for (uint64_t rest = lanes; rest; rest &= rest - 1)
        setDefined(a.space, a.address[firstLane(rest)], firstLane(rest),
                   a.bytes, true);
    }
    if (a.returns && !a.atomic && loads) {
      unsigned base = I.dst.index + (two ? e * words : 0);
      // Usually all of it is defined.
      if (a.space == AccessSpace::Global) {
        uint64_t rest = lanes;
        for (; rest; rest &= rest - 1) {
          const Region *r = find(a.address[firstLane(rest)]);
          if (r && r->defined && !r->defined->all())
            break;
        }
        if (!rest)
          continue;
      }
      for (unsigned k = 0; k < words; ++k) {
        uint64_t bad = 0;
        if (sameOffset) {
          uint64_t defined = 0;
          for (unsigned b = 0; b < wordBytes; ++b)
            defined |= s.scratch[place + 4 * k + b];
          bad = lanes & ~defined;
        }
        for (uint64_t rest = sameOffset ? 0 : lanes; rest; rest &= rest - 1) {
          unsigned l = firstLane(rest);
          if (!isDefined(a.space, a.address[l] + 4 * k, l, wordBytes))
            bad |= uint64_t(1) << l;
        }
        if (!bad)
          continue;
        Origin origin;
        origin.kind = originKind(a.space);
        origin.index = index;
        origin.address = a.address[firstLane(bad)] + 4 * k;
        setVector(s, base + k, bad, 0, origin);
      }
    }
  }
}

void Checker::after(Wave &w, const DecodedInstruction &I, uint32_t index,
                    const AccessRecord *record) {
  WaveState &s = *static_cast<WaveState *>(w.observed);
  const Plan &p = plans[index];
  switch (I.category) {
  case Category::Waitcnt:
    if (s.outstanding)
      wait(s, I.imm);
    return;
  case Category::SMEM:
  case Category::LDS:
  case Category::VMEMRead:
  case Category::VMEMWrite:
  case Category::VMEMAtomic:
    break;
  default:
    return;
  }
  if (w.status == WaveStatus::Failed)
    return;
  if (record) {
    for (const LaneFault &fault : record->faults) {
      FindingKind kind = FindingKind::OutOfBounds;
      if (fault.kind == FaultKind::Misaligned)
        kind = FindingKind::Misaligned;
      else if (fault.kind == FaultKind::Other)
        kind = FindingKind::InvalidAccess;
      if (&fault == record->faults.data()) // the count is one of instructions
        report(kind, w, index, fault.lane, fault.message);
    }
    if (options.misaligned && !record->hasFaults)
      for (unsigned e = 0; e < record->count; ++e) {
        const MemoryAccess &a = record->access[e];
        // Compilers lay private memory out, and merge accesses there.
        if (a.space == AccessSpace::Scratch)
          continue;
        uint64_t low = a.bytes >= 4 ? 3 : a.bytes - 1u, bits = 0;
        for (uint64_t rest = a.lanes; rest; rest &= rest - 1)
          bits |= a.address[firstLane(rest)] & low;
        if (!bits)
          continue;
        for (uint64_t rest = a.lanes; rest; rest &= rest - 1) {
          unsigned l = firstLane(rest);
          if (a.address[l] & low) {
            // Arguments, dispatch packet, constants: the compiler knows where
            // these are, and merges accesses to them.
            const Region *region = a.space == AccessSpace::Global
                                       ? dispatch.view.find(a.address[l])
                                       : nullptr;
            if (region && !region->defined)
              break;
            report(FindingKind::Misaligned, w, index, static_cast<int>(l),
                   Twine(a.write ? "write" : "read") + " of " + Twine(a.bytes) +
                       " bytes at " +
                       (a.space == AccessSpace::LDS ? "LDS offset 0x"
                                                    : "address 0x") +
                       Twine::utohexstr(a.address[l]) +
                       ", which is no multiple of " + Twine(low + 1));
            break;
          }
        }
      }
    if (options.races || options.waits) {
      for (unsigned e = 0; e < record->count; ++e) {
        const MemoryAccess &a = record->access[e];
        if (options.waits && a.space == AccessSpace::LDS && !a.write)
          checkDirectLDS(w, s, a, index);
        if (options.races && a.space != AccessSpace::Scratch)
          checkRaces(w, a, index, isAtomic(s, I, a));
      }
    }
    bool atomic = false, global = false;
    for (unsigned e = 0; e < record->count; ++e)
      if (isAtomic(s, I, record->access[e])) {
        atomic = true;
        global |= record->access[e].space != AccessSpace::LDS;
      }
    if (atomic) {
      ++s.atomics;
      if (global)
        atomicsOfGroup[s.group->number] = ++s.group->atomics;
      // What follows is ordered after other wavefronts' atomics.
      s.segmentStale = true;
    }
  }
  if (options.uninitialised &&
      (p.rule == Rule::Memory || p.rule == Rule::ScalarMemory)) {
    static const AccessRecord nothing{};
    memoryEffect(w, I, p, index, record ? *record : nothing);
  }
  if (options.waits || options.races)
    issue(s, I, index, record);
}

//===----------------------------------------------------------------------===//
// Order of accesses
//===----------------------------------------------------------------------===//

bool Checker::ordered(const Segment &before, const Segment &now,
                      const GroupState &group) const {
  if (before.group == now.group) {
    if (before.wave == now.wave || before.epoch != now.epoch)
      return true;
    // One has released with an atomic since, the other acquired with one.
    return group.waves[before.wave]->atomics > before.waveAtomics &&
           now.waveAtomics > 0;
  }
  auto it = atomicsOfGroup.find(before.group);
  return it != atomicsOfGroup.end() && it->second > before.groupAtomics &&
         now.groupAtomics > 0;
}

void Checker::forgetAccesses() {
  segments.resize(1);
  globalCells.clear();
  recentRegion = nullptr;
  for (auto &group : groups) {
    for (auto &page : group->cells.pages)
      page.reset();
    group->cells.apart.clear();
    for (auto &wave : group->waves)
      wave->segment = 0;
  }
}

uint32_t Checker::newSegment(WaveState &s) {
  if (segments.size() >= mostSegments)
    forgetAccesses();
  Segment segment;
  segment.group = s.group->number;
  segment.wave = s.number;
  segment.epoch = s.group->epoch;
  segment.waveAtomics = s.atomics;
  segment.groupAtomics = s.group->atomics;
  segments.push_back(segment);
  s.segmentStale = false;
  return s.segment = static_cast<uint32_t>(segments.size() - 1);
}

/// Atomic by its opcode, or a load or store of a language's atomic variable.
bool Checker::isAtomic(const WaveState &s, const DecodedInstruction &I,
                       const MemoryAccess &a) const {
  if (a.atomic)
    return true;
  if (a.space != AccessSpace::Global || (a.bytes != 4 && a.bytes != 8))
    return false;
  return I.coherent ||
         (a.write && s.fencedStores && !dispatch.image.isGfx942());
}

int64_t Checker::touchOne(Cell &cell, uint8_t mask, WaveState &s, bool write,
                          bool atomic, uint32_t index, bool &otherWrote,
                          uint32_t &otherSegment) {
  const uint32_t segment = s.segment;
  const Segment &now = segments[segment];
  auto concurrent = [&](uint32_t other) {
    return other && other != segment &&
           !ordered(segments[other], now, *s.group);
  };
  int64_t conflict = -1;
  // An atomic goes with atomics and with reads, which may be atomic loads; a
  // load that is known to be one goes with stores, which may be atomic as well.
  // That it is one is not to be supposed of what reads behind a barrier.
  bool late = segments[cell.writeSegment].late;
  bool tolerated =
      cell.writeAtomic
          ? atomic || (!write && !(late && !mayServeAtomics(index)))
          : atomic && !write;
  if ((cell.writeMask & mask) && !tolerated && concurrent(cell.writeSegment)) {
    conflict = cell.writeIndex;
    otherWrote = true;
    otherSegment = cell.writeSegment;
  } else if (write && !atomic && (cell.readMask & mask) && !cell.readAtomic) {
    const Segment &reader = segments[cell.readSegment];
    bool also = cell.readMany == 2
                    ? now.groupAtomics == 0
                    : cell.readMany == 1 && reader.group == now.group &&
                          reader.epoch == now.epoch && now.waveAtomics == 0;
    if (concurrent(cell.readSegment) || also) {
      conflict = cell.readIndex;
      otherWrote = false;
      otherSegment = cell.readSegment;
    }
  }
  auto isOwn = [&](const Segment &before) {
    return before.group == now.group && before.wave == now.wave &&
           before.epoch == now.epoch;
  };
  if (write && atomic && !cell.writeAtomic && (cell.writeMask & mask) &&
      cell.writeSegment && isOwn(segments[cell.writeSegment])) {
    // Its own plain store, of an initial value perhaps, is what others'
    // atomics race with.
  } else if (write) {
    cell.writeMask =
        cell.writeSegment == segment ? cell.writeMask | mask : mask;
    cell.writeSegment = segment;
    cell.writeIndex = index;
    cell.writeAtomic = atomic;
  } else if (!cell.readMask || cell.readSegment == segment) {
    cell.readAtomic = atomic && (!cell.readMask || cell.readAtomic);
    cell.readMask |= mask;
    cell.readSegment = segment;
    cell.readIndex = index;
  } else if (concurrent(cell.readSegment)) {
    cell.readAtomic &= atomic;
    bool same = segments[cell.readSegment].group == now.group;
    cell.readMany = std::max<uint8_t>(cell.readMany, same ? 1 : 2);
    cell.readMask |= mask;
  } else {
    // One that other workgroups share stays so.
    cell.readAtomic = atomic && (cell.readMany != 2 || cell.readAtomic);
    cell.readMany = cell.readMany == 2 ? 2 : 0;
    cell.readMask = cell.readMany ? cell.readMask | mask : mask;
    cell.readSegment = segment;
    cell.readIndex = index;
  }
  return conflict;
}

int64_t Checker::touch(Cells &cells, uint64_t dword, Cell &cell, uint8_t mask,
                       WaveState &s, bool write, bool atomic, uint32_t index,
                       bool &otherWrote, uint32_t &otherSegment) {
  if (!cell.apart) {
    bool mixes = write && mask != 0xf && cell.writeSegment &&
                 cell.writeSegment != s.segment && (cell.writeMask & ~mask);
    if (!mixes)
      return touchOne(cell, mask, s, write, atomic, index, otherWrote,
                      otherSegment);
    std::array<Cell, 4> &parts = cells.apart[dword];
    for (unsigned i = 0; i < 4; ++i) {
      parts[i] = cell;
      parts[i].writeMask = (cell.writeMask >> i) & 1;
      parts[i].readMask = (cell.readMask >> i) & 1;
    }
    cell.apart = true;
  }
  int64_t conflict = -1;
  std::array<Cell, 4> &parts = cells.apart[dword];
  for (unsigned i = 0; i < 4; ++i)
    if ((mask >> i) & 1) {
      int64_t one = touchOne(parts[i], 1, s, write, atomic, index, otherWrote,
                             otherSegment);
      conflict = one >= 0 ? one : conflict;
    }
  return conflict;
}

Checker::Cells *Checker::cellsOf(const Region &region) {
  if (recentRegion == &region)
    return recentCells;
  Cells &cells = globalCells[&region];
  if (cells.pages.empty())
    cells.pages.resize((region.size + 4 * Cells::page) / (4 * Cells::page));
  recentRegion = &region;
  return recentCells = &cells;
}

/// Whether a read of LDS may be an atomic load that an atomic follows, as in a
/// loop around a compare-and-swap: whether one can be reached from there
/// without a barrier.
bool Checker::mayServeAtomics(uint32_t readIndex) {
  auto [it, inserted] = servesAtomics.try_emplace(readIndex, true);
  if (!inserted)
    return it->second;
  const auto &image = dispatch.image;
  SmallVector<uint32_t, 16> next = {readIndex + 1};
  DenseSet<uint32_t> seen;
  while (!next.empty()) {
    uint32_t index = next.pop_back_val();
    if (index >= image.instructions.size() || !seen.insert(index).second)
      continue;
    const DecodedInstruction &I = image.instructions[index];
    StringRef name = image.opcodeNames[I.opcodeName];
    bool plain = name.starts_with("DS_READ") || name.starts_with("DS_WRITE") ||
                 name.contains("PERMUTE") || name == "DS_SWIZZLE_B32" ||
                 name == "DS_NOP";
    if ((I.category == Category::LDS && !plain) || (I.isFlat && I.isAtomic))
      return true;
    if (I.category == Category::Barrier || name == "S_ENDPGM")
      continue;
    if (I.category == Category::Branch) {
      if (I.target < 0)
        return true; // a call, or a return: anything
      next.push_back(static_cast<uint32_t>(I.target));
      if (name == "S_BRANCH")
        continue;
    }
    next.push_back(index + 1);
  }
  return servesAtomics[readIndex] = false;
}

void Checker::noteStaleRead(WaveState &s, const Cell &cell, uint64_t dword,
                            uint8_t mask, bool changes, uint32_t index) {
  GroupState &group = *s.group;
  if (!group.staleReads.empty()) {
    auto it = group.staleReads.find(dword);
    if (it != group.staleReads.end() && it->second.wave == s.number)
      group.staleReads.erase(it); // it looks again
  }
  if (!changes || cell.apart || !(cell.readMask & mask) ||
      cell.readSegment == s.segment)
    return;
  const Segment &reader = segments[cell.readSegment];
  if (reader.wave == s.number || reader.epoch != group.epoch ||
      ordered(reader, segments[s.segment], group) ||
      mayServeAtomics(cell.readIndex))
    return;
  group.staleReads.try_emplace(
      dword, StaleRead{reader.wave, cell.readIndex, s.number, index});
}

void Checker::reportStaleReads(WorkgroupExecution &execution,
                               GroupState &group) {
  for (const auto &[dword, read] : group.staleReads)
    report(FindingKind::LDSRace, execution.waves()[read.wave], read.index, -1,
           "read of LDS offset " + Twine(4 * dword) + ", which wavefront " +
               Twine(read.writer) + " changes after it by the atomic at " +
               place(read.writeIndex) + ", with no barrier between");
  group.staleReads.clear();
}

void Checker::checkRaces(Wave &w, const MemoryAccess &a, uint32_t index,
                         bool atomic) {
  WaveState &s = *static_cast<WaveState *>(w.observed);
  // An atomic does not need a segment of its own.
  if (!s.segment || (s.segmentStale && !atomic))
    newSegment(s);
  const Region *region = nullptr;
  Cells *cells = nullptr;
  uint64_t size = 0, base = 0;
  if (a.space == AccessSpace::LDS) {
    cells = &s.group->cells;
    size = s.group->defined.size();
  }
  uint64_t previous = ~uint64_t(0);
  for (uint64_t rest = a.lanes; rest; rest &= rest - 1) {
    unsigned l = firstLane(rest);
    uint64_t address = a.address[l];
    if (address == previous)
      continue;
    previous = address;
    if (a.space != AccessSpace::LDS) {
      if (!region || address - region->base >= region->size) {
        region = dispatch.view.find(address);
        if (!region)
          continue;
        cells = region->writable ? cellsOf(*region) : nullptr;
        base = region->base;
        size = region->size;
      }
      if (!cells)
        continue;
    }
    uint64_t offset = address - base;
    if (offset > size || size - offset < a.bytes)
      continue;
    for (uint64_t dword = offset / 4; dword <= (offset + a.bytes - 1) / 4;
         ++dword) {
      uint8_t mask = 0xf;
      if (4 * dword < offset)
        mask &= static_cast<uint8_t>(0xf << (offset - 4 * dword));
      if (4 * dword + 4 > offset + a.bytes)
        mask &= static_cast<uint8_t>(0xf >> (4 * dword + 4 - offset - a.bytes));
      bool otherWrote = false;
      uint32_t otherSegment = 0;
      Cell &cell = cells->at(dword);
      if (a.space == AccessSpace::LDS)
        noteStaleRead(s, cell, dword, mask, a.write && atomic, index);
      int64_t other = touch(*cells, dword, cell, mask, s, a.write, atomic,
                            index, otherWrote, otherSegment);
      if (a.write && a.space == AccessSpace::LDS) {
        // Threads that hold copies of a value may all write it: Triton does.
        uint32_t contents = 0;
        std::memcpy(&contents, w.group->lds.data() + 4 * dword,
                    std::min<uint64_t>(4, size - 4 * dword));
        uint32_t changed = contents ^ cell.written;
        bool same = other >= 0 && otherWrote && !atomic;
        for (unsigned i = 0; i < 4; ++i)
          same &= !((mask >> i) & 1) || !((changed >> (8 * i)) & 0xff);
        if (same)
          other = -1;
        cell.written = contents;
      }
      if (other < 0)
        continue;
      const Segment &segment = segments[otherSegment];
      bool lds = a.space == AccessSpace::LDS;
      FindingKind kind = lds ? FindingKind::LDSRace : FindingKind::GlobalRace;
      if (known.count({index, kind})) {
        report(kind, w, index, static_cast<int>(l), "");
        return;
      }
      std::string where =
          lds ? "LDS offset " + std::to_string(offset)
              : "byte " + std::to_string(offset) + " of '" + region->name + "'";
      std::string who = "wavefront " + std::to_string(segment.wave);
      if (segment.group != s.group->number)
        who += " of workgroup number " + std::to_string(segment.group);
      std::string why =
          segment.late
              ? ", an access that was outstanding at the barrier (no s_waitcnt "
                "before it)"
          : segment.group == s.group->number
              ? ", with no barrier between"
              : ", and workgroups run in any order";
      report(kind, w, index, static_cast<int>(l),
             Twine(a.write ? "write" : "read") + " of " + where + ", which " +
                 who + (otherWrote ? " wrote" : " read") + " at " +
                 place(static_cast<uint32_t>(other)) + why);
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Outstanding memory instructions
//===----------------------------------------------------------------------===//

void Checker::markPending(WaveState &s, uint32_t index, int change) {
  for (const RegisterRange &range : dispatch.image.registerUse[index].writes) {
    uint8_t *pending = range.file == RegisterFile::Vector   ? s.pendingVector
                       : range.file == RegisterFile::Scalar ? s.pendingScalar
                                                            : nullptr;
    for (unsigned k = 0; pending && k < range.count; ++k)
      pending[range.first + k] =
          static_cast<uint8_t>(pending[range.first + k] + change);
  }
}

void Checker::complete(WaveState &s, const Outstanding &operation) {
  if (!operation.forgotten)
    markPending(s, operation.index, -1);
  --s.outstanding;
}

void Checker::wait(WaveState &s, int64_t immediate) {
  size_t vm =
      static_cast<size_t>((immediate & 15) | (((immediate >> 14) & 3) << 4));
  size_t lgkm = static_cast<size_t>((immediate >> 8) & 15);
  if (vm == 0)
    s.fencedStores = s.storedLast;
  // In order among themselves, whatever else is counted with them.
  while (s.vm.size() > vm) {
    complete(s, s.vm.front());
    s.vm.pop_front();
  }
  while (s.lds.size() > lgkm) {
    complete(s, s.lds.front());
    s.lds.pop_front();
  }
  if (lgkm == 0)
    while (!s.unordered.empty()) {
      complete(s, s.unordered.front());
      s.unordered.pop_front();
    }
}

void Checker::issue(WaveState &s, const DecodedInstruction &I, uint32_t index,
                    const AccessRecord *record) {
  if (plans[index].rule == Rule::None)
    return;
  Outstanding o;
  o.index = index;
  bool lds = false, other = false;
  for (unsigned e = 0; record && e < record->count; ++e) {
    const MemoryAccess &a = record->access[e];
    (a.space == AccessSpace::LDS ? lds : other) = true;
    if (a.space == AccessSpace::Global && I.category != Category::SMEM) {
      s.storedLast = a.write && !a.atomic;
      s.fencedStores = false;
    }
    if (a.space != AccessSpace::LDS || !options.races)
      continue;
    o.ldsWrite |= a.write;
    o.ldsBytes = a.bytes;
    for (uint64_t rest = a.lanes; rest; rest &= rest - 1)
      o.ldsOffsets.push_back(static_cast<uint32_t>(a.address[firstLane(rest)]));
  }
  auto push = [&](std::deque<Outstanding> &queue, Outstanding operation,
                  size_t most) {
    markPending(s, index, 1);
    ++s.outstanding;
    queue.push_back(std::move(operation));
    while (queue.size() > most) {
      complete(s, queue.front());
      queue.pop_front();
    }
  };
  switch (I.category) {
  case Category::LDS:
    push(s.lds, std::move(o), mostLGKM);
    return;
  case Category::SMEM:
    push(s.unordered, std::move(o), mostUnordered);
    return;
  default:
    break;
  }
  if (I.isFlat && lds) {
    // Comes back through LDS, out of order with all that is counted.
    push(s.unordered, o, mostUnordered);
    if (!other)
      return;
    o.ldsOffsets.clear();
  } else {
    o.ldsDirect = lds;
  }
  push(s.vm, std::move(o), mostVM);
}

void Checker::checkPending(Wave &w, WaveState &s, const DecodedInstruction &I,
                           const Plan &p, uint32_t index) {
  const uint16_t *list = uses.data() + p.uses;
  for (unsigned i = 0; i < unsigned(p.vectorUses) + p.scalarUses; ++i) {
    bool vector = i < p.vectorUses;
    unsigned reg = list[i];
    if (!(vector ? s.pendingVector : s.pendingScalar)[reg])
      continue;
    RegisterFile file = vector ? RegisterFile::Vector : RegisterFile::Scalar;
    auto contains = [&](ArrayRef<RegisterRange> ranges) {
      for (const RegisterRange &range : ranges)
        if (range.file == file && reg >= range.first &&
            reg < unsigned(range.first) + range.count)
          return true;
      return false;
    };
    const auto &use = dispatch.image.registerUse;
    bool reads = contains(use[index].reads);
    bool loadsByVM = (I.category == Category::VMEMRead ||
                      I.category == Category::VMEMAtomic) &&
                     !I.isFlat;
    bool loadsByLDS = I.category == Category::LDS;
    auto look = [&](std::deque<Outstanding> &queue, const char *counter,
                    bool inOrder, bool sameQueue) {
      for (size_t k = 0; k < queue.size(); ++k) {
        Outstanding &o = queue[k];
        if (o.forgotten || !contains(use[o.index].writes))
          continue;
        // Results of the same kind arrive in order.
        if (!reads && sameQueue)
          continue;
        size_t most = inOrder ? queue.size() - 1 - k : 0;
        report(FindingKind::MissingWait, w, index, -1,
               Twine(vector ? vectorName(reg) : scalarName(reg)) +
                   (reads ? " is read" : " is overwritten") +
                   " before the result of " + place(o.index) +
                   " is waited for: s_waitcnt " + counter + "(" + Twine(most) +
                   ") is missing");
        markPending(s, o.index, -1);
        o.forgotten = true;
        return true;
      }
      return false;
    };
    if (!look(s.vm, "vmcnt", true, loadsByVM) &&
        !look(s.lds, "lgkmcnt", true, loadsByLDS))
      look(s.unordered, "lgkmcnt", false, false);
  }
}

/// LDS that a load straight to LDS of the same wavefront will still write.
void Checker::checkDirectLDS(Wave &w, WaveState &s, const MemoryAccess &a,
                             uint32_t index) {
  for (size_t k = 0; k < s.vm.size(); ++k) {
    Outstanding &o = s.vm[k];
    if (!o.ldsDirect || !o.ldsWrite || o.forgotten)
      continue;
    for (uint64_t rest = a.lanes; rest; rest &= rest - 1) {
      unsigned l = firstLane(rest);
      for (uint32_t offset : o.ldsOffsets)
        if (a.address[l] < uint64_t(offset) + o.ldsBytes &&
            offset < a.address[l] + a.bytes) {
          report(FindingKind::MissingWait, w, index, static_cast<int>(l),
                 "LDS offset " + Twine(offset) +
                     " is read before the load to LDS at " + place(o.index) +
                     " is waited for: s_waitcnt vmcnt(" +
                     Twine(s.vm.size() - 1 - k) + ") is missing");
          o.forgotten = true;
          return;
        }
    }
  }
}
