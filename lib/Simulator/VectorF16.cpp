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

ALWAYS_INLINE uint16_t median16(uint16_t a, uint16_t b, uint16_t c, bool ieee) {
  if (isNaN16(a) || isNaN16(b) || isNaN16(c))
    return extremum16(extremum16(a, b, false, ieee), c, false, ieee);
  uint16_t low = extremum16(a, b, false, false),
           high = extremum16(a, b, true, false);
  return extremum16(low, extremum16(high, c, false, false), true, false);
}

inline double fractF16(double a) {
  double fraction = a - std::floor(a);
  return fraction > 0x1.ffcp-1 ? 0x1.ffcp-1 : fraction;
}
/// Without an infinity of double where a half is only too large.
inline double exp2F16(double a) {
  return std::exp2(a > 64.0 && a <= 65504.0 ? 64.0 : a);
}
inline double ldexpF16(double a, int16_t b) {
  return std::ldexp(a, b < -128 ? -128 : b > 128 ? 128 : b);
}
inline double logF16(double a) {
  return a == 0 ? -std::numeric_limits<double>::infinity() : std::log2(a);
}
/// sin or cos of so many turns; the domain is [-256, 256].
inline double sineF16(double turns, int quadrants) {
  if (!(std::fabs(turns) <= 65504.0))
    return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(turns) > 256.0)
    return quadrants ? 1.0 : 0.0;
  if (turns == 0 && quadrants == 0)
    return turns;
  turns -= __builtin_rint(turns);
  double quarter = __builtin_rint(4.0 * turns);
  return hardware::detail::sineOfTurns(turns - 0.25 * quarter,
                                       static_cast<int>(quarter) + quadrants);
}

inline double frexpMantissaF16(double a) {
  if (!(std::fabs(a) <= 65504.0))
    return a;
  int exponent;
  return std::frexp(a, &exponent);
}
inline int16_t frexpExponentF16(double a) {
  int exponent = 0;
  if (std::fabs(a) <= 65504.0)
    std::frexp(a, &exponent);
  return static_cast<int16_t>(exponent);
}

/// The last step of a division: a is the quotient so far, b the denominator, c
/// the numerator.
inline double divFixupF16(double a, double b, double c) {
  bool negative = std::signbit(b) != std::signbit(c);
  double infinity = std::numeric_limits<double>::infinity();
  double magnitude;
  if (c != c)
    return c;
  if (b != b)
    return b;
  bool infiniteB = std::fabs(b) == infinity,
       infiniteC = std::fabs(c) == infinity;
  if ((b == 0 && c == 0) || (infiniteB && infiniteC))
    return -std::numeric_limits<double>::quiet_NaN();
  if (b == 0 || infiniteC)
    magnitude = infinity;
  else if (infiniteB || c == 0)
    magnitude = 0;
  else
    magnitude = std::fabs(a);
  return negative ? -magnitude : magnitude;
}

inline uint16_t normalizedF16(double a, double scale, double low) {
  if (a != a)
    return 0;
  double clamped = a > 1.0 ? 1.0 : a < low ? low : a;
  return static_cast<uint16_t>(
      static_cast<int32_t>(__builtin_rint(clamped * scale)));
}

inline uint32_t saturatedByte(int16_t a) {
  return a < 0 ? 0 : a > 255 ? 255 : a;
}

