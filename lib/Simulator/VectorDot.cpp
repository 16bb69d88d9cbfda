//===- VectorDot.cpp - Dot products --------------------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

/// One element of a packed integer source.
template <unsigned Bits, bool Signed>
ALWAYS_INLINE int64_t element(uint32_t word, unsigned i) {
  uint32_t field = (word >> (Bits * i)) & ((1u << Bits) - 1);
  if (Signed && (field >> (Bits - 1)))
    return int64_t(field) - (int64_t(1) << Bits);
  return field;
}

/// c + sum of a[i] * b[i], which clamp saturates. 16-bit elements follow
/// op_sel (the first of the pair) and op_sel_hi (the second) where the
/// encoding has them.
template <unsigned Bits, bool Signed, bool Selects>
void integerDot(Wave &w, const Instruction &I) {
  alignas(64) uint32_t buffers[3][L];
  const uint32_t *s[3];
  for (unsigned i = 0; i < 3; ++i)
    s[i] = lanes(w, I.src[i], 0, buffers[i]);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    int64_t sum = Signed ? int64_t(int32_t(s[2][l])) : int64_t(s[2][l]);
    for (unsigned i = 0; i < 32 / Bits; ++i) {
      unsigned at[2] = {i, i};
      if (Selects)
        for (unsigned k = 0; k < 2; ++k)
          at[k] = (I.src[k].modifiers >> (i ? 3 : 2)) & 1;
      sum += element<Bits, Signed>(s[0][l], at[0]) *
             element<Bits, Signed>(s[1][l], at[1]);
    }
    if (I.clamp) {
      int64_t low = Signed ? INT32_MIN : 0;
      int64_t high = Signed ? int64_t(INT32_MAX) : int64_t(UINT32_MAX);
      sum = sum < low ? low : sum > high ? high : sum;
    }
    d[l] = static_cast<uint32_t>(sum);
  }
}

/// c + a.x * b.x + a.y * b.y in f32: the products of halves are exact, each
/// sum is rounded.
template <bool Selects> void halfDot(Wave &w, const Instruction &I) {
  alignas(64) uint32_t buffers[3][L];
  const uint32_t *s[3];
  for (unsigned i = 0; i < 3; ++i)
    s[i] = lanes(w, I.src[i], 0, buffers[i]);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    float sum = hardware::floatOf(
        Selects ? s[2][l] : (s[2][l] & I.src[2].andMask) ^ I.src[2].xorMask);
    for (unsigned i = 0; i < 2; ++i) {
      float product = 1;
      for (unsigned k = 0; k < 2; ++k) {
        unsigned modifiers = I.src[k].modifiers;
        unsigned part = Selects ? (modifiers >> (i ? 3 : 2)) & 1 : i;
        float value =
            valueOfHalf(static_cast<uint16_t>(s[k][l] >> (16 * part)));
        if (Selects && (modifiers & (i ? 2 : 1)))
          value = -value;
        product *= value;
      }
      sum += product;
    }
    d[l] = hardware::bitsOf(sum);
  }
}

} // namespace

void registerVectorDot(OpcodeTable &table) {
  // LLVM never gives modifiers to the sources of integer products.
  auto integer = [&](const char *name, Handler handler) {
    OpcodeEntry entry = plainEntry(handler, Category::VALU);
    for (ValueType &type : entry.source)
      type = ValueType::Packed16;
    entry.result = ValueType::B32;
    entry.handlesClamp = true;
    table.entries[name] = entry;
  };
  integer("V_DOT2_I32_I16", &integerDot<16, true, true>);
  integer("V_DOT2_U32_U16", &integerDot<16, false, true>);
  integer("V_DOT4_I32_I8", &integerDot<8, true, false>);
  integer("V_DOT4_U32_U8", &integerDot<8, false, false>);
  integer("V_DOT8_I32_I4", &integerDot<4, true, false>);
  integer("V_DOT8_U32_U4", &integerDot<4, false, false>);
  integer("V_DOT2C_I32_I16", &integerDot<16, true, false>);
  integer("V_DOT4C_I32_I8", &integerDot<8, true, false>);
  integer("V_DOT8C_I32_I4", &integerDot<4, true, false>);

  auto half = [&](const char *name, Handler handler) {
    OpcodeEntry entry = plainEntry(handler, Category::VALU);
    entry.source[0] = entry.source[1] = ValueType::PackedF16;
    entry.source[2] = ValueType::F32;
    entry.result = ValueType::F32;
    table.entries[name] = entry;
  };
  half("V_DOT2_F32_F16", &halfDot<true>);
  half("V_DOT2C_F32_F16", &halfDot<false>);
  approximate(table, {"V_DOT2_F32_F16", "V_DOT2C_F32_F16"},
              "exact products, added in the manual's order, each sum rounded; "
              "the chips' inner rounding is not published");
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
