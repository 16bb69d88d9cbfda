//===- InstructionTest.cpp - Single instructions against plain C++ --------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Each case is a line of assembly and what it has to compute, written down
/// independently of the simulator (128-bit integers, quadruple precision). The
/// cases of a table are assembled into one kernel for each target.
///
/// Vector cases find their sources in v[2:3], v[4:5] and v[6:7] (64 random or
/// special bits in each lane) and leave their result in v[8:9], which holds a
/// pattern before. They run with all lanes on and with a random EXEC, in which
/// case the lanes that are off must keep the pattern.
///
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include <cmath>
#include <functional>
#include <map>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

using Quad = __float128;

uint32_t low(uint64_t x) { return uint32_t(x); }
uint32_t high(uint64_t x) { return uint32_t(x >> 32); }
float f32(uint64_t x) {
  uint32_t b = low(x);
  float f;
  std::memcpy(&f, &b, 4);
  return f;
}
double f64(uint64_t x) {
  double d;
  std::memcpy(&d, &x, 8);
  return d;
}
uint64_t of(double x) { return bits(x); }
/// A 32-bit result leaves the upper register alone.
uint64_t word(uint32_t x) { return x | (untouched & 0xffffffff00000000ull); }
uint64_t of(float x) { return word(bits(x)); }

/// a * b + c, rounded once, by the C library.
template <typename T> T fusedReference(T a, T b, T c) {
  return std::fma(a, b, c);
}

bool isSignalling(double x) { return x != x && !((bits(x) >> 51) & 1); }
bool isSignalling(float x) { return x != x && !((bits(x) >> 22) & 1); }

/// Minimum and maximum in IEEE mode (the assembler's default).
template <typename T> T extremum(bool maximum, T x, T y) {
  if (isSignalling(x) || isSignalling(y))
    return std::numeric_limits<T>::quiet_NaN();
  if (x != x)
    return y;
  if (y != y)
    return x;
  if (x == 0 && y == 0)
    return std::signbit(x) == maximum ? y : x;
  return (x < y) == maximum ? y : x;
}

/// How the results of a case are compared.
enum class As { Bits, F64, F32 };

struct Case {
  const char *assembly;
  As as;
  std::function<uint64_t(uint64_t, uint64_t, uint64_t)> expected;
  /// Null where both targets have the instruction.
  const char *onlyTarget = nullptr;
};

#define EXPECTED [](uint64_t a, uint64_t b, uint64_t c)->uint64_t
#define UNUSED (void)a, (void)b, (void)c

