//===- BigFloat.h - Numbers of MPFR -----------------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_REFERENCE_BIGFLOAT_H
#define WAVESMITH_LIB_REFERENCE_BIGFLOAT_H

#include "wavesmith/Reference/OdeEvaluator.h"
#include <mpfr.h>

namespace wavesmith {

/// An MPFR number of OdeEvaluator::highPrecisionBits bits. Comparisons with NaN
/// are false, as in IEEE 754.
class BigFloat {
public:
  BigFloat() { mpfr_init2(number, OdeEvaluator::highPrecisionBits); }
  // Implicit: formulas mix numbers with f64 constants.
  BigFloat(double value) : BigFloat() { mpfr_set_d(number, value, MPFR_RNDN); }
  BigFloat(const BigFloat &other) : BigFloat() {
    mpfr_set(number, other.number, MPFR_RNDN);
  }
  BigFloat &operator=(const BigFloat &other) {
    mpfr_set(number, other.number, MPFR_RNDN);
    return *this;
  }
  ~BigFloat() { mpfr_clear(number); }

  /// Rounded to nearest even, with denormals.
  double toDouble() const { return mpfr_get_d(number, MPFR_RNDN); }
  mpfr_srcptr get() const { return number; }
  mpfr_ptr get() { return number; }

private:
  mpfr_t number;
};

/// The result of an MPFR function of some BigFloats.
template <typename Function, typename... Arguments>
BigFloat applyMpfr(Function function, const Arguments &...arguments) {
  BigFloat result;
  function(result.get(), arguments.get()..., MPFR_RNDN);
  return result;
}

inline BigFloat operator+(const BigFloat &a, const BigFloat &b) {
  return applyMpfr(mpfr_add, a, b);
}
inline BigFloat operator-(const BigFloat &a, const BigFloat &b) {
  return applyMpfr(mpfr_sub, a, b);
}
inline BigFloat operator*(const BigFloat &a, const BigFloat &b) {
  return applyMpfr(mpfr_mul, a, b);
}
inline BigFloat operator/(const BigFloat &a, const BigFloat &b) {
  return applyMpfr(mpfr_div, a, b);
}
inline BigFloat operator-(const BigFloat &a) { return applyMpfr(mpfr_neg, a); }
inline bool operator<(const BigFloat &a, const BigFloat &b) {
  return mpfr_less_p(a.get(), b.get());
}
inline bool operator<=(const BigFloat &a, const BigFloat &b) {
  return mpfr_lessequal_p(a.get(), b.get());
}
inline bool operator>(const BigFloat &a, const BigFloat &b) { return b < a; }
inline bool operator>=(const BigFloat &a, const BigFloat &b) { return b <= a; }
inline bool operator==(const BigFloat &a, const BigFloat &b) {
  return mpfr_equal_p(a.get(), b.get());
}
inline bool operator!=(const BigFloat &a, const BigFloat &b) {
  return !(a == b);
}

} // namespace wavesmith

#endif // WAVESMITH_LIB_REFERENCE_BIGFLOAT_H
