// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builtins for single instructions on the device, and what AMD's ISA guides say
// of those instructions in plain C++ on the host.

#ifndef WAVESMITH_TEST_PEERS_HIP_BUILTINS_H
#define WAVESMITH_TEST_PEERS_HIP_BUILTINS_H

#include "peers.h"

#ifdef __HIP__
#define EITHER(DEVICE_CODE, ...) return DEVICE_CODE;
#else
#define EITHER(DEVICE_CODE, ...) __VA_ARGS__
static inline u32 byteOf(u64 value, u32 i) { return (value >> (8 * i)) & 255; }
static inline u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }
#endif

/// Byte i of the result is the byte of {a, b} (b is low) that byte i of s
/// selects.
DEVICE inline u32 permuteBytes(u32 a, u32 b, u32 s){
    EITHER(__builtin_amdgcn_perm(a, b, s),
           {
             u64 pair = u64(a) << 32 | b;
             u32 result = 0;
             for (u32 i = 0; i < 4; ++i) {
               u32 select = byteOf(s, i), byte;
               if (select >= 13)
                 byte = 255;
               else if (select == 12)
                 byte = 0;
               else if (select >= 8)
                 byte = (pair >> (16 * (select - 8) + 15)) & 1 ? 255 : 0;
               else
                 byte = byteOf(pair, select);
               result |= byte << (8 * i);
             }
             return result;
           })}

DEVICE inline u32 alignBit(u32 a, u32 b, u32 shift){
    EITHER(__builtin_amdgcn_alignbit(a, b, shift),
           { return (u64(a) << 32 | b) >> (shift & 31); })} DEVICE inline u32
    alignByte(u32 a, u32 b, u32 shift){
        EITHER(__builtin_amdgcn_alignbyte(a, b, shift),
               { return (u64(a) << 32 | b) >> (8 * (shift & 3)); })} DEVICE
    inline u32 extractUnsigned(u32 a, u32 offset, u32 width){
        EITHER(__builtin_amdgcn_ubfe(a, offset, width),
               {
                 return (a >> (offset & 31)) & ((u32(1) << (width & 31)) - 1);
               })} DEVICE inline i32
    extractSigned(i32 a, u32 offset, u32 width){
        EITHER(__builtin_amdgcn_sbfe(a, offset, width),
               {
                 width &= 31;
                 i64 field =
                     (i64(a) >> (offset & 31)) & ((u64(1) << width) - 1);
                 if (width && (field >> (width - 1)) & 1)
                   field -= i64(1) << width;
                 return i32(field);
               })} DEVICE inline u32 sadBytes(u32 a, u32 b, u32 c){
        EITHER(__builtin_amdgcn_sad_u8(a, b, c),
               {
                 for (u32 i = 0; i < 4; ++i)
                   c += distance(byteOf(a, i), byteOf(b, i));
                 return c;
               })} DEVICE inline u32 sadBytesHigh(u32 a, u32 b, u32 c){
        EITHER(__builtin_amdgcn_sad_hi_u8(a, b, c),
               {
                 u32 sum = 0;
                 for (u32 i = 0; i < 4; ++i)
                   sum += distance(byteOf(a, i), byteOf(b, i));
                 return (sum << 16) + c;
               })} DEVICE inline u32 sadShorts(u32 a, u32 b, u32 c){
        EITHER(__builtin_amdgcn_sad_u16(a, b, c),
               {
                 return c + distance(a & 65535, b & 65535) +
                        distance(a >> 16, b >> 16);
               })} /// Bytes of b that are 0 do not count.
DEVICE inline u32 sadMasked(u32 a, u32 b, u32 c){
    EITHER(__builtin_amdgcn_msad_u8(a, b, c),
           {
             for (u32 i = 0; i < 4; ++i)
               if (byteOf(b, i))
                 c += distance(byteOf(a, i), byteOf(b, i));
             return c;
           })} DEVICE inline u64 sadQuad(u64 a, u32 b, u64 c){
    EITHER(__builtin_amdgcn_qsad_pk_u16_u8(a, b, c),
           {
             u64 result = 0;
             for (u32 i = 0; i < 4; ++i) {
               u32 sum = (c >> (16 * i)) & 65535;
               for (u32 j = 0; j < 4; ++j)
                 sum += distance(byteOf(a, i + j), byteOf(b, j));
               result |= u64(sum > 65535 ? 65535 : sum) << (16 * i);
             }
             return result;
           })} DEVICE inline u32 lerpBytes(u32 a, u32 b, u32 c){
    EITHER(__builtin_amdgcn_lerp(a, b, c),
           {
             u32 result = 0;
             for (u32 i = 0; i < 4; ++i)
               result |=
                   ((byteOf(a, i) + byteOf(b, i) + (byteOf(c, i) & 1)) >> 1)
                   << (8 * i);
             return result;
           })} /// No builtins, but what the back end knows these by.
DEVICE inline u32 multiply24(u32 a, u32 b) {
  return (a & 0xffffff) * (b & 0xffffff);
}
DEVICE inline i32 multiplySigned24(i32 a, i32 b) {
  i64 product = i64(i32(u32(a) << 8) >> 8) * (i32(u32(b) << 8) >> 8);
  return i32(product);
}
DEVICE inline u32 dotShorts(u32 a, u32 b, u32 c) {
#ifdef __HIP__
  typedef u16 vec __attribute__((ext_vector_type(2)));
#endif
  EITHER(__builtin_amdgcn_udot2(__builtin_bit_cast(vec, a),
                                __builtin_bit_cast(vec, b), c, false),
         { return c + (a & 65535) * (b & 65535) + (a >> 16) * (b >> 16); })
}
DEVICE inline i32 dotBytesSigned(i32 a, i32 b, i32 c){
    EITHER(__builtin_amdgcn_sdot4(a, b, c, false),
           {
             for (u32 i = 0; i < 4; ++i)
               c += i8(byteOf(u32(a), i)) * i8(byteOf(u32(b), i));
             return c;
           })} DEVICE inline u32
    dotBytes(u32 a, u32 b, u32 c){EITHER(__builtin_amdgcn_udot4(a, b, c, false),
                                         {
                                           for (u32 i = 0; i < 4; ++i)
                                             c += byteOf(a, i) * byteOf(b, i);
                                           return c;
                                         })} DEVICE inline u32
    dotNibbles(u32 a, u32 b,
               u32 c){EITHER(__builtin_amdgcn_udot8(a, b, c, false), {
      for (u32 i = 0; i < 8; ++i)
        c += ((a >> (4 * i)) & 15) * ((b >> (4 * i)) & 15);
      return c;
    })} DEVICE inline i32 dotNibblesSigned(i32 a, i32 b, i32 c) {
  EITHER(__builtin_amdgcn_sdot8(a, b, c, false), {
    for (u32 i = 0; i < 8; ++i)
      c += (i32(u32(a) << (28 - 4 * i)) >> 28) *
           (i32(u32(b) << (28 - 4 * i)) >> 28);
    return c;
  })
}

#endif // WAVESMITH_TEST_PEERS_HIP_BUILTINS_H
