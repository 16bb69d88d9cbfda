// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways to memory: widths, address spaces, buffers, arguments.

#include "peers.h"

typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x3 __attribute__((ext_vector_type(3)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));

/// Bytes and shorts, with and without sign.
KERNEL void narrow_loads(const u8 *a, const i8 *b, const u16 *c, const i16 *d,
                         i64 *sum, u8 *bytes, u16 *shorts) {
  u32 i = globalX();
  sum[i] = i64(a[i]) + 1000 * i64(b[i]) + 1000000 * i64(c[i]) -
           1000000000 * i64(d[i]);
  bytes[i] = u8(a[i] + b[i]);
  shorts[i] = u16(c[i] ^ d[i]);
}

/// A byte each into the halves of a register, and back.
KERNEL void half_registers(const u8 *a, const u16 *b, u32 *out, u16 *high) {
  u32 i = globalX();
  u16x2 pair = {a[2 * i], a[2 * i + 1]};
  u16x2 other = {b[2 * i], b[2 * i + 1]};
  u16x2 sum = pair * other + u16x2{3, 5};
  out[i] = __builtin_bit_cast(u32, sum);
  high[i] = sum.y;
}

/// 8, 12 and 16 bytes at once, with offsets on both sides of a pointer.
KERNEL void wide_accesses(const u32x4 *in, u32x4 *out16, u32x3 *out12,
                          u32x2 *out8) {
  u32 i = globalX();
  u32 n = gridSizeX();
  const u32x4 *middle = in + n + i;
  u32x4 a = middle[-16], b = middle[16], c = middle[0];
  out16[i] = a + b.wzyx;
  out12[i] = (c + a).xyz;
  out8[i] = (c ^ b).yw;
}

/// A pointer that is in LDS, in private memory or in global memory.
KERNEL void flat_pointers(const u32 *in, u32 *out) {
  SHARED u32 shared[64];
  u32 own[4];
  u32 i = globalX(), t = threadX();
  shared[t] = in[i] * 3;
  for (u32 k = 0; k < 4; ++k)
    own[k] = in[i] + k;
  barrier();
  u32 value = in[i];
  u32 *pointer = value % 3 == 0   ? &shared[(t + 1) % 64]
                 : value % 3 == 1 ? &own[value % 4]
                                  : &out[i];
  if (value % 3 != 0)
    *pointer = value % 4 + 7;
  barrier();
  out[gridSizeX() + i] = value % 3 == 2 ? out[i] : *pointer;
}

/// A private array that is indexed by data.
KERNEL void private_array(const u32 *in, u32 *out) {
  u32 bins[16] = {0};
  u32 i = globalX();
  for (u32 k = 0; k < 24; ++k)
    bins[in[24 * i + k] & 15] += k + 1;
  for (u32 k = 0; k < 16; ++k)
    out[16 * i + k] = bins[k];
}

/// One too large for registers, of bytes and doubles.
KERNEL void private_large(const u32 *in, f64 *out, u8 *tags) {
  f64 values[100];
  u8 seen[200];
  u32 i = globalX();
  for (u32 k = 0; k < 100; ++k)
    values[k] = 0.25 * k;
  for (u32 k = 0; k < 200; ++k)
    seen[k] = u8(k);
  for (u32 k = 0; k < 32; ++k) {
    u32 at = in[32 * i + k];
    values[at % 100] += at;
    seen[at % 200] ^= 0x55;
  }
  f64 sum = 0;
  u32 tag = 0;
  for (u32 k = 0; k < 100; ++k)
    sum += values[k] * (k + 1);
  for (u32 k = 0; k < 200; ++k)
    tag = tag * 31 + seen[k];
  out[i] = sum;
  tags[i] = u8(tag ^ tag >> 8);
}

/// An array in registers that is indexed by a value uniform over the wavefront.
KERNEL void register_index(const f64 *in, const u32 *which, f64 *out) {
  f64 values[16];
  u32 i = globalX();
  for (u32 k = 0; k < 16; ++k)
    values[k] = in[gridSizeX() * k + i];
  f64 sum = 0;
  for (u32 k = 0; k < 8; ++k) {
    u32 at = __builtin_amdgcn_readfirstlane(which[k]) & 15;
    sum += values[at];
    values[(at + 3) & 15] = sum;
  }
  out[i] = sum + values[__builtin_amdgcn_readfirstlane(which[8]) & 15];
}

