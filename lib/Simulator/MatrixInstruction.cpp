//===- MatrixInstruction.cpp - What is known of v_mfma and v_smfmac -------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Simulator/MatrixInstruction.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace wavesmith::sim;

namespace {

// {busy, coissue} on gfx90a, then on gfx942.
constexpr MatrixInstructionInfo instructions[] = {
    {"V_MFMA_F64_16X16X4F64", {32, 0}, {32, 0}},
    {"V_MFMA_F64_4X4X4F64", {16, 0}, {16, 0}},

    {"V_MFMA_F32_32X32X1F32", {64, 60}, {64, 0}},
    {"V_MFMA_F32_16X16X1F32", {32, 28}, {32, 0}},
    {"V_MFMA_F32_4X4X1F32", {8, 4}, {8, 0}},
    {"V_MFMA_F32_32X32X2F32", {64, 60}, {64, 0}},
    {"V_MFMA_F32_16X16X4F32", {32, 28}, {32, 0}},

    {"V_MFMA_F32_16X16X8XF32", {0, 0}, {16, 12}},
    {"V_MFMA_F32_32X32X4XF32", {0, 0}, {32, 28}},

    {"V_MFMA_F32_32X32X4F16", {64, 60}, {64, 60}},
    {"V_MFMA_F32_16X16X4F16", {32, 28}, {32, 28}},
    {"V_MFMA_F32_4X4X4F16", {8, 4}, {8, 4}},
    {"V_MFMA_F32_32X32X8F16", {64, 60}, {32, 28}},
    {"V_MFMA_F32_16X16X16F16", {32, 28}, {16, 12}},

    {"V_MFMA_F32_32X32X2BF16", {64, 60}, {0, 0}},
    {"V_MFMA_F32_16X16X2BF16", {32, 28}, {0, 0}},
    {"V_MFMA_F32_4X4X2BF16", {8, 4}, {0, 0}},
    {"V_MFMA_F32_32X32X4BF16", {64, 60}, {0, 0}},
    {"V_MFMA_F32_16X16X8BF16", {32, 28}, {0, 0}},

    {"V_MFMA_F32_32X32X4BF16_1K", {64, 60}, {64, 60}},
    {"V_MFMA_F32_16X16X4BF16_1K", {32, 28}, {32, 28}},
    {"V_MFMA_F32_4X4X4BF16_1K", {8, 4}, {8, 4}},
    {"V_MFMA_F32_32X32X8BF16_1K", {64, 60}, {32, 28}},
    {"V_MFMA_F32_16X16X16BF16_1K", {32, 28}, {16, 12}},

    {"V_MFMA_I32_32X32X4I8", {64, 60}, {64, 60}},
    {"V_MFMA_I32_16X16X4I8", {32, 28}, {32, 28}},
    {"V_MFMA_I32_4X4X4I8", {8, 4}, {8, 4}},
    {"V_MFMA_I32_32X32X8I8", {64, 60}, {0, 0}},
    {"V_MFMA_I32_16X16X16I8", {32, 28}, {0, 0}},
    {"V_MFMA_I32_32X32X16I8", {0, 0}, {32, 28}},
    {"V_MFMA_I32_16X16X32I8", {0, 0}, {16, 12}},

    {"V_MFMA_F32_16X16X32_BF8_BF8", {0, 0}, {16, 12}},
    {"V_MFMA_F32_16X16X32_BF8_FP8", {0, 0}, {16, 12}},
    {"V_MFMA_F32_16X16X32_FP8_BF8", {0, 0}, {16, 12}},
    {"V_MFMA_F32_16X16X32_FP8_FP8", {0, 0}, {16, 12}},
    {"V_MFMA_F32_32X32X16_BF8_BF8", {0, 0}, {32, 28}},
    {"V_MFMA_F32_32X32X16_BF8_FP8", {0, 0}, {32, 28}},
    {"V_MFMA_F32_32X32X16_FP8_BF8", {0, 0}, {32, 28}},
    {"V_MFMA_F32_32X32X16_FP8_FP8", {0, 0}, {32, 28}},

    {"V_SMFMAC_F32_16X16X32_F16", {0, 0}, {16, 8}},
    {"V_SMFMAC_F32_32X32X16_F16", {0, 0}, {32, 24}},
    {"V_SMFMAC_F32_16X16X32_BF16", {0, 0}, {16, 8}},
    {"V_SMFMAC_F32_32X32X16_BF16", {0, 0}, {32, 24}},
    {"V_SMFMAC_I32_16X16X64_I8", {0, 0}, {16, 8}},
    {"V_SMFMAC_I32_32X32X32_I8", {0, 0}, {32, 24}},
    {"V_SMFMAC_F32_16X16X64_BF8_BF8", {0, 0}, {16, 8}},
    {"V_SMFMAC_F32_16X16X64_BF8_FP8", {0, 0}, {16, 8}},
    {"V_SMFMAC_F32_16X16X64_FP8_BF8", {0, 0}, {16, 8}},
    {"V_SMFMAC_F32_16X16X64_FP8_FP8", {0, 0}, {16, 8}},
    {"V_SMFMAC_F32_32X32X32_BF8_BF8", {0, 0}, {32, 24}},
    {"V_SMFMAC_F32_32X32X32_BF8_FP8", {0, 0}, {32, 24}},
    {"V_SMFMAC_F32_32X32X32_FP8_BF8", {0, 0}, {32, 24}},
    {"V_SMFMAC_F32_32X32X32_FP8_FP8", {0, 0}, {32, 24}},
};

/// The part of the record that a target uses; null for other targets.
const MatrixClocks *clocksOf(StringRef name, StringRef target) {
  const MatrixInstructionInfo *info = findMatrixInstruction(name);
  if (!info)
    return nullptr;
  if (target == "gfx90a")
    return &info->gfx90a;
  return target == "gfx942" ? &info->gfx942 : nullptr;
}

} // namespace

