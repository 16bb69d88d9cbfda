//===- CoverageTest.cpp - The breadth of the instruction set -------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Integers, f8, dot products, LDS, buffers, scalar memory, hardware registers
/// and forms of instructions, each against plain C++ written for this test;
/// the table of the documentation; and faults that other emulators had.
///
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include "wavesmith/Simulator/Timing.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <functional>
#include <map>
#include <set>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

using Wide = __int128;

uint32_t low(uint64_t x) { return uint32_t(x); }
uint32_t high(uint64_t x) { return uint32_t(x >> 32); }
float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
double asDouble(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}
/// A 32-bit result leaves the upper register alone.
uint64_t word(uint32_t x) { return x | (untouched & 0xffffffff00000000ull); }

uint64_t cut(Wide x, Wide least, Wide most) {
  return uint64_t(x < least ? least : x > most ? most : x);
}
uint32_t cutU32(Wide x) { return uint32_t(cut(x, 0, UINT32_MAX)); }
uint32_t cutI32(Wide x) { return uint32_t(cut(x, INT32_MIN, INT32_MAX)); }
uint16_t cutU16(Wide x) { return uint16_t(cut(x, 0, 65535)); }
uint16_t cutI16(Wide x) { return uint16_t(cut(x, -32768, 32767)); }
int16_t i16(uint64_t x) { return int16_t(x); }
uint16_t u16(uint64_t x) { return uint16_t(x); }
int32_t i24(uint32_t x) { return int32_t(x << 8) >> 8; }
uint32_t byteAt(uint64_t x, int i) { return (x >> (8 * i)) & 255; }

