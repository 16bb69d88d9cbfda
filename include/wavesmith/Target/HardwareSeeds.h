//===- HardwareSeeds.h - Stand-ins for approximate AMD instructions -------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Semantic models of the gfx90a and gfx942 instructions whose results are
/// approximations on the chips (v_rcp, v_rsq, v_sqrt, v_exp, v_log, v_sin,
/// v_cos) and of the exact helper instructions that mathematical libraries use
/// with them (v_frexp_*, v_fract, v_cmp_class).
///
/// The chips' approximations are documented only by an error bound (1 ulp for
/// the f32 forms, about 2^-26 relative for the f64 forms). The functions here
/// are *correctly rounded stand-ins*: they return the double or float next to
/// the exact value. A computation that refines its seed to convergence (f64
/// division, square root, ocml's exp, log and pow) gives the same bits with
/// either; one that does not (ocml's cbrt) may differ from a chip in the last
/// place. The exact helpers are exact.
///
/// Both the instruction simulator and the host reference evaluator use this
/// header, so the two agree bit for bit by construction: a test that compares
/// them says nothing about these functions themselves.
///
/// The functions assume the host's default floating-point environment
/// (round to nearest even, denormals kept, no trap). No LLVM is needed.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TARGET_HARDWARESEEDS_H
#define WAVESMITH_TARGET_HARDWARESEEDS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

/// The functions are always inlined: translation units compiled for different
/// host instruction sets may then include this header in one program.
#if defined(__GNUC__) || defined(__clang__)
#define WAVESMITH_SEED_INLINE inline __attribute__((always_inline))
#else
#define WAVESMITH_SEED_INLINE inline
#endif

