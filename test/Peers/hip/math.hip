// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's math library, ocml, in f64, f32 and f16.

#include "peers.h"

#define UNARY(NAME)                                                            \
  UNARY_OF(NAME, f64) UNARY_OF(NAME, f32) UNARY_OF(NAME, f16)
#define UNARY_OF(NAME, T)                                                      \
  extern "C" DEVICE T __ocml_##NAME##_##T(T);                                  \
  KERNEL void NAME##_##T(const T *in, T *out, u32 n) {                         \
    u32 i = globalX();                                                         \
    if (i < n)                                                                 \
      out[i] = __ocml_##NAME##_##T(in[i]);                                     \
  }
#define BINARY(NAME)                                                           \
  BINARY_OF(NAME, f64) BINARY_OF(NAME, f32) BINARY_OF(NAME, f16)
#define BINARY_OF(NAME, T)                                                     \
  extern "C" DEVICE T __ocml_##NAME##_##T(T, T);                               \
  KERNEL void NAME##_##T(const T *a, const T *b, T *out, u32 n) {              \
    u32 i = globalX();                                                         \
    if (i < n)                                                                 \
      out[i] = __ocml_##NAME##_##T(a[i], b[i]);                                \
  }

UNARY(exp) UNARY(exp2) UNARY(exp10) UNARY(expm1)
UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
UNARY(sin) UNARY(cos) UNARY(tan) UNARY(sinpi) UNARY(cospi)
UNARY(asin) UNARY(acos) UNARY(atan)
UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh) UNARY(acosh) UNARY(atanh)
UNARY(sqrt) UNARY(rsqrt) UNARY(cbrt)
UNARY(erf) UNARY(erfc) UNARY(tgamma) UNARY(logb)
BINARY(pow) BINARY(atan2) BINARY(hypot) BINARY(fmod) BINARY(remainder)

// Functions of Bessel have no form for halves.
UNARY_OF(j0, f64) UNARY_OF(j0, f32) UNARY_OF(y1, f64) UNARY_OF(y1, f32)