/// LDS of all widths: each work-item reads what its neighbours wrote.
KERNEL void lds_widths(const u32 *in, u64 *out) {
  SHARED u8 bytes[256];
  SHARED u16 shorts[256];
  SHARED u32 words[512];
  SHARED u64 longs[256];
  SHARED u32x4 quads[256];
  u32 t = threadX(), n = blockDimX();
  u32 value = in[globalX()];
  bytes[t] = u8(value);
  shorts[t] = u16(value >> 3);
  words[t] = value;
  words[t + n] = ~value;
  longs[t] = u64(value) * value;
  quads[t] = u32x4{value, t, value ^ t, value + t};
  barrier();
  u32 a = (t + 1) % n, b = (t * 5 + 2) % n;
  u64 sum = u64(i8(bytes[a])) + bytes[b];
  sum += u64(i16(shorts[a])) * 3 + shorts[b];
  sum += u64(words[a]) * words[b + n];
  sum ^= longs[a] + longs[b];
  u32x4 quad = quads[b] - quads[a].wzyx;
  sum += (u64(quad.x) << 32 | quad.y) ^ (u64(quad.z) << 32 | quad.w);
  out[globalX()] = sum;
}

/// LDS whose size the launch says.
extern SHARED u32 dynamicLDS[];
KERNEL void lds_dynamic(const u32 *in, u32 *out, u32 count) {
  u32 t = threadX(), n = blockDimX();
  for (u32 k = t; k < count; k += n)
    dynamicLDS[count - 1 - k] = in[blockX() * count + k];
  barrier();
  for (u32 k = t; k < count; k += n)
    out[blockX() * count + k] = dynamicLDS[k] + k;
}

/// Constants with an address, and variables of the device.
CONSTANT u32 const table[37] = {
    2,   3,   5,   7,   11,  13,  17,  19,  23,  29,  31,  37,  41,
    43,  47,  53,  59,  61,  67,  71,  73,  79,  83,  89,  97,  101,
    103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157};
KERNEL void constant_table(const u32 *in, u32 *out) {
  u32 i = globalX();
  out[i] = table[in[i] % 37] * table[blockX() % 37];
}

/// A structure by value, with members of all sizes.
struct Parameters {
  f64 scale;
  i8 shift;
  u16 offset;
  float weights[5];
  const f32 *input;
  u64 mask;
};
KERNEL void structure(Parameters p, u8 tag, f64 *out, i16 add, f64 factor) {
  u32 i = globalX();
  out[i] = p.scale * p.input[i] * p.weights[i % 5] + p.offset + p.shift + tag +
           add + factor * f64(p.mask >> 40);
}

/// All three dimensions of the grid.
KERNEL void dimensions(u32 *out, u32 nx, u32 ny) {
  u32 x = blockX() * blockDimX() + threadX();
  u32 y = blockY() * blockDimY() + threadY();
  u32 z = blockZ() * blockDimZ() + threadZ();
  out[(z * ny + y) * nx + x] =
      threadX() | threadY() << 4 | threadZ() << 8 | blockX() << 12 |
      blockY() << 16 | blockZ() << 20 | blockDimX() << 24 | blockDimZ() << 28;
}

