//===- MFMA.cpp - Matrix instructions -------------------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// v_mfma_* and v_smfmac_* of gfx90a and gfx942: D = A B + C for one or several
// blocks. EXEC and MODE are ignored.
//
// Layout (AMD's matrix instruction calculator): with E elements of A in a lane
// and N rows, the lane's group is g = lane / N; its element e is A[i][k] of
// row i = lane % N and, in one block, k = E g + e; where there are several
// blocks a group is a block and e is k. B is the same with columns. Hence both
// unpack into rows [E g + e][n] with n contiguous. A row of D is contiguous in
// the lanes of one register as well, so every loop here runs over columns.
//
// Rounding (microsoft/MMA-Sim and its paper, arXiv 2511.10909, which compared
// with the chips bit for bit):
//
// - f64, f32: one fused multiply-add for each k in rising order, both chips.
// - gfx90a f16 and bf16: subnormal A, B and C count as zero; products are
//   added in pairs, the pairs of four (two for bf16 without _1k) in pairs, and
//   the result is added to C; each step rounds to f32, subnormal results
//   become zero.
// - gfx942 f16, bf16 (8 products at a time) and xf32 (4): products are cut to
//   24 bits below the largest exponent of the group, added exactly, added to C
//   with both cut downwards (31 and 24 bits below the larger exponent), and
//   rounded once, to nearest even. Subnormals count in full. xf32 drops 13 bits
//   of A and B.
// - gfx942 fp8 and bf8: 16 at a time; even and odd products are summed apart as
//   above and then cut downwards to 24 bits below the larger exponent.
//
// Integers wrap. How v_smfmac rounds is not published: it is taken to follow
// the dense rule over the products that are kept.
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

// Products and sums round one by one wherever this file does not say otherwise.
#pragma clang fp contract(off)

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

ALWAYS_INLINE float floatOfBits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
ALWAYS_INLINE uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}

/// The exponent that zero has in the rule of gfx942.
constexpr int exponentOfZero = -126;

/// Each type gives the value of its raw bits as f32 (exact), the exponent e for
/// which the significand is below 2 (subnormals keep the smallest normal one),
/// the fraction bits of a significand, and whether a value is too extreme for
/// the vectorised form of gfx942's rule.
struct F16Element {
  static constexpr unsigned bits = 16;
  static constexpr int fraction = 10;
  static constexpr int lowestAccumulator = -90;
  static ALWAYS_INLINE float value(uint32_t raw) {
    uint32_t magnitude = (raw & 0x7fffu) << 13;
    uint32_t scaled = bitsOfFloat(floatOfBits(magnitude) * 0x1p112f);
    uint32_t result =
        (raw & 0x7c00u) == 0x7c00u ? magnitude | 0x7f800000u : scaled;
    return floatOfBits(result | ((raw & 0x8000u) << 16));
  }
  static ALWAYS_INLINE int exponent(uint32_t raw) {
    int field = static_cast<int>((raw >> 10) & 0x1fu);
    int e = (field > 1 ? field : 1) - 15;
    return raw & 0x7fffu ? e : exponentOfZero;
  }
  static ALWAYS_INLINE bool isExtreme(uint32_t raw) {
    return (raw & 0x7c00u) == 0x7c00u;
  }
  static ALWAYS_INLINE bool isSubnormalOrZero(uint32_t raw) {
    return !(raw & 0x7c00u);
  }
  /// Whether no step of gfx90a's rule can underflow or overflow.
  static constexpr bool pairwiseIsSafe = true;
  static ALWAYS_INLINE bool isPairwiseExtreme(uint32_t) { return false; }
};

/// Types whose f32 value is made of their own bits.
template <typename Self> struct WideRangeElement {
  static constexpr int lowestAccumulator = -60;
  static ALWAYS_INLINE int exponent(uint32_t raw) {
    uint32_t bits = Self::bitsOf(raw);
    int field = static_cast<int>((bits >> 23) & 0xffu);
    int e = (field > 1 ? field : 1) - 127;
    return bits & 0x7fffffffu ? e : exponentOfZero;
  }
  static ALWAYS_INLINE float value(uint32_t raw) {
    return floatOfBits(Self::bitsOf(raw));
  }
  static ALWAYS_INLINE bool isExtreme(uint32_t raw) {
    // exponents outside of [-50, 40]
    uint32_t bits = Self::bitsOf(raw);
    uint32_t field = (bits >> 23) & 0xffu;
    return (bits & 0x7fffffffu) && field - (127u - 50u) > 90u;
  }
  static ALWAYS_INLINE bool isSubnormalOrZero(uint32_t raw) {
    return !(Self::bitsOf(raw) & 0x7f800000u);
  }
  static constexpr bool pairwiseIsSafe = false;
  static ALWAYS_INLINE bool isPairwiseExtreme(uint32_t raw) {
    // Sums of products stay multiples of 2^-126, and products finite, for
    // exponents in [-56, 60]. Subnormals count as zero.
    uint32_t field = (Self::bitsOf(raw) >> 23) & 0xffu;
    return field && field - (127u - 56u) > 116u;
  }
};

struct BF16Element : WideRangeElement<BF16Element> {
  static constexpr unsigned bits = 16;
  static constexpr int fraction = 7;
  static ALWAYS_INLINE uint32_t bitsOf(uint32_t raw) { return raw << 16; }
};

struct XF32Element : WideRangeElement<XF32Element> {
  static constexpr unsigned bits = 32;
  static constexpr int fraction = 10;
  static ALWAYS_INLINE uint32_t bitsOf(uint32_t raw) { return raw & ~0x1fffu; }
};

