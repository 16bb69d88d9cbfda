//===- VectorF64.cpp - Double-precision vector arithmetic ---------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

/// The fraction bits of 2/pi, the first bit on top; v_trig_preop_f64 sees the
/// first 1201 of them.
constexpr unsigned twoOverPiBits = 1201;
constexpr uint64_t twoOverPi[] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull,
    0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull,
    0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull,
    0x56033046fc7b6babull,
};

/// v_trig_preop_f64: the 53 bits of 2/pi that Payne and Hanek's reduction of x
/// needs for its segment, placed where they stand in the fraction.
inline double trigPreop(double x, uint32_t segment) {
  int exponent = static_cast<int>(hardware::bitsOf(x) >> 52) & 0x7ff;
  int shift = static_cast<int>(segment & 31) * 53;
  if (exponent > 1077)
    shift += exponent - 1077;
  uint64_t bits = 0;
  for (unsigned i = 0; i < 53; ++i) {
    unsigned at = static_cast<unsigned>(shift) + i;
    uint64_t bit =
        at < twoOverPiBits ? (twoOverPi[at / 64] >> (63 - at % 64)) & 1 : 0;
    bits = (bits << 1) | bit;
  }
  int scale = -53 - shift;
  if (exponent >= 1968)
    scale += 128;
  return std::ldexp(static_cast<double>(bits), scale);
}

constexpr uint64_t exponentField = uint64_t(0x7ff) << 52;

/// Denormals are scaled up by 2^54, which is exact.
ALWAYS_INLINE double scaledUp(double x) {
  return (hardware::bitsOf(x) & exponentField) ? x : x * 0x1p54;
}
ALWAYS_INLINE bool hasExponent(double x) {
  return (x != 0) & ((hardware::bitsOf(x) & exponentField) != exponentField);
}

/// frexp for the vectoriser: the significand in [0.5, 1), the exponent; x + x
/// and 0 for what has none.
ALWAYS_INLINE double significand(double x) {
  constexpr uint64_t half = uint64_t(1022) << 52;
  uint64_t bits = hardware::bitsOf(scaledUp(x));
  double result = hardware::doubleOf((bits & ~exponentField) | half);
  return hasExponent(x) ? result : x + x;
}
ALWAYS_INLINE int32_t exponent(double x) {
  int64_t biased = static_cast<int64_t>(
      (hardware::bitsOf(scaledUp(x)) & exponentField) >> 52);
  int64_t result =
      biased - 1022 - ((hardware::bitsOf(x) & exponentField) ? 0 : 54);
  return static_cast<int32_t>(hasExponent(x) ? result : 0);
}

/// 2^n for n from -1022 to 1023.
ALWAYS_INLINE double powerOfTwo(int32_t n) {
  return hardware::doubleOf(uint64_t(int64_t(n) + 1023) << 52);
}

/// x * 2^n, rounded once, without a branch: ldexp for the vectoriser. Two steps
/// bring a large n into the range of one factor. A step down leaves 53 bits
/// below the normal numbers, so that a value that a step rounds becomes zero in
/// the end whatever the rounding.
ALWAYS_INLINE double scaleByPower(double x, int32_t n) {
  constexpr int32_t up = 1023, down = -1022 + 53;
  for (unsigned step = 0; step < 2; ++step) {
    int32_t part = n > 1023 ? up : n < -1022 ? down : 0;
    x *= powerOfTwo(part);
    n -= part;
  }
  n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
  return x * powerOfTwo(n);
}

} // namespace

void registerVectorF64(OpcodeTable &table) {
  using namespace hardware;

  TILE2("V_ADD_F64", F64, F64, F64, a + b, Arithmetic::F64Add);
  TILE2("V_MUL_F64", F64, F64, F64, a * b, Arithmetic::F64Mul);
  TILE3("V_FMA_F64", F64, F64, F64, F64, __builtin_fma(a, b, c),
        Arithmetic::F64FMA);
  TILE3("V_FMAC_F64", F64, F64, F64, F64, __builtin_fma(a, b, c),
        Arithmetic::F64FMA);
  MODE2("V_MIN_F64", F64, (extremum<IEEE, false>(a, b)));
  MODE2("V_MAX_F64", F64, (extremum<IEEE, true>(a, b)));
  OP1("V_RCP_F64", F64, F64, rcp_f64(a), Arithmetic::F64Trans);
  SLOW1("V_RSQ_F64", F64, F64, rsq_f64(a), Arithmetic::F64Trans);
  OP1("V_SQRT_F64", F64, F64, __builtin_sqrt(a), Arithmetic::F64Trans);
  OP1("V_RNDNE_F64", F64, F64, __builtin_rint(a));
  OP1("V_TRUNC_F64", F64, F64, __builtin_trunc(a));
  OP1("V_CEIL_F64", F64, F64, __builtin_ceil(a));
  OP1("V_FLOOR_F64", F64, F64, __builtin_floor(a));
  OP1("V_FRACT_F64", F64, F64, fract_f64(a));
  OP1("V_FREXP_MANT_F64", F64, F64, significand(a));
  OP1("V_FREXP_EXP_I32_F64", I32, F64, exponent(a));
  SLOW2("V_TRIG_PREOP_F64", F64, F64, U32, trigPreop(a, b));
  OP2("V_LDEXP_F64", F64, F64, I32, scaleByPower(a, b));

  approximate(table, {"V_RCP_F64", "V_RSQ_F64", "V_SQRT_F64"},
              "about 2^-26 relative (V_RCP_F64 and V_RSQ_F64 are seeds); the "
              "simulator rounds correctly");
  for (const char *name :
       {"V_RCP_F64", "V_RSQ_F64", "V_SQRT_F64", "V_RNDNE_F64"})
    table.entries[name].ownRounding = true;

  OP1("V_CVT_F64_I32", F64, I32, static_cast<double>(a));
  // The host's own sequence gives -0 when rounding down.
  OP1("V_CVT_F64_U32", F64, U32,
      static_cast<double>(static_cast<int32_t>(a)) +
          (static_cast<int32_t>(a) < 0 ? 0x1p32 : 0.0));
  OP1("V_CVT_F64_F32", F64, F32, static_cast<double>(a));
  OP1("V_CVT_F32_F64", F32, F64, static_cast<float>(a));
  // Out of range saturates, NaN gives 0.
  OP1("V_CVT_I32_F64", I32, F64,
      a != a               ? 0
      : a >= 2147483647.0  ? INT32_MAX
      : a <= -2147483648.0 ? INT32_MIN
                           : static_cast<int32_t>(a));
  SLOW1("V_CVT_U32_F64", U32, F64,
        !(a > 0)            ? 0u
        : a >= 4294967295.0 ? UINT32_MAX
                            : static_cast<uint32_t>(a));
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
