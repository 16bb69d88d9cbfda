//===- Numbers.h - Functions of both precisions -----------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of formulas, on f64 (as on the device) and on BigFloat. They
// are members of a class so that no call can reach the host's libm by mistake.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_REFERENCE_NUMBERS_H
#define WAVESMITH_LIB_REFERENCE_NUMBERS_H

#include "BigFloat.h"
#include "wavesmith/Math/DeviceMath.h"
#include <cmath>

namespace wavesmith {

struct Fn {
#define UNARY(name, f64Function, bigFunction)                                  \
  static double name(double x) { return f64Function(x); }                      \
  static BigFloat name(const BigFloat &x) { return applyMpfr(bigFunction, x); }
#define BINARY(name, f64Function, bigFunction)                                 \
  static double name(double x, double y) { return f64Function(x, y); }         \
  static BigFloat name(const BigFloat &x, const BigFloat &y) {                 \
    return applyMpfr(bigFunction, x, y);                                       \
  }
  UNARY(exp, devicemath::exp, mpfr_exp)
  UNARY(exp2, devicemath::exp2, mpfr_exp2)
  UNARY(expm1, devicemath::expm1, mpfr_expm1)
  UNARY(log, devicemath::log, mpfr_log)
  UNARY(log2, devicemath::log2, mpfr_log2)
  UNARY(log10, devicemath::log10, mpfr_log10)
  UNARY(log1p, devicemath::log1p, mpfr_log1p)
  UNARY(cbrt, devicemath::cbrt, mpfr_cbrt)
  UNARY(sin, devicemath::sin, mpfr_sin)
  UNARY(cos, devicemath::cos, mpfr_cos)
  UNARY(tan, devicemath::tan, mpfr_tan)
  UNARY(asin, devicemath::asin, mpfr_asin)
  UNARY(acos, devicemath::acos, mpfr_acos)
  UNARY(atan, devicemath::atan, mpfr_atan)
  UNARY(sinh, devicemath::sinh, mpfr_sinh)
  UNARY(cosh, devicemath::cosh, mpfr_cosh)
  UNARY(tanh, devicemath::tanh, mpfr_tanh)
  UNARY(asinh, devicemath::asinh, mpfr_asinh)
  UNARY(acosh, devicemath::acosh, mpfr_acosh)
  UNARY(atanh, devicemath::atanh, mpfr_atanh)
  UNARY(erf, devicemath::erf, mpfr_erf)
  UNARY(erfc, devicemath::erfc, mpfr_erfc)
  BINARY(pow, devicemath::pow, mpfr_pow)
  BINARY(atan2, devicemath::atan2, mpfr_atan2)
  // These are exact or correctly rounded, on the host as on the device.
  UNARY(sqrt, std::sqrt, mpfr_sqrt)
  UNARY(abs, std::fabs, mpfr_abs)
  UNARY(ceil, std::ceil, mpfr_rint_ceil)
  UNARY(floor, std::floor, mpfr_rint_floor)
  UNARY(trunc, std::trunc, mpfr_rint_trunc)
  UNARY(round, std::round, mpfr_rint_round)
  UNARY(roundeven, std::nearbyint, mpfr_rint_roundeven)
  BINARY(remainder, std::fmod, mpfr_fmod)
  BINARY(copysign, std::copysign, mpfr_copysign)
#undef UNARY
#undef BINARY

  /// Two roundings, as in kernels: the last place of ocml's function depends on
  /// the chip's approximation.
  template <typename Real> static Real rsqrt(const Real &x) {
    return Real(1.0) / sqrt(x);
  }

  /// a * b + c with one rounding.
  static double fma(double a, double b, double c) { return std::fma(a, b, c); }
  static BigFloat fma(const BigFloat &a, const BigFloat &b, const BigFloat &c) {
    return applyMpfr(mpfr_fma, a, b, c);
  }

  /// x to the power n.
  static double pown(double x, int64_t n) { return devicemath::pown(x, n); }
  static BigFloat pown(const BigFloat &x, int64_t n) {
    BigFloat result;
    mpfr_pow_si(result.get(), x.get(), n, MPFR_RNDN);
    return result;
  }

  static bool isNaN(double x) { return std::isnan(x); }
  static bool isNaN(const BigFloat &x) { return mpfr_nan_p(x.get()); }
  static bool isInfinite(double x) { return std::isinf(x); }
  static bool isInfinite(const BigFloat &x) { return mpfr_inf_p(x.get()); }
  static bool isNegative(double x) { return std::signbit(x); }
  static bool isNegative(const BigFloat &x) { return mpfr_signbit(x.get()); }

  /// The greater number, +0.0 of two zeros; a NaN gives the other operand.
  template <typename Real> static Real maxNumber(const Real &a, const Real &b) {
    if (isNaN(a) || isNaN(b))
      return isNaN(a) ? b : a;
    if (a == b)
      return isNegative(a) ? b : a;
    return a > b ? a : b;
  }
  /// The smaller number, -0.0 of two zeros; a NaN gives the other operand.
  template <typename Real> static Real minNumber(const Real &a, const Real &b) {
    if (isNaN(a) || isNaN(b))
      return isNaN(a) ? b : a;
    if (a == b)
      return isNegative(a) ? a : b;
    return a < b ? a : b;
  }

  static double toDouble(double x) { return x; }
  static double toDouble(const BigFloat &x) { return x.toDouble(); }
};

} // namespace wavesmith

#endif // WAVESMITH_LIB_REFERENCE_NUMBERS_H