// clang-format off
std::vector<Case> vectorCases() {
  return {
      // f64
      {"v_add_f64 v[8:9], v[2:3], v[4:5]", As::F64,
       EXPECTED { UNUSED; return of(f64(a) + f64(b)); }},
      {"v_add_f64 v[8:9], -v[2:3], |v[4:5]|", As::F64,
       EXPECTED { UNUSED; return of(-f64(a) + std::fabs(f64(b))); }},
      {"v_add_f64 v[8:9], -|v[2:3]|, v[4:5]", As::F64,
       EXPECTED { UNUSED; return of(-std::fabs(f64(a)) + f64(b)); }},
      {"v_add_f64 v[8:9], v[2:3], v[4:5] clamp", As::F64, EXPECTED {
         UNUSED;
         double s = f64(a) + f64(b);
         return of(s != s ? 0.0 : s > 0 ? std::fmin(s, 1.0) : 0.0);
       }},
      {"v_mul_f64 v[8:9], v[2:3], v[4:5]", As::F64,
       EXPECTED { UNUSED; return of(f64(a) * f64(b)); }},
      {"v_mul_f64 v[8:9], v[2:3], 0.5", As::F64,
       EXPECTED { UNUSED; return of(f64(a) * 0.5); }},
      {"v_mul_f64 v[8:9], v[2:3], -4.0", As::F64,
       EXPECTED { UNUSED; return of(f64(a) * -4.0); }},
      {"v_mul_f64 v[8:9], s[38:39], v[2:3]", As::F64, // s[38:39] = 3.5
       EXPECTED { UNUSED; return of(f64(a) * 3.5); }},
      // The literal of an f64 is its high half.
      {"v_rcp_f64_e32 v[8:9], 0x40080000", As::F64,
       EXPECTED { UNUSED; return of(1.0 / 3.0); }},
      // An integer constant as an f64 source is its bits.
      {"v_max_f64 v[8:9], 1, 0", As::F64,
       EXPECTED { UNUSED; return 1; }},
      {"v_fma_f64 v[8:9], v[2:3], v[4:5], v[6:7]", As::F64, EXPECTED {
         return of(fusedReference(f64(a), f64(b), f64(c)));
       }},
      {"v_fma_f64 v[8:9], -v[2:3], v[4:5], -v[6:7]", As::F64, EXPECTED {
         return of(fusedReference(-f64(a), f64(b), -f64(c)));
       }},
      {"v_mov_b32 v8, v6\nv_mov_b32 v9, v7\nv_fmac_f64_e32 v[8:9], v[2:3], "
       "v[4:5]",
       As::F64,
       EXPECTED { return of(fusedReference(f64(a), f64(b), f64(c))); }},
      {"v_min_f64 v[8:9], v[2:3], v[4:5]", As::F64,
       EXPECTED { UNUSED; return of(extremum(false, f64(a), f64(b))); }},
      {"v_max_f64 v[8:9], v[2:3], v[4:5]", As::F64,
       EXPECTED { UNUSED; return of(extremum(true, f64(a), f64(b))); }},
      {"v_max_f64 v[8:9], v[2:3], v[2:3]", As::Bits, // quiets
       EXPECTED {
         UNUSED;
         return f64(a) != f64(a) ? a | (uint64_t(1) << 51) : a;
       }},
      {"v_rcp_f64 v[8:9], v[2:3]", As::F64,
       EXPECTED { UNUSED; return of(double(Quad(1) / Quad(f64(a)))); }},
      {"v_sqrt_f64 v[8:9], v[2:3]", As::F64,
       EXPECTED { UNUSED; return of(std::sqrt(f64(a))); }},
      {"v_floor_f64 v[8:9], v[2:3]", As::F64,
       EXPECTED { UNUSED; return of(std::floor(f64(a))); }},
      {"v_ceil_f64 v[8:9], v[2:3]", As::F64,
       EXPECTED { UNUSED; return of(std::ceil(f64(a))); }},
      {"v_trunc_f64 v[8:9], -v[2:3]", As::F64,
       EXPECTED { UNUSED; return of(std::trunc(-f64(a))); }},
      {"v_rndne_f64 v[8:9], v[2:3]", As::F64,
       EXPECTED { UNUSED; return of(std::nearbyint(f64(a))); }},
      {"v_fract_f64 v[8:9], v[2:3]", As::F64, EXPECTED {
         UNUSED;
         double f = f64(a) - std::floor(f64(a));
         return of(f >= 1 ? std::nextafter(1.0, 0.0) : f);
       }},
      {"v_frexp_mant_f64 v[8:9], v[2:3]", As::F64, EXPECTED {
         UNUSED;
         int e;
         return of(std::isfinite(f64(a)) ? std::frexp(f64(a), &e) : f64(a));
       }},
      {"v_frexp_exp_i32_f64 v8, v[2:3]", As::Bits, EXPECTED {
         UNUSED;
         int e = 0;
         if (std::isfinite(f64(a)) && f64(a) != 0)
           std::frexp(f64(a), &e);
         return word(e);
       }},
      {"v_ldexp_f64 v[8:9], v[2:3], v4", As::F64, EXPECTED {
         UNUSED;
         return of(std::scalbn(f64(a), int32_t(low(b))));
       }},
      {"v_bfe_i32 v10, v4, 0, 8\nv_ldexp_f64 v[8:9], v[2:3], v10", As::F64,
       EXPECTED {
         UNUSED;
         return of(std::scalbn(f64(a), int8_t(low(b))));
       }},
      {"v_cvt_f64_i32 v[8:9], v2", As::F64,
       EXPECTED { UNUSED; return of(double(int32_t(low(a)))); }},
      {"v_cvt_f64_u32 v[8:9], v2", As::F64,
       EXPECTED { UNUSED; return of(double(low(a))); }},
      {"v_cvt_f64_f32 v[8:9], v2", As::F64,
       EXPECTED { UNUSED; return of(double(f32(a))); }},
      {"v_cvt_f32_f64 v8, v[2:3]", As::F32,
       EXPECTED { UNUSED; return of(float(f64(a))); }},
      {"v_cvt_i32_f64 v8, v[2:3]", As::Bits, EXPECTED {
         UNUSED;
         double x = std::trunc(f64(a));
         if (x != x)
           return word(0);
         return word(int32_t(std::fmax(std::fmin(x, 2147483647.0),
                                       -2147483648.0)));
       }},
      {"v_cvt_u32_f64 v8, v[2:3]", As::Bits, EXPECTED {
         UNUSED;
         double x = std::trunc(f64(a));
         if (x != x)
           return word(0);
         return word(uint32_t(std::fmax(std::fmin(x, 4294967295.0), 0.0)));
       }},
      {"v_cmp_class_f64 vcc, v[2:3], v4\nv_cndmask_b32 v8, 0, 1, vcc", As::Bits,
       EXPECTED {
         UNUSED;
         double x = f64(a);
         bool negative = std::signbit(x);
         unsigned k;
         if (x != x)
           k = (a >> 51) & 1 ? 1 : 0;
         else if (std::isinf(x))
           k = negative ? 2 : 9;
         else if (x == 0)
           k = negative ? 5 : 6;
         else if (std::fabs(x) < 0x1p-1022)
           k = negative ? 4 : 7;
         else
           k = negative ? 3 : 8;
         return word((low(b) >> k) & 1);
       }},
      {"v_cmp_lt_f64 vcc, v[2:3], v[4:5]\nv_cndmask_b32 v8, 0, 1, vcc",
       As::Bits, EXPECTED { UNUSED; return word(f64(a) < f64(b)); }},
      {"v_cmp_nlt_f64 vcc, v[2:3], -v[4:5]\nv_cndmask_b32 v8, 0, 1, vcc",
       As::Bits, EXPECTED { UNUSED; return word(!(f64(a) < -f64(b))); }},
      {"v_cmp_u_f64 s[44:45], v[2:3], v[4:5]\nv_cndmask_b32 v8, 0, 1, s[44:45]",
       As::Bits, EXPECTED {
         UNUSED;
         return word(std::isnan(f64(a)) || std::isnan(f64(b)));
       }},
      {"v_cmp_lg_f64 s[44:45], v[2:3], v[4:5]\nv_cndmask_b32 v8, 0, 1, "
       "s[44:45]",
       As::Bits, EXPECTED {
         UNUSED;
         return word(f64(a) < f64(b) || f64(a) > f64(b));
       }},
      // f32
      {"v_add_f32 v8, v2, v4", As::F32,
       EXPECTED { UNUSED; return of(f32(a) + f32(b)); }},
      {"v_sub_f32 v8, |v2|, -v4", As::F32,
       EXPECTED { UNUSED; return of(std::fabs(f32(a)) + f32(b)); }},
      {"v_subrev_f32 v8, v2, v4", As::F32,
       EXPECTED { UNUSED; return of(f32(b) - f32(a)); }},
      {"v_mul_f32 v8, v2, v4", As::F32,
       EXPECTED { UNUSED; return of(f32(a) * f32(b)); }},
      {"v_mul_f32 v8, 0x40490fdb, v4", As::F32,
       EXPECTED { UNUSED; return of(3.14159274101257324f * f32(b)); }},
      {"v_fma_f32 v8, v2, v4, v6", As::F32,
       EXPECTED { return of(fusedReference(f32(a), f32(b), f32(c))); }},
      {"v_min_f32 v8, v2, v4", As::F32,
       EXPECTED { UNUSED; return of(extremum(false, f32(a), f32(b))); }},
      {"v_max3_f32 v8, v2, v4, v6", As::F32, EXPECTED {
         return of(extremum(true, extremum(true, f32(a), f32(b)), f32(c)));
       }},
      {"v_med3_f32 v8, v2, v4, v6", As::F32, EXPECTED {
         float v[3] = {f32(a), f32(b), f32(c)};
         if (std::isnan(v[0]) || std::isnan(v[1]) || std::isnan(v[2])) {
           float m = extremum(false, extremum(false, v[0], v[1]), v[2]);
           return of(m);
         }
         std::sort(v, v + 3);
         return of(v[1]);
       }},
      {"v_cvt_f32_i32 v8, v2", As::F32,
       EXPECTED { UNUSED; return of(float(int32_t(low(a)))); }},
      {"v_cvt_f32_u32 v8, v2", As::F32,
       EXPECTED { UNUSED; return of(float(low(a))); }},
      {"v_cvt_i32_f32 v8, v2", As::Bits, EXPECTED {
         UNUSED;
         double x = std::trunc(double(f32(a)));
         if (x != x)
           return word(0);
         return word(
             int32_t(std::fmax(std::fmin(x, 2147483647.0), -2147483648.0)));
       }},
      {"v_cvt_u32_f32 v8, v2", As::Bits, EXPECTED {
         UNUSED;
         double x = std::trunc(double(f32(a)));
         if (x != x)
           return word(0);
         return word(uint32_t(std::fmax(std::fmin(x, 4294967295.0), 0.0)));
       }},
      {"v_cvt_f32_ubyte2 v8, v2", As::F32,
       EXPECTED { UNUSED; return of(float((low(a) >> 16) & 255)); }},
      {"v_rndne_f32 v8, v2", As::F32,
       EXPECTED { UNUSED; return of(std::nearbyint(f32(a))); }},
      {"v_ldexp_f32 v8, v2, v4", As::F32, EXPECTED {
         UNUSED;
         return of(std::scalbn(f32(a), int32_t(low(b))));
       }},
      {"v_mov_b32 v8, v6\nv_fmac_f32 v8, v2, v4", As::F32,
       EXPECTED { return of(fusedReference(f32(a), f32(b), f32(c))); }},
      {"v_pk_fma_f32 v[8:9], v[2:3], v[4:5], v[6:7]", As::Bits, EXPECTED {
         float l = fusedReference(f32(a), f32(b), f32(c));
         float h = fusedReference(f32(a >> 32), f32(b >> 32), f32(c >> 32));
         uint32_t lb = l != l ? 0x7fc00000 : bits(l);
         uint32_t hb = h != h ? 0x7fc00000 : bits(h);
         return lb | (uint64_t(hb) << 32);
       }},
      {"v_pk_mul_f32 v[8:9], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1] "
       "neg_lo:[0,1]",
       As::Bits, EXPECTED {
         UNUSED;
         float l = f32(a >> 32) * -f32(b), h = f32(a) * f32(b >> 32);
         uint32_t lb = l != l ? 0x7fc00000 : bits(l);
         uint32_t hb = h != h ? 0x7fc00000 : bits(h);
         return lb | (uint64_t(hb) << 32);
       }},
      {"v_pk_add_f32 v[8:9], v[2:3], s[38:39] op_sel_hi:[1,0]", As::Bits,
       EXPECTED { // the low dword of 3.5 is 0
         UNUSED;
         float l = f32(a) + 0.0f, h = f32(a >> 32) + 0.0f;
         uint32_t lb = l != l ? 0x7fc00000 : bits(l);
         uint32_t hb = h != h ? 0x7fc00000 : bits(h);
         return lb | (uint64_t(hb) << 32);
       }},
      {"v_pk_mov_b32 v[8:9], v[2:3], v[4:5] op_sel:[1,0]", As::Bits,
       EXPECTED { UNUSED; return high(a) | (b << 32); }},
      {"v_pk_mov_b32 v[8:9], s[38:39], v[4:5] op_sel:[1,1]", As::Bits,
       EXPECTED {
         UNUSED;
         return 0x400c0000u | (b & 0xffffffff00000000ull);
       }},
      // Integers
      {"v_add_u32 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(low(a) + low(b)); }},
      {"v_add_u32 v8, v2, v4 clamp", As::Bits, EXPECTED {
         UNUSED;
         uint64_t s = uint64_t(low(a)) + low(b);
         return word(s > UINT32_MAX ? UINT32_MAX : uint32_t(s));
       }},
      {"v_sub_u32 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(low(a) - low(b)); }},
      {"v_subrev_u32 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(low(b) - low(a)); }},
      {"v_add_co_u32 v8, vcc, v2, v4\nv_addc_co_u32 v9, vcc, v3, v5, vcc",
       As::Bits, EXPECTED { UNUSED; return a + b; }},
      {"v_sub_co_u32 v8, s[44:45], v2, v4\nv_subb_co_u32 v9, s[44:45], v3, "
       "v5, s[44:45]",
       As::Bits, EXPECTED { UNUSED; return a - b; }},
      {"v_subrev_co_u32 v8, vcc, v2, v4\nv_subbrev_co_u32 v9, vcc, v3, v5, vcc",
       As::Bits, EXPECTED { UNUSED; return b - a; }},
      {"v_addc_co_u32 v8, vcc, v2, v4, s[36:37]\nv_addc_co_u32 v9, vcc, 0, 0, "
       "vcc", // s[36:37] = -1: carry in everywhere
       As::Bits, EXPECTED {
         UNUSED;
         uint64_t s = uint64_t(low(a)) + low(b) + 1;
         return s;
       }},
      {"v_mul_lo_u32 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(low(a) * low(b)); }},
      {"v_mul_hi_u32 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         return word(uint32_t((uint64_t(low(a)) * low(b)) >> 32));
       }},
      {"v_mul_hi_i32 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         return word(uint32_t(
             uint64_t(int64_t(int32_t(low(a))) * int32_t(low(b))) >> 32));
       }},
      {"v_mad_u64_u32 v[8:9], s[44:45], v2, v4, v[6:7]", As::Bits,
       EXPECTED { return uint64_t(low(a)) * low(b) + c; }},
      {"v_mad_u64_u32 v[10:11], vcc, v2, v4, v[6:7]\nv_cndmask_b32 v8, 0, 1, "
       "vcc",
       As::Bits, EXPECTED {
         unsigned __int128 s =
             (unsigned __int128)(uint64_t(low(a)) * low(b)) + c;
         return word(uint32_t(s >> 64));
       }},
      {"v_mad_i64_i32 v[8:9], s[44:45], v2, v4, v[6:7]", As::Bits, EXPECTED {
         return uint64_t(int64_t(int32_t(low(a))) * int32_t(low(b))) + c;
       }},
      {"v_mul_u32_u24 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         return word((low(a) & 0xffffff) * (low(b) & 0xffffff));
       }},
      {"v_mad_i32_i24 v8, v2, v4, v6", As::Bits, EXPECTED {
         int32_t x = int32_t(low(a) << 8) >> 8, y = int32_t(low(b) << 8) >> 8;
         return word(uint32_t(int64_t(x) * y) + low(c));
       }},
      {"v_min_i32 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         return word(std::min(int32_t(low(a)), int32_t(low(b))));
       }},
      {"v_max_u32 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(std::max(low(a), low(b))); }},
      {"v_med3_i32 v8, v2, v4, v6", As::Bits, EXPECTED {
         int32_t v[3] = {int32_t(low(a)), int32_t(low(b)), int32_t(low(c))};
         std::sort(v, v + 3);
         return word(v[1]);
       }},
      {"v_lshlrev_b32 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(low(b) << (low(a) & 31)); }},
      {"v_ashrrev_i32 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(int32_t(low(b)) >> (low(a) & 31)); }},
      {"v_lshlrev_b64 v[8:9], v2, v[4:5]", As::Bits,
       EXPECTED { UNUSED; return b << (a & 63); }},
      {"v_lshrrev_b64 v[8:9], 7, v[4:5]", As::Bits,
       EXPECTED { UNUSED; return b >> 7; }},
      {"v_ashrrev_i64 v[8:9], v2, v[4:5]", As::Bits,
       EXPECTED { UNUSED; return uint64_t(int64_t(b) >> (a & 63)); }},
      {"v_lshl_add_u32 v8, v2, v4, v6", As::Bits,
       EXPECTED { return word((low(a) << (low(b) & 31)) + low(c)); }},
      {"v_add_lshl_u32 v8, v2, v4, v6", As::Bits,
       EXPECTED { return word((low(a) + low(b)) << (low(c) & 31)); }},
      {"v_lshl_or_b32 v8, v2, 3, v6", As::Bits,
       EXPECTED { UNUSED; return word((low(a) << 3) | low(c)); }},
      {"v_and_or_b32 v8, v2, v4, v6", As::Bits,
       EXPECTED { return word((low(a) & low(b)) | low(c)); }},
      {"v_add3_u32 v8, v2, v4, v6", As::Bits,
       EXPECTED { return word(low(a) + low(b) + low(c)); }},
      {"v_or3_b32 v8, v2, v4, v6", As::Bits,
       EXPECTED { return word(low(a) | low(b) | low(c)); }},
      {"v_xad_u32 v8, v2, v4, v6", As::Bits,
       EXPECTED { return word((low(a) ^ low(b)) + low(c)); }},
      {"v_xnor_b32 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(~(low(a) ^ low(b))); }},
      {"v_bfe_u32 v8, v2, v4, v6", As::Bits, EXPECTED {
         uint64_t r = 0;
         for (unsigned i = 0; i < (low(c) & 31); ++i)
           if ((low(b) & 31) + i < 32)
             r |= uint64_t((low(a) >> ((low(b) & 31) + i)) & 1) << i;
         return word(uint32_t(r));
       }},
      {"v_bfe_i32 v8, v2, 4, 7", As::Bits, EXPECTED {
         UNUSED;
         int32_t field = (low(a) >> 4) & 127;
         return word(field >= 64 ? field - 128 : field);
       }},
      {"v_bfi_b32 v8, v2, v4, v6", As::Bits,
       EXPECTED { return word((low(a) & low(b)) | (~low(a) & low(c))); }},
      {"v_alignbit_b32 v8, v2, v4, v6", As::Bits, EXPECTED {
         uint64_t x = (uint64_t(low(a)) << 32) | low(b);
         return word(uint32_t(x >> (low(c) & 31)));
       }},
      {"v_perm_b32 v8, v2, v4, v6", As::Bits, EXPECTED {
         uint8_t bytes[8];
         uint32_t lo = low(b), hi = low(a);
         std::memcpy(bytes, &lo, 4);
         std::memcpy(bytes + 4, &hi, 4);
         uint8_t out[4];
         for (int i = 0; i < 4; ++i) {
           uint8_t s = uint8_t(low(c) >> (8 * i));
           if (s < 8)
             out[i] = bytes[s];
           else if (s < 12)
             out[i] = bytes[2 * (s - 8) + 1] & 0x80 ? 0xff : 0;
           else
             out[i] = s == 12 ? 0 : 0xff;
         }
         uint32_t r;
         std::memcpy(&r, out, 4);
         return word(r);
       }},
      {"v_bfrev_b32 v8, v2", As::Bits, EXPECTED {
         UNUSED;
         uint32_t r = 0;
         for (int i = 0; i < 32; ++i)
           r |= ((low(a) >> i) & 1) << (31 - i);
         return word(r);
       }},
      {"v_bcnt_u32_b32 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         uint32_t n = low(b);
         for (int i = 0; i < 32; ++i)
           n += (low(a) >> i) & 1;
         return word(n);
       }},
      {"v_and_b32 v10, 0xff, v2\nv_ffbh_u32 v8, v10", As::Bits, EXPECTED {
         UNUSED;
         uint32_t x = low(a) & 255;
         if (!x)
           return word(~0u);
         uint32_t n = 0;
         while (!((x >> (31 - n)) & 1))
           ++n;
         return word(n);
       }},
      {"v_ffbl_b32 v8, v2", As::Bits, EXPECTED {
         UNUSED;
         if (!low(a))
           return word(~0u);
         uint32_t n = 0;
         while (!((low(a) >> n) & 1))
           ++n;
         return word(n);
       }},
      {"v_cmp_lt_i32 vcc, v2, v4\nv_cndmask_b32 v8, v4, v2, vcc", As::Bits,
       EXPECTED {
         UNUSED;
         return word(std::min(int32_t(low(a)), int32_t(low(b))));
       }},
      {"v_cmp_ge_u64 vcc, v[2:3], v[4:5]\nv_cndmask_b32 v8, 0, 1, vcc",
       As::Bits, EXPECTED { UNUSED; return word(a >= b); }},
      {"v_cndmask_b32 v8, -v2, |v4|, s[36:37]", As::Bits,
       EXPECTED { UNUSED; return word(low(b) & 0x7fffffff); }},
      {"v_cvt_pk_u16_u32 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         return word(std::min(low(a), 65535u) | (std::min(low(b), 65535u) << 16));
       }},
      {"v_accvgpr_write_b32 a3, v2\nv_accvgpr_read_b32 v8, a3", As::Bits,
       EXPECTED { UNUSED; return word(low(a)); }},
      {"v_lshl_add_u64 v[8:9], v[2:3], 3, v[6:7]", As::Bits,
       EXPECTED { UNUSED; return (a << 3) + c; }, "gfx942"},
      {"v_mov_b64 v[8:9], v[4:5]", As::Bits,
       EXPECTED { UNUSED; return b; }, "gfx942"},
      // SDWA
      {"v_add_u32_sdwa v8, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD "
       "src0_sel:BYTE_1 src1_sel:WORD_1",
       As::Bits, EXPECTED {
         UNUSED;
         return word(((low(a) >> 8) & 255) + (low(b) >> 16));
       }},
      {"v_add_u32_sdwa v8, sext(v2), v4 dst_sel:DWORD dst_unused:UNUSED_PAD "
       "src0_sel:BYTE_3 src1_sel:DWORD",
       As::Bits, EXPECTED {
         UNUSED;
         return word(uint32_t(int32_t(int8_t(low(a) >> 24))) + low(b));
       }},
      {"v_or_b32_sdwa v8, v2, v4 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE "
       "src0_sel:BYTE_0 src1_sel:BYTE_3",
       As::Bits, EXPECTED {
         UNUSED;
         uint32_t x = ((low(a) & 255) | (low(b) >> 24)) & 255;
         return (untouched & ~0xff0000ull) | (x << 16);
       }},
      {"v_mov_b32_sdwa v8, v2 dst_sel:WORD_0 dst_unused:UNUSED_SEXT "
       "src0_sel:WORD_1",
       As::Bits, EXPECTED {
         UNUSED;
         return word(uint32_t(int32_t(int16_t(low(a) >> 16))));
       }},
      {"v_mul_f32_sdwa v8, -|v2|, v4 dst_sel:DWORD dst_unused:UNUSED_PAD "
       "src0_sel:DWORD src1_sel:DWORD",
       As::F32, EXPECTED { UNUSED; return of(-std::fabs(f32(a)) * f32(b)); }},
      {"v_cmp_eq_u32_sdwa vcc, v2, v4 src0_sel:BYTE_0 src1_sel:BYTE_0\n"
       "v_cndmask_b32 v8, 0, 1, vcc",
       As::Bits,
       EXPECTED { UNUSED; return word((low(a) & 255) == (low(b) & 255)); }},
      // 16 bits
      {"v_add_u16 v8, v2, v4", As::Bits,
       EXPECTED { UNUSED; return word(uint16_t(low(a) + low(b))); }},
      {"v_mul_lo_u16 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         return word(uint16_t(uint32_t(uint16_t(a)) * uint16_t(b)));
       }},
      {"v_max_i16 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         return word(uint16_t(std::max(int16_t(a), int16_t(b))));
       }},
      {"v_pk_add_u16 v8, v2, v4", As::Bits, EXPECTED {
         UNUSED;
         return word(uint16_t(low(a) + low(b)) |
                     (uint32_t(uint16_t((low(a) >> 16) + (low(b) >> 16)))
                      << 16));
       }},
      {"v_pk_lshlrev_b16 v8, 3, v4 op_sel_hi:[0,1]", As::Bits, EXPECTED {
         UNUSED;
         return word(uint16_t(low(b) << 3) |
                     (uint32_t(uint16_t((low(b) >> 16) << 3)) << 16));
       }},
  };
}