/// fp8 (E4M3, bias 8) and bf8 (E5M2, bias 16): no infinities, one zero, and a
/// NaN in the place of minus zero.
template <unsigned Fraction, int Bias> struct Float8Element {
  static constexpr unsigned bits = 8;
  static constexpr int fraction = Fraction;
  static constexpr int lowestAccumulator = -90;
  static ALWAYS_INLINE float value(uint32_t raw) {
    float magnitude = floatOfBits((raw & 0x7fu) << (23 - Fraction)) *
                      floatOfBits(uint32_t(254 - Bias) << 23);
    uint32_t result = bitsOfFloat(magnitude) | ((raw & 0x80u) << 24);
    return floatOfBits(raw == 0x80u ? 0x7fc00000u : result);
  }
  static ALWAYS_INLINE int exponent(uint32_t raw) {
    int field = static_cast<int>((raw & 0x7fu) >> Fraction);
    int e = (field > 1 ? field : 1) - Bias;
    return raw & 0x7fu ? e : exponentOfZero;
  }
  static ALWAYS_INLINE bool isExtreme(uint32_t raw) { return raw == 0x80u; }
};
using FP8Element = Float8Element<3, 8>;
using BF8Element = Float8Element<2, 16>;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

using Lanes = const uint32_t (*)[L];

/// The registers of a matrix operand, moved between lanes where modifiers ask
/// for it.
template <unsigned Registers> struct Sources {
  Lanes registers;
  alignas(64) uint32_t moved[Registers][L];
};

/// cbsz and abid: block abid of every 2^cbsz blocks of N rows stands for all.
template <unsigned N, unsigned Registers>
void broadcastBlocks(Sources<Registers> &s, unsigned cbsz, unsigned abid) {
  for (unsigned r = 0; r < Registers; ++r)
    for (unsigned l = 0; l < L; ++l) {
      unsigned block = ((l / N) >> cbsz << cbsz) + abid;
      s.moved[r][l] = s.registers[r][(N * block + l % N) % L];
    }
  s.registers = s.moved;
}

/// blgp: lane l takes the B of lane ((l & mask) + offset) mod 64. Patterns 1
/// and 2 repeat one half, 3 rotates down by 16, 4 to 7 repeat one quarter.
struct LanePattern {
  uint8_t mask, offset;
};
constexpr LanePattern lanePatterns[8] = {{63, 0}, {31, 0},  {31, 32}, {63, 16},
                                         {15, 0}, {15, 16}, {15, 32}, {15, 48}};

template <unsigned Registers>
void permuteLanes(Sources<Registers> &s, unsigned blgp) {
  LanePattern pattern = lanePatterns[blgp % 8];
  for (unsigned r = 0; r < Registers; ++r)
    for (unsigned l = 0; l < L; ++l)
      s.moved[r][l] = s.registers[r][((l & pattern.mask) + pattern.offset) % L];
  s.registers = s.moved;
}

/// Raw bits of an element.
template <unsigned Bits>
ALWAYS_INLINE uint32_t rawBits(Lanes registers, unsigned element,
                               unsigned lane) {
  uint32_t word = registers[element * Bits / 32][lane];
  if (Bits == 32)
    return word;
  return (word >> (element * Bits % 32)) & ((1u << (Bits % 32)) - 1u);
}

/// A row of C or D: N lanes of a register (of a pair, for f64).
struct RowPlace {
  unsigned reg, lane;
};

template <unsigned N>
ALWAYS_INLINE RowPlace placeOfRow(unsigned block, unsigned i) {
  if (N == 32)
    return {16 * block + 4 * (i / 8) + i % 4, 32 * ((i / 4) % 2)};
  if (N == 16)
    return {4 * block + i % 4, 16 * (i / 4)};
  return {i, 4 * block};
}

template <unsigned N>
ALWAYS_INLINE RowPlace placeOfRowF64(unsigned block, unsigned i) {
  if (N == 16)
    return {2 * (i / 4), 16 * (i % 4)};
  return {0, 16 * i + 4 * block};
}

/// C as a source: its own registers, a copy where the result would overwrite
/// rows that are still to be read, or a constant.
template <unsigned Registers> struct Accumulators {
  Lanes registers = nullptr;
  uint64_t constant = 0;
  alignas(64) uint32_t copy[Registers][L];

  ALWAYS_INLINE void set(Wave &w, const Operand &c, const Operand &d) {
    if (!c.isVGPR()) {
      constant = s64(w, c);
      return;
    }
    registers = w.vgpr + c.index;
    bool overlaps = c.index != d.index && c.index < d.index + Registers &&
                    d.index < c.index + Registers;
    if (overlaps) {
      std::memcpy(copy, registers, sizeof(copy));
      registers = copy;
    }
  }
  template <unsigned N, typename T>
  ALWAYS_INLINE void row(RowPlace place, T *out) const {
    static_assert(sizeof(T) == 4, "");
    if (registers) {
      std::memcpy(out, registers[place.reg] + place.lane, 4 * N);
      return;
    }
    uint32_t bits = static_cast<uint32_t>(constant);
    for (unsigned j = 0; j < N; ++j)
      __builtin_memcpy(&out[j], &bits, 4);
  }
};

/// Stops the wavefront where the instruction has modifiers that the chip does
/// not define for it.
bool checkModifiers(Wave &w, const Instruction &I, unsigned largestCbsz,
                    bool hasBlgp) {
  unsigned cbsz = static_cast<unsigned>(I.imm2);
  unsigned abid = static_cast<unsigned>(I.imm3);
  unsigned blgp = static_cast<unsigned>(I.target);
  if (cbsz > largestCbsz || abid >= (1u << cbsz)) {
    fail(w, "cbsz " + llvm::Twine(cbsz) + " with abid " + llvm::Twine(abid) +
                " is not defined for this matrix instruction");
    return false;
  }
  if (blgp && !hasBlgp) {
    fail(w, "blgp is not defined for this matrix instruction");
    return false;
  }
  return true;
}

