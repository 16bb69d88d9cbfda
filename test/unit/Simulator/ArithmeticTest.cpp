//===- ArithmeticTest.cpp - Arithmetic against MPFR ----------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Floating-point instructions in all rounding and denormal modes against
/// MPFR: a case says which exact number it computes; that number is rounded
/// here, once, to the format of the result. Approximate instructions are held
/// to their bound.
///
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <functional>
#include <mpfr.h>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

/// Enough for a * b + c of any f64 without rounding.
constexpr mpfr_prec_t exactBits = 6400;

class Number {
public:
  Number() { mpfr_init2(value, exactBits); }
  ~Number() { mpfr_clear(value); }
  Number(const Number &) = delete;
  Number &operator=(const Number &) = delete;
  operator mpfr_ptr() { return value; }

private:
  mpfr_t value;
};

/// A binary format: precision, exponent bits.
struct Format {
  int precision, exponentBits;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int bits() const { return std::abs(precision) + exponentBits; }
  bool isInteger() const { return precision && !exponentBits; }
  uint64_t mask() const {
    return bits() == 64 ? ~uint64_t(0) : (uint64_t(1) << bits()) - 1;
  }
  uint64_t exponentField() const {
    return ((uint64_t(1) << exponentBits) - 1) << (precision - 1);
  }
  uint64_t sign() const { return uint64_t(1) << (bits() - 1); }
};
constexpr Format f16{11, 5}, f32{24, 8}, f64{53, 11}, none{0, 0};
/// Integers: the width, negative for signed ones, and no exponent.
constexpr Format u8{8, 0}, u16{16, 0}, i16{-16, 0}, u32{32, 0}, i32{-32, 0};

bool isNaN(Format f, uint64_t bits) {
  return !f.isInteger() && (bits & ~f.sign() & f.mask()) > f.exponentField();
}
bool isDenormal(Format f, uint64_t bits) {
  return !f.isInteger() && (bits & f.exponentField()) == 0;
}

void decode(Number &out, Format f, uint64_t bits) {
  bits &= f.mask();
  if (f.isInteger()) {
    if (f.precision < 0 && bits >> (f.bits() - 1))
      mpfr_set_si(out, long(bits) - long(f.mask()) - 1, MPFR_RNDN);
    else
      mpfr_set_ui(out, bits, MPFR_RNDN);
    return;
  }
  bool negative = bits & f.sign();
  uint64_t exponent = (bits & f.exponentField()) >> (f.precision - 1);
  uint64_t mantissa = bits & ((uint64_t(1) << (f.precision - 1)) - 1);
  if (isNaN(f, bits)) {
    mpfr_set_nan(out);
    return;
  }
  if ((bits & f.exponentField()) == f.exponentField()) {
    mpfr_set_inf(out, negative ? -1 : 1);
    return;
  }
  if (exponent)
    mantissa |= uint64_t(1) << (f.precision - 1);
  else
    exponent = 1;
  mpfr_set_ui_2exp(out, mantissa, long(exponent) - f.bias() - (f.precision - 1),
                   MPFR_RNDN);
  if (negative)
    mpfr_neg(out, out, MPFR_RNDN);
}