// clang-format on

class InstructionTest : public OnTarget {
protected:
  Device device;
};

/// Bits of all kinds: random ones, doubles, floats, small numbers.
std::vector<uint64_t> assortedBits(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> doubles = assortedDoubles(count, seed + 1);
  std::vector<uint64_t> result(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t r = random();
    switch (random() % 5) {
    case 0:
      result[i] = r;
      break;
    case 1:
    case 2:
      result[i] = bits(doubles[i]);
      break;
    case 3: { // two floats
      float x = float(int32_t(r)) * 0x1p-28f, y = float(int32_t(r >> 32));
      result[i] = bits(x) | (uint64_t(bits(y)) << 32);
      break;
    }
    default:
      result[i] = r & 0x000000ff000000ffull;
    }
  }
  return result;
}

TEST_P(InstructionTest, VectorInstructions) {
  std::vector<Case> cases;
  for (Case &c : vectorCases())
    if (!c.onlyTarget || target() == c.onlyTarget)
      cases.push_back(c);
  std::vector<std::string> lines;
  for (const Case &c : cases)
    lines.push_back(c.assembly);
  constexpr size_t count = 24 * 64;
  std::vector<uint64_t> in = assortedBits(3 * count, 77);
  std::vector<Sources> sources(count);
  for (size_t i = 0; i < count; ++i)
    sources[i] = {in[3 * i], in[3 * i + 1], in[3 * i + 2]};
  for (uint64_t exec : {~uint64_t(0), uint64_t(0x8d3e00ff10f7a5c1)}) {
    auto outcomes = runLines(target(), lines, sources, exec);
    ASSERT_EQ(outcomes.size(), cases.size());
    for (size_t k = 0; k < cases.size(); ++k) {
      int reported = 0;
      for (size_t i = 0; i < count && reported < 3; ++i) {
        auto [a, b, c] = sources[i];
        uint64_t got = outcomes[k][i].low;
        bool on = (exec >> (i % 64)) & 1;
        uint64_t want = on ? cases[k].expected(a, b, c) : untouched;
        bool equal = got == want;
        if (on && cases[k].as == As::F64)
          equal = same(f64(got), f64(want));
        if (on && cases[k].as == As::F32)
          equal = same(f32(got), f32(want)) && high(got) == high(want);
        if (on && cases[k].as == As::Bits && !equal &&
            std::strstr(cases[k].assembly, "v_pk_") &&
            std::strstr(cases[k].assembly, "_f32"))
          equal = same(f32(got), f32(want)) &&
                  same(f32(got >> 32), f32(want >> 32));
        if (equal)
          continue;
        ++reported;
        ADD_FAILURE() << cases[k].assembly << std::hex << "\n  a " << a << " b "
                      << b << " c " << c << " lane " << std::dec << i % 64
                      << (on ? "" : " (off)") << std::hex << "\n  got  " << got
                      << "\n  want " << want;
      }
    }
  }
}