constexpr unsigned logarithm(unsigned x) {
  return x <= 1 ? 0 : 1 + logarithm(x / 2);
}

/// The shape of an instruction: N x N results from K products, in blocks.
template <unsigned N_, unsigned K_, unsigned Blocks_, bool HasBlgp_>
struct Shape {
  static constexpr unsigned N = N_, K = K_, blocks = Blocks_;
  static constexpr bool hasBlgp = HasBlgp_;
  /// Elements of A (and of B) in a lane, and rows of both once unpacked.
  static constexpr unsigned elements = N * K * blocks / L;
  static constexpr unsigned rows = K * blocks;
  static constexpr unsigned resultRegisters = N * N * blocks / L;
  static_assert(elements * (L / N) == rows, "a group is a block or part of k");
};

/// Finds A and B, with their modifiers applied.
template <typename S, unsigned Registers>
ALWAYS_INLINE bool findSources(Wave &w, const Instruction &I,
                               Sources<Registers> &a, Sources<Registers> &b) {
  if (!I.src[0].isVGPR() || !I.src[1].isVGPR()) {
    fail(w, "a matrix instruction whose A or B is no vector register");
    return false;
  }
  a.registers = w.vgpr + I.src[0].index;
  b.registers = w.vgpr + I.src[1].index;
  if (I.imm2 | I.imm3 | I.target) {
    if (!checkModifiers(w, I, logarithm(S::blocks), S::hasBlgp))
      return false;
    if (I.imm2)
      broadcastBlocks<S::N>(a, static_cast<unsigned>(I.imm2),
                            static_cast<unsigned>(I.imm3));
    if (I.target)
      permuteLanes(b, static_cast<unsigned>(I.target));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// gfx90a: pairwise sums
//===----------------------------------------------------------------------===//

ALWAYS_INLINE float flushed(float x) {
  uint32_t bits = bitsOfFloat(x);
  return floatOfBits(bits & 0x7f800000u ? bits : bits & 0x80000000u);
}

/// One row: cur += the products of a and b in groups of G.
template <unsigned N, unsigned K, unsigned G>
ALWAYS_INLINE void pairwiseRow(const float *a, const float (*b)[N],
                               float *row) {
  for (unsigned j = 0; j < N; ++j) {
    uint32_t bits = bitsOfFloat(row[j]);
    float sum = floatOfBits(bits & 0x7f800000u ? bits : 0);
    for (unsigned k = 0; k < K; k += G) {
      // A product of two 16-bit floats is exact, so fusing it with the addition
      // of the pair changes nothing.
#ifdef __FMA__
      float group = __builtin_fmaf(a[k], b[k][j], a[k + 1] * b[k + 1][j]);
      if (G == 4)
        group += __builtin_fmaf(a[k + 2], b[k + 2][j], a[k + 3] * b[k + 3][j]);
#else
      float group = a[k] * b[k][j] + a[k + 1] * b[k + 1][j];
      if (G == 4)
        group += a[k + 2] * b[k + 2][j] + a[k + 3] * b[k + 3][j];
#endif
      sum += group;
    }
    row[j] = sum;
  }
}

/// The same where steps may underflow.
template <unsigned N, unsigned K, unsigned G>
void pairwiseRowFlushing(const float *a, const float (*b)[N], float *row) {
  for (unsigned j = 0; j < N; ++j) {
    uint32_t bits = bitsOfFloat(row[j]);
    float sum = floatOfBits(bits & 0x7f800000u ? bits : 0);
    for (unsigned k = 0; k < K; k += G) {
      float p[G];
      // Adding +0 leaves no negative zero of an exact product.
      for (unsigned g = 0; g < G; ++g)
        p[g] = flushed(a[k + g] * b[k + g][j] + 0.0f);
      float group = flushed(p[0] + p[1]);
      if (G == 4)
        group = flushed(group + flushed(p[2] + p[3]));
      sum = flushed(sum + group);
    }
    row[j] = sum;
  }
}

template <typename T, typename S, unsigned G>
void pairwise(Wave &w, const Instruction &I) {
  constexpr unsigned N = S::N, K = S::K, E = S::elements;
  constexpr unsigned registers = E * T::bits / 32;
  Sources<registers> sourceA, sourceB;
  if (!findSources<S>(w, I, sourceA, sourceB))
    return;
  alignas(64) float a[S::rows][N], b[S::rows][N];
  uint32_t extreme = 0;
  auto unpack = [&](Lanes from, float (*to)[N]) ALWAYS_INLINE_LAMBDA {
    for (unsigned g = 0; g < L / N; ++g)
      for (unsigned e = 0; e < E; ++e)
        for (unsigned n = 0; n < N; ++n) {
          uint32_t raw = rawBits<T::bits>(from, e, N * g + n);
          to[E * g + e][n] = T::isSubnormalOrZero(raw) ? 0.0f : T::value(raw);
          extreme |= T::isPairwiseExtreme(raw);
        }
  };
  unpack(sourceA.registers, a);
  unpack(sourceB.registers, b);
  Accumulators<S::resultRegisters> c;
  c.set(w, I.src[2], I.dst);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned block = 0; block < S::blocks; ++block)
    for (unsigned i = 0; i < N; ++i) {
      RowPlace place = placeOfRow<N>(block, i);
      alignas(64) float row[N], ai[K];
      c.template row<N>(place, row);
      for (unsigned k = 0; k < K; ++k)
        ai[k] = a[K * block + k][i];
      bool safe = T::pairwiseIsSafe;
      if (!safe) {
        // Sums with C may underflow where C is small but not zero.
        uint32_t small = extreme;
        for (unsigned j = 0; j < N; ++j) {
          uint32_t field = (bitsOfFloat(row[j]) >> 23) & 0xffu;
          small |= field && field < 127 - 102;
        }
        safe = !small;
      }
      if (safe)
        pairwiseRow<N, K, G>(ai, b + K * block, row);
      else
        pairwiseRowFlushing<N, K, G>(ai, b + K * block, row);
      std::memcpy(d[place.reg] + place.lane, row, 4 * N);
    }
}

//===----------------------------------------------------------------------===//
// gfx942: fused sums
//===----------------------------------------------------------------------===//

/// Rounds x * 2^-shift towards minus infinity.
ALWAYS_INLINE int64_t floorShift(int64_t x, int shift) {
  if (shift <= 0)
    return shift < -62 ? 0 : x * (int64_t(1) << -shift);
  return x >> (shift > 63 ? 63 : shift);
}

/// A sum in units of 2^(exponent - 24).
struct FixedSum {
  int64_t sum;
  int exponent;
};

/// The sum of products [first, G) in steps, cut to 24 bits towards zero.
template <typename TA, typename TB>
FixedSum sumOfProducts(const float *a, const int16_t *ea, const float *b,
                       const int16_t *eb, unsigned first, unsigned count,
                       unsigned step) {
  int largest = -1000;
  for (unsigned k = first; k < count; k += step)
    if (ea[k] + eb[k] > largest)
      largest = ea[k] + eb[k];
  int64_t sum = 0;
  for (unsigned k = first; k < count; k += step) {
    int64_t x =
        static_cast<int64_t>(std::ldexp(double(a[k]), TA::fraction - ea[k]));
    int64_t y =
        static_cast<int64_t>(std::ldexp(double(b[k]), TB::fraction - eb[k]));
    int64_t product = x * y;
    int shift = 24 - TA::fraction - TB::fraction + (ea[k] + eb[k]) - largest;
    int64_t magnitude = product < 0 ? -product : product;
    magnitude = shift >= 0 ? magnitude << shift
                           : magnitude >> (shift < -63 ? 63 : -shift);
    sum += product < 0 ? -magnitude : magnitude;
  }
  return {sum, largest};
}

/// One result of gfx942's rule, for any values.
template <typename TA, typename TB, unsigned G, bool IsFloat8>
float fusedSum(const float *a, const int16_t *ea, const float *b,
               const int16_t *eb, float c) {
  double plain = c;
  bool plus = false, minus = false;
  for (unsigned k = 0; k < G; ++k) {
    double product = double(a[k]) * double(b[k]);
    plain += product;
    plus |= product >= 0x1p128;
    minus |= product <= -0x1p128;
  }
  if (!(plain - plain == 0)) // NaN or infinite
    return static_cast<float>(plain);
  if (plus || minus)
    return plus && minus ? __builtin_nanf("")
           : plus        ? __builtin_inff()
                         : -__builtin_inff();
  FixedSum s;
  if (IsFloat8) {
    FixedSum even = sumOfProducts<TA, TB>(a, ea, b, eb, 0, G, 2);
    FixedSum odd = sumOfProducts<TA, TB>(a, ea, b, eb, 1, G, 2);
    s.exponent = even.exponent > odd.exponent ? even.exponent : odd.exponent;
    s.sum = floorShift(even.sum, s.exponent - even.exponent) +
            floorShift(odd.sum, s.exponent - odd.exponent);
  } else {
    s = sumOfProducts<TA, TB>(a, ea, b, eb, 0, G, 1);
  }
  uint32_t bits = bitsOfFloat(c);
  int field = static_cast<int>((bits >> 23) & 0xffu);
  int ec = (field > 1 ? field : 1) - 127;
  if (!(bits & 0x7fffffffu))
    ec = exponentOfZero;
  int64_t significand = static_cast<int64_t>(std::ldexp(double(c), 23 - ec));
  int m = s.exponent > ec ? s.exponent : ec;
  // in units of 2^(m - 31)
  int64_t sum = floorShift(s.sum, m - s.exponent - 7);
  int64_t addend = floorShift(significand, m - ec - 1);
  if (IsFloat8 && ec < m - 25)
    addend = 0;
  return static_cast<float>(
      std::ldexp(static_cast<double>(sum + addend * 128), m - 31));
}

/// Columns of products as truncated integers: s[j] in units of
/// 2^(e[j] - 127 - 24), e being biased.
template <unsigned N, unsigned First, unsigned G, unsigned Step>
ALWAYS_INLINE void sumColumns(const float *a, const int16_t *ea,
                              const float (*b)[N], const int16_t (*eb)[N],
                              int32_t *s, int32_t *e) {
  alignas(64) int16_t largest[N];
  for (unsigned j = 0; j < N; ++j) {
    int16_t m = -1000;
    for (unsigned k = First; k < G; k += Step) {
      int16_t x = static_cast<int16_t>(ea[k] + eb[k][j]);
      m = m > x ? m : x;
    }
    largest[j] = m;
  }
  for (unsigned j = 0; j < N; ++j) {
    // Below 2^-101 there are only zeros.
    int exponent = largest[j] + 127;
    exponent = exponent > 26 ? exponent : 26;
    float scale = floatOfBits(static_cast<uint32_t>(278 - exponent) << 23);
    int32_t sum = 0;
    for (unsigned k = First; k < G; k += Step)
      sum += static_cast<int32_t>(a[k] * b[k][j] * scale);
    s[j] = sum;
    e[j] = exponent;
  }
}

/// The vectorised form of gfx942's rule for a row: exact where no value is
/// extreme (see the types), products are finite and C is zero or not below
/// 2^Lowest. Returns false, without a result, where C is none of that.
///
/// In units of 2^(m - 24), m the larger exponent, C is cut to an integer, and
/// the sum of products is an integer shifted down by m - e places, of which
/// seven are kept. Both are put into 32 bits with up to five places: where
/// more are kept, |C| is so much larger that the last of 32 bits is at least
/// two places below the one that rounding keeps, and can stand for all below.
template <unsigned N, unsigned G, bool IsFloat8, int Lowest>
ALWAYS_INLINE bool fusedRow(const float *a, const int16_t *ea,
                            const float (*b)[N], const int16_t (*eb)[N],
                            float *row) {
  alignas(64) int32_t s[N], e[N];
  if (IsFloat8) {
    alignas(64) int32_t s1[N], e1[N];
    sumColumns<N, 0, G, 2>(a, ea, b, eb, s, e);
    sumColumns<N, 1, G, 2>(a, ea, b, eb, s1, e1);
    for (unsigned j = 0; j < N; ++j) {
      int32_t m = e[j] > e1[j] ? e[j] : e1[j];
      int32_t shift0 = m - e[j] < 31 ? m - e[j] : 31;
      int32_t shift1 = m - e1[j] < 31 ? m - e1[j] : 31;
      s[j] = (s[j] >> shift0) + (s1[j] >> shift1);
      e[j] = m;
    }
  } else {
    sumColumns<N, 0, G, 1>(a, ea, b, eb, s, e);
  }
  alignas(64) float result[N];
  uint32_t bad = 0;
  for (unsigned j = 0; j < N; ++j) {
    float c = row[j];
    uint32_t magnitude = bitsOfFloat(c) & 0x7fffffffu;
    int32_t ec = static_cast<int32_t>(magnitude >> 23);
    bad |= magnitude && static_cast<uint32_t>(ec - (127 + Lowest)) >=
                            static_cast<uint32_t>(255 - (127 + Lowest));
    int32_t m = e[j] > ec ? e[j] : ec;
    int32_t over = m - e[j];
    int32_t kept = over < 5 ? over : 5;
    int32_t lost = over > 7 ? over - 7 : 0;
    int32_t sticky = over - lost - kept;
    int32_t sum = s[j] >> (lost < 31 ? lost : 31);
    int32_t shifted = sum >> sticky;
    shifted |= (shifted << sticky) != sum;
    float scaled = c * floatOfBits(static_cast<uint32_t>(278 + kept - m) << 23);
#ifdef __AVX2__
    int32_t addend = static_cast<int32_t>(__builtin_floorf(scaled));
#else
    int32_t addend = static_cast<int32_t>(scaled);
    addend -= static_cast<float>(addend) > scaled;
#endif
    if (IsFloat8)
      addend = m - ec > 25 ? 0 : addend;
    result[j] = static_cast<float>(addend + shifted) *
                floatOfBits(static_cast<uint32_t>(m - 24 - kept) << 23);
  }
  if (bad)
    return false;
  std::memcpy(row, result, sizeof(result));
  return true;
}

/// A and B of gfx942's rule.
template <typename T, unsigned N, unsigned Rows> struct FusedOperand {
  alignas(64) float value[Rows][N];
  alignas(64) int16_t exponent[Rows][N];
  /// Nonzero where row or column n has an extreme value.
  alignas(64) uint32_t extreme[N];

  ALWAYS_INLINE void unpack(Lanes from) {
    constexpr unsigned E = Rows * N / L;
    for (unsigned n = 0; n < N; ++n)
      extreme[n] = 0;
    for (unsigned g = 0; g < L / N; ++g)
      for (unsigned el = 0; el < E; ++el)
        for (unsigned n = 0; n < N; ++n) {
          uint32_t raw = rawBits<T::bits>(from, el, N * g + n);
          value[E * g + el][n] = T::value(raw);
          exponent[E * g + el][n] = static_cast<int16_t>(T::exponent(raw));
          extreme[n] |= T::isExtreme(raw);
        }
  }
  ALWAYS_INLINE bool hasExtreme() const {
    uint32_t any = 0;
    for (unsigned n = 0; n < N; ++n)
      any |= extreme[n];
    return any;
  }
};

/// Row i of a product, in groups of G, whatever the values.
template <typename TA, typename TB, unsigned N, unsigned K, unsigned G,
          bool IsFloat8>
ALWAYS_INLINE void accumulateRow(const float *a, const int16_t *ea,
                                 const float (*b)[N], const int16_t (*eb)[N],
                                 bool extreme, float *row) {
  constexpr int lowest = TA::lowestAccumulator;
  for (unsigned k = 0; k < K; k += G) {
    if (!extreme &&
        fusedRow<N, G, IsFloat8, lowest>(a + k, ea + k, b + k, eb + k, row))
      continue;
    for (unsigned j = 0; j < N; ++j) {
      float column[G];
      int16_t exponents[G];
      for (unsigned g = 0; g < G; ++g) {
        column[g] = b[k + g][j];
        exponents[g] = eb[k + g][j];
      }
      row[j] = fusedSum<TA, TB, G, IsFloat8>(a + k, ea + k, column, exponents,
                                             row[j]);
    }
  }
}

template <typename TA, typename TB, typename S, unsigned G>
void fused(Wave &w, const Instruction &I) {
  constexpr unsigned N = S::N, K = S::K;
  constexpr unsigned registers = S::elements * TA::bits / 32;
  constexpr bool isFloat8 = TA::bits == 8;
  Sources<registers> sourceA, sourceB;
  if (!findSources<S>(w, I, sourceA, sourceB))
    return;
  FusedOperand<TA, N, S::rows> a;
  FusedOperand<TB, N, S::rows> b;
  a.unpack(sourceA.registers);
  b.unpack(sourceB.registers);
  bool extremeB = b.hasExtreme();
  Accumulators<S::resultRegisters> c;
  c.set(w, I.src[2], I.dst);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned block = 0; block < S::blocks; ++block)
    for (unsigned i = 0; i < N; ++i) {
      RowPlace place = placeOfRow<N>(block, i);
      alignas(64) float row[N], ai[K];
      int16_t ei[K];
      c.template row<N>(place, row);
      for (unsigned k = 0; k < K; ++k) {
        ai[k] = a.value[K * block + k][i];
        ei[k] = a.exponent[K * block + k][i];
      }
      accumulateRow<TA, TB, N, K, G, isFloat8>(ai, ei, b.value + K * block,
                                               b.exponent + K * block,
                                               extremeB || a.extreme[i], row);
      std::memcpy(d[place.reg] + place.lane, row, 4 * N);
    }
}

