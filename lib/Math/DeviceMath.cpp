//===- DeviceMath.cpp - The device's math library on the host -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Math/DeviceMath.h"

// The symbols that HostBitcode.cmake makes.
extern "C" {
#define UNARY(name) double wavesmith_ocml_##name##_f64(double);
#define BINARY(name) double wavesmith_ocml_##name##_f64(double, double);
#define FUNCTIONS                                                              \
  UNARY(exp)                                                                   \
  UNARY(exp2)                                                                  \
  UNARY(exp10)                                                                 \
  UNARY(expm1)                                                                 \
  UNARY(log)                                                                   \
  UNARY(log2)                                                                  \
  UNARY(log10)                                                                 \
  UNARY(log1p)                                                                 \
  UNARY(cbrt)                                                                  \
  UNARY(rsqrt)                                                                 \
  UNARY(sin)                                                                   \
  UNARY(cos)                                                                   \
  UNARY(tan)                                                                   \
  UNARY(asin)                                                                  \
  UNARY(acos)                                                                  \
  UNARY(atan)                                                                  \
  UNARY(sinh)                                                                  \
  UNARY(cosh)                                                                  \
  UNARY(tanh)                                                                  \
  UNARY(asinh)                                                                 \
  UNARY(acosh)                                                                 \
  UNARY(atanh)                                                                 \
  UNARY(erf)                                                                   \
  UNARY(erfc)                                                                  \
  UNARY(sqrt)                                                                  \
  BINARY(pow)                                                                  \
  BINARY(atan2)                                                                \
  BINARY(fmod)
FUNCTIONS
#undef UNARY
#undef BINARY
double wavesmith_ocml_pown_f64(double, int32_t);
}

namespace wavesmith::devicemath {

#define UNARY(name)                                                            \
  double name(double x) { return wavesmith_ocml_##name##_f64(x); }
#define BINARY(name)                                                           \
  double name(double x, double y) { return wavesmith_ocml_##name##_f64(x, y); }
FUNCTIONS
#undef UNARY
#undef BINARY

double pown(double x, int32_t n) { return wavesmith_ocml_pown_f64(x, n); }

} // namespace wavesmith::devicemath
