//===- Semantics.h - Building blocks of instruction semantics ---*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Loops over lanes, typed operands and registration macros for the families.
/// The families and this header are compiled once portably and, on x86-64,
/// once more for AVX2 and FMA; WAVESMITH_SIMULATOR_VARIANT names the namespace
/// of each so that no function of one is ever linked into the other.
///
/// An entry reads: name, result type, source types, expression of a, b, c:
/// \code
///   OP2("V_ADD_F64", F64, F64, F64, a + b);
/// \endcode
/// OP* loops are vectorised and compute inactive lanes as well, whose results
/// are dropped. SLOW* loops visit active lanes only, for expressions that call
/// library functions. TILE* is OP* for plain f64 arithmetic: a few operations
/// on eight lanes at a time, without a detour through memory.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_SEMANTICS_H
#define WAVESMITH_LIB_SIMULATOR_SEMANTICS_H

#include "Machine.h"
#include "wavesmith/Target/HardwareSeeds.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <cstring>
#include <limits>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef WAVESMITH_SIMULATOR_VARIANT
#error "set by the build: portable or avx2"
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define ALWAYS_INLINE_LAMBDA __attribute__((always_inline))
#if defined(__clang__)
#define VECTORIZE                                                              \
  _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
// Small code: many handlers share the host's instruction cache.
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define VECTORIZE _Pragma("GCC ivdep")
#define ROLLED _Pragma("GCC unroll 1")
#endif

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {

constexpr unsigned L = lanesPerWave;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

inline uint32_t readSpecial(Wave &w, const Operand &o, unsigned dword) {
  switch (static_cast<SpecialRegister>(o.index)) {
  case SpecialRegister::SharedBase:
    return dword ? sharedApertureHigh : 0;
  case SpecialRegister::SharedLimit:
    return dword ? sharedApertureHigh : 0xffffffffu;
  case SpecialRegister::PrivateBase:
    return dword ? privateApertureHigh : 0;
  case SpecialRegister::PrivateLimit:
    return dword ? privateApertureHigh : 0xffffffffu;
  case SpecialRegister::VCCZ:
    return dword ? 0 : w.read64(sgprVCC) == 0;
  case SpecialRegister::EXECZ:
    return dword ? 0 : w.read64(sgprEXEC) == 0;
  case SpecialRegister::SCC:
    return dword ? 0 : w.scc;
  case SpecialRegister::Unknown:
    break;
  }
  fail(w, "a special register that is not modelled is read");
  return 0;
}

ALWAYS_INLINE uint32_t scalarDword(Wave &w, const Operand &o, unsigned dword) {
  if (__builtin_expect(o.kind == OperandKind::SGPR, true))
    return w.sgpr[o.index + dword];
  if (__builtin_expect(o.kind == OperandKind::Constant, true))
    return static_cast<uint32_t>(dword ? o.value >> 32 : o.value);
  if (o.kind == OperandKind::VGPR)
    return w.vgpr[o.index + dword][0];
  if (o.kind == OperandKind::None)
    return 0;
  return readSpecial(w, o, dword);
}

ALWAYS_INLINE uint32_t s32(Wave &w, const Operand &o) {
  return scalarDword(w, o, 0);
}
ALWAYS_INLINE uint64_t s64(Wave &w, const Operand &o) {
  return scalarDword(w, o, 0) | (uint64_t(scalarDword(w, o, 1)) << 32);
}
ALWAYS_INLINE void setS32(Wave &w, const Operand &o, uint32_t value) {
  w.sgpr[o.index] = value;
}
ALWAYS_INLINE void setS64(Wave &w, const Operand &o, uint64_t value) {
  w.write64(o.index, value);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// The 64 values of one dword of an operand; scalars are spread into buffer.
ALWAYS_INLINE const uint32_t *lanes(Wave &w, const Operand &o, unsigned dword,
                                    uint32_t *buffer) {
  if (o.kind == OperandKind::VGPR)
    return w.vgpr[o.index + dword];
  uint32_t value = scalarDword(w, o, dword);
  for (unsigned l = 0; l < L; ++l)
    buffer[l] = value;
  return buffer;
}

/// All ones in the lanes whose bit is set.
ALWAYS_INLINE void expandMask(uint64_t mask, uint32_t *out) {
  uint32_t low = static_cast<uint32_t>(mask);
  uint32_t high = static_cast<uint32_t>(mask >> 32);
  for (unsigned l = 0; l < 32; ++l)
    out[l] = 0u - ((low >> l) & 1u);
  for (unsigned l = 0; l < 32; ++l)
    out[32 + l] = 0u - ((high >> l) & 1u);
}

/// Collects the lowest bits of 64 values.
ALWAYS_INLINE uint64_t packMask(const uint32_t *values) {
  uint64_t mask = 0;
#ifdef __AVX2__
  for (unsigned i = 0; i < 8; ++i) {
    __m256i v =
        _mm256_load_si256(reinterpret_cast<const __m256i *>(values + 8 * i));
    mask |= uint64_t(uint32_t(_mm256_movemask_ps(
                _mm256_castsi256_ps(_mm256_slli_epi32(v, 31)))))
            << (8 * i);
  }
#else
  for (unsigned l = 0; l < L; ++l)
    mask |= uint64_t(values[l] & 1u) << l;
#endif
  return mask;
}

inline __attribute__((noinline)) void unpackExec(Wave &w, uint64_t exec) {
  w.exec = exec;
  expandMask(exec, w.execMask);
  w.activeLanes = static_cast<unsigned>(__builtin_popcountll(exec));
}

/// Brings the wavefront's unpacked copy of EXEC up to date.
ALWAYS_INLINE void refreshExec(Wave &w) {
  uint64_t exec = w.read64(sgprEXEC);
  if (__builtin_expect(exec != w.exec, false))
    unpackExec(w, exec);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// A 32-bit source or result whose bits are reinterpreted.
template <typename T, ValueType V> struct Word {
  using type = T;
  static constexpr ValueType valueType = V;
  struct Source {
    const uint32_t *p;
    uint32_t andMask, xorMask;
    ALWAYS_INLINE T get(unsigned l) const {
      uint32_t bits = V == ValueType::F32 ? (p[l] & andMask) ^ xorMask : p[l];
      T value;
      __builtin_memcpy(&value, &bits, 4);
      return value;
    }
  };
  struct Buffer {
    alignas(64) uint32_t words[L];
  };
  static ALWAYS_INLINE Source source(Wave &w, const Operand &o, Buffer &b) {
    return {lanes(w, o, 0, b.words), o.andMask, o.xorMask};
  }
  static ALWAYS_INLINE void put(uint32_t (*d)[L], unsigned l, T value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    d[0][l] = bits;
  }
  static ALWAYS_INLINE void blend(uint32_t (*d)[L], unsigned l, T value,
                                  uint32_t mask) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    d[0][l] = (bits & mask) | (d[0][l] & ~mask);
  }
};

/// A 64-bit source or result.
template <typename T, ValueType V> struct Double {
  using type = T;
  static constexpr ValueType valueType = V;
  struct Source {
    const uint32_t *low, *high;
    uint32_t andMask, xorMask;
    ALWAYS_INLINE T get(unsigned l) const {
      uint32_t h =
          V == ValueType::F64 ? (high[l] & andMask) ^ xorMask : high[l];
      uint64_t bits = uint64_t(low[l]) | (uint64_t(h) << 32);
      T value;
      __builtin_memcpy(&value, &bits, 8);
      return value;
    }
  };
  struct Buffer {
    alignas(64) uint32_t words[2][L];
  };
  static ALWAYS_INLINE Source source(Wave &w, const Operand &o, Buffer &b) {
    return {lanes(w, o, 0, b.words[0]), lanes(w, o, 1, b.words[1]), o.andMask,
            o.xorMask};
  }
  static ALWAYS_INLINE void put(uint32_t (*d)[L], unsigned l, T value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, 8);
    d[0][l] = static_cast<uint32_t>(bits);
    d[1][l] = static_cast<uint32_t>(bits >> 32);
  }
  static ALWAYS_INLINE void blend(uint32_t (*d)[L], unsigned l, T value,
                                  uint32_t mask) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, 8);
    d[0][l] = (static_cast<uint32_t>(bits) & mask) | (d[0][l] & ~mask);
    d[1][l] = (static_cast<uint32_t>(bits >> 32) & mask) | (d[1][l] & ~mask);
  }
};