//===----------------------------------------------------------------------===//
// f64, f32 and integers
//===----------------------------------------------------------------------===//

template <typename S> void multiplyF32(Wave &w, const Instruction &I) {
  constexpr unsigned N = S::N, K = S::K, E = S::elements;
  static_assert(E == 1, "f32 has one element a lane");
  Sources<1> sourceA, sourceB;
  if (!findSources<S>(w, I, sourceA, sourceB))
    return;
  alignas(64) float a[S::rows][N], b[S::rows][N];
  std::memcpy(a, sourceA.registers, sizeof(a));
  std::memcpy(b, sourceB.registers, sizeof(b));
  Accumulators<S::resultRegisters> c;
  c.set(w, I.src[2], I.dst);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned block = 0; block < S::blocks; ++block)
    for (unsigned i = 0; i < N; ++i) {
      RowPlace place = placeOfRow<N>(block, i);
      alignas(64) float row[N];
      c.template row<N>(place, row);
      for (unsigned k = 0; k < K; ++k) {
        float x = a[K * block + k][i];
        for (unsigned j = 0; j < N; ++j)
          row[j] = __builtin_fmaf(x, b[K * block + k][j], row[j]);
      }
      std::memcpy(d[place.reg] + place.lane, row, 4 * N);
    }
}