/// The value of a half, from its definition.
double halfValue(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double magnitude = exponent == 31 ? (mantissa ? std::nan("") : HUGE_VAL)
                     : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                    : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

struct Case {
  std::string assembly;
  std::function<Outcome(const Sources &)> expected;
  const char *onlyTarget = nullptr;
};

#define WANT [](const Sources &s)->Outcome
#define UNUSED (void)s

Outcome one(uint32_t x) { return {word(x), untouched}; }
Outcome two(uint64_t x) { return {x, untouched}; }
/// A 16-bit result whose instruction clears or keeps the other half.
Outcome clears(uint16_t x) { return one(x); }
Outcome keepsHigh(uint16_t x) {
  return one((uint32_t(untouched) & 0xffff0000u) | x);
}
Outcome keepsLow(uint16_t x) {
  return one((uint32_t(untouched) & 0xffffu) | (uint32_t(x) << 16));
}

std::vector<Sources> assortedSources(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  auto value = [&]() -> uint64_t {
    uint64_t r = random();
    switch (random() % 6) {
    case 0: // small numbers
      return (r & 0xff0000000full) | (r & 7);
    case 1: // bytes and halves of extremes
      return (r & 0x8080808080808080ull) * 0xff / 0x80;
    case 2:
      return (r & 0x0001000100010001ull) * 0xffff;
    case 3: // signs
      return r & 0x8000800080008000ull;
    case 4: { // two floats of order one
      float x = float(int32_t(r)) * 0x1p-29f,
            y = float(int32_t(r >> 32)) * 0x1p-20f;
      return bits(x) | (uint64_t(bits(y)) << 32);
    }
    default:
      return r;
    }
  };
  std::vector<Sources> result(count);
  for (Sources &s : result)
    s = {value(), value(), value()};
  return result;
}

bool sameFloats(Outcome got, Outcome want) {
  return same(asFloat(low(got.low)), asFloat(low(want.low))) &&
         same(asFloat(high(got.low)), asFloat(high(want.low))) &&
         got.high == want.high;
}

class CoverageTest : public OnTarget {
protected:
  void check(const std::vector<Case> &all, bool floats = false,
             unsigned ldsBytes = 0) {
    std::vector<Case> cases;
    std::vector<std::string> lines;
    for (const Case &c : all)
      if (!c.onlyTarget || target() == c.onlyTarget) {
        cases.push_back(c);
        lines.push_back(c.assembly);
      }
    std::vector<Sources> sources = assortedSources(640, 11);
    for (uint64_t exec : {~uint64_t(0), uint64_t(0x8d3e00ff10f7a5c1)}) {
      auto outcomes = runLines(target(), lines, sources, exec, 0xf0, ldsBytes);
      ASSERT_EQ(outcomes.size(), lines.size());
      for (size_t k = 0; k < cases.size(); ++k) {
        int reported = 0;
        for (size_t i = 0; i < sources.size() && reported < 2; ++i) {
          Outcome got = outcomes[k][i];
          bool on = (exec >> (i % 64)) & 1;
          Outcome want = on ? cases[k].expected(sources[i])
                            : Outcome{untouched, untouched};
          if ((got.low == want.low && got.high == want.high) ||
              (floats && on && sameFloats(got, want)))
            continue;
          ++reported;
          ADD_FAILURE() << cases[k].assembly << std::hex << "\n  a "
                        << sources[i].a << " b " << sources[i].b << " c "
                        << sources[i].c << (on ? "" : " (off)") << "\n  got  "
                        << got.high << " " << got.low << "\n  want "
                        << want.high << " " << want.low;
        }
      }
    }
  }
};

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Wide sumOfAbsoluteDifferences(uint32_t a, uint32_t b, bool masked) {
  Wide sum = 0;
  for (int i = 0; i < 4; ++i)
    if (!masked || byteAt(b, i))
      sum += std::abs(int(byteAt(a, i)) - int(byteAt(b, i)));
  return sum;
}

TEST_P(CoverageTest, Integers) {
  check({
      {"v_add_u16 v8, v2, v4",
       WANT { return clears(u16(uint32_t(u16(s.a)) + u16(s.b)));
}
} // namespace
, {"v_add_u16_e64 v8, v2, v4 clamp",
   WANT{return clears(cutU16(Wide(u16(s.a)) + u16(s.b)));
}
}
, {"v_sub_u16_e64 v8, v2, v4 clamp",
   WANT{return clears(cutU16(Wide(u16(s.a)) - u16(s.b)));
}
}
, {"v_subrev_u16 v8, v2, v4",
   WANT{return clears(u16(uint32_t(u16(s.b)) - u16(s.a)));
}
}
, {"v_add_i16 v8, v2, v4",
   WANT{return keepsHigh(u16(uint32_t(u16(s.a)) + u16(s.b)));
}
}
, {"v_add_i16 v8, v2, v4 op_sel:[1,0,1] clamp",
   WANT{return keepsLow(cutI16(Wide(i16(s.a >> 16)) + i16(s.b)));
}
}
, {"v_sub_i16 v8, v2, v4 clamp",
   WANT{return keepsHigh(cutI16(Wide(i16(s.a)) - i16(s.b)));
}
}
, {"v_mad_u16 v8, v2, v4, v6",
   WANT{return keepsHigh(u16(uint32_t(u16(s.a)) * u16(s.b) + u16(s.c)));
}
}
, {"v_mad_u16 v8, v2, v4, v6 op_sel:[0,1,0,1] clamp",
   WANT{return keepsLow(cutU16(Wide(u16(s.a)) * u16(s.b >> 16) + u16(s.c)));
}
}
, {"v_mad_i16 v8, v2, v4, v6 clamp",
   WANT{return keepsHigh(cutI16(Wide(i16(s.a)) * i16(s.b) + i16(s.c)));
}
}
, {"v_mad_legacy_u16 v8, v2, v4, v6",
   WANT{return clears(u16(uint32_t(u16(s.a)) * u16(s.b) + u16(s.c)));
}
}
, {"v_mad_legacy_i16 v8, v2, v4, v6",
   WANT{return clears(u16(uint32_t(u16(s.a)) * u16(s.b) + u16(s.c)));
}
}
, {"v_min3_i16 v8, v2, v4, v6 op_sel:[1,0,0,0]",
   WANT{return keepsHigh(u16(std::min({i16(s.a >> 16), i16(s.b), i16(s.c)})));
}
}
, {"v_max3_u16 v8, v2, v4, v6 op_sel:[0,0,1,1]",
   WANT{return keepsLow(std::max({u16(s.a), u16(s.b), u16(s.c >> 16)}));
}
}
, {"v_min3_u16 v8, v2, v4, v6",
   WANT{return keepsHigh(std::min({u16(s.a), u16(s.b), u16(s.c)}));
}
}
, {"v_max3_i16 v8, v2, v4, v6",
   WANT{return keepsHigh(u16(std::max({i16(s.a), i16(s.b), i16(s.c)})));
}
}
, {"v_med3_i16 v8, v2, v4, v6",
   WANT{int16_t v[3] = {i16(s.a), i16(s.b), i16(s.c)};
std::sort(v, v + 3);
return keepsHigh(u16(v[1]));
}
}
, {"v_med3_u16 v8, v2, v4, v6",
   WANT{uint16_t v[3] = {u16(s.a), u16(s.b), u16(s.c)};
std::sort(v, v + 3);
return keepsHigh(v[1]);
}
}
, {"v_mad_u32_u16 v8, v2, v4, v6 op_sel:[1,0,0,0]",
   WANT{return one(uint32_t(u16(s.a >> 16)) * u16(s.b) + low(s.c));
}
}
, {"v_mad_i32_i16 v8, v2, v4, v6 op_sel:[0,1,0,0] clamp",
   WANT{return one(cutI32(Wide(i16(s.a)) * i16(s.b >> 16) + int32_t(low(s.c))));
}
}
, {"v_mad_u32_u24 v8, v2, v4, v6 clamp",
   WANT{return one(
       cutU32(Wide(low(s.a) & 0xffffff) * (low(s.b) & 0xffffff) + low(s.c)));
}
}
, {"v_mad_i32_i24 v8, v2, v4, v6 clamp",
   WANT{return one(
       cutI32(Wide(i24(low(s.a))) * i24(low(s.b)) + int32_t(low(s.c))));
}
}
, {"v_mul_hi_u32_u24 v8, v2, v4",
   WANT{return one(
       uint32_t((uint64_t(low(s.a) & 0xffffff) * (low(s.b) & 0xffffff)) >> 32));
}
}
, {"v_mul_hi_i32_i24 v8, v2, v4",
   WANT{return one(
       uint32_t(uint64_t(int64_t(i24(low(s.a))) * i24(low(s.b))) >> 32));
}
}
, {"v_add_i32 v8, v2, v4 clamp",
   WANT{return one(cutI32(Wide(int32_t(low(s.a))) + int32_t(low(s.b))));
}
}
, {"v_sub_i32 v8, v2, v4 clamp",
   WANT{return one(cutI32(Wide(int32_t(low(s.a))) - int32_t(low(s.b))));
}
}
, {"v_bfe_i32 v8, v2, v4, v6",
   WANT{unsigned first = low(s.b) & 31, count = low(s.c) & 31;
Wide field = 0;
// Bits beyond the top are copies of the sign.
for (unsigned i = 0; i < count; ++i)
  field |= Wide((low(s.a) >> std::min(first + i, 31u)) & 1) << i;
if (count && (field >> (count - 1)) & 1)
  field -= Wide(1) << count;
return one(uint32_t(field));
}
}
, {"v_bfm_b32 v8, v2, v4", WANT{uint32_t r = 0;
for (unsigned i = 0; i < (low(s.a) & 31); ++i)
  if ((low(s.b) & 31) + i < 32)
    r |= 1u << ((low(s.b) & 31) + i);
return one(r);
}
}
, {"v_alignbyte_b32 v8, v2, v4, v6",
   WANT{uint64_t x = (uint64_t(low(s.a)) << 32) | low(s.b);
return one(uint32_t(x >> (8 * (s.c & 3))));
}
}
, {"v_ffbh_i32 v8, v2", WANT{int32_t x = int32_t(low(s.a));
for (int i = 1; i < 32; ++i)
  if (((x >> (31 - i)) & 1) != ((x >> 31) & 1))
    return one(i);
return one(~0u);
}
}
, {"v_sad_u8 v8, v2, v4, v6",
   WANT{return one(uint32_t(
       sumOfAbsoluteDifferences(low(s.a), low(s.b), false) + low(s.c)));
}
}
, {"v_sad_u8 v8, v2, v4, v6 clamp",
   WANT{return one(
       cutU32(sumOfAbsoluteDifferences(low(s.a), low(s.b), false) + low(s.c)));
}
}
, {"v_sad_hi_u8 v8, v2, v4, v6",
   WANT{return one(uint32_t(
       (sumOfAbsoluteDifferences(low(s.a), low(s.b), false) << 16) + low(s.c)));
}
}
, {"v_sad_u16 v8, v2, v4, v6",
   WANT{return one(
       uint32_t(std::abs(int(u16(s.a)) - int(u16(s.b))) +
                std::abs(int(u16(s.a >> 16)) - int(u16(s.b >> 16)))) +
       low(s.c));
}
}
, {"v_sad_u32 v8, v2, v4, v6", WANT{Wide d = Wide(low(s.a)) - low(s.b);
return one(uint32_t((d < 0 ? -d : d) + low(s.c)));
}
}
, {"v_msad_u8 v8, v2, v4, v6",
   WANT{return one(
       uint32_t(sumOfAbsoluteDifferences(low(s.a), low(s.b), true) + low(s.c)));
}
}
, {"v_qsad_pk_u16_u8 v[8:9], v[2:3], v4, v[6:7]", WANT{uint64_t r = 0;
for (int i = 0; i < 4; ++i)
  r |= uint64_t(u16(uint64_t(
           sumOfAbsoluteDifferences(uint32_t(s.a >> (8 * i)), low(s.b), false) +
           u16(s.c >> (16 * i)))))
       << (16 * i);
return two(r);
}
}
, {"v_mqsad_pk_u16_u8 v[8:9], v[2:3], v4, v[6:7] clamp", WANT{uint64_t r = 0;
for (int i = 0; i < 4; ++i)
  r |= uint64_t(cutU16(
           sumOfAbsoluteDifferences(uint32_t(s.a >> (8 * i)), low(s.b), true) +
           u16(s.c >> (16 * i))))
       << (16 * i);
return two(r);
}
}
, {"v_mov_b32 v16, v6\nv_mov_b32 v17, v7\nv_mov_b32 v18, v6\n"
   "v_mov_b32 v19, v7\nv_mqsad_u32_u8 v[8:11], v[2:3], v4, v[16:19]",
   WANT{uint32_t r[4];
for (int i = 0; i < 4; ++i)
  r[i] = uint32_t(
      sumOfAbsoluteDifferences(uint32_t(s.a >> (8 * i)), low(s.b), true) +
      (i & 1 ? high(s.c) : low(s.c)));
return {r[0] | (uint64_t(r[1]) << 32), r[2] | (uint64_t(r[3]) << 32)};
}
}
, {"v_lerp_u8 v8, v2, v4, v6", WANT{uint32_t r = 0;
for (int i = 0; i < 4; ++i)
  r |= ((byteAt(s.a, i) + byteAt(s.b, i) + (byteAt(s.c, i) & 1)) / 2)
       << (8 * i);
return one(r);
}
}
, {"v_sat_pk_u8_i16 v8, v2", WANT{auto saturated = [](int16_t x) {
     return uint16_t(std::clamp<int>(x, 0, 255));
   };
return clears(u16(saturated(i16(s.a)) | (saturated(i16(s.a >> 16)) << 8)));
}
}
, {"v_cvt_pk_i16_i32 v8, v2, v4",
   WANT{return one(cutI16(int32_t(low(s.a))) |
                   (uint32_t(cutI16(int32_t(low(s.b)))) << 16));
}
}
, {"v_cvt_off_f32_i4 v8, v2", WANT{int x = int(low(s.a) & 15);
return one(bits(float(x >= 8 ? x - 16 : x) / 16));
}
}
, {"v_pack_b32_f16 v8, -v2, |v4| op_sel:[1,0,0]",
   WANT{return one((u16(s.a >> 16) ^ 0x8000u) |
                   (uint32_t(u16(s.b) & 0x7fff) << 16));
}
}
, {"v_lshlrev_b16 v8, v2, v4",
   WANT{return clears(u16(uint32_t(u16(s.b)) << (s.a & 15)));
}
}
, {"v_ashrrev_i16 v8, v2, v4", WANT{return clears(u16(i16(s.b) >> (s.a & 15)));
}
}
, {"v_pk_add_u16 v8, v2, v4 clamp",
   WANT{return one(
       cutU16(Wide(u16(s.a)) + u16(s.b)) |
       (uint32_t(cutU16(Wide(u16(s.a >> 16)) + u16(s.b >> 16))) << 16));
}
}
, {"v_pk_sub_i16 v8, v2, v4 clamp",
   WANT{return one(
       cutI16(Wide(i16(s.a)) - i16(s.b)) |
       (uint32_t(cutI16(Wide(i16(s.a >> 16)) - i16(s.b >> 16))) << 16));
}
}
, {"v_pk_mad_i16 v8, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[0,1,1]",
   WANT{return one(u16(uint64_t(Wide(i16(s.a >> 16)) * i16(s.b) + i16(s.c))) |
                   (uint32_t(u16(uint64_t(Wide(i16(s.a)) * i16(s.b >> 16) +
                                          i16(s.c >> 16))))
                    << 16));
}
}
, {"v_pk_max_i16 v8, v2, v4",
   WANT{return one(
       u16(std::max(i16(s.a), i16(s.b))) |
       (uint32_t(u16(std::max(i16(s.a >> 16), i16(s.b >> 16)))) << 16));
}
}
, {"v_pk_ashrrev_i16 v8, v2, v4",
   WANT{return one(u16(i16(s.b) >> (s.a & 15)) |
                   (uint32_t(u16(i16(s.b >> 16) >> ((s.a >> 16) & 15))) << 16));
}
}
, {"v_swap_b32 v2, v4\nv_mov_b32 v8, v2\nv_mov_b32 v9, v4\n"
   "v_swap_b32 v2, v4",
   WANT{return two(low(s.b) | (uint64_t(low(s.a)) << 32));
}
}
, {"v_cmp_class_f16 vcc, v2, v4\nv_cndmask_b32 v8, 0, 1, vcc",
   WANT{uint16_t x = u16(s.a);
bool negative = x >> 15;
unsigned exponent = (x >> 10) & 31, mantissa = x & 1023, k;
if (exponent == 31)
  k = mantissa ? (mantissa >> 9 ? 1 : 0) : negative ? 2 : 9;
else if (exponent)
  k = negative ? 3 : 8;
else if (mantissa)
  k = negative ? 4 : 7;
else
  k = negative ? 5 : 6;
return one((low(s.b) >> k) & 1);
}
}
,
});
}

TEST_P(CoverageTest, MoreVectorIntegers) {
  auto pair = [](uint16_t x, uint16_t y) {
    return one(x | (uint32_t(y) << 16));
  };
  check({
      {"v_not_b32 v8, v2", WANT { return one(~low(s.a));
}
}
, {"v_xor_b32 v8, v2, v4", WANT{return one(low(s.a) ^ low(s.b));
}
}
, {"v_lshrrev_b32 v8, v2, v4", WANT{return one(low(s.b) >> (s.a & 31));
}
}
, {"v_lshrrev_b16 v8, v2, v4", WANT{return clears(u16(u16(s.b) >> (s.a & 15)));
}
}
, {"v_mul_i32_i24 v8, v2, v4",
   WANT{return one(uint32_t(int64_t(i24(low(s.a))) * i24(low(s.b))));
}
}
, {"v_min_i16 v8, v2, v4",
   WANT{return clears(u16(std::min(i16(s.a), i16(s.b))));
}
}
, {"v_min_u16 v8, v2, v4", WANT{return clears(std::min(u16(s.a), u16(s.b)));
}
}
, {"v_max_u16 v8, v2, v4", WANT{return clears(std::max(u16(s.a), u16(s.b)));
}
}
, {"v_min_u32 v8, v2, v4", WANT{return one(std::min(low(s.a), low(s.b)));
}
}
, {"v_max_i32 v8, v2, v4",
   WANT{return one(std::max(int32_t(low(s.a)), int32_t(low(s.b))));
}
}
, {"v_min3_i32 v8, v2, v4, v6",
   WANT{return one(
       std::min({int32_t(low(s.a)), int32_t(low(s.b)), int32_t(low(s.c))}));
}
}
, {"v_max3_i32 v8, v2, v4, v6",
   WANT{return one(
       std::max({int32_t(low(s.a)), int32_t(low(s.b)), int32_t(low(s.c))}));
}
}
, {"v_min3_u32 v8, v2, v4, v6",
   WANT{return one(std::min({low(s.a), low(s.b), low(s.c)}));
}
}
, {"v_max3_u32 v8, v2, v4, v6",
   WANT{return one(std::max({low(s.a), low(s.b), low(s.c)}));
}
}
, {"v_med3_u32 v8, v2, v4, v6",
   WANT{uint32_t v[3] = {low(s.a), low(s.b), low(s.c)};
std::sort(v, v + 3);
return one(v[1]);
}
}
,
    {"v_pk_add_i16 v8, v2, v4 clamp",
     [=](const Sources &s) {
       return pair(cutI16(Wide(i16(s.a)) + i16(s.b)),
                   cutI16(Wide(i16(s.a >> 16)) + i16(s.b >> 16)));
     }},
    {"v_pk_sub_u16 v8, v2, v4 clamp",
     [=](const Sources &s) {
       return pair(cutU16(Wide(u16(s.a)) - u16(s.b)),
                   cutU16(Wide(u16(s.a >> 16)) - u16(s.b >> 16)));
     }},
    {"v_pk_mul_lo_u16 v8, v2, v4",
     [=](const Sources &s) {
       return pair(u16(uint64_t(u16(s.a)) * u16(s.b)),
                   u16(uint64_t(u16(s.a >> 16)) * u16(s.b >> 16)));
     }},
    {"v_pk_mad_u16 v8, v2, v4, v6 clamp",
     [=](const Sources &s) {
       return pair(
           cutU16(Wide(u16(s.a)) * u16(s.b) + u16(s.c)),
           cutU16(Wide(u16(s.a >> 16)) * u16(s.b >> 16) + u16(s.c >> 16)));
     }},
    {"v_pk_max_u16 v8, v2, v4",
     [=](const Sources &s) {
       return pair(std::max(u16(s.a), u16(s.b)),
                   std::max(u16(s.a >> 16), u16(s.b >> 16)));
     }},
    {"v_pk_min_u16 v8, v2, v4",
     [=](const Sources &s) {
       return pair(std::min(u16(s.a), u16(s.b)),
                   std::min(u16(s.a >> 16), u16(s.b >> 16)));
     }},
    {"v_pk_min_i16 v8, v2, v4",
     [=](const Sources &s) {
       return pair(u16(std::min(i16(s.a), i16(s.b))),
                   u16(std::min(i16(s.a >> 16), i16(s.b >> 16))));
     }},
    {"v_pk_lshrrev_b16 v8, v2, v4",
     [=](const Sources &s) {
       return pair(u16(u16(s.b) >> (s.a & 15)),
                   u16(u16(s.b >> 16) >> ((s.a >> 16) & 15)));
     }},
    {"v_accvgpr_write_b32 a4, v2\nv_accvgpr_mov_b32 a5, a4\n"
     "v_accvgpr_read_b32 v8, a5",
     WANT{return one(low(s.a));
}
}
,
    // Conversions that no format has.
    {"v_cvt_flr_i32_f32 v8, v2",
     WANT{double x = std::floor(double(asFloat(low(s.a))));
return one(
    std::isnan(x) ? 0 : uint32_t(int32_t(std::clamp(x, -0x1p31, 0x1p31 - 1))));
}
}
, {"v_cvt_rpi_i32_f32 v8, v2",
   WANT{double x = std::floor(double(asFloat(low(s.a))) + 0.5);
return one(
    std::isnan(x) ? 0 : uint32_t(int32_t(std::clamp(x, -0x1p31, 0x1p31 - 1))));
}
}
,
});
}

TEST_P(CoverageTest, NormalisingConversions) {
  auto normalised = [](double x, double scale, double least) {
    if (std::isnan(x))
      return uint16_t(0);
    return u16(
        uint64_t(int64_t(std::nearbyint(std::clamp(x, least, 1.0) * scale))));
  };
  auto byte = [](double x) {
    return std::isnan(x) ? 0u
                         : uint32_t(std::nearbyint(std::clamp(x, 0.0, 255.0)));
  };
  auto f = [](uint64_t x) { return double(asFloat(low(x))); };
  auto h = [](uint64_t x) { return halfValue(u16(x)); };
  auto truncated = [](double x) {
    // The largest half not beyond x, by search.
    uint16_t best = 0;
    double magnitude = std::fabs(x);
    if (std::isnan(x))
      return uint16_t(0x7e00);
    for (unsigned step = 0x4000; step; step >>= 1)
      if (best + step <= 0x7bff && halfValue(best + step) <= magnitude)
        best += step;
    if (std::isinf(x))
      best = 0x7c00;
    return uint16_t(best | (std::signbit(x) ? 0x8000 : 0));
  };
  std::vector<Sources> sources = assortedSources(640, 12);
  auto outcomes = runLines(
      target(),
      {"v_cvt_pknorm_i16_f32 v8, v2, -v4", "v_cvt_pknorm_u16_f32 v8, v2, v4",
       "v_cvt_pknorm_i16_f16 v8, v2, v4 op_sel:[1,0,0]",
       "v_cvt_pknorm_u16_f16 v8, v2, v4", "v_cvt_norm_i16_f16 v8, v2",
       "v_cvt_norm_u16_f16 v8, v2", "v_cvt_pk_u8_f32 v8, v2, v4, v6",
       "v_mov_b32 v8, v6\nv_cvt_pkaccum_u8_f32 v8, v2, v4",
       "v_cvt_pkrtz_f16_f32 v8, v2, -v4"},
      sources);
  ASSERT_EQ(outcomes.size(), 9u);
  for (size_t i = 0; i < sources.size(); ++i) {
    const Sources &s = sources[i];
    auto expect = [&](unsigned line, uint32_t want) {
      EXPECT_EQ(outcomes[line][i].low, word(want))
          << line << std::hex << " a " << s.a << " b " << s.b;
    };
    auto pair = [](uint16_t x, uint16_t y) { return x | (uint32_t(y) << 16); };
    expect(0,
           pair(normalised(f(s.a), 32767, -1), normalised(-f(s.b), 32767, -1)));
    expect(1, pair(normalised(f(s.a), 65535, 0), normalised(f(s.b), 65535, 0)));
    expect(2, pair(normalised(h(s.a >> 16), 32767, -1),
                   normalised(h(s.b), 32767, -1)));
    expect(3, pair(normalised(h(s.a), 65535, 0), normalised(h(s.b), 65535, 0)));
    expect(4, normalised(h(s.a), 32767, -1));
    expect(5, normalised(h(s.a), 65535, 0));
    unsigned shift = 8 * (s.b & 3);
    uint32_t inserted = (low(s.c) & ~(255u << shift)) | (byte(f(s.a)) << shift);
    expect(6, inserted);
    expect(7, inserted);
    uint32_t got = low(outcomes[8][i].low);
    uint16_t x = truncated(f(s.a)), y = truncated(-f(s.b));
    auto sameHalf = [](uint16_t p, uint16_t q) {
      return p == q || ((p & 0x7fff) > 0x7c00 && (q & 0x7fff) > 0x7c00);
    };
    EXPECT_TRUE(sameHalf(u16(got), x) && sameHalf(u16(got >> 16), y))
        << std::hex << got << " want " << x << " " << y;
  }
}

TEST_P(CoverageTest, CubeCoordinates) {
  // Against the face's own formula: s, t and twice the major axis.
  std::vector<Sources> sources = assortedSources(640, 13);
  auto outcomes =
      runLines(target(),
               {"v_cubeid_f32 v8, v2, v4, v6", "v_cubesc_f32 v8, v2, v4, v6",
                "v_cubetc_f32 v8, v2, v4, v6", "v_cubema_f32 v8, v2, v4, v6"},
               sources);
  ASSERT_EQ(outcomes.size(), 4u);
  for (size_t i = 0; i < sources.size(); ++i) {
    float v[3] = {asFloat(low(sources[i].a)), asFloat(low(sources[i].b)),
                  asFloat(low(sources[i].c))};
    if (std::isnan(v[0]) || std::isnan(v[1]) || std::isnan(v[2]))
      continue;
    int axis = 2;
    if (std::fabs(v[2]) < std::fabs(v[1]) || std::fabs(v[2]) < std::fabs(v[0]))
      axis = std::fabs(v[1]) >= std::fabs(v[0]) ? 1 : 0;
    bool negative = v[axis] < 0;
    float want[4] = {float(2 * axis + negative), 0, 0, 2 * v[axis]};
    want[1] = axis == 0   ? (negative ? v[2] : -v[2])
              : axis == 1 ? v[0]
                          : (negative ? -v[0] : v[0]);
    want[2] = axis == 1 ? (negative ? -v[2] : v[2]) : -v[1];
    for (int k = 0; k < 4; ++k)
      EXPECT_TRUE(same(asFloat(low(outcomes[k][i].low)), want[k]))
          << k << ": " << v[0] << " " << v[1] << " " << v[2];
  }
}

TEST_P(CoverageTest, MinimumAndMaximumOfHalves) {
  // IEEE mode: a signalling NaN gives a quiet one.
  auto signalling = [](uint16_t x) {
    return (x & 0x7fff) > 0x7c00 && !(x & 0x200);
  };
  auto extremum = [=](uint16_t x, uint16_t y, bool maximum) -> uint16_t {
    if (signalling(x) || signalling(y))
      return (signalling(x) ? x : y) | 0x200;
    double a = halfValue(x), b = halfValue(y);
    if (a != a)
      return y;
    if (b != b)
      return x;
    if (a == 0 && b == 0)
      return maximum ? x & y : x | y;
    return (a < b) == maximum ? y : x;
  };
  auto median = [=](uint16_t x, uint16_t y, uint16_t z) -> uint16_t {
    if (std::isnan(halfValue(x)) || std::isnan(halfValue(y)) ||
        std::isnan(halfValue(z)))
      return extremum(extremum(x, y, false), z, false);
    std::vector<uint16_t> v = {x, y, z};
    std::sort(v.begin(), v.end(), [](uint16_t p, uint16_t q) {
      double a = halfValue(p), b = halfValue(q);
      return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    });
    return v[1];
  };
  check({
      {"v_min_f16 v8, v2, v4",
       [=](const Sources &s) {
         return clears(extremum(u16(s.a), u16(s.b), false));
       }},
      {"v_max_f16 v8, v2, v4",
       [=](const Sources &s) {
         return clears(extremum(u16(s.a), u16(s.b), true));
       }},
      {"v_max3_f16 v8, v2, v4, v6 op_sel:[0,1,0,0]",
       [=](const Sources &s) {
         return keepsHigh(extremum(extremum(u16(s.a), u16(s.b >> 16), true),
                                   u16(s.c), true));
       }},
      {"v_min3_f16 v8, v2, v4, v6",
       [=](const Sources &s) {
         return keepsHigh(
             extremum(extremum(u16(s.a), u16(s.b), false), u16(s.c), false));
       }},
      {"v_med3_f16 v8, v2, v4, v6 op_sel:[0,0,0,1]",
       [=](const Sources &s) {
         return keepsLow(median(u16(s.a), u16(s.b), u16(s.c)));
       }},
      {"v_pk_max_f16 v8, v2, v4",
       [=](const Sources &s) {
         return one(
             extremum(u16(s.a), u16(s.b), true) |
             (uint32_t(extremum(u16(s.a >> 16), u16(s.b >> 16), true)) << 16));
       }},
      {"v_pk_min_f16 v8, v2, v4 neg_lo:[1,0] neg_hi:[0,1]",
       [=](const Sources &s) {
         return one(
             extremum(u16(s.a) ^ 0x8000, u16(s.b), false) |
             (uint32_t(extremum(u16(s.a >> 16), u16(s.b >> 16) ^ 0x8000, false))
              << 16));
       }},
  });
}

TEST_P(CoverageTest, InlineConstantsOfHalves) {
  auto sum = [](double x, double y) {
    _Float16 h = static_cast<_Float16>(x + y);
    uint16_t b;
    std::memcpy(&b, &h, 2);
    return b;
  };
  std::vector<Sources> sources = assortedSources(256, 6);
  auto outcomes = runLines(
      target(),
      {"v_add_f16 v8, 1.0, v4", "v_add_f16 v8, 0x4248, v4",
       "v_pk_add_f16 v8, v2, 0.5 op_sel_hi:[1,0]", "v_pk_add_f16 v8, v2, 0.5",
       "s_mov_b32 s40, 0x42483c00\n"
       "v_pk_add_f16 v8, v2, s40",
       "v_add_u16 v8, -1, v4", "v_pk_add_u16 v8, v2, -1 op_sel_hi:[1,0]"},
      sources);
  ASSERT_EQ(outcomes.size(), 7u);
  for (size_t i = 0; i < sources.size(); ++i) {
    uint32_t a = low(sources[i].a), b = low(sources[i].b);
    auto expect = [&](unsigned line, uint32_t want) {
      uint32_t got = low(outcomes[line][i].low);
      for (int h = 0; h < 32; h += 16)
        EXPECT_TRUE(u16(got >> h) == u16(want >> h) ||
                    (std::isnan(halfValue(u16(got >> h))) &&
                     std::isnan(halfValue(u16(want >> h)))))
            << line << std::hex << " a " << a << " b " << b << " got " << got
            << " want " << want;
    };
    auto pair = [](uint16_t x, uint16_t y) { return x | (uint32_t(y) << 16); };
    double x = halfValue(u16(a)), y = halfValue(u16(a >> 16)),
           z = halfValue(u16(b));
    expect(0, sum(1.0, z));
    expect(1, sum(halfValue(0x4248), z));
    expect(2, pair(sum(x, 0.5), sum(y, 0.5)));
    // A constant stands in the low half only.
    expect(3, pair(sum(x, 0.5), sum(y, 0.0)));
    expect(4, pair(sum(x, 1.0), sum(y, halfValue(0x4248))));
    EXPECT_EQ(low(outcomes[5][i].low), uint32_t(u16(b - 1)));
    EXPECT_EQ(low(outcomes[6][i].low), pair(u16(a - 1), u16((a >> 16) - 1)));
  }
}

TEST_P(CoverageTest, IntegerDotProducts) {
  auto dot = [](const Sources &s, unsigned width, bool isSigned, bool clamp) {
    Wide sum = isSigned ? Wide(int32_t(low(s.c))) : Wide(low(s.c));
    auto element = [&](uint32_t x, unsigned i) -> Wide {
      Wide v = (x >> (width * i)) & ((1u << width) - 1);
      return isSigned && v >= Wide(1) << (width - 1) ? v - (Wide(1) << width)
                                                     : v;
    };
    for (unsigned i = 0; i < 32 / width; ++i)
      sum += element(low(s.a), i) * element(low(s.b), i);
    if (clamp)
      return one(isSigned ? cutI32(sum) : cutU32(sum));
    return one(uint32_t(sum));
  };
  std::vector<Case> cases;
  for (auto [name, width, isSigned] :
       {std::tuple<std::string, unsigned, bool>{"v_dot2_i32_i16", 16, true},
        {"v_dot2_u32_u16", 16, false},
        {"v_dot4_i32_i8", 8, true},
        {"v_dot4_u32_u8", 8, false},
        {"v_dot8_i32_i4", 4, true},
        {"v_dot8_u32_u4", 4, false}})
    for (bool clamp : {false, true})
      cases.push_back(
          {name + " v8, v2, v4, v6" + (clamp ? " clamp" : ""),
           [=, width = width, isSigned = isSigned](const Sources &s) {
             return dot(s, width, isSigned, clamp);
           }});
  for (auto [name, width] :
       {std::pair<std::string, unsigned>{"v_dot2c_i32_i16", 16},
        {"v_dot4c_i32_i8", 8},
        {"v_dot8c_i32_i4", 4}})
    cases.push_back({"v_mov_b32 v8, v6\n" + name + " v8, v2, v4",
                     [=, width = width](const Sources &s) {
                       return dot(s, width, true, false);
                     }});
  check(cases);
}

TEST_P(CoverageTest, HalfDotProducts) {
  auto dot = [](const Sources &s) {
    float sum = asFloat(low(s.c));
    for (int i = 0; i < 2; ++i) {
      double product =
          halfValue(u16(s.a >> (16 * i))) * halfValue(u16(s.b >> (16 * i)));
      sum = float(sum + product); // the product is exact, the sum rounds once
    }
    return sum;
  };
  check({{"v_dot2_f32_f16 v8, v2, v4, v6",
          [=](const Sources &s) { return one(bits(dot(s))); }},
         {"v_dot2_f32_f16 v8, v2, v4, v6 neg_lo:[1,0,0] neg_hi:[1,0,0]",
          [=](const Sources &s) {
            Sources t = s;
            t.a ^= 0x80008000u;
            return one(bits(dot(t)));
          }},
         {"v_mov_b32 v8, v6\nv_dot2c_f32_f16 v8, v2, v4",
          [=](const Sources &s) { return one(bits(dot(s))); }}},
        /*floats=*/true);
}

//===----------------------------------------------------------------------===//
// 8-bit floating point
//===----------------------------------------------------------------------===//

/// The value of a code of fp8 (4 exponent bits, bias 8) or bf8 (5, 16).
double f8Value(uint8_t code, bool bf8) {
  if (code == 0x80)
    return std::nan("");
  int m = bf8 ? 2 : 3, bias = bf8 ? 16 : 8;
  int exponent = (code & 127) >> m, mantissa = code & ((1 << m) - 1);
  double x = exponent
                 ? std::ldexp(1 + mantissa * std::ldexp(1, -m), exponent - bias)
                 : std::ldexp(mantissa, 1 - bias - m);
  return code & 0x80 ? -x : x;
}

/// The nearest code by search; ties to the even one, overflow is NaN.
uint8_t nearestF8(float x, bool bf8) {
  if (std::isnan(x) || std::isinf(x))
    return 0x80;
  double magnitude = std::fabs(double(x));
  // The next step beyond the largest number, which would be even.
  double largest = f8Value(0x7f, bf8);
  double beyond = largest + (largest - f8Value(0x7e, bf8));
  int best = 0;
  for (int code = 1; code <= 0x80; ++code) {
    double value = code == 0x80 ? beyond : f8Value(uint8_t(code), bf8);
    double previous = f8Value(uint8_t(best), bf8);
    double here = std::fabs(value - magnitude),
           there = std::fabs(previous - magnitude);
    if (here < there || (here == there && code % 2 == 0))
      best = code;
  }
  if (best == 0x80)
    return 0x80;
  return best && std::signbit(x) ? uint8_t(best | 0x80) : uint8_t(best);
}

TEST(EightBitFloats, EveryCodeIsDecoded) {
  std::vector<Sources> sources;
  for (unsigned code = 0; code < 256; ++code)
    sources.push_back({uint64_t(code) | (uint64_t(255 - code) << 8) |
                           (uint64_t(code ^ 0x55) << 16) |
                           (uint64_t(code ^ 0xaa) << 24),
                       0, 0});
  for (bool bf8 : {false, true}) {
    std::string n = bf8 ? "bf8" : "fp8";
    auto outcomes =
        runLines("gfx942",
                 {"v_cvt_f32_" + n + " v8, v2",
                  "v_cvt_f32_" + n + "_sdwa v8, v2 src0_sel:BYTE_2",
                  "v_cvt_pk_f32_" + n + " v[8:9], v2",
                  "v_cvt_pk_f32_" + n + "_sdwa v[8:9], v2 src0_sel:WORD_1"},
                 sources);
    ASSERT_EQ(outcomes.size(), 4u);
    for (unsigned code = 0; code < 256; ++code) {
      uint64_t a = sources[code].a;
      auto expect = [&](uint32_t got, uint64_t byte) {
        float want = float(f8Value(uint8_t(byte), bf8));
        EXPECT_TRUE(same(asFloat(got), want))
            << n << " code " << (byte & 255) << ": " << asFloat(got)
            << " instead of " << want;
      };
      expect(low(outcomes[0][code].low), a);
      expect(low(outcomes[1][code].low), a >> 16);
      expect(low(outcomes[2][code].low), a);
      expect(high(outcomes[2][code].low), a >> 8);
      expect(low(outcomes[3][code].low), a >> 16);
      expect(high(outcomes[3][code].low), a >> 24);
    }
  }
}

TEST(EightBitFloats, NearestRounding) {
  for (bool bf8 : {false, true}) {
    // Every number that a code stands for, ties, and their neighbours.
    std::vector<float> values = {INFINITY, -INFINITY, NAN,  1e38f,
                                 1e-38f,   1e-45f,    -0.0f};
    for (unsigned code = 0; code < 127; ++code) {
      double x = f8Value(uint8_t(code), bf8),
             y = f8Value(uint8_t(code + 1), bf8);
      for (double v : {x, (x + y) / 2, y})
        for (float sign : {1.0f, -1.0f})
          for (float f : {float(v), std::nextafter(float(v), 0.0f),
                          std::nextafter(float(v), INFINITY)})
            values.push_back(sign * f);
    }
    double largest = f8Value(0x7f, bf8);
    for (double factor : {1.01, 1.03, 1.05, 1.07, 1.1, 2.0})
      values.push_back(float(largest * factor));
    std::vector<Sources> sources;
    for (size_t i = 0; i < values.size(); ++i)
      sources.push_back(
          {bits(values[i]), bits(values[(i * 7 + 3) % values.size()]), 0});
    std::string n = bf8 ? "bf8" : "fp8";
    auto outcomes =
        runLines("gfx942",
                 {"v_cvt_pk_" + n + "_f32 v8, v2, v4",
                  "v_cvt_pk_" + n + "_f32 v8, v2, -v4 op_sel:[0,0,1]"},
                 sources);
    ASSERT_EQ(outcomes.size(), 2u);
    for (size_t i = 0; i < values.size(); ++i) {
      float a = asFloat(low(sources[i].a)), b = asFloat(low(sources[i].b));
      uint16_t want = u16(nearestF8(a, bf8) | (nearestF8(b, bf8) << 8));
      EXPECT_EQ(outcomes[0][i].low, keepsHigh(want).low)
          << n << " of " << a << " and " << b;
      want = u16(nearestF8(a, bf8) | (nearestF8(-b, bf8) << 8));
      EXPECT_EQ(outcomes[1][i].low, keepsLow(want).low)
          << n << " of " << a << " and " << -b;
    }
  }
}

// FP16_OVFL: what is finite and too large becomes the largest number, in all
// rounding modes; infinities stay.
TEST_P(CoverageTest, OverflowOfHalvesSaturates) {
  std::string on = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n",
              off = "\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0";
  auto line = [&](const std::string &text) { return on + text + off; };
  std::vector<std::string> lines = {
      line("v_cvt_f16_f32 v8, v2"),   line("v_cvt_f16_f32 v8, -v2"),
      line("v_mul_f16 v8, v4, v4"),   line("v_pk_mul_f16 v8, v4, v4"),
      line("v_add_f16 v8, v4, v4"),   line("v_fma_f16 v8, v4, -v4, v4"),
      line("v_ldexp_f16 v8, v4, v6"), line("v_exp_f16 v8, v4"),
      "v_cvt_f16_f32 v8, v2",         "v_mul_f16 v8, v4, v4",
      "v_ldexp_f16 v8, v4, v6",       "v_exp_f16 v8, v4"};
  // In f32, in f16 (twice), and 300 as an exponent.
  std::vector<Sources> sources = {
      {bits(1e6f), 0x78007800, 300},     // 32768
      {bits(65519.0f), 0x3c003c00, 300}, // 1; the largest that is not too large
      {bits(65520.0f), 0x78007800, 300},
      {bits(INFINITY), 0x7c007c00, 300},
      {bits(NAN), 0x7e007e00, 300}};
  for (unsigned mode : {0xf0u, 0xf4u, 0xfcu}) {
    auto got = runLines(target(), lines, sources, ~uint64_t(0), mode);
    ASSERT_EQ(got.size(), lines.size());
    auto half = [&](size_t l, size_t s) { return got[l][s].low & 0xffff; };
    bool nearest = mode == 0xf0, up = mode == 0xf4;
    for (size_t s : {0, 2}) {
      EXPECT_EQ(half(0, s), 0x7bffu);
      EXPECT_EQ(half(1, s), 0xfbffu);
      EXPECT_EQ(half(2, s), 0x7bffu);
      EXPECT_EQ(got[3][s].low & 0xffffffff, 0x7bff7bffu);
      EXPECT_EQ(half(4, s), 0x7bffu);
      EXPECT_EQ(half(5, s), 0xfbffu);
      EXPECT_EQ(half(6, s), 0x7bffu);
      EXPECT_EQ(half(7, s), 0x7bffu);
      // Without it.
      uint64_t over = nearest || up ? 0x7c00u : 0x7bffu;
      EXPECT_EQ(half(8, s), over);
      EXPECT_EQ(half(9, s), over);
      EXPECT_EQ(half(10, s), over);
      EXPECT_EQ(half(11, s), 0x7c00u); // rounds to nearest in any mode
    }
    EXPECT_EQ(half(0, 1), 0x7bffu);
    EXPECT_EQ(half(2, 1), 0x3c00u);
    for (size_t l : {0, 2, 4, 6, 7, 8, 9, 10, 11})
      EXPECT_EQ(half(l, 3), 0x7c00u) << lines[l];
    for (size_t l = 0; l < lines.size(); ++l)
      EXPECT_GT(half(l, 4) & 0x7fff, 0x7c00u) << lines[l];
  }
}

TEST(EightBitFloats, OverflowSaturatesWithFP16_OVFL) {
  std::string on = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n",
              off = "\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0";
  auto got = runLines("gfx942",
                      {on + "v_cvt_pk_fp8_f32 v8, v2, -v2" + off,
                       on + "v_cvt_pk_bf8_f32 v8, v2, -v2" + off,
                       on + "v_cvt_sr_fp8_f32 v8, v2, v4" + off,
                       "v_cvt_pk_fp8_f32 v8, v2, -v2"},
                      {{bits(300.0f), 0, 0},
                       {bits(1e30f), 0, 0},
                       {bits(240.0f), 0, 0},
                       {bits(INFINITY), 0, 0},
                       {bits(NAN), 0, 0}});
  ASSERT_EQ(got.size(), 4u);
  auto pair = [&](size_t l, size_t s) { return got[l][s].low & 0xffff; };
  EXPECT_EQ(pair(0, 0), 0xff7fu);
  EXPECT_EQ(pair(0, 1), 0xff7fu);
  EXPECT_EQ(pair(0, 2), 0xff7fu);
  EXPECT_EQ(pair(0, 3), 0x8080u);
  EXPECT_EQ(pair(0, 4), 0x8080u);
  EXPECT_EQ(pair(1, 1), 0xff7fu);
  EXPECT_EQ(pair(1, 3), 0x8080u);
  EXPECT_EQ(pair(2, 0) & 0xff, 0x7fu);
  EXPECT_EQ(pair(2, 3) & 0xff, 0x80u);
  EXPECT_EQ(pair(3, 0), 0x8080u);
  EXPECT_EQ(pair(3, 2), 0xff7fu);
}

TEST(EightBitFloats, StochasticRounding) {
  // Zero bits truncate, all ones round up unless the value is exact; in
  // between the share of roundings up is the distance from below.
  for (bool bf8 : {false, true}) {
    std::vector<Sources> sources;
    std::mt19937_64 random(5);
    for (unsigned code = 1; code < 120; ++code)
      for (double part : {0.0, 0.25, 0.5, 0.9}) {
        double x = f8Value(uint8_t(code), bf8),
               y = f8Value(uint8_t(code + 1), bf8);
        sources.push_back(
            {bits(float(x + part * (y - x))), random(), uint64_t(code)});
      }
    std::string n = bf8 ? "bf8" : "fp8";
    auto outcomes =
        runLines("gfx942",
                 {"v_mov_b32 v16, 0\nv_cvt_sr_" + n + "_f32 v8, v2, v16",
                  "v_mov_b32 v16, -1\nv_cvt_sr_" + n +
                      "_f32 v8, v2, v16 op_sel:[0,0,1,0]",
                  "v_cvt_sr_" + n + "_f32 v8, -v2, v4 op_sel:[0,0,1,1]",
                  "v_cvt_sr_" + n + "_f32 v8, v2, v4 op_sel:[0,0,0,1]"},
                 sources);
    ASSERT_EQ(outcomes.size(), 4u);
    for (size_t i = 0; i < sources.size(); ++i) {
      unsigned code = unsigned(sources[i].c);
      bool exact = i % 4 == 0;
      auto insert = [](unsigned byte, uint32_t value) {
        return word((uint32_t(untouched) & ~(0xffu << (8 * byte))) |
                    (value << (8 * byte)));
      };
      EXPECT_EQ(outcomes[0][i].low, insert(0, code));
      EXPECT_EQ(outcomes[1][i].low, insert(1, exact ? code : code + 1));
      double fraction = double(low(sources[i].b)) * 0x1p-32;
      double part[] = {0.0, 0.25, 0.5, 0.9};
      // Close to the limit the low bits of the random number decide.
      if (std::fabs(fraction - (1 - part[i % 4])) < 1e-4)
        continue;
      unsigned rounded = fraction > 1 - part[i % 4] ? code + 1 : code;
      EXPECT_EQ(outcomes[2][i].low, insert(3, rounded | 0x80)) << n << code;
      EXPECT_EQ(outcomes[3][i].low, insert(2, rounded)) << n << code;
    }
  }
}

//===----------------------------------------------------------------------===//
// Other forms of the vector ALU
//===----------------------------------------------------------------------===//

TEST_P(CoverageTest, SineAndCosineOfHalves) {
  std::vector<Sources> sources;
  for (unsigned h = 0; h < 65536; h += 37)
    sources.push_back({h, 0, 0});
  auto outcomes = runLines(
      target(), {"v_sin_f16 v8, v2", "v_cos_f16 v8, v2", "v_fract_f16 v8, v2"},
      sources);
  ASSERT_EQ(outcomes.size(), 3u);
  for (size_t i = 0; i < sources.size(); ++i) {
    double x = halfValue(u16(sources[i].a));
    double s = halfValue(u16(outcomes[0][i].low)),
           c = halfValue(u16(outcomes[1][i].low)),
           f = halfValue(u16(outcomes[2][i].low));
    EXPECT_EQ(outcomes[0][i].low >> 16, untouched >> 32 << 16);
    if (!(std::fabs(x) <= 65504)) {
      EXPECT_TRUE(std::isnan(s) && std::isnan(c));
      continue;
    }
    if (std::fabs(x) <= 256) {
      long double angle = 2 * M_PIl * (x - std::nearbyint(x));
      EXPECT_NEAR(s, double(std::sin(angle)), 0x1p-11) << x;
      EXPECT_NEAR(c, double(std::cos(angle)), 0x1p-11) << x;
    }
    EXPECT_GE(f, 0.0) << x;
    EXPECT_LT(f, 1.0) << x;
    EXPECT_NEAR(f, x - std::floor(x), 0x1p-11) << x;
  }
}

TEST_P(CoverageTest, ClampAndOutputModifiers) {
  std::vector<Sources> sources = assortedSources(256, 3);
  // omod acts only where denormals are flushed and IEEE mode is off.
  std::string off = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0\n";
  std::string on = "\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 1";
  std::vector<std::string> lines = {
      off + "v_mul_f32_e64 v8, v2, v4 mul:4" + on,
      "v_mul_f32_e64 v8, v2, v4 mul:4",
      off + "v_add_f64 v[8:9], v[2:3], v[4:5] div:2" + on,
      "v_add_f64 v[8:9], v[2:3], v[4:5] clamp"};
  auto flushed = runLines(target(), lines, sources, ~uint64_t(0), 0x00);
  auto kept = runLines(target(), lines, sources, ~uint64_t(0), 0xf0);
  ASSERT_EQ(flushed.size(), lines.size());
  ASSERT_EQ(kept.size(), lines.size());
  auto flush = [](float x) {
    return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
  };
  auto flush64 = [](double x) {
    return std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x;
  };
  auto clamp = [](double x) { return x > 0 ? (x < 1 ? x : 1.0) : 0.0; };
  for (size_t i = 0; i < sources.size(); ++i) {
    float a = asFloat(low(sources[i].a)), b = asFloat(low(sources[i].b));
    float product = flush(flush(a) * flush(b));
    EXPECT_TRUE(same(asFloat(low(flushed[0][i].low)), product * 4 + 0.0f));
    EXPECT_TRUE(same(asFloat(low(flushed[1][i].low)), product));
    EXPECT_TRUE(same(asFloat(low(kept[0][i].low)), a * b));
    double x = asDouble(sources[i].a), y = asDouble(sources[i].b);
    EXPECT_TRUE(same(asDouble(flushed[2][i].low),
                     flush64(flush64(x) + flush64(y)) * 0.5 + 0.0));
    EXPECT_TRUE(same(asDouble(kept[2][i].low), x + y));
    EXPECT_TRUE(same(asDouble(kept[3][i].low), clamp(x + y)));
  }
}

/// Every selector of SDWA, alone and with sign extension.
TEST_P(CoverageTest, SubDwordAddressing) {
  const char *selectors[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                             "WORD_0", "WORD_1", "DWORD"};
  const char *unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  auto select = [](uint32_t x, int selector, bool sext) -> uint32_t {
    if (selector == 6)
      return x;
    int width = selector < 4 ? 8 : 16,
        first = selector < 4 ? 8 * selector : 16 * (selector - 4);
    uint32_t field = (x >> first) & ((1u << width) - 1);
    if (sext && (field >> (width - 1)))
      field |= ~0u << width;
    return field;
  };
  auto insert = [](uint32_t old, uint32_t x, int selector,
                   int mode) -> uint32_t {
    if (selector == 6)
      return x;
    int width = selector < 4 ? 8 : 16,
        first = selector < 4 ? 8 * selector : 16 * (selector - 4);
    uint32_t mask = ((1u << width) - 1) << first;
    uint32_t field = (x << first) & mask;
    if (mode == 2)
      return (old & ~mask) | field;
    bool negative = (x >> (width - 1)) & 1;
    if (mode == 1 && negative && first + width < 32)
      field |= ~0u << (first + width);
    return field;
  };
  std::vector<Case> cases;
  for (int to = 0; to < 7; ++to)
    for (int mode = 0; mode < 3; ++mode)
      for (int from = 0; from < 7; ++from)
        for (bool sext : {false, true}) {
          int other = (from + to) % 7;
          std::string a = sext ? "sext(v2)" : "v2";
          cases.push_back(
              {"v_sub_u32_sdwa v8, " + a + ", v4 dst_sel:" + selectors[to] +
                   " dst_unused:" + unused[mode] + " src0_sel:" +
                   selectors[from] + " src1_sel:" + selectors[other],
               [=](const Sources &s) {
                 uint32_t x = select(low(s.a), from, sext) -
                              select(low(s.b), other, false);
                 return one(insert(uint32_t(untouched), x, to, mode));
               }});
        }
  cases.push_back({"v_cmp_lt_i32_sdwa s[44:45], sext(v2), sext(v4) "
                   "src0_sel:WORD_1 src1_sel:BYTE_2\n"
                   "v_cndmask_b32 v8, 0, 1, s[44:45]",
                   WANT {
                     return one(i16(s.a >> 16) < int8_t(s.b >> 16));
}
});
  cases.push_back({"s_mov_b64 vcc, s[36:37]\n"
                   "v_addc_co_u32_sdwa v8, vcc, v2, v4, vcc dst_sel:DWORD "
                   "dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:BYTE_1\n"
                   "v_cndmask_b32 v9, 2, 3, vcc",
                   WANT {
                     return two(uint64_t(u16(s.a) + byteAt(s.b, 1) + 1) |
                                (uint64_t(2) << 32));
  }
  });
  check(cases);
  }

  TEST_P(CoverageTest, LanesAndPermutes) {
    std::vector<Sources> sources = assortedSources(64, 8);
    for (uint64_t exec : {~uint64_t(0), uint64_t(0x8d3e00ff10f7a5c1)}) {
      auto outcomes = runLines(
          target(),
          {"s_mov_b32 s44, 0x85\nv_readlane_b32 s45, v2, s44\n"
           "v_mov_b32 v8, s45",
           "s_mov_b32 s44, 77\nv_writelane_b32 v8, s44, 9",
           "v_readfirstlane_b32 s45, v2\nv_mov_b32 v8, s45",
           "v_lshlrev_b32 v16, 2, v4\nds_bpermute_b32 v8, v16, v2 offset:8",
           "v_lshlrev_b32 v16, 2, v4\nds_permute_b32 v8, v16, v2",
           "v_mbcnt_lo_u32_b32 v8, v2, v4\nv_mbcnt_hi_u32_b32 v8, v3, v8"},
          sources, exec, 0xf0, 256);
      ASSERT_EQ(outcomes.size(), 6u);
      auto on = [&](unsigned l) { return (exec >> (l & 63)) & 1; };
      uint32_t permuted[64] = {};
      for (unsigned l = 0; l < 64; ++l)
        if (on(l))
          permuted[low(sources[l].b) & 63] = low(sources[l].a);
      unsigned first = 0;
      while (!on(first))
        ++first;
      for (unsigned l = 0; l < 64; ++l) {
        auto expect = [&](unsigned line, uint32_t want) {
          EXPECT_EQ(low(outcomes[line][l].low), on(l) ? want : low(untouched))
              << line << " lane " << l;
        };
        expect(0, low(sources[5].a)); // the lane modulo 64
        EXPECT_EQ(low(outcomes[1][l].low), l == 9 ? 77u : low(untouched));
        expect(2, low(sources[first].a));
        unsigned from = (low(sources[l].b) + 2) & 63;
        expect(3, on(from) ? low(sources[from].a) : 0);
        expect(4, permuted[l]);
        uint32_t count = low(sources[l].b);
        for (unsigned i = 0; i < l; ++i)
          count += (sources[l].a >> i) & 1;
        expect(5, count);
      }
    }
  }

  /// The lane that a lane reads under each DPP control, -1 for none.
  TEST_P(CoverageTest, DataParallelPrimitives) {
    struct Control {
      std::string text;
      std::function<int(int)> from;
    };
    auto inRow = [](int l, int k) {
      return k < 0 || k > 15 ? -1 : (l & 48) | k;
    };
    std::vector<Control> controls = {
        {"quad_perm:[3,0,0,2]",
         [](int l) {
           int p[4] = {3, 0, 0, 2};
           return (l & ~3) | p[l & 3];
         }},
        {"row_shl:3", [=](int l) { return inRow(l, (l & 15) + 3); }},
        {"row_shr:5", [=](int l) { return inRow(l, (l & 15) - 5); }},
        {"row_ror:7", [](int l) { return (l & 48) | (((l & 15) - 7) & 15); }},
        {"row_mirror", [](int l) { return (l & 48) | (15 - (l & 15)); }},
        {"row_half_mirror", [](int l) { return (l & 56) | (7 - (l & 7)); }},
        {"wave_shl:1", [](int l) { return l == 63 ? -1 : l + 1; }},
        {"wave_rol:1", [](int l) { return (l + 1) & 63; }},
        {"wave_shr:1", [](int l) { return l - 1; }},
        {"wave_ror:1", [](int l) { return (l - 1) & 63; }},
        {"row_bcast:15", [](int l) { return l < 16 ? -1 : (l & 48) - 1; }},
        {"row_bcast:31", [](int l) { return l < 32 ? -1 : 31; }},
        {"row_newbcast:6", [](int l) { return (l & 48) | 6; }},
    };
    std::vector<std::string> lines;
    for (const Control &c : controls) {
      lines.push_back("v_mov_b32_dpp v8, v2 " + c.text +
                      " row_mask:0xb bank_mask:0xd");
      lines.push_back("v_mov_b32_dpp v8, v2 " + c.text +
                      " row_mask:0xf bank_mask:0xf bound_ctrl:0");
      lines.push_back("v_add_f32_dpp v8, -v2, |v4| " + c.text +
                      " row_mask:0xf bank_mask:0xf");
      lines.push_back("v_mov_b32 v8, v6\nv_fmac_f32_dpp v8, v2, v4 " + c.text +
                      " row_mask:0xf bank_mask:0xf");
    }
    std::vector<Sources> sources = assortedSources(64, 9);
    for (uint64_t exec : {~uint64_t(0), uint64_t(0x8d3e00ff10f7a5c1)}) {
      auto outcomes = runLines(target(), lines, sources, exec);
      ASSERT_EQ(outcomes.size(), lines.size());
      for (size_t k = 0; k < lines.size(); ++k)
        for (int l = 0; l < 64; ++l) {
          int from = controls[k / 4].from(l);
          if (from >= 0 && !((exec >> from) & 1))
            from = -1;
          bool on = (exec >> l) & 1;
          const Sources &s = sources[l];
          uint32_t got = low(outcomes[k][l].low);
          uint32_t old = k % 4 == 3 && on ? low(s.c) : uint32_t(untouched);
          bool masked =
              k % 4 == 0 && (l / 16 == 2 || l % 16 / 4 == 1); // masks 0xb, 0xd
          uint32_t a = from >= 0 ? low(sources[from].a) : 0;
          bool isFloat = k % 4 >= 2;
          uint32_t want = old;
          if (on && !masked && (from >= 0 || k % 4 == 1)) {
            float b = asFloat(low(s.b));
            want = k % 4 == 2 ? bits(-asFloat(a) + std::fabs(b))
                   : k % 4 == 3
                       ? bits(std::fma(asFloat(a), b, asFloat(low(s.c))))
                       : a;
          }
          EXPECT_TRUE(got == want ||
                      (isFloat && same(asFloat(got), asFloat(want))))
              << lines[k] << " lane " << l << std::hex << " got " << got
              << " want " << want;
        }
    }
  }

  //===----------------------------------------------------------------------===//
  // Comparisons
  //===----------------------------------------------------------------------===//

  TEST_P(CoverageTest, Comparisons) {
    // A relation is one of less, equal, greater, unordered; a comparison is the
    // set of relations for which it holds.
    enum : unsigned { less = 1, equal = 2, greater = 4, unordered = 8 };
    struct Name {
      const char *name;
      unsigned holds;
    };
    const Name floats[] = {
        {"f", 0},
        {"lt", less},
        {"eq", equal},
        {"le", less | equal},
        {"gt", greater},
        {"lg", less | greater},
        {"ge", greater | equal},
        {"o", less | equal | greater},
        {"u", unordered},
        {"nge", less | unordered},
        {"nlg", equal | unordered},
        {"ngt", less | equal | unordered},
        {"nle", greater | unordered},
        {"neq", less | greater | unordered},
        {"nlt", greater | equal | unordered},
        {"tru", 15},
    };
    const Name integers[] = {{"f", 0},
                             {"lt", less},
                             {"eq", equal},
                             {"le", less | equal},
                             {"gt", greater},
                             {"ne", less | greater},
                             {"ge", greater | equal},
                             {"t", 15}};
    auto relate = [](auto a, auto b) -> unsigned {
      return a < b ? less : a == b ? equal : a > b ? greater : unordered;
    };
    struct Type {
      std::string name;
      bool wide, isFloat;
      std::function<unsigned(const Sources &)> relation;
    };
    std::vector<Type> types = {
        {"f16", false, true,
         [=](const Sources &s) {
           return relate(halfValue(u16(s.a)), halfValue(u16(s.b)));
         }},
        {"f32", false, true,
         [=](const Sources &s) {
           return relate(asFloat(low(s.a)), asFloat(low(s.b)));
         }},
        {"f64", true, true,
         [=](const Sources &s) {
           return relate(asDouble(s.a), asDouble(s.b));
         }},
        {"i16", false, false,
         [=](const Sources &s) { return relate(i16(s.a), i16(s.b)); }},
        {"u16", false, false,
         [=](const Sources &s) { return relate(u16(s.a), u16(s.b)); }},
        {"i32", false, false,
         [=](const Sources &s) {
           return relate(int32_t(low(s.a)), int32_t(low(s.b)));
         }},
        {"u32", false, false,
         [=](const Sources &s) { return relate(low(s.a), low(s.b)); }},
        {"i64", true, false,
         [=](const Sources &s) { return relate(int64_t(s.a), int64_t(s.b)); }},
        {"u64", true, false,
         [=](const Sources &s) { return relate(s.a, s.b); }},
    };
    std::vector<Case> cases;
    for (const Type &type : types) {
      auto add = [&](const Name &n) {
        std::string operands = type.wide ? "v[2:3], v[4:5]" : "v2, v4";
        auto holds = [relation = type.relation,
                      mask = n.holds](const Sources &s) {
          return (relation(s) & mask) != 0;
        };
        cases.push_back({"s_mov_b64 s[44:45], -1\nv_cmp_" +
                             std::string(n.name) + "_" + type.name +
                             " s[44:45], " + operands +
                             "\nv_cndmask_b32 v8, 0, 1, s[44:45]",
                         [=](const Sources &s) { return one(holds(s)); }});
        // v_cmpx also becomes EXEC: what follows sees only lanes that hold.
        cases.push_back(
            {"v_mov_b32 v8, 5\nv_cmpx_" + std::string(n.name) + "_" +
                 type.name + " vcc, " + operands + "\nv_mov_b32 v8, 7",
             [=](const Sources &s) { return one(holds(s) ? 7 : 5); }});
      };
      if (type.isFloat)
        for (const Name &n : floats)
          add(n);
      else
        for (const Name &n : integers)
          add(n);
    }
    check(cases);
  }

  //===----------------------------------------------------------------------===//
  // Scalar arithmetic
  //===----------------------------------------------------------------------===//

  struct ScalarCase {
    /// Reads s[40:41] and s[42:43], SCC is 1 before; writes s[44:45].
    std::string assembly;
    /// The result and SCC of a and b.
    std::function<std::pair<uint64_t, bool>(uint64_t, uint64_t)> expected;
  };

  TEST_P(CoverageTest, ScalarArithmetic) {
    using Result = std::pair<uint64_t, bool>;
#define SCALAR [=](uint64_t a, uint64_t b)->Result
#define BOTH (void)a, (void)b
    auto nonZero = [](uint64_t x) { return Result{x, x != 0}; };
    std::vector<ScalarCase> cases = {{"s_quadmask_b32 s44, s40", SCALAR{BOTH;
    uint32_t r = 0;
    for (int i = 0; i < 8; ++i)
      if ((low(a) >> (4 * i)) & 15)
        r |= 1u << i;
    return nonZero(r);
  }
  }
  , {"s_quadmask_b64 s[44:45], s[40:41]", SCALAR{BOTH;
  uint64_t r = 0;
  for (int i = 0; i < 16; ++i)
    if ((a >> (4 * i)) & 15)
      r |= 1u << i;
  return nonZero(r);
  }
  }
  , {"s_wqm_b64 s[44:45], s[40:41]", SCALAR{BOTH;
  uint64_t r = 0;
  for (int i = 0; i < 64; ++i)
    if ((a >> (i & ~3)) & 15)
      r |= uint64_t(1) << i;
  return nonZero(r);
  }
  }
  , {"s_bitreplicate_b64_b32 s[44:45], s40", SCALAR{BOTH;
  uint64_t r = 0;
  for (int i = 0; i < 64; ++i)
    r |= uint64_t((low(a) >> (i / 2)) & 1) << i;
  return {r, true};
  }
  }
  , {"s_bfm_b64 s[44:45], s40, s42", SCALAR{uint64_t r = 0;
  for (unsigned i = 0; i < (a & 63); ++i)
    if ((b & 63) + i < 64)
      r |= uint64_t(1) << ((b & 63) + i);
  return {r, true};
  }
  }
  , {"s_ff0_i32_b32 s44, s40", SCALAR{BOTH;
  for (unsigned i = 0; i < 32; ++i)
    if (!((a >> i) & 1))
      return {i, true};
  return {~0u, true};
  }
  }
  , {"s_ff0_i32_b64 s44, s[40:41]", SCALAR{BOTH;
  for (unsigned i = 0; i < 64; ++i)
    if (!((a >> i) & 1))
      return {i, true};
  return {~0u, true};
  }
  }
  , {"s_ff1_i32_b32 s44, s40", SCALAR{BOTH;
  for (unsigned i = 0; i < 32; ++i)
    if ((a >> i) & 1)
      return {i, true};
  return {~0u, true};
  }
  }
  , {"s_flbit_i32_b64 s44, s[40:41]", SCALAR{BOTH;
  for (unsigned i = 0; i < 64; ++i)
    if ((a >> (63 - i)) & 1)
      return {i, true};
  return {~0u, true};
  }
  }
  , {"s_flbit_i32_i64 s44, s[40:41]", SCALAR{BOTH;
  for (unsigned i = 1; i < 64; ++i)
    if (((a >> (63 - i)) & 1) != a >> 63)
      return {i, true};
  return {~0u, true};
  }
  }
  , {"s_bcnt0_i32_b32 s44, s40", SCALAR{BOTH;
  uint32_t n = 0;
  for (int i = 0; i < 32; ++i)
    n += !((a >> i) & 1);
  return nonZero(n);
  }
  }
  , {"s_bcnt0_i32_b64 s44, s[40:41]", SCALAR{BOTH;
  uint32_t n = 0;
  for (int i = 0; i < 64; ++i)
    n += !((a >> i) & 1);
  return nonZero(n);
  }
  }
  , {"s_brev_b32 s44, s40", SCALAR{BOTH;
  uint32_t r = 0;
  for (int i = 0; i < 32; ++i)
    r |= uint32_t((a >> i) & 1) << (31 - i);
  return {r, true};
  }
  }
  , {"s_absdiff_i32 s44, s40, s42",
     SCALAR{Wide d = Wide(int32_t(low(a))) - int32_t(low(b));
  // The difference wraps before its absolute value is taken.
  int32_t wrapped = int32_t(uint32_t(d));
  uint32_t r = wrapped < 0 ? 0u - uint32_t(wrapped) : uint32_t(wrapped);
  return nonZero(r);
  }
  }
  , {"s_nand_b32 s44, s40, s42", SCALAR{return nonZero(low(~(a & b)));
  }
  }
  , {"s_nand_b64 s[44:45], s[40:41], s[42:43]", SCALAR{return nonZero(~(a & b));
  }
  }
  , {"s_nor_b32 s44, s40, s42", SCALAR{return nonZero(low(~(a | b)));
  }
  }
  , {"s_nor_b64 s[44:45], s[40:41], s[42:43]", SCALAR{return nonZero(~(a | b));
  }
  }
  , {"s_or_b64 s[44:45], s[40:41], s[42:43]", SCALAR{return nonZero(a | b);
  }
  }
  , {"s_xnor_b64 s[44:45], s[40:41], s[42:43]", SCALAR{return nonZero(~(a ^ b));
  }
  }
  , {"s_orn2_b32 s44, s40, s42", SCALAR{return nonZero(low(a | ~b));
  }
  }
  , {"s_andn2_b32 s44, s40, s42", SCALAR{return nonZero(low(a & ~b));
  }
  }
  , {"s_lshr_b32 s44, s40, s42", SCALAR{return nonZero(low(a) >> (b & 31));
  }
  }
  , {"s_ashr_i32 s44, s40, s42",
     SCALAR{return nonZero(uint32_t(int32_t(low(a)) >> (b & 31)));
  }
  }
  , {"s_bfe_u32 s44, s40, s42", SCALAR{uint32_t r = 0;
  for (unsigned i = 0; i < ((b >> 16) & 127); ++i)
    if ((b & 31) + i < 32)
      r |= ((low(a) >> ((b & 31) + i)) & 1) << i;
  return nonZero(r);
  }
  }
  , {"s_pack_ll_b32_b16 s44, s40, s42",
     SCALAR{return {u16(a) | (uint32_t(u16(b)) << 16), true};
  }
  }
  , {"s_pack_hh_b32_b16 s44, s40, s42",
     SCALAR{return {u16(a >> 16) | (uint32_t(u16(b >> 16)) << 16), true};
  }
  }
  , {"s_sext_i32_i16 s44, s40", SCALAR{BOTH;
  return {uint32_t(int32_t(i16(a))), true};
  }
  }
  , {"s_cmov_b64 s[44:45], s[42:43]", SCALAR{BOTH;
  return {b, true};
  }
  }
  , {"s_cmp_lg_u32 s40, s40\ns_mov_b64 s[44:45], s[40:41]\n"
     "s_cmov_b64 s[44:45], s[42:43]",
     SCALAR{BOTH;
  return {a, false};
  }
  }
  , {"s_mov_b32 s44, s40\ns_cmovk_i32 s44, 0x8001", SCALAR{BOTH;
  return {uint32_t(-32767), true};
  }
  }
  , {"s_lshl1_add_u32 s44, s40, s42",
     SCALAR{uint64_t r = (uint64_t(low(a)) << 1) + low(b);
  return {low(r), r >> 32 != 0};
  }
  }
  , {"s_lshl4_add_u32 s44, s40, s42",
     SCALAR{uint64_t r = (uint64_t(low(a)) << 4) + low(b);
  return {low(r), r >> 32 != 0};
  }
  }
  , {"s_mov_b64 s[44:45], s[40:41]\ns_bitset0_b64 s[44:45], s42",
     SCALAR{return {a & ~(uint64_t(1) << (b & 63)), true};
  }
  }
  , {"s_mov_b64 s[44:45], s[40:41]\ns_bitset1_b64 s[44:45], s42",
     SCALAR{return {a | (uint64_t(1) << (b & 63)), true};
  }
  }
  , {"s_mov_b64 s[44:45], s[40:41]\ns_bitset0_b32 s44, s42",
     SCALAR{return {(a & 0xffffffff00000000ull) | (low(a) & ~(1u << (b & 31))),
                    true};
  }
  }
  , {"s_bitcmp0_b32 s40, s42\ns_mov_b32 s44, 0",
     SCALAR{return {0, !((low(a) >> (b & 31)) & 1)};
  }
  }
  , {"s_bitcmp0_b64 s[40:41], s42\ns_mov_b32 s44, 0",
     SCALAR{return {0, !((a >> (b & 63)) & 1)};
  }
  }
  , {"s_bitcmp1_b64 s[40:41], s42\ns_mov_b32 s44, 0",
     SCALAR{return {0, ((a >> (b & 63)) & 1) != 0};
  }
  }
  , {"s_max_i32 s44, s40, s42",
     SCALAR{int32_t x = int32_t(low(a)), y = int32_t(low(b));
  return {uint32_t(std::max(x, y)), x >= y};
  }
  }
  , {"s_min_u32 s44, s40, s42",
     SCALAR{return {std::min(low(a), low(b)), low(a) < low(b)};
  }
  }
  ,
  }
  ;
  struct Relation {
    std::string name;
    std::function<bool(Wide, Wide)> holds;
  };
  const Relation relations[] = {
      {"eq", [](Wide a, Wide b) { return a == b; }},
      {"lg", [](Wide a, Wide b) { return a != b; }},
      {"gt", [](Wide a, Wide b) { return a > b; }},
      {"ge", [](Wide a, Wide b) { return a >= b; }},
      {"lt", [](Wide a, Wide b) { return a < b; }},
      {"le", [](Wide a, Wide b) { return a <= b; }},
  };
  for (const Relation &r : relations) {
    cases.push_back({"s_cmp_" + r.name + "_i32 s40, s42\ns_mov_b32 s44, 0",
                     [=](uint64_t a, uint64_t b) -> Result {
                       return {0, r.holds(int32_t(low(a)), int32_t(low(b)))};
                     }});
    cases.push_back({"s_cmp_" + r.name + "_u32 s40, s42\ns_mov_b32 s44, 0",
                     [=](uint64_t a, uint64_t b) -> Result {
                       return {0, r.holds(low(a), low(b))};
                     }});
    cases.push_back({"s_cmpk_" + r.name +
                         "_i32 s40, 0xfffe\n"
                         "s_mov_b32 s44, 0",
                     [=](uint64_t a, uint64_t) -> Result {
                       return {0, r.holds(int32_t(low(a)), -2)};
                     }});
    cases.push_back({"s_cmpk_" + r.name +
                         "_u32 s40, 0x8003\n"
                         "s_mov_b32 s44, 0",
                     [=](uint64_t a, uint64_t) -> Result {
                       return {0, r.holds(low(a), 0x8003)};
                     }});
  }
  for (auto [name, apply] :
       {std::pair<std::string, std::function<uint64_t(uint64_t, uint64_t)>>{
            "and", [](auto a, auto b) { return a & b; }},
        {"or", [](auto a, auto b) { return a | b; }},
        {"xor", [](auto a, auto b) { return a ^ b; }},
        {"andn2", [](auto a, auto b) { return a & ~b; }},
        {"orn2", [](auto a, auto b) { return a | ~b; }},
        {"nand", [](auto a, auto b) { return ~(a & b); }},
        {"nor", [](auto a, auto b) { return ~(a | b); }},
        {"xnor", [](auto a, auto b) { return ~(a ^ b); }},
        {"andn1", [](auto a, auto b) { return ~a & b; }},
        {"orn1", [](auto a, auto b) { return ~a | b; }}}) {
    // EXEC is b before; the result is EXEC after, and the old one is saved.
    cases.push_back(
        {"s_mov_b64 exec, s[42:43]\ns_" + name +
             "_saveexec_b64 s[46:47], s[40:41]\ns_mov_b64 s[44:45], exec\n"
             "s_cselect_b32 s48, 1, 0\ns_cmp_eq_u64 s[46:47], s[42:43]\n"
             "s_cselect_b32 s48, s48, 5\ns_mov_b64 exec, -1\n"
             "s_cmp_eq_u32 s48, 1",
         [=, apply = apply](uint64_t a, uint64_t b) -> Result {
           return nonZero(apply(a, b));
         }});
  }
  std::vector<std::string> lines;
  for (const ScalarCase &c : cases)
    lines.push_back("v_readfirstlane_b32 s40, v2\n"
                    "v_readfirstlane_b32 s41, v3\n"
                    "v_readfirstlane_b32 s42, v4\n"
                    "v_readfirstlane_b32 s43, v5\n"
                    "s_mov_b32 s45, 0\ns_cmp_eq_u32 s40, s40\n" +
                    c.assembly +
                    "\ns_cselect_b32 s49, 1, 0\nv_mov_b32 v8, s44\n"
                    "v_mov_b32 v9, s45\nv_mov_b32 v10, s49");
  std::vector<Sources> sources = assortedSources(64 * 200, 17);
  auto outcomes = runLines(target(), lines, sources);
  ASSERT_EQ(outcomes.size(), lines.size());
  for (size_t k = 0; k < cases.size(); ++k) {
    int reported = 0;
    for (size_t i = 0; i < sources.size() && reported < 2; i += 64) {
      Result want = cases[k].expected(sources[i].a, sources[i].b);
      const Outcome &got = outcomes[k][i];
      if (got.low == want.first && low(got.high) == unsigned(want.second))
        continue;
      ++reported;
      ADD_FAILURE() << cases[k].assembly << std::hex << "\n  a " << sources[i].a
                    << " b " << sources[i].b << "\n  got  " << got.low
                    << " scc " << low(got.high) << "\n  want " << want.first
                    << " scc " << want.second;
    }
  }
  }

  //===----------------------------------------------------------------------===//
  // LDS
  //===----------------------------------------------------------------------===//

  /// One lane's LDS memory of 32 bytes, worked on alone.
  using Cell = std::array<uint8_t, 32>;

  struct LDSCase {
    /// The address of the lane's cell is in v16.
    std::string assembly;
    std::function<Outcome(Cell &, const Sources &)> expected;
    const char *onlyTarget = nullptr;
  };

  template <typename T> T get(const Cell &cell, unsigned at) {
    T value;
    std::memcpy(&value, &cell[at], sizeof(T));
    return value;
  }
  template <typename T> void put(Cell &cell, unsigned at, T value) {
    std::memcpy(&cell[at], &value, sizeof(T));
  }

  uint16_t bf16Nearest(double x) {
    // By search among the neighbours of the truncated value.
    float f = float(x);
    uint32_t b = bits(f);
    if (std::isnan(x))
      return 0x7fc0;
    int best = -1;
    for (int step = -2; step <= 2; ++step) {
      uint32_t candidate = ((b >> 16) + step) & 0xffff;
      double v = asFloat(candidate << 16);
      if (std::isnan(v))
        continue;
      double d = std::fabs(v - x);
      if (std::isinf(v)) // the step beyond the largest number
        d = std::fabs(std::copysign(0x1p128, v) - x);
      double bestValue = best < 0 ? 0 : asFloat(uint32_t(best) << 16);
      double bestDistance =
          best < 0 ? HUGE_VAL
          : std::isinf(bestValue)
              ? std::fabs(std::copysign(0x1p128, bestValue) - x)
              : std::fabs(bestValue - x);
      if (std::isinf(x))
        return u16(b >> 16);
      if (d < bestDistance || (d == bestDistance && !(candidate & 1)))
        best = int(candidate);
    }
    return uint16_t(best);
  }

  TEST_P(CoverageTest, LDSAtomics) {
    std::vector<LDSCase> cases;
    struct Operation {
      std::string name, type32, type64;
      std::function<uint64_t(uint64_t old, uint64_t data, bool wide)> apply;
    };
    auto s = [](uint64_t x, bool wide) {
      return wide ? int64_t(x) : int64_t(int32_t(low(x)));
    };
    std::vector<Operation> operations = {
        {"add", "u32", "u64", [](auto o, auto d, bool) { return o + d; }},
        {"sub", "u32", "u64", [](auto o, auto d, bool) { return o - d; }},
        {"rsub", "u32", "u64", [](auto o, auto d, bool) { return d - o; }},
        {"inc", "u32", "u64",
         [](auto o, auto d, bool) { return o >= d ? 0 : o + 1; }},
        {"dec", "u32", "u64",
         [](auto o, auto d, bool) { return o == 0 || o > d ? d : o - 1; }},
        {"min", "i32", "i64",
         [=](auto o, auto d, bool w) { return s(d, w) < s(o, w) ? d : o; }},
        {"max", "i32", "i64",
         [=](auto o, auto d, bool w) { return s(d, w) > s(o, w) ? d : o; }},
        {"min", "u32", "u64",
         [](auto o, auto d, bool) { return std::min(o, d); }},
        {"max", "u32", "u64",
         [](auto o, auto d, bool) { return std::max(o, d); }},
        {"and", "b32", "b64", [](auto o, auto d, bool) { return o & d; }},
        {"or", "b32", "b64", [](auto o, auto d, bool) { return o | d; }},
        {"xor", "b32", "b64", [](auto o, auto d, bool) { return o ^ d; }},
        {"add", "f32", "f64",
         [](uint64_t o, uint64_t d, bool w) -> uint64_t {
           return w ? bits(asDouble(o) + asDouble(d))
                    : bits(asFloat(low(o)) + asFloat(low(d)));
         }},
    };
    for (const Operation &operation : operations)
      for (bool wide : {false, true})
        for (bool returns : {false, true}) {
          std::string data = wide ? "v[2:3]" : "v2";
          std::string line =
              "ds_" + operation.name + (returns ? "_rtn_" : "_") +
              (wide ? operation.type64 : operation.type32) + " " +
              (returns ? (wide ? "v[8:9], " : "v8, ") : "") + "v16, " + data +
              " offset:8";
          auto apply = operation.apply;
          cases.push_back({line, [=](Cell &cell, const Sources &src) {
                             uint64_t old = wide ? get<uint64_t>(cell, 8)
                                                 : get<uint32_t>(cell, 8);
                             uint64_t value = wide ? src.a : low(src.a);
                             uint64_t result = apply(old, value, wide);
                             if (wide)
                               put<uint64_t>(cell, 8, result);
                             else
                               put<uint32_t>(cell, 8, low(result));
                             // Without a result register nothing else changes.
                             if (!returns)
                               return Outcome{untouched, untouched};
                             return wide ? two(old) : one(low(old));
                           }});
        }
    auto push = [&](std::string line,
                    std::function<Outcome(Cell &, const Sources &)> expected,
                    const char *only = nullptr) {
      cases.push_back({line, expected, only});
    };
    push("ds_wrxchg_rtn_b32 v8, v16, v2", [](Cell &cell, const Sources &s) {
      uint32_t old = get<uint32_t>(cell, 0);
      put<uint32_t>(cell, 0, low(s.a));
      return one(old);
    });
    push("ds_read_b32 v17, v16\ns_waitcnt lgkmcnt(0)\n"
         "ds_cmpst_rtn_b32 v8, v16, v17, v4",
         [](Cell &cell, const Sources &s) {
           uint32_t old = get<uint32_t>(cell, 0);
           put<uint32_t>(cell, 0, low(s.b));
           return one(old);
         });
    push("ds_cmpst_b64 v16, v[2:3], v[4:5]", [](Cell &cell, const Sources &s) {
      if (get<uint64_t>(cell, 0) == s.a)
        put<uint64_t>(cell, 0, s.b);
      return Outcome{untouched, untouched};
    });
    push("ds_read_b32 v17, v16\ns_waitcnt lgkmcnt(0)\n"
         "ds_cmpst_rtn_f32 v8, v16, v17, v4",
         [](Cell &cell, const Sources &s) {
           uint32_t old = get<uint32_t>(cell, 0);
           if (asFloat(old) == asFloat(old)) // NaN is not equal to itself
             put<uint32_t>(cell, 0, low(s.b));
           return one(old);
         });
    push("ds_mskor_rtn_b32 v8, v16, v2, v4", [](Cell &cell, const Sources &s) {
      uint32_t old = get<uint32_t>(cell, 0);
      put<uint32_t>(cell, 0, (old & ~low(s.a)) | low(s.b));
      return one(old);
    });
    push("ds_mskor_b64 v16, v[2:3], v[4:5]", [](Cell &cell, const Sources &s) {
      put<uint64_t>(cell, 0, (get<uint64_t>(cell, 0) & ~s.a) | s.b);
      return Outcome{untouched, untouched};
    });
    push("ds_wrap_rtn_b32 v8, v16, v2, v4", [](Cell &cell, const Sources &s) {
      uint32_t old = get<uint32_t>(cell, 0);
      put<uint32_t>(cell, 0, old >= low(s.a) ? old - low(s.a) : old + low(s.b));
      return one(old);
    });
    push("ds_wrxchg2_rtn_b32 v[8:9], v16, v2, v4 offset0:1 offset1:3",
         [](Cell &cell, const Sources &s) {
           uint64_t old = get<uint32_t>(cell, 4) |
                          (uint64_t(get<uint32_t>(cell, 12)) << 32);
           put<uint32_t>(cell, 4, low(s.a));
           put<uint32_t>(cell, 12, low(s.b));
           return two(old);
         });
    push("ds_wrxchg2_rtn_b64 v[8:11], v16, v[2:3], v[4:5] offset0:0 offset1:2",
         [](Cell &cell, const Sources &s) {
           Outcome old = {get<uint64_t>(cell, 0), get<uint64_t>(cell, 16)};
           put<uint64_t>(cell, 0, s.a);
           put<uint64_t>(cell, 16, s.b);
           return old;
         });
    push("ds_condxchg32_rtn_b64 v[8:9], v16, v[2:3] offset:16",
         [](Cell &cell, const Sources &s) {
           uint64_t old = get<uint64_t>(cell, 16);
           if (low(s.a) >> 31)
             put<uint32_t>(cell, 16, low(s.a) & 0x7fffffff);
           if (high(s.a) >> 31)
             put<uint32_t>(cell, 20, high(s.a) & 0x7fffffff);
           return two(old);
         });
    push("ds_min_rtn_f32 v8, v16, v2", [](Cell &cell, const Sources &s) {
      uint32_t old = get<uint32_t>(cell, 0);
      if (asFloat(low(s.a)) < asFloat(old) || std::isnan(asFloat(old)))
        put<uint32_t>(cell, 0, low(s.a));
      return one(old);
    });
    push("ds_max_f64 v16, v[2:3]", [](Cell &cell, const Sources &s) {
      uint64_t old = get<uint64_t>(cell, 0);
      if (asDouble(s.a) > asDouble(old) || std::isnan(asDouble(old)))
        put<uint64_t>(cell, 0, s.a);
      return Outcome{untouched, untouched};
    });
    for (bool returns : {false, true})
      push(
          std::string("ds_pk_add_") + (returns ? "rtn_bf16 v8, " : "bf16 ") +
              "v16, v2",
          [=](Cell &cell, const Sources &s) {
            uint32_t old = get<uint32_t>(cell, 0), result = 0;
            for (int i = 0; i < 2; ++i) {
              double x = asFloat(old >> (16 * i) << 16),
                     y = asFloat(low(s.a) >> (16 * i) << 16);
              result |= uint32_t(bf16Nearest(x + y)) << (16 * i);
            }
            put<uint32_t>(cell, 0, result);
            return returns ? one(old) : Outcome{untouched, untouched};
          },
          "gfx942");
    push(
        "ds_pk_add_f16 v16, v2",
        [](Cell &cell, const Sources &s) {
          uint32_t old = get<uint32_t>(cell, 0), result = 0;
          for (int i = 0; i < 2; ++i) {
            double x = halfValue(u16(old >> (16 * i))) +
                       halfValue(u16(s.a >> (16 * i)));
            // The host's own conversion, once from an exact f64.
            _Float16 h = static_cast<_Float16>(x);
            uint16_t b;
            std::memcpy(&b, &h, 2);
            if (std::isnan(x))
              b = 0x7e00;
            result |= uint32_t(b) << (16 * i);
          }
          put<uint32_t>(cell, 0, result);
          return Outcome{untouched, untouched};
        },
        "gfx942");
    // Plain access in its forms.
    push("ds_write_b96 v16, v[2:4] offset:4\nds_read_b96 v[8:10], v16 offset:4",
         [](Cell &cell, const Sources &s) {
           put<uint64_t>(cell, 4, s.a);
           put<uint32_t>(cell, 12, low(s.b));
           return Outcome{s.a, low(s.b) | (untouched & 0xffffffff00000000ull)};
         });
    push("ds_write_b128 v16, v[2:5]\nds_read2_b64 v[8:11], v16 offset0:1 "
         "offset1:0",
         [](Cell &cell, const Sources &s) {
           put<uint64_t>(cell, 0, s.a);
           put<uint64_t>(cell, 8, s.b);
           return Outcome{s.b, s.a};
         });
    push("ds_write_b8_d16_hi v16, v2 offset:3\nds_read_u8_d16_hi v8, v16 "
         "offset:3",
         [](Cell &cell, const Sources &s) {
           cell[3] = uint8_t(s.a >> 16);
           return keepsLow(cell[3]);
         });
    push("ds_write_b16 v16, v2 offset:2\nds_read_i16 v8, v16 offset:2",
         [](Cell &cell, const Sources &s) {
           put<uint16_t>(cell, 2, u16(s.a));
           return one(uint32_t(int32_t(i16(s.a))));
         });

    std::vector<std::string> lines;
    std::vector<LDSCase> mine;
    for (const LDSCase &c : cases) {
      if (c.onlyTarget && target() != c.onlyTarget)
        continue;
      mine.push_back(c);
      // The cell is filled from b, c and a before, and folded into v[10:11].
      std::string prepare = "v_lshlrev_b32 v16, 5, v0\n"
                            "ds_write_b64 v16, v[4:5]\n"
                            "ds_write_b64 v16, v[6:7] offset:8\n"
                            "ds_write_b64 v16, v[2:3] offset:16\n"
                            "ds_write_b64 v16, v[4:5] offset:24\n"
                            "s_waitcnt lgkmcnt(0)\n";
      lines.push_back(prepare + c.assembly);
      lines.push_back(prepare + c.assembly +
                      "\ns_waitcnt lgkmcnt(0)\nds_read_b128 v[8:11], v16");
      lines.push_back(prepare + c.assembly +
                      "\ns_waitcnt lgkmcnt(0)\nds_read_b128 v[8:11], v16 "
                      "offset:16");
    }
    std::vector<Sources> sources = assortedSources(256, 21);
    auto outcomes =
        runLines(target(), lines, sources, ~uint64_t(0), 0xf0, 2048);
    ASSERT_EQ(outcomes.size(), lines.size());
    for (size_t k = 0; k < mine.size(); ++k) {
      int reported = 0;
      bool floats = mine[k].assembly.find("_f32") != std::string::npos ||
                    mine[k].assembly.find("_f64") != std::string::npos ||
                    mine[k].assembly.find("_pk_") != std::string::npos;
      for (size_t i = 0; i < sources.size() && reported < 2; ++i) {
        const Sources &s = sources[i];
        Cell cell;
        put<uint64_t>(cell, 0, s.b);
        put<uint64_t>(cell, 8, s.c);
        put<uint64_t>(cell, 16, s.a);
        put<uint64_t>(cell, 24, s.b);
        Outcome want = mine[k].expected(cell, s);
        Outcome got = outcomes[3 * k][i];
        bool equal = got.low == want.low && got.high == want.high;
        for (unsigned part = 0; part < 2; ++part)
          for (unsigned at = 0; at < 16; at += 8) {
            uint64_t found = at ? outcomes[3 * k + 1 + part][i].high
                                : outcomes[3 * k + 1 + part][i].low;
            uint64_t wanted = get<uint64_t>(cell, 16 * part + at);
            if (found == wanted)
              continue;
            // NaN as a class, in whichever width the case works.
            bool nan =
                floats && (same(asDouble(found), asDouble(wanted)) ||
                           (same(asFloat(low(found)), asFloat(low(wanted))) &&
                            same(asFloat(high(found)), asFloat(high(wanted)))));
            for (int h = 0; floats && !nan && h < 64; h += 16) {
              uint16_t x = u16(found >> h), y = u16(wanted >> h);
              bool bf = mine[k].assembly.find("bf16") != std::string::npos;
              bool both = bf ? (x & 0x7fff) > 0x7f80 && (y & 0x7fff) > 0x7f80
                             : (x & 0x7fff) > 0x7c00 && (y & 0x7fff) > 0x7c00;
              if (x != y && !both)
                break;
              if (h == 48)
                nan = true;
            }
            if (!nan)
              equal = false;
          }
        if (equal)
          continue;
        ++reported;
        ADD_FAILURE() << mine[k].assembly << std::hex << "\n  a " << s.a
                      << " b " << s.b << " c " << s.c << "\n  got  " << got.high
                      << " " << got.low << "\n  want " << want.high << " "
                      << want.low << "\n  cell " << outcomes[3 * k + 1][i].low
                      << " " << outcomes[3 * k + 1][i].high << " want "
                      << get<uint64_t>(cell, 0) << " "
                      << get<uint64_t>(cell, 8);
      }
    }
  }

  TEST_P(CoverageTest, LDSByLaneAndCounters) {
    std::vector<Sources> sources = assortedSources(64, 2);
    uint64_t exec = 0x8d3e00ff10f7a5c1;
    auto outcomes = runLines(
        target(),
        {"s_mov_b32 m0, 64\nds_write_addtid_b32 v2 offset:16\n"
         "v_lshlrev_b32 v16, 2, v0\nds_read_b32 v8, v16 offset:80\n"
         "ds_read_addtid_b32 v9 offset:16",
         // A counter at 12 that starts at 100.
         "v_mov_b32 v16, 12\nv_mov_b32 v17, 0x64\nds_write_b32 v16, v17\n"
         "s_mov_b32 m0, 8\nds_append v8 offset:4\nds_consume v9 offset:4\n"
         "ds_append v10 offset:4\nds_read_b32 v11, v16"},
        sources, exec, 0xf0, 1024);
    ASSERT_EQ(outcomes.size(), 2u);
    uint32_t active = uint32_t(__builtin_popcountll(exec));
    for (int l = 0; l < 64; ++l) {
      if (!((exec >> l) & 1)) {
        EXPECT_EQ(outcomes[0][l].low, untouched);
        EXPECT_EQ(outcomes[1][l].low, untouched);
        continue;
      }
      uint32_t a = low(sources[l].a);
      EXPECT_EQ(outcomes[0][l].low, a | (uint64_t(a) << 32));
      EXPECT_EQ(outcomes[1][l].low, 100 | (uint64_t(100 + active) << 32));
      EXPECT_EQ(outcomes[1][l].high, 100 | (uint64_t(100 + active) << 32));
    }
  }

  TEST_P(CoverageTest, Swizzle) {
    auto reversed = [](int l) {
      int r = 0;
      for (int i = 0; i < 5; ++i)
        r |= ((l >> i) & 1) << (4 - i);
      return r;
    };
    struct Pattern {
      std::string offset;
      std::function<int(int)> from;
    };
    std::vector<Pattern> patterns = {
        {"swizzle(QUAD_PERM, 2, 1, 3, 0)",
         [](int l) {
           int p[4] = {2, 1, 3, 0};
           return (l & ~3) | p[l & 3];
         }},
        {"swizzle(SWAP, 8)", [](int l) { return l ^ 8; }},
        {"swizzle(REVERSE, 16)",
         [](int l) { return (l & ~15) | (15 - (l & 15)); }},
        {"swizzle(BROADCAST, 8, 5)", [](int l) { return (l & ~7) | 5; }},
        {"0xe000", [=](int l) { return (l & 32) | reversed(l & 31); }},
        {"0xe010", [=](int l) { return (l & 48) | (reversed(l & 15) >> 1); }},
        {"0xe01f", [](int l) { return l; }},
        {"0xc020", [](int l) { return (l & 32) | ((l + 1) & 31); }},
        {"0xc440", [](int l) { return (l & 32) | ((l - 2) & 31); }},
    };
    std::vector<std::string> lines;
    for (const Pattern &p : patterns)
      lines.push_back("ds_swizzle_b32 v8, v2 offset:" + p.offset);
    std::vector<Sources> sources = assortedSources(64, 4);
    auto outcomes = runLines(target(), lines, sources);
    ASSERT_EQ(outcomes.size(), lines.size());
    for (size_t k = 0; k < lines.size(); ++k)
      for (int l = 0; l < 64; ++l)
        EXPECT_EQ(low(outcomes[k][l].low), low(sources[patterns[k].from(l)].a))
            << lines[k] << " lane " << l;
  }

  //===----------------------------------------------------------------------===//
  // Memory
  //===----------------------------------------------------------------------===//

  /// Runs a body on a buffer of so many words, numbered from 0, whose address
  /// is in s[4:5]; returns the words after it.
  std::vector<uint32_t> runOnBuffer(const std::string &target,
                                    const std::string &body, size_t words,
                                    unsigned ldsBytes = 0) {
    std::string code = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                       "  s_waitcnt lgkmcnt(0)\n" +
                       body + "\n  s_endpgm\n";
    auto object =
        build(assembleKernel(target, code, ldsBytes), "assembler", target);
    if (!object)
      return {};
    std::vector<uint32_t> initial(words);
    for (size_t i = 0; i < words; ++i)
      initial[i] = uint32_t(i);
    Device device;
    uint64_t address = device.upload(initial);
    device.run(*object, "f", 1, 64,
               Arguments().add(address).add(uint64_t(0)).add(uint64_t(0)));
    return device.download<uint32_t>(address, words);
  }

  TEST_P(CoverageTest, ScalarStoresAndAtomics) {
    auto got = runOnBuffer(target(), R"(
  s_mov_b32 s8, 0x11111111
  s_mov_b32 s9, 0x22222222
  s_mov_b32 s10, 0x33333333
  s_mov_b32 s11, 0x44444444
  s_store_dword s8, s[4:5], 0x4
  s_store_dwordx2 s[8:9], s[4:5], 0x10
  s_mov_b32 s12, 0x20
  s_store_dwordx4 s[8:11], s[4:5], s12
  s_mov_b32 s20, s4
  s_mov_b32 s21, s5
  s_mov_b32 s22, 0x44
  s_mov_b32 s23, 0
  s_buffer_store_dword s8, s[20:23], 0x40
  s_buffer_store_dword s8, s[20:23], 0x44
  s_mov_b32 s12, 1000
  s_atomic_add s12, s[4:5], 0x50 glc
  s_mov_b32 s14, 7
  s_mov_b32 s15, 21
  s_atomic_cmpswap s[14:15], s[4:5], 0x54 glc
  s_mov_b32 s16, 5
  s_atomic_umax s16, s[4:5], 0x58
  s_mov_b32 s18, -1
  s_mov_b32 s19, 0
  s_atomic_add_x2 s[18:19], s[4:5], 0x60 glc
  s_dcache_wb
  s_waitcnt lgkmcnt(0)
  s_store_dword s12, s[4:5], 0x70
  s_store_dword s14, s[4:5], 0x74
  s_store_dwordx2 s[18:19], s[4:5], 0x78
)",
                           36);
    std::vector<uint32_t> want(36);
    for (uint32_t i = 0; i < 36; ++i)
      want[i] = i;
    want[1] = 0x11111111;
    want[4] = 0x11111111, want[5] = 0x22222222;
    want[8] = 0x11111111, want[9] = 0x22222222;
    want[10] = 0x33333333, want[11] = 0x44444444;
    want[16] = 0x11111111; // the next one is out of the buffer's range
    want[20] = 1020;
    want[21] = 7;
    uint64_t sum = (uint64_t(25) << 32 | 24) + 0xffffffffull;
    want[24] = low(sum), want[25] = high(sum);
    want[28] = 20;
    want[29] = 21;
    want[30] = 24, want[31] = 25;
    EXPECT_EQ(got, want);
  }

  /// The addressing forms of vector memory: what comes before, and how an
  /// access at an offset in the lane's own memory is written.
  struct Form {
    std::string name, prepare;
    std::function<std::string(
        const std::string &opcode, const std::string &result,
        const std::string &data, unsigned offset, const std::string &modifiers)>
        write;
  };

  std::vector<Form> memoryForms() {
    auto at = [](unsigned offset) {
      return offset ? " offset:" + std::to_string(offset) : std::string();
    };
    auto comma = [](const std::string &text) {
      return text.empty() ? "" : text + ", ";
    };
    std::string address = "v_mov_b32 v17, s5\nv_add_co_u32 v16, vcc, s4, v1\n"
                          "v_addc_co_u32 v17, vcc, 0, v17, vcc\n";
    std::string descriptor = "s_mov_b32 s40, s4\ns_mov_b32 s41, s5\n"
                             "s_mov_b32 s42, 0x7fffffff\n"
                             "s_mov_b32 s43, 0x00020000\n";
    std::vector<Form> forms;
    forms.push_back(
        {"global", address,
         [=](auto &op, auto &result, auto &data, auto offset, auto &modifiers) {
           return "global_" + op + " " + comma(result) + "v[16:17]" +
                  (data.empty() ? "" : ", " + data) + ", off" + at(offset) +
                  modifiers;
         }});
    forms.push_back(
        {"global saddr", "",
         [=](auto &op, auto &result, auto &data, auto offset, auto &modifiers) {
           return "global_" + op + " " + comma(result) + "v1" +
                  (data.empty() ? "" : ", " + data) + ", s[4:5]" + at(offset) +
                  modifiers;
         }});
    forms.push_back(
        {"flat", address,
         [=](auto &op, auto &result, auto &data, auto offset, auto &modifiers) {
           return "flat_" + op + " " + comma(result) + "v[16:17]" +
                  (data.empty() ? "" : ", " + data) + at(offset) + modifiers;
         }});
    forms.push_back(
        {"buffer", descriptor,
         [=](auto &op, auto &result, auto &data, auto offset, auto &modifiers) {
           // An atomic's data is its result's register.
           return "buffer_" + op + " " + (data.empty() ? result : data) +
                  ", v1, s[40:43], 0 offen" + at(offset) + modifiers;
         }});
    return forms;
  }

  TEST_P(CoverageTest, LoadsAndStores) {
    struct Load {
      std::string name;
      unsigned registers;
      /// The result registers from the bytes at the address.
      std::function<Outcome(const uint8_t *)> expected;
    };
    auto small = [](auto zero, int half) {
      return [=](const uint8_t *p) {
        auto value = zero;
        std::memcpy(&value, p, sizeof(value));
        uint32_t extended = uint32_t(int32_t(value));
        return half == 0   ? one(extended)
               : half == 1 ? keepsHigh(u16(extended))
                           : keepsLow(u16(extended));
      };
    };
    auto dwords = [](unsigned count) {
      return [=](const uint8_t *p) {
        uint32_t words[4] = {low(untouched), high(untouched), low(untouched),
                             high(untouched)};
        std::memcpy(words, p, 4 * count);
        return Outcome{words[0] | (uint64_t(words[1]) << 32),
                       words[2] | (uint64_t(words[3]) << 32)};
      };
    };
    std::vector<Load> loads = {
        {"load_ubyte", 1, small(uint8_t(), 0)},
        {"load_sbyte", 1, small(int8_t(), 0)},
        {"load_ushort", 1, small(uint16_t(), 0)},
        {"load_sshort", 1, small(int16_t(), 0)},
        {"load_ubyte_d16", 1, small(uint8_t(), 1)},
        {"load_ubyte_d16_hi", 1, small(uint8_t(), 2)},
        {"load_sbyte_d16", 1, small(int8_t(), 1)},
        {"load_sbyte_d16_hi", 1, small(int8_t(), 2)},
        {"load_short_d16", 1, small(uint16_t(), 1)},
        {"load_short_d16_hi", 1, small(uint16_t(), 2)},
        {"load_dword", 1, dwords(1)},
        {"load_dwordx2", 2, dwords(2)},
        {"load_dwordx3", 3, dwords(3)},
        {"load_dwordx4", 4, dwords(4)},
    };
    auto registers = [](unsigned first, unsigned count) {
      std::string v = "v" + std::to_string(first);
      return count == 1 ? v
                        : "v[" + std::to_string(first) + ":" +
                              std::to_string(first + count - 1) + "]";
    };
    std::vector<Case> cases;
    // The lane's memory holds b and c in 16 bytes, then a.
    std::string fill = "global_store_dwordx4 v1, v[4:7], s[4:5]\n"
                       "global_store_dwordx2 v1, v[2:3], s[4:5] offset:16\n"
                       "s_waitcnt vmcnt(0)\n";
    for (const Form &form : memoryForms()) {
      for (const Load &load : loads)
        for (unsigned offset : {0u, 4u, 8u})
          cases.push_back(
              {form.prepare + fill +
                   form.write(load.name, registers(8, load.registers), "",
                              offset, ""),
               [=](const Sources &s) {
                 uint64_t memory[3] = {s.b, s.c, s.a};
                 return load.expected(
                     reinterpret_cast<const uint8_t *>(memory) + offset);
               }});
      struct Store {
        std::string name;
        unsigned registers, shift, bytes;
      };
      for (const Store &store : {Store{"store_byte", 1, 0, 1},
                                 {"store_short", 1, 0, 2},
                                 {"store_byte_d16_hi", 1, 16, 1},
                                 {"store_short_d16_hi", 1, 16, 2},
                                 {"store_dword", 1, 0, 4},
                                 {"store_dwordx2", 2, 0, 8},
                                 {"store_dwordx3", 3, 0, 12},
                                 {"store_dwordx4", 4, 0, 16}})
        cases.push_back({form.prepare + fill +
                             form.write(store.name, "",
                                        registers(2, store.registers), 4, "") +
                             "\ns_waitcnt vmcnt(0)\n"
                             "global_load_dwordx4 v[8:11], v1, s[4:5]",
                         [=](const Sources &s) {
                           uint64_t memory[3] = {s.b, s.c, s.a};
                           uint64_t data[2] = {s.a >> store.shift, s.b};
                           std::memcpy(reinterpret_cast<uint8_t *>(memory) + 4,
                                       data, store.bytes);
                           return Outcome{memory[0], memory[1]};
                         }});
    }
    check(cases);
  }

  TEST_P(CoverageTest, VectorMemoryAtomics) {
    struct Operation {
      std::string name;
      std::function<uint64_t(uint64_t old, uint64_t data, bool wide)> apply;
    };
    auto s = [](uint64_t x, bool wide) {
      return wide ? int64_t(x) : int64_t(int32_t(low(x)));
    };
    const Operation operations[] = {
        {"swap", [](auto, auto d, bool) { return d; }},
        {"add", [](auto o, auto d, bool) { return o + d; }},
        {"sub", [](auto o, auto d, bool) { return o - d; }},
        {"smin",
         [=](auto o, auto d, bool w) { return s(d, w) < s(o, w) ? d : o; }},
        {"smax",
         [=](auto o, auto d, bool w) { return s(d, w) > s(o, w) ? d : o; }},
        {"umin", [](auto o, auto d, bool) { return std::min(o, d); }},
        {"umax", [](auto o, auto d, bool) { return std::max(o, d); }},
        {"and", [](auto o, auto d, bool) { return o & d; }},
        {"or", [](auto o, auto d, bool) { return o | d; }},
        {"xor", [](auto o, auto d, bool) { return o ^ d; }},
        {"inc", [](auto o, auto d, bool) { return o >= d ? 0 : o + 1; }},
        {"dec",
         [](auto o, auto d, bool) { return o == 0 || o > d ? d : o - 1; }},
    };
    std::string returns = target() == "gfx90a" ? " glc" : " sc0";
    std::string fill = "global_store_dwordx2 v1, v[4:5], s[4:5] offset:8\n"
                       "s_waitcnt vmcnt(0)\n";
    std::string fetch = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
                        "global_load_dwordx2 v[10:11], v1, s[4:5] offset:8";
    std::vector<Case> cases;
    for (const Form &form : memoryForms()) {
      bool buffer = form.name == "buffer";
      for (const Operation &operation : operations)
        for (bool wide : {false, true})
          for (bool old : {false, true}) {
            std::string data = wide ? "v[2:3]" : "v2";
            std::string result = wide ? "v[8:9]" : "v8";
            std::string prepare = form.prepare + fill;
            if (buffer && old) { // data and result share a register
              prepare += "v_mov_b32 v8, v2\n";
              if (wide)
                prepare += "v_mov_b32 v9, v3\n";
              data = result;
            }
            auto apply = operation.apply;
            cases.push_back(
                {prepare +
                     form.write(
                         "atomic_" + operation.name + (wide ? "_x2" : ""),
                         old ? result : "", data, 8, old ? returns : "") +
                     fetch,
                 [=](const Sources &s) {
                   uint64_t was = wide ? s.b : low(s.b);
                   uint64_t is = apply(was, wide ? s.a : low(s.a), wide);
                   uint64_t memory =
                       wide ? is : low(is) | (s.b & 0xffffffff00000000ull);
                   return Outcome{!old   ? untouched
                                  : wide ? was
                                         : word(low(was)),
                                  memory};
                 }});
          }
      // Compare-and-swap: the new value, then the compared one.
      for (bool equal : {false, true}) {
        std::string compared = equal ? "v4" : "v6";
        std::string prepare = form.prepare + fill +
                              "v_mov_b32 v8, v2\n"
                              "v_mov_b32 v9, " +
                              compared + "\n";
        cases.push_back(
            {prepare +
                 form.write("atomic_cmpswap", buffer ? "" : "v8", "v[8:9]", 8,
                            returns) +
                 (buffer ? "" : "\nv_mov_b32 v9, " + compared) + fetch,
             [=](const Sources &s) {
               uint32_t expected = equal ? low(s.b) : low(s.c);
               uint32_t is = low(s.b) == expected ? low(s.a) : low(s.b);
               return Outcome{low(s.b) | (uint64_t(expected) << 32),
                              is | (s.b & 0xffffffff00000000ull)};
             }});
        // With 64 bits.
        std::string pair = equal ? "v4 v5" : "v6 v7";
        cases.push_back(
            {form.prepare + fill + "v_mov_b32 v20, v2\nv_mov_b32 v21, v3\n" +
                 "v_mov_b32 v22, " + pair.substr(0, 2) + "\nv_mov_b32 v23, " +
                 pair.substr(3) + "\n" +
                 form.write("atomic_cmpswap_x2", "", "v[20:23]", 8, "") + fetch,
             [=](const Sources &s) {
               uint64_t expected = equal ? s.b : s.c;
               return Outcome{untouched, s.b == expected ? s.a : s.b};
             }});
      }
    }
    check(cases);
  }

  TEST_P(CoverageTest, FloatingAtomics) {
    std::string fill = "global_store_dwordx2 v1, v[4:5], s[4:5] offset:8\n"
                       "s_waitcnt vmcnt(0)\n";
    std::string fetch = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
                        "global_load_dwordx2 v[8:9], v1, s[4:5] offset:8";
    std::vector<std::string> lines;
    std::vector<std::function<uint64_t(const Sources &)>> wanted;
    for (const Form &form : memoryForms()) {
      auto add = [&](std::string name, std::string data, auto expected) {
        lines.push_back(form.prepare + fill +
                        form.write("atomic_" + name, "", data, 8, "") + fetch);
        wanted.push_back(expected);
      };
      if (form.name != "flat" || target() == "gfx942")
        add("add_f32", "v2", [](const Sources &s) {
          return uint64_t(bits(asFloat(low(s.b)) + asFloat(low(s.a)))) |
                 (s.b & 0xffffffff00000000ull);
        });
      add("add_f64", "v[2:3]",
          [](const Sources &s) { return bits(asDouble(s.a) + asDouble(s.b)); });
      add("min_f64", "v[2:3]", [](const Sources &s) {
        return std::isnan(asDouble(s.b)) || asDouble(s.a) < asDouble(s.b) ? s.a
                                                                          : s.b;
      });
      add("max_f64", "v[2:3]", [](const Sources &s) {
        return std::isnan(asDouble(s.b)) || asDouble(s.a) > asDouble(s.b) ? s.a
                                                                          : s.b;
      });
      if (form.name != "flat" || target() == "gfx942")
        add("pk_add_f16", "v2", [](const Sources &s) {
          uint32_t result = 0;
          for (int i = 0; i < 32; i += 16) {
            double x = halfValue(u16(s.a >> i)) + halfValue(u16(s.b >> i));
            _Float16 h = static_cast<_Float16>(x);
            uint16_t b;
            std::memcpy(&b, &h, 2);
            result |= uint32_t(b) << i;
          }
          return result | (s.b & 0xffffffff00000000ull);
        });
    }
    std::vector<Sources> sources = assortedSources(320, 30);
    auto outcomes = runLines(target(), lines, sources);
    ASSERT_EQ(outcomes.size(), lines.size());
    for (size_t k = 0; k < lines.size(); ++k)
      for (size_t i = 0; i < sources.size(); ++i) {
        uint64_t got = outcomes[k][i].low, want = wanted[k](sources[i]);
        bool equal = got == want;
        if (lines[k].find("_f64") != std::string::npos)
          equal = same(asDouble(got), asDouble(want));
        else if (lines[k].find("add_f32") != std::string::npos)
          equal = same(asFloat(low(got)), asFloat(low(want))) &&
                  high(got) == high(want);
        else
          for (int h = 0; h < 32; h += 16)
            if (std::isnan(halfValue(u16(got >> h))) &&
                std::isnan(halfValue(u16(want >> h))))
              equal = true; // the other half is seen in other lanes
        EXPECT_TRUE(equal) << lines[k] << std::hex << "\n  a " << sources[i].a
                           << " b " << sources[i].b << " got " << got
                           << " want " << want;
      }
  }

  TEST_P(CoverageTest, SwizzledBuffers) {
    // Stride 16, elements of 4 bytes, 8 rows side by side; the manual's
    // formula.
    auto place = [](uint32_t index, uint32_t offset) {
      return (index / 8 * 16 + offset / 4 * 4) * 8 + index % 8 * 4 + offset % 4;
    };
    auto got = runOnBuffer(target(), R"(
  s_mov_b32 s8, s4
  s_or_b32 s9, s5, 0x80100000
  s_mov_b32 s10, 60
  s_mov_b32 s11, 0x00080000
  v_mov_b32 v2, v0
  v_mov_b32 v3, 8
  v_add_u32 v4, 0x1000, v0
  buffer_store_dword v4, v[2:3], s[8:11], 0 idxen offen offset:4
  buffer_load_dword v5, v2, s[8:11], 0 idxen
  s_waitcnt vmcnt(0)
  s_or_b32 s11, s11, 0x00800000
  buffer_store_dword v5, off, s[8:11], 0 offset:8
)",
                           256);
    std::vector<uint32_t> want(256);
    for (uint32_t i = 0; i < 256; ++i)
      want[i] = i;
    for (uint32_t l = 0; l < 60; ++l)
      want[place(l, 12) / 4] = 0x1000 + l;
    // With ADD_TID the lane is the row.
    for (uint32_t l = 0; l < 60; ++l)
      want[place(l, 8) / 4] = place(l, 0) / 4;
    EXPECT_EQ(got, want);
  }

  TEST_P(CoverageTest, BufferRanges) {
    auto got = runOnBuffer(target(), R"(
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_mov_b32 s10, 64
  s_mov_b32 s11, 0x00020000
  v_lshlrev_b32 v2, 2, v0
  v_mov_b32 v4, 0x1000
  buffer_store_dword v4, v2, s[8:11], 0 offen
  buffer_load_dword v5, v2, s[8:11], 0 offen offset:32
  s_waitcnt vmcnt(0)
  s_mov_b32 s10, 0x400
  s_mov_b32 s12, 0x200
  buffer_store_dword v5, v2, s[8:11], s12 offen
)",
                           192);
    std::vector<uint32_t> want(192);
    for (uint32_t i = 0; i < 192; ++i)
      want[i] = i < 16 ? 0x1000 : i < 128 ? i : i - 128 < 8 ? 0x1000 : 0;
    EXPECT_EQ(got, want);
  }

  TEST_P(CoverageTest, LoadsIntoLDS) {
    auto got = runOnBuffer(target(), R"(
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_mov_b32 s10, 0x400
  s_mov_b32 s11, 0x00020000
  s_mov_b32 m0, 0x100
  v_lshlrev_b32 v2, 2, v0
  buffer_load_dword v2, s[8:11], 0 offen offset:16 lds
  s_mov_b32 m0, 0x300
  buffer_load_ubyte v0, s[8:11], 0 offen lds
  s_waitcnt vmcnt(0)
  ds_read_b32 v3, v2 offset:0x110
  ds_read_b32 v4, v2 offset:0x300
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v4, 16, v4
  v_or_b32 v3, v3, v4
  s_mov_b32 s12, 0x200
  buffer_store_dword v3, v2, s[8:11], s12 offen
)",
                           192, 2048);
    ASSERT_EQ(got.size(), 192u);
    for (uint32_t l = 0; l < 64; ++l)
      EXPECT_EQ(got[128 + l], (l + 4) | ((l % 4 ? 0u : l / 4) << 16)) << l;
  }

  TEST(BufferToLDS, StoresFromLDS) {
    auto got = runOnBuffer("gfx90a", R"(
  s_mov_b32 s8, s4
  s_or_b32 s9, s5, 0x00040000
  s_mov_b32 s10, 64
  s_mov_b32 s11, 0x00800000
  v_lshlrev_b32 v2, 2, v0
  v_add_u32 v3, 0x500, v0
  ds_write_b32 v2, v3 offset:64
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, 64
  buffer_store_lds_dword s[8:11], 0 lds
)",
                           64, 1024);
    ASSERT_EQ(got.size(), 64u);
    for (uint32_t l = 0; l < 64; ++l)
      EXPECT_EQ(got[l], 0x500 + l);
  }

  TEST(GlobalAtomics, PackedBrainFloats) {
    auto got = runOnBuffer("gfx942", R"(
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0x3f803f80
  v_mov_b32 v3, 0x40004080
  s_mov_b64 exec, 1
  global_store_dword v1, v2, s[4:5]
  global_atomic_pk_add_bf16 v4, v1, v3, s[4:5] sc0
  s_waitcnt vmcnt(0)
  global_store_dword v1, v4, s[4:5] offset:4
)",
                           2);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0], 0x404040a0u); // 1 + 2 and 1 + 4
    EXPECT_EQ(got[1], 0x3f803f80u);
  }

  //===----------------------------------------------------------------------===//
  // Wavefront state
  //===----------------------------------------------------------------------===//

  TEST_P(CoverageTest, HardwareRegistersAndClocks) {
    auto got = runOnBuffer(target(), R"(
  s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 10)
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0xb
  s_getreg_b32 s9, hwreg(HW_REG_MODE, 0, 8)
  s_getreg_b32 s10, hwreg(HW_REG_MODE, 2, 2)
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0
  s_cmp_eq_u32 s4, s4
  s_getreg_b32 s11, hwreg(HW_REG_STATUS, 0, 1)
  s_memtime s[12:13]
  s_memrealtime s[14:15]
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s12, s14, s12
  s_subb_u32 s13, s15, s13
  s_cmp_gt_i32 s12, 0
  s_cselect_b32 s12, 1, 0
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_sleep 3
  s_setprio 2
  s_store_dwordx4 s[8:11], s[4:5], 0x0
  s_store_dwordx2 s[12:13], s[4:5], 0x10
)",
                           6);
    EXPECT_EQ(got, (std::vector<uint32_t>{0x3f0, 0xfb, 2, 1, 1, 0}));
  }

  TEST_P(CoverageTest, AllocationsOfRegistersAndLDS) {
    AssembledKernel kernel;
    kernel.body = R"(
  s_getreg_b32 s8, hwreg(HW_REG_GPR_ALLOC)
  s_getreg_b32 s9, hwreg(HW_REG_GPR_ALLOC, 6, 6)
  s_getreg_b32 s10, hwreg(HW_REG_LDS_ALLOC)
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_store_dwordx2 s[8:9], s[4:5], 0x0
  s_store_dword s10, s[4:5], 0x8
  s_endpgm
)";
    // 176 registers in all, 64 of them before the first AGPR.
    kernel.vgprs = 176;
    kernel.accumOffset = 64;
    kernel.ldsBytes = 3000;
    auto object =
        build(assembleModule(target(), {kernel}), "assembler", target());
    ASSERT_TRUE(object);
    Device device;
    uint64_t out = device.upload(std::vector<uint32_t>(3));
    device.run(*object, "f", 1, 64,
               Arguments().add(out).add(uint64_t(0)).add(uint64_t(0)));
    auto got = device.download<uint32_t>(out, 3);
    // 96 SGPRs, and VCC and its like, make 112.
    EXPECT_EQ(got[0], uint32_t((176 / 8 - 1) << 6 | (64 / 4 - 1) << 12 |
                               (112 / 16 - 1) << 24));
    EXPECT_EQ(got[1], 176u / 8 - 1);
    // 512 bytes at least, counted in 256.
    EXPECT_EQ(got[2], 12u << 12);
  }

  TEST_P(CoverageTest, Messages) {
    auto object = build(assembleKernel(target(), R"(
  s_mov_b32 m0, 5
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_sendmsg sendmsg(MSG_GET_DOORBELL)
  s_endpgm
)"),
                        "assembler", target());
    ASSERT_TRUE(object);
    Device device;
    auto result = device.tryRun(
        *object, "f", 1, 64,
        Arguments().add(uint64_t(0)).add(uint64_t(0)).add(uint64_t(0)));
    std::string message = messageOf(result);
    EXPECT_NE(message.find("'s_sendmsg sendmsg(MSG_GET_DOORBELL)'"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("sends message 10 (MSG_GET_DOORBELL); only "
                           "MSG_INTERRUPT is modelled"),
              std::string::npos)
        << message;
  }

  TEST_P(CoverageTest, Forks) {
    // Lanes below 20 take the branch, which the smaller group does first; the
    // others follow when that one joins.
    for (bool relative : {false, true}) {
      auto got = runOnBuffer(
          target(),
          R"(
  s_getpc_b64 s[40:41]
.Lbase:
  s_add_u32 s40, s40, .Lleft-.Lbase
  s_addc_u32 s41, s41, 0
  v_mov_b32 v2, 0
  s_mov_b32 s46, 0
  v_cmp_gt_u32 s[42:43], 20, v0
  s_mov_b32 s44, 0
)" +
              std::string(relative
                              ? "  s_cbranch_i_fork s[42:43], .Lleft\n"
                              : "  s_cbranch_g_fork s[42:43], s[40:41]\n") +
              R"(
  s_lshl_b32 s46, s46, 4
  s_or_b32 s46, s46, 2
  v_add_u32 v2, 0x200, v2
  s_branch .Ljoin
.Lleft:
  s_lshl_b32 s46, s46, 4
  s_or_b32 s46, s46, 1
  v_add_u32 v2, 0x100, v2
.Ljoin:
  s_cbranch_join s44
  s_mov_b64 exec, -1
  v_add_u32 v2, s46, v2
  v_lshlrev_b32 v1, 2, v0
  global_store_dword v1, v2, s[4:5]
)",
          64);
      ASSERT_EQ(got.size(), 64u);
      for (uint32_t l = 0; l < 64; ++l)
        EXPECT_EQ(got[l], (l < 20 ? 0x100u : 0x200u) + 0x12) << l;
    }
  }

  TEST_P(CoverageTest, ReportsWhatWasUsed) {
    std::vector<InstructionUse> use;
    auto outcomes = runLines(target(), {"v_rcp_f32 v8, v2"}, {{1, 2, 3}},
                             ~uint64_t(0), 0xf0, 0, &use);
    ASSERT_EQ(outcomes.size(), 1u);
    std::map<std::string, InstructionUse> found;
    for (const InstructionUse &u : use)
      found[u.opcode] = u;
    EXPECT_EQ(found["V_RCP_F32"].count, 1u);
    EXPECT_EQ(found["V_RCP_F32"].exactness, Exactness::Approximate);
    EXPECT_EQ(found["V_MOV_B32"].exactness, Exactness::Exact);
    EXPECT_EQ(found["V_MOV_B32"].count, 4u);
    EXPECT_EQ(found.count("V_ADD_F64"), 0u);
  }

  /// Random words of every encoding, one at a time behind a jump, with random
  /// registers: an error or a result, never a crash.
  TEST_P(CoverageTest, RandomInstructionsNeverCrash) {
    constexpr uint32_t formats[][2] = {
        {0x80000000, 0x3fffffff}, // SOP2
        {0xb0000000, 0x0fffffff}, // SOPK
        {0xbe800000, 0x007fffff}, // SOP1
        {0xbf000000, 0x007fffff}, // SOPC
        {0xbf800000, 0x007fffff}, // SOPP
        {0xc0000000, 0x03ffffff}, // SMEM
        {0x00000000, 0x7fffffff}, // VOP2
        {0x7c000000, 0x01ffffff}, // VOPC
        {0x7e000000, 0x01ffffff}, // VOP1
        {0xd0000000, 0x03ffffff}, // VOP3
        {0xd3800000, 0x007fffff}, // VOP3P
        {0xd8000000, 0x03ffffff}, // DS
        {0xdc000000, 0x03ffffff}, // FLAT
        {0xe0000000, 0x03ffffff}, // MUBUF
        {0xe8000000, 0x03ffffff}, // MTBUF
    };
    constexpr uint64_t slots = 6000;
    std::mt19937_64 random(target() == "gfx90a" ? 1 : 2);
    std::string body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[16:17], s[0:1], 0x10
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  s_waitcnt lgkmcnt(0)
  s_getpc_b64 s[40:41]
.Lbase:
  s_lshl_b32 s16, s16, 4
  s_add_u32 s40, s40, .Lslots-.Lbase
  s_addc_u32 s41, s41, 0
  s_add_u32 s40, s40, s16
  s_addc_u32 s41, s41, 0
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_mov_b32 s10, 0x1000
  s_mov_b32 s11, 0x00020000
  s_setpc_b64 s[40:41]
  .p2align 4
.Lslots:
)";
    for (uint64_t i = 0; i < slots; ++i) {
      const auto &format = formats[random() % std::size(formats)];
      uint32_t first = format[0] | (uint32_t(random()) & format[1]);
      // Fields that must be zero often are.
      uint32_t second = uint32_t(random());
      if (random() % 2)
        second &= uint32_t(random()) & uint32_t(random());
      if (random() % 2)
        second &= 0x3f3f3f3fu;
      body += "  .long " + std::to_string(first) + ", " +
              std::to_string(second) + ", 0xbf810000, 0xbf810000\n";
    }
    auto object =
        build(assembleKernel(target(), body, 4096), "assembler", target());
    ASSERT_TRUE(object);
    Device device;
    uint64_t buffer = device.upload(std::vector<uint32_t>(4096));
    std::set<std::string> executed;
    unsigned failed = 0;
    for (uint64_t i = 0; i < slots; ++i) {
      std::vector<InstructionUse> use;
      LaunchParameters parameters;
      parameters.kernel = "f";
      parameters.workgroup = {64, 1, 1};
      Arguments arguments;
      arguments.add(buffer).add(buffer).add(i);
      parameters.kernarg = arguments.bytes;
      parameters.maxInstructions = 200;
      parameters.instructionUse = &use;
      auto counters = launch(*object, device.memory, parameters);
      if (!counters) {
        std::string message = messageOf(counters);
        EXPECT_NE(message.find("kernel 'f'"), std::string::npos) << message;
        ++failed;
        continue;
      }
      for (const InstructionUse &u : use)
        executed.insert(u.opcode);
    }
    EXPECT_GT(failed, 0u);
    EXPECT_GT(executed.size(), 300u);
  }

  //===----------------------------------------------------------------------===//
  // The table
  //===----------------------------------------------------------------------===//

  TEST(InstructionTable, DocumentationIsUpToDate) {
    auto page = instructionTable();
    ASSERT_TRUE(bool(page)) << llvm::toString(page.takeError());
    auto file = llvm::MemoryBuffer::getFile(WAVESMITH_TEST_DOCS
                                            "/simulator-instructions.md");
    ASSERT_TRUE(bool(file)) << "docs/simulator-instructions.md is missing";
    EXPECT_TRUE((*file)->getBuffer() == *page)
        << "run: simulator-instructions --markdown > "
           "docs/simulator-instructions.md";
  }

  TEST(InstructionTable, KnowsTheTargets) {
    auto first = instructionSet("gfx90a"), second = instructionSet("gfx942");
    ASSERT_TRUE(first && second);
    auto has = [](const std::vector<InstructionInfo> &list, const char *name) {
      return std::any_of(list.begin(), list.end(),
                         [&](const auto &info) { return info.opcode == name; });
    };
    EXPECT_GT(first->size(), 1000u);
    EXPECT_GT(second->size(), 1000u);
    EXPECT_TRUE(has(*first, "V_FMA_F64") && has(*second, "V_FMA_F64"));
    EXPECT_FALSE(has(*first, "V_CVT_PK_FP8_F32"));
    EXPECT_TRUE(has(*second, "V_CVT_PK_FP8_F32"));
    EXPECT_FALSE(has(*second, "V_MAC_F32"));
    EXPECT_TRUE(has(*first, "DS_GWS_BARRIER"));
    for (const InstructionInfo &info : *first) {
      if (info.exactness != Exactness::Exact) {
        EXPECT_FALSE(info.note.empty()) << info.opcode;
      }
    }
    auto other = instructionSet("gfx1100");
    EXPECT_NE(messageOf(other).find("gfx1100"), std::string::npos);
  }

  //===----------------------------------------------------------------------===//
  // Silent faults of another emulator, each as a test
  //===----------------------------------------------------------------------===//

  class EmulatorFaults : public OnTarget {};

  // Of facts about rocjitsu in July 2026: literals of f64 sources, packed moves
  // of SGPRs, results of atomics that return none, offsets of buffers, AGPRs of
  // matrix instructions, the packing of work-item numbers, the granule of
  // VGPRs, the rounding mode, and words that are no instruction.
  TEST_P(EmulatorFaults, LiteralOfAnF64IsItsHighHalf) {
    auto outcomes = runLines(target(),
                             {"v_mov_b32 v8, 0\nv_mov_b32 v9, 0\n"
                              "v_ceil_f64_e32 v[8:9], 0x40091eb8"},
                             {{}});
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_EQ(asDouble(outcomes[0][0].low), 4.0);
  }

  TEST_P(EmulatorFaults, PackedMoveOfScalarPairs) {
    auto outcomes =
        runLines(target(),
                 {"s_mov_b32 s40, 1\ns_mov_b32 s41, 2\n"
                  "v_pk_mov_b32 v[8:9], s[40:41], s[40:41] op_sel:[1,0]",
                  "s_mov_b32 s40, 1\ns_mov_b32 s41, 2\n"
                  "v_pk_mov_b32 v[8:9], s[40:41], v[2:3] op_sel:[0,1]"},
                 {{0x500000006, 0, 0}});
    ASSERT_EQ(outcomes.size(), 2u);
    EXPECT_EQ(outcomes[0][0].low, 2 | (uint64_t(1) << 32));
    EXPECT_EQ(outcomes[1][0].low, 1 | (uint64_t(5) << 32));
  }

  TEST_P(EmulatorFaults, AtomicsWithoutReturnKeepEveryRegister) {
    // The encoding's result field is 0 then: v0 must survive.
    auto outcomes =
        runLines(target(),
                 {"v_mov_b32 v16, 0\nds_write_b32 v16, v2\n"
                  "ds_add_u32 v16, v4\nds_add_f32 v16, v4\nds_inc_u32 v16, v4\n"
                  "s_waitcnt lgkmcnt(0)\nv_mov_b32 v8, v0"},
                 assortedSources(64, 1), ~uint64_t(0), 0xf0, 64);
    ASSERT_EQ(outcomes.size(), 1u);
    for (uint32_t l = 0; l < 64; ++l)
      EXPECT_EQ(low(outcomes[0][l].low), l);
  }

  TEST_P(EmulatorFaults, BufferOffsetsMayBeInlineConstants) {
    auto got = runOnBuffer(target(), R"(
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_mov_b32 s10, 0x400
  s_mov_b32 s11, 0x00020000
  v_mov_b32 v1, 77
  s_mov_b64 exec, 1
  buffer_store_dword v1, off, s[8:11], 64 offset:4
  s_mov_b32 m0, 0x20
  buffer_store_dword v1, off, s[8:11], m0 offset:4
)",
                           32);
    ASSERT_EQ(got.size(), 32u);
    EXPECT_EQ(got[17], 77u);
    EXPECT_EQ(got[9], 77u);
    EXPECT_EQ(got[1], 1u);
  }

  TEST_P(EmulatorFaults, MatrixOperandsInAccumulationRegisters) {
    // All ones times all twos: each element is 4 * 1 * 2.
    auto outcomes =
        runLines(target(),
                 {"v_mov_b32 v16, 0\nv_mov_b32 v17, 0x3ff00000\nv_mov_b32 v18, "
                  "0x40000000\n"
                  "v_accvgpr_write_b32 a0, v16\nv_accvgpr_write_b32 a1, v17\n"
                  "v_accvgpr_write_b32 a2, v16\nv_accvgpr_write_b32 a3, v18\n"
                  "s_nop 7\nv_mfma_f64_16x16x4" +
                  std::string(target() == "gfx90a" ? "f64" : "_f64") +
                  " a[8:15], a[0:1], a[2:3], 0\ns_nop 15\ns_nop 7\n"
                  "v_accvgpr_read_b32 v8, a10\nv_accvgpr_read_b32 v9, a11"},
                 assortedSources(64, 1));
    ASSERT_EQ(outcomes.size(), 1u);
    for (const Outcome &o : outcomes[0])
      EXPECT_EQ(asDouble(o.low), 8.0);
  }

  TEST_P(EmulatorFaults, WorkItemIdsArePackedInTenBits) {
    std::string body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_bfe_u32 v3, v0, 20, 10
  v_lshl_add_u32 v4, v2, 2, v1
  v_lshl_add_u32 v4, v3, 4, v4
  v_lshlrev_b32 v4, 2, v4
  s_waitcnt lgkmcnt(0)
  global_store_dword v4, v0, s[4:5]
  s_endpgm
)";
    auto object = build(assembleKernel(target(), body), "assembler", target());
    ASSERT_TRUE(object);
    Device device;
    uint64_t out = device.upload(std::vector<uint32_t>(64));
    LaunchParameters parameters;
    parameters.kernel = "f";
    parameters.workgroup = {4, 4, 4};
    Arguments arguments;
    arguments.add(out).add(uint64_t(0)).add(uint64_t(0));
    parameters.kernarg = arguments.bytes;
    auto counters = launch(*object, device.memory, parameters);
    ASSERT_TRUE(bool(counters)) << messageOf(counters);
    auto got = device.download<uint32_t>(out, 64);
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(got[i], (i % 4) | ((i / 4 % 4) << 10) | ((i / 16) << 20));
  }

  TEST_P(EmulatorFaults, VectorRegistersComeInGranulesOfEight) {
    // 84 registers, 44 of them AGPRs: the last of each kind is there, and a
    // wavefront takes 88 of a SIMD's 512, so that five fit; with the granule of
    // older chips, 4, it would be six.
    AssembledKernel kernel;
    kernel.vgprs = 84;
    kernel.accumOffset = 40;
    kernel.body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_add_u32 v39, 7, v0
  v_accvgpr_write_b32 a43, v0
  v_lshlrev_b32 v1, 3, v0
  v_accvgpr_read_b32 v38, a43
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v1, v[38:39], s[4:5]
  s_endpgm
)";
    auto object =
        build(assembleModule(target(), {kernel}), "assembler", target());
    ASSERT_TRUE(object);
    Device device;
    uint64_t out = device.upload(std::vector<uint64_t>(64));
    LaunchParameters parameters;
    parameters.kernel = "f";
    parameters.workgroup = {64, 1, 1};
    Arguments arguments;
    arguments.add(out).add(uint64_t(0)).add(uint64_t(0));
    parameters.kernarg = arguments.bytes;
    auto result = launchTimed(*object, device.memory, parameters, {});
    ASSERT_TRUE(bool(result)) << messageOf(result);
    EXPECT_EQ(result->second.wavesPerSIMD, 5u);
    EXPECT_EQ(result->second.occupancyLimit, "VGPRs");
    auto got = device.download<uint64_t>(out, 64);
    for (uint64_t i = 0; i < 64; ++i)
      EXPECT_EQ(got[i], i | (i + 7) << 32);
  }

  TEST_P(EmulatorFaults, RoundingModeIsHonoured) {
    auto up = runLines(target(), {"v_add_f32 v8, v2, v4"},
                       {{bits(1.0f), bits(0x1p-40f), 0}}, ~uint64_t(0), 0xf1);
    auto down = runLines(target(), {"v_add_f32 v8, v2, v4"},
                         {{bits(1.0f), bits(0x1p-40f), 0}}, ~uint64_t(0), 0xf2);
    ASSERT_EQ(up.size(), 1u);
    ASSERT_EQ(down.size(), 1u);
    EXPECT_EQ(low(up[0][0].low), 0x3f800001u);
    EXPECT_EQ(low(down[0][0].low), 0x3f800000u);
  }

  TEST_P(EmulatorFaults, AnUndecodableWordIsAnError) {
    auto object = build(assembleKernel(target(), "  .long 0xd8ffffff\n"
                                                 "  s_endpgm\n"),
                        "assembler", target());
    ASSERT_TRUE(object);
    Device device;
    auto result = device.tryRun(
        *object, "f", 1, 64,
        Arguments().add(uint64_t(0)).add(uint64_t(0)).add(uint64_t(0)));
    EXPECT_NE(messageOf(result).find("no instruction of this target"),
              std::string::npos);
  }

  FOR_BOTH_TARGETS(CoverageTest);
  FOR_BOTH_TARGETS(EmulatorFaults);

  } // namespace