/// Rounds to a half in a mode of MODE (0 nearest even, 1 up, 2 down, 3 towards
/// zero; and saturateHalves); NaN becomes quiet. The bits below the result
/// decide, so the value may not have been rounded to nearest before unless that
/// was harmless.
inline uint16_t halfOf(double value, unsigned mode) {
  uint64_t bits = hardware::bitsOf(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 48) & 0x8000u;
  uint64_t magnitude = bits & 0x7fffffffffffffffull;
  bool saturate = mode & saturateHalves;
  mode &= 3;
  if (magnitude >= 0x7ff0000000000000ull)
    return magnitude == 0x7ff0000000000000ull
               ? sign | 0x7c00u
               : sign | 0x7e00u |
                     static_cast<uint16_t>((magnitude >> 42) & 0x1ffu);
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent < -1022)
    exponent = -1022;
  uint64_t mantissa = magnitude & 0xfffffffffffffull;
  if (magnitude >> 52)
    mantissa |= uint64_t(1) << 52;
  // The last place of the result, and how many bits are below it.
  int last = exponent < -14 ? -24 : exponent - 10;
  unsigned below = static_cast<unsigned>(last - (exponent - 52));
  uint64_t kept = 0, rest = mantissa, half = uint64_t(1) << 62;
  if (below < 64) {
    kept = mantissa >> below;
    rest = mantissa & ((uint64_t(1) << below) - 1);
    half = below ? uint64_t(1) << (below - 1) : ~uint64_t(0);
  }
  bool up = mode == 0   ? rest > half || (rest == half && (kept & 1))
            : mode == 1 ? rest && !sign
            : mode == 2 ? rest && sign
                        : false;
  kept += up;
  // Beyond the largest half: infinity, unless rounding goes towards zero.
  if (exponent >= 16 || (exponent == 15 && kept > 2047)) {
    bool toInfinity =
        !saturate && (mode == 0 || (mode == 1 && !sign) || (mode == 2 && sign));
    return sign | (toInfinity ? 0x7c00u : 0x7bffu);
  }
  // A carry out of the mantissa raises the exponent by itself.
  uint32_t encoded = exponent < -14
                         ? static_cast<uint32_t>(kept)
                         : (static_cast<uint32_t>(exponent + 14) << 10) +
                               static_cast<uint32_t>(kept);
  return sign | static_cast<uint16_t>(encoded);
}