/// N x N results of 4 products. In one block A[i][k] is in lane N k + i; in
/// four it is in lane 16 k + 4 block + i.
template <unsigned N, unsigned Blocks, bool HasNegation>
void multiplyF64(Wave &w, const Instruction &I) {
  constexpr unsigned K = 4, wide = N * Blocks, elements = N * N * Blocks / L;
  if (!I.src[0].isVGPR() || !I.src[1].isVGPR()) {
    fail(w, "a matrix instruction whose A or B is no vector register");
    return;
  }
  if ((I.imm2 | I.imm3 | I.target) &&
      !checkModifiers(w, I, /*largestCbsz=*/0, HasNegation))
    return;
  unsigned blgp = static_cast<unsigned>(I.target);
  auto read = [&](const Operand &o, unsigned element, unsigned lane,
                  bool negate) {
    uint64_t bits =
        o.isVGPR() ? w.vgpr[o.index + 2 * element][lane] |
                         uint64_t(w.vgpr[o.index + 2 * element + 1][lane]) << 32
                   : s64(w, o);
    return hardware::doubleOf(bits ^ (uint64_t(negate) << 63));
  };
  alignas(64) double a[K][wide], b[K][wide], c[elements][L];
  for (unsigned k = 0; k < K; ++k)
    for (unsigned n = 0; n < wide; ++n) {
      a[k][n] = read(I.src[0], 0, wide * k + n, blgp & 1);
      b[k][n] = read(I.src[1], 0, wide * k + n, blgp & 2);
    }
  for (unsigned e = 0; e < elements; ++e)
    for (unsigned l = 0; l < L; ++l)
      c[e][l] = read(I.src[2], e, l, blgp & 4);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned block = 0; block < Blocks; ++block)
    for (unsigned i = 0; i < N; ++i) {
      RowPlace place = placeOfRowF64<N>(block, i);
      double *row = c[place.reg / 2] + place.lane;
      for (unsigned k = 0; k < K; ++k) {
        double x = a[k][N * block + i];
        const double *y = b[k] + N * block;
        for (unsigned j = 0; j < N; ++j)
          row[j] = __builtin_fma(x, y[j], row[j]);
      }
      for (unsigned j = 0; j < N; ++j) {
        uint64_t bits = hardware::bitsOf(row[j]);
        d[place.reg][place.lane + j] = static_cast<uint32_t>(bits);
        d[place.reg + 1][place.lane + j] = static_cast<uint32_t>(bits >> 32);
      }
    }
}

