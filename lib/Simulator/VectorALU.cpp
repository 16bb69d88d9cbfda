//===- VectorALU.cpp - 32-bit vector arithmetic -------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

template <typename T> ALWAYS_INLINE T minimum(T a, T b) {
  return a < b ? a : b;
}
template <typename T> ALWAYS_INLINE T maximum(T a, T b) {
  return a > b ? a : b;
}
template <typename T> ALWAYS_INLINE T median(T a, T b, T c) {
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}

template <bool IEEE> ALWAYS_INLINE float medianF32(float a, float b, float c) {
  float least = extremum<IEEE, false>(extremum<IEEE, false>(a, b), c);
  float middle = extremum<false, true>(
      extremum<false, false>(a, b),
      extremum<false, false>(extremum<false, true>(a, b), c));
  return ((a != a) | (b != b) | (c != c)) ? least : middle;
}

ALWAYS_INLINE int32_t sign24(uint32_t a) {
  return static_cast<int32_t>(a << 8) >> 8;
}
ALWAYS_INLINE uint32_t low24(uint32_t a) { return a & 0xffffffu; }

ALWAYS_INLINE uint32_t extract(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t first = b & 31, count = c & 31;
  return (a >> first) & ((1u << count) - 1u);
}
ALWAYS_INLINE int32_t extractSigned(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t first = b & 31, count = c & 31;
  if (count == 0)
    return 0;
  if (first + count >= 32)
    return static_cast<int32_t>(a) >> first;
  return static_cast<int32_t>(a << (32 - first - count)) >> (32 - count);
}

ALWAYS_INLINE uint32_t reverseBits(uint32_t a) {
  a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
  a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
  a = ((a >> 4) & 0x0f0f0f0fu) | ((a & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(a);
}

/// v_perm_b32: each byte of the selector picks one of eight bytes (b is the
/// low half), a sign or a constant.
inline uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t source = (uint64_t(a) << 32) | b;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t s = (selector >> (8 * i)) & 0xff;
    uint32_t byte;
    if (s >= 13)
      byte = 0xff;
    else if (s == 12)
      byte = 0;
    else if (s >= 8)
      byte = ((source >> (16 * (s - 8) + 15)) & 1) ? 0xff : 0;
    else
      byte = (source >> (8 * s)) & 0xff;
    result |= byte << (8 * i);
  }
  return result;
}

inline uint32_t sumOfDifferences(uint32_t a, uint32_t b, uint32_t c,
                                 bool masked, unsigned shift) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    int32_t x = (a >> (8 * i)) & 0xff, y = (b >> (8 * i)) & 0xff;
    if (!masked || y)
      sum += static_cast<uint32_t>(x > y ? x - y : y - x);
  }
  return (sum << shift) + c;
}

inline uint32_t sumOfHalfDifferences(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < 32; i += 16) {
    uint32_t x = (a >> i) & 0xffff, y = (b >> i) & 0xffff;
    sum += x > y ? x - y : y - x;
  }
  return sum;
}

/// Conversions saturate and give 0 for NaN.
ALWAYS_INLINE int32_t toI32(float a) {
  return a != a                ? 0
         : a >= 2147483648.0f  ? INT32_MAX
         : a <= -2147483648.0f ? INT32_MIN
                               : static_cast<int32_t>(a);
}
ALWAYS_INLINE uint32_t toU32(float a) {
  return !(a > 0)             ? 0u
         : a >= 4294967296.0f ? UINT32_MAX
                              : static_cast<uint32_t>(a);
}

/// Rounds towards zero to a half.
inline uint16_t halfTowardsZero(float value) { return halfOf(value, 3); }

#ifdef __F16C__
void packTowardsZero(Wave &w, const Instruction &I) {
  F32::Buffer buffers[2];
  F32::Source s[2];
  for (unsigned i = 0; i < 2; ++i)
    s[i] = F32::source(w, I.src[i], buffers[i]);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; l += 8) {
    __m256i half[2];
    for (unsigned i = 0; i < 2; ++i) {
      __m256i x = _mm256_and_si256(loadEight(s[i].p + l),
                                   _mm256_set1_epi32(int(s[i].andMask)));
      x = _mm256_xor_si256(x, _mm256_set1_epi32(int(s[i].xorMask)));
      half[i] = halvesOfFloats<_MM_FROUND_TO_ZERO>(_mm256_castsi256_ps(x));
    }
    blendEight(d + l, w.execMask + l,
               _mm256_or_si256(half[0], _mm256_slli_epi32(half[1], 16)));
  }
}
#endif

inline int32_t normalized(float a, float scale, float low) {
  if (a != a)
    return 0;
  float clamped = a > 1.0f ? 1.0f : a < low ? low : a;
  return static_cast<int32_t>(__builtin_rintf(clamped * scale));
}