struct ScalarResult {
  uint64_t value;
  bool scc;
};

struct ScalarCase {
  /// Reads s[8:9] and s[10:11], SCC is 1 before; writes s[12:13].
  const char *assembly;
  bool wide;
  std::function<ScalarResult(uint64_t, uint64_t)> expected;
};

#define SCALAR [](uint64_t a, uint64_t b)->ScalarResult

// clang-format off
std::vector<ScalarCase> scalarCases() {
  return {
      {"s_add_u32 s12, s8, s10", false, SCALAR {
         uint64_t r = uint64_t(low(a)) + low(b);
         return {low(r), (r >> 32) != 0};
       }},
      {"s_addc_u32 s12, s8, s10", false, SCALAR {
         uint64_t r = uint64_t(low(a)) + low(b) + 1;
         return {low(r), (r >> 32) != 0};
       }},
      {"s_sub_u32 s12, s8, s10", false,
       SCALAR { return {low(a) - low(b), low(a) < low(b)}; }},
      {"s_subb_u32 s12, s8, s10", false, SCALAR {
         return {uint32_t(low(a) - low(b) - 1), low(a) < uint64_t(low(b)) + 1};
       }},
      {"s_add_i32 s12, s8, s10", false, SCALAR {
         int64_t r = int64_t(int32_t(low(a))) + int32_t(low(b));
         return {low(uint64_t(r)), r != int32_t(r)};
       }},
      {"s_sub_i32 s12, s8, s10", false, SCALAR {
         int64_t r = int64_t(int32_t(low(a))) - int32_t(low(b));
         return {low(uint64_t(r)), r != int32_t(r)};
       }},
      {"s_mul_i32 s12, s8, s10", false,
       SCALAR { return {low(a) * low(b), true}; }},
      {"s_mul_hi_u32 s12, s8, s10", false,
       SCALAR { return {(uint64_t(low(a)) * low(b)) >> 32, true}; }},
      {"s_mul_hi_i32 s12, s8, s10", false, SCALAR {
         return {low(uint64_t(int64_t(int32_t(low(a))) * int32_t(low(b))) >>
                     32),
                 true};
       }},
      {"s_min_i32 s12, s8, s10", false, SCALAR {
         int32_t x = int32_t(low(a)), y = int32_t(low(b));
         return {low(uint64_t(std::min(x, y))), x < y};
       }},
      {"s_max_u32 s12, s8, s10", false, SCALAR {
         return {std::max(low(a), low(b)), low(a) >= low(b)};
       }},
      {"s_and_b32 s12, s8, s10", false,
       SCALAR { return {low(a) & low(b), (low(a) & low(b)) != 0}; }},
      {"s_and_b64 s[12:13], s[8:9], s[10:11]", true,
       SCALAR { return {a & b, (a & b) != 0}; }},
      {"s_andn2_b64 s[12:13], s[8:9], s[10:11]", true,
       SCALAR { return {a & ~b, (a & ~b) != 0}; }},
      {"s_orn2_b64 s[12:13], s[8:9], s[10:11]", true,
       SCALAR { return {a | ~b, (a | ~b) != 0}; }},
      {"s_xor_b64 s[12:13], s[8:9], s[10:11]", true,
       SCALAR { return {a ^ b, (a ^ b) != 0}; }},
      {"s_xnor_b32 s12, s8, s10", false, SCALAR {
         return {uint32_t(~(low(a) ^ low(b))), (low(a) ^ low(b)) != ~0u};
       }},
      {"s_not_b64 s[12:13], s[8:9]", true,
       SCALAR { (void)b; return {~a, ~a != 0}; }},
      {"s_lshl_b32 s12, s8, s10", false, SCALAR {
         uint32_t r = low(a) << (low(b) & 31);
         return {r, r != 0};
       }},
      {"s_lshl_b64 s[12:13], s[8:9], s10", true, SCALAR {
         uint64_t r = a << (b & 63);
         return {r, r != 0};
       }},
      {"s_lshr_b64 s[12:13], s[8:9], s10", true, SCALAR {
         uint64_t r = a >> (b & 63);
         return {r, r != 0};
       }},
      {"s_ashr_i64 s[12:13], s[8:9], s10", true, SCALAR {
         uint64_t r = uint64_t(int64_t(a) >> (b & 63));
         return {r, r != 0};
       }},
      {"s_bfe_u32 s12, s8, 0x50003", false, SCALAR {
         (void)b;
         uint32_t r = (low(a) >> 3) & 31;
         return {r, r != 0};
       }},
      {"s_bfe_i32 s12, s8, 0x80004", false, SCALAR {
         (void)b;
         uint32_t r = uint32_t(int32_t(int8_t(low(a) >> 4)));
         return {r, r != 0};
       }},
      {"s_bfe_u64 s[12:13], s[8:9], 0x200010", true, SCALAR {
         (void)b;
         uint64_t r = (a >> 16) & 0xffffffff;
         return {r, r != 0};
       }},
      {"s_bfe_i64 s[12:13], s[8:9], 0x200000", true, SCALAR {
         (void)b;
         uint64_t r = uint64_t(int64_t(int32_t(low(a))));
         return {r, r != 0};
       }},
      {"s_bfm_b32 s12, s8, s10", false, SCALAR {
         return {uint32_t(((1u << (low(a) & 31)) - 1) << (low(b) & 31)), true};
       }},
      {"s_cselect_b32 s12, s8, s10", false,
       SCALAR { (void)b; return {low(a), true}; }},
      {"s_cmp_lt_i32 s8, s10\ns_cselect_b64 s[12:13], s[8:9], s[10:11]", true,
       SCALAR {
         bool less = int32_t(low(a)) < int32_t(low(b));
         return {less ? a : b, less};
       }},
      {"s_cmp_eq_u64 s[8:9], s[8:9]\ns_cselect_b32 s12, 7, 9", false,
       SCALAR { (void)a, (void)b; return {7, true}; }},
      {"s_cmp_ge_u32 s8, s10\ns_mov_b32 s12, s8", false,
       SCALAR { return {low(a), low(a) >= low(b)}; }},
      {"s_cmpk_gt_i32 s8, 0xff9c\ns_mov_b32 s12, s10", false,
       SCALAR { return {low(b), int32_t(low(a)) > -100}; }},
      {"s_cmpk_lt_u32 s8, 0xff9c\ns_mov_b32 s12, s10", false,
       SCALAR { return {low(b), low(a) < 0xff9cu}; }},
      {"s_bitcmp1_b32 s8, s10\ns_mov_b32 s12, 0", false,
       SCALAR { return {0, ((low(a) >> (low(b) & 31)) & 1) != 0}; }},
      {"s_mov_b32 s12, s8\ns_addk_i32 s12, 0x8000", false, SCALAR {
         (void)b;
         int64_t r = int64_t(int32_t(low(a))) - 32768;
         return {low(uint64_t(r)), r != int32_t(r)};
       }},
      {"s_mov_b32 s12, s8\ns_mulk_i32 s12, 0x8001", false,
       SCALAR { (void)b; return {uint32_t(low(a) * uint32_t(-32767)), true}; }},
      {"s_movk_i32 s12, 0x8001", false,
       SCALAR { (void)a, (void)b; return {uint32_t(-32767), true}; }},
      {"s_abs_i32 s12, s8", false, SCALAR {
         (void)b;
         uint32_t r = low(uint64_t(std::llabs(int64_t(int32_t(low(a))))));
         return {r, r != 0};
       }},
      {"s_bcnt1_i32_b64 s12, s[8:9]", false, SCALAR {
         (void)b;
         uint32_t n = 0;
         for (int i = 0; i < 64; ++i)
           n += (a >> i) & 1;
         return {n, n != 0};
       }},
      {"s_ff1_i32_b64 s12, s[8:9]", false, SCALAR {
         (void)b;
         for (uint32_t i = 0; i < 64; ++i)
           if ((a >> i) & 1)
             return {i, true};
         return {~0u, true};
       }},
      {"s_flbit_i32_b32 s12, s8", false, SCALAR {
         (void)b;
         for (uint32_t i = 0; i < 32; ++i)
           if ((low(a) >> (31 - i)) & 1)
             return {i, true};
         return {~0u, true};
       }},
      {"s_flbit_i32 s12, s8", false, SCALAR {
         (void)b;
         for (uint32_t i = 1; i < 32; ++i)
           if (((low(a) >> (31 - i)) & 1) != low(a) >> 31)
             return {i, true};
         return {~0u, true};
       }},
      {"s_brev_b64 s[12:13], s[8:9]", true, SCALAR {
         (void)b;
         uint64_t r = 0;
         for (int i = 0; i < 64; ++i)
           r |= ((a >> i) & 1) << (63 - i);
         return {r, true};
       }},
      {"s_sext_i32_i8 s12, s8", false, SCALAR {
         (void)b;
         return {uint32_t(int32_t(int8_t(low(a)))), true};
       }},
      {"s_pack_lh_b32_b16 s12, s8, s10", false, SCALAR {
         return {(low(a) & 0xffff) | (low(b) & 0xffff0000u), true};
       }},
      {"s_lshl3_add_u32 s12, s8, s10", false, SCALAR {
         uint64_t r = (uint64_t(low(a)) << 3) + low(b);
         return {low(r), (r >> 32) != 0};
       }},
      {"s_mov_b32 s12, 0\ns_bitset1_b32 s12, s8", false,
       SCALAR { (void)b; return {1u << (low(a) & 31), true}; }},
      {"s_mov_b32 s12, 1\ns_cmp_eq_u32 s8, s8\ns_cbranch_scc1 1\ns_mov_b32 "
       "s12, 2",
       false, SCALAR { (void)a, (void)b; return {1, true}; }},
      {"s_mov_b64 s[22:23], exec\ns_mov_b64 s[24:25], s[8:9]\n"
       "s_and_saveexec_b64 s[12:13], s[24:25]\ns_mov_b64 s[12:13], exec\n"
       "s_mov_b64 exec, s[22:23]",
       true, SCALAR { (void)b; return {a & 1, (a & 1) != 0}; }}, // EXEC is 1
      {"s_mov_b64 s[22:23], exec\ns_mov_b64 exec, s[10:11]\n"
       "s_andn2_saveexec_b64 s[12:13], s[8:9]\ns_mov_b64 s[12:13], exec\n"
       "s_mov_b64 exec, s[22:23]",
       true, SCALAR { return {a & ~b, (a & ~b) != 0}; }},
      // movrel: s[8 + 2]
      {"s_mov_b32 m0, 2\ns_movrels_b32 s12, s8", false,
       SCALAR { (void)a; return {low(b), true}; }},
      {"s_mov_b32 m0, 3\ns_movreld_b32 s9, s10", false,
       SCALAR { (void)a; return {low(b), true}; }},
      // The literal of a 64-bit source.
      {"s_and_b64 s[12:13], s[8:9], 0x7fff0000", true, SCALAR {
         (void)b;
         return {a & 0x7fff0000ull, (a & 0x7fff0000ull) != 0};
       }},
  };
}