/// Rounds to a half as MODE says.
inline uint16_t halfOf(double value) { return halfOf(value, halfRounding); }

/// The value of a half, exactly.
inline float valueOfHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 31)
    return hardware::floatOf(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return hardware::floatOf(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

/// A half in the low or, with op_sel, the high 16 bits of a register. Results
/// write the low half and, as on gfx9, clear the high one.
struct F16 {
  using type = double;
  static constexpr ValueType valueType = ValueType::F16;
  struct Source {
    const uint32_t *p;
    uint32_t andMask, xorMask;
    unsigned shift;
    ALWAYS_INLINE double get(unsigned l) const {
      return valueOfHalf(static_cast<uint16_t>(
          ((p[l] >> shift) & 0xffffu & andMask) ^ xorMask));
    }
  };
  struct Buffer {
    alignas(64) uint32_t words[L];
  };
  static ALWAYS_INLINE Source source(Wave &w, const Operand &o, Buffer &b) {
    return {lanes(w, o, 0, b.words), o.andMask, o.xorMask,
            (o.modifiers & 4) ? 16u : 0u};
  }
  static ALWAYS_INLINE void put(uint32_t (*d)[L], unsigned l, double value) {
    d[0][l] = halfOf(value);
  }
  static ALWAYS_INLINE void blend(uint32_t (*d)[L], unsigned l, double value,
                                  uint32_t mask) {
    d[0][l] = (uint32_t(halfOf(value)) & mask) | (d[0][l] & ~mask);
  }
};

/// A 16-bit integer; results clear the high half.
template <typename T> struct Short {
  using type = T;
  static constexpr ValueType valueType = ValueType::B32;
  struct Source {
    const uint32_t *p;
    unsigned shift;
    ALWAYS_INLINE T get(unsigned l) const {
      return static_cast<T>(p[l] >> shift);
    }
  };
  struct Buffer {
    alignas(64) uint32_t words[L];
  };
  static ALWAYS_INLINE Source source(Wave &w, const Operand &o, Buffer &b) {
    return {lanes(w, o, 0, b.words), (o.modifiers & 4) ? 16u : 0u};
  }
  static ALWAYS_INLINE void put(uint32_t (*d)[L], unsigned l, T value) {
    d[0][l] = static_cast<uint16_t>(value);
  }
  static ALWAYS_INLINE void blend(uint32_t (*d)[L], unsigned l, T value,
                                  uint32_t mask) {
    d[0][l] = (static_cast<uint16_t>(value) & mask) | (d[0][l] & ~mask);
  }
};

/// The bits of a half, after neg and abs; results clear the high half.
struct H16 {
  using type = uint16_t;
  static constexpr ValueType valueType = ValueType::F16;
  struct Source {
    const uint32_t *p;
    uint32_t andMask, xorMask;
    unsigned shift;
    ALWAYS_INLINE uint16_t get(unsigned l) const {
      return static_cast<uint16_t>(((p[l] >> shift) & 0xffffu & andMask) ^
                                   xorMask);
    }
  };
  struct Buffer {
    alignas(64) uint32_t words[L];
  };
  static ALWAYS_INLINE Source source(Wave &w, const Operand &o, Buffer &b) {
    return {lanes(w, o, 0, b.words), o.andMask, o.xorMask,
            (o.modifiers & 4) ? 16u : 0u};
  }
  static ALWAYS_INLINE void put(uint32_t (*d)[L], unsigned l, uint16_t value) {
    d[0][l] = value;
  }
  static ALWAYS_INLINE void blend(uint32_t (*d)[L], unsigned l, uint16_t value,
                                  uint32_t mask) {
    d[0][l] = (value & mask) | (d[0][l] & ~mask);
  }
};

using U32 = Word<uint32_t, ValueType::B32>;
using I32 = Word<int32_t, ValueType::B32>;
using F32 = Word<float, ValueType::F32>;
using U64 = Double<uint64_t, ValueType::B64>;
using I64 = Double<int64_t, ValueType::B64>;
using F64 = Double<double, ValueType::F64>;
using U16 = Short<uint16_t>;
using I16 = Short<int16_t>;

//===----------------------------------------------------------------------===//
// 64-bit values, eight lanes at a time
//===----------------------------------------------------------------------===//

// The halves of a 64-bit value stand in two registers. They are interleaved
// within 128 bits, by one shuffle for four lanes and without a move across the
// halves of a host register. So eight lanes come out in the order below; what
// is computed lane by lane does not mind, and the way back is the same.
//
// Loops over such values have three steps: gather the sources into arrays in
// this order ("slots"), compute slot by slot, scatter.

constexpr unsigned slotOrder[8] = {0, 1, 4, 5, 2, 3, 6, 7};
constexpr unsigned laneOfSlot(unsigned slot) {
  return (slot & ~7u) | slotOrder[slot & 7];
}

using Words8 = uint32_t __attribute__((vector_size(32)));
using Doubles4 = double __attribute__((vector_size(32)));

ALWAYS_INLINE Words8 loadWords(const uint32_t *from) {
  Words8 words;
  __builtin_memcpy(&words, from, sizeof(words));
  return words;
}
ALWAYS_INLINE void storeWords(uint32_t *to, Words8 words) {
  __builtin_memcpy(to, &words, sizeof(words));
}
/// To the order of slots, and back.
ALWAYS_INLINE Words8 reorder(Words8 words) {
  return __builtin_shufflevector(words, words, 0, 1, 4, 5, 2, 3, 6, 7);
}
ALWAYS_INLINE Words8 blendWords(Words8 words, Words8 old, Words8 mask) {
  return (words & mask) | (old & ~mask);
}

/// Eight 64-bit values in the order of slots.
struct Wide8 {
  Words8 first, second;
};
ALWAYS_INLINE Wide8 interleave(Words8 low, Words8 high) {
  return {__builtin_shufflevector(low, high, 0, 8, 1, 9, 4, 12, 5, 13),
          __builtin_shufflevector(low, high, 2, 10, 3, 11, 6, 14, 7, 15)};
}
ALWAYS_INLINE Words8 lowHalves(const Wide8 &v) {
  return __builtin_shufflevector(v.first, v.second, 0, 2, 8, 10, 4, 6, 12, 14);
}
ALWAYS_INLINE Words8 highHalves(const Wide8 &v) {
  return __builtin_shufflevector(v.first, v.second, 1, 3, 9, 11, 5, 7, 13, 15);
}

/// A 64-bit source: registers, or a scalar that is spread over eight lanes.
struct WideSource {
  const uint32_t *low, *high;
  /// What remains of a lane's number: all of it, or nothing.
  size_t laneMask;
  uint32_t andMask, xorMask;

  /// Zero where there is no neg and no abs.
  ALWAYS_INLINE uint32_t modifiers() const { return ~andMask | xorMask; }
  template <bool Plain> ALWAYS_INLINE Wide8 get(size_t lane) const {
    Words8 h = loadWords(high + (lane & laneMask));
    if (!Plain)
      h = (h & andMask) ^ xorMask;
    return interleave(loadWords(low + (lane & laneMask)), h);
  }
};
struct Spread {
  alignas(32) uint32_t words[2][8];
};
ALWAYS_INLINE WideSource wideSource(Wave &w, const Operand &o, Spread &spread) {
  if (__builtin_expect(o.kind == OperandKind::VGPR, true))
    return {w.vgpr[o.index], w.vgpr[o.index + 1], ~size_t(0), o.andMask,
            o.xorMask};
  uint32_t words[2] = {scalarDword(w, o, 0), scalarDword(w, o, 1)};
  for (unsigned i = 0; i < 8; ++i) {
    spread.words[0][i] = words[0];
    spread.words[1][i] = words[1];
  }
  return {spread.words[0], spread.words[1], 0, o.andMask, o.xorMask};
}

template <typename T> constexpr bool isDouble = false;
template <typename T, ValueType V> constexpr bool isDouble<Double<T, V>> = true;
template <typename T> constexpr bool isWord = false;
template <typename T, ValueType V> constexpr bool isWord<Word<T, V>> = true;

/// Reads all lanes of a source of type A into slots.
template <typename A>
ALWAYS_INLINE void gather(Wave &w, const Operand &o, typename A::type *slots) {
  if constexpr (isDouble<A>) {
    Spread spread;
    WideSource source = wideSource(w, o, spread);
    constexpr bool plain = A::valueType != ValueType::F64;
    ROLLED
    for (unsigned l = 0; l < L; l += 8) {
      Wide8 values = source.get<plain>(l);
      __builtin_memcpy(slots + l, &values, sizeof(values));
    }
  } else {
    typename A::Buffer buffer;
    typename A::Source source = A::source(w, o, buffer);
    if constexpr (isWord<A>) {
      for (unsigned l = 0; l < L; l += 8) {
        Words8 words = loadWords(source.p + l);
        if (A::valueType == ValueType::F32)
          words = (words & source.andMask) ^ source.xorMask;
        words = reorder(words);
        __builtin_memcpy(slots + l, &words, sizeof(words));
      }
    } else {
      for (unsigned s = 0; s < L; ++s)
        slots[s] = source.get(laneOfSlot(s));
    }
  }
}

/// Writes the active lanes of a result of type D from slots.
template <typename D>
ALWAYS_INLINE void scatter(Wave &w, const Instruction &I,
                           const typename D::type *slots) {
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  bool full = w.exec == ~uint64_t(0);
  if constexpr (isDouble<D>) {
    ROLLED
    for (unsigned l = 0; l < L; l += 8) {
      Wide8 values;
      __builtin_memcpy(&values, slots + l, sizeof(values));
      Words8 low = lowHalves(values), high = highHalves(values);
      if (!full) {
        Words8 mask = loadWords(w.execMask + l);
        low = blendWords(low, loadWords(d[0] + l), mask);
        high = blendWords(high, loadWords(d[1] + l), mask);
      }
      storeWords(d[0] + l, low);
      storeWords(d[1] + l, high);
    }
  } else if constexpr (isWord<D>) {
    for (unsigned l = 0; l < L; l += 8) {
      Words8 words =
          reorder(loadWords(reinterpret_cast<const uint32_t *>(slots + l)));
      if (!full)
        words =
            blendWords(words, loadWords(d[0] + l), loadWords(w.execMask + l));
      storeWords(d[0] + l, words);
    }
  } else {
    for (unsigned s = 0; s < L; ++s)
      D::blend(d, laneOfSlot(s), slots[s], w.execMask[laneOfSlot(s)]);
  }
}

/// Collects the signs of 64 slots as a mask of lanes.
ALWAYS_INLINE uint64_t packSlots(const uint64_t *slots) {
  uint64_t mask = 0;
#ifdef __AVX2__
  for (unsigned i = 0; i < L / 4; ++i)
    mask |= uint64_t(uint32_t(_mm256_movemask_pd(_mm256_load_pd(
                reinterpret_cast<const double *>(slots + 4 * i)))))
            << (4 * i);
#else
  for (unsigned s = 0; s < L; ++s)
    mask |= (slots[s] >> 63) << s;
#endif
  // Bits 2, 3 and 4, 5 of each byte change places.
  constexpr uint64_t third = 0x0c0c0c0c0c0c0c0cull;
  uint64_t moved = ((mask & third) << 2) | ((mask >> 2) & third);
  return (mask & ~(third | third << 2)) | moved;
}

/// Four results of plain arithmetic: the compiler makes one operation of them.
template <typename F, typename... Sources>
ALWAYS_INLINE Doubles4 applyFour(Sources... sources) {
  return Doubles4{F::apply(sources[0]...), F::apply(sources[1]...),
                  F::apply(sources[2]...), F::apply(sources[3]...)};
}

template <typename F, bool Plain, bool Full, typename... Sources>
ALWAYS_INLINE void tileLoop(Wave &w, const Instruction &I, Sources... sources) {
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  ROLLED
  for (size_t l = 0; l < L; l += 8) {
    auto apply = [](const auto &...values) ALWAYS_INLINE_LAMBDA {
      return Wide8{(Words8)applyFour<F>((Doubles4)values.first...),
                   (Words8)applyFour<F>((Doubles4)values.second...)};
    };
    Wide8 result = apply(sources.template get<Plain>(l)...);
    Words8 low = lowHalves(result), high = highHalves(result);
    if (!Full) {
      Words8 mask = loadWords(w.execMask + l);
      low = blendWords(low, loadWords(d[0] + l), mask);
      high = blendWords(high, loadWords(d[1] + l), mask);
    }
    storeWords(d[0] + l, low);
    storeWords(d[1] + l, high);
  }
}

/// Plain f64 arithmetic on eight lanes at a time.
template <typename F, typename... Sources>
ALWAYS_INLINE void tiles(Wave &w, const Instruction &I, Sources... sources) {
  bool full = w.exec == ~uint64_t(0);
  if (full && (sources.modifiers() | ...) == 0)
    tileLoop<F, true, true>(w, I, sources...);
  else if (full)
    tileLoop<F, false, true>(w, I, sources...);
  else
    tileLoop<F, false, false>(w, I, sources...);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// How an instruction goes over the lanes: SLOW*, OP*, TILE*.
enum LoopKind : unsigned { eachActiveLane = 0, allLanes = 1, tiled = 2 };

template <bool Vector, typename D, typename Compute>
ALWAYS_INLINE void forLanes(Wave &w, const Instruction &I, Compute compute) {
  uint32_t (*d)[L] = w.vgpr + I.dst.index;
  if (Vector) {
    if (w.exec == ~uint64_t(0)) {
      VECTORIZE
      for (unsigned l = 0; l < L; ++l)
        D::put(d, l, compute(l));
      return;
    }
    VECTORIZE
    for (unsigned l = 0; l < L; ++l)
      D::blend(d, l, compute(l), w.execMask[l]);
    return;
  }
  for (uint64_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = static_cast<unsigned>(__builtin_ctzll(rest));
    D::put(d, l, compute(l));
  }
}

template <typename F, unsigned Kind, typename D, typename A>
void unary(Wave &w, const Instruction &I) {
  constexpr bool Vector = Kind != eachActiveLane;
  if constexpr (Vector && (isDouble<D> || isDouble<A>)) {
    alignas(64) typename A::type a[L];
    alignas(64) typename D::type result[L];
    gather<A>(w, I.src[0], a);
    VECTORIZE
    for (unsigned s = 0; s < L; ++s)
      result[s] = F::apply(a[s]);
    scatter<D>(w, I, result);
    return;
  }
  typename A::Buffer bufferA;
  typename A::Source a = A::source(w, I.src[0], bufferA);
  forLanes<Vector, D>(w, I, [&](unsigned l) ALWAYS_INLINE_LAMBDA {
    return F::apply(a.get(l));
  });
}

template <typename F, unsigned Kind, typename D, typename A, typename B>
void binary(Wave &w, const Instruction &I) {
  constexpr bool Vector = Kind != eachActiveLane;
  if constexpr (Kind == tiled) {
    Spread spread[2];
    tiles<F>(w, I, wideSource(w, I.src[0], spread[0]),
             wideSource(w, I.src[1], spread[1]));
    return;
  } else if constexpr (Vector && (isDouble<D> || isDouble<A> || isDouble<B>)) {
    alignas(64) typename A::type a[L];
    alignas(64) typename B::type b[L];
    alignas(64) typename D::type result[L];
    gather<A>(w, I.src[0], a);
    gather<B>(w, I.src[1], b);
    VECTORIZE
    for (unsigned s = 0; s < L; ++s)
      result[s] = F::apply(a[s], b[s]);
    scatter<D>(w, I, result);
    return;
  }
  typename A::Buffer bufferA;
  typename B::Buffer bufferB;
  typename A::Source a = A::source(w, I.src[0], bufferA);
  typename B::Source b = B::source(w, I.src[1], bufferB);
  forLanes<Vector, D>(w, I, [&](unsigned l) ALWAYS_INLINE_LAMBDA {
    return F::apply(a.get(l), b.get(l));
  });
}

template <typename F, unsigned Kind, typename D, typename A, typename B,
          typename C>
void ternary(Wave &w, const Instruction &I) {
  constexpr bool Vector = Kind != eachActiveLane;
  if constexpr (Kind == tiled) {
    Spread spread[3];
    tiles<F>(w, I, wideSource(w, I.src[0], spread[0]),
             wideSource(w, I.src[1], spread[1]),
             wideSource(w, I.src[2], spread[2]));
    return;
  } else if constexpr (Vector && (isDouble<D> || isDouble<A> || isDouble<B> ||
                                  isDouble<C>)) {
    alignas(64) typename A::type a[L];
    alignas(64) typename B::type b[L];
    alignas(64) typename C::type c[L];
    alignas(64) typename D::type result[L];
    gather<A>(w, I.src[0], a);
    gather<B>(w, I.src[1], b);
    gather<C>(w, I.src[2], c);
    VECTORIZE
    for (unsigned s = 0; s < L; ++s)
      result[s] = F::apply(a[s], b[s], c[s]);
    scatter<D>(w, I, result);
    return;
  }
  typename A::Buffer bufferA;
  typename B::Buffer bufferB;
  typename C::Buffer bufferC;
  typename A::Source a = A::source(w, I.src[0], bufferA);
  typename B::Source b = B::source(w, I.src[1], bufferB);
  typename C::Source c = C::source(w, I.src[2], bufferC);
  forLanes<Vector, D>(w, I, [&](unsigned l) ALWAYS_INLINE_LAMBDA {
    return F::apply(a.get(l), b.get(l), c.get(l));
  });
}

/// The wide result of F, cut to what a type can hold.
template <typename F, typename D> struct Saturated {
  template <typename... T> static ALWAYS_INLINE auto apply(T... sources) {
    using Result = typename D::type;
    __int128 wide = F::apply(sources...);
    constexpr __int128 low = std::numeric_limits<Result>::min(),
                       high = std::numeric_limits<Result>::max();
    return static_cast<Result>(wide < low ? low : wide > high ? high : wide);
  }
};

/// Integer arithmetic that clamp saturates: F wraps, Wide gives the exact
/// value.
template <typename F, typename Wide, typename D, typename A, typename B>
void saturating2(Wave &w, const Instruction &I) {
  if (I.clamp)
    binary<Saturated<Wide, D>, false, D, A, B>(w, I);
  else
    binary<F, true, D, A, B>(w, I);
}
template <typename F, typename Wide, typename D, typename A, typename B,
          typename C>
void saturating3(Wave &w, const Instruction &I) {
  if (I.clamp)
    ternary<Saturated<Wide, D>, false, D, A, B, C>(w, I);
  else
    ternary<F, true, D, A, B, C>(w, I);
}

/// A comparison: writes a mask, zero for inactive lanes.
template <typename F, bool WritesExec, typename A, typename B>
void comparison(Wave &w, const Instruction &I) {
  uint64_t mask;
  if constexpr (isDouble<A> || isDouble<B>) {
    alignas(64) typename A::type a[L];
    alignas(64) typename B::type b[L];
    alignas(64) uint64_t result[L];
    gather<A>(w, I.src[0], a);
    gather<B>(w, I.src[1], b);
    VECTORIZE
    for (unsigned s = 0; s < L; ++s)
      result[s] = F::apply(a[s], b[s]) ? ~uint64_t(0) : 0;
    mask = packSlots(result);
  } else {
    typename A::Buffer bufferA;
    typename B::Buffer bufferB;
    typename A::Source a = A::source(w, I.src[0], bufferA);
    typename B::Source b = B::source(w, I.src[1], bufferB);
    alignas(64) uint32_t result[L];
    VECTORIZE
    for (unsigned l = 0; l < L; ++l)
      result[l] = F::apply(a.get(l), b.get(l)) ? 1u : 0u;
    mask = packMask(result);
  }
  mask &= w.exec;
  w.write64(I.sdst.index, mask);
  if (WritesExec)
    w.write64(sgprEXEC, mask);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

template <typename... Types>
inline OpcodeEntry vectorEntry(Handler handler, ValueType result,
                               Arithmetic arithmetic = Arithmetic::None) {
  OpcodeEntry entry;
  entry.handler = handler;
  entry.category = Category::VALU;
  entry.arithmetic = arithmetic;
  entry.result = result;
  ValueType types[] = {Types::valueType...};
  for (unsigned i = 0; i < sizeof...(Types) && i < 3; ++i)
    entry.source[i] = types[i];
  return entry;
}

/// Marks entries as approximations within a bound.
inline void approximate(OpcodeTable &table,
                        std::initializer_list<const char *> names,
                        const char *bound) {
  for (const char *name : names) {
    OpcodeEntry &entry = table.entries[name];
    entry.exactness = Exactness::Approximate;
    entry.note = bound;
  }
}

inline OpcodeEntry plainEntry(Handler handler, Category category) {
  OpcodeEntry entry;
  entry.handler = handler;
  entry.category = category;
  return entry;
}

#define WAVESMITH_OP1(NAME, VECTOR, D, A, EXPRESSION, ...)                     \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE auto apply(A::type a) {                             \
        return static_cast<typename D::type>(EXPRESSION);                      \
      }                                                                        \
    };                                                                         \
    table.entries[NAME] =                                                      \
        vectorEntry<A>(&unary<F, VECTOR, D, A>, D::valueType, ##__VA_ARGS__);  \
  }
#define WAVESMITH_OP2(NAME, VECTOR, D, A, B, EXPRESSION, ...)                  \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE auto apply(A::type a, B::type b) {                  \
        return static_cast<typename D::type>(EXPRESSION);                      \
      }                                                                        \
    };                                                                         \
    table.entries[NAME] = vectorEntry<A, B>(&binary<F, VECTOR, D, A, B>,       \
                                            D::valueType, ##__VA_ARGS__);      \
  }
