// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f64, f32, f16 and bf16: what IEEE 754 defines to the last bit, conversions among
// them and with integers.

#include "elementwise.h"

/// Conversions out of range have no result in C++: this one saturates, as the
/// instructions do, and gives 0 for NaN.
template <typename To, typename From>
DEVICE inline To convert(From value, From low, From high) {
  return value != value ? To(0) : To(value < low ? low : value > high ? high : value);
}

/// bf16 travels as its bits.
DEVICE inline f32 fromBits(u16 bits) {
  return __builtin_bit_cast(f32, u32(bits) << 16);
}
DEVICE inline u16 toBits(f32 value) {
#ifdef __HIP__
  return __builtin_bit_cast(u16, __bf16(value));
#else
  u32 bits = __builtin_bit_cast(u32, value);
  if (value != value)
    return 0x7fc0;
  return u16((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
#endif
}

/// One NaN for all.
DEVICE inline u16 quiet(u16 bits) {
  return (bits & 0x7fff) > 0x7f80 ? u16(0x7fc0) : bits;
}

/// The bits of a class: NaN, infinite, normal, subnormal, zero, negative.
template <typename T> DEVICE inline u32 classify(T a) {
  return u32(__builtin_isnan(a) ? 1 : 0) | u32(__builtin_isinf(a) ? 2 : 0) |
         u32(__builtin_isnormal(a) ? 4 : 0) | u32(a == T(0) ? 8 : 0) |
         u32(__builtin_signbit(a) && !__builtin_isnan(a) ? 16 : 0);
}

/// A multiply-add of halves with one rounding: the sum of the exact product and
/// the addend decides in f64 whatever an f16 can tell apart.
DEVICE inline f16 fusedHalf(f16 a, f16 b, f16 c) {
#ifdef __HIP__
  return __builtin_elementwise_fma(a, b, c);
#else
  return f16(f64(a) * f64(b) + f64(c));
#endif
}

// Arithmetic.
KERNEL2(add_f64, f64, f64, f64, a + b)
KERNEL2(sub_f64, f64, f64, f64, a - b)
KERNEL2(mul_f64, f64, f64, f64, a * b)
KERNEL3(fma_f64, f64, f64, f64, f64, __builtin_fma(a, b, c))
KERNEL3(fma_negated_f64, f64, f64, f64, f64, __builtin_fma(-a, b, -c))
KERNEL2(div_f64, f64, f64, f64, a / b)
KERNEL1(reciprocal_f64, f64, f64, 1.0 / a)
KERNEL1(sqrt_f64, f64, f64, __builtin_sqrt(a))
KERNEL2(absolute_f64, f64, f64, f64, __builtin_fabs(a) - __builtin_fabs(b))
KERNEL1(constants_f64, f64, f64, __builtin_fma(a, 0.5, 3.141592653589793) * -4.0 + 1e-7)
KERNEL2(add_f32, f32, f32, f32, a + b)
KERNEL2(sub_f32, f32, f32, f32, a - b)
KERNEL2(mul_f32, f32, f32, f32, a * b)
KERNEL3(fma_f32, f32, f32, f32, f32, __builtin_fmaf(a, b, c))
KERNEL3(mul_add_f32, f32, f32, f32, f32, a * b + c)
KERNEL2(div_f32, f32, f32, f32, a / b)
KERNEL1(reciprocal_f32, f32, f32, 1.0f / a)
KERNEL1(sqrt_f32, f32, f32, __builtin_sqrtf(a))
KERNEL2(absolute_f32, f32, f32, f32, __builtin_fabsf(a) - __builtin_fabsf(b))
KERNEL1(constants_f32, f32, f32, __builtin_fmaf(a, 0.15915494f, 3.1415927f) * -4.0f + 1e-7f)
KERNEL2(add_f16, f16, f16, f16, a + b)
KERNEL2(sub_f16, f16, f16, f16, a - b)
KERNEL2(mul_f16, f16, f16, f16, a * b)
KERNEL3(fma_f16, f16, f16, f16, f16, fusedHalf(a, b, c))
KERNEL2(div_f16, f16, f16, f16, a / b)
KERNEL1(sqrt_f16, f16, f16, f16(__builtin_sqrtf(f32(a))))
KERNEL3(mixed_f16_f32, f32, f16, f16, f32, __builtin_fmaf(f32(a), f32(b), c))
KERNEL3(mixed_f32_f16, f16, f16, f16, f32, f16(__builtin_fmaf(f32(a), f32(b), c)))
KERNEL2(add_bf16, u16, u16, u16, quiet(toBits(fromBits(a) + fromBits(b))))
KERNEL2(mul_bf16, u16, u16, u16, quiet(toBits(fromBits(a) * fromBits(b))))

// Minimum, maximum, comparison, classes, signs.
KERNEL2(min_f64, f64, f64, f64, a < b ? a : b)
KERNEL2(max_f32, f32, f32, f32, a > b ? a : b)
KERNEL3(median_f32, f32, f32, f32, f32, a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b))
KERNEL2(compare_f64, u32, f64, f64, (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | !(a >= b) << 5 | __builtin_isunordered(a, b) << 6)
KERNEL2(compare_f32, u32, f32, f32, (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | !(a >= b) << 5 | __builtin_isunordered(a, b) << 6)
KERNEL2(compare_f16, u32, f16, f16, (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | !(a >= b) << 5)
KERNEL1(class_f64, u32, f64, classify(a))
KERNEL1(class_f32, u32, f32, classify(a))
KERNEL2(copysign_f64, f64, f64, f64, __builtin_copysign(a, b))
KERNEL2(copysign_f32, f32, f32, f32, __builtin_copysignf(a, b))
KERNEL3(choose_f64, f64, f64, f64, f64, a < b ? -c : __builtin_fabs(a))

// Rounding.
KERNEL1(floor_f64, f64, f64, __builtin_floor(a))
KERNEL1(ceil_f64, f64, f64, __builtin_ceil(a))
KERNEL1(trunc_f64, f64, f64, __builtin_trunc(a))
KERNEL1(rint_f64, f64, f64, __builtin_rint(a))
KERNEL1(round_f64, f64, f64, __builtin_round(a))
KERNEL1(floor_f32, f32, f32, __builtin_floorf(a))
KERNEL1(ceil_f32, f32, f32, __builtin_ceilf(a))
KERNEL1(trunc_f32, f32, f32, __builtin_truncf(a))
KERNEL1(rint_f32, f32, f32, __builtin_rintf(a))
KERNEL1(round_f32, f32, f32, __builtin_roundf(a))
KERNEL1(floor_f16, f16, f16, f16(__builtin_floorf(f32(a))))

// Conversions.
KERNEL1(f32_f64, f32, f64, f32(a))
KERNEL1(f64_f32, f64, f32, f64(a))
KERNEL1(f16_f32, f16, f32, f16(a))
KERNEL1(f16_f64, f16, f64, f16(a))
KERNEL1(f32_f16, f32, f16, f32(a))
KERNEL1(f64_f16, f64, f16, f64(a))
KERNEL1(bf16_f32, u16, f32, quiet(toBits(a)))
KERNEL1(f64_i32, f64, i32, f64(a))
KERNEL1(f64_u32, f64, u32, f64(a))
KERNEL1(f64_i64, f64, i64, f64(a))
KERNEL1(f64_u64, f64, u64, f64(a))
KERNEL1(f32_i32, f32, i32, f32(a))
KERNEL1(f32_u32, f32, u32, f32(a))
KERNEL1(f32_i64, f32, i64, f32(a))
KERNEL1(f32_u64, f32, u64, f32(a))
KERNEL1(f32_u8, f32, u32, f32(a & 255) + f32(a >> 8 & 255) * f32(a >> 16 & 255) - f32(a >> 24))
KERNEL1(f16_i16, f16, i16, f16(a))
KERNEL1(f16_u16, f16, u16, f16(f32(a)))
KERNEL1(f32_i8, f32, i8, f32(a))
KERNEL1(i32_f64, i32, f64, convert<i32>(a, -2147483648.0, 2147483647.0))
KERNEL1(u32_f64, u32, f64, convert<u32>(a, 0.0, 4294967295.0))
KERNEL1(i64_f64, i64, f64, convert<i64>(a, -0x1p63, 0x1.fffffffffffffp62))
KERNEL1(u64_f64, u64, f64, convert<u64>(a, 0.0, 0x1.fffffffffffffp63))
KERNEL1(i32_f32, i32, f32, convert<i32>(a, -2147483648.0f, 2147483520.0f))
KERNEL1(u32_f32, u32, f32, convert<u32>(a, 0.0f, 4294967040.0f))
KERNEL1(i64_f32, i64, f32, convert<i64>(a, -0x1p63f, 0x1.fffffep62f))
KERNEL1(u64_f32, u64, f32, convert<u64>(a, 0.0f, 0x1.fffffep63f))
KERNEL1(i16_f16, i16, f16, convert<i16>(a, f16(-32768.0f), f16(32752.0f)))
KERNEL1(u16_f16, u16, f16, convert<u16>(a, f16(0.0f), f16(65504.0f)))
KERNEL1(u8_f32, u8, f32, convert<u8>(a, 0.0f, 255.0f))

// Bits and exponents.
KERNEL1(exponent_f64, i32, f64, a == 0 || a - a != 0 ? -9999 : i32(__builtin_bit_cast(u64, a) >> 52 & 2047) - 1023)
KERNEL2(scale_f64, f64, f64, i32, __builtin_ldexp(a, (b & 4095) - 2048))
KERNEL2(scale_f32, f32, f32, i32, __builtin_ldexpf(a, (b & 511) - 256))
KERNEL1(split_f64, f64, f64, a == 0 || a - a != 0 ? 0.0 : a - __builtin_floor(a))
