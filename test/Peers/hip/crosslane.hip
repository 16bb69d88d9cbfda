// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that read each other. Blocks are one wavefront.

#include "peers.h"

#define LANES(NAME, ...)                                                       \
  KERNEL void NAME(const u32 *in, u32 *out) {                                  \
    u32 lane = laneId();                                                       \
    u32 value = in[globalX()];                                                 \
    (void)lane;                                                                \
    out[globalX()] = __VA_ARGS__;                                              \
  }
/// `old` is what a lane without a source keeps.
#define DPP(NAME, CONTROL, ROWS, BANKS, BOUND)                                 \
  LANES(NAME, __builtin_amdgcn_update_dpp(7000 + lane, value, CONTROL, ROWS,   \
                                          BANKS, BOUND))

LANES(bpermute, __builtin_amdgcn_ds_bpermute(4 * ((lane * 5 + 3) & 63), value))
LANES(bpermute_far, __builtin_amdgcn_ds_bpermute(4 * (lane + 100), value))
LANES(permute, __builtin_amdgcn_ds_permute(4 * ((lane * 5 + 3) & 63), value))
LANES(swizzle_xor, __builtin_amdgcn_ds_swizzle(value, 0x7c1f))
LANES(swizzle_broadcast, __builtin_amdgcn_ds_swizzle(value, 0x0060))
LANES(swizzle_quad, __builtin_amdgcn_ds_swizzle(value, 0x8000 | 0x1b))
LANES(readlane, __builtin_amdgcn_readlane(value, 17) +
                    __builtin_amdgcn_readlane(value, in[blockX()] & 63))
LANES(readfirstlane, __builtin_amdgcn_readfirstlane(value) + lane)
LANES(ballot_count, u32(__builtin_popcountll(__builtin_amdgcn_ballot_w64(value & 1))) +
                        u32(__builtin_amdgcn_ballot_w64(value & 2) >> 32))
LANES(prefix_count, __builtin_amdgcn_mbcnt_hi(
                        u32(__builtin_amdgcn_ballot_w64(value & 4) >> 32),
                        __builtin_amdgcn_mbcnt_lo(
                            u32(__builtin_amdgcn_ballot_w64(value & 4)), lane)))

DPP(dpp_quad, 0x1b, 0xf, 0xf, false)
DPP(dpp_row_shl_1, 0x101, 0xf, 0xf, false)
DPP(dpp_row_shl_3_zero, 0x103, 0xf, 0xf, true)
DPP(dpp_row_shr_2, 0x112, 0xf, 0xf, false)
DPP(dpp_row_ror_5, 0x125, 0xf, 0xf, false)
DPP(dpp_wave_shl, 0x130, 0xf, 0xf, false)
DPP(dpp_wave_rol, 0x134, 0xf, 0xf, false)
DPP(dpp_wave_shr, 0x138, 0xf, 0xf, false)
DPP(dpp_wave_ror, 0x13c, 0xf, 0xf, false)
DPP(dpp_mirror, 0x140, 0xf, 0xf, false)
DPP(dpp_half_mirror, 0x141, 0xf, 0xf, false)
DPP(dpp_bcast_15, 0x142, 0xa, 0xf, false)
DPP(dpp_bcast_31, 0x143, 0xc, 0xf, false)
DPP(dpp_newbcast_5, 0x155, 0xf, 0xf, false)
DPP(dpp_masks, 0x111, 0x5, 0x6, true)

/// Only some lanes take part.
KERNEL void divergent(const u32 *in, u32 *out) {
  u32 lane = laneId(), value = in[globalX()], result = 1;
  if (value % 3 != 0) {
    result = __builtin_amdgcn_readfirstlane(value);
    result ^= u32(__builtin_amdgcn_ballot_w64(value & 1));
    result += __builtin_amdgcn_ds_bpermute(4 * ((lane + 1) & 63), value);
    result += __builtin_amdgcn_update_dpp(11, value, 0x111, 0xf, 0xf, false);
  }
  out[globalX()] = result;
}

/// A sum over the wavefront, by shifts within rows and broadcasts between them.
template <int Control, int Rows, typename T> DEVICE inline T moved(T value) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(
        T, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(i32, value),
                                       Control, Rows, 0xf, false));
  } else {
    u64 bits = __builtin_bit_cast(u64, value);
    u32 low = __builtin_amdgcn_update_dpp(0, i32(bits), Control, Rows, 0xf, false);
    u32 high =
        __builtin_amdgcn_update_dpp(0, i32(bits >> 32), Control, Rows, 0xf, false);
    return __builtin_bit_cast(T, u64(high) << 32 | low);
  }
}
template <typename T> DEVICE inline T scanned(T value) {
  value += moved<0x111, 0xf>(value);
  value += moved<0x112, 0xf>(value);
  value += moved<0x114, 0xf>(value);
  value += moved<0x118, 0xf>(value);
  value += moved<0x142, 0xa>(value);
  value += moved<0x143, 0xc>(value);
  return value;
}
KERNEL void scan_u32(const u32 *in, u32 *out) {
  out[globalX()] = scanned(in[globalX()]);
}
KERNEL void scan_f32(const f32 *in, f32 *out) {
  out[globalX()] = scanned(in[globalX()]);
}
KERNEL void scan_f64(const f64 *in, f64 *out) {
  out[globalX()] = scanned(in[globalX()]);
}
KERNEL void scan_u64(const u64 *in, u64 *out) {
  out[globalX()] = scanned(in[globalX()]);
}

/// Shuffles of a butterfly, in f64.
KERNEL void butterfly_f64(const f64 *in, f64 *out) {
  f64 value = in[globalX()];
  for (u32 mask = 32; mask; mask >>= 1) {
    u64 bits = __builtin_bit_cast(u64, value);
    i32 from = i32(4 * (laneId() ^ mask));
    u32 low = __builtin_amdgcn_ds_bpermute(from, i32(bits));
    u32 high = __builtin_amdgcn_ds_bpermute(from, i32(bits >> 32));
    value += __builtin_bit_cast(f64, u64(high) << 32 | low);
  }
  out[globalX()] = value;
}