#define WAVESMITH_OP3(NAME, VECTOR, D, A, B, C, EXPRESSION, ...)               \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE auto apply(A::type a, B::type b, C::type c) {       \
        return static_cast<typename D::type>(EXPRESSION);                      \
      }                                                                        \
    };                                                                         \
    table.entries[NAME] = vectorEntry<A, B, C>(                                \
        &ternary<F, VECTOR, D, A, B, C>, D::valueType, ##__VA_ARGS__);         \
  }
/// Two versions, for IEEE mode on and off: the expression uses IEEE.
#define WAVESMITH_BOTH_MODES(APPLY_PARAMETERS, EXPRESSION, D, CALL)            \
  struct On {                                                                  \
    static ALWAYS_INLINE auto apply APPLY_PARAMETERS {                         \
      constexpr bool IEEE = true;                                              \
      return static_cast<typename D::type>(EXPRESSION);                        \
    }                                                                          \
  };                                                                           \
  struct Off {                                                                 \
    static ALWAYS_INLINE auto apply APPLY_PARAMETERS {                         \
      constexpr bool IEEE = false;                                             \
      return static_cast<typename D::type>(EXPRESSION);                        \
    }                                                                          \
  };                                                                           \
  struct Run {                                                                 \
    static void run(Wave &w, const Instruction &I) {                           \
      if (w.ieeeMode)                                                          \
        CALL(On)(w, I);                                                        \
      else                                                                     \
        CALL(Off)(w, I);                                                       \
    }                                                                          \
  };
