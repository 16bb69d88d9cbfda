//===- Execute.cpp - The instruction loop and operand wrappers ----------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

//===----------------------------------------------------------------------===//
// Result modifiers
//===----------------------------------------------------------------------===//

template <typename T>
void clampAndScale(Wave &w, const Instruction &I, bool applyOmod) {
  typename T::Buffer buffer;
  Operand result = I.dst;
  auto values = T::source(w, result, buffer);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    auto value = values.get(l);
    if (applyOmod)
      value *= I.omod == 1 ? 2 : I.omod == 2 ? 4 : 0.5f;
    if (I.clamp) {
      if (value != value) // DX10_CLAMP turns NaN into 0
        value = w.dx10Clamp ? 0 : value;
      else
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    }
    T::put(d, l, value);
  }
}

/// clamp and omod, after the handler. The hardware ignores omod where
/// denormals of the type are kept.
void applyResultModifiers(Wave &w, const Instruction &I) {
  if (!I.clamp && !I.omod)
    return;
  switch (I.resultType) {
  case ValueType::F64:
    clampAndScale<F64>(w, I, false);
    return;
  case ValueType::F32:
    clampAndScale<F32>(w, I, I.omod && w.flushF32);
    return;
  case ValueType::F16:
    clampAndScale<F16>(w, I, false);
    return;
  case ValueType::PackedF32:
    for (unsigned half = 0; half < 2; ++half) {
      Instruction part = I;
      part.dst.index += half;
      clampAndScale<F32>(w, part, false);
    }
    return;
  default:
    fail(w, "clamp on this instruction is not modelled");
  }
}

void modified(Wave &w, const Instruction &I) {
  I.inner(w, I);
  if (w.status != WaveStatus::Failed)
    applyResultModifiers(w, I);
}

//===----------------------------------------------------------------------===//
// DPP
//===----------------------------------------------------------------------===//

/// The lane that a lane reads, -1 where it is outside.
int dppSource(unsigned control, int lane) {
  int row = lane & ~15, inRow = lane & 15;
  if (control <= 0xff)
    return (lane & ~3) | int((control >> (2 * (lane & 3))) & 3);
  int n = static_cast<int>(control & 15);
  switch (control & 0x1f0) {
  case 0x100:
    return inRow + n < 16 ? lane + n : -1;
  case 0x110:
    return inRow - n >= 0 ? lane - n : -1;
  case 0x120:
    return row | ((inRow - n) & 15);
  case 0x150:
    return row | n;
  default:
    break;
  }
  switch (control) {
  case 0x130:
    return lane + 1 < int(L) ? lane + 1 : -1;
  case 0x134:
    return (lane + 1) & int(L - 1);
  case 0x138:
    return lane - 1;
  case 0x13c:
    return (lane - 1) & int(L - 1);
  case 0x140:
    return row | (15 - inRow);
  case 0x141:
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142:
    return row >= 16 ? row - 1 : -1;
  case 0x143:
    return row >= 32 ? 31 : -1;
  default:
    return -2;
  }
}

void dpp(Wave &w, const Instruction &I) {
  Instruction copy = I;
  uint64_t enabled = 0;
  int source[L];
  for (unsigned l = 0; l < L; ++l) {
    int s = dppSource(I.dppControl, static_cast<int>(l));
    if (s == -2) {
      fail(w, "DPP control 0x" + llvm::Twine::utohexstr(I.dppControl) +
                  " is not known");
      return;
    }
    // Lanes that EXEC disables count as outside.
    if (s >= 0 && !w.execMask[s])
      s = -1;
    source[l] = s;
    bool on = ((I.dppRowMask >> (l / 16)) & 1) &&
              ((I.dppBankMask >> ((l % 16) / 4)) & 1) &&
              (s >= 0 || I.dppBoundControl);
    enabled |= uint64_t(on) << l;
  }
  if (!I.src[0].isVGPR()) {
    fail(w, "DPP needs a vector register as its first source");
    return;
  }
  for (unsigned i = 0; i < I.src[0].dwords && i < 2; ++i) {
    const uint32_t *from = w.vgpr[I.src[0].index + i];
    uint32_t *to = w.vgpr[temporaryBase + i];
    for (unsigned l = 0; l < L; ++l)
      to[l] = source[l] >= 0 ? from[source[l]] : 0;
  }
  copy.src[0].index = temporaryBase;
  uint64_t saved = w.exec;
  w.exec &= enabled;
  expandMask(w.exec, w.execMask);
  I.inner(w, copy);
  if (w.status != WaveStatus::Failed)
    applyResultModifiers(w, copy);
  w.exec = saved;
  expandMask(w.exec, w.execMask);
}