/// The bits of a number rounded to a format.
uint64_t encode(Number &x, Format f, mpfr_rnd_t mode) {
  if (f.isInteger()) { // towards zero, saturated, 0 for NaN
    bool isSigned = f.precision < 0;
    long most = long(isSigned ? f.mask() >> 1 : f.mask());
    long least = isSigned ? -most - 1 : 0;
    if (mpfr_nan_p(mpfr_ptr(x)))
      return 0;
    long value = mpfr_cmp_si(mpfr_ptr(x), most) > 0 ? most
                 : mpfr_cmp_si(mpfr_ptr(x), least) < 0
                     ? least
                     : mpfr_get_si(x, MPFR_RNDZ);
    return uint64_t(value) & f.mask();
  }
  uint64_t sign = mpfr_signbit(mpfr_ptr(x)) ? f.sign() : 0;
  if (mpfr_nan_p(mpfr_ptr(x)))
    return f.exponentField() | (uint64_t(1) << (f.precision - 2));
  if (mpfr_inf_p(mpfr_ptr(x)))
    return sign | f.exponentField();
  if (mpfr_zero_p(mpfr_ptr(x)))
    return sign;
  // The exponent of the last place.
  long last = std::max<long>(mpfr_get_exp(mpfr_ptr(x)) - f.precision,
                             1 - f.bias() - (f.precision - 1));
  Number scaled;
  mpfr_mul_2si(scaled, x, -last, MPFR_RNDN);
  mpfr_rint(scaled, scaled, mode);
  mpfr_abs(scaled, scaled, MPFR_RNDN);
  uint64_t mantissa = mpfr_get_ui(scaled, MPFR_RNDN);
  if (mantissa == uint64_t(1) << f.precision) {
    mantissa >>= 1;
    ++last;
  }
  if (!(mantissa >> (f.precision - 1))) // denormal or zero
    return sign | mantissa;
  long exponent = last + (f.precision - 1) + f.bias();
  if (exponent >= 2 * f.bias() + 1) {
    bool away = mode == MPFR_RNDN || (mode == MPFR_RNDU && !sign) ||
                (mode == MPFR_RNDD && sign);
    return sign | (away ? f.exponentField() : f.exponentField() - 1);
  }
  return sign | (uint64_t(exponent) << (f.precision - 1)) |
         (mantissa & ((uint64_t(1) << (f.precision - 1)) - 1));
}

/// Computes r of a, b and c; zeros get the sign that the rounding asks for.
using Exact = std::function<void(mpfr_ptr r, mpfr_ptr a, mpfr_ptr b, mpfr_ptr c,
                                 mpfr_rnd_t mode)>;

struct FloatCase {
  std::string assembly;
  Format result;
  Format source[3];
  Exact exact;
  /// What the bits that are not the result's hold: 0 in the rest of the first
  /// dword (or the pattern), always the pattern behind it.
  bool keepsRest = false;
  /// Rounds to nearest whatever the mode.
  bool ownRounding = false;
  /// Distance allowed, in units of the last place.
  int64_t tolerance = 0;
  /// The bit where each source starts, and the result.
  int sourceShift[3] = {0, 0, 0};
  int resultShift = 0;
  /// The rest of the first dword is that of a source: 1 for a, 3 for c.
  int keptHalf = 0;
  bool onlyWithDenormals = false;
  /// Has no denormals whatever the mode.
  bool alwaysFlushes = false;
  const char *onlyTarget = nullptr;
};

#define EXACT                                                                  \
  [](mpfr_ptr r, mpfr_ptr a, mpfr_ptr b, mpfr_ptr c, mpfr_rnd_t mode)
#define UNUSED (void)r, (void)a, (void)b, (void)c, (void)mode

Exact add() {
  return EXACT {
    UNUSED;
    mpfr_add(r, a, b, mode);
  };
}
Exact subtract() {
  return EXACT {
    UNUSED;
    mpfr_sub(r, a, b, mode);
  };
}
Exact reverseSubtract() {
  return EXACT {
    UNUSED;
    mpfr_sub(r, b, a, mode);
  };
}
Exact multiply() {
  return EXACT {
    UNUSED;
    mpfr_mul(r, a, b, mode);
  };
}
Exact fused() {
  return EXACT {
    UNUSED;
    mpfr_fma(r, a, b, c, mode);
  };
}
Exact copy() {
  return EXACT {
    UNUSED;
    mpfr_set(r, a, mode);
  };
}

