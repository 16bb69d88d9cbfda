//===- Division.cpp - The steps of IEEE division ------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include <limits>

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

/// The constants of v_div_* for a format.
template <typename T> struct DivisionFormat;
template <> struct DivisionFormat<double> {
  using Bits = uint64_t;
  using Type = F64;
  static constexpr int mantissaBits = 52, exponentMask = 0x7ff, bias = 1023;
  /// Exponents of the scale; the distance of exponents that needs it; the
  /// exponent below which a numerator is tiny; the distance below which the
  /// quotient underflows.
  static constexpr int scale = 128, farApart = 768, tiny = 53,
                       underflow = -1075;
  /// Half of the least denormal, scaled up.
  static double scaledHalfUlp() { return 0x1p-947; } // 2^(-1075 + 128)
};
template <> struct DivisionFormat<float> {
  using Bits = uint32_t;
  using Type = F32;
  static constexpr int mantissaBits = 23, exponentMask = 0xff, bias = 127;
  static constexpr int scale = 64, farApart = 96, tiny = 23, underflow = -150;
  static float scaledHalfUlp() { return 0x1p-86f; } // 2^(-150 + 64)
};

template <typename T> int biasedExponent(T x) {
  using D = DivisionFormat<T>;
  return static_cast<int>(hardware::bitsOf(x) >> D::mantissaBits) &
         D::exponentMask;
}
template <typename T> bool isDenormal(T x) {
  return x != 0 && biasedExponent(x) == 0;
}
template <typename T> bool isNegative(T x) { return std::signbit(x); }

// The published pseudocode of these instructions is wrong in two corners: for a
// huge denominator with a denormal quotient it scales the denominator up, to
// infinity; and it has no case for a quotient that overflows in the refinement.
// Division on the chips is correctly rounded there as well (OpenCL requires
// it), so here the denominator is scaled down and v_div_fixup gives infinity.

/// v_div_scale: s0 is the operand to scale, s1 the denominator, s2 the
/// numerator; flag goes to the mask.
template <typename T> T divScale(T s0, T s1, T s2, bool &flag) {
  using D = DivisionFormat<T>;
  flag = false;
  if (s1 == 0 || s2 == 0)
    return std::numeric_limits<T>::quiet_NaN();
  if (biasedExponent(s2) - biasedExponent(s1) >= D::farApart) {
    // The quotient is near the largest number: scale the denominator only.
    flag = true;
    return s0 == s1 ? std::ldexp(s0, D::scale) : s0;
  }
  if (isDenormal(s1))
    return std::ldexp(s0, D::scale);
  bool reciprocalDenormal = isDenormal(T(1) / s1);
  bool quotientDenormal = isDenormal(s2 / s1);
  if (reciprocalDenormal && quotientDenormal) {
    flag = true;
    return s0 == s1 ? std::ldexp(s0, -D::scale) : s0;
  }
  if (reciprocalDenormal)
    return std::ldexp(s0, -D::scale);
  if (quotientDenormal) {
    flag = true;
    return s0 == s2 ? std::ldexp(s0, D::scale) : s0;
  }
  if (biasedExponent(s2) <= D::tiny)
    return std::ldexp(s0, D::scale);
  return s0;
}

/// x * 2^-scale of the exact a*b+c, rounded once although the fma rounds
/// first: where the fma's result is a tie of the smaller format, the error of
/// the fma decides.
template <typename T> T scaleDownOnce(T a, T b, T c) {
  using D = DivisionFormat<T>;
  T rounded = std::fma(a, b, c);
  T result = std::ldexp(rounded, -D::scale);
  T back = std::ldexp(result, D::scale);
  T difference = rounded - back;
  if (std::fabs(difference) != D::scaledHalfUlp())
    return result;
  // The exact error of the fma, as far as its sign.
  T product = a * b, productLow = std::fma(a, b, -product);
  T v = c + productLow;
  T t = v - c;
  T vLow = (c - (v - t)) + (productLow - t);
  T s = product + v;
  t = s - product;
  T sLow = (product - (s - t)) + (v - t);
  T error = ((s - rounded) + sLow) + vLow;
  // The tie was broken the wrong way only where the error points away from
  // the result.
  if (error == 0 || std::signbit(error) != std::signbit(difference))
    return result;
  return result +
         std::copysign(std::numeric_limits<T>::denorm_min(), difference);
}

template <typename T> T divFmas(T s0, T s1, T s2, bool flag) {
  using D = DivisionFormat<T>;
  if (!flag)
    return std::fma(s0, s1, s2);
  if (biasedExponent(s2) > D::bias)
    return std::ldexp(std::fma(s0, s1, s2), D::scale);
  return scaleDownOnce(s0, s1, s2);
}

template <typename T> T divFixup(T s0, T s1, T s2) {
  using D = DivisionFormat<T>;
  bool negative = isNegative(s1) != isNegative(s2);
  auto withSign = [&](T magnitude) {
    return negative ? -magnitude : magnitude;
  };
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if (s2 != s2)
    return s2 + s2;
  if (s1 != s1)
    return s1 + s1;
  bool infinite1 = std::fabs(s1) == infinity,
       infinite2 = std::fabs(s2) == infinity;
  if ((s1 == 0 && s2 == 0) || (infinite1 && infinite2))
    return -std::numeric_limits<T>::quiet_NaN();
  if (s1 == 0 || infinite2)
    return withSign(infinity);
  if (infinite1 || s2 == 0)
    return withSign(T(0));
  if (biasedExponent(s2) - biasedExponent(s1) < D::underflow)
    return withSign(T(0));
  if (s0 != s0)
    return withSign(infinity); // the refinement has computed inf - inf
  return withSign(std::fabs(s0));
}