/// v_mad_f32: without denormals whatever the mode, the product rounded.
ALWAYS_INLINE float multiplyThenAdd(float a, float b, float c) {
  float product = hardware::flushDenormal(hardware::flushDenormal(a) *
                                          hardware::flushDenormal(b));
  return hardware::flushDenormal(product + hardware::flushDenormal(c));
}

/// The host's sequence for unsigned numbers gives -0 when rounding down: half
/// of a large one is converted, the bit that falls off kept for the rounding.
ALWAYS_INLINE float floatOfUnsigned(uint32_t a) {
  float small = static_cast<float>(static_cast<int32_t>(a));
  float large =
      2 * static_cast<float>(static_cast<int32_t>((a >> 1) | (a & 1)));
  return static_cast<int32_t>(a) < 0 ? large : small;
}

/// The face of a cube that a direction hits and the coordinates there.
struct Cube {
  float face, s, t, major;
};
inline Cube cubeOf(float x, float y, float z) {
  if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y))
    return {z < 0 ? 5.0f : 4.0f, z < 0 ? -x : x, -y, 2 * z};
  if (std::fabs(y) >= std::fabs(x))
    return {y < 0 ? 3.0f : 2.0f, x, y < 0 ? -z : z, 2 * y};
  return {x < 0 ? 1.0f : 0.0f, x < 0 ? z : -z, -y, 2 * x};
}

inline uint32_t lerpBytes(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 32; i += 8)
    result |= ((((a >> i) & 0xff) + ((b >> i) & 0xff) + ((c >> i) & 1)) >> 1)
              << i;
  return result;
}

/// To a byte, saturated.
inline uint32_t byteOfF32(float a) {
  return !(a > 0) ? 0 : a >= 255.0f ? 255 : uint32_t(__builtin_rintf(a));
}
inline uint32_t insertByte(uint32_t byte, uint32_t at, uint32_t into) {
  unsigned shift = 8 * (at & 3);
  return (into & ~(0xffu << shift)) | (byte << shift);
}

/// Four sums of absolute differences, of b with four windows of the 64-bit a.
template <bool Masked, bool Wide>
void quadSumOfDifferences(Wave &w, const Instruction &I) {
  constexpr unsigned dwords = Wide ? 4 : 2;
  alignas(64) uint32_t buffers[3][4][L];
  const uint32_t *a[2], *c[4];
  for (unsigned i = 0; i < 2; ++i)
    a[i] = lanes(w, I.src[0], i, buffers[0][i]);
  const uint32_t *b = lanes(w, I.src[1], 0, buffers[1][0]);
  for (unsigned i = 0; i < dwords; ++i)
    // A constant stands for its 64 bits only.
    c[i] = lanes(w, I.src[2],
                 I.src[2].kind == OperandKind::Constant && i > 1 ? 1 : i,
                 buffers[2][i]);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    uint64_t window = a[0][l] | (uint64_t(a[1][l]) << 32);
    uint32_t reference = b[l], result[4] = {};
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t base = Wide ? c[i][l] : (c[i / 2][l] >> (16 * (i % 2))) & 0xffff;
      uint64_t sum = sumOfDifferences(uint32_t(window >> (8 * i)), reference, 0,
                                      Masked, 0);
      sum += base;
      uint64_t most = Wide ? UINT32_MAX : 0xffff;
      if (I.clamp && sum > most)
        sum = most;
      if (Wide)
        result[i] = static_cast<uint32_t>(sum);
      else
        result[i / 2] |= static_cast<uint32_t>(sum & 0xffff) << (16 * (i % 2));
    }
    for (unsigned i = 0; i < dwords; ++i)
      d[i][l] = result[i];
  }
}

/// Inserts a byte into the destination.
void accumulateByte(Wave &w, const Instruction &I) {
  F32::Buffer buffer;
  F32::Source a = F32::source(w, I.src[0], buffer);
  alignas(64) uint32_t words[L];
  const uint32_t *b = lanes(w, I.src[1], 0, words);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      d[l] = insertByte(byteOfF32(a.get(l)), b[l], d[l]);
}

inline int32_t saturate(int64_t a, int64_t low, int64_t high) {
  return static_cast<int32_t>(a < low ? low : a > high ? high : a);
}

//===----------------------------------------------------------------------===//
// Carries
//===----------------------------------------------------------------------===//

enum class Carry { Add, Sub, SubReverse };