#define MODE2(NAME, T, EXPRESSION)                                             \
  {                                                                            \
    using Type = T;                                                            \
    WAVESMITH_BOTH_MODES((Type::type a, Type::type b), EXPRESSION, Type,       \
                         WAVESMITH_CALL2)                                      \
    table.entries[NAME] = vectorEntry<Type, Type>(&Run::run, Type::valueType); \
  }
#define MODE3(NAME, T, EXPRESSION)                                             \
  {                                                                            \
    using Type = T;                                                            \
    WAVESMITH_BOTH_MODES((Type::type a, Type::type b, Type::type c),           \
                         EXPRESSION, Type, WAVESMITH_CALL3)                    \
    table.entries[NAME] =                                                      \
        vectorEntry<Type, Type, Type>(&Run::run, Type::valueType);             \
  }
#define WAVESMITH_CALL2(F) binary<F, true, Type, Type, Type>
#define WAVESMITH_CALL3(F) ternary<F, true, Type, Type, Type, Type>

/// x, y and z are the sources in 64 bits.
#define SATURATING2(NAME, D, A, B, EXPRESSION, WIDE)                           \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE auto apply(A::type a, B::type b) {                  \
        return static_cast<typename D::type>(EXPRESSION);                      \
      }                                                                        \
    };                                                                         \
    struct Wide {                                                              \
      static ALWAYS_INLINE __int128 apply(A::type a, B::type b) {              \
        __int128 x = a, y = b;                                                 \
        return WIDE;                                                           \
      }                                                                        \
    };                                                                         \
    OpcodeEntry entry =                                                        \
        vectorEntry<A, B>(&saturating2<F, Wide, D, A, B>, D::valueType);       \
    entry.handlesClamp = true;                                                 \
    table.entries[NAME] = entry;                                               \
  }