template <unsigned N, unsigned K>
ALWAYS_INLINE void integerRow(const int32_t *a, const int32_t (*b)[N],
                              uint32_t *row) {
  for (unsigned j = 0; j < N; ++j) {
    uint32_t sum = row[j];
    for (unsigned k = 0; k < K; ++k)
      sum += static_cast<uint32_t>(a[k] * b[k][j]);
    row[j] = sum;
  }
}

template <unsigned N, unsigned Rows>
ALWAYS_INLINE void unpackIntegers(Lanes from, int32_t (*to)[N]) {
  constexpr unsigned E = Rows * N / L;
  for (unsigned g = 0; g < L / N; ++g)
    for (unsigned e = 0; e < E; ++e)
      for (unsigned n = 0; n < N; ++n)
        to[E * g + e][n] = static_cast<int8_t>(rawBits<8>(from, e, N * g + n));
}

template <typename S> void multiplyI8(Wave &w, const Instruction &I) {
  constexpr unsigned N = S::N, K = S::K;
  constexpr unsigned registers = S::elements / 4;
  Sources<registers> sourceA, sourceB;
  if (!findSources<S>(w, I, sourceA, sourceB))
    return;
  alignas(64) int32_t a[S::rows][N], b[S::rows][N];
  unpackIntegers<N, S::rows>(sourceA.registers, a);
  unpackIntegers<N, S::rows>(sourceB.registers, b);
  Accumulators<S::resultRegisters> c;
  c.set(w, I.src[2], I.dst);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned block = 0; block < S::blocks; ++block)
    for (unsigned i = 0; i < N; ++i) {
      RowPlace place = placeOfRow<N>(block, i);
      alignas(64) uint32_t row[N];
      int32_t ai[K];
      c.template row<N>(place, row);
      for (unsigned k = 0; k < K; ++k)
        ai[k] = a[K * block + k][i];
      integerRow<N, K>(ai, b + K * block, row);
      std::memcpy(d[place.reg] + place.lane, row, 4 * N);
    }
}

