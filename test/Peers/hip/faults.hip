// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One mistake a kernel, on the line marked so, or on two lines that do not go
// together. What the checker says is compared with the marks.

#include "peers.h"

KERNEL void out_of_bounds(const u32 *in, u32 *out) {
  u32 i = globalX();
  u32 value = in[i];
  out[i + 3] = value; // MISTAKE: out-of-bounds
}

KERNEL void out_of_bounds_read(const u32 *in, u32 *out) {
  u32 i = globalX();
  u32 value = in[i - 2]; // MISTAKE: out-of-bounds
  out[i] = value;
}

KERNEL void null_pointer(const u32 *in, u32 *out) {
  u32 i = globalX();
  out[i] = in[i]; // MISTAKE: out-of-bounds
}

KERNEL void lds_out_of_bounds(const u32 *in, u32 *out) {
  extern SHARED u32 buffer[];
  u32 t = threadX();
  buffer[t] = in[globalX()]; // MISTAKE: out-of-bounds
  barrier();
  out[globalX()] = t;
}

KERNEL void misaligned(const u32 *in, u32 *out) {
  u32 i = globalX();
  const u32 *odd = (const u32 *)((const u8 *)in + 2);
  u32 value = odd[i / 2]; // MISTAKE: misaligned
  out[i] = value;
}

KERNEL void lds_race(const u32 *in, u32 *out) {
  SHARED u32 values[128];
  u32 t = threadX();
  values[t] = 0;
  barrier();
  values[t] = in[globalX()]; // MISTAKE: LDS race
  // There is no barrier here.
  asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
  u32 other = values[127 - t]; // MISTAKE: LDS race
  out[globalX()] = other;
}

KERNEL void global_race(const u32 *in, u32 *out) {
  u32 t = threadX();
  out[t] = in[globalX()]; // MISTAKE: global memory race
}

KERNEL void uninitialised_lds(const u32 *in, u32 *out) {
  SHARED u32 values[128];
  u32 t = threadX();
  if (t != 5)
    values[t] = in[globalX()];
  barrier();
  u32 sum = values[t] * 3 + 1;
  out[globalX()] = sum; // MISTAKE: uninitialised LDS
}

KERNEL void uninitialised_global(const u32 *in, u32 *out) {
  u32 i = globalX();
  u32 value = in[i] * 5 + 7;
  out[i] = value; // MISTAKE: uninitialised global memory
}

KERNEL void missing_wait(const u32 *in, u32 *out) {
  u32 value;
  const u32 *from = in + globalX();
  asm volatile("global_load_dword %0, %1, off\n" // MISTAKE: missing wait
               "v_add_u32 %0, %0, 1\n"
               "s_waitcnt vmcnt(0)"
               : "=&v"(value)
               : "v"(from)
               : "memory");
  out[globalX()] = value;
}

KERNEL void barrier_not_reached(const u32 *in, u32 *out) {
  SHARED u32 values[128];
  u32 t = threadX();
  values[t] = in[globalX()];
  if (t < 64) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier(); // MISTAKE: barrier not reached
    out[globalX()] = values[t];
  }
}

KERNEL void hang(volatile u32 *in, u32 *out) {
  while (in[0] != 12345) // MISTAKE: hang
    ;
  out[globalX()] = 1;
}
