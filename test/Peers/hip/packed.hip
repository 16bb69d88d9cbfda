// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two elements at once in 32 bits or in 64, and dot products. Vectors travel as
// integers of their size.

#include "elementwise.h"

typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x2 __attribute__((ext_vector_type(2)));

#define HALVES(V) __builtin_bit_cast(f16x2, V)
#define SHORTS(V) __builtin_bit_cast(i16x2, V)
#define USHORTS(V) __builtin_bit_cast(u16x2, V)
#define FLOATS(V) __builtin_bit_cast(f32x2, V)
#define WORDS(V) __builtin_bit_cast(u32x2, V)

/// NaN has one form, whoever made it.
DEVICE inline u32 bits(f16x2 v) {
  u32 raw = __builtin_bit_cast(u32, v);
  if ((raw & 0x7fff) > 0x7c00)
    raw = (raw & 0xffff0000) | 0x7e00;
  if ((raw >> 16 & 0x7fff) > 0x7c00)
    raw = (raw & 0xffff) | 0x7e000000;
  return raw;
}
DEVICE inline u32 bits(i16x2 v) { return __builtin_bit_cast(u32, v); }
DEVICE inline u32 bits(u16x2 v) { return __builtin_bit_cast(u32, v); }
DEVICE inline u64 bits(f32x2 v) {
  u64 raw = 0;
  for (int i = 0; i < 2; ++i) {
    u32 word = v[i] != v[i] ? 0x7fc00000 : __builtin_bit_cast(u32, f32(v[i]));
    raw |= u64(word) << (32 * i);
  }
  return raw;
}
DEVICE inline u64 bits(u32x2 v) { return __builtin_bit_cast(u64, v); }

DEVICE inline f16x2 fused(f16x2 a, f16x2 b, f16x2 c) {
#ifdef __HIP__
  return __builtin_elementwise_fma(a, b, c);
#else
  return f16x2{f16(f64(a.x) * f64(b.x) + f64(c.x)),
               f16(f64(a.y) * f64(b.y) + f64(c.y))};
#endif
}
DEVICE inline f32x2 fused(f32x2 a, f32x2 b, f32x2 c) {
#ifdef __HIP__
  return __builtin_elementwise_fma(a, b, c);
#else
  return f32x2{__builtin_fmaf(a.x, b.x, c.x), __builtin_fmaf(a.y, b.y, c.y)};
#endif
}

KERNEL2(add_f16x2, u32, u32, u32, bits(HALVES(a) + HALVES(b)))
KERNEL2(sub_f16x2, u32, u32, u32, bits(HALVES(a) - HALVES(b)))
KERNEL2(mul_f16x2, u32, u32, u32, bits(HALVES(a) * HALVES(b)))
KERNEL3(fma_f16x2, u32, u32, u32, u32, bits(fused(HALVES(a), HALVES(b), HALVES(c))))
KERNEL3(fma_swapped_f16x2, u32, u32, u32, u32, bits(fused(HALVES(a).yx, -HALVES(b), HALVES(c).xx)))
KERNEL2(mixed_signs_f16x2, u32, u32, u32, bits(HALVES(a) + HALVES(b) * f16x2{f16(1), f16(-1)}))
KERNEL2(add_i16x2, u32, u32, u32, bits(USHORTS(a) + USHORTS(b)))
KERNEL2(sub_i16x2, u32, u32, u32, bits(USHORTS(a) - USHORTS(b).yx))
KERNEL2(mul_u16x2, u32, u32, u32, bits(USHORTS(a) * USHORTS(b)))
KERNEL3(mad_u16x2, u32, u32, u32, u32, bits(USHORTS(a) * USHORTS(b) + USHORTS(c)))
KERNEL2(shift_left_u16x2, u32, u32, u32, bits(USHORTS(a) << (USHORTS(b) & (u16)15)))
KERNEL2(shift_right_u16x2, u32, u32, u32, bits(USHORTS(a) >> (USHORTS(b) & (u16)15)))
KERNEL2(shift_right_i16x2, u32, u32, u32, bits(SHORTS(a) >> (SHORTS(b) & (i16)15)))
KERNEL2(min_i16x2, u32, u32, u32, bits(__builtin_elementwise_min(SHORTS(a), SHORTS(b))))
KERNEL2(max_u16x2, u32, u32, u32, bits(__builtin_elementwise_max(USHORTS(a), USHORTS(b))))
KERNEL2(add_saturate_u16x2, u32, u32, u32, bits(__builtin_elementwise_add_sat(USHORTS(a), USHORTS(b))))
KERNEL2(sub_saturate_i16x2, u32, u32, u32, bits(__builtin_elementwise_sub_sat(SHORTS(a), SHORTS(b))))
KERNEL2(add_f32x2, u64, u64, u64, bits(FLOATS(a) + FLOATS(b)))
KERNEL2(mul_f32x2, u64, u64, u64, bits(FLOATS(a) * FLOATS(b)))
KERNEL2(mul_swapped_f32x2, u64, u64, u64, bits(FLOATS(a).yx * -FLOATS(b)))
KERNEL3(fma_f32x2, u64, u64, u64, u64, bits(fused(FLOATS(a), FLOATS(b), FLOATS(c))))
KERNEL3(fma_scalar_f32x2, u64, u64, u64, u64, bits(fused(FLOATS(a).xx, FLOATS(b), FLOATS(c).yx)))
KERNEL2(shuffle_words, u64, u64, u64, bits(u32x2{WORDS(a).y, WORDS(b).x}))
KERNEL2(pack_halves, u32, u32, u32, (a & 0xffff) | b << 16)
KERNEL2(pack_high, u32, u32, u32, a >> 16 | (b & 0xffff0000))
KERNEL2(pack_f16, u32, f32, f32, bits(f16x2{f16(a), f16(b)}))
KERNEL2(complex_mul, u64, u64, u64, bits(f32x2{FLOATS(a).x * FLOATS(b).x - FLOATS(a).y * FLOATS(b).y, FLOATS(a).x * FLOATS(b).y + FLOATS(a).y * FLOATS(b).x}))