namespace wavesmith::hardware {

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//
/// The bits of a number, and the number of bits.
WAVESMITH_SEED_INLINE uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

WAVESMITH_SEED_INLINE uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

WAVESMITH_SEED_INLINE double doubleOf(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

WAVESMITH_SEED_INLINE float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// A denormal float becomes the zero of its sign; everything else is kept. The
/// f32 transcendental instructions do this to their source and their result,
/// whatever the denormal mode of the kernel.
WAVESMITH_SEED_INLINE float flushDenormal(float value) {
  uint32_t bits = bitsOf(value);
  return (bits & 0x7f800000u) == 0 ? floatOf(bits & 0x80000000u) : value;
}

//===----------------------------------------------------------------------===//
// f64 approximations
//===----------------------------------------------------------------------===//

/// v_rcp_f64: 1/x. Zeros give the infinity of their sign and the other way
/// round.
WAVESMITH_SEED_INLINE double rcp_f64(double x) { return 1.0 / x; }

/// v_sqrt_f64: the square root; NaN below zero, -0 for -0.
WAVESMITH_SEED_INLINE double sqrt_f64(double x) { return std::sqrt(x); }

/// v_rsq_f64: 1/sqrt(x); zeros give the infinity of their sign, NaN below
/// zero. One correction step brings the quotient of two roundings to within
/// 0.5 + 2^-50 ulp.
WAVESMITH_SEED_INLINE double rsq_f64(double x) {
  if (x == 0)
    return 1.0 / x;
  if (!(x > 0) || x > std::numeric_limits<double>::max())
    return 1.0 / std::sqrt(x);
  // x = m * 4^e with m in [0.25, 1): no step below under- or overflows.
  int exponent;
  double m = std::frexp(x, &exponent);
  if (exponent & 1) {
    m *= 0.5;
    ++exponent;
  }
  double y = 1.0 / std::sqrt(m);
  // residual = 1 - m*y*y, kept to twice the precision.
  double square = y * y;
  double squareLow = std::fma(y, y, -square);
  double product = m * square;
  double productLow = std::fma(m, square, -product) + m * squareLow;
  double residual = (1.0 - product) - productLow;
  y = std::fma(0.5 * y, residual, y);
  return std::ldexp(y, -exponent / 2);
}

//===----------------------------------------------------------------------===//
// f32 approximations
//===----------------------------------------------------------------------===//

/// v_rcp_f32: 1/x, denormals flushed.
WAVESMITH_SEED_INLINE float rcp_f32(float x) {
  return flushDenormal(1.0f / flushDenormal(x));
}

/// v_sqrt_f32: the square root, denormals flushed.
WAVESMITH_SEED_INLINE float sqrt_f32(float x) {
  return std::sqrt(flushDenormal(x));
}

/// v_rsq_f32: 1/sqrt(x), denormals flushed.
WAVESMITH_SEED_INLINE float rsq_f32(float x) {
  x = flushDenormal(x);
  if (x == 0)
    return 1.0f / x;
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}

/// v_exp_f32: 2^x, denormals flushed.
WAVESMITH_SEED_INLINE float exp_f32(float x) {
  return flushDenormal(
      static_cast<float>(std::exp2(static_cast<double>(flushDenormal(x)))));
}

/// v_log_f32: log2(x), denormals flushed: -infinity at zero, NaN below.
WAVESMITH_SEED_INLINE float log_f32(float x) {
  x = flushDenormal(x);
  if (x == 0)
    return -std::numeric_limits<float>::infinity();
  return static_cast<float>(std::log2(static_cast<double>(x)));
}

namespace detail {
/// sin(2 pi (turns + quadrant/4)) for |turns| <= 1/8.
WAVESMITH_SEED_INLINE double sineOfTurns(double turns, int quadrant) {
  constexpr double twoPi = 6.283185307179586476925286766559;
  double angle = turns * twoPi;
  switch (quadrant & 3) {
  case 0:
    return std::sin(angle);
  case 1:
    return std::cos(angle);
  case 2:
    return -std::sin(angle);
  default:
    return -std::cos(angle);
  }
}

WAVESMITH_SEED_INLINE float turns_f32(float x, int quadrantOffset,
                                      float outOfRange) {
  x = flushDenormal(x);
  if (!(std::fabs(x) <= std::numeric_limits<float>::max()))
    return std::numeric_limits<float>::quiet_NaN();
  if (std::fabs(x) > 256.0f)
    return outOfRange;
  if (x == 0 && quadrantOffset == 0)
    return x;
  // Both subtractions are exact.
  double turns = static_cast<double>(x) - std::nearbyint(x);
  double quadrants = std::nearbyint(4.0 * turns);
  turns -= 0.25 * quadrants;
  return flushDenormal(static_cast<float>(
      sineOfTurns(turns, static_cast<int>(quadrants) + quadrantOffset)));
}
} // namespace detail

/// v_sin_f32: sin(2 pi x), the source in turns; 0 where |x| > 256, which is
/// outside of the instruction's domain.
WAVESMITH_SEED_INLINE float sin_f32(float x) {
  return detail::turns_f32(x, 0, 0.0f);
}

/// v_cos_f32: cos(2 pi x), the source in turns; 1 where |x| > 256.
WAVESMITH_SEED_INLINE float cos_f32(float x) {
  return detail::turns_f32(x, 1, 1.0f);
}

//===----------------------------------------------------------------------===//
// Exact helpers
//===----------------------------------------------------------------------===//

/// v_frexp_mant_f64: the significand in [0.5, 1) with the sign of x; zeros,
/// infinities and NaN are returned as they are (signalling NaN quieted).
WAVESMITH_SEED_INLINE double frexp_mant_f64(double x) {
  if (!(std::fabs(x) <= std::numeric_limits<double>::max()))
    return x + x;
  int exponent;
  return std::frexp(x, &exponent);
}

/// v_frexp_exp_i32_f64: the exponent that belongs to frexp_mant_f64; 0 for
/// zeros, infinities and NaN.
WAVESMITH_SEED_INLINE int32_t frexp_exp_i32_f64(double x) {
  if (!(std::fabs(x) <= std::numeric_limits<double>::max()))
    return 0;
  int exponent;
  std::frexp(x, &exponent);
  return exponent;
}

/// v_frexp_mant_f32.
WAVESMITH_SEED_INLINE float frexp_mant_f32(float x) {
  if (!(std::fabs(x) <= std::numeric_limits<float>::max()))
    return x + x;
  int exponent;
  return std::frexp(x, &exponent);
}

/// v_frexp_exp_i32_f32.
WAVESMITH_SEED_INLINE int32_t frexp_exp_i32_f32(float x) {
  if (!(std::fabs(x) <= std::numeric_limits<float>::max()))
    return 0;
  int exponent;
  std::frexp(x, &exponent);
  return exponent;
}

/// v_fract_f64: x - floor(x), at most the double below 1; NaN for infinities
/// and NaN.
WAVESMITH_SEED_INLINE double fract_f64(double x) {
  double fraction = x - std::floor(x);
  // The comparison is false for NaN, which is kept.
  return fraction >= 1.0 ? 0x1.fffffffffffffp-1 : fraction;
}

/// v_fract_f32.
WAVESMITH_SEED_INLINE float fract_f32(float x) {
  float fraction = x - std::floor(x);
  return fraction >= 1.0f ? 0x1.fffffep-1f : fraction;
}

/// v_ldexp_f64: x * 2^exponent, rounded once.
WAVESMITH_SEED_INLINE double ldexp_f64(double x, int32_t exponent) {
  return std::ldexp(x, exponent);
}

/// The bits of the mask that v_cmp_class takes.
enum FloatClass : uint32_t {
  SignalingNaN = 1u << 0,
  QuietNaN = 1u << 1,
  NegativeInfinity = 1u << 2,
  NegativeNormal = 1u << 3,
  NegativeDenormal = 1u << 4,
  NegativeZero = 1u << 5,
  PositiveZero = 1u << 6,
  PositiveDenormal = 1u << 7,
  PositiveNormal = 1u << 8,
  PositiveInfinity = 1u << 9,
};

namespace detail {
template <typename Bits>
WAVESMITH_SEED_INLINE uint32_t classOf(Bits bits, unsigned mantissaBits,
                                       unsigned exponentBits) {
  Bits mantissa = bits & ((Bits(1) << mantissaBits) - 1);
  Bits exponentMask = (Bits(1) << exponentBits) - 1;
  Bits exponent = (bits >> mantissaBits) & exponentMask;
  bool negative = (bits >> (mantissaBits + exponentBits)) & 1;
  if (exponent == exponentMask) {
    if (mantissa)
      return (mantissa >> (mantissaBits - 1)) & 1 ? QuietNaN : SignalingNaN;
    return negative ? NegativeInfinity : PositiveInfinity;
  }
  if (exponent)
    return negative ? NegativeNormal : PositiveNormal;
  if (mantissa)
    return negative ? NegativeDenormal : PositiveDenormal;
  return negative ? NegativeZero : PositiveZero;
}
} // namespace detail

/// v_cmp_class_f64: whether the class of x (taken from its bits, so that
/// signalling NaN stays one) is among those of mask.
WAVESMITH_SEED_INLINE bool class_f64(uint64_t bits, uint32_t mask) {
  return (detail::classOf<uint64_t>(bits, 52, 11) & mask) != 0;
}
WAVESMITH_SEED_INLINE bool class_f64(double x, uint32_t mask) {
  return class_f64(bitsOf(x), mask);
}

/// v_cmp_class_f32.
WAVESMITH_SEED_INLINE bool class_f32(uint32_t bits, uint32_t mask) {
  return (detail::classOf<uint32_t>(bits, 23, 8) & mask) != 0;
}
WAVESMITH_SEED_INLINE bool class_f32(float x, uint32_t mask) {
  return class_f32(bitsOf(x), mask);
}

/// v_cmp_class_f16, on the bits of a half.
WAVESMITH_SEED_INLINE bool class_f16(uint16_t bits, uint32_t mask) {
  return (detail::classOf<uint32_t>(bits, 10, 5) & mask) != 0;
}

} // namespace wavesmith::hardware

#undef WAVESMITH_SEED_INLINE

#endif // WAVESMITH_TARGET_HARDWARESEEDS_H
