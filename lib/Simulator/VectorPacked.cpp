//===- VectorPacked.cpp - Packed vector arithmetic ----------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

// Modifier bits of packed sources: neg 1, neg_hi 2, op_sel 4, op_sel_hi 8.

/// The 64 values that one half of the result takes from a source: op_sel picks
/// the dword of the pair for the low half, op_sel_hi for the high half.
struct Half {
  const uint32_t *p;
  uint32_t sign;
  ALWAYS_INLINE float get(unsigned l) const {
    return hardware::floatOf(p[l] ^ sign);
  }
};

ALWAYS_INLINE Half halfOfPair(Wave &w, const Operand &o, bool high,
                              uint32_t *buffer) {
  unsigned dword = (o.modifiers >> (high ? 3 : 2)) & 1;
  // An inline constant is 32 bits wide and stands in the low dword.
  if (o.kind == OperandKind::Constant)
    dword = 0;
  return {lanes(w, o, dword, buffer),
          (o.modifiers & (high ? 2 : 1)) ? 0x80000000u : 0u};
}

template <unsigned Sources, typename F>
ALWAYS_INLINE void packedF32(Wave &w, const Instruction &I, F f) {
  alignas(64) uint32_t buffers[3][L], low[L];
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned high = 0; high < 2; ++high) {
    Half s[3] = {};
    for (unsigned i = 0; i < Sources; ++i)
      s[i] = halfOfPair(w, I.src[i], high, buffers[i]);
    if (!high) {
      // The high half may still need the old low one.
      VECTORIZE
      for (unsigned l = 0; l < L; ++l)
        low[l] = hardware::bitsOf(f(s[0], s[1], s[2], l));
      continue;
    }
    VECTORIZE
    for (unsigned l = 0; l < L; ++l) {
      uint32_t mask = w.execMask[l];
      uint32_t r = hardware::bitsOf(f(s[0], s[1], s[2], l));
      d[1][l] = (r & mask) | (d[1][l] & ~mask);
      d[0][l] = (low[l] & mask) | (d[0][l] & ~mask);
    }
  }
}

void packedFMA(Wave &w, const Instruction &I) {
  packedF32<3>(w, I,
               [](Half a, Half b, Half c, unsigned l) ALWAYS_INLINE_LAMBDA {
                 return __builtin_fmaf(a.get(l), b.get(l), c.get(l));
               });
}
void packedMul(Wave &w, const Instruction &I) {
  packedF32<2>(w, I, [](Half a, Half b, Half, unsigned l) ALWAYS_INLINE_LAMBDA {
    return a.get(l) * b.get(l);
  });
}
void packedAdd(Wave &w, const Instruction &I) {
  packedF32<2>(w, I, [](Half a, Half b, Half, unsigned l) ALWAYS_INLINE_LAMBDA {
    return a.get(l) + b.get(l);
  });
}

/// d.lo = src0[op_sel of src0], d.hi = src1[op_sel of src1].
void packedMove(Wave &w, const Instruction &I) {
  alignas(64) uint32_t bufferA[L], bufferB[L];
  auto dword = [](const Operand &o) {
    return o.kind == OperandKind::Constant ? 0u : (o.modifiers >> 2) & 1u;
  };
  const uint32_t *a = lanes(w, I.src[0], dword(I.src[0]), bufferA);
  const uint32_t *b = lanes(w, I.src[1], dword(I.src[1]), bufferB);
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  for (unsigned l = 0; l < L; l += 8) {
    // Both sources may be overwritten.
    Words8 low = loadWords(a + l), high = loadWords(b + l);
    Words8 mask = loadWords(w.execMask + l);
    storeWords(d[0] + l, blendWords(low, loadWords(d[0] + l), mask));
    storeWords(d[1] + l, blendWords(high, loadWords(d[1] + l), mask));
  }
}

//===----------------------------------------------------------------------===//
// 16-bit pairs
//===----------------------------------------------------------------------===//

/// The 16 bits that one half of the result takes from a source.
ALWAYS_INLINE uint16_t shortOf(const Operand &o, uint32_t word, bool high) {
  unsigned part = (o.modifiers >> (high ? 3 : 2)) & 1;
  return static_cast<uint16_t>(word >> (16 * part));
}

template <typename F, unsigned Sources, bool Float>
void packed16(Wave &w, const Instruction &I) {
  alignas(64) uint32_t buffers[3][L];
  const uint32_t *s[3] = {};
  for (unsigned i = 0; i < Sources; ++i)
    s[i] = lanes(w, I.src[i], 0, buffers[i]);
  uint32_t *d = w.vgpr[I.dst.index];
  const bool flag = Float ? w.ieeeMode : I.clamp;
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    uint32_t result = 0;
    for (unsigned high = 0; high < 2; ++high) {
      uint16_t v[3] = {};
      for (unsigned i = 0; i < Sources; ++i) {
        v[i] = shortOf(I.src[i], s[i][l], high);
        if (Float && (I.src[i].modifiers & (high ? 2 : 1)))
          v[i] ^= 0x8000u;
      }
      result |= uint32_t(F::apply(v[0], v[1], v[2], flag)) << (16 * high);
    }
    d[l] = result;
  }
}

