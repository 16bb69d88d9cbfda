//===- VectorF64.cpp - Double-precision vector arithmetic ---------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {

void registerVectorF64(OpcodeTable &table) {
  using namespace hardware;

  OP2("V_ADD_F64", F64, F64, F64, a + b, Arithmetic::F64Add);
  OP2("V_MUL_F64", F64, F64, F64, a *b, Arithmetic::F64Mul);
  OP3("V_FMA_F64", F64, F64, F64, F64, __builtin_fma(a, b, c),
      Arithmetic::F64FMA);
  OP3("V_FMAC_F64", F64, F64, F64, F64, __builtin_fma(a, b, c),
      Arithmetic::F64FMA);
  // A NaN loses against a number, the sign of zero counts.
  OP2("V_MIN_F64", F64, F64, F64,
      a != a   ? b
      : b != b ? a
      : a == b ? doubleOf(bitsOf(a) | bitsOf(b))
      : a < b  ? a
               : b);
  OP2("V_MAX_F64", F64, F64, F64,
      a != a   ? b
      : b != b ? a
      : a == b ? doubleOf(bitsOf(a) & bitsOf(b))
      : a > b  ? a
               : b);
  OP1("V_RCP_F64", F64, F64, rcp_f64(a), Arithmetic::F64Trans);
  SLOW1("V_RSQ_F64", F64, F64, rsq_f64(a), Arithmetic::F64Trans);
  OP1("V_SQRT_F64", F64, F64, __builtin_sqrt(a), Arithmetic::F64Trans);
  OP1("V_RNDNE_F64", F64, F64, __builtin_rint(a));
  OP1("V_TRUNC_F64", F64, F64, __builtin_trunc(a));
  OP1("V_CEIL_F64", F64, F64, __builtin_ceil(a));
  OP1("V_FLOOR_F64", F64, F64, __builtin_floor(a));
  OP1("V_FRACT_F64", F64, F64, fract_f64(a));
  SLOW1("V_FREXP_MANT_F64", F64, F64, frexp_mant_f64(a));
  SLOW1("V_FREXP_EXP_I32_F64", I32, F64, frexp_exp_i32_f64(a));
  SLOW2("V_LDEXP_F64", F64, F64, I32, ldexp_f64(a, b));

  OP1("V_CVT_F64_I32", F64, I32, static_cast<double>(a));
  OP1("V_CVT_F64_U32", F64, U32, static_cast<double>(a));
  OP1("V_CVT_F64_F32", F64, F32, static_cast<double>(a));
  OP1("V_CVT_F32_F64", F32, F64, static_cast<float>(a));
  // Out of range saturates, NaN gives 0.
  SLOW1("V_CVT_I32_F64", I32, F64,
        a != a              ? 0
        : a >= 2147483647.0 ? INT32_MAX
        : a <= -2147483648.0 ? INT32_MIN
                             : static_cast<int32_t>(a));
  SLOW1("V_CVT_U32_F64", U32, F64,
        !(a > 0)            ? 0u
        : a >= 4294967295.0 ? UINT32_MAX
                            : static_cast<uint32_t>(a));
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