/// Whether nothing out of the ordinary happens in any active lane of a
/// division: both numbers are normal, the reciprocal and the quotient are far
/// from overflow and from denormal, the numerator is not tiny. Then
/// v_div_scale returns s0 and v_div_fixup sets the sign.
bool isOrdinaryDivision(Wave &w, const double *denominator,
                        const double *numerator) {
  using D = DivisionFormat<double>;
  alignas(64) uint64_t extraordinary[L];
  VECTORIZE
  for (unsigned s = 0; s < L; ++s) {
    int64_t e1 = static_cast<int64_t>(
        (hardware::bitsOf(denominator[s]) >> D::mantissaBits) &
        D::exponentMask);
    int64_t e2 = static_cast<int64_t>(
        (hardware::bitsOf(numerator[s]) >> D::mantissaBits) & D::exponentMask);
    int64_t distance = e2 - e1;
    bool ordinary = (e1 > 0) & (e1 < 2 * D::bias - 1) & (e2 > D::tiny) &
                    (e2 < D::exponentMask) & (distance < D::farApart) &
                    (distance > -D::bias + 2);
    extraordinary[s] = ordinary ? 0 : ~uint64_t(0);
  }
  return (packSlots(extraordinary) & w.exec) == 0;
}

/// The ordinary case of f64, all lanes at once; false where a lane needs more.
bool divScaleAtOnce(Wave &w, const Instruction &I) {
  alignas(64) double s0[L], s1[L], s2[L];
  gather<F64>(w, I.src[1], s1);
  gather<F64>(w, I.src[2], s2);
  if (!isOrdinaryDivision(w, s1, s2))
    return false;
  gather<F64>(w, I.src[0], s0);
  scatter<F64>(w, I, s0);
  w.write64(I.sdst.index, 0);
  return true;
}

void divFixupF64(Wave &w, const Instruction &I) {
  alignas(64) double s0[L], s1[L], s2[L];
  gather<F64>(w, I.src[0], s0);
  gather<F64>(w, I.src[1], s1);
  gather<F64>(w, I.src[2], s2);
  alignas(64) uint64_t isNaN[L];
  VECTORIZE
  for (unsigned s = 0; s < L; ++s)
    isNaN[s] = s0[s] != s0[s] ? ~uint64_t(0) : 0;
  if (isOrdinaryDivision(w, s1, s2) && (packSlots(isNaN) & w.exec) == 0) {
    constexpr uint64_t sign = uint64_t(1) << 63;
    VECTORIZE
    for (unsigned s = 0; s < L; ++s)
      s0[s] = hardware::doubleOf(
          (hardware::bitsOf(s0[s]) & ~sign) |
          ((hardware::bitsOf(s1[s]) ^ hardware::bitsOf(s2[s])) & sign));
  } else {
    for (unsigned s = 0; s < L; ++s)
      s0[s] = divFixup<double>(s0[s], s1[s], s2[s]);
  }
  scatter<F64>(w, I, s0);
}

template <typename T> void runDivScale(Wave &w, const Instruction &I) {
  using Type = typename DivisionFormat<T>::Type;
  if (sizeof(T) == 8 && divScaleAtOnce(w, I))
    return;
  typename Type::Buffer buffer[3];
  auto a = Type::source(w, I.src[0], buffer[0]);
  auto b = Type::source(w, I.src[1], buffer[1]);
  auto c = Type::source(w, I.src[2], buffer[2]);
  uint64_t mask = 0;
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    bool flag;
    Type::put(d, l, divScale<T>(a.get(l), b.get(l), c.get(l), flag));
    mask |= uint64_t(flag) << l;
  }
  w.write64(I.sdst.index, mask);
}

template <typename T> struct FusedMultiplyAdd {
  static ALWAYS_INLINE T apply(T a, T b, T c) { return std::fma(a, b, c); }
};

template <typename T> void runDivFmas(Wave &w, const Instruction &I) {
  using Type = typename DivisionFormat<T>::Type;
  uint64_t flags = w.read64(sgprVCC);
  if ((flags & w.exec) == 0) {
    ternary<FusedMultiplyAdd<T>, allLanes, Type, Type, Type, Type>(w, I);
    return;
  }
  typename Type::Buffer buffer[3];
  auto a = Type::source(w, I.src[0], buffer[0]);
  auto b = Type::source(w, I.src[1], buffer[1]);
  auto c = Type::source(w, I.src[2], buffer[2]);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    Type::put(d, l, divFmas<T>(a.get(l), b.get(l), c.get(l), (flags >> l) & 1));
  }
}

} // namespace

void registerDivision(OpcodeTable &table) {
  table.entries["V_DIV_SCALE_F64"] = vectorEntry<F64, F64, F64>(
      &runDivScale<double>, ValueType::F64, Arithmetic::None);
  table.entries["V_DIV_SCALE_F32"] = vectorEntry<F32, F32, F32>(
      &runDivScale<float>, ValueType::F32, Arithmetic::None);
  table.entries["V_DIV_FMAS_F64"] = vectorEntry<F64, F64, F64>(
      &runDivFmas<double>, ValueType::F64, Arithmetic::F64FMA);
  table.entries["V_DIV_FMAS_F32"] = vectorEntry<F32, F32, F32>(
      &runDivFmas<float>, ValueType::F32, Arithmetic::F32FMA);
  // Scaling by powers of two is exact or, in its corners, not for MODE.
  table.entries["V_DIV_SCALE_F64"].ownRounding = true;
  table.entries["V_DIV_SCALE_F32"].ownRounding = true;
  table.entries["V_DIV_FIXUP_F64"] =
      vectorEntry<F64, F64, F64>(&divFixupF64, ValueType::F64);
  SLOW3("V_DIV_FIXUP_F32", F32, F32, F32, F32, divFixup<float>(a, b, c));
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