template <typename T> ALWAYS_INLINE T median(T a, T b, T c) {
  T low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

template <bool Maximum> void extremumF16(Wave &w, const Instruction &I) {
  H16::Buffer buffers[2];
  H16::Source a = H16::source(w, I.src[0], buffers[0]);
  H16::Source b = H16::source(w, I.src[1], buffers[1]);
  bool ieee = w.ieeeMode;
  forLanes<true, H16>(w, I, [&](unsigned l) ALWAYS_INLINE_LAMBDA {
    return extremum16(a.get(l), b.get(l), Maximum, ieee);
  });
}
#ifdef __F16C__
/// Handlers of eight lanes at once where rounding is to nearest even; Slow has
/// the other modes.
template <Handler Slow> struct Fast {
  static void toHalf(Wave &w, const Instruction &I) {
    if (halfRounding)
      return Slow(w, I);
    F32::Buffer buffer;
    F32::Source a = F32::source(w, I.src[0], buffer);
    __m256i keep = _mm256_set1_epi32(int(a.andMask)),
            flip = _mm256_set1_epi32(int(a.xorMask));
    uint32_t *d = w.vgpr[I.dst.index];
    for (unsigned l = 0; l < L; l += 8) {
      __m256i x =
          _mm256_xor_si256(_mm256_and_si256(loadEight(a.p + l), keep), flip);
      blendEight(
          d + l, w.execMask + l,
          halvesOfFloats<_MM_FROUND_TO_NEAREST_INT>(_mm256_castsi256_ps(x)));
    }
  }
  template <char Operation>
  static void arithmetic(Wave &w, const Instruction &I) {
    if (halfRounding)
      return Slow(w, I);
    F16::Buffer buffers[2];
    F16::Source s[2];
    for (unsigned i = 0; i < 2; ++i)
      s[i] = F16::source(w, I.src[i], buffers[i]);
    uint32_t *d = w.vgpr[I.dst.index];
    for (unsigned l = 0; l < L; l += 8) {
      __m256 v[2];
      for (unsigned i = 0; i < 2; ++i) {
        __m256i x = _mm256_srl_epi32(loadEight(s[i].p + l),
                                     _mm_cvtsi32_si128(int(s[i].shift)));
        x = _mm256_and_si256(x, _mm256_set1_epi32(int(s[i].andMask & 0xffffu)));
        v[i] = floatsOfHalves(
            _mm256_xor_si256(x, _mm256_set1_epi32(int(s[i].xorMask))));
      }
      // f32 has more than twice the bits of a half and two to spare: rounding
      // there first changes nothing.
      __m256 r = Operation == '+'   ? _mm256_add_ps(v[0], v[1])
                 : Operation == '-' ? _mm256_sub_ps(v[0], v[1])
                 : Operation == 'r' ? _mm256_sub_ps(v[1], v[0])
                                    : _mm256_mul_ps(v[0], v[1]);
      blendEight(d + l, w.execMask + l,
                 halvesOfFloats<_MM_FROUND_TO_NEAREST_INT>(r));
    }
  }
};
/// From a half: exact in every mode.
void fromHalf(Wave &w, const Instruction &I) {
  F16::Buffer buffer;
  F16::Source a = F16::source(w, I.src[0], buffer);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; l += 8) {
    __m256i x =
        _mm256_srl_epi32(loadEight(a.p + l), _mm_cvtsi32_si128(int(a.shift)));
    x = _mm256_and_si256(x, _mm256_set1_epi32(int(a.andMask & 0xffffu)));
    x = _mm256_xor_si256(x, _mm256_set1_epi32(int(a.xorMask)));
    blendEight(d + l, w.execMask + l, _mm256_castps_si256(floatsOfHalves(x)));
  }
}
template <char Operation> struct SlowF16 {
  struct F {
    static ALWAYS_INLINE double apply(double a, double b) {
      return Operation == '+'   ? a + b
             : Operation == '-' ? a - b
             : Operation == 'r' ? b - a
                                : a * b;
    }
  };
  static void run(Wave &w, const Instruction &I) {
    binary<F, false, F16, F16, F16>(w, I);
  }
};
void slowToHalf(Wave &w, const Instruction &I) {
  struct F {
    static ALWAYS_INLINE double apply(float a) { return a; }
  };
  unary<F, false, F16, F32>(w, I);
}
#endif

