//===- VectorFP8.cpp - 8-bit floating-point conversions ------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// gfx942 has the "fnuz" formats: fp8 is 1-4-3 with bias 8 and reaches 240,
/// bf8 is 1-5-2 with bias 16 and reaches 57344. Neither has infinities or a
/// negative zero: the code 0x80 is the only NaN.
///
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

constexpr uint8_t notANumber = 0x80;

struct FP8 {
  static constexpr int mantissaBits = 3, bias = 8;
};
struct BF8 {
  static constexpr int mantissaBits = 2, bias = 16;
};

template <typename Format> float valueOfByte(uint8_t code) {
  if (code == notANumber)
    return std::numeric_limits<float>::quiet_NaN();
  constexpr int m = Format::mantissaBits;
  int exponent = (code & 0x7f) >> m;
  int mantissa = code & ((1 << m) - 1);
  float magnitude =
      exponent
          ? std::ldexp(float(mantissa + (1 << m)), exponent - Format::bias - m)
          : std::ldexp(float(mantissa), 1 - Format::bias - m);
  return code & 0x80 ? -magnitude : magnitude;
}

/// Rounds to nearest even; with random bits it adds them below the last place
/// and truncates instead. Infinities and NaN give NaN, and so does what is too
/// large, unless FP16_OVFL is on.
template <typename Format, bool Stochastic>
uint8_t byteOf(float value, uint32_t random) {
  constexpr int m = Format::mantissaBits, dropped = 23 - m;
  uint32_t bits = hardware::bitsOf(value);
  uint32_t exponentField = (bits >> 23) & 0xff;
  if (exponentField == 0xff)
    return notANumber;
  uint8_t sign = (bits >> 31) ? 0x80 : 0;
  uint64_t mantissa = bits & 0x7fffffu;
  int exponent = exponentField ? int(exponentField) - 127 : -126;
  if (exponentField)
    mantissa |= 0x800000u;
  if (mantissa == 0)
    return 0;
  // The places that are lost: more of them where the result is denormal.
  constexpr int least = 1 - Format::bias;
  int shift = dropped + (exponent < least ? least - exponent : 0);
  if (shift > 60)
    return 0;
  uint64_t kept;
  if (Stochastic) {
    // The upper bits of the random number stand right below the last place.
    uint64_t noise =
        shift >= 32 ? uint64_t(random) << (shift - 32) : random >> (32 - shift);
    kept = (mantissa + noise) >> shift;
  } else {
    kept = mantissa >> shift;
    uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
    uint64_t half = uint64_t(1) << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
  }
  // A carry raises the exponent by itself; a normal number has its leading one
  // in bit m.
  int code = exponent < least
                 ? static_cast<int>(kept)
                 : ((exponent - least) << m) + static_cast<int>(kept);
  if (code > 0x7f)
    return halfRounding & saturateHalves ? sign | 0x7f : notANumber;
  return code ? sign | static_cast<uint8_t>(code) : 0;
}

/// Two values into half of the result; the wrapper keeps the other half.
template <typename Format> void packTwo(Wave &w, const Instruction &I) {
  F32::Buffer buffers[2];
  F32::Source a = F32::source(w, I.src[0], buffers[0]);
  F32::Source b = F32::source(w, I.src[1], buffers[1]);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      d[l] = byteOf<Format, false>(a.get(l), 0) |
             (uint32_t(byteOf<Format, false>(b.get(l), 0)) << 8);
}

/// One value, stochastically rounded, into the byte that op_sel[3:2] names.
template <typename Format> void packStochastic(Wave &w, const Instruction &I) {
  F32::Buffer buffer;
  F32::Source a = F32::source(w, I.src[0], buffer);
  alignas(64) uint32_t words[L];
  const uint32_t *random = lanes(w, I.src[1], 0, words);
  unsigned byte =
      ((I.src[0].modifiers & 8) ? 2 : 0) + ((I.src[2].modifiers & 4) ? 1 : 0);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      d[l] =
          (d[l] & ~(0xffu << (8 * byte))) |
          (uint32_t(byteOf<Format, true>(a.get(l), random[l])) << (8 * byte));
}

template <typename Format> void unpackTwo(Wave &w, const Instruction &I) {
  alignas(64) uint32_t words[L];
  const uint32_t *a = lanes(w, I.src[0], 0, words);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    uint32_t word = a[l];
    d[0][l] = hardware::bitsOf(valueOfByte<Format>(uint8_t(word)));
    d[1][l] = hardware::bitsOf(valueOfByte<Format>(uint8_t(word >> 8)));
  }
}

} // namespace

void registerVectorFP8(OpcodeTable &table) {
  SLOW1("V_CVT_F32_FP8", F32, U32, valueOfByte<FP8>(uint8_t(a)));
  SLOW1("V_CVT_F32_BF8", F32, U32, valueOfByte<BF8>(uint8_t(a)));
  table.entries["V_CVT_PK_F32_FP8"] =
      vectorEntry<U32>(&unpackTwo<FP8>, ValueType::PackedF32);
  table.entries["V_CVT_PK_F32_BF8"] =
      vectorEntry<U32>(&unpackTwo<BF8>, ValueType::PackedF32);
  auto pack = [&](const char *name, Handler handler, bool half) {
    OpcodeEntry entry = vectorEntry<F32, F32>(handler, ValueType::B32);
    entry.ownRounding = true;
    entry.writesHalf = half;
    table.entries[name] = entry;
  };
  pack("V_CVT_PK_FP8_F32", &packTwo<FP8>, true);
  pack("V_CVT_PK_BF8_F32", &packTwo<BF8>, true);
  pack("V_CVT_SR_FP8_F32", &packStochastic<FP8>, false);
  pack("V_CVT_SR_BF8_F32", &packStochastic<BF8>, false);
  for (const char *name : {"V_CVT_SR_FP8_F32", "V_CVT_SR_BF8_F32"})
    table.entries[name].source[1] = ValueType::Packed16; // random bits
  approximate(table, {"V_CVT_SR_FP8_F32", "V_CVT_SR_BF8_F32"},
              "one of the two neighbours: the upper bits of the random source "
              "are added below the last place, then truncated; the manual "
              "leaves the carry open");
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