/// d = a +- b (+- carry in), carry out to a mask.
template <Carry Kind, bool HasCarryIn>
void carryOperation(Wave &w, const Instruction &I) {
  alignas(64) uint32_t bufferA[L], bufferB[L], in[L], out[L];
  const uint32_t *a = lanes(w, I.src[0], 0, bufferA);
  const uint32_t *b = lanes(w, I.src[1], 0, bufferB);
  if (HasCarryIn) {
    // Without an explicit operand (e32, SDWA, DPP) it is VCC.
    expandMask(I.src[2].kind == OperandKind::None ? w.read64(sgprVCC)
                                                  : s64(w, I.src[2]),
               in);
  }
  uint32_t *d = w.vgpr[I.dst.index];
  VECTORIZE
  for (unsigned l = 0; l < L; ++l) {
    uint32_t x = Kind == Carry::SubReverse ? b[l] : a[l];
    uint32_t y = Kind == Carry::SubReverse ? a[l] : b[l];
    uint32_t c = HasCarryIn ? in[l] & 1u : 0u;
    uint32_t result, carry;
    if (Kind == Carry::Add) {
      uint32_t partial = x + y;
      result = partial + c;
      carry = uint32_t(partial < x) | uint32_t(result < partial);
    } else {
      uint32_t partial = x - y;
      result = partial - c;
      carry = uint32_t(x < y) | uint32_t(partial < c);
    }
    if (I.clamp)
      result = carry ? (Kind == Carry::Add ? ~0u : 0u) : result;
    out[l] = carry;
    d[l] = (result & w.execMask[l]) | (d[l] & ~w.execMask[l]);
  }
  w.write64(I.sdst.index, packMask(out) & w.exec);
}

/// d = a +- b, which clamp saturates as unsigned or signed.
template <Carry Kind, bool Signed>
void addOperation(Wave &w, const Instruction &I) {
  alignas(64) uint32_t bufferA[L], bufferB[L];
  const uint32_t *a = lanes(w, I.src[0], 0, bufferA);
  const uint32_t *b = lanes(w, I.src[1], 0, bufferB);
  uint32_t *d = w.vgpr[I.dst.index];
  if (!I.clamp) {
    VECTORIZE
    for (unsigned l = 0; l < L; ++l) {
      uint32_t result = Kind == Carry::Add   ? a[l] + b[l]
                        : Kind == Carry::Sub ? a[l] - b[l]
                                             : b[l] - a[l];
      d[l] = (result & w.execMask[l]) | (d[l] & ~w.execMask[l]);
    }
    return;
  }
  for (unsigned l = 0; l < L; ++l) {
    if (!w.execMask[l])
      continue;
    uint32_t x = Kind == Carry::SubReverse ? b[l] : a[l];
    uint32_t y = Kind == Carry::SubReverse ? a[l] : b[l];
    int64_t wideX = Signed ? int64_t(int32_t(x)) : int64_t(x);
    int64_t wideY = Signed ? int64_t(int32_t(y)) : int64_t(y);
    int64_t wide = Kind == Carry::Add ? wideX + wideY : wideX - wideY;
    int64_t low = Signed ? INT32_MIN : 0;
    int64_t high = Signed ? int64_t(INT32_MAX) : int64_t(UINT32_MAX);
    d[l] = static_cast<uint32_t>(wide < low ? low : wide > high ? high : wide);
  }
}

template <bool Signed> void multiplyAdd64(Wave &w, const Instruction &I) {
  U64::Buffer bufferC;
  alignas(64) uint32_t bufferA[L], bufferB[L], out[L];
  const uint32_t *a = lanes(w, I.src[0], 0, bufferA);
  const uint32_t *b = lanes(w, I.src[1], 0, bufferB);
  U64::Source c = U64::source(w, I.src[2], bufferC);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  VECTORIZE
  for (unsigned l = 0; l < L; ++l) {
    uint64_t product = Signed ? uint64_t(int64_t(int32_t(a[l])) * int32_t(b[l]))
                              : uint64_t(a[l]) * b[l];
    uint64_t addend = c.get(l);
    uint64_t sum = product + addend;
    out[l] = Signed
                 ? uint32_t((((~(product ^ addend)) & (product ^ sum)) >> 63))
                 : uint32_t(sum < product);
    U64::blend(d, l, sum, w.execMask[l]);
  }
  w.write64(I.sdst.index, packMask(out) & w.exec);
}

/// d = mask ? b : a.
void conditionalMask(Wave &w, const Instruction &I) {
  alignas(64) uint32_t mask[L];
  F32::Buffer bufferA, bufferB;
  // Modifiers of this instruction act on the sign bit as for f32.
  F32::Source a = F32::source(w, I.src[0], bufferA);
  F32::Source b = F32::source(w, I.src[1], bufferB);
  expandMask(I.src[2].kind == OperandKind::None ? w.read64(sgprVCC)
                                                : s64(w, I.src[2]),
             mask);
  uint32_t *d = w.vgpr[I.dst.index];
  VECTORIZE
  for (unsigned l = 0; l < L; ++l) {
    uint32_t x = (a.p[l] & a.andMask) ^ a.xorMask;
    uint32_t y = (b.p[l] & b.andMask) ^ b.xorMask;
    uint32_t r = (y & mask[l]) | (x & ~mask[l]);
    d[l] = (r & w.execMask[l]) | (d[l] & ~w.execMask[l]);
  }
}