#ifdef __F16C__
/// Sums and products of pairs of halves, eight lanes at once; Slow has the
/// rounding modes other than to nearest even.
template <Handler Slow, bool Multiply>
void fastPackedF16(Wave &w, const Instruction &I) {
  if (halfRounding)
    return Slow(w, I);
  alignas(64) uint32_t buffers[2][L];
  const uint32_t *s[2];
  for (unsigned i = 0; i < 2; ++i)
    s[i] = lanes(w, I.src[i], 0, buffers[i]);
  uint32_t *d = w.vgpr[I.dst.index];
  for (unsigned l = 0; l < L; l += 8) {
    __m256i results[2];
    for (unsigned high = 0; high < 2; ++high) {
      __m256 v[2];
      for (unsigned i = 0; i < 2; ++i) {
        unsigned modifiers = I.src[i].modifiers;
        __m256i x = loadEight(s[i] + l);
        if ((modifiers >> (high ? 3 : 2)) & 1)
          x = _mm256_srli_epi32(x, 16);
        if (modifiers & (high ? 2 : 1))
          x = _mm256_xor_si256(x, _mm256_set1_epi32(0x8000));
        v[i] = floatsOfHalves(x);
      }
      results[high] = halvesOfFloats<_MM_FROUND_TO_NEAREST_INT>(
          Multiply ? _mm256_mul_ps(v[0], v[1]) : _mm256_add_ps(v[0], v[1]));
    }
    blendEight(d + l, w.execMask + l,
               _mm256_or_si256(results[0], _mm256_slli_epi32(results[1], 16)));
  }
}
#endif

/// Sources of the mixed-precision instructions: op_sel_hi says f16, op_sel then
/// which half; neg and abs apply to the value.
ALWAYS_INLINE float mixedSource(const Operand &o, uint32_t word) {
  float value = (o.modifiers & 8) ? valueOfHalf(static_cast<uint16_t>(
                                        word >> ((o.modifiers & 4) ? 16 : 0)))
                                  : hardware::floatOf(word);
  if (o.modifiers & 2)
    value = std::fabs(value);
  return (o.modifiers & 1) ? -value : value;
}

enum class MixedResult { F32, LowF16, HighF16 };

template <MixedResult Result> void mixedFMA(Wave &w, const Instruction &I) {
  alignas(64) uint32_t buffers[3][L];
  const uint32_t *s[3];
  for (unsigned i = 0; i < 3; ++i)
    s[i] = lanes(w, I.src[i], 0, buffers[i]);
  uint32_t *d = w.vgpr[I.dst.index];
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    float r = __builtin_fmaf(mixedSource(I.src[0], s[0][l]),
                             mixedSource(I.src[1], s[1][l]),
                             mixedSource(I.src[2], s[2][l]));
    if (I.clamp && (r == r || w.dx10Clamp))
      r = r > 0 ? (r < 1 ? r : 1.0f) : 0.0f;
    if (Result == MixedResult::F32)
      d[l] = hardware::bitsOf(r);
    else if (Result == MixedResult::LowF16)
      d[l] = (d[l] & 0xffff0000u) | halfOf(r);
    else
      d[l] = (d[l] & 0xffffu) | (uint32_t(halfOf(r)) << 16);
  }
}

} // namespace

/// apply sees the two halves' bits as a, b, c, and IEEE mode.
#define PACKED_F16(NAME, SOURCES, EXPRESSION)                                  \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE uint16_t apply(uint16_t a, uint16_t b, uint16_t c,  \
                                          bool ieee) {                         \
        (void)a, (void)b, (void)c, (void)ieee;                                 \
        return static_cast<uint16_t>(EXPRESSION);                              \
      }                                                                        \
    };                                                                         \
    OpcodeEntry entry =                                                        \
        plainEntry(&packed16<F, SOURCES, true>, Category::VALU);               \
    for (ValueType &type : entry.source)                                       \
      type = ValueType::PackedF16;                                             \
    entry.result = ValueType::PackedF16;                                       \
    table.entries[NAME] = entry;                                               \
  }
#ifdef __F16C__
/// The expression again, with a fast path.
#define FAST_PACKED_F16(NAME, MULTIPLY, OPERATOR)                              \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE uint16_t apply(uint16_t a, uint16_t b, uint16_t,    \
                                          bool) {                              \
        return halfOf(double(valueOfHalf(a)) OPERATOR valueOfHalf(b));         \
      }                                                                        \
    };                                                                         \
    table.entries[NAME].handler =                                              \
        &fastPackedF16<&packed16<F, 2, true>, MULTIPLY>;                       \
  }
