//===- VectorF16.cpp - 16-bit vector arithmetic -------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

// Halves are computed in double and rounded once: exact for + - * / and the
// square root. A fused multiply-add in double is exact enough that only a
// product below 2^-42 of the addend could round differently, and then the
// addend alone decides.

ALWAYS_INLINE double minimumF16(double a, double b) {
  return a != a   ? b
         : b != b ? a
         : a == b ? (std::signbit(a) ? a : b)
         : a < b  ? a
                  : b;
}
ALWAYS_INLINE double maximumF16(double a, double b) {
  return a != a   ? b
         : b != b ? a
         : a == b ? (std::signbit(a) ? b : a)
         : a > b  ? a
                  : b;
}

} // namespace

void registerVectorF16(OpcodeTable &table) {
  SLOW1("V_CVT_F16_F32", F16, F32, static_cast<double>(a));
  SLOW1("V_CVT_F32_F16", F32, F16, static_cast<float>(a));
  SLOW1("V_CVT_F16_U16", F16, U16, static_cast<double>(a));
  SLOW1("V_CVT_F16_I16", F16, I16, static_cast<double>(a));
  SLOW1("V_CVT_U16_F16", U16, F16,
        !(a > 0)       ? 0
        : a >= 65535.0 ? 65535
                       : static_cast<uint16_t>(a));
  SLOW1("V_CVT_I16_F16", I16, F16,
        a != a          ? 0
        : a >= 32767.0  ? 32767
        : a <= -32768.0 ? -32768
                        : static_cast<int16_t>(a));
  SLOW2("V_ADD_F16", F16, F16, F16, a + b);
  SLOW2("V_SUB_F16", F16, F16, F16, a - b);
  SLOW2("V_SUBREV_F16", F16, F16, F16, b - a);
  SLOW2("V_MUL_F16", F16, F16, F16, a * b);
  SLOW3("V_FMA_F16", F16, F16, F16, F16, __builtin_fma(a, b, c));
  SLOW2("V_MIN_F16", F16, F16, F16, minimumF16(a, b));
  SLOW2("V_MAX_F16", F16, F16, F16, maximumF16(a, b));
  SLOW1("V_RCP_F16", F16, F16, 1.0 / a);
  SLOW1("V_SQRT_F16", F16, F16, __builtin_sqrt(a));
  SLOW1("V_RNDNE_F16", F16, F16, __builtin_rint(a));
  SLOW1("V_TRUNC_F16", F16, F16, __builtin_trunc(a));
  SLOW1("V_CEIL_F16", F16, F16, __builtin_ceil(a));
  SLOW1("V_FLOOR_F16", F16, F16, __builtin_floor(a));

  OP2("V_ADD_U16", U16, U16, U16, a + b);
  OP2("V_SUB_U16", U16, U16, U16, a - b);
  OP2("V_SUBREV_U16", U16, U16, U16, b - a);
  OP2("V_MUL_LO_U16", U16, U16, U16, uint32_t(a) * b);
  OP3("V_MAD_U16", U16, U16, U16, U16, uint32_t(a) * b + c);
  OP3("V_MAD_I16", U16, U16, U16, U16, uint32_t(a) * b + c);
  OP2("V_MIN_U16", U16, U16, U16, a < b ? a : b);
  OP2("V_MAX_U16", U16, U16, U16, a > b ? a : b);
  OP2("V_MIN_I16", I16, I16, I16, a < b ? a : b);
  OP2("V_MAX_I16", I16, I16, I16, a > b ? a : b);
  OP2("V_LSHLREV_B16", U16, U16, U16, b << (a & 15));
  OP2("V_LSHRREV_B16", U16, U16, U16, b >> (a & 15));
  OP2("V_ASHRREV_I16", I16, U16, I16, b >> (a & 15));
  OP2("V_ADD_I16", I16, I16, I16, a + b);
  OP2("V_SUB_I16", I16, I16, I16, a - b);
  OP2("V_PACK_B32_F16", U32, U16, U16, uint32_t(a) | (uint32_t(b) << 16));
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