FloatCase make(std::string assembly, Format result, Format a, Format b,
               Format c, Exact exact) {
  FloatCase k;
  k.assembly = std::move(assembly);
  k.result = result;
  k.source[0] = a;
  k.source[1] = b;
  k.source[2] = c;
  k.exact = std::move(exact);
  return k;
}

std::vector<FloatCase> floatCases() {
  std::vector<FloatCase> cases;
  auto push = [&](FloatCase k) -> FloatCase & {
    cases.push_back(std::move(k));
    return cases.back();
  };
  for (auto [name, f] :
       {std::pair<std::string, Format>{"f16", f16}, {"f32", f32}}) {
    push(make("v_add_" + name + " v8, v2, v4", f, f, f, none, add()));
    push(make("v_sub_" + name + " v8, v2, v4", f, f, f, none, subtract()));
    push(make("v_subrev_" + name + " v8, v2, v4", f, f, f, none,
              reverseSubtract()));
    push(make("v_mul_" + name + " v8, v2, v4", f, f, f, none, multiply()));
  }
  push(make("v_fma_f32 v8, v2, v4, v6", f32, f32, f32, f32, fused()));
  push(make("v_mov_b32 v8, v6\nv_fmac_f32 v8, v2, v4", f32, f32, f32, f32,
            fused()));
  push(make(
           "v_fmaak_f32 v8, v2, v4, 0x3f000000", f32, f32, f32, none,
           EXACT {
             UNUSED;
             mpfr_set_d(c, 0.5, MPFR_RNDN);
             mpfr_fma(r, a, b, c, mode);
           }))
      .onlyTarget = "gfx942";
  push(make(
           "v_fmamk_f32 v8, v2, 0x3fc00000, v4", f32, f32, f32, none,
           EXACT {
             UNUSED;
             mpfr_set_d(c, 1.5, MPFR_RNDN);
             mpfr_fma(r, a, c, b, mode);
           }))
      .onlyTarget = "gfx942";
  // Two roundings, no denormals.
  for (auto [line, literalAddend, literalFactor] :
       {std::tuple<std::string, bool, bool>{"v_mad_f32 v8, v2, v4, v6", false,
                                            false},
        {"v_mov_b32 v8, v6\nv_mac_f32 v8, v2, v4", false, false},
        {"v_madak_f32 v8, v2, v4, 0x3f000000", true, false},
        {"v_madmk_f32 v8, v2, 0x3fc00000, v4", false, true},
        {"v_mad_legacy_f32 v8, v2, v4, v6", false, false}}) {
    bool legacy = line.find("legacy") != std::string::npos;
    FloatCase &k = push(make(
        line, f32, f32, f32, literalAddend || literalFactor ? none : f32,
        [=, literalAddend = literalAddend, literalFactor = literalFactor](
            mpfr_ptr r, mpfr_ptr a, mpfr_ptr b, mpfr_ptr c, mpfr_rnd_t mode) {
          if (literalAddend)
            mpfr_set_d(c, 0.5, MPFR_RNDN);
          if (literalFactor) {
            mpfr_set(c, b, MPFR_RNDN);
            mpfr_set_d(b, 1.5, MPFR_RNDN);
          }
          Number product, rounded;
          if (legacy && (mpfr_zero_p(a) || mpfr_zero_p(b)))
            mpfr_set_zero(product, 1);
          else
            mpfr_mul(product, a, b, mode);
          uint64_t bits = encode(product, f32, mode);
          if (isDenormal(f32, bits))
            bits &= f32.sign();
          decode(rounded, f32, bits);
          mpfr_add(r, rounded, c, mode);
        }));
    k.alwaysFlushes = true;
    k.onlyTarget = "gfx90a";
  }
  push(make(
      "v_mul_legacy_f32 v8, v2, v4", f32, f32, f32, none, EXACT {
        UNUSED;
        if (mpfr_zero_p(a) || mpfr_zero_p(b))
          mpfr_set_zero(r, 1);
        else
          mpfr_mul(r, a, b, mode);
      }));
  push(make("v_fma_f16 v8, v2, v4, v6", f16, f16, f16, f16, fused()))
      .keepsRest = true;
  push(make("v_fma_legacy_f16 v8, v2, v4, v6", f16, f16, f16, f16, fused()));
  // op_sel: high halves as sources, the result into either half.
  {
    FloatCase &k = push(make("v_fma_f16 v8, v2, v4, v6 op_sel:[1,0,1,1]", f16,
                             f16, f16, f16, fused()));
    k.keepsRest = true;
    k.sourceShift[0] = k.sourceShift[2] = 16;
    k.resultShift = 16;
  }
  {
    FloatCase &k = push(make(
        "v_fma_f16 v8, -v2, |v4|, v6 op_sel:[0,1,0,0]", f16, f16, f16, f16,
        EXACT {
          mpfr_neg(a, a, MPFR_RNDN);
          mpfr_abs(b, b, MPFR_RNDN);
          mpfr_fma(r, a, b, c, mode);
        }));
    k.keepsRest = true;
    k.sourceShift[1] = 16;
  }
  push(make("v_add_f64 v[8:9], v[2:3], v[4:5]", f64, f64, f64, none, add()));
  push(make("v_mul_f64 v[8:9], v[2:3], v[4:5]", f64, f64, f64, none,
            multiply()));
  push(make("v_fma_f64 v[8:9], v[2:3], v[4:5], v[6:7]", f64, f64, f64, f64,
            fused()));
  push(make("v_mov_b32 v8, v6\nv_mov_b32 v9, v7\nv_fmac_f64 v[8:9], v[2:3], "
            "v[4:5]",
            f64, f64, f64, f64, fused()));
  // Packed: both halves of the result are tested as cases of their own.
  for (int half : {0, 1}) {
    auto packed = [&](std::string assembly, Format f, Exact exact,
                      bool third = false) {
      FloatCase &k = push(make(assembly, f, f, f, third ? f : none, exact));
      k.keepsRest = true; // the other half is not looked at
      for (int &shift : k.sourceShift)
        shift = half * f.bits();
      k.resultShift = half * f.bits();
    };
    packed("v_pk_add_f16 v8, v2, v4", f16, add());
    packed("v_pk_mul_f16 v8, v2, v4", f16, multiply());
    packed("v_pk_fma_f16 v8, v2, v4, v6", f16, fused(), true);
    packed("v_mov_b32 v8, v6\nv_pk_fmac_f16 v8, v2, v4", f16, fused(), true);
    packed("v_pk_add_f32 v[8:9], v[2:3], v[4:5]", f32, add());
    packed("v_pk_mul_f32 v[8:9], v[2:3], v[4:5]", f32, multiply());
    packed("v_pk_fma_f32 v[8:9], v[2:3], v[4:5], v[6:7]", f32, fused(), true);
  }
  // Conversions between formats.
  push(make("v_cvt_f16_f32 v8, v2", f16, f32, none, none, copy()));
  push(make("v_cvt_f32_f16 v8, v2", f32, f16, none, none, copy()));
  push(make("v_cvt_f32_f64 v8, v[2:3]", f32, f64, none, none, copy()));
  push(make("v_cvt_f64_f32 v[8:9], v2", f64, f32, none, none, copy()));
  {
    FloatCase &k = push(make("v_cvt_f32_f16_sdwa v8, v2 dst_sel:DWORD "
                             "dst_unused:UNUSED_PAD src0_sel:WORD_1",
                             f32, f16, none, none, copy()));
    k.sourceShift[0] = 16;
  }
  {
    FloatCase &k =
        push(make("v_add_f16_sdwa v8, v2, v4 dst_sel:WORD_1 "
                  "dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
                  f16, f16, f16, none, add()));
    k.keepsRest = true;
    k.sourceShift[0] = 16;
    k.resultShift = 16;
  }
  // From and to integers.
  for (auto [name, to, from, wideTo, wideFrom] :
       {std::tuple<std::string, Format, Format, bool, bool>{"f16_u16", f16, u16,
                                                            false, false},
        {"f16_i16", f16, i16, false, false},
        {"f32_u32", f32, u32, false, false},
        {"f32_i32", f32, i32, false, false},
        {"f64_u32", f64, u32, true, false},
        {"f64_i32", f64, i32, true, false},
        {"u16_f16", u16, f16, false, false},
        {"i16_f16", i16, f16, false, false},
        {"u32_f32", u32, f32, false, false},
        {"i32_f32", i32, f32, false, false},
        {"u32_f64", u32, f64, false, true},
        {"i32_f64", i32, f64, false, true}})
    push(make("v_cvt_" + name + (wideTo ? " v[8:9], " : " v8, ") +
                  (wideFrom ? "v[2:3]" : "v2"),
              to, from, none, none, copy()));
  for (int i = 0; i < 4; ++i) {
    FloatCase &k = push(make("v_cvt_f32_ubyte" + std::to_string(i) + " v8, v2",
                             f32, u8, none, none, copy()));
    k.sourceShift[0] = 8 * i;
  }
  // Mixed: two halves and a float.
  {
    FloatCase &k = push(make("v_fma_mix_f32 v8, v2, v4, v6 op_sel:[1,0,0] "
                             "op_sel_hi:[1,1,0]",
                             f32, f16, f16, f32, fused()));
    k.sourceShift[0] = 16;
  }
  for (bool high : {false, true}) {
    // The FMA is rounded to f32 and then to a half.
    FloatCase &k = push(make(
        "v_mov_b32 v8, v6\nv_fma_mix" + std::string(high ? "hi" : "lo") +
            "_f16 v8, v2, -v4, |v6|",
        f16, f32, f32, f32, EXACT {
          UNUSED;
          Number sum;
          mpfr_neg(b, b, MPFR_RNDN);
          mpfr_abs(c, c, MPFR_RNDN);
          mpfr_fma(sum, a, b, c, mode);
          Number rounded;
          decode(rounded, f32, encode(sum, f32, mode));
          mpfr_set(r, rounded, mode);
        }));
    k.keepsRest = true;
    k.keptHalf = 3;
    k.resultShift = high ? 16 : 0;
  }
  // Scaling and splitting.
  push(make(
      "v_ldexp_f16 v8, v2, -3", f16, f16, none, none, EXACT {
        UNUSED;
        mpfr_mul_2si(r, a, -3, mode);
      }));
  push(make(
      "v_ldexp_f32 v8, v2, 5", f32, f32, none, none, EXACT {
        UNUSED;
        mpfr_mul_2si(r, a, 5, mode);
      }));
  push(make(
      "v_ldexp_f64 v[8:9], v[2:3], -7", f64, f64, none, none, EXACT {
        UNUSED;
        mpfr_mul_2si(r, a, -7, mode);
      }));
  auto frexp = EXACT {
    UNUSED;
    mpfr_set(r, a, mode);
    if (mpfr_regular_p(r))
      mpfr_set_exp(r, 0);
  };
  push(make("v_frexp_mant_f16 v8, v2", f16, f16, none, none, frexp));
  push(make("v_frexp_mant_f32 v8, v2", f32, f32, none, none, frexp));
  push(make("v_frexp_mant_f64 v[8:9], v[2:3]", f64, f64, none, none, frexp));
  auto exponentOf = EXACT {
    UNUSED;
    mpfr_set_si(r, mpfr_regular_p(a) ? mpfr_get_exp(a) : 0, MPFR_RNDN);
  };
  push(make("v_frexp_exp_i16_f16 v8, v2", i16, f16, none, none, exponentOf));
  push(make("v_frexp_exp_i32_f32 v8, v2", i32, f32, none, none, exponentOf));
  push(
      make("v_frexp_exp_i32_f64 v8, v[2:3]", i32, f64, none, none, exponentOf));
  // Two roundings.
  for (std::string line :
       {"v_mad_f16 v8, v2, v4, v6", "v_mov_b32 v8, v6\nv_mac_f16 v8, v2, v4",
        "v_mad_legacy_f16 v8, v2, v4, v6"}) {
    FloatCase &k = push(make(
        line, f16, f16, f16, f16, EXACT {
          UNUSED;
          Number product, rounded;
          mpfr_mul(product, a, b, mode);
          decode(rounded, f16, encode(product, f16, mode));
          mpfr_add(r, rounded, c, mode);
        }));
    k.keepsRest = line.find("legacy") == std::string::npos;
    if (line.find("mac") != std::string::npos)
      k.keptHalf = 3; // v6's
    k.onlyWithDenormals = true;
  }
  push(make(
           "v_div_fixup_f16 v8, v2, v4, v6", f16, f16, f16, f16,
           EXACT {
             UNUSED;
             bool negative = mpfr_signbit(b) != mpfr_signbit(c);
             if (mpfr_nan_p(c) || mpfr_nan_p(b) ||
                 (mpfr_zero_p(b) && mpfr_zero_p(c)) ||
                 (mpfr_inf_p(b) && mpfr_inf_p(c)))
               mpfr_set_nan(r);
             else if (mpfr_zero_p(b) || mpfr_inf_p(c))
               mpfr_set_inf(r, negative ? -1 : 1);
             else if (mpfr_inf_p(b) || mpfr_zero_p(c))
               mpfr_set_zero(r, negative ? -1 : 1);
             else
               mpfr_setsign(r, a, negative, MPFR_RNDN);
           }))
      .keepsRest = true;
  auto nearest = EXACT {
    UNUSED;
    mpfr_rint_roundeven(r, a, MPFR_RNDN);
  };
  auto floor = EXACT {
    UNUSED;
    mpfr_floor(r, a);
  };
  auto ceil = EXACT {
    UNUSED;
    mpfr_ceil(r, a);
  };
  auto trunc = EXACT {
    UNUSED;
    mpfr_trunc(r, a);
  };
  for (auto [name, exact] : {std::pair<std::string, Exact>{"rndne", nearest},
                             {"floor", floor},
                             {"ceil", ceil},
                             {"trunc", trunc}}) {
    push(make("v_" + name + "_f16 v8, v2", f16, f16, none, none, exact));
    push(make("v_" + name + "_f32 v8, v2", f32, f32, none, none, exact));
    push(
        make("v_" + name + "_f64 v[8:9], v[2:3]", f64, f64, none, none, exact));
  }
  // Approximate ones: the simulator's values are within 1 ulp of the truth.
  auto reciprocal = EXACT {
    UNUSED;
    mpfr_prec_round(r, 200, MPFR_RNDN);
    mpfr_ui_div(r, 1, a, MPFR_RNDN);
  };
  auto root = EXACT {
    UNUSED;
    mpfr_prec_round(r, 200, MPFR_RNDN);
    mpfr_sqrt(r, a, MPFR_RNDN);
  };
  auto reciprocalRoot = EXACT {
    UNUSED;
    mpfr_prec_round(r, 200, MPFR_RNDN);
    if (mpfr_zero_p(a)) // the sign of zero counts
      mpfr_ui_div(r, 1, a, MPFR_RNDN);
    else
      mpfr_rec_sqrt(r, a, MPFR_RNDN);
  };
  auto exponential = EXACT {
    UNUSED;
    mpfr_prec_round(r, 200, MPFR_RNDN);
    mpfr_exp2(r, a, MPFR_RNDN);
  };
  auto logarithm = EXACT {
    UNUSED;
    mpfr_prec_round(r, 200, MPFR_RNDN);
    mpfr_log2(r, a, MPFR_RNDN);
  };
  for (auto [name, exact] : {std::pair<std::string, Exact>{"rcp", reciprocal},
                             {"sqrt", root},
                             {"rsq", reciprocalRoot},
                             {"exp", exponential},
                             {"log", logarithm}}) {
    FloatCase &half =
        push(make("v_" + name + "_f16 v8, v2", f16, f16, none, none, exact));
    half.ownRounding = true;
    half.tolerance = 1;
    FloatCase &single =
        push(make("v_" + name + "_f32 v8, v2", f32, f32, none, none, exact));
    single.ownRounding = true;
    single.alwaysFlushes = true;
    single.tolerance = 1;
    if (name == "exp" || name == "log")
      continue;
    FloatCase &wide = push(
        make("v_" + name + "_f64 v[8:9], v[2:3]", f64, f64, none, none, exact));
    wide.ownRounding = true;
    wide.tolerance = 1;
  }
  return cases;
}

