//===- Execute.cpp - The instruction loop and operand wrappers ----------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include <cfenv>

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
    if (applyOmod) {
      // Denormals are flushed before they are scaled.
      constexpr double least = T::valueType == ValueType::F64   ? 0x1p-1022
                               : T::valueType == ValueType::F32 ? 0x1p-126
                                                                : 0x1p-14;
      if (std::fabs(value) < least)
        value = 0;
      value *= I.omod == 1 ? 2 : I.omod == 2 ? 4 : 0.5f;
      if (value == 0)
        value = 0; // -0 becomes +0
    }
    if (I.clamp && !I.handlesClamp) {
      if (value != value) // DX10_CLAMP turns NaN into 0
        value = w.dx10Clamp ? 0 : value;
      else
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    }
    T::put(d, l, value);
  }
}

/// clamp and omod, after the handler. The hardware ignores omod in IEEE mode
/// and where denormals of results of the type are kept.
void applyResultModifiers(Wave &w, const Instruction &I) {
  if ((!I.clamp || I.handlesClamp) && !I.omod)
    return;
  bool scale32 = I.omod && !w.ieeeMode && w.flushOutputF32;
  bool scale64 = I.omod && !w.ieeeMode && w.flushOutputF64;
  switch (I.resultType) {
  case ValueType::F64:
    clampAndScale<F64>(w, I, scale64);
    return;
  case ValueType::F32:
    clampAndScale<F32>(w, I, scale32);
    return;
  case ValueType::F16:
    clampAndScale<F16>(w, I, scale64);
    return;
  case ValueType::PackedF32:
    for (unsigned half = 0; half < 2; ++half) {
      Instruction part = I;
      part.dst.index += half;
      clampAndScale<F32>(w, part, false);
    }
    return;
  case ValueType::PackedF16: {
    // Each half by itself, in a temporary register.
    uint32_t *d = w.vgpr[I.dst.index];
    uint32_t *low = w.vgpr[temporaryBase + 13];
    uint32_t *high = w.vgpr[temporaryBase + 14];
    for (unsigned l = 0; l < L; ++l) {
      low[l] = d[l] & 0xffffu;
      high[l] = d[l] >> 16;
    }
    Instruction part = I;
    for (unsigned i = 0; i < 2; ++i) {
      part.dst.index = static_cast<uint16_t>(temporaryBase + 13 + i);
      clampAndScale<F16>(w, part, false);
    }
    for (unsigned l = 0; l < L; ++l)
      if (w.execMask[l])
        d[l] = low[l] | (high[l] << 16);
    return;
  }
  default:
    if (I.clamp && !I.handlesClamp)
      fail(w, "clamp on this instruction is not modelled");
  }
}

void modified(Wave &w, const Instruction &I) {
  if (I.half == HalfResult::Whole) {
    I.inner(w, I);
    if (w.status != WaveStatus::Failed)
      applyResultModifiers(w, I);
    return;
  }
  // A 16-bit result beside which the other half is kept.
  Instruction copy = I;
  copy.dst.index = temporaryBase + 12;
  I.inner(w, copy);
  if (w.status == WaveStatus::Failed)
    return;
  applyResultModifiers(w, copy);
  unsigned shift = I.half == HalfResult::High ? 16 : 0;
  const uint32_t *from = w.vgpr[temporaryBase + 12];
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      d[l] = (d[l] & ~(0xffffu << shift)) | ((from[l] & 0xffffu) << shift);
}

//===----------------------------------------------------------------------===//
// DPP
//===----------------------------------------------------------------------===//

/// What a control does, for all lanes.
struct DppPattern {
  bool known = true;
  /// The lane that each reads; any where it reads none.
  uint8_t source[L] = {};
  /// The lanes that read one.
  uint64_t reads = 0;
};

const DppPattern &dppPattern(unsigned control) {
  static const std::vector<DppPattern> *patterns = [] {
    auto *result = new std::vector<DppPattern>(512);
    for (unsigned c = 0; c < 512; ++c)
      for (unsigned l = 0; l < L; ++l) {
        DppPattern &pattern = (*result)[c];
        int s = dppSource(c, static_cast<int>(l));
        if (s == -2)
          pattern.known = false;
        if (s < 0)
          continue;
        pattern.source[l] = static_cast<uint8_t>(s);
        pattern.reads |= uint64_t(1) << l;
      }
    return result;
  }();
  return (*patterns)[control & 511];
}