//===----------------------------------------------------------------------===//
// Sparse A
//===----------------------------------------------------------------------===//

/// The place in k of stored element t of row i: two of every four are kept.
/// The index register holds two bits for each, in the lane of the element.
template <unsigned N, unsigned Stored>
void indicesOfRow(const uint32_t *index, unsigned shift, unsigned i,
                  unsigned *k) {
  constexpr unsigned E = Stored * N / L;
  for (unsigned t = 0; t < Stored; ++t) {
    uint32_t word = index[N * (t / E) + i] >> shift;
    k[t] = 4 * (t / 2) + ((word >> (2 * (t % E))) & 3u);
  }
}

/// Checks cbsz and abid, which name the set of indices in use, and finds it.
template <unsigned Bits>
bool findIndices(Wave &w, const Instruction &I, unsigned &shift) {
  if (!I.src[0].isVGPR() || !I.src[1].isVGPR() || !I.src[2].isVGPR()) {
    fail(w, "a sparse matrix instruction whose operands are no vector "
            "registers");
    return false;
  }
  constexpr unsigned sets = Bits == 16 ? 4 : 2;
  unsigned abid = static_cast<unsigned>(I.imm3);
  if (I.imm2)
    abid = 0;
  if (abid >= sets) {
    fail(w, "abid " + llvm::Twine(abid) +
                " is not defined for this sparse matrix instruction");
    return false;
  }
  shift = 32 / sets * abid;
  return true;
}

template <typename TA, typename TB, unsigned N, unsigned K, unsigned G>
void sparseFused(Wave &w, const Instruction &I) {
  constexpr unsigned stored = K / 2;
  constexpr bool isFloat8 = TA::bits == 8;
  unsigned shift;
  if (!findIndices<TA::bits>(w, I, shift))
    return;
  FusedOperand<TA, N, stored> a;
  FusedOperand<TB, N, K> b;
  a.unpack(w.vgpr + I.src[0].index);
  b.unpack(w.vgpr + I.src[1].index);
  bool extremeB = b.hasExtreme();
  alignas(64) uint32_t index[L];
  std::memcpy(index, w.vgpr[I.src[2].index], sizeof(index));
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned i = 0; i < N; ++i) {
    RowPlace place = placeOfRow<N>(0, i);
    alignas(64) float row[N], ai[stored], bi[stored][N];
    alignas(64) int16_t ei[stored], ebi[stored][N];
    unsigned k[stored];
    indicesOfRow<N, stored>(index, shift, i, k);
    for (unsigned t = 0; t < stored; ++t) {
      ai[t] = a.value[t][i];
      ei[t] = a.exponent[t][i];
      std::memcpy(bi[t], b.value[k[t]], sizeof(bi[t]));
      std::memcpy(ebi[t], b.exponent[k[t]], sizeof(ebi[t]));
    }
    std::memcpy(row, d[place.reg] + place.lane, sizeof(row));
    accumulateRow<TA, TB, N, stored, G, isFloat8>(
        ai, ei, bi, ebi, extremeB || a.extreme[i], row);
    std::memcpy(d[place.reg] + place.lane, row, sizeof(row));
  }
}

template <unsigned N, unsigned K> void sparseI8(Wave &w, const Instruction &I) {
  constexpr unsigned stored = K / 2;
  unsigned shift;
  if (!findIndices<8>(w, I, shift))
    return;
  alignas(64) int32_t a[stored][N], b[K][N];
  unpackIntegers<N, stored>(w.vgpr + I.src[0].index, a);
  unpackIntegers<N, K>(w.vgpr + I.src[1].index, b);
  alignas(64) uint32_t index[L];
  std::memcpy(index, w.vgpr[I.src[2].index], sizeof(index));
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned i = 0; i < N; ++i) {
    RowPlace place = placeOfRow<N>(0, i);
    alignas(64) uint32_t row[N];
    alignas(64) int32_t ai[stored], bi[stored][N];
    unsigned k[stored];
    indicesOfRow<N, stored>(index, shift, i, k);
    for (unsigned t = 0; t < stored; ++t) {
      ai[t] = a[t][i];
      std::memcpy(bi[t], b[k[t]], sizeof(bi[t]));
    }
    std::memcpy(row, d[place.reg] + place.lane, sizeof(row));
    integerRow<N, stored>(ai, bi, row);
    std::memcpy(d[place.reg] + place.lane, row, sizeof(row));
  }
}

} // namespace

