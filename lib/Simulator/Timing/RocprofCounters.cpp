//===- RocprofCounters.cpp - Counters by rocprof's names -----------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Simulator/MatrixInstruction.h"
#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Target/Target.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;

/// "ADD_F64" and the like for a vector instruction that rocprof counts by kind,
/// empty for others.
static std::string arithmeticKind(StringRef opcode) {
  if (!opcode.consume_front("V_"))
    return "";
  opcode.consume_front("PK_");
  for (StringRef type : {"F16", "F32", "F64"}) {
    StringRef name = opcode;
    if (!name.consume_back(type) || !name.consume_back("_"))
      continue;
    StringRef kind =
        StringSwitch<StringRef>(name)
            .Cases({"ADD", "SUB", "SUBREV"}, "ADD")
            .Cases({"MUL", "MUL_LEGACY"}, "MUL")
            .Cases({"FMA", "FMAC", "MAD", "MAC", "FMAMK", "FMAAK"}, "FMA")
            .Cases(
                {"RCP", "RSQ", "SQRT", "EXP", "LOG", "SIN", "COS", "RCP_IFLAG"},
                "TRANS")
            .Default("");
    return kind.empty() ? "" : (kind + "_" + type).str();
  }
  return "";
}

/// The type by which rocprof counts a matrix instruction, and the operations
/// that it does.
static std::pair<StringRef, double> matrixWork(StringRef opcode) {
  std::string canonical = canonicalMatrixName(opcode);
  StringRef name = canonical;
  // <M>X<N>X<K>, after the type of the result.
  SmallVector<StringRef> parts;
  name.split(parts, '_');
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  StringRef type;
  for (size_t i = 0; i < parts.size(); ++i) {
    StringRef rest = parts[i];
    if (rest.consumeInteger(10, m) || !rest.consume_front("X") ||
        rest.consumeInteger(10, n) || !rest.consume_front("X") ||
        rest.consumeInteger(10, k))
      continue;
    type = !rest.empty() ? rest : i + 1 < parts.size() ? parts[i + 1] : rest;
    break;
  }
  if (!k)
    return {"", 0};
  // Small shapes do several products at once: a wavefront gives each block
  // 64 / blocks lanes.
  if (type == "F64")
    blocks = m == 4 ? 4 : 1;
  else if (m == 32 && (k == 1 || (k == 2 && type == "BF16") ||
                       (k == 4 && (type == "F16" || type == "I8" ||
                                   name.contains("BF16_1K")))))
    blocks = 2;
  else if (m == 16 && (k == 1 || (k == 2 && type == "BF16") ||
                       (k == 4 && type != "F32" && type != "XF32")))
    blocks = 4;
  else if (m == 4)
    blocks = 16;
  StringRef kind = StringSwitch<StringRef>(type)
                       .Case("F64", "F64")
                       .Cases({"F32", "XF32"}, "F32")
                       .Case("F16", "F16")
                       .StartsWith("BF16", "BF16")
                       .StartsWith("I8", "I8")
                       .Cases({"FP8", "BF8"}, "F8")
                       .Default("");
  return {kind, 2.0 * m * n * k * blocks};
}

std::vector<RocprofCounter>
wavesmith::sim::rocprofCounters(const Counters &c, ArrayRef<InstructionUse> use,
                                const TimingReport *timing) {
  std::vector<RocprofCounter> all;
  auto add = [&](const Twine &name, double value) {
    all.push_back({name.str(), value});
  };
  auto count = [&](StringRef name, uint64_t value) {
    add(name, double(value));
  };
  count("SQ_WAVES", c.waves);
  count("SQ_INSTS_VALU", c.VALU);
  count("SQ_INSTS_MFMA", c.MFMA);
  count("SQ_INSTS_SALU", c.SALU);
  count("SQ_INSTS_SMEM", c.SMEM);
  count("SQ_INSTS_LDS", c.LDS);
  count("SQ_INSTS_FLAT", c.flat);
  count("SQ_INSTS_VMEM_RD", c.VMEMRead);
  count("SQ_INSTS_VMEM_WR", c.VMEMWrite);
  std::map<std::string, double> kinds;
  for (StringRef kind : {"ADD", "MUL", "FMA", "TRANS"})
    for (StringRef type : {"F16", "F32", "F64"})
      kinds[("SQ_INSTS_VALU_" + kind + "_" + type).str()] = 0;
  for (StringRef type : {"I8", "F16", "BF16", "F32", "F64", "F8"}) {
    kinds[("SQ_INSTS_VALU_MFMA_" + type).str()] = 0;
    kinds[("SQ_INSTS_VALU_MFMA_MOPS_" + type).str()] = 0;
  }
  for (const InstructionUse &i : use) {
    if (findMatrixInstruction(i.opcode)) {
      auto [type, operations] = matrixWork(i.opcode);
      if (type.empty())
        continue;
      kinds[("SQ_INSTS_VALU_MFMA_" + type).str()] += double(i.count);
      kinds[("SQ_INSTS_VALU_MFMA_MOPS_" + type).str()] +=
          operations / 512 * double(i.count);
      continue;
    }
    std::string kind = arithmeticKind(i.opcode);
    if (!kind.empty())
      kinds["SQ_INSTS_VALU_" + kind] += double(i.count);
  }
  for (auto &[name, value] : kinds)
    add(name, value);
  add("VALUUtilization", c.activeVALULanesPercent());
  if (!timing)
    return all;
  add("GRBM_GUI_ACTIVE", timing->cycles);
  add("SQ_LDS_IDX_ACTIVE", timing->ldsCycles);
  add("SQ_LDS_BANK_CONFLICT", timing->ldsConflictCycles);
  add("TCC_REQ_sum", timing->l2Requests);
  add("TCC_HIT_sum", timing->l2Requests - timing->l2Misses);
  add("TCC_MISS_sum", timing->l2Misses);
  add("FETCH_SIZE", timing->hbmBytesRead / 1024);
  add("WRITE_SIZE", timing->hbmBytesWritten / 1024);
  for (const ResourceShare &share : timing->shares)
    if (share.name == "MFMA")
      add("MfmaUtil", 100 * share.share);
  add("OccupancyPercent", 100 * timing->achievedOccupancy);
  for (const TargetInfo &target : knownTargets())
    if (target.chip == timing->chip && timing->cycles > 0)
      add("LDSBankConflict", 100 * timing->ldsConflictCycles / timing->cycles /
                                 target.computeUnits);
  return all;
}

void wavesmith::sim::printCSV(raw_ostream &os, StringRef kernel,
                              ArrayRef<RocprofCounter> counters) {
  os << "KernelName";
  for (const RocprofCounter &c : counters)
    os << ',' << c.name;
  // A name may hold commas and quotes.
  std::string quoted = kernel.str();
  for (size_t at = 0; (at = quoted.find('"', at)) != std::string::npos; at += 2)
    quoted.insert(at, 1, '"');
  os << "\n\"" << quoted << '"';
  for (const RocprofCounter &c : counters)
    os << ',' << format("%.17g", c.value);
  os << '\n';
}