// clang-format on

TEST_P(InstructionTest, ScalarInstructions) {
  std::vector<ScalarCase> cases = scalarCases();
  constexpr uint32_t groups = 200;
  std::string body = R"(
  s_mov_b32 s20, s2
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_lshl_b32 s21, s20, 4
  s_add_u32 s4, s4, s21
  s_addc_u32 s5, s5, 0
  s_mul_i32 s21, s20, )" +
                     std::to_string(16 * cases.size()) + R"(
  s_add_u32 s6, s6, s21
  s_addc_u32 s7, s7, 0
  v_mov_b32 v1, 0
  s_mov_b64 exec, 1
)";
  for (const ScalarCase &c : cases)
    body += "  s_load_dwordx4 s[8:11], s[4:5], 0x0\n"
            "  s_mov_b64 s[12:13], 0\n  s_waitcnt lgkmcnt(0)\n"
            "  s_cmp_eq_u32 s4, s4\n  " +
            std::string(c.assembly) +
            "\n  s_cselect_b32 s14, 1, 0\n"
            "  v_mov_b32 v2, s12\n  v_mov_b32 v3, s13\n  v_mov_b32 v4, s14\n"
            "  global_store_dwordx3 v1, v[2:4], s[6:7]\n"
            "  v_add_u32 v1, 16, v1\n";
  body += "  s_endpgm\n";
  auto object = build(assembleKernel(target(), body), "assembler", target());
  ASSERT_TRUE(object);
  std::vector<uint64_t> in = assortedBits(2 * groups, 31);
  uint64_t inAddress = device.upload(in);
  size_t outputs = size_t(groups) * cases.size() * 2;
  uint64_t outAddress = device.upload(std::vector<uint64_t>(outputs));
  device.run(*object, "f", groups, 64,
             Arguments().add(inAddress).add(outAddress).add(uint64_t(0)));
  auto out = device.download<uint64_t>(outAddress, outputs);
  for (size_t k = 0; k < cases.size(); ++k) {
    int reported = 0;
    for (uint32_t g = 0; g < groups && reported < 3; ++g) {
      uint64_t a = in[2 * g], b = in[2 * g + 1];
      uint64_t got = out[2 * (g * cases.size() + k)];
      bool scc = low(out[2 * (g * cases.size() + k) + 1]);
      ScalarResult want = cases[k].expected(a, b);
      if (!cases[k].wide)
        got = low(got);
      if (got == want.value && scc == want.scc)
        continue;
      ++reported;
      ADD_FAILURE() << cases[k].assembly << std::hex << "\n  a " << a << " b "
                    << b << "\n  got  " << got << " scc " << scc << "\n  want "
                    << want.value << " scc " << want.scc;
    }
  }
}