/// Bits of a format: special values, all magnitudes, neighbours of powers.
uint64_t randomBits(std::mt19937_64 &random, Format f, uint64_t near) {
  uint64_t r = random();
  int mantissaBits = f.precision - 1;
  uint64_t mantissaMask = (uint64_t(1) << mantissaBits) - 1;
  uint64_t top = f.exponentField() >> mantissaBits;
  uint64_t exponent;
  switch (random() % 8) {
  case 0:
    exponent = 0;
    break;
  case 1:
    exponent = top - random() % 3;
    break;
  case 2: // near the other source
  case 3:
  case 4:
    exponent = ((near & f.exponentField()) >> mantissaBits) + random() % 9;
    exponent = exponent < 4 ? 0 : std::min<uint64_t>(exponent - 4, top);
    break;
  case 5:
    exponent = uint64_t(f.bias()) - 2 + random() % 5;
    break;
  default:
    exponent = random() % (top + 1);
  }
  uint64_t mantissa = r & mantissaMask;
  switch (random() % 6) {
  case 0:
    mantissa = 0;
    break;
  case 1:
    mantissa = mantissaMask;
    break;
  case 2: // few bits
    mantissa = (uint64_t(1) << (r % mantissaBits)) |
               (uint64_t(1) << ((r >> 8) % mantissaBits));
    break;
  default:
    break;
  }
  return (exponent << mantissaBits) | mantissa | ((r >> 63) ? f.sign() : 0);
}