//===----------------------------------------------------------------------===//
// SDWA
//===----------------------------------------------------------------------===//

constexpr unsigned sdwaDword = 6;

ALWAYS_INLINE uint32_t selectPart(uint32_t word, unsigned select, bool sign) {
  if (select < 4) {
    uint32_t byte = (word >> (8 * select)) & 0xff;
    return sign ? uint32_t(int32_t(int8_t(byte))) : byte;
  }
  if (select < 6) {
    uint32_t half = (word >> (16 * (select - 4))) & 0xffff;
    return sign ? uint32_t(int32_t(int16_t(half))) : half;
  }
  return word;
}

void sdwa(Wave &w, const Instruction &I) {
  Instruction copy = I;
  alignas(64) uint32_t buffer[L];
  for (unsigned i = 0; i < 2; ++i) {
    if (I.src[i].kind == OperandKind::None ||
        (I.sdwaSrc[i] == sdwaDword && !I.src[i].signExtend))
      continue;
    const uint32_t *from = lanes(w, I.src[i], 0, buffer);
    uint32_t *to = w.vgpr[temporaryBase + 2 * i];
    for (unsigned l = 0; l < L; ++l)
      to[l] = selectPart(from[l], I.sdwaSrc[i], I.src[i].signExtend);
    copy.src[i].kind = OperandKind::VGPR;
    copy.src[i].index = temporaryBase + 2 * i;
  }
  bool partial = I.resultType != ValueType::None && I.sdwaDst != sdwaDword;
  if (partial)
    copy.dst.index = temporaryBase + 8;
  I.inner(w, copy);
  if (w.status == WaveStatus::Failed)
    return;
  applyResultModifiers(w, copy);
  if (!partial)
    return;
  unsigned width = I.sdwaDst < 4 ? 8 : 16;
  unsigned shift = I.sdwaDst < 4 ? 8 * I.sdwaDst : 16 * (I.sdwaDst - 4);
  uint32_t field = ((1u << width) - 1u) << shift;
  const uint32_t *from = w.vgpr[temporaryBase + 8];
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    uint32_t bits = (from[l] << shift) & field;
    uint32_t rest = 0;
    if (I.sdwaUnused == 2)
      rest = d[l] & ~field;
    else if (I.sdwaUnused == 1 && ((bits >> (shift + width - 1)) & 1) &&
             shift + width < 32)
      rest = ~0u << (shift + width);
    d[l] = bits | rest;
  }
}

//===----------------------------------------------------------------------===//
// The slow path: indexed registers and flushed denormals
//===----------------------------------------------------------------------===//

bool applyIndex(Wave &w, Operand &o) {
  if (!o.isVGPR() || o.index >= temporaryBase)
    return true;
  unsigned base = o.index < agprBase ? 0 : agprBase;
  unsigned index = o.index - base + (w.sgpr[sgprM0] & 0xffu);
  if (index + o.dwords > 256) {
    fail(w, "indexed access to vector register " + llvm::Twine(index) +
                ", beyond the 256 there are");
    return false;
  }
  o.index = static_cast<uint16_t>(base + index);
  return true;
}