#define SATURATING3(NAME, D, A, B, C, EXPRESSION, WIDE)                        \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE auto apply(A::type a, B::type b, C::type c) {       \
        return static_cast<typename D::type>(EXPRESSION);                      \
      }                                                                        \
    };                                                                         \
    struct Wide {                                                              \
      static ALWAYS_INLINE __int128 apply(A::type a, B::type b, C::type c) {   \
        __int128 x = a, y = b, z = c;                                          \
        return WIDE;                                                           \
      }                                                                        \
    };                                                                         \
    OpcodeEntry entry =                                                        \
        vectorEntry<A, B, C>(&saturating3<F, Wide, D, A, B, C>, D::valueType); \
    entry.handlesClamp = true;                                                 \
    table.entries[NAME] = entry;                                               \
  }

#define TILE2(NAME, ...) WAVESMITH_OP2(NAME, tiled, __VA_ARGS__)
#define TILE3(NAME, ...) WAVESMITH_OP3(NAME, tiled, __VA_ARGS__)
#define OP1(NAME, ...) WAVESMITH_OP1(NAME, true, __VA_ARGS__)
#define OP2(NAME, ...) WAVESMITH_OP2(NAME, true, __VA_ARGS__)
#define OP3(NAME, ...) WAVESMITH_OP3(NAME, true, __VA_ARGS__)
#define SLOW1(NAME, ...) WAVESMITH_OP1(NAME, false, __VA_ARGS__)
#define SLOW2(NAME, ...) WAVESMITH_OP2(NAME, false, __VA_ARGS__)
#define SLOW3(NAME, ...) WAVESMITH_OP3(NAME, false, __VA_ARGS__)