/// 64 bits that hold values of a format side by side.
uint64_t randomSource(std::mt19937_64 &random, Format f, uint64_t near) {
  uint64_t result = 0;
  for (int at = 0; at < 64; at += f.bits())
    result |= randomBits(random, f, (near >> at) & f.mask()) << at;
  return result;
}

class ArithmeticTest : public OnTarget {};

/// The order of a format's values, for distances.
int64_t order(Format f, uint64_t bits) {
  int64_t magnitude = int64_t(bits & ~f.sign() & f.mask());
  return bits & f.sign() ? -magnitude : magnitude;
}

void checkFloatCases(const std::string &target, unsigned round,
                     unsigned denormals) {
  const mpfr_rnd_t modes[] = {MPFR_RNDN, MPFR_RNDU, MPFR_RNDD, MPFR_RNDZ};
  std::vector<FloatCase> cases;
  std::vector<std::string> lines;
  std::vector<FloatCase> all = floatCases();
  for (FloatCase &k : all)
    if (!k.onlyTarget || target == k.onlyTarget) {
      lines.push_back(k.assembly);
      cases.push_back(std::move(k));
    }
  constexpr size_t count = 320;
  // One set of sources for each format: cases look at the set of their own.
  for (Format sourceFormat : {f16, f32, f64}) {
    std::mt19937_64 random(7 + round + 16 * denormals + sourceFormat.precision);
    std::vector<Sources> sources(count);
    for (Sources &s : sources) {
      s.a = randomSource(random, sourceFormat, random());
      s.b = randomSource(random, sourceFormat, s.a);
      s.c = randomSource(random, sourceFormat, s.a);
    }
    auto outcomes =
        runLines(target, lines, sources, ~uint64_t(0),
                 round | (round << 2) | (denormals << 4) | (denormals << 6));
    ASSERT_EQ(outcomes.size(), lines.size());
    for (size_t n = 0; n < cases.size(); ++n) {
      const FloatCase &k = cases[n];
      if (k.onlyWithDenormals && denormals != 3)
        continue;
      if (k.source[0].isInteger()
              ? sourceFormat.precision != f32.precision
              : k.source[0].precision != sourceFormat.precision)
        continue;
      int reported = 0;
      unsigned kept = k.alwaysFlushes ? 0 : denormals;
      for (size_t i = 0; i < count && reported < 2; ++i) {
        uint64_t bits[3] = {sources[i].a, sources[i].b, sources[i].c};
        Number values[3], result;
        for (int s = 0; s < 3; ++s) {
          Format f = k.source[s];
          if (!f.precision)
            continue;
          uint64_t b = (bits[s] >> k.sourceShift[s]) & f.mask();
          if (!(kept & 1) && isDenormal(f, b))
            b &= f.sign();
          decode(values[s], f, b);
        }
        mpfr_rnd_t mode = k.ownRounding ? MPFR_RNDN : modes[round];
        k.exact(result, values[0], values[1], values[2], mode);
        uint64_t want = encode(result, k.result, mode);
        if (!(kept & 2) && isDenormal(k.result, want))
          want &= k.result.sign();
        uint64_t got = (outcomes[n][i].low >> k.resultShift) & k.result.mask();
        bool equal =
            got == want || (isNaN(k.result, got) && isNaN(k.result, want));
        if (!equal && k.tolerance && !isNaN(k.result, got) &&
            !isNaN(k.result, want))
          equal = std::llabs(order(k.result, got) - order(k.result, want)) <=
                  k.tolerance;
        // The rest of the registers.
        uint64_t rest = ~(k.result.mask() << k.resultShift);
        uint64_t restWanted = k.result.bits() == 16 && !k.keepsRest
                                  ? untouched & 0xffffffff00000000ull
                                  : untouched;
        if (k.keptHalf)
          restWanted = (untouched & 0xffffffff00000000ull) |
                       (bits[k.keptHalf - 1] & 0xffffffffull);
        bool packed = llvm::StringRef(k.assembly).contains("v_pk_");
        if (!packed && (outcomes[n][i].low & rest) != (restWanted & rest))
          equal = false;
        if (equal)
          continue;
        ++reported;
        ADD_FAILURE() << k.assembly << " (rounding " << round << ", denormals "
                      << denormals << ")" << std::hex << "\n  a " << bits[0]
                      << " b " << bits[1] << " c " << bits[2] << "\n  got  "
                      << got << " in " << outcomes[n][i].low << "\n  want "
                      << want;
      }
    }
  }
}

TEST_P(ArithmeticTest, NearestEven) { checkFloatCases(target(), 0, 3); }
TEST_P(ArithmeticTest, Upwards) { checkFloatCases(target(), 1, 3); }
TEST_P(ArithmeticTest, Downwards) { checkFloatCases(target(), 2, 3); }
TEST_P(ArithmeticTest, TowardsZero) { checkFloatCases(target(), 3, 3); }
TEST_P(ArithmeticTest, DenormalsFlushed) { checkFloatCases(target(), 0, 0); }
TEST_P(ArithmeticTest, DenormalResultsFlushed) {
  checkFloatCases(target(), 0, 1);
}
TEST_P(ArithmeticTest, DenormalSourcesFlushed) {
  checkFloatCases(target(), 3, 2);
}

FOR_BOTH_TARGETS(ArithmeticTest);

} // namespace