void registerMFMA(OpcodeTable &table) {
  // The handler of gfx90a and that of gfx942, null where the chip lacks it.
  auto add = [&](const char *name, Handler gfx90a, Handler gfx942) {
    OpcodeEntry entry = plainEntry(gfx90a, Category::MFMA);
    entry.handlerGfx942 = gfx942;
    table.entries[name] = entry;
  };
  auto both = [&](const char *name, Handler handler) {
    add(name, handler, handler);
  };

  add("V_MFMA_F64_16X16X4F64", &multiplyF64<16, 1, false>,
      &multiplyF64<16, 1, true>);
  add("V_MFMA_F64_4X4X4F64", &multiplyF64<4, 4, false>,
      &multiplyF64<4, 4, true>);

  both("V_MFMA_F32_32X32X1F32", &multiplyF32<Shape<32, 1, 2, true>>);
  both("V_MFMA_F32_16X16X1F32", &multiplyF32<Shape<16, 1, 4, true>>);
  both("V_MFMA_F32_4X4X1F32", &multiplyF32<Shape<4, 1, 16, true>>);
  both("V_MFMA_F32_32X32X2F32", &multiplyF32<Shape<32, 2, 1, true>>);
  both("V_MFMA_F32_16X16X4F32", &multiplyF32<Shape<16, 4, 1, true>>);

  // Shapes with several blocks keep blgp on gfx942, the others lose it.
#define HALF(NAME, TYPE, N, K, BLOCKS, G)                                      \
  add(NAME, &pairwise<TYPE, Shape<N, K, BLOCKS, true>, 4>,                     \
      &fused<TYPE, TYPE, Shape<N, K, BLOCKS, (BLOCKS > 1)>, G>)
  HALF("V_MFMA_F32_32X32X4F16", F16Element, 32, 4, 2, 4);
  HALF("V_MFMA_F32_16X16X4F16", F16Element, 16, 4, 4, 4);
  HALF("V_MFMA_F32_4X4X4F16", F16Element, 4, 4, 16, 4);
  HALF("V_MFMA_F32_32X32X8F16", F16Element, 32, 8, 1, 8);
  HALF("V_MFMA_F32_16X16X16F16", F16Element, 16, 16, 1, 8);
  HALF("V_MFMA_F32_32X32X4BF16_1K", BF16Element, 32, 4, 2, 4);
  HALF("V_MFMA_F32_16X16X4BF16_1K", BF16Element, 16, 4, 4, 4);
  HALF("V_MFMA_F32_4X4X4BF16_1K", BF16Element, 4, 4, 16, 4);
  HALF("V_MFMA_F32_32X32X8BF16_1K", BF16Element, 32, 8, 1, 8);
  HALF("V_MFMA_F32_16X16X16BF16_1K", BF16Element, 16, 16, 1, 8);
#undef HALF

  // The first bf16 instructions, two elements a lane: gfx90a only.
  add("V_MFMA_F32_32X32X2BF16",
      &pairwise<BF16Element, Shape<32, 2, 2, true>, 2>, nullptr);
  add("V_MFMA_F32_16X16X2BF16",
      &pairwise<BF16Element, Shape<16, 2, 4, true>, 2>, nullptr);
  add("V_MFMA_F32_4X4X2BF16", &pairwise<BF16Element, Shape<4, 2, 16, true>, 2>,
      nullptr);
  add("V_MFMA_F32_32X32X4BF16",
      &pairwise<BF16Element, Shape<32, 4, 1, true>, 2>, nullptr);
  add("V_MFMA_F32_16X16X8BF16",
      &pairwise<BF16Element, Shape<16, 8, 1, true>, 2>, nullptr);

  both("V_MFMA_I32_32X32X4I8", &multiplyI8<Shape<32, 4, 2, true>>);
  both("V_MFMA_I32_16X16X4I8", &multiplyI8<Shape<16, 4, 4, true>>);
  both("V_MFMA_I32_4X4X4I8", &multiplyI8<Shape<4, 4, 16, true>>);
  add("V_MFMA_I32_32X32X8I8", &multiplyI8<Shape<32, 8, 1, true>>, nullptr);
  add("V_MFMA_I32_16X16X16I8", &multiplyI8<Shape<16, 16, 1, true>>, nullptr);
  add("V_MFMA_I32_32X32X16I8", nullptr, &multiplyI8<Shape<32, 16, 1, false>>);
  add("V_MFMA_I32_16X16X32I8", nullptr, &multiplyI8<Shape<16, 32, 1, false>>);

  add("V_MFMA_F32_16X16X8XF32", nullptr,
      &fused<XF32Element, XF32Element, Shape<16, 8, 1, false>, 4>);
  add("V_MFMA_F32_32X32X4XF32", nullptr,
      &fused<XF32Element, XF32Element, Shape<32, 4, 1, false>, 4>);

#define FLOAT8(A, B)                                                           \
  add("V_MFMA_F32_16X16X32_" #A "_" #B, nullptr,                               \
      &fused<A##Element, B##Element, Shape<16, 32, 1, false>, 16>);            \
  add("V_MFMA_F32_32X32X16_" #A "_" #B, nullptr,                               \
      &fused<A##Element, B##Element, Shape<32, 16, 1, false>, 16>);            \
  add("V_SMFMAC_F32_16X16X64_" #A "_" #B, nullptr,                             \
      &sparseFused<A##Element, B##Element, 16, 64, 16>);                       \
  add("V_SMFMAC_F32_32X32X32_" #A "_" #B, nullptr,                             \
      &sparseFused<A##Element, B##Element, 32, 32, 16>)
  FLOAT8(FP8, FP8);
  FLOAT8(FP8, BF8);
  FLOAT8(BF8, FP8);
  FLOAT8(BF8, BF8);
#undef FLOAT8

  add("V_SMFMAC_F32_16X16X32_F16", nullptr,
      &sparseFused<F16Element, F16Element, 16, 32, 8>);
  add("V_SMFMAC_F32_32X32X16_F16", nullptr,
      &sparseFused<F16Element, F16Element, 32, 16, 8>);
  add("V_SMFMAC_F32_16X16X32_BF16", nullptr,
      &sparseFused<BF16Element, BF16Element, 16, 32, 8>);
  add("V_SMFMAC_F32_32X32X16_BF16", nullptr,
      &sparseFused<BF16Element, BF16Element, 32, 16, 8>);
  add("V_SMFMAC_I32_16X16X64_I8", nullptr, &sparseI8<16, 64>);
  add("V_SMFMAC_I32_32X32X32_I8", nullptr, &sparseI8<32, 32>);

  for (auto &entry : table.entries)
    if (entry.getKey().starts_with("V_SMFMAC_F32_")) {
      entry.second.exactness = Exactness::Approximate;
      entry.second.note = "the rounding is not published: that of the dense "
                          "product over what is kept";
    }
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