//===----------------------------------------------------------------------===//
// Minimum and maximum
//===----------------------------------------------------------------------===//

template <typename T> struct FloatBits;
template <> struct FloatBits<double> {
  using type = uint64_t;
  static constexpr uint64_t quiet = uint64_t(1) << 51;
};
template <> struct FloatBits<float> {
  using type = uint32_t;
  static constexpr uint32_t quiet = uint32_t(1) << 22;
};

/// A NaN loses against a number, the sign of zero counts. In IEEE mode a
/// signalling NaN wins and becomes quiet.
template <bool IEEE, bool Maximum, typename T>
ALWAYS_INLINE T extremum(T a, T b) {
  using Bits = typename FloatBits<T>::type;
  Bits x, y;
  __builtin_memcpy(&x, &a, sizeof(T));
  __builtin_memcpy(&y, &b, sizeof(T));
  bool takeA = Maximum ? a > b : a < b;
  Bits number = takeA ? x : y;
  // +0 and -0 compare equal.
  number = a == b ? (Maximum ? x & y : x | y) : number;
  Bits result = a != a ? y : b != b ? x : number;
  if (IEEE) {
    constexpr Bits quiet = FloatBits<T>::quiet;
    bool signalB = b != b && !(y & quiet), signalA = a != a && !(x & quiet);
    result = signalB ? y | quiet : result;
    result = signalA ? x | quiet : result;
  }
  T value;
  __builtin_memcpy(&value, &result, sizeof(T));
  return value;
}