#else
#define FAST_PACKED_F16(NAME, MULTIPLY, OPERATOR)
#endif
/// x, y and z are the sources in 64 bits; clamp saturates to T.
#define PACKED(NAME, SOURCES, T, EXPRESSION)                                   \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE uint16_t apply(uint16_t a, uint16_t b, uint16_t c,  \
                                          bool clamp) {                        \
        int64_t x = static_cast<T>(a), y = static_cast<T>(b),                  \
                z = static_cast<T>(c);                                         \
        (void)x, (void)y, (void)z;                                             \
        int64_t wide = EXPRESSION;                                             \
        constexpr int64_t low = std::numeric_limits<T>::min(),                 \
                          high = std::numeric_limits<T>::max();                \
        if (clamp)                                                             \
          wide = wide < low ? low : wide > high ? high : wide;                 \
        return static_cast<uint16_t>(wide);                                    \
      }                                                                        \
    };                                                                         \
    OpcodeEntry entry =                                                        \
        plainEntry(&packed16<F, SOURCES, false>, Category::VALU);              \
    for (ValueType &type : entry.source)                                       \
      type = ValueType::Packed16;                                              \
    entry.result = ValueType::Packed16;                                        \
    entry.handlesClamp = true;                                                 \
    table.entries[NAME] = entry;                                               \
  }

void registerVectorPacked(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler, ValueType source,
                 ValueType result, Arithmetic arithmetic) {
    OpcodeEntry entry = plainEntry(handler, Category::VALU);
    for (ValueType &type : entry.source)
      type = source;
    entry.result = result;
    entry.arithmetic = arithmetic;
    table.entries[name] = entry;
  };
  add("V_PK_FMA_F32", &packedFMA, ValueType::PackedF32, ValueType::PackedF32,
      Arithmetic::F32FMA);
  add("V_PK_MUL_F32", &packedMul, ValueType::PackedF32, ValueType::PackedF32,
      Arithmetic::F32Mul);
  add("V_PK_ADD_F32", &packedAdd, ValueType::PackedF32, ValueType::PackedF32,
      Arithmetic::F32Add);
  add("V_PK_MOV_B32", &packedMove, ValueType::PackedF32, ValueType::B64,
      Arithmetic::None);
  table.entries["V_PK_MOV_B32"].bitwise = true;
  add("V_FMA_MIX_F32", &mixedFMA<MixedResult::F32>, ValueType::Mixed,
      ValueType::F32, Arithmetic::F32FMA);
  add("V_FMA_MIXLO_F16", &mixedFMA<MixedResult::LowF16>, ValueType::Mixed,
      ValueType::F16, Arithmetic::F32FMA);
  add("V_FMA_MIXHI_F16", &mixedFMA<MixedResult::HighF16>, ValueType::Mixed,
      ValueType::F16, Arithmetic::F32FMA);
  for (const char *name :
       {"V_FMA_MIX_F32", "V_FMA_MIXLO_F16", "V_FMA_MIXHI_F16"})
    table.entries[name].handlesClamp = true;

#define V(x) double(valueOfHalf(x))
  PACKED_F16("V_PK_ADD_F16", 2, halfOf(V(a) + V(b)));
  PACKED_F16("V_PK_MUL_F16", 2, halfOf(V(a) * V(b)));
  FAST_PACKED_F16("V_PK_ADD_F16", false, +);
  FAST_PACKED_F16("V_PK_MUL_F16", true, *);
  PACKED_F16("V_PK_FMA_F16", 3, halfOf(__builtin_fma(V(a), V(b), V(c))));
  PACKED_F16("V_PK_FMAC_F16", 3, halfOf(__builtin_fma(V(a), V(b), V(c))));
  PACKED_F16("V_PK_MIN_F16", 2, extremum16(a, b, false, ieee));
  PACKED_F16("V_PK_MAX_F16", 2, extremum16(a, b, true, ieee));
#undef V
  PACKED("V_PK_ADD_U16", 2, uint16_t, x + y);
  PACKED("V_PK_ADD_I16", 2, int16_t, x + y);
  PACKED("V_PK_SUB_U16", 2, uint16_t, x - y);
  PACKED("V_PK_SUB_I16", 2, int16_t, x - y);
  PACKED("V_PK_MUL_LO_U16", 2, uint16_t, x *y);
  PACKED("V_PK_MAD_U16", 3, uint16_t, x *y + z);
  PACKED("V_PK_MAD_I16", 3, int16_t, x *y + z);
  PACKED("V_PK_MIN_U16", 2, uint16_t, x < y ? x : y);
  PACKED("V_PK_MAX_U16", 2, uint16_t, x > y ? x : y);
  PACKED("V_PK_MIN_I16", 2, int16_t, x < y ? x : y);
  PACKED("V_PK_MAX_I16", 2, int16_t, x > y ? x : y);
  PACKED("V_PK_LSHLREV_B16", 2, uint16_t, uint16_t(b << (a & 15)));
  PACKED("V_PK_LSHRREV_B16", 2, uint16_t, b >> (a & 15));
  PACKED("V_PK_ASHRREV_I16", 2, int16_t, y >> (a & 15));
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
