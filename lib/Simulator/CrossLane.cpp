//===- CrossLane.cpp - Communication between lanes ----------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

void readFirstLane(Wave &w, const Instruction &I) {
  // With no active lane it reads lane 0.
  unsigned lane = w.exec ? static_cast<unsigned>(__builtin_ctzll(w.exec)) : 0;
  uint32_t value =
      I.src[0].isVGPR() ? w.vgpr[I.src[0].index][lane] : s32(w, I.src[0]);
  setS32(w, I.dst, value);
}

void readLane(Wave &w, const Instruction &I) {
  unsigned lane = s32(w, I.src[1]) & (L - 1);
  uint32_t value =
      I.src[0].isVGPR() ? w.vgpr[I.src[0].index][lane] : s32(w, I.src[0]);
  setS32(w, I.dst, value);
}

void writeLane(Wave &w, const Instruction &I) {
  unsigned lane = s32(w, I.src[1]) & (L - 1);
  w.vgpr[I.dst.index][lane] = s32(w, I.src[0]);
}

/// Counts the mask's bits below each lane, in one half of the lanes.
template <unsigned First> void maskedBitCount(Wave &w, const Instruction &I) {
  alignas(64) uint32_t bufferA[L], bufferB[L];
  const uint32_t *a = lanes(w, I.src[0], 0, bufferA);
  const uint32_t *b = lanes(w, I.src[1], 0, bufferB);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    uint64_t below = (uint64_t(1) << l) - 1;
    uint32_t half = static_cast<uint32_t>(below >> First);
    d[l] = static_cast<uint32_t>(__builtin_popcount(a[l] & half)) + b[l];
  }
}

void bpermute(Wave &w, const Instruction &I) {
  const uint32_t *address = w.vgpr[I.src[0].index];
  const uint32_t *data = w.vgpr[I.src[1].index];
  uint32_t result[L];
  for (unsigned l = 0; l < L; ++l) {
    unsigned source = ((address[l] + uint32_t(I.imm)) / 4) & (L - 1);
    result[l] = w.execMask[source] ? data[source] : 0;
  }
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      d[l] = result[l];
}

void permute(Wave &w, const Instruction &I) {
  const uint32_t *address = w.vgpr[I.src[0].index];
  const uint32_t *data = w.vgpr[I.src[1].index];
  uint32_t result[L] = {};
  // Of several sources the highest lane wins.
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      result[((address[l] + uint32_t(I.imm)) / 4) & (L - 1)] = data[l];
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      d[l] = result[l];
}

void swizzle(Wave &w, const Instruction &I) {
  unsigned offset = static_cast<unsigned>(I.imm) & 0xffff;
  const uint32_t *data = w.vgpr[I.src[0].index];
  uint32_t result[L];
  for (unsigned l = 0; l < L; ++l) {
    unsigned source = swizzleSource(offset, l);
    result[l] = w.execMask[source] ? data[source] : 0;
  }
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      d[l] = result[l];
}

} // namespace

void registerCrossLane(OpcodeTable &table) {
  table.entries["V_READFIRSTLANE_B32"] =
      plainEntry(&readFirstLane, Category::VALU);
  table.entries["V_READLANE_B32"] = plainEntry(&readLane, Category::VALU);
  table.entries["V_WRITELANE_B32"] = plainEntry(&writeLane, Category::VALU);
  table.entries["V_MBCNT_LO_U32_B32"] =
      vectorEntry<U32, U32>(&maskedBitCount<0>, ValueType::B32);
  table.entries["V_MBCNT_HI_U32_B32"] =
      vectorEntry<U32, U32>(&maskedBitCount<32>, ValueType::B32);
  table.entries["DS_BPERMUTE_B32"] = plainEntry(&bpermute, Category::LDS);
  table.entries["DS_PERMUTE_B32"] = plainEntry(&permute, Category::LDS);
  table.entries["DS_SWIZZLE_B32"] = plainEntry(&swizzle, Category::LDS);
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
