//===- DeviceMath.h - The device's math library on the host -----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// f64 functions that return the bits that a kernel returns. They are the
/// bitcode of the device's math library (ocml), compiled for the host when
/// Wavesmith is built, with the control variables of the device build: no
/// finite-math assumption, denormals kept, no contraction beyond ocml's own
/// fma. The host's libm differs from it: by 1 ulp in 6 % of exp's values.
///
/// Most functions call approximate instructions of the chip, which are replaced
/// by the correctly rounded stand-ins of wavesmith/Target/HardwareSeeds.h, as
/// in the simulator. exp, exp2, exp10 and expm1 use none. docs/numbers.md has
/// the list and each function's measured error. A NaN result is a NaN on the
/// device too; its sign and payload are not specified.
///
/// The functions are reentrant. They assume the default floating-point
/// environment (round to nearest even, denormals kept): see
/// FloatingPointEnvironment.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_MATH_DEVICEMATH_H
#define WAVESMITH_MATH_DEVICEMATH_H

#include <cfenv>
#include <cstdint>

namespace wavesmith::devicemath {

/// While it lives, the thread has the default floating-point environment.
/// Restores what was there before, so that a host program's own rounding or
/// denormal mode neither changes results nor is changed.
class FloatingPointEnvironment {
public:
  FloatingPointEnvironment() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatingPointEnvironment() { std::fesetenv(&saved); }
  FloatingPointEnvironment(const FloatingPointEnvironment &) = delete;
  FloatingPointEnvironment &
  operator=(const FloatingPointEnvironment &) = delete;

private:
  std::fenv_t saved;
};

/// E^x.
double exp(double x);
/// 2^x.
double exp2(double x);
/// 10^x.
double exp10(double x);
/// E^x - 1.
double expm1(double x);
/// The natural logarithm.
double log(double x);
/// The logarithm to base 2.
double log2(double x);
/// The logarithm to base 10.
double log10(double x);
/// Log(1 + x).
double log1p(double x);
/// The cube root.
double cbrt(double x);
/// 1/sqrt(x).
double rsqrt(double x);
/// The sine, x in radians.
double sin(double x);
/// The cosine, x in radians.
double cos(double x);
/// The tangent, x in radians.
double tan(double x);
/// The inverse sine, in radians.
double asin(double x);
/// The inverse cosine, in radians.
double acos(double x);
/// The inverse tangent, in radians.
double atan(double x);
/// The hyperbolic sine.
double sinh(double x);
/// The hyperbolic cosine.
double cosh(double x);
/// The hyperbolic tangent.
double tanh(double x);
/// The inverse hyperbolic sine.
double asinh(double x);
/// The inverse hyperbolic cosine.
double acosh(double x);
/// The inverse hyperbolic tangent.
double atanh(double x);
/// The error function.
double erf(double x);
/// 1 - erf(x).
double erfc(double x);
/// The square root (IEEE, correctly rounded).
double sqrt(double x);
/// X to the power y, with C's special cases.
double pow(double x, double y);
/// X to the power n.
double pown(double x, int32_t n);
/// The angle of the point (x, y), in radians.
double atan2(double y, double x);
/// The remainder of x/y with the sign of x (exact).
double fmod(double x, double y);

} // namespace wavesmith::devicemath

#endif // WAVESMITH_MATH_DEVICEMATH_H
