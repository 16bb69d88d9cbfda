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

/// Vectors of columns. They may be longer than the host's: two of those at a
/// time hide the latency of their instructions.
template <typename T, unsigned W>
using Vector = T __attribute__((vector_size(sizeof(T) * W)));
template <unsigned N> constexpr unsigned vectorWidth = N < 16 ? N : 16;

template <typename To, typename From> ALWAYS_INLINE To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
template <typename V, typename T> ALWAYS_INLINE V loadVector(const T *from) {
  V v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
template <typename V, typename T> ALWAYS_INLINE void storeVector(T *to, V v) {
  __builtin_memcpy(to, &v, sizeof(v));
}
template <typename V> ALWAYS_INLINE V larger(V x, V y) { return x > y ? x : y; }
template <typename V> ALWAYS_INLINE V smaller(V x, V y) {
  return x < y ? x : y;
}

/// x - y, or 0 where that is negative, for 0 <= x, y < 65536 in 32-bit lanes.
template <typename V> ALWAYS_INLINE V subtractToZero(V x, V y) {
#if defined(__clang__)
  using H = Vector<uint16_t, sizeof(V) / 2>;
  return bitCast<V>(
      __builtin_elementwise_sub_sat(bitCast<H>(x), bitCast<H>(y)));
#else
  return x > y ? x - y : V{};
#endif
}

/// Whether any bit is set.
template <typename V> ALWAYS_INLINE bool anyBit(V v) {
#ifdef __AVX2__
  if constexpr (sizeof(V) % 32 == 0) {
    __m256i all = _mm256_setzero_si256();
    for (unsigned part = 0; part < sizeof(V) / 32; ++part)
      all = _mm256_or_si256(
          all,
          loadVector<__m256i>(reinterpret_cast<const char *>(&v) + 32 * part));
    return !_mm256_testz_si256(all, all);
  }
#endif
  uint64_t words[sizeof(V) / 8], any = 0;
  std::memcpy(words, &v, sizeof(v));
  for (uint64_t word : words)
    any |= word;
  return any != 0;
}

/// The exponent that zero has in the rule of gfx942.
constexpr int exponentOfZero = -126;

/// Two neighbouring elements of each of W lanes: the raw bits of both as 16-bit
/// halves of a word where they fit (32-bit elements are apart).
template <unsigned W> struct Pair {
  Vector<uint32_t, W> low, high, both;
};

/// Each type gives the f32 value of its raw bits (exact), and for pairs:
/// values, the exponents e for which a significand is below 2 (subnormals keep
/// the smallest normal exponent), and which values are too extreme for the
/// vectorised form of gfx942's rule. The values of those may be wrong: they are
/// decoded again where they are needed.
struct F16Element {
  static constexpr unsigned bits = 16;
  /// Fraction bits of a significand.
  static constexpr int fraction = 10;
  /// The vectorised rule wants C to be zero or not below 2^this.
  static constexpr int lowestAccumulator = -90;
  /// Whether products other than zero can be below 2^-101.
  static constexpr bool hasTinyProducts = false;
  static ALWAYS_INLINE float value(uint32_t raw) {
    uint32_t magnitude = (raw & 0x7fffu) << 13;
    uint32_t scaled = bitsOfFloat(floatOfBits(magnitude) * 0x1p112f);
    uint32_t result =
        (raw & 0x7c00u) == 0x7c00u ? magnitude | 0x7f800000u : scaled;
    return floatOfBits(result | ((raw & 0x8000u) << 16));
  }
  template <unsigned W>
  static ALWAYS_INLINE void values(const Pair<W> &p, Vector<float, W> &low,
                                   Vector<float, W> &high) {
    using I = Vector<int32_t, W>;
    using F = Vector<float, W>;
    constexpr int32_t mask = static_cast<int32_t>(0x8fffe000u);
    low = bitCast<F>((bitCast<I>(p.both << 16) >> 3) & mask) * 0x1p112f;
    high = bitCast<F>((bitCast<I>(p.both) >> 3) & mask) * 0x1p112f;
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<int16_t, 2 * W> exponents(const Pair<W> &p) {
    using H = Vector<int16_t, 2 * W>;
    H raw = bitCast<H>(p.both);
    H field = (raw >> 10) & 0x1f;
    H e = larger(field, H{} + 1) - 15;
    return (raw & 0x7fff) == 0 ? H{} + exponentOfZero : e;
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<uint32_t, W> extremes(const Pair<W> &p) {
    using H = Vector<int16_t, 2 * W>;
    H raw = bitCast<H>(p.both);
    return bitCast<Vector<uint32_t, W>>((raw & 0x7c00) == 0x7c00);
  }
  static ALWAYS_INLINE bool isSubnormalOrZero(uint32_t raw) {
    return !(raw & 0x7c00u);
  }
  /// Whether no step of gfx90a's rule can underflow or overflow.
  static constexpr bool pairwiseIsSafe = true;
  static ALWAYS_INLINE bool isPairwiseExtreme(uint32_t) { return false; }
};

/// Exponents up to 40 keep products, and C at their scale, within f32.
template <typename V> ALWAYS_INLINE V isLarge(V field) {
  return bitCast<V>(field > 127 + 40);
}

struct BF16Element {
  static constexpr unsigned bits = 16;
  static constexpr int fraction = 7;
  static constexpr int lowestAccumulator = -60;
  static constexpr bool hasTinyProducts = true;
  static ALWAYS_INLINE float value(uint32_t raw) {
    return floatOfBits(raw << 16);
  }
  template <unsigned W>
  static ALWAYS_INLINE void values(const Pair<W> &p, Vector<float, W> &low,
                                   Vector<float, W> &high) {
    using F = Vector<float, W>;
    low = bitCast<F>(p.both << 16);
    high = bitCast<F>(p.both & 0xffff0000u);
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<int16_t, 2 * W> exponents(const Pair<W> &p) {
    using H = Vector<int16_t, 2 * W>;
    H raw = bitCast<H>(p.both);
    H e = larger((raw >> 7) & 0xff, H{} + 1) - 127;
    return (raw & 0x7fff) == 0 ? H{} + exponentOfZero : e;
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<uint32_t, W> extremes(const Pair<W> &p) {
    using H = Vector<int16_t, 2 * W>;
    H raw = bitCast<H>(p.both);
    return bitCast<Vector<uint32_t, W>>(isLarge((raw >> 7) & 0xff));
  }
  static ALWAYS_INLINE bool isSubnormalOrZero(uint32_t raw) {
    return !(raw & 0x7f80u);
  }
  static constexpr bool pairwiseIsSafe = false;
  static ALWAYS_INLINE bool isPairwiseExtreme(uint32_t raw) {
    // Sums of products stay multiples of 2^-126, and products finite, for
    // exponents in [-56, 60]. Subnormals count as zero.
    uint32_t field = (raw >> 7) & 0xffu;
    return field && field - (127u - 56u) > 116u;
  }
};

struct XF32Element {
  static constexpr unsigned bits = 32;
  static constexpr int fraction = 10;
  static constexpr int lowestAccumulator = -60;
  static constexpr bool hasTinyProducts = true;
  static constexpr uint32_t kept = ~0x1fffu;
  static ALWAYS_INLINE float value(uint32_t raw) {
    return floatOfBits(raw & kept);
  }
  template <unsigned W>
  static ALWAYS_INLINE void values(const Pair<W> &p, Vector<float, W> &low,
                                   Vector<float, W> &high) {
    using F = Vector<float, W>;
    low = bitCast<F>(p.low & kept);
    high = bitCast<F>(p.high & kept);
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<int32_t, W> exponent(Vector<uint32_t, W> raw) {
    using I = Vector<int32_t, W>;
    I e = larger(bitCast<I>((raw >> 23) & 0xffu), I{} + 1) - 127;
    return (raw & (kept & 0x7fffffffu)) == 0 ? I{} + exponentOfZero : e;
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<int16_t, 2 * W> exponents(const Pair<W> &p) {
    using I = Vector<int32_t, W>;
    I both = (exponent<W>(p.low) & 0xffff) | (exponent<W>(p.high) << 16);
    return bitCast<Vector<int16_t, 2 * W>>(both);
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<uint32_t, W> extremes(const Pair<W> &p) {
    using I = Vector<int32_t, W>;
    auto of = [](Vector<uint32_t, W> raw) ALWAYS_INLINE_LAMBDA {
      return isLarge(bitCast<I>((raw >> 23) & 0xffu));
    };
    return bitCast<Vector<uint32_t, W>>(of(p.low) | of(p.high));
  }
};

/// fp8 (E4M3, bias 8) and bf8 (E5M2, bias 16): no infinities, one zero, and a
/// NaN in the place of minus zero.
template <unsigned Fraction, int Bias> struct Float8Element {
  static constexpr unsigned bits = 8;
  static constexpr int fraction = Fraction;
  static constexpr int lowestAccumulator = -90;
  static constexpr bool hasTinyProducts = false;
  static ALWAYS_INLINE float value(uint32_t raw) {
    float magnitude = floatOfBits((raw & 0x7fu) << (23 - Fraction)) *
                      floatOfBits(uint32_t(254 - Bias) << 23);
    uint32_t result = bitsOfFloat(magnitude) | ((raw & 0x80u) << 24);
    return floatOfBits(raw == 0x80u ? 0x7fc00000u : result);
  }
  template <unsigned W>
  static ALWAYS_INLINE void values(const Pair<W> &p, Vector<float, W> &low,
                                   Vector<float, W> &high) {
    using F = Vector<float, W>;
    float scale = floatOfBits(uint32_t(254 - Bias) << 23);
    auto of = [&](Vector<uint32_t, W> raw) ALWAYS_INLINE_LAMBDA {
      return bitCast<F>(((raw & 0x7fu) << (23 - Fraction)) |
                        ((raw & 0x80u) << 24)) *
             scale;
    };
    low = of(p.low);
    high = of(p.high);
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<int16_t, 2 * W> exponents(const Pair<W> &p) {
    using H = Vector<int16_t, 2 * W>;
    H magnitude = bitCast<H>(p.both) & 0x7f;
    H e = larger(magnitude >> int16_t(Fraction), H{} + 1) - Bias;
    return magnitude == 0 ? H{} + exponentOfZero : e;
  }
  template <unsigned W>
  static ALWAYS_INLINE Vector<uint32_t, W> extremes(const Pair<W> &p) {
    using H = Vector<int16_t, 2 * W>;
    return bitCast<Vector<uint32_t, W>>(bitCast<H>(p.both) == 0x80);
  }
};
using FP8Element = Float8Element<3, 8>;
using BF8Element = Float8Element<2, 16>;

/// Elements 2q and 2q + 1 of the lanes from `lane` on.
template <unsigned Bits, unsigned W>
ALWAYS_INLINE Pair<W> loadPair(const uint32_t (*registers)[L], unsigned q,
                               unsigned lane) {
  using U = Vector<uint32_t, W>;
  Pair<W> p;
  if (Bits == 32) {
    p.low = loadVector<U>(registers[2 * q] + lane);
    p.high = loadVector<U>(registers[2 * q + 1] + lane);
    p.both = p.low;
  } else if (Bits == 16) {
    p.both = loadVector<U>(registers[q] + lane);
    p.low = p.both & 0xffffu;
    p.high = p.both >> 16;
  } else {
    U word = loadVector<U>(registers[q / 2] + lane) >> (16 * (q % 2));
    p.low = word & 0xffu;
    p.high = (word >> 8) & 0xffu;
    p.both = p.low | (p.high << 16);
  }
  return p;
}

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
  const uint32_t *first = nullptr;
  /// From one register to the next; 0 for a constant.
  unsigned stride = 0;
  alignas(64) uint32_t copy[Registers][L];

  ALWAYS_INLINE void set(Wave &w, const Operand &c, const Operand &d) {
    if (!c.isVGPR()) {
      uint32_t bits = s32(w, c);
      for (unsigned l = 0; l < L; ++l)
        copy[0][l] = bits;
      first = copy[0];
      return;
    }
    first = w.vgpr[c.index];
    stride = L;
    bool overlaps = c.index != d.index && c.index < d.index + Registers &&
                    d.index < c.index + Registers;
    if (overlaps) {
      std::memcpy(copy, first, sizeof(copy));
      first = copy[0];
    }
  }
  /// The values of a row, which may be that of D itself.
  ALWAYS_INLINE const uint32_t *row(RowPlace place) const {
    return first + stride * place.reg + place.lane;
  }
  template <unsigned N, typename T>
  ALWAYS_INLINE void row(RowPlace place, T *out) const {
    static_assert(sizeof(T) == 4, "");
    std::memcpy(out, row(place), 4 * N);
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

/// 2^exponent, for normal values.
ALWAYS_INLINE double powerOfTwo(int exponent) {
  return hardware::doubleOf(static_cast<uint64_t>(1023 + exponent) << 52);
}

/// A sum in units of 2^(exponent - 24).
struct FixedSum {
  int64_t sum;
  int exponent;
};

/// A finite value: significand * 2^(exponent - fraction).
struct Decoded {
  int64_t significand;
  int exponent;
};

/// The sum of products first, first + step, ..., cut to 24 bits towards zero.
template <unsigned G>
FixedSum sumOfProducts(const Decoded *a, const Decoded *b, int fraction,
                       unsigned first, unsigned step) {
  int largest = -1000;
  for (unsigned k = first; k < G; k += step)
    if (a[k].exponent + b[k].exponent > largest)
      largest = a[k].exponent + b[k].exponent;
  int64_t sum = 0;
  for (unsigned k = first; k < G; k += step) {
    int64_t product = a[k].significand * b[k].significand;
    int shift = 24 - fraction + a[k].exponent + b[k].exponent - largest;
    int64_t magnitude = product < 0 ? -product : product;
    magnitude = shift >= 0 ? magnitude << shift
                           : magnitude >> (shift < -63 ? 63 : -shift);
    sum += product < 0 ? -magnitude : magnitude;
  }
  return {sum, largest};
}

/// One result of gfx942's rule, for any values; e are the exponents.
template <typename TA, typename TB, unsigned G, bool IsFloat8>
float fusedSum(const float *a, const int *ea, const float *b, const int *eb,
               float c) {
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
  Decoded da[G], db[G];
  for (unsigned k = 0; k < G; ++k) {
    da[k] = {int64_t(a[k] * powerOfTwo(TA::fraction - ea[k])), ea[k]};
    db[k] = {int64_t(b[k] * powerOfTwo(TB::fraction - eb[k])), eb[k]};
  }
  constexpr int fraction = TA::fraction + TB::fraction;
  FixedSum s;
  if (IsFloat8) {
    FixedSum even = sumOfProducts<G>(da, db, fraction, 0, 2);
    FixedSum odd = sumOfProducts<G>(da, db, fraction, 1, 2);
    s.exponent = even.exponent > odd.exponent ? even.exponent : odd.exponent;
    s.sum = floorShift(even.sum, s.exponent - even.exponent) +
            floorShift(odd.sum, s.exponent - odd.exponent);
  } else {
    s = sumOfProducts<G>(da, db, fraction, 0, 1);
  }
  uint32_t bits = bitsOfFloat(c);
  int field = static_cast<int>((bits >> 23) & 0xffu);
  int ec = (field > 1 ? field : 1) - 127;
  if (!(bits & 0x7fffffffu))
    ec = exponentOfZero;
  int64_t significand = static_cast<int64_t>(c * powerOfTwo(23 - ec));
  int m = s.exponent > ec ? s.exponent : ec;
  // in units of 2^(m - 31)
  int64_t sum = floorShift(s.sum, m - s.exponent - 7);
  int64_t addend = floorShift(significand, m - ec - 1);
  if (IsFloat8 && ec < m - 25)
    addend = 0;
  return static_cast<float>(static_cast<double>(sum + addend * 128) *
                            powerOfTwo(m - 31));
}

/// A and B of gfx942's rule, unpacked into rows of columns. A bias is added to
/// the exponents.
template <typename T, unsigned N, unsigned Rows, int Bias> struct FusedOperand {
  static constexpr unsigned W = vectorWidth<N>;
  using U = Vector<uint32_t, W>;
  alignas(64) float value[Rows][N];
  /// The exponents of rows 2q (low half) and 2q + 1.
  alignas(64) uint32_t exponents[Rows / 2][N];
  /// Nonzero where column n has an extreme value.
  alignas(64) uint32_t extreme[N];

  ALWAYS_INLINE void unpack(Lanes from) {
    constexpr unsigned E = Rows * N / L;
    U any = {};
    for (unsigned n = 0; n < N; n += W) {
      U found = {};
      for (unsigned g = 0; g < L / N; ++g)
        for (unsigned q = 0; q < E / 2; ++q) {
          Pair<W> pair = loadPair<T::bits, W>(from, q, N * g + n);
          Vector<float, W> low, high;
          T::template values<W>(pair, low, high);
          unsigned row = E * g + 2 * q;
          storeVector(&value[row][n], low);
          storeVector(&value[row + 1][n], high);
          Vector<int16_t, 2 * W> e = T::template exponents<W>(pair) + Bias;
          storeVector(&exponents[row / 2][n], e);
          found |= T::template extremes<W>(pair);
        }
      storeVector(&extreme[n], found);
      any |= found;
    }
    if (anyBit(any))
      for (unsigned g = 0; g < L / N; ++g)
        for (unsigned e = 0; e < E; ++e)
          for (unsigned n = 0; n < N; ++n)
            value[E * g + e][n] =
                T::value(rawBits<T::bits>(from, e, N * g + n));
  }
};

/// Sums of exponents are biased as in f32.
constexpr int biasOfB = 127;

ALWAYS_INLINE int exponentOfPair(uint32_t pair, unsigned k) {
  return static_cast<int16_t>(k % 2 ? pair >> 16 : pair);
}

/// The integers trunc(a b / 2^(e - 24)) summed over products of the given
/// parity, or all. A row of A is strided.
template <unsigned N, unsigned G, unsigned First, unsigned Step,
          unsigned Stride, typename I>
ALWAYS_INLINE I sumColumns(const float *a, const float (*b)[N], unsigned j,
                           I e) {
  constexpr unsigned W = vectorWidth<N>;
  using F = Vector<float, W>;
  F scale = bitCast<F>((278 - e) << 23);
  I sum = {};
  for (unsigned k = First; k < G; k += Step)
    sum += __builtin_convertvector(
        a[Stride * k] * loadVector<F>(&b[k][j]) * scale, I);
  return sum;
}

/// Rounds down to an integer.
template <typename I, typename F> ALWAYS_INLINE I floorOf(F x) {
#ifdef __AVX2__
  if constexpr (sizeof(F) % 32 == 0) {
    I whole;
    for (unsigned part = 0; part < sizeof(F) / 32; ++part) {
      __m256 floor = _mm256_floor_ps(
          _mm256_loadu_ps(reinterpret_cast<const float *>(&x) + 8 * part));
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(&whole) + part,
                          _mm256_cvttps_epi32(floor));
    }
    return whole;
  }
#endif
  I whole = __builtin_convertvector(x, I);
  return whole + bitCast<I>(__builtin_convertvector(whole, F) > x);
}

/// For columns from j on: where the largest exponent of a group is below 2^-101
/// although a product is not zero.
template <unsigned N, unsigned G, unsigned Stride, typename I>
ALWAYS_INLINE I tinyProducts(const float *a, const uint32_t *ea,
                             const float (*b)[N], const uint32_t (*eb)[N],
                             unsigned j) {
  using F = Vector<float, vectorWidth<N>>;
  I largest = I{} - 1000, product = {};
  for (unsigned k = 0; k < G; ++k) {
    I pair = loadVector<I>(&eb[k / 2][j]);
    I e = k % 2 ? pair >> 16 : pair << 16 >> 16;
    largest = larger(largest, e + exponentOfPair(ea[Stride * (k / 2)], k));
    if (a[Stride * k] != 0)
      product |= bitCast<I>(loadVector<F>(&b[k][j]) != 0);
  }
  return bitCast<I>(largest < 26) & product;
}

/// gfx942's rule for Rows rows and all columns of a group of G products, D and
/// C being rows of registers. Element k of row i of A is a[Stride * k + i].
/// extremeA and extremeB tell of each row and column.
///
/// The vectorised form is exact where no value of A and B is extreme (see the
/// types), products are zero or their largest exponent not below -101, and C is
/// zero or not below 2^lowestAccumulator: in units of 2^(m - 24), m the larger
/// exponent, C is cut to an integer, and the sum of products is an integer
/// shifted down by m - e places, of which seven are kept. Both are put into 32
/// bits with up to five places: where more are kept, |C| is so much larger that
/// the last of 32 bits is at least two places below the one that rounding
/// keeps, and can stand for all below. Exponents are biased by 127. It runs in
/// three loops because their chains of dependent instructions are long: a
/// processor overlaps the iterations of each.
template <typename TA, typename TB, unsigned N, unsigned G, unsigned Rows,
          unsigned Stride, typename RowOfC, typename RowOfD>
ALWAYS_INLINE void fusedGroup(const float *a, const uint32_t *ea,
                              const uint32_t *extremeA, const float (*b)[N],
                              const uint32_t (*eb)[N], const uint32_t *extremeB,
                              RowOfC rowOfC, RowOfD rowOfD) {
  constexpr unsigned W = vectorWidth<N>;
  constexpr bool isFloat8 = TA::bits == 8;
  constexpr int lowest = 127 + TA::lowestAccumulator;
  using F = Vector<float, W>;
  using H = Vector<int16_t, 2 * W>;
  using I = Vector<int32_t, W>;
  using U = Vector<uint32_t, W>;
  alignas(64) int32_t exponents[Rows][N], sums[Rows][N];
  bool mayBeTiny[Rows];
  U extremeColumns = {};
  for (unsigned j = 0; j < N; j += W)
    extremeColumns |= loadVector<U>(extremeB + j);
  bool anyExtremeColumn = anyBit(extremeColumns);
  for (unsigned i = 0; i < Rows; ++i) {
    H tiny = {};
    for (unsigned j = 0; j < N; j += W) {
      H largest = H{} - 1000;
      for (unsigned q = 0; q < G / 2; ++q)
        largest = larger(largest, bitCast<H>(U{} + ea[Stride * q + i]) +
                                      loadVector<H>(&eb[q][j]));
      if (TA::hasTinyProducts)
        tiny |= largest < 26;
      I pair = bitCast<I>(larger(largest, H{} + 26));
      storeVector(&exponents[i][j],
                  isFloat8 ? pair : larger(pair & 0xffff, pair >> 16));
    }
    mayBeTiny[i] = TA::hasTinyProducts && anyBit(tiny);
  }
  for (unsigned i = 0; i < Rows; ++i)
    for (unsigned j = 0; j < N; j += W) {
      I e = loadVector<I>(&exponents[i][j]), sum;
      if (isFloat8) {
        I even = e & 0xffff, odd = e >> 16;
        I s0 = sumColumns<N, G, 0, 2, Stride>(a + i, b, j, even);
        I s1 = sumColumns<N, G, 1, 2, Stride>(a + i, b, j, odd);
        e = larger(even, odd);
        sum = (s0 >> smaller(e - even, I{} + 31)) +
              (s1 >> smaller(e - odd, I{} + 31));
        storeVector(&exponents[i][j], e);
      } else {
        sum = sumColumns<N, G, 0, 1, Stride>(a + i, b, j, e);
      }
      storeVector(&sums[i][j], sum);
    }
  // Results of row i from j on; sets bad where they are not exact.
  auto finish = [&](unsigned i, unsigned j, F c, I &bad)
                    ALWAYS_INLINE_LAMBDA -> F {
    I e = loadVector<I>(&exponents[i][j]);
    I sum = loadVector<I>(&sums[i][j]);
    I magnitude = bitCast<I>(c) & 0x7fffffff;
    I ec = magnitude >> 23;
    bad |= ((ec < lowest) & magnitude) | (ec == 255);
    // What m - e exceeds 5 and 7 by.
    I over = subtractToZero(ec, e);
    I beyond5 = subtractToZero(over, I{} + 5);
    I beyond7 = subtractToZero(over, I{} + 7);
    I sticky = beyond5 - beyond7;
    sum >>= smaller(beyond7, I{} + 31);
    I shifted = sum >> sticky;
    shifted |= ((shifted << sticky) != sum) & 1;
    U unit = bitCast<U>(e + beyond5) << 23;
    I addend = floorOf<I>(c * bitCast<F>((278u << 23) - unit));
    if (isFloat8)
      addend = e - ec > 25 ? I{} : addend;
    return __builtin_convertvector(addend + shifted, F) *
           bitCast<F>(unit - (24u << 23));
  };
  for (unsigned i = 0; i < Rows; ++i) {
    const uint32_t *rowC = rowOfC(i);
    uint32_t *rowD = rowOfD(i);
    if (!(extremeA[i] | mayBeTiny[i] | anyExtremeColumn)) {
      F result[N / W];
      I bad = {};
      for (unsigned j = 0; j < N; j += W)
        result[j / W] = finish(i, j, loadVector<F>(rowC + j), bad);
      if (!anyBit(bad)) {
        for (unsigned j = 0; j < N; j += W)
          storeVector(rowD + j, result[j / W]);
        continue;
      }
    }
    for (unsigned j = 0; j < N; j += W) {
      if (!extremeA[i] && !anyBit(loadVector<U>(extremeB + j))) {
        I bad = {};
        if (mayBeTiny[i])
          bad = tinyProducts<N, G, Stride, I>(a + i, ea + i, b, eb, j);
        F result = finish(i, j, loadVector<F>(rowC + j), bad);
        if (!anyBit(bad)) {
          storeVector(rowD + j, result);
          continue;
        }
      }
      for (unsigned n = j; n < j + W; ++n) {
        float row[G], column[G];
        int rowExponents[G], columnExponents[G];
        for (unsigned g = 0; g < G; ++g) {
          row[g] = a[Stride * g + i];
          column[g] = b[g][n];
          rowExponents[g] = exponentOfPair(ea[Stride * (g / 2) + i], g);
          columnExponents[g] = exponentOfPair(eb[g / 2][n], g) - biasOfB;
        }
        rowD[n] = bitsOfFloat(fusedSum<TA, TB, G, isFloat8>(
            row, rowExponents, column, columnExponents, floatOfBits(rowC[n])));
      }
    }
  }
}

/// Rows of a product of K: group by group, the first adds to C.
template <typename TA, typename TB, unsigned N, unsigned K, unsigned G,
          unsigned Rows, unsigned Stride, typename RowOfC, typename RowOfD>
ALWAYS_INLINE void fusedRows(const float *a, const uint32_t *ea,
                             const uint32_t *extremeA, const float (*b)[N],
                             const uint32_t (*eb)[N], const uint32_t *extremeB,
                             RowOfC rowOfC, RowOfD rowOfD) {
  fusedGroup<TA, TB, N, G, Rows, Stride>(a, ea, extremeA, b, eb, extremeB,
                                         rowOfC, rowOfD);
  for (unsigned k = G; k < K; k += G)
    fusedGroup<TA, TB, N, G, Rows, Stride>(
        a + Stride * k, ea + Stride * (k / 2), extremeA, b + k, eb + k / 2,
        extremeB, rowOfD, rowOfD);
}

template <typename TA, typename TB, typename S, unsigned G>
void fused(Wave &w, const Instruction &I) {
  constexpr unsigned N = S::N, K = S::K;
  constexpr unsigned registers = S::elements * TA::bits / 32;
  Sources<registers> sourceA, sourceB;
  if (!findSources<S>(w, I, sourceA, sourceB))
    return;
  FusedOperand<TA, N, S::rows, 0> a;
  FusedOperand<TB, N, S::rows, biasOfB> b;
  a.unpack(sourceA.registers);
  b.unpack(sourceB.registers);
  Accumulators<S::resultRegisters> c;
  c.set(w, I.src[2], I.dst);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned block = 0; block < S::blocks; ++block) {
    auto rowOfC = [&](unsigned i) ALWAYS_INLINE_LAMBDA {
      return c.row(placeOfRow<N>(block, i));
    };
    auto rowOfD = [&](unsigned i) ALWAYS_INLINE_LAMBDA {
      RowPlace place = placeOfRow<N>(block, i);
      return d[place.reg] + place.lane;
    };
    fusedRows<TA, TB, N, K, G, N, N>(
        a.value[K * block], a.exponents[K / 2 * block], a.extreme,
        b.value + K * block, b.exponents + K / 2 * block, b.extreme, rowOfC,
        rowOfD);
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
  auto read = [&](const Operand &o, unsigned element, bool negate, double *to)
                  ALWAYS_INLINE_LAMBDA {
                    uint64_t sign = uint64_t(negate) << 63;
                    if (!o.isVGPR()) {
                      double value = hardware::doubleOf(s64(w, o) ^ sign);
                      for (unsigned l = 0; l < L; ++l)
                        to[l] = value;
                      return;
                    }
                    const uint32_t *low = w.vgpr[o.index + 2 * element];
                    const uint32_t *high = w.vgpr[o.index + 2 * element + 1];
                    for (unsigned l = 0; l < L; ++l) {
                      uint64_t bits = (low[l] | uint64_t(high[l]) << 32) ^ sign;
                      __builtin_memcpy(&to[l], &bits, 8);
                    }
                  };
  alignas(64) double a[K][wide], b[K][wide], c[elements][L];
  static_assert(K * wide == L, "one element of A and B in a lane");
  read(I.src[0], 0, blgp & 1, a[0]);
  read(I.src[1], 0, blgp & 2, b[0]);
  for (unsigned e = 0; e < elements; ++e)
    read(I.src[2], e, blgp & 4, c[e]);
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
    }
  for (unsigned e = 0; e < elements; ++e)
    for (unsigned l = 0; l < L; ++l) {
      uint64_t bits;
      __builtin_memcpy(&bits, &c[e][l], 8);
      d[2 * e][l] = static_cast<uint32_t>(bits);
      d[2 * e + 1][l] = static_cast<uint32_t>(bits >> 32);
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
  unsigned shift;
  if (!findIndices<TA::bits>(w, I, shift))
    return;
  FusedOperand<TA, N, stored, 0> a;
  FusedOperand<TB, N, K, biasOfB> b;
  a.unpack(w.vgpr + I.src[0].index);
  b.unpack(w.vgpr + I.src[1].index);
  alignas(64) uint32_t index[L];
  std::memcpy(index, w.vgpr[I.src[2].index], sizeof(index));
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned i = 0; i < N; ++i) {
    // The rows of B that meet a kept element of A.
    alignas(64) float column[stored][N];
    alignas(64) uint32_t exponents[stored / 2][N];
    unsigned k[stored];
    indicesOfRow<N, stored>(index, shift, i, k);
    for (unsigned t = 0; t < stored; t += 2) {
      std::memcpy(column[t], b.value[k[t]], sizeof(column[t]));
      std::memcpy(column[t + 1], b.value[k[t + 1]], sizeof(column[t]));
      unsigned low = 16 * (k[t] % 2), high = 16 * (k[t + 1] % 2);
      for (unsigned j = 0; j < N; ++j)
        exponents[t / 2][j] = ((b.exponents[k[t] / 2][j] >> low) & 0xffffu) |
                              (b.exponents[k[t + 1] / 2][j] >> high << 16);
    }
    RowPlace place = placeOfRow<N>(0, i);
    auto row = [&](unsigned)
                   ALWAYS_INLINE_LAMBDA { return d[place.reg] + place.lane; };
    fusedRows<TA, TB, N, stored, G, 1, N>(&a.value[0][i], &a.exponents[0][i],
                                          &a.extreme[i], column, exponents,
                                          b.extreme, row, row);
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
