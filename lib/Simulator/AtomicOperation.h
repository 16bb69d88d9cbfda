//===- AtomicOperation.h - Read-modify-write operations ---------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The operations that LDS and vector memory atomics share. Lanes are applied
/// in order; the chips leave the order open.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_SIMULATOR_ATOMICOPERATION_H
#define WAVESMITH_LIB_SIMULATOR_ATOMICOPERATION_H

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {

enum class AtomicKind {
  Add,
  Sub,
  ReverseSub,
  SMin,
  UMin,
  SMax,
  UMax,
  And,
  Or,
  Xor,
  Inc,
  Dec,
  Swap,
  CompareSwap,
  FAdd,
  FMin,
  FMax,
  PackedAddF16,
  PackedAddBF16,
  /// LDS only: equality of floats; (old & ~data) | compare; old >= data ?
  /// old - data : old + compare.
  FCompareSwap,
  MaskedOr,
  Wrap,
};

/// What scalar and vector memory have of them, by the names of the
/// instructions, in 32 and 64 bits.
#define FOR_INTEGER_ATOMICS(DO)                                                \
  DO("ADD", Add)                                                               \
  DO("SUB", Sub)                                                               \
  DO("SMIN", SMin)                                                             \
  DO("UMIN", UMin)                                                             \
  DO("SMAX", SMax)                                                             \
  DO("UMAX", UMax)                                                             \
  DO("AND", And)                                                               \
  DO("OR", Or)                                                                 \
  DO("XOR", Xor)                                                               \
  DO("INC", Inc)                                                               \
  DO("DEC", Dec)                                                               \
  DO("SWAP", Swap)                                                             \
  DO("CMPSWAP", CompareSwap)

/// bfloat16 is the high half of an f32. The sum of two is exact in f64 or
/// rounds there far below the last place: both roundings go to nearest even.
inline double valueOfBFloat(uint16_t bits) {
  return hardware::floatOf(uint32_t(bits) << 16);
}
inline uint16_t bfloatOf(double value) {
  float rounded = static_cast<float>(value);
  if (value != value)
    return 0x7fc0;
  uint32_t bits = hardware::bitsOf(rounded);
  // Round to odd in f32, so that the second rounding sees what was lost.
  double back = rounded;
  if (back != value &&
      std::fabs(rounded) <= std::numeric_limits<float>::max()) {
    if (std::fabs(back) > std::fabs(value))
      --bits;
    bits |= 1;
  }
  uint32_t rest = bits & 0xffffu, kept = bits >> 16;
  if (rest > 0x8000u || (rest == 0x8000u && (kept & 1)))
    ++kept;
  return static_cast<uint16_t>(kept);
}

template <AtomicKind Kind, typename T>
ALWAYS_INLINE T applyAtomic(T old, T data, T compare) {
  using S = std::make_signed_t<T>;
  using Float = std::conditional_t<sizeof(T) == 8, double, float>;
  auto number = [](T bits) {
    Float value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
  };
  auto bitsOf = [](Float value) {
    T bits;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
  };
  switch (Kind) {
  case AtomicKind::Add:
    return old + data;
  case AtomicKind::Sub:
    return old - data;
  case AtomicKind::ReverseSub:
    return data - old;
  case AtomicKind::SMin:
    return S(data) < S(old) ? data : old;
  case AtomicKind::UMin:
    return data < old ? data : old;
  case AtomicKind::SMax:
    return S(data) > S(old) ? data : old;
  case AtomicKind::UMax:
    return data > old ? data : old;
  case AtomicKind::And:
    return old & data;
  case AtomicKind::Or:
    return old | data;
  case AtomicKind::Xor:
    return old ^ data;
  case AtomicKind::Inc:
    return old >= data ? 0 : old + 1;
  case AtomicKind::Dec:
    return old == 0 || old > data ? data : old - 1;
  case AtomicKind::Swap:
    return data;
  case AtomicKind::CompareSwap:
    return old == compare ? data : old;
  case AtomicKind::FAdd:
    return bitsOf(number(old) + number(data));
  case AtomicKind::FMin:
    return number(data) < number(old) || number(old) != number(old) ? data
                                                                    : old;
  case AtomicKind::FMax:
    return number(data) > number(old) || number(old) != number(old) ? data
                                                                    : old;
  case AtomicKind::PackedAddF16: {
    T low = halfOf(double(valueOfHalf(uint16_t(old))) +
                   valueOfHalf(uint16_t(data)));
    T high = halfOf(double(valueOfHalf(uint16_t(old >> 16))) +
                    valueOfHalf(uint16_t(data >> 16)));
    return low | (high << 16);
  }
  case AtomicKind::PackedAddBF16: {
    T low =
        bfloatOf(valueOfBFloat(uint16_t(old)) + valueOfBFloat(uint16_t(data)));
    T high = bfloatOf(valueOfBFloat(uint16_t(old >> 16)) +
                      valueOfBFloat(uint16_t(data >> 16)));
    return low | (high << 16);
  }
  case AtomicKind::FCompareSwap:
    return number(old) == number(compare) ? data : old;
  case AtomicKind::MaskedOr:
    return (old & ~data) | compare;
  case AtomicKind::Wrap:
    return old >= data ? old - data : old + compare;
  }
  return old;
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT

#endif // WAVESMITH_LIB_SIMULATOR_ATOMICOPERATION_H