void swapRegisters(Wave &w, const Instruction &I) {
  uint32_t *a = w.vgpr[I.dst.index];
  uint32_t *b = w.vgpr[I.src[0].index];
  for (unsigned l = 0; l < L; ++l)
    if (w.execMask[l])
      std::swap(a[l], b[l]);
}

//===----------------------------------------------------------------------===//
// f32 functions in all lanes at once
//===----------------------------------------------------------------------===//

/// hardware::rsq_f32 for the vectoriser.
ALWAYS_INLINE float reciprocalRoot(float x) {
  x = hardware::flushDenormal(x);
  float root = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
  return x == 0 ? 1.0f / x : root;
}

/// a * b + c, rounded once where the host can.
ALWAYS_INLINE double multiplyAdd(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// v_exp_f32 with the bits of hardware::exp_f32, which rounds the library's f64
/// to f32. The polynomial is good to a few units in the last place of f64: it
/// rounds to the same f32 unless it lies next to the middle of two. Those
/// lanes, NaN and results about the least normal number take the library.
void expF32(Wave &w, const Instruction &I) {
  F32::Buffer buffer;
  F32::Source source = F32::source(w, I.src[0], buffer);
  // ln(2)^k / k!, even and odd k apart, from the highest; k = 13 is below
  // 2^-52.
  constexpr double even[] = {2.5678435993488206e-11,
                             7.0549116208011230e-09,
                             1.3215486790144309e-06,
                             1.5403530393381609e-04,
                             9.6181291076284772e-03,
                             2.4022650695910071e-01,
                             1.0};
  constexpr double odd[] = {4.4455382718708116e-10, 1.0178086009239700e-07,
                            1.5252733804059841e-05, 1.3333558146428443e-03,
                            5.5504108664821580e-02, 6.9314718055994531e-01};
  alignas(64) uint32_t result[L], library[L];
  VECTORIZE
  for (unsigned l = 0; l < L; ++l) {
    float x = source.get(l);
    // In range, whatever x is; comparisons with NaN are false.
    double inRange = x > -127.0f ? (x < 128.0f ? x : 0.0f) : 0.0f;
    constexpr double toInteger = 0x1.8p52;
    double shifted = inRange + toInteger;
    double rest = inRange - (shifted - toInteger);
    double square = rest * rest, sumEven = even[0], sumOdd = odd[0];
    for (unsigned k = 1; k < 6; ++k) {
      sumEven = multiplyAdd(sumEven, square, even[k]);
      sumOdd = multiplyAdd(sumOdd, square, odd[k]);
    }
    sumEven = multiplyAdd(sumEven, square, even[6]);
    double power = multiplyAdd(sumOdd, rest, sumEven);
    uint64_t scale = (hardware::bitsOf(shifted) + 1023) << 52;
    double value = power * hardware::doubleOf(scale);
    // The 29 bits that f32 does not have, from the middle.
    uint32_t dropped =
        static_cast<uint32_t>(hardware::bitsOf(value)) & 0x1fffffffu;
    bool middle = dropped - (0x10000000u - 64u) <= 128u;
    bool edge = x >= -127.0f && x <= -126.0f;
    library[l] = ((x != x) | middle | edge) ? ~0u : 0u;
    uint32_t bits = hardware::bitsOf(static_cast<float>(value));
    bits = x < -127.0f ? 0u : bits;
    result[l] = x >= 128.0f ? 0x7f800000u : bits;
  }
  uint32_t *d = w.vgpr[I.dst.index];
  for (uint64_t rest = packMask(library) & w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    result[l] = hardware::bitsOf(hardware::exp_f32(source.get(l)));
  }
  for (unsigned l = 0; l < L; l += 8)
    storeWords(d + l, blendWords(loadWords(result + l), loadWords(d + l),
                                 loadWords(w.execMask + l)));
}

} // namespace

