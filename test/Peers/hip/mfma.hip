// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every matrix instruction that clang has a builtin for: each lane's operands come from
// memory as they are, and its result goes there as it is. The test has the layouts.

#include "peers.h"

typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef f16 f16x8 __attribute__((ext_vector_type(8)));
typedef short i16x2 __attribute__((ext_vector_type(2)));
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef i32 i32x2 __attribute__((ext_vector_type(2)));
typedef i32 i32x4 __attribute__((ext_vector_type(4)));
typedef i32 i32x16 __attribute__((ext_vector_type(16)));
typedef i32 i32x32 __attribute__((ext_vector_type(32)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x16 __attribute__((ext_vector_type(16)));
typedef f32 f32x32 __attribute__((ext_vector_type(32)));
typedef f64 f64x4 __attribute__((ext_vector_type(4)));

#define DENSE(NAME, A, C)                                                                \
  KERNEL void mfma_##NAME(const A *a, const A *b, const C *c, C *d) {                    \
    u32 l = threadX();                                                                   \
    d[l] = __builtin_amdgcn_mfma_##NAME(a[l], b[l], c[l], 0, 0, 0);                      \
  }
#define SPARSE(NAME, A, B, C)                                                            \
  KERNEL void smfmac_##NAME(const A *a, const B *b, const C *c, C *d, const i32 *index) { \
    u32 l = threadX();                                                                   \
    d[l] = __builtin_amdgcn_smfmac_##NAME(a[l], b[l], c[l], index[l], 0, 0);             \
  }

DENSE(f32_32x32x1f32, f32, f32x32)
DENSE(f32_16x16x1f32, f32, f32x16)
DENSE(f32_4x4x1f32, f32, f32x4)
DENSE(f32_32x32x2f32, f32, f32x16)
DENSE(f32_16x16x4f32, f32, f32x4)
DENSE(f32_32x32x4f16, f16x4, f32x32)
DENSE(f32_16x16x4f16, f16x4, f32x16)
DENSE(f32_4x4x4f16, f16x4, f32x4)
DENSE(f32_32x32x8f16, f16x4, f32x16)
DENSE(f32_16x16x16f16, f16x4, f32x4)
DENSE(f32_32x32x4bf16_1k, i16x4, f32x32)
DENSE(f32_16x16x4bf16_1k, i16x4, f32x16)
DENSE(f32_4x4x4bf16_1k, i16x4, f32x4)
DENSE(f32_32x32x8bf16_1k, i16x4, f32x16)
DENSE(f32_16x16x16bf16_1k, i16x4, f32x4)
DENSE(i32_32x32x4i8, i32, i32x32)
DENSE(i32_16x16x4i8, i32, i32x16)
DENSE(i32_4x4x4i8, i32, i32x4)
DENSE(f64_16x16x4f64, f64, f64x4)
DENSE(f64_4x4x4f64, f64, f64)

#ifdef __gfx90a__
DENSE(f32_32x32x2bf16, i16x2, f32x32)
DENSE(f32_16x16x2bf16, i16x2, f32x16)
DENSE(f32_4x4x2bf16, i16x2, f32x4)
DENSE(f32_32x32x4bf16, i16x2, f32x16)
DENSE(f32_16x16x8bf16, i16x2, f32x4)
DENSE(i32_32x32x8i8, i32, i32x16)
DENSE(i32_16x16x16i8, i32, i32x4)
#endif

#ifdef __gfx942__
DENSE(i32_16x16x32_i8, i64, i32x4)
DENSE(i32_32x32x16_i8, i64, i32x16)
DENSE(f32_16x16x8_xf32, f32x2, f32x4)
DENSE(f32_32x32x4_xf32, f32x2, f32x16)
#define EIGHT_BITS(A, B)                                                                 \
  DENSE(f32_16x16x32_##A##_##B, i64, f32x4)                                              \
  DENSE(f32_32x32x16_##A##_##B, i64, f32x16)                                             \
  SPARSE(f32_16x16x64_##A##_##B, i32x2, i32x4, f32x4)                                    \
  SPARSE(f32_32x32x32_##A##_##B, i32x2, i32x4, f32x16)
EIGHT_BITS(fp8, fp8)
EIGHT_BITS(fp8, bf8)
EIGHT_BITS(bf8, fp8)
EIGHT_BITS(bf8, bf8)
SPARSE(f32_16x16x32_f16, f16x4, f16x8, f32x4)
SPARSE(f32_32x32x16_f16, f16x4, f16x8, f32x16)
SPARSE(f32_16x16x32_bf16, i16x4, short __attribute__((ext_vector_type(8))), f32x4)
SPARSE(f32_32x32x16_bf16, i16x4, short __attribute__((ext_vector_type(8))), f32x16)
SPARSE(i32_16x16x64_i8, i32x2, i32x4, i32x4)
SPARSE(i32_32x32x32_i8, i32x2, i32x4, i32x16)
#endif