ArrayRef<MatrixInstructionInfo> wavesmith::sim::matrixInstructions() {
  return instructions;
}

std::string wavesmith::sim::canonicalMatrixName(StringRef name) {
  std::string upper = name.upper();
  StringRef rest = upper;
  // Encodings, the form that keeps C in VGPRs, and that with C tied to D.
  for (bool more = true; more;) {
    more = false;
    for (StringRef suffix : {"_VCD", "_ACD", "_GFX90A", "_GFX940", "_GFX942",
                             "_VI", "_E64", "_VGPRCD", "_MAC"})
      more |= rest.consume_back(suffix);
  }
  if (!rest.starts_with("V_MFMA_"))
    return rest.str();
  // V_MFMA, result, shape and the types: the first ends where the third
  // underscore stands, the shape where the digits and X do.
  size_t start = rest.find('_', StringRef("V_MFMA_").size());
  if (start == StringRef::npos)
    return rest.str();
  size_t end = start + 1;
  while (end < rest.size() && (isDigit(rest[end]) || rest[end] == 'X'))
    ++end;
  // The X of XF32 where no underscore parts it from the shape.
  if (end > start + 1 && end < rest.size() && rest[end - 1] == 'X')
    --end;
  StringRef head = rest.take_front(end), types = rest.drop_front(end);
  bool apart = types.consume_front("_");
  for (StringRef blocks : {"2B_", "4B_", "16B_"})
    types.consume_front(blocks);
  // Eight-bit types are named for A and B and keep their underscores.
  if (types.contains("_FP8") || types.contains("_BF8"))
    return (head + "_" + types).str();
  // gfx942 dropped the first bf16 instructions and with them the _1k.
  if (apart && types == "BF16")
    types = "BF16_1K";
  return (head + types).str();
}

const MatrixInstructionInfo *
wavesmith::sim::findMatrixInstruction(StringRef name) {
  static const StringMap<const MatrixInstructionInfo *> byName = [] {
    StringMap<const MatrixInstructionInfo *> result;
    for (const MatrixInstructionInfo &info : instructions)
      result[info.name] = &info;
    return result;
  }();
  return byName.lookup(canonicalMatrixName(name));
}

unsigned wavesmith::sim::mfmaCycles(StringRef name, StringRef target) {
  const MatrixClocks *clocks = clocksOf(name, target);
  return clocks ? clocks->busy : 0;
}

unsigned wavesmith::sim::mfmaCoissueCycles(StringRef name, StringRef target) {
  const MatrixClocks *clocks = clocksOf(name, target);
  return clocks ? clocks->coissue : 0;
}