/// The lanes whose row and bank a DPP instruction writes.
uint64_t dppEnabled(unsigned rowMask, unsigned bankMask) {
  if (rowMask == 0xf && bankMask == 0xf)
    return ~uint64_t(0);
  uint64_t row = 0, result = 0;
  for (unsigned bank = 0; bank < 4; ++bank)
    if ((bankMask >> bank) & 1)
      row |= uint64_t(0xf) << (4 * bank);
  for (unsigned r = 0; r < 4; ++r)
    if ((rowMask >> r) & 1)
      result |= row << (16 * r);
  return result;
}

void dpp(Wave &w, const Instruction &I) {
  const DppPattern &pattern = dppPattern(I.dppControl);
  if (!pattern.known || I.dppControl > 511) {
    fail(w, "DPP control 0x" + llvm::Twine::utohexstr(I.dppControl) +
                " is not known");
    return;
  }
  if (!I.src[0].isVGPR()) {
    fail(w, "DPP needs a vector register as its first source");
    return;
  }
  // Lanes that EXEC disables count as outside, and give 0.
  uint64_t reads = pattern.reads;
  alignas(64) uint32_t valid[L];
  if (w.exec == ~uint64_t(0)) {
    expandMask(reads, valid);
  } else {
    for (unsigned l = 0; l < L; ++l)
      if (!((w.exec >> pattern.source[l]) & 1))
        reads &= ~(uint64_t(1) << l);
    expandMask(reads, valid);
  }
  for (unsigned i = 0; i < I.src[0].dwords && i < 2; ++i) {
    const uint32_t *from = w.vgpr[I.src[0].index + i];
    uint32_t *to = w.vgpr[temporaryBase + i];
    for (unsigned l = 0; l < L; ++l)
      to[l] = from[pattern.source[l]] & valid[l];
  }
  Instruction copy = I;
  copy.src[0].index = temporaryBase;
  uint64_t enabled = dppEnabled(I.dppRowMask, I.dppBankMask);
  if (!I.dppBoundControl)
    enabled &= reads;
  uint64_t saved = w.exec;
  if ((saved & enabled) == saved) {
    I.inner(w, copy);
    if (w.status != WaveStatus::Failed)
      applyResultModifiers(w, copy);
    return;
  }
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

/// A denormal of a 32-bit float, of the two halves of a word.
ALWAYS_INLINE uint32_t flushedF32(uint32_t word) {
  return (word & 0x7f800000u) ? word : word & 0x80000000u;
}
ALWAYS_INLINE uint32_t flushedHalves(uint32_t word) {
  uint32_t low = (word & 0x7c00u) ? 0xffffu : 0x8000u;
  uint32_t high = (word & 0x7c000000u) ? 0xffff0000u : 0x80000000u;
  return word & (low | high);
}

/// Replaces a source by a copy without denormals where MODE asks for it.
void flushSource(Wave &w, Operand &o, ValueType type, unsigned number) {
  if (o.kind == OperandKind::None)
    return;
  if (type == ValueType::Mixed)
    type = o.modifiers & 8 ? ValueType::PackedF16 : ValueType::F32;
  bool wide = type == ValueType::F64;
  bool half = type == ValueType::F16 || type == ValueType::PackedF16;
  bool single = type == ValueType::F32 || type == ValueType::PackedF32;
  if (!((single && w.flushInputF32) || ((half || wide) && w.flushInputF64)))
    return;
  unsigned first = temporaryBase + 16 + 2 * number;
  unsigned count =
      wide || (type == ValueType::PackedF32 && o.kind != OperandKind::Constant)
          ? 2
          : 1;
  alignas(64) uint32_t buffers[2][L];
  const uint32_t *from[2] = {lanes(w, o, 0, buffers[0]), nullptr};
  if (count == 2)
    from[1] = lanes(w, o, 1, buffers[1]);
  for (unsigned l = 0; l < L; ++l) {
    uint32_t word0 = from[0][l];
    if (wide) {
      uint32_t word1 = from[1][l];
      bool keep = word1 & 0x7ff00000u;
      w.vgpr[first][l] = keep ? word0 : 0;
      w.vgpr[first + 1][l] = keep ? word1 : word1 & 0x80000000u;
      continue;
    }
    w.vgpr[first][l] = half ? flushedHalves(word0) : flushedF32(word0);
    if (count == 2)
      w.vgpr[first + 1][l] = flushedF32(from[1][l]);
  }
  if (o.kind == OperandKind::Constant) {
    o.value = w.vgpr[first][0];
    if (wide)
      o.value |= uint64_t(w.vgpr[first + 1][0]) << 32;
    return;
  }
  o.kind = OperandKind::VGPR;
  o.index = static_cast<uint16_t>(first);
}

void flushResult(Wave &w, const Instruction &I) {
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    switch (I.resultType) {
    case ValueType::F32:
      if (w.flushOutputF32)
        d[0][l] = flushedF32(d[0][l]);
      break;
    case ValueType::PackedF32:
      if (w.flushOutputF32) {
        d[0][l] = flushedF32(d[0][l]);
        d[1][l] = flushedF32(d[1][l]);
      }
      break;
    case ValueType::F64:
      if (w.flushOutputF64 && !(d[1][l] & 0x7ff00000u)) {
        d[0][l] = 0;
        d[1][l] &= 0x80000000u;
      }
      break;
    case ValueType::F16:
      // Only the half that was written.
      if (w.flushOutputF64) {
        unsigned shift = I.half == HalfResult::High || I.sdwaDst == 5 ? 16 : 0;
        uint32_t part = 0xffffu << shift;
        d[0][l] = (d[0][l] & ~part) | (flushedHalves(d[0][l]) & part);
      }
      break;
    case ValueType::PackedF16:
      if (w.flushOutputF64)
        d[0][l] = flushedHalves(d[0][l]);
      break;
    default:
      return;
    }
  }
}