void executeSlow(Wave &w, const Instruction &I) {
  if (I.category != Category::VALU) {
    I.handler(w, I);
    return;
  }
  Instruction copy = I;
  if (w.gprIndexing) {
    for (unsigned i = 0; i < 3; ++i)
      if ((w.gprIndexMode >> i) & 1)
        if (!applyIndex(w, copy.src[i]))
          return;
    if ((w.gprIndexMode & 8) && !applyIndex(w, copy.dst))
      return;
  }
  bool flush = w.flushF32 && !I.bitwise;
  if (flush) {
    for (unsigned i = 0; i < 3; ++i) {
      Operand &o = copy.src[i];
      if (I.sourceType[i] != ValueType::F32 &&
          I.sourceType[i] != ValueType::PackedF32)
        continue;
      if (o.kind == OperandKind::None)
        continue;
      unsigned count = I.sourceType[i] == ValueType::PackedF32 ? 2 : 1;
      if (o.kind == OperandKind::Constant)
        count = 1;
      alignas(64) uint32_t buffer[L];
      for (unsigned k = 0; k < count; ++k) {
        const uint32_t *from = lanes(w, o, k, buffer);
        uint32_t *to = w.vgpr[temporaryBase + 16 + 2 * i + k];
        for (unsigned l = 0; l < L; ++l)
          to[l] = (from[l] & 0x7f800000u) ? from[l] : from[l] & 0x80000000u;
      }
      if (o.kind == OperandKind::Constant) {
        o.value = w.vgpr[temporaryBase + 16 + 2 * i][0];
        continue;
      }
      o.kind = OperandKind::VGPR;
      o.index = temporaryBase + 16 + 2 * i;
    }
  }
  copy.handler(w, copy);
  if (!flush || w.status == WaveStatus::Failed)
    return;
  if (I.resultType == ValueType::F32 || I.resultType == ValueType::PackedF32) {
    unsigned count = I.resultType == ValueType::PackedF32 ? 2 : 1;
    for (unsigned k = 0; k < count; ++k) {
      uint32_t *d = w.vgpr[copy.dst.index + k];
      for (unsigned l = 0; l < L; ++l)
        if (w.execMask[l] && !(d[l] & 0x7f800000u))
          d[l] &= 0x80000000u;
    }
  }
}

/// Runs until the status changes or so many instructions were issued.
void run(Wave &w, uint64_t quantum) {
  const detail::CodeObjectImage &object = *w.group->object;
  const Instruction *instructions = object.instructions.data();
  const uint32_t count = static_cast<uint32_t>(object.instructions.size());
  uint64_t *hits = w.group->hits;
  uint64_t lanesVALU = 0;
  if (quantum > w.remaining)
    quantum = w.remaining;
  w.remaining -= quantum;
  while (w.status == WaveStatus::Running) {
    if (quantum == 0)
      break;
    --quantum;
    if (w.pc >= count) {
      w.current = count - 1;
      fail(w, "execution runs past the end of the code");
      break;
    }
    const Instruction &I = instructions[w.pc];
    w.current = w.pc++;
    ++hits[w.current];
    if (I.usesExec) {
      refreshExec(w);
      if (I.category == Category::VALU || I.category == Category::MFMA)
        lanesVALU += w.activeLanes;
    }
    if (w.slow)
      executeSlow(w, I);
    else
      I.handler(w, I);
  }
  w.remaining += quantum;
  w.activeLanesVALU += lanesVALU;
}

} // namespace

void fillTable(OpcodeTable &table) {
  registerScalarALU(table);
  registerScalarMemory(table);
  registerControl(table);
  registerVectorALU(table);
  registerVectorF16(table);
  registerVectorF64(table);
  registerDivision(table);
  registerVectorCompare(table);
  registerVectorPacked(table);
  registerVectorMemory(table);
  registerLDS(table);
  registerCrossLane(table);
  registerMFMA(table);
  table.dpp = &dpp;
  table.sdwa = &sdwa;
  table.modified = &modified;
  table.run = &run;
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