ALWAYS_INLINE bool isNaN16(uint16_t a) { return (a & 0x7fffu) > 0x7c00u; }
ALWAYS_INLINE bool isSignalling16(uint16_t a) {
  return isNaN16(a) && !(a & 0x200u);
}
/// Halves as integers in the order of their values, -0 below +0.
ALWAYS_INLINE int order16(uint16_t a) {
  return a & 0x8000u ? -int(a & 0x7fffu) - 1 : int(a);
}

/// A NaN loses against a number; in IEEE mode a signalling NaN wins and
/// becomes quiet.
ALWAYS_INLINE uint16_t extremum16(uint16_t a, uint16_t b, bool maximum,
                                  bool ieee) {
  if (ieee && isSignalling16(a))
    return a | 0x200u;
  if (ieee && isSignalling16(b))
    return b | 0x200u;
  if (isNaN16(a))
    return b;
  if (isNaN16(b))
    return a;
  return (order16(a) < order16(b)) != maximum ? a : b;
}
//===----------------------------------------------------------------------===//
// Eight halves at once
//===----------------------------------------------------------------------===//

#ifdef __F16C__
/// The low halves of eight words as floats.
ALWAYS_INLINE __m256 floatsOfHalves(__m256i words) {
  __m256i low = _mm256_and_si256(words, _mm256_set1_epi32(0xffff));
  __m256i packed =
      _mm256_permute4x64_epi64(_mm256_packus_epi32(low, low), 0x08);
  return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
}
/// Eight floats as halves in words of their own, rounded to nearest even or
/// towards zero.
template <int Rounding> ALWAYS_INLINE __m256i halvesOfFloats(__m256 values) {
  return _mm256_cvtepu16_epi32(_mm256_cvtps_ph(values, Rounding));
}
ALWAYS_INLINE __m256i loadEight(const uint32_t *p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
}
/// Writes words to the lanes that are on.
ALWAYS_INLINE void blendEight(uint32_t *d, const uint32_t *mask,
                              __m256i words) {
  __m256i on = loadEight(mask);
  __m256i result = _mm256_blendv_epi8(loadEight(d), words, on);
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(d), result);
}
#endif

void registerScalarALU(OpcodeTable &table);
void registerScalarMemory(OpcodeTable &table);
void registerControl(OpcodeTable &table);
void registerVectorALU(OpcodeTable &table);
void registerVectorF16(OpcodeTable &table);
void registerVectorF64(OpcodeTable &table);
void registerDivision(OpcodeTable &table);
void registerVectorCompare(OpcodeTable &table);
void registerVectorPacked(OpcodeTable &table);
void registerVectorMemory(OpcodeTable &table);
void registerLDS(OpcodeTable &table);
void registerCrossLane(OpcodeTable &table);
void registerMFMA(OpcodeTable &table);
void registerVectorDot(OpcodeTable &table);
void registerVectorFP8(OpcodeTable &table);

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT

#endif // WAVESMITH_LIB_SIMULATOR_SEMANTICS_H