/// One line of assembly that has to stop the wavefront with a message.
void expectFailure(const std::string &target, const std::string &line,
                   std::vector<std::string> parts) {
  std::string body =
      "  v_mov_b32 v2, 0\n  v_mov_b32 v3, 0\n  " + line + "\n  s_endpgm\n";
  auto object = build(assembleKernel(target, body), "assembler", target);
  ASSERT_TRUE(object);
  Device device;
  auto result = device.tryRun(
      *object, "f", 1, 64,
      Arguments().add(uint64_t(0)).add(uint64_t(0)).add(uint64_t(0)));
  std::string message = messageOf(result);
  parts.push_back("kernel 'f'");
  parts.push_back("instruction at 0x");
  for (const std::string &part : parts)
    EXPECT_NE(message.find(part), std::string::npos)
        << "wanted: " << part << "\ngot: " << message;
}

TEST_P(InstructionTest, ReportsWhatItCannotDo) {
  expectFailure(target(), "s_setvskip s4, s5",
                {"not implemented (S_SETVSKIP)", "s_setvskip s4, s5"});
  expectFailure(target(), "ds_gws_barrier v2 gds",
                {"DS_GWS_BARRIER", "not implemented"});
  expectFailure(target(), ".long 0xd8ffffff", {"no instruction"});
  expectFailure(target(), "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 1), 1",
                {"floating-point exceptions"});
  expectFailure(target(), "s_getreg_b32 s4, hwreg(12)",
                {"hardware register 12"});
  expectFailure(target(), "s_sethalt 1", {"halts itself"});
  expectFailure(target(),
                "s_mov_b32 s4, 0x1001\ns_mov_b32 s5, "
                "0\ns_load_dword s6, s[4:5], 0x0",
                {"no multiple of 4"});
  expectFailure(target(), "s_setpc_b64 s[0:1]",
                {"no instruction of the code object starts"});
  expectFailure(target(), "s_trap 2", {"trap 2"});
  expectFailure(target(), "global_store_dword v[2:3], v2, off",
                {"null pointer", "write of 4 bytes"});
  expectFailure(target(),
                "s_getpc_b64 s[4:5]\nv_mov_b32 v4, 0\nglobal_store_dword v4, "
                "v2, s[4:5]",
                {"read-only memory: the kernel's code"});
  expectFailure(target(), "ds_write_b32 v2, v3", {"out-of-bounds LDS write"});
  expectFailure(target(), "s_branch 100", {"no instruction starts"});
}