void registerVectorALU(OpcodeTable &table) {
  using namespace hardware;

  //===--- Moves ----------------------------------------------------------===//
  OP1("V_MOV_B32", U32, U32, a);
  OP1("V_MOV_B64", U64, U64, a);
  OP1("V_NOT_B32", U32, U32, ~a);
  OP1("V_BFREV_B32", U32, U32, reverseBits(a));
  OP1("V_ACCVGPR_READ_B32", U32, U32, a);
  OP1("V_ACCVGPR_WRITE_B32", U32, U32, a);
  OP1("V_ACCVGPR_MOV_B32", U32, U32, a);
  table.entries["V_CNDMASK_B32"] =
      vectorEntry<F32, F32, U64>(&conditionalMask, ValueType::B32);
  table.entries["V_CNDMASK_B32"].bitwise = true;
  table.entries["V_SWAP_B32"] =
      vectorEntry<U32>(&swapRegisters, ValueType::B32);

  //===--- Integers -------------------------------------------------------===//
  table.entries["V_ADD_U32"] =
      vectorEntry<U32, U32>(&addOperation<Carry::Add, false>, ValueType::B32);
  table.entries["V_SUB_U32"] =
      vectorEntry<U32, U32>(&addOperation<Carry::Sub, false>, ValueType::B32);
  table.entries["V_SUBREV_U32"] = vectorEntry<U32, U32>(
      &addOperation<Carry::SubReverse, false>, ValueType::B32);
  table.entries["V_ADD_I32"] =
      vectorEntry<U32, U32>(&addOperation<Carry::Add, true>, ValueType::B32);
  table.entries["V_SUB_I32"] =
      vectorEntry<U32, U32>(&addOperation<Carry::Sub, true>, ValueType::B32);
  table.entries["V_ADD_CO_U32"] =
      vectorEntry<U32, U32>(&carryOperation<Carry::Add, false>, ValueType::B32);
  table.entries["V_SUB_CO_U32"] =
      vectorEntry<U32, U32>(&carryOperation<Carry::Sub, false>, ValueType::B32);
  table.entries["V_SUBREV_CO_U32"] = vectorEntry<U32, U32>(
      &carryOperation<Carry::SubReverse, false>, ValueType::B32);
  table.entries["V_ADDC_CO_U32"] = vectorEntry<U32, U32, U64>(
      &carryOperation<Carry::Add, true>, ValueType::B32);
  table.entries["V_SUBB_CO_U32"] = vectorEntry<U32, U32, U64>(
      &carryOperation<Carry::Sub, true>, ValueType::B32);
  table.entries["V_SUBBREV_CO_U32"] = vectorEntry<U32, U32, U64>(
      &carryOperation<Carry::SubReverse, true>, ValueType::B32);
  table.entries["V_MAD_U64_U32"] =
      vectorEntry<U32, U32, U64>(&multiplyAdd64<false>, ValueType::B64);
  table.entries["V_MAD_I64_I32"] =
      vectorEntry<U32, U32, U64>(&multiplyAdd64<true>, ValueType::B64);
  for (const char *name :
       {"V_ADD_U32", "V_SUB_U32", "V_SUBREV_U32", "V_ADD_I32", "V_SUB_I32",
        "V_ADD_CO_U32", "V_SUB_CO_U32", "V_SUBREV_CO_U32", "V_ADDC_CO_U32",
        "V_SUBB_CO_U32", "V_SUBBREV_CO_U32"})
    table.entries[name].handlesClamp = true;

  OP2("V_MUL_LO_U32", U32, U32, U32, a * b);
  OP2("V_MUL_HI_U32", U32, U32, U32, (uint64_t(a) * b) >> 32);
  OP2("V_MUL_HI_I32", I32, I32, I32, (int64_t(a) * b) >> 32);
  OP2("V_MUL_U32_U24", U32, U32, U32, low24(a) * low24(b));
  OP2("V_MUL_HI_U32_U24", U32, U32, U32, (uint64_t(low24(a)) * low24(b)) >> 32);
  OP2("V_MUL_I32_I24", U32, U32, U32,
      uint32_t(sign24(a)) * uint32_t(sign24(b)));
  OP2("V_MUL_HI_I32_I24", U32, U32, U32,
      uint64_t(int64_t(sign24(a)) * sign24(b)) >> 32);
  SATURATING3("V_MAD_U32_U24", U32, U32, U32, U32, low24(a) * low24(b) + c,
              __int128(low24(a)) * low24(b) + z + 0 * (x + y));
  SATURATING3("V_MAD_I32_I24", I32, I32, I32, I32,
              uint32_t(sign24(a)) * uint32_t(sign24(b)) + uint32_t(c),
              __int128(sign24(a)) * sign24(b) + z + 0 * (x + y));
  SATURATING3("V_MAD_U32_U16", U32, U16, U16, U32, uint32_t(a) * b + c,
              x * y + z);
  SATURATING3("V_MAD_I32_I16", I32, I16, I16, I32,
              uint32_t(int32_t(a) * int32_t(b)) + uint32_t(c), x * y + z);
  OP2("V_MIN_I32", I32, I32, I32, minimum(a, b));
  OP2("V_MAX_I32", I32, I32, I32, maximum(a, b));
  OP2("V_MIN_U32", U32, U32, U32, minimum(a, b));
  OP2("V_MAX_U32", U32, U32, U32, maximum(a, b));
  OP3("V_MIN3_I32", I32, I32, I32, I32, minimum(minimum(a, b), c));
  OP3("V_MAX3_I32", I32, I32, I32, I32, maximum(maximum(a, b), c));
  OP3("V_MED3_I32", I32, I32, I32, I32, median(a, b, c));
  OP3("V_MIN3_U32", U32, U32, U32, U32, minimum(minimum(a, b), c));
  OP3("V_MAX3_U32", U32, U32, U32, U32, maximum(maximum(a, b), c));
  OP3("V_MED3_U32", U32, U32, U32, U32, median(a, b, c));
  OP2("V_AND_B32", U32, U32, U32, a & b);
  OP2("V_OR_B32", U32, U32, U32, a | b);
  OP2("V_XOR_B32", U32, U32, U32, a ^ b);
  OP2("V_XNOR_B32", U32, U32, U32, ~(a ^ b));
  OP2("V_LSHLREV_B32", U32, U32, U32, b << (a & 31));
  OP2("V_LSHRREV_B32", U32, U32, U32, b >> (a & 31));
  OP2("V_ASHRREV_I32", I32, U32, I32, b >> (a & 31));
  OP2("V_LSHLREV_B64", U64, U32, U64, b << (a & 63));
  OP2("V_LSHRREV_B64", U64, U32, U64, b >> (a & 63));
  OP2("V_ASHRREV_I64", I64, U32, I64, b >> (a & 63));
  OP3("V_LSHL_ADD_U32", U32, U32, U32, U32, (a << (b & 31)) + c);
  OP3("V_ADD_LSHL_U32", U32, U32, U32, U32, (a + b) << (c & 31));
  OP3("V_LSHL_OR_B32", U32, U32, U32, U32, (a << (b & 31)) | c);
  OP3("V_AND_OR_B32", U32, U32, U32, U32, (a & b) | c);
  OP3("V_OR3_B32", U32, U32, U32, U32, a | b | c);
  OP3("V_ADD3_U32", U32, U32, U32, U32, a + b + c);
  OP3("V_XAD_U32", U32, U32, U32, U32, (a ^ b) + c);
  OP3("V_LSHL_ADD_U64", U64, U64, U32, U64, (a << (b & 7)) + c);
  OP3("V_BFE_U32", U32, U32, U32, U32, extract(a, b, c));
  OP3("V_BFE_I32", I32, U32, U32, U32, extractSigned(a, b, c));
  OP3("V_BFI_B32", U32, U32, U32, U32, (a & b) | (~a & c));
  OP2("V_BFM_B32", U32, U32, U32, ((1u << (a & 31)) - 1u) << (b & 31));
  OP3("V_ALIGNBIT_B32", U32, U32, U32, U32,
      ((uint64_t(a) << 32) | b) >> (c & 31));
  OP3("V_ALIGNBYTE_B32", U32, U32, U32, U32,
      ((uint64_t(a) << 32) | b) >> (8 * (c & 3)));
  SLOW3("V_PERM_B32", U32, U32, U32, U32, permuteBytes(a, b, c));
  SLOW2("V_BCNT_U32_B32", U32, U32, U32, uint32_t(__builtin_popcount(a)) + b);
  SLOW1("V_FFBH_U32", U32, U32, a ? uint32_t(__builtin_clz(a)) : ~0u);
  SLOW1("V_FFBL_B32", U32, U32, a ? uint32_t(__builtin_ctz(a)) : ~0u);
  SLOW1("V_FFBH_I32", U32, I32,
        (a ^ (a >> 31)) ? uint32_t(__builtin_clz(uint32_t(a ^ (a >> 31))))
                        : ~0u);
  SATURATING3("V_SAD_U8", U32, U32, U32, U32,
              sumOfDifferences(a, b, c, false, 0),
              __int128(sumOfDifferences(a, b, 0, false, 0)) + z + 0 * (x + y));
  SATURATING3("V_SAD_HI_U8", U32, U32, U32, U32,
              sumOfDifferences(a, b, c, false, 16),
              __int128(sumOfDifferences(a, b, 0, false, 16)) + z + 0 * (x + y));
  SATURATING3("V_MSAD_U8", U32, U32, U32, U32,
              sumOfDifferences(a, b, c, true, 0),
              __int128(sumOfDifferences(a, b, 0, true, 0)) + z + 0 * (x + y));
  SATURATING3("V_SAD_U32", U32, U32, U32, U32, (a > b ? a - b : b - a) + c,
              (x > y ? x - y : y - x) + z);
  SATURATING3("V_SAD_U16", U32, U32, U32, U32, sumOfHalfDifferences(a, b) + c,
              __int128(sumOfHalfDifferences(a, b)) + z + 0 * (x + y));
  OP3("V_LERP_U8", U32, U32, U32, U32, lerpBytes(a, b, c));
  for (auto [name, handler] :
       {std::pair<const char *, Handler>{"V_QSAD_PK_U16_U8",
                                         &quadSumOfDifferences<false, false>},
        {"V_MQSAD_PK_U16_U8", &quadSumOfDifferences<true, false>},
        {"V_MQSAD_U32_U8", &quadSumOfDifferences<true, true>}}) {
    table.entries[name] = vectorEntry<U64, U32, U64>(handler, ValueType::B64);
    table.entries[name].handlesClamp = true;
  }

  //===--- f32 ------------------------------------------------------------===//
  OP2("V_ADD_F32", F32, F32, F32, a + b, Arithmetic::F32Add);
  OP2("V_SUB_F32", F32, F32, F32, a - b, Arithmetic::F32Add);
  OP2("V_SUBREV_F32", F32, F32, F32, b - a, Arithmetic::F32Add);
  OP2("V_MUL_F32", F32, F32, F32, a * b, Arithmetic::F32Mul);
  OP2("V_MUL_LEGACY_F32", F32, F32, F32, (a == 0 || b == 0) ? 0.0f : a * b,
      Arithmetic::F32Mul);
  OP3("V_FMA_F32", F32, F32, F32, F32, __builtin_fmaf(a, b, c),
      Arithmetic::F32FMA);
  OP3("V_FMAC_F32", F32, F32, F32, F32, __builtin_fmaf(a, b, c),
      Arithmetic::F32FMA);
  // The literal is the second source of madmk and the third of madak.
  for (const char *name :
       {"V_MAD_F32", "V_MAC_F32", "V_MADAK_F32", "V_MADMK_F32"}) {
    OP3(name, F32, F32, F32, F32, multiplyThenAdd(a, b, c), Arithmetic::F32FMA);
  }
  OP3("V_FMAAK_F32", F32, F32, F32, F32, __builtin_fmaf(a, b, c),
      Arithmetic::F32FMA);
  OP3("V_FMAMK_F32", F32, F32, F32, F32, __builtin_fmaf(a, b, c),
      Arithmetic::F32FMA);
  MODE2("V_MIN_F32", F32, (extremum<IEEE, false>(a, b)));
  MODE2("V_MAX_F32", F32, (extremum<IEEE, true>(a, b)));
  MODE3("V_MIN3_F32", F32,
        (extremum<IEEE, false>(extremum<IEEE, false>(a, b), c)));
  MODE3("V_MAX3_F32", F32,
        (extremum<IEEE, true>(extremum<IEEE, true>(a, b), c)));
  MODE3("V_MED3_F32", F32, medianF32<IEEE>(a, b, c));
  OP1("V_RNDNE_F32", F32, F32, __builtin_rintf(a));
  OP1("V_TRUNC_F32", F32, F32, __builtin_truncf(a));
  OP1("V_CEIL_F32", F32, F32, __builtin_ceilf(a));
  OP1("V_FLOOR_F32", F32, F32, __builtin_floorf(a));
  OP1("V_FRACT_F32", F32, F32, fract_f32(a));
  SLOW1("V_FREXP_MANT_F32", F32, F32, frexp_mant_f32(a));
  SLOW1("V_FREXP_EXP_I32_F32", I32, F32, frexp_exp_i32_f32(a));
  SLOW2("V_LDEXP_F32", F32, F32, I32, std::ldexp(a, b));
  OP1("V_RCP_F32", F32, F32, rcp_f32(a), Arithmetic::F32Trans);
  OP1("V_RCP_IFLAG_F32", F32, F32, rcp_f32(a), Arithmetic::F32Trans);
  OP1("V_SQRT_F32", F32, F32, __builtin_sqrtf(flushDenormal(a)),
      Arithmetic::F32Trans);
  OP1("V_RSQ_F32", F32, F32, reciprocalRoot(a), Arithmetic::F32Trans);
  table.entries["V_EXP_F32"] =
      vectorEntry<F32>(&expF32, ValueType::F32, Arithmetic::F32Trans);
  SLOW1("V_EXP_LEGACY_F32", F32, F32, exp_f32(a), Arithmetic::F32Trans);
  SLOW1("V_LOG_LEGACY_F32", F32, F32, log_f32(a), Arithmetic::F32Trans);
  SLOW1("V_LOG_F32", F32, F32, log_f32(a), Arithmetic::F32Trans);
  SLOW1("V_SIN_F32", F32, F32, sin_f32(a), Arithmetic::F32Trans);
  SLOW1("V_COS_F32", F32, F32, cos_f32(a), Arithmetic::F32Trans);

  OP3("V_MAD_LEGACY_F32", F32, F32, F32, F32,
      ((flushDenormal(a) == 0) | (flushDenormal(b) == 0))
          ? flushDenormal(0.0f + flushDenormal(c))
          : multiplyThenAdd(a, b, c),
      Arithmetic::F32FMA);
  approximate(table,
              {"V_MAD_F32", "V_MAC_F32", "V_MADAK_F32", "V_MADMK_F32",
               "V_MAD_LEGACY_F32"},
              "two roundings; denormals are flushed whatever the mode, the "
              "product's too, which is an assumption");
  SLOW3("V_CUBEID_F32", F32, F32, F32, F32, cubeOf(a, b, c).face);
  SLOW3("V_CUBESC_F32", F32, F32, F32, F32, cubeOf(a, b, c).s);
  SLOW3("V_CUBETC_F32", F32, F32, F32, F32, cubeOf(a, b, c).t);
  SLOW3("V_CUBEMA_F32", F32, F32, F32, F32, cubeOf(a, b, c).major);
  approximate(table,
              {"V_RCP_F32", "V_RCP_IFLAG_F32", "V_SQRT_F32", "V_RSQ_F32",
               "V_EXP_F32", "V_LOG_F32", "V_EXP_LEGACY_F32",
               "V_LOG_LEGACY_F32"},
              "1 ulp; the simulator rounds correctly");
  approximate(table, {"V_SIN_F32", "V_COS_F32"},
              "no bound is published; the simulator rounds correctly within "
              "256 turns");
  for (const char *name :
       {"V_RCP_F32", "V_RCP_IFLAG_F32", "V_SQRT_F32", "V_RSQ_F32", "V_EXP_F32",
        "V_LOG_F32", "V_EXP_LEGACY_F32", "V_LOG_LEGACY_F32", "V_SIN_F32",
        "V_COS_F32", "V_RNDNE_F32"})
    table.entries[name].ownRounding = true;

  //===--- Conversions ----------------------------------------------------===//
  OP1("V_CVT_F32_I32", F32, I32, static_cast<float>(a));
  OP1("V_CVT_F32_U32", F32, U32, floatOfUnsigned(a));
  SLOW1("V_CVT_I32_F32", I32, F32, toI32(a));
  SLOW1("V_CVT_U32_F32", U32, F32, toU32(a));
  SLOW1("V_CVT_RPI_I32_F32", I32, F32,
        toI32(static_cast<float>(__builtin_floor(double(a) + 0.5))));
  SLOW1("V_CVT_FLR_I32_F32", I32, F32, toI32(__builtin_floorf(a)));
  OP1("V_CVT_F32_UBYTE0", F32, U32, static_cast<float>(a & 0xff));
  OP1("V_CVT_F32_UBYTE1", F32, U32, static_cast<float>((a >> 8) & 0xff));
  OP1("V_CVT_F32_UBYTE2", F32, U32, static_cast<float>((a >> 16) & 0xff));
  OP1("V_CVT_F32_UBYTE3", F32, U32, static_cast<float>(a >> 24));
  SLOW2("V_CVT_PKRTZ_F16_F32", U32, F32, F32,
        halfTowardsZero(a) | (uint32_t(halfTowardsZero(b)) << 16));
#ifdef __F16C__
  table.entries["V_CVT_PKRTZ_F16_F32"].handler = &packTowardsZero;
#endif
  SLOW2("V_CVT_PKNORM_I16_F32", U32, F32, F32,
        (uint32_t(normalized(a, 32767.0f, -1.0f)) & 0xffffu) |
            (uint32_t(normalized(b, 32767.0f, -1.0f)) << 16));
  SLOW2("V_CVT_PKNORM_U16_F32", U32, F32, F32,
        (uint32_t(normalized(a, 65535.0f, 0.0f)) & 0xffffu) |
            (uint32_t(normalized(b, 65535.0f, 0.0f)) << 16));
  SLOW1("V_CVT_OFF_F32_I4", F32, U32, int((a & 15) ^ 8) * 0.0625f - 0.5f);
  SLOW3("V_CVT_PK_U8_F32", U32, F32, U32, U32, insertByte(byteOfF32(a), b, c));
  table.entries["V_CVT_PKACCUM_U8_F32"] =
      vectorEntry<F32, U32>(&accumulateByte, ValueType::B32);
  approximate(table,
              {"V_CVT_PKNORM_I16_F32", "V_CVT_PKNORM_U16_F32",
               "V_CVT_PK_U8_F32", "V_CVT_PKACCUM_U8_F32"},
              "one step; the rounding is not published, here to nearest even");
  OP2("V_CVT_PK_U16_U32", U32, U32, U32,
      minimum(a, 0xffffu) | (minimum(b, 0xffffu) << 16));
  OP2("V_CVT_PK_I16_I32", U32, I32, I32,
      (uint32_t(saturate(a, -32768, 32767)) & 0xffffu) |
          (uint32_t(saturate(b, -32768, 32767)) << 16));
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