/// Buffers: reads behind the end give 0, writes there are dropped.
KERNEL void buffers(u32 *in, u32 *out, u32 bytes) {
  __amdgpu_buffer_rsrc_t from =
      __builtin_amdgcn_make_buffer_rsrc(in, 0, bytes, 0x00027000);
  __amdgpu_buffer_rsrc_t to =
      __builtin_amdgcn_make_buffer_rsrc(out, 0, 4 * bytes, 0x00027000);
  u32 i = globalX();
  u32 word = __builtin_amdgcn_raw_buffer_load_b32(from, 4 * i, 0, 0);
  u32x2 pair = __builtin_amdgcn_raw_buffer_load_b64(from, 4 * i, 8, 0);
  u32x4 quad = __builtin_amdgcn_raw_buffer_load_b128(from, 4 * i + 16, 4, 0);
  u32 byte = __builtin_amdgcn_raw_buffer_load_b8(from, i, blockX(), 0);
  u32 half = __builtin_amdgcn_raw_buffer_load_b16(from, 2 * i, 2, 0);
  u32x4 result = {word + pair.x, pair.y ^ quad.x, quad.y + quad.z + byte,
                  quad.w + half};
  __builtin_amdgcn_raw_buffer_store_b128(result, to, 16 * i, 0, 0);
}

/// From global memory to LDS without registers.
KERNEL void lds_direct(u32 *in, u32 *out) {
  SHARED u32 shared[256];
  u32 t = threadX(), wave = t / 64;
  __builtin_amdgcn_global_load_lds(
      (__attribute__((address_space(1))) u32 *)(in + globalX()),
      (__attribute__((address_space(3))) u32 *)(shared + 64 * wave), 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  barrier();
  out[globalX()] = shared[(t * 7 + 3) % 256] + t;
}

/// The same through a buffer of rows of 12 bytes, of which some wavefronts see
/// none: out of range is zero.
KERNEL void lds_rows(u32 *in, u32 *out, u32 rows) {
  SHARED u32 shared[256];
  u32 t = threadX(), wave = t / 64;
  __amdgpu_buffer_rsrc_t table =
      __builtin_amdgcn_make_buffer_rsrc(in, 12, rows, 0x00027000);
  __builtin_amdgcn_struct_ptr_buffer_load_lds(
      table, (__attribute__((address_space(3))) u32 *)(shared + 64 * wave), 4,
      globalX(), 8, 0, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  barrier();
  out[globalX()] = shared[(t * 7 + 3) % 256] + t;
}

/// Streaming hints, and volatile.
KERNEL void hints(const u32 *in, volatile u32 *twice, u32 *out) {
  u32 i = globalX();
  u32 value = __builtin_nontemporal_load(in + i);
  twice[i] = value;
  twice[i] = twice[i] + value;
  __builtin_nontemporal_store(value ^ twice[i], out + i);
}

/// Scalar loads: all addresses uniform.
KERNEL void scalar_loads(const u64 *in, const u32 *index, u64 *out) {
  u32 b = blockX();
  u64 sum = 0;
  for (u32 k = 0; k < 8; ++k)
    sum += in[b * 8 + k] * (k + 1);
  sum ^= in[index[b]];
  out[globalX()] = sum + threadX();
}

/// Variables of the device: one with a value, one that is zero at the start. They
/// keep what a launch writes while the code object is loaded.
DEVICE u32 started[4] = {10, 20, 30, 40};
DEVICE u64 counted;
KERNEL void device_variables(u32 *out) {
  u32 t = threadX();
  if (t < 4) {
    started[t] += t + 1;
    out[t] = started[t];
  }
  if (t == 4) {
    counted += 3;
    out[4] = u32(counted);
  }
}

struct __attribute__((packed)) Packed {
  u8 tag;
  u32 number;
  u16 part;
  u64 wide;
};

/// Private memory at all alignments: what the compiler merges need not be
/// aligned, and packed members are not.
KERNEL void private_packed(const u8 *in, u8 *out) {
  u8 bytes[128];
  Packed records[5];
  u32 t = threadX();
  __builtin_memset(bytes, t, sizeof(bytes));
  __builtin_memcpy(bytes + 7, in + 64 * t, 64);
  __builtin_memmove(bytes + 3, bytes + (t & 3), 70 + (t & 1));
  for (u32 i = 0; i < 5; ++i)
    records[i] = {u8(i), t * i, u16(t), ~(u64(t) << i)};
  const Packed &chosen = records[in[t] % 5];
  __builtin_memcpy(bytes + 90 + (t & 7), &chosen, sizeof(Packed));
  __builtin_memcpy(out + 128 * t, bytes, 128);
}