TEST_P(InstructionTest, IndexedRegisters) {
  std::string body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[16:17], s[0:1], 0x10
  v_mov_b32 v10, 100
  v_mov_b32 v11, 101
  v_mov_b32 v12, 102
  v_mov_b32 v13, 103
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_set_gpr_idx_on s16, gpr_idx(SRC0)
  v_mov_b32 v2, v10
  s_set_gpr_idx_off
  s_set_gpr_idx_on s16, gpr_idx(DST)
  v_mov_b32 v10, v0
  s_set_gpr_idx_off
  v_add_u32 v2, v2, v12
  global_store_dword v1, v2, s[6:7]
  s_endpgm
)";
  auto object = build(assembleKernel(target(), body), "assembler", target());
  ASSERT_TRUE(object);
  uint64_t out = device.upload(std::vector<uint32_t>(64));
  device.run(*object, "f", 1, 64,
             Arguments().add(out).add(out).add(uint64_t(2)));
  auto got = device.download<uint32_t>(out, 64);
  for (uint32_t l = 0; l < 64; ++l)
    EXPECT_EQ(got[l], 102 + l);
  auto bad = device.tryRun(*object, "f", 1, 64,
                           Arguments().add(out).add(out).add(uint64_t(250)));
  std::string message = messageOf(bad);
  EXPECT_NE(message.find("beyond the 256"), std::string::npos) << message;
}

TEST_P(InstructionTest, DisassemblesKernels) {
  auto object =
      build(assembleKernel(target(),
                           "v_mov_b32 v1, v0\ns_setvskip s4, s5\ns_endpgm\n"),
            "assembler", target());
  ASSERT_TRUE(object);
  auto list = object->disassemble("f");
  ASSERT_TRUE(bool(list)) << messageOf(list);
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[0].opcode, "V_MOV_B32");
  EXPECT_EQ((*list)[0].text, "v_mov_b32_e32 v1, v0");
  EXPECT_TRUE((*list)[0].known);
  EXPECT_FALSE((*list)[1].known);
  EXPECT_EQ((*list)[2].address, (*list)[0].address + 8);
  auto none = object->disassemble("g");
  EXPECT_NE(messageOf(none).find("no kernel 'g'"), std::string::npos);
}

FOR_BOTH_TARGETS(InstructionTest);

} // namespace
