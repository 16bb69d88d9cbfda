// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products by MFMA: C = A B for row-major A [m][k], B [k][n], C [m][n], all
// sizes multiples of the tile.

#include "peers.h"

typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x16 __attribute__((ext_vector_type(16)));
typedef f64 f64x4 __attribute__((ext_vector_type(4)));
typedef i32 i32x4 __attribute__((ext_vector_type(4)));

/// f16, a block of 64 by 64 by four wavefronts, tiles in LDS, 32x32x8.
KERNEL void gemm_f16(const f16 *a, const f16 *b, f32 *c, u32 m, u32 n, u32 k) {
  SHARED f16 tileA[64][32 + 4];
  SHARED f16 tileB[64][32 + 4]; // transposed
  u32 t = threadX(), lane = t & 63, wave = t / 64;
  u32 row0 = 64 * blockY(), column0 = 64 * blockX();
  u32 waveRow = 32 * (wave / 2), waveColumn = 32 * (wave % 2);
  f32x16 sum = {0};
  for (u32 start = 0; start < k; start += 32) {
    for (u32 i = t; i < 64 * 32; i += 256) {
      tileA[i / 32][i % 32] = a[(row0 + i / 32) * k + start + i % 32];
      tileB[i % 64][i / 64] = b[(start + i / 64) * n + column0 + i % 64];
    }
    barrier();
    for (u32 inner = 0; inner < 32; inner += 8) {
      f16x4 x = *(const f16x4 *)&tileA[waveRow + lane % 32][inner + 4 * (lane / 32)];
      f16x4 y =
          *(const f16x4 *)&tileB[waveColumn + lane % 32][inner + 4 * (lane / 32)];
      sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
    }
    barrier();
  }
  for (u32 r = 0; r < 16; ++r) {
    u32 row = row0 + waveRow + 8 * (r / 4) + 4 * (lane / 32) + r % 4;
    c[row * n + column0 + waveColumn + lane % 32] = sum[r];
  }
}

/// bf16, a wavefront a tile of 16 by 16, 16x16x16.
KERNEL void gemm_bf16(const u16 *a, const u16 *b, f32 *c, u32 m, u32 n, u32 k) {
  u32 lane = threadX(), row0 = 16 * blockY(), column0 = 16 * blockX();
  f32x4 sum = {0};
  for (u32 start = 0; start < k; start += 16) {
    i16x4 x, y;
    for (u32 e = 0; e < 4; ++e) {
      u32 inner = start + 4 * (lane / 16) + e;
      x[e] = (short)a[(row0 + lane % 16) * k + inner];
      y[e] = (short)b[inner * n + column0 + lane % 16];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, sum, 0, 0, 0);
  }
  for (u32 r = 0; r < 4; ++r)
    c[(row0 + 4 * (lane / 16) + r) * n + column0 + lane % 16] = sum[r];
}

/// f64, a wavefront a tile of 16 by 16, 16x16x4.
KERNEL void gemm_f64(const f64 *a, const f64 *b, f64 *c, u32 m, u32 n, u32 k) {
  u32 lane = threadX(), row0 = 16 * blockY(), column0 = 16 * blockX();
  f64x4 sum = {0};
  for (u32 start = 0; start < k; start += 4) {
    f64 x = a[(row0 + lane % 16) * k + start + lane / 16];
    f64 y = b[(start + lane / 16) * n + column0 + lane % 16];
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(x, y, sum, 0, 0, 0);
  }
  for (u32 r = 0; r < 4; ++r)
    c[(row0 + 4 * r + lane / 16) * n + column0 + lane % 16] = sum[r];
}

/// f32, 32x32x2.
KERNEL void gemm_f32(const f32 *a, const f32 *b, f32 *c, u32 m, u32 n, u32 k) {
  u32 lane = threadX(), row0 = 32 * blockY(), column0 = 32 * blockX();
  f32x16 sum = {0};
  for (u32 start = 0; start < k; start += 2) {
    f32 x = a[(row0 + lane % 32) * k + start + lane / 32];
    f32 y = b[(start + lane / 32) * n + column0 + lane % 32];
    sum = __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, sum, 0, 0, 0);
  }
  for (u32 r = 0; r < 16; ++r) {
    u32 row = row0 + 8 * (r / 4) + 4 * (lane / 32) + r % 4;
    c[row * n + column0 + lane % 32] = sum[r];
  }
}

/// Bytes: 16x16x16 on gfx90a, 16x16x32 on gfx942.
KERNEL void gemm_i8(const i8 *a, const i8 *b, i32 *c, u32 m, u32 n, u32 k) {
  u32 lane = threadX(), row0 = 16 * blockY(), column0 = 16 * blockX();
  i32x4 sum = {0};
#ifdef __gfx942__
  constexpr u32 step = 32;
  typedef u64 Bytes;
#else
  constexpr u32 step = 16;
  typedef u32 Bytes;
#endif
  for (u32 start = 0; start < k; start += step) {
    Bytes x = 0, y = 0;
    for (u32 e = 0; e < sizeof(Bytes); ++e) {
      u32 inner = start + sizeof(Bytes) * (lane / 16) + e;
      x |= Bytes(u8(a[(row0 + lane % 16) * k + inner])) << (8 * e);
      y |= Bytes(u8(b[inner * n + column0 + lane % 16])) << (8 * e);
    }
#ifdef __gfx942__
    sum = __builtin_amdgcn_mfma_i32_16x16x32_i8(i64(x), i64(y), sum, 0, 0, 0);
#else
    sum = __builtin_amdgcn_mfma_i32_16x16x16i8(i32(x), i32(y), sum, 0, 0, 0);
#endif
  }
  for (u32 r = 0; r < 4; ++r)
    c[(row0 + 4 * (lane / 16) + r) * n + column0 + lane % 16] = sum[r];
}

/// Four by four products of 64 blocks at once: 4x4x4, f32 sums of halves. Block b of
/// A is [4][4] (row, inner) at 16 b.
KERNEL void gemm_blocks(const f16 *a, const f16 *b, f32 *c) {
  u32 lane = threadX(), block = lane / 4, base = 256 * blockX() + 16 * block;
  f16x4 x, y;
  for (u32 e = 0; e < 4; ++e) {
    x[e] = a[base + 4 * (lane % 4) + e];
    y[e] = b[base + 4 * e + lane % 4];
  }
  f32x4 sum = __builtin_amdgcn_mfma_f32_4x4x4f16(x, y, f32x4{0}, 0, 0, 0);
  for (u32 r = 0; r < 4; ++r)
    c[base + 4 * r + lane % 4] = sum[r];
}