/// The rounding that MODE prescribes for an instruction.
unsigned roundingOf(Wave &w, const Instruction &I) {
  if (I.ownRounding)
    return 0;
  switch (I.resultType) {
  case ValueType::F32:
  case ValueType::PackedF32:
    return w.roundF32;
  case ValueType::F64:
  case ValueType::F16:
  case ValueType::PackedF16:
    return w.roundF64;
  default:
    return 0;
  }
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
  if (!I.bitwise)
    for (unsigned i = 0; i < 3; ++i)
      flushSource(w, copy.src[i], I.sourceType[i], i);
  // Directed rounding: of the host for f32 and f64, our own for f16.
  unsigned round = roundingOf(w, I);
  if (round || w.saturates) {
    static constexpr int hostModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                        FE_TOWARDZERO};
    std::fesetround(hostModes[round]);
    halfRounding =
        static_cast<uint8_t>(round | (w.saturates ? saturateHalves : 0));
    copy.handler(w, copy);
    std::fesetround(FE_TONEAREST);
    halfRounding = 0;
  } else {
    copy.handler(w, copy);
  }
  if (I.bitwise || w.status == WaveStatus::Failed)
    return;
  flushResult(w, copy);
}

/// One instruction of an observed run. Counts as run does.
void step(Wave &w, Observer *observer) {
  const detail::CodeObjectImage &object = *w.group->object;
  if (w.access)
    w.access->clear();
  if (w.group->remaining)
    --w.group->remaining;
  if (w.pc >= object.instructions.size()) {
    w.current = static_cast<uint32_t>(object.instructions.size()) - 1;
    fail(w, "execution runs past the end of the code");
    return;
  }
  const Instruction &I = object.instructions[w.pc];
  uint32_t index = w.current = w.pc++;
  ++w.group->hits[index];
  refreshExec(w);
  if (I.category == Category::VALU || I.category == Category::MFMA)
    w.activeLanesVALU += w.activeLanes;
  if (observer)
    observer->before(w, I, index);
  if (w.slow)
    executeSlow(w, I);
  else
    I.handler(w, I);
  if (observer)
    observer->after(w, I, index,
                    w.access && (w.access->count || w.access->hasFaults)
                        ? w.access
                        : nullptr);
}

/// Runs until the status changes or so many instructions were issued.
void run(Wave &w, uint64_t quantum) {
  const detail::CodeObjectImage &object = *w.group->object;
  const Instruction *instructions = object.instructions.data();
  const uint32_t count = static_cast<uint32_t>(object.instructions.size());
  uint64_t *hits = w.group->hits;
  uint64_t lanesVALU = 0;
  if (quantum > w.group->remaining)
    quantum = w.group->remaining;
  w.group->remaining -= quantum;
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
  w.group->remaining += quantum;
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
  registerVectorDot(table);
  registerVectorFP8(table);
  table.dpp = &dpp;
  table.sdwa = &sdwa;
  table.modified = &modified;
  table.run = &run;
  table.step = &step;
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