enum class Three { Minimum, Maximum, Median };
template <Three Kind> void threeF16(Wave &w, const Instruction &I) {
  H16::Buffer buffers[3];
  H16::Source a = H16::source(w, I.src[0], buffers[0]);
  H16::Source b = H16::source(w, I.src[1], buffers[1]);
  H16::Source c = H16::source(w, I.src[2], buffers[2]);
  bool ieee = w.ieeeMode;
  forLanes<false, H16>(w, I, [&](unsigned l) ALWAYS_INLINE_LAMBDA {
    uint16_t x = a.get(l), y = b.get(l), z = c.get(l);
    if (Kind == Three::Median)
      return median16(x, y, z, ieee);
    constexpr bool maximum = Kind == Three::Maximum;
    return extremum16(extremum16(x, y, maximum, ieee), z, maximum, ieee);
  });
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
#ifdef __F16C__
  table.entries["V_CVT_F16_F32"].handler = &Fast<&slowToHalf>::toHalf;
  table.entries["V_CVT_F32_F16"].handler = &fromHalf;
  table.entries["V_ADD_F16"].handler =
      &Fast<&SlowF16<'+'>::run>::arithmetic<'+'>;
  table.entries["V_SUB_F16"].handler =
      &Fast<&SlowF16<'-'>::run>::arithmetic<'-'>;
  table.entries["V_SUBREV_F16"].handler =
      &Fast<&SlowF16<'r'>::run>::arithmetic<'r'>;
  table.entries["V_MUL_F16"].handler =
      &Fast<&SlowF16<'*'>::run>::arithmetic<'*'>;
#endif
  SLOW3("V_FMA_F16", F16, F16, F16, F16, __builtin_fma(a, b, c));
  SLOW3("V_MAD_F16", F16, F16, F16, F16, valueOfHalf(halfOf(a * b)) + c);
  SLOW3("V_MAC_F16", F16, F16, F16, F16, valueOfHalf(halfOf(a * b)) + c);
  SLOW3("V_MADAK_F16", F16, F16, F16, F16, valueOfHalf(halfOf(a * b)) + c);
  SLOW3("V_MADMK_F16", F16, F16, F16, F16, valueOfHalf(halfOf(a * b)) + c);
  approximate(table, {"V_MAD_F16", "V_MAC_F16", "V_MADAK_F16", "V_MADMK_F16"},
              "two roundings; the chips flush denormals, here the mode does");
  SLOW3("V_DIV_FIXUP_F16", F16, F16, F16, F16, divFixupF16(a, b, c));
  for (const char *name : {"FMA", "MAD", "DIV_FIXUP"})
    table.entries["V_" + std::string(name) + "_LEGACY_F16"] =
        table.entries["V_" + std::string(name) + "_F16"];
  table.entries["V_MIN_F16"] =
      vectorEntry<H16, H16>(&extremumF16<false>, ValueType::F16);
  table.entries["V_MAX_F16"] =
      vectorEntry<H16, H16>(&extremumF16<true>, ValueType::F16);
  table.entries["V_MIN3_F16"] =
      vectorEntry<H16, H16, H16>(&threeF16<Three::Minimum>, ValueType::F16);
  table.entries["V_MAX3_F16"] =
      vectorEntry<H16, H16, H16>(&threeF16<Three::Maximum>, ValueType::F16);
  table.entries["V_MED3_F16"] =
      vectorEntry<H16, H16, H16>(&threeF16<Three::Median>, ValueType::F16);
  SLOW1("V_RCP_F16", F16, F16, 1.0 / a);
  SLOW1("V_SQRT_F16", F16, F16, __builtin_sqrt(a));
  SLOW1("V_RSQ_F16", F16, F16, 1.0 / __builtin_sqrt(a));
  SLOW1("V_LOG_F16", F16, F16, logF16(a));
  SLOW1("V_EXP_F16", F16, F16, exp2F16(a));
  SLOW1("V_SIN_F16", F16, F16, sineF16(a, 0));
  SLOW1("V_COS_F16", F16, F16, sineF16(a, 1));
  approximate(table,
              {"V_RCP_F16", "V_SQRT_F16", "V_RSQ_F16", "V_LOG_F16", "V_EXP_F16",
               "V_SIN_F16", "V_COS_F16"},
              "1 ulp; the simulator rounds correctly");
  SLOW1("V_RNDNE_F16", F16, F16, __builtin_rint(a));
  SLOW1("V_TRUNC_F16", F16, F16, __builtin_trunc(a));
  SLOW1("V_CEIL_F16", F16, F16, __builtin_ceil(a));
  SLOW1("V_FLOOR_F16", F16, F16, __builtin_floor(a));
  SLOW1("V_FRACT_F16", F16, F16, fractF16(a));
  SLOW1("V_FREXP_MANT_F16", F16, F16, frexpMantissaF16(a));
  SLOW1("V_FREXP_EXP_I16_F16", I16, F16, frexpExponentF16(a));
  SLOW2("V_LDEXP_F16", F16, F16, I16, ldexpF16(a, b));
  for (const char *name :
       {"V_RCP_F16", "V_SQRT_F16", "V_RSQ_F16", "V_LOG_F16", "V_EXP_F16",
        "V_SIN_F16", "V_COS_F16", "V_RNDNE_F16"})
    table.entries[name].ownRounding = true;
  SLOW1("V_CVT_NORM_I16_F16", U16, F16, normalizedF16(a, 32767.0, -1.0));
  SLOW1("V_CVT_NORM_U16_F16", U16, F16, normalizedF16(a, 65535.0, 0.0));
  SLOW2("V_CVT_PKNORM_I16_F16", U32, F16, F16,
        normalizedF16(a, 32767.0, -1.0) |
            (uint32_t(normalizedF16(b, 32767.0, -1.0)) << 16));
  SLOW2("V_CVT_PKNORM_U16_F16", U32, F16, F16,
        normalizedF16(a, 65535.0, 0.0) |
            (uint32_t(normalizedF16(b, 65535.0, 0.0)) << 16));
  approximate(table,
              {"V_CVT_NORM_I16_F16", "V_CVT_NORM_U16_F16",
               "V_CVT_PKNORM_I16_F16", "V_CVT_PKNORM_U16_F16"},
              "one step; the rounding is not published, here to nearest even");
  SLOW1("V_SAT_PK_U8_I16", U16, U32,
        saturatedByte(int16_t(a)) | (saturatedByte(int16_t(a >> 16)) << 8));

  SATURATING2("V_ADD_U16", U16, U16, U16, a + b, x + y);
  SATURATING2("V_SUB_U16", U16, U16, U16, a - b, x - y);
  SATURATING2("V_SUBREV_U16", U16, U16, U16, b - a, y - x);
  SATURATING2("V_MUL_LO_U16", U16, U16, U16, uint32_t(a) * b, x * y);
  SATURATING3("V_MAD_U16", U16, U16, U16, U16, uint32_t(a) * b + c, x * y + z);
  SATURATING3("V_MAD_I16", I16, I16, I16, I16,
              uint32_t(int32_t(a)) * uint32_t(int32_t(b)) + uint32_t(c),
              x * y + z);
  table.entries["V_MAD_LEGACY_U16"] = table.entries["V_MAD_U16"];
  table.entries["V_MAD_LEGACY_I16"] = table.entries["V_MAD_I16"];
  OP2("V_MIN_U16", U16, U16, U16, a < b ? a : b);
  OP2("V_MAX_U16", U16, U16, U16, a > b ? a : b);
  OP2("V_MIN_I16", I16, I16, I16, a < b ? a : b);
  OP2("V_MAX_I16", I16, I16, I16, a > b ? a : b);
#define MINIMUM(X, Y) ((X) < (Y) ? (X) : (Y))
#define MAXIMUM(X, Y) ((X) > (Y) ? (X) : (Y))
  OP3("V_MIN3_U16", U16, U16, U16, U16, MINIMUM(MINIMUM(a, b), c));
  OP3("V_MAX3_U16", U16, U16, U16, U16, MAXIMUM(MAXIMUM(a, b), c));
  OP3("V_MED3_U16", U16, U16, U16, U16, median(a, b, c));
  OP3("V_MIN3_I16", I16, I16, I16, I16, MINIMUM(MINIMUM(a, b), c));
  OP3("V_MAX3_I16", I16, I16, I16, I16, MAXIMUM(MAXIMUM(a, b), c));
  OP3("V_MED3_I16", I16, I16, I16, I16, median(a, b, c));
#undef MINIMUM
#undef MAXIMUM
  OP2("V_LSHLREV_B16", U16, U16, U16, b << (a & 15));
  OP2("V_LSHRREV_B16", U16, U16, U16, b >> (a & 15));
  OP2("V_ASHRREV_I16", I16, U16, I16, b >> (a & 15));
  SATURATING2("V_ADD_I16", I16, I16, I16, a + b, x + y);
  SATURATING2("V_SUB_I16", I16, I16, I16, a - b, x - y);
  OP2("V_PACK_B32_F16", U32, H16, H16, uint32_t(a) | (uint32_t(b) << 16));
  // Since gfx9 the instructions that have op_sel for their result, and the old
  // multiply-accumulates, keep the other half; all others clear it.
  for (const char *name :
       {"V_FMA_F16", "V_MAD_F16", "V_MAD_U16", "V_MAD_I16", "V_DIV_FIXUP_F16",
        "V_MIN3_F16", "V_MAX3_F16", "V_MED3_F16", "V_MIN3_U16", "V_MAX3_U16",
        "V_MED3_U16", "V_MIN3_I16", "V_MAX3_I16", "V_MED3_I16", "V_ADD_I16",
        "V_SUB_I16", "V_MAC_F16", "V_MADAK_F16", "V_MADMK_F16"})
    table.entries[name].writesHalf = true;
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
